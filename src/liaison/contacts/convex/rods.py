"""Rods, that is capsules and cylinders that lie: the points at which they touch along a line.

Two capsules do not overlap if and only if any point of one axis is at least r₁ + r₂ away from any
of the other,

    |x₁ − x₂| ≥ r₁ + r₂,                                                                  (rod-1)

so that every pair of points of the axes is a contact of two balls. Those that matter are where the
axes cross and the ends of each beside the other: one point of rods that cross, two of rods that
lie along each other.

Where a rod lies along an edge of a polytope or the side of a cylinder, the two ends of what both
have in common stand in the place of the one point of `manifold.py`, which could be anywhere
between.

Public names: rod_points, lying_points, nearest_on_rod.

Source: docs/theory/convex.md (rod-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr

from .distance import cross3, dot3
from .layout import CYLINDER, Bodies, Convex, Question
from .manifold import to_second

CROSSED = 1e-8
"""Square of the sine of the angle of two axes from which on they cross."""
LYING = 1e-6
"""Square of the angle [rad] up to which a rod lies along an edge, and level on it."""
COMMON = 1e-3
"""Part of an edge that both must have in common."""
FARTHER = 0.5
"""Of r₁ + r₂, by which a pair of points may be farther apart than the nearest one."""
SAME = 1e-6
"""Distance beside the size within which two pairs of points are one."""


@loop
def rod_points(first: i64, second: i64, bodies: Bodies, ask: Question) -> f64:
    """The least gap of two capsules, and the points of their axes that touch as balls.

    Args:
        first: number of a capsule, at (R, p) of the question, seen from the second.
        second: number of the other.
        bodies: all of them.
        ask: the question; points of both axes, in their own, and their keys are written into it.
    """
    one = bodies.body[first]
    other = bodies.body[second]
    axis_ends(one, bodies, ask.w[0], ask.w[1])
    axis_ends(other, bodies, ask.w[2], ask.w[3])
    for k in range(2):
        to_second(ask.w[k], 0, ask.w[k], ask)
    wide = one.radius + other.radius
    ask.reach = one.radius
    ask.reach_second = other.radius
    ask.size = one.size + other.size
    count = 0
    for k in range(2):
        count = pair_noted(count, float(k), nearest_on(ask.w[k], ask.w[2], ask.w[3]), 1 + k, ask)
    for k in range(2):
        count = pair_noted(
            count, nearest_on(ask.w[2 + k], ask.w[0], ask.w[1]), float(k), 3 + k, ask
        )
    count = crossing(count, ask)
    least = 1e300
    for m in range(count):
        least = min(least, ask.polygon[m, 2])
    ask.points = 0
    for m in range(count):
        if ask.polygon[m, 2] <= least + FARTHER * wide:
            axis_points(m, ask.points, ask)
            ask.points += 1
    return least - wide


@loop
def axis_ends(rod: Convex, bodies: Bodies, a: ptr, b: ptr) -> None:
    """The ends of the axis of a capsule or a cylinder, in its own axes."""
    for i in range(3):
        if rod.kind == CYLINDER:
            a[i] = 0.0 if i < 2 else -rod.half
            b[i] = 0.0 if i < 2 else rod.half
        else:
            a[i] = bodies.vertex[rod.first, i]
            b[i] = bodies.vertex[rod.first + 1, i]


@loop
def nearest_on(x: ptr, a: ptr, b: ptr) -> f64:
    """The part of the way from a to b at which it is nearest to x, 0 to 1."""
    long = 0.0
    along = 0.0
    for i in range(3):
        long += (b[i] - a[i]) * (b[i] - a[i])
        along += (b[i] - a[i]) * (x[i] - a[i])
    return min(max(along / long, 0.0), 1.0)


@loop
def nearest_on_rod(x: ptr, rod: Convex, bodies: Bodies, out: ptr, ask: Question) -> None:
    """The point of the axis of a capsule nearest to a point x, both in its own axes."""
    axis_ends(rod, bodies, ask.w[2], ask.w[3])
    part = nearest_on(x, ask.w[2], ask.w[3])
    for i in range(3):
        out[i] = ask.w[2, i] + part * (ask.w[3, i] - ask.w[2, i])


@loop
def pair_noted(count: i64, s: f64, t: f64, key: i64, ask: Question) -> i64:
    """One more pair of points, by parts of both axes, unless it is there; how many there are."""
    apart = 0.0
    long = 0.0
    wide = 0.0
    for i in range(3):
        d = ask.w[1, i] - ask.w[0, i]
        e = ask.w[3, i] - ask.w[2, i]
        step = ask.w[0, i] + s * d - ask.w[2, i] - t * e
        apart += step * step
        long += d * d
        wide += e * e
    for m in range(count):
        off = abs(ask.polygon[m, 0] - s) * sqrt(long) + abs(ask.polygon[m, 1] - t) * sqrt(wide)
        if off <= SAME * ask.size:
            return count
    ask.polygon[count, 0] = s
    ask.polygon[count, 1] = t
    ask.polygon[count, 2] = sqrt(apart)
    ask.key[count] = key
    return count + 1


@loop
def crossing(count: i64, ask: Question) -> i64:
    """The points at which both axes are nearest, if they are between their ends."""
    aa = 0.0
    bb = 0.0
    ab = 0.0
    ac = 0.0
    bc = 0.0
    for i in range(3):
        d = ask.w[1, i] - ask.w[0, i]
        e = ask.w[3, i] - ask.w[2, i]
        between = ask.w[2, i] - ask.w[0, i]
        aa += d * d
        bb += e * e
        ab += d * e
        ac += d * between
        bc += e * between
    wide = aa * bb - ab * ab
    if wide <= CROSSED * aa * bb:
        return count
    s = (ac * bb - bc * ab) / wide
    t = (ac * ab - bc * aa) / wide
    if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
        return count
    return int(pair_noted(count, s, t, 5, ask))


@loop
def axis_points(m: i64, k: i64, ask: Question) -> None:
    """A pair of points as the point k of both bodies, each in its own axes."""
    s = ask.polygon[m, 0]
    t = ask.polygon[m, 1]
    ask.keys[k] = ask.key[m]
    for i in range(3):
        ask.near[i] = ask.w[0, i] + s * (ask.w[1, i] - ask.w[0, i]) - ask.p[i]
        ask.second_points[k, i] = ask.w[2, i] + t * (ask.w[3, i] - ask.w[2, i])
    own_point(k, ask)


@loop
def own_point(k: i64, ask: Question) -> None:
    """The point `near` from the origin of the first body, in its axes."""
    for i in range(3):
        ask.first_points[k, i] = 0.0
        for j in range(3):
            ask.first_points[k, i] += ask.R[j, i] * ask.near[j]


@loop
def lying_points(first: i64, second: i64, bodies: Bodies, ask: Question) -> None:
    """Two points in the place of one, where a rod lies along an edge or the side of a cylinder.

    Args:
        first: number of the rod, at (R, p) of the question, seen from the second.
        second: number of a polytope or a cylinder.
        bodies: all of them.
        ask: the question, answered by `touch_points`, with a single point on no face.
    """
    one = bodies.body[first]
    other = bodies.body[second]
    if ask.points != 1 or ask.face >= 0 or (one.kind != CYLINDER and one.corners != 2):
        return
    n = ask.normal
    d = ask.side
    e = ask.local
    axis_ends(one, bodies, ask.w[0], ask.w[1])
    for k in range(2):
        to_second(ask.w[k], 0, ask.w[k], ask)
    for i in range(3):
        d[i] = ask.w[1, i] - ask.w[0, i]
    slope = dot3(d, n)
    if slope * slope > LYING * dot3(d, d) or edge_along(other, bodies, ask) == 0:
        return
    for i in range(3):
        e[i] = ask.w[3, i] - ask.w[2, i]
    # the parts of the edge beside the ends of the axis
    here = 0.0
    there = 0.0
    long = dot3(e, e)
    for i in range(3):
        here += e[i] * (ask.w[0, i] - ask.w[2, i]) / long
        there += e[i] * (ask.w[1, i] - ask.w[2, i]) / long
    low = max(0.0, min(here, there))
    high = min(1.0, max(here, there))
    if high - low <= COMMON:
        return
    ask.points = 2
    ask.reach = one.disc if one.kind == CYLINDER else one.radius
    for k in range(2):
        part = low if k == 0 else high
        s = (part - here) / (there - here)
        ask.keys[k] = 1 + k
        for i in range(3):
            ask.near[i] = ask.w[0, i] + s * d[i] - ask.p[i]
            ask.second_points[k, i] = ask.w[2, i] + part * e[i]
        own_point(k, ask)


@loop
def edge_along(body: Convex, bodies: Bodies, ask: Question) -> i64:
    """1 if a body has an edge, or a line on its round side, along `side` at the normal."""
    n = ask.normal
    if body.kind == CYLINDER:
        axis_ends(body, bodies, ask.w[2], ask.w[3])
        for k in range(2, 4):
            for i in range(3):
                ask.w[k, i] += body.disc * n[i]
        return is_along(ask.w[2], ask.w[3], ask) if n[2] * n[2] <= LYING else 0
    far = -1e300
    for k in range(body.first, body.first + body.corners):
        far = max(far, dot3(bodies.vertex[k], n))
    far -= sqrt(LYING) * body.size
    for k in range(body.first_face, body.first_face + body.faces):
        face = bodies.face[k]
        for m in range(face.corners):
            a = bodies.vertex[bodies.outline[face.first + m]]
            b = bodies.vertex[bodies.outline[face.first + (m + 1) % face.corners]]
            if dot3(a, n) >= far and dot3(b, n) >= far and is_along(a, b, ask) == 1:
                for i in range(3):
                    ask.w[2, i] = a[i]
                    ask.w[3, i] = b[i]
                return 1
    return 0


@loop
def is_along(a: ptr, b: ptr, ask: Question) -> i64:
    """1 if the line from a to b is parallel to `side`."""
    for i in range(3):
        ask.local[i] = b[i] - a[i]
    cross3(ask.local, ask.side, ask.support)
    wide = dot3(ask.local, ask.local) * dot3(ask.side, ask.side)
    return 1 if dot3(ask.support, ask.support) <= LYING * wide else 0
