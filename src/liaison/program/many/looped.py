"""looped: the sweeps over a tree as one compiled loop over index tables.

A kernel for each class of nodes and sweep, one loop that runs them: a chain of ten thousand bodies
compiles as quickly as one of ten. The same loop runs as plain Python, through LLVM and through C.

Public names: looped, Looped, run_sweeps, recursion_program.
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
from liaison.program.loops.language import Loop, at, entry_at, i64, iptr, loop, ptr
from liaison.program.program import Array, Entry, Program

CLASS, PARENT, Q, V, CONSTANTS, NV = range(6)  # columns of the table of nodes
FIELDS = 6
INWARD, WRITES, HANDS, RECEIVES = range(4)  # columns of the table of sweeps
STEPS = 4


@loop
def sweep_nodes(
    n: i64, step: iptr, size: i64, nodes: iptr, entries: iptr, q: ptr, v: ptr, constants: ptr,
    records: ptr, work: ptr,
) -> None:  # fmt: skip
    """One sweep: every node's kernel in turn, and inwards what it hands to its parent."""
    for k in range(n):
        i = n - 1 - k if step[INWARD] else k
        node = at(nodes, i * FIELDS)
        record = at(records, (i + 1) * size)
        parent = at(records, (node[PARENT] + 1) * size)
        f = entry_at(entries, node[CLASS])
        result = at(record, step[WRITES])
        given = at(constants, node[CONSTANTS])
        f(0.0, at(q, node[Q]), at(v, node[V]), record, given, parent, result, work)
        target = at(parent, step[RECEIVES])
        for j in range(step[HANDS]):
            target[j] += result[j]


@loop
def run_sweeps(
    n: i64, plan: iptr, steps: iptr, nodes: iptr, entries: iptr, q: ptr, v: ptr, given: ptr,
    found: ptr, constants: ptr, records: ptr, work: ptr,
) -> None:  # fmt: skip
    """A recursion: what is given to the joints into the records, all sweeps, what is found out.

    plan: number of sweeps, number of classes, size of a record, slots of given and found.
    """
    size = plan[2]
    for i in range(n):
        node = at(nodes, i * FIELDS)
        for j in range(node[NV]):
            records[(i + 1) * size + plan[3] + j] = given[node[V] + j]
    for s in range(plan[0]):
        kernels = at(entries, s * plan[1])
        sweep_nodes(n, at(steps, s * STEPS), size, nodes, kernels, q, v, constants, records, work)
    for i in range(n):
        node = at(nodes, i * FIELDS)
        for j in range(node[NV]):
            found[node[V] + j] = records[(i + 1) * size + plan[4] + j]


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
        run: the loop `run_sweeps` itself, or compiled elsewhere so that it takes arrays and
            addresses; through LLVM if None.
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

    def _answer(self, recursion: Recursion, **given: ArrayLike) -> Array:
        arrays = [self._checked(name, x) for name, x in given.items()]
        name = recursion.name
        if name not in self._prepared:
            self._prepared[name] = _prepared(self.sweeps, recursion, self.kernel, self._run)
        return self._prepared[name](*arrays)

    def _checked(self, name: str, x: ArrayLike) -> Array:
        size = self.sweeps.nq if name == "q" else self.sweeps.nv
        found = np.ascontiguousarray(x, dtype=np.float64)
        if found.shape != (size,):
            raise ProgramError(
                f"{self.sweeps.name!r} takes {size} numbers in {name!r}, "
                f"not an array of shape {found.shape}."
            )
        return found


def _prepared(
    sweeps: Sweeps, recursion: Recursion, kernel: Kernel, run: Callable[..., None]
) -> Callable[[Array, Array, Array], Array]:
    """The recursion with its tables and records made."""
    names = [name for row in _names(sweeps, recursion) for name in row]
    entries = np.array(_addresses(kernel, names), dtype=np.int64)
    work = np.empty(max(1, *(kernel.work_size(name) for name in names)))
    ground = np.array(recursion.ground)
    size, n = len(ground), len(sweeps.nodes)
    records = np.zeros((n + 1) * size)
    counts = (len(recursion.sweeps), len(sweeps.classes), size)
    plan = np.array([*counts, recursion.given, recursion.found], dtype=np.int64)
    steps = np.array(
        [(s.is_inward, s.writes, s.hands, s.receives) for s in recursion.sweeps], dtype=np.int64
    )
    kept = (plan, steps.ravel(), sweeps.nodes.ravel(), entries, sweeps.constants, records, work)
    tables, rest = _given_to(run, kept[:4]), _given_to(run, kept[4:])

    def answer(q: Array, v: Array, given: Array) -> Array:
        kept[5][:size] = ground
        found = np.empty(sweeps.nv)
        run(n, *tables, q, v, given, found, *rest)
        return found

    return answer


def _given_to(run: Callable[..., None], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays as plain Python takes them, or once for all their addresses for compiled code."""
    return arrays if isinstance(run, Loop) else tuple(array.ctypes.data for array in arrays)


def _addresses(kernel: Kernel, names: list[str]) -> list[int]:
    """Addresses of the entries, compiled together where there is something to compile."""
    if isinstance(kernel, MachineKernel):
        kernel.compile(*names)
    return [kernel.address(name) for name in names]


@cache
def _compiled() -> Callable[..., Any]:
    """The loop through LLVM."""
    return compile_loops([run_sweeps])[run_sweeps]
