"""The order in which blocks of a sparse symmetric system are eliminated, and the tables of it.

Unknowns are bodies (six accelerations) and rows (of joints). A row goes only after one of the
bodies it touches: its pivot is negative then, that of a body positive.

Public names: Ordered, ordered.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Ordered:
    """Tables of an elimination.

    Attributes:
        pivots: unknowns in order, each with the start of its edges and the end of them.
        edges: (neighbour that is still there, slot of their block); the sooner eliminated first.
        targets: for each pair of edges of a pivot, the slot that the pair updates.
        slots: (later, sooner) -> slot; its block has the rows of the later one.
        place: of each unknown in the order.
    """

    pivots: Ints
    edges: Ints
    targets: Ints
    slots: dict[tuple[int, int], int]
    place: list[int]


def ordered(touched: Sequence[set[int]], is_row: Sequence[bool]) -> Ordered:
    """Least degree first.

    Args:
        touched: neighbours of each unknown; changed.
        is_row: which unknowns are rows.
    """
    left = [set(x) for x in touched]
    ready = [not row for row in is_row]
    place = [-1] * len(left)
    heap = [(len(left[k]), k) for k in range(len(left)) if ready[k]]
    heapq.heapify(heap)
    order: list[tuple[int, list[int]]] = []
    while heap:
        degree, k = heapq.heappop(heap)
        if place[k] >= 0 or degree != len(left[k]):
            continue
        place[k] = len(order)
        around = list(left[k])
        order.append((k, around))
        for i in around:
            left[i].discard(k)
            left[i].update(j for j in around if j != i)
            ready[i] = ready[i] or not is_row[k]
        for i in around:
            if ready[i]:
                heapq.heappush(heap, (len(left[i]), i))
    assert len(order) == len(left), "every row touches a body"
    return _tables(order, place)


def _tables(order: list[tuple[int, list[int]]], place: list[int]) -> Ordered:
    slots: dict[tuple[int, int], int] = {}
    pivots: list[Any] = []
    edges: list[Any] = []
    targets: list[int] = []
    for k, around in order:
        around.sort(key=place.__getitem__)
        pivots.append((k, len(edges), len(edges) + len(around), len(targets)))
        for i in around:
            edges.append((i, slots.setdefault((i, k), len(slots))))
        for b, later in enumerate(around):
            targets += [slots.setdefault((later, sooner), len(slots)) for sooner in around[:b]]
    return Ordered(
        np.array(pivots, dtype=np.int64).reshape(-1, 4),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.array([*targets, 0], dtype=np.int64),
        slots,
        place,
    )
