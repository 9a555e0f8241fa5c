"""Into how many parts a step is cut where events are looked for: as many as open gaps ask for.

A body that turns freely is integrated in steps of many turns. Its gaps rise and fall within them,
so that values at a few instants say nothing of what is between. Of every part a gap is known with
its rate at both ends; the cubic that these make is held against the gap at one instant between.
Where it is wrong the parts are halved.

Public names: FLAT, values, parts_needed.

Source: HNW1 §II.6 (cubic Hermite interpolation).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh, state_at
from liaison.simulation.steps.layout import PARTS, SWITCHING, Entries, Run

FLAT = 1.0
"""The slope that stands for none: of a value that is no open gap."""

GOLDEN = 0.3819660112501051
"""Where a part is looked into: no oscillation that fits its ends fits there as well."""

TRUE, ROUNDING = 0.02, 1e-12
"""Part of a gap, and gap [m], by which a cubic may be wrong."""

MOST = 256
"""Parts at most; a surface with an edge would ask for any number."""


@loop
def values(e: Entries, theta: f64, out: ptr, run: Run, scratch: ptr) -> None:
    """The value of every event at the fraction θ of the step."""
    q = run.trial.q
    v = run.trial.v
    state_at(e, theta, q, v, run, scratch)
    t = run.t + theta * run.h
    refresh(e, t, q, v, run, scratch)
    e.events(t, q, v, run.u, run.p, q, out, scratch)


@loop
def is_told(left: f64, right: f64, rise: f64, fall: f64, between: f64, is_whole: i64) -> i64:
    """1 if the ends of a part tell whether a gap closes in it.

    Args:
        left: the gap at the beginning.
        right: the gap at the end.
        rise: its rate at the beginning, times the part.
        fall: its rate at the end, times the part.
        between: the gap at GOLDEN.
        is_whole: 1 if the part will be cut further in any case; then only gaps that stay far from
            closing are told.
    """
    x = GOLDEN
    y = 1.0 - x
    second = left + rise / 3.0
    third = right - fall / 3.0
    cubic = y * y * (y * left + 3.0 * x * second) + x * x * (3.0 * y * third + x * right)
    miss = abs(between - cubic)
    if not (miss < 1e300):
        return 1  # no numbers: told elsewhere
    lowest = min(min(left, right), min(second, third))
    size = max(max(abs(left), abs(right)), abs(between))
    if lowest > 2.0 * miss:
        return 1
    if is_whole == 1 or miss > TRUE * size + ROUNDING:
        return 0
    hides = 1 if left > 0.0 and right > 0.0 and lowest < -ROUNDING else 0
    return 0 if hides == 1 and (rise >= 0.0 or fall <= 0.0) else 1


@loop
def are_told(e: Entries, parts: i64, run: Run, scratch: ptr) -> i64:
    """1 if so many parts tell of every open gap whether it closes; overwrites `run.before_new`."""
    before = run.before_new
    after = run.after
    probe = run.probe
    length = run.h / float(parts)
    for i in range(run.ne):
        before[i] = run.before[i]
    for part in range(parts):
        values(e, (float(part) + GOLDEN) / float(parts), probe, run, scratch)
        values(e, float(part + 1) / float(parts), after, run, scratch)
        for i in range(run.ne - run.dips):
            slope = i + run.dips
            if run.stops[i] == SWITCHING and before[slope] != FLAT and after[slope] != FLAT:
                rise = before[slope] * length
                fall = after[slope] * length
                whole = 1 if parts < PARTS else 0
                if is_told(before[i], after[i], rise, fall, probe[i], whole) == 0:
                    return 0
        for i in range(run.ne):
            before[i] = after[i]
    return 1


@loop
def has_gaps(run: Run) -> i64:
    """1 if a gap is open."""
    if run.dips > 0:
        for i in range(run.ne - run.dips):
            if run.stops[i] == SWITCHING and run.before[i + run.dips] != FLAT:
                return 1
    return 0


@loop
def parts_needed(e: Entries, run: Run, scratch: ptr) -> i64:
    """Parts in which events of the step just taken are looked for, PARTS or more."""
    own = run.ne - 2 * run.dips
    most = min(MOST, (run.event_capacity - run.ne) // max(own, 1))
    if has_gaps(run) == 0 or are_told(e, 1, run, scratch) == 1:
        return PARTS
    parts = PARTS
    while 2 * parts <= most and are_told(e, parts, run, scratch) == 0:
        parts = 2 * parts
    return parts
