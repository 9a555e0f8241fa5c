"""Motors with transmissions: rotors taken off a tree, with what carries and what drives each.

A rotor is a balanced body on a hinge that carries nothing else, its angle tied to a coordinate:
angle = α q + offset. Its mass sits at a point of its carrier; only its turning is its own.

Public names: Rotor, Geared, geared.

Source: LL 3.2.
Differs: any body may carry a rotor, not only the one before the joint that it drives; trees
    instead of chains; several rotors may drive one joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

from liaison.equations.setting import Setting, check_no_inertia
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, vanishes
from liaison.lazy import Shown
from liaison.model import Coupling, Revolute
from liaison.spatial.arrays import Array, array, minus, number, plus, times, zeros
from liaison.spatial.plucker import move_inertia
from liaison.tree import GROUND, Inertia, Kinematics, Node, Tree, added, merged

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
