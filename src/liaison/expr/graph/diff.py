"""Derivatives of formulas: gradients, Jacobians with their pattern, directional derivatives.

Only nodes that depend on the variables are touched, and nothing recurses.

Public names: gradient, jacobian, directional, time_derivative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .node import ONE, ZERO, Expr, Scalar, as_expr, symbol, vanishes
from .ops import partial
from .walk import Formulas, depends_on, listed, topological


def gradient(f: Scalar, xs: Sequence[Expr]) -> list[Expr]:
    """∂f/∂x for every x, in one sweep from f back to its variables (reverse mode)."""
    order = topological([f])
    adjoint = _adjoints(as_expr(f), order, depends_on(order, xs))
    return [adjoint.get(x, ZERO) for x in xs]


def _adjoints(f: Expr, order: list[Expr], active: set[Expr]) -> dict[Expr, Expr]:
    adjoint: dict[Expr, Expr] = {f: ONE} if f in active else {}
    for node in reversed(order):
        outer = adjoint.get(node)
        if outer is None:
            continue
        for index, arg in enumerate(node.args):
            if arg not in active:
                continue
            slope = partial(node, index)
            share = outer if slope is ONE else outer * slope
            if not vanishes(share):
                partial_sum = adjoint.get(arg)
                adjoint[arg] = share if partial_sum is None else partial_sum + share
    return adjoint


def jacobian(
    fs: Formulas, xs: Sequence[Expr], *, by_rows: bool | None = None
) -> dict[tuple[int, int], Expr]:
    """∂f_i/∂x_j for the entries that are not identically zero: the keys are the pattern.

    Args:
        fs: formulas.
        xs: variables.
        by_rows: reverse mode, row by row, else forward mode on sparse rows; None for the former
            where there are fewer formulas than variables.
    """
    rows = listed(fs)
    column = {x: j for j, x in enumerate(xs)}
    if len(rows) < len(column) if by_rows is None else by_rows:
        return _jacobian_by_rows(rows, column)
    return _jacobian_forward(rows, column)


def _jacobian_by_rows(rows: list[Expr], column: dict[Expr, int]) -> dict[tuple[int, int], Expr]:
    entries: dict[tuple[int, int], Expr] = {}
    for i, f in enumerate(rows):
        order = topological([f])
        adjoint = _adjoints(f, order, depends_on(order, column))
        for x, j in column.items():
            if x in adjoint and not vanishes(adjoint[x]):
                entries[i, j] = adjoint[x]
    return entries


def _jacobian_forward(rows: list[Expr], column: dict[Expr, int]) -> dict[tuple[int, int], Expr]:
    order = topological(rows)
    active = depends_on(order, column)
    slopes: dict[Expr, dict[int, Expr]] = {x: {j: ONE} for x, j in column.items()}
    for node in order:
        if node not in active or node in slopes:
            continue
        total: dict[int, Expr] = {}
        for index, arg in enumerate(node.args):
            inner = slopes.get(arg)
            if inner:
                slope = partial(node, index)
                for j, value in inner.items():
                    share = slope * value
                    total[j] = total[j] + share if j in total else share
        slopes[node] = {j: value for j, value in total.items() if not vanishes(value)}
    return {
        (i, j): value for i, f in enumerate(rows) for j, value in sorted(slopes.get(f, {}).items())
    }


def directional(fs: Formulas, direction: Mapping[Expr, Scalar]) -> list[Expr]:
    """Σ ∂f/∂x dx for every formula, in one sweep from the variables (forward mode).

    Args:
        fs: formulas.
        direction: dx for each variable x; variables not named are held still.
    """
    rows = listed(fs)
    slopes = {x: as_expr(dx) for x, dx in direction.items()}
    slopes = {x: dx for x, dx in slopes.items() if not vanishes(dx)}
    order = topological(rows)
    active = depends_on(order, slopes)
    for node in order:
        if node not in active or node in slopes:
            continue
        total: Expr | None = None
        for index, arg in enumerate(node.args):
            inner = slopes.get(arg)
            if inner is not None:
                slope = partial(node, index)
                share = inner if slope is ONE else slope * inner
                total = share if total is None else total + share
        if total is not None and not vanishes(total):
            slopes[node] = total
    return [slopes.get(f, ZERO) for f in rows]


def time_derivative(fs: Formulas, rates: Mapping[Expr, Scalar]) -> list[Expr]:
    """df/dt = ∂f/∂t + Σ ∂f/∂x ẋ, with the symbol `t` for time.

    Args:
        fs: formulas.
        rates: ẋ for each symbol x that moves: along q̇ = N v, the entries of N v for those of q.
    """
    return directional(fs, {symbol("t"): ONE, **rates})
