"""Units behind values, and terms whose dimensions do not go together.

Public names: with_unit, literal, both_shown.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from liaison.errors import LiaisonError, TextError

from .lsd_nodes import Node, Source
from .lsd_units import PURE, same, spelled, unit_of
from .lsd_values import Quantity, Unfit, Value, Vector, checked, kind_of, multiplied, number_of


def with_unit(value: Value, node: Node, source: Source) -> Value:
    """The value in the unit written behind it; in a vector, the entries that have none yet."""
    token = unit_behind(node)
    if token is None:
        return value
    return _in_unit_of(value, Quantity(*unit_of(str(token), source.of(token))), str(token))


def unit_behind(node: Node) -> Any:
    """The unit written behind a number, a vector or a bracket; None if there is none."""
    last = node.parts[-1]
    return None if type(last) is Node or len(node.parts) == 1 else last


def literal(number: Node, measured: Node, source: Source) -> Quantity:
    """A number in the unit behind it, or behind the vector it stands in."""
    token = unit_behind(measured)
    try:
        return _literal(str(number.parts[0]), "" if token is None else str(token))
    except LiaisonError as error:
        error.place = source.of(token)
        raise


@lru_cache(maxsize=4096)
def _literal(text: str, unit: str) -> Quantity:
    value = Quantity(number_of(text), PURE, bare=True)
    return _in_unit_of(value, Quantity(*unit_of(unit)), unit) if unit else value


def _in_unit_of(value: Value, unit: Quantity, word: str) -> Any:
    if isinstance(value, Vector):
        return Vector(tuple(_in_unit_of(item, unit, word) for item in value.items))
    if isinstance(value, Quantity) and value.bare:
        return Quantity(checked(value.value * unit.value), unit.dimension)
    if isinstance(value, Quantity) and same(value.dimension, unit.dimension):
        return value
    if isinstance(value, Quantity) and same(value.dimension, PURE):
        return multiplied(value, unit)
    found = spelled(value.dimension) if isinstance(value, Quantity) else kind_of(value)
    raise Unfit(f"the unit {word!r} stands behind {found}.")


def both_shown(said: str, a: Node, first: Value, b: Node, source: Source) -> TextError:
    """A refusal of two terms together, with both places shown."""
    what = spelled(first.dimension) if isinstance(first, Quantity) else kind_of(first)
    place = source.at(a)
    if a.line == b.line:
        hint = f"The first term, in column {place.column}, is {what}."
    else:
        hint = f"The first term, in line {place.line}, is {what}:{place.excerpt()}"
    return TextError(said, place=source.at(b), hint=hint)
