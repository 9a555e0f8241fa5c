"""Dimensions of quantities and the compound units of LSD: `N*m`, `kg*m^2`, `rad/s`.

Public names: Dimension, PURE, same, spelled, unit_of, si_unit,
known_dimension.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from liaison.errors import LiaisonError, Place, TextError
from liaison.expr import PI, Expr
from liaison.units import unit_named

Dimension: TypeAlias = tuple[int, int, int, int]  # exponents of m, kg, s, rad
PURE: Dimension = (0, 0, 0, 0)
MAX_UNIT_EXPONENT = 9

_NAMES = {(0, 0, 0): "a pure number", (1, 0, 0): "a length", (0, 1, 0): "a mass",
          (0, 0, 1): "a time", (1, 1, -2): "a force", (2, 1, -2): "a torque or energy",
          (2, 1, 0): "a moment of inertia", (1, 0, -1): "a velocity", (0, 0, -1): "a rate",
          (1, 0, -2): "an acceleration", (0, 1, -2): "a stiffness",
          (0, 1, -1): "a damping coefficient", (2, 1, -1): "a damping coefficient in rotation",
          (2, 0, 0): "an area", (3, 0, 0): "a volume"}  # fmt: skip


def same(a: Dimension | None, b: Dimension | None) -> bool:
    """Whether two dimensions agree; an angle is a pure number, the unknown agrees with all."""
    return a is None or b is None or a[:3] == b[:3]


def spelled(dimension: Dimension | None) -> str:
    """The dimension as a person says it, with its SI unit: 'a length (m)'."""
    if dimension is None:
        return "a quantity"
    if dimension == (0, 0, 0, 1):
        return "an angle (rad)"
    if dimension == (0, 0, -1, 1):
        return "an angular velocity (rad/s)"
    name, unit = _NAMES.get(dimension[:3], "a quantity"), si_unit(dimension)
    return f"{name} ({unit})" if unit else name


def si_unit(dimension: Dimension | None) -> str:
    """The SI unit of a dimension as text; '' for a pure number or an unknown dimension."""
    if dimension is None:
        return ""
    known = {(1, 1, -2): "N", (2, 1, -2): "N*m", (0, 1, -2): "N/m", (0, 1, -1): "N*s/m"}
    if dimension[:3] in known:
        return known[dimension[:3]]
    angle = dimension[3] if dimension[:2] == (0, 0) and dimension[3] == 1 else 0
    words = list(zip(("kg", "m", "rad", "s"), (dimension[1], dimension[0], angle, dimension[2])))
    top = "*".join(_word(word, n) for word, n in words if n > 0)
    bottom = "".join(f"/{_word(word, -n)}" for word, n in words if n < 0)
    return f"{top or '1'}{bottom}" if top or bottom else ""


def _word(word: str, n: int) -> str:
    return word if n == 1 else f"{word}^{n}"


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
    factor, turns, total = Fraction(1), 0, [0, 0, 0, 0]
    for operator, word, exponent in re.findall(r"([*/]?)([^\W\d]+|°)(?:\^(-?\d+))?", text):
        power = int(exponent[:6] or 1) * (-1 if operator == "/" else 1)
        if abs(power) > MAX_UNIT_EXPONENT:
            raise TextError(f"the exponent {power} of unit {word!r} is too large.")
        unit = unit_named(word)
        factor *= unit.factor**power
        turns += power if unit.pi else 0
        total = [a + power * b for a, b in zip(total, unit.dimension, strict=True)]
    value: Fraction | Expr = factor
    for _ in range(abs(turns)):
        value = value * PI if turns > 0 else value / PI
    return value, (total[0], total[1], total[2], total[3])
