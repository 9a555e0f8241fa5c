"""Local rules applied while building, as rows; one test checks each against evaluation.

A row says which operation on which kinds of arguments it looks at (the name of the argument's
operation, "any", or "same" for two identical arguments), what it makes of them (None: nothing) and
an example on which it acts. Rules look at most two operations deep and never search, so building
stays cheap. What they keep:

- exact numbers fold with exact ones exactly, a float makes a float, never the other way round;
- signs move outwards: (-x) y = -(x y), and a constant factor is positive and comes first;
- division by an exact constant is multiplication by its inverse; 1/x stays, to be shared.

Rules of numbers, sums and products.

Rules of powers, roots and functions.

Exact values: square roots of rationals, sine and cosine of multiples of π/12.

Public names: ROWS, ARITHMETIC, FUNCTIONS, exact_sqrt, exact_sine, exact_cosine,
turns, install.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from liaison.expr.functions import absolute, cos, select, sin, sqrt

from .node import (
    COMMUTATIVE,
    HALF,
    ONE,
    PI,
    RULES,
    RULES_ONE,
    RULES_SAME,
    TWO,
    ZERO,
    Expr,
    Number,
    Pi,
    combine,
    constant,
    make,
    unary,
    vanishes,
)
from .ops import OPS
from .row import Rewritten, Rows, Rule
from .values import FLOAT_VALUES

_EXACT = (int, Fraction)

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


# Powers and roots -------------------------------------------------------------------------------


def _number_power(x: Expr, c: Expr) -> Rewritten:
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


def _power_of_power(x: Expr, c: Expr) -> Rewritten:
    m, n = x.b, c.a
    if m.op == "const" and type(m.a) is int and type(n) is int:
        return x.a ** constant(m.a * n)  # type: ignore[no-any-return]
    return None


def _sqrt_number(c: Expr) -> Rewritten:
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


def _odd(op: str) -> Callable[[Expr], Rewritten]:
    return lambda x: -unary(op, x.a)


def _even(op: str) -> Callable[[Expr], Rewritten]:
    return lambda x: unary(op, x.a)


def _of_negative(op: str, turn: int) -> Callable[[Expr], Rewritten]:
    """An odd (turn −1) or even function of a negative exact number."""

    def value(c: Expr) -> Rewritten:
        if type(c.a) not in _EXACT or c.a >= 0:
            return None
        positive = unary(op, constant(-c.a))
        return -positive if turn < 0 else positive

    return value


def _of_turns(function: Callable[[Fraction], Rewritten]) -> Callable[[Expr], Rewritten]:
    """A function of an exact multiple of π."""

    def value(x: Expr) -> Rewritten:
        angle = turns(x)
        return None if angle is None else function(angle)

    return value


def _exact_at(point: int, result: Expr) -> Callable[[Expr], Rewritten]:
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


def _in_triangle(
    side: Callable[[Fraction], tuple[Fraction, Fraction]],
) -> Callable[[Expr], Rewritten]:
    """factor · √square of an exact number in an inverse function, where the root is rational."""

    def value(angle: Expr) -> Rewritten:
        c = angle.a
        if c.op != "const" or type(c.a) not in _EXACT:
            return None
        factor, square = side(Fraction(c.a))
        if square < 0:
            return None
        root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        return constant(factor * root) if root * root == square else None

    return value


for _op, _kind, _below, _side in (
    ("cos", "asin", 5, lambda c: (Fraction(1), 1 - c * c)),
    ("sin", "acos", 5, lambda c: (Fraction(1), 1 - c * c)),
    ("cos", "atan", 4, lambda c: (Fraction(1), 1 / (1 + c * c))),
    ("sin", "atan", 4, lambda c: (c, 1 / (1 + c * c))),
):
    _rule(f"{_op}({_kind} number)", _op, _kind, _in_triangle(_side),
          lambda x, y, z, k=_kind, n=_below: (make(k, constant(Fraction(3, n))),))  # type: ignore[misc]  # fmt: skip
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


ARITHMETIC = Rows()
_rule = ARITHMETIC.rule


# Numbers ----------------------------------------------------------------------------------------


def _ratio(x: Any, y: Any) -> Fraction:
    if y == 0:
        raise ZeroDivisionError(f"{x!r} / 0: the divisor is exactly zero")
    return Fraction(x, y)


def _power(x: Any, y: Any) -> Number | None:
    if type(y) is not int or abs(y) > 64:
        return None
    power: Number = _ratio(1, x**-y) if y < 0 else x**y
    return power


_EXACTLY: dict[str, Callable[[Any, Any], Number | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _ratio,
    "pow": _power,
    "min": lambda x, y: y if y < x else x,
    "max": lambda x, y: y if y > x else x,
    "atan2": lambda y, x: 0 if y == 0 and x > 0 else None,
}


def _fold(op: str) -> Callable[[Expr, Expr], Rewritten]:
    """Both arguments constant: π folds only with a float, and nothing folds to inf or NaN."""
    exactly, rounded = _EXACTLY[op], FLOAT_VALUES[op]

    def fold(x: Expr, y: Expr) -> Rewritten:
        a, b = x.a, y.a
        if op == "div" and y is ZERO:
            _ratio(a, b)
        if type(a) is float or type(b) is float:
            value = rounded(float(a), float(b))
            return constant(value) if math.isfinite(value) else None
        if type(a) is Pi or type(b) is Pi:
            return None
        exact_value = exactly(a, b)
        return None if exact_value is None else constant(exact_value)

    return fold


def _fold_one(op: str) -> Callable[[Expr], Rewritten]:
    value = FLOAT_VALUES[op]

    def fold(x: Expr) -> Rewritten:
        if type(x.a) is not float:
            return None
        number = value(x.a)
        return constant(number) if math.isfinite(number) else None

    return fold


for _op in _EXACTLY:
    _rule(f"{_op} of numbers", _op, "const const", _fold(_op), lambda x, y, z: (ZERO, TWO))
for _op, _row in OPS.items():
    if _row.arity == 1 and _row.build is None:
        _rule(f"{_op} of a float", _op, "const", _fold_one(_op), lambda x, y, z: (constant(0.5),))


# Sums -------------------------------------------------------------------------------------------


def _add_constant(c: Expr, x: Expr) -> Rewritten:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 0:
        return x
    return combine("sub", x, constant(-value)) if value < 0 else None


def _less_constant(x: Expr, c: Expr) -> Rewritten:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 0:
        return x
    return combine("add", x, constant(-value)) if value < 0 else None


def _offset(x: Expr) -> tuple[Number, Expr] | None:
    """(d, y) of y + d or y - (-d) with an exact number d."""
    if x.op == "add":
        number, rest, turn = x.a, x.b, 1
    else:
        number, rest, turn = x.b, x.a, -1
    if number.op == "const" and type(number.a) in _EXACT:
        return turn * number.a, rest
    return None


def _shift(sign: int) -> Callable[[Expr, Expr], Rewritten]:
    """(y + d) ± c with exact numbers."""

    def shift(x: Expr, c: Expr) -> Rewritten:
        offset = _offset(x) if type(c.a) in _EXACT else None
        return None if offset is None else offset[1] + constant(offset[0] + sign * c.a)

    return shift


def _collect(sign: int) -> Callable[[Expr, Expr], Rewritten]:
    """c y ± y and c y ± d y, with exact c and d."""

    def collect(x: Expr, y: Expr) -> Rewritten:
        c, rest = x.a, x.b
        if c.op != "const" or type(c.a) not in _EXACT:
            return None
        if rest is y:
            return combine("mul", constant(c.a + sign), y)
        if y.op == "mul" and y.b is rest and y.a.op == "const" and type(y.a.a) in _EXACT:
            return combine("mul", constant(c.a + sign * y.a.a), rest)
        return None

    return collect


def _less_multiple(x: Expr, y: Expr) -> Rewritten:
    """x - d x."""
    d = y.a
    if y.b is x and d.op == "const" and type(d.a) in _EXACT:
        return combine("mul", constant(1 - d.a), x)
    return None


def _pythagoras(x: Expr, y: Expr) -> Rewritten:
    """sin² a + cos² a."""
    s, c = x.a, y.a
    if s is not x.b or c is not y.b or s.a is not c.a:
        return None
    return ONE if {s.op, c.op} == {"sin", "cos"} else None


_rule("0 + x", "add", "const any", _add_constant, lambda x, y, z: (ZERO, x))
_rule("-c + x", "add", "const any", _add_constant, lambda x, y, z: (constant(-2.5), x))
_rule("x - 0", "sub", "any const", _less_constant, lambda x, y, z: (x, ZERO))
_rule("x - (-c)", "sub", "any const", _less_constant, lambda x, y, z: (x, constant(-2.5)))
for _kind in ("add", "sub"):
    _rule(f"(x + d) + c ({_kind})", "add", f"{_kind} const", _shift(1),
          lambda x, y, z, k=_kind: (combine(k, x, TWO), ONE))  # type: ignore[misc]  # fmt: skip
    _rule(f"(x + d) - c ({_kind})", "sub", f"{_kind} const", _shift(-1),
          lambda x, y, z, k=_kind: (combine(k, x, TWO), ONE))  # type: ignore[misc]  # fmt: skip
_rule("0 - x", "sub", "const any", lambda c, x: -x if c.a == 0 else None, lambda x, y, z: (ZERO, x))
_rule("(-x) + y", "add", "neg any", lambda x, y: y - x.a, lambda x, y, z: (-x, y))
_rule("x - (-y)", "sub", "any neg", lambda x, y: x + y.a, lambda x, y, z: (x, -y))
_rule("(-x) - y", "sub", "neg any", lambda x, y: -(x.a + y), lambda x, y, z: (-x, y))
_rule("x + x", "add", "same", lambda x: TWO * x, lambda x, y, z: (x, x))
_rule("x - x", "sub", "same", lambda x: ZERO, lambda x, y, z: (x, x))
_rule("c x + x", "add", "mul any", _collect(1), lambda x, y, z: (TWO * x, x))
_rule("c x + d x", "add", "mul any", _collect(1), lambda x, y, z: (TWO * x, constant(3) * x))
_rule("c x - d x", "sub", "mul any", _collect(-1), lambda x, y, z: (TWO * x, x))
_rule("x - d x", "sub", "any mul", _less_multiple, lambda x, y, z: (x, TWO * x))
_rule("(x + y) - y", "sub", "add any",
      lambda s, y: s.a if s.b is y else (s.b if s.a is y else None),
      lambda x, y, z: (x + y, y))  # fmt: skip
_rule("(x - y) + y", "add", "sub any",
      lambda s, y: s.a if s.b is y else None, lambda x, y, z: (x - y, y))  # fmt: skip
_rule("sin² + cos²", "add", "mul mul", _pythagoras,
      lambda x, y, z: (sin(x) * sin(x), cos(x) * cos(x)))  # fmt: skip
_rule("-(-x)", "neg", "neg", lambda x: x.a, lambda x, y, z: (-x,))
_rule("-(x - y)", "neg", "sub", lambda x: x.b - x.a, lambda x, y, z: (x - y,))
_rule("-number", "neg", "const",
      lambda c: None if type(c.a) is Pi else constant(-c.a), lambda x, y, z: (TWO,))  # fmt: skip


# Products ---------------------------------------------------------------------------------------


def _scale(c: Expr, x: Expr) -> Rewritten:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 1:
        return x
    if value == 0:
        return constant(0.0) if type(value) is float else ZERO
    return -combine("mul", constant(-value), x) if value < 0 else None


def _scale_product(c: Expr, x: Expr) -> Rewritten:
    """c (d y) with numbers c and d."""
    d = x.a
    if d.op != "const" or type(d.a) is Pi or type(c.a) is Pi:
        return None
    return combine("mul", combine("mul", c, d), x.b)


def _chosen(x: Expr, choice: Expr) -> Rewritten:
    """A choice with an exact zero is drawn outwards, so that 0 · inf never arises in it."""
    condition, first, second = choice.b
    if first is not ZERO and second is not ZERO:
        return None
    chosen: Expr = select(condition, x * first, x * second)
    return chosen


def _chosen_over(choice: Expr, x: Expr) -> Rewritten:
    condition, first, second = choice.b
    if first is not ZERO and second is not ZERO:
        return None
    chosen: Expr = select(condition, first / x, second / x)
    return chosen


def _roots(x: Expr, y: Expr) -> Rewritten:
    if x is y:
        inside: Expr = x.a
        return inside
    if x.a.op == y.a.op == "const" and type(x.a.a) in _EXACT and type(y.a.a) in _EXACT:
        return sqrt(constant(x.a.a * y.a.a))
    return None


def _divide(x: Expr, c: Expr) -> Rewritten:
    value = c.a
    if type(value) is Pi:
        return None
    if type(value) is not float:
        return combine("mul", constant(_ratio(1, value)), x)
    if value == 1:
        return x
    return -(x / constant(-value)) if value < 0 else None


def _over(c: Expr, x: Expr) -> Rewritten:
    value = c.a
    if type(value) is Pi or (value == 0 and vanishes(x)):
        return None
    if value == 0:
        return constant(0.0) if type(value) is float else ZERO
    return -combine("div", constant(-value), x) if value < 0 else None


def _over_root(x: Expr, y: Expr) -> Rewritten:
    """x / sqrt(c) = (x/c) sqrt(c) for an exact number c."""
    c = y.a
    return x / c * y if c.op == "const" and type(c.a) in _EXACT else None


_rule("c x", "mul", "const any", _scale, lambda x, y, z: (constant(-1), x))
_rule("0 x", "mul", "const any", _scale, lambda x, y, z: (constant(0.0), x))
_rule("c (d x)", "mul", "const mul", _scale_product, lambda x, y, z: (TWO, constant(0.3) * x))
_rule("(-x) y", "mul", "neg any", lambda x, y: -(x.a * y), lambda x, y, z: (-x, y))
_rule("x (c ? y : 0)", "mul", "any select", _chosen, lambda x, y, z: (x, select(y, z, ZERO)))
_rule("√x √x", "mul", "sqrt sqrt", _roots, lambda x, y, z: (sqrt(x), sqrt(x)))
_rule("√2 √3", "mul", "sqrt sqrt", _roots,
      lambda x, y, z: (make("sqrt", TWO), make("sqrt", constant(3))))  # fmt: skip
_rule("x / c", "div", "any const", _divide, lambda x, y, z: (x, constant(3)))
_rule("x / -c", "div", "any const", _divide, lambda x, y, z: (x, constant(-0.3)))
_rule("0 / x", "div", "const any", _over, lambda x, y, z: (ZERO, x))
_rule("-c / x", "div", "const any", _over, lambda x, y, z: (constant(-2), x))
_rule("x / x", "div", "same", lambda x: None if vanishes(x) else ONE, lambda x, y, z: (x, x))
_rule("(-x) / y", "div", "neg any", lambda x, y: -(x.a / y), lambda x, y, z: (-x, y))
_rule("x / (-y)", "div", "any neg", lambda x, y: -(x / y.a), lambda x, y, z: (x, -y))
_rule("(x y) / y", "div", "mul any",
      lambda p, y: p.a if p.b is y else (p.b if p.a is y else None),
      lambda x, y, z: (x * y, y))  # fmt: skip
_rule("(c ? y : 0) / x", "div", "select any", _chosen_over,
      lambda x, y, z: (select(y, z, ZERO), x))  # fmt: skip
_rule("x / √c", "div", "any sqrt", _over_root, lambda x, y, z: (x, make("sqrt", TWO)))


ROWS: tuple[Rule, ...] = (*ARITHMETIC, *FUNCTIONS)


def _swapped(rule: Callable[..., Expr | None]) -> Callable[..., Expr | None]:
    return lambda a, b: rule(b, a)


def install(rows: tuple[Rule, ...] = ROWS) -> None:
    """Write the rows into the tables of node.py, in their order, for all operations of `OPS`."""
    kinds = ("const", "symbol", *OPS)
    plain = {name: row.arity for name, row in OPS.items() if row.build is None}
    for op in (name for name, arity in plain.items() if arity == 2):
        RULES[op] = {a: dict.fromkeys(kinds, ()) for a in kinds}
    for op in (name for name, arity in plain.items() if arity == 1):
        RULES_ONE[op] = dict.fromkeys(kinds, ())
    for row in rows:
        if row.kinds == ("same",):
            RULES_SAME[row.op] = row.apply
        elif len(row.kinds) == 1:
            RULES_ONE[row.op][row.kinds[0]] += (row.apply,)
        else:
            _install_pair(row, kinds)


def _install_pair(row: Rule, kinds: tuple[str, ...]) -> None:
    table = RULES[row.op]
    first, second = (kinds if kind == "any" else (kind,) for kind in row.kinds)
    is_turned = row.op in COMMUTATIVE and row.kinds[0] != row.kinds[1]
    turned = _swapped(row.apply)
    for a in first:
        for b in second:
            if row.apply not in table[a][b]:
                table[a][b] += (row.apply,)
                if is_turned:
                    table[b][a] += (turned,)


install()
