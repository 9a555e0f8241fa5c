"""A tree of many bodies as formulas of one node of each class; its loads are written out.

What `tree_kernel` runs: recursions over the nodes in the coordinates of the tree itself, and the
formulas of what acts along these coordinates, of outputs and events.

Public names: LoopedTree, looped_tree, WrittenOut, BodyLoads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.equations.equations import Chart
from liaison.equations.formalisms.maximal import at_origin
from liaison.equations.setting import Setting, charts_of
from liaison.equations.theorems import unstored_power
from liaison.errors import DerivationError
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    fingerprint,
    switches,
    symbols_of,
    topological,
    vanishes,
)
from liaison.model import (
    AlongMeasure,
    AtMarker,
    Coordinate,
    Distance,
    Field,
    Free,
    Joint,
    Mechanism,
    OfMechanism,
    RotationMatrix,
)
from liaison.tree import Tree, span
from liaison.tree.tree import identity
from liaison.units import Label

from .blocks import local_steps
from .classes import Grouping, grouped, number
from .recursions import Recursion, forward_recursion, inverse_recursion, motion_recursion
from .sweeps import gravity_of, known_values, local_places, node_places, node_table

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@final
@dataclass(frozen=True, slots=True)
class WrittenOut:
    """Formulas of the whole mechanism, of t, q, v, u and p.

    Attributes:
        tau: velocity -> generalized force of all loads.
        potential: energy that loads store [J].
        power: of loads that `potential` does not hold [W].
        unwatched: why the balance of energy cannot be kept; empty where it can.
        outputs: of the mechanism, by name.
        events: name, formula, direction, action.
        places: symbol -> (array, index).
    """

    tau: Mapping[int, Expr]
    potential: Expr
    power: Expr
    unwatched: str
    outputs: Mapping[str, Expr]
    events: tuple[tuple[str, Expr, int, str], ...]
    places: Mapping[Expr, tuple[str, int]]


@final
@dataclass(frozen=True, slots=True)
class BodyLoads:
    """Loads on bodies: formulas of the poses and twists of the bodies they touch.

    Attributes:
        bodies: rows of `LoopedTree.frames`.
        wrenches: moment and force on each body at its origin, in its axes.
        potential: energy that they store [J].
        power: of what `potential` does not hold [W].
        unwatched: why the balance of energy cannot be kept; empty where it can.
        places: symbol -> (array, index); q has p and R of each body, v its ω and v in its axes.
    """

    bodies: tuple[int, ...]
    wrenches: tuple[Expr, ...]
    potential: Expr
    power: Expr
    unwatched: str
    places: Mapping[Expr, tuple[str, int]]


@final
@dataclass(frozen=True, slots=True)
class LoopedTree:
    """A tree as classes of nodes, tables, and recursions over both.

    Attributes:
        mechanism: with the values of parameters that node constants have.
        nq: positions.
        nv: velocities.
        nodes: as in `Sweeps`; welds are nodes, too.
        constants: of all nodes, one after another.
        inputs: symbol of the formulas of a node -> (array, index).
        local_inputs: the same of q ⊞ ξ and ξ̇.
        forward: v̇ of (q, v, τ).
        inverse: wrenches of (q, v, v̇).
        motion: of the nodes, in the ground's axes.
        retract: q ⊞ ξ of each class.
        rate: ξ̇ of each class.
        gravity: [m/s²].
        frames: of bodies: node and pose in it, 13 numbers each.
        markers: of joints, by the order of nodes: node and pose of the successor's marker.
        bodies: names.
        joints: names.
        written: loads along coordinates, outputs, events.
        pushed: loads on bodies; None where there are none.
        charts: kinds of coordinates.
        labels: of q, v, u, p, outputs.
    """

    mechanism: Mechanism
    nq: int
    nv: int
    nodes: Ints
    constants: Numbers
    inputs: Mapping[Expr, tuple[str, int]]
    local_inputs: Mapping[Expr, tuple[str, int]]
    forward: Recursion
    inverse: Recursion
    motion: Recursion
    retract: tuple[tuple[Expr, ...], ...]
    rate: tuple[tuple[Expr, ...], ...]
    gravity: tuple[float, ...]
    frames: Numbers
    markers: Numbers
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    written: WrittenOut
    pushed: BodyLoads | None
    charts: tuple[Chart, ...]
    labels: Mapping[str, tuple[Label, ...]]

    @property
    def identity(self) -> str:
        """A word that is the same for the same mechanism, in every process."""
        listed = [x for sweep in self.forward.sweeps for one in sweep.formulas for x in one]
        listed += [x for one in (*self.retract, *self.rate) for x in one]
        listed += [*self.written.tau.values(), *(event[1] for event in self.written.events)]
        digest = hashlib.sha256(f"{[*self.written.tau]} {fingerprint(listed)}".encode())
        tables = [self.nodes, self.constants, np.array(self.gravity)]
        if self.pushed is not None:
            digest.update(fingerprint(list(self.pushed.wrenches)).encode())
            tables += [np.array(self.pushed.bodies), self.frames]
        for table in tables:
            digest.update(table.tobytes())
        return digest.hexdigest()


def looped_tree(tree: Tree) -> LoopedTree:
    """A tree of many bodies, ready for loops over its nodes.

    Args:
        tree: without closures, relations and unilateral constraints; loads act along coordinates,
            or on bodies by laws that name no coordinate.

    Raises:
        DerivationError: the mechanism has what the loops do not know, or a number is unknown.
    """
    check_loopable(tree)
    known = known_values(tree, None)
    grouping = grouped(tree, known)
    gravity = gravity_of(tree, known)
    recursions = (
        forward_recursion(grouping.classes, gravity),
        inverse_recursion(grouping.classes, gravity),
        motion_recursion(grouping.classes),
    )
    check_smooth(tree, [x for sweep in recursions[0].sweeps for one in sweep.formulas for x in one])
    along, on_bodies = _parted(tree.mechanism)
    setting = Setting(_without_loads_on_bodies(tree, along) if on_bodies else tree)
    local = [local_steps(one.joint) for one in grouping.classes]
    bodies = tuple(body.name for body in tree.mechanism.bodies[1:])
    return LoopedTree(
        mechanism=tree.mechanism,
        nq=tree.nq,
        nv=tree.nv,
        nodes=node_table(tree, grouping),
        constants=grouping.constants,
        inputs=MappingProxyType(_places(grouping, recursions)),
        local_inputs=MappingProxyType(local_places(grouping)),
        forward=recursions[0],
        inverse=recursions[1],
        motion=recursions[2],
        retract=tuple(retract for retract, _ in local),
        rate=tuple(rate for _, rate in local),
        gravity=tuple(float(x) for x in gravity),
        frames=_framed([tree.frames[name] for name in bodies], known),
        markers=_framed(_markers(tree), known),
        bodies=bodies,
        joints=tuple(node.joint.name for node in tree.nodes),
        written=_written(setting),
        pushed=_pushed(tree, on_bodies) if on_bodies else None,
        charts=tuple(chart for node in tree.nodes for chart in charts_of(node)),
        labels=MappingProxyType(_labels(tree)),
    )


def check_loopable(tree: Tree) -> None:
    """Raises an error for closures, relations and contacts."""
    mechanism = tree.mechanism
    known = {
        "joints that close loops": [x.joint.name for x in tree.closures],
        "relations": [x.name for x in mechanism.constraints],
        "unilateral constraints": [x.name for x in mechanism.contacts],
        "states of loads": [x.name for x in mechanism.states],
    }
    for what, names in known.items():
        if names:
            raise DerivationError(
                f"{mechanism.name!r} has {what} ({', '.join(names[:5])}), which loops over the "
                "nodes of a tree do not know.",
                hint="Derive its equations by newton_euler.",
            )
    if not tree.nv:
        raise DerivationError(f"nothing moves in {mechanism.name!r}: there is no sweep.")


def _parted(mechanism: Mechanism) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Loads along coordinates and gravity; loads on bodies.

    Raises:
        DerivationError: a load on bodies depends on coordinates as well, or counts turns.
    """
    named = {*mechanism.coordinates, *mechanism.speeds}
    along, on_bodies = [], []
    for force in mechanism.forces:
        measure = force.along() if isinstance(force, AlongMeasure) else None
        if isinstance(measure, Coordinate) or isinstance(force, Field | OfMechanism):
            along.append(force)
            continue
        used = symbols_of([x for x in force.formulas() if isinstance(x, Expr)])
        if not isinstance(measure, Distance) and not isinstance(force, AtMarker):
            why = "acts along an angle between bodies"
        elif any(x.name.rstrip("'") in named or x.name in named for x in used):
            why = "acts on bodies by a law of coordinates"
        else:
            on_bodies.append(force)
            continue
        raise DerivationError(
            f"{force.name!r} {why}, which loops over the nodes of a tree do not know.",
            hint="Derive the equations by newton_euler.",
        )
    return tuple(along), tuple(on_bodies)


