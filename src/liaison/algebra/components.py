"""Expressions in components of a basis, and a test whether they vanish.

A symbol becomes formulas of scalars that have its properties: a rotation is a quaternion's matrix
over its norm, a unit vector the image of two scalars, an antisymmetric matrix a tilde. So every
entry is a rational function.

Public names: components, symbol_components, tilde_entries, sign_of, Components.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.expr import ONE, ZERO, Expr, as_expr, symbol, symbols_of
from liaison.expr import time_derivative as expr_derivative

from .node import SHAPES, Atom, Formal, topological

Array = NDArray[Any]
Components = Mapping[Formal, Any]


def _rates(f: Expr) -> dict[Expr, Expr]:
    return {s: symbol(s.name + "'") for s in symbols_of(f)}


def _differentiated(entries: Array, times: int) -> Array:
    for _ in range(times):
        flat = [expr_derivative(f, _rates(f))[0] for f in entries.ravel()]
        entries = np.array(flat, dtype=object).reshape(entries.shape)
    return entries


def _named(name: str, *indices: str) -> Array:
    return np.array([symbol(f"{name}.{index}") for index in indices], dtype=object)


def tilde_entries(a: Array) -> Array:
    """The antisymmetric matrix of three components."""
    x, y, z = a
    return np.array([[ZERO, -z, y], [z, ZERO, -x], [-y, x, ZERO]], dtype=object)


def _rotation_entries(name: str) -> Array:
    s, *v = _named(name, "s", "x", "y", "z")
    vec = np.array(v, dtype=object)
    square = sum((c * c for c in v), s * s)
    turned = np.outer(vec, vec) + s * tilde_entries(vec)
    entries: Array = (2 * turned + (2 * s * s - square) * _identity()) / square
    return entries


def _identity() -> Array:
    return np.array([[ONE if i == j else ZERO for j in range(3)] for i in range(3)], dtype=object)


def _unit_entries(name: str) -> Array:
    a, b = _named(name, "a", "b")
    over = ONE / (1 + a * a + b * b)
    return np.array([2 * a * over, 2 * b * over, (1 - a * a - b * b) * over], dtype=object)


def _matrix_entries(atom: Atom) -> Array:
    if "rotation" in atom.traits:
        return _rotation_entries(atom.name)
    if "orthogonal" in atom.traits:
        return np.array(sign_of(atom) * _rotation_entries(atom.name), dtype=object)
    if "antisymmetric" in atom.traits:
        return tilde_entries(_named(atom.name, "x", "y", "z"))
    keys = "xyz"
    is_symmetric = "symmetric" in atom.traits
    entries = [
        [symbol(f"{atom.name}.{''.join(sorted(a + b)) if is_symmetric else a + b}") for b in keys]
        for a in keys
    ]
    return np.array(entries, dtype=object)


def sign_of(atom: Atom) -> Expr:
    """±1: the determinant of an orthogonal matrix."""
    return symbol(f"det {atom.name}")


def _plain(atom: Atom, kind: str) -> Array:
    """The components of a symbol before it is differentiated."""
    if kind == "scalar":
        if "unit quaternion" in atom.traits:
            return np.array(_unit_quaternion(atom.name.removesuffix("_0"))[0], dtype=object)
        return np.array(symbol(atom.name), dtype=object)
    if kind == "matrix":
        return _matrix_entries(atom)
    if "unit quaternion" in atom.traits:
        return _unit_quaternion(atom.name.removesuffix("_v"))[1]
    return _unit_entries(atom.name) if "unit" in atom.traits else _named(atom.name, "x", "y", "z")


def _unit_quaternion(name: str) -> tuple[Expr, Array]:
    v = _named(name, "x", "y", "z")
    square = sum((c * c for c in v), ZERO)
    return (1 - square) / (1 + square), 2 * v / (1 + square)


def symbol_components(node: Formal) -> Array:
    """The components of a symbol as formulas that have its properties."""
    return _differentiated(_plain(node.data, node.kind), node.data.order)


def components(x: Formal, values: Components | None = None) -> Array:
    """The components of an expression in one basis, as formulas.

    Args:
        x: a scalar (shape ()), vector or row (3), or matrix (3 × 3).
        values: arrays of formulas or numbers for some of its symbols; the others get symbols:
            a.x, a.y, a.z for a vector a, A.xx, … for a matrix.
    """
    values = values or {}
    done: dict[Formal, Array] = {}
    for node in topological(x):
        if node in values:
            done[node] = np.vectorize(as_expr, otypes=[object])(np.asarray(values[node], object))
        else:
            done[node] = _BY_OP[node.op](node, [done[arg] for arg in node.args])
    return done[x]


def _product(node: Formal, args: list[Array]) -> Array:
    result = np.array([[ONE]], dtype=object)
    for arg, value in zip(node.args, args, strict=True):
        rows = value.reshape(SHAPES[arg.kind])
        is_scale = arg.kind == "scalar" or result.shape == (1, 1)
        result = result * rows if is_scale else np.dot(result, rows)
    return result.reshape(shape_of(node))


def shape_of(node: Formal) -> tuple[int, ...]:
    """The shape of the array of components of a node."""
    return {"scalar": (), "matrix": (3, 3)}.get(node.kind, (3,))


def _power(node: Formal, args: list[Array]) -> Array:
    if node.kind == "scalar":
        return np.array(args[0].item() ** node.data, dtype=object)
    result = args[0]
    for _ in range(node.data - 1):
        result = np.dot(result, args[0])
    return result


def _scalar(x: Any) -> Array:
    return np.array(x, dtype=object)


def _zero(node: Formal) -> Array:
    return np.full(shape_of(node), ZERO, dtype=object)


def _axial_entries(a: Array) -> Array:
    return np.array([a[2, 1], a[0, 2], a[1, 0]], dtype=object)


def _determinant(a: Array) -> Array:
    return _scalar(np.dot(a[0], np.dot(tilde_entries(a[1]), a[2])))


def _inverse(a: Array) -> Array:
    """Cofactors over the determinant: columns are the vector products of the rows."""
    columns = [np.dot(tilde_entries(a[i - 2]), a[i - 1]) for i in range(3)]
    return np.array(np.stack(columns, axis=1) / _determinant(a).item(), dtype=object)


def _operator(node: Formal, args: list[Array]) -> Array:
    raise DerivationError(
        f"{node} has no components: {node.data.name} is known by its properties and rules alone.",
        hint="Ask `rewritten` with its rules, or give values for it: components(x, {f(a): …}).",
    )


_BY_OP: dict[str, Callable[[Formal, list[Array]], Array]] = {
    "axial": lambda node, args: _axial_entries(args[0]),
    "cross": lambda node, args: np.dot(tilde_entries(args[0]), args[1]),
    "determinant": lambda node, args: _determinant(args[0]),
    "dot": lambda node, args: _scalar(np.dot(args[0], args[1])),
    "expr": lambda node, args: _scalar(node.data),
    "identity": lambda node, args: _identity(),
    "inverse": lambda node, args: _inverse(args[0]),
    "mixed": lambda node, args: _scalar(np.dot(args[0], np.dot(tilde_entries(args[1]), args[2]))),
    "operator": _operator,
    "power": _power,
    "product": _product,
    "sum": lambda node, args: np.array(sum(args[1:], args[0]), dtype=object),
    "symbol": lambda node, args: symbol_components(node),
    "tilde": lambda node, args: tilde_entries(args[0]),
    "trace": lambda node, args: _scalar(sum((args[0][i, i] for i in range(3)), ZERO)),
    "transpose": lambda node, args: args[0].T,
    "zero": lambda node, args: _zero(node),
}
