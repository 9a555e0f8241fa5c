"""Compiling loops: machine code of a set of loops, cached on disk, callable from Python.

What a set of loops depends on, as one text, found without reading their source.

The text holds the compiled Python of every loop reached, the numbers and tables they use, and the
translator's own files: while it is the same, so is the machine code. Reading the source and
printing IR takes fifty times as long.

Public names: compile_loops, CompiledLoops, loops_key.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, ProgramError
from liaison.program.llvm.machine import Code, load

from .language import Loop
from .llvm import loops_ir, unique_names
from .records import Part, Record, Rows
from .tree import ELEMENT, Kind, outer_names, signature


def loops_key(roots: Sequence[Loop[..., Any]], *, portable: bool = False) -> str:
    """A digest that changes with any loop reached, anything it uses, and the translator."""
    own, text = _functions() if portable else ((), b"")
    number = {loop: k for k, loop in enumerate(dict.fromkeys([*roots, *own]))}
    reached = list(number)
    digest = hashlib.sha256(_translator() + text)
    for loop in reached:
        for callee in _callees(loop):
            if callee not in number:
                number[callee] = len(reached)
                reached.append(callee)
        digest.update(repr(_content(loop, number)).encode())
    return digest.hexdigest()


def _functions() -> tuple[Iterable[Loop[..., Any]], bytes]:
    """Those that portable loops call instead of functions of the system, and who makes them."""
    from liaison.program.functions import elementary

    return elementary.FUNCTIONS.values(), Path(elementary.__file__).read_bytes()


def _content(loop: Loop[..., Any], number: dict[Loop[..., Any], int]) -> list[Any]:
    """Code with positions (annotations of locals leave no other trace), and what names mean."""
    function = loop.function
    code = function.__code__
    annotations = [str(kind) for kind in function.__annotations__.values()]
    parts = [code.co_name, code.co_code, code.co_linetable, code.co_consts, code.co_varnames]
    names = [(name, _meaning(value, number)) for name, value in _used(loop)]
    return [*parts, code.co_names, annotations, names, _layouts(loop), loop.text]


def _layouts(loop: Loop[..., Any]) -> list[str]:
    """The layouts of all records that a loop names: its code shows none of their numbers."""
    named = [kind.record for _, kind in signature(loop)[0] if isinstance(kind, Kind)]
    used = [value for _, value in _used(loop) if isinstance(value, type)]
    return [x.text() for x in [*named, *used] if issubclass(x, Record | Part)]


def _meaning(value: Any, number: dict[Loop[..., Any], int]) -> str:
    if isinstance(value, Loop):
        return f"loop {number[value]}"
    if isinstance(value, bool | int | float | tuple):
        return repr(value)
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}"


def _used(loop: Loop[..., Any]) -> list[tuple[str, Any]]:
    """Names from outside that the loop's code mentions, also in modules it mentions."""
    code = loop.function.__code__
    mentioned = [*code.co_names, *code.co_freevars]
    outer = outer_names(loop)
    used = [(name, outer[name]) for name in mentioned if name in outer]
    modules = [(name, value) for name, value in used if isinstance(value, ModuleType)]
    for path, module in modules:
        inside = [(f"{path}.{name}", getattr(module, name, None)) for name in mentioned]
        used += [(name, value) for name, value in inside if value is not None]
    return used


def _callees(loop: Loop[..., Any]) -> Iterable[Loop[..., Any]]:
    return [value for _, value in _used(loop) if isinstance(value, Loop)]


@cache
def _translator() -> bytes:
    """Digest of the files that turn loops into IR."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in translator_files())).digest()


def translator_files() -> list[Path]:
    """All files of this folder: the loop language, its records and its printers."""
    return sorted(Path(__file__).parent.glob("*.py"))


CTYPES: dict[str, Any] = {
    "f64": ctypes.c_double, "i64": ctypes.c_int64, "ptr": ctypes.c_void_p,
    "iptr": ctypes.c_void_p, "kernel": ctypes.c_void_p, "void": None,
}  # fmt: skip
DTYPES = {"f64": np.dtype(np.float64), "i64": np.dtype(np.int64)}


@final
class CompiledLoops:
    """Loops as machine code; `loops[name]` is called with numbers, arrays and addresses."""

    def __init__(
        self, code: Code, symbols: dict[Loop[..., Any], str], apart: CompiledLoops | None = None
    ) -> None:
        self._code = code
        self._apart = apart  # lives as long as what calls it
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
        function.code = self  # type: ignore[attr-defined]  # the code lives as long as this
        return function

    def __getitem__(self, loop: str | Loop[..., Any]) -> Callable[..., Any]:
        """The loop as a Python function that takes arrays for pointers, and checks their type."""
        located = self._find(loop)[0]
        kinds = [kind for _, kind in signature(located)[0]]
        function = self.function(loop)

        def call(*args: Any) -> Any:
            return function(*(_argument(located, a, k) for a, k in zip(args, kinds, strict=True)))

        return call

    def _find(self, loop: str | Loop[..., Any]) -> tuple[Loop[..., Any], str]:
        name = loop if isinstance(loop, str) else loop.name
        if name not in self._symbols:
            raise NamingError.unknown("compiled loop", name, self._symbols)
        return self._symbols[name]


def compile_loops(
    roots: Sequence[Loop[..., Any]],
    *,
    optimize: int = 2,
    cache: bool = True,
    portable: bool = False,
    vectors: bool = False,
    tight: bool = False,
    apart: Sequence[Loop[..., Any]] = (),
    apart_tight: bool = False,
) -> CompiledLoops:
    """Machine code of the loops and of all they call, through LLVM, cached on disk.

    Args:
        roots: the loops.
        optimize: level of code generation, 0 to 3.
        cache: look in the disk cache, and store there.
        portable: with functions of our own, so that results have the same bits on every machine.
        vectors: at level 3, equal operations side by side become those of vectors; bits stay.
        apart: loops that they call and where they spend their time: they become a module of their
            own, at level 3 and with vectors, since all of it at that level takes long to compile.
        tight: calls are put in place and no loop is unrolled: quicker where loops have a few turns,
            in twice the time to compile.
        apart_tight: those apart are, and not at level 3.
    """
    symbols = unique_names(roots)
    other = None
    if apart:
        rolls = not apart_tight
        other = compile_loops(
            apart, optimize=3 if rolls else 2, cache=cache, portable=portable, vectors=rolls,
            tight=apart_tight,
        )  # fmt: skip
    outside = {f"liaison_{x.name}": other.address(x) for x in apart if other is not None}
    marks = "".join(f" apart {name}" for name in outside)
    code = load(
        partial(loops_ir, roots, portable=portable, apart=apart),
        symbols.values(),
        optimize=optimize,
        passes=True,
        keep=cache,
        key=loops_key(roots, portable=portable) + marks,
        imports=outside,
        vectors=vectors,
        tight=tight,
    )
    return CompiledLoops(code, symbols, other)


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
    expected = kind.record.__name__
    if kind.family == "rows":
        if isinstance(value, Rows) and value.record is kind.record:
            return value.ints.ctypes.data
        present = (
            f"Rows of {value.record.__name__}" if isinstance(value, Rows) else type(value).__name__
        )
        raise ProgramError(
            f"loop {loop.name!r} takes rows of {expected}, not {present}.",
            hint=f"Write Rows({expected}, words) for words that lie as {expected} says.",
        )
    if not isinstance(value, kind.record) or not isinstance(value, Record | Part):
        raise ProgramError(f"loop {loop.name!r} takes a {expected}, not {type(value).__name__}.")
    return value.floats.ctypes.data