def _without_loads_on_bodies(tree: Tree, along: tuple[Any, ...]) -> Tree:
    return replace(tree, mechanism=replace(tree.mechanism, forces=along))


def _pushed(tree: Tree, forces: tuple[Any, ...]) -> BodyLoads:
    """Loads on bodies, derived with these bodies free."""
    mechanism = tree.mechanism
    places = {body.name: k for k, body in enumerate(mechanism.bodies[1:])}
    touched = sorted({places[x] for force in forces for x in _bodies_of(force) if x in places})
    if not touched:
        raise DerivationError(f"{forces[0].name!r} acts on nothing that moves.")
    bodies = [mechanism.bodies[1 + k] for k in touched]
    free = tuple(
        Joint(
            f"free {body.name}", Free(RotationMatrix()), at_origin("ground"), at_origin(body.name)
        )
        for body in bodies
    )
    loose = Mechanism(
        name=mechanism.name, bodies=(mechanism.bodies[0], *bodies), joints=free, forces=forces,
        parameters=mechanism.parameters, inputs=mechanism.inputs,
    )  # fmt: skip
    setting = Setting(span(loose))
    order = [places[node.body] for node in setting.tree.nodes]
    wrenches = tuple(as_expr(x) for x in setting.applied())
    check_steady(setting, wrenches)
    power, unwatched = _power(setting)
    return BodyLoads(
        bodies=tuple(order),
        wrenches=wrenches,
        potential=_potential(setting),
        power=power,
        unwatched=unwatched,
        places=MappingProxyType(_symbol_places(setting)),
    )


