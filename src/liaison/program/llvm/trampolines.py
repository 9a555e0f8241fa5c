"""Trampolines: kernel entries that pass on to a function where the tables lie that it works on.

The code of a trampoline holds no address. What it calls and what it passes on lie in a cell, which
is a variable of its module: so its object code is the same in every process, is cached, and can be
made for any target. Each trampoline in use is a copy with a cell of its own; one whose owner is
gone is used again.

Public names: Trampoline, trampoline, trampoline_ir, CELL.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from typing import final

from .machine import load

CELL = "liaison_cell"
ARGUMENTS = {
    "t": "double", "q": "ptr", "v": "ptr", "u": "ptr", "p": "ptr", "x": "ptr", "out": "ptr",
    "work": "ptr",
}  # fmt: skip

_FREE: list[Trampoline] = []


@final
class Trampoline:
    """Functions with the signature of entries.

    Args:
        functions: name -> address of what is called.
        count: pointers that are passed before the arguments.
        without: arguments that are not passed on.
    """

    def __init__(
        self, functions: Mapping[str, int], count: int, without: tuple[str, ...] = ()
    ) -> None:
        self.kind = (dict(functions), count, without)
        names = list(functions)
        self._code = load(trampoline_ir(names, count, without), [*names, CELL])
        words = ctypes.c_void_p * (count + len(names))
        self._cell = words.from_address(self._code[CELL])
        self._cell[count:] = list(functions.values())

    def __getitem__(self, name: str) -> int:
        return self._code[name]

    def pass_on(self, pointers: Sequence[int]) -> None:
        """Sets the addresses that are passed before the arguments."""
        self._cell[: len(pointers)] = list(pointers)


def trampoline(
    functions: Mapping[str, int],
    owner: object,
    pointers: Sequence[int],
    without: tuple[str, ...] = (),
) -> Trampoline:
    """Entries that pass pointers to functions, for as long as their owner lives."""
    kind = (dict(functions), len(pointers), without)
    free = next((x for x in _FREE if x.kind == kind), None)
    try:
        _FREE.remove(free)  # type: ignore[arg-type]
    except ValueError:
        # none, or another thread was quicker
        free = None
    free = free or Trampoline(functions, len(pointers), without)
    free.pass_on(pointers)
    weakref.finalize(owner, _FREE.append, free)
    return free


def trampoline_ir(names: Sequence[str], count: int, without: Sequence[str] = ()) -> str:
    """The module of trampolines of these names; the cell holds pointers, then functions."""
    size = f"[{count + len(names)} x ptr]"
    head = ", ".join(f"{kind} %{name}" for name, kind in ARGUMENTS.items())
    handed = [f"{kind} %{x}" for x, kind in ARGUMENTS.items() if x not in without]
    passed = ", ".join([*(f"ptr %pointer{k}" for k in range(count)), *handed])
    lines = [f"@{CELL} = global {size} zeroinitializer", ""]
    for number, name in enumerate(names):
        places = [("function", count + number), *((f"pointer{k}", k) for k in range(count))]
        lines.append(f"define void @{name}({head}) {{")
        for word, k in places:
            place = f"getelementptr inbounds ({size}, ptr @{CELL}, i64 0, i64 {k})"
            lines.append(f"  %{word} = load ptr, ptr {place}")
        lines += [f"  call void %function({passed})", "  ret void", "}", ""]
    return "\n".join(lines)
