"""Scene: many free bodies that touch each other and planes, stepped after Moreau and Jean.

Where contacts are too many to be written as formulas each, they are found in the loop: pairs by a
broad phase, gaps and rows by one kernel for each class of pair, impulses by sweeps over contacts.

Public names: Scene.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, final

import numpy as np

from liaison.contacts.impulses.few import FEW, dense_size
from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program import Kernel, to_llvm
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.pairs import pair_program
from liaison.simulation.record.trajectory import Trajectory

from . import layout as at
from .layout import PAIR_ENTRIES, SceneSizes, scene_arrays
from .march import begin_depth, scene_march
from .parts import DEEP, Bodies, Laws, check_start, refuse_start
from .result import scene_events, scene_trajectory

RECORDS = 256
EVENTS = 16
"""Events that fit into their buffer, for each contact there is room for; a step needs eight."""
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
    made.compile(*PAIR_ENTRIES)
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
        self.happened = np.zeros(0)
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
        self.width = 1 + 13 * len(scene.bodies.names) + 3 + 3 * len(scene.planes)
        self.records = np.zeros(RECORDS * self.width)

    def _build(self, capacity: int) -> None:
        b, scene = self.scene.bodies, self.scene
        solid, solid_owner = b.boxes()
        # balls, then boxes, then points
        is_ball = b.ball[:, 3] > 0
        balls = int(np.sum(is_ball))
        held = np.column_stack([solid[:, :3], np.zeros(len(solid))])
        table = np.concatenate([b.ball[is_ball], held, b.ball[~is_ball]])
        owner = np.concatenate([b.owner[is_ball], solid_owner, b.owner[~is_ball]])
        sizes = SceneSizes(
            len(b.names), balls, len(owner), len(scene.planes), capacity, dense_size(), 8 * FEW,
            len(scene.laws.table), len(scene.laws.values), len(solid),
        )  # fmt: skip
        z, k = scene_arrays(sizes)
        put = {
            at.Z_POSE: b.pose, at.Z_SPEED: b.speed, at.Z_MASS: b.mass, at.Z_BALL: table,
            at.Z_INERTIA: np.stack([b.inertia, np.linalg.inv(b.inertia)], axis=1),
            at.Z_PLANE: scene.planes, at.Z_LAWS: scene.laws.values,
            at.Z_SOLID: solid,
        }  # fmt: skip
        for slot, values in put.items():
            z[k[slot] : k[slot] + values.size] = values.ravel()
        kinds = np.concatenate([scene.laws.bodies[owner], scene.laws.planes])
        for slot, numbers in {
            at.K_OWNER: owner, at.K_ORDER: np.arange(balls + len(solid)), at.K_CLASS: kinds,
            at.K_LAWS: scene.laws.table.ravel(),
        }.items():  # fmt: skip
            k[k[slot] : k[slot] + len(numbers)] = numbers
        step, every, tolerance, depth, sweeps = self.settings
        z[[at.STEP, at.T_END, at.TOLERANCE, at.DEPTH]] = step, self.until, tolerance, depth
        z[at.GX : at.GX + 3] = scene.gravity
        z[at.MARGIN], z[at.TOUCH] = 0.01 * self.size, 1e-4 * self.size
        k[[at.EVERY, at.SWEEPS_ALLOWED, at.RECORDS]] = every, sweeps, RECORDS
        k[at.HAS_TURNING] = bool(np.any(scene.laws.values[:, 2:] > 0))
        k[at.EVENT_ROOM] = EVENTS * capacity if self.with_events else 0
        self.happened = np.zeros(at.EVENT * int(k[at.EVENT_ROOM]))
        self.z, self.k = z, k

    def _enlarge(self) -> None:
        """Twice the room for contacts; the state goes on."""
        self._drain_events()
        z, k = self.z, self.k
        n, capacity = int(k[at.BODIES]), int(k[at.CAPACITY])
        self._build(2 * capacity)
        self.z[: at.FLOATS] = z[: at.FLOATS]
        kept = [at.STEPS, at.RECORDED, at.SWEEPS, at.MOST, at.IS_BEGUN, at.LIVING]
        kept += [at.TURNS, at.MISSED, at.PARTS, at.TRIED]
        self.k[kept] = k[kept]
        live = at.LIVE * int(k[at.LIVING])
        for slot, size in ((at.Z_POSE, 7 * n), (at.Z_SPEED, 6 * n), (at.Z_LIVE, live)):
            self.z[self.k[slot] : self.k[slot] + size] = z[k[slot] : k[slot] + size]

    def finish(
        self, time_limit: float | None, progress: Callable[[float], None] | None
    ) -> Trajectory:
        """Goes on to the end."""
        entries = np.array([pair_kernel().address(x) for x in PAIR_ENTRIES], dtype=np.int64)
        go = compiled_scene()[scene_march]
        self._check_start(entries)
        began, tries, status = time.perf_counter(), 1, at.GOOD
        while status != at.DONE:
            start = time.perf_counter()
            status = int(go(entries, self.z, self.k, self.records, self.happened, tries))
            spent = max(time.perf_counter() - start, 1e-9)
            if status == at.GOOD:
                tries = max(1, min(4 * tries, int(tries * SLICE / spent)))
            self._answer(status)
            if progress is not None:
                progress(min(1.0, float(self.z[at.T]) / max(self.until, 1e-300)))
            if time_limit is not None and time.perf_counter() - began > time_limit:
                raise SimulationError(
                    f"the scene was out of time at t = {self.z[at.T]:.9g} s.",
                    status="time limit", t=float(self.z[at.T]),
                    hint="Give it more time, an earlier end or a longer step.",
                )  # fmt: skip
        self._drain()
        self._drain_events()
        scene = self.scene
        return scene_trajectory(
            scene.bodies, scene.laws.names, scene.gravity, np.concatenate(self.rows), self._told(),
            scene_events(scene.bodies, scene.laws.names, np.concatenate(self.events)),
        )  # fmt: skip

    def _check_start(self, entries: Any) -> None:
        """Refuses bodies that begin inside each other, of whatever shapes."""
        look, found = compiled_scene()[begin_depth], -1 - at.CROWDED
        while found == -1 - at.CROWDED:
            found = int(look(entries, self.z, self.k))
            if found == -1 - at.CROWDED:
                self._enlarge()
        z, k, bodies = self.z, self.k, self.scene.bodies
        limit = DEEP * (1 + float(np.max(np.abs(bodies.pose), initial=0.0)))
        if found >= 0 and z[at.SIZE] > limit:
            pair = k[k[at.K_PAIRS] + 2 * found : k[at.K_PAIRS] + 2 * found + 2]
            one, other = (bodies.names[k[k[at.K_OWNER] + x]] for x in pair)
            refuse_start(f"bodies {one!r} and {other!r} begin {z[at.SIZE]:.3g} m inside each other")
        z[at.SIZE] = 0.0

    def _answer(self, status: int) -> None:
        if status == at.FULL:
            self._drain()
            self._drain_events()
        elif status == at.CROWDED:
            self._enlarge()
        elif status == at.NOT_FINITE:
            raise SimulationError(
                f"the scene is no longer finite after t = {self.z[at.T]:.9g} s.",
                status="not finite", t=float(self.z[at.T]),
                hint="Take a smaller step, and look whether bodies begin inside each other.",
            )  # fmt: skip

    def _drain(self) -> None:
        count = int(self.k[at.RECORDED])
        self.rows.append(self.records[: count * self.width].reshape(count, self.width).copy())
        self.k[at.RECORDED] = 0

    def _drain_events(self) -> None:
        count = int(self.k[at.HAPPENED])
        self.events.append(self.happened[: at.EVENT * count].reshape(count, at.EVENT).copy())
        self.k[at.HAPPENED] = 0

    def _told(self) -> dict[str, Any]:
        """What a run says of itself: counts, and the worst of what it missed."""
        z, k = self.z, self.k
        return {
            "steps": int(k[at.STEPS]), "sweeps": int(k[at.SWEEPS]), "contacts": int(k[at.MOST]),
            "turns": int(k[at.TURNS]), "missed": int(k[at.MISSED]),
            "penetration": float(z[at.WORST_DEPTH]), "residual": float(z[at.WORST_RESIDUAL]),
            "step": float(z[at.STEP]), "until": self.until,
        }  # fmt: skip
