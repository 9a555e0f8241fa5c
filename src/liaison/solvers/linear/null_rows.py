"""Rows of a sparse matrix that depend on others: null vectors of Gᵀ by an envelope of G Gᵀ.

With the rows of G scaled to length 1 and A = G Gᵀ = L D Lᵀ row by row, in the order of an envelope,

    n = L⁻ᵀ e_i,      d_i = nᵀ A n = |Gᵀ n|²                                      (null-1)

Where d_i is small it is computed from G itself, which knows it to the square of rounding; row i
depends on rows before it if |Gᵀ n| is rounding, and n says how. Rows that depend take part in no
later one, so that n is 1 at its own row, 0 at the others that depend, and local where the
dependence is.

Public names: put_products, null_rows, put_null_vectors, negative_pivots, CANDIDATE.

Source: GVL13 §4.1.2, §4.3 (L D Lᵀ, envelopes), §8.5.2 (Sylvester: signs of pivots).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

CANDIDATE = 1e-8
"""Part of a row's square, below which its pivot is looked at again: the root of rounding."""

GONE = 1e-14
"""Part of the largest number of a null vector below which one is rounding."""


@loop
def put_products(
    nv: i64, nc: i64, begins: iptr, members: iptr, rows: iptr, order: iptr, start: iptr,
    first: iptr, values: ptr, matrix: ptr,
) -> None:  # fmt: skip
    """A = G Gᵀ in its envelope, column by column of G: of column j `members` of `begins` j on."""
    for i in range(nc):
        for j in range(first[i], i + 1):
            matrix[start[i] + j] = 0.0
    for j in range(nv):
        for a in range(begins[j], begins[j + 1]):
            one = members[a]
            for b in range(begins[j], a + 1):
                other = members[b]
                k = order[rows[one]]
                l = order[rows[other]]
                matrix[start[max(k, l)] + min(k, l)] += values[one] * values[other]


@loop
def put_image(
    nv: i64, last: i64, lowest: i64, begins: iptr, columns: iptr, at_row: iptr, values: ptr, n: ptr,
    image: ptr,
) -> f64:  # fmt: skip
    """|Gᵀ n|² of a vector whose numbers lie from `lowest` to `last`."""
    for j in range(nv):
        image[j] = 0.0
    for i in range(lowest, last + 1):
        if n[i] != 0.0:
            k = at_row[i]
            for e in range(begins[k], begins[k + 1]):
                image[columns[e]] += n[i] * values[e]
    total = 0.0
    for j in range(nv):
        total += image[j] * image[j]
    return total


@loop
def put_null(i: i64, first: iptr, start: iptr, factors: ptr, is_loose: iptr, n: ptr) -> i64:
    """n = L⁻ᵀ e_i; returns where its first number is."""
    for j in range(i):
        n[j] = 0.0
    n[i] = 1.0
    largest = 1.0
    lowest = first[i]
    k = i
    while k >= lowest:
        if abs(n[k]) <= GONE * largest:
            n[k] = 0.0
        if n[k] != 0.0:
            largest = max(largest, abs(n[k]))
            lowest = min(lowest, first[k])
            row = at(factors, start[k] + first[k])
            for j in range(first[k], k):
                if is_loose[j] == 0:
                    n[j] -= row[j - first[k]] * n[k]
        k -= 1
    return int(lowest)


@loop
def reduce_row(
    i: i64, first: iptr, start: iptr, matrix: ptr, factors: ptr, pivots: ptr, is_loose: iptr
) -> f64:
    """Row i of L, 0 at rows that depend; returns what is left of its diagonal."""
    begin = first[i]
    row = at(factors, start[i] + begin)
    own = at(matrix, start[i])
    for j in range(begin, i):
        total = own[j]
        low = max(begin, first[j])
        other = at(factors, start[j] + low)
        mine = at(row, low - begin)
        for k in range(j - low):
            total -= mine[k] * other[k]
        row[j - begin] = 0.0 if is_loose[j] > 0 else total
    pivot = own[i]
    for j in range(begin, i):
        scaled = row[j - begin] / pivots[j]
        pivot -= scaled * row[j - begin]
        row[j - begin] = scaled
    return float(pivot)


@loop
def null_rows(
    nv: i64, nc: i64, rank: f64, begins: iptr, columns: iptr, at_row: iptr, first: iptr,
    start: iptr, values: ptr, matrix: ptr, factors: ptr, pivots: ptr, is_loose: iptr, n: ptr,
    image: ptr,
) -> i64:  # fmt: skip
    """Marks rows that depend on those before them, in the envelope's order; returns how many.

    A row depends where |Gᵀ n| is at most `rank` times |n|, `rank` below the root of CANDIDATE.
    `at_row` is the row of G of each row of the envelope.
    """
    count = 0
    for i in range(nc):
        is_loose[i] = 0
        pivots[i] = reduce_row(i, first, start, matrix, factors, pivots, is_loose)
        if not (pivots[i] > CANDIDATE * matrix[start[i] + i]):
            lowest = put_null(i, first, start, factors, is_loose, n)
            pivots[i] = put_image(nv, i, lowest, begins, columns, at_row, values, n, image)
            square = 0.0
            for j in range(lowest, i + 1):
                square += n[j] * n[j]
            if not (sqrt(pivots[i]) > rank * sqrt(square)):
                is_loose[i] = 1
                pivots[i] = 1.0
                count += 1
    return count


@loop
def put_null_vectors(
    nc: i64, begin: i64, end: i64, first: iptr, start: iptr, factors: ptr, is_loose: iptr,
    at_row: iptr, n: ptr, out: ptr,
) -> None:  # fmt: skip
    """Null vectors of rows that depend, those from the `begin`-th to the `end`-th, by rows of G."""
    seen = 0
    for i in range(nc):
        if is_loose[i] > 0:
            if seen >= begin and seen < end:
                lowest = put_null(i, first, start, factors, is_loose, n)
                own = at(out, (seen - begin) * nc)
                for j in range(lowest, i + 1):
                    own[at_row[j]] = n[j]
            seen += 1


@loop
def negative_pivots(
    nc: i64, shift: f64, first: iptr, start: iptr, matrix: ptr, factors: ptr, pivots: ptr,
    is_loose: iptr,
) -> i64:  # fmt: skip
    """How many eigenvalues of A are below a shift: as many as A − shift has negative pivots."""
    count = 0
    for i in range(nc):
        is_loose[i] = 0
    for i in range(nc):
        pivot = reduce_row(i, first, start, matrix, factors, pivots, is_loose) - shift
        pivots[i] = pivot if pivot != 0.0 else -1e-300
        if not (pivot > 0.0):
            count += 1
    return count
