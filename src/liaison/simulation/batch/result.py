"""Runs: what came of a batch, stacked: one axis for the runs, one for the instants.

`runs["A"]` is a position, shape (runs, instants); `runs["energy.T"]` a column of a series;
`runs[3]` the fourth run as a Trajectory. Runs become files and tables, too: one netCDF file, an
xarray Dataset, a DataFrame, CSV text.

A file of runs has the arrays of one run with the axis "run" in front. Events of all runs stand in
one table, with the number of their run. It is made in memory, then written whole.

Public names: Runs, Ends, runs_of, series_at, check_series, Stored.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, final, overload

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError, needed
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.simulation.events.log import Event
from liaison.simulation.outcome import (
    UNDEFINED,
    Balance,
    Outcome,
    are_off,
    doubles,
    is_off,
    may_run_away,
)
from liaison.simulation.plan.plan import Plan, may_lose
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
    FAILED,
    INTERRUPTED,
    POSES,
    STOPPED,
    Trajectory,
    matching,
)
from liaison.simulation.report import (
    SHAPES,
    event_records,
    message_of,
    meta_of,
    residuals_of,
    several_impacts,
    suspect,
)
from liaison.simulation.steps import layout as at
from liaison.units import Label

from .loop import ENDS, MEASURED
from .plan import Starts

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


UNFINISHED = -1
"""The code of a run that was not begun."""


@final
@dataclass(frozen=True, slots=True)
class Ends:
    """How each run ended: codes and counts, its last good (t, q, v), words where Python has any.

    With contacts also what its steps missed (beside the last state), series of contacts where they
    are requested, and how many sign changes the time loop looked for.
    """

    codes: NDArray[np.int64]
    last: Array
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    event_rows: dict[int, list[Array]] = field(default_factory=dict)
    contacts: dict[int, dict[str, Series]] = field(default_factory=dict)

    @staticmethod
    def for_runs(count: int, size: int) -> Ends:
        """Nothing has begun."""
        codes = np.zeros((count, len(ENDS)), dtype=np.int64)
        codes[:, 0] = UNFINISHED
        return Ends(codes, np.full((count, 1 + size + MEASURED), np.nan))

    def refuse(self, outcomes: Mapping[int, Outcome], t: float) -> None:
        """Notes runs that cannot begin, at the time t: they are over, and have no state."""
        for k, outcome in outcomes.items():
            self.codes[k, 0], self.last[k, 0] = at.BAD_START, t
            self.outcomes[k] = outcome

    @property
    def fraction(self) -> float:
        """How many of the runs are over, 0 to 1."""
        return float(np.mean(self.codes[:, 0] != UNFINISHED))

    def events_in(self, k: int) -> Array:
        """The log of a run."""
        size = Event.header + self.last.shape[1] - MEASURED - 1
        return np.concatenate([np.zeros((0, size)), *self.event_rows.get(k, ())])


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


def runs_of(plan: Plan, starts: Starts, records: Array, ends: Ends, series: Sequence[str]) -> Runs:
    """The record of a batch."""
    nq, nv = plan.size("nq"), plan.size("nv")
    _fill_unbegun(starts, ends)
    recorded = ends.codes[:, ENDS.index("recorded")].copy()
    columns = series_at(plan, starts, records, recorded, series)
    columns |= _contacts(ends, records.shape[:2])
    outcomes = _outcomes(ends)
    _mark_gaps(plan, recorded, columns, outcomes)
    _mark_suspects(plan, starts, records, ends, outcomes)
    events = _Events(plan, ends, len(starts))
    return Runs(
        name=plan.program.name,
        t=np.asarray(plan.settings.every, dtype=float),
        q=records[:, :, 1 : 1 + nq],
        v=records[:, :, 1 + nq : 1 + nq + nv],
        recorded=recorded,
        labels=plan.program.labels,
        series=columns,
        parameters=starts.p,
        end_t=ends.last[:, 0],
        end_q=ends.last[:, 1 : 1 + nq],
        end_v=ends.last[:, 1 + nq : 1 + nq + nv],
        statuses=tuple(x.status for x in outcomes),
        messages=tuple(_message(plan, events, k, x) for k, x in enumerate(outcomes)),
        reasons=tuple(x.reason for x in outcomes),
        events=events,
        counts={name: ends.codes[:, k].copy() for k, name in enumerate(ENDS) if k > 1},
        measures=_measures(plan, ends),
        meta=meta_of(plan) | _watched(plan) | _theta(plan),
    )


def _fill_unbegun(starts: Starts, ends: Ends) -> None:
    """A run that was not begun ends where it would have started."""
    rows = ends.codes[:, 0] == UNFINISHED
    ends.last[rows, :-MEASURED] = np.hstack(
        [np.full((len(starts), 1), starts.t), starts.q, starts.v]
    )[rows]


def _outcomes(ends: Ends) -> list[Outcome]:
    """How each run ended; runs that reached one time share their words."""
    words: dict[tuple[int, float], Outcome] = {}
    listed = []
    ended = zip(ends.codes[:, 0].tolist(), ends.last[:, 0].tolist(), strict=True)
    for k, (code, t) in enumerate(ended):
        outcome = ends.outcomes.get(k) or words.get((code, t))
        if outcome is None:
            outcome = words[code, t] = _outcome(code, t)
        listed.append(outcome)
    return listed


def _outcome(code: int, t: float) -> Outcome:
    if code == UNFINISHED:
        return Outcome(INTERRUPTED, "the run was not begun.", reason=INTERRUPTED)
    assert code == at.DONE
    return Outcome(DONE, f"reached t = {t:.9g} s.")


def _message(plan: Plan, events: _Events, k: int, outcome: Outcome) -> str:
    listed = events[k] if outcome.status == STOPPED else ()
    return message_of(plan, listed, outcome) + several_impacts(plan.settings, events.rows(k))


@final
class _Events(Sequence[tuple[EventRecord, ...]]):
    """What occurred in each run, each built at its first use: most never are."""

    def __init__(self, plan: Plan, ends: Ends, count: int) -> None:
        self._plan, self._ends, self._runs = plan, ends, range(count)
        self._records: dict[int, tuple[EventRecord, ...]] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def __reduce__(self) -> tuple[Any, ...]:
        """All events, where it is written or sent elsewhere."""
        return tuple, (list(self),)

    @property
    def known(self) -> list[int]:
        """Numbers of the runs that have events."""
        return sorted(self._ends.event_rows)

    def rows(self, k: int) -> Array:
        """Rows of the log of a run."""
        return self._ends.events_in(k) if k in self._ends.event_rows else np.empty((0, 0))

    @overload
    def __getitem__(self, k: int) -> tuple[EventRecord, ...]: ...

    @overload
    def __getitem__(self, k: slice) -> list[tuple[EventRecord, ...]]: ...

    def __getitem__(
        self, k: int | slice
    ) -> tuple[EventRecord, ...] | list[tuple[EventRecord, ...]]:
        if isinstance(k, slice):
            return [self[i] for i in self._runs[k]]
        i, ends = self._runs[k], self._ends
        if i not in self._records:
            is_any = i in ends.event_rows
            self._records[i] = event_records(self._plan, ends.events_in(i)) if is_any else ()
        return self._records[i]


def series_at(
    plan: Plan, starts: Starts, records: Array, recorded: NDArray[np.int64], names: Sequence[str]
) -> dict[str, tuple[Array, Series]]:
    """Series at all recorded states at once, on vectors and all cores; NaN where none was."""
    there = np.arange(records.shape[1]) < recorded[:, None]
    known = [x for x in names if x in plan.program.entries and plan.kernel.out_size(x)]
    columns: dict[str, tuple[Array, Series]] = {}
    if not known:
        return columns
    rows = np.ascontiguousarray(records[there].T)
    p = np.ascontiguousarray(starts.p[np.nonzero(there)[0]].T)
    for name in known:
        shapes = _shaped(plan, name, _evaluated(plan, name, rows, p))
        columns |= {x: (_stacked(there, s.values), s) for x, s in shapes.items()}
    return columns


def check_series(names: Sequence[str]) -> None:
    """Rejects a series that is not evaluated for batches."""
    known = (*SHAPES, "closure", "contacts")
    for name in names:
        if name not in known:
            raise NamingError.unknown("series of a batch", name, known)


def _contacts(ends: Ends, shape: tuple[int, ...]) -> dict[str, tuple[Array, Series]]:
    """Series of contacts of all runs; NaN where none was."""
    columns: dict[str, tuple[Array, Series]] = {}
    for k, contacts in ends.contacts.items():
        for name, series in contacts.items():
            if name not in columns:
                columns[name] = (np.full((*shape, *series.values.shape[1:]), np.nan), series)
            columns[name][0][k, : len(series.values)] = series.values
    return columns


def _measures(plan: Plan, ends: Ends) -> dict[str, Array]:
    """Numbers by run: what Moreau's steps missed, how events were seen; NaN where not begun."""
    is_moreau = plan.settings.tableau.scheme == "moreau"
    has_events = bool(plan.events) or (bool(plan.program.facts.get("sides")) and not is_moreau)
    names = (
        "penetration", "complementarity", "contacts", "event_spacing", "events_in_doubt",
        "energy_missed", "energy_missed_at", "", "", "energy_turned_over", "",
    )  # fmt: skip
    asked = (is_moreau,) * 3 + (has_events,) * 2 + (bool(plan.watch[0]),) * BALANCED
    columns = ends.last[:, -MEASURED:].T
    return {
        name: x
        for name, x, is_there in zip(names, columns, asked, strict=True)
        if name and is_there
    }


