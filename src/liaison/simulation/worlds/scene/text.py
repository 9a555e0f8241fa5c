"""The text of a device's module of worlds of a scene: loops of its steps, and the kernels.

One world of a scene for a number of steps: what the threads of a block of a device run.

Public names: scene_module, LANES, march_scene, reset_scene, scatter_scene.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from liaison.contacts.scene.bodies import moved_pose
from liaison.contacts.scene.layout import (
    ConePair,
    Contact,
    Island,
    PairEntries,
    Pose,
    System,
    Twist,
)
from liaison.program.gpu.pointers import entry_text, functions_text
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.language import Loop, f64, flat, i64, iptr, loop, ptr
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
from liaison.simulation.steps.layout import GOOD, Entries
from liaison.simulation.worlds.loops import random_number
from liaison.simulation.worlds.module import KERNELS, Module

from .inside import begin_island
from .layout import Block, barrier, lane
from .narrow import begin_tables, look_late, places_of, rows_at, take_late
from .pairs import FREE, find_extents, find_pairs, forget, grow_extents
from .step import hold_still, keep, place, start_status, whole_step
from .template import block_of, empty_island, kept_words, shared_words, spare_words


@loop
def load_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Block, island: Island) -> None:
    """The state of a world into its block."""
    if me == 0:
        begin_island(w, island)
    w.joining = FREE
    k = me
    while k < 7 * w.bodies:
        flat(w.pose)[k] = q[k * count + i]
        flat(w.end)[k] = q[k * count + i]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(w.speed)[k] = v[k * count + i]
        k += w.lanes
    barrier()


@loop
def store_state(me: i64, i: i64, count: i64, q: ptr, v: ptr, w: Block) -> None:
    """And back."""
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = flat(w.pose)[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = flat(w.speed)[k]
        k += w.lanes


@loop
def load_kept(me: i64, own: ptr, w: Block) -> None:
    """The impulses of the step before of a world into its block."""
    wide = 4 + 3 * w.has_turning
    k = me
    while k <= w.units:
        w.old_first[k] = int(own[k])
        k += w.lanes
    barrier()
    k = me
    while k < w.old_first[w.units]:
        place = own[w.units + 1 + k * (1 + wide) :]
        w.old_key[k] = int(place[0])
        for r in range(wide):
            w.old_guess[k, r] = place[1 + r]
        k += w.lanes
    barrier()


@loop
def store_kept(me: i64, own: ptr, w: Block) -> None:
    """And back."""
    wide = 4 + 3 * w.has_turning
    k = me
    while k <= w.units:
        own[k] = float(w.old_first[k])
        k += w.lanes
    k = me
    while k < w.old_first[w.units]:
        place = own[w.units + 1 + k * (1 + wide) :]
        place[0] = float(w.old_key[k])
        for r in range(wide):
            place[1 + r] = w.old_guess[k, r]
        k += w.lanes


@loop
def show(me: i64, i: i64, count: i64, u: ptr, w: Block) -> None:
    """What is recorded besides the state: contacts, residual, penetration, forces of planes."""
    if me == 0:
        u[i] = w.contacts
        u[count + i] = w.worst
        u[2 * count + i] = w.deepest
    j = me
    while j < 3 * w.planes:
        u[(3 + j) * count + i] = flat(w.plane_force)[j]
        j += w.lanes


@loop
def note(i: i64, count: i64, residual: f64, depth: f64, most: f64, measures: ptr) -> None:
    """The largest values of a world since it was reset."""
    measures[i] = max(measures[i], residual)
    measures[count + i] = max(measures[count + i], depth)
    measures[2 * count + i] = max(measures[2 * count + i], most)


@loop
def march_scene(
    i: i64, count: i64, steps: i64, hold: i64, rows: i64, u_one: i64, p_one: i64,
    step: f64, t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i for so many steps."""
    status = codes[i]
    taken = codes[count + i]
    me = lane()
    if i == slot and w.general == 1:
        begin_tables(me, w)
    if status != GOOD:
        return
    load_state(me, i, count, q, v, w, island)
    if taken == 0:
        status = start_status(me, w)
    else:
        load_kept(me, kept, w)
    done = 0
    residual = 0.0
    depth = 0.0
    most = 0.0
    for n in range(steps):
        if status == GOOD:
            keep(me, 0, w)
            w.deepest = 0.0
            w.is_shown = 1 if n == steps - 1 else 0
            status = whole_step(me, step, w, island)
            if status == GOOD:
                done += 1
                residual = max(residual, w.worst)
                depth = max(depth, w.deepest)
                most = max(most, w.contacts)
            else:
                keep(me, 1, w)
    barrier()
    store_state(me, i, count, q, v, w)
    store_kept(me, kept, w)
    if status == GOOD:
        show(me, i, count, u, w)
    if me == 0:
        t[i] = t[i] + float(done) * step
        note(i, count, residual, depth, most, measures)
        codes[i] = status
        codes[count + i] = taken + done
    barrier()


