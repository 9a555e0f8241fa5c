"""simulate_batch: many runs of one mechanism on all cores, from many starts or parameters.

Each run is computed as `simulate` computes it, bit for bit, by a thread that runs machine code
only; how many threads there are changes nothing but the time.

Public names: simulate_batch.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.program.to_numpy import NumpyKernel
from liaison.simulation.plan.inputs import inputs_of
from liaison.simulation.plan.moreau import sides_in
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.plan.settings import Settings
from liaison.simulation.steps.projection import Projection

from .plan import Starts, instants_of, starts_of
from .result import Runs, check_series, runs_of
from .work import Batch

BATCH_SERIES = ("energy", "outputs", "closure")
"""Entries evaluated at the recorded states unless said otherwise."""

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
    progress: Callable[[float], None] | None = None,
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
        max_steps: steps after which a run is refused.
        residual: as for `simulate`.
        progress: called with the fraction of runs that are over, about every 0.1 s.
        **more: impacts, theta and the like, as for `Settings`.

    Returns:
        All runs; numbers that a run did not reach are NaN, and its status says why.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
    """
    settings = Settings(
        step=step, method=method, rtol=rtol, atol=atol, every=every, max_step=max_step,
        max_steps=max_steps, projection=projection or Projection(), residual=residual,
        **more,
    )  # fmt: skip
    _check(kernel, on_failure, threads)
    check_series(series)
    plan, starts = _planned(kernel, states, until, settings, parameters, inputs, stop)
    has_contacts = "contacts" in series and bool(sides_in(kernel.program))
    batch = Batch(plan, starts, threads or _cores(), has_contacts=has_contacts)
    batch.finish(time_limit, progress)
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


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
