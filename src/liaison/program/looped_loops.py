"""looped_loops: forward dynamics of closed mechanisms of any size, as loops over index tables.

One kernel for each class of nodes and of closures, one elimination that is ordered once: ten
thousand bodies are ready in seconds, and where loops couple neighbours only, an answer costs the
same for each body however many there are. Unrolled code (newton_euler, to_llvm) is many times
faster where it can be compiled; see docs/performance.md.

Public names: looped_loops, LoopedLoops.
"""

from __future__ import annotations

from functools import cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.equations.sweep_blocks import FOUND, STATE
from liaison.equations.sweeps import Blocks
from liaison.errors import ProgramError

from . import block_assembly as assembly
from .block_loops import eliminate, solve_blocks
from .block_order import ordered
from .looped import sweep_nodes
from .loops_compile import CompiledLoops, compile_loops
from .program import Array, Entry, Program
from .to_llvm import to_llvm

Ints = NDArray[np.int64]

REFINEMENTS = 12
"""At most; each gives back what ρ took away, of short loops to about the eighth digit of what is
left, of chains of thousands of bodies to the first. It ends where corrections no longer halve."""

ROUNDING = 1e-15
"""A correction below this part of what is found changes nothing."""


def looped_loops(made: Blocks) -> LoopedLoops:
    """Forward dynamics of a tree and its closures, as loops: `looped_loops(blocks_of(tree))`."""
    return LoopedLoops(made)


