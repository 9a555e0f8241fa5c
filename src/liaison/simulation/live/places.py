"""A run prepared in a module: numbers of functions where machine code has addresses, and blocks.

A run is prepared as for machine code, with a kernel whose entries have numbers. Its blocks are then
stored as the first content of a module's memory, and what never changes in them is known.

Public names: Places, LiveKernel, LiveLoops, Preparation, changed_by, headers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.events.switching import march
from liaison.errors import ProgramError
from liaison.numeric import Array
from liaison.program import Kernel, Program
from liaison.program.kernel import Function
from liaison.program.loops.language import Loop
from liaison.program.loops.read import reachable
from liaison.program.loops.records import Field, Record
from liaison.program.wasm.fold import Bound
from liaison.program.wasm.to_wasm import Builder
from liaison.simulation.events.events import first_signs, look_for_events
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan, fill_run
from liaison.simulation.prepared import add_entries, marching_of, run_arrays, scale_run
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import Arrays, Run
from liaison.simulation.steps.stepsize import is_torn, reject

LOOPS = 1 << 20
"""Numbers from here on are those of loops, which are called directly."""

INSTANTS = frozenset({"break_count", "breaks_passed", "point_count", "points_passed"})
SET = INSTANTS | {
    "samples", "records_steps", "records_end", "records_stop", "steps_allowed", "next_sample",
    "has_terms",
}  # fmt: skip
"""Integers of a run that its user sets; those of instants where there are some."""

LATER = ("terms", "correct_q", "correct_v")
"""Entries that machine code compiles when a run first needs them."""


CLOSE = 16
"""Zeros between two stretches of memory that are stored with them, in bytes."""


@final
class Places:
    """Numbers of functions and addresses of blocks in a module under construction.

    Args:
        builder: of the module.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.bound: list[Bound] = []
        self._numbers: dict[Hashable, int] = {}
        self._blocks: dict[int, tuple[int, Any]] = {}
        self._kept: list[Any] = []

    def entry(self, program: Program, name: str) -> int:
        """The number of an entry."""
        return self._number(self.builder.entry(program, name))

    def loop(self, loop: Loop[..., Any]) -> int:
        """The number of a loop."""
        if loop not in self._numbers:
            self._numbers[loop] = number = LOOPS + len(self._numbers)
            self.builder.memory.functions[number] = loop
        return self._numbers[loop]

    def bound_loop(self, loop: Loop[..., Any], record: Record) -> int:
        """The number of an entry that is a loop with a record before its arguments."""
        one = Bound(loop, self.address(record.ints))
        if one not in self.bound:
            self.bound.append(one)
        return self._number(one)

    def _number(self, key: Hashable) -> int:
        table = self.builder.assembly.table
        if key not in self._numbers:
            table.append(key)
            self._numbers[key] = len(table)
            self.builder.memory.functions[len(table)] = key
        return self._numbers[key]

    def address(self, block: NDArray[Any]) -> int:
        """The address of a block of words, which stays where it is."""
        key = block.ctypes.data
        if key not in self._blocks:
            self._blocks[key] = self.builder.place(block.size), block
        return self._blocks[key][0]

    def keep(self, program: Program) -> None:
        """Keeps a program alive, by whose identity its entries are known."""
        self._kept.append(program)

    def store(self, unread: set[int]) -> None:
        """The content of all blocks, but for words not read, becomes the first of memory."""
        for address, block in self._blocks.values():
            words = np.ascontiguousarray(block).view(np.int64).copy()
            words[[x for x in range(words.size) if address + 8 * x in unread]] = 0
            content = words.tobytes()
            for start, end in _stretches(content):
                self.builder.assembly.data[address + start] = content[start:end]