BALANCED = 6
"""Numbers of the balance of energy, the last of those measured."""


def _watched(plan: Plan) -> dict[str, Any]:
    """How the balance of energy was kept; its numbers are among the measures of each run."""
    if not plan.watch[0]:
        return {"energy_balance": {"watched": "", "why": plan.watch[1]}}
    return {"energy_balance": {"watched": "gains" if may_lose(plan) else "energy"}}


def _mark_suspects(
    plan: Plan, starts: Starts, records: Array, ends: Ends, outcomes: list[Outcome]
) -> None:
    """A run that ended as it should is suspect where its energy is off unexplained."""
    if not plan.watch[0]:
        return
    steps, kept = ends.codes[:, ENDS.index("steps")], ends.last[:, -BALANCED:]
    off = are_off(plan.settings, kept, steps)
    for k in np.flatnonzero(off | may_run_away(plan.settings, kept)).tolist():
        rows = records[k, : ends.codes[k, ENDS.index("recorded")]]
        worst, t_worst, jump, t_jump, turned_over, size = kept[k].tolist()
        trace = None if off[k] else _growth(plan, rows)
        balance = Balance(worst, t_worst, jump, t_jump, turned_over, size, int(steps[k]), trace)
        if outcomes[k].status in (DONE, STOPPED) and is_off(plan.settings, balance):
            own = replace(plan, parameters=starts.p[k])
            outcomes[k] = suspect(own, balance, rows) or outcomes[k]


