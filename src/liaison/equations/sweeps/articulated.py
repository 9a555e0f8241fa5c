"""Forward dynamics by articulated bodies: v̇ of a tree from τ in three sweeps, without M.

An articulated inertia is what a node and all it carries oppose to an acceleration of the node,
their joints left free. As a symmetric 6 × 6 matrix on (α, a) it is kept by its blocks.
The bodies of the sweeps are `coasted`, `articulate`, `accelerated`, pure functions of one node.

Public names: Articulated, Drift, Gain, articulated_body, coasted, articulate, accelerated,
of_body, move_articulated, joined, joint_inertia, with_rotors, freed_rows, solve_symmetric.

Source: RBDA §7.3, table 7.1.
Differs: classical instead of spatial accelerations, so that no linear velocity appears; gravity
    enters as an upward acceleration of the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, sqrt
from liaison.spatial.arrays import (
    Array,
    array,
    dot,
    identity,
    is_zero,
    minus,
    plus,
    product,
    tilde,
    times,
    vector,
    zeros,
)
from liaison.spatial.plucker import act_force, act_motion_inverse
from liaison.tree import GROUND, Inertia, Kinematics, Node
from liaison.tree.memory import is_state

from .recursion import Link, State, link, moved, required, whirl


class Articulated(NamedTuple):
    """n = A α + B a + n₀,  f = Bᵀ α + C a + f₀: the wrench a node needs to accelerate by (α, a)."""

    A: Array  # symmetric
    B: Array
    C: Array  # symmetric
    wrench: Array  # (n₀, f₀), what it needs where it does not accelerate


class Drift(NamedTuple):
    """What the velocities alone do to a node."""

    omega: Array
    acceleration: Array  # (α, a) where neither its parent nor its joint accelerates


class Gain(NamedTuple):
    """v̇ = k − K (α, a) of a joint, (α, a) what its node would do with the joint held."""

    K: Array  # shape (nv, 6)
    k: Array


def articulated_body(kinematics: Kinematics, tau: Sequence[Any], gravity: Array) -> list[Expr]:
    """v̇ of a tree without closures; 0 of states of loads.

    Args:
        kinematics: of the tree, at (q, v).
        tau: generalized forces, shape (nv,).
        gravity: the acceleration of free fall [m/s²].

    Source: RBDA §7.3, table 7.1.
    """
    nodes = [node for node in kinematics.tree.nodes if not is_state(node.joint)]  # those come last
    links = [link(kinematics, i) for i in range(len(nodes))]
    drifts, own = _coasted_all(nodes, links)
    gains: dict[int, Gain] = {}
    for i in range(len(nodes) - 1, -1, -1):
        force = array(list(tau[nodes[i].v]))
        gains[i], carried = articulate(links[i], own[i], drifts[i].acceleration, force)
        if nodes[i].parent != GROUND:
            own[nodes[i].parent] = joined(own[nodes[i].parent], carried)
    vdot: list[Any] = [0] * kinematics.tree.nv
    motion = {GROUND: array([0, 0, 0, *(minus(0, x) for x in gravity)])}
    for i, node in enumerate(nodes):
        motion[i], rates = accelerated(motion[node.parent], links[i], drifts[i], gains[i])
        vdot[node.v] = map(as_expr, rates)
    return vdot


def _coasted_all(
    nodes: Sequence[Node], links: Sequence[Link]
) -> tuple[list[Drift], list[Articulated]]:
    """The first sweep: drifts and the bodies' own inertias."""
    turning = {GROUND: zeros(3)}
    drifts, own = [], []
    for i, node in enumerate(nodes):
        drift, inertia = coasted(turning[node.parent], links[i])
        turning[i] = drift.omega
        drifts.append(drift)
        own.append(inertia)
    return drifts, own


def coasted(parent_omega: Array, node: Link) -> tuple[Drift, Articulated]:
    """Outwards: drift and inertia of a node by itself, from its parent's angular velocity.

    These are the two bodies of inverse dynamics, with every acceleration left out.
    """
    still = zeros(3)
    at_parent = State(parent_omega, still, still, whirl(parent_omega, still))
    state = moved(at_parent, node, None)
    coasting = State(state.omega, still, still, whirl(state.omega, still))
    wrench = required(node.inertia, coasting)
    drift = Drift(state.omega, array([*state.alpha, *state.a]))
    return drift, of_body(node.inertia, array([*wrench[0], *wrench[1]]))


