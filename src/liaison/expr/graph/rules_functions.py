"""Rules of powers, roots and functions.

Public names: FUNCTIONS.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from liaison.expr.functions import absolute, sqrt

from .node import HALF, ONE, PI, TWO, ZERO, Expr, Pi, constant, make, unary
from .rule import Found, Rows
from .special_values import exact_cosine, exact_sine, exact_sqrt, turns

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
