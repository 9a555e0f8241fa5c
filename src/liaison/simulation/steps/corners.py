"""Instants that a step ends at: passed one by one, with an impulse where rates of closures jump.

A drive whose rate jumps from ν⁻ to ν⁺ gives an impulse, as an impact of its own:

    M (v⁺ − v⁻) = GᵀΛ,   G v⁺ = ν⁺                                              (corner-1)

which is the projection of velocities in the metric of M. Where contacts may be closed, `switch` of
the contacts solves them together with it.

Public names: pass_breaks, note_jump. Source: MOR88 §3 (impacts of perfect constraints).
"""

from __future__ import annotations

from liaison.program.loops.language import i64, loop, ptr
from liaison.simulation.events.log import BEFORE, KICKS, note

from .layout import BENT, FINISHED, FULL, GOOD, RESUMED, SWITCHING, Entries, Run
from .projection import project
from .stepsize import BESIDE

TOGETHER = 1e-13
"""Of a run: breaks that are one but for rounding."""


@loop
def pass_breaks(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Goes on just after the instants that were reached; GOOD, or why not.

    Of several that are one but for rounding it goes on after the last.
    """
    near = TOGETHER * (run.t_end - run.t_start)
    has_passed = 0
    while run.breaks_passed < run.break_count:
        k = run.breaks_passed
        instant = run.break_times[k]
        slack = BESIDE * abs(instant)
        if run.t < instant - slack and (has_passed == 0 or run.t < instant - near):
            return GOOD
        if run.t <= instant + slack:
            run.t = instant + slack
            run.is_fresh = 0
            run.ledger.event = max(run.ledger.event, RESUMED)
            if run.corner_rows[k] >= 0.0:
                status = bend(e, int(run.corner_rows[k]), run, scratch, event_log)
                if status != GOOD or run.phase == FINISHED:
                    return status
        has_passed = 1
        run.breaks_passed += 1
    return GOOD


@loop
def bend(e: Entries, row: i64, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Velocities after the rate of a closure jumped, noted; with contacts the step stops here."""
    if run.has_modes > 0:
        run.bent = 1 + row
        run.is_stopping = SWITCHING
        run.phase = FINISHED
        run.breaks_passed += 1
        for i in range(run.ne):
            run.fired[i] = 0
        return GOOD
    if run.event_count + 2 > run.event_capacity:
        return FULL
    note_jump(BEFORE, row, run.event_count, run, event_log)
    status = project(e, run.t, run.q, run.v, run, scratch)
    if status != GOOD:
        return status
    run.ledger.event = BENT
    note_jump(KICKS, row, run.event_count + 1, run, event_log)
    run.event_count += 2
    return GOOD


@loop
def note_jump(kind: i64, row: i64, k: i64, run: Run, event_log: ptr) -> None:
    """Notes the state before or after the jump of a closure's rate, as the k-th of the log."""
    note(kind, row, -1, run.t, 0.0, run.log_q, run.q, run.log_v, run.v, k, event_log)
