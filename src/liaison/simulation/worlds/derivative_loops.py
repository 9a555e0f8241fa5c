"""The derivative of one step of a world: what a thread of a device runs.

A thread takes the step of its world and carries some columns of the derivative along: all of them
on a processor, fewer on a GPU that has few worlds. Threads of a world are neighbours there.

Public names: derive_world.
"""

from __future__ import annotations

from liaison.contacts.stepping.loads import TURNS, bent_again, reach_of
from liaison.contacts.stepping.moreau import (
    AGAIN,
    UNSOLVED,
    closing,
    finish_step,
    forces_at_mean,
    free_velocities,
    impulses,
    into_metric,
    midway,
    near,
    predict,
    solve_free,
    work,
)
from liaison.contacts.stepping.rows import forget_end
from liaison.contacts.stepping.tangent_columns import (
    begin_column,
    begin_rounds,
    end_along,
    has_stribeck,
    round_along,
)
from liaison.contacts.stepping.tangent_loads import (
    change_slopes,
    has_grown,
    note_loads,
    note_mean,
    note_weights,
)
from liaison.contacts.stepping.tangent_places import placed, projected
from liaison.contacts.stepping.tangents import (
    AT_GAP,
    AT_LAW,
    AT_TURNS,
    Column,
    Room,
    TangentEntries,
    column_at,
    factor_modes,
    first_word,
    note_damping,
    note_impulses,
    note_motion,
    shared_load,
)
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import GOOD, NO_MODE, SINGULAR_MASS, Entries, Run
from liaison.simulation.steps.sides_layout import GAP
from liaison.solvers.linear.dense import dot

from .general import displaced
from .loops import begin_world, load_constants, load_world

LIMITED, JOINED = 101, 102
"""Statuses: restitution is limited by energy or rates; contacts joined while coefficients fall."""

BENDS = 1e-9
"""A choice of a formula is at its edge below this margin, beside the size of what it compares."""


@loop
def note_edges(bits: i64, room: Room, run: Run) -> None:
    """Adds edges to those of the step."""
    room.edges[0] = float(int(room.edges[0]) | bits)


@loop
def edge_of_gaps(is_free: i64, run: Run) -> i64:
    """AT_GAP if a gap that the step met, or not, ends it where it just touches."""
    edges = 0
    for k in range(run.nb):
        is_meant = run.blocks[k].kind == GAP and (is_free == 1 or run.active[k] == 0)
        is_apart = run.sides.gap[k] > near(k, run)
        if is_meant and is_apart and abs(run.end.gap[k]) <= near(k, run):
            edges = AT_GAP
    return edges


@loop
def edge_of_laws(e: Entries, room: Room, run: Run, scratch: ptr) -> i64:
    """AT_LAW if a formula of forces or contacts is where it bends."""
    t = run.t + run.theta * run.h
    q = run.free.q
    entries = TangentEntries(e.others)
    refresh(e, t, q, room.mean, run, scratch)
    entries.edges(t, q, room.mean, run.u, run.p, q, room.h, scratch)
    least = room.h[0]
    if run.nr > 0:
        entries.side_edges(t, q, run.v, run.u, run.p, q, room.h, scratch)
        least = min(least, room.h[0])
    if run.nf > 0:
        for k in range(run.nf):
            a = dot(run.nv, run.load_rows.J[k], room.change)
            room.at[k] = run.load_rows.x[k] + reach_of(run) * a
            room.at[run.nf + k] = run.load_rows.rate[k] + run.loads.weight[k] * a
        entries.law_edges(t, q, run.v, run.u, run.p, room.floats, room.h, scratch)
        least = min(least, room.h[0])
    return AT_LAW if least <= BENDS else 0


@loop
def is_limited(run: Run) -> i64:
    """1 if an active contact has restitution; else its impulses are those without it."""
    for k in range(run.nb):
        is_hit = run.active[k] == 1 and run.blocks[k].kind == GAP and run.hits[k] == 1
        if is_hit and run.mid.laws[k].restitution > 0.0:
            return 1
    return 0


