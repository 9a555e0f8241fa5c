"""Blocks eliminated and solved by loops over index tables: L D Lᵀ with blocks of up to six.

Every block has room for six by six numbers; `sizes` says how many rows of it are used. Pivots of
rows get ρ = ε s, s being how far the row moves its bodies under a unit force: a row that others
determine already asks nothing, and makes its bodies 1/ε stiffer than they are, no more. What ρ
takes away is given back by refinement.

Public names: eliminate, solve_blocks, EPSILON.

Source: docs/theory/closures.md, the proximal view of (solve-1).
"""

from __future__ import annotations

from .loops import at, i64, iptr, loop, ptr

EPSILON = 1e-8
"""ρ relative to its row: half of the digits, since bodies and rows are eliminated in turn, and a
stiffened body is next to the others."""


@loop
def invert(n: i64, a: ptr) -> None:
    """The inverse of a definite matrix in its place (Gauss and Jordan; no pivoting is needed)."""
    for k in range(n):
        pivot = 1.0 / a[6 * k + k]
        a[6 * k + k] = 1.0
        for j in range(n):
            a[6 * k + j] = a[6 * k + j] * pivot
        for i in range(n):
            if i != k:
                factor = a[6 * i + k]
                a[6 * i + k] = 0.0
                for j in range(n):
                    a[6 * i + j] = a[6 * i + j] - factor * a[6 * k + j]


@loop
def scaled_rows(rows: i64, n: i64, block: ptr, inverse: ptr, kept: ptr) -> None:
    """L = K D⁻¹ in the place of K, which is kept."""
    for i in range(rows):
        for j in range(n):
            kept[6 * i + j] = block[6 * i + j]
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += kept[6 * i + k] * inverse[6 * k + j]
            block[6 * i + j] = total


@loop
def take_off(rows: i64, columns: i64, n: i64, left: ptr, right: ptr, target: ptr) -> None:
    """target −= L Kᵀ."""
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(n):
                total += left[6 * i + k] * right[6 * j + k]
            target[6 * i + j] -= total


@loop
def eliminate(
    count: i64, pivots: iptr, edges: iptr, targets: iptr, sizes: iptr,
    diagonal: ptr, blocks: ptr, scale: ptr, kept: ptr,
) -> None:  # fmt: skip
    """All pivots in turn: diagonal blocks become inverses, the others L."""
    for s in range(count):
        k = pivots[4 * s]
        first = pivots[4 * s + 1]
        n = sizes[k]
        D = at(diagonal, 36 * k)
        for i in range(n):
            D[7 * i] -= EPSILON * scale[6 * k + i]
        invert(n, D)
        degree = pivots[4 * s + 2] - first
        target = pivots[4 * s + 3]
        for b in range(degree):
            later = edges[2 * (first + b)]
            L = at(blocks, 36 * edges[2 * (first + b) + 1])
            scaled_rows(sizes[later], n, L, D, at(kept, 36 * b))
            for a in range(b):
                sooner = edges[2 * (first + a)]
                block = at(blocks, 36 * targets[target])
                take_off(sizes[later], sizes[sooner], n, L, at(kept, 36 * a), block)
                target += 1
            take_off(sizes[later], sizes[later], n, L, at(kept, 36 * b), at(diagonal, 36 * later))


@loop
def solve_blocks(
    count: i64, pivots: iptr, edges: iptr, sizes: iptr, diagonal: ptr, blocks: ptr, space: ptr,
    x: ptr,
) -> None:  # fmt: skip
    """x of a right-hand side, in its place."""
    for s in range(count):
        k = pivots[4 * s]
        for e in range(pivots[4 * s + 1], pivots[4 * s + 2]):
            later = edges[2 * e]
            L = at(blocks, 36 * edges[2 * e + 1])
            for i in range(sizes[later]):
                for j in range(sizes[k]):
                    x[6 * later + i] -= L[6 * i + j] * x[6 * k + j]
    for r in range(count):
        s = count - 1 - r
        k = pivots[4 * s]
        n = sizes[k]
        own = at(x, 6 * k)
        multiply(n, at(diagonal, 36 * k), own, space)
        for e in range(pivots[4 * s + 1], pivots[4 * s + 2]):
            later = edges[2 * e]
            L = at(blocks, 36 * edges[2 * e + 1])
            for i in range(sizes[later]):
                for j in range(n):
                    own[j] -= L[6 * i + j] * x[6 * later + i]


@loop
def multiply(n: i64, D: ptr, x: ptr, space: ptr) -> None:
    """x = D x."""
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += D[6 * i + j] * x[j]
        space[i] = total
    for i in range(n):
        x[i] = space[i]
