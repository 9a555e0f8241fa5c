"""simulate: a kernel and a state become a trajectory.

The time loop itself is compiled (`advance.py`); here Python calls it in slices of about 20 ms and
does what a loop cannot: drain recordings, compile entries first needed now, ask controllers,
show progress, obey Ctrl-C and time limits.

Drained: rows that were taken out of the buffers of a run, in their order.

Public names: Run, simulate, Drained.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np

from liaison.arguments import checked
from liaison.errors import Interrupted, SimulationError, interruptible, warn_renamed
from liaison.numeric import Array, State
from liaison.numeric.progress import is_logged, log, working
from liaison.program import Kernel
from liaison.simulation.events.log import Event
from liaison.simulation.plan.options import DEFAULT_SERIES
from liaison.simulation.plan.plan import Plan, has_instants
from liaison.simulation.plan.settings import PROJECTION, Settings, settings_of
from liaison.simulation.plan.timing import instants_of, load_instants
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import FAILED, INTERRUPTED, TIME_LIMIT, Trajectory
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.layout import Arrays
from liaison.simulation.steps.projection import Projection

from .outcome import Outcome, gap, outcome_of, outside, slowness
from .prepared import planned
from .report import scene_trajectory_of, trajectory_of

COUNTED = np.array(at.Run.slots("recorded", "event_count", "recorded_before", "event_count_before"))
"""They change together, all or none, should Ctrl-C come then."""

READ = np.append(COUNTED, at.Run.slots("nq", "nv", "nu", "log_q", "log_v"))
"""What is read to empty the buffers."""


@final
class Drained:
    """Recorded rows (t, q, v, u) and rows of the log, each by those before it."""

    def __init__(self) -> None:
        self._rows: dict[int, Array] = {}
        self._event_rows: dict[int, Array] = {}

    def take(self, arrays: Arrays) -> None:
        """Empties the buffers; repeated after an interruption, it takes each row once."""
        run = arrays.run
        recorded, logged, before, logged_before, *sizes, log_q, log_v = run.ints[READ].tolist()
        if not (recorded or logged) and self._rows and self._event_rows:
            return
        _copy(arrays.records, recorded, 1 + sum(sizes), before, self._rows)
        words = Event.header + log_q + log_v
        _copy(arrays.event_log, logged, words, logged_before, self._event_rows)
        run.ints[COUNTED] = 0, 0, before + recorded, logged_before + logged

    @property
    def rows(self) -> Array:
        """Recorded rows so far."""
        return _joined(self._rows)

    @property
    def event_rows(self) -> Array:
        """Rows of events so far."""
        return _joined(self._event_rows)

    def forget_events(self, arrays: Arrays) -> None:
        """Rows of events are counted from here on."""
        self._event_rows = {0: self.event_rows[:0]}
        arrays.run.event_count_before = 0

    def restore(self, rows: Array, event_rows: Array) -> None:
        """Takes up from rows of a checkpoint."""
        self._rows, self._event_rows = {0: rows}, {0: event_rows}


def _copy(buffer: Array, count: int, size: int, before: int, taken: dict[int, Array]) -> None:
    if count or not taken:
        taken[before] = buffer[: count * size].reshape(count, size).copy()


def _joined(taken: dict[int, Array]) -> Array:
    return np.concatenate([taken[k] for k in sorted(taken)]) if len(taken) > 1 else taken[0]


SLICE = 0.02
"""Seconds of work the compiled loop is given at a time."""

PATIENCE = 20.0
"""Seconds after which a run is looked at that would take far longer."""

HORIZON = 64.0
"""Steps of a caller for which instants are made at once."""

FIRST_SLICE = 4096
"""Steps of the first slice of a run, at most."""

NEEDS = {
    at.NEEDS_CORRECT_Q: "correct_q",
    at.NEEDS_CORRECT_V: "correct_v",
    at.NEEDS_TERMS: "terms",
}
"""Entries that are compiled when a run first needs them."""

OWN = at.Run.slots("has_correct", "has_terms", "capacity", "scratch_dense")
"""What a run knows of its own machine: not taken over from a checkpoint."""


@checked
def simulate(
    kernel: Kernel,
    state: State,
    until: float,
    *,
    step: float | None = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    every: float | Sequence[float] | Array | None = None,
    inputs: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    stop: Any = None,
    series: Sequence[str] = DEFAULT_SERIES,
    time_limit: float | None = None,
    progress: Callable[[float], None] | None = None,
    on_failure: str = "raise",
    projection: Projection | None = None,
    max_step: float = math.inf,
    max_steps: int = 10_000_000,
    residual: float = 1e-8,
    spectral_radius: float | None = None,
    impacts: str = "energetic",
    theta: float | None = None,
    facets: int | None = None,
    watch: bool = True,
) -> Trajectory:
    """Integrates from a state until a time, and records it.

    Args:
        kernel: of a program with the entries `rate` and `retract`, and those of its closures.
        state: where to begin; on its closures (`assemble` makes such states).
        until: time to end at [s].
        step: fixed step [s]; without it the step follows from the tolerances.
        method: "rk4", "tsitouras" or "dormand-prince"; "radau" or
            "generalized-alpha" (with a fixed step) for stiff systems; "gauss4",
            "gauss6", "rattle", "rattle4" or "rattle6", with a fixed step, for long conservative
            runs; "moreau", with a fixed step, through contacts. By default the first with a fixed
            step, the second without.
        rtol: error allowed a step, relative to each coordinate.
        atol: the same, absolute.
        every: instants to record: a period [s], a sequence, or None for every step.
        inputs: name -> number, formula, table or controller; see `inputs.py`.
        parameters: name -> value instead of the default.
        stop: what ends the run: names of events, formulas that change sign, or {label: value}.
        series: entries to evaluate at the recorded states; "reactions", "lam" (multipliers),
            "accelerations", "motions" (of bodies) and "momentum" are not among the default.
        time_limit: seconds of wall clock after which the run ends.
        progress: called with the fraction done, at most every 0.1 s.
        on_failure: "raise", or "return" the partial trajectory.
        projection: tolerances of the closures.
        max_step: longest step of an adaptive method [s].
        max_steps: steps after which the run is rejected.
        residual: when the generated solution of the constrained system is taken over by the
            pivoted one.
        spectral_radius: of "generalized-alpha", 0 to 1: part of a vibration too fast for the step
            that is left after one step.
        impacts: law of impacts: "energetic", "newton", "poisson", "moreau", "stronge" or
            "sequential".
        theta: of "moreau", ½ to 1: where in a step its forces are taken; ½ if not given.
        facets: of "moreau": sides of polygons in the place of round cones of friction.
        watch: keep the balance of energy; status "suspect" where it is off unexplained.

    Raises:
        SimulationError: the run could not go on; carries status, time and partial trajectory.
        Interrupted: Ctrl-C, whatever `on_failure` is; carries time and partial trajectory.
        NamingError: an input, a parameter or an event that the mechanism does not have.
    """
    settings = settings_of(
        step=step, method=method, rtol=rtol, atol=atol, every=every, max_step=max_step,
        max_steps=max_steps, projection=projection or PROJECTION, residual=residual,
        spectral_radius=spectral_radius, impacts=impacts, theta=theta,
        facets=facets, watch=watch,
    )  # fmt: skip
    run = Run(kernel, state, until, settings, inputs=inputs, parameters=parameters, stop=stop)
    trajectory = run.finish(
        series=series, time_limit=time_limit, progress=progress, on_failure=on_failure
    )
    run.leave()
    return trajectory


@final
class Run:
    """A run under way: `go` advances it, `checkpoint` keeps it, `trajectory` shows it.

    Args:
        kernel: see `simulate`.
        state: where to begin.
        until: time to end at [s].
        settings: method, tolerances, recording.
        inputs: see `simulate`.
        parameters: see `simulate`.
        stop: see `simulate`.
        is_compiled: False runs the time loop as plain Python: its test, thousands of times slower.

    Example:
        >>> import liaison
        >>> kernel = liaison.to_kernel("examples/pendulum.lsd")
        >>> state = liaison.assemble(liaison.span(liaison.read("examples/pendulum.lsd")))
        >>> run = liaison.Run(kernel, state, 0.5)
        >>> code = run.go()
        >>> run.is_over, 0 < run.t < 0.5
        (False, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        state: State,
        until: float,
        settings: Settings | None = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        stop: Any = None,
        is_compiled: bool = True,
    ) -> None:
        self.own_plan, self._prepared = planned(
            kernel, state, until, settings or settings_of(), inputs=inputs, parameters=parameters,
            stop=stop, is_compiled=is_compiled,
        )  # fmt: skip
        self._place = self._prepared.workplace(self.own_plan)
        self._machine, self.marching = self._place.machine, self._place.contacts
        self._drained = Drained()
        self._instants = self.own_plan.instants
        self._known_until = -math.inf
        self._known_for: tuple[float, ...] = ()
        self._calls = [0] * len(self.own_plan.inputs.controllers)
        self._tries = self._prepared.pace
        self._pace = 1.0, 0.0
        self.status = at.GOOD
        if self._calls:
            self._control()

    def __repr__(self) -> str:
        plan = self.plan
        return f"<Run {plan.kernel.program.name}: at {self.t:.6g} s of {plan.until:.6g} s>"

    def leave(self) -> None:
        """Gives up its workplace, for another run: this one is not to be used any more."""
        self._prepared.pace = min(self._tries, FIRST_SLICE)
        self._prepared.take_back(self._place)
        del self._place, self._machine

    # going on

    @property
    def plan(self) -> Plan:
        """As the time loop sees it, with contacts among closures and events."""
        return self.own_plan if self.marching is None else self.marching.plan

    @property
    def arrays(self) -> Arrays:
        """Where the run lives: all of its state."""
        return self._machine.arrays

    @property
    def t(self) -> float:
        """The time reached [s]."""
        return float(self.arrays.run.t_good)

    @property
    def state(self) -> State:
        """The last good state."""
        run = self.arrays.run
        return State(self.t, run.good.q, run.good.v, self._labels)

    @property
    def fraction(self) -> float:
        """How much of the run is done, 0 to 1."""
        start, end = self.arrays.run.t_start, self.arrays.run.t_end
        return 1.0 if end <= start else min(1.0, max(0.0, (self.t - start) / (end - start)))

    @property
    def is_over(self) -> bool:
        """The run reached its end, was stopped by an event, or failed."""
        return self.status in (at.DONE, at.STOPPED) or self.status >= at.NOT_FINITE

    def go(self, tries: int | None = None) -> int:
        """Advances by about 20 ms of work, or by `tries` steps; returns a status of `layout`."""
        began = time.perf_counter()
        status = self._machine(self._tries if tries is None else tries)
        if status == at.GOOD and tries is None:
            spent = max(time.perf_counter() - began, 1e-9)
            self._tries = max(1, min(4 * self._tries, int(self._tries * SLICE / spent)))
        if status == at.FULL:
            run = self.arrays.run
            is_crowded = 2 * run.recorded > run.capacity
            self._drain()
            if is_crowded:
                self._machine.enlarge()
        elif status in NEEDS:
            self._add_entry(status)
        elif status == at.CONTROL:
            self._control()
        elif status == at.NEEDS_INSTANTS:
            self._load()
        elif status == at.CROWDED:
            self._make_room()
        elif status == at.BAD_GAP and self.plan.is_scene:
            from liaison.contacts.scene.world import start_error

            raise start_error(self.plan, self.arrays)
        elif self.marching is not None:
            status = self.marching.refined_status(status, self.arrays)
        self.status = status
        return status

    def finish(
        self,
        *,
        series: Sequence[str] = DEFAULT_SERIES,
        time_limit: float | None = None,
        progress: Callable[[float], None] | None = None,
        on_failure: str = "raise",
    ) -> Trajectory:
        """Goes on to the end, and returns the trajectory; see `simulate`."""
        if time_limit is not None and not time_limit > 0:
            raise SimulationError(f"time_limit is {time_limit} s; it must be positive.")
        if on_failure not in ("raise", "return"):
            raise SimulationError(f"on_failure is {on_failure!r}; it is 'raise' or 'return'.")
        cause: BaseException | None = None
        try:
            ended = self._to_the_end(time_limit, progress)
            outcome = self._outcome(ended)
        except KeyboardInterrupt:
            outcome = self._outcome(INTERRUPTED)
        except SimulationError as refusal:
            outcome = Outcome(FAILED, refusal.message, refusal.hint, refusal.status)
            cause = refusal.__cause__
        with interruptible("the evaluation of a run"):
            trajectory = self.trajectory(series, outcome)
        if trajectory.status != outcome.status:
            t, q, v, series_of = trajectory.t, trajectory.q, trajectory.v, trajectory.series
            missed = outside(self.own_plan, t, q, v, series_of)
            outcome = gap(trajectory.t, trajectory.series) or missed or outcome
        if outcome.reason == INTERRUPTED:
            raise Interrupted(outcome.message, t=self.t, trajectory=trajectory) from None
        if outcome.is_failure and on_failure == "raise":
            raise SimulationError(
                outcome.message,
                status=outcome.reason,
                t=self.t,
                trajectory=trajectory,
                hint=outcome.hint,
            ) from cause
        if is_logged("simulation"):
            about = trajectory.name, trajectory.message, trajectory.meta.get("method")
            log("simulation", "%s: %s (%s)", *about)
        return trajectory

    def _to_the_end(
        self, time_limit: float | None, progress: Callable[[float], None] | None
    ) -> str:
        """Goes on until the run is over; TIME_LIMIT if the time is over first."""
        over = math.inf if time_limit is None else time.perf_counter() + time_limit
        if not self.is_over:
            self.go()
        if self.is_over and progress is None:
            return ""  # most short runs: nothing to show
        with working("simulation", f"simulating {self.own_plan.program.name}") as line:
            shown = [line] if progress is None else [line, progress]
            return self._shown_to_the_end(over, shown)

    def _shown_to_the_end(self, over: float, shown: Sequence[Callable[..., None]]) -> str:
        """Goes on until the run is over, or an instant of the wall clock; shows the fraction."""
        begin, last, first = time.perf_counter(), -math.inf, self.fraction
        is_noted = False
        while True:
            now = time.perf_counter()
            if now - last > 0.1 or self.is_over:
                last, self._pace = now, (self.fraction - first, now - begin)
                slow = slowness(self.plan, *self._pace) if now - begin > PATIENCE else ""
                if slow and not is_noted:
                    is_noted = True
                    log("simulation", "%s: %s", self.own_plan.program.name, slow)
                shown[0](self.fraction, slow)
                for show in shown[1:]:
                    show(self.fraction)
            if self.is_over:
                return ""
            if now > over:
                return TIME_LIMIT
            self.go()

    def trajectory(self, series: Sequence[str] = (), outcome: Outcome | None = None) -> Trajectory:
        """What was recorded so far, with series evaluated there."""
        self._drain()
        end = outcome or self._outcome()
        if self.own_plan.is_scene:
            halved = self._missed_with_half_the_step
            where = self.plan, self.arrays, self.rows, self.event_rows
            return scene_trajectory_of(*where, end, halved)
        return trajectory_of(
            self.own_plan,
            self.arrays,
            self.rows,
            self.event_rows,
            series,
            end,
            self.marching,
            simulate,
            None if self._calls else self._missed_with_half_the_step,
        )

    def _missed_with_half_the_step(self) -> float:
        """What the balance of energy misses up to the same instant with half the step [J]."""
        from .between import inputs_of_plan

        own, ledger = self.own_plan, self.arrays.run.ledger
        settings = replace(own.settings, step=(own.settings.step or 0.0) / 2, every=None)
        names = [x.name for x in own.program.labels.get("p", ())]
        again = Run(
            own.kernel, own.state, float(ledger.t_worst), settings,
            inputs=None if own.is_scene else inputs_of_plan(own),
            parameters=dict(zip(names, own.parameters.tolist(), strict=False)),
        )  # fmt: skip
        again._to_the_end(None, None)
        is_whole = again.status in (at.DONE, at.STOPPED)
        return float(again.arrays.run.ledger.worst) if is_whole else math.inf

    def _outcome(self, ended: str = "") -> Outcome:
        plan = self.plan if self.status >= at.NOT_FINITE else self.own_plan
        return outcome_of(plan, self.arrays, self.status, ended, self._pace)

    # what Python does between slices

    def _load(self) -> None:
        """The instants that come next."""
        load_instants(self.arrays.run, self._instants, self.own_plan.settings.max_step)

    def go_until(self, end: float) -> None:
        """Goes on from now with another end, with the inputs as they are now held."""
        run, own, now = self.arrays.run, self.own_plan, float(self.arrays.run.t)
        run.t_end = end
        if not (has_instants(own) and run.is_adaptive):
            return
        places = () if own.timed is None else map(own.program.inputs.get, own.timed.constants)
        values = tuple(run.u[x[1]] for x in places if x is not None and x[0] == "u")
        if end > self._known_until or values != self._known_for:
            # for many steps of this length at once
            self._known_until, self._known_for = now + HORIZON * (end - now), values
            where = own.timed, own.program, now, self._known_until
            self._instants = instants_of(*where, np.array(run.p), np.array(run.u))
        load_instants(run, self._instants, own.settings.max_step)

    def _drain(self) -> None:
        self._drained.take(self.arrays)

    def _add_entry(self, status: int) -> None:
        """Compiles the entry that a step needs.

        Raises:
            SimulationError: the kernel has none.
        """
        entry, run = NEEDS[status], self.arrays.run
        if entry not in self.plan.program.entries:
            raise SimulationError(
                f"the closures of {self.plan.program.name!r} are not met after t = {self.t:g} s, "
                "and its kernel has no pivoted solver.",
                status="inconsistent closures",
                t=self.t,
                hint="Take a smaller step; or written-out equations (sparse=False), which solve "
                "again with pivoting.",
            )
        self._machine.add(self.plan.kernel, entry)
        if status == at.NEEDS_TERMS:
            run.has_terms = 1
        else:
            run.has_correct[status - at.NEEDS_CORRECT_Q] = 1

    def _make_room(self) -> None:
        """Twice the room for the contacts of a scene."""
        from liaison.contacts.scene.world import enlarged

        self._drain()
        self._machine.bind(enlarged(self.plan, self.arrays))

    def _control(self) -> None:
        """Asks the controllers that are due, and sets the next instant at which one is."""
        run = self.arrays.run
        start, now = run.t_start, run.t
        upcoming = math.inf
        for k, controller in enumerate(self.plan.inputs.controllers):
            due = start + self._calls[k] * controller.period
            if due <= now + 1e-12 * max(1.0, abs(now)):
                run.u[controller.slot] = controller.value(float(now), self.now)
                self._calls[k] += 1
                run.is_fresh = 0
                due = start + self._calls[k] * controller.period
            upcoming = min(upcoming, due)
        run.t_control = upcoming
        self._record_inputs()

    def _record_inputs(self) -> None:
        """Puts new inputs into the row that was recorded at this instant: they act from here on."""
        run, plan = self.arrays.run, self.plan
        if not run.recorded:
            return
        first = 1 + int(run.nq) + int(run.nv)
        size = first + int(run.nu)
        row = self.arrays.records[(int(run.recorded) - 1) * size :][:size]
        if abs(row[0] - run.t) > 1e-15 * max(1.0, abs(run.t)):
            return
        row[first:] = run.u
        if plan.inputs.formulas and plan.added is not None:  # which may read the new ones
            u = np.array(run.u)
            values = plan.added("inputs", run.t, q=run.q, v=run.v, u=u, p=plan.parameters)
            row[[first + slot for slot, _ in plan.inputs.formulas]] = values

    @property
    def now(self) -> State:
        """The state the loop holds, before anything is known to be good about it."""
        run = self.arrays.run
        return State(float(run.t), run.q, run.v, self._labels)

    @property
    def _labels(self) -> dict[str, Any]:
        return {k: x for k, x in self.plan.program.labels.items() if k in ("q", "v")}

    # recorded tables, checkpoints

    @property
    def rows(self) -> Array:
        """Recorded rows (t, q, v, u), drained so far."""
        return self._drained.rows

    @property
    def event_rows(self) -> Array:
        """Rows of events (number, t, q, v), drained so far."""
        return self._drained.event_rows

    def take_event_rows(self) -> Array:
        """The same, which are then forgotten: for runs that go on step by step."""
        self._drain()
        rows = self.event_rows
        self._drained.forget_events(self.arrays)
        return rows

    @property
    def happened(self) -> Array:
        """Deprecated name of `event_rows`."""
        warn_renamed("Run.happened", "Run.event_rows")
        return self.event_rows

    def take_happened(self) -> Array:
        """Deprecated name of `take_event_rows`."""
        warn_renamed("Run.take_happened", "Run.take_event_rows")
        return self.take_event_rows()

    def checkpoint(self) -> bytes:
        """All that is needed to go on later, bit for bit: see `restore`."""
        from .checkpoint import Kept, to_bytes

        return to_bytes(self.plan, Kept(self._tables(), self._calls, self.status))

    def _tables(self) -> dict[str, Any]:
        """Arrays that a checkpoint holds, by name."""
        self._drain()
        tables = {"run": self.arrays.run.ints, "rows": self.rows, "event_rows": self.event_rows}
        return tables if self.marching is None else tables | self.marching.kept()

    def keep(self, path: str | Path) -> None:
        """Writes a checkpoint to a file, which is a whole one whenever the process ends."""
        write_file(path, self.checkpoint())

    def restore(self, kept: bytes) -> None:
        """Takes up where `checkpoint` left off; this run was made with the same arguments.

        Raises:
            SimulationError: the checkpoint is damaged, or belongs to another mechanism or to other
                settings.
        """
        from .checkpoint import check_like, from_bytes

        saved = from_bytes(self.plan, kept)
        had = self.arrays.run.ints[OWN]
        if self.plan.is_scene:
            from liaison.contacts.scene.world import with_room

            words = np.size(saved.arrays.get("run", ()))
            self._machine.bind(with_room(self.plan, self.arrays, words))
        check_like(saved, self._tables(), len(self._calls))
        self.arrays.run.ints[:] = saved.arrays["run"]
        self.arrays.run.ints[OWN] = had
        if self.marching is not None:
            self.marching.restore(saved.arrays)
        self._drained.restore(saved.arrays["rows"], saved.arrays["event_rows"])
        self._calls, self.status = saved.calls, saved.status
