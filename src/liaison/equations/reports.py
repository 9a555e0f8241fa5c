"""Energy, momentum, poses and reactions of a tree, derived at first access.

Public names: TreeReports.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from liaison.equations.sweeps.recursion import carried_wrenches, required_wrenches
from liaison.expr import Expr, as_expr
from liaison.model import BetweenFrames
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, product, times, zeros
from liaison.spatial.plucker import act_force, act_force_inverse, apply_inertia
from liaison.tree import GROUND, Kinematics, Push, Row, marker_motion, merged
from liaison.tree.assemble import offsets, orientation
from liaison.units import Label

from .bodies import body_motions, joint_markers
from .setting import Setting
from .theorems import balance, unstored_power


class TreeReports:
    """Reports from sweeps over a tree with all its welds."""

    def __init__(
        self,
        setting: Setting,
        lam: tuple[Expr, ...],
        stress: tuple[Expr, ...] = (),
        force: tuple[Expr, ...] = (),
    ) -> None:
        self.setting = setting
        self.lam = lam
        self.stress = stress
        self.force = force

    @property
    def kinematics(self) -> Kinematics:
        """Of the tree, on formulas."""
        return self.setting.kinematics

    @cached_property
    def poses(self) -> Mapping[str, tuple[Expr, ...]]:
        """Body -> R_WB row by row (9), p_WB (3)."""
        poses = {}
        for body in self.setting.mechanism.bodies[1:]:
            node, (R_NB, p_NB) = self.setting.tree.frames[body.name]
            frame = self.kinematics.motion(GROUND, node)
            R, p = product(frame.R, R_NB), frame.p + product(frame.R, p_NB)
            poses[body.name] = tuple(as_expr(x) for x in [*R.flat, *p])
        return MappingProxyType(poses)

    @cached_property
    def motions(self) -> Mapping[str, tuple[Expr, ...]]:
        """Body -> ω, v, ω̇, v̇ of its frame, in the ground's axes, of v̇."""
        return MappingProxyType(body_motions(self.setting))

    @cached_property
    def markers(self) -> Mapping[str, tuple[Expr, ...]]:
        """Joint -> R_WM row by row (9), p_WM (3), of the marker of its reaction."""
        return MappingProxyType(joint_markers(self.setting, tuple(self.reactions)))

    @cached_property
    def balance(self) -> Mapping[str, tuple[Expr, ...]]:
        """Both sides of the general theorems, of v̇ and λ: see `theorems.balance`."""
        joints = (self.reactions, self.markers)
        both = balance(
            self.setting, self.lam, self.momentum, self.energy[0], joints, self.force
        )  # fmt: skip
        return MappingProxyType(both)

    @cached_property
    def energy(self) -> tuple[Expr, Expr]:
        """T = Σ ½ V · I V; U of gravity, springs and potentials [J]."""
        T: Any = 0
        U: Any = 0
        for i, node in enumerate(self.setting.tree.nodes):
            frame = self.kinematics.motion(GROUND, i)
            m, h, I = node.inertia
            V = self._twist(i)
            T = plus(T, dot(V, apply_inertia(m, h, I, V)))
            moment = array([times(m, x) for x in frame.p]) + product(frame.R, h)
            U = minus(U, dot(self.setting.gravity, moment))
        for load in self.setting.loads:
            U = plus(U, load.potential)
        return as_expr(T) / 2, as_expr(U)

    @cached_property
    def power(self) -> Expr:
        """What changes T + U besides moving closures and contacts: see `unstored_power` [W]."""
        return unstored_power(self.setting)

    @cached_property
    def momentum(self) -> tuple[Expr, ...]:
        """About the ground's origin, in its axes: moment, then resultant."""
        total = zeros(6)
        for i, node in enumerate(self.setting.tree.nodes):
            frame = self.kinematics.motion(GROUND, i)
            carried = apply_inertia(*node.inertia, self._twist(i))
            total = total + act_force(frame.R, frame.p, carried)
        return tuple(as_expr(x) for x in total)

    def _twist(self, i: int) -> Array:
        """Velocity of node i in its own axes, at its origin."""
        frame = self.kinematics.motion(GROUND, i)
        back = frame.R.T
        return array([*product(back, frame.omega), *product(back, frame.velocity)])

    @cached_property
    def reactions(self) -> Mapping[str, tuple[Expr, ...]]:
        """Joint -> wrench on its successor (moment, force), in M's axes at M, of v̇, λ and f.

        It is all that passes through the joint, the effort of a motor in it included. Of what
        rolls, the force on the wheel in the plane's axes, where they touch.
        """
        setting = self.setting
        vdot = array(list(setting.symbols.vdot))
        own = required_wrenches(self.kinematics, vdot, setting.gravity)
        loads = [pair for load in setting.loads for pair in load.pushes]
        loads += self._contacts()
        return self._passed(own, loads, list(zip(self.lam, setting.rows[0], strict=True)))

    def _contacts(self) -> list[tuple[Any, Push]]:
        """What the force of every unilateral row does on bodies."""
        rows = [row for block in self.setting.side_blocks for row in block.rows]
        return [(f, push) for f, row in zip(self.force, rows, strict=True) for push in row.pushes]

    @cached_property
    def self_stress(self) -> Mapping[str, tuple[Expr, ...]]:
        """What multipliers alone cause in the joints: rows kept, then rows that vanish.

        Where they balance, Gᵀλ = 0, nothing moves: such wrenches are in no equation of motion.
        """
        kept, vanished = self.setting.rows
        own = [(zeros(3), zeros(3)) for _ in self.setting.tree.nodes]
        return self._passed(own, [], list(zip(self.stress, [*kept, *vanished], strict=True)))

    @property
    def upright(self) -> tuple[Expr, ...]:
        """What is positive where no joint of a closure is put together the wrong way round."""
        return tuple(orientation(self.kinematics))

    @property
    def offsets(self) -> tuple[Expr, ...]:
        """Lengths of the mechanism, of either sign: the scale of errors of closing [m]."""
        return tuple(offsets(merged(self.setting.tree)))

    def _passed(
        self,
        own: list[tuple[Array, Array]],
        loads: list[tuple[Any, Push]],
        rows: list[tuple[Expr, tuple[Label, Row]]],
    ) -> Mapping[str, tuple[Expr, ...]]:
        """The wrench through every joint, of what the bodies need, loads, and multipliers."""
        efforts = loads + [(lam, push) for lam, (_, row) in rows for push in row.pushes]
        for effort, push in efforts:
            if push.node != GROUND:
                moment, force = self._in_node(effort, push)
                own[push.node] = (own[push.node][0] - moment, own[push.node][1] - force)
        wrenches = self._tree_wrenches(own)
        for name, wrench in [*self._closure_wrenches(rows), *self._rolling_forces(rows)]:
            wrenches.setdefault(name, wrench)
        return MappingProxyType({k: tuple(as_expr(x) for x in w) for k, w in wrenches.items()})

    def _tree_wrenches(self, own: list[tuple[Array, Array]]) -> dict[str, Array]:
        """The wrench of each joint of the tree on its successor, in M's axes at M."""
        wrenches = {}
        passed = carried_wrenches(self.kinematics, own)
        ghosts = {closure.ghost for closure in self.setting.tree.closures}
        moved = len(self.setting.tree.nodes) - len(self.setting.tree.mechanism.states)
        for i, node in enumerate(self.setting.tree.nodes):
            if i in ghosts or (node.joint.type.OWN_ROWS and "'" not in node.body):
                continue  # the wrench belongs to what it is tied to, or to its own rows
            if i >= moved:
                continue  # nothing passes through the node of a state
            wrench = array([*passed[i][0], *passed[i][1]])
            if node.is_reversed:
                R, p = node.joint.type.pose(self.kinematics.q[node.q])
                wrench = act_force_inverse(R, p, array([minus(0, x) for x in wrench]))
            wrenches[node.joint.name] = wrench
        return wrenches

    def _in_node(self, effort: Any, push: Push) -> tuple[Array, Array]:
        """A push as moment and force at the origin of its node, in the node's axes."""
        frame = self.kinematics.motion(push.root, push.node)
        back = frame.R.T
        moment = push.moment + cross(push.point - frame.p, push.force)
        return (
            array([times(effort, x) for x in product(back, moment)]),
            array([times(effort, x) for x in product(back, push.force)]),
        )

    def _closure_wrenches(
        self, rows: list[tuple[Expr, tuple[Label, Row]]]
    ) -> list[tuple[str, Array]]:
        """The wrench of each cut joint on its successor, in M's axes at M."""
        tree = self.setting.tree
        total: dict[str, Array] = {}
        places = {closure.joint.name: closure for closure in tree.closures}
        for lam, (label, row) in rows:
            closure = places.get(label.name.rpartition(": ")[0])
            if closure is None or not row.pushes:
                continue
            push = row.pushes[0]
            M = marker_motion(self.kinematics, push.root, closure.successor)
            wrench = array([*product(M.R.T, push.moment), *product(M.R.T, push.force)])
            scaled = array([times(lam, x) for x in wrench])
            total[closure.joint.name] = total.get(closure.joint.name, zeros(6)) + scaled
        for name in places:
            total.setdefault(name, zeros(6))
        return list(total.items())

    def _rolling_forces(
        self, rows: list[tuple[Expr, tuple[Label, Row]]]
    ) -> list[tuple[str, Array]]:
        """The force on each wheel or ball that rolls, in the plane's axes where it touches."""
        efforts = {label.name: lam for lam, (label, _) in rows}
        forces = []
        for rolling in self.setting.mechanism.constraints:
            if isinstance(rolling, BetweenFrames):
                words = rolling.COMPONENTS
                parts = [efforts.get(f"{rolling.name}: {word}", 0) for word in words]
                forces.append((rolling.name, array([0, 0, 0, *parts])))
        return forces
