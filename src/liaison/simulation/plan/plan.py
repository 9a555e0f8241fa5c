"""Plan: all that is decided before a run begins, checked; and the arrays that follow from it.

What time stepping with contacts needs before a run: the table of blocks, tolerances, errors.

Public names: Plan, plan_of, arrays_of, lasting_arrays, fill_run, entries_of, kernel_like,
check_state, end_of, parameters_of, fill_moreau, watched_by, may_lose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel, Program, to_llvm
from liaison.program.instants import NOTHING, Instants, Timed
from liaison.simulation.events.watched import Watched, extra_program, sides_in, watched
from liaison.simulation.steps.layout import (
    NOT_KEPT,
    STORED,
    WORKED,
    Arrays,
    Run,
    Sizes,
    allocate,
)
from liaison.simulation.steps.rungekutta import Tableau
from liaison.units import si_value

from .inputs import Inputs, inputs_of
from .settings import IMPACTS, Settings
from .timing import WINDOW, instants_of, knots_of, load_instants, timed_of

SETTLED, SETTLED_RATE = 1e-7, 1e-12
"""Efforts of loads at the end of a step are met that are off by this part of themselves, or by so
much in a velocity."""

GAP = 1e-13
"""Penetration that is left alone, in the unit of the gap."""


def fill_moreau(arrays: Arrays, program: Program, theta: float | None = None) -> None:
    """The table of blocks, and the numbers of the scheme.

    Raises:
        SimulationError: a law of friction that steps of fixed size cannot take.
    """
    from liaison.simulation.steps.sides_layout import KINDS, LAWS

    run = arrays.run
    run.theta, run.gap_tolerance = 0.5 if theta is None else theta, GAP
    run.effort_tolerance, run.effort_rate = SETTLED, SETTLED_RATE
    for k, (name, _, kind, first, rows, load, law) in enumerate(sides_in(program)):
        if law == "regularized" or k in program.facts.get("bearings", ()):
            why = "is regularized" if law == "regularized" else "depends on what a joint transmits"
            raise SimulationError(
                f"method 'moreau' does not take {name!r}: its friction {why}.",
                hint="It takes Coulomb's and Stribeck's, bounded by a contact or by a formula; "
                "the default method takes all.",
            )
        run.blocks.ints[k] = KINDS[kind], first, rows, load, LAWS[law]


FIRST_CAPACITY, EVENTS_KEPT, SWITCHED = 256, 128, 5

PIVOTING = 4e6
"""Work of the pivoted solver, in (nv + nc)³, done before two entries are compiled: about 2 ms."""

LONG, PIVOTED_STEPS = 50, 4
"""Corrections at most that the pivoted solver makes in a run of more than so many fixed explicit
steps: nearly each of them needs some, so that the two entries are compiled in any case, and runs of
a batch, which share them, begin again and again."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """A run before it begins: kernel, start, end, settings, inputs, parameters, events."""

    kernel: Kernel
    state: State
    until: float
    settings: Settings
    inputs: Inputs
    parameters: Array
    events: tuple[Watched, ...]
    added: Kernel | None  # formulas of inputs and stop conditions
    knots: tuple[Array, ...] = ()  # levels at which formulas of the state make laws bend
    timed: Timed | None = None  # what depends on time alone
    instants: Instants = NOTHING
    watch: tuple[str, str] = ("", "")  # entry of the balance of energy; why it is not kept

    @property
    def program(self) -> Program:
        """What is simulated."""
        return self.kernel.program

    @property
    def is_scene(self) -> bool:
        """Free bodies whose contacts are found while they move."""
        return "scene" in self.program.facts

    def size(self, name: str) -> int:
        """nq, nv, nc, … of the program; 0 if it does not say."""
        return int(self.program.sizes.get(name, 0))


def plan_of(
    kernel: Kernel,
    state: State,
    until: float,
    settings: Settings,
    *,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    stop: Any = None,
) -> Plan:
    """Checks everything a run is given; rejects with the name of what is wrong."""
    program = kernel.program
    for entry in entries_of(settings.tableau, program):
        if entry not in program.entries:
            raise NamingError.unknown("entry", entry, program.entries)
    check_state(program, state)
    _check_impacts(program, settings)
    end = end_of(state, until, settings.step)
    all_inputs = inputs_of(program, inputs)
    events, stops = watched(program, stop)
    bends = knots_of(program, all_inputs) if settings.is_adaptive else ()
    extras = extra_program(program, all_inputs, stops, tuple(f for f, _ in bends))
    added = None if extras is None else kernel_like(kernel, extras)
    values = parameters_of(program, parameters)
    timed = timed_of(program, all_inputs, stops)
    instants = instants_of(timed, program, state.t, end, values, all_inputs.held)
    levels = tuple(x for _, x in bends)
    watch = watched_by(program, settings)
    return Plan(
        kernel, state, end, settings, all_inputs, values, events, added, levels, timed, instants,
        watch,
    )  # fmt: skip


def watched_by(program: Program, settings: Settings) -> tuple[str, str]:
    """The entry by which the balance of energy is kept; "" and why it is not."""
    if not settings.watch:
        return "", "it was not asked for"
    known = program.facts.get("energy")
    return ("", "the kernel has no entry for it") if known is None else known()


def entries_of(tableau: Tableau, program: Program) -> tuple[str, ...]:
    """Entries that every step calls."""
    closures = ("closure",) if program.sizes.get("nc", 0) else ()
    if "scene" in program.facts:
        return ("retract",)
    check_linear_rates(tableau, program)
    if tableau.scheme == "variational":
        reach = ("reach",) if closures else ()
        more = ("rate", "difference") if len(tableau.parts) > 1 else ()
        return ("retract", "terms", "kick", "leap", "d_leap", *reach, *closures, *more)
    if tableau.scheme == "alpha":
        return ("rate", "retract", "terms", "turn", "d_motion", *closures)
    if tableau.scheme == "moreau":
        turns = ("local_rate",) if has_turning_axes(program) else ()
        loads = ("load_rows", "load_laws") if implicit_loads(program) else ()
        rows = ("one_sided_from", "passes") if program.facts.get("convex") else ("one_sided",)
        return ("retract", "terms", *rows, *loads, *turns, *closures)
    return ("rate", "retract", *closures, *(("d_rate",) if tableau.is_implicit else ()))


def implicit_loads(program: Program) -> int:
    """Rows of loads that Moreau's steps take implicitly."""
    count = program.facts.get("implicit_loads")
    return int(count()) if count is not None and "load_rows" in program.entries else 0


