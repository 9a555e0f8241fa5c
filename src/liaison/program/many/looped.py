"""looped: the sweeps over a tree as one compiled loop over index tables.

A kernel for each class of nodes and sweep, one loop that runs them: a chain of ten thousand bodies
compiles as quickly as one of ten. The same loop runs as plain Python, through LLVM and through C.

Public names: looped, Looped, run_sweeps, recursion_program, SweepTables, Step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from liaison.equations import Recursion, Sweeps
from liaison.errors import ProgramError
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.language import Loop, entry_at, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, Rows, rows, size, sized
from liaison.program.program import Array, Entry, Program

from .block_layout import Node


class Step(Record):
    """A sweep: its direction, where its kernels write, what inwards goes to the parent."""

    is_inward: i64
    writes: i64
    hands: i64
    receives: i64


class SweepTables(Record):
    """A recursion over a tree: tables, constants, and a row of numbers for each node."""

    n_nodes: i64 = size()
    n_steps: i64 = size()
    n_classes: i64 = size()
    width: i64 = size()
    input_slot: i64
    output_slot: i64
    steps: Rows[Step] = rows("n_steps")
    nodes: Rows[Node] = rows("n_nodes")
    entries: iptr = sized("n_steps", "n_classes")
    constants: ptr = sized()
    numbers: ptr = sized("n_nodes + 1", "width")  # the ground first
    scratch: ptr = sized()


@loop
def sweep_nodes(run: SweepTables, s: i64, q: ptr, v: ptr) -> None:
    """One sweep: every node's kernel in turn, and inwards what it hands to its parent."""
    step = run.steps[s]
    entries = run.entries[s]
    nodes = run.nodes
    numbers = run.numbers
    scratch = run.scratch
    n = run.n_nodes
    for k in range(n):
        i = n - 1 - k if step.is_inward else k
        node = nodes[i]
        own = numbers[i + 1]
        parent = numbers[node.parent + 1]
        f = entry_at(entries, node.kind)
        result = own[step.writes :]
        constants = run.constants[node.constants :]
        f(0.0, q[node.q :], v[node.v :], own, constants, parent, result, scratch)
        target = parent[step.receives :]
        for j in range(step.hands):
            target[j] += result[j]


@loop
def run_sweeps(run: SweepTables, q: ptr, v: ptr, values: ptr, result: ptr) -> None:
    """A recursion: inputs of the joints into the records, all sweeps, outputs out of them."""
    for i in range(run.n_nodes):
        node = run.nodes[i]
        for j in range(node.nv):
            run.numbers[i + 1, run.input_slot + j] = values[node.v + j]
    for s in range(run.n_steps):
        sweep_nodes(run, s, q, v)
    for i in range(run.n_nodes):
        node = run.nodes[i]
        for j in range(node.nv):
            result[node.v + j] = run.numbers[i + 1, run.output_slot + j]


def recursion_program(sweeps: Sweeps) -> Program:
    """An entry for each sweep and class, named "forward gather 0" and the like."""
    entries = {
        name: Entry(name, formulas)
        for recursion in (sweeps.inverse, sweeps.forward)
        for sweep, names in zip(recursion.sweeps, _names(sweeps, recursion), strict=True)
        for name, formulas in zip(names, sweep.formulas, strict=True)
    }
    return Program(f"{sweeps.name} looped", entries, sweeps.inputs)


def _names(sweeps: Sweeps, recursion: Recursion) -> list[list[str]]:
    """Names of entries: a row for each sweep, in it one for each class."""
    classes = range(len(sweeps.classes))
    return [[f"{recursion.name} {sweep.name} {c}" for c in classes] for sweep in recursion.sweeps]


