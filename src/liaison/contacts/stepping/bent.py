"""A step of a small mechanism in which laws of loads bend, by fused entries.

A motor that comes to its limit or leaves it within a step gives another effort at the end than its
law, linear about the beginning, said. Slopes are then taken anew and the step is solved once more,
contacts included, as `settle` does: in the same rounds, with the factors and the free motion from
the entry `bend` in the place of loops over matrices.

Public names: small_bent, is_bent_step.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, i64, loop, ptr
from liaison.simulation.steps.layout import GOOD, Entries, Run

from .loads import TURNS, begin_loads, is_unsettled, relinearize
from .moreau import forces_at_mean, terms_midway
from .rows import forget_rows
from .small import (
    ELSEWHERE,
    LEAST,
    FusedEntries,
    Left,
    first_word,
    met,
    small_rounds,
    take_end,
)


@loop
def is_bent_step(run: Run, scratch: ptr) -> i64:
    """1 if a step that fused entries left is one in which laws bend."""
    left = Left(scratch[first_word(run) :], run)
    if run.nf == 0 or not (left.least[0] > LEAST):
        return 0
    bent = left.bent_new[0] if run.rows_chosen > 0 else left.bent[0]
    return 1 if bent > 0.0 else 0


@loop
def small_bent(e: Entries, run: Run, scratch: ptr) -> i64:
    """Velocities and positions at the end of such a step; GOOD, or ELSEWHERE."""
    nv = run.nv
    after = at(run.y, nv)
    mean = run.trial.v  # forces are at the mean of the velocities before and these
    if begin_bent(e, run, scratch) != GOOD:
        return ELSEWHERE
    is_bent = 1
    for turn in range(TURNS):
        for i in range(nv):
            mean[i] = after[i]
        status = bent_round(is_bent, mean, e, run, scratch)
        if status != GOOD:
            return status
        is_bent = is_unsettled(after, e, run, scratch)
        if is_bent == 0 and (turn > 0 or run.rows_chosen == 0):
            return GOOD
        if is_bent == 1:
            forces_at_mean(e, mean, run, scratch)
            relinearize(0, after, e, run, scratch)
    return ELSEWHERE


@loop
def begin_bent(e: Entries, run: Run, scratch: ptr) -> i64:
    """Laws linear about the beginning, and velocities of the free motion with the forces of v."""
    nv = run.nv
    t = run.t + run.theta * run.h
    left = Left(scratch[first_word(run) :], run)
    for i in range(nv):
        run.free.moved[i] = run.theta * run.h * run.v[i]
    e.retract(t, run.q, run.v, run.u, run.p, run.free.moved, run.free.q, scratch)
    terms_midway(e, run.v, run, scratch)
    begin_loads(e, run, scratch)
    status = bent_free(run.v, e, run, scratch)
    for i in range(nv):
        run.y[nv + i] = left.v_end[i]
    return status


@loop
def bent_free(mean: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """The free motion with laws as they are linear now, forces at the mean of v and `mean`."""
    nv = run.nv
    nf = run.nf
    left = Left(scratch[first_word(run) :], run)
    x = left.bend
    x[0] = run.h
    x[1] = run.t_new
    for i in range(nv):
        x[2 + i] = run.v[i]
    for k in range(nf):
        x[2 + nv + k] = run.loads.slope[k]
        x[2 + nv + nf + k] = run.loads.effort[k] + run.loads.slope[k] * run.loads.change[k]
    t = run.t + run.theta * run.h
    FusedEntries(e.others).bend(t, run.q, mean, run.u, run.p, x, left.floats, scratch)
    return GOOD if left.least[0] > LEAST else ELSEWHERE


@loop
def bent_round(is_new: i64, mean: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """The step with laws as they are linear now; what is active is found where these are new."""
    left = Left(scratch[first_word(run) :], run)
    if bent_free(mean, e, run, scratch) != GOOD:
        return ELSEWHERE
    if is_new == 1:
        run.rows_chosen = met(left.gap_end, run)
        forget_rows(run)
    if run.rows_chosen == 0:
        take_end(left.v_end, left.q_end, run)
        for r in range(run.nr):
            run.impulse[r] = 0.0
        return GOOD
    if is_new == 1:
        # `run.y` stays what the round before led to: coefficients are of its slips
        t = run.t + run.theta * run.h
        FusedEntries(e.others).rows(
            t, run.q, run.v, run.u, run.p, left.v_end, run.mid.floats, scratch
        )
    return small_rounds(is_new, e, run, scratch)
