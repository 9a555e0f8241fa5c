"""Scene: many free bodies that touch each other and planes, stepped after Moreau and Jean.

Where contacts are too many to be written as formulas each, they are found in the loop: pairs by a
broad phase, gaps and rows by one kernel for each class of pair, impulses by sweeps over contacts.
A scene runs as every mechanism does; q are the poses of its bodies, v their twists.

Public names: Scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from liaison.contacts.scene.kernel import scene_kernel
from liaison.contacts.scene.parts import Bodies, Laws, SceneModel, Terrain, check_start
from liaison.errors import SimulationError
from liaison.numeric import Array, State
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import si_value, si_values

from .run import Run

STEPS = 10**15
"""Steps allowed: as many as there are until the end."""


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
        terrains: height fields.
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
        terrains: Sequence[Terrain] = (),
    ) -> None:
        self.bodies, self.planes = bodies, _unit_planes(planes)
        self.terrains = tuple(terrains)
        counts = len(bodies.names), len(self.planes), len(self.terrains)
        one = Laws.same(counts[0], counts[1], friction, restitution, fields=counts[2])
        self.laws = one if laws is None else laws
        self.laws.check()
        self.gravity = np.array(gravity, dtype=float)
        check_start(self.bodies, self.planes, self.laws)

    def __repr__(self) -> str:
        count = len(self.terrains)
        fields = f" and {count} height field{'s' if count > 1 else ''}" if count else ""
        bodies, planes = len(self.bodies.names), len(self.planes)
        return f"<Scene of {bodies} bodies and {planes} planes{fields}>"

    def simulate(
        self,
        until: float | str,
        *,
        step: float | str,
        every: int | Sequence[float | str] | Array = 1,
        tolerance: float = 1e-6,
        depth: float = 1e-9,
        sweeps: int = 1000,
        events: bool = True,
        stop: Any = None,
        time_limit: float | str | None = None,
        progress: Callable[[float], None] | None = None,
        on_failure: str = "raise",
        watch: bool = True,
    ) -> Trajectory:
        """Lets the scene move.

        Args:
            until: the last instant [s].
            step: fixed step [s].
            every: record every so many steps, or at these instants [s]; between the ends of a step
                twists are interpolated.
            tolerance: residual beside the strongest impulse, of more than twenty contacts; steps
                that miss it are counted (`meta["missed"]`), and the message says so.
            depth: penetration that is left alone, beside the smallest radius; a thousand times
                that where more than twenty contacts are solved together.
            sweeps: over all contacts, at most, in one problem.
            events: record the events of contacts: `trajectory.events`.
            stop: what ends the run: {label: value}, or formulas that change sign; labels are those
                of the trajectory, and "contacts", "residual", "penetration".
            time_limit: seconds of wall clock after which the run ends.
            progress: called with the fraction done, 0 to 1, about every 0.1 s.
            on_failure: "raise", or "return" the partial trajectory.
            watch: keep the balance of energy (docs/theory/energy.md).

        Raises:
            SimulationError: bodies begin inside each other, the state is no longer finite, or the
                time is over; carries the partial trajectory.
            Interrupted: Ctrl-C, whatever `on_failure` is; carries time and partial trajectory.
        """
        run = self.run(
            until, step=step, every=every, tolerance=tolerance, depth=depth, sweeps=sweeps,
            events=events, stop=stop, watch=watch,
        )  # fmt: skip
        limit = si_value(time_limit, "s", "time_limit")
        return run.finish(time_limit=limit, progress=progress, on_failure=on_failure)

    def run(
        self,
        until: float | str,
        *,
        step: float | str,
        every: int | Sequence[float | str] | Array = 1,
        tolerance: float = 1e-6,
        depth: float = 1e-9,
        sweeps: int = 1000,
        events: bool = True,
        stop: Any = None,
        is_compiled: bool = True,
        watch: bool = True,
    ) -> Run:
        """A run under way, to go on with step by step, to keep as a checkpoint and to restore.

        Args:
            until: see `simulate`, as the following ones.
            step: fixed step [s].
            every: what to record.
            tolerance: of impulses.
            depth: penetration that is left alone.
            sweeps: at most.
            events: of contacts.
            stop: what ends the run.
            is_compiled: False runs the time loop as plain Python: its test.
            watch: keep the balance of energy.
        """
        size: float = si_value(step, "s", "step")
        end: float = si_value(until, "s", "until")
        if not (size > 0 and math.isfinite(size) and end >= 0 and math.isfinite(end)):
            raise SimulationError(f"a scene needs a positive step and end, not {size} and {end}.")
        if not (sweeps == int(sweeps) and sweeps >= 1):
            raise SimulationError(f"sweeps of a scene is {sweeps}; it is a whole number from 1.")
        for name, part in {"tolerance": tolerance, "depth": depth}.items():
            if not 0 < part < 1:
                raise SimulationError(f"{name} of a scene is {part}; it is between 0 and 1.")
        model = SceneModel(
            self.bodies, self.planes, self.laws, self.gravity, tolerance=tolerance, depth=depth,
            sweeps=int(sweeps), events=bool(events), terrains=self.terrains,
        )  # fmt: skip
        kernel, bodies = scene_kernel(model), self.bodies
        state = State(0.0, bodies.pose.ravel(), bodies.speed.ravel(), kernel.program.labels)
        instants = _instants(si_values(every, "s", "every"), size, end)
        settings = settings_of(
            step=size, method="moreau", every=instants, max_steps=STEPS, watch=watch
        )
        return Run(kernel, state, end, settings, stop=stop, is_compiled=is_compiled)


def _instants(every: int | Sequence[float] | Array, step: float, until: float) -> Any:
    """Instants to record: None for every step; the end is one of those of every so many steps."""
    if isinstance(every, Sequence | np.ndarray):
        return every
    if not (every == int(every) and every >= 1):
        raise SimulationError(
            f"every of a scene is {every}; it is a whole number of steps from 1, or instants."
        )
    if every == 1:
        return None
    # in the arithmetic of the time loop, so that they are ends of steps to the bit
    count = math.floor(until / step / every) + 2
    times = (int(every) * np.arange(count)).astype(float) * step
    return np.append(times[times + 1e-6 * step < until], until)


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
