"""Layout of runs that march together: the record `Group`, and the loops that work on its arrays.

Lane l of every array belongs to one run; an array of n numbers a state holds `lanes` of each, those
of number i at i × lanes. All runs of a group share their instants and steps: a `Run` of its own is
their clock, with tableau and tolerances. What a run keeps for itself (its recording, its balance of
energy, matrices of the pivoted solver) is in a `Run` a lane, `blocks`, one after the other.

The loops over whole arrays are those in which runs on lanes spend their time. They are few and
short, so that LLVM's long list of passes, which puts them on vectors, takes little time; the others
call them by address. Each number has the bits of the same loop of one run.

Public names: Group, LaneLoops, with_lane_loops, LOOPS, take_lane, put_lane, drop.
"""

from __future__ import annotations

from functools import cache
from typing import final

from liaison.program.llvm.lane_loops import LANE_LOOPS, lane_loops
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, hook, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, like, nested, set_hook, size, sized
from liaison.simulation.steps.layout import Run


@loop
def combined(
    n: i64, between: i64, count: i64, h: f64, weights: ptr, v: ptr, k: ptr, y: ptr
) -> None:
    """y = (0, v) + h Σ weights_j k_j; n numbers each, and rows of k that lie `between` apart."""
    for i in range(n):
        y[i] = 0.0
    rates = at(y, n)
    for i in range(n):
        rates[i] = v[i]
    for j in range(count):
        c = h * weights[j]
        if c != 0.0:
            row = at(k, j * between)
            for i in range(2 * n):
                y[i] += c * row[i]


@loop
def interpolated(
    n: i64, between: i64, count: i64, h: f64, weights: ptr, v: ptr, k: ptr, y: ptr
) -> None:
    """As `combined`, with weights that are zero as well."""
    for i in range(n):
        y[i] = 0.0
    rates = at(y, n)
    for i in range(n):
        rates[i] = v[i]
    for j in range(count):
        c = weights[j] * h
        row = at(k, j * between)
        for i in range(2 * n):
            y[i] += c * row[i]


@loop
def copied(n: i64, x: ptr, y: ptr) -> None:
    """y = x."""
    for i in range(n):
        y[i] = x[i]


@loop
def added(n: i64, x: ptr, y: ptr, z: ptr) -> None:
    """z = x + y."""
    for i in range(n):
        z[i] = x[i] + y[i]


@loop
def replaced(n: i64, lanes: i64, where: iptr, x: ptr, y: ptr) -> None:
    """y = x in some lanes."""
    for i in range(n):
        new = at(x, i * lanes)
        row = at(y, i * lanes)
        for k in range(lanes):
            row[k] = new[k] if where[k] > 0 else row[k]


@loop
def largest_of(n: i64, lanes: i64, x: ptr, unit: ptr, most: ptr, bad: ptr) -> None:
    """max |x_i|/unit_i of every lane; NaN of a lane in which an entry is not finite."""
    for k in range(lanes):
        most[k] = 0.0
        bad[k] = 0.0
    for i in range(n):
        row = at(x, i * lanes)
        scale = unit[i]
        if scale == 1.0:  # nearly always, and divisions take long
            for k in range(lanes):
                size = abs(row[k])
                bad[k] += size - size
                most[k] = size if size > most[k] else most[k]
        else:
            for k in range(lanes):
                size = abs(row[k]) / scale
                bad[k] += size - size
                most[k] = size if size > most[k] else most[k]
    for k in range(lanes):
        most[k] += bad[k]


@loop
def infinite_of(n: i64, lanes: i64, x: ptr, bad: ptr) -> i64:
    """How many lanes have a number that is not finite; their `bad` is NaN, that of others 0."""
    for k in range(lanes):
        bad[k] = 0.0
    for i in range(n):
        row = at(x, i * lanes)
        for k in range(lanes):
            bad[k] += row[k] - row[k]
    count = 0
    for k in range(lanes):
        count += 0 if bad[k] == 0.0 else 1
    return count


@loop
def count_above(lanes: i64, limit: f64, x: ptr, where: iptr) -> i64:
    """Of some lanes, how many have a number that is above a limit or NaN."""
    count = 0
    for k in range(lanes):
        count += 0 if x[k] <= limit else where[k]
    return count


@loop
def count_pending(
    lanes: i64, tolerance: f64, worst: ptr, measure: ptr, limit: ptr, is_done: iptr,
    is_pending: iptr,
) -> i64:  # fmt: skip
    """Marks the lanes whose residual is above a tolerance times 1 + their measure."""
    count = 0
    for k in range(lanes):
        measure[k] = 1.0 + measure[k]
        limit[k] = tolerance * measure[k]
        is_there = 1 if worst[k] <= limit[k] else is_done[k]
        is_pending[k] = 1 - is_there
        count += 1 - is_there
    return count


@loop
def count_open(lanes: i64, worst: ptr, limit: ptr, is_pending: iptr) -> i64:
    """Lanes that are pending and still above their limit."""
    count = 0
    for k in range(lanes):
        is_pending[k] = 0 if worst[k] <= limit[k] else is_pending[k]
        count += is_pending[k]
    return count


