"""Rows of a store: `Runs` as columns, one row for each run, and back.

Kept are the states and series at some of the recorded instants, the ends, how each run ended, its
counts and its events.

Public names: columns_of, header_of, runs_from, joined, ENDED.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.simulation.batch.result import Runs
from liaison.simulation.record.files import Variable, plain
from liaison.simulation.record.series import EventRecord, Series, event_variables, events_in
from liaison.units import Label

from .chunks import Columns

ENDED = ("status", "reason", "message")
"""Columns of texts: how each run ended."""

OF_RUNS = {"status": "statuses", "reason": "reasons", "message": "messages"}


Evaluated: TypeAlias = Mapping[str, tuple[NDArray[Any], Series]]
"""Series at the kept instants."""


def columns_of(runs: Runs, kept: NDArray[np.intp], series: Evaluated) -> Columns:
    """The columns of some runs.

    Args:
        runs: recorded at more instants than are kept.
        kept: numbers of the instants to keep.
        series: at these instants.
    """
    columns: Columns = {
        name: np.array(getattr(runs, of), dtype=object) for name, of in OF_RUNS.items()
    }
    columns["recorded"] = np.searchsorted(kept, runs.recorded).astype(np.int32)
    columns["q"], columns["v"] = runs.q[:, kept], runs.v[:, kept]
    for name in ("end_t", "end_q", "end_v", "parameters"):
        columns[name] = np.asarray(getattr(runs, name))
    for name, counts in runs.counts.items():
        columns[f"count.{name}"] = np.asarray(counts).astype(np.int32)
    for name, numbers in runs.measures.items():
        columns[f"own.{name}"] = np.asarray(numbers)
    for name, (values, _) in series.items():
        columns[f"series.{name}"] = values
    return columns | _events(runs.events)


def header_of(runs: Runs, kept: NDArray[np.intp], series: Evaluated) -> dict[str, Any]:
    """What is no column, and the same for all runs of a family."""
    return {
        "name": runs.name,
        "t": runs.t[kept].tolist(),
        "labels": {x: [[y.name, y.unit] for y in listed] for x, listed in runs.labels.items()},
        "axes": {name: x.axes for name, (_, x) in series.items()},
        "units": {name: x.unit for name, (_, x) in series.items()},
        "meta": plain(runs.meta),
    }


def _events(events: Sequence[tuple[EventRecord, ...]]) -> Columns:
    """Events of all runs as a table of its own, with the number of the run."""
    known = getattr(events, "known", range(len(events)))
    listed = [(k, x) for k in known for x in events[k]]
    if not listed:
        return {}
    columns: Columns = {"event.run": np.array([k for k, _ in listed], dtype=np.int64)}
    for name, variable in event_variables([x for _, x in listed]).items():
        columns[f"event.{name}"] = np.asarray(variable.values)
    return columns


def joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> Columns:
    """Columns of several files one behind the other; numbers of runs in events count on."""
    names = dict.fromkeys(name for part in parts for name in part)
    counts = np.cumsum([0, *(len(part["recorded"]) for part in parts)])
    whole: Columns = {}
    for name in names:
        listed = [_part(part, name, parts) for part in parts]
        if name == "event.run":
            listed = [x + first for x, first in zip(listed, counts, strict=False)]
        whole[name] = np.concatenate(listed)
    return whole


def _part(
    part: Mapping[str, NDArray[Any]], name: str, parts: Sequence[Mapping[str, NDArray[Any]]]
) -> NDArray[Any]:
    """A column of one file; of events what a file without them would hold."""
    if name in part:
        return part[name]
    like = next(x[name] for x in parts if name in x)
    missing = 1 if name == "event.event_together" else np.nan
    return np.full((len(part.get("event.run", ())), *like.shape[1:]), missing).astype(like.dtype)


def runs_from(columns: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> Runs:
    """The runs of some columns."""
    labels = {x: tuple(Label(*y) for y in listed) for x, listed in header["labels"].items()}
    series = {}
    for name, unit in header["units"].items():
        values = columns[f"series.{name}"]
        flat = values.reshape(-1, *values.shape[2:])
        axes = {x: tuple(y) for x, y in header["axes"][name].items()}
        series[name] = values, Series(flat, unit if isinstance(unit, str) else tuple(unit), axes)
    return Runs(
        name=header["name"],
        t=np.array(header["t"], dtype=float),
        q=columns["q"],
        v=columns["v"],
        recorded=columns["recorded"].astype(np.int64),
        labels=labels,
        series=series,
        parameters=columns["parameters"],
        end_t=columns["end_t"],
        end_q=columns["end_q"],
        end_v=columns["end_v"],
        statuses=tuple(columns["status"].tolist()),
        messages=tuple(columns["message"].tolist()),
        reasons=tuple(columns["reason"].tolist()),
        events=_events_from(columns, len(columns["recorded"])),
        counts=_named(columns, "count.", np.int64),
        measures=_named(columns, "own.", np.float64),
        meta=header["meta"],
    )


def _named(columns: Mapping[str, NDArray[Any]], prefix: str, kind: Any) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): x.astype(kind)
        for name, x in columns.items()
        if name.startswith(prefix)
    }


def _events_from(columns: Mapping[str, NDArray[Any]], count: int) -> list[tuple[EventRecord, ...]]:
    if "event.run" not in columns:
        return [()] * count
    names = [x for x in columns if x.startswith("event.") and x != "event.run"]
    table = {x.removeprefix("event."): Variable((), columns[x]) for x in names}
    listed: list[list[EventRecord]] = [[] for _ in range(count)]
    for k, event in zip(columns["event.run"].tolist(), events_in(table), strict=True):
        listed[k].append(event)
    return [tuple(x) for x in listed]
