"""Batches: one entry over many states, on vectors and on all cores.

Arrays are NumPy arrays of shape (size, N), component by component, rows unit-strided: they are
used where they lie, no copy is made. Shape (size,) means the same values for every state. `out` has
shape (outputs, N). With the layout "states" all of them have a row for each state, (N, size), and
are transposed by one copy; which of the two is meant is never guessed from a shape. Threads run
machine code only, which needs no interpreter lock.

Entries over many states as LLVM IR: the same plan on vectors, and the loop around it.

Lane k of every value belongs to state i + k. An array lies component by component (structure of
arrays), so that a vector is one load; an array that all states share is read once and spread.
The last vector is shifted back to end with the last state: states it has in common with the one
before are computed twice, to the same bits, and no masks are needed.

Public names: BatchCode, BoundBatch, States, states, batch_ir, Variant, FIELDS, LAYOUTS, Layout,
numbers_of, check_out, check_in_place.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError
from liaison.expr import Expr
from liaison.program.plan import Item, Piece, Plan
from liaison.program.program import ARRAYS, Array, Program

from .entries import NATIVE, Arithmetic, Form, Module, Writer

POINTERS = (*ARRAYS, "out", "work")
STRIDED = ("q", "v", "u", "p", "x", "out")
FIELDS = ("count", *POINTERS, *(f"{name} stride" for name in STRIDED))
"""What the record holds that a batch function is given, each in eight bytes."""

_NOALIAS = [f"ptr noalias {'' if n in ('out', 'work') else 'readonly '}%{n}" for n in POINTERS]
ARGUMENTS = ", ".join([*_NOALIAS, *(f"i64 %{name}.stride" for name in STRIDED)])


@final
@dataclass(frozen=True, slots=True)
class Variant:
    """How the arrays of a batch lie.

    Attributes:
        shared: arrays that are the same for all states, shape (size,).
        is_streaming: results are written past the caches: they are many, and every vector of
            them begins at a multiple of its size.
    """

    shared: frozenset[str] = frozenset()
    is_streaming: bool = False


def batch_ir(
    program: Program,
    entry_plan: Plan,
    name: str,
    lanes: int,
    variant: Variant,
    arithmetic: Arithmetic = NATIVE,
) -> str:
    """IR text of a module with the function `void name(record)`, see FIELDS.

    Args:
        program: with the planned entry.
        entry_plan: the plan, sines and cosines of each angle by themselves.
        name: of the function.
        lanes: doubles in a vector.
        variant: how the arrays lie.
        arithmetic: how results are rounded.
    """
    module = Module(arithmetic)
    parts = [f"@{name}.{k}" for k in range(len(entry_plan.pieces))]
    bodies = [
        _Writer(module, program, entry_plan, piece, Form(lanes), variant).function(
            f"define internal void {part}({ARGUMENTS}) noinline"
        )
        for part, piece in zip(parts, entry_plan.pieces, strict=True)
    ]
    loop = _loop(name, parts, lanes, variant)
    return "\n".join([*module.declarations(), *bodies, *loop, module.tail(), "!1 = !{i32 1}", ""])


class _Writer(Writer):
    """Writes the function of one piece, for a vector of states."""

    def __init__(
        self,
        module: Module,
        program: Program,
        entry_plan: Plan,
        piece: Piece,
        form: Form,
        variant: Variant,
    ) -> None:
        super().__init__(module, program, entry_plan, piece)
        self.form = replace(form, contract=module.arithmetic.contract)
        self.shared = variant.shared
        self.is_streaming = variant.is_streaming

    def clear(self, outputs: dict[Expr, list[int]]) -> None:
        """Outputs that are numbers are the caller's to write."""
        for node in [node for node in outputs if node in self.numbers]:
            del outputs[node]

    def place(self, array: str, index: int) -> str:
        """The address of a vector: components are a stride apart, the workspace has its own."""
        if index == 0:
            return f"%{array}"
        if array in self.shared:
            return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {index}")
        if array == "work":
            return self.put(f"getelementptr inbounds {self.form.kind}, ptr %work, i64 {index}")
        offset = self.put(f"mul nsw i64 %{array}.stride, {index}")
        return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {offset}")

    def store(self, array: str, index: int, value: str) -> None:
        """Into an array, past the caches where the results are streamed."""
        form, place = self.form, self.place(array, index)
        is_streamed = self.is_streaming and array == "out"
        how = f"align {8 * form.lanes}, !nontemporal !1" if is_streamed else "align 8"
        self.lines.append(f"  store {form.kind} {value}, ptr {place}, {how}")

    def load(self, array: str, index: int) -> str:
        """A vector, or one double in every lane."""
        kind, place = self.form.kind, self.place(array, index)
        if array not in self.shared:
            return self.put(f"load {kind}, ptr {place}, align 8")
        one = self.put(f"load double, ptr {place}, align 8")
        if self.form.lanes == 1:
            return one
        first = self.put(f"insertelement {kind} poison, double {one}, i32 0")
        everywhere = f"<{self.form.lanes} x i32> zeroinitializer"
        return self.put(f"shufflevector {kind} {first}, {kind} poison, {everywhere}")

    def turn(self, item: Item) -> None:
        """Sine and cosine of one angle of every state."""
        values = self.turned(self.operand(item[0].args[0]), self.form.lanes)
        for node in item:
            self.names[node] = values[node.op == "cos"]


