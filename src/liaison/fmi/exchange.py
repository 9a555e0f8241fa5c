"""The functions of FMI as loops: continuous time, events, steps, derivatives.

Public names: get_states, set_states, set_time, get_rates, get_indicators, get_nominals,
enter_events, update_events, update_events2, update_events3, enter_continuous, completed, step2,
step3, state_count, indicator_count, along, against, real_status, flag_status, half_integers.
"""

from __future__ import annotations

from math import isfinite

from liaison.program.loops.language import bits, f64, i64, loop, ptr
from liaison.simulation.steps.layout import (
    DONE,
    FULL,
    GOOD,
    NOT_FINITE,
    STEP_TOO_SMALL,
    STOPPED,
    TOO_MANY_STEPS,
    TRY,
    Run,
)
from liaison.solvers.linear.dense import largest

from .calls import store_flag
from .layout import (
    CONTINUOUS,
    DISCARD,
    ERROR,
    EVENT,
    FASTEST,
    OK,
    OUT,
    QDOT,
    RESIDUAL,
    VDOT,
    Instance,
    P,
    Q,
    U,
    V,
    call_update,
    load_half,
    store_half,
    store_word,
)
from .messages import (
    BAD_EVENT,
    BAD_STATE,
    BAD_STEP,
    BAD_TIME,
    CATEGORY_EVENTS,
    ENDED,
    NO_DERIVATIVE,
    NO_REFERENCE,
    NULL_ARRAY,
    WRONG_COUNT,
    WRONG_START,
    complain,
    explained,
    failed,
    report,
)
from .model import (
    SLICE,
    events_known,
    get_integers,
    off_chart,
    rates_known,
    refreshed,
    residual_of,
)
from .smooth import BESIDE

ROUNDING, PATIENCE = 1e-13, 100
"""Part of the time that is rounding; slices of steps after which a run that stands still fails."""

MOST, EARLY = 10_000_000, 100_000
"""Steps in one step of the importer; attempts after which more than that are foreseen."""

DRIFT = 1e-10
"""Residual of closures, in units, at which an importer is asked to let the state be projected."""

NEAR = 1e-9
"""Part of the time by which a step may begin beside the present time."""


@loop
def half_integers(
    fmu: Instance, function: i64, references: i64, count: i64, values: i64, room: i64
) -> i64:
    """Values of integer variables, as numbers of 32 bits."""
    for i in range(count):
        place = fmu.verdict
        status = get_integers(fmu, function, references + 4 * i, 1, place, 1)
        if status != OK:
            return status
        store_half(values + 4 * i, place[0])
    return OK if count == room else complain(fmu, function, WRONG_COUNT, 0, 0.0, room)


@loop
def set_time(fmu: Instance, function: i64, t: f64) -> i64:
    """The time at which the importer evaluates."""
    if not isfinite(t):
        return complain(fmu, function, BAD_TIME, 0, t, 0)
    Run(fmu.ints[fmu.run_at :]).t = t
    refreshed(fmu)
    return OK


@loop
def set_states(fmu: Instance, function: i64, values: ptr, count: i64) -> i64:
    """q and v, as the importer integrates them."""
    run = Run(fmu.ints[fmu.run_at :])
    if count != fmu.nq + fmu.nv:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, count)
    for i in range(count):
        if not isfinite(values[i]):
            return complain(fmu, function, BAD_STATE, 0, 0.0, i)
    for i in range(fmu.nq):
        run.q[i] = values[i]
    for i in range(fmu.nv):
        run.v[i] = values[fmu.nq + i]
    refreshed(fmu)
    return OK


@loop
def get_states(fmu: Instance, function: i64, values: ptr, count: i64) -> i64:
    """q and v."""
    run = Run(fmu.ints[fmu.run_at :])
    if count != fmu.nq + fmu.nv:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, count)
    for i in range(fmu.nq):
        values[i] = run.q[i]
    for i in range(fmu.nv):
        values[fmu.nq + i] = run.v[i]
    return OK


