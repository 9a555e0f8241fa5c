"""Runs: what came of a batch, stacked: one axis for the runs, one for the instants.

`runs["A"]` is a position, shape (runs, instants); `runs["energy.T"]` a column of a series;
`runs[3]` the fourth run as a Trajectory. Runs become files and tables, too: one netCDF file, an
xarray Dataset, a DataFrame, CSV text.

A file of runs has the arrays of one run with the axis "run" in front. Events of all runs stand in
one table, with the number of their run. It is made in memory, then written whole.

Public names: Runs, Stored, OF_BALANCE.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final, overload

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError, needed
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.simulation.record.files import (
    Variable,
    parsed,
    plain,
    read_netcdf,
    readable,
    write_file,
    write_netcdf,
)
from liaison.simulation.record.series import EventRecord, Series, event_variables, events_in
from liaison.simulation.record.trajectory import (
    DONE,
    POSES,
    STOPPED,
    Trajectory,
    matching,
)
from liaison.units import Label

KIND = "runs"
"""The entry "kind" in the header of a file of runs."""

PER_RUN = ("recorded", "parameters", "end_t", "end_q", "end_v")
TEXTS = ("statuses", "messages", "reasons")
DIMS = {"q": "coordinate", "v": "rate", "p": "parameter"}
OF_EACH = {"parameters": ("parameter",), "end_q": ("coordinate",), "end_v": ("rate",)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stored:
    """What runs are stored from, and how: a base of `Runs`, which says what each of these is."""

    name: str
    t: Array
    q: Array
    v: Array
    recorded: NDArray[np.int64]
    labels: Mapping[str, tuple[Label, ...]]
    series: Mapping[str, tuple[Array, Series]]
    parameters: Array
    end_t: Array
    end_q: Array
    end_v: Array
    statuses: tuple[str, ...]
    messages: tuple[str, ...]
    reasons: tuple[str, ...]
    events: Sequence[tuple[EventRecord, ...]]
    counts: Mapping[str, NDArray[np.int64]]
    measures: Mapping[str, Array]
    meta: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.q)

    def unit(self, label: str) -> str:
        """The unit of a column."""
        return "s" if label == "t" else self.columns(label)[label][0].unit

    def columns(self, *patterns: str) -> dict[str, tuple[Label, Array]]:
        """Columns by label or pattern ("A*", "energy.*"), each of shape (runs, instants).

        Without any pattern all but the poses.
        """
        known = self._columns()
        if not patterns:
            return {x: column for x, column in known.items() if not x.startswith(POSES)}
        chosen: dict[str, tuple[Label, Array]] = {}
        for pattern in patterns:
            names = [pattern] if pattern in known else matching(pattern, known, self.series)
            if not names and f"outputs.{pattern}" in known:
                chosen[pattern] = known[f"outputs.{pattern}"]
            elif not names:
                raise NamingError.unknown("label", pattern, ["t", *known, *self.series])
            chosen |= {x: known[x] for x in names}
        return chosen

    def _columns(self) -> dict[str, tuple[Label, Array]]:
        known: dict[str, tuple[Label, Array]] = {}
        for array, values in (("q", self.q), ("v", self.v)):
            for k, x in enumerate(self.labels.get(array, ())):
                known.setdefault(x.name, (x, values[:, :, k]))
        for name, (values, shape) in self.series.items():
            flat = values.reshape(len(self), len(self.t), -1)
            for k, (column, (label, _)) in enumerate(shape.columns(name).items()):
                known.setdefault(column, (label, flat[:, :, k]))
        return known

    def save(self, path: str | os.PathLike[str]) -> None:
        """One netCDF file, renamed when it is whole; without a folder for it an OSError."""
        write_netcdf(path, _variables(self), json.dumps(_header(self), ensure_ascii=False))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The runs that `save` wrote, bit for bit."""
        variables, text = read_netcdf(path)
        with readable(path):
            header = parsed(text)
            if header.get("kind") != KIND:
                raise LiaisonError(
                    f"{path} holds one run, not many.", hint="`liaison.load` reads it."
                )
            return cls(**_restored(variables, header))

    def to_xarray(self) -> Any:
        """An xarray Dataset over run and time; units as attributes, parameters as coordinates."""
        with needed("tables"):
            import xarray

        variables = _variables(self)
        arrays = {name: (x.dims, x.values, dict(x.attrs)) for name, x in variables.items()}
        along = {name for name, x in variables.items() if name in x.dims or "of" in x.attrs}
        data = {name: x for name, x in arrays.items() if name not in along}
        coords = {name: arrays[name] for name in along}
        for k, label in enumerate(self.labels.get("p", ())):
            coords.setdefault(label.name, (("run",), self.parameters[:, k], {"units": label.unit}))
        return xarray.Dataset(data, coords=coords, attrs={"name": self.name})

    def to_pandas(self, *patterns: str) -> Any:
        """A DataFrame over (run, t): one row for each instant that a run reached.

        Columns are those of `columns(*patterns)`, and parameters by name where no quantity has that
        name; units are in `attrs["units"]`.
        """
        with needed("tables"):
            import pandas

        labels, table = _table(self, patterns)
        index = pandas.MultiIndex.from_arrays([table.pop("run").astype(int), table.pop("t")])
        frame = pandas.DataFrame(table, index=index.set_names(["run", "t"]))
        frame.attrs["units"] = {"t": "s"} | {x.name: x.unit for x in labels}
        return frame

    def to_csv(self, path: str | os.PathLike[str], *patterns: str) -> None:
        """Text with one row for each run and instant, `label [unit]` as heads, exact numbers."""
        labels, table = _table(self, patterns)
        numbers = table.pop("run").astype(int).tolist()
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["run", "t [s]", *map(str, labels)])
        rows = np.column_stack(list(table.values())).tolist()
        writer.writerows([[k, *map(repr, row)] for k, row in zip(numbers, rows, strict=True)])
        write_file(path, text.getvalue())


