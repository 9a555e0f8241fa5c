"""Entries of a program as functions of a device's module, from pointers to pointers.

They are what loops call: `liaison_entry_terms(t, q, v, u, p, x, out, work)`.

Straight entries have no branches: the device's estimates take the place of exact functions.

    1/x, 1/√x:  an estimate y, e = 1 − x y or 1 − x y², and y + y (e + e²) or y + y e (½ + ⅜ e)
    a/b = q + (a − b q)/b,   q = a (1/b)

within 2 units in the last place. Exact quotients and roots of a device have a branch each for what
is beyond the normal range, and sines one for far angles: values that are alive across it are kept
in memory. In a straight entry what is beyond is NaN, and whoever calls it takes another way where a
result is.

Public names: StraightThread, entry_text, functions_text, numbers_of, numbers_read, work_size,
PIECE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import final

from liaison.expr import Expr, topological
from liaison.program.llvm.entries import Form
from liaison.program.plan import Item, Piece, Plan, plan
from liaison.program.program import ARRAYS, Entry, Program

from .functions import near_sincos
from .order import chained
from .thread import ANGLES, DeviceModule, Thread

PIECE = {"double": 1500, "float": 6000}
"""Operations in a function, about: registers are given out for each function."""

NAMES = ("q", "v", "u", "p", "x", "out", "work")


def entry_text(
    module: DeviceModule,
    program: Program,
    entry: str,
    symbol: str,
    *,
    varying: bool = False,
    mark: str = "noinline",
    straight: bool = False,
) -> str:
    """IR of an entry: one function, or several that it calls one after the other.

    Args:
        module: that it is written for.
        program: of the entry.
        entry: its name.
        symbol: of the function.
        varying: results that are numbers are not written: they lie there already.
        mark: "noinline" if it stays a function of its own, "alwaysinline" if it is written where it
            is called; "" leaves that to the compiler.
        straight: by estimates without branches, NaN beyond the range of these.
    """
    form = module.form
    outputs = chained(program.entry(entry).outputs)
    single = Program(program.name, {entry: Entry(entry, outputs)}, program.inputs)
    entry_plan = plan(single, entry, lanes=ANGLES, size=PIECE[form.real])
    pieces = tuple(map(_varying, entry_plan.pieces)) if varying else entry_plan.pieces
    if len(pieces) == 1:
        return _function(module, program, entry_plan, pieces[0], symbol, mark, straight)
    names = [f"{symbol}.{k}" for k in range(len(pieces))]
    parts = [
        _function(module, program, entry_plan, piece, name, mark, straight)
        for name, piece in zip(names, pieces, strict=True)
    ]
    calls = [f"  call void @{name}({_arguments(form)})" for name in names]
    head = f"define internal void @{symbol}({_arguments(form)}) nounwind {{"
    return "\n".join([*parts, head, *calls, "  ret void", "}"])


def _varying(piece: Piece) -> Piece:
    """The same without results that are numbers."""
    return replace(piece, outputs=tuple(x for x in piece.outputs if x[1].op != "const"))


def numbers_of(program: Program, entry: str) -> dict[int, float]:
    """Place -> number, of results of an entry that are the same at every state."""
    outputs = chained(program.entry(entry).outputs)
    return {k: float(x.value) for k, x in enumerate(outputs) if x.op == "const"}


def numbers_read(program: Program, entry: str, array: str) -> int:
    """Numbers of an array that an entry reads, up to the last of them."""
    nodes = topological(program.entry(entry).outputs)
    places = [program.inputs[x] for x in nodes if x in program.inputs]
    return 1 + max([i for name, i in places if name == array], default=-1)


def work_size(program: Program, entry: str, form: Form) -> int:
    """Numbers that pass between the pieces of an entry."""
    outputs = chained(program.entry(entry).outputs)
    single = Program(program.name, {entry: Entry(entry, outputs)}, program.inputs)
    return plan(single, entry, lanes=ANGLES, size=PIECE[form.real]).work_size


def _arguments(form: Form) -> str:
    return ", ".join([f"{form.kind} %t", *(f"ptr %{name}" for name in NAMES)])


def _function(
    module: DeviceModule,
    program: Program,
    entry_plan: Plan,
    piece: Piece,
    symbol: str,
    mark: str,
    straight: bool,
) -> str:
    """One piece: values are read when they are needed and written when they are there."""
    memory = _Pointers(module.form)
    kind = StraightThread if straight else Thread
    thread = kind(module, program, entry_plan, piece, memory.loads(), "n", "entry")
    memory.lines = thread.lines
    thread.memory = memory
    lines = thread.body().lines
    marked = _arguments(module.form).replace("ptr", "ptr noalias")
    head = f"define internal void @{symbol}({marked}) {mark} nounwind {{"
    return "\n".join([head, "entry:", *lines, "  ret void", "}"])


@final
class StraightThread(Thread):
    """Writes an entry for one thread; no branch is taken in it."""

    def turn(self, item: Item) -> None:
        """Sines and cosines of several angles, NaN of those that are far."""
        self.count += 1
        angles = list(dict.fromkeys(node.args[0] for node in item))
        tag, xs = f"{self.prefix}s{self.count}", [self.operand(angle) for angle in angles]
        lines, pairs = near_sincos(tag, xs, self.form.real)
        self.lines += lines
        for node in item:
            sine, cosine = pairs[angles.index(node.args[0])]
            self.names[node] = sine if node.op == "sin" else cosine

    def item(self, item: Item) -> None:
        """One operation; quotients and inverse roots by estimates."""
        node = item[0]
        if node.op != "div" or not self.device.estimates:
            super().item(item)
        elif self.numbers.get(node.args[0]) == 1.0 and node.args[1].op == "sqrt":
            self.names[node] = self.inverse_root(self.operand(node.args[1].args[0]))
        elif self.numbers.get(node.args[0]) == 1.0:
            self.names[node] = self.inverse(self.operand(node.args[1]))
        else:
            self.names[node] = self.quotient(*node.args)

    def quotient(self, over: Expr, under: Expr) -> str:
        """a/b by the inverse of b, and once more by what is left."""
        a, b = self.operand(over), self.operand(under)
        y = self.inverse(b)
        q = self.put(f"fmul {self.form.kind} {a}, {y}")
        minus = self.put(f"fneg {self.form.kind} {b}")
        return self.fused(self.fused(minus, q, a), y, q)

    def inverse_root(self, x: str) -> str:
        """1/√x."""
        kind, bits = self.form.kind, self.form.real[0]
        one, half, more = map(self.form.number, (1.0, 0.5, 0.375))
        y = self.put(f"call {kind} @llvm.nvvm.rsqrt.approx.ftz.{bits}({kind} {x})")
        minus = self.put(f"fneg {kind} {self.put(f'fmul {kind} {x}, {y}')}")
        e = self.fused(minus, y, one)
        part = self.put(f"fmul {kind} {y}, {e}")
        return self.fused(part, self.fused(e, more, half), y)


@final
class _Pointers:
    """Where an entry finds what it reads: behind its arguments."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.lines: list[str] = []
        self._count = 0
        self._known: dict[tuple[str, int], str] = {}

    def loads(self) -> dict[str, Callable[[int], str]]:
        """Loads, for a writer; each place is read once."""
        return {name: partial(self.load, name) for name in (*ARRAYS, "work")}

    def load(self, array: str, index: int) -> str:
        """A value, which no store of this piece changes."""
        if array == "t":
            return "%t"
        if (array, index) not in self._known:
            place = self._place(array, index)
            self._known[array, index] = self._put(f"load {self.form.kind}, ptr {place}")
        return self._known[array, index]

    def store(self, array: str, index: int, value: str) -> None:
        """A result."""
        place = self._place(array, index)
        self.lines.append(f"  store {self.form.kind} {value}, ptr {place}")

    def _place(self, array: str, index: int) -> str:
        return self._put(f"getelementptr inbounds {self.form.kind}, ptr %{array}, i64 {index}")

    def _put(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %m{self._count} = {text}")
        return f"%m{self._count}"


def functions_text(module: DeviceModule, names: Iterable[str]) -> str:
    """Functions that loops call by their names in C, in the module's numbers."""
    return "\n".join(_named(module, name) for name in names)


def _named(module: DeviceModule, name: str) -> str:
    kind = module.form.real
    letters = "xy" if name in ("atan2", "pow") else "x"
    lines, passed = [], []
    for letter in letters:
        wide = f"%{letter}"
        if kind == "float":
            wide = f"%{letter}.wide"
            lines.append(f"  {wide} = fpext float %{letter} to double")
        passed.append(f"double {wide}")
    if name in ("sin", "cos"):
        pair = "{double, double}"
        lines.append(f"  %both = call {pair} @liaison_sincos_any({passed[0]})")
        lines.append(f"  %r = extractvalue {pair} %both, {0 if name == 'sin' else 1}")
    else:
        lines.append(f"  %r = call double @{module.ask(name)}({', '.join(passed)})")
    lines.append("  %s = fptrunc double %r to float" if kind == "float" else "")
    arguments = ", ".join(f"{kind} %{letter}" for letter in letters)
    result = "%s" if kind == "float" else "%r"
    head = f"define internal {kind} @{name}({arguments}) nounwind {{"
    return "\n".join([head, *filter(None, lines), f"  ret {kind} {result}", "}"])
