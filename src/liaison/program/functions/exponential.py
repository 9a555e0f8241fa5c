"""Exponential function, logarithm and powers.

exp x = 2ᵏ exp r with |r| ≤ ln 2 / 2, r in two parts, and a polynomial. log x = k ln 2 + log m with
√½ ≤ m < √2, by s = f/(2 + f), f = m − 1. A power is exp(y log x) with the logarithm and the product
in two parts each: log m there is that of the nearest knot i/32 and 2 artanh s, |s| ≤ 1/90, so that
its relative error, some 2⁻⁶⁶, times |y log x| ≤ 745 is far below one unit in the last place. Exact
powers come out exactly for that reason.

Source: CW80, chapters 4 to 6, for the reductions.
Differs: the polynomials are minimax fits (Remez exchange) of (exp r − 1 − r)/r² and of
(2 artanh s − 2 s)/s³ in s², errors 2⁻⁶¹, and 2⁻⁶⁷ between knots.

Public names: exp, log, pow.
"""

from __future__ import annotations

from math import inf, nan

from liaison.program.loops.language import bits, f64, floor, from_bits, i64, loop

from .rounding import product_error, sum_error

MAGIC = 1.5 * 2.0**52  # adding it rounds to a whole number, which is then in the low bits
MAGIC_BITS = 0x4338000000000000
NORMAL = 2.0**-1022
LIFT, LIFTED = 2.0**54, 54
ROOT_HALF = 0x3FE6A09E667F3BCD  # bits of √½
OVER, UNDER = 710.0, -746.0  # beyond, exp is ∞ or 0
LEAST = 2.0**-60
LOG2_E = 1.4426950408889634
LN2, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # 32 bits, and the rest
LONG_LN2, LONG_LN2_LOW = 0.6931471805598903, 5.497923018708371e-14  # a multiple of 2⁻⁴²
E = (
    0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326084, 0.0013888888888874216,
    0.00019841269875002973, 2.4801587347658613e-05, 2.7557255167825568e-06,
    2.75572526691669e-07, 2.5105313934866306e-08, 2.0921658346524137e-09,
)  # fmt: skip
L = (
    0.6666666666666666, 0.40000000000006286, 0.2857142856907256, 0.22222222648814424,
    0.1818177550319864, 0.15387097889356285, 0.13249956600996568, 0.1325280404492942,
)  # fmt: skip
NARROW = (0.6666666666666666, 0.4000000000002656, 0.28571427950399764, 0.22227945777710947)
FIRST_KNOT = 23
KNOTS = (
    -0.33024168687052224, -0.28768207245184385, -0.2468600779316148, -0.20763936477828793,
    -0.16989903679541385, -0.13353139262449076, -0.09844007281321865, -0.0645385211375924,
    -0.03174869831468641, 0.0, 0.03077165866670839, 0.06062462181648698, 0.08961215868976069,
    0.11778303565643, 0.14518200984457508, 0.17185025692674571, 0.19782574332998593,
    0.22314355131425145, 0.2478361639045943, 0.2719337154835557, 0.2954642128938758,
    0.31845373111855224, 0.34092658697068146,
)  # fmt: skip
"""log(i/32), multiples of 2⁻⁴²."""

KNOTS_LOW = (
    -5.4612144489920215e-14, 6.292357389008195e-14, 8.899851356560444e-14, 4.3425422595242564e-14,
    1.6376276414097503e-14, -3.1859736349078334e-14, -3.3871241029241416e-14,
    2.1225608044809997e-14, 1.0610652735224087e-13, 0.0, 4.529814257790929e-14,
    -5.213620639136504e-14, -7.355770219435029e-14, -4.654729747598445e-14,
    -7.718001336828099e-14, -8.649239607212071e-14, -6.604544877082384e-14,
    -4.169796584527195e-14, -1.3029797173308663e-14, 8.604306772808733e-14,
    -3.993416384387844e-14, -1.7625431312172662e-14, -8.82452633212564e-14,
)  # fmt: skip
"""What they leave."""


@loop
def two_to(k: i64) -> f64:
    """2ᵏ for −1022 ≤ k ≤ 1023."""
    return from_bits((k + 1023) << 52)


