"""simulate_batch: many runs of one mechanism on all cores, from many starts or parameters.

Each run is computed as `simulate` computes it, bit for bit, by a thread that runs machine code
only; how many threads there are changes nothing but the time, and neither does whether runs march
side by side on vector lanes (see `lanes.py`).

A batch of runs under way: threads that take one share of it after the other.

Each thread has arrays of its own: those of the run it has under way, and with unilateral
constraints the modes of that run. Python is called at the end of a run, never in a step.

Public names: simulate_batch, Batch, check_batch, batch_failure, cores.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import pairwise
from threading import Lock
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.contacts.events.one_sided import Marching, compiled_march, impact_law, marching
from liaison.contacts.events.series import contact_series, contacts_along
from liaison.contacts.events.switching import march as switching
from liaison.errors import Interrupted, SimulationError, interruptible
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.program.loops.records import Rows, address, set_hook
from liaison.simulation.events.watched import sides_in
from liaison.simulation.outcome import Outcome, outcome_of
from liaison.simulation.plan.inputs import inputs_of
from liaison.simulation.plan.plan import Plan, arrays_of, plan_of
from liaison.simulation.plan.settings import Settings
from liaison.simulation.plan.timing import instants_of_all
from liaison.simulation.prepared import add_entries, machine_of, scale_run
from liaison.simulation.record.trajectory import FAILED, INTERRUPTED, TIME_LIMIT
from liaison.simulation.report import begun
from liaison.simulation.run import NEEDS
from liaison.simulation.steps import layout as at
from liaison.simulation.steps.layout import row_words
from liaison.simulation.steps.projection import Projection
from liaison.simulation.steps.sides_layout import no_sides

from . import loop as each
from .ends import Ends, check_series, runs_of
from .lanes import Lanes, lane_plan, lane_shares
from .plan import Starts, instants_of, is_column, starts_of
from .result import Runs

SLICE = 0.05
"""Seconds of work a thread does before it looks whether it should stop."""

EVENTS = 4096
"""Rows of events at least that a thread keeps before Python takes them out."""

SHOWN = 0.1
"""Seconds between two calls of what shows progress."""


NONE_REJECTED: Mapping[int, Outcome] = MappingProxyType({})


@final
class Batch:
    """Runs under way.

    Args:
        plan: what they share.
        starts: where each begins.
        threads: how many.
        has_contacts: whether contacts are evaluated at the recorded states.
        rejected: why some of them cannot begin, by their numbers.
        lanes: whether runs march on vector lanes; where they can and it is worth it if None.
    """

    def __init__(
        self,
        plan: Plan,
        starts: Starts,
        threads: int,
        *,
        has_contacts: bool,
        rejected: Mapping[int, Outcome] = NONE_REJECTED,
        lanes: bool | None = None,
    ) -> None:
        self.plan, self.starts, self.has_contacts = plan, starts, has_contacts
        modes = marching(plan, plan.settings.impacts)
        self.template = arrays_of(plan if modes is None else modes.plan)
        run, count = self.template.run, len(starts)
        if modes is not None:
            modes.mark(run)
        scale_run(run, plan, modes)
        if "terms" not in plan.program.entries:
            run.pivots_left = 0
        self.row = int(1 + run.nq + run.nv + run.nu)
        samples, run.records_stop = int(run.samples), 0  # where a run stops is in `ends`
        run.capacity = samples + 1  # never full: a mode that ends last asks for room
        self.records = np.full((count, samples, self.row), np.nan)
        self.ends = Ends.for_runs(count, int(run.nq + run.nv))
        self.ends.refuse(rejected, starts.t)
        self.rejected = frozenset(rejected)
        self.table = starts.table
        self.threads = min(threads, count)
        self.lane_plan = lane_plan(plan, run, count, lanes)
        self.lock = Lock()
        self._ended = ""
        self.is_interrupted = False

    def finish(
        self, time_limit: float | None, progress: Callable[[float], None] | None = None
    ) -> None:
        """Goes on until all runs are over, the time is, or Ctrl-C."""
        deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
        shares = iter(self._shares())
        with ThreadPoolExecutor(self.threads, thread_name_prefix="liaison") as pool:
            try:
                works = [pool.submit(self._work, shares, deadline) for _ in range(self.threads)]
                self._watch(works, progress)
            except BaseException as fault:
                self._ended = INTERRUPTED
                self.is_interrupted = isinstance(fault, KeyboardInterrupt)
                if not self.is_interrupted:
                    raise

    def _watch(self, workers: list[Future[None]], progress: Callable[[float], None] | None) -> None:
        """Waits for the threads, and reports how many runs are over."""
        left: set[Future[None]] = set(workers)
        while left:
            done, left = wait(left, timeout=SHOWN, return_when="FIRST_EXCEPTION")
            for worker in done:
                worker.result()
            if progress is not None:
                progress(self.ends.fraction)

    def _shares(self) -> Sequence[Sequence[int]]:
        """Numbers of runs, those of a share one after the other where they march alone."""
        count, threads, rejected = len(self.starts), self.threads, self.rejected
        if self.lane_plan is not None:
            return lane_shares(count, threads, self.lane_plan.lanes, rejected)
        return [range(*x) for x in _shares(count, threads, rejected)]

    def _work(self, shares: Iterator[Sequence[int]], deadline: float) -> None:
        with self.lock:
            worker = _Worker(self)
        while not self._ended:
            with self.lock:
                share = next(shares, None)
            if share is None:
                return
            worker.begin(share)
            while not worker.is_done and not self._ended:
                worker.go()
                if time.perf_counter() > deadline and not worker.is_done:
                    self._ended = self._ended or TIME_LIMIT
            worker.take_events()
        worker.leave(self._ended)


@final
class _Worker:
    """The arrays of one thread, and what Python does for the run it has under way."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._modes = marching(batch.plan, batch.plan.settings.impacts)
        self._plan = batch.plan if self._modes is None else self._modes.plan
        self._marching = self._modes
        if batch.has_contacts and self._modes is None:
            self._marching = Marching(batch.plan, "moreau")
        a = batch.template
        self._row = row_words(a.run)
        room = max(2 * int(a.run.event_capacity), EVENTS) if a.event_log.size else 0
        own = replace(
            a, run=a.run.copy(), records=np.zeros(1), scratch=np.zeros(1),
            event_log=np.zeros(max(1, room * self._row)),
        )  # fmt: skip
        self._portable = batch.plan.kernel.portable
        self._machine = machine_of(own, self._modes, portable=self._portable)
        add_entries(self._machine, self._plan)
        sides = no_sides() if self._modes is None else self._modes.sides
        self._beside = (sides, sides.copy())
        self._call = each.compiled_batch(portable=self._portable).function(each.run_each)
        self._task = self._share(room)
        self._budget = 256
        self._lanes = self._side_by_side()
        self._alone: list[int] = []
        self._addresses = self._bound()

    def _side_by_side(self) -> Lanes | None:
        """What marches runs of a share on vector lanes; None where they march alone."""
        b = self._batch
        if b.lane_plan is None:
            return None
        self._machine.add(self._plan.kernel, *b.lane_plan.alone)
        tables = b.table, b.records, b.ends.codes, b.ends.last
        return Lanes(
            b.lane_plan, self._machine, b.template.run, tables, self._task, portable=self._portable
        )

    def _share(self, room: int) -> each.Task:
        a, b = self._batch.template, self._batch
        task = each.Task.new(most=each.MOST_RUNS)
        if self._modes is None:
            march, code = each.free_march, each.compiled_batch(portable=self._portable)
        else:
            march, code = switching, compiled_march(portable=self._portable)
        set_hook(task, "march", march, code.address(march))
        task.room, task.least = room, a.run.event_capacity
        task.record_words, task.is_heard = b.records[0].size, b.has_contacts
        return task

    def _bound(self) -> list[int]:
        a, b = self._machine.arrays, self._batch
        listed = (
            *self._beside, self._machine.entries, self._task, b.template.run, a.run,
            a.scratch, b.table, b.records, a.event_log, b.ends.codes, b.ends.last,
        )  # fmt: skip
        return [address(x) for x in listed]

    def begin(self, runs: Sequence[int]) -> None:
        """Takes a share of the runs, one after the other by number unless they march on lanes."""
        if self._lanes is None:
            self._take(runs[0], runs[-1] + 1)
        else:
            self._take(0, 0)
            self._lanes.begin(runs)

    def _take(self, first: int, end: int) -> None:
        """Runs that march alone."""
        task = self._task
        task.next, task.last, task.is_under_way = first, end, 0

    @property
    def is_done(self) -> bool:
        """The share is done."""
        is_lane_done = self._lanes is None or self._lanes.is_done
        return bool(self._task.next >= self._task.last) and is_lane_done and not self._alone

    def go(self) -> None:
        """Works for about 50 ms, or until Python has something to do, and does it."""
        if self._lanes is not None and not self._lanes.is_done:
            self._lanes.go(SLICE)
            self._take(0, 0)
            self._alone = self._lanes.left if self._lanes.is_done else []
            return
        if self._task.next >= self._task.last and self._alone:
            i = self._alone.pop(0)
            self._take(i, i + 1)
        self._march()

    def _march(self) -> None:
        """Goes on with runs that march alone."""
        self._task.budget = self._budget
        began = time.perf_counter()
        status = int(self._call(*self._addresses))
        if status == at.GOOD:
            spent = max(time.perf_counter() - began, 1e-9)
            self._budget = max(1, min(4 * self._budget, int(self._budget * SLICE / spent)))
        elif status in NEEDS:
            with self._batch.lock:  # others may be compiling
                self._machine.add(self._plan.kernel, NEEDS[status])
            self._addresses = self._bound()
        else:
            self._hear(status)

    def _hear(self, status: int) -> None:
        """A run ended or failed, found a relation without its row, or has no room for events."""
        i = int(self._task.next) - (not self._task.is_under_way)
        self.take_events(i)
        try:
            status = self._refined_status(status)
        except SimulationError as refusal:
            self._end(i, at.NO_MODE)
            self._note(i, Outcome(FAILED, refusal.message, refusal.hint, refusal.status))
            return
        if status >= at.NOT_FINITE:
            self._end(i, status)
        if not self._task.is_under_way:
            self._note(i, outcome_of(self._plan, self._machine.arrays, status))

    def _refined_status(self, status: int) -> int:
        """What a status is after a look at the modes; a lost relation is held from here on."""
        if self._modes is None or self._task.is_under_way == 0:
            return status
        return self._modes.refined_status(status, self._machine.arrays)

    def _end(self, i: int, status: int) -> None:
        """Ends the run that is under way."""
        a, ends = self._machine.arrays, self._batch.ends
        each.end_run(i, status, self._task, a.run, Rows(each.End, ends.codes), ends.last.ravel())

    def _note(self, i: int, outcome: Outcome) -> None:
        """Outcome and contacts of a run that ended."""
        batch = self._batch
        self.take_events(i)
        more = begun(self._modes)
        batch.ends.outcomes[i] = (
            outcome._replace(message=outcome.message + more) if more else outcome
        )
        if batch.has_contacts and self._marching is not None:
            rows = batch.records[i, : batch.ends.codes[i, each.ENDS.index("recorded")]]
            plan = replace(batch.plan, parameters=batch.starts.p[i])
            event_rows = batch.ends.events_in(i)
            contacts = contacts_along(self._marching, plan, rows, event_rows)
            batch.ends.contacts[i] = contact_series(plan, contacts)

    def take_events(self, under_way: int | None = None) -> None:
        """Takes events out of the buffer: of runs that ended, then of the one that is heard."""
        task, event_rows = self._task, self._batch.ends.event_rows
        current = self._machine.arrays.run
        runs = task.left.ints[: task.left_runs].tolist()
        if under_way is not None:
            runs += [[under_way, int(current.event_count)]]
        buffer, first = self._machine.arrays.event_log, 0
        for run, rows in runs:
            last = first + rows * self._row
            if rows:
                event_rows.setdefault(run, []).append(buffer[first:last].reshape(rows, -1).copy())
            first = last
        task.taken = task.left_runs = 0
        current.event_count = 0

    def leave(self, ended: str) -> None:
        """Notes the runs that were under way when the batch was ended."""
        for i, run in self._lanes.under_way(at.GOOD) if self._lanes is not None else ():
            arrays = replace(self._machine.arrays, run=run)
            self._batch.ends.outcomes[i] = outcome_of(self._plan, arrays, at.GOOD, ended)
            self._take(0, 0)
        if not self._task.is_under_way:
            return self.take_events()
        i = int(self._task.next)
        self._end(i, at.GOOD)
        self._note(i, outcome_of(self._plan, self._machine.arrays, at.GOOD, ended))


