"""Local rules applied while building, as rows; one test checks each against evaluation.

A row says which operation on which kinds of arguments it looks at (the name of the argument's
operation, "any", or "same" for two identical arguments), what it makes of them (None: nothing) and
an example on which it acts. Rules look at most two operations deep and never search, so building
stays cheap. What they keep:

- exact numbers fold with exact ones exactly, a float makes a float, never the other way round;
- signs move outwards: (-x) y = -(x y), and a constant factor is positive and comes first;
- division by an exact constant is multiplication by its inverse.

Public names: Rule, ROWS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from .exact import exact_cosine, exact_sine, exact_sqrt, turns
from .functions import absolute, cos, minimum, select, sin, sqrt
from .node import (
    ONE,
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
)
from .ops import OPS
from .values import FLOAT_VALUES

Found = Expr | None
Example = Callable[[Expr, Expr, Expr], tuple[Expr, ...]]


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """One row: on `op` of arguments of these kinds, `apply` gives a formula or None."""

    name: str
    op: str
    kinds: tuple[str, ...]
    apply: Callable[..., Found]
    example: Example


ROWS: list[Rule] = []
_number = (int, float, Fraction)
_exact = (int, Fraction)


def _rule(name: str, op: str, kinds: str, apply: Callable[..., Found], example: Example) -> None:
    ROWS.append(Rule(name, op, tuple(kinds.split()), apply, example))


# Numbers ----------------------------------------------------------------------------------------


def _ratio(x: Number, y: Number) -> Number:
    if type(y) is not float and y == 0:
        raise ZeroDivisionError(f"{x!r} / 0: the divisor is exactly zero")
    if type(x) is float or type(y) is float:
        return FLOAT_VALUES["div"](float(x), float(y))
    return Fraction(x, y)  # type: ignore[arg-type]


def _power(x: Number, y: Number) -> Number | None:
    if type(x) is float or type(y) is float:
        return FLOAT_VALUES["pow"](float(x), float(y))
    if type(y) is int and abs(y) <= 64:
        return _ratio(1, x**-y) if y < 0 else x**y
    return None


_ARITHMETIC: dict[str, Callable[[Any, Any], Number | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": _ratio,
    "pow": _power,
    "min": lambda x, y: y if y < x else x,
    "max": lambda x, y: y if y > x else x,
}


def _fold(op: str) -> Callable[[Expr, Expr], Found]:
    """Both arguments constant: π folds only with a float, and nothing folds to inf or NaN."""
    exact = _ARITHMETIC.get(op)
    rounded = FLOAT_VALUES[op]

    def fold(x: Expr, y: Expr) -> Found:
        a, b = x.a, y.a
        if type(a) is float or type(b) is float:
            if op == "div" and type(b) is int and b == 0:
                raise ZeroDivisionError(f"{a!r} / 0: the divisor is exactly zero")
            value = rounded(float(a), float(b))
            return constant(value) if math.isfinite(value) else None
        if exact is None or type(a) is Pi or type(b) is Pi:
            return None
        found = exact(a, b)
        return None if found is None else constant(found)

    return fold


def _fold_one(op: str) -> Callable[[Expr], Found]:
    value = FLOAT_VALUES[op]

    def fold(x: Expr) -> Found:
        if type(x.a) is not float:
            return None
        number = value(x.a)
        return constant(number) if math.isfinite(number) else None

    return fold


for _op in ("add", "sub", "mul", "div", "pow", "min", "max", "atan2"):
    _rule(
        f"{_op} of constants", _op, "const const", _fold(_op), lambda x, y, z: (TWO, constant(1.5))
    )
for _op, _row in OPS.items():
    if _row.arity == 1 and _op in FLOAT_VALUES:
        _rule(f"{_op} of a float", _op, "const", _fold_one(_op), lambda x, y, z: (constant(0.5),))


# Sums -------------------------------------------------------------------------------------------


def _add_constant(c: Expr, x: Expr) -> Found:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 0:
        return x
    return combine("sub", x, constant(-value)) if value < 0 else None


def _shift(c: Expr, x: Expr) -> Found:
    """c + (d + y) and c + (y - d) with exact numbers."""
    inner, first = x.op, x.a
    number = first if inner == "add" else x.b
    if type(c.a) not in _exact or number.op != "const" or type(number.a) not in _exact:
        return None
    if inner == "add":
        return combine("add", constant(c.a + number.a), x.b)
    return combine("add", constant(c.a - number.a), first)


def _less_constant(x: Expr, c: Expr) -> Found:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 0:
        return x
    if value < 0:
        return combine("add", x, constant(-value))
    return _shift(constant(-value), x) if x.op in ("add", "sub") else None


def _parts(x: Expr) -> tuple[Number, Expr] | None:
    """(c, y) of c y with an exact number c."""
    if type(x.a) is Expr and x.a.op == "const" and type(x.a.a) in _exact:
        return x.a.a, x.b
    return None


def _collect(sign: int) -> Callable[[Expr, Expr], Found]:
    """c y ± d y, with exact c and d; either may be 1."""

    def collect(x: Expr, y: Expr) -> Found:
        first = _parts(x) if x.op == "mul" else None
        second = _parts(y) if y.op == "mul" else None
        if first is not None and (first[1] is y or (second is not None and first[1] is second[1])):
            other = 1 if first[1] is y else second[0]  # type: ignore[index]
            return constant(first[0] + sign * other) * first[1]
        if second is not None and second[1] is x:
            return constant(1 + sign * second[0]) * x
        return None

    return collect


def _pythagoras(x: Expr, y: Expr) -> Found:
    """sin² a + cos² a."""
    s, c = x.a, y.a
    if s is not x.b or c is not y.b or s.a is not c.a:
        return None
    return ONE if {s.op, c.op} == {"sin", "cos"} else None


_rule("0 + x", "add", "const any", _add_constant, lambda x, y, z: (ZERO, x))
_rule("-c + x", "add", "const any", _add_constant, lambda x, y, z: (constant(-3), x))
for _kind in ("add", "sub"):
    _example: Example = lambda x, y, z, k=_kind: (ONE, combine(k, x, TWO))  # type: ignore[misc]  # noqa: E731
    _rule(f"c + (x {_kind} d)", "add", f"const {_kind}", _shift, _example)
_rule("x - 0", "sub", "any const", _less_constant, lambda x, y, z: (x, ZERO))
_rule("x - (-c)", "sub", "any const", _less_constant, lambda x, y, z: (x, constant(-2.5)))
_rule("0 - x", "sub", "const any", lambda c, x: -x if c.a == 0 else None, lambda x, y, z: (ZERO, x))
_rule("(-x) + y", "add", "neg any", lambda x, y: y - x.a, lambda x, y, z: (-x, y))
_rule("x - (-y)", "sub", "any neg", lambda x, y: x + y.a, lambda x, y, z: (x, -y))
_rule("(-x) - y", "sub", "neg any", lambda x, y: -(x.a + y), lambda x, y, z: (-x, y))
_rule("x + x", "add", "same", lambda x: TWO * x, lambda x, y, z: (x, x))
_rule("x - x", "sub", "same", lambda x: ZERO, lambda x, y, z: (x, x))
_rule("c x + d x", "add", "mul any", _collect(1), lambda x, y, z: (TWO * x, x))
_rule("c x - d x", "sub", "mul any", _collect(-1), lambda x, y, z: (TWO * x, x))
_rule("x - d x", "sub", "any mul", _collect(-1), lambda x, y, z: (x, TWO * x))
_rule("(x + y) - y", "sub", "add any", lambda s, y: s.a if s.b is y else (s.b if s.a is y else None),
      lambda x, y, z: (x + y, y))  # fmt: skip
_rule(
    "(x - y) + y",
    "add",
    "sub any",
    lambda s, y: s.a if s.b is y else None,
    lambda x, y, z: (x - y, y),
)
_rule(
    "sin² + cos²", "add", "mul mul", _pythagoras, lambda x, y, z: (sin(x) * sin(x), cos(x) * cos(x))
)


# Products ---------------------------------------------------------------------------------------


def _scale(c: Expr, x: Expr) -> Found:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 1:
        return x
    if value == 0:
        return c if value is c.a and type(value) is not float else constant(0.0)
    if value < 0:
        return -combine("mul", constant(-value), x)
    return None


def _scale_product(c: Expr, x: Expr) -> Found:
    """c (d y) with numbers c and d."""
    d = x.a
    if d.op != "const" or type(d.a) is Pi or type(c.a) is Pi:
        return None
    return combine("mul", combine("mul", c, d), x.b)


def _mul_select(x: Expr, choice: Expr) -> Found:
    """A choice with an exact zero is drawn outwards, so that 0 · inf never arises in it."""
    c, first, second = choice.b
    if first is ZERO or second is ZERO:
        return select(c, x * first, x * second)  # type: ignore[no-any-return]
    return None


def _roots(x: Expr, y: Expr) -> Found:
    if x is y:
        return x.a
    if x.a.op == y.a.op == "const" and type(x.a.a) in _exact and type(y.a.a) in _exact:
        return sqrt(constant(x.a.a * y.a.a))
    return None


def _divide(x: Expr, c: Expr) -> Found:
    value = c.a
    if type(value) is Pi:
        return None
    if type(value) is float:
        if value == 1:
            return x
        return -(x / constant(-value)) if value < 0 else None
    return combine("mul", constant(_ratio(1, value)), x)


def _over(c: Expr, x: Expr) -> Found:
    value = c.a
    if type(value) is Pi:
        return None
    if value == 0:
        return constant(0.0) if type(value) is float else c
    return -combine("div", constant(-value), x) if value < 0 else None


def _over_root(x: Expr, y: Expr) -> Found:
    """x / sqrt(c) = (x/c) sqrt(c) for an exact number c."""
    c = y.a
    return x / c * y if c.op == "const" and type(c.a) in _exact else None


_rule("c x", "mul", "const any", _scale, lambda x, y, z: (constant(-1), x))
_rule("c (d x)", "mul", "const mul", _scale_product, lambda x, y, z: (TWO, constant(0.3) * x))
_rule("(-x) y", "mul", "neg any", lambda x, y: -(x.a * y), lambda x, y, z: (-x, y))
_rule("x (c ? y : 0)", "mul", "any select", _mul_select, lambda x, y, z: (x, select(y, z, ZERO)))
_rule("√x √y", "mul", "sqrt sqrt", _roots, lambda x, y, z: (sqrt(x), sqrt(x)))
_rule(
    "√2 √3",
    "mul",
    "sqrt sqrt",
    _roots,
    lambda x, y, z: (make("sqrt", TWO), make("sqrt", constant(3))),
)
_rule("x / c", "div", "any const", _divide, lambda x, y, z: (x, constant(3)))
_rule("0 / x", "div", "const any", _over, lambda x, y, z: (ZERO, x))
_rule("-c / x", "div", "const any", _over, lambda x, y, z: (constant(-2), x))
_rule("x / x", "div", "same", lambda x: ONE, lambda x, y, z: (x, x))
_rule("(-x) / y", "div", "neg any", lambda x, y: -(x.a / y), lambda x, y, z: (-x, y))
_rule("x / (-y)", "div", "any neg", lambda x, y: -(x / y.a), lambda x, y, z: (x, -y))
_rule("(x y) / y", "div", "mul any", lambda p, y: p.a if p.b is y else (p.b if p.a is y else None),
      lambda x, y, z: (x * y, y))  # fmt: skip
_rule("(c ? y : 0) / x", "div", "select any",
      lambda choice, x: select(choice.b[0], choice.b[1] / x, choice.b[2] / x) if ZERO in choice.b[1:] else None,
      lambda x, y, z: (select(y, z, ZERO), x))  # fmt: skip
_rule("x / √c", "div", "any sqrt", _over_root, lambda x, y, z: (x, make("sqrt", TWO)))
_rule("-(-x)", "neg", "neg", lambda x: x.a, lambda x, y, z: (-x,))
_rule("-(x - y)", "neg", "sub", lambda x: x.b - x.a, lambda x, y, z: (x - y,))
_rule(
    "-number",
    "neg",
    "const",
    lambda c: None if type(c.a) is Pi else constant(-c.a),
    lambda x, y, z: (TWO,),
)


# Powers and roots -------------------------------------------------------------------------------


def _whole_power(x: Expr, c: Expr) -> Found:
    n = c.a
    if type(n) is float or type(n) is Pi:
        return ONE if n == 0 else (x if n == 1 else None)
    if n == 0 or n == 1:
        return ONE if n == 0 else x
    if n < 0:
        return ONE / x ** constant(-n)
    if n == 2:
        return x * x
    return sqrt(x) if n == Fraction(1, 2) else None


def _power_of_power(x: Expr, c: Expr) -> Found:
    m, n = x.b, c.a
    if m.op == "const" and type(m.a) is int and type(n) is int:
        return x.a ** constant(m.a * n)
    return None


def _sqrt_number(c: Expr) -> Found:
    return exact_sqrt(c.a) if type(c.a) in _exact else None


_rule("x ** n", "pow", "any const", _whole_power, lambda x, y, z: (x, constant(-1)))
_rule("x ** 2", "pow", "any const", _whole_power, lambda x, y, z: (x, TWO))
_rule("x ** ½", "pow", "any const", _whole_power, lambda x, y, z: (x, constant(Fraction(1, 2))))
_rule("(x ** m) ** n", "pow", "pow const", _power_of_power,
      lambda x, y, z: (x ** constant(3), constant(2)))  # fmt: skip
_rule(
    "1 ** x", "pow", "const any", lambda c, x: ONE if c is ONE else None, lambda x, y, z: (ONE, x)
)
_rule("√number", "sqrt", "const", _sqrt_number, lambda x, y, z: (constant(Fraction(8, 9)),))
_rule(
    "√(x x)",
    "sqrt",
    "mul",
    lambda x: absolute(x.a) if x.a is x.b else None,
    lambda x, y, z: (x * x,),
)


# Functions --------------------------------------------------------------------------------------


def _odd(op: str) -> Callable[[Expr], Found]:
    return lambda x: -unary(op, x.a)


def _even(op: str) -> Callable[[Expr], Found]:
    return lambda x: unary(op, x.a)


def _of_turns(function: Callable[[Fraction], Found]) -> Callable[[Expr], Found]:
    """A function of an exact multiple of π."""

    def value(x: Expr) -> Found:
        angle = turns(x)
        return None if angle is None else function(angle)

    return value


def _inverse(inner: str) -> Callable[[Expr], Found]:
    return lambda x: x.a if x.op == inner else None


def _exact_at(point: int, result: Expr) -> Callable[[Expr], Found]:
    return lambda c: result if type(c.a) is int and c.a == point else None


for _op in ("sin", "tan", "asin", "atan", "sign"):
    _rule(f"{_op}(-x)", _op, "neg", _odd(_op), lambda x, y, z: (-x,))
for _op in ("cos", "abs"):
    _rule(f"{_op}(-x)", _op, "neg", _even(_op), lambda x, y, z: (-x,))
for _op, _point, _value in (
    ("sin", 0, ZERO), ("cos", 0, ONE), ("tan", 0, ZERO), ("asin", 0, ZERO), ("atan", 0, ZERO),
    ("acos", 1, ZERO), ("exp", 0, ONE), ("log", 1, ZERO),
):  # fmt: skip
    _rule(
        f"{_op} {_point}",
        _op,
        "const",
        _exact_at(_point, _value),
        lambda x, y, z, p=_point: (constant(p),),
    )  # type: ignore[misc]
for _kind in ("const", "mul"):
    _angle: Example = lambda x, y, z, k=_kind: (
        constant(Pi()) if k == "const" else constant(Fraction(7, 12)) * constant(Pi()),
    )  # type: ignore[misc]  # noqa: E731
    _rule(f"sin of π ({_kind})", "sin", _kind, _of_turns(exact_sine), _angle)
    _rule(f"cos of π ({_kind})", "cos", _kind, _of_turns(exact_cosine), _angle)
for _op, _kind in (
    ("sin", "asin"),
    ("cos", "acos"),
    ("tan", "atan"),
    ("exp", "log"),
    ("log", "exp"),
):
    _rule(f"{_op}({_kind} x)", _op, _kind, _inverse(_kind), lambda x, y, z, k=_kind: (make(k, x),))  # type: ignore[misc]
_rule("|exact|", "abs", "const", lambda c: constant(abs(c.a)) if type(c.a) is not Pi else c,
      lambda x, y, z: (constant(-2),))  # fmt: skip
_rule("||x||", "abs", "abs", lambda x: x, lambda x, y, z: (absolute(x),))
_rule("|√x|", "abs", "sqrt", lambda x: x, lambda x, y, z: (sqrt(x),))
_rule("|exp x|", "abs", "exp", lambda x: x, lambda x, y, z: (make("exp", x),))
_rule("sign exact", "sign", "const",
      lambda c: constant((c.a > 0) - (c.a < 0)) if type(c.a) in _exact else None,
      lambda x, y, z: (constant(-2),))  # fmt: skip
_rule("min(x, x)", "min", "same", lambda x: x, lambda x, y, z: (x, x))
_rule("max(x, x)", "max", "same", lambda x: x, lambda x, y, z: (x, x))
_rule("atan2(0, c)", "atan2", "const const",
      lambda y, x: ZERO if y is ZERO and type(x.a) in _exact and x.a > 0 else None,
      lambda x, y, z: (ZERO, TWO))  # fmt: skip


# Dispatch ---------------------------------------------------------------------------------------

KINDS = ("const", "symbol", *OPS)


def _swapped(rule: Callable[..., Found]) -> Callable[..., Found]:
    return lambda a, b: rule(b, a)


def _install(rows: list[Rule]) -> None:
    """Write the rows into the tables of node.py, in their order; numbers fold first."""
    for op in (name for name, row in OPS.items() if row.arity == 2 and row.build is None):
        RULES[op] = {a: dict.fromkeys(KINDS, ()) for a in KINDS}
    for op in (name for name, row in OPS.items() if row.arity == 1 and row.build is None):
        RULES_ONE[op] = dict.fromkeys(KINDS, ())
    for row in rows:
        if row.kinds == ("same",):
            RULES_SAME[row.op] = row.apply
        elif len(row.kinds) == 1:
            for kind in KINDS if row.kinds[0] == "any" else row.kinds:
                RULES_ONE[row.op][kind] += (row.apply,)
        else:
            _install_pair(row)


def _install_pair(row: Rule) -> None:
    table = RULES[row.op]
    first, second = (KINDS if kind == "any" else (kind,) for kind in row.kinds)
    commutes = row.op in ("add", "mul", "min", "max")
    for a in first:
        for b in second:
            if row.apply not in table[a][b]:
                table[a][b] += (row.apply,)
            if commutes and row.kinds[0] != row.kinds[1]:
                table[b][a] += (_swapped(row.apply),)


_install(ROWS)
assert minimum.op in RULES
