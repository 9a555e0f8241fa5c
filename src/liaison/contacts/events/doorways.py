"""Doorways: entries that hand on where the tables of a run lie, kept for the next run.

Making such code takes longer than many a run; what it hands on lies in a cell, so that another run
can use it again.

Public names: Doorway, doorway.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.program.llvm.machine import load

ARGUMENTS = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out, ptr %work"

_FREE: list[Doorway] = []


@final
class Doorway:
    """Functions with the signature of entries.

    Args:
        loops: name -> address of what is called, with two places before the arguments.
    """

    def __init__(self, loops: Mapping[str, int]) -> None:
        self.loops = dict(loops)
        self.cell: NDArray[np.int64] = np.zeros(2, dtype=np.int64)
        self._code = load(_text(loops, self.cell.ctypes.data), loops, keep=False)

    def __getitem__(self, name: str) -> int:
        return int(self._code[name])


def doorway(loops: Mapping[str, int], owner: object, first: Any, second: Any) -> Doorway:
    """Entries that hand on where two arrays lie, for as long as their owner lives."""
    found = next((x for x in _FREE if x.loops == loops), None)
    try:
        _FREE.remove(found)  # type: ignore[arg-type]
    except ValueError:
        # none, or another thread was quicker
        found = None
    found = found or Doorway(loops)
    found.cell[:] = first.ctypes.data, second.ctypes.data
    weakref.finalize(owner, _FREE.append, found)
    return found


def _text(loops: Mapping[str, int], cell: int) -> str:
    return "\n".join(
        f"define void @{name}({ARGUMENTS}) {{\n"
        f"  %first = load ptr, ptr inttoptr (i64 {cell} to ptr)\n"
        f"  %second = load ptr, ptr inttoptr (i64 {cell + 8} to ptr)\n"
        f"  call void inttoptr (i64 {address} to ptr)(ptr %first, ptr %second, {ARGUMENTS})\n"
        f"  ret void\n}}"
        for name, address in loops.items()
    )
