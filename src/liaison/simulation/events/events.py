"""Events: sign changes of formulas, found on the dense output of the step just taken.

Each event keeps the sign it last had. It fires when its value reaches zero or the other sign, in
the direction asked for; starting at zero, or leaving zero again, is none. The instant is located by
bracketing to the rounding of time. Several events of one step come in order of time; those at the
instant of a stopping one are recorded. What is not a number is rejected unless the run stops first.

A step is seen window by window, from its beginning on (`windows.py`). A body that turns freely is
integrated in steps of many turns: where windows become too many, an adaptive step is taken again
up to where it was seen. What is still in doubt in the smallest window is counted.

Public names: look_for_events, locate, first_signs.

Source: CHA97, bracketing with inverse quadratic interpolation; HNW1 §II.6 (dense output).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import interpolate, refresh, state_at
from liaison.simulation.steps.layout import (
    CHATTER,
    EVENT_NOT_FINITE,
    FULL,
    GOOD,
    LAND,
    SAMPLING,
    STOPPING,
    SWITCHING,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project

from .log import BEFORE, CROSSES, note
from .windows import NODES, is_settled, look, sign_of, turn_of, values

SAME_INSTANT = 1e-12
"""Events closer than this part of a step are simultaneous."""

STILL_THE_START = 1e-9
"""A crossing in this first part of the first step is the start, which was no event."""

STREAK, SHARE = 100, 1e-6
"""An event chatters when it fires in this many steps in a row within this share of the run."""

BARELY, HALVINGS = 1e-290, 40
"""A value up to this stands for one that begins at zero; halvings of a step to see it rise."""

FINEST, BUDGET = 1.0 / 4096.0, 64
"""The smallest window, as a part of the step; windows after which a step is taken again shorter."""

GROWTH = 4.0
"""Windows grow by this factor at most: values of a fast turn may agree once in many turns."""

LARGEST_PART = 0.98
"""Of a step that is taken again shorter."""

SHORTEST = 1e-11
"""Part of the run below which a step is not shortened further for what it does not see."""

AGAIN = -1
"""A step is to be taken again, shorter."""

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
def locate(
    e: Entries, event: i64, left: f64, right: f64, f_left: f64, f_right: f64, run: Run, scratch:
    ptr,
) -> f64:  # fmt: skip
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
    e: Entries, event: i64, left: f64, right: f64, f_left: f64, f_right: f64, run: Run, scratch:
    ptr,
) -> f64:  # fmt: skip
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
def both_roots(
    e: Entries, event: i64, part: i64, left: f64, length: f64, run: Run, scratch: ptr
) -> None:
    """θ of the two zeros of a value that has one sign at two nodes, where it turns between them.

    Args:
        e: entries.
        event: its number.
        part: between which nodes of the window.
        left: θ at which the window begins.
        length: of a part, in θ.
        run: its `crossing` and `second` are filled.
        scratch: of the entries.
    """
    place = turn_of(event, part, run)
    if place < 0.0:
        return
    a = left + float(part) * length
    b = left + float(part + 1) * length
    f_left = run.looks[part, event]
    f_right = run.looks[part + 1, event]
    turn = left + place * length
    values(e, turn, run.probe, run, scratch)
    f_turn = run.probe[event]
    if f_turn * f_left >= 0.0:
        return
    # falling, if the value was positive; then rising
    falls = float(run.direction[event]) * f_left <= 0.0
    rises = float(run.direction[event]) * f_left >= 0.0
    first = locate(e, event, a, turn, f_left, f_turn, run, scratch) if falls else NONE
    second = locate(e, event, turn, b, f_turn, f_right, run, scratch) if rises else NONE
    run.crossing[event] = min(first, second)
    run.second[event] = max(first, second)


@loop
def crossings(e: Entries, part: i64, left: f64, length: f64, run: Run, scratch: ptr) -> i64:
    """θ of every event that fires in one part of the window, NONE elsewhere; GOOD, or why not."""
    before = run.looks[part]
    after = run.looks[part + 1]
    theta = run.crossing
    sign = run.sign_new
    status = all_numbers(after, run)
    for i in range(run.ne):
        theta[i] = NONE
        run.second[i] = NONE
        direction = float(run.direction[i])
        if before[i] * after[i] > 0.0:
            if run.may_turn[i] == 1:
                both_roots(e, i, part, left, length, run, scratch)
        elif sign[i] * after[i] <= 0.0 and sign[i] != 0.0 and direction * sign[i] <= 0.0:
            a = left + float(part) * length
            theta[i] = locate(e, i, a, a + length, before[i], after[i], run, scratch)
        if run.t == run.t_start and theta[i] < STILL_THE_START:
            theta[i] = run.second[i]
            run.second[i] = NONE
        if theta[i] != theta[i]:
            theta[i] = NONE
            run.detail[0] = i
            status = EVENT_NOT_FINITE
        sign[i] = sign_of(after[i])
    return status


@loop
def earliest(run: Run) -> i64:
    """The event of least θ; -1 if none fires."""
    first = -1
    least = NONE
    for i in range(run.ne):
        if run.crossing[i] < least:
            least = run.crossing[i]
            first = i
    return first


@loop
def look_for_events(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Events of the step just taken, recorded; a stopping one shortens the step to its instant.

    Nothing is changed unless all is done, so a call that needs an entry can be repeated.
    """
    for i in range(run.ne):
        run.sign_new[i] = run.sign[i]
        run.before_new[i] = run.before[i]
        run.fired[i] = 0
    run.noted = run.event_count
    run.stop = NONE
    left = 0.0
    width = 1.0
    while width > FINEST and run.settled > 0.0 and width * run.h > GROWTH * run.settled:
        width = 0.5 * width
    spacing = 0.0
    settled = run.settled
    doubts = 0
    tries = 0
    while left < 1.0 and run.stop == NONE:
        look(e, left, width, run, scratch)
        tries += 1
        is_clear = is_settled(e, left, width, run, scratch)
        if is_clear == 0 and is_too_long(tries, width, run) == 1:
            run.settled = settled
            return take_again(max(left, width), run)
        if is_clear == 0 and width > FINEST:
            width = 0.5 * width
        else:
            doubts += 1 - is_clear
            settled = width * run.h
            spacing = max(spacing, width)
            status = fire(e, left, width, run, scratch, event_log)
            if status == AGAIN:
                return take_again(max(left, 0.5 * width), run)
            if status != GOOD:
                return status
            left += width
            width = min(2.0 * width, 1.0 - left)
    run.spacing = max(run.spacing, spacing * run.h / float(NODES))
    run.settled = settled
    run.doubts += doubts
    if run.stop < NONE:
        forget_later(e, run.stop, run, scratch)
    return settle(run)


