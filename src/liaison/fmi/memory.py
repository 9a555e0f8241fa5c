"""The memory of an instance before its first use: blocks of a run, and the functions they call.

A run is prepared as for machine code. Where an address of a function would stand in a block, a mark
stands, and the block's place is noted: the code of the FMU writes the address there.

Public names: Memory, Closing, prepared, why_not_exported, Bound.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.events.one_sided import Marching
from liaison.contacts.events.switching import march
from liaison.errors import ProgramError, SimulationError
from liaison.numeric import Array
from liaison.program import Kernel, Program
from liaison.program.instants import Instants
from liaison.program.kernel import Function
from liaison.program.llvm.portable import PORTABLE
from liaison.program.loops.language import Loop
from liaison.program.loops.records import set_hook
from liaison.program.parts import Shared, shared_plans
from liaison.simulation.assembly import ENTRIES, Work, work_of
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan, fill_run, has_instants, lasting_arrays
from liaison.simulation.plan.timing import instants_of
from liaison.simulation.prepared import add_entries, marching_of, scale_run
from liaison.simulation.steps.advance import advance

from .exchange import DRIFT
from .layout import FARTHEST, MESSAGE, POSE, Instance, Q
from .model import close_loops, vary_mode, vary_smooth
from .smooth import go_sides, go_smooth, settle_sides, settle_smooth
from .variables import Variables

MARK = 0x7FF4_1A15 << 32
"""Words from here on stand for functions; as a float each is none that is computed."""

LANES = 2
"""Angles turned at once: as many as every processor can."""

LATER = ("terms", "correct_q", "correct_v")
"""Entries that closures need now and then."""

SMOOTH: Mapping[str, Loop[..., Any]] = {
    "go": go_smooth, "settle": settle_smooth, "vary": vary_smooth,
}  # fmt: skip
SIDES: Mapping[str, Loop[..., Any]] = {
    "go": go_sides, "settle": settle_sides, "vary": vary_mode,
}  # fmt: skip
"""What is called of a smooth motion, and of one with contacts."""

FEW = 128
"""Knowns up to which adjoint derivatives are put together from directional ones, as exact."""

HORIZON = 10.0
"""Times the length of the default experiment for which instants of tables are known."""


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """An entry that is a loop with a record of the instance before its arguments."""

    loop: Loop[..., Any]
    block: int


@final
class Memory:
    """Blocks of an instance, and functions by their marks.

    Attributes:
        version: of FMI, 2 or 3.
        functions: entries as (program, name), loops and bound loops, in the order of marks.
    """

    def __init__(self, version: int, plans: Mapping[tuple[int, str], Shared] | None = None) -> None:
        self.version = version
        self.functions: list[Hashable] = []
        self.plans: dict[tuple[int, str], Shared] = {**(plans or {})}
        self.programs: list[Program] = []
        self.blocks: list[NDArray[Any]] = []
        self.starts: list[int] = []
        self.end = 0
        self.saved = 0

    def mark(self, key: Hashable) -> int:
        """The word that stands for a function."""
        if key not in self.functions:
            self.functions.append(key)
        return MARK + self.functions.index(key)

    def entry(self, program: Program, name: str) -> int:
        """The mark of an entry."""
        return self.mark(self.key(program, name))

    def key(self, program: Program, name: str) -> tuple[int, str]:
        """Of an entry."""
        known = [k for k, x in enumerate(self.programs) if x is program]
        if not known:
            known = [len(self.programs)]
            self.programs.append(program)
        return known[0], name

    def work_size(self, program: Program, name: str) -> int:
        """Doubles of workspace of an entry; 0 where it is not planned yet."""
        plan = self.plans.get(self.key(program, name))
        return 0 if plan is None else plan.work_size

    def shared(self) -> dict[tuple[int, str], Shared]:
        """Plans of all entries that have a mark."""
        plans: dict[tuple[int, str], Shared] = {}
        for k, program in enumerate(self.programs):
            names = [x[1] for x in self.functions if isinstance(x, tuple) and x[0] == k]
            known = shared_plans(program, names, lanes=LANES, functions=PORTABLE.functions)
            plans |= {(k, name): plan for name, plan in known.items()}
        return plans

    def place(self, block: NDArray[Any]) -> int:
        """The word at which a block begins; one that is known keeps its place."""
        words = block.reshape(-1).view(np.int64)
        for start, known in zip(self.starts, self.blocks, strict=True):
            if known.ctypes.data == words.ctypes.data:
                return start
        self.blocks.append(words)
        self.starts.append(self.end)
        self.end += words.size
        return self.starts[-1]

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """All blocks in a row."""
        return np.concatenate(self.blocks)

    @property
    def marked(self) -> dict[int, Hashable]:
        """Word -> the function whose address stands there."""
        places = np.flatnonzero(self.words >> 32 == MARK >> 32)
        return {int(k): self.functions[int(self.words[k]) - MARK] for k in places}


@final
class MarkedKernel(Kernel):
    """Entries of a kernel by their marks.

    Args:
        base: the kernel, which computes here.
        memory: of an instance.
    """

    def __init__(self, base: Kernel, memory: Memory) -> None:
        super().__init__(base.program)
        self.base, self.memory = base, memory
        self.prepared = base.prepared

    def address(self, entry: str) -> int:
        """The mark of the entry."""
        return self.memory.entry(self.program, entry)

    def bound_loop(self, loop: Loop[..., Any], record: Any) -> int:
        """The mark of a loop with a record."""
        return self.memory.mark(Bound(loop, record.ints.ctypes.data))

    def work_size(self, entry: str) -> int:
        """Doubles of workspace."""
        return self.memory.work_size(self.program, entry)

    def function(self, entry: str) -> Function:
        """The entry as it computes here."""
        return self.base.function(entry)

    def _evaluate(self, entry: str, t: Array, arrays: Mapping[str, Array]) -> Array:
        return self.base._evaluate(entry, t, arrays)


@final
class MarkedLoops:
    """Loops by their marks, in the place of `CompiledLoops`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def address(self, loop: Loop[..., Any]) -> int:
        """The mark of the loop."""
        return self._memory.mark(loop)

    def function(self, loop: Loop[..., Any]) -> Callable[..., Any]:
        """Nothing runs here."""

        def reject(*_: Any) -> Any:
            raise ProgramError(f"loop {loop.name!r} runs in an FMU only.")

        return reject


