"""How contacts that repeat each other share what they carry: forces nearest zero, none that pulls.

A box on four corners has many forces that keep it at rest. The ones nearest zero are taken; where a
load among them is negative, its row is left out with the friction under it, the lowest first, as
long as the others keep what it keeps. Where they do not, the load is what ends the mode.

Public names: share.

Source: LH74 ch. 23 (least squares with nonnegative unknowns); docs/theory/one_sided.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.steps.sides_layout import FRICTION, Sides
from liaison.solvers.linear.dense import largest
from liaison.solvers.linear.pivoting import factorize, solve_factorized

PROXIMAL, ROUNDS = 1e-9, 4
"""What is added to the diagonal of a system scaled to 1, and how often it is taken out again."""

PULLS, KEPT = 1e-9, 1e-9
"""Part of the largest force that a load may pull, and of the accelerations that a row may miss."""


@loop
def share(sides: Sides) -> i64:
    """Forces of the active rows, behind the right-hand side; 0, or 1 where there are none."""
    m = sides.active
    x = sides.right[m:]
    takes = at(x, 3 * m)
    first = at(takes, m)
    for a in range(m):
        takes[a] = 1.0
    if nearest_zero(sides) != 0:
        return 1
    for a in range(m):
        first[a] = x[a]
    for _ in range(m):
        a = lowest_load(sides, m, x)
        if a < 0:
            break
        leave_out(sides, m, a, takes)
        nearest_zero(sides)
        if misses(m, sides.matrix, sides.right, x) > KEPT:
            # a mode ends there, and is seen to end by forces that go smoothly through zero
            for d in range(m):
                x[d] = first[d]
            break
    return 0


@loop
def lowest_load(sides: Sides, m: i64, x: ptr) -> i64:
    """The active row of a gap or a rate that pulls most; −1 if none does."""
    found = -1
    low = -PULLS * largest(m, x)
    for a in range(m):
        b = sides.block_of[sides.listed[a]]
        if sides.blocks[b].kind != FRICTION and x[a] < low:
            low = x[a]
            found = a
    return found


@loop
def leave_out(sides: Sides, m: i64, a: i64, takes: ptr) -> None:
    """A row without force, and the friction under it, which has no load."""
    load = sides.block_of[sides.listed[a]]
    for d in range(m):
        block = sides.blocks[sides.block_of[sides.listed[d]]]
        is_under = 1 if block.kind == FRICTION and block.load == load else 0
        if d == a or is_under == 1:
            takes[d] = 0.0


@loop
def misses(m: i64, A: ptr, right: ptr, x: ptr) -> f64:
    """The largest part of a right-hand side that forces leave, beside what they do."""
    worst = 0.0
    size = 1e-300
    for i in range(m):
        rest = right[i]
        size = max(size, abs(right[i]))
        for j in range(m):
            rest -= A[i * m + j] * x[j]
            size = max(size, abs(A[i * m + j] * x[j]))
        worst = max(worst, abs(rest))
    return worst / size


@loop
def nearest_zero(sides: Sides) -> i64:
    """x with A x = right, nearest zero where there are many; 0 of rows that take no force."""
    m = sides.active
    A = sides.matrix
    factor = at(A, m * m)
    right = sides.right
    x = at(right, m)
    scale = at(x, m)
    rest = at(scale, m)
    takes = at(rest, m)
    order = sides.pivots
    for i in range(m):
        size = abs(A[i * m + i]) * takes[i]
        scale[i] = 1.0 / sqrt(size) if size > 0.0 else 0.0
        x[i] = 0.0
    for i in range(m):
        for j in range(m):
            factor[i * m + j] = A[i * m + j] * scale[i] * scale[j]
        factor[i * m + i] += PROXIMAL if scale[i] > 0.0 else 1.0
    if factorize(m, factor, order) != 0:
        return 1
    for _ in range(ROUNDS):
        for i in range(m):
            rest[i] = right[i]
            for j in range(m):
                rest[i] -= A[i * m + j] * x[j]
            rest[i] = rest[i] * scale[i]
        solve_factorized(m, factor, order, rest)
        for i in range(m):
            x[i] += rest[i] * scale[i]
    return 0
