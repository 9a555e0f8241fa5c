"""Tangents of a ball: two directions that turn with its normal by the shortest way.

Public names: around.

Source: docs/theory/contacts.md (contact-1).
"""

from __future__ import annotations

from fractions import Fraction

from liaison.spatial.arrays import Array, array, dot

POLE = array([Fraction(9, 25), Fraction(12, 25), Fraction(4, 5)])
ACROSS = (
    array([Fraction(4, 5), Fraction(-3, 5), Fraction(0)]),
    array([Fraction(12, 25), Fraction(16, 25), Fraction(-3, 5)]),
)
"""A direction that no drawing has, and two across it: tangents of a sphere turn with the normal
from it, and fail opposite to it only."""


def around(normal: Array) -> tuple[Array, Array]:
    """ACROSS turned by the shortest way from POLE to the normal."""
    turned = [_turned(v, normal) for v in ACROSS]
    return turned[0], turned[1]


def _turned(v: Array, n: Array) -> Array:
    share = dot(v, n) / (1 + dot(POLE, n))
    return v - array([share * (a + b) for a, b in zip(n, POLE, strict=True)])
