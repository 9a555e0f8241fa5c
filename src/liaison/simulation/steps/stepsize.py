"""The size of a step: the first one, the next one, and when it is too small.

`first_step`, `adapt` and `reject` propose the next size, `choose_step` takes the least of what is
proposed and what is allowed, and `divide` cuts fixed steps.

Instants that a step ends at are passed one by one, with an impulse where rates of closures jump.
A drive whose rate jumps from ν⁻ to ν⁺ gives an impulse, as an impact of its own:

    M (v⁺ − v⁻) = GᵀΛ,   G v⁺ = ν⁺                                              (corner-1)

which is the projection of velocities in the metric of M. Where contacts may be closed, `switch` of
the contacts solves them together with it.

Public names: first_step, choose_step, divide, reject, adapt, pass_breaks, note_jump.

Source: HNW1 §II.4 (initial step, step size control with memory); MOR88 §3 (impacts of perfect
constraints).
"""

from __future__ import annotations

from math import isfinite, pow

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.events.log import BEFORE, KICKS, note
from liaison.solvers.linear.dense import largest

from .explicit import derivative, size_of
from .layout import (
    BENT,
    FINISHED,
    FULL,
    GOOD,
    NOT_FINITE,
    RESUMED,
    STEP_TOO_SMALL,
    SWITCHING,
    Entries,
    Run,
)
from .projection import project

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
        if run.corner_rows[k] >= 0.0:  # also at the instant 0
            slack = max(slack, AFTER_ZERO * (run.t_end - run.t_start))
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


SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
MEMORY = 0.04  # exponent of the error of the step before
PULLED = 0.01  # part of what a fixed step did that projection may undo
TORN = 10.0  # times the error of an adaptive step that projection may undo
SPARED = 1e-9  # part of the velocities that it may change in any case
SHORTEST = 1.0 / 4096.0  # part of a fixed step, at least
BESIDE = 4.5e-16  # relative; two or more floats away
AFTER_ZERO = 1e-30  # of a run: just after a corner at the instant 0
FOREVER = float("inf")
SHORT = 1e-6  # of the time of the mechanism: a step where nothing is known of it
ROUNDING = 8.9e-16  # relative; steps of the size of time's rounding are refused


@loop
def first_step(e: Entries, run: Run, scratch: ptr) -> i64:
    """A first step from the sizes of y, ẏ and ÿ, measured by the tolerances."""
    nv = run.nv
    y = run.stage
    k0 = run.k[0]
    k1 = run.k[1]
    v = run.v
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    status = derivative(e, run.t, y, k0, run, scratch)
    if status != GOOD:
        return status
    d0 = 0.0
    d1 = 0.0
    for i in range(2 * nv):
        size = size_of(i, 0.0, run) if i < nv else abs(v[i - nv])
        scale = run.atols[i] + run.rtol * size
        d0 = max(d0, size / scale)
        d1 = max(d1, abs(k0[i]) / scale)
    h = 0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else SHORT * run.scales.time[0]
    h = min(h, run.h_max)
    for i in range(2 * nv):
        y[i] += h * k0[i]
    status = derivative(e, run.t + h, y, k1, run, scratch)
    if status != GOOD:
        return status
    d2 = 0.0
    for i in range(2 * nv):
        size = size_of(i, 0.0, run) if i < nv else abs(v[i - nv])
        d2 = max(d2, abs(k1[i] - k0[i]) / (run.atols[i] + run.rtol * size) / h)
    d = max(d1, d2)
    short = SHORT * run.scales.time[0]
    longer = pow(0.01 / d, 1.0 / float(run.order)) if d > 1e-15 else max(short, 1e-3 * h)
    longer = min(100.0 * h, longer)
    run.h_next = longer if isfinite(longer) and longer > 0.0 else short
    run.is_fresh = 1
    return GOOD


@loop
def before_break(stop: f64, run: Run) -> f64:
    """Just before the next instant at which formulas jump or bend, or `stop` where none is before.

    A step that ended there goes on just after it, from the same state; see `pass_breaks`.
    """
    if run.breaks_passed < run.break_count:
        instant = run.break_times[run.breaks_passed]
        slack = BESIDE * abs(instant)
        return instant - slack if instant + slack < stop else stop
    return stop


@loop
def within_reach(new: f64, run: Run) -> f64:
    """The end of a step, no further than formulas of time let it see."""
    while run.points_passed + 1 < run.point_count and run.waypoints[run.points_passed + 1] <= run.t:
        run.points_passed += 1
    return float(min(new, run.reach[run.points_passed]))


