"""Batches of scenes: each run by itself on a thread of its own, then all stacked as `Runs`.

A member gives the bits that it gives alone: threads share no numbers.

Public names: scene_runs, rows_of_starts, number_of_runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import Interrupted, NamingError, SimulationError
from liaison.numeric import Array
from liaison.simulation.outcome import Outcome, outcome_of
from liaison.simulation.record.series import Series
from liaison.simulation.record.trajectory import FAILED, INTERRUPTED, TIME_LIMIT, Trajectory
from liaison.simulation.run import Run
from liaison.simulation.steps import layout as at
from liaison.units import Label

from .plan import common_length, length_of
from .result import OF_BALANCE, Runs
from .run import SHOWN, batch_failure, check_batch, cores

Ended = tuple[Trajectory, Outcome]


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
            self.over[k] = self._finished(self.make(k))

    def _finished(self, run: Run) -> Ended:
        """A run to its end, or until the batch is ended."""
        ended = self.ended
        try:
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

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
        Interrupted: Ctrl-C, whatever `on_failure` is; carries all of them likewise.
    """
    check_batch(on_failure, threads, time_limit)
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    work = _Work(make, count, deadline)
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
