"""Chunks of the runs of a study as rows of a store, and one of its runs once more.

Public names: Making, keep_ready, samples_of, run_again, live_page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError, LiaisonError, Place
from liaison.numeric import Array
from liaison.simulation.batch.result import Runs
from liaison.simulation.record.trajectory import STOPPED, Trajectory
from liaison.studies.chunks import Columns, encoded
from liaison.studies.measures import (
    Measure,
    Samples,
    along,
    read_columns,
)
from liaison.studies.rows import columns_of, header_of, joined
from liaison.studies.study import Definition
from liaison.units import unit_of
from liaison.verbs.given import with_starts, with_values

from ._asked import SAMPLES, VERSION, Asked, asked_again
from ._family import CPU, PARAMETER, Family


@final
class Making:
    """Computes rows of a study; the machine code is made at the first call, in each process.

    Args:
        asked: what the study asks for.
        family: its digest.
        threads: of one chunk.
        lanes: whether runs march on vector lanes; where they can and it is worth it if None.
        device: where runs are made.
        version: of liaison that all workers must have.
    """

    def __init__(
        self,
        asked: Asked,
        family: str,
        threads: int,
        lanes: bool | None = None,
        device: str = CPU,
        version: str = VERSION,
    ) -> None:
        self.asked, self.family, self.threads, self.version = asked, family, threads, version
        self.lanes, self.device = lanes, device
        self._family: Family | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Without what was compiled."""
        own = self.asked, self.family, self.threads, self.lanes, self.device, self.version
        return Making, own

    @property
    def runs_of(self) -> Family:
        """The family, made ready."""
        if self._family is None:
            if self.family not in _READY:
                keep_ready(self.family, Family(self.asked.recipe))
            self._family = _READY[self.family]
        return self._family

    def __call__(self, values: Array, keys: NDArray[np.uint8], first: int) -> bytes:
        """The bytes of a file with the rows of some points.

        Raises:
            LiaisonError: this process has another version of liaison than the study.
        """
        if self.version != VERSION:
            raise LiaisonError(
                f"a worker has version {VERSION} of liaison, the study has {self.version}: their "
                "runs may differ.",
                hint="Install the same version for all workers.",
            )
        with _ONE_AT_A_TIME:
            return self._rows(values, keys, first)

    def _rows(self, values: Array, keys: NDArray[np.uint8], first: int) -> bytes:
        began = time.perf_counter()
        family = self.runs_of
        groups = family.alike(values)
        if len(groups) == 1:
            columns, header = self._columns(values, self.threads)
        else:
            parts = [self._columns(values[x]) for x in groups]
            columns, header = joined([x for x, _ in parts]), parts[0][1]
            order = np.concatenate(groups)
            values, keys = values[order], keys[order]
        own: Columns = {"key": keys, "value": values, **columns}
        seconds = time.perf_counter() - began
        more = {"family": self.family, "first": first, "runs": header, "seconds": seconds}
        return encoded(own, more)

    def _columns(
        self, values: Array, threads: int = 1
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Columns of the measures and of the runs."""
        asked, kept = self.asked, np.array(self.asked.kept, dtype=np.intp)
        family = self.runs_of
        runs, series = family.stored_runs(
            values, kept=kept, series=asked.series, threads=threads, lanes=self.lanes,
            device=self.device,
        )  # fmt: skip
        samples = samples_of(runs, family, asked, values)
        columns = {f"measure.{x.name}": self.measured(x, runs, samples) for x in asked.measures}
        runs = _without_formulas(replace(runs, series=series), asked)
        columns |= columns_of(runs, kept, runs.series)
        return columns, header_of(runs, kept, runs.series)

    def measured(self, measure: Measure, runs: Runs, samples: Samples) -> Array:
        """A measure of each run, in its unit; NaN where a run did not end as it should."""
        values = measure.values(samples)
        if measure.unit:
            unit = unit_of(measure.unit)
            values = values / (float(unit.factor) * np.pi**unit.pi)
        return np.where(runs.success, values, np.nan)


_ONE_AT_A_TIME = Lock()
"""Threads of a worker share the machine code of a family, and the place where it works."""

_READY: dict[str, Family] = {}
"""The family of the study under way, in this process."""


def keep_ready(name: str, family: Family) -> None:
    """Keeps a family for the study that is made next; one at a time."""
    _READY.clear()
    _READY[name] = family


def _without_formulas(runs: Runs, asked: Asked) -> Runs:
    """Runs without the outputs that measures added."""
    if not asked.outputs or "outputs" not in runs.series:
        return runs
    values, shape = runs.series["outputs"]
    count = asked.own_outputs
    series = {name: x for name, x in runs.series.items() if name != "outputs"}
    if count:
        own = replace(
            shape, values=shape.values[..., :count], unit=tuple(shape.unit)[:count],
            axes={"output": shape.axes["output"][:count]},
        )  # fmt: skip
        series["outputs"] = values[..., :count], own
    labels = dict(runs.labels)
    if "outputs" in labels:
        labels["outputs"] = labels["outputs"][:count]
    return replace(runs, series=series, labels=labels)


def samples_of(runs: Runs, family: Family, asked: Asked, values: Array) -> Samples:
    """Values along runs, with the end of each that an event stopped between two instants."""
    there = np.arange(len(runs.t)) < runs.recorded[:, None]
    t = np.where(there, runs.t, np.nan)
    known = {name: k for k, name in enumerate(_output_names(runs))}
    is_stopped = np.array([x == STOPPED for x in runs.statuses], dtype=bool)
    ends = np.where(
        is_stopped & (runs.end_t > np.nanmax(t, axis=1, initial=-1)), runs.end_t, np.nan
    )
    has_ends = bool(np.any(np.isfinite(ends)))
    states = _States(runs, family, asked, values)
    last = runs.end_t, runs.end_q, runs.end_v
    at_end = states.at(last, np.isfinite(ends)) if has_ends else None

    def recorded(text: str) -> Array:
        if text not in asked.outputs:
            return runs.columns(text)[text][1]
        return runs.series["outputs"][0][:, :, known[asked.outputs[text]]]

    def value(text: str) -> Array:
        column = _of_parts(text, asked, recorded)
        return column if at_end is None else _with_end(column, at_end(text), runs.recorded)

    def instants(name: str) -> list[Array]:
        return [np.array([x.t for x in listed if x.name == name]) for listed in runs.events]

    def at_event(text: str, name: str) -> Array:
        firsts = [next((x for x in listed if x.name == name), None) for listed in runs.events]
        t = np.array([0.0 if x is None else x.t for x in firsts])
        q = np.array([runs.end_q[k] if x is None else x.q for k, x in enumerate(firsts)])
        v = np.array([runs.end_v[k] if x is None else x.v for k, x in enumerate(firsts)])
        return states.at((t, q, v), np.array([x is not None for x in firsts], dtype=bool))(text)

    def parameter(name: str) -> Array:
        names = [x.name for x in runs.labels.get("p", ())]
        return runs.parameters[:, names.index(name)]

    return Samples(_with_end(t, ends, runs.recorded) if has_ends else t, value, at_event,
                   instants, parameter)  # fmt: skip


def _output_names(runs: Runs) -> tuple[str, ...]:
    return runs.series["outputs"][1].axes["output"] if "outputs" in runs.series else ()


def _with_end(column: Array, ends: Array, recorded: NDArray[np.int64]) -> Array:
    """A column with one more instant, that of the end, where there is one."""
    whole = np.column_stack([column, np.full(len(column), np.nan)])
    rows = np.flatnonzero(np.isfinite(ends))
    whole[rows, recorded[rows]] = ends[rows]
    return whole


def _of_parts(text: str, asked: Asked, value: Callable[[str], Array]) -> Array:
    """The values of a formula; of one with columns in it from those of its parts."""
    if text in asked.outputs or re.fullmatch(r"[\w.']+", text):
        return value(text)
    return np.asarray(along(read_columns(text, Place("", 1, 1, text))[0], value))


@final
@dataclass(frozen=True, slots=True)
class _States:
    """Formulas and columns at one state of each run: where it ends, or at an event."""

    runs: Runs
    family: Family
    asked: Asked
    values: Array

    def at(
        self, states: tuple[Array, Array, Array], there: NDArray[np.bool_]
    ) -> Callable[[str], Array]:
        """Values by formula, shape (runs,), at t, q and v; NaN where a run is not there."""
        u = self._inputs()

        def one(text: str) -> Array:
            if text in self.asked.outputs:
                names = list(_output_names(self.runs))
                out = self._outputs(states, u)[names.index(self.asked.outputs[text])]
                return np.where(there, out, np.nan)
            series = self.family.at_states(self.runs, states, u, there)
            if text.partition(".")[0] not in series.series:  # contacts are known while runs go on
                return np.full(len(there), np.nan)
            return series.columns(text)[text][1][:, 0]

        return lambda text: _of_parts(text, self.asked, one)

    def _inputs(self) -> Array:
        """Inputs of each run, shape (runs, inputs)."""
        family = self.family
        if family.plan.inputs.formulas:
            raise ArgumentError(
                "measures at events are not evaluated where inputs are formulas.",
                hint="Write the formula into the text of the mechanism.",
            )
        u = np.repeat(family.held[None, :], len(self.values), axis=0)
        for name, x in family.recipe.inputs(self.values).items():
            u[:, [y.name for y in self.runs.labels["u"]].index(name)] = x
        return u

    def _outputs(self, states: tuple[Array, Array, Array], u: Array) -> Array:
        t, q, v = states
        q, v, u, p = (np.ascontiguousarray(x.T) for x in (q, v, u, self.runs.parameters))
        t = np.ascontiguousarray(t)
        return np.asarray(self.family.kernel.batch("outputs", t, q=q, v=v, u=u, p=p))


# ---- opening again


def run_again(definition: Definition, values: Array) -> Trajectory:
    """One run of a study, at all instants of its measures; on the processor in any case."""
    asked = asked_again(definition.about)
    family = Family(asked.recipe)
    return _without_formulas(family.runs(values[None, :]), asked)[0]


def live_page(definition: Definition, path: Path) -> None:
    """A live page of the mechanism of a study; values behind # in its address are those it shows.

    Raises:
        SimulationError: runs of this mechanism need Python between their steps.
    """
    from liaison.verbs.motion.page import page
    from liaison.verbs.motion.simulate import simulate

    asked = asked_again(definition.about)
    recipe = asked.recipe
    kinds = zip(recipe.varied, recipe.kinds, recipe.reference, strict=True)
    values = {x: value for x, kind, value in kinds if kind == PARAMETER}
    mechanism = with_values(recipe.mechanism, {**recipe.parameters, **values})
    mechanism = with_starts(mechanism, recipe.start, recipe.guess)
    count = asked.own_outputs
    mechanism = replace(mechanism, outputs=mechanism.outputs[:count])
    kept = {x: recipe.options[x] for x in ("inputs", "impacts") if recipe.options.get(x)}
    run = simulate(mechanism, until=recipe.until, every=recipe.until / SAMPLES, **kept)
    page(run, mechanism, path, live=True)