@loop
def choose_step(run: Run) -> None:
    """The end and the size of the next step: never past the end or a control instant."""
    stop = min(run.t_end, run.t_control)
    if run.is_adaptive > 0:
        stop = before_break(stop, run)
        h = min(min(run.h_next, run.h_max), min(run.h_look, run.h_knot))
        run.h_knot = FOREVER
        new = run.t + h
        if run.point_count > 0:
            new = within_reach(new, run)
            h = new - run.t
        if new + 0.01 * h >= stop:
            new = stop
        elif new + h > stop:
            new = run.t + 0.5 * (stop - run.t)
    else:
        new = run.t_base + float(run.base_steps + 1) * run.step
        if new + 1e-6 * run.step >= stop:
            new = stop
        run.is_part = 1 if run.h_part > 0.0 and run.t + 1.5 * run.h_part < new else 0
        if run.is_part > 0:
            new = run.t + run.h_part
        sooner = before_break(new, run)
        if sooner < new:
            run.is_part = 1
            new = sooner
    run.t_new = new
    run.h = new - run.t


@loop
def is_pulled(v: ptr, run: Run) -> i64:
    """1 if closures changed the new velocities by a noticeable part of what the step did.

    Where closures lose rank, as in a flat position, v̇ is not determined and turns within an
    instant; what the step did across the closures that come back is undone by projection. The part
    undone goes with h⁴ where all is regular, and stays the same however short the step is here.
    """
    nv = run.nv
    most = 0.0
    pull = 0.0
    for i in range(nv):
        pull = max(pull, abs(v[i] - run.y[nv + i]))
        for j in range(run.ns):
            most = max(most, abs(run.k[j, nv + i]))
    return 1 if pull > PULLED * most * run.h + ROUNDING * largest(nv, v) else 0


@loop
def is_torn(v: ptr, run: Run) -> i64:
    """1 if closures changed the new velocities by far more than the error of an adaptive step.

    Beside a change point, where branches of the motion cross, rounding of positions turns the
    branch; velocities of one branch that are brought to another lose energy.
    """
    nv = run.nv
    pull = 0.0
    for i in range(nv):
        pull = max(pull, abs(v[i] - run.y[nv + i]))
    size = largest(nv, v)
    return 1 if pull > TORN * (run.atol + run.rtol * size) + SPARED * size else 0


@loop
def divide(status: i64, v: ptr, run: Run) -> i64:
    """1 if a fixed step is to be taken again in parts, which grow again; v: velocities on closures.

    So is the first step, if it is pulled, and any whose end cannot be brought back to the closures.
    A later one that comes by a singular position is better taken in one go than in many parts
    that land near it.
    """
    is_wrong = 0 if status == GOOD else 1
    if run.t < run.t_start + 0.5 * run.step:
        is_wrong += is_pulled(v, run)
    if is_wrong > 0 and run.h > 1.5 * SHORTEST * run.step:
        run.h_part = max(run.h / 16.0, SHORTEST * run.step)
        run.rejected += 1
        return 1
    run.h_part = 2.0 * run.h_part if run.is_part > 0 else 0.0
    return 0


@loop
def reject(error: f64, status: i64, run: Run) -> i64:
    """A smaller step next; rejects when it would drown in the rounding of time."""
    run.rejected += 1
    run.was_rejected = 1
    factor = SHRINK
    if error > 1.0:
        factor = max(SHRINK, SAFETY * pow(error, -1.0 / float(run.order)))
    run.h_next = run.h * factor
    if run.h_next < 16.0 * ROUNDING * max(abs(run.t), 1e-6 * (run.t_end - run.t_start)):
        if status != GOOD:
            return status
        return STEP_TOO_SMALL if error > 0.0 else NOT_FINITE
    return GOOD


@loop
def adapt(error: f64, run: Run) -> None:
    """The next step from this error and the one before; a shortened step does not shorten it."""
    e = max(error, 1e-10)
    exponent = 1.0 / float(run.order)
    factor = SAFETY * pow(e, -(exponent - 0.75 * MEMORY)) * pow(run.error_before, MEMORY)
    factor = min(1.0 if run.was_rejected > 0 else GROW, max(SHRINK, factor))
    was_shortened = 1 if run.h < 0.99 * min(run.h_next, run.h_max) else 0
    longer = run.h * factor
    run.h_next = max(run.h_next, longer) if was_shortened == 1 else longer
    run.error_before = max(e, 1e-4)
    run.was_rejected = 0
