"""Scene: many free bodies that touch each other and planes, stepped after Moreau and Jean.

Where contacts are too many to be written as formulas each, they are found in the loop: pairs by a
broad phase, gaps and rows by one kernel for each class of pair, impulses by sweeps over contacts.

What happened in a scene, as a Trajectory: places and rates of bodies, energy, forces of planes.

Public names: Scene, scene_trajectory, scene_events.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, final

import numpy as np

from liaison.errors import Interrupted, SimulationError
from liaison.numeric import Array
from liaison.program import Kernel, to_llvm
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.records import Rows, evaluate
from liaison.program.pairs import pair_program
from liaison.simulation.events.log import IMPACTS, SLIPS, STICKS, WHATS, Event, entries_of
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.record.trajectory import INTERRUPTED, EventRecord, Series, Trajectory
from liaison.units import Label

from .layout import (
    CROWDED,
    DONE,
    FULL,
    GOOD,
    NOT_FINITE,
    Body,
    Collider,
    Entries,
    Extent,
    Plane,
    Row,
    SceneSizes,
    World,
    fill,
    new_world,
)
from .march import begin_depth, scene_march
from .notes import CODES
from .parts import DEEP, Bodies, Laws, check_start, refuse_start

PLACE = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", ""))
GROUPS = ("sliding", "rolling", "pivoting")
RATE = (
    ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"),
)  # fmt: skip


def scene_events(bodies: Bodies, planes: Sequence[str], happened: Array) -> tuple[EventRecord, ...]:
    """What happened to pairs, in the order of time: 'a-b', or 'a-plane' of a plane.

    Args:
        bodies: what moves.
        planes: names of the planes.
        happened: rows of the log.
    """
    empty = np.zeros(0)
    found = []
    for event in entries_of(happened):
        one = bodies.names[event.second]
        if event.first >= 0:
            pair = f"{bodies.names[event.first]}-{one}"
        else:
            pair = f"{one}-{planes[-1 - event.first]}"
        group, what = divmod(event.what, CODES)
        name = f"{pair}: {GROUPS[group]}" if what in (STICKS, SLIPS) else pair
        fast = event.speed if what == IMPACTS else None
        found.append(EventRecord(name, event.t, empty, empty, WHATS[what], None, fast))
    return tuple(found)


def scene_trajectory(
    bodies: Bodies, planes: Sequence[str], gravity: Array, rows: Array, told: dict[str, Any],
    events: tuple[EventRecord, ...] = (),
) -> Trajectory:  # fmt: skip
    """The record of a scene: q and v by body, as `body.x`, in the axes of the ground.

    Series: energy, contacts (how many), residual, penetration, and planes: the force of each on
    the bodies, by component [N].
    """
    names = bodies.names
    n = len(names)
    counts = {"bodies": n, "planes": len(planes)}

    def column(name: str) -> Array:
        start = evaluate(Row.start(name), counts)
        return rows[:, start : start + evaluate(Row.fields[name].length, counts)]

    t, q, v = column("t")[:, 0], column("q"), column("v")
    series = {
        "energy": Series(_energy(bodies, gravity, q, v), "J", {"part": ("T", "U")}),
        "poses": Series.of_poses(_framed(bodies, _poses(q, n)), names),
        "contacts": Series(column("contacts")[:, 0]),
        "residual": Series(column("residual")[:, 0]),
        "penetration": Series(column("penetration")[:, 0], "m"),
    }
    if len(planes):
        numbers = tuple(x.removeprefix("plane ") for x in planes)
        forces = column("forces").reshape(len(rows), -1, 3)
        series["planes"] = Series(forces, "N", {"plane": numbers, "component": ("x", "y", "z")})
    return Trajectory(
        name="scene",
        t=t.copy(),
        q=q.copy(),
        v=v.copy(),
        labels={
            "q": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in PLACE),
            "v": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in RATE),
        },
        series=series,
        events=events,
        message=f"reached t = {column('t')[-1, 0]:.9g} s{_missed(told)}.",
        counts={x: told[x] for x in ("steps", "sweeps", "turns", "contacts", "missed")},
        meta={"method": "moreau", **told},
    )


def _missed(told: dict[str, Any]) -> str:
    """What a message says where impulses of steps were not found to the tolerance."""
    if told["missed"] == 0:
        return ""
    return (
        f"; impulses of {told['missed']} of {told['steps']} steps miss the tolerance, by a "
        f"residual of {told['residual']:.2g} at most"
    )


def _energy(b: Bodies, gravity: Array, q: Array, v: Array) -> Array:
    """Kinetic and potential energy at every instant."""
    n = len(b.names)
    speed, poses = v.reshape(len(v), n, 6), _poses(q, n)
    local = np.einsum("tnji,tnj->tni", poses[..., :3], speed[..., :3])
    turning = np.einsum("tni,nij,tnj->t", local, b.inertia, local)
    moving = np.einsum("n,tni,tni->t", b.mass, speed[..., 3:], speed[..., 3:])
    height = np.einsum("n,tni,i->t", b.mass, poses[..., 3], gravity)
    return np.stack([0.5 * (turning + moving), -height], axis=1)


def _framed(b: Bodies, poses: Array) -> Array:
    """Poses of the frames of bodies, from those of their centers of mass."""
    if b.frame is None:
        return poses
    R = np.einsum("tnij,njk->tnik", poses[..., :3], b.frame[..., :3])
    p = poses[..., 3] + np.einsum("tnij,nj->tni", poses[..., :3], b.frame[..., 3])
    return np.concatenate([R, p[..., None]], axis=3)


def _poses(q: Array, n: int) -> Array:
    """[R | p] of the centers of mass, shape (instants, n, 3, 4)."""
    table = q.reshape(len(q), n, 7)
    R = rotation_of(table[..., 3:])
    return np.concatenate([R, table[..., :3, None]], axis=3)


RECORDS = 256
EVENTS = 16
"""Events that fit into their buffer, for each contact there is room for; a step needs eight."""
PROGRESS = (
    "t", "h", "left", "turning_residual", "residual", "penetration", "strongest", "worst_residual",
    "worst_depth", "steps", "recorded", "sweeps", "most", "is_begun", "followed", "turns", "missed",
    "parts", "tried",
)  # fmt: skip
"""What a scene under way keeps when it gets more room, besides poses, velocities and pairs."""
SLICE = 0.05
"""Seconds of work between two looks at the clock."""


@cache
def compiled_scene() -> CompiledLoops:
    """The loop of scenes as machine code, once a process."""
    return compile_loops([scene_march, begin_depth])


@cache
def pair_kernel() -> Kernel:
    """The kernels of pairs as machine code, once a process."""
    made = to_llvm(pair_program())
    made.compile(*Entries.fields)
    return made


@final
class Scene:
    """Free bodies, planes, and what holds where they touch.

    Args:
        bodies: what moves.
        planes: (n, d) of each, with n·x ≥ d allowed, shape (p, 4).
        friction: Coulomb's coefficient.
        restitution: e of impacts, 0 to 1.
        gravity: [m/s²].
        laws: instead of friction and restitution: which surfaces touch, and the law of each pair.
    """

    def __init__(
        self,
        bodies: Bodies,
        planes: Sequence[Sequence[float]] | Array,
        *,
        friction: float = 0.0,
        restitution: float = 0.0,
        gravity: Sequence[float] | Array = (0.0, 0.0, -9.81),
        laws: Laws | None = None,
    ) -> None:
        self.bodies, self.planes = bodies, _unit_planes(planes)
        one = Laws.same(len(bodies.names), len(self.planes), friction, restitution)
        self.laws = one if laws is None else laws
        self.laws.check()
        self.gravity = np.array(gravity, dtype=float)
        check_start(self.bodies, self.planes, self.laws)

    def simulate(
        self,
        until: float,
        *,
        step: float,
        every: int = 1,
        tolerance: float = 1e-6,
        depth: float = 1e-9,
        sweeps: int = 1000,
        events: bool = True,
        time_limit: float | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Trajectory:
        """Lets the scene move.

        Args:
            until: the last instant [s].
            step: fixed step [s].
            every: record every so many steps.
            tolerance: residual beside the strongest impulse, of more than twenty contacts; steps
                that miss it are told in the message and counted (`meta["missed"]`).
            depth: penetration that is left alone, beside the smallest radius; a thousand times
                that where more than twenty contacts are solved together.
            sweeps: over all contacts, at most, in one problem.
            events: list what happens to contacts: `trajectory.events`.
            time_limit: seconds of wall clock after which the run is refused.
            progress: told the fraction done.

        Raises:
            SimulationError: bodies begin inside each other, or the state is no longer finite.
        """
        if not (step > 0 and math.isfinite(step) and until >= 0 and math.isfinite(until)):
            raise SimulationError(f"a scene needs a positive step and end, not {step} and {until}.")
        for name, value in {"every": every, "sweeps": sweeps}.items():
            if not (value == int(value) and value >= 1):
                raise SimulationError(f"{name} of a scene is {value}; it is a whole number from 1.")
        for name, part in {"tolerance": tolerance, "depth": depth}.items():
            if not 0 < part < 1:
                raise SimulationError(f"{name} of a scene is {part}; it is between 0 and 1.")
        run = _Run(self, until, step, every, tolerance, depth, sweeps, events)
        return run.finish(time_limit, progress)


def _unit_planes(planes: Sequence[Sequence[float]] | Array) -> Array:
    try:
        table = np.array(planes, dtype=float).reshape(-1, 4)
    except (ValueError, TypeError):
        raise SimulationError(
            f"the planes of a scene are {planes!r}; each is four numbers, (nx, ny, nz, d), with "
            "n·x ≥ d allowed."
        ) from None
    length = np.linalg.norm(table[:, :3], axis=1)
    if not (np.all(np.isfinite(table)) and np.all(length > 0)):
        raise SimulationError("a plane of a scene has no normal; give (n, d) with n·x ≥ d.")
    unit: Array = table / length[:, None]
    return unit


class _Run:
    """A scene under way."""

    def __init__(
        self, scene: Scene, until: float, step: float, every: int, tolerance: float, depth: float,
        sweeps: int, events: bool,
    ) -> None:  # fmt: skip
        self.scene, self.until, self.with_events = scene, until, events
        self.events: list[Array] = []
        solids, _ = scene.bodies.boxes()
        count = len(scene.bodies.owner)
        capacity = 64 + 8 * count + 24 * len(solids) + count * len(scene.planes) // 2
        radii = scene.bodies.ball[:, 3]
        size = float(np.min([*radii[radii > 0], *solids[:, 3:6].ravel()], initial=math.inf))
        self.size = size if math.isfinite(size) else 1.0
        self.settings = (step, every, tolerance, depth * self.size, sweeps)
        self._build(capacity)
        self.rows: list[Array] = []
        self.records = np.zeros(RECORDS * int(self.world.width))

    def _build(self, capacity: int) -> None:
        b, scene = self.scene.bodies, self.scene
        solid, solid_owner = b.boxes()
        # balls, then boxes, then points
        is_ball = b.ball[:, 3] > 0
        balls = int(np.sum(is_ball))
        held = np.column_stack([solid[:, :3], np.zeros(len(solid))])
        ball = np.concatenate([b.ball[is_ball], held, b.ball[~is_ball]])
        owner = np.concatenate([b.owner[is_ball], solid_owner, b.owner[~is_ball]])
        wide = balls + len(solid)
        sizes = SceneSizes(
            bodies=len(b.names), balls=balls, boxes=len(solid), colliders=len(owner),
            planes=len(scene.planes), capacity=capacity, classes=len(scene.laws.table),
            laws=len(scene.laws.values),
        )  # fmt: skip
        self.world = world = new_world(sizes)
        world.pose.floats[:], world.speed.floats[:] = b.pose, b.speed
        world.solid.floats[:], world.law.floats[:] = solid, scene.laws.values
        world.law_between[:], world.order[:] = scene.laws.table, np.arange(wide)
        fill(world.body, Body, mass=b.mass, inertia=b.inertia, inverse=np.linalg.inv(b.inertia))
        surface = scene.laws.bodies[owner]
        fill(
            world.collider, Collider, center=ball[:, :3], radius=ball[:, 3], body=owner,
            surface=surface,
        )  # fmt: skip
        normal, d = scene.planes[:, :3], scene.planes[:, 3]
        fill(world.plane, Plane, normal=normal, d=d, surface=scene.laws.planes)
        fill(world.extent, Extent, body=owner[:wide])
        self._set(world)
        self.happened = Rows(Event, np.zeros(Event.header * int(world.event_room)))

    def _set(self, world: World) -> None:
        """What is wanted of a run."""
        scene = self.scene
        world.step, world.every, world.tolerance, world.depth, world.sweeps_allowed = self.settings
        world.t_end, world.records = self.until, RECORDS
        world.gravity[:] = scene.gravity
        world.margin, world.touch = 0.01 * self.size, 1e-4 * self.size
        world.has_turning = bool(np.any(scene.laws.values[:, 2:] > 0))
        world.event_room = EVENTS * world.capacity if self.with_events else 0

    def _enlarge(self) -> None:
        """Twice the room for contacts; the state goes on."""
        self._drain_events()
        before = self.world
        self._build(2 * int(before.capacity))
        kept = World.slots(*PROGRESS)
        self.world.ints[kept] = before.ints[kept]
        self.world.pose.floats[:] = before.pose.floats
        self.world.speed.floats[:] = before.speed.floats
        followed = int(before.followed)
        self.world.pair.ints[:followed] = before.pair.ints[:followed]

    def finish(
        self, time_limit: float | None, progress: Callable[[float], None] | None
    ) -> Trajectory:
        """Goes on to the end.

        Raises:
            Interrupted: Ctrl-C; carries the partial trajectory.
        """
        entries = Entries.new()
        for name in Entries.fields:
            setattr(entries, name, pair_kernel().address(name))
        self._check_start(entries)
        try:
            self._march(entries, time_limit, progress)
        except KeyboardInterrupt:
            t = float(self.world.t)
            message = f"the scene was interrupted at t = {t:.9g} s."
            told = None
            if self.rows or self.world.recorded:
                told = replace(self._trajectory(), status=INTERRUPTED, message=message)
            raise Interrupted(message, t=t, trajectory=told) from None
        return self._trajectory()

    def _march(
        self,
        entries: Entries,
        time_limit: float | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        go = compiled_scene()[scene_march]
        began, tries, status = time.perf_counter(), 1, GOOD
        while status != DONE:
            start = time.perf_counter()
            status = int(go(entries, self.world, self.records, self.happened, tries))
            spent = max(time.perf_counter() - start, 1e-9)
            if status == GOOD:
                tries = max(1, min(4 * tries, int(tries * SLICE / spent)))
            self._answer(status)
            if progress is not None:
                progress(min(1.0, float(self.world.t) / max(self.until, 1e-300)))
            if time_limit is not None and time.perf_counter() - began > time_limit:
                raise SimulationError(
                    f"the scene was out of time at t = {self.world.t:.9g} s.",
                    status="time limit", t=float(self.world.t),
                    hint="Give it more time, an earlier end or a longer step.",
                )  # fmt: skip

    def _trajectory(self) -> Trajectory:
        """What was recorded so far."""
        self._drain()
        self._drain_events()
        scene = self.scene
        return scene_trajectory(
            scene.bodies, scene.laws.names, scene.gravity, np.concatenate(self.rows), self._told(),
            scene_events(scene.bodies, scene.laws.names, np.concatenate(self.events)),
        )  # fmt: skip

    def _check_start(self, entries: Entries) -> None:
        """Refuses bodies that begin inside each other, of whatever shapes."""
        look, found = compiled_scene()[begin_depth], -1 - CROWDED
        while found == -1 - CROWDED:
            found = int(look(entries, self.world))
            if found == -1 - CROWDED:
                self._enlarge()
        world, bodies = self.world, self.scene.bodies
        limit = DEEP * (1 + float(np.max(np.abs(bodies.pose), initial=0.0)))
        depth = float(world.penetration)
        if found >= 0 and depth > limit:
            pair = world.candidate[found]
            one, other = (
                bodies.names[world.collider[int(x)].body] for x in (pair.first, pair.second)
            )
            refuse_start(f"bodies {one!r} and {other!r} begin {depth:.3g} m inside each other")
        world.penetration = 0.0

    def _answer(self, status: int) -> None:
        if status == FULL:
            self._drain()
            self._drain_events()
        elif status == CROWDED:
            self._enlarge()
        elif status == NOT_FINITE:
            raise SimulationError(
                f"the scene is no longer finite after t = {self.world.t:.9g} s.",
                status="not finite", t=float(self.world.t),
                hint="Take a smaller step, and look whether bodies begin inside each other.",
            )  # fmt: skip

    def _drain(self) -> None:
        width = int(self.world.width)
        self.rows.append(self.records.reshape(-1, width)[: int(self.world.recorded)].copy())
        self.world.recorded = 0

    def _drain_events(self) -> None:
        self.events.append(self.happened.floats[: int(self.world.happened)].copy())
        self.world.happened = 0

    def _told(self) -> dict[str, Any]:
        """What a run says of itself: counts, and the worst of what it missed."""
        world = self.world
        return {
            "steps": int(world.steps), "sweeps": int(world.sweeps), "contacts": int(world.most),
            "turns": int(world.turns), "missed": int(world.missed),
            "penetration": float(world.worst_depth), "residual": float(world.worst_residual),
            "step": float(world.step), "until": self.until,
        }  # fmt: skip
