"""Steps of Moreau and Jean by the general loops, in the phases that threads of a device go through.

A step in which bodies pass each other is taken again in parts, as by `one_step` of the processor.

Public names: PHASES, displaced, phase_of_step, step_elsewhere.

Source: docs/theory/convex.md (fast bodies).
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
from liaison.contacts.stepping.phases import keep, passing_pair, stand
from liaison.contacts.stepping.small import speed_status
from liaison.program.loops.language import at, i64, loop, ptr
from liaison.simulation.steps.layout import (
    GOOD,
    NOT_FINITE,
    PASSED,
    SINGULAR_MASS,
    Entries,
    Run,
)
from liaison.simulation.steps.stepsize import SHORTEST

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
    status = moved(e, run, scratch)
    if status == GOOD:
        note_modes(run, scratch)
    return status


@loop
def moved(e: Entries, run: Run, scratch: ptr) -> i64:
    """The displacement of a step; GOOD, or why there is none."""
    displacement(e, at(run.y, run.nv), run.y, run, scratch)
    bad = 0.0
    for i in range(run.nv):
        bad += run.y[i] - run.y[i]
    status = speed_status(run)
    if bad != 0.0 or status != GOOD:
        return status if bad == 0.0 else NOT_FINITE
    return GOOD


@loop
def displaced_in_parts(e: Entries, run: Run, scratch: ptr) -> i64:
    """As `displaced`, a step in parts in which nothing passes: the last of them is left to land.

    Parts are a quarter of what was too long, and each is twice the one before.
    """
    end = run.t_new
    least = SHORTEST * run.h
    part = 0.25 * run.h
    steps = run.steps
    status = GOOD
    while status == GOOD:
        run.t_new = end if run.t + 1.5 * part >= end else run.t + part
        run.h = run.t_new - run.t
        status = tried(e, run, scratch)
        if status == PASSED and run.h > 1.5 * least:
            part = max(0.25 * run.h, least)
            status = GOOD
        elif status == GOOD:
            note_modes(run, scratch)
            if run.t_new == end:
                break
            part = 2.0 * part
            status = landed(e, run, scratch)
    run.steps = steps
    return status


@loop
def tried(e: Entries, run: Run, scratch: ptr) -> i64:
    """The displacement of a part of a step; GOOD, PASSED, or why there is none."""
    status = predicted(e, run, scratch)
    if status == GOOD:
        status = find_impulses(e, run, scratch)
    if status == GOOD:
        status = settle(e, run, scratch)
    if status == GOOD:
        status = moved(e, run, scratch)
    if status == GOOD and passing_pair(e, run, scratch) > 0:
        return PASSED
    return status


@loop
def landed(e: Entries, run: Run, scratch: ptr) -> i64:
    """The state after a part of a step; GOOD, or why not."""
    status = stand(e, run, scratch, scratch)
    return keep(e, run, scratch, scratch) if status == GOOD else status


@loop
def phase_of_step(phase: i64, e: Entries, run: Run, scratch: ptr) -> i64:
    """One of the phases of `moreau_step`, and of what follows it; GOOD, or why not."""
    if phase == 0:
        return predicted(e, run, scratch)
    if phase == 1:
        return find_impulses(e, run, scratch)
    if phase == 2:
        return settle(e, run, scratch)
    if phase == 3 and run.has_passes > 0:
        status = moved(e, run, scratch)
        if status == GOOD and passing_pair(e, run, scratch) > 0:
            return displaced_in_parts(e, run, scratch)
        if status == GOOD:
            note_modes(run, scratch)
        return status
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
