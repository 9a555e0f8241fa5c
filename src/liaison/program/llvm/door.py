"""The cheap door: an entry with kept arrays, called from Python for the price of one argument.

A record in memory holds the address of the entry and of its arrays; a compiled trampoline takes
the record's address and makes the real call. Converting eight arguments at every call would cost
more than most entries do.

Public names: Bound.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, final

import numpy as np

from liaison.program.program import Array

from .machine import load

FIELDS = ("ptr", "double", *["ptr"] * 7)  # entry, t, q, v, u, p, x, out, work


@final
class Bound:
    """An entry with kept arrays: change them in place, call, read `out`.

    The arrays and the kernel are held, so every address stays good.
    """

    __slots__ = ("_call", "_kept", "_record", "_time", "out")

    def __init__(self, address: int, arrays: Sequence[Array], owner: Any) -> None:
        record = np.zeros(len(FIELDS), dtype=np.int64)
        record[0] = address
        record[2:] = [array.ctypes.data for array in arrays]
        self._call = _trampoline()
        self._kept = (tuple(arrays), owner, record)
        self._record = ctypes.c_void_p(record.ctypes.data)
        self._time = record.view(np.float64)
        self.out = arrays[5]

    def __call__(self, t: float = 0.0) -> Array:
        """Run the entry at time t; returns the kept `out`."""
        self._time[1] = t
        self._call(self._record)
        return self.out


@cache
def _trampoline() -> Any:
    """void door(record): calls the entry of the record with the arguments of the record."""
    lines = ["define void @door(ptr %record) nounwind {"]
    for i, kind in enumerate(FIELDS):
        lines.append(f"  %p{i} = getelementptr inbounds i64, ptr %record, i64 {i}")
        lines.append(f"  %a{i} = load {kind}, ptr %p{i}, align 8")
    passed = ", ".join(f"{kind} %a{i + 1}" for i, kind in enumerate(FIELDS[1:]))
    text = "\n".join([*lines, f"  call void %a0({passed})", "  ret void", "}"])
    code = load(text, ["door"])
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code["door"])
    function.code = code  # type: ignore[attr-defined]  # lives as long as the function
    return function
