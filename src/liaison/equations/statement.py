"""The equations of motion as one reads them: a left and a right side for every unknown.

Public names: Line, statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from liaison.expr import ZERO, Expr

from .equations import Equations


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One scalar equation: left = right; `name` is that of its velocity or row."""

    name: str
    left: Expr
    right: Expr


def statement(
    equations: Equations, efforts: Sequence[Expr] | None = None, held: Sequence[int] = ()
) -> tuple[Line, ...]:
    """M v̇ + h = τ + Gᵀ λ + Dᵀ f, velocity by velocity, then G v̇ = γ, row by row.

    Args:
        equations: of any formalism.
        efforts: f of the unilateral rows; their symbols if not given.
        held: unilateral rows that do not accelerate, as further rows.
    """
    dynamics, closures, symbols = equations.dynamics, equations.closures, equations.symbols
    left, right = list(dynamics.h), list(dynamics.tau)
    for (i, j), entry in dynamics.M.items():
        left[i] = left[i] + entry * symbols.vdot[j]
        if i != j:
            left[j] = left[j] + entry * symbols.vdot[i]
    rows = [ZERO] * len(closures.gamma)
    for (k, j), entry in closures.G.items():
        right[j] = right[j] + entry * symbols.lam[k]
        rows[k] = rows[k] + entry * symbols.vdot[j]
    sides, f = equations.sides, equations.symbols.force if efforts is None else efforts
    slowed = dict.fromkeys(held, ZERO)
    for (k, j), entry in sides.D.items():
        right[j] = right[j] + entry * f[k]
        if k in slowed:
            slowed[k] = slowed[k] + entry * symbols.vdot[j]
    labels = equations.labels
    motion = [Line(label.name, a, b) for label, a, b in zip(labels["v"], left, right, strict=True)]
    closed = [
        Line(label.name, a, b)
        for label, a, b in zip(labels["lam"], rows, closures.gamma, strict=True)
    ]
    still = [Line(sides.labels[k].name, x, -sides.bias[k]) for k, x in slowed.items()]
    return (*motion, *closed, *still)
