"""Sine, cosine and tangent of any angle.

The angle is brought to |r| ≤ π/4 by r = |x| − n π/2; two polynomials give sin r and cos r, and
n mod 4 says which is which. Up to REACH, π/2 stands in parts of 36, 36 and 53 bits: n has 16 bits,
so that n times each of the first two is exact, and so is the first difference. Beyond, r follows
from whole numbers: with |x| = m 2ᵉ the limbs of 2/π before a certain one add multiples of 4 to
|x| 2/π, and 162 bits from there on leave more than 70 right ones for the angle that comes nearest
to a multiple of π/2.

`near_sine` and `near_cosine` have no branches, so that a back end may compute both at once and on
vectors; what they have in common is the same text.

Source: CW80, chapter 8, for the first reduction; PH83 for the second.
Differs: the polynomials are those of `llvm/sincos.py`, minimax fits of (sin r − r)/r³ and
(cos r − 1 + r²/2)/r⁴ in r².

Public names: sin, cos, tan, near_sine, near_cosine, two_over_pi.
"""

from __future__ import annotations

from math import isfinite, nan

from liaison.program.llvm.sincos import COSINE as COSINE
from liaison.program.llvm.sincos import MAGIC as MAGIC
from liaison.program.llvm.sincos import REACH as REACH
from liaison.program.llvm.sincos import SINE as SINE
from liaison.program.loops.language import bits, f64, from_bits, i64, loop

from .rounding import product_error, sum_error

TINY = 2.0**-27  # up to here tan x is x
TWO_OVER_PI = 0.6366197723675814
FIRST, SECOND, THIRD = 1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23
PI_HALF = (1.5707963267948966, 6.123233995736766e-17)

SIZE = 0x7FFFFFFFFFFFFFFF  # all bits but the sign
SIGN = -(2**63)
FRACTION, HIDDEN = 2**52 - 1, 2**52
WIDTH = 27  # bits of a limb
LIMB = 2**WIDTH - 1
SCALES = (2.0**-52, 2.0**-104, 2.0**-133)


def two_over_pi(places: int) -> int:
    """The first bits of 2/π behind the point, by Machin's formula on whole numbers."""
    one = 1 << (places + 64)

    def arctangent(n: int) -> int:
        total, term, k = 0, one // n, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (n * n), k + 2
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return (2 * one << places) // pi


def _limbs(count: int) -> tuple[int, ...]:
    """Two limbs of zeros, then 2/π in limbs."""
    value = two_over_pi(WIDTH * count)
    return (0, 0, *((value >> (WIDTH * (count - 1 - k))) & LIMB for k in range(count)))


LIMBS = _limbs(42)


@loop
def series(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, z: f64, zz: f64) -> f64:
    """a + b z + … + f z⁵, in pairs so that few operations wait for each other."""
    return ((e + f * z) * zz + (c + d * z)) * zz + (a + b * z)


@loop
def sine_of(r: f64, low: f64) -> f64:
    """sin(r + low) for |r| ≤ π/4."""
    z = r * r
    top = 1.0 - z * 0.5
    p = series(SINE[0], SINE[1], SINE[2], SINE[3], SINE[4], SINE[5], z, z * z)
    return r + (r * z * p + low * top)


@loop
def cosine_of(r: f64, low: f64) -> f64:
    """cos(r + low) for |r| ≤ π/4."""
    z = r * r
    half = z * 0.5
    top = 1.0 - half
    zz = z * z
    p = series(COSINE[0], COSINE[1], COSINE[2], COSINE[3], COSINE[4], COSINE[5], z, zz)
    return top + (zz * p + (((1.0 - top) - half) - r * low))


@loop
def as_sine(x: f64, quadrant: i64, sine: f64, cosine: f64) -> f64:
    """The sine of x, from those of what is left of |x|."""
    value = cosine if (quadrant & 1) != 0 else sine
    return from_bits(bits(value) ^ (bits(x) & SIGN) ^ (-(quadrant & 2) << 62))


@loop
def as_cosine(quadrant: i64, sine: f64, cosine: f64) -> f64:
    """The cosine likewise."""
    value = sine if (quadrant & 1) != 0 else cosine
    return from_bits(bits(value) ^ (-((quadrant + 1) & 2) << 62))


@loop
def high_of(size: f64, n: f64) -> f64:
    """|x| − n π/2."""
    first = size - n * FIRST
    h = first - n * SECOND
    return h - n * THIRD


@loop
def low_of(size: f64, n: f64) -> f64:
    """What `high_of` lost."""
    first = size - n * FIRST
    second = n * SECOND
    third = n * THIRD
    h = first - second
    return sum_error(first, -second, h) + sum_error(h, -third, h - third)


@loop
def near_sine(x: f64) -> f64:
    """The sine up to REACH."""
    size = abs(x)
    shifted = size * TWO_OVER_PI + MAGIC
    n = shifted - MAGIC
    r = high_of(size, n)
    low = low_of(size, n)
    return as_sine(x, bits(shifted), sine_of(r, low), cosine_of(r, low))


@loop
def near_cosine(x: f64) -> f64:
    """The cosine up to REACH."""
    size = abs(x)
    shifted = size * TWO_OVER_PI + MAGIC
    n = shifted - MAGIC
    r = high_of(size, n)
    low = low_of(size, n)
    return as_cosine(bits(shifted), sine_of(r, low), cosine_of(r, low))


