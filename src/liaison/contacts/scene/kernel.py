"""A scene as a kernel: its coordinates by name, and the entries that its steps call.

Phases of its steps: start, step, place; `advance` calls them as those of every run. The state of
the run is q, the poses of all bodies, and v, their twists; all other data of a scene are its
`World`, which lies in the block of the run.

Public names: scene_kernel, scene_labels, pair_kernel, Helpers, SCENE, retract_bodies.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.contacts.impulses.interior import from_inside
from liaison.contacts.impulses.path import follow_path
from liaison.contacts.impulses.sweeps import swept
from liaison.program import Entry, Kernel, Program, to_llvm
from liaison.program.extend import time_alone
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.machine import Code, load
from liaison.program.llvm.trampolines import trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import Loop, at, f64, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Rows
from liaison.program.pairs import pair_program
from liaison.simulation.steps.advance import begin, commit
from liaison.simulation.steps.layout import (
    BAD_GAP,
    CROWDED,
    EVENTS,
    FULL,
    GOOD,
    LAND,
    NOT_FINITE,
    SAMPLING,
    TOO_MANY_STEPS,
    Arrays,
    Entries,
    Run,
)
from liaison.simulation.steps.stepsize import choose_step
from liaison.simulation.steps.variational import note_stages
from liaison.solvers.linear.dense import largest_in
from liaison.units import Label

from .bodies import copy_poses, moved_pose
from .candidates import candidates, near_share, sweep_and_prune
from .layout import RESERVED, Crew, PairEntries, Pose, Shown, Twist, Weight, World
from .notes import note_contacts
from .parts import SceneModel
from .rates import keep_impulses
from .step import (
    UNSOLVED,
    deepest,
    gap_of,
    note_entries,
    note_forces,
    pair_share,
    place,
    serve,
    solved_step,
)


@loop
def set_out(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Nobody begins inside another."""
    world = World(run.beside)
    read_state(run, world)
    copy_poses(world.bodies, world.pose, world.mid)
    copy_poses(world.bodies, world.pose, world.end)
    status = candidates(e, world)
    if status != GOOD:
        return status
    note_entries(e, scratch, world)
    depth = deepest(scratch, world)
    if depth > run.start_tolerance * (1.0 + largest_in(run.nq, run.q, run.scales.position)):
        run.worst = depth
        for c in range(world.candidates):
            if -gap_of(e, world.candidate[c], world.end, world) >= depth:
                run.detail[0] = c
                break
        return BAD_GAP
    return begin(e, run, scratch, event_log)


@loop
def read_state(run: Run, world: World) -> None:
    """Poses and twists before the step, from the run."""
    for i in range(world.bodies):
        pose = world.pose[i].floats
        twist = world.speed[i].floats
        for j in range(7):
            pose[j] = run.q[7 * i + j]
        for j in range(6):
            twist[j] = run.v[6 * i + j]


