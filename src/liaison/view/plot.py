"""Curves of a run, chosen by label, drawn with matplotlib.

Public names: plot, save_plot.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, needed
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import UNITS, Label

Array = NDArray[np.float64]

# distinguishable by most color-blind readers, and in gray
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B", "#A0522D")
QUANTITIES = {
    "rad": "angle", "deg": "angle", "rad/s": "angular velocity", "deg/s": "angular velocity",
    "m": "length", "m/s": "velocity", "N": "force", "N*m": "torque", "Nm": "torque", "J": "energy",
    "W": "power",
}  # fmt: skip
MODES = ("open", "holds", "slips", "locked")
SLIPS = 2  # the last mode that is named in any case
MOST_IN_LEGEND = 12
MOST_EVENTS_NAMED = 12
MANY_EVENTS = 40
FINE = 800  # instants of a curve, at least
NEAR = 0.018  # of the whole time: events nearer than this have one text
MOST_WORDS = 3  # events in one text
JUMPING = ("contacts.", "slips.")  # series that jump where a mode changes


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot."""

    name: str
    unit: str
    t: Array
    values: Array


def plot(
    trajectory: Trajectory,
    *labels: str,
    ax: Any = None,
    degrees: bool = False,
    events: bool = True,
    title: str | None = None,
) -> Any:
    """Curves over time, one plot for each unit, one above the other.

    Args:
        trajectory: the run.
        *labels: labels, names of series, or patterns ("A*", "energy", "reactions.A.*");
            without any, the positions.
        ax: the Axes to draw in; all curves must then have one unit.
        degrees: show angles in degrees.
        events: mark the instants of events.
        title: the run's name if not given.

    Returns:
        The Axes, the topmost if there are several (the others are in `figure.axes`). Nothing is
        shown: that is for `matplotlib.pyplot.show`, or for the notebook.
    """
    groups = _by_unit(_curves(trajectory, labels, degrees))
    if ax is not None:
        axes = [_only_axes(ax, groups)]
    else:
        with needed("plots"):
            from matplotlib import pyplot

        figure = pyplot.figure(layout="constrained", figsize=_size(len(groups)))
        axes = _stack(figure, len(groups))
    return _draw(trajectory, groups, axes, events, title)


def save_plot(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *labels: str,
    degrees: bool = False,
    events: bool = True,
    title: str | None = None,
) -> None:
    """The same picture in a file; its suffix is the format (.png, .svg, .pdf).

    The file appears whole or not at all; the folder must exist.
    """
    with needed("plots"):
        from matplotlib.figure import Figure

    groups = _by_unit(_curves(trajectory, labels, degrees))
    figure = Figure(layout="constrained", figsize=_size(len(groups)))
    form = Path(path).suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise LiaisonError(
            f"a plot cannot be saved as {Path(path).name!r}: the suffix must be one of "
            f"{', '.join(sorted(known))}."
        )
    _draw(trajectory, groups, _stack(figure, len(groups)), events, title)
    picture = io.BytesIO()
    figure.savefig(picture, format=form, dpi=150)
    write_file(path, picture.getvalue())


def refined(trajectory: Trajectory) -> Trajectory:
    """Positions and velocities also between instants that are too far apart for a picture.

    What was recorded stays, also the two values at an instant at which something jumps. A run
    recorded at intervals does not have the values on both sides of such an instant, and stays.
    Series are left out: of forces and energies neighbors do not determine it.
    """
    t = trajectory.t
    twice = set(t[1:][np.diff(t) == 0].tolist())
    is_recorded = all(e.t in twice or e.t in (t[0], t[-1]) for e in trajectory.events if e.what)
    if len(t) < 3 or t[-1] == t[0] or not is_recorded:
        return trajectory
    fine = (t[-1] - t[0]) / FINE
    more = np.maximum(np.ceil(np.diff(t) / fine - 1e-9).astype(int) - 1, 0)
    between = [np.linspace(t[i], t[i + 1], n + 2)[1:-1] for i, n in enumerate(more.tolist()) if n]
    if not between:
        return trajectory
    where, bare = np.repeat(np.arange(1, len(t)), more), replace(trajectory, series={})
    new = bare.resample(np.concatenate(between), rough=True)
    both = {x: np.insert(getattr(bare, x), where, getattr(new, x), axis=0) for x in ("t", "q", "v")}
    return replace(bare, **both)


def _curves(trajectory: Trajectory, labels: Sequence[str], degrees: bool) -> list[Curve]:
    names = labels or [label.name for label in trajectory.labels["q"]]
    if not names:
        raise LiaisonError(f"{trajectory.name} has no coordinates to plot; name a series.")
    chosen, fine = trajectory.shown_columns(*names), refined(trajectory)
    smooth = {x.name for part in ("q", "v") for x in fine.labels[part]}
    curves = []
    for label, values in chosen.values():
        if label.name in smooth and len(fine) > len(trajectory):
            curves.append(_curve(fine, label, fine[label.name], degrees))
        else:
            curves.append(_curve(trajectory, label, values, degrees))
    return curves


def _curve(trajectory: Trajectory, label: Label, values: Array, degrees: bool) -> Curve:
    t, values = jumping(trajectory, label.name, values)
    if degrees and label.unit.split("/")[0] == "rad":
        radians = float(UNITS["deg"].factor) * math.pi
        return Curve(label.name, label.unit.replace("rad", "deg", 1), t, values / radians)
    return Curve(label.name, label.unit, t, values)


