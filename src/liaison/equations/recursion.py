"""The two sweeps over a tree: accelerations outwards, wrenches inwards; and composite inertias.

Public names: Wrench, required_wrenches, carried_wrenches, generalized, mass_matrix, whirl.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from liaison.expr import Expr, as_expr
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, product, times, zeros
from liaison.spatial.plucker import act_force, apply_inertia, move_inertia
from liaison.tree import GROUND, Kinematics, added

Wrench: TypeAlias = tuple[Array, Array]
"""Moment and force at the origin of a node frame, in its axes [N m, N]."""


def required_wrenches(kinematics: Kinematics, vdot: Array | None, gravity: Array) -> list[Wrench]:
    """The wrench each node's own body needs to move as it does, in the node's axes.

    f = m a + U h,  n = I α + ω × I ω + h × a,  U = α̃ + ω̃ ω̃,  h = m c               (newton-1)
    with a the acceleration of the node's origin, gravity taken off.
    """
    tree = kinematics.tree
    states = {GROUND: (zeros(3), zeros(3), array([minus(0, x) for x in gravity]), zeros(3, 3))}
    found = []
    for i, node in enumerate(tree.nodes):
        omega, alpha, a, U = states[i] = _outward(kinematics, i, states[node.parent], vdot)
        m, h, I = node.inertia
        force = array([times(m, x) for x in a]) + product(U, h)
        moment = product(I, alpha) + cross(omega, product(I, omega)) + cross(h, a)
        found.append((moment, force))
    return found


def _outward(
    kinematics: Kinematics, i: int, parent: tuple[Array, Array, Array, Array], vdot: Array | None
) -> tuple[Array, Array, Array, Array]:
    """ω, α, a and U of node i in its own axes, from its parent's in the parent's."""
    node = kinematics.tree.nodes[i]
    R, p = kinematics.pose(i)
    twist, rate = kinematics.joint_twist(i), kinematics.bias(i)
    if vdot is not None:
        rate = rate + product(kinematics.subspace(i), vdot[node.v])
    omega_P, alpha_P, a_P, U_P = parent
    back = R.T
    turned = product(back, omega_P)
    omega = turned + twist[:3]
    alpha = product(back, alpha_P) + cross(turned, twist[:3]) + rate[:3]
    a = product(back, a_P + product(U_P, p)) + cross(turned + omega, twist[3:]) + rate[3:]
    return omega, alpha, a, whirl(omega, alpha)


def whirl(omega: Array, alpha: Array) -> Array:
    """U = α̃ + ω̃ ω̃: the acceleration of a point of a body is a + U r."""
    x, y, z = omega
    xx, yy, zz = times(x, x), times(y, y), times(z, z)
    xy, xz, yz = times(x, y), times(x, z), times(y, z)
    return array(
        [
            [minus(0, plus(yy, zz)), minus(xy, alpha[2]), plus(xz, alpha[1])],
            [plus(xy, alpha[2]), minus(0, plus(xx, zz)), minus(yz, alpha[0])],
            [minus(xz, alpha[1]), plus(yz, alpha[0]), minus(0, plus(xx, yy))],
        ]
    )


def carried_wrenches(kinematics: Kinematics, own: list[Wrench]) -> list[Wrench]:
    """Inwards: what each joint hands to its node for all that the node carries."""
    tree = kinematics.tree
    total = list(own)
    for i in range(len(tree.nodes) - 1, -1, -1):
        parent = tree.nodes[i].parent
        if parent != GROUND:
            moved = act_force(*kinematics.pose(i), array([*total[i][0], *total[i][1]]))
            moment, force = total[parent]
            total[parent] = (moment + moved[:3], force + moved[3:])
    return total


def generalized(kinematics: Kinematics, own: list[Wrench]) -> list[Expr]:
    """τ = Sᵀ F of every joint, F what it hands to its node."""
    tau: list[Any] = [0] * kinematics.tree.nv
    for i, (moment, force) in enumerate(carried_wrenches(kinematics, own)):
        S = kinematics.subspace(i)
        wrench = [*moment, *force]
        for k in range(S.shape[1]):
            tau[kinematics.tree.nodes[i].v.start + k] = as_expr(dot(S[:, k], wrench))
    return tau


def mass_matrix(kinematics: Kinematics) -> dict[tuple[int, int], Expr]:
    """The lower triangle of M by composite inertias: M_ij = S_iᵀ I_c S_j on every branch.

    Source: RBDA §6.2, table 6.2.
    """
    tree = kinematics.tree
    composite = [node.inertia for node in tree.nodes]
    M: dict[tuple[int, int], Expr] = {}
    for i in range(len(tree.nodes) - 1, -1, -1):
        node = tree.nodes[i]
        if node.parent != GROUND:
            moved = move_inertia(*kinematics.pose(i), *composite[i])
            composite[node.parent] = added(composite[node.parent], moved)
        S = kinematics.subspace(i)
        for k in range(S.shape[1]):
            _column(kinematics, M, i, k, apply_inertia(*composite[i], S[:, k]))
    return M


def _column(
    kinematics: Kinematics, M: dict[tuple[int, int], Expr], i: int, k: int, wrench: Array
) -> None:
    """Entries of M between velocity k of node i and those of the nodes that carry it."""
    tree = kinematics.tree
    row = tree.nodes[i].v.start + k
    j = i
    while j != GROUND:
        S, start = kinematics.subspace(j), tree.nodes[j].v.start
        for n in range(S.shape[1]):
            if start + n <= row:
                M[row, start + n] = as_expr(dot(S[:, n], wrench))
        wrench = act_force(*kinematics.pose(j), wrench)
        j = tree.nodes[j].parent
