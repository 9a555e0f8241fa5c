"""Back to the closures, a state a lane: as `steps/projection.py` does it, bit for bit.

Corrections go on until every lane is on its closures; a lane that is there keeps its state. What is
unusual in a lane (the first few projections of a run, which are pivoted, and corrections that
stall) is done for it alone, by the functions of one run.

Public names: lane_project, lane_refresh.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, NEEDS_TERMS, Entries, Run
from liaison.simulation.steps.projection import SLACK, STALL, project

from .lane_layout import Group, drop, put_lane, take_lane
from .loop import supply


@loop
def lane_refresh(
    wide: Entries, t: f64, q: ptr, v: ptr, u: ptr, group: Group, clock: Run, work: ptr
) -> None:
    """Inputs given by formulas, evaluated into u."""
    lanes = group.lanes
    if clock.ni > 0:
        out = group.formulas
        wide.inputs(t, q, v, u, group.p, q, out, work)
        for i in range(clock.ni):
            row = at(u, clock.input[i] * lanes)
            for k in range(lanes):
                row[k] = out[i * lanes + k]


@loop
def lane_project(
    e: Entries, wide: Entries, t: f64, q: ptr, v: ptr, group: Group, clock: Run, blocks: ptr,
    scratch: ptr, work: ptr,
) -> None:  # fmt: skip
    """q and v of every lane back to the closures, in place; drops lanes that cannot be."""
    lanes = group.lanes
    does = group.does
    does.copied(clock.nq * lanes, q, group.kept_q)
    does.copied(clock.nv * lanes, v, group.kept_v)
    for k in range(lanes):
        group.is_done[k] = 1 - group.is_active[k]
        group.has_moved[k] = 0
    wide.closure(t, q, v, group.u, group.p, q, group.out, work)
    for level in range(2):
        if pending(e, level, t, q, v, group, clock, blocks, scratch) > 0:
            lane_corrections(e, wide, level, t, q, v, group, clock, blocks, scratch, work)
    for k in range(lanes):
        group.projections[k] += group.has_moved[k] * (1 - group.is_done[k])


@loop
def pending(
    e: Entries, level: i64, t: f64, q: ptr, v: ptr, group: Group, clock: Run, blocks: ptr,
    scratch: ptr,
) -> i64:  # fmt: skip
    """Lanes that are not on their closures; runs that begin are brought there alone."""
    lanes = group.lanes
    does = group.does
    scales = clock.scales
    tolerance = clock.tolerance[level]
    lane_residuals(level, group.out, group.worst, group, clock)
    if does.count_above(lanes, tolerance, group.worst, group.is_active) == 0:
        return 0  # whatever the sizes are
    if level == 0:
        does.largest_of(clock.nq, lanes, q, scales.position, group.measure, group.bad)
    else:
        does.largest_of(clock.nv, lanes, v, scales.velocity, group.measure, group.bad)
    limit = group.tolerance
    count = does.count_pending(
        lanes, tolerance, group.worst, group.measure, limit, group.is_done, group.is_pending
    )
    if count > 0 and clock.pivots_left > 0:
        clock.pivots_left = 0
        for k in range(lanes):
            own = Run(at(blocks, k * clock.words))
            clock.pivots_left += own.pivots_left * group.is_active[k]
            if group.is_pending[k] > 0 and own.pivots_left > 0:
                project_alone(e, t, k, q, v, group, clock, blocks, scratch)
                count -= 1
    return int(count)


@loop
def lane_residuals(level: i64, out: ptr, most: ptr, group: Group, clock: Run) -> None:
    """The largest residual of every lane, of positions (level 0) or of rates."""
    lanes = group.lanes
    scales = clock.scales
    if level == 0:
        group.does.largest_of(clock.nphi, lanes, out, scales.closure, most, group.bad)
    else:
        rates = at(out, clock.nphi * lanes)
        group.does.largest_of(clock.nc, lanes, rates, scales.closure_rate, most, group.bad)


@loop
def project_alone(
    e: Entries, t: f64, lane: i64, q: ptr, v: ptr, group: Group, clock: Run, blocks: ptr,
    scratch: ptr,
) -> None:  # fmt: skip
    """The projection of one lane anew, as one run does it: from its beginning after each need."""
    lanes = group.lanes
    own = Run(at(blocks, lane * clock.words))
    own_q = own.landed.q
    own_v = own.landed.v
    take_lane(clock.nu, lanes, lane, group.u, own.u)
    group.is_pending[lane] = 0
    group.is_done[lane] = 1
    status = NEEDS_TERMS
    is_ready = 1
    while is_ready == 1:
        take_lane(clock.nq, lanes, lane, group.kept_q, own_q)
        take_lane(clock.nv, lanes, lane, group.kept_v, own_v)
        status = project(e, t, own_q, own_v, own, scratch)
        is_ready = supply(status, e, own)
    if status == GOOD:
        put_lane(clock.nq, lanes, lane, own_q, q)
        put_lane(clock.nv, lanes, lane, own_v, v)
    else:
        drop(group, lane)


@loop
def lane_corrections(
    e: Entries, wide: Entries, level: i64, t: f64, q: ptr, v: ptr, group: Group, clock: Run,
    blocks: ptr, scratch: ptr, work: ptr,
) -> None:  # fmt: skip
    """Corrections of q (level 0) or v (level 1) while they help."""
    lanes = group.lanes
    does = group.does
    correct = entry_at(wide.correct, level)
    for _ in range(clock.iterations):
        if does.count_open(lanes, group.worst, group.tolerance, group.is_pending) == 0:
            return
        correct(t, q, v, group.u, group.p, q, group.stage, work)
        if level == 0:
            wide.retract(t, q, v, group.u, group.p, group.stage, group.moved_q, work)
            wide.closure(
                t, group.moved_q, v, group.u, group.p, group.moved_q, group.moved_out, work
            )
        else:
            does.added(clock.nv * lanes, v, group.stage, group.moved_v)
            wide.closure(t, q, group.moved_v, group.u, group.p, q, group.moved_out, work)
        lane_residuals(level, group.moved_out, group.after, group, clock)
        if lanes_stuck(group) > 0:
            for k in range(lanes):
                if group.is_stuck[k] > 0:
                    project_alone(e, t, k, q, v, group, clock, blocks, scratch)
        if level == 0:
            # what is left of the rates goes with the positions
            does.replaced(clock.nq, lanes, group.is_pending, group.moved_q, q)
            does.replaced(group.rows, lanes, group.is_pending, group.moved_out, group.out)
        else:
            does.replaced(clock.nv, lanes, group.is_pending, group.moved_v, v)
    for k in range(lanes):
        if group.is_pending[k] > 0 and not (group.worst[k] <= clock.lost * group.measure[k]):
            drop(group, k)


@loop
def lanes_stuck(group: Group) -> i64:
    """How many lanes stall away from rounding; those that take their correction stay pending."""
    return int(
        group.does.count_stuck(
            group.lanes, STALL, SLACK, group.worst, group.after, group.tolerance, group.is_pending,
            group.is_stuck, group.has_moved,
        )
    )  # fmt: skip
