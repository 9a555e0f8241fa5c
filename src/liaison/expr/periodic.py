"""Laws of an angle that do not jump where the angle does: formulas of period 2π.

Public names: is_periodic.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.expr.graph.diff import gradient
from liaison.expr.graph.evaluate import evaluate
from liaison.expr.graph.node import Expr
from liaison.expr.graph.walk import topological


def is_periodic(formulas: Sequence[Expr], x: Expr) -> bool:
    """Whether formulas stay the same for x + 2π: x stands in sines, cosines and tangents alone.

    Their arguments are n x + c with whole n, in tangents n x/2 + c; no other form is looked for.
    """
    jumps = {x}  # nodes that may change with x + 2π
    for node in topological(list(formulas)):
        if not jumps.intersection(node.args):
            continue
        turns = TURNS.get(node.op)
        if turns is None or not _is_whole(gradient(node.args[0], [x])[0], turns):
            jumps.add(node)
    return not jumps.intersection(formulas)


TURNS = {"sin": 1, "cos": 1, "tan": 2}
"""Periods in 2π."""


def _is_whole(slope: Expr, turns: int) -> bool:
    """Whether a slope is a number, and that many times it is whole."""
    if any(node.op in ("symbol", "call") for node in topological([slope])):
        return False
    value = float(evaluate([slope], {})[0])
    return abs(turns * value - round(turns * value)) < WHOLE


WHOLE = 1e-12
"""By how much a whole number in floats may be off."""
