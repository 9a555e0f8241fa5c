"""to_llvm: a program as machine code, through LLVM, in memory and cached on disk.

IR text is written straight from the plan, and no IR passes run: sharing and folding are done
already, and code generation alone gives faster code in a fraction of the time. Products and sums
may be contracted to fused multiply-adds; nothing else departs from IEEE 754.

Public names: to_llvm.
"""

from __future__ import annotations

from functools import cache as memo
from typing import Any

from liaison.expr import collector_paused
from liaison.program.kernel import MachineKernel
from liaison.program.plan import PIECE, Plan, plan
from liaison.program.program import Program

from .batch import BatchCode, Variant, batch_ir
from .columns import ColumnsPlan, columns_plan, module_of
from .machine import load, vector_lanes


def to_llvm(
    program: Program,
    *,
    optimize: int | None = None,
    cache: bool = True,
    size: int = PIECE,
    lanes: int | None = None,
) -> MachineKernel:
    """A kernel of machine code for this computer; entries are compiled when first asked for.

    Args:
        program: what is computed.
        optimize: level of code generation, 0 (quick to compile) to 3; None for 2, and 1 where an
            entry is so long that it is cut: a fifth less time to compile, a hundredth more to run.
        cache: keep object code on disk, and take it from there.
        size: operations in one function, about.
        lanes: states that a batch computes at once; as many as a register holds if None.
    """

    @memo
    def planned(entry: str, angles: int) -> Plan:
        return plan(program, entry, lanes=angles, size=size)

    @memo
    def arranged(entry: str) -> Plan | ColumnsPlan:
        columns = program.entry(entry).columns
        if columns is None:
            return planned(entry, vector_lanes())
        return columns_plan(columns, vector_lanes(), size)

    def level(*plans: Plan | ColumnsPlan) -> int:
        if optimize is not None:
            return optimize
        return 2 if all(len(made.pieces) == 1 for made in plans) else 1

    def compiler(entries: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        names = {entry: f"liaison_{k}" for k, entry in enumerate(entries)}
        with collector_paused():  # many small objects, no cycles
            plans = {names[entry]: arranged(entry) for entry in entries}
            text = module_of(program, plans)
        code = load(text, names.values(), optimize=level(*plans.values()), keep=cache)
        return {entry: code[name] for entry, name in names.items()}, code

    def batch_compiler(entry: str, variant: Variant) -> BatchCode:
        made, width = planned(entry, 1), lanes or vector_lanes()
        text = batch_ir(program, made, "liaison_batch", width, variant)
        code = load(text, ["liaison_batch"], optimize=level(made), keep=cache)
        written = [pair for piece in made.pieces for pair in piece.outputs]
        numbers = tuple((k, made.numbers[node]) for k, node in written if node in made.numbers)
        return BatchCode(code["liaison_batch"], width, made.work_size, numbers, code)

    return MachineKernel(
        program,
        compiler,
        lambda entry: arranged(entry).work_size,
        batch_compiler,
    )
