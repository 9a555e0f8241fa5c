"""Events: sign changes of formulas, found on the dense output of the step just taken.

Each event keeps the sign it last had. It fires when its value reaches zero or the other sign, in
the direction asked for; starting at zero, or leaving zero again, is no event. The instant is
located by bracketing to the rounding of time. Several events of one step come in order of
time; those at the instant of a stopping one are still recorded. A value that is not a number is
refused, unless the run stops before it.

Public names: look_for_events, locate, first_signs.

Source: CHA97, bracketing with inverse quadratic interpolation.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.explicit import interpolate, refresh, state_at
from liaison.simulation.steps.layout import (
    CHATTER,
    DETAIL,
    DIPS,
    E_EVENTS,
    EVENT_CAPACITY,
    EVENT_NOT_FINITE,
    FULL,
    GOOD,
    HAPPENED,
    IS_STOPPING,
    M_DIRECTION,
    M_FIRED,
    M_STOPS,
    M_STREAK,
    NE,
    NQ,
    NV,
    O_AFTER,
    O_BEFORE,
    O_BEFORE_NEW,
    O_P,
    O_PROBE,
    O_Q,
    O_SIGN,
    O_SIGN_NEW,
    O_STREAK,
    O_THETA,
    O_TQ,
    O_TV,
    O_U,
    O_V,
    O_Y,
    SLOPE,
    STOPPING,
    SWITCHING,
    T_END,
    T_NEW,
    T_START,
    H,
    T,
)
from liaison.simulation.steps.projection import project

from .event_parts import parts_needed, values

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
def first_signs(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Signs and values of the events at the start of the run; GOOD, or which has no value."""
    events = entry_at(e, E_EVENTS)
    q = at(w, n[O_Q])
    v = at(w, n[O_V])
    refresh(e, w[T], q, v, w, n, scratch)
    events(w[T], q, v, at(w, n[O_U]), at(w, n[O_P]), q, at(w, n[O_BEFORE]), scratch)
    for i in range(n[NE]):
        w[n[O_SIGN] + i] = sign_of(w[n[O_BEFORE] + i])
    return all_numbers(at(w, n[O_BEFORE]), n)


@loop
def all_numbers(values: ptr, n: iptr) -> i64:
    """GOOD, or EVENT_NOT_FINITE with the first event without a value in DETAIL."""
    for i in range(n[NE]):
        # NaN alone differs from itself
        if values[i] != values[i]:
            n[DETAIL] = i
            return EVENT_NOT_FINITE
    return GOOD


@loop
def sign_of(x: f64) -> f64:
    """-1, 0 or 1."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@loop
def locate(
    e: iptr,
    event: i64,
    left: f64,
    right: f64,
    f_left: f64,
    f_right: f64,
    w: ptr,
    n: iptr,
    scratch: ptr,
) -> f64:
    """θ between `left` and `right` where the event's value changes sign; NaN if it has none."""
    out = at(w, n[O_PROBE])
    if f_left > 0.0 and f_left <= BARELY:
        x = risen(e, event, left, right, w, n, scratch)
        if x == left:
            return left
        # it has fallen again within twice that part of the step
        right = min(right, left + 2.0 * (x - left))
        values(e, right, out, w, n, scratch)
        f_right = out[event]
        values(e, x, out, w, n, scratch)
        left = x
        f_left = out[event]
    if f_right == 0.0:
        return first_zero(e, event, left, right, w, n, scratch)
    return narrow(e, event, left, right, f_left, f_right, w, n, scratch)


@loop
def narrow(
    e: iptr,
    event: i64,
    left: f64,
    right: f64,
    f_left: f64,
    f_right: f64,
    w: ptr,
    n: iptr,
    scratch: ptr,
) -> f64:
    """As `locate`, between values of different signs: the bracket is narrowed to rounding."""
    out = at(w, n[O_PROBE])
    a = right
    b = left
    c = left
    fa = f_right
    fb = f_left
    fc = f_left
    part = 0.5
    tolerance = 2.0 * EPSILON * (1.0 + abs(w[T]) / w[H])
    for _ in range(100):
        x = a + part * (b - a)
        values(e, x, out, w, n, scratch)
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
            return first_zero(e, event, left, a, w, n, scratch)
        if limit > 0.5:
            break
        part = guess(a, b, c, fa, fb, fc)
        part = min(1.0 - limit, max(limit, part))
    return a if abs(fa) < abs(fb) else b


