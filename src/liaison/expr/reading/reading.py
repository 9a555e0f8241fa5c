"""Formulas as they are read: sums of any length, products in order, powers, fractions.

A formula for reading is a tree and not a graph, and no rule touches it: what is printed stands
here as it is printed. `simplify.py` makes it short, the printers write it, `to_expr` gives the
formula back, so that its value can be compared with that of the formula it was made of.

Public names: Reading, Number, Name, Call, Power, Product, Sum, leaves, to_expr, names_in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

from liaison.expr.graph.node import PI, Expr, as_expr, constant, symbol
from liaison.expr.graph.ops import OPS, apply
from liaison.expr.graph.rules import ROWS  # noqa: F401  (the rules must be there before a formula is built)


@dataclass(frozen=True, slots=True)
class _Deep:
    """A tree with a cached hash: trees are keys of many tables."""

    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self._parts()))

    def __hash__(self) -> int:
        return self._hash

    @abstractmethod
    def _parts(self) -> Hashable:
        """The fields compared for equality."""


@final
@dataclass(frozen=True, slots=True)
class Number:
    """An exact number."""

    value: Fraction


@final
@dataclass(frozen=True, slots=True)
class Name:
    """A symbol; an apostrophe at its end is a rate."""

    text: str


@final
@dataclass(frozen=True, slots=True)
class Call(_Deep):
    """A function by its name in the table of operations; `whole` is the formula if it has data."""

    function: str
    arguments: tuple[Reading, ...]
    whole: Expr | None = None

    def _parts(self) -> Hashable:
        return (self.function, self.arguments)


@final
@dataclass(frozen=True, slots=True)
class Power(_Deep):
    """A base to a whole power other than 0 and 1."""

    base: Reading
    exponent: int

    def _parts(self) -> Hashable:
        return (self.base, self.exponent)


@final
@dataclass(frozen=True, slots=True)
class Product(_Deep):
    """Factors in order; a number comes first."""

    factors: tuple[Reading, ...]

    def _parts(self) -> Hashable:
        return self.factors


@final
@dataclass(frozen=True, slots=True)
class Sum(_Deep):
    """Terms in order."""

    terms: tuple[Reading, ...]

    def _parts(self) -> Hashable:
        return self.terms


Reading: TypeAlias = Number | Name | Call | Power | Product | Sum


def leaves(reading: Reading) -> int:
    """How much there is to read: names, numbers, powers and functions."""
    if isinstance(reading, Number | Name):
        return 1
    if isinstance(reading, Power):
        return leaves(reading.base) + 1
    if isinstance(reading, Call):
        return 1 + sum(map(leaves, reading.arguments))
    parts = reading.terms if isinstance(reading, Sum) else reading.factors
    return sum(map(leaves, parts))


def names_in(reading: Reading) -> set[str]:
    """The symbols that occur in it."""
    if isinstance(reading, Name):
        return {reading.text}
    if isinstance(reading, Number):
        return set()
    if isinstance(reading, Power):
        return names_in(reading.base)
    if isinstance(reading, Call):
        parts = reading.arguments
    else:
        parts = reading.terms if isinstance(reading, Sum) else reading.factors
    return set().union(*map(names_in, parts))


def to_expr(reading: Reading) -> Expr:
    """The formula of a reading."""
    if isinstance(reading, Number):
        return constant(reading.value)
    if isinstance(reading, Name):
        return PI if reading.text == "π" else symbol(reading.text)
    if isinstance(reading, Power):
        return as_expr(to_expr(reading.base) ** reading.exponent)
    if isinstance(reading, Call):
        arguments = tuple(map(to_expr, reading.arguments))
        data = reading.whole.data if reading.whole is not None else None
        return apply(reading.function, arguments, data)
    if isinstance(reading, Sum):
        return _folded("add", [to_expr(term) for term in reading.terms])
    return _folded("mul", [to_expr(factor) for factor in reading.factors])


def _folded(op: str, parts: list[Expr]) -> Expr:
    total = parts[0]
    for part in parts[1:]:
        total = apply(op, (total, part))
    return total


FUNCTIONS = frozenset(OPS)
"""Names a `Call` may have."""
