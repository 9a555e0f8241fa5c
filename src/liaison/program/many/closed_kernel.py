"""closed_kernel: a kernel for closed mechanisms of many bodies, its entries loops over their nodes.

The tree as in tree_kernel.py; the joints that close its loops by (cuts-1). Rows that hold whatever
moves are found by probing, at random positions and velocities, and have no multiplier.

Public names: closed_kernel, DENSE.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.completion import defaults_of
from liaison.equations.sweeps.cuts import Cuts
from liaison.equations.sweeps.looped_tree import LoopedTree
from liaison.errors import DerivationError
from liaison.expr import ZERO
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.records import evaluate
from liaison.program.program import Entry, Program

from . import closed_entries, tree_loops
from .cut_layout import CutWork
from .cut_tables import CutTables, shown_cuts
from .tree_kernel import LOADS, LOCAL, STORED, WRITTEN_OUT, TreeTables, facts_of, written_out
from .tree_loops import FORWARD, INVERSE, MOTION

DENSE = 2000
"""Velocities and multipliers up to which M and G are there as dense matrices, for states that the
loops cannot solve and for reactions that are not determined."""

PROBES, VANISHED, HELD = 2, 1e-11, 1e-9
"""Positions that are probed; part of the largest rate below which that of a row is rounding; what
may be left over of a row that holds whatever moves [m, 1]."""

CUTS, CARRY = "cuts", "carry"

OF_TREE = {"retract", "energy", "work", "momentum", "poses", "motions"}
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
    assert model.cuts is not None, "a tree without cut joints has a kernel of its own"
    none = np.zeros(len(model.cuts.labels), dtype=bool)
    code = _Code(model, model.cuts)
    vanished = _vanished(model, code.kernel(none, {}))
    return code.kernel(vanished, {"starts": starts or {}})


def _vanished(model: LoopedTree, kernel: MachineKernel) -> NDArray[np.bool_]:
    """Rows whose rate is zero at random positions and velocities."""
    assert model.cuts is not None
    draw = np.random.default_rng(0)
    reach = np.array(model.cuts.reach)
    vanished = np.ones(len(reach), dtype=bool)
    neutral = np.array(model.neutral)
    for _ in range(PROBES):
        xi, v = draw.normal(size=(2, model.nv))
        q = kernel("retract", q=neutral, x=xi)
        left = kernel.call("closure", q=q, v=v)
        size = np.abs(left["rate"]) / reach
        vanished &= size <= VANISHED * np.max(size, initial=0.0)
    off = np.where(vanished, np.abs(left["phi"]) / reach, 0.0)
    if np.max(off, initial=0.0) > HELD:
        worst = int(np.argmax(off))
        raise DerivationError(
            f"the row {model.cuts.labels[worst].name!r} cannot hold: it is off by "
            f"{left['phi'][worst]:.3g} whatever moves."
        )
    return vanished


@final
class _Code:
    """Code of a tree and of its cut joints, for kernels that leave out different rows."""

    def __init__(self, model: LoopedTree, cuts: Cuts) -> None:
        self.model, self.cuts = model, cuts
        self.cut_tables = CutTables(model, cuts)
        self.tables = TreeTables(model, self.cut_tables.scratch)
        self.written = to_llvm(written_out(model))

    def kernel(self, vanished: NDArray[np.bool_], facts: Mapping[str, Any]) -> MachineKernel:
        """The kernel with multipliers of all rows but these."""
        tables, written = self.tables, self.written
        cuts = self.cut_tables.system(tables.work_size, vanished)
        length = 2 * tables.work_size + evaluate(CutWork.length(), cuts.counts)
        program = self._program(vanished, facts)

        def compiler(names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
            needs = {need for name in names for need in NEEDS.get(name, ())}
            tables.fill(needs - {CUTS, CARRY})
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
        shown = shown_cuts(self.cut_tables.multipliers(vanished))
        return (*self.model.joints, *(self.cuts.joints[c] for c in shown))

    def _program(self, vanished: NDArray[np.bool_], facts: Mapping[str, Any]) -> Program:
        """What the kernel offers: names, sizes and labels; its loops have no formulas."""
        model, cuts = self.model, self.cuts
        kept = [x for x, is_out in zip(cuts.labels, vanished, strict=True) if not is_out]
        nq, nv, nc = model.nq, model.nv, len(kept)
        entries = {
            name: Entry.of_loop(name, layout, hint=WRITTEN_OUT)
            for name, layout in _layouts(model, self._joints(vanished), nc).items()
            if name != "terms" or nv + nc <= DENSE
        }
        inputs, parameters = len(model.labels["u"]), len(model.labels["p"])
        defaults = defaults_of(model.mechanism)
        out = [x.name for x, is_out in zip(cuts.labels, vanished, strict=True) if is_out]
        more = {"vanished": tuple(out), "closures": lambda: [(ZERO, ZERO)] * nc}
        return Program(
            name=model.mechanism.name,
            entries=MappingProxyType(entries | dict(self.written.program.entries)),
            inputs=model.written.places,
            sizes=MappingProxyType(
                {
                    "nq": nq,
                    "nv": nv,
                    "nc": nc,
                    "nphi": nc,
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
    model: LoopedTree, joints: tuple[str, ...], nc: int
) -> dict[str, tuple[tuple[str, int], ...]]:
    """Blocks of every entry."""
    nq, nv = model.nq, model.nv
    step = (("delta", nv), ("worst", 1))
    return {
        "forward": (("vdot", nv), ("lam", nc), ("residual", 1)),
        "rate": (("xidot", nv), ("vdot", nv), ("residual", 1)),
        "retract": (("q", nq),),
        "closure": (("phi", nc), ("rate", nc)),
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
        "terms": (("M", nv * nv), ("G", nc * nv), ("f", nv), ("gamma", nc), ("phi", nc),
                  ("nu", nc)),
    }  # fmt: skip


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
