"""Runs of a batch on vector lanes: which batches march so, and the share of a thread.

Runs of fixed explicit steps march side by side, one in each lane of a vector: see `lane_steps.py`.
Whether a batch does changes nothing but the time: a lane has the bits of a run that marches alone,
whatever its neighbours are (`different_entries` compares), and a run whose step is no ordinary one
is made again alone. Adaptive steps, implicit methods, events, contacts and drives whose rates jump
march alone from the start.

Whether entries over lanes have the bits of the entries of one state: compared, once a kernel.

Both are compiled from the same formulas in the same order, and LLVM fuses the same products and
sums in both, but for a few that it sees only among numbers or only among vectors (a factor whose
negative is also there). Such an entry is not used: its runs would differ from others in rounding,
by whether they march alone. It differs at some states in a thousand or more; so many random ones
are compared that none is overlooked. Portable kernels fuse nothing.

Runs of a share side by side, a run a lane: groups of them, from their starts to their ends.

`run_lanes` comes back when the share is done or its steps are used up. The start of a run, what it
records and its end are those of one run, done one after the other by the functions of one run.

Public names: Lanes, LanePlan, lane_plan, lane_shares, different_entries, run_lanes,
compiled_lanes, compiled_note.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.llvm.lanes import LaneCode
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, bits, f64, i64, kernel, loop, ptr
from liaison.program.loops.records import Rows, address, set_hook
from liaison.simulation.events.watched import sides_in
from liaison.simulation.machine import Machine
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps.advance import begin
from liaison.simulation.steps.layout import DONE, GOOD, NOT_KEPT, RESUMED, Entries, Run
from liaison.simulation.steps.recording import ROUNDING, arrive, begin_balance, keep, sample_time

from .lane_layout import Group, drop, put_lane, take_lane, with_lane_loops
from .lane_projection import lane_project, lane_refresh
from .lane_steps import enter_alone, lane_commit, lane_step, observe_lanes, share_out
from .loop import MOST_RUNS, End, Task, end_run, start_run, supply


@loop
def start_group(
    e: Entries, task: Task, group: Group, first: Run, clock: Run, blocks: ptr, scratch: ptr,
    starts: ptr, records: ptr, event_log: ptr,
) -> None:  # fmt: skip
    """The next runs of the share, each in its lane; lanes that are left over repeat the last."""
    lanes = group.lanes
    group.count = min(lanes, group.last - group.next)
    group.active = group.count
    start_run(group.runs[group.next], task, first, clock, starts)
    clock.ledger.event = RESUMED
    clock.ledger.due = clock.ledger.stride
    for lane in range(lanes):
        i = group.runs[group.next + min(lane, group.count - 1)]
        own = Run(at(blocks, lane * clock.words))
        start_run(i, task, first, own, starts)
        group.is_active[lane] = 1 if lane < group.count else 0
        group.projections[lane] = 0
        if lane < group.count:
            start_lane(e, lane, group, own, scratch, at(records, i * group.record_words), event_log)
        put_lane(clock.nq, lanes, lane, own.q, group.q)
        put_lane(clock.nv, lanes, lane, own.v, group.v)
        put_lane(clock.nu, lanes, lane, own.u, group.u)
        put_lane(clock.np, lanes, lane, own.p, group.p)
    clock.next_sample = passed_instants(clock)
    group.is_under_way = 1


@loop
def start_lane(
    e: Entries, lane: i64, group: Group, own: Run, scratch: ptr, records: ptr, event_log: ptr
) -> None:
    """The start of one run made fit and recorded; a run that cannot begin is dropped."""
    if own.ledger.kind != NOT_KEPT:
        begin_balance(e, own, scratch)
    status = begin(e, own, scratch, event_log)
    while supply(status, e, own) == 1:
        status = begin(e, own, scratch, event_log)
    if status != GOOD or arrive(e, own, scratch, records) != GOOD:
        drop(group, lane)


@loop
def is_due(clock: Run) -> i64:
    """1 if the instant reached is one to record, as `arrive` sees it."""
    if clock.next_sample >= clock.samples:
        return 0
    instant = sample_time(clock.next_sample, clock)
    return 1 if instant <= clock.t + ROUNDING * max(abs(clock.t), clock.h) else 0


@loop
def passed_instants(clock: Run) -> i64:
    """The next instant to record after the one that was reached."""
    return int(clock.next_sample + is_due(clock))


@loop
def sample_lanes(
    e: Entries, wide: Entries, group: Group, clock: Run, blocks: ptr, scratch: ptr, work: ptr,
    records: ptr,
) -> None:  # fmt: skip
    """Records every requested instant inside the step, from the dense output, projected."""
    end = clock.t_new - ROUNDING * max(abs(clock.t_new), clock.h)
    while clock.next_sample < clock.samples:
        t = sample_time(clock.next_sample, clock)
        if t >= end:
            return
        lane_states_at((t - clock.t) / clock.h, wide, group, clock, work)
        q = group.trial_q
        v = group.trial_v
        lane_refresh(wide, t, q, v, group.u, group, clock, work)
        if clock.has_closure > 0:
            lane_project(e, wide, t, q, v, group, clock, blocks, scratch, work)
            lane_refresh(wide, t, q, v, group.u, group, clock, work)
        for lane in range(group.count):
            if group.is_active[lane] > 0:
                own = Run(at(blocks, lane * clock.words))
                record_lane(t, lane, group, own, records)
        clock.next_sample += 1


@loop
def lane_states_at(theta: f64, wide: Entries, group: Group, clock: Run, work: ptr) -> None:
    """q, v of every lane at the fraction θ of the step under way."""
    lanes = group.lanes
    n = clock.nv * lanes
    degree = clock.nd
    for j in range(clock.ns):
        c = 0.0
        for d in range(degree):
            c = (c + clock.dense[j, degree - 1 - d]) * theta
        group.weights[j] = c
    y = group.stage
    k = group.k[0]
    group.does.interpolated(n, 2 * n + lanes, clock.ns, clock.h, group.weights, group.v, k, y)
    v = group.trial_v
    group.does.copied(n, at(y, n), v)
    t = clock.t + theta * clock.h
    wide.retract(t, group.q, v, group.u, group.p, y, group.trial_q, work)


@loop
def record_lane(t: f64, lane: i64, group: Group, own: Run, records: ptr) -> None:
    """One row of the recording of a run: t, q, v, u."""
    lanes = group.lanes
    nq = own.nq
    nv = own.nv
    first = group.runs[group.next + lane] * group.record_words
    row = at(records, first + own.recorded * (1 + nq + nv + own.nu))
    row[0] = t
    take_lane(nq, lanes, lane, group.trial_q, at(row, 1))
    take_lane(nv, lanes, lane, group.trial_v, at(row, 1 + nq))
    take_lane(own.nu, lanes, lane, group.u, at(row, 1 + nq + nv))
    own.recorded += 1
    own.next_sample += 1


@loop
def arrive_lanes(
    e: Entries, task: Task, group: Group, clock: Run, blocks: ptr, scratch: ptr, records: ptr,
    ends: Rows[End], last: ptr,
) -> None:  # fmt: skip
    """Records the states where they are requested, and ends the runs at the last instant."""
    is_over = 1 if clock.t >= clock.t_end else 0
    if is_due(clock) + is_over == 0:
        return
    for lane in range(group.count):
        if group.is_active[lane] > 0:
            i = group.runs[group.next + lane]
            share_out(lane, group, clock, blocks)
            own = Run(at(blocks, lane * clock.words))
            if arrive(e, own, scratch, at(records, i * group.record_words)) != GOOD:
                drop(group, lane)
            elif is_over == 1:
                own.steps = clock.steps
                own.evaluations += clock.evaluations
                own.projections += group.projections[lane]
                end_run(i, DONE, task, own, ends, last)
    clock.next_sample = passed_instants(clock)


@loop
def is_marching(group: Group, clock: Run) -> i64:
    """1 if runs of the group are under way; too many steps are reported by a run alone."""
    if clock.t >= clock.t_end:
        return 0
    if clock.steps >= clock.steps_allowed:
        for lane in range(group.lanes):
            drop(group, lane)
    return 1 if group.active > 0 else 0


@loop
def run_lanes(
    e: Entries, wide: Entries, task: Task, group: Group, first: Run, clock: Run, blocks: ptr,
    scratch: ptr, work: ptr, starts: ptr, records: ptr, event_log: ptr, ends: Rows[End], last: ptr,
) -> i64:  # fmt: skip
    """Goes on with a share of the runs until it is done or the allotted steps are used up.

    wide: entries over all lanes.
    """
    while group.next < group.last and group.budget > 0:
        if group.is_under_way == 0:
            start_group(e, task, group, first, clock, blocks, scratch, starts, records, event_log)
        while group.budget > 0 and is_marching(group, clock) == 1:
            group.budget -= 1
            lane_step(e, wide, group, clock, blocks, scratch, work)
            sample_lanes(e, wide, group, clock, blocks, scratch, work, records)
            observe_lanes(e, wide, group, clock, blocks, scratch, work)
            lane_commit(group, clock)
            arrive_lanes(e, task, group, clock, blocks, scratch, records, ends, last)
        if is_marching(group, clock) == 0:
            group.is_under_way = 0
            group.next += group.count
    return GOOD


@cache
def compiled_lanes(*, portable: bool = False) -> CompiledLoops:
    """The loop above as machine code, once a process."""
    return compile_loops([run_lanes], portable=portable)


@cache
def compiled_note() -> CompiledLoops:
    """`enter_alone`, which calls no functions of the system, with all of LLVM's passes."""
    return compile_loops([enter_alone], optimize=3)


