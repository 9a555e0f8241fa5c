"""live_module: a mechanism with its time loop as one WebAssembly module.

The module holds everything that a run needs: entries, the loops of its steps, and its blocks as
the first content of memory. The section `liaison` says in JSON where things lie, what they are
called, and how a run can end.

Public names: live_module, refusal, SERIES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from liaison.errors import SimulationError
from liaison.numeric import State
from liaison.program import Kernel
from liaison.program.loops.language import Loop
from liaison.program.loops.read import reachable
from liaison.program.loops.records import Field, Record
from liaison.program.wasm.loops import loop_key
from liaison.program.wasm.to_wasm import Builder
from liaison.simulation.assembly import assemble_each
from liaison.simulation.events.events import first_signs, look_for_events
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan, fill_run, plan_of
from liaison.simulation.plan.settings import Settings, settings_of
from liaison.simulation.prepared import add_entries, marching_of, run_arrays, scale_run
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import Arrays, Run
from liaison.simulation.steps.stepsize import is_torn, reject

from .notes import notes_of
from .places import LiveKernel, LiveLoops, Places
from .starts import LiveStarts, assembly_places

INSTANTS = frozenset({"break_count", "breaks_passed", "point_count", "points_passed"})
SET = INSTANTS | {
    "samples", "records_steps", "records_end", "records_stop", "steps_allowed", "next_sample"
}  # fmt: skip
"""Integers of a run that its user sets; those of instants where there are some."""

SERIES = ("poses", "energy", "closure", "outputs")
"""Series that a module has unless others are asked for."""

LATER = ("terms", "correct_q", "correct_v")
"""Entries that machine code compiles when a run first needs them."""


def live_module(
    kernel: Kernel,
    state: State,
    until: float,
    settings: Settings | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    stop: Any = None,
    series: Sequence[str] = SERIES,
    starts: LiveStarts | None = None,
) -> bytes:
    """The module of runs of a kernel with one choice of options.

    Args:
        kernel: of a program with formulas.
        state: where runs begin unless they are given another start.
        until: when they end, likewise [s].
        settings: method, tolerances, recording.
        inputs: numbers, formulas and tables; see `simulate`.
        parameters: values in the place of the defaults.
        stop: see `simulate`.
        series: entries that are evaluated at recorded states.
        starts: of the mechanism, where runs may be assembled anew.

    Raises:
        SimulationError: runs that need Python between their steps.
    """
    plan = plan_of(
        kernel, state, until, settings or settings_of(), inputs=inputs, parameters=parameters,
        stop=stop,
    )  # fmt: skip
    why = refusal(plan)
    if why:
        raise SimulationError(f"{plan.program.name!r} cannot run in a module: {why}.",
                              status="not live")  # fmt: skip
    builder = Builder()
    places = Places(builder)
    added = None if plan.added is None else LiveKernel(plan.added, places)
    plan = replace(plan, kernel=LiveKernel(kernel, places), added=added)
    return _Preparation(plan, builder, places).module(series, starts)


def refusal(plan: Plan) -> str:
    """Why runs of a plan need Python between their steps; empty if they do not."""
    program = plan.program
    if plan.is_scene:
        return "a scene makes room for more contacts while it moves"
    if plan.inputs.controllers:
        return f"the input {plan.inputs.controllers[0].name!r} is a function of Python"
    if "sparse" in str(program.facts.get("formalism", "")):
        return "its entries are loops over bodies, without formulas"
    return ""


class _Preparation:
    """A run prepared in the memory of a module."""

    def __init__(self, plan: Plan, builder: Builder, places: Places) -> None:
        self.own, self.builder, self.places = plan, builder, places
        self.contacts = marching_of(plan)
        self.plan = plan if self.contacts is None else self.contacts.plan
        self.march: Loop[..., Any] = advance
        beside: tuple[Any, ...] = ()
        arrays = run_arrays(self.plan)
        if self.contacts is not None:
            from liaison.contacts.events.switching import march

            self.march, beside = march, (self.contacts.sides,)
            self.contacts.mark(arrays.run)
        self.beside = beside
        loops: Any = LiveLoops(places)
        self.machine = Machine(arrays, march=self.march, code=loops, beside=beside)
        add_entries(self.machine, self.plan)
        known = self.plan.program.entries
        if self.own.size("nc") or self.contacts is not None:
            self.machine.add(self.plan.kernel, *(x for x in LATER if x in known))

    @property
    def arrays(self) -> Arrays:
        """Where the run lives."""
        return self.machine.arrays

    def module(self, series: Sequence[str], starts: LiveStarts | None) -> bytes:
        """The bytes of the module."""
        run, places = self.arrays.run, self.places
        fill_run(self.arrays, self.own)
        if self.contacts is not None:
            self.contacts.begin(self.own)
        scale_run(run, self.own, self.contacts)
        run.has_terms = int("terms" in self.plan.program.entries)
        run.has_correct[:] = int("correct_q" in self.plan.program.entries)
        listed = (
            *self.beside, self.machine.entries, run, self.arrays.scratch, self.arrays.records,
            self.arrays.event_log,
        )  # fmt: skip
        addresses = [places.address(x.ints if isinstance(x, Record) else x) for x in listed]
        loops = self._loops()
        changed = _changed(loops)
        for record in (x for x in listed if isinstance(x, Record)):
            self._freeze(record, places.address(record.ints), changed)
        self.builder.memory.idle = frozenset(_idle(run))
        notes = notes_of(self, series)
        roots: dict[Loop[..., Any], Sequence[int | None]] = {self.march: [*addresses, None]}
        self.builder.assembly.exports["march"] = loop_key(self.march)
        if starts is not None:
            prepared = assembly_places(starts, places, self.own.state.t)
            changed = _changed([assemble_each])
            self._freeze(prepared.work, places.address(prepared.work.ints), changed)
            notes["assembly"] = prepared.notes
            roots[assemble_each] = prepared.arguments
            self.builder.assembly.exports["assemble"] = loop_key(assemble_each)
        places.store()
        self.builder.loops(roots, places.bound)
        return self.builder.module(notes)

    def _loops(self) -> list[Loop[..., Any]]:
        functions = self.builder.memory.functions.values()
        return [self.march, *(x for x in functions if isinstance(x, Loop)),
                *(x.loop for x in self.places.bound)]  # fmt: skip

    def _freeze(self, record: Record, address: int, changed: set[tuple[type, str]]) -> None:
        """Words that no loop and no user changes are known."""
        words = self.builder.memory.words
        user = SET if self.arrays.run.breaks else SET - INSTANTS
        for base, owner, field in _headers(type(record), 0):
            is_choice = (
                field.layout in ("scalar", "hook")
                and field.type != "f64"
                and (owner, field.name) not in changed
                and not (owner is Run and field.name in user)
            )
            if field.is_fixed or is_choice:
                slot = base + field.slot
                words[address + 8 * slot] = int(record.ints[slot])


def _idle(run: Run) -> Iterable[Loop[..., Any]]:
    """Loops that no run of these sizes calls."""
    if not run.ne:
        yield from (look_for_events, first_signs)
    if not run.is_adaptive:
        yield from (reject, is_torn)


def _headers(record: type[Record], base: int) -> Iterable[tuple[int, type[Record], Field]]:
    """Fields of a record and of those nested in it, each with the word where its record begins."""
    for field in record.fields.values():
        yield base, record, field
        if field.layout == "nested":
            yield from _headers(field.record, base + field.slot)


def _changed(loops: Sequence[Loop[..., Any]]) -> set[tuple[type, str]]:
    """Fields that loops, and those that they call, assign to."""
    changed: set[tuple[type, str]] = set()
    todo = [step for read in reachable(loops) for step in read.body]
    while todo:
        step = todo.pop()
        todo += [*step.body, *step.orelse]
        if step.kind == "put":
            place = step.values[0]
            changed.add((place.args[0].type.record, place.data.name))  # type: ignore[attr-defined]
    return changed