@loop
def reset_scene(
    i: i64, count: i64, q_one: i64, v_one: i64,
    start: f64, chosen: iptr, q_start: ptr, v_start: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a start of its own or one that all share."""
    if chosen[i] == 0:
        return
    me = lane()
    k = me
    while k < 7 * w.bodies:
        q[k * count + i] = q_start[k * count + i] if q_one > 0 else q_start[k]
        k += w.lanes
    k = me
    while k < 6 * w.bodies:
        v[k * count + i] = v_start[k * count + i] if v_one > 0 else v_start[k]
        k += w.lanes
    k = me
    while k < 3 + 3 * w.planes:
        u[k * count + i] = 0.0
        k += w.lanes
    if me == 0:
        t[i] = start
        for r in range(3):
            measures[r * count + i] = 0.0
        codes[i] = GOOD
        codes[count + i] = 0


@loop
def scatter_scene(
    i: i64, count: i64, seed: i64, u_one: i64, p_one: i64,
    start: f64, chosen: iptr, spread: ptr,
    t: ptr, q: ptr, v: ptr, u: ptr, p: ptr, kept: ptr, measures: ptr, codes: iptr,
    slot: i64, w: Block, island: Island,
) -> None:  # fmt: skip
    """World i, if it is chosen, at a random start about the one at hand, out of penetration."""
    me = lane()
    if i == slot and w.general == 1:
        begin_tables(me, w)
    if chosen[i] == 0:
        return
    nv = 6 * w.bodies
    load_state(me, i, count, q, v, w, island)
    b = me
    while b < w.bodies:
        for j in range(6):
            k = 6 * b + j
            w.mean[b, j] = spread[k] * random_number(seed, i, k)
            w.speed[b, j] += spread[nv + k] * random_number(seed, i, nv + k)
        moved_pose(1.0, Pose(w.pose[b]), Twist(w.mean[b]), Pose(w.end[b]))
        b += w.lanes
    forget(me, w)
    # pairs among where they are now and where they were: places that corrections lead to are near
    hold_still(me, w)
    status = find_pairs(me, w)
    w.contacts = 0.0
    w.deepest = 0.0
    if status == GOOD:
        status = place(me, w, island)
    b = me
    while b < w.bodies:
        for j in range(7):
            w.pose[b, j] = w.end[b, j]
        b += w.lanes
    barrier()
    if status == GOOD:
        status = start_status(me, w)
    store_state(me, i, count, q, v, w)
    if me == 0:
        codes[i] = status


LANES = 32
"""Threads of a world on a GPU: a color has about as many contacts."""

RESIDENT, MEMORY, RESERVED = 16, 233_472, 1024
"""Worlds at a time on each multiprocessor, about; bytes of shared memory there, and bytes of these
that each block takes beside its own. Worlds of a block take turns in its shared memory."""

LOOPS: Mapping[str, Loop[..., None]] = {
    "march": march_scene, "reset": reset_scene, "scatter": scatter_scene,
}  # fmt: skip

KNOWN = frozenset({
    "gravity", "mass", "light", "quick", "scale", "surface", "body", "plane", "plane_surface",
    "friction_of", "law_between", "thin", "lever", "radius", "middle", "head_at", "head", "lane_at",
    "lane_head", "lane_shift", "whole_at", "whole", "real_at", "real",
})  # fmt: skip
"""Arrays that no step writes."""

OF_SHAPES: tuple[Loop[..., None], ...] = (
    find_extents, grow_extents, places_of, look_late, take_late, rows_at, begin_tables,
)  # fmt: skip
"""Loops that a scene of balls does without."""

UNROLLED = (
    "rows_product", "add_product", "add_row", "missing_momentum", "rate_along", "set_rate",
    "set_arms", "answer_to", "hold", "give_forces",
)  # fmt: skip
"""Loops over the numbers of a block or a vector."""

IN_REGISTERS = (
    "scale_pair", "scaling_point", "forth", "aim", "divide", "constant_part", "respond", "room_of",
    "cone_room", "products", "add_impulse", "changed_rate",
    "go_inside", "enter_contact", "enter_pair", "rate_of", "give_back", "take_rows",
    "set_directions", "ball_rows", "take_force", "get_force", "put_force", "get_entered",
    "put_entered", "get_scaled", "put_scaled", "get_changes", "put_changes", "clear_scaled",
    "get_constant", "put_constant",
)  # fmt: skip
"""Functions of a contact in the interior method: written where they are called, all their loops
written out, so that its record becomes registers."""

INLINED = (
    "swept", "sweep", "started", "residual_of", "pressed", "missed", "push", "slide", "rate_at",
    "across_of", *IN_REGISTERS,
)  # fmt: skip
"""Functions of a sweep, in a copy of it that knows where its memory lies; and those above."""

CALLED = ("solved", "loaded", "attempt", "add_product")
"""Functions that are called, however short they are."""

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
    island = Island(empty_island(plan.program.facts["scene"]))
    written = {name: LOOPS[name] for name in names}
    listed = tuple(PairEntries.fields) if block.general else ()
    special = Special(
        block, KNOWN, Entries, dict(enumerate(listed)), () if listed else OF_SHAPES,
        {PairEntries: 0}, alike={type(x): x for x in (island, System(island.system))},
    )  # fmt: skip
    loops, functions = special_ir([*written.values()], special)
    loops = _with_own_memory(loops)
    device = DeviceModule(form, estimates=gpu)
    loops = in_words_of_32_bits(loops) if single else with_short_integers(loops)
    if gpu:
        loops = _unrolled(rolled(graded(loops, SHORT_LINES), IN_REGISTERS))
        loops = loops.replace(" nounwind ", " convergent nounwind ")
    entries = [entry_text(device, pair_program(), x, f"{PREFIX}{x}") for x in listed]
    own = functions_text(device, functions)
    sizes = kept_words(plan), int(block.words), spare_words(plan, lanes=lanes)
    shared = shared_words(block)
    blocks = min(RESIDENT, MEMORY // (shared * (4 if single else 8) + RESERVED))
    warps = max(1, round(RESIDENT / blocks))
    kernels = [
        _scene_kernel(name, one.name, sizes, form, warps if gpu else 0)
        for name, one in written.items()
    ]
    bounds = f'"nvvm.maxntid"="{warps * lanes}" "nvvm.minctasm"="{blocks}"'
    tail = f"attributes #0 = {{ nounwind convergent {bounds} }}" if gpu else ""
    first = _own(form, shared, gpu=gpu)
    text = "\n".join([first, loops, *entries, own, *kernels, device.tail(), tail, ""])
    threads = warps * lanes if gpu else lanes
    words = int(block.words)
    return Module(text, tuple(written), words, form, threads, lanes, resident=warps * blocks)


def _with_own_memory(text: str) -> str:
    """The same text, in which records of a thread lie in its own memory, or in registers.

    Room for them is taken where a function begins, as LLVM asks of what becomes registers.
    """
    sizes = {"contact": Contact.header, "pair": ConePair.header}
    call = re.compile(r"^  (%\S+) = call ptr @liaison_own_(\w+)\(\)\n", re.M)

    def moved(match: re.Match[str]) -> str:
        asked = call.findall(match[0])
        own = [f"  {x} = alloca [{sizes[name]} x double], align 8" for x, name in asked]
        return "\n".join([match[1], *own, call.sub("", match[2])])

    return re.sub(r"^(define [^\n]*\n\w+:)\n(.*?^\})", moved, text, flags=re.M | re.S)


def _unrolled(text: str) -> str:
    """The same text, in which loops of `UNROLLED` may be written out: their numbers come at once.

    Functions of `INLINED` are written where they are called.
    """

    def plain(match: re.Match[str]) -> str:
        body = match[0]
        if match[1] in UNROLLED:
            body = re.sub(r", !llvm\.loop !\d+", "", body)
        if match[1] in CALLED:
            return body.replace(" alwaysinline ", " noinline ", 1)
        return body.replace(" noinline ", " alwaysinline ", 1) if match[1] in INLINED else body

    return re.sub(r"^define [^@]*@liaison_(\w+)\(.*?^\}", plain, text, flags=re.M | re.S)


GPU_OWN = """\
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.nanosleep(i32)
declare void @llvm.nvvm.membar.cta()
@liaison_lock = internal addrspace(3) global i32 undef, align 4
@liaison_hot = internal addrspace(3) global [{words} x {real}] undef, align 16
define internal ptr @liaison_shared() alwaysinline nounwind {{
  %place = addrspacecast ptr addrspace(3) @liaison_hot to ptr
  ret ptr %place
}}
define internal void @liaison_barrier() convergent alwaysinline nounwind {{
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}}
define internal i32 @liaison_lane() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %thread, 31
  ret i32 %lane
}}
define internal void @liaison_acquire() convergent noinline nounwind {{
enter:
  %lane = call i32 @liaison_lane()
  %is_first = icmp eq i32 %lane, 0
  br i1 %is_first, label %try, label %end
try:
  %seen = cmpxchg ptr addrspace(3) @liaison_lock, i32 0, i32 1 monotonic monotonic
  %got = extractvalue {{i32, i1}} %seen, 1
  br i1 %got, label %end, label %wait
wait:
  call void @llvm.nvvm.nanosleep(i32 500)
  br label %try
end:
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}}
define internal i32 @liaison_is_acquired() convergent noinline nounwind {{
enter:
  %lane = call i32 @liaison_lane()
  %is_first = icmp eq i32 %lane, 0
  br i1 %is_first, label %try, label %end
try:
  %seen = cmpxchg ptr addrspace(3) @liaison_lock, i32 0, i32 1 monotonic monotonic
  %got = extractvalue {{i32, i1}} %seen, 1
  %number = zext i1 %got to i32
  br label %end
end:
  %own = phi i32 [0, %enter], [%number, %try]
  %all = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %own, i32 0, i32 31)
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret i32 %all
}}
define internal void @liaison_release() convergent noinline nounwind {{
enter:
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %lane = call i32 @liaison_lane()
  %is_first = icmp eq i32 %lane, 0
  br i1 %is_first, label %free, label %end
free:
  %was = atomicrmw xchg ptr addrspace(3) @liaison_lock, i32 0 monotonic
  br label %end
end:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}}"""
QUICK_ROOT = """\
declare {real} @llvm.nvvm.rsqrt.approx.ftz.{letter}({real})
define internal {real} @liaison_inverse_root({real} %x) alwaysinline nounwind {{
  %half = fmul {real} %x, {half}
  %minus = fneg {real} %half
  %y0 = call {real} @llvm.nvvm.rsqrt.approx.ftz.{letter}({real} %x)
  %s0 = fmul {real} %y0, %y0
  %e0 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %s0, {real} {half})
  %y1 = call {real} @llvm.fma.f{bits}({real} %y0, {real} %e0, {real} %y0)
  %s1 = fmul {real} %y1, %y1
  %e1 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %s1, {real} {half})
  %y2 = call {real} @llvm.fma.f{bits}({real} %y1, {real} %e1, {real} %y1)
  ret {real} %y2
}}"""
ROOT = """\
define internal {real} @liaison_inverse_root({real} %x) alwaysinline nounwind {{
  %root = call {real} @llvm.sqrt.f{bits}({real} %x)
  %y = fdiv {real} {one}, %root
  ret {real} %y
}}
define internal ptr @liaison_shared() alwaysinline nounwind {{
  ret ptr null
}}"""
INVERSE = """\
define internal {real} @liaison_inverse_of({real} %x) alwaysinline nounwind {{
  %y = fdiv {real} {one}, %x
  ret {real} %y
}}"""
QUICK_INVERSE = """\
declare {real} @llvm.nvvm.rcp.approx.ftz.{letter}({real})
define internal {real} @liaison_inverse_of({real} %x) alwaysinline nounwind {{
  %minus = fneg {real} %x
  %y0 = call {real} @llvm.nvvm.rcp.approx.ftz.{letter}({real} %x)
  %e0 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y0, {real} {one})
  %y1 = call {real} @llvm.fma.f{bits}({real} %y0, {real} %e0, {real} %y0)
  %e1 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y1, {real} {one})
  %y2 = call {real} @llvm.fma.f{bits}({real} %y1, {real} %e1, {real} %y1)
  %e2 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y2, {real} {one})
  %y3 = call {real} @llvm.fma.f{bits}({real} %y2, {real} %e2, {real} %y2)
  ret {real} %y3
}}"""
HOST_OWN = """\
define internal void @liaison_acquire() alwaysinline nounwind {{
  ret void
}}
define internal i32 @liaison_is_acquired() alwaysinline nounwind {{
  ret i32 0
}}
define internal void @liaison_release() alwaysinline nounwind {{
  ret void
}}
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


