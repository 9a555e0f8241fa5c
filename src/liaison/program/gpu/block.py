"""Block: kernels in which several warps share the work on each state.

A block has a lane for each of its states, and a warp, or several, for each part that an entry is
divided into (see warps.py). Warps follow each other part after part, so that of blocks of 128
states those that a quarter of a multiprocessor has go through the same instructions together, and
wait for them once. What passes between warps lies in shared memory, number after number, each with
a place for every lane. Lanes beyond the last state repeat it: all of them come to every barrier,
and write what it writes.

Evaluate: an entry on every state. Inputs are read at once at the beginning and lie in shared memory
until all who want them have read them. In single precision sines and cosines of angles among them
are computed first, in a loop: all warps have the same share of that work, and the code is a quarter
shorter. In double that was slower.

Public names: Shape, Warp, block_module, evaluate_block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeAlias, final

from liaison.expr import Expr, topological
from liaison.program.llvm.entries import Form
from liaison.program.plan import TURNING, Piece, Plan
from liaison.program.program import ARRAYS, Program

from .functions import quick_sincos
from .thread import DeviceModule, Memory, Thread
from .to_ptx import EVALUATE, arguments_text
from .warps import IDS, Division, division

SHARED = "ptr addrspace(3)"
LANES = 32  # of a warp
ADDRESSES = 15  # registers of a thread
IN_USE = 60  # values, while formulas of a phase are computed
TURNS = 4  # angles that are turned at a time
SLACK = 0.5  # of its share that a warp may have more, so that limbs stay whole
ORDERED = 2  # warps up to which operations are in the order of inputs: measured on forward dynamics

HEAD = """\
@liaison_block = external addrspace(3) global [0 x REAL], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
define ptx_kernel void @NAME(ARGUMENTS) #0 {
start:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %within = urem i32 %thread, WIDTH
  %whole = udiv i32 %thread, WIDTH
  %part = urem i32 %whole, WARPS
  %row = udiv i32 %whole, WARPS
  %rows = mul i32 %row, WIDTH
  %lane32 = add i32 %rows, %within
  %warp = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %part, i32 0, i32 31)
  %lane = zext i32 %lane32 to i64
  %block = zext i32 %block32 to i64
  %before = mul i64 %block, LANES
  %beyond = add i64 %before, %lane
  %last = sub i64 %count, 1
  %is.mine = icmp ult i64 %beyond, %count
  %i = select i1 %is.mine, i64 %beyond, i64 %last
  %own = getelementptr REAL, ptr addrspace(3) @liaison_block, i64 %lane
  switch i32 %warp, label %done [CASES]"""
TAIL = ("done:", "  ret void", "}")

Readers: TypeAlias = Mapping[str, Callable[[int], str]]


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """How a kernel is launched.

    Attributes:
        warps: that a state is divided among.
        lanes: states of a block, a multiple of 32 on a GPU.
        registers: of a thread, at most.
        numbers: of shared memory, of each state.
    """

    warps: int
    lanes: int = LANES
    registers: int = 255
    numbers: int = 0

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.warps * self.lanes

    def room(self, form: Form) -> int:
        """Values that the registers of a thread hold besides those in use."""
        return (self.registers - ADDRESSES) // (2 if form.real == "double" else 1) - IN_USE

    def bytes(self, form: Form) -> int:
        """Of shared memory, of a block."""
        return self.numbers * self.lanes * (8 if form.real == "double" else 4)


def block_module(
    module: DeviceModule, name: str, arguments: Iterable[str], warps: list[Warp]
) -> str:
    """The kernel made of what its warps do, and all that it calls."""
    shape = warps[0].shape
    cases = " ".join(f"i32 {k}, label %warp{k}" for k in range(shape.warps))
    head = HEAD.replace("ARGUMENTS", arguments_text(arguments, module.form)).replace("NAME", name)
    head = head.replace("CASES", cases).replace("REAL", module.form.real)
    sizes = {"LANES": shape.lanes, "WARPS": shape.warps, "WIDTH": min(LANES, shape.lanes)}
    head = reduce(lambda text, name: text.replace(name, str(sizes[name])), sizes, head)
    marks = [
        f'attributes #0 = {{ nounwind "nvvm.maxntid"="{shape.threads}" '
        f'"nvvm.maxnreg"="{shape.registers}" }}',
        "attributes #1 = { convergent nounwind }",
        "!8 = distinct !{!8, !9}",
        '!9 = !{!"llvm.loop.unroll.disable"}',
    ]
    bodies = [line for warp in warps for line in (*warp.lines, "  br label %done")]
    return "\n".join([head, *bodies, *TAIL, module.tail(), *marks, ""])


@final
class Warp:
    """Writes what one warp does.

    Args:
        module: collects what it calls.
        program: with the entries.
        shape: of the block.
        shared: arrays that are the same for all states.
        number: which warp it is.
    """

    def __init__(
        self,
        module: DeviceModule,
        program: Program,
        shape: Shape,
        shared: frozenset[str],
        number: int,
    ) -> None:
        self.module, self.program, self.shape, self.number = module, program, shape, number
        self.form = module.form
        self.block = f"warp{number}"
        self.memory = Memory(self.form, shared, f"w{number}m")
        self.lines = self.memory.lines = [f"warp{number}:"]
        self._count = self._bodies = 0

    def put(self, text: str) -> str:
        """Appends an instruction and names its value."""
        self._count += 1
        self.lines.append(f"  %w{self.number}n{self._count} = {text}")
        return f"%w{self.number}n{self._count}"

    def slot(self, number: int) -> str:
        """The address of a number in shared memory."""
        where = number * self.shape.lanes
        return self.put(f"getelementptr {self.form.kind}, {SHARED} %own, i64 {where}")

    def fetched(self, number: int) -> str:
        """A number of shared memory."""
        return self.put(f"load {self.form.kind}, {SHARED} {self.slot(number)}")

    def keep(self, number: int, value: str) -> None:
        """Writes a number of shared memory."""
        self.lines.append(f"  store {self.form.kind} {value}, {SHARED} {self.slot(number)}")

    def wait(self, number: int = 0, warps: int | None = None, *, waits: bool = True) -> None:
        """Comes to a barrier, the one of all if not said otherwise, and waits for the others."""
        threads = self.shape.lanes * (self.shape.warps if warps is None else warps)
        text = f"{'bar.sync' if waits else 'bar.arrive'} {number}, {threads};"
        self.lines.append(f'  call void asm sideeffect "{text}", "~{{memory}}"() #1')

    def run(
        self, divided: Division, first: int, read: Readers, *, writes: bool = False
    ) -> list[tuple[int, str]]:
        """This warp's share of an entry: (index, value) of its outputs.

        Args:
            divided: the entry.
            first: slot of shared memory.
            read: where the values of arrays come from, if not from the device's.
            writes: outputs go to the device's array as soon as they are there.
        """
        self._bodies += 1
        pieces, prefix = divided.pieces[self.number], f"w{self.number}b{self._bodies}."
        readers: dict[str, Callable[[int], str]] = {
            **{name: partial(self.memory.load, name) for name in ARRAYS},
            "work": lambda slot: self.fetched(first + slot),
            **read,
        }
        whole, none = Plan(pieces, divided.slots, divided.numbers), Piece((), {}, {}, ())
        thread = Thread(self.module, self.program, whole, none, readers, prefix, self.block)
        thread.lines, thread.memory = self.lines, _Stores(self, first, writes)
        outputs: list[tuple[int, str]] = []
        for phase, piece in enumerate(pieces):
            self._meet(divided, phase)
            thread.piece = piece
            values = thread.body().outputs
            outputs += zip((index for index, _ in piece.outputs), values, strict=True)
            _forget(thread, piece)
            self.memory.forget()
        self.block = thread.block
        return outputs

    def _meet(self, divided: Division, phase: int) -> None:
        """The barrier before a phase; beyond the number of barriers, that of all."""
        barrier = divided.barriers[phase]
        if phase > IDS and barrier.warps:
            self.wait()
        elif self.number in barrier.warps:
            self.wait(phase, len(barrier.warps), waits=self.number in barrier.readers)


def _forget(thread: Thread, piece: Piece) -> None:
    """What was read in a phase is read again in the next, and held in no register till then."""
    read = piece.loads.keys() | thread.numbers.keys()
    for node in [x for x in thread.names if x.op == "symbol" or x in read]:
        del thread.names[node]


@final
class _Stores:
    """Where a warp's results go: slots of shared memory, and outputs if they are to be written."""

    def __init__(self, warp: Warp, first: int, writes: bool) -> None:
        self.warp, self.first, self.writes = warp, first, writes

    def store(self, array: str, index: int, value: str) -> None:
        """One of them."""
        if array == "work":
            self.warp.keep(self.first + index, value)
        elif self.writes:
            self.warp.memory.store(array, index, value)


