"""Putting formulas in the place of unknown functions, and plain rows in the place of special ones.

Public names: bind, expanded, to_floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from liaison.expr.graph.diff import gradient
from liaison.expr.graph.node import Expr, Scalar, as_expr, constant, symbol
from liaison.expr.graph.ops import OPS, apply
from liaison.expr.graph.walk import Formulas, listed, rewritten, substitute, topological

from .unknown import Function

Meaning: TypeAlias = Callable[..., Any] | tuple[Sequence[Expr], Scalar]


def bind(fs: Formulas, meanings: Mapping[Function, Meaning]) -> list[Expr]:
    """The formulas with unknown functions replaced, and their partial derivatives with them.

    Args:
        fs: formulas.
        meanings: for each function a callable of its arguments (a Python function on formulas, a
            Table), or the pair (symbols, formula of them).
    """
    stated = {f: _stated(f, meaning) for f, meaning in meanings.items()}
    derived: dict[tuple[Function, tuple[int, ...]], Expr] = {}

    def formula(f: Function, orders: tuple[int, ...]) -> Expr:
        key = (f, orders)
        if key not in derived:
            symbols, value = stated[f]
            for x, order in zip(symbols, orders):
                for _ in range(order):
                    value = gradient(value, [x])[0]
            derived[key] = value
        return derived[key]

    def change(node: Expr) -> Expr | None:
        if node.op != "call" or node.a[0] not in stated:
            return None
        f, orders = node.a
        return substitute([formula(f, orders)], dict(zip(stated[f][0], node.b)))[0]

    return rewritten(fs, change)


def _stated(f: Function, meaning: Meaning) -> tuple[list[Expr], Expr]:
    if isinstance(meaning, tuple):
        symbols, value = list(meaning[0]), as_expr(meaning[1])
    else:
        symbols = [symbol(f"{f.name}\N{MIDDLE DOT}{i}") for i in range(f.arity)]
        value = as_expr(meaning(*symbols))
    if len(symbols) != f.arity:
        raise TypeError(f"{f.name} takes {f.arity} arguments, its formula is of {len(symbols)}")
    return symbols, value


def expanded(fs: Formulas, keep: Sequence[str] = ()) -> list[Expr]:
    """The formulas with special rows (stumpff, arc_ratio, table) written in plain ones.

    For back ends that do not know them; differentiate before, not after.

    Args:
        fs: formulas.
        keep: names of special rows the back end does know.
    """

    def change(node: Expr) -> Expr | None:
        row = OPS.get(node.op)
        if row is None or row.expand is None or node.op in keep:
            return None
        return row.expand(node.a, *node.b)

    return rewritten(fs, change)


def to_floats(fs: Formulas) -> list[Expr]:
    """The formulas with every exact constant rounded to a float, and constant parts folded.

    Whole exponents stay exact, so that a power is still a repeated product.
    """
    roots = listed(fs)
    new: dict[Expr, Expr] = {}
    for node in topological(roots):
        if node.op == "const":
            new[node] = constant(float(node.a))
        elif node.op == "symbol":
            new[node] = node
        elif node.op == "pow" and type(node.b.a) is int:
            new[node] = new[node.a] ** node.b
        else:
            new[node] = apply(node.op, tuple([new[arg] for arg in node.args]), node.data)
    return [new[root] for root in roots]