def _growth(plan: Plan, rows: Array) -> Array | None:
    """Instants and squares of velocities where these run away, in the place of a trace."""
    first = 1 + plan.size("nq")
    squares = np.square(rows[:, first : first + plan.size("nv")]).sum(axis=1)
    return np.column_stack([rows[:, 0], squares]) if doubles(squares) else None


def _theta(plan: Plan) -> dict[str, float]:
    theta = plan.settings.theta
    is_moreau = plan.settings.tableau.scheme == "moreau"
    return {"theta": 0.5 if theta is None else theta} if is_moreau else {}


def _evaluated(plan: Plan, entry: str, rows: Array, p: Array) -> Array:
    """An entry at every column (t, q, v, u), with its parameters; shape (columns, outputs)."""
    if not rows.shape[1]:
        return np.zeros((0, plan.kernel.out_size(entry)))
    nq, nv = plan.size("nq"), plan.size("nv")
    t, q, v, u = np.split(rows, [1, 1 + nq, 1 + nq + nv])
    return plan.kernel.batch(entry, t[0], q=q, v=v, u=u, p=p).T


def _shaped(plan: Plan, name: str, out: Array) -> dict[str, Series]:
    if name == "closure":
        return residuals_of(plan, out) if plan.size("nc") else {}
    return {name: SHAPES[name](plan.kernel, out)}


def _stacked(there: NDArray[np.bool_], values: Array) -> Array:
    if np.all(there):
        return np.ascontiguousarray(values).reshape(*there.shape, *values.shape[1:])
    whole = np.full((*there.shape, *values.shape[1:]), np.nan)
    whole[there] = values
    return whole


def _mark_gaps(
    plan: Plan,
    recorded: NDArray[np.int64],
    columns: Mapping[str, tuple[Array, Series]],
    outcomes: list[Outcome],
) -> None:
    """A run whose series has no finite value at an instant it reached has failed."""
    times = np.asarray(plan.settings.every, dtype=float)
    there = np.arange(times.size) < recorded[:, None]
    for name, (values, shape) in columns.items():
        flat = values.reshape(*there.shape, -1)
        bad = there[:, :, None] & ~np.isfinite(flat)
        for k in np.flatnonzero(bad.any(axis=(1, 2))):
            i, column = np.argwhere(bad[k])[0]
            what = list(shape.columns(name))[column].removeprefix("outputs.")
            text = f"{what!r} is {flat[k, i, column]} at t = {times[i]:.9g} s."
            if not outcomes[k].is_failure:
                outcomes[k] = Outcome(FAILED, text, UNDEFINED, "not finite")
