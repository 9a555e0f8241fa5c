"""Events: sign changes of formulas, found on the dense output of the step just taken.

Each event keeps the sign it last had. It fires when its value reaches zero or the other sign, in
the direction asked for; starting at zero, or leaving zero again, is none. The instant is located by
bracketing to the rounding of time. Several events of one step come in order of time; those at the
instant of a stopping one are recorded. What is not a number is rejected unless the run stops first.

A step is seen window by window, from its beginning on. A body that turns freely is
integrated in steps of many turns: where windows become too many, an adaptive step is taken again
up to where it was seen. What is still in doubt in the smallest window is counted.

Windows are parts of a step on which values of events at five nodes determine their roots: the
quartic through these is compared with the value at two instants between them. A window is settled
where, for every event, it is right within what separates the event from zero, and turns once at
most between two nodes near zero. A window that is not settled is halved; so two roots between two
nodes are seen, however fast the value oscillates along the step.

Public names: look_for_events, locate, first_signs, sign_of, values, look, is_settled, turn_of,
NODES.

Source: CHA97, bracketing with inverse quadratic interpolation; HNW1 §II.6 (dense output).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import interpolate, refresh, state_at, through_five
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

NODES = 4
"""Parts of a window."""

FIRST, SECOND = 0.37, 3.31
"""Where a window is looked into, in parts: no oscillation that fits its nodes fits both of them."""

SCAN = 8
"""Looks at the quartic between two nodes."""

WRONG = 0.1
"""Part of the largest value by which the quartic may be wrong at all: else it may oscillate."""

TRUE = 0.02
"""Part of the largest value by which the quartic may be wrong where it comes near zero."""

ROUNDING = 1e-12
"""Part of the largest value met so far that is rounding."""

STEEP = 16.0
"""Change over a part, in errors of the quartic, from which on a value does not turn at a node."""

UNDETERMINED = 1e-6
"""Part of the largest force that contacts which repeat each other may have more or less."""

FAR = 2.0
"""Values further from zero than this many times what they vary do not reach it."""


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
def look(e: Entries, left: f64, width: f64, run: Run, scratch: ptr) -> None:
    """Values at the nodes of a window and at one instant between; its end is looked at last.

    Args:
        e: entries.
        left: fraction of the step at which it begins, with the values `run.before_new`.
        width: fraction of the step that it takes.
        run: its arrays `looks` and `between` are filled.
        scratch: of the entries.
    """
    part = width / float(NODES)
    looks = run.looks
    for i in range(run.ne):
        looks[0, i] = run.before_new[i]
    values(e, left + FIRST * part, run.between[0], run, scratch)
    for j in range(1, NODES):
        values(e, left + float(j) * part, looks[j], run, scratch)
    values(e, left + width, looks[4], run, scratch)


@loop
def quartic(i: i64, x: f64, run: Run) -> f64:
    """The polynomial through the five nodes of an event, at x parts from the first."""
    g = run.looks
    return through_five(g[0, i], g[1, i], g[2, i], g[3, i], g[4, i], x)


@loop
def noise_of(i: i64, run: Run) -> f64:
    """What of a value is none between two nodes; of a force, beside the largest one."""
    return float(run.noise[i] + UNDETERMINED * run.largest_force * float(run.is_force[i]))


@loop
def all_far(run: Run) -> i64:
    """1 if no event comes near zero in the window: all values are large beside what they vary."""
    for i in range(run.ne):
        low = min(run.looks[0, i], run.between[0, i])
        high = max(run.looks[0, i], run.between[0, i])
        for j in range(1, NODES + 1):
            low = min(low, run.looks[j, i])
            high = max(high, run.looks[j, i])
        run.may_turn[i] = 0
        if not (max(low, -high) >= FAR * (high - low)):
            return 0
    return 1


@loop
def is_settled(e: Entries, left: f64, width: f64, run: Run, scratch: ptr) -> i64:
    """1 if the window just looked at determines every event; looks once more, if need be."""
    if all_far(run) == 1:
        return 1
    values(e, left + SECOND * width / float(NODES), run.between[1], run, scratch)
    run.largest_force = 0.0
    for i in range(run.ne):
        for j in range((NODES + 1) * int(run.is_force[i])):
            run.largest_force = max(run.largest_force, abs(run.looks[j, i]))
    for i in range(run.ne):
        if is_determined(i, run) == 0:
            return 0
    return 1


@loop
def is_determined(i: i64, run: Run) -> i64:
    """1 if a window determines one event; one without a value is dealt with elsewhere."""
    looks = run.looks
    run.may_turn[i] = 0
    first = run.between[0, i]
    second = run.between[1, i]
    low = min(first, second)
    high = max(first, second)
    if not (abs(first) + abs(second) < 1e300):
        return 1
    for j in range(NODES + 1):
        y = looks[j, i]
        if not (abs(y) < 1e300):
            return 1
        low = min(low, y)
        high = max(high, y)
    if max(low, -high) >= FAR * (high - low):
        return 1
    size = max(abs(low), abs(high))
    run.met[i] = max(run.met[i], size)
    rounding = max(ROUNDING * run.met[i], noise_of(i, run))
    miss = abs(first - quartic(i, FIRST, run))
    miss = max(miss, abs(second - quartic(i, SECOND, run)))
    if miss > WRONG * size + rounding:
        return 0
    if is_monotone(i, miss, run) == 1:
        return 1
    run.may_turn[i] = 1
    for part in range(NODES):
        if is_sure(i, part, miss, rounding, TRUE * size, run) == 0:
            return 0
    return 1


@loop
def is_monotone(i: i64, miss: f64, run: Run) -> i64:
    """1 if the values of a window rise or fall all along: differences outweigh what they change."""
    g = run.looks
    a = g[1, i] - g[0, i]
    b = g[2, i] - g[1, i]
    c = g[3, i] - g[2, i]
    d = g[4, i] - g[3, i]
    least = min(min(a, b), min(c, d))
    most = max(max(a, b), max(c, d))
    slope = max(least, -most)
    bend = max(abs(b - a), max(abs(c - b), abs(d - c)))
    twist = max(abs(c - b - (b - a)), abs(d - c - (c - b)))
    return 1 if slope > 0.5 * bend + twist + 20.0 * miss else 0


@loop
def is_sure(i: i64, part: i64, miss: f64, rounding: f64, allowed: f64, run: Run) -> i64:
    """1 if it is sure how often an event is zero between two nodes.

    Args:
        i: the event.
        part: between which nodes.
        miss: by which the quartic is wrong.
        rounding: what is none.
        allowed: by which it may be wrong where it is near zero.
        run: with the values of the window.
    """
    a = run.looks[part, i]
    b = run.looks[part + 1, i]
    low = min(a, b)
    high = max(a, b)
    last = a
    way = 0.0
    turns = 0
    for k in range(1, SCAN + 1):
        y = quartic(i, float(part) + float(k) / float(SCAN), run) if k < SCAN else b
        turns += 1 if (y - last) * way < 0.0 else 0
        way = y - last if y != last else way
        low = min(low, y)
        high = max(high, y)
        last = y
    band = 2.0 * miss + rounding
    if low > band or high < -band:
        return 1
    if miss > allowed + rounding:
        return 0
    if miss <= rounding:
        return 1 if turns < 2 or high - low <= 4.0 * rounding else 0
    if turns > 1:
        return 0
    if a * b <= 0.0:
        return 1
    # of one sign at both nodes: a turn, inside or next to a node, may or may not reach zero
    side = 1.0 if a > 0.0 else -1.0
    least = low if a > 0.0 else -high
    if least < min(side * a, side * b):
        return 0 if least > -band else 1
    return does_not_turn(i, part, miss, run)


@loop
def does_not_turn(i: i64, part: i64, miss: f64, run: Run) -> i64:
    """1 if a value goes on towards zero, or comes from it, at the node that is nearest zero."""
    a = run.looks[part, i]
    b = run.looks[part + 1, i]
    step = 0.5 / float(SCAN)
    if abs(b) < abs(a):
        inside = quartic(i, float(part + 1) - step, run)
        return 1 if abs(inside - b) > STEEP * step * miss else 0
    inside = quartic(i, float(part) + step, run)
    return 1 if abs(inside - a) > STEEP * step * miss else 0


@loop
def turn_of(i: i64, part: i64, run: Run) -> f64:
    """Parts after the first node at which a value turns beyond zero between two of one sign.

    Negative where it does not.
    """
    a = run.looks[part, i]
    b = run.looks[part + 1, i]
    side = 1.0 if a > 0.0 else -1.0
    least = min(side * a, side * b)
    place = -1.0
    for k in range(1, SCAN):
        x = float(part) + float(k) / float(SCAN)
        y = side * quartic(i, x, run)
        if y < least:
            least = y
            place = x
    if place < 0.0:
        return -1.0
    reach = 1.0 / float(SCAN)
    for _ in range(3):
        reach = 0.25 * reach
        before = side * quartic(i, place - reach, run)
        after = side * quartic(i, place + reach, run)
        bend = before + after - 2.0 * least
        if bend > 0.0:
            moved = 0.5 * reach * (before - after) / bend
            x = max(float(part), min(float(part + 1), place + moved))
            y = side * quartic(i, x, run)
            if y < least:
                least = y
                place = x
    return place if least < -noise_of(i, run) else -1.0


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
