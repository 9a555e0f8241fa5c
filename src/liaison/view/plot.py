"""Curves of a run, chosen by label, drawn with matplotlib.

Public names: plot, save_plot, quantity.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import fitting
from liaison.errors import LiaisonError, NamingError, OptionError, SimulationError, needed
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import UNITS, Label, unit_of

Array = NDArray[np.float64]

# distinguishable by most color-blind readers, and in gray
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B", "#A0522D")
QUANTITIES = {
    "N*m": "torque", "Nm": "torque", "J": "energy", "kJ": "energy", "Hz": "frequency",
}  # fmt: skip
KINDS_OF_UNITS = {
    "rad": "angle", "rad/s": "angular velocity", "rad/s^2": "angular acceleration", "m": "length",
    "m/s": "velocity", "m/s^2": "acceleration", "N": "force", "N*m": "torque", "W": "power",
    "kg": "mass", "s": "time", "N/m": "stiffness", "N*s/m": "damping", "Pa": "pressure",
    "kg*m^2": "moment of inertia", "kg*m/s": "momentum", "kg*m^2/s": "angular momentum",
}  # fmt: skip
"""Names of quantities by unit, and by the dimension of a unit: rpm is an angular velocity."""

KINDS = ("line", "scatter", "step", "hist")
"""How curves are drawn."""

BINS = 60
MODES = ("open", "holds", "slips", "locked")
SLIPS = 2  # the last mode that is named in any case
MOST_IN_LEGEND = 12
MOST_EVENTS_NAMED = 12
MANY_EVENTS = 40
FINE = 800  # instants of a curve, at least
NEAR = 0.018  # of the whole time: events nearer than this have one text
MOST_WORDS = 3  # events in one text
LONGEST_WORDS = 34  # characters of one text, upright within a plot
JUMPING = ("contacts.", "slips.")  # series that jump where a mode changes


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot; `t` are instants, or what is drawn along the horizontal axis."""

    name: str
    unit: str
    t: Array
    values: Array


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: curves on the left scale, and on the right one."""

    left: tuple[Curve, ...]
    right: tuple[Curve, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Look:
    """How a picture is drawn; see `plot`."""

    kind: str = "line"
    x: str = "t"
    subplots: bool | None = None
    secondary_y: str | Sequence[str] = ()
    logy: bool = False
    degrees: bool = False
    events: bool = True
    title: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise NamingError.unknown("kind of plot", self.kind, KINDS)


class LookKeywords(TypedDict, total=False):
    """Options of `plot` and `save_plot`, explained at `plot`."""

    kind: str
    x: str
    subplots: bool | None
    secondary_y: str | Sequence[str]
    logy: bool
    degrees: bool
    events: bool
    title: str | None


def _look(function: str, look: Mapping[str, Any]) -> Look:
    """The options of a plot.

    Raises:
        OptionError: one that there is not.
    """
    OptionError.check(function, look, Look.__slots__, named=("y", "ax"))
    return Look(**look)


@fitting
def plot(
    trajectory: Trajectory,
    *labels: str | Sequence[str],
    y: str | Sequence[str] = (),
    ax: Any = None,
    **look: Unpack[LookKeywords],
) -> Any:
    """Curves over time, one plot for each unit, one above the other.

        plot(run)                                     the positions
        plot(run, "A", "energy")                      by label or name of a series
        plot(run, x="A", y="A'")                      a phase portrait
        plot(run, "A", secondary_y="A'")              on the right scale
        plot(run, "reactions.*", subplots=True)       one plot for each curve

    Args:
        trajectory: the run.
        *labels: labels, names of series, or patterns ("A*", "energy", "reactions.A.*"), also in
            lists; without any, the positions.
        y: the same, as pandas calls it.
        ax: the Axes to draw in, if there is one plot only.
        **look: kind: "line", "scatter", "step" or "hist" (how often values occur);
            x: the label along the horizontal axis, "t" if not given;
            subplots: True for one plot for each curve, False for one of all, None for one a unit;
            secondary_y: labels or patterns whose curves have a scale of their own, on the right;
            logy: logarithmic scales;
            degrees: show angles in degrees;
            events: mark the instants of events;
            title: the run's name if not given.

    Returns:
        The Axes; the topmost if there are several, all of them in an array with subplots=True.
        Nothing is shown: that is for `matplotlib.pyplot.show`, or for the notebook.

    Raises:
        NamingError: there is no such label, or no such kind of plot.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.05)
        >>> axes = liaison.plot(run, "A")
        >>> axes.get_xlabel()
        't [s]'
    """
    chosen = _look("plot", look)
    names = _listed((*labels, y))
    panels = _panels(trajectory, names, chosen)
    if ax is not None:
        axes = [_only_axes(ax, panels)]
    else:
        with needed("plots"):
            from matplotlib import pyplot

        figure = pyplot.figure(layout="constrained", figsize=_size(len(panels)))
        axes = _stack(figure, len(panels), chosen)
    _draw(trajectory, panels, axes, chosen, names=names, is_foreign=ax is not None)
    return np.array(axes) if chosen.subplots else axes[0]


@fitting
def save_plot(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *labels: str | Sequence[str],
    y: str | Sequence[str] = (),
    **look: Unpack[LookKeywords],
) -> None:
    """The same picture in a file; its suffix is the format (.png, .svg, .pdf).

    The file appears whole or not at all; the folder must exist. The options are those of `plot`.

    Raises:
        OSError: there is no such folder, or the file cannot be written.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.05)
        >>> liaison.save_plot(run, "angle.svg", "A")
    """
    with needed("plots"):
        from matplotlib.figure import Figure

    chosen = _look("save_plot", look)
    names = _listed((*labels, y))
    panels = _panels(trajectory, names, chosen)
    figure = Figure(layout="constrained", figsize=_size(len(panels)))
    form = Path(path).suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise LiaisonError(
            f"a plot cannot be saved as {Path(path).name!r}: the suffix must be one of "
            f"{', '.join(sorted(known))}."
        )
    _draw(trajectory, panels, _stack(figure, len(panels), chosen), chosen, names=names)
    picture = io.BytesIO()
    figure.savefig(picture, format=form, dpi=150)
    write_file(path, picture.getvalue())


def _listed(names: str | Sequence[str | Sequence[str]]) -> Sequence[str]:
    """Labels one by one: a label, or labels and lists of them."""
    if isinstance(names, str):
        return (names,)
    return [x for part in names for x in ((part,) if isinstance(part, str) else part)]


def _panels(trajectory: Trajectory, names: Sequence[str], look: Look) -> list[Panel]:
    """The plots of a picture, from the top."""
    right = _listed(look.secondary_y)
    own = tuple(_curves(trajectory, right, look)) if right else ()
    left = [x for x in _curves(trajectory, names, look) if x.name not in {y.name for y in own}]
    if look.subplots:
        panels = [Panel((curve,)) for curve in left]
    elif look.subplots is None:
        panels = [Panel(tuple(curves)) for curves in _by_unit(left).values()]
    else:
        panels = [Panel(tuple(left))]
    if not left:
        raise LiaisonError("all curves are on the right scale; name others for the left one.")
    return [Panel(panels[0].left, own), *panels[1:]]


def refined(trajectory: Trajectory) -> Trajectory:
    """Positions and velocities also between instants that are too far apart for a picture.

    What was recorded stays, also the two values at an instant at which something jumps. A run
    recorded at intervals does not have the values on both sides of such an instant, and stays.
    Series are left out: of forces and energies neighbors do not determine it. A run that can
    neither be integrated nor interpolated between its instants stays as it was recorded.
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
    try:
        new = trajectory.resample(np.concatenate(between), series=False)
    except SimulationError:
        return trajectory
    both = {x: np.insert(getattr(bare, x), where, getattr(new, x), axis=0) for x in ("t", "q", "v")}
    return replace(bare, **both)


