"""The system of a mechanism in blocks: tables, constants and entries of kernels in one record.

Index tables of a mechanism by blocks: unknowns, couplings, offsets of numbers.

The order in which blocks of a sparse symmetric system are eliminated, and the tables of it.

Unknowns are bodies (six accelerations) and rows (of joints). A row goes only after bodies it
touches, and only where these leave it enough degrees of freedom: its pivot is negative then, that
of a body positive.

Public names: BlockArrays, BlockTables, Ordered, ordered.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.sweeps.blocks import ROWS_SLOT
from liaison.equations.sweeps.rest import Rest, RestRow
from liaison.equations.sweeps.sweeps import Blocks
from liaison.expr import Expr, as_expr
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.loops.records import Record, Rows, evaluate
from liaison.program.program import Array, Entry, Program

from .block_layout import Body, Closed, Joint, Lent, Relation, Row, System, Term, Work


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
    """Least degree first, rows where those before them leave enough degrees of freedom.

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
    """Eliminated unknowns, in groups that touch each other, with the mobility left in each.

    Two joints of five rows ask ten of the six degrees of freedom of one body: the second must wait
    until the body at its other end is gone, or its pivot is ρ alone. Where all its bodies are gone
    it repeats what others hold, and takes no freedom that is not there.
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
        """A body always, a row where degrees of freedom are left for it, or where none can come."""
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


Ints = NDArray[np.int64]


@final
class BlockTables:
    """Every table over bodies, joints of the tree, closures and relations.

    Args:
        block_model: the blocks.
        rows: relations that are written out.
    """

    def __init__(self, block_model: Blocks, rows: Sequence[RestRow] = ()) -> None:
        self.block_model, self.relations = block_model, rows
        self.bodies = len(block_model.nodes) - block_model.kept
        self._place_closures()
        self._number_unknowns()
        self.order: Ordered = ordered(
            self._touched, [bool(x) for x in self._is_row], self.sizes.tolist()
        )
        self._rows: list[tuple[int, ...]] = []
        self._lent: list[tuple[int, ...]] = []
        self._joint_tables()
        self._closure_tables()
        self._relation_tables()

    # where results lie, and which multiplier is whose

    def _place_closures(self) -> None:
        """Results of closures behind the records of nodes; multipliers in the same order."""
        start, lam = (self.bodies + 1) * Body.header, 0
        self.results: list[int] = []
        self.first_lam: list[int] = []
        for c in self.block_model.closures[:, 0]:
            size = self.block_model.closing[c].rows + self.block_model.closing[c].ties
            self.results.append(start)
            self.first_lam.append(lam)
            start, lam = start + 15 * size, lam + size
        self.end, self.joint_rows = start, lam
        self.nc = lam + len(self.relations)
        self.nphi = lam + sum(row.phi is not None for row in self.relations)

    # what is unknown, and who touches whom

    def _number_unknowns(self) -> None:
        block_model, n = self.block_model, self.bodies
        row_counts = [block_model.blocks[c].rows for c in block_model.nodes[:n, 0]]
        self.row_of = {i: n + k for k, i in enumerate(i for i in range(n) if row_counts[i])}
        first = n + len(self.row_of)
        self.closure_of = [first + k for k in range(len(block_model.closures))]
        first += len(block_model.closures)
        self.relation_of = [first + k for k in range(len(self.relations))]
        self.unknowns = first + len(self.relations)
        self.sizes = np.full(self.unknowns, 6, dtype=np.int64)
        self._is_row = np.zeros(self.unknowns, dtype=np.int64)
        self._is_row[n:] = 1
        self._touched: list[set[int]] = [set() for _ in range(self.unknowns)]
        for i, unknown in self.row_of.items():
            self.sizes[unknown] = row_counts[i]
            self._touch(unknown, (i, int(block_model.nodes[i, 1])), self._lends((i,)))
        for unknown, (c, a, b, *_) in zip(
            self.closure_of, block_model.closures.tolist(), strict=True
        ):
            self.sizes[unknown] = block_model.closing[c].rows
            self._touch(unknown, (a, b), self._lends((a, b)))
        for unknown, row in zip(self.relation_of, self.relations, strict=True):
            self.sizes[unknown] = 1
            self._touch(unknown, self._moved_by(row))

    def _touch(self, unknown: int, bodies: Sequence[int], lends: bool = False) -> None:
        there = [body for body in bodies if body >= 0]
        for body in there:
            self._touched[unknown].add(body)
            self._touched[body].add(unknown)
        if lends and len(there) == 2:
            self._touched[there[0]].add(there[1])
            self._touched[there[1]].add(there[0])

    def _lends(self, bodies: Sequence[int]) -> bool:
        return any(body >= 0 and self.block_model.needs_lending[body] for body in bodies)

    def _moved_by(self, row: RestRow) -> list[int]:
        """Bodies that a relation touches, each once."""
        bodies = [body for j in row.G for body in self._owner(j)[1]]
        return list(dict.fromkeys(body for body in bodies if body >= 0))

    def _owner(self, j: int) -> tuple[int, tuple[int, int], int]:
        """Of a velocity: its closure or −1, the two bodies it moves, its place among others."""
        nodes = self.block_model.nodes
        i = int(np.searchsorted(nodes[:, 3] + nodes[:, 5], j, side="right"))
        k = j - int(nodes[i, 3])
        if i < self.bodies:
            return -1, (i, int(nodes[i, 1])), k
        keeps = [one.ties > 0 for one in self.block_model.closing]
        ties = [keeps[c] for c in self.block_model.closures[:, 0]]
        c = int(
            np.flatnonzero(np.array(ties) & (self.block_model.closures[:, 5] == nodes[i, 3]))[0]
        )
        return c, (int(self.block_model.closures[c, 1]), int(self.block_model.closures[c, 2])), k

    # tables

    def _joint_tables(self) -> None:
        block_model = self.block_model
        joints: list[tuple[int, ...]] = []
        for i, (c, parent, _, v, _, nv) in enumerate(block_model.nodes[: self.bodies].tolist()):
            here, count = (i + 1) * Body.header + ROWS_SLOT, block_model.blocks[c].rows
            if count:
                unknown = self.row_of[i]
                self._add_rows(unknown, (i, parent), (here, here + 6), 12)
                if self._lends((i,)):
                    self._lend((i, parent), (here, here + 6), 12, unknown)
            joints.append((i, parent, here + 12 * count, v, nv))
        self.joints = _ints(joints, Joint)

    def _closure_tables(self) -> None:
        block_model = self.block_model
        closed: list[tuple[int, ...]] = []
        for k, (c, a, b, *rest) in enumerate(block_model.closures.tolist()):
            one, o, unknown = block_model.closing[c], self.results[k], self.closure_of[k]
            offsets = (o, o + 6 * (one.rows + one.ties))
            self._add_rows(unknown, (a, b), offsets, 6)
            if self._lends((a, b)):
                self._lend((a, b), offsets, 6, unknown)
            start, q, v = rest
            closed.append((c, a, b, start, o, q, v, one.rows, one.ties, self.first_lam[k]))
        self.closed = _ints(closed, Closed)

    def _relation_tables(self) -> None:
        """A row of J for each body a relation touches, behind the closures; and its terms."""
        relations: list[tuple[int, ...]] = []
        terms: list[tuple[int, ...]] = []
        for e, (unknown, row) in enumerate(zip(self.relation_of, self.relations, strict=True)):
            own = {body: self.end + 6 * k for k, body in enumerate(self._moved_by(row))}
            self.end += 6 * len(own)
            for body, offset in own.items():
                self._rows.append(self._row(unknown, body, offset, 6))
            for j in row.G:
                terms.append(self._term(j, own))
            relations.append((unknown, len(row.G), self.joint_rows + e, int(row.phi is not None)))
        self.relation_table, self.terms = _ints(relations, Relation), _ints(terms, Term)
        self.rows, self.lent = _ints(self._rows, Row), _ints(self._lent, Lent)

    def _term(self, j: int, own: dict[int, int]) -> tuple[int, ...]:
        """Sources and targets of a velocity's part in a relation; what its tie leaves over."""
        c, bodies, k = self._owner(j)
        targets = [own.get(body, -1) for body in bodies]
        if c < 0:
            pair = int(self.joints[bodies[0], 2]) + 12 * k
            return (pair, pair + 6, *targets, -1, 0, -1)
        one, o = self.block_model.closing[self.block_model.closures[c, 0]], self.results[c]
        size, row = one.rows + one.ties, one.rows + k
        tie = self.first_lam[c] + row
        return (o + 6 * row, o + 6 * (size + row), *targets, o + 12 * size + row, size, tie)

    def _add_rows(
        self, unknown: int, bodies: tuple[int, int], offsets: tuple[int, int], stride: int
    ) -> None:
        for body, offset in zip(bodies, offsets, strict=True):
            if body >= 0:
                self._rows.append(self._row(unknown, body, offset, stride))

    def _row(self, unknown: int, body: int, offset: int, stride: int) -> tuple[int, ...]:
        place = self.order.place
        turned = place[unknown] < place[body]
        key = (body, unknown) if turned else (unknown, body)
        return (unknown, body, self.order.slots[key], offset, stride, int(turned))

    def _lend(
        self, bodies: tuple[int, int], offsets: tuple[int, int], stride: int, unknown: int
    ) -> None:
        slot = self._signed_slot(*bodies) if min(bodies) >= 0 else 0
        self._lent.append((*bodies, slot, *offsets, stride, int(self.sizes[unknown]), unknown))

    def _signed_slot(self, a: int, b: int) -> int:
        """The slot of two bodies; −1 − slot where the second's accelerations are its rows."""
        if self.order.place[a] > self.order.place[b]:
            return self.order.slots[a, b]
        return -1 - self.order.slots[b, a]


