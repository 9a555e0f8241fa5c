"""Runs one after the other in compiled code: each starts from a row of a table, and leaves its end.

A thread calls `advance_each` on its own arrays (`march_each` from event to event of contacts,
`step_each` with Moreau's steps); it comes back when its share is done, its steps are used up, a run
failed or ended with events to take out, or Python has something to do for the run under way.

Public names: advance_each, march_each, step_each, end_run, compiled_batch, ENDS, and the
slots of a task.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from liaison.contacts.events.switching import march
from liaison.contacts.events.touching import TOUCH
from liaison.contacts.stepping.march import march as moreau_march
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.language import at, i64, iptr, loop, ptr
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import (
    COMPLEMENTARITY,
    CONTACTS,
    DONE,
    E_CORRECT_Q,
    E_CORRECT_V,
    E_TERMS,
    EVALUATIONS,
    FALLBACKS,
    GOOD,
    HAPPENED,
    HAS_CORRECT_Q,
    HAS_CORRECT_V,
    HAS_TERMS,
    IS_MOREAU,
    NEEDS_CORRECT_Q,
    NEEDS_CORRECT_V,
    NEEDS_TERMS,
    NQ,
    NU,
    NV,
    O_GOOD,
    O_P,
    O_Q,
    O_U,
    O_V,
    PENETRATION,
    PROJECTIONS,
    RECORDED,
    REJECTED,
    S_DENSE,
    STEPS,
    STOPPED,
    T_GOOD,
)
from liaison.simulation.steps.sides_layout import INSIDE

# slots of a task: the next run, the end of the share, what is left of the allotted steps; sizes;
# whether Python is asked at the end of every run
NEXT, LAST, IS_UNDER_WAY, BUDGET = 0, 1, 2, 3
FLOATS_OF_RUN, INTS_OF_RUN, NUMBER_OF_P, RECORDS_OF_RUN = 4, 5, 6, 7
INTS_OF_SIDES, FLOATS_OF_SIDES, IS_HEARD = 8, 9, 10
# events: rows that runs of this share left, how many runs did, rows there are, rows a run needs
TAKEN, TOLD, ROOM, LEAST = 11, 12, 13, 14
TASK = 15
MOST_RUNS = 256
"""Of a share; run and rows of each that left events follow in a task."""

ENDS = ("status", "recorded", "steps", "rejected", "evaluations", "projections", "fallbacks")
"""What the end of a run is noted by, one row of integers each."""

MEASURED = 3
"""Numbers after the last good state: two that Moreau's steps missed, and how many contacts."""

ON = -1
"""The share goes on."""


@loop
def start_run(i: i64, task: iptr, first: ptr, choices: iptr, w: ptr, n: iptr, starts: ptr) -> None:
    """Arrays as they are before any run, with the i-th start in its places."""
    dense = n[S_DENSE]
    for k in range(task[FLOATS_OF_RUN]):
        w[k] = first[k]
    for k in range(task[INTS_OF_RUN]):
        n[k] = choices[k]
    n[S_DENSE] = dense
    nq = n[NQ]
    nv = n[NV]
    nu = n[NU]
    row = at(starts, i * (nq + nv + nu + task[NUMBER_OF_P]))
    for k in range(nq):
        w[n[O_Q] + k] = row[k]
        w[n[O_GOOD] + k] = row[k]
    for k in range(nv):
        w[n[O_V] + k] = row[nq + k]
        w[n[O_GOOD] + nq + k] = row[nq + k]
    for k in range(nu):
        w[n[O_U] + k] = row[nq + nv + k]
    for k in range(task[NUMBER_OF_P]):
        w[n[O_P] + k] = row[nq + nv + nu + k]
    task[IS_UNDER_WAY] = 1


@loop
def end_run(i: i64, status: i64, task: iptr, w: ptr, n: iptr, ends: iptr, last: ptr) -> None:
    """Notes how the i-th run ended, and its last good state."""
    row = at(ends, 7 * i)
    row[0] = status
    row[1] = n[RECORDED]
    row[2] = n[STEPS]
    row[3] = n[REJECTED]
    row[4] = n[EVALUATIONS]
    row[5] = n[PROJECTIONS]
    row[6] = n[FALLBACKS]
    size = n[NQ] + n[NV]
    good = at(last, i * (1 + size + MEASURED))
    good[0] = w[T_GOOD]
    for k in range(size):
        good[1 + k] = w[n[O_GOOD] + k]
    if n[IS_MOREAU] > 0:
        good[1 + size] = w[PENETRATION]
        good[2 + size] = w[COMPLEMENTARITY]
        good[3 + size] = float(n[CONTACTS])
    task[NEXT] = i + 1
    task[IS_UNDER_WAY] = 0


@loop
def supply(status: i64, e: iptr, n: iptr) -> i64:
    """1 if the entry a run asks for is there, which is then made known to it."""
    entry = E_TERMS
    flag = HAS_TERMS
    if status == NEEDS_CORRECT_Q:
        entry = E_CORRECT_Q
        flag = HAS_CORRECT_Q
    elif status == NEEDS_CORRECT_V:
        entry = E_CORRECT_V
        flag = HAS_CORRECT_V
    elif status != NEEDS_TERMS:
        return 0
    if e[entry] == 0:
        return 0
    n[flag] = 1
    return 1


