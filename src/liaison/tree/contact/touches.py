"""Where a body touches a plane, a ball, or what a formula gives: gap, point, normal and tangents.

All are formulas of the template's (R, p), the pose of the first frame seen from the second. The
point that touches is at p + ρ; with c = p + R s the center of a ball (or a point, a corner) at s,

    plane:    gap = c_z − r,                 n = e_z;
    ball:     gap = ±(|c| − r₂) − r,         n = ±c/|c|   (− inside);               (contact-1)
    surface:  gap = (c_z − h)/√(1 + h_x² + h_y²),   n = (−h_x, −h_y, 1)/√(…);

ρ = R s − r n. A ball that is touched from outside meets the nearest point of a disc, a cylinder, a
capsule or a box, at s of the first frame (contact-4). The rim of a disc touches a plane by
(rolling-1). A disc that lies flat on its plane has no lowest point: its center is taken, which is
in the middle of all of them. In the middle of a ball there is no normal, and nothing near that
could touch.

Public names: touches.

Source: docs/theory/contacts.md (contact-1), (contact-4), docs/theory/closures.md (rolling-1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as combined
from typing import Any

from liaison.expr import Expr, as_expr, minimum, sqrt
from liaison.model import Contact
from liaison.spatial.arrays import Array, array, identity, product
from liaison.tree.templates import P, R

from .lengths import length
from .surfaces import (
    ball_on_curve,
    ball_on_profile,
    ball_on_surface,
    point_on_surface,
    rim_on_surface,
)
from .tangents import around
from .templates import Touch
from .touches_finite import (
    ball_in_tube,
    ball_on_block,
    corner_on_faces,
    edge_on_edge,
    rod_on_rod,
    within,
)

Numbers = Callable[[Any], Any]
ROUND = ("disc", "cylinder")


def touches(contact: Contact, numbers: Numbers) -> list[Touch]:
    """Every place at which the contact may touch: one, two rims or ends, or corners of a box."""
    r = numbers(contact.radius)
    if contact.edge is not None:
        return [edge_on_edge(numbers(contact.length) / 2, numbers(contact.edge) / 2)]
    if contact.block is not None:
        return _on_block(contact, numbers, r)
    if contact.along is not None:
        return _along(contact, numbers, r)
    if contact.curve is not None:
        x, y = (as_expr(numbers(f)) for f in contact.curve)
        return [ball_on_curve((x, y), [numbers(end) for end in contact.span], r)]
    if contact.profile is not None:
        return [ball_on_profile(as_expr(numbers(contact.profile)), r)]
    if contact.surface is not None:
        h = as_expr(numbers(contact.surface))
        return [_on_surface(contact, h, r, s) for s in _places(contact, numbers)]
    if contact.outside is not None and contact.kind not in ("point", "ball"):
        return [_ball_on_solid(contact, numbers)]
    if contact.kind == "ellipsoid":
        return [_ellipsoid([numbers(x) / 2 for x in contact.size])]
    if contact.kind in ROUND:
        rim = _rim if contact.inside is None else _rim_inside(numbers(contact.inside))
        return [rim(r, s) for s in _places(contact, numbers)]
    return [_ball(contact, numbers, r, s) for s in _places(contact, numbers)]


def _on_block(contact: Contact, numbers: Numbers, r: Any) -> list[Touch]:
    """A ball on a block, or every corner above every face of it."""
    halves = [numbers(x) / 2 for x in contact.block]
    if contact.kind == "ball":
        return [ball_on_block(halves, r)]
    corners = _places(contact, numbers)
    return [place for s in corners for place in corner_on_faces(halves, s)]


def _along(contact: Contact, numbers: Numbers, r: Any) -> list[Touch]:
    """A rod or a ball on a rod, or each of its ends in a tube."""
    other = numbers(contact.along) / 2
    if contact.outside is not None:
        half = numbers(contact.length) / 2
        return [rod_on_rod(half, other, r, numbers(contact.outside))]
    room = numbers(contact.inside)
    return [ball_in_tube(room, other, r, s) for s in _places(contact, numbers)]


def _places(contact: Contact, numbers: Numbers) -> list[Array]:
    """Where the points or centers are in the first frame; flat boxes have fewer corners."""
    half = numbers(contact.length) / 2
    match contact.kind:
        case "box":
            halves = [numbers(x) / 2 for x in contact.size]
        case "cylinder" | "capsule":
            halves = [0, 0, half]
        case _:
            halves = [0, 0, 0]
    signs = [(0,) if x == 0 else (-1, 1) for x in halves]
    return [array([s * x for s, x in zip(turn, halves, strict=True)]) for turn in combined(*signs)]


def _on_surface(contact: Contact, h: Expr, r: Any, s: Array) -> Touch:
    """A corner, a rim or a ball above a surface."""
    if contact.kind in ROUND:
        return rim_on_surface(h, r, s)
    return ball_on_surface(h, r) if contact.kind == "ball" else point_on_surface(h, product(R, s))


def _rim(radius: Any, s: Array) -> Touch:
    """The lowest point of the rim of a disc above a plane."""
    x, y, z = identity()
    ax, ay, az = R[:, 2]
    level, toward = length([ax, ay])
    down = array([radius * az * toward[0], radius * az * toward[1], -(radius * level)])
    point = product(R, s) + down
    return Touch(as_expr(P[2] + point[2]), point, z, (x, y))


def _ellipsoid(halves: Sequence[Any]) -> Touch:
    """The lowest point of an ellipsoid above a plane, by (contact-6)."""
    x, y, z = identity()
    far, way = length([half * R[2, k] for k, half in enumerate(halves)])
    lowest = array([-(half * w) for half, w in zip(halves, way, strict=True)])
    point = product(R, lowest)
    return Touch(as_expr(P[2] - far), point, z, (x, y), center=point)


def _ball(contact: Contact, numbers: Numbers, radius: Any, s: Array) -> Touch:
    """A point or a ball about s against a plane or a ball, by (contact-1)."""
    offset = product(R, s)
    c = P + offset
    if contact.outside is None and contact.inside is None:
        x, y, z = identity()
        return Touch(as_expr(c[2] - radius), offset - radius * z, z, (x, y))
    far, outwards = length(c)
    if contact.inside is not None:
        gap, normal = numbers(contact.inside) - far, array([-x for x in outwards])
    else:
        gap, normal = far - numbers(contact.outside), array(outwards)
    tangents = around(normal)
    rho = offset - radius * normal
    return Touch(as_expr(gap - radius), rho, normal, tangents, center=offset, radius=radius)


def _ball_on_solid(contact: Contact, numbers: Numbers) -> Touch:
    """The ball about the second origin against the nearest point of a solid, by (contact-4)."""
    o = product(R.T, -P)
    rounding = numbers(contact.radius) if contact.kind == "capsule" else 0
    center = product(R, _nearest(contact, numbers, o))
    far, outwards = length(P + center)
    normal = array(outwards)
    gap = far - numbers(contact.outside) - rounding
    point, tangents = center - rounding * normal, around(normal)
    return Touch(as_expr(gap), point, normal, tangents, center=center, radius=rounding)


def _nearest(contact: Contact, numbers: Numbers, o: Array) -> Array:
    """The point of a solid, or of the axis of a capsule, that is nearest to o, in its axes."""
    half = numbers(contact.length) / 2
    if contact.kind == "box":
        sides = [numbers(x) / 2 for x in contact.size]
        return array([within(x, side) for x, side in zip(o, sides, strict=True)])
    if contact.kind == "capsule":
        return array([0, 0, within(o[2], half)])
    far, way = length(o[:2])
    reach = minimum(far, numbers(contact.radius))
    return array([reach * way[0], reach * way[1], within(o[2], half)])


def _rim_inside(room: Any) -> Callable[[Any, Array], Touch]:
    """The point of a rim that is farthest from the middle of a hollow ball."""

    def made(radius: Any, s: Array) -> Touch:
        o = product(R.T, -P) - s
        far, way = length(o[:2])
        point = product(R, s + array([-(radius * way[0]), -(radius * way[1]), 0]))
        reach = sqrt(as_expr((far + radius) * (far + radius) + o[2] * o[2]))
        normal = array([-x for x in length(P + point)[1]])
        return Touch(as_expr(room - reach), point, normal, around(normal), center=point)

    return made
