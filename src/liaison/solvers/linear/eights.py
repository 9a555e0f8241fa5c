"""Dense linear algebra on eight numbers at a time, which compiled code does on vectors.

A sum over the rows of a matrix waits for each term before it takes the next. Eight sums side by
side take no longer than one, and each has its terms in the same order: results have the bits of
sums that are made one by one. Vectors side by side lie in panels, eight numbers to a row:

    number i of vector 8 p + l is  panel[8 (n p + i) + l],   vectors beyond the last are 0

`room` of a loop holds eight numbers.

Public names: panels, panel_numbers, pack, unpack, solve_panels, take_out, products,
cholesky_of_columns, minus_eights.

Source: GVL13 §1.5.4 (vector lengths), §3.1.1 (triangular systems).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr

from .dense import dot


@loop
def panels(m: i64) -> i64:
    """How many panels m vectors fill."""
    return (m + 7) // 8


@loop
def panel_numbers(m: i64, n: i64) -> i64:
    """Numbers of m vectors of length n in panels."""
    return 8 * n * ((m + 7) // 8)


@loop
def pack(c: i64, n: i64, x: ptr, B: ptr) -> None:
    """The c-th vector into its panel; the first of a panel clears it."""
    panel = at(B, 8 * n * (c // 8))
    if c % 8 == 0:
        for i in range(8 * n):
            panel[i] = 0.0
    to = at(panel, c % 8)
    for i in range(n):
        to[8 * i] = x[i]


@loop
def unpack(c: i64, n: i64, B: ptr, x: ptr) -> None:
    """The c-th vector out of its panel."""
    panel = at(B, 8 * n * (c // 8) + c % 8)
    for i in range(n):
        x[i] = panel[8 * i]


@loop
def solve_panels(n: i64, count: i64, L: ptr, inverse: ptr, B: ptr, room: ptr) -> None:
    """B := L⁻¹B, with the inverses of the diagonal of L (row-major, lower triangle)."""
    for p in range(count):
        panel = at(B, 8 * n * p)
        for i in range(n):
            sums_of_eight(i, 1, at(L, i * n), 8, panel, room)
            minus_eight(1.0, room, at(panel, 8 * i))
            for k in range(8):
                panel[8 * i + k] = panel[8 * i + k] * inverse[i]


@loop
def take_out(n: i64, count: i64, q: ptr, B: ptr, room: ptr) -> None:
    """Takes from all vectors their part along the unit vector q."""
    for p in range(count):
        panel = at(B, 8 * n * p)
        sums_of_eight(n, 1, q, 8, panel, room)
        for i in range(n):
            minus_eight(q[i], room, at(panel, 8 * i))


@loop
def products(m: i64, n: i64, B: ptr, A: ptr, room: ptr) -> None:
    """A = BᵀB of m vectors of length n, row-major."""
    for j in range(m):
        one = at(B, 8 * n * (j // 8) + j % 8)
        for p in range(j // 8, panels(m)):
            first = 8 * p
            sums_of_eight(n, 8, one, 8, at(B, first * n), room)
            for i in range(max(first, j), min(first + 8, m)):
                A[j * m + i] = room[i - first]
                A[i * m + j] = room[i - first]


@loop
def sums_of_eight(n: i64, stride: i64, x: ptr, wide: i64, y: ptr, out: ptr) -> None:
    """Σ_k x_k y_k of eight columns side by side: x each `stride` numbers, y each `wide` ones."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    e = 0.0
    f = 0.0
    g = 0.0
    h = 0.0
    for k in range(n):
        s = x[stride * k]
        z = at(y, wide * k)
        a += s * z[0]
        b += s * z[1]
        c += s * z[2]
        d += s * z[3]
        e += s * z[4]
        f += s * z[5]
        g += s * z[6]
        h += s * z[7]
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = e
    out[5] = f
    out[6] = g
    out[7] = h


@loop
def sums_of_four(n: i64, x: ptr, wide: i64, y: ptr, out: ptr) -> None:
    """The same of four columns."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for k in range(n):
        s = x[k]
        z = at(y, wide * k)
        a += s * z[0]
        b += s * z[1]
        c += s * z[2]
        d += s * z[3]
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d


@loop
def cholesky_of_columns(n: i64, a: ptr) -> i64:
    """A = L Lᵀ as by `cholesky`, to the same bits; above the diagonal is Lᵀ."""
    for j in range(n):
        row = at(a, j * n)
        d = row[j]
        rest = d - dot(j, row, row)
        if not (rest > 1e-14 * abs(d)):
            return j + 1
        pivot = sqrt(rest)
        row[j] = pivot
        column_sums(n, j, row, a)
        for i in range(j + 1, n):
            x = (a[i * n + j] - row[i]) / pivot
            a[i * n + j] = x
            row[i] = x
    return 0


@loop
def column_sums(n: i64, j: i64, row: ptr, a: ptr) -> None:
    """Σ_k L_ik L_jk, k < j, for all i > j, into what is above the diagonal of row j."""
    i = j + 1
    while i + 8 <= n:
        sums_of_eight(j, 1, row, n, at(a, i), at(row, i))
        i += 8
    while i + 4 <= n:
        sums_of_four(j, row, n, at(a, i), at(row, i))
        i += 4
    while i < n:
        row[i] = dot(j, at(a, i * n), row)
        i += 1


@loop
def minus_eights(n: i64, c: f64, x: ptr, y: ptr) -> None:
    """y := y − c x."""
    i = 0
    while i + 8 <= n:
        minus_eight(c, at(x, i), at(y, i))
        i += 8
    while i < n:
        y[i] -= c * x[i]
        i += 1


@loop
def minus_eight(s: f64, x: ptr, y: ptr) -> None:
    """The same of eight numbers, all read before one is written."""
    a = y[0] - s * x[0]
    b = y[1] - s * x[1]
    c = y[2] - s * x[2]
    d = y[3] - s * x[3]
    e = y[4] - s * x[4]
    f = y[5] - s * x[5]
    g = y[6] - s * x[6]
    h = y[7] - s * x[7]
    y[0] = a
    y[1] = b
    y[2] = c
    y[3] = d
    y[4] = e
    y[5] = f
    y[6] = g
    y[7] = h
