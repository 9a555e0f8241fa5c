"""Loads that follow what they act along, at the end of the step that they lead to.

The effort e(x, ẋ) of a servo, a spring, a damper along a measure x with ẋ = J v + ẋ₀ is taken at

    x = x_θ + θ² h J Δ,   ẋ = J v + ẋ₀ + w J Δ,   Δ = v₁ − v                         (loads-2)

midway along the step for the stiffness, and for the damping s with

    w = (3 + z)/(6 + z),   z = h s a,   a = 4 Σ J_i²/M_ii                             (loads-3)

½ where damping is slow beside the step, so that steps stay of second order, and towards 1 where it
is fast, so that nothing swings: for one velocity, v₁/v is Padé's (1 − z/3)/(1 + 2z/3 + z²/6) of
e⁻ᶻ. With the slopes c = w s + θ² h k where Δ is Δ_k, (stepping-2) is

    (M + h Jᵀc J) Δ = h (f + Jᵀ(e_k + c J Δ_k − e)) + Gᵀλ + DᵀP                      (loads-4)

with e among the forces f. Laws with limits bend: where e at the end is not what (loads-4) applied,
slopes are taken anew at the point of the way d from Δ_k to Δ at which

    dᵀ(M Δ − h f + h Jᵀ(e − e(Δ)))                                                  (loads-5)

changes its sign, the least of what is convex where efforts fall with what they act along. So no
motor gives more than its limit.

Public names: begin_loads, add_loads, put_loads, is_unsettled, relinearize,
bent_again, spend, TURNS.

Source: docs/theory/time_stepping.md; HW2 §IV.3 (A-stability, Padé).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.steps.layout import Entries, Run
from liaison.solvers.linear.dense import dot

NARROW = 1e-12
"""Part of a way within which its least is known."""

LIGHTER = 4.0
"""What moves with a load is this much lighter than what moves with its velocity alone, at most."""

NARROWED = 40
"""Evaluations along a way at most."""

TURNS = 12
"""Times that impulses are found once more while laws of loads bend: two or three are enough."""


@loop
def laws_at(factor: f64, weight: f64, e: Entries, run: Run, scratch: ptr) -> None:
    """Laws where J Δ is `change`: measures moved by so much of it, rates by a weight or their own.

    `loads.along` holds J Δ; a weight below 0 is that of each load.
    """
    nf = run.nf
    loads = run.loads
    for k in range(nf):
        w = loads.weight[k] if weight < 0.0 else weight
        loads.at[k] = run.load_rows.x[k] + factor * loads.along[k]
        loads.at[nf + k] = run.load_rows.rate[k] + w * loads.along[k]
    t = run.t + run.theta * run.h
    e.load_laws(t, run.free.q, run.v, run.u, run.p, loads.at, run.load_laws.floats, scratch)


@loop
def reach_of(run: Run) -> f64:
    """By how much measures midway move with J Δ."""
    return float(run.theta * run.theta * run.h)


@loop
def take_slopes(run: Run) -> None:
    """Slopes and efforts of laws as they were evaluated, and weights that only grow in a step."""
    loads = run.loads
    laws = run.load_laws
    for k in range(run.nf):
        s = max(laws.damping[k], 0.0)
        z = run.h * s * loads.light[k]
        loads.weight[k] = max(loads.weight[k], (3.0 + z) / (6.0 + z))
        loads.slope[k] = loads.weight[k] * s + reach_of(run) * max(laws.stiffness[k], 0.0)
        loads.effort[k] = laws.effort[k]


@loop
def begin_loads(e: Entries, run: Run, scratch: ptr) -> None:
    """Rows midway, and laws linear about the velocities before the step."""
    nv = run.nv
    loads = run.loads
    rows = run.load_rows
    t = run.t + run.theta * run.h
    e.load_rows(t, run.free.q, run.v, run.u, run.p, run.v, rows.floats, scratch)
    for i in range(nv):
        loads.delta[i] = 0.0
    for k in range(run.nf):
        find_ends(k, run)
        loads.change[k] = 0.0
        loads.along[k] = 0.0
        loads.weight[k] = 0.5
        loads.before[k] = along(k, run.v, run)
        total = 0.0
        for i in range(loads.first[k], loads.end[k]):
            if run.terms.M[i, i] > 0.0:
                total += rows.J[k, i] * rows.J[k, i] / run.terms.M[i, i]
        loads.light[k] = LIGHTER * total
    laws_at(0.0, 0.0, e, run, scratch)
    take_slopes(run)


@loop
def find_ends(k: i64, run: Run) -> None:
    """Where the row of a load has its first number and its last."""
    J = run.load_rows.J[k]
    first = 0
    end = run.nv
    while first < end and J[first] == 0.0:
        first += 1
    while end > first and J[end - 1] == 0.0:
        end -= 1
    run.loads.first[k] = first
    run.loads.end[k] = end


@loop
def along(k: i64, x: ptr, run: Run) -> f64:
    """J x of a load."""
    first = run.loads.first[k]
    return float(dot(run.loads.end[k] - first, run.load_rows.J[k, first:], x[first:]))


@loop
def changes(after: ptr, run: Run) -> None:
    """J Δ of a step that ends with these velocities, into `loads.along`."""
    for k in range(run.nf):
        run.loads.along[k] = along(k, after, run) - run.loads.before[k]


@loop
def add_loads(after: ptr, e: Entries, run: Run, scratch: ptr) -> None:
    """(loads-4) in the terms: h Jᵀc J beside M, and efforts of the end in the place of those in f.

    Forces f are at the mean of the velocities before and `after`.
    """
    changes(after, run)
    laws_at(0.0, run.theta, e, run, scratch)
    put_loads(run)


@loop
def put_loads(run: Run) -> None:
    """The same with the laws at hand, those of the forces f."""
    loads = run.loads
    terms = run.terms
    for k in range(run.nf):
        J = run.load_rows.J[k]
        c = loads.slope[k]
        rest = loads.effort[k] + c * loads.change[k] - run.load_laws.effort[k]
        for i in range(loads.first[k], loads.end[k]):
            if J[i] != 0.0:
                terms.f[i] += J[i] * rest
                for j in range(loads.first[k], loads.end[k]):
                    terms.M[i, j] += run.h * c * J[i] * J[j]


@loop
def is_unsettled(after: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """1 if the effort of a load at the end is another than the step applied."""
    loads = run.loads
    changes(after, run)
    laws_at(reach_of(run), -1.0, e, run, scratch)
    for k in range(run.nf):
        effort = run.load_laws.effort[k]
        applied = loads.effort[k] - loads.slope[k] * (loads.along[k] - loads.change[k])
        off = abs(effort - applied)
        is_off = 1 if off > run.effort_tolerance * max(abs(effort), abs(applied)) else 0
        if is_off == 1 and off * run.h * loads.light[k] > run.effort_rate:
            return 1
    return 0


@loop
def spend(after: ptr, run: Run) -> None:
    """The work of the efforts that the step applies, of loads whose energy U does not hold."""
    loads = run.loads
    rows = run.load_rows
    changes(after, run)
    total = 0.0
    for k in range(run.nf):
        applied = loads.effort[k] - loads.slope[k] * (loads.along[k] - loads.change[k])
        total += rows.counted[k] * applied * (rows.rate[k] + 0.5 * loads.along[k])
    loads.spent[1] = run.h * total


@loop
def slope_along(part: f64, e: Entries, run: Run, scratch: ptr) -> f64:
    """What efforts do along the way, where so much of it is gone."""
    loads = run.loads
    total = 0.0
    for k in range(run.nf):
        move = along(k, loads.way, run)
        loads.along[k] = loads.change[k] + part * move
    laws_at(reach_of(run), -1.0, e, run, scratch)
    for k in range(run.nf):
        total -= run.h * run.load_laws.effort[k] * along(k, loads.way, run)
    return total


@loop
def relinearize(last: i64, after: ptr, e: Entries, run: Run, scratch: ptr) -> None:
    """Laws linear about a point of the way to velocities `after`; constant there the last time.

    The terms are those of the last (loads-4).
    """
    nv = run.nv
    loads = run.loads
    steep = 0.0
    level = 0.0
    for i in range(nv):
        loads.way[i] = after[i] - run.v[i] - loads.delta[i]
    for i in range(nv):
        p = loads.way[i]
        steep += p * dot(nv, run.terms.M[i], loads.way)
        level += p * (dot(nv, run.terms.M[i], loads.delta) - run.h * run.terms.f[i])
    for k in range(run.nf):
        move = along(k, loads.way, run)
        c = run.h * loads.slope[k]
        steep -= c * move * move
        # terms hold the slopes and efforts of the point before
        level += run.h * loads.effort[k] * move
    part = least_along(level, steep, e, run, scratch)
    for i in range(nv):
        loads.delta[i] += part * loads.way[i]
    changes_at_point(run)
    laws_at(reach_of(run), -1.0, e, run, scratch)
    take_slopes(run)
    if last == 1:
        for k in range(run.nf):
            loads.slope[k] = 0.0


@loop
def changes_at_point(run: Run) -> None:
    """J Δ of the point at which laws are linear."""
    for k in range(run.nf):
        run.loads.change[k] = along(k, run.loads.delta, run)
        run.loads.along[k] = run.loads.change[k]


@loop
def least_along(level: f64, steep: f64, e: Entries, run: Run, scratch: ptr) -> f64:
    """The part of the way at which (loads-5) is least, by false position; 1 where it falls."""
    low = 0.0
    high = 1.0
    at_low = level + slope_along(0.0, e, run, scratch)
    at_high = level + steep + slope_along(1.0, e, run, scratch)
    if at_high <= 0.0 or at_low >= 0.0:
        return 1.0
    part = 1.0
    side = 0
    for _ in range(NARROWED):
        part = (low * at_high - high * at_low) / (at_high - at_low)
        here = level + part * steep + slope_along(part, e, run, scratch)
        if here <= 0.0:
            low = part
            at_low = here
            at_high = 0.5 * at_high if side == -1 else at_high
            side = -1
        else:
            high = part
            at_high = here
            at_low = 0.5 * at_low if side == 1 else at_low
            side = 1
        if high - low <= NARROW or here == 0.0:
            break
    return part


@loop
def bent_again(turn: i64, after: ptr, e: Entries, run: Run, scratch: ptr) -> i64:
    """1: laws of loads are linear elsewhere from now on; 0: they stay; −1: impulses stay, too."""
    is_bent = 0
    if run.nf > 0:
        is_bent = is_unsettled(after, e, run, scratch)
    if is_bent == 0 and (turn > 0 or run.rows_chosen == 0):
        return -1
    if is_bent == 1:
        relinearize(1 if turn == TURNS - 1 else 0, after, e, run, scratch)
    return is_bent