def _own(form: Form, shared: int, *, gpu: bool) -> str:
    """What loops call and a module defines."""
    bits = 64 if form.real == "double" else 32
    words = {
        "real": form.real, "letter": form.real[0], "bits": bits, "one": form.number(1.0),
        "half": form.number(0.5), "words": shared,
    }  # fmt: skip
    if gpu:
        texts = [GPU_OWN, QUICK_INVERSE, QUICK_ROOT]
        return "\n".join([*(x.format(**words) for x in texts), *_exchanges(form)])
    return "\n".join(x.format(**words) for x in (HOST_OWN, INVERSE, ROOT))


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
  %block_number = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %thread, 5
  %worlds_before = mul i32 %block_number, {warps}
  %first = add i32 %worlds_before, %warp
  %width = mul i32 %blocks, {warps}
  %lane = and i32 %thread, 31
  %is_first = icmp eq i32 %lane, 0
  store i32 0, ptr addrspace(3) @liaison_lock
  call void @llvm.nvvm.barrier0()
  %twice = mul i32 %count, 2
  %thrice = mul i32 %count, 3
  %queue = getelementptr inbounds {whole}, ptr addrspace(1) %codes, i32 %twice
  %over = getelementptr inbounds {whole}, ptr addrspace(1) %codes, i32 %thrice
  br label %test
