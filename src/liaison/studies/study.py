"""Study: the points of a study, what came of each, and its runs, read from a store when needed.

    study["stroke"]                 a measure, a value that varies, or "status", for all points
    study.where(stroke="> 10 mm")   some of the points
    study.runs()                    their runs, as `simulate_batch` returns them
    study.run(3)                    one trajectory, made again

Public names: Study, Definition.
"""

from __future__ import annotations

import csv
import io
import operator
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError, LiaisonError, NamingError, needed
from liaison.lazy import Shown
from liaison.numeric import Array
from liaison.simulation.batch.result import Runs
from liaison.simulation.record.files import write_file
from liaison.simulation.record.trajectory import DONE, STOPPED, Trajectory
from liaison.units import si_value, unit_of
from liaison.view.studies import plots
from liaison.view.studies.page import study_page
from liaison.view.studies.table import StudyTable

from .chunks import Chunk, Columns, encoded, write_chunk
from .rows import ENDED, joined, runs_from
from .store import Store
from .surfaces import Surface, fitted_surface

NOT_RUN = "not run"
"""The status of a point that is not stored yet."""

SAME = 1e-6
"""Difference of the ends of a run that is stored and of the same one made again, at most."""

COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """What a study asks for, as plain data: see `Study`.

    Attributes:
        title: of the mechanism.
        family: the digest of all that its runs share.
        varied: names of what varies, with their units.
        measures: names of measures, with their units.
        texts: of the measures.
        about: everything else, as JSON can write it.
    """

    title: str
    family: str
    varied: Mapping[str, str]
    measures: Mapping[str, str]
    texts: Mapping[str, str]
    about: Mapping[str, Any]

    def header(self) -> dict[str, Any]:
        """As the header of a file."""
        return {name: _plain(getattr(self, name)) for name in self.__slots__}

    @staticmethod
    def of(header: Mapping[str, Any]) -> Definition:
        """From the header of a file."""
        return Definition(**{name: header[name] for name in Definition.__slots__})


def _plain(x: Any) -> Any:
    return dict(x) if isinstance(x, Mapping) else x


