"""Functions of the square of an angle, smooth through zero, for quaternion charts.

With s = θ², the Stumpff functions c_k(s) = Σ (−s)^i / (2i + k)! are

    c_0 = cos θ,   c_1 = sin θ / θ,   c_2 = (1 − cos θ) / θ²,   c_3 = (θ − sin θ) / θ³,

whole functions of s, also of negative s (hyperbolic), with d c_k / ds = (k c_{k+2} − c_{k+1}) / 2.
`arc_ratio(m, w)` = atan2(√m, w) / √m is what a logarithm of a quaternion (w, v) with m = v·v needs.

Public names: stumpff, cos_sqrt, sinc_sqrt, dexpinv_coefficient, arc_ratio; the rows STUMPFF,
ARC_RATIO. (Stumpff used the c_k for orbits; the derivative follows from the series term by term.)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from liaison.expr.graph.node import Expr, Scalar, as_expr, constant, make_many, vanishes
from liaison.expr.graph.row import Op

from .functions import atan2, cos, maximum, plain, select, sin, sqrt

_TERMS = 16


def _bound(k: int) -> float:
    """Where the series ends, before its terms cancel; one for k < 4, which share √s and sin √s."""
    return 3.0 if k < 4 else (k + 1) * (k + 2) / 2


def _series(k: int) -> list[float]:
    """Coefficients, as many as count at the bound."""
    first, count = math.factorial(k), 1
    while _bound(k) ** count * first / math.factorial(2 * count + k) > 1e-18:
        count += 1
    return [(-1) ** i / math.factorial(2 * i + k) for i in range(count)]


def _horner(coefficients: list[Any], x: Any) -> Any:
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _raised(k: int, s: Any, even: Any, odd: Any) -> Any:
    """c_k from c_0 or c_1 by c_{j+2} = (1/j! − c_j) / s."""
    value = odd if k % 2 else even
    for j in range(k % 2, k, 2):
        value = (1 / math.factorial(j) - value) / s
    return value


def _stumpff_float(k: int, s: float) -> float:
    if abs(s) <= _bound(k) or s != s:
        return float(_horner(_series(k), s))
    theta = math.sqrt(abs(s))
    if s == math.inf:
        return 0.0 if k else math.nan
    if s > 0:
        return float(_raised(k, s, math.cos(theta), math.sin(theta) / theta))
    try:
        return float(_raised(k, s, math.cosh(theta), math.sinh(theta) / theta))
    except OverflowError:
        return math.inf


def _stumpff_array(k: int, s: Any) -> Any:
    bound = _bound(k)
    positive, negative = np.maximum(s, bound), np.minimum(s, -bound)
    theta, eta = np.sqrt(positive), np.sqrt(-negative)
    above = _raised(k, positive, np.cos(theta), np.sin(theta) / theta)
    below = _raised(k, negative, np.cosh(eta), np.sinh(eta) / eta)
    near = _horner(_series(k), np.where(np.abs(s) > bound, 0.0, s))
    return np.where(s > bound, above, np.where(s < -bound, below, near))


def _stumpff_expanded(k: int, s: Expr) -> Expr:
    """For s ≥ 0 and slightly below: a choice of the series and the closed form."""
    bound = constant(_bound(k))
    far = maximum(s, bound)
    theta = sqrt(far)
    closed = _raised(k, far, cos(theta), sin(theta) / theta)
    near = _horner([constant(c) for c in _series(k)], s)
    return select(s - bound, closed, near)  # type: ignore[no-any-return]


def _stumpff_node(k: int, s: Expr) -> Expr:
    if s.op == "const" and type(s.a) is float:
        return constant(_stumpff_float(k, s.a))
    if vanishes(s):
        return constant(Fraction(1, math.factorial(k)))
    return make_many("stumpff", k, (s,), str(k))


def _stumpff_slope(k: int, s: Expr) -> Expr:
    rise = as_expr(k) * _stumpff_node(k + 2, s) if k else 0
    return Fraction(1, 2) * (rise - _stumpff_node(k + 1, s))


STUMPFF = Op(
    1,
    _stumpff_float,
    _stumpff_array,
    (_stumpff_slope,),
    "",
    r"c_{{{data}}}\left({}\right)",
    "stumpff({data}, {})",
    build=_stumpff_node,
    expand=_stumpff_expanded,
)


def stumpff(k: int, s: Scalar) -> Any:
    """c_k(s) = Σ (−s)^i / (2i + k)!, for k ≥ 0."""
    if k < 0:
        raise ValueError(f"Stumpff functions have an index k >= 0, not {k}")
    if isinstance(s, float):
        return _stumpff_float(k, float(s))
    node = _stumpff_node(k, as_expr(s))
    return node if type(s) is Expr else plain(node)


def cos_sqrt(s: Scalar) -> Any:
    """cos √s, smooth at s = 0."""
    return stumpff(0, s)


def sinc_sqrt(s: Scalar) -> Any:
    """sin √s / √s, smooth at s = 0 with value 1."""
    return stumpff(1, s)


def dexpinv_coefficient(s: Scalar) -> Any:
    """(1 − (θ/2) cot(θ/2)) / θ² with s = θ², smooth at 0 with value 1/12; θ below 2π.

    With h = s/4 it is (c_2(h) − c_3(h)) / (4 c_1(h)): dexp⁻¹(ξ) v = v ± ½ ξ×v + this ξ×(ξ×v).

    Source: HLW §III.4, lemma 4.2: the series in Bernoulli numbers, summed for rotations.
    """
    h = s * Fraction(1, 4) if not isinstance(s, float) else s / 4
    return (stumpff(2, h) - stumpff(3, h)) / (4 * stumpff(1, h))


# Arc over chord ---------------------------------------------------------------------------------

_NEAR = 0.1  # of m / w²: 16 terms of the series reach 1e-17


def _arc_series(n: int) -> list[float]:
    """Of ∂ⁿ/∂mⁿ of Σ (−m)^i / ((2i+1) w^{2i+1}), in r = m/w², without the power of w."""
    rows = range(n, n + _TERMS + 2 * n)
    return [(-1) ** i * math.perm(i, n) / (2 * i + 1) for i in rows]


def _arc_closed(n: int, m: Any, w: Any, arc: Any) -> Any:
    """By 2 m A_{n+1} + (2n + 1) A_n = (−1)^n n! w / (w² + m)^{n+1}."""
    square, value = w * w + m, arc
    power = square
    for j in range(n):
        value = ((-1) ** j * math.factorial(j) * (w / power) - (2 * j + 1) * value) / (2 * m)
        power = power * square
    return value


def _arc_float(n: int, m: float, w: float) -> float:
    if abs(m) <= _NEAR * w * w and w > 0:
        return float(_horner(_arc_series(n), m / (w * w)) / w ** (2 * n + 1))
    if m <= 0:
        return math.nan if m < 0 else math.inf
    root = math.sqrt(m)
    return float(_arc_closed(n, m, w, math.atan2(root, w) / root))


def _arc_array(n: int, m: Any, w: Any) -> Any:
    near = (np.abs(m) <= _NEAR * w * w) & (w > 0)
    root = np.sqrt(np.where(near, 1.0, m))
    closed = _arc_closed(n, np.where(near, 1.0, m), w, np.arctan2(root, w) / root)
    safe = np.where(near, w, 1.0)
    ratio = np.where(near, m, 0.0) / (safe * safe)
    return np.where(near, _horner(_arc_series(n), ratio) / safe ** (2 * n + 1), closed)


def _arc_expanded(n: int, m: Expr, w: Expr) -> Expr:
    """For w > 0, or m away from zero."""
    edge = constant(_NEAR) * (w * w)
    is_far = select(w, m - edge, constant(1.0))
    far = select(is_far, m, constant(1.0))
    root = sqrt(far)
    closed = _arc_closed(n, far, w, atan2(root, w) / root)
    safe = select(is_far, constant(1.0), w)
    near = _horner([constant(c) for c in _arc_series(n)], m / (safe * safe)) / safe ** (2 * n + 1)
    return select(is_far, closed, near)  # type: ignore[no-any-return]


def _arc_node(n: int, m: Expr, w: Expr) -> Expr:
    if m.op == w.op == "const" and (type(m.a) is float or type(w.a) is float):
        return constant(_arc_float(n, float(m.a), float(w.a)))
    return make_many("arc_ratio", n, (m, w), str(n))


def _arc_slope_w(n: int, m: Expr, w: Expr) -> Expr:
    return constant((-1) ** (n + 1) * math.factorial(n)) / (w * w + m) ** (n + 1)


ARC_RATIO = Op(
    2,
    _arc_float,
    _arc_array,
    (lambda n, m, w: _arc_node(n + 1, m, w), _arc_slope_w),
    "",
    r"a_{{{data}}}\left({}, {}\right)",
    "arc_ratio[{data}]({}, {})",
    build=_arc_node,
    expand=_arc_expanded,
)


def arc_ratio(m: Scalar, w: Scalar) -> Any:
    """atan2(√m, w) / √m for m ≥ 0, smooth at m = 0 where w > 0 (value 1/w).

    The rotation vector of a unit quaternion (w, v) with w ≥ 0 is 2 arc_ratio(v·v, w) v.
    """
    if isinstance(m, float) and isinstance(w, float):
        return _arc_float(0, m, w)
    node = _arc_node(0, as_expr(m), as_expr(w))
    return node if type(m) is Expr or type(w) is Expr else plain(node)
