"""The part of rates that forces can change: what contacts of one body ask for together.

Rates of many contacts of one rigid body, taken on over a step, differ by the square of the step
from those of any rigid motion. No forces meet all of them, and a solver would look for slips of
1e-10 among rows that depend on each other. Of such rates x only A (A + δ)⁻¹ x is asked for,

    x − δ c,   (A + δ) c = x,   δ = 1e-10 of the diagonal                              (reachable-1)

which is x itself where rows do not depend on each other: then nothing is done.

Public names: reachable_part, reachable_area. Source: GVL13 §6.1.4 (ridge regression).
"""

from __future__ import annotations

from liaison.program.loops.language import at, i64, loop, ptr
from liaison.solvers.linear.dense import backward_solve, cholesky, forward_solve

RIDGE = 1e-10
"""δ beside the diagonal."""

DEPENDENT = 1e-7
"""A row of which those before it leave less than this part depends on them."""


def reachable_area(m: int) -> int:
    """Numbers that `reachable_part` works in."""
    return m * m + m


@loop
def reachable_part(m: i64, A: ptr, x: ptr, area: ptr) -> None:
    """x := its part that forces change, for a mobility A of m rows; x where all are independent."""
    if m < 2 or is_nothing(m, x) == 1:
        return
    L = area
    c = at(area, m * m)
    for i in range(m * m):
        L[i] = A[i]
    for i in range(m):
        # a row that nothing moves has a diagonal of 0
        L[i * m + i] += RIDGE * A[i * m + i] + 1e-280
    if cholesky(m, L) != 0 or has_dependent_row(m, A, L) == 0:
        return
    for _ in range(2):  # the second time with what rounding left
        for i in range(m):
            c[i] = x[i]
        forward_solve(m, L, c)
        backward_solve(m, L, c)
        for i in range(m):
            x[i] -= RIDGE * A[i * m + i] * c[i]


@loop
def is_nothing(m: i64, x: ptr) -> i64:
    """1 if all numbers are 0."""
    for i in range(m):
        if x[i] != 0.0:
            return 0
    return 1


@loop
def has_dependent_row(m: i64, A: ptr, L: ptr) -> i64:
    """1 if a row depends on those before it."""
    for i in range(m):
        left = L[i * m + i] * L[i * m + i]
        if left < DEPENDENT * A[i * m + i]:
            return 1
    return 0
