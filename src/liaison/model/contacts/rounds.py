"""Discs, cylinders and capsules that touch: rims, ends, and what is nearest to a ball.

The rim of a disc touches a plane by (rolling-1). A disc that lies flat on its plane has no lowest
point: its center is taken, which is in the middle of all of them. A ball that is touched from
outside meets the nearest point of a solid, at s of the first frame (contact-4).

Public names: Disc, Cylinder, Capsule, rod.

Source: docs/theory/contacts.md (contact-4), docs/theory/closures.md (rolling-1).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, final

from liaison.expr import as_expr, minimum, sqrt
from liaison.model.kinds import Property
from liaison.spatial.arrays import Array, array, identity, product

from .points import nearest_to_ball
from .shape import ContactShape, Sizes, Solid, corners, shape_kind, touching
from .surfaces import rim_on_surface
from .touch import Touching, around, length, within

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
        "block": "Touch the plane of a face, or make it a ball.",
    }

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        return corners([0, 0, sizes("length") / 2])

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        return (Solid("cylinder", (sizes("radius"), sizes("length"))),)


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
    radius, found = sizes("radius"), []
    for s in sizes.spots():
        x, y, z = identity()
        ax, ay, az = R[:, 2]
        level, toward = length([ax, ay])
        down = array([radius * az * toward[0], radius * az * toward[1], -(radius * level)])
        point = product(R, s) + down
        found.append(Touching(as_expr(p[2] + point[2]), point, z, (x, y)))
    return found


@touching("disc cylinder", "hollow ball")
def rims_in_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The point of each rim that is farthest from the middle of a hollow ball."""
    radius, room = sizes("radius"), sizes("inside")
    found = []
    for s in sizes.spots():
        o = product(R.T, -p) - s
        far, way = length(o[:2])
        point = product(R, s + array([-(radius * way[0]), -(radius * way[1]), 0]))
        reach = sqrt(as_expr((far + radius) * (far + radius) + o[2] * o[2]))
        normal = array([-x for x in length(p + point)[1]])
        found.append(Touching(as_expr(room - reach), point, normal, around(normal), center=point))
    return found


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
