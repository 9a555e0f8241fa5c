"""Derivatives of what holds at a state, before anything is solved: for analyses in dense algebra.

    r(q, v, v̇, λ) = (M v̇ + h − τ − Gᵀ λ,  G v̇ − γ)                              (derivatives-1)

Positions change along velocities, q ⊞ ξ. Along a motion ξ̇ = δv + C ξ where

    N C = ∂(N v)/∂q N − Ṅ                                                        (tangent-1)

so C vanishes where velocities are rates, and is −ω × for a body's own angular velocity.

Public names: tangent_makers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from liaison.equations import Entries, Equations
from liaison.expr import ZERO, Expr, directional, jacobian, vanishes

from .derivatives import Derivatives, dense

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


def tangent_makers(equations: Equations, made: Derivatives) -> Mapping[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    d_residual (x = v̇, λ): r_q, r_v, r_u, r_p, nv + nc rows each; d_motion: r_q, r_v, nv rows;
    tangent: N and its change by (tangent-1), nq rows; rate_q, rate_p of G v − ν; phi_p of Φ;
    out_q, out_v, out_u, out_p of the outputs. Every block is a matrix row by row.
    """
    return {
        "d_residual": lambda: _slopes(made, "r", made.residual, ("q", "v", "u", "p")),
        "d_motion": lambda: _slopes(made, "r", made.residual[: made.nv], ("q", "v")),
        "tangent": lambda: _tangent(equations, made),
    }


def _tangent(equations: Equations, made: Derivatives) -> Blocks:
    closures, nq = equations.closures, len(equations.symbols.q)
    outputs = list(equations.outputs.values())
    return [
        ("N", dense(equations.kinematics.N, nq, made.nv)),
        ("drift", dense(_drift(equations), nq, made.nv)),
        *_slopes(made, "rate", closures.rate, ("q", "p")),
        *_slopes(made, "phi", closures.phi, ("p",)),
        *_slopes(made, "out", outputs, ("q", "v", "u", "p")),
    ]


def _slopes(made: Derivatives, word: str, formulas: Sequence[Expr], names: Sequence[str]) -> Blocks:
    """Derivatives of formulas by each of the names, as whole matrices."""
    found = made.by(formulas, names)
    return [(f"{word}_{n}", dense(found[n], len(formulas), made.width(n))) for n in names]


def _drift(equations: Equations) -> Entries:
    """∂(N v)/∂q N − Ṅ by its nonzeros."""
    symbols, N = equations.symbols, equations.kinematics.N
    qdot: list[Expr] = [ZERO] * len(symbols.q)
    for (i, k), entry in N.items():
        qdot[i] = qdot[i] + entry * symbols.v[k]
    slopes = jacobian(qdot, list(symbols.q))
    found: dict[tuple[int, int], Expr] = {}
    for (i, j), slope in slopes.items():
        for k in range(len(symbols.v)):
            if (j, k) in N:
                found[i, k] = found.get((i, k), ZERO) + slope * N[j, k]
    along = dict(zip(symbols.q, qdot, strict=True))
    for key, change in zip(N, directional(list(N.values()), along), strict=True):
        found[key] = found.get(key, ZERO) - change
    return {key: entry for key, entry in found.items() if not vanishes(entry)}