@loop
def get_rates(fmu: Instance, function: i64, values: ptr, count: i64) -> i64:
    """q̇ and v̇ at the present time and state, in the present mode."""
    if count != fmu.nq + fmu.nv:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, count)
    status = rates_known(fmu)
    if status != GOOD:
        return explained(fmu, DISCARD, function, status)
    for i in range(fmu.nq):
        values[i] = fmu.qdot[i]
    for i in range(fmu.nv):
        values[fmu.nq + i] = fmu.vdot[i]
    return OK


@loop
def get_nominals(fmu: Instance, function: i64, values: ptr, count: i64) -> i64:
    """Sizes of states."""
    if count != fmu.nq + fmu.nv:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, count)
    for i in range(count):
        values[i] = fmu.nominal[i]
    return OK


@loop
def get_indicators(fmu: Instance, function: i64, values: ptr, count: i64) -> i64:
    """What is zero at events, in the present mode."""
    if count != fmu.ne:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, count)
    events_known(fmu)
    for i in range(fmu.ne):
        values[i] = fmu.events[i]
        if values[i] != values[i]:
            return complain(fmu, function, BAD_EVENT, fmu.event_texts + i, 0.0, i)
    return OK


@loop
def state_count(fmu: Instance, function: i64, place: i64) -> i64:
    """How many continuous states there are."""
    store_word(place, fmu.nq + fmu.nv)
    return OK


@loop
def indicator_count(fmu: Instance, function: i64, place: i64) -> i64:
    """How many event indicators there are."""
    store_word(place, fmu.ne)
    return OK


@loop
def enter_events(fmu: Instance, function: i64) -> i64:
    """Event mode."""
    fmu.phase = EVENT
    return OK


@loop
def enter_continuous(fmu: Instance, function: i64) -> i64:
    """Continuous-time mode."""
    fmu.phase = CONTINUOUS
    return OK


@loop
def next_instant(fmu: Instance) -> None:
    """The next instant at which formulas of time jump or bend, just after it."""
    run = Run(fmu.ints[fmu.run_at :])
    fmu.has_next = 1 if run.breaks_passed < run.break_count else 0
    if fmu.has_next > 0:
        instant = run.break_times[run.breaks_passed]
        fmu.t_next = instant + BESIDE * abs(instant)


@loop
def update_events(fmu: Instance, function: i64) -> i64:
    """What events do at the present instant; an FMI status."""
    run = Run(fmu.ints[fmu.run_at :])
    for i in range(fmu.nq):
        fmu.q_before[i] = run.q[i]
    for i in range(fmu.nv):
        fmu.v_before[i] = run.v[i]
    refreshed(fmu)
    status = fmu.settle(fmu)
    if status != GOOD:
        return failed(fmu, function, status)
    refreshed(fmu)
    fmu.has_changed = 0
    for i in range(fmu.nq):
        if run.q[i] != fmu.q_before[i]:
            fmu.has_changed = 1
    for i in range(fmu.nv):
        if run.v[i] != fmu.v_before[i]:
            fmu.has_changed = 1
    next_instant(fmu)
    note_end(fmu, function)
    return OK


@loop
def note_end(fmu: Instance, function: i64) -> None:
    """Logs that an event ended the motion."""
    if fmu.is_ended > 0 and fmu.is_logging > 0:
        name = fmu.event_texts + fmu.is_ended - 1
        report(fmu, OK, CATEGORY_EVENTS, function, ENDED, name, 0.0, 0)


@loop
def update_events2(fmu: Instance, function: i64, info: i64) -> i64:
    """As `update_events`, into the event information of FMI 2.0."""
    if info == 0:
        return complain(fmu, function, NULL_ARRAY, 0, 0.0, 0)
    status = update_events(fmu, function)
    store_half(info, 0)
    store_half(info + 4, 1 if fmu.is_ended > 0 else 0)
    store_half(info + 8, 0)
    store_half(info + 12, fmu.has_changed)
    store_half(info + 16, fmu.has_next)
    store_word(info + 24, bits(fmu.t_next))
    return status


