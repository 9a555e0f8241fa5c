"""One explicit step of fixed size, a state a lane: as `steps/advance.py` does it, bit for bit.

The stages, the new state on its closures, and the look at the energy are computed for all lanes at
once; recording is done run by run. A lane in which something is not as in an ordinary step (a
number that is not finite, closures that are lost, a step that is to be divided) is dropped, and its
run is made again alone: whatever follows and is reported is that of one run.

Public names: lane_step, lane_commit, observe_lanes, share_out.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.steps.explicit import solved_again
from liaison.simulation.steps.layout import GOOD, NO_EVENT, NOT_KEPT, STORED, Entries, Run
from liaison.simulation.steps.recording import (
    add_node,
    close_nodes,
    enter,
    note_energy,
    resume,
)
from liaison.simulation.steps.stepsize import SHORTEST, choose_step, is_pulled
from liaison.solvers.linear.dense import largest

from .lane_layout import Group, drop, put_lane, take_lane
from .lane_projection import lane_project, lane_refresh
from .loop import supply


@loop
def share_out(lane: i64, group: Group, clock: Run, blocks: ptr) -> None:
    """State and inputs of a lane, and the instant, into the run of that lane."""
    lanes = group.lanes
    own = Run(at(blocks, lane * clock.words))
    take_lane(clock.nq, lanes, lane, group.q, own.q)
    take_lane(clock.nv, lanes, lane, group.v, own.v)
    take_lane(clock.nu, lanes, lane, group.u, own.u)
    own.t = clock.t
    own.t_new = clock.t_new
    own.h = clock.h


@loop
def lane_combine(count: i64, weights: ptr, y: ptr, group: Group, clock: Run) -> None:
    """y = (0, v) + h Σ weights_j k_j over the first `count` stages."""
    lanes = group.lanes
    n = clock.nv * lanes
    k = group.k[0]
    group.does.combined(n, 2 * n + lanes, count, clock.h, weights, group.v, k, y)


@loop
def lane_derivatives(
    e: Entries, wide: Entries, t: f64, k: ptr, group: Group, clock: Run, blocks: ptr,
    scratch: ptr, work: ptr,
) -> None:  # fmt: skip
    """k = (ξ̇, v̇, residual) at the stage of every lane, in the chart of the step."""
    lanes = group.lanes
    nv = clock.nv
    y = group.stage
    v = at(y, nv * lanes)
    q = group.q
    if clock.inputs_read_q > 0:
        q = group.trial_q
        wide.retract(t, group.q, v, group.u, group.p, y, q, work)
    lane_refresh(wide, t, q, v, group.u, group, clock, work)
    clock.evaluations += 1
    wide.rate(t, group.q, v, group.u, group.p, y, k, work)
    if clock.nc > 0:
        residual = at(k, 2 * nv * lanes)
        limit = clock.residual_tolerance
        if group.does.count_above(lanes, limit, residual, group.is_active) > 0:
            for i in range(lanes):
                if group.is_active[i] > 0 and not (residual[i] <= limit):
                    solve_alone(e, t, i, k, group, clock, blocks, scratch)


@loop
def solve_alone(
    e: Entries, t: f64, lane: i64, k: ptr, group: Group, clock: Run, blocks: ptr, scratch: ptr
) -> None:
    """v̇ of one lane anew by the pivoted solver, where its residual is too large for its size."""
    lanes = group.lanes
    nv = clock.nv
    share_out(lane, group, clock, blocks)
    own = Run(at(blocks, lane * clock.words))
    own_k = own.k[0]
    take_lane(2 * nv, lanes, lane, group.stage, own.stage)
    take_lane(2 * nv + 1, lanes, lane, k, own_k)
    limit = clock.residual_tolerance * (1.0 + largest(nv, at(own_k, nv)))
    if own_k[2 * nv] <= limit:
        return
    status = solved_again(e, t, own.stage, own_k, own, scratch)
    if supply(status, e, own) == 1:
        own.evaluations += clock.evaluations - group.evaluated  # one run begins the step anew
        status = solved_again(e, t, own.stage, own_k, own, scratch)
    if status == GOOD:
        put_lane(2 * nv, lanes, lane, own_k, k)
    else:
        drop(group, lane)


@loop
def drop_not_finite(group: Group, clock: Run) -> None:
    """Drops lanes whose new state is not finite."""
    lanes = group.lanes
    if group.does.infinite_of(2 * clock.nv, lanes, group.y, group.bad) > 0:
        for k in range(lanes):
            if group.bad[k] != 0.0:  # NaN differs from all
                drop(group, k)


@loop
def drop_pulled(v: ptr, group: Group, clock: Run, blocks: ptr) -> None:
    """Drops lanes whose first step is to be divided: closures undo too much of it."""
    lanes = group.lanes
    nv = clock.nv
    if not (clock.t < clock.t_start + 0.5 * clock.step):
        return
    if not (clock.h > 1.5 * SHORTEST * clock.step):
        return
    for lane in range(lanes):
        own = Run(at(blocks, lane * clock.words))
        own.h = clock.h
        take_lane(2 * nv, lanes, lane, group.y, own.y)
        take_lane(nv, lanes, lane, v, own.landed.v)
        for j in range(clock.ns):
            take_lane(2 * nv + 1, lanes, lane, group.k[j], own.k[j])
        if is_pulled(own.landed.v, own) == 1:
            drop(group, lane)


@loop
def lane_step(
    e: Entries, wide: Entries, group: Group, clock: Run, blocks: ptr, scratch: ptr, work: ptr
) -> None:
    """The next step of every lane up to its new state: positions in `landed_q`, and in `y`."""
    lanes = group.lanes
    choose_step(clock)
    group.evaluated = clock.evaluations
    for i in range(clock.is_fresh, clock.ns):
        lane_combine(i, clock.a[i], group.stage, group, clock)
        t = clock.t + clock.c[i] * clock.h
        lane_derivatives(e, wide, t, group.k[i], group, clock, blocks, scratch, work)
    y = group.y
    lane_combine(clock.ns, clock.b, y, group, clock)
    drop_not_finite(group, clock)
    v = at(y, clock.nv * lanes)
    q = group.landed_q
    if clock.has_closure == 0:
        wide.retract(clock.t_new, group.q, v, group.u, group.p, y, q, work)
    else:
        # the new velocities before and after closures act on them are both needed
        new = group.trial_v
        wide.retract(clock.t_new, group.q, v, group.u, group.p, y, q, work)
        group.does.copied(clock.nv * lanes, v, new)
        lane_refresh(wide, clock.t_new, q, new, group.u, group, clock, work)
        lane_project(e, wide, clock.t_new, q, new, group, clock, blocks, scratch, work)
        drop_pulled(new, group, clock, blocks)
        group.does.copied(clock.nv * lanes, new, v)
    clock.steps += 1


@loop
def lane_commit(group: Group, clock: Run) -> None:
    """The new states become the states; the last stage may serve as first."""
    n = clock.nv * group.lanes
    new = at(group.y, n)
    does = group.does
    does.copied(clock.nq * group.lanes, group.landed_q, group.q)
    does.copied(n, new, group.v)
    clock.is_fresh = clock.reuses_last
    if clock.is_fresh > 0:
        does.copied(n, new, group.k[0])
        does.copied(n, at(group.k[clock.ns - 1], n), at(group.k[0], n))
    clock.t = clock.t_new
    clock.base_steps += 1


@loop
def observe_lanes(
    e: Entries, wide: Entries, group: Group, clock: Run, blocks: ptr, scratch: ptr, work: ptr
) -> None:
    """Enters a step into the balances of energy, before its end becomes the state."""
    lanes = group.lanes
    ledger = clock.ledger
    if ledger.kind == NOT_KEPT:
        return
    if ledger.event != NO_EVENT:
        ledger.event = NO_EVENT
        for lane in range(lanes):
            if group.is_active[lane] > 0:
                share_out(lane, group, clock, blocks)
                own = Run(at(blocks, lane * clock.words))
                resume(e, own, scratch)
    ends = 1 if clock.t_new >= clock.t_end else 0
    ledger.due -= 1
    if ledger.due > 0 and ends == 0:
        return
    ledger.due = ledger.stride
    v = at(group.y, clock.nv * lanes)
    u = group.seen_u
    group.does.copied(clock.nu * lanes, group.u, u)
    lane_refresh(wide, clock.t_new, group.landed_q, v, u, group, clock, work)
    q = group.landed_q
    wide.watch(clock.t_new, q, v, u, group.p, q, group.seen, work)
    for lane in range(lanes):
        if group.is_active[lane] > 0:
            group.does.note(lane, ends, group, clock, blocks)


@loop
def enter_alone(lane: i64, ends: i64, group: Group, clock: Run, blocks: ptr) -> None:
    """What a lane has seen goes into its own balance."""
    own = Run(at(blocks, lane * clock.words))
    ledger = own.ledger
    take_lane(3, group.lanes, lane, group.seen, ledger.out)
    ledger.energy = note_energy(ledger)
    if ledger.kind == STORED:
        enter(clock.t_new, ledger.energy, ledger)
        return
    add_node(clock.t_new, ledger)
    if ends == 1:
        close_nodes(ledger)
