"""Runs one after the other in compiled code: each starts from a row of a table, and leaves its end.

A thread calls `run_each` on its own arrays; it comes back when its share is done, its steps are
used up, a run failed or ended with events to take out, or Python has something to do for the run
under way. What goes on with a run is a hook of the thread's task: `free_march`, or the march from
event to event of contacts.

Public names: run_each, free_march, end_run, take_start, note_end, compiled_batch, Task, End, Last,
ENDS, MEASURED, MOST_RUNS.
"""

from __future__ import annotations

from functools import cache
from typing import final

from liaison.contacts.events.touching import TOUCH
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, hook, i64, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, like, rows, size, sized, words_of
from liaison.simulation.events.log import Event
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import (
    DONE,
    GOOD,
    NEEDS_CORRECT_Q,
    NEEDS_CORRECT_V,
    NEEDS_TERMS,
    STOPPED,
    Entries,
    Run,
)
from liaison.simulation.steps.sides_layout import Sides

MOST_RUNS = 256
"""Of a share."""


@final
class LeftEvents(Record):
    """A run that left events in the buffer."""

    run: i64
    rows: i64


@loop
def free_march(
    sides: Sides, e: Entries, run: Run, scratch: ptr, records: ptr, event_log: ptr, tries: i64
) -> i64:
    """As `advance`, with the steps of `e`: no mode of contacts ends."""
    return advance(e, run, scratch, records, event_log, tries)


@final
class Task(Record):
    """A thread's share of the runs, and how far it has come."""

    most: i64 = size()  # runs at most that leave events
    march: hook = like(free_march)  # goes on with a run
    next: i64
    last: i64  # the end of the share
    is_under_way: i64
    budget: i64  # what is left of the allotted steps
    record_words: i64  # of one run
    is_heard: i64  # whether Python is called at the end of every run
    taken: i64  # rows of events that runs of this share left
    left_runs: i64  # how many runs did
    room: i64  # rows of events there are
    least: i64  # rows of events that a run needs
    left: Rows[LeftEvents] = rows("most")


@final
class Start(Part):
    """Where a run begins."""

    q: ptr = sized("nq")
    v: ptr = sized("nv")
    u: ptr = sized("nu")
    p: ptr = sized("np")


@final
class End(Record):
    """How a run ended."""

    status: i64
    recorded: i64
    steps: i64
    rejected: i64
    evaluations: i64
    projections: i64
    fallbacks: i64


@final
class Last(Part):
    """The last good state of a run, what Moreau's steps missed, and how events were seen."""

    t: f64
    q: ptr = sized("nq")
    v: ptr = sized("nv")
    penetration: f64
    complementarity: f64
    contacts: f64
    spacing: f64
    doubts: f64
    worst: f64  # of the balance of energy, as the following
    t_worst: f64
    jump: f64
    t_jump: f64
    turned_over: f64
    size: f64


ENDS = tuple(End.fields)
"""What the end of a run is noted by, one row of integers each."""

MEASURED = 11
"""Numbers after the last good state: two that Moreau's steps missed, how many contacts, two on how
finely events were looked at, and six of the balance of energy."""

ON = -1
"""The share goes on."""


@loop
def take_start(i: i64, run: Run, starts: ptr) -> None:
    """The i-th start into its places of a block."""
    start = Start(at(starts, i * words_of(Start, run)), run)
    for k in range(run.nq):
        run.q[k] = start.q[k]
        run.good.q[k] = start.q[k]
    for k in range(run.nv):
        run.v[k] = start.v[k]
        run.good.v[k] = start.v[k]
    for k in range(run.nu):
        run.u[k] = start.u[k]
    for k in range(run.np):
        run.p[k] = start.p[k]


@loop
def start_run(i: i64, task: Task, first: Run, run: Run, starts: ptr) -> None:
    """The block as it is before any run, with the i-th start in its places."""
    dense = run.scratch_dense
    words = run.ints
    for k in range(run.words):
        words[k] = first.ints[k]
    run.scratch_dense = dense
    take_start(i, run, starts)
    task.is_under_way = 1


@loop
def note_balance(run: Run, good: Last) -> None:
    """How the balance of energy of a run stands at its end."""
    ledger = run.ledger
    good.worst = ledger.worst
    good.t_worst = ledger.t_worst
    good.jump = ledger.jump
    good.t_jump = ledger.t_jump
    good.turned_over = ledger.kinetic + ledger.highest - ledger.lowest + ledger.turned
    good.size = ledger.kinetic + max(abs(ledger.lowest), abs(ledger.highest))