@loop
def update_events3(
    fmu: Instance, function: i64, more: i64, ends: i64, nominals: i64, changed: i64, has_next: i64,
    next_time: i64,
) -> i64:  # fmt: skip
    """As `update_events`, into the arguments of FMI 3.0."""
    status = update_events(fmu, function)
    store_flag(fmu, more, 0)
    store_flag(fmu, ends, 1 if fmu.is_ended > 0 else 0)
    store_flag(fmu, nominals, 0)
    store_flag(fmu, changed, fmu.has_changed)
    store_flag(fmu, has_next, fmu.has_next)
    if next_time != 0:
        store_word(next_time, bits(fmu.t_next))
    return status


@loop
def completed(fmu: Instance, function: i64, wants_events: i64, ends: i64) -> i64:
    """A step of the importer is over: where the state has left its closures, an event follows."""
    is_off = 0
    if residual_of(fmu, 0) > fmu.drift or residual_of(fmu, 1) > fmu.drift:
        is_off = 1
    if fmu.nq > fmu.nv and off_chart(fmu) > fmu.drift:
        is_off = 1
    store_flag(fmu, wants_events, is_off)
    store_flag(fmu, ends, 0)
    return OK


@loop
def is_step(fmu: Instance, function: i64, t: f64, h: f64) -> i64:
    """1 if a step of the importer begins now and has a length."""
    run = Run(fmu.ints[fmu.run_at :])
    if not (h > 0.0 and isfinite(h)):
        complain(fmu, function, BAD_STEP, 0, h, 0)
        return 0
    if not (abs(t - run.t) <= NEAR * max(abs(run.t), h)):
        complain(fmu, function, WRONG_START, 0, t, 0)
        return 0
    return 1


@loop
def wants_return(fmu: Instance) -> i64:
    """Lets the importer look at the state between two steps; 1 if it wants to have it now."""
    run = Run(fmu.ints[fmu.run_at :])
    refreshed(fmu)
    return call_update(fmu.update, fmu.environment, run.t, fmu.may_return)


@loop
def stopped(fmu: Instance, function: i64) -> i64:
    """Notes which event ended the motion."""
    run = Run(fmu.ints[fmu.run_at :])
    fmu.is_ended = 1
    for i in range(fmu.own_events):
        if run.fired[i] > 0:
            fmu.is_ended = 1 + i
    note_end(fmu, function)
    return OK


@loop
def march_to(fmu: Instance, function: i64, t: f64) -> i64:
    """Goes on until a time, an event that ends the motion, or as the importer asks."""
    run = Run(fmu.ints[fmu.run_at :])
    run.t_end = t
    run.phase = TRY
    run.is_stopping = 0
    run.steps_allowed = run.steps + MOST
    fmu.returns_early = 0
    slice = SLICE if fmu.update == 0 else 1
    status = GOOD
    stays = 0
    attempts = 0
    begin = run.t
    while status * (status - FULL) == 0:
        run.recorded = 0
        run.event_count = 0
        before = run.t
        status = fmu.go(fmu, slice)
        stays = stays + 1 if run.t - before <= ROUNDING * (abs(t) + 1.0) else 0
        if status == GOOD and stays * slice >= SLICE and t - run.t <= ROUNDING * (abs(t) + 1.0):
            # what is left of the step is rounding
            run.t = t
            status = DONE
        elif status == GOOD and stays * slice >= PATIENCE * SLICE:
            status = STEP_TOO_SMALL
        attempts += slice
        if status == GOOD and attempts >= EARLY and MOST * (run.t - begin) < attempts * (t - begin):
            status = TOO_MANY_STEPS
        if status == GOOD and fmu.update != 0 and run.t < t and wants_return(fmu) == 1:
            fmu.returns_early = 1
            status = DONE
    # the run itself knows whether the first stage of its next step is known
    fmu.known = 0
    fmu.t_last = run.t_good
    if not (largest(fmu.nv, run.v) <= FASTEST):
        status = NOT_FINITE
    if status == DONE:
        return OK
    return stopped(fmu, function) if status == STOPPED else failed(fmu, function, status)


