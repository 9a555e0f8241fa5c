"""Dimensions of quantities in LSD, and its compound units with exact factors.

Public names: Dimension, PURE, same, spelled, unit_of, si_unit, known_dimension, product_of.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from liaison.errors import LiaisonError, Place
from liaison.expr import PI, Expr
from liaison.units import FREQUENCY, PURE, TURNING, Dimension, same, si_unit
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


def spelled(dimension: Dimension | None) -> str:
    """The dimension as a person says it, with its SI unit: 'a length (m)'."""
    if dimension is None:
        return "a quantity"
    if dimension == (0, 0, 0, 1):
        return "an angle (rad)"
    if dimension == TURNING:
        return "an angular velocity (rad/s)"
    if dimension == FREQUENCY:
        return "a frequency (Hz; a turn a second is 1 rev/s, and x/(1 rev) are turns)"
    name, unit = _NAMES.get(dimension[:3], "a quantity"), si_unit(dimension)
    return f"{name} ({unit})" if unit else name


def product_of(x: Dimension, y: Dimension, sign: int) -> Dimension:
    """The dimension of a product (sign 1) or quotient (−1); a frequency in it is one over time."""
    a, b = ((0, 0, -1, 0) if z == FREQUENCY else z for z in (x, y))
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3])


def unit_of(text: str, place: Place | None = None) -> tuple[Fraction | Expr, Dimension]:
    """Factor to SI (exact; `deg` is π/180) and dimension of a unit such as 'kg*m^2/s'."""
    try:
        return _unit(text)
    except LiaisonError as error:
        error.place = place
        raise


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
