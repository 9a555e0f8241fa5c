"""A linear system with coefficients at the instants of a run, followed by compiled steps.

    ẏ = A(t) y + b(t),   k₁ … k₄ at the beginning, twice in the middle and at the end   (linear-1)

Runge and Kutta's steps of order 4 over an even number of intervals each, on a matrix y: one column
for each parameter.

Public names: follow_linear, linear_steps.

Source: HNW1 §II.1 (table 1.2).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from liaison.numeric import Array
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, i64, loop, ptr


@loop
def rate(m: i64, p: i64, A: ptr, b: ptr, y: ptr, out: ptr) -> None:
    """out = A y + b, matrices row by row."""
    for i in range(m):
        for c in range(p):
            out[i * p + c] = b[i * p + c]
        for j in range(m):
            a = A[i * m + j]
            if a != 0.0:
                for c in range(p):
                    out[i * p + c] += a * y[j * p + c]


@loop
def linear_steps(
    instants: i64, stride: i64, m: i64, p: i64, t: ptr, A: ptr, b: ptr, found: ptr, area: ptr
) -> None:
    """All steps, from the first block of `found` on.

    A step is twice `stride` intervals; `area` has room for three blocks of m p.
    """
    size = m * p
    slope = area
    y = at(area, size)
    total = at(area, 2 * size)
    for step in range((instants - 1) // (2 * stride)):
        k = 2 * stride * step
        h = t[k + 2 * stride] - t[k]
        here = at(found, step * size)
        for i in range(size):
            total[i] = 0.0
            y[i] = here[i]
        for stage in range(4):
            where = k + stride * ((stage + 1) // 2)
            rate(m, p, at(A, where * m * m), at(b, where * size), y, slope)
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            reach = h if stage == 2 else 0.5 * h
            for i in range(size):
                total[i] += weight * slope[i]
                y[i] = here[i] + reach * slope[i]
        for i in range(size):
            here[size + i] = here[i] + h / 6.0 * total[i]


@cache
def _compiled() -> CompiledLoops:
    return compile_loops([linear_steps])


def follow_linear(A: Array, b: Array, first: Array, t: Array, stride: int = 1) -> Array:
    """y at every second one of `stride` intervals, shape (steps + 1, m, p).

    Args:
        A: shape (instants, m, m).
        b: shape (instants, m, p).
        first: y at the start, shape (m, p).
        t: the instants; an even number of `stride` intervals.
        stride: intervals that are half a step.
    """
    m, p = first.shape
    found = np.zeros(((len(t) - 1) // (2 * stride) + 1, m, p))
    found[0] = first
    given = [np.ascontiguousarray(x, dtype=float) for x in (t, A, b)]
    area = np.zeros(max(1, 3 * m * p))
    _compiled()[linear_steps](len(t), stride, m, p, *given, found, area)
    return found