def check_steady(setting: Setting, formulas: Sequence[Expr]) -> None:
    """Raises an error for laws of states that bend or jump: steps must end where they do."""
    moving = {*setting.symbols.q, *setting.symbols.v}
    bends = [*switches(formulas), *(x for x in topological(formulas) if x.op == "table")]
    if not moving.isdisjoint(symbols_of(bends)):
        raise DerivationError(
            "a load on bodies bends or jumps with the state, which loops over nodes do not know.",
            hint="Derive the equations by newton_euler.",
        )


def _potential(setting: Setting) -> Expr:
    """Energy that loads store."""
    return as_expr(sum((load.potential for load in setting.loads), as_expr(0)))


def _bodies_of(force: Any) -> list[str]:
    """Bodies that a load touches."""
    if isinstance(force, AtMarker):
        turned = force.turned_with()
        return [force.at().body, *([turned.body] if turned is not None else [])]
    measure = force.along()
    return [measure.a.body, measure.b.body]


def check_smooth(tree: Tree, formulas: Sequence[Expr]) -> None:
    """Raises an error where a joint bends or jumps, which steps of a run must not cross."""
    if switches(formulas) or any(node.op == "table" for node in topological(formulas)):
        raise DerivationError(
            f"a joint of {tree.mechanism.name!r} moves by a formula that bends or jumps, which "
            "loops over nodes do not know.",
            hint="Derive its equations by newton_euler.",
        )


def _places(grouping: Grouping, recursions: Sequence[Recursion]) -> dict[Expr, tuple[str, int]]:
    return node_places(grouping, max(len(one.ground) for one in recursions))


def _framed(listed: Sequence[tuple[int, Any]], known: Mapping[Expr, Any]) -> Numbers:
    """A row for each frame on a node: the node, R row by row, p."""
    rows = [
        [node, *(float(number(x, known)) for part in pose for x in part.flat)]
        for node, pose in listed
    ]
    return np.array(rows, dtype=float).reshape(-1, 13)


def _markers(tree: Tree) -> list[tuple[int, Any]]:
    """The marker of each node's joint on its successor: the node's own frame, or on its parent."""
    own = identity()
    return [
        (node.parent, node.X_PJ) if node.is_reversed else (i, own)
        for i, node in enumerate(tree.nodes)
    ]


def _written(setting: Setting) -> WrittenOut:
    """Loads, outputs and events over the symbols of the tree."""
    mechanism = setting.mechanism
    for load in setting.loads:
        if load.rate_potential is not None:
            raise DerivationError(
                f"the potential {load.name!r} depends on velocities, which loops over nodes do "
                "not know.",
                hint="Derive the equations by newton_euler.",
            )
    tau = {j: as_expr(x) for j, x in enumerate(setting.applied()) if not vanishes(x)}
    power, unwatched = _power(setting)
    return WrittenOut(
        tau=MappingProxyType(tau),
        potential=_potential(setting),
        power=power,
        unwatched=unwatched,
        outputs=MappingProxyType({x.name: setting.expressed(x.formula) for x in mechanism.outputs}),
        events=tuple(
            (x.name, setting.expressed(x.formula), x.direction, x.action) for x in mechanism.events
        ),
        places=MappingProxyType(_symbol_places(setting)),
    )


def _symbol_places(setting: Setting) -> dict[Expr, tuple[str, int]]:
    symbols = setting.symbols
    listed = (("t", (symbols.t,)), ("q", symbols.q), ("v", symbols.v), ("u", symbols.u))
    arrays = (*listed, ("p", symbols.p))
    return {x: (array, k) for array, group in arrays for k, x in enumerate(group)}


def _power(setting: Setting) -> tuple[Expr, str]:
    """The power of what is not stored, or why the balance of energy cannot be kept."""
    if {*symbols_of([_potential(setting)])} & {*setting.symbols.u}:
        return ZERO, "what is stored depends on an input"
    try:
        return unstored_power(setting), ""
    except DerivationError as error:
        return ZERO, error.message.rstrip(".")


def _labels(tree: Tree) -> dict[str, tuple[Label, ...]]:
    mechanism = tree.mechanism
    return {
        "q": tree.position_labels(),
        "v": tree.velocity_labels(),
        "u": tuple(Label(x.name, x.unit) for x in mechanism.inputs),
        "p": tuple(Label(x.name, x.unit) for x in mechanism.parameters),
        "lam": (),
        "outputs": tuple(Label(x.name, x.unit) for x in mechanism.outputs),
        "force": (),
    }