def _loop(name: str, parts: list[str], lanes: int, variant: Variant) -> list[str]:
    """The function of the record: vector after vector, the last one shifted back."""
    lines = [f"define void @{name}(ptr %record) nounwind {{", "entry:"]
    for k, field in enumerate(FIELDS):
        kind = "ptr" if field in POINTERS else "i64"
        lines.append(f"  %f{k} = getelementptr inbounds i64, ptr %record, i64 {k}")
        lines.append(f"  %a{k} = load {kind}, ptr %f{k}, align 8")
    lines += [
        f"  %last = sub i64 %a0, {lanes}",
        "  br label %next",
        "next:",
        "  %i = phi i64 [0, %entry], [%ahead, %next]",
        "  %before = icmp slt i64 %i, %last",
        "  %at = select i1 %before, i64 %i, i64 %last",
    ]
    passed = []
    for k, field in enumerate(FIELDS[1:], 1):
        fixed = field in variant.shared or field == "work" or field not in POINTERS
        if not fixed:
            lines.append(f"  %p{k} = getelementptr inbounds double, ptr %a{k}, i64 %at")
        kind = "ptr" if field in POINTERS else "i64"
        passed.append(f"{kind} %{'a' if fixed else 'p'}{k}")
    lines += [f"  call void {part}({', '.join(passed)})" for part in parts]
    return [
        *lines,
        f"  %ahead = add i64 %i, {lanes}",
        "  %more = icmp slt i64 %ahead, %a0",
        "  br i1 %more, label %next, label %done",
        "done:",
        *(["  fence seq_cst"] if variant.is_streaming else []),
        "  ret void",
        "}",
    ]


GRAIN = 4096  # states that are worth a thread
ALIGNMENT = 64  # bytes of a cache line
PAGE = 512  # doubles; rows that are a multiple of it apart share one place in the nearest cache
STREAMED_ROWS = 16  # fewer results do not fill the buffers that join writes
STREAMED_BYTES = 1 << 23
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@final
@dataclass(frozen=True, slots=True)
class BatchCode:
    """Machine code of an entry over many states.

    Attributes:
        address: of `void f(record)`.
        lanes: states computed at once.
        work_size: vectors of workspace.
        numbers: outputs that are numbers, (index, value), which the code does not write.
        owner: keeps the code alive.
    """

    address: int
    lanes: int
    work_size: int
    numbers: tuple[tuple[int, float], ...]
    owner: Any


Compiled: TypeAlias = Callable[[Variant], BatchCode]

Layout: TypeAlias = Literal["components", "states"]
"""How the arrays of a batch lie: (size, N), a row a component; or (N, size), a row a state."""

LAYOUTS = ("components", "states")


@final
@dataclass(frozen=True, slots=True)
class States:
    """What a batch is given: `count` states, and every array as (size, count) or (size,)."""

    count: int
    arrays: Mapping[str, Array]

    @property
    def shared(self) -> frozenset[str]:
        """Arrays that are the same for all states."""
        flat = {name for name, array in self.arrays.items() if array.ndim == 1 and name != "t"}
        return frozenset(flat | ({"t"} if self.arrays["t"].ndim == 0 else set()))


