"""Second derivatives of inverse dynamics, as products of a Hessian and a direction.

    g(z) = w · τ(q ⊞ ξ, v, v̇),  z = (ξ, v, v̇) at ξ = 0;   out = ∇²g d            (curvature-1)

One sweep forward along d, one backward: a few times the cost of τ, and no third-order array.

Public names: curvature_makers, curvature_places.

Source: GW08, chapter 5 (products of Hessians and vectors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.expr import ZERO, Expr, as_expr, directional, gradient, substitute, symbol

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


def curvature_places(equations: Equations) -> list[Expr]:
    """What x holds after v̇ and λ: the weights w, then d along q, v and v̇, nv each."""
    speeds = [x.name for x in equations.symbols.v]
    kinds = ("weight", "direction q", "direction v", "direction vdot")
    return [symbol(f"{kind} {name}") for kind in kinds for name in speeds]


def curvature_makers(equations: Equations) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    h_inverse (x = v̇, λ unread, w, d along q, v, v̇): q, v, vdot, the parts of ∇²g d.
    """
    return {"h_inverse": lambda: _inverse(equations)}


def _inverse(equations: Equations) -> Blocks:
    symbols, nv = equations.symbols, len(equations.symbols.v)
    given = curvature_places(equations)
    weights, directions = given[:nv], given[nv:]
    variables = [*symbols.xi, *symbols.v, *symbols.vdot]
    moved = dict(zip(symbols.q, equations.kinematics.retract, strict=True))
    tau = substitute(equations.dynamics.inverse, moved)
    total: Expr = ZERO
    for weight, force in zip(weights, tau, strict=True):
        total = total + weight * force
    along = directional([total], dict(zip(variables, directions, strict=True)))
    product = gradient(along[0], variables)
    found = substitute(product, {x: as_expr(0) for x in symbols.xi})
    return [(name, found[k * nv : (k + 1) * nv]) for k, name in enumerate(("q", "v", "vdot"))]
