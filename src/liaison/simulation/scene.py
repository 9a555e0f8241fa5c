"""Scene: many free bodies that touch each other and planes, stepped after Moreau and Jean.

Where contacts are too many to be written as formulas each, they are found in the loop: pairs by a
broad phase, gaps and rows by one kernel for each class of pair, impulses by sweeps over contacts.
A scene runs as every mechanism does; q are the poses of its bodies, v their twists.

Public names: Scene.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from copy import copy
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import fitting
from liaison.contacts.scene.kernel import scene_kernel, scene_labels
from liaison.contacts.scene.layout import MOST_THREADS
from liaison.contacts.scene.parts import Bodies, Laws, SceneModel, Terrain, check_start
from liaison.errors import Interrupted, NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation.batch.plan import common_length, length_of
from liaison.simulation.batch.result import OF_BALANCE, Runs
from liaison.simulation.batch.run import SHOWN, batch_failure, check_batch, cores
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.record.series import Series
from liaison.simulation.record.trajectory import FAILED, INTERRUPTED, TIME_LIMIT, Trajectory
from liaison.simulation.steps import layout as at
from liaison.simulation.worlds.worlds import Worlds, worlds_of
from liaison.units import Label, si_value, si_values

from .outcome import Outcome, outcome_of
from .run import Run
from .stepper import Stepper

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
        name: of its runs.
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
        name: str = "scene",
    ) -> None:
        self.name = name
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

    @fitting
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
        threads: int = 1,
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
            threads: that solve groups of bodies which do not touch each other at the same time;
                results have the same bits for any number. Those that wait take time of their core.
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
            events=events, threads=threads, stop=stop, watch=watch,
        )  # fmt: skip
        limit = si_value(time_limit, "s", "time_limit")
        return run.finish(time_limit=limit, progress=progress, on_failure=on_failure)

    @fitting
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
        threads: int = 1,
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
            threads: how many.
            stop: what ends the run.
            is_compiled: False runs the time loop as plain Python: its test.
            watch: keep the balance of energy.
        """
        end: float = si_value(until, "s", "until")
        if not (end >= 0 and math.isfinite(end)):
            raise SimulationError(f"a scene needs an end from 0 s on, not {end}.")
        size = _checked_step(step)
        kernel = self._kernel(
            tolerance=tolerance, depth=depth, sweeps=sweeps, events=events,
            threads=threads if is_compiled else 1,
        )  # fmt: skip
        instants = _instants(si_values(every, "s", "every"), size, end)
        settings = settings_of(
            step=size, method="moreau", every=instants, max_steps=STEPS, watch=watch
        )
        state = self._start(kernel)
        return Run(kernel, state, end, settings, stop=stop, is_compiled=is_compiled)

    @fitting
    def stepper(
        self,
        *,
        step: float | str,
        tolerance: float = 1e-6,
        depth: float = 1e-9,
        sweeps: int = 1000,
        events: bool = True,
        threads: int = 1,
    ) -> Stepper:
        """The scene step by step: `its.step(None, dt)`, as `liaison.stepper` of a mechanism.

        Whole steps give the bits of a run in one go. `its.modes` says which pairs are closed, and
        which of them stick or slip.

        Args:
            step: fixed step [s].
            tolerance: see `simulate`, as the following ones.
            depth: penetration that is left alone.
            sweeps: at most.
            events: of contacts.
            threads: how many.
        """
        size = _checked_step(step)
        kernel = self._kernel(
            tolerance=tolerance, depth=depth, sweeps=sweeps, events=events, threads=threads
        )
        settings = settings_of(step=size, method="moreau", max_steps=STEPS)
        return Stepper(kernel, self._start(kernel), settings)

    @fitting
    def simulate_batch(
        self,
        until: float | str,
        *,
        start: Mapping[str, Any],
        step: float | str,
        every: int | Sequence[float | str] | Array | None = None,
        threads: int | None = None,
        time_limit: float | str | None = None,
        on_failure: str = "raise",
        progress: Callable[[float], None] | None = None,
        **options: Any,
    ) -> Runs:
        """Lets the scene move many times, on all cores, from many starts.

        A run has the bits that it has alone. A start that does not hold is a run that failed, and
        says why; the others run.

        Args:
            until: the last instant [s].
            start: label ("ball.x", "ball.vz") -> a number, or one for each run, in SI.
            step: fixed step [s].
            every: record every so many steps, or at these instants [s]; the first and the last
                if not given.
            threads: how many; all cores if not given.
            time_limit: seconds of wall clock after which the runs still under way are left.
            on_failure: "raise" if a run fails, or "return" all of them, each with its status.
            progress: called with the fraction of runs that are over.
            **options: tolerance, depth, sweeps, events, stop and watch, as of `simulate`.

        Raises:
            SimulationError: some runs could not go on; carries all of them as `trajectory`.
        """
        size, end = _checked_step(step), float(si_value(until, "s", "until"))
        listed = [0.0, end] if every is None else si_values(every, "s", "every")
        instants = _instants(listed, size, end)
        if instants is None:
            instants = _whole_steps(1, size, end)
        scenes, faults = self._with_starts(start)
        return scene_runs(
            lambda k: scenes[k].run(end, step=size, every=instants, **options), len(scenes),
            np.asarray(instants, dtype=float), threads=threads,
            time_limit=si_value(time_limit, "s", "time_limit"), on_failure=on_failure,
            progress=progress, faults=faults,
        )  # fmt: skip

    @fitting
    def worlds(
        self,
        count: int,
        *,
        step: float | str,
        state: State | None = None,
        device: str = "gpu",
        precision: str = "double",
        tolerance: float = 1e-6,
        depth: float = 1e-9,
        sweeps: int = 1000,
    ) -> Worlds:
        """Many copies of a scene of balls and planes that step together; see `liaison.worlds`.

        Args:
            count: of worlds.
            step: fixed step [s].
            state: where they start; as the scene does if not given.
            device: "gpu", "gpu:1" for the second one, or "processor", which runs the same code.
            precision: "double" or "single".
            tolerance: see `simulate`, as the following ones; a world that misses it is lost.
            depth: penetration that is left alone.
            sweeps: at most.

        Raises:
            SimulationError: what of the scene they do not take, by name.
        """
        size = _checked_step(step)
        kernel = self._kernel(
            tolerance=tolerance, depth=depth, sweeps=sweeps, events=False, threads=1
        )
        start = self._start(kernel) if state is None else state
        return worlds_of(kernel, start, count, step=size, device=device, precision=precision)

    def _with_starts(
        self, start: Mapping[str, Any]
    ) -> tuple[list[Scene], dict[int, SimulationError]]:
        """The same scene from each of the starts, and why some of them do not hold."""
        q, v = scene_labels(self.bodies.names)
        count = number_of_runs(start, [x.name for x in (*q, *v)])
        n = len(self.bodies.names)
        poses = rows_of_starts(q, self.bodies.pose.ravel(), start, count).reshape(count, n, 7)
        speeds = rows_of_starts(v, self.bodies.speed.ravel(), start, count).reshape(count, n, 6)
        scenes, faults = [], {}
        for k, (pose, speed) in enumerate(zip(poses, speeds, strict=True)):
            scene = copy(self)
            scene.bodies = replace(self.bodies, pose=pose, speed=speed)
            scenes.append(scene)
            try:
                check_turns(scene.bodies)
                check_start(scene.bodies, self.planes, self.laws)
            except SimulationError as fault:
                if not (np.isfinite(pose).all() and np.isfinite(speed).all()):
                    message = f"run {k} of the batch: {fault.message}"
                    raise SimulationError(message, status=fault.status) from None
                faults[k] = fault
        return scenes, faults

    def _kernel(
        self, *, tolerance: float, depth: float, sweeps: int, events: bool, threads: int
    ) -> Kernel:
        """The kernel of its runs with these options, which are checked."""
        if not (isinstance(threads, int | np.integer) and 1 <= threads <= MOST_THREADS):
            raise SimulationError(
                f"threads of a scene is {threads!r}; it is a whole number from 1 to {MOST_THREADS}."
            )
        if not (isinstance(sweeps, int | np.integer) and sweeps >= 1):
            raise SimulationError(f"sweeps of a scene is {sweeps!r}; it is a whole number from 1.")
        for name, part in {"tolerance": tolerance, "depth": depth}.items():
            if not 0 < part < 1:
                raise SimulationError(f"{name} of a scene is {part}; it is between 0 and 1.")
        model = SceneModel(
            self.bodies, self.planes, self.laws, self.gravity, tolerance=tolerance, depth=depth,
            sweeps=int(sweeps), events=bool(events), terrains=self.terrains, name=self.name,
        )  # fmt: skip
        return scene_kernel(model, int(threads))

    def _start(self, kernel: Kernel) -> State:
        """Where its runs begin."""
        labels = kernel.program.labels
        return State(0.0, self.bodies.pose.ravel(), self.bodies.speed.ravel(), labels)


