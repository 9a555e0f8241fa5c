"""The inverse functions of sine, cosine and tangent.

atan q = atan c + atan((q − c)/(1 + q c)) with c = 0, 1/2, 1, 3/2 or ∞ leaves |t| ≤ 7/16 for one
polynomial; parts that rounding takes away are added at the end. asin x beyond 1/2 is
π/2 − 2 asin √((1 − x)/2), with the root in two parts.

Source: CW80, chapters 10 and 11, for the reductions.
Differs: the polynomials are minimax fits (Remez exchange) of (atan t − t)/t³ in t² and
(asin x − x)/x³ in x², both of relative error 2⁻⁵⁹; the quotient of atan2 has two parts.

Public names: asin, acos, atan, atan2.
"""

from __future__ import annotations

from math import copysign, inf, nan, sqrt

from liaison.program.loops.language import f64, loop

from .rounding import product_error, sum_error

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
