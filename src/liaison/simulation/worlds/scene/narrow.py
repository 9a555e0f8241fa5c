"""The narrow phase of a world: places of two shapes, by the loops of scenes on a processor.

Each thread takes a pair. Its candidates come into the workspace of the thread, and from there into
the slots of the pair; features of a place are fixed on the bodies for the rest of the step.

Public names: begin_tables, places_of, look_late, take_late, gap_at, rows_at, CORNERS, THROWN,
COMES_LATE, PUSHED, PUSHED_LATE.

Source: docs/theory/time_stepping.md; docs/theory/convex.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.convex.layout import Bodies
from liaison.contacts.scene.candidates import come_near, drum_on_plane, noted
from liaison.contacts.scene.layout import (
    BALL_BALL,
    BALL_BOX,
    BALL_PLANE,
    EDGE_EDGE,
    POINT_FACE,
    Candidate,
    PairEntries,
    World,
)
from liaison.contacts.scene.step import HALF, LATE, MOST_CORNERS
from liaison.contacts.scene.terrain import on_field
from liaison.program.loops.language import at, f64, flat, i64, loop, ptr

from .layout import Block, barrier, most_of

CORNERS, FLIPPED = 32, 16
"""Keys of the places of one pair, and what is added where the plane is on the later unit."""

THROWN, COMES_LATE, PUSHED, PUSHED_LATE = 0, 1, 2, 3
"""What joins: what impulses throw at others; what is inside at the end of the step alone; the same
of what is pushed out of others."""


@loop
def begin_tables(me: i64, w: Block) -> None:
    """The tables that all threads share, and the world of each, whose workspace is its own."""
    shared = World(w.tables)
    k = me
    while k < w.wholes:
        shared.ints[w.whole_at[k]] = w.whole[k]
        k += w.lanes
    k = me
    while k < w.reals:
        shared.floats[w.real_at[k]] = w.real[k]
        k += w.lanes
    barrier()
    own = World(at(w.lane_area, me * w.lane_words))
    for s in range(World.header):
        own.floats[s] = shared.floats[s]
    for a in range(w.lane_arrays):
        own.ints[w.lane_at[a]] = w.lane_head[a] - me * w.lane_words * w.lane_shift[a]
    for s in range(w.forms_words):
        # words of any kind: as they are
        Bodies(own.forms).floats[s] = Bodies(shared.forms).floats[s]
    barrier()


@loop
def places_of(n: i64, me: i64, w: Block) -> None:
    """The places of a pair that is near, into its slots."""
    world = World(at(w.lane_area, me * w.lane_words))
    p = w.near_at[n]
    partner = w.key[p] // CORNERS
    find_places(w.near_unit[n], partner, world, w)
    for c in range(world.candidates):
        take_place(p + c, partner, world.candidate[c], world, w)


@loop
def find_places(i: i64, partner: i64, world: World, w: Block) -> None:
    """Candidates of a unit and its partner."""
    world.candidates = 0
    world.h = w.h
    if partner < w.wide:
        j = i + partner
        j = j - w.wide if j >= w.wide else j
        come_near(min(i, j), max(i, j), world)
    else:
        places_on_ground(i, partner - w.wide, world, w)


@loop
def late_places(n: i64, keeps: i64, me: i64, w: Block) -> i64:
    """Places of a pair that are inside at the end of the step alone, into slots it has left.

    As `join_late` of a scene. How many; where they are not kept they are looked for alone.
    """
    world = World(at(w.lane_area, me * w.lane_words))
    i = w.near_unit[n]
    first = w.near_at[n]
    partner = w.key[first] // CORNERS
    last = last_slot(n, w)
    begin = first
    known = 0.0
    while begin < last and w.kind[begin] >= 0:
        known = max(known, -end_gap(begin, me, w))
        begin += 1
    swap_ends(world, w)
    find_places(i, partner, world, w)
    swap_ends(world, w)
    p = begin
    for c in range(world.candidates):
        if p < last:
            take_place(p, partner, world.candidate[c], world, w)
            depth = -end_gap(p, me, w)
            if depth > w.touch + known and depth <= HALF * thinnest(i, partner, w):
                corner = w.key[p] % FLIPPED
                w.key[p] = w.key[p] - corner + min(LATE + p - first, MOST_CORNERS)
                p += 1
            else:
                empty(p, partner, w)
    if keeps == 0:
        for k in range(begin, p):
            empty(k, partner, w)
    return int(p - begin)


@loop
def end_gap(p: i64, me: i64, w: Block) -> f64:
    """The gap of the place in a slot at the end of the step."""
    return float(slot_gap(p, w.slot_one[p], w.slot_other[p], me, flat(w.end), w))


@loop
def thinnest(i: i64, partner: i64, w: Block) -> f64:
    """What a unit, and its partner if it is one, are thicker than."""
    thin = w.thin[i]
    if partner < w.wide:
        j = i + partner
        thin = min(thin, w.thin[j - w.wide if j >= w.wide else j])
    return float(thin)


@loop
def kept_places(n: i64, w: Block) -> None:
    """Places of that kind that a pair had before pairs were found anew."""
    i = w.near_unit[n]
    p = w.near_at[n]
    partner = w.key[p] // CORNERS
    last = last_slot(n, w)
    while p < last and w.kind[p] >= 0:
        p += 1
    for k in range(w.was_first[i], w.was_first[i + 1]):
        is_late = 1 if w.was_kind[k] >= 0 and w.was_key[k] % FLIPPED >= LATE else 0
        if is_late == 1 and w.was_key[k] // CORNERS == partner and p < last:
            w.key[p] = w.was_key[k]
            w.kind[p] = w.was_kind[k]
            w.slot_one[p] = w.was_one[k]
            w.slot_other[p] = w.was_other[k]
            w.slot_law[p] = w.was_law[k]
            for a in range(16):
                w.feature[p, a] = w.was_feature[k, a]
            p += 1


@loop
def last_slot(n: i64, w: Block) -> i64:
    """The slot behind those of a pair that is near."""
    i = w.near_unit[n]
    return int(w.near_at[n + 1] if n + 1 < w.near_first[i + 1] else w.first[i + 1])


@loop
def empty(p: i64, partner: i64, w: Block) -> None:
    """No place in a slot."""
    w.key[p] = CORNERS * partner
    w.kind[p] = -1


@loop
def swap_ends(world: World, w: Block) -> None:
    """The poses midway in the place of those at the end, for one thread, and back."""
    words = world.ints
    x = words[w.mid_at]
    words[w.mid_at] = words[w.end_at]
    words[w.end_at] = x


@loop
def places_on_ground(i: i64, j: i64, world: World, w: Block) -> None:
    """The same with a plane, or a height field."""
    flat_planes = w.planes - w.terrains
    if j >= flat_planes:
        if w.terrains > 0:
            on_field(i, j - flat_planes, world)
    elif i < world.balls or i >= w.wide:
        noted(BALL_PLANE, -1 - j, i, world.plane[j].floats, 4, world)
    else:
        drum_on_plane(i, j, world)


@loop
def take_place(p: i64, partner: i64, candidate: Candidate, world: World, w: Block) -> None:
    """A place in its slot."""
    first = candidate.first
    second = candidate.second
    w.kind[p] = candidate.kind
    w.key[p] = CORNERS * partner + (FLIPPED if first > second else 0) + candidate.corner
    w.slot_other[p] = w.body[second]
    if first >= 0:
        w.slot_one[p] = w.body[first]
        w.slot_law[p] = w.law_between[w.surface[first], w.surface[second]]
    else:
        w.slot_one[p] = first
        w.slot_law[p] = w.law_between[w.surface[second], w.plane_surface[-1 - first]]
    for a in range(10):
        w.feature[p, a] = candidate.one[a]
    for a in range(6):
        w.feature[p, 10 + a] = candidate.other[a]


@loop
def gap_at(k: i64, me: i64, poses: ptr, w: Block) -> f64:
    """The gap of a contact, bodies being at `poses`."""
    return float(slot_gap(w.pair[k], w.one[k], w.other[k], me, poses, w))


@loop
def slot_gap(p: i64, first: i64, second: i64, me: i64, poses: ptr, w: Block) -> f64:
    """The gap of the place in a slot, of two bodies."""
    # entries are known by their names: where they lie counts for nothing
    pairs = PairEntries(w.ints)
    out = World(at(w.lane_area, me * w.lane_words)).out
    one = w.feature[p]
    u = one[10:]
    v = poses[7 * second :]
    q = poses[7 * max(first, 0) :]
    kind = w.kind[p]
    if kind == BALL_BALL:
        pairs.ball_ball_gap(0.0, q, v, u, one, one, out, out)
    elif kind == BALL_PLANE:
        pairs.ball_plane_gap(0.0, q, v, u, one, one, out, out)
    elif kind == BALL_BOX:
        pairs.ball_box_gap(0.0, q, v, u, one, one, out, out)
    elif kind == POINT_FACE:
        pairs.point_face_gap(0.0, q, v, u, one, one, out, out)
    elif kind == EDGE_EDGE:
        pairs.edge_edge_gap(0.0, q, v, u, one, one, out, out)
    else:
        pairs.face_point_gap(0.0, q, v, u, one, one, out, out)
    return float(out[0])


@loop
def rows_at(k: i64, poses: ptr, out: ptr, w: Block) -> None:
    """The gap and the rows of a contact, bodies being at `poses`."""
    pairs = PairEntries(w.ints)
    p = w.pair[k]
    one = w.feature[p]
    u = one[10:]
    v = poses[7 * w.other[k] :]
    q = poses[7 * max(w.one[k], 0) :]
    kind = w.kind[p]
    if kind == BALL_BALL:
        pairs.ball_ball(0.0, q, v, u, one, one, out, out)
    elif kind == BALL_PLANE:
        pairs.ball_plane(0.0, q, v, u, one, one, out, out)
    elif kind == BALL_BOX:
        pairs.ball_box(0.0, q, v, u, one, one, out, out)
    elif kind == POINT_FACE:
        pairs.point_face(0.0, q, v, u, one, one, out, out)
    elif kind == EDGE_EDGE:
        pairs.edge_edge(0.0, q, v, u, one, one, out, out)
    else:
        pairs.face_point(0.0, q, v, u, one, one, out, out)


@loop
def may_be_late(n: i64, w: Block) -> i64:
    """1 if units of a pair go far enough from the middle of the step for other places at its end.

    Not so far that these may be on the other side.
    """
    if (w.cause != COMES_LATE and w.cause != PUSHED_LATE) or last_slot(n, w) - w.near_at[n] < 2:
        return 0
    i = w.near_unit[n]
    partner = w.key[w.near_at[n]] // CORNERS
    way = late_way(i, w)
    if partner < w.wide:
        j = i + partner
        way += late_way(j - w.wide if j >= w.wide else j, w)
    return 1 if way > w.touch and way <= thinnest(i, partner, w) else 0


@loop
def late_way(i: i64, w: Block) -> f64:
    """How far a unit goes from the middle of the step to its end; far enough if pushed."""
    if w.cause == PUSHED_LATE:
        return float(2.0 * w.touch)
    b = w.body[i]
    way = 0.0
    turn = 0.0
    for j in range(3):
        step = w.end[b, j] - w.mid[b, j]
        way += step * step
        turn += w.next[b, j] * w.next[b, j]
    return float(sqrt(way) + 0.5 * w.h * w.lever[i] * sqrt(turn))


@loop
def look_late(me: i64, w: Block) -> None:
    """Whether some pair has such places: `has_left`."""
    joins = 0.0
    n = me
    while n < w.nears:
        if may_be_late(n, w) == 1 and late_places(n, 0, me, w) > 0:
            joins = 1.0
        n += w.lanes
    w.has_left = most_of(joins, me, w)


@loop
def take_late(n: i64, me: i64, w: Block) -> None:
    """Those that a pair had, and those that it has now, into its slots."""
    kept_places(n, w)
    if may_be_late(n, w) == 1:
        late_places(n, 1, me, w)
