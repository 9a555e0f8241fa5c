"""One thread of a GPU: an entry as instructions on registers, and where its state lies in memory.

There is no libm on the device and no libdevice is asked for: what entries call is written here.

Public names: DeviceModule, Body, Memory, body_of, STATES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, final

from liaison.errors import ProgramError

from .chained import chained
from .compact import compact
from .entry_ir import LIBM, Form, Module, Writer
from .functions_gpu import FUNCTIONS
from .plan import Item, Plan, plan
from .program import ARRAYS, Entry, Program
from .sincos_gpu import any_function, far_function, quick_sincos

Given: TypeAlias = Mapping[str, Callable[[int], str]]
"""Array -> the operand of its value with an index."""

GLOBAL = "ptr addrspace(1)"
ANGLES = 8  # sines and cosines with one branch for those that are far


class DeviceModule(Module):
    """What the kernels of a module share."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self.form = form
        self.functions: set[str] = set()

    def declarations(self) -> list[str]:
        """Nothing is made elsewhere."""
        return []

    def tail(self) -> str:
        """The functions and tables that were asked for."""
        asked = [FUNCTIONS[name] for name in FUNCTIONS if name in self.functions]
        return "\n".join([super().tail(), far_function(), any_function(), *asked])

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
    module: DeviceModule,
    program: Program,
    entry: str,
    given: Given,
    prefix: str,
    block: str,
    *,
    is_chained: bool = False,
) -> Body:
    """An entry for one thread.

    Args:
        module: collects what it calls.
        program: with the entry.
        entry: its name.
        given: where the values of arrays come from.
        prefix: of every name made here, unique in the function.
        block: label of the block these lines are appended to.
        is_chained: write sums as chains, for kernels that wait for arithmetic and not for memory.
    """
    outputs = program.entry(entry).outputs
    outputs = chained(outputs) if is_chained else outputs
    kept = Program(program.name, {entry: Entry(entry, outputs)}, program.inputs)
    made = plan(kept, entry, lanes=ANGLES, size=10**9)
    return _Thread(module, program, made, given, prefix, block).body()


class _Thread(Writer):
    """Writes an entry for one thread; outputs stay in registers."""

    def __init__(
        self,
        module: DeviceModule,
        program: Program,
        made: Plan,
        given: Given,
        prefix: str,
        block: str,
    ) -> None:
        piece = made.pieces[0]
        super().__init__(module, program, made, replace(piece, items=compact(piece)))
        self.device, self.form = module, module.form
        self.given, self.prefix, self.block = given, prefix, block

    def body(self) -> Body:
        """All instructions."""
        for item in self.piece.items:
            self.item(item)
        outputs = tuple(self.operand(node) for _, node in self.piece.outputs)
        return Body(tuple(self.lines), outputs, self.block)

    def put(self, text: str) -> str:
        """Appends an instruction and names its value."""
        self.count += 1
        self.lines.append(f"  %{self.prefix}{self.count} = {text}")
        return f"%{self.prefix}{self.count}"

    def load(self, array: str, index: int) -> str:
        """From wherever the caller keeps it."""
        return self.given[array](index)

    def turn(self, item: Item) -> None:
        """Sines and cosines of several angles."""
        self.count += 1
        angles = list(dict.fromkeys(node.args[0] for node in item))
        tag, xs = f"{self.prefix}s{self.count}", [self.operand(angle) for angle in angles]
        lines, found, self.block = quick_sincos(tag, xs, self.form.real, self.block)
        self.lines += lines
        for node in item:
            sine, cosine = found[angles.index(node.args[0])]
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
    """

    def __init__(self, form: Form, shared: frozenset[str]) -> None:
        self.form, self.shared = form, shared
        self.lines: list[str] = []
        self._count = 0
        self._known: dict[tuple[str, int], str] = {}

    def given(self) -> dict[str, Callable[[int], str]]:
        """Loads, for a writer; each place is read once."""
        return {name: partial(self.load, name) for name in ARRAYS}

    def taken(self) -> list[str]:
        """The lines up to now, which are then no longer kept."""
        lines, self.lines = self.lines, []
        return lines

    def load(self, array: str, index: int) -> str:
        """A value of this thread's state."""
        if (array, index) not in self._known:
            place = self._place(array, index)
            self._known[array, index] = self._put(f"load {self.form.kind}, {GLOBAL} {place}")
        return self._known[array, index]

    def store(self, array: str, index: int, value: str) -> None:
        """A result of this thread's state."""
        place = self._place(array, index)
        self.lines.append(f"  store {self.form.kind} {value}, {GLOBAL} {place}")

    def _place(self, array: str, index: int) -> str:
        where = str(index)
        if array not in self.shared:
            where = self._put(f"mul i64 %{array}.stride, {index}") if index else "0"
            where = self._put(f"add i64 {where}, %i")
        return self._put(f"getelementptr inbounds {self.form.kind}, {GLOBAL} %{array}, i64 {where}")

    def _put(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %m{self._count} = {text}")
        return f"%m{self._count}"
