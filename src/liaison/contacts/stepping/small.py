"""Moreau and Jean's steps of a small mechanism by fused entries: few loops over few numbers.

The same steps as `moreau`, of the same unilateral rows; matrices stay inside the entries of
`program.gpu.fused`, contacts that are open take no work, and one contact alone is solved in closed
form. A step that is not of the ordinary kind (rows that depend on each other, restitution that
would gain energy; a motor that comes to its limit, see `bent`) ends with ELSEWHERE before
positions, velocities and modes are changed: the general loops then take it.

Public names: ELSEWHERE, FusedEntries, small_words, small_free, small_impulses, small_rounds,
end_status, speed_status, small_end, small_stand.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from typing import final

from liaison.contacts.events.edges import EDGE
from liaison.program.loops.language import at, f64, i64, kernel, loop, ptr
from liaison.program.loops.records import Part, Record, sized, words_of
from liaison.simulation.steps.layout import GOOD, NOT_FINITE, RAN_AWAY, Entries, Run
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP, OPEN, RATE
from liaison.solvers.cones.lone import contact_and_stop, lone_contact
from liaison.solvers.cones.near import solve_cones_near
from liaison.solvers.linear.dense import (
    backward_solve,
    cholesky,
    dot,
    forward_solve,
    largest_in,
)

from .modes import SLOW, friction_mode, least_hit
from .moreau import AGAIN, UNSOLVED, choose, reach, taken_on, work
from .phases import NEAR, ROUNDS, SHALLOW, STRETCHED, place
from .rows import NOT_YET, forget_end, forget_rows, one_sided

ELSEWHERE = -9
"""A status: the general loops take this step."""

LEAST = 1e-7
"""Pivots below this part of their rows are for loops that exchange rows."""

APART = 1e-8
"""The same of squares of contacts that are held together."""

FASTEST = 1e9
"""In natural speeds of the mechanism: nothing moves so fast, but steps that are too long do."""

ENOUGH = 100.0
"""Residuals of closures beside their tolerances, which are rounding, that one correction leaves."""

ROUNDED = 1e-14
"""The same beside 1 + |q|, or 1 + |v|, where tolerances are below rounding."""


@loop
def enough(limit: f64, size: f64) -> f64:
    """The residual of closures that a correction may leave."""
    return max(ENOUGH * limit, ROUNDED * size)


@final
class FusedEntries(Record):
    """Addresses of the fused entries, among those that steps of a method call."""

    free: kernel
    rows: kernel
    row: kernel
    push: kernel
    again: kernel
    back: kernel
    land: kernel
    sides: kernel
    middle: kernel
    moved: kernel
    bend: kernel


@final
class Left(Part):
    """What fused entries leave for each other midway."""

    bent: ptr = sized("1")  # above 0: laws of loads are not linear up to the end
    least: ptr = sized("1")  # pivot
    v_end: ptr = sized("nv")  # of the free motion
    gap_end: ptr = sized("nb")
    q_end: ptr = sized("nq")
    clock: ptr = sized("2")  # h, and the time at the end
    v: ptr = sized("nv")
    right: ptr = sized("nc")  # what closures ask for
    factor: ptr = sized("nv * nv + nc * (nv + nc + 2)")
    v_new: ptr = sized("nv")  # under impulses
    gap_new: ptr = sized("nb")
    q_new: ptr = sized("nq")
    bent_new: ptr = sized("1")
    bend: ptr = sized("2 + nv + 2 * nf")  # what `bend` reads, see `bent`


@final
class Landing(Part):
    """What the entry `land` says of a new state."""

    least: ptr = sized("1")  # pivot
    delta: ptr = sized("nv")  # the shortest way onto closures
    v: ptr = sized("nv")  # on closures
    phi: ptr = sized("nphi")
    rate: ptr = sized("nc")  # what velocities miss of closures
    rate_left: ptr = sized("nc")  # the same of those on closures
    gap: ptr = sized("nb")
    factor: ptr = sized("nv * nv + nc * (nv + nc + 2)")


@loop
def small_words(run: Run) -> i64:
    """Numbers that these take, before the matrices in scratch."""
    return int(max(words_of(Left, run), words_of(Landing, run)))


@loop
def first_word(run: Run) -> i64:
    """Where they begin in scratch."""
    return int(run.scratch_dense - small_words(run))


@loop
def small_free(e: Entries, run: Run, scratch: ptr) -> i64:
    """The free motion of a step, and which blocks it makes active; GOOD, or ELSEWHERE."""
    t = run.t + run.theta * run.h
    left = Left(scratch[first_word(run) :], run)
    run.stage[0] = run.h
    run.stage[1] = run.t_new
    FusedEntries(e.others).free(t, run.q, run.v, run.u, run.p, run.stage, left.floats, scratch)
    if not (left.least[0] > LEAST):
        return ELSEWHERE
    run.rows_chosen = met(left.gap_end, run)
    take_end(left.v_end, left.q_end, run)  # bounds of Stribeck's law depend on it
    if run.rows_chosen > 0:
        FusedEntries(e.others).rows(
            t, run.q, run.v, run.u, run.p, left.v_end, run.mid.floats, scratch
        )
        forget_rows(run)
    else:
        for r in range(run.nr):
            run.impulse[r] = 0.0
        if left.bent[0] > 0.0:
            return ELSEWHERE
    return GOOD


@loop
def take_end(v: ptr, q: ptr, run: Run) -> None:
    """Velocities and positions at the end of the step, for what follows."""
    nv = run.nv
    for i in range(nv):
        run.y[nv + i] = v[i]
    for i in range(run.nq):
        run.landed.q[i] = q[i]


@loop
def met(gaps: ptr, run: Run) -> i64:
    """Blocks that are active: gaps that touch or that the free motion closes, rates, friction."""
    touch = reach(run)
    count = 0
    for k in range(run.nb):
        block = run.blocks[k]
        now = 1
        if block.kind == GAP:
            touches = 1 if run.sides.gap[k] <= touch * run.scales.gap[k] else 0
            now = 1 if gaps[k] <= 0.0 or touches == 1 else 0
        elif block.kind == FRICTION and block.load >= 0:
            now = int(run.active[block.load])
        run.active[k] = now
        count += now
    return count


@loop
def small_impulses(turn: i64, e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses of what is active, and of what becomes so; the second turn with forces anew."""
    if run.rows_chosen == 0:
        return GOOD
    left = Left(scratch[first_word(run) :], run)
    t = run.t + run.theta * run.h
    if turn > 0:
        FusedEntries(e.others).again(
            t, run.q, left.v_new, run.u, run.p, left.v_end, left.v_end, scratch
        )
    status = small_rounds(1 - turn, e, run, scratch)
    if status != GOOD:
        return status
    return ELSEWHERE if left.bent_new[0] > 0.0 else GOOD


