"""Phases of Moreau and Jean's steps: start, step, place, commit.

`advance` calls them as it calls those of a smooth motion.

Positions are brought onto closures and out of penetration, by the shortest way in the metric of M.

    δᵀM δ least,   G δ = −Φ,   g + D δ = 0 where a contact stays closed, ≥ 0 elsewhere    (place-1)

repeated. Closed contacts are met together with the closures first, as far as they are independent;
what still penetrates is pushed out by a problem of complementarity.

Public names: MOREAU, TIGHT, place, passing_pair.

Source: docs/theory/time_stepping.md; HW2 §VII.2 (projection methods).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from liaison.contacts.events.edges import EDGE
from liaison.program.loops.language import Loop, at, f64, flat, i64, loop, ptr
from liaison.simulation.plan.scales import NO_FACE
from liaison.simulation.steps.advance import begin, commit
from liaison.simulation.steps.explicit import refresh
from liaison.simulation.steps.layout import (
    BAD_GAP,
    BAD_SIDE,
    EVENTS,
    GOOD,
    LAND,
    NO_MODE,
    NOT_FINITE,
    PASSED,
    SAMPLING,
    TOO_MANY_STEPS,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, GAP
from liaison.simulation.steps.stepsize import SHORTEST, choose_step, pass_breaks
from liaison.solvers.cones.cones import ONE_WAY, solve_cones
from liaison.solvers.linear.dense import RANK_TOLERANCE, dot, largest_in

from .loads import spend
from .modes import has_room, note_modes
from .moreau import is_same_place, moreau_step
from .rows import (
    delassus,
    forget_end,
    forget_rows,
    free_motion,
    is_at_end,
    metric_of,
    one_sided,
    one_sided_at_end,
    part_left,
    pushed,
    rows_at_end,
)

ROUNDS = 12
"""Corrections at most: they are Newton's, and two or three are enough as a rule."""

SHALLOW, STRETCHED, SHORTER = 1e-7, 8.0, 0.5
"""Deeper than this, in units, what is held may open where holding it moves a coordinate by so many
times the depth, and the way is shorter by this part then."""

NEAR = 4.0
"""Gaps up to this many penetrations wide are guarded while others are pushed out."""


@loop
def place(e: Entries, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr) -> i64:
    """q out of penetration, in place; notes the largest that is left."""
    deepest = 0.0
    for turn in range(ROUNDS):
        one_sided_at_end(e, t, q, v, run, scratch)
        deepest = penetration(run)
        off = 0.0 if turn > 1 else hovering(run)
        if not (max(deepest, off) > run.gap_tolerance):
            break
        status = push_out(e, 1 if off > run.gap_tolerance else 0, deepest, t, q, v, run, scratch)
        if status != GOOD:
            return status
    note_penetration(run)
    return GOOD


@loop
def penetration(run: Run) -> f64:
    """The deepest penetration of all gaps at the end, in units."""
    deepest = 0.0
    for k in range(run.nb):
        if run.end.gap[k] < 0.0 and run.blocks[k].kind == GAP:
            deepest = max(deepest, -run.end.gap[k] / run.scales.gap[k])
    return deepest


@loop
def note_penetration(run: Run) -> None:
    """Keeps the deepest penetration at the end of a step [m]."""
    deepest = run.penetration
    for k in range(run.nb):
        if run.blocks[k].kind == GAP:
            deepest = max(deepest, -run.end.gap[k])
    run.penetration = deepest


@loop
def is_held(k: i64, run: Run) -> i64:
    """1 if the block is a gap that stays closed under a force."""
    block = run.blocks[k]
    if run.mode[k] != CLOSED or block.kind != GAP:
        return 0
    gap = run.end.gap[k]
    if gap > EDGE * run.scales.gap[k]:
        return 0
    # a place of hulls that is another than that which carried is not held
    if gap == NO_FACE or is_same_place(k, run.end, run) == 0:
        return 0
    return 1 if run.impulse[block.first] > 0.0 else 0


@loop
def hovering(run: Run) -> f64:
    """The largest gap of the contacts that stay closed, in units."""
    largest_gap = 0.0
    for k in range(run.nb):
        if is_held(k, run) == 1:
            largest_gap = max(largest_gap, abs(run.end.gap[k]) / run.scales.gap[k])
    return largest_gap


