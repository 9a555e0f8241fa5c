"""Linear systems of formulas without pivots: shortest solutions, and those of least squares.

    K X = S:   X = Kᵀ (K Kᵀ)⁻¹ S  for independent rows,   X = (Kᵀ K)⁻¹ Kᵀ S  for independent columns

by L D Lᵀ of a positive definite matrix, whose pivots vanish only where K loses rank. K is squared,
so that about half of the digits are left where its rows are nearly dependent.

Public names: Matrix, shortest, least_squares, dot_product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from liaison.expr import ZERO, Expr

Matrix: TypeAlias = list[list[Expr]]


def dot_product(pairs: Iterable[tuple[Any, Any]]) -> Expr:
    """Σ a b, without the terms that vanish."""
    total = ZERO
    for a, b in pairs:
        if a is not ZERO and b is not ZERO:
            total = total + a * b
    return total


def shortest(K: Matrix, sides: Matrix) -> Matrix:
    """The shortest solutions of K X = sides, for independent rows.

    A square K with one entry in each row and column is divided by, entry by entry.
    """
    columns = range(len(K[0]) if K else 0)
    direct = _divided(K, sides)
    if direct is not None:
        return direct
    normal = [[dot_product(zip(a, b, strict=True)) for b in K] for a in K]
    y = _solved(normal, sides)
    return [[dot_product((row[j], x[c]) for row, x in zip(K, y, strict=True))
             for c in range(len(sides[0]))] for j in columns]  # fmt: skip


def least_squares(K: Matrix, sides: Matrix) -> Matrix:
    """X with K X nearest to the sides, for independent columns: exact where they agree."""
    direct = _divided(K, sides)
    if direct is not None:
        return direct
    turned = [list(column) for column in zip(*K, strict=True)]
    count = range(len(sides[0]) if sides else 0)
    normal = [[dot_product(zip(a, b, strict=True)) for b in turned] for a in turned]
    right = [
        [dot_product((x, side[c]) for x, side in zip(a, sides, strict=True)) for c in count]
        for a in turned
    ]
    return _solved(normal, right)


def _divided(K: Matrix, sides: Matrix) -> Matrix | None:
    """K⁻¹ sides where K has one entry in each row and column; None elsewhere."""
    columns = range(len(K[0]) if K else 0)
    alone = [[j for j in columns if row[j] is not ZERO] for row in K]
    if len(K) != len(columns) or any(len(one) != 1 for one in alone):
        return None
    row_of = {one[0]: i for i, one in enumerate(alone)}
    if len(row_of) < len(columns):
        return None
    return [[x / K[row_of[j]][j] for x in sides[row_of[j]]] for j in columns]


def _solved(S: Matrix, sides: Matrix) -> Matrix:
    """S⁻¹ sides of a positive definite S, by L D Lᵀ in order."""
    n = len(S)
    L: dict[tuple[int, int], Expr] = {}
    D: list[Expr] = []
    for j in range(n):
        D.append(S[j][j] - dot_product((L[j, k] * L[j, k], D[k]) for k in range(j)))
        for i in range(j + 1, n):
            known = dot_product((L[i, k] * L[j, k], D[k]) for k in range(j))
            L[i, j] = (S[i][j] - known) / D[j]
    solution = [list(row) for row in sides]
    for c in range(len(sides[0]) if sides else 0):
        for i in range(n):
            before = dot_product((L[i, k], solution[k][c]) for k in range(i))
            solution[i][c] = solution[i][c] - before
        for i in range(n):
            solution[i][c] = solution[i][c] / D[i]
        for i in reversed(range(n)):
            after = dot_product((L[k, i], solution[k][c]) for k in range(i + 1, n))
            solution[i][c] = solution[i][c] - after
    return solution
