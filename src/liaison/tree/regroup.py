"""Equivalent trees: welds merged, and inertia that a joint cannot feel moved to its carrier.

Public names: merged, regrouped.

Source: RBDA §9.7 (inertial parameters); the regrouping is Khalil's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from liaison.model import Prismatic, Revolute
from liaison.spatial.arrays import array, minus, plus, zeros
from liaison.spatial.plucker import compose, move_inertia

from .tree import GROUND, Closure, Inertia, Node, Transform, Tree, identity


def merged(tree: Tree) -> Tree:
    """The same tree without the nodes that cannot move: their inertia goes to their carrier.

    Coordinates and closures keep their places. Used where reactions inside a welded group are
    not asked for.
    """
    if all(node.joint.type.nv for node in tree.nodes):
        return tree
    place: dict[int, tuple[int, Transform]] = {GROUND: (GROUND, identity())}
    nodes: list[Node] = []
    for i, node in enumerate(tree.nodes):
        parent, X = place[node.parent]
        moved = replace(node, parent=parent, X_PJ=compose(*X, *node.X_PJ))
        if node.joint.type.nv:
            place[i] = (len(nodes), identity())
            nodes.append(moved)
            continue
        place[i] = (parent, moved.X_PJ)
        if parent != GROUND:
            total = added(nodes[parent].inertia, move_inertia(*moved.X_PJ, *node.inertia))
            nodes[parent] = replace(nodes[parent], inertia=total)

    def moved_to(where: tuple[int, Transform]) -> tuple[int, Transform]:
        node, X = place[where[0]]
        return node, compose(*X, *where[1])

    def moved_closure(closure: Closure) -> Closure:
        return replace(
            closure,
            predecessor=moved_to(closure.predecessor),
            successor=moved_to(closure.successor),
            ghost=None if closure.ghost is None else place[closure.ghost][0],
        )

    return replace(
        tree,
        nodes=tuple(nodes),
        closures=tuple(map(moved_closure, tree.closures)),
        frames=MappingProxyType({body: moved_to(where) for body, where in tree.frames.items()}),
    )


def regrouped(tree: Tree) -> Tree:
    """The same τ, M and forward dynamics from fewer numbers.

    What turning about a revolute joint's z does not change — m, the arm along z, and a moment of
    inertia I_yy about both x and y — moves with the carrier just as well. A slider turns as its
    carrier does, so all of its I may. Single bodies lose their meaning: energies and reactions
    need the tree as it was.
    """
    nodes = list(tree.nodes)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        unfelt = _unfelt(node)
        if unfelt is None:
            continue
        nodes[i] = replace(node, inertia=_less(node.inertia, unfelt))
        if node.parent != GROUND:
            carrier = nodes[node.parent]
            total = added(carrier.inertia, move_inertia(*node.X_PJ, *unfelt))
            nodes[node.parent] = replace(carrier, inertia=total)
    return replace(tree, nodes=tuple(nodes))


def _unfelt(node: Node) -> Inertia | None:
    """The part of a node's inertia that its carrier may hold, in the joint's frame at q = 0."""
    m, h, I = node.inertia
    if isinstance(node.joint.type, Revolute):
        J = I[1, 1]
        return m, array([0, 0, h[2]]), array([[J, 0, 0], [0, J, 0], [0, 0, 0]])
    if isinstance(node.joint.type, Prismatic):
        return 0, zeros(3), I
    return None


def added(a: Inertia, b: Inertia) -> Inertia:
    """The inertia of two bodies held together, in one frame."""
    return _combined(plus, a, b)


def _less(a: Inertia, b: Inertia) -> Inertia:
    """The difference of two inertias; equal parts leave an exact 0."""
    return _combined(_difference, a, b)


def _combined(operation: Callable[[Any, Any], Any], a: Inertia, b: Inertia) -> Inertia:
    flat = [operation(x, y) for x, y in zip(a[2].flat, b[2].flat, strict=True)]
    return (
        operation(a[0], b[0]),
        array([operation(x, y) for x, y in zip(a[1], b[1], strict=True)]),
        array(flat).reshape(3, 3),
    )


def _difference(x: Any, y: Any) -> Any:
    left = minus(x, y)
    return 0 if left.__class__ is float and left == 0.0 else left
