"""Points at which two convex bodies touch: a face with what of the other lies above it, or a point.

The normal of their distance or depth decides. If a face of one looks along it, the opposite face of
the other, at its deepest corner, is cut to the outline of that face, and every corner that is left
is a point with a gap of its own to the plane of the face; of many, those that span the largest area
are kept. Where no face looks along the normal (corner on corner, edge across edge), it is the
nearest points alone.

Each point is fixed on the bodies, and the normal on one of them, so that its gap is a smooth
function of their poses for the rest of a step:

    g = n · (x₁ − x₂),   n fixed on the body whose face it is                             (convex-3)

which is exact of faces, and right to first order elsewhere.

Public names: touch_points, plane_points, cylinder_end, MOST.

Source: docs/theory/convex.md (convex-3); SH74 (clipping).
"""

from __future__ import annotations

from math import cos, sin, sqrt

from liaison.program.loops.language import f64, i64, iptr, loop, ptr

from .distance import cross3, dot3, separate
from .layout import CYLINDER, RIM, Bodies, Convex, Question

MOST = 8
"""Points at most."""
ALIGNED = 1e-6
"""Square of the angle [rad] from the normal of a face up to which that face touches."""
LEVEL = 1e-6
"""Height beside the size by which corners are equally far along a normal."""
NUMBERS = 512
"""More than a hull has corners."""
ENDS = 65536
"""Numbers of the ends of a cylinder, as faces."""
OUTLINE = 32
"""Corners of the polygon that stands for an end of a cylinder."""
ROOM = 150  # corners of a polygon
SIDE = 3
"""What of a cylinder is farthest along a direction across its axis."""
PI = 3.141592653589793


@loop
def touch_points(first: i64, second: i64, bodies: Bodies, ask: Question) -> f64:
    """The distance of two bodies, and the points at which they touch or may do so within a step.

    Args:
        first: number of a body, at (R, p) of the question, seen from the second.
        second: number of the other.
        bodies: all of them.
        ask: the question; points, their keys, the normal and whose it is are written into it.
    """
    distance = separate(first, second, bodies, ask)
    one = bodies.body[first]
    other = bodies.body[second]
    ask.reach = one.radius
    ask.reach_second = other.radius
    n = ask.normal
    for i in range(3):
        ask.direction[i] = -(ask.R[0, i] * n[0] + ask.R[1, i] * n[1] + ask.R[2, i] * n[2])
    mine = facing(one, ask.direction, bodies)
    yours = facing(other, n, bodies)
    off_mine = off_normal(one, mine, ask.direction, bodies)
    off_yours = off_normal(other, yours, n, bodies)
    # the face of the second is preferred, so that points stay where they were
    if yours >= 0 and off_yours <= ALIGNED and off_yours <= off_mine + 1e-9:
        ask.owner = 1
        on_face(yours, one, other, bodies, ask)
    elif mine >= 0 and off_mine <= ALIGNED:
        ask.owner = 0
        on_face(mine, one, other, bodies, ask)
    else:
        single_point(one, other, bodies, ask)
    if ask.points == 0:
        # a rim or the line of a cylinder's side that was cut away had a radius of its own
        ask.reach = one.radius
        ask.reach_second = other.radius
        single_point(one, other, bodies, ask)
    return distance


@loop
def facing(body: Convex, d: ptr, bodies: Bodies) -> i64:
    """The face of a body that looks most along a direction of its own axes; −1 without faces.

    The ends of a cylinder are faces, too.
    """
    if body.kind == CYLINDER:
        return ENDS if d[2] >= 0.0 else ENDS + 1
    best = -1
    most = -2.0
    for k in range(body.first_face, body.first_face + body.faces):
        along = dot3(bodies.face[k].normal, d)
        if along > most:
            most = along
            best = k
    return best


