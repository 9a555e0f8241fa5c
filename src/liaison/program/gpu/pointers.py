"""Entries of a program as functions of a device's module, from pointers to pointers.

They are what loops call: `liaison_entry_terms(t, q, v, u, p, x, out, work)`.

Public names: entry_text, functions_text, numbers_of, work_size, PIECE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import final

from liaison.program.llvm.entries import Form
from liaison.program.plan import Piece, Plan, plan
from liaison.program.program import ARRAYS, Entry, Program

from .thread import ANGLES, DeviceModule, Thread, chained

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
    is_called: bool = True,
) -> str:
    """IR of an entry: one function, or several that it calls one after the other.

    Args:
        module: that it is written for.
        program: of the entry.
        entry: its name.
        symbol: of the function.
        varying: results that are numbers are not written: they lie there already.
        is_called: it stays a function of its own; else it may be written where it is called.
    """
    form = module.form
    outputs = chained(program.entry(entry).outputs)
    single = Program(program.name, {entry: Entry(entry, outputs)}, program.inputs)
    entry_plan = plan(single, entry, lanes=ANGLES, size=PIECE[form.real])
    pieces = tuple(map(_varying, entry_plan.pieces)) if varying else entry_plan.pieces
    if len(pieces) == 1:
        return _function(module, program, entry_plan, pieces[0], symbol, is_called)
    names = [f"{symbol}.{k}" for k in range(len(pieces))]
    parts = [
        _function(module, program, entry_plan, piece, name, is_called)
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
    is_called: bool,
) -> str:
    """One piece: values are read when they are needed and written when they are there."""
    memory = _Pointers(module.form)
    thread = Thread(module, program, entry_plan, piece, memory.loads(), "n", "entry")
    memory.lines = thread.lines
    thread.memory = memory
    lines = thread.body().lines
    marked = _arguments(module.form).replace("ptr", "ptr noalias")
    mark = "noinline " if is_called else ""
    head = f"define internal void @{symbol}({marked}) {mark}nounwind {{"
    return "\n".join([head, "entry:", *lines, "  ret void", "}"])


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