test:
  %i = phi i32 [%first, %enter], [%next, %handed]
  %going = icmp ult i32 %i, %count"""
GPU_NEXT = """\
  br i1 %is_first, label %ask, label %handed
ask:
  %got = atomicrmw add ptr addrspace(1) %queue, i32 1 monotonic
  br label %handed
handed:
  %own_next = phi i32 [0, %world], [%got, %ask]
  %taken = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %own_next, i32 0, i32 31)
  %next = add i32 %taken, %width
  br label %test
done:
  br i1 %is_first, label %count_out, label %end
count_out:
  %before_us = atomicrmw add ptr addrspace(1) %over, i32 1 monotonic
  %blocks_done = add i32 %before_us, 1
  %is_last = icmp eq i32 %blocks_done, %width
  br i1 %is_last, label %begin_anew, label %end
begin_anew:
  store i32 0, ptr addrspace(1) %queue
  store i32 0, ptr addrspace(1) %over
  br label %end
end:
  ret void
}}"""
HOST_NEXT = """\
  %next = add i32 %i, 1
  br label %test
done:
  ret void
}}"""
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
"""


def _scene_kernel(name: str, loop: str, sizes: tuple[int, int, int], form: Form, warps: int) -> str:
    """A kernel: blocks of threads take the next world each; on this processor a loop over them.

    A block has a few worlds at a time; 0 stands for a processor. The first world of a group of
    threads has its number. The last group to end begins the count anew.
    """
    real, gpu = form.real, warps > 0
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
        passed=", ".join(passed), slot=slot, spare=spare, kept=kept,
    ) + (GPU_NEXT if gpu else HOST_NEXT).format()  # fmt: skip
    whole = "i32" if real == "float" else "i64"
    begin = (GPU_WORLDS if gpu else HOST_WORLDS).format(whole=whole, warps=warps)
    return "\n".join([f"{head} {'#0 ' if gpu else ''}{{", begin, body])
