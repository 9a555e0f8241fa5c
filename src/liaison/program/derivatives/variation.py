"""A small change of a motion, as an entry: how fast (δq, δv) grow along the equations.

    δq̇ = ∂(N v)/∂q δq + N δv,
    K (δv̇, −δλ) = −(∂r/∂q δq + ∂r/∂v δv + ∂r/∂u δu + ∂r/∂p δp)                  (variation-1)

with r and K of (derivatives-1, derivatives-2): one sweep forward along the change and one more use
of the elimination, so that no matrix of derivatives is formed.

Public names: variation_makers, change_of.

Source: HNW1 §I.14 (derivatives with respect to parameters); GW08, chapter 3 (forward mode).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.expr import ZERO, Expr, directional, substitute, symbol

from .derivatives import Derivatives

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


def change_of(x: Expr) -> Expr:
    """The symbol δx."""
    return symbol(f"change of {x.name}")


def variation_makers(
    equations: Equations, derivatives: Derivatives
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    variation (x = δq, δv, δu, δp): qdot, vdot and lam of (variation-1), outputs.
    """
    return {"variation": lambda: _variation(equations, derivatives)}


def _variation(equations: Equations, derivatives: Derivatives) -> Blocks:
    symbols, nv = equations.symbols, derivatives.nv
    state = (*symbols.q, *symbols.v)
    along = {x: change_of(x) for x in (*state, *symbols.u, *symbols.p)}
    qdot: list[Expr] = [ZERO] * len(symbols.q)
    for (i, k), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[k]
    values = dict(zip((*symbols.vdot, *symbols.lam), derivatives.at(), strict=True))
    right = substitute([-x for x in directional(derivatives.residual, along)], values)
    vdot, lam, _ = derivatives.factored().solve(right[:nv], right[nv:], refinements=0)
    outputs = list(equations.outputs.values())
    return [
        ("qdot", directional(qdot, along)),
        ("vdot", vdot),
        ("lam", lam),
        ("outputs", directional(outputs, along)),
    ]
