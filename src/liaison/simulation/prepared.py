"""Prepared: what every run of one kernel with one choice of options shares, made once and kept.

A run that follows another with the same options finds its arrays laid out, its events and formulas
compiled and all addresses known; only what differs from run to run is checked and written. What a
run works on lies in its `Workplace`, which serves one run at a time: runs at the same moment, in
threads or within each other, have places of their own.

Public names: Prepared, Workplace, planned, add_entries, machine_of, marching_of, run_arrays,
scale_run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from threading import Lock
from typing import TYPE_CHECKING, Any, final

from liaison.numeric import Array, State
from liaison.program import Kernel, Program
from liaison.program.instants import NOTHING, Instants
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.inputs import Inputs, inputs_of
from liaison.simulation.plan.plan import (
    Plan,
    check_state,
    end_of,
    entries_of,
    fill_run,
    has_instants,
    lasting_arrays,
    parameters_of,
    plan_of,
)
from liaison.simulation.plan.settings import Settings
from liaison.simulation.plan.timing import instants_of
from liaison.simulation.steps.layout import Arrays, Run

from .machine import Machine

if TYPE_CHECKING:
    from liaison.contacts.events.one_sided import Marching

CHOICES = 16
"""Choices of options a kernel remembers."""

WORKPLACES, SIZE = 8, 500_000
"""Workplaces kept for later runs with the same options, and the most numbers that one may hold."""

_LOCK = Lock()


def add_entries(machine: Machine, plan: Plan) -> None:
    """Gives a machine what every run of a plan calls."""
    added = plan.added
    extra = [] if added is None else list(added.program.entries)
    names = list(entries_of(plan.settings.tableau, plan.program))
    names += ["events"] * bool(plan.events and "events" not in extra)
    names += [plan.watch[0]] * bool(plan.watch[0])
    machine.add(plan.kernel, *names)
    if added is not None:
        machine.add(added, *extra)
    if plan.is_scene:
        from liaison.contacts.scene.kernel import Helpers, pair_kernel
        from liaison.contacts.scene.layout import PairEntries

        machine.add_others(pair_kernel(), PairEntries.fields)
        if plan.program.facts["threads"] > 1:
            machine.helped = Helpers(plan.program.facts["threads"])
    if sides_in(plan.program):
        from liaison.contacts.events.one_sided import ModalKernel

        if isinstance(plan.kernel, ModalKernel):
            machine.add(plan.kernel, *plan.kernel.at_hand)  # which call the events that were added


@final
class Workplace:
    """Where runs of one kernel with one choice of options take place, one after the other.

    Args:
        plan: of one such run.
        is_compiled: False runs the time loop as plain Python.

    Attributes:
        contacts: what a run with contacts has besides; None where nothing is unilateral.
        machine: goes on with a run.
    """

    def __init__(self, plan: Plan, is_compiled: bool) -> None:
        self.contacts = marching_of(plan)
        seen = plan if self.contacts is None else self.contacts.plan
        arrays = run_arrays(seen)
        portable = plan.kernel.portable
        self.machine = machine_of(arrays, self.contacts, is_compiled=is_compiled, portable=portable)
        if "terms" not in plan.program.entries:
            self.machine.arrays.run.pivots_left = 0
        add_entries(self.machine, seen)
        kept: list[Any] = [self.machine.arrays.run.ints]
        kept += [] if self.contacts is None else [self.contacts.sides.ints]
        self._buffers = self.machine.arrays.run, self.machine.arrays.records
        self._is_small = arrays.records.size + sum(x.size for x in kept) < SIZE
        self._blank = [(x, x.copy()) for x in kept] if self._is_small else []

    def begin(self, plan: Plan) -> None:
        """Everything in place for the first step of a run; nothing is left of the run before."""
        for array, blank in self._blank:
            array[:] = blank
        arrays = self.machine.arrays
        if not plan.is_scene:  # whose scratch is large, and begins anew at every step
            arrays.scratch.fill(0.0)
        fill_run(arrays, plan)
        if self.contacts is not None:
            self.contacts.begin(plan)
        scale_run(arrays.run, plan, self.contacts)

    @property
    def is_small(self) -> bool:
        """It is small, and has not grown."""
        arrays, (run, records) = self.machine.arrays, self._buffers
        return self._is_small and arrays.run is run and arrays.records is records


def scale_run(run: Run, plan: Plan, contacts: Marching | None) -> None:
    """The units in which a run with contacts measures its tolerances; 1 of any other."""
    if contacts is not None:
        contacts.scale(run)
    elif sides_in(plan.program) and not plan.is_scene:
        from liaison.simulation.plan.scales import fill_run_scales, units_of

        units = units_of(plan)
        fill_run_scales(run, units, units.closure)


def run_arrays(plan: Plan) -> Arrays:
    """Arrays with what every run of a plan has in them; those of a scene hold its world."""
    if not plan.is_scene:
        return lasting_arrays(plan)
    from liaison.contacts.scene.world import scene_arrays

    return scene_arrays(plan)


def marching_of(plan: Plan) -> Marching | None:
    """What a run with contacts has besides; None where nothing is unilateral, and of scenes."""
    if plan.is_scene:
        return None
    if not (sides_in(plan.program) or plan.settings.tableau.scheme == "moreau"):
        return None
    from liaison.contacts.events.one_sided import marching

    return marching(plan, plan.settings.impacts)


def machine_of(
    arrays: Arrays,
    contacts: Marching | None,
    *,
    is_compiled: bool = True,
    portable: bool = False,
) -> Machine:
    """What goes on with a run, through all modes where there are contacts."""
    if contacts is None:
        return Machine(arrays, is_compiled=is_compiled, portable=portable)
    from liaison.contacts.events.one_sided import compiled_march
    from liaison.contacts.events.switching import march

    contacts.mark(arrays.run)
    code = compiled_march(portable=portable) if is_compiled else None
    beside = (contacts.sides,)
    return Machine(arrays, is_compiled=is_compiled, march=march, code=code, beside=beside)


@final
class Prepared:
    """What every run of one kernel with one choice of options shares.

    Args:
        plan: of one such run.
        is_compiled: False runs the time loop as plain Python.

    Attributes:
        pace: steps the compiled loop does in a slice, as runs have found out.
    """

    def __init__(self, plan: Plan, is_compiled: bool) -> None:
        self._kernel, self._events, self._added = plan.kernel, plan.events, plan.added
        self._knots, self._timed, self._watch = plan.knots, plan.timed, plan.watch
        self._has_instants = has_instants(plan)
        reads = _reads(plan.state.t, plan.until, plan.parameters, plan.inputs.held)
        self._instants = reads, plan.instants
        self._is_compiled = is_compiled
        self._defaults: dict[str, Any] = {}
        self._names: tuple[Any, Any] = ((), ())
        self._free: list[Workplace] = []
        self.pace = 16

    def plan(
        self,
        state: State,
        until: float,
        settings: Settings,
        inputs: Inputs | None,
        parameters: Mapping[str, float] | None,
    ) -> Plan:
        """As `plan_of`, where only these differ; None: the inputs have their defaults."""
        names = state.labels.get("q"), state.labels.get("v")
        kernel, program = self._kernel, self._kernel.program
        check_state(program, state, is_named=all(map(is_, names, self._names)))
        self._names = names
        end = end_of(state, until, settings.step)
        if inputs is None:
            inputs = self._by_default("u", inputs_of)
        if parameters:
            values = parameters_of(program, parameters)
        else:
            values = self._by_default("p", parameters_of)
        shared = self._events, self._added, self._knots, self._timed
        instants = self._instants_of(state.t, end, values, inputs.held)
        return Plan(kernel, state, end, settings, inputs, values, *shared, instants, self._watch)

    def _instants_of(self, start: float, end: float, p: Array, u: Array) -> Instants:
        """Made anew only where the run differs from the last one in what they follow from."""
        if not self._has_instants:
            return NOTHING
        reads, known = _reads(start, end, p, u), self._instants
        if known[0] != reads:
            program = self._kernel.program
            known = reads, instants_of(self._timed, program, start, end, p, u)
            self._instants = known
        return known[1]

    def _by_default(self, array: str, make: Callable[[Program, None], Any]) -> Any:
        """What follows from default values, made once: a program's are read-only."""
        if array not in self._defaults:
            self._defaults[array] = make(self._kernel.program, None)
        return self._defaults[array]

    def workplace(self, plan: Plan) -> Workplace:
        """Where a run of that plan begins; `take_back` ends its use."""
        try:
            place = self._free.pop()
        except IndexError:
            with _LOCK:  # others may be compiling
                place = Workplace(plan, self._is_compiled)
        place.begin(plan)
        return place

    def take_back(self, place: Workplace) -> None:
        """The place serves other runs: nobody may look at its arrays any more."""
        if len(self._free) < WORKPLACES and place.is_small:
            self._free.append(place)


