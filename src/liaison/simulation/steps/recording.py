"""Recording: the requested states, at step ends or from the dense output, projected.

Public names: sample, arrive, keep.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .explicit import refresh, state_at
from .layout import COMMIT, CONTROL, FINISHED, FULL, GOOD, STOPPING, TRY, Entries, Run
from .projection import project

ROUNDING = 8.9e-16  # instants closer than this, relatively, are one


@loop
def sample_time(k: i64, run: Run) -> f64:
    """The k-th instant to record."""
    if run.grid > 0:
        return float(run.instants[k])
    return float(run.t_start + float(k) * run.period)


@loop
def record(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr, records: ptr) -> None:
    """One row of the recording: t, q, v, u."""
    nq = run.nq
    nv = run.nv
    refresh(e, t, q, v, run, scratch)
    row = at(records, run.recorded * (1 + nq + nv + run.nu))
    row[0] = t
    for i in range(nq):
        row[1 + i] = q[i]
    for i in range(nv):
        row[1 + nq + i] = v[i]
    for i in range(run.nu):
        row[1 + nq + nv + i] = run.u[i]
    run.recorded += 1


@loop
def sample(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Records every requested instant inside the step, from the dense output, projected."""
    q = run.trial.q
    v = run.trial.v
    end = run.t_new - ROUNDING * max(abs(run.t_new), run.h)
    while run.next_sample < run.samples:
        t = sample_time(run.next_sample, run)
        if t >= end:
            break
        if run.recorded >= run.capacity:
            return FULL
        state_at(e, (t - run.t) / run.h, q, v, run, scratch)
        refresh(e, t, q, v, run, scratch)
        status = project(e, t, q, v, run, scratch)
        if status != GOOD:
            return status
        record(e, t, q, v, run, scratch, records)
        run.next_sample += 1
    run.phase = COMMIT
    return GOOD


@loop
def arrive(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Records the state if it is requested; returns CONTROL at a control instant.

    Where an event stops the run, the last state is recorded also beside a list of instants, if
    that is asked for: runs of a batch share their instants, and have no room for others.
    """
    t = run.t
    ends = 1 if t >= run.t_end or run.is_stopping > 0 else 0
    is_last = 1 if t >= run.t_end or run.is_stopping == STOPPING else 0
    count = run.records_steps * (1 - run.is_part) + is_last * run.records_end
    if run.is_stopping == STOPPING:
        count += run.records_stop
    if run.next_sample < run.samples:
        instant = sample_time(run.next_sample, run)
        if instant <= t + ROUNDING * max(abs(t), run.h):
            t = instant
            count += 1
    if count > 0:
        if run.recorded >= run.capacity:
            return FULL
        if run.next_sample < run.samples and t == sample_time(run.next_sample, run):
            run.next_sample += 1
        record(e, t, run.q, run.v, run, scratch, records)
    keep(run)
    run.phase = FINISHED if ends == 1 else TRY
    if ends == 0 and run.t == run.t_control:
        return CONTROL
    return GOOD


@loop
def keep(run: Run) -> None:
    """Notes the state as the last good one."""
    nq = run.nq
    good = run.good
    run.t_good = run.t
    for i in range(nq):
        good.q[i] = run.q[i]
    for i in range(run.nv):
        good.v[i] = run.v[i]
