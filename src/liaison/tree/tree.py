"""span: the spanning tree of a mechanism — parents, places of coordinates, cut joints.

The spanning tree is the breadth-first one of least depth; where several joints would do, names
decide, never the order of declaration. A cut joint becomes a closure of 6 − freedom rows. One
whose coordinates are used (a motor, a spring, an imposed motion, an output, a start), or
which has no closed form as a closure, keeps its coordinates: it carries a massless *ghost* of its
successor, tied to the real one by a row for each velocity (welded to it, where the joint has no
closed form).

Joint coordinates in use: they must exist even where the joint is cut.

Public names: GROUND, Transform, Inertia, Node, Closure, Tree, span, as_float, coordinates_in_use,
turning_path.

Source: RBDA §4.1 (connectivity), §8.1 (loop joints).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias, final

from liaison.arguments import checked
from liaison.errors import DerivationError, NamingError
from liaison.expr import Expr, evaluate, symbols_of
from liaison.lazy import Shown
from liaison.model import Angle, Body, Fixed, Joint, JointType, Marker, Mechanism
from liaison.spatial.arrays import Array, array, dot, minus, number, plus, product, times, zeros
from liaison.spatial.arrays import identity as identity_matrix
from liaison.spatial.plucker import compose, inverse, move_inertia
from liaison.units import Label


def coordinates_in_use(mechanism: Mechanism) -> frozenset[str]:
    """Names of the joints whose coordinates or rates a load, relation, output or start names."""
    used = {name.rstrip("'") for name in _names(mechanism)}
    return frozenset(
        joint.name
        for joint in mechanism.joints
        if used & {label.rstrip("'") for label in (*joint.coordinates, *joint.speeds)}
    )


def _names(mechanism: Mechanism) -> Iterator[str]:
    """Every name by which the mechanism's records may refer to a coordinate."""
    formulas = [output.formula for output in mechanism.outputs]
    formulas += [event.formula for event in mechanism.events]
    for force in mechanism.forces:
        yield from force.labels()
        formulas += force.formulas()
        measure = force.along()
        turns = turning_path(mechanism, measure) if isinstance(measure, Angle) else None
        yield from (label for label, _ in turns or ())
    for constraint in mechanism.constraints:
        yield from constraint.labels()
        formulas += constraint.formulas()
    for contact in mechanism.contacts:
        yield from contact.labels()
        formulas += contact.formulas()
    for start in mechanism.starts:
        yield start.label
    for symbol in symbols_of([f for f in formulas if isinstance(f, Expr)]):
        yield symbol.name


Turns: TypeAlias = tuple[tuple[str, int], ...]
"""Coordinates, each with 1 or −1, whose sum turns as an angle does."""


def turning_path(mechanism: Mechanism, angle: Angle) -> Turns | None:
    """The coordinates that count the turns of an angle along joints; None where none can.

    The joints of the path leave the direction of z of the angle's first marker fixed in both of
    their bodies: they turn about it, or do not turn. The shortest path is taken.
    """
    touching: dict[str, list[tuple[Joint, bool]]] = {}
    for joint in sorted(mechanism.joints, key=lambda joint: joint.name):
        if joint.type.TURN or _is_straight(joint):
            touching.setdefault(joint.predecessor.body, []).append((joint, True))
            touching.setdefault(joint.successor.body, []).append((joint, False))
    start = angle.a.body
    axes = {start: array([row[2] for row in angle.a.R])}
    paths: dict[str, Turns] = {start: ()}
    front = deque([start])
    while front and angle.b.body not in paths:
        body = front.popleft()
        for joint, forward in touching.get(body, ()):
            near, far = joint.predecessor, joint.successor
            near, far = (near, far) if forward else (far, near)
            if far.body in paths:
                continue
            seen = product(array(near.rotation.T), axes[body])  # in the joint's marker
            turn: Turns = ()
            if joint.type.TURN:
                sense = _sense(seen)
                if not sense:
                    continue
                turn = ((_turn(joint), sense if forward else -sense),)
            else:
                R = joint.type.pose(zeros(joint.type.nq))[0]
                seen = product(array(R.T) if forward else R, seen)
            axes[far.body] = product(far.rotation, seen)
            paths[far.body] = (*paths[body], *turn)
            front.append(far.body)
    return paths.get(angle.b.body)


