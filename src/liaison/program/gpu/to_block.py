"""to_block: long entries and marches as kernels of blocks, whose warps share each state.

Public names: BlockKernel, to_block, shape_of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx
from liaison.program.program import Program

from .block import Shape, evaluate_block
from .block_march import march_block
from .to_ptx import Precision, chosen, form_of
from .warps import operations

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