@loop
def push_out(
    e: Entries, holds: i64, deepest: f64, t: f64, q: ptr, v: ptr, run: Run, scratch: ptr
) -> i64:
    """One correction of q: closed gaps to zero where `holds`, the others to what is allowed."""
    delta = run.free.v
    moved = run.free.q
    rows_at_end(e, t, q, v, run, scratch)
    e.terms(t, q, v, run.u, run.p, q, run.terms.floats, scratch)
    status = shortest_way(holds, deepest, run)
    if status != GOOD:
        return status
    if holds == 1 and deepest > SHALLOW:
        # many that are held leave few ways out, which may be long: what is hit may lift others
        long = largest_in(run.nv, delta, run.scales.local)
        if long > STRETCHED * deepest:
            for i in range(run.nv):
                run.stage[i] = delta[i]
            shortest_way(0, deepest, run)
            if largest_in(run.nv, delta, run.scales.local) > SHORTER * long:
                for i in range(run.nv):
                    delta[i] = run.stage[i]
    e.retract(t, q, v, run.u, run.p, delta, moved, scratch)
    for i in range(run.nq):
        q[i] = moved[i]
    return GOOD


@loop
def shortest_way(holds: i64, deepest: f64, run: Run) -> i64:
    """δ of (place-1) into `free.v`; GOOD, or why not."""
    nv = run.nv
    delta = run.free.v
    rest = run.free.moved
    held = run.held
    rows = held_rows(holds, held, run)
    guarded = near_rows(holds, deepest, run)
    if rows > run.nc + run.most or guarded > run.most:
        return NO_MODE
    rank = metric_of(rows, flat(run.terms.M), held, RANK_TOLERANCE, run)
    if rank < 0:
        return NOT_FINITE
    for i in range(nv):
        rest[i] = 0.0
    free_motion(rows, rank, held, rest, at(held, (run.nphi + run.nb) * nv), delta, run)
    forget_rows(run)
    if guarded > 0:
        add_guarded(holds, deepest, rank, delta, rest, run)
    elif run.nr > 0:
        run.chosen[0] = -1
    return GOOD


@loop
def held_rows(holds: i64, held: ptr, run: Run) -> i64:
    """Rows of closures and, where `holds`, of closed gaps, with what they ask; how many."""
    nv = run.nv
    nphi = run.nphi
    right = at(held, (nphi + run.nb) * nv)
    for i in range(nphi * nv):
        held[i] = flat(run.terms.G)[i]
    for k in range(nphi):
        right[k] = -run.terms.phi[k]
    rows = int(nphi)
    for k in range(run.nb):
        block = run.blocks[k]
        if holds == 1 and is_held(k, run) == 1:
            D = run.end.D[block.first]
            for i in range(nv):
                held[rows * nv + i] = D[i]
            right[rows] = -run.end.gap[k]
            rows += 1
    return rows


@loop
def near_rows(holds: i64, deepest: f64, run: Run) -> i64:
    """Gaps that are not held and near enough to be guarded."""
    m = 0
    for k in range(run.nb):
        if is_guarded(k, holds, deepest, run) == 1:
            m += 1
    return m


@loop
def is_guarded(k: i64, holds: i64, deepest: f64, run: Run) -> i64:
    """1 if the block is one of them."""
    is_near = 1 if run.end.gap[k] <= NEAR * deepest * run.scales.gap[k] else 0
    if run.blocks[k].kind != GAP or is_near == 0:
        return 0
    return 1 if holds == 0 or is_held(k, run) == 0 else 0


@loop
def add_guarded(holds: i64, deepest: f64, rank: i64, delta: ptr, rest: ptr, run: Run) -> None:
    """Adds to δ what the gaps that are not held need in order not to be negative after it.

    One that follows from those that are held moves with them, and no other way. The rows of the
    others are in `run.chosen`, before a −1.
    """
    nv = run.nv
    problem = run.problem
    f = problem.P
    chosen = run.chosen
    m = 0
    for k in range(run.nb):
        row = run.blocks[k].first
        if (
            is_guarded(k, holds, deepest, run) == 1
            and part_left(row, rank, flat(run.end.D), run) > RANK_TOLERANCE
        ):
            chosen[m] = row
            problem.b[m] = run.end.gap[k] + dot(nv, run.end.D[row], delta)
            f[m] = 0.0
            cone = run.cone[m]
            cone.kind = ONE_WAY
            cone.first = m
            cone.rows = 1
            cone.load = -1
            limit = problem.limits[m]
            limit.coefficient[0] = 0.0
            limit.coefficient[1] = 0.0
            limit.constant = 0.0
            m += 1
    if m < run.nr:
        chosen[m] = -1
    delassus(m, chosen, problem.A, run)
    solve_cones(m, m, problem.A, problem.b, run.cone, problem.limits, f, run.area)
    pushed(m, chosen, f, rest, run)
    for i in range(nv):
        delta[i] += rest[i]