def evaluate_block(
    program: Program, entry: str, form: Form, shared: frozenset[str], shape: Shape
) -> tuple[str, Shape]:
    """IR of the kernel `evaluate`, with the arguments of `evaluate_ir`, and how it is launched.

    Args:
        program: with the entry.
        entry: its name.
        form: double or float.
        shared: arrays that are the same for all states.
        shape: warps, lanes and registers.
    """
    module = DeviceModule(form, tabled=True)
    outputs, room = program.entry(entry).outputs, shape.room(form)
    order = topological(outputs)
    angles = _angles(order, outputs, program, shared) if form.real == "float" else []
    inputs = _inputs(order, angles, program, shared, shape.warps)
    places = program.inputs if shape.warps <= ORDERED else None
    divided = division(
        outputs, shape.warps, room=room, inputs=places, laid=inputs.laid, slack=SLACK
    )
    whole = replace(shape, numbers=divided.slots)
    warps = [Warp(module, program, whole, shared, number) for number in range(shape.warps)]
    for warp in warps:
        _take(warp, inputs)
        warp.run(divided, 0, {}, writes=True)
    return block_module(module, "evaluate", EVALUATE, warps), whole


@final
@dataclass(frozen=True, slots=True)
class _Inputs:
    """What all warps of a block find in shared memory when they begin.

    Attributes:
        places: arrays and indices of inputs, each with the slot that it is read into.
        turning: the first so many slots are angles; a sine takes the place of its angle, and the
            cosine lies as far beyond.
        laid: slots of inputs, and of sines and cosines, by formula.
    """

    places: Mapping[tuple[str, int], int]
    turning: int
    laid: Mapping[Expr, int]


