"""Event log of a run: rows of what and when, written by loops and read by Python.

A row is an `Event`, followed by the state there (q, v) where a run keeps it. Mechanisms log events
of formulas and events of unilateral blocks, scenes events of pairs of bodies.

Public names: Event; CROSSES, BEFORE, KICKS and events of contacts, WHATS; note, copy_row,
rows_of_a_switch, entries_of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from liaison.numeric import Array
from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Record

CROSSES, BEFORE, KICKS = -1, -2, -3
"""A formula changes sign; the state before something happens to blocks at the same instant; the
rate of a closure jumps, which is an impulse."""

WHATS = (
    "impact", "closes", "opens", "sticks", "slips", "rests", "energy gain", "enters", "leaves",
    "held", "several solutions", "cut short",
)  # fmt: skip
IMPACTS, CLOSES, OPENS, STICKS, SLIPS, RESTS, GAINS, ENTERS, LEAVES, HOLDS, SEVERAL = range(11)
CUT_SHORT = 11
"""Events of a block or of a pair; WHATS are their words. CUT_SHORT: a sequence of impacts that did
not end, and whose rest was taken as one inelastic impact."""


@final
class Event(Record):
    """An event: of what, when."""

    what: i64
    first: i64  # an event, a block, or a body; −1 − k: the k-th plane
    second: i64  # the other body of a pair; of an impact of a block, how many were hit together
    t: f64
    speed: f64  # of approach, in an impact of a pair


@loop
def rows_of_a_switch(blocks: i64) -> i64:
    """Rows that one change of mode writes at most: two impacts and a mode of each block, a jump."""
    return 5 * blocks + 8


@loop
def note(
    what: i64, first: i64, second: i64, t: f64, speed: f64, nq: i64, q: ptr, nv: i64, v: ptr,
    count: i64, event_log: ptr,
) -> None:  # fmt: skip
    """Writes the row after `count` others; without a state nq and nv are 0."""
    row = at(event_log, count * (Event.header + nq + nv))
    event = Event(row)
    event.what = what
    event.first = first
    event.second = second
    event.t = t
    event.speed = speed
    for i in range(nq):
        row[Event.header + i] = q[i]
    for i in range(nv):
        row[Event.header + nq + i] = v[i]


@loop
def copy_row(one: i64, other: i64, state: i64, event_log: ptr) -> None:
    """Row `one` in the place of row `other`; `state` numbers follow each event."""
    source = at(event_log, one * (Event.header + state))
    target = at(event_log, other * (Event.header + state))
    read = Event(source)
    written = Event(target)
    for i in range(Event.header):
        written.ints[i] = read.ints[i]
    for i in range(state):
        target[Event.header + i] = source[Event.header + i]


class Entry(NamedTuple):
    """A row as Python reads it."""

    what: int
    first: int
    second: int
    t: float
    speed: float
    q: Array
    v: Array


WHAT, FIRST, SECOND, TIME, SPEED = Event.slots("what", "first", "second", "t", "speed")


def entries_of(event_rows: Array, nq: int = 0) -> Iterator[Entry]:
    """Rows by time, those of one instant as they came.

    Args:
        event_rows: one row each.
        nq: how many numbers of a state are positions.
    """
    if not len(event_rows):
        return
    numbers = event_rows[:, : Event.header].tolist()
    times = [row[TIME] for row in numbers]
    order = sorted(range(len(times)), key=times.__getitem__)
    words = event_rows.view(np.int64)[:, : Event.header].tolist()
    for k in order:
        word, state = words[k], event_rows[k, Event.header :]
        which = word[WHAT], word[FIRST], word[SECOND]
        yield Entry(*which, times[k], numbers[k][SPEED], state[:nq], state[nq:])
