"""Worlds as `Runs`: states at instants, how each world ended, series with labels and units.

Public names: Recorder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from liaison.errors import SimulationError
from liaison.simulation.batch.loop import ENDS, MEASURED
from liaison.simulation.batch.plan import Starts
from liaison.simulation.batch.result import Ends, Runs, check_series, runs_of
from liaison.simulation.outcome import REASONS, Outcome
from liaison.simulation.record.trajectory import FAILED
from liaison.simulation.steps.layout import DONE

if TYPE_CHECKING:
    from .worlds import Worlds

NUMBERS = 1_000_000_000
"""Recorded numbers at most: 8 GB."""


@final
class Recorder:
    """States of worlds at instants a number of steps apart.

    Args:
        worlds: as they stand: the first instant.
        steps: that will be taken.
        every: steps between two instants.
    """

    def __init__(self, worlds: Worlds, steps: int, every: int) -> None:
        if int(steps) != steps or steps < 1 or int(every) != every or every < 1:
            raise SimulationError(
                f"{steps} steps recorded every {every} were asked for; both are 1 or more."
            )
        self._worlds = worlds
        first = self._now()
        samples = 1 + -(-steps // every)
        if samples * first.size > NUMBERS:
            raise SimulationError(
                f"{worlds.count} worlds at {samples} instants are {samples * first.size:.2g} "
                f"numbers; {NUMBERS:.0g} are kept at most.",
                hint="Record less often, or take fewer worlds.",
            )
        h = float(worlds.plan.settings.step or 0.0)
        begin = float(np.median(first[:, 0]))
        ends = [min(k * every, steps) for k in range(samples)]
        self._times = begin + h * np.array(ends, dtype=float)
        self._records = np.full((worlds.count, samples, first.shape[1]), np.nan)
        self._records[:, 0] = first
        self._recorded = np.where(worlds.statuses == 0, 1, 0)
        self._taken = worlds.steps_taken.astype(np.int64)
        self._next = 1

    def _now(self) -> np.ndarray[Any, Any]:
        """t, q, v and u of every world, a row each."""
        w = self._worlds
        t, q, v, u = (w.place.numpy(x).astype(float) for x in (w.t, w.q, w.v, w.u))
        u = u if u.ndim > 1 else np.repeat(u[:, None], w.count, axis=1)
        return np.concatenate([t[None], q, v, u]).T

    def note(self) -> None:
        """The states now; those of a lost world are no record of this instant."""
        rows, is_good = self._now(), self._worlds.statuses == 0
        self._records[is_good, self._next] = rows[is_good]
        self._recorded[is_good] += 1
        self._next += 1

    def runs(self, series: Sequence[str]) -> Runs:
        """All worlds, as a batch of runs."""
        check_series(series)
        w = self._worlds
        plan = replace(w.plan, settings=replace(w.plan.settings, every=self._times))
        first = self._records[:, 0]
        sizes = (plan.size("nq"), plan.size("nv"))
        cuts = np.cumsum([1, *sizes])
        p = w.place.numpy(w.p).astype(float)
        p = p.T if p.ndim > 1 else np.tile(p, (w.count, 1))
        _, q, v, u = np.split(first, cuts, axis=1)
        starts = Starts(float(self._times[0]), q, v, u, p)
        return runs_of(plan, starts, self._records, self._ends(sum(sizes)), series)

    def _ends(self, size: int) -> Ends:
        w = self._worlds
        ends, last = Ends.for_runs(w.count, size), self._now()
        statuses, taken = w.statuses, w.steps_taken.astype(np.int64)
        ends.codes[:, 0] = np.where(statuses == 0, DONE, statuses)
        ends.codes[:, ENDS.index("recorded")] = self._recorded
        ends.codes[:, ENDS.index("steps")] = taken - self._taken
        ends.last[:, : 1 + size] = last[:, : 1 + size]
        measures = (w.penetrations, w.residuals, w.contacts)
        ends.last[:, -MEASURED : -MEASURED + 3] = np.stack(measures, axis=1)
        for k in np.flatnonzero(statuses).tolist():
            reason = REASONS.get(int(statuses[k]), f"status {int(statuses[k])}")
            text = f"world {k} is lost after t = {last[k, 0]:.9g} s: {reason}."
            hint = "Take smaller steps; simulate its last state on the processor to see why."
            ends.outcomes[k] = Outcome(FAILED, text, hint, reason)
        return ends
