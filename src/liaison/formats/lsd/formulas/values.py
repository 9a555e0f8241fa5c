"""Values of LSD formulas: quantities with their dimension, vectors, rotations, frames.

A `Quantity` is a scalar in SI with its dimension. Angles count as pure numbers when dimensions
are compared. A number written without a unit fits any dimension; a quantity whose dimension cannot
be known (a parameter given without unit, an unknown) is never rejected.

Dimensions of quantities as LSD refers to them, and its compound units with exact factors.

Public names: Value, Quantity, Vector, Turn, Turned, Pose, BodyFrame, Word, Unfit, Dimension, PURE,
kind_of, added, multiplied, divided, raised, checked, number_of, plain, with_unit, literal,
two_term_error, same, spelled, unit_of, si_unit, known_dimension, product_of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, final

from liaison.errors import LiaisonError, Place, TextError
from liaison.expr import PI, Expr, as_expr
from liaison.formats.lsd.syntax.nodes import Node, Source
from liaison.model.checks import MAX_EXPONENT
from liaison.model.scalars import MAX_BITS
from liaison.spatial import Array
from liaison.units import ANGLE, FREQUENCY, PURE, TURNING, Dimension, same, si_unit
from liaison.units import unit_of as read_unit

__all__ = [
    "PURE", "Dimension", "known_dimension", "product_of", "same", "si_unit", "spelled", "unit_of",
]  # fmt: skip

_NAMES = {(0, 0, 0): "a pure number", (1, 0, 0): "a length", (0, 1, 0): "a mass",
          (0, 0, 1): "a time", (1, 1, -2): "a force", (2, 1, -2): "a torque or energy",
          (2, 1, 0): "a moment of inertia", (1, 0, -1): "a velocity", (0, 0, -1): "a rate",
          (1, 0, -2): "an acceleration", (0, 1, -2): "a stiffness",
          (0, 1, -1): "a damping coefficient", (2, 1, -1): "a damping coefficient in rotation",
          (2, 0, 0): "an area", (3, 0, 0): "a volume"}  # fmt: skip


_NAMES_OF_CYCLES = {(0, 0, 0, 0, 1): "a number of cycles (Hz*s)"}


def spelled(dimension: Dimension | None) -> str:
    """The dimension as a person says it, with its SI unit: 'a length (m)'."""
    if dimension is None:
        return "a quantity"
    if dimension == ANGLE:
        return "an angle (rad)"
    if dimension == TURNING:
        return "an angular velocity (rad/s)"
    if dimension == FREQUENCY:
        return "a frequency (Hz; a turn a second is 1 rev/s, and x/(1 rev) are turns)"
    if dimension[4]:
        return _NAMES_OF_CYCLES.get(dimension, "a product with cycles (Hz)")
    name, unit = _NAMES.get(dimension[:3], "a quantity"), si_unit(dimension)
    return f"{name} ({unit})" if unit else name


def product_of(x: Dimension, y: Dimension, sign: int) -> Dimension:
    """The dimension of a product (sign 1) or quotient (−1)."""
    a, b, c, d, e = (m + sign * n for m, n in zip(x, y, strict=True))
    return (a, b, c, d, e)


def unit_of(text: str, place: Place | None = None) -> tuple[Fraction | Expr, Dimension]:
    """Factor to SI (exact; `deg` is π/180) and dimension of a unit such as 'kg*m^2/s'."""
    try:
        return _unit(text)
    except LiaisonError as error:
        raise error.at(place) from None


def known_dimension(text: str) -> Dimension | None:
    """The dimension of a unit; None for no unit and for words that are not known."""
    try:
        return _unit(text)[1] if text else None
    except LiaisonError:
        return None


@lru_cache(maxsize=1000)
def _unit(text: str) -> tuple[Fraction | Expr, Dimension]:
    unit = read_unit(text)
    value: Fraction | Expr = unit.factor
    for _ in range(abs(unit.pi)):
        value = value * PI if unit.pi > 0 else value / PI
    return value, unit.dimension


MAX_DIGITS = 4_000  # of a number as it is written
TOO_LARGE = "it must stay below 1.8e308"


class Unfit(Exception):
    """Values that do not go together; whoever knows the place makes it a TextError."""


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A scalar in SI; `dimension` None where nothing is known, `bare` for numbers without unit."""

    value: Fraction | float | Expr
    dimension: Dimension | None = PURE
    bare: bool = False


