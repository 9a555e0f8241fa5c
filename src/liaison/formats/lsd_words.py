"""Calls of LSD that make no arithmetic: si(…), unknown("f", …), named("tip", frame).

`si` takes every quantity inside as its number in SI, so that any formula can be said without
units; the other two give a name to what would be named by its place, or have none.

Public names: WORDS, worded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from liaison.expr import Function, as_expr

from .lsd_functions import order_of
from .lsd_values import BodyFrame, Quantity, Unfit, Value, Vector, Word

WORDS = ("si", "unknown", "named")


def worded(name: str, values: list[Value], named: dict[str, Value]) -> Value:
    """The value of one of these calls.

    Raises:
        Unfit: arguments of the wrong kind.
    """
    if name == "unknown":
        return _unknown(values, named.pop("derivative", None))
    if named:
        raise Unfit(f"{name} takes nothing by name.")
    return _MAKERS[name](values)


def _si(values: list[Value]) -> Quantity:
    if len(values) != 1 or not isinstance(values[0], Quantity):
        raise Unfit("si takes one number.")
    return Quantity(values[0].value, bare=True)


def _unknown(values: list[Value], derivative: Value) -> Quantity:
    """An unknown function by its name, or a derivative of it, of an order in each argument."""
    name, arguments = _text(values, "unknown"), values[1:]
    if not arguments or not all(isinstance(a, Quantity) for a in arguments):
        raise Unfit('unknown takes a name and numbers: unknown("f", x).')
    items = derivative.items if isinstance(derivative, Vector) else [derivative] * len(arguments)
    orders = tuple(order_of(item) for item in items)
    if len(orders) != len(arguments):
        raise Unfit(f"derivative is of {len(arguments)} orders, one for each argument.")
    formulas = (as_expr(a.value) for a in arguments)
    return Quantity(Function(name, len(orders)).partial(orders, *formulas), None)


def _named(values: list[Value]) -> BodyFrame:
    """A frame on a body with a name of its own."""
    name = _text(values, "named")
    if len(values) != 2 or not isinstance(values[1], BodyFrame):
        raise Unfit('named takes a name and a frame on a body: named("tip", [1,0,0] @ crank).')
    return replace(values[1], name=name)


def _text(values: list[Value], word: str) -> str:
    if not values or not isinstance(values[0], Word):
        raise Unfit(f"{word} takes a text in quotes first.")
    return values[0].text


_MAKERS: dict[str, Any] = {"si": _si, "named": _named}