@final
class Study(Shown):
    """A study: points, measures and runs.

    Args:
        store: where its runs are.
        name: of the study there; the last one that was opened, if "".
        maker: makes one run again, from a row of values.
        pages: writes a live page of the mechanism.
        which: numbers of the points, where not all of them.

    Example:
        >>> import liaison
        >>> lengths = {"l": ["1 m", "2 m"]}
        >>> study = liaison.study(
        ...     "examples/pendulum.lsd", vary=lengths, measure={"end": "final(A) in deg"}, until=1
        ... )
        >>> study.unit("end"), study["end"].round(3)
        ('deg', array([-24.311, -26.704]))
    """

    def __init__(
        self,
        store: Store,
        name: str = "",
        *,
        maker: Callable[[Definition, Array], Trajectory] | None = None,
        pages: Callable[[Definition, Path], None] | None = None,
        which: NDArray[np.intp] | None = None,
    ) -> None:
        self.store, self._maker, self._pages = store, maker, pages
        self.name, self._points = store.study(name)
        self.definition = Definition.of(self._points.header)
        self._which = which

    # ---- points

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def keys(self) -> NDArray[np.uint8]:
        """The key of each point, shape (points, 16)."""
        return self._chosen(self._points.codes("key"))

    @cached_property
    def values(self) -> Array:
        """Values of what varies, in SI, shape (points, names)."""
        return self._chosen(self._points.codes("value"))

    def _chosen(self, column: NDArray[Any]) -> NDArray[Any]:
        return column if self._which is None else column[self._which]

    @property
    def varied(self) -> list[str]:
        """Names of what varies."""
        return list(self.definition.varied)

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return list(self.definition.measures)

    def unit(self, name: str) -> str:
        """The unit of a measure or of what varies."""
        return {**self.definition.varied, **self.definition.measures}.get(name, "")

    # ---- rows

    @cached_property
    def _chunks(self) -> list[Chunk]:
        return self.store.chunks(self.definition.family)

    @cached_property
    def _place(self) -> NDArray[np.intp] | None:
        """The row of each point in all files one behind the other; −1 of points not run.

        None where they are the rows themselves.
        """
        parts = [x.codes("key") for x in self._chunks]
        stored = np.concatenate(parts) if parts else np.zeros((0, 16), dtype=np.uint8)
        is_all = self._which is None and stored.shape == self.keys.shape
        if is_all and np.array_equal(stored, self.keys):
            return None
        return _place_of(self.keys, stored)

    def _column(self, name: str) -> NDArray[Any]:
        """A column of all points; NaN, or "not run", of points that are not stored."""
        place, parts = self._place, [x.column(name) for x in self._chunks if name in x]
        missing: Any = NOT_RUN if name == "status" else "" if name in ENDED else np.nan
        if not parts:
            return np.full(len(self), missing, dtype=object if name in ENDED else float)
        whole = np.concatenate(parts)
        if place is None:
            return whole
        column = whole[np.maximum(place, 0)]
        if np.any(place < 0):
            column = column.astype(object if name in ENDED else float)
            column[place < 0] = missing
        return column

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A measure, a value that varies, or "status", "reason", "message", for all points."""
        if name in self.definition.varied:
            return np.asarray(self.values[:, self.varied.index(name)])
        if name in self.definition.measures:
            return self._column(f"measure.{name}")
        if name in ENDED:
            return self._column(name)
        known = [*self.definition.varied, *self.definition.measures, *ENDED]
        raise NamingError.unknown("measure or value", name, known)

    def __iter__(self) -> Iterator[str]:
        return iter([*self.varied, *self.measures])

    @property
    def success(self) -> NDArray[np.bool_]:
        """Which runs ended as they should."""
        parts = [np.zeros(0, dtype=bool)]
        for x in self._chunks:
            good = np.array([word in (DONE, STOPPED) for word in x.words("status")], dtype=bool)
            parts.append(good[x.codes("status")])
        whole, place = np.concatenate(parts), self._place
        if place is None:
            return whole
        return np.asarray((place >= 0) & np.append(whole, False)[place])

    @property
    def failures(self) -> Counter[str]:
        """How many runs failed, by cause."""
        return Counter(x for x in self["reason"].tolist() if x)

    def where(self, **conditions: str) -> Study:
        """The points that satisfy conditions, such as stroke="> 10 mm" or status="== done".

        Raises:
            ArgumentError: a condition that is none.
            NamingError: a name that the study does not have.
        """
        mask = np.ones(len(self), dtype=bool)
        for name, text in conditions.items():
            match = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*(.+?)\s*", text)
            if match is None:
                raise ArgumentError(
                    f"where: the condition on {name!r} is {text!r}.",
                    hint='It is a comparison and a value, as "> 10 mm" or "== done".',
                )
            value: Any = match[2]
            if name not in ENDED:
                value = self._number(name, value)
            mask &= np.asarray(COMPARED[match[1]](self[name], value), dtype=bool)
        return self.select(mask)

    def _number(self, name: str, text: str) -> float:
        """A number in the unit of a measure or of what varies."""
        try:
            return float(text)
        except ValueError:
            unit = unit_of(self.unit(name))
            value = float(si_value(text, self.unit(name), f"where: {name!r}"))
            return value / (float(unit.factor) * np.pi**unit.pi)

    def select(self, which: NDArray[Any]) -> Study:
        """Some of the points: by a mask, or by their numbers."""
        rows = np.flatnonzero(which) if np.asarray(which).dtype == bool else np.asarray(which)
        base = np.arange(len(self)) if self._which is None else self._which
        return Study(self.store, self.name, maker=self._maker, pages=self._pages, which=base[rows])

    # ---- runs

    def runs(self) -> Runs:
        """The runs of all points that are stored, at the instants that were kept."""
        place = self._place
        whole = joined([x.columns() for x in self._chunks]) if self._chunks else {}
        if not whole:
            raise LiaisonError("no run of the study is stored yet.")
        rows = np.arange(len(whole["recorded"])) if place is None else place[place >= 0]
        return runs_from(_taken(whole, rows), self._chunks[0].header["runs"])

    def run(self, which: int | str) -> Trajectory:
        """One trajectory, made again: by the number of the point, or by its key.

        Raises:
            LiaisonError: no such key, or it ends elsewhere than the one that is stored.
        """
        k = self._number_of(which) if isinstance(which, str) else int(which)
        if not -len(self) <= k < len(self):
            raise IndexError(f"point {k} of a study of {len(self)}")
        if self._maker is None:
            raise LiaisonError("this study has no mechanism to run.")
        run = self._maker(self.definition, self.values[k])
        status, ends = self["status"][k], (self._column("end_q"), self._column("end_v"))
        is_same = status in (NOT_RUN, run.status)
        if is_same and status == DONE:
            again = run.q[-1], run.v[-1]
            is_same = all(
                np.allclose(x[k], y, rtol=SAME, atol=SAME) for x, y in zip(ends, again, strict=True)
            )
        if not is_same:
            raise LiaisonError(
                f"the run {self.key(k)} made again ends elsewhere than the one that is stored.",
                hint=f"It was made by version {self.definition.about.get('version')} of liaison.",
            )
        return run

    def key(self, k: int) -> str:
        """The key of a point, as text."""
        return bytes(self.keys[k]).hex()

    def _number_of(self, key: str) -> int:
        rows = [k for k in range(len(self)) if self.key(k) == key.lower()]
        if not rows:
            raise NamingError.unknown("run", key, [])
        return rows[0]

    # ---- pictures

    def _table(self) -> StudyTable:
        columns = {name: np.asarray(self[name], dtype=float) for name in self}
        units = {name: self.unit(name) for name in self}
        failed = int(np.count_nonzero(~self.success))
        return StudyTable(
            self.definition.title, tuple(self.varied), tuple(self.measures), columns, units, failed
        )

    def plot(
        self,
        kind: str = "scatter",
        x: str | Sequence[str] = (),
        y: str | Sequence[str] = (),
    ) -> Any:
        """A figure of matplotlib.

        Args:
            kind: "scatter": measures y over values x; "parallel": parallel coordinates, colored by
                y; "histogram": how often measures y take which values; "envelope": the range of a
                quantity y of the runs over time, at the instants that were kept (`record`);
                "surface": the response surface of a measure y over two values x.
            x: names; all if none is named.
            y: names; all if none is named.

        Raises:
            NamingError: no such kind, or no such name.
        """
        across, up = ([z] if isinstance(z, str) else list(z) for z in (x, y))
        makers: dict[str, Callable[[], Any]] = {
            "scatter": lambda: plots.scatter(self._table(), across, up),
            "parallel": lambda: plots.parallel(self._table(), up[0] if up else ""),
            "histogram": lambda: plots.histogram(self._table(), up),
            "envelope": lambda: self._envelope(up),
            "surface": lambda: self._surface(across, up),
        }
        if kind not in makers:
            raise NamingError.unknown("kind of plot", kind, makers)
        return makers[kind]()

    def _envelope(self, names: list[str]) -> Any:
        runs = self.runs()
        if len(runs.t) < 3:
            raise LiaisonError(
                "an envelope needs states along the runs; this study kept their starts and ends.",
                hint='Keep more instants: record=0.01 in Python, record = "10 ms" in a file.',
            )
        name = names[0] if names else runs.labels["q"][0].name
        label, values = runs.columns(name)[name]
        return plots.envelope(runs.t, values, str(label), f"{runs.name}: {len(runs)} runs")

    def _surface(self, across: list[str], up: list[str]) -> Any:
        x, y = (across or self.varied)[:2] if len(across or self.varied) > 1 else ("", "")
        if not x or not self.measures:
            raise LiaisonError("a response surface needs two values that vary, and a measure.")
        z = up[0] if up else self.measures[0]
        fitted = self.surface(z)
        axes = [np.linspace(self[name].min(), self[name].max(), 60) for name in (x, y)]
        middle = np.median(self.values, axis=0)
        rows = np.tile(middle, (3600, 1))
        grid = np.meshgrid(*axes)
        for name, values in zip((x, y), grid, strict=True):
            rows[:, self.varied.index(name)] = values.ravel()
        heights = fitted(rows).reshape(60, 60)
        return plots.surface(self._table(), x, y, z, (axes[0], axes[1], heights))

    def surface(self, measure: str, degree: int = 2) -> Surface:
        """The polynomial of a degree that fits a measure best, a function of rows of values."""
        return fitted_surface(self.values, np.asarray(self[measure], dtype=float), degree)

    def save_plot(self, path: str | os.PathLike[str], kind: str = "scatter", **names: Any) -> None:
        """The figure of `plot` in a file; its suffix is the format (.png, .svg, .pdf)."""
        plots.figure_as(self.plot(kind, **names), path)

    def save_page(self, path: str | os.PathLike[str], *, live: bool = False) -> None:
        """One HTML file with scatter and parallel coordinates to choose from; no request is made.

        Args:
            path: the file.
            live: write a live page of the mechanism beside it, in which points open their runs.
        """
        page = Path(path)
        name = f"{page.stem}.live.html" if live else ""
        if live:
            if self._pages is None:
                raise LiaisonError("this study has no mechanism to show.")
            self._pages(self.definition, page.with_name(name))
        keys = [bytes(x).hex() for x in self.keys]
        write_file(path, study_page(self._table(), keys, name))

    # ---- tables

    def to_pandas(self) -> Any:
        """A DataFrame: a row for each point, with what varies, the measures and the status."""
        with needed("tables"):
            import pandas

        frame = pandas.DataFrame({name: self[name] for name in (*self, "status", "reason")})
        frame.attrs["units"] = {name: self.unit(name) for name in self}
        return frame

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Text: a row for each point in order of the keys, exact numbers."""
        order = np.argsort(_words(self.keys), kind="stable")
        names = [*self]
        units = [self.unit(name) for name in names]
        heads = [f"{x} [{u}]" if u else x for x, u in zip(names, units, strict=True)]
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["key", *heads, "status", "reason"])
        columns = [self[name][order].tolist() for name in names]
        ended = [self[name][order].tolist() for name in ("status", "reason")]
        keys = [bytes(x).hex() for x in self.keys[order]]
        for key, *rest in zip(keys, *columns, *ended, strict=True):
            writer.writerow([key, *(repr(x) if isinstance(x, float) else x for x in rest)])
        write_file(path, text.getvalue())

    def export(self, path: str | os.PathLike[str]) -> None:
        """One file of rows, in order of the keys, whatever the order in which they were made."""
        whole = joined([x.columns() for x in self._chunks])
        rows = _place_of(self.keys, whole["key"])
        rows = rows[rows >= 0]
        whole = _taken(whole, rows[np.argsort(_words(whole["key"][rows]), kind="stable")])
        write_chunk(Path(path), encoded(whole, {"runs": self._chunks[0].header["runs"]}))


