"""What columns of derivatives cost before they are derived: operations, counted on the graph.

A direction that moves both factors of a product costs three operations there, one that moves one
factor costs one; whether a block of columns moves a node is a bit of a number, so that one pass
over the graph counts all blocks.

Public names: directional_cost, elimination_cost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from liaison.expr import Expr, topological

ONE_MOVES = {"add": 0, "sub": 0, "mul": 1, "div": 1, "neg": 1}
"""Operations of a derivative where one argument moves; of any other operation, 2."""

BOTH_MOVE = {"add": 1, "sub": 1, "mul": 3, "div": 4}


def directional_cost(formulas: Sequence[Expr], blocks: Mapping[Expr, int]) -> int:
    """Operations of the derivatives of formulas along all blocks.

    Args:
        formulas: of which.
        blocks: symbol -> the blocks whose columns move it, a bit for each.
    """
    moved: dict[Expr, int] = {}
    total = 0
    for node in topological(formulas):
        if not node.args:
            moved[node] = blocks.get(node, 0)
            continue
        bits = [moved[arg] for arg in node.args]
        some, all_of_them = bits[0], bits[0] if len(bits) > 1 else 0
        for other in bits[1:]:
            some, all_of_them = some | other, all_of_them & other
        moved[node] = some
        if some:
            both = all_of_them.bit_count()
            total += both * BOTH_MOVE.get(node.op, 4)
            total += (some.bit_count() - both) * ONE_MOVES.get(node.op, 2)
    return total


def elimination_cost(pattern: Collection[tuple[int, int]], size: int) -> int:
    """Operations of one use of L D Lᵀ of a tree, by the nonzeros of its lower triangle."""
    return 4 * (len(pattern) - size) + size