ROUNDS = 512
"""Vectors of states that are compared."""


@loop
def count_different(
    one: kernel, wide: kernel, rounds: i64, lanes: i64, width: i64, outputs: i64, states: ptr,
    alone: ptr, space: ptr, work: ptr,
) -> i64:  # fmt: skip
    """States at which two entries differ in a bit.

    Every array of a state has `width` numbers; `space` has room for what both write.
    """
    count = 0
    n = width * lanes
    other = at(space, outputs * lanes)
    for r in range(rounds):
        q = at(states, r * 5 * n)
        v = at(q, n)
        u = at(v, n)
        p = at(u, n)
        x = at(p, n)
        wide(0.25, q, v, u, p, x, space, work)
        for k in range(lanes):
            take_lane(5 * width, lanes, k, q, alone)
            v1 = at(alone, width)
            u1 = at(v1, width)
            p1 = at(u1, width)
            one(0.25, alone, v1, u1, p1, at(p1, width), other, work)
            differs = 0
            for i in range(outputs):
                a = other[i]
                b = space[i * lanes + k]
                if bits(a) != bits(b) and (a == a or b == b):
                    differs = 1
            count += differs
    return count


@cache
def _count() -> Any:
    """The loop above as machine code."""
    return compile_loops([count_different]).function(count_different)


