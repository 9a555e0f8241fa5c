"""Runs of a share side by side, a run a lane: groups of them, from their starts to their ends.

`run_lanes` comes back when the share is done or its steps are used up. The start of a run, what it
records and its end are those of one run, done one after the other by the functions of one run.

Public names: run_lanes, compiled_lanes, compiled_note.
"""

from __future__ import annotations

from functools import cache

from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.simulation.steps.advance import begin
from liaison.simulation.steps.layout import DONE, GOOD, NOT_KEPT, RESUMED, Entries, Run
from liaison.simulation.steps.recording import (
    ROUNDING,
    arrive,
    begin_balance,
    sample_time,
)

from .lane_layout import Group, drop, put_lane, take_lane
from .lane_projection import lane_project, lane_refresh
from .lane_steps import enter_alone, lane_commit, lane_step, observe_lanes, share_out
from .loop import End, Task, end_run, start_run, supply


@loop
def start_group(
    e: Entries, task: Task, group: Group, first: Run, clock: Run, blocks: ptr, scratch: ptr,
    starts: ptr, records: ptr, event_log: ptr,
) -> None:  # fmt: skip
    """The next runs of the share, each in its lane; lanes that are left over repeat the last."""
    lanes = group.lanes
    group.count = min(lanes, group.last - group.next)
    group.active = group.count
    start_run(group.runs[group.next], task, first, clock, starts)
    clock.ledger.event = RESUMED
    clock.ledger.due = clock.ledger.stride
    for lane in range(lanes):
        i = group.runs[group.next + min(lane, group.count - 1)]
        own = Run(at(blocks, lane * clock.words))
        start_run(i, task, first, own, starts)
        group.is_active[lane] = 1 if lane < group.count else 0
        group.projections[lane] = 0
        if lane < group.count:
            start_lane(e, lane, group, own, scratch, at(records, i * group.record_words), event_log)
        put_lane(clock.nq, lanes, lane, own.q, group.q)
        put_lane(clock.nv, lanes, lane, own.v, group.v)
        put_lane(clock.nu, lanes, lane, own.u, group.u)
        put_lane(clock.np, lanes, lane, own.p, group.p)
    clock.next_sample = passed_instants(clock)
    group.is_under_way = 1


@loop
def start_lane(
    e: Entries, lane: i64, group: Group, own: Run, scratch: ptr, records: ptr, event_log: ptr
) -> None:
    """The start of one run made fit and recorded; a run that cannot begin is dropped."""
    if own.ledger.kind != NOT_KEPT:
        begin_balance(e, own, scratch)
    status = begin(e, own, scratch, event_log)
    while supply(status, e, own) == 1:
        status = begin(e, own, scratch, event_log)
    if status != GOOD or arrive(e, own, scratch, records) != GOOD:
        drop(group, lane)


@loop
def is_due(clock: Run) -> i64:
    """1 if the instant reached is one to record, as `arrive` sees it."""
    if clock.next_sample >= clock.samples:
        return 0
    instant = sample_time(clock.next_sample, clock)
    return 1 if instant <= clock.t + ROUNDING * max(abs(clock.t), clock.h) else 0


@loop
def passed_instants(clock: Run) -> i64:
    """The next instant to record after the one that was reached."""
    return int(clock.next_sample + is_due(clock))


@loop
def sample_lanes(
    e: Entries, wide: Entries, group: Group, clock: Run, blocks: ptr, scratch: ptr, work: ptr,
    records: ptr,
) -> None:  # fmt: skip
    """Records every requested instant inside the step, from the dense output, projected."""
    end = clock.t_new - ROUNDING * max(abs(clock.t_new), clock.h)
    while clock.next_sample < clock.samples:
        t = sample_time(clock.next_sample, clock)
        if t >= end:
            return
        lane_states_at((t - clock.t) / clock.h, wide, group, clock, work)
        q = group.trial_q
        v = group.trial_v
        lane_refresh(wide, t, q, v, group.u, group, clock, work)
        if clock.has_closure > 0:
            lane_project(e, wide, t, q, v, group, clock, blocks, scratch, work)
            lane_refresh(wide, t, q, v, group.u, group, clock, work)
        for lane in range(group.count):
            if group.is_active[lane] > 0:
                own = Run(at(blocks, lane * clock.words))
                record_lane(t, lane, group, own, records)
        clock.next_sample += 1