def _place_of(keys: NDArray[np.uint8], stored: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The row of each key among those that are stored; −1 where it is not."""
    if not len(stored):
        return np.full(len(keys), -1)
    here, there = _words(keys), _words(stored)
    order = np.argsort(there, kind="stable")
    rows = order[np.minimum(np.searchsorted(there[order], here), len(there) - 1)]
    return np.where(np.all(stored[rows] == keys, axis=1), rows, -1)


def _words(keys: NDArray[np.uint8]) -> NDArray[Any]:
    """Keys as one number each, by which they are sorted: the first eight bytes."""
    return np.ascontiguousarray(keys[:, :8]).view(">u8").ravel().astype(np.uint64)


def _taken(columns: Columns, rows: NDArray[np.intp]) -> Columns:
    """Some rows of columns, and the events of these runs."""
    count = len(columns["recorded"])
    chosen: Columns = {
        name: x[rows] for name, x in columns.items() if not name.startswith("event.")
    }
    if "event.run" not in columns:
        return chosen
    new = np.full(count, -1)
    new[rows] = np.arange(len(rows))
    moved = new[columns["event.run"]]
    order = np.argsort(moved, kind="stable")
    order = order[moved[order] >= 0]
    for name, x in columns.items():
        if name.startswith("event."):
            chosen[name] = moved[order] if name == "event.run" else x[order]
    return chosen
