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

Discs, cylinders and capsules that touch: rims, ends, and what is nearest to a ball.

The rim of a disc touches a plane by (rolling-1). A disc that lies flat on its plane has no lowest
point: its center is taken, which is in the middle of all of them. A ball that is touched from
outside meets the nearest point of a solid, at s of the first frame (contact-4).

Places of contact on curves and surfaces that formulas give: nearest points, lowest of a rim.

A surface is f(a, b) in the second frame: (a, b, h(a, b)) of a height, a profile ϱ(a) about the axis
z, (ϱ cos a, ϱ sin a, b), or a curve (x(a), y(a), b). The center c of a ball is far from its foot by

    (c − f) · f_a = 0,   (c − f) · f_b = 0,   gap = ±|c − f| − r,   n = f_a × f_b/|…|,   (contact-3)

and the rim of a disc touches a height where the height of its points above it is least.

Public names: Point, Ball, nearest_to_ball, Disc, Cylinder, Capsule, rod, ball_on_surface,
ball_on_profile, ball_on_curve, rim_on_surface, point_on_surface.

Source: docs/theory/contacts.md (contact-1), (contact-5); docs/theory/contacts.md (contact-4),
docs/theory/closures.md (rolling-1); docs/theory/contacts.md (contact-1), (contact-3); LL 1.5.1.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.expr import (
    Expr,
    absolute,
    as_expr,
    atan2,
    cos,
    gradient,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    substitute,
    symbol,
    vanishes,
)
from liaison.model.kinds import Property
from liaison.spatial.arrays import Array, array, cross, dot, identity, product, zeros

from .shape import ContactShape, Core, Sizes, Solid, corners, shape_kind, touching
from .targets import CURVE, PROFILE, SURFACE
from .touch import (
    FAR,
    NONE,
    SHALLOW,
    Least,
    Touching,
    around,
    length,
    round_touching,
    unit,
    within,
)

A, B = symbol("foot.a"), symbol("foot.b")
SAMPLES = 32
"""Places on a curve from the nearest of which its foot is sought."""
BELOW = tuple(Fraction(k, 30) for k in (0, -24, -14, -5, 6, 15, 25))
"""Places below a ball likewise, along x and y in radii, or on a rim, in radians from its lowest
point above level ground; not alike on both sides of a hollow."""
CLOSE, LOW = Fraction(1, 10**24), Fraction(1, 10**15)
"""What half a squared distance [m²] and a height [m] are known to."""


def ball_on_surface(P: Array, h: Expr, radius: Any) -> Touching:
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
    return _on_surface(P, array([A, B, z]), (start[0], start[1]), radius)


def _least(places: Sequence[Expr], values: Sequence[Any]) -> Expr:
    """The place with the least value."""
    best, value = places[0], as_expr(values[0])
    for place, other in zip(places[1:], values[1:], strict=True):
        best = as_expr(select(value - other, place, best))
        value = as_expr(minimum(value, other))
    return best


def ball_on_profile(P: Array, profile: Expr, radius: Any) -> Touching:
    """A ball, or a disc about the same axis, outside of ϱ(angle); sought about its own angle."""
    (rho,) = substitute([profile], {PROFILE: A})
    x, y = as_expr(rho * cos(A)), as_expr(rho * sin(A))
    angles = [as_expr(atan2(P[1], P[0]) + k / 2) for k in BELOW]
    listed = [substitute([x, y], {A: angle}) for angle in angles]
    apart = [(P[0] - a) ** 2 + (P[1] - b) ** 2 for a, b in listed]
    return _on_surface(P, array([x, y, B]), (_least(angles, apart), P[2]), radius)


def ball_on_curve(P: Array, xy: Sequence[Expr], span: Sequence[Any], radius: Any) -> Touching:
    """A ball, or a disc about z, to the right of a curve; sought from the nearest of samples."""
    (x, y) = substitute(list(xy), {CURVE: A})
    low, high = span
    steps = [as_expr(low + (high - low) * Fraction(k, SAMPLES)) for k in range(SAMPLES + 1)]
    listed = [substitute([x, y], {A: step}) for step in steps]
    apart = [(P[0] - a) ** 2 + (P[1] - b) ** 2 for a, b in listed]
    return _on_surface(P, array([x, y, B]), (_least(steps, apart), P[2]), radius)


