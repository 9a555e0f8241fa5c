"""The two sweeps over a tree: accelerations outwards, wrenches inwards; and composite inertias.

The body of a sweep is a pure function of one node and its parent's (or children's) values:
`moved`, `required`, `handed`, `felt`. Called here for every node on formulas, they unroll and
fold; called once for each class of nodes on symbols (sweeps.py), they become kernels that a
loop runs.

Public names: Wrench, State, Link, link, at_ground, moved, required, spun, at_parent, felt, whirl,
required_wrenches, carried_wrenches, generalized, mass_matrix, mass_pattern.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, TypeAlias

from liaison.expr import Expr, as_expr
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, product, times, zeros
from liaison.spatial.plucker import act_force, apply_inertia, move_inertia
from liaison.tree import GROUND, Inertia, Kinematics, Tree, added

Wrench: TypeAlias = tuple[Array, Array]
"""Moment and force at the origin of a node frame, in its axes [N·m, N]."""


class State(NamedTuple):
    """How a node moves, in its own axes."""

    omega: Array  # angular velocity [rad/s]
    alpha: Array  # angular acceleration [rad/s²]
    a: Array  # acceleration of the node's origin, gravity taken off [m/s²]
    U: Array  # α̃ + ω̃ ω̃: a point at r of the node accelerates with a + U r


class Link(NamedTuple):
    """A node by itself: all that the body of a sweep may know besides its neighbours' values."""

    pose: tuple[Array, Array]  # X_PN, the node's frame in its parent's
    S: Array  # motion subspace of its joint, shape (6, nv)
    twist: Array  # S v
    bias: Array  # Ṡ v
    inertia: Inertia
    rotors: tuple[Any, ...] = ()  # what its velocities move besides, as rotors; none if empty


def link(kinematics: Kinematics, i: int) -> Link:
    """Node i of a tree at the positions and velocities of its kinematics."""
    return Link(
        kinematics.pose(i),
        kinematics.subspace(i),
        kinematics.joint_twist(i),
        kinematics.bias(i),
        kinematics.tree.nodes[i].inertia,
    )


def at_ground(gravity: Array) -> State:
    """The ground, accelerated upwards in place of gravity."""
    return State(zeros(3), zeros(3), array([minus(0, x) for x in gravity]), zeros(3, 3))


def moved(parent: State, node: Link, vdot: Array | None) -> State:
    """Outwards: how a node moves, from how its parent does; v̇ = 0 for None.

    ω = Rᵀ ω_P + ω_J,  α = Rᵀ α_P + Rᵀ ω_P × ω_J + α_J,
    a = Rᵀ (a_P + U_P p) + (Rᵀ ω_P + ω) × v_J + a_J                             (newton-2)
    with (ω_J, v_J) = S v and (α_J, a_J) = S v̇ + Ṡ v.
    """
    R, p = node.pose
    rate = node.bias if vdot is None else node.bias + product(node.S, vdot)
    back = R.T
    turned = product(back, parent.omega)
    omega = turned + node.twist[:3]
    alpha = product(back, parent.alpha) + cross(turned, node.twist[:3]) + rate[:3]
    a = product(back, parent.a + product(parent.U, p))
    a = a + cross(turned + omega, node.twist[3:]) + rate[3:]
    return State(omega, alpha, a, whirl(omega, alpha))


def required(inertia: Inertia, state: State) -> Wrench:
    """The wrench a body needs to move so.

    f = m a + U h,  n = I α + ω × I ω + h × a,  h = m c                         (newton-1)
    """
    m, h, I = inertia
    force = array([times(m, x) for x in state.a]) + product(state.U, h)
    return spun(I, state) + cross(h, state.a), force


def spun(I: Array, state: State) -> Array:
    """I α + ω × I ω, with the products of velocities that U has already: 15 instead of 24.

    Along x: I_xx α_x + (I_zz − I_yy) ω_y ω_z − I_xy U_zx + I_xz U_yx − I_yz (ω_z² − ω_y²); the
    others follow by turning the letters.
    """
    omega, alpha, _, U = state
    spin = []
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        squares = minus(times(omega[z], omega[z]), times(omega[y], omega[y]))
        terms = [
            times(I[x, x], alpha[x]),
            times(minus(I[z, z], I[y, y]), times(omega[y], omega[z])),
            times(I[x, z], U[y, x]),
            minus(0, times(I[x, y], U[z, x])),
            minus(0, times(I[y, z], squares)),
        ]
        spin.append(reduce(plus, terms))
    return array(spin)


def at_parent(pose: tuple[Array, Array], wrench: Wrench) -> Wrench:
    """Inwards: a wrench on a node, as its parent bears it."""
    wrench_at_parent = act_force(*pose, array([*wrench[0], *wrench[1]]))
    return wrench_at_parent[:3], wrench_at_parent[3:]


def felt(S: Array, wrench: Wrench) -> list[Any]:
    """τ = Sᵀ F: the generalised forces of a joint's wrench."""
    entries = [*wrench[0], *wrench[1]]
    return [dot(S[:, k], entries) for k in range(S.shape[1])]


def required_wrenches(kinematics: Kinematics, vdot: Array | None, gravity: Array) -> list[Wrench]:
    """The wrench each node's own body needs to move as it does, in the node's axes."""
    states = {GROUND: at_ground(gravity)}
    wrenches = []
    for i, node in enumerate(kinematics.tree.nodes):
        here = link(kinematics, i)
        joint_vdot = None if vdot is None else vdot[node.v]
        states[i] = moved(states[node.parent], here, joint_vdot)
        wrenches.append(required(here.inertia, states[i]))
    return wrenches


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
    """Inwards: the wrench of each joint on its node, for all that the node carries."""
    tree = kinematics.tree
    total = list(own)
    for i in range(len(tree.nodes) - 1, -1, -1):
        parent = tree.nodes[i].parent
        if parent != GROUND:
            moment, force = at_parent(kinematics.pose(i), total[i])
            total[parent] = (total[parent][0] + moment, total[parent][1] + force)
    return total


def generalized(kinematics: Kinematics, own: list[Wrench]) -> list[Expr]:
    """τ = Sᵀ F of every joint, F its wrench on its node."""
    tau: list[Any] = [0] * kinematics.tree.nv
    for i, wrench in enumerate(carried_wrenches(kinematics, own)):
        tau[kinematics.tree.nodes[i].v] = map(as_expr, felt(kinematics.subspace(i), wrench))
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


def mass_pattern(tree: Tree) -> tuple[tuple[int, int], ...]:
    """Where the lower triangle of M is not zero, in the order of `mass_matrix`."""
    pattern = []
    for i in range(len(tree.nodes) - 1, -1, -1):
        for row in range(tree.nodes[i].v.start, tree.nodes[i].v.stop):
            j = i
            while j != GROUND:
                columns = tree.nodes[j].v
                pattern += [(row, column) for column in range(columns.start, columns.stop)]
                j = tree.nodes[j].parent
    return tuple((row, column) for row, column in pattern if column <= row)


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
