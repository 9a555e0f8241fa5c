"""Steps in registers: which mechanisms take them, and what their text needs.

Loops of `contacts/stepping/quick.py` and the entries they call are written into one kernel, with
every `for` over velocities, rows and blocks written out: LLVM then finds that no place of what a
world keeps there is asked for by a number that is not known, and keeps all of it in registers.

Public names: QUICK_BLOCK, QUICK_AT_ONCE, QUICK_ENTRIES, QUICK_WHOLE, QUICK_LOOPS, is_quick,
estimates.
"""

from __future__ import annotations

from liaison.contacts.stepping.moreau import FEW_VELOCITIES
from liaison.program.gpu.fused import QUICK, STEP
from liaison.program.gpu.pointers import numbers_of, work_size
from liaison.program.llvm.entries import Form
from liaison.program.program import Program
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps.layout import Run
from liaison.simulation.steps.sides_layout import FRICTION, GAP, STRIBECK

QUICK_BLOCK, QUICK_AT_ONCE = 128, 2
"""Threads in a block of steps in registers, and blocks at a time on each multiprocessor: a thread
then has all the registers that there are for one."""

QUICK_BLOCKS = 30
"""Gaps and blocks of friction of a mechanism whose steps are taken in registers, at most."""

QUICK_ENTRIES = tuple(f"fused_{x}" for x in (*STEP, *QUICK) if x != "rows")
QUICK_WHOLE = (
    "keep_state", "hand_over", "take_over", "quick_free", "quick_contact", "quick_rows", "is_moved",
    "quick_impulses", "quick_rates", "quick_gain", "is_fit", "copied", "quick_gaps", "quick_push",
    "quick_velocities", "largest_in", "dot",
)  # fmt: skip
QUICK_LOOPS = (
    *QUICK_WHOLE, "march_quick_world", "begin_quick", "quick_step", "end_quick", "take_row",
    "quick_mobility", "quick_turns", "quick_force", "quick_friction", "quick_residual",
    "quick_modes", "quick_stand",
)  # fmt: skip
"""Entries and loops of steps in registers, which are written where they are called, and those of
them whose every `for` is written out: nothing then is in memory."""


def is_quick(plan: Plan, run: Run, small: Program, form: Form) -> bool:
    """Whether steps with one contact may be taken in registers, by formulas that are not cut."""
    frictions = [(k, x) for k, x in enumerate(run.blocks) if x.kind == FRICTION]
    if int(run.nv) > FEW_VELOCITIES or len(run.blocks) > QUICK_BLOCKS:
        return False
    if any(x.kind not in (GAP, FRICTION) for x in run.blocks):
        return False
    if len({int(x.load) for _, x in frictions}) < len(frictions):
        return False
    for k, x in frictions:
        lines = [r for r in range(int(x.first), int(x.first + x.rows)) if moves(plan, run, r)]
        if not 0 <= int(x.load) < k or x.law == STRIBECK or lines not in ([], [int(x.first)]):
            return False
    return not any(work_size(small, name, form) for name in small.entries)


def moves(plan: Plan, run: Run, row: int) -> bool:
    """Whether a row of friction ever has a rate: of a planar motion, one of two has none."""
    nb, nr, nv = int(run.nb), int(run.nr), int(run.nv)
    numbers = numbers_of(plan.program, "one_sided")
    first = nb + 2 * nr + row * nv
    return any(numbers.get(k) != 0.0 for k in (nb + row, *range(first, first + nv)))


ESTIMATES = """\
define internal {real} @liaison_near_inverse({real} %x) alwaysinline nounwind {{
  %minus = fneg {real} %x
  %y = call {real} @llvm.nvvm.rcp.approx.ftz.{letter}({real} %x)
  %e = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y, {real} {one})
  %f = call {real} @llvm.fma.f{bits}({real} %e, {real} %e, {real} %e)
  %z = call {real} @llvm.fma.f{bits}({real} %y, {real} %f, {real} %y)
  %g = call {real} @llvm.fma.f{bits}({real} %minus, {real} %z, {real} {one})
  %r = call {real} @llvm.fma.f{bits}({real} %z, {real} %g, {real} %z)
  ret {real} %r
}}
define internal {real} @liaison_near_inverse_root({real} %x) alwaysinline nounwind {{
  %y = call {real} @llvm.nvvm.rsqrt.approx.ftz.{letter}({real} %x)
  %t = fmul {real} %x, %y
  %minus = fneg {real} %t
  %e = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y, {real} {one})
  %f = call {real} @llvm.fma.f{bits}({real} %e, {real} {more}, {real} {half})
  %p = fmul {real} %y, %e
  %r = call {real} @llvm.fma.f{bits}({real} %p, {real} %f, {real} %y)
  ret {real} %r
}}"""
EXACT = """\
define internal {real} @liaison_near_inverse({real} %x) alwaysinline nounwind {{
  %r = fdiv {real} {one}, %x
  ret {real} %r
}}
define internal {real} @liaison_near_inverse_root({real} %x) alwaysinline nounwind {{
  %y = call {real} @llvm.sqrt.f{bits}({real} %x)
  %r = fdiv {real} {one}, %y
  ret {real} %r
}}"""


def estimates(form: Form, *, gpu: bool) -> list[str]:
    """Inverses and inverse roots without branches, see `program/gpu/pointers.py`."""
    bits = 64 if form.real == "double" else 32
    one, half, more = map(form.number, (1.0, 0.5, 0.375))
    words = {"real": form.real, "letter": form.real[0], "bits": bits}
    return [(ESTIMATES if gpu else EXACT).format(one=one, half=half, more=more, **words)]
