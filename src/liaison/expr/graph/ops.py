"""The table of operations: for each its value, partial derivatives, and how it is written.

A row with `expand` is special: `expanded(fs)` writes it in terms of plain rows, so that a back end
that does not know it never meets it.

Public names: OPS, partial, apply.
"""

from __future__ import annotations

from typing import Any

from liaison.expr.functions import cos, exp, log, select, sign, sin, sqrt, tan
from liaison.expr.smooth import ARC_RATIO, STUMPFF
from liaison.expr.table import TABLE
from liaison.expr.unknown import CALL

from .node import HALF, MINUS_ONE, ONE, ZERO, Expr, as_expr, combine, unary, vanishes
from .row import ATOM, POWER, PRODUCT, SIGN, SUM, Op, Partial
from .values import ARRAY_VALUES, FLOAT_VALUES


def _row(
    name: str, partials: tuple[Partial, ...], c: str, latex: str, text: str = "",
    rank: int = ATOM, sympy: str = "",
) -> Op:  # fmt: skip
    value, array = FLOAT_VALUES[name], ARRAY_VALUES[name]
    return Op(len(partials), value, array, partials, c, latex, text or c, rank, sympy)


def _function(name: str, derivative: Partial, latex: str, c: str = "", sympy: str = "") -> Op:
    text = f"{name}({{}})"
    return _row(name, (derivative,), c or text, latex, text, sympy=sympy or name)


def _first_smaller(x: Expr, y: Expr) -> Expr:
    # equal arguments: the first is taken, so this is 1 where y >= x
    return select(x - y, ZERO, ONE)  # type: ignore[no-any-return]


def _power_base(x: Expr, n: Expr) -> Expr:
    return n * x ** (n - ONE)


def _power_exponent(x: Expr, n: Expr) -> Expr:
    # xⁿ log x, whose limit at x = 0 is 0 where n > 0: the logarithm is then taken of 1
    if x.op == "const" and not vanishes(x):
        return x**n * log(x)
    at_zero = n * (ONE - sign(x) * sign(x))
    return x**n * log(select(at_zero, ONE, x))  # type: ignore[no-any-return]


_UNIT: Partial = lambda *_: ONE  # noqa: E731
_MINUS: Partial = lambda *_: MINUS_ONE  # noqa: E731

OPS: dict[str, Op] = {
    "add": _row("add", (_UNIT, _UNIT), "({} + {})", "{} + {}", "{} + {}", SUM),
    "sub": _row("sub", (_UNIT, _MINUS), "({} - {})", "{} - {}", "{} - {}", SUM),
    "mul": _row("mul", (lambda x, y: y, lambda x, y: x), "({} * {})", r"{}\,{}", "{}*{}", PRODUCT),
    "div": _row(
        "div",
        (lambda x, y: ONE / y, lambda x, y: -(x / y * (ONE / y))),
        "({} / {})",
        r"\frac{{{}}}{{{}}}",
        "{}/{}",
        PRODUCT,
    ),
    "neg": _row("neg", (_MINUS,), "(-{})", "-{}", "-{}", SIGN),
    "pow": _row(
        "pow",
        (_power_base, _power_exponent),
        "pow({}, {})",
        "{{{}}}^{{{}}}",
        "{}**{}",
        POWER,
    ),
    "sqrt": _function("sqrt", lambda x: HALF / sqrt(x), r"\sqrt{{{}}}"),
    "sin": _function("sin", lambda x: cos(x), r"\sin {}"),
    "cos": _function("cos", lambda x: -sin(x), r"\cos {}"),
    "tan": _function("tan", lambda x: ONE + tan(x) * tan(x), r"\tan {}"),
    "asin": _function("asin", lambda x: ONE / sqrt(ONE - x * x), r"\arcsin {}"),
    "acos": _function("acos", lambda x: -(ONE / sqrt(ONE - x * x)), r"\arccos {}"),
    "atan": _function("atan", lambda x: ONE / (ONE + x * x), r"\arctan {}"),
    "atan2": _row(
        "atan2",
        (lambda y, x: x / (x * x + y * y), lambda y, x: -(y / (x * x + y * y))),
        "atan2({}, {})",
        r"\operatorname{{atan2}}({}, {})",
        sympy="atan2",
    ),
    "exp": _function("exp", lambda x: exp(x), r"\exp {}"),
    "log": _function("log", lambda x: ONE / x, r"\ln {}"),
    "abs": _function("abs", lambda x: sign(x), r"\left|{}\right|", "fabs({})", "Abs"),
    "sign": _function(
        "sign",
        lambda x: ZERO,
        r"\operatorname{{sgn}} {}",
        "(double)(({0} > 0) - ({0} < 0))",
    ),
    "min": _row(
        "min",
        (_first_smaller, lambda x, y: select(x - y, ONE, ZERO)),
        "({1} < {0} ? {1} : {0})",
        r"\min({}, {})",
        "min({}, {})",
        sympy="Min",
    ),
    "max": _row(
        "max",
        (lambda x, y: select(y - x, ZERO, ONE), lambda x, y: select(y - x, ONE, ZERO)),
        "({1} > {0} ? {1} : {0})",
        r"\max({}, {})",
        "max({}, {})",
        sympy="Max",
    ),
    "select": _row(
        "select",
        (
            lambda c, x, y: ZERO,
            lambda c, x, y: select(c, ONE, ZERO),
            lambda c, x, y: select(c, ZERO, ONE),
        ),
        "({} > 0 ? {} : {})",
        r"\begin{{cases}} {1} & {0} > 0 \\ {2} & \text{{else}} \end{{cases}}",
        "select({}, {}, {})",
        sympy="Piecewise",
    ),
    "stumpff": STUMPFF,
    "arc_ratio": ARC_RATIO,
    "table": TABLE,
    "call": CALL,
}


def partial(node: Expr, index: int) -> Expr:
    """Derivative of a node in its argument number `index`, as a formula of its arguments."""
    a, b = node.a, node.b
    row = OPS[node.op]
    if type(b) is not tuple:
        return row.partials[index](a) if b is None else row.partials[index](a, b)
    if row.arity < 0:
        return row.partials[0](a, b, index)
    return row.partials[index](*b) if a is None else row.partials[index](a, *b)


def apply(op: str, args: tuple[Expr, ...], data: Any = None) -> Expr:
    """The operation on these arguments, after the local rules."""
    build = OPS[op].build
    if build is not None:
        return build(data, *args)
    if len(args) == 2:
        return combine(op, *args)
    return unary(op, args[0]) if len(args) == 1 else as_expr(select(*args))
