"""Into how many parts a step is cut where events are looked for: as many as open gaps ask for.

A body that turns freely is integrated in steps of many turns. Its gaps rise and fall within them,
so that values at a few instants say nothing of what is between. Of every part a gap is known with
its rate at both ends; the cubic that these make is held against the gap at one instant between.
Where it is wrong the parts are halved.

Public names: FLAT, values, parts_needed.

Source: HNW1 §II.6 (cubic Hermite interpolation).
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.explicit import refresh, state_at
from liaison.simulation.steps.layout import (
    DIPS,
    E_EVENTS,
    EVENT_CAPACITY,
    M_STOPS,
    NE,
    O_AFTER,
    O_BEFORE,
    O_BEFORE_NEW,
    O_P,
    O_PROBE,
    O_TQ,
    O_TV,
    O_U,
    PARTS,
    SWITCHING,
    H,
    T,
)

FLAT = 1.0
"""The slope that stands for none: of a value that is no open gap."""

GOLDEN = 0.3819660112501051
"""Where a part is looked into: no oscillation that fits its ends fits there as well."""

TRUE, ROUNDING = 0.02, 1e-12
"""Part of a gap, and gap [m], by which a cubic may be wrong."""

MOST = 256
"""Parts at most; a surface with an edge would ask for any number."""


@loop
def values(e: iptr, theta: f64, out: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """The value of every event at the fraction θ of the step."""
    events = entry_at(e, E_EVENTS)
    q = at(w, n[O_TQ])
    v = at(w, n[O_TV])
    state_at(e, theta, q, v, w, n, scratch)
    t = w[T] + theta * w[H]
    refresh(e, t, q, v, w, n, scratch)
    events(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, out, scratch)


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
def are_told(e: iptr, parts: i64, w: ptr, n: iptr, scratch: ptr) -> i64:
    """1 if so many parts tell of every open gap whether it closes; overwrites BEFORE_NEW."""
    before = at(w, n[O_BEFORE_NEW])
    after = at(w, n[O_AFTER])
    probe = at(w, n[O_PROBE])
    length = w[H] / float(parts)
    for i in range(n[NE]):
        before[i] = w[n[O_BEFORE] + i]
    for part in range(parts):
        values(e, (float(part) + GOLDEN) / float(parts), probe, w, n, scratch)
        values(e, float(part + 1) / float(parts), after, w, n, scratch)
        for i in range(n[NE] - n[DIPS]):
            slope = i + n[DIPS]
            if n[n[M_STOPS] + i] == SWITCHING and before[slope] != FLAT and after[slope] != FLAT:
                rise = before[slope] * length
                fall = after[slope] * length
                whole = 1 if parts < PARTS else 0
                if is_told(before[i], after[i], rise, fall, probe[i], whole) == 0:
                    return 0
        for i in range(n[NE]):
            before[i] = after[i]
    return 1


@loop
def has_gaps(w: ptr, n: iptr) -> i64:
    """1 if a gap is open."""
    if n[DIPS] > 0:
        for i in range(n[NE] - n[DIPS]):
            if n[n[M_STOPS] + i] == SWITCHING and w[n[O_BEFORE] + i + n[DIPS]] != FLAT:
                return 1
    return 0


@loop
def parts_needed(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Parts in which events of the step just taken are looked for, PARTS or more."""
    own = n[NE] - 2 * n[DIPS]
    most = min(MOST, (n[EVENT_CAPACITY] - n[NE]) // max(own, 1))
    if has_gaps(w, n) == 0 or are_told(e, 1, w, n, scratch) == 1:
        return PARTS
    parts = PARTS
    while 2 * parts <= most and are_told(e, parts, w, n, scratch) == 0:
        parts = 2 * parts
    return parts
