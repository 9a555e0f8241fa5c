"""Motions as elements of a Lie algebra: Euler and Poincaré's equations with the operators B and C.

The position of a body is a displacement, its velocity an element V of the algebra 𝔡 of screws, and
its inertia an operator H of 𝔡 on itself. With the bracket [ , ] of screws and Klein's form ⟨ | ⟩,

    H(V̇) + [V, H(V)] = F                                                        (lie-1)
    B(X, Y) = [X, H(Y)],   C(X, Y) = [X, H(Y)] + [Y, H(X)] + H([X, Y])             (lie-2)

all in the ground's axes at its origin, where a body is carried by joints with screws X_1, X_2, …,
so that V = Σ X_j and Ẋ_j = [X_1 + … + X_{j−1}, X_j] + (what S v̇ + Ṡ v is there),

    H(V̇) + [V, H(V)] = H(Σ Ad (S v̇ + Ṡ v)) + Σ B(X_j, X_j) + Σ_{i<j} C(X_i, X_j).   (lie-3)

A joint feels ⟨its screws | what all that it carries needs⟩.

Public names: lie_group, LieGroup, bracket, klein, inertia_operator, operator_b, operator_c.

Source: PA, « théorie des groupes de Lie » (8)–(11) and the definitions of B and C.
Differs: screws are (resultant, moment at the ground's origin).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of
from liaison.expr import Expr, as_expr
from liaison.spatial.arrays import Array, array, dot, minus, plus
from liaison.spatial.plucker import act_motion, apply_inertia, compose, cross_motion, move_inertia
from liaison.tree import GROUND, Inertia, Tree, added

from .formalism import formalism

Screw: TypeAlias = Array
"""(resultant, moment at the ground's origin): of a velocity (ω, v), of a wrench (f, n)."""


def bracket(X: Screw, Y: Screw) -> Screw:
    """[X, Y] of two screws: (ω × ω′, ω × v′ + v × ω′)."""
    return cross_motion(X, Y)


def klein(X: Screw, Y: Screw) -> Any:
    """⟨X | Y⟩, the power of a wrench on a velocity: resultants with moments."""
    return plus(dot(X[:3], Y[3:]), dot(X[3:], Y[:3]))


def inertia_operator(inertia: Inertia, X: Screw) -> Screw:
    """H(X): the momentum (p, σ) of a body that moves by X."""
    moved = apply_inertia(*inertia, X)
    return array([*moved[3:], *moved[:3]])


def operator_b(inertia: Inertia, X: Screw, Y: Screw) -> Screw:
    """B(X, Y) = [X, H(Y)]."""
    return bracket(X, inertia_operator(inertia, Y))


def operator_c(inertia: Inertia, X: Screw, Y: Screw) -> Screw:
    """C(X, Y) = [X, H(Y)] + [Y, H(X)] + H([X, Y])."""
    mixed = operator_b(inertia, X, Y) + operator_b(inertia, Y, X)
    return array(mixed + inertia_operator(inertia, bracket(X, Y)))


@final
@dataclass(frozen=True, slots=True)
class LieGroup:
    """Screws and inertia operators of the nodes, in the ground's axes at its origin."""

    bodies: tuple[str, ...]
    parents: tuple[int, ...]
    screws: tuple[Array, ...]  # of each node's joint, one column for each of its velocities
    joints: tuple[Screw, ...]  # X_j = Σ screws · v, the joint's part of the node's velocity
    drifts: tuple[Screw, ...]  # Ad (Ṡ v)
    inertias: tuple[Inertia, ...]  # of each node's own body
    gravity: Array

    def path(self, k: int) -> list[int]:
        """The nodes that carry node k, from the ground outwards, and k."""
        nodes = []
        while k != GROUND:
            nodes.append(k)
            k = self.parents[k]
        return nodes[::-1]

    def velocities(self) -> list[Screw]:
        """V of every node."""
        velocities: list[Screw] = []
        for k, X in enumerate(self.joints):
            velocities.append(X if self.parents[k] == GROUND else velocities[self.parents[k]] + X)
        return velocities

    def needed(self) -> list[Screw]:
        """H(V̇) + [V, H(V)] − weight of each body where v̇ = 0, with B alone."""
        still = array([0, 0, 0, *(minus(0, x) for x in self.gravity)])
        V, wrenches = self.velocities(), []
        A: list[Screw] = []
        for k, X in enumerate(self.joints):
            parent = self.parents[k]
            rate = still if parent == GROUND else A[parent] + bracket(V[parent], X)
            A.append(rate + self.drifts[k])
            H = self.inertias[k]
            wrenches.append(inertia_operator(H, A[k]) + operator_b(H, V[k], V[k]))
        return wrenches

    def needed_by_pairs(self) -> list[Screw]:
        """The same, joint by joint and pair by pair, with B and C by (lie-3)."""
        fall = array([0, 0, 0, *(minus(0, x) for x in self.gravity)])
        wrenches = []
        for k, H in enumerate(self.inertias):
            path = self.path(k)
            drift = fall
            for j in path:
                drift = drift + self.drifts[j]
            total = inertia_operator(H, drift)
            for place, j in enumerate(path):
                total = total + operator_b(H, self.joints[j], self.joints[j])
                for i in path[:place]:
                    total = total + operator_c(H, self.joints[i], self.joints[j])
            wrenches.append(total)
        return wrenches


@formalism(rank=8)
def lie_group(tree: Tree, *, by_pairs: bool = False) -> Equations:
    """The equations of motion on the group of displacements.

    Args:
        tree: of the mechanism.
        by_pairs: every pair of joints by itself, with the operator C; otherwise velocities are
            summed first and B alone is used, which takes far fewer operations.

    Returns:
        The equations; `native["lie_group"]` holds screws and inertia operators.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.lie_group(tree)
        <Equations pendulum, by lie group: 1 equation>
    """
    setting = setting_of(tree)
    group = group_of(setting)
    needed = group.needed_by_pairs() if by_pairs else group.needed()
    h = _felt(setting, group, needed)
    M = _mass_matrix(setting, group)
    dynamics = plain_dynamics(setting.symbols.vdot, M, h, setting.applied())
    return completed("lie_group", tree, setting, dynamics, {"lie_group": group})


def group_of(setting: Setting) -> LieGroup:
    """Screws and inertias of a tree's nodes, expressed in the ground."""
    kinematics, nodes = setting.kinematics, setting.tree.nodes
    poses: list[tuple[Array, Array]] = []
    screws, joints, drifts, inertias = [], [], [], []
    for i, node in enumerate(nodes):
        own = kinematics.pose(i)
        pose = own if node.parent == GROUND else compose(*poses[node.parent], *own)
        poses.append(pose)
        S = kinematics.subspace(i)
        columns = [act_motion(*pose, S[:, k]) for k in range(S.shape[1])]
        screws.append(array(columns).reshape(-1, 6).T)
        joints.append(act_motion(*pose, kinematics.joint_twist(i)))
        drifts.append(act_motion(*pose, kinematics.bias(i)))
        inertias.append(move_inertia(*pose, *node.inertia))
    return LieGroup(
        bodies=tuple(node.body for node in nodes),
        parents=tuple(node.parent for node in nodes),
        screws=tuple(screws),
        joints=tuple(joints),
        drifts=tuple(drifts),
        inertias=tuple(inertias),
        gravity=setting.gravity,
    )


def _felt(setting: Setting, group: LieGroup, needed: list[Screw]) -> list[Expr]:
    """⟨X | Σ of what the carried bodies need⟩ for every velocity."""
    total = list(needed)
    h: list[Any] = [0] * setting.tree.nv
    for i in range(len(total) - 1, -1, -1):
        start = setting.tree.nodes[i].v.start
        for k in range(group.screws[i].shape[1]):
            h[start + k] = klein(group.screws[i][:, k], total[i])
        if group.parents[i] != GROUND:
            total[group.parents[i]] = total[group.parents[i]] + total[i]
    return [as_expr(x) for x in h]


def _mass_matrix(setting: Setting, group: LieGroup) -> dict[tuple[int, int], Expr]:
    """M = ⟨X_j | H(X_i)⟩ with H of all that joint i carries; operators add where they are."""
    nodes, total = setting.tree.nodes, list(group.inertias)
    M: dict[tuple[int, int], Expr] = {}
    for i in range(len(nodes) - 1, -1, -1):
        if nodes[i].parent != GROUND:
            total[nodes[i].parent] = added(total[nodes[i].parent], total[i])
        for k in range(group.screws[i].shape[1]):
            row = nodes[i].v.start + k
            carried = inertia_operator(total[i], group.screws[i][:, k])
            for j in group.path(i):
                for n in range(group.screws[j].shape[1]):
                    column = nodes[j].v.start + n
                    if column <= row:
                        M[row, column] = as_expr(klein(group.screws[j][:, n], carried))
    return M
