"""Places of contact on things that end: faces and edges of blocks, rods, and tubes.

Corners touch faces and edges cross edges only within their ends; past them the gap jumps to FAR,
and a run takes this for an edge of what is touched. Balls and rods go around ends and edges: their
gap is the distance to the nearest point,

    block:  k = c brought within the sides,                  gap = |c − k| − r;
    rods:   least |p + s a − t e_z| within both lengths,     gap = |…| − r − r₂;         (contact-5)
    edges:  n = ±e_z × a/|e_z × a|, outwards,                gap = n · p.

Public names: FAR, within, ball_on_block, corner_on_faces, rod_on_rod, ball_in_tube, edge_on_edge.

Source: docs/theory/contacts.md (contact-5).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from liaison.expr import absolute, as_expr, maximum, minimum, select
from liaison.spatial.arrays import Array, array, cross, dot, identity, product, zeros
from liaison.tree.templates import P, R

from .lengths import length
from .tangents import around
from .templates import Touch

FAR = 1
"""What a gap is told to be [m] where neither face nor edge is near."""
SHALLOW = Fraction(1, 100)
"""Depth, as part of the smaller side, to which a point can be below a plate without thickness."""


def within(x: Any, half: Any) -> Any:
    """x brought between −half and half."""
    return minimum(maximum(x, -half), half) if half != 0 else 0


def ball_on_block(halves: Sequence[Any], radius: Any) -> Touch:
    """A ball outside of a block, with its faces, edges and corners."""
    nearest = array([within(x, half) for x, half in zip(P, halves, strict=True)])
    far, way = length(P - nearest)
    return _round(far - radius, array(way), zeros(3), radius)


def corner_on_faces(halves: Sequence[Any], s: Array) -> list[Touch]:
    """A point at s above each face of a block; above z only, where it has no thickness."""
    flat = [k for k, half in enumerate(halves) if half == 0]
    faces = [(k, turn) for k in flat or range(3) for turn in ((1,) if flat else (-1, 1))]
    return [_face(halves, s, k, turn) for k, turn in faces]


def _face(halves: Sequence[Any], s: Array, k: int, turn: int) -> Touch:
    offset = product(R, s)
    c, axes = P + offset, identity()
    height = as_expr(turn * c[k] - halves[k])
    others = [(k + 1) % 3, (k + 2) % 3]
    # beside the face, or nearer to another one: the corner is not over it
    room = [halves[j] - absolute(c[j]) + minimum(height, 0) for j in others]
    deep = halves[k] if halves[k] != 0 else SHALLOW * minimum(*(halves[j] for j in others))
    over = minimum(minimum(room[0], room[1]), height + deep)
    normal = turn * axes[k]
    tangents = (axes[others[0]], turn * axes[others[1]])
    gap = as_expr(select(over, height, FAR))
    return Touch(gap, offset, normal, tangents, center=offset, shown=height)


def rod_on_rod(half: Any, other: Any, radius: Any, radius_2: Any) -> Touch:
    """A rod along z of the first frame (a ball, if its half length is 0) on one along z."""
    a = R[:, 2]
    level = 1 - a[2] * a[2]
    # the common perpendicular, then the nearest points within the lengths, in turn
    crossing = (a[2] * P[2] - dot(P, a)) / maximum(level, Fraction(1, 10**12))
    t = within(P[2] + within(crossing, half) * a[2], other)
    s = within(t * a[2] - dot(P, a), half)
    t = within(P[2] + s * a[2], other)
    center = array([s * x for x in a])
    far, way = length(P + center - array([0, 0, t]))
    return _round(far - radius_2 - radius, array(way), center, radius)


def ball_in_tube(room: Any, half: Any, radius: Any, s: Array) -> Touch:
    """A ball about s in a hollow rod along z."""
    offset = product(R, s)
    c = P + offset
    far, way = length(c - array([0, 0, within(c[2], half)]))
    return _round(room - far - radius, array([-x for x in way]), offset, radius)


def _round(gap: Any, normal: Array, center: Array, radius: Any) -> Touch:
    point = center - radius * normal
    return Touch(as_expr(gap), point, normal, around(normal), center=center, radius=radius)


def edge_on_edge(half: Any, other: Any) -> Touch:
    """Two edges along z of both frames; x of each points out of its body."""
    a, out = R[:, 2], R[:, 0]
    level, way = length([a[0], a[1]])
    across = array([-way[1], way[0], 0])
    side = as_expr(across[0] - dot(across, out))
    normal = array([select(side, x, -x) for x in across])
    s = -(P[0] * way[0] + P[1] * way[1]) / as_expr(select(level, level, 1))
    t = P[2] + s * a[2]
    apart = as_expr(dot(normal, P))
    ends = minimum(half - absolute(s), other - absolute(t))
    crosses = minimum(minimum(ends, apart + minimum(half, other) / 5), level - SHALLOW)
    center = array([s * x for x in a])
    z = identity()[2]
    gap = as_expr(select(crosses, apart, FAR))
    return Touch(gap, center, normal, (z, cross(normal, z)), center=center, shown=apart)
