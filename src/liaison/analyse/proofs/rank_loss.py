"""Search for positions at which rows of rates become dependent while they are active.

Such a position is looked for from many sides by least squares on c · B(q) = 0, |c| = 1, and given
exactly where its coordinates are simple numbers that solve it exactly.

Public names: losses, least_size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.intervals import Interval
from liaison.expr import ARRAY, PI, Expr, as_expr, evaluate, substitute
from liaison.expr.reading.simplify import vanishes_exactly

from .rank_effect import FOUND, Loss, losses_at
from .rank_proof import MOST_ROWS, gram_determinant
from .rate_rows import RateRows

Floats = NDArray[np.float64]

SAMPLES, BEGINNINGS = 256, 12
"""Random positions, and how many of them (with the least singular values) a search begins at."""

ASIDE = 0.1
"""How far from such a position rows are looked at again [m, rad]."""

FINEST = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
"""Least squares goes on until rounding stops it."""


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
    """A position where the rows are dependent, told for each combination; none if none is found.

    One where velocities may have to jump, if there is one among those found.
    """
    if len(found.rows) <= MOST_ROWS and _vanish_together(found.rows):
        place = _on_closures(found, sampled(found), 2)
        return losses_at(found, place, is_exact=True, everywhere=True)
    first: list[Loss] = []
    for there, is_exact in _places(found):
        lost = losses_at(found, there, is_exact=is_exact)
        if any(loss.effect != "free" for loss in lost):
            return lost
        first = first or lost
    return first


def _places(found: RateRows) -> Iterator[tuple[Mapping[Expr, Any], bool]]:
    """Positions where the rows are dependent, and whether by proof: those with proof first."""
    points = sampled(found)
    order = np.argsort(sizes_at(found, points))[:BEGINNINGS]
    rounded: list[tuple[float, dict[Expr, float]]] = []
    for k in [0, 1, *order.tolist()]:
        place = _searched(found, {x: float(values[k]) for x, values in points.items()})
        exact = _made_exact(found, place)
        if exact is not None:
            yield exact, True
        else:
            rounded.append((_size(found, place), place))
    for size, place in sorted(rounded, key=lambda pair: pair[0]):
        if size <= FOUND and _is_isolated(found, place, size):
            yield place, False


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
