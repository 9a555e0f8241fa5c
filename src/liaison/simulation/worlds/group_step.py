"""Steps of a group of worlds: each thread its world, all threads together the contacts of each.

The steps are those of `contacts/stepping/small.py`. What one state alone decides is done by the
thread of its world; then problems of contacts of all worlds of the group are solved, one after the
other, by all threads (`group_cones`). Threads whose world is lost, or needs nothing, help.

A step that is not of the ordinary kind is taken by the general loops, by one thread.

Public names: group_step. Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.stepping.modes import STILL, friction_mode
from liaison.contacts.stepping.moreau import AGAIN, SLOW, UNSOLVED, choose_block, work
from liaison.contacts.stepping.phases import (
    NEAR,
    ROUNDS,
    SHALLOW,
    STRETCHED,
    keep,
    place,
)
from liaison.contacts.stepping.rows import forget_end, forget_rows, one_sided
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
    in_metric,
    is_kept,
    joined,
    measure_gaps,
    mode_after,
    moved_by,
    small_free,
    small_velocities,
    take_end,
)
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, Entries, Run
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, SLIP, STICK
from liaison.simulation.worlds.scene.layout import barrier
from liaison.solvers.cones.cones import depends_on_load
from liaison.solvers.cones.table import BILATERAL, DISC, ONE_WAY, Limit
from liaison.solvers.linear.dense import dot, largest_in

from .general import step_elsewhere
from .group_cones import solve_group
from .group_matrices import CONE, PROBLEM, Shared, number_at, put_number


@loop
def group_step(
    status: i64, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """A step of the world of this thread, if its status is GOOD; the status after it."""
    if status == GOOD:
        status = small_free(e, run, scratch)
    for turn in range(2):
        status = group_impulses(turn, status, e, run, scratch, me, s, group)
    was_elsewhere = 1 if status == ELSEWHERE else 0
    if status == ELSEWHERE:
        status = step_elsewhere(e, run, scratch)
    if status == GOOD:
        status = group_end(was_elsewhere, run)
    status = group_stand(status, e, run, scratch, me, s, group)
    if status == GOOD:
        status = keep(e, run, scratch, scratch)
    return status


@loop
def total_rows(run: Run, s: Shared) -> f64:
    """Rows of the problems of all worlds of the group."""
    barrier()
    total = 0.0
    for w in range(run.lanes):
        total += s.count[w]
    barrier()
    return total


@loop
def group_impulses(
    turn: i64, status: i64, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """Impulses of what is active, and of what becomes so; the second turn with forces anew."""
    left = Left(scratch[first_word(run) :], run)
    t = run.t + run.theta * run.h
    wants = 1 if status == GOOD and run.rows_chosen > 0 else 0
    has_contacts = wants
    if wants == 1 and turn > 0:
        FusedEntries(e.others).again(
            t, run.q, left.v_new, run.u, run.p, left.v_end, left.v_end, scratch
        )
    is_new = 1 - turn
    for _ in range(AGAIN):
        s.count[me] = 0.0
        if wants == 1 and pose_contacts(is_new, left, e, run, scratch, me, s, group) != GOOD:
            status = ELSEWHERE
            wants = 0
        if total_rows(run, s) == 0.0:
            break
        solve_group(me, run, s, group)
        if wants == 1:
            wants = 0
            status = take_impulses(left, e, run, scratch, me, s, group)
            if status == GOOD and joined(left.gap_new, run) > 0:
                wants = 1
                is_new = 1
    if has_contacts == 1 and status == GOOD and left.bent_new[0] > 0.0:
        return ELSEWHERE  # a motor comes to its limit
    return status


@loop
def pose_contacts(
    is_new: i64, left: Left, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """The problem of what is active; ELSEWHERE where it has too many rows."""
    most = run.few
    count = list_active(run)
    chosen_blocks(count, run)
    m = run.rows_chosen
    if m > most or depends_on_load(count, run.cone, run.problem.limits) == 1:
        return ELSEWHERE
    free_rates(count, left.v_end, me, group, run)
    for c in range(count):
        cone = run.cone[c]
        load = run.cone[cone.load].first if cone.load >= 0 else -1
        limit = run.problem.limits[c]
        pose_block(c, cone.kind, cone.first, cone.rows, load, me, group, run)
        base = PROBLEM * most + CONE * c
        put_number(base + 4, me, limit.coefficient[0], group, run)
        put_number(base + 5, me, limit.coefficient[1], group, run)
        put_number(base + 6, me, limit.constant, group, run)
        for i in range(cone.rows):
            put_number(4 * most + cone.first + i, me, share(cone.kind, i, limit), group, run)
    for i in range(m):
        put_number(2 * most + i, me, run.impulse[run.chosen[i]], group, run)
    if is_new == 1:
        in_metric(m, left.factor, e, run, scratch)
        pose_rows(m, me, group, run)
    s.count[me] = float(m)
    s.blocks[me] = float(count)
    return GOOD


WORD = 31
"""Blocks whose flags are one whole number."""


@loop
def active_bits(word: i64, run: Run) -> i64:
    """Which of so many blocks are active; read all at once."""
    bits = 0
    for j in range(WORD):
        k = min(WORD * word + j, run.nb - 1)
        is_there = 1 if k == WORD * word + j else 0
        bits += (int(run.active[k]) * is_there) << j
    return bits


@loop
def list_active(run: Run) -> i64:
    """Numbers of the active blocks into `held`, which only general loops use besides; how many."""
    count = 0
    for word in range((run.nb + WORD - 1) // WORD):
        bits = active_bits(word, run)
        j = 0
        while bits > 0:
            if bits & 1 == 1:
                run.held[count] = float(WORD * word + j)
                count += 1
            bits = bits >> 1
            j += 1
    return count


@loop
def chosen_blocks(count: i64, run: Run) -> None:
    """As `choose`, of the blocks listed."""
    m = 0
    for c in range(count):
        m = choose_block(int(run.held[c]), c, m, run)
    run.rows_chosen = m


@loop
def pose_rows(m: i64, me: i64, group: ptr, run: Run) -> None:
    """X of the rows chosen."""
    base = (PROBLEM + CONE) * run.few
    nv = run.nv
    for i in range(m):
        x = run.in_metric[run.chosen[i]]
        to = base + i * nv
        k = 0
        while k + 5 < nv:
            # loads before stores: a thread waits once
            a = x[k]
            b = x[k + 1]
            c = x[k + 2]
            d = x[k + 3]
            e = x[k + 4]
            f = x[k + 5]
            put_number(to + k, me, a, group, run)
            put_number(to + k + 1, me, b, group, run)
            put_number(to + k + 2, me, c, group, run)
            put_number(to + k + 3, me, d, group, run)
            put_number(to + k + 4, me, e, group, run)
            put_number(to + k + 5, me, f, group, run)
            k += 6
        while k < nv:
            put_number(to + k, me, x[k], group, run)
            k += 1


@loop
def pushed_by(m: i64, w: ptr, me: i64, group: ptr, run: Run) -> None:
    """w := X P of the problem of this world, three numbers at a time."""
    nv = run.nv
    base = (PROBLEM + CONE) * run.few
    k = 0
    while k < nv:
        second = min(k + 1, nv - 1)
        third = min(k + 2, nv - 1)
        a = 0.0
        b = 0.0
        c = 0.0
        i = 0
        while i < m:
            p = number_at(2 * run.few + i, me, group, run)
            a += p * number_at(base + i * nv + k, me, group, run)
            b += p * number_at(base + i * nv + second, me, group, run)
            c += p * number_at(base + i * nv + third, me, group, run)
            i += 1
        w[k] = a
        w[second] = b
        w[third] = c
        k += 3


@loop
def pose_block(
    c: i64, kind: i64, first: i64, rows: i64, load: i64, me: i64, group: ptr, run: Run
) -> None:
    """What kind of block it is, and where its rows are."""
    base = PROBLEM * run.few + CONE * c
    put_number(base, me, float(kind), group, run)
    put_number(base + 1, me, float(first), group, run)
    put_number(base + 2, me, float(rows), group, run)
    put_number(base + 3, me, float(load), group, run)


@loop
def share(kind: i64, row: i64, limit: Limit) -> f64:
    """Semi-axis of a disc along a row, as a part of the longer one."""
    most = max(limit.coefficient[0], limit.coefficient[1])
    if kind != DISC or not (most > 0.0):
        return 1.0
    return float(max(limit.coefficient[row], 0.0) / most)


@loop
def free_rates(count: i64, free: ptr, me: i64, group: ptr, run: Run) -> None:
    """b of the problem, as `small_rates` has it, and the change of rates beside it."""
    nv = run.nv
    ahead = (1.0 - run.theta) / run.theta
    slow = STILL * (1.0 + largest_in(nv, run.v, run.scales.velocity))
    for c in range(count):
        k = int(run.held[c])
        cone = run.cone[c]
        for i in range(cone.first, cone.first + cone.rows):
            r = run.chosen[i]
            D = run.mid.D[r]
            u = run.mid.rate[r]
            change = ahead * (u - run.sides.rate[r])
            j = 0
            while j < nv:
                u += D[j] * (free[j] - run.v[j])
                j += 1
            run.problem.b[i] = u
            put_number(run.few + i, me, change, group, run)
        if run.blocks[k].kind == GAP:
            i = cone.first
            u = run.sides.rate[run.blocks[k].first]
            whole = run.problem.b[i] + number_at(run.few + i, me, group, run)
            run.hits[k] = 0
            if u >= SLOW * run.scales.rate[k]:
                run.problem.b[i] += u
            elif u >= 0.0:
                put_number(run.few + i, me, whole - run.problem.b[i] + u, group, run)
            elif u < -slow * run.scales.rate[k] and whole - u >= u:
                run.problem.b[i] += run.mid.laws[k].restitution * u
                run.hits[k] = 1
    for i in range(run.rows_chosen):
        put_number(i, me, run.problem.b[i], group, run)


@loop
def take_impulses(
    left: Left, e: Entries, run: Run, scratch: ptr, me: i64, s: Shared, group: ptr
) -> i64:
    """P of the active blocks and what they lead to; ELSEWHERE where they are not good."""
    m = run.rows_chosen
    P = run.problem.P
    t = run.t + run.theta * run.h
    residual = number_at(0, me, group, run)
    if not (residual <= UNSOLVED + UNSOLVED_SINGLE):
        return ELSEWHERE
    no_impulses(run)
    for i in range(m):
        P[i] = number_at(2 * run.few + i, me, group, run)
        run.problem.way[i] = number_at(3 * run.few + i, me, group, run)
        run.impulse[run.chosen[i]] = P[i]
    pushed_by(m, run.stage, me, group, run)
    FusedEntries(e.others).push(t, run.q, run.stage, run.u, run.p, left.v_end, left.v_new, scratch)
    take_end(left.v_new, left.q_new, run)
    if has_hits(int(s.blocks[me]), run) == 1 and work(run) > 0.0:
        return ELSEWHERE
    run.complementarity = max(run.complementarity, residual)
    return GOOD


@loop
def no_impulses(run: Run) -> None:
    """Forgets impulses of the last problem."""
    for r in range(run.nr):
        run.impulse[r] = 0.0


@loop
def has_hits(blocks: i64, run: Run) -> i64:
    """1 if an active gap gives something of its rate back."""
    count = 0
    for c in range(blocks):
        k = int(run.held[c])
        is_hit = 1 if run.blocks[k].kind == GAP and run.hits[k] == 1 else 0
        if is_hit == 1 and run.mid.laws[k].restitution > 0.0:
            count = 1
    run.contacts = max(run.contacts, blocks)
    return count


@loop
def group_end(was_elsewhere: i64, run: Run) -> i64:
    """Modes after a step whose end can be."""
    status = end_status(run)
    if status != GOOD:
        return status
    slow = STILL * (1.0 + largest_in(run.nv, run.v, run.scales.velocity))
    open_modes(run)
    count = list_active(run)
    for c in range(count):
        k = int(run.held[c])
        if run.blocks[k].kind == FRICTION:
            run.mode[k] = friction_mode(k, run) if was_elsewhere == 1 else slip_mode(k, slow, run)
        else:
            run.mode[k] = mode_after(k, run)
    return GOOD


@loop
def open_modes(run: Run) -> None:
    """Blocks that are not active are open."""
    for k in range(run.nb):
        run.mode[k] = run.mode[k] if run.active[k] == 1 else OPEN


@loop
def slip_mode(k: i64, slow: f64, run: Run) -> i64:
    """As `friction_mode`, by the rates that came with the impulses."""
    load = run.blocks[k].load
    if load >= 0 and run.mode[load] == OPEN:
        return OPEN
    cone = run.cone[run.cone_of[k]]
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
    wants = 1 if status == GOOD else 0
    if wants == 1:
        for i in range(run.nv):
            v[i] = run.y[run.nv + i]
        forget_end(run)
    run.is_stopping = 0  # 1 once it is out of penetration
    corrected = 0
    for turn in range(ROUNDS):
        s.count[me] = 0.0
        if wants == 1:
            status = look(turn, corrected, e, q, v, run, scratch, me, s, group)
            if status == MOVES:
                corrected += 1
            elif status != PUSHES:
                wants = 0
        if total_rows(run, s) > 0.0:
            solve_group(me, run, s, group)
            if wants == 1 and status == PUSHES:
                status = take_push(e, q, v, run, scratch, me, group)
                wants = 1 if status == PUSHES else 0
        elif any_wants(wants, me, run, s) == 0:
            break
    run.is_stopping = 0
    if wants == 1 or status == ELSEWHERE:
        status = place(e, run.t_new, q, v, run, scratch)
        if status == GOOD and run.has_closure > 0:
            status = project(e, run.t_new, q, v, run, scratch)
    run.steps += 1 if status == GOOD else 0
    return status


UNSOLVED_SINGLE = 1e-9
"""Added to it; in single precision it becomes 8e-5."""

MOVES, PUSHES = -10, -11
"""Statuses of a place that was moved onto closures, and of one that has contacts to be met."""


@loop
def any_wants(wants: i64, me: i64, run: Run, s: Shared) -> i64:
    """1 if a world of the group is not at its place yet."""
    s.count[me] = float(wants)
    return 1 if total_rows(run, s) > 0.0 else 0


@loop
def look(
    turn: i64, corrected: i64, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr,
    me: i64, s: Shared, group: ptr,
) -> i64:  # fmt: skip
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
            return pose_push(holds, deepest, here, e, q, v, run, scratch, me, s, group)
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
def pose_push(
    holds: i64, deepest: f64, here: Landing, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr,
    me: i64, s: Shared, group: ptr,
) -> i64:  # fmt: skip
    """One correction of q as a problem: closed gaps to zero, those near not below it."""
    one_sided(e, run.t_new, q, v, run.mid, run, scratch)
    forget_rows(run)
    run.problem.way[0] = deepest if holds == 1 else 0.0
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
                    b = here.gap[k] + dot(run.nv, run.mid.D[run.blocks[k].first], here.delta)
                    kind = BILATERAL if is_bilateral == 1 else ONE_WAY
                    pose_block(m, kind, m, 1, -1, me, group, run)
                    pose_gap(m, b, holds, me, group, run)
                    m += 1
            bits = bits >> 1
            j += 1
    run.rows_chosen = m
    in_metric(m, here.factor, e, run, scratch)
    pose_rows(m, me, group, run)
    s.count[me] = float(m)
    s.blocks[me] = float(m)
    return PUSHES if m > 0 else ELSEWHERE


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
def pose_gap(m: i64, b: f64, holds: i64, me: i64, group: ptr, run: Run) -> None:
    """A row of a gap alone; closed ones that contradict each other are met as far as can be."""
    most = run.few
    base = PROBLEM * most + CONE * m
    for k in range(4, CONE):
        put_number(base + k, me, 0.0, group, run)
    put_number(m, me, 0.0 if holds == 1 else b, group, run)
    put_number(most + m, me, b if holds == 1 else 0.0, group, run)
    put_number(2 * most + m, me, 0.0, group, run)
    put_number(4 * most + m, me, 1.0, group, run)


@loop
def take_push(e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr, me: i64, group: ptr) -> i64:
    """q moved by what the problem found; ELSEWHERE where what is held leaves only a long way."""
    here = Landing(scratch[first_word(run) :], run)
    delta = run.free.moved
    pushed_by(run.rows_chosen, run.stage, me, group, run)
    FusedEntries(e.others).back(0.0, q, run.stage, run.u, run.p, here.factor, delta, scratch)
    for i in range(run.nv):
        delta[i] += here.delta[i]
    deepest = run.problem.way[0]
    if deepest > SHALLOW and largest_in(run.nv, delta, run.scales.local) > STRETCHED * deepest:
        return ELSEWHERE
    moved_by(delta, e, q, v, run, scratch)
    return PUSHES
