"""The functions a formula of LSD may call, with what they ask of dimensions, and its words.

Words make no arithmetic: `si` takes every quantity inside as its number in SI, so that any formula
can be said without units; `unknown` and `named` give a name to what would be named by its place,
or have none.

Public names: FUNCTIONS, VECTOR_FUNCTIONS, WORDS, applied, worded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import liaison.expr as ex
from liaison.expr import Function, as_expr
from liaison.units import ANGLE, TIME

from .values import (
    PURE,
    BodyFrame,
    Dimension,
    Quantity,
    Unfit,
    Value,
    Vector,
    Word,
    added,
    checked,
    multiplied,
    product_of,
    same,
    spelled,
)


def applied(name: str, values: list[Value], named: dict[str, Value]) -> Value:
    """The value of a function of numbers; rejects the wrong number, kind or dimension of them."""
    if name == "table":
        return _table(values, named)
    if name in VECTOR_FUNCTIONS:
        return _of_vectors(name, values)
    function, count, rule = FUNCTIONS[name]
    if named or len(values) < count or (len(values) > count and rule != "most"):
        raise Unfit(f"{name} takes {count} {'value' if count == 1 else 'values'}.")
    quantities = [v for v in values if isinstance(v, Quantity)]
    if len(quantities) < len(values):
        raise Unfit(f"{name} takes numbers, not vectors or texts.")
    try:
        result = function(*(q.value for q in quantities))
    except (ValueError, ZeroDivisionError, ArithmeticError):
        raise Unfit(f"{name} has no value here.") from None
    if isinstance(result, int):
        result = Fraction(result)
    bare = all(q.bare for q in quantities)
    return Quantity(checked(result), _result_dimension(name, rule, quantities), bare)


def _result_dimension(name: str, rule: str, arguments: list[Quantity]) -> Dimension | None:
    """The dimension of a function's value, once its arguments have been found fit."""
    relevant = arguments[1:] if name == "if" else arguments
    first = next((q for q in relevant if not q.bare), relevant[0]).dimension
    for q in relevant:
        expected = {"pure": PURE, "angle": PURE, "turn": ANGLE}.get(rule, first)
        if not q.bare and not same(q.dimension, expected):
            hint = "; give factors their units: 2 rad/s * t" if q.dimension == TIME else ""
            raise Unfit(f"{name} takes {spelled(expected)}, not {spelled(q.dimension)}{hint}.")
    if rule == "root" and first is not None:
        if any(n % 2 for n in first[:3]):
            raise Unfit(f"the square root of {spelled(first)} has no dimension.")
        return (first[0] // 2, first[1] // 2, first[2] // 2, 0, first[4] // 2)
    return {"pure": PURE, "turn": PURE, "sign": PURE, "angle": ANGLE, "ratio": ANGLE}.get(
        rule, first
    )


def _of_vectors(name: str, values: list[Value]) -> Value:
    """norm(a), dot(a, b), cross(a, b) of vectors of three."""
    count = 1 if name == "norm" else 2
    if len(values) != count or not all(isinstance(v, Vector) and len(v.items) == 3 for v in values):
        argument = "a vector" if count == 1 else "two vectors"
        raise Unfit(f"{name} takes {argument} of three components.")
    a, b = values[0].items, values[-1].items
    if name == "cross":
        return Vector(tuple(_minor(a, b, i) for i in range(3)))
    total = multiplied(a[0], b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = added(total, multiplied(x, y), 1)
    return applied("sqrt", [total], {}) if name == "norm" else total


def _minor(a: Any, b: Any, i: int) -> Any:
    j, k = (i + 1) % 3, (i + 2) % 3
    return added(multiplied(a[j], b[k]), multiplied(a[k], b[j]), -1)


def _table(values: list[Value], named: dict[str, Value]) -> Quantity:
    """table(x, [x1, …], [y1, …]): a curve through points, straight beyond them; or by its kind."""
    texts = {key: x.text for key, x in named.items() if isinstance(x, Word)}
    order = order_of(named.pop("derivative", None))
    kind = values[3].text if len(values) == 4 and isinstance(values[3], Word) else "monotone"
    if len(values) not in (3, 4) or not isinstance(values[0], Quantity):
        raise Unfit("table takes a number and two vectors: table(x, [0, 1, 2], [5, 6, 8]).")
    if len(texts) < len(named) or not {"outside", "name"}.issuperset(texts):
        raise Unfit('beside its points a table takes outside = "hold", name = "…", derivative = 1.')
    x, xs, ys = values[0], _points(values[1]), _points(values[2])
    if len(xs) != len(ys):
        raise Unfit(f"this table has {len(xs)} places and {len(ys)} values.")
    if not (x.bare or xs[0].bare or same(x.dimension, xs[0].dimension)):
        raise Unfit(f"this table is over {spelled(xs[0].dimension)}, not {spelled(x.dimension)}.")
    try:
        table = ex.Table([_float(q) for q in xs], [_float(q) for q in ys], kind, **texts)
    except ValueError as error:
        raise Unfit(f"this is no table: {error}.") from None
    units = ys[0].dimension
    for _ in range(order):
        units = (
            None if units is None or not xs[0].dimension else product_of(units, xs[0].dimension, -1)
        )
    formula = ex.apply("table", (ex.as_expr(x.value),), (table, order))
    return Quantity(formula, units, ys[0].bare and (xs[0].bare or not order))


def order_of(value: Value) -> int:
    """How often something is differentiated: a small whole number; not at all for None."""
    order = 0 if value is None else value.value if isinstance(value, Quantity) else -1
    if isinstance(order, ex.Expr) or order not in range(MAX_ORDER + 1):
        raise Unfit(f"a derivative is of an order from 0 to {MAX_ORDER}.")
    return int(order)


def _stumpff(k: Any, s: Any) -> Any:
    if isinstance(k, ex.Expr) or k not in range(MAX_ORDER + 1):
        raise Unfit(f"stumpff takes a whole number from 0 to {MAX_ORDER} first.")
    return ex.stumpff(int(k), s)


def _points(value: Value) -> list[Quantity]:
    """The numbers of a vector, all of one dimension."""
    items = value.items if isinstance(value, Vector) else ()
    points = [item for item in items if isinstance(item, Quantity)]
    if len(points) < 2 or len(points) < len(items):
        raise Unfit("a table is made of two vectors of two numbers or more.")
    for item in points[1:]:
        added(points[0], item, 1)
    return points


def _float(q: Quantity) -> float:
    formula = ex.as_expr(q.value)
    if ex.symbols_of([formula]):
        raise Unfit("the points of a table are numbers that depend on nothing.")
    return float(ex.evaluate([formula], {})[0])


def _sqrt(x: Any) -> Any:
    if isinstance(x, Fraction) and x < 0:
        raise Unfit("the square root of a negative number is no number.")
    return ex.sqrt(x)


def _log(x: Any) -> Any:
    if isinstance(x, Fraction) and x <= 0:
        raise Unfit("the logarithm of zero or of a negative number is no number.")
    return ex.log(x)


def _inverse(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def inside(x: Any) -> Any:
        if isinstance(x, Fraction) and abs(x) > 1:
            raise Unfit(f"{name} is defined between -1 and 1 only.")
        return function(x)

    return inside


def _folded(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def of(*values: Any) -> Any:
        total = values[0]
        for value in values[1:]:
            total = function(total, value)
        return total

    return of


MAX_ORDER = 40  # of a derivative
VECTOR_FUNCTIONS = ("norm", "dot", "cross", "table")
FUNCTIONS: dict[str, tuple[Callable[..., Any], int, str]] = {
    "sqrt": (_sqrt, 1, "root"),
    "sin": (ex.sin, 1, "turn"),
    "cos": (ex.cos, 1, "turn"),
    "tan": (ex.tan, 1, "turn"),
    "asin": (_inverse(ex.asin, "asin"), 1, "angle"),
    "acos": (_inverse(ex.acos, "acos"), 1, "angle"),
    "atan": (ex.atan, 1, "angle"),
    "atan2": (ex.atan2, 2, "ratio"),
    "exp": (ex.exp, 1, "pure"),
    "log": (_log, 1, "pure"),
    "abs": (ex.absolute, 1, "same"),
    "sign": (ex.sign, 1, "sign"),
    "min": (_folded(ex.minimum), 2, "most"),
    "max": (_folded(ex.maximum), 2, "most"),
    "if": (ex.select, 3, "same"),
    "stumpff": (_stumpff, 2, "pure"),
    "arc_ratio": (ex.arc_ratio, 2, "pure"),
}


WORDS = ("si", "unknown", "named")


def worded(name: str, values: list[Value], named: dict[str, Value]) -> Value:
    """The value of one of these calls.

    Raises:
        Unfit: arguments of the wrong kind.
    """
    if name == "unknown":
        return _unknown(values, named.pop("derivative", None))
    if named:
        raise Unfit(f"{name} takes nothing by name.")
    return _MAKERS[name](values)


def _si(values: list[Value]) -> Quantity:
    if len(values) != 1 or not isinstance(values[0], Quantity):
        raise Unfit("si takes one number.")
    return Quantity(values[0].value, bare=True)


def _unknown(values: list[Value], derivative: Value) -> Quantity:
    """An unknown function by its name, or a derivative of it, of an order in each argument."""
    name, arguments = _text(values, "unknown"), values[1:]
    if not arguments or not all(isinstance(a, Quantity) for a in arguments):
        raise Unfit('unknown takes a name and numbers: unknown("f", x).')
    items = derivative.items if isinstance(derivative, Vector) else [derivative] * len(arguments)
    orders = tuple(order_of(item) for item in items)
    if len(orders) != len(arguments):
        raise Unfit(f"derivative is of {len(arguments)} orders, one for each argument.")
    formulas = (as_expr(a.value) for a in arguments)
    return Quantity(Function(name, len(orders)).partial(orders, *formulas), None)


def _named(values: list[Value]) -> BodyFrame:
    """A frame on a body with a name of its own."""
    name = _text(values, "named")
    if len(values) != 2 or not isinstance(values[1], BodyFrame):
        raise Unfit('named takes a name and a frame on a body: named("tip", [1,0,0] @ crank).')
    return replace(values[1], name=name)


def _text(values: list[Value], word: str) -> str:
    if not values or not isinstance(values[0], Word):
        raise Unfit(f"{word} takes a text in quotes first.")
    return values[0].text


_MAKERS: dict[str, Any] = {"si": _si, "named": _named}
