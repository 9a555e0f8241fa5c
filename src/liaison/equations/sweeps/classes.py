"""Classes of equal nodes: one joint type and direction, each derived once on symbols.

What all nodes of a class share (structural zeros, the numbers of the joint type, often a mass) is
folded into its formulas; what differs from node to node is read from a table of constants.

Public names: NodeClass, Grouping, grouped, number, own, above, constant,
lower_triangle, symmetric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, substitute, symbol, symbols_of
from liaison.model import JointType
from liaison.spatial.arrays import Array, Entries, array, is_zero, vector
from liaison.tree import GROUND, Inertia, Kinematics, Node, Tree, as_float

from .recursion import Link, link

LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
"""Places of a symmetric 3 × 3 matrix, row by row."""

BODY = 22
"""Numbers of a node before those of its rotors."""

NO_ROTORS: Mapping[int, float] = MappingProxyType({})


@final
@dataclass(frozen=True, slots=True)
class NodeClass:
    """Nodes with one formula: their joint, and the node as a function of symbols."""

    joint: JointType
    is_reversed: bool
    link: Link  # on the symbols `q 0`, …, `v 0`, … and `constant 0`, …
    varying: tuple[int, ...]  # which numbers of a node are constants to be read


@final
@dataclass(frozen=True, slots=True)
class Grouping:
    """Classes, the class of each node, and each node's constants one after another."""

    classes: tuple[NodeClass, ...]
    members: tuple[int, ...]
    starts: tuple[int, ...]
    constants: np.ndarray[Any, np.dtype[np.float64]]


def own(k: int) -> Expr:
    """Number k of a node's own record."""
    return symbol(f"own {k}")


def above(k: int) -> Expr:
    """Number k of the record of a node's parent."""
    return symbol(f"parent {k}")


def constant(k: int) -> Expr:
    """Constant k of a node."""
    return symbol(f"constant {k}")


def grouped(
    tree: Tree, values: Mapping[Expr, Any], rotors: Mapping[int, float] = NO_ROTORS
) -> Grouping:
    """The nodes of a tree by class, parameters replaced by their values.

    Args:
        tree: of a mechanism.
        values: of parameters.
        rotors: velocity -> inertia that it moves besides bodies, where there is some.
    """
    own = [[rotors.get(j, 0) for j in range(node.v.start, node.v.stop)] for node in tree.nodes]
    numbers = [
        [number(x, values) for x in (*_flat(node), *more)]
        for node, more in zip(tree.nodes, own, strict=True)
    ]
    kinds = [
        (node.joint.type.mapped(lambda x: number(x, values)), node.is_reversed)
        for node in tree.nodes
    ]
    order = {kind: c for c, kind in enumerate(dict.fromkeys(kinds))}
    members = tuple(order[kind] for kind in kinds)
    rows: list[list[int]] = [[] for _ in order]
    for i, c in enumerate(members):
        rows[c].append(i)
    classes = tuple(
        _class(tree, kind, tree.nodes[listed[0]], [numbers[i] for i in listed])
        for kind, listed in zip(order, rows, strict=True)
    )
    read = [[numbers[i][k] for k in classes[c].varying] for i, c in enumerate(members)]
    starts = np.cumsum([0, *map(len, read)])[:-1]
    flat = np.array([x for row in read for x in row], dtype=float)
    return Grouping(classes, members, tuple(int(x) for x in starts), flat)


def _class(
    tree: Tree, kind: tuple[JointType, bool], node: Node, rows: Sequence[Sequence[Any]]
) -> NodeClass:
    """The class of these nodes: its formulas on symbols, its shared numbers folded."""
    columns = list(zip(*rows, strict=True))
    varying = tuple(k for k, column in enumerate(columns) if len(set(column)) > 1)
    entries = [column[0] for column in columns]
    for place, k in enumerate(varying):
        entries[k] = constant(place)
    joint = kind[0]
    alike = replace(
        node,
        joint=replace(node.joint, type=joint),
        parent=GROUND,
        X_PJ=(array(entries[:9]).reshape(3, 3), array(entries[9:12])),
        inertia=_inertia(entries[12:BODY]),
        q=slice(0, joint.nq),
        v=slice(0, joint.nv),
    )
    q = vector(symbol(f"q {k}") for k in range(joint.nq))
    v = vector(symbol(f"v {k}") for k in range(joint.nv))
    alone = Kinematics(replace(tree, nodes=(alike,), closures=()), q, v)
    one = link(alone, 0)
    if any(not is_zero(x) for x in entries[BODY:]):
        one = one._replace(rotors=tuple(entries[BODY:]))
    return NodeClass(joint, kind[1], one, varying)


def _flat(node: Node) -> list[Any]:
    """The 22 numbers of a node: R and p of X_PJ, then m, m c, and I by its lower triangle."""
    R, p = node.X_PJ
    m, h, I = node.inertia
    return [*R.flat, *p, m, *h, *lower_triangle(I)]


def _inertia(entries: Sequence[Any]) -> Inertia:
    return entries[0], array(entries[1:4]), symmetric(entries[4:])


def lower_triangle(X: Array) -> list[Any]:
    """The six entries that a symmetric matrix has."""
    return [X[place] for place in LOWER]


def symmetric(entries: Entries) -> Array:
    """The symmetric matrix of these six entries."""
    places = dict(zip(LOWER, entries, strict=True))
    return array([[places[max(i, j), min(i, j)] for j in range(3)] for i in range(3)])


def number(x: Any, values: Mapping[Expr, Any]) -> Any:
    """The number that x is where parameters have these values."""
    if not isinstance(x, Expr):
        return as_float(x)
    value = substitute([x], {s: as_expr(values[s]) for s in symbols_of([x]) if s in values})[0]
    unknown = symbols_of([value])
    if unknown:
        raise DerivationError(
            f"{unknown[0].name!r} has no value, and looped sweeps are made for given numbers.",
            hint="Give the parameter a value.",
        )
    return as_float(value)