def _ints(rows: Sequence[tuple[int, ...]], record: type[Record]) -> Ints:
    """A table with a column for each word of a record."""
    return np.array(rows, dtype=np.int64).reshape(-1, record.header)


@final
class BlockArrays:
    """Kernels of nodes, closures and of what is written out; the `system` over them.

    Args:
        block_model: the blocks.
        rest: loads and relations; None where there are none.
        frames: of bodies: node and pose in it, twelve numbers each.
        marks: poses of the markers of closures in which reactions are expressed, twelve numbers
            each.
    """

    def __init__(
        self,
        block_model: Blocks,
        rest: Rest | None = None,
        frames: Sequence[tuple[int, Sequence[float]]] = (),
        marks: Sequence[Sequence[float]] = (),
    ) -> None:
        self.block_model, self.rest = block_model, rest
        self.tables = BlockTables(block_model, () if rest is None else rest.rows)
        self.kept: list[MachineKernel] = []
        self._work = 1
        entries = self._entries()
        numbers: dict[str, Array] = {
            "constants": np.asarray(block_model.constants, dtype=float).ravel(),
            "closure_constants": np.asarray(block_model.closure_constants, dtype=float).ravel(),
            "ground": np.array(block_model.ground, dtype=float),
            "frames": np.array([pose for _, pose in frames], dtype=float).reshape(-1, 12),
            "markers": np.array([*marks], dtype=float).reshape(-1, 12),
        }
        lengths = {name: numbers[name].size for name in ("constants", "closure_constants")}
        self.system = System.new(lengths, **self._counts(len(frames), len(marks)))
        for name, values in numbers.items():
            getattr(self.system, name)[:] = values
        self.system.framed[:] = [node for node, _ in frames]
        self._fill_tables()
        self._fill_entries(entries)

    @property
    def work_size(self) -> int:
        """Doubles of work space that every entry wants."""
        return evaluate(Work.length(), self.system.counts)

    @property
    def numbers(self) -> list[Array]:
        """All constants of the mechanism."""
        s = self.system
        return [s.constants, s.closure_constants, s.ground, s.frames, s.markers]

    def _counts(self, frames: int, markers: int) -> dict[str, int]:
        t, block_model, order = self.tables, self.block_model, self.tables.order
        return {
            "bodies": t.bodies, "kept": block_model.kept, "unknowns": t.unknowns,
            "n_blocks": len(order.slots),
            "degree": int((order.pivots[:, 2] - order.pivots[:, 1]).max(initial=0)),
            "nq": block_model.nq, "nv": block_model.nv, "nc": t.nc, "nphi": t.nphi,
            "n_results": t.end - (t.bodies + 1) * Body.header, "n_scratch": self._work,
            "n_rows": len(t.rows), "n_lent": len(t.lent), "n_closed": len(t.closed),
            "n_relations": len(t.relations), "n_terms": len(t.terms),
            "n_pivots": len(order.pivots), "n_edges": len(order.edges),
            "n_targets": len(order.targets),
            "n_taus": 0 if self.rest is None else len(self.rest.tau),
            "n_frames": frames, "n_markers": markers, "n_classes": len(block_model.blocks),
            "n_closing": len(block_model.closing),
        }  # fmt: skip

    def _fill_tables(self) -> None:
        s, t, order = self.system, self.tables, self.tables.order
        filled: list[tuple[Rows[Any], Any]] = [
            (s.nodes, self.block_model.nodes), (s.couplings, t.rows), (s.lent, t.lent),
            (s.closed, t.closed), (s.joints, t.joints), (s.relations, t.relation_table),
            (s.terms, t.terms), (s.pivots, order.pivots), (s.edges, order.edges),
        ]  # fmt: skip
        for rows, table in filled:
            rows.ints[:] = table
        s.targets[:] = order.targets
        s.sizes[:] = t.sizes
        s.taus[:] = [] if self.rest is None else [*self.rest.tau]

    def _fill_entries(self, entries: dict[str, list[int]]) -> None:
        s = self.system
        s.node_entries[:], s.closure_entries[:] = entries["node"], entries["closure"]
        s.retract_entries[:], s.rate_entries[:] = entries["retract"], entries["rate"]
        if self.rest is not None:
            # a field of this type reads as a function and is set to an address
            tau, relation, potential = entries["rest"]
            s.tau_entry = tau  # type: ignore[assignment]
            s.relation_entry = relation  # type: ignore[assignment]
            s.potential_entry = potential  # type: ignore[assignment]

    def _entries(self) -> dict[str, list[int]]:
        """Addresses of the entries of each class of nodes and closures, and of what is left."""
        block_model, rest = self.block_model, self.rest
        listed: dict[str, tuple[Sequence[Sequence[Expr]], Any]] = {
            "node": ([one.formulas for one in block_model.blocks], block_model.inputs),
            "closure": ([one.formulas for one in block_model.closing], block_model.closure_inputs),
            "retract": ([one.retract for one in block_model.blocks], block_model.local_inputs),
            "rate": ([one.rate for one in block_model.blocks], block_model.local_inputs),
        }
        if rest is not None:
            formulas = [[*rest.tau.values()], _flat(rest.rows), [rest.potential]]
            listed["rest"] = (formulas, rest.places)
        return {name: self._addresses(name, *x) for name, x in listed.items()}

    def _addresses(self, name: str, formulas: Sequence[Sequence[Expr]], inputs: Any) -> list[int]:
        """Addresses of entries, zero where nothing is computed; compiled together."""
        entries = {f"{name} {k}": Entry(f"{name} {k}", x) for k, x in enumerate(formulas) if x}
        kernel = to_llvm(Program(f"{self.block_model.name}, {name}", entries, inputs))
        if entries:
            kernel.compile(*entries)
        self.kept.append(kernel)
        self._work = max([self._work, *map(kernel.work_size, entries)])
        listed = (f"{name} {k}" for k in range(len(formulas)))
        return [kernel.address(x) if x in entries else 0 for x in listed]


def _flat(rows: Sequence[RestRow]) -> list[Expr]:
    """Results of relations: Φ̈, Φ and Φ̇ of all, then the entries of their rows on v."""
    levels = [x.second for x in rows] + [as_expr(0 if x.phi is None else x.phi) for x in rows]
    return [*levels, *(x.rate for x in rows), *(g for x in rows for g in x.G.values())]
