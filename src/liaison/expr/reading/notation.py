"""A notation: how numbers, names, sums, products, powers, functions and vectors are written.

Formulas come in three shapes: the graph of operations (`Expr`; shared.py names what it shares),
readings (trees in the order of a page, reading.py) and formal vectors (liaison.algebra.text). Each
notation writes all three, from the leaves up: a part is a text and how tightly it binds, and gets
parentheses where it binds less than its place asks. A new operation is a row of `OPS`; a new
notation is one file with a class of this kind, which says how leaves and operations are written and
overrides what is to look better than their patterns.

Public names: Notation, Written, PrintedNumber, printed_number, is_rounded, fraction_of, DIGITS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, final

from liaison.errors import DerivationError
from liaison.expr.graph.node import THE_PI, Expr, Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import ATOM, POWER, PRODUCT, SIGN, SUM

from .reading import Call, Name, Number, Power, Product, Reading, Sum

DIGITS = 6
"""Significant digits of a number that is printed as a decimal."""
DENOMINATORS = (2, 3, 4, 6, 8, 12)
"""Denominators of fractions that are printed as such."""
PERIODIC = (9, 15, 18, 24, 30, 36, 45, 60, 72, 90, 180, 360)
"""Further ones whose decimals never end: of degrees in terms of π, as 1/18 π for 10°."""


class Written(NamedTuple):
    """A text, and how tightly it binds: a rank of `liaison.expr.graph.row`."""

    text: str
    rank: int = ATOM


class Part(Protocol):
    """What `Written` has: a text, and how tightly it binds."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def rank(self) -> int:
        """How tightly it binds."""


# Numbers and terms of readings ------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A positive number as it is printed: a decimal, or a fraction of whole numbers."""

    text: str
    denominator: str = ""
    is_exact: bool = True


def printed_number(value: Fraction, digits: int = DIGITS) -> PrintedNumber:
    """A whole number, a plain fraction, or a decimal of so many digits."""
    value = abs(value)
    if value.denominator == 1 and value < 10**12:
        return PrintedNumber(str(value.numerator))
    if value.denominator in DENOMINATORS and value.numerator < 1000:
        return PrintedNumber(str(value.numerator), str(value.denominator))
    if value.denominator in PERIODIC and value.numerator < 100:
        return PrintedNumber(str(value.numerator), str(value.denominator))
    text = f"{float(value):.{digits}g}"
    return PrintedNumber(text, is_exact=Fraction(text) == value)


def is_rounded(reading: Reading, digits: int = DIGITS) -> bool:
    """Whether a number of it is not printed exactly."""
    if isinstance(reading, Number):
        return not printed_number(reading.value, digits).is_exact
    return any(is_rounded(part, digits) for part in reading.parts)


def fraction_of(reading: Reading) -> tuple[Fraction, list[Reading], list[Reading]]:
    """A term as number, factors above and factors below the line."""
    factors = reading.factors if isinstance(reading, Product) else (reading,)
    number = Fraction(1)
    above: list[Reading] = []
    below: list[Reading] = []
    for factor in factors:
        if isinstance(factor, Number):
            number = number * factor.value
        elif isinstance(factor, Power) and factor.exponent < 0:
            e = -factor.exponent
            below.append(factor.base if e == 1 else Power(factor.base, e))
        else:
            above.append(factor)
    return number, above, below


# The notation -----------------------------------------------------------------------------------


