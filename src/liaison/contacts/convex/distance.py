"""Distance and penetration of two convex bodies, by their difference.

The difference of two bodies A, B is the convex set {a − b}; its point nearest to the origin gives
their distance. It is sought by way of simplices of points that are farthest in a direction (GJK):

    w = s_A(−v) − s_B(v),   v ← nearest point of conv{simplex, w},   |v|² − v·w ≤ ε       (convex-1)

The nearest point of a simplex is the best of those of its corners, edges and triangles. Where the
bodies overlap, or are so close that v has no direction, a polytope of such points grows towards the
face of the difference that is nearest to the origin (EPA):

    n of the face with the least offset d,   w = s(n),   n·w − d ≤ ε: depth d             (convex-2)

It begins with a tetrahedron that need not contain the origin, so that bodies that barely touch have
a normal as well. Every n that was tried bounds the depth by n·s(n): `slack` is what is left between
the bounds. All is in the axes of the second body.

Public names: separate, support_of, TOUCHING.

Source: docs/theory/convex.md; GJK88 (distance); VDB01 §3 (expanding polytopes).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr

from .layout import CYLINDER, Bodies, Convex, Question

TOUCHING = 1e-6
"""Distance beside the size below which the normal is that of a face of the difference."""
EXACT = 1e-14
"""Gain of a step, beside |v|² and the square of the size, that ends the search."""
GROWN = 1e-11
"""Gain of a face, beside the size, that ends the growth."""
ROUNDS = 100
ROOM = 150  # corners of the growing polytope
SHELLS = 470  # triangles of it
TIE = 1e-12
"""Height beside the size by which corners are equally far."""
FAR = 1e300


@loop
def dot3(a: ptr, b: ptr) -> f64:
    """a · b."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@loop
def cross3(a: ptr, b: ptr, out: ptr) -> None:
    """a × b."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    out[0] = x
    out[1] = y
    out[2] = z


@loop
def farthest(body: Convex, d: ptr, side: ptr, bodies: Bodies, out: ptr) -> None:
    """The point of a body's core that is farthest along d; of equally far ones that along side."""
    if body.kind == CYLINDER:
        wide = sqrt(d[0] * d[0] + d[1] * d[1])
        part = body.disc / wide if wide > 1e-14 else 0.0
        out[0] = d[0] * part
        out[1] = d[1] * part
        out[2] = body.half if d[2] >= 0.0 else -body.half
    else:
        best = body.first
        height = dot3(bodies.vertex[best], d)
        for k in range(body.first + 1, body.first + body.corners):
            other = dot3(bodies.vertex[k], d)
            if other > height - TIE * body.size:
                is_tie = 1 if other < height + TIE * body.size else 0
                if is_tie == 0 or dot3(bodies.vertex[k], side) > dot3(bodies.vertex[best], side):
                    best = k
                    height = max(other, height)
        for i in range(3):
            out[i] = bodies.vertex[best, i]


@loop
def support_of(first: Convex, second: Convex, d: ptr, bodies: Bodies, ask: Question) -> None:
    """The point of the difference that is farthest along d, and the point of the first with it."""
    R = ask.R
    local = ask.local
    side = ask.side
    out = ask.support_first
    # a direction across d that decides between equally far corners, the same for both bodies
    k = 0
    for i in range(1, 3):
        if abs(d[i]) < abs(d[k]):
            k = i
    side[0] = 0.1
    side[1] = 0.2
    side[2] = 0.3
    side[k] = 1.0
    for i in range(3):
        local[i] = R[0, i] * d[0] + R[1, i] * d[1] + R[2, i] * d[2]
    x = R[0, 0] * side[0] + R[1, 0] * side[1] + R[2, 0] * side[2]
    y = R[0, 1] * side[0] + R[1, 1] * side[1] + R[2, 1] * side[2]
    t = R[0, 2] * side[0] + R[1, 2] * side[1] + R[2, 2] * side[2]
    a = side[0]
    b = side[1]
    c = side[2]
    side[0] = x
    side[1] = y
    side[2] = t
    farthest(first, local, side, bodies, ask.support)
    for i in range(3):
        out[i] = ask.p[i]
        for j in range(3):
            out[i] += R[i, j] * ask.support[j]
    side[0] = -a
    side[1] = -b
    side[2] = -c
    for i in range(3):
        local[i] = -d[i]
    farthest(second, local, side, bodies, ask.support)
    for i in range(3):
        ask.support[i] = out[i] - ask.support[i]


