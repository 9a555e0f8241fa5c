"""Formulas for reading, without the guards of lengths that may vanish; one note says so.

Public names: unguarded.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.expr import Expr, as_expr
from liaison.expr.graph.walk import rewritten
from liaison.model.contacts.touch import NONE


def unguarded(formulas: Sequence[Expr]) -> tuple[list[Expr], bool]:
    """Formulas without the guards of `length`, and whether there were any."""
    formulas_without = []

    def change(node: Expr) -> Expr | None:
        if node.op != "select" or not _is_guard(node.b[0]):
            return None
        formulas_without.append(node)
        return as_expr(node.b[1])

    return rewritten(list(formulas), change), bool(formulas_without)


def _is_guard(condition: Expr) -> bool:
    """Whether a condition is x − NONE²."""
    least = float(NONE * NONE)
    parts = condition.args
    if condition.op not in ("add", "sub") or len(parts) != 2:
        return False
    return any(x.op == "const" and abs(abs(float(x.a)) - least) < 1e-6 * least for x in parts)
