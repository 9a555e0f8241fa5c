"""The time loop of Moreau and Jean's steps: step, place, note what happened, record, commit.

Like `advance` it keeps all it knows in the record `Run`, and returns when Python has something to
do.

Public names: march.
"""

from __future__ import annotations

from liaison.program.loops.language import at, i64, loop, ptr
from liaison.simulation.events.events import look_for_events
from liaison.simulation.steps.advance import begin, commit
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    ARRIVED,
    BAD_GAP,
    BAD_SIDE,
    COMMIT,
    DONE,
    EVENTS,
    GOOD,
    LAND,
    SAMPLING,
    START,
    STOPPED,
    TOO_MANY_STEPS,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.recording import arrive, sample
from liaison.simulation.steps.sides_layout import FRICTION, GAP
from liaison.simulation.steps.stepsize import choose_step
from liaison.solvers.linear.dense import largest

from .modes import has_room, note_modes
from .moreau import moreau_step
from .place import place
from .rows import one_sided


@loop
def march(e: Entries, run: Run, scratch: ptr, records: ptr, happened: ptr, tries: i64) -> i64:
    """Goes on for at most `tries` steps; GOOD if they are used up, otherwise why it returned."""
    status = GOOD
    while status == GOOD:
        phase = run.phase
        if phase == TRY:
            if tries <= 0:
                return GOOD
            tries -= 1
            status = one_step(e, run, scratch, happened)
        elif phase == LAND:
            status = stand(e, run, scratch)
        elif phase == EVENTS:
            status = look_for_events(e, run, scratch, happened)
            if status == GOOD:
                run.phase = SAMPLING if run.is_stopping == 0 else LAND
        elif phase == SAMPLING:
            status = sample(e, run, scratch, records)
        elif phase == COMMIT:
            commit(run)
            one_sided(e, run.t, run.q, run.v, run.sides, run, scratch)
        elif phase == ARRIVED:
            status = arrive(e, run, scratch, records)
        elif phase == START:
            status = set_out(e, run, scratch)
        else:
            return DONE if run.is_stopping == 0 else STOPPED
    return status


@loop
def set_out(e: Entries, run: Run, scratch: ptr) -> i64:
    """The start on its closures and out of penetration."""
    status = begin(e, run, scratch)
    if status != GOOD:
        return status
    q = run.q
    v = run.v
    sides = run.sides
    one_sided(e, run.t, q, v, sides, run, scratch)
    for k in range(run.nb):
        block = run.blocks[k]
        off = -sides.gap[k] if block.kind == GAP else -sides.rate[block.first]
        if block.kind != FRICTION and off > run.start_tolerance * (1.0 + largest(run.nq, q)):
            run.worst = off
            run.detail[0] = k
            return BAD_GAP if block.kind == GAP else BAD_SIDE
    status = place(e, run.t, q, v, run, scratch)
    one_sided(e, run.t, q, v, sides, run, scratch)
    return status


@loop
def one_step(e: Entries, run: Run, scratch: ptr, happened: ptr) -> i64:
    """Impulses and velocities, what they mean, positions."""
    if run.steps >= run.steps_allowed:
        return TOO_MANY_STEPS
    status = has_room(run)
    if status != GOOD:
        return status
    choose_step(run)
    status = moreau_step(e, run, scratch)
    if status == GOOD:
        note_modes(run, happened)
        run.phase = LAND
    return status


@loop
def stand(e: Entries, run: Run, scratch: ptr) -> i64:
    """The new state on its closures and out of penetration."""
    nv = run.nv
    y = run.y
    q = run.landed.q
    v = run.landed.v
    e.retract(run.t_new, run.q, at(y, nv), run.u, run.p, y, q, scratch)
    for i in range(nv):
        v[i] = y[nv + i]
    refresh(e, run.t_new, q, v, run, scratch)
    status = place(e, run.t_new, q, v, run, scratch)
    if status == GOOD and run.has_closure > 0:
        status = project(e, run.t_new, q, v, run, scratch)
    if status != GOOD:
        return status
    run.is_fresh = 0
    run.steps += 1 - run.is_stopping
    run.phase = EVENTS if run.ne > 0 and run.is_stopping == 0 else SAMPLING
    return GOOD