def why_not_exported(plan: Plan) -> str:
    """Why a plan cannot become an FMU; empty if it can."""
    if plan.is_scene:
        return "a scene makes room for more contacts while it moves"
    if plan.inputs.controllers:
        return f"the input {plan.inputs.controllers[0].name!r} is a function of Python"
    if "sparse" in str(plan.program.facts.get("formalism", "")):
        return "its entries are loops over bodies, without formulas"
    if plan.settings.grid:
        return "it records at instants that are listed one by one"
    places = () if plan.timed is None else map(plan.program.inputs.get, plan.timed.constants)
    for place in places:
        if place is not None and place[0] == "u":
            name = plan.program.labels["u"][place[1]].name
            return f"instants at which formulas jump depend on the input {name!r}"
    return ""


@final
@dataclass(frozen=True, slots=True)
class Closing:
    """How loops are closed again after a change of lengths or starts.

    Attributes:
        shakes: local coordinates that further attempts begin with.
        held: coordinates and velocities that stay as they are, if that is possible.
    """

    shakes: Array
    held: frozenset[str] = frozenset()


def prepared(plan: Plan, variables: Variables, closing: Closing | None, version: int) -> Memory:
    """The memory of an instance.

    Args:
        plan: of a run, with a kernel that computes here.
        variables: of the FMU.
        closing: how loops are closed; None: they are not.
        version: of FMI, 2 or 3.

    Raises:
        SimulationError: runs that need Python between their steps.
    """
    why = why_not_exported(plan)
    if why:
        raise SimulationError(
            f"{plan.program.name!r} cannot become an FMU: {why}.", status="not exported"
        )
    first = _filled(plan, variables, closing, Memory(version))
    return _filled(plan, variables, closing, Memory(version, first.shared()))


def _filled(plan: Plan, variables: Variables, closing: Closing | None, memory: Memory) -> Memory:
    """The memory with all blocks; entries have room for their work where they are planned."""
    added = None if plan.added is None else MarkedKernel(plan.added, memory)
    marked = replace(plan, kernel=MarkedKernel(plan.kernel, memory), added=added)
    return _Preparation(marked, memory, variables).filled(closing)


