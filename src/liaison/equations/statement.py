"""The equations of motion as one reads them: a left and a right side for every unknown.

Public names: Line, statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.expr import ZERO, Expr

from .equations import Equations


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One scalar equation: left = right; `name` says of which velocity or which row it is."""

    name: str
    left: Expr
    right: Expr


def statement(equations: Equations) -> tuple[Line, ...]:
    """M v̇ + h = τ + Gᵀ λ, velocity by velocity, then G v̇ = γ, row by row."""
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
    labels = equations.labels
    motion = [Line(label.name, a, b) for label, a, b in zip(labels["v"], left, right, strict=True)]
    closed = [
        Line(label.name, a, b)
        for label, a, b in zip(labels["lam"], rows, closures.gamma, strict=True)
    ]
    return (*motion, *closed)
