"""Evidence of a statement: what was computed, over which numbers, by which theorem, how surely.

A statement with evidence of a proof is called proved; one without is called likely, and its
evidence says what is missing.

Public names: Evidence, Proofs, grouped, power_of_ten, accident, RATIONAL, BALLS, FLOATS, RESIDUES,
SCHWARTZ, COEFFICIENTS, PRIMES.

Source: docs/theory/evidence.md; SCH80.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, final

from liaison.lazy import Shown

RATIONAL = "rational numbers, exactly"
BALLS = "balls: real intervals that hold the exact numbers"
FLOATS = "floats"
RESIDUES = "residues modulo primes of 61 bits"

PRIME_COUNT = 37517
"""Primes of 61 bits that can be drawn: −1 modulo PRIME_STEP."""

SMALLEST = 2**60
"""Below each of them."""

SCHWARTZ = (
    "a polynomial of degree d that is not zero vanishes at a random point modulo p with a chance "
    "of at most d/p (Schwartz, Zippel)"
)

COEFFICIENTS = "unless each prime divides all coefficients"

PRIMES = (
    "what is zero modulo p and not over the rational numbers has p as a divisor of a fixed "
    "integer; {} primes, drawn from 37517, agree"
)


def accident(degree: int, points: int) -> float:
    """The chance that a polynomial of a degree vanishes at so many random points."""
    return float(min(1.0, degree / SMALLEST) ** points)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Shown):
    """Why a statement holds.

    Attributes:
        statement: what is stated.
        is_proved: otherwise it is likely.
        computed: what was computed.
        numbers: over which.
        theorem: by which the statement follows; of a likely one, what is missing.
        chance: bound of the probability that random residues agree by accident, where no prime
            divides all coefficients of what must not vanish; 0 where no residue is drawn, None if
            it is not known.
        bound: what the chance is made of.
        primes: modulo which residues are.
        seed: that draws them again; None where nothing is drawn.
        repeat: a command or a call that computes it again.
    """

    statement: str
    is_proved: bool
    computed: str
    numbers: str
    theorem: str
    chance: float | None = None
    bound: str = ""
    primes: tuple[int, ...] = ()
    seed: int | None = None
    repeat: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON; residues in full."""
        return {
            "statement": self.statement, "is_proved": self.is_proved, "computed": self.computed,
            "numbers": self.numbers, "theorem": self.theorem, "chance": self.chance,
            "bound": self.bound, "primes": list(self.primes), "seed": self.seed,
            "repeat": self.repeat,
        }  # fmt: skip

    def __str__(self) -> str:
        return self.text_of([self.statement])

    def text_of(self, statements: Sequence[str]) -> str:
        """The same evidence for several statements."""
        word, why = ("Proved", "Theorem") if self.is_proved else ("Likely", "Not proved")
        lines = [*(f"{word}: {x}." for x in statements), f"  Computed: {self.computed}."]
        lines.append(f"  Over {self.numbers}{_listed(self.primes)}.")
        lines.append(f"  {why}: {self.theorem}.")
        if self.is_proved and self.chance:
            where = f" ({self.bound})" if self.bound else ""
            lines.append(f"  Chance of error below {power_of_ten(self.chance)}{where}.")
        elif self.is_proved and self.chance == 0:
            lines.append(f"  Nothing is drawn but primes: {self.bound}." if self.bound
                         else "  Nothing is left to chance.")  # fmt: skip
        elif self.bound:
            lines.append(f"  Bound: {self.bound}.")
        if self.repeat:
            drawn = "" if self.seed is None else f" (seed {self.seed})"
            alike = ", and likewise for the others" if len(statements) > 1 else ""
            lines.append(f"  Again: {self.repeat}{drawn}{alike}.")
        return "\n".join(lines)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Proofs(Shown):
    """The evidence of every statement that is made of a mechanism.

    Attributes:
        name: of the mechanism.
        statements: with their evidence.
        missing: what was not examined, and why.
    """

    name: str
    statements: tuple[Evidence, ...]
    missing: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        evidence = [x.to_dict() for x in self.statements]
        return {"name": self.name, "evidence": evidence, "missing": list(self.missing)}

    def __str__(self) -> str:
        parts = [*grouped(self.statements), *(f"Not examined: {x}." for x in self.missing)]
        return "\n".join([self.name, *parts])


def grouped(evidence: Iterable[Evidence]) -> list[str]:
    """Evidence as text; what is alike for statements in a row, with the largest chance, once."""

    def kind(x: Evidence) -> tuple[Any, ...]:
        return x.is_proved, x.computed, x.numbers, x.theorem, x.primes, x.repeat.partition("(")[0]

    texts = []
    for _, alike in groupby(evidence, kind):
        rows = list(alike)
        worst = max(rows, key=lambda x: x.chance or 0.0)
        shown = replace(rows[0], chance=worst.chance, bound=worst.bound)
        texts.append(shown.text_of([x.statement for x in rows]))
    return texts


SHOWN = 4
"""Primes that are printed; JSON has all of them."""


def _listed(primes: tuple[int, ...]) -> str:
    if not primes:
        return ""
    more = f" and {len(primes) - SHOWN} more" if len(primes) > SHOWN + 1 else ""
    return f" ({', '.join(map(str, primes[:SHOWN] if more else primes))}{more})"


def power_of_ten(chance: float) -> str:
    """The least power of ten that is not below a probability."""
    return f"1e{math.ceil(math.log10(max(chance, 1e-300)))}"
