"""The time loop, compiled: step, land on closures, events, samples, commit — no Python per step.

`advance` is re-entrant. It keeps all it knows in `w` and `n`, and returns when Python has
something to do: a buffer is full, an entry must be compiled, a controller is due, the run ended or
failed, or the allotted number of steps is used up. Called again, it goes on where it was.

Public names: advance.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr
from liaison.simulation.events.events import first_signs, look_for_events
from liaison.solvers.linear.dense import largest

from .explicit import error_norm, new_state, refresh, stages
from .generalized_alpha import alpha_step, keep_accelerations
from .implicit import implicit_error, implicit_stages
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
    HAS_PULLED,
    IS_ADAPTIVE,
    IS_ALPHA,
    IS_FRESH,
    IS_IMPLICIT,
    IS_IN_DOUBT,
    IS_PART,
    IS_STOPPING,
    IS_VARIATIONAL,
    LAND,
    NC,
    NE,
    NOT_FINITE,
    NPHI,
    NQ,
    NS,
    NV,
    O_K,
    O_NEXT,
    O_OUT,
    O_P,
    O_Q,
    O_U,
    O_V,
    O_Y,
    PARTS_OF_STEP,
    PHASE,
    POSITIONS_LOST,
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
from .stepsize import adapt, choose_step, divide, first_step, reject
from .variational import composed_step, variational_step


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
        elif phase == LAND:
            status = land(e, w, n, scratch)
        elif phase == EVENTS:
            status = look_for_events(e, w, n, scratch, happened)
            if status == GOOD:
                n[PHASE] = SAMPLING if n[IS_STOPPING] == 0 else LAND
        elif phase == SAMPLING:
            status = sample(e, w, n, scratch, records)
        elif phase == COMMIT:
            commit(w, n)
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
    status = GOOD
    if n[IS_VARIATIONAL] + n[IS_ALPHA] > 0:
        return step_without_stages(e, w, n, scratch)
    if n[IS_IMPLICIT] > 0:
        status = implicit_stages(e, w, n, scratch)
    else:
        status = stages(e, n[IS_FRESH], n[NS], w, n, scratch)
    if status != GOOD and n[IS_ADAPTIVE] == 0:
        return status
    if status != GOOD and status < NOT_FINITE:
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
        error = -1.0
        if status == GOOD and is_finite == 1:
            error = implicit_error(w, n) if n[IS_IMPLICIT] > 0 else error_norm(w, n)
        if not (error >= 0.0 and error <= 1.0):
            return reject(error, status, w, n)
        adapt(error, w, n)
    n[PHASE] = LAND
    return GOOD


@loop
def step_without_stages(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """A step that is found as a whole: variational, or of generalized α."""
    status = GOOD
    if n[IS_ALPHA] > 0:
        status = alpha_step(e, w, n, scratch)
    elif n[PARTS_OF_STEP] > 1:
        status = composed_step(e, w, n, scratch)
    else:
        status = variational_step(e, w, n, scratch)
    n[PHASE] = LAND if status == GOOD else TRY
    return status


@loop
def land(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The new state, brought onto its closures; a fixed step that they pull too far is divided."""
    retract = entry_at(e, E_RETRACT)
    y = at(w, n[O_Y])
    q = at(w, n[O_NEXT])
    v = at(q, n[NQ])
    retract(w[T_NEW], at(w, n[O_Q]), at(y, n[NV]), at(w, n[O_U]), at(w, n[O_P]), y, q, scratch)
    for i in range(n[NV]):
        v[i] = y[n[NV] + i]
    n[HAS_PULLED] = 0
    # a variational step ends on its closures
    if n[HAS_CLOSURE] > 0 and (n[IS_VARIATIONAL] == 0 or n[IS_STOPPING] > 0):
        before = n[PROJECTIONS]
        refresh(e, w[T_NEW], q, v, w, n, scratch)
        status = project(e, w[T_NEW], q, v, w, n, scratch)
        is_lost = 1 if status >= POSITIONS_LOST else 0
        if status != GOOD and is_lost == 0:
            return status
        may_divide = 1 - max(n[IS_ADAPTIVE], max(n[IS_STOPPING], n[IS_ALPHA]))
        if may_divide == 1 and divide(status, v, w, n) == 1:
            n[PHASE] = TRY
            return GOOD
        if is_lost == 1:
            return status
        n[HAS_PULLED] = n[PROJECTIONS] - before
    n[STEPS] += 1 - min(n[IS_STOPPING], 1)
    n[PHASE] = EVENTS if n[NE] > 0 and n[IS_STOPPING] == 0 else SAMPLING
    return GOOD


@loop
def commit(w: ptr, n: iptr) -> None:
    """The new state becomes the state: the chart moves there, the last stage may serve as first."""
    nv = n[NV]
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    landed = at(w, n[O_NEXT])
    k = at(w, n[O_K])
    last = at(w, n[O_K] + (n[NS] - 1) * (2 * nv + 1))
    for i in range(n[NQ]):
        q[i] = landed[i]
    for i in range(nv):
        v[i] = landed[n[NQ] + i]
        k[i] = v[i]
        k[nv + i] = last[nv + i]
    # a state that was pulled needs its rate anew
    n[IS_FRESH] = n[REUSES_LAST] if n[HAS_PULLED] == 0 else 0
    if n[IS_ALPHA] > 0:
        keep_accelerations(w, n)
    w[T] = w[T_NEW]
    n[BASE_STEPS] += 1 - n[IS_PART]
    if w[T] == w[T_END] or w[T] == w[T_CONTROL] or n[IS_STOPPING] > 0:
        w[T_BASE] = w[T]
        n[BASE_STEPS] = 0
    n[PHASE] = ARRIVED
