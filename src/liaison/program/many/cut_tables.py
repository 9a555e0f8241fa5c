"""Tables of the cut joints of a tree: paths to the ground, rows that vanish, the order of rows.

Public names: CutTables, Envelope, envelope_of, shown_cuts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.sweeps.cuts import Cuts
from liaison.equations.sweeps.looped_tree import LoopedTree
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.program import Entry, Program

from .cut_layout import Cut, CutSystem, PathStep

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Envelope:
    """A symmetric matrix row by row, each from its first number that is not zero on.

    Attributes:
        order: the row of each multiplier.
        first: column of the first number of each row.
        start: where column 0 of each row would be.
        size: numbers in all rows.
    """

    order: Ints
    first: Ints
    start: Ints
    size: int

    @property
    def operations(self) -> float:
        """How many multiplications factors of it take."""
        width = np.arange(len(self.first)) - self.first
        return float(np.sum(width.astype(float) ** 2) / 2)


def envelope_of(near: Sequence[set[int]], sizes: Sequence[int]) -> Envelope:
    """Rows of blocks in an order in which blocks that touch are close (Cuthill and McKee).

    Args:
        near: blocks that each block touches.
        sizes: rows in each block.
    """
    blocks = _breadth_first(near)[::-1]
    begins = np.zeros(len(sizes), dtype=np.int64)
    place = 0
    for block in blocks:
        begins[block] = place
        place += sizes[block]
    order = np.zeros(place, dtype=np.int64)
    first = np.zeros(place, dtype=np.int64)
    row = 0
    for block, size in enumerate(sizes):
        begin = int(begins[block])
        lowest = min([begin, *(int(begins[x]) for x in near[block])])
        order[row : row + size] = np.arange(begin, begin + size)
        first[begin : begin + size] = lowest
        row += size
    ends = np.cumsum(np.arange(place) - first + 1)
    start = ends - 1 - np.arange(place)
    return Envelope(order, first, start, int(ends[-1]) if place else 0)


def _breadth_first(near: Sequence[set[int]]) -> list[int]:
    """Blocks by their distance from one of few neighbours, those of few neighbours first."""
    degrees = [len(x) for x in near]
    listed: list[int] = []
    is_seen = [False] * len(near)
    for begin in sorted(range(len(near)), key=degrees.__getitem__):
        if is_seen[begin]:
            continue
        is_seen[begin] = True
        queue = [begin]
        for block in queue:
            listed.append(block)
            for other in sorted(near[block], key=degrees.__getitem__):
                if not is_seen[other]:
                    is_seen[other] = True
                    queue.append(other)
    return listed


@final
class CutTables:
    """The cut joints of a tree, and the code of their classes.

    Args:
        model: of the tree.
        cuts: of it.
    """

    def __init__(self, model: LoopedTree, cuts: Cuts) -> None:
        self.model, self.cuts = model, cuts
        name = model.mechanism.name
        entries = {f"cut {c}": Entry(f"cut {c}", x.formulas) for c, x in enumerate(cuts.classes)}
        carry = {f"carry {c}": Entry(f"carry {c}", x) for c, x in enumerate(model.forward.carry)}
        self._joints = to_llvm(Program(f"{name}, cut joints", entries, cuts.inputs))
        self._carry = to_llvm(Program(f"{name}, wrenches carried", carry, model.inputs))
        self._begin_paths()

    @property
    def scratch(self) -> int:
        """Numbers that the code of a class wants."""
        kernels = (self._joints, self._carry)
        return max(x.work_size(name) for x in kernels for name in x.program.entries)

    @property
    def meetings(self) -> float:
        """How many multiplications G M⁻¹ Gᵀ takes."""
        meeting = np.diff(self._passing_begin).astype(float)
        return 25.0 * float(np.sum(meeting**2)) / 2

    def fill_joints(self, system: CutSystem) -> None:
        """Compiles the rows of cut joints."""
        names = [f"cut {c}" for c in range(len(self.cuts.classes))]
        self._joints.compile(*names)
        system.entries[:] = [self._joints.address(name) for name in names]

    def fill_carry(self, system: CutSystem) -> None:
        """Compiles what passes on of a wrench."""
        names = [f"carry {c}" for c in range(len(self.model.forward.carry))]
        self._carry.compile(*names)
        system.carry_entries[:] = [self._carry.address(name) for name in names]

    # paths

    def _begin_paths(self) -> None:
        """Steps of every path, and the steps at each node."""
        nodes = self.model.nodes
        nodes = nodes[: len(nodes) - self.model.kept]
        parents, counts = nodes[:, 1].tolist(), nodes[:, 5].tolist()
        kinds = [self.cuts.classes[c] for c in self.cuts.table[:, 0]]
        rows = [one.rows + one.ties for one in kinds]
        self._held = [one.rows for one in kinds]
        self._rows = rows
        steps: list[tuple[int, ...]] = []
        self._ends: list[tuple[int, ...]] = []
        at_node: list[list[int]] = [[] for _ in parents]
        place = 0
        for c, (_, first, second, root, *_) in enumerate(self.cuts.table.tolist()):
            path = sorted({*_path(parents, first), *_path(parents, second)}, reverse=True)
            step_of = {node: len(steps) + k for k, node in enumerate(path)}
            begin = len(steps)
            for node in path:
                at_node[node].append(len(steps))
                steps.append((node, step_of.get(parents[node], -1), c, place, counts[node]))
                place += 2 * counts[node] * rows[c]
            at = [step_of.get(node, -1) for node in (first, second, root)]
            self._ends.append((begin, len(steps), *at))
        self._steps, self._efforts = np.array(steps, dtype=np.int64).reshape(-1, 5), place
        self._passing = np.array([x for own in at_node for x in own], dtype=np.int64)
        self._passing_begin = np.cumsum([0, *map(len, at_node)])
        self._near: list[set[int]] = [set() for _ in rows]
        for own, count in zip(at_node, counts, strict=True):
            through = {steps[x][2] for x in own} if count else set()
            for c in through:
                self._near[c] |= through

    # records

    def multipliers(self, vanished: NDArray[np.bool_]) -> list[int]:
        """How many multipliers each cut joint has."""
        begins = itertools.pairwise(np.cumsum([0, *self._rows]))
        return [int(np.sum(~vanished[a:b])) for a, b in begins]

    def system(self, tree_words: int, vanished: NDArray[np.bool_]) -> CutSystem:
        """The record of them.

        Args:
            tree_words: numbers of work of a pass over the tree.
            vanished: rows without multipliers, since they hold whatever moves.
        """
        model, cuts, rows, kept = self.model, self.cuts, self._rows, ~vanished
        begins = np.cumsum([0, *rows])
        sizes = self.multipliers(vanished)
        envelope = envelope_of(self._near, sizes)
        nc = int(np.sum(kept))
        system = CutSystem.new(
            {"constants": len(cuts.constants)},
            n_nodes=len(model.nodes) - model.kept, nq=model.nq, nv=model.nv, nc=nc,
            n_cuts=len(rows), n_classes=len(cuts.classes), n_kinds=len(model.forward.carry),
            n_steps=len(self._steps),
            n_rows=len(kept), n_results=21 * int(begins[-1]), n_efforts=self._efforts,
            n_matrix=envelope.size, longest=max((b - a for a, b, *_ in self._ends), default=0),
        )  # fmt: skip
        system.tree_words = tree_words
        system.cuts.ints[:] = self._cut_rows(begins)
        system.steps.ints[:] = self._steps
        system.passing[:], system.passing_begin[:] = self._passing, self._passing_begin
        system.place[:] = np.where(kept, np.cumsum(kept) - 1, nc + np.cumsum(vanished) - 1)
        system.owner[:] = np.repeat(np.arange(len(rows)), sizes)
        ties = np.concatenate(
            [np.arange(n) >= held for n, held in zip(rows, self._held, strict=True)]
        )
        system.is_tie[:], system.n_ties = ties[kept], int(np.sum(ties))
        system.order[:], system.first[:] = envelope.order, envelope.first
        system.start[:], system.reach[:] = envelope.start, np.array(cuts.reach)[kept]
        system.shown[[*shown_cuts(sizes)]] = np.arange(len(sizes))
        system.constants[:], system.markers[:] = cuts.constants, cuts.markers[:, 1:]
        return system

    def _cut_rows(self, begins: Ints) -> Ints:
        table = [
            (kind, first, second, root, constants, 21 * int(row), rows, held, *kept, int(row),
             *ends)
            for (kind, first, second, root, constants, *kept), rows, held, row, ends in zip(
                self.cuts.table.tolist(), self._rows, self._held, begins[:-1], self._ends,
                strict=True,
            )
        ]  # fmt: skip
        return np.array(table, dtype=np.int64).reshape(-1, Cut.header)


def shown_cuts(sizes: Sequence[int]) -> list[int]:
    """Cut joints in the order of their reactions: those without multipliers last."""
    return sorted(range(len(sizes)), key=lambda c: sizes[c] == 0)


assert PathStep.header == 5, "a step is what `_begin_paths` lists"


def _path(parents: Sequence[int], node: int) -> list[int]:
    """A node and all it hangs on."""
    path = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path
