"""Choices that processors make differently: where a number is NaN, or two zeros are equal.

Public names: fmin, fmax, whole.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop

LIMIT = 2.0**63
LARGEST, LEAST = 2**63 - 1, -(2**63)


@loop
def fmin(x: f64, y: f64) -> f64:
    """The smaller number, the first of equal ones; the other one where one is NaN."""
    return y if y < x or x != x else x


@loop
def fmax(x: f64, y: f64) -> f64:
    """The larger number, the first of equal ones; the other one where one is NaN."""
    return y if y > x or x != x else x


@loop
def whole(x: f64) -> i64:
    """x without its fraction; the nearest integer of 64 bits beyond them, and 0 of NaN."""
    if x >= LIMIT:
        return LARGEST
    if x < -LIMIT:
        return LEAST
    return 0 if x != x else int(x)