def _checked_step(step: float | str) -> float:
    """A step [s], positive and finite."""
    size: float = si_value(step, "s", "step")
    if not (size > 0 and math.isfinite(size)):
        raise SimulationError(f"a scene needs a positive step, not {size}.")
    return size


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
    return _whole_steps(int(every), step, until)


def _whole_steps(every: int, step: float, until: float) -> Array:
    """Every so many ends of steps, to the bit in the arithmetic of the time loop, and the end."""
    count = math.floor(until / step / every) + 2
    times = (every * np.arange(count)).astype(float) * step
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


Ended = tuple[Trajectory, Outcome]

UNIT = 1e-6
"""By which a quaternion of a start may differ from length 1."""


def rows_of_starts(
    labels: Sequence[Label], first: Array, start: Mapping[str, Any], count: int
) -> Array:
    """A row of starts for each run: the scene's own, with some values given by label."""
    table = np.tile(first, (count, 1))
    places = {x.name: k for k, x in enumerate(labels)}
    for name, values in start.items():
        if name in places:
            table[:, places[name]] = np.asarray(values, dtype=float)
    return table


def check_turns(bodies: Bodies) -> None:
    """Raises an error for a quaternion that is not of length 1."""
    lengths = np.linalg.norm(bodies.pose[:, 3:], axis=1)
    for name, length in zip(bodies.names, lengths, strict=True):
        if abs(length - 1.0) > UNIT:
            parts = ", ".join(f"{name}.{x}" for x in ("qw", "qx", "qy", "qz"))
            raise SimulationError(
                f"the start does not hold: the quaternion of body {name!r} has the length "
                f"{length:.6g}, and not 1.",
                hint=f"Give all four parts, {parts}.",
                status="inconsistent start",
            )


