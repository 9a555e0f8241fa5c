"""Intervals of floats rounded outwards, and the domain of formulas on them.

An interval holds every value the formula takes while its symbols run through theirs, rounding
included. Sums and products are widened by one unit in the last place where they are inexact,
functions of the C library by two (it errs by less than one).

Why not FLINT's balls: an end is exact here. [0, x] stays at zero, a half-line and an empty set are
intervals, and proofs of signs (no impact, full rank) hang on such ends, which a ball of midpoint
and radius loses by rounding; ends are floats, so that boxes are compared with compiled runs.

Public names: Interval, INTERVAL.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, final

from liaison.expr.graph.evaluate import Domain
from liaison.expr.graph.node import Expr, Value
from liaison.expr.graph.ops import OPS

_INF = math.inf


def _down(x: float, steps: int = 1) -> float:
    for _ in range(steps):
        x = math.nextafter(x, -_INF)
    return x


def _up(x: float, steps: int = 1) -> float:
    for _ in range(steps):
        x = math.nextafter(x, _INF)
    return x


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from low to high; both NaN where there is none."""

    low: float
    high: float

    @classmethod
    def of(cls, value: Any) -> Interval:
        """An interval of a number, exact or float, of a pair (low, high), or of itself."""
        if isinstance(value, Interval):
            return value
        if isinstance(value, tuple):
            low, high = value
            if not low <= high:
                raise ValueError(f"an interval goes from low to high, not from {low} to {high}")
            return cls(cls.of(low).low, cls.of(high).high)
        near = float(value)
        if isinstance(value, int | Fraction) and Fraction(value) != Fraction(near):
            return cls(_down(near), _up(near))
        return cls(near, near)

    def __contains__(self, x: Any) -> bool:
        return bool(self.low <= x <= self.high)

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low

    @property
    def is_empty(self) -> bool:
        """The empty interval: a root of negative numbers, say."""
        return self.low != self.low


EMPTY = Interval(math.nan, math.nan)
WHOLE = Interval(-_INF, _INF)
_UNIT = Interval(1.0, 1.0)


def _hull(*parts: Interval) -> Interval:
    full = [part for part in parts if not part.is_empty]
    if not full:
        return EMPTY
    return Interval(min(part.low for part in full), max(part.high for part in full))


# Arithmetic -------------------------------------------------------------------------------------


def _sum(x: float, y: float, nudge: Callable[[float], float]) -> float:
    total = x + y
    part = total - x
    is_exact = (x - (total - part)) + (y - part) == 0
    return total if is_exact or math.isinf(total) else nudge(total)


def _product(x: float, y: float, nudge: Callable[[float], float]) -> float:
    if x == 0 or y == 0:
        return 0.0
    total = x * y
    if math.isinf(x) or math.isinf(y):
        return total
    is_exact = x.is_integer() and y.is_integer() and abs(total) < 2.0**53
    return total if is_exact else nudge(total)


def _add(x: Interval, y: Interval) -> Interval:
    return Interval(_sum(x.low, y.low, _down), _sum(x.high, y.high, _up))


def _neg(x: Interval) -> Interval:
    return Interval(-x.high, -x.low)


