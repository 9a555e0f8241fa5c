"""An importer of Model Exchange FMUs for measurements: Runge–Kutta steps of order 8, exact events.

Steps are those of Dormand and Prince of order 8 (SciPy's) at 1e-13. States between the ends of a
step, and where an event indicator changes its sign, come from a step of that length from the same
beginning, so that no interpolation takes part. An event is located to one unit in the last place
of the time, on its far side, as FMI has it.
"""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import DOP853
from scipy.integrate._ivp.rk import rk_step

RTOL, ATOL = 1e-13, 1e-14
MOST = 30_000
"""Steps of a run: near a singular position derivatives are known to fewer digits than asked for."""

PROBES = 8
"""Places inside a step at which signs of event indicators are looked at."""

Array = Any


class Model:
    """An instance of a Model Exchange FMU of either version, by states alone."""

    def __init__(self, path: Path) -> None:
        import fmpy
        from fmpy import fmi2, fmi3

        self.about = fmpy.read_model_description(str(path))
        self.version = int(self.about.fmiVersion[0])
        self.folder = tempfile.mkdtemp()
        fmpy.extract(str(path), self.folder)
        maker = fmi2.FMU2Model if self.version == 2 else fmi3.FMU3Model
        self.fmu = maker(
            guid=self.about.guid, unzipDirectory=self.folder, instanceName="measured",
            modelIdentifier=self.about.modelExchange.modelIdentifier,
        )  # fmt: skip
        self.fmu.instantiate()
        if self.version == 2:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()
        self.nz = self.about.numberOfEventIndicators
        count = self.about.numberOfContinuousStates
        if self.version == 3:
            self.nz = self.fmu.getNumberOfEventIndicators()
            count = self.fmu.getNumberOfContinuousStates()
        self.room, self.signs = (ctypes.c_double * count)(), (ctypes.c_double * self.nz)()
        word = "Derivatives" if self.version == 2 else "ContinuousStateDerivatives"
        self.get_rates = getattr(self.fmu, f"get{word}")
        self.is_over, self.next_time = False, np.inf

    def close(self) -> None:
        """Frees the instance."""
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)

    def states(self) -> Array:
        self.fmu.getContinuousStates(self.room, len(self.room))
        return np.array(self.room)

    def put(self, t: float, x: Array) -> None:
        self.fmu.setTime(t)
        self.room[:] = x
        self.fmu.setContinuousStates(self.room, len(self.room))

    def rates(self, t: float, x: Array) -> Array:
        self.put(t, x)
        self.get_rates(self.room, len(self.room))
        return np.array(self.room)

    def indicators(self, t: float, x: Array) -> Array:
        self.put(t, x)
        self.fmu.getEventIndicators(self.signs, self.nz)
        return np.array(self.signs)

    def wants_event(self) -> bool:
        """Whether the FMU asks for an event after a step."""
        return bool(self.fmu.completedIntegratorStep()[0])

    def pass_event(self, *, is_first: bool = False) -> None:
        """Event mode, and back."""
        if not is_first:
            self.fmu.enterEventMode()
        update = self.fmu.newDiscreteStates if self.version == 2 else self.fmu.updateDiscreteStates
        more = True
        while more:
            more, self.is_over, _, _, has_next, instant = update()
        self.next_time = instant if has_next else np.inf
        self.fmu.enterContinuousTimeMode()


@dataclass
class Record:
    """States at the instants asked for, before events there; instants of state and time events."""

    t: list[float] = field(default_factory=list)
    x: list[Array] = field(default_factory=list)
    events: list[tuple[float, float]] = field(default_factory=list)  # instant, largest jump
    steps: int = 0
    projections: int = 0


def integrated(path: Path, times: Array, *, rtol: float = RTOL, atol: float = ATOL) -> Record:
    """A run of an FMU through instants."""
    model, record = Model(path), Record()
    try:
        model.pass_event(is_first=True)
        t, x = float(times[0]), model.states()
        record.t.append(t)
        record.x.append(x)
        due = 1
        while due < len(times) and not model.is_over:
            t, x, due = _stretch(model, record, (t, x), times, due, (rtol, atol))
        return record
    finally:
        model.close()


def _stretch(
    model: Model, record: Record, start: tuple[float, Array], times: Array, due: int,
    tolerances: tuple[float, float],
) -> tuple[float, Array, int]:  # fmt: skip
    """Steps until the next event; where it leads, and which instant is due then."""
    end = min(float(times[-1]), model.next_time)
    solver = DOP853(
        model.rates, *start, end, rtol=tolerances[0], atol=tolerances[1],
        max_step=(times[-1] - times[0]) / 50,
    )  # fmt: skip
    is_event = False
    while solver.status == "running" and not is_event:
        before, first, rates = solver.t, solver.y.copy(), np.array(solver.f)
        solver.step()
        record.steps += 1
        if record.steps > MOST:
            raise RuntimeError(f"over {MOST} steps of order 8: t = {solver.t:.6g} s is reached")
        if solver.status == "failed":
            raise RuntimeError(f"no step from t = {before!r}")
        step = _Step(model, solver, before, first, rates)
        reached, is_event = step.passed(solver.t)
        x = step.at(reached)
        while due < len(times) and times[due] <= reached:
            record.t.append(float(times[due]))
            record.x.append(step.at(times[due]))
            due += 1
        model.put(reached, x)
        is_noted = is_event = is_event or reached >= model.next_time
        if model.wants_event() and not is_event:
            record.projections += 1
            is_event = True
    if is_event:
        model.pass_event()
        after = model.states()
        if is_noted:
            record.events.append((reached, float(np.max(np.abs(after - x)))))
        x = after
    return reached, x, due


class _Step:
    """A step of a solver, and states inside of it."""

    def __init__(self, model: Model, solver: Any, t: float, x: Array, rates: Array) -> None:
        self.model, self.solver, self.t, self.x, self.rates = model, solver, t, x, rates
        self.room = np.empty_like(solver.K)

    def at(self, t: float) -> Array:
        """The state after a step of another length."""
        if t == self.t:
            return self.x
        s = self.solver
        return rk_step(
            s.fun, self.t, self.x, self.rates, t - self.t, s.A, s.B, s.C, self.room
        )[0]  # fmt: skip

    def passed(self, end: float) -> tuple[float, bool]:
        """Where an event indicator first changes its sign, and whether one does."""
        if not self.model.nz:
            return end, False
        first = self.model.indicators(self.t, self.x)
        low = self.t
        for k in range(1, PROBES + 1):
            high = end if k == PROBES else self.t + k / PROBES * (end - self.t)
            if self.has_changed(first, high):
                return self.bisected(first, low, high), True
            low = high
        return end, False

    def has_changed(self, first: Array, t: float) -> bool:
        """Whether indicators are on other sides than they were."""
        return bool(np.any((first > 0) != (self.model.indicators(t, self.at(t)) > 0)))

    def bisected(self, first: Array, low: float, high: float) -> float:
        """The first instant on the other side."""
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return high
            low, high = (low, middle) if self.has_changed(first, middle) else (middle, high)