@final
@dataclass(frozen=True, slots=True)
class Vector:
    """Values in brackets; rows of a matrix are vectors too."""

    items: tuple[Quantity | Vector, ...]


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """angle || axis."""

    angle: Quantity
    axis: Vector


@final
@dataclass(frozen=True, slots=True)
class Turned:
    """A rotation by its matrix."""

    R: Array


@final
@dataclass(frozen=True, slots=True)
class Pose:
    """Motions one after another: vectors, turns and rotation matrices."""

    motions: tuple[Vector | Turn | Turned, ...]


@final
@dataclass(frozen=True, slots=True)
class BodyFrame:
    """A frame on a body: rotation and position in the body's own frame.

    `steps` are the motions that lead there, one after another, where they are known: vectors,
    turns, matrices, and pairs (R, p).
    """

    body: str
    R: Array
    p: Array
    name: str = ""
    steps: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Word:
    """A text in quotes, or a name that stands for itself."""

    text: str


Value: TypeAlias = Any  # one of the classes above, or a shape of liaison.model


def kind_of(value: Value) -> str:
    """What a value is, in words."""
    names = {Quantity: "a number", Vector: "a vector", Turn: "a rotation", Pose: "a pose",
             BodyFrame: "a frame on a body", Word: "a text"}  # fmt: skip
    return names.get(type(value), "a shape")


def added(a: Value, b: Value, sign: int) -> Value:
    """a + b or a − b of two quantities of one dimension, or of two vectors."""
    if isinstance(a, Vector) and isinstance(b, Vector) and len(a.items) == len(b.items):
        return Vector(tuple(added(x, y, sign) for x, y in zip(a.items, b.items, strict=True)))
    a, b = _scalar(a), _scalar(b)
    if not (a.bare or b.bare or same(a.dimension, b.dimension)):
        first, word, second = (a, "added to", b) if sign > 0 else (b, "subtracted from", a)
        raise Unfit(f"{spelled(first.dimension)} cannot be {word} {spelled(second.dimension)}.")
    dimension = b.dimension if a.bare else a.dimension
    if dimension and b.dimension and b.dimension[4]:
        dimension = b.dimension  # a sum with cycles counts cycles
    if a.dimension is None or b.dimension is None:
        dimension = None
    value = a.value + b.value if sign > 0 else a.value - b.value
    return Quantity(checked(value), dimension, a.bare and b.bare)


def multiplied(a: Value, b: Value) -> Value:
    """a b; one of the two may be a vector."""
    if isinstance(b, Vector) and not isinstance(a, Vector):
        a, b = b, a
    if isinstance(a, Vector) and isinstance(b, Vector):
        raise Unfit("two vectors have no product with '*': write dot(a, b) or cross(a, b).")
    if isinstance(a, Vector):
        return Vector(tuple(multiplied(x, b) for x in a.items))
    a, b = _scalar(a), _scalar(b)
    value = checked(a.value * b.value)
    return Quantity(value, _combined(a, b, 1, value), a.bare and b.bare)


def divided(a: Value, b: Value) -> Value:
    """a / b; a may be a vector."""
    if isinstance(a, Vector):
        return Vector(tuple(divided(x, b) for x in a.items))
    a, b = _scalar(a), _scalar(b)
    if not isinstance(b.value, Expr) and b.value == 0:
        raise Unfit("this divides by zero.")
    value = checked(a.value / b.value)
    return Quantity(value, _combined(a, b, -1, value), a.bare and b.bare)


