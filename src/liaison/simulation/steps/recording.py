"""Recording: the states asked for, at step ends or from the dense output, projected.

Public names: sample, arrive, keep.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .explicit import refresh, state_at
from .layout import (
    CAPACITY,
    COMMIT,
    CONTROL,
    FINISHED,
    FULL,
    GOOD,
    GRID,
    IS_PART,
    IS_STOPPING,
    NEXT_SAMPLE,
    NQ,
    NU,
    NV,
    O_GOOD,
    O_GRID,
    O_Q,
    O_TQ,
    O_TV,
    O_U,
    O_V,
    PERIOD,
    PHASE,
    RECORDED,
    RECORDS_END,
    RECORDS_STEPS,
    SAMPLES,
    STOPPING,
    T_CONTROL,
    T_END,
    T_GOOD,
    T_NEW,
    T_START,
    TRY,
    H,
    T,
)
from .projection import project

ROUNDING = 8.9e-16  # instants closer than this, relatively, are one


@loop
def sample_time(k: i64, w: ptr, n: iptr) -> f64:
    """The k-th instant at which the state is asked for."""
    if n[GRID] > 0:
        return float(w[n[O_GRID] + k])
    return float(w[T_START] + float(k) * w[PERIOD])


@loop
def record(e: iptr, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr, records: ptr) -> None:
    """One row of the recording: t, q, v, u."""
    nq = n[NQ]
    nv = n[NV]
    refresh(e, t, q, v, w, n, scratch)
    row = at(records, n[RECORDED] * (1 + nq + nv + n[NU]))
    row[0] = t
    for i in range(nq):
        row[1 + i] = q[i]
    for i in range(nv):
        row[1 + nq + i] = v[i]
    for i in range(n[NU]):
        row[1 + nq + nv + i] = w[n[O_U] + i]
    n[RECORDED] += 1


@loop
def sample(e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr) -> i64:
    """Records every instant asked for inside the step, from the dense output, projected."""
    q = at(w, n[O_TQ])
    v = at(w, n[O_TV])
    end = w[T_NEW] - ROUNDING * max(abs(w[T_NEW]), w[H])
    while n[NEXT_SAMPLE] < n[SAMPLES]:
        t = sample_time(n[NEXT_SAMPLE], w, n)
        if t >= end:
            break
        if n[RECORDED] >= n[CAPACITY]:
            return FULL
        state_at(e, (t - w[T]) / w[H], q, v, w, n, scratch)
        refresh(e, t, q, v, w, n, scratch)
        status = project(e, t, q, v, w, n, scratch)
        if status != GOOD:
            return status
        record(e, t, q, v, w, n, scratch, records)
        n[NEXT_SAMPLE] += 1
    n[PHASE] = COMMIT
    return GOOD


@loop
def arrive(e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr) -> i64:
    """Records the state if it is asked for; says when the end or a control instant is reached."""
    t = w[T]
    ends = 1 if t >= w[T_END] or n[IS_STOPPING] > 0 else 0
    is_last = 1 if t >= w[T_END] or n[IS_STOPPING] == STOPPING else 0
    asked = n[RECORDS_STEPS] * (1 - n[IS_PART]) + is_last * n[RECORDS_END]
    if n[NEXT_SAMPLE] < n[SAMPLES]:
        wanted = sample_time(n[NEXT_SAMPLE], w, n)
        if wanted <= t + ROUNDING * max(abs(t), w[H]):
            t = wanted
            asked += 1
    if asked > 0:
        if n[RECORDED] >= n[CAPACITY]:
            return FULL
        if n[NEXT_SAMPLE] < n[SAMPLES] and t == sample_time(n[NEXT_SAMPLE], w, n):
            n[NEXT_SAMPLE] += 1
        record(e, t, at(w, n[O_Q]), at(w, n[O_V]), w, n, scratch, records)
    keep(w, n)
    n[PHASE] = FINISHED if ends == 1 else TRY
    if ends == 0 and w[T] == w[T_CONTROL]:
        return CONTROL
    return GOOD


@loop
def keep(w: ptr, n: iptr) -> None:
    """Notes the state as the last good one."""
    nq = n[NQ]
    good = at(w, n[O_GOOD])
    w[T_GOOD] = w[T]
    for i in range(nq):
        good[i] = w[n[O_Q] + i]
    for i in range(n[NV]):
        good[nq + i] = w[n[O_V] + i]
