"""Find values at which a measure is least or largest.

Public names: optimize, Optimum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack, cast, final

import numpy as np

from liaison.arguments import checked
from liaison.errors import ArgumentError, ModelError, NamingError, SimulationError
from liaison.formats.lsd.write.write import write_lsd
from liaison.lazy import Shown
from liaison.model.mechanism import Mechanism
from liaison.numeric import Array
from liaison.numeric.progress import working
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.plan.options import BatchKeywords, RunOptions, run_options
from liaison.studies.search import Goal, Limit, Problem, Reached, best_of, descend, draw, front_of
from liaison.studies.study import Study
from liaison.studies.variations import Normal, Points, Variation, points_of, variation_of
from liaison.units import si_value, unit_of
from liaison.verbs.given import (
    Value,
    in_seconds,
    mechanism_of,
    units,
    with_starts,
    with_values,
)

from ._asked import VERSION, Asked, asked_of, nominal, unit_of_measure
from ._family import START, Family
from ._gradients import EXACT, Gradients, Mode, check_choice, differences
from ._studying import Making
from .study import _TAKEN, _shared, carried_out, with_reference

NOT_SMOOTH = (ArgumentError, ModelError, SimulationError)
"""Errors of a motion or a measure that has no exact gradient."""

ROBUST = ("mean", "worst")
"""What is taken of runs whose values deviate."""

DEVIATIONS = 16
"""Runs with other deviations, for one robust measure."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Optimum(Shown):
    """The values that a search reached.

    Attributes:
        values: in SI, by name.
        measures: at these values, in their units, by name.
        success: whether the search converged, and all constraints hold.
        message: how it ended.
        lsd: the mechanism with these values, as text.
        history: every point that was looked at, as a study, in order.
        front: values and measures of points of which none is better than another in all goals, by
            name; empty where there is one goal.
        gradient: "exact", "differences" or "none".

    Example:
        >>> import liaison
        >>> best = liaison.optimize(
        ...     "examples/pendulum.lsd", vary={"l": "1 m .. 2 m"}, until=1, maximize="end",
        ...     measure={"end": "final(A)"},
        ... )
        >>> best.gradient
        'exact'
    """

    values: Mapping[str, float]
    measures: Mapping[str, float]
    success: bool
    message: str
    lsd: str
    history: Study
    front: Mapping[str, Array]
    gradient: str


