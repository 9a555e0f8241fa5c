"""sweeps: the recursions over a tree as formulas of one node, ready to be looped.

For trees of many bodies: what is unrolled grows with the bodies, what is looped does not. The
formulas are those of recursion.py and articulated.py, called once for each class of nodes.

Public names: Sweeps, sweeps, Blocks, blocks_of, known_values, gravity_of, node_table, node_places,
local_places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.errors import DerivationError
from liaison.expr import Expr, symbol
from liaison.model import Field, JointType
from liaison.spatial.arrays import Array, array, zeros
from liaison.tree import Node, Tree, merged

from .blocks import STATE, BlockClass, ClosureClass, block_class, closure_classes, keeping_class
from .classes import Grouping, above, constant, grouped, number, own
from .recursions import Recursion, forward_recursion, inverse_recursion


@final
@dataclass(frozen=True, slots=True)
class Sweeps:
    """A tree as classes of nodes, tables of indices, and recursions over both.

    Attributes:
        name: of the mechanism.
        classes: what the nodes of each class have in common, in words.
        nodes: a row for each node, parents first: class, parent (−1 the ground), starts of its
            q, of its v and of its constants, and nv.
        constants: of all nodes, one after another.
        inputs: symbol of the formulas -> (array, index). q and v are the joint's, p the node's
            constants, u its own record, x its parent's.
        inverse: τ of (q, v, v̇).
        forward: v̇ of (q, v, τ).
    """

    name: str
    nq: int
    nv: int
    classes: tuple[str, ...]
    nodes: np.ndarray[Any, np.dtype[np.int64]]
    constants: np.ndarray[Any, np.dtype[np.float64]]
    inputs: Mapping[Expr, tuple[str, int]]
    inverse: Recursion
    forward: Recursion


def sweeps(tree: Tree, values: Mapping[str, float] | None = None) -> Sweeps:
    """Inverse and forward dynamics of a tree, to be run as loops over its nodes.

    Args:
        tree: without closures, relations and loads other than gravity: what else acts on it is
            given as τ.
        values: of parameters, where they differ from the description's.

    Raises:
        DerivationError: the tree has what the sweeps do not know, or a number is unknown.
    """
    check_plain(tree)
    known = known_values(tree, values)
    carried = merged(tree)
    if not carried.nodes:
        raise DerivationError(f"nothing moves in {tree.mechanism.name!r}: there is no sweep.")
    grouping = grouped(carried, known)
    gravity = gravity_of(carried, known)
    inverse = inverse_recursion(grouping.classes, gravity)
    forward = forward_recursion(grouping.classes, gravity)
    return Sweeps(
        name=tree.mechanism.name,
        nq=tree.nq,
        nv=tree.nv,
        classes=tuple(_words(one.joint.name, one.is_reversed) for one in grouping.classes),
        nodes=node_table(carried, grouping),
        constants=grouping.constants,
        inputs=MappingProxyType(
            node_places(grouping, max(len(inverse.ground), len(forward.ground)))
        ),
        inverse=inverse,
        forward=forward,
    )


@final
@dataclass(frozen=True, slots=True)
class Blocks:
    """A closed mechanism as classes of nodes and closures, with tables: see sweep_blocks.py.

    Attributes:
        name: of the mechanism.
        nq: positions.
        nv: velocities.
        nodes: as in `Sweeps`.
        constants: of all nodes.
        blocks: what the nodes of each class compute.
        inputs: where their symbols are found.
        local_inputs: the same of q ⊞ ξ and ξ̇.
        needs_lending: nodes whose own inertia is singular (thin rods).
        kept: nodes at the end of `nodes` that only keep coordinates of joints that are cut.
        closures: a row for each: class, first node, second node, starts of its constants and of
            the q and v it keeps.
        closure_constants: of all closures.
        closing: what the closures of each class compute.
        closure_inputs: where their symbols are found.
        ground: the state of the ground.
    """

    name: str
    nq: int
    nv: int
    nodes: np.ndarray[Any, np.dtype[np.int64]]
    constants: np.ndarray[Any, np.dtype[np.float64]]
    blocks: tuple[BlockClass, ...]
    inputs: Mapping[Expr, tuple[str, int]]
    local_inputs: Mapping[Expr, tuple[str, int]]
    needs_lending: tuple[bool, ...]
    kept: int
    closures: np.ndarray[Any, np.dtype[np.int64]]
    closure_constants: np.ndarray[Any, np.dtype[np.float64]]
    closing: tuple[ClosureClass, ...]
    closure_inputs: Mapping[Expr, tuple[str, int]]
    ground: tuple[float, ...]


def blocks_of(
    tree: Tree, values: Mapping[str, float] | None = None, *, with_rest: bool = False
) -> Blocks:
    """A tree and its closures, to be run as loops over bodies and joints.

    Args:
        tree: of the mechanism.
        values: of parameters, where they differ from the description's.
        with_rest: loads and relations are left to who asks (`rest_of`), not rejected.

    Raises:
        DerivationError: the mechanism has what the loops do not know, or a number is unknown.
    """
    if not with_rest:
        check_plain(tree, with_closures=True)
    known = known_values(tree, values)
    carried = merged(tree)
    if not carried.nodes:
        raise DerivationError(f"nothing moves in {tree.mechanism.name!r}: there is no sweep.")
    kept = _kept(carried, known)
    grouping = grouped(carried, known)
    closed = closure_classes(carried, known)
    gravity = gravity_of(carried, known)
    upright = [1, 0, 0, 0, 1, 0, 0, 0, 1, *[0] * 12, *(-float(x) for x in gravity)]
    table, constants = _closure_table(carried, closed)
    return Blocks(
        name=tree.mechanism.name,
        nq=tree.nq,
        nv=tree.nv,
        nodes=node_table(carried, grouping),
        constants=grouping.constants,
        blocks=_block_classes(grouping, len(carried.nodes) - kept),
        inputs=MappingProxyType(node_places(grouping, STATE)),
        local_inputs=MappingProxyType(local_places(grouping)),
        needs_lending=tuple(_is_singular(node, known) for node in carried.nodes),
        kept=kept,
        closures=table,
        closure_constants=constants,
        closing=closed,
        closure_inputs=MappingProxyType(_closure_places(closed)),
        ground=tuple(map(float, upright)),
    )


def _block_classes(grouping: Grouping, bodies: int) -> tuple[BlockClass, ...]:
    """Formulas of all classes; of one that only keeps coordinates, how these move."""
    moving = {*grouping.members[:bodies]}
    return tuple(
        block_class(one) if c in moving else keeping_class(one)
        for c, one in enumerate(grouping.classes)
    )


def local_places(
    grouping: Grouping, further: Sequence[JointType] = ()
) -> dict[Expr, tuple[str, int]]:
    """Addresses of q, ξ and v of one joint, of a class or further ones."""
    joints = (*(one.joint for one in grouping.classes), *further)
    most = max(max(joint.nq, joint.nv) for joint in joints)
    names = {"q": "q", "v": "v", "xi": "x"}
    return {symbol(f"{name} {k}"): (array, k) for name, array in names.items() for k in range(most)}


def _kept(tree: Tree, values: Mapping[Expr, Any]) -> int:
    """How many nodes, the last ones, keep coordinates; every other one must have a mass."""
    ghosts = {closure.ghost for closure in tree.closures} - {None}
    bodies = len(tree.nodes) - len(ghosts)
    assert ghosts == set(range(bodies, len(tree.nodes))), "ghosts come last"
    for node in tree.nodes[:bodies]:
        if "'" in node.body:
            raise DerivationError(
                f"the joint {node.joint.name!r} ({node.joint.type.name}) has no closed form to "
                "be cut by, which looped loops need.",
                hint="Derive the equations by newton_euler.",
            )
        if not float(number(node.inertia[0], values)) > 0.0:
            raise DerivationError(
                f"the body {node.body!r} has no mass, which looped loops do not know.",
                hint="Give it a small mass, or derive the equations by newton_euler.",
            )
    return len(ghosts)


def _closure_places(closed: tuple[ClosureClass, ...]) -> dict[Expr, tuple[str, int]]:
    """Addresses of the symbols of closures: states, constants, kept coordinates."""
    widest = max((len(c) for one in closed for c in one.constants), default=0)
    places: dict[Expr, tuple[str, int]] = {constant(k): ("u", k) for k in range(widest)}
    for k in range(STATE):
        places |= {symbol(f"first {k}"): ("q", k), symbol(f"second {k}"): ("v", k)}
    for k in range(7 * any(one.ties for one in closed) + 6):  # a free body by its matrix: 12
        places |= {symbol(f"kept q {k}"): ("p", k), symbol(f"kept v {k}"): ("x", k)}
    return places


def _closure_table(
    tree: Tree, closed: tuple[ClosureClass, ...]
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.float64]]]:
    """A row for each closure in the tree's order, and the constants of all."""
    rows: dict[int, tuple[int, ...]] = {}
    numbers: list[float] = []
    for c, one in enumerate(closed):
        for k, own_numbers in zip(one.members, one.constants, strict=True):
            closure = tree.closures[k]
            ends = closure.predecessor[0], closure.successor[0]
            ghost = None if closure.ghost is None else tree.nodes[closure.ghost]
            starts = (0, 0) if ghost is None else (ghost.q.start, ghost.v.start)
            rows[k] = (c, *ends, len(numbers), *starts)
            numbers += own_numbers
    listed = np.array([rows[k] for k in sorted(rows)], dtype=np.int64).reshape(-1, 6)
    return listed, np.array([*numbers, 0.0])


