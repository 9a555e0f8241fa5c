"""Peaks and ridges of a height field that touch a body, and all places of a body on a field.

A point of the grid touches a face of the body, or its round side, and an edge of two triangles an
edge of the body that it crosses, if the normal is one of the field there: no neighbour of it is
above the plane across the normal, and not all are in it.

Public names: field_points.

Source: docs/theory/convex.md (field-1).
"""

from __future__ import annotations

from math import cos, sin, sqrt

from liaison.program.loops.language import f64, i64, loop

from .distance import cross3, dot3
from .field_layout import Field, Fields, Gathered
from .fields import (
    begin_field,
    cell_of,
    corner_of,
    corner_places,
    cylinder_places,
    height_above,
    noted,
)
from .layout import CYLINDER, Bodies, Convex, Question
from .manifold import OUTLINE, to_second

LEVEL = 1e-9
"""Slope up to which neighbours are in a plane."""
PEAKS = 2.0**48
"""Keys from here on are those of peaks,"""
RIDGES = 2.0**50
"""and of ridges."""
AROUND_X = (1, 0, -1, -1, 0, 1)
AROUND_Y = (0, 1, 0, -1, -1, 1)
"""Neighbours of a point of the grid: along the sides and the diagonal of its cells."""
MIDDLE = 500
"""Stands for a corner in keys of a cylinder's middle."""
PI = 3.141592653589793