@loop
def lowest_face(body: Convex, d: ptr, bodies: Bodies) -> i64:
    """Of the faces at the corner farthest along a direction, that which looks most along it.

    The face that looks most along it of all need not have that corner.
    """
    far = -1e300
    for k in range(body.first, body.first + body.corners):
        far = max(far, dot3(bodies.vertex[k], d))
    far -= 1e-9 * body.size
    best = -1
    most = -2.0
    for k in range(body.first_face, body.first_face + body.faces):
        face = bodies.face[k]
        along = dot3(face.normal, d)
        if along > most:
            for m in range(face.first, face.first + face.corners):
                if dot3(bodies.vertex[bodies.outline[m]], d) >= far:
                    most = along
                    best = k
                    break
    return best if best >= 0 else facing(body, d, bodies)


@loop
def off_normal(body: Convex, face: i64, d: ptr, bodies: Bodies) -> f64:
    """Square of the sine of the angle of a face from a direction; 2 behind it or without a face."""
    if face < 0:
        return 2.0
    if body.kind == CYLINDER:
        return float(d[0] * d[0] + d[1] * d[1])
    n = bodies.face[face].normal
    if dot3(n, d) <= 0.0:
        return 2.0
    x = n[1] * d[2] - n[2] * d[1]
    y = n[2] * d[0] - n[0] * d[2]
    z = n[0] * d[1] - n[1] * d[0]
    return float(x * x + y * y + z * z)


@loop
def features_along(body: Convex, d: ptr, bodies: Bodies) -> i64:
    """A number of what of a body is farthest along a direction of its axes: a corner, an edge.

    Of a polytope, its first and last such corner, low + 1 + NUMBERS · high.
    """
    if body.kind == CYLINDER:
        if abs(d[2]) <= LEVEL:
            return SIDE
        return 1 if d[2] >= 0.0 else 2
    far = -1e300
    for k in range(body.first, body.first + body.corners):
        far = max(far, dot3(bodies.vertex[k], d))
    far -= LEVEL * body.size
    low = -1
    high = 0
    for k in range(body.corners):
        if dot3(bodies.vertex[body.first + k], d) >= far:
            low = k if low < 0 else low
            high = k
    return low + 1 + NUMBERS * high


@loop
def single_point(one: Convex, other: Convex, bodies: Bodies, ask: Question) -> None:
    """The nearest points of the cores alone, the normal fixed on the second body.

    Their key is that of the corners and edges they are on.
    """
    R = ask.R
    ask.owner = 1
    ask.face = -1
    ask.points = 1
    for i in range(3):
        ask.direction[i] = 0.0
        for j in range(3):
            ask.direction[i] -= R[j, i] * ask.normal[j]
    mine = features_along(one, ask.direction, bodies)
    yours = features_along(other, ask.normal, bodies)
    key = NUMBERS * NUMBERS * yours + mine
    ask.keys[0] = key if key >= 0 else -1 - key  # integers of 32 bits may overflow
    for i in range(3):
        ask.second_points[0, i] = ask.on_second[i] - other.radius * ask.normal[i]
        ask.near[i] = ask.on_first[i] + one.radius * ask.normal[i]
    if (one.kind != CYLINDER or mine == SIDE) and (other.kind != CYLINDER or yours == SIDE):
        feature_ends(one, mine, ask.direction, ask.w[0], ask.w[1], bodies)
        feature_ends(other, yours, ask.normal, ask.w[2], ask.w[3], bodies)
        cross_edges(one.radius + other.radius, ask)
    for i in range(3):
        ask.first_points[0, i] = 0.0
        for j in range(3):
            ask.first_points[0, i] += R[j, i] * (ask.near[j] - ask.p[j])


@loop
def feature_ends(body: Convex, feature: i64, d: ptr, first: ptr, last: ptr, bodies: Bodies) -> None:
    """The ends of an edge, the same of a corner, or of the line on a cylinder's side along d."""
    if body.kind == CYLINDER:
        wide = sqrt(d[0] * d[0] + d[1] * d[1])
        for i in range(2):
            first[i] = body.disc * d[i] / wide
            last[i] = first[i]
        first[2] = body.half
        last[2] = -body.half
        return
    low = feature % NUMBERS - 1
    high = feature // NUMBERS
    for i in range(3):
        first[i] = bodies.vertex[body.first + low, i]
        last[i] = bodies.vertex[body.first + high, i]