@loop
def count_stuck(
    lanes: i64, stall: f64, slack: f64, worst: ptr, after: ptr, limit: ptr, is_pending: iptr,
    is_stuck: iptr, has_moved: iptr,
) -> i64:  # fmt: skip
    """Which lanes take their correction (still pending), and how many stall away from rounding."""
    count = 0
    for k in range(lanes):
        helps = is_pending[k] if after[k] < stall * worst[k] else 0
        stalled = is_pending[k] - helps
        is_stuck[k] = 0 if worst[k] <= slack * limit[k] else stalled
        worst[k] = after[k] if helps > 0 else worst[k]
        is_pending[k] = helps
        has_moved[k] = has_moved[k] | helps
        count += is_stuck[k]
    return count


@loop
def noting(lane: i64, ends: i64, group: Group, clock: Run, blocks: ptr) -> None:
    """What notes what a lane has seen in the balance of its run; see `enter_alone`."""


@final
class LaneLoops(Record):
    """The addresses of these loops."""

    combined: hook = like(combined)
    interpolated: hook = like(interpolated)
    copied: hook = like(copied)
    added: hook = like(added)
    replaced: hook = like(replaced)
    largest_of: hook = like(largest_of)
    infinite_of: hook = like(infinite_of)
    count_above: hook = like(count_above)
    count_pending: hook = like(count_pending)
    count_open: hook = like(count_open)
    count_stuck: hook = like(count_stuck)
    note: hook = like(noting)


@final
class Group(Record):
    """Runs that march together, and which runs of a share are still to do."""

    lanes: i64 = size()
    nq: i64 = size()
    nv: i64 = size()
    nu: i64 = size()
    np: i64 = size()
    rows: i64 = size()  # of closures, of positions and of rates
    ni: i64 = size()  # inputs that are formulas
    ns: i64 = size()  # stages
    most: i64 = size()  # runs of a share

    # the share
    next: i64  # the first of `runs` in the group that is under way, or that comes next
    last: i64  # how many runs the share has
    count: i64  # runs of the group; lanes beyond repeat the last one, and are not looked at
    is_under_way: i64
    budget: i64  # what is left of the allotted steps
    record_words: i64  # of one run
    left_count: i64  # runs that march on alone
    active: i64  # lanes whose runs are under way
    evaluated: i64  # rates, before the step under way

    does: LaneLoops = nested()

    # the states, and what a step is made of
    q: ptr = sized("nq * lanes")
    v: ptr = sized("nv * lanes")
    u: ptr = sized("nu * lanes")
    p: ptr = sized("np * lanes")
    k: ptr = sized("ns", "(2 * nv + 1) * lanes")
    y: ptr = sized("2 * nv * lanes")
    stage: ptr = sized("(2 * nv + 1) * lanes")
    trial_q: ptr = sized("nq * lanes")
    trial_v: ptr = sized("nv * lanes")
    landed_q: ptr = sized("nq * lanes")
    kept_q: ptr = sized("nq * lanes")  # before a projection
    kept_v: ptr = sized("nv * lanes")
    moved_q: ptr = sized("nq * lanes")
    moved_v: ptr = sized("nv * lanes")
    out: ptr = sized("rows * lanes")
    moved_out: ptr = sized("rows * lanes")
    formulas: ptr = sized("ni * lanes")
    seen_u: ptr = sized("nu * lanes")
    seen: ptr = sized("3 * lanes")  # T, U and power

    weights: ptr = sized("ns")  # of an instant inside a step

    # one number a lane
    worst: ptr = sized("lanes")  # residual
    after: ptr = sized("lanes")
    measure: ptr = sized("lanes")  # of what a residual is compared with
    tolerance: ptr = sized("lanes")
    bad: ptr = sized("lanes")
    is_active: iptr = sized("lanes")
    is_pending: iptr = sized("lanes")  # not on its closures yet
    is_done: iptr = sized("lanes")  # brought onto them alone
    is_stuck: iptr = sized("lanes")
    has_moved: iptr = sized("lanes")
    projections: iptr = sized("lanes")
    runs: iptr = sized("most")  # numbers of the runs of the share
    left: iptr = sized("most")  # numbers of those that march on alone


LOOPS = {
    x.name: x
    for x in (
        combined, interpolated, copied, added, replaced, largest_of, infinite_of, count_above,
        count_pending, count_open, count_stuck,
    )
}  # fmt: skip


@cache
def _compiled() -> CompiledLoops:
    """Those loops that LLVM puts on vectors by itself, as machine code, once a process."""
    return compile_loops([x for name, x in LOOPS.items() if name not in LANE_LOOPS], optimize=3)


def with_lane_loops(record: LaneLoops, lanes: int, *, is_compiled: bool = True) -> None:
    """Stores the loops in a record: their machine code for so many lanes, or as plain Python."""
    for name, one in LOOPS.items():
        place = lane_loops(lanes)[name] if name in LANE_LOOPS else _compiled().address(one)
        set_hook(record, name, one, place if is_compiled else None)


@loop
def take_lane(n: i64, lanes: i64, lane: i64, x: ptr, y: ptr) -> None:
    """The numbers of one lane of x into y."""
    for i in range(n):
        y[i] = x[i * lanes + lane]


@loop
def put_lane(n: i64, lanes: i64, lane: i64, y: ptr, x: ptr) -> None:
    """The numbers y into one lane of x."""
    for i in range(n):
        x[i * lanes + lane] = y[i]


@loop
def drop(group: Group, lane: i64) -> None:
    """The run of a lane marches on alone, from its beginning; its lane is not looked at again."""
    if group.is_active[lane] > 0:
        group.is_active[lane] = 0
        group.active -= 1
        group.left[group.left_count] = group.runs[group.next + lane]
        group.left_count += 1
