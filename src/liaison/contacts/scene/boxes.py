"""Two boxes: the direction in which they are farthest apart, and the points at which they touch.

Of fifteen directions, the normals of faces and the products of edges, the one with the largest
separation tells what touches: a face, with the opposite face of the other box cut to its outline
(up to eight points), or two edges. Each point is told on the bodies, so that its gap is a smooth
function of their poses for the rest of the step.

Public names: box_at, meet, added, POINTS.

Source: GOTT96 §5 (separating axes of boxes); SH74 (clipping); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .bodies import rotation
from .layout import (
    BALLS,
    CANDIDATES,
    CAPACITY,
    EDGE_EDGE,
    FEATURE,
    K_FEATURE,
    K_KIND,
    K_OWNER,
    K_PAIRS,
    POINT_FACE,
    SOLID,
    Z_FEATURE,
    Z_MID,
    Z_SOLID,
    Z_WORK,
)

POINTS = 8
"""Points of a polygon of four corners cut by four lines, at most."""

BOX = 24
"""Numbers of a box in the ground's axes: axes as columns, center, half sizes, work."""

PREFERRED = 1e-3
"""Part of the smallest half size by which edges must be farther apart than faces to be taken."""

PARALLEL = 1e-4  # square of the sine of the angle between edges below which they have no product


@loop
def box_at(i: i64, poses: ptr, out: ptr, z: ptr, k: iptr) -> None:
    """The axes, the center and the half sizes of a box (a number among colliders)."""
    solid = at(z, k[Z_SOLID] + SOLID * (i - k[BALLS]))
    pose = at(poses, 7 * k[k[K_OWNER] + i])
    R = at(z, k[Z_WORK])
    own = at(R, 9)
    rotation(pose, R)
    rotation(at(solid, 3), own)
    for a in range(3):
        out[9 + a] = pose[a]
        out[12 + a] = solid[3 + a]
        for b in range(3):
            out[9 + a] += R[3 * a + b] * solid[b]
            out[3 * a + b] = 0.0
            for c in range(3):
                out[3 * a + b] += R[3 * a + c] * own[3 * c + b]


@loop
def along(box: ptr, i: i64, direction: ptr) -> f64:
    """The component of a direction along an axis of a box."""
    return float(box[i] * direction[0] + box[3 + i] * direction[1] + box[6 + i] * direction[2])


@loop
def reach(box: ptr, direction: ptr) -> f64:
    """How far a box reaches from its center in a direction."""
    total = 0.0
    for i in range(3):
        total += box[12 + i] * abs(along(box, i, direction))
    return total


@loop
def apart(a: ptr, b: ptr, direction: ptr) -> f64:
    """The separation along a unit direction, which is turned to lead from a to b."""
    way = 0.0
    for i in range(3):
        way += direction[i] * (b[9 + i] - a[9 + i])
    if way < 0.0:
        for i in range(3):
            direction[i] = -direction[i]
    return float(abs(way) - reach(a, direction) - reach(b, direction))


@loop
def meet(first: i64, second: i64, z: ptr, k: iptr) -> i64:
    """Adds the points at which two boxes may touch; 1, or 0 where there is no room for them."""
    a = at(z, k[Z_WORK] + 32)
    b = at(a, BOX)
    n = at(b, BOX)
    box_at(first, at(z, k[Z_MID]), a, z, k)
    box_at(second, at(z, k[Z_MID]), b, z, k)
    face = 0
    widest = -1e300
    for side in range(2):
        for i in range(3):
            for j in range(3):
                n[j] = a[3 * j + i] if side == 0 else b[3 * j + i]
            found = apart(a, b, n)
            # the same face goes on while both are alike, so that points stay where they were
            if found > widest + 1e-9 * a[12]:
                widest = found
                face = 3 * side + i
    edge = widest_edges(a, b, n, widest + PREFERRED * min(smallest(a), smallest(b)))
    if edge >= 0:
        return two_edges(first, second, edge, z, k)
    return face_points(first, second, face, z, k)


@loop
def smallest(box: ptr) -> f64:
    """The smallest half size of a box."""
    return float(min(box[12], min(box[13], box[14])))


@loop
def widest_edges(a: ptr, b: ptr, n: ptr, least: f64) -> i64:
    """The pair of edges, 3 i + j, whose product separates most, if by more than `least`; or −1."""
    chosen = -1
    for i in range(3):
        for j in range(3):
            if product_of(a, i, b, j, n) > PARALLEL:
                found = apart(a, b, n)
                if found > least:
                    least = found
                    chosen = 3 * i + j
    return chosen


@loop
def product_of(a: ptr, i: i64, b: ptr, j: i64, n: ptr) -> f64:
    """The unit product of two axes; the square of the sine of their angle."""
    n[0] = a[3 + i] * b[6 + j] - a[6 + i] * b[3 + j]
    n[1] = a[6 + i] * b[j] - a[i] * b[6 + j]
    n[2] = a[i] * b[3 + j] - a[3 + i] * b[j]
    square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
    length = sqrt(square) + 1e-300
    for x in range(3):
        n[x] = n[x] / length
    return float(square)


@loop
def added(kind: i64, first: i64, second: i64, feature: i64, k: iptr) -> i64:
    """The number of one more candidate; −1 where there is no room."""
    c = k[CANDIDATES]
    if c >= k[CAPACITY]:
        return -1
    k[k[K_KIND] + c] = kind
    k[k[K_FEATURE] + c] = feature
    k[k[K_PAIRS] + 2 * c] = first
    k[k[K_PAIRS] + 2 * c + 1] = second
    k[CANDIDATES] = c + 1
    return int(c)


