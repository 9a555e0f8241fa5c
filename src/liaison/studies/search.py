"""Searches for values at which a goal is least, within bounds and under constraints.

Values are scaled to 0 … 1 between their bounds. With gradients: sequential quadratic programming
(SciPy's SLSQP), from several starts. Without: samplers of optuna. Several goals: each front point
minimizes one of them while the others stay below levels between their own best and worst.

Public names: Goal, Limit, Problem, Reached, descend, front_of, draw, is_dominated.

Source: NW06 §18.1 (sequential quadratic programming), MIE99 §II.3.2 (ε-constraint method).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from liaison.errors import LiaisonError, needed
from liaison.numeric import Array

SLACK = 1e-6
"""Part of its bound by which a constraint may be missed."""


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """A measure that is to be small (sign 1) or large (sign −1)."""

    measure: int
    sign: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class Limit:
    """sign × measure ≤ sign × bound: at most the bound (sign 1) or at least (sign −1)."""

    measure: int
    sign: float
    bound: float

    @property
    def size(self) -> float:
        """What the constraint is measured by."""
        return abs(self.bound) or 1.0


@final
@dataclass(frozen=True)
class Problem:
    """What is searched.

    Attributes:
        low: least values, shape (names,).
        high: largest values.
        goals: one or several.
        limits: constraints.
        evaluate: a row of values -> measures; NaN where a run failed.
        slopes: a row of values -> measures and derivatives by values; None where there are none.
    """

    low: Array
    high: Array
    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...]
    evaluate: Callable[[Array], Array]
    slopes: Callable[[Array], tuple[Array, Array]] | None
    seen: list[Array] = field(default_factory=list)

    def signs(self) -> list[tuple[int, float]]:
        """Of each measure that is to be small, 1; of one that is to be large, −1."""
        goals = [(x.measure, x.sign) for x in self.goals]
        return goals + [(x.measure, x.sign) for x in self.limits]

    def unscaled(self, x: Array) -> Array:
        """Values of a point of the unit cube."""
        return np.clip(self.low + x * (self.high - self.low), self.low, self.high)


@final
@dataclass(frozen=True, slots=True)
class Reached:
    """Where a search ended: values, measures, whether it succeeded, and why."""

    values: Array
    measures: Array
    success: bool
    message: str

    def excess(self, problem: Problem) -> float:
        """By how much the constraints are missed, relative to their bounds."""
        return max((_excess(x, self.measures) for x in problem.limits), default=0.0)


def _excess(limit: Limit, measures: Array) -> float:
    value = limit.sign * (measures[limit.measure] - limit.bound) / limit.size
    return math.inf if math.isnan(value) else float(value)


@final
class _Evaluated:
    """Measures and slopes at the point where the method stands, each computed once."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.worst = problem, 1.0
        self._at: bytes = b""
        self._known: tuple[Array, Array] | None = None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        if self._known is None or x.tobytes() != self._at:
            problem = self.problem
            values = problem.unscaled(x)
            problem.seen.append(values)
            assert problem.slopes is not None
            measures, slopes = problem.slopes(values)
            self._known = self._finite(measures, slopes * (problem.high - problem.low))
            self._at = x.tobytes()
        return self._known

    def _finite(self, measures: Array, slopes: Array) -> tuple[Array, Array]:
        """A run that failed is worse than all others: the method steps back."""
        if np.all(np.isfinite(measures)):
            self.worst = max(self.worst, float(np.max(np.abs(measures))))
            return measures, np.nan_to_num(slopes)
        signs = np.ones(len(measures))
        for k, sign in self.problem.signs():
            signs[k] = sign
        return signs * 1e3 * self.worst, np.zeros_like(slopes)


def descend(
    problem: Problem, start: Array, *, iterations: int = 100, tolerance: float = 1e-9
) -> Reached:
    """The nearest least value of the first goal, by gradients, from a start."""
    from scipy.optimize import minimize

    at, goal = _Evaluated(problem), problem.goals[0]
    x = (start - problem.low) / (problem.high - problem.low)
    first = at(x)[0]
    scale = abs(float(first[goal.measure])) or 1.0
    rules = [
        {
            "type": "ineq",
            "fun": lambda x, r=rule: -r.sign * (at(x)[0][r.measure] - r.bound) / r.size,
            "jac": lambda x, r=rule: -r.sign * at(x)[1][r.measure] / r.size,
        }
        for rule in problem.limits
    ]
    result = minimize(
        lambda x: goal.sign * at(x)[0][goal.measure] / scale, x, method="SLSQP",
        jac=lambda x: goal.sign * at(x)[1][goal.measure] / scale, bounds=[(0.0, 1.0)] * len(x),
        constraints=rules, options={"maxiter": iterations, "ftol": tolerance},
    )  # fmt: skip
    values = problem.unscaled(np.clip(result.x, 0.0, 1.0))
    reached = Reached(values, problem.evaluate(values), bool(result.success), str(result.message))
    return replace(reached, success=reached.success and reached.excess(problem) <= 10 * SLACK)


