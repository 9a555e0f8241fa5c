"""Text of what threads of a group do together, beside the loops of their worlds.

Loops over contacts of a group are in double precision, whatever that of its worlds is: they have
names of their own, and read and write what worlds leave for them in the precision of these.

Public names: shared_text, wide_loops, declared_once, NO_BARRIER.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from liaison.program.gpu.pointers import NAMES, entry_text, numbers_read
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.special import (
    Special,
    special_ir,
    with_short_integers,
    with_single_tolerances,
)
from liaison.program.program import Program
from liaison.simulation.steps.layout import Run

from .cones import solve_group
from .registers import NEAR

NO_BARRIER = """\
define internal void @liaison_barrier() alwaysinline nounwind {
  ret void
}"""
LANE = """\
define internal i32 @liaison_lane() alwaysinline nounwind {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %thread, 31
  ret i32 %lane
}"""
ONE_LANE = """\
define internal i32 @liaison_lane() alwaysinline nounwind {
  ret i32 0
}"""
SHARED = "@liaison_shared = external addrspace(3) global [0 x double], align 16"
WARP_BARRIER = """\
define internal void @liaison_barrier() convergent alwaysinline nounwind {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}"""
PASSED = "i32 %rows, i32 %blocks, i32 %is_new, i32 %me, ptr %run, ptr %s, ptr %group"
TOGETHER = f"""\
define internal void @liaison_solve_together({PASSED}) convergent alwaysinline nounwind {{
  call void @liaison_wide_solve_group({PASSED})
  ret void
}}"""
KEPT = {
    "double": """\
define internal double @liaison_kept_number(i32 %k, ptr %group) alwaysinline nounwind {
  %at = getelementptr inbounds double, ptr %group, i32 %k
  %x = load double, ptr %at
  ret double %x
}
define internal void @liaison_keep_number(i32 %k, double %x, ptr %group) alwaysinline nounwind {
  %at = getelementptr inbounds double, ptr %group, i32 %k
  store double %x, ptr %at
  ret void
}""",
    "float": """\