@loop
def set_out(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The start on its closures and out of penetration."""
    status = begin(e, run, scratch, event_log)
    if status != GOOD:
        return status
    q = run.q
    v = run.v
    sides = run.sides
    one_sided(e, run.t, q, v, sides, run, scratch)
    for k in range(run.nb):
        block = run.blocks[k]
        off = -sides.gap[k] if block.kind == GAP else -sides.rate[block.first]
        unit = run.scales.gap[k] if block.kind == GAP else run.scales.rate[k]
        size = 1.0 + largest_in(run.nq, q, run.scales.position)
        if block.kind != FRICTION and off > run.start_tolerance * size * unit:
            run.worst = off
            run.detail[0] = k
            return BAD_GAP if block.kind == GAP else BAD_SIDE
    forget_end(run)
    status = place(e, run.t, q, v, run, scratch)
    one_sided(e, run.t, q, v, sides, run, scratch)
    return status


@loop
def one_step(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Impulses and velocities, what they mean, positions."""
    if run.steps >= run.steps_allowed:
        return TOO_MANY_STEPS
    status = has_room(run)
    if status != GOOD:
        return status
    if run.break_count > 0:
        status = pass_breaks(e, run, scratch, event_log)
        if status != GOOD:
            return status
    choose_step(run)
    status = moreau_step(e, run, scratch)
    if status == GOOD and run.has_passes > 0 and passes(e, run, scratch) == 1:
        # taken again in parts
        run.rejected += 1
        return GOOD if run.h > 1.5 * SHORTEST * run.step else PASSED
    if status == GOOD:
        if run.nf > 0:
            spend(at(run.y, run.nv), run)
        note_modes(run, event_log)
        run.phase = LAND
    return status


@loop
def passes(e: Entries, run: Run, scratch: ptr) -> i64:
    """1 if two bodies pass each other within the step; what part of it to take is noted."""
    pair = passing_pair(e, run, scratch)
    if pair == 0:
        run.h_part = 2.0 * run.h_part if run.is_part > 0 else 0.0
        return 0
    run.detail[0] = pair - 1
    run.h_part = max(0.25 * run.h, SHORTEST * run.step)
    return 1


@loop
def passing_pair(e: Entries, run: Run, scratch: ptr) -> i64:
    """The pair that passes each other on the way to the end of the step, or to its middle.

    Counted from 1; 0: none. What is thrown back from behind another body in the middle, where
    contacts are looked for, ends where it began.
    """
    nv = run.nv
    seen = run.stage
    q = run.landed.q
    after = at(run.y, nv)
    e.retract(run.t_new, run.q, after, run.u, run.p, run.y, q, scratch)
    e.passes(run.t_new, q, after, run.u, run.p, run.q, seen, scratch)
    if seen[0] == 0.0:
        t = run.t + run.theta * run.h
        moved = run.free.moved
        for i in range(nv):
            moved[i] = run.theta * run.h * run.v[i]
        e.retract(t, run.q, run.v, run.u, run.p, moved, q, scratch)
        e.passes(t, q, run.v, run.u, run.p, run.q, seen, scratch)
    return int(seen[0])


@loop
def stand(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state on its closures and out of penetration."""
    nv = run.nv
    y = run.y
    q = run.landed.q
    v = run.landed.v
    e.retract(run.t_new, run.q, at(y, nv), run.u, run.p, y, q, scratch)
    for i in range(nv):
        v[i] = y[nv + i]
    refresh(e, run.t_new, q, v, run, scratch)
    status = place(e, run.t_new, q, v, run, scratch)
    if status == GOOD and run.has_closure > 0:
        status = project(e, run.t_new, q, v, run, scratch)
    if status != GOOD:
        return status
    run.is_fresh = 0
    run.steps += 1 - run.is_stopping
    run.phase = EVENTS if run.ne > 0 and run.is_stopping == 0 else SAMPLING
    return GOOD


@loop
def keep(e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """The new state becomes the state; gaps, rates and places of unilateral rows are those there.

    Steps look at nothing else of their beginning.
    """
    status = commit(e, run, scratch, event_log)
    if is_at_end(run.t, run.q, run.v, run) == 1:
        there = run.end
        sides = run.sides
        for k in range(run.nb):
            sides.gap[k] = there.gap[k]
            sides.laws[k].spare[0] = there.laws[k].spare[0]
        for r in range(run.nr):
            sides.rate[r] = there.rate[r]
    else:
        one_sided(e, run.t, run.q, run.v, run.sides, run, scratch)
    return status


MOREAU = MappingProxyType({"start": set_out, "attempt": one_step, "land": stand, "commit": keep})
"""The phases of Moreau and Jean's steps, which `advance` calls."""

TIGHT: tuple[Loop[..., Any], ...] = (moreau_step, place, note_modes)
"""Loops in which its steps spend their time, over a few rows and velocities (`compile_loops`)."""