class Notation(ABC):
    """How formulas are written.

    Args:
        digits: of decimals in readings; numbers of graphs are written in full.
    """

    plus, minus, sign, comma = " + ", " - ", "-", ", "
    has_squares = True
    """Whether x*x is written as a power."""
    marks: Mapping[str, str] = MappingProxyType({})
    """Operations on vectors, matrices and quaternions: {} for each argument; "product" is what
    stands between factors. Empty where the notation has no vectors."""

    def __init__(self, digits: int = DIGITS) -> None:
        self.digits = digits

    # Leaves and patterns, which every notation has of its own

    @abstractmethod
    def name(self, label: str) -> str:
        """A symbol; primes at its end are rates."""

    @abstractmethod
    def number(self, value: Value) -> Written:
        """A number in full."""

    @abstractmethod
    def pattern(self, op: str) -> str:
        """An operation, with {} for each argument and {data} for its data."""

    def fenced(self, text: str) -> str:
        """In parentheses."""
        return f"({text})"

    def wrapped(self, part: Part, least: int) -> str:
        """The text of a part, in parentheses if it binds less tightly than that."""
        return part.text if part.rank >= least else self.fenced(part.text)

    # Graphs

    def operation(self, node: Expr, parts: Sequence[Part]) -> Written:
        """An operation on arguments that are written already."""
        op = node.op
        args: Sequence[Expr] = node.args
        if op in _COMMUTING:
            if self.has_squares and op == "mul" and args[0] is args[1]:
                return Written(self.applied("pow", [self.wrapped(parts[0], ATOM), "2"]), POWER)
            args, parts = self.in_order(node, parts)
        ranks = self.least_ranks(op, args)
        if ranks is None:
            texts = [part.text for part in parts]
        else:
            texts = [self.wrapped(part, least) for part, least in zip(parts, ranks)]
        return Written(self.applied(op, texts, node.data), self.rank(op))

    def rank(self, op: str) -> int:
        """How tightly the text of an operation binds."""
        return OPS[op].rank

    def least_ranks(self, op: str, args: Sequence[Expr]) -> Sequence[int] | None:
        """How tightly each argument must bind to stand without parentheses; None: no matter."""
        if op == "mul" and args[1].op == "div":
            return (PRODUCT, SIGN)
        return _LEAST.get(op)

    def in_order(self, node: Expr, parts: Sequence[Part]) -> tuple[Sequence[Expr], Sequence[Part]]:
        """The arguments of a sum or product by their text; numbers first in products, else last."""
        args = node.args
        is_number = args[0].op == "const"
        is_turned = node.op == "add" if is_number else parts[1].text < parts[0].text
        return (args[::-1], parts[::-1]) if is_turned else (args, parts)

    def applied(self, op: str, texts: Sequence[str], data: Any = None) -> str:
        """The pattern of an operation with these texts and its data."""
        if data is None:
            return self.pattern(op).format(*texts)
        row = OPS[op]
        filled = [self.comma.join(texts)] if row.arity < 0 else texts
        return self.pattern(op).format(*filled, data=self.data(op, data))

    def data(self, op: str, data: Any) -> str:
        """The data of an operation."""
        return data_text(op, data)

    # Readings

    def sum(self, reading: Reading) -> str:
        """A reading: its terms with their signs."""
        terms = reading.terms if isinstance(reading, Sum) else (reading,)
        return self.joined([self.term(term) for term in terms])

    def factor(self, reading: Reading) -> str:
        """A factor; sums and negative numbers in parentheses."""
        if isinstance(reading, Name):
            return self.number(THE_PI).text if reading.text == "π" else self.name(reading.text)
        if isinstance(reading, Power):
            return self.power(reading)
        if isinstance(reading, Call):
            return self.call(reading)
        if isinstance(reading, Number) and reading.value >= 0:
            return self.sum(reading)
        return self.fenced(self.sum(reading))

    def joined(self, terms: Sequence[tuple[int, str]]) -> str:
        """Terms in a row, each with its sign; the first without a plus."""
        (first, text), *rest = terms
        text = (self.sign if first < 0 else "") + text
        return text + "".join((self.minus if s < 0 else self.plus) + term for s, term in rest)

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product."""
        number, above, below = fraction_of(reading)
        factors = [self.factor(x) for x in above]
        if abs(number) != 1 or not factors:
            factors.insert(0, self.wrapped(self.number(abs(number)), PRODUCT))
        text = self.product(factors)
        if below:
            divisor = self.product([self.factor(x) for x in below])
            is_single = len(below) == 1 and not isinstance(below[0], Number)
            text = self.applied("div", [text, divisor if is_single else self.fenced(divisor)])
        return (-1 if number < 0 else 1), text

    def product(self, factors: Sequence[str]) -> str:
        """Factors in a row."""
        text = factors[0]
        for factor in factors[1:]:
            text = self.applied("mul", [text, factor])
        return text

    def power(self, reading: Power) -> str:
        """A base with its exponent."""
        exponent = self.wrapped(self.number(reading.exponent), ATOM)
        return self.applied("pow", [self.atom(reading.base), exponent])

    def atom(self, reading: Reading) -> str:
        """A name or a function call, or anything in parentheses."""
        is_atom = isinstance(reading, Name)
        if isinstance(reading, Call):
            is_atom = OPS[reading.function].rank == ATOM
        return self.factor(reading) if is_atom else self.fenced(self.sum(reading))

    def call(self, reading: Call, exponent: int = 1) -> str:
        """A function of its arguments; an exponent stands where the notation has it."""
        write = self.sum if OPS[reading.function].rank == ATOM else self.atom
        text = self.applied(reading.function, [write(x) for x in reading.arguments], reading.data)
        return text if exponent == 1 else self.applied("pow", [self.fenced(text), str(exponent)])

    # Vectors

    def symbol(self, name: str, *, order: int, is_vector: bool, tilde: bool) -> str:
        """The name of a vector or matrix, differentiated so many times, below its tilde."""
        raise no_vectors(self, name)

    def raised(self, base: str, exponent: int) -> str:
        """A whole power of a matrix or a formal scalar."""
        return self.applied("pow", [base, str(exponent)])

    def mark(self, op: str) -> str:
        """The pattern of an operation on vectors; a function by its name where there is none."""
        if not self.marks:
            raise no_vectors(self, op)
        return self.marks.get(op, op + "({})")


_COMMUTING = frozenset({"add", "mul"})
_LEAST = {
    "sub": (SUM, PRODUCT),
    "neg": (PRODUCT,),
    "mul": (PRODUCT, PRODUCT),
    "div": (PRODUCT, POWER),
    "pow": (ATOM, ATOM),
}


def no_vectors(notation: Notation, what: str) -> DerivationError:
    """The error for vectors in a notation of scalars."""
    return DerivationError(
        f"{type(notation).__name__} writes scalars, and {what!r} belongs to vectors or matrices.",
        hint="Write it as text, as LaTeX or as MathML, or write its components.",
    )


# Functions --------------------------------------------------------------------------------------


def data_text(op: str, data: Any) -> str:
    """The data of an operation: the name of a table or of an unbound function, an index."""
    return OPS[op].token(data).partition("#")[0]


def function_of(call: Call) -> tuple[str, list[str]]:
    """The name of a function in text, and the data that stand before its arguments."""
    if call.whole is None:
        return _plain_name(call.function), []
    head, _, inside = OPS[call.function].text.partition("(")
    data = data_text(call.function, call.data)
    return head.format(data=data), [data] if "{data}" in inside else []


@cache
def _plain_name(function: str) -> str:
    head, _, _ = OPS[function].text.partition("(")
    return function if "{}" in head else head
