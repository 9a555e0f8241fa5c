"""The text of a device's module: loops of Moreau's steps for one model, its entries, the kernel.

The same text serves a GPU and this processor; only the first lines of the kernel differ.

The text of kernels whose worlds are marched in groups, as far as it is theirs alone.

Public names: Module, module_of, runs_module, KERNELS, STATE, GROUP_HEAD, GROUP_TAIL, in_spaces,
entry_in_spaces, place_text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.contacts.stepping.loads import LIGHTER
from liaison.contacts.stepping.quick import quick_words
from liaison.contacts.stepping.small import FusedEntries, small_words
from liaison.contacts.stepping.tangents import TangentEntries, room_words
from liaison.program.gpu.fused import FUSED, QUICK, STEP, fused
from liaison.program.gpu.pointers import NAMES, entry_text, functions_text, numbers_of, work_size
from liaison.program.gpu.tangents import tangents
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.language import Loop
from liaison.program.loops.records import Record, words_of
from liaison.program.loops.special import (
    PREFIX,
    SHORT,
    Special,
    graded,
    in_words_of_32_bits,
    rolled,
    special_ir,
    with_short_integers,
)
from liaison.program.program import Program
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan, arrays_of, entries_of
from liaison.simulation.prepared import scale_run
from liaison.simulation.steps.layout import (
    NOT_KEPT,
    Entries,
    Run,
    dense_size,
)
from liaison.simulation.worlds.groups.matrices import Shared, few_rows, group_words
from liaison.simulation.worlds.groups.registers import register_text
from liaison.simulation.worlds.groups.text import NO_BARRIER, declared_once, shared_text, wide_loops

from .derivative_loops import derive_world
from .hulls import ENTRIES, hulls_of
from .loops import (
    LEFT_OUT,
    march_group_world,
    march_quick_world,
    march_small_world,
    march_world,
    reset_world,
    scatter_world,
)
from .registers import (
    QUICK_AT_ONCE,
    QUICK_BLOCK,
    QUICK_ENTRIES,
    QUICK_LOOPS,
    QUICK_WHOLE,
    estimates,
    is_quick,
)

SPACES = {
    "%a.run": 5, "%a.scratch": 5, "%a.gaps": 5, "%a.s": 3, "%a.near": 3, "%a.near_x": 3,
    "%a.near_y": 3, "%a.group": 1, "%a.mine": 1,
}  # fmt: skip
"""Memory that arguments of loops of a group point to: a thread's own, that of a block, and that of
the device."""

DEFINED = re.compile(
    r"^define internal (\S+) (@\S+?)\(([^\n]*)\)( [^\n]*)\{\nentry:\n(.*?)^\}", re.M | re.S
)


def in_spaces(text: str) -> str:
    """The same loops, each of which knows which memory its arguments point to.

    Functions that are called take pointers of the kind of memory, and what is called in their place
    says so: loads and stores are then of that kind.
    """

    def known(match: re.Match[str]) -> str:
        arguments = [x.rsplit(" ", 1) for x in match[3].split(", ")]
        pointers = [name for form, name in arguments if form.startswith("ptr")]
        spaces = {name: SPACES[name] for name in pointers if name in SPACES}
        if "alwaysinline" in match[4] or not spaces:
            return match[0]
        casts = [
            f"  {x} = addrspacecast ptr addrspace({space}) {x}.near to ptr"
            for x, space in spaces.items()
        ]
        return _twofold(match, spaces, "\n".join(casts) + "\n" + match[5], ".near")

    return DEFINED.sub(known, text)


def entry_in_spaces(text: str) -> str:
    """The same entry, which reads and writes a thread's own memory."""

    def known(match: re.Match[str]) -> str:
        if "noalias" not in match[3]:
            return match[0]
        spaces = dict.fromkeys((f"%{x}" for x in NAMES), 5)
        return _twofold(match, spaces, match[5].replace("ptr %", "ptr addrspace(5) %"), "")

    return DEFINED.sub(known, text)


