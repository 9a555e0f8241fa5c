"""Switching: where a mode ends, what the next one is, and the impact between them.

`march` lets the time loop run; where it stops because a mode ends, contacts that close bring an
impact, the forces and accelerations of all that touches tell the next mode, and the time loop goes
on. All that happens is noted: a row with the velocities before, one for each thing that happened.

Public names: march, switch.

Source: docs/theory/one_sided.md (mode-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.events.events import note, sign_of
from liaison.simulation.steps.advance import advance
from liaison.simulation.steps.layout import (
    BAD_GAP,
    BAD_SIDE,
    CAPACITY,
    DEGENERATE,
    DETAIL,
    EVENT_CAPACITY,
    FINISHED,
    FULL,
    GOOD,
    HAPPENED,
    IS_FRESH,
    IS_STOPPING,
    M_FIRED,
    M_STREAK,
    NO_MODE,
    NQ,
    O_BEFORE,
    O_P,
    O_PROBE,
    O_Q,
    O_SIGN,
    O_U,
    O_V,
    PHASE,
    RECORDED,
    RECORDS_STEPS,
    SINGULAR_MASS,
    STANDSTILL,
    START_TOLERANCE,
    STOPPED,
    SWITCHING,
    T_END,
    TRY,
    WORST,
    T,
)
from liaison.simulation.steps.projection import project
from liaison.simulation.steps.recording import keep, record
from liaison.simulation.steps.sides_layout import (
    B_FIRST,
    B_KIND,
    BAD,
    BEARINGS,
    CLOSED,
    EASE,
    ENERGY,
    FIELDS,
    FRICTION,
    GAP,
    HASTY,
    INSIDE,
    IS_BEGUN,
    LOCKED,
    M_BEFORE,
    M_BLOCKS,
    M_ENDED,
    M_MODES,
    M_START,
    M_WATCHED,
    NB,
    NV,
    O_D,
    O_GAP,
    O_LEVEL,
    O_RATE,
    O_TV,
    OPEN,
    OWN,
    RATE,
    SHARED,
    SLIP,
    STICK,
    SWITCHES,
    T_SWITCH,
    UNSEEN,
    WATCHED,
)
from liaison.solvers.linear.dense import largest

from .bearings import solve_motion
from .edges import find_edges
from .modal import measure
from .modal_entries import BROKEN, modal_events
from .next_mode import find_mode
from .notes import keep_impacts, note_changes, note_impacts, note_several
from .touching import TOUCH, find_touching, still, strike

SAME_INSTANT, PATIENCE = 1e-13, 1000
"""Switches closer than this part of the time (or of 1 s) stand still; so many may."""

UNDECIDED, MOST_EASE = 20, 1e5
"""Switches at one instant after which accelerations count as none up to ten times what they did."""

RESOLVED = 1.5e-7
"""Speed [m/s], at positions of 1 m, of a jump whose height is rounding: u²/2g ≈ 1e-15 m."""

AGAIN, MOST_UNSEEN = 3, 1e-4
"""Switches at one instant after which speeds of jumps count as rounding, up to this one [m/s]."""

HASTE, LONG, EACH_TIME, MOST_HASTY = 1e-4, 200, 20, 1e-3
"""Switches closer than this [s] are hasty; after so many in a row speeds of jumps count as none,
twice as large ones after every further few, up to the last [m/s]: a hop of 5e-8 m."""

STRIKES = 2
"""Impacts at one instant: after one of contacts, one of relations of rates that it broke."""

UNMET = 1e4
"""Times the rate that is none: past a boundary by less than this a relation of rates is entered."""

VANISHED = 1e-6
"""A row of a rate that is shorter than this says nothing of velocities any more."""

TINY = 1e-300


@loop
def march(
    c: iptr, s: ptr, e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr, happened: ptr, tries: i64
) -> i64:
    """As `advance`, through all modes."""
    if c[IS_BEGUN] == 0:
        status = begin_sides(c, s, e, w, n, scratch, happened)
        if status != GOOD:
            return status
        c[IS_BEGUN] = 1
    if c[IS_BEGUN] == 1:
        status = advance(e, w, n, scratch, records, happened, 0)
        if status != GOOD or n[PHASE] != TRY:
            return status
        new_signs(c, s, w, n, scratch)
        c[IS_BEGUN] = 2
    status = advance(e, w, n, scratch, records, happened, tries)
    while status == STOPPED and n[IS_STOPPING] == SWITCHING:
        if n[RECORDED] >= n[CAPACITY] or n[EVENT_CAPACITY] - n[HAPPENED] < 5 * c[NB] + 3:
            return FULL
        status = switch(c, s, e, w, n, scratch, records, happened)
        if status == GOOD:
            status = advance(e, w, n, scratch, records, happened, tries)
    return status


@loop
def begin_sides(c: iptr, s: ptr, e: iptr, w: ptr, n: iptr, scratch: ptr, happened: ptr) -> i64:
    """Refuses a start on the forbidden side; impact and modes of what touches there."""
    v = at(w, n[O_V])
    look(c, s, w, n, scratch)
    limit = w[START_TOLERANCE] * (1.0 + largest(c[NV], v))
    for b in range(c[NB]):
        kind = c[c[M_BLOCKS] + FIELDS * b + B_KIND]
        u = s[c[O_RATE] + c[c[M_BLOCKS] + FIELDS * b + B_FIRST]]
        n[DETAIL] = b
        if kind == GAP and s[c[O_GAP] + b] < -w[START_TOLERANCE]:
            w[WORST] = -s[c[O_GAP] + b]
            return BAD_GAP
        if kind == GAP:
            s[INSIDE] = max(s[INSIDE], -s[c[O_GAP] + b])
        if kind == RATE and u < -limit:
            w[WORST] = -u
            return BAD_SIDE
    note(c[OWN], w[T], at(w, n[O_Q]), v, 0, n, happened)
    n[HAPPENED] = 1
    status = change_mode(c, s, e, w, n, scratch, happened)
    keep_impacts(n, happened)
    for b in range(c[NB]):
        c[c[M_START] + b] = c[c[M_MODES] + b]
        c[c[M_BEFORE] + b] = SLIP
    note_several(c, w, n, happened)
    return status


@loop
def look(c: iptr, s: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """All numbers at the present state, and the speed below which a gap opens unseen."""
    s[UNSEEN] = RESOLVED * sqrt(largest(n[NQ], at(w, n[O_Q])))
    # where time stands still, ever more of a jump is rounding
    for _ in range(AGAIN, c[SWITCHES]):
        s[UNSEEN] = min(2.0 * s[UNSEEN], MOST_UNSEEN)
    # so where contacts with restitution chatter on and on
    for _ in range((c[HASTY] - LONG) // EACH_TIME):
        s[UNSEEN] = min(2.0 * s[UNSEEN], max(s[UNSEEN], MOST_HASTY))
    measure(c, s, w[T], at(w, n[O_Q]), at(w, n[O_V]), at(w, n[O_U]), at(w, n[O_P]), scratch)


@loop
def switch(
    c: iptr, s: ptr, e: iptr, w: ptr, n: iptr, scratch: ptr, records: ptr, happened: ptr
) -> i64:
    """The next mode, at an instant where one ended; GOOD, or why there is none."""
    c[HASTY] = c[HASTY] + 1 if w[T] - s[T_SWITCH] <= HASTE else 0
    if w[T] - s[T_SWITCH] > SAME_INSTANT * (1.0 + abs(w[T])):
        c[SWITCHES] = 0
        s[EASE] = 1.0
    s[T_SWITCH] = w[T]
    c[SWITCHES] += 1
    if c[SWITCHES] % UNDECIDED == 0:
        s[EASE] = min(10.0 * s[EASE], MOST_EASE)
    if c[SWITCHES] > PATIENCE:
        return STANDSTILL
    look(c, s, w, n, scratch)
    if vanishing(c, s, at(w, n[O_V]), n) == 1:
        return DEGENERATE
    before = n[HAPPENED]
    for b in range(c[NB]):
        c[c[M_ENDED] + b] = n[n[M_FIRED] + c[OWN] + b]
    status = find_edges(c, s, w, n, scratch)
    if status != GOOD:
        return status
    look(c, s, w, n, scratch)
    status = change_mode(c, s, e, w, n, scratch, happened)
    if status != GOOD:
        return status
    if n[RECORDS_STEPS] > 0 and n[HAPPENED] > before:
        record(e, w[T], at(w, n[O_Q]), at(w, n[O_V]), w, n, scratch, records)
    keep(w, n)
    go_on(c, s, w, n, scratch)
    return GOOD


@loop
def go_on(c: iptr, s: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """The time loop takes its next step from here, in the new mode."""
    n[IS_STOPPING] = 0
    n[IS_FRESH] = 0
    n[PHASE] = TRY if w[T] < w[T_END] else FINISHED
    new_signs(c, s, w, n, scratch)


@loop
def vanishing(c: iptr, s: ptr, v: ptr, n: iptr) -> i64:
    """1 if a rate is on its boundary where its row vanishes, or is held and gets broken: BAD."""
    nv = c[NV]
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        u = s[c[O_RATE] + block[B_FIRST]]
        if c[c[M_MODES] + b] == LOCKED and u < -0.5 * BROKEN:
            c[BAD] = b
            n[DETAIL] = b
            return 1
        if block[B_KIND] == RATE and c[c[M_MODES] + b] == OPEN:
            D = at(s, c[O_D] + block[B_FIRST] * nv)
            if u <= still(c, v) and largest(nv, D) <= VANISHED:
                c[BAD] = b
                n[DETAIL] = b
                return 1
    return 0


@loop
def change_mode(c: iptr, s: ptr, e: iptr, w: ptr, n: iptr, scratch: ptr, happened: ptr) -> i64:
    """Impact and next mode at the present state, measured already; both noted."""
    v = at(w, n[O_V])
    for b in range(c[NB]):
        c[c[M_BEFORE] + b] = c[c[M_MODES] + b]
    for _ in range(STRIKES):
        limit = still(c, v)
        find_touching(c, s, limit)
        if approaches(c, s, limit) == 0:
            break
        before = at(s, c[O_TV])
        for i in range(c[NV]):
            before[i] = v[i]
        s[ENERGY] = strike(c, s, v)
        look(c, s, w, n, scratch)
        note_impacts(c, s, limit, w, n, happened)
    if c[BEARINGS] > 0:
        # what rests is held by the loads that bearings have while it is held
        find_touching(c, s, still(c, v))
        solve_motion(c, s, w[T], at(w, n[O_Q]), v, at(w, n[O_U]), at(w, n[O_P]), scratch)
    found = find_mode(c, s, still(c, v))
    if found != 0:
        return NO_MODE if found == 1 else SINGULAR_MASS
    note_changes(c, w, n, happened)
    note_several(c, w, n, happened)
    return project(e, w[T], at(w, n[O_Q]), v, w, n, scratch)


@loop
def approaches(c: iptr, s: ptr, limit: f64) -> i64:
    """1 if something that touches goes on closing."""
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        # a rate is met at an instant that is found as well as the state there is known
        least = limit * UNMET if block[B_KIND] == RATE else limit
        is_closing = 1 if s[c[O_RATE] + block[B_FIRST]] < -least else 0
        if block[B_KIND] != FRICTION and c[c[M_MODES] + b] == CLOSED and is_closing == 1:
            return 1
    return 0


@loop
def new_signs(c: iptr, s: ptr, w: ptr, n: iptr, scratch: ptr) -> None:
    """What ends of modes are seen from: open sides are positive, also where they just opened."""
    probe = at(w, n[O_PROBE])
    q = at(w, n[O_Q])
    c[WATCHED] = 0
    for b in range(c[NB]):
        s[c[O_LEVEL] + b] = 0.0
    modal_events(c, s, w[T], q, at(w, n[O_V]), at(w, n[O_U]), at(w, n[O_P]), q, probe, scratch)
    for b in range(c[NB]):
        i = c[OWN] + b
        value = probe[i]
        if c[c[M_BLOCKS] + FIELDS * b + B_KIND] != FRICTION and c[c[M_MODES] + b] == OPEN:
            # what opened below zero closes where it opened
            s[c[O_LEVEL] + b] = min(value, 0.0)
            value = max(value, TINY)
        # CLOSED and STICK are one number; they hold, though not by the forces nearest zero, or
        # just so: rows that repeat each other end together, where none has an end of its own
        is_last = 1 if value <= 0.0 or c[c[M_ENDED] + b] == SHARED else 0
        c[c[M_WATCHED] + b] = is_last if c[c[M_MODES] + b] == STICK else 0
        if c[c[M_WATCHED] + b] == 1:
            c[WATCHED] += 1
            value = TINY
        w[n[O_SIGN] + i] = sign_of(value)
        w[n[O_BEFORE] + i] = value
        slope = probe[i + c[NB]]
        if value <= TOUCH and slope >= -still(c, at(w, n[O_V])):
            # it just opened: what it falls is rounding
            slope = max(slope, 0.0)
        w[n[O_SIGN] + i + c[NB]] = sign_of(slope)
        w[n[O_BEFORE] + i + c[NB]] = slope
        n[n[M_STREAK] + i] = 0
