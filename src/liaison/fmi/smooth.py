"""Events and steps of an instance: of a smooth motion, and of one with contacts.

Public names: go_smooth, settle_smooth, go_sides, settle_sides, BESIDE.
"""

from __future__ import annotations

from liaison.contacts.events.switching import LEAST, end_unit, march, new_signs, switch
from liaison.program.loops.language import at, f64, i64, loop
from liaison.simulation.events.windows import sign_of
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import (
    EVENT_NOT_FINITE,
    GOOD,
    STOPPING,
    SWITCHING,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.sides_layout import GAP, OPEN, Sides

from .layout import Instance
from .model import centre, events_known

BESIDE = 1e-15
"""Just after an instant, as a part of it."""

LEAST_GAP, OPENED, SOON = 2e-16, 1e-9, 1e-12
"""A gap that is none, and one that just opened, in units; by how much an impact may be late [s]."""


@loop
def go_smooth(fmu: Instance, tries: i64) -> i64:
    """Goes on with a smooth motion."""
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    scratch = at(fmu.floats, fmu.scratch_at)
    records = at(fmu.floats, fmu.records_at)
    return advance(e, run, scratch, records, at(fmu.floats, fmu.log_at), tries)


@loop
def go_sides(fmu: Instance, tries: i64) -> i64:
    """Goes on through contacts."""
    sides = Sides(fmu.ints[fmu.sides_at :])
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    scratch = at(fmu.floats, fmu.scratch_at)
    records = at(fmu.floats, fmu.records_at)
    return march(sides, e, run, scratch, records, at(fmu.floats, fmu.log_at), tries)


@loop
def fire_events(fmu: Instance) -> i64:
    """Which events the present state has passed since the last ones; GOOD, or why not."""
    run = Run(fmu.ints[fmu.run_at :])
    run.bent = 0
    run.is_stopping = 0
    events_known(fmu)
    for i in range(run.ne):
        value = fmu.events[i]
        if value != value:
            run.detail[0] = i
            return EVENT_NOT_FINITE
        sign = run.sign[i]
        run.fired[i] = 0
        if sign != 0.0 and sign * value <= 0.0 and float(run.direction[i]) * sign <= 0.0:
            run.fired[i] = 1
            if run.stops[i] == STOPPING:
                fmu.is_ended = 1 + i
        run.sign[i] = sign_of(value)
        run.before[i] = value
    return GOOD


@loop
def widen(fmu: Instance, sides: Sides, run: Run) -> None:
    """Ends of modes are seen where rounding does not reach: all of them begin above zero."""
    for b in range(sides.nb):
        i = sides.own + b
        fmu.margin[i] = LEAST * end_unit(sides, b)
        if sides.blocks[b].kind == GAP and sides.mode[b] == OPEN:
            fmu.margin[i] = gap_margin(sides, b)
        run.sign[i] = 1.0


@loop
def gap_margin(sides: Sides, b: i64) -> f64:
    """How far below zero, or where it opened, a gap counts as closed.

    What falls so far is faster by that: it must be less than a jump that counts as none, or bounces
    would not end, and take no time that matters. A gap that opens without speed is rounding first.
    """
    unit = float(sides.scales.gap[b])
    rate = float(sides.seen.rate[sides.blocks[b].first])
    is_near = 1 if sides.seen.gap[b] - sides.level[b] <= OPENED * unit else 0
    if is_near == 1 and rate <= sides.unseen * sides.scales.rate[b]:
        return LEAST * unit
    return min(max(SOON * rate, LEAST_GAP * unit), LEAST * unit)


@loop
def pass_instants(fmu: Instance) -> None:
    """Instants that are over; a closure whose rate jumps at one of them is noted."""
    run = Run(fmu.ints[fmu.run_at :])
    while (
        run.breaks_passed < run.break_count
        and run.break_times[run.breaks_passed] * (1.0 - BESIDE) <= run.t
    ):
        if run.corner_rows[run.breaks_passed] >= 0.0:
            run.bent = 1 + int(run.corner_rows[run.breaks_passed])
        run.breaks_passed += 1


@loop
def settle_smooth(fmu: Instance) -> i64:
    """The present state back on its closures, after events that change nothing else."""
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    status = fire_events(fmu)
    pass_instants(fmu)
    if status != GOOD:
        return status
    if fmu.nq > fmu.nv:
        centre(fmu)
    return project(e, run.t, run.q, run.v, run, at(fmu.floats, fmu.scratch_at))


@loop
def settle_sides(fmu: Instance) -> i64:
    """Impacts and the next mode where one ended; the state on what holds then."""
    sides = Sides(fmu.ints[fmu.sides_at :])
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    scratch = at(fmu.floats, fmu.scratch_at)
    status = fire_events(fmu)
    pass_instants(fmu)
    if status != GOOD:
        return status
    if fmu.nq > fmu.nv:
        centre(fmu)
    status = project(e, run.t, run.q, run.v, run, scratch)
    if status != GOOD:
        return status
    run.event_count = 0
    run.recorded = 0
    ended = 1 if run.bent > 0 else 0
    for b in range(sides.nb):
        ended = max(ended, run.fired[sides.own + b])
    if ended == 0:
        new_signs(sides, run, scratch)
    else:
        run.is_stopping = SWITCHING
        log = at(fmu.floats, fmu.log_at)
        status = switch(sides, e, run, scratch, at(fmu.floats, fmu.records_at), log)
    widen(fmu, sides, run)
    return status