@loop
def risen(e: iptr, event: i64, left: f64, right: f64, w: ptr, n: iptr, scratch: ptr) -> f64:
    """θ at which a value that begins at zero has become positive; `left` if it never does."""
    out = at(w, n[O_PROBE])
    x = right
    for _ in range(HALVINGS):
        x = left + 0.5 * (x - left)
        values(e, x, out, w, n, scratch)
        if out[event] > 0.0:
            return x
    return left


@loop
def first_zero(e: iptr, event: i64, left: f64, right: f64, w: ptr, n: iptr, scratch: ptr) -> f64:
    """The first θ at which the event's value is zero, as it is at `right` but not at `left`."""
    out = at(w, n[O_PROBE])
    for _ in range(52):
        middle = 0.5 * (left + right)
        values(e, middle, out, w, n, scratch)
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
def dip(e: iptr, event: i64, left: f64, right: f64, w: ptr, n: iptr, scratch: ptr) -> f64:
    """θ where a value that is positive at both ends falls below zero between them; NONE if not."""
    slope = event + n[DIPS]
    before = at(w, n[O_BEFORE_NEW])
    after = at(w, n[O_AFTER])
    if n[DIPS] == 0 or before[slope] >= 0.0 or after[slope] <= 0.0:
        return NONE
    lowest = locate(e, slope, left, right, before[slope], after[slope], w, n, scratch)
    probe = at(w, n[O_PROBE])
    values(e, lowest, probe, w, n, scratch)
    if not (probe[event] < 0.0):
        return NONE
    return float(locate(e, event, left, lowest, before[event], probe[event], w, n, scratch))


@loop
def crossings(e: iptr, part: i64, parts: i64, w: ptr, n: iptr, scratch: ptr) -> i64:
    """θ of every event that fires in one part of the step, NONE elsewhere; GOOD, or why not."""
    left = float(part) / float(parts)
    right = float(part + 1) / float(parts)
    after = at(w, n[O_AFTER])
    before = at(w, n[O_BEFORE_NEW])
    theta = at(w, n[O_THETA])
    sign = at(w, n[O_SIGN_NEW])
    values(e, right, after, w, n, scratch)
    status = all_numbers(after, n)
    for i in range(n[NE]):
        theta[i] = NONE
        direction = float(n[n[M_DIRECTION] + i])
        if n[n[M_STOPS] + i] == SWITCHING and before[i] > 0.0 and after[i] > 0.0:
            theta[i] = dip(e, i, left, right, w, n, scratch)
        elif n[n[M_STOPS] + i] == SLOPE:
            theta[i] = NONE
        elif sign[i] * after[i] <= 0.0 and sign[i] != 0.0 and direction * sign[i] <= 0.0:
            theta[i] = locate(e, i, left, right, before[i], after[i], w, n, scratch)
            if w[T] == w[T_START] and theta[i] < STILL_THE_START:
                theta[i] = NONE
            if theta[i] != theta[i]:
                theta[i] = NONE
                n[DETAIL] = i
                status = EVENT_NOT_FINITE
        sign[i] = sign_of(after[i])
        before[i] = after[i]
    return status


@loop
def earliest(w: ptr, n: iptr) -> i64:
    """The event of least θ; -1 if none fires."""
    found = -1
    least = NONE
    for i in range(n[NE]):
        if w[n[O_THETA] + i] < least:
            least = w[n[O_THETA] + i]
            found = i
    return found


