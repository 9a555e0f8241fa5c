"""What a step did to each block: impacts, gaps that close or open, friction that sticks or slips.

Public names: SLOW, still, least_hit, has_room, note_modes.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.events.log import (
    CLOSES,
    ENTERS,
    IMPACTS,
    LEAVES,
    OPENS,
    RESTS,
    SLIPS,
    STICKS,
    note,
)
from liaison.simulation.steps.layout import FULL, GOOD, Run
from liaison.simulation.steps.sides_layout import (
    CLOSED,
    GAP,
    OPEN,
    RATE,
    SLIP,
    STICK,
)
from liaison.solvers.impacts.sequence import coupled_contacts
from liaison.solvers.linear.dense import dot, largest_in

STILL = 1e-10
"""A slip slower than this, beside 1 + |v|, is none, all in units."""

SLOW = 1e-2
"""Rate [m/s], in units, below which a gap opens slowly, and one that is closed is not hit again."""


@loop
def still(k: i64, run: Run) -> f64:
    """Rates of a block below this are none."""
    size = 1.0 + largest_in(run.nv, run.v, run.scales.velocity)
    return float(STILL * size * run.scales.rate[k])


@loop
def least_hit(k: i64, run: Run) -> f64:
    """The speed of approach from which a gap is hit.

    One that stayed closed has what the last step left of its rate, since rows turn with bodies.
    """
    return float(SLOW * run.scales.rate[k] if run.mode[k] == CLOSED else still(k, run))


@loop
def has_room(run: Run) -> i64:
    """GOOD, or FULL where the events of one more step may not fit."""
    return GOOD if run.event_count + 4 * run.nb <= run.event_capacity else FULL


@loop
def note_modes(run: Run, event_log: ptr) -> None:
    """The mode of every block after the step, and an event for each that changed."""
    nb = run.nb
    modes = run.mode
    for k in range(nb):
        block = run.blocks[k]
        was = modes[k]
        if block.kind == GAP:
            modes[k] = gap_mode(k, was, run, event_log)
        elif block.kind == RATE:
            modes[k] = CLOSED if run.impulse[block.first] > 0.0 else OPEN
            if modes[k] != was:
                note_block(ENTERS if modes[k] == CLOSED else LEAVES, k, run.t, run, event_log)
        else:
            modes[k] = friction_mode(k, run)
            if modes[k] != was and modes[k] != OPEN:
                t = run.t if was != OPEN or block.load < 0 else run.t + wait_for(block.load, run)
                note_block(STICKS if modes[k] == STICK else SLIPS, k, t, run, event_log)


@loop
def wait_for(k: i64, run: Run) -> f64:
    """Time from the beginning of the step until a gap that closes is closed."""
    u = run.sides.rate[run.blocks[k].first]
    return float(min(max(run.sides.gap[k], 0.0) / -u, run.h) if u < 0.0 else 0.0)


@loop
def gap_mode(k: i64, was: i64, run: Run, event_log: ptr) -> i64:
    """OPEN or CLOSED, and what led there."""
    block = run.blocks[k]
    impulse = run.impulse[block.first]
    u = run.sides.rate[block.first]
    e = run.mid.laws[k].restitution
    hits = run.hits[k] if impulse > 0.0 and run.active[k] == 1 else 0
    if hits == 1:
        note_impact(k, run.t + wait_for(k, run), run, event_log)
    now = OPEN
    if run.active[k] == 1 and (hits == 0 or e <= 0.0):
        now = CLOSED if was == CLOSED or impulse > 0.0 else OPEN
    if now == CLOSED and was == OPEN:
        wait = wait_for(k, run)
        if hits == 0 and e > 0.0 and u < 0.0:
            note_block(RESTS, k, run.t + wait, run, event_log)
        note_block(CLOSES, k, run.t + wait, run, event_log)
    if now == OPEN and was == CLOSED:
        note_block(OPENS, k, run.t, run, event_log)
    return now


@loop
def friction_mode(k: i64, run: Run) -> i64:
    """OPEN without load, STICK inside the bound or without slip, else SLIP."""
    block = run.blocks[k]
    if run.active[k] == 0 or (block.load >= 0 and run.mode[block.load] == OPEN):
        return OPEN
    cone = run.cone[run.cone_of[k]]
    m = run.rows_chosen
    problem = run.problem
    slip = 0.0
    for i in range(cone.first, cone.first + cone.rows):
        u = problem.b[i] + dot(m, problem.A[i * m :], problem.P)
        slip += u * u
    return STICK if sqrt(slip) <= still(k, run) else SLIP


@loop
def note_impact(k: i64, t: f64, run: Run, event_log: ptr) -> None:
    """As `note_block`, with how many contacts of the step share in this impact."""
    problem = run.problem
    count = 0
    for b in range(run.nb):
        count += int(run.active[b])
    m = run.rows_chosen
    own = run.cone_of[k]
    shared = coupled_contacts(own, m, count, problem.A, run.cone, problem.limits, problem.P)
    v = at(run.y, run.nv)
    note(IMPACTS, k, shared, t, 0.0, run.nq, run.q, run.nv, v, run.event_count, event_log)
    run.event_count += 1


@loop
def note_block(what: i64, k: i64, t: f64, run: Run, event_log: ptr) -> None:
    """An event of a block: positions before, velocities after."""
    v = at(run.y, run.nv)
    note(what, k, -1, t, 0.0, run.nq, run.q, run.nv, v, run.event_count, event_log)
    run.event_count += 1
