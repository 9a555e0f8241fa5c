"""Elementary functions of portable entries: sine and cosine inline, the others by address.

Inline they come from the text of the functions, on one double or on a vector: a loop of assignments
and one return is printed in place, calls with it, and an operation on the same operands once. Sine
and cosine, each with its reduction, share it so.

Public names: PORTABLE, Straight, library, addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, final

from liaison.program.functions.circular import near_cosine, near_sine
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import Loop
from liaison.program.loops.llvm import FLOAT, INTEGER, ORDERED, SIGNED
from liaison.program.loops.read import routine
from liaison.program.loops.tree import Value

from .entries import Arithmetic
from .sincos import Lines


@cache
def library() -> CompiledLoops:
    """The functions as machine code, once a process."""
    return compile_loops([*FUNCTIONS.values()], optimize=3)


@cache
def addresses() -> Mapping[str, int]:
    """Where each lies, by the symbol that entries call: liaison_sin and so on."""
    return {f"liaison_{name}": library().address(x) for name, x in FUNCTIONS.items()}


@final
class Straight(Lines):
    """As `Lines`, with the bits of `sin` and `cos` in `program/functions`; equal lines once."""

    def __init__(self, tag: str, lanes: int) -> None:
        super().__init__(tag, lanes)
        self.known: dict[str, str] = {}

    def fast(self, x: str, size: str) -> tuple[str, str]:
        """Within reach."""
        return self.call(near_sine, [x]), self.call(near_cosine, [x])

    def once(self, text: str) -> str:
        """The value of an instruction, which is appended where it is new."""
        if text not in self.known:
            self.known[text] = self.put(text)
        return self.known[text]

    def call(self, loop: Loop[..., Any], args: Sequence[str]) -> str:
        """The result of a loop for these operands."""
        read = routine(loop)
        names = dict(zip((name for name, _ in read.arguments), args, strict=True))
        for step in read.body:
            operand = self.value(step.values[0], names)
            if step.kind == "return":
                return operand
            assert step.kind == "assign"
            names[step.name] = operand
        raise AssertionError(f"{loop.name} has no result")

    def type(self, kind: str) -> str:
        """A type of the loop language for all lanes."""
        mask = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        return {"f64": self.kind, "i64": self.bits, "bool": mask}[kind]

    def value(self, value: Value, names: dict[str, str]) -> str:
        """The operand of a value."""
        if value.kind == "const":
            return self.real(value.data) if value.type == "f64" else self.whole(value.data)
        if value.kind == "local":
            return names[value.data]
        args = [self.value(x, names) for x in value.args]
        if value.kind == "call":
            return self.call(value.data, args)
        before, after = self.type(value.args[0].type), self.type(value.type)
        if value.kind in ("bits", "from_bits"):
            return self.once(f"bitcast {before} {args[0]} to {after}")
        if value.kind == "choice":
            return self.once(f"select {before} {args[0]}, {after} {args[1]}, {after} {args[2]}")
        if value.kind == "abs":
            return self.once(f"call {after} @llvm.fabs.{self.suffix}({after} {args[0]})")
        is_float = value.args[0].type == "f64"
        if value.kind == "neg":
            zero = self.whole(0)
            return self.once(
                f"fneg {after} {args[0]}" if is_float else f"sub {after} {zero}, {args[0]}"
            )
        if value.kind in ORDERED:
            test = f"fcmp {ORDERED[value.kind]}" if is_float else f"icmp {SIGNED[value.kind]}"
            return self.once(f"{test} {before} {args[0]}, {args[1]}")
        name = FLOAT[value.kind] if is_float else INTEGER[value.kind]
        return self.once(f"{name} {after} {args[0]}, {args[1]}")


PORTABLE = Arithmetic("", Straight, "liaison_", addresses, FUNCTIONS)
"""No contraction, and functions of our own."""