@loop
def one_step(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Impulses and velocities of a step or of its first part, and what they mean."""
    if run.steps >= run.steps_allowed:
        return TOO_MANY_STEPS
    world = World(run.beside)
    if world.has_events == 1 and run.event_count + 8 * world.capacity > run.event_capacity:
        return FULL
    if world.followed > world.capacity:
        return CROWDED
    choose_step(run)
    read_state(run, world)
    world.h = run.h
    status = solved_step(e, scratch, world)
    if status != GOOD:
        return status
    if world.has_events == 1:
        note_contacts(run, world, event_log)
    keep_impulses(world)
    note_forces(world)
    world.limited += world.is_limited
    world.unfound += world.is_unfound
    if world.h < run.h:
        run.is_part = 1
        run.h = world.h
        run.t_new = run.t + run.h
    return moved_on(run, world)


@loop
def moved_on(run: Run, world: World) -> i64:
    """v₁ and ξ = h (v + v₁)/2 into `run.y`; GOOD, or NOT_FINITE."""
    nv = run.nv
    y = run.y
    bad = 0.0
    for i in range(world.bodies):
        after = world.next[i].floats
        for j in range(6):
            k = 6 * i + j
            y[nv + k] = after[j]
            y[k] = 0.5 * run.h * (run.v[k] + after[j])
            bad += after[j] - after[j]
    if bad != 0.0:
        return NOT_FINITE
    note_stages(run)
    run.phase = LAND
    return GOOD


@loop
def stand(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Bodies at the end of the step, out of each other; within the step where an event stops it."""
    nv = run.nv
    landed = run.landed
    for i in range(nv):
        landed.v[i] = run.y[nv + i]
    if run.is_stopping > 0:
        e.retract(run.t_new, run.q, landed.v, run.u, run.p, run.y, landed.q, scratch)
        run.phase = SAMPLING
        return GOOD
    world = World(run.beside)
    place(e, scratch, world)
    for i in range(world.bodies):
        pose = world.end[i].floats
        for j in range(7):
            landed.q[7 * i + j] = pose[j]
    count_step(run, world)
    show(run, world)
    run.phase = EVENTS if run.ne > 0 else SAMPLING
    return GOOD


@loop
def count_step(run: Run, world: World) -> None:
    """One part more of the step under way, or its end."""
    world.parts += 1
    if run.is_part == 0:
        run.steps += 1
        if world.tried > UNSOLVED:
            world.missed += 1
            world.reasons[world.ended] += 1
        world.parts = 0
        world.tried = 0


@loop
def show(run: Run, world: World) -> None:
    """What is recorded besides the state."""
    shown = Shown(run.u, world)
    shown.contacts = float(world.touching)
    shown.residual = world.residual
    shown.penetration = world.penetration
    for i in range(3 * world.planes):
        shown.forces[i] = flat(world.plane_force)[i]


@loop
def retract_bodies(
    bodies: iptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """The entry `retract` of a scene: poses after the twists x for a unit of time.

    Args:
        bodies: how many.
        t: time.
        q: poses.
        v: twists.
        u: what is shown.
        p: parameters.
        x: ξ, a twist for each body.
        out: result, poses.
        work: workspace.
    """
    for i in range(bodies[0]):
        moved_pose(1.0, Pose(at(q, 7 * i)), Twist(at(x, 6 * i)), Pose(at(out, 7 * i)))


@loop
def energy_of_bodies(
    bodies: iptr, gravity: ptr, weights: Rows[Weight],
    t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr,
) -> None:  # fmt: skip
    """The entry `energy` of a scene: T and U.

    Args:
        bodies: how many.
        gravity: [m/s²].
        weights: of each body.
        t: time.
        q: poses.
        v: twists.
        u: what is shown.
        p: parameters.
        x: nothing.
        out: result, T and U [J].
        work: workspace.
    """
    out[0] = 0.0
    out[1] = 0.0
    for i in range(bodies[0]):
        weight = weights[i]
        place = at(q, 7 * i)
        w = at(v, 6 * i)
        for j in range(3):
            out[0] += 0.5 * weight.mass * w[3 + j] * w[3 + j]
            out[1] -= weight.mass * gravity[j] * place[j]
        out[0] += turning_energy(place, w, flat(weight.inertia))


@loop
def turning_energy(place: ptr, w: ptr, inertia: ptr) -> f64:
    """½ ω·I ω, with ω turned into the axes of the body: Rᵀω = ω − 2 s n × ω + 2 n × (n × ω)."""
    s = place[3]
    a = place[4]
    b = place[5]
    c = place[6]
    x = 2.0 * (b * w[2] - c * w[1])
    y = 2.0 * (c * w[0] - a * w[2])
    z = 2.0 * (a * w[1] - b * w[0])
    p = w[0] - s * x + b * z - c * y
    q = w[1] - s * y + c * x - a * z
    r = w[2] - s * z + a * y - b * x
    along = p * (inertia[0] * p + inertia[1] * q + inertia[2] * r)
    along += q * (inertia[3] * p + inertia[4] * q + inertia[5] * r)
    along += r * (inertia[6] * p + inertia[7] * q + inertia[8] * r)
    return float(0.5 * along)


SCENE = MappingProxyType({"start": set_out, "attempt": one_step, "land": stand, "commit": commit})
"""The phases of steps of a scene, which `advance` calls."""

APART: tuple[Loop[..., Any], ...] = (
    swept, from_inside, follow_path, sweep_and_prune, near_share, pair_share
)  # fmt: skip
"""Loops in which its steps spend their time, compiled apart (`compile_loops`)."""


ENTRIES: Mapping[str, Loop[..., Any]] = MappingProxyType(
    {"retract": retract_bodies, "energy": energy_of_bodies}
)
"""Loops of the entries of a scene."""

PLACE = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", ""))
RATE = (
    ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"),
)  # fmt: skip
SHOWN = (("contacts", ""), ("residual", ""), ("penetration", "m"))


@cache
def pair_kernel() -> Kernel:
    """The kernels of pairs as machine code, once a process."""
    kernel = to_llvm(pair_program())
    kernel.compile(*PairEntries.fields)
    return kernel


@cache
def _compiled() -> CompiledLoops:
    """The entries of scenes as machine code, once a process."""
    return compile_loops([retract_bodies, energy_of_bodies])


def scene_kernel(model: SceneModel, threads: int = 1) -> Kernel:
    """Coordinates of free bodies by name, and the entries that a run calls: `retract`, `energy`.

    Args:
        model: the scene.
        threads: that solve islands of its steps; bits do not depend on it.
    """
    count = np.array([len(model.bodies.names)], dtype=np.int64)
    heavy = np.hstack([model.bodies.mass[:, None], model.bodies.inertia.reshape(-1, 9)])
    weights, gravity = (
        np.ascontiguousarray(heavy, dtype=float),
        np.array(model.gravity, dtype=float),
    )

    def compiler(names: tuple[str, ...]) -> tuple[Mapping[str, int], Any]:
        places = {"retract": [count], "energy": [count, gravity, weights]}
        codes = {}
        for name in names:
            loops = {name: _compiled().address(ENTRIES[name])}
            codes[name] = trampoline(loops, count, [x.ctypes.data for x in places[name]])
        return {name: codes[name][name] for name in names}, (codes, count, gravity, weights)

    program = _program(model, threads)
    nq, nv = program.sizes["nq"], program.sizes["nv"]
    reads = {"retract": {"t": 0, "q": nq, "v": 0, "u": 0, "p": 0, "x": nv}}
    reads["energy"] = {"t": 0, "q": nq, "v": nv, "u": 0, "p": 0, "x": 0}
    kernel = MachineKernel(program, compiler, lambda _: 0, reads=reads)
    kernel.recipe = scene_kernel, (model, threads)
    return kernel


def scene_labels(names: Sequence[str]) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """Labels of the poses and of the twists of bodies, by their names."""
    places = tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in PLACE)
    return places, tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in RATE)


