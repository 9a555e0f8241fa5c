"""The text of a device's module of worlds of a scene: loops of its steps, and the kernels.

Public names: scene_module, LANES.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from liaison.contacts.scene.layout import PairEntries
from liaison.program.gpu.pointers import entry_text, functions_text
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.language import Loop
from liaison.program.loops.special import (
    PREFIX,
    Special,
    graded,
    in_words_of_32_bits,
    rolled,
    special_ir,
    with_short_integers,
)
from liaison.program.pairs import pair_program
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps.layout import Entries
from liaison.simulation.worlds.module import KERNELS, Module

from .march import march_scene, reset_scene, scatter_scene
from .narrow import begin_tables, places_of, rows_at
from .pairs import find_extents
from .template import block_of, kept_words, spare_words

LANES = 32
"""Threads of a world on a GPU: a color has about as many contacts."""

RESIDENT = 16
"""Worlds at a time on each multiprocessor, which bounds the registers of a thread."""

LOOPS: Mapping[str, Loop[..., None]] = {
    "march": march_scene, "reset": reset_scene, "scatter": scatter_scene,
}  # fmt: skip

KNOWN = frozenset({
    "gravity", "mass", "light", "quick", "scale", "surface", "body", "plane", "plane_surface",
    "friction_of", "law_between", "head_at", "head", "lane_at", "lane_head", "lane_shift",
    "whole_at", "whole", "real_at", "real",
})  # fmt: skip
"""Arrays that no step writes."""

OF_SHAPES: tuple[Loop[..., None], ...] = (find_extents, places_of, rows_at, begin_tables)
"""Loops that a scene of balls does without."""

UNROLLED = (
    "rows_product", "add_row", "add_product", "scale_pair", "aim", "constant_part", "respond",
    "products", "go_inside", "add_impulse", "changed_rate", "missing_momentum", "give_back",
    "rate_of", "rate_along", "set_rate", "set_arms", "answer_to",
)  # fmt: skip
"""Loops over the numbers of a block or a vector."""

INLINED = ("pressed", "across_of", "push", "slide")
"""Functions of a contact in a sweep."""

SHORT_LINES = 200
"""Lines of a function that is written where it is called."""


def scene_module(
    plan: Plan, names: tuple[str, ...], *, single: bool = False, gpu: bool = True
) -> Module:
    """A module whose kernels march worlds of a scene.

    Args:
        plan: of a scene.
        names: of the kernels wanted.
        single: floats and integers of 32 bits.
        gpu: as a kernel of a GPU, `LANES` threads a world; else as a function of this processor.
    """
    form = Form(real="float" if single else "double")
    lanes = LANES if gpu else 1
    block = block_of(plan, lanes=lanes, single=single)
    written = {name: LOOPS[name] for name in names}
    listed = tuple(PairEntries.fields) if block.general else ()
    special = Special(
        block, KNOWN, Entries, dict(enumerate(listed)), () if listed else OF_SHAPES,
        {PairEntries: 0},
    )  # fmt: skip
    loops, functions = special_ir([*written.values()], special)
    device = DeviceModule(form, estimates=gpu)
    loops = in_words_of_32_bits(loops) if single else with_short_integers(loops)
    if gpu:
        loops = _unrolled(rolled(graded(loops, SHORT_LINES)))
        loops = loops.replace(" nounwind ", " convergent nounwind ")
    entries = [entry_text(device, pair_program(), x, f"{PREFIX}{x}") for x in listed]
    own = functions_text(device, functions)
    sizes = kept_words(plan), int(block.words), spare_words(plan, lanes=lanes)
    kernels = [_scene_kernel(name, one.name, sizes, form, gpu) for name, one in written.items()]
    bounds = f'"nvvm.maxntid"="{lanes}" "nvvm.minctasm"="{RESIDENT}"'
    tail = f"attributes #0 = {{ nounwind convergent {bounds} }}" if gpu else ""
    first = "\n".join([GPU_OWN, *_exchanges(form)]) if gpu else HOST_OWN.format(real=form.real)
    text = "\n".join([first, loops, *entries, own, *kernels, device.tail(), tail, ""])
    return Module(text, tuple(written), int(block.words), form, lanes, lanes)


def _unrolled(text: str) -> str:
    """The same text, in which loops of `UNROLLED` may be written out: their numbers come at once.

    Functions of `INLINED` are written where they are called.
    """

    def plain(match: re.Match[str]) -> str:
        body = match[0]
        if match[1] in UNROLLED:
            body = re.sub(r", !llvm\.loop !\d+", "", body)
        return body.replace(" noinline ", " alwaysinline ", 1) if match[1] in INLINED else body

    return re.sub(r"^define [^@]*@liaison_(\w+)\(.*?^\}", plain, text, flags=re.M | re.S)


GPU_OWN = """\
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier0()
define internal void @liaison_barrier() convergent alwaysinline nounwind {
  call void @llvm.nvvm.barrier0()
  ret void
}
define internal i32 @liaison_lane() alwaysinline nounwind {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %thread
}"""
HOST_OWN = """\
define internal void @liaison_barrier() alwaysinline nounwind {{
  ret void
}}
define internal i32 @liaison_lane() alwaysinline nounwind {{
  ret i32 0
}}
define internal {real} @liaison_lanes_most({real} %x) alwaysinline nounwind {{
  ret {real} %x
}}
define internal {real} @liaison_lanes_total({real} %x) alwaysinline nounwind {{
  ret {real} %x
}}"""


def _exchanges(form: Form) -> list[str]:
    """What threads give each other by registers: five exchanges, with 1, 2, 4, 8 and 16 beyond."""
    bits = 32 if form.real == "float" else 64
    both = {
        # what is not a number is passed over, so that all threads get the same
        "most": "  %x{n} = call {real} @llvm.maxnum.f{bits}({real} %x{k}, {real} %y{k})",
        "total": "  %x{n} = fadd {real} %x{k}, %y{k}",
    }
    lines = ["declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)"]
    for name, joined in both.items():
        head = f"@liaison_lanes_{name}({form.real} %x0) convergent alwaysinline nounwind {{"
        lines.append(f"define internal {form.real} {head}")
        for k in range(5):
            lines += [
                x.format(k=k, n=k + 1, real=form.real, far=1 << k, bits=bits)
                for x in (*EXCHANGE[bits], joined)
            ]
        lines += [f"  ret {form.real} %x5", "}"]
    return lines


EXCHANGE = {
    32: (
        "  %w{k} = bitcast float %x{k} to i32",
        "  %v{k} = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %w{k}, i32 {far}, i32 31)",
        "  %y{k} = bitcast i32 %v{k} to float",
    ),
    64: (
        "  %w{k} = bitcast double %x{k} to i64",
        "  %a{k} = trunc i64 %w{k} to i32",
        "  %s{k} = lshr i64 %w{k}, 32",
        "  %b{k} = trunc i64 %s{k} to i32",
        "  %d{k} = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %a{k}, i32 {far}, i32 31)",
        "  %e{k} = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %b{k}, i32 {far}, i32 31)",
        "  %f{k} = zext i32 %d{k} to i64",
        "  %g{k} = zext i32 %e{k} to i64",
        "  %h{k} = shl i64 %g{k}, 32",
        "  %v{k} = or i64 %h{k}, %f{k}",
        "  %y{k} = bitcast i64 %v{k} to double",
    ),
}
"""A number of another thread, of 32 and of 64 bits."""

GPU_WORLDS = """\
enter:
  %first = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  br label %test
