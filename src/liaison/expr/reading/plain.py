"""Formulas as readings without any simplification: fast, for formulas too many to simplify.

Public names: plain.
"""

from __future__ import annotations

from fractions import Fraction

from liaison.expr.graph.node import Expr, Pi
from liaison.expr.graph.walk import topological

from .reading import Call, Name, Number, Power, Product, Reading, Sum


def plain(f: Expr) -> Reading:
    """The formula as it was built, sums and products flat."""
    readings: dict[Expr, Reading] = {}
    for node in topological([f]):
        readings[node] = _reading(node, [readings[x] for x in node.args])
    return readings[f]


def _reading(node: Expr, parts: list[Reading]) -> Reading:
    if node.op == "const":
        return Name("π") if isinstance(node.a, Pi) else Number(Fraction(node.a))
    if node.op == "symbol":
        return Name(str(node.a))
    if node.op in ("add", "sub"):
        second = parts[1] if node.op == "add" else _negative(parts[1])
        return Sum((*_terms(parts[0]), *_terms(second)))
    if node.op == "neg":
        return _negative(parts[0])
    if node.op == "mul":
        return _product(parts[0], parts[1])
    if node.op == "div":
        return _product(parts[0], Power(parts[1], -1))
    if node.op == "pow" and node.b.op == "const" and isinstance(node.b.a, int):
        return Power(parts[0], node.b.a)
    return Call(node.op, tuple(parts), node if node.data is not None else None)


def _terms(x: Reading) -> tuple[Reading, ...]:
    return x.terms if isinstance(x, Sum) else (x,)


def _negative(x: Reading) -> Reading:
    if isinstance(x, Sum):
        return Sum(tuple(map(_negative, x.terms)))
    return _product(Number(Fraction(-1)), x)


def _product(a: Reading, b: Reading) -> Reading:
    """Flat, with its numbers in one."""
    number, rest = Fraction(1), []
    for part in (a, b):
        for factor in part.factors if isinstance(part, Product) else (part,):
            if isinstance(factor, Number):
                number = number * factor.value
            else:
                rest.append(factor)
    if not rest:
        return Number(number)
    if number == 1 and len(rest) == 1:
        return rest[0]
    return Product(tuple(rest) if number == 1 else (Number(number), *rest))
