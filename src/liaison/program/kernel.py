"""Kernel: the entries of a program, callable; what the rooms right of the wall hold on to.

Every entry answers to one C signature, is re-entrant and touches no globals:

    void f(double t, const double *q, const double *v, const double *u,
           const double *p, const double *x, double *out, double *work)

`out` must not overlap any other argument. `work` holds `work_size(entry)` doubles and may be
NULL where that is 0.

Public names: Kernel, MachineKernel, Function, SIGNATURE.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from liaison.errors import ProgramError

from .door import Bound
from .program import Array, Program

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 7)
"""The C type of every entry."""

Function: TypeAlias = Callable[[float, Array, Array, Array, Array, Array, Array, Array], None]
"""An entry as plain Python: fills `out` from NumPy arrays, as the compiled one does."""


class Kernel(ABC):
    """Named entries that take numbers and give numbers; labels and sizes are in `program`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._reads: dict[str, dict[str, int]] = {}

    @abstractmethod
    def address(self, entry: str) -> int:
        """Address of the entry's machine code, valid as long as the kernel lives."""

    @abstractmethod
    def work_size(self, entry: str) -> int:
        """How many doubles of workspace the entry wants."""

    @abstractmethod
    def function(self, entry: str) -> Function:
        """The entry as a Python function f(t, q, v, u, p, x, out, work) that fills `out`."""

    @abstractmethod
    def _evaluate(self, entry: str, t: Array, arrays: Mapping[str, Array]) -> Array: ...

    def out_size(self, entry: str) -> int:
        """How many doubles the entry writes."""
        return len(self.program.entry(entry).outputs)

    def __call__(
        self,
        entry: str,
        t: ArrayLike = 0.0,
        *,
        q: ArrayLike = (),
        v: ArrayLike = (),
        u: ArrayLike | None = None,
        p: ArrayLike | None = None,
        x: ArrayLike = (),
    ) -> Array:
        """The entry's outputs as one array; `u` and `p` default to the program's values.

        Every array may have leading batch axes; they are broadcast, and lead the result.
        """
        arrays = {"q": q, "v": v, "u": self._default("u", u), "p": self._default("p", p), "x": x}
        numbers = {name: np.asarray(value, dtype=np.float64) for name, value in arrays.items()}
        self._check(entry, numbers)
        return self._evaluate(entry, np.asarray(t, dtype=np.float64), numbers)

    def call(self, entry: str, t: ArrayLike = 0.0, **arrays: ArrayLike | None) -> dict[str, Array]:
        """The entry's outputs by the names of its layout."""
        out = self(entry, t, **arrays)  # type: ignore[arg-type]
        blocks: dict[str, Array] = {}
        start = 0
        for label, size in self.program.entry(entry).layout:
            blocks[label] = out[..., start : start + size]
            start += size
        return blocks

    def _default(self, name: str, value: ArrayLike | None) -> ArrayLike:
        return self.program.defaults.get(name, ()) if value is None else value

    def _check(self, entry: str, arrays: Mapping[str, Array]) -> None:
        """Refuses an array that is shorter than the entry reads, or of another size than said."""
        if entry not in self._reads:
            self._reads[entry] = self.program.reads(entry)
        reads = self._reads[entry]
        for name, array in arrays.items():
            size = array.shape[-1] if array.ndim else 0
            said = self.program.sizes.get(f"n{name}", size) if size and name != "x" else size
            if size < reads[name] or size != said:
                wanted = max(reads[name], self.program.sizes.get(f"n{name}", 0) * (name != "x"))
                raise ProgramError(
                    f"entry {entry!r} of {self.program.name!r} takes {wanted} numbers in {name!r}, "
                    f"not {size}."
                )


@final
class MachineKernel(Kernel):
    """Entries as machine code, compiled when first asked for.

    Args:
        program: what is computed.
        compiler: entry names -> their addresses and workspace sizes; called once for each entry.
        work_size: entry name -> its workspace, known before compiling.
    """

    def __init__(
        self,
        program: Program,
        compiler: Callable[[tuple[str, ...]], tuple[Mapping[str, int], Any]],
        work_size: Callable[[str], int],
    ) -> None:
        super().__init__(program)
        self._compiler = compiler
        self._work_size = work_size
        self._addresses: dict[str, int] = {}
        self._calls: dict[str, Any] = {}
        self._kept: list[Any] = []

    def compile(self, *entries: str) -> None:
        """Compile these entries (all, if none is named) together, those not yet compiled."""
        wanted = entries or tuple(self.program.entries)
        missing = tuple(e for e in dict.fromkeys(wanted) if e not in self._addresses)
        for entry in missing:
            self.program.entry(entry)
        if missing:
            addresses, owner = self._compiler(missing)
            self._kept.append(owner)
            self._addresses.update(addresses)

    def address(self, entry: str) -> int:
        """Address of the entry's machine code, compiled now if it was not yet."""
        if entry not in self._addresses:
            self.compile(entry)
        return self._addresses[entry]

    def work_size(self, entry: str) -> int:
        """How many doubles of workspace the entry wants."""
        return self._work_size(entry)

    def bind(
        self, entry: str, q: Array, v: Array, u: Array, p: Array, x: Array, out: Array | None = None
    ) -> Bound:
        """The entry with these arrays kept (float64, contiguous): the cheap way to call often."""
        arrays = {"q": q, "v": v, "u": u, "p": p, "x": x}
        for name, array in arrays.items():
            if array.dtype != np.float64 or not array.flags.c_contiguous or array.ndim != 1:
                raise ProgramError(f"{name!r} must be a contiguous vector of float64 to be kept.")
        self._check(entry, arrays)
        out = np.empty(self.out_size(entry)) if out is None else out
        work = np.empty(max(1, self.work_size(entry)))
        return Bound(self.address(entry), (q, v, u, p, x, out, work), self)

    def function(self, entry: str) -> Function:
        """The entry as a Python function f(t, q, v, u, p, x, out, work) that fills `out`."""
        call = self._call(entry)

        def run(t: float, *arrays: Array) -> None:
            call(t, *(array.ctypes.data for array in arrays))

        return run

    def _call(self, entry: str) -> Any:
        if entry not in self._calls:
            self._calls[entry] = SIGNATURE(self.address(entry))
        return self._calls[entry]

    def _evaluate(self, entry: str, t: Array, arrays: Mapping[str, Array]) -> Array:
        work = np.empty(max(1, self.work_size(entry)))
        if t.ndim == 0 and all(array.ndim == 1 for array in arrays.values()):
            out = np.empty(self.out_size(entry))
            self._run(entry, float(t), [*arrays.values()], out, work)
            return out
        batch = np.broadcast_shapes(t.shape, *(a.shape[:-1] for a in arrays.values()))
        out = np.empty((*batch, self.out_size(entry)))
        times = np.broadcast_to(t, batch)
        rows = [np.broadcast_to(a, batch + a.shape[-1:]) for a in arrays.values()]
        for index in np.ndindex(batch):
            self._run(entry, float(times[index]), [row[index] for row in rows], out[index], work)
        return out

    def _run(self, entry: str, t: float, arrays: list[Array], out: Array, work: Array) -> None:
        kept = [np.ascontiguousarray(array) for array in arrays]
        self._call(entry)(t, *(_address(array) for array in (*kept, out, work)))


def _address(array: Array) -> int:
    """Where the array begins; quicker than `array.ctypes.data`."""
    address: int = array.__array_interface__["data"][0]
    return address
