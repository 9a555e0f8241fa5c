"""M v̇ + B(q, v) + g(q): what of the bias goes with products of velocities, by Christoffel symbols.

    C_ij = ½ Σ_k (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) v_k,    B = C v                 (reading-1)
    vᵀ B = ½ vᵀ Ṁ v                                                                     (reading-2)

(reading-2) holds for every choice of velocities, (reading-1) where they are rates of coordinates.

Public names: Structure, structure, christoffel, power_identity, product_identity.

Source: LL 3.1; RBDA §3.6 for the use of C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from liaison.equations.equations import Equations, has_rates
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, directional, gradient, substitute
from liaison.expr.graph.node import HALF
from liaison.expr.reading.simplify import vanishes_exactly


@final
@dataclass(frozen=True, slots=True)
class Structure:
    """M v̇ + B + g = τ + Gᵀ λ.

    Attributes:
        M: all entries, row by row.
        B: what vanishes with the velocities.
        g: the rest of the bias.
    """

    M: tuple[tuple[Expr, ...], ...]
    B: tuple[Expr, ...]
    g: tuple[Expr, ...]


def structure(equations: Equations) -> Structure:
    """The equations by their parts."""
    n = len(equations.symbols.v)
    M = [[ZERO] * n for _ in range(n)]
    for (i, j), entry in equations.dynamics.M.items():
        M[i][j] = M[j][i] = as_expr(entry)
    h = [as_expr(x) for x in equations.dynamics.h]
    g = substitute(h, dict.fromkeys(equations.symbols.v, ZERO))
    B = [as_expr(a - b) for a, b in zip(h, g, strict=True)]
    return Structure(tuple(map(tuple, M)), tuple(B), tuple(g))


def christoffel(equations: Equations) -> tuple[tuple[Expr, ...], ...]:
    """C of (reading-1), row by row.

    Raises:
        DerivationError: some velocities are no rates of coordinates, or a potential depends on
            velocities.
    """
    if not has_rates(equations):
        raise DerivationError(
            f"{equations.name!r} has velocities that are no rates of coordinates; Christoffel "
            "symbols are those of coordinates.",
            hint="Describe attitudes by Euler or Bryant angles, or use B of `structure`.",
        )
    potentials = equations.facts.get("rate_potentials", ())
    if potentials:
        raise DerivationError(
            f"the potential {potentials[0]!r} depends on velocities: what of the bias goes with "
            "velocities is not given by M alone, as Christoffel symbols are.",
            hint="Use B of `structure`.",
        )
    M, q, v = structure(equations).M, equations.symbols.q, equations.symbols.v
    n = len(v)
    slopes = [[gradient(entry, list(q)) for entry in row] for row in M]

    def entry(i: int, j: int) -> Expr:
        total: Any = ZERO
        for k in range(n):
            total = total + (slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * v[k]
        return as_expr(HALF * total)

    return tuple(tuple(entry(i, j) for j in range(n)) for i in range(n))


def power_identity(equations: Equations) -> bool:
    """Whether vᵀ B = ½ vᵀ Ṁ v, exactly: modulo a prime, at random points."""
    parts, v = structure(equations), equations.symbols.v
    flow = dict(zip(equations.symbols.q, _rates(equations), strict=True))
    total: Any = ZERO
    for i, row in enumerate(parts.M):
        total = total - v[i] * parts.B[i]
        for j, change in enumerate(directional(list(row), flow)):
            total = total + HALF * v[i] * change * v[j]
    return vanishes_exactly(as_expr(total))


def product_identity(equations: Equations) -> bool:
    """Whether C v = B and Ṁ − 2 C is skew, exactly: modulo a prime, at random points."""
    parts, C, v = structure(equations), christoffel(equations), equations.symbols.v
    flow = dict(zip(equations.symbols.q, _rates(equations), strict=True))
    for i, row in enumerate(C):
        left: Any = -parts.B[i]
        for x, entry in zip(v, row, strict=True):
            left = left + entry * x
        change = directional(list(parts.M[i]), flow)
        skew = [m - row[j] - C[j][i] for j, m in enumerate(change)]
        if not all(vanishes_exactly(as_expr(x)) for x in (left, *skew)):
            return False
    return True


def _rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    rates: list[Any] = [ZERO] * len(equations.symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        rates[i] = rates[i] + entry * equations.symbols.v[j]
    return rates
