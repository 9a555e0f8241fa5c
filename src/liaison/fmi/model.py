"""What an instance computes: values, derivatives, event indicators, and how it starts.

Public names: refreshed, value_of, set_value, begin, get_doubles, set_doubles, get_integers,
rates_known, events_known, residual_of, load_image, close_loops, centre, off_chart,
vary_smooth, vary_mode.
"""

from __future__ import annotations

from math import isfinite

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.assembly import CLOSED as IS_CLOSED
from liaison.simulation.assembly import Work, assemble_each
from liaison.simulation.events.windows import sign_of
from liaison.simulation.steps.explicit import derivative
from liaison.simulation.steps.layout import (
    DONE,
    FULL,
    GOOD,
    NOT_FINITE,
    START,
    STOPPED,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import correction, residuals
from liaison.simulation.steps.sides_layout import Sides
from liaison.solvers.linear.dense import largest, largest_in

from .layout import (
    DISCARD,
    ENERGY,
    FARTHEST,
    FASTEST,
    INDICATOR,
    KNOWS_ENERGY,
    KNOWS_EVENTS,
    KNOWS_OUTPUTS,
    KNOWS_POSES,
    KNOWS_RATES,
    MODE,
    OUT,
    POSE,
    QDOT,
    RESIDUAL,
    TIME,
    VDOT,
    WARNING,
    Instance,
    P,
    Q,
    U,
    V,
    image_table,
    load_half,
)
from .messages import (
    CATEGORY_WARNING,
    NO_REFERENCE,
    NOT_CLOSED,
    NOT_FINITE_VALUE,
    NOT_SETTABLE,
    OUT_OF_BOUNDS,
    TOO_FAR,
    TOO_FAST,
    WRONG_COUNT,
    complain,
    explained,
    failed,
    report,
)

PULL = 20.0
"""How fast states of the importer come back to the closures [1/s]."""

SLICE = 1000
"""Steps of the time loop in one call."""

WIDEST, NARROWEST, WIDER, LEVELS = 0.1, 2.0**-20, 4.0, 11
"""The widest difference, as a part of what changes, the narrowest as a part of that; how much wider
the next is; how many."""

NOISE = 1e-9
"""Part of a difference that may be rounding."""

POINTS = 4
"""Pairs of values in a difference."""

HUGE = 1e300


@loop
def load_image(words: iptr) -> None:
    """The first content of an instance."""
    image = image_table()
    place = 2
    for _ in range(image[1]):
        start = image[place]
        count = image[place + 1]
        for i in range(count):
            words[start + i] = image[place + 2 + i]
        place += 2 + count


@loop
def refreshed(fmu: Instance) -> None:
    """What was computed of the state before is no longer known."""
    fmu.known = 0
    Run(fmu.ints[fmu.run_at :]).is_fresh = 0


@loop
def rates_known(fmu: Instance) -> i64:
    """q̇ and v̇ at the present state; GOOD, or why they are not known.

    Where there are closures they are those of the nearest state on them, and lead back there: Φ
    and G v − ν decay by PULL in a unit of time, as does what attitudes lack of unit length. On the
    closures nothing changes by that.
    """
    if fmu.known & KNOWS_RATES:
        return GOOD
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    nv = fmu.nv
    for i in range(nv):
        fmu.pull[i] = 0.0
        fmu.pull[nv + i] = 0.0
        fmu.v_before[i] = run.v[i]
    for i in range(fmu.nq):
        fmu.q_before[i] = run.q[i]
    if fmu.nq > nv:
        centre(fmu)
    status = GOOD if largest(nv, run.v) <= FASTEST else NOT_FINITE
    if run.nc > 0 and status == GOOD:
        status = step_back(fmu)
    if status == GOOD:
        for i in range(nv):
            fmu.y[i] = 0.0
            fmu.y[nv + i] = run.v[i]
        status = derivative(e, run.t, fmu.y, fmu.k, run, at(fmu.floats, fmu.scratch_at))
    for i in range(nv):
        fmu.vdot[i] = fmu.k[nv + i] + PULL * fmu.pull[nv + i]
        fmu.speeds[i] = run.v[i] + PULL * fmu.pull[i]
    q = run.q
    fmu.qdot_entry(run.t, q, fmu.speeds, run.u, run.p, q, fmu.qdot, fmu.work)
    for i in range(nv):
        run.v[i] = fmu.v_before[i]
    for i in range(fmu.nq):
        if fmu.nq > nv:
            fmu.qdot[i] += PULL * fmu.off[i]
        run.q[i] = fmu.q_before[i]
    if status == GOOD and not isfinite(largest(fmu.nq, fmu.qdot) + largest(nv, fmu.vdot)):
        status = NOT_FINITE
    if status == GOOD:
        fmu.known = fmu.known | KNOWS_RATES
    return status


@loop
def off_chart(fmu: Instance) -> f64:
    """How far attitudes are from unit length; `off` leads there."""
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    for i in range(fmu.nv):
        fmu.y[i] = 0.0
    scratch = at(fmu.floats, fmu.scratch_at)
    e.retract(run.t, run.q, run.v, run.u, run.p, fmu.y, run.trial.q, scratch)
    for i in range(fmu.nq):
        fmu.off[i] = run.trial.q[i] - run.q[i]
    return largest(fmu.nq, fmu.off)


@loop
def centre(fmu: Instance) -> None:
    """Attitudes of unit length."""
    run = Run(fmu.ints[fmu.run_at :])
    off_chart(fmu)
    for i in range(fmu.nq):
        run.q[i] = run.trial.q[i]


@loop
def step_back(fmu: Instance) -> i64:
    """The state moved to the closures by one correction each, which `pull` keeps."""
    e = Entries(fmu.ints[fmu.entries_at :])
    run = Run(fmu.ints[fmu.run_at :])
    scratch = at(fmu.floats, fmu.scratch_at)
    q = run.q
    residuals(e, run.t, q, run.v, run, scratch)
    if largest(run.nphi, run.out) > 0.0:
        status = correction(e, 0, 1 - run.has_correct[0], run.t, q, run.v, run, scratch)
        if status != GOOD:
            return status
        for i in range(fmu.nv):
            fmu.pull[i] = run.stage[i]
        e.retract(run.t, q, run.v, run.u, run.p, fmu.pull, run.trial.q, scratch)
        for i in range(fmu.nq):
            q[i] = run.trial.q[i]
        residuals(e, run.t, q, run.v, run, scratch)
    if largest(run.nc, at(run.out, run.nphi)) > 0.0:
        status = correction(e, 1, 1 - run.has_correct[1], run.t, q, run.v, run, scratch)
        if status != GOOD:
            return status
        for i in range(fmu.nv):
            fmu.pull[fmu.nv + i] = run.stage[i]
            run.v[i] += run.stage[i]
    return GOOD


@loop
def outputs_known(fmu: Instance) -> None:
    """Outputs of the description at the present state."""
    run = Run(fmu.ints[fmu.run_at :])
    q = run.q
    if fmu.no > 0 and fmu.known & KNOWS_OUTPUTS == 0:
        fmu.outputs_entry(run.t, q, run.v, run.u, run.p, q, fmu.outputs, fmu.work)
    fmu.known = fmu.known | KNOWS_OUTPUTS


@loop
def energy_known(fmu: Instance) -> None:
    """Kinetic and potential energy at the present state."""
    run = Run(fmu.ints[fmu.run_at :])
    q = run.q
    if fmu.known & KNOWS_ENERGY == 0:
        fmu.energy_entry(run.t, q, run.v, run.u, run.p, q, fmu.energy, fmu.work)
    fmu.known = fmu.known | KNOWS_ENERGY


@loop
def poses_known(fmu: Instance) -> None:
    """Rotations and positions of bodies at the present state."""
    run = Run(fmu.ints[fmu.run_at :])
    q = run.q
    if fmu.known & KNOWS_POSES == 0:
        fmu.poses_entry(run.t, q, run.v, run.u, run.p, q, fmu.poses, fmu.work)
    fmu.known = fmu.known | KNOWS_POSES


@loop
def events_known(fmu: Instance) -> None:
    """Event indicators at the present state, in the present mode.

    One that began at zero has the sign that it takes first.
    """
    run = Run(fmu.ints[fmu.run_at :])
    e = Entries(fmu.ints[fmu.entries_at :])
    q = run.q
    if fmu.ne > 0 and fmu.known & KNOWS_EVENTS == 0:
        e.events(run.t, q, run.v, run.u, run.p, q, fmu.events, at(fmu.floats, fmu.scratch_at))
        for i in range(fmu.ne):
            fmu.events[i] += fmu.margin[i]
            if run.sign[i] == 0.0:
                run.sign[i] = sign_of(fmu.events[i])
    fmu.known = fmu.known | KNOWS_EVENTS


@loop
def residual_of(fmu: Instance, level: i64) -> f64:
    """The largest residual of the closures of positions (0), or of rates (1)."""
    run = Run(fmu.ints[fmu.run_at :])
    if run.nc == 0:
        return 0.0
    e = Entries(fmu.ints[fmu.entries_at :])
    residuals(e, run.t, run.q, run.v, run, at(fmu.floats, fmu.scratch_at))
    if level == 0:
        return largest_in(run.nphi, run.out, run.scales.closure)
    return largest_in(run.nc, at(run.out, run.nphi), run.scales.closure_rate)


@loop
def vary_smooth(fmu: Instance) -> i64:
    """How rates and outputs of a smooth motion change along `direction`, into `change`; GOOD."""
    run = Run(fmu.ints[fmu.run_at :])
    fmu.variation_entry(run.t, run.q, run.v, run.u, run.p, fmu.direction, fmu.change, fmu.work)
    return GOOD


@loop
def vary_mode(fmu: Instance) -> i64:
    """As `vary_smooth`, in the present mode of contacts; GOOD, or why it is not known.

    By central differences of order 8, of ever wider ones the most certain.

    They end where one differs from the one before by more than rounding explains: there another
    branch of the forces begins, or the order no longer holds.
    """
    keep_base(fmu)
    h = widest_step(fmu) * NARROWEST
    least = HUGE
    status = GOOD
    is_on = 1
    for level in range(LEVELS):
        if is_on == 1:
            verdict = difference(fmu, h)
            worst = distance(fmu.nx, fmu.slope, fmu.slope_before)
            if verdict != GOOD:
                status = verdict
                worst = HUGE
            if level > 0 and worst > 10.0 * least and worst > NOISE * largest(fmu.nx, fmu.slope):
                is_on = 0
            if level > 0 and worst < least:
                least = worst
                for i in range(fmu.nx):
                    fmu.change[i] = fmu.slope[i]
            for i in range(fmu.nx):
                fmu.slope_before[i] = fmu.slope[i]
            h = h * WIDER
    shift(fmu, 0.0)
    return GOOD if least < HUGE else status


@loop
def distance(n: i64, x: ptr, y: ptr) -> f64:
    """max |x_i − y_i|; HUGE if one is not a number."""
    worst = 0.0
    for i in range(n):
        size = abs(x[i] - y[i])
        if not (size < HUGE):
            return HUGE
        worst = max(worst, size)
    return worst


@loop
def keep_base(fmu: Instance) -> None:
    """The present state, inputs and parameters into `base`."""
    run = Run(fmu.ints[fmu.run_at :])
    place = fmu.nq + fmu.nv
    for i in range(fmu.nq):
        fmu.base[i] = run.q[i]
    for i in range(fmu.nv):
        fmu.base[fmu.nq + i] = run.v[i]
    for i in range(fmu.nu):
        fmu.base[place + i] = run.u[i]
    for i in range(fmu.np):
        fmu.base[place + fmu.nu + i] = run.p[i]


@loop
def shift(fmu: Instance, h: f64) -> None:
    """State, inputs and parameters moved from `base` along `direction`."""
    run = Run(fmu.ints[fmu.run_at :])
    place = fmu.nq + fmu.nv
    for i in range(fmu.nq):
        run.q[i] = fmu.base[i] + h * fmu.direction[i]
    for i in range(fmu.nv):
        run.v[i] = fmu.base[fmu.nq + i] + h * fmu.direction[fmu.nq + i]
    for i in range(fmu.nu):
        run.u[i] = fmu.base[place + i] + h * fmu.direction[place + i]
    place += fmu.nu
    for i in range(fmu.np):
        run.p[i] = fmu.base[place + i] + h * fmu.direction[place + i]
    refreshed(fmu)


@loop
def widest_step(fmu: Instance) -> f64:
    """The last step of differences: a part of the size of what changes; of parameters, of each."""
    count = fmu.nq + fmu.nv + fmu.nu + fmu.np
    h = 1.0
    for i in range(count):
        step = abs(fmu.direction[i])
        size = max(1.0, abs(fmu.base[i]))
        if i >= count - fmu.np and fmu.base[i] != 0.0:
            size = abs(fmu.base[i])
        if h * step > WIDEST * size:
            h = WIDEST * size / step
    return h


@loop
def central(m: i64) -> f64:
    """The weight of the m-th pair of values in a central difference of order 8."""
    weight = -1.0 / 280.0 if m == 4 else 4.0 / 105.0
    if m < 3:
        weight = 4.0 / 5.0 if m == 1 else -1.0 / 5.0
    return weight


@loop
def difference(fmu: Instance, h: f64) -> i64:
    """One difference of order 8, into `slope`; GOOD, or why a value is not known."""
    for i in range(fmu.nx):
        fmu.slope[i] = 0.0
    places = fmu.nq + fmu.nv + fmu.multipliers
    for k in range(2 * POINTS):
        m = 1 + k // 2
        sign = 1.0 if k % 2 == 0 else -1.0
        shift(fmu, sign * float(m) * h)
        status = rates_known(fmu)
        if status != GOOD:
            return status
        outputs_known(fmu)
        weight = sign * central(m) / h
        for i in range(fmu.nq):
            fmu.slope[i] += weight * fmu.qdot[i]
        for i in range(fmu.nv):
            fmu.slope[fmu.nq + i] += weight * fmu.vdot[i]
        for i in range(fmu.no):
            fmu.slope[places + i] += weight * fmu.outputs[i]
    return GOOD


@loop
def value_of(fmu: Instance, array: i64, k: i64) -> f64:
    """The value of a variable; not a number where it has none."""
    run = Run(fmu.ints[fmu.run_at :])
    if array == TIME:
        return run.t
    if array == Q:
        return float(run.q[k])
    if array == V:
        return float(run.v[k])
    if array == U:
        return float(run.u[k])
    if array == P:
        return float(run.p[k])
    if array == OUT:
        outputs_known(fmu)
        return float(fmu.outputs[k])
    if array == ENERGY:
        energy_known(fmu)
        return float(fmu.energy[k])
    if array == RESIDUAL:
        return residual_of(fmu, k)
    if array == POSE:
        poses_known(fmu)
        return float(fmu.poses[k])
    if array == INDICATOR:
        events_known(fmu)
        return float(fmu.events[k])
    return float(fmu.qdot[k] if array == QDOT else fmu.vdot[k])


@loop
def mode_of(fmu: Instance, k: i64) -> i64:
    """The mode of a unilateral constraint: 0 open, others as contacts have them."""
    return int(Sides(fmu.ints[fmu.sides_at :]).mode[k])


@loop
def get_doubles(
    fmu: Instance, function: i64, references: i64, count: i64, values: ptr, room: i64
) -> i64:
    """Values of real variables; a warning where one is not finite."""
    place = 0
    verdict = 0
    for i in range(count):
        k = load_half(references + 4 * i)
        if k >= fmu.variables_count:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        variable = fmu.variables[k]
        if variable.is_integer > 0:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        if place + variable.count > room:
            return complain(fmu, function, WRONG_COUNT, 0, 0.0, room)
        if variable.array == QDOT or variable.array == VDOT:
            status = rates_known(fmu)
            if status != GOOD:
                return explained(fmu, DISCARD, function, status)
        for j in range(variable.count):
            x = value_of(fmu, variable.array, variable.first + j)
            if not isfinite(x):
                name = fmu.variable_texts + k
                verdict = report(
                    fmu, WARNING, CATEGORY_WARNING, function, NOT_FINITE_VALUE, name, x, k
                )
            values[place] = x
            place += 1
    if place != room:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, room)
    return int(verdict)