def check_linear_rates(tableau: Tableau, program: Program) -> None:
    """Raises an error for a relation that is not linear in the rates and a step that needs it so.

    Such steps take velocities from G v = ν with G of positions alone.
    """
    names = program.facts.get("nonlinear_rates", ())
    if names and tableau.scheme in ("variational", "alpha", "moreau"):
        raise SimulationError(
            f"method {tableau.name!r} does not take {names[0]!r}, which is not linear in the "
            "rates: its steps solve G v = ν with G of positions alone.",
            hint="Leave the method out, or take radau, gauss6 or rk4.",
        )


def kernel_like(kernel: Kernel, program: Program) -> Kernel:
    """A kernel of another program through the same back end."""
    if kernel.is_interpreted:
        from liaison.program.to_numpy import to_numpy

        return to_numpy(program)
    return to_llvm(program, portable=kernel.portable)


def parameters_of(program: Program, changes: Mapping[str, float | str] | None) -> Array:
    """Default parameters with some given anew, by name; all finite and within their bounds."""
    labels = program.labels.get("p", ())
    names = [label.name for label in labels]
    values = np.array(program.defaults.get("p", np.zeros(len(names))), dtype=float)
    for name, value in (changes or {}).items():
        if name not in names:
            raise NamingError.unknown("parameter", name, names)
        slot = names.index(name)
        values[slot] = float(si_value(value, labels[slot].unit, f"parameter {name!r}"))
    for k in np.flatnonzero(~np.isfinite(values)):
        name = names[k] if k < len(names) else f"p[{k}]"
        raise SimulationError(
            f"parameter {name!r} is {values[k]}; a run needs a finite value.",
            hint=f"Give it: parameters={{{name!r}: …}}.",
        )
    _check_bounds(program, dict(zip(names, values, strict=False)))
    values.setflags(write=False)
    return values