@loop
def far(x: f64, part: i64) -> f64:
    """|x| − n π/2 beyond REACH: n mod 4 (part 0), the rest (part 1), what it lost (part 2)."""
    w = bits(x) & SIZE
    e = (w >> 52) - 1075
    m = (w & FRACTION) | HIDDEN
    m1 = m >> WIDTH
    m0 = m & LIMB
    j = (e - 2) // WIDTH + 2
    t = e - WIDTH * (j - 1) + 25
    back = WIDTH - t
    c5 = LIMBS[j + 5] * m0 + LIMBS[j + 6] * m1
    c4 = LIMBS[j + 4] * m0 + LIMBS[j + 5] * m1 + (c5 >> WIDTH)
    c3 = LIMBS[j + 3] * m0 + LIMBS[j + 4] * m1 + (c4 >> WIDTH)
    c2 = LIMBS[j + 2] * m0 + LIMBS[j + 3] * m1 + (c3 >> WIDTH)
    c1 = LIMBS[j + 1] * m0 + LIMBS[j + 2] * m1 + (c2 >> WIDTH)
    c0 = LIMBS[j] * m0 + LIMBS[j + 1] * m1 + (c1 >> WIDTH)
    # |x| 2/π mod 4 in limbs, 25 bits of the first behind the point
    u0 = ((c0 << t) | ((c1 & LIMB) >> back)) & LIMB
    u1 = ((c1 << t) | ((c2 & LIMB) >> back)) & LIMB
    u2 = ((c2 << t) | ((c3 & LIMB) >> back)) & LIMB
    u3 = ((c3 << t) | ((c4 & LIMB) >> back)) & LIMB
    u4 = ((c4 << t) | ((c5 & LIMB) >> back)) & LIMB
    n = (u0 + 0x1000000) >> 25
    if part == 0:
        return float(n & 3)
    a = float(((u0 - (n << 25)) << WIDTH) + u1) * SCALES[0]
    b = float((u2 << 25) | (u3 >> 2)) * SCALES[1]
    c = float(((u3 & 3) << WIDTH) | u4) * SCALES[2]
    h = a + b
    rest = ((a - h) + b) + c
    return turned(h + rest, (h - (h + rest)) + rest, part)


@loop
def turned(h: f64, low: f64, part: i64) -> f64:
    """(h + low) π/2, or what that lost."""
    p = h * PI_HALF[0]
    rest = product_error(h, PI_HALF[0], p) + (h * PI_HALF[1] + low * PI_HALF[0])
    if part == 1:
        return p + rest
    return (p - (p + rest)) + rest


@loop
def sin(x: f64) -> f64:
    """The sine."""
    if abs(x) <= REACH:
        return near_sine(x)
    if not isfinite(x):
        return nan
    r = far(x, 1)
    low = far(x, 2)
    return as_sine(x, bits(far(x, 0) + MAGIC), sine_of(r, low), cosine_of(r, low))


@loop
def cos(x: f64) -> f64:
    """The cosine."""
    if abs(x) <= REACH:
        return near_cosine(x)
    if not isfinite(x):
        return nan
    r = far(x, 1)
    low = far(x, 2)
    return as_cosine(bits(far(x, 0) + MAGIC), sine_of(r, low), cosine_of(r, low))


@loop
def tan(x: f64) -> f64:
    """The tangent."""
    size = abs(x)
    if size <= TINY:
        return x
    if size <= REACH:
        shifted = size * TWO_OVER_PI + MAGIC
        n = shifted - MAGIC
        value = tangent_of(high_of(size, n), low_of(size, n), bits(shifted) & 1)
    elif not isfinite(x):
        return nan
    else:
        value = tangent_of(far(x, 1), far(x, 2), bits(far(x, 0) + MAGIC) & 1)
    return -value if x < 0.0 else value


@loop
def tangent_of(r: f64, low: f64, odd: i64) -> f64:
    """tan(r + low) for |r| ≤ π/4; −1/tan(r + low) where odd. Sine and cosine in two parts each."""
    z = r * r
    z_low = product_error(r, r, z)
    half = z * 0.5
    top = 1.0 - half
    zz = z * z
    p = series(SINE[0], SINE[1], SINE[2], SINE[3], SINE[4], SINE[5], z, zz)
    cube = r * z
    cube_low = product_error(r, z, cube) + r * z_low
    small = cube * p + (cube_low * p + low * top)
    s = r + small
    s_low = (r - s) + small
    p = series(COSINE[0], COSINE[1], COSINE[2], COSINE[3], COSINE[4], COSINE[5], z, zz)
    small = zz * p + (((1.0 - top) - half) - (0.5 * z_low + r * low))
    c = top + small
    c_low = (top - c) + small
    if odd != 0:
        return quotient(-c, -c_low, s, s_low)
    return quotient(s, s_low, c, c_low)


@loop
def quotient(a: f64, a_low: f64, b: f64, b_low: f64) -> f64:
    """(a + a_low)/(b + b_low), rounded once, nearly."""
    q = a / b
    p = q * b
    return q + (((a - p) - product_error(q, b, p)) + (a_low - q * b_low)) / b
