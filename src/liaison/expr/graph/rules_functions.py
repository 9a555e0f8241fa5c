"""Rules of powers, roots and functions.

Exact values: square roots of rationals, sine and cosine of multiples of π/12.

Public names: FUNCTIONS, exact_sqrt, exact_sine, exact_cosine, turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from liaison.expr.functions import absolute, sqrt

from .node import HALF, ONE, PI, TWO, ZERO, Expr, Pi, constant, make, unary
from .row import Found, Rows

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def exact_sqrt(value: int | Fraction) -> Expr | None:
    """√(n/d) as (s/d) √r with squares of small primes taken out of r; None where it is so already.

    √4 = 2, √8 = 2 √2, √(1/2) = ½ √2; the root of a negative number is left as it stands.
    """
    if value < 0:
        return None
    numerator, denominator = value.numerator, value.denominator
    outside, inside = _square_part(numerator * denominator)
    if inside == 1:
        return constant(Fraction(outside, denominator))
    if outside == denominator == 1:
        return None
    return constant(Fraction(outside, denominator)) * make("sqrt", constant(inside))


def _square_part(n: int) -> tuple[int, int]:
    """s and r with n = s² r; r has no square of a small prime and is no square itself."""
    root = math.isqrt(n)
    if root * root == n:
        return root, 1
    outside = 1
    for prime in _SMALL_PRIMES:
        while n % (prime * prime) == 0:
            n //= prime * prime
            outside *= prime
    root = math.isqrt(n)
    return (outside * root, 1) if root * root == n else (outside, n)


def turns(x: Expr) -> Fraction | None:
    """c where x is c π with a rational c."""
    if x.op == "const":
        return Fraction(1) if type(x.a) is Pi else None
    if x.op == "mul" and type(x.b.a) is Pi and type(x.a.a) in (int, Fraction):
        return Fraction(x.a.a)
    return None


def exact_sine(angle: Fraction) -> Expr | None:
    """sin(angle π) where angle is a multiple of 1/12."""
    twelfths = angle % 2 * 12
    if twelfths.denominator != 1:
        return None
    k = int(twelfths)
    if k > 12:
        value = exact_sine(Fraction(k - 12, 12))
        return None if value is None else -value
    return _SINES[min(k, 12 - k)]()


def exact_cosine(angle: Fraction) -> Expr | None:
    """cos(angle π) where angle is a multiple of 1/12."""
    return exact_sine(angle + Fraction(1, 2))


def _root(n: int) -> Expr:
    return make("sqrt", constant(n))


_QUARTER = Fraction(1, 4)
_SINES = (
    lambda: ZERO,
    lambda: constant(_QUARTER) * (_root(6) - _root(2)),
    lambda: constant(Fraction(1, 2)),
    lambda: constant(Fraction(1, 2)) * _root(2),
    lambda: constant(Fraction(1, 2)) * _root(3),
    lambda: constant(_QUARTER) * (_root(6) + _root(2)),
    lambda: ONE,
)


FUNCTIONS = Rows()
_rule = FUNCTIONS.rule
_EXACT = (int, Fraction)


# Powers and roots -------------------------------------------------------------------------------


def _number_power(x: Expr, c: Expr) -> Found:
    n = c.a
    if type(n) is float or type(n) is Pi:
        return None
    if n < 0:
        return ONE / x ** constant(-n)
    if n == 0 or n == 1:
        return x if n else ONE
    if n == 2:
        return x * x
    return sqrt(x) if n == Fraction(1, 2) else None


def _power_of_power(x: Expr, c: Expr) -> Found:
    m, n = x.b, c.a
    if m.op == "const" and type(m.a) is int and type(n) is int:
        return x.a ** constant(m.a * n)  # type: ignore[no-any-return]
    return None


def _sqrt_number(c: Expr) -> Found:
    return exact_sqrt(c.a) if type(c.a) in _EXACT else None


_rule("(x ** m) ** n", "pow", "pow const", _power_of_power,
      lambda x, y, z: (x ** constant(3), constant(2)))  # fmt: skip
_rule("x ** -n", "pow", "any const", _number_power, lambda x, y, z: (x, constant(-1)))
_rule("x ** 2", "pow", "any const", _number_power, lambda x, y, z: (x, TWO))
_rule("x ** ½", "pow", "any const", _number_power, lambda x, y, z: (x, constant(Fraction(1, 2))))
_rule("1 ** x", "pow", "const any", lambda c, x: ONE if c is ONE else None,
      lambda x, y, z: (ONE, x))  # fmt: skip
_rule("√number", "sqrt", "const", _sqrt_number, lambda x, y, z: (constant(Fraction(8, 9)),))
_rule("√(x x)", "sqrt", "mul", lambda x: absolute(x.a) if x.a is x.b else None,
      lambda x, y, z: (x * x,))  # fmt: skip


# Functions --------------------------------------------------------------------------------------


def _odd(op: str) -> Callable[[Expr], Found]:
    return lambda x: -unary(op, x.a)


def _even(op: str) -> Callable[[Expr], Found]:
    return lambda x: unary(op, x.a)


def _of_negative(op: str, turn: int) -> Callable[[Expr], Found]:
    """An odd (turn −1) or even function of a negative exact number."""

    def value(c: Expr) -> Found:
        if type(c.a) not in _EXACT or c.a >= 0:
            return None
        positive = unary(op, constant(-c.a))
        return -positive if turn < 0 else positive

    return value


def _of_turns(function: Callable[[Fraction], Found]) -> Callable[[Expr], Found]:
    """A function of an exact multiple of π."""

    def value(x: Expr) -> Found:
        angle = turns(x)
        return None if angle is None else function(angle)

    return value


def _exact_at(point: int, result: Expr) -> Callable[[Expr], Found]:
    return lambda c: result if type(c.a) is int and c.a == point else None


for _op in ("sin", "tan", "asin", "atan", "sign"):
    _rule(f"{_op}(-x)", _op, "neg", _odd(_op), lambda x, y, z: (-x,))
    _rule(f"{_op}(-c)", _op, "const", _of_negative(_op, -1), lambda x, y, z: (constant(-1),))
for _op in ("cos", "abs"):
    _rule(f"{_op}(-x)", _op, "neg", _even(_op), lambda x, y, z: (-x,))
    _rule(f"{_op}(-c)", _op, "const", _of_negative(_op, 1), lambda x, y, z: (constant(-1),))
for _op, _point, _value in (
    ("sin", 0, ZERO), ("cos", 0, ONE), ("tan", 0, ZERO), ("asin", 0, ZERO), ("atan", 0, ZERO),
    ("acos", 1, ZERO), ("exp", 0, ONE), ("log", 1, ZERO), ("acos", -1, PI),
    ("asin", 1, make("mul", HALF, PI)), ("acos", 0, make("mul", HALF, PI)),
    ("atan", 1, make("mul", constant(Fraction(1, 4)), PI)),
):  # fmt: skip
    _rule(f"{_op} {_point}", _op, "const", _exact_at(_point, _value),
          lambda x, y, z, p=_point: (constant(p),))  # type: ignore[misc]  # fmt: skip
for _op, _exact in (("sin", exact_sine), ("cos", exact_cosine)):
    _rule(f"{_op} π", _op, "const", _of_turns(_exact), lambda x, y, z: (PI,))
    _rule(f"{_op} of a multiple of π", _op, "mul", _of_turns(_exact),
          lambda x, y, z: (constant(Fraction(19, 12)) * PI,))  # fmt: skip
for _op, _kind in (
    ("sin", "asin"),
    ("cos", "acos"),
    ("tan", "atan"),
    ("exp", "log"),
    ("log", "exp"),
):
    _rule(f"{_op}({_kind} x)", _op, _kind, lambda x: x.a,
          lambda x, y, z, k=_kind: (make(k, x),))  # type: ignore[misc]  # fmt: skip
_rule("|number|", "abs", "const", lambda c: c if type(c.a) is Pi else constant(abs(c.a)),
      lambda x, y, z: (constant(-2),))  # fmt: skip
for _kind in ("abs", "sqrt", "exp"):
    _rule(f"|{_kind} x|", "abs", _kind, lambda x: x,
          lambda x, y, z, k=_kind: (make(k, x),))  # type: ignore[misc]  # fmt: skip
_rule("sign of a number", "sign", "const",
      lambda c: constant((c.a > 0) - (c.a < 0)) if type(c.a) in _EXACT else ONE,
      lambda x, y, z: (constant(-2),))  # fmt: skip
_rule("min(x, x)", "min", "same", lambda x: x, lambda x, y, z: (x, x))
_rule("max(x, x)", "max", "same", lambda x: x, lambda x, y, z: (x, x))
