"""Trajectory: the result of a run, as labelled arrays with units over time.

A frozen record, found by label: `run["A"]` is a position, `run["A'"]` its rate, `run["energy"]`
a series, `run["energy.T"]` one column of it. Its arrays are read-only. One run is one netCDF file.

First integrals along a run, as measures of its error.

Later: fields of a record that are computed at their first use.

Public names: Trajectory, Series, EventRecord, load, DONE, STOPPED, INTERRUPTED, TIME_LIMIT, FAILED,
SUSPECT, Invariant, invariants_of, Later, matching.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.arguments import checked
from liaison.errors import ArgumentError, LiaisonError, NamingError, SimulationError, needed
from liaison.lazy import Moving, Shown
from liaison.numeric import State
from liaison.units import Label, si_value

from .files import Variable, parsed, plain, read_netcdf, readable, write_file, write_netcdf
from .series import Array, EventRecord, Series, as_series, event_variables, events_in, frozen


class Later:
    """A record with slots, some of which are empty until they are read.

    Attributes:
        _later: has a method for each such field, by its name, that makes it.
        _mechanism: what moved, where that is known and `_later` does not say.
    """

    __slots__ = ("_later", "_mechanism")

    if not TYPE_CHECKING:  # which would hide names that are misspelled

        def __getattr__(self, name: str) -> Any:
            """Called where a slot is empty."""
            later = None if name.startswith("_") else getattr(self, "_later", None)
            make = getattr(later, name, None)
            if make is None:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            value = make()
            object.__setattr__(self, name, value)
            return value


@final
@dataclass(frozen=True, slots=True, eq=False)
class Invariant:
    """What should stay as it was at the beginning.

    Attributes:
        values: at every instant.
        unit: of the values.
    """

    values: Array
    unit: str

    @property
    def drift(self) -> float:
        """The largest change since the beginning, in its unit."""
        return float(np.max(np.abs(self.values - self.values[0])))


def invariants_of(series: Mapping[str, Series]) -> dict[str, Invariant]:
    """The series of invariants by name.

    Raises:
        SimulationError: the run was made without them.
    """
    if "invariants" not in series:
        raise SimulationError(
            "this run has no invariants.",
            status="inconsistent",
            hint="Ask for them: simulate(mechanism, until=…, invariants=True).",
        )
    entry = series["invariants"]
    (names,) = entry.axes.values()
    units = entry.unit if isinstance(entry.unit, tuple) else (entry.unit,) * len(names)
    return {n: Invariant(entry.values[:, k], units[k]) for k, n in enumerate(names)}


if TYPE_CHECKING:
    from .wrenches import Point

__all__ = [
    "DONE", "FAILED", "INTERRUPTED", "STOPPED", "SUSPECT", "TIME_LIMIT", "EventRecord", "Series",
    "Trajectory", "load",
]  # fmt: skip

DONE = "done"  # reached the end
STOPPED = "stopped"  # an event or a stop condition ended it
INTERRUPTED = "interrupted"  # Ctrl-C
TIME_LIMIT = "time limit"  # the wall clock ran out
FAILED = "failed"  # it could not go on
SUSPECT = "suspect"  # whole, but its energy is off by more than steps and tolerances explain

RESIDUALS = ("position_residual", "velocity_residual")
"""Series of states as they were computed: between them they are not known."""

NEAR = 1e-6
"""Distance from an impact, relative to the largest time, within which its side is not certain."""

POSES = ("poses.", "markers.", "self_stress.")  # columns shown only by request


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trajectory(Later, Moving, Shown):
    """A run: positions, velocities and series over time, with what is known about it.

    Args:
        name: of the mechanism or the run.
        t: instants [s], shape (n,), not decreasing; a jump is recorded twice at its instant.
        q: positions, shape (n, nq).
        v: velocities, shape (n, nv).
        labels: name and unit for each entry of q, v (and of u, p, lam, …).
        series: energy, outputs, poses (n, bodies, 3, 4) as [R | p], residuals, reactions, …
        events: what occurred, in order.
        status: DONE, STOPPED, INTERRUPTED, TIME_LIMIT, FAILED or SUSPECT.
        message: the status in a sentence.
        counts: steps, evaluations, rejected, projections, …
        meta: plain data: mechanism, parameters, method, tolerances, version, and `charts`:
            records of kind (see `resampling.Chart`), slice q, slice v.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.25)
        >>> run.t
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        >>> run["A"].shape, run.unit("A")
        ((5,), 'rad')
        >>> round(float(run.resample([0.5])["A"][0]), 6)
        -0.162769
    """

    name: str
    t: Array
    q: Array
    v: Array
    labels: Mapping[str, tuple[Label, ...]]
    series: Mapping[str, Series] = field(default_factory=dict)
    events: tuple[EventRecord, ...] = ()
    status: str = DONE
    message: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("t", "q", "v"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        series = {name: as_series(name, x) for name, x in self.series.items()}
        object.__setattr__(self, "series", series)
        object.__setattr__(self, "labels", {k: tuple(x) for k, x in self.labels.items()})
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "counts", {k: int(x) for k, x in self.counts.items()})
        object.__setattr__(self, "meta", plain(self.meta))
        _check(self)

    @staticmethod
    def of_run(later: Any, **known: Any) -> Trajectory:
        """A run as the time loop recorded it; what is not known `later` makes when it is read."""
        trajectory = object.__new__(Trajectory)
        put = object.__setattr__
        put(trajectory, "_later", later)
        for name, value in known.items():
            put(trajectory, name, value)
        for name in ("t", "q", "v"):
            known[name].setflags(write=False)
        return trajectory

    # the names SciPy's solve_ivp uses

    @property
    def success(self) -> bool:
        """True if the run ended as it should: at its end, or by an event meant to stop it."""
        return self.status in (DONE, STOPPED)

    @property
    def y(self) -> Array:
        """The state (q, v) as SciPy has it, shape (nq + nv, n)."""
        return np.concatenate([self.q, self.v], axis=1).T

    @property
    def nfev(self) -> int:
        """Evaluations of the equations."""
        return self.counts.get("evaluations", 0)

    @property
    def t_events(self) -> dict[str, Array]:
        """Instants of each event by name [s]."""
        names = dict.fromkeys(event.name for event in self.events)
        return {x: np.array([e.t for e in self.events if e.name == x]) for x in names}

    @property
    def y_events(self) -> dict[str, Array]:
        """States (q, v) at each event by name, shape (occurrences, nq + nv)."""
        states = {x: [e for e in self.events if e.name == x] for x in self.t_events}
        return {x: np.array([[*e.q, *e.v] for e in events]) for x, events in states.items()}

    def sol(self, t: ArrayLike) -> Array:
        """The state (q, v) at any instants of the run, as SciPy's dense output gives it."""
        y = self.resample(np.atleast_1d(np.asarray(t, dtype=float))).y
        return y[:, 0] if np.ndim(t) == 0 else y

    # by label

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, label: str) -> Array:
        """A column by its label, or a whole series by its name (NaN where undetermined).

        A coordinate, a rate or an output comes before a series of its name, which is in `series`.
        """
        if label == "t":
            return self.t
        if label in self.series and label not in self._own:
            return self.series[label].shown
        return self._column(label)[1]

    @property
    def _own(self) -> set[str]:
        """Labels of coordinates, rates and outputs."""
        outputs = self.series["outputs"].axes.get("output", ()) if "outputs" in self.series else ()
        return {x.name for part in ("q", "v") for x in self.labels.get(part, ())} | {*outputs}

    def unit(self, label: str) -> str:
        """The unit of a column."""
        return "s" if label == "t" else self._column(label)[0].unit

    def columns(self, *patterns: str) -> dict[str, tuple[Label, Array]]:
        """Columns by label or pattern ("A*", "energy.*"); without any, all but the poses.

        Example:
            >>> import liaison
            >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.25)
            >>> list(run.columns("A*", "energy"))
            ['A', "A'", 'energy.T', 'energy.U']
        """
        known = self._columns()
        if not patterns:
            return {x: column for x, column in known.items() if not x.startswith(POSES)}
        chosen: dict[str, tuple[Label, Array]] = {}
        for pattern in patterns:
            names = [pattern] if pattern in known else matching(pattern, known, self.series)
            if not names:
                names = [self._column(pattern)[0].name]
            chosen |= {x: known[x] for x in names}
        return chosen

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Columns that no instant determines: reactions and multipliers of redundant closures.

        Arrays have NaN there; tables, CSV files and plots leave them out, and `message` names them.
        """
        lost = {name: x.nowhere(name) for name, x in self.series.items()}
        return tuple(
            f"{of}.{x}" for columns in lost.values() for of in columns for x in columns[of]
        )

    def shown_columns(self, *patterns: str) -> dict[str, tuple[Label, Array]]:
        """As `columns`, without those that nothing determines: for tables and plots.

        Raises:
            SimulationError: one of these is named, or nothing else is left.
        """
        lost = {*self.undetermined}
        named = [x for x in patterns if x in lost]
        chosen = {x: column for x, column in self.columns(*patterns).items() if x not in lost}
        if named or (patterns and not chosen):
            raise SimulationError(
                f"{(named or patterns)[0]!r} is not determined by the motion: closures of "
                f"{self.name!r} are redundant, and any self-stress may be added.",
                status="undetermined",
                hint="`liaison mobility` names the redundant closures; a joint with more freedom "
                "in their place determines it.",
            )
        return chosen

    def _columns(self) -> dict[str, tuple[Label, Array]]:
        columns = {x.name: (x, self.q[:, k]) for k, x in enumerate(self.labels.get("q", ()))}
        for k, x in enumerate(self.labels.get("v", ())):
            columns.setdefault(x.name, (x, self.v[:, k]))
        for name, series in self.series.items():
            columns |= {x: y for x, y in series.columns(name).items() if x not in columns}
        return columns

    def _column(self, label: str) -> tuple[Label, Array]:
        known = self._columns()
        if label in known:
            return known[label]
        for name in ("outputs", "accelerations", "inputs"):
            if f"{name}.{label}" in known:
                return known[f"{name}.{label}"]
        raise NamingError.unknown("label", label, ["t", *known, *self.series])

    def reaction(
        self,
        joint: str,
        *,
        frame: str | None = None,
        at: Point | None = None,
        on: str = "successor",
    ) -> Series:
        """Moment and force of a joint, in any axes, at any point; see `wrenches.reaction`."""
        from .wrenches import reaction

        return reaction(self.series, joint, frame=frame, at=at, on=on)

    def pose(self, body: str) -> Array:
        """Poses X_WB of a body in the ground at all instants, shape (n, 4, 4): rotation, position.

        The columns are `poses.BODY.x.p` (its position along x) and the like.

        Raises:
            SimulationError: the run has no poses.
            NamingError: no body has that name.
        """
        if "poses" not in self.series:
            raise SimulationError(
                f"the run of {self.name!r} has no poses.",
                hint="They are evaluated by default: leave only_series out, or name them there.",
            )
        bodies = self.series["poses"].axes["body"]
        if body not in bodies:
            raise NamingError.unknown("body", body, bodies)
        matrices = np.zeros((len(self), 4, 4))
        matrices[:, :3], matrices[:, 3, 3] = self.series["poses"].values[:, bodies.index(body)], 1.0
        return matrices

    def state(self, index: int | None = None, *, t: float | str | None = None) -> State:
        """The state of a recorded instant by its index (-1 is the last), or at any time of the run.

        Args:
            index: of the instant.
            t: time [s], or a text such as "250 ms"; between instants as `resample` has it.

        Raises:
            SimulationError: no instant has that index, or the time is outside the run.

        Example:
            >>> import liaison
            >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.25)
            >>> run.state(t="250 ms").t
            0.25
        """
        if (index is None) == (t is None):
            raise ArgumentError("Trajectory.state takes an index, or t=…, and not both.")
        if index is None:
            at = self.resample([float(si_value(t, "s", "t"))])
            return State(float(at.t[0]), at.q[0], at.v[0], self.labels)
        if not -len(self) <= index < len(self):
            raise SimulationError(f"instant {index} of a run that recorded {len(self)} instants.")
        return State(float(self.t[index]), self.q[index], self.v[index], self.labels)

    @property
    def mechanism(self) -> Any:
        """The mechanism that moved; None of a run from a file, or of some of its instants."""
        source: Any = getattr(self, "_later", None)
        return getattr(self, "_mechanism", None) or (source and source.mechanism())

    def with_mechanism(self, mechanism: Any) -> Trajectory:
        """The run, which then knows what moved and shows it by itself: a run from a file."""
        copy = replace(self)
        object.__setattr__(copy, "_mechanism", mechanism)
        return copy

    @property
    def invariants(self) -> dict[str, Invariant]:
        """First integrals by name, with their drift, where the run was made with them."""
        return invariants_of(self.series)

    # at other times, against another run

    @property
    def is_integrable(self) -> bool:
        """Whether `resample` integrates between recorded instants, instead of interpolating."""
        source: Any = getattr(self, "_later", None)
        return source is not None and bool(source.is_integrable())

    def resample(self, times: ArrayLike, *, rough: bool = False, series: bool = True) -> Trajectory:
        """The run at other instants within it [s].

        A run in memory is taken up at the instants before, with its own equations, inputs and
        tolerances, or fixed steps where several lie between. One that was read from a file, or that
        has contacts or Python controllers, is interpolated between the events of contacts: plain
        coordinates by the cubic through recorded positions and velocities, attitudes by that on the
        group of rotations (error of fourth order; rates of third); poses turn on the shortest arc,
        inputs are held, other series follow cubics through neighbors, residuals are left out.

        Args:
            times: instants [s].
            rough: interpolate however far recorded instants are apart; series: evaluate them, too.

        Raises:
            SimulationError: an instant outside the run; or it would have to be interpolated between
                instants that are too far apart for that.

        Example:
            >>> import liaison
            >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.25)
            >>> run.resample([0.1, 0.2]).t
            array([0.1, 0.2])
        """
        from . import resampling

        t = np.atleast_1d(np.asarray(times, dtype=float))
        resampling.check_within(self.t, t)
        t_in = np.clip(t, self.t[0], self.t[-1])
        source: Any = getattr(self, "_later", None)
        rows = None if rough or source is None else source.between(self, t_in)
        if rows is None or source is None:
            kept = self if series else replace(self, series={})
            return _interpolated(kept, t, np.zeros(len(t), dtype=bool), rough=rough)
        nq, nv = self.q.shape[1], self.v.shape[1]
        q, v = rows[:, 1 : 1 + nq], rows[:, 1 + nq : 1 + nq + nv]
        return replace(self, t=t, q=q, v=v, series=source.series_at(self, rows) if series else {})

    def compare(self, other: Trajectory) -> dict[str, float]:
        """Worst difference by label over the time both cover, the largest first.

        The other run is resampled to this one's instants; quaternions are compared up to sign. At
        an instant recorded twice, before and after an impact, each side is compared with its own;
        instants beside an impact of the other run, which has two velocities there, are left out.
        Series of a run that must be interpolated (`resample`) are compared where both recorded.
        """
        start, end = max(self.t[0], other.t[0]), min(self.t[-1], other.t[-1])
        kept = (self.t >= start) & (self.t <= end) & ~_near_jump(self.t, other)
        keep = self.t[kept]
        if not len(keep):
            raise SimulationError(
                f"the runs share no time: {self.t[0]:g} to {self.t[-1]:g} s "
                f"and {other.t[0]:g} to {other.t[-1]:g} s.",
                status="inconsistent",
            )
        mine = self if np.all(kept) else _rows_of(self, kept)
        theirs = other if np.array_equal(other.t, keep) else _other_at(other, keep)
        a, b = mine.columns(), _signed_like(mine, theirs).columns()
        shared = _shared(keep, other)
        states = {x.name for name in ("q", "v") for x in self.labels.get(name, ())}
        rows = {x: slice(None) if x in states else shared for x in a if x in b}
        worst = {x: _worst(a[x][1][k], b[x][1][k]) for x, k in rows.items() if len(a[x][1][k])}
        return dict(sorted(worst.items(), key=lambda item: -item[1]))

    # tables and files

    def to_xarray(self) -> Any:
        """An xarray Dataset: q and v by label, every series, units as attributes."""
        with needed("tables"):
            import xarray

        variables = _variables(self)
        arrays = {name: (x.dims, x.values, dict(x.attrs)) for name, x in variables.items()}
        names = [name for name, x in variables.items() if name in x.dims or "of" in x.attrs]
        data = {name: x for name, x in arrays.items() if name not in names}
        attrs = {"name": self.name, "status": self.status, "message": self.message}
        return xarray.Dataset(data, coords={x: arrays[x] for x in names}, attrs=attrs)

    def to_pandas(self, *patterns: str) -> Any:
        """A DataFrame over t; columns as `columns(*patterns)`; units in `attrs["units"]`."""
        with needed("tables"):
            import pandas

        chosen = self.shown_columns(*patterns)
        table = {x: values for x, (_, values) in chosen.items()}
        frame = pandas.DataFrame(table, index=pandas.Index(self.t, name="t"))
        frame.attrs["units"] = {"t": "s"} | {x: label.unit for x, (label, _) in chosen.items()}
        return frame

    def to_csv(self, path: str | os.PathLike[str], *patterns: str) -> None:
        """Text with one row an instant, `label [unit]` as heads, numbers that read back exactly.

        Example:
            >>> import liaison
            >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.25)
            >>> run.to_csv("run.csv", "A")
            >>> from pathlib import Path
            >>> Path("run.csv").read_text().splitlines()[0]
            't [s],A [rad]'
        """
        chosen = self.shown_columns(*patterns)
        table = np.column_stack([self.t, *(values for _, values in chosen.values())])
        heads = ["t [s]", *(str(label) for label, _ in chosen.values())]
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(heads)
        writer.writerows([[repr(x) for x in row] for row in table.tolist()])
        write_file(path, text.getvalue())

    def save(self, path: str | os.PathLike[str]) -> None:
        """One netCDF file, written under a temporary name and renamed; the folder must exist.

        Raises:
            OSError: there is no such folder, or the file cannot be written.
        """
        write_netcdf(path, _variables(self), json.dumps(_header(self), ensure_ascii=False))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Trajectory:
        """The run that `save` wrote, bit for bit."""
        return load(path)


@checked
def load(path: str | os.PathLike[str]) -> Trajectory:
    """The run in a netCDF file that `Trajectory.save` wrote.

    Raises:
        OSError: there is no such file, or it cannot be read.
        LiaisonError: the file is damaged, or holds something else.

    Example:
        >>> import liaison
        >>> liaison.simulate("examples/pendulum.lsd", until=0.1).save("run.nc")
        >>> liaison.load("run.nc").status
        'done'
    """
    variables, text = read_netcdf(path)
    with readable(path):
        header = parsed(text)
        if header.get("kind") == "runs":
            raise LiaisonError(
                f"{path} holds many runs, not one.", hint="`liaison.Runs.load` reads them."
            )
        return _restored(variables, header)


def _restored(variables: Mapping[str, Variable], header: Mapping[str, Any]) -> Trajectory:
    """The run of these arrays, and of all that is not an array."""
    axes, units = header["axes"], header["units"]
    series = {}
    for name in header["series"]:
        mask = variables.get(f"{name}_undetermined")
        unit = units[name] if isinstance(units[name], str) else tuple(units[name])
        undetermined = None if mask is None else mask.values.astype(bool)
        series[name] = Series(variables[name].values, unit, axes[name], undetermined)
    return Trajectory(
        name=header["name"],
        t=variables["time"].values,
        q=variables["q"].values,
        v=variables["v"].values,
        labels={x: tuple(Label(*y) for y in labels) for x, labels in header["labels"].items()},
        series=series,
        events=events_in(variables),
        status=header["status"],
        message=header["message"],
        counts=header["counts"],
        meta=header["meta"],
    )


def _header(run: Trajectory) -> dict[str, Any]:
    """All that is not an array, as plain data."""
    return {
        "name": run.name,
        "status": run.status,
        "message": run.message,
        "counts": run.counts,
        "meta": run.meta,
        "labels": {x: [[y.name, y.unit] for y in labels] for x, labels in run.labels.items()},
        "series": list(run.series),
        "axes": {name: x.axes for name, x in run.series.items()},
        "units": {name: x.unit for name, x in run.series.items()},
    }


def _variables(run: Trajectory) -> dict[str, Variable]:
    """All arrays with named dimensions, as a file or a Dataset holds them."""
    variables = {"time": Variable(("time",), run.t, {"units": "s", "long_name": "time"})}
    for name, dim in (("q", "coordinate"), ("v", "rate")):
        labels = run.labels[name]
        variables[dim] = Variable((dim,), np.array([x.name for x in labels], dtype=object))
        units = np.array([x.unit for x in labels], dtype=object)
        variables[f"{dim}_unit"] = Variable((dim,), units, {"of": name})
        variables[name] = Variable(("time", dim), getattr(run, name))
    taken: dict[str, tuple[str, ...]] = {}
    for name, series in run.series.items():
        variables |= series.variables(name, taken)
    variables |= event_variables(run.events)
    return variables


def _check(run: Trajectory) -> None:
    n = len(run.t)
    for name, shape in (("q", run.q.shape), ("v", run.v.shape)):
        if shape != (n, len(run.labels.get(name, ()))):
            _reject(f"{name} has shape {shape}, not {n} instants by its labels")
    for name, series in run.series.items():
        if len(series.values) != n:
            _reject(f"the series {name!r} has {len(series.values)} rows for {n} instants")
    if run.t.ndim != 1 or n == 0 or not np.all(np.diff(run.t) >= 0):
        _reject("t must hold at least one instant and never decrease")


def _reject(reason: str) -> None:
    raise SimulationError(f"this is no run: {reason}.", status="inconsistent")


def _interpolated(
    run: Trajectory, t: Array, before: NDArray[np.bool_], *, rough: bool = True
) -> Trajectory:
    """The run between its instants and events; `before` a jump at its instant, or after it."""
    from . import resampling

    knots = resampling.with_events(run.t, run.q, run.v, run.events)
    inside = np.clip(t, run.t[0], run.t[-1])
    spot = resampling.spots(knots.t, inside, before)
    charts = resampling.charts_of(run.meta, run.q.shape[1], run.v.shape[1])
    if not rough:
        resampling.check_fine(knots, spot, charts, run.labels)
    q, v = resampling.state(spot, knots.t, knots.q, knots.v, charts)
    straight = resampling.spots(run.t, inside, before)
    held = resampling.pieces(run.t, [e.t for e in run.events if e.what], inside, before)
    kept = {name: x for name, x in run.series.items() if name not in RESIDUALS}
    series = {name: x.at(straight if x.is_pose else held, run.t) for name, x in kept.items()}
    source = getattr(run, "_later", None)
    if source is not None and not rough:
        u = series["inputs"].values if "inputs" in series else np.zeros((len(t), 0))
        series |= source.series_at(run, np.column_stack([inside, q, v, u]))
    return replace(run, t=t, q=q, v=v, series=series)


def _rows_of(run: Trajectory, kept: NDArray[np.bool_]) -> Trajectory:
    """Some of the recorded instants of a run."""
    series = {name: x.rows(kept) for name, x in run.series.items()}
    return replace(run, t=run.t[kept], q=run.q[kept], v=run.v[kept], series=series)


def _other_at(run: Trajectory, t: Array) -> Trajectory:
    """A run at the instants of another; at one that stands there twice, before and after."""
    before = np.append(np.diff(t) == 0, False)
    return _interpolated(run, t, before, rough=False) if np.any(before) else run.resample(t)


def _shared(t: Array, other: Trajectory) -> NDArray[np.bool_]:
    """Instants at which every series of another run has a value of its own."""
    source: Any = getattr(other, "_later", None)
    if source is not None and source.is_integrable():
        return np.ones(len(t), dtype=bool)
    return np.isin(t, other.t)


def _near_jump(t: Array, other: Trajectory) -> NDArray[np.bool_]:
    """Instants beside, but not at, an impact of another run."""
    jumps = np.array([e.t for e in other.events if e.before is not None])
    if not jumps.size:
        return np.zeros(len(t), dtype=bool)
    away = np.min(np.abs(t[:, None] - jumps[None, :]), axis=1)
    close = NEAR * max(1.0, float(np.max(np.abs(other.t))))
    return np.asarray((away > 0) & (away < close))


def _signed_like(mine: Trajectory, theirs: Trajectory) -> Trajectory:
    """The other run with each quaternion's sign as in mine."""
    from .resampling import charts_of

    if mine.q.shape != theirs.q.shape:
        return theirs
    q = theirs.q.copy()
    for chart in charts_of(mine.meta, mine.q.shape[1], mine.v.shape[1]):
        if chart.kind in ("quaternion", "free"):
            four = slice(chart.q.stop - 4, chart.q.stop)
            dot = np.sum(mine.q[:, four] * q[:, four], axis=1, keepdims=True)
            q[:, four] *= np.where(dot < 0, -1.0, 1.0)
    return replace(theirs, q=q)


def _worst(a: Array, b: Array) -> float:
    return float(np.max(np.abs(a - b)[~(np.isnan(a) & np.isnan(b))], initial=0.0))


def matching(pattern: str, known: Iterable[str], series: Mapping[str, Any]) -> list[str]:
    """Columns that a pattern names; those of poses only where it begins with their name."""
    if pattern in series:
        return [x for x in known if x == pattern or x.startswith(f"{pattern}.")]
    names = [x for x in known if fnmatchcase(x, pattern)]
    return names if pattern.startswith(POSES) else [x for x in names if not x.startswith(POSES)]