def different_entries(kernel: Kernel, code: LaneCode) -> tuple[str, ...]:
    """Entries of which a lane and the entry of one state differ in some bits."""
    key = ("entries that differ on lanes", *code.addresses)
    if key not in kernel.prepared:
        kernel.prepared[key] = tuple(x for x in code.addresses if _differs(kernel, code, x))
    known: tuple[str, ...] = kernel.prepared[key]
    return known


def _differs(kernel: Kernel, code: LaneCode, entry: str) -> bool:
    """Whether it does at one of many states, drawn from numbers of several sizes."""
    reads, rng = kernel.program.reads(entry), np.random.default_rng(1)
    width, outputs, lanes = max(1, *reads.values()), kernel.out_size(entry), code.lanes
    states = rng.uniform(-2.0, 2.0, (ROUNDS, 5, width, lanes))
    states *= 10.0 ** rng.uniform(-2.0, 0.5, (ROUNDS, 1, 1, 1))
    defaults = np.resize(np.append(kernel.program.defaults.get("p", ()), 1.0), width)
    near = rng.uniform(0.9, 1.1, (ROUNDS, width, lanes))
    states[:, 3] = defaults[:, None] * near
    work = np.zeros(1 + max(code.work_size, kernel.work_size(entry)))
    alone, space = np.zeros(5 * width), np.zeros(outputs * (lanes + 1))
    listed = map(address, (np.ascontiguousarray(states), alone, space, work))
    places = kernel.address(entry), code.addresses[entry]
    return bool(_count()(*places, ROUNDS, lanes, width, outputs, *listed))


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
