"""Runs of a batch on a device: each from its start to its end, one run a thread, in one launch.

Phases of a step are those of `advance`, called by name instead of by address.

What comes back is what a batch on the processor leaves: records at the same instants, codes, last
good states and the balance of energy; series and measures are evaluated from these in the same way.
Steps are those of the processor, by the same loops; bits differ, since sums are fused otherwise.

Public names: DeviceRuns, check_breaks, run_smooth_world, run_moreau_world.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.stepping.phases import keep, one_step, set_out, stand
from liaison.errors import ProgramError, SimulationError
from liaison.numeric import Array
from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.simulation.batch.ends import Ends
from liaison.simulation.batch.loop import ENDS, End, note_end, take_start
from liaison.simulation.batch.plan import Starts
from liaison.simulation.events.watched import sides_in
from liaison.simulation.outcome import REASONS, Outcome, outcome_of
from liaison.simulation.plan.plan import Plan, arrays_of
from liaison.simulation.prepared import scale_run
from liaison.simulation.record.trajectory import FAILED
from liaison.simulation.steps.advance import begin, commit, land, try_step
from liaison.simulation.steps.layout import (
    ARRIVED,
    COMMIT,
    DONE,
    GOOD,
    LAND,
    NOT_KEPT,
    SAMPLING,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.recording import arrive, begin_balance, observe, sample

from .module import KERNELS, runs_module
from .places import Place, place_named

LARGEST = 2**31 - 1
"""Numbers of an array: places in it have 31 bits."""

SHARE = 0.8
"""Of the free memory that arrays take at most."""


@loop
def entered(e: Entries, run: Run, scratch: ptr, records: ptr) -> i64:
    """Instants inside the step recorded, and the step entered into the balance of energy."""
    status = GOOD
    if run.phase == SAMPLING:
        status = sample(e, run, scratch, records)
    if status == GOOD and run.phase == COMMIT and run.ledger.kind != NOT_KEPT:
        observe(e, run, scratch)
    return status


@loop
def over(
    i: i64, count: i64, status: i64, run: Run, ends: Rows[End], last: ptr, why: ptr
) -> None:  # fmt: skip
    """Notes how one of `count` runs ended, and which row its status means, missed by how much."""
    note_end(i, DONE if status == GOOD else status, run, ends, last)
    why[i] = run.worst
    why[count + i] = float(run.detail[0])


@loop
def run_smooth_world(
    i: i64, count: i64, start: f64, starts: ptr, records: ptr, ends: Rows[End], last: ptr,
    why: ptr, e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """The i-th of `count` runs by fixed explicit steps."""
    take_start(i, run, starts)
    own = at(records, i * run.samples * (1 + run.nq + run.nv + run.nu))
    if run.ledger.kind != NOT_KEPT:
        begin_balance(e, run, scratch)
    status = begin(e, run, scratch, scratch)
    if status == GOOD:
        status = arrive(e, run, scratch, own)
    while status == GOOD and run.phase == TRY:
        status = try_step(e, run, scratch, scratch)
        if status == GOOD and run.phase == LAND:
            status = land(e, run, scratch, scratch)
        if status == GOOD:
            status = entered(e, run, scratch, own)
        if status == GOOD and run.phase == COMMIT:
            status = commit(e, run, scratch, scratch)
        if status == GOOD and run.phase == ARRIVED:
            status = arrive(e, run, scratch, own)
    over(i, count, status, run, ends, last, why)


@loop
def run_moreau_world(
    i: i64, count: i64, start: f64, starts: ptr, records: ptr, ends: Rows[End], last: ptr,
    why: ptr, e: Entries, run: Run, scratch: ptr,
) -> None:  # fmt: skip
    """The i-th of `count` runs by Moreau and Jean's steps; there is no log of events."""
    take_start(i, run, starts)
    own = at(records, i * run.samples * (1 + run.nq + run.nv + run.nu))
    if run.ledger.kind != NOT_KEPT:
        begin_balance(e, run, scratch)
    status = set_out(e, run, scratch, scratch)
    if status == GOOD:
        status = arrive(e, run, scratch, own)
    while status == GOOD and run.phase == TRY:
        status = one_step(e, run, scratch, scratch)
        if status == GOOD and run.phase == LAND:
            status = stand(e, run, scratch, scratch)
        if status == GOOD:
            status = entered(e, run, scratch, own)
        if status == GOOD and run.phase == COMMIT:
            status = keep(e, run, scratch, scratch)
        if status == GOOD and run.phase == ARRIVED:
            status = arrive(e, run, scratch, own)
    over(i, count, status, run, ends, last, why)


