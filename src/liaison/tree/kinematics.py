"""The one outward sweep: poses, velocities, bias accelerations and Jacobians of the nodes.

Everything is seen from a *root* node and expressed in the root's axes, so that a loop far from the
ground costs no more than one on it. It is written for formulas: numbers give poses and Jacobians,
no accelerations.

Public names: Motion, Kinematics, on_symbols.

Source: JB94 §3.5 (recursive velocities and accelerations); RBDA §3.4–3.5 for S and Ṡ v.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from liaison.expr import Expr, as_expr, directional, symbol, symbols_of
from liaison.model import JointType
from liaison.spatial.arrays import Array, array, cross, product, vector, zeros
from liaison.spatial.arrays import identity as identity_matrix
from liaison.spatial.plucker import act_motion, compose, inverse

from .tree import Node, Transform, Tree


class Motion(NamedTuple):
    """A node's frame seen from a root: pose, velocities, accelerations where v̇ = 0."""

    R: Array
    p: Array  # [m]
    omega: Array  # [rad/s]
    velocity: Array  # of the frame's origin [m/s]
    alpha: Array  # [rad/s²]
    acceleration: Array  # classical, of the frame's origin [m/s²]


STILL = Motion(identity_matrix(), zeros(3), zeros(3), zeros(3), zeros(3), zeros(3))


class Kinematics:
    """The sweeps over one tree at one (q, v), each node computed once.

    Attributes:
        tree: whose nodes move.
        q: positions, shape (nq,): symbols, in which Ṡ v is found by differentiating; numbers only
            where poses and Jacobians are all that is asked for.
        v: velocities, shape (nv,), symbols; None where only positions are wanted.

    What is computed is shared with `alike`, of a tree that differs in its inertias only, at the
    same (q, v).
    """

    def __init__(
        self, tree: Tree, q: Array, v: Array | None = None, alike: Kinematics | None = None
    ) -> None:
        self.tree = tree
        self.q = q
        self.v = zeros(tree.nv) if v is None else v
        self._local: dict[int, tuple[Transform, Array, Array]] = alike._local if alike else {}
        self._motion: dict[tuple[int, int], Motion] = alike._motion if alike else {}

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each velocity by its name, where velocities are symbols."""
        return {speed.name: j for j, speed in enumerate(self.v)}

    def pose(self, i: int) -> Transform:
        """X_PN: node i's frame in its parent's."""
        return self._joint(i)[0]

    def subspace(self, i: int) -> Array:
        """S of node i in its own frame, shape (6, nv_i)."""
        return self._joint(i)[1]

    def bias(self, i: int) -> Array:
        """Ṡ v of node i in its own frame, shape (6,)."""
        return self._joint(i)[2]

    def joint_twist(self, i: int) -> Array:
        """S v of node i, shape (6,)."""
        return product(self.subspace(i), self.v[self.tree.nodes[i].v])

    def motion(self, root: int, node: int) -> Motion:
        """The node's frame as seen from the root, an ancestor of it (or itself)."""
        pending = []
        while node != root and (root, node) not in self._motion:
            pending.append(node)
            node = self.tree.nodes[node].parent
        motion = STILL if node == root else self._motion[root, node]
        for i in reversed(pending):
            motion = self._motion[root, i] = self._step(motion, i)
        return motion

    def jacobian(self, root: int, node: int, point: Array) -> dict[int, tuple[Array, Array]]:
        """Columns of the Jacobian of a point carried by the node, seen from the root.

        Returns:
            velocity index -> (angular velocity, velocity of the point) for a unit of it.
        """
        columns: dict[int, tuple[Array, Array]] = {}
        while node != root:
            moving = self.tree.nodes[node]
            frame = self.motion(root, node)
            S = self.subspace(node)
            for k in range(moving.joint.type.nv):
                turn = product(frame.R, S[:3, k])
                slide = product(frame.R, S[3:, k])
                columns[moving.v.start + k] = (turn, slide + cross(turn, point - frame.p))
            node = moving.parent
        return columns

    def _step(self, parent: Motion, i: int) -> Motion:
        """From a parent's motion to its child's.

        ω_N = ω_P + ω_J, v_N = v_P + ω_P × r + u, and their time derivatives with v̇ = 0;
        r from P to N, ω_J and u the joint's turning and sliding.
        """
        R, p = compose(parent.R, parent.p, *self.pose(i))
        r = p - parent.p
        twist, bias = self.joint_twist(i), self.bias(i)
        turn, slide = product(R, twist[:3]), product(R, twist[3:])
        omega = parent.omega + turn
        relative = cross(parent.omega, r) + slide
        return Motion(
            R,
            p,
            omega,
            parent.velocity + relative,
            parent.alpha + cross(parent.omega, turn) + product(R, bias[:3]),
            parent.acceleration
            + cross(parent.alpha, r)
            + cross(parent.omega, relative)
            + cross(omega, slide)
            + product(R, bias[3:]),
        )

    def _joint(self, i: int) -> tuple[Transform, Array, Array]:
        if i not in self._local:
            node = self.tree.nodes[i]
            q, v = self.q[node.q], self.v[node.v]
            pose, S = joint_motion(node, q)
            self._local[i] = (compose(*node.X_PJ, *pose), S, joint_bias(node.joint.type, S, q, v))
        return self._local[i]


def on_symbols(tree: Tree) -> tuple[Kinematics, list[Expr]]:
    """The tree at symbols named by its labels, and q̇ = N v there."""
    q = array([symbol(label.name) for label in tree.position_labels()])
    v = array([symbol(label.name) for label in tree.velocity_labels()])
    rates: list[Expr] = []
    for node in tree.nodes:
        N = node.joint.type.kinematic_map(q[node.q])
        rates += [as_expr(x) for x in product(N, v[node.v])]
    return Kinematics(tree, q, v), rates


def joint_motion(node: Node, q: Array) -> tuple[Transform, Array]:
    """Pose across the joint in the tree's direction, and S in the node frame.

    Traversed backwards, X_MF = X_FM⁻¹ and S_MF = −X_FM S.
    """
    R, p = node.joint.type.pose(q)
    S = node.joint.type.subspace(q)
    if not node.is_reversed:
        return (R, p), S
    back = zeros(6, S.shape[1])
    for k in range(S.shape[1]):
        back[:, k] = act_motion(R, p, vector(-x for x in S[:, k]))
    return inverse(R, p), array(back)


def joint_bias(kind: JointType, S: Array, q: Array, v: Array) -> Array:
    """Ṡ v: zero where S is constant, by differentiation along q̇ = N v elsewhere."""
    entries = list(S.flat)
    if not symbols_of([x for x in entries if not isinstance(x, int | float)]):
        return zeros(6)
    rates = product(kind.kinematic_map(q), v)
    changes = directional(entries, dict(zip(q, rates, strict=True)))
    return product(array(changes).reshape(S.shape), v)
