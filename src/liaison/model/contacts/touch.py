"""One place of contact as formulas of a relative pose, and what such formulas are made of.

A place is given by its gap, its point, its normal and its tangents, as formulas of (R, p): the pose
of what touches, seen from what is touched. Where the place on a curve or surface has no closed
form, the parameters at which something is least stand in these formulas; whoever interprets them
seeks the minimum. Tangents of a ball turn with its normal by the shortest way.

Below NONE a length is 0 and has no direction, nor derivatives: a disc that lies flat, a point in
the middle of a ball.

Public names: Touching, Least, NONE, length, unit, around, within, round_touching, FAR, SHALLOW,
SLOTS, features.

Source: docs/theory/contacts.md (contact-1), (foot-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from liaison.expr import Expr, as_expr, maximum, minimum, select, sqrt, symbol
from liaison.spatial.arrays import Array, array, dot


class Least(NamedTuple):
    """Parameters of a curve or surface at which something is least, and where to begin.

    Attributes:
        parameters: one or two symbols.
        value: what is least, a formula of them and of (R, p).
        start: formulas of (R, p) near the minimum.
        metric: stands in for the second derivatives where they have no minimum; positive.
        noise: what the value is known to: more is no rise.
    """

    parameters: tuple[Expr, ...]
    value: Any
    start: Sequence[Any]
    metric: list[list[Expr]]
    noise: Any


class Touching(NamedTuple):
    """One place of contact, as formulas of the relative pose, in the second frame's axes."""

    gap: Expr  # [m]
    point: Array  # ρ, from the origin of the first frame [m]
    normal: Array  # from the second body to the first
    tangents: tuple[Array, Array]  # t₁ × t₂ = n
    foot: Least | None = None  # on whose parameters the others depend
    center: Array | None = None  # ρ of what is at a distance: the gap changes by n · (ṗ + ω × ρ)
    radius: Any = 0  # where there is a center, ρ = center − radius n
    shown: Expr | None = None  # the gap as people read it, where it has cases


NONE = Fraction(1, 10**12)
"""A slope [rad] below which a disc is flat, a distance [m] below which a point is in the middle."""


def length(v: Any) -> tuple[Expr, list[Expr]]:
    """|v| and v/|v|; 0 and zeros, without derivative, where |v| is below NONE."""
    squared = as_expr(dot(list(v), list(v)))
    beyond = squared - NONE * NONE
    long = sqrt(select(beyond, squared, 1))
    return as_expr(select(beyond, long, 0)), [as_expr(select(beyond, x / long, 0)) for x in v]


def unit(v: Array) -> Array:
    """v/|v|, where v does not vanish."""
    long = sqrt(as_expr(dot(v, v)))
    return array([x / long for x in v])


def within(x: Any, half: Any) -> Any:
    """x brought between −half and half."""
    return minimum(maximum(x, -half), half) if half != 0 else 0


def round_touching(gap: Any, normal: Array, center: Array, radius: Any) -> Touching:
    """What is round about a center."""
    point = center - radius * normal
    return Touching(as_expr(gap), point, normal, around(normal), center=center, radius=radius)


FAR = 1
"""What a gap is given as [m] where neither face nor edge is near; runs know it by this value."""
SHALLOW = Fraction(1, 100)
"""Depth, as part of the smaller side, to which a point can be below a plate without thickness."""
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


SLOTS = 8
"""Places at which two convex bodies touch at once, at most."""
FEATURES = ("n1x", "n1y", "n1z", "n2x", "n2y", "n2z", "ax", "ay", "az", "bx", "by", "bz", "r", "s")
"""What compiled loops find of such a place."""


def features(name: str, slot: int) -> list[Expr]:
    """Symbols of what the loops find of a place of a contact."""
    return [symbol(f"'{name}[{slot}].{x}") for x in FEATURES]
