"""Formulas as they are read: sums of any length, products in order, powers, fractions.

A formula for reading is a tree and not a graph, and no rule touches it: what is printed stands
here as it is printed. `plain` makes it as the formula was built, simplify.py makes it short, a
notation (notation.py) writes it, and `to_expr` gives the formula back, so that its value can be
compared with that of the formula it was made of.

Public names: Reading, Number, Name, Call, Power, Product, Sum, plain, to_expr, leaves, names_in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, final

from liaison.expr.graph.node import PI, Expr, Pi, as_expr, constant, symbol
from liaison.expr.graph.ops import apply
from liaison.expr.graph.rules import ROWS  # noqa: F401  (the rules must be there before a formula is built)
from liaison.expr.graph.walk import topological


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

    @property
    def parts(self) -> tuple[Reading, ...]:
        """None."""
        return ()


@final
@dataclass(frozen=True, slots=True)
class Name:
    """A symbol; an apostrophe at its end is a rate."""

    text: str

    @property
    def parts(self) -> tuple[Reading, ...]:
        """None."""
        return ()


@final
@dataclass(frozen=True, slots=True)
class Call(_Deep):
    """A function by its name in the table of operations; `whole` is the formula if it has data."""

    function: str
    arguments: tuple[Reading, ...]
    whole: Expr | None = None

    def _parts(self) -> Hashable:
        return (self.function, self.arguments)

    @property
    def parts(self) -> tuple[Reading, ...]:
        """The arguments."""
        return self.arguments

    @property
    def data(self) -> Any:
        """What the operation carries beside its arguments, if anything."""
        return self.whole.data if self.whole is not None else None


@final
@dataclass(frozen=True, slots=True)
class Power(_Deep):
    """A base to a whole power other than 0 and 1."""

    base: Reading
    exponent: int

    def _parts(self) -> Hashable:
        return (self.base, self.exponent)

    @property
    def parts(self) -> tuple[Reading, ...]:
        """The base."""
        return (self.base,)


@final
@dataclass(frozen=True, slots=True)
class Product(_Deep):
    """Factors in order; a number comes first."""

    factors: tuple[Reading, ...]

    def _parts(self) -> Hashable:
        return self.factors

    @property
    def parts(self) -> tuple[Reading, ...]:
        """The factors."""
        return self.factors


@final
@dataclass(frozen=True, slots=True)
class Sum(_Deep):
    """Terms in order."""

    terms: tuple[Reading, ...]

    def _parts(self) -> Hashable:
        return self.terms

    @property
    def parts(self) -> tuple[Reading, ...]:
        """The terms."""
        return self.terms


Reading: TypeAlias = Number | Name | Call | Power | Product | Sum


def leaves(reading: Reading) -> int:
    """How much there is to read: names, numbers, powers and functions."""
    own = 1 if isinstance(reading, Power | Call | Number | Name) else 0
    return own + sum(map(leaves, reading.parts))


def names_in(reading: Reading) -> set[str]:
    """The symbols that occur in it."""
    if isinstance(reading, Name):
        return {reading.text}
    return set().union(*map(names_in, reading.parts))


# Formulas to readings and back ------------------------------------------------------------------


def plain(f: Expr) -> Reading:
    """The formula as it was built, sums and products flat; nothing is simplified."""
    readings: dict[Expr, Reading] = {}
    for node in topological([f]):
        readings[node] = _reading(node, [readings[x] for x in node.args])
    return readings[f]


def _reading(node: Expr, parts: list[Reading]) -> Reading:
    if node.op == "const":
        return Name("π") if isinstance(node.a, Pi) else Number(Fraction(node.a))
    if node.op == "symbol":
        return Name(str(node.a))
    if node.op in ("add", "sub"):
        second = parts[1] if node.op == "add" else _negative(parts[1])
        return Sum((*_terms(parts[0]), *_terms(second)))
    if node.op == "neg":
        return _negative(parts[0])
    if node.op == "mul":
        return _product(parts[0], parts[1])
    if node.op == "div":
        return _product(parts[0], Power(parts[1], -1))
    if node.op == "pow" and node.b.op == "const" and isinstance(node.b.a, int):
        return Power(parts[0], node.b.a)
    return Call(node.op, tuple(parts), node if node.data is not None else None)


def _terms(x: Reading) -> tuple[Reading, ...]:
    return x.terms if isinstance(x, Sum) else (x,)


def _negative(x: Reading) -> Reading:
    if isinstance(x, Sum):
        return Sum(tuple(map(_negative, x.terms)))
    return _product(Number(Fraction(-1)), x)


def _product(a: Reading, b: Reading) -> Reading:
    """Flat, with its numbers in one."""
    number, rest = Fraction(1), []
    for part in (a, b):
        for factor in part.factors if isinstance(part, Product) else (part,):
            if isinstance(factor, Number):
                number = number * factor.value
            else:
                rest.append(factor)
    if not rest:
        return Number(number)
    if number == 1 and len(rest) == 1:
        return rest[0]
    return Product(tuple(rest) if number == 1 else (Number(number), *rest))


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
        return apply(reading.function, arguments, reading.data)
    if isinstance(reading, Sum):
        return _folded("add", [to_expr(term) for term in reading.terms])
    return _folded("mul", [to_expr(factor) for factor in reading.factors])


def _folded(op: str, parts: list[Expr]) -> Expr:
    total = parts[0]
    for part in parts[1:]:
        total = apply(op, (total, part))
    return total
