"""Entries over as many states as a register has lanes, with the signature of every entry.

Every array but t has `lanes` doubles in the place of each one, those of component k at k × lanes:
component by component, a state a lane. Time is one number for all of them. The plan is that of one
state, pieces and groups of angles too, so that the same products and sums are fused, and a lane has
the bits of the entry of one state, whatever its neighbours are.

Public names: LaneCode, lanes_ir.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from liaison.program.plan import Item, Piece, Plan
from liaison.program.program import Program

from .entries import ARGUMENTS, NATIVE, PASSED, Arithmetic, Form, Module, Writer
from .sincos import turned_together


@final
@dataclass(frozen=True, slots=True)
class LaneCode:
    """Machine code of entries over the lanes of a register.

    Attributes:
        addresses: of each entry, by its name.
        lanes: states computed at once.
        work_size: doubles of workspace that the largest of them wants.
        owner: keeps the code alive.
    """

    addresses: Mapping[str, int]
    lanes: int
    work_size: int
    owner: Any


def lanes_ir(
    program: Program, plans: Mapping[str, Plan], lanes: int, arithmetic: Arithmetic = NATIVE
) -> str:
    """IR text of a module: one function for each plan, by name, and those it is cut into."""
    module = Module(arithmetic)
    bodies = [_functions(module, name, program, x, lanes) for name, x in plans.items()]
    return "\n".join([*module.declarations(), *bodies, module.tail(), ""])


def _functions(module: Module, name: str, program: Program, entry_plan: Plan, lanes: int) -> str:
    """The function of an entry, and those it is cut into."""
    if len(entry_plan.pieces) == 1:
        writer = _Writer(module, program, entry_plan, entry_plan.pieces[0], lanes)
        return writer.function(f"define void @{name}({ARGUMENTS})")
    names = [f"@{name}.{k}" for k in range(len(entry_plan.pieces))]
    parts = [
        _Writer(module, program, entry_plan, piece, lanes).function(
            f"define internal void {part}({ARGUMENTS}) noinline"
        )
        for part, piece in zip(names, entry_plan.pieces, strict=True)
    ]
    calls = [f"  call void {part}({PASSED})" for part in names]
    whole = [f"define void @{name}({ARGUMENTS}) nounwind {{", *calls, "  ret void", "}"]
    return "\n".join([*parts, *whole])


class _Writer(Writer):
    """Writes the function of one piece, for a state a lane."""

    def __init__(
        self, module: Module, program: Program, entry_plan: Plan, piece: Piece, lanes: int
    ) -> None:
        super().__init__(module, program, entry_plan, piece)
        self.form = replace(Form(lanes), contract=module.arithmetic.contract)

    def place(self, array: str, index: int) -> str:
        """The address of a vector."""
        offset = index * self.form.lanes
        return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {offset}")

    def load(self, array: str, index: int) -> str:
        """A vector; time in every lane."""
        kind, lanes = self.form.kind, self.form.lanes
        if array != "t":
            return self.put(f"load {kind}, ptr {self.place(array, index)}, align 8")
        if lanes == 1:
            return "%t"
        first = self.put(f"insertelement {kind} poison, double %t, i32 0")
        everywhere = f"<{lanes} x i32> zeroinitializer"
        return self.put(f"shufflevector {kind} {first}, {kind} poison, {everywhere}")

    def turn(self, item: Item) -> None:
        """Sines and cosines of several angles of every state, with one branch for all."""
        angles = list(dict.fromkeys(node.args[0] for node in item))
        lanes, sincos = self.form.lanes, self.module.arithmetic.sincos
        operands = [self.operand(x) for x in angles]
        self.module.lanes.add(lanes)
        self.count += 1
        writers = [sincos(f"s{self.count}.{k}", lanes) for k in range(len(angles))]
        lines, turned, self.block = turned_together(writers, operands, self.block)
        self.lines += lines
        for node in item:
            sine, cosine = turned[angles.index(node.args[0])]
            self.names[node] = sine if node.op == "sin" else cosine
