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

Motors with transmissions: rotors taken off a tree, with what carries and what drives each.

A rotor is a balanced body on a hinge that carries nothing else, its angle tied to a coordinate:
angle = α q + offset. Its mass sits at a point of its carrier; only its turning is its own.

Source: LL 3.2.
Differs: any body may carry a rotor, not only the one before the joint that it drives; trees
    instead of chains; several rotors may drive one joint.

Public names: Motorized, motorized, mampey, Rotor, Geared, geared.

Source: LL 3.2.1, 3.2.3; LL 3.2.2 (algorithme de Mampey).
Differs: origins of nodes instead of mass centers; gravity as an upward acceleration of the ground;
trees and joints of any columns instead of chains of hinges and slides; rotors on any body; h = S h
+ λ × r where the organised form prints a minus, and α² j in every a_kk (errata).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, final

from liaison.equations.reports import TreeReports
from liaison.equations.setting import Setting, check_no_inertia
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
from liaison.expr import ZERO, Expr, as_expr, substitute, symbol, vanishes
from liaison.lazy import Shown
from liaison.model import Actuator, Coupling, Revolute
from liaison.model.contacts import check_bilateral
from liaison.spatial.arrays import (
    Array,
    array,
    cross,
    dot,
    identity,
    minus,
    number,
    plus,
    product,
    times,
    zeros,
)
from liaison.spatial.plucker import act_force_inverse, move_inertia
from liaison.tree import GROUND, Inertia, Kinematics, Node, Push, Tree, added, merged
from liaison.units import Label

ROUND = 1e-9
"""A rotor's products of inertia and offsets up to this part of the whole are rounding."""


@final
@dataclass(frozen=True, slots=True)
class Rotor:
    """What turns in a motor, seen from the body that carries it."""

    name: str  # of its body
    coordinate: str  # its angle
    carrier: int  # node of the tree without rotors, or GROUND
    driven: int  # velocity that it is geared to
    ratio: Any  # α
    offset: Any  # [rad]
    point: Array  # its mass center in the carrier's axes [m]
    axis: Array  # ε, unit vector in the carrier's axes
    mass: Any  # [kg]
    axial: Any  # j_m [kg·m²]
    transverse: Any  # i_m [kg·m²]

    def tensor(self) -> Array:
        """I_m = (j_m − i_m) ε εᵀ + i_m 1, in the carrier's axes."""
        thicker = minus(self.axial, self.transverse)
        I = zeros(3, 3)
        for i in range(3):
            for j in range(3):
                I[i, j] = times(thicker, times(self.axis[i], self.axis[j]))
            I[i, i] = plus(I[i, i], self.transverse)
        return I


@final
@dataclass(frozen=True, slots=True, repr=False)
class Geared(Shown):
    """A tree without its rotors, and the rotors.

    Attributes:
        setting: of the whole tree, rotors and all.
        kinematics: of the tree without rotors, whose bodies hold the rotors' masses as points.
        nodes: node of the whole tree -> node of the tree without rotors.
        rotors: in the order of the whole tree.
        put: coordinates and velocities of rotors -> formulas of those they are geared to.
        kept: places of the remaining velocities in those of the whole tree.
    """

    setting: Setting
    kinematics: Kinematics
    nodes: Mapping[int, int]
    rotors: tuple[Rotor, ...]
    put: Mapping[Expr, Expr]
    kept: tuple[int, ...]


def geared(tree: Tree) -> Geared:
    """Takes the rotors off a tree.

    Raises:
        DerivationError: the mechanism has loops or relations other than gears, or what a gear ties
            is no balanced rotor on a hinge of its own.
    """
    setting = Setting(merged(tree))
    check_no_inertia(setting, "equations with motors")
    whole = setting.tree
    gears = _gears(whole)
    places = {i: gears[node.joint.name] for i, node in enumerate(whole.nodes) if _tied(node, gears)}
    nodes = _renumbered(whole, set(places))
    bare, kept = _without(whole, nodes)
    rotors = tuple(_rotor(whole, i, gear, nodes, bare) for i, gear in places.items())
    loaded = replace(bare, nodes=_loaded(bare, rotors))
    q = [x for i in nodes if i != GROUND for x in setting.q[whole.nodes[i].q]]
    v = [setting.v[k] for k in kept]
    kinematics = Kinematics(loaded, array(q), array(v))
    put = _put(setting, places, loaded, kinematics, rotors)
    return Geared(setting, kinematics, nodes, rotors, put, kept)


def _gears(tree: Tree) -> dict[str, Coupling]:
    """Joint -> the gear that ties its coordinate to another; nothing else may be tied."""
    if tree.closures:
        name = tree.closures[0].joint.name
        raise DerivationError(
            f"joint {name!r} closes a loop; the recursion with motors is for trees.",
            hint="Any formalism of FORMALISMS derives mechanisms with loops, rotors as bodies.",
        )
    gears: dict[str, Coupling] = {}
    for constraint in tree.mechanism.constraints:
        if not isinstance(constraint, Coupling) or constraint.coordinate in gears:
            raise DerivationError(
                f"relation {constraint.name!r} is no gear of a rotor; the recursion with motors "
                "knows no other.",
                hint="Any formalism of FORMALISMS derives mechanisms with relations.",
                place=constraint.place,
            )
        gears[constraint.coordinate] = constraint
    return gears


def _tied(node: Node, gears: Mapping[str, Coupling]) -> bool:
    return node.joint.name in gears


