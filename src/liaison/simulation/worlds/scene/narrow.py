"""The narrow phase of a world: places of two shapes, by the loops of scenes on a processor.

Each thread takes a pair. Its candidates come into the workspace of the thread, and from there into
the slots of the pair; features of a place are fixed on the bodies for the rest of the step.

Public names: begin_tables, places_of, gap_at, rows_at, CORNERS.

Source: docs/theory/time_stepping.md; docs/theory/convex.md.
"""

from __future__ import annotations

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
from liaison.contacts.scene.terrain import on_field
from liaison.program.loops.language import at, f64, i64, loop, ptr

from .layout import Block, barrier

CORNERS, FLIPPED = 32, 16
"""Keys of the places of one pair, and what is added where the plane is on the later unit."""


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
    i = w.near_unit[n]
    p = w.near_at[n]
    partner = w.key[p] // CORNERS
    world.candidates = 0
    world.h = w.h
    if partner < w.wide:
        j = i + partner
        j = j - w.wide if j >= w.wide else j
        come_near(min(i, j), max(i, j), world)
    else:
        places_on_ground(i, partner - w.wide, world, w)
    for c in range(world.candidates):
        take_place(p + c, partner, world.candidate[c], world, w)


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
    # entries are known by their names: where they lie counts for nothing
    pairs = PairEntries(w.ints)
    out = World(at(w.lane_area, me * w.lane_words)).out
    p = w.pair[k]
    one = w.feature[p]
    u = one[10:]
    v = poses[7 * w.other[k] :]
    q = poses[7 * max(w.one[k], 0) :]
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
