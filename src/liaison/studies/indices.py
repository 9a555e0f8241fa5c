"""Sobol' indices: which part of the variance of a measure comes from which value.

    S_i = Var(E[f | x_i]) / Var f,    T_i = E(Var[f | all but x_i]) / Var f

Two tables A and B of independent points, and tables A_i, which are A with the i-th column of B:

    S_i ≈ mean(f_B (f_{A_i} − f_A)) / V,    T_i ≈ mean((f_A − f_{A_i})²) / 2V        (indices-1)

The confidence is that of rows drawn again from the rows there are.

Public names: Indices, saltelli_points, indices_of.

Source: SAL10 Table 2 (estimators b of S_i and f of T_i), ET93 §13.3 (percentiles of drawing again).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError, LiaisonError
from liaison.lazy import Shown
from liaison.numeric import Array

from .variations import LEAST, MOST_POINTS, Points, Variation, check_seed

DRAWN = 100
"""Times that rows are drawn again."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Indices(Shown):
    """Sobol' indices of measures.

    Attributes:
        names: of what varies.
        measures: names.
        first: S_i, shape (measures, names).
        total: T_i, likewise.
        first_error: half of the interval in which 95 % of S_i of drawn rows lie.
        total_error: likewise.
        rows: how many rows of the tables were used, of each measure; runs that failed are left out.
        study: whose runs they are from; None where they are of a function.

    Example:
        >>> import liaison
        >>> parts = liaison.sobol_indices(
        ...     "examples/pendulum.lsd", vary={"l": (0.9, 1.1)}, measure={"end": "final(A)"},
        ...     until=1, count=64,
        ... )
        >>> parts.names
        ('l',)
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]
    first: Array
    total: Array
    first_error: Array
    total_error: Array
    rows: tuple[int, ...]
    study: Any = None


def saltelli_points(kinds: Mapping[str, Variation], count: int, seed: int) -> Points:
    """Rows of A, of B, then of each A_i, one table behind the other.

    Args:
        kinds: how each name varies, independently of the others.
        count: of rows of a table; a power of 2.
        seed: of the points.
    """
    if count < 2 or count & (count - 1):
        near = 1 << max(1, round(math.log2(max(2, count))))
        raise ArgumentError(f"count is {count}; it must be a power of 2, such as {near}.")
    if not kinds:
        raise ArgumentError("nothing varies: vary is empty.", hint='vary={"a": "9 cm .. 11 cm"}')
    if count > MOST_POINTS // (len(kinds) + 2):
        raise ArgumentError(f"count is {count}; a study takes {MOST_POINTS} points at most.")
    check_seed(seed)
    from scipy.stats.qmc import Sobol

    names = tuple(kinds)
    cube = np.maximum(Sobol(2 * len(names), rng=seed).random(count), LEAST)
    A, B = (
        np.column_stack([x.quantile(u) for x, u in zip(kinds.values(), half.T, strict=True)])
        for half in np.split(cube, 2, axis=1)
    )
    tables = [A, B]
    for k in range(len(names)):
        mixed = A.copy()
        mixed[:, k] = B[:, k]
        tables.append(mixed)
    return Points(names, np.vstack(tables), "sobol indices", seed)


def indices_of(
    names: Sequence[str], values: Mapping[str, Array], seed: int = 0, study: Any = None
) -> Indices:
    """The indices of measures at the points of `saltelli_points`.

    Args:
        names: of what varies.
        values: of each measure at all points, in order.
        seed: of the rows that are drawn again.
        study: whose measures they are.

    Raises:
        LiaisonError: a measure does not vary, or nearly all runs failed.
    """
    listed = [_indices(measure, f, len(names), seed) for measure, f in values.items()]
    first, total, first_error, total_error, rows = zip(*listed, strict=True)
    return Indices(
        tuple(names), tuple(values), np.array(first), np.array(total), np.array(first_error),
        np.array(total_error), rows, study,
    )  # fmt: skip


def _indices(
    measure: str, f: Array, count: int, seed: int
) -> tuple[Array, Array, Array, Array, int]:
    table = f.reshape(count + 2, -1)
    table = table[:, np.all(np.isfinite(table), axis=0)]
    rows = table.shape[1]
    if rows < 4:
        raise LiaisonError(
            f"measure {measure!r} has a value in {rows} of {f.size // (count + 2)} rows of runs; "
            "indices need more.",
            hint="Look at study.failures, and vary less.",
        )
    spread = float(np.var(table[:2]))
    if not spread > 1e-24 * float(np.max(np.abs(table[:2]))) ** 2:
        raise LiaisonError(f"measure {measure!r} does not vary: it has no indices.")
    table = table - np.mean(table[:2])  # changes neither, and estimates are better
    first, total = _estimates(table)
    drawn = np.random.Generator(np.random.Philox(seed))
    again = [_estimates(table[:, drawn.integers(0, rows, rows)]) for _ in range(DRAWN)]
    errors = [_half(np.array(x)) for x in zip(*again, strict=True)]
    return first, total, errors[0], errors[1], rows


def _estimates(table: Array) -> tuple[Array, Array]:
    """(indices-1)."""
    A, B, mixed = table[0], table[1], table[2:]
    spread = np.var(table[:2])
    first = np.mean(B * (mixed - A), axis=1) / spread
    total = 0.5 * np.mean((A - mixed) ** 2, axis=1) / spread
    return first, total


def _half(drawn: NDArray[np.float64]) -> Array:
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return np.asarray(0.5 * (high - low))
