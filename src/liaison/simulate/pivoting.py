"""Elimination with complete pivoting, as loops: for matrices of steps whose closures may repeat.

Public names: RANK, factorize_completely, solve_completely.

Source: GVL13 §3.4.8 (complete pivoting).
"""

from __future__ import annotations

from liaison.program.loops import i64, loop, ptr

RANK = 1e-10
"""Pivots below this part of the first belong to rows that depend on others: their unknown is 0."""


@loop
def factorize_completely(m: i64, a: ptr, order: ptr) -> i64:
    """P A Q = L U in place, the largest pivot of all first; its rank. `order` holds 2 m doubles."""
    first = 0.0
    for k in range(m):
        row = k
        column = k
        size = -1.0
        for i in range(k, m):
            for j in range(k, m):
                if abs(a[i * m + j]) > size:
                    size = abs(a[i * m + j])
                    row = i
                    column = j
        if k == 0:
            first = size
        if not (size > RANK * first and size < 1e300):
            return k
        order[k] = float(row)
        order[m + k] = float(column)
        for j in range(m):
            kept = a[k * m + j]
            a[k * m + j] = a[row * m + j]
            a[row * m + j] = kept
        for i in range(m):
            kept = a[i * m + k]
            a[i * m + k] = a[i * m + column]
            a[i * m + column] = kept
        for i in range(k + 1, m):
            c = a[i * m + k] / a[k * m + k]
            a[i * m + k] = c
            if c != 0.0:
                for j in range(k + 1, m):
                    a[i * m + j] -= c * a[k * m + j]
    return m


@loop
def solve_completely(m: i64, rank: i64, a: ptr, order: ptr, x: ptr) -> None:
    """x := A⁻¹ x; unknowns without a pivot are 0, rows without one are not looked at."""
    for k in range(rank):
        row = int(order[k])
        kept = x[k]
        x[k] = x[row]
        x[row] = kept
    for i in range(rank):
        for j in range(i):
            x[i] -= a[i * m + j] * x[j]
    for k in range(rank, m):
        x[k] = 0.0
    for back in range(rank):
        i = rank - 1 - back
        for j in range(i + 1, rank):
            x[i] -= a[i * m + j] * x[j]
        x[i] = x[i] / a[i * m + i]
    for back in range(rank):
        k = rank - 1 - back
        column = int(order[m + k])
        kept = x[k]
        x[k] = x[column]
        x[column] = kept
