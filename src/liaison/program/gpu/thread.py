"""One thread of a GPU: an entry as instructions on registers, and where its state lies in memory.

There is no libm on the device and no libdevice is asked for: what entries call is written here.

Public names: DeviceModule, Body, Memory, Stores, Thread, body_of, written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias, final

from liaison.errors import ProgramError
from liaison.expr import Expr
from liaison.program.llvm.entries import LIBM, Form, Module, Writer
from liaison.program.llvm.sincos import double
from liaison.program.plan import Item, Piece, Plan, plan
from liaison.program.program import ARRAYS, Entry, Program

from .functions import FUNCTIONS, any_function, far_function, quick_sincos
from .order import chained, compact


class Stores(Protocol):
    """Where results go."""

    def store(self, array: str, index: int, value: str) -> None:
        """One of them."""


Readers: TypeAlias = Mapping[str, Callable[[int], str]]
"""Array -> the operand of its value with an index."""

GLOBAL, LOCAL, CONSTANT = "ptr addrspace(1)", "ptr addrspace(5)", "ptr addrspace(4)"
TABLED = 8000  # doubles in constant memory, at most
WHOLE = 10**9  # operations: never cut
ANGLES = 8  # sines and cosines with one branch for those that are far


class DeviceModule(Module):
    """What the kernels of a module share.

    Args:
        form: double or float.
        estimates: inverses begin with the device's estimate; processors have none.
        tabled: numbers that do not fit into an instruction lie in constant memory, which makes
            the code shorter.
    """

    def __init__(self, form: Form, *, estimates: bool = True, tabled: bool = False) -> None:
        super().__init__()
        self.form, self.estimates = form, estimates
        self.most = TABLED if tabled and form.real == "double" else 0
        self.table: dict[str, int] = {}
        self.functions: set[str] = set()

    def declarations(self) -> list[str]:
        """Nothing is made elsewhere."""
        return []

    def tail(self) -> str:
        """The functions and tables that were asked for."""
        used = [FUNCTIONS[name] for name in FUNCTIONS if name in self.functions]
        numbers = ", ".join(f"double {number}" for number in self.table)
        size = f"[{len(self.table)} x double]"
        table = [f"@liaison_numbers = internal addrspace(4) global {size} [{numbers}]"]
        parts = [super().tail(), far_function(), any_function(), *used]
        return "\n".join([*parts, *(table if self.table else [])])

    def place(self, number: float) -> int | None:
        """Where a number lies in the table; none where it is better left in the code."""
        text = double(number)
        if int(text, 16) % (1 << 32) == 0 or len(self.table) >= self.most:
            return self.table.get(text)
        return self.table.setdefault(text, len(self.table))

    def ask(self, name: str) -> str:
        """A function of doubles by its name on the device, with all that it calls."""
        if name not in FUNCTIONS:
            raise ProgramError(
                f"the function {name!r} has no form for a GPU.",
                hint="to_llvm(program).batch evaluates it on the processor.",
            )
        if name not in self.functions:
            self.functions.add(name)
            for other in FUNCTIONS:
                if f"@liaison_{other}(" in FUNCTIONS[name]:
                    self.ask(other)
        return f"liaison_{name}"


@final
@dataclass(frozen=True, slots=True)
class Body:
    """An entry as instructions, the operands of its outputs, and the block it ends in."""

    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    block: str


def body_of(
    module: DeviceModule, program: Program, entry: str, read: Readers, prefix: str, block: str
) -> Body:
    """An entry for one thread, its outputs in registers and its sums as chains.

    Args:
        module: collects what it calls.
        program: with the entry.
        entry: its name.
        read: where the values of arrays come from.
        prefix: of every name made here, unique in the function.
        block: label of the block these lines are appended to.
    """
    outputs = chained(program.entry(entry).outputs)
    single = Program(program.name, {entry: Entry(entry, outputs)}, program.inputs)
    entry_plan = plan(single, entry, lanes=ANGLES, size=WHOLE)
    return Thread(module, program, entry_plan, entry_plan.pieces[0], read, prefix, block).body()


def written(
    module: DeviceModule, program: Program, entry_plan: Plan, piece: Piece, memory: Memory
) -> str:
    """A piece of an entry from memory to memory.

    Of an entry in one piece all loads come first, so that a thread waits for them once. Of one that
    is cut, values are read when they are needed and written when they are there.
    """
    thread = Thread(module, program, entry_plan, piece, memory.loads(), "n", "entry")
    if len(entry_plan.pieces) > 1:
        memory.lines = thread.lines
        thread.memory = memory
        return "\n".join(thread.body().lines)
    body = thread.body()
    loads = memory.taken()
    for (index, _), value in zip(piece.outputs, body.outputs, strict=True):
        memory.store("out", index, value)
    return "\n".join([*loads, *body.lines, *memory.taken()])


class Thread(Writer):
    """Writes an entry for one thread; outputs stay in registers."""

    def __init__(
        self,
        module: DeviceModule,
        program: Program,
        entry_plan: Plan,
        piece: Piece,
        read: Readers,
        prefix: str,
        block: str,
    ) -> None:
        super().__init__(module, program, entry_plan, replace(piece, items=compact(piece)))
        self.device, self.form = module, module.form
        self.loads, self.prefix, self.block = read, prefix, block
        self.memory: Stores | None = None

    def body(self) -> Body:
        """All instructions; with a memory, results are written as soon as they are there."""
        places_of: dict[Expr, list[int]] = {}
        for index, node in self.piece.outputs:
            places_of.setdefault(node, []).append(index)
        for item in self.piece.items:
            self.item(item)
            for node in item:
                self.keep(node, places_of.pop(node, ()))
        for node, places in places_of.items():
            self.keep(node, places)
        outputs = tuple(self.operand(node) for _, node in self.piece.outputs)
        return Body(tuple(self.lines), outputs, self.block)

    def store(self, array: str, index: int, value: str) -> None:
        """Into memory, if there is one."""
        if self.memory is not None:
            self.memory.store(array, index, value)

    def put(self, text: str) -> str:
        """Appends an instruction and names its value."""
        self.count += 1
        self.lines.append(f"  %{self.prefix}{self.count} = {text}")
        return f"%{self.prefix}{self.count}"

    def load(self, array: str, index: int) -> str:
        """From wherever the caller keeps it."""
        return self.loads[array](index)

    def fetched(self, node: Expr) -> str:
        """A number, from the table if it is there, or a value from wherever the caller keeps it."""
        place = self.device.place(self.numbers[node]) if node in self.numbers else None
        if place is None:
            return super().fetched(node)
        table = self.put(f"getelementptr double, {CONSTANT} @liaison_numbers, i64 {place}")
        return self.put(f"load double, {CONSTANT} {table}")

    def turn(self, item: Item) -> None:
        """Sines and cosines of several angles."""
        self.count += 1
        angles = list(dict.fromkeys(node.args[0] for node in item))
        tag, xs = f"{self.prefix}s{self.count}", [self.operand(angle) for angle in angles]
        lines, pairs, self.block = quick_sincos(tag, xs, self.form.real, self.block)
        self.lines += lines
        for node in item:
            sine, cosine = pairs[angles.index(node.args[0])]
            self.names[node] = sine if node.op == "sin" else cosine

    def item(self, item: Item) -> None:
        """One operation; 1/x by the device's estimate of it and Newton's iteration."""
        node = item[0]
        if node.op == "div" and self.numbers.get(node.args[0]) == 1.0:
            self.names[node] = self.inverse(self.operand(node.args[1]))
        else:
            super().item(item)

    def inverse(self, x: str) -> str:
        """y + y (e + e²) with e = 1 − x y from an estimate y, then once more with e alone.

        Inverses of numbers beyond the normal range are 0, infinite or NaN.
        """
        kind, bits = self.form.kind, self.form.real[0]
        one, minus = self.form.number(1.0), self.put(f"fneg {kind} {x}")
        if not self.device.estimates:
            return self.put(f"fdiv {kind} {one}, {x}")
        y = self.put(f"call {kind} @llvm.nvvm.rcp.approx.ftz.{bits}({kind} {x})")
        e = self.fused(minus, y, one)
        y = self.fused(y, self.fused(e, e, e), y)
        return y if bits == "f" else self.fused(y, self.fused(minus, y, one), y)

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        kind, bits = self.form.kind, 64 if self.form.real == "double" else 32
        return self.put(f"call {kind} @llvm.fma.f{bits}({kind} {a}, {kind} {b}, {kind} {c})")

    def call(self, name: str, *args: str) -> str:
        """A function of doubles, which floats are widened for."""
        name = self.device.ask(name) if name in LIBM else name
        if self.form.real == "double":
            return super().call(name, *args)
        wide = [self.put(f"fpext float {arg} to double") for arg in args]
        passed = ", ".join(f"double {arg}" for arg in wide)
        value = self.put(f"call double @{name}({passed})")
        return self.put(f"fptrunc double {value} to float")


@final
class Memory:
    """Where the state of thread %i lies: component by component, a stride apart.

    Args:
        form: double or float.
        shared: arrays that are the same for all states.
        prefix: of every name made here, unique in the function.
    """

    def __init__(self, form: Form, shared: frozenset[str], prefix: str = "m") -> None:
        self.form, self.shared, self.prefix = form, shared, prefix
        self.lines: list[str] = []
        self._count = 0
        self._known: dict[tuple[str, int], str] = {}

    def loads(self) -> dict[str, Callable[[int], str]]:
        """Loads, for a writer; each place is read once."""
        return {name: partial(self.load, name) for name in (*ARRAYS, "work")}

    def taken(self) -> list[str]:
        """The lines up to now, which are then no longer kept."""
        lines, self.lines = self.lines, []
        return lines

    def forget(self) -> None:
        """Places that were read are read again."""
        self._known.clear()

    def load(self, array: str, index: int) -> str:
        """A value of this thread's state."""
        if (array, index) not in self._known:
            place, space = self._place(array, index), LOCAL if array == "work" else GLOBAL
            self._known[array, index] = self._put(f"load {self.form.kind}, {space} {place}")
        return self._known[array, index]

    def store(self, array: str, index: int, value: str) -> None:
        """A result of this thread's state."""
        place, space = self._place(array, index), LOCAL if array == "work" else GLOBAL
        self.lines.append(f"  store {self.form.kind} {value}, {space} {place}")

    def _place(self, array: str, index: int) -> str:
        where = str(index)
        if array == "work":
            return self._put(f"getelementptr inbounds {self.form.kind}, {LOCAL} %work, i64 {where}")
        if array not in self.shared:
            where = self._put(f"mul i64 %{array}.stride, {index}") if index else "0"
            where = self._put(f"add i64 {where}, %i")
        return self._put(f"getelementptr inbounds {self.form.kind}, {GLOBAL} %{array}, i64 {where}")

    def _put(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %{self.prefix}{self._count} = {text}")
        return f"%{self.prefix}{self._count}"
