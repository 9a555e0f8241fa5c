"""to_gpu: a program as a kernel on the computer's GPU, one state a thread or a lane of warps.

Arrays lie component by component, shape (size, N), as in batches on the processor; shape (size,) is
the same for all states. NumPy arrays are copied to the device and results back; arrays that are on
the device already (`DeviceArray`, or anything with `__cuda_array_interface__`) are used where they
lie, and results stay there.

to_block: long entries and marches as kernels of blocks, whose warps share each state.

Marches of a block: fixed Runge–Kutta steps of states that several warps share.

State and stages lie in shared memory. In every stage each warp computes its part of the
right-hand side, waits until all are done with what they read, and moves on those coordinates of
which it has the rates. The steps are those of `march_ir`.

Public names: to_gpu, GpuKernel, Launch, Resources, BlockKernel, to_block, shape_of, march_block.

Source: HNW1 §II.1, table 1.2 (the method); HLW §IV.8 (local coordinates).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.errors import ProgramError, SimulationError
from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx
from liaison.program.program import ARRAYS, Program

from .block import Shape, Warp, block_module, evaluate_block
from .cuda import LOCAL_BYTES, REGISTERS, DeviceArray, Function, driver
from .thread import DeviceModule
from .to_ptx import BLOCK, MARCH, Precision, chosen, form_of, to_ptx
from .warps import Division, division, operations

VELOCITIES = ("v", "speed", "xi", "turned", "pushed")
"""Arrays of one number for each velocity, in shared memory after q."""


def march_block(
    program: Program, form: Form, shared: frozenset[str], shape: Shape
) -> tuple[str, Shape]:
    """IR of the kernel `march`, with the arguments of `march_ir`, and how it is launched.

    Args:
        program: with rate and retract, and correct_q and correct_v where it has closures.
        form: double or float.
        shared: arrays that are the same for all states; never q or v.
        shape: warps, lanes and registers.
    """
    module, sizes = DeviceModule(form, tabled=True), program.sizes
    closures = bool(sizes.get("nc")), bool(sizes.get("nc") and sizes.get("nphi"))
    names = ["rate", "retract", *["correct_q"] * closures[1], *["correct_v"] * closures[0]]
    room = shape.room(form)
    entries = {
        name: division(program.entry(name).outputs, shape.warps, room=room) for name in names
    }
    slots = max(each.slots for each in entries.values())
    state = sizes["nq"] + len(VELOCITIES) * sizes["nv"] + shape.warps
    whole = replace(shape, numbers=state + slots)
    warps = [Warp(module, program, whole, shared, number) for number in range(shape.warps)]
    for warp in warps:
        _March(warp, entries, sizes).write()
    return block_module(module, "march", MARCH, warps), whole


@final
class _March:
    """Writes the march of one warp."""

    def __init__(
        self, warp: Warp, entries: Mapping[str, Division], sizes: Mapping[str, int]
    ) -> None:
        self.warp, self.entries, self.tag = warp, entries, f"w{warp.number}"
        self.nq, self.nv = sizes["nq"], sizes["nv"]
        self.kind, self.number = warp.form.kind, warp.form.number
        self.first = {"q": 0}
        self.first |= {name: self.nq + k * self.nv for k, name in enumerate(VELOCITIES)}
        self.first["worst"] = self.nq + len(VELOCITIES) * self.nv
        self.first["slots"] = self.first["worst"] + warp.shape.warps

    def op(self, name: str, a: str, b: str) -> str:
        """A sum or a product."""
        return self.warp.put(f"{name} contract {self.kind} {a}, {b}")

    def at(self, array: str, index: int) -> str:
        """A number of shared memory."""
        return self.warp.fetched(self.first[array] + index)

    def keep(self, array: str, index: int, value: str) -> None:
        """The same, written."""
        self.warp.keep(self.first[array] + index, value)

    def along(self, array: str, index: int, start: str, factor: str, value: str) -> None:
        """array := start + factor value."""
        self.keep(array, index, self.op("fadd", start, self.op("fmul", factor, value)))

    def share(self, size: int) -> range:
        """Indices that are this warp's where any would do."""
        return range(self.warp.number, size, self.warp.shape.warps)

    def enter(self, label: str) -> int:
        """A new block of instructions; where its first line goes."""
        self.warp.lines += [f"  br label %{label}", f"{label}:"]
        self.warp.block = label
        return len(self.warp.lines)

    def again(self, test: str, label: str, beyond: str) -> None:
        """Back to a label while a test holds."""
        self.warp.lines += [f"  br i1 {test}, label %{label}, label %{beyond}", f"{beyond}:"]
        self.warp.block = beyond

    def write(self) -> None:
        """All of it."""
        memory, tag = self.warp.memory, self.tag
        for name, size in (("q", self.nq), ("v", self.nv)):
            for k in self.share(size):
                self.keep(name, k, memory.load(name, k))
        is_first = self.warp.number == 0
        worst = memory.load("residual", 0) if is_first else self.number(0.0)
        start, before = memory.load("t", 0), self.warp.block
        memory.forget()
        self.warp.wait()
        where = self.enter(f"{tag}steps")
        count = self.warp.put(f"uitofp i64 %{tag}k to {self.kind}")
        now = self.op("fadd", start, self.op("fmul", count, "%step"))
        self.stages(now)
        missed = self.moved(self.op("fadd", now, "%step"), f"%{tag}worst")
        ahead = self.warp.put(f"add i64 %{tag}k, 1")
        more = self.warp.put(f"icmp ult i64 {ahead}, %steps.count")
        last = self.warp.block
        self.warp.lines[where:where] = [
            f"  %{tag}k = phi i64 [0, %{before}], [{ahead}, %{last}]",
            f"  %{tag}worst = phi {self.kind} [{worst}, %{before}], [{missed}, %{last}]",
        ]
        self.again(more, f"{tag}steps", f"{tag}finish")
        self.finish(missed)

    def stages(self, now: str) -> None:
        """The four stages as a loop: h Σ bᵢ ξ̇ᵢ and h Σ bᵢ v̇ᵢ."""
        tag = self.tag
        for k in self.share(self.nv):
            for name in ("xi", "turned", "pushed"):
                self.keep(name, k, self.number(0.0))
            self.keep("speed", k, self.at("v", k))
        self.warp.wait()
        before = self.warp.block
        where = self.enter(f"{tag}stages")
        when, weight, reach = self.factors(f"%{tag}stage")
        time = self.op("fadd", now, self.op("fmul", when, "%step"))
        outputs = self.entry("rate", time, {"v": "speed", "x": "xi"})
        self.warp.wait()
        for index, value in outputs:
            self.turn_or_push(index, value, weight, reach)
        self.warp.wait()
        ahead = self.warp.put(f"add i32 %{tag}stage, 1")
        more = self.warp.put(f"icmp ult i32 {ahead}, 4")
        phi = f"phi i32 [0, %{before}], [{ahead}, %{self.warp.block}]"
        self.warp.lines.insert(where, f"  %{tag}stage = {phi}")
        self.again(more, f"{tag}stages", f"{tag}update")

    def turn_or_push(self, index: int, value: str, weight: str, reach: str) -> None:
        """What follows from one of the rates."""
        if index < self.nv:
            self.keep("xi", index, self.op("fmul", reach, value))
            self.along("turned", index, self.at("turned", index), weight, value)
        elif index < 2 * self.nv:
            k = index - self.nv
            self.along("speed", k, self.at("v", k), reach, value)
            self.along("pushed", k, self.at("pushed", k), weight, value)

    def factors(self, stage: str) -> tuple[str, str, str]:
        """Of a stage: when it is, its weight, and how far the next one reaches."""
        put, number = self.warp.put, self.number

        def pick(test: str, a: float, b: str) -> str:
            return put(f"select i1 {test}, {self.kind} {number(a)}, {self.kind} {b}")

        is_first, is_third, is_last = (put(f"icmp eq i32 {stage}, {k}") for k in (0, 2, 3))
        is_end = put(f"or i1 {is_first}, {is_last}")
        when = pick(is_first, 0.0, pick(is_last, 1.0, number(0.5)))
        weight = self.op("fmul", pick(is_end, 1 / 6, number(1 / 3)), "%step")
        return when, weight, self.op("fmul", pick(is_third, 1.0, number(0.5)), "%step")

    def entry(self, name: str, t: str, arrays: Mapping[str, str]) -> list[tuple[int, str]]:
        """This warp's outputs of an entry on what lies in shared memory."""
        read: dict[str, Callable[[int], str]] = {"t": lambda _: t}
        for array, place in {"q": "q", "v": "v", "x": "xi", **arrays}.items():
            read[array] = partial(self.at, place)
        return self.warp.run(self.entries[name], self.first["slots"], read)

    def moved(self, t: str, worst: str) -> str:
        """The state after a step, back on its closures; the largest residual before that."""
        self.retract(t, "turned", pushes=True)
        if "correct_q" in self.entries:
            worst = self.corrected("correct_q", t, worst, "xi")
            self.retract(t, "xi", pushes=False)
        if "correct_v" in self.entries:
            worst = self.corrected("correct_v", t, worst, "pushed")
            self.push()
        for k in self.share(self.nv):
            v = self.at("v", k)
            worst = self.op("fadd", worst, self.warp.put(f"fsub {self.kind} {v}, {v}"))
        return worst

    def push(self) -> None:
        """v := v + what lies in `pushed`; each warp reads and writes its share alone."""
        for k in self.share(self.nv):
            self.keep("v", k, self.op("fadd", self.at("v", k), self.at("pushed", k)))

    def retract(self, t: str, by: str, *, pushes: bool) -> None:
        """q := q ⊞ ξ; velocities are pushed at the same time."""
        outputs = self.entry("retract", t, {"x": by})
        self.warp.wait()
        for index, value in outputs:
            self.keep("q", index, value)
        if pushes:
            self.push()
        self.warp.wait()

    def corrected(self, name: str, t: str, worst: str, into: str) -> str:
        """A correction written into an array, and the largest residual."""
        outputs = self.entry(name, t, {})
        self.warp.wait()
        for index, value in outputs:
            if index < self.nv:
                self.keep(into, index, value)
            elif index == self.nv:
                worst = self.larger(worst, value)
        self.warp.wait()
        return worst

    def larger(self, a: str, b: str) -> str:
        """The larger; NaN where b is NaN."""
        test = self.warp.put(f"fcmp ugt {self.kind} {b}, {a}")
        return self.warp.put(f"select i1 {test}, {self.kind} {b}, {self.kind} {a}")

    def finish(self, worst: str) -> None:
        """State and residual back to the device's memory; the first warp joins the residuals."""
        memory = self.warp.memory
        self.keep("worst", self.warp.number, worst)
        self.warp.wait()
        for name, size in (("q", self.nq), ("v", self.nv)):
            for k in self.share(size):
                memory.store(name, k, self.at(name, k))
        if self.warp.number == 0:
            memory.store("residual", 0, self.joined(worst))

    def joined(self, worst: str) -> str:
        """The largest of all warps; NaN if one of them is."""
        each = [worst, *(self.at("worst", k) for k in range(1, self.warp.shape.warps))]
        for other in each[1:]:
            worst = self.larger(worst, other)
        for other in each:
            lost = self.warp.put(f"fsub {self.kind} {other}, {other}")
            worst = self.op("fadd", worst, lost)
        return worst


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
    if entry == "march":
        ir, whole = march_block(program, form, shared, shape)
    else:
        ir, whole = evaluate_block(some, entry, form, shared, shape)
    if whole.bytes(form) > most:
        return None
    return BlockKernel(ptx(ir, processor), whole, whole.bytes(form))


def shape_of(program: Program, entry: str, form: Form) -> Shape | None:
    """Warps, lanes and registers for an entry or a march; none where one thread is enough."""
    formulas = program.entry("rate" if entry == "march" else entry).outputs
    work = operations(formulas)
    if not LONG <= work <= MOST:
        return None
    registers = 255 if form.real == "double" else 128 if entry == "march" else 168
    return Shape(2 if work < LONGER else 4, registers=registers)


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
