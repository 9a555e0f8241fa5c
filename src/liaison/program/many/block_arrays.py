"""The system of a mechanism in blocks: tables, constants and entries of kernels in one record.

Public names: BlockArrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from liaison.equations.sweeps.rest import Rest, RestRow
from liaison.equations.sweeps.sweeps import Blocks
from liaison.expr import Expr, as_expr
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.loops.records import Rows, evaluate
from liaison.program.program import Array, Entry, Program

from .block_layout import Body, System, Work
from .block_tables import BlockTables


@final
class BlockArrays:
    """Kernels of nodes, closures and of what is written out; the `system` over them.

    Args:
        made: the blocks.
        rest: loads and relations; None where there are none.
        frames: of bodies: node and pose in it, twelve numbers each.
        marks: poses of the markers of closures in which reactions are expressed, twelve numbers
            each.
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
        entries = self._entries()
        numbers: dict[str, Array] = {
            "constants": np.asarray(made.constants, dtype=float).ravel(),
            "closure_constants": np.asarray(made.closure_constants, dtype=float).ravel(),
            "ground": np.array(made.ground, dtype=float),
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
        t, made, order = self.tables, self.made, self.tables.order
        return {
            "bodies": t.bodies, "kept": made.kept, "unknowns": t.unknowns,
            "n_blocks": len(order.slots),
            "degree": int((order.pivots[:, 2] - order.pivots[:, 1]).max(initial=0)),
            "nq": made.nq, "nv": made.nv, "nc": t.nc, "nphi": t.nphi,
            "n_results": t.end - (t.bodies + 1) * Body.header, "n_scratch": self._work,
            "n_rows": len(t.rows), "n_lent": len(t.lent), "n_closed": len(t.closed),
            "n_relations": len(t.relations), "n_terms": len(t.terms),
            "n_pivots": len(order.pivots), "n_edges": len(order.edges),
            "n_targets": len(order.targets),
            "n_taus": 0 if self.rest is None else len(self.rest.tau),
            "n_frames": frames, "n_markers": markers, "n_classes": len(made.blocks),
            "n_closing": len(made.closing),
        }  # fmt: skip

    def _fill_tables(self) -> None:
        s, t, order = self.system, self.tables, self.tables.order
        filled: list[tuple[Rows[Any], Any]] = [
            (s.nodes, self.made.nodes), (s.couplings, t.rows), (s.lent, t.lent),
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
        made, rest = self.made, self.rest
        listed: dict[str, tuple[Sequence[Sequence[Expr]], Any]] = {
            "node": ([one.formulas for one in made.blocks], made.inputs),
            "closure": ([one.formulas for one in made.closing], made.closure_inputs),
            "retract": ([one.retract for one in made.blocks], made.local_inputs),
            "rate": ([one.rate for one in made.blocks], made.local_inputs),
        }
        if rest is not None:
            formulas = [[*rest.tau.values()], _flat(rest.rows), [rest.potential]]
            listed["rest"] = (formulas, rest.places)
        return {name: self._addresses(name, *x) for name, x in listed.items()}

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


def _flat(rows: Sequence[RestRow]) -> list[Expr]:
    """Results of relations: Φ̈, Φ and Φ̇ of all, then the entries of their rows on v."""
    levels = [x.second for x in rows] + [as_expr(0 if x.phi is None else x.phi) for x in rows]
    return [*levels, *(x.rate for x in rows), *(g for x in rows for g in x.G.values())]