def looped(
    sweeps: Sweeps,
    to_kernel: Callable[[Program], Kernel] = to_llvm,
    run: Callable[..., None] | None = None,
) -> Looped:
    """Inverse and forward dynamics of a tree, as loops over its nodes.

    Args:
        sweeps: of the tree.
        to_kernel: the back end of the node kernels: to_llvm, compile_c or to_numpy.
        run: the loop `run_sweeps` itself, or compiled elsewhere so that it takes the
            address of its record, and arrays; through LLVM if None.
    """
    return Looped(sweeps, to_kernel(recursion_program(sweeps)), run or _compiled())


@final
class Looped:
    """A tree that answers for its motion, at a cost for each body that does not grow with them.

    The first call of each question compiles it. Records are kept between calls: use one object
    in each thread.
    """

    def __init__(self, sweeps: Sweeps, kernel: Kernel, run: Callable[..., None]) -> None:
        self.sweeps = sweeps
        self.kernel = kernel
        self._run = run
        self._prepared: dict[str, Callable[[Array, Array, Array], Array]] = {}

    def inverse(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Array:
        """τ that gives the tree the acceleration v̇, gravity included, shape (nv,)."""
        return self._answer(self.sweeps.inverse, q=q, v=v, vdot=vdot)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Array:
        """v̇ of the tree under τ and gravity, shape (nv,)."""
        return self._answer(self.sweeps.forward, q=q, v=v, tau=tau)

    def _answer(self, recursion: Recursion, **values: ArrayLike) -> Array:
        arrays = [self._checked(name, x) for name, x in values.items()]
        name = recursion.name
        if name not in self._prepared:
            self._prepared[name] = _prepared(self.sweeps, recursion, self.kernel, self._run)
        return self._prepared[name](*arrays)

    def _checked(self, name: str, x: ArrayLike) -> Array:
        size = self.sweeps.nq if name == "q" else self.sweeps.nv
        array = np.ascontiguousarray(x, dtype=np.float64)
        if array.shape != (size,):
            raise ProgramError(
                f"{self.sweeps.name!r} takes {size} numbers in {name!r}, "
                f"not an array of shape {array.shape}."
            )
        return array


def _prepared(
    sweeps: Sweeps, recursion: Recursion, kernel: Kernel, run: Callable[..., None]
) -> Callable[[Array, Array, Array], Array]:
    """The recursion with its tables and records made."""
    names = [name for row in _names(sweeps, recursion) for name in row]
    addresses = _addresses(kernel, names)
    block = _tables(sweeps, recursion, max(1, *(kernel.work_size(name) for name in names)))
    flat(block.entries)[:] = addresses
    # plain Python takes the record, compiled code its address
    place = block if isinstance(run, Loop) else block.ints.ctypes.data

    def answer(q: Array, v: Array, values: Array) -> Array:
        block.numbers[0] = recursion.ground
        result = np.empty(sweeps.nv)
        run(place, q, v, values, result)
        return result

    return answer


def _tables(sweeps: Sweeps, recursion: Recursion, work: int) -> SweepTables:
    """The tables of a recursion, without its entries."""
    block = SweepTables.new(
        {"constants": len(sweeps.constants), "scratch": work},
        n_nodes=len(sweeps.nodes),
        n_steps=len(recursion.sweeps),
        n_classes=len(sweeps.classes),
        width=len(recursion.ground),
    )
    block.input_slot, block.output_slot = recursion.input_slot, recursion.output_slot
    for step, sweep in zip(block.steps, recursion.sweeps, strict=True):
        step.is_inward, step.writes = int(sweep.is_inward), sweep.writes
        step.hands, step.receives = sweep.hands, sweep.receives
    block.nodes.ints[:] = sweeps.nodes
    block.constants[:] = sweeps.constants
    return block


def _addresses(kernel: Kernel, names: list[str]) -> list[int]:
    """Addresses of the entries, compiled together where there is something to compile."""
    if isinstance(kernel, MachineKernel):
        kernel.compile(*names)
    return [kernel.address(name) for name in names]


@cache
def _compiled() -> Callable[..., Any]:
    """The loop through LLVM."""
    return compile_loops([run_sweeps])[run_sweeps]
