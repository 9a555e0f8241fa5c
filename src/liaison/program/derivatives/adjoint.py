"""Gradients of a weighted sum of accelerations, rates and outputs, as an entry: reverse mode.

    s = w_q · q̇ + w_v · v̇ + w_y · y,
    K (a, −b) = (w_v, 0),   ∂s/∂z = ∂(w_q · N v + w_y · y − (a, b) · r)/∂z        (adjoint-1)

with r and K of (derivatives-1, derivatives-2), v̇ and λ held in r: one more use of the elimination,
which is symmetric, and one sweep backward, whatever the number of variables z = q, v, u, p.

Public names: adjoint_makers.

Source: GW08, chapter 3 (reverse mode), §15.1 (implicit functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.expr import ZERO, Expr, gradient, substitute, symbol

from .derivatives import Derivatives

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


def adjoint_makers(
    equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    adjoint (x = weights of q̇, v̇, outputs): the gradient by q, v, u, p of (adjoint-1).

    Args:
        equations: of any formalism.
        derivatives: of them.
        weights: symbols of the weights, in that order.
    """
    return {"adjoint": lambda: _adjoint(equations, derivatives, weights)}


def _adjoint(equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]) -> Blocks:
    symbols, nq, nv = equations.symbols, len(equations.symbols.q), derivatives.nv
    of_q, of_v, of_outputs = weights[:nq], weights[nq : nq + nv], weights[nq + nv :]
    a, b, _ = derivatives.factored().solve(list(of_v), [ZERO] * len(symbols.lam), refinements=0)
    total: Expr = ZERO
    for (i, k), entry in equations.kinematics.N.items():
        total = total + of_q[i] * entry * symbols.v[k]
    for weight, formula in zip(of_outputs, equations.outputs.values(), strict=True):
        total = total + weight * formula
    solved = dict(zip((*symbols.vdot, *symbols.lam), derivatives.at(), strict=True))
    variables = [*symbols.q, *symbols.v, *symbols.u, *symbols.p]
    own = gradient(total, variables)
    held = [symbol(f"adjoint {k}") for k in range(nv + len(symbols.lam))]
    missed: Expr = ZERO
    for weight, row in zip(held, derivatives.residual, strict=True):
        missed = missed + weight * row
    values = solved | dict(zip(held, (*a, *(-x for x in b)), strict=True))
    through = substitute(gradient(missed, variables), values)
    gradients = [x - y for x, y in zip(own, through, strict=True)]
    sizes = {"q": nq, "v": nv, "u": len(symbols.u), "p": len(symbols.p)}
    blocks: Blocks = []
    for name, size in sizes.items():
        blocks.append((name, gradients[:size]))
        gradients = gradients[size:]
    return blocks
