"""One world for a number of Moreau and Jean's steps: what a thread of a device runs.

The state of world i lies component by component, `count` numbers apart. A world that is lost keeps
its last good state and the status that says why; it is left alone until it is reset.

Steps of a small mechanism are those of `contacts/stepping/quick.py` while it touches at one place
or none, and of `small.py`; one with many contacts is marched in groups of worlds (`groups`);
a step that these do not take, and every step of a larger mechanism, is taken by the general loops.

Random numbers of a start follow from the seed, the world and the component alone: they are the same
on any device, in both precisions.

Public names: LEFT_OUT, MEASURES, march_world, march_small_world, march_quick_world,
march_group_world, reset_world, scatter_world, random_number.
"""

from __future__ import annotations

from liaison.contacts.stepping.bent import is_bent_step, small_bent
from liaison.contacts.stepping.modes import note_block, note_impact
from liaison.contacts.stepping.phases import keep, place, set_out
from liaison.contacts.stepping.quick import (
    Quick,
    hand_over,
    keep_state,
    quick_contact,
    quick_free,
    take_over,
)
from liaison.contacts.stepping.quick_place import quick_stand
from liaison.contacts.stepping.rows import forget_end, one_sided
from liaison.contacts.stepping.small import (
    ELSEWHERE,
    Landing,
    Left,
    small_end,
    small_free,
    small_impulses,
    small_stand,
)
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.program.loops.records import words_of
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import GOOD, Entries, OneSided, Run
from liaison.simulation.steps.projection import project
from liaison.simulation.worlds.groups.matrices import Shared
from liaison.simulation.worlds.groups.step import group_step
from liaison.simulation.worlds.scene.layout import barrier, lane

from .general import PHASES, phase_of_step, step_elsewhere

MEASURES = ("complementarity", "penetration", "contacts")
"""Largest values of every world since it was reset, see `note_world`."""

LEFT_OUT = (note_block, note_impact)
"""There is no log of events on a device."""


@loop
def load_world(i: i64, count: i64, q: ptr, v: ptr, carried: ptr, run: Run) -> None:
    """State, impulses and modes of a world into its block."""
    for k in range(run.nq):
        run.q[k] = q[k * count + i]
    for k in range(run.nv):
        run.v[k] = v[k * count + i]
    for k in range(run.nr):
        run.impulse[k] = carried[k * count + i]
    for k in range(run.nb):
        run.mode[k] = int(carried[(run.nr + k) * count + i])


@loop
def store_world(i: i64, count: i64, q: ptr, v: ptr, carried: ptr, run: Run) -> None:
    """And back."""
    for k in range(run.nq):
        q[k * count + i] = run.q[k]
    for k in range(run.nv):
        v[k * count + i] = run.v[k]
    for k in range(run.nr):
        carried[k * count + i] = run.impulse[k]
    for k in range(run.nb):
        carried[(run.nr + k) * count + i] = float(run.mode[k])


@loop
def load_inputs(i: i64, row: i64, count: i64, u_one: i64, u: ptr, run: Run) -> None:
    """Inputs of a world from a row of their table; u_one is 0 where all worlds share them."""
    width = count if u_one > 0 else 1
    for k in range(run.nu):
        run.u[k] = u[(row * run.nu + k) * width + i * u_one]


@loop
def begin_world(e: Entries, run: Run, scratch: ptr) -> i64:
    """The start on its closures and out of penetration, or what holds at a state met before."""
    if run.steps == 0:
        return set_out(e, run, scratch, scratch)
    one_sided(e, run.t, run.q, run.v, run.sides, run, scratch)
    return GOOD


@loop
def note_world(i: i64, count: i64, status: i64, measures: ptr, codes: iptr, run: Run) -> None:
    """What a world missed since it was reset, how it stands and how many steps it took."""
    measures[i] = max(measures[i], run.complementarity)
    measures[count + i] = max(measures[count + i], run.penetration)
    measures[2 * count + i] = max(measures[2 * count + i], float(run.contacts))
    codes[i] = status
    codes[count + i] = run.steps


@loop
def take_world(
    i: i64, count: i64, u_one: i64, p_one: i64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr,
    carried: ptr, codes: iptr, run: Run,
) -> f64:  # fmt: skip
    """A world into its block, with its constants; its time."""
    load_world(i, count, q, v, carried, run)
    load_constants(i, count, u_one, p_one, u, p, run)
    run.steps = codes[count + i]
    start = t[i]
    run.t = start
    return float(start)


