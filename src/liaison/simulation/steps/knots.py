"""Knots: places where a law of the state jumps or bends; no step goes across one.

Forces that follow `if`, `abs`, `max` or a table of coordinates are smooth between knots. A step
across one has stages on both sides: its error is not that of its order, and what lies between two
knots may be between its stages. So the first knot that a step passes is located on its dense
output, and the step is taken again up to just before; from there the state is put just after. In a
step whose error is too large it is located on the motion with the accelerations of its beginning,
which know nothing of what is beyond.

A law that is crossed back and forth at once, as sign(v) at rest, would end steps without end;
after some of them the error alone chooses them for a while.

Public names: first_knot, ends_at_knot. Source: HNW1 §II.6 (discontinuities).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr

from .explicit import refresh, state_at, through_five
from .layout import RESUMED, Entries, Run

NONE = 2.0
"""The part of a step that stands for "no knot"."""

SCAN = 8
"""Looks at the quartic between two nodes."""

AT_END = 1.0 - 1e-6
"""A knot from this part of a step on is at its end."""

KNOT_FIRST = 0.9
"""A step that is wrong ends at a knot before this part of it, rather than where its error says."""

BEFORE, BESIDE = 1.0 - 1e-9, 1e-8
"""Part of the way to a knot that a step takes; of a step, a knot that is next to its beginning."""

SHORTEST = 1e-11
"""Of the run: the shortest step that a knot asks for."""

OFTEN, SOON, BLIND = 60, 1e-6, 1e-3
"""So many knots within the second share of a run are passed over for the third."""


@loop
def expected_at(e: Entries, theta: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> None:
    """q, v at the fraction θ of the step with the accelerations of its beginning."""
    nv = run.nv
    y = run.stage
    h = theta * run.h
    for i in range(nv):
        a = run.k[0, nv + i]
        y[i] = h * (run.v[i] + 0.5 * h * a)
        v[i] = run.v[i] + h * a
    e.retract(run.t + h, run.q, v, run.u, run.p, y, q, scratch)


@loop
def at_knots(e: Entries, theta: f64, out: ptr, run: Run, scratch: ptr) -> None:
    """The formulas that make laws bend, at a part of the step; of a wrong one as it set out."""
    q = run.trial.q
    v = run.trial.v
    if run.is_wrong > 0 and run.is_implicit == 0:
        expected_at(e, theta, q, v, run, scratch)
    else:
        state_at(e, theta, q, v, run, scratch)
    t = run.t + theta * run.h
    refresh(e, t, q, v, run, scratch)
    e.knots(t, q, v, run.u, run.p, q, out, scratch)


@loop
def has_level(i: i64, low: f64, high: f64, run: Run) -> i64:
    """1 if a level of the i-th formula is above `low` and not above `high`."""
    first = run.level_end[i - 1] if i > 0 else 0
    last = int(run.level_end[i])
    end = last
    while first < last:
        middle = (first + last) // 2
        if run.levels[middle] > low:
            last = middle
        else:
            first = middle + 1
    return 1 if first < end and run.levels[min(first, end - 1)] <= high else 0


@loop
def is_far(run: Run) -> i64:
    """1 if no level is near the values at the beginning, the middle and the end."""
    g = run.at_knots
    for i in range(run.nk):
        low = min(g[0, i], min(g[2, i], g[4, i]))
        high = max(g[0, i], max(g[2, i], g[4, i]))
        spread = high - low
        if has_level(i, low - spread, high + spread, run) == 1:
            return 0
    return 1


@loop
def through(i: i64, x: f64, run: Run) -> f64:
    """The polynomial through the five nodes, at x quarters of the step."""
    g = run.at_knots
    return through_five(g[0, i], g[1, i], g[2, i], g[3, i], g[4, i], x)


@loop
def first_knot(e: Entries, run: Run, scratch: ptr) -> f64:
    """The part of the step just after its first knot; NONE if it passes none."""
    g = run.at_knots
    at_knots(e, 0.0, g[0], run, scratch)
    at_knots(e, 0.5, g[2], run, scratch)
    at_knots(e, 1.0, g[4], run, scratch)
    if is_far(run) == 1:
        return NONE
    at_knots(e, 0.25, g[1], run, scratch)
    at_knots(e, 0.75, g[3], run, scratch)
    first = NONE
    for i in range(run.nk):
        before = g[0, i]
        k = 1
        while k <= 4 * SCAN and 0.25 * float(k - 1) / float(SCAN) < first:
            x = float(k) / float(SCAN)
            node = k // SCAN
            y = g[node, i] if k % SCAN == 0 else through(i, x, run)
            if has_level(i, min(before, y), max(before, y), run) == 1:
                left = 0.25 * float(k - 1) / float(SCAN)
                knot = narrowed(e, i, left, 0.25 * x, before, run, scratch)
                if knot < first:
                    first = knot
                    k = 4 * SCAN
            before = y
            k += 1
    return first


@loop
def narrowed(e: Entries, i: i64, left: f64, right: f64, value: f64, run: Run, scratch: ptr) -> f64:
    """The part just after the first level that a formula passes between `left` and `right`.

    NONE if it passes none after all.
    """
    out = run.at_knots[1]
    kept = out[i]
    at_knots(e, right, out, run, scratch)
    passes = has_level(i, min(value, out[i]), max(value, out[i]), run)
    for _ in range(44 * passes):
        middle = 0.5 * (left + right)
        at_knots(e, middle, out, run, scratch)
        if has_level(i, min(value, out[i]), max(value, out[i]), run) == 1:
            right = middle
        else:
            left = middle
    at_knots(e, 0.25, out, run, scratch)
    out[i] = kept
    return right if passes == 1 else NONE


@loop
def hop(e: Entries, theta: f64, run: Run, scratch: ptr) -> None:
    """The state just after a knot that is next to it, by the law before it."""
    q = run.trial.q
    v = run.trial.v
    expected_at(e, theta, q, v, run, scratch)
    for i in range(run.nq):
        run.q[i] = q[i]
    for i in range(run.nv):
        run.v[i] = v[i]
    run.t += theta * run.h
    run.is_fresh = 0
    run.ledger.event = max(run.ledger.event, RESUMED)


@loop
def ends_at_knot(e: Entries, run: Run, scratch: ptr) -> i64:
    """1 if the step is to be taken again, up to a knot in it or from just after one."""
    latest = KNOT_FIRST if run.is_wrong > 0 else AT_END
    span = run.t_end - run.t_start
    if run.t < run.t_blind:
        return 0
    theta = first_knot(e, run, scratch)
    was_wrong = run.is_wrong
    if theta <= BESIDE and run.is_implicit == 0:
        run.is_wrong = 1
        theta = first_knot(e, run, scratch)
        run.is_wrong = was_wrong
    if not (theta < latest):
        return 0
    if run.t - run.t_knots > SOON * span:
        run.t_knots = run.t
        run.knots_met = 0
    run.knots_met += 1
    if run.knots_met > OFTEN:
        run.t_blind = run.t + BLIND * span
        return 0
    run.rejected += 1
    if theta <= BESIDE and run.is_implicit == 0:
        hop(e, theta, run, scratch)
    else:
        run.h_knot = max(theta * BEFORE * run.h, SHORTEST * span)
    return 1