test:
  %i = phi i32 [%first, %enter], [%next, %world]
  %going = icmp ult i32 %i, %count"""
HOST_WORLDS = """\
enter:
  br label %test
test:
  %i = phi i32 [%first, %enter], [%next, %world]
  %going = icmp slt i32 %i, %last"""
BODY = """\
  br i1 %going, label %world, label %done
world:
{casts}
  %wide = zext i32 %i to i64
  %offset = mul i64 %wide, {kept}
  %kept = getelementptr inbounds {real}, ptr {carried}, i64 %offset
  %total = zext i32 %count to i64
  %before = mul i64 %total, {kept}
  %slot = zext i32 {slot} to i64
  %own = mul i64 %slot, {spare}
  %far = add i64 %before, %own
  %block = getelementptr inbounds {real}, ptr {carried}, i64 %far
  %island = getelementptr inbounds {real}, ptr %block, i64 {words}
  call void @liaison_{loop}({passed})
  %next = add i32 %i, {width}
  br label %test
done:
  ret void
}}"""


def _scene_kernel(name: str, loop: str, sizes: tuple[int, int, int], form: Form, gpu: bool) -> str:
    """A kernel: a block of threads takes world after world; on this processor a loop over them."""
    real = form.real
    kept, words, spare = sizes
    numbers, number, arrays = KERNELS[name]
    space = "ptr addrspace(1)" if gpu else "ptr"
    own = [] if gpu else ["i32 %first", "i32 %last"]
    arguments = own + [f"i32 %{x}" for x in numbers] + [f"{real} %{number}"]
    arguments += [f"{space} %{x}" for x in arrays]
    end = ".any" if gpu else ""
    casts = [f"  %{x}.any = addrspacecast {space} %{x} to ptr" for x in arrays] if gpu else []
    slot = "%first" if gpu else "%i"
    passed = [f"i32 %{x}" for x in ("i", *numbers)] + [f"{real} %{number}"]
    passed += ["ptr %kept" if x == "carried" else f"ptr %{x}{end}" for x in arrays]
    passed += [f"i32 {slot}", "ptr %block", "ptr %island"]
    head = f"define {'ptx_kernel ' if gpu else ''}void @{name}({', '.join(arguments)})"
    body = BODY.format(
        casts="\n".join(casts), words=words, real=real, carried=f"%carried{end}", loop=loop,
        passed=", ".join(passed), width="%width" if gpu else "1", slot=slot, spare=spare,
        kept=kept,
    )  # fmt: skip
    return "\n".join([f"{head} {'#0 ' if gpu else ''}{{", GPU_WORLDS if gpu else HOST_WORLDS, body])
