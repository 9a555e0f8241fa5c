"""What a sum and a product lose by rounding, exactly, without a fused multiply-add.

Source: KNU97, section 4.2.2, for the sum; DEK71 for the product, by halves of 26 bits.

Public names: sum_error, product_error.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, loop

SPLIT = 134217729.0  # 2²⁷ + 1: a factor that cuts a double in two


@loop
def sum_error(a: f64, b: f64, s: f64) -> f64:
    """a + b − s, where s is a + b rounded."""
    t = s - a
    return (a - (s - t)) + (b - t)


@loop
def product_error(a: f64, b: f64, p: f64) -> f64:
    """a b − p, where p is a b rounded; |a|, |b| below 2⁹⁹⁰ and |p| above 2⁻⁹⁶⁰."""
    c = SPLIT * a
    d = SPLIT * b
    a1 = c - (c - a)
    b1 = d - (d - b)
    a2 = a - a1
    b2 = b - b1
    return a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)
