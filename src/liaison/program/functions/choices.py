"""Choices that processors make differently: where a number is NaN, or two zeros are equal.

Public names: fmin, fmax.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, loop


@loop
def fmin(x: f64, y: f64) -> f64:
    """The smaller number, the first of equal ones; the other one where one is NaN."""
    return y if y < x or x != x else x


@loop
def fmax(x: f64, y: f64) -> f64:
    """The larger number, the first of equal ones; the other one where one is NaN."""
    return y if y > x or x != x else x
