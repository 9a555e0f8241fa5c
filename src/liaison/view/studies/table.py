"""The table that pictures of a study are drawn from: columns with names and units.

Public names: StudyTable, counted, some_of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyTable:
    """Columns of a study.

    Attributes:
        title: of the mechanism.
        varied: names of what varies, in order.
        measures: names of the measures.
        columns: of all of them, in the units they are shown in.
        units: by name.
        failed: how many points have no measures.
    """

    title: str
    varied: tuple[str, ...]
    measures: tuple[str, ...]
    columns: Mapping[str, Array]
    units: Mapping[str, str]
    failed: int = 0

    def column(self, name: str) -> Array:
        """A column by its name."""
        if name not in self.columns:
            raise NamingError.unknown("measure or value", name, self.columns)
        return self.columns[name]

    def label(self, name: str) -> str:
        """Name and unit, for an axis."""
        unit = self.units.get(name, "")
        return f"{name} [{unit}]" if unit else name


def counted(x: Array, y: Array, bins: tuple[int, int]) -> tuple[Array, tuple[float, ...]]:
    """How many points lie in each cell of a picture, shape (rows, columns); and its edges."""
    good = np.isfinite(x) & np.isfinite(y)
    if not np.all(good):
        x, y = x[good], y[good]
    edges = (*_ends(x), *_ends(y))
    columns = _cells(x, edges[0], edges[1], bins[0])
    rows = _cells(y, edges[2], edges[3], bins[1])
    flat = np.bincount(rows * bins[0] + columns, minlength=bins[0] * bins[1])
    return flat.reshape(bins[1], bins[0]).astype(float), edges


def _ends(x: Array) -> tuple[float, float]:
    low, high = (float(np.min(x)), float(np.max(x))) if len(x) else (0.0, 1.0)
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def _cells(x: Array, low: float, high: float, count: int) -> NDArray[np.int32]:
    scaled = (x - low) * (count / (high - low))
    return np.minimum(scaled.astype(np.int32), count - 1)


def some_of(columns: Array, most: int) -> NDArray[np.intp]:
    """Numbers of at most so many points: the least and largest of each column, others at random.

    Not every n-th: points of a design repeat themselves, and one half of a range may have none.

    Args:
        columns: shape (names, points), finite.
        most: points; the same ones each time.
    """
    count = columns.shape[1]
    if count <= most:
        return np.arange(count)
    ends = np.unique([columns.argmin(axis=1), columns.argmax(axis=1)])
    drawn = np.random.default_rng(0).permutation(count)
    others = drawn[~np.isin(drawn, ends)]
    return np.sort(np.concatenate([ends, others[: max(0, most - len(ends))]]))
