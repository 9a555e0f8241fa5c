"""Batches: one entry over many states, on vectors and on all cores.

Arrays are NumPy arrays of shape (size, N), component by component, rows unit-strided: they are
used where they lie, no copy is made. Shape (size,) means the same values for every state. Shape
(N, size), a row for each state, is also taken where the program says the size, and transposed by
one copy. `out` has shape (outputs, N). Threads run machine code only, which needs no interpreter
lock.

Public names: BatchCode, BoundBatch, States, states.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ProgramError
from liaison.program.program import Array, Program

from .batch_entries import FIELDS, POINTERS, STRIDED, Variant

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


def states(program: Program, reads: Mapping[str, int], given: Mapping[str, Array]) -> States:
    """The arrays of a batch, checked and laid out.

    Args:
        program: says the sizes.
        reads: how many components of each array the entry looks at.
        given: t, shape (N,) or (), and q, v, u, p, x as said above.

    Raises:
        ProgramError: an array has another size than the program says, or another N.
    """
    sizes = {name: program.sizes.get(f"n{name}") for name in "qvup"}
    count = _count(sizes, given)
    arrays = {"t": given["t"]}
    for name in "qvupx":
        arrays[name] = _laid(name, given[name], sizes.get(name), reads[name], count)
    if arrays["t"].ndim and arrays["t"].shape != (count,):
        raise ProgramError(f"'t' has shape {arrays['t'].shape}, for {count} states.")
    return States(count, arrays)


def _count(sizes: Mapping[str, int | None], given: Mapping[str, Array]) -> int:
    """N, as the first array tells it that has one."""
    for name in "qvupx":
        shape, size = given[name].shape, sizes.get(name)
        if len(shape) == 2:
            return int(shape[0] if size == shape[1] and size != shape[0] else shape[1])
    if given["t"].ndim == 1:
        return len(given["t"])
    raise ProgramError("a batch needs an array of shape (size, N).", hint="Or call the entry.")


def _laid(name: str, array: Array, size: int | None, least: int, count: int) -> Array:
    """The array as (size, N) with unit-strided rows, or (size,)."""

    def fits(n: int) -> bool:
        return n >= least and (size is None or n == size)

    if array.size == 0 and least == 0:
        return np.zeros(1)
    if array.ndim == 1 and fits(len(array)):
        return np.ascontiguousarray(array)
    if array.ndim == 2 and fits(array.shape[0]) and array.shape[1] == count:
        is_plain = array.strides[1] == 8 and array.strides[0] % 8 == 0
        return array if is_plain else np.ascontiguousarray(array)
    is_known = size is not None or name == "x"
    if array.ndim == 2 and is_known and fits(array.shape[1]) and array.shape[0] == count:
        return np.ascontiguousarray(array.T)
    raise ProgramError(
        f"{name!r} has shape {array.shape}, for {count} states of {max(least, size or 0)} numbers.",
        hint="Give (size, N), or (size,) for the same values in every state.",
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
        given: the states.
        out: shape (outputs, N), rows unit-strided.
        threads: at most so many; None for one each 4096 states, as far as there are cores.
    """

    def __init__(self, compiled: Compiled, given: States, out: Array, threads: int | None) -> None:
        check_apart(given, out)
        self.out = out
        self._code = code = compiled(Variant(given.shared, _is_streaming(out)))
        self._copy_back = given.count < code.lanes
        kept = _padded(given, code.lanes) if self._copy_back else given
        target = empty(len(out), kept.count) if self._copy_back else out
        self._kept = (kept, target)
        self._given = given
        self._call = FUNCTION(code.address)
        self._work: list[Array] = []
        self._records = [
            self._record(begin, end) for begin, end in _chunks(kept.count, code.lanes, threads)
        ]

    def _record(self, begin: int, end: int) -> NDArray[np.int64]:
        kept, out = self._kept
        work = empty(max(1, self._code.work_size), self._code.lanes)
        self._work.append(work)
        arrays = {**kept.arrays, "out": out, "work": work}
        shared = kept.shared | {"work"}
        starts = [arrays[n].ctypes.data + (0 if n in shared else 8 * begin) for n in POINTERS]
        strides = [arrays[n].strides[0] // 8 for n in STRIDED]
        record = np.array([end - begin, *starts, *strides], dtype=np.int64)
        assert len(record) == len(FIELDS)
        return record

    def __call__(self) -> Array:
        """Run the entry over all states; returns the kept `out`."""
        if self._copy_back:
            kept = _padded(self._given, self._code.lanes).arrays
            for name, array in self._kept[0].arrays.items():
                array[...] = kept[name]
        records = [record.ctypes.data for record in self._records]
        if len(records) == 1:
            self._call(records[0])
        else:
            list(_pool().map(self._call, records))
        if self._copy_back:
            self.out[...] = self._kept[1][:, : self._given.count]
        for index, value in self._code.numbers:
            self.out[index] = value
        return self.out


def _is_streaming(out: Array) -> bool:
    """Whether the results outgrow the caches, and lie so that vectors can be written past them."""
    starts = (out.ctypes.data, out.strides[0], 8 * out.shape[1])
    is_aligned = all(start % ALIGNMENT == 0 for start in starts)
    return len(out) >= STREAMED_ROWS and out.nbytes >= STREAMED_BYTES and is_aligned


def check_apart(given: States, out: Array) -> None:
    """Refuses an `out` that overlaps what is read, or that code cannot write to."""
    if out.dtype != np.float64 or out.ndim != 2 or out.shape[1] != given.count:
        raise ProgramError(f"'out' must be float64 of shape (outputs, {given.count}).")
    if out.strides[1] != 8 or out.strides[0] % 8 or not out.flags.writeable:
        raise ProgramError("'out' must be writeable, with rows that are contiguous.")
    for name, array in given.arrays.items():
        if np.may_share_memory(array, out):
            raise ProgramError(f"'out' overlaps {name!r}.")


def _padded(given: States, lanes: int) -> States:
    """Copies with the last state repeated, so that they fill a vector."""

    def fill(array: Array) -> Array:
        last = np.repeat(array[..., -1:], lanes - given.count, axis=-1)
        return np.concatenate([array, last], axis=-1)

    shared = given.shared
    arrays = {n: a.copy() if n in shared else fill(a) for n, a in given.arrays.items()}
    return States(lanes, arrays)


def _chunks(count: int, lanes: int, threads: int | None) -> list[tuple[int, int]]:
    """Ranges of whole vectors, one for each thread; the last also takes what is left over."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    wanted = min(cores or 1, count // GRAIN) if threads is None else threads
    vectors = count // lanes
    n = max(1, min(wanted, vectors))
    edges = [vectors * k // n * lanes for k in range(n)] + [count]
    return list(pairwise(edges))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="liaison")


if hasattr(os, "register_at_fork"):  # a child has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