@loop
def get_integers(
    fmu: Instance, function: i64, references: i64, count: i64, values: iptr, room: i64
) -> i64:
    """Values of integer variables, as words; the modes of unilateral constraints."""
    for i in range(count):
        k = load_half(references + 4 * i)
        if k >= fmu.variables_count:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        variable = fmu.variables[k]
        if variable.is_integer == 0 or variable.array != MODE:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        if i >= room:
            return complain(fmu, function, WRONG_COUNT, 0, 0.0, room)
        values[i] = mode_of(fmu, variable.first)
    return 0


@loop
def set_value(fmu: Instance, array: i64, k: i64, x: f64) -> None:
    """Sets a state, an input or a parameter."""
    run = Run(fmu.ints[fmu.run_at :])
    if array == Q:
        run.q[k] = x
    elif array == V:
        run.v[k] = x
    elif array == U:
        run.u[k] = x
    elif array == P:
        run.p[k] = x
    if array != U:
        fmu.is_set = 1
    # what is set stays as it is where loops are closed
    if array == V:
        fmu.held[2 * fmu.nv + k] = 1
    elif array == Q and fmu.nq == fmu.nv:
        fmu.held[k] = 1


@loop
def set_doubles(
    fmu: Instance, function: i64, references: i64, count: i64, values: ptr, room: i64
) -> i64:
    """Sets real variables; where one is wrong those before it are set."""
    place = 0
    for i in range(count):
        k = load_half(references + 4 * i)
        if k >= fmu.variables_count:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        variable = fmu.variables[k]
        name = fmu.variable_texts + k
        if variable.is_integer > 0:
            return complain(fmu, function, NO_REFERENCE, 0, 0.0, k)
        if variable.settable & fmu.phase == 0:
            return complain(fmu, function, NOT_SETTABLE, name, 0.0, k)
        if place + variable.count > room:
            return complain(fmu, function, WRONG_COUNT, 0, 0.0, room)
        for j in range(variable.count):
            x = values[place]
            if not isfinite(x):
                return complain(fmu, function, NOT_FINITE_VALUE, name, x, k)
            if x < variable.low or x > variable.high:
                is_far = variable.array == Q and abs(x) > FARTHEST
                text = TOO_FAR if is_far else OUT_OF_BOUNDS
                return complain(fmu, function, text, name, x, k)
            if variable.array == V and abs(x) > FASTEST:
                return complain(fmu, function, TOO_FAST, name, x, k)
            set_value(fmu, variable.array, variable.first + j, x)
            place += 1
    refreshed(fmu)
    if place != room:
        return complain(fmu, function, WRONG_COUNT, 0, 0.0, room)
    return 0