def planned(
    kernel: Kernel,
    state: State,
    until: float,
    settings: Settings,
    *,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    stop: Any = None,
    is_compiled: bool = True,
) -> tuple[Plan, Prepared]:
    """As `plan_of`, and what the run shares with others."""
    all_inputs = inputs_of(kernel.program, inputs) if inputs else None
    table, key = kernel.prepared, (*_key(settings, all_inputs, stop), is_compiled)
    try:
        known = table.get(key)
    except TypeError:  # something in it cannot be looked up
        known, table = None, {}
    if known is not None:
        return known.plan(state, until, settings, all_inputs, parameters), known
    if settings.impacts != "energetic":
        from liaison.contacts.events.one_sided import impact_law

        impact_law(settings.impacts)
    with _LOCK:
        plan = plan_of(
            kernel, state, until, settings, inputs=inputs, parameters=parameters, stop=stop
        )
        known = Prepared(plan, is_compiled)
        if len(table) >= CHOICES:
            del table[next(iter(table))]
        if table is kernel.prepared:
            table[key] = known
    return plan, known


def _key(settings: Settings, inputs: Inputs | None, stop: Any) -> tuple[Any, ...]:
    """What runs that share their preparation agree in."""
    formulas = () if inputs is None else inputs.formulas
    controllers = () if inputs is None else tuple(x.slot for x in inputs.controllers)
    listed = None if stop is None else _listed(stop)
    return settings.lasting, settings.grid, formulas, controllers, listed


def _reads(start: float, end: float, p: Array, u: Array) -> tuple[Any, ...]:
    """What the instants of a run follow from."""
    return start, end, p.tobytes(), u.tobytes()


def _listed(stop: Any) -> Any:
    """Stop conditions as a key: names, formulas and values, in tuples."""
    if isinstance(stop, Mapping):
        return Mapping, *((name, _listed(x)) for name, x in stop.items())
    if isinstance(stop, list | tuple):
        return tuple(map(_listed, stop))
    return stop
