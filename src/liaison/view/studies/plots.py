"""Plots of a study: measures over values, histograms, parallel coordinates, envelopes, surfaces.

Public names: scatter, histogram, parallel, envelope, surface, figure_as.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from liaison.errors import LiaisonError, needed
from liaison.simulation.record.files import write_file
from liaison.view.plot import COLORS

from .table import Array, StudyTable, counted, some_of

MANY = 4000
"""Points beyond which a plot shows how many there are in each cell."""

MOST_LINES = 2000
"""Lines of parallel coordinates."""

CELLS = (160, 120)


def _figure(columns: float, rows: float) -> Any:
    with needed("plots"):
        from matplotlib.figure import Figure

    size = (max(4.5, 2.7 * columns + 0.6), max(3.4, 2.3 * rows + 0.6))
    return Figure(layout="constrained", figsize=size)


def scatter(table: StudyTable, x: Sequence[str] = (), y: Sequence[str] = ()) -> Any:
    """Every measure over every value: points, or the density of many.

    Args:
        table: of the study.
        x: names along the horizontal axes; all that varies if none is named.
        y: names along the vertical axes; all measures.
    """
    across, up = list(x or table.varied), list(y or table.measures)
    if not up:
        raise LiaisonError("the study has no measures to plot.")
    figure = _figure(len(across), len(up))
    axes = figure.subplots(len(up), len(across), squeeze=False, sharex="col", sharey="row")
    for i, below in enumerate(up):
        for j, along in enumerate(across):
            ax = axes[i, j]
            _cloud(ax, table.column(along), table.column(below))
            if i == len(up) - 1:
                ax.set_xlabel(table.label(along))
            if j == 0:
                ax.set_ylabel(table.label(below))
    figure.suptitle(_title(table), fontsize=10)
    return figure


def histogram(table: StudyTable, y: Sequence[str] = ()) -> Any:
    """How often each measure takes which values, with its median and where 95 % of it lies.

    Args:
        table: of the study.
        y: names of measures or values; all measures.
    """
    names = list(y or table.measures)
    if not names:
        raise LiaisonError("the study has no measures to plot.")
    figure = _figure(1.5, len(names))
    axes = figure.subplots(len(names), 1, squeeze=False)[:, 0]
    for ax, name in zip(axes, names, strict=True):
        column = table.column(name)
        column = column[np.isfinite(column)]
        ax.set_xlabel(table.label(name))
        ax.set_ylabel("runs")
        ax.grid(alpha=0.3)
        if not len(column):
            continue
        ax.hist(column, bins=int(np.clip(2 * len(column) ** (1 / 3), 5, 80)), color=COLORS[0])
        low, middle, high = np.percentile(column, [2.5, 50, 97.5])
        ax.axvline(middle, color="0.1", lw=1.2)
        ax.axvspan(low, high, color="0.1", alpha=0.1, lw=0)
        message = f"median {middle:.5g}, 95 % of runs from {low:.5g} to {high:.5g}"
        ax.set_title(message, fontsize=8)
        ax.locator_params(axis="x", nbins=6)
    figure.suptitle(_title(table), fontsize=10)
    return figure


def _title(table: StudyTable) -> str:
    count = len(next(iter(table.columns.values())))
    failed = f", {table.failed} failed" if table.failed else ""
    return f"{table.title}: {count} runs{failed}"


def _cloud(ax: Any, x: Array, y: Array) -> None:
    if len(x) <= MANY:
        ax.plot(x, y, ".", color=COLORS[0], ms=3.5, alpha=0.6, mew=0)
    else:
        cells, edges = counted(x, y, CELLS)
        shown = np.where(cells > 0, np.log1p(cells), np.nan)
        ax.imshow(
            shown, origin="lower", extent=edges, aspect="auto", cmap="Blues", vmin=-1.0,
            interpolation="nearest",
        )  # fmt: skip
    ax.margins(0.04)
    ax.locator_params(axis="x", nbins=4)  # values with a tolerance have long labels
    ax.grid(alpha=0.3)


def parallel(table: StudyTable, color: str = "") -> Any:
    """One line for each run over axes of all values and measures, colored by one of them."""
    names = [*table.varied, *table.measures]
    color = color or (table.measures[-1] if table.measures else names[-1])
    columns = np.array([table.column(x) for x in names])
    columns = columns[:, np.all(np.isfinite(columns), axis=0)]
    columns = columns[:, some_of(columns, MOST_LINES)]
    low, high = columns.min(axis=1, initial=np.inf), columns.max(axis=1, initial=-np.inf)
    width = np.where(high > low, high - low, 1.0)
    scaled = (columns - low[:, None]) / width[:, None]
    figure = _figure(max(3, len(names) - 1), 1.4)
    ax = figure.subplots()
    _lines(figure, ax, scaled, columns[names.index(color)], table.label(color))
    for k in range(len(names)):
        ax.plot([k, k], [0, 1], color="0.4", lw=0.8)
        for at, value in ((0.0, low[k]), (1.0, high[k])):
            where = "top" if at == 0 else "bottom"
            ax.annotate(
                f"{value:.4g}", (k, at), (0, -2 if at == 0 else 2), textcoords="offset points",
                ha="center", va=where, fontsize=8,
            )  # fmt: skip
    ax.set_xticks(range(len(names)), [table.label(x) for x in names])
    ax.tick_params(axis="x", pad=14, length=0)
    ax.set_yticks([])
    ax.set_ylim(-0.02, 1.02)
    for side in ax.spines.values():
        side.set_visible(False)
    figure.suptitle(_title(table), fontsize=10)
    return figure


def _lines(figure: Any, ax: Any, scaled: Array, by: Array, label: str) -> None:
    from matplotlib.collections import LineCollection

    places = np.arange(len(scaled), dtype=float)
    segments = np.stack([np.broadcast_to(places, scaled.T.shape), scaled.T], axis=2)
    lines = LineCollection(segments.tolist(), array=by, cmap="viridis", lw=0.7, alpha=0.6)
    ax.add_collection(lines)
    ax.set_xlim(-0.2, len(scaled) - 0.8)
    figure.colorbar(lines, ax=ax, label=label, pad=0.01)


def envelope(t: Array, values: Array, label: str, title: str) -> Any:
    """The range of a quantity over all runs at every instant, its middle half, and its median."""
    figure = _figure(2, 1.3)
    ax = figure.subplots()
    low, lower, middle, upper, high = np.nanpercentile(values, [0, 25, 50, 75, 100], axis=0)
    ax.fill_between(t, low, high, color=COLORS[0], alpha=0.18, lw=0, label="all runs")
    ax.fill_between(t, lower, upper, color=COLORS[0], alpha=0.35, lw=0, label="half of them")
    ax.plot(t, middle, color=COLORS[0], lw=1.6, label="median")
    ax.set_xlabel("t [s]")
    ax.set_ylabel(label)
    ax.set_title(title, fontsize=10)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return figure


def surface(table: StudyTable, x: str, y: str, z: str, fitted: tuple[Array, Array, Array]) -> Any:
    """Contours of a response surface over two values, with the points that it was fitted to.

    Args:
        table: of the study.
        x: name along the horizontal axis.
        y: name along the vertical axis.
        z: the measure.
        fitted: values of x, of y, and of the surface on their grid.
    """
    figure = _figure(2, 1.6)
    ax = figure.subplots()
    across, up, heights = fitted
    filled = ax.contourf(across, up, heights, levels=14, cmap="viridis")
    figure.colorbar(filled, ax=ax, label=table.label(z))
    points = np.array([table.column(x), table.column(y)])
    ax.plot(*points[:, some_of(points, 500)], ".", color="white", ms=2.5, alpha=0.5)
    ax.locator_params(axis="x", nbins=4)  # values with a tolerance have long labels
    ax.set_xlabel(table.label(x))
    ax.set_ylabel(table.label(y))
    ax.set_title(_title(table), fontsize=10)
    return figure


def figure_as(figure: Any, path: str | os.PathLike[str]) -> None:
    """Writes a figure; the suffix is the format (.png, .svg, .pdf)."""
    form = Path(path).suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise LiaisonError(
            f"a plot cannot be saved as {Path(path).name!r}: the suffix must be one of "
            f"{', '.join(sorted(known))}."
        )
    picture = io.BytesIO()
    figure.savefig(picture, format=form, dpi=130)
    write_file(path, picture.getvalue())