@loop
def weigh(ask: Question, mask: i64) -> f64:
    """Weights of the point nearest to the origin of some corners, if inside; its squared length."""
    w = ask.w
    t = ask.tried
    for i in range(4):
        t[i] = 0.0
    one = -1
    two = -1
    three = -1
    for i in range(4):
        if (mask >> i) & 1 == 1:
            if one < 0:
                one = i
            elif two < 0:
                two = i
            else:
                three = i
    if two < 0:
        t[one] = 1.0
        return dot3(w[one], w[one])
    if three < 0:
        return weigh_edge(ask, one, two)
    return weigh_triangle(ask, one, two, three)


@loop
def weigh_edge(ask: Question, one: i64, two: i64) -> f64:
    """The same of an edge."""
    a = ask.w[one]
    b = ask.w[two]
    square = 0.0
    along = 0.0
    for i in range(3):
        square += (b[i] - a[i]) * (b[i] - a[i])
        along -= a[i] * (b[i] - a[i])
    if not (along > 0.0 and along < square):
        return FAR
    part = along / square
    ask.tried[one] = 1.0 - part
    ask.tried[two] = part
    total = 0.0
    for i in range(3):
        x = a[i] + part * (b[i] - a[i])
        total += x * x
    return total


@loop
def weigh_triangle(ask: Question, one: i64, two: i64, three: i64) -> f64:
    """The same of a triangle: by areas seen along its normal."""
    a = ask.w[one]
    b = ask.w[two]
    c = ask.w[three]
    n = ask.near
    s = ask.side
    for i in range(3):
        s[i] = b[i] - a[i]
        ask.local[i] = c[i] - a[i]
    cross3(s, ask.local, n)
    square = dot3(n, n)
    if not square > 1e-28 * dot3(s, s) * dot3(ask.local, ask.local):
        return FAR
    cross3(b, c, s)
    x = dot3(n, s) / square
    cross3(c, a, s)
    y = dot3(n, s) / square
    z = 1.0 - x - y
    if not (x > 0.0 and y > 0.0 and z > 0.0):
        return FAR
    ask.tried[one] = x
    ask.tried[two] = y
    ask.tried[three] = z
    height = dot3(n, a)
    return float(height * height / square)


@loop
def is_inside(ask: Question) -> i64:
    """1 if the tetrahedron of the simplex contains the origin."""
    w = ask.w
    n = ask.near
    s = ask.side
    for k in range(4):
        a = w[(k + 1) % 4]
        b = w[(k + 2) % 4]
        c = w[(k + 3) % 4]
        d = w[k]
        for i in range(3):
            s[i] = b[i] - a[i]
            ask.local[i] = c[i] - a[i]
        cross3(s, ask.local, n)
        here = -dot3(n, a)
        there = dot3(n, d) - dot3(n, a)
        if not here * there > 0.0:
            return 0
    return 1


@loop
def nearest_of_simplex(ask: Question) -> f64:
    """The simplex reduced to the corners about its nearest point, which is v; its square."""
    count = ask.count
    if count == 4 and is_inside(ask) == 1:
        return -1.0
    least = FAR
    chosen = 0
    for mask in range(1, 1 << count):
        if mask != 15:
            square = weigh(ask, mask)
            if square < least:
                least = square
                chosen = mask
                for i in range(4):
                    ask.best[i] = ask.tried[i]
    kept = 0
    for i in range(3):
        ask.v[i] = 0.0
    for k in range(count):
        if (chosen >> k) & 1 == 1:
            part = ask.best[k]
            for i in range(3):
                ask.v[i] += part * ask.w[k, i]
                x = ask.w[k, i]
                y = ask.a[k, i]
                ask.w[kept, i] = x
                ask.a[kept, i] = y
            ask.weight[kept] = part
            kept += 1
    ask.count = kept
    return dot3(ask.v, ask.v)


@loop
def is_known(ask: Question) -> i64:
    """1 if the new point is a corner of the simplex already."""
    for k in range(ask.count):
        total = 0.0
        for i in range(3):
            total += abs(ask.w[k, i] - ask.support[i])
        if total <= 1e-15 * ask.size:
            return 1
    return 0