def _is_singular(node: Node, values: Mapping[Expr, Any]) -> bool:
    """The six by six inertia of a body has no inverse, or hardly."""
    m, h, I = node.inertia
    mass = float(number(m, values))
    moment = np.array([[float(number(x, values)) for x in row] for row in I])
    arm = np.array([float(number(x, values)) for x in h])
    if mass <= 0.0:
        return True
    tensor = moment - (arm @ arm * np.eye(3) - np.outer(arm, arm)) / mass
    spread = np.linalg.eigvalsh(tensor)
    return bool(spread[0] <= 1e-9 * max(spread[-1], 1e-300))


def known_values(tree: Tree, values: Mapping[str, float] | None) -> dict[Expr, Any]:
    """Parameters by their symbols."""
    known = {symbol(x.name): x.value for x in tree.mechanism.parameters}
    known |= {symbol(name): value for name, value in (values or {}).items()}
    return {name: value for name, value in known.items() if value is not None}


def check_plain(tree: Tree, *, with_closures: bool = False) -> None:
    """Raises an error for closures, relations and loads other than gravity (not looped)."""
    mechanism = tree.mechanism
    closed = [] if with_closures else [closure.joint.name for closure in tree.closures]
    related = [constraint.name for constraint in mechanism.constraints]
    loaded = [force.name for force in mechanism.forces if not isinstance(force, Field)]
    counts = {"joints that close loops": closed, "relations": related, "loads": loaded}
    for what, names in counts.items():
        if names:
            raise DerivationError(
                f"{mechanism.name!r} has {what} ({', '.join(names[:5])}), "
                "which looped sweeps do not know.",
                hint="Derive its equations by newton_euler; or leave them out here and give "
                "what they do as τ.",
            )