@lru_cache(maxsize=4)
def _labels(names: tuple[str, ...], planes: tuple[str, ...]) -> Mapping[str, tuple[Label, ...]]:
    """Labels of q, v and of what is shown: the same for the same names."""
    q, v = scene_labels(names)
    forces = tuple(Label(f"{plane}.{x}", "N") for plane in planes for x in "xyz")
    return MappingProxyType({"q": q, "v": v, "u": (*(Label(*x) for x in SHOWN), *forces)})


def _program(model: SceneModel, threads: int) -> Program:
    """Names, sizes and labels of a scene; its entry is a loop over bodies."""
    labels = _labels(tuple(model.bodies.names), tuple(model.laws.names))
    sizes = {f"n{array}": len(x) for array, x in labels.items()}
    entries = {
        "retract": Entry.of_loop("retract", (("q", sizes["nq"]),)),
        "energy": Entry.of_loop("energy", (("T", 1), ("U", 1))),
    }
    facts = {
        "scene": model, "identity": _identity(model), "energy": _watched, "threads": threads
    }  # fmt: skip
    return Program(
        # formulas of stop conditions find coordinates by their labels
        name="scene", entries=MappingProxyType(entries), inputs=time_alone(),
        labels=labels,
        sizes=MappingProxyType({**sizes, "nc": 0, "np": 0, "nx": sizes["nv"]}),
        facts=MappingProxyType(facts),
    )  # fmt: skip


