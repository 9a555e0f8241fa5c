"""Steps of a group of worlds: each thread its world, all threads together the contacts of each.

The steps are those of `contacts/stepping/small.py`. What one state alone decides is done by the
thread of its world; then problems of contacts of all worlds of the group are solved, one after the
other, by all threads (`cones`). Threads whose world is lost, or needs nothing, help.

A step that is not of the ordinary kind is taken by the general loops, by one thread.

Public names: group_step. Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.stepping.modes import STILL, friction_mode
from liaison.contacts.stepping.moreau import AGAIN, UNSOLVED, work
from liaison.contacts.stepping.phases import (
    NEAR,
    ROUNDS,
    SHALLOW,
    SHORTER,
    STRETCHED,
    keep,
    place,
)
from liaison.contacts.stepping.rows import forget_end, one_sided
from liaison.contacts.stepping.small import (
    ELSEWHERE,
    ENOUGH,
    LEAST,
    FusedEntries,
    Landing,
    Left,
    deepest_gap,
    end_status,
    first_word,
    is_kept,
    joined,
    measure_gaps,
    mode_after,
    moved_by,
    small_free,
    small_velocities,
    take_end,
)
from liaison.program.loops.language import external, f64, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, Entries, Run
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, SLIP, STICK
from liaison.simulation.worlds.general import step_elsewhere
from liaison.solvers.cones.table import BILATERAL, ONE_WAY
from liaison.solvers.linear.dense import largest_in

from .cones import solve_group
from .matrices import CONE, PROBLEM, Shared, any_thread, meet_block, place_of, seat
from .problem import (
    WORD,
    list_active,
    pose_block,
    pose_contacts,
    pose_factor,
    pose_row,
    take_pushed,
)


@loop
def group_step(
    status: i64, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """A step of the world of this thread, if its status is GOOD; the status after it."""
    meet_block()
    if status == GOOD:
        status = small_free(e, run, scratch)
    for turn in range(2):
        status = group_impulses(turn, status, e, run, scratch, me, s, group)
    was_elsewhere = 1 if status == ELSEWHERE else 0
    if status == ELSEWHERE:
        status = step_elsewhere(e, run, scratch)
    if status == GOOD:
        status = group_end(was_elsewhere, run)
    meet_block()
    status = group_stand(status, e, run, scratch, me, s, group)
    meet_block()
    if status == GOOD:
        status = keep(e, run, scratch, scratch)
    return status


@external
def solve_together(
    rows: i64, blocks: i64, is_new: i64, me: i64, run: Run, s: Shared, group: ptr
) -> None:
    """`solve_group`, in double precision whatever that of worlds is."""
    solve_group(rows, blocks, is_new, me, run, s, group)


@loop
def group_impulses(
    turn: i64, status: i64, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """Impulses of what is active, and of what becomes so; the second turn with forces anew."""
    left = Left(scratch[first_word(run) :], run)
    mine = group[place_of(seat(), run) :]
    t = run.t + run.theta * run.h
    wants = 1 if status == GOOD and run.rows_chosen > 0 else 0
    has_contacts = wants
    if wants == 1 and turn > 0:
        FusedEntries(e.others).again(
            t, run.q, left.v_new, run.u, run.p, left.v_end, left.v_end, scratch
        )
    is_new = 1 if turn == 0 or run.held[run.nb + 1] > 0.0 else 0
    for _ in range(AGAIN):
        blocks = 0
        if wants == 1:
            blocks = pose_contacts(is_new, left, mine, run)
            if blocks == ELSEWHERE:
                status = ELSEWHERE
                wants = 0
        if any_thread(wants) == 0:
            break
        solve_together(run.rows_chosen if wants == 1 else 0, blocks, is_new, me, run, s, group)
        meet_block()
        if wants == 1:
            wants = 0
            status = take_impulses(blocks, left, e, run, scratch, mine)
            if status == GOOD and joined(left.gap_new, run) > 0:
                wants = 1
                is_new = 1
    run.held[run.nb + 1] = float(wants)  # 1 if some joined that are in no problem yet
    if has_contacts == 1 and status == GOOD and left.bent_new[0] > 0.0:
        return ELSEWHERE  # a motor comes to its limit
    return status


@loop
def take_impulses(
    blocks: i64, left: Left, e: Entries, run: Run, scratch: ptr, mine: ptr
) -> i64:  # fmt: skip
    """P of the active blocks and what they lead to; ELSEWHERE where they are not good."""
    m = run.rows_chosen
    t = run.t + run.theta * run.h
    residual = mine[0]
    if not (residual <= UNSOLVED + UNSOLVED_SINGLE):
        return ELSEWHERE
    no_impulses(run)
    take_forces(m, mine, run)
    take_pushed(mine, run)
    FusedEntries(e.others).push(t, run.q, run.stage, run.u, run.p, left.v_end, left.v_new, scratch)
    take_end(left.v_new, left.q_new, run)
    run.contacts = max(run.contacts, blocks)
    run.held[run.nb + 2] = float(blocks)
    if run.held[run.nb] > 0.0 and work(run) > 0.0:
        return ELSEWHERE
    run.complementarity = max(run.complementarity, residual)
    return GOOD


@loop
def take_forces(m: i64, mine: ptr, run: Run) -> None:
    """P and u of a solved problem, four rows at a time."""
    P = run.problem.P
    way = run.problem.way
    at = mine[2 * run.few :]
    i = 0
    while i < m:
        # rows beyond the last repeat it
        j = min(i + 1, m - 1)
        k = min(i + 2, m - 1)
        n = min(i + 3, m - 1)
        a = at[i]
        b = at[j]
        c = at[k]
        d = at[n]
        w = at[run.few + i]
        x = at[run.few + j]
        y = at[run.few + k]
        z = at[run.few + n]
        first = run.chosen[i]
        second = run.chosen[j]
        third = run.chosen[k]
        fourth = run.chosen[n]
        P[i] = a
        P[j] = b
        P[k] = c
        P[n] = d
        way[i] = w
        way[j] = x
        way[k] = y
        way[n] = z
        run.impulse[first] = a
        run.impulse[second] = b
        run.impulse[third] = c
        run.impulse[fourth] = d
        i += 4


@loop
def no_impulses(run: Run) -> None:
    """Forgets impulses of the last problem."""
    for r in range(run.nr):
        run.impulse[r] = 0.0


@loop
def group_end(was_elsewhere: i64, run: Run) -> i64:
    """Modes after a step whose end can be."""
    status = end_status(run)
    if status != GOOD:
        return status
    slow = STILL * (1.0 + largest_in(run.nv, run.v, run.scales.velocity))
    open_modes(run)
    if was_elsewhere == 0:
        count = int(run.held[run.nb + 2]) if run.rows_chosen > 0 else 0
        for c in range(count):
            k = int(run.held[c])
            is_friction = 1 if run.blocks[k].kind == FRICTION else 0
            run.mode[k] = slip_mode(k, c, slow, run) if is_friction == 1 else mode_after(k, run)
        return GOOD
    count = list_active(run)
    for c in range(count):
        k = int(run.held[c])
        is_friction = 1 if run.blocks[k].kind == FRICTION else 0
        run.mode[k] = friction_mode(k, run) if is_friction == 1 else mode_after(k, run)
    return GOOD


@loop
def open_modes(run: Run) -> None:
    """Blocks that are not active are open."""
    for k in range(run.nb):
        run.mode[k] = run.mode[k] if run.active[k] == 1 else OPEN


@loop
def slip_mode(k: i64, c: i64, slow: f64, run: Run) -> i64:
    """As `friction_mode`, by the rates that came with the impulses."""
    load = run.blocks[k].load
    if load >= 0 and run.mode[load] == OPEN:
        return OPEN
    cone = run.cone[c]
    slip = 0.0
    for i in range(cone.first, cone.first + cone.rows):
        slip += run.problem.way[i] * run.problem.way[i]
    return STICK if sqrt(slip) <= slow * run.scales.rate[k] else SLIP


@loop
def group_stand(
    status: i64, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """The new state on its closures and out of penetration, as `small_stand`."""
    q = run.landed.q
    v = run.landed.v
    mine = group[place_of(seat(), run) :]
    wants = 1 if status == GOOD else 0
    if wants == 1:
        copy(run.nv, run.y[run.nv :], v)
        forget_end(run)
    run.is_stopping = 0  # 1 once it is out of penetration
    corrected = 0
    turn = 0
    for _ in range(ROUNDS):
        pushes = 0
        if wants == 1:
            status = looked(turn, status, corrected, e, q, v, run, scratch, mine)
            corrected += 1 if status == MOVES else 0
            pushes = 1 if status == PUSHES else 0
            pushes = 1 if status == OPENS else pushes
            wants = 1 if status == MOVES or pushes == 1 else 0
        if any_thread(wants) == 0:
            break
        if any_thread(pushes) == 1:
            rows = run.rows_chosen if pushes == 1 else 0
            solve_together(rows, rows, 1, me, run, s, group)
            meet_block()
        if pushes == 1:
            status = take_push(status, e, q, v, run, scratch, mine)
        turn += 0 if status == OPENS else 1
    run.is_stopping = 0
    if wants == 1 or status == ELSEWHERE:
        status = place(e, run.t_new, q, v, run, scratch)
        if status == GOOD and run.has_closure > 0:
            status = project(e, run.t_new, q, v, run, scratch)
    run.steps += 1 if status == GOOD else 0
    return status


UNSOLVED_SINGLE = 1e-9
"""Added to it; in single precision it becomes 8e-5."""

MOVES, PUSHES, OPENS = -10, -11, -13
"""Statuses of a place that was moved onto closures, of one that has contacts to be met, and of one
where what is held leaves only a long way: contacts may open."""


@loop
def looked(
    turn: i64, status: i64, corrected: i64, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr,
    mine: ptr,
) -> i64:  # fmt: skip
    """What the place misses, or the problem of one from which contacts may open."""
    if status == OPENS:
        here = Landing(scratch[first_word(run) :], run)
        return posed_push(OPENS, 0, run.problem.way[0], here, mine, run)
    return look(turn, corrected, e, q, v, run, scratch, mine)


@loop
def look(
    turn: i64, corrected: i64, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr, mine: ptr
) -> i64:
    """What the place misses: GOOD, PUSHES, MOVES (it was moved) or ELSEWHERE."""
    here = Landing(scratch[first_word(run) :], run)
    FusedEntries(e.others).land(run.t_new, q, v, run.u, run.p, q, here.floats, scratch)
    if not (here.least[0] > LEAST):
        return ELSEWHERE
    if run.is_stopping == 0:
        measure_gaps(here.gap, run)
        deepest = run.stage[0]
        off = 0.0 if turn > 1 else run.stage[1]
        if max(deepest, off) > run.gap_tolerance:
            holds = 1 if off > run.gap_tolerance else 0
            one_sided(e, run.t_new, q, v, run.mid, run, scratch)
            run.problem.way[0] = deepest
            run.problem.way[1] = float(holds)
            return posed_push(PUSHES, holds, deepest, here, mine, run)
        run.is_stopping = 1
        run.penetration = max(run.penetration, deepest_gap(deepest, here.gap, run))
    off = largest_in(run.nphi, here.phi, run.scales.closure)
    limit = run.tolerance[0] * (1.0 + largest_in(run.nq, q, run.scales.position))
    if off <= (limit if corrected == 0 else ENOUGH * limit):
        return small_velocities(here, v, run)
    if corrected == 2:
        return ELSEWHERE
    moved_by(here.delta, e, q, v, run, scratch)
    return MOVES


@loop
def posed_push(status: i64, holds: i64, deepest: f64, here: Landing, mine: ptr, run: Run) -> i64:
    """One correction of q as a problem: closed gaps to zero, those near not below it.

    The status given, or ELSEWHERE.
    """
    pose_factor(here.factor, mine, run)
    m = 0
    for word in range((run.nb + WORD - 1) // WORD):
        bits = near_bits(word, holds, deepest, here.gap, run)
        j = 0
        while bits > 0:
            if bits & 1 == 1:
                k = WORD * word + j
                is_bilateral = holds * is_kept(k, here.gap, run)
                if is_bilateral == 1 or here.gap[k] <= NEAR * deepest * run.scales.gap[k]:
                    if m == run.few:
                        return ELSEWHERE
                    run.chosen[m] = run.blocks[k].first
                    D = run.mid.D[run.blocks[k].first]
                    b = here.gap[k] + pose_row(1, m, D, here.delta, mine, run)
                    kind = BILATERAL if is_bilateral == 1 else ONE_WAY
                    pose_block(m, kind, m, 1, -1, mine, run)
                    pose_gap(m, b, holds, mine, run)
                    m += 1
            bits = bits >> 1
            j += 1
    run.rows_chosen = m
    return status if m > 0 else ELSEWHERE


@loop
def near_bits(word: i64, holds: i64, deepest: f64, gaps: ptr, run: Run) -> i64:
    """Which of so many blocks are gaps that may be held or have to be guarded."""
    bits = 0
    for j in range(WORD):
        k = min(WORD * word + j, run.nb - 1)
        is_near = 1 if gaps[k] <= NEAR * deepest * run.scales.gap[k] else 0
        is_near = 1 if holds == 1 and run.mode[k] == CLOSED else is_near
        is_gap = 1 if run.blocks[k].kind == GAP and k == WORD * word + j else 0
        bits += (is_near * is_gap) << j
    return bits


@loop
def pose_gap(m: i64, b: f64, holds: i64, mine: ptr, run: Run) -> None:
    """A row of a gap alone; closed ones that contradict each other are met as far as can be."""
    most = run.few
    base = PROBLEM * most + CONE * m
    for k in range(4, CONE):
        mine[base + k] = 0.0
    mine[m] = 0.0 if holds == 1 else b
    mine[most + m] = b if holds == 1 else 0.0
    mine[2 * most + m] = 0.0
    mine[4 * most + m] = 1.0


@loop
def take_push(status: i64, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr, mine: ptr) -> i64:
    """q moved by what the problem found; OPENS where what is held leaves only a long way.

    Of both ways the one with contacts that open is taken if it is shorter by half, as by `place`.
    """
    here = Landing(scratch[first_word(run) :], run)
    delta = run.free.moved
    held = run.free.v
    take_pushed(mine, run)
    FusedEntries(e.others).back(0.0, q, run.stage, run.u, run.p, here.factor, delta, scratch)
    add(run.nv, here.delta, delta)
    deepest = run.problem.way[0]
    long = largest_in(run.nv, delta, run.scales.local)
    may_open = 1 if status == PUSHES and run.problem.way[1] == 1.0 else 0
    if may_open == 1 and deepest > SHALLOW and long > STRETCHED * deepest:
        copy(run.nv, delta, held)
        run.problem.way[1] = long
        return OPENS
    if status == OPENS and long > SHORTER * run.problem.way[1]:
        copy(run.nv, held, delta)
    moved_by(delta, e, q, v, run, scratch)
    return PUSHES


@loop
def copy(n: i64, x: ptr, to: ptr) -> None:
    """to := x."""
    for i in range(n):
        to[i] = x[i]


@loop
def add(n: i64, x: ptr, to: ptr) -> None:
    """to := to + x."""
    for i in range(n):
        to[i] += x[i]