@loop
def on_body(i: i64, point: ptr, is_direction: i64, out: ptr, z: ptr, k: iptr) -> None:
    """A point or direction of the ground in the axes of the body of a collider, midway."""
    pose = at(z, k[Z_MID] + 7 * k[k[K_OWNER] + i])
    R = at(z, k[Z_WORK])
    rotation(pose, R)
    for a in range(3):
        total = 0.0
        for b in range(3):
            total += R[3 * b + a] * (point[b] if is_direction == 1 else point[b] - pose[b])
        out[a] = total


@loop
def two_edges(first: i64, second: i64, edge: i64, z: ptr, k: iptr) -> i64:
    """The candidate of two edges; 0 where there is no room."""
    a = at(z, k[Z_WORK] + 32)
    b = at(a, BOX)
    n = at(b, BOX)
    point = at(n, 3)
    i = edge // 3
    j = edge % 3
    product_of(a, i, b, j, n)
    x = n[0]
    y = n[1]
    t = n[2]
    apart(a, b, n)
    turned = -1.0 if x * n[0] + y * n[1] + t * n[2] < 0.0 else 1.0
    c = added(EDGE_EDGE, first, second, POINTS, k)
    if c < 0:
        return 0
    feature = at(z, k[Z_FEATURE] + FEATURE * c)
    edge_point(a, i, n, 1.0, point)
    on_body(first, point, 0, feature, z, k)
    for x_ in range(3):
        point[x_] = turned * a[3 * x_ + i]
    on_body(first, point, 1, at(feature, 3), z, k)
    edge_point(b, j, n, -1.0, point)
    on_body(second, point, 0, at(feature, 10), z, k)
    for x_ in range(3):
        point[x_] = b[3 * x_ + j]
    on_body(second, point, 1, at(feature, 13), z, k)
    return 1


@loop
def edge_point(box: ptr, i: i64, n: ptr, way: f64, out: ptr) -> None:
    """The middle of the edge along axis i that is farthest in the direction way · n."""
    for x in range(3):
        out[x] = box[9 + x]
    for j in range(3):
        if j != i:
            size = box[12 + j] if way * along(box, j, n) > 0.0 else -box[12 + j]
            for x in range(3):
                out[x] += size * box[3 * x + j]


@loop
def face_points(first: i64, second: i64, face: i64, z: ptr, k: iptr) -> i64:
    """Candidates of a face and the points of the opposite one above it; 0 without room."""
    a = at(z, k[Z_WORK] + 32)
    b = at(a, BOX)
    n = at(b, BOX)
    near = at(a, 0 if face < 3 else BOX)
    far = at(a, BOX if face < 3 else 0)
    one = first if face < 3 else second
    other = second if face < 3 else first
    axis = face % 3
    for x in range(3):
        n[x] = near[3 * x + axis]
    apart(near, far, n)
    polygon = at(n, 6)
    opposite(far, n, polygon)
    count = 4
    for side in range(2):
        i = (axis + 1 + side) % 3
        count = cut(near, i, 1.0, count, polygon, at(polygon, 36))
        count = cut(near, i, -1.0, count, at(polygon, 36), polygon)
    pose = at(z, k[Z_MID] + 7 * k[k[K_OWNER] + one])
    height = near[12 + axis]
    for x in range(3):
        height += n[x] * (near[9 + x] - pose[x])
    for m in range(count):
        c = added(POINT_FACE, one, other, m, k)
        if c < 0:
            return 0
        feature = at(z, k[Z_FEATURE] + FEATURE * c)
        on_body(one, n, 1, feature, z, k)
        feature[3] = height
        on_body(other, at(polygon, 3 * m), 0, at(feature, 10), z, k)
        feature[13] = 0.0
    return 1


@loop
def opposite(box: ptr, n: ptr, polygon: ptr) -> None:
    """The corners of the face of a box that looks most against a direction."""
    chosen = 0
    for i in range(1, 3):
        if abs(along(box, i, n)) > abs(along(box, chosen, n)):
            chosen = i
    size = -box[12 + chosen] if along(box, chosen, n) > 0.0 else box[12 + chosen]
    one = (chosen + 1) % 3
    two = (chosen + 2) % 3
    for corner in range(4):
        p = box[12 + one] if corner % 3 == 0 else -box[12 + one]
        q = box[12 + two] if corner < 2 else -box[12 + two]
        for x in range(3):
            row = at(box, 3 * x)
            polygon[3 * corner + x] = box[9 + x] + size * row[chosen] + p * row[one] + q * row[two]


@loop
def cut(box: ptr, i: i64, way: f64, count: i64, points: ptr, out: ptr) -> i64:
    """What of a polygon is within one side of a box; how many points that are."""
    kept = 0
    for m in range(count):
        p = at(points, 3 * m)
        q = at(points, 3 * ((m + 1) % count))
        here = inside(box, i, way, p)
        there = inside(box, i, way, q)
        if here <= 0.0:
            for x in range(3):
                out[3 * kept + x] = p[x]
            kept += 1
        if here * there < 0.0:
            part = here / (here - there)
            for x in range(3):
                out[3 * kept + x] = p[x] + part * (q[x] - p[x])
            kept += 1
    return kept


@loop
def inside(box: ptr, i: i64, way: f64, p: ptr) -> f64:
    """How far a point is beyond a side of a box; negative inside."""
    total = -box[12 + i] * (1.0 + 1e-9)
    for x in range(3):
        total += way * box[3 * x + i] * (p[x] - box[9 + x])
    return float(total)