def _turn(joint: Joint) -> str:
    return joint.coordinates[joint.type.coordinate_names.index(joint.type.TURN)]


def _is_straight(joint: Joint) -> bool:
    """Whether it does not turn."""
    return all(unit == "m/s" for unit in joint.type.speed_units)


def _sense(axis: Array) -> int:
    """1 or −1 where a direction is along z or against it, else 0."""
    cosine = number(axis[2])
    if cosine is None or abs(cosine) < 1 - PARALLEL:
        return 0
    return 1 if cosine > 0 else -1


PARALLEL = 1e-12
"""1 − cos of the angle under which two directions are one: a millionth of a radian."""


GROUND = -1
"""The parent of the nodes that hang on the ground."""

Transform: TypeAlias = tuple[Array, Array]
"""(R_AB, p_AB)."""

Inertia: TypeAlias = tuple[Any, Array, Array]
"""m, m c, I about the origin of a frame, in its axes [kg, kg·m, kg·m²]."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Node(Shown):
    """A body on the tree, seen from the frame of the joint marker on it (the node frame N)."""

    body: str
    joint: Joint
    parent: int
    is_reversed: bool  # the joint's predecessor is on this body, its successor on the parent
    X_PJ: Transform  # the joint's marker on the parent, in the parent's node frame
    X_NB: Transform  # the body's own frame in the node frame
    inertia: Inertia  # about N's origin, in N's axes
    q: slice
    v: slice


@final
@dataclass(frozen=True, slots=True, repr=False)
class Closure(Shown):
    """A cut joint: its two markers, each on a node, and the rows of Φ and G that hold them.

    There are 6 − freedom rows, and nv more where the joint keeps its coordinates, in a ghost. A
    joint of the tree with more coordinates than freedom has a closure, too, of its own rows.
    """

    joint: Joint
    predecessor: tuple[int, Transform]  # node and pose of F in it
    successor: tuple[int, Transform]  # node and pose of M in it
    rows: slice
    ghost: int | None = None  # the node that keeps the joint's coordinates, tied to the successor


@final
@dataclass(frozen=True, slots=True, repr=False)
class Tree(Shown):
    """Who carries whom, where each coordinate sits; parents before children.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/four_bar.lsd"))
        >>> tree.nq, tree.loops, tree.cuts
        (3, 1, ['C'])
    """

    mechanism: Mechanism
    nodes: tuple[Node, ...]
    closures: tuple[Closure, ...]
    frames: Mapping[str, tuple[int, Transform]]  # body -> node that carries it, X_NB
    numbers: Any  # how a scalar of the description enters: as it is, or as a float

    @property
    def nq(self) -> int:
        """Number of positions."""
        return sum(node.joint.type.nq for node in self.nodes)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return sum(node.joint.type.nv for node in self.nodes)

    @property
    def loops(self) -> int:
        """Independent loops of the mechanism's graph: joints minus moving bodies."""
        return len(self.mechanism.joints) - (len(self.mechanism.bodies) - 1)

    @property
    def cuts(self) -> list[str]:
        """Names of the joints that are cut."""
        carriers = {node.joint.name for node in self.nodes if "'" not in node.body}
        return [x.joint.name for x in self.closures if x.joint.name not in carriers]

    def path(self, node: int, root: int = GROUND) -> list[int]:
        """The node, its parent, … up to the one that hangs on the root, which carries it."""
        nodes = []
        while node != root:
            nodes.append(node)
            node = self.nodes[node].parent
        return nodes

    def common_ancestor(self, a: int, b: int) -> int:
        """The deepest node that carries both a and b; GROUND if none does."""
        carried = set(self.path(a))
        return next((node for node in self.path(b) if node in carried), GROUND)

    def carrier(self, node: int) -> int:
        """The node, or what it is welded to."""
        while node != GROUND and not self.nodes[node].joint.type.nv:
            node = self.nodes[node].parent
        return node

    def located(self, marker: Marker) -> tuple[int, Transform]:
        """The node that carries the marker, and the marker's pose in it."""
        return located(marker, self.frames, self.numbers)

    def position_labels(self) -> tuple[Label, ...]:
        """A name and a unit for every entry of q."""
        return tuple(label for node in self.nodes for label in position_labels(node.joint))

    def velocity_labels(self) -> tuple[Label, ...]:
        """A name and a unit for every entry of v."""
        return tuple(label for node in self.nodes for label in velocity_labels(node.joint))