def raised(a: Value, b: Value) -> Quantity:
    """a ^ b; a quantity with a dimension takes integer exponents only."""
    a, b = _scalar(a), _scalar(b)
    exponent = b.value
    if not same(b.dimension, PURE):
        raise Unfit(f"an exponent is a pure number, not {spelled(b.dimension)}.")
    if not isinstance(exponent, Fraction) or exponent.denominator != 1:
        if not same(a.dimension, PURE):
            raise Unfit(f"{spelled(a.dimension)} is raised to integer powers only.")
        return Quantity(as_expr(a.value) ** exponent, a.dimension, a.bare and b.bare)
    n = exponent.numerator
    _check_power(a.value, n)
    x = a.dimension
    dimension = x and (n * x[0], n * x[1], n * x[2], n * x[3], n * x[4])
    return Quantity(checked(a.value**n), dimension, a.bare)


def _check_power(base: Fraction | float | Expr, n: int) -> None:
    if abs(n) > MAX_EXPONENT:
        raise Unfit(f"the exponent {n} is larger than {MAX_EXPONENT}.")
    if not isinstance(base, Expr) and base == 0 and n < 0:
        raise Unfit("this divides by zero.")
    if isinstance(base, Fraction) and abs(n) * _bits(base) > MAX_BITS:
        raise Unfit(f"this power is too large a number: {TOO_LARGE}.")


def _combined(a: Quantity, b: Quantity, sign: int, value: Any) -> Dimension | None:
    """The dimension of a product; its factors of π make angles of so many cycles."""
    x, y = a.dimension, b.dimension
    if x is None or y is None:
        return None
    dimension = product_of(x, y, sign)
    if dimension[4] and isinstance(value, Expr) and _power_of_pi(value) == dimension[4]:
        return (*dimension[:4], 0)
    return dimension


def _power_of_pi(formula: Expr) -> int:
    """How often π is a factor of a formula."""
    count, stack = 0, [(formula, 1)]
    while stack:
        node, power = stack.pop()
        count += power * (node is PI)
        if node.op in ("mul", "neg"):
            stack += [(x, power) for x in node.args]
        elif node.op == "div":
            stack += [(node.args[0], power), (node.args[1], -power)]
    return count


def _scalar(value: Value) -> Quantity:
    if isinstance(value, Quantity):
        return value
    raise Unfit(f"this takes numbers, not {kind_of(value)}.")


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def cycles_in(value: Quantity) -> bool:
    """Whether a quantity counts cycles."""
    return value.dimension is not None and value.dimension[4] != 0


def checked(value: Fraction | float | Expr) -> Fraction | float | Expr:
    """The value, if a computer can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Unfit(f"this number is not finite: {TOO_LARGE}.")
    if isinstance(value, Fraction):
        if _bits(value) > MAX_BITS:
            raise Unfit("this number has too many digits.")
        try:
            float(value)
        except OverflowError:
            raise Unfit(f"this number is not finite: {TOO_LARGE}.") from None
    return value


def plain(value: Any) -> Any:
    """The integer of an exact number that is one; anything else as it is."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


@lru_cache(maxsize=4096)
def number_of(text: str) -> Fraction | float:
    """The exact value of a decimal literal; the nearest float of one that ends in f."""
    if text.endswith("f") and len(text) < 400:
        return checked(float(text[:-1]))  # type: ignore[return-value]
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS:
        raise Unfit(f"this number has more than {MAX_DIGITS} digits.")
    if len(exponent.lstrip("+-0")) > 3 or abs(int(exponent or 0)) > 700:
        raise Unfit(f"the number {text[:40]} is not finite: {TOO_LARGE}.")
    try:
        return Fraction(checked(Fraction(text)))  # type: ignore[arg-type]
    except Unfit:
        raise Unfit(f"the number {text[:40]} is not finite: {TOO_LARGE}.") from None