@loop
def solved_impulses(e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses as `find_impulses` finds them; GOOD, or why they have no derivative."""
    for _ in range(AGAIN):
        residual = impulses(1.0, run)
        if not (residual <= UNSOLVED):
            return LIMITED if is_limited(run) == 1 else NO_MODE
        finish_step(run)
        if run.rows_chosen == 0:
            break
        if is_limited(run) == 1 and work(run) > 0.0:
            return LIMITED
        if closing(e, run, scratch) == 0:
            break
        if has_stribeck(run) == 1:
            return JOINED
    return GOOD


@loop
def carried_along(
    pushes: i64, after: ptr, e: Entries, columns: i64, room: Room, run: Run, scratch: ptr
) -> i64:
    """A round that ends with velocities `after`, and its change in all columns."""
    for i in range(run.nv):
        room.last[i] = room.change[i]
    note_motion(pushes, after, room, run)
    if run.nf > 0:
        note_loads(e, room, run, scratch)
    room.count[0] = 0.0
    is_pushed = 1 if pushes == 1 and run.rows_chosen > 0 else 0
    if is_pushed == 1:
        note_edges(note_impulses(room, run) | edge_of_gaps(0, run), room, run)
    if room.is_bent[0] == 1.0 and change_slopes(1.0, room, run) != GOOD:
        return SINGULAR_MASS
    if is_pushed == 1:
        factor_modes(room, run)
        note_edges(shared_load(room, run), room, run)
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        round_along(pushes, e, column, room, run, scratch)
    return change_slopes(-1.0, room, run) if room.is_bent[0] == 1.0 else GOOD


@loop
def feed(columns: i64, run: Run, scratch: ptr) -> None:
    """Forces are of the velocities that the last round ended with, in all columns."""
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        for i in range(run.nv):
            column.fed[i] = column.after[i]


@loop
def first_rounds(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """The free motion and the first impulses, with all columns; GOOD, or why not."""
    nv = run.nv
    after = at(run.y, nv)
    if midway(e, run, scratch) != GOOD:
        return SINGULAR_MASS
    note_damping(room, run)
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        begin_rounds(e, column, room, run, scratch)
    note_mean(run.v, run.v, room, run)
    note_weights(room, run)
    carried_along(0, run.free.v, e, columns, room, run, scratch)
    for i in range(nv):
        after[i] = run.free.v[i]
    free_velocities(e, after, run, scratch)
    note_mean(run.free.moved, after, room, run)
    feed(columns, run, scratch)
    for i in range(nv):
        after[i] = run.free.v[i]
    predict(e, run, scratch)
    note_edges(edge_of_gaps(1, run), room, run)
    status = solved_impulses(e, run, scratch)
    if status == GOOD:
        if run.rows_chosen > 0 and has_stribeck(run) == 1:
            # of which coefficients of the first impulses are
            carried_along(0, run.free.v, e, columns, room, run, scratch)
        status = carried_along(1, after, e, columns, room, run, scratch)
    return status


@loop
def more_rounds(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """Impulses once more and laws of loads settled, as `settle` does, with all columns."""
    after = at(run.y, run.nv)
    bends = 0
    for turn in range(TURNS):
        is_bent = bent_again(turn, after, e, run, scratch)
        if is_bent < 0:
            break
        if is_bent == 1:
            room.is_bent[0] = 1.0
            bends += 1
        forces_at_mean(e, after, run, scratch)
        note_mean(run.free.moved, after, room, run)
        feed(columns, run, scratch)
        if is_bent == 1 and into_metric(run) != GOOD:
            return SINGULAR_MASS
        solve_free(run)
        if is_bent == 1:
            predict(e, run, scratch)
        status = solved_impulses(e, run, scratch)
        if status == GOOD:
            status = carried_along(1, after, e, columns, room, run, scratch)
        if status != GOOD:
            return status
    if bends > 1 or has_grown(room, run) == 1:
        note_edges(AT_TURNS, room, run)
    return GOOD


@loop
def ended(e: Entries, columns: i64, room: Room, run: Run, scratch: ptr) -> i64:
    """The end of the step with all columns, placed as `stand` places it."""
    nv = run.nv
    status = displaced(e, run, scratch)
    if status != GOOD:
        return status
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        end_along(e, column, room, run, scratch)
    e.retract(run.t_new, run.q, at(run.y, nv), run.u, run.p, run.y, run.landed.q, scratch)
    for i in range(nv):
        run.landed.v[i] = run.y[nv + i]
    refresh(e, run.t_new, run.landed.q, run.landed.v, run, scratch)
    forget_end(run)
    status = placed(e, columns, room, run, scratch)
    if status == GOOD:
        status = projected(e, columns, room, run, scratch)
    return status


@loop
def store_column(
    c: i64, i: i64, worlds: i64, a: ptr, b: ptr, e: Entries, column: Column, room: Room, run: Run,
    scratch: ptr,
) -> None:  # fmt: skip
    """Column c of world i into A or B, rows first."""
    nv = run.nv
    for k in range(run.nq):
        room.q[k] = column.end_q[k]
    TangentEntries(e.others).local(
        run.t_new, run.landed.q, run.landed.v, run.u, run.p, room.floats, room.changed, scratch
    )
    for k in range(nv):
        if c < 2 * nv:
            a[(k * 2 * nv + c) * worlds + i] = room.changed[k]
            a[((nv + k) * 2 * nv + c) * worlds + i] = column.end_v[k]
        else:
            b[(k * run.nu + c - 2 * nv) * worlds + i] = room.changed[k]
            b[((nv + k) * run.nu + c - 2 * nv) * worlds + i] = column.end_v[k]


@loop
def lose_column(c: i64, i: i64, worlds: i64, a: ptr, b: ptr, run: Run) -> None:
    """Not a number in every row of a column."""
    nv = run.nv
    infinite = 1e300 * 1e300
    for k in range(2 * nv):
        if c < 2 * nv:
            a[(k * 2 * nv + c) * worlds + i] = infinite - infinite
        else:
            b[(k * run.nu + c - 2 * nv) * worlds + i] = infinite - infinite


@loop
def derive_world(
    thread: i64, count: i64, worlds: i64, lanes: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, carried: ptr, codes: iptr,
    a: ptr, b: ptr, flags: iptr, e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """The columns c = lane, lane + lanes, … of one world; flags are its status and its edges."""
    i = thread // lanes
    lane = thread % lanes
    columns = (2 * run.nv + run.nu + lanes - 1) // lanes
    room = Room(scratch[first_word(columns, run) :], run)
    status = codes[i]
    room.edges[0] = 0.0
    room.is_bent[0] = 0.0
    if status == GOOD:
        load_world(i, worlds, q, v, carried, run)
        load_constants(i, worlds, u_one, p_one, u, p, run)
        run.steps = codes[worlds + i]
        run.t = t[i]
        run.t_new = t[i] + step
        run.h = step
        status = begin_world(e, run, scratch)
    for c in range(columns):
        column = Column(scratch[column_at(c, columns, run) :], run)
        begin_column(lane + c * lanes, e, column, room, run, scratch)
    if status == GOOD:
        status = first_rounds(e, columns, room, run, scratch)
    if status == GOOD:
        status = more_rounds(e, columns, room, run, scratch)
    if status == GOOD:
        note_edges(edge_of_laws(e, room, run, scratch), room, run)
        status = ended(e, columns, room, run, scratch)
    for c in range(columns):
        place = lane + c * lanes
        if place < 2 * run.nv + run.nu:
            if status == GOOD:
                column = Column(scratch[column_at(c, columns, run) :], run)
                store_column(place, i, worlds, a, b, e, column, room, run, scratch)
            else:
                lose_column(place, i, worlds, a, b, run)
    if lane == 0:
        flags[i] = status
        flags[worlds + i] = int(room.edges[0])
