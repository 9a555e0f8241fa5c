"""Boxes, ellipsoids and edges that touch.

    ellipsoid:  gap = p_z − |(h_k R_zk)|, the lowest point above a plane;           (contact-6)
    edges:      n = ±e_z × a/|e_z × a|, outwards,   gap = n · p.                    (contact-5)

Edges cross edges only within their ends; past them the gap jumps to FAR.

Public names: Box, Ellipsoid, Edge.

Source: docs/theory/contacts.md (contact-4), (contact-5), (contact-6).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, final

import numpy as np

from liaison.expr import absolute, as_expr, minimum, select
from liaison.model.kinds import Property
from liaison.spatial.arrays import Array, array, cross, dot, identity, product

from .points import LENGTH, nearest_to_ball
from .shape import ContactShape, Sizes, Solid, corners, shape_kind, touching
from .touch import FAR, SHALLOW, Touching, length, within

SIZE = Property("size", "m", vector=True)
THIN = 0.02
"""Thickness of a flat box in a picture, in its largest side."""


@shape_kind
@final
class Box(ContactShape):
    """A box about the origin of the first frame, along its axes; it touches with its corners."""

    WORD: ClassVar[str] = "box"
    SYMBOL: ClassVar[str] = "box"
    SIZES: ClassVar[tuple[Property, ...]] = (SIZE,)
    ROLLS: ClassVar[bool] = False
    INSTEAD: ClassVar[dict[str, str]] = {
        "profile": "Give a point to each corner that can touch.",
        "curve": "Give a point to each corner that can touch.",
    }

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        return corners(sizes.halves("size"))

    @classmethod
    def reach(cls, sizes: Sizes) -> float:
        return narrowest(sizes("size"))

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        sides = sizes("size")
        return (Solid("box", tuple(max(x, THIN * max(sides)) for x in sides)),)


@shape_kind
@final
class Ellipsoid(ContactShape):
    """An ellipsoid about the origin of the first frame, along its axes."""

    WORD: ClassVar[str] = "ellipsoid"
    SYMBOL: ClassVar[str] = "ellipsoid"
    SIZES: ClassVar[tuple[Property, ...]] = (SIZE,)
    ONLY: ClassVar[str] = "An ellipsoid touches a plane; give balls to the ends that can touch."

    @classmethod
    def reach(cls, sizes: Sizes) -> float:
        return narrowest(sizes("size"))

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        return (Solid("ellipsoid", tuple(sizes("size"))),)


def narrowest(sides: Iterable[Any]) -> float:
    """Half the smallest side that is not 0 [m]."""
    return min((float(x) for x in sides if x > 0), default=np.inf) / 2


@shape_kind
@final
class Edge(ContactShape):
    """An edge along z of the first frame; x points out of its body."""

    WORD: ClassVar[str] = "edge"
    SYMBOL: ClassVar[str] = "edge"
    SIZES: ClassVar[tuple[Property, ...]] = (LENGTH,)
    ROLLS: ClassVar[bool] = False
    ONLY: ClassVar[str] = "An edge touches an edge; on a plane give a point to each of its ends."


@touching("box", "ball")
def box_on_ball(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The ball about the second origin against the nearest point of a box."""
    o = product(R.T, -p)
    sides = sizes.halves("size")
    nearest = array([within(x, side) for x, side in zip(o, sides, strict=True)])
    return [nearest_to_ball(sizes, R, p, nearest, 0)]


@touching("ellipsoid", "plane")
def ellipsoid_on_plane(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """The lowest point of an ellipsoid above a plane, by (contact-6)."""
    halves = sizes.halves("size")
    x, y, z = identity()
    far, way = length([half * R[2, k] for k, half in enumerate(halves)])
    lowest = array([-(half * w) for half, w in zip(halves, way, strict=True)])
    point = product(R, lowest)
    return [Touching(as_expr(p[2] - far), point, z, (x, y), center=point)]


@touching("edge", "edge")
def edge_on_edge(sizes: Sizes, R: Array, p: Array) -> list[Touching]:
    """Two edges along z of both frames; x of each points out of its body."""
    half, other = sizes("length") / 2, sizes("edge") / 2
    a, out = R[:, 2], R[:, 0]
    level, way = length([a[0], a[1]])
    across = array([-way[1], way[0], 0])
    side = as_expr(across[0] - dot(across, out))
    normal = array([select(side, x, -x) for x in across])
    s = -(p[0] * way[0] + p[1] * way[1]) / as_expr(select(level, level, 1))
    t = p[2] + s * a[2]
    apart = as_expr(dot(normal, p))
    ends = minimum(half - absolute(s), other - absolute(t))
    crosses = minimum(minimum(ends, apart + minimum(half, other) / 5), level - SHALLOW)
    center = array([s * x for x in a])
    z = identity()[2]
    gap = as_expr(select(crosses, apart, FAR))
    return [Touching(gap, center, normal, (z, cross(normal, z)), center=center, shown=apart)]
