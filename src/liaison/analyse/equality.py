"""Proof that formalisms say the same: what they ask of v̇, compared exactly modulo large primes.

With r = M v̇ + h − τ of each formalism at residues drawn for q, v, v̇, t, inputs and parameters,

    r_A = r_B at a random point modulo p  =>  M_A = M_B and h_A − τ_A = h_B − τ_B,      (equality-1)

but for a chance of d/p that a difference of degree d vanishes there (Schwartz and Zippel). Nothing
is asked of the closures at that point: they are compared by themselves, so that with equal G and γ
the accelerations are equal wherever they are determined, loops or not.

Public names: Verdict, prove, POINTS.

Source: docs/theory/formalisms.md (equality-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, final

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.expr import Domain, Expr, evaluate, symbols_of, topological
from liaison.expr.residues import Residues
from liaison.mobility.rings import primes_from

from .degrees import degree_bound
from .points import random_point

POINTS = 2
"""Primes that must agree."""

TRIES = 24
"""Points tried for one prime until every square root in the formulas exists."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a formalism says the same as the reference, and how that is known."""

    equal: bool | None  # None where it is not known
    how: str
    chance: float | None = None  # that equality modulo primes is an accident; None if numeric
    difference: str = ""  # where they differ

    @property
    def is_proved(self) -> bool:
        """Equal, and not by floats."""
        return bool(self.equal) and self.chance is not None