def best_of(problem: Problem, listed: Sequence[Reached]) -> Reached:
    """The best of several: constraints first, then the goal.

    Raises:
        LiaisonError: all runs failed.
    """
    goal = problem.goals[0]

    def order(x: Reached) -> tuple[float, float]:
        value = goal.sign * float(x.measures[goal.measure])
        return max(0.0, x.excess(problem) - 10 * SLACK), math.inf if math.isnan(value) else value

    best = min(listed, key=order)
    if not np.isfinite(best.measures[goal.measure]):
        raise LiaisonError(
            "every run of the search failed.",
            hint="Begin where the mechanism can be assembled, and narrow the bounds.",
        )
    return best


def front_of(
    problem: Problem, starts: Sequence[Array], count: int, **options: Any
) -> list[Reached]:
    """Points of which none is better than another in all goals.

    Args:
        problem: with two goals or more.
        starts: where searches begin.
        count: of points, about.
        **options: of `descend`.
    """
    alone = []
    for goal in problem.goals:
        single = replace(problem, goals=(goal,))
        alone.append(best_of(single, [descend(single, x, **options) for x in starts]))
    table = np.array([[g.sign * x.measures[g.measure] for g in problem.goals] for x in alone])
    best, worst = np.min(table, axis=0), np.max(table, axis=0)
    listed = list(alone)
    others = len(problem.goals) - 1
    steps = max(2, round(count ** (1 / others)))
    parts = np.linspace(0, 1, steps + 2)[1:-1]
    for part in np.stack(np.meshgrid(*[parts] * others), -1).reshape(-1, others):
        levels = best[1:] + part * (worst[1:] - best[1:])
        more = tuple(
            Limit(g.measure, g.sign, g.sign * level)
            for g, level in zip(problem.goals[1:], levels, strict=True)
        )
        single = replace(problem, goals=problem.goals[:1], limits=problem.limits + more)
        begin = [listed[-1].values, alone[0].values]
        listed.append(best_of(single, [descend(single, x, **options) for x in begin]))
    return [listed[k] for k in _best(problem, listed)]


def _best(problem: Problem, listed: Sequence[Reached]) -> list[int]:
    """Numbers of those that keep the constraints and that no other one dominates, in order."""
    table = np.array([[g.sign * x.measures[g.measure] for g in problem.goals] for x in listed])
    good = np.array([x.excess(problem) <= 10 * SLACK for x in listed])
    good &= np.all(np.isfinite(table), axis=1)
    rows = [k for k in np.flatnonzero(good).tolist() if not is_dominated(table[k], table[good])]
    return sorted(rows, key=lambda k: float(table[k, 0]))


def is_dominated(one: Array, others: Array) -> bool:
    """Whether some other row is not larger anywhere, and smaller somewhere."""
    return bool(np.any(np.all(others <= one, axis=1) & np.any(others < one, axis=1)))


def draw(problem: Problem, count: int, seed: int) -> list[Reached]:
    """Points that samplers of optuna propose, each looked at: TPE, or NSGA-II of several goals.

    Returns:
        The best, or the front of several goals.
    """
    with needed("search"):
        import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    listed: list[Reached] = []

    def excesses(trial: Any) -> list[float]:
        return [_excess(x, listed[trial.number].measures) for x in problem.limits]

    def value(trial: Any) -> Any:
        x = np.array([trial.suggest_float(str(k), 0.0, 1.0) for k in range(len(problem.low))])
        values = problem.unscaled(x)
        problem.seen.append(values)
        measures = problem.evaluate(values)
        listed.append(Reached(values, measures, True, "drawn"))
        numbers = [g.sign * float(measures[g.measure]) for g in problem.goals]
        numbers = [1e300 if math.isnan(y) else y for y in numbers]
        return numbers if len(numbers) > 1 else numbers[0]

    limits = excesses if problem.limits else None
    kind = optuna.samplers.NSGAIISampler if len(problem.goals) > 1 else optuna.samplers.TPESampler
    sampler = kind(seed=seed, constraints_func=limits)
    study = optuna.create_study(directions=["minimize"] * len(problem.goals), sampler=sampler)
    study.optimize(value, n_trials=count)
    if len(problem.goals) > 1:
        return [listed[k] for k in _best(problem, listed)]
    return [best_of(problem, listed)]