def _watched() -> tuple[str, str]:
    """The entry by which the balance of energy of a scene is kept."""
    return "energy", ""


def _identity(model: SceneModel) -> str:
    """A word that is the same for the same scene, in every process: numbers, names, layout."""
    digest = hashlib.sha256(World.text().encode())
    grids = [x.grid for x in model.terrains]
    parts: list[Any] = [model, model.bodies, model.laws, *model.terrains, *grids]
    for part in parts:
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, np.ndarray):
                digest.update(
                    f"{field.name} {value.shape} {value.dtype}".encode() + value.tobytes()
                )
            elif not is_dataclass(value) and field.name not in ("terrains", "name"):
                digest.update(f"{field.name} {value!r}".encode())
    return digest.hexdigest()


ARGUMENTS = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out, ptr %work"

SPINS = 256
"""Looks at a number before a thread gives way."""


def _waiting(name: str, condition: str) -> str:
    """A function that waits until the number at q is, or is not, t."""
    return f"""
define void @{name}({ARGUMENTS}) nounwind {{
begin:
  br label %look
look:
  %k = phi i64 [0, %begin], [%next, %again], [0, %given]
  %bits = load atomic i64, ptr %q acquire, align 8
  %value = bitcast i64 %bits to double
  %done = fcmp {condition} double %value, %t
  br i1 %done, label %end, label %again
again:
  %next = add i64 %k, 1
  %long = icmp uge i64 %next, {SPINS}
  br i1 %long, label %given, label %look
given:
  %_ = call i32 @sched_yield()
  br label %look
end:
  ret void
}}
"""


TEXT = f"""
declare i32 @sched_yield()
define void @publish({ARGUMENTS}) nounwind {{
  %bits = bitcast double %t to i64
  store atomic i64 %bits, ptr %q release, align 8
  ret void
}}
{_waiting("after", "une")}
{_waiting("until", "oeq")}
"""
NAMES = ("publish", "after", "until")
"""Of them, as fields of the crew."""


@cache
def _calls() -> Code:
    """The functions above, once a process."""
    function = getattr(ctypes.CDLL(None), "sched_yield")  # noqa: B009
    address = ctypes.cast(function, ctypes.c_void_p).value
    return load(TEXT, NAMES, imports={"sched_yield": int(address or 0)})


@cache
def _serving() -> CompiledLoops:
    """What further threads do, as machine code, once a process."""
    return compile_loops([serve], apart=APART)


@final
class Helpers:
    """Further threads of one run, which solve islands together with the one that marches.

    The first thread goes on with the run and publishes, by a number that it counts up, that there
    are islands to solve; each has its own, and counts its number up when they are done. So they
    wait for each other a few times a step, without Python. Numbers are read and written as atomic
    ones, and who waits long gives way to other work of the machine.

    Args:
        threads: how many there are with the first one.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "liaison")
        self._serve: Any = _serving().function(serve)

    def __call__(self, arrays: Arrays, march: Callable[[], int]) -> int:
        """Goes on with a run, the others at hand."""
        crew = Crew(arrays.scratch[RESERVED:])
        crew.ints[Crew.slots(*NAMES)] = [_calls()[name] for name in NAMES]
        crew.order[0] = crew.over[0] = 0.0
        crew.done[:] = 0.0
        where = arrays.run.ints.ctypes.data, arrays.scratch.ctypes.data
        helpers = [self._pool.submit(self._serve, k, *where) for k in range(1, self._threads)]
        try:
            return march()
        finally:
            crew.over[0] = 1.0
            crew.order[0] += 1.0
            wait(helpers)
