"""Places of contact on curves and surfaces that formulas give: nearest points, lowest of a rim.

A surface is f(a, b) in the second frame: (a, b, h(a, b)) of a height, a profile ϱ(a) about the axis
z, (ϱ cos a, ϱ sin a, b), or a curve (x(a), y(a), b). The center c of a ball is far from its foot by

    (c − f) · f_a = 0,   (c − f) · f_b = 0,   gap = ±|c − f| − r,   n = f_a × f_b/|…|,   (contact-3)

and the rim of a disc touches a height where the height of its points above it is least.

Public names: ball_on_surface, ball_on_profile, ball_on_curve, rim_on_surface, point_on_surface.

Source: docs/theory/contacts.md (contact-1), (contact-3); LL 1.5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from liaison.expr import (
    Expr,
    as_expr,
    atan2,
    cos,
    gradient,
    minimum,
    select,
    sin,
    sqrt,
    substitute,
    symbol,
    vanishes,
)
from liaison.model import CURVE, PROFILE, SURFACE
from liaison.spatial.arrays import Array, array, cross, dot, product, zeros
from liaison.tree.templates import P, R

from .feet import foot_of
from .lengths import NONE
from .templates import Touch

A, B = symbol("foot.a"), symbol("foot.b")
SAMPLES = 32
"""Places on a curve from the nearest of which its foot is sought."""
BELOW = tuple(Fraction(k, 30) for k in (0, -24, -14, -5, 6, 15, 25))
"""Places below a ball likewise, along x and y in radii, or on a rim, in radians from its lowest
point above level ground; not alike on both sides of a hollow."""
CLOSE, LOW = Fraction(1, 10**24), Fraction(1, 10**15)
"""What half a squared distance [m²] and a height [m] are known to."""


def ball_on_surface(h: Expr, radius: Any) -> Touch:
    """A ball above z = h(x, y); its foot is sought from the nearest of samples below it."""
    (z,) = substitute([h], dict(zip(SURFACE, (A, B), strict=True)))
    is_level = [vanishes(x) for x in gradient(h, list(SURFACE))]
    dense = BELOW if any(is_level) else BELOW[::2]
    along = [(0,) if level else dense for level in is_level]
    places = [(as_expr(P[0] + i * radius), as_expr(P[1] + j * radius)) for i in along[0]
              for j in along[1]]  # fmt: skip
    apart = []
    for x, y in places:
        (there,) = substitute([z], {A: x, B: y})
        apart.append((P[0] - x) ** 2 + (P[1] - y) ** 2 + (P[2] - there) ** 2)
    start = [_least([place[k] for place in places], apart) for k in range(2)]
    return _ball(array([A, B, z]), (start[0], start[1]), radius)


def _least(places: Sequence[Expr], values: Sequence[Any]) -> Expr:
    """The place with the least value."""
    best, value = places[0], as_expr(values[0])
    for place, other in zip(places[1:], values[1:], strict=True):
        best = as_expr(select(value - other, place, best))
        value = as_expr(minimum(value, other))
    return best


def ball_on_profile(profile: Expr, radius: Any) -> Touch:
    """A ball, or a disc about the same axis, outside of ϱ(angle); sought about its own angle."""
    (rho,) = substitute([profile], {PROFILE: A})
    x, y = as_expr(rho * cos(A)), as_expr(rho * sin(A))
    angles = [as_expr(atan2(P[1], P[0]) + k / 2) for k in BELOW]
    listed = [substitute([x, y], {A: angle}) for angle in angles]
    apart = [(P[0] - a) ** 2 + (P[1] - b) ** 2 for a, b in listed]
    return _ball(array([x, y, B]), (_least(angles, apart), P[2]), radius)


def ball_on_curve(xy: Sequence[Expr], span: Sequence[Any], radius: Any) -> Touch:
    """A ball, or a disc about z, to the right of a curve; sought from the nearest of samples."""
    (x, y) = substitute(list(xy), {CURVE: A})
    low, high = span
    steps = [as_expr(low + (high - low) * Fraction(k, SAMPLES)) for k in range(SAMPLES + 1)]
    listed = [substitute([x, y], {A: step}) for step in steps]
    apart = [(P[0] - a) ** 2 + (P[1] - b) ** 2 for a, b in listed]
    return _ball(array([x, y, B]), (_least(steps, apart), P[2]), radius)


def _ball(f: Array, start: tuple[Any, Any], radius: Any) -> Touch:
    """By (contact-3)."""
    d = P - f
    along = [array([gradient(as_expr(x), [w])[0] for x in f]) for w in (A, B)]
    metric = [[as_expr(dot(x, y)) for y in along] for x in along]
    across = cross(*along)
    normal = _unit(across)
    first = _unit(along[0])
    second = _unit(along[1]) if vanishes(metric[0][1]) else cross(normal, first)
    squared = as_expr(dot(d, d))
    far = sqrt(squared)
    return Touch(
        gap=as_expr(select(dot(across, d), far, -far) - radius),
        point=-radius * normal,
        normal=normal,
        tangents=(first, second),
        foot=foot_of((A, B), squared / 2, start, metric, CLOSE),
        center=zeros(3),
        radius=radius,
        shown=as_expr(far - radius),
    )


def rim_on_surface(h: Expr, radius: Any, s: Array) -> Touch:
    """The rim of a disc above z = h(x, y): where its points are lowest above the surface."""
    offset = product(R, s)
    steep = _slopes(h, P + offset)[0]
    tilts = [as_expr(dot(steep, R[:, k])) for k in range(2)]
    # of a disc that lies flat no point is the lowest, and its center is taken
    flat = as_expr(tilts[0] * tilts[0] + tilts[1] * tilts[1] - NONE * NONE)
    round_about = array([x * cos(A) + y * sin(A) for x, y in zip(R[:, 0], R[:, 1], strict=True)])
    point = offset + array([radius * select(flat, x, 0) for x in round_about])
    place = P + point
    (z,) = substitute([h], dict(zip(SURFACE, place[:2], strict=True)))
    above = as_expr(place[2] - z)
    down = atan2(-tilts[1], -tilts[0])
    angles = [as_expr(down + k) for k in BELOW]
    start = _least(angles, [substitute([above], {A: angle})[0] for angle in angles])
    foot = foot_of((A,), above, (start,), [[as_expr(radius)]], LOW)
    return point_on_surface(h, point)._replace(foot=foot)


def point_on_surface(h: Expr, point: Array) -> Touch:
    """A point at p + ρ above z = h(x, y), by (contact-1)."""
    c = P + point
    steep, z = _slopes(h, c)
    normal, first = _unit(steep), _unit(array([1, 0, -steep[0]]))
    second = array([0, 1, 0]) if vanishes(as_expr(steep[1])) else cross(normal, first)
    return Touch(as_expr((c[2] - z) * normal[2]), point, normal, (first, second))


def _unit(v: Array) -> Array:
    long = sqrt(as_expr(dot(v, v)))
    return array([x / long for x in v])


def _slopes(h: Expr, c: Array) -> tuple[Array, Expr]:
    """(−h_x, −h_y, 1) and h below c."""
    at = dict(zip(SURFACE, (as_expr(c[0]), as_expr(c[1])), strict=True))
    z, hx, hy = substitute([h, *gradient(h, list(SURFACE))], at)
    return array([-hx, -hy, 1]), z