@loop
def begin(first: Convex, second: Convex, ask: Question) -> None:
    """The size of the question, and v from the centers."""
    ask.size = first.size + second.size
    ask.count = 0
    ask.steps = 0
    far = 0.0
    for i in range(3):
        ask.v[i] = ask.p[i] - second.center[i]
        for j in range(3):
            ask.v[i] += ask.R[i, j] * first.center[j]
        far += ask.v[i] * ask.v[i]
    if far == 0.0:
        ask.v[0] = 1.0
    ask.size = max(ask.size, 1e-300)


@loop
def approach(first: Convex, second: Convex, bodies: Bodies, ask: Question) -> f64:
    """The distance of the cores by (convex-1), with v and its corners; 0 where they overlap."""
    begin(first, second, ask)
    square = dot3(ask.v, ask.v)
    for step in range(ROUNDS):
        ask.steps = step + 1
        for i in range(3):
            ask.direction[i] = -ask.v[i]
        support_of(first, second, ask.direction, bodies, ask)
        ask.slack = square - dot3(ask.v, ask.support)
        is_near = 1 if ask.slack <= EXACT * square else 0
        if step > 0 and (is_near == 1 or is_known(ask) == 1):
            break
        k = ask.count
        for i in range(3):
            ask.w[k, i] = ask.support[i]
            ask.a[k, i] = ask.support_first[i]
        ask.count = k + 1
        before = square if step > 0 else FAR
        square = nearest_of_simplex(ask)
        if square < 0.0:
            return 0.0
        if square >= before or square <= 1e-30 * ask.size * ask.size:
            break
    return sqrt(square)


@loop
def separate(first: i64, second: i64, bodies: Bodies, ask: Question) -> f64:
    """The distance of two bodies, negative where they overlap, with its points and normal.

    Args:
        first: number of a body, at (R, p) of the question, seen from the second.
        second: number of the other.
        bodies: all of them.
        ask: the question; its answer is written into it.
    """
    one = bodies.body[first]
    other = bodies.body[second]
    apart = approach(one, other, bodies, ask)
    if apart > 0.0:
        ask.slack = max(ask.slack, 0.0) / apart
        ask.distance = apart
        for i in range(3):
            ask.normal[i] = ask.v[i] / apart
            ask.on_first[i] = 0.0
            for k in range(ask.count):
                ask.on_first[i] += ask.weight[k] * ask.a[k, i]
            ask.on_second[i] = ask.on_first[i] - ask.v[i]
    if apart <= TOUCHING * ask.size:
        grow(apart, one, other, bodies, ask)
    return widened(one, other, ask)


@loop
def widened(one: Convex, other: Convex, ask: Question) -> f64:
    """The distance and the points of the bodies from those of their cores."""
    for i in range(3):
        ask.on_first[i] -= one.radius * ask.normal[i]
        ask.on_second[i] += other.radius * ask.normal[i]
    ask.distance -= one.radius + other.radius
    return float(ask.distance)


# the growing polytope


@loop
def add_corner(ask: Question) -> i64:
    """The number of the new point among the corners; −1 where it is one already."""
    for k in range(ask.grown):
        total = 0.0
        for i in range(3):
            total += abs(ask.corner[k, i] - ask.support[i])
        if total <= 1e-13 * ask.size:
            return -1
    k = ask.grown
    for i in range(3):
        ask.corner[k, i] = ask.support[i]
        ask.corner_first[k, i] = ask.support_first[i]
    ask.grown = k + 1
    return int(k)


@loop
def add_triangle(a: i64, b: i64, c: i64, ask: Question) -> None:
    """A triangle, its normal by the order of its corners; without a plane if they are on a line."""
    k = ask.shells
    plane = ask.plane[k]
    for i in range(3):
        ask.side[i] = ask.corner[b, i] - ask.corner[a, i]
        ask.local[i] = ask.corner[c, i] - ask.corner[a, i]
    cross3(ask.side, ask.local, plane)
    length = sqrt(dot3(plane, plane))
    wide = sqrt(dot3(ask.side, ask.side) * dot3(ask.local, ask.local))
    ask.triangle[k, 0] = a
    ask.triangle[k, 1] = b
    ask.triangle[k, 2] = c
    ask.triangle[k, 3] = 1
    if length <= 1e-12 * wide or length <= 1e-24 * ask.size * ask.size:
        plane[3] = FAR
    else:
        for i in range(3):
            plane[i] = plane[i] / length
        plane[3] = max(
            dot3(plane, ask.corner[a]),
            max(dot3(plane, ask.corner[b]), dot3(plane, ask.corner[c])),
        )
    ask.shells = k + 1


