"""Joints of a tree of many bodies that move no inertia: what loops over its nodes divide by.

With I_A the articulated inertia of what a joint carries, D = Sᵀ I_A S and the inertia of rotors is
singular where nothing resists some part of the joint's motion; there v̇ is not determined, or by
closures alone.

Public names: velocity_without_inertia, no_inertia.

Source: RBDA §7.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.equations.start_checks import may_be_singular
from liaison.errors import DerivationError
from liaison.expr import Expr
from liaison.numeric import State
from liaison.spatial.arrays import array
from liaison.tree import GROUND, Kinematics, Tree

from .classes import number
from .sweeps import known_values

Floats = NDArray[np.float64]

NO_ROTORS: Mapping[int, float] = MappingProxyType({})

ROUNDED = 1e-14
"""Inertia that a joint moves, beside that of what it carries, below which rounding alone gives it.
"""


def velocity_without_inertia(
    tree: Tree, state: State, rotors: Mapping[int, float] = NO_ROTORS
) -> str:
    """The label of a velocity that moves no inertia, as if no closure held; empty of none.

    With I_A the articulated inertia of what a joint carries, D = Sᵀ I_A S + rotors has an
    eigenvalue that is rounding beside what it is the sum of. Takes time linear in the nodes.

    Args:
        tree: of a mechanism whose parameters have values.
        state: where it starts.
        rotors: velocity -> inertia that it moves besides bodies.
    """
    if not may_be_singular(tree):
        return ""
    known = known_values(tree, None)
    kinematics = Kinematics(tree, array(list(map(float, state.q))))
    ghosts = {x.ghost for x in tree.closures}
    inertias = [_spatial(node.inertia, known) for node in tree.nodes]
    for i in reversed([k for k in range(len(tree.nodes)) if k not in ghosts]):
        node, S, I_A = tree.nodes[i], _floats(kinematics.subspace(i), known), inertias[i]
        own = np.diag([rotors.get(j, 0.0) for j in range(node.v.start, node.v.stop)])
        D = S.T @ I_A @ S + own
        weakest = _weakest(D, S, I_A, own)
        if weakest is not None:
            label: str = tree.velocity_labels()[node.v.start + weakest].name
            return label
        if node.parent != GROUND:
            U, X = I_A @ S, _moving_back(kinematics.pose(i), known)
            rest = X.T @ (I_A - U @ np.linalg.solve(D, U.T) if S.size else I_A) @ X
            # rounding that is not symmetric would grow from joint to joint
            inertias[node.parent] = inertias[node.parent] + (rest + rest.T) / 2
    return ""


def no_inertia(velocity: str, where: str) -> DerivationError:
    """The error for a mechanism without closures one of whose velocities moves no inertia."""
    return DerivationError(
        f"nothing gives {velocity!r} inertia {where}, so its acceleration is not determined: of "
        "all that its joint carries no mass moves along it.",
        hint="Give a body that it carries a mass or an inertia about it, or impose the motion.",
    )


def _weakest(D: Floats, S: Floats, I_A: Floats, own: Floats) -> int | None:
    """The part of a joint's velocity with the most of what moves no inertia; None of none."""
    if not D.size:
        return None
    turns, slides = (np.max(np.diag(x)) for x in (I_A[:3, :3], I_A[3:, 3:]))
    parts = np.sum(S[:3] ** 2, axis=0) * turns + np.sum(S[3:] ** 2, axis=0) * slides
    single = np.diag(D) <= ROUNDED * (parts + np.diag(own))
    if np.any(single):
        return int(np.argmax(single))
    size = np.abs(S).T @ np.abs(I_A) @ np.abs(S) + own
    scale = 1.0 / np.sqrt(np.diag(size))
    sizes, vectors = np.linalg.eigh(D * np.outer(scale, scale))
    return int(np.argmax(np.abs(vectors[:, 0]))) if sizes[0] <= ROUNDED * sizes[-1] else None


def _spatial(inertia: Any, known: Mapping[Expr, Any]) -> Floats:
    """Moments, then forces, of ω̇ and v̇ of a body at its node's origin."""
    m, h, I = inertia
    x, y, z = _floats(h, known)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    mass = float(number(m, known)) * np.eye(3)
    return np.block([[_floats(I, known), cross], [cross.T, mass]])


def _moving_back(pose: Any, known: Mapping[Expr, Any]) -> Floats:
    """X with V_N = X V_P: of a node's frame in its parent's."""
    R, (x, y, z) = (_floats(part, known) for part in pose)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ cross, R.T]])


def _floats(formulas: Any, known: Mapping[Expr, Any]) -> Floats:
    """An array of formulas as numbers."""
    values = [float(number(x, known)) for x in formulas.flat]
    return np.array(values, dtype=float).reshape(formulas.shape)
