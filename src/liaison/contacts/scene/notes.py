"""Event log of the contacts of a scene by pairs of bodies: closes, opens, sticks, slips.

Points of one pair count together. A pair closes when it first carries, and opens when it has come
apart by the distance within which bodies count as touching; the recorded instant is that at which
it last carried. Stick and slip are events when they have held for some steps, an impact when it is
faster than what gravity and the residual of the impulses make of nothing. So rest with its noise is
no event. Impacts that go on every few steps are recorded as rest.

Public names: note_contacts.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.simulation.events.log import CLOSES, IMPACTS, OPENS, RESTS, SLIPS, STICKS, note
from liaison.simulation.steps.layout import Run

from .layout import Contact, Live, World
from .rates import rate_at, strongest_impulse
from .turning import turning

CODES = 16
"""Numbers of events a group of friction: sliding, rolling, pivoting."""

APART, CLOSED = 0, 1
BARE, STICK, SLIDE = 0, 1, 2
"""Modes of a pair, and of each group of its friction; BARE: none is recorded yet."""

HOLD = 3
"""Steps that stick or slip must hold, and within which impacts are one."""

NOISE = 10.0
"""Times the residual of impulses, as a velocity, below which rates count as zero."""

FALL = 0.01
"""Part of what gravity does in a step, below which what was apart closes without an impact."""

MIXED = 2654435761
WIDE = 1048576  # more than bodies and planes together


@loop
def note_contacts(run: Run, world: World, event_log: ptr) -> None:
    """Events of a step whose impulses are known, velocities being still those before it."""
    noise = NOISE * max(world.residual, world.tolerance) * strongest_impulse(world) + 1e-12
    begin_pairs(world)
    for c in range(world.contacts):
        gather(world.contact[c], world)
    g = world.gravity
    weight = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    kept = 0
    for i in range(world.followed):
        pair = world.pair[i]
        if pair.is_seen == 0:
            leave(pair, weight, run, world, event_log)
        elif pair.load > 0.0:
            part = FALL if pair.mode == APART else 1.0
            landing = 1.5 * sqrt(2.0 * weight * pair.landing)
            press(pair, noise + part * world.h * weight + landing, noise, run, world, event_log)
            pair.landing = 0.5 * world.h * pair.approach if pair.mode != APART else 0.0
        if pair.mode != APART or run.steps - pair.hit <= HOLD:
            copy_pair(pair, world.pair[kept])
            kept += 1
    world.followed = kept


@loop
def copy_pair(one: Live, other: Live) -> None:
    """Another place for a pair that is followed."""
    for j in range(Live.header):
        other.ints[j] = one.ints[j]


@loop
def begin_pairs(world: World) -> None:
    """Pairs that are followed into the table, nothing seen of them yet."""
    for i in range(world.table):
        world.pair_table[i].key = 0
        world.pair_table[i].index = 0
    for i in range(world.followed):
        pair = world.pair[i]
        place = world.pair_table[slot_of_pair(pair.key, world)]
        place.key = pair.key
        place.index = i
        forget_step(pair)


@loop
def forget_step(pair: Live) -> None:
    """Nothing is seen of a pair in this step yet."""
    pair.is_seen = 0
    pair.is_hit = 0
    pair.load = 0.0
    pair.approach = 0.0
    pair.wait = 0.0
    pair.bounce = 0.0
    for g in range(3):
        pair.rates[g] = 0.0
        pair.friction[g] = 0.0


@loop
def slot_of_pair(key: i64, world: World) -> i64:
    """Where a pair is in the table, or would be."""
    place = int((key * MIXED) % world.table)
    while world.pair_table[place].key != 0 and world.pair_table[place].key != key:
        place = (place + 1) % world.table
    return place


@loop
def pair_of(contact: Contact, world: World) -> i64:
    """The number of the pair that a contact belongs to, followed from now on if it was not."""
    first = contact.body[0]
    if first < 0:
        first = world.candidate[contact.candidate].first
    second = contact.body[1]
    if first > second:
        first = second
        second = contact.body[0]
    key = int(1 + (first + world.planes) * WIDE + second)
    place = world.pair_table[slot_of_pair(key, world)]
    if place.key == 0:
        place.key = key
        place.index = world.followed
        pair = world.pair[world.followed]
        for j in range(Live.header):
            pair.ints[j] = 0
        pair.key = key
        pair.hit = -2 * HOLD
        world.followed += 1
    return int(place.index)


@loop
def gather(contact: Contact, world: World) -> None:
    """What one contact adds to its pair: load, slip, and how it came together."""
    pair = world.pair[pair_of(contact, world)]
    pair.is_seen = 1
    impulse = contact.force[0]
    if impulse > 0.0:
        pair.load += impulse
        x = rate_at(contact, 1, 0.0, world.next)
        y = rate_at(contact, 2, 0.0, world.next)
        pair.rates[0] = max(pair.rates[0], sqrt(x * x + y * y))
        pair.friction[0] = max(pair.friction[0], contact.friction)
        if contact.rolling > 0.0 or contact.pivoting > 0.0:
            x = turning(contact, contact.rows[4, 3:], world.next)
            y = turning(contact, contact.rows[5, 3:], world.next)
            pair.rates[1] = max(pair.rates[1], sqrt(x * x + y * y))
            pair.rates[2] = max(
                pair.rates[2], abs(turning(contact, contact.rows[3, 3:], world.next))
            )
            pair.friction[1] = max(pair.friction[1], contact.rolling)
            pair.friction[2] = max(pair.friction[2], contact.pivoting)
        u = rate_at(contact, 0, 0.0, world.speed)
        if -u > pair.approach:
            h = world.h
            pair.approach = -u
            # the gap is that midway
            pair.wait = min(max(0.5 * h - contact.gap / u, 0.0), h)
            pair.is_hit = 1 if rate_at(contact, 0, 0.0, world.free) >= 2.0 * u else 0
            pair.bounce = contact.restitution


@loop
def leave(pair: Live, weight: f64, run: Run, world: World, event_log: ptr) -> None:
    """A pair that is apart: it opened when it last carried.

    A step that ends an approach leaves half of its way; what has just landed may fall through it.
    """
    wait = 1.5 * sqrt(2.0 * pair.landing / weight) if weight > 0.0 else 0.0
    if pair.mode != APART and run.t + world.h - pair.since > wait:
        note_pair(OPENS, pair, pair.since, 0.0, run, world, event_log)
        pair.mode = APART
        for g in range(3):
            pair.rubbing[g] = BARE


@loop
def press(pair: Live, quiet: f64, noise: f64, run: Run, world: World, event_log: ptr) -> None:
    """A pair that carries: an impact, closing, stick and slip."""
    t = run.t + pair.wait
    bounces = 0
    rests = 0
    if pair.approach > quiet:
        rests = 1 if pair.bounce > 0.0 else 0
        if pair.is_hit == 1:
            soon = 1 if run.steps - pair.hit <= HOLD else 0
            pair.chain = pair.chain + 1 if soon == 1 else 0
            pair.hit = run.steps
            bounces = rests if pair.chain < HOLD else 0
            if soon == 0:
                note_pair(IMPACTS, pair, t, pair.approach, run, world, event_log)
    pair.since = t if bounces == 1 else run.t + world.h
    if bounces == 0:
        if pair.mode == APART:
            if rests == 1:
                note_pair(RESTS, pair, t, 0.0, run, world, event_log)
            note_pair(CLOSES, pair, t, 0.0, run, world, event_log)
        pair.mode = CLOSED
        size = 1e4 * world.touch
        for g in range(3):
            note_friction(g, pair, noise if g == 0 else noise / size, t, run, world, event_log)


@loop
def note_friction(
    g: i64, pair: Live, noise: f64, t: f64, run: Run, world: World, event_log: ptr
) -> None:
    """Stick or slip of a group: at once where a pair closes, else when it has held some steps."""
    if pair.friction[g] > 0.0:
        before = pair.rubbing[g]
        limit = noise if before == SLIDE else 4.0 * noise
        now = SLIDE if pair.rates[g] > limit else STICK
        if now == before:
            pair.held[g] = 0
        else:
            pair.changed[g] = run.t if pair.held[g] == 0 else pair.changed[g]
            pair.held[g] += 1
            if before == BARE or pair.held[g] >= HOLD:
                since = t if before == BARE else pair.changed[g]
                what = CODES * g + (SLIPS if now == SLIDE else STICKS)
                note_pair(what, pair, since, 0.0, run, world, event_log)
                pair.rubbing[g] = now
                pair.held[g] = 0


@loop
def note_pair(
    what: i64, pair: Live, t: f64, speed: f64, run: Run, world: World, event_log: ptr
) -> None:
    """One event more; of what a run begins with only impacts."""
    if run.steps > 0 or what == IMPACTS:
        key = pair.key - 1
        first = key // WIDE - world.planes
        note(
            what,
            first,
            key % WIDE,
            t,
            speed,
            0,
            event_log,
            0,
            event_log,
            run.event_count,
            event_log,
        )
        run.event_count += 1