def _check_bounds(program: Program, values: Mapping[str, float]) -> None:
    for name, (low, high) in program.facts.get("bounds", {}).items():
        value = values.get(name, low)
        # the value nearest a bound in floats is that bound
        slack = 1e-12 * abs(value)
        if not low - slack <= value <= high + slack:
            raise SimulationError(
                f"parameter {name!r} is {value:g}; it must be within its bounds "
                f"{low:g} … {high:g}.".replace("inf", "∞")
            )


def check_state(program: Program, state: State, *, is_named: bool = False) -> None:
    """Rejects a state of another mechanism, or one that is not finite.

    Args:
        program: of the mechanism.
        state: where a run is to begin.
        is_named: its names are known to be those of the program.
    """
    for name, array in (("q", state.q), ("v", state.v)):
        size = program.sizes["n" + name]
        if array.size != size:
            raise SimulationError(
                f"the state has {array.size} numbers in {name}, but {program.name!r} has {size}."
            )
        if not is_named:
            _check_names(program, state, name)
        if not math.isfinite(sum(array.tolist())):  # or numbers whose sum is too large
            _check_finite(program, name, array)
    if not math.isfinite(state.t):
        raise SimulationError(f"the state begins at t = {state.t} s, not finite.")


def _check_names(program: Program, state: State, name: str) -> None:
    labels = program.labels.get(name, ())
    own = state.labels.get(name, labels)
    if [x.name for x in own] != [x.name for x in labels]:
        raise SimulationError(
            f"the state's {name} is ({', '.join(x.name for x in own)}), but that of "
            f"{program.name!r} is ({', '.join(x.name for x in labels)})."
        )


def _check_finite(program: Program, name: str, array: Array) -> None:
    labels = program.labels.get(name, ())
    for k in np.flatnonzero(~np.isfinite(array)):
        label = labels[k].name if k < len(labels) else f"{name}[{k}]"
        raise SimulationError(f"the state begins with {label!r} = {array[k]}, not finite.")


def _check_impacts(program: Program, settings: Settings) -> None:
    """Raises an error for a law of impacts where nothing can be hit."""
    is_scene = "scene" in program.facts
    if settings.impacts != IMPACTS and not (is_scene or program.facts.get("sides")):
        raise SimulationError(
            f"impacts is {settings.impacts!r}; {program.name!r} has no contacts or other "
            "unilateral constraints, so that there are none.",
            hint="Leave it out.",
        )


def end_of(state: State, until: float, step: float | None = None) -> float:
    """The time to end at; rejects one before the start, and a fixed step beyond it."""
    end = float(until)
    if not math.isfinite(end) or end < state.t:
        raise SimulationError(
            f"until is {end:g} s: a run from {state.t:g} s cannot end at {end:g} s.", t=state.t
        )
    if step is not None and end > state.t and step > (end - state.t) * (1 + 1e-9):
        raise SimulationError(
            f"step is {step:g} s, longer than the run from {state.t:g} to {end:g} s.",
            hint="Give a shorter step, or a later end.",
            t=state.t,
        )
    return end


def arrays_of(plan: Plan, *, most: int | None = None, lanes: int = 1, few: int = 0) -> Arrays:
    """Arrays with everything in place for the first step, and room for all instants.

    Args:
        plan: of the run.
        most: rows of contacts that are active at a time, at most; all if None.
        lanes: worlds of a group on a device.
        few: rows that a group solves together, at most.
    """
    instants = plan.instants
    window = max(instants.breaks.size, instants.waypoints.size)
    arrays = lasting_arrays(plan, window, most=most, lanes=lanes, few=few)
    fill_run(arrays, plan)
    return arrays