@loop
def cross_edges(widened: f64, ask: Question) -> None:
    """Points of two edges, or of a corner and what is below it, where they are nearest.

    A face of the difference of two bodies is made of triangles that share a plane, and any of them
    may end the search for the depth: the points of bodies that overlap follow from the edges. Their
    ends are in w, each pair in the axes of its body.
    """
    a1 = ask.w[0]
    a2 = ask.w[1]
    b1 = ask.w[2]
    b2 = ask.w[3]
    to_second(a1, 0, a1, ask)
    to_second(a2, 0, a2, ask)
    # along both edges and between them, without what is along the normal
    aa = 0.0
    bb = 0.0
    ab = 0.0
    ac = 0.0
    bc = 0.0
    for i in range(3):
        along = a2[i] - a1[i]
        across = b2[i] - b1[i]
        between = b1[i] - a1[i] + (ask.distance + widened) * ask.normal[i]
        aa += along * along
        bb += across * across
        ab += along * across
        ac += along * between
        bc += across * between
    wide = aa * bb - ab * ab
    s = 0.0
    t = 0.0
    if wide > 1e-12 * aa * bb and aa > 0.0 and bb > 0.0:
        s = min(max((ac * bb - bc * ab) / wide, 0.0), 1.0)
        t = min(max((ab * s - bc) / bb, 0.0), 1.0)
    elif aa > 0.0 and bb > 0.0:
        return  # parallel edges: any point of both
    elif aa > 0.0:
        s = min(max(ac / aa, 0.0), 1.0)
    elif bb > 0.0:
        t = min(max(-bc / bb, 0.0), 1.0)
    for i in range(3):
        ask.near[i] = a1[i] + s * (a2[i] - a1[i])
        ask.second_points[0, i] = b1[i] + t * (b2[i] - b1[i])


@loop
def to_second(x: ptr, is_direction: i64, out: ptr, ask: Question) -> None:
    """A point or direction of the first body's axes in those of the second."""
    a = x[0]
    b = x[1]
    c = x[2]
    for i in range(3):
        out[i] = ask.R[i, 0] * a + ask.R[i, 1] * b + ask.R[i, 2] * c
        if is_direction == 0:
            out[i] += ask.p[i]


@loop
def on_face(face: i64, one: Convex, other: Convex, bodies: Bodies, ask: Question) -> None:
    """Points of the body that does not own a face, above its outline."""
    n = ask.normal
    ask.face = face
    owner = other if ask.owner == 1 else one
    sign = 1.0 if ask.owner == 1 else -1.0
    face_normal(owner, face, ask.near, bodies)
    if ask.owner == 1:
        for i in range(3):
            n[i] = ask.near[i]
        count = opposite(one, 1, bodies, ask)
    else:
        to_second(ask.near, 1, n, ask)
        for i in range(3):
            n[i] = -n[i]
        count = opposite(other, 0, bodies, ask)
    outline_size = OUTLINE if owner.kind == CYLINDER else bodies.face[face].corners
    for m in range(outline_size):
        outline_corner(owner, face, m, ask.near, bodies, ask)
        outline_corner(owner, face, (m + 1) % outline_size, ask.local, bodies, ask)
        # the side of the outline, outwards: its edge × the outward normal of the face
        for i in range(3):
            ask.side[i] = ask.local[i] - ask.near[i]
            ask.direction[i] = sign * n[i]
        cross3(ask.side, ask.direction, ask.side)
        long = sqrt(dot3(ask.side, ask.side)) + 1e-300
        for i in range(3):
            ask.side[i] = ask.side[i] / long
        limit = dot3(ask.side, ask.near) + 1e-9 * ask.size
        count = cut(ask.side, limit, m, count, ask)
    outline_corner(owner, face, 0, ask.near, bodies, ask)
    keep_points(count, dot3(n, ask.near), ask)


@loop
def face_normal(body: Convex, face: i64, out: ptr, bodies: Bodies) -> None:
    """The outward normal of a face or of an end of a cylinder, in the axes of its body."""
    for i in range(3):
        out[i] = 0.0
    if body.kind == CYLINDER:
        out[2] = 1.0 if face == ENDS else -1.0
    else:
        for i in range(3):
            out[i] = bodies.face[face].normal[i]