@loop
def close_loops(fmu: Instance) -> i64:
    """Positions and speeds that the closures allow, near those that were set; 1 if there are."""
    run = Run(fmu.ints[fmu.run_at :])
    work = Work(fmu.ints[fmu.assembly_at :])
    work.t = run.t
    for i in range(fmu.nv):
        fmu.speeds[i] = run.v[i]
        fmu.speeds[fmu.nv + i] = run.v[i]
    assemble_each(
        work, 1, 2, fmu.held, run.q, fmu.speeds, run.u, run.nu, run.p, run.np, fmu.verdict, fmu.work
    )
    for i in range(fmu.nv):
        run.v[i] = fmu.speeds[i]
    return 1 if fmu.verdict[0] == IS_CLOSED else 0


@loop
def begin(fmu: Instance, function: i64) -> i64:
    """Brings the start onto the closures, finds the first modes; an FMI status."""
    run = Run(fmu.ints[fmu.run_at :])
    refreshed(fmu)
    if fmu.is_set > 0 and fmu.assembly_at > 0 and fmu.close(fmu) == 0:
        return complain(fmu, function, NOT_CLOSED, 0, 0.0, 0)
    t = run.t
    run.t_new = t
    run.t_start = t
    run.t_base = t
    run.t_good = t
    run.t_end = t
    run.phase = START
    status = GOOD
    while status * (status - FULL) == 0:
        run.recorded = 0
        run.event_count = 0
        status = fmu.go(fmu, SLICE)
    if not (largest(fmu.nv, run.v) <= FASTEST):
        status = NOT_FINITE
    if status != DONE and status != STOPPED:
        return failed(fmu, function, status)
    run.phase = TRY
    run.is_stopping = 0
    # from here on ends of modes are seen
    status = fmu.go(fmu, 0)
    if status != GOOD:
        return failed(fmu, function, status)
    fmu.is_set = 0
    fmu.t_last = t
    return 0
