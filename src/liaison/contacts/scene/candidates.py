"""Candidates for contact: what may come near within a step, by the broad phase, with its features.

Broad phase: which boxes overlap, by sweeping over them in the order of their left sides.

Two boxes: the direction in which they are farthest apart, and the points at which they touch.

Of fifteen directions, the normals of faces and the products of edges, the one with the largest
separation determines what touches: a face, with the opposite face of the other box cut to its
outline (up to eight points), or two edges. Each point is fixed on the bodies, so that its gap is a
smooth function of their poses for the rest of the step.

Public names: candidates, law_of, sweep_and_prune. Source: docs/theory/time_stepping.md; COH95 §3
(sort and sweep with coherence between steps), box_at, meet, added, POINTS. Source: GOTT96 §5
(separating axes of boxes); SH74 (clipping); docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.convex.layout import Bodies
from liaison.contacts.convex.manifold import cylinder_end, touch_points
from liaison.program.loops.language import f64, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Rows
from liaison.simulation.steps.layout import CROWDED, GOOD, Entries

from .bodies import rotation
from .layout import (
    BALL_BALL,
    BALL_BOX,
    BALL_PLANE,
    EDGE_EDGE,
    POINT_FACE,
    Collider,
    Extent,
    Oriented,
    Pair,
    PairEntries,
    Pose,
    World,
)

POINTS = 8
"""Points of a polygon of four corners cut by four lines, at most."""

PREFERRED = 1e-3
"""Part of the smallest half size by which edges must be farther apart than faces to be taken."""

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
def sweep_and_prune(
    count: i64, boxes: Rows[Extent], order: iptr, capacity: i64, pairs: Rows[Pair]
) -> i64:
    """Pairs of boxes of different bodies that overlap.

    Args:
        count: boxes.
        boxes: their extents, and bodies; two of the same body are no pair.
        order: boxes by their left side, nearly: put right here, and used again next time.
        capacity: pairs at most.
        pairs: result, the smaller number first.

    Returns:
        How many there are; -1 if they are too many.
    """
    sort_again(count, boxes, order)
    number = 0
    for i in range(count):
        one = order[i]
        box = boxes[one]
        for j in range(i + 1, count):
            other = order[j]
            if boxes[other].low[0] > box.high[0]:
                break
            if box.body != boxes[other].body and overlap(box, boxes[other]) == 1:
                if number >= capacity:
                    return -1
                pairs[number].first = min(one, other)
                pairs[number].second = max(one, other)
                number += 1
    return number


@loop
def sort_again(count: i64, boxes: Rows[Extent], order: iptr) -> None:
    """Insertion: quick where little changed."""
    for i in range(1, count):
        one = order[i]
        left = boxes[one].low[0]
        j = i - 1
        while j >= 0:
            if boxes[order[j]].low[0] <= left:
                break
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = one


@loop
def overlap(a: Extent, b: Extent) -> i64:
    """1 if two boxes that overlap along x do so along y and z too."""
    if a.low[1] > b.high[1] or b.low[1] > a.high[1]:
        return 0
    return 1 if a.low[2] <= b.high[2] and b.low[2] <= a.high[2] else 0


@loop
def candidates(e: Entries, world: World) -> i64:
    """Pairs that may come near within the step; GOOD, or CROWDED.

    A pair is of two colliders, or of (−1 − plane) and a ball or point. Balls come first among
    colliders, then boxes, then points, which touch planes only.
    """
    wide = world.balls + world.boxes
    for i in range(world.balls):
        swept_box(world.collider[i], world.extent[i], world)
    for i in range(world.balls, wide):
        swept_solid(i, world.extent[i], world)
    count = sweep_and_prune(wide, world.extent, world.order, world.capacity, world.near)
    world.candidates = 0
    if count < 0:
        return CROWDED
    for c in range(count):
        first = world.near[c].first
        second = world.near[c].second
        if law_of(first, second, world) >= 0 and come_near(first, second, world) == 0:
            return CROWDED
    for i in range(world.colliders):
        if i < world.balls or i >= wide:
            for j in range(world.planes):
                if law_of(-1 - j, i, world) >= 0 and plane_is_near(e, i, j, world) == 1:
                    plane = world.plane[j].floats
                    if noted(BALL_PLANE, -1 - j, i, plane, 4, world) == 0:
                        return CROWDED
        elif is_of_hull(i, world) == 1 and world.form[i - world.balls] < 0:
            for j in range(world.planes):
                if law_of(-1 - j, i, world) >= 0 and drum_on_plane(i, j, world) == 0:
                    return CROWDED
    return GOOD


@loop
def drum_on_plane(i: i64, j: i64, world: World) -> i64:
    """Adds the points at which a cylinder may touch a plane; 0 where there is no room.

    Where it lies they are the ends of its axis, about which it rolls; elsewhere points of the rim
    that looks at the plane, the lowest of them first.
    """
    plane = world.plane[j]
    extent = world.extent[i]
    lowest = -plane.d - world.margin
    for a in range(3):
        lowest += min(plane.normal[a] * extent.low[a], plane.normal[a] * extent.high[a])
    if lowest > 0.0:
        return 1
    box = world.box[0]
    ask = world.ask[0]
    box_at(i, world.mid, box, world)
    for a in range(3):
        ask.direction[a] = -along(box, a, plane.normal)
    ask.owner = 1
    ask.reach = 0.0
    count = cylinder_end(Bodies(world.forms).body[i - world.balls], ask.direction, ask)
    for m in range(count):
        c = added(BALL_PLANE, -1 - j, i, m, world)
        if c < 0:
            return 0
        for a in range(3):
            world.point[a] = box.center[a]
            for b in range(3):
                world.point[a] += box.axes[a, b] * ask.polygon[m, b]
        candidate = world.candidate[c]
        for a in range(4):
            candidate.one[a] = plane.floats[a]
        on_body(i, world.point, 0, candidate.other, world)
        candidate.other[3] = ask.reach
    return 1


@loop
def law_of(first: i64, second: i64, world: World) -> i64:
    """The law of a pair, by the classes of both; −1 where they pass through each other."""
    if first >= 0:
        one = world.collider[first].surface
    else:
        one = world.plane[-1 - first].surface
    return int(world.law_between[one, world.collider[second].surface])


@loop
def come_near(first: i64, second: i64, world: World) -> i64:
    """Candidates of two colliders, the smaller number first; 0 where there is no room."""
    if second < world.balls:
        return int(noted(BALL_BALL, first, second, world.collider[first].floats, 4, world))
    is_hull = is_of_hull(second, world)
    if first < world.balls:
        if is_hull == 1:
            return int(ball_on_hull(first, second, world))
        solid = world.solid[second - world.balls]
        return int(noted(BALL_BOX, second, first, solid.floats, 10, world))
    if is_hull == 1 or is_of_hull(first, world) == 1:
        return int(hulls_meet(first, second, world))
    return int(meet(first, second, world))


@loop
def is_of_hull(i: i64, world: World) -> i64:
    """1 if a collider is a hull or a cylinder."""
    k = i - world.balls
    if world.hulls == 0 or k < 0 or k >= world.boxes:
        return 0
    return 1 if world.form[k] != 0 else 0


@loop
def hulls_meet(first: i64, second: i64, world: World) -> i64:
    """Adds the points at which two hulls, or a hull and a box, may touch; 0 without room."""
    a = world.box[0]
    b = world.box[1]
    ask = world.ask[0]
    box_at(first, world.mid, a, world)
    box_at(second, world.mid, b, world)
    for i in range(3):
        ask.p[i] = 0.0
        for j in range(3):
            ask.p[i] += b.axes[j, i] * (a.center[j] - b.center[j])
            ask.R[i, j] = 0.0
            for k in range(3):
                ask.R[i, j] += b.axes[k, i] * a.axes[k, j]
    touch_points(first - world.balls, second - world.balls, Bodies(world.forms), ask)
    one = second if ask.owner == 1 else first
    other = first if ask.owner == 1 else second
    for m in range(ask.points):
        c = added(POINT_FACE, one, other, m, world)
        if c < 0:
            return 0
        place_plane(one, b, m, world)
        candidate = world.candidate[c]
        for i in range(4):
            candidate.one[i] = world.plane_of_hull[i]
        box = a if ask.owner == 1 else b
        x = ask.first_points[m] if ask.owner == 1 else ask.second_points[m]
        for i in range(3):
            world.point[i] = box.center[i]
            for j in range(3):
                world.point[i] += box.axes[i, j] * x[j]
        on_body(other, world.point, 0, candidate.other, world)
        candidate.other[3] = ask.reach if ask.owner == 1 else ask.reach_second
    return 1


@loop
def place_plane(one: i64, b: Oriented, m: i64, world: World) -> None:
    """The plane of a point on its body: n outwards and its offset, from the axes of a box b."""
    ask = world.ask[0]
    n = world.normal
    plane = world.plane_of_hull
    sign = 1.0 if ask.owner == 1 else -1.0
    near = world.box[1 if ask.owner == 1 else 0]
    x = ask.second_points[m] if ask.owner == 1 else ask.first_points[m]
    pose = world.mid[world.collider[one].body]
    height = 0.0
    for i in range(3):
        n[i] = 0.0
        for j in range(3):
            n[i] += sign * b.axes[i, j] * ask.normal[j]
    for i in range(3):
        place = near.center[i] - pose.place[i]
        for j in range(3):
            place += near.axes[i, j] * x[j]
        height += n[i] * place
    on_body(one, n, 1, plane, world)
    plane[3] = height


@loop
def ball_on_hull(ball: i64, hull: i64, world: World) -> i64:
    """Adds the point at which a ball may touch a hull; 0 where there is no room."""
    b = world.box[1]
    ask = world.ask[0]
    box_at(hull, world.mid, b, world)
    center(world.mid[world.collider[ball].body], world.collider[ball], world.point, world)
    for i in range(3):
        ask.p[i] = 0.0
        for j in range(3):
            ask.p[i] += b.axes[j, i] * (world.point[j] - b.center[j])
            ask.R[i, j] = 1.0 if i == j else 0.0
    touch_points(world.boxes, hull - world.balls, Bodies(world.forms), ask)
    place_plane(hull, b, 0, world)
    return int(noted(POINT_FACE, hull, ball, world.plane_of_hull, 4, world))


@loop
def noted(kind: i64, first: i64, second: i64, what: ptr, size: i64, world: World) -> i64:
    """One candidate of a ball or point with something else; 0 where there is no room."""
    c = added(kind, first, second, 0, world)
    if c < 0:
        return 0
    candidate = world.candidate[c]
    ball = world.collider[second]
    for i in range(size):
        candidate.one[i] = what[i]
    for i in range(3):
        candidate.other[i] = ball.center[i]
    candidate.other[3] = ball.radius
    return 1


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
def plane_is_near(e: Entries, i: i64, j: i64, world: World) -> i64:
    """1 if a ball or point is within the margin of a plane at either end of the free step."""
    ball = world.collider[i].floats
    plane = world.plane[j].floats
    body = world.collider[i].body
    out = world.out
    pairs = PairEntries(e.others)
    pose = world.pose[body].floats
    pairs.ball_plane_gap(0.0, pose, pose, ball, plane, ball, out, out)
    before = out[0]
    pose = world.end[body].floats
    pairs.ball_plane_gap(0.0, pose, pose, ball, plane, ball, out, out)
    return 1 if min(before, out[0]) <= world.margin else 0
