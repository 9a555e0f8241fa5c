"""Loops of an FMU with what is known of its model folded in: sizes, places, choices, entries.

Of each record there is one in an instance, so that a field that no loop changes is a number in the
code; branches that are never taken go, and entries are called by name. What is left is half of the
loops' code, and a third faster.

Public names: is_foldable, folded_routines, reached, unread_words, roots_of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError
from liaison.program.functions.elementary import FUNCTIONS, portable_routine
from liaison.program.loops.language import Loop, i64, loop, ptr
from liaison.program.loops.records import Record
from liaison.program.loops.tree import Kind, Routine, Step, Value
from liaison.program.wasm.fold import Folded, fold_loops, set_in, values_in
from liaison.program.wasm.fold import Memory as Known
from liaison.simulation.assembly import Work
from liaison.simulation.events.events import look_for_events
from liaison.simulation.live.places import changed_by, headers
from liaison.simulation.steps.layout import (
    COMMIT,
    FINISHED,
    GOOD,
    SAMPLING,
    STOPPING,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.recording import arrive, keep, sample

from .calls import is_allowed, is_missing
from .functions import exports
from .layout import Instance
from .memory import MARK, Bound, Memory

KEPT = ("identity", "variable_texts", "function_texts")
"""What differs between two exports of one model, whose code is the same."""

AnyLoop = Loop[..., Any]


@loop
def pass_events(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Steps of co-simulation do not look for events of which none ends the motion."""
    run.phase = SAMPLING
    return GOOD