def _curves(trajectory: Trajectory, labels: Sequence[str], look: Look) -> list[Curve]:
    names = labels or [label.name for label in trajectory.labels["q"] if label.name != look.x]
    if not names:
        raise LiaisonError(f"{trajectory.name} has no coordinates to plot; name a series.")
    chosen = trajectory.shown_columns(*names)
    states = {x.name for part in ("q", "v") for x in trajectory.labels[part]}
    is_moving = look.x in {"t", *states} and any(x.name in states for x, _ in chosen.values())
    fine = refined(trajectory) if is_moving else trajectory
    smooth = states if len(fine) > len(trajectory) else set()
    curves = []
    for label, values in chosen.values():
        is_fine = {label.name, look.x} <= {"t", *smooth}
        source = fine if is_fine else trajectory
        shown = fine[label.name] if is_fine else values
        if look.x == "t":
            curves.append(_curve(source, label, shown, look.degrees))
        else:
            curves.append(_against(source, label, shown, look))
    return curves


def _against(trajectory: Trajectory, label: Label, values: Array, look: Look) -> Curve:
    """A curve over another quantity than time."""
    along = _in_degrees(trajectory[look.x], trajectory.unit(look.x), look.degrees)
    shown = _in_degrees(values, label.unit, look.degrees)
    return Curve(
        label.name.removeprefix("outputs."), _shown_unit(label.unit, look.degrees), along, shown
    )