@checked
def span(
    mechanism: Mechanism,
    *,
    cuts: Iterable[str] = (),
    keep: Iterable[str] = (),
    exact: bool = False,
) -> Tree:
    """The spanning tree of a mechanism and the closures that its other joints become.

    Args:
        mechanism: any connected graph of bodies and joints.
        cuts: joints to be cut by name; the others are chosen.
        keep: joints that keep their coordinates where they are cut, though they are not used.
        exact: keep exact numbers as they are (for proofs); otherwise they become floats here.

    Raises:
        NamingError: a name in `cuts` or `keep` that no joint has.
        DerivationError: the cuts take a body off the ground.

    Example:
        >>> import liaison
        >>> liaison.span(liaison.read("examples/four_bar.lsd"))
        <Tree four bar: 3 positions, 3 velocities, 3 nodes>
    """
    numbers = _as_written if exact else as_float
    chosen = _parent_joints(mechanism, frozenset(cuts))
    builder = _Builder(mechanism, numbers, frozenset(keep))
    builder.hang(chosen)
    in_tree = {joint.name for joint in chosen.values()}
    for joint in sorted(chosen.values(), key=lambda joint: natural(joint.name)):
        if joint.type.OWN_ROWS:
            builder.hold(joint)
    cut = [joint for joint in mechanism.joints if joint.name not in in_tree]
    for joint in sorted(cut, key=lambda joint: natural(joint.name)):
        builder.close(joint)
    for state in mechanism.states:
        from .memory import state_joint

        body = f"{state.name}' state"
        builder.add(state_joint(state, body), body, (0, zeros(3), zeros(3, 3)))
    return builder.tree()


def _as_written(x: Any) -> Any:
    """An exact number stays what it is."""
    return x


