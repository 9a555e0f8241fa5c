"""Simple exact numbers near floats: fractions, square roots of fractions, multiples of π.

A recognized number is a guess; it is used only where the closure then holds exactly.

Public names: simple_number, simple_angle, simple_rotation, NEAR, WIDE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from liaison.expr import PI, as_expr, atan, evaluate, sqrt
from liaison.spatial import array

NEAR = 1e-10
"""Largest distance from a float to what it is taken for, relative to 1 or to the float."""

WIDE = 1e-6
"""The same next to a singular position, where floats have half their digits."""

DENOMINATORS = {NEAR: 5000, WIDE: 100}
"""Largest denominators of fractions: others are near any number."""


def _fraction(x: float, near: float, largest: int) -> Fraction | None:
    guess = Fraction(x).limit_denominator(largest)
    return guess if abs(float(guess) - x) <= near * max(1.0, abs(x)) else None


def simple_number(x: float, near: float = NEAR) -> Any:
    """A fraction, or the square root of one; None if nothing simple is near.

    Args:
        x: a float.
        near: how near, NEAR or WIDE.
    """
    largest = DENOMINATORS[near]
    plain = _fraction(x, near, largest)
    if plain is not None:
        return plain.numerator if plain.denominator == 1 else plain
    square = _fraction(x * x, near, min(largest, 1000))
    if square is None or abs(math.copysign(math.sqrt(square), x) - x) > near * max(1.0, abs(x)):
        return None
    return sqrt(square) if x > 0 else -sqrt(square)


def simple_angle(x: float, near: float = NEAR) -> Any:
    """A multiple of π/360 or twice an arc tangent of a simple number [rad]; None if neither."""
    turns = _fraction(x / math.pi, near, 360)
    if turns is not None and 360 % turns.denominator == 0:
        return 0 if turns == 0 else turns * PI
    half = simple_number(math.tan(x / 2), near)
    if half is None:
        return None
    return 2 * atan(half) + round((x - 2 * math.atan(float_of(half))) / (2 * math.pi)) * 2 * PI


def float_of(x: Any) -> float:
    """The value of an exact constant."""
    return float(evaluate(as_expr(x)))


def simple_rotation(R: Sequence[Sequence[float]], near: float = NEAR) -> Any:
    """The exact rotation near R whose Rodrigues vector is of simple numbers; None if none is."""
    trace = 1 + R[0][0] + R[1][1] + R[2][2]
    if trace < 1e-6:
        return None
    parts = (R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
    g = [simple_number(x / trace, near) for x in parts]
    if any(x is None for x in g):
        return None
    return rodrigues(g)


def rodrigues(g: Sequence[Any]) -> Any:
    """The rotation of the Rodrigues vector g = tan(θ/2) u."""
    square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2]
    scale = Fraction(1) / (1 + square) if isinstance(square, int) else 1 / (1 + square)
    tilde = ((0, -g[2], g[1]), (g[2], 0, -g[0]), (-g[1], g[0], 0))
    return array(
        [
            [
                (int(i == j) * (1 - square) + 2 * g[i] * g[j] + 2 * tilde[i][j]) * scale
                for j in range(3)
            ]
            for i in range(3)
        ]
    )
