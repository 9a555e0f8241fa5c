"""Steps of Moreau and Jean by the general loops, in the phases that threads of a device go through.

Public names: PHASES, displaced, phase_of_step, step_elsewhere.
"""

from __future__ import annotations

from liaison.contacts.stepping.modes import note_modes
from liaison.contacts.stepping.moreau import (
    displacement,
    find_impulses,
    free_velocities,
    midway,
    predict,
    settle,
)
from liaison.contacts.stepping.phases import keep, stand
from liaison.contacts.stepping.small import speed_status
from liaison.program.loops.language import at, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, NOT_FINITE, SINGULAR_MASS, Entries, Run

PHASES = 6
"""Of a step, see `phase_of_step`."""


@loop
def predicted(e: Entries, run: Run, scratch: ptr) -> i64:
    """The free motion of a step, and what it meets."""
    if midway(e, run, scratch) != GOOD:
        return SINGULAR_MASS
    free_velocities(e, run.free.v, run, scratch)
    for i in range(run.nv):
        run.y[run.nv + i] = run.free.v[i]
    predict(e, run, scratch)
    return GOOD


@loop
def displaced(e: Entries, run: Run, scratch: ptr) -> i64:
    """The displacement of a step, and what became of its contacts."""
    displacement(e, at(run.y, run.nv), run.y, run, scratch)
    bad = 0.0
    for i in range(run.nv):
        bad += run.y[i] - run.y[i]
    status = speed_status(run)
    if bad != 0.0 or status != GOOD:
        return status if bad == 0.0 else NOT_FINITE
    note_modes(run, scratch)
    return GOOD


@loop
def phase_of_step(phase: i64, e: Entries, run: Run, scratch: ptr) -> i64:
    """One of the phases of `moreau_step`, and of what follows it; GOOD, or why not."""
    if phase == 0:
        return predicted(e, run, scratch)
    if phase == 1:
        return find_impulses(e, run, scratch)
    if phase == 2:
        return settle(e, run, scratch)
    if phase == 3:
        return displaced(e, run, scratch)
    if phase == 4:
        return stand(e, run, scratch, scratch)
    return keep(e, run, scratch, scratch)


@loop
def step_elsewhere(e: Entries, run: Run, scratch: ptr) -> i64:
    """Velocities and positions at the end of a step by the general loops."""
    status = GOOD
    for phase in range(3):
        if status == GOOD:
            status = phase_of_step(phase, e, run, scratch)
    after = at(run.y, run.nv)
    displacement(e, after, run.y, run, scratch)
    e.retract(run.t_new, run.q, after, run.u, run.p, run.y, run.landed.q, scratch)
    return status
