"""to_gpu: a program as a kernel on the computer's GPU, one state a thread or a lane of warps.

Arrays lie component by component, shape (size, N), as in batches on the processor; shape (size,) is
the same for all states. NumPy arrays are copied to the device and results back; arrays that are on
the device already (`DeviceArray`, or anything with `__cuda_array_interface__`) are used where they
lie, and results stay there.

to_block: long entries and marches as kernels of blocks, whose warps share each state.

Public names: to_gpu, GpuKernel, Launch, Resources, BlockKernel, to_block, shape_of.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.errors import ProgramError, SimulationError
from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx
from liaison.program.program import ARRAYS, Program

from .block import LANES, Shape, evaluate_block
from .cuda import LOCAL_BYTES, REGISTERS, DeviceArray, Function, driver
from .march import march_block
from .to_ptx import BLOCK, Precision, chosen, form_of, to_ptx
from .warps import operations

LONG, LONGER = 2400.0, 4000.0
"""Instructions of an entry from which on it is divided among two warps, and among four.

Measured: one warp more is one more stream of instructions, which come from far when all together
are longer than the instructions' cache."""

MOST = 40_000.0
"""Instructions that are not divided any more: finding the division would take too long."""


@final
@dataclass(frozen=True, slots=True)
class BlockKernel:
    """The text of a kernel, and how it is launched."""

    text: str
    shape: Shape
    shared_bytes: int