@loop
def outline_corner(
    body: Convex, face: i64, m: i64, out: ptr, bodies: Bodies, ask: Question
) -> None:
    """A corner of the face that is touched, in the axes of the second body, counterclockwise."""
    if body.kind == CYLINDER:
        turn = 2.0 * PI * m / OUTLINE if face == ENDS else -2.0 * PI * m / OUTLINE
        out[0] = body.disc * cos(turn)
        out[1] = body.disc * sin(turn)
        out[2] = body.half if face == ENDS else -body.half
    else:
        x = bodies.vertex[bodies.outline[bodies.face[face].first + m]]
        for i in range(3):
            out[i] = x[i]
    if ask.owner == 0:
        to_second(out, 0, out, ask)


@loop
def opposite(body: Convex, is_first: i64, bodies: Bodies, ask: Question) -> i64:
    """Corners of what of a body looks against the face: a face, an end, an edge; how many."""
    d = ask.direction
    n = ask.normal
    for i in range(3):
        d[i] = -n[i] if is_first == 1 else n[i]
    if is_first == 1:
        x = d[0]
        y = d[1]
        z = d[2]
        for i in range(3):
            d[i] = ask.R[0, i] * x + ask.R[1, i] * y + ask.R[2, i] * z
    count = 0
    if body.kind == CYLINDER:
        count = cylinder_end(body, d, ask)
    elif body.faces > 0:
        face = bodies.face[lowest_face(body, d, bodies)]
        for m in range(face.corners):
            corner = bodies.outline[face.first + m]
            ask.key[m] = 1 + corner - body.first
            for i in range(3):
                ask.polygon[m, i] = bodies.vertex[corner, i]
        count = int(face.corners)
    else:
        for m in range(body.corners):
            ask.key[m] = 1 + m
            for i in range(3):
                ask.polygon[m, i] = bodies.vertex[body.first + m, i]
        count = int(body.corners)
    if is_first == 1:
        for m in range(count):
            to_second(ask.polygon[m], 0, ask.polygon[m], ask)
    return count


@loop
def cylinder_end(body: Convex, d: ptr, ask: Question) -> i64:
    """The rim of a cylinder that looks along d of its axes, or points of its axis where it leans.

    The lowest point of a rim, a ± half z + r e with e along d across z, is that of a ball about a
    point of the axis, about which it rolls:

        center  (± half − r d_z/w) z,   radius  r/w,   w = √(1 − d_z²)                (convex-5)
    """
    wide = sqrt(d[0] * d[0] + d[1] * d[1])
    end = body.half if d[2] >= 0.0 else -body.half
    if wide > 0.7:
        shift = body.disc * d[2] / wide
        for m in range(2):
            ask.key[m] = 1 + m
            ask.polygon[m, 0] = 0.0
            ask.polygon[m, 1] = 0.0
            ask.polygon[m, 2] = (body.half if m == 0 else -body.half) - shift
        reach = body.disc / wide
        if ask.owner == 1:
            ask.reach = reach
        else:
            ask.reach_second = reach
        return 2
    x = d[0] / wide if wide > 1e-9 else 1.0
    y = d[1] / wide if wide > 1e-9 else 0.0
    for m in range(RIM):
        c = cos(2.0 * PI * m / RIM)
        s = sin(2.0 * PI * m / RIM)
        ask.key[m] = 1 + m
        ask.polygon[m, 0] = body.disc * (c * x - s * y)
        ask.polygon[m, 1] = body.disc * (c * y + s * x)
        ask.polygon[m, 2] = end
    return RIM


@loop
def cut(side: ptr, limit: f64, number: i64, count: i64, ask: Question) -> i64:
    """What of the polygon is on this side of a plane, in its place; how many corners that are."""
    kept = 0
    for m in range(count):
        p = ask.polygon[m]
        q = ask.polygon[(m + 1) % count]
        here = dot3(side, p) - limit
        there = dot3(side, q) - limit
        if here <= 0.0 and kept < ROOM:
            ask.clipped_key[kept] = ask.key[m]
            for i in range(3):
                ask.clipped[kept, i] = p[i]
            kept += 1
        # the edge of two corners goes there and back
        if here * there < 0.0 and kept < ROOM and (count > 2 or m == 0):
            part = here / (here - there)
            ask.clipped_key[kept] = 1000 * (1 + number) + ask.key[m]
            for i in range(3):
                ask.clipped[kept, i] = p[i] + part * (q[i] - p[i])
            kept += 1
    for m in range(kept):
        ask.key[m] = ask.clipped_key[m]
        for i in range(3):
            ask.polygon[m, i] = ask.clipped[m, i]
    return kept


