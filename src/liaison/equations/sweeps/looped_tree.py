"""A tree of many bodies as formulas of one node of each class; its loads are written out.

What `tree_kernel` runs: recursions over the nodes in the coordinates of the tree itself, and the
formulas of what acts along these coordinates, of outputs and events.

Public names: LoopedTree, looped_tree, WrittenOut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.equations.equations import Chart
from liaison.equations.setting import Setting, charts_of
from liaison.errors import DerivationError
from liaison.expr import (
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
    Field,
    Mechanism,
    OfMechanism,
)
from liaison.spatial.arrays import Array
from liaison.tree import Node, Tree
from liaison.tree.memory import is_state
from liaison.tree.tree import identity
from liaison.units import Label

from .blocks import local_steps
from .body_loads import (
    BodyLoads,
    body_loads,
    is_of_coordinates,
    is_on_bodies,
    potential_of,
    power_of,
    symbol_places,
)
from .classes import Grouping, grouped, number
from .cuts import Cuts, cuts_of
from .implicit import LoopedLoads, looped_loads
from .recursions import Recursion, forward_recursion, inverse_recursion, motion_recursion
from .rest import RestRow, check_carried, short_rows
from .sides import LoopedSides, looped_sides
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
class LoopedTree:
    """A tree as classes of nodes, tables, and recursions over both.

    Attributes:
        mechanism: with the values of parameters that node constants have.
        nq: positions.
        nv: velocities.
        nodes: as in `Sweeps`; welds are nodes, too.
        kept: nodes at the end, behind states of loads, that only keep coordinates of cut joints.
        constants: of all nodes, one after another.
        rotors: velocity -> inertia that it moves besides bodies.
        inputs: symbol of the formulas of a node -> (array, index).
        local_inputs: the same of q ⊞ ξ and ξ̇.
        forward: v̇ of (q, v, τ).
        inverse: wrenches of (q, v, v̇).
        motion: of the nodes, in the ground's axes.
        retract: q ⊞ ξ of each class; behind them of joints whose coordinates are kept.
        rate: ξ̇ of each class.
        gravity: [m/s²].
        frames: of bodies: node and pose in it, 13 numbers each.
        markers: of joints, by the order of nodes: node and pose of the successor's marker.
        bodies: names.
        joints: names; nodes behind theirs are states of loads.
        written: loads along coordinates, outputs, events.
        pushed: loads on bodies; None where there are none.
        charts: kinds of coordinates.
        labels: of q, v, u, p, outputs.
        cuts: joints that close loops, and relations; None where there is neither, and nothing
            holds unilaterally.
        sides: what holds unilaterally; None where nothing does.
        implicit: loads that Moreau's steps take at their end; None where none are taken.
        neutral: positions where every joint is neutral.
    """

    mechanism: Mechanism
    nq: int
    nv: int
    nodes: Ints
    kept: int
    constants: Numbers
    rotors: Mapping[int, float]
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
    cuts: Cuts | None
    sides: LoopedSides | None
    implicit: LoopedLoads | None
    neutral: tuple[float, ...]

    @property
    def identity(self) -> str:
        """A word that is the same for the same mechanism, in every process."""
        listed = [x for sweep in self.forward.sweeps for one in sweep.formulas for x in one]
        listed += [x for one in (*self.retract, *self.rate) for x in one]
        listed += [*self.written.tau.values(), *(event[1] for event in self.written.events)]
        digest = hashlib.sha256(f"{[*self.written.tau]} {fingerprint(listed)}".encode())
        tables = [self.nodes, self.constants, np.array(self.gravity)]
        if self.pushed is not None:
            digest.update(
                fingerprint([x for one in self.pushed.classes for x in one.wrenches]).encode()
            )
            tables += [np.array(self.pushed.bodies), self.frames]
            tables += [self.pushed.table, self.pushed.constants]
        if self.cuts is not None:
            digest.update(
                fingerprint([x for one in self.cuts.classes for x in one.formulas]).encode()
            )
            tables += [self.cuts.table, self.cuts.constants]
            digest.update(_word(self.cuts.relations))
        if self.sides is not None:
            formulas = [x for one in self.sides.cuts.classes for x in one.formulas]
            digest.update(f"{self.sides.words} {fingerprint(formulas)}".encode())
            digest.update(f"{fingerprint(self.sides.laws)}".encode())
            tables += [self.sides.cuts.table, self.sides.cuts.constants]
            digest.update(_word(self.sides.cuts.relations))
        for table in tables:
            digest.update(table.tobytes())
        return digest.hexdigest()


def _word(relations: Sequence[RestRow]) -> bytes:
    """A word for relations; empty of none."""
    formulas = [y for x in relations for y in (x.second, x.rate, *x.G.values())]
    formulas += [x.phi for x in relations if x.phi is not None]
    return f"{[[*x.G] for x in relations]} {fingerprint(formulas)}".encode() if formulas else b""


def looped_tree(tree: Tree, *, may_bend: bool = False, is_stepped: bool = False) -> LoopedTree:
    """A tree of many bodies and its cut joints, ready for loops over its nodes.

    Args:
        tree: its relations are linear in rates; loads act along coordinates, or on bodies by laws
            that name no coordinate; contacts are of shapes that formulas know.
        may_bend: loads on bodies may bend or jump with the state: who runs them takes steps across.
        is_stepped: with what Moreau's steps ask for: loads that follow what they act along.

    Raises:
        DerivationError: the mechanism has what the loops do not know, or a number is unknown.
    """
    check_loopable(tree)
    known = known_values(tree, None)
    moving, keeping = _moving_and_keeping(tree)
    along, on_bodies = _parted(tree.mechanism)
    setting = Setting(_without_loads_on_bodies(tree, along) if on_bodies else tree)
    grouping = grouped(moving, known, rotors := _rotors(setting, known))
    gravity = gravity_of(tree, known)
    recursions = _recursions(tree, grouping, gravity)
    further = [*dict.fromkeys(x.joint.type for x in keeping)]
    local = [local_steps(x) for x in (*(one.joint for one in grouping.classes), *further)]
    bodies = tuple(body.name for body in tree.mechanism.bodies[1:])
    return LoopedTree(
        mechanism=tree.mechanism,
        nq=tree.nq,
        nv=tree.nv,
        nodes=np.vstack([node_table(moving, grouping), _kept_table(keeping, grouping, further)]),
        kept=len(keeping),
        constants=grouping.constants,
        rotors=MappingProxyType(rotors),
        inputs=MappingProxyType(_places(grouping, recursions)),
        local_inputs=MappingProxyType(local_places(grouping, further)),
        forward=recursions[0],
        inverse=recursions[1],
        motion=recursions[2],
        retract=tuple(retract for retract, _ in local),
        rate=tuple(rate for _, rate in local),
        gravity=tuple(float(x) for x in gravity),
        frames=_framed([tree.frames[name] for name in bodies], known),
        markers=_framed(_markers(moving), known),
        bodies=bodies,
        joints=tuple(node.joint.name for node in moving.nodes if not is_state(node.joint)),
        written=_written(setting),
        pushed=(body_loads(tree.mechanism, on_bodies, may_bend=may_bend) if on_bodies else None),
        charts=tuple(chart for node in tree.nodes for chart in charts_of(node)),
        labels=MappingProxyType(_labels(tree)),
        cuts=cuts_of(tree, known, short_rows(setting)) if is_stepped or _has_cuts(tree) else None,
        sides=looped_sides(setting, known) if is_stepped or tree.mechanism.contacts else None,
        implicit=looped_loads(Setting(tree), known) if is_stepped else None,
        neutral=tuple(float(x) for node in tree.nodes for x in node.joint.type.neutral()),
    )


def _moving_and_keeping(tree: Tree) -> tuple[Tree, list[Node]]:
    """The tree without nodes that only keep coordinates of cut joints; these nodes."""
    ghosts = {x.ghost for x in tree.closures if x.ghost is not None}
    moving = tuple(x for i, x in enumerate(tree.nodes) if i not in ghosts)
    return replace(tree, nodes=moving), [x for i, x in enumerate(tree.nodes) if i in ghosts]


def _has_cuts(tree: Tree) -> bool:
    """Whether joints close loops, or relations hold, or something holds unilaterally."""
    mechanism = tree.mechanism
    return bool(tree.closures or mechanism.constraints or mechanism.contacts)


def _recursions(
    tree: Tree, grouping: Grouping, gravity: Array
) -> tuple[Recursion, Recursion, Recursion]:
    """Forward and inverse dynamics, and motions."""
    forward = forward_recursion(grouping.classes, gravity)
    check_smooth(tree, [x for sweep in forward.sweeps for one in sweep.formulas for x in one])
    inverse = inverse_recursion(grouping.classes, gravity)
    return forward, inverse, motion_recursion(grouping.classes)


def _kept_table(keeping: Sequence[Node], grouping: Grouping, further: Sequence[Any]) -> Ints:
    """Rows of nodes that only keep coordinates."""
    first = len(grouping.classes)
    rows = [
        (first + further.index(x.joint.type), -1, x.q.start, x.v.start, 0, x.joint.type.nv)
        for x in keeping
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 6)


def check_loopable(tree: Tree) -> None:
    """Raises an error for joints with rows of their own, and where nothing moves."""
    ghosts = {x.ghost for x in tree.closures if x.ghost is not None}
    for i, node in enumerate(tree.nodes):
        if is_state(node.joint):
            continue
        if node.joint.type.OWN_ROWS or ("'" in node.body and i not in ghosts):
            raise DerivationError(
                f"the joint {node.joint.name!r} ({node.joint.type.name}) has rows of its own, "
                "which loops over nodes do not know.",
                hint="Derive its equations by newton_euler.",
            )
    if not tree.nv:
        raise DerivationError(f"nothing moves in {tree.mechanism.name!r}: there is no sweep.")


def _parted(mechanism: Mechanism) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Loads along coordinates and gravity; loads on bodies.

    Raises:
        DerivationError: a load on bodies depends on coordinates as well, or counts turns.
    """
    named = {*mechanism.coordinates, *mechanism.speeds}
    along, on_bodies = [], []
    for force in mechanism.forces:
        measure = force.along() if isinstance(force, AlongMeasure) else None
        if is_of_coordinates(measure) or isinstance(force, Field | OfMechanism):
            along.append(force)
        elif is_on_bodies(force, named):
            on_bodies.append(force)
    return tuple(along), tuple(on_bodies)