@checked
def optimize(
    given: Mechanism | str | Path,
    *,
    vary: Mapping[str, Any],
    measure: Mapping[str, str],
    until: Value,
    minimize: str | Sequence[str] = (),
    maximize: str | Sequence[str] = (),
    subject: Mapping[str, str] | None = None,
    deviations: Mapping[str, Any] | None = None,
    robust: Literal["mean", "worst"] = "worst",
    gradient: Literal["exact", "forward", "adjoint", "differences", "none"] | None = None,
    starts: int = 1,
    seed: int = 0,
    iterations: int = 100,
    points: int = 8,
    trials: int = 200,
    folder: str | Path | None = None,
    start: Mapping[str, Any] | None = None,
    guess: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[BatchKeywords],
) -> Optimum:
    """Searches values between bounds at which measures are least or largest, under constraints.

    Args:
        given: a mechanism, or the path of its text.
        vary: parameter or start -> bounds: "9 cm .. 11 cm" or (low, high).
        measure: name -> formula over a run, as for `study`.
        until: the last instant of every run [s].
        minimize: the measure to make small; several of them give a front.
        maximize: the measure to make large, likewise.
        subject: measure -> "<= 10 mm" or ">= 3 rad/s".
        deviations: parameter -> manufacturing tolerance, "± 0.1 mm": measures are then those of
            runs whose values deviate so.
        robust: the worst of these runs, or their mean.
        gradient: "exact", by derivatives of the equations, "forward" with the motion or "adjoint"
            back in time, whichever takes fewer operations; "differences"; "none": samplers of
            optuna. Exact where it is there, if not given, else differences.
        starts: searches begin at the mechanism's own values, and at starts − 1 others.
        seed: of these, of deviations and of samplers.
        iterations: of one search at most.
        points: of a front, about.
        trials: of samplers.
        folder: of the store that keeps the history.
        start: positions and rates of all runs.
        guess: positions and rates near which to assemble.
        parameters: values of all runs.
        options: how to run, as a record.
        **keywords: the same one by one, as for `study`.

    Returns:
        The best values, with the text of the mechanism and the history.

    Example:
        >>> import liaison
        >>> reached = liaison.optimize(
        ...     "examples/pendulum.lsd", vary={"l": "0.3 m .. 2 m"}, until=1,
        ...     measure={"miss": "(at(A, 0.5 s) - 10 deg)**2"}, minimize="miss",
        ... )
        >>> reached.success
        True
    """
    check_choice("gradient", gradient or "exact", (*EXACT, "differences", "none"))
    check_choice("robust", robust, ROBUST)
    chosen = run_options("optimize", options, keywords, _TAKEN, BATCH_SERIES)
    chosen.pop("threads", None)
    chosen.pop("lanes", None)
    mechanism = mechanism_of(given)
    shared = _shared(mechanism, start, guess, parameters)
    kinds = _bounds(mechanism, vary, {**shared["start"], **shared["parameters"]})
    every = chosen.pop("every", None)
    asked = asked_of(
        given, list(kinds), measure, until=in_seconds(until, "optimize: until"), every=every,
        record=None, options=chosen, **shared,
    )  # fmt: skip
    begins = _begins(asked, kinds, starts, seed)
    asked, family = with_reference(asked, begins)
    goals = _goals(asked, minimize, maximize)
    limits = _limits(asked, subject or {})
    making = _Making(
        asked, family, _deviations(mechanism, kinds, deviations or {}, seed), robust, goals, limits
    )
    making.choose(gradient)
    low, high = np.array([x.ends() for x in kinds.values()]).T
    slopes = None if making.how == "none" else making.slopes(high - low)
    problem = Problem(low, high, goals, limits, making.evaluate, slopes)
    with working("studies", f"optimizing {mechanism.name}"):
        reached = _searched(problem, begins.values, iterations, points, trials, seed)
    return _optimum(mechanism, asked, problem, reached, making.how, folder)


def _bounds(
    mechanism: Mechanism, vary: Mapping[str, Any], own: Mapping[str, float]
) -> dict[str, Variation]:
    known = units(mechanism)
    kinds = {}
    for name, x in vary.items():
        what = f"vary: {name!r}"
        kinds[name] = variation_of(x, known.get(name, ""), nominal(mechanism, name, own), what)
    if not kinds:
        raise ArgumentError("optimize: nothing varies.", hint='vary={"a": "9 cm .. 11 cm"}')
    return kinds


def _begins(asked: Asked, kinds: Mapping[str, Variation], count: int, seed: int) -> Points:
    """Where searches begin: at the values of the mechanism, then at points between the bounds."""
    if count < 1:
        raise ArgumentError(f"optimize: starts is {count}; it must be positive.")
    recipe = asked.recipe
    first = []
    for name, x in kinds.items():
        value = nominal(recipe.mechanism, name, {**recipe.start, **recipe.parameters})
        low, high = x.ends()
        first.append(min(max(x.middle if value is None else value, low), high))
    rows = [np.array(first)]
    if count > 1:
        rows += list(points_of(kinds, "sobol", count=count - 1, seed=seed).values)
    return Points(tuple(kinds), np.array(rows), "optimize", seed)


