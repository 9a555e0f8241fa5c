"""Where the numbers of G lie that loops over paths compute, and which joints each row loads.

Public names: RowPattern, reached_joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True)
class RowPattern:
    """Numbers of G in the order in which the entry `rows` writes them, and an envelope of G Gᵀ.

    Attributes:
        rows: multiplier of each number.
        columns: velocity of each number.
        nv: velocities.
        order: row of the envelope of each multiplier.
        first: column of the first number of each row of the envelope.
        start: where column 0 of each row would be.
        size: numbers of the envelope.
        joints: for each row, those without multipliers behind the others, the joints that a
            multiplier alone may load: places among reactions.
    """

    rows: Ints
    columns: Ints
    nv: int
    order: Ints
    first: Ints
    start: Ints
    size: int
    joints: tuple[Ints, ...]

    @cached_property
    def by_row(self) -> tuple[Ints, Ints]:
        """Numbers sorted by rows, and where each row begins among them."""
        places = np.argsort(self.rows, kind="stable")
        return places, np.searchsorted(self.rows[places], np.arange(len(self.order) + 1))

    @cached_property
    def by_column(self) -> tuple[Ints, Ints]:
        """Of numbers that are sorted by rows: places sorted by columns, where each begins."""
        columns = self.columns[self.by_row[0]]
        places = np.argsort(columns, kind="stable")
        return places, np.searchsorted(columns[places], np.arange(self.nv + 1))

    @cached_property
    def at_row(self) -> Ints:
        """The multiplier of each row of the envelope."""
        return np.argsort(self.order)


def reached_joints(
    parents: Sequence[int], ends: Sequence[Sequence[int]], behind: Sequence[int]
) -> list[Ints]:
    """Joints between the two ends of each cut joint, and the cut joint itself.

    Args:
        parents: of nodes; below 0 the ground.
        ends: two nodes each.
        behind: place of each cut joint among reactions.
    """
    listed = []
    for (first, second), own in zip(ends, behind, strict=True):
        one, other = _path(parents, first), _path(parents, second)
        between = {*one} ^ {*other}
        listed.append(np.array([*sorted(between), own], dtype=np.int64))
    return listed


def _path(parents: Sequence[int], node: int) -> list[int]:
    """A node and all it hangs on."""
    path = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path