def _rotors(setting: Setting, known: Mapping[Expr, Any]) -> dict[int, float]:
    """Velocity -> inertia that it moves besides bodies: of rotors, and 1 of states of loads.

    Raises:
        DerivationError: a potential of velocities is no energy of rotors, or a rotor turns with a
            coordinate that a cut joint keeps.
    """
    rotors: dict[int, float] = dict.fromkeys(setting.states, 1.0)
    moving = {setting.symbols.t, *setting.symbols.q, *setting.symbols.v, *setting.symbols.u}
    for load in setting.loads:
        entries = dict(load.inertia)
        varies = not moving.isdisjoint(symbols_of([*entries.values()]))
        bends = load.rate_potential is not None and bool(load.tau)
        if varies or any(i != j for i, j in entries) or bends:
            raise DerivationError(
                f"the potential {load.name!r} depends on velocities, and is no energy of rotors: "
                "loops over nodes do not know it.",
                hint="Derive the equations by newton_euler.",
            )
        for (i, _), entry in entries.items():
            rotors[i] = rotors.get(i, 0.0) + float(number(entry, known))
    check_carried(setting.tree, rotors, "the inertia of a rotor")
    return rotors


def _without_loads_on_bodies(tree: Tree, along: tuple[Any, ...]) -> Tree:
    return replace(tree, mechanism=replace(tree.mechanism, forces=along))


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
    tau = {j: as_expr(x) for j, x in enumerate(setting.applied()) if not vanishes(x)}
    tau |= setting.states
    power, unwatched = power_of(setting)
    return WrittenOut(
        tau=MappingProxyType(tau),
        potential=potential_of(setting),
        power=power,
        unwatched=unwatched,
        outputs=MappingProxyType({x.name: setting.expressed(x.formula) for x in mechanism.outputs}),
        events=tuple(
            (x.name, setting.expressed(x.formula), x.direction, x.action) for x in mechanism.events
        ),
        places=MappingProxyType(symbol_places(setting)),
    )


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