def _mul(x: Interval, y: Interval) -> Interval:
    corners = [(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    if x.is_empty or y.is_empty:
        return EMPTY
    low = min(_product(a, b, _down) for a, b in corners)
    return Interval(low, max(_product(a, b, _up) for a, b in corners))


def _inverse(y: Interval) -> Interval:
    if y.low < 0 < y.high or y.low == y.high == 0:
        return WHOLE
    low = -_INF if y.high == 0 else _down(1 / y.high)
    return Interval(low, _INF if y.low == 0 else _up(1 / y.low))


def _div(x: Interval, y: Interval) -> Interval:
    return _mul(x, _inverse(y))


def _power_whole(x: Interval, n: int) -> Interval:
    if n < 0:
        return _inverse(_power_whole(x, -n))
    if x.is_empty or n == 0:
        return EMPTY if x.is_empty else _UNIT
    ends = sorted((_point_power(x.low, n), _point_power(x.high, n)), key=lambda part: part.low)
    if n % 2 == 0 and x.low <= 0 <= x.high:
        return Interval(0.0, max(part.high for part in ends))
    return Interval(ends[0].low, max(part.high for part in ends))


def _square(x: Interval, _: Interval) -> Interval:
    return _power_whole(x, 2)


def _point_power(x: float, n: int) -> Interval:
    total = _UNIT
    for _ in range(n):
        total = _mul(total, Interval(x, x))
    return total


def _pow(x: Interval, y: Interval) -> Interval:
    if y.low == y.high and y.low.is_integer() and abs(y.low) <= 64:
        return _power_whole(x, int(y.low))
    return _exp(_mul(y, _log(x)))


# Functions --------------------------------------------------------------------------------------


def _clipped(x: Interval, low: float, high: float) -> Interval:
    if not (x.high >= low and x.low <= high):
        return EMPTY
    return Interval(max(x.low, low), min(x.high, high))


def _monotone(
    function: Callable[[float], float], low: float = -_INF, high: float = _INF
) -> Callable[[Interval], Interval]:
    """An increasing function, defined between low and high."""

    def value(x: Interval) -> Interval:
        inside = _clipped(x, low, high)
        if inside.is_empty:
            return EMPTY
        return Interval(_down(function(inside.low), 2), _up(function(inside.high), 2))

    return value


def _sqrt(x: Interval) -> Interval:
    inside = _clipped(x, 0.0, _INF)
    if inside.is_empty:
        return EMPTY
    return Interval(max(0.0, _down(math.sqrt(inside.low))), _up(math.sqrt(inside.high)))


_exp_monotone = _monotone(OPS["exp"].value)
_log = _monotone(OPS["log"].value, 0.0)
_atan = _monotone(math.atan)
_asin = _monotone(math.asin, -1.0, 1.0)


def _exp(x: Interval) -> Interval:
    value = _exp_monotone(x)
    return value if value.is_empty else Interval(max(0.0, value.low), value.high)


def _acos(x: Interval) -> Interval:
    inside = _clipped(x, -1.0, 1.0)
    if inside.is_empty:
        return EMPTY
    return Interval(_down(math.acos(inside.high), 2), _up(math.acos(inside.low), 2))


def _meets(x: Interval, offset: float, period: float) -> bool:
    """Whether a point offset + k period may lie in x; in doubt, yes."""
    low, high = (x.low - offset) / period, (x.high - offset) / period
    margin = 4e-16 * (abs(low) + abs(high) + 1)
    return math.floor(high + margin) >= math.ceil(low - margin)


def _wave(function: Callable[[float], float], top: float) -> Callable[[Interval], Interval]:
    """sin or cos, which is 1 at `top`."""

    def value(x: Interval) -> Interval:
        if x.is_empty:
            return EMPTY
        if not x.high - x.low < 2 * math.pi:
            return Interval(-1.0, 1.0)
        ends = function(x.low), function(x.high)
        low = -1.0 if _meets(x, top + math.pi, 2 * math.pi) else _down(min(ends), 2)
        high = 1.0 if _meets(x, top, 2 * math.pi) else _up(max(ends), 2)
        return Interval(max(low, -1.0), min(high, 1.0))

    return value


_sin = _wave(math.sin, math.pi / 2)
_cos = _wave(math.cos, 0.0)


def _tan(x: Interval) -> Interval:
    if x.is_empty or not x.high - x.low < math.pi or _meets(x, math.pi / 2, math.pi):
        return EMPTY if x.is_empty else WHOLE
    return Interval(_down(math.tan(x.low), 2), _up(math.tan(x.high), 2))


def _atan2(y: Interval, x: Interval) -> Interval:
    if x.is_empty or y.is_empty:
        return EMPTY
    if x.low <= 0 and y.low <= 0 <= y.high:
        return Interval(-_up(math.pi), _up(math.pi))
    corners = [math.atan2(b, a) for a in (x.low, x.high) for b in (y.low, y.high)]
    return Interval(_down(min(corners), 2), _up(max(corners), 2))


def _abs(x: Interval) -> Interval:
    if x.is_empty or x.low >= 0:
        return x
    return _neg(x) if x.high <= 0 else Interval(0.0, max(-x.low, x.high))


def _sign(x: Interval) -> Interval:
    if x.is_empty:
        return EMPTY
    return Interval(float((x.low > 0) - (x.low < 0)), float((x.high > 0) - (x.high < 0)))


def _extreme(choice: Callable[[float, float], float]) -> Callable[..., Interval]:
    def value(x: Interval, y: Interval) -> Interval:
        if x.is_empty or y.is_empty:
            return EMPTY
        return Interval(choice(x.low, y.low), choice(x.high, y.high))

    return value


def _select(c: Interval, x: Interval, y: Interval) -> Interval:
    if c.low > 0:
        return x
    return y if c.high <= 0 else _hull(x, y)


# Special rows -----------------------------------------------------------------------------------


def _stumpff(k: int, s: Interval) -> Interval:
    """Decreasing up to its first extremum, beyond s = 9; from there by the closed form."""
    if s.is_empty:
        return EMPTY
    parts = []
    if s.low <= 9.0:
        near = Interval(s.low, min(s.high, 9.0))
        ends = (OPS["stumpff"].value(k, near.high), OPS["stumpff"].value(k, near.low))
        parts.append(Interval(_widened(ends[0], -1), _widened(ends[1], 1)))
    if s.high > 9.0:
        far = Interval(max(s.low, 9.0), s.high)
        theta = _sqrt(far)
        value = _div(_sin(theta), theta) if k % 2 else _cos(theta)
        for j in range(k % 2, k, 2):
            start = Interval.of(Fraction(1, math.factorial(j)))
            value = _div(_add(start, _neg(value)), far)
        parts.append(value)
    return _hull(*parts)


def _widened(x: float, side: int) -> float:
    # the row itself is right to 1e-13 of its value, and to 1e-15 where it passes zero
    return x + side * (1e-12 * abs(x) + 1e-15)


def _arc_ratio(n: int, m: Interval, w: Interval) -> Interval:
    """(−1)^n ∂ⁿ/∂mⁿ of ∫_w^∞ dx / (x² + m) is positive and decreases in m and in w."""
    turn = (-1) ** n
    low = turn * OPS["arc_ratio"].value(n, m.high, w.high)
    high = turn * OPS["arc_ratio"].value(n, m.low, w.low)
    if low != low:
        return EMPTY
    interval = Interval(_widened(low, -1), _widened(high, 1) if high == high else _INF)
    return interval if turn > 0 else _neg(interval)


def _table(data: Any, x: Interval) -> Interval:
    table, order = data
    if x.is_empty:
        return EMPTY
    edges = [-_INF, *table.breaks.tolist(), _INF]
    rows = zip(
        table.derivative_coefficients(order).tolist(), table.origins.tolist(), edges, edges[1:]
    )
    parts = []
    for coefficients, origin, low, high in rows:
        inside = _clipped(x, low, high)
        if not inside.is_empty:
            t = _add(inside, Interval(-origin, -origin))
            total = Interval(coefficients[-1], coefficients[-1])
            for c in coefficients[-2::-1]:
                total = _add(_mul(total, t), Interval(c, c))
            parts.append(total)
    return _hull(*parts)


_INTERVALS: dict[str, Callable[..., Interval]] = {
    "add": _add,
    "sub": lambda x, y: _add(x, _neg(y)),
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "atan2": _atan2,
    "exp": _exp,
    "log": _log,
    "abs": _abs,
    "sign": _sign,
    "min": _extreme(min),
    "max": _extreme(max),
    "select": _select,
    "stumpff": _stumpff,
    "arc_ratio": _arc_ratio,
    "table": _table,
}


@final
class IntervalDomain(Domain):
    """Intervals; values are numbers, pairs (low, high) or Interval."""

    individual = frozenset({"mul"})

    def constant(self, value: Value) -> Interval:
        """The float itself, or the two floats around an exact number."""
        if not isinstance(value, int | Fraction | float):
            return Interval(math.pi, _up(math.pi))
        return Interval.of(value)

    def from_value(self, value: Any) -> Interval:
        """As an interval."""
        return Interval.of(value)

    def operation(self, node: Expr) -> Callable[..., Interval]:
        """From the table above; a formula times itself is a square, whatever it is worth."""
        if node.op == "mul" and node.a is node.b:
            return _square
        function = _INTERVALS.get(node.op, OPS[node.op].value)
        return function if node.data is None else partial(function, node.data)


INTERVAL: Domain = IntervalDomain()