def _stretches(content: bytes) -> list[tuple[int, int]]:
    """Where content is not zero, ends included in steps of a word; near ones are joined."""
    words = np.frombuffer(content, dtype=np.int64)
    filled = np.flatnonzero(words)
    if not filled.size:
        return []
    cuts = np.flatnonzero(np.diff(filled) > 1 + CLOSE // 8)
    starts, ends = filled[[0, *(cuts + 1)]], filled[[*cuts, -1]] + 1
    return [(8 * int(a), 8 * int(b)) for a, b in zip(starts, ends, strict=True)]


@final
class LiveKernel(Kernel):
    """Entries of a kernel by their numbers in a module.

    Args:
        base: the kernel, which computes here.
        places: of the module.
    """

    def __init__(self, base: Kernel, places: Places) -> None:
        super().__init__(base.program)
        self.base, self.places = base, places
        self.prepared = base.prepared  # units of starts are found once

    def address(self, entry: str) -> int:
        """The number of the entry."""
        return self.places.entry(self.program, entry)

    def bound_loop(self, loop: Loop[..., Any], record: Any) -> int:
        """The number of a loop with a record."""
        return self.places.bound_loop(loop, record)

    def work_size(self, entry: str) -> int:
        """How many doubles of workspace the entry wants there."""
        return self.places.builder.work_size(self.program, entry)

    def function(self, entry: str) -> Function:
        """The entry as it computes here."""
        return self.base.function(entry)

    def _evaluate(self, entry: str, t: Array, arrays: Mapping[str, Array]) -> Array:
        return self.base._evaluate(entry, t, arrays)


@final
class LiveLoops:
    """Loops by their numbers in a module, in the place of `CompiledLoops`."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def address(self, loop: Loop[..., Any]) -> int:
        """The number of the loop."""
        return self._places.loop(loop)

    def function(self, loop: Loop[..., Any]) -> Callable[..., Any]:
        """Nothing runs here."""

        def refuse(*_: Any) -> Any:
            raise ProgramError(f"loop {loop.name!r} runs in its module only.")

        return refuse


@final
class Preparation:
    """A run prepared in the memory of a module.

    Args:
        plan: of the run, with kernels whose entries have numbers.
        builder: of the module.
        places: in it.
        more: loops besides the time loop that work on its records.

    Attributes:
        own: the plan.
        plan: as the time loop sees it, with contacts among closures and events.
        contacts: what a run with contacts has besides.
        march: the time loop.
    """

    def __init__(
        self, plan: Plan, builder: Builder, places: Places, more: Sequence[Loop[..., Any]] = ()
    ) -> None:
        self.own, self.builder, self.places, self.more = plan, builder, places, more
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
        return [self.march, *self.more, *(x for x in functions if isinstance(x, Loop)),
                *(x.loop for x in self.places.bound)]  # fmt: skip

    def freeze(self, record: Record, changed: set[tuple[type, str]]) -> None:
        """Words of a record that no loop and no user changes are known."""
        words, address = self.builder.memory.words, self.places.address(record.ints)
        user = SET if self.arrays.run.breaks else SET - INSTANTS
        for base, owner, field in headers(type(record), 0):
            is_choice = (
                field.layout in ("scalar", "hook")
                and field.type != "f64"
                and (owner, field.name) not in changed
                and not (owner is Run and field.name in user)
            )
            if field.is_fixed or is_choice:
                slot = base + field.slot
                words[address + 8 * slot] = int(record.ints[slot])
                self.builder.memory.owners[address + 8 * slot] = owner


def _words(block: Any) -> Any:
    return block.ints if isinstance(block, Record) else block


def _idle(run: Run) -> Iterable[Loop[..., Any]]:
    """Loops that no run of these sizes calls."""
    if not run.ne:
        yield from (look_for_events, first_signs)
    if not run.is_adaptive:
        yield from (reject, is_torn)


def headers(record: type[Record], base: int) -> Iterable[tuple[int, type[Record], Field]]:
    """Fields of a record and of those nested in it, each with the word where its record begins."""
    for field in record.fields.values():
        yield base, record, field
        if field.layout == "nested":
            yield from headers(field.record, base + field.slot)


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