@loop
def leave_events(task: iptr, n: iptr) -> i64:
    """1 if the events of a run that ended stay in the buffer, and there is room for another run."""
    if task[ROOM] - task[TAKEN] - n[HAPPENED] < task[LEAST]:
        return 0
    task[TASK + 2 * task[TOLD]] = task[NEXT] - 1
    task[TASK + 2 * task[TOLD] + 1] = n[HAPPENED]
    task[TOLD] += 1
    task[TAKEN] += n[HAPPENED]
    n[HAPPENED] = 0
    return 1


@loop
def settle(
    status: i64, before: i64, heard: i64, e: iptr, task: iptr, w: ptr, n: iptr, ends: iptr,
    last: ptr,
) -> i64:  # fmt: skip
    """Ends a run that is done; ON, or what to return with: what is heard ends in Python.

    A run that failed is left under way: Python may know how it goes on.
    """
    if status == GOOD:
        task[BUDGET] = 0
        return GOOD
    task[BUDGET] = max(1, task[BUDGET] - 1 - (n[STEPS] + n[REJECTED] - before))
    if status != DONE and status != STOPPED:
        return ON if supply(status, e, n) == 1 else status
    end_run(task[NEXT], status, task, w, n, ends, last)
    if status == STOPPED or heard > 0:
        return status
    if n[HAPPENED] > 0 and leave_events(task, n) == 0:
        return status
    return ON if task[BUDGET] > 1 else GOOD


@loop
def advance_each(
    e: iptr, task: iptr, first: ptr, choices: iptr, w: ptr, n: iptr, scratch: ptr, starts: ptr,
    records: ptr, happened: ptr, ends: iptr, last: ptr,
) -> i64:  # fmt: skip
    """Goes on with a share of the runs; GOOD if it is done or the allotted steps are used up."""
    status = ON
    while task[NEXT] < task[LAST] and status == ON:
        if task[IS_UNDER_WAY] == 0:
            start_run(task[NEXT], task, first, choices, w, n, starts)
        before = n[STEPS] + n[REJECTED]
        own = at(records, task[NEXT] * task[RECORDS_OF_RUN])
        events = at(happened, task[TAKEN] * (2 + n[NQ] + n[NV]))
        status = advance(e, w, n, scratch, own, events, task[BUDGET])
        status = settle(status, before, task[IS_HEARD], e, task, w, n, ends, last)
    return max(status, GOOD)


@loop
def step_each(
    e: iptr, task: iptr, first: ptr, choices: iptr, w: ptr, n: iptr, scratch: ptr, starts: ptr,
    records: ptr, happened: ptr, ends: iptr, last: ptr,
) -> i64:  # fmt: skip
    """As `advance_each`, with Moreau's steps."""
    status = ON
    while task[NEXT] < task[LAST] and status == ON:
        if task[IS_UNDER_WAY] == 0:
            start_run(task[NEXT], task, first, choices, w, n, starts)
        before = n[STEPS] + n[REJECTED]
        own = at(records, task[NEXT] * task[RECORDS_OF_RUN])
        events = at(happened, task[TAKEN] * (2 + n[NQ] + n[NV]))
        status = moreau_march(e, w, n, scratch, own, events, task[BUDGET])
        status = settle(status, before, task[IS_HEARD], e, task, w, n, ends, last)
    return max(status, GOOD)


@loop
def march_each(
    c: iptr, s: ptr, tables: iptr, numbers: ptr,
    e: iptr, task: iptr, first: ptr, choices: iptr, w: ptr, n: iptr, scratch: ptr, starts: ptr,
    records: ptr, happened: ptr, ends: iptr, last: ptr,
) -> i64:  # fmt: skip
    """As `advance_each`, from event to event of what holds on one side only.

    tables, numbers: c and s as they are before any run.
    """
    status = ON
    while task[NEXT] < task[LAST] and status == ON:
        i = task[NEXT]
        if task[IS_UNDER_WAY] == 0:
            start_run(i, task, first, choices, w, n, starts)
            for k in range(task[INTS_OF_SIDES]):
                c[k] = tables[k]
            for k in range(task[FLOATS_OF_SIDES]):
                s[k] = numbers[k]
        before = n[STEPS] + n[REJECTED]
        own = at(records, i * task[RECORDS_OF_RUN])
        events = at(happened, task[TAKEN] * (2 + n[NQ] + n[NV]))
        status = march(c, s, e, w, n, scratch, own, events, task[BUDGET])
        heard = 1 if s[INSIDE] > TOUCH else task[IS_HEARD]
        status = settle(status, before, heard, e, task, w, n, ends, last)
    return max(status, GOOD)


@cache
def compiled_batch(each: Any) -> Any:
    """One of the loops above as machine code, once a process."""
    return compile_loops([each]).function(each)
