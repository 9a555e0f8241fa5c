"""Newton–Euler with motors: generalised forces and every reaction, rotors and friction included.

    Ω_m = Ω_c + α q̇ ε,   Ω̇_m = Ω̇_c + α (q̈ ε + q̇ Ω_c × ε)
    M_a = −(I_m Ω̇_m + Ω_m × I_m Ω_m)                                             (motors-1)
    Q_A = S·(wrench through the joint) − α M_a·ε,    Q_A = α C_m − friction           (motors-2)

The body that carries a rotor bears −M_a; the joint that the rotor is geared to feels −α M_a·ε.

Mampey's backward recursion for the mass matrix: the kinetic energy of all that a joint carries.

With W_k, Ω_k of a node's origin and axes, the energy of node k and all that it carries is

    2 T_k = M_k W·W + Ω·J_k Ω + 2 W·(p_k × Ω) + 2 Ω·Σ h_ki q̇_i + 2 W·Σ r_ki q̇_i + Σ Σ a_ij q̇_i q̇_j

and T_P = t_P + T_k for the carrier P gives M, J, p, h, r of P from those of k; p is minus the first
moment of mass. A column (w, s) of the joint — turning, sliding — makes                   (mampey-1)

    r = M s + p × w,   h = J w − p × s + λ × r,   a_ki = w_k·h_i + s_k·r_i
    h_P = h + λ × r,   J_P = J + J_k − M λ̃² + λ̃ p̃ + (λ̃ p̃)ᵀ,   p_P = p + p_k − M λ        (mampey-2)

A rotor of axial inertia j, driven with ratio α, adds α j ε to h on its carrier and α² j to a_kk.

Public names: Motorized, motorized, mampey.

Source: LL 3.2.1, 3.2.3; LL 3.2.2 (algorithme de Mampey).
Differs: origins of nodes instead of mass centers; gravity as an upward acceleration of the ground;
trees and joints of any columns instead of chains of hinges and slides; rotors on any body; h = S h
+ λ × r where the organised form prints a minus, and α² j in every a_kk (errata).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

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
from liaison.lazy import Shown
from liaison.model import Actuator
from liaison.model.contacts import check_bilateral
from liaison.spatial.arrays import (
    Array,
    array,
    cross,
    dot,
    identity,
    minus,
    plus,
    product,
    times,
    zeros,
)
from liaison.spatial.plucker import act_force_inverse
from liaison.tree import GROUND, Inertia, Kinematics, Push, Tree
from liaison.units import Label

from .transmissions import Geared, Rotor, geared

Entries: TypeAlias = dict[tuple[int, int], Any]


def mampey(kinematics: Kinematics, rotors: Sequence[Rotor] = ()) -> dict[tuple[int, int], Expr]:
    """The lower triangle of the mass matrix.

    Args:
        kinematics: of a tree without rotors, their masses in its bodies (`geared`).
        rotors: what turns faster.
    """
    nodes = kinematics.tree.nodes
    carried = [_about_origin(i, node.inertia, rotors) for i, node in enumerate(nodes)]
    a: Entries = {}
    for k in range(len(nodes) - 1, -1, -1):
        R, offset = _axes(kinematics, k)
        m, p, J = carried[k]
        p, J = product(R, p), _turned(R, J)
        _columns(kinematics, a, k, (m, p, J), rotors)
        if nodes[k].parent != GROUND:
            carried[nodes[k].parent] = _combined(carried[nodes[k].parent], (m, p, J), offset)
    for rotor in rotors:
        _add(a, rotor.driven, rotor.driven, times(times(rotor.ratio, rotor.ratio), rotor.axial))
        if rotor.carrier != _before(kinematics, rotor):
            _elsewhere(kinematics, a, rotor)
    return {key: as_expr(entry) for key, entry in a.items()}


def _axes(kinematics: Kinematics, k: int) -> tuple[Array, Array]:
    """The pose of a node in its carrier; of one on the ground in itself, for T does not know it."""
    if kinematics.tree.nodes[k].parent == GROUND:
        return identity(), zeros(3)
    return kinematics.pose(k)


def _about_origin(i: int, inertia: Inertia, rotors: Sequence[Rotor]) -> Inertia:
    """m, p = −m d and C = I − m d̃² of a body with the rotors it carries, standing still in it."""
    m, h, I = inertia
    for rotor in rotors:
        if rotor.carrier == i:
            I = I + rotor.tensor()
    return m, array([minus(0, x) for x in h]), I


def _columns(
    kinematics: Kinematics, a: Entries, k: int, carried: Inertia, rotors: Sequence[Rotor]
) -> None:
    """a_kk, and a_ki of all joints i that carry k; `carried` is M, p, J in its carrier's axes."""
    m, p, J = carried
    R, offset = _axes(kinematics, k)
    S, node = kinematics.subspace(k), kinematics.tree.nodes[k]
    columns = [(product(R, S[:3, n]), product(R, S[3:, n])) for n in range(S.shape[1])]
    for n, (w, s) in enumerate(columns):
        row = node.v.start + n
        r = _scaled(m, s) + cross(p, w)
        h = product(J, w) - cross(p, s)
        for other, (turn, slide) in enumerate(columns[: n + 1]):
            _add(a, row, node.v.start + other, plus(dot(turn, h), dot(slide, r)))
        h = h + cross(offset, r)
        for rotor in rotors:
            if rotor.driven == row and rotor.carrier == node.parent:
                h = h + _spin(rotor)
        _outwards_in(kinematics, a, row, node.parent, (h, r))


