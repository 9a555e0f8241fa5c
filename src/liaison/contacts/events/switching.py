"""Switching: where a mode ends, what the next one is, and the impact between them.

`march` lets the time loop run; where it stops because a mode ends, contacts that close bring an
impact, the forces and accelerations of all that touches determine the next mode, and the time loop
goes on. All events are noted: a row with the velocities before, and one for each event.

Events of contacts, noted row by row: impacts, changes of modes, several motions.

Public names: march, switch. Source: docs/theory/one_sided.md (mode-1), note_impacts, note_changes,
note_several, keep_impacts.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.events.log import (
    BEFORE,
    CLOSES,
    CUT_SHORT,
    ENTERS,
    GAINS,
    IMPACTS,
    KICKS,
    LEAVES,
    OPENS,
    RESTS,
    SEVERAL,
    SLIPS,
    STICKS,
    Event,
    copy_row,
    note,
    rows_of_a_switch,
)
from liaison.simulation.events.windows import sign_of
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import (
    BAD_GAP,
    BAD_SIDE,
    DEGENERATE,
    FINISHED,
    FULL,
    GOOD,
    NO_MODE,
    SINGULAR_MASS,
    STANDSTILL,
    STOPPED,
    STRUCK,
    SWITCHING,
    TRY,
    Entries,
    Run,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.recording import keep, record
from liaison.simulation.steps.sides_layout import (
    CLOSED,
    FRICTION,
    GAP,
    LOCKED,
    OPEN,
    RATE,
    SHARED,
    SLIP,
    STICK,
    Sides,
)
from liaison.simulation.steps.stepsize import note_jump
from liaison.solvers.impacts.sequence import coupled_contacts
from liaison.solvers.linear.dense import largest_in

from .bearings import solve_motion
from .edges import find_edges
from .metric import measure
from .modal import meet_closures
from .modal_entries import BROKEN, modal_events
from .next_mode import find_mode
from .touching import find_touching, still, strike
from .turning import divide_turn, go_on_turned, renew_ways


@loop
def keep_impacts(run: Run, event_log: ptr) -> None:
    """Of events at the start only impacts are noted, after the state before them."""
    state = run.nq + run.nv
    kept = 1
    for k in range(1, run.event_count):
        what = Event(at(event_log, k * (Event.header + state))).what
        if (what - IMPACTS) * (what - GAINS) * (what - CUT_SHORT) == 0:
            copy_row(k, kept, state, event_log)
            kept += 1
    run.event_count = kept if kept > 1 else 0


@loop
def was_hit(sides: Sides, b: i64) -> i64:
    """1 if a block had an impulse in the impact just solved."""
    k = sides.cone_of[b]
    if k < 0:
        return 0
    return 1 if sides.touching[sides.active + sides.cone[k].first] > 0.0 else 0


@loop
def note_what(b: i64, what: i64, run: Run, event_log: ptr) -> None:
    """One more row: an event of a block, with the state as it is now."""
    note(what, b, -1, run.t, 0.0, run.log_q, run.q, run.log_v, run.v, run.event_count, event_log)
    run.event_count += 1


@loop
def note_impact(b: i64, sides: Sides, run: Run, event_log: ptr) -> None:
    """An impact on one contact, with how many were hit together with it and change its answer."""
    m = sides.active
    impulse = sides.touching[m:]
    A = sides.matrix
    count = coupled_contacts(sides.cone_of[b], m, sides.cones, A, sides.cone, sides.limits, impulse)
    q = run.log_q
    v = run.log_v
    note(IMPACTS, b, count, run.t, 0.0, q, run.q, v, run.v, run.event_count, event_log)
    run.event_count += 1


@loop
def note_impacts(sides: Sides, limit: f64, run: Run, event_log: ptr) -> None:
    """An impact on every contact that took part, rest where what is left of it is nothing.

    What is to be known of the impact as a whole is noted on the last of them.
    """
    last = 0
    for b in range(sides.nb):
        block = sides.blocks[b]
        if block.kind != FRICTION and was_hit(sides, b) == 1:
            last = b
            note_impact(b, sides, run, event_log)
            bounces = 1 if sides.seen.laws[b].restitution > 0.0 else 0
            slow = max(limit, sides.unseen) * sides.scales.rate[b]
            if sides.before[b] == CLOSED:
                bounces = 0
            if bounces == 1 and sides.seen.rate[block.first] <= slow:
                note_what(b, RESTS, run, event_log)
    if sides.energy > 0.0:
        note_what(last, GAINS, run, event_log)
    if sides.unended > 0.0:
        note_what(last, CUT_SHORT, run, event_log)


@loop
def note_several(sides: Sides, run: Run, event_log: ptr) -> None:
    """That slipping contacts have several motions, noted on each that slips."""
    for b in range(sides.nb):
        slips = 1 if sides.before[b] == SLIP or sides.mode[b] == SLIP else 0
        is_friction = 1 if sides.blocks[b].kind == FRICTION else 0
        if sides.motions > 1 and is_friction == 1 and slips == 1:
            note_what(b, SEVERAL, run, event_log)


@loop
def note_changes(sides: Sides, run: Run, event_log: ptr) -> None:
    """Every block whose mode is another one now, or that slips another way after a real slip."""
    for b in range(sides.nb):
        kind = sides.blocks[b].kind
        mode = sides.mode[b]
        slipped = 1 if sides.blocks[b].rows == 1 else sides.fast[b]
        turns = 1 if kind == FRICTION and mode == SLIP and sides.ended[b] == 1 else 0
        if slipped == 0 and sides.before[b] == SLIP:
            turns = 0
        if mode != sides.before[b] or turns == 1:
            what = OPENS
            if kind == FRICTION:
                what = STICKS if mode == STICK else SLIPS
                if mode == OPEN:
                    what = OPENS
            elif kind == RATE:
                what = ENTERS if mode == CLOSED else LEAVES
            elif mode == CLOSED:
                what = CLOSES
            sides.fast[b] = 0
            note_what(b, what, run, event_log)


SAME_INSTANT, PATIENCE = 1e-13, 1000
"""Switches closer than this part of the time, or of its unit, stand still; so many may."""

UNDECIDED, MOST_EASE = 20, 1e5
"""Switches at one instant after which accelerations count as none up to ten times what they did."""

RESOLVED = 1.5e-7
"""Speed, at positions of 1, of a jump whose height is rounding, all in units: u²/2g ≈ 1e-15 m."""

AGAIN, MOST_UNSEEN = 3, 1e-4
"""Switches at one instant after which speeds of jumps count as rounding, up to this one."""

HASTE, LONG, EACH_TIME, MOST_HASTY = 1e-4, 200, 20, 1e-3
"""Switches closer than this, in the unit of time, are hasty; after so many in a row speeds of jumps
count as none, twice as large ones after every further few, up to the last: a hop of 5e-8 m."""

STRIKES = 2
"""Impacts at one instant: after one of contacts, one of relations of rates that it broke."""

UNMET = 1e4
"""Times the rate that is none: past a boundary by less than this a relation of rates is entered."""

VANISHED = 1e-6
"""A row of a rate that is shorter than this, in units, says nothing of velocities any more."""

LEAST = 1e-12
"""A gap, a rate or a force that is none between two looks, in its unit."""

TINY = 1e-300


@loop
def march(
    sides: Sides, e: Entries, run: Run, scratch: ptr, records: ptr, event_log: ptr, tries: i64
) -> i64:
    """As `advance`, through all modes."""
    if sides.is_begun == 0:
        status = begin_sides(sides, e, run, scratch, event_log)
        if status != GOOD:
            return status
        sides.is_begun = 1
    if sides.is_begun == 1:
        status = advance(e, run, scratch, records, event_log, 0)
        if status != GOOD or run.phase != TRY:
            return status
        new_signs(sides, run, scratch)
        sides.is_begun = 2
    status = step_on(sides, e, run, scratch, records, event_log, tries)
    while status == STOPPED and run.is_stopping == SWITCHING:
        left = run.event_capacity - run.event_count
        if run.recorded >= run.capacity or left < rows_of_a_switch(sides.nb):
            return FULL
        status = switch(sides, e, run, scratch, records, event_log)
        if status == GOOD:
            status = step_on(sides, e, run, scratch, records, event_log, tries)
    return status


@loop
def step_on(
    sides: Sides, e: Entries, run: Run, scratch: ptr, records: ptr, event_log: ptr, tries: i64
) -> i64:
    """As `advance`, in one mode: every step begins with the ways that slips have there."""
    status = advance(e, run, scratch, records, event_log, 0)
    while status == GOOD and tries > 0:
        if renew_ways(sides, e, run, scratch) > 0 and run.is_adaptive == 0:
            divide_turn(sides, e, run, scratch)
        status = advance(e, run, scratch, records, event_log, 1)
        tries -= 1
    return status


@loop
def begin_sides(sides: Sides, e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Rejects a start on the forbidden side; impact and modes of what touches there."""
    v = run.v
    look(sides, run, scratch)
    limit = run.start_tolerance * (1.0 + largest_in(sides.nv, v, sides.scales.velocity))
    for b in range(sides.nb):
        kind = sides.blocks[b].kind
        u = sides.seen.rate[sides.blocks[b].first]
        run.detail[0] = b
        if kind == GAP and sides.seen.gap[b] < -run.start_tolerance * sides.scales.gap[b]:
            run.worst = -sides.seen.gap[b]
            return BAD_GAP
        if kind == GAP:
            sides.inside = max(sides.inside, -sides.seen.gap[b] / sides.scales.gap[b])
        if kind == RATE and u < -limit * sides.scales.rate[b]:
            run.worst = -u
            return BAD_SIDE
    note(BEFORE, sides.own, -1, run.t, 0.0, run.nq, run.q, run.nv, v, 0, event_log)
    run.event_count = 1
    status = change_mode(sides, e, run, scratch, event_log)
    keep_impacts(run, event_log)
    for b in range(sides.nb):
        sides.at_start[b] = sides.mode[b]
        sides.before[b] = SLIP
    note_several(sides, run, event_log)
    return status


