"""Elimination with pivoting, as loops: by columns, or complete where closures may repeat.

With it what Newton's method needs besides: matrices scaled evenly, and when a step is found.

Public names: RANK, ROUNDS, factorize, solve_factorized, factorize_completely, solve_completely,
scale_evenly, is_converged.

Source: GVL13 §3.4.8 (complete pivoting).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .eights import minus_eights

RANK = 1e-10
"""Pivots below this part of the first belong to rows that depend on others: their unknown is 0."""

ROUNDS = 40
"""Corrections at most: they shrink by a hundred and more each where a step is short enough."""

LIGHT = 1e-10
"""Part of the largest inertia, of any unit, below which one is scaled as none."""

NOTHING = 1e-18
"""Part of ξ that a further correction may be for the step to count as found."""

NOISE = 1e-10
"""The same beside 1 + |q|, where corrections no longer shrink: rounding of Φ where q is large."""


@loop
def exchange_rows(m: i64, a: ptr, i: i64, k: i64) -> None:
    """Rows i and k change places."""
    for j in range(m):
        saved = a[i * m + j]
        a[i * m + j] = a[k * m + j]
        a[k * m + j] = saved


@loop
def eliminate(m: i64, a: ptr, k: i64) -> None:
    """The rows below k without column k; what they were multiplied by stays there."""
    pivot = a[k * m + k]
    for i in range(k + 1, m):
        c = a[i * m + k] / pivot
        a[i * m + k] = c
        if c != 0.0:
            minus_eights(m - k - 1, c, at(a, k * m + k + 1), at(a, i * m + k + 1))


@loop
def factorize(m: i64, a: ptr, order: ptr) -> i64:
    """P A = L U in place, the largest pivot of each column first; 1 if one is 0 or not finite."""
    for k in range(m):
        best = k
        size = abs(a[k * m + k])
        for i in range(k + 1, m):
            if abs(a[i * m + k]) > size:
                size = abs(a[i * m + k])
                best = i
        order[k] = float(best)
        if not (size > 1e-300 and size < 1e300):
            return 1
        if best != k:
            exchange_rows(m, a, k, best)
        eliminate(m, a, k)
    return 0


@loop
def by_triangles(m: i64, rank: i64, a: ptr, order: ptr, x: ptr) -> None:
    """The first entries of x, its rows exchanged as `order` says: x := U⁻¹L⁻¹ x."""
    for k in range(rank):
        row = int(order[k])
        saved = x[k]
        x[k] = x[row]
        x[row] = saved
    for i in range(rank):
        rest = x[i]
        for j in range(i):
            rest -= a[i * m + j] * x[j]
        x[i] = rest
    for back in range(rank):
        i = rank - 1 - back
        rest = x[i]
        for j in range(i + 1, rank):
            rest -= a[i * m + j] * x[j]
        x[i] = rest / a[i * m + i]


@loop
def solve_factorized(m: i64, a: ptr, order: ptr, x: ptr) -> None:
    """x := A⁻¹ x."""
    by_triangles(m, m, a, order, x)


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
        exchange_rows(m, a, k, row)
        for i in range(m):
            saved = a[i * m + k]
            a[i * m + k] = a[i * m + column]
            a[i * m + column] = saved
        eliminate(m, a, k)
    return m


@loop
def solve_completely(m: i64, rank: i64, a: ptr, order: ptr, x: ptr) -> None:
    """x := A⁻¹ x; unknowns without a pivot are 0, rows without one are not looked at."""
    by_triangles(m, rank, a, order, x)
    for k in range(rank, m):
        x[k] = 0.0
    for back in range(rank):
        k = rank - 1 - back
        column = int(order[m + k])
        saved = x[k]
        x[k] = x[column]
        x[column] = saved


@loop
def scale_evenly(nv: i64, m: i64, K: ptr, scale: ptr) -> None:
    """K := S K S with numbers of about 1: like masses, then columns of closures in that metric."""
    most = 1e-300
    for i in range(nv):
        most = max(most, abs(K[i * m + i]))
    for i in range(nv):
        # what has no inertia is not blown up
        scale[i] = 1.0 / sqrt(max(abs(K[i * m + i]), LIGHT * most))
    for k in range(nv, m):
        length = 0.0
        for j in range(nv):
            size = K[j * m + k] * scale[j]
            length += size * size
        scale[k] = 1.0 / sqrt(length) if length > 1e-300 else 1.0
    for i in range(m):
        for j in range(m):
            K[i * m + j] = K[i * m + j] * scale[i] * scale[j]


@loop
def is_converged(turn: i64, size: f64, before: f64, whole: f64, extent: f64) -> i64:
    """1 if nothing but rounding is left to correct, -1 if it diverges, else 0.

    Args:
        turn: number of the correction, from 0.
        size: of this correction.
        before: of the one before.
        whole: size of what is corrected.
        extent: 1 + |q|.
    """
    if not (size >= 0.0 and size < 1e300):
        return -1
    rate = size / before if turn > 0 and before > 0.0 else 1.0
    if size * min(rate, 1.0) <= NOTHING * whole:
        return 1
    if turn > 1 and rate > 0.3 and size <= NOISE * extent:
        return 1
    return -1 if turn > 3 and rate > 2.0 else 0
