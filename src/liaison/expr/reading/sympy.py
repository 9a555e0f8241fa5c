"""Formulas to SymPy and back; SymPy is loaded on demand, and never parses text.

Shared nodes are converted once. Numbers keep their kind: int and Fraction are Integer and
Rational, floats are Float with 53 bits, π is pi. Choices are Piecewise, unknown functions and their
partials are applied functions and Derivative. Tables and the smooth rows of charts come as what
they are made of.

Public names: to_sympy, from_sympy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any, NoReturn

from liaison.errors import DerivationError, needed
from liaison.expr import functions
from liaison.expr.bind import expanded
from liaison.expr.graph.node import ONE, PI, Expr, Pi, Value, as_expr, constant, symbol
from liaison.expr.graph.ops import OPS, apply
from liaison.expr.graph.walk import Formulas, topological
from liaison.expr.unknown import Function

# To SymPy ---------------------------------------------------------------------------------------


def to_sympy(fs: Formulas) -> Any:
    """SymPy expressions of formulas: one for one formula, else a list. Symbols are real.

    Example:
        >>> import liaison
        >>> liaison.to_sympy(liaison.sin(liaison.symbol("x")) ** 2)
        sin(x)**2
    """
    with needed("sympy"):
        import sympy

    roots = expanded(fs, keep=("stumpff",))
    rows = _rows_to(sympy)
    converted: dict[Expr, Any] = {}
    for node in topological(roots):
        if node.op == "const":
            converted[node] = _number_to(sympy, node.a)
        elif node.op == "symbol":
            converted[node] = sympy.Symbol(node.a, real=True)
        elif node.op == "call":
            converted[node] = _call_to(sympy, node, [converted[arg] for arg in node.args])
        elif node.op == "stumpff":
            converted[node] = _stumpff_to(sympy, node.a, converted[node.b[0]])
        else:
            converted[node] = rows[node.op](*[converted[arg] for arg in node.args])
    return converted[roots[0]] if type(fs) is Expr else [converted[root] for root in roots]


def _number_to(sympy: Any, value: Value) -> Any:
    if isinstance(value, Pi):
        return sympy.pi
    if isinstance(value, float):
        return sympy.Float(value)
    return sympy.Rational(value.numerator, value.denominator)


def _rows_to(sympy: Any) -> dict[str, Callable[..., Any]]:
    rows = {op: getattr(sympy, row.sympy) for op, row in OPS.items() if row.sympy}
    rows |= {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
        "pow": operator.pow,
        "select": lambda c, x, y: sympy.Piecewise((x, c > 0), (y, True)),
    }
    return rows


def _call_to(sympy: Any, node: Expr, args: list[Any]) -> Any:
    function, orders = node.data
    if not any(orders):
        return sympy.Function(function.name, real=True)(*args)
    slots = [sympy.Dummy(f"x{i}", real=True) for i in range(function.arity)]
    applied = sympy.Function(function.name, real=True)(*slots)
    steps = [(slot, order) for slot, order in zip(slots, orders) if order]
    return sympy.Subs(sympy.Derivative(applied, *steps), slots, args)


def _stumpff_to(sympy: Any, k: int, s: Any) -> Any:
    root = sympy.sqrt(s)
    value = sympy.sin(root) / root if k % 2 else sympy.cos(root)
    for j in range(k % 2, k, 2):
        value = (sympy.Rational(1, math.factorial(j)) - value) / s
    at_zero = sympy.Rational(1, math.factorial(k))
    return sympy.Piecewise((at_zero, sympy.Eq(s, 0)), (value, True))


# From SymPy -------------------------------------------------------------------------------------


def from_sympy(expressions: Any) -> Any:
    """Formulas of SymPy expressions: one for one, else a list. Symbols keep their names."""
    with needed("sympy"):
        import sympy

    is_one = isinstance(expressions, sympy.Basic)
    roots = [expressions] if is_one else list(expressions)
    converted: dict[Any, Expr] = {}
    rows = _rows_from(sympy)
    for part in _sympy_order(sympy, roots):
        converted[part] = _converted(sympy, rows, part, converted)
    return converted[roots[0]] if is_one else [converted[root] for root in roots]


def _sympy_order(sympy: Any, roots: list[Any]) -> list[Any]:
    """Every part once, arguments first; conditions and derivatives are taken whole."""
    done: dict[Any, None] = {}
    stack = list(reversed(roots))
    while stack:
        part = stack[-1]
        waiting = [arg for arg in _sympy_parts(sympy, part) if arg not in done]
        stack += waiting
        if not waiting:
            done[stack.pop()] = None
    return list(done)


def _sympy_parts(sympy: Any, part: Any) -> list[Any]:
    if isinstance(part, sympy.Piecewise):
        sides = [side for _, c in part.args for side in _sides(sympy, c)]
        return [value for value, _ in part.args] + sides
    if isinstance(part, sympy.Subs | sympy.Derivative):
        return _arguments(sympy, part)
    return list(part.args)


def _sides(sympy: Any, condition: Any) -> list[Any]:
    if condition in (True, False) or condition == sympy.true:
        return []
    if isinstance(condition, sympy.core.relational.Relational):
        return [condition.lhs, condition.rhs]
    _unsupported(condition)


def _unsupported(part: Any) -> NoReturn:
    raise DerivationError(
        f"no formula is made of {part} ({type(part).__name__})",
        hint="Real scalars, the functions of liaison.expr, Piecewise with comparisons, and "
        "undefined functions with their derivatives are understood.",
    )


def _rows_from(sympy: Any) -> dict[Any, Callable[..., Any]]:
    """Functions by their rows, of two arguments folded over any number; Piecewise has its own."""
    rows: dict[Any, Callable[..., Any]] = {
        getattr(sympy, row.sympy): partial(_folded, op)
        for op, row in OPS.items()
        if row.sympy and op not in ("sqrt", "select")
    }
    rows |= {sympy.Add: partial(_folded, "add"), sympy.Pow: functions.power}
    return rows


def _folded(op: str, *args: Expr) -> Expr:
    if OPS[op].arity == 1:
        return apply(op, args)
    return reduce(lambda x, y: apply(op, (x, y)), args)


def _converted(sympy: Any, rows: Any, part: Any, converted: dict[Any, Expr]) -> Expr:
    if part.is_Symbol:
        return symbol(part.name)
    if part.is_number and part.is_Atom:
        return _number_from(sympy, part)
    if part.is_Mul:
        return _product_from(part, converted)
    if isinstance(part, sympy.Piecewise):
        return _choice_from(sympy, part, converted)
    if isinstance(part, sympy.Subs | sympy.Derivative | sympy.core.function.AppliedUndef):
        return _call_from(sympy, part, converted)
    row = rows.get(part.func)
    return as_expr(row(*[converted[arg] for arg in part.args])) if row else _unsupported(part)


def _number_from(sympy: Any, part: Any) -> Expr:
    if part.is_Rational:
        return constant(Fraction(int(part.p), int(part.q)))
    if part.is_Float:
        return constant(float(part))
    if part is sympy.pi:
        return PI
    return as_expr(functions.exp(1)) if part is sympy.E else _unsupported(part)


def _product_from(part: Any, converted: dict[Any, Expr]) -> Expr:
    """Factors with a negative exponent are divided by."""
    above, below = ONE, ONE
    for factor in part.args:
        if factor.is_Pow and factor.exp.is_Rational and factor.exp.is_negative:
            below = below * converted[factor.base] ** constant(
                Fraction(-factor.exp.p, factor.exp.q)
            )
        else:
            above = above * converted[factor]
    return above / below


def _choice_from(sympy: Any, part: Any, converted: dict[Any, Expr]) -> Expr:
    *cases, (last, condition) = part.args
    if condition != sympy.true:
        _unsupported(part)
    result = converted[last]
    for value, test in reversed(cases):
        low, high = (converted[side] for side in _sides(sympy, test))
        if isinstance(test, sympy.StrictGreaterThan | sympy.GreaterThan):
            low, high = high, low
        if isinstance(test, sympy.StrictGreaterThan | sympy.StrictLessThan):
            result = as_expr(functions.select(high - low, converted[value], result))
        elif isinstance(test, sympy.GreaterThan | sympy.LessThan):
            result = as_expr(functions.select(low - high, result, converted[value]))
        elif isinstance(test, sympy.Equality):
            result = as_expr(functions.select(abs(low - high), result, converted[value]))
        else:
            _unsupported(test)
    return result


def _applied(sympy: Any, part: Any) -> tuple[Any, Any]:
    """The unknown function applied, and the derivative of it or itself."""
    inner = part.expr if isinstance(part, sympy.Subs) else part
    applied = inner.expr if isinstance(inner, sympy.Derivative) else inner
    if not isinstance(applied, sympy.core.function.AppliedUndef):
        _unsupported(part)
    return applied, inner


def _arguments(sympy: Any, part: Any) -> list[Any]:
    """Arguments of an unknown function after the substitution that stands around it."""
    applied, _ = _applied(sympy, part)
    places = dict(zip(part.variables, part.point)) if isinstance(part, sympy.Subs) else {}
    if any(arg not in places and arg.free_symbols & places.keys() for arg in applied.args):
        _unsupported(part)
    return [places.get(arg, arg) for arg in applied.args]


def _call_from(sympy: Any, part: Any, converted: dict[Any, Expr]) -> Expr:
    applied, inner = _applied(sympy, part)
    orders = [0] * len(applied.args)
    for variable, count in inner.variable_count if isinstance(inner, sympy.Derivative) else ():
        if applied.args.count(variable) != 1:
            _unsupported(part)
        orders[applied.args.index(variable)] += int(count)
    args = [converted[arg] for arg in _arguments(sympy, part)]
    return Function(applied.func.__name__, len(args)).partial(tuple(orders), *args)