def jumping(trajectory: Trajectory, name: str, values: Array) -> tuple[Array, Array]:
    """Instants and values of a curve that jumps where velocities do, and breaks where forces do.

    A run recorded at intervals has velocities before and after an impact in its events only;
    of forces it has neither, so that no line is drawn over the instant.
    """
    t = trajectory.t
    twice = set(t[1:][np.diff(t) == 0].tolist())
    events = {e.t: e for e in trajectory.events if e.what and e.q.size and e.t not in twice}
    events = {k: e for k, e in events.items() if k > t[0]}
    speeds = [label.name for label in trajectory.labels["v"]]
    if name in speeds:
        k = speeds.index(name)
        jumps = {x: (e.before[k], e.v[k]) for x, e in events.items() if e.before is not None}
    elif name in (places := [label.name for label in trajectory.labels["q"]]):
        k = places.index(name)
        jumps = {x: (e.q[k], e.q[k]) for x, e in events.items()}
    elif name.startswith(JUMPING):
        jumps = dict.fromkeys(events, (np.nan, np.nan))
    else:
        return t, values
    if not jumps:
        return t, values
    at = np.searchsorted(t, list(jumps), side="left")
    times = np.repeat(np.array(list(jumps)), 2)
    pairs = np.array(list(jumps.values())).ravel()
    return np.insert(t, np.repeat(at, 2), times), np.insert(values, np.repeat(at, 2), pairs)


def _by_unit(curves: Iterable[Curve]) -> dict[str, list[Curve]]:
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.unit, []).append(curve)
    return groups


def _only_axes(ax: Any, groups: dict[str, list[Curve]]) -> Any:
    if len(groups) > 1:
        units = ", ".join(repr(unit) for unit in groups)
        raise LiaisonError(
            f"one Axes cannot hold curves in {len(groups)} units ({units}).",
            hint="Choose labels of one unit, or leave out ax.",
        )
    return ax


def _size(rows: int) -> tuple[float, float]:
    return 8.0, 1.2 + 2.8 * rows


def _stack(figure: Any, rows: int) -> list[Any]:
    return list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])


def _draw(
    trajectory: Trajectory,
    groups: dict[str, list[Curve]],
    axes: list[Any],
    events: bool,
    title: str | None,
) -> Any:
    for ax, (unit, curves) in zip(axes, groups.items(), strict=True):
        for k, curve in enumerate(curves):
            color = COLORS[k % len(COLORS)]
            style = ("-", "--", ":", "-.")[k // len(COLORS) % 4]
            steps = "steps-post" if curve.name.startswith("modes.") else "default"
            ax.plot(curve.t, curve.values, style, color=color, label=curve.name, lw=1.6, ds=steps)
        _dress(ax, unit, len(curves))
        if all(curve.name.startswith("modes.") for curve in curves):
            seen = max(SLIPS, *(int(np.nanmax(curve.values, initial=0)) for curve in curves))
            ax.set_yticks(range(seen + 1), MODES[: seen + 1])
        if events:
            _mark_events(ax, trajectory, named=ax is axes[0])
    axes[-1].set_xlabel("t [s]")
    axes[0].set_title(trajectory.name if title is None else title, loc="left", weight="bold")
    lost = _left_out(trajectory, [curve.name for curves in groups.values() for curve in curves])
    if lost:
        axes[0].set_title(lost, loc="right", fontsize="x-small")
    return axes[0]


def _left_out(trajectory: Trajectory, names: Sequence[str]) -> str:
    """What is not drawn of the series that are, because the motion does not determine it."""
    of = {name.partition(".")[0] for name in names}
    lost = [x for x in trajectory.undetermined if x.partition(".")[0] in of]
    return f"{len(lost)} curves left out: redundant, not determined" if lost else ""


def _dress(ax: Any, unit: str, count: int) -> None:
    quantity = QUANTITIES.get(unit, "")
    ax.set_ylabel(f"{quantity} [{unit}]".strip() if unit else quantity)
    ax.grid(True, color="#DDDDDD", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    if count <= MOST_IN_LEGEND:
        look = {"framealpha": 0.8, "edgecolor": "none", "ncols": 1 + (count - 1) // 6}
        ax.legend(loc="best", **look)


def _mark_events(ax: Any, trajectory: Trajectory, named: bool) -> None:
    labels: dict[float, list[str]] = {}
    for event in trajectory.events:
        labels.setdefault(event.t, []).append(f"{event.name} {event.what}".rstrip())
    for t in labels:
        ax.axvline(t, color="#888888", lw=0.8 if len(labels) < MANY_EVENTS else 0.4, ls=(0, (4, 3)),
                   zorder=0.5)  # fmt: skip
    if named and len(labels) <= MOST_EVENTS_NAMED:
        for t, names in _apart(labels, NEAR * float(trajectory.t[-1] - trajectory.t[0])).items():
            ax.annotate(
                ", ".join(names), (t, 1), xycoords=("data", "axes fraction"), xytext=(2, -2),
                textcoords="offset points", rotation=90, va="top", fontsize="small",
                color="#666666",
            )  # fmt: skip


def _apart(labels: dict[float, list[str]], near: float) -> dict[float, list[str]]:
    """Labels of events, those at nearly one instant joined: "floor impact × 2"."""
    joined: dict[float, list[str]] = {}
    last = -np.inf
    for t, names in sorted(labels.items()):
        if t - last > near:
            last = t
        joined.setdefault(last, []).extend(names)
    return {t: [_times(x, names.count(x)) for x in dict.fromkeys(names)][:MOST_WORDS]
            for t, names in joined.items()}  # fmt: skip


def _times(words: str, count: int) -> str:
    return f"{words} × {count}" if count > 1 else words