@loop
def step2(fmu: Instance, function: i64, t: f64, h: f64) -> i64:
    """A step of co-simulation; it is discarded where an event ends the motion before its end."""
    if is_step(fmu, function, t, h) == 0:
        return ERROR
    if fmu.is_ended > 0:
        return DISCARD
    status = march_to(fmu, function, t + h)
    return DISCARD if status == OK and fmu.is_ended > 0 else status


@loop
def step3(
    fmu: Instance, function: i64, t: f64, h: f64, needs: i64, ends: i64, early: i64, last: i64
) -> i64:
    """A step of co-simulation in FMI 3.0."""
    store_flag(fmu, needs, 0)
    store_flag(fmu, ends, 0)
    store_flag(fmu, early, 0)
    if is_step(fmu, function, t, h) == 0:
        return ERROR
    status = OK
    if fmu.is_ended == 0:
        status = march_to(fmu, function, t + h)
    store_flag(fmu, ends, 1 if fmu.is_ended > 0 else 0)
    store_flag(fmu, early, fmu.returns_early)
    if last != 0:
        store_word(last, bits(Run(fmu.ints[fmu.run_at :]).t))
    return status


@loop
def real_status(fmu: Instance, function: i64, kind: i64, place: i64) -> i64:
    """The time that the last step reached (FMI 2.0: kind 2)."""
    if kind != 2:
        return DISCARD
    store_word(place, bits(Run(fmu.ints[fmu.run_at :]).t))
    return OK


@loop
def flag_status(fmu: Instance, function: i64, kind: i64, place: i64) -> i64:
    """Whether an event ended the motion (FMI 2.0: kind 3)."""
    if kind != 3 or place == 0:
        return DISCARD
    store_half(place, 1 if fmu.is_ended > 0 else 0)
    return OK


@loop
def seed_place(fmu: Instance, array: i64) -> i64:
    """Where changes of an array begin in a direction; −1 of none."""
    if array == Q:
        return 0
    if array == V:
        return fmu.nq
    if array == U:
        return fmu.nq + fmu.nv
    if array == P:
        return fmu.nq + fmu.nv + fmu.nu
    return -1


@loop
def is_known(fmu: Instance, function: i64, k: i64) -> i64:
    """1 if a value reference is that of a real variable."""
    if k < fmu.variables_count and fmu.variables[k].is_integer == 0:
        return 1
    complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
    return 0


@loop
def take_seed(fmu: Instance, function: i64, knowns: i64, directions: i64, seed: ptr) -> i64:
    """The direction in which knowns change; an FMI status."""
    for i in range(fmu.nx):
        fmu.direction[i] = 0.0
    place = 0
    for i in range(directions):
        k = load_half(knowns + 4 * i)
        if is_known(fmu, function, k) == 0:
            return ERROR
        variable = fmu.variables[k]
        start = seed_place(fmu, variable.array)
        if start < 0:
            return complain(fmu, function, NO_DERIVATIVE, fmu.variable_texts + k, 0.0, k)
        for j in range(variable.count):
            fmu.direction[start + variable.first + j] = seed[place]
            place += 1
    return OK


@loop
def along(
    fmu: Instance, function: i64, unknowns: i64, count: i64, knowns: i64, seeds: i64, seed: ptr,
    sensitivity: ptr,
) -> i64:  # fmt: skip
    """How unknowns change along a direction of knowns."""
    status = take_seed(fmu, function, knowns, seeds, seed)
    if status != OK:
        return status
    status = fmu.vary(fmu)
    if status != GOOD:
        return explained(fmu, DISCARD, function, status)
    place = 0
    for i in range(count):
        k = load_half(unknowns + 4 * i)
        if is_known(fmu, function, k) == 0:
            return ERROR
        array = fmu.variables[k].array
        start = weight_place(fmu, array) + (fmu.multipliers if array == OUT else 0)
        is_state = 1 if (array - Q) * (array - V) == 0 else 0
        if start == -1 and is_state == 0:
            return complain(fmu, function, NO_DERIVATIVE, fmu.variable_texts + k, 0.0, k)
        for j in range(fmu.variables[k].count):
            m = fmu.variables[k].first + j
            sensitivity[place] = fmu.change[start + m] if start >= 0 else 0.0
            if is_state == 1:
                sensitivity[place] = fmu.direction[seed_place(fmu, array) + m]
            place += 1
    return OK


