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

The same through a projection onto the closures, q := q ⊞ δ with G δ = −Φ, then v := v + δ with
G (v + δ) = ν, both the smallest in the metric of M. Weights w of the state behind it become

    K (a, −b) = (w_v, 0),         w_z := w_z + ∂(b · (G v − ν))/∂z,
    K_h (a, −b) = (Nᵀ w_q, 0),    w_z := w_z + ∂(b · Φ)/∂z                        (adjoint-2)

of the state before it, where that lies on the closures; K_h has the holonomic rows alone.

Public names: variation_makers, change_of, adjoint_makers, closing_makers.

Source: HNW1 §I.14 (derivatives with respect to parameters); GW08, chapter 3 (forward and reverse
mode), §15.1 (implicit functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.expr import ZERO, Expr, directional, gradient, substitute, symbol
from liaison.program.solve import Factor, solved

from .derivatives import Derivatives

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


def change_of(x: Expr) -> Expr:
    """The symbol δx."""
    return symbol(f"change of {x.name}")


def variation_makers(
    equations: Equations, derivatives: Derivatives
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    variation (x = δq, δv, δu, δp): qdot, vdot and lam of (variation-1), outputs;
    varied (x = δq, δv, δu, δp, v̇, λ): qdot, outputs, and f and gamma, the right-hand side of
    (variation-1), of which `solve` gives the rest.
    """
    return {
        "variation": lambda: _variation(equations, derivatives),
        "varied": lambda: _varied(equations, derivatives),
    }


def _varied(equations: Equations, derivatives: Derivatives) -> Blocks:
    symbols, nv = equations.symbols, derivatives.nv
    along = _changes(equations)
    values = {x: solved(x) for x in (*symbols.vdot, *symbols.lam)}
    right = substitute([-x for x in directional(derivatives.residual, along)], values)
    return [
        ("qdot", directional(_rates(equations), along)),
        ("outputs", directional(list(equations.outputs.values()), along)),
        ("f", right[:nv]),
        ("gamma", right[nv:]),
    ]


def _changes(equations: Equations) -> dict[Expr, Expr]:
    """What changes, and by how much."""
    symbols = equations.symbols
    return {x: change_of(x) for x in (*symbols.q, *symbols.v, *symbols.u, *symbols.p)}


def _rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    symbols = equations.symbols
    qdot: list[Expr] = [ZERO] * len(symbols.q)
    for (i, k), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[k]
    return qdot


def _variation(equations: Equations, derivatives: Derivatives) -> Blocks:
    symbols, nv = equations.symbols, derivatives.nv
    along = _changes(equations)
    values = dict(zip((*symbols.vdot, *symbols.lam), derivatives.at(), strict=True))
    right = substitute([-x for x in directional(derivatives.residual, along)], values)
    vdot, lam, _ = derivatives.factored().solve(right[:nv], right[nv:], refinements=0)
    outputs = list(equations.outputs.values())
    return [
        ("qdot", directional(_rates(equations), along)),
        ("vdot", vdot),
        ("lam", lam),
        ("outputs", directional(outputs, along)),
    ]


def adjoint_makers(
    equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    adjoint (x = weights of q̇, v̇, outputs): the gradient by q, v, u, p of (adjoint-1);
    adjoint_motion (x = weights of q̇, v̇): the same without outputs.

    Args:
        equations: of any formalism.
        derivatives: of them.
        weights: symbols of the weights, in that order.
    """
    state = weights[: len(equations.symbols.q) + derivatives.nv]
    return {
        "adjoint": lambda: _adjoint(equations, derivatives, weights),
        "adjoint_motion": lambda: _adjoint(equations, derivatives, state),
    }


def _adjoint(equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]) -> Blocks:
    symbols, nq, nv = equations.symbols, len(equations.symbols.q), derivatives.nv
    of_q, of_v, of_outputs = weights[:nq], weights[nq : nq + nv], weights[nq + nv :]
    a, b, _ = derivatives.factored().solve(list(of_v), [ZERO] * len(symbols.lam), refinements=0)
    total: Expr = ZERO
    for (i, k), entry in equations.kinematics.N.items():
        total = total + of_q[i] * entry * symbols.v[k]
    for weight, formula in zip(of_outputs, equations.outputs.values(), strict=False):
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
    return _by_variables(equations, gradients)


def _by_variables(equations: Equations, gradients: Sequence[Expr]) -> Blocks:
    """Gradients by q, v, u and p as blocks."""
    symbols, blocks, start = equations.symbols, Blocks(), 0
    for name, group in {"q": symbols.q, "v": symbols.v, "u": symbols.u, "p": symbols.p}.items():
        blocks.append((name, gradients[start : start + len(group)]))
        start += len(group)
    return blocks


def closing_makers(
    equations: Equations,
    factors: Callable[[], tuple[Factor, Factor]],
    weights: Sequence[Expr],
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    adjoint_closing (x = weights of q, v): weights of q and v before a projection, and gradients by
    u and p, of (adjoint-2).

    Args:
        equations: of any formalism.
        factors: the eliminated saddles of positions and of velocities.
        weights: symbols of the weights, in that order.
    """
    return {"adjoint_closing": lambda: _closing(equations, *factors(), weights)}


def _closing(
    equations: Equations, of_positions: Factor, of_velocities: Factor, weights: Sequence[Expr]
) -> Blocks:
    symbols, closures = equations.symbols, equations.closures
    nq, nv = len(symbols.q), len(symbols.v)
    variables = [*symbols.q, *symbols.v, *symbols.u, *symbols.p]
    zeros = [ZERO] * (len(symbols.u) + len(symbols.p))
    gathered = [*weights[: nq + nv], *zeros]
    _, b, _ = of_velocities.solve(gathered[nq : nq + nv], [ZERO] * len(closures.rate))
    gathered = _with_rows(gathered, closures.rate, b, variables)
    along: list[Expr] = [ZERO] * nv
    for (i, k), entry in equations.kinematics.N.items():
        along[k] = along[k] + entry * gathered[i]
    _, b, _ = of_positions.solve(along, [ZERO] * len(closures.phi))
    return _by_variables(equations, _with_rows(gathered, closures.phi, b, variables))


def _with_rows(
    gathered: Sequence[Expr],
    rows: Sequence[Expr],
    forces: Sequence[Expr],
    variables: Sequence[Expr],
) -> list[Expr]:
    """Weights plus the gradient of forces · rows, the forces held."""
    held = [symbol(f"adjoint {k}") for k in range(len(rows))]
    total: Expr = ZERO
    for weight, row in zip(held, rows, strict=True):
        total = total + weight * row
    more = substitute(gradient(total, variables), dict(zip(held, forces, strict=True)))
    return [x + y for x, y in zip(gathered, more, strict=True)]
