"""A run prepared in the memory of a module: its blocks, and what is known of them.

Public names: Preparation, changed_by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

from liaison.contacts.events.switching import march
from liaison.program.loops.language import Loop
from liaison.program.loops.read import reachable
from liaison.program.loops.records import Field, Record
from liaison.program.wasm.to_wasm import Builder
from liaison.simulation.events.events import first_signs, look_for_events
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan, fill_run
from liaison.simulation.prepared import add_entries, marching_of, run_arrays, scale_run
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import Arrays, Run
from liaison.simulation.steps.stepsize import is_torn, reject

from .places import LiveLoops, Places

INSTANTS = frozenset({"break_count", "breaks_passed", "point_count", "points_passed"})
SET = INSTANTS | {
    "samples", "records_steps", "records_end", "records_stop", "steps_allowed", "next_sample"
}  # fmt: skip
"""Integers of a run that its user sets; those of instants where there are some."""

LATER = ("terms", "correct_q", "correct_v")
"""Entries that machine code compiles when a run first needs them."""


@final
class Preparation:
    """A run prepared in the memory of a module.

    Args:
        plan: of the run, with kernels whose entries have numbers.
        builder: of the module.
        places: in it.

    Attributes:
        own: the plan.
        plan: as the time loop sees it, with contacts among closures and events.
        contacts: what a run with contacts has besides.
        march: the time loop.
    """

    def __init__(self, plan: Plan, builder: Builder, places: Places) -> None:
        self.own, self.builder, self.places = plan, builder, places
        self.contacts = marching_of(plan)
        self.plan = plan if self.contacts is None else self.contacts.plan
        self.march: Loop[..., Any] = advance
        beside: tuple[Any, ...] = ()
        arrays = run_arrays(self.plan)
        if self.contacts is not None:
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

    def fill(self) -> list[int]:
        """Everything in place for the first step; the arguments of the time loop."""
        run = self.arrays.run
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
        addresses = [self.places.address(_words(x)) for x in listed]
        changed = changed_by(self._loops())
        for record in (x for x in listed if isinstance(x, Record)):
            self.freeze(record, changed)
        self.builder.memory.idle = frozenset(_idle(run))
        return addresses

    def _loops(self) -> list[Loop[..., Any]]:
        functions = self.builder.memory.functions.values()
        return [self.march, *(x for x in functions if isinstance(x, Loop)),
                *(x.loop for x in self.places.bound)]  # fmt: skip

    def freeze(self, record: Record, changed: set[tuple[type, str]]) -> None:
        """Words of a record that no loop and no user changes are known."""
        words, address = self.builder.memory.words, self.places.address(record.ints)
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


def _words(block: Any) -> Any:
    return block.ints if isinstance(block, Record) else block


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


def changed_by(loops: Sequence[Loop[..., Any]]) -> set[tuple[type, str]]:
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