@loop
def march_world(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """World i for so many steps; every `hold` of them take the next of `rows` rows of inputs."""
    if codes[i] != GOOD:
        return
    start = take_world(i, count, u_one, p_one, t, q, v, u, p, carried, codes, run)
    status = begin_world(e, run, scratch)
    done = 0
    for n in range(steps):
        if n % hold == 0:
            load_inputs(i, min(n // hold, rows - 1), count, u_one, u, run)
        run.t_new = start + float(n + 1) * step
        run.h = step
        for phase in range(PHASES):
            barrier()
            if status == GOOD:
                status = phase_of_step(phase, e, run, scratch)
        if status == GOOD:
            done += 1
    # a lost world stays where its last good part of a step ended
    t[i] = start + float(done) * step if status == GOOD else run.t
    store_world(i, count, q, v, carried, run)
    note_world(i, count, status, measures, codes, run)


SMALL_PHASES = 7
"""Of a step of a small mechanism, see `phase_of_small_step`."""


@loop
def phase_of_small_step(phase: i64, status: i64, e: Entries, run: Run, scratch: ptr) -> i64:
    """One of the phases of a step by fused entries; GOOD, ELSEWHERE, or why not."""
    if phase == 0:
        return small_free(e, run, scratch)
    if phase < 3:
        return small_impulses(phase - 1, e, run, scratch)
    if phase == 3:
        if status == ELSEWHERE and is_bent_step(run, scratch) == 1:
            status = small_bent(e, run, scratch)
        return step_elsewhere(e, run, scratch) if status == ELSEWHERE else status
    if phase == 4:
        return small_end(run)
    if phase == 5:
        return small_stand(e, run, scratch)
    return keep(e, run, scratch, scratch)


@loop
def march_small_world(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """As `march_world`, by fused entries."""
    if codes[i] != GOOD:
        return
    start = take_world(i, count, u_one, p_one, t, q, v, u, p, carried, codes, run)
    status = begin_world(e, run, scratch)
    done = 0
    for n in range(steps):
        if n % hold == 0:
            load_inputs(i, min(n // hold, rows - 1), count, u_one, u, run)
        run.t_new = start + float(n + 1) * step
        run.h = step
        for phase in range(SMALL_PHASES):
            barrier()
            if status == GOOD or (phase == 3 and status == ELSEWHERE):
                status = phase_of_small_step(phase, status, e, run, scratch)
        if status == GOOD:
            done += 1
    t[i] = start + float(done) * step
    store_world(i, count, q, v, carried, run)
    note_world(i, count, status, measures, codes, run)


@loop
def whole_small_step(t: f64, t_new: f64, h: f64, e: Entries, run: Run, scratch: ptr) -> i64:
    """A step from the state of a block, by fused entries or the general loops; GOOD, or why not."""
    run.t = t
    run.t_new = t_new
    run.h = h
    one_sided(e, t, run.q, run.v, run.sides, run, scratch)
    status = GOOD
    for phase in range(SMALL_PHASES):
        if status == GOOD or (phase == 3 and status == ELSEWHERE):
            status = phase_of_small_step(phase, status, e, run, scratch)
    return status


@loop
def begin_quick(step: f64, x: Quick, e: Entries, run: Run, scratch: ptr) -> i64:
    """As `begin_world`, into numbers of its own."""
    status = begin_world(e, run, scratch)
    take_over(x, run)
    x.residual = 0.0
    x.deepest = 0.0
    x.contacts = 0
    x.clock[0] = step
    return status


@loop
def end_quick(done: i64, x: Quick, run: Run) -> None:
    """The world back in its block."""
    keep_state(x, run)
    hand_over(x, run)
    run.steps = done
    run.complementarity = max(run.complementarity, x.residual)
    run.penetration = max(run.penetration, x.deepest)
    run.contacts = max(run.contacts, x.contacts)


@loop
def quick_step(status: i64, t: f64, x: Quick, room: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """A step of a world whose status is GOOD, in its own numbers where they do; its new status."""
    first = words_of(Quick, run)
    left = Left(at(room, first), run)
    here = Landing(at(room, first + words_of(Left, run)), run)
    behind = first + words_of(Left, run) + words_of(Landing, run)
    mid = OneSided(at(room, behind), run)
    there = OneSided(at(room, behind + words_of(OneSided, run)), run)
    keep_state(x, run)
    way = ELSEWHERE if status == GOOD and x.many == 1 else status
    barrier()
    if way == GOOD:
        way = quick_free(t, x, left, e, run, scratch)
    barrier()
    if way == GOOD and x.active >= 0:
        way = quick_contact(t, x, left, mid, there, e, run, scratch)
    barrier()
    if way == GOOD:
        way = quick_stand(x, here, there, e, run, scratch)
    if way == ELSEWHERE:
        hand_over(x, run)
        status = whole_small_step(t, x.clock[1], x.clock[0], e, run, scratch)
        take_over(x, run)
    return status


@loop
def march_quick_world(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr, room: ptr,
) -> None:  # fmt: skip
    """As `march_small_world`, steps with one contact or none in numbers of their own."""
    if codes[i] != GOOD:
        return
    x = Quick(room, run)
    start = take_world(i, count, u_one, p_one, t, q, v, u, p, carried, codes, run)
    status = begin_quick(step, x, e, run, scratch)
    done = 0
    for n in range(steps):
        if n % hold == 0:
            load_inputs(i, min(n // hold, rows - 1), count, u_one, u, run)
        x.clock[1] = start + float(n + 1) * step
        status = quick_step(status, start + float(n) * step, x, room, e, run, scratch)
        if status == GOOD:
            done += 1
    t[i] = start + float(done) * step
    end_quick(codes[count + i] + done, x, run)
    store_world(i, count, q, v, carried, run)
    note_world(i, count, status, measures, codes, run)


@loop
def march_group_world(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr, s: Shared, group: ptr,
) -> None:  # fmt: skip
    """As `march_small_world`, contacts by all threads of a group, whose last may have no world."""
    me = lane()
    status = int(codes[i]) if i < count else NO_WORLD
    is_good = 1 if status == GOOD else 0
    start = 0.0
    if is_good == 1:
        start = take_world(i, count, u_one, p_one, t, q, v, u, p, carried, codes, run)
        status = begin_world(e, run, scratch)
    done = 0
    for n in range(steps):
        if n % hold == 0 and is_good == 1:
            load_inputs(i, min(n // hold, rows - 1), count, u_one, u, run)
        run.t_new = start + float(n + 1) * step
        run.h = step
        status = group_step(status, e, run, scratch, me, s, group)
        if status == GOOD:
            done += 1
    if is_good == 1:
        t[i] = start + float(done) * step
        store_world(i, count, q, v, carried, run)
        note_world(i, count, status, measures, codes, run)


NO_WORLD = -12
"""The status of a thread without a world."""

LOW, FIRST, SECOND = 0x7FFFFFFF, 0x45D9F3B, 0x2C1B3C6D
"""A hash of 31 bits, whose numbers are the same in words of 32 and of 64 bits."""


@loop
def mixed(x: i64) -> i64:
    """A whole number of 31 bits that looks unlike x."""
    x = x & LOW
    x = ((x ^ (x >> 16)) * FIRST) & LOW
    x = ((x ^ (x >> 15)) * SECOND) & LOW
    return x ^ (x >> 16)


@loop
def random_number(seed: i64, i: i64, k: i64) -> f64:
    """A number between −1 and 1 for the component k of world i."""
    x = mixed(mixed(mixed(seed + 1) + i) + k)
    return float(x - (LOW >> 1)) / float(LOW >> 1)


@loop
def scatter(seed: i64, i: i64, spread: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """A random start about the one at hand: on closures, out of penetration; GOOD, or why not."""
    nv = run.nv
    xi = run.y
    q = run.landed.q
    for k in range(nv):
        xi[k] = spread[k] * random_number(seed, i, k)
        run.v[k] += spread[nv + k] * random_number(seed, i, nv + k)
    e.retract(run.t, run.q, run.v, run.u, run.p, xi, q, scratch)
    for k in range(run.nq):
        run.q[k] = q[k]
    refresh(e, run.t, run.q, run.v, run, scratch)
    status = project(e, run.t, run.q, run.v, run, scratch)
    if status == GOOD:
        forget_end(run)
        status = place(e, run.t, run.q, run.v, run, scratch)
    if status == GOOD:
        status = project(e, run.t, run.q, run.v, run, scratch)
    return status


@loop
def load_constants(i: i64, count: i64, u_one: i64, p_one: i64, u: ptr, p: ptr, run: Run) -> None:
    """Parameters and the first row of inputs of a world."""
    for k in range(run.np):
        run.p[k] = p[k * count + i] if p_one > 0 else p[k]
    load_inputs(i, 0, count, u_one, u, run)


@loop
def reset_world(
    i: i64, count: i64, q_one: i64, v_one: i64,
    start: f64, chosen: iptr, q_start: ptr, v_start: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a start of its own or one that all share."""
    if chosen[i] == 0:
        return
    for k in range(run.nq):
        run.q[k] = q_start[k * count + i] if q_one > 0 else q_start[k]
    for k in range(run.nv):
        run.v[k] = v_start[k * count + i] if v_one > 0 else v_start[k]
    t[i] = start
    store_world(i, count, q, v, carried, run)
    for k in range(3):
        measures[k * count + i] = 0.0
    codes[i] = GOOD
    codes[count + i] = 0


@loop
def scatter_world(
    i: i64, count: i64, seed: i64, u_one: i64, p_one: i64,
    start: f64, chosen: iptr, spread: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, measures: ptr, codes: iptr,
    e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a random start about the one at hand."""
    if chosen[i] == 0:
        return
    load_world(i, count, q, v, carried, run)
    load_constants(i, count, u_one, p_one, u, p, run)
    run.t = start
    codes[i] = scatter(seed, i, spread, e, run, scratch)
    for k in range(run.nr):
        run.impulse[k] = 0.0
    store_world(i, count, q, v, carried, run)