define internal double @liaison_kept_number(i32 %k, ptr %group) alwaysinline nounwind {
  %at = getelementptr inbounds float, ptr %group, i32 %k
  %x = load float, ptr %at
  %y = fpext float %x to double
  ret double %y
}
define internal void @liaison_keep_number(i32 %k, double %x, ptr %group) alwaysinline nounwind {
  %at = getelementptr inbounds float, ptr %group, i32 %k
  %y = fptrunc double %x to float
  store float %y, ptr %at
  ret void
}""",
}
"""What a group keeps, in the precision of its worlds, for loops in double precision."""


def shared_text(small: Program, run: Run, form: Form, *, gpu: bool) -> list[str]:
    """What threads of a group share, which of them one is, and what they do together.

    Args:
        small: the program of fused entries.
        run: of the mechanism.
        form: numbers of its worlds.
        gpu: for a GPU; else for one thread of this processor.
    """
    nv = int(run.nv)
    own = [LANE if gpu else ONE_LANE, KEPT[form.real], TOGETHER]
    own += [*_row_copy(nv, form, gpu=gpu), *_factor_copy(form, gpu=gpu), *_row(small, gpu=gpu)]
    if not gpu:
        return [*own, NO_BARRIER]
    return [*own, WARP_BARRIER, SHARED]


def _row(small: Program, *, gpu: bool) -> Iterator[str]:
    """X of a row by its entry, in double precision, from shared memory to shared memory."""
    count = max(1, numbers_read(small, "fused_row", "x"))
    yield (
        "define internal i32 @liaison_factor_words(ptr %run) alwaysinline nounwind {\n"
        f"  ret i32 {count}\n}}"
    )
    module = DeviceModule(Form(real="double"), estimates=gpu)
    text = entry_text(module, small, "fused_row", "liaison_wide_entry_row")
    near = NEAR if gpu else "ptr"
    if gpu:
        text = re.sub(r"\bptr( noalias)? %", r"ptr addrspace(3)\1 %", text)
    yield text
    yield (
        "define internal void @liaison_metric_row(ptr %D, ptr %factor, ptr %x)"
        " alwaysinline nounwind {"
    )
    passed = dict.fromkeys(NAMES, "null") | {"v": "%D", "x": "%factor", "out": "%x"}
    for name in ("D", "factor", "x") if gpu else ():
        yield f"  %{name}.near = addrspacecast ptr %{name} to {near}"
    listed = [f"{near} {x}{'.near' if gpu and x != 'null' else ''}" for x in passed.values()]
    yield f"  call void @liaison_wide_entry_row(double 0.0, {', '.join(listed)})"
    yield "  ret void\n}"


def _vector(form: Form) -> int:
    """Numbers in 16 bytes."""
    return 2 if form.real == "double" else 4


def _spaces(names: str, *, gpu: bool) -> Iterator[str]:
    """Pointers of a thread's own memory, and the last one of the device's."""
    if gpu:
        *own, far = names.split()
        yield from (f"  %{x}.at = addrspacecast ptr %{x} to ptr addrspace(5)" for x in own)
        yield f"  %{far}.at = addrspacecast ptr %{far} to ptr addrspace(1)"


def _row_copy(nv: int, form: Form, *, gpu: bool) -> Iterator[str]:
    """Copies a row for all threads to read; its product with x."""
    real, own, mark = form.real, "ptr addrspace(5)" if gpu else "ptr", ".at" if gpu else ""
    bits = 64 if real == "double" else 32
    yield f"declare {real} @llvm.fma.f{bits}({real}, {real}, {real})"
    yield f"define internal {real} @liaison_give_row(ptr %D, ptr %x, ptr %to) noinline nounwind {{"
    yield from _spaces("D x to", gpu=gpu)
    for k in range(nv):
        for name, at in (("d", "D"), ("w", "x")):
            yield f"  %{name}p{k} = getelementptr {real}, {own} %{at}{mark}, i32 {k}"
            yield f"  %{name}{k} = load {real}, {own} %{name}p{k}"
    yield from _stored([f"%d{k}" for k in range(nv)], form, gpu=gpu)
    zero = form.number(0.0)
    sums = [zero] * min(4, nv)
    for k in range(nv):
        term = f"{real} %d{k}, {real} %w{k}, {real} {sums[k % len(sums)]}"
        yield f"  %s{k} = call {real} @llvm.fma.f{bits}({term})"
        sums[k % len(sums)] = f"%s{k}"
    total = sums[0]
    for k, part in enumerate(sums[1:]):
        yield f"  %t{k} = fadd {real} {total}, {part}"
        total = f"%t{k}"
    yield f"  ret {real} {total}\n}}"


def _stored(values: list[str], form: Form, *, gpu: bool) -> Iterator[str]:
    """Numbers one after the other from where `to` points, 16 bytes at a time on a GPU."""
    real, n = form.real, _vector(form) if gpu else 1
    far, mark = ("ptr addrspace(1)", ".at") if gpu else ("ptr", "")
    whole = len(values) // n * n
    for k in range(0, whole, n):
        yield f"  %o{k} = getelementptr {real}, {far} %to{mark}, i32 {k}"
        if n == 1:
            yield f"  store {real} {values[k]}, {far} %o{k}"
            continue
        packed = "undef"
        for j in range(n):
            kind = f"<{n} x {real}>"
            yield f"  %v{k}.{j} = insertelement {kind} {packed}, {real} {values[k + j]}, i32 {j}"
            packed = f"%v{k}.{j}"
        yield f"  store <{n} x {real}> {packed}, {far} %o{k}, align 16"
    for k in range(whole, len(values)):
        yield f"  %o{k} = getelementptr {real}, {far} %to{mark}, i32 {k}"
        yield f"  store {real} {values[k]}, {far} %o{k}"


BATCH = 16
"""Numbers of the factor that are read at once."""


def _factor_copy(form: Form, *, gpu: bool) -> Iterator[str]:
    """Copies the factor for all threads to read, up to a multiple of `BATCH` numbers."""
    real, own = form.real, "ptr addrspace(5)" if gpu else "ptr"
    far, mark = ("ptr addrspace(1)", ".at") if gpu else ("ptr", "")
    yield "define internal void @liaison_give_factor(ptr %x, ptr %out) noinline nounwind {"
    yield "enter:"
    yield from _spaces("x out", gpu=gpu)
    yield "  %n = call i32 @liaison_factor_words(ptr null)"
    yield "  br label %some"
    yield "some:"
    yield "  %i = phi i32 [0, %enter], [%next, %some]"
    yield f"  %from = getelementptr {real}, {own} %x{mark}, i32 %i"
    yield f"  %to{mark} = getelementptr {real}, {far} %out{mark}, i32 %i"
    for k in range(BATCH):
        yield f"  %p{k} = getelementptr {real}, {own} %from, i32 {k}"
        yield f"  %d{k} = load {real}, {own} %p{k}"
    yield from _stored([f"%d{k}" for k in range(BATCH)], form, gpu=gpu)
    yield f"  %next = add i32 %i, {BATCH}"
    yield "  %more = icmp slt i32 %next, %n"
    yield "  br i1 %more, label %some, label %end"
    yield "end:"
    yield "  ret void\n}"


WIDE = re.compile(r"^(?:define internal \S+ )?@(liaison_\w+)(?= = |\()", re.M)


def wide_loops(special: Special, *, single: bool) -> str:
    """Loops that threads of a group run together, in double precision, under names of their own."""
    text, _ = special_ir([solve_group], special)
    text = with_short_integers(with_single_tolerances(text) if single else text)
    names = dict.fromkeys(WIDE.findall(text))
    known = re.compile(rf"@({'|'.join(map(re.escape, names))})\b")
    return known.sub(lambda match: match[0].replace("@liaison_", "@liaison_wide_"), text)


def declared_once(text: str) -> str:
    """The same text, in which no function is declared twice."""
    seen: set[str] = set()
    lines = []
    for line in text.splitlines():
        if line.startswith("declare "):
            name = line[: line.index("(")]
            if name in seen:
                continue
            seen.add(name)
        lines.append(line)
    return "\n".join(lines)
