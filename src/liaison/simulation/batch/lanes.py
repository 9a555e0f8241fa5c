"""Runs of a batch on vector lanes: which batches march so, and the share of a thread.

Runs of fixed explicit steps march side by side, one in each lane of a vector: see `lane_steps.py`.
Whether a batch does changes nothing but the time: a lane has the bits of a run that marches alone,
whatever its neighbours are (`lane_check.py` compares), and a run whose step is no ordinary one is
made again alone. Adaptive steps, implicit methods, events, contacts and drives whose rates jump
march alone from the start.

Public names: Lanes, LanePlan, lane_plan, lane_shares.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.llvm.lanes import LaneCode
from liaison.program.loops.records import Rows, address, set_hook
from liaison.simulation.events.watched import sides_in
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps.layout import Entries, Run
from liaison.simulation.steps.recording import keep

from .lane_check import different_entries
from .lane_layout import Group, with_lane_loops
from .lane_march import compiled_lanes, compiled_note, run_lanes
from .lane_steps import enter_alone, share_out
from .loop import MOST_RUNS, End, Task, end_run

WORTH, FEW = 2_000_000, 4
"""Evaluations of a kernel's batches from which on code for lanes is worth the time it takes to
compile; and runs that are not, since most lanes would be idle."""

LINE = 8
"""Doubles of a cache line."""

EVALUATIONS = "evaluations of batches that could march on lanes"
"""Under this name a kernel knows how many there were."""

CORRECTING = ("terms", "correct_q", "correct_v")
"""Entries that bring a state back to its closures."""


@final
@dataclass(frozen=True, slots=True)
class LanePlan:
    """Machine code over lanes of all that a step calls.

    Attributes:
        codes: of the kernel, and of formulas of inputs.
        alone: entries that runs of a lane may call alone.
        different: entries whose bits are not those of one state.
    """

    codes: tuple[LaneCode, ...]
    alone: tuple[str, ...]
    different: tuple[str, ...] = ()

    @property
    def lanes(self) -> int:
        """Runs that march together."""
        return self.codes[0].lanes


def lane_plan(plan: Plan, run: Run, count: int, wanted: bool | None) -> LanePlan | None:
    """How a batch marches on lanes; None where its runs march alone.

    Args:
        plan: what the runs share.
        run: as it is before any of them.
        count: of runs.
        wanted: None where the work decides.

    Raises:
        SimulationError: lanes are wanted, and the runs cannot march on them.
    """
    if wanted is False:
        return None
    why = _hindrance(plan, run)
    if not why and wanted is None and not _is_worth(plan.kernel, run, count):
        return None
    lanes = None if why else _compiled(plan, run)
    why = why or ("the back end computes one state at a time" if lanes is None else "")
    if lanes is not None and lanes.different:
        why = f"of the entry {lanes.different[0]!r} lanes differ from one state in the last bits"
    if why and wanted:
        raise SimulationError(
            f"lanes is True, and these runs march one by one: {why}.",
            hint="Leave lanes out: runs that can march on vector lanes then do.",
        )
    return None if why else lanes


def _is_worth(kernel: Kernel, run: Run, count: int) -> bool:
    """Whether a kernel's batches, this one included, are long enough; the answer changes no bit."""
    evaluations = float(count * run.ns * (run.t_end - run.t_start) / run.step)
    total: float = kernel.prepared.get(EVALUATIONS, 0.0) + evaluations
    kernel.prepared[EVALUATIONS] = total
    return total >= WORTH and count >= FEW


def _hindrance(plan: Plan, run: Run) -> str:
    """Why runs march alone; empty where they need not."""
    kinds = run.is_implicit, run.is_variational, run.is_alpha, run.is_edwards, run.is_moreau
    causes = {
        "the kernel holds a scene": plan.is_scene,
        "contacts and other unilateral constraints are looked at step by step": (
            not plan.is_scene and bool(sides_in(plan.program))
        ),
        "steps are adaptive (give a step)": bool(run.is_adaptive),
        f"method {plan.settings.tableau.name!r} is not explicit": any(kinds),
        "the method reuses its last stage where closures may move it": bool(
            run.reuses_last and run.nc
        ),
        "events are looked for": bool(run.ne),
        "rates of drives jump": bool(run.break_count) or run.t_refill < np.inf,
        "they end where they begin": not run.t_end > run.t_start,
    }
    causes["the kernel has no entries for closures"] = bool(run.nc) and not all(
        x in plan.program.entries for x in CORRECTING
    )
    return next((why for why, is_so in causes.items() if is_so), "")


def _compiled(plan: Plan, run: Run) -> LanePlan | None:
    """The code, where the back end makes some."""
    closed = ("closure", "correct_q", "correct_v") if run.nc else ()
    watched = (plan.watch[0],) if plan.watch[0] else ()
    kernels = [(plan.kernel, ("rate", "retract", *closed, *watched))]
    if plan.added is not None:
        kernels.append((plan.added, tuple(plan.added.program.entries)))
    codes = [(kernel, kernel.lane_code(*names)) for kernel, names in kernels]
    known = [(kernel, code) for kernel, code in codes if code is not None]
    if len(known) < len(codes) or len({code.lanes for _, code in known}) > 1:
        return None
    different = [x for kernel, code in known for x in different_entries(kernel, code)]
    alone = CORRECTING if run.nc else ()
    return LanePlan(tuple(code for _, code in known), alone, tuple(different))


