"""Newton–Euler with motors: generalised forces and every reaction, rotors and friction included.

    Ω_m = Ω_c + α q̇ ε,   Ω̇_m = Ω̇_c + α (q̈ ε + q̇ Ω_c × ε)
    M_a = −(I_m Ω̇_m + Ω_m × I_m Ω_m)                                             (motors-1)
    Q_A = S·(wrench through the joint) − α M_a·ε,    Q_A = α C_m − friction           (motors-2)

The body that carries a rotor bears −M_a; the joint that the rotor is geared to feels −α M_a·ε.

Public names: Motorized, motorized.

Source: LL 3.2.1, 3.2.3.
Differs: origins of nodes instead of mass centers; gravity as an upward acceleration of the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from liaison.equations.reports import TreeReports
from liaison.equations.sweeps.recursion import (
    State,
    Wrench,
    at_ground,
    carried_wrenches,
    felt,
    link,
    moved,
    required,
)
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, substitute, symbol
from liaison.model import Actuator
from liaison.model.contacts import refuse_sides
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, product, times
from liaison.spatial.plucker import act_force_inverse
from liaison.tree import GROUND, Push, Tree
from liaison.units import Label

from .mampey import mampey
from .transmissions import Geared, Rotor, geared


@dataclass(frozen=True)
class Motorized:
    """M q̈ + S_A(q, q̇) = Q_A in the coordinates of the joints; rotors are no coordinates.

    Attributes:
        parts: the tree without rotors, and the rotors.
        vdot: symbols of the accelerations.
    """

    parts: Geared
    vdot: tuple[Expr, ...]

    @property
    def q(self) -> tuple[Expr, ...]:
        """Symbols of the coordinates that are left."""
        return tuple(self.parts.kinematics.q)

    @property
    def v(self) -> tuple[Expr, ...]:
        """Symbols of the velocities that are left."""
        return tuple(self.parts.kinematics.v)

    @property
    def labels(self) -> tuple[Label, ...]:
        """A name and a unit for each velocity."""
        return self.parts.kinematics.tree.velocity_labels()

    @cached_property
    def M(self) -> Mapping[tuple[int, int], Expr]:
        """The mass matrix by its lower triangle, by Mampey's recursion."""
        return MappingProxyType(mampey(self.parts.kinematics, self.parts.rotors))

    @cached_property
    def required(self) -> tuple[Expr, ...]:
        """Q_A(q, q̇, q̈): M q̈ + S_A, weight included, by the recursion."""
        return self._generalized(array(list(self.vdot)))

    @cached_property
    def bias(self) -> tuple[Expr, ...]:
        """S_A = Q_A(q, q̇, 0)."""
        return self._generalized(None)

    @cached_property
    def applied(self) -> tuple[Expr, ...]:
        """What all loads but weight do along the joints: α C_m − friction, springs, …."""
        return self.referred(self.parts.setting.applied())

    @cached_property
    def motor_torques(self) -> Mapping[str, Expr]:
        """Motor -> C_m of the motion (q, q̇, q̈) by inverse dynamics, all other loads as they are.

        Raises:
            DerivationError: two motors drive one joint, which leaves their shares open.
        """
        torques: dict[str, Expr] = {}
        motors = self._motors()
        rest = [x for x in self.parts.setting.loads if x.name not in motors]
        tau: list[Any] = [ZERO] * self.parts.setting.tree.nv
        for load in rest:
            for j, entry in load.tau.items():
                tau[j] = tau[j] + entry
        others = self.referred(tau)
        driven = [rotor.driven for rotor in motors.values()]
        for name, rotor in motors.items():
            if driven.count(rotor.driven) > 1:
                raise DerivationError(
                    f"motor {name!r} is not the only one on its joint; their shares are open.",
                    hint="Give all but one of them as laws.",
                )
            needed = self.required[rotor.driven] - others[rotor.driven]
            torques[name] = as_expr(needed / as_expr(rotor.ratio))
        return MappingProxyType(torques)

    @cached_property
    def reactions(self) -> Mapping[str, tuple[Expr, ...]]:
        """Joint -> wrench on its successor (moment, force), in M's axes at M, of q̈.

        It is all that passes through the joint, the effort of its transmission included. The wrench
        on a rotor is expressed at its mass center, in the axes of the body that carries it.
        """
        kinematics = self.parts.kinematics
        own, spun, states = self._own(array(list(self.vdot)))
        for load in self.parts.setting.loads:
            for effort, push in load.pushes:
                self._relieve(own, effort, push)
        passed = carried_wrenches(kinematics, own)
        wrenches: dict[str, Array] = {}
        for node, (moment, force) in zip(kinematics.tree.nodes, passed, strict=True):
            wrench = array([*moment, *force])
            if node.is_reversed:
                R, p = node.joint.type.pose(kinematics.q[node.q])
                wrench = act_force_inverse(R, p, array([minus(0, x) for x in wrench]))
            wrenches[node.joint.name] = wrench
        for rotor, moment in zip(self.parts.rotors, spun, strict=True):
            carrier = states[rotor.carrier]
            a = carrier.a + product(carrier.U, rotor.point)
            wrenches[rotor.coordinate] = array([*moment, *(times(rotor.mass, x) for x in a)])
        formulas = {name: tuple(as_expr(x) for x in wrench) for name, wrench in wrenches.items()}
        return MappingProxyType({k: tuple(self.put(x)) for k, x in formulas.items()})

    @cached_property
    def potential(self) -> Expr:
        """V of gravity, springs and potentials [J]."""
        return self.put([TreeReports(self.parts.setting, ()).energy[1]])[0]

    def referred(self, tau: list[Expr]) -> tuple[Expr, ...]:
        """Generalised forces of the whole tree along the joints: those on rotors α times."""
        efforts = self.put(tau)
        referred: list[Any] = [efforts[k] for k in self.parts.kept]
        places = {
            label.name: k for k, label in enumerate(self.parts.setting.tree.velocity_labels())
        }
        for rotor in self.parts.rotors:
            along = times(rotor.ratio, efforts[places[f"{rotor.coordinate}'"]])
            referred[rotor.driven] = as_expr(plus(referred[rotor.driven], along))
        return tuple(referred)

    def put(self, formulas: Any) -> list[Expr]:
        """Formulas without coordinates of rotors."""
        return list(substitute([as_expr(x) for x in formulas], dict(self.parts.put)))

    def _motors(self) -> dict[str, Rotor]:
        """Motor -> its rotor."""
        rotors = {rotor.coordinate: rotor for rotor in self.parts.rotors}
        forces = [f for f in self.parts.setting.mechanism.forces if isinstance(f, Actuator)]
        labels = {f.name: f.measure.labels() for f in forces}
        return {n: rotors[x[0]] for n, x in labels.items() if len(x) == 1 and x[0] in rotors}

    def _own(self, vdot: Array | None) -> tuple[list[Wrench], list[Array], dict[int, State]]:
        """The wrench each body with its rotors needs, −M_a of each rotor, and how bodies move."""
        kinematics = self.parts.kinematics
        states = {GROUND: at_ground(self.parts.setting.gravity)}
        own: list[Wrench] = []
        for i, node in enumerate(kinematics.tree.nodes):
            here = link(kinematics, i)
            joint_vdot = None if vdot is None else vdot[node.v]
            states[i] = moved(states[node.parent], here, joint_vdot)
            own.append(required(here.inertia, states[i]))
        spun = []
        for rotor in self.parts.rotors:
            rate = 0 if vdot is None else vdot[rotor.driven]
            needed = turning(rotor, states[rotor.carrier], kinematics.v[rotor.driven], rate)
            spun.append(needed)
            if rotor.carrier != GROUND:
                moment, force = own[rotor.carrier]
                own[rotor.carrier] = (moment + needed, force)
        return own, spun, states

    def _generalized(self, vdot: Array | None) -> tuple[Expr, ...]:
        kinematics = self.parts.kinematics
        own, spun, _ = self._own(vdot)
        efforts: list[Any] = [0] * kinematics.tree.nv
        for i, wrench in enumerate(carried_wrenches(kinematics, own)):
            efforts[kinematics.tree.nodes[i].v] = felt(kinematics.subspace(i), wrench)
        for rotor, moment in zip(self.parts.rotors, spun, strict=True):
            along = times(rotor.ratio, dot(moment, rotor.axis))
            efforts[rotor.driven] = plus(efforts[rotor.driven], along)
        return tuple(as_expr(x) for x in efforts)

    def _relieve(self, own: list[Wrench], effort: Any, push: Push) -> None:
        """Takes a load off what the joints have to give."""
        if push.node == GROUND:
            return
        if push.node not in self.parts.nodes:
            name = self.parts.setting.tree.nodes[push.node].body
            raise DerivationError(f"a load acts on the rotor {name!r} other than by its angle.")
        frame = self.parts.setting.kinematics.motion(push.root, push.node)
        arm = push.moment + cross(push.point - frame.p, push.force)
        node = self.parts.nodes[push.node]
        wrench = [product(frame.R.T, x) for x in (arm, push.force)]
        moment, force = (array([times(effort, x) for x in part]) for part in wrench)
        own[node] = (own[node][0] - moment, own[node][1] - force)


def turning(rotor: Rotor, carrier: State, rate: Any, second: Any) -> Array:
    """−M_a = I_m Ω̇_m + Ω_m × I_m Ω_m of (motors-1), in the carrier's axes."""
    I = rotor.tensor()
    faster = array([times(times(rotor.ratio, rate), x) for x in rotor.axis])
    gaining = array([times(times(rotor.ratio, second), x) for x in rotor.axis])
    omega = carrier.omega + faster
    alpha = carrier.alpha + gaining + cross(carrier.omega, faster)
    return product(I, alpha) + cross(omega, product(I, omega))


def motorized(tree: Tree) -> Motorized:
    """The equations of a tree with motors, in the coordinates of its joints.

    Raises:
        DerivationError: the mechanism has loops or relations other than gears of rotors.
    """
    refuse_sides(tree.mechanism.contacts, "motorized")
    parts = geared(tree)
    names = parts.kinematics.tree.velocity_labels()
    return Motorized(parts, tuple(symbol(f"{label.name}'") for label in names))