@loop
def keep_points(count: i64, height: f64, ask: Question) -> None:
    """The polygon's corners as points of both bodies: at most MOST, the deepest first."""
    n = ask.normal
    R = ask.R
    sign = 1.0 if ask.owner == 1 else -1.0
    kept = chosen_points(count, sign, ask)
    for k in range(kept):
        x = ask.polygon[ask.chosen[k]]
        ask.keys[k] = ask.key[ask.chosen[k]]
        gap = dot3(n, x) - height
        for i in range(3):
            # the corner on its own body, and the foot below it on the face
            ask.near[i] = x[i] if ask.owner == 1 else x[i] - gap * n[i]
            ask.second_points[k, i] = x[i] - gap * n[i] if ask.owner == 1 else x[i]
        for i in range(3):
            ask.first_points[k, i] = 0.0
            for j in range(3):
                ask.first_points[k, i] += R[j, i] * (ask.near[j] - ask.p[j])
    ask.points = kept


@loop
def chosen_points(count: i64, sign: f64, ask: Question) -> i64:
    """Which corners of the polygon are kept: all, or the nearest and those farthest from these."""
    n = ask.normal
    kept = 0
    for k in range(MOST):
        best = -1
        most = -1e300
        for m in range(count):
            rank = -sign * dot3(n, ask.polygon[m])
            if k > 0:
                rank = 1e300
                for j in range(k):
                    rank = min(rank, apart2(ask.chosen[j], m, ask))
            if rank > most:
                most = rank
                best = m
        if best < 0 or (k > 0 and most <= 1e-18 * ask.size * ask.size):
            break
        ask.chosen[k] = best
        kept += 1
    if count <= MOST:
        in_order(kept, ask.chosen)
    return kept


@loop
def apart2(a: i64, b: i64, ask: Question) -> f64:
    """Square of the distance of two corners of the polygon."""
    total = 0.0
    for i in range(3):
        x = ask.polygon[a, i] - ask.polygon[b, i]
        total += x * x
    return total


@loop
def in_order(count: i64, numbers: iptr) -> None:
    """Sorts a few numbers."""
    for i in range(1, count):
        one = numbers[i]
        j = i - 1
        while j >= 0:
            if numbers[j] <= one:
                break
            numbers[j + 1] = numbers[j]
            j -= 1
        numbers[j + 1] = one


@loop
def plane_points(first: i64, bodies: Bodies, ask: Question) -> f64:
    """The lowest corners of a body above the plane z = 0 of the second frame, and the lowest gap.

    Those that are within a tenth of the size of the lowest stand for it; of many, the lowest and
    those farthest from them.
    """
    body = bodies.body[first]
    ask.size = body.size
    ask.reach = body.radius
    ask.reach_second = 0.0
    ask.face = 0
    n = ask.normal
    for i in range(3):
        n[i] = 1.0 if i == 2 else 0.0
    ask.owner = 1
    lowest = 1e300
    for k in range(body.corners):
        to_second(bodies.vertex[body.first + k], 0, ask.near, ask)
        lowest = min(lowest, ask.near[2])
    band = 0.0
    count = 0
    # the narrowest band above the lowest that has three corners or more
    for turn in range(8):
        band = body.size * (1e-6 if turn == 0 else 0.001 * 2.0**turn)
        count = 0
        for k in range(body.corners):
            to_second(bodies.vertex[body.first + k], 0, ask.near, ask)
            if ask.near[2] <= lowest + band and count < ROOM:
                ask.key[count] = 1 + k
                for i in range(3):
                    ask.polygon[count, i] = ask.near[i]
                count += 1
        if count >= 3:
            break
    keep_points(count, 0.0, ask)
    return float(lowest - body.radius)