class _Builder:
    """Nodes and closures while they are being numbered, depth first."""

    def __init__(self, mechanism: Mechanism, numbers: Any, keep: frozenset[str]) -> None:
        self.mechanism = mechanism
        self.numbers = numbers
        self.bodies = {body.name: body for body in mechanism.bodies}
        for name in sorted(keep):
            mechanism.joint(name)
        self.in_use = coordinates_in_use(mechanism) | keep
        self.nodes: list[Node] = []
        self.closures: list[Closure] = []
        self.frames: dict[str, tuple[int, Transform]] = {"ground": (GROUND, identity())}
        self.nq = self.nv = self.nc = 0

    def hang(self, chosen: Mapping[str, Joint]) -> None:
        """Numbers the bodies depth first; children by the names of their joints."""
        children: dict[str, list[tuple[Joint, str]]] = {}
        for body, joint in chosen.items():
            children.setdefault(other_body(joint, body), []).append((joint, body))
        for listed in children.values():
            listed.sort(key=lambda pair: natural(pair[0].name), reverse=True)
        stack = children.get("ground", [])
        while stack:
            joint, body = stack.pop()
            self.add(joint, body, body_inertia(self.bodies[body], self.numbers))
            stack.extend(children.get(body, []))

    def add(self, joint: Joint, body: str, inertia: Inertia) -> None:
        """One more node: the body that the joint carries."""
        joint = replace(joint, type=joint.type.mapped(self.numbers))
        is_reversed = joint.predecessor.body == body
        near, far = joint.successor, joint.predecessor
        if is_reversed:
            near, far = far, near
        parent, X_PJ = located(far, self.frames, self.numbers)
        X_NB = inverse(*marker_pose(near, self.numbers))
        nq, nv = joint.type.nq, joint.type.nv
        node = Node(
            body=body,
            joint=joint,
            parent=parent,
            is_reversed=is_reversed,
            X_PJ=X_PJ,
            X_NB=X_NB,
            inertia=move_inertia(*X_NB, *inertia),
            q=slice(self.nq, self.nq + nq),
            v=slice(self.nv, self.nv + nv),
        )
        self.frames[body] = (len(self.nodes), X_NB)
        self.nodes.append(node)
        self.nq, self.nv = self.nq + nq, self.nv + nv

    def close(self, joint: Joint) -> None:
        """A closure for a cut joint; by a ghost where its coordinates are kept."""
        ghost = None
        rows = 6 - joint.type.freedom
        if not has_closed_form(joint.type):
            joint, rows = self.ghost(joint), 6
        elif joint.name in self.in_use:
            ghost, rows = len(self.nodes), rows + joint.type.nv
            self.ghost(joint)
        self.rows(joint, rows, ghost)

    def hold(self, joint: Joint) -> None:
        """The rows of a joint of the tree whose coordinates are more than its freedom."""
        self.rows(joint, joint.type.OWN_ROWS, None)

    def rows(self, joint: Joint, rows: int, ghost: int | None) -> None:
        """One more closure."""
        self.closures.append(
            Closure(
                joint=joint,
                predecessor=located(joint.predecessor, self.frames, self.numbers),
                successor=located(joint.successor, self.frames, self.numbers),
                rows=slice(self.nc, self.nc + rows),
                ghost=ghost,
            )
        )
        self.nc += rows

    def ghost(self, joint: Joint) -> Joint:
        """Hangs a massless copy of the successor on the joint; returns the weld of the two."""
        name = f"{joint.successor.body}' at {joint.name}"  # no body may have a quote in its name
        marker = replace(joint.successor, body=name)
        self.add(replace(joint, successor=marker), name, (0, zeros(3), zeros(3, 3)))
        return Joint(
            name=joint.name, type=Fixed(), predecessor=marker, successor=joint.successor,
            coordinates=(), place=joint.place,
        )  # fmt: skip

    def tree(self) -> Tree:
        """The finished tree."""
        return Tree(
            mechanism=self.mechanism,
            nodes=tuple(self.nodes),
            closures=tuple(self.closures),
            frames=MappingProxyType(dict(self.frames)),
            numbers=self.numbers,
        )


def _parent_joints(mechanism: Mechanism, cuts: frozenset[str]) -> dict[str, Joint]:
    """For each body the joint that carries it, breadth first from the ground."""
    known = {joint.name: joint for joint in mechanism.joints}
    for name in sorted(cuts - known.keys()):
        raise NamingError.unknown("joint", name, known)
    in_use = coordinates_in_use(mechanism)
    joints = [joint for joint in mechanism.joints if joint.name not in cuts]
    # joints with rows of their own carry only what no other joint reaches
    few = [joint for joint in joints if not joint.type.OWN_ROWS or joint.name in in_use]
    chosen = _carriers(mechanism, few, {}, in_use)
    if len(few) < len(joints) and len(chosen) + 1 < len(mechanism.bodies):
        chosen = _carriers(mechanism, joints, chosen, in_use)
    _check_all_carried(mechanism, chosen, cuts)
    return chosen


def _carriers(
    mechanism: Mechanism, joints: list[Joint], known: dict[str, Joint], in_use: frozenset[str]
) -> dict[str, Joint]:
    """For each body that these joints reach the one that carries it, besides those known."""
    touching: dict[str, list[Joint]] = {body.name: [] for body in mechanism.bodies}
    for joint in sorted(joints, key=lambda joint: _reluctance(joint, in_use)):
        touching[joint.predecessor.body].append(joint)
        touching[joint.successor.body].append(joint)
    chosen = dict(known)
    level = ["ground", *known]
    while level:
        best: dict[str, Joint] = {}
        for body in level:
            for joint in touching[body]:
                far = other_body(joint, body)
                if far != "ground" and far not in chosen:
                    best[far] = min(
                        joint, best.get(far, joint), key=lambda joint: _reluctance(joint, in_use)
                    )
        chosen.update(best)
        level = list(best)
    return chosen