@loop
def field_points(
    body: Convex, number: i64, far: f64, fields: Fields, bodies: Bodies, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """All places of a body on a height field, at (R, p) of the question.

    Args:
        body: what touches.
        number: of the field.
        far: distance up to which places are named, where it is more than a part of the body's size.
        fields: all of them.
        bodies: all bodies.
        ask: the question.
        gathered: takes the places.
    """
    field = fields.field[number]
    if begin_field(body, far, field, bodies, ask, gathered) == 0:
        return
    for k in range(body.corners):
        corner_places(gathered.corner[k], body.radius, k, field, fields, ask, gathered)
    if body.kind != CYLINDER and body.corners == 1:
        return
    wide = gathered.reach + gathered.margin
    left = cell_of(gathered.center[0] - wide, field.x, field.dx, field.columns)
    right = cell_of(gathered.center[0] + wide, field.x, field.dx, field.columns)
    low = cell_of(gathered.center[1] - wide, field.y, field.dy, field.rows)
    high = cell_of(gathered.center[1] + wide, field.y, field.dy, field.rows)
    for j in range(low, high + 2):
        for i in range(left, right + 2):
            corner_of(i, j, field, fields, gathered.one)
            # the cell is below all of the body
            step = 0.0
            if i < field.columns - 1 and j < field.rows - 1:
                for m in range(1, 4):
                    corner_of(i + m % 2, j + m // 2, field, fields, gathered.two)
                    step = max(step, gathered.two[2] - gathered.one[2])
            if gathered.one[2] + step < gathered.center[2] - wide:
                continue
            if body.kind == CYLINDER and i < field.columns - 1 and j < field.rows - 1:
                cylinder_places(body, i, j, field, fields, ask, gathered)
            peak_places(body, i, j, field, fields, bodies, ask, gathered)
            for way in range(3):
                ridge_places(body, i, j, way, field, fields, bodies, ask, gathered)
    if body.kind == CYLINDER and height_above(gathered.center, field, fields, gathered) < 0.0:
        # too deep for its rims: the ball about its middle
        radius = min(body.disc, body.half)
        corner_places(gathered.center, radius, MIDDLE, field, fields, ask, gathered)


@loop
def is_on_grid(i: i64, j: i64, field: Field) -> i64:
    """1 of a point of the grid."""
    return 1 if i >= 0 and j >= 0 and i < field.columns and j < field.rows else 0


@loop
def is_peak(i: i64, j: i64, field: Field, fields: Fields, gathered: Gathered) -> i64:
    """1 if n is a normal of the field at a point of the grid, and that is no point of a plane."""
    n = gathered.n
    if n[2] <= 1e-6:
        return 0
    corner_of(i, j, field, fields, gathered.three)
    is_sharp = 0
    for k in range(6):
        if is_on_grid(i + AROUND_X[k], j + AROUND_Y[k], field) == 0:
            is_sharp = 1
            continue
        corner_of(i + AROUND_X[k], j + AROUND_Y[k], field, fields, gathered.four)
        long = 0.0
        rise = 0.0
        for m in range(3):
            step = gathered.four[m] - gathered.three[m]
            long += step * step
            rise += n[m] * step
        long = sqrt(long)
        if rise > LEVEL * long:
            return 0
        if rise < -LEVEL * long:
            is_sharp = 1
    return is_sharp


@loop
def peak_places(
    body: Convex, i: i64, j: i64, field: Field, fields: Fields, bodies: Bodies, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """The place of a point of the grid on a face of the body, or on its side."""
    x = gathered.one
    corner_of(i, j, field, fields, x)
    for k in range(3):
        ask.side[k] = x[k] - ask.p[k]
    for k in range(3):
        ask.local[k] = ask.R[0, k] * ask.side[0] + ask.R[1, k] * ask.side[1]
        ask.local[k] += ask.R[2, k] * ask.side[2]
    key = PEAKS + 1024.0 * (j * field.columns + i)
    if body.faces > 0:
        peak_on_face(body, i, j, key, field, fields, bodies, ask, gathered)
    elif body.kind == CYLINDER:
        peak_on_end(body, i, j, key, field, fields, ask, gathered)
        peak_on_side(body.disc, body.half, i, j, key, field, fields, ask, gathered)
    else:
        peak_on_rod(body, i, j, key, field, fields, ask, gathered)


@loop
def peak_on_face(
    body: Convex, i: i64, j: i64, key: f64, field: Field, fields: Fields, bodies: Bodies,
    ask: Question, gathered: Gathered,
) -> None:  # fmt: skip
    """The place of a point of the grid, at `local` of the body, on the face it can touch."""
    y = ask.local
    best = -1
    most = -gathered.reach
    for k in range(body.first_face, body.first_face + body.faces):
        above = dot3(bodies.face[k].normal, y) - bodies.face[k].offset
        if above > gathered.margin:
            return
        if above > most:
            to_second(bodies.face[k].normal, 1, gathered.n, ask)
            for m in range(3):
                gathered.n[m] = -gathered.n[m]
            if is_peak(i, j, field, fields, gathered) == 1:
                most = above
                best = k
    if best < 0:
        return
    n = bodies.face[best].normal
    for m in range(3):
        ask.near[m] = y[m] - most * n[m]
    for k in range(body.first_face, body.first_face + body.faces):
        outside = dot3(bodies.face[k].normal, ask.near) - bodies.face[k].offset
        if outside > 1e-9 * body.size:
            return
    to_second(n, 1, gathered.n, ask)
    for m in range(3):
        gathered.n[m] = -gathered.n[m]
    to_second(ask.near, 0, gathered.two, ask)
    noted(key + best - body.first_face, 0, gathered.two, gathered.one, 0.0, most, ask, gathered)


@loop
def peak_on_end(
    body: Convex, i: i64, j: i64, key: f64, field: Field, fields: Fields, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """The place of a point of the grid on an end of a cylinder."""
    y = ask.local
    sign = 1.0 if y[2] >= 0.0 else -1.0
    above = sign * y[2] - body.half
    wide = y[0] * y[0] + y[1] * y[1]
    if abs(above) > gathered.margin or wide > body.disc * body.disc:
        return
    for m in range(3):
        ask.near[m] = y[m]
        ask.side[m] = 0.0
    ask.near[2] = sign * body.half
    ask.side[2] = -sign
    to_second(ask.side, 1, gathered.n, ask)
    if is_peak(i, j, field, fields, gathered) == 1:
        to_second(ask.near, 0, gathered.two, ask)
        noted(key + (1.0 if sign > 0.0 else 2.0), 0, gathered.two, gathered.one, 0.0, above, ask,
              gathered)  # fmt: skip


@loop
def peak_on_side(
    radius: f64, half: f64, i: i64, j: i64, key: f64, field: Field, fields: Fields, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """The place of a point of the grid on the round side about z of the body."""
    y = ask.local
    apart = sqrt(y[0] * y[0] + y[1] * y[1])
    gap = apart - radius
    if abs(y[2]) > half or gap > gathered.margin or apart <= 0.1 * radius:
        return
    for m in range(3):
        ask.near[m] = 0.0
        ask.side[m] = -y[m] / apart
    ask.near[2] = y[2]
    ask.side[2] = 0.0
    to_second(ask.side, 1, gathered.n, ask)
    if is_peak(i, j, field, fields, gathered) == 1:
        to_second(ask.near, 0, gathered.two, ask)
        noted(key, 1, gathered.two, gathered.one, radius, gap, ask, gathered)


@loop
def peak_on_rod(
    body: Convex, i: i64, j: i64, key: f64, field: Field, fields: Fields, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """The place of a point of the grid on the side of a capsule, between the balls at its ends."""
    a = gathered.corner[0]
    b = gathered.corner[1]
    x = gathered.one
    long = 0.0
    along = 0.0
    for m in range(3):
        long += (b[m] - a[m]) * (b[m] - a[m])
        along += (b[m] - a[m]) * (x[m] - a[m])
    part = along / long
    if part <= 0.0 or part >= 1.0:
        return
    apart = 0.0
    for m in range(3):
        gathered.two[m] = a[m] + part * (b[m] - a[m])
        gathered.n[m] = gathered.two[m] - x[m]
        apart += gathered.n[m] * gathered.n[m]
    apart = sqrt(apart)
    gap = apart - body.radius
    if gap > gathered.margin or apart <= 0.1 * body.radius:
        return
    for m in range(3):
        gathered.n[m] = gathered.n[m] / apart
    if is_peak(i, j, field, fields, gathered) == 1:
        noted(key, 1, gathered.two, x, body.radius, gap, ask, gathered)


@loop
def ridge_places(
    body: Convex, i: i64, j: i64, way: i64, field: Field, fields: Fields, bodies: Bodies,
    ask: Question, gathered: Gathered,
) -> None:  # fmt: skip
    """The places of an edge of the field, along x, y or the diagonal, on edges of the body."""
    right = 0 if way == 1 else 1
    up = 0 if way == 0 else 1
    if is_on_grid(i + right, j + up, field) == 0:
        return
    # the corners across it, of the triangles on both sides; where there is none, the edge itself
    left_x = i if way == 2 else (i + 1 if way == 0 else i - 1)
    left_y = j + 1 if way == 2 else (j + 1 if way == 0 else j)
    other_x = i + 1 if way != 0 else i
    other_y = j if way == 2 else (j - 1 if way == 0 else j + 1)
    corner_of(i, j, field, fields, gathered.one)
    corner_of(i + right, j + up, field, fields, gathered.two)
    beside = is_on_grid(left_x, left_y, field) + is_on_grid(other_x, other_y, field)
    for m in range(3):
        gathered.three[m] = gathered.one[m]
        gathered.four[m] = gathered.one[m]
    if is_on_grid(left_x, left_y, field) == 1:
        corner_of(left_x, left_y, field, fields, gathered.three)
    if is_on_grid(other_x, other_y, field) == 1:
        corner_of(other_x, other_y, field, fields, gathered.four)
    if beside == 2 and is_ridge(gathered) == 0:
        return
    key = RIDGES + 65536.0 * (3 * (j * field.columns + i) + way)
    if body.kind == CYLINDER:
        cylinder_on_ridge(body, key, ask, gathered)
    elif body.faces == 0:
        for m in range(3):
            ask.near[m] = gathered.corner[0, m]
            ask.support[m] = gathered.corner[1, m]
        edge_on_ridge(body.radius, 0.0, body, key, ask, gathered)
    else:
        for k in range(body.first_face, body.first_face + body.faces):
            face = bodies.face[k]
            for m in range(face.corners):
                a = bodies.outline[face.first + m] - body.first
                b = bodies.outline[face.first + (m + 1) % face.corners] - body.first
                if a < b:  # each edge has two faces
                    for c in range(3):
                        ask.near[c] = gathered.corner[a, c]
                        ask.support[c] = gathered.corner[b, c]
                    edge_on_ridge(0.0, 1e-9 * body.size, body, key + 256 * a + b, ask, gathered)


@loop
def is_ridge(gathered: Gathered) -> i64:
    """1 if both sides of an edge, `one` to `two`, go down: `four` is below the plane of `three`."""
    for m in range(3):
        gathered.n[m] = gathered.two[m] - gathered.one[m]
        gathered.spot[m] = gathered.three[m] - gathered.one[m]
        gathered.again[m] = gathered.four[m] - gathered.one[m]
    cross3(gathered.n, gathered.spot, gathered.near)
    if gathered.near[2] < 0.0:
        for m in range(3):
            gathered.near[m] = -gathered.near[m]
    high = dot3(gathered.near, gathered.again)
    long = sqrt(dot3(gathered.near, gathered.near) * dot3(gathered.again, gathered.again))
    return 1 if high < -LEVEL * long else 0


@loop
def cylinder_on_ridge(body: Convex, key: f64, ask: Question, gathered: Gathered) -> None:
    """The places of an edge of the field on the side of a cylinder, and on its rims."""
    for m in range(3):
        ask.direction[m] = 0.0
    ask.direction[2] = body.half
    to_second(ask.direction, 0, ask.near, ask)
    ask.direction[2] = -body.half
    to_second(ask.direction, 0, ask.support, ask)
    edge_on_ridge(body.disc, 0.0, body, key, ask, gathered)
    for k in range(2 * OUTLINE):
        turn = 2.0 * PI * (k % OUTLINE) / OUTLINE
        ask.direction[2] = body.half if k < OUTLINE else -body.half
        ask.direction[0] = body.disc * cos(turn)
        ask.direction[1] = body.disc * sin(turn)
        to_second(ask.direction, 0, ask.near, ask)
        ask.direction[0] = body.disc * cos(turn + 2.0 * PI / OUTLINE)
        ask.direction[1] = body.disc * sin(turn + 2.0 * PI / OUTLINE)
        to_second(ask.direction, 0, ask.support, ask)
        edge_on_ridge(0.0, 0.01 * body.disc, body, key + 1 + k, ask, gathered)


@loop
def edge_on_ridge(
    radius: f64, slack: f64, body: Convex, key: f64, ask: Question, gathered: Gathered
) -> None:
    """The place of an edge of the body, `near` to `support`, on one of the field, if they cross."""
    a = ask.near
    b = ask.support
    n = gathered.n
    for m in range(3):
        ask.side[m] = b[m] - a[m]
        gathered.spot[m] = gathered.two[m] - gathered.one[m]
        gathered.again[m] = a[m] - gathered.one[m]
    cross3(gathered.spot, ask.side, n)
    long2 = dot3(n, n)
    if long2 <= 1e-12 * dot3(ask.side, ask.side) * dot3(gathered.spot, gathered.spot):
        return
    # parts of both edges at which they are nearest
    cross3(gathered.again, ask.side, gathered.near)
    t = dot3(gathered.near, n) / long2
    cross3(gathered.again, gathered.spot, gathered.near)
    s = dot3(gathered.near, n) / long2
    if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
        return
    long = sqrt(long2) if n[2] >= 0.0 else -sqrt(long2)
    for m in range(3):
        n[m] = n[m] / long
    if n[2] <= 1e-6:
        return
    gap = dot3(n, gathered.again) - radius
    if gap > gathered.margin or gap < -gathered.reach:
        return
    if is_between(body, slack, ask, gathered) == 0:
        return
    for m in range(3):
        ask.support_first[m] = a[m] + s * ask.side[m]
        gathered.near[m] = gathered.one[m] + t * gathered.spot[m]
    noted(key, 1, ask.support_first, gathered.near, radius, gap, ask, gathered)


@loop
def is_between(body: Convex, slack: f64, ask: Question, gathered: Gathered) -> i64:
    """1 if n is between the normals beside both edges: nothing of the field is above, nor below."""
    n = gathered.n
    for k in range(2):
        high = 0.0
        long = 0.0
        for m in range(3):
            step = (gathered.three[m] if k == 0 else gathered.four[m]) - gathered.one[m]
            high += n[m] * step
            long += step * step
        if high > LEVEL * sqrt(long):
            return 0
    if slack == 0.0:
        return 1
    low = dot3(n, ask.near) - slack
    if body.kind == CYLINDER:
        along = 0.0
        for m in range(3):
            along += n[m] * ask.R[m, 2]
        wide = body.disc * sqrt(max(0.0, 1.0 - along * along)) + body.half * abs(along)
        return 1 if dot3(n, gathered.center) - wide >= low else 0
    for k in range(body.corners):
        if dot3(n, gathered.corner[k]) < low:
            return 0
    return 1
