"""Block-wise inversion of matrices of formulas, with zero tests modulo a prime.

Public names: inverted, is_null, Dependence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import Expr, as_expr, evaluate
from liaison.spatial.arrays import Array, array, is_zero, minus, plus, times, zeros


class Dependence(DerivationError):
    """A row of a matrix is a combination of the others."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} of the matrix is a combination of the others.")
        self.row = row


def is_null(x: Any) -> bool:
    """Whether a formula vanishes whatever its symbols are: by its residues at two points."""
    if is_zero(x):
        return True
    formula = as_expr(x)
    if formula.op == "const":
        return bool(formula.a == 0)
    seen = 0
    for seed in range(TRIES):
        try:
            if evaluate(formula, domain=residues(seed=seed)) != 0:
                return False
        except DerivationError:
            continue  # no root, or a division by zero, at that point
        seen += 1
        if seen == 2:
            return True
    return False


TRIES = 40
"""Points tried: a square root exists at every second one."""


def inverted(A: Array) -> Array:
    """A⁻¹, block by block of what its zeros leave apart.

    Blocks of up to three rows by Cramer's rule, whose only divisor is the determinant; larger ones
    by elimination, whose pivots may vanish where the determinant does not.

    Raises:
        Dependence: the rows are not independent.
    """
    n = len(A)
    found = zeros(n, n)
    for rows, columns in _blocks(A):
        if len(rows) != len(columns):
            raise Dependence(max(rows))
        block = A[np.ix_(rows, columns)]
        try:
            inverse = _by_cofactors(block) if len(rows) <= 3 else _eliminated(block)
        except Dependence as error:
            raise Dependence(rows[error.row]) from error
        for i, column in enumerate(columns):
            for j, row in enumerate(rows):
                found[column, row] = inverse[i, j]
    return array(found)


def _blocks(A: Array) -> list[tuple[list[int], list[int]]]:
    """Rows and columns that hang together by entries other than zero."""
    n = len(A)
    left = set(range(n))
    found = []
    while left:
        rows, columns, fresh = set(), set(), {min(left)}
        while fresh:
            rows |= fresh
            columns = {j for i in rows for j in range(n) if not is_zero(A[i, j])}
            fresh = {i for i in range(n) for j in columns if not is_zero(A[i, j])} - rows
        left -= rows
        found.append((sorted(rows), sorted(columns)))
    return found


def _by_cofactors(A: Array) -> Array:
    """Cramer's rule for one, two or three rows."""
    n = len(A)
    cofactors = zeros(n, n)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(A, i, 0), j, 1)
            cofactors[i, j] = times((-1) ** (i + j), _determinant(minor))
    det: Any = 0
    for j in range(n):
        det = plus(det, times(A[0, j], cofactors[0, j]))
    if is_null(det):
        raise Dependence(n - 1)
    if not isinstance(det, Expr) and det in (1, -1):
        return array([[times(det, cofactors[j, i]) for j in range(n)] for i in range(n)])
    rate = 1 / as_expr(det)
    return array([[times(cofactors[j, i], rate) for j in range(n)] for i in range(n)])


def _determinant(A: Array) -> Any:
    """Of none, one or two rows."""
    if len(A) == 0:
        return 1
    if len(A) == 1:
        return A[0, 0]
    return minus(times(A[0, 0], A[1, 1]), times(A[0, 1], A[1, 0]))


def _eliminated(A: Array) -> Array:
    """By Gauss and Jordan; pivots are constants where there are any, and few entries fill."""
    n = len(A)
    rows = [dict(_entries(A[i], 0)) | {n + i: 1} for i in range(n)]
    left, at = set(range(n)), {}
    while left:
        i, j = _pivot(rows, left, n)
        left.discard(i)
        at[j] = i
        rows[i] = _scaled(rows[i], j)
        for k in range(n):
            if k != i and j in rows[k]:
                _subtract(rows[k], rows[i], j)
    found = zeros(n, n)
    for j, i in at.items():
        for k, x in rows[i].items():
            if k >= n:
                found[j, k - n] = x
    return array(found)


def _entries(row: Sequence[Any], start: int) -> list[tuple[int, Any]]:
    return [(start + j, x) for j, x in enumerate(row) if not is_zero(x)]


def _pivot(rows: list[dict[int, Any]], left: set[int], n: int) -> tuple[int, int]:
    """The cheapest entry that does not vanish: constants first, then rows with few entries."""
    places = [
        (not _is_constant(x), len(rows[i]), i, j)
        for i in sorted(left)
        for j, x in rows[i].items()
        if j < n
    ]
    for _, _, i, j in sorted(places):
        if not is_null(rows[i][j]):
            return i, j
        del rows[i][j]
    raise Dependence(min(left))


def _is_constant(x: Any) -> bool:
    return not isinstance(x, Expr) or x.op == "const"


def _scaled(row: dict[int, Any], j: int) -> dict[int, Any]:
    pivot = row[j]
    if not isinstance(pivot, Expr) and pivot in (1, -1):
        return {k: times(pivot, x) for k, x in row.items()}
    rate = 1 / as_expr(pivot)
    return {k: 1 if k == j else times(x, rate) for k, x in row.items()}


def _subtract(row: dict[int, Any], pivot: dict[int, Any], j: int) -> None:
    factor = row.pop(j)
    for k, x in pivot.items():
        if k != j:
            value = minus(row.get(k, 0), times(factor, x))
            if is_zero(value):
                row.pop(k, None)
            else:
                row[k] = value
