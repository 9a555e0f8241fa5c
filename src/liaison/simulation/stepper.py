"""Stepper: a mechanism that waits for the next input, for control loops and learning.

    robot = stepper(kernel, state, step=1e-3)
    for k in range(1000):
        state = robot.step({"motor": control(robot.state)}, 0.01)

An event that stops ends the step at its instant: `state.t` says when, `robot.stopped_by` which; the
next step goes on from there. Through contacts `robot.modes` says what holds now, `robot.events`
events of the last step.

Public names: Stepper, stepper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from liaison.arguments import checked, fitting
from liaison.errors import ArgumentError, Interrupted, NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.inputs import one_number
from liaison.simulation.plan.settings import Settings
from liaison.simulation.record.series import EventRecord
from liaison.simulation.record.trajectory import INTERRUPTED
from liaison.simulation.steps import layout as at
from liaison.simulation.steps import sides_layout as side

from .outcome import balance_of, is_off, outcome_of
from .report import event_records
from .run import Run

MODES = {side.OPEN: "open", side.CLOSED: "closed", side.LOCKED: "held"}
SLIDES = {side.OPEN: "open", side.STICK: "sticks", side.SLIP: "slips"}
"""Words of modes: of gaps and relations of rates, and of friction."""

UNWATCHED = "With `watch=False` steps go on whatever the energy does."

WHOLE = 1e-12
"""Of a time that is a whole number of steps but for rounding."""


@checked
def stepper(
    kernel: Kernel,
    state: State,
    *,
    step: float | None = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    parameters: Mapping[str, float] | None = None,
    **more: Any,
) -> Stepper:
    """A stepper from a state; arguments as in `simulate`, further ones as in `Settings`."""
    settings = Settings(step=step, method=method, rtol=rtol, atol=atol, **more)
    return Stepper(kernel, state, settings, parameters)


@final
class Stepper:
    """Holds a state; `step` moves it on under constant inputs.

    Example:
        >>> import liaison
        >>> stepper = liaison.stepper("examples/pendulum.lsd")
        >>> for _ in range(3):
        ...     state = stepper.step(None, 0.01)
        >>> round(state.t, 6)
        0.03
    """

    def __init__(
        self,
        kernel: Kernel,
        state: State,
        settings: Settings,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self._kernel, self._parameters = kernel, parameters
        self._settings = settings
        shown = () if self.is_scene else kernel.program.labels.get("u", ())
        self._units = {x.name: x.unit for x in shown}
        self._names = list(self._units)
        self._begin(state)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy goes on as this one would, bit for bit."""
        parts = (self._kernel, self._first, self._settings, self._parameters)
        return _copy, (parts, self._run.checkpoint(), self._event_rows, self._grid)

    def __repr__(self) -> str:
        return f"<Stepper {self._kernel.program.name}: at {self.state.t:.6g} s>"

    def reset(self, state: State) -> State:
        """Begins anew from a state; inputs take their defaults. Returns the state as projected."""
        before = self._run
        self._begin(state)
        before.leave()
        return self.state

    @property
    def is_scene(self) -> bool:
        """Whether it steps a scene, which has no inputs."""
        return "scene" in self._kernel.program.facts

    def _begin(self, state: State) -> None:
        self._first = state
        self._grid = state.t, 0
        self._run = Run(self._kernel, state, state.t, self._settings, parameters=self._parameters)
        run = self._run.arrays.run
        run.records_steps = run.records_end = run.records_stop = run.samples = 0
        self._advance()

    @property
    def state(self) -> State:
        """The state now."""
        return self._run.state

    @property
    def stopped_by(self) -> tuple[str, ...]:
        """Names of the events that ended the last step before its time; usually none."""
        if self._run.status != at.STOPPED:
            return ()
        events = self._run.own_plan.events
        fired = self._run.arrays.run.fired[: len(events)]
        return tuple(x.name for x, has in zip(events, fired, strict=True) if has and x.stops)

    @property
    def modes(self) -> dict[str, str]:
        """What holds now: "open", "closed" or "held"; of friction "open", "sticks" or "slips"."""
        sides, modes = sides_in(self._run.own_plan.program), self._run.marching
        table = self._run.arrays.run.mode if modes is None else modes.sides.mode
        if self.is_scene:
            from liaison.contacts.scene.report import scene_modes

            return scene_modes(self._run.own_plan, self._run.arrays)
        words = (SLIDES if block[2] == "friction" else MODES for block in sides)
        now = table[: len(sides)].tolist()
        return {x[0]: word[k] for x, word, k in zip(sides, words, now, strict=True)}

    @property
    def events(self) -> tuple[EventRecord, ...]:
        """Events of the last step, in order; after `reset`, at the start."""
        if self.is_scene:
            from liaison.contacts.scene.report import scene_events

            return scene_events(self._run.own_plan, self._event_rows, math.inf)
        return event_records(self._run.own_plan, self._event_rows)

    @fitting
    def step(
        self,
        u: Mapping[str, float | str] | ArrayLike | None = None,
        dt: float | str | None = None,
    ) -> State:
        """Moves on by dt [s] with inputs held at u: by name, or all in order; None keeps them.

        Without dt it is one fixed step; where steps follow from their error it has to be given.
        An input by name is a number, a text with a unit, or an array or a list of one number.
        An event that stops the mechanism ends the step early; see `stopped_by`. Where the balance
        of energy is off by more than steps explain, as in a run that is suspect, it is an error.

        Example:
            >>> import liaison
            >>> stepper = liaison.stepper("examples/pendulum.lsd")
            >>> stepper.step(None, "10 ms").t
            0.01
        """
        if dt is None and self._settings.step is None:
            raise ArgumentError(
                "step(…) has no dt, and steps of this stepper follow from their error.",
                hint="Give it, as in step(dt='10 ms'); or a fixed step to the stepper.",
            )
        dt = one_number(self._settings.step if dt is None else dt, "the time of a step", "s")
        if not (dt > 0 and math.isfinite(dt)):
            raise SimulationError(f"a step of {dt} s; it must be positive and finite.")
        run = self._run.arrays.run
        if u is not None:
            self._set_inputs(u)
        self._run.go_until(self._end_after(dt))
        run.phase, run.is_stopping = at.TRY, 0
        run.ledger.event = max(int(run.ledger.event), at.RESUMED)  # inputs may be others
        self._advance()
        self._check_balance()
        return self.state

    def _check_balance(self) -> None:
        """Raises an error where energy grows by more than steps explain, as a run is suspect."""
        balance = balance_of(self._run.arrays.run)
        if balance is None or not is_off(self._settings, balance):
            return
        from .balance import suspicion

        run = self._run.arrays.run
        row = np.concatenate([[float(run.t)], run.q, run.v, run.u])
        end = suspicion(self._run.own_plan, balance, row[None, :], None)
        if end is not None:
            raise SimulationError(
                end.message, status=end.status, t=self._run.t,
                trajectory=self._run.trajectory(), hint=UNWATCHED,
            )  # fmt: skip

    def _end_after(self, dt: float) -> float:
        """The end of a step: whole fixed steps of a scene are those of a run in one go."""
        run, (base, count) = self._run.arrays.run, self._grid
        t, step = float(run.t), float(run.step)
        more = round(dt / step) if self.is_scene else 0
        if more and abs(dt - more * step) <= WHOLE * dt and t == base + count * step:
            run.t_base, run.base_steps = base, count
            self._grid = base, count + more
            return base + (count + more) * step
        self._grid = t + dt, 0
        return t + dt

    def _advance(self) -> None:
        while True:
            try:
                status = self._run.go()
            except KeyboardInterrupt:
                end = outcome_of(self._run.plan, self._run.arrays, at.GOOD, INTERRUPTED)
                trajectory = self._run.trajectory()
                raise Interrupted(end.message, t=self._run.t, trajectory=trajectory) from None
            if status in (at.DONE, at.STOPPED):
                self._event_rows = self._run.take_event_rows()
                return
            if status >= at.NOT_FINITE:
                end = outcome_of(self._run.plan, self._run.arrays, status)
                raise SimulationError(
                    end.message, status=end.reason, t=self._run.t,
                    trajectory=self._run.trajectory(), hint=end.hint,
                )  # fmt: skip

    def _set_inputs(self, u: Mapping[str, float | str] | ArrayLike) -> None:
        run = self._run.arrays.run
        held = run.u.copy()
        if self.is_scene:
            raise SimulationError("a scene has no inputs.", hint="Write step(None, dt).")
        if isinstance(u, Mapping):
            for name, value in u.items():
                if name not in self._names:
                    raise NamingError.unknown("input", name, self._names)
                number = one_number(value, f"input {name!r}", self._units[name])
                held[self._names.index(name)] = number
        else:
            held[:] = _in_order(u, self._names)
        for name, value in zip(self._names, held.tolist(), strict=True):
            if not math.isfinite(value):
                raise SimulationError(f"input {name!r} is {value}; it must be finite.",
                                      t=self._run.t)  # fmt: skip
        run.u[:] = held
        run.is_fresh = 0


def _in_order(u: ArrayLike, names: list[str]) -> Array:
    """Numbers of all inputs in order; one of another shape is an error."""
    try:
        values = np.atleast_1d(np.asarray(u, dtype=float))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"inputs are {u!r}; all inputs in order are numbers in SI, one for each.",
            hint="Texts with units are given by name.",
        ) from None
    if values.shape != (len(names),):
        listed = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        raise SimulationError(
            f"inputs have the shape {values.shape}; it must be ({len(names)},), a number for each "
            f"input: {listed or 'there is none'}.",
            hint="An array of one row or column is flattened by `numpy.ravel`."
            if values.size == len(names)
            else "",
        )
    return values


def _copy(
    parts: tuple[Any, ...], kept: bytes, event_rows: Array, grid: tuple[float, int]
) -> Stepper:
    """The stepper that was pickled."""
    stepper = Stepper(*parts)
    stepper._run.restore(kept)
    stepper._event_rows, stepper._grid = event_rows, grid
    return stepper
