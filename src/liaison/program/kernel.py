"""Kernel: the entries of a program, callable.

Every entry answers to one C signature, is re-entrant and touches no globals:

    void f(double t, const double *q, const double *v, const double *u,
           const double *p, const double *x, double *out, double *work)

Values follow IEEE 754: NaN and infinity are passed on and returned, and no error is raised.
`out` must not overlap any other argument. `work` holds `work_size(entry)` doubles and may be
NULL where that is 0.

The cheap door: an entry with kept arrays, called from Python for the price of one argument.

A record in memory holds the address of the entry and of its arrays; a compiled trampoline takes
the record's address and makes the real call. Converting eight arguments at every call would cost
more than most entries do.

Public names: Kernel, MachineKernel, Function, SIGNATURE, Bound.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from liaison.errors import ProgramError
from liaison.lazy import Shown
from liaison.program.llvm.batch import (
    BatchCode,
    BoundBatch,
    Layout,
    States,
    Variant,
    check_in_place,
    check_out,
    empty,
    numbers_of,
    states,
)
from liaison.program.llvm.machine import load

from .program import Array, Program

if TYPE_CHECKING:
    from liaison.program.llvm.lanes import LaneCode

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


SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 7)
"""The C type of every entry."""

NOTHING: Mapping[str, ArrayLike | None] = {"q": (), "v": (), "u": None, "p": None, "x": ()}
"""What a caller leaves out."""

Function: TypeAlias = Callable[[float, Array, Array, Array, Array, Array, Array, Array], None]
Recipe: TypeAlias = "tuple[Callable[..., Kernel], tuple[Any, ...]]"
"""An entry as plain Python: fills `out` from NumPy arrays, as the compiled one does."""


class Kernel(Shown, ABC):
    """Named entries that take numbers and give numbers; labels and sizes are in `program`.

    Example:
        >>> import liaison
        >>> kernel = liaison.to_kernel("examples/pendulum.lsd")
        >>> kernel("forward", q=[0.0], v=[0.0]).round(6)
        array([-0.,  0.])
    """

    is_interpreted: ClassVar[bool] = False  # entries have addresses of machine code
    portable: bool = False  # results have the same bits on every machine
    recipe: Recipe | None = None
    """The function that makes this kernel, and its arguments: what is kept when it is pickled."""

    def __init__(self, program: Program, reads: Mapping[str, dict[str, int]] | None = None) -> None:
        self.program = program
        self.prepared: dict[Any, Any] = {}  # what rooms that use it made ready, by their own keys
        self.origin: Any = None  # what it was compiled from, where the verb `compile` made it
        self._reads: dict[str, dict[str, int]] = dict(reads or {})

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

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is compiled anew, from the cache where it is there."""
        if self.recipe is None:
            raise ProgramError(
                f"the kernel of {self.program.name!r} cannot be pickled: it holds addresses of "
                "this process.",
                hint="Pickle the mechanism, and compile it where it is needed.",
            )
        return self.recipe if self.origin is None else (*self.recipe, {"origin": self.origin})

    def bound_loop(self, loop: Any, record: Any) -> int:
        """A loop that takes a record before the arguments of an entry, where it is no machine code.

        Returns:
            What stands for its address; 0 where loops are machine code of this process.
        """
        return 0

    def lane_code(self, *entries: str) -> LaneCode | None:
        """Entries over as many states as a register has lanes; None of a back end that has none."""
        return None

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

        Every array may have leading batch axes; they are broadcast, and lead the result. Sizes are
        checked, values are not: by IEEE 754 an entry returns NaN or infinity where a formula has
        no value, where M is singular, and where an argument is NaN or infinite. Verbs
        (`forward_dynamics`, `simulate`, …) check states and results instead.
        """
        arrays = {"q": q, "v": v, "u": self._default("u", u), "p": self._default("p", p), "x": x}
        numbers = {name: numbers_of(name, value) for name, value in arrays.items()}
        self.check(entry, numbers)
        return self._evaluate(entry, numbers_of("t", t), numbers)

    def call(self, entry: str, t: ArrayLike = 0.0, **arrays: ArrayLike | None) -> dict[str, Array]:
        """The entry's outputs by the names of its layout.

        Example:
            >>> import liaison
            >>> kernel = liaison.to_kernel("examples/pendulum.lsd")
            >>> kernel.call("energy", q=[0.0], v=[2.0])
            {'T': array([0.66666667]), 'U': array([-4.905])}
        """
        out = self(entry, t, **arrays)  # type: ignore[arg-type]
        blocks: dict[str, Array] = {}
        start = 0
        for label, size in self.program.entry(entry).layout:
            blocks[label] = out[..., start : start + size]
            start += size
        return blocks

    def batch(
        self,
        entry: str,
        t: ArrayLike = 0.0,
        *,
        q: ArrayLike = (),
        v: ArrayLike = (),
        u: ArrayLike | None = None,
        p: ArrayLike | None = None,
        x: ArrayLike = (),
        out: Array | None = None,
        threads: int | None = None,
        layout: Layout = "components",
    ) -> Array:
        """The entry over N states, component by component: machine code on vectors, all cores.

        Args:
            entry: its name.
            t: time, one or shape (N,).
            q: positions, shape (size, N), used in place where float64 with contiguous rows;
                (size,) for the same in every state.
            v: velocities, likewise, and so are u (inputs), p (parameters), x (extra); u and p
                default to the program's values.
            out: shape (outputs, N), where the results are to lie; a new array if None.
            threads: at most so many; None for one each 4096 states, as far as there are cores.
            layout: "components" for the shapes above; "states" where arrays, results too, have a
                row for each state: (N, size), copied, and no `out`.

        Returns:
            `out`, shape (outputs, N); with the layout "states" (N, outputs).

        Example:
            >>> import liaison
            >>> kernel = liaison.to_kernel("examples/pendulum.lsd")
            >>> kernel.batch("mass_matrix", q=[[0.1, 0.2]]).shape
            (1, 2)
        """
        batch_states = self._states(entry, layout, t=t, q=q, v=v, u=u, p=p, x=x)
        if layout == "states" and out is not None:
            raise ProgramError("'out' goes with layout='components': it is written in place.")
        out = empty(self.out_size(entry), batch_states.count) if out is None else out
        check_out(entry, self.out_size(entry), batch_states, out)
        if batch_states.count:
            self._batch(entry, batch_states, out, threads)
        return np.ascontiguousarray(out.T) if layout == "states" else out

    def _states(self, entry: str, layout: Layout, **arrays: ArrayLike | None) -> States:
        with_defaults = {n: self._default(n, a) if n in "up" else a for n, a in arrays.items()}
        numbers = {name: numbers_of(name, array) for name, array in with_defaults.items()}
        return states(self.program, self._read(entry), numbers, layout)

    def _batch(self, entry: str, batch_states: States, out: Array, threads: int | None) -> None:
        """By way of one state after the other; a back end may know better."""
        arrays = {n: a if n in batch_states.shared else a.T for n, a in batch_states.arrays.items()}
        out[...] = self._evaluate(entry, arrays.pop("t"), arrays).T

    def _default(self, name: str, value: ArrayLike | None) -> ArrayLike:
        return self.program.defaults.get(name, ()) if value is None else value

    def _read(self, entry: str) -> dict[str, int]:
        """How many leading elements of each array the entry looks at."""
        if entry not in self._reads:
            self._reads[entry] = self.program.reads(entry)
        return self._reads[entry]

    def check(self, entry: str, arrays: Mapping[str, Array]) -> None:
        """Rejects an array that is shorter than the entry reads, or of another size than said."""
        reads = self._read(entry)
        for name, array in arrays.items():
            size = array.shape[-1] if array.ndim else 0
            declared = self.program.sizes.get(f"n{name}", size) if size and name != "x" else size
            if size < reads[name] or size != declared:
                expected = max(reads[name], self.program.sizes.get(f"n{name}", 0) * (name != "x"))
                raise ProgramError(
                    f"entry {entry!r} of {self.program.name!r} takes {expected} numbers in "
                    f"{name!r}, not {size}."
                )


@final
class MachineKernel(Kernel):
    """Entries as machine code, compiled when first asked for.

    Args:
        program: what is computed.
        compiler: entry names -> their addresses and workspace sizes; called once for each entry.
        work_size: entry name -> its workspace, known before compiling.
        batch_compiler: entry name and how its arrays lie -> code over many states; None where
            states are computed one after the other.
        lane_compiler: entry names -> their code over the lanes of a register; None, also as its
            result, where there is none.
        reads: entry name -> how many leading elements of each array it looks at; those of its
            formulas by default.
        recipe: see `Kernel`.
        portable: see `Kernel`.
    """

    def __init__(
        self,
        program: Program,
        compiler: Callable[[tuple[str, ...]], tuple[Mapping[str, int], Any]],
        work_size: Callable[[str], int],
        batch_compiler: Callable[[str, Variant], BatchCode] | None = None,
        *,
        lane_compiler: Callable[[tuple[str, ...]], LaneCode | None] | None = None,
        reads: Mapping[str, dict[str, int]] | None = None,
        recipe: Recipe | None = None,
        portable: bool = False,
    ) -> None:
        super().__init__(program, reads)
        self.recipe, self.portable = recipe, portable
        self._compiler = compiler
        self._batch_compiler = batch_compiler
        self._lane_compiler = lane_compiler
        self._lanes: dict[tuple[str, ...], LaneCode | None] = {}
        self._batches: dict[tuple[str, Variant], BatchCode] = {}
        self._work_size = work_size
        self._addresses: dict[str, int] = {}
        self._calls: dict[str, Any] = {}
        self._kept: list[Any] = []

    def compile(self, *entries: str) -> None:
        """Compile these entries (all, if none is named) together, those not yet compiled."""
        names = entries or tuple(self.program.entries)
        missing = tuple(e for e in dict.fromkeys(names) if e not in self._addresses)
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

    def lane_code(self, *entries: str) -> LaneCode | None:
        """Entries over as many states as a register has lanes, compiled now if not yet."""
        if self._lane_compiler is None:
            return None
        if entries not in self._lanes:
            self._lanes[entries] = self._lane_compiler(entries)
        return self._lanes[entries]

    def work_size(self, entry: str) -> int:
        """How many doubles of workspace the entry wants."""
        return self._work_size(entry)

    def bind(
        self, entry: str, q: Array, v: Array, u: Array, p: Array, x: Array, out: Array | None = None
    ) -> Bound:
        """The entry with these arrays kept (float64, contiguous): the cheap way to call often.

        Raises:
            ProgramError: an array of another kind or size, or an `out` that cannot be written or
                that overlaps another array.
        """
        size = self.out_size(entry)
        out = np.empty(size) if out is None else out
        arrays = {"q": q, "v": v, "u": u, "p": p, "x": x}
        for name, array in {**arrays, "out": out}.items():
            _check_kept(name, array)
        self.check(entry, arrays)
        _check_written(entry, size, out, arrays)
        work = np.empty(max(1, self.work_size(entry)))
        return Bound(self.address(entry), (q, v, u, p, x, out, work), self)

    def bind_batch(
        self,
        entry: str,
        t: ArrayLike = 0.0,
        *,
        out: Array | None = None,
        threads: int | None = None,
        **arrays: ArrayLike | None,
    ) -> BoundBatch:
        """The entry over N states with their arrays kept, see `batch`: for calling often.

        Raises:
            ProgramError: an array that `batch` rejects, or one that would have to be copied.
        """
        for name in arrays.keys() - NOTHING.keys():
            raise ProgramError(f"a batch has no array {name!r}; it has t, {', '.join(NOTHING)}.")
        batch_states = self._states(entry, "components", t=t, **{**NOTHING, **arrays})
        check_in_place({"t": t, **arrays}, batch_states)
        size = self.out_size(entry)
        out = empty(size, batch_states.count) if out is None else out
        check_out(entry, size, batch_states, out)
        return BoundBatch(partial(self._batch_code, entry), batch_states, out, threads)

    def _batch_code(self, entry: str, variant: Variant) -> BatchCode:
        if self._batch_compiler is None:
            raise ProgramError("this back end computes one state at a time.", hint="Use to_llvm.")
        key = (entry, variant)
        if key not in self._batches:
            self._batches[key] = self._batch_compiler(entry, variant)
        return self._batches[key]

    def _batch(self, entry: str, batch_states: States, out: Array, threads: int | None) -> None:
        if self._batch_compiler is None:
            super()._batch(entry, batch_states, out, threads)
        else:
            BoundBatch(partial(self._batch_code, entry), batch_states, out, threads)()

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
        contiguous = [np.ascontiguousarray(array) for array in arrays]
        self._call(entry)(t, *(_address(array) for array in (*contiguous, out, work)))


def _check_kept(name: str, array: Any) -> None:
    """Rejects what machine code cannot use where it lies."""
    if (
        not isinstance(array, np.ndarray)
        or array.dtype != np.float64
        or not (array.flags.c_contiguous and array.flags.aligned)
        or array.ndim != 1
    ):
        raise ProgramError(f"{name!r} must be a contiguous vector of float64 to be kept.")


def _check_written(entry: str, size: int, out: Array, arrays: Mapping[str, Array]) -> None:
    """Rejects an `out` of another size, one that is read-only, and one that is read."""
    if len(out) != size:
        raise ProgramError(f"entry {entry!r} writes {size} numbers; 'out' has {len(out)}.")
    if not out.flags.writeable:
        raise ProgramError("'out' is read-only; results cannot be written there.")
    for name, array in arrays.items():
        if np.may_share_memory(array, out):
            raise ProgramError(f"'out' overlaps {name!r}.")


def _address(array: Array) -> int:
    """Where the array begins; quicker than `array.ctypes.data`."""
    address: int = array.__array_interface__["data"][0]
    return address