@loop
def small_rounds(is_new: i64, e: Entries, run: Run, scratch: ptr) -> i64:
    """Impulses of what is active, and of what becomes so; rows are in the metric unless new."""
    left = Left(scratch[first_word(run) :], run)
    t = run.t + run.theta * run.h
    for _ in range(AGAIN):
        count = choose(run)
        if is_new == 1:
            in_metric(run.rows_chosen, left.factor, e, run, scratch)
            products(run.rows_chosen, run)
        hits = small_rates(left.v_end, run)
        residual = small_problem(count, run)
        if not (residual <= UNSOLVED):
            return ELSEWHERE
        summed(run.rows_chosen, run.problem.P, run.stage, run)
        FusedEntries(e.others).push(
            t, run.q, run.stage, run.u, run.p, left.v_end, left.v_new, scratch
        )
        take_end(left.v_new, left.q_new, run)
        if hits > 0 and work(run) > 0.0:
            return ELSEWHERE
        if joined(left.gap_new, run) == 0:
            run.complementarity = max(run.complementarity, residual)
            break
        is_new = 1
    return GOOD


@loop
def products(m: i64, run: Run) -> None:
    """A of the rows chosen."""
    A = run.problem.A
    for i in range(m):
        x = run.in_metric[run.chosen[i]]
        for j in range(i + 1):
            y = run.in_metric[run.chosen[j]]
            total = 0.0
            for k in range(run.nv):
                total += x[k] * y[k]
            A[i * m + j] = total
            A[j * m + i] = total


