"""Lagrange's equations with multipliers, from kinetic and potential energy alone.

    d/dt (∂T/∂v_k) − X_k T − Σ c^s_jk v_j ∂T/∂v_s = −X_k U + τ_k + (Gᵀ λ)_k            (lagrange-1)

X_k is the derivative along the k-th velocity, X_k = Σ N_ik ∂/∂q_i, and [X_j, X_k] = Σ c^s_jk X_s.
Where velocities are rates of coordinates the c vanish and this is Lagrange's own form; for
quaternions it is Euler–Poincaré's.

Public names: lagrange, commutator_terms, structure_constants.

Source: KL85 §4 for T; Hamel's form of Lagrange's equations: docs/theory/formalisms.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from liaison.equations.bodies import kinetic_energy, slopes, velocities, weight_potential
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of, shared
from liaison.expr import ZERO, Expr, as_expr, directional, gradient, jacobian, substitute, symbol
from liaison.model import JointType
from liaison.spatial.arrays import array
from liaison.tree import Tree

from .formalism import formalism


@formalism(rank=2)
def lagrange(tree: Tree) -> Equations:
    """The equations of motion by differentiating the energies."""
    return shared(tree, "lagrange", lambda: _derived(tree))


def _derived(tree: Tree) -> Equations:
    setting = setting_of(tree)
    symbols = setting.symbols
    T = kinetic_energy(setting.kinematics, velocities(setting.kinematics))
    momenta = gradient(T, list(symbols.v))
    M = jacobian(momenta, list(symbols.v))
    flow = dict(zip(symbols.q, setting.qdot, strict=True))
    change = directional(momenta, flow)
    by_T, by_U = slopes(setting, T), slopes(setting, weight_potential(setting))
    turn = commutator_terms(setting, momenta)
    h = [a - b - c + d for a, b, c, d in zip(change, by_T, turn, by_U, strict=True)]
    dynamics = plain_dynamics(symbols.vdot, M, h, setting.applied())
    return completed("lagrange", tree, setting, dynamics)


def commutator_terms(
    setting: Setting, momenta: list[Expr], v: Sequence[Expr] | None = None
) -> list[Expr]:
    """Σ c^s_jk v_j ∂T/∂v_s for every k; v may be replaced by other formulas."""
    speeds = setting.v if v is None else v
    terms: list[Any] = [ZERO] * len(momenta)
    for node in setting.tree.nodes:
        kind, start = node.joint.type, node.v.start
        if kind.has_rates:
            continue
        for (s, j, k), c in structure_constants(kind).items():
            term = speeds[start + j] * momenta[start + s]
            terms[start + k] = terms[start + k] + term * c
    return terms


@lru_cache(maxsize=64)
def structure_constants(kind: JointType) -> dict[tuple[int, int, int], int]:
    """c^s_jk of a joint whose velocities are no rates, (s, j, k) -> c, zeros left out.

    Read off N at the neutral position; they are integers for the rotation group and its
    products with translations.
    """
    q = array([symbol(f"group {i}") for i in range(kind.nq)])
    N = kind.kinematic_map(q)
    neutral = {x: as_expr(value) for x, value in zip(q, kind.neutral(), strict=True)}
    columns = [[as_expr(x) for x in N[:, k]] for k in range(kind.nv)]
    along = [
        [directional(column, dict(zip(q, other, strict=True))) for column in columns]
        for other in columns
    ]
    at = numbers([x for column in columns for x in column], neutral).reshape(kind.nv, kind.nq).T
    constants = {}
    for j in range(kind.nv):
        for k in range(kind.nv):
            bracket = numbers(along[j][k], neutral) - numbers(along[k][j], neutral)
            c = np.linalg.lstsq(at, bracket, rcond=None)[0]
            for s in np.flatnonzero(np.abs(c) > 0.5):
                constants[int(s), j, k] = round(float(c[s]))
    return constants


def numbers(formulas: list[Expr], values: dict[Expr, Expr]) -> Any:
    """Formulas at a constant point, as floats."""
    return np.array([float(x.value) for x in substitute(formulas, values)])