@final
class LooseRoots(Domain):
    """Residues where a square root that does not exist is a residue drawn from its argument.

    Equality found so is equality of formulas with √ an unknown function, which implies the other.
    """

    individual = Residues.individual

    def __init__(self, inner: Residues) -> None:
        self.inner = inner

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """For one evaluation."""
        return LooseRoots(self.inner.start(order, number))

    def constant(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.constant(value)

    def given(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.given(value)

    def missing(self, node: Expr, known: list[str]) -> Any:
        """Drawn from the name."""
        return self.inner.missing(node, known)

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Roots drawn where there are none."""
        plain = self.inner.operation(node)
        if node.op != "sqrt":
            return plain

        def root(x: int) -> int:
            square = pow(x, (self.inner.p + 1) // 4, self.inner.p)
            exists = square * square % self.inner.p == x % self.inner.p
            return square if exists else self.inner.drawn("sqrt", x)

        return root


def prove(
    reference: Equations, others: Mapping[str, Equations], *, seed: int = 0, points: int = POINTS
) -> dict[str, Verdict]:
    """Compares equations along the same velocities with those of a reference.

    Args:
        reference: derived with exact numbers.
        others: name -> equations along the same velocities, derived with exact numbers.
        seed: of everything that is drawn.
        points: primes that must agree.

    Returns:
        For each name whether M, h − τ, G and γ are those of the reference.
    """
    everyone = {"": reference, **others}
    found: dict[str, str] = {}
    for residuals in islice(_points(everyone, seed), points):
        for name in others:
            if name not in found and residuals[name] != residuals[""]:
                found[name] = _difference(reference, residuals[name], residuals[""])
    bounds = {name: degree_bound(_formulas(x)) for name, x in everyone.items()}
    return {name: _verdict(found.get(name), bounds[""] + bounds[name], points) for name in others}


def _verdict(difference: str | None, degree: int, points: int) -> Verdict:
    chance = (degree / SMALLEST) ** points
    if difference is not None:
        return Verdict(False, "differs modulo a prime", chance, difference)
    return Verdict(True, f"exactly, modulo {points} primes of 61 bits", chance)


SMALLEST = 2**60
"""Below every prime that is used."""


def _difference(equations: Equations, found: Sequence[int], wanted: Sequence[int]) -> str:
    """The first equation that is not the same, by name."""
    names = [label.name for label in equations.labels["v"]]
    names += [f"closure {label.name}" for label in equations.labels["lam"] for _ in range(2)]
    if len(found) != len(wanted):
        return "the number of equations"
    places = [k for k, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b]
    listed = [names[k] if k < len(names) else str(k) for k in places[:3]]
    return ", ".join(dict.fromkeys(listed)) + (", …" if len(places) > 3 else "")


def _formulas(equations: Equations) -> list[Expr]:
    dynamics, closures = equations.dynamics, equations.closures
    return [
        *(dynamics.M[key] for key in dynamics.M),
        *dynamics.f,
        *closures.G.values(),
        *closures.gamma,
        *closures.nu,
    ]


def _points(everyone: Mapping[str, Equations], seed: int) -> Iterator[dict[str, list[int]]]:
    """What each asks of v̇, and its closures, at one point modulo each prime."""
    formulas = {name: _formulas(equations) for name, equations in everyone.items()}
    listed = [f for group in formulas.values() for f in group]
    for values, at, p in evaluated_somewhere(everyone[""], listed, seed):
        start, found = 0, {}
        for name, group in formulas.items():
            numbers = values[start : start + len(group)]
            start += len(group)
            found[name] = _residual(everyone[name], numbers, at, p)
        yield found


def evaluated_somewhere(
    equations: Equations, formulas: list[Expr], seed: int
) -> Iterator[tuple[list[int], dict[Expr, int], int]]:
    """The formulas at a random point for each of many primes, where all their roots exist.

    Where no such point is found soon, roots that do not exist are drawn.
    """
    roots = [node.a for node in topological(formulas) if node.op == "sqrt"]
    firm = [x for x in roots if not symbols_of([x])]
    for p in primes(seed, firm):
        for attempt in range(TRIES):
            domain = Residues(p, seed * TRIES + attempt)
            at = random_point(equations, domain)
            last = attempt == TRIES - 1
            try:
                if last or _all_exist(roots, at, domain):
                    used = LooseRoots(domain) if last else domain
                    yield [int(x) for x in evaluate(formulas, at, used)], at, p
                    break
            except DerivationError:
                continue


def _all_exist(roots: Sequence[Expr], at: Mapping[Expr, int], domain: Residues) -> bool:
    """Whether the arguments of all roots are squares at a point, before all else is evaluated."""
    try:
        found = evaluate(list(roots), at, domain) if roots else []
    except DerivationError:
        return False
    return all(x == 0 or domain.is_positive(x) for x in found)


def _residual(
    equations: Equations, numbers: Sequence[int], at: Mapping[Expr, int], p: int
) -> list[int]:
    """M v̇ − f, then for each closure G v̇ − γ and G v − ν, modulo p."""
    symbols, M, G = equations.symbols, equations.dynamics.M, equations.closures.G
    vdot, v = [at[x] for x in symbols.vdot], [at[x] for x in symbols.v]
    masses, rest = numbers[: len(M)], numbers[len(M) :]
    n, rows = len(v), len(equations.closures.gamma)
    r = [-x for x in rest[:n]]
    for (i, j), m in zip(M, masses, strict=True):
        r[i] += m * vdot[j]
        if i != j:
            r[j] += m * vdot[i]
    closing = [-x for pair in zip(rest[len(rest) - 2 * rows : len(rest) - rows],
                                  rest[len(rest) - rows :], strict=True) for x in pair]  # fmt: skip
    for (k, j), entry in zip(G, rest[n:], strict=False):
        closing[2 * k] += entry * vdot[j]
        closing[2 * k + 1] += entry * v[j]
    return [x % p for x in (*r, *closing)]


def primes(seed: int, firm: Sequence[Expr]) -> Iterator[int]:
    """Primes modulo which these constants are squares; any, where that takes too long."""
    squares = [Fraction(x.a) for x in firm if x.op == "const" and isinstance(x.a, int | Fraction)]
    wanted = tuple(sorted({abs(x.numerator * x.denominator) for x in squares} - {0, 1}))
    wanted = wanted if len(wanted) <= MANY else ()
    for k in range(PRIMES):
        p = _prime(seed, wanted, k)
        if k > PRIMES // 2 or _all_exist(firm, {}, Residues(p)):
            yield p


MANY = 14
"""Beyond so many independent roots no prime is waited for."""

PRIMES = 200


@lru_cache(maxsize=512)
def _prime(seed: int, squares: tuple[int, ...], k: int) -> int:
    return next(islice(primes_from(seed + 1009 * k, squares), 1))
