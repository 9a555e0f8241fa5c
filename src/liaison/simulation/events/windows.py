"""Windows of a step: whether values at a few nodes say where an event of it is zero.

Windows are parts of a step on which values of events at five nodes determine their roots: the
quartic through these is compared with the value at two instants between them. A window is settled
where, for every event, it is right within what separates the event from zero, and turns once at
most between two nodes near zero. A window that is not settled is halved; so two roots between two
nodes are seen, however fast the value oscillates along the step.

Public names: values, look, is_settled, turn_of, quartic, noise_of, all_far, sign_of, NODES.

Source: HNW1 §II.6 (dense output).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.explicit import refresh, state_at, through_five
from liaison.simulation.steps.layout import Entries, Run

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


@loop
def sign_of(x: f64) -> f64:
    """-1, 0 or 1."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)
