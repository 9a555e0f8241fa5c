"""Places at which a convex body touches a height field: its corners, its faces, its edges.

The surface is made of triangles, the solid is all below it. A corner (or the center of a ball) at
x has a place where its distance from the surface is least among all points near by:

    x above:  n = n of the triangle, or (x − b)/|x − b| on a ridge or peak,   g = n·(x − b) − r;
    x below:  the nearest of such places.                                                 (field-1)

A point on an edge of a triangle is such a place only if it is the nearest one of every triangle
that has it: edges between triangles of one plane are none, so that nothing catches on them. Peaks
touch faces of the body, ridges its edges (`ridges.py`), where the normal is between those beside
them.

Public names: begin_field, corner_places, cylinder_places, put_places, noted, corner_of, cell_of,
height_above, part_under.

Source: docs/theory/convex.md (field-1), (convex-4).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, floor, i64, loop, ptr

from .distance import dot3
from .field_layout import ROOM, Field, Fields, Gathered
from .layout import Bodies, Convex, Question
from .manifold import MOST, cylinder_end, to_second

NEAR = 0.05
"""Distance beside the size of a body up to which places are named."""
SAME = 1e-9
"""Distance beside the sides of a cell within which points are one."""
CORNERS = 512
"""More than a body has corners."""
STEEP = 20.0
"""How far places have to be apart for one that is higher by 1 to be chosen."""


@loop
def begin_field(
    body: Convex, far: f64, field: Field, bodies: Bodies, ask: Question, gathered: Gathered
) -> i64:
    """Where the body is, seen from the field, and how far places are named; 0 if out of reach."""
    gathered.count = 0
    gathered.reach = body.size + body.radius
    gathered.margin = max(NEAR * gathered.reach, far)
    to_second(body.center, 0, gathered.center, ask)
    for k in range(body.corners):
        to_second(bodies.vertex[body.first + k], 0, gathered.corner[k], ask)
    wide = gathered.reach + gathered.margin
    for i in range(3):
        if abs(gathered.center[i]) > 1e9 * (wide + field.dx + field.dy):
            return 0  # too far for numbers of cells
    return 1 if gathered.center[2] - wide <= field.high else 0


@loop
def cell_of(x: f64, first: f64, step: f64, points: i64) -> i64:
    """The cell in which a coordinate is, the first or last outside."""
    k = int(floor(min(max((x - first) / step, -1.0), float(points))))
    return min(max(k, 0), points - 2)


@loop
def corner_of(i: i64, j: i64, field: Field, fields: Fields, out: ptr) -> None:
    """A point of the grid."""
    out[0] = field.x + i * field.dx
    out[1] = field.y + j * field.dy
    out[2] = fields.height[field.first + j * field.columns + i]


@loop
def triangle_of(i: i64, j: i64, half: i64, field: Field, fields: Fields, out: ptr) -> None:
    """Corners of a triangle of a cell, one after the other, upwards."""
    corner_of(i, j, field, fields, out)
    if half == 0:
        corner_of(i + 1, j, field, fields, at(out, 3))
        corner_of(i + 1, j + 1, field, fields, at(out, 6))
    else:
        corner_of(i + 1, j + 1, field, fields, at(out, 3))
        corner_of(i, j + 1, field, fields, at(out, 6))


@loop
def normal_of(triangle: ptr, out: ptr) -> None:
    """The unit normal of a triangle, upwards."""
    a = triangle[3] - triangle[0]
    b = triangle[4] - triangle[1]
    c = triangle[5] - triangle[2]
    d = triangle[6] - triangle[0]
    e = triangle[7] - triangle[1]
    f = triangle[8] - triangle[2]
    out[0] = b * f - c * e
    out[1] = c * d - a * f
    out[2] = a * e - b * d
    long = sqrt(dot3(out, out))
    for i in range(3):
        out[i] = out[i] / long


@loop
def nearest_on_edges(triangle: ptr, x: ptr, out: ptr) -> None:
    """The point of the edges of a triangle nearest to x."""
    least = 1e300
    for k in range(3):
        a = at(triangle, 3 * k)
        b = at(triangle, 3 * ((k + 1) % 3))
        long = 0.0
        along = 0.0
        for i in range(3):
            long += (b[i] - a[i]) * (b[i] - a[i])
            along += (b[i] - a[i]) * (x[i] - a[i])
        part = min(max(along / long, 0.0), 1.0)
        apart = 0.0
        for i in range(3):
            step = a[i] + part * (b[i] - a[i]) - x[i]
            apart += step * step
        if apart < least:
            least = apart
            for i in range(3):
                out[i] = a[i] + part * (b[i] - a[i])


@loop
def nearest_on(triangle: ptr, x: ptr, out: ptr) -> i64:
    """The point of a triangle nearest to x; 1 if it is inside, 0 on an edge or corner."""
    ux = triangle[3] - triangle[0]
    uy = triangle[4] - triangle[1]
    uz = triangle[5] - triangle[2]
    vx = triangle[6] - triangle[0]
    vy = triangle[7] - triangle[1]
    vz = triangle[8] - triangle[2]
    uu = ux * ux + uy * uy + uz * uz
    uv = ux * vx + uy * vy + uz * vz
    vv = vx * vx + vy * vy + vz * vz
    uw = ux * (x[0] - triangle[0]) + uy * (x[1] - triangle[1]) + uz * (x[2] - triangle[2])
    vw = vx * (x[0] - triangle[0]) + vy * (x[1] - triangle[1]) + vz * (x[2] - triangle[2])
    wide = uu * vv - uv * uv
    s = (vv * uw - uv * vw) / wide
    t = (uu * vw - uv * uw) / wide
    if s > 0.0 and t > 0.0 and s + t < 1.0:
        out[0] = triangle[0] + s * ux + t * vx
        out[1] = triangle[1] + s * uy + t * vy
        out[2] = triangle[2] + s * uz + t * vz
        return 1
    nearest_on_edges(triangle, x, out)
    return 0


@loop
def distance2(a: ptr, b: ptr) -> f64:
    """Square of the distance of two points."""
    x = a[0] - b[0]
    y = a[1] - b[1]
    z = a[2] - b[2]
    return float(x * x + y * y + z * z)


@loop
def is_nearest_of_all(x: ptr, field: Field, fields: Fields, gathered: Gathered) -> i64:
    """1 if `near`, a point of an edge, is the nearest to x of every triangle that has it."""
    near = gathered.near
    tiny = SAME * (field.dx + field.dy)
    left = cell_of(near[0] - tiny, field.x, field.dx, field.columns)
    right = cell_of(near[0] + tiny, field.x, field.dx, field.columns)
    low = cell_of(near[1] - tiny, field.y, field.dy, field.rows)
    high = cell_of(near[1] + tiny, field.y, field.dy, field.rows)
    for j in range(low, high + 1):
        for i in range(left, right + 1):
            for half in range(2):
                triangle_of(i, j, half, field, fields, gathered.other)
                nearest_on(gathered.other, near, gathered.again)
                if distance2(gathered.again, near) > tiny * tiny:
                    continue
                nearest_on(gathered.other, x, gathered.again)
                if distance2(gathered.again, near) > 16.0 * tiny * tiny:
                    return 0
    return 1


@loop
def height_above(x: ptr, field: Field, fields: Fields, gathered: Gathered) -> f64:
    """How far x is above the surface along z; positive beside the field."""
    end_x = field.x + (field.columns - 1) * field.dx
    end_y = field.y + (field.rows - 1) * field.dy
    if x[0] < field.x or x[0] > end_x or x[1] < field.y or x[1] > end_y:
        return 1e300
    i = cell_of(x[0], field.x, field.dx, field.columns)
    j = cell_of(x[1], field.y, field.dy, field.rows)
    s = (x[0] - field.x) / field.dx - i
    t = (x[1] - field.y) / field.dy - j
    triangle_of(i, j, 0 if s >= t else 1, field, fields, gathered.other)
    normal_of(gathered.other, gathered.n)
    z = 0.0
    for k in range(3):
        z += gathered.n[k] * (x[k] - gathered.other[k])
    return float(z / gathered.n[2])


@loop
def part_under(begin: ptr, end: ptr, field: Field, fields: Fields, gathered: Gathered) -> f64:
    """The part of a straight way at which it is below the field; −1: none, or it begins there.

    Heights above the field are least where the way crosses an edge of triangles, or at its end.
    """
    if height_above(begin, field, fields, gathered) < 0.0:
        return -1.0
    if height_above(end, field, fields, gathered) < 0.0:
        return 1.0
    x = gathered.near
    for way in range(3):
        one = line_number(way, begin, field)
        other = line_number(way, end, field)
        # numbers of lines that there are
        low = min(max(min(one, other), -1.0 * field.rows), 1.0 * field.columns + field.rows)
        high = min(max(max(one, other), -1.0 * field.rows), 1.0 * field.columns + field.rows)
        for k in range(int(floor(low)) + 1, int(floor(high)) + 1):
            part = (float(k) - one) / (other - one)
            for i in range(3):
                x[i] = begin[i] + part * (end[i] - begin[i])
            if height_above(x, field, fields, gathered) < 0.0:
                return float(part)
    return -1.0


@loop
def line_number(way: i64, x: ptr, field: Field) -> f64:
    """Between which lines of the grid x is: columns, rows, diagonals of cells."""
    s = (x[0] - field.x) / field.dx
    t = (x[1] - field.y) / field.dy
    if way == 2:
        return float(s - t)
    return float(s if way == 0 else t)


@loop
def noted(
    key: f64, owner: i64, a: ptr, b: ptr, radius: f64, gap: f64, ask: Question,
    gathered: Gathered,
) -> None:  # fmt: skip
    """Notes a place: n, the point of the first body in its own axes, b, the radius about a.

    What is there with the same point and the same normal stays alone; the lowest stay of too many.
    """
    n = gathered.n
    for i in range(3):
        gathered.spot[i] = a[i] - radius * n[i]
    slot = gathered.count
    for k in range(gathered.count):
        one = gathered.number[k]
        apart = distance2(one, n) + distance2(at(one, 9), gathered.spot) / (
            gathered.reach * gathered.reach
        )
        if one[14] == key or apart < 1e-18:
            if one[13] <= gap:
                return
            slot = k
            break
    if slot == ROOM:
        slot = 0
        for k in range(1, ROOM):
            if gathered.number[k, 13] > gathered.number[slot, 13]:
                slot = k
        if gathered.number[slot, 13] <= gap:
            return
    elif slot == gathered.count:
        gathered.count += 1
    place = gathered.number[slot]
    for i in range(3):
        place[i] = n[i]
        place[3 + i] = 0.0
        for j in range(3):
            place[3 + i] += ask.R[j, i] * (a[j] - ask.p[j])
        place[6 + i] = b[i]
        place[9 + i] = gathered.spot[i]
    place[12] = radius
    place[13] = gap
    place[14] = key
    place[15] = float(owner)


@loop
def corner_places(
    x: ptr, radius: f64, corner: i64, field: Field, fields: Fields, ask: Question, gathered:
    Gathered,
) -> None:  # fmt: skip
    """The places of a corner, or of a ball about it."""
    above = height_above(x, field, fields, gathered)
    if above >= 0.0:
        around_corner(
            x, radius, corner, 1.0, radius + gathered.margin, field, fields, ask, gathered
        )
    else:
        # the surface is at most this far; of the places, those that are about as near as the first
        gathered.least = -above
        around_corner(x, radius, corner, 0.0, -above, field, fields, ask, gathered)
        limit = 2.0 * gathered.least + 1e-6 * gathered.reach
        around_corner(x, radius, corner, -1.0, limit, field, fields, ask, gathered)


@loop
def around_corner(
    x: ptr, radius: f64, corner: i64, sign: f64, far: f64, field: Field, fields: Fields,
    ask: Question, gathered: Gathered,
) -> None:  # fmt: skip
    """Notes the places of x on triangles within `far`; with sign 0 finds their least distance."""
    left = cell_of(x[0] - far, field.x, field.dx, field.columns)
    right = cell_of(x[0] + far, field.x, field.dx, field.columns)
    low = cell_of(x[1] - far, field.y, field.dy, field.rows)
    high = cell_of(x[1] + far, field.y, field.dy, field.rows)
    tiny = SAME * (field.dx + field.dy)
    for j in range(low, high + 1):
        for i in range(left, right + 1):
            for half in range(2):
                triangle = gathered.triangle
                triangle_of(i, j, half, field, fields, triangle)
                is_inside = nearest_on(triangle, x, gathered.near)
                apart = distance2(x, gathered.near)
                if apart > far * far + tiny * tiny:
                    continue
                apart = sqrt(apart)
                if sign == 0.0:
                    gathered.least = min(gathered.least, apart)
                    continue
                normal_of(triangle, gathered.n)
                height = 0.0
                for k in range(3):
                    height += gathered.n[k] * (x[k] - gathered.near[k])
                if sign * height < -tiny:
                    continue  # behind it
                if is_inside == 0 and is_nearest_of_all(x, field, fields, gathered) == 0:
                    continue
                if is_inside == 0 and apart > tiny:
                    for k in range(3):
                        gathered.n[k] = sign * (x[k] - gathered.near[k]) / apart
                    height = sign * apart
                if gathered.n[2] <= 1e-6:
                    continue  # beside the field
                cell = 2 * (j * (field.columns - 1) + i) + half
                plane = fields.plane[field.first_plane + cell]
                key = 1.0 + corner + float(CORNERS) * plane
                noted(key, 1, x, gathered.near, radius, height - radius, ask, gathered)


@loop
def cylinder_places(
    body: Convex, i: i64, j: i64, field: Field, fields: Fields, ask: Question, gathered: Gathered
) -> None:
    """The places of a cylinder's rims, or of its side where it lies, on the triangles of a cell."""
    deepest = -min(body.disc, body.half)
    for half in range(2):
        triangle = gathered.triangle
        triangle_of(i, j, half, field, fields, triangle)
        normal_of(triangle, gathered.n)
        high = 0.0
        for k in range(3):
            high += gathered.n[k] * (gathered.center[k] - triangle[k])
        if high > gathered.reach + gathered.margin:
            continue
        ask.owner = 1
        ask.reach = 0.0
        for k in range(3):
            ask.direction[k] = 0.0
            for m in range(3):
                ask.direction[k] -= ask.R[m, k] * gathered.n[m]
        count = cylinder_end(body, ask.direction, ask)
        cell = 2 * (j * (field.columns - 1) + i) + half
        plane = fields.plane[field.first_plane + cell]
        for k in range(count):
            x = ask.polygon[k]
            to_second(x, 0, x, ask)
            height = 0.0
            for m in range(3):
                height += gathered.n[m] * (x[m] - triangle[m])
            gap = height - ask.reach
            if gap > gathered.margin or gap < deepest:
                continue
            for m in range(3):
                gathered.one[m] = x[m] - height * gathered.n[m]
            nearest_on(triangle, gathered.one, gathered.near)
            tiny = SAME * (field.dx + field.dy)
            if distance2(gathered.near, gathered.one) > tiny * tiny:
                continue
            key = 1.0 + k + (8.0 if count == 2 else 0.0) + float(CORNERS) * plane
            noted(key, 1, x, gathered.one, ask.reach, gap, ask, gathered)