@loop
def joined(gaps: ptr, run: Run) -> i64:
    """Gaps that the impulses of others close join the problem; how many."""
    count = 0
    for k in range(run.nb):
        block = run.blocks[k]
        if block.kind == GAP and run.active[k] == 0 and gaps[k] < 0.0:
            run.active[k] = 1
            count += 1
        elif block.kind == FRICTION and block.load >= 0:
            run.active[k] = run.active[block.load]
    return count


@loop
def small_problem(count: i64, run: Run) -> f64:
    """P of the active blocks; the residual of the problem."""
    problem = run.problem
    m = run.rows_chosen
    P = problem.P
    residual = lone_contact(m, count, problem.A, problem.b, run.cone, problem.limits, P)
    if residual < 0.0:
        residual = contact_and_stop(
            m, count, problem.A, problem.b, run.cone, problem.limits, P, run.area
        )
    if residual < 0.0:
        for i in range(m):
            P[i] = run.impulse[run.chosen[i]]
        residual = solve_cones_near(
            m, count, problem.A, problem.b, run.cone, problem.limits, P, run.area
        )
    for r in range(run.nr):
        run.impulse[r] = 0.0
    for i in range(m):
        run.impulse[run.chosen[i]] = P[i]
    run.contacts = max(run.contacts, count)
    return residual


@loop
def in_metric(m: i64, factor: ptr, e: Entries, run: Run, scratch: ptr) -> None:
    """X of the rows chosen, of those that have none yet."""
    for j in range(m):
        r = run.chosen[j]
        x = run.in_metric[r]
        if x[0] == NOT_YET:
            FusedEntries(e.others).row(0.0, run.q, run.mid.D[r], run.u, run.p, factor, x, scratch)


@loop
def small_rates(free: ptr, run: Run) -> i64:
    """b of the problem: rates of the free motion at the end; how many have restitution."""
    nv = run.nv
    hits = 0
    b = run.problem.b
    taken_on(run.rows_chosen, run)
    for k in range(run.nb):
        if run.active[k] == 1:
            cone = run.cone[run.cone_of[k]]
            for i in range(cone.first, cone.first + cone.rows):
                r = run.chosen[i]
                D = run.mid.D[r]
                u = run.mid.rate[r] + run.problem.taken[i]
                for j in range(nv):
                    u += D[j] * (free[j] - run.v[j])
                b[i] = u
            if run.blocks[k].kind == GAP:
                i = cone.first
                u = run.sides.rate[run.blocks[k].first]
                run.hits[k] = 0
                if u >= 0.0:
                    b[i] += u if u >= SLOW * run.scales.rate[k] else 0.0
                elif u < -least_hit(k, run) and b[i] - u >= u:
                    b[i] += run.mid.laws[k].restitution * u
                    run.hits[k] = 1
                    hits += 1
    return hits


@loop
def summed(m: i64, f: ptr, w: ptr, run: Run) -> None:
    """w := X f of the rows chosen."""
    for i in range(run.nv):
        w[i] = 0.0
    for k in range(m):
        row = run.in_metric[run.chosen[k]]
        for i in range(run.nv):
            w[i] += f[k] * row[i]


@loop
def end_status(run: Run) -> i64:
    """GOOD for positions and velocities that can be, or why not."""
    bad = 0.0
    for i in range(run.nq):
        bad += run.landed.q[i] - run.landed.q[i]
    return speed_status(run) if bad == 0.0 else NOT_FINITE