@loop
def look_for_events(e: iptr, w: ptr, n: iptr, scratch: ptr, happened: ptr) -> i64:
    """Events of the step just taken, recorded; a stopping one shortens the step to its instant.

    Nothing is changed unless all is done, so a call that needs an entry can be repeated.
    """
    parts = parts_needed(e, w, n, scratch)
    # what switches stops, and slopes never fire
    if n[EVENT_CAPACITY] - n[HAPPENED] < parts * (n[NE] - 2 * n[DIPS]) + 2 * n[DIPS]:
        return FULL
    q = at(w, n[O_TQ])
    v = at(w, n[O_TV])
    for i in range(n[NE]):
        w[n[O_SIGN_NEW] + i] = w[n[O_SIGN] + i]
        w[n[O_BEFORE_NEW] + i] = w[n[O_BEFORE] + i]
        n[n[M_FIRED] + i] = 0
    count = n[HAPPENED]
    stop = NONE
    for part in range(parts):
        if stop == NONE:
            verdict = crossings(e, part, parts, w, n, scratch)
            i = earliest(w, n)
            while i >= 0 and w[n[O_THETA] + i] <= stop + SAME_INSTANT:
                theta = w[n[O_THETA] + i]
                t = w[T] + theta * w[H]
                state_at(e, theta, q, v, w, n, scratch)
                refresh(e, t, q, v, w, n, scratch)
                status = project(e, t, q, v, w, n, scratch)
                if status != GOOD:
                    return status
                note(i, t, q, v, count, n, happened)
                count += 1
                n[n[M_FIRED] + i] = 1
                if n[n[M_STOPS] + i] > 0:
                    stop = min(stop, theta)
                w[n[O_THETA] + i] = NONE
                i = earliest(w, n)
            if verdict != GOOD and stop == NONE:
                return verdict
    if stop < NONE:
        forget_later(e, stop, w, n, scratch)
    return settle(stop, count, w, n)


@loop
def forget_later(e: iptr, stop: f64, w: ptr, n: iptr, scratch: ptr) -> None:
    """What has not fired by the instant of a stop has the sign it has there, to go on from."""
    here = at(w, n[O_PROBE])
    values(e, stop, here, w, n, scratch)
    for i in range(n[NE]):
        if n[n[M_FIRED] + i] == 0:
            w[n[O_SIGN_NEW] + i] = sign_of(here[i])
            w[n[O_BEFORE_NEW] + i] = here[i]


@loop
def note(event: i64, t: f64, q: ptr, v: ptr, count: i64, n: iptr, happened: ptr) -> None:
    """One row of the table of what happened: event, t, q, v."""
    row = at(happened, count * (2 + n[NQ] + n[NV]))
    row[0] = float(event)
    row[1] = t
    for i in range(n[NQ]):
        row[2 + i] = q[i]
    for i in range(n[NV]):
        row[2 + n[NQ] + i] = v[i]


@loop
def settle(stop: f64, count: i64, w: ptr, n: iptr) -> i64:
    """Keeps the new signs, shortens the step where it stops, and watches for chatter."""
    n[HAPPENED] = count
    if stop < NONE:
        interpolate(stop, at(w, n[O_Y]), w, n)
        w[T_NEW] = w[T] + stop * w[H]
        n[IS_STOPPING] = SWITCHING
        for i in range(n[NE]):
            if n[n[M_FIRED] + i] > 0 and n[n[M_STOPS] + i] == STOPPING:
                n[IS_STOPPING] = STOPPING
    status = GOOD
    for i in range(n[NE]):
        w[n[O_SIGN] + i] = w[n[O_SIGN_NEW] + i]
        w[n[O_BEFORE] + i] = w[n[O_BEFORE_NEW] + i]
        streak = n[n[M_STREAK] + i]
        if n[n[M_FIRED] + i] == 0:
            streak = 0
        else:
            if streak == 0:
                w[n[O_STREAK] + i] = w[T]
            streak += 1
        n[n[M_STREAK] + i] = streak
        if streak >= STREAK and w[T_NEW] - w[n[O_STREAK] + i] < SHARE * (w[T_END] - w[T_START]):
            n[DETAIL] = i
            status = CHATTER
    return status