def _twofold(match: re.Match[str], spaces: Mapping[str, int], body: str, mark: str) -> str:
    """A function of pointers to kinds of memory, and one of any pointers that calls it."""
    kind, name, text, marks = match[1], match[2], match[3], match[4]
    own, passed, casts = [], [], []
    for argument in text.split(", "):
        form, value = argument.rsplit(" ", 1)
        space = spaces.get(value)
        if space is None:
            own.append(argument)
            passed.append(argument)
            continue
        pointer = f"ptr addrspace({space})"
        own.append(f"{form.replace('ptr', pointer)} {value}{mark}")
        passed.append(f"{pointer} {value}.to")
        casts.append(f"  {value}.to = addrspacecast ptr {value} to {pointer}")
    call = f"call {kind} {name}.own({', '.join(passed)})"
    ends = [f"  {call}", "  ret void"] if kind == "void" else [f"  %r = {call}", f"  ret {kind} %r"]
    plain = text.replace(" noalias", "")
    quick = marks.replace("noinline", "").rstrip() + " alwaysinline"
    inner = f"define internal {kind} {name}.own({', '.join(own)}){marks}{{"
    outer = f"define internal {kind} {name}({plain}){quick} {{"
    return "\n".join([inner, "entry:", body.rstrip(), "}", outer, *casts, *ends, "}"])


THREAD_HEAD = """\
enter:
  %run = alloca [{words} x {bits}], align 8
  %scratch = alloca [{scratch} x {real}], align 8
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %block, %width
  %i = add i32 %before, %thread
"""
GROUP_HEAD = (
    THREAD_HEAD
    + """\
  %near = addrspacecast ptr addrspace(3) @liaison_shared to ptr
  %warp = lshr i32 %thread, 5
  %beyond = mul i32 %warp, {shared}
  %shared = getelementptr double, ptr %near, i32 %beyond
  %number = lshr i32 %before, 5
  br label %world
world:"""
)
GROUP_PLACE = """\
  %all = zext i32 %count to i64
  %behind = mul i64 %all, {carried}
  %which = zext i32 {which} to i64
  %own = mul i64 %which, {group}
  %up = add i64 %behind, 3
  %even = and i64 %up, -4
  %far = add i64 %even, %own
  %group = getelementptr inbounds {real}, ptr {pointer}, i64 %far"""
GROUP_TAIL = """\
  ret void
}"""


def place_text(carried: int, group: int, real: str, *, gpu: bool) -> list[str]:
    """Where what a group keeps begins."""
    place = GROUP_PLACE.format(
        carried=carried, group=group, real=real, which="%number" if gpu else "%i",
        pointer="%carried.any" if gpu else "%carried",
    )  # fmt: skip
    return [place] if gpu else [place, f"  %shared = getelementptr {real}, ptr %pool, i64 0"]


KNOWN = frozenset({"scales", "blocks", "tolerance", "has_correct", "a", "b", "c", "e", "input"})
"""Arrays of a run that no step writes."""

RECORDING = KNOWN | {"dense", "instants"}
"""The same of a run that records."""

SINGLE_CLOSURE, SINGLE_LOST = 1e-10, 1e-4
"""Residuals of closures in single precision: below rounding, so that corrections end where they no
longer help; and the largest that a step may end with."""

SINGLE_SETTLED = 1e-3, 1e-5
"""Efforts of loads in single precision: off by this part of themselves, or so much in a rate."""

LARGEST_BLOCK = 1024
"""Threads in a block at most, which then have 64 registers each: measured, more do not help."""

FUSED_BLOCK, FUSED_SHORT = 256, 100
"""The same of fused entries in double precision, whose threads then have 128 registers; and lines
of a function that is written where it is called."""

GROUP, GROUP_ROWS, GROUPS_AT_ONCE = 32, 24, 7
"""Worlds of a group on a GPU; rows of contacts beyond which a mechanism is marched in groups; and
groups in a block at most, which go from phase to phase of a step together: their threads read
instructions once, of which there are far more than caches hold."""