def _header(runs: Stored) -> dict[str, Any]:
    """All that is no array, as plain data."""
    return {
        "kind": KIND,
        "name": runs.name,
        "labels": {x: [[y.name, y.unit] for y in labels] for x, labels in runs.labels.items()},
        "series": list(runs.series),
        "axes": {name: x.axes for name, (_, x) in runs.series.items()},
        "units": {name: x.unit for name, (_, x) in runs.series.items()},
        "counts": list(runs.counts),
        "measures": list(runs.measures),
        "meta": plain(runs.meta),
    }


def _variables(runs: Stored) -> dict[str, Variable]:
    """All arrays with named dimensions, as a file or a Dataset holds them."""
    variables = {
        "time": Variable(("time",), runs.t, {"units": "s", "long_name": "time"}),
        "run": Variable(("run",), np.arange(len(runs))),
    }
    for name, dim in DIMS.items():
        labels = runs.labels.get(name, ())
        variables[dim] = Variable((dim,), _texts(x.name for x in labels))
        variables[f"{dim}_unit"] = Variable((dim,), _texts(x.unit for x in labels), {"of": name})
    for name in "qv":
        variables[name] = Variable(("run", "time", DIMS[name]), getattr(runs, name))
    for name in PER_RUN:
        attrs = {"units": "s"} if name == "end_t" else {}
        dims = ("run", *OF_EACH.get(name, ()))
        variables[name] = Variable(dims, np.asarray(getattr(runs, name)), attrs)
    for name in TEXTS:
        variables[name] = Variable(("run",), _texts(getattr(runs, name)))
    for kind, table in (("counts", runs.counts), ("measures", runs.measures)):
        for name, values in table.items():
            variables[f"{kind}_{name}"] = Variable(("run",), np.asarray(values))
    return variables | _series_variables(runs) | _event_variables(runs.events)


def _series_variables(runs: Stored) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    taken: dict[str, tuple[str, ...]] = {}
    for name, (values, shape) in runs.series.items():
        own = shape.variables(name, taken)
        variables |= own | {name: Variable(("run", *own[name].dims), values, own[name].attrs)}
    return variables


def _event_variables(events: Iterable[Sequence[EventRecord]]) -> dict[str, Variable]:
    listed = [(k, event) for k, of_run in enumerate(events) for event in of_run]
    if not listed:
        return {}
    which = np.array([k for k, _ in listed])
    return event_variables([x for _, x in listed]) | {"event_run": Variable(("event",), which)}


def _texts(words: Iterable[str]) -> Any:
    return np.array(list(words), dtype=object)


