"""Lengths of vectors that may vanish, with one guard for all: what contacts are made of.

Below NONE a length is 0 and has no direction, nor derivatives: a disc that lies flat, a point in
the middle of a ball. Formulas for people leave these guards out (`unguarded`), and say so once.

Public names: NONE, length, unguarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from liaison.expr import Expr, as_expr, select, sqrt
from liaison.expr.graph.walk import rewritten
from liaison.spatial.arrays import dot

NONE = Fraction(1, 10**12)
"""A slope [rad] below which a disc is flat, a distance [m] below which a point is in the middle."""


def length(v: Any) -> tuple[Expr, list[Expr]]:
    """|v| and v/|v|; 0 and zeros, without derivative, where |v| is below NONE."""
    squared = as_expr(dot(list(v), list(v)))
    beyond = squared - NONE * NONE
    long = sqrt(select(beyond, squared, 1))
    return as_expr(select(beyond, long, 0)), [as_expr(select(beyond, x / long, 0)) for x in v]


def unguarded(formulas: Sequence[Expr]) -> tuple[list[Expr], bool]:
    """Formulas without the guards of `length`, and whether there were any."""
    found = []

    def change(node: Expr) -> Expr | None:
        if node.op != "select" or not _is_guard(node.b[0]):
            return None
        found.append(node)
        return as_expr(node.b[1])

    return rewritten(list(formulas), change), bool(found)


def _is_guard(condition: Expr) -> bool:
    """Whether a condition is x − NONE²."""
    least = float(NONE * NONE)
    parts = condition.args
    if condition.op not in ("add", "sub") or len(parts) != 2:
        return False
    return any(x.op == "const" and abs(abs(float(x.a)) - least) < 1e-6 * least for x in parts)