@loop
def weight_place(fmu: Instance, array: i64) -> i64:
    """Where weights of an array begin in a row of weights; −1 of none, −2 of what stays 0."""
    if array == QDOT:
        return 0
    if array == VDOT:
        return fmu.nq
    if array == OUT:
        return fmu.nq + fmu.nv
    return -2 if array == RESIDUAL else -1


@loop
def take_weights(fmu: Instance, function: i64, unknowns: i64, count: i64, seed: ptr) -> i64:
    """Weights of unknowns, and of those that are states; an FMI status."""
    for i in range(fmu.nx):
        fmu.weights[i] = 0.0
        fmu.change[i] = 0.0
    for i in range(fmu.nq + fmu.nv):
        fmu.state_weights[i] = 0.0
    place = 0
    for i in range(count):
        k = load_half(unknowns + 4 * i)
        if is_known(fmu, function, k) == 0:
            return ERROR
        variable = fmu.variables[k]
        start = weight_place(fmu, variable.array)
        states = seed_place(fmu, variable.array)
        is_state = 1 if variable.array == Q or variable.array == V else 0
        if start == -1 and is_state == 0:
            return complain(fmu, function, NO_DERIVATIVE, fmu.variable_texts + k, 0.0, k)
        for j in range(variable.count):
            if is_state == 1:
                fmu.state_weights[states + variable.first + j] += seed[place]
            elif start >= 0:
                fmu.weights[start + variable.first + j] += seed[place]
            place += 1
    return OK


@loop
def against(
    fmu: Instance, function: i64, unknowns: i64, count: i64, knowns: i64, wanted: i64, seed: ptr,
    sensitivity: ptr,
) -> i64:  # fmt: skip
    """How a weighted sum of unknowns changes with each of the knowns."""
    run = Run(fmu.ints[fmu.run_at :])
    own = fmu.nq + fmu.nv
    status = take_weights(fmu, function, unknowns, count, seed)
    if status != OK:
        return status
    if fmu.has_adjoint > 0:
        t = run.t
        fmu.adjoint_entry(t, run.q, run.v, run.u, run.p, fmu.weights, fmu.change, fmu.work)
    place = 0
    for i in range(wanted):
        k = load_half(knowns + 4 * i)
        if is_known(fmu, function, k) == 0:
            return ERROR
        variable = fmu.variables[k]
        start = seed_place(fmu, variable.array)
        if start < 0:
            return complain(fmu, function, NO_DERIVATIVE, fmu.variable_texts + k, 0.0, k)
        for j in range(variable.count):
            m = start + variable.first + j
            if fmu.has_adjoint == 0:
                status = weigh(fmu, m)
                if status != GOOD:
                    return explained(fmu, DISCARD, function, status)
            sensitivity[place] = fmu.change[m] + (fmu.state_weights[m] if m < own else 0.0)
            place += 1
    return OK


@loop
def weigh(fmu: Instance, m: i64) -> i64:
    """How the weighted sum changes with one known, into its place in `change`; GOOD, or why not."""
    own = fmu.nq + fmu.nv
    for i in range(fmu.nx):
        fmu.direction[i] = 0.0
    fmu.direction[m] = 1.0
    status = fmu.vary(fmu)
    total = 0.0
    for i in range(own):
        total += fmu.weights[i] * fmu.change[i]
    for i in range(fmu.no):
        total += fmu.weights[own + i] * fmu.change[own + fmu.multipliers + i]
    fmu.change[m] = total
    return int(status)
