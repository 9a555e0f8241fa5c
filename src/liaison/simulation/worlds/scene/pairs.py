"""What may touch within a step: pairs that are near, places of them, colors of contacts.

Every unit (a ball, a box, a point) has slots for the places of the pairs it is the first of. Pairs
of balls about their centers have one, as balls and points with planes have; others have up to
`SLOTS`, of which the narrow phase fills some. A place keeps its slot's key from step to step, and
with it the impulse to begin with.

What impulses throw farther than it would have gone may meet others: pairs are found anew then, with
those there are among them, and what counted goes on with its impulses.

Public names: find_pairs, find_extents, grow_extents, join, note_slots, body_of, unit_of,
meet, height, forget.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.boxes import LEFT, grown_box, overlap, swept_box, swept_solid
from liaison.contacts.scene.candidates import plane_is_near
from liaison.contacts.scene.layout import World
from liaison.contacts.scene.terrain import field_extents
from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.program.loops.records import words_of
from liaison.simulation.steps.layout import CROWDED, GOOD, Entries

from .layout import (
    BITS,
    COLORS,
    SHARED,
    SLOTS,
    Block,
    Paint,
    Reaches,
    barrier,
    is_acquired,
    most_of,
    release,
    shared,
)
from .narrow import (
    COMES_LATE,
    CORNERS,
    PUSHED,
    PUSHED_LATE,
    THROWN,
    look_late,
    places_of,
    take_late,
)

WARP = 32
"""Contacts of a color at least before it is full: as many as go at the same time."""

MANY_COLORS = 40
"""Colors that there shall be, at most, if bodies allow it."""

COUNTED, NOTED, ASKED = 0, 1, 2
"""What is done about slots: they are counted first, then noted; or counted alone."""

FREE, BESIDE, ANEW = 0, 1, 2
"""Pairs are those of the free motion; others are looked for beside those of slots; they join."""


@loop
def find_pairs(me: i64, w: Block) -> i64:
    """What may touch within the step, by colors; GOOD, or CROWDED."""
    status = GOOD
    if w.general == 0 and words_of(Reaches, w) <= SHARED and is_acquired() == 1:
        status = find_slots(me, w, Reaches(shared(), w))
        release()
    else:
        status = find_slots(me, w, Reaches(w.spare, w))
    if status != GOOD:
        return status
    take_places(me, w)
    barrier()
    if words_of(Paint, w) <= SHARED and is_acquired() == 1:
        color_pairs(me, w, Paint(shared(), w))
        release()
    else:
        color_pairs(me, w, Paint(w.spare, w))
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
def find_slots(me: i64, w: Block, reaches: Reaches) -> i64:
    """What is near, and the slots of its places; GOOD, or CROWDED."""
    if w.general == 1:
        if w.joining == FREE:
            find_extents(me, w)
        i = me
        while i < w.units:
            w.near_first[i + 1] = 0
            w.first[i + 1] = near_units(i, COUNTED, me, w)
            i += w.lanes
    else:
        find_reaches(me, w, reaches)
    barrier()
    if me == 0:
        begin_lists(w)
    barrier()
    if w.slots_used > w.room:
        return CROWDED
    if w.general == 1:
        i = me
        while i < w.units:
            near_units(i, NOTED, me, w)
            i += w.lanes
    else:
        list_near(me, w, reaches)
    barrier()
    return GOOD


@loop
def find_reaches(me: i64, w: Block, reaches: Reaches) -> None:
    """How far balls reach during the step, and how many slots each of them needs.

    Twice as far as a ball moves without impulses: others may push it.
    """
    i = me
    while i < w.bodies:
        for a in range(3):
            reaches.center[a, i] = w.pose[i, a]
        reaches.reach[i] = reach_of(i, w)
        i += w.lanes
    barrier()
    i = me
    while i < w.units:
        w.first[i + 1] = near(i, COUNTED, w, reaches)
        i += w.lanes


@loop
def reach_of(i: i64, w: Block) -> f64:
    """How far a ball reaches from where it begins; with impulses, if that is farther."""
    square = 0.0
    for a in range(3):
        way = w.end[i, a] - w.pose[i, a]
        square += way * way
    if w.joining != FREE:
        square = max(square, free_square(i, w))
    return float(w.scale[i] + w.margin + 2.0 * sqrt(square))


@loop
def free_square(i: i64, w: Block) -> f64:
    """The square of the way of a ball without impulses."""
    square = 0.0
    for a in range(3):
        way = w.h * (w.speed[i, 3 + a] + 0.5 * w.h * w.gravity[a])
        square += way * way
    return square


@loop
def list_near(me: i64, w: Block, reaches: Reaches) -> None:
    """What is near every ball, into its slots."""
    i = me
    while i < w.units:
        near(i, NOTED, w, reaches)
        i += w.lanes


@loop
def take_places(me: i64, w: Block) -> None:
    """Places of all pairs that are near, in their slots, with the impulses to begin with."""
    if w.general == 1:
        i = me
        while i < w.nears:
            places_of(i, me, w)
            if w.joining == ANEW:
                take_late(i, me, w)
            i += w.lanes
        barrier()
    i = me
    while i < w.units:
        for p in range(w.first[i], w.first[i + 1]):
            take_guess(i, p, w)
        i += w.lanes


@loop
def find_extents(me: i64, w: Block) -> None:
    """Reaches around what touches other bodies, during the step."""
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
def grow_extents(me: i64, w: Block) -> None:
    """The same around where impulses lead to as well; whether a body nearly left its own."""
    world = World(at(w.lane_area, me * w.lane_words))
    left = 0.0
    i = me
    while i < w.wide:
        left = max(left, float(grown_box(i, w.wide + w.terrains, world)))
        i += w.lanes
    w.has_left = most_of(left, me, w)


@loop
def begin_lists(w: Block) -> None:
    """Where the lists of units begin."""
    w.first[0] = 0
    total = 0
    for j in range(w.units):
        total += w.first[j + 1]
        w.first[j + 1] = total
    w.slots_used = total
    w.nears = 0
    if w.general == 1:
        w.near_first[0] = 0
        for j in range(w.units):
            w.near_first[j + 1] += w.near_first[j]
        w.nears = w.near_first[w.units]


@loop
def near(i: i64, is_noted: i64, w: Block, reaches: Reaches) -> i64:
    """How many balls that follow a ball, and planes, may touch it; noted, if so."""
    count = 0
    n = w.bodies
    for d in range(1, n // 2 + 1):
        if 2 * d < n or i < d:
            j = body_of(i, d, w)
            if meet(i, j, w, reaches) == 1 and w.law_between[w.surface[i], w.surface[j]] >= 0:
                if is_noted == NOTED:
                    w.key[w.first[i] + count] = d
                count += 1
    for j in range(w.planes):
        if w.law_between[w.surface[i], w.plane_surface[j]] >= 0:
            before = height(flat(w.pose), i, j, w)
            lowest = min(before, height(flat(w.end), i, j, w))
            if lowest <= w.margin or is_listed(i, n + j, w) == 1:
                if is_noted == NOTED:
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
                    places = SLOTS
                    if min(i, j) < world.balls:
                        # one midway, and one at the end
                        places = 1 if max(i, j) < world.balls else 2
                    if is_noted == NOTED:
                        note_near(i, count, number, d, places, w)
                    count += places
                    number += 1
    for j in range(w.planes):
        places = places_on(i, j, world, w)
        if places > 0:
            if is_noted == NOTED:
                note_near(i, count, number, n + j, places, w)
            count += places
            number += 1
    if is_noted == COUNTED:
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
    return int(overlap(a, b))


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
        return SLOTS * int(overlap(a, b))
    if i < world.balls or i >= w.wide:
        # entries are known by their names: where they lie counts for nothing
        if is_listed(i, w.wide + j, w) == 1:
            return 1
        return int(plane_is_near(Entries(w.ints), i, j, world))
    if world.hulls == 0 or world.form[i - world.balls] >= 0:
        return 0  # by their corners
    lowest = -w.plane[j, 3] - w.margin
    for axis in range(3):
        n = w.plane[j, axis]
        lowest += min(n * world.extent[i].low[axis], n * world.extent[i].high[axis])
    return SLOTS if lowest <= 0.0 else 0


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
def meet(i: i64, j: i64, w: Block, reaches: Reaches) -> i64:
    """1 if two balls may come near each other during the step."""
    x = reaches.center[0, i] - reaches.center[0, j]
    y = reaches.center[1, i] - reaches.center[1, j]
    t = reaches.center[2, i] - reaches.center[2, j]
    far = reaches.reach[i] + reaches.reach[j]
    return 1 if x * x + y * y + t * t <= far * far else 0


@loop
def height(poses: ptr, i: i64, j: i64, w: Block) -> f64:
    """The gap between a ball and a plane."""
    n = w.plane[j]
    x = poses[7 * i :]
    return float(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] - n[3] - w.scale[i])


@loop
def is_listed(i: i64, partner: i64, w: Block) -> i64:
    """1 if a unit has slots with a partner already, where others are thrown at it."""
    if w.joining == BESIDE:
        for p in range(w.first[i], w.first[i + 1]):
            if (w.key[p] // CORNERS if w.general == 1 else w.key[p]) == partner:
                return 1
    elif w.joining == ANEW:
        for p in range(w.was_first[i], w.was_first[i + 1]):
            if (w.was_key[p] // CORNERS if w.general == 1 else w.was_key[p]) == partner:
                return 1
    return 0


@loop
def old_slot(i: i64, key: i64, w: Block) -> i64:
    """The slot that a place of a unit had before; −1: none."""
    old = -1
    for k in range(w.old_first[i], w.old_first[i + 1]):
        if w.old_key[k] == key:
            old = k
    return old


@loop
def take_guess(i: i64, p: i64, w: Block) -> None:
    """The impulse that a place had in the step before; the bodies of a pair of balls."""
    old = old_slot(i, w.key[p], w)
    for r in range(4 + 3 * w.has_turning):
        w.guess[p, r] = w.old_guess[old, r] if old >= 0 else 0.0
    w.color[p] = i


@loop
def color_pairs(me: i64, w: Block, paint: Paint) -> None:
    """Colors of places in their order, the first that neither body has yet; where each lies.

    A color that as many contacts have as go at the same time is full.
    """
    i = me
    while i < w.bodies:
        paint.mask[i, 0] = 0
        paint.mask[i, 1] = 0
        i += w.lanes
    c = me
    while c <= COLORS + 1:
        paint.tally[c] = 0
        c += w.lanes
    p = me
    while p < w.slots_used:
        paint.ends[p] = ends_of(p, w)
        p += w.lanes
    barrier()
    if me == 0:
        choose_colors(w, paint)
    barrier()
    p = me
    while p < w.slots_used:
        if paint.ends[p] >= 0:
            c = paint.ends[p] % (COLORS + 1)
            w.spot[p] = w.color_first[c] + paint.ends[p] // (COLORS + 1)
        p += w.lanes
    barrier()


@loop
def ends_of(p: i64, w: Block) -> i64:
    """Both bodies of a slot as one number, the first counted from 1 on; −1 where it is empty."""
    one = 0
    other = w.color[p]
    if w.general == 1:
        if w.kind[p] < 0:
            return -1
        one = max(w.slot_one[p] + 1, 0)
        other = w.slot_other[p]
    else:
        one = max(body_of(other, w.key[p], w) + 1, 0)
    return int(other * (w.bodies + 1) + one)


@loop
def choose_colors(w: Block, paint: Paint) -> None:
    """The color of each slot and its place in it, where its bodies were; where colors begin."""
    paint.full[0] = 0
    paint.full[1] = 0
    room = WARP * (1 + w.slots_used // (WARP * MANY_COLORS))
    for p in range(w.slots_used):
        ends = paint.ends[p]
        if ends >= 0:
            c = free_color(ends % (w.bodies + 1) - 1, ends // (w.bodies + 1), w, paint)
            rank = paint.tally[c]
            paint.tally[c] = rank + 1
            paint.ends[p] = c + (COLORS + 1) * rank
            if rank + 1 == room and c < COLORS:
                half = c // BITS
                paint.full[half] = paint.full[half] | (1 << (c % BITS))
    begin = 0
    w.colors = 0
    for c in range(COLORS + 2):
        # the last is none: contacts end there
        w.color_first[c] = begin
        begin += paint.tally[c]
        if paint.tally[c] > 0:
            w.colors = c + 1
    w.pairs = begin


@loop
def free_color(one: i64, other: i64, w: Block, paint: Paint) -> i64:
    """The first color that neither body has, and that is not full, which both get."""
    for half in range(2):
        taken = paint.mask[other, half] | paint.full[half]
        if one >= 0:
            taken = taken | paint.mask[one, half]
        if taken != (1 << BITS) - 1:
            c = 0
            while (taken >> c) & 1 == 1:
                c += 1
            paint.mask[other, half] = paint.mask[other, half] | (1 << c)
            if one >= 0:
                paint.mask[one, half] = paint.mask[one, half] | (1 << c)
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
def note_slots(me: i64, w: Block) -> None:
    """Slots with the impulses of what counts, to begin with when pairs are found anew."""
    i = me
    while i < w.units:
        w.old_first[i + 1] = w.first[i + 1]
        i += w.lanes
    p = me
    while p < w.slots_used:
        # a slot without a place has no key
        w.old_key[p] = w.key[p] if w.general == 0 or w.kind[p] >= 0 else -1
        p += w.lanes
    k = me
    while k < w.pairs:
        for r in range(4):
            w.old_guess[w.pair[k], r] = w.force[r, k] if w.active[k] == 1 else 0.0
        for r in range(3 * w.has_turning):
            w.old_guess[w.pair[k], 4 + r] = w.moment[r, k] if w.active[k] == 1 else 0.0
        k += w.lanes


@loop
def note_was(me: i64, w: Block) -> None:
    """Slots before pairs are found anew, and which of them count."""
    i = me
    while i <= w.units:
        w.was_first[i] = w.first[i]
        i += w.lanes
    p = me
    while p < w.slots_used:
        w.was_key[p] = w.key[p]
        w.was_active[p] = 0
        if w.general == 1:
            w.was_kind[p] = w.kind[p]
            w.was_one[p] = w.slot_one[p]
            w.was_other[p] = w.slot_other[p]
            w.was_law[p] = w.slot_law[p]
            for a in range(16):
                w.was_feature[p, a] = w.feature[p, a]
        p += w.lanes
    barrier()
    k = me
    while k < w.pairs:
        w.was_active[w.pair[k]] = w.active[k]
        k += w.lanes


@loop
def join(me: i64, cause: i64, w: Block) -> i64:
    """1 if places join, which now are there; 0 if there are none; −1 where there is no room.

    What counted goes on counting with its impulses; of what is pushed out of others these are noted
    before.
    """
    w.joining = BESIDE
    w.cause = cause
    barrier()
    joins = looked_for(me, w)
    status = GOOD
    if joins > 0.0:
        note_was(me, w)
        if cause <= COMES_LATE:
            note_slots(me, w)
        w.joining = ANEW
        barrier()
        status = find_pairs(me, w)
        if status == GOOD:
            count_again(me, w)
    w.joining = FREE
    barrier()
    if status != GOOD:
        return -1
    return 1 if joins > 0.0 else 0


@loop
def count_again(me: i64, w: Block) -> None:
    """What counted before pairs were found anew."""
    k = me
    while k < w.pairs:
        p = w.pair[k]
        i = w.color[p]
        w.active[k] = 0
        for old in range(w.was_first[i], w.was_first[i + 1]):
            if w.was_key[old] == w.key[p]:
                w.active[k] = w.was_active[old]
        k += w.lanes


@loop
def looked_for(me: i64, w: Block) -> f64:
    """1 if something joins."""
    if w.general == 0:
        return float(thrown_balls(me, w))
    if w.cause == COMES_LATE or w.cause == PUSHED_LATE:
        look_late(me, w)
        return float(w.has_left)
    grow_extents(me, w)
    if w.has_left == 0.0:
        return 0.0
    joins = 0.0
    i = me
    while i < w.units:
        if near_units(i, ASKED, me, w) > w.first[i + 1] - w.first[i]:
            joins = 1.0
        i += w.lanes
    return float(most_of(joins, me, w))


@loop
def thrown_balls(me: i64, w: Block) -> f64:
    """The same of balls about their centers of mass, which are near others or not."""
    joins = 0.0
    i = me
    while i < w.units and (w.cause == THROWN or w.cause == PUSHED):
        joins = max(joins, thrown_at(i, w))
        i += w.lanes
    return float(most_of(joins, me, w))


@loop
def thrown_at(i: i64, w: Block) -> f64:
    """1 if a ball that impulses throw farther than it reached comes near something else."""
    square = 0.0
    for a in range(3):
        way = w.end[i, a] - w.pose[i, a]
        square += way * way
    if sqrt(square) <= 2.0 * sqrt(free_square(i, w)) + LEFT * w.margin:
        return 0.0
    n = w.bodies
    for j in range(n):
        apart = 0.0
        for a in range(3):
            x = w.pose[i, a] - w.pose[j, a]
            apart += x * x
        far = reach_of(i, w) + reach_of(j, w)
        d = j - i if j > i else j - i + n
        touches = 1 if w.law_between[w.surface[i], w.surface[j]] >= 0 else 0
        is_new = 1 if is_listed(i, d, w) + is_listed(j, n - d, w) == 0 else 0
        if j != i and apart <= far * far and touches * is_new == 1:
            return 1.0
    for j in range(w.planes):
        touches = 1 if w.law_between[w.surface[i], w.plane_surface[j]] >= 0 else 0
        is_new = 1 - is_listed(i, n + j, w)
        if height(flat(w.end), i, j, w) <= w.margin and touches * is_new == 1:
            return 1.0
    return 0.0


@loop
def forget(me: i64, w: Block) -> None:
    """No impulses of a step before."""
    i = me
    while i <= w.units:
        w.old_first[i] = 0
        i += w.lanes
    barrier()
