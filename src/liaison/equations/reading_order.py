"""In which order the symbols of equations are read, and which squares stand for others.

Public names: order_of, forces_of, squares_of.
"""

from __future__ import annotations

from liaison.expr import Expr, as_expr
from liaison.expr.reading.arrange import Order

from .equations import Equations
from .letters import multipliers_of


def order_of(equations: Equations) -> Order:
    """Parameters as they were declared, then positions, functions, velocities, accelerations."""
    symbols = equations.symbols
    return Order(
        {
            "parameter": [str(x.a) for x in symbols.p],
            "position": ["t", *(str(x.a) for x in symbols.q)],
            "velocity": [str(x.a) for x in symbols.v],
            "acceleration": [str(x.a) for x in symbols.vdot],
            "multiplier": [*multipliers_of(equations),
                           *(str(x.a) for x in forces_of(equations)),
                           *(str(x.a) for x in symbols.u)],
        }
    )  # fmt: skip


def forces_of(equations: Equations) -> tuple[Expr, ...]:
    """Names of the forces and slips of unilateral rows."""
    if not equations.sides.blocks:
        return ()
    from .modes import named_rows

    named = named_rows(equations)
    return (*named.effort, *named.slip)


def squares_of(equations: Equations) -> dict[Expr, Expr]:
    """qw² = 1 − qx² − qy² − qz² for every unit quaternion."""
    squares = {}
    for chart in equations.kinematics.charts:
        if chart.kind in ("quaternion", "free"):
            w, *rest = equations.symbols.q[chart.q][-4:]
            squares[w] = as_expr(1 - sum(x * x for x in rest))
    return squares
