"""Candidates for contact: what may come near within a step, by the broad phase, with its features.

Broad phase: which boxes overlap, by sweeping over them in the order of their left sides.

Public names: candidates, law_of, sweep_and_prune. Source: docs/theory/time_stepping.md; COH95 §3
(sort and sweep with coherence between steps).
"""

from __future__ import annotations

from liaison.program.loops.language import flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Rows

from .bodies import rotation
from .boxes import added, box_at, meet
from .layout import (
    BALL_BALL,
    BALL_BOX,
    BALL_PLANE,
    CROWDED,
    GOOD,
    Collider,
    Entries,
    Extent,
    Pair,
    Pose,
    World,
)


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
    found = 0
    for i in range(count):
        one = order[i]
        box = boxes[one]
        for j in range(i + 1, count):
            other = order[j]
            if boxes[other].low[0] > box.high[0]:
                break
            if box.body != boxes[other].body and overlap(box, boxes[other]) == 1:
                if found >= capacity:
                    return -1
                pairs[found].first = min(one, other)
                pairs[found].second = max(one, other)
                found += 1
    return found


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
    found = sweep_and_prune(wide, world.extent, world.order, world.capacity, world.near)
    world.candidates = 0
    if found < 0:
        return CROWDED
    for c in range(found):
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
    return GOOD


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
    if first < world.balls:
        solid = world.solid[second - world.balls]
        return int(noted(BALL_BOX, second, first, solid.floats, 10, world))
    return int(meet(first, second, world))


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
    pose = world.pose[body].floats
    e.ball_plane_gap(0.0, pose, pose, ball, plane, ball, out, out)
    before = out[0]
    pose = world.end[body].floats
    e.ball_plane_gap(0.0, pose, pose, ball, plane, ball, out, out)
    return 1 if min(before, out[0]) <= world.margin else 0