@loop
def support_across(first: Convex, second: Convex, bodies: Bodies, ask: Question) -> f64:
    """The farther of the points along ±direction from the first corner; how far, across."""
    d = ask.direction
    base = dot3(d, ask.corner[0])
    support_of(first, second, d, bodies, ask)
    up = dot3(d, ask.support) - base
    for i in range(3):
        d[i] = -d[i]
    support_of(first, second, d, bodies, ask)
    down = dot3(d, ask.support) + base
    if up > down:
        for i in range(3):
            d[i] = -d[i]
        support_of(first, second, d, bodies, ask)
    return float(max(up, down))


@loop
def begin_growth(first: Convex, second: Convex, bodies: Bodies, ask: Question) -> i64:
    """A tetrahedron of points of the difference; 0 where the difference is flat."""
    d = ask.direction
    tiny = 1e-9 * ask.size
    ask.grown = 0
    ask.shells = 0
    for i in range(3):
        d[i] = 1.0 if i == 0 else 0.0
    support_of(first, second, d, bodies, ask)
    add_corner(ask)
    # the farthest along ±x, y, z; then from the line; then from the plane
    best = 0.0
    axis = 0
    for k in range(3):
        for i in range(3):
            d[i] = 1.0 if i == k else 0.0
        far = support_across(first, second, bodies, ask)
        if far > best:
            best = far
            axis = k
    for i in range(3):
        d[i] = 1.0 if i == axis else 0.0
    support_across(first, second, bodies, ask)
    if best <= tiny or add_corner(ask) < 0:
        return 0
    if line_growth(first, second, bodies, ask) <= tiny:
        return 0
    for i in range(3):
        ask.side[i] = ask.corner[1, i] - ask.corner[0, i]
        ask.local[i] = ask.corner[2, i] - ask.corner[0, i]
    cross3(ask.side, ask.local, d)
    length = sqrt(dot3(d, d))
    for i in range(3):
        d[i] = d[i] / length
    if support_across(first, second, bodies, ask) <= tiny or add_corner(ask) < 0:
        return 0
    return close_tetrahedron(ask)


@loop
def line_growth(first: Convex, second: Convex, bodies: Bodies, ask: Question) -> f64:
    """A third corner, far from the line of the first two; how far."""
    d = ask.direction
    far = 0.0
    for turn in range(2):
        for i in range(3):
            ask.side[i] = ask.corner[1, i] - ask.corner[0, i]
            ask.near[i] = 0.0
        least = 0
        for i in range(1, 3):
            if abs(ask.side[i]) < abs(ask.side[least]):
                least = i
        ask.near[least] = 1.0
        cross3(ask.side, ask.near, d)
        if turn == 1:
            cross3(ask.side, d, d)
        length = sqrt(dot3(d, d))
        for i in range(3):
            d[i] = d[i] / length
        far = support_across(first, second, bodies, ask)
        if far > 1e-3 * ask.size:
            break
    if add_corner(ask) < 0:
        return 0.0
    return far


@loop
def close_tetrahedron(ask: Question) -> i64:
    """Four triangles with their normals outwards."""
    for k in range(4):
        a = (k + 1) % 4
        b = (k + 2) % 4
        c = (k + 3) % 4
        add_triangle(a, b, c, ask)
        plane = ask.plane[ask.shells - 1]
        if dot3(plane, ask.corner[k]) > dot3(plane, ask.corner[a]):
            ask.shells = ask.shells - 1
            add_triangle(a, c, b, ask)
    return 1


@loop
def open_shell(top: i64, face: i64, ask: Question) -> None:
    """Triangles that see a corner give way to those of the corner and the edges they leave."""
    ask.edges = 0
    see = 1e-13 * ask.size
    for k in range(ask.shells):
        is_seen = 1 if k == face else 0
        if dot3(ask.plane[k], ask.corner[top]) > ask.plane[k, 3] + see:
            is_seen = 1
        if ask.triangle[k, 3] == 1 and is_seen == 1:
            ask.triangle[k, 3] = 0
            for i in range(3):
                add_edge(ask.triangle[k, i], ask.triangle[k, (i + 1) % 3], ask)
    for m in range(ask.edges):
        if ask.edge[m, 0] >= 0 and ask.shells < SHELLS:
            add_triangle(ask.edge[m, 0], ask.edge[m, 1], top, ask)


