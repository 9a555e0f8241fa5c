"""Compact: an order of operations that keeps few values alive, for machines with few registers.

Depth first from the outputs, the argument with more below it first. Greedy orders that look at what
is alive keep fewer values by count, and were no faster on a GPU.

Source: SU70.
Differs: formulas are shared, so that the order is not optimal.

Public names: compact.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.expr import Expr
from liaison.program.plan import Item, Piece

MANY = 1 << 60  # paths through a graph may be more than anyone can count


def compact(piece: Piece) -> tuple[Item, ...]:
    """The items of a piece, each after what it needs, with few values alive at any time."""
    return tuple(piece.items[k] for k in _depth_first(_needs(piece.items)))


def _needs(items: Sequence[Item]) -> list[list[int]]:
    """Of each item, the other items it takes values from."""
    home: dict[Expr, int] = {node: k for k, item in enumerate(items) for node in item}
    return [
        sorted({home[arg] for node in item for arg in node.args if home.get(arg, k) != k})
        for k, item in enumerate(items)
    ]


def _depth_first(needs: list[list[int]]) -> list[int]:
    """From what nobody needs down, the argument with more below it first."""
    below: list[int] = []
    for ks in needs:
        below.append(min(MANY, 1 + sum(below[other] for other in ks)))
    used = {other for ks in needs for other in ks}
    done: dict[int, None] = {}
    for root in [k for k in range(len(needs)) if k not in used]:
        stack = [root]
        while stack:
            missing = [other for other in needs[stack[-1]] if other not in done]
            if missing:
                stack.append(max(missing, key=below.__getitem__))
            else:
                done[stack.pop()] = None
    return list(done)
