"""The arrays of a mechanism told by blocks: tables and addresses of kernels packed, work measured.

Public names: BlockArrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.sweeps.blocks import STATE
from liaison.equations.sweeps.rest import Rest, RestRow
from liaison.equations.sweeps.sweeps import Blocks
from liaison.expr import Expr, as_expr
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.program import Array, Entry, Program

from . import block_layout as at
from .block_tables import RECORD, BlockTables, Packed

FRAMES = 32
"""Room for a pose and two wrenches."""


@final
class BlockArrays:
    """Kernels of nodes, closures and of what is written out; the arrays `n` and `c` over them.

    Args:
        made: the blocks.
        rest: loads and relations; None where there are none.
        frames: of bodies: node and pose in it, twelve numbers each.
        marks: poses of the markers of closures in which reactions are told, twelve numbers each.
    """

    def __init__(
        self,
        made: Blocks,
        rest: Rest | None = None,
        frames: Sequence[tuple[int, Sequence[float]]] = (),
        marks: Sequence[Sequence[float]] = (),
    ) -> None:
        self.made, self.rest = made, rest
        self.tables = BlockTables(made, () if rest is None else rest.rows)
        self.kept: list[MachineKernel] = []
        self._work = 1
        ints, floats = Packed(at.HEADER, np.int64), Packed(0, np.float64)
        slots = self._counts() | self._places(ints) | self._kernels(ints)
        slots |= {at.POSES: len(frames), at.O_POSES: ints.add([node for node, _ in frames])}
        slots |= {
            at.C_NODES: floats.add(made.constants),
            at.C_ENDS: floats.add(made.closure_constants),
            at.C_GROUND: floats.add(made.ground),
            at.C_POSES: floats.add([x for _, pose in frames for x in pose]),
            at.C_MARKERS: floats.add([x for pose in marks for x in pose]),
        }
        slots |= self._areas()
        self.n: NDArray[np.int64] = ints.array()
        self.c: Array = floats.array()
        for slot, value in slots.items():
            self.n[slot] = value

    @property
    def work_size(self) -> int:
        """Doubles of work space that every entry wants."""
        return int(self.n[at.W_ALL])

    def _counts(self) -> dict[int, int]:
        t, made, rest = self.tables, self.made, self.rest
        return {
            at.BODIES: t.bodies, at.KEPT: made.kept, at.UNKNOWNS: t.unknowns,
            at.ROW_TABLE: len(t.rows), at.LENT_TABLE: len(t.lent),
            at.CLOSED_TABLE: len(t.closed), at.PIVOTS: len(t.order.pivots),
            at.RELATIONS: len(t.relations), at.TERMS: len(t.terms),
            at.TAUS: 0 if rest is None else len(rest.tau), at.NQ: made.nq, at.NV: made.nv,
            at.NC: t.nc, at.NPHI: t.nphi, at.RECORD: RECORD, at.SLOTS: len(t.order.slots),
        }  # fmt: skip

    def _places(self, ints: Packed) -> dict[int, int]:
        t, order = self.tables, self.tables.order
        listed = {
            at.O_NODES: self.made.nodes, at.O_ROWS: t.rows, at.O_LENT: t.lent,
            at.O_CLOSED: t.closed, at.O_JOINTS: t.joints, at.O_PIVOTS: order.pivots,
            at.O_EDGES: order.edges, at.O_TARGETS: order.targets, at.O_SIZES: t.sizes,
            at.O_RELATIONS: t.relation_table, at.O_TERMS: t.terms,
            at.O_TAUS: [] if self.rest is None else [*self.rest.tau],
        }  # fmt: skip
        return {slot: ints.add(table) for slot, table in listed.items()}

    def _kernels(self, ints: Packed) -> dict[int, int]:
        made = self.made
        blocks = [one.formulas for one in made.blocks]
        found = {
            at.E_NODES: ints.add(self._addresses("node", blocks, made.inputs)),
            at.E_ENDS: ints.add(
                self._addresses(
                    "closure", [one.formulas for one in made.closing], made.closure_inputs
                )
            ),
            at.E_RETRACT: ints.add(
                self._addresses("retract", [one.retract for one in made.blocks], made.local_inputs)
            ),
            at.E_RATE: ints.add(
                self._addresses("rate", [one.rate for one in made.blocks], made.local_inputs)
            ),
        }
        if self.rest is None:
            return {**found, at.E_REST: 0}
        listed = [[*self.rest.tau.values()], _flat(self.rest.rows), [self.rest.potential]]
        return {**found, at.E_REST: ints.add(self._addresses("rest", listed, self.rest.places))}

    def _addresses(self, name: str, formulas: Sequence[Sequence[Expr]], inputs: Any) -> list[int]:
        """Addresses of entries, zero where nothing is computed; compiled together."""
        entries = {f"{name} {k}": Entry(f"{name} {k}", x) for k, x in enumerate(formulas) if x}
        kernel = to_llvm(Program(f"{self.made.name}, {name}", entries, inputs))
        if entries:
            kernel.compile(*entries)
        self.kept.append(kernel)
        self._work = max([self._work, *map(kernel.work_size, entries)])
        listed = (f"{name} {k}" for k in range(len(formulas)))
        return [kernel.address(x) if x in entries else 0 for x in listed]

    def _areas(self) -> dict[int, int]:
        """Where each part of the work space begins."""
        t, order = self.tables, self.tables.order
        degree = int((order.pivots[:, 2] - order.pivots[:, 1]).max(initial=0))
        rest = () if self.rest is None else self.rest.tau
        terms = 3 * len(t.relations) + len(t.terms)
        sizes = {
            at.W_RECORDS: t.end, at.W_DIAGONAL: 36 * t.unknowns,
            at.W_BLOCKS: 36 * len(order.slots) + 36, at.W_SCALE: 6 * t.unknowns,
            at.W_X: 6 * t.unknowns, at.W_GIVEN: 6 * t.unknowns, at.W_LEFT: 6 * t.unknowns,
            at.W_TAU: self.made.nv, at.W_TAUS: len(rest), at.W_RELATIONS: terms,
            at.W_Q: self.made.nq + t.nc + FRAMES, at.W_SPACE: 36 * (degree + 1),
            at.W_KERNEL: self._work, at.W_ALL: 0,
        }  # fmt: skip
        found, start = {}, 0
        for slot, size in sizes.items():
            found[slot] = start
            start += size
        return found


def _flat(rows: Sequence[RestRow]) -> list[Expr]:
    """Results of relations: Φ̈, Φ and Φ̇ of all, then the entries of their rows on v."""
    levels = [x.second for x in rows] + [as_expr(0 if x.phi is None else x.phi) for x in rows]
    return [*levels, *(x.rate for x in rows), *(g for x in rows for g in x.G.values())]


assert STATE == 24, "the loops of sparse_entries.py know where a state has what"
