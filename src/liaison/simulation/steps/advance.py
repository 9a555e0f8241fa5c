"""The time loop, compiled: step, closures, knots of laws, events, samples; no Python per step.

`advance` is re-entrant. It keeps all it knows in the record `Run`, and returns when Python has
something to do: a buffer is full, an entry must be compiled, a controller is due, the run ended or
failed, or the allotted number of steps is used up. Called again, it goes on where it was.

`Entries.phases` determines what a step is: the loops of its phases, called by address. Here are
those of smooth motions; steps through contacts and of scenes have their own, and a smooth run does
not compile them.

Knots: places where a law of the state jumps or bends; no step goes across one.

Forces that follow `if`, `abs`, `max` or a table of coordinates are smooth between knots. A step
across one has stages on both sides: its error is not that of its order, and what lies between two
knots may be between its stages. So the first knot that a step passes is located on its dense
output, and the step is taken again up to just before; from there the state is put just after. In a
step whose error is too large it is located on the motion with the accelerations of its beginning,
which know nothing of what is beyond.

A law that is crossed back and forth at once, as sign(v) at rest, would end steps without end;
after some of them the error alone chooses them for a while.

Public names: advance, SMOOTH, begin, commit, land, set_step, is_final, closed_step, accept,
first_knot, ends_at_knot. Source: HNW1 §II.6 (discontinuities).
"""

from __future__ import annotations

from types import MappingProxyType

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.events.events import first_signs, look_for_events
from liaison.solvers.linear.dense import largest_in

from .explicit import error_norm, new_state, refresh, stages, state_at, through_five
from .layout import (
    ARRIVED,
    BAD_START,
    BAD_START_RATE,
    COMMIT,
    DONE,
    EVENTS,
    GOOD,
    LAND,
    NEEDS_INSTANTS,
    NOT_FINITE,
    NOT_KEPT,
    POSITIONS_LOST,
    RESUMED,
    SAMPLING,
    START,
    STOPPED,
    TOO_MANY_STEPS,
    TRY,
    Entries,
    Run,
)
from .projection import note_worst, project, residuals
from .recording import arrive, begin_balance, observe, sample
from .stepsize import adapt, choose_step, divide, first_step, is_torn, pass_breaks, reject

NONE = 2.0
"""The part of a step that stands for "no knot"."""

SCAN = 8
"""Looks at the quartic between two nodes."""

AT_END = 1.0 - 1e-6
"""A knot from this part of a step on is at its end."""

KNOT_FIRST = 0.9
"""A step that is wrong ends at a knot before this part of it, rather than where its error says."""

BEFORE, BESIDE = 1.0 - 1e-9, 1e-8
"""Part of the way to a knot that a step takes; of a step, a knot that is next to its beginning."""

SHORTEST = 1e-11
"""Of the run: the shortest step that a knot asks for."""

OFTEN, SOON, BLIND = 60, 1e-6, 1e-3
"""So many knots within the second share of a run are passed over for the third."""


