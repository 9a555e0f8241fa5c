"""Layout of runs that march together: the record `Group`, and lanes taken out and put back.

Lane l of every array belongs to one run; an array of n numbers a state holds `lanes` of each, those
of number i at i × lanes. All runs of a group share their instants and steps: a `Run` of its own is
their clock, with tableau and tolerances. What a run keeps for itself (its recording, its balance of
energy, matrices of the pivoted solver) is in a `Run` a lane, `blocks`, one after the other.

Public names: Group, take_lane, put_lane, drop.
"""

from __future__ import annotations

from typing import final

from liaison.program.loops.language import i64, iptr, loop, ptr
from liaison.program.loops.records import Record, nested, size, sized

from .lane_arrays import LaneArrays


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

    does: LaneArrays = nested()

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
    formulas: ptr = sized("ni * lanes")
    seen_u: ptr = sized("nu * lanes")
    seen: ptr = sized("3 * lanes")  # T, U and power

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
        group.left[group.left_count] = group.runs[group.next + lane]
        group.left_count += 1
