"""The text of a device's module for worlds of balls: a block of threads for each world.

Public names: balls_of, balls_module, spare_words, LANES.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.scene.islands import MANY
from liaison.contacts.scene.layout import RESERVED, Crew, scene_scratch
from liaison.contacts.scene.parts import DEEP, SceneModel
from liaison.errors import SimulationError
from liaison.program.gpu.pointers import functions_text
from liaison.program.gpu.thread import DeviceModule
from liaison.program.llvm.entries import Form
from liaison.program.loops.language import Loop
from liaison.program.loops.special import (
    Special,
    graded,
    in_words_of_32_bits,
    rolled,
    special_ir,
    with_short_integers,
)
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.scales import power_near
from liaison.simulation.steps.layout import Entries

from .balls import Balls
from .balls_step import march_balls, reset_balls, scatter_balls
from .module import KERNELS, Module

LANES = 32
"""Threads of a world on a GPU: a color has about as many contacts."""

RESIDENT = 16
"""Worlds at a time on each multiprocessor, which bounds the registers of a thread."""

LOOPS: dict[str, Loop[..., None]] = {
    "march": march_balls, "reset": reset_balls, "scatter": scatter_balls,
}  # fmt: skip

KNOWN = frozenset({
    "gravity", "mass", "light", "quick", "radius", "surface", "plane", "plane_surface",
    "friction_of", "law_between", "head_at", "head",
})  # fmt: skip
"""Arrays that no step writes."""

SINGLE_TOLERANCE, SINGLE_DEPTH, SINGLE_MANY = 1e-4, 1e-6, 100.0
"""Residual, depth beside the size, and times that where contacts are many, in single precision."""

SHORT = 200
"""Lines of a function that is written where it is called."""

SAME = 1e-9
"""Beside the largest, differences of moments of inertia of a ball that are rounding."""


def balls_of(plan: Plan, *, lanes: int = 1, single: bool = False) -> Balls:
    """The block of a world before its first step.

    Raises:
        SimulationError: what of the scene these steps do not take, by name.
    """
    model: SceneModel = plan.program.facts["scene"]
    _check(model)
    b, laws = model.bodies, model.laws
    n, size = len(b.names), model.size
    empty = _empty_island(model)
    at = np.flatnonzero(empty)
    w = Balls.new(
        {}, bodies=n, planes=len(model.planes), room=model.capacity, laws=len(laws.values),
        classes=len(laws.table), lanes=lanes, heads=len(at),
    )  # fmt: skip
    w.head_at[:], w.head[:] = at, empty[at]
    at = np.argsort(b.owner)
    radius, inertia = b.ball[at, 3], b.inertia[:, 0, 0]
    w.mass[:], w.light[:], w.radius[:] = b.mass, 1 / b.mass, radius
    w.quick[:] = radius**2 / inertia
    w.surface[:], w.plane_surface[:], w.plane[:] = laws.bodies, laws.planes, model.planes
    w.friction_of[:], w.law_between[:] = laws.values[:, 0], laws.table
    w.gravity[:] = model.gravity
    w.tolerance = SINGLE_TOLERANCE if single else model.tolerance
    w.depth = size * (SINGLE_DEPTH if single else model.depth)
    w.loose = w.depth * (SINGLE_MANY if single else MANY)
    w.margin, w.touch = 0.01 * size, 1e-4 * size
    w.start_depth = (1e-4 if single else DEEP) * power_near(size)
    w.sweeps_allowed = model.sweeps
    return w


def _empty_island(model: SceneModel) -> NDArray[np.int64]:
    """The workspace in which all contacts of a world are solved at once, as words."""
    scratch = scene_scratch(len(model.bodies.names), model.capacity, 1)
    return scratch[RESERVED + Crew.header :].view(np.int64)


def spare_words(plan: Plan) -> int:
    """Words of that workspace."""
    return len(_empty_island(plan.program.facts["scene"]))


def _check(model: SceneModel) -> None:
    """Raises an error for what steps of balls do not take."""
    b, hint = model.bodies, "simulate and simulate_batch take it, on the processor."
    solids, _ = b.boxes()
    counts = np.bincount(b.owner, minlength=len(b.names))
    for k, name in enumerate(b.names):
        its = b.ball[b.owner == k]
        inertia = b.inertia[k]
        is_ball = (
            counts[k] == 1 and its[0, 3] > 0 and np.all(np.abs(its[0, :3]) <= SAME * its[0, 3])
        )
        if len(solids) or not is_ball:
            raise SimulationError(
                f"body {name!r} of the scene is not one ball about its center of mass; worlds of a "
                "scene are of such balls and of planes.",
                hint=hint,
            )
        if np.max(np.abs(inertia - inertia[0, 0] * np.eye(3))) > SAME * inertia[0, 0]:
            raise SimulationError(
                f"the ball {name!r} has different moments of inertia about different axes, which "
                "worlds of a scene do not take.",
                hint=hint,
            )
    for what, column in (("restitution", 1), ("rolling friction", 2), ("pivoting friction", 3)):
        if np.any(model.laws.values[:, column] != 0.0):
            raise SimulationError(f"worlds of a scene take no {what} yet.", hint=hint)


def balls_module(
    plan: Plan, names: tuple[str, ...], *, single: bool = False, gpu: bool = True
) -> Module:
    """A module whose kernels march worlds of balls.

    Args:
        plan: of a scene.
        names: of the kernels wanted.
        single: floats and integers of 32 bits.
        gpu: as a kernel of a GPU, `LANES` threads a world; else as a function of this processor.
    """
    form = Form(real="float" if single else "double")
    lanes = LANES if gpu else 1
    block = balls_of(plan, lanes=lanes, single=single)
    written = {name: LOOPS[name] for name in names}
    special = Special(block, KNOWN, Entries, {})
    loops, functions = special_ir([*written.values()], special)
    device = DeviceModule(form, estimates=gpu)
    loops = in_words_of_32_bits(loops) if single else with_short_integers(loops)
    if gpu:
        loops = rolled(graded(loops, SHORT)).replace(" nounwind ", " convergent nounwind ")
    own = functions_text(device, functions)
    sizes = int(block.words), spare_words(plan)
    kernels = [_kernel(name, one.name, *sizes, form, gpu) for name, one in written.items()]
    bounds = f'"nvvm.maxntid"="{lanes}" "nvvm.minctasm"="{RESIDENT}"'
    tail = f"attributes #0 = {{ nounwind convergent {bounds} }}" if gpu else ""
    text = "\n".join([GPU if gpu else HOST, loops, own, *kernels, device.tail(), tail, ""])
    return Module(text, tuple(written), int(block.words), form, lanes, lanes)


GPU = """\
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
HOST = """\
define internal void @liaison_barrier() alwaysinline nounwind {
  ret void
}
define internal i32 @liaison_lane() alwaysinline nounwind {
  ret i32 0
}"""
GPU_HEAD = """\
enter:
  %first = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  br label %test
test:
  %i = phi i32 [%first, %enter], [%next, %world]
  %going = icmp ult i32 %i, %count"""
