"""The shortest least-squares solution of A x = b, whatever the rank of A, as loops.

    A = U S Vᵀ,   x = Σ v_i (u_i · b) / s_i   over the singular values s_i > RANK max s    (norm-1)

by Jacobi's rotations on one side: the rows of A, or its columns where they are fewer, are rotated
in pairs until all are orthogonal. Their lengths are then the singular values, small ones as
accurate as large ones.

Public names: RANK, least_norm, least_norm_area.

Source: GVL13 §8.6.3 (one-sided Jacobi), §5.5.1 (least squares by singular values).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .dense import dot

RANK = 1e-9
"""Singular values under this share of the largest are taken as zero: a near-singular start moves a
little instead of far."""

SWEEPS = 40
"""Rounds over all pairs at most; six to ten are usual."""

ORTHOGONAL = 1e-15
"""Cosine of two vectors that count as orthogonal."""

NOTHING = 1e-34
"""Part of the longest vector's square below which one is zero."""


@loop
def turn(n: i64, c: f64, s: f64, x: ptr, y: ptr) -> None:
    """(x, y) := (c x − s y, s x + c y)."""
    for i in range(n):
        kept = x[i]
        x[i] = c * kept - s * y[i]
        y[i] = s * kept + c * y[i]


@loop
def rotate_pair(k: i64, n: i64, b: ptr, w: ptr, i: i64, j: i64, floor: f64) -> i64:
    """Makes vectors i and j of `b` orthogonal, `w` turned alike; 0 where they are already."""
    x = at(b, i * n)
    y = at(b, j * n)
    xx = dot(n, x, x)
    yy = dot(n, y, y)
    xy = dot(n, x, y)
    if xx <= floor or yy <= floor or not (abs(xy) > ORTHOGONAL * sqrt(xx * yy)):
        return 0
    zeta = (yy - xx) / (2.0 * xy)
    tangent = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        tangent = -tangent
    c = 1.0 / sqrt(1.0 + tangent * tangent)
    turn(n, c, c * tangent, x, y)
    turn(k, c, c * tangent, at(w, i * k), at(w, j * k))
    return 1


@loop
def orthogonalize(k: i64, n: i64, b: ptr, w: ptr) -> f64:
    """k vectors of length n rotated until orthogonal, W := W B; the longest one's square."""
    floor = 0.0
    for i in range(k):
        floor = max(floor, NOTHING * dot(n, at(b, i * n), at(b, i * n)))
        for j in range(k):
            w[i * k + j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        turned = 0
        for i in range(k):
            for j in range(i + 1, k):
                turned += rotate_pair(k, n, b, w, i, j, floor)
        if turned == 0:
            break
    longest = 0.0
    for i in range(k):
        longest = max(longest, dot(n, at(b, i * n), at(b, i * n)))
    return longest


@loop
def least_norm(m: i64, n: i64, a: ptr, b: ptr, x: ptr, rank: f64, area: ptr) -> i64:
    """x of (norm-1) for A (m rows of length n, kept) and b; returns how many s_i it uses.

    Args:
        m: rows.
        n: columns.
        a: A, row by row.
        b: right-hand side, m.
        x: result, n.
        rank: share of the largest singular value up to which one is zero.
        area: `least_norm_area(m, n)` doubles.
    """
    by_rows = 1 if m <= n else 0
    k = m if by_rows == 1 else n
    length = n if by_rows == 1 else m
    vectors = area
    w = at(area, m * n)
    for i in range(m):
        for j in range(n):
            place = i * n + j if by_rows == 1 else j * m + i
            vectors[place] = a[i * n + j]
    longest = orthogonalize(k, length, vectors, w)
    for j in range(n):
        x[j] = 0.0
    used = 0
    for i in range(k):
        vector = at(vectors, i * length)
        weights = at(w, i * k)
        square = dot(length, vector, vector)
        if square > rank * rank * longest:
            used += 1
            part = dot(m, weights, b) if by_rows == 1 else dot(m, vector, b)
            for j in range(n):
                x[j] += (vector[j] if by_rows == 1 else weights[j]) * (part / square)
    return used


def least_norm_area(m: int, n: int) -> int:
    """Doubles that `least_norm` works in."""
    return m * n + min(m, n) ** 2
