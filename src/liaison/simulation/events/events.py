"""Events: sign changes of formulas, found on the dense output of the step just taken.

Each event keeps the sign it last had. It fires when its value reaches zero or the other sign, in
the direction asked for; starting at zero, or leaving zero again, is no event. The instant is
located by bracketing to the rounding of time. Several events of one step come in order of
time; those at the instant of a stopping one are still recorded. A value that is not a number is
refused, unless the run stops before it.

Into how many parts a step is cut where events are looked for: as many as open gaps ask for.

A body that turns freely is integrated in steps of many turns. Its gaps rise and fall within them,
so that values at a few instants say nothing of what is between. Of every part a gap is known with
its rate at both ends; the cubic that these make is held against the gap at one instant between.
Where it is wrong the parts are halved.

Public names: look_for_events, locate, first_signs. Source: CHA97, bracketing with inverse quadratic
interpolation, FLAT, values, parts_needed. Source: HNW1 §II.6 (cubic Hermite interpolation).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import interpolate, refresh, state_at
from liaison.simulation.steps.layout import (
    CHATTER,
    EVENT_NOT_FINITE,
    FULL,
    GOOD,
    PARTS,
    SLOPE,
    STOPPING,
    SWITCHING,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project

from .log import BEFORE, CROSSES, note

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


SAME_INSTANT = 1e-12
"""Events closer than this part of a step are simultaneous."""

STILL_THE_START = 1e-9
"""A crossing in this first part of the first step is the start, which was no event."""

STREAK, SHARE = 100, 1e-6
"""An event chatters when it fires in this many steps in a row within this share of the run."""

BARELY, HALVINGS = 1e-290, 40
"""A value up to this stands for one that begins at zero; halvings of a step to see it rise."""

NONE = 2.0  # fraction of a step that stands for "no crossing"
EPSILON = 2.220446049250313e-16


@loop
def first_signs(e: Entries, run: Run, scratch: ptr) -> i64:
    """Signs and values of the events at the start of the run; GOOD, or which has no value."""
    q = run.q
    v = run.v
    refresh(e, run.t, q, v, run, scratch)
    e.events(run.t, q, v, run.u, run.p, q, run.before, scratch)
    for i in range(run.ne):
        run.sign[i] = sign_of(run.before[i])
    return all_numbers(run.before, run)


@loop
def all_numbers(values: ptr, run: Run) -> i64:
    """GOOD, or EVENT_NOT_FINITE with the first event without a value in `run.detail`."""
    for i in range(run.ne):
        # NaN alone differs from itself
        if values[i] != values[i]:
            run.detail[0] = i
            return EVENT_NOT_FINITE
    return GOOD


@loop
def sign_of(x: f64) -> f64:
    """-1, 0 or 1."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@loop
def locate(
    e: Entries,
    event: i64,
    left: f64,
    right: f64,
    f_left: f64,
    f_right: f64,
    run: Run,
    scratch: ptr,
) -> f64:
    """θ between `left` and `right` where the event's value changes sign; NaN if it has none."""
    out = run.probe
    if f_left > 0.0 and f_left <= BARELY:
        x = risen(e, event, left, right, run, scratch)
        if x == left:
            return left
        # it has fallen again within twice that part of the step
        right = min(right, left + 2.0 * (x - left))
        values(e, right, out, run, scratch)
        f_right = out[event]
        values(e, x, out, run, scratch)
        left = x
        f_left = out[event]
    if f_right == 0.0:
        return first_zero(e, event, left, right, run, scratch)
    return narrow(e, event, left, right, f_left, f_right, run, scratch)


@loop
def narrow(
    e: Entries,
    event: i64,
    left: f64,
    right: f64,
    f_left: f64,
    f_right: f64,
    run: Run,
    scratch: ptr,
) -> f64:
    """As `locate`, between values of different signs: the bracket is narrowed to rounding."""
    out = run.probe
    a = right
    b = left
    c = left
    fa = f_right
    fb = f_left
    fc = f_left
    part = 0.5
    tolerance = 2.0 * EPSILON * (1.0 + abs(run.t) / run.h)
    for _ in range(100):
        x = a + part * (b - a)
        values(e, x, out, run, scratch)
        fx = out[event]
        if fx != fx:
            return float(fx)
        if (fx > 0.0 and fa > 0.0) or (fx < 0.0 and fa < 0.0):
            c = a
            fc = fa
        else:
            c = b
            fc = fb
            b = a
            fb = fa
        a = x
        fa = fx
        limit = tolerance / max(abs(b - a), EPSILON * tolerance)
        if fa == 0.0:
            return first_zero(e, event, left, a, run, scratch)
        if limit > 0.5:
            break
        part = guess(a, b, c, fa, fb, fc)
        part = min(1.0 - limit, max(limit, part))
    return a if abs(fa) < abs(fb) else b


@loop
def risen(e: Entries, event: i64, left: f64, right: f64, run: Run, scratch: ptr) -> f64:
    """θ at which a value that begins at zero has become positive; `left` if it never does."""
    out = run.probe
    x = right
    for _ in range(HALVINGS):
        x = left + 0.5 * (x - left)
        values(e, x, out, run, scratch)
        if out[event] > 0.0:
            return x
    return left


@loop
def first_zero(e: Entries, event: i64, left: f64, right: f64, run: Run, scratch: ptr) -> f64:
    """The first θ at which the event's value is zero, as it is at `right` but not at `left`."""
    out = run.probe
    for _ in range(52):
        middle = 0.5 * (left + right)
        values(e, middle, out, run, scratch)
        if out[event] == 0.0:
            right = middle
        else:
            left = middle
    return right