def _shown_unit(unit: str, degrees: bool) -> str:
    return unit.replace("rad", "deg", 1) if degrees and unit.split("/")[0] == "rad" else unit


def _in_degrees(values: Array, unit: str, degrees: bool) -> Array:
    is_angle = degrees and unit.split("/")[0] == "rad"
    return values / (float(UNITS["deg"].factor) * math.pi) if is_angle else values


def _curve(trajectory: Trajectory, label: Label, values: Array, degrees: bool) -> Curve:
    t, values = jumping(trajectory, label.name, values)
    shown = _in_degrees(values, label.unit, degrees)
    return Curve(label.name.removeprefix("outputs."), _shown_unit(label.unit, degrees), t, shown)


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


def _only_axes(ax: Any, panels: Sequence[Panel]) -> Any:
    if len(panels) > 1:
        units = list(dict.fromkeys(repr(x.unit) for panel in panels for x in panel.left))
        what = f"curves in {len(units)} units ({', '.join(units)})"
        raise LiaisonError(
            f"one Axes cannot hold {what if len(units) > 1 else f'{len(panels)} plots'}.",
            hint="Choose labels of one unit, leave out ax, or take subplots=False or secondary_y.",
        )
    return ax


def _size(rows: int) -> tuple[float, float]:
    return 8.0, 1.2 + 2.8 * min(rows, 12)


def _stack(figure: Any, rows: int, look: Look) -> list[Any]:
    share = look.kind != "hist"
    return list(figure.subplots(rows, 1, sharex=share, squeeze=False)[:, 0])


def _draw(
    trajectory: Trajectory,
    panels: Sequence[Panel],
    axes: Sequence[Any],
    look: Look,
    *,
    names: Sequence[str],
    is_foreign: bool = False,
) -> None:
    """Draws the plots; `names` are what was asked for on the left scale."""
    for ax, panel in zip(axes, panels, strict=True):
        right = ax.twinx() if panel.right else None
        _lines(ax, panel.left, look, 0)
        _dress(ax, panel.left, look)
        if right is not None:
            _lines(right, panel.right, look, len(panel.left))
            _dress(right, panel.right, look, is_right=True)
        _legend(ax, right, panel, is_foreign)
        if look.events and look.x == "t" and look.kind != "hist":
            _mark_events(ax, trajectory, named=ax is axes[0])
    if look.kind != "hist":
        unit = _shown_unit(trajectory.unit(look.x), look.degrees)
        axes[-1].set_xlabel(f"{look.x} [{unit}]" if unit else look.x)
    title = trajectory.name if look.title is None else look.title
    axes[0].set_title(title, loc="left", weight="bold")
    lost = _left_out(trajectory, (*names, *_listed(look.secondary_y)))
    if lost:
        axes[0].set_title(lost, loc="right", fontsize="x-small")