def _goals(asked: Asked, minimize: Any, maximize: Any) -> tuple[Goal, ...]:
    names = [x.name for x in asked.measures]
    goals = []
    for sign, listed in ((1.0, minimize), (-1.0, maximize)):
        for name in [listed] if isinstance(listed, str) else listed:
            if name not in names:
                raise NamingError.unknown("measure", name, names)
            goals.append(Goal(names.index(name), sign))
    if not goals:
        raise ArgumentError(
            "optimize: there is no goal.", hint=f"Name a measure: minimize={names[0]!r}."
            if names else "Name measures, and one of them as the goal.",
        )  # fmt: skip
    return tuple(goals)


def _limits(asked: Asked, subject: Mapping[str, str]) -> tuple[Limit, ...]:
    names = [x.name for x in asked.measures]
    limits = []
    for name, text in subject.items():
        if name not in names:
            raise NamingError.unknown("measure", name, names)
        match = re.fullmatch(r"\s*(<=|>=|≤|≥)\s*(.+?)\s*", text)
        if match is None:
            raise ArgumentError(
                f"subject: the constraint on {name!r} is {text!r}.",
                hint='It is "<= 10 mm" or ">= 3 rad/s".',
            )
        k = names.index(name)
        unit = unit_of_measure(asked, asked.measures[k])
        sign = 1.0 if match[1] in ("<=", "≤") else -1.0
        limits.append(Limit(k, sign, _in_unit(match[2], unit, f"subject: {name!r}")))
    return tuple(limits)


def _in_unit(text: str, unit: str, what: str) -> float:
    """A number in the unit of a measure."""
    try:
        return float(text)
    except ValueError:
        own = unit_of(unit)
        return float(si_value(text, unit, what)) / (float(own.factor) * np.pi**own.pi)


def _deviations(
    mechanism: Mechanism, kinds: Mapping[str, Variation], tolerance: Mapping[str, Any], seed: int
) -> Array:
    """Rows of deviations from the values, the first of them zero."""
    known = units(mechanism)
    rows = np.zeros((DEVIATIONS if tolerance else 1, len(kinds)))
    for name in tolerance:
        if name not in kinds:
            raise NamingError.unknown("name that varies", name, kinds)
    drawn = {}
    for name, x in tolerance.items():
        own = nominal(mechanism, name, {}) or 0.0
        kind = variation_of(x, known.get(name, ""), own, f"deviations: {name!r}")
        shift = kind.mean if isinstance(kind, Normal) else kind.middle
        low, high = kind.ends()
        drawn[name] = variation_of((low - shift, high - shift), "", None, "tolerance")
        if isinstance(kind, Normal):
            drawn[name] = Normal(0.0, kind.deviation, low - shift, high - shift)
    if drawn:
        table = points_of(drawn, "sobol", count=DEVIATIONS - 1, seed=seed).values
        for c, name in enumerate(drawn):
            rows[1:, list(kinds).index(name)] = table[:, c]
    return rows