WHOLE = (
    "met", "joined", "measure_gaps", "forget_rows", "no_impulses", "active_bits", "open_modes",
    "near_bits", "largest_in", "dot", "take_end", "moved_by", "subtract", "copy", "add",
    "take_pushed", "has_stribeck",
)  # fmt: skip
"""Loops of a group over all blocks, rows or velocities, which are written out."""

ALONE = 64
"""Rows of contacts that are active at a time, at most, where one thread solves them: their matrices
lie in memory of its own, of which there are 512 kB."""

STATE = ("t", "q", "v", "u", "p", "carried", "measures", "codes")
KERNELS = {
    "march": (("count", "steps", "hold", "rows", "u_one", "p_one"), "step", STATE),
    "reset": (("count", "q_one", "v_one"), "start", ("chosen", "q_start", "v_start", *STATE)),
    "scatter": (("count", "seed", "u_one", "p_one"), "start", ("chosen", "spread", *STATE)),
    "derive": (
        ("count", "worlds", "lanes", "u_one", "p_one"),
        "step",
        ("t", "q", "v", "u", "p", "carried", "codes", "a", "b", "flags"),
    ),
    **dict.fromkeys(
        ("run_smooth", "run_moreau"),
        (("count",), "start", ("starts", "records", "ends", "reached", "why")),
    ),
}
"""Kernel -> its arguments in order: whole numbers, a number, and where arrays begin."""

