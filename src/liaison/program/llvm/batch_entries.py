"""Entries over many states as LLVM IR: the same plan on vectors, and the loop around it.

Lane k of every value belongs to state i + k. An array lies component by component (structure of
arrays), so that a vector is one load; an array that all states share is read once and spread.
The last vector is shifted back to end with the last state: states it has in common with the one
before are computed twice, to the same bits, and no masks are needed.

Public names: batch_ir, Variant, FIELDS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.expr import Expr
from liaison.program.plan import Item, Piece, Plan
from liaison.program.program import ARRAYS, Program

from .entries import Form, Module, Writer

POINTERS = (*ARRAYS, "out", "work")
STRIDED = ("q", "v", "u", "p", "x", "out")
FIELDS = ("count", *POINTERS, *(f"{name} stride" for name in STRIDED))
"""What the record holds that a batch function is given, each in eight bytes."""

_NOALIAS = [f"ptr noalias {'' if n in ('out', 'work') else 'readonly '}%{n}" for n in POINTERS]
ARGUMENTS = ", ".join([*_NOALIAS, *(f"i64 %{name}.stride" for name in STRIDED)])


@final
@dataclass(frozen=True, slots=True)
class Variant:
    """How the arrays of a batch lie.

    Attributes:
        shared: arrays that are the same for all states, shape (size,).
        is_streaming: results are written past the caches: they are many, and every vector of
            them begins at a multiple of its size.
    """

    shared: frozenset[str] = frozenset()
    is_streaming: bool = False


def batch_ir(program: Program, made: Plan, name: str, lanes: int, variant: Variant) -> str:
    """IR text of a module with the function `void name(record)`, see FIELDS.

    Args:
        program: with the planned entry.
        made: the plan, sines and cosines of each angle by themselves.
        name: of the function.
        lanes: doubles in a vector.
        variant: how the arrays lie.
    """
    module = Module()
    parts = [f"@{name}.{k}" for k in range(len(made.pieces))]
    bodies = [
        _Writer(module, program, made, piece, Form(lanes), variant).function(
            f"define internal void {part}({ARGUMENTS}) noinline"
        )
        for part, piece in zip(parts, made.pieces, strict=True)
    ]
    loop = _loop(name, parts, lanes, variant)
    return "\n".join([*module.declarations(), *bodies, *loop, module.tail(), "!1 = !{i32 1}", ""])


class _Writer(Writer):
    """Writes the function of one piece, for a vector of states."""

    def __init__(
        self,
        module: Module,
        program: Program,
        made: Plan,
        piece: Piece,
        form: Form,
        variant: Variant,
    ) -> None:
        super().__init__(module, program, made, piece)
        self.form = form
        self.shared = variant.shared
        self.is_streaming = variant.is_streaming

    def clear(self, outputs: dict[Expr, list[int]]) -> None:
        """Outputs that are numbers are the caller's to write."""
        for node in [node for node in outputs if node in self.numbers]:
            del outputs[node]

    def place(self, array: str, index: int) -> str:
        """The address of a vector: components are a stride apart, the workspace has its own."""
        if index == 0:
            return f"%{array}"
        if array in self.shared:
            return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {index}")
        if array == "work":
            return self.put(f"getelementptr inbounds {self.form.kind}, ptr %work, i64 {index}")
        offset = self.put(f"mul nsw i64 %{array}.stride, {index}")
        return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {offset}")

    def store(self, array: str, index: int, value: str) -> None:
        """Into an array, past the caches where the results are streamed."""
        form, place = self.form, self.place(array, index)
        is_streamed = self.is_streaming and array == "out"
        how = f"align {8 * form.lanes}, !nontemporal !1" if is_streamed else "align 8"
        self.lines.append(f"  store {form.kind} {value}, ptr {place}, {how}")

    def load(self, array: str, index: int) -> str:
        """A vector, or one double in every lane."""
        kind, place = self.form.kind, self.place(array, index)
        if array not in self.shared:
            return self.put(f"load {kind}, ptr {place}, align 8")
        one = self.put(f"load double, ptr {place}, align 8")
        if self.form.lanes == 1:
            return one
        first = self.put(f"insertelement {kind} poison, double {one}, i32 0")
        everywhere = f"<{self.form.lanes} x i32> zeroinitializer"
        return self.put(f"shufflevector {kind} {first}, {kind} poison, {everywhere}")

    def turn(self, item: Item) -> None:
        """Sine and cosine of one angle of every state."""
        found = self.turned(self.operand(item[0].args[0]), self.form.lanes)
        for node in item:
            self.names[node] = found[node.op == "cos"]


def _loop(name: str, parts: list[str], lanes: int, variant: Variant) -> list[str]:
    """The function of the record: vector after vector, the last one shifted back."""
    lines = [f"define void @{name}(ptr %record) nounwind {{", "entry:"]
    for k, field in enumerate(FIELDS):
        kind = "ptr" if field in POINTERS else "i64"
        lines.append(f"  %f{k} = getelementptr inbounds i64, ptr %record, i64 {k}")
        lines.append(f"  %a{k} = load {kind}, ptr %f{k}, align 8")
    lines += [
        f"  %last = sub i64 %a0, {lanes}",
        "  br label %next",
        "next:",
        "  %i = phi i64 [0, %entry], [%ahead, %next]",
        "  %before = icmp slt i64 %i, %last",
        "  %at = select i1 %before, i64 %i, i64 %last",
    ]
    passed = []
    for k, field in enumerate(FIELDS[1:], 1):
        fixed = field in variant.shared or field == "work" or field not in POINTERS
        if not fixed:
            lines.append(f"  %p{k} = getelementptr inbounds double, ptr %a{k}, i64 %at")
        kind = "ptr" if field in POINTERS else "i64"
        passed.append(f"{kind} %{'a' if fixed else 'p'}{k}")
    lines += [f"  call void {part}({', '.join(passed)})" for part in parts]
    return [
        *lines,
        f"  %ahead = add i64 %i, {lanes}",
        "  %more = icmp slt i64 %ahead, %a0",
        "  br i1 %more, label %next, label %done",
        "done:",
        *(["  fence seq_cst"] if variant.is_streaming else []),
        "  ret void",
        "}",
    ]