def _angles(
    order: Sequence[Expr], outputs: Sequence[Expr], program: Program, shared: frozenset[str]
) -> list[Expr]:
    """Inputs of which only sines and cosines are wanted."""
    wanted = {node.args[0]: True for node in order if node.op in TURNING}
    wanted |= dict.fromkeys(outputs, False)
    for node in order:
        if node.op not in TURNING:
            wanted |= dict.fromkeys(node.args, False)
    own = {x for x, (array, _) in program.inputs.items() if array not in shared}
    return [node for node, is_angle in wanted.items() if is_angle and node in own]


def _inputs(
    order: Sequence[Expr],
    angles: Sequence[Expr],
    program: Program,
    shared: frozenset[str],
    warps: int,
) -> _Inputs:
    """Inputs of formulas that are not the same for all states, and their slots."""
    here = [x for x in order if x.op == "symbol" and program.inputs[x][0] not in shared]
    turning = -(-len(angles) // (TURNS * warps)) * TURNS * warps
    slots = {x: k for k, x in enumerate(angles)}
    turns = [x for x in order if x.op in TURNING and x.args[0] in slots]
    laid = {x: slots[x.args[0]] + (turning if x.op == "cos" else 0) for x in turns}
    others = sorted((x for x in here if x not in slots), key=program.inputs.__getitem__)
    laid |= {x: 2 * turning + k for k, x in enumerate(others)}
    places = {program.inputs[x]: slot for x, slot in (slots | laid).items() if x.op == "symbol"}
    return _Inputs(places, turning, laid)


def _take(warp: Warp, inputs: _Inputs) -> None:
    """Reads a warp's share of the inputs into slots at once, and turns its angles."""
    warps = warp.shape.warps
    own = [x for x, slot in inputs.places.items() if slot % warps == warp.number]
    values = [warp.memory.load(*place) for place in own]
    for place, value in zip(own, values, strict=True):
        warp.keep(inputs.places[place], value)
    warp.memory.forget()
    for slot in sorted({*range(warp.number, inputs.turning, warps)} - {*inputs.places.values()}):
        warp.keep(slot, warp.form.number(0.0))
    if inputs.turning:
        _turn(warp, inputs.turning)
    warp.wait()


def _turn(warp: Warp, count: int) -> None:
    """A loop over a warp's angles, some at a time: sines in their places, cosines beyond."""
    loop, before, kind = f"warp{warp.number}turn", warp.block, warp.form.kind
    stride = warp.shape.threads
    warp.lines += [f"  br label %{loop}", f"{loop}:"]
    where = len(warp.lines)
    first = warp.put(f"mul i64 %{loop}k, {TURNS * stride}")
    first = warp.put(f"add i64 {first}, {warp.number * warp.shape.lanes}")
    first = warp.put(f"getelementptr {kind}, {SHARED} %own, i64 {first}")
    places = [
        warp.put(f"getelementptr {kind}, {SHARED} {first}, i64 {k * stride}") for k in range(TURNS)
    ]
    angles = [warp.put(f"load {kind}, {SHARED} {place}") for place in places]
    lines, pairs, warp.block = quick_sincos(f"{loop}s", angles, warp.form.real, loop)
    warp.lines += lines
    for place, (sine, cosine) in zip(places, pairs, strict=True):
        beyond = f"getelementptr {kind}, {SHARED} {place}, i64 {count * warp.shape.lanes}"
        warp.lines.append(f"  store {kind} {sine}, {SHARED} {place}")
        warp.lines.append(f"  store {kind} {cosine}, {SHARED} {warp.put(beyond)}")
    ahead = warp.put(f"add i64 %{loop}k, 1")
    more = warp.put(f"icmp ult i64 {ahead}, {count // (TURNS * warp.shape.warps)}")
    warp.lines.insert(where, f"  %{loop}k = phi i64 [0, %{before}], [{ahead}, %{warp.block}]")
    branch = f"  br i1 {more}, label %{loop}, label %{loop}ed, !llvm.loop !8"
    warp.lines += [branch, f"{loop}ed:"]
    warp.block = f"{loop}ed"