@loop
def pass_samples(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Importers record, steps do not."""
    run.phase = COMMIT
    return GOOD


@loop
def only_arrive(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """As `arrive`, where nothing is recorded and no controller waits."""
    keep(run)
    run.phase = FINISHED if run.t >= run.t_end or run.is_stopping > 0 else TRY
    return GOOD


def roots_of(memory: Memory) -> list[AnyLoop]:
    """Loops that entries and the functions of a version of FMI call."""
    own = [x.loop for x in exports(memory.version).values() if x.loop]
    return list(dict.fromkeys([*FUNCTIONS.values(), is_allowed, is_missing, *own]))


def is_foldable(memory: Memory) -> bool:
    """Whether a model is smooth: code for contacts is long, and shared by all that have some."""
    has_bound = any(isinstance(x, Bound) for x in memory.functions)
    return not has_bound and not Instance(memory.blocks[0]).sides_at


def folded_routines(memory: Memory, symbol: Callable[[Any], str]) -> list[Routine]:
    """The loops that FMI functions call, and all that they call, for one model, callees first.

    Args:
        memory: of an instance.
        symbol: the name of an entry.
    """
    known, folded = _model(memory)
    names = _Names(known.functions, folded, symbol)
    return _callees_first([names.routine(x) for x in folded.values()])


@lru_cache(maxsize=1)
def _model(memory: Memory) -> tuple[Known, dict[AnyLoop, Folded]]:
    """What is known of a model, and its loops; the same for binaries and sources."""
    instead: dict[AnyLoop, AnyLoop] = {sample: pass_samples, arrive: only_arrive}
    if not _can_end(memory):
        instead[look_for_events] = pass_events
    known = Known(
        fields=_fields(memory),
        functions={MARK + k: x for k, x in enumerate(memory.functions)},
        reader=portable_routine,
        instead=instead,
    )
    free = {x: [None] * len(portable_routine(x).arguments) for x in roots_of(memory)}
    return known, fold_loops(free, (), known)


def reached(
    routines: Sequence[Routine], roots: Iterable[AnyLoop], beyond: Sequence[AnyLoop] = ()
) -> list[Routine]:
    """Those of routines that roots need; what others need that lie beyond is left out."""
    known = {x.loop: x for x in routines}
    todo = [*roots]
    seen = {*todo}
    while todo:
        for value in values_in(known[todo.pop()].body):
            if value.kind == "call" and value.data not in seen and value.data not in beyond:
                seen.add(value.data)
                todo.append(value.data)
    return [x for x in routines if x.loop in seen]


def _callees_first(routines: Sequence[Routine]) -> list[Routine]:
    """Routines in an order in which each comes after those that it calls."""
    known = {x.loop: x for x in routines}
    callees = {
        x: [y.data for y in values_in(one.body) if y.kind == "call"] for x, one in known.items()
    }
    order: dict[AnyLoop, None] = {}
    stack = [*reversed(known)]
    while stack:
        waiting = [x for x in callees[stack[-1]] if x not in order]
        stack += waiting
        if not waiting:
            order[stack.pop()] = None
    return [known[x] for x in order]


def _needed(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Statements without assignments to names that nothing reads."""
    while True:
        read = {x.data for x in values_in(steps) if x.kind == "local"}
        kept = _without(steps, read)
        if kept == steps:
            return steps
        steps = kept


def _without(steps: tuple[Step, ...], read: set[str]) -> tuple[Step, ...]:
    return tuple(
        replace(step, body=_without(step.body, read), orelse=_without(step.orelse, read))
        if step.body or step.orelse
        else step
        for step in steps
        if step.kind != "assign" or step.name in read or _acts(step)
    )


def _acts(step: Step) -> bool:
    """Whether computing its values changes anything else."""
    return any(x.kind in ("call", "hook", "kernel", "external") for x in values_in([step]))


def unread_words(memory: Memory) -> list[int]:
    """Words of an instance that nothing reads: they stand in the code, or are never needed."""
    if not is_foldable(memory):
        return []
    known, _ = _model(memory)
    unread: list[int] = []
    for start, record in _records(memory).items():
        for place, owner, name in _words(record):
            if (owner, name) in known.fields:
                unread.append(start + place)
        for name, field in type(record).fields.items():
            if field.layout == "sized" and (type(record), name) not in known.used:
                span = record.span(name)
                unread += range(start + span.start, start + span.stop)
    return unread


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


def _fields(memory: Memory) -> dict[tuple[type, str], int]:
    """Fields that are the same in every instance, at every time."""
    own = [x for x in memory.functions if isinstance(x, Loop)]
    changed = changed_by([*roots_of(memory), *own])
    fields: dict[tuple[type, str], int] = {}
    several: set[tuple[type, str]] = set()
    for record in _records(memory).values():
        for place, owner, name in _words(record):
            key, word = (owner, name), int(record.ints[place])
            if key in fields and fields[key] != word:
                several.add(key)
            if key not in changed and name not in KEPT:
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
        body = _needed(tuple(self.step(x) for x in one.body))
        names = {x.data for x in values_in(body) if x.kind == "local"} | set_in(body)
        known = {name: kind for name, kind in one.locals.items() if name in names}
        return Routine(one.loop, one.arguments, one.result, body, known, ())

    def step(self, step: Step) -> Step:
        values = tuple(self.value(x) for x in step.values)
        body, orelse = (tuple(self.step(x) for x in part) for part in (step.body, step.orelse))
        return Step(step.kind, step.name, values, body, orelse)

    def value(self, value: Value) -> Value:
        if value.kind == "const" and (isinstance(value.type, Kind) or value.type == "kernel"):
            return self.function(value)
        if value.kind == "hook" and value.args[0].kind == "const" and value.args[0].data:
            target = self.functions[value.args[0].data]
            return self.value(Value("call", value.type, value.args[1:], target))
        args = value.args
        if value.kind == "call":
            args = tuple(args[k] for k in self.folded[value.data].taken)
        if not args:
            return value if not value.args else Value(value.kind, value.type, (), value.data)
        return Value(value.kind, value.type, tuple(self.value(x) for x in args), value.data)

    def function(self, value: Value) -> Value:
        """An entry by its name; one that is not there is never called."""
        if not value.data:
            return Value("address", value.type, (Value("const", "i64", data=0),))
        key = self.functions[value.data]
        if isinstance(key, Loop):
            raise ProgramError(f"loop {key.name!r} is passed on, and cannot be folded.")
        return Value("symbol", value.type, data=self.symbol(key))