def number_of_runs(start: Mapping[str, Any], names: Sequence[str]) -> int:
    """How many runs a start is for; raises an error for labels that are not there."""
    for name in start:
        if name not in names:
            raise NamingError.unknown("start", name, names)
    count = common_length({f"start {k!r}": length_of(f"start {k!r}", x) for k, x in start.items()})
    if count is None:
        raise SimulationError(
            "no list of values: that is one run, not a batch.",
            hint="Give an array of values for a label, or call simulate.",
        )
    return count


@final
@dataclass(slots=True)
class _Work:
    """Runs that wait, and those that are over."""

    make: Callable[[int], Run]
    count: int
    deadline: float
    faults: Mapping[int, SimulationError]
    taken: int = 0
    ended: str = ""
    over: dict[int, Ended] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def share(self) -> None:
        """Runs one after the other, until none waits."""
        while True:
            with self.lock:
                k, self.taken = self.taken, self.taken + 1
            if k >= self.count:
                return
            self.over[k] = self._finished(self.make(k), self.faults.get(k))

    def _finished(self, run: Run, fault: SimulationError | None) -> Ended:
        """A run to its end, or until the batch is ended; at its start where that is a fault."""
        ended = self.ended
        try:
            if fault is not None:
                raise fault
            while not run.is_over and not ended:
                run.go()
                late = TIME_LIMIT if time.perf_counter() > self.deadline else ""
                ended = "" if run.is_over else self.ended or late
            outcome = outcome_of(run.plan, run.arrays, at.GOOD if ended else run.status, ended)
        except SimulationError as refusal:
            outcome = Outcome(FAILED, refusal.message, refusal.hint, refusal.status)
        return run.trajectory((), outcome), outcome


