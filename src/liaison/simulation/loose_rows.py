"""Multipliers of many rows that move nothing: null vectors of Gᵀ from the sparse numbers of G.

Rows depend on each other where loops of a large mechanism say a thing twice: null vectors are local
then, and all that follows from them is taken from their few rows. Instants at which they have the
same rows are treated together.

Public names: LooseRows, loose_rows, lengths_of, SparseRows, self_stress_of.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.many.row_pattern import RowPattern
from liaison.solvers.linear.null_rows import (
    negative_pivots,
    null_rows,
    put_null_vectors,
    put_products,
)

from .machine import map_entry

Ints = NDArray[np.int64]

SMALL = 1e-12
"""Part of the largest number of a null vector below which others are left out."""

CHUNK = 64
"""Null vectors that are written at once."""


@final
@dataclass(frozen=True, slots=True)
class LooseRows:
    """Null vectors of Gᵀ at some instants, all with numbers at the same rows.

    Attributes:
        instants: places among all.
        begins: where each vector begins among rows.
        rows: multipliers.
        values: shape (instants, rows).
    """

    instants: Ints
    begins: Ints
    rows: Ints
    values: Array

    @property
    def owners(self) -> Ints:
        """The vector of each number."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))

    def shortest(self, lam: Array, length: Array) -> Array:
        """λ of these instants, the shortest where rows are scaled to length 1.

        Args:
            lam: shape (instants, multipliers).
            length: of the rows of G in the metric of M, in the same shape.
        """
        lam = lam.copy()
        for rows, columns, places in _components(self.begins, self.rows):
            N = np.zeros((len(lam), len(rows), columns))
            N[:, places[1], places[2]] = self.values[:, places[0]]
            scaled = N * length[:, rows, None]
            wanted = (length * lam)[:, rows, None]
            normal = np.swapaxes(scaled, 1, 2)
            c = np.linalg.solve(normal @ scaled, normal @ wanted)
            lam[:, rows] -= (N @ c)[:, :, 0]
        return lam


def _components(begins: Ints, rows: Ints) -> list[tuple[Ints, int, tuple[Ints, Ints, Ints]]]:
    """Vectors that share rows: their rows, how many; places of numbers, their rows and columns."""
    leader: dict[int, int] = {}
    groups: dict[int, set[int]] = {}
    vectors = [rows[a:b].tolist() for a, b in itertools.pairwise(begins)]
    for k, own in enumerate(vectors):
        met = {leader[x] for x in own if x in leader}
        joined = {k}.union(*(groups.pop(x) for x in met))
        groups[k] = joined
        for other in joined:
            leader.update(dict.fromkeys(vectors[other], k))
    listed = []
    for joined in groups.values():
        members = sorted(joined)
        own = np.unique(np.concatenate([rows[begins[k] : begins[k + 1]] for k in members]))
        places = np.concatenate([np.arange(begins[k], begins[k + 1]) for k in members])
        columns = np.repeat(np.arange(len(members)), [len(vectors[k]) for k in members])
        listed.append((own, len(members), (places, np.searchsorted(own, rows[places]), columns)))
    return listed