def with_unit(value: Value, node: Node, source: Source) -> Value:
    """The value in the unit written behind it; in a vector, the entries that have none yet."""
    token = unit_behind(node)
    if token is None:
        return value
    place = source.of(token)
    unit = Quantity(*unit_of(str(token), place))
    if isinstance(value, Vector):
        return _entries_in(value, unit, str(token))
    if isinstance(value, Quantity) and _has_unit(value, unit):
        _check_dimension(value, unit, str(token))
        raise TextError(
            f"the unit {str(token)!r} follows {spelled(value.dimension)}, which has its own unit.",
            place=place,
            hint="Give the numbers inside the brackets their units, and leave this one out.",
        )
    return _in_unit_of(value, unit, str(token))


def unit_behind(node: Node) -> Any:
    """The unit written behind a number, a vector or a bracket; None if there is none."""
    last = node.parts[-1]
    return None if type(last) is Node or len(node.parts) == 1 else last


def units_in(node: Node) -> list[str]:
    """The units written in a formula."""
    units, stack = [], [node]
    while stack:
        node = stack.pop()
        token = unit_behind(node) if node.kind in ("number", "group", "vector") else None
        units += [] if token is None else [str(token)]
        stack += [part for part in node.parts if type(part) is Node]
    return units


def literal(number: Node, measured: Node, source: Source) -> Quantity:
    """A number in the unit behind it, or behind the vector it stands in."""
    token = unit_behind(measured)
    try:
        return _literal(str(number.parts[0]), "" if token is None else str(token))
    except LiaisonError as error:
        raise error.at(source.of(token)) from None


@lru_cache(maxsize=4096)
def _literal(text: str, unit: str) -> Quantity:
    value = Quantity(number_of(text), PURE, bare=True)
    return _in_unit_of(value, Quantity(*unit_of(unit)), unit) if unit else value


def _entries_in(value: Vector, unit: Quantity, word: str) -> Vector:
    """A vector whose entries that have no unit are in this one."""
    items: list[Any] = []
    for item in value.items:
        if isinstance(item, Vector):
            items.append(_entries_in(item, unit, word))
        else:
            _check_dimension(item, unit, word)
            items.append(_in_unit_of(item, unit, word))
    return Vector(tuple(items))


def _check_dimension(value: Quantity, unit: Quantity, word: str) -> None:
    """Rejects a unit behind what may have one or not: it would be a guess."""
    if value.dimension is None and unit.value != 1:
        raise Unfit(
            f"the unit {word!r} follows a quantity whose dimension is not known; write its "
            f"product with 1 {word}, or {si_unit(unit.dimension)} behind the brackets."
        )


def _has_unit(value: Quantity, unit: Quantity) -> bool:
    """Whether a unit behind a quantity would be lost: it has one that is as large or larger."""
    alike = same(value.dimension, unit.dimension) and value.dimension != PURE
    return not value.bare and alike and unit.value != 1


def _in_unit_of(value: Value, unit: Quantity, word: str) -> Any:
    if isinstance(value, Quantity) and value.bare:
        return Quantity(checked(value.value * unit.value), unit.dimension)
    if isinstance(value, Quantity) and value.dimension == PURE:
        return multiplied(value, unit)
    if isinstance(value, Quantity) and same(value.dimension, unit.dimension):
        return value
    if isinstance(value, Quantity) and same(value.dimension, PURE):
        return multiplied(value, unit)
    actual = spelled(value.dimension) if isinstance(value, Quantity) else kind_of(value)
    raise Unfit(f"the unit {word!r} follows {actual}.")


def two_term_error(message: str, a: Node, first: Value, b: Node, source: Source) -> TextError:
    """An error about two terms together, with both places shown."""
    what = spelled(first.dimension) if isinstance(first, Quantity) else kind_of(first)
    place = source.at(a)
    if a.line == b.line:
        hint = f"The first term, in column {place.column}, is {what}."
    else:
        hint = f"The first term, in line {place.line}, is {what}:{place.excerpt()}"
    return source.error(message, b, hint=hint)
