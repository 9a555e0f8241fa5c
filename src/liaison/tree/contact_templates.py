"""Where a body touches a plane, a ball or a surface: gap, point, normal and tangents.

All are formulas of the template's (R, p), the pose of the first frame seen from the second. The
point that touches is at p + ρ; with c = p + R s the center of a ball (or a point, a corner) at s,

    plane:    gap = c_z − r,                 n = e_z;
    ball:     gap = ±(|c| − r₂) − r,         n = ±c/|c|   (− inside);               (contact-1)
    surface:  gap = (c_z − h)/√(1 + h_x² + h_y²),   n = (−h_x, −h_y, 1)/√(…);

ρ = R s − r n. The rim of a disc touches a plane by (rolling-1). A disc that lies flat on its plane
has no lowest point: its center is taken, which is in the middle of all of them. In the middle of a
ball there is no normal, and nothing near that could touch.

Public names: Touch, touches, gap_template, slip_templates, turn_templates,
rate_template.

Source: docs/theory/contacts.md (contact-1), docs/theory/closures.md (rolling-1).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product as combined
from typing import Any, NamedTuple

from liaison.expr import Expr, as_expr, gradient, select, sqrt, substitute
from liaison.model import SURFACE, Contact
from liaison.spatial.arrays import Array, array, cross, dot, identity, product, zeros

from .templates import P, R, derived, second_order

Numbers = Callable[[Any], Any]
NONE = Fraction(1, 10**12)
"""A slope [rad] below which a disc is flat, a distance [m] below which a point is in the middle."""
POLE = array([Fraction(9, 25), Fraction(12, 25), Fraction(4, 5)])
ACROSS = (
    array([Fraction(4, 5), Fraction(-3, 5), Fraction(0)]),
    array([Fraction(12, 25), Fraction(16, 25), Fraction(-3, 5)]),
)
"""A direction that no drawing has, and two across it: tangents of a sphere turn with the normal
from it, and fail opposite to it only."""


class Touch(NamedTuple):
    """One place of contact, as formulas of the relative pose, in the second frame's axes."""

    gap: Expr
    point: Array  # ρ, from the origin of the first frame
    normal: Array
    tangents: tuple[Array, Array]


def touches(contact: Contact, numbers: Numbers) -> list[Touch]:
    """Every place at which the contact may touch: one, two rims, or the corners of a box."""
    radius = numbers(contact.radius)
    if contact.kind in ("disc", "cylinder"):
        half = numbers(contact.length) / 2 if contact.kind == "cylinder" else 0
        ends = (-half, half) if contact.kind == "cylinder" else (0,)
        return [_rim(radius, array([0, 0, end])) for end in ends]
    return [_ball(contact, numbers, radius, s) for s in _places(contact, numbers)]


def _places(contact: Contact, numbers: Numbers) -> list[Array]:
    """Where the points or centers are in the first frame; flat boxes have fewer corners."""
    if contact.kind != "box":
        return [zeros(3)]
    half = [numbers(x) / 2 for x in contact.size]
    signs = [(0,) if x == 0 else (-1, 1) for x in half]
    return [array([s * x for s, x in zip(turn, half, strict=True)]) for turn in combined(*signs)]


def _rim(radius: Any, s: Array) -> Touch:
    """The lowest point of the rim of a disc above a plane."""
    x, y, z = identity()
    ax, ay, az = R[:, 2]
    level, toward = _length([ax, ay])
    down = array([radius * az * toward[0], radius * az * toward[1], -(radius * level)])
    point = product(R, s) + down
    return Touch(as_expr(P[2] + point[2]), point, z, (x, y))


def _ball(contact: Contact, numbers: Numbers, radius: Any, s: Array) -> Touch:
    """A point or a ball about s against what it touches, by (contact-1)."""
    offset = product(R, s)
    c = P + offset
    if contact.surface is not None:
        gap, normal, tangents = _surface(as_expr(numbers(contact.surface)), c)
    elif contact.outside is not None or contact.inside is not None:
        gap, normal, tangents = _sphere(contact, numbers, c)
    else:
        x, y, normal = identity()
        gap, tangents = c[2], (x, y)
    return Touch(as_expr(gap - radius), offset - radius * normal, normal, tangents)


def _surface(h: Expr, c: Array) -> tuple[Any, Array, tuple[Array, Array]]:
    at = dict(zip(SURFACE, (as_expr(c[0]), as_expr(c[1])), strict=True))
    z, hx, hy = substitute([h, *gradient(h, list(SURFACE))], at)
    steep, along = sqrt(1 + hx * hx + hy * hy), sqrt(1 + hx * hx)
    normal = array([-hx / steep, -hy / steep, 1 / steep])
    first = array([1 / along, 0, hx / along])
    return (c[2] - z) / steep, normal, (first, cross(normal, first))


def _sphere(contact: Contact, numbers: Numbers, c: Array) -> tuple[Any, Array, Any]:
    far, outwards = _length(c)
    if contact.inside is not None:
        gap, normal = numbers(contact.inside) - far, array([-x for x in outwards])
    else:
        gap, normal = far - numbers(contact.outside), array(outwards)
    return gap, normal, tuple(_turned(v, normal) for v in ACROSS)


def _length(v: Any) -> tuple[Expr, list[Expr]]:
    """|v| and v/|v|; 0 and zeros, without derivative, where |v| is below NONE."""
    squared = as_expr(dot(list(v), list(v)))
    beyond = squared - NONE * NONE
    length = sqrt(select(beyond, squared, 1))
    return as_expr(select(beyond, length, 0)), [as_expr(select(beyond, x / length, 0)) for x in v]


def _turned(v: Array, n: Array) -> Array:
    """v, across POLE, turned by the shortest way from POLE to n."""
    share = dot(v, n) / (1 + dot(POLE, n))
    return v - array([share * (a + b) for a, b in zip(n, POLE, strict=True)])


def gap_template(touch: Touch) -> tuple[Any, ...]:
    """The template of the gap."""
    return (touch.gap, *derived(touch.gap))


def slip_templates(touch: Touch) -> list[tuple[Any, ...]]:
    """Templates of the slip along both tangents: t · (ṗ + ω × ρ)."""
    return [rate_template(cross(touch.point, t), t) for t in touch.tangents]


def turn_templates(directions: tuple[Array, ...]) -> list[tuple[Any, ...]]:
    """Templates of the angular velocity along directions."""
    return [rate_template(t, zeros(3)) for t in directions]


def rate_template(turn: Array, slide: Array) -> tuple[Any, ...]:
    """The template of n · ω + g · ṗ, a rate."""
    n, g = (tuple(as_expr(x) for x in v) for v in (turn, slide))
    return None, n, g, second_order(n, g)
