"""Convex bodies that touch: hulls on planes by their corners, all others by points of a step.

Where convex bodies touch has no formula: compiled loops find up to eight points at every state, and
the gap of each is a formula of what they find, in the second frame's axes,

    g = n·(p + R a − b) − r − s + (1 − n₁·n₁ − n₂·n₂),   n = n₂ + R n₁              (convex-4)

with a on the first body and b on the second, n fixed on one of them, and r, s the radii of the
first about a and of the second about b. A place that is not in use has n = 0, and is 1 m away.

Height fields that are touched: surfaces of triangles over a grid, the solid below them.

Where a body touches is found by compiled loops, as of two convex bodies: its corners above
triangles, peaks below its faces, ridges across its edges, up to eight at once.

Public names: Hull, HullTarget, slots, CORNERS, Terrain.

Source: docs/theory/convex.md (convex-3), (convex-4).

Source: docs/theory/convex.md (field-1), (convex-4).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.expr import Expr, as_expr
from liaison.model.kinds import Property
from liaison.model.shapes import terrain_of
from liaison.spatial.arrays import Array, array, dot, product

from .points import on_plane, points_on_surface
from .shape import (
    ContactShape,
    ContactTarget,
    Core,
    Sizes,
    Solid,
    shape_kind,
    target_kind,
    touching,
)
from .touch import FAR, SLOTS, Touching, around, features

CORNERS = 16
"""Corners up to which each is a place of its own on a plane or surface."""
POINTS = Property("points", "m", shape=True)
HULL = Property("hull", "m", shape=True)


@shape_kind
@final
class Hull(ContactShape):
    """A convex hull of points of the first frame."""

    WORD: ClassVar[str] = "hull"
    SYMBOL: ClassVar[str] = "mesh"
    SIZES: ClassVar[tuple[Property, ...]] = (POINTS,)
    ROLLS: ClassVar[bool] = False
    ONLY: ClassVar[str] = (
        "A hull touches planes, surfaces, balls, rods, drums, blocks and hulls from outside; give "
        "what it touches a hull."
    )

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        return [array(x) for x in sizes.contact.value_of("points").points]

    @classmethod
    def reach(cls, sizes: Sizes) -> float:
        return float(sizes.contact.value_of("points").polytope().size)

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        hull = sizes.contact.value_of("points").polytope()
        return (Solid("mesh", vertices=hull.vertices, faces=hull.triangles()),)

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(tuple(sizes.contact.value_of("points").points))


@target_kind
@final
class HullTarget(ContactTarget):
    """A convex hull of points of the second frame."""

    WORD: ClassVar[str] = "hull"
    SYMBOL: ClassVar[str] = "mesh"
    KEYS: ClassVar[tuple[Property, ...]] = (HULL,)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        """What is wrong with its points is an error where the hull is made."""

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(tuple(sizes.contact.value_of("hull").points))


def slots(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Places whose points loops find, by (convex-4)."""
    name = sizes.contact.name
    return [_slot(features(name, k), R, p) for k in range(SLOTS)]


def _slot(values: list[Expr], R: Array, p: Array) -> Touching:
    n1, n2, a, b = (array(values[k : k + 3]) for k in (0, 3, 6, 9))
    r, s = values[12:]
    normal = n2 + product(R, n1)
    arm = product(R, a)
    none = FAR * (1 - dot(n1, n1) - dot(n2, n2))
    gap = as_expr(dot(normal, p + arm - b) - r - s + none)
    return Touching(gap, arm - r * normal, normal, around(normal))


for shapes, target in (
    ("ball capsule box cylinder hull", "hull"),
    ("ball capsule box cylinder hull", "drum"),
    ("capsule cylinder hull", "block"),
    ("cylinder box hull", "rod"),
    ("hull", "ball"),
):
    touching(shapes, target, by_loops=True)(slots)


@touching("hull", "plane", by_loops=lambda sizes: len(sizes.spots()) > CORNERS)
def hull_on_plane(sizes: Sizes, R: Array, p: Array) -> Sequence[Touching]:
    """Every corner above a plane; of many, those that are lowest."""
    return slots(sizes, R, p) if len(sizes.spots()) > CORNERS else on_plane(sizes, R, p)


@touching("hull", "surface")
def hull_on_surface(sizes: Sizes, R: Array, p: Array) -> Sequence[Touching]:
    """Every corner above z = h(x, y)."""
    count = len(sizes.spots())
    if count > 4 * CORNERS:
        one = sizes.contact
        raise ModelError(
            f"the hull of contact '{one.name}' has {count} corners; on a surface each is a place "
            f"of contact, and {4 * CORNERS} are the limit.",
            place=one.place,
            hint="Give it the points that can touch.",
        )
    return points_on_surface(sizes, R, p)


@target_kind
@final
class Terrain(ContactTarget):
    """The surface of a height field; solid below it, nothing beside it."""

    WORD: ClassVar[str] = "height field"
    SYMBOL: ClassVar[str] = "terrain"
    KEYS: ClassVar[tuple[Property, ...]] = (Property("terrain", "m", shape=terrain_of),)
    HAS_X: ClassVar[bool] = False

    @classmethod
    def check(cls, one: Any) -> None:
        """What is wrong with its heights is an error where it is made."""

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        return Core(grid=sizes.contact.value_of("terrain").grid)


touching("ball capsule box cylinder hull", "height field", by_loops=True)(slots)