def _lines(ax: Any, curves: Sequence[Curve], look: Look, first: int) -> None:
    """Draws curves, in colors from the first on that is free."""
    for k, curve in enumerate(curves, first):
        color = COLORS[k % len(COLORS)]
        style = ("-", "--", ":", "-.")[k // len(COLORS) % 4]
        if look.kind == "hist":
            values = curve.values[np.isfinite(curve.values)]
            ax.hist(values, bins=BINS, histtype="step", color=color, label=curve.name, lw=1.6)
        elif look.kind == "scatter":
            ax.plot(curve.t, curve.values, ".", color=color, label=curve.name, ms=4)
        else:
            is_step = look.kind == "step" or curve.name.startswith("modes.")
            steps = "steps-post" if is_step else "default"
            ax.plot(curve.t, curve.values, style, color=color, label=curve.name, lw=1.6, ds=steps)
    if curves and all(curve.name.startswith("modes.") for curve in curves):
        seen = max(SLIPS, *(int(np.nanmax(curve.values, initial=0)) for curve in curves))
        ax.set_yticks(range(seen + 1), MODES[: seen + 1])


def _left_out(trajectory: Trajectory, names: Sequence[str]) -> str:
    """What is not drawn of what is named, because the motion does not determine it."""
    lost = {*trajectory.undetermined} & {*trajectory.columns(*names)} if names else ()
    count = f"{len(lost)} curve{'s' * (len(lost) != 1)}"
    return f"{count} left out: redundant, not determined" if lost else ""


def quantity(unit: str) -> str:
    """The name of what a unit measures; "" where it has none, or measures several things."""
    if unit in QUANTITIES or not unit:
        return QUANTITIES.get(unit, "")
    try:
        dimension = unit_of(unit).dimension
    except LiaisonError:
        return ""
    names = (name for word, name in KINDS_OF_UNITS.items() if unit_of(word).dimension == dimension)
    return next(names, "")


def _axis_label(curves: Sequence[Curve]) -> str:
    """ "angular velocity [rpm]"; the name of a curve that is alone and has no such name."""
    units = list(dict.fromkeys(curve.unit for curve in curves))
    words = []
    for unit in units:
        is_alone = len(curves) == 1 and not curves[0].name.startswith("modes.")
        alone = curves[0].name if is_alone else ""
        words.append(f"{quantity(unit) or alone} [{unit}]".strip() if unit else alone)
    return ", ".join(x for x in words if x)


def _dress(ax: Any, curves: Sequence[Curve], look: Look, *, is_right: bool = False) -> None:
    if look.kind == "hist":
        ax.set_xlabel(_axis_label(curves))
        ax.set_ylabel("instants")
    else:
        ax.set_ylabel(_axis_label(curves))
    if look.logy:
        ax.set_yscale("log")
    ax.set_axisbelow(True)
    ax.spines[["top"] if is_right else ["top", "right"]].set_visible(False)
    if is_right:
        return
    ax.grid(True, color="#DDDDDD", lw=0.6)
    ax.margins(x=0.01)


def _legend(ax: Any, right: Any, panel: Panel, is_foreign: bool) -> None:
    """Names beside the plot; within it in a figure of somebody else, which may have no room."""
    count = len(panel.left) + len(panel.right)
    if count > MOST_IN_LEGEND:
        return
    handles = [*ax.get_legend_handles_labels()[0]]
    names = [x.name for x in panel.left]
    if right is not None:
        handles += right.get_legend_handles_labels()[0]
        names += [f"{x.name} (right)" for x in panel.right]
    look = {"framealpha": 0.8, "edgecolor": "none"}
    if is_foreign:
        ax.legend(handles[-count:], names, loc="best", **look)
    else:
        place = (1.0 if right is None else 1.12, 1.0)
        ax.legend(handles, names, loc="upper left", bbox_to_anchor=place, borderaxespad=0.4, **look)


def _mark_events(ax: Any, trajectory: Trajectory, named: bool) -> None:
    labels: dict[float, list[str]] = {}
    for event in trajectory.events:
        labels.setdefault(event.t, []).append(f"{event.name} {event.what}".rstrip())
    for t in labels:
        ax.axvline(t, color="#888888", lw=0.8 if len(labels) < MANY_EVENTS else 0.4, ls=(0, (4, 3)),
                   zorder=0.5)  # fmt: skip
    if named and len(labels) <= MOST_EVENTS_NAMED:
        for t, names in _apart(labels, NEAR * float(trajectory.t[-1] - trajectory.t[0])).items():
            text = ax.annotate(
                _short(names), (t, 1), xycoords=("data", "axes fraction"), xytext=(2, -2),
                textcoords="offset points", rotation=90, va="top", fontsize="small",
                color="#666666",
            )  # fmt: skip
            text.set_in_layout(False)


def _short(names: Sequence[str]) -> str:
    """Names of events as far as the height of a plot has room for them."""
    shown = [names[0]]
    for name in names[1:]:
        if len(", ".join([*shown, name])) > LONGEST_WORDS:
            shown[-1] += ", …"
            break
        shown.append(name)
    text = ", ".join(shown)
    return text if len(text) <= LONGEST_WORDS + 3 else f"{text[:LONGEST_WORDS]}…"


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
