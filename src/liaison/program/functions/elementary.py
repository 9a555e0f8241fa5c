"""The functions of the mathematical library by name, each as a loop, and loops that call them.

Smaller and larger numbers are here, too: processors choose differently where one is NaN, or where
zeros of two signs are equal. So they do of the integer of a number that has none, NaN or beyond 64
bits: in portable loops it is 0, or the nearest there is. What is left, sums, products, quotients,
roots and comparisons, is the same in IEEE 754 wherever it runs.

The inverse functions of sine, cosine and tangent.

atan q = atan c + atan((q − c)/(1 + q c)) with c = 0, 1/2, 1, 3/2 or ∞ leaves |t| ≤ 7/16 for one
polynomial; parts that rounding takes away are added at the end. asin x beyond 1/2 is
π/2 − 2 asin √((1 − x)/2), with the root in two parts.

Exponential function, logarithm and powers.

exp x = 2ᵏ exp r with |r| ≤ ln 2 / 2, r in two parts, and a polynomial. log x = k ln 2 + log m with
√½ ≤ m < √2, by s = f/(2 + f), f = m − 1. A power is exp(y log x) with the logarithm and the product
in two parts each: log m there is that of the nearest knot i/32 and 2 artanh s, |s| ≤ 1/90, so that
its relative error, some 2⁻⁶⁶, times |y log x| ≤ 745 is far below one unit in the last place. Exact
powers come out exactly for that reason.

Public names: FUNCTIONS, fmin, fmax, portable_routine, asin, acos, atan, atan2, exp, log, pow,
broken_power.

Source: CW80, chapters 4 to 6, 10 and 11, for the reductions.
Differs: the polynomials are minimax fits (Remez exchange) of (atan t − t)/t³ in t² and
(asin x − x)/x³ in x², both of relative error 2⁻⁵⁹, of (exp r − 1 − r)/r² and of
(2 artanh s − 2 s)/s³ in s², errors 2⁻⁶¹, and 2⁻⁶⁷ between knots; the quotient of atan2 has two
parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import copysign, inf, nan, sqrt
from types import MappingProxyType
from typing import Any

from liaison.program.loops.language import Loop, bits, f64, floor, from_bits, i64, loop
from liaison.program.loops.read import routine
from liaison.program.loops.tree import SATURATING, Routine, Step, Value

from .circular import cos, sin, tan
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
    """x to the power y for finite x > 0 and finite y ≠ 0."""
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


@loop
def broken_power(x: f64, y: f64) -> f64:
    """x to the power y as `pow` has it, for a finite y that is no whole number."""
    size = abs(x)
    if size == 0.0 or size == inf:
        return inf if (size == 0.0) == (y < 0.0) else 0.0
    return positive_power(x, y) if x > 0.0 else nan


TINY = 2.0**-28  # up to here asin x and atan x are x
FAR = 2.0**64  # beyond this quotient, atan2 is a quarter turn
LARGE, SMALL, SCALE = 2.0**500, 2.0**-500, 2.0**600
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
PI_HALF, PI_HALF_LOW = 1.5707963267948966, 6.123233995736766e-17
THREE_QUARTERS = 2.356194490192345
CENTRES = (0.4636476090008061, 0.7853981633974483, 0.982793723247329, PI_HALF)
CENTRES_LOW = (2.2698777452961687e-17, 3.061616997868383e-17, 1.3903311031230998e-17, PI_HALF_LOW)
A = (
    -0.33333333333333315, 0.19999999999993054, -0.14285714284841328, 0.11111111056023042,
    -0.09090907049469155, 0.07692259376620714, -0.06665900488989217, 0.05874000450364855,
    -0.05199995917032538, 0.04432634742774794, -0.03190881999824568, 0.013685740190469732,
)  # fmt: skip
S = (
    0.1666666666666666, 0.07500000000002582, 0.04464285713963124, 0.030381944647898805,
    0.022372151494799042, 0.01735294756301663, 0.013961841523933552, 0.011586292167877479,
    0.00947976129456363, 0.010030407551525419, 0.0006120054768159107, 0.024982343347274866,
    -0.02635355646587477, 0.03376296026131078,
)  # fmt: skip


@loop
def arctangent(q: f64, rest: f64, base: f64, base_low: f64, sign: f64) -> f64:
    """base + base_low + sign (atan q + rest), for q ≥ 0 and a sign of ±1."""
    t = q
    centre = 0.0
    low = 0.0
    if q >= 2.4375:
        t = -1.0 / q
        centre = CENTRES[3]
        low = CENTRES_LOW[3]
    elif q >= 1.1875:
        t = (q - 1.5) / (1.0 + 1.5 * q)
        centre = CENTRES[2]
        low = CENTRES_LOW[2]
    elif q >= 0.6875:
        t = (q - 1.0) / (q + 1.0)
        centre = CENTRES[1]
        low = CENTRES_LOW[1]
    elif q >= 0.4375:
        t = (2.0 * q - 1.0) / (2.0 + q)
        centre = CENTRES[0]
        low = CENTRES_LOW[0]
    z = t * t
    zz = z * z
    p = (A[8] + A[9] * z) + (A[10] + A[11] * z) * zz
    p = ((A[4] + A[5] * z) + (A[6] + A[7] * z) * zz) + p * (zz * zz)
    p = ((A[0] + A[1] * z) + (A[2] + A[3] * z) * zz) + p * (zz * zz)
    h = centre + t
    small = (low + rest) + (sum_error(centre, t, h) + t * (z * p))
    s = base + sign * h
    return s + (sum_error(base, sign * h, s) + (base_low + sign * small))


@loop
def atan(x: f64) -> f64:
    """The arc tangent, in [−π/2, π/2]."""
    size = abs(x)
    if size <= TINY or x != x:
        return x
    if size > FAR:
        return copysign(PI_HALF, x)
    return arctangent(size, 0.0, 0.0, 0.0, copysign(1.0, x))


@loop
def atan2(y: f64, x: f64) -> f64:
    """The angle of the point (x, y), in [−π, π]."""
    if x != x or y != y:
        return x + y
    a = abs(y)
    b = abs(x)
    if a == 0.0 or b == inf:
        return special_angle(y, x)
    m = max(a, b)
    if m > LARGE:
        a = a / SCALE
        b = b / SCALE
    elif m < SMALL:
        a = a * SCALE
        b = b * SCALE
    if a > b * FAR:
        return copysign(PI_HALF, y)
    sign = copysign(1.0, y)
    if b > a * FAR:
        return y / x if x > 0.0 else sign * PI
    q = a / b
    p = q * b
    rest = (((a - p) - product_error(q, b, p)) / b) / (1.0 + q * q)
    if x > 0.0:
        return arctangent(q, rest, 0.0, 0.0, sign)
    return arctangent(q, rest, sign * PI, sign * PI_LOW, -sign)


@loop
def special_angle(y: f64, x: f64) -> f64:
    """The angle where y is zero or x infinite."""
    ahead = copysign(1.0, x) > 0.0
    if abs(y) == inf:
        return copysign(CENTRES[1] if ahead else THREE_QUARTERS, y)
    return copysign(0.0 if ahead else PI, y)


@loop
def arcsine_rest(x: f64, z: f64) -> f64:
    """asin x − x for |x| ≤ 1/2, where z is x²."""
    zz = z * z
    z4 = zz * zz
    p = (S[8] + S[9] * z) + (S[10] + S[11] * z) * zz
    p = p + (S[12] + S[13] * z) * z4
    p = ((S[4] + S[5] * z) + (S[6] + S[7] * z) * zz) + p * z4
    p = ((S[0] + S[1] * z) + (S[2] + S[3] * z) * zz) + p * z4
    return x * (z * p)


@loop
def root_rest(w: f64, s: f64) -> f64:
    """asin √w − s for w ≤ 1/4, where s is √w rounded."""
    if s == 0.0:
        return 0.0
    p = s * s
    low = ((w - p) - product_error(s, s, p)) / (s + s)
    return arcsine_rest(s, w) + low * (1.0 + 0.5 * w)


@loop
def asin(x: f64) -> f64:
    """The arc sine, in [−π/2, π/2]; NaN beyond ±1."""
    size = abs(x)
    if size <= TINY:
        return x
    if size <= 0.5:
        return x + arcsine_rest(x, x * x)
    if size <= 1.0:
        w = 0.5 * (1.0 - size)
        s = sqrt(w)
        h = PI_HALF - 2.0 * s
        low = sum_error(PI_HALF, -2.0 * s, h) + (PI_HALF_LOW - 2.0 * root_rest(w, s))
        return copysign(h + low, x)
    return nan


@loop
def acos(x: f64) -> f64:
    """The arc cosine, in [0, π]; NaN beyond ±1."""
    size = abs(x)
    if size <= 0.5:
        h = PI_HALF - x
        return h + (sum_error(PI_HALF, -x, h) + (PI_HALF_LOW - arcsine_rest(x, x * x)))
    if size <= 1.0:
        w = 0.5 * (1.0 - size)
        s = sqrt(w)
        rest = root_rest(w, s)
        if x > 0.0:
            return 2.0 * (s + rest)
        h = PI - 2.0 * s
        return h + (sum_error(PI, -2.0 * s, h) + (PI_LOW - 2.0 * rest))
    return nan


@loop
def fmin(x: f64, y: f64) -> f64:
    """The smaller number, the first of equal ones; the other one where one is NaN."""
    return y if y < x or x != x else x


@loop
def fmax(x: f64, y: f64) -> f64:
    """The larger number, the first of equal ones; the other one where one is NaN."""
    return y if y > x or x != x else x


FUNCTIONS: Mapping[str, Loop[..., Any]] = MappingProxyType(
    {x.name: x for x in (sin, cos, tan, asin, acos, atan, atan2, exp, log, pow, fmin, fmax)}
)
"""What loops and entries call in portable code instead of functions of the system."""


@cache
def portable_routine(loop: Loop[..., Any]) -> Routine:
    """A loop read, with functions of the system replaced by those of `program/functions`."""
    read = routine(loop)
    if loop in FUNCTIONS.values():
        return read
    calls = dict.fromkeys(read.calls)
    body = tuple(_step(step, calls) for step in read.body)
    return replace(read, body=body, calls=tuple(calls))


def _step(step: Step, calls: dict[Loop[..., Any], None]) -> Step:
    return replace(
        step,
        values=tuple(_value(x, calls) for x in step.values),
        body=tuple(_step(x, calls) for x in step.body),
        orelse=tuple(_step(x, calls) for x in step.orelse),
    )


def _value(value: Value, calls: dict[Loop[..., Any], None]) -> Value:
    args = tuple(_value(x, calls) for x in value.args)
    callee = FUNCTIONS.get(value.data) if value.kind == "math" else None
    if value.kind == "convert" and (args[0].type, value.type) == ("f64", "i64"):
        return Value("convert", "i64", args, SATURATING)
    if callee is None:
        return value if args == value.args else replace(value, args=args)
    calls[callee] = None
    return Value("call", value.type, args, callee)