def to_block(
    program: Program,
    entry: str,
    *,
    precision: Precision,
    rows: tuple[int, ...] | None,
    shared: frozenset[str],
    processor: str,
    most: int,
) -> BlockKernel | None:
    """PTX text of a kernel; none where one thread a state is better.

    Args:
        program: what is computed.
        entry: its name, or "march".
        precision: "double" or "single".
        rows: which outputs are computed and written; all if None.
        shared: arrays that are the same for all states.
        processor: the kind of the GPU.
        most: bytes of shared memory that a block may have.

    Raises:
        ProgramError: as of `to_ptx`.
    """
    form = form_of(program, entry, precision)
    some = program if entry == "march" else chosen(program, entry, rows)
    shape = shape_of(some, entry, form)
    if shape is None:
        return None
    ir, whole = _block(some, entry, form, shared, shape)
    while whole.bytes(form) > most and shape.lanes > LANES:
        shape = replace(shape, lanes=shape.lanes // 2)
        ir, whole = _block(some, entry, form, shared, shape)
    if whole.bytes(form) > most:
        return None
    return BlockKernel(ptx(ir, processor), whole, whole.bytes(form))


def _block(
    program: Program, entry: str, form: Form, shared: frozenset[str], shape: Shape
) -> tuple[str, Shape]:
    """IR of a kernel, and how it is launched."""
    if entry == "march":
        return march_block(program, form, shared, shape)
    return evaluate_block(program, entry, form, shared, shape)


def shape_of(program: Program, entry: str, form: Form) -> Shape | None:
    """Warps, lanes and registers for an entry or a march; none where one thread is enough.

    Measured: with 128 states a block, warps that share a quarter of a multiprocessor go through the
    same instructions at the same time, and wait for them once. Marches gain nothing by it.
    """
    formulas = program.entry("rate" if entry == "march" else entry).outputs
    work = operations(formulas)
    if not LONG <= work <= MOST:
        return None
    warps, is_double = 2 if work < LONGER else 4, form.real == "double"
    registers = 255 if is_double else 128
    if entry == "march":
        return Shape(warps, registers=registers)
    return Shape(warps, 128 if warps == 2 else 64 if is_double else LANES, registers)


Values: TypeAlias = ArrayLike | DeviceArray
LARGEST_RESIDUAL = 1e-6  # of closures after a step, beyond which a march has lost them


@final
@dataclass(frozen=True, slots=True)
class Resources:
    """What a thread takes: registers, and bytes that did not fit into them."""

    registers: int
    spilled: int


@final
@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled kernel: states of a block, threads that share a state, bytes that they share."""

    function: Function
    states: int = BLOCK
    sharing: int = 1
    shared_bytes: int = 0

    def launch(self, count: int, arguments: Sequence[Any]) -> None:
        """Runs it on so many states; does not wait."""
        self.function.launch(
            count, self.states, arguments, times=self.sharing, shared_bytes=self.shared_bytes
        )


@final
@dataclass(frozen=True, slots=True)
class _Laid:
    """Arrays on the device: addresses, strides in elements, and which are shared."""

    count: int
    kept: Mapping[str, Any]
    address: Mapping[str, int]
    stride: Mapping[str, int]
    shared: frozenset[str]
    is_local: bool


@final
@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel with its arguments: call it, then read `out`; it does not wait."""

    kernel: Kernel
    count: int
    arguments: tuple[Any, ...]
    out: Any
    is_local: bool
    kept: Mapping[str, Any]

    def __call__(self) -> None:
        """Launches the kernel on the device."""
        self.kernel.launch(self.count, self.arguments)


def to_gpu(program: Program, *, precision: Precision = "double") -> GpuKernel:
    """A kernel on the computer's first GPU; entries are compiled when first asked for.

    Args:
        program: what is computed.
        precision: "double", or "single" where there are no closures.

    Raises:
        ProgramError: there is no GPU.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> kernel = liaison.to_gpu(program)
        >>> kernel.batch("mass_matrix", q=[[0.0, 0.5, 1.0]]).shape  # of three states
        (1, 3)
    """
    return GpuKernel(program, precision)


@final
class GpuKernel:
    """Entries over many states on a GPU."""

    def __init__(self, program: Program, precision: Precision = "double") -> None:
        self.program, self.precision = program, precision
        self.dtype = np.dtype(np.float64 if precision == "double" else np.float32)
        self._driver = driver()
        self._compiled = cache(self._compile)

    def __repr__(self) -> str:
        return f"<GpuKernel {self.program.name}: {self.precision} precision>"

    def batch(
        self,
        entry: str,
        *,
        rows: Sequence[int] | None = None,
        out: DeviceArray | None = None,
        **arrays: Values,
    ) -> Any:
        """The outputs of an entry for every state, shape (outputs, N).

        Args:
            entry: its name.
            rows: which outputs are wanted; all if None.
            out: where they go, on the device; a new array if None.
            arrays: t, q, v, u, p, x; inputs and parameters left out have their defaults.

        Returns:
            A NumPy array if all arrays were NumPy's and no `out` was given, else a DeviceArray.
        """
        launch = self.bind(entry, rows=rows, out=out, **arrays)
        launch()
        return launch.out.numpy() if launch.is_local and out is None else launch.out

    def bind(
        self,
        entry: str,
        *,
        rows: Sequence[int] | None = None,
        out: DeviceArray | None = None,
        **arrays: Values,
    ) -> Launch:
        """The same with kept arrays, to be launched again and again for a few microseconds."""
        chosen = None if rows is None else tuple(int(row) for row in rows)
        laid = self._laid(arrays, self.program.reads(entry))
        wanted = len(self.program.entry(entry).outputs if chosen is None else chosen)
        target = out if out is not None else DeviceArray((wanted, laid.count), self.dtype)
        if target.shape != (wanted, laid.count) or target.dtype != self.dtype:
            raise ProgramError(
                f"'out' has shape {target.shape} of {target.dtype}; "
                f"{(wanted, laid.count)} of {self.dtype} is needed."
            )
        places = [laid.address[name] for name in ARRAYS]
        strides = [laid.stride[name] for name in ARRAYS]
        numbers = [laid.count, *places, target.address, *strides, laid.count]
        kernel = self._compiled(entry, chosen, laid.shared)
        arguments = tuple(ctypes.c_uint64(x) for x in numbers)
        return Launch(kernel, laid.count, arguments, target, laid.is_local, laid.kept)

    def march(
        self,
        q: Values,
        v: Values,
        *,
        step: float,
        steps: int,
        t: float = 0.0,
        u: Values | None = None,
        p: Values | None = None,
        check: bool = True,
    ) -> tuple[Any, Any]:
        """States after a number of fixed Runge–Kutta steps of order 4, all in one launch.

        Args:
            q: positions, shape (nq, N); on the device they are changed in place.
            v: velocities, shape (nv, N); the same.
            step: seconds, positive.
            steps: how many.
            t: time at the start.
            u: inputs, constant; defaults if None.
            p: parameters; defaults if None.
            check: raise an error for a result with a state that is lost (this waits for the
                device).

        Raises:
            SimulationError: a state is not finite, or its closures are lost.
        """
        if not (np.isfinite(step) and step > 0 and steps >= 1):
            raise SimulationError(f"a march needs positive steps; {steps} of {step} s were asked.")
        arrays = {"q": q, "v": v, "u": u, "p": p, "t": [t]}
        sizes = self.program.sizes
        reads = {"t": 1, "q": sizes["nq"], "v": sizes["nv"], "u": sizes["nu"], "p": sizes["np"]}
        laid = self._laid({k: x for k, x in arrays.items() if x is not None}, {**reads, "x": 0})
        if laid.shared & {"q", "v"}:
            raise ProgramError("q and v have a column for each state, shape (size, N).")
        residual = DeviceArray.of(np.zeros((1, laid.count)), self.dtype)
        names = ARRAYS[:5]
        real = ctypes.c_double if self.precision == "double" else ctypes.c_float
        whole = ctypes.c_uint64
        arguments = [whole(laid.count), whole(steps), real(step)]
        arguments += [whole(laid.address[name]) for name in names]
        arguments += [whole(residual.address), *(whole(laid.stride[name]) for name in names)]
        self._compiled("march", None, laid.shared).launch(laid.count, arguments)
        if check:
            _check(residual.numpy()[0], t + step * steps)
        moved = laid.kept["q"], laid.kept["v"]
        return (moved[0].numpy(), moved[1].numpy()) if laid.is_local else moved

    def simulate(
        self, q: ArrayLike, v: ArrayLike, *, step: float, steps: int, every: int = 1, **options: Any
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Times, positions (samples, nq, N) and velocities, recorded each `every` steps."""
        state = DeviceArray.of(q, self.dtype), DeviceArray.of(v, self.dtype)
        start = float(options.pop("t", 0.0))
        times, states = [start], [(state[0].numpy(), state[1].numpy())]
        for done in range(0, steps, every):
            count = min(every, steps - done)
            self.march(*state, step=step, steps=count, t=times[-1], **options)
            times.append(start + (done + count) * step)
            states.append((state[0].numpy(), state[1].numpy()))
        return np.array(times), np.stack([a for a, _ in states]), np.stack([b for _, b in states])

    def resources(
        self,
        entry: str,
        shared: frozenset[str] = frozenset(),
        rows: Sequence[int] | None = None,
    ) -> Resources:
        """Registers and spilled bytes of an entry, or of "march", as the driver compiled it."""
        function = self._compiled(entry, None if rows is None else tuple(rows), shared).function
        return Resources(function.attribute(REGISTERS), function.attribute(LOCAL_BYTES))

    def _compile(self, entry: str, rows: tuple[int, ...] | None, shared: frozenset[str]) -> Kernel:
        """A state a thread; of long entries a lane of several warps."""
        name, owner = "march" if entry == "march" else "evaluate", self._driver
        asked: Any = {"precision": self.precision, "rows": rows, "shared": shared}
        asked["processor"] = owner.processor
        block = to_block(self.program, entry, most=owner.shared_bytes, **asked)
        if block is None:
            return Kernel(owner.load(to_ptx(self.program, entry, **asked), name))
        function = owner.load(block.text, name)
        function.allow(block.shared_bytes)
        return Kernel(function, block.shape.lanes, block.shape.warps, block.shared_bytes)

    def _laid(self, arrays: Mapping[str, Values], reads: Mapping[str, int]) -> _Laid:
        """Everything on the device; what all states share has stride 0."""
        known = {name: array for name, array in arrays.items() if name in ARRAYS}
        if len(known) < len(arrays):
            raise ProgramError(f"arrays are {', '.join(ARRAYS)}; found {', '.join(arrays)}.")
        values: dict[str, Values] = {"t": [0.0], "q": [], "v": [], "x": []}
        values |= {name: self.program.defaults.get(name, []) for name in ("u", "p")} | known
        is_local = not any(_is_on_device(array) for array in known.values())
        placed = {name: _placed(array, self.dtype) for name, array in values.items()}
        counts = {name: a.shape[1] for name, a in placed.items() if len(a.shape) == 2}
        if len(set(counts.values())) != 1:
            raise ProgramError(f"the arrays have different numbers of states: {counts}.")
        for name, least in reads.items():
            check_size(self.program, name, placed[name].shape, least)
        count = next(iter(counts.values()))
        shared = frozenset(name for name in placed if name not in counts)
        address = {name: _address(array) for name, array in placed.items()}
        stride = {name: count if name in counts else 0 for name in placed}
        return _Laid(count, placed, address, stride, shared, is_local)


def check_size(program: Program, name: str, shape: tuple[int, ...], least: int) -> None:
    """Rejects an array of another size than the program says, or with too few rows."""
    size = program.sizes.get(f"n{name}", 0) if name in "qvup" else 0
    is_left_out = shape[0] == 0 and least == 0
    if not is_left_out and (shape[0] < least or shape[0] != (size or shape[0])):
        raise ProgramError(
            f"{name!r} has shape {shape}; its first axis has {max(least, size)} numbers.",
            hint="Arrays lie component by component, shape (size, N).",
        )


def _is_on_device(array: object) -> bool:
    return hasattr(array, "__cuda_array_interface__")


def _placed(array: Any, dtype: np.dtype[Any]) -> Any:
    """The array on the device, as it is if it is there already."""
    if not _is_on_device(array):
        return DeviceArray.of(array, dtype)
    interface = array.__cuda_array_interface__
    if np.dtype(interface["typestr"]) != dtype or interface.get("strides") is not None:
        raise ProgramError(f"an array on the device is contiguous and of {dtype} here.")
    return array


def _address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


def _check(residual: NDArray[Any], t: float) -> None:
    lost = np.flatnonzero(~(residual <= LARGEST_RESIDUAL))
    if lost.size:
        raise SimulationError(
            f"{lost.size} of {residual.size} states are lost at t = {t:g} s, the first of them "
            f"state {lost[0]} (residual {residual[lost[0]]:g}).",
            hint="Take smaller steps; simulate such a state on the processor to see why.",
        )
