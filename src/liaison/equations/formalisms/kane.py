"""Kane's equations: partial velocities, and generalised speeds of one's own choice.

With u the speeds, ω_b and v_b of a body linear in them, and ω_b,r = ∂ω_b/∂u_r, v_b,r = ∂v_b/∂u_r,

    Σ_b v_b,r · (f_b − m_b a_b − …) + ω_b,r · (n_b − …) = 0,   r = 1 … n               (kane-1)

the resultant and moment of applied and of inertia forces, both at the origin of the body's frame.
Accelerations are the velocities differentiated; no energy is formed.

Public names: kane, Kane.

Source: KL85 chapters 2–4 and 6.
Differs: moments about the frame's origin, not about the mass center, so that no mass divides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.equations.bodies import BodyMotion, accelerations, velocities
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Entries, Equations
from liaison.equations.setting import Setting, setting_of
from liaison.expr import Expr, as_expr, jacobian
from liaison.spatial.arrays import Array, array, cross, dot, plus, product, times, zeros
from liaison.spatial.plucker import apply_inertia
from liaison.tree import GROUND, Inertia, Kinematics, Tree

from .formalism import formalism
from .speeds import Speeds, along_rates, chosen_speeds

Partials: TypeAlias = list[dict[int, Array]]
"""For each node: speed -> its partial angular velocity and partial velocity, six numbers."""


@final
@dataclass(frozen=True, slots=True)
class Kane:
    """Kane's equations in their own speeds: M u̇ + h = Q + (G W)ᵀ λ,  q̇ = N (W u + w)."""

    speeds: tuple[str, ...]
    u: tuple[Expr, ...]
    M: Entries  # lower triangle
    h: tuple[Expr, ...]  # of q, u, t; weights included
    Q: tuple[Expr, ...]  # of all loads but weight
    qdot: tuple[Expr, ...]
    partial_velocities: Mapping[str, Mapping[str, tuple[Expr, ...]]]
    # body -> speed -> partial angular velocity (3), partial velocity of the frame's origin (3)


@formalism(rank=5)
def kane(tree: Tree, *, speeds: Mapping[str, Any] | None = None) -> Equations:
    """The equations of motion by partial velocities.

    Args:
        tree: of the mechanism.
        speeds: name -> formula of positions, rates and time, linear in the rates; one for each
            velocity. The velocities of the tree if not given.

    Returns:
        The equations along the tree's velocities; `native["kane"]` is a `Kane`, along the speeds.

    Raises:
        DerivationError: the speeds are too few, not linear, or dependent.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.kane(tree)
        <Equations pendulum, by kane: 1 equation>
    """
    setting = setting_of(tree)
    chosen = chosen_speeds(setting, speeds)
    moving = velocities(setting.kinematics, chosen.v, chosen.twists)
    partials = partial_velocities(moving, chosen)
    M = _mass_matrix(setting.kinematics, partials, len(chosen.u))
    h = _inertia_and_weight(setting, chosen, moving, partials)
    M_v, h_v = along_rates(setting, chosen, M, h)
    dynamics = plain_dynamics(setting.symbols.vdot, M_v, h_v, setting.applied())
    native = {"kane": _record(setting, chosen, M, h, partials)}
    return completed("kane", tree, setting, dynamics, native)


def partial_velocities(moving: list[BodyMotion], speeds: Speeds) -> Partials:
    """∂ω/∂u and ∂v/∂u of every node, in its own axes."""
    entries = [as_expr(x) for motion in moving for x in motion.six]
    partials: Partials = [{} for _ in moving]
    for (k, r), entry in jacobian(entries, list(speeds.u), by_rows=False).items():
        partials[k // 6].setdefault(r, zeros(6))[k % 6] = entry if entry.op != "const" else entry.a
    return partials


def _mass_matrix(kinematics: Kinematics, partials: Partials, n: int) -> dict[Any, Expr]:
    """M_rs = Σ_b (ω_b,r, v_b,r) · I_b (ω_b,s, v_b,s)."""
    total: dict[tuple[int, int], Any] = {}
    for node, partial in zip(kinematics.tree.nodes, partials, strict=True):
        for s, column in partial.items():
            carried = apply_inertia(*node.inertia, column)
            for r, row in partial.items():
                if r >= s:
                    total[r, s] = plus(total.get((r, s), 0), dot(row, carried))
    return {key: as_expr(x) for key, x in total.items()}


def _inertia_and_weight(
    setting: Setting, speeds: Speeds, moving: list[BodyMotion], partials: Partials
) -> list[Expr]:
    """h: minus the generalised forces of inertia (where u̇ = 0) and of weight."""
    kinematics = setting.kinematics
    rates = accelerations(moving, speeds.flow(setting))
    falls: list[Array] = []
    total: list[Any] = [0] * len(speeds.u)
    for i, node in enumerate(kinematics.tree.nodes):
        carrier = setting.gravity if node.parent == GROUND else falls[node.parent]
        falls.append(product(kinematics.pose(i)[0].T, carrier))
        felt = BodyMotion(rates[i].turn, rates[i].slide - falls[i])
        torsor = inertia_torsor(node.inertia, moving[i].turn, felt)
        for r, partial in partials[i].items():
            total[r] = plus(total[r], dot(partial, torsor))
    return [as_expr(x) for x in total]


def inertia_torsor(inertia: Inertia, omega: Array, rate: BodyMotion) -> Array:
    """Moment at the origin and resultant that a body needs to accelerate so.

    n = I α + ω × I ω + h × a,  f = m a + α × h + ω × (ω × h),  h = m c
    """
    m, h, I = inertia
    moment = product(I, rate.turn) + cross(omega, product(I, omega)) + cross(h, rate.slide)
    force = array([times(m, x) for x in rate.slide]) + cross(rate.turn, h)
    return array([*moment, *(force + cross(omega, cross(omega, h)))])


def _record(
    setting: Setting, speeds: Speeds, M: Entries, h: list[Expr], partials: Partials
) -> Kane:
    bodies = {
        node.body: {speeds.names[r]: tuple(map(as_expr, x)) for r, x in partial.items()}
        for node, partial in zip(setting.tree.nodes, partials, strict=True)
    }
    return Kane(
        speeds=speeds.names,
        u=speeds.u,
        M=M,
        h=tuple(h),
        Q=tuple(as_expr(x) for x in speeds.efforts(setting.applied())),
        qdot=tuple(speeds.qdot(setting)),
        partial_velocities=bodies,
    )
