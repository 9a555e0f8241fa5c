"""Blocks eliminated and solved by loops over index tables: L D Lᵀ with blocks of up to six.

Every block has room for six by six numbers; `sizes` says how many rows of it are used. Pivots of
rows get ρ = ε s, s being how far the row moves its bodies under a unit force: a row that others
determine already asks nothing, and makes its bodies 1/ε stiffer than they are, no more. What ρ
takes away is given back by refinement.

Public names: solved, eliminate, solve_blocks, EPSILON, ROUNDING.

Source: docs/theory/closures.md, the proximal view of (solve-1).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .block_assembly import lend_right, take_residual
from .block_layout import System, Work

EPSILON = 1e-8
"""ρ relative to its row: half of the digits, since bodies and rows are eliminated in turn, and a
stiffened body is next to the others."""

REFINEMENTS = 12
"""At most; each gives back what ρ took away, of short loops to about the eighth digit of what is
left, of chains of thousands of bodies to the first. It ends where corrections no longer halve."""

ROUNDING = 1e-15
"""A correction below this part of what is found changes nothing."""


@loop
def solved(system: System, seen: i64, enough: f64, work: Work) -> f64:
    """x of the right-hand sides; returns what rows miss, taken to shrink as corrections do.

    Refinement ends where the next correction of the first `seen` numbers, if it shrinks as much as
    the last, is no larger than `enough` times what is found; or where one does not halve.
    """
    eliminate(system, work)
    count = 6 * system.unknowns
    right_side = flat(work.right_side)
    x = flat(work.x)
    left = flat(work.left)
    for k in range(count):
        x[k] = 0.0
        left[k] = right_side[k]
    last = 0.0
    missed = 0.0
    for turn in range(1 + REFINEMENTS):
        if turn > 0:
            for k in range(count):
                left[k] = right_side[k]
            take_residual(system, work, x, left)
            missed = largest_of(6 * system.bodies, count, left)
        lend_right(system, work, left)
        solve_blocks(system, work, left)
        for k in range(count):
            x[k] += left[k]
        size = largest_of(0, seen, left)
        if turn > 0 and not (size < last / 2.0):
            break
        if turn > 0:
            missed = missed * (size / last)
        if turn > 0 and size * size <= enough * last * largest_of(0, seen, x):
            break
        last = size
    return missed


@loop
def largest_of(start: i64, end: i64, x: ptr) -> f64:
    """The largest |x|; NaN where one is not finite."""
    largest = 0.0
    bad = 0.0
    for k in range(start, end):
        bad += x[k] - x[k]
        if abs(x[k]) > largest:
            largest = abs(x[k])
    return largest + bad


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
def scaled_rows(rows: i64, n: i64, block: ptr, inverse: ptr, copy: ptr) -> None:
    """L = K D⁻¹ in the place of K, which is kept."""
    for i in range(rows):
        for j in range(n):
            copy[6 * i + j] = block[6 * i + j]
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += copy[6 * i + k] * inverse[6 * k + j]
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
def eliminate(system: System, work: Work) -> None:
    """All pivots in turn: diagonal blocks become inverses, the others L."""
    sizes = system.sizes
    edges = system.edges
    blocks = work.blocks
    diagonal = work.diagonal
    copies = work.space
    for s in range(system.n_pivots):
        pivot = system.pivots[s]
        k = pivot.unknown
        first = pivot.first
        n = sizes[k]
        D = diagonal[k]
        for i in range(n):
            D[7 * i] -= EPSILON * work.scale[k, i]
        invert(n, D)
        degree = pivot.end - first
        target = pivot.target
        for b in range(degree):
            later = edges[first + b].unknown
            L = blocks[edges[first + b].block]
            scaled_rows(sizes[later], n, L, D, copies[b])
            for a in range(b):
                sooner = edges[first + a].unknown
                block = blocks[system.targets[target]]
                take_off(sizes[later], sizes[sooner], n, L, copies[a], block)
                target += 1
            take_off(sizes[later], sizes[later], n, L, copies[b], diagonal[later])


@loop
def solve_blocks(system: System, work: Work, x: ptr) -> None:
    """x of a right-hand side, in its place; all six of each block, those not used being zero."""
    count = system.n_pivots
    edges = system.edges
    blocks = work.blocks
    for s in range(count):
        pivot = system.pivots[s]
        k = pivot.unknown
        for e in range(pivot.first, pivot.end):
            later = edges[e].unknown
            L = blocks[edges[e].block]
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += L[6 * i + j] * x[6 * k + j]
                x[6 * later + i] -= total
    for r in range(count):
        pivot = system.pivots[count - 1 - r]
        k = pivot.unknown
        own = x[6 * k :]
        multiply(work.diagonal[k], own, work.space[0])
        for e in range(pivot.first, pivot.end):
            later = edges[e].unknown
            L = blocks[edges[e].block]
            for i in range(6):
                for j in range(6):
                    own[j] -= L[6 * i + j] * x[6 * later + i]


@loop
def multiply(D: ptr, x: ptr, space: ptr) -> None:
    """x = D x."""
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += D[6 * i + j] * x[j]
        space[i] = total
    for i in range(6):
        x[i] = space[i]
