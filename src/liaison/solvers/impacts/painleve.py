"""Painlevé's configurations: whether slipping contacts have no motion, one, or several.

Where contacts slip in known directions, friction follows from loads, and only these are unknown:

    u̇_n = A_μ f_n + b,   0 ≤ f_n ⟂ u̇_n ≥ 0,   A_μ = A_nn − A_nt μ s/|s|            (painleve-1)

A_μ is not symmetric. Where friction makes it no P-matrix there may be no solution, or several: a
rod that slides with its tip ahead. Contacts are few, so every choice of closed ones is tried.

Public names: MOST, count_solutions, counting_area.

Source: CPS92 §3.3 (P-matrices and uniqueness); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.solvers.linear.pivoting import factorize, solve_factorized

MOST = 10
"""Contacts at most whose choices are tried, and motions at most that are distinguished."""

TINY = 1e-11
"""Part of the largest acceleration or force that is rounding."""

SINGULAR = 1e-12
"""A pivot below this part of the largest entry: these contacts do not determine their loads."""


def counting_area(k: int) -> int:
    """Doubles that `count_solutions` works in."""
    return k * k + (MOST + 4) * k


@loop
def loads_of(k: i64, is_closed: ptr, A: ptr, b: ptr, f: ptr, area: ptr) -> i64:
    """f with u̇ = 0 where closed and f = 0 elsewhere; 1 if the equations determine it, else 0."""
    order = at(area, k * k)
    right = at(order, k)
    n = 0
    for i in range(k):
        n += int(is_closed[i])
    row = 0
    size = 0.0
    for i in range(k):
        column = 0
        if is_closed[i] == 1.0:
            right[row] = -b[i]
            for j in range(k):
                if is_closed[j] == 1.0:
                    area[row * n + column] = A[i * k + j]
                    size = max(size, abs(A[i * k + j]))
                    column += 1
            row += 1
    if factorize(n, area, order) != 0:
        return 0
    for i in range(n):
        if not (abs(area[i * n + i]) > SINGULAR * size):
            return 0
    solve_factorized(n, area, order, right)
    row = 0
    for i in range(k):
        f[i] = right[row] if is_closed[i] == 1.0 else 0.0
        row += int(is_closed[i])
    return 1


@loop
def is_solution(k: i64, A: ptr, b: ptr, f: ptr, u: ptr) -> i64:
    """1 if f ≥ 0 and u̇ = A_μ f + b ≥ 0, which is left in u."""
    size = 0.0
    press = 0.0
    for i in range(k):
        u[i] = b[i]
        size = max(size, abs(b[i]))
        press = max(press, abs(f[i]))
        for j in range(k):
            u[i] += A[i * k + j] * f[j]
            size = max(size, abs(A[i * k + j] * f[j]))
    for i in range(k):
        if f[i] < -TINY * press or u[i] < -TINY * size:
            return 0
    return 1


@loop
def is_new(k: i64, count: i64, u: ptr, solutions: ptr, size: f64) -> i64:
    """1 if u̇ is none of the motions known."""
    for s in range(count):
        apart = 0.0
        for i in range(k):
            apart = max(apart, abs(u[i] - solutions[s * k + i]))
        if apart <= 1e-8 * size:
            return 0
    return 1


@loop
def next_choice(k: i64, is_closed: ptr) -> i64:
    """The next set of closed contacts, as binary numbers are counted; 0 after the last."""
    for i in range(k):
        if is_closed[i] == 0.0:
            is_closed[i] = 1.0
            return 1
        is_closed[i] = 0.0
    return 0


@loop
def count_solutions(k: i64, A_mu: ptr, b: ptr, f: ptr, area: ptr) -> i64:
    """How many motions (painleve-1) has, of up to MOST that are distinguished.

    Loads may differ in the same motion, as under a table with four legs: that is one.

    Args:
        k: contacts, up to MOST.
        A_mu: k × k, row-major; kept.
        b: accelerations without loads; kept.
        f: result: loads of the first solution found; 0 if none.
        area: `counting_area(k)` doubles.

    Returns:
        0: no solution. 1: one motion. More: as many. −1: more contacts than are tried.
    """
    if k > MOST:
        return -1
    trial = at(area, k * k + 2 * k)
    is_closed = at(trial, k)
    solutions = at(is_closed, k)
    size = 1e-300
    for i in range(k):
        is_closed[i] = 0.0
        f[i] = 0.0
        size = max(size, abs(b[i]))
    count = 0
    more = 1
    while more == 1 and count < MOST:
        if loads_of(k, is_closed, A_mu, b, trial, area) == 1:
            u = at(solutions, count * k)
            if is_solution(k, A_mu, b, trial, u) == 1 and is_new(k, count, u, solutions, size) == 1:
                if count == 0:
                    for i in range(k):
                        f[i] = trial[i]
                count += 1
        more = next_choice(k, is_closed)
    return count