def scene_runs(
    make: Callable[[int], Run],
    count: int,
    instants: Array,
    *,
    threads: int | None = None,
    time_limit: float | None = None,
    on_failure: str = "raise",
    progress: Callable[[float], None] | None = None,
    faults: Mapping[int, SimulationError] = MappingProxyType({}),
) -> Runs:
    """Runs of scenes that record at the same instants, stacked.

    Args:
        make: the k-th run, not begun.
        count: how many.
        instants: that all record [s].
        threads: how many; all cores if not given.
        time_limit: seconds of wall clock after which the runs still under way are left.
        on_failure: "raise" if a run fails, or "return" all of them, each with its status.
        progress: called with the fraction of runs that are over, about every 0.1 s.
        faults: number of a run -> why it does not begin.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
        Interrupted: Ctrl-C, whatever `on_failure` is; carries all of them likewise.
    """
    check_batch(on_failure, threads, time_limit)
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    work = _Work(make, count, deadline, faults)
    with ThreadPoolExecutor(min(threads or cores(), count), "liaison") as pool:
        left = {pool.submit(work.share) for _ in range(min(threads or cores(), count))}
        try:
            while left:
                done, left = wait(left, timeout=SHOWN, return_when="FIRST_EXCEPTION")
                for worker in done:
                    worker.result()
                if progress is not None:
                    progress(len(work.over) / count)
        except BaseException as fault:
            work.ended = INTERRUPTED
            if not isinstance(fault, KeyboardInterrupt):
                raise
    runs = _stacked([work.over[k] for k in range(count)], instants)
    if work.ended:
        message = f"the batch was interrupted after {int(runs.success.sum())} of {count} runs."
        raise Interrupted(message, t=float(runs.end_t.max()), trajectory=runs)
    failed = np.flatnonzero([bool(reason) for reason in runs.reasons])
    if on_failure == "raise" and failed.size:
        raise batch_failure(runs, failed)
    return runs


def _stacked(ended: Sequence[Ended], instants: Array) -> Runs:
    """All runs with one axis more; NaN at instants that a run did not reach."""
    runs = [trajectory for trajectory, _ in ended]
    n, first = len(instants), runs[0]
    recorded = np.array([_reached(run, instants) for run in runs], dtype=np.int64)
    series = {}
    for name, shape in first.series.items():
        values = [run.series[name].values for run in runs]
        series[name] = _padded(values, recorded, n), Series(shape.values, shape.unit, shape.axes)
    meta = {x: y for x, y in first.meta.items() if x not in _numbers(first)}
    balance = {x: y for x, y in first.meta["energy_balance"].items() if x not in OF_BALANCE}
    return Runs(
        name=first.name, t=instants, q=_padded([x.q for x in runs], recorded, n),
        v=_padded([x.v for x in runs], recorded, n), recorded=recorded, labels=first.labels,
        series=series, parameters=np.zeros((len(runs), 0)),
        end_t=np.array([x.t[-1] for x in runs]), end_q=np.array([x.q[-1] for x in runs]),
        end_v=np.array([x.v[-1] for x in runs]), statuses=tuple(x.status for x in runs),
        messages=tuple(x.message for x in runs), reasons=tuple(x.reason for _, x in ended),
        events=[x.events for x in runs],
        counts={x: np.array([run.counts[x] for run in runs]) for x in first.counts},
        measures=_measures(runs), meta=meta | {"energy_balance": balance},
    )  # fmt: skip


def _reached(run: Trajectory, instants: Array) -> int:
    """How many of the instants a run recorded, from the first on."""
    n = min(len(run.t), len(instants))
    same = run.t[:n] == instants[:n]
    return n if same.all() else int(np.argmin(same))


def _padded(values: Sequence[Array], recorded: NDArray[np.int64], n: int) -> Array:
    """Values of all runs at all instants."""
    table = np.full((len(values), n, *values[0].shape[1:]), np.nan)
    for row, own, count in zip(table, values, recorded, strict=True):
        row[:count] = own[:count]
    return table


def _numbers(run: Trajectory) -> dict[str, float]:
    """What of the data of a run is a number of its own."""
    shared = ("step", "until")
    return {x: y for x, y in run.meta.items() if isinstance(y, int | float) and x not in shared}


def _measures(runs: Sequence[Trajectory]) -> dict[str, Array]:
    """Numbers of each run, and of its balance of energy."""
    measures = {x: np.array([run.meta[x] for run in runs]) for x in _numbers(runs[0])}
    for name, other in OF_BALANCE.items():
        if all(name in run.meta["energy_balance"] for run in runs):
            measures[other] = np.array([run.meta["energy_balance"][name] for run in runs])
    return measures