def gravity_of(tree: Tree, values: Mapping[Expr, Any]) -> Array:
    """The acceleration of free fall [m/s²]."""
    total = zeros(3)
    for force in tree.mechanism.forces:
        if isinstance(force, Field):
            total = total + array([number(tree.numbers(x), values) for x in force.vector])
    return total


def _words(joint: str, is_reversed: bool) -> str:
    return f"{joint} reversed" if is_reversed else joint


def node_table(tree: Tree, grouping: Grouping) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A row for each node: class, parent, starts of its q, v and constants, nv."""
    rows = [
        (c, node.parent, node.q.start, node.v.start, start, node.joint.type.nv)
        for c, node, start in zip(grouping.members, tree.nodes, grouping.starts, strict=True)
    ]
    return np.array(rows, dtype=np.int64)


def node_places(grouping: Grouping, record: int) -> dict[Expr, tuple[str, int]]:
    """Addresses of the symbols of the formulas when an entry runs."""
    widest = max(len(one.varying) for one in grouping.classes)
    nq = max(one.joint.nq for one in grouping.classes)
    nv = max(one.joint.nv for one in grouping.classes)
    places = {symbol(f"q {k}"): ("q", k) for k in range(nq)}
    places |= {symbol(f"v {k}"): ("v", k) for k in range(nv)}
    places |= {constant(k): ("p", k) for k in range(widest)}
    for k in range(record):
        places |= {own(k): ("u", k), above(k): ("x", k)}
    return places
