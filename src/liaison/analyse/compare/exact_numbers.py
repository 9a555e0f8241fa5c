"""A mechanism with exact numbers: floats as the rationals they stand for, rotations made exact.

A rotation or a direction given in floats is one to rounding only; it is taken for the exact one
next to it, within a billionth. What is exact already stays as it is.

Public names: exact_mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from liaison.expr import Expr
from liaison.model import Body, Marker, Mechanism, Rotation, Screw, Translation
from liaison.spatial import quaternion_of

FINE = 2**30
"""Steps of a unit to which quaternions and directions are rounded."""


def exact_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism next to this one, without floats."""
    found: Mechanism = _exact(mechanism)
    return found


def _exact(x: Any) -> Any:
    if isinstance(x, float):
        return _plain(Fraction(x))
    if isinstance(x, tuple):
        parts = tuple(_exact(part) for part in x)
        return x if all(a is b for a, b in zip(parts, x, strict=True)) else parts
    if isinstance(x, Marker) and _has_floats(x.R):
        return replace(x, R=_rotation(x.R), p=_exact(x.p))
    if isinstance(x, Translation | Rotation | Screw) and _has_floats((x.axis,)):
        return replace(x, axis=_direction(x.axis), **_rest(x, "axis"))
    if is_dataclass(x) and not isinstance(x, Expr):
        return _replaced(x)
    return x


def _replaced(x: Any) -> Any:
    left_out = ("shapes", "place", "owner") if isinstance(x, Body | Marker) else ("place",)
    changed = {}
    for part in fields(x):
        if part.init and part.name not in left_out:
            old = getattr(x, part.name)
            new = _exact(old)
            if new is not old:
                changed[part.name] = new
    return replace(x, **changed) if changed else x


def _rest(x: Any, name: str) -> dict[str, Any]:
    return {part.name: _exact(getattr(x, part.name)) for part in fields(x) if part.name != name}


def _has_floats(rows: Sequence[Sequence[Any]]) -> bool:
    return any(isinstance(x, float) for row in rows for x in row)


def _plain(x: Fraction) -> int | Fraction:
    return x.numerator if x.denominator == 1 else x


def _rotation(R: Sequence[Sequence[Any]]) -> Any:
    """The exact rotation next to a matrix of floats, by a quaternion of whole numbers."""
    near = quaternion_of([[float(x) for x in row] for row in R])
    w, x, y, z = (round(float(e) * FINE) for e in near)
    square = w * w + x * x + y * y + z * z
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return tuple(tuple(_plain(Fraction(entry, square)) for entry in row) for row in rows)


def _direction(axis: Sequence[Any]) -> tuple[Any, ...]:
    """The unit vector of rationals next to a direction, by projection from a pole."""
    x, y, z = (float(a) for a in axis)
    length = (x * x + y * y + z * z) ** 0.5
    side = -1 if z < 0 else 1
    a, b = (Fraction(round(e / (length + side * z) * FINE), FINE) for e in (x, y))
    square = a * a + b * b
    return tuple(_plain(e / (1 + square)) for e in (2 * a, 2 * b, side * (1 - square)))
