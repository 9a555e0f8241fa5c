"""The order in which blocks of a sparse symmetric system are eliminated, and the tables of it.

Unknowns are bodies (six accelerations) and rows (of joints). A row goes only after bodies it
touches, and only where these leave it enough freedoms: its pivot is negative then, that of a body
positive.

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


def ordered(
    touched: Sequence[set[int]], is_row: Sequence[bool], sizes: Sequence[int] | None = None
) -> Ordered:
    """Least degree first, rows where those before them leave enough freedoms.

    Args:
        touched: neighbours of each unknown.
        is_row: which unknowns are rows.
        sizes: numbers in each unknown; 6 of a body and 1 of a row if not given.
    """
    left = [set(x) for x in touched]
    counts = [1 if row else 6 for row in is_row] if sizes is None else [*sizes]
    gone = _Eliminated(touched, is_row, counts)
    heap = [(len(left[k]), k) for k in range(len(left)) if not is_row[k]]
    heapq.heapify(heap)
    place: list[int] = [-1] * len(left)
    order: list[tuple[int, list[int]]] = []
    while heap:
        degree, k = heapq.heappop(heap)
        if place[k] >= 0 or degree != len(left[k]) or not gone.may_go(k):
            continue
        place[k] = len(order)
        around = list(left[k])
        order.append((k, around))
        gone.add(k)
        for i in around:
            left[i].discard(k)
            left[i].update(j for j in around if j != i)
        for i in around:
            if gone.may_go(i):
                heapq.heappush(heap, (len(left[i]), i))
    assert len(order) == len(left), "every row touches a body"
    return _tables(order, place)


class _Eliminated:
    """Unknowns that are gone, in groups that touch each other, with the freedoms left in each.

    Two joints of five rows ask ten of the six freedoms of one body: the second must wait until the
    body at its other end is gone, or its pivot is ρ alone. Where all its bodies are gone it repeats
    what others hold, and takes no freedom that is not there.
    """

    def __init__(
        self, touched: Sequence[set[int]], is_row: Sequence[bool], sizes: Sequence[int]
    ) -> None:
        self._touched, self._is_row, self._sizes = touched, is_row, sizes
        self._group = [-1] * len(sizes)  # the next towards the group's root; −1: not gone
        self._freedoms = [0] * len(sizes)

    def _root(self, k: int) -> int:
        while self._group[k] != k:
            self._group[k] = self._group[self._group[k]]
            k = self._group[k]
        return k

    def _groups(self, k: int) -> set[int]:
        return {self._root(i) for i in self._touched[k] if self._group[i] >= 0}

    def may_go(self, k: int) -> bool:
        """A body always, a row where freedoms are left for it, or where none can come."""
        if not self._is_row[k] or all(self._group[i] >= 0 for i in self._touched[k]):
            return True
        return sum(self._freedoms[i] for i in self._groups(k)) >= self._sizes[k]

    def add(self, k: int) -> None:
        """The unknown goes, and joins the groups it touches."""
        groups = self._groups(k)
        own = -self._sizes[k] if self._is_row[k] else self._sizes[k]
        self._freedoms[k] = max(0, own + sum(self._freedoms[i] for i in groups))
        self._group[k] = k
        for i in groups:
            self._group[i] = k


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
