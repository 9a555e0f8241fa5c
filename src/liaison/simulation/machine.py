"""The compiled time loop and the entries it calls, behind one Python call.

Public names: Machine, address, map_entry, over_states, over_saddles, compiled_loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, final

import numpy as np

from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import Loop, at, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import address, set_hook
from liaison.simulation.steps.advance import SMOOTH, advance
from liaison.simulation.steps.layout import Arrays, Entries, Run, dense_size
from liaison.solvers.linear.dense import saddle


@loop
def over_states(
    entry: kernel, count: i64, nq: i64, nv: i64, nu: i64, nx: i64, outputs: i64, between: i64,
    table: ptr, p: ptr, x: ptr, out: ptr, scratch: ptr,
) -> None:  # fmt: skip
    """An entry at every row (t, q, v, u) of a table; parameters of two rows lie `between` apart."""
    for i in range(count):
        row = at(table, i * (1 + nq + nv + nu))
        q = at(row, 1)
        v = at(q, nq)
        own = at(p, i * between)
        entry(row[0], q, v, at(v, nv), own, at(x, i * nx), at(out, i * outputs), scratch)


@loop
def over_saddles(
    count: i64, nv: i64, nc: i64, width: i64, terms: ptr, solutions: ptr, miss: ptr, row: iptr,
    area: ptr,
) -> None:  # fmt: skip
    """v̇ and λ from every row of terms, of which each has `width` numbers."""
    for i in range(count):
        M = at(terms, i * width)
        G = at(M, nv * nv)
        f = at(G, nc * nv)
        vdot = at(solutions, i * (nv + nc))
        miss[i] = saddle(nv, nc, M, G, f, at(f, nv), vdot, at(vdot, nv), row, area)


@cache
def compiled_loops(*, portable: bool = False) -> CompiledLoops:
    """The loops of this room as machine code, once a process."""
    return compile_loops([advance, *SMOOTH.values(), over_states, over_saddles], portable=portable)


@cache
def _over_states() -> Callable[..., None]:
    """`over_states` by addresses."""
    function: Callable[..., None] = compiled_loops().function(over_states)
    return function


@cache
def compiled_steps(kind: str, *, portable: bool = False) -> CompiledLoops:
    """The time loop with steps of a kind as machine code, once a process."""
    module = import_module(KINDS[kind][0])
    apart, tight = getattr(module, "APART", ()), getattr(module, "TIGHT", ())
    return compile_loops(
        [advance, *_phases_of(kind).values()],
        portable=portable, apart=apart or tight, apart_tight=bool(tight),
    )  # fmt: skip


def _kind_of(run: Run) -> str:
    """The kind of steps of a run: a key of KINDS."""
    if run.beside.size:
        return "scene"
    flags = {
        "moreau": run.is_moreau, "alpha": run.is_alpha, "variational": run.is_variational,
        "implicit": run.is_implicit, "edwards": run.is_edwards,
    }  # fmt: skip
    return next((kind for kind, is_so in flags.items() if is_so), "smooth")


KINDS = {
    "implicit": ("liaison.simulation.steps.implicit", "IMPLICIT"),
    "variational": ("liaison.simulation.steps.variational", "VARIATIONAL"),
    "alpha": ("liaison.simulation.steps.generalized_alpha", "ALPHA"),
    "edwards": ("liaison.simulation.steps.edwards", "EDWARDS"),
    "moreau": ("liaison.contacts.stepping.phases", "MOREAU"),
    "scene": ("liaison.contacts.scene.kernel", "SCENE"),
}
"""Kind of steps -> the module of its phases, loaded when a run has such steps."""


def _phases_of(kind: str) -> Mapping[str, Loop[..., Any]]:
    """The loops of a step by the names of their phases."""
    if kind == "smooth":
        return SMOOTH
    module, name = KINDS[kind]
    phases: Mapping[str, Loop[..., Any]] = getattr(import_module(module), name)
    return phases


@final
class Machine:
    """Calls `advance` on arrays, with the entries of a kernel; entries may be added later.

    Arrays and their addresses change together, in one assignment, so that an interruption
    finds either the old ones or the new ones.

    Args:
        arrays: where the run lives.
        is_compiled: False runs the loops as plain Python, for tests.
        march: another loop that goes on with a run; it calls `advance`.
        code: it, `advance` and the phases of its steps as machine code.
        beside: arrays that it takes before all others.
        portable: the loops are compiled so that their results have the same bits everywhere.
    """

    def __init__(
        self,
        arrays: Arrays,
        *,
        is_compiled: bool = True,
        portable: bool = False,
        march: Loop[..., int] = advance,
        code: CompiledLoops | None = None,
        beside: tuple[Any, ...] = (),
    ) -> None:
        self._is_compiled = is_compiled
        self._beside = beside
        self.entries = Entries.new()
        self._kept: list[Kernel] = []
        self._work = 0
        self.helped: Callable[[Arrays, Callable[[], int]], int] | None = None  # by further threads
        self._is_dense = False  # a kernel of many bodies has no terms for the pivoted solver
        kind = _kind_of(arrays.run)
        if is_compiled and code is None:
            smooth = kind == "smooth"
            code = (
                compiled_loops(portable=portable)
                if smooth
                else compiled_steps(kind, portable=portable)
            )
        for name, step in _phases_of(kind).items():
            set_hook(self.entries.phases, name, step, code.address(step) if code else None)
        self._call = code.function(march) if code else march
        self._bound = self._with(arrays)

    @property
    def arrays(self) -> Arrays:
        """Where the run lives."""
        return self._bound[0]

    def _with(self, arrays: Arrays) -> tuple[Arrays, tuple[Any, ...]]:
        a = arrays
        listed = (*self._beside, self.entries, a.run, a.scratch, a.records, a.event_log)
        return arrays, tuple(map(address, listed)) if self._is_compiled else listed

    def add(self, kernel: Kernel, *entries: str) -> None:
        """Makes entries of a kernel known to the loop, compiling them together."""
        if entries and hasattr(kernel, "compile"):
            kernel.compile(*entries)
        for name in entries:
            self.entries.ints[Entries.slot(name)] = kernel.address(name)
            self.entries.has_terms |= name == "terms"
        if kernel not in self._kept:
            self._kept.append(kernel)
        self._work = max([self._work, *map(kernel.work_size, entries)])
        run = self.arrays.run
        self._is_dense = self._is_dense or "terms" in kernel.program.entries
        size = self._work + (dense_size(run) if int(run.nc) and self._is_dense else 0)
        scratch = self.arrays.scratch if self.arrays.scratch.size >= size else np.zeros(size)
        run.scratch_dense = self._work
        self._bound = self._with(replace(self.arrays, scratch=scratch))

    def add_others(self, kernel: Kernel, entries: Collection[str]) -> None:
        """Makes entries of a further kernel, which needs no workspace, known by their number."""
        self.entries.others[: len(entries)] = [kernel.address(name) for name in entries]
        self._kept.append(kernel)

    def bind(self, arrays: Arrays) -> None:
        """Goes on in other arrays, which hold the same run."""
        self._bound = self._with(arrays)

    def enlarge(self) -> None:
        """Twice the room for recordings, which must be empty; up to about 8 MB."""
        old = self.arrays
        if old.records.size < 1_000_000:
            self._bound = self._with(replace(old, records=np.zeros(2 * old.records.size)))
            old.run.capacity *= 2

    def __call__(self, tries: int) -> int:
        """Goes on for at most `tries` steps; returns a status of `layout`."""
        if self.helped is not None:
            return self.helped(self.arrays, lambda: int(self._call(*self._bound[1], tries)))
        return int(self._call(*self._bound[1], tries))


def map_entry(kernel: Kernel, entry: str, table: Array, p: Array, x: Array | None = None) -> Array:
    """The outputs of an entry at every row (t, q, v, u) of a table.

    Args:
        kernel: has the entry.
        entry: its name.
        table: shape (n, 1 + nq + nv + nu).
        p: parameters, of all rows or one row each.
        x: further arguments, one row each, shape (n, nx).

    Returns:
        Outputs, shape (n, outputs).
    """
    sizes = kernel.program.sizes
    nq, nv, nu = sizes["nq"], sizes["nv"], sizes.get("nu", 0)
    more = np.zeros((len(table), 1)) if x is None else np.ascontiguousarray(x, dtype=float)
    lacks = sizes.get("nx", 0) - more.shape[1]  # forces of contacts, where none are given
    if x is not None and lacks > 0:
        more = np.hstack([more, np.zeros((len(table), lacks))])
    if kernel.is_interpreted:
        q, v, u = np.split(table[:, 1:], [nq, nq + nv], axis=1)
        return kernel(entry, table[:, 0], q=q, v=v, u=u, p=p, x=more)
    rows, p = np.ascontiguousarray(table, dtype=float), np.array(p, dtype=float, order="C")
    out = np.zeros((len(table), kernel.out_size(entry)))
    scratch = np.zeros(max(1, kernel.work_size(entry)))
    sizes_of_rows = nq, nv, nu, more.shape[1], out.shape[1], p.shape[1] if p.ndim > 1 else 0
    listed = map(address, (rows, p, more, out, scratch))
    _over_states()(kernel.address(entry), len(rows), *sizes_of_rows, *listed)
    return out
