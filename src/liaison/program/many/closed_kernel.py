"""closed_kernel: a kernel for closed mechanisms of many bodies, its entries loops over their nodes.

The tree as in tree_kernel.py; the joints that close its loops by (cuts-1), and relations between
coordinates beside them. Rows that hold whatever moves are found by probing, at random positions and
velocities, and have no multiplier.

Tables of the cut joints of a tree: paths to the ground, rows that vanish, the order of rows.

Public names: closed_kernel, ClosedCode, vanished_rows, DENSE, CutTables, Envelope, envelope_of,
shown_cuts.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.completion import defaults_of
from liaison.equations.sweeps.cuts import CutClass, Cuts
from liaison.equations.sweeps.looped_tree import LoopedTree
from liaison.equations.sweeps.rest import RestRow
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, vanishes
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.records import Record, evaluate
from liaison.program.pieces import pieces_of
from liaison.program.program import Entry, Program
from liaison.program.solve import NOISE, SMALLEST

from . import closed_entries, tree_loops
from .cut_layout import Cut, CutSystem, CutWork, KeptTerm, PathStep, Term
from .row_pattern import RowPattern, reached_joints
from .tree_kernel import LOADS, LOCAL, STORED, WRITTEN_OUT, TreeTables, facts_of, written_out
from .tree_loops import FORWARD, INVERSE, MOTION

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
        is_coupled: whether G M⁻¹ Gᵀ of all rows is wanted; if not, relations between coordinates
            need no path to the ground.
    """

    def __init__(self, model: LoopedTree, cuts: Cuts, *, is_coupled: bool = True) -> None:
        self.model, self.cuts, self._is_coupled = model, cuts, is_coupled
        name = model.mechanism.name
        entries = {f"cut {c}": Entry(f"cut {c}", x.formulas) for c, x in enumerate(cuts.classes)}
        carry = {f"carry {c}": Entry(f"carry {c}", x) for c, x in enumerate(model.forward.carry)}
        entries |= {
            f"touch {c}": Entry(f"touch {c}", x.touch)
            for c, x in enumerate(cuts.classes)
            if x.touch
        }
        self._joints = to_llvm(Program(f"{name}, cut joints", entries, cuts.inputs))
        related = pieces_of(RELATED, _related(cuts.relations))
        self._relations = to_llvm(Program(f"{name}, relations", related, model.written.places))
        self._carry = to_llvm(Program(f"{name}, wrenches carried", carry, model.inputs))
        self._begin_paths()

    @property
    def scratch(self) -> int:
        """Numbers that the code of a class wants."""
        kernels = (self._joints, self._carry, self._relations)
        return max(x.work_size(name) for x in kernels for name in x.program.entries)

    def fill_joints(self, system: CutSystem) -> None:
        """Compiles the rows of cut joints and of relations."""
        names = [f"cut {c}" for c in range(len(self.cuts.classes))]
        if names:
            self._joints.compile(*names)
        system.entries[:] = [self._joints.address(name) for name in names]
        pieces = [*self._relations.program.entries]
        if pieces:
            self._relations.compile(*pieces)
        system.relation_entries[:] = [self._relations.address(name) for name in pieces]

    def fill_touch(self, system: CutSystem) -> None:
        """Compiles where forces of relations between frames act."""
        names = [f"touch {c}" for c, one in enumerate(self.cuts.classes) if one.touch]
        if names:
            self._joints.compile(*names)
        for name in names:
            system.touch_entries[int(name.removeprefix("touch "))] = self._joints.address(name)

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
        alone = [1] * len(self.cuts.relations)
        self._held = [*(one.rows for one in kinds), *alone]
        self._rows = rows = [*(one.rows + one.ties for one in kinds), *alone]
        steps: list[tuple[int, ...]] = []
        self._ends: list[tuple[int, ...]] = []
        at_node: list[list[int]] = [[] for _ in parents]
        place = 0
        carriers = _carriers(nodes)
        self._terms: list[tuple[int, ...]] = []
        self._kept_terms: list[tuple[int, ...]] = []
        self._ties = _ties(kinds, self.cuts.table[:, 6].tolist())
        for c, own in enumerate(self._touched(carriers)):
            is_far = self._is_coupled or c < len(kinds)
            listed = [x for node in own for x in _path(parents, node)] if is_far else own
            path = sorted({*listed}, reverse=True)
            step_of = {node: len(steps) + k for k, node in enumerate(path)}
            begin = len(steps)
            for node in path:
                at_node[node].append(len(steps))
                steps.append((node, step_of.get(parents[node], -1), c, place, counts[node]))
                place += 2 * counts[node] * rows[c]
            if c < len(kinds):
                at = [step_of.get(node, -1) for node in self.cuts.table[c, 1:4].tolist()]
            else:
                at = [-1, -1, -1]
                self._begin_terms(c - len(kinds), carriers, step_of)
            self._ends.append((begin, len(steps), *at))
        self._steps, self._efforts = np.array(steps, dtype=np.int64).reshape(-1, 5), place
        self._passing = np.array([x for own in at_node for x in own], dtype=np.int64)
        self._passing_begin = np.cumsum([0, *map(len, at_node)])
        self._near: list[set[int]] = [set() for _ in rows]
        for own, count in zip(at_node, counts, strict=True) if self._is_coupled else ():
            through = {steps[x][2] for x in own} if count else set()
            for c in through:
                self._near[c] |= through

    def _touched(self, carriers: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Nodes that the path of each cut joint and each relation begins with."""
        ends: list[list[int]] = self.cuts.table[:, 1:3].tolist()
        return ends + [
            [
                x
                for j in row.G
                for x in (ends[self._ties[j][0]] if j in self._ties else carriers[j][:1])
            ]
            for row in self.cuts.relations
        ]

    def _begin_terms(
        self, e: int, carriers: Sequence[tuple[int, int]], step_of: Mapping[int, int]
    ) -> None:
        """Terms of a relation, and those of velocities that cut joints keep."""
        for j in self.cuts.relations[e].G:
            if j in self._ties:
                cut, row = self._ties[j]
                at = [step_of.get(node, -1) for node in self.cuts.table[cut, 1:4].tolist()]
                self._kept_terms.append((e, len(self._terms), j, cut, row, *at))
                self._terms.append((j, -1, 0))
            else:
                self._terms.append((j, step_of[carriers[j][0]], carriers[j][1]))

    # records

    def multipliers(self, vanished: NDArray[np.bool_]) -> list[int]:
        """How many multipliers each cut joint has."""
        begins = itertools.pairwise(np.cumsum([0, *self._rows]))
        return [int(np.sum(~vanished[a:b])) for a, b in begins]

    def place(self, vanished: NDArray[np.bool_]) -> Ints:
        """The multiplier of each row; of rows that vanish further ones, in their order."""
        order = np.array(self.cuts.order, dtype=np.int64)
        place = np.zeros(len(order), dtype=np.int64)
        kept = order[~vanished[order]]
        place[kept] = np.arange(len(kept))
        place[vanished] = len(kept) + np.arange(len(order) - len(kept))
        return place

    def _envelope(self, vanished: NDArray[np.bool_]) -> Envelope:
        """The envelope of G M⁻¹ Gᵀ, its order by multipliers."""
        envelope = envelope_of(self._near, self.multipliers(vanished))
        order = np.zeros_like(envelope.order)
        order[self.place(vanished)[~vanished]] = envelope.order
        return replace(envelope, order=order)

    def system(self, tree_words: int, vanished: NDArray[np.bool_]) -> CutSystem:
        """The record of them.

        Args:
            tree_words: numbers of work of a pass over the tree.
            vanished: rows without multipliers, since they hold whatever moves.
        """
        model, cuts, rows = self.model, self.cuts, self._rows
        begins, place = np.cumsum([0, *rows]), self.place(vanished)
        sizes, envelope, nc = self.multipliers(vanished), self._envelope(vanished), sum(~vanished)
        system = CutSystem.new(
            {"constants": len(cuts.constants)},
            n_joints=len(cuts.table), n_frames=len(cuts.frames), n_relations=len(cuts.relations),
            n_terms=len(self._terms), n_kept_terms=len(self._kept_terms),
            n_nodes=len(model.nodes) - model.kept, nq=model.nq, nv=model.nv, nc=nc,
            n_cuts=len(rows), n_classes=len(cuts.classes), n_kinds=len(model.forward.carry),
            n_steps=len(self._steps), n_pieces=len(self._relations.program.entries),
            n_rows=len(place), n_results=21 * int(begins[-1]), n_efforts=self._efforts,
            n_matrix=envelope.size, longest=max((b - a for a, b, *_ in self._ends), default=0),
        )  # fmt: skip
        system.tree_words = tree_words
        system.cuts.ints[:] = self._cut_rows(begins)
        system.steps.ints[:] = self._steps
        system.passing[:], system.passing_begin[:] = self._passing, self._passing_begin
        system.place[:] = place
        own = place[~vanished]
        system.owner[own] = np.repeat(np.arange(len(rows)), sizes)
        ties = np.array(
            [k >= held for n, held in zip(rows, self._held, strict=True) for k in range(n)],
            dtype=bool,
        )
        system.is_tie[own], system.n_ties = ties[~vanished], int(np.sum(ties))
        system.order[:], system.first[:] = envelope.order, envelope.first
        reach = np.array([*cuts.reach, *[UNKNOWN] * len(cuts.relations)])
        system.start[:], system.reach[own] = envelope.start, reach[~vanished]
        shown = shown_cuts(sizes[: len(cuts.joints)])
        system.shown[shown] = np.arange(len(shown))
        system.components[:] = cuts.components
        self._put_relations(system, vanished)
        system.constants[:], system.markers[:] = cuts.constants, cuts.markers[:, 1:]
        return system

    def numbers(self, vanished: NDArray[np.bool_]) -> int:
        """How many numbers of G the entry `rows` writes."""
        sizes = self.multipliers(vanished)
        own = sum(sizes[c] * count for _, _, c, _, count in self._steps.tolist())
        return own + len(self._ties) + len(self._kept_terms)

    def pattern(self, vanished: NDArray[np.bool_]) -> RowPattern:
        """Where the numbers of G lie that the entry `rows` writes; what each row loads."""
        model, rows = self.model, self._rows
        begins = np.cumsum([0, *rows])
        place = np.where(vanished, -1, self.place(vanished))
        starts = model.nodes[:, 3]
        listed = [
            (int(place[begins[c] + r]), int(starts[node]) + j)
            for node, _, c, _, count in self._steps.tolist()
            for r in range(rows[c])
            if place[begins[c] + r] >= 0
            for j in range(count)
        ]
        listed += [(int(place[begins[c] + r]), v) for v, (c, r) in self._ties.items()]
        first = len(self.cuts.table)
        listed += [(int(place[begins[first + x[0]]]), x[2]) for x in self._kept_terms]
        table = np.array(listed, dtype=np.int64).reshape(-1, 2)
        envelope = self._envelope(vanished)
        return RowPattern(
            table[:, 0], table[:, 1], model.nv, envelope.order, envelope.first, envelope.start,
            envelope.size, self._loaded(vanished),
        )  # fmt: skip

    def _loaded(self, vanished: NDArray[np.bool_]) -> tuple[Ints, ...]:
        """Joints that the multiplier of each row may load, rows that vanish last."""
        model, count = self.model, len(self.cuts.joints)
        shown = shown_cuts(self.multipliers(vanished)[:count])
        behind = np.arange(len(self.cuts.table))
        behind[shown] = np.arange(count)
        behind += len(model.joints)
        parents = model.nodes[:, 1].tolist()
        own = reached_joints(parents, self.cuts.table[:, 1:3].tolist(), behind.tolist())
        own += [np.zeros(0, dtype=np.int64)] * len(self.cuts.relations)
        each = [own[c] for c, n in enumerate(self._rows) for _ in range(n)]
        return tuple(each[k] for k in np.argsort(self.place(vanished)))

    def nphi(self, vanished: NDArray[np.bool_]) -> int:
        """How many multipliers hold positions."""
        rates = [*self.cuts.are_rates, *(x.phi is None for x in self.cuts.relations)]
        return int(np.sum(~vanished & ~np.array(rates, dtype=bool)))

    def _put_relations(self, system: CutSystem, vanished: NDArray[np.bool_]) -> None:
        """Terms of relations, and which of them hold rates or move with time."""
        relations = self.cuts.relations
        system.nphi = self.nphi(vanished)
        system.is_driven = int(is_driven(relations))
        system.term_begin[:] = np.cumsum([0, *(len(x.G) for x in relations)])
        owners = [x[0] for x in self._kept_terms]
        system.kept_begin[:] = np.searchsorted(owners, np.arange(len(relations) + 1))
        system.kept_terms.ints[:] = _table(self._kept_terms, KeptTerm)
        system.terms.ints[:] = _table(self._terms, Term)

    def _cut_rows(self, begins: Ints) -> Ints:
        listed = self.cuts.table.tolist()
        listed += [[-1, -1, -1, -1, 0, 0, 0, 0]] * len(self.cuts.relations)
        table = [
            (kind, first, second, root, constants, 21 * int(row), rows, held, *kept, int(row),
             *ends)
            for (kind, first, second, root, constants, *kept), rows, held, row, ends in zip(
                listed, self._rows, self._held, begins[:-1], self._ends, strict=True
            )
        ]  # fmt: skip
        return np.array(table, dtype=np.int64).reshape(-1, Cut.header)


def shown_cuts(sizes: Sequence[int]) -> list[int]:
    """Cut joints in the order of their reactions: those without multipliers last."""
    return sorted(range(len(sizes)), key=lambda c: sizes[c] == 0)


assert PathStep.header == 5, "a step is what `_begin_paths` lists"


def _ties(kinds: Sequence[CutClass], begins: Sequence[int]) -> dict[int, tuple[int, int]]:
    """A velocity that a cut joint keeps -> the joint, and its row that ties the velocity."""
    return {
        v + k: (c, one.rows + k)
        for c, (one, v) in enumerate(zip(kinds, begins, strict=True))
        for k in range(one.ties)
    }


def _table(rows: Sequence[Sequence[int]], record: type[Record]) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, record.header)


def _carriers(nodes: Ints) -> list[tuple[int, int]]:
    """The node of each velocity, and its place there."""
    listed = [(i, k) for i, count in enumerate(nodes[:, 5].tolist()) for k in range(count)]
    return sorted(listed, key=lambda x: int(nodes[x[0], 3]) + x[1])


def _related(relations: Sequence[RestRow]) -> list[Expr]:
    """Φ̈ at v̇ = 0, Φ, Φ̇ and ν of all relations, then the entries of their rows."""
    levels = (
        [x.second for x in relations],
        [ZERO if x.phi is None else x.phi for x in relations],
        [x.rate for x in relations],
        [x.nu for x in relations],
        [entry for x in relations for entry in x.G.values()],
    )
    return [formula for level in levels for formula in level]


def is_driven(relations: Sequence[RestRow]) -> bool:
    """Whether some relation moves with time, and does work."""
    return not all(vanishes(x.nu) for x in relations)


def _path(parents: Sequence[int], node: int) -> list[int]:
    """A node and all it hangs on."""
    path = []
    while node >= 0:
        path.append(node)
        node = parents[node]
    return path


DENSE = 2000
"""Velocities and multipliers up to which M and G are there as dense matrices, for states that the
loops cannot solve and for reactions that are not determined; with contacts in any case."""

PROBES, VANISHED, HELD = 2, 1e-11, 1e-9
"""Positions that are probed; part of the largest rate below which that of a row is rounding; what
may be left over of a row that holds whatever moves [m, 1]."""

CUTS, CARRY, RELATED = "cuts", "carry", "related"

UNKNOWN = (SMALLEST / NOISE) ** 0.5
"""Reach of a relation: how large its entries can be is not known."""

OF_TREE = {"retract", "energy", "momentum", "poses", "motions"}
"""Entries that know nothing of cut joints."""

NEEDS: dict[str, tuple[int | str, ...]] = {
    "forward": (FORWARD, MOTION, LOADS, CUTS, CARRY),
    "rate": (FORWARD, MOTION, LOADS, LOCAL, CUTS, CARRY),
    "retract": (LOCAL,), "energy": (MOTION, STORED), "work": (MOTION, STORED),
    "momentum": (MOTION,), "poses": (MOTION,), "motions": (MOTION,), "markers": (MOTION,),
    "closure": (MOTION, CUTS), "correct_q": (FORWARD, MOTION, CUTS, CARRY),
    "correct_v": (FORWARD, MOTION, CUTS, CARRY), "close_q": (INVERSE, MOTION, CUTS),
    "close_v": (INVERSE, MOTION, CUTS), "reactions": (INVERSE, MOTION, LOADS, CUTS),
    "self_stress": (INVERSE, MOTION, CUTS), "terms": (INVERSE, MOTION, LOADS, CUTS),
    "rows": (INVERSE, MOTION, CUTS), "lightness": (FORWARD, MOTION, CUTS, CARRY),
}  # fmt: skip
"""What an entry calls."""


def closed_kernel(
    model: LoopedTree, *, starts: Mapping[str, Mapping[str, float]] | None = None
) -> MachineKernel:
    """The kernel of a closed mechanism of many bodies.

    Args:
        model: of its tree and cut joints.
        starts: label of each start -> its derivatives by parameters, for those who look at a run.

    Raises:
        DerivationError: a row that holds whatever moves does not hold.
    """
    cuts = model.cuts
    assert cuts is not None, "a tree without cut joints and relations has a kernel of its own"
    code = ClosedCode(model, cuts)
    return code.kernel(vanished_rows(code), {"starts": starts or {}})


def vanished_rows(code: ClosedCode) -> NDArray[np.bool_]:
    """Rows of cut joints whose rate is zero at random positions and velocities.

    Raises:
        DerivationError: one of them does not hold.
    """
    model, none = code.model, np.zeros(len(code.cuts.labels) + len(code.cuts.relations), dtype=bool)
    if not len(code.cuts.table):
        return none
    kernel = code.kernel(none, {})
    assert model.cuts is not None
    draw = np.random.default_rng(0)
    reach = np.array(model.cuts.reach)
    place = code.cut_tables.place(none)[: len(reach)]
    holds = ~np.array(model.cuts.are_rates, dtype=bool)
    vanished = np.ones(len(reach), dtype=bool)
    neutral = np.array(model.neutral)
    for _ in range(PROBES):
        xi, v = draw.normal(size=(2, model.nv))
        q = kernel("retract", q=neutral, x=xi)
        left = kernel.call("closure", q=q, v=v)
        size = np.abs(left["rate"][place]) / reach
        vanished &= size <= VANISHED * np.max(size, initial=0.0)
    off = np.zeros(len(reach))
    off[holds & vanished] = left["phi"][place[holds & vanished]] / reach[holds & vanished]
    if np.max(np.abs(off), initial=0.0) > HELD:
        worst = int(np.argmax(np.abs(off)))
        raise DerivationError(
            f"the row {model.cuts.labels[worst].name!r} cannot hold: it is off by "
            f"{off[worst] * reach[worst]:.3g} whatever moves."
        )
    none[: len(reach)] = vanished
    return none


@final
class ClosedCode:
    """Code of a tree and of its cut joints, for kernels that leave out different rows.

    Args:
        model: of the tree.
        cuts: of it.
        scratch: numbers that further code wants.
    """

    def __init__(self, model: LoopedTree, cuts: Cuts, scratch: int = 0) -> None:
        self.model, self.cuts = model, cuts
        self.cut_tables = CutTables(model, cuts)
        self.tables = TreeTables(model, max(scratch, self.cut_tables.scratch))
        self.written = to_llvm(written_out(model))

    def system(self, vanished: NDArray[np.bool_]) -> CutSystem:
        """The record of the cut joints, with multipliers of all rows but these."""
        return self.cut_tables.system(self.tables.work_size, vanished)

    def kernel(
        self, vanished: NDArray[np.bool_], facts: Mapping[str, Any], system: CutSystem | None = None
    ) -> MachineKernel:
        """The kernel with multipliers of all rows but these."""
        tables, written = self.tables, self.written
        cuts = self.system(vanished) if system is None else system
        length = 2 * tables.work_size + evaluate(CutWork.length(), cuts.counts)
        program = self._program(vanished, facts)

        def compiler(names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
            needs = {need for name in names for need in NEEDS.get(name, ())}
            if "work" in names and cuts.is_driven:
                needs |= {*NEEDS["forward"]}
            tables.fill(needs - {CUTS, CARRY})
            if "markers" in names:
                self.cut_tables.fill_touch(cuts)
            if CUTS in needs:
                self.cut_tables.fill_joints(cuts)
            if CARRY in needs:
                self.cut_tables.fill_carry(cuts)
            pointers = [tables.system.ints.ctypes.data, cuts.ints.ctypes.data]
            compiled: dict[str, int] = {}
            kept: list[Trampoline] = []
            for entries, count in ((_of_tree(), 1), (closed_entries.ENTRIES, 2)):
                own = [name for name in names if name in entries]
                if own:
                    code = Trampoline({x: _loops().address(entries[x]) for x in own}, count)
                    code.pass_on(pointers[:count])
                    compiled |= {name: code[name] for name in own}
                    kept.append(code)
            compiled |= {x: written.address(x) for x in names if x not in NEEDS}
            return compiled, (kept, self, cuts)

        def work_size(name: str) -> int:
            if name in OF_TREE:
                return tables.work_size
            return length if name in NEEDS else written.work_size(name)

        return MachineKernel(program, compiler, work_size, reads=_reads(program, vanished.size))

    def _joints(self, vanished: NDArray[np.bool_]) -> tuple[str, ...]:
        """All joints in the order of their reactions."""
        sizes = self.cut_tables.multipliers(vanished)
        shown = shown_cuts(sizes[: len(self.cuts.joints)])
        return (*self.model.joints, *(self.cuts.joints[c] for c in shown), *self.cuts.frames)

    def _program(self, vanished: NDArray[np.bool_], facts: Mapping[str, Any]) -> Program:
        """What the kernel offers: names, sizes and labels; its loops have no formulas."""
        model, cuts = self.model, self.cuts
        labels = (*cuts.labels, *(x.label for x in cuts.relations))
        kept = [labels[k] for k in cuts.order if not vanished[k]]
        nq, nv, nc = model.nq, model.nv, len(kept)
        nphi = self.cut_tables.nphi(vanished)
        entries = {
            name: Entry.of_loop(name, layout, hint=WRITTEN_OUT)
            for name, layout in {
                **_layouts(model, self._joints(vanished), nc, nphi),
                "rows": (("G", self.cut_tables.numbers(vanished)), ("gamma", nc)),
            }.items()
            if name != "terms" or nv + nc <= DENSE or model.sides is not None
        }
        inputs, parameters = len(model.labels["u"]), len(model.labels["p"])
        defaults = defaults_of(model.mechanism)
        out = [x.name for x, is_out in zip(labels, vanished, strict=True) if is_out]
        more = {
            "vanished": tuple(out), "closures": partial(_closures, cuts, vanished),
            "rows": cache(partial(self.cut_tables.pattern, vanished)),
        }  # fmt: skip
        return Program(
            name=model.mechanism.name,
            entries=MappingProxyType(entries | dict(self.written.program.entries)),
            inputs=model.written.places,
            sizes=MappingProxyType(
                {
                    "nq": nq,
                    "nv": nv,
                    "nc": nc,
                    "nphi": nphi,
                    "nu": inputs,
                    "np": parameters,
                    "nx": max(nq, nv + vanished.size),
                }
            ),
            labels=MappingProxyType({**model.labels, "lam": tuple(kept)}),
            defaults=MappingProxyType({k: np.array(x, dtype=float) for k, x in defaults.items()}),
            facts=MappingProxyType({**facts_of(model), **more, **facts}),
        )


def _layouts(
    model: LoopedTree, joints: tuple[str, ...], nc: int, nphi: int
) -> dict[str, tuple[tuple[str, int], ...]]:
    """Blocks of every entry."""
    nq, nv = model.nq, model.nv
    step = (("delta", nv), ("worst", 1))
    return {
        "forward": (("vdot", nv), ("lam", nc), ("residual", 1)),
        "rate": (("xidot", nv), ("vdot", nv), ("residual", 1)),
        "retract": (("q", nq),),
        "closure": (("phi", nphi), ("rate", nc)),
        "correct_q": step,
        "correct_v": step,
        "close_q": (*step, ("weakest", 1)),
        "close_v": (*step, ("weakest", 1)),
        "energy": (("T", 1), ("U", 1)),
        "work": (("T", 1), ("U", 1), ("power", 1)),
        "momentum": (("moment", 3), ("force", 3)),
        "poses": tuple((name, 12) for name in model.bodies),
        "motions": tuple((name, 12) for name in model.bodies),
        "markers": tuple((name, 12) for name in joints),
        "reactions": tuple((name, 6) for name in joints),
        "self_stress": tuple((name, 6) for name in joints),
        "lightness": (("inverse_inertia", nc),),
        "terms": (("M", nv * nv), ("G", nc * nv), ("f", nv), ("gamma", nc), ("phi", nphi),
                  ("nu", nc)),
    }  # fmt: skip


def _closures(cuts: Cuts, vanished: NDArray[np.bool_]) -> list[tuple[Expr, Expr]]:
    """Φ (0 of rows of rates, and of cut joints) and ν of every multiplier."""
    listed = [(ZERO, ZERO)] * len(cuts.labels)
    listed += [(ZERO if x.phi is None else x.phi, x.nu) for x in cuts.relations]
    return [listed[k] for k in cuts.order if not vanished[k]]


def _reads(program: Program, rows: int) -> dict[str, dict[str, int]]:
    """How many leading elements of each array an entry looks at."""
    sizes = program.sizes
    nv, nc = sizes["nv"], sizes["nc"]
    whole = {"t": 1, **{x: sizes[f"n{x}"] for x in "qvup"}, "x": 0}
    extra = {
        "rate": nv, "motions": nv, "reactions": nv + nc, "self_stress": rows, "close_q": nv,
        "close_v": nv,
    }  # fmt: skip
    reads = {name: {**whole, "x": extra.get(name, 0)} for name in NEEDS}
    return reads | {"retract": {**whole, "v": 0, "x": nv}}


@cache
def _of_tree() -> dict[str, Any]:
    return {name: x for name, x in tree_loops.ENTRIES.items() if name in OF_TREE}


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*closed_entries.ENTRIES.values(), *_of_tree().values()])
