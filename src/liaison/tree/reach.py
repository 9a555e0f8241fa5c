"""too_short: a loop of pivots whose parts cannot reach each other, by the inequality of polygons.

A loop all of whose joints hold a point of one body to a point of the other is a polygon: its sides
are distances between two such points of a body. None may be longer than all others together. What
fails this is proved impossible; what passes need not close.

Public names: too_short.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from liaison.errors import AssemblyError
from liaison.expr import Expr, as_expr, evaluate
from liaison.spatial.arrays import Array, minus

from .closure import pinned, row_place
from .tree import GROUND, Closure, Tree

MARGIN = 1e-6
"""Part of a side that may be missing: residuals of closures have a tolerance, too."""

Side = tuple[Array, str, str, str]  # the vector, the body, and the joints at its ends


def too_short(tree: Tree, fixed: Mapping[Expr, float]) -> AssemblyError | None:
    """The error for the first loop with a side that is longer than all others together.

    Args:
        tree: of the mechanism.
        fixed: numbers of what does not move: parameters, and imposed motions at an instant.
    """
    for closure in tree.closures:
        sides = list(_sides(tree, closure)) if _is_polygon(tree, closure) else []
        if not sides:
            continue
        entries = [as_expr(x) for vector, *_ in sides for x in vector]
        numbers = iter([float(x) for x in evaluate(entries, fixed)])
        lengths = [math.hypot(next(numbers), next(numbers), next(numbers)) for _ in sides]
        longest = max(range(len(sides)), key=lengths.__getitem__)
        reach = math.fsum(lengths) - lengths[longest]
        if reach < lengths[longest] * (1.0 - MARGIN):
            return _error(tree, closure, sides[longest], lengths[longest], reach)
    return None


def _is_polygon(tree: Tree, closure: Closure) -> bool:
    """Every joint of the loop holds a point to a point."""
    a, b = closure.predecessor[0], closure.successor[0]
    root = tree.common_ancestor(a, b)
    loop = [tree.nodes[i].joint for i in (*tree.path(a, root), *tree.path(b, root))]
    return all(pinned(x.type) == 3 for x in (closure.joint, *loop))


def _sides(tree: Tree, closure: Closure) -> Iterator[Side]:
    """From point to point around the loop: up from both ends of the cut joint, then across."""
    root = tree.common_ancestor(closure.predecessor[0], closure.successor[0])
    ends = []
    for node, (_, point) in (closure.predecessor, closure.successor):
        name = closure.joint.name
        for i in tree.path(node, root):
            here = tree.nodes[i]
            yield point, here.body, here.joint.name, name
            point, name = here.X_PJ[1], here.joint.name
        ends.append((point, name))
    (first, one), (second, other) = ends
    body = "ground" if root == GROUND else tree.nodes[root].body
    yield minus(second, first), body, one, other


def _error(tree: Tree, closure: Closure, side: Side, length: float, reach: float) -> AssemblyError:
    _, body, one, other = side
    return AssemblyError(
        f"the loop through {closure.joint.name!r} cannot be assembled: on {body!r}, {one!r} and "
        f"{other!r} are {length:.6g} m apart, and the other parts of the loop reach {reach:.6g} m.",
        hint="Check the lengths and the markers of these joints.",
        place=row_place(tree.mechanism, closure.joint.name),
    )
