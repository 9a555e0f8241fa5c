"""The interface of rewriting rules on monomials, and the measure that every rule decreases.

Public names: Rule, Rows, measure, Measure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

from liaison.algebra.node import Atom

from .terms import INVERSE, Factor, Monomial, Polynomial, Word, is_tilde

Measure: TypeAlias = tuple[int, int, int, int, int, int, Monomial]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `apply` gives the polynomial that a monomial is equal to, or None.

    `statement` says the law for reading. Every monomial that comes out has a smaller measure.
    """

    name: str
    statement: str
    apply: Callable[[Monomial], Polynomial | None]


@final
class Rows(list[Rule]):
    """Rules in the order in which they are tried."""

    def rule(self, name: str, statement: str) -> Callable[[Applied], Applied]:
        """Add the function below as a row."""

        def add(apply: Applied) -> Applied:
            self.append(Rule(name, statement, apply))
            return apply

        return add


Applied: TypeAlias = Callable[[Monomial], Polynomial | None]


@lru_cache(maxsize=1 << 15)
def measure(term: Monomial) -> Measure:
    """What rules make smaller, compared from left to right; it cannot fall for ever.

    Tildes and mixed products together; tildes; traces; letters and vectors; sines, scalar parts
    of unit quaternions and determinants of inverses; squares of orders of derivatives; and last
    the term itself, of finitely many that are as long.
    """
    tildes = traces = size = sines = triples = orders = 0
    for factor in term:
        words, ends = words_of(factor)
        letters, inner = _counts(words)
        tildes += inner
        size += letters + ends
        triples += factor[0] == "mix"
        traces += factor[0] == "trace"
        sines += _is_eliminated(factor)
        orders += sum(max(0, end.order) ** 2 for end in _ends(factor))
    return (tildes + triples, tildes, traces, size, sines, orders, term)


def _ends(factor: Factor) -> tuple[Atom, ...]:
    """The vectors of a chain or a mixed product, or a scalar symbol."""
    if factor[0] == "scalar":
        return (factor[1],)
    if factor[0] == "mix":
        return tuple(ray[1] for ray in factor[1:])
    return (factor[1], factor[3]) if factor[0] == "dot" else ()


def words_of(factor: Factor) -> tuple[list[Word], int]:
    """The words of a factor, and how many vectors or scalars it holds besides."""
    if factor[0] == "dot":
        return [factor[2]], 2
    if factor[0] == "mix":
        return [ray[0] for ray in factor[1:]], 3
    if factor[0] == "quat":
        return [factor[1], *(letter.ray[0] for letter in factor[1] if letter.ray)], 1
    return ([factor[1]], 1) if factor[0] == "trace" else ([], 1)


def _counts(words: list[Word]) -> tuple[int, int]:
    """Letters of words and how many are tildes; the ray of a tilde counts."""
    letters = tildes = 0
    waiting = list(words)
    while waiting:
        word = waiting.pop()
        letters += len(word)
        for letter in word:
            if is_tilde(letter):
                tildes += 1
                letters += 1
                waiting.append(letter.ray[0])
    return letters, tildes


def _is_eliminated(factor: Factor) -> bool:
    if factor[0] == "expr":
        return bool(factor[2].op == "sin")
    if factor[0] == "det":
        return INVERSE in factor[1].traits
    return factor[0] == "scalar" and "unit quaternion" in factor[1].traits