@final
class _Preparation:
    """A run prepared in the memory of an instance."""

    def __init__(self, plan: Plan, memory: Memory, variables: Variables) -> None:
        self.own, self.memory, self.variables = plan, memory, variables
        self.adjoint = memory.version == 3 and sum(map(plan.size, ("nq", "nv", "nu", "np"))) > FEW
        self.contacts: Marching | None = marching_of(plan)
        self.plan = plan if self.contacts is None else self.contacts.plan
        self.instants, self.until = _instants(plan)
        window = max(self.instants.breaks.size, self.instants.waypoints.size, 1)
        arrays = lasting_arrays(self.plan, window)
        if self.contacts is not None:
            self.contacts.mark(arrays.run)
        self.beside = () if self.contacts is None else (self.contacts.sides,)
        loops: Any = MarkedLoops(memory)
        loop: Loop[..., Any] = advance if self.contacts is None else march
        self.machine = Machine(arrays, march=loop, code=loops, beside=self.beside)
        add_entries(self.machine, self.plan)
        if plan.size("nc") or self.contacts is not None:
            known = self.plan.program.entries
            self.machine.add(self.plan.kernel, *(x for x in LATER if x in known))

    def filled(self, closing: Closing | None) -> Memory:
        """All blocks in place."""
        memory, arrays = self.memory, self.machine.arrays
        self.fill_run()
        work = self.assembly(closing)
        fmu = self.instance(work)
        if closing is not None:
            self.hold(fmu, closing)
        memory.place(fmu.ints)
        fmu.entries_at = memory.place(self.machine.entries.ints)
        fmu.run_at = memory.place(arrays.run.ints)
        for sides in self.beside:
            fmu.sides_at = memory.place(sides.ints)
        if work is not None:
            fmu.assembly_at = memory.place(work.ints)
        fmu.saved_words = memory.end
        fmu.scratch_at = memory.place(np.zeros_like(arrays.scratch))
        fmu.records_at = memory.place(np.zeros_like(arrays.records))
        fmu.log_at = memory.place(np.zeros_like(arrays.event_log))
        fmu.all_words = memory.end
        return memory

    def hold(self, fmu: Instance, closing: Closing) -> None:
        """What stays as it is where loops are closed: coordinates that are one velocity each."""
        q, v = self.own.program.labels["q"], self.own.program.labels["v"]
        for k, label in enumerate(v):
            fmu.held[k] = len(q) == len(v) and q[k].name in closing.held
            fmu.held[2 * len(v) + k] = label.name in closing.held

    def fill_run(self) -> None:
        """Where runs begin, and nothing recorded."""
        run = self.machine.arrays.run
        fill_run(self.machine.arrays, replace(self.own, instants=self.instants))
        if self.contacts is not None:
            self.contacts.begin(self.own)
        scale_run(run, self.own, self.contacts)
        run.records_steps = run.records_end = run.records_stop = run.samples = 0
        run.steps_allowed, run.t_refill = 2**62, self.until
        known = self.plan.program.entries
        run.has_terms = "terms" in known
        run.has_correct[:] = "correct_q" in known and self.contacts is None

    def assembly(self, closing: Closing | None) -> Work | None:
        """The record in which loops are closed."""
        if closing is None or not self.own.size("nc"):
            return None
        return work_of(self.own.kernel, closing.shakes)

    def instance(self, work: Work | None) -> Instance:
        """The record of the instance."""
        own, run = self.own, self.machine.arrays.run
        outputs = len(own.program.entry("outputs").outputs)
        nq, nv, nu, np_, nc = (own.size(x) for x in ("nq", "nv", "nu", "np", "nc"))
        poses = self.variables.of(POSE)
        names = ["qdot", "energy", *(["outputs"] if outputs else []), *(["poses"] if poses else [])]
        smooth, kernel = self.contacts is None, own.kernel
        has_adjoint = smooth and self.adjoint
        names += ["variation"] if smooth else []
        names += ["adjoint"] if has_adjoint else []
        room = max(map(kernel.work_size, [*names, *(ENTRIES if work is not None else ())]))
        fmu = Instance.new(
            {"message": MESSAGE, "work": max(1, room)},
            nq=nq, nv=nv, nu=nu, np=np_, ne=int(run.ne), no=outputs,
            nx=nq + nv + max(nu + np_, nc + outputs), variables_count=len(self.variables.rows),
            npose=sum(x.count for _, x in poses),
        )  # fmt: skip
        for name in names:
            fmu.ints[Instance.fields[f"{name}_entry"].slot] = kernel.address(name)
        fmu.has_adjoint = has_adjoint
        fmu.drift, fmu.multipliers, fmu.own_events = DRIFT, nc, len(own.events)
        hooks = SMOOTH if smooth else SIDES
        for name, loop in {**hooks, **({"close": close_loops} if work is not None else {})}.items():
            set_hook(fmu, name, loop, MarkedLoops(self.memory).address(loop))
        self.fill_variables(fmu)
        return fmu

    def fill_variables(self, fmu: Instance) -> None:
        """The table of variables."""
        fmu.nominal[:] = self.variables.nominals
        for row, variable in zip(fmu.variables, self.variables.rows, strict=True):
            row.array, row.first, row.count = variable.array, variable.first, variable.count
            row.settable, row.is_integer = variable.settable, variable.is_integer
            row.low, row.high = variable.low, variable.high
            if variable.array == Q and variable.unit == "rad":
                row.low, row.high = -FARTHEST, FARTHEST


def _instants(plan: Plan) -> tuple[Instants, float]:
    """Instants at which formulas of time jump or bend, and until when they are known."""
    if not has_instants(plan):
        return plan.instants, np.inf
    length = plan.until - plan.state.t
    end = plan.state.t + HORIZON * length
    instants = instants_of(
        plan.timed, plan.program, plan.state.t, end, plan.parameters, plan.inputs.held
    )
    later = [x[x > 0.5 * (plan.state.t + end)] for x in (instants.breaks, instants.waypoints)]
    return instants, end if any(x.size for x in later) else np.inf