def _reluctance(joint: Joint, in_use: frozenset[str]) -> tuple[bool, int, tuple[Any, ...]]:
    """Which joint stays uncut: coordinates in use, few degrees of freedom, then its name."""
    kept = joint.name in in_use or not has_closed_form(joint.type)
    return (not kept, joint.type.freedom, natural(joint.name))


def _check_all_carried(
    mechanism: Mechanism, chosen: Mapping[str, Joint], cuts: frozenset[str]
) -> None:
    for body in mechanism.bodies:
        if body.name != "ground" and body.name not in chosen:
            raise DerivationError(
                f"with the joints {', '.join(sorted(cuts))} cut, body {body.name!r} "
                "hangs on nothing.",
                hint="Cut one joint of each loop only.",
            )


def position_labels(joint: Joint) -> tuple[Label, ...]:
    """A name and a unit for each coordinate of a joint."""
    return tuple(map(Label, joint.coordinates, joint.type.coordinate_units))


def velocity_labels(joint: Joint) -> tuple[Label, ...]:
    """A name and a unit for each velocity of a joint."""
    return tuple(map(Label, joint.speeds, joint.type.speed_units))


def has_closed_form(kind: JointType) -> bool:
    """The joint can be cut without keeping its coordinates."""
    return kind.residual(identity_matrix(), zeros(3)) is not None


def other_body(joint: Joint, body: str) -> str:
    """The body at the other end of the joint."""
    a, b = joint.predecessor.body, joint.successor.body
    return b if body == a else a


def natural(name: str) -> tuple[Any, ...]:
    """Sorts j2 before j10, and j01 before j1: no two names are equal."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return *((1, int(x), "") if x.isdigit() else (0, 0, x) for x in parts), (-1, 0, name)


def marker_pose(marker: Marker, numbers: Any) -> Transform:
    """The marker's pose on its body, in the numbers of a tree."""
    R = array([[numbers(x) for x in row] for row in marker.R])
    return R, array([numbers(x) for x in marker.p])


def located(
    marker: Marker, frames: Mapping[str, tuple[int, Transform]], numbers: Any
) -> tuple[int, Transform]:
    """The node that carries the marker, and the marker's pose in it."""
    node, X_NB = frames[marker.body]
    return node, compose(*X_NB, *marker_pose(marker, numbers))


def identity() -> Transform:
    """No rotation, no offset, in exact ones and zeros."""
    return identity_matrix(), zeros(3)


def body_inertia(body: Body, numbers: Any) -> Inertia:
    """m, m c and I about the origin of the body's own frame."""
    m = numbers(body.mass)
    c = array([numbers(x) for x in body.com])
    moment = [times(m, x) for x in c]
    trace = dot(c, moment)
    I: list[list[Any]] = [[0] * 3 for _ in range(3)]
    for i, row in enumerate(body.inertia):
        for j in range(i + 1):
            entry = minus(numbers(row[j]), times(c[i], moment[j]))
            I[i][j] = I[j][i] = plus(entry, trace) if i == j else entry
    return m, array(moment), array(I)


def as_float(x: Any) -> Any:
    """An exact number as a float, 0 and ±1 kept exact so that they fold; formulas as they are.

    What differs from 0, 1 or −1 by rounding of an exact constant (cos of π/2) is taken as that.
    """
    if x.__class__ is int and -1 <= x <= 1:
        return x
    slack = 0.0
    if isinstance(x, Expr):
        if symbols_of([x]):
            return x
        x, slack = evaluate([x], {})[0], ROUNDING
    value = float(x)
    nearest = round(value)
    return nearest if abs(nearest) <= 1 and abs(value - nearest) <= slack else value


ROUNDING = 4e-16
"""Two units in the last place of 1."""