def lane_shares(
    count: int, threads: int, lanes: int, rejected: Collection[int] = ()
) -> list[list[int]]:
    """Numbers of runs in shares, several for each thread, full groups as far as possible."""
    runs = [k for k in range(count) if k not in rejected]
    groups = max(1, min(MOST_RUNS, len(runs) // (8 * threads)) // lanes)
    size = groups * lanes
    return [runs[k : k + size] for k in range(0, len(runs), size)]


def _aligned(size: int, before: int = 0) -> Array:
    """Zeros of which all but some first ones begin at a cache line."""
    whole = np.zeros(size + LINE)
    skip = -(whole.ctypes.data // 8 + before) % LINE
    return whole[skip : skip + size]


@final
class Lanes:
    """The arrays of one thread, and the share that it has under way.

    Args:
        lane_plan: code over lanes.
        machine: of one run, with its entries.
        template: the run as it is before it begins.
        tables: starts, records, ends and last states of all runs.
        task: of the thread.
        portable: results have the same bits on every machine.
    """

    def __init__(
        self,
        lane_plan: LanePlan,
        machine: Machine,
        template: Run,
        tables: tuple[Array, Array, Any, Array],
        task: Task,
        *,
        portable: bool,
    ) -> None:
        self.lanes, self._machine, self._task = lane_plan.lanes, machine, task
        self._codes, self._tables, self._template = lane_plan.codes, tables, template
        self._group = self._new_group(template)
        self._clock = template.copy()
        self._blocks = np.tile(template.floats, self.lanes)
        self._wide = Entries.new()
        for code in lane_plan.codes:
            for name, place in code.addresses.items():
                self._wide.ints[Entries.slot(name)] = place
        self._work = _aligned(max(1, *(x.work_size for x in lane_plan.codes)))
        self._call = compiled_lanes(portable=portable).function(run_lanes)
        self._budget = 32

    def _new_group(self, run: Run) -> Group:
        """Its arrays begin at cache lines."""
        counts = {x: int(getattr(run, x)) for x in ("nq", "nv", "nu", "np", "ni", "ns")}
        rows = int(run.nphi + run.nc)
        plain = Group.new({}, lanes=self.lanes, rows=rows, most=MOST_RUNS, **counts)
        words = _aligned(plain.ints.size, Group.header)
        words.view(np.int64)[:] = plain.ints
        group = Group(words)
        with_lane_loops(group.does, self.lanes)
        set_hook(group.does, "note", enter_alone, compiled_note().address(enter_alone))
        group.record_words = self._tables[1][0].size
        return group

    def begin(self, runs: Sequence[int]) -> None:
        """Takes a share of the runs."""
        group = self._group
        group.runs[: len(runs)] = runs
        group.next, group.last, group.is_under_way, group.left_count = 0, len(runs), 0, 0

    @property
    def is_done(self) -> bool:
        """No run of the share marches on lanes any more."""
        return bool(self._group.next >= self._group.last)

    @property
    def left(self) -> list[int]:
        """Runs of the share that march on alone."""
        runs: list[int] = self._group.left[: self._group.left_count].tolist()
        return runs

    def go(self, seconds: float) -> None:
        """Works for about so long."""
        a, (starts, records, codes, last) = self._machine.arrays, self._tables
        dense = int(a.run.scratch_dense)
        for lane in range(self.lanes):
            self._own(lane).scratch_dense = dense
        self._group.budget = self._budget
        began = time.perf_counter()
        listed = (
            self._machine.entries, self._wide, self._task, self._group, self._template, self._clock,
            self._blocks, a.scratch, self._work, starts, records, a.event_log, codes, last,
        )  # fmt: skip
        self._call(*(address(x) for x in listed))
        spent = max(time.perf_counter() - began, 1e-9)
        self._budget = max(1, min(4 * self._budget, int(self._budget * seconds / spent)))

    def _own(self, lane: int) -> Run:
        """The run of a lane."""
        size = self._template.ints.size
        return Run(self._blocks[lane * size : (lane + 1) * size])

    def under_way(self, status: int) -> list[tuple[int, Run]]:
        """The runs under way, ended where they are: number and run of each."""
        group, (_, _, codes, last) = self._group, self._tables
        ended: list[tuple[int, Run]] = []
        for lane in range(int(group.count) if group.is_under_way else 0):
            if group.is_active[lane]:
                share_out(lane, group, self._clock, self._blocks)
                own, i = self._own(lane), int(group.runs[group.next + lane])
                keep(own)
                own.steps = self._clock.steps
                own.evaluations += self._clock.evaluations
                own.projections += group.projections[lane]
                end_run(i, status, self._task, own, Rows(End, codes), last.ravel())
                ended.append((i, own))
        group.is_under_way = 0
        return ended