def _on_surface(P: Array, f: Array, start: tuple[Any, Any], radius: Any) -> Touching:
    """By (contact-3)."""
    d = P - f
    along = [array([gradient(as_expr(x), [w])[0] for x in f]) for w in (A, B)]
    metric = [[as_expr(dot(x, y)) for y in along] for x in along]
    across = cross(*along)
    normal = unit(across)
    first = unit(along[0])
    second = unit(along[1]) if vanishes(metric[0][1]) else cross(normal, first)
    squared = as_expr(dot(d, d))
    far = sqrt(squared)
    return Touching(
        gap=as_expr(select(dot(across, d), far, -far) - radius),
        point=-radius * normal,
        normal=normal,
        tangents=(first, second),
        foot=Least((A, B), squared / 2, start, metric, CLOSE),
        center=zeros(3),
        radius=radius,
        shown=as_expr(far - radius),
    )


def rim_on_surface(R: Array, P: Array, h: Expr, radius: Any, s: Array) -> Touching:
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
    foot = Least((A,), above, (start,), [[as_expr(radius)]], LOW)
    return point_on_surface(P, h, point)._replace(foot=foot)


def point_on_surface(P: Array, h: Expr, point: Array) -> Touching:
    """A point at p + ρ above z = h(x, y), by (contact-1)."""
    c = P + point
    steep, z = _slopes(h, c)
    normal, first = unit(steep), unit(array([1, 0, -steep[0]]))
    second = array([0, 1, 0]) if vanishes(as_expr(steep[1])) else cross(normal, first)
    return Touching(as_expr((c[2] - z) * normal[2]), point, normal, (first, second))


def _slopes(h: Expr, c: Array) -> tuple[Array, Expr]:
    """(−h_x, −h_y, 1) and h below c."""
    at = dict(zip(SURFACE, (as_expr(c[0]), as_expr(c[1])), strict=True))
    z, hx, hy = substitute([h, *gradient(h, list(SURFACE))], at)
    return array([-hx, -hy, 1]), z


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
    places = []
    for s in sizes.spots():
        offset = product(R, s)
        c = p + offset
        places.append(Touching(as_expr(c[2] - radius), offset - radius * z, z, (x, y)))
    return places


@touching("point ball", "ball")
def on_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """A ball outside of another."""
    radius, other = sizes("radius"), sizes("outside")
    places = []
    for s in sizes.spots():
        offset = product(R, s)
        far, outwards = length(p + offset)
        places.append(_ball(far - other, array(outwards), offset, radius))
    return places


