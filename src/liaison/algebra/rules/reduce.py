"""Normal forms: rules applied to every term until none applies, and what follows from that.

Public names: expanded, reduced, simplified, reduces_to_zero, steps, Step, RULES, WORD_RULES.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from liaison.algebra.node import Formal, topological
from liaison.errors import DerivationError

from . import quaternions as rules_quaternions
from . import space as rules_space
from . import words as rules_words
from .back import to_formal
from .flatten import flatten
from .four import four_vectors
from .rule import Rule
from .terms import Monomial, Polynomial, added, scaled

WORD_RULES: tuple[Rule, ...] = (*rules_words.ROWS, *rules_quaternions.ROWS)
_OPENING: tuple[Rule, ...] = (*WORD_RULES, *rules_space.ROWS)
_MEMORY = 1 << 14
LIMIT = 20_000
"""Terms looked at on the way to a normal form: some ten seconds."""


def _applied(term: Monomial, rules: Sequence[Rule]) -> tuple[Rule, Polynomial] | None:
    for rule in rules:
        result = rule.apply(term)
        if result is not None:
            return rule, result
    return None


def _normal(polynomial: Polynomial, rules: Sequence[Rule]) -> Polynomial:
    """Rules applied until none applies."""
    result: Polynomial = {}
    waiting = dict(polynomial)
    for _ in range(LIMIT):
        if not waiting:
            return {term: c for term, c in result.items() if c != 0}
        term, c = waiting.popitem()
        applied = _applied(term, rules) if c != 0 else None
        if applied is None:
            result[term] = result.get(term, 0) + c
        else:
            for new, factor in applied[1].items():
                waiting[new] = waiting.get(new, 0) + c * factor
    raise DerivationError(
        f"the normal form is not reached in {LIMIT} steps: the expression is too large.",
        hint="is_zero_by_components(x) decides without multiplying out.",
    )


@lru_cache(maxsize=_MEMORY)
def _opened(term: Monomial) -> tuple[tuple[Monomial, int], ...]:
    return tuple(_normal({term: 1}, _OPENING).items())  # type: ignore[arg-type]


@lru_cache(maxsize=_MEMORY)
def _four(term: Monomial) -> Polynomial | None:
    return four_vectors(term, lambda other: dict(_opened(other)))


FOUR = Rule("four vectors", "four vectors of space are dependent", _four)
RULES: tuple[Rule, ...] = (*_OPENING, FOUR)


def expanded(x: Formal) -> Formal:
    """Multiplied out and collected by the rules of words; tildes and products stay as they are."""
    return to_formal(_normal(flatten(x), WORD_RULES), x.kind)


def reduced(x: Formal) -> Formal:
    """The normal form by all rules: identities of vectors and tildes become zero.

    Raises:
        DerivationError: multiplied out, the expression has too many terms.
    """
    return to_formal(_normal(flatten(x), RULES), x.kind)


def reduces_to_zero(x: Formal) -> bool:
    """No term is left by the rules."""
    return not _normal(flatten(x), RULES)


def simplified(x: Formal) -> Formal:
    """The shortest of `expanded`, `reduced` and x itself."""
    return min((expanded(x), reduced(x), x), key=length)


def length(x: Formal) -> int:
    """Leaves and operations, each as often as it is written."""
    sizes: dict[Formal, int] = {}
    for node in topological(x):
        sizes[node] = 1 + sum(sizes[arg] for arg in node.args)
    return sizes[x]


# Step by step -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One rule applied wherever it does, and what the expression is then."""

    rule: Rule
    result: Formal

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.result}"


def steps(x: Formal, rules: Sequence[Rule] = RULES) -> list[Step]:
    """How x comes to its normal form: each step applies the first rule that applies anywhere."""
    value = flatten(x)
    taken: list[Step] = []
    while True:
        for rule in rules:
            changes = {term: rule.apply(term) for term in value}
            if any(new is not None for new in changes.values()):
                break
        else:
            return taken
        parts = []
        for term, new in changes.items():
            parts.append(scaled({term: 1} if new is None else new, value[term]))
        value = added(*parts)
        taken.append(Step(rule, to_formal(value, x.kind)))