@loop
def is_too_long(tries: i64, width: f64, run: Run) -> i64:
    """1 if what happens in a step is better seen in a shorter one."""
    if run.is_adaptive == 0 or width * run.h <= SHORTEST * (run.t_end - run.t_start):
        return 0
    return 1 if tries >= BUDGET or width <= FINEST else 0


@loop
def take_again(part: f64, run: Run) -> i64:
    """A part of the step is taken anew; the steps after it grow again.

    A step that ends just before the end of the run would be drawn out to it: the same step again.
    """
    run.h_look = min(part, LARGEST_PART) * run.h
    run.rejected += 1
    run.steps -= 1
    run.phase = TRY
    return GOOD


@loop
def fire(e: Entries, left: f64, width: f64, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Notes the events of a window in order, up to a stopping one; GOOD, or why not."""
    q = run.trial.q
    v = run.trial.v
    length = width / float(NODES)
    for part in range(NODES):
        if run.stop == NONE:
            verdict = crossings(e, part, left, length, run, scratch)
            i = earliest(run)
            while i >= 0 and run.crossing[i] <= run.stop + SAME_INSTANT:
                if run.noted >= run.event_capacity:
                    return FULL if run.event_count > 0 else crowded(run)
                theta = run.crossing[i]
                t = run.t + theta * run.h
                state_at(e, theta, q, v, run, scratch)
                refresh(e, t, q, v, run, scratch)
                status = project(e, t, q, v, run, scratch)
                if status != GOOD:
                    return status
                what = BEFORE if run.stops[i] == SWITCHING else CROSSES
                note(what, i, -1, t, 0.0, run.log_q, q, run.log_v, v, run.noted, event_log)
                run.noted += 1
                run.fired[i] = 1
                if run.stops[i] > 0:
                    run.stop = min(run.stop, theta)
                run.crossing[i] = run.second[i]
                run.second[i] = NONE
                i = earliest(run)
            if verdict != GOOD and run.stop == NONE:
                return verdict
    for i in range(run.ne):
        run.before_new[i] = run.looks[4, i]
    return GOOD


@loop
def crowded(run: Run) -> i64:
    """What becomes of a step with more events than the log holds."""
    for i in range(run.ne):
        run.detail[0] = i if run.fired[i] > 0 else run.detail[0]
    return AGAIN if run.is_adaptive > 0 else CHATTER


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
def settle(run: Run) -> i64:
    """Keeps the new signs, shortens the step where it stops, and watches for chatter."""
    run.event_count = run.noted
    run.h_look = 4.0 * run.h_look
    stop = run.stop
    run.phase = SAMPLING
    if stop < NONE:
        run.phase = LAND
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
