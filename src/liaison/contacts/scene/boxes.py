"""Two boxes of a scene: the direction in which they are farthest apart, and where they touch.

Of fifteen directions, the normals of faces and the products of edges, the one with the largest
separation determines what touches: a face, with the opposite face of the other box cut to its
outline (up to eight points), or two edges. Each point is fixed on the bodies, so that its gap is a
smooth function of their poses for the rest of the step.

Boxes along the axes of the ground, around all that may touch during a step, are here as well.

Public names: box_at, along, meet, added, on_body, swept_box, swept_solid, center, grown, grown_box,
overlap, thickness_of, reach_of, turned_way, thrown_way, comes_by, LEFT, POINTS.

Source: GOTT96 §5 (separating axes of boxes); SH74 (clipping); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows

from .bodies import rotation
from .layout import EDGE_EDGE, POINT_FACE, Collider, Extent, Oriented, Pose, World

POINTS = 8
"""Points of a polygon of four corners cut by four lines, at most."""

PREFERRED = 1e-3
"""Part of the smallest half size by which edges must be farther apart than faces to be taken."""

LEFT = 0.5
"""Part of the margin by which a body may be nearer to the side of its box than it was: in all three
directions at once it is within the margin of where planes were looked at."""

PARALLEL = 1e-4  # square of the sine of the angle between edges below which they have no product


@loop
def box_at(i: i64, poses: Rows[Pose], out: Oriented, world: World) -> None:
    """The axes, the center and the half sizes of a box (a number among colliders)."""
    solid = world.solid[i - world.balls]
    pose = poses[world.collider[i].body]
    R = world.R
    own = world.own
    rotation(pose.turn, flat(R))
    rotation(solid.turn, flat(own))
    for a in range(3):
        out.center[a] = pose.place[a]
        out.half[a] = solid.half[a]
        for b in range(3):
            out.center[a] += R[a, b] * solid.center[b]
            out.axes[a, b] = 0.0
            for c in range(3):
                out.axes[a, b] += R[a, c] * own[c, b]


@loop
def along(box: Oriented, i: i64, direction: ptr) -> f64:
    """The component of a direction along an axis of a box."""
    axes = box.axes
    return float(axes[0, i] * direction[0] + axes[1, i] * direction[1] + axes[2, i] * direction[2])


@loop
def reach(box: Oriented, direction: ptr) -> f64:
    """How far a box reaches from its center in a direction."""
    total = 0.0
    for i in range(3):
        total += box.half[i] * abs(along(box, i, direction))
    return total


@loop
def apart(a: Oriented, b: Oriented, direction: ptr) -> f64:
    """The separation along a unit direction, which is turned to lead from a to b."""
    way = 0.0
    for i in range(3):
        way += direction[i] * (b.center[i] - a.center[i])
    if way < 0.0:
        for i in range(3):
            direction[i] = -direction[i]
    return float(abs(way) - reach(a, direction) - reach(b, direction))


@loop
def meet(first: i64, second: i64, world: World) -> i64:
    """Adds the points at which two boxes may touch; 1, or 0 where there is no room for them."""
    a = world.box[0]
    b = world.box[1]
    n = world.normal
    box_at(first, world.mid, a, world)
    box_at(second, world.mid, b, world)
    face = 0
    widest = -1e300
    for side in range(2):
        for i in range(3):
            for j in range(3):
                n[j] = a.axes[j, i] if side == 0 else b.axes[j, i]
            separation = apart(a, b, n)
            # the same face goes on while both are alike, so that points stay where they were
            if separation > widest + 1e-9 * a.half[0]:
                widest = separation
                face = 3 * side + i
    edge = widest_edges(a, b, n, widest + PREFERRED * min(smallest(a), smallest(b)))
    if edge >= 0:
        return two_edges(first, second, edge, world)
    return face_points(first, second, face, world)


@loop
def smallest(box: Oriented) -> f64:
    """The smallest half size of a box."""
    return float(min(box.half[0], min(box.half[1], box.half[2])))


@loop
def widest_edges(a: Oriented, b: Oriented, n: ptr, least: f64) -> i64:
    """The pair of edges, 3 i + j, whose product separates most, if by more than `least`; or −1."""
    chosen = -1
    for i in range(3):
        for j in range(3):
            if product_of(a, i, b, j, n) > PARALLEL:
                separation = apart(a, b, n)
                if separation > least:
                    least = separation
                    chosen = 3 * i + j
    return chosen


@loop
def product_of(one: Oriented, i: i64, other: Oriented, j: i64, n: ptr) -> f64:
    """The unit product of two axes; the square of the sine of their angle."""
    a = one.axes
    b = other.axes
    n[0] = a[1, i] * b[2, j] - a[2, i] * b[1, j]
    n[1] = a[2, i] * b[0, j] - a[0, i] * b[2, j]
    n[2] = a[0, i] * b[1, j] - a[1, i] * b[0, j]
    square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
    length = sqrt(square) + 1e-300
    for x in range(3):
        n[x] = n[x] / length
    return float(square)


@loop
def added(kind: i64, first: i64, second: i64, corner: i64, world: World) -> i64:
    """The number of one more candidate; −1 where there is no room."""
    c = world.candidates
    if c >= world.capacity:
        return -1
    candidate = world.candidate[c]
    candidate.kind = kind
    candidate.corner = corner
    candidate.first = first
    candidate.second = second
    world.candidates = c + 1
    return int(c)


@loop
def on_body(i: i64, point: ptr, is_direction: i64, out: ptr, world: World) -> None:
    """A point or direction of the ground in the axes of the body of a collider, midway."""
    pose = world.mid[world.collider[i].body]
    R = world.R
    rotation(pose.turn, flat(R))
    for a in range(3):
        total = 0.0
        for b in range(3):
            total += R[b, a] * (point[b] if is_direction == 1 else point[b] - pose.place[b])
        out[a] = total


@loop
def two_edges(first: i64, second: i64, edge: i64, world: World) -> i64:
    """The candidate of two edges; 0 where there is no room."""
    a = world.box[0]
    b = world.box[1]
    n = world.normal
    point = world.point
    i = edge // 3
    j = edge % 3
    product_of(a, i, b, j, n)
    x = n[0]
    y = n[1]
    t = n[2]
    apart(a, b, n)
    turned = -1.0 if x * n[0] + y * n[1] + t * n[2] < 0.0 else 1.0
    c = added(EDGE_EDGE, first, second, POINTS, world)
    if c < 0:
        return 0
    candidate = world.candidate[c]
    edge_point(a, i, n, 1.0, point)
    on_body(first, point, 0, candidate.one, world)
    for x_ in range(3):
        point[x_] = turned * a.axes[x_, i]
    on_body(first, point, 1, candidate.one[3:], world)
    edge_point(b, j, n, -1.0, point)
    on_body(second, point, 0, candidate.other, world)
    for x_ in range(3):
        point[x_] = b.axes[x_, j]
    on_body(second, point, 1, candidate.other[3:], world)
    return 1


@loop
def edge_point(box: Oriented, i: i64, n: ptr, way: f64, out: ptr) -> None:
    """The middle of the edge along axis i that is farthest in the direction way · n."""
    for x in range(3):
        out[x] = box.center[x]
    for j in range(3):
        if j != i:
            size = box.half[j] if way * along(box, j, n) > 0.0 else -box.half[j]
            for x in range(3):
                out[x] += size * box.axes[x, j]


@loop
def face_points(first: i64, second: i64, face: i64, world: World) -> i64:
    """Candidates of a face and the points of the opposite one above it; 0 without room."""
    n = world.normal
    near = world.box[0 if face < 3 else 1]
    far = world.box[1 if face < 3 else 0]
    one = first if face < 3 else second
    other = second if face < 3 else first
    axis = face % 3
    for x in range(3):
        n[x] = near.axes[x, axis]
    apart(near, far, n)
    polygon = flat(world.polygon)
    clipped = flat(world.clipped)
    opposite(far, n, polygon)
    count = 4
    for side in range(2):
        i = (axis + 1 + side) % 3
        count = cut(near, i, 1.0, count, polygon, clipped)
        count = cut(near, i, -1.0, count, clipped, polygon)
    pose = world.mid[world.collider[one].body]
    height = near.half[axis]
    for x in range(3):
        height += n[x] * (near.center[x] - pose.place[x])
    for m in range(count):
        c = added(POINT_FACE, one, other, m, world)
        if c < 0:
            return 0
        candidate = world.candidate[c]
        on_body(one, n, 1, candidate.one, world)
        candidate.one[3] = height
        on_body(other, polygon[3 * m :], 0, candidate.other, world)
        candidate.other[3] = 0.0
    return 1


@loop
def opposite(box: Oriented, n: ptr, polygon: ptr) -> None:
    """The corners of the face of a box that looks most against a direction."""
    chosen = 0
    for i in range(1, 3):
        if abs(along(box, i, n)) > abs(along(box, chosen, n)):
            chosen = i
    size = -box.half[chosen] if along(box, chosen, n) > 0.0 else box.half[chosen]
    one = (chosen + 1) % 3
    two = (chosen + 2) % 3
    for corner in range(4):
        p = box.half[one] if corner % 3 == 0 else -box.half[one]
        q = box.half[two] if corner < 2 else -box.half[two]
        for x in range(3):
            row = box.axes[x]
            place = box.center[x] + size * row[chosen] + p * row[one] + q * row[two]
            polygon[3 * corner + x] = place


@loop
def cut(box: Oriented, i: i64, way: f64, count: i64, points: ptr, out: ptr) -> i64:
    """What of a polygon is within one side of a box; how many points that are."""
    kept = 0
    for m in range(count):
        p = points[3 * m :]
        q = points[3 * ((m + 1) % count) :]
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
def inside(box: Oriented, i: i64, way: f64, p: ptr) -> f64:
    """How far a point is beyond a side of a box; negative inside."""
    total = -box.half[i] * (1.0 + 1e-9)
    for x in range(3):
        total += way * box.axes[x, i] * (p[x] - box.center[x])
    return float(total)


@loop
def swept_box(ball: Collider, box: Extent, world: World) -> None:
    """The box around a ball at the beginning and at the end of the free step, with a margin."""
    before = world.before
    after = world.after
    center(world.pose[ball.body], ball, before, world)
    center(world.end[ball.body], ball, after, world)
    for j in range(3):
        wide = ball.radius + world.margin
        box.low[j] = min(before[j], after[j]) - wide
        box.high[j] = max(before[j], after[j]) + wide


@loop
def swept_solid(i: i64, box: Extent, world: World) -> None:
    """The same around a box."""
    solid = world.box[0]
    for end in range(2):
        box_at(i, world.pose if end == 0 else world.end, solid, world)
        for j in range(3):
            wide = world.margin
            for a in range(3):
                wide += abs(solid.axes[j, a]) * solid.half[a]
            low = solid.center[j] - wide
            high = solid.center[j] + wide
            box.low[j] = low if end == 0 else min(box.low[j], low)
            box.high[j] = high if end == 0 else max(box.high[j], high)


@loop
def center(pose: Pose, ball: Collider, out: ptr, world: World) -> None:
    """Where the center of a ball is."""
    c = ball.center
    if c[0] == 0.0 and c[1] == 0.0 and c[2] == 0.0:
        for j in range(3):
            out[j] = pose.place[j]
    else:
        R = world.R
        rotation(pose.turn, flat(R))
        for j in range(3):
            out[j] = pose.place[j] + R[j, 0] * c[0] + R[j, 1] * c[1] + R[j, 2] * c[2]


@loop
def grown(world: World) -> i64:
    """Boxes around their bodies at the end of the step as well; 1 if one nearly left its box.

    Boxes as they were are behind all others.
    """
    count = world.balls + world.boxes + world.terrains
    left = 0
    for i in range(count):
        left = max(left, grown_box(i, count, world))
    for i in range(count if left == 0 else 0):
        for j in range(3):
            world.extent[i].low[j] = world.extent[count + i].low[j]
            world.extent[i].high[j] = world.extent[count + i].high[j]
    return left


@loop
def grown_box(i: i64, count: i64, world: World) -> i64:
    """One of these `count` boxes; 1 if its body nearly left it."""
    box = world.extent[i]
    was = world.extent[count + i]
    left = 0
    for j in range(3):
        was.low[j] = box.low[j]
        was.high[j] = box.high[j]
    if i < world.balls:
        swept_box(world.collider[i], box, world)
    elif i < world.balls + world.boxes:
        swept_solid(i, box, world)
    for j in range(3):
        below = was.low[j] - box.low[j]
        above = box.high[j] - was.high[j]
        left = 1 if max(below, above) > LEFT * world.margin else left
        box.low[j] = min(box.low[j], was.low[j])
        box.high[j] = max(box.high[j], was.high[j])
    return left


@loop
def overlap(a: Extent, b: Extent) -> i64:
    """1 if two boxes along the axes overlap."""
    for k in range(3):
        if a.low[k] > b.high[k] or b.low[k] > a.high[k]:
            return 0
    return 1


@loop
def thickness_of(i: i64, world: World) -> f64:
    """A length that a collider is thicker than, whatever way it is passed."""
    if i < world.balls:
        return float(2.0 * world.collider[i].radius)
    return float(world.thin[i - world.balls])


@loop
def reach_of(i: i64, world: World) -> f64:
    """How far a collider is from the center of mass of its body, at most; of balls the center."""
    center = world.collider[i].center
    size = 0.0
    if i >= world.balls:
        half = world.solid[i - world.balls].half
        size = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    return float(size + sqrt(center[0] * center[0] + center[1] * center[1] + center[2] * center[2]))


@loop
def turned_way(i: i64, world: World) -> f64:
    """How far a point of a collider goes by its turn within the step, at most; of balls by arms."""
    body = world.collider[i].body
    turn = 0.0
    for j in range(3):
        mean = 0.5 * (world.speed[body].spin[j] + world.next[body].spin[j])
        turn += mean * mean
    return float(world.h * reach_of(i, world) * sqrt(turn))


@loop
def thrown_way(i: i64, world: World) -> f64:
    """How far impulses of this step throw a collider beside its way without them."""
    body = world.collider[i].body
    free = world.free[body]
    after = world.next[body]
    way = 0.0
    turn = 0.0
    for j in range(3):
        v = after.velocity[j] - free.velocity[j]
        w = after.spin[j] - free.spin[j]
        way += v * v
        turn += w * w
    return float(0.5 * world.h * (sqrt(way) + reach_of(i, world) * sqrt(turn)))


@loop
def comes_by(first: i64, second: i64, world: World) -> i64:
    """1 if the balls about two colliders, about the centers of mass of their bodies, meet."""
    one = world.collider[first].body
    other = world.collider[second].body
    reach = reach_of(first, world) + reach_of(second, world)
    reach += world.collider[first].radius + world.collider[second].radius
    begin = world.before
    step = world.after
    for j in range(3):
        begin[j] = world.pose[other].place[j] - world.pose[one].place[j]
        step[j] = world.end[other].place[j] - world.end[one].place[j] - begin[j]
    return int(meet_on_way(begin, step, reach))


@loop
def meet_on_way(begin: ptr, step: ptr, reach: f64) -> i64:
    """1 if a point that goes from `begin` by `step` comes nearer to the origin than `reach`."""
    long = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
    along = -(begin[0] * step[0] + begin[1] * step[1] + begin[2] * step[2])
    part = min(max(along / long, 0.0), 1.0) if long > 0.0 else 0.0
    apart = 0.0
    for j in range(3):
        x = begin[j] + part * step[j]
        apart += x * x
    return 1 if apart <= reach * reach else 0