@loop
def note_end(i: i64, status: i64, run: Run, ends: Rows[End], last: ptr) -> None:
    """Notes how the i-th run ended, and its last good state."""
    end = ends[i]
    end.status = status
    end.recorded = run.recorded
    end.steps = run.steps
    end.rejected = run.rejected
    end.evaluations = run.evaluations
    end.projections = run.projections
    end.fallbacks = run.fallbacks
    good = Last(at(last, i * words_of(Last, run)), run)
    good.t = run.t_good
    for k in range(run.nq):
        good.q[k] = run.good.q[k]
    for k in range(run.nv):
        good.v[k] = run.good.v[k]
    good.spacing = run.spacing
    good.doubts = float(run.doubts)
    note_balance(run, good)
    if run.is_moreau > 0:
        good.penetration = run.penetration
        good.complementarity = run.complementarity
        good.contacts = float(run.contacts)


@loop
def end_run(i: i64, status: i64, task: Task, run: Run, ends: Rows[End], last: ptr) -> None:
    """Notes how the i-th run ended, and goes on to the next."""
    note_end(i, status, run, ends, last)
    task.next = i + 1
    task.is_under_way = 0


@loop
def supply(status: i64, e: Entries, run: Run) -> i64:
    """1 if the entry a run needs is there, which is then made known to it."""
    if status == NEEDS_TERMS:
        if e.has_terms == 0:
            return 0
        run.has_terms = 1
        return 1
    level = status - NEEDS_CORRECT_Q
    if status != NEEDS_CORRECT_Q and status != NEEDS_CORRECT_V:
        return 0
    if e.correct[level] == 0:
        return 0
    run.has_correct[level] = 1
    return 1


@loop
def leave_events(task: Task, run: Run) -> i64:
    """1 if the events of a run that ended stay in the buffer, and there is room for another run."""
    if task.room - task.taken - run.event_count < task.least:
        return 0
    left = task.left[task.left_runs]
    left.run = task.next - 1
    left.rows = run.event_count
    task.left_runs += 1
    task.taken += run.event_count
    run.event_count = 0
    return 1


@loop
def settle(
    status: i64, before: i64, heard: i64, e: Entries, task: Task, run: Run, ends: Rows[End],
    last: ptr,
) -> i64:  # fmt: skip
    """Ends a run that is done; ON, or what to return with: what is heard ends in Python.

    A run that failed is left under way: Python may know how it goes on.
    """
    if status == GOOD:
        task.budget = 0
        return GOOD
    task.budget = max(1, task.budget - 1 - (run.steps + run.rejected - before))
    if status != DONE and status != STOPPED:
        return ON if supply(status, e, run) == 1 else status
    end_run(task.next, status, task, run, ends, last)
    if status == STOPPED or heard > 0:
        return status
    if run.event_count > 0 and leave_events(task, run) == 0:
        return status
    return ON if task.budget > 1 else GOOD


@loop
def run_each(
    sides: Sides, untouched: Sides,
    e: Entries, task: Task, first: Run, run: Run, scratch: ptr, starts: ptr,
    records: ptr, event_log: ptr, ends: Rows[End], last: ptr,
) -> i64:  # fmt: skip
    """Goes on with a share of the runs; GOOD if it is done or the allotted steps are used up.

    untouched: the sides as they are before any run.
    """
    status = ON
    while task.next < task.last and status == ON:
        i = task.next
        if task.is_under_way == 0:
            start_run(i, task, first, run, starts)
            words = sides.ints
            for k in range(sides.words):
                words[k] = untouched.ints[k]
        before = run.steps + run.rejected
        own = at(records, i * task.record_words)
        events = at(event_log, task.taken * (Event.header + run.nq + run.nv))
        status = task.march(sides, e, run, scratch, own, events, task.budget)
        heard = 1 if sides.inside > TOUCH else task.is_heard
        status = settle(status, before, heard, e, task, run, ends, last)
    return max(status, GOOD)


@cache
def compiled_batch(*, portable: bool = False) -> CompiledLoops:
    """The loops above as machine code, once a process."""
    return compile_loops([run_each, free_march], portable=portable)