@loop
def lane_states_at(theta: f64, wide: Entries, group: Group, clock: Run, work: ptr) -> None:
    """q, v of every lane at the fraction θ of the step under way."""
    lanes = group.lanes
    n = clock.nv * lanes
    degree = clock.nd
    for j in range(clock.ns):
        c = 0.0
        for d in range(degree):
            c = (c + clock.dense[j, degree - 1 - d]) * theta
        group.weights[j] = c
    y = group.stage
    k = group.k[0]
    group.does.interpolated(n, 2 * n + lanes, clock.ns, clock.h, group.weights, group.v, k, y)
    v = group.trial_v
    group.does.copied(n, at(y, n), v)
    t = clock.t + theta * clock.h
    wide.retract(t, group.q, v, group.u, group.p, y, group.trial_q, work)


@loop
def record_lane(t: f64, lane: i64, group: Group, own: Run, records: ptr) -> None:
    """One row of the recording of a run: t, q, v, u."""
    lanes = group.lanes
    nq = own.nq
    nv = own.nv
    first = group.runs[group.next + lane] * group.record_words
    row = at(records, first + own.recorded * (1 + nq + nv + own.nu))
    row[0] = t
    take_lane(nq, lanes, lane, group.trial_q, at(row, 1))
    take_lane(nv, lanes, lane, group.trial_v, at(row, 1 + nq))
    take_lane(own.nu, lanes, lane, group.u, at(row, 1 + nq + nv))
    own.recorded += 1
    own.next_sample += 1


@loop
def arrive_lanes(
    e: Entries, task: Task, group: Group, clock: Run, blocks: ptr, scratch: ptr, records: ptr,
    ends: Rows[End], last: ptr,
) -> None:  # fmt: skip
    """Records the states where they are requested, and ends the runs at the last instant."""
    is_over = 1 if clock.t >= clock.t_end else 0
    if is_due(clock) + is_over == 0:
        return
    for lane in range(group.count):
        if group.is_active[lane] > 0:
            i = group.runs[group.next + lane]
            share_out(lane, group, clock, blocks)
            own = Run(at(blocks, lane * clock.words))
            if arrive(e, own, scratch, at(records, i * group.record_words)) != GOOD:
                drop(group, lane)
            elif is_over == 1:
                own.steps = clock.steps
                own.evaluations += clock.evaluations
                own.projections += group.projections[lane]
                end_run(i, DONE, task, own, ends, last)
    clock.next_sample = passed_instants(clock)


@loop
def is_marching(group: Group, clock: Run) -> i64:
    """1 if runs of the group are under way; too many steps are reported by a run alone."""
    if clock.t >= clock.t_end:
        return 0
    if clock.steps >= clock.steps_allowed:
        for lane in range(group.lanes):
            drop(group, lane)
    return 1 if group.active > 0 else 0


@loop
def run_lanes(
    e: Entries, wide: Entries, task: Task, group: Group, first: Run, clock: Run, blocks: ptr,
    scratch: ptr, work: ptr, starts: ptr, records: ptr, event_log: ptr, ends: Rows[End], last: ptr,
) -> i64:  # fmt: skip
    """Goes on with a share of the runs until it is done or the allotted steps are used up.

    wide: entries over all lanes.
    """
    while group.next < group.last and group.budget > 0:
        if group.is_under_way == 0:
            start_group(e, task, group, first, clock, blocks, scratch, starts, records, event_log)
        while group.budget > 0 and is_marching(group, clock) == 1:
            group.budget -= 1
            lane_step(e, wide, group, clock, blocks, scratch, work)
            sample_lanes(e, wide, group, clock, blocks, scratch, work, records)
            observe_lanes(e, wide, group, clock, blocks, scratch, work)
            lane_commit(group, clock)
            arrive_lanes(e, task, group, clock, blocks, scratch, records, ends, last)
        if is_marching(group, clock) == 0:
            group.is_under_way = 0
            group.next += group.count
    return GOOD


@cache
def compiled_lanes(*, portable: bool = False) -> CompiledLoops:
    """The loop above as machine code, once a process."""
    return compile_loops([run_lanes], portable=portable)


@cache
def compiled_note() -> CompiledLoops:
    """`enter_alone`, which calls no functions of the system, with all of LLVM's passes."""
    return compile_loops([enter_alone], optimize=3)
