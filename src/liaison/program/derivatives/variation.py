"""A small change of a motion, as an entry: how fast (δq, δv) grow along the equations.

    δq̇ = ∂(N v)/∂q δq + N δv,
    K (δv̇, −δλ) = −(∂r/∂q δq + ∂r/∂v δv + ∂r/∂u δu + ∂r/∂p δp)                  (variation-1)

with r and K of (derivatives-1, derivatives-2): one sweep forward along the change and one more use
of the elimination, so that no matrix of derivatives is formed.

Gradients of a weighted sum of accelerations, rates and outputs, as an entry: reverse mode.

    s = w_q · q̇ + w_v · v̇ + w_y · y,
    K (a, −b) = (w_v, 0),   ∂s/∂z = ∂(w_q · N v + w_y · y − (a, b) · r)/∂z        (adjoint-1)

with v̇ and λ held in r: one more use of the elimination, which is symmetric, and one sweep backward,
whatever the number of variables z = q, v, u, p.

Public names: variation_makers, change_of, adjoint_makers.

Source: HNW1 §I.14 (derivatives with respect to parameters); GW08, chapter 3 (forward and reverse
mode), §15.1 (implicit functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.expr import ZERO, Expr, directional, gradient, substitute, symbol

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
