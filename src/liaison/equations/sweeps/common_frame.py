"""A tree seen from one frame: what derivatives of its dynamics are made of, node by node.

In the axes of a tree's first node nothing is transformed between neighbours, so velocities and
accelerations are sums along branches, composite inertias sums over what a node carries. A column of
S, in these axes, is η; parents P, nodes J and what they carry L:

    V_L = V_P + …,  A_L = A_P + …, spatial,  F = Σ I A + V ×* I V                 (slopes-1)
    ψ = V_P × η + w,   ψ' = A_P × η + V_P × (V_P × η) + (V_P + V_J) × w + e        (slopes-2)
    ∂F/∂q = η ×* F + 2 B ψ + I ψ',   ∂F/∂v = 2 B η + I φ,  φ = (V_P + V_J) × η + β (slopes-3)

and ∂τ_i = S_iᵀ ∂F, F of the column's node where i carries it, of node i, without η ×* F, where it
is carried. w, e and β are what S(q) of the joint itself changes: zero where S is constant. As
2 B x = (D x_ω, 2 x_ω × l) with l the momentum and D = 2 ω̃ I − tr I ω̃ − 2 v hᵀ + 2 h·v 1,
nine numbers and l sum up where B has thirty-six.

Public names: Swept, Seen, OwnChange, seen, own_changes, body_terms, momentum_slope, inertia_slope.

Source: CM18, §III; RBDA §5.3.
Differs: D and l instead of B; joints whose S depends on their own positions have w, e and β.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liaison.equations.equations import Swept
from liaison.expr import Expr, as_expr, directional
from liaison.spatial.arrays import (
    Array,
    array,
    cross,
    dot,
    identity,
    is_zero,
    minus,
    plus,
    product,
    tilde,
    times,
    zeros,
)
from liaison.spatial.plucker import (
    act_motion,
    apply_inertia,
    compose,
    cross_force,
    cross_motion,
    move_inertia,
)
from liaison.tree import GROUND, Kinematics, Tree

__all__ = [
    "GROUND",
    "Array",
    "BodyTerms",
    "OwnChange",
    "Seen",
    "Swept",
    "Tree",
    "act_motion",
    "apply_inertia",
    "array",
    "body_terms",
    "cross_force",
    "cross_motion",
    "dot",
    "inertia_slope",
    "momentum_slope",
    "move_inertia",
    "own_changes",
    "product",
    "seen",
    "times",
    "zeros",
]


class Seen(NamedTuple):
    """A node in the axes of the first node of its tree."""

    pose: tuple[Array, Array]
    bias: Array  # Ṡ v, the part of S(q) alone
    fall: Array  # the ground's acceleration, gravity taken off


def seen(swept: Swept) -> list[Seen]:
    """Every node of the tree."""
    kinematics, nodes = swept.kinematics, swept.kinematics.tree.nodes
    up = array([minus(0, x) for x in swept.gravity])
    listed: list[Seen] = []
    for i, node in enumerate(nodes):
        R, p = kinematics.pose(i)
        if node.parent == GROUND:
            pose, fall = (identity(), zeros(3)), array([0, 0, 0, *product(R.T, up)])
        else:
            parent = listed[node.parent]
            pose, fall = compose(*parent.pose, R, p), parent.fall
        listed.append(Seen(pose, act_motion(*pose, kinematics.bias(i)), fall))
    return listed


class OwnChange(NamedTuple):
    """What S(q) of a joint changes by itself along one of its velocities, in its node's axes."""

    S: Array  # ∂S, shape (6, nv)
    bias: Array  # ∂(Ṡ v)
    by_rate: Array  # ∂(Ṡ v)/∂v


def own_changes(kinematics: Kinematics, i: int) -> list[OwnChange]:
    """Along each velocity of node i; zeros where S is constant."""
    node, S = kinematics.tree.nodes[i], kinematics.subspace(i)
    q, v, bias = kinematics.q[node.q], kinematics.v[node.v], kinematics.bias(i)
    N = node.joint.type.kinematic_map(q)
    entries = [as_expr(x) for x in (*S.flat, *bias)]
    changes = []
    for k in range(S.shape[1]):
        along = {x: as_expr(dx) for x, dx in zip(q, N[:, k], strict=True) if not is_zero(dx)}
        moved = array([_exact(x) for x in directional(entries, along)])
        rates = directional(entries[S.size :], {v[k]: as_expr(1)})
        rated = array([_exact(x) for x in rates])
        changes.append(OwnChange(moved[: S.size].reshape(S.shape), moved[S.size :], rated))
    return changes


def _exact(x: Expr) -> Any:
    return 0 if is_zero(x) else x


class BodyTerms(NamedTuple):
    """What a body adds to all that carry it."""

    momentum: Array  # l
    slope: Array  # D, shape (3, 3)
    gyroscopic: Array  # V ×* I V


def body_terms(m: Any, h: Array, I: Array, V: Array) -> BodyTerms:
    """l, D and V ×* I V of a body, its inertia (m, h, I) about the common origin."""
    momentum = apply_inertia(m, h, I, V)
    omega, v = V[:3], V[3:]
    trace, along = plus(plus(I[0, 0], I[1, 1]), I[2, 2]), dot(h, v)
    turning, swept = tilde(omega), product(tilde(omega), I)
    D = [
        [
            minus(
                times(2, minus(swept[r, s], times(v[r], h[s]))),
                minus(times(trace, turning[r, s]), times(2, along) if r == s else 0),
            )
            for s in range(3)
        ]
        for r in range(3)
    ]
    return BodyTerms(momentum[3:], array(D), cross_force(V, momentum))


def momentum_slope(D: Array, momentum: Array, turn: Array) -> Array:
    """2 B x of a motion that turns by x_ω."""
    across = [times(2, x) for x in cross(turn, momentum)]
    return array([*product(D, turn), *across])


def inertia_slope(D: Array, momentum: Array, S: Array) -> Array:
    """The row Sᵀ 2 B on x_ω: Dᵀ S_ω + 2 l × S_v, shape (3,)."""
    return product(D.T, S[:3]) + array([times(2, x) for x in cross(momentum, S[3:])])
