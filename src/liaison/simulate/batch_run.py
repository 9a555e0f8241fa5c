"""simulate_batch: many runs of one mechanism on all cores, from many starts or parameters.

Each run is computed as `simulate` computes it, bit for bit, by a thread that runs machine code
only; how many threads there are changes nothing but the time.

Public names: simulate_batch.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.program.to_numpy import NumpyKernel

from . import batch_loop as each
from . import layout as at
from .batch_plan import Starts, instants_of, starts_of
from .batch_result import Ends, Runs, runs_of
from .inputs import inputs_of
from .machine import Machine
from .outcome import outcome_of
from .plan import Plan, arrays_of, plan_of
from .projection import Projection
from .run import NEEDS, add_entries
from .settings import Settings
from .trajectory import INTERRUPTED, TIME_LIMIT

BATCH_SERIES = ("energy", "outputs", "closure")
"""Entries evaluated at the recorded states unless said otherwise."""

SLICE = 0.05
"""Seconds of work a thread does before it looks whether it should stop."""

NUMBERS = 1_000_000_000
"""Recorded numbers at most: 8 GB."""


def simulate_batch(
    kernel: Kernel,
    states: State | Sequence[State],
    until: float,
    *,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    step: float | None = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    every: float | Sequence[float] | Array | None = None,
    stop: Any = None,
    series: Sequence[str] = BATCH_SERIES,
    threads: int | None = None,
    time_limit: float | None = None,
    on_failure: str = "raise",
    projection: Projection | None = None,
    max_step: float = math.inf,
    max_steps: int = 10_000_000,
    residual: float = 1e-8,
) -> Runs:
    """Integrates from many starts until a time, on all cores.

    Args:
        kernel: machine code of a program, as for `simulate`.
        states: where each run begins, all at the same time; one state serves all runs.
        until: time to end at [s].
        parameters: name -> number, or an array with one for each run.
        inputs: name -> number, formula or table as for `simulate`; or an array with one number for
            each run. Controllers are not taken: they would ask Python at every step.
        step: fixed step [s]; without it the step follows from the tolerances.
        method: as for `simulate`.
        rtol: error allowed a step, relative to each coordinate.
        atol: the same, absolute.
        every: instants to record: a period [s], a sequence, or None for the first and the last.
        stop: what ends a run, as for `simulate`.
        series: of "energy", "outputs", "poses", "momentum", "closure".
        threads: how many; all cores if None.
        time_limit: seconds of wall clock after which the runs still under way are left.
        on_failure: "raise" if a run fails, or "return" all of them, each with its status.
        projection: tolerances of the closures.
        max_step: longest step of an adaptive method [s].
        max_steps: steps after which a run is refused.
        residual: as for `simulate`.

    Returns:
        All runs; numbers that a run did not reach are NaN, and its status says why.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
    """
    settings = Settings(
        step=step, method=method, rtol=rtol, atol=atol, every=every, max_step=max_step,
        max_steps=max_steps, projection=projection or Projection(), residual=residual,
    )  # fmt: skip
    _check(kernel, on_failure, threads)
    _check_sides(kernel)
    plan, starts = _planned(kernel, states, until, settings, parameters, inputs, stop)
    batch = _Batch(plan, starts, threads or _cores())
    batch.finish(time_limit)
    found = runs_of(plan, starts, batch.records, batch.ends, series)
    failed = np.flatnonzero(~found.success)
    if on_failure == "raise" and failed.size:
        raise _failure(found, failed)
    return found


def _check(kernel: Kernel, on_failure: str, threads: int | None) -> None:
    if on_failure not in ("raise", "return"):
        raise SimulationError(f"on_failure is {on_failure!r}; it is 'raise' or 'return'.")
    if isinstance(kernel, NumpyKernel):
        raise SimulationError(
            "a batch runs machine code, and this kernel is interpreted.", hint="Use to_llvm."
        )
    if threads is not None and threads < 1:
        raise SimulationError(f"threads is {threads}; it must be positive.")


def _check_sides(kernel: Kernel) -> None:
    for block in kernel.program.facts.get("sides", ()):
        raise SimulationError(
            f"{block[1]!r} holds on one side only; a batch of runs does not find where such "
            "relations close and open.",
            status="one-sided",
            hint="Call simulate for each run.",
        )


def _planned(
    kernel: Kernel,
    states: State | Sequence[State],
    until: float,
    settings: Settings,
    parameters: Mapping[str, Any] | None,
    inputs: Mapping[str, Any] | None,
    stop: Any,
) -> tuple[Plan, Starts]:
    """What all runs share, and the row of each."""
    many = {k: x for k, x in (inputs or {}).items() if isinstance(x, np.ndarray) and x.ndim == 1}
    common = {k: x for k, x in (inputs or {}).items() if k not in many}
    held = inputs_of(kernel.program, common)
    if held.controllers:
        raise SimulationError(
            f"input {held.controllers[0].name!r} has a controller; a batch asks no Python.",
            hint="Give a formula or a table, or call simulate for each run.",
        )
    starts = starts_of(kernel.program, states, parameters or {}, many, held.held)
    first = states if isinstance(states, State) else states[0]
    instants = instants_of(settings, starts.t, until)
    settings = replace(settings, every=instants)
    names = [label.name for label in kernel.program.labels.get("p", ())]
    values = dict(zip(names, starts.p[0], strict=False))
    plan = plan_of(kernel, first, until, settings, inputs=common, parameters=values, stop=stop)
    _check_size(len(starts), instants.size, 1 + first.q.size + first.v.size + held.held.size)
    return plan, starts


def _check_size(runs: int, instants: int, numbers: int) -> None:
    if runs * instants * numbers > NUMBERS:
        raise SimulationError(
            f"{runs} runs of {instants} instants record {runs * instants * numbers:.2g} numbers; "
            f"a batch takes {NUMBERS:.0g} at most.",
            hint="Record fewer instants, or make several batches.",
        )


def _failure(found: Runs, failed: NDArray[np.intp]) -> SimulationError:
    k = int(failed[0])
    return SimulationError(
        f"{failed.size} of {len(found)} runs of the batch failed; run {k}: {found.messages[k]}",
        status=found.reasons[k],
        t=float(found.end_t[k]),
        trajectory=found,
        hint="on_failure='return' gives all of them, each with its status.",
    )


@final
class _Batch:
    """Runs under way: the threads take one share after the other."""

    def __init__(self, plan: Plan, starts: Starts, threads: int) -> None:
        self.plan, self.starts = plan, starts
        self.template = arrays_of(plan)
        n, count = self.template.n, len(starts)
        self.row = int(1 + n[at.NQ] + n[at.NV] + n[at.NU])
        n[at.CAPACITY] = int(n[at.SAMPLES])
        self.records = np.full((count, int(n[at.SAMPLES]), self.row), np.nan)
        self.ends = Ends.for_runs(count, int(n[at.NQ] + n[at.NV]))
        self.table = starts.table
        self.threads = min(threads, count)
        self._lock = Lock()
        self._ended = ""

    def finish(self, time_limit: float | None) -> None:
        """Goes on until all runs are over, the time is, or Ctrl-C."""
        deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
        shares = iter(_shares(len(self.starts), self.threads))
        with ThreadPoolExecutor(self.threads, thread_name_prefix="liaison") as pool:
            workers = [pool.submit(self._work, shares, deadline) for _ in range(self.threads)]
            try:
                for worker in workers:
                    worker.result()
            except BaseException as fault:
                self._ended = INTERRUPTED
                if not isinstance(fault, KeyboardInterrupt):
                    raise

    def _work(self, shares: Iterator[tuple[int, int]], deadline: float) -> None:
        with self._lock:
            worker = _Worker(self)
        while not self._ended:
            with self._lock:
                share = next(shares, None)
            if share is None:
                return
            worker.begin(*share)
            while not worker.is_done and not self._ended:
                worker.go(self._lock)
                if time.perf_counter() > deadline and not worker.is_done:
                    self._ended = self._ended or TIME_LIMIT
        worker.leave(self._ended)


@final
class _Worker:
    """The arrays of one thread, and what Python does for the run it has under way."""

    def __init__(self, batch: _Batch) -> None:
        self._batch = batch
        a = batch.template
        own = replace(
            a, w=a.w.copy(), n=a.n.copy(), records=np.zeros(1), happened=a.happened.copy()
        )
        self._machine = Machine(own)
        add_entries(self._machine, batch.plan)
        self._task = np.zeros(each.TASK, dtype=np.int64)
        self._task[each.FLOATS_OF_RUN], self._task[each.INTS_OF_RUN] = a.w.size, a.n.size
        self._task[each.NUMBER_OF_P] = batch.starts.p.shape[1]
        self._task[each.RECORDS_OF_RUN] = batch.records[0].size
        self._budget = 256
        self._call = each.compiled_batch()
        self._addresses = self._bound()

    def _bound(self) -> list[int]:
        a, b = self._machine.arrays, self._batch
        listed = (
            self._machine.addresses, self._task, b.template.w, b.template.n, a.w, a.n, a.scratch,
            b.table, b.records, a.happened, b.ends.codes, b.ends.last,
        )  # fmt: skip
        return [x.ctypes.data for x in listed]

    def begin(self, first: int, end: int) -> None:
        """Takes a share of the runs."""
        self._task[[each.NEXT, each.LAST, each.IS_UNDER_WAY]] = first, end, 0

    @property
    def is_done(self) -> bool:
        """The share is done."""
        return bool(self._task[each.NEXT] >= self._task[each.LAST])

    def go(self, lock: Lock) -> None:
        """Works for about 50 ms, or until Python has something to do, and does it."""
        self._task[each.BUDGET] = self._budget
        began = time.perf_counter()
        status = int(self._call(*self._addresses))
        if status == at.GOOD:
            spent = max(time.perf_counter() - began, 1e-9)
            self._budget = max(1, min(4 * self._budget, int(self._budget * SLICE / spent)))
        elif status in NEEDS:
            with lock:  # others may be compiling
                self._machine.add(self._batch.plan.kernel, NEEDS[status][0])
            self._addresses = self._bound()
        else:
            self._take_events()
            if not self._task[each.IS_UNDER_WAY]:
                self._ended(int(self._task[each.NEXT]) - 1, status)

    def _ended(self, i: int, status: int, ended: str = "") -> None:
        outcome = outcome_of(self._batch.plan, self._machine.arrays, status, ended)
        self._batch.ends.outcomes[i] = outcome

    def _take_events(self) -> None:
        a, n = self._machine.arrays, self._machine.arrays.n
        size = int(2 + n[at.NQ] + n[at.NV])
        i = int(self._task[each.NEXT]) - (not self._task[each.IS_UNDER_WAY])
        rows = a.happened[: n[at.HAPPENED] * size].reshape(-1, size).copy()
        if len(rows):
            self._batch.ends.happened.setdefault(i, []).append(rows)
        n[at.HAPPENED] = 0

    def leave(self, ended: str) -> None:
        """Notes the run that was under way when the batch was ended."""
        if not self._task[each.IS_UNDER_WAY]:
            return
        i, a, ends = int(self._task[each.NEXT]), self._machine.arrays, self._batch.ends
        each.end_run(i, at.GOOD, a.w, a.n, ends.codes.ravel(), ends.last.ravel())
        self._ended(i, at.GOOD, ended)


def _shares(count: int, threads: int) -> list[tuple[int, int]]:
    """Ranges of runs, several for each thread, so that none waits long for the last."""
    size = max(1, min(256, count // (8 * threads)))
    return [(k, min(count, k + size)) for k in range(0, count, size)]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
