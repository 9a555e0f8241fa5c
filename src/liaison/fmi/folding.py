"""Loops of an FMU with what is known of its model folded in: sizes, places, choices, entries.

Of each record there is one in an instance, so that a field that no loop changes is a number in the
code; branches that are never taken go, and entries are called by name. What is left is half of the
loops' code, and a third faster.

Public names: is_foldable, folded_routines, needless_words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError
from liaison.program.functions.table import portable_routine
from liaison.program.loops.language import Loop, i64, loop, ptr
from liaison.program.loops.records import Record
from liaison.program.loops.tree import Kind, Routine, Step, Value
from liaison.program.wasm.fold import Folded, fold_loops
from liaison.program.wasm.fold import Memory as Known
from liaison.simulation.assembly import Work
from liaison.simulation.events.events import look_for_events
from liaison.simulation.live.places import changed_by, headers
from liaison.simulation.steps.layout import GOOD, SAMPLING, STOPPING, Entries, Run

from .layout import Instance
from .memory import MARK, Bound, Memory

AnyLoop = Loop[..., Any]


@loop
def pass_events(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Steps of co-simulation do not look for events of which none ends the motion."""
    run.phase = SAMPLING
    return GOOD


def is_foldable(memory: Memory) -> bool:
    """Whether a model is smooth: code for contacts is long, and shared by all that have some."""
    has_bound = any(isinstance(x, Bound) for x in memory.functions)
    return not has_bound and not Instance(memory.blocks[0]).sides_at


def folded_routines(
    memory: Memory, roots: Sequence[AnyLoop], symbol: Callable[[Any], str]
) -> list[Routine]:
    """The loops and all they call, for one model.

    Args:
        memory: of an instance.
        roots: loops that FMI functions call, whose arguments all vary.
        symbol: the name of an entry.
    """
    known = Known(
        fields=_fields(memory, roots),
        functions={MARK + k: x for k, x in enumerate(memory.functions)},
        reader=portable_routine,
        instead={} if _can_end(memory) else {look_for_events: pass_events},
    )
    free = {x: [None] * len(portable_routine(x).arguments) for x in roots}
    folded = fold_loops(free, (), known)
    names = _Names(known.functions, folded, symbol)
    return [names.routine(x) for x in folded.values()]


def needless_words(memory: Memory, roots: Sequence[AnyLoop]) -> list[int]:
    """Words of an instance that stand in the code: nothing reads them."""
    fields = _fields(memory, roots)
    return [
        start + place
        for start, record in _records(memory).items()
        for place, owner, name in _words(record)
        if (owner, name) in fields
    ]


def _records(memory: Memory) -> dict[int, Record]:
    """Where records begin in an instance, in words."""
    fmu = Instance(memory.blocks[0])
    kinds: dict[int, type[Record]] = {fmu.entries_at: Entries, fmu.run_at: Run}
    if fmu.assembly_at:
        kinds[fmu.assembly_at] = Work
    places = {int(k): x for k, x in kinds.items()}
    return {0: fmu} | {k: x(_block(memory, k)) for k, x in places.items()}


def _block(memory: Memory, start: int) -> NDArray[Any]:
    return memory.blocks[memory.starts.index(start)]


def _words(record: Record) -> Iterable[tuple[int, type[Record], str]]:
    """Words of a record's header: where, whose field and which."""
    for base, owner, field in headers(type(record), 0):
        if field.layout not in ("nested", "inline") and field.type != "f64":
            yield base + field.slot, owner, field.name


def _fields(memory: Memory, roots: Sequence[AnyLoop]) -> dict[tuple[type, str], int]:
    """Fields that are the same in every instance, at every time."""
    own = [x for x in memory.functions if isinstance(x, Loop)]
    changed = changed_by([*roots, *own])
    fields: dict[tuple[type, str], int] = {}
    several: set[tuple[type, str]] = set()
    for record in _records(memory).values():
        for place, owner, name in _words(record):
            key, word = (owner, name), int(record.ints[place])
            if key in fields and fields[key] != word:
                several.add(key)
            if key not in changed:
                fields[key] = word
    return {key: word for key, word in fields.items() if key not in several}


def _can_end(memory: Memory) -> bool:
    """Whether an event ends the motion."""
    run = next(x for x in _records(memory).values() if isinstance(x, Run))
    return bool(np.any(np.asarray(run.stops) == STOPPING))


class _Names:
    """Folded loops as routines: functions by name, calls without arguments that are known."""

    def __init__(
        self,
        functions: Mapping[int, Any],
        folded: Mapping[AnyLoop, Folded],
        symbol: Callable[[Any], str],
    ) -> None:
        self.functions, self.folded, self.symbol = functions, folded, symbol

    def routine(self, one: Folded) -> Routine:
        """A folded loop."""
        body = tuple(self.step(x) for x in one.body)
        return Routine(one.loop, one.arguments, one.result, body, one.locals, ())

    def step(self, step: Step) -> Step:
        return replace(
            step,
            values=tuple(self.value(x) for x in step.values),
            body=tuple(self.step(x) for x in step.body),
            orelse=tuple(self.step(x) for x in step.orelse),
        )

    def value(self, value: Value) -> Value:
        if value.kind == "const" and (isinstance(value.type, Kind) or value.type == "kernel"):
            return self.function(value)
        if value.kind == "hook" and value.args[0].kind == "const" and value.args[0].data:
            target = self.functions[value.args[0].data]
            return self.value(Value("call", value.type, value.args[1:], target))
        args = value.args
        if value.kind == "call":
            args = tuple(args[k] for k in self.folded[value.data].taken)
        return replace(value, args=tuple(self.value(x) for x in args))

    def function(self, value: Value) -> Value:
        """An entry by its name; one that is not there is never called."""
        if not value.data:
            return Value("address", value.type, (Value("const", "i64", data=0),))
        key = self.functions[value.data]
        if isinstance(key, Loop):
            raise ProgramError(f"loop {key.name!r} is passed on, and cannot be folded.")
        return Value("symbol", value.type, data=self.symbol(key))
