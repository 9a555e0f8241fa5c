"""Whether a body passes another within a step: conservative advancement along the way between ends.

A step sees where bodies touch at its beginning, its middle and its end. One that goes farther than
both are thick may be on the other side by then. On the way between the two ends, with the center on
a line and the turn about one axis, no point goes farther than

    ℓ = |c₁ − c₀| + size · angle                                                     (passing-1)

so that bodies that are d apart after a part of it do not meet within d/ℓ more.

Public names: way_between, passed_part, thickness.

Source: MIR96 (conservative advancement); docs/theory/convex.md.
"""

from __future__ import annotations

from math import acos, cos, sin, sqrt

import numpy as np

from liaison.numeric.hulls import Solid
from liaison.program.loops.language import f64, i64, loop, ptr

from .distance import dot3, separate
from .layout import Bodies, Convex, Question

MET = 1e-6
"""Distance beside their size at which bodies meet."""
LOOKS = 64
"""Distances along a way at most."""


def thickness(solid: Solid) -> float:
    """A length that a body is thicker than, whatever way it is passed [m]."""
    if solid.polytope is None:
        inner = min(solid.disc, solid.half) if solid.core is None else 0.0
        return 2.0 * (inner + solid.radius)
    normals, corners = solid.polytope.normals, solid.polytope.vertices
    across = np.ptp(np.asarray(corners) @ np.asarray(normals).T, axis=0)
    # between two edges it may be thinner than between a face and a corner
    return 0.5 * float(np.min(across)) + 2.0 * solid.radius


@loop
def center_at(body: Convex, R: ptr, p: ptr, out: ptr) -> None:
    """Where the center of a body is."""
    for i in range(3):
        out[i] = p[i]
        for j in range(3):
            out[i] += R[3 * i + j] * body.center[j]


@loop
def turn_between(before: ptr, after: ptr) -> f64:
    """The angle between two rotations."""
    total = 0.0
    for i in range(9):
        total += before[i] * after[i]
    return acos(min(max(0.5 * (total - 1.0), -1.0), 1.0))


@loop
def way_between(body: Convex, before: ptr, after: ptr, ask: Question) -> f64:
    """(passing-1), of two poses R, p."""
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    for i in range(3):
        ask.local[i] -= ask.near[i]
    turn = turn_between(before, after)
    return sqrt(dot3(ask.local, ask.local)) + (body.size + body.radius) * turn


@loop
def put_pose(part: f64, body: Convex, before: ptr, after: ptr, ask: Question) -> None:
    """The question at a part of the way."""
    angle = turn_between(before, after)
    # the axis in the body, of Rᵀ_before R_after
    axis = ask.side
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        total = 0.0
        for m in range(3):
            total += before[3 * m + k] * after[3 * m + j] - before[3 * m + j] * after[3 * m + k]
        axis[i] = total
    long = sqrt(dot3(axis, axis))
    c = cos(part * angle)
    s = sin(part * angle)
    if long < 1e-12:
        c = 1.0
        s = 0.0
        long = 1.0
    for i in range(3):
        for j in range(3):
            total = 0.0
            for m in range(3):
                # Rodrigues' formula, column j
                turned = (1.0 - c) * axis[m] * axis[j] / (long * long)
                turned += c if m == j else 0.0
                if (j + 1) % 3 == m:
                    turned += s * axis[(j + 2) % 3] / long
                if (m + 1) % 3 == j:
                    turned -= s * axis[(m + 2) % 3] / long
                total += before[3 * i + m] * turned
            ask.R[i, j] = total
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    for i in range(3):
        ask.p[i] = ask.near[i] + part * (ask.local[i] - ask.near[i])
        for j in range(3):
            ask.p[i] -= ask.R[i, j] * body.center[j]


@loop
def comes_by(body: Convex, other: Convex, before: ptr, after: ptr, ask: Question) -> i64:
    """1 if the ball about a body meets the ball about the other on its way."""
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    long = 0.0
    along = 0.0
    for i in range(3):
        step = ask.local[i] - ask.near[i]
        long += step * step
        along += step * (other.center[i] - ask.near[i])
    part = min(max(along / long, 0.0), 1.0) if long > 0.0 else 0.0
    apart = 0.0
    for i in range(3):
        x = ask.near[i] + part * (ask.local[i] - ask.near[i]) - other.center[i]
        apart += x * x
    reach = body.size + body.radius + other.size + other.radius
    return 1 if apart <= reach * reach else 0


@loop
def passed_part(
    first: i64, second: i64, thin: f64, before: ptr, after: ptr, bodies: Bodies, ask: Question
) -> f64:
    """The part of a step after which a body meets another that it then leaves behind; −1: none.

    Args:
        first: number of the body that is seen from the second.
        second: number of the other.
        thin: what both are thicker than together.
        before: R and p at the beginning.
        after: at the end.
        bodies: all of them.
        ask: workspace.
    """
    body = bodies.body[first]
    other = bodies.body[second]
    way = way_between(body, before, after, ask)
    if way <= thin or comes_by(body, other, before, after, ask) == 0:
        return -1.0
    small = MET * (body.size + body.radius + other.size + other.radius)
    part = 0.0
    for _ in range(LOOKS):
        put_pose(part, body, before, after, ask)
        apart = separate(first, second, bodies, ask)
        if apart <= small:
            break
        part += apart / way
        if part >= 1.0:
            return -1.0
    if part == 0.0:
        return -1.0  # they touch already: impulses know of it
    x = ask.normal[0]
    y = ask.normal[1]
    z = ask.normal[2]
    put_pose(1.0, body, before, after, ask)
    if separate(first, second, bodies, ask) > 0.0:
        return part
    return part if x * ask.normal[0] + y * ask.normal[1] + z * ask.normal[2] < 0.0 else -1.0