def articulate(
    node: Link, total: Articulated, drift: Array, tau: Array
) -> tuple[Gain, Articulated]:
    """Inwards: how a joint answers, and what of its node's inertia the parent bears.

    With I the total of the node, w its wrench, c its drift, r inertias of rotors:
    U = I S,  D = Sᵀ U + r,  K = D⁻¹ Uᵀ,  k = D⁻¹ (τ − Sᵀ w),
    I_a = I − U K,  w_a = w + I_a c + U k                                      (articulated-1)
    """
    S = node.S
    U = array([list(_applied(total, S[:, j])) for j in range(S.shape[1])]).reshape(-1, 6).T
    D = with_rotors(product(S.T, U), node)
    efforts = [minus(tau[j], dot(S[:, j], total.wrench)) for j in range(S.shape[1])]
    gain = Gain(*solve_symmetric(D, U.T, array(efforts)))
    freed = freed_rows(node)
    left = _less(total, U, gain.K, freed)
    wrench = vector(total.wrench + _applied(left, drift) + product(U, gain.k))
    for row, (column, sign) in freed.items():
        wrench[row] = times(sign, tau[column])
    return gain, move_articulated(*node.pose, left._replace(wrench=array(wrench)))


def joint_inertia(total: Articulated, node: Link) -> Array:
    """D = Sᵀ I S + r, what the joint of a node feels of it, all it carries, and its rotors."""
    S = node.S
    U = array([list(_applied(total, S[:, j])) for j in range(S.shape[1])]).reshape(-1, 6).T
    return with_rotors(product(S.T, U), node)


def with_rotors(D: Array, node: Link) -> Array:
    """D with the inertias of rotors on its diagonal."""
    if not node.rotors:
        return D
    return array([[plus(x, node.rotors[j]) if i == j else x for i, x in enumerate(row)]
                  for j, row in enumerate(D)])  # fmt: skip


def accelerated(parent: Array, node: Link, drift: Drift, gain: Gain) -> tuple[Array, list[Any]]:
    """Outwards: (α, a) of a node and v̇ of its joint, from (α, a) of its parent."""
    carried = act_motion_inverse(*node.pose, parent) + drift.acceleration
    vdot = [minus(gain.k[j], dot(gain.K[j], carried)) for j in range(node.S.shape[1])]
    return carried + product(node.S, array(vdot)), vdot


def of_body(inertia: Inertia, wrench: Array) -> Articulated:
    """A rigid body as an articulated one: A = I, B = h̃, C = m 1."""
    m, h, I = inertia
    return Articulated(I, tilde(h), array([[m, 0, 0], [0, m, 0], [0, 0, m]]), wrench)


def joined(a: Articulated, b: Articulated) -> Articulated:
    """Two articulated bodies held together."""
    return Articulated(*(x + y for x, y in zip(a, b, strict=True)))


def move_articulated(R: Array, p: Array, body: Articulated) -> Articulated:
    """An articulated inertia transformed from the node's frame to its parent's.

    With A, B, C turned by R:  C' = C,  B' = B + p̃ C,  A' = A − B p̃ + p̃ B'ᵀ   (articulated-2)
    """
    A, B, C = (product(product(R, X), R.T) for X in (body.A, body.B, body.C))
    across = tilde(p)
    B_new = B + product(across, C)
    A_new = A - product(B, across) + product(across, B_new.T)
    return Articulated(_mirrored(A_new), B_new, _mirrored(C), act_force(R, p, body.wrench))


def _mirrored(X: Array) -> Array:
    """A matrix known to be symmetric, its upper triangle taken from the lower one."""
    return array([[X[max(i, j), min(i, j)] for j in range(3)] for i in range(3)])


def _applied(body: Articulated, motion: Array) -> Array:
    alpha, a = motion[:3], motion[3:]
    moment = product(body.A, alpha) + product(body.B, a)
    return array([*moment, *(product(body.B.T, alpha) + product(body.C, a))])


