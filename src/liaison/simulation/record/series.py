"""Series and events: the labelled parts a Trajectory is made of.

Public names: Series, EventRecord, event_variables, events_in, as_series, frozen.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.lazy import Shown
from liaison.units import Label

from .files import Variable

Array = NDArray[np.float64]

POSE_UNITS = ("", "", "", "m")
POSE_AXES = {"row": ("x", "y", "z"), "column": ("ex", "ey", "ez", "p")}

if TYPE_CHECKING:
    from . import resampling


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Series(Shown):
    """A labelled array over time: energy, outputs, poses, residuals, reactions.

    Args:
        values: shape (n, …), read-only from here on.
        unit: one word for all, or one for each entry along the last axis.
        axes: each axis after time by name, and its entries:
            {"joint": ("A", "B"), "component": ("Mx", …, "Fz")}; numbered if not given.
        undetermined: true where the value is one of many possible (a redundant reaction).
    """

    values: Array
    unit: str | tuple[str, ...] = ""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    undetermined: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        values = frozen(self.values)
        shape = values.shape[1:]
        axes = {name: tuple(entries) for name, entries in self.axes.items()}
        if not axes:
            axes = {f"axis{k}": tuple(map(str, range(n))) for k, n in enumerate(shape, 1)}
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "axes", axes)
        if self.undetermined is not None:
            mask = np.broadcast_to(np.asarray(self.undetermined, dtype=bool), values.shape)
            object.__setattr__(self, "undetermined", mask)
        _check(shape, tuple(map(len, axes.values())), self.unit)

    @staticmethod
    def of_poses(values: Array, bodies: tuple[str, ...]) -> Series:
        """Poses [R | p] of bodies in the world, shape (n, bodies, 3, 4) [1, m]."""
        return Series(values, POSE_UNITS, {"body": bodies, **POSE_AXES})

    @property
    def is_pose(self) -> bool:
        """Poses [R | p], which go on through an impact."""
        return self.unit == POSE_UNITS and self.values.shape[-2:] == (3, 4)

    @property
    def shown(self) -> Array:
        """The values, NaN where undetermined."""
        if self.undetermined is None:
            return self.values
        return np.where(self.undetermined, np.nan, self.values)

    def nowhere(self, name: str) -> dict[str, list[str]]:
        """Columns that are determined at no instant: what they are of -> their last words."""
        if self.undetermined is None or not self.axes:
            return {}
        lost = np.all(self.undetermined, axis=0).reshape(-1)
        columns: dict[str, list[str]] = {}
        for path, is_lost in zip(itertools.product(*self.axes.values()), lost, strict=True):
            if is_lost:
                columns.setdefault(".".join((name, *path[:-1])), []).append(path[-1])
        return columns

    def columns(self, name: str) -> dict[str, tuple[Label, Array]]:
        """Every entry as a column `name.entry`; a series of numbers is the column `name`."""
        if not self.axes:
            return {name: (Label(name, str(self.unit)), self.shown)}
        flat = self.shown.reshape(len(self.values), -1)
        units = self.unit if isinstance(self.unit, tuple) else (self.unit,)
        names = [".".join((name, *path)) for path in itertools.product(*self.axes.values())]
        return {x: (Label(x, units[k % len(units)]), flat[:, k]) for k, x in enumerate(names)}

    def at(self, spot: resampling.Spot, t: Array) -> Series:
        """The series at other instants: poses on shortest arcs, the rest on cubics.

        A series with undetermined entries, and forces of contacts, which jump, are joined by
        straight lines; modes and inputs hold until the next instant.
        """
        from . import resampling

        if "block" in self.axes or "input" in self.axes:
            later = np.minimum(spot.i + (spot.s >= 1), len(self.values) - 1)
            return replace(self, values=self.values[later])
        if "contact" in self.axes:
            return replace(self, values=resampling.linear(spot, self.values))
        if self.is_pose:
            return replace(self, values=resampling.pose_path(spot, t, self.values))
        if self.undetermined is None:
            values, _ = resampling.hermite(spot, self.values, resampling.slopes(t, self.values))
            return replace(self, values=values)
        values, mask = resampling.linear(spot, self.values), self.undetermined[spot.i]
        return replace(self, values=values, undetermined=mask)

    def rows(self, kept: NDArray[np.bool_]) -> Series:
        """The series at some of its instants."""
        mask = None if self.undetermined is None else self.undetermined[kept]
        return replace(self, values=self.values[kept], undetermined=mask)

    def variables(self, name: str, taken: dict[str, tuple[str, ...]]) -> dict[str, Variable]:
        """The series and its axes as arrays with named dimensions.

        `taken` remembers the axes already named: equal axes are shared, others get the name
        of their series in front.
        """
        arrays, dims = {}, ["time"]
        for axis, entries in self.axes.items():
            dim = axis if taken.setdefault(axis, entries) == entries else f"{name}_{axis}"
            arrays[dim] = Variable((dim,), np.array(entries, dtype=object))
            dims.append(dim)
        if isinstance(self.unit, tuple):
            units = np.array(self.unit, dtype=object)
            arrays[f"{name}_unit"] = Variable((dims[-1],), units, {"of": name})
        attrs = {"units": self.unit} if isinstance(self.unit, str) else {}
        arrays[name] = Variable(tuple(dims), self.values, attrs)
        if self.undetermined is not None:
            mask = self.undetermined.astype(np.int8)
            arrays[f"{name}_undetermined"] = Variable(tuple(dims), mask)
        return arrays


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EventRecord(Shown):
    """An event that occurred: its name, the instant [s], the state there, and of what kind.

    `what` is "impact", "closes", "opens", "sticks", "slips", … of what holds unilaterally;
    empty for an event of a formula. `before` are the velocities before an impact, `speed` that of
    the approach along the normal [m/s]. Events of scenes hold no state: q and v are empty.
    `together` counts the contacts hit in the same impact that change this one's answer, itself
    among them: from two on it is not unique, and the law of impacts chose it.
    """

    name: str
    t: float
    q: Array
    v: Array
    what: str = ""
    before: Array | None = None
    speed: float | None = None
    together: int = 1


def event_variables(events: Sequence[EventRecord]) -> dict[str, Variable]:
    """Events as arrays with named dimensions; NaN where no velocity before is known."""
    if not events:
        return {}
    dims = {"t": ("event",), "q": ("event", "coordinate"), "v": ("event", "rate")}
    variables = {"event": Variable(("event",), np.array([e.name for e in events], dtype=object))}
    names = [x for x in dims if x == "t" or all(e.q.size for e in events)]
    for x in names:
        variables[f"event_{x}"] = Variable(dims[x], np.array([getattr(e, x) for e in events]))
    variables["event_what"] = Variable(("event",), np.array([e.what for e in events], dtype=object))
    before = [np.full_like(e.v, np.nan) if e.before is None else e.before for e in events]
    if "v" in names:
        variables["event_before"] = Variable(("event", "rate"), np.array(before))
    if any(e.speed is not None for e in events):
        speeds = [np.nan if e.speed is None else e.speed for e in events]
        variables["event_speed"] = Variable(("event",), np.array(speeds))
    if any(e.together > 1 for e in events):
        together = np.array([e.together for e in events], dtype=np.int64)
        variables["event_together"] = Variable(("event",), together)
    return variables


def events_in(variables: Mapping[str, Variable]) -> tuple[EventRecord, ...]:
    """The events that `event_variables` put there, if any; older files hold less of them."""
    if "event" not in variables:
        return ()
    parts = (
        "event",
        *(f"event_{x}" for x in ("t", "q", "v", "what", "before", "speed", "together")),
    )
    table = {x: variables[x].values for x in parts if x in variables}
    empty = np.zeros(0)
    events = []
    for k, name in enumerate(table["event"]):
        row = {x.removeprefix("event_"): values[k] for x, values in table.items()}
        v, was = row.get("v", empty), row.get("before", np.array([np.nan]))
        before = None if np.isnan(was).any() or not v.size else was
        speed = row.get("speed", np.nan)
        events.append(
            EventRecord(
                str(name), float(row["t"]), row.get("q", empty), v, str(row.get("what", "")),
                before, None if np.isnan(speed) else float(speed), int(row.get("together", 1)),
            )
        )  # fmt: skip
    return tuple(events)


def as_series(name: str, x: Any) -> Series:
    """A Series, or a bare array with the axes and the unit its name is known for."""
    if isinstance(x, Series):
        return x
    values = np.asarray(x, dtype=float)
    if name == "energy" and values.shape[1:] == (2,):
        return Series(values, "J", {"part": ("T", "U")})
    if name == "poses" and values.shape[2:] == (3, 4):
        return Series.of_poses(values, tuple(map(str, range(values.shape[1]))))
    return Series(values)


def frozen(x: Any) -> Array:
    """The same numbers as floats that cannot be written to."""
    view = np.asarray(x, dtype=np.float64).view()
    view.setflags(write=False)
    return view


def _check(shape: tuple[int, ...], sizes: tuple[int, ...], unit: str | tuple[str, ...]) -> None:
    if sizes != shape:
        raise SimulationError(
            f"a series with {shape} entries an instant cannot have axes of {sizes}.",
            status="inconsistent",
        )
    if isinstance(unit, tuple) and (not shape or len(unit) != shape[-1]):
        raise SimulationError(
            f"{len(unit)} units do not fit {shape} entries: one for all, or one for each "
            f"along the last axis.",
            status="inconsistent",
        )