def numbers_of(name: str, values: Any) -> Array:
    """Values as an array of float64.

    Raises:
        ProgramError: they are complex, or no numbers.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf" or array.size == 0:
            return array.astype(np.float64)
    except (TypeError, ValueError):
        array = np.asarray(None)
    kind = f"numbers of type {array.dtype}" if array.dtype.kind == "c" else repr(values)[:60]
    raise ProgramError(f"{name!r} is {kind}; an entry takes real numbers.")


def states(
    program: Program,
    reads: Mapping[str, int],
    arrays_by_name: Mapping[str, Array],
    layout: Layout = "components",
) -> States:
    """The arrays of a batch, checked and laid out.

    Args:
        program: says the sizes.
        reads: how many components of each array the entry looks at.
        arrays_by_name: t, shape (N,) or (), and q, v, u, p, x as described above.
        layout: which axis of an array with two belongs to the states.

    Raises:
        ProgramError: an array has another size than the program says, or another N.
    """
    if layout not in LAYOUTS:
        raise ProgramError(
            f"layout is {layout!r}; it is 'components' (size, N) or 'states' (N, size)."
        )
    sizes = {name: program.sizes.get(f"n{name}") for name in "qvup"}
    by_states = layout == "states"
    turned = {n: a.T if by_states and a.ndim == 2 else a for n, a in arrays_by_name.items()}
    count = _count(turned, layout)
    arrays = {
        "t": np.ascontiguousarray(arrays_by_name["t"])
        if arrays_by_name["t"].ndim
        else arrays_by_name["t"]
    }
    for name in "qvupx":
        arrays[name] = _laid(name, turned[name], sizes.get(name), reads[name], count, layout)
    if arrays["t"].ndim and arrays["t"].shape != (count,):
        raise ProgramError(f"'t' has shape {arrays['t'].shape}, for {count} states.")
    return States(count, arrays)


def _shape(layout: Layout, size: object, count: object) -> str:
    return f"({size}, {count})" if layout == "components" else f"({count}, {size})"


def _count(arrays_by_name: Mapping[str, Array], layout: Layout) -> int:
    """N, from the first array that has one."""
    for name in "qvupx":
        if arrays_by_name[name].ndim == 2:
            return int(arrays_by_name[name].shape[1])
    if arrays_by_name["t"].ndim == 1:
        return len(arrays_by_name["t"])
    shape = _shape(layout, "size", "N")
    raise ProgramError(f"a batch needs an array of shape {shape}.", hint="Or call the entry.")


def _laid(
    name: str, array: Array, size: int | None, least: int, count: int, layout: Layout
) -> Array:
    """The array as (size, N) with unit-strided rows, or (size,)."""

    def fits(n: int) -> bool:
        return n >= least and (size is None or n == size)

    if array.size == 0 and least == 0:
        return np.zeros(1)
    if array.ndim == 1 and fits(len(array)):
        return np.ascontiguousarray(array)
    if array.ndim == 2 and fits(array.shape[0]) and array.shape[1] == count:
        return array if _has_plain_rows(array) else np.ascontiguousarray(array)
    shape = array.shape[::-1] if layout == "states" else array.shape
    numbers = max(least, size or 0)
    other: Layout = "states" if layout == "components" else "components"
    turned = f"; for {_shape(other, 'size', 'N')} say layout={other!r}"
    raise ProgramError(
        f"{name!r} has shape {shape}, for {count} states of {numbers} numbers.",
        hint=f"Give {_shape(layout, numbers, count)}, or ({numbers},) for the same values in every "
        f"state{turned}.",
    )


def _has_plain_rows(array: Array) -> bool:
    """Whether machine code can use the rows where they lie."""
    return array.strides[0] % 8 == 0 and (array.shape[1] <= 1 or array.strides[1] == 8)


def check_in_place(passed: Mapping[str, Any], used: States) -> None:
    """Rejects arrays of the caller that are not used where they lie: changes would not be seen.

    Args:
        passed: arrays of the caller, by name; None where the default is meant.
        used: the same as the code reads them.
    """
    for name, array in passed.items():
        if array is None or (name == "t" and np.ndim(array) == 0) or np.size(array) == 0:
            continue
        if not isinstance(array, np.ndarray) or not np.may_share_memory(array, used.arrays[name]):
            raise ProgramError(
                f"{name!r} would be copied, and later changes of it would not be seen.",
                hint="Keep a float64 array of shape (size, N) with contiguous rows, or a "
                "contiguous vector (size,) for all states; np.ascontiguousarray makes one.",
            )


def empty(rows: int, columns: int) -> Array:
    """An array whose rows begin at cache lines, and not all at the same place of a page."""
    line = ALIGNMENT // 8
    width = -(-columns // line) * line
    if width % PAGE == 0:
        width += line
    whole = np.empty(rows * width + line)
    skip = -whole.ctypes.data // 8 % line
    return whole[skip : skip + rows * width].reshape(rows, width)[:, :columns]


@final
class BoundBatch:
    """A batch with kept arrays: change them in place, call, read `out`.

    Args:
        compiler: gives the code of the entry for the way its arrays lie.
        batch_states: the states.
        out: shape (outputs, N), as `check_out` allows it.
        threads: at most so many; None for one each 4096 states, as far as there are cores.
    """

    def __init__(
        self, compiled: Compiled, batch_states: States, out: Array, threads: int | None
    ) -> None:
        self.out = out
        self._code = code = compiled(Variant(batch_states.shared, _is_streaming(out)))
        self._copy_back = batch_states.count < code.lanes
        padded = _padded(batch_states, code.lanes) if self._copy_back else batch_states
        target = empty(len(out), padded.count) if self._copy_back else out
        self._kept = (padded, target)
        self._batch_states = batch_states
        self._call = FUNCTION(code.address)
        self._work: list[Array] = []
        self._records = [
            self._record(begin, end) for begin, end in _chunks(padded.count, code.lanes, threads)
        ]

    def _record(self, begin: int, end: int) -> NDArray[np.int64]:
        padded, out = self._kept
        work = empty(max(1, self._code.work_size), self._code.lanes)
        self._work.append(work)
        arrays = {**padded.arrays, "out": out, "work": work}
        shared = padded.shared | {"work"}
        starts = [arrays[n].ctypes.data + (0 if n in shared else 8 * begin) for n in POINTERS]
        strides = [arrays[n].strides[0] // 8 for n in STRIDED]
        record = np.array([end - begin, *starts, *strides], dtype=np.int64)
        assert len(record) == len(FIELDS)
        return record

    def __call__(self) -> Array:
        """Run the entry over all states; returns the kept `out`."""
        if self._copy_back:
            padded = _padded(self._batch_states, self._code.lanes).arrays
            for name, array in self._kept[0].arrays.items():
                array[...] = padded[name]
        records = [record.ctypes.data for record in self._records]
        if len(records) == 1:
            self._call(records[0])
        else:
            list(_pool().map(self._call, records))
        if self._copy_back:
            self.out[...] = self._kept[1][:, : self._batch_states.count]
        for index, value in self._code.numbers:
            self.out[index] = value
        return self.out


def _is_streaming(out: Array) -> bool:
    """Whether the results outgrow the caches, and lie so that vectors can be written past them."""
    starts = (out.ctypes.data, out.strides[0], 8 * out.shape[1])
    is_aligned = all(start % ALIGNMENT == 0 for start in starts)
    return len(out) >= STREAMED_ROWS and out.nbytes >= STREAMED_BYTES and is_aligned


def check_out(entry: str, size: int, batch_states: States, out: Array) -> None:
    """Rejects an `out` that overlaps what is read, or that code cannot write to."""
    shape = (size, batch_states.count)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
        raise ProgramError(
            f"'out' must be float64 of shape {shape}: entry {entry!r} writes {size} rows."
        )
    is_folded = size > 1 and abs(out.strides[0]) < 8 * batch_states.count
    if not _has_plain_rows(out) or is_folded or not out.flags.writeable or not out.flags.aligned:
        raise ProgramError("'out' must be writeable, with rows that are contiguous.")
    for name, array in batch_states.arrays.items():
        if np.may_share_memory(array, out):
            raise ProgramError(f"'out' overlaps {name!r}.")


def _padded(batch_states: States, lanes: int) -> States:
    """Copies with the last state repeated, so that they fill a vector."""

    def fill(array: Array) -> Array:
        last = np.repeat(array[..., -1:], lanes - batch_states.count, axis=-1)
        return np.concatenate([array, last], axis=-1)

    shared = batch_states.shared
    arrays = {n: a.copy() if n in shared else fill(a) for n, a in batch_states.arrays.items()}
    return States(lanes, arrays)


def _chunks(count: int, lanes: int, threads: int | None) -> list[tuple[int, int]]:
    """Ranges of whole vectors, one for each thread; the last also takes what is left over."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    most = min(cores or 1, count // GRAIN) if threads is None else threads
    vectors = count // lanes
    n = max(1, min(most, vectors))
    edges = [vectors * k // n * lanes for k in range(n)] + [count]
    return list(pairwise(edges))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="liaison")


if hasattr(os, "register_at_fork"):  # a child has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
