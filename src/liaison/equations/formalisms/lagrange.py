"""Lagrange's equations with multipliers, from kinetic and potential energy alone.

    d/dt (∂T/∂v_k) − X_k T − Σ c^s_jk v_j ∂T/∂v_s = −X_k U + τ_k + (Gᵀ λ)_k            (lagrange-1)

X_k is the derivative along the k-th velocity, X_k = Σ N_ik ∂/∂q_i, and [X_j, X_k] = Σ c^s_jk X_s.
Where velocities are rates of coordinates the c vanish and this is Lagrange's own form; for
quaternions it is Euler–Poincaré's.

Potentials V(q, v, t) of velocities stand beside T: T − V in its place, and M = ∂²(T − V)/∂v².

Public names: lagrange, commutator_terms, structure_constants.

Source: KL85 §4 for T; Hamel's form of Lagrange's equations: docs/theory/formalisms.md.
"""

from __future__ import annotations

from liaison.equations.bodies import kinetic_energy, slopes, velocities, weight_potential
from liaison.equations.commutators import commutator_terms, structure_constants
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import setting_of, shared
from liaison.expr import ONE, directional, gradient, jacobian
from liaison.tree import Tree

from .formalism import formalism

__all__ = ["commutator_terms", "lagrange", "structure_constants"]


@formalism(rank=2)
def lagrange(tree: Tree) -> Equations:
    """The equations of motion by differentiating the energies.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.lagrange(tree)
        <Equations pendulum, by lagrange: 1 equation>
    """
    return shared(tree, "lagrange", lambda: _derived(tree))


def _derived(tree: Tree) -> Equations:
    setting = setting_of(tree)
    symbols = setting.symbols
    T = kinetic_energy(setting.kinematics, velocities(setting.kinematics))
    kinetic = T - setting.rate_potential
    momenta = gradient(kinetic, list(symbols.v))
    M = jacobian(momenta, list(symbols.v))
    flow = dict(zip(symbols.q, setting.qdot, strict=True))
    change = directional(momenta, flow | {symbols.t: ONE})
    by_T, by_U = slopes(setting, kinetic), slopes(setting, weight_potential(setting))
    turn = commutator_terms(setting.tree, momenta, symbols.v)
    h = [a - b - c + d for a, b, c, d in zip(change, by_T, turn, by_U, strict=True)]
    dynamics = plain_dynamics(symbols.vdot, M, h, setting.applied(rate_potentials=False))
    return completed("lagrange", tree, setting, dynamics, is_whole=True)
