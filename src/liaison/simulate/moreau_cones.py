"""Gauss and Seidel on cones of friction (until `cones` serves)."""

from __future__ import annotations

from math import sqrt

from liaison.program.loops import at, f64, i64, iptr, loop, ptr

from .dense import dot

ONE_WAY, DISC, HELD = 0, 1, 2


@loop
def solve_cones(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: iptr, limits: ptr, f: ptr, area: ptr
) -> f64:
    """Forces by projected sweeps."""
    change = 0.0
    for _ in range(20000):
        change = 0.0
        for k in range(nb):
            first = blocks[4 * k + 1]
            rows = blocks[4 * k + 2]
            trace = 1e-300
            for i in range(first, first + rows):
                trace = max(trace, A[i * m + i])
            length = 0.0
            for i in range(first, first + rows):
                area[i] = f[i] - (b[i] + dot(m, at(A, i * m), f)) / trace
                length += area[i] * area[i]
            if blocks[4 * k] == 0:
                area[first] = max(area[first], 0.0)
            elif blocks[4 * k] == 1:
                bound = limits[3 * k + 2]
                if blocks[4 * k + 3] >= 0:
                    bound += limits[3 * k] * f[blocks[4 * blocks[4 * k + 3] + 1]]
                length = sqrt(length)
                if length > bound:
                    for i in range(first, first + rows):
                        area[i] = area[i] * bound / length
            for i in range(first, first + rows):
                change = max(change, abs(area[i] - f[i]) * trace)
                f[i] = area[i]
        if change < 1e-16:
            break
    return change


def cone_area(m: int, nb: int) -> int:
    """Doubles."""
    return m