@loop
def speed_status(run: Run) -> i64:
    """The same of the velocities at the end of a step."""
    speed = largest_in(run.nv, at(run.y, run.nv), run.scales.velocity)
    if speed <= FASTEST:
        return GOOD
    return RAN_AWAY if speed > FASTEST else NOT_FINITE


@loop
def small_end(run: Run) -> i64:
    """Modes after a step whose end can be."""
    status = end_status(run)
    if status != GOOD:
        return status
    for k in range(run.nb):
        run.mode[k] = mode_after(k, run) if run.active[k] == 1 else OPEN
    return GOOD


@loop
def mode_after(k: i64, run: Run) -> i64:
    """The mode of an active block after the step, as `note_modes` finds it."""
    block = run.blocks[k]
    impulse = run.impulse[block.first]
    if block.kind == RATE:
        return CLOSED if impulse > 0.0 else OPEN
    if block.kind == FRICTION:
        return friction_mode(k, run)
    if run.hits[k] == 1 and impulse > 0.0 and run.mid.laws[k].restitution > 0.0:
        return OPEN
    return CLOSED if run.mode[k] == CLOSED or impulse > 0.0 else OPEN


@loop
def small_stand(e: Entries, run: Run, scratch: ptr) -> i64:
    """The new state on its closures and out of penetration."""
    nv = run.nv
    q = run.landed.q
    v = run.landed.v
    for i in range(nv):
        v[i] = run.y[nv + i]
    forget_end(run)
    status = small_place(e, q, v, run, scratch)
    if status == ELSEWHERE:
        status = place(e, run.t_new, q, v, run, scratch)
        if status == GOOD and run.has_closure > 0:
            status = project(e, run.t_new, q, v, run, scratch)
    run.steps += 1 if status == GOOD else 0
    return status


@loop
def small_place(e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr) -> i64:
    """q out of penetration, then onto closures, and v onto them; ELSEWHERE where it takes more.

    Contacts that stay closed are held while others are open; corrections are Newton's.
    """
    here = Landing(scratch[first_word(run) :], run)
    is_out = 0
    corrected = 0
    off = 0.0
    size = 1.0 + largest_in(run.nq, q, run.scales.position)
    for turn in range(ROUNDS):
        FusedEntries(e.others).land(run.t_new, q, v, run.u, run.p, q, here.floats, scratch)
        if not (here.least[0] > LEAST):
            return ELSEWHERE
        if is_out == 0:
            measure_gaps(here.gap, run)
            deepest = run.stage[0]
            off = 0.0 if turn > 1 else run.stage[1]
            if max(deepest, off) > run.gap_tolerance:
                if not (off > run.gap_tolerance) or held_rows_of(deepest, here.gap, run) == 0:
                    return ELSEWHERE
                if small_push(deepest, e, q, v, run, scratch) != GOOD:
                    return ELSEWHERE
                continue
            is_out = 1
            run.penetration = max(run.penetration, deepest_gap(deepest, here.gap, run))
        off = largest_in(run.nphi, here.phi, run.scales.closure)
        limit = run.tolerance[0] * size
        if off <= (limit if corrected == 0 else enough(limit, size)):
            return small_velocities(here, v, run)
        if corrected == 2:
            return ELSEWHERE
        corrected += 1
        moved_by(here.delta, e, q, v, run, scratch)
    return ELSEWHERE


@loop
def small_velocities(here: Landing, v: ptr, run: Run) -> i64:
    """v on its closures, by what `land` found there; ELSEWHERE where that is not enough."""
    nv = run.nv
    nc = run.nc
    rate = largest_in(nc, here.rate, run.scales.closure_rate)
    size = 1.0 + largest_in(nv, v, run.scales.velocity)
    limit = run.tolerance[1] * size
    if rate <= limit:
        return GOOD
    after = largest_in(nc, here.rate_left, run.scales.closure_rate)
    if after < rate:
        for i in range(nv):
            v[i] = here.v[i]
        rate = after
    return GOOD if rate <= enough(limit, size) else ELSEWHERE