def freed_rows(node: Link) -> dict[int, tuple[int, int]]:
    """Rows along which the joint alone moves the node: row -> (velocity, ±1).

    There I_a is zero, since I_a S = U D⁻¹ r, and w_a is τ, since Sᵀ w_a = τ − r k, where r is 0.
    """
    S = node.S
    freed = {}
    for j in range(S.shape[1]):
        if node.rotors and not is_zero(node.rotors[j]):
            continue
        rows = [r for r in range(6) if not is_zero(S[r, j])]
        if len(rows) == 1 and isinstance(S[rows[0], j], int | float) and abs(S[rows[0], j]) == 1:
            freed[rows[0]] = (j, int(S[rows[0], j]))
    return freed


def _less(total: Articulated, U: Array, K: Array, freed: dict[int, tuple[int, int]]) -> Articulated:
    """I − U K by blocks, zero where it must be."""

    def entry(old: Any, r: int, s: int) -> Any:
        return 0 if r in freed or s in freed else minus(old, dot(U[max(r, s)], K[:, min(r, s)]))

    three = range(3)
    return total._replace(
        A=array([[entry(total.A[r, s], r, s) for s in three] for r in three]),
        B=array([[entry(total.B[r, s], r, s + 3) for s in three] for r in three]),
        C=array([[entry(total.C[r, s], r + 3, s + 3) for s in three] for r in three]),
    )


def solve_symmetric(D: Array, *sides: Array) -> tuple[Array, ...]:
    """D⁻¹ of each right side (a vector or a matrix), D symmetric and positive, by D = L Δ Lᵀ.

    Raises:
        DerivationError: a pivot is zero whatever the symbols are, so a joint moves no inertia.

    Source: GVL13 §4.1.2.
    """
    L, rates = _eliminated(D)
    return tuple(_substituted(L, rates, side) for side in sides)


def halved(D: Array, y: Array) -> Array:
    """Δ^(−½) L⁻¹ y, with D = L Δ Lᵀ: its square is yᵀ D⁻¹ y."""
    L, rates = _eliminated(D)
    x = vector(y)
    for i in range(len(x)):
        x[i] = minus(x[i], dot(L[i, :i], x[:i]))
    return array([times(sqrt(as_expr(rate)), value) for rate, value in zip(rates, x, strict=True)])


def halved_back(D: Array, x: Array) -> Array:
    """L⁻ᵀ Δ^(−½) x, the transpose of `halved`."""
    L, rates = _eliminated(D)
    w = vector([times(sqrt(as_expr(rate)), value) for rate, value in zip(rates, x, strict=True)])
    for i in range(len(w) - 1, -1, -1):
        w[i] = minus(w[i], dot(L[i + 1 :, i], w[i + 1 :]))
    return array(w)


def _eliminated(D: Array) -> tuple[Array, Array]:
    """L and 1/Δ of D = L Δ Lᵀ."""
    n = len(D)
    L, W, rates = identity(n), zeros(n, n), zeros(n)
    for j in range(n):
        for i in range(j, n):
            W[i, j] = minus(D[i, j], dot(L[i, :j], W[j, :j]))
        rates[j] = _reciprocal(W[j, j])
        for i in range(j + 1, n):
            L[i, j] = times(W[i, j], rates[j])
    return L, rates


def _reciprocal(pivot: Any) -> Any:
    if is_zero(pivot):
        raise DerivationError(
            "a joint moves no inertia, so its acceleration is not determined.",
            hint="Give the bodies that it carries a mass.",
        )
    return 1 / pivot


def _substituted(L: Array, rates: Array, side: Array) -> Array:
    """Forward through L, over Δ, backward through Lᵀ."""
    if side.ndim == 2:
        columns = [_substituted(L, rates, side[:, c]) for c in range(side.shape[1])]
        return array(columns).reshape(side.shape[::-1]).T
    x = vector(side)
    for i in range(len(x)):
        x[i] = minus(x[i], dot(L[i, :i], x[:i]))
    for i in range(len(x) - 1, -1, -1):
        x[i] = minus(times(x[i], rates[i]), dot(L[i + 1 :, i], x[i + 1 :]))
    return array(x)