def _outwards_in(
    kinematics: Kinematics, a: Entries, row: int, node: int, pair: tuple[Array, Array]
) -> None:
    """a_ki of all joints i from a node down to the ground: h = S h + λ × r, r = S r."""
    h, r = pair
    while node != GROUND:
        S, start = kinematics.subspace(node), kinematics.tree.nodes[node].v.start
        for n in range(S.shape[1]):
            _add(a, row, start + n, plus(dot(S[:3, n], h), dot(S[3:, n], r)))
        R, offset = kinematics.pose(node)
        r = product(R, r)
        h = product(R, h) + cross(offset, r)
        node = kinematics.tree.nodes[node].parent


def _elsewhere(kinematics: Kinematics, a: Entries, rotor: Rotor) -> None:
    """α j ε of a rotor that does not sit on the body before the joint that it drives."""
    entries: Entries = {}
    _outwards_in(kinematics, entries, rotor.driven, rotor.carrier, (_spin(rotor), zeros(3)))
    for (i, j), entry in entries.items():
        _add(a, i, j, plus(entry, entry) if i == j else entry)


def _before(kinematics: Kinematics, rotor: Rotor) -> int:
    """The body before the joint that a rotor drives."""
    nodes = kinematics.tree.nodes
    return next(n.parent for n in nodes if n.v.start <= rotor.driven < n.v.stop)


def _spin(rotor: Rotor) -> Array:
    """α j ε."""
    return _scaled(times(rotor.ratio, rotor.axial), rotor.axis)


def _combined(carrier: Inertia, carried: Inertia, offset: Array) -> Inertia:
    """M, p and J of the carrier with those of what it carries."""
    m, p, J = carried
    moved = _scaled(m, offset)
    half = p - moved  # λ̃ p̃ + (λ̃ p̃)ᵀ − M λ̃² = half λᵀ + λ pᵀ − (λ·half + λ·p) 1
    trace = plus(dot(offset, half), dot(offset, p))
    total = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            mixed = plus(times(half[i], offset[j]), times(offset[i], p[j]))
            entry = minus(mixed, trace) if i == j else mixed
            entry = plus(plus(carrier[2][i, j], J[i, j]), entry)
            total[i, j] = total[j, i] = entry
    return plus(carrier[0], m), carrier[1] + half, total


def _turned(R: Array, J: Array) -> Array:
    """R J Rᵀ, which is symmetric."""
    half = product(R, J)
    turned = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            turned[i, j] = turned[j, i] = dot(half[i], R[j])
    return turned


def _scaled(x: Any, a: Array) -> Array:
    return array([times(x, y) for y in a])


def _add(a: Entries, i: int, j: int, entry: Any) -> None:
    key = (max(i, j), min(i, j))
    a[key] = plus(a[key], entry) if key in a else entry


@dataclass(frozen=True, repr=False)
class Motorized(Shown):
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

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/geared_arm.lsd"))
        >>> type(liaison.motorized(tree)).__name__
        'Motorized'
    """
    check_bilateral(tree.mechanism.contacts, "motorized")
    parts = geared(tree)
    names = parts.kinematics.tree.velocity_labels()
    return Motorized(parts, tuple(symbol(f"{label.name}'") for label in names))