def _shares(count: int, threads: int, rejected: Collection[int] = ()) -> list[tuple[int, int]]:
    """Ranges of runs, several for each thread, so that none waits long for the last.

    Runs that are rejected are in none.
    """
    size = max(1, min(each.MOST_RUNS, count // (8 * threads)))
    cuts = sorted({*range(0, count, size), *rejected, *(k + 1 for k in rejected), count})
    return [(k, end) for k, end in pairwise(cuts) if k not in rejected]


BATCH_SERIES = ("energy", "outputs", "closure")
"""Entries evaluated at the recorded states unless said otherwise."""

NUMBERS = 1_000_000_000
"""Recorded numbers at most: 8 GB."""


@checked
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
    progress: Callable[[float], None] | None = None,
    rejected: Sequence[Outcome | None] = (),
    lanes: bool | None = None,
    **more: Any,
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
        series: of "energy", "outputs", "poses", "momentum", "closure", "contacts".
        threads: how many; all cores if None.
        time_limit: seconds of wall clock after which the runs still under way are left.
        on_failure: "raise" if a run fails, or "return" all of them, each with its status.
        projection: tolerances of the closures.
        max_step: longest step of an adaptive method [s].
        max_steps: steps after which a run is rejected.
        residual: as for `simulate`.
        progress: called with the fraction of runs that are over, about every 0.1 s.
        rejected: an outcome for each run that cannot begin, whose state is not used, and None for
            each that can; where it is shorter than the batch, the rest can.
        lanes: whether runs march side by side on vector lanes, to the same bits; None where they
            can (fixed explicit steps, no events, no contacts) and are long enough to be worth it.
        **more: impacts, theta and the like, as for `Settings`.

    Returns:
        All runs; numbers that a run did not reach are NaN, and its status says why.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
        Interrupted: Ctrl-C, whatever `on_failure` is; carries all of them likewise.
    """
    settings = Settings(
        step=step, method=method, rtol=rtol, atol=atol, every=every, max_step=max_step,
        max_steps=max_steps, projection=projection or Projection(), residual=residual,
        **more,
    )  # fmt: skip
    check_batch(on_failure, threads, time_limit)
    _check(kernel)
    impact_law(settings.impacts)
    check_series(series)
    left_out = {k: x for k, x in enumerate(rejected) if x is not None}
    plan, starts = _planned(kernel, states, until, settings, parameters, inputs, stop, left_out)
    has_contacts = "contacts" in series and bool(sides_in(kernel.program))
    batch = Batch(
        plan, starts, threads or cores(), has_contacts=has_contacts, rejected=left_out, lanes=lanes
    )
    batch.finish(time_limit, progress)
    with interruptible("the evaluation of a batch"):
        runs = runs_of(plan, starts, batch.records, batch.ends, series)
    if batch.is_interrupted:
        over = int(np.count_nonzero(runs.success))
        raise Interrupted(
            f"the batch was interrupted after {over} of {len(runs)} runs.",
            t=float(np.nanmax(runs.end_t)),
            trajectory=runs,
        )
    failed = np.flatnonzero([bool(reason) for reason in runs.reasons])
    if on_failure == "raise" and failed.size:
        raise batch_failure(runs, failed)
    return runs


def _check(kernel: Kernel) -> None:
    if kernel.is_interpreted:
        raise SimulationError(
            "a batch runs machine code, and this kernel is interpreted.", hint="Use to_llvm."
        )


def check_batch(on_failure: str, threads: int | None, time_limit: float | None) -> None:
    """Rejects options of a batch that mean nothing."""
    if time_limit is not None and not time_limit > 0:
        raise SimulationError(f"time_limit is {time_limit} s; it must be positive.")
    if on_failure not in ("raise", "return"):
        raise SimulationError(f"on_failure is {on_failure!r}; it is 'raise' or 'return'.")
    if threads is not None and threads < 1:
        raise SimulationError(f"threads is {threads}; it must be positive.")


def _planned(
    kernel: Kernel,
    states: State | Sequence[State],
    until: float,
    settings: Settings,
    parameters: Mapping[str, Any] | None,
    inputs: Mapping[str, Any] | None,
    stop: Any,
    rejected: Collection[int],
) -> tuple[Plan, Starts]:
    """What all runs share, and the row of each; what is common is looked at where one begins."""
    many = {k: x for k, x in (inputs or {}).items() if is_column(x)}
    common = {k: x for k, x in (inputs or {}).items() if k not in many}
    held = inputs_of(kernel.program, common)
    if held.controllers:
        raise SimulationError(
            f"input {held.controllers[0].name!r} has a controller; a batch asks no Python.",
            hint="Give a formula or a table, or call simulate for each run.",
        )
    starts = starts_of(kernel.program, states, parameters or {}, many, held.held)
    one = next((k for k in range(len(starts)) if k not in rejected), 0)
    first = states if isinstance(states, State) else states[one if len(states) > 1 else 0]
    instants = instants_of(settings, starts.t, until)
    settings = replace(settings, every=instants)
    names = [label.name for label in kernel.program.labels.get("p", ())]
    values = dict(zip(names, starts.p[one], strict=False))
    plan = plan_of(kernel, first, until, settings, inputs=common, parameters=values, stop=stop)
    if plan.timed is not None:
        where = plan.timed, plan.program, starts.t, plan.until
        plan = replace(plan, instants=instants_of_all(*where, starts.p, starts.u))
    _check_size(len(starts), instants.size, 1 + first.q.size + first.v.size + held.held.size)
    return plan, starts


def _check_size(runs: int, instants: int, numbers: int) -> None:
    if runs * instants * numbers > NUMBERS:
        raise SimulationError(
            f"{runs} runs of {instants} instants record {runs * instants * numbers:.2g} numbers; "
            f"a batch takes {NUMBERS:.0g} at most.",
            hint="Record fewer instants, or make several batches.",
        )


def batch_failure(runs: Runs, failed: NDArray[np.intp]) -> SimulationError:
    """The error of a batch some of whose runs failed, with the first of them."""
    k = int(failed[0])
    return SimulationError(
        f"{failed.size} of {len(runs)} runs of the batch failed; run {k}: {runs.messages[k]}",
        status=runs.reasons[k],
        t=float(runs.end_t[k]),
        trajectory=runs,
        hint="on_failure='return' gives all of them, each with its status.",
    )


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
