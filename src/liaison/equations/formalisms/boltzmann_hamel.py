"""Boltzmann and Hamel's equations in quasi-velocities, with Hamel's coefficients γ_ijk.

    u_j = Σ α_ij q̇_i,  q̇_j = Σ β_ji u_i,  ε_i = ∂T/∂u_i,  δ_i = Σ β_ji ∂T/∂q_j
    ε̇_i + Σ γ_ijk u_k ε_j − δ_i = Q_i                                            (hamel-1)
    γ_ijk = Σ β_ri β_sk (∂α_rj/∂q_s − ∂α_sj/∂q_r)

Where the velocities v of the tree are no rates (of a quaternion), α and β are taken against the
derivatives X_a along them, [X_a, X_b] = Σ c^s_ab X_s, and u = Y v, v = W u:

    γ_ijk = Σ W_ai W_bk (X_b Y_ja − X_a Y_jb + Σ Y_js c^s_ab)                    (hamel-2)

Public names: boltzmann_hamel, BoltzmannHamel, hamel_coefficients.

Source: PA, « les équations de Boltzmann-Hamel » (3)–(5).
Differs: one index of (3) is put right, see docs/errata.md; (hamel-2) for velocities that are no
    rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.bodies import kinetic_energy, slopes, velocities, weight_potential
from liaison.equations.commutators import structure_constants
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, directional, gradient, jacobian, symbols_of
from liaison.spatial.arrays import Array, array, is_zero, minus, plus, product, times, zeros
from liaison.tree import Tree

from .formalism import formalism
from .speeds import Speeds, along_rates, chosen_speeds, natural_speeds


@final
@dataclass(frozen=True, slots=True)
class BoltzmannHamel:
    """The terms of (hamel-1), in quasi-velocities u."""

    quasi_velocities: tuple[str, ...]
    u: tuple[Expr, ...]
    T: Expr  # of q and u
    epsilon: tuple[Expr, ...]
    delta: tuple[Expr, ...]
    gamma: Mapping[tuple[int, int, int], Expr]  # (i, j, k) -> γ_ijk, zeros left out
    Q: tuple[Expr, ...]  # of all loads, weight included
    qdot: tuple[Expr, ...]


@formalism(rank=6)
def boltzmann_hamel(tree: Tree, *, quasi_velocities: Mapping[str, Any] | None = None) -> Equations:
    """The equations of motion in quasi-velocities.

    Args:
        tree: of the mechanism.
        quasi_velocities: name -> formula, linear and homogeneous in the rates, one for each
            velocity. By default, for attitudes by angles, the angular velocity in the
            body's axes; the velocities of the tree elsewhere.

    Returns:
        The equations along the tree's velocities; `native["boltzmann_hamel"]` holds T, ε, δ, γ.

    Raises:
        DerivationError: the quasi-velocities are too few, not linear, dependent, or not
            homogeneous.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.boltzmann_hamel(tree)
        <Equations pendulum, by boltzmann hamel: 1 equation>
    """
    setting = setting_of(tree)
    chosen = (
        chosen_speeds(setting, quasi_velocities) if quasi_velocities else natural_speeds(setting)
    )
    _check_homogeneous(setting, chosen)
    T = kinetic_energy(setting.kinematics, velocities(setting.kinematics, chosen.v, chosen.twists))
    epsilon = gradient(T, list(chosen.u))
    M = {key: x for key, x in jacobian(epsilon, list(chosen.u)).items() if key[0] >= key[1]}
    delta = chosen.efforts(slopes(setting, T))
    weight = chosen.efforts([-x for x in slopes(setting, weight_potential(setting))])
    gamma = hamel_coefficients(setting, chosen)
    h: list[Any] = directional(epsilon, chosen.flow(setting))
    for (i, j, k), coefficient in gamma.items():
        h[i] = h[i] + coefficient * chosen.u[k] * epsilon[j]
    h = [a - b - c for a, b, c in zip(h, delta, weight, strict=True)]
    M_v, h_v = along_rates(setting, chosen, M, h)
    tau = setting.applied()
    native = BoltzmannHamel(
        chosen.names,
        chosen.u,
        T,
        tuple(epsilon),
        tuple(map(as_expr, delta)),
        gamma,
        tuple(as_expr(a) + b for a, b in zip(chosen.efforts(tau), weight, strict=True)),
        tuple(chosen.qdot(setting)),
    )
    dynamics = plain_dynamics(setting.symbols.vdot, M_v, h_v, tau)
    return completed("boltzmann_hamel", tree, setting, dynamics, {"boltzmann_hamel": native})


def _check_homogeneous(setting: Setting, speeds: Speeds) -> None:
    plain = product(speeds.W, array(list(speeds.u)))
    for name, a, b in zip(speeds.names, plain, speeds.v, strict=True):
        moving = setting.symbols.t in _symbols(speeds.Y)
        if as_expr(a) is not as_expr(b) or moving:
            raise DerivationError(
                f"the quasi-velocity {name!r} has a part that is no rate, or depends on time: "
                "Boltzmann and Hamel's coefficients are defined without either.",
                hint="kane and gibbs_appell take such speeds.",
            )


def hamel_coefficients(setting: Setting, speeds: Speeds) -> dict[tuple[int, int, int], Expr]:
    """γ_ijk by (hamel-2), (i, j, k) -> γ, zeros left out."""
    n, Y, W = len(speeds.u), speeds.Y, speeds.W
    constants = _constants(setting)
    along = _derivatives(setting, Y)
    coefficients: dict[tuple[int, int, int], Expr] = {}
    for j in range(n):
        curl = zeros(n, n)  # of α_j: X_b Y_ja − X_a Y_jb, and what the frame itself turns
        for (m, a, b), slope in along.items():
            if m == j:
                curl[a, b] = plus(curl[a, b], slope)
                curl[b, a] = minus(curl[b, a], slope)
        for (s, a, b), c in constants.items():
            curl[a, b] = plus(curl[a, b], times(c, Y[j, s]))
        if all(is_zero(x) for x in curl.flat):
            continue
        gamma = product(product(W.T, array(curl)), W)
        for i in range(n):
            for k in range(n):
                if not is_zero(gamma[i, k]):
                    coefficients[i, j, k] = as_expr(gamma[i, k])
    return coefficients


def _derivatives(setting: Setting, Y: Array) -> dict[tuple[int, int, int], Any]:
    """(j, a, b) -> X_b Y_ja, zeros left out."""
    derivatives = {}
    for (j, a), entry in _formulas(Y).items():
        for b, slope in enumerate(slopes(setting, entry)):
            if not is_zero(slope):
                derivatives[j, a, b] = slope
    return derivatives


def _constants(setting: Setting) -> dict[tuple[int, int, int], int]:
    """c^s_ab of all joints, numbered along v."""
    constants = {}
    for node in setting.tree.nodes:
        if not node.joint.type.has_rates:
            first = node.v.start
            for (s, a, b), c in structure_constants(node.joint.type).items():
                constants[first + s, first + a, first + b] = c
    return constants


def _formulas(Y: Array) -> dict[tuple[int, int], Expr]:
    n = len(Y)
    return {(i, j): Y[i, j] for i in range(n) for j in range(n) if isinstance(Y[i, j], Expr)}


def _symbols(Y: Array) -> set[Expr]:
    return set(symbols_of(list(_formulas(Y).values())))
