"""One world of a scene for a number of steps: what the threads of a block of a device run.

Public names: march_scene, reset_scene, scatter_scene.
"""

from __future__ import annotations

from liaison.contacts.scene.bodies import moved_pose
from liaison.contacts.scene.layout import Island, Pose, Twist
from liaison.program.loops.language import f64, flat, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import GOOD
from liaison.simulation.worlds.loops import random_number

from .inside import begin_island
from .layout import Block, barrier, lane
from .narrow import begin_tables
from .pairs import find_pairs, forget
from .step import hold_still, keep, place, start_status, whole_step


@loop
def load_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Block, island: Island) -> None:
    """The state of a world into its block."""
    if me == 0:
        begin_island(w, island)
    k = me
    while k < 7 * w.bodies:
        flat(w.pose)[k] = q[k * count + i]
        flat(w.end)[k] = q[k * count + i]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(w.speed)[k] = v[k * count + i]
        k += w.lanes
    barrier()


@loop
def store_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Block) -> None:
    """And back."""
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = flat(w.pose)[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = flat(w.speed)[k]
        k += w.lanes


@loop
def load_kept(me: i64, own: ptr, w: Block) -> None:
    """The impulses of the step before of a world into its block."""
    wide = 4 + 3 * w.has_turning
    k = me
    while k <= w.units:
        w.old_first[k] = int(own[k])
        k += w.lanes
    barrier()
    k = me
    while k < w.old_first[w.units]:
        place = own[w.units + 1 + k * (1 + wide) :]
        w.old_key[k] = int(place[0])
        for r in range(wide):
            w.old_guess[k, r] = place[1 + r]
        k += w.lanes
    barrier()


@loop
def store_kept(me: i64, own: ptr, w: Block) -> None:
    """And back."""
    wide = 4 + 3 * w.has_turning
    k = me
    while k <= w.units:
        own[k] = float(w.old_first[k])
        k += w.lanes
    k = me
    while k < w.old_first[w.units]:
        place = own[w.units + 1 + k * (1 + wide) :]
        place[0] = float(w.old_key[k])
        for r in range(wide):
            place[1 + r] = w.old_guess[k, r]
        k += w.lanes


@loop
def show(me: i64, i: i64, count: i64, u: ptr, w: Block) -> None:
    """What is recorded besides the state: contacts, residual, penetration, forces of planes."""
    if me == 0:
        u[i] = w.contacts
        u[count + i] = w.worst
        u[2 * count + i] = w.deepest
    j = me
    while j < 3 * w.planes:
        u[(3 + j) * count + i] = flat(w.plane_force)[j]
        j += w.lanes


@loop
def note(i: i64, count: i64, residual: f64, depth: f64, most: f64, measures: ptr) -> None:
    """The largest values of a world since it was reset."""
    measures[i] = max(measures[i], residual)
    measures[count + i] = max(measures[count + i], depth)
    measures[2 * count + i] = max(measures[2 * count + i], most)


@loop
def march_scene(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i for so many steps."""
    status = codes[i]
    taken = codes[count + i]
    me = lane()
    if i == slot and w.general == 1:
        begin_tables(me, w)
    if status != GOOD:
        return
    load_state(me, i, count, q, v, w, island)
    if taken == 0:
        status = start_status(me, w)
    else:
        load_kept(me, kept, w)
    done = 0
    residual = 0.0
    depth = 0.0
    most = 0.0
    for n in range(steps):
        if status == GOOD:
            keep(me, 0, w)
            w.deepest = 0.0
            w.is_shown = 1 if n == steps - 1 else 0
            status = whole_step(me, step, w, island)
            if status == GOOD:
                done += 1
                residual = max(residual, w.worst)
                depth = max(depth, w.deepest)
                most = max(most, w.contacts)
            else:
                keep(me, 1, w)
    barrier()
    store_state(me, i, count, q, v, w)
    store_kept(me, kept, w)
    if status == GOOD:
        show(me, i, count, u, w)
    if me == 0:
        t[i] = t[i] + float(done) * step
        note(i, count, residual, depth, most, measures)
        codes[i] = status
        codes[count + i] = taken + done
    barrier()


@loop
def reset_scene(
    i: i64, count: i64, q_one: i64, v_one: i64,
    start: f64, chosen: iptr, q_start: ptr, v_start: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a start of its own or one that all share."""
    if chosen[i] == 0:
        return
    me = lane()
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = q_start[k * count + i] if q_one > 0 else q_start[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = v_start[k * count + i] if v_one > 0 else v_start[k]
        k += w.lanes
    k = me
    while k < 3 + 3 * w.planes:
        u[k * count + i] = 0.0
        k += w.lanes
    if me == 0:
        t[i] = start
        for r in range(3):
            measures[r * count + i] = 0.0
        codes[i] = GOOD
        codes[count + i] = 0


@loop
def scatter_scene(
    i: i64, count: i64, seed: i64, u_one: i64, p_one: i64,
    start: f64, chosen: iptr, spread: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a random start about the one at hand, out of penetration."""
    me = lane()
    if i == slot and w.general == 1:
        begin_tables(me, w)
    if chosen[i] == 0:
        return
    nv = 6 * w.bodies
    load_state(me, i, count, q, v, w, island)
    b = me
    while b < w.bodies:
        for j in range(6):
            k = 6 * b + j
            w.mean[b, j] = spread[k] * random_number(seed, i, k)
            w.speed[b, j] += spread[nv + k] * random_number(seed, i, nv + k)
        moved_pose(1.0, Pose(w.pose[b]), Twist(w.mean[b]), Pose(w.end[b]))
        b += w.lanes
    forget(me, w)
    # pairs among where they are now and where they were: places that corrections lead to are near
    hold_still(me, w)
    status = find_pairs(me, w)
    w.contacts = 0.0
    w.deepest = 0.0
    if status == GOOD:
        place(me, w, island)
    b = me
    while b < w.bodies:
        for j in range(7):
            w.pose[b, j] = w.end[b, j]
        b += w.lanes
    barrier()
    if status == GOOD:
        status = start_status(me, w)
    store_state(me, i, count, q, v, w)
    if me == 0:
        codes[i] = status
