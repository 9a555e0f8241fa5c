"""The functions an author writes: sin(x), atan2(y, x), select(c, x, y), …

Each takes any scalar. A float gives a float, a formula a formula, an exact number its exact value
where that is a rational (sin 0 = 0, sqrt 4 = 2) and an exact formula otherwise (sqrt 2).

Public names: sqrt sin cos tan asin acos atan exp log absolute sign atan2 minimum maximum power
select piecewise.
"""

from __future__ import annotations

from typing import Any, final, overload

from liaison.expr.graph.node import Expr, Pi, Scalar, as_expr, combine, make_many, unary
from liaison.expr.graph.values import FLOAT_VALUES


def plain(node: Expr) -> Scalar:
    """A number where the formula is a number, else the formula."""
    return node.a if node.op == "const" and type(node.a) is not Pi else node


EXAMPLE = """

Example:
    >>> import liaison
    >>> liaison.{}
    {}
"""


@final
class Unary:
    """A function of one scalar, by the name of its operation."""

    def __init__(self, op: str, doc: str, call: str = "", value: str = "") -> None:
        self.op = op
        self.value = FLOAT_VALUES[op]
        self.__doc__ = doc + (EXAMPLE.format(call, value) if call else "")

    @overload
    def __call__(self, x: Expr) -> Expr: ...
    @overload
    def __call__(self, x: Scalar) -> Any: ...
    def __call__(self, x: Scalar) -> Any:
        """The value: a float of a float, else a formula or an exact number."""
        if type(x) is Expr:
            return unary(self.op, x)
        if isinstance(x, float):
            return self.value(float(x))
        return plain(unary(self.op, as_expr(x)))

    def __repr__(self) -> str:
        return self.op


@final
class Binary:
    """A function of two scalars, by the name of its operation."""

    def __init__(self, op: str, doc: str, call: str = "", value: str = "") -> None:
        self.op = op
        self.value = FLOAT_VALUES[op]
        self.__doc__ = doc + (EXAMPLE.format(call, value) if call else "")

    @overload
    def __call__(self, x: Expr, y: Scalar) -> Expr: ...
    @overload
    def __call__(self, x: Scalar, y: Expr) -> Expr: ...
    @overload
    def __call__(self, x: Scalar, y: Scalar) -> Any: ...
    def __call__(self, x: Scalar, y: Scalar) -> Any:
        """The value: a float of floats, else a formula or an exact number."""
        if isinstance(x, float) and isinstance(y, float):
            return self.value(float(x), float(y))
        node = combine(self.op, as_expr(x), as_expr(y))
        return node if type(x) is Expr or type(y) is Expr else plain(node)

    def __repr__(self) -> str:
        return self.op


sqrt = Unary("sqrt", "Square root, of a non-negative number.", "sqrt(4)", "2")
sin = Unary("sin", "Sine of an angle [rad].", "sin(0.5)", "0.479425538604203")
cos = Unary("cos", "Cosine of an angle [rad].", "cos(0)", "1")
tan = Unary("tan", "Tangent of an angle [rad].", "tan(0.5)", "0.5463024898437905")
asin = Unary("asin", "Arc sine [rad], in [-π/2, π/2].", "asin(1.0)", "1.5707963267948966")
acos = Unary("acos", "Arc cosine [rad], in [0, π].", "acos(1)", "0")
atan = Unary("atan", "Arc tangent [rad], in (-π/2, π/2).", "atan(1.0)", "0.7853981633974483")
exp = Unary("exp", "Exponential.", "exp(0)", "1")
log = Unary("log", "Natural logarithm.", "log(1)", "0")
absolute = Unary("abs", "Absolute value.", "absolute(-3)", "3")
sign = Unary("sign", "-1, 0 or 1.", "sign(-0.2)", "-1.0")
atan2 = Binary(
    "atan2",
    "atan2(y, x): angle [rad] of the vector (x, y), in (-π, π].",
    "atan2(1.0, 1.0)",
    "0.7853981633974483",
)
minimum = Binary(
    "min", "The smaller of two scalars; the first where they are equal.", "minimum(2, 3)", "2"
)
maximum = Binary(
    "max", "The larger of two scalars; the first where they are equal.", "maximum(2, 3)", "3"
)
power = Binary("pow", "x to the power y.")


def select(condition: Scalar, x: Scalar, y: Scalar) -> Any:
    """x where condition > 0, else y.

    Example:
        >>> import liaison
        >>> liaison.select(1, "a", "b")
        'a'
        >>> x = liaison.symbol("x")
        >>> print(liaison.to_text(liaison.select(x, x, 0)))
        select(x, x, 0)
    """
    chosen = as_expr(condition)
    if chosen.op == "const":
        return x if float(chosen) > 0 else y
    first, second = as_expr(x), as_expr(y)
    if first is second:
        return first
    return make_many("select", None, (chosen, first, second))


def piecewise(*cases: tuple[Scalar, Scalar] | Scalar, default: Scalar | None = None) -> Any:
    """The value of the first case (condition, value) whose condition is > 0, else the default.

    The default is named, or is the last argument: piecewise((x - 1, y), 0).

    Example:
        >>> import liaison
        >>> x = liaison.symbol("x")
        >>> print(liaison.to_text(liaison.piecewise((x - 1, 2 * x), 0)))
        select(x - 1, 2*x, 0)
    """
    *pairs, last = cases if default is None else (*cases, default)
    if isinstance(last, tuple) or not all(isinstance(pair, tuple) for pair in pairs):
        raise TypeError("piecewise takes pairs (condition, value), and then a default value")
    result: Scalar = last
    for condition, value in reversed(pairs):  # type: ignore[misc]
        result = select(condition, value, result)
    return result