def _renumbered(tree: Tree, rotors: set[int]) -> dict[int, int]:
    """Nodes that are no rotors, numbered anew; the ground stays what it is."""
    rest = [i for i in range(len(tree.nodes)) if i not in rotors]
    for i in rest:
        if tree.nodes[i].parent in rotors:
            name = tree.nodes[tree.nodes[i].parent].body
            raise DerivationError(
                f"the geared body {name!r} carries {tree.nodes[i].body!r}; a rotor carries "
                "nothing.",
                place=tree.nodes[i].joint.place,
            )
    return {GROUND: GROUND} | {i: k for k, i in enumerate(rest)}


def _without(tree: Tree, nodes: Mapping[int, int]) -> tuple[Tree, tuple[int, ...]]:
    """The tree without rotors, and the places of its velocities in the whole."""
    kept_nodes: list[Node] = []
    kept: list[int] = []
    nq = nv = 0
    for i in list(nodes)[1:]:
        node = tree.nodes[i]
        more = node.joint.type
        kept += range(node.v.start, node.v.stop)
        q, v = slice(nq, nq + more.nq), slice(nv, nv + more.nv)
        kept_nodes.append(replace(node, parent=nodes[node.parent], q=q, v=v))
        nq, nv = nq + more.nq, nv + more.nv
    frames = {body: (nodes[i], X_NB) for body, (i, X_NB) in tree.frames.items() if i in nodes}
    return replace(tree, nodes=tuple(kept_nodes), frames=MappingProxyType(frames)), tuple(kept)


def _rotor(tree: Tree, i: int, gear: Coupling, nodes: Mapping[int, int], bare: Tree) -> Rotor:
    """The rotor that is node i of the whole tree."""
    node = tree.nodes[i]
    if not isinstance(node.joint.type, Revolute):
        raise DerivationError(
            f"gear {gear.name!r} drives {node.joint.name!r}, which is no hinge; a rotor turns.",
            place=gear.place,
        )
    driven = {n.joint.coordinates[0]: n.v.start for n in bare.nodes if n.joint.type.nv == 1}
    if gear.other not in driven:
        raise DerivationError(
            f"gear {gear.name!r} ties {gear.coordinate!r} to {gear.other!r}, which is no "
            "coordinate of a joint with one degree of freedom in the arm without rotors.",
            hint=f"There are: {', '.join(driven)}.",
            place=gear.place,
        )
    m, center, axial, transverse = _balanced(node)
    R, p = node.X_PJ
    sign = -1 if node.is_reversed else 1
    return Rotor(
        name=node.body,
        coordinate=gear.coordinate,
        carrier=nodes[node.parent],
        driven=driven[gear.other],
        ratio=tree.numbers(gear.ratio),
        offset=tree.numbers(gear.offset),
        point=p + array([times(x, center) for x in R[:, 2]]),
        axis=array([times(sign, x) for x in R[:, 2]]),
        mass=m,
        axial=axial,
        transverse=transverse,
    )


def _balanced(node: Node) -> tuple[Any, Any, Any, Any]:
    """Mass, place of the center on the axis, j_m and i_m of a rotor; it must be balanced."""
    m, h, I = node.inertia
    size = abs(number(I[2, 2]) or 1) + abs(number(I[0, 0]) or 0)
    reach = abs(number(h[2]) or 0) + abs(number(m) or 0)
    off = [(h[0], reach), (h[1], reach), (minus(I[0, 0], I[1, 1]), size)]
    off += [(I[i, j], size) for i, j in ((0, 1), (0, 2), (1, 2))]
    if not all(_nothing(x, scale) for x, scale in off):
        raise DerivationError(
            f"{node.body!r} is not balanced about the axis of {node.joint.name!r}; the recursion "
            "with motors takes rotors whose axis is an axis of symmetry.",
            hint="Any formalism of FORMALISMS takes it as a body like the others.",
            place=node.joint.place,
        )
    if number(m) == 0:
        return m, 0, I[2, 2], I[0, 0]
    center: Any = as_expr(h[2]) / as_expr(m)
    if center.op == "const":
        center = center.value
    return m, center, I[2, 2], minus(I[0, 0], times(h[2], center))


def _nothing(x: Any, scale: float) -> bool:
    value = number(x)
    return vanishes(as_expr(x)) if value is None else abs(value) <= ROUND * scale


def _loaded(tree: Tree, rotors: tuple[Rotor, ...]) -> tuple[Node, ...]:
    """The nodes with the masses of the rotors that they carry, as points."""
    nodes = list(tree.nodes)
    for rotor in rotors:
        if rotor.carrier != GROUND:
            node = nodes[rotor.carrier]
            point: Inertia = (rotor.mass, zeros(3), zeros(3, 3))
            moved = move_inertia(_UNTURNED, rotor.point, *point)
            nodes[rotor.carrier] = replace(node, inertia=added(node.inertia, moved))
    return tuple(nodes)


_UNTURNED = array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def _put(
    setting: Setting,
    places: Mapping[int, Coupling],
    tree: Tree,
    kinematics: Kinematics,
    rotors: tuple[Rotor, ...],
) -> Mapping[Expr, Expr]:
    """angle = α q + offset, and its rate, for the symbols of every rotor."""
    values: dict[Expr, Expr] = {}
    positions = {node.v.start: kinematics.q[node.q.start] for node in tree.nodes if node.v}
    for i, rotor in zip(places, rotors, strict=True):
        node = setting.tree.nodes[i]
        q, v = positions[rotor.driven], kinematics.v[rotor.driven]
        values[setting.q[node.q.start]] = as_expr(plus(times(rotor.ratio, q), rotor.offset))
        values[setting.v[node.v.start]] = as_expr(times(rotor.ratio, v))
    return MappingProxyType(values)


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