@final
class _Making:
    """Measures and slopes of values, over deviations where there are any."""

    def __init__(
        self, asked: Asked, family: Family, deviations: Array, robust: str,
        goals: Sequence[Goal], limits: Sequence[Limit],
    ) -> None:  # fmt: skip
        self.asked, self.family, self.deviations, self.robust = asked, family, deviations, robust
        self._rows = Making(asked, asked.family(VERSION), 1)
        self._rows._family = family
        self._signs = np.ones(len(asked.measures))
        for goal in goals:
            self._signs[goal.measure] = goal.sign
        for limit in limits:
            self._signs[limit.measure] = limit.sign
        self._exact: Gradients | None = None
        self.how, self._is_bound = "none", False

    def choose(self, gradient: str | None) -> None:
        """How gradients are computed: as asked, or exact where all measures have some."""
        self._is_bound = gradient in EXACT
        self.how = "exact" if gradient is None or self._is_bound else gradient
        if self.how != "exact":
            return
        try:
            self._exact = Gradients(self.asked, self.family, cast(Mode, gradient or "exact"))
            self._exact(np.array(self.asked.recipe.reference))
        except NOT_SMOOTH:
            if self._is_bound:
                raise
            self.how = "differences"

    def table(self, rows: Array) -> Array:
        """Measures of rows of values."""
        columns, _ = self._rows._columns(np.ascontiguousarray(rows))
        return np.column_stack([columns[f"measure.{x.name}"] for x in self.asked.measures])

    def evaluate(self, values: Array) -> Array:
        """Measures of one design, the worst or the mean over deviations."""
        table = self.table(values + self.deviations)
        return self._gathered(table)[0]

    def _gathered(self, table: Array, slopes: Array | None = None) -> tuple[Array, Array]:
        """Measures of one design of those of its deviations, and slopes likewise."""
        none = np.zeros((1, 1, 1)) if slopes is None else slopes
        if len(table) == 1:
            return table[0], none[0]
        if self.robust == "mean":
            return np.mean(table, axis=0), np.mean(none, axis=0)
        worst = np.argmax(np.where(np.isnan(table), np.inf, self._signs * table), axis=0)
        columns = np.arange(table.shape[1])
        picked = none[worst, columns] if slopes is not None else none[0]
        return table[worst, columns], picked

    def slopes(self, ranges: Array) -> Callable[[Array], tuple[Array, Array]]:
        """A function of values: measures and slopes; by differences from where none are exact."""

        def one(values: Array) -> tuple[Array, Array]:
            if self.how == "exact":
                assert self._exact is not None
                try:
                    return self._exact(values)
                except NOT_SMOOTH:
                    if self._is_bound:
                        raise
                    self.how = "differences"
            return differences(self.table, values, ranges)

        def of(values: Array) -> tuple[Array, Array]:
            pairs = [one(values + x) for x in self.deviations]
            return self._gathered(np.array([x for x, _ in pairs]), np.array([x for _, x in pairs]))

        return of


def _searched(
    problem: Problem, begins: Array, iterations: int, points: int, trials: int, seed: int
) -> list[Reached]:
    """The best, or the points of a front."""
    if problem.slopes is None:
        return draw(problem, trials, seed)
    if len(problem.goals) > 1:
        return front_of(problem, list(begins), points, iterations=iterations)
    listed = [descend(problem, x, iterations=iterations) for x in begins]
    return [best_of(problem, listed)]


def _optimum(
    mechanism: Mechanism, asked: Asked, problem: Problem, reached: list[Reached], how: str,
    folder: str | Path | None,
) -> Optimum:  # fmt: skip
    names, best = asked.recipe.varied, reached[0]
    measures = [x.name for x in asked.measures]
    values = dict(zip(names, best.values.tolist(), strict=True))
    seen = np.array([*problem.seen, *(x.values for x in reached)])
    _, first = np.unique(seen, axis=0, return_index=True)
    history = carried_out(asked, Points(names, seen[np.sort(first)], "optimize"), folder, threads=2)
    front: dict[str, Array] = {}
    if len(problem.goals) > 1:
        front = {x: np.array([y.values[k] for y in reached]) for k, x in enumerate(names)}
        front |= {x: np.array([y.measures[k] for y in reached]) for k, x in enumerate(measures)}
    return Optimum(
        values, dict(zip(measures, best.measures.tolist(), strict=True)), best.success,
        best.message, write_lsd(_with(mechanism, asked, values)), history, front, how,
    )  # fmt: skip


def _with(mechanism: Mechanism, asked: Asked, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with the parameters, inputs and starts of these values and of all runs."""
    recipe = asked.recipe
    kinds = dict(zip(recipe.varied, recipe.kinds, strict=True))
    starts = {name: x for name, x in values.items() if kinds[name] == START}
    others = {name: x for name, x in values.items() if kinds[name] != START}
    changed = with_values(mechanism, {**recipe.parameters, **others})
    return with_starts(changed, {**recipe.start, **starts}, recipe.guess)