def _restored(variables: Mapping[str, Variable], header: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of the runs of these arrays, and of all that is no array."""
    series = {}
    for name in header["series"]:
        unit, values = header["units"][name], variables[name].values
        flat = values.reshape(-1, *values.shape[2:])
        shape = Series(flat, unit if isinstance(unit, str) else tuple(unit), header["axes"][name])
        series[name] = values, shape
    arrays: dict[str, Any] = {name: variables[name].values for name in ("q", "v", *PER_RUN)}
    arrays["t"] = variables["time"].values
    arrays |= {name: tuple(map(str, variables[name].values)) for name in TEXTS}
    labels = header["labels"]
    return arrays | {
        "name": header["name"],
        "labels": {x: tuple(Label(*y) for y in listed) for x, listed in labels.items()},
        "series": series,
        "events": _events_in(variables, len(arrays["statuses"])),
        "counts": {name: variables[f"counts_{name}"].values for name in header["counts"]},
        "measures": {name: variables[f"measures_{name}"].values for name in header["measures"]},
        "meta": header["meta"],
    }


def _events_in(variables: Mapping[str, Variable], count: int) -> list[tuple[EventRecord, ...]]:
    events = events_in(variables)
    which = variables["event_run"].values if events else np.zeros(0)
    return [tuple(x for x, k in zip(events, which, strict=True) if k == i) for i in range(count)]


def _table(runs: Stored, patterns: tuple[str, ...]) -> tuple[list[Label], dict[str, Array]]:
    """Labels of the columns, and "run", "t" and these columns over all instants reached."""
    there = np.arange(len(runs.t)) < runs.recorded[:, None]
    which, when = np.nonzero(there)
    chosen = runs.columns(*patterns)
    table = {"run": which.astype(float), "t": runs.t[when]}
    labels = []
    for k, label in enumerate(runs.labels.get("p", ())):
        if label.name not in chosen and label.name not in table:
            labels.append(label)
            table[label.name] = runs.parameters[which, k]
    for name, (label, values) in chosen.items():
        labels.append(label)
        table[name] = values[there]
    return labels, table


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Runs(Stored, Shown):
    """Many runs of one mechanism, recorded at the same instants.

    Attributes:
        name: of the mechanism.
        t: instants [s], shape (n,).
        q: positions, shape (runs, n, nq); NaN at instants that a run did not reach.
        v: velocities, shape (runs, n, nv), likewise.
        recorded: how many instants each run reached.
        labels: name and unit for each entry of q, v, u, p.
        series: energy, outputs, … with values of shape (runs, n, …).
        parameters: those of each run, shape (runs, np).
        end_t: the time each run ended at [s].
        end_q: positions there, shape (runs, nq).
        end_v: velocities there, shape (runs, nv).
        statuses: DONE, STOPPED, INTERRUPTED, TIME_LIMIT, FAILED or SUSPECT, for each run.
        messages: the same in a sentence.
        reasons: why a run failed, as `SimulationError.status` says it; "" otherwise.
        events: what occurred in each run, in order; built at their first use.
        counts: steps, evaluations, rejected, … of each run.
        measures: with Moreau's steps the deepest penetration [m], the worst residual and how many
            contacts there were at once, of each run; and of the balance of energy what it missed
            [J], when [s], and the energy turned over [J].
        meta: method, tolerances and the like.

    Example:
        >>> import liaison
        >>> starts = {"A": [0.1, 0.2]}
        >>> runs = liaison.simulate_batch("examples/pendulum.lsd", until=0.2, start=starts)
        >>> runs.end_q.shape
        (2, 1)
    """

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[k] for k in range(len(self)))

    @property
    def success(self) -> NDArray[np.bool_]:
        """Which runs ended as they should: at their end, or by an event meant to stop them."""
        return np.array([status in (DONE, STOPPED) for status in self.statuses])

    @overload
    def __getitem__(self, key: str) -> Array: ...

    @overload
    def __getitem__(self, key: int) -> Trajectory: ...

    def __getitem__(self, key: str | int) -> Array | Trajectory:
        """A quantity of all runs by its label, or one run."""
        if isinstance(key, str):
            return self._column(key)
        if not -len(self) <= key < len(self):
            raise IndexError(f"run {key} of a batch of {len(self)}")
        return self._run(range(len(self))[key])

    def ends(self, k: int) -> State:
        """The state in which a run ended."""
        labels = {x: self.labels[x] for x in ("q", "v") if x in self.labels}
        return State(float(self.end_t[k]), self.end_q[k], self.end_v[k], labels)

    def _column(self, label: str) -> Array:
        known = self._columns()
        if label in self.series and label not in known:
            own = known.get(f"outputs.{label}")
            return self.series[label][0] if own is None else own[1]
        return self.columns(label)[label][1]

    def _run(self, k: int) -> Trajectory:
        n = int(self.recorded[k])
        series = {
            name: Series(values[k, :n], shape.unit, shape.axes)
            for name, (values, shape) in self.series.items()
            if n  # a run that failed at once shows the state it ended in
        }
        names = [label.name for label in self.labels.get("p", ())]
        return Trajectory(
            name=self.name,
            t=self.t[:n] if n else self.end_t[k : k + 1],
            q=self.q[k, :n] if n else self.end_q[k : k + 1],
            v=self.v[k, :n] if n else self.end_v[k : k + 1],
            labels=self.labels,
            series=series,
            events=self.events[k],
            status=self.statuses[k],
            message=self.messages[k],
            counts={name: int(x[k]) for name, x in self.counts.items()},
            meta={
                **self.meta,
                **self._measured(k),
                "parameters": dict(zip(names, self.parameters[k].tolist(), strict=False)),
            },
        )

    def _measured(self, k: int) -> dict[str, Any]:
        """Numbers of a run, as it would have them alone."""
        own = {name: x[k].item() for name, x in self.measures.items()}
        parts = {name: own.pop(x) for name, x in OF_BALANCE.items() if x in own}
        balance = self.meta.get("energy_balance", {})
        return own | ({"energy_balance": {**balance, **parts}} if parts else {})


OF_BALANCE = {
    "missed": "energy_missed", "at": "energy_missed_at", "turned_over": "energy_turned_over",
}  # fmt: skip
"""Numbers of the balance of energy, and their names among the measures."""