@loop
def expected_at(e: Entries, theta: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """q, v at the fraction θ of the step with the accelerations of its beginning."""
    nv = run.nv
    y = run.stage
    h = theta * run.h
    for i in range(nv):
        a = run.k[0, nv + i]
        y[i] = h * (run.v[i] + 0.5 * h * a)
        v[i] = run.v[i] + h * a
    e.retract(run.t + h, run.q, v, run.u, run.p, y, q, scratch)


@loop
def at_knots(e: Entries, theta: f64, out: ptr, run: Run, scratch: ptr) -> None:
    """The formulas that make laws bend, at a part of the step; of a wrong one as it set out."""
    q = run.trial.q
    v = run.trial.v
    if run.is_wrong > 0 and run.is_implicit == 0:
        expected_at(e, theta, q, v, run, scratch)
    else:
        state_at(e, theta, q, v, run, scratch)
    t = run.t + theta * run.h
    refresh(e, t, q, v, run, scratch)
    e.knots(t, q, v, run.u, run.p, q, out, scratch)


@loop
def has_level(i: i64, low: f64, high: f64, run: Run) -> i64:
    """1 if a level of the i-th formula is above `low` and not above `high`."""
    first = run.level_end[i - 1] if i > 0 else 0
    last = int(run.level_end[i])
    end = last
    while first < last:
        middle = (first + last) // 2
        if run.levels[middle] > low:
            last = middle
        else:
            first = middle + 1
    return 1 if first < end and run.levels[min(first, end - 1)] <= high else 0


@loop
def is_far(run: Run) -> i64:
    """1 if no level is near the values at the beginning, the middle and the end."""
    g = run.at_knots
    for i in range(run.nk):
        low = min(g[0, i], min(g[2, i], g[4, i]))
        high = max(g[0, i], max(g[2, i], g[4, i]))
        spread = high - low
        if has_level(i, low - spread, high + spread, run) == 1:
            return 0
    return 1


@loop
def through(i: i64, x: f64, run: Run) -> f64:
    """The polynomial through the five nodes, at x quarters of the step."""
    g = run.at_knots
    return through_five(g[0, i], g[1, i], g[2, i], g[3, i], g[4, i], x)


@loop
def first_knot(e: Entries, run: Run, scratch: ptr) -> f64:
    """The part of the step just after its first knot; NONE if it passes none."""
    g = run.at_knots
    at_knots(e, 0.0, g[0], run, scratch)
    at_knots(e, 0.5, g[2], run, scratch)
    at_knots(e, 1.0, g[4], run, scratch)
    if is_far(run) == 1:
        return NONE
    at_knots(e, 0.25, g[1], run, scratch)
    at_knots(e, 0.75, g[3], run, scratch)
    first = NONE
    for i in range(run.nk):
        before = g[0, i]
        k = 1
        while k <= 4 * SCAN and 0.25 * float(k - 1) / float(SCAN) < first:
            x = float(k) / float(SCAN)
            node = k // SCAN
            y = g[node, i] if k % SCAN == 0 else through(i, x, run)
            if has_level(i, min(before, y), max(before, y), run) == 1:
                left = 0.25 * float(k - 1) / float(SCAN)
                knot = narrowed(e, i, left, 0.25 * x, before, run, scratch)
                if knot < first:
                    first = knot
                    k = 4 * SCAN
            before = y
            k += 1
    return first


@loop
def narrowed(e: Entries, i: i64, left: f64, right: f64, value: f64, run: Run, scratch: ptr) -> f64:
    """The part just after the first level that a formula passes between `left` and `right`.

    NONE if it passes none after all.
    """
    out = run.at_knots[1]
    kept = out[i]
    at_knots(e, right, out, run, scratch)
    passes = has_level(i, min(value, out[i]), max(value, out[i]), run)
    for _ in range(44 * passes):
        middle = 0.5 * (left + right)
        at_knots(e, middle, out, run, scratch)
        if has_level(i, min(value, out[i]), max(value, out[i]), run) == 1:
            right = middle
        else:
            left = middle
    at_knots(e, 0.25, out, run, scratch)
    out[i] = kept
    return right if passes == 1 else NONE


@loop
def hop(e: Entries, theta: f64, run: Run, scratch: ptr) -> None:
    """The state just after a knot that is next to it, by the law before it."""
    q = run.trial.q
    v = run.trial.v
    expected_at(e, theta, q, v, run, scratch)
    for i in range(run.nq):
        run.q[i] = q[i]
    for i in range(run.nv):
        run.v[i] = v[i]
    run.t += theta * run.h
    run.is_fresh = 0
    run.ledger.event = max(run.ledger.event, RESUMED)


@loop
def ends_at_knot(e: Entries, run: Run, scratch: ptr) -> i64:
    """1 if the step is to be taken again, up to a knot in it or from just after one."""
    latest = KNOT_FIRST if run.is_wrong > 0 else AT_END
    span = run.t_end - run.t_start
    if run.t < run.t_blind:
        return 0
    theta = first_knot(e, run, scratch)
    was_wrong = run.is_wrong
    if theta <= BESIDE and run.is_implicit == 0:
        run.is_wrong = 1
        theta = first_knot(e, run, scratch)
        run.is_wrong = was_wrong
    if not (theta < latest):
        return 0
    if run.t - run.t_knots > SOON * span:
        run.t_knots = run.t
        run.knots_met = 0
    run.knots_met += 1
    if run.knots_met > OFTEN:
        run.t_blind = run.t + BLIND * span
        return 0
    run.rejected += 1
    if theta <= BESIDE and run.is_implicit == 0:
        hop(e, theta, run, scratch)
    else:
        run.h_knot = max(theta * BEFORE * run.h, SHORTEST * span)
    return 1


@loop
def advance(e: Entries, run: Run, scratch: ptr, records: ptr, event_log: ptr, tries: i64) -> i64:
    """Goes on for at most `tries` steps; GOOD if they are used up, otherwise why it returned."""
    status = GOOD
    does = e.phases
    while status == GOOD:
        phase = run.phase
        if phase == TRY:
            if tries <= 0:
                return GOOD
            tries -= 1
            status = does.attempt(e, run, scratch, event_log)
        elif phase == LAND:
            status = does.land(e, run, scratch, event_log)
        elif phase == EVENTS:
            status = look_for_events(e, run, scratch, event_log)
        elif phase == SAMPLING:
            status = sample(e, run, scratch, records)
        elif phase == COMMIT:
            if run.ledger.kind != NOT_KEPT:
                observe(e, run, scratch)
            status = does.commit(e, run, scratch, event_log)
        elif phase == ARRIVED:
            status = arrive(e, run, scratch, records)
        elif phase == START:
            if run.ledger.kind != NOT_KEPT:
                begin_balance(e, run, scratch)
            status = does.start(e, run, scratch, event_log)
        else:
            return DONE if run.is_stopping == 0 else STOPPED
    return status


@loop
def begin(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Checks the start against its closures, brings it onto them, and chooses a first step."""
    q = run.q
    v = run.v
    refresh(e, run.t, q, v, run, scratch)
    if run.has_closure > 0:
        residuals(e, run.t, q, v, run, scratch)
        limit = run.start_tolerance
        scales = run.scales
        size = 1.0 + largest_in(run.nq, q, scales.position)
        if not (largest_in(run.nphi, run.out, scales.closure) <= limit * size):
            note_worst(0, run)
            return BAD_START
        size = 1.0 + largest_in(run.nv, v, scales.velocity)
        if not (largest_in(run.nc, run.out[run.nphi :], scales.closure_rate) <= limit * size):
            note_worst(1, run)
            return BAD_START_RATE
        status = project(e, run.t, q, v, run, scratch)
        if status != GOOD:
            return status
    if run.ne > 0:
        status = first_signs(e, run, scratch)
        if status != GOOD:
            return status
    if run.is_adaptive > 0 and run.h_next <= 0.0:
        status = first_step(e, run, scratch)
        if status != GOOD:
            return status
    run.phase = ARRIVED
    return GOOD


@loop
def set_step(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """What comes before every attempt: limits, instants at which a step ends, its size."""
    if run.steps >= run.steps_allowed:
        return TOO_MANY_STEPS
    if run.t >= run.t_refill:
        return NEEDS_INSTANTS
    if run.break_count > 0:
        passed = pass_breaks(e, run, scratch, event_log)
        if passed != GOOD or run.phase != TRY:
            return passed
    choose_step(run)
    return GOOD


@loop
def is_final(status: i64, run: Run) -> i64:
    """1 if the stages failed in a way that no smaller step mends, or the step is fixed."""
    if status != GOOD and (run.is_adaptive == 0 or status < NOT_FINITE):
        return 1
    return 0


@loop
def closed_step(status: i64, run: Run) -> i64:
    """The new state after the stages: 1 if it is finite, 0 if not, −1 to do it once more."""
    if status == GOOD:
        run.is_fresh = 1
    is_finite = new_state(run)
    if is_finite == 0 and status == GOOD and run.nc > 0 and run.is_in_doubt == 0:
        # once more, this time with every acceleration looked at
        run.is_in_doubt = 1
        run.is_fresh = 0
        return -1
    run.is_in_doubt = 0
    return is_finite


@loop
def accept(e: Entries, status: i64, is_finite: i64, error: f64, run: Run, scratch: ptr) -> i64:
    """Accepts the step, or rejects it for its error; −1 where there is none to look at."""
    if run.is_adaptive == 0:
        if is_finite == 0:
            return NOT_FINITE
    else:
        run.is_wrong = 0 if error >= 0.0 and error <= 1.0 else 1
        if run.nk > 0 and error >= 0.0 and ends_at_knot(e, run, scratch) == 1:
            return GOOD
        if run.is_wrong > 0:
            return reject(error, status, run)
        adapt(error, run)
    run.phase = LAND
    return GOOD


@loop
def try_step(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """One attempt by explicit stages: new state, error; accepted, the phase moves on."""
    status = set_step(e, run, scratch, event_log)
    if status != GOOD or run.phase != TRY:
        return status
    status = stages(e, run.is_fresh, run.ns, run, scratch)
    if is_final(status, run) == 1:
        return status
    is_finite = closed_step(status, run)
    if is_finite < 0:
        return GOOD
    error = -1.0
    if run.is_adaptive > 0 and status == GOOD and is_finite == 1:
        error = error_norm(run)
    return accept(e, status, is_finite, error, run, scratch)


@loop
def land(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state, brought onto its closures; a fixed step that they pull too far is divided."""
    y = run.y
    q = run.landed.q
    v = run.landed.v
    e.retract(run.t_new, run.q, at(y, run.nv), run.u, run.p, y, q, scratch)
    for i in range(run.nv):
        v[i] = y[run.nv + i]
    run.has_pulled = 0
    # a variational step ends on its closures
    if run.has_closure > 0 and (run.is_variational == 0 or run.is_stopping > 0):
        before = run.projections
        refresh(e, run.t_new, q, v, run, scratch)
        status = project(e, run.t_new, q, v, run, scratch)
        is_lost = 1 if status >= POSITIONS_LOST else 0
        if status != GOOD and is_lost == 0:
            return status
        may_divide = 1 - max(run.is_adaptive, max(run.is_stopping, run.is_alpha))
        if may_divide == 1 and divide(status, v, run) == 1:
            run.phase = TRY
            return GOOD
        if is_lost == 1:
            return status
        run.has_pulled = run.projections - before
        may_retry = min(run.is_adaptive, 1 - min(run.is_stopping, 1))
        if run.has_pulled > 0 and may_retry == 1 and is_torn(v, run) == 1:
            run.phase = TRY
            return reject(1.0, GOOD, run)
    run.steps += 1 - min(run.is_stopping, 1)
    run.phase = EVENTS if run.ne > 0 and run.is_stopping == 0 else SAMPLING
    return GOOD


@loop
def commit(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state becomes the state: the chart moves there, the last stage may serve as first."""
    nv = run.nv
    q = run.q
    v = run.v
    landed = run.landed
    k = run.k[0]
    last = run.k[(run.ns - 1)]
    for i in range(run.nq):
        q[i] = landed.q[i]
    for i in range(nv):
        v[i] = landed.v[i]
        k[i] = v[i]
        k[nv + i] = last[nv + i]
    # a state that was pulled needs its rate anew
    run.is_fresh = run.reuses_last if run.has_pulled == 0 else 0
    run.t = run.t_new
    run.base_steps += 1 - run.is_part
    if run.t == run.t_end or run.t == run.t_control or run.is_stopping > 0:
        run.t_base = run.t
        run.base_steps = 0
    run.phase = ARRIVED
    return GOOD


SMOOTH = MappingProxyType({"start": begin, "attempt": try_step, "land": land, "commit": commit})
"""The phases of explicit steps of a smooth motion; other methods are in files of their own."""
