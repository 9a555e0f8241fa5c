"""What may touch within a step: pairs that are near, places of them, colors of contacts.

Every unit (a ball, a box, a point) has slots for the places of the pairs it is the first of. Pairs
of balls about their centers have one, as balls and points with planes have; others have up to
`POINTS`, of which the narrow phase fills some. A place keeps its slot's key from step to step, and
with it the impulse to begin with.

Public names: find_pairs, body_of, overlap_of_balls, height, forget.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.scene.candidates import overlap as overlap_of
from liaison.contacts.scene.candidates import plane_is_near, swept_box, swept_solid
from liaison.contacts.scene.layout import World
from liaison.contacts.scene.terrain import field_extents
from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.layout import CROWDED, GOOD, Entries

from .layout import BITS, COLORS, POINTS, Block, barrier
from .narrow import CORNERS, places_of


@loop
def find_pairs(me: i64, w: Block) -> i64:
    """What may touch within the step, by colors; GOOD, or CROWDED."""
    if w.general == 1:
        find_extents(me, w)
    i = me
    while i < w.units:
        count_near(i, me, w)
        i += w.lanes
    barrier()
    if me == 0:
        begin_lists(w)
    barrier()
    if w.slots_used > w.room:
        return CROWDED
    find_places(me, w)
    barrier()
    if me == 0:
        color_pairs(w)
    barrier()
    if w.pairs > w.most_pairs:
        return CROWDED
    p = me
    while p < w.slots_used:
        if w.general == 0 or w.kind[p] >= 0:
            take_pair(p, w)
        p += w.lanes
    barrier()
    return GOOD


@loop
def find_places(me: i64, w: Block) -> None:
    """Places of all pairs that are near, in their slots, with the impulses to begin with."""
    i = me
    while i < w.units:
        if w.general == 1:
            near_units(i, 1, me, w)
        else:
            near(i, 1, w)
        i += w.lanes
    barrier()
    if w.general == 1:
        i = me
        while i < w.nears:
            places_of(i, me, w)
            i += w.lanes
        barrier()
    i = me
    while i < w.units:
        for p in range(w.first[i], w.first[i + 1]):
            take_guess(i, p, w)
        i += w.lanes


@loop
def find_extents(me: i64, w: Block) -> None:
    """Boxes around what touches other bodies, during the step."""
    world = World(at(w.lane_area, me * w.lane_words))
    i = me
    while i < w.wide:
        if i < world.balls:
            swept_box(world.collider[i], world.extent[i], world)
        else:
            swept_solid(i, world.extent[i], world)
        i += w.lanes
    if me == 0 and w.terrains > 0:
        field_extents(world)
    barrier()


@loop
def count_near(i: i64, me: i64, w: Block) -> None:
    """How many slots and pairs a unit has, into the places where lists will begin."""
    if w.general == 1:
        w.near_first[i + 1] = 0
        w.first[i + 1] = near_units(i, 0, me, w)
    else:
        w.first[i + 1] = near(i, 0, w)


@loop
def begin_lists(w: Block) -> None:
    """Where the lists of units begin."""
    w.first[0] = 0
    for j in range(w.units):
        w.first[j + 1] += w.first[j]
    w.slots_used = w.first[w.units]
    w.nears = 0
    if w.general == 1:
        w.near_first[0] = 0
        for j in range(w.units):
            w.near_first[j + 1] += w.near_first[j]
        w.nears = w.near_first[w.units]


@loop
def near(i: i64, is_noted: i64, w: Block) -> i64:
    """How many balls that follow a ball, and planes, may touch it; noted, if so."""
    count = 0
    n = w.bodies
    for d in range(1, n // 2 + 1):
        if 2 * d < n or i < d:
            j = body_of(i, d, w)
            if w.law_between[w.surface[i], w.surface[j]] >= 0 and overlap_of_balls(i, j, w) == 1:
                if is_noted == 1:
                    w.key[w.first[i] + count] = d
                count += 1
    for j in range(w.planes):
        if w.law_between[w.surface[i], w.plane_surface[j]] >= 0:
            before = height(flat(w.pose), i, j, w)
            if min(before, height(flat(w.end), i, j, w)) <= w.margin:
                if is_noted == 1:
                    w.key[w.first[i] + count] = n + j
                count += 1
    return count


@loop
def near_units(i: i64, is_noted: i64, me: i64, w: Block) -> i64:
    """How many slots the pairs of a unit need; noted, if so."""
    count = 0
    number = 0
    world = World(at(w.lane_area, me * w.lane_words))
    n = w.wide
    if i < n:
        for d in range(1, n // 2 + 1):
            if 2 * d < n or i < d:
                j = unit_of(i, d, w)
                if are_near(i, j, world, w) == 1:
                    places = 1 if min(i, j) < world.balls else POINTS
                    if is_noted == 1:
                        note_near(i, count, number, d, places, w)
                    count += places
                    number += 1
    for j in range(w.planes):
        places = places_on(i, j, world, w)
        if places > 0:
            if is_noted == 1:
                note_near(i, count, number, n + j, places, w)
            count += places
            number += 1
    if is_noted == 0:
        w.near_first[i + 1] = number
    return count


@loop
def note_near(i: i64, count: i64, number: i64, partner: i64, places: i64, w: Block) -> None:
    """A pair that is near, and its slots, empty yet."""
    p = w.first[i] + count
    n = w.near_first[i] + number
    w.near_at[n] = p
    w.near_unit[n] = i
    for m in range(places):
        w.key[p + m] = CORNERS * partner
        w.kind[p + m] = -1


@loop
def are_near(i: i64, j: i64, world: World, w: Block) -> i64:
    """1 if two units of different bodies come near within the step."""
    if w.body[i] == w.body[j] or w.law_between[w.surface[i], w.surface[j]] < 0:
        return 0
    a = world.extent[i]
    b = world.extent[j]
    if a.low[0] > b.high[0] or b.low[0] > a.high[0]:
        return 0
    return int(overlap_of(a, b))


@loop
def places_on(i: i64, j: i64, world: World, w: Block) -> i64:
    """How many places a unit may have on a plane or height field: 0 where it is not near."""
    if w.law_between[w.surface[i], w.plane_surface[j]] < 0:
        return 0
    if j >= w.planes - w.terrains:
        if i >= w.wide:
            return 0
        a = world.extent[i]
        b = world.extent[w.wide + j - (w.planes - w.terrains)]
        if a.low[0] > b.high[0] or b.low[0] > a.high[0]:
            return 0
        return POINTS * int(overlap_of(a, b))
    if i < world.balls or i >= w.wide:
        # entries are known by their names: where they lie counts for nothing
        return int(plane_is_near(Entries(w.ints), i, j, world))
    if world.hulls == 0 or world.form[i - world.balls] >= 0:
        return 0  # by their corners
    lowest = -w.plane[j, 3] - w.margin
    for axis in range(3):
        n = w.plane[j, axis]
        lowest += min(n * world.extent[i].low[axis], n * world.extent[i].high[axis])
    return POINTS if lowest <= 0.0 else 0


@loop
def body_of(i: i64, key: i64, w: Block) -> i64:
    """The other body of a pair of balls, or −1 − plane."""
    if key >= w.bodies:
        return w.bodies - key - 1
    j = i + key
    return j - w.bodies if j >= w.bodies else j


@loop
def unit_of(i: i64, d: i64, w: Block) -> i64:
    """The unit that follows another one so far on, round and round."""
    j = i + d
    return j - w.wide if j >= w.wide else j


@loop
def overlap_of_balls(i: i64, j: i64, w: Block) -> i64:
    """1 if the boxes around two balls during the step overlap."""
    wide = w.scale[i] + w.scale[j] + 2.0 * w.margin
    for a in range(3):
        if min(w.pose[i, a], w.end[i, a]) - max(w.pose[j, a], w.end[j, a]) > wide:
            return 0
        if min(w.pose[j, a], w.end[j, a]) - max(w.pose[i, a], w.end[i, a]) > wide:
            return 0
    return 1


@loop
def height(poses: ptr, i: i64, j: i64, w: Block) -> f64:
    """The gap between a ball and a plane."""
    n = w.plane[j]
    x = poses[7 * i :]
    return float(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - n[3] - w.scale[i])


@loop
def take_guess(i: i64, p: i64, w: Block) -> None:
    """The impulse that a place had in the step before; the bodies of a pair of balls."""
    old = -1
    key = w.key[p]
    for k in range(w.old_first[i], w.old_first[i + 1]):
        if w.old_key[k] == key:
            old = k
    for r in range(4 + 3 * w.has_turning):
        w.guess[p, r] = w.old_guess[old, r] if old >= 0 else 0.0
    w.color[p] = i


@loop
def color_pairs(w: Block) -> None:
    """Colors of places in their order, the first that neither body has yet; where each lies."""
    for c in range(COLORS + 2):
        w.color_first[c] = 0
    for i in range(w.bodies):
        w.mask[i, 0] = 0
        w.mask[i, 1] = 0
    for p in range(w.slots_used):
        w.spot[p] = w.color[p]
        if w.general == 0 or w.kind[p] >= 0:
            one = w.slot_one[p] if w.general == 1 else body_of(w.color[p], w.key[p], w)
            other = w.slot_other[p] if w.general == 1 else w.color[p]
            c = free_color(one, other, w)
            w.color[p] = c
            w.color_first[c] += 1
    begin = 0
    w.colors = 0
    for c in range(COLORS + 1):
        count = w.color_first[c]
        w.color_first[c] = begin
        begin += count
        if count > 0:
            w.colors = c + 1
    w.pairs = begin
    for p in range(w.slots_used):
        if w.general == 0 or w.kind[p] >= 0:
            c = w.color[p]
            w.color[p] = w.spot[p]  # the unit, again
            w.spot[p] = w.color_first[c]
            w.color_first[c] += 1
    # each first was moved to the next one
    for back in range(COLORS + 1):
        c = COLORS + 1 - back
        w.color_first[c] = w.color_first[c - 1]
    w.color_first[0] = 0


@loop
def free_color(one: i64, other: i64, w: Block) -> i64:
    """The first color that neither body has, which both get."""
    for half in range(2):
        taken = w.mask[other, half]
        if one >= 0:
            taken = taken | w.mask[one, half]
        if taken != (1 << BITS) - 1:
            c = 0
            while (taken >> c) & 1 == 1:
                c += 1
            w.mask[other, half] = w.mask[other, half] | (1 << c)
            if one >= 0:
                w.mask[one, half] = w.mask[one, half] | (1 << c)
            return half * BITS + c
    return COLORS


@loop
def take_pair(p: i64, w: Block) -> None:
    """A place among contacts."""
    k = w.spot[p]
    w.pair[k] = p
    w.active[k] = 0
    i = w.color[p]
    law = 0
    if w.general == 1:
        w.one[k] = w.slot_one[p]
        w.other[k] = w.slot_other[p]
        law = w.slot_law[p]
    else:
        one = body_of(i, w.key[p], w)
        w.one[k] = one
        w.other[k] = i
        along = w.light[i]
        across = w.light[i] + w.quick[i]
        if one >= 0:
            along += w.light[one]
            across += w.light[one] + w.quick[one]
            law = w.law_between[w.surface[i], w.surface[one]]
        else:
            law = w.law_between[w.surface[i], w.plane_surface[-1 - one]]
        w.mobility[0, k] = along
        w.mobility[1, k] = across
    w.law[k] = law
    w.friction[k] = w.friction_of[law, 0]
    for r in range(4):
        w.force[r, k] = w.guess[p, r]
    if w.has_turning == 1:
        for r in range(3):
            w.moment[r, k] = w.guess[p, 4 + r]


@loop
def forget(me: i64, w: Block) -> None:
    """No impulses of a step before."""
    i = me
    while i <= w.units:
        w.old_first[i] = 0
        i += w.lanes
    barrier()
