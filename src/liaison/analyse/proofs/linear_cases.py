"""Linear systems of formulas, solved with every case: A x = b where pivots may or may not vanish.

Public names: LinearCase, solve_linear.

Source: PA, gausselim: `si x <> 0 … sinon …`, entries being functions of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import DerivationError
from liaison.exact.rank import Case, gauss, is_null
from liaison.expr import ZERO, Expr, as_expr, substitute
from liaison.lazy import Shown


@final
@dataclass(frozen=True, slots=True, repr=False)
class LinearCase(Shown):
    """What solves a linear system under conditions.

    Attributes:
        conditions: formulas, and whether they are assumed not to vanish (True) or to (False).
        rank: of A.
        solution: unknown -> formula of the free ones; None where there is no solution.
        free: unknowns that may be anything.
        is_resolved: every formula assumed zero was used throughout.
    """

    conditions: tuple[tuple[Expr, bool], ...]
    rank: int
    solution: Mapping[Expr, Expr] | None
    free: tuple[Expr, ...] = ()
    is_resolved: bool = True

    def __str__(self) -> str:
        conditions = ", ".join(f"{f!r} {'≠' if holds else '='} 0" for f, holds in self.conditions)
        head = f"where {conditions}: " if conditions else ""
        if self.solution is None:
            return f"{head}rank {self.rank}, no solution"
        solved = ", ".join(f"{x!r} = {value!r}" for x, value in self.solution.items())
        rest = f"; free: {', '.join(map(repr, self.free))}" if self.free else ""
        return f"{head}rank {self.rank}, {solved or 'no unknown is determined'}{rest}"


def solve_linear(A: Any, b: Sequence[Any], unknowns: Sequence[Expr]) -> list[LinearCase]:
    """All cases of A x = b.

    Args:
        A: rows of formulas and numbers; entries may hold functions of time.
        b: the right sides.
        unknowns: a symbol for each column, not used in A or b.

    Returns:
        The cases, those with more non-zero pivots first; their conditions exclude each other.

    Raises:
        DerivationError: the sizes do not fit, or there are too many cases.

    Example:
        >>> import liaison
        >>> a, x = liaison.symbol("a"), liaison.symbol("x")
        >>> len(liaison.solve_linear([[a]], [1], [x]))
        2
    """
    matrix = np.asarray(A, dtype=object)
    if matrix.ndim != 2 or matrix.shape != (len(b), len(unknowns)):
        raise DerivationError(
            f"a matrix of shape {matrix.shape} does not go with {len(b)} right sides and "
            f"{len(unknowns)} unknowns.",
            hint="Give a row of A for every entry of b, and a column for every unknown.",
        )
    augmented = np.column_stack([matrix, np.array([as_expr(x) for x in b], dtype=object)])
    return [_solved(case, list(unknowns)) for case in gauss(augmented)]


def _solved(case: Case, unknowns: list[Expr]) -> LinearCase:
    """Back substitution in one case."""
    rows, columns = case.matrix.shape
    pivots = []
    for i in range(rows):
        lead = next((j for j in range(columns) if not is_null(case.matrix[i, j])), None)
        if lead is not None:
            pivots.append((i, lead))
    n = len(unknowns)
    rank = sum(j < n for _, j in pivots)
    if rank < len(pivots):
        return LinearCase(case.conditions, rank, None, (), case.is_resolved)
    values: dict[Expr, Expr] = {}
    for i, j in reversed(pivots):
        rest: Any = case.matrix[i, n]
        for k in range(j + 1, n):
            rest = rest - case.matrix[i, k] * values.get(unknowns[k], unknowns[k])
        value = as_expr(rest / case.matrix[i, j])
        values[unknowns[j]] = ZERO if is_null(value) else value
    free = tuple(x for x in unknowns if x not in values)
    solution = {x: values[x] for x in unknowns if x in values}
    return LinearCase(case.conditions, rank, solution, free, case.is_resolved)


def residuals(A: Any, b: Sequence[Any], unknowns: Sequence[Expr], case: LinearCase) -> list[Expr]:
    """A x − b with the solution of a case put in: zero where its conditions hold."""
    matrix = np.asarray(A, dtype=object)
    left = []
    for i, right in enumerate(b):
        total: Any = -as_expr(right)
        for j, x in enumerate(unknowns):
            total = total + matrix[i, j] * x
        left.append(as_expr(total))
    return substitute(left, dict(case.solution or {}))
