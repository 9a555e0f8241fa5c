"""Rates of contacts with impulses, and what impulses still miss; impulses kept from step to step.

Public names: start_from, change_velocities, rate, rate_at, residual_of, note_scale,
strongest_impulse, guess, keep_impulses.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop
from liaison.program.loops.records import Rows
from liaison.solvers.cones.table import shrink

from .layout import Contact, Island, Twist, World

SOLVED, ROUNDED = 1e-12, 4e-15
"""Residual up to which rounding is not asked for, and rounding of a rate beside its terms."""

LEAST = 10
"""Contacts at least that may press as one."""

MIXED = 2654435761  # multiplier that spreads keys over the table


@loop
def start_from(island: Island) -> None:
    """Velocities with the impulses that are guessed."""
    for c in range(island.contacts):
        contact = island.contact[c]
        for r in range(3):
            change_velocities(contact, r, contact.force[r], island)


@loop
def change_velocities(contact: Contact, r: i64, impulse: f64, island: Island) -> None:
    """v += M⁻¹Dᵀ f of one row."""
    if impulse != 0.0:
        push = contact.push[3 + r]
        v = island.next[contact.body[1]].floats
        for i in range(6):
            v[i] += push[i] * impulse
        if contact.body[0] >= 0:
            other = island.next[contact.body[0]].floats
            back = contact.push[r]
            for i in range(6):
                other[i] += back[i] * impulse


@loop
def rate(contact: Contact, r: i64, island: Island) -> f64:
    """D v of one row, with what restitution adds."""
    return rate_at(contact, r, contact.right[r], island.next)


@loop
def rate_at(contact: Contact, r: i64, begin: f64, speeds: Rows[Twist]) -> f64:
    """D v of one row of a contact at these velocities of the bodies, added to `begin`."""
    row = contact.rows[3 + r]
    v = speeds[contact.body[1]].floats
    u = begin
    for i in range(6):
        u += row[i] * v[i]
    if contact.body[0] >= 0:
        other = speeds[contact.body[0]].floats
        row = contact.rows[r]
        for i in range(6):
            u += row[i] * other[i]
    return float(u)


@loop
def residual_of(mu: f64, island: Island) -> f64:
    """What the impulses miss of (scene-1), all at once, beside the strongest, as velocities.

    It is 1 where something is missed and no contact has an impulse, and 0 where what is missed is
    the rounding of the velocities that the rates are differences of. Impulses that only press
    against each other, as in a wedge with friction, may be as strong as one likes: no more of them
    counts than `note_scale` found. The strongest of other islands counts as `floor`.
    """
    worst = 0.0
    strongest = 0.0
    for c in range(island.contacts):
        contact = island.contact[c]
        f = contact.force
        a = contact.normal
        # a maximum would pass over what is not a number
        if not abs(f[0]) + abs(f[1]) + abs(f[2]) < 1e300:
            island.missed = 1e300
            return 1e300
        strongest = max(strongest, f[0] * a)
        worst = max(worst, abs(f[0] * a - max(f[0] * a - rate(contact, 0, island), 0.0)))
        if mu > 0.0:
            across = contact.across
            x = f[1] - rate(contact, 1, island) / across
            y = f[2] - rate(contact, 2, island) / across
            part = shrink(x, y, mu * contact.friction * f[0])
            worst = max(worst, across * max(abs(part * x - f[1]), abs(part * y - f[2])))
    strongest = min(strongest, island.scale)
    island.pressed = strongest
    island.missed = worst
    strongest = max(strongest, island.floor)
    if worst > SOLVED * strongest and worst <= ROUNDED * fastest(island):
        island.missed = 0.0
        return 0.0
    if strongest > 0.0:
        return float(worst / strongest)
    return 1.0 if worst > 0.0 else 0.0


@loop
def note_scale(island: Island) -> None:
    """The strongest impulse that counts, as a velocity: all contacts at the fastest approach."""
    approach = 0.0
    for c in range(island.contacts):
        approach = max(approach, -rate_at(island.contact[c], 0, 0.0, island.unloaded))
        approach = max(approach, -rate_at(island.contact[c], 0, 0.0, island.speed))
        approach = max(approach, abs(island.contact[c].right[0]))
    island.scale = max(island.widest, approach * float(max(island.contacts, LEAST)))


@loop
def fastest(island: Island) -> f64:
    """The largest sum of the terms that a rate of a contact is made of, signs aside."""
    most = 0.0
    for c in range(island.contacts):
        contact = island.contact[c]
        for r in range(3):
            total = abs(contact.right[r])
            for side in range(2):
                if contact.body[side] >= 0:
                    v = island.next[contact.body[side]].floats
                    row = contact.rows[3 * side + r]
                    for i in range(6):
                        total += abs(row[i] * v[i])
            most = max(most, total)
    return float(most)


@loop
def strongest_impulse(world: World) -> f64:
    """The strongest impulse, as the velocity it makes."""
    largest = 0.0
    for c in range(world.contacts):
        largest = max(largest, world.contact[c].force[0] * world.contact[c].normal)
    return largest


@loop
def slot_of(key: i64, world: World) -> i64:
    """Where a key is in the table of the step before, or would be."""
    size = world.table
    place = int((key * MIXED) % size)
    while world.kept_table[place].key != 0 and world.kept_table[place].key != key:
        place = (place + 1) % size
    return place


@loop
def key_of(c: i64, world: World) -> i64:
    """A number of the pair of a contact, positive."""
    pair = world.candidate[world.contact[c].candidate]
    own = (pair.first + world.planes) * 1048576 + pair.second
    return int(1 + 16 * own + pair.corner)


@loop
def guess_moments(contact: Contact, kept: i64, world: World) -> None:
    """The moments of the step before, of a pair that touched then."""
    for r in range(3):
        contact.moment[r] = world.kept_moment[kept, r] if kept >= 0 else 0.0


@loop
def keep_moments(c: i64, world: World) -> None:
    """Keeps the moments of a contact for the guess of the next step."""
    for r in range(3):
        world.kept_moment[c, r] = world.contact[c].moment[r]


@loop
def guess(world: World) -> None:
    """The impulses of the step before, of pairs that touched then."""
    for c in range(world.contacts):
        contact = world.contact[c]
        key = key_of(c, world)
        slot = world.kept_table[slot_of(key, world)]
        kept = slot.index if slot.key == key else -1
        for r in range(3):
            contact.force[r] = world.kept_force[kept, r] if kept >= 0 else 0.0
        guess_moments(contact, kept, world)


@loop
def keep_impulses(world: World) -> None:
    """Keeps the impulses for the guess of the next step."""
    for i in range(world.table):
        world.kept_table[i].key = 0
        world.kept_table[i].index = 0
    for c in range(world.contacts):
        key = key_of(c, world)
        slot = world.kept_table[slot_of(key, world)]
        slot.key = key
        slot.index = c
        for r in range(3):
            world.kept_force[c, r] = world.contact[c].force[r]
        keep_moments(c, world)