@loop
def look(sides: Sides, run: Run, scratch: ptr) -> None:
    """All numbers at the present state, and the speed, in units, below which gaps open unseen."""
    sides.unseen = RESOLVED * sqrt(largest_in(run.nq, run.q, sides.scales.position))
    # where time stands still, ever more of a jump is rounding
    for _ in range(AGAIN, sides.switches):
        sides.unseen = min(2.0 * sides.unseen, MOST_UNSEEN)
    # so where contacts with restitution chatter on and on
    for _ in range((sides.hasty - LONG) // EACH_TIME):
        sides.unseen = min(2.0 * sides.unseen, max(sides.unseen, MOST_HASTY))
    measure(sides, run.t, run.q, run.v, run.u, run.p, scratch)


@loop
def switch(sides: Sides, e: Entries, run: Run, scratch: ptr, records: ptr, event_log: ptr) -> i64:
    """The next mode, at an instant where one ended; GOOD, or why there is none."""
    time = sides.scales.time[0]
    sides.hasty = sides.hasty + 1 if run.t - sides.t_switch <= HASTE * time else 0
    if run.t - sides.t_switch > SAME_INSTANT * (time + abs(run.t)):
        sides.switches = 0
        sides.ease = 1.0
    sides.t_switch = run.t
    sides.switches += 1
    if sides.switches % UNDECIDED == 0:
        sides.ease = min(10.0 * sides.ease, MOST_EASE)
    if sides.switches > PATIENCE:
        return STANDSTILL
    look(sides, run, scratch)
    before = run.event_count
    if run.bent > 0:
        take_kick(sides, run, scratch, event_log)
    if vanishing(sides, run.v, run) == 1:
        return DEGENERATE
    for b in range(sides.nb):
        sides.ended[b] = run.fired[sides.own + b]
    go_on_turned(sides)
    status = find_edges(sides, run, scratch)
    if status != GOOD:
        return status
    look(sides, run, scratch)
    status = change_mode(sides, e, run, scratch, event_log)
    if status != GOOD:
        return status
    if run.records_steps > 0 and run.event_count > before:
        record(e, run.t, run.q, run.v, run, scratch, records)
    keep(run)
    go_on(sides, run, scratch)
    return GOOD


@loop
def take_kick(sides: Sides, run: Run, scratch: ptr, event_log: ptr) -> None:
    """Velocities that closures have after the rate of one jumped; contacts meet them as they are.

    What the impulses of contacts change besides leaves closures alone, so that both are one impact.
    """
    row = run.bent - 1
    run.bent = 0
    note_jump(BEFORE, row, run.event_count, run, event_log)
    meet_closures(sides, run.v)
    note_jump(KICKS, row, run.event_count + 1, run, event_log)
    run.event_count += 2
    look(sides, run, scratch)


@loop
def go_on(sides: Sides, run: Run, scratch: ptr) -> None:
    """The time loop takes its next step from here, in the new mode."""
    run.ledger.event = STRUCK
    run.is_stopping = 0
    run.is_fresh = 0
    run.phase = TRY if run.t < run.t_end else FINISHED
    new_signs(sides, run, scratch)


@loop
def vanishing(sides: Sides, v: ptr, run: Run) -> i64:
    """1 if a rate is on its boundary where its row vanishes, or is held and gets broken: BAD."""
    nv = sides.nv
    for b in range(sides.nb):
        block = sides.blocks[b]
        u = sides.seen.rate[block.first]
        if sides.mode[b] == LOCKED and u < -0.5 * BROKEN * sides.scales.rate[b]:
            sides.bad = b
            run.detail[0] = b
            return 1
        if block.kind == RATE and sides.mode[b] == OPEN:
            D = sides.seen.D[block.first]
            length = 0.0
            for i in range(nv):
                length = max(length, abs(D[i]) * sides.scales.local[i])
            is_slow = 1 if u <= still(sides, v) * sides.scales.rate[b] else 0
            if is_slow == 1 and length <= VANISHED * sides.scales.gap[b]:
                sides.bad = b
                run.detail[0] = b
                return 1
    return 0


@loop
def change_mode(sides: Sides, e: Entries, run: Run, scratch: ptr, event_log: ptr) -> i64:
    """Impact and next mode at the present state, measured already; both noted."""
    v = run.v
    for b in range(sides.nb):
        sides.before[b] = sides.mode[b]
    for _ in range(STRIKES):
        limit = still(sides, v)
        find_touching(sides, limit)
        if approaches(sides, limit) == 0:
            break
        before = sides.tv
        for i in range(sides.nv):
            before[i] = v[i]
        sides.energy = strike(sides, v)
        look(sides, run, scratch)
        note_impacts(sides, limit, run, event_log)
    if sides.nbearings > 0:
        # what rests is held by the loads that bearings have while it is held
        find_touching(sides, still(sides, v))
        solve_motion(sides, run.t, run.q, v, run.u, run.p, scratch)
    failure = find_mode(sides, still(sides, v))
    if failure != 0:
        return NO_MODE if failure == 1 else SINGULAR_MASS
    note_changes(sides, run, event_log)
    note_several(sides, run, event_log)
    return project(e, run.t, run.q, v, run, scratch)


@loop
def approaches(sides: Sides, limit: f64) -> i64:
    """1 if something that touches goes on closing."""
    for b in range(sides.nb):
        block = sides.blocks[b]
        # a rate is met at an instant that is found as well as the state there is known
        least = limit * UNMET if block.kind == RATE else limit
        is_closing = 1 if sides.seen.rate[block.first] < -least * sides.scales.rate[b] else 0
        if block.kind != FRICTION and sides.mode[b] == CLOSED and is_closing == 1:
            return 1
    return 0


@loop
def new_signs(sides: Sides, run: Run, scratch: ptr) -> None:
    """What ends of modes are seen from: open sides are positive, also where they just opened."""
    probe = run.probe
    q = run.q
    sides.watches = 0
    for b in range(sides.nb):
        sides.level[b] = 0.0
    modal_events(sides, run.t, q, run.v, run.u, run.p, q, probe, scratch)
    for b in range(sides.nb):
        i = sides.own + b
        value = probe[i]
        if sides.blocks[b].kind != FRICTION and sides.mode[b] == OPEN:
            # what opened below zero closes where it opened
            sides.level[b] = min(value, 0.0)
            value = max(value, TINY)
        # CLOSED and STICK are one number; they hold, though not by the forces nearest zero, or
        # just so: rows that repeat each other end together, where none has an end of its own
        is_last = 1 if value <= 0.0 or sides.ended[b] == SHARED else 0
        sides.watched[b] = is_last if sides.mode[b] == STICK else 0
        if sides.watched[b] == 1:
            sides.watches += 1
            value = TINY
        run.sign[i] = sign_of(value)
        run.before[i] = value
        run.noise[i] = LEAST * end_unit(sides, b)
        # CLOSED and STICK are one number
        run.is_force[i] = 1 if sides.mode[b] == STICK else 0
        run.streak[i] = 0


@loop
def end_unit(sides: Sides, b: i64) -> f64:
    """The unit of what falls through zero where the mode of a block ends."""
    mode = sides.mode[b]
    kind = sides.blocks[b].kind
    if kind == GAP and mode == OPEN:
        return float(sides.scales.gap[b])
    # CLOSED and STICK are one number
    return float(sides.scales.force[b] if mode == STICK else sides.scales.rate[b])