def lasting_arrays(
    plan: Plan,
    window: int = WINDOW,
    *,
    beside: int = 0,
    logged: int = 0,
    most: int | None = None,
    lanes: int = 1,
    few: int = 0,
) -> Arrays:
    """Arrays with what every run of a kernel with these options has in them; see `fill_run`.

    Args:
        plan: of one such run.
        window: instants, at which steps end, that are at hand.
        beside: words of what the method knows besides.
        logged: rows of the log that its steps need room for.
        most: rows of contacts that are active at a time, at most.
        lanes: worlds of a group on a device.
        few: rows that a group solves together, at most.
    """
    settings, inputs = plan.settings, plan.inputs
    sides = sides_in(plan.program) if settings.tableau.scheme == "moreau" else ()
    is_moreau = settings.tableau.scheme == "moreau" and not plan.is_scene
    sizes = Sizes(
        loads=implicit_loads(plan.program) if is_moreau else 0,
        nq=plan.size("nq"), nv=plan.size("nv"), nu=inputs.held.size, np=plan.parameters.size,
        nc=plan.size("nc"), nphi=plan.program.sizes.get("nphi", plan.size("nc")),
        events=len(plan.events), formulas=len(inputs.formulas), grid=settings.grid,
        blocks=len(sides), rows=sum(block[4] for block in sides),
        facets=settings.facets or 0, breaks=window if has_instants(plan) else 0,
        points=window if has_instants(plan) else 0, knots=len(plan.knots),
        levels=sum(map(len, plan.knots)), beside=beside, most=most, lanes=lanes, few=few,
    )  # fmt: skip
    kept = logged + (EVENTS_KEPT + 4 * len(plan.events) if plan.events else 0)
    kept += EVENTS_KEPT + 4 * len(sides) if sides else 0
    kept += EVENTS_KEPT if has_instants(plan) and plan.size("nc") else 0  # rates may jump
    blocks = len(sides_in(plan.program))  # an instant at which all of them switch has to fit
    kept = max(kept, SWITCHED * blocks + EVENTS_KEPT) if blocks else kept
    arrays = allocate(sizes, settings.tableau, capacity=FIRST_CAPACITY, event_capacity=kept)
    _fill_settings(arrays, settings)
    _fill_formulas(arrays, plan)
    if settings.tableau.scheme == "moreau":
        fill_moreau(arrays, plan.program, settings.theta)
        arrays.run.turns = has_turning_axes(plan.program)
        arrays.run.has_passes = bool(plan.program.facts.get("convex"))
    run = arrays.run
    run.has_closure = plan.size("nc") > 0
    _fill_ledger(run, plan)
    for k, event in enumerate(plan.events):
        run.direction[k], run.stops[k] = event.direction, event.stops
    if plan.knots:
        run.levels[:] = np.concatenate(plan.knots)
        run.level_end[:] = np.cumsum([len(x) for x in plan.knots])
    measured = scales(plan)
    run.scale[np.array([*measured], dtype=np.int64)] = [*measured.values()]
    for k, omega in turning(plan).items() if run.is_alpha or run.is_edwards else ():
        run.turn[k] = omega
    for k, omega in turns(plan).items() if run.is_edwards else ():
        run.turn[k] = omega
    return arrays


INSTANTS = np.array(Run.slots("t", "t_new", "t_start", "t_base", "t_good"))
"""All of them are the start of a run at first."""


def fill_run(arrays: Arrays, plan: Plan) -> None:
    """What differs from run to run: start and end, parameters, inputs, instants to record."""
    run, state = arrays.run, plan.state
    run.floats[INSTANTS] = state.t
    run.t_end = plan.until
    good, q, v = run.good, state.q, state.v
    run.q[...], run.v[...], good.q[...], good.v[...] = q, v, q, v
    run.p[...], run.u[...] = plan.parameters, plan.inputs.held
    grid, period, samples = plan.settings.instants(state.t, plan.until)
    run.period, run.samples = period, samples
    run.records_steps, run.records_end = samples == 0, grid.size == 0
    if grid.size:
        run.instants[: grid.size] = grid
    if _has_many_steps(plan) and not sides_in(plan.program):
        run.pivots_left = min(PIVOTED_STEPS, run.pivots_left)
    load_instants(run, plan.instants, plan.settings.max_step)


def _has_many_steps(plan: Plan) -> bool:
    """Whether a run takes many fixed explicit steps."""
    settings, tableau = plan.settings, plan.settings.tableau
    if settings.is_adaptive or settings.step is None or tableau.is_implicit:
        return False
    return tableau.scheme == "stages" and plan.until - plan.state.t > LONG * settings.step