@final
class DeviceRuns:
    """The code of a plan on a device, and batches of its runs there.

    Args:
        plan: what the runs share; its settings list the instants to record.
        device: "gpu", "gpu:1", or "processor" for the code of a GPU on this computer.

    Raises:
        SimulationError: the plan needs what no device has, by name.
        ProgramError: there is no such GPU, or its driver does not take the code.
    """

    def __init__(self, plan: Plan, device: str) -> None:
        self.plan, self._arrays = plan, arrays_of(plan)
        run = self._arrays.run
        check_plan(plan, run, device)
        scale_run(run, plan, None)
        if "terms" not in plan.program.entries:
            run.pivots_left = 0
        run.records_stop, run.capacity, run.has_gaps = 0, run.samples + 1, 0
        self._place = _place(device)
        whole = run_moreau_world if run.is_moreau else run_smooth_world
        module = runs_module(plan, run, whole, gpu=self._place.is_gpu)
        (self._name,) = module.names
        self._kernels = self._place.load(module)
        self.samples, self.row = int(run.samples), int(1 + run.nq + run.nv + run.nu)

    def finished(self, starts: Starts, rejected: Mapping[int, Outcome]) -> tuple[Array, Ends]:
        """Records, shape (runs, instants, numbers), and how each run ended.

        Args:
            starts: where each begins.
            rejected: why some of them cannot begin, by their numbers.
        """
        count, run = len(starts), self._arrays.run
        ends = Ends.for_runs(count, int(run.nq + run.nv))
        ends.refuse(rejected, starts.t)
        records = np.full((count, self.samples, self.row), np.nan)
        good = np.array([k for k in range(count) if k not in rejected], dtype=np.intp)
        size = self._most(starts.table.shape[1] + ends.last.shape[1])
        for first in range(0, len(good), size):
            some = good[first : first + size]
            records[some], ends.codes[some], ends.last[some], why = self._launched(
                starts.table[some], ends.last.shape[1]
            )
            for k in np.flatnonzero(ends.codes[some, 0] != DONE).tolist():
                i = int(some[k])
                ends.outcomes[i] = self._outcome(ends, i, starts, why[:, k])
        _forget_rest(records, ends)
        return records, ends

    def _most(self, more: int) -> int:
        """Runs of one launch."""
        words = self.samples * self.row + more + len(ENDS) + 2
        free = self._place.free_bytes() - self._place.kept_bytes(self._kernels)
        most = min(int(SHARE * free) // (8 * words), LARGEST // (self.samples * self.row))
        if most < 1:
            raise SimulationError(
                f"a run records {words} numbers, and {max(0, free) / 1e9:.3g} GB are free on the "
                "device.",
                hint="Record fewer instants.",
            )
        return most

    def _launched(self, table: Array, width: int) -> tuple[Array, NDArray[np.int64], Array, Array]:
        """Records, codes, last states and reasons of some runs."""
        place, count = self._place, len(table)
        listed = {
            "starts": place.array(table, np.float64),
            "records": place.room((count, self.samples, self.row), np.float64),
            "ends": place.array(np.zeros((count, len(ENDS))), np.int64),
            "reached": place.array(np.full((count, width), np.nan), np.float64),
            "why": place.array(np.zeros((2, count)), np.float64),
        }
        arguments: list[Any] = [ctypes.c_int32(count), ctypes.c_double(0.0)]
        arguments += [ctypes.c_uint64(place.address(listed[x], x)) for x in KERNELS[self._name][2]]
        self._kernels.launch(self._name, count, arguments)
        records, codes, last, why = (
            place.numpy(listed[x]) for x in ("records", "ends", "reached", "why")
        )
        return records, codes, last, why

    def _outcome(self, ends: Ends, i: int, starts: Starts, why: Array) -> Outcome:
        """Why a run failed, in the words of a run on the processor."""
        code, run = int(ends.codes[i, 0]), self._arrays.run.copy()
        if code not in REASONS:
            return Outcome(FAILED, f"the run ended with status {code}.", "", f"status {code}")
        nq, nv = int(run.nq), int(run.nv)
        t, q, v = np.split(ends.last[i, : 1 + nq + nv], [1, 1 + nq])
        run.t = run.t_good = run.t_new = t[0]
        run.q[...], run.v[...], run.p[...] = q, v, starts.p[i]
        run.steps = ends.codes[i, ENDS.index("steps")]
        run.worst, run.detail[0] = why[0], int(why[1])
        plan = replace(self.plan, parameters=starts.p[i])
        return outcome_of(plan, replace(self._arrays, run=run), code)


def _place(device: str) -> Place:
    """Where runs are made; no GPU is an error that says what to do instead."""
    try:
        return place_named(device)
    except ProgramError as error:
        error.hint = "device='cpu' makes the runs on this computer's processor."
        raise


def _forget_rest(records: Array, ends: Ends) -> None:
    """Instants that a run did not reach have no numbers."""
    recorded = ends.codes[:, ENDS.index("recorded")]
    records[np.arange(records.shape[1]) >= recorded[:, None]] = np.nan


def check_plan(plan: Plan, run: Run, device: str) -> None:
    """Raises an error for what runs on a device do not take, by name."""
    settings, program = plan.settings, plan.program
    method = settings.tableau.name
    is_moreau = settings.tableau.scheme == "moreau"
    sides = () if plan.is_scene else sides_in(program)
    kinds = run.is_implicit, run.is_variational, run.is_alpha, run.is_edwards
    causes = {
        "it is a scene of free bodies": plan.is_scene,
        "steps are adaptive; give a step": settings.is_adaptive,
        f"method {method!r} is neither explicit nor 'moreau'": any(kinds),
        f"{(sides or [['']])[0][0]!r} is unilateral, and method {method!r} goes from event to "
        "event; 'moreau' takes it": bool(sides) and not is_moreau,
        f"the event {plan.events[0].name if plan.events else ''!r} is looked for": bool(run.ne),
        "an input has a controller, which is Python": bool(plan.inputs.controllers),
    }
    why = next((x for x, is_so in causes.items() if is_so), "")
    if why:
        raise _refusal(plan, device, why)
    check_breaks(plan, device)


def check_breaks(plan: Plan, device: str) -> None:
    """Raises an error where formulas of time jump or bend within the runs."""
    if plan.instants.breaks.size:
        t = float(plan.instants.breaks[0])
        why = f"a formula of time jumps or bends at t = {t:.9g} s, where a step must end"
        raise _refusal(plan, device, why)


def _refusal(plan: Plan, device: str, why: str) -> SimulationError:
    return SimulationError(
        f"device is {device!r}, and {plan.program.name!r} cannot run there: {why}.",
        hint="A device takes fixed steps of explicit methods, and of 'moreau' through contacts; "
        "device='cpu' takes all.",
    )
