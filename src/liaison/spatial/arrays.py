"""Small vectors and matrices of scalars: numbers, exact numbers or formulas, all alike.

The functions here never multiply by a structural zero and never by one, so that formulas stay
as small as hand-written ones. An array is of floats when numbers and at least one float went in,
otherwise of objects, with exact integers 0 and 1 kept exact.

Public names: Array, Entries, array, vector, zeros, identity, is_zero, is_formula, number, times,
plus, minus, dot, product, cross, cross3, tilde, norm, unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liaison.expr import ZERO, Expr, evaluate, sqrt, topological

Array: TypeAlias = npt.NDArray[Any]
Entries: TypeAlias = Sequence[Any] | Array  # of a vector: a tuple, a list or an array


def is_zero(x: Any) -> bool:
    """Zero by construction, whatever the values of the symbols."""
    return x is ZERO or (x.__class__ is not Expr and bool(x == 0))


def is_formula(x: Any) -> bool:
    """Whether x is an `Expr`."""
    return isinstance(x, Expr)


def number(x: Any) -> float | None:
    """The value of x as a float; None if it holds symbols, or functions that are not known yet."""
    if not isinstance(x, Expr):
        return float(x)
    is_open = any(node.op in ("symbol", "call") for node in topological([x]))
    return None if is_open else float(evaluate([x], {})[0])


def array(entries: Any) -> Array:
    """An array of the nested entries: floats if they are numbers with a float among them.

    Exact numbers alone, and anything with a formula, give an array of objects.
    """
    result = np.array(entries, dtype=object)
    kinds = {type(x) for x in result.flat}
    floats = {kind for kind in kinds if issubclass(kind, float)}
    return result.astype(float) if floats and kinds - floats <= {int} else result


def vector(entries: Iterable[Any]) -> Array:
    """A one-dimensional array of the entries, each left as it is (of objects)."""
    listed = list(entries)
    result = np.empty(len(listed), dtype=object)
    result[:] = listed
    return result


def zeros(*shape: int) -> Array:
    """Exact zeros."""
    return np.full(shape, 0, dtype=object)


def identity(n: int = 3) -> Array:
    """The identity matrix in exact ones and zeros."""
    result = zeros(n, n)
    for i in range(n):
        result[i, i] = 1
    return result


def times(x: Any, y: Any) -> Any:
    """x y of two scalars; a formula is not multiplied by 0 or 1."""
    if x.__class__ is Expr:
        if y.__class__ is Expr:
            return 0 if x is ZERO or y is ZERO else x * y
        return 0 if y == 0 else x if y == 1 else x * y
    if y.__class__ is Expr:
        return 0 if x == 0 else y if x == 1 else x * y
    return x * y


def plus(x: Any, y: Any) -> Any:
    """x + y of two scalars; 0 is not added to a formula."""
    if x.__class__ is Expr:
        return x if is_zero(y) else y if x is ZERO else x + y
    return y if y.__class__ is Expr and x == 0 else x + y


def minus(x: Any, y: Any) -> Any:
    """x − y of two scalars; 0 is not subtracted from a formula."""
    if x.__class__ is Expr:
        return x if is_zero(y) else -y if x is ZERO else x - y
    return -y if y.__class__ is Expr and x == 0 else x - y


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """Σ aᵢ bᵢ without the terms that are zero."""
    total: Any = 0
    for x, y in zip(a, b, strict=True):
        if x.__class__ is Expr or y.__class__ is Expr or total.__class__ is Expr:
            total = plus(total, times(x, y))
        else:
            total = total + x * y
    return total


def product(A: Array, B: Array) -> Array:
    """A B of a matrix with a matrix or a vector, without the terms that are zero."""
    if A.dtype != object and B.dtype != object:
        return A @ B
    rows = A.tolist()
    if B.ndim == 1:
        entries = B.tolist()
        return array([dot(row, entries) for row in rows])
    columns = B.T.tolist()
    result = np.empty((len(rows), len(columns)), dtype=object)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            result[i, j] = dot(row, column)
    return array(result)


def cross3(a: Entries, b: Entries) -> list[Any]:
    """a × b of two lists of three scalars."""
    return [
        minus(times(a[1], b[2]), times(a[2], b[1])),
        minus(times(a[2], b[0]), times(a[0], b[2])),
        minus(times(a[0], b[1]), times(a[1], b[0])),
    ]


def cross(a: Any, b: Any) -> Array:
    """a × b of two vectors of shape (3,)."""
    return array(cross3(list(a), list(b)))


def tilde(a: Any) -> Array:
    """The matrix ã with ã b = a × b."""
    x, y, z = a
    return array([[0, minus(0, z), y], [z, 0, minus(0, x)], [minus(0, y), x, 0]])


def norm(a: Iterable[Any]) -> Any:
    """|a|: a number where the root is rational, an exact formula where it is not."""
    entries = list(a)
    square = dot(entries, entries)
    if isinstance(square, int | Fraction):
        root = _rational_root(Fraction(square))
        return sqrt(square) if root is None else root
    return sqrt(square)


def unit(a: Iterable[Any]) -> Array:
    """a / |a|; a must not be zero."""
    entries = list(a)
    length = norm(entries)
    if length.__class__ is int and length == 1:
        return array(entries)
    return array([_divided(x, length) for x in entries])


def _divided(x: Any, y: Any) -> Any:
    if x.__class__ is int and x == 0:
        return 0
    if isinstance(x, int) and isinstance(y, int | Fraction):
        return _plain(Fraction(x) / y)
    return x / y


def _plain(x: Fraction) -> int | Fraction:
    return x.numerator if x.denominator == 1 else x


def _rational_root(square: Fraction) -> int | Fraction | None:
    """The square root of a rational number, if it is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top != square.numerator or bottom * bottom != square.denominator:
        return None
    return _plain(Fraction(top, bottom))
