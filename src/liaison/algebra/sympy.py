"""Formal expressions in SymPy: MatrixSymbol, Inverse, Trace; a tilde by the entries of its vector.

Public names: to_sympy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liaison.errors import DerivationError, needed
from liaison.expr.reading.sympy import to_sympy as formula_to_sympy

from .node import SHAPES, Formal, topological


def to_sympy(x: Formal) -> Any:
    """A scalar, vector, row or matrix as a SymPy expression; rates are symbols with primes.

    Properties (symmetric, a rotation) do not pass over. `x.as_explicit()` writes entries.

    Raises:
        DerivationError: quaternions, and operators of the user's own.
    """
    with needed("sympy"):
        import sympy

    done: dict[Formal, Any] = {}
    for node in topological(x):
        args = [done[arg] for arg in node.args] if node.op != "symbol" else []
        if node.kind == "quaternion" or node.op not in _BY_OP:
            raise DerivationError(
                f"{node} has no form in SymPy: it is {_described(node)}.",
                hint="Scalars, vectors and matrices have one; to_mixed(q) gives those of q.",
            )
        done[node] = _BY_OP[node.op](sympy, node, args)
    return done[x]


def _described(node: Formal) -> str:
    return "a quaternion" if node.kind == "quaternion" else f"an operator of its own, {node.op!r}"


def _symbol(sympy: Any, node: Formal, args: list[Any]) -> Any:
    name = node.data.name + "'" * node.data.order
    if node.kind == "scalar":
        return sympy.Symbol(name, real=True)
    return sympy.MatrixSymbol(name, *SHAPES[node.kind])


def _skew(sympy: Any, a: Any) -> Any:
    x, y, z = (a[i, 0] for i in range(3))
    return sympy.ImmutableMatrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def _product(sympy: Any, node: Formal, args: list[Any]) -> Any:
    """Factors in turn; a row that meets a vector is a scalar."""
    scale, result = sympy.Integer(1), None
    for arg, value in zip(node.args, args, strict=True):
        if arg.kind == "scalar":
            scale = scale * value
        else:
            result = value if result is None else result * value
    if result is None:
        return scale
    return scale * (result[0, 0] if node.kind == "scalar" else result)


_BY_OP: dict[str, Callable[[Any, Formal, list[Any]], Any]] = {
    "cross": lambda sympy, node, args: _skew(sympy, args[0]) * args[1],
    "determinant": lambda sympy, node, args: sympy.Determinant(args[0]),
    "dot": lambda sympy, node, args: (args[0].T * args[1])[0, 0],
    "expr": lambda sympy, node, args: formula_to_sympy(node.data),
    "identity": lambda sympy, node, args: sympy.Identity(3),
    "inverse": lambda sympy, node, args: sympy.Inverse(args[0]),
    "mixed": lambda sympy, node, args: (args[0].T * _skew(sympy, args[1]) * args[2])[0, 0],
    "power": lambda sympy, node, args: args[0] ** node.data,
    "product": _product,
    "sum": lambda sympy, node, args: sum(args[1:], args[0]),
    "symbol": _symbol,
    "tilde": lambda sympy, node, args: _skew(sympy, args[0]),
    "trace": lambda sympy, node, args: sympy.Trace(args[0]),
    "transpose": lambda sympy, node, args: args[0].T,
    "zero": lambda sympy, node, args: sympy.ZeroMatrix(*SHAPES[node.kind]),
}
