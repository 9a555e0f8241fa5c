"""The time loop of Moreau and Jean's steps: step, place, note what happened, record, commit.

Like `advance` it keeps all it knows in `w` and `n` and returns when Python has something to do.

Public names: march.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr
from liaison.simulation.events.events import look_for_events
from liaison.simulation.steps.advance import begin, commit
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    ARRIVED,
    BAD_GAP,
    BAD_SIDE,
    COMMIT,
    DETAIL,
    DONE,
    E_RETRACT,
    EVENTS,
    GOOD,
    HAS_CLOSURE,
    IS_FRESH,
    IS_STOPPING,
    LAND,
    M_SIDES,
    NB,
    NE,
    NQ,
    NV,
    O_NEXT,
    O_P,
    O_Q,
    O_SIDES,
    O_U,
    O_V,
    O_Y,
    PHASE,
    SAMPLING,
    START,
    START_TOLERANCE,
    STEPS,
    STEPS_ALLOWED,
    STOPPED,
    T_NEW,
    TOO_MANY_STEPS,
    TRY,
    WORST,
    T,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.recording import arrive, sample
from liaison.simulation.steps.sides_layout import FIELDS, FRICTION, GAP
from liaison.simulation.steps.stepsize import choose_step
from liaison.solvers.linear.dense import largest

from .modes import has_room, note_modes
from .moreau import moreau_step
from .place import place
from .rows import one_sided


@loop
def march(e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr, happened: ptr, tries: i64) -> i64:
    """Goes on for at most `tries` steps; GOOD if they are used up, otherwise why it returned."""
    status = GOOD
    while status == GOOD:
        phase = n[PHASE]
        if phase == TRY:
            if tries <= 0:
                return GOOD
            tries -= 1
            status = one_step(e, w, n, scratch, happened)
        elif phase == LAND:
            status = stand(e, w, n, scratch)
        elif phase == EVENTS:
            status = look_for_events(e, w, n, scratch, happened)
            if status == GOOD:
                n[PHASE] = SAMPLING if n[IS_STOPPING] == 0 else LAND
        elif phase == SAMPLING:
            status = sample(e, w, n, scratch, records)
        elif phase == COMMIT:
            commit(w, n)
            one_sided(e, w[T], at(w, n[O_Q]), at(w, n[O_V]), at(w, n[O_SIDES]), w, n, scratch)
        elif phase == ARRIVED:
            status = arrive(e, w, n, scratch, records)
        elif phase == START:
            status = set_out(e, w, n, scratch)
        else:
            return DONE if n[IS_STOPPING] == 0 else STOPPED
    return status


@loop
def set_out(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The start on its closures and out of penetration."""
    status = begin(e, w, n, scratch)
    if status != GOOD:
        return status
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    sides = at(w, n[O_SIDES])
    one_sided(e, w[T], q, v, sides, w, n, scratch)
    for k in range(n[NB]):
        block = at(n, n[M_SIDES] + FIELDS * k)
        off = -sides[k] if block[0] == GAP else -sides[n[NB] + block[1]]
        if block[0] != FRICTION and off > w[START_TOLERANCE] * (1.0 + largest(n[NQ], q)):
            w[WORST] = off
            n[DETAIL] = k
            return BAD_GAP if block[0] == GAP else BAD_SIDE
    status = place(e, w[T], q, v, w, n, scratch)
    one_sided(e, w[T], q, v, sides, w, n, scratch)
    return status


@loop
def one_step(e: iptr, w: ptr, n: iptr, scratch: ptr, happened: ptr) -> i64:
    """Impulses and velocities, what they mean, positions."""
    if n[STEPS] >= n[STEPS_ALLOWED]:
        return TOO_MANY_STEPS
    status = has_room(n)
    if status != GOOD:
        return status
    choose_step(w, n)
    status = moreau_step(e, w, n, scratch)
    if status == GOOD:
        note_modes(w, n, happened)
        n[PHASE] = LAND
    return status


@loop
def stand(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """The new state on its closures and out of penetration."""
    retract = entry_at(e, E_RETRACT)
    nv = n[NV]
    y = at(w, n[O_Y])
    q = at(w, n[O_NEXT])
    v = at(q, n[NQ])
    retract(w[T_NEW], at(w, n[O_Q]), at(y, nv), at(w, n[O_U]), at(w, n[O_P]), y, q, scratch)
    for i in range(nv):
        v[i] = y[nv + i]
    refresh(e, w[T_NEW], q, v, w, n, scratch)
    status = place(e, w[T_NEW], q, v, w, n, scratch)
    if status == GOOD and n[HAS_CLOSURE] > 0:
        status = project(e, w[T_NEW], q, v, w, n, scratch)
    if status != GOOD:
        return status
    n[IS_FRESH] = 0
    n[STEPS] += 1 - n[IS_STOPPING]
    n[PHASE] = EVENTS if n[NE] > 0 and n[IS_STOPPING] == 0 else SAMPLING
    return GOOD