LOOPS: Mapping[str, Loop[..., None]] = {
    "march": march_world, "reset": reset_world, "scatter": scatter_world,
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Module:
    """A kernel's text, and what a thread of it keeps beside its registers."""

    text: str
    names: tuple[str, ...]  # of kernels
    words: int  # of a run and of the workspace, in units of the precision
    form: Form
    block: int  # threads in a block at most
    lanes: int = 1  # threads of a world of a scene
    group: int = 1  # worlds of a group
    group_words: int = 0  # that a group keeps in the memory of the device
    group_shared: int = 0  # bytes that its threads share
    resident: int = 0  # worlds of a scene at a time on each multiprocessor


@final
@dataclass(frozen=True, slots=True)
class _Laid:
    """A run as a kernel begins with it."""

    run: Run  # before its first step
    scratch: int  # the length of its workspace
    known: frozenset[str]  # arrays that no loop writes
    initial: tuple[str, ...]  # stores into a block of zeros
    written_once: tuple[str, ...] = ()  # entries whose numbers are among these
    group: tuple[int, int, int] | None = None  # words of a world before, of a group, shared
    room: int = 0  # numbers of a world whose steps are taken in registers


def module_of(
    plan: Plan,
    names: tuple[str, ...] = ("march", "reset"),
    *,
    single: bool = False,
    gpu: bool = True,
    block: int | None = None,
) -> Module:
    """A module of a plan of Moreau's steps.

    Args:
        plan: as for a run with method="moreau".
        names: of the kernels wanted.
        single: floats and integers of 32 bits.
        gpu: as a kernel of a GPU; else as a function of this processor.
        block: threads in a block, at most; what was measured to be best if None.
    """
    form = Form(real="float" if single else "double")
    listed = _entries(plan)
    run, scratch = _template(plan, listed, form)
    loops = {name: LOOPS[name] for name in names}
    small, group, room = _small(plan, run), None, 0
    if small is not None and "march" in loops:
        loops["march"] = march_small_world
        if int(run.nr) <= GROUP_ROWS and is_quick(plan, run, small, form):
            loops["march"], room = march_quick_world, int(quick_words(run))
        left_out = () if room else tuple(f"fused_{x}" for x in QUICK)
        listed |= dict.fromkeys([x for x in small.entries if x not in left_out], small)
        if int(run.nr) > GROUP_ROWS and not work_size(small, "fused_row", Form(real="double")):
            run, scratch = _template(plan, listed, form, lanes=GROUP if gpu else 1)
            loops["march"], block = march_group_world, GROUP * GROUPS_AT_ONCE
            carried = int(run.nr) + int(run.nb)
            group = carried, int(group_words(run)), -(-int(words_of(Shared, run)) // 2) * 2
        scratch = _with_room(run, listed, form)
        block = block or (QUICK_BLOCK if room else LARGEST_BLOCK if single else FUSED_BLOCK)
    initial = _initial(run, form.real, "i32" if single else "i64")
    if "one_sided" in listed:
        initial += _numbers(plan.program, run, form)
    laid = _Laid(run, scratch, KNOWN, tuple(initial), ("one_sided", "fused_rows"), group, room)
    return _written(laid, listed, loops, form, gpu=gpu, block=block or LARGEST_BLOCK)


def derivative_module(
    plan: Plan, lanes: int = 1, *, single: bool = False, gpu: bool = True
) -> Module:
    """A module whose kernel gives the derivative of a step.

    Args:
        plan: as for a run with method="moreau".
        lanes: threads of a world, which share its columns.
        single: floats and integers of 32 bits.
        gpu: as a kernel of a GPU; else as a function of this processor.
    """
    form = Form(real="float" if single else "double")
    listed = _entries(plan)
    run, _ = _template(plan, listed, form)
    added = None if plan.added is None else plan.added.program
    slopes = tangents(plan.program, added, nu=int(run.nu), nf=int(run.nf), lighter=LIGHTER)
    listed |= dict.fromkeys(slopes.entries, slopes)
    columns = -(-(2 * int(run.nv) + int(run.nu)) // lanes)
    scratch = _with_room(run, listed, form, columns=columns)
    initial = _initial(run, form.real, "i32" if single else "i64")
    initial += _numbers(plan.program, run, form) if "one_sided" in listed else []
    laid = _Laid(run, scratch, KNOWN, tuple(initial), ("one_sided",))
    loops = {"derive": derive_world}
    return _written(laid, listed, loops, form, gpu=gpu, block=LARGEST_BLOCK)


def runs_module(
    plan: Plan,
    run: Run,
    whole: Loop[..., None],
    *,
    gpu: bool = True,
    block: int = LARGEST_BLOCK,
) -> Module:
    """A module whose kernel takes runs from their starts to their ends, in double precision.

    Args:
        plan: of runs with fixed steps.
        run: the block as it is before any of them; where its matrices begin is noted in it.
        whole: the loop of one run, whose kernel has its name without "_world".
        gpu: as a kernel of a GPU; else as a function of this processor.
        block: threads in a block, at most.
    """
    form = Form(real="double")
    listed = _entries(plan)
    if plan.watch[0]:
        listed[plan.watch[0]] = plan.program
    scratch = _with_room(run, listed, form)
    loops = {whole.name.removesuffix("_world"): whole}
    laid = _Laid(run, scratch, RECORDING, tuple(_words(run, RECORDING)))
    return _written(laid, listed, loops, form, gpu=gpu, block=block)


def _written(
    laid: _Laid,
    listed: Mapping[str, Program],
    written: Mapping[str, Loop[..., None]],
    form: Form,
    *,
    gpu: bool,
    block: int,
) -> Module:
    """The text of a module."""
    run, single = laid.run, form.real == "float"
    slots = {_slot(name): name for name in listed}
    others = Entries.fields["others"].slot
    views: dict[type[Record], int] = {FusedEntries: others, TangentEntries: others}
    special = Special(run, laid.known, Entries, slots, LEFT_OUT, views)
    roots, hulls = [*written.values()], hulls_of(listed["retract"])
    if hulls is not None:
        special, roots = hulls.added_to(special), [*roots, *ENTRIES.values()]
    loops, functions = special_ir(roots, special)
    device = DeviceModule(form, estimates=gpu)
    loops = in_words_of_32_bits(loops) if single else with_short_integers(loops)
    loops += wide_loops(special, single=single) if laid.group else ""
    short = FUSED_SHORT if "fused_free" in listed else SHORT
    whole = WHOLE if laid.group else QUICK_WHOLE if laid.room else ()
    always = QUICK_LOOPS if laid.room else ()
    loops = rolled(graded(loops, short, always), whole) if gpu else loops
    if gpu and laid.group:
        loops = in_spaces(loops).replace(" nounwind ", " convergent nounwind ")
    bodies = _bodies(laid, listed, device, gpu=gpu)
    if gpu and laid.group:
        bodies = [entry_in_spaces(body) for body in bodies]
    bodies += hulls.text(device) if hulls is not None else []
    own = functions_text(device, functions)
    kernels = [_kernel(name, one.name, laid, form, gpu) for name, one in written.items()]
    bounds = f'"nvvm.maxntid"="{block}"'
    # one: else the compiler may give a thread half of the registers there are
    at_once = 1 if laid.group else QUICK_AT_ONCE if laid.room else 0
    bounds += f' "nvvm.minctasm"="{at_once}"' if at_once else ""
    tail = f"attributes #0 = {{ nounwind {bounds} }}" if gpu else ""
    head = _registers(gpu, is_group=laid.group is not None)
    head += estimates(form, gpu=gpu) if laid.room else []
    if laid.group:
        head += _group_head(listed["fused_row"], run, form, gpu=gpu)
    text = "\n".join([*head, loops, *bodies, own, *kernels, device.tail(), tail, ""])
    text = declared_once(text) if laid.group else text
    words = int(run.words) + laid.scratch
    if laid.group is None:
        return Module(text, tuple(written), words, form, block)
    lanes, shared = int(run.lanes), 8 * laid.group[2] if gpu else 0
    return Module(text, tuple(written), words, form, block, 1, lanes, laid.group[1], shared)


def _group_head(small: Program, run: Run, form: Form, *, gpu: bool) -> list[str]:
    """What threads of a group do together: see `shared_text`."""
    own = register_text(int(run.nv), form.real, gpu=gpu)
    return own + shared_text(small, run, form, gpu=gpu)


def _bodies(
    laid: _Laid, listed: Mapping[str, Program], device: DeviceModule, *, gpu: bool
) -> list[str]:
    """The text of entries."""
    # measured: fused entries are quicker where they are written into the phases of a step
    mark = "noinline" if "fused_free" not in listed or laid.group is not None else ""
    straight = QUICK_ENTRIES if laid.room else ()
    marks = dict.fromkeys(straight, "alwaysinline") if gpu else {}
    return [
        entry_text(
            device, program, name, f"{PREFIX}{name}", varying=name in laid.written_once,
            mark=marks.get(name, mark), straight=name in straight,
        )
        for name, program in listed.items()
    ]  # fmt: skip


def _slot(name: str) -> int:
    """The word of the record of entries that an entry is called by."""
    for prefix, record in (("fused_", FusedEntries), ("tangent_", TangentEntries)):
        if name.startswith(prefix):
            own = record.fields[name.removeprefix(prefix)].slot
            return Entries.fields["others"].slot + own
    return Entries.slot(name)


def _entries(plan: Plan) -> dict[str, Program]:
    """Entries that steps call, with the programs they are of."""
    program = plan.program
    known = {*ENTRIES, "gaps"}  # of which nothing is asked here but by way of `one_sided`
    names = [x for x in entries_of(plan.settings.tableau, program) if x not in known]
    if program.sizes.get("nc", 0):
        names += ["terms", "correct_v"] + ["correct_q"] * bool(program.sizes.get("nphi", 0))
    listed = dict.fromkeys(names, program)
    if plan.added is not None and "inputs" in plan.added.program.entries:
        listed["inputs"] = plan.added.program
    return listed


def _small(plan: Plan, run: Run) -> Program | None:
    """Fused entries where a mechanism without hulls is small enough, and its inputs are held."""
    if not int(run.nr) or int(run.ni) or int(run.facets) or int(run.has_passes):
        return None
    settled = float(run.effort_tolerance), float(run.effort_rate)
    names = STEP if int(run.nr) > GROUP_ROWS else FUSED if int(run.nf) else (*STEP, *QUICK)
    return fused(plan.program, float(run.theta), settled if int(run.nf) else None, names)


def _template(
    plan: Plan, listed: Mapping[str, Program], form: Form, lanes: int | None = None
) -> tuple[Run, int]:
    """The block of a run before its first step, and the length of its workspace.

    With `lanes`, of a world in a group of so many.
    """
    rows = sum(block[4] for block in sides_in(plan.program))
    few = 0 if lanes is None else few_rows(rows)
    run = arrays_of(plan, most=ALONE, lanes=lanes or 1, few=few).run
    scale_run(run, plan, None)
    scratch = _with_room(run, listed, form)
    run.ledger.kind = NOT_KEPT
    run.t_end, run.step = math.inf, 0.0
    run.pivots_left = run.has_gaps = 0
    run.break_count = run.point_count = 0
    if form.real == "float":
        run.tolerance[:], run.lost, run.start_tolerance = SINGLE_CLOSURE, SINGLE_LOST, SINGLE_LOST
        run.effort_tolerance, run.effort_rate = SINGLE_SETTLED
    run.steps_allowed = np.iinfo(np.int32).max
    return run, scratch


def _with_room(run: Run, listed: Mapping[str, Program], form: Form, *, columns: int = 0) -> int:
    """The length of the workspace of a run, which knows where what lies in it and what is there."""
    work = max([work_size(program, name, form) for name, program in listed.items()])
    hulls = hulls_of(listed["retract"])
    work = max(work, hulls.words(form)) if hulls is not None else work
    work += small_words(run) if "fused_free" in listed else 0
    work += room_words(columns, run) if columns else 0
    run.scratch_dense = work
    run.has_terms = 1
    run.has_correct[:] = ["correct_q" in listed, "correct_v" in listed]
    return work + (dense_size(run) if int(run.nc) else 0) + 1


BARRIER = """\
declare void @llvm.nvvm.barrier0()
define internal void @liaison_barrier() convergent alwaysinline nounwind {
  call void @llvm.nvvm.barrier0()
  ret void
}"""


def _registers(gpu: bool, *, is_group: bool = False) -> list[str]:
    names = ("tid", "ctaid", "ntid") if gpu else ()
    declared = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in names]
    barrier = [] if is_group else [BARRIER if gpu else NO_BARRIER]
    return [*declared, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)", *barrier]


GPU_HEAD = (
    THREAD_HEAD
    + """\
  %mine = icmp ult i32 %i, %count
  br i1 %mine, label %world, label %done
world:"""
)
GPU_TAIL = """\
  br label %done
done:
  ret void
}"""
HOST_HEAD = """\
enter:
  %run = alloca [{words} x {bits}], align 8
  %scratch = alloca [{scratch} x {real}], align 8
  br label %test
test:
  %i = phi i32 [%first, %enter], [%next, %world]
  %going = icmp slt i32 %i, %last
  br i1 %going, label %world, label %done
world:"""
HOST_TAIL = """\
  %next = add i32 %i, 1
  br label %test
done:
  ret void
}"""
CLEAR = "  call void @llvm.memset.p0.i64(ptr align 8 %run, i8 0, i64 {bytes}, i1 false)"


def _kernel(name: str, loop: str, laid: _Laid, form: Form, gpu: bool) -> str:
    """A kernel: thread i is world i; on this processor a loop over worlds."""
    real, bits = form.real, "i64" if form.real == "double" else "i32"
    words = int(laid.run.words)
    numbers, number, arrays = KERNELS[name]
    space = "ptr addrspace(1)" if gpu else "ptr"
    own = [] if gpu else ["i32 %first", "i32 %last"]
    arguments = own + [f"i32 %{x}" for x in numbers] + [f"{real} %{number}"]
    arguments += [f"{space} %{x}" for x in arrays]
    casts = [f"  %{x}.any = addrspacecast {space} %{x} to ptr" for x in arrays] if gpu else []
    passed = [f"i32 %{x}" for x in ("i", *numbers)] + [f"{real} %{number}"]
    passed += [f"ptr %{x}.any" if gpu else f"ptr %{x}" for x in arrays]
    passed += ["ptr null", "ptr %run", "ptr %scratch"]
    is_group = laid.group is not None and name == "march"
    passed += ["ptr %shared", "ptr %group"] if is_group else []
    room = laid.room if name == "march" else 0
    passed += ["ptr %room"] if room else []
    sizes = {"words": words, "scratch": laid.scratch, "bits": bits, "real": real}
    sizes |= {"shared": laid.group[2] if laid.group else 0}
    head = f"define {'ptx_kernel ' if gpu else ''}void @{name}({', '.join(arguments)})"
    first = (GROUP_HEAD if is_group else GPU_HEAD) if gpu else HOST_HEAD
    pool = "  %pool = alloca [{} x double], align 16\n  br label %test\ntest:"
    first = first.format(**sizes)
    if room:
        own_room = f"enter:\n  %room = alloca [{room} x {bits}], align 8"
        first = first.replace("enter:", own_room, 1)
    if is_group and not gpu and laid.group is not None:
        first = first.replace("  br label %test\ntest:", pool.format(laid.group[2]), 1)
    lines = [
        f"{head} {'#0 ' if gpu else ''}{{",
        first,
        *casts,
        *(place_text(*laid.group[:2], real, gpu=gpu) if is_group and laid.group else []),
        CLEAR.format(bytes=(8 if bits == "i64" else 4) * words),
        *laid.initial,
        f"  call void @liaison_{loop}({', '.join(passed)})",
        (GROUP_TAIL if is_group else GPU_TAIL) if gpu else HOST_TAIL,
    ]
    return "\n".join(lines)


def _initial(run: Run, word: str, bits: str) -> list[str]:
    """Stores of the numbers of the header that are not zero."""
    lines = []
    real = Form(real=word)
    for name, shape in Run.fields.items():
        if shape.layout != "scalar" or shape.type not in ("f64", "i64"):
            continue
        value = getattr(run, name)
        if value == 0:
            continue
        kind, text = (
            (word, real.number(float(value))) if shape.type == "f64" else (bits, str(int(value)))
        )
        if shape.type == "i64" and bits == "i32":
            text = str(min(int(value), 2**31 - 1))
        lines.append(f"  %at.{name} = getelementptr inbounds {bits}, ptr %run, i64 {shape.slot}")
        lines.append(f"  store {kind} {text}, ptr %at.{name}")
    return lines


def _numbers(program: Program, run: Run, form: Form) -> list[str]:
    """Stores of what of unilateral rows is the same at every state, other than 0."""
    bits, lines = "i64" if form.real == "double" else "i32", []
    values = [(k, x) for k, x in numbers_of(program, "one_sided").items() if x != 0.0]
    for part in ("sides", "mid", "end"):
        first = run.span(part).start
        for k, value in values:
            place = f"%at.{part}.{k}"
            lines.append(f"  {place} = getelementptr inbounds {bits}, ptr %run, i64 {first + k}")
            lines.append(f"  store {form.real} {form.number(value)}, ptr {place}")
    return lines


def _words(run: Run, known: frozenset[str]) -> list[str]:
    """Stores of all words of a block that are not zero, but for those of known arrays."""
    words = run.ints.copy()
    for name in known:
        words[run.span(name)] = 0
    lines = []
    for k in np.flatnonzero(words).tolist():
        lines.append(f"  %at.{k} = getelementptr inbounds i64, ptr %run, i64 {k}")
        lines.append(f"  store i64 {int(words[k])}, ptr %at.{k}")
    return lines