@loop
def guess(a: f64, b: f64, c: f64, fa: f64, fb: f64, fc: f64) -> f64:
    """Where between a and b to look next: by inverse interpolation if it is safe, else halfway."""
    if fb == fc or fa == fc or b == c:
        return 0.5
    xi = (a - b) / (c - b)
    phi = (fa - fb) / (fc - fb)
    if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
        first = fa / (fb - fa) * fc / (fb - fc)
        return first + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5


@loop
def dip(e: Entries, event: i64, left: f64, right: f64, run: Run, scratch: ptr) -> f64:
    """θ where a value that is positive at both ends falls below zero between them; NONE if not."""
    slope = event + run.dips
    before = run.before_new
    after = run.after
    if run.dips == 0 or before[slope] >= 0.0 or after[slope] <= 0.0:
        return NONE
    lowest = locate(e, slope, left, right, before[slope], after[slope], run, scratch)
    probe = run.probe
    values(e, lowest, probe, run, scratch)
    if not (probe[event] < 0.0):
        return NONE
    return float(locate(e, event, left, lowest, before[event], probe[event], run, scratch))


@loop
def crossings(e: Entries, part: i64, parts: i64, run: Run, scratch: ptr) -> i64:
    """θ of every event that fires in one part of the step, NONE elsewhere; GOOD, or why not."""
    left = float(part) / float(parts)
    right = float(part + 1) / float(parts)
    after = run.after
    before = run.before_new
    theta = run.crossing
    sign = run.sign_new
    values(e, right, after, run, scratch)
    status = all_numbers(after, run)
    for i in range(run.ne):
        theta[i] = NONE
        direction = float(run.direction[i])
        if run.stops[i] == SWITCHING and before[i] > 0.0 and after[i] > 0.0:
            theta[i] = dip(e, i, left, right, run, scratch)
        elif run.stops[i] == SLOPE:
            theta[i] = NONE
        elif sign[i] * after[i] <= 0.0 and sign[i] != 0.0 and direction * sign[i] <= 0.0:
            theta[i] = locate(e, i, left, right, before[i], after[i], run, scratch)
            if run.t == run.t_start and theta[i] < STILL_THE_START:
                theta[i] = NONE
            if theta[i] != theta[i]:
                theta[i] = NONE
                run.detail[0] = i
                status = EVENT_NOT_FINITE
        sign[i] = sign_of(after[i])
        before[i] = after[i]
    return status


@loop
def earliest(run: Run) -> i64:
    """The event of least θ; -1 if none fires."""
    found = -1
    least = NONE
    for i in range(run.ne):
        if run.crossing[i] < least:
            least = run.crossing[i]
            found = i
    return found


@loop
def look_for_events(e: Entries, run: Run, scratch: ptr, happened: ptr) -> i64:
    """Events of the step just taken, recorded; a stopping one shortens the step to its instant.

    Nothing is changed unless all is done, so a call that needs an entry can be repeated.
    """
    parts = parts_needed(e, run, scratch)
    # what switches stops, and slopes never fire
    if run.event_capacity - run.happened < parts * (run.ne - 2 * run.dips) + 2 * run.dips:
        return FULL
    q = run.trial.q
    v = run.trial.v
    for i in range(run.ne):
        run.sign_new[i] = run.sign[i]
        run.before_new[i] = run.before[i]
        run.fired[i] = 0
    count = run.happened
    stop = NONE
    for part in range(parts):
        if stop == NONE:
            verdict = crossings(e, part, parts, run, scratch)
            i = earliest(run)
            while i >= 0 and run.crossing[i] <= stop + SAME_INSTANT:
                theta = run.crossing[i]
                t = run.t + theta * run.h
                state_at(e, theta, q, v, run, scratch)
                refresh(e, t, q, v, run, scratch)
                status = project(e, t, q, v, run, scratch)
                if status != GOOD:
                    return status
                what = BEFORE if run.stops[i] == SWITCHING else CROSSES
                note(what, i, -1, t, 0.0, run.log_q, q, run.log_v, v, count, happened)
                count += 1
                run.fired[i] = 1
                if run.stops[i] > 0:
                    stop = min(stop, theta)
                run.crossing[i] = NONE
                i = earliest(run)
            if verdict != GOOD and stop == NONE:
                return verdict
    if stop < NONE:
        forget_later(e, stop, run, scratch)
    return settle(stop, count, run)


@loop
def forget_later(e: Entries, stop: f64, run: Run, scratch: ptr) -> None:
    """What has not fired by the instant of a stop has the sign it has there, to go on from."""
    here = run.probe
    values(e, stop, here, run, scratch)
    for i in range(run.ne):
        if run.fired[i] == 0:
            run.sign_new[i] = sign_of(here[i])
            run.before_new[i] = here[i]


@loop
def settle(stop: f64, count: i64, run: Run) -> i64:
    """Keeps the new signs, shortens the step where it stops, and watches for chatter."""
    run.happened = count
    if stop < NONE:
        interpolate(stop, run.y, run)
        run.t_new = run.t + stop * run.h
        run.is_stopping = SWITCHING
        for i in range(run.ne):
            if run.fired[i] > 0 and run.stops[i] == STOPPING:
                run.is_stopping = STOPPING
    status = GOOD
    for i in range(run.ne):
        run.sign[i] = run.sign_new[i]
        run.before[i] = run.before_new[i]
        streak = run.streak[i]
        if run.fired[i] == 0:
            streak = 0
        else:
            if streak == 0:
                run.streak_start[i] = run.t
            streak += 1
        run.streak[i] = streak
        if streak >= STREAK and run.t_new - run.streak_start[i] < SHARE * (run.t_end - run.t_start):
            run.detail[0] = i
            status = CHATTER
    return status
