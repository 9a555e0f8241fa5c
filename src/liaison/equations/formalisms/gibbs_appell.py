"""Gibbs and Appell's equations: one function of accelerations, differentiated once.

    S = ½ ∫ a² dm,    ∂S/∂u̇_r = Q_r                                            (gibbs-1)

For a body with first moment h = m c and inertia I about the origin of its frame, where the origin
accelerates by a and the body turns by ω and α,

    S = ½ m a² + a · (α × h + ω × (ω × h)) + ½ α · I α + α · (ω × I ω) + ½ ω² ω · I ω.

Public names: gibbs_appell, GibbsAppell.

Source: PA, « les équations de Gibbs »; the form for a rigid body: docs/theory/formalisms.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.bodies import BodyMotion, accelerations, slopes, velocities, weight_potential
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import setting_of
from liaison.expr import ZERO, Expr, as_expr, gradient, jacobian, substitute
from liaison.spatial.arrays import Array, cross, dot, plus, product, times
from liaison.tree import Inertia, Tree

from .formalism import formalism
from .speeds import along_rates, chosen_speeds


@final
@dataclass(frozen=True, slots=True)
class GibbsAppell:
    """S of q, u and u̇, and what it is equal to when differentiated: ∂S/∂u̇ = Q + (G W)ᵀ λ."""

    speeds: tuple[str, ...]
    u: tuple[Expr, ...]
    udot: tuple[Expr, ...]
    S: Expr  # [W/s]
    Q: tuple[Expr, ...]  # of all loads, weight included
    qdot: tuple[Expr, ...]


@formalism(rank=7)
def gibbs_appell(tree: Tree, *, speeds: Mapping[str, Any] | None = None) -> Equations:
    """The equations of motion from the energy of accelerations.

    Args:
        tree: of the mechanism.
        speeds: quasi-velocities: name -> formula, linear in the rates; the velocities of the tree
            if not given.

    Returns:
        The equations along the tree's velocities; `native["gibbs_appell"]` holds S itself.

    Raises:
        DerivationError: the speeds are too few, not linear, or dependent.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.gibbs_appell(tree)
        <Equations pendulum, by gibbs appell: 1 equation>
    """
    setting = setting_of(tree, regroup=False)
    chosen = chosen_speeds(setting, speeds)
    moving = velocities(setting.kinematics, chosen.v, chosen.twists)
    flow = chosen.flow(setting) | dict(zip(chosen.u, chosen.udot, strict=True))
    rates = accelerations(moving, flow)
    S: Any = 0
    for node, motion, rate in zip(setting.tree.nodes, moving, rates, strict=True):
        S = plus(S, energy_of_acceleration(node.inertia, motion.turn, rate))
    needed = gradient(as_expr(S), list(chosen.udot))
    M = {key: x for key, x in jacobian(needed, list(chosen.udot)).items() if key[0] >= key[1]}
    still = substitute(needed, dict.fromkeys(chosen.udot, ZERO))
    weight = [as_expr(-x) for x in chosen.efforts(slopes(setting, weight_potential(setting)))]
    M_v, h_v = along_rates(setting, chosen, M, [a - b for a, b in zip(still, weight, strict=True)])
    tau = setting.applied()
    loads = zip(chosen.efforts(tau), weight, strict=True)
    native = GibbsAppell(
        chosen.names,
        chosen.u,
        chosen.udot,
        as_expr(S),
        tuple(as_expr(a) + b for a, b in loads),
        tuple(chosen.qdot(setting)),
    )
    dynamics = plain_dynamics(setting.symbols.vdot, M_v, h_v, tau)
    return completed("gibbs_appell", tree, setting, dynamics, {"gibbs_appell": native})


def energy_of_acceleration(inertia: Inertia, omega: Array, rate: BodyMotion) -> Any:
    """S of one rigid body [W/s]."""
    m, h, I = inertia
    alpha, a = rate.turn, rate.slide
    carried = product(I, omega)
    total = times(m, dot(a, a))
    total = plus(total, dot(alpha, product(I, alpha)))
    total = plus(total, times(dot(omega, omega), dot(omega, carried)))
    straight = dot(a, cross(alpha, h) + cross(omega, cross(omega, h)))
    return plus(total / 2, plus(straight, dot(alpha, cross(omega, carried))))
