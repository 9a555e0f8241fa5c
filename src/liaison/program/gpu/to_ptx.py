"""to_ptx: a program as PTX text for NVIDIA GPUs, through LLVM; neither GPU nor CUDA is needed.

Public names: to_ptx, ptx_package, Precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from liaison.errors import ProgramError
from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx
from liaison.program.program import Entry, Program

from .ptx_entries import evaluate_ir, march_ir

Precision: TypeAlias = Literal["double", "single"]

FORMS = {"double": Form(), "single": Form(real="float")}
BLOCK = 128  # threads in a block: enough to hide latency, few enough for 255 registers each
SOLVING = frozenset({"forward", "rate", "correct_q", "correct_v", "d_forward", "d_forward_p"})


def to_ptx(
    program: Program,
    entry: str,
    *,
    precision: Precision = "double",
    rows: tuple[int, ...] | None = None,
    shared: frozenset[str] = frozenset(),
    processor: str = "sm_70",
) -> str:
    """PTX text of one kernel.

    Args:
        program: what is computed.
        entry: the entry that the kernel `evaluate` runs on every state; or "march", for the kernel
            `march` that takes fixed Runge–Kutta steps.
        precision: "double", or "single" where there are no closures.
        rows: which outputs are computed and written; all if None.
        shared: arrays that are the same for all states.
        processor: the oldest kind of GPU it must run on.

    Returns:
        The text, which the driver of any newer GPU compiles when it is loaded.

    Raises:
        ProgramError: closures in single precision, or a function no GPU form is known of.
    """
    if precision not in FORMS:
        raise ProgramError(f"the precision is {precision!r}; known are 'double' and 'single'.")
    form = FORMS[precision]
    if form.real == "float" and program.sizes.get("nc") and entry in {*SOLVING, "march"}:
        raise ProgramError(
            f"{program.name!r} has closures: their elimination needs double precision.",
            hint="Take precision='double'.",
        )
    if entry == "march":
        for block in program.facts.get("sides", ()):
            raise ProgramError(
                f"{block[1]!r} holds on one side only; a march on a GPU does not find where such "
                "relations close and open.",
                hint="simulate_batch does, on all cores; here evaluate 'forward', of the free "
                "mechanism, and 'one_sided'.",
            )
        return ptx(march_ir(program, form, shared, BLOCK), processor)
    return ptx(evaluate_ir(_chosen(program, entry, rows), entry, form, shared, BLOCK), processor)


def ptx_package(program: Program, folder: Path, entries: Iterable[str]) -> dict[str, Path]:
    """Writes one file of text for each entry into a folder, in double; entry -> file."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for entry in entries:
        files[entry] = folder / f"{entry}.ptx"
        files[entry].write_text(to_ptx(program, entry), encoding="utf-8")
    return files


def _chosen(program: Program, entry: str, rows: tuple[int, ...] | None) -> Program:
    """The program with some outputs of one entry only."""
    if rows is None:
        return program
    outputs = program.entry(entry).outputs
    if not rows or not all(0 <= row < len(outputs) for row in rows):
        raise ProgramError(f"rows of {entry!r} are 0 to {len(outputs) - 1}; asked for {rows}.")
    kept = Entry(entry, tuple(outputs[row] for row in rows))
    return Program(program.name, {entry: kept}, program.inputs, program.sizes)