@loop
def chosen_places(gathered: Gathered) -> i64:
    """Which places are kept: the lowest, and those that are low and far from the others."""
    kept = 0
    for k in range(MOST):
        best = -1
        most = -1e300
        for m in range(gathered.count):
            rank = 1e300 if k > 0 else 0.0
            for i in range(k):
                one = gathered.number[gathered.chosen[i]]
                turn = distance2(one, gathered.number[m])
                apart = distance2(at(one, 9), at(gathered.number[m], 9))
                rank = min(rank, sqrt(apart + gathered.reach * gathered.reach * turn))
                if gathered.chosen[i] == m:
                    rank = -1e300
                    break
            rank -= STEEP * gathered.number[m, 13]
            if rank > most:
                most = rank
                best = m
        if best < 0 or most < -1e290:
            break
        gathered.chosen[k] = best
        kept += 1
    return kept


@loop
def put_places(places: ptr, keys: ptr, width: i64, ask: Question, gathered: Gathered) -> None:
    """Writes what was chosen as places, each to a place of its key; the rest is zeros."""
    kept = chosen_places(gathered)
    for _ in range(kept):
        # the least key first, so that the order of places does not matter
        k = 0
        for j in range(kept):
            key = gathered.number[gathered.chosen[j], 14]
            if key >= 0.0 and (
                gathered.number[gathered.chosen[k], 14] < 0.0
                or key < gathered.number[gathered.chosen[k], 14]
            ):
                k = j
        one = gathered.number[gathered.chosen[k]]
        taken = int(one[14] - MOST * floor(one[14] / MOST))
        while keys[taken] > 0.0:
            taken = (taken + 1) % MOST
        place = at(places, taken * width)
        for i in range(3):
            if one[15] > 0.5:
                place[3 + i] = one[i]
            else:
                place[i] = ask.R[0, i] * one[0] + ask.R[1, i] * one[1] + ask.R[2, i] * one[2]
            place[6 + i] = one[3 + i]
            place[9 + i] = one[6 + i]
        place[12] = one[12]
        place[13] = 0.0
        keys[taken] = one[14]
        one[14] = -1.0