@final
class LoopedLoops:
    """A closed mechanism that answers for its motion; use one object in each thread."""

    def __init__(self, made: Blocks) -> None:
        self.made = made
        self._n = len(made.nodes)
        self._record = FOUND + 12 * 6
        self._number_unknowns()
        self._order = ordered(self._touched, [bool(x) for x in self._is_row])
        self._tables()
        self._compile()
        self._allocate()

    # what is unknown, and who touches whom

    def _number_unknowns(self) -> None:
        made, n = self.made, self._n
        rows = [made.blocks[c].rows for c in made.nodes[:, 0]]
        self._row_of = {i: n + k for k, i in enumerate(i for i in range(n) if rows[i])}
        first = n + len(self._row_of)
        self._closure_of = [first + k for k in range(len(made.closures))]
        total = first + len(made.closures)
        self._sizes = np.full(total, 6, dtype=np.int64)
        self._is_row = np.zeros(total, dtype=np.int64)
        self._is_row[n:] = 1
        self._touched: list[set[int]] = [set() for _ in range(total)]
        for i, unknown in self._row_of.items():
            self._sizes[unknown] = rows[i]
            parent = int(made.nodes[i, 1])
            self._touch(unknown, i, parent)
            if made.needs_lending[i] and parent >= 0:
                self._touch(i, parent)
        for unknown, (c, a, b, *_) in zip(self._closure_of, made.closures, strict=True):
            self._sizes[unknown] = made.closure_rows[c]
            self._touch(unknown, int(a), int(b))

    def _touch(self, unknown: int, *bodies: int) -> None:
        for body in bodies:
            if body >= 0:
                self._touched[unknown].add(body)
                self._touched[body].add(unknown)

    # tables

    def _tables(self) -> None:
        self._rows_listed: list[tuple[int, ...]] = []
        self._joint_tables()
        self._closure_tables()
        self._rows = _ints(self._rows_listed, assembly.ROW)

    def _joint_tables(self) -> None:
        """Rows, lenders and motions of the joints of the tree."""
        made = self.made
        lent: list[tuple[int, ...]] = []
        joints: list[tuple[int, ...]] = []
        for i, (c, parent, _, v, _, nv) in enumerate(made.nodes.tolist()):
            here, count = (i + 1) * self._record + FOUND, made.blocks[c].rows
            if count:
                self._add_rows(self._row_of[i], (i, parent), (here, here + 6), 12)
            if made.needs_lending[i]:
                slot = self._signed_slot(i, parent) if parent >= 0 else 0
                lent.append((i, parent, slot, here, count, here - 2))
            joints.append((i, parent, here + 12 * count, v, nv))
        self._lent, self._joints = _ints(lent, assembly.LENT), _ints(joints, 5)

    def _closure_tables(self) -> None:
        """Rows of closures, whose results lie behind the records of the nodes."""
        made, start = self.made, (self._n + 1) * self._record
        counts = [made.closure_rows[c] for c in made.closures[:, 0]]
        closed: list[tuple[int, ...]] = []
        for unknown, row, count in zip(
            self._closure_of, made.closures.tolist(), counts, strict=True
        ):
            closed.append((*row, start))
            self._add_rows(unknown, (row[1], row[2]), (start, start + 6 * count), 6)
            start += 13 * count
        self._closed, self._length = _ints(closed, 5), start
        ends = [row[4] + 12 * n for row, n in zip(closed, counts, strict=True)]
        self._closing = _places([6 * u for u in self._closure_of], counts)
        self._gammas = _places(ends, counts)

    def _add_rows(
        self, unknown: int, bodies: tuple[int, int], offsets: tuple[int, int], stride: int
    ) -> None:
        for body, offset in zip(bodies, offsets, strict=True):
            if body >= 0:
                self._rows_listed.append(self._row(unknown, body, offset, stride))

    def _row(self, unknown: int, body: int, offset: int, stride: int) -> tuple[int, ...]:
        place = self._order.place
        turned = place[unknown] < place[body]
        key = (body, unknown) if turned else (unknown, body)
        return (unknown, body, self._order.slots[key], offset, stride, int(turned))

    def _signed_slot(self, i: int, parent: int) -> int:
        """The slot of two bodies; −1 − slot where the parent's accelerations are its rows."""
        if self._order.place[i] > self._order.place[parent]:
            return self._order.slots[i, parent]
        return -1 - self._order.slots[parent, i]

    # code and arrays

    def _compile(self) -> None:
        made = self.made
        entries = {f"node {c}": Entry(f"node {c}", x.formulas) for c, x in enumerate(made.blocks)}
        kernel = to_llvm(Program(f"{made.name}, blocks", entries, made.inputs))
        ends = {f"closure {c}": Entry(f"closure {c}", x) for c, x in enumerate(made.closing)}
        closing = to_llvm(Program(f"{made.name}, closures", ends, made.closure_inputs))
        for one, names in ((kernel, entries), (closing, ends)):
            if names:
                one.compile(*names)
        self._kept = (kernel, closing)
        self._nodes = np.array([kernel.address(name) for name in entries], dtype=np.int64)
        self._ends = np.array([closing.address(name) for name in ends] or [0], dtype=np.int64)
        sizes = [kernel.work_size(x) for x in entries] + [closing.work_size(x) for x in ends]
        self._work = np.zeros(max(1, *sizes))
        self._loops = _compiled()

    def _allocate(self) -> None:
        total, order = len(self._sizes), self._order
        self._records = np.zeros(self._length)
        self._records[: self._record][:STATE] = self.made.ground
        self._diagonal, self._blocks = np.zeros(36 * total), np.zeros(36 * len(order.slots) + 36)
        self._scale, self._x = np.zeros(6 * total), np.zeros(6 * total)
        degree = int((order.pivots[:, 2] - order.pivots[:, 1]).max(initial=0))
        self._space = np.zeros(36 * (degree + 1))

    # answers

    def forward(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """v̇ under τ and gravity, shape (nv,), and the multipliers of the closures' rows."""
        made = self.made
        given = [self._checked("q", q, made.nq), self._checked("v", v, made.nv)]
        force = np.zeros(made.nv) if tau is None else self._checked("tau", tau, made.nv)
        self._assemble(given[0], given[1], force)
        self._solve()
        vdot = np.zeros(made.nv)
        call = self._loops[assembly.found_motions]
        call(len(self._joints), self._joints.ravel(), self._records, self._x, vdot)
        return vdot, -self._x[self._closing]

    def _checked(self, name: str, x: ArrayLike, size: int) -> Array:
        found = np.ascontiguousarray(x, dtype=np.float64)
        if found.shape != (size,):
            raise ProgramError(
                f"{self.made.name!r} takes {size} numbers in {name!r}, not an array of shape "
                f"{found.shape}."
            )
        return found

    def _assemble(self, q: Array, v: Array, tau: Array) -> None:
        made, loops, records = self.made, self._loops, self._records
        step = np.array([0, 0, 0, 0], dtype=np.int64)
        loops[sweep_nodes](
            self._n, step, self._record, made.nodes.ravel(), self._nodes, q, v, made.constants,
            records, self._work,
        )  # fmt: skip
        loops[assembly.over_closures](
            len(self._closed), self._closed.ravel(), self._ends, self._record,
            made.closure_constants, records, self._work,
        )  # fmt: skip
        for array in (self._diagonal, self._blocks, self._scale, self._x):
            array[:] = 0.0
        loops[assembly.put_bodies](self._n, self._record, STATE, records, self._diagonal, self._x)
        loops[assembly.put_rows](
            len(self._rows), self._rows.ravel(), self._sizes, records, FOUND - 2, self._record,
            self._blocks, self._scale,
        )  # fmt: skip
        loops[assembly.lend](
            len(self._lent), self._lent.ravel(), records, self._diagonal, self._blocks
        )
        loops[assembly.push](len(self._joints), self._joints.ravel(), records, tau, self._x)
        self._x[self._closing] = records[self._gammas]

    def _solve(self) -> None:
        order, loops = self._order, self._loops
        tables = (len(order.pivots), order.pivots.ravel(), order.edges.ravel())
        loops[eliminate](
            *tables, order.targets, self._sizes, self._diagonal, self._blocks, self._scale,
            self._space,
        )  # fmt: skip
        solve, residual = loops[solve_blocks], loops[assembly.take_residual]
        given, x, last = self._x, np.zeros_like(self._x), np.inf
        for _ in range(1 + REFINEMENTS):
            left = given.copy()
            residual(
                self._n, self._record, STATE, len(self._rows), self._rows.ravel(), self._sizes,
                self._records, x, left,
            )  # fmt: skip
            solve(*tables, self._sizes, self._diagonal, self._blocks, self._space, left)
            x += left
            size = float(np.max(np.abs(left), initial=0.0))
            if not size < last / 2 or size <= ROUNDING * np.max(np.abs(x)):
                break
            last = size
        self._x = x
        if not np.all(np.isfinite(self._x)):
            raise ProgramError(
                f"the accelerations of {self.made.name!r} are not finite.",
                hint="Look for a body without mass, or a position that is not finite.",
            )


def _places(starts: list[int], counts: list[int]) -> Ints:
    """So many places from each start on, one after another."""
    pairs = zip(starts, counts, strict=True)
    return np.array([start + i for start, n in pairs for i in range(n)], dtype=np.int64)


def _ints(rows: list[tuple[int, ...]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


@cache
def _compiled() -> CompiledLoops:
    """All loops, once a process."""
    listed = (
        sweep_nodes, assembly.over_closures, assembly.put_bodies, assembly.put_rows,
        assembly.lend, assembly.push, assembly.take_residual, assembly.found_motions,
        eliminate, solve_blocks,
    )  # fmt: skip
    return compile_loops(listed, optimize=3)