def _fill_settings(arrays: Arrays, settings: Settings) -> None:
    run, projection = arrays.run, settings.projection
    run.step = settings.step or 0.0
    run.rtol, run.atol, run.h_max = settings.rtol, settings.atol, settings.max_step
    run.atols[:] = settings.atol
    run.tolerance[:] = projection.position, projection.velocity
    run.lost, run.start_tolerance = projection.lost, projection.start
    run.residual_tolerance, run.error_before = settings.residual, 1e-4
    run.radius = settings.radius
    run.iterations, run.steps_allowed = projection.iterations, settings.max_steps
    run.is_adaptive = settings.is_adaptive
    run.t_control = run.h_look = run.h_knot = math.inf
    run.t_blind, run.records_stop = -math.inf, 1
    work = max(1, int(run.nv) + int(run.nc)) ** 3  # nothing moves: as little as one
    run.pivots_left = min(1000, int(PIVOTING / work))


DAMPING = ("alpha", "moreau")
"""Schemes that damp by themselves."""

STRIDE = 8
"""Steps from look to look at an energy that nothing changes."""


def _fill_ledger(run: Run, plan: Plan) -> None:
    """How the balance of energy is kept; contacts and methods that damp may take of it."""
    entry, ledger = plan.watch[0], run.ledger
    ledger.kind = {"": NOT_KEPT, "energy": STORED, "work": WORKED}[entry]
    damps = plan.settings.tableau.scheme in DAMPING
    # what a method damps again is seen at once or never
    ledger.stride = STRIDE if ledger.kind == STORED and not damps else 1
    ledger.loses = may_lose(plan)


def may_lose(plan: Plan) -> bool:
    """Whether a run loses energy that is not counted: in contacts, or by its method.

    Moreau's steps with θ = ½ lose none where there are no contacts.
    """
    scheme, theta = plan.settings.tableau.scheme, plan.settings.theta
    if plan.program.facts.get("sides") or plan.is_scene:
        return True
    return scheme in DAMPING and not (scheme == "moreau" and theta in (None, 0.5))


def _fill_formulas(arrays: Arrays, plan: Plan) -> None:
    run, inputs = arrays.run, plan.inputs
    for k, (slot, _) in enumerate(inputs.formulas):
        run.input[k] = slot
    if inputs.formulas and plan.added is not None:
        run.inputs_read_q = plan.added.program.reads("inputs")["q"] > 0


def has_instants(plan: Plan) -> bool:
    """Whether time alone may make equations or inputs jump, bend or vary."""
    return plan.timed is not None or bool(plan.program.facts.get("breaks"))


def scales(plan: Plan) -> dict[int, int]:
    """Local coordinate -> the entry of q its error is measured by; others are measured by 1."""
    nq, nv = plan.size("nq"), plan.size("nv")
    charts: Sequence[Any] = plan.program.facts.get("charts", ())
    if not charts:
        return {k: k for k in range(nv)} if nq == nv else {}
    entries: dict[int, int] = {}
    for chart in charts:
        if chart.kind == "plain":
            v, q = chart.v, chart.q
            entries.update(zip(range(v.start, v.stop), range(q.start, q.stop), strict=True))
    return entries


def has_turning_axes(program: Program) -> bool:
    """Whether local rates differ from the velocities."""
    return any(chart.kind != "plain" for chart in program.facts.get("charts", ()))


def turns(plan: Plan) -> dict[int, int]:
    """Each of three velocities that are an ω -> the first of them."""
    axes: dict[int, int] = {}
    for chart in plan.program.facts.get("charts", ()):
        if chart.kind in ("quaternion", "matrix", "free", "free matrix"):
            places = range(*chart.v.indices(plan.size("nv")))
            axes |= dict.fromkeys(places[:3], places[0])
    return axes


def turning(plan: Plan) -> dict[int, int]:
    """Velocity of a translation in turning axes -> the first of the ω they turn with."""
    axes: dict[int, int] = {}
    for chart in plan.program.facts.get("charts", ()):
        if chart.kind in ("free", "free matrix"):
            places = range(*chart.v.indices(plan.size("nv")))
            axes |= dict.fromkeys(places[3:], places[0])
    return axes
