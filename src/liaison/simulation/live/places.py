"""Places in a module: numbers of functions where machine code has addresses, and of records.

A run is prepared as for machine code, with a kernel whose entries have numbers. Its blocks are then
stored as the first content of a module's memory.

Public names: Places, LiveKernel, LiveLoops.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError
from liaison.numeric import Array
from liaison.program import Kernel, Program
from liaison.program.kernel import Function
from liaison.program.loops.language import Loop
from liaison.program.loops.records import Record
from liaison.program.wasm.fold import Bound
from liaison.program.wasm.to_wasm import Builder

LOOPS = 1 << 20
"""Numbers from here on are those of loops, which are called directly."""

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

    def store(self) -> None:
        """The content of all blocks becomes the first content of memory."""
        for address, block in self._blocks.values():
            content = np.ascontiguousarray(block).tobytes()
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