@loop
def measure_gaps(gaps: ptr, run: Run) -> None:
    """The deepest penetration, and the largest gap of what stays closed, in units: `stage`."""
    deepest = 0.0
    off = 0.0
    for k in range(run.nb):
        gap = gaps[k]
        if gap < 0.0 and run.blocks[k].kind == GAP:
            deepest = max(deepest, -gap / run.scales.gap[k])
        if run.mode[k] == CLOSED and is_kept(k, gaps, run) == 1:
            off = max(off, abs(gap) / run.scales.gap[k])
    run.stage[0] = deepest
    run.stage[1] = off


@loop
def deepest_gap(deepest: f64, gaps: ptr, run: Run) -> f64:
    """The same [m], where there is any."""
    worst = 0.0
    if deepest > 0.0:
        for k in range(run.nb):
            if run.blocks[k].kind == GAP:
                worst = max(worst, -gaps[k])
    return worst


@loop
def is_kept(k: i64, gaps: ptr, run: Run) -> i64:
    """1 if the block is a gap that stays closed under a force."""
    if run.mode[k] != CLOSED or run.blocks[k].kind != GAP:
        return 0
    if gaps[k] > EDGE * run.scales.gap[k]:
        return 0
    return 1 if run.impulse[run.blocks[k].first] > 0.0 else 0


@loop
def held_rows_of(deepest: f64, gaps: ptr, run: Run) -> i64:
    """Lists contacts that stay closed, with what they ask for; 0 where others are near."""
    m = 0
    for k in range(run.nb):
        if is_kept(k, gaps, run) == 1:
            run.chosen[m] = run.blocks[k].first
            run.problem.P[m] = -gaps[k]
            m += 1
        elif run.blocks[k].kind == GAP and gaps[k] <= NEAR * deepest * run.scales.gap[k]:
            return 0
    run.rows_chosen = m
    return m


@loop
def small_push(deepest: f64, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr) -> i64:
    """One correction of q: closed gaps and closures to zero."""
    nv = run.nv
    m = run.rows_chosen
    here = Landing(scratch[first_word(run) :], run)
    one_sided(e, run.t_new, q, v, run.mid, run, scratch)
    forget_rows(run)
    in_metric(m, here.factor, e, run, scratch)
    if held_forces(m, here.delta, run) != 0:
        return ELSEWHERE
    delta = run.free.moved
    summed(m, run.problem.P, run.stage, run)
    FusedEntries(e.others).back(0.0, q, run.stage, run.u, run.p, here.factor, delta, scratch)
    for i in range(nv):
        delta[i] += here.delta[i]
    # what is hit may lift others; one alone that has to be pushed has no other way
    has_ways = 1 if m > 1 or run.problem.P[0] <= 0.0 else 0
    long = largest_in(nv, delta, run.scales.local) if deepest > SHALLOW else 0.0
    if has_ways == 1 and long > STRETCHED * deepest:
        return ELSEWHERE
    moved_by(delta, e, q, v, run, scratch)
    return GOOD


@loop
def moved_by(delta: ptr, e: Entries, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """q := q ⊞ δ."""
    e.retract(run.t_new, q, v, run.u, run.p, delta, run.free.q, scratch)
    for i in range(run.nq):
        q[i] = run.free.q[i]


@loop
def held_forces(m: i64, delta: ptr, run: Run) -> i64:
    """P with A P = what is left of the gaps, in place; not 0 where rows depend on each other."""
    nv = run.nv
    A = run.problem.A
    P = run.problem.P
    products(m, run)
    for i in range(m):
        P[i] -= dot(nv, run.mid.D[run.chosen[i]], delta)
        run.problem.way[i] = A[i * m + i]
    if cholesky(m, A) != 0:
        return 1
    for i in range(m):
        if not (A[i * m + i] * A[i * m + i] > APART * run.problem.way[i]):
            return 1
    forward_solve(m, A, P)
    backward_solve(m, A, P)
    return 0