@final
class SparseRows:
    """The numbers of G of a kernel that writes them along paths, and loops over their envelope.

    Args:
        kernel: has the entry `rows`.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.pattern: RowPattern = kernel.program.facts["rows"]()
        self.nc, self.nv = len(self.pattern.order), self.pattern.nv
        size = self.pattern.size
        self._matrix, self._factors = np.zeros(size), np.zeros(size)
        self._pivots, self._n, self._image = (
            np.zeros(max(1, x)) for x in (self.nc,) * 2 + (self.nv,)
        )
        self._is_loose = np.zeros(max(1, self.nc), dtype=np.int64)
        order, begins = self.pattern.by_row
        self._places, self._row_begins = order, begins
        self._rows, self._columns = self.pattern.rows[order], self.pattern.columns[order]

    def sorted(self, values: Array) -> Array:
        """Numbers as the entry writes them -> sorted by rows, at every instant."""
        return np.ascontiguousarray(values[:, self._places])

    def lengths(self, values: Array) -> Array:
        """|G_k| of every row at every instant, of sorted numbers."""
        squares = np.zeros((len(values), self.nc))
        np.add.at(squares.T, self._rows, np.square(values).T)
        return np.sqrt(squares)

    def scaled(self, values: Array, by: Array) -> Array:
        """Sorted numbers of one instant times a number for each row."""
        return np.ascontiguousarray(values * by[self._rows])

    def of_columns(self, by: Any) -> Any:
        """What is for each velocity, for each of the sorted numbers."""
        return by[self._columns]

    def of_rows(self, by: Any) -> Any:
        """What is for each row, for each of the sorted numbers."""
        return by[self._rows]

    def null_vectors(self, values: Array, rank: float) -> tuple[Ints, Ints, Array]:
        """Where each null vector of Gᵀ begins, its rows and its numbers, by sorted numbers of G."""
        self._put_matrix(values)
        pattern = self.pattern
        largest = float(np.sqrt(self.largest_eigenvalue(values)))
        count = _loops()[null_rows](
            self.nv, self.nc, rank * largest, self._row_begins, self._columns, pattern.at_row,
            pattern.first, pattern.start, values, self._matrix, self._factors, self._pivots,
            self._is_loose, self._n, self._image,
        )  # fmt: skip
        begins, rows, numbers = [0], [], []
        for begin in range(0, count, CHUNK):
            end = min(count, begin + CHUNK)
            out = np.zeros((end - begin, self.nc))
            _loops()[put_null_vectors](
                self.nc, begin, end, pattern.first, pattern.start, self._factors, self._is_loose,
                pattern.at_row, self._n, out,
            )  # fmt: skip
            for vector in out:
                own = np.flatnonzero(np.abs(vector) > SMALL * np.max(np.abs(vector)))
                rows.append(own)
                numbers.append(vector[own])
                begins.append(begins[-1] + len(own))
        none = np.zeros(0, dtype=np.int64)
        return (
            np.array(begins), np.concatenate([none, *rows]), np.concatenate([np.zeros(0), *numbers])
        )  # fmt: skip

    def below(self, values: Array, shift: float) -> int:
        """How many eigenvalues of G Gᵀ are below a number."""
        self._put_matrix(values)
        pattern = self.pattern
        count = _loops()[negative_pivots](
            self.nc, shift, pattern.first, pattern.start, self._matrix, self._factors,
            self._pivots, self._is_loose,
        )  # fmt: skip
        return int(count)

    def largest_eigenvalue(self, values: Array, rounds: int = 20) -> float:
        """About the largest eigenvalue of G Gᵀ, by its powers."""
        x: Array = np.linspace(1.0, 2.0, self.nc)
        size = 0.0
        for _ in range(rounds):
            image = np.bincount(self._columns, values * x[self._rows], self.nv)
            x = np.asarray(np.bincount(self._rows, values * image[self._columns], self.nc), float)
            size = float(np.linalg.norm(x))
            if not size > 0.0:
                return 0.0
            x /= size
        return size

    def _put_matrix(self, values: Array) -> None:
        members, begins = self.pattern.by_column
        _loops()[put_products](
            self.nv, self.nc, begins, members, self._rows, self.pattern.order,
            self.pattern.start, self.pattern.first, values, self._matrix,
        )  # fmt: skip


@cache
def _loops() -> CompiledLoops:
    """The loops over envelopes, once a process."""
    return compile_loops([put_products, null_rows, put_null_vectors, negative_pivots])


def lengths_of(kernel: Kernel, table: Array, p: Array) -> tuple[SparseRows, Array, Array]:
    """G at every row of a table: its loops, its sorted numbers, and the lengths of its rows."""
    sparse = SparseRows(kernel)
    values = sparse.sorted(map_entry(kernel, "rows", table, p))
    return sparse, values, sparse.lengths(values)


def loose_rows(sparse: SparseRows, values: Array, scale: Array, rank: float) -> list[LooseRows]:
    """Null vectors of Gᵀ at every instant, as multipliers.

    Args:
        sparse: of a kernel.
        values: sorted numbers at every instant.
        scale: what each row is divided by; infinite of rows that ask nothing.
        rank: part of the largest singular value below which others are zero.
    """
    alike: dict[bytes, list[tuple[int, Ints, Ints, Array]]] = {}
    for i, (numbers, by) in enumerate(zip(values, scale, strict=True)):
        begins, rows, n = sparse.null_vectors(sparse.scaled(numbers, 1.0 / by), rank)
        if len(rows):
            n = n / np.where(np.isfinite(by[rows]), by[rows], 1.0)
            alike.setdefault(begins.tobytes() + rows.tobytes(), []).append((i, begins, rows, n))
    return [
        LooseRows(
            np.array([x[0] for x in own]), own[0][1], own[0][2], np.array([x[3] for x in own])
        )
        for own in alike.values()
    ]


def self_stress_of(
    kernel: Kernel, table: Array, p: Array, groups: Sequence[LooseRows], vanished: int
) -> tuple[Array, Array]:
    """What multipliers that move nothing put into the joints, none larger than 1, by components.

    Returns:
        Their largest size, shape (instants, joints, 6), and Σ d dᵀ, shape (instants, joints, 6, 6).
    """
    joints = kernel.program.facts["rows"]().joints
    nc = len(joints) - vanished
    count = len(kernel.program.entry("self_stress").layout)
    most, gram = np.zeros((len(table), count, 6)), np.zeros((len(table), count, 6, 6))
    always = LooseRows(
        np.arange(len(table)), np.arange(vanished + 1), nc + np.arange(vanished),
        np.ones((len(table), vanished)),
    )  # fmt: skip
    for group in (*groups, always):
        vectors = zip(group.begins[:-1], group.begins[1:], strict=True)
        reach = [
            np.unique(np.concatenate([joints[k] for k in group.rows[a:b]])) for a, b in vectors
        ]
        own = p[group.instants] if p.ndim > 1 else p
        for color in _colors(reach):
            owner = np.full(count, -1)
            for place, k in enumerate(color):
                owner[reach[k]] = place
            x = _multipliers(group, color, len(joints))
            change = map_entry(kernel, "self_stress", table[group.instants], own, x)
            _add_stress(change.reshape(len(x), count, 6), owner, group.instants, most, gram)
    return most, gram


def _colors(reach: Sequence[Ints]) -> list[list[int]]:
    """Vectors in groups of which no two load a joint: each in the first where it fits."""
    colors: list[list[int]] = []
    taken: dict[int, set[int]] = {}
    for k, own in enumerate(reach):
        sets = [taken.setdefault(x, set()) for x in own.tolist()]
        color = next(c for c in itertools.count() if not any(c in x for x in sets))
        for x in sets:
            x.add(color)
        if color == len(colors):
            colors.append([])
        colors[color].append(k)
    return colors


def _multipliers(group: LooseRows, color: Sequence[int], count: int) -> Array:
    """All vectors of a color together, at every instant of theirs."""
    x = np.zeros((len(group.instants), count))
    for k in color:
        own = slice(group.begins[k], group.begins[k + 1])
        x[:, group.rows[own]] += group.values[:, own]
    return x


def _add_stress(change: Array, owner: Ints, instants: Ints, most: Array, gram: Array) -> None:
    """Adds the wrenches of a color, each vector's largest number 1."""
    loaded = np.flatnonzero(owner >= 0)
    change, owner = change[:, loaded], owner[loaded]
    peak = np.zeros((len(change), int(np.max(owner, initial=0)) + 1))
    np.maximum.at(peak.T, owner, np.max(np.abs(change), axis=2).T)
    change = change / np.where(peak > 0.0, peak, 1.0)[:, owner, None]
    at: Any = np.ix_(instants, loaded)
    most[at] = np.maximum(most[at], np.abs(change))
    gram[at] += np.einsum("nji,njl->njil", change, change)