@loop
def add_edge(a: i64, b: i64, ask: Question) -> None:
    """An edge of the border, unless the other side of it was seen, too."""
    for m in range(ask.edges):
        if ask.edge[m, 0] == b and ask.edge[m, 1] == a:
            ask.edge[m, 0] = -1
            return
    m = ask.edges
    if m < SHELLS:
        ask.edge[m, 0] = a
        ask.edge[m, 1] = b
        ask.edges = m + 1


@loop
def compact(ask: Question) -> None:
    """Takes triangles that gave way out of the list."""
    kept = 0
    for k in range(ask.shells):
        if ask.triangle[k, 3] == 1:
            for i in range(4):
                number = ask.triangle[k, i]
                ask.triangle[kept, i] = number
                x = ask.plane[k, i]
                ask.plane[kept, i] = x
            kept += 1
    ask.shells = kept


@loop
def grow(apart: f64, first: Convex, second: Convex, bodies: Bodies, ask: Question) -> None:
    """The depth of the cores by (convex-2), its normal and points.

    Of cores that are a little apart, the distance and points of (convex-1) are kept.
    """
    if begin_growth(first, second, bodies, ask) == 0:
        flat_answer(first, second, bodies, ask)
        return
    least = FAR
    for _ in range(ROOM):
        ask.steps += 1
        compact(ask)
        face = least_face(ask)
        for i in range(3):
            ask.direction[i] = ask.plane[face, i]
        support_of(first, second, ask.direction, bodies, ask)
        height = dot3(ask.direction, ask.support)
        if height < least:
            least = height
            for i in range(3):
                ask.normal[i] = -ask.direction[i]
        ask.slack = max(least - ask.plane[face, 3], 0.0)
        if ask.slack <= GROWN * ask.size or ask.grown >= ROOM:
            break
        if height - ask.plane[face, 3] <= GROWN * ask.size:
            break
        top = add_corner(ask)
        if top < 0 or ask.shells + 2 * ask.grown > SHELLS:
            break
        open_shell(top, face, ask)
    if least >= 0.0 or apart == 0.0:
        ask.distance = -least
        place_answer(face, ask)


@loop
def least_face(ask: Question) -> i64:
    """The triangle whose plane is nearest to the origin, or farthest on this side of it."""
    face = 0
    for k in range(1, ask.shells):
        if ask.plane[k, 3] < ask.plane[face, 3]:
            face = k
    return face


@loop
def place_answer(face: i64, ask: Question) -> None:
    """Points of both bodies at the point of a triangle that is nearest to the origin."""
    for k in range(3):
        corner = ask.triangle[face, k]
        for i in range(3):
            ask.w[k, i] = ask.corner[corner, i]
            ask.a[k, i] = ask.corner_first[corner, i]
    ask.count = 3
    nearest_of_simplex(ask)
    for i in range(3):
        ask.on_first[i] = 0.0
        for k in range(ask.count):
            ask.on_first[i] += ask.weight[k] * ask.a[k, i]
        ask.on_second[i] = ask.on_first[i] - ask.v[i]


@loop
def flat_answer(first: Convex, second: Convex, bodies: Bodies, ask: Question) -> None:
    """Of cores whose difference has no volume: no depth, along a direction across it."""
    d = ask.direction
    best = FAR
    for k in range(3):
        for i in range(3):
            d[i] = 1.0 if i == k else 0.0
        if ask.grown >= 3:
            for i in range(3):
                ask.side[i] = ask.corner[1, i] - ask.corner[0, i]
                ask.local[i] = ask.corner[2, i] - ask.corner[0, i]
            cross3(ask.side, ask.local, d)
        elif ask.grown == 2:
            for i in range(3):
                ask.side[i] = ask.corner[1, i] - ask.corner[0, i]
                ask.local[i] = d[i]
            cross3(ask.side, ask.local, d)
        length = sqrt(dot3(d, d))
        if length > 1e-3 * ask.size or ask.grown < 2:
            for i in range(3):
                d[i] = d[i] / length
            support_of(first, second, d, bodies, ask)
            height = dot3(d, ask.support)
            if height < best:
                best = height
                for i in range(3):
                    ask.normal[i] = -d[i]
                    ask.on_first[i] = ask.support_first[i]
                    ask.on_second[i] = ask.support_first[i] - ask.support[i]
    ask.slack = 0.0
    ask.distance = -best if best < FAR else 0.0
