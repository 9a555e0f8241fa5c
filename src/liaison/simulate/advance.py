"""The time loop, compiled: step, accept, events, samples, commit, project — no Python per step.

`advance` is re-entrant. It keeps all it knows in `w` and `n`, and returns when Python has
something to do: a buffer is full, an entry must be compiled, a controller is due, the run ended or
failed, or the allotted number of steps is used up. Called again, it goes on where it was.

Public names: advance.
"""

from __future__ import annotations

from liaison.program.loops import at, entry_at, i64, iptr, loop, ptr

from .dense import largest
from .events import first_signs, look_for_events
from .layout import (
    ARRIVED,
    BAD_START,
    BAD_START_RATE,
    BASE_STEPS,
    COMMIT,
    DONE,
    E_RETRACT,
    EVENTS,
    GOOD,
    H_NEXT,
    HAS_CLOSURE,
    INCONSISTENT,
    IS_ADAPTIVE,
    IS_FRESH,
    IS_IN_DOUBT,
    IS_STOPPING,
    NC,
    NE,
    NOT_FINITE,
    NPHI,
    NQ,
    NS,
    NV,
    O_K,
    O_OUT,
    O_P,
    O_Q,
    O_TQ,
    O_U,
    O_V,
    O_Y,
    PHASE,
    PROJECT,
    PROJECTIONS,
    REUSES_LAST,
    SAMPLING,
    START,
    START_TOLERANCE,
    STEPS,
    STEPS_ALLOWED,
    STOPPED,
    T_BASE,
    T_CONTROL,
    T_END,
    T_NEW,
    TOO_MANY_STEPS,
    TRY,
    T,
)
from .projection import note_worst, project, residuals
from .recording import arrive, sample
from .steps import error_norm, new_state, refresh, stages
from .stepsize import adapt, choose_step, first_step, reject


@loop
def advance(e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr, happened: ptr, tries: i64) -> i64:
    """Goes on for at most `tries` steps; GOOD if they are used up, otherwise why it returned."""
    status = GOOD
    while status == GOOD:
        phase = n[PHASE]
        if phase == TRY:
            if tries <= 0:
                return GOOD
            tries -= 1
            status = try_step(e, w, n, scratch)
        elif phase == EVENTS:
            status = look_for_events(e, w, n, scratch, happened)
            if status == GOOD:
                n[PHASE] = SAMPLING
        elif phase == SAMPLING:
            status = sample(e, w, n, scratch, records)
        elif phase == COMMIT:
            commit(e, w, n, scratch)
        elif phase == PROJECT:
            status = settle_down(e, w, n, scratch)
        elif phase == ARRIVED:
            status = arrive(e, w, n, scratch, records)
        elif phase == START:
            status = begin(e, w, n, scratch)
        else:
            return DONE if n[IS_STOPPING] == 0 else STOPPED
    return status


@loop
def begin(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Checks the start against its closures, brings it onto them, and chooses a first step."""
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    refresh(e, w[T], q, v, w, n, scratch)
    if n[HAS_CLOSURE] > 0:
        residuals(e, w[T], q, v, w, n, scratch)
        limit = w[START_TOLERANCE]
        if not (largest(n[NPHI], at(w, n[O_OUT])) <= limit * (1.0 + largest(n[NQ], q))):
            note_worst(0, w, n)
            return BAD_START
        if not (largest(n[NC], at(w, n[O_OUT] + n[NPHI])) <= limit * (1.0 + largest(n[NV], v))):
            note_worst(1, w, n)
            return BAD_START_RATE
        status = project(e, w[T], q, v, w, n, scratch)
        if status != GOOD:
            return status
    if n[NE] > 0:
        status = first_signs(e, w, n, scratch)
        if status != GOOD:
            return status
    if n[IS_ADAPTIVE] > 0 and w[H_NEXT] <= 0.0:
        status = first_step(e, w, n, scratch)
        if status != GOOD:
            return status
    n[PHASE] = ARRIVED
    return GOOD


@loop
def try_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """One attempt: stages, new state, error; accepted, the phase moves on."""
    if n[STEPS] >= n[STEPS_ALLOWED]:
        return TOO_MANY_STEPS
    choose_step(w, n)
    status = stages(e, n[IS_FRESH], n[NS], w, n, scratch)
    if status != GOOD and n[IS_ADAPTIVE] == 0:
        return status
    if status != GOOD and status != INCONSISTENT and status != NOT_FINITE:
        return status
    if status == GOOD:
        n[IS_FRESH] = 1
    is_finite = new_state(w, n)
    if is_finite == 0 and status == GOOD and n[NC] > 0 and n[IS_IN_DOUBT] == 0:
        # once more, this time with every acceleration looked at
        n[IS_IN_DOUBT] = 1
        n[IS_FRESH] = 0
        return GOOD
    n[IS_IN_DOUBT] = 0
    if n[IS_ADAPTIVE] == 0:
        if is_finite == 0:
            return NOT_FINITE
    else:
        error = error_norm(w, n) if status == GOOD and is_finite == 1 else -1.0
        if not (error >= 0.0 and error <= 1.0):
            return reject(error, status, w, n)
        adapt(error, w, n)
    n[STEPS] += 1
    n[PHASE] = EVENTS if n[NE] > 0 else SAMPLING
    return GOOD


@loop
def commit(e: iptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """The new state becomes the state: the chart moves there, the last stage may serve as first."""
    retract = entry_at(e, E_RETRACT)
    nv = n[NV]
    y = at(w, n[O_Y])
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    moved = at(w, n[O_TQ])
    k = at(w, n[O_K])
    last = at(w, n[O_K] + (n[NS] - 1) * (2 * nv + 1))
    retract(w[T_NEW], q, at(y, nv), at(w, n[O_U]), at(w, n[O_P]), y, moved, scratch)
    for i in range(n[NQ]):
        q[i] = moved[i]
    for i in range(nv):
        v[i] = y[nv + i]
        k[i] = v[i]
        k[nv + i] = last[nv + i]
    n[IS_FRESH] = n[REUSES_LAST]
    w[T] = w[T_NEW]
    n[BASE_STEPS] += 1
    if w[T] == w[T_END] or w[T] == w[T_CONTROL] or n[IS_STOPPING] > 0:
        w[T_BASE] = w[T]
        n[BASE_STEPS] = 0
    n[PHASE] = PROJECT


@loop
def settle_down(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The new state back on its closures; a state that moved needs its rate anew."""
    if n[HAS_CLOSURE] > 0:
        q = at(w, n[O_Q])
        v = at(w, n[O_V])
        before = n[PROJECTIONS]
        refresh(e, w[T], q, v, w, n, scratch)
        status = project(e, w[T], q, v, w, n, scratch)
        if status != GOOD:
            return status
        if n[PROJECTIONS] > before:
            n[IS_FRESH] = 0
    n[PHASE] = ARRIVED
    return GOOD
