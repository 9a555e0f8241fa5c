"""Positions at which rows of rates become dependent while they are active, and what follows there.

Such a position is looked for from many sides by least squares on c · B(q) = 0, |c| = 1, and given
exactly where its coordinates are simple numbers that solve it exactly. No acceleration changes
Σ c_k d/dt(row k) = v · Q v there. If c pushes all one-sided rows to one side, the form must not be
positive, and the relation itself says what the velocity is (see `numeric.degenerate`).

Public names: Loss, losses, least_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.expr import ARRAY, PI, ZERO, Expr, as_expr, evaluate, substitute
from liaison.expr.intervals import Interval
from liaison.expr.simplify import vanishes_exactly
from liaison.numeric.degenerate import degenerate_rule, quadratic_form

from .rank_proof import MOST_ROWS, gram_determinant
from .rate_rows import RateRows

Floats = NDArray[np.float64]

SAMPLES, BEGINNINGS = 256, 12
"""Random positions, and how many of them (with the least singular values) a search begins at."""

ASIDE = 0.1
"""How far from such a position rows are looked at again [m, rad]."""

FINEST = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
"""Least squares goes on until rounding stops it."""

FOUND = 1e-9
"""Least singular value at which rows count as dependent."""


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """A position where rows that can be active depend on each other.

    Attributes:
        rows: names of the rows whose combination vanishes.
        position: coordinates (and time) by label.
        is_exact: whether they depend there exactly, by proof; otherwise up to rounding.
        size: least singular value of the rows there.
        effect: "jump", "free" or "undecided", as `numeric.degenerate_rule` says.
        form: Q of the rate of the combination, over the velocities.
        held: rows over the velocities that are zero from there on.
        after: the same with the rows that were active, each for one velocity as far as they go.
    """

    rows: tuple[str, ...]
    position: Mapping[str, Any]
    is_exact: bool
    size: float
    effect: str
    form: Floats
    held: Floats
    after: Floats


def sampled(found: RateRows, seed: int = 0) -> dict[Expr, Floats]:
    """Positions at random, the start and the origin among them, nearly on the closures."""
    draw = np.random.default_rng(seed)
    points: dict[Expr, Floats] = {}
    for x, part in found.domain.items():
        scale = 10.0 ** draw.uniform(-1, 1, SAMPLES)
        wide = draw.standard_normal(SAMPLES) * scale
        even = draw.uniform(-1, 1, SAMPLES) * min(part.high, 1e3)
        points[x] = even if math.isfinite(part.high) else wide
        points[x][:2] = found.start[x], 0.0
    return points


def sizes_at(found: RateRows, points: Mapping[Expr, Floats]) -> Floats:
    """The least singular value of the rows at each point."""
    matrices = np.broadcast_to(found.at(points), (SAMPLES, len(found.rows), len(found.v) + 1))
    usable = np.where(np.isfinite(matrices), matrices, 1e30)
    return np.asarray(np.linalg.svd(usable, compute_uv=False)[:, -1])


def least_size(found: RateRows) -> float:
    """The least singular value seen at positions that satisfy the closures."""
    points = sampled(found)
    sizes = sizes_at(found, points)
    if not found.conditions:
        return float(np.min(sizes))
    nearest = np.argsort(sizes)[:BEGINNINGS].tolist()
    return min(_size(found, _on_closures(found, points, k)) for k in nearest)


def _on_closures(found: RateRows, points: Mapping[Expr, Floats], k: int) -> dict[Expr, float]:
    """A sampled position moved onto the closures."""
    names = list(points)
    place = np.array([points[x][k] for x in names])
    if found.conditions:
        place = _solved(lambda z: _closed(found, names, z), place)
    return dict(zip(names, place.tolist(), strict=True))


def _solved(misses: Callable[[Floats], Floats], begin: Floats) -> Floats:
    """Least squares; its library is slow to load."""
    from scipy.optimize import least_squares

    return np.asarray(least_squares(misses, begin, **FINEST).x)


def _closed(found: RateRows, names: Sequence[Expr], z: Floats) -> Floats:
    values = {x: np.array(value) for x, value in zip(names, z, strict=True)}
    return np.asarray(evaluate(np.array(found.conditions, dtype=object), values, ARRAY), float)


def losses(found: RateRows) -> list[Loss]:
    """A position where the rows are dependent, told for each combination; none if none is found."""
    if len(found.rows) <= MOST_ROWS and _vanish_together(found.rows):
        return _told(found, _on_closures(found, sampled(found), 2), is_exact=True, everywhere=True)
    points = sampled(found)
    order = np.argsort(sizes_at(found, points))[:BEGINNINGS]
    tried: list[tuple[float, dict[Expr, float]]] = []
    for k in [0, 1, *order.tolist()]:
        place = _searched(found, {x: float(values[k]) for x, values in points.items()})
        exact = _made_exact(found, place)
        if exact is not None:
            return _told(found, exact, is_exact=True)
        tried.append((_size(found, place), place))
    size, place = min(tried, key=lambda pair: pair[0])
    is_loss = size <= FOUND and _is_isolated(found, place, size)
    return _told(found, place, is_exact=False) if is_loss else []


def _vanish_together(rows: Sequence[Sequence[Expr]], more: Sequence[Expr] = ()) -> bool:
    """Whether rows are dependent, and more formulas zero, by proof."""
    try:
        return all(map(vanishes_exactly, more)) and vanishes_exactly(gram_determinant(rows))
    except (DerivationError, ZeroDivisionError):
        return False


def _is_isolated(found: RateRows, place: Mapping[Expr, float], size: float) -> bool:
    """Whether rows get independent beside the place: not where they only fade far away."""
    beside = [
        float(np.linalg.svd(found.at(_moved(place, x, step)), compute_uv=False)[-1])
        for x in place
        for step in (-ASIDE, ASIDE)
    ]
    return size <= 1e-5 * max(beside, default=math.inf)


def _moved(place: Mapping[Expr, float], x: Expr, step: float) -> dict[Expr, Floats]:
    return {y: np.array(value + (step if y is x else 0.0)) for y, value in place.items()}


def _searched(found: RateRows, begin: Mapping[Expr, float]) -> dict[Expr, float]:
    """Nearby, where the rows are as dependent as can be and the closures hold."""
    names = list(begin)
    n, m = len(names), len(found.rows)

    def misses(z: Floats) -> Floats:
        values = {x: np.array(value) for x, value in zip(names, z[:n], strict=True)}
        left, c = found.at(values), z[n:]
        parts = [c @ left, np.array([c @ c - 1])]
        if found.conditions:
            parts.append(_closed(found, names, z[:n]))
        return np.asarray(np.nan_to_num(np.concatenate(parts), nan=1e6, posinf=1e6, neginf=-1e6))

    start = found.at({x: np.array(value) for x, value in begin.items()})
    c = np.linalg.svd(np.nan_to_num(start))[0][:, -1] if m else np.zeros(0)
    where = _solved(misses, np.concatenate([list(begin.values()), c]))
    return {x: _within(z, found.domain[x]) for x, z in zip(names, where.tolist())}


def _within(value: float, part: Interval) -> float:
    """The same turn within one period."""
    return value if math.isinf(part.width) else math.remainder(value, 2 * part.high)


def _size(found: RateRows, place: Mapping[Expr, Any]) -> float:
    """The least singular value at a place; infinite where a closure does not hold."""
    values = {x: np.array(float(evaluate(as_expr(value), {}))) for x, value in place.items()}
    if found.conditions:
        gap = _closed(found, list(values), np.array([float(x) for x in values.values()]))
        if not np.max(np.abs(gap)) <= FOUND:
            return math.inf
    matrix = found.at(values)
    if not np.all(np.isfinite(matrix)):
        return math.inf
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _made_exact(found: RateRows, place: Mapping[Expr, float]) -> dict[Expr, Expr] | None:
    """Simple numbers near the place at which the rows are dependent by proof; None without."""
    if len(found.rows) > MOST_ROWS:
        return None
    near = {x: _simple(value, found.domain[x]) for x, value in place.items()}
    rows = [substitute(list(row), near) for row in found.rows]
    proved = _vanish_together(rows, substitute(list(found.conditions), near))
    return near if proved and _size(found, near) <= FOUND else None


def _simple(value: float, part: Interval) -> Expr:
    """The nearest twelfth of π for what turns, else the nearest fraction by small numbers."""
    if math.isfinite(part.high):
        return as_expr(Fraction(round(12 * value / math.pi), 12) * PI)
    return as_expr(Fraction(value).limit_denominator(12))


def _told(
    found: RateRows, place: Mapping[Expr, Any], *, is_exact: bool, everywhere: bool = False
) -> list[Loss]:
    """What is lost at a place: rows that vanish one by one, or else their combination."""
    values = {x: float(evaluate(as_expr(value), {})) for x, value in place.items()}
    matrix = found.at({x: np.array(value) for x, value in values.items()})
    names = (*found.bilateral, *found.one_sided)
    gone = [k for k in range(len(names)) if np.max(np.abs(matrix[k])) <= FOUND]
    ways = [np.eye(len(names))[k] for k in gone]
    if not ways:
        ways = [np.linalg.svd(matrix)[0][:, -1]]
    told = {} if everywhere else {x.name: value for x, value in place.items()}
    return [_loss(found, matrix, values, told, c, is_exact=is_exact) for c in ways]


def _loss(
    found: RateRows,
    matrix: Floats,
    values: Mapping[Expr, float],
    told: Mapping[str, Any],
    way: Floats,
    *,
    is_exact: bool,
) -> Loss:
    """The loss of one combination of rows."""
    c = np.where(np.abs(way) > 1e-6, way, 0.0)
    names = (*found.bilateral, *found.one_sided)
    part = tuple(name for name, x in zip(names, c, strict=True) if x)
    effect, form, held = _effect(found, matrix, values, c)
    active = _active(found, c)
    kept = active if len(held) and np.max(np.abs(matrix[active, -1])) <= FOUND else []
    after = reduced(np.vstack([matrix[kept, :-1], held]))
    return Loss(part, told, is_exact, float(np.linalg.norm(c @ matrix)), effect, form, held, after)


def _active(found: RateRows, c: Floats) -> list[int]:
    """Bilateral rows, and those that a combination takes part of."""
    return [k for k in range(len(c)) if k < len(found.bilateral) or c[k]]


def reduced(rows: Floats) -> Floats:
    """Rows of the same span with a 1 and zeros above and below it, as far as they go."""
    rows = np.array(rows, dtype=float)
    done = 0
    for j in range(rows.shape[1]):
        if done == len(rows):
            break
        k = done + int(np.argmax(np.abs(rows[done:, j])))
        if abs(rows[k, j]) < 1e-9:
            continue
        rows[[done, k]] = rows[[k, done]]
        rows[done] /= rows[done, j]
        for i in range(len(rows)):
            if i != done:
                rows[i] -= rows[i, j] * rows[done]
        done += 1
    return np.where(np.abs(rows[:done]) > 1e-9, rows[:done], 0.0)


def _effect(
    found: RateRows, matrix: Floats, values: Mapping[Expr, float], c: Floats
) -> tuple[str, Floats, Floats]:
    """Whether velocities must jump there, Q, and what is held afterwards."""
    first, nv = len(found.bilateral), len(found.v)
    pushed = c[first:]
    if np.any(pushed > 0) and np.any(pushed < 0):
        return "free", np.zeros((nv, nv)), np.zeros((0, nv))
    c = c if np.sum(pushed) >= 0 else -c
    total = as_expr(sum((as_expr(float(x)) * b for x, b in zip(c, found.biases)), ZERO))

    def rate(v: Floats) -> float:
        return float(evaluate(total, {**values, **dict(zip(found.v, v.tolist()))}))

    form = quadratic_form(rate, nv)
    form = np.where(np.abs(form) > 1e-12, form, 0.0)
    probe = np.arange(1.0, nv + 1)
    is_form = abs(rate(probe) - probe @ form @ probe) <= 1e-9 * (1 + abs(rate(probe)))
    active = matrix[_active(found, c), :-1]
    rule = degenerate_rule(np.eye(nv), form, np.ones(nv), active)
    if not is_form:
        return "undecided", form, rule.held[:0]
    return ("jump" if rule.kind == "rest" else rule.kind), form, rule.held
