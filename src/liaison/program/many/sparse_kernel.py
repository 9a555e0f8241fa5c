"""sparse_kernel: a kernel for mechanisms of many bodies, its entries loops over index tables.

`simulate` runs it as any other. Code for one body and one joint of each kind is compiled, not for
each of them; the system is eliminated block by block in an order found once.

Public names: sparse_kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from liaison.equations.sweeps.rest import Rest
from liaison.equations.sweeps.sweeps import Blocks
from liaison.expr import ZERO, Expr, fingerprint
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.program import Entry, Program

from .block_arrays import BlockArrays
from .sparse_entries import ENTRIES

Frame = tuple[int, Sequence[float]]

WRITTEN_OUT = "Derive the equations by maximal or newton_euler to see them."
"""Where formulas of entries are that are loops here."""


def sparse_kernel(
    block_model: Blocks,
    rest: Rest,
    *,
    bodies: Mapping[str, Frame],
    joints: Mapping[str, Sequence[float]],
) -> MachineKernel:
    """The kernel of a mechanism in blocks.

    Args:
        block_model: its blocks, bodies free.
        rest: its loads, relations, outputs and events.
        bodies: name -> node and pose in it (R row by row, p).
        joints: cut joints in their order -> pose of the successor's marker in its node.
    """
    arrays = BlockArrays(block_model, rest, [*bodies.values()], [*joints.values()])
    written = to_llvm(_written_out(block_model.name, rest))
    program = _program(block_model, rest, arrays, tuple(bodies), tuple(joints), written.program)

    def compiler(names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        looped = [name for name in names if name in ENTRIES]
        addresses = {name: _loops().address(ENTRIES[name]) for name in looped}
        code = Trampoline(addresses, 1, without=("p",)) if looped else None
        if code is not None:
            code.pass_on([arrays.system.ints.ctypes.data])
        compiled = {name: code[name] for name in looped} if code else {}
        compiled |= {name: written.address(name) for name in names if name not in ENTRIES}
        return compiled, (code, arrays, written)

    def work_size(name: str) -> int:
        return arrays.work_size if name in ENTRIES else written.work_size(name)

    whole = {
        "t": 1,
        "q": block_model.nq,
        "v": block_model.nv,
        "u": len(rest.labels["u"]),
        "p": 0,
        "x": 0,
    }
    reads = dict.fromkeys(program.entries, whole) | {
        "retract": {**whole, "v": 0, "x": block_model.nv}
    }
    return MachineKernel(program, compiler, work_size, reads=reads)


def _written_out(name: str, rest: Rest) -> Program:
    """Outputs and events, which are no loops."""
    outputs = Entry("outputs", [*rest.outputs.values()], tuple((x, 1) for x in rest.outputs))
    entries = {"outputs": outputs} if rest.outputs else {}
    if rest.events:
        layout = tuple((event[0], 1) for event in rest.events)
        entries["events"] = Entry("events", [event[1] for event in rest.events], layout)
    return Program(f"{name}, outputs", entries, rest.places)


def _program(
    block_model: Blocks,
    rest: Rest,
    arrays: BlockArrays,
    bodies: tuple[str, ...],
    joints: tuple[str, ...],
    written: Program,
) -> Program:
    """What the kernel offers: names, sizes and labels; its entries have no formulas."""
    nq, nv, nc, nphi = block_model.nq, block_model.nv, arrays.tables.nc, arrays.tables.nphi
    layouts: dict[str, tuple[tuple[str, int], ...]] = {
        "forward": (("vdot", nv), ("lam", nc), ("residual", 1)),
        "rate": (("xidot", nv), ("vdot", nv), ("residual", 1)),
        "retract": (("q", nq),),
        "closure": (("phi", nphi), ("rate", nc)),
        "correct_q": (("delta", nv), ("worst", 1)),
        "correct_v": (("delta", nv), ("worst", 1)),
        "energy": (("T", 1), ("U", 1)),
        "poses": tuple((name, 12) for name in bodies),
        "motions": tuple((name, 12) for name in bodies),
        "markers": tuple((name, 12) for name in joints),
        "reactions": tuple((name, 6) for name in joints),
    }
    entries = {name: Entry.of_loop(name, x, hint=WRITTEN_OUT) for name, x in layouts.items()}
    sizes = {"nq": nq, "nv": nv, "nc": nc, "nphi": nphi, "nu": len(rest.labels["u"]), "np": 0}
    return Program(
        name=block_model.name,
        entries=MappingProxyType(entries | dict(written.entries)),
        inputs=rest.places,
        sizes=MappingProxyType({**sizes, "nx": max(nq, nv + nc)}),
        labels=MappingProxyType({**rest.labels, "p": ()}),
        defaults=MappingProxyType({"u": np.array(rest.defaults, dtype=float), "p": np.zeros(0)}),
        facts=MappingProxyType(
            {
                "formalism": "maximal, sparse",
                "charts": rest.charts,
                "events": tuple((name, way, action) for name, _, way, action in rest.events),
                "vanished": (),
                "formulas": lambda: _watched(rest),
                "laws": lambda: [*rest.tau.values(), *(row.second for row in rest.rows)],
                "closures": lambda: _closures(rest, nc),
                "identity": _identity(arrays),
            }
        ),
    )


def _watched(rest: Rest) -> list[Expr]:
    """Formulas that steps depend on: loads, relations, events."""
    rows = [x for row in rest.rows for x in (row.second, row.rate, row.phi) if x is not None]
    return [*rest.tau.values(), *rows, *(formula for _, formula, _, _ in rest.events)]


def _closures(rest: Rest, count: int) -> list[tuple[Expr, Expr]]:
    """Φ and Φ̇ of every closure; 0 of cut joints, which do not depend on time."""
    own = [(ZERO if row.phi is None else row.phi, row.rate) for row in rest.rows]
    return [*((ZERO, ZERO) for _ in range(count - len(own))), *own]


def _identity(arrays: BlockArrays) -> str:
    """A word that is the same for the same mechanism, in every process: formulas and numbers."""
    block_model, rest = arrays.block_model, arrays.rest
    listed = [*(x for one in block_model.blocks for x in (*one.formulas, *one.retract, *one.rate))]
    listed += [x for one in block_model.closing for x in one.formulas]
    if rest is not None:
        listed += [*rest.tau.values(), *(x for row in rest.rows for x in (row.second, row.rate))]
    digest = hashlib.sha256(fingerprint(listed).encode())
    for table in (block_model.nodes, block_model.closures, *arrays.numbers):
        digest.update(table.tobytes())
    return digest.hexdigest()


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*ENTRIES.values()], optimize=3)
