"""Points and balls that touch, and what capsules and corners share with them.

With c = p + R s the center of a ball (or a point, a corner) at s, and ρ = R s − r n,

    plane:    gap = c_z − r,                 n = e_z;
    ball:     gap = ±(|c| − r₂) − r,         n = ±c/|c|   (− inside);               (contact-1)
    surface:  gap = (c_z − h)/√(1 + h_x² + h_y²),   n = (−h_x, −h_y, 1)/√(…);
    block:    k = c brought within the sides,       gap = |c − k| − r;              (contact-5)
    rods:     least |p + s a − t e_z| within both lengths,   gap = |…| − r − r₂.

Corners touch faces only within their ends; past them the gap jumps to FAR, and a run takes this for
an edge of what is touched. In the middle of a ball there is no normal, and nothing near that could
touch.

Public names: Point, Ball, nearest_to_ball.

Source: docs/theory/contacts.md (contact-1), (contact-5).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.expr import absolute, as_expr, maximum, minimum, select
from liaison.model.kinds import Property
from liaison.spatial.arrays import Array, array, dot, identity, product, zeros

from .shape import ContactShape, Sizes, Solid, shape_kind, touching
from .surfaces import ball_on_curve, ball_on_profile, ball_on_surface, point_on_surface
from .touch import FAR, SHALLOW, Touching, around, length, round_touching, within


@shape_kind
@final
class Point(ContactShape):
    """The origin of the first frame."""

    WORD: ClassVar[str] = "point"
    SYMBOL: ClassVar[str] = "point"
    ROLLS: ClassVar[bool] = False


@shape_kind
@final
class Ball(ContactShape):
    """A ball about the origin of the first frame."""

    WORD: ClassVar[str] = "ball"
    SYMBOL: ClassVar[str] = "sphere"
    SIZES: ClassVar[tuple[Property, ...]] = (Property("radius", "m"),)

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        return (Solid("sphere", (sizes("radius"),)),)


@touching("point ball capsule box", "plane")
def on_plane(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Points or balls above z = 0."""
    radius = sizes("radius")
    x, y, z = identity()
    found = []
    for s in sizes.spots():
        offset = product(R, s)
        c = p + offset
        found.append(Touching(as_expr(c[2] - radius), offset - radius * z, z, (x, y)))
    return found


@touching("point ball", "ball")
def on_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball outside of another."""
    radius, other = sizes("radius"), sizes("outside")
    found = []
    for s in sizes.spots():
        offset = product(R, s)
        far, outwards = length(p + offset)
        found.append(_ball(far - other, array(outwards), offset, radius))
    return found


@touching("point ball capsule box", "hollow ball")
def in_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Points or balls inside of a hollow ball."""
    radius, room = sizes("radius"), sizes("inside")
    found = []
    for s in sizes.spots():
        offset = product(R, s)
        far, outwards = length(p + offset)
        found.append(_ball(room - far, array([-x for x in outwards]), offset, radius))
    return found


def _ball(gap: Any, normal: Array, offset: Array, radius: Any) -> Touching:
    tangents = around(normal)
    rho = offset - radius * normal
    return Touching(as_expr(gap - radius), rho, normal, tangents, center=offset, radius=radius)


@touching("point ball capsule", "rod")
def rod_on_rod(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A rod along z of the first frame (a ball, if its half length is 0) on one along z."""
    other, half = sizes("along") / 2, sizes("length") / 2
    radius, radius_2 = sizes("radius"), sizes("outside")
    a = R[:, 2]
    level = 1 - a[2] * a[2]
    # the common perpendicular, then the nearest points within the lengths, in turn
    crossing = (a[2] * p[2] - dot(p, a)) / maximum(level, Fraction(1, 10**12))
    t = within(p[2] + within(crossing, half) * a[2], other)
    s = within(t * a[2] - dot(p, a), half)
    t = within(p[2] + s * a[2], other)
    center = array([s * x for x in a])
    far, way = length(p + center - array([0, 0, t]))
    return [round_touching(far - radius_2 - radius, array(way), center, radius)]


@touching("point ball capsule box", "tube")
def in_tube(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Points or balls in a hollow rod along z."""
    other, radius, room = sizes("along") / 2, sizes("radius"), sizes("inside")
    found = []
    for s in sizes.spots():
        offset = product(R, s)
        c = p + offset
        far, way = length(c - array([0, 0, within(c[2], other)]))
        normal = array([-x for x in way])
        found.append(round_touching(room - far - radius, normal, offset, radius))
    return found


@touching("point box", "surface")
def points_on_surface(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Points or corners above z = h(x, y)."""
    h = as_expr(sizes("surface"))
    return [point_on_surface(p, h, product(R, s)) for s in sizes.spots()]


@touching("ball", "surface")
def on_surface(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball above z = h(x, y)."""
    return [ball_on_surface(p, as_expr(sizes("surface")), sizes("radius"))]


def on_profile(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball, or a disc about the same axis, outside of ϱ(angle)."""
    return [ball_on_profile(p, as_expr(sizes("profile")), sizes("radius"))]


def on_curve(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball, or a disc about z, to the right of a curve."""
    x, y = (as_expr(f) for f in sizes("curve"))
    return [ball_on_curve(p, (x, y), sizes("span"), sizes("radius"))]


touching("point ball", "profile")(on_profile)
touching("point ball", "curve")(on_curve)
touching("disc", "profile", is_parallel=True)(on_profile)
touching("disc", "curve", is_parallel=True)(on_curve)


@touching("ball", "block")
def ball_on_block(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball outside of a block, with its faces, edges and corners."""
    halves, radius = sizes.halves("block"), sizes("radius")
    nearest = array([within(x, half) for x, half in zip(p, halves, strict=True)])
    far, way = length(p - nearest)
    return [round_touching(far - radius, array(way), zeros(3), radius)]


@touching("point box", "block")
def corners_on_block(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Every corner above every face of a block; above z only, where it has no thickness."""
    halves = sizes.halves("block")
    flat = [k for k, half in enumerate(halves) if half == 0]
    faces = [(k, turn) for k in flat or range(3) for turn in ((1,) if flat else (-1, 1))]
    return [_face(halves, product(R, s), p, k, turn) for s in sizes.spots() for k, turn in faces]


def _face(halves: Sequence[Any], offset: Array, p: Array, k: int, turn: int) -> Touching:
    """A corner above one face."""
    c, axes = p + offset, identity()
    height = as_expr(turn * c[k] - halves[k])
    others = [(k + 1) % 3, (k + 2) % 3]
    # beside the face, or nearer to another one: the corner is not over it
    room = [halves[j] - absolute(c[j]) + minimum(height, 0) for j in others]
    deep = halves[k] if halves[k] != 0 else SHALLOW * minimum(*(halves[j] for j in others))
    over = minimum(minimum(room[0], room[1]), height + deep)
    normal = turn * axes[k]
    tangents = (axes[others[0]], turn * axes[others[1]])
    gap = as_expr(select(over, height, FAR))
    return Touching(gap, offset, normal, tangents, center=offset, shown=height)


def nearest_to_ball(sizes: Sizes, R: Array, p: Array, nearest: Array, rounding: Any) -> Touching:
    """A point of a solid, rounded, that is the nearest to the ball, by (contact-4)."""
    center = product(R, nearest)
    far, outwards = length(p + center)
    normal = array(outwards)
    gap = far - sizes("outside") - rounding
    point, tangents = center - rounding * normal, around(normal)
    return Touching(as_expr(gap), point, normal, tangents, center=center, radius=rounding)