@touching("point ball capsule box", "hollow ball")
def in_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Points or balls inside of a hollow ball."""
    radius, room = sizes("radius"), sizes("inside")
    places = []
    for s in sizes.spots():
        offset = product(R, s)
        far, outwards = length(p + offset)
        places.append(_ball(room - far, array([-x for x in outwards]), offset, radius))
    return places


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
    places = []
    for s in sizes.spots():
        offset = product(R, s)
        c = p + offset
        far, way = length(c - array([0, 0, within(c[2], other)]))
        normal = array([-x for x in way])
        places.append(round_touching(room - far - radius, normal, offset, radius))
    return places


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


RADIUS, LENGTH = Property("radius", "m"), Property("length", "m")
THIN = 0.06
"""Thickness of a disc in a picture, in radii."""


@shape_kind
@final
class Disc(ContactShape):
    """A disc with a sharp edge about z of the first frame."""

    WORD: ClassVar[str] = "disc"
    SYMBOL: ClassVar[str] = "cylinder"
    SIZES: ClassVar[tuple[Property, ...]] = (RADIUS,)
    HAS_AXIS: ClassVar[bool] = True
    INSTEAD: ClassVar[dict[str, str]] = {
        "block": "Give a point or a ball to what can touch it, or touch the plane of a face.",
    }

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        radius = sizes("radius")
        return (Solid("cylinder", (radius, THIN * radius)),)


@shape_kind
@final
class Cylinder(ContactShape):
    """A cylinder along z of the first frame; it touches with its two rims."""

    WORD: ClassVar[str] = "cylinder"
    SYMBOL: ClassVar[str] = "cylinder"
    SIZES: ClassVar[tuple[Property, ...]] = (RADIUS, LENGTH)
    HAS_AXIS: ClassVar[bool] = True
    INSTEAD: ClassVar[dict[str, str]] = {
        "profile": "Make it a disc about the same axis.",
        "curve": "Make it a disc about the same axis.",
    }

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        return corners([0, 0, sizes("length") / 2])

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        return (Solid("cylinder", (sizes("radius"), sizes("length"))),)

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(disc=sizes("radius"), half=sizes("length") / 2)


@shape_kind
@final
class Capsule(ContactShape):
    """A rod along z of the first frame with round ends, whose centers are `length` apart."""

    WORD: ClassVar[str] = "capsule"
    SYMBOL: ClassVar[str] = "capsule"
    SIZES: ClassVar[tuple[Property, ...]] = (RADIUS, LENGTH)
    HAS_AXIS: ClassVar[bool] = True
    INSTEAD: ClassVar[dict[str, str]] = {
        "surface": "Give a ball to each of its ends, or make it a cylinder.",
        "profile": "Make it a disc about the same axis.",
        "curve": "Make it a disc about the same axis.",
        "block": "Give a ball to each of its ends.",
    }

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        return corners([0, 0, sizes("length") / 2])

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        return rod(sizes("radius"), sizes("length"))


def rod(radius: float, long: float) -> Iterable[Solid]:
    """A cylinder with a ball at each end."""
    half = long / 2
    yield Solid("cylinder", (radius, 2 * half))
    for end in (-half, half):
        yield Solid("sphere", (radius,), (0.0, 0.0, end))


@touching("disc cylinder", "plane")
def rims_on_plane(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The lowest point of each rim above a plane."""
    radius, places = sizes("radius"), []
    for s in sizes.spots():
        x, y, z = identity()
        ax, ay, az = R[:, 2]
        level, toward = length([ax, ay])
        down = array([radius * az * toward[0], radius * az * toward[1], -(radius * level)])
        point = product(R, s) + down
        places.append(Touching(as_expr(p[2] + point[2]), point, z, (x, y)))
    return places


@touching("disc cylinder", "hollow ball")
def rims_in_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The point of each rim that is farthest from the middle of a hollow ball."""
    radius, room = sizes("radius"), sizes("inside")
    places = []
    for s in sizes.spots():
        o = product(R.T, -p) - s
        far, way = length(o[:2])
        point = product(R, s + array([-(radius * way[0]), -(radius * way[1]), 0]))
        reach = sqrt(as_expr((far + radius) * (far + radius) + o[2] * o[2]))
        normal = array([-x for x in length(p + point)[1]])
        places.append(Touching(as_expr(room - reach), point, normal, around(normal), center=point))
    return places


@touching("disc cylinder", "surface")
def rims_on_surface(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Each rim above z = h(x, y)."""
    h, radius = as_expr(sizes("surface")), sizes("radius")
    return [rim_on_surface(R, p, h, radius, s) for s in sizes.spots()]


@touching("disc cylinder", "ball")
def rounds_on_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The ball about the second origin against the nearest point of a disc or a cylinder."""
    o, half = product(R.T, -p), sizes("length") / 2
    far, way = length(o[:2])
    reach = minimum(far, sizes("radius"))
    nearest = array([reach * way[0], reach * way[1], within(o[2], half)])
    return [nearest_to_ball(sizes, R, p, nearest, 0)]


@touching("capsule", "ball")
def capsule_on_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The ball about the second origin against the nearest point of the axis of a capsule."""
    o, half = product(R.T, -p), sizes("length") / 2
    nearest = array([0, 0, within(o[2], half)])
    return [nearest_to_ball(sizes, R, p, nearest, sizes("radius"))]
