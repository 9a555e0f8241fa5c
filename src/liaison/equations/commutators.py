"""Derivatives along velocities that do not commute: [X_j, X_k] = Σ c^s_jk X_s.

X_k = Σ N_ik ∂/∂q_i is the derivative along the k-th velocity. Where velocities are rates of
coordinates the c vanish; for angular velocities they are those of the rotation group.

Public names: commutator_terms, structure_constants.

Source: docs/theory/formalisms.md (lagrange-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from liaison.expr import ZERO, Expr, as_expr, directional, substitute, symbol
from liaison.model import JointType
from liaison.spatial.arrays import array
from liaison.tree import Tree


def commutator_terms(tree: Tree, momenta: Sequence[Expr], v: Sequence[Expr]) -> list[Expr]:
    """Σ c^s_jk v_j p_s for every k.

    Args:
        tree: of the mechanism.
        momenta: p_s, one for each velocity.
        v: the velocities, or formulas in their place.
    """
    terms: list[Any] = [ZERO] * len(momenta)
    for node in tree.nodes:
        kind, start = node.joint.type, node.v.start
        if kind.has_rates:
            continue
        for (s, j, k), c in structure_constants(kind).items():
            term = v[start + j] * momenta[start + s]
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
    at = _numbers([x for column in columns for x in column], neutral).reshape(kind.nv, kind.nq).T
    constants = {}
    for j in range(kind.nv):
        for k in range(kind.nv):
            bracket = _numbers(along[j][k], neutral) - _numbers(along[k][j], neutral)
            c = np.linalg.lstsq(at, bracket, rcond=None)[0]
            for s in np.flatnonzero(np.abs(c) > 0.5):
                constants[int(s), j, k] = round(float(c[s]))
    return constants


def _numbers(formulas: list[Expr], values: dict[Expr, Expr]) -> Any:
    """Formulas at a constant point, as floats."""
    return np.array([float(x.value) for x in substitute(formulas, values)])