@loop
def exponential(x: f64, low: f64) -> f64:
    """exp(x + low) for UNDER ≤ x ≤ OVER."""
    shifted = x * LOG2_E + MAGIC
    n = shifted - MAGIC
    k = bits(shifted) - MAGIC_BITS
    h = x - n * LN2
    c = n * LN2_LOW - low
    r = h - c
    r_low = (h - r) - c
    z = r * r
    zz = z * z
    p = (E[8] + E[9] * r) + E[10] * z
    p = ((E[4] + E[5] * r) + (E[6] + E[7] * r) * z) + p * zz
    p = ((E[0] + E[1] * r) + (E[2] + E[3] * r) * z) + p * zz
    s = 1.0 + r
    y = s + (((1.0 - s) + r) + (z * p + r_low * s))
    half = k >> 1
    return y * two_to(half) * two_to(k - half)


@loop
def exp(x: f64) -> f64:
    """The exponential function."""
    if x != x:
        return x
    if x > OVER:
        return inf
    if x < UNDER:
        return 0.0
    return exponential(x, 0.0)


@loop
def log(x: f64) -> f64:
    """The natural logarithm; NaN below 0."""
    if x != x or x == inf:
        return x
    if x <= 0.0:
        return -inf if x == 0.0 else nan
    w = bits(x)
    k = 0
    if x < NORMAL:
        w = bits(x * LIFT)
        k = -LIFTED
    j = (w - ROOT_HALF) >> 52
    f = from_bits(w - (j << 52)) - 1.0
    n = float(k + j)
    s = f / (2.0 + f)
    z = s * s
    zz = z * z
    p = ((L[0] + L[1] * z) + (L[2] + L[3] * z) * zz) + (
        (L[4] + L[5] * z) + (L[6] + L[7] * z) * zz
    ) * (zz * zz)
    half = 0.5 * f * f
    first = n * LN2
    a = first + f
    lost = (first - a) + f
    return a + (lost - (half - (s * (half + z * p) + n * LN2_LOW)))


@loop
def pow(x: f64, y: f64) -> f64:
    """x to the power y, with the special cases of C99 (annex F)."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return x + y
    size = abs(x)
    if abs(y) == inf:
        if size == 1.0:
            return 1.0
        return inf if (size > 1.0) == (y > 0.0) else 0.0
    odd = 0
    whole = floor(y) == y
    if whole and abs(y) < 9007199254740992.0:
        odd = floor(0.5 * y) != 0.5 * y
    if size == 0.0 or size == inf:
        value = inf if (size == 0.0) == (y < 0.0) else 0.0
    elif x < 0.0 and not whole:
        return nan
    elif size == 1.0:
        value = 1.0
    else:
        value = positive_power(size, y)
    return -value if odd and bits(x) < 0 else value


@loop
def positive_power(x: f64, y: f64) -> f64:
    """x to the power y for finite x > 0, x ≠ 1, and finite y ≠ 0."""
    w = bits(x)
    k = 0
    if x < NORMAL:
        w = bits(x * LIFT)
        k = -LIFTED
    j = (w - ROOT_HALF) >> 52
    m = from_bits(w - (j << 52))
    n = float(k + j)
    shifted = m * 32.0 + MAGIC
    i = bits(shifted) - MAGIC_BITS - FIRST_KNOT
    c = (shifted - MAGIC) * 0.03125
    num = m - c
    den = m + c
    s = num / den
    p = s * den
    s_low = (((num - p) - product_error(s, den, p)) - s * sum_error(m, c, den)) / den
    z = s * s
    q = ((NARROW[2] + NARROW[3] * z) * z + NARROW[1]) * z + NARROW[0]
    near = n * LONG_LN2 + KNOTS[i]
    near_low = n * LONG_LN2_LOW + KNOTS_LOW[i]
    a = near + 2.0 * s
    b = sum_error(near, 2.0 * s, a) + (near_low + (2.0 * s_low + s * z * q))
    h = a + b
    low = (a - h) + b
    t = y * h
    if t > OVER:
        return inf
    if t < UNDER:
        return 0.0
    if abs(t) < LEAST:
        return 1.0 + t
    return exponential(t, product_error(y, h, t) + y * low)