HOST_HEAD = """\
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
  %offset = mul i64 %wide, {words}
  %block = getelementptr inbounds {real}, ptr {carried}, i64 %offset
  %total = zext i32 %count to i64
  %before = mul i64 %total, {words}
  %slot = zext i32 {slot} to i64
  %own = mul i64 %slot, {spare}
  %far = add i64 %before, %own
  %island = getelementptr inbounds {real}, ptr {carried}, i64 %far
  call void @liaison_{loop}({passed})
  %next = add i32 %i, {width}
  br label %test
done:
  ret void
}}"""


def _kernel(name: str, loop: str, words: int, spare: int, form: Form, gpu: bool) -> str:
    """A kernel: a block of threads takes world after world; on this processor a loop over them."""
    real = form.real
    numbers, number, arrays = KERNELS[name]
    space = "ptr addrspace(1)" if gpu else "ptr"
    own = [] if gpu else ["i32 %first", "i32 %last"]
    arguments = own + [f"i32 %{x}" for x in numbers] + [f"{real} %{number}"]
    arguments += [f"{space} %{x}" for x in arrays]
    end = ".any" if gpu else ""
    casts = [f"  %{x}.any = addrspacecast {space} %{x} to ptr" for x in arrays] if gpu else []
    passed = [f"i32 %{x}" for x in ("i", *numbers)] + [f"{real} %{number}"]
    passed += [f"ptr %{x}{end}" for x in arrays] + ["ptr %block", "ptr %island"]
    head = f"define {'ptx_kernel ' if gpu else ''}void @{name}({', '.join(arguments)})"
    body = BODY.format(
        casts="\n".join(casts), words=words, real=real, carried=f"%carried{end}", loop=loop,
        passed=", ".join(passed), width="%width" if gpu else "1",
        slot="%first" if gpu else "%i", spare=spare,
    )  # fmt: skip
    return "\n".join([f"{head} {'#0 ' if gpu else ''}{{", GPU_HEAD if gpu else HOST_HEAD, body])
