"""Run a mechanism with values that vary; store measures.

Public names: study.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from liaison.arguments import checked
from liaison.errors import ArgumentError, Interrupted
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import working
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.plan.options import BatchKeywords, RunOptions, run_options
from liaison.studies.chunks import Columns
from liaison.studies.cluster import executor_of
from liaison.studies.indices import saltelli_points
from liaison.studies.store import Store
from liaison.studies.study import Study
from liaison.studies.variations import Points, points_of, variation_of
from liaison.studies.work import Progress, carry_out
from liaison.verbs.given import Value, in_seconds, in_si, mechanism_of, units

from ._asked import PLAIN_OPTIONS, VERSION, Asked, asked_of, definition_of, keys_of, nominal
from ._family import CPU, Family, Recipe, ready_family
from ._studying import Making, keep_ready, live_page, run_again

MEMORY = 4_000_000
"""Numbers recorded by one chunk, at most."""

MOST_ROWS = 4096
"""Runs of one chunk."""

DEVICE_ROWS, DEVICE_MEMORY = 65_536, 32_000_000
"""The same of a chunk on a GPU, which runs so many threads at once."""


@checked
def study(
    given: Mechanism | str | Path,
    *,
    vary: Mapping[str, Any],
    measure: Mapping[str, str] | None = None,
    until: Value,
    design: str | None = None,
    count: int | None = None,
    levels: int = 5,
    seed: int = 0,
    correlation: Mapping[str, float] | None = None,
    folder: str | Path | None = None,
    record: Any = None,
    start: Mapping[str, Any] | None = None,
    guess: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    workers: int | None = None,
    cluster: Any = None,
    device: str = CPU,
    watch_progress: Callable[[Progress], None] | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[BatchKeywords],
) -> Study:
    """Runs a mechanism with values that vary, and stores measures and ends of every run.

    A run that is stored is not made again: a study that was interrupted goes on where it was.

    Args:
        given: a mechanism, or the path of its text.
        vary: parameter, input, coordinate or rate -> how it varies: "9 cm .. 11 cm",
            "normal(10 cm, 1 mm)", "10 cm ± 0.1 mm", a pair (low, high) or a list of values.
        measure: name -> formula over a run: "max(rocker_angle)", "time(full_turn)".
        until: the last instant of every run [s].
        design: "grid", "one at a time", "corners", "latin hypercube", "sobol" or "monte carlo".
        count: of points, of designs that draw; 1024.
        levels: values of each name, of a grid.
        seed: of designs that draw.
        correlation: pairs of names, "a b" -> −1 to 1, of designs that draw.
        folder: of the store; in memory of this process if not given.
        record: instants whose states are stored: a period [s], or instants; the first and the last
            if not given.
        start: positions and rates of all runs, by label.
        guess: positions and rates near which to assemble.
        parameters: values of all runs, by name.
        workers: processes; threads of this process if not given.
        cluster: address of a dask scheduler, or a client of one; see docs/howto/study/cluster.md.
        device: "gpu" (or "gpu:1", the second one) makes runs of fixed steps on an NVIDIA GPU;
            "processor" is the code of the GPU on this computer, to try it; see docs/gpu.md.
        watch_progress: called with the progress about twice a second.
        options: how to run, as a record.
        **keywords: the same one by one, as for `simulate_batch`; `every` says at which instants
            measures are evaluated, 200 of them if not given.

    Returns:
        The study: points, measures, and its runs where they are asked for.

    Raises:
        Interrupted: Ctrl-C, a KeyboardInterrupt; what is stored is kept.

    Example:
        >>> import liaison
        >>> lengths = {"l": ["0.5 m", "1 m", "2 m"]}
        >>> measures = {"swing": "max(A)", "speed": "max(abs(A'))"}
        >>> swings = liaison.study("examples/pendulum.lsd", vary=lengths, measure=measures, until=1)
        >>> swings["speed"].round(3)
        array([2.808, 1.986, 1.404])
    """
    chosen = run_options("study", options, keywords, _TAKEN, BATCH_SERIES)
    threads, lanes = chosen.pop("threads", None), chosen.pop("lanes", None)
    if threads is not None and threads < 1:
        raise ArgumentError(f"study: threads is {threads}; it must be positive.")
    until = in_seconds(until, "study: until")
    if not 0 < until < np.inf:
        raise ArgumentError(f"study: until is {until:g} s; it must be positive.")
    mechanism = mechanism_of(given)
    shared = _shared(mechanism, start, guess, parameters)
    points = points_in(
        mechanism, vary, shared["start"], shared["parameters"],
        design=design, count=count, levels=levels, seed=seed, correlation=correlation,
    )  # fmt: skip
    every = in_times(chosen.pop("every", None), "study: every")
    asked = asked_of(
        given, points.names, measure or {}, until=until, every=every,
        record=in_times(record, "study: record"), options=chosen, **shared,
    )  # fmt: skip
    asked = replace(asked, device=_kind_of(device, lanes, workers, cluster))
    asked, family = with_reference(asked, points)
    if device != CPU:
        family.on_device(device)
    return carried_out(
        asked, points, folder, threads=threads or _cores(), lanes=lanes, workers=workers,
        cluster=cluster, device=device, report=watch_progress,
    )  # fmt: skip


def _kind_of(device: str, lanes: bool | None, workers: int | None, cluster: Any) -> str:
    """The kind of a device, whose bits the runs have; the number of a GPU changes none.

    Raises:
        ArgumentError: another name, or beside what is the processor's.
    """
    kind, _, index = device.partition(":")
    if device not in (CPU, "gpu", "processor") and not (kind == "gpu" and index.isdecimal()):
        raise ArgumentError(
            f"study: device is {device!r}; it is 'cpu', 'gpu', 'gpu:1' for the second one, or "
            "'processor' for the code of a GPU on this computer."
        )
    given = {"lanes": lanes or None, "workers": workers, "cluster": cluster}
    name = next((name for name, x in given.items() if x is not None), "")
    if kind != CPU and name:
        raise ArgumentError(
            f"study: {name} beside device={device!r}: runs are made on a device of this process, "
            "not by its threads or by others.",
            hint=f"Leave out {name}, or take device='cpu'.",
        )
    return kind


_TAKEN = (*PLAIN_OPTIONS, "every", "threads", "lanes", "only_series", "on_failure")


def _shared(
    mechanism: Mechanism, start: Any, guess: Any, parameters: Any
) -> dict[str, dict[str, float]]:
    """What all runs share, in SI."""
    groups = {"start": start, "guess": guess, "parameters": parameters}
    values = {name: in_si(mechanism, x, name) for name, x in groups.items()}
    for name, group in values.items():
        for label, x in group.items():
            if np.ndim(x):
                raise ArgumentError(
                    f"study: {name} of {label!r} is a list; it is one value for all runs.",
                    hint=f"What varies stands in vary: vary={{{label!r}: […]}}.",
                )
    return {name: {k: float(x) for k, x in group.items()} for name, group in values.items()}


def in_times(x: Any, what: str) -> Any:
    """A period or instants [s]; texts with units as numbers."""
    if isinstance(x, list | tuple):
        return [_seconds(y, what) for y in x]
    return x if x is None or isinstance(x, np.ndarray) else _seconds(x, what)


def _seconds(x: Any, what: str) -> float:
    if isinstance(x, bool) or not isinstance(x, str | int | float | np.number):
        raise ArgumentError(f"{what} is {x!r}; it must be a time or a list of times.")
    return float(in_seconds(x, what))  # type: ignore[arg-type]


def points_in(
    mechanism: Mechanism,
    vary: Mapping[str, Any],
    start: Mapping[str, float],
    parameters: Mapping[str, float],
    **design: Any,
) -> Points:
    """The points of a design, in SI."""
    known = units(mechanism)
    own = {**start, **parameters}
    kinds = {
        name: variation_of(
            x, known.get(name, ""), nominal(mechanism, name, own), f"vary: {name!r}"
        )
        for name, x in vary.items()
    }  # fmt: skip
    if design.get("design") == "sobol indices":
        if design["correlation"]:
            raise ArgumentError("Sobol' indices are of values that vary independently.")
        count = 1024 if design["count"] is None else design["count"]
        return saltelli_points(kinds, count, design["seed"])
    return points_of(kinds, **design)


def with_reference(asked: Asked, points: Points) -> tuple[Asked, Family]:
    """With values at which equations are looked at, and made ready there.

    These are the values of the mechanism, or the first points that can be assembled.
    """
    recipe = asked.recipe
    own = [
        nominal(recipe.mechanism, x, {**recipe.start, **recipe.parameters}) for x in points.names
    ]
    rows = [] if None in own else [[float(x) for x in own if x is not None]]
    rows += points.values[:1000].tolist()
    family = ready_family(recipe, rows)
    efforts = {x.name: x.unit for x in family.kernel.program.labels.get("lam", ()) if x.unit}
    asked = replace(asked, recipe=family.recipe, efforts=efforts)
    keep_ready(asked.family(VERSION), family)
    return asked, family


def carried_out(
    asked: Asked,
    points: Points,
    folder: str | Path | None,
    *,
    threads: int,
    lanes: bool | None = None,
    workers: int | None = None,
    cluster: Any = None,
    device: str = CPU,
    report: Callable[[Progress], None] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Study:
    """The study of some points, all of them stored."""
    store = Store(tempfile.mkdtemp(prefix="liaison-study-") if folder is None else folder)
    if folder is None:
        store.remove_at_end()
    drawn = {"design": points.design, "seed": points.seed, **(more or {})}
    definition = definition_of(asked, VERSION, drawn)
    family = definition.family
    table: Columns = {"value": points.values, "key": keys_of(family, points.values)}
    name = store.put_study(table, definition.header())
    making = Making(asked, family, 1 if workers or cluster else threads, lanes, device)
    make, size = _executor(workers, cluster)
    what = f"study of {definition.title}"
    try:
        with working("studies", what) as show:

            def report_both(progress: Progress) -> None:
                show(progress.done / max(1, progress.points), progress.line())
                if report is not None:
                    report(progress)

            rows, numbers = (MOST_ROWS, MEMORY) if device == CPU else (DEVICE_ROWS, DEVICE_MEMORY)
            most = max(16, min(rows, numbers // max(1, _words(asked.recipe))))
            carry_out(
                store,
                name,
                table,
                making,
                executor=make,
                workers=size,
                most=most,
                report=report_both,
            )
    except KeyboardInterrupt:
        done = int(np.count_nonzero(store.known(table["key"])))
        raise Interrupted(
            f"the study was interrupted; {done} of {len(points)} runs are stored"
            + (": name a folder to keep them." if folder is None else "; start it again to go on."),
            t=0.0, trajectory=Study(store, name, maker=run_again, pages=live_page),
        ) from None  # fmt: skip
    return Study(store, name, maker=run_again, pages=live_page)


def _words(recipe: Recipe) -> int:
    """Numbers that one run records, about."""
    count = len(recipe.mechanism.coordinates) + len(recipe.mechanism.speeds)
    return len(recipe.options["every"]) * (1 + count + len(recipe.mechanism.outputs))


def _executor(workers: int | None, cluster: Any) -> tuple[Callable[[], Executor], int]:
    """What makes a pool of workers, and how many there are."""
    if cluster is not None:
        return executor_of(cluster)
    if workers is None:
        return lambda: ThreadPoolExecutor(1, thread_name_prefix="liaison-study"), 1
    if workers < 1:
        raise ArgumentError(f"study: workers is {workers}; it must be positive.")
    return lambda: ProcessPoolExecutor(workers, mp_context=get_context("spawn")), workers


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
