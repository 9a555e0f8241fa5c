"""Matrices of residues: rank, pivots, inverses, and matrices whose entries are series.

A matrix of series is a list of its coefficient matrices, lowest order first.

Public names: matrix, rank, pivots, kernel, inverse, coefficients, series_inverse, series_product,
block, valued_rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .rings import Series


def matrix(rows: Sequence[Sequence[int]], p: int, columns: int | None = None) -> Any:
    """A matrix modulo p; `columns` is needed where there are no rows."""
    from flint import nmod_mat

    width = len(rows[0]) if rows else columns or 0
    return nmod_mat(len(rows), width, [int(x) % p for row in rows for x in row], p)


def rank(rows: Sequence[Sequence[int]], p: int) -> int:
    """The rank modulo p."""
    return int(matrix(rows, p).rank()) if rows and rows[0] else 0


def pivots(rows: Sequence[Sequence[int]], p: int) -> tuple[list[int], list[int]]:
    """Rows and columns of an invertible minor of full rank, first ones preferred."""
    if not rows or not rows[0]:
        return [], []
    M = matrix(rows, p)
    return _leading(M.transpose()), _leading(M)


def _leading(M: Any) -> list[int]:
    """Columns of M that are no combination of those before them."""
    reduced, size = M.rref()
    columns, column = [], 0
    for row in range(size):
        while int(reduced[row, column]) == 0:
            column += 1
        columns.append(column)
    return columns


def kernel(rows: Sequence[Sequence[int]], p: int, columns: int) -> list[list[int]]:
    """A basis of the vectors x with M x = 0."""
    if not rows:
        return [[int(i == j) for i in range(columns)] for j in range(columns)]
    X, nullity = matrix(rows, p).nullspace()
    return [[int(X[i, j]) for i in range(columns)] for j in range(nullity)]


def inverse(rows: Sequence[Sequence[int]], p: int) -> Any:
    """The inverse of a square matrix modulo p."""
    return matrix(rows, p).inv() if rows else matrix([], p, 0)


def coefficients(rows: Sequence[Sequence[Any]], ring: Series) -> list[Any]:
    """Coefficient matrices of a matrix of series."""
    width = len(rows[0]) if rows else 0
    lists = [[[int(c) for c in x.coeffs()] for x in row] for row in rows]
    return [
        matrix([[x[k] if k < len(x) else 0 for x in row] for row in lists], ring.p, width)
        for k in range(ring.order)
    ]


def block(M: Any, rows: Sequence[int], columns: Sequence[int], p: int) -> Any:
    """A submatrix."""
    return matrix([[int(M[i, j]) for j in columns] for i in rows], p, len(columns))


def series_product(A: list[Any], B: list[Any]) -> list[Any]:
    """A B, to the order of the shorter."""
    order = min(len(A), len(B))
    return [_sum(A[i] * B[k - i] for i in range(k + 1)) for k in range(order)]


def series_inverse(A: list[Any]) -> list[Any]:
    """A⁻¹, where the constant term can be inverted."""
    coefficients_of_inverse = [A[0].inv()]
    for k in range(1, len(A)):
        total = _sum(A[i] * coefficients_of_inverse[k - i] for i in range(1, k + 1))
        coefficients_of_inverse.append(coefficients_of_inverse[0] * total * -1)
    return coefficients_of_inverse


def _sum(matrices: Any) -> Any:
    total = None
    for M in matrices:
        total = M if total is None else total + M
    return total


def valued_rank(rows: Sequence[Sequence[Any]], ring: Series) -> int:
    """The rank over the field of series of a matrix known modulo s^order.

    Elimination with the pivot of least valuation; what is zero to the known order counts as zero.
    """
    left = [list(row) for row in rows]
    count = 0
    while left:
        places = [(valuation(x, ring.order), i, j) for i, row in enumerate(left)
                  for j, x in enumerate(row)]  # fmt: skip
        least, i, j = min(places, default=(ring.order, 0, 0))
        if least >= ring.order:
            return count
        pivot = left.pop(i)
        scale = ring.inverse(pivot[j].right_shift(least))
        for row in left:
            factor = ring.mul(row[j].right_shift(least), scale)
            for k, x in enumerate(pivot):
                row[k] = row[k] - ring.mul(factor, x)
        count += 1
    return count


def valuation(x: Any, order: int) -> int:
    """The order of the first coefficient that is not zero."""
    for k, c in enumerate(x.coeffs()[:order]):
        if int(c):
            return k
    return order
