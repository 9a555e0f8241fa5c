"""Compiling loops: machine code of a set of loops, cached on disk, callable from Python.

Public names: compile_loops, CompiledLoops.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, ProgramError
from liaison.program.llvm.machine import Code, load

from .key import loops_key
from .language import Loop
from .llvm import loops_ir, unique_names
from .records import Part, Record, Rows
from .tree import ELEMENT, Kind, signature

CTYPES: dict[str, Any] = {
    "f64": ctypes.c_double, "i64": ctypes.c_int64, "ptr": ctypes.c_void_p,
    "iptr": ctypes.c_void_p, "kernel": ctypes.c_void_p, "void": None,
}  # fmt: skip
DTYPES = {"f64": np.dtype(np.float64), "i64": np.dtype(np.int64)}


@final
class CompiledLoops:
    """Loops as machine code; `loops[name]` is called with numbers, arrays and addresses."""

    def __init__(self, code: Code, symbols: dict[Loop[..., Any], str]) -> None:
        self._code = code
        self._symbols = {loop.name: (loop, symbol) for loop, symbol in symbols.items()}

    def address(self, loop: str | Loop[..., Any]) -> int:
        """Address of the loop's machine code, valid as long as this object lives."""
        return self._code[self._find(loop)[1]]

    def function(self, loop: str | Loop[..., Any]) -> Any:
        """The loop as a bare foreign function: pointers and kernels are given as addresses."""
        arguments, result = signature(self._find(loop)[0])
        kinds = [ctypes.c_void_p if isinstance(x, Kind) else CTYPES[x] for _, x in arguments]
        prototype = ctypes.CFUNCTYPE(CTYPES[result], *kinds)
        function = prototype(self.address(loop))
        function.code = self._code  # type: ignore[attr-defined]  # the code lives as long as this
        return function

    def __getitem__(self, loop: str | Loop[..., Any]) -> Callable[..., Any]:
        """The loop as a Python function that takes arrays for pointers, and checks their type."""
        found = self._find(loop)[0]
        kinds = [kind for _, kind in signature(found)[0]]
        function = self.function(loop)

        def call(*args: Any) -> Any:
            return function(*(_argument(found, a, k) for a, k in zip(args, kinds, strict=True)))

        return call

    def _find(self, loop: str | Loop[..., Any]) -> tuple[Loop[..., Any], str]:
        name = loop if isinstance(loop, str) else loop.name
        if name not in self._symbols:
            raise NamingError.unknown("compiled loop", name, self._symbols)
        return self._symbols[name]


def compile_loops(
    roots: Sequence[Loop[..., Any]], *, optimize: int = 2, cache: bool = True
) -> CompiledLoops:
    """Machine code of the loops and of all they call, through LLVM, cached on disk."""
    symbols = unique_names(roots)
    code = load(
        partial(loops_ir, roots),
        symbols.values(),
        optimize=optimize,
        passes=True,
        keep=cache,
        key=loops_key(roots),
    )
    return CompiledLoops(code, symbols)


def _argument(loop: Loop[..., Any], value: Any, kind: str) -> Any:
    if isinstance(kind, Kind):
        return _address_of(loop, value, kind)
    if kind not in ELEMENT or not isinstance(value, np.ndarray):
        return value
    if value.dtype != DTYPES[ELEMENT[kind]] or not value.flags.c_contiguous:
        raise ProgramError(
            f"loop {loop.name!r} takes a contiguous array of {DTYPES[ELEMENT[kind]]} for a {kind}, "
            f"not of {value.dtype}."
        )
    return value.ctypes.data


def _address_of(loop: Loop[..., Any], value: Any, kind: Kind) -> Any:
    """Where a record, a part or rows begin; a number is an address already."""
    if isinstance(value, int):
        return value
    if kind.family == "rows" and isinstance(value, Rows):
        return value.ints.ctypes.data
    if not isinstance(value, kind.record) or not isinstance(value, Record | Part):
        raise ProgramError(
            f"loop {loop.name!r} takes a {kind.record.__name__}, not {type(value).__name__}."
        )
    return value.floats.ctypes.data
