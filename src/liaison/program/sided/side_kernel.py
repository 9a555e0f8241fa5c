"""side_kernel: a kernel for mechanisms of many bodies with contacts, stops and dry friction.

What moves is as in closed_kernel.py; a mechanism without loops has no cut joints there. Rows along
which nothing moves, such as slip across the plane of a planar mechanism, are found by probing and
are zero.

Public names: side_kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.sweeps.implicit import LoopedLoads
from liaison.equations.sweeps.looped_tree import LoopedTree
from liaison.equations.sweeps.sides import LoopedSides
from liaison.expr import Expr, vanishes
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import Loop
from liaison.program.loops.records import evaluate
from liaison.program.many.closed_kernel import ClosedCode, CutTables, vanished_rows
from liaison.program.many.cut_layout import CutSystem, CutWork
from liaison.program.many.tree_kernel import LOADS, LOCAL, WRITTEN_OUT
from liaison.program.many.tree_loops import FORWARD, INVERSE, MOTION, TreeWork
from liaison.program.pieces import pieces_of
from liaison.program.program import Entry, Program

from . import metric_loops, side_entries
from .metric_loops import Wrenches
from .side_layout import LAW_SIZE, Bearing, SideSystem

ENTRIES: dict[str, Loop[..., Any]] = {
    **side_entries.ENTRIES,
    **metric_loops.ENTRIES,
    **side_entries.OF_LOADS,
}

PROBES, VANISHED = 2, 1e-11
"""Positions that are probed; part of the largest row of its contact below which one is rounding."""

NEEDS: dict[str, tuple[int | str, ...]] = {
    "one_sided": (INVERSE, MOTION), "local_rate": (LOCAL,), "reactions": (INVERSE, MOTION, LOADS),
    "factor": (FORWARD, MOTION), "half": (), "back": (), "hold": (), "yields": (FORWARD, MOTION),
    "terms_beside_mass": (INVERSE, MOTION, LOADS), "load_rows": (INVERSE, MOTION),
    "load_laws": (), "forward_under": (FORWARD, MOTION, LOADS),
    "bearings": (INVERSE, MOTION, LOADS),
}  # fmt: skip
"""What an entry calls of the tree."""

OF_ROWS = {**side_entries.ENTRIES, **metric_loops.ENTRIES}
"""Entries about unilateral rows."""

OF_CLOSURES = (
    "closure", "correct_q", "correct_v", "close_q", "close_v", "rows", "lightness", "self_stress",
)  # fmt: skip
"""Entries that a mechanism without closures has not."""


def side_kernel(
    model: LoopedTree, *, starts: Mapping[str, Mapping[str, float]] | None = None
) -> MachineKernel:
    """The kernel of a mechanism of many bodies with unilateral constraints.

    Args:
        model: of its tree, its cut joints, its unilateral rows, and perhaps loads that Moreau's
            steps take at their end.
        starts: label of each start -> its derivatives by parameters, for those who look at a run.

    Raises:
        DerivationError: a row that holds whatever moves does not hold.
    """
    code = _Code(model)
    vanished = vanished_rows(code.closed)
    none = np.zeros(code.rows, dtype=bool)
    still = _still_rows(model, code.kernel(vanished, none, {})) if code.rows else none
    return code.kernel(vanished, still, {"starts": starts or {}})


def _half_code(model: LoopedTree) -> Program:
    """Sweeps of (half-1) for each class of nodes."""
    halves = {f"half {c}": Entry(f"half {c}", x) for c, x in enumerate(model.forward.half)}
    halves |= {f"back {c}": Entry(f"back {c}", x) for c, x in enumerate(model.forward.back)}
    return Program(f"{model.mechanism.name}, metric", halves, model.inputs)


def _law_code(model: LoopedTree, sides: LoopedSides) -> Program:
    """Coefficients of all blocks."""
    name = f"{model.mechanism.name}, laws of contacts"
    return Program(name, pieces_of("law", sides.laws), model.written.places)


def _load_code(name: str, loads: LoopedLoads) -> Program:
    """Laws of loads that follow what they act along."""
    return Program(f"{name}, laws of loads", pieces_of("law", loads.laws), loads.places)


def _still_rows(model: LoopedTree, kernel: MachineKernel) -> NDArray[np.bool_]:
    """Rows of contacts along which nothing moves, beside others of theirs, at random positions.

    Rows that are formulas are none: these may vanish there and nowhere else, as those of `max` do.
    """
    assert model.sides is not None
    draw = np.random.default_rng(0)
    owners, cuts = np.array(model.sides.owners), model.sides.cuts
    still = np.array(cuts.order) < len(cuts.order) - len(cuts.relations)
    for _ in range(PROBES):
        q = kernel("retract", q=np.array(model.neutral), x=draw.normal(size=model.nv))
        D = kernel.call("one_sided", q=q, v=np.zeros(model.nv))["D"].reshape(-1, model.nv)
        size = np.max(np.abs(D), axis=1, initial=0.0)
        most = np.zeros(int(owners.max()) + 1)
        np.fmax.at(most, owners, size)
        still &= size <= VANISHED * most[owners]  # not of what is not a number
    return still


@final
class _Code:
    """Code of a mechanism and of its unilateral rows."""

    def __init__(self, model: LoopedTree) -> None:
        assert model.cuts is not None, "perhaps with nothing in it"
        assert model.sides is not None, "without them it has a kernel of its own"
        self.model, self.sides = model, model.sides
        self.tables = CutTables(model, model.sides.cuts, is_coupled=False)
        self.implicit = model.implicit or LoopedLoads.none()
        self.load_tables = CutTables(model, self.implicit.cuts, is_coupled=False)
        self.laws, self.halves = to_llvm(_law_code(model, model.sides)), to_llvm(_half_code(model))
        self.load_laws = to_llvm(_load_code(model.mechanism.name, self.implicit))
        codes = (self.laws, self.halves, self.load_laws)
        sizes = [one.work_size(x) for one in codes for x in one.program.entries]
        scratch = max(self.tables.scratch, self.load_tables.scratch, *sizes)
        self.closed = ClosedCode(model, model.cuts, scratch)
        self.rows = len(model.sides.owners)
        self.loads = len(self.implicit.counted)

    def metric(self, cuts: CutSystem) -> int:
        """Numbers of the metric of M by loops."""
        counts = self.closed.tables.system.counts
        own = evaluate(TreeWork.length(), counts) + evaluate(Wrenches.length(), counts)
        return own + (evaluate(CutWork.length(), cuts.counts) if int(cuts.nc) else 0)

    def kernel(
        self, vanished: NDArray[np.bool_], still: NDArray[np.bool_], facts: Mapping[str, Any]
    ) -> MachineKernel:
        """The kernel with multipliers of all rows but some, and some unilateral rows zero."""
        cuts = self.closed.system(vanished)
        base = self.closed.kernel(vanished, facts, cuts)
        words = self.closed.tables.work_size
        rows = self.tables.system(words, np.zeros(self.rows, dtype=bool))
        loads = self.load_tables.system(words, np.zeros(self.loads, dtype=bool))
        sides = self._system(still, cuts)
        beside = [evaluate(CutWork.length(), x.counts) for x in (rows, loads)]
        sides.reactions_at = int(sides.work_at) + max(*beside, self.model.nv + self.metric(cuts))
        length = int(sides.reactions_at) + base.out_size("reactions")
        joints = [name for name, _ in base.program.entry("reactions").layout]
        sides.bearings.ints[:] = self._bearings(joints)
        kept = (self.closed.tables.system, cuts, rows, loads, sides)

        def compiler(names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
            own = [name for name in names if name in ENTRIES]
            others = [name for name in names if name not in ENTRIES]
            if others:
                base.compile(*others)
            compiled = {name: base.address(name) for name in others}
            codes = []
            self._fill(own, cuts, rows, loads, sides)
            for listed, theirs in ((OF_ROWS, rows), (side_entries.OF_LOADS, loads)):
                these = [x for x in own if x in listed]
                if these:
                    code = Trampoline({x: _loops().address(ENTRIES[x]) for x in these}, 4)
                    tables = (self.closed.tables.system, cuts, theirs, sides)
                    code.pass_on([x.ints.ctypes.data for x in tables])
                    compiled |= {name: code[name] for name in these}
                    codes.append(code)
            return compiled, (codes, self, base, kept)

        def work_size(name: str) -> int:
            return length if name in ENTRIES else base.work_size(name)

        program = self._program(base.program, self.metric(cuts))
        return MachineKernel(program, compiler, work_size, reads=self._reads(base, program))

    def _fill(
        self,
        names: list[str],
        cuts: CutSystem,
        rows: CutSystem,
        loads: CutSystem,
        sides: SideSystem,
    ) -> None:
        """Compiles what entries call."""
        self.closed.tables.fill({need for name in names for need in NEEDS[name]})
        if {*names} & {"one_sided", "reactions", "bearings"}:
            self.tables.fill_joints(rows)
            sides.laws[:] = _addresses(self.laws)
        if "load_rows" in names:
            self.load_tables.fill_joints(loads)
        if "load_laws" in names:
            sides.load_laws[:] = _addresses(self.load_laws)
        carried = {"factor", "yields", "forward_under"}
        if {*names} & {"reactions", "bearings", "terms_beside_mass", *carried}:
            self.closed.cut_tables.fill_joints(cuts)
        if {*names} & carried:
            self.closed.cut_tables.fill_carry(cuts)
        if {*names} & {"half", "back", "factor", "yields"}:
            kinds = range(len(self.model.forward.half))
            _addresses(self.halves)
            sides.half_entries[:] = [self.halves.address(f"half {c}") for c in kinds]
            sides.back_entries[:] = [self.halves.address(f"back {c}") for c in kinds]

    def _bearings(self, joints: list[str]) -> NDArray[np.int64]:
        """Rows of `Bearing`, by the names of joints in the order of their reactions."""
        listed = [(joints.index(joint), parts) for _, joint, parts in self.sides.bearings]
        return np.array(listed, dtype=np.int64).reshape(-1, Bearing.header)

    def _system(self, still: NDArray[np.bool_], cuts: CutSystem) -> SideSystem:
        kinds = len(self.model.forward.half)
        system = SideSystem.new(
            {}, nb=len(self.sides.gaps), nr=self.rows, n_kinds=kinds, n_loads=self.loads,
            n_laws=len(self.laws.program.entries), n_load_laws=len(self.load_laws.program.entries),
            n_bearings=len(self.sides.bearings),
        )  # fmt: skip
        system.counted[:] = self.implicit.counted
        work = 2 * self.closed.tables.work_size + evaluate(CutWork.length(), cuts.counts)
        system.work_at = work
        system.gaps[:], system.is_still[:] = self.sides.gaps, still
        return system

    def _reads(self, base: MachineKernel, program: Program) -> dict[str, dict[str, int]]:
        """How many leading elements of each array an entry looks at."""
        nv, nc = program.sizes["nv"], program.sizes["nc"]
        others = [x for x in program.entries if x not in ENTRIES]
        reads = {name: base._read(name) for name in others}
        whole = {"t": 1, **{x: program.sizes[f"n{x}"] for x in "qvup"}, "x": 0}
        extra = {"local_rate": nv, "reactions": nv + nc + self.rows, "half": nv, "back": nv}
        extra |= {"hold": nv, "forward_under": nv, "bearings": nv + nc + self.rows}
        extra["yields"] = nv * (self.rows + 1)
        extra["load_laws"] = 2 * self.loads
        own = [name for name in program.entries if name in ENTRIES]
        return reads | {name: {**whole, "x": extra.get(name, 0)} for name in own}

    def _program(self, base: Program, metric: int) -> Program:
        """What the kernel offers besides."""
        sides, nv = self.sides, base.sizes["nv"]
        nb, nr = len(sides.gaps), self.rows
        entries = {
            name: x
            for name, x in base.entries.items()
            if base.sizes["nc"] or name not in OF_CLOSURES
        }
        layouts = {
            "one_sided": (
                ("gap", nb), ("rate", nr), ("bias", nr), ("D", nr * nv),
                ("coefficients", LAW_SIZE * nb),
            ),
            "local_rate": (("xidot", nv),),
            "reactions": entries["reactions"].layout,
            "forward_under": entries["forward"].layout,
            **(self._metric_layouts(entries["terms"].layout, metric) if self.is_swept else {}),
        }  # fmt: skip
        if sides.bearings:
            layouts["bearings"] = tuple((sides.words[k][0], 1) for k, *_ in sides.bearings)
        if self.loads:
            sizes = {"x": 1, "rate": 1, "counted": 1, "J": nv}
            layouts["load_rows"] = tuple((x, k * self.loads) for x, k in sizes.items())
            words = ("effort", "damping", "stiffness")
            layouts["load_laws"] = tuple((x, self.loads) for x in words)
        entries |= {name: Entry.of_loop(name, x, hint=WRITTEN_OUT) for name, x in layouts.items()}
        most = max(base.sizes["nx"], nv + base.sizes["nc"] + nr, nv * (nr + 1), 2 * self.loads)
        labels = {**base.labels, "force": sides.sides.labels}
        return replace(
            base,
            entries=MappingProxyType(entries),
            sizes=MappingProxyType({**base.sizes, "nx": most}),
            labels=MappingProxyType(labels),
            facts=MappingProxyType(self._facts(base)),
        )

    @property
    def is_swept(self) -> bool:
        """Whether L of M is known by loops.

        Velocities that cut joints keep have no inertia; what bearings transmit is found with M.
        """
        return self.model.kept == 0 and not self.sides.bearings

    def _metric_layouts(
        self, terms: tuple[tuple[str, int], ...], metric: int
    ) -> dict[str, tuple[tuple[str, int], ...]]:
        nv = self.model.nv
        return {
            "factor": (("metric", metric),), "half": (("x", nv),), "back": (("v", nv),),
            "hold": (("x", nv),),
            "terms_beside_mass": terms, "yields": (("vdot", nv), ("yields", self.rows)),
        }  # fmt: skip

    def _facts(self, base: Program) -> dict[str, Any]:
        sides = self.sides
        known = base.facts["formulas"]

        def formulas() -> list[Expr]:
            return [*known(), *sides.formulas]

        return {
            **base.facts,
            "sides": tuple(sides.words),
            "bearings": tuple(k for k, *_ in sides.bearings),
            "convex": (),
            "length": sides.length,
            "formulas": formulas,
            "energy": partial(_watch, sides, base),
            "implicit_loads": lambda: self.loads,
        }


def _addresses(code: MachineKernel) -> list[int]:
    """Of all entries, compiled together."""
    names = [*code.program.entries]
    if names:
        code.compile(*names)
    return [code.address(name) for name in names]


def _watch(sides: LoopedSides, base: Program) -> tuple[str, str]:
    """The entry by which the balance of energy is kept; "" and why there is none."""
    drives = any(not vanishes(nu) for _, nu in base.facts["closures"]())
    if sides.sides.blocks and drives:
        return "", "a drive acts beside contacts"
    if any(not vanishes(x.nu) for x in sides.cuts.relations):
        return "", "a contact moves with time"
    entry, why = base.facts["energy"]()
    return entry, why


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*ENTRIES.values()])
