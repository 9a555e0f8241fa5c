"""Islands of a scene: bodies that hang together by contacts, solved each by itself.

Planes hold no islands together. What an island needs is copied into a block of its own, in which
its impulses are found without a look at anything else: the order in which islands are solved, and
on which thread, is nowhere in their numbers.

Public names: solve_islands, solve_share, begin_shares, end_shares, STEP, PLACES, MANY.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.solve import solve_scene
from liaison.program.loops.language import at, f64, i64, loop, ptr

from .bodies import copy_twists
from .layout import FEW, Contact, Crew, Island, System, World
from .rates import LEAST, rate_at, residual_of, strongest_impulse
from .turning import solve_turning

STEP, PLACES = 0, 1
"""What is asked of islands: impulses of a step, or the shortest way out of each other."""

ENOUGH = 1e-3
"""Residual of ways that is enough."""

TOGETHER, BESIDE, ROUNDING = 1e-11, 1e-9, 1e-10
"""Residual that few contacts are solved to, alone and beside others, and above which a step with
few counts as missed."""

ALONE = 64
"""Contacts up to which one thread solves all islands."""

LIKELY = 0.5
"""Of the strongest impulse that is guessed: hardly ever the strongest is weaker."""

LESS, GAINED = 6, 1e-9
"""Times that restitution is made less, and work of impulses beside its terms that is rounding."""

TRIES, FEWER, MORE_TRIES = 4, 1, 16
"""Ways of the interior method that are tried, those where restitution may have none, and those of
a step that would be missed otherwise."""

MANY = 1000.0
"""Times the penetration that is left alone where contacts are many."""


@loop
def solve_islands(kind: i64, scratch: ptr, world: World) -> None:
    """Impulses of all contacts and velocities with them, which come in `next` without them.

    What impulses miss is taken beside the strongest of all islands, which is known afterwards: by
    the guess first, and again where that was stronger.
    """
    find_islands(world)
    crew = Crew(at(scratch, world.crew_at))
    workers = min(crew.workers, world.islands) if world.contacts > ALONE else 1
    divide(workers, world)
    island = Island(at(scratch, world.islands_at + 0 * world.island_words))
    floor = 0.0
    widest = 0.0
    if kind == STEP:
        widest = widest_approach(world) * float(max(world.contacts, LEAST))
        floor = LIKELY * min(strongest_impulse(world), widest)
    for w in range(workers):
        begin_islands(
            Island(at(scratch, world.islands_at + w * world.island_words)), floor, widest, world
        )
    solve_shares(kind, workers, crew, scratch, world)
    strongest = note_left(island.limit, world) if kind == STEP else 0.0
    if kind == STEP and world.excess > 1.0 and strongest < floor:
        for w in range(workers):
            Island(at(scratch, world.islands_at + w * world.island_words)).floor = strongest
            Island(at(scratch, world.islands_at + w * world.island_words)).above = (
                island.limit * strongest
            )
        solve_shares(kind, workers, crew, scratch, world)
        note_left(island.limit, world)
    if kind == STEP:
        world.is_limited = 0
        world.is_unfound = 0
        world.why = 0
    for w in range(workers):
        take_counts(kind, Island(at(scratch, world.islands_at + w * world.island_words)), world)


@loop
def take_counts(kind: i64, island: Island, world: World) -> None:
    """What was counted in a block."""
    world.sweeps += island.sweeps
    world.turns += island.turns
    if kind == STEP:
        world.is_limited = max(world.is_limited, island.limited)
        world.is_unfound = max(world.is_unfound, island.unfound)
        world.why = max(world.why, island.whys)


@loop
def divide(workers: i64, world: World) -> None:
    """Which thread solves each island: that with the fewest contacts so far."""
    for w in range(workers):
        world.root[w] = 0
    for k in range(world.islands):
        size = world.contact_first[k + 1] - world.contact_first[k]
        best = 0
        for w in range(1, workers):
            best = w if world.root[w] < world.root[best] else best
        world.worker[k] = best
        world.root[best] += size
        world.missed_by[k] = 1e300


@loop
def solve_shares(kind: i64, workers: i64, crew: Crew, scratch: ptr, world: World) -> None:
    """All islands, each thread its own; this one waits for the others."""
    begin_shares(kind, workers, crew)
    solve_share(0, kind, scratch, world)
    end_shares(workers, crew)


@loop
def begin_shares(kind: i64, workers: i64, crew: Crew) -> None:
    """Orders work of the other threads."""
    crew.kind = kind
    if workers > 1:
        x = crew.order
        crew.publish(crew.order[0] + 1.0, x, x, x, x, x, x, x)


@loop
def end_shares(workers: i64, crew: Crew) -> None:
    """Waits until the others have done what was ordered."""
    for w in range(1, workers):
        x = crew.done[w:]
        crew.until(crew.order[0], x, x, x, x, x, x, x)


@loop
def solve_share(me: i64, kind: i64, scratch: ptr, world: World) -> None:
    """The islands of one thread that miss too much."""
    island = Island(at(scratch, world.islands_at + me * world.island_words))
    for k in range(world.islands):
        if world.worker[k] == me and world.missed_by[k] > island.above:
            solve_island(k, kind, island, world)


@loop
def widest_approach(world: World) -> f64:
    """The fastest approach of all contacts, before the step and without impulses."""
    approach = 0.0
    for c in range(world.contacts):
        approach = max(approach, -rate_at(world.contact[c], 0, 0.0, world.free))
        approach = max(approach, -rate_at(world.contact[c], 0, 0.0, world.speed))
    return approach


@loop
def note_left(limit: f64, world: World) -> f64:
    """The residual of the step by what its islands miss; their strongest impulse."""
    strongest = 0.0
    missed = 0.0
    turning = 0.0
    for k in range(world.islands):
        strongest = max(strongest, world.pressed_by[k])
        missed = max(missed, world.missed_by[k])
        turning = max(turning, world.turning_missed[k])
    left = 1.0 if missed > 0.0 else 0.0
    if strongest > 0.0:
        left = missed / strongest
    world.left = max(left, turning)
    # moments wait for impulses in turns that end at the tolerance, however few there are
    world.excess = max(left / limit, turning / world.tolerance)
    return strongest


@loop
def begin_islands(island: Island, floor: f64, widest: f64, world: World) -> None:
    """What is common to all islands."""
    island.h = world.h
    island.tolerance = world.tolerance
    island.depth = world.depth
    # gaps as small as penetrations that are left alone are none: a pile would shift its load
    # from step to step as they open and close
    island.slack = MANY * world.depth if world.contacts > FEW else 0.0
    island.sweeps_allowed = world.sweeps_allowed
    island.most_tries = world.tries
    island.has_turning = world.has_turning
    island.widest = widest
    island.floor = floor
    island.above = 0.0
    island.sweeps = 0
    island.turns = 0
    island.limited = 0
    island.unfound = 0
    island.whys = 0
    few = 1 if world.contacts <= FEW else 0
    island.limit = min(world.tolerance, ROUNDING) if few == 1 else world.tolerance
    island.aim = TOGETHER if few == 1 else min(world.tolerance, BESIDE)


@loop
def root_of(body: i64, world: World) -> i64:
    """The body that stands for those a body hangs together with; ways to it become shorter."""
    root = world.root
    while root[body] != body:
        root[body] = root[root[body]]
        body = root[body]
    return body


@loop
def find_islands(world: World) -> None:
    """Bodies and contacts by islands, in the order of the first body and in their own order."""
    n = world.bodies
    for i in range(n):
        world.root[i] = i
        world.island[i] = -1
    for c in range(world.contacts):
        if world.contact[c].body[0] >= 0:
            one = root_of(world.contact[c].body[0], world)
            other = root_of(world.contact[c].body[1], world)
            world.root[max(one, other)] = min(one, other)
    # islands are numbered at the roots, which are the first of their bodies
    for c in range(world.contacts):
        world.island[root_of(world.contact[c].body[1], world)] = 0
    count = 0
    for i in range(n):
        if world.island[i] == 0:
            world.island[i] = count
            world.body_first[count] = 0
            world.contact_first[count] = 0
            count += 1
    world.islands = count
    sort_members(world)


@loop
def sort_members(world: World) -> None:
    """Bodies and contacts in the order of their islands, by counting."""
    count = world.islands
    world.body_first[count] = 0
    world.contact_first[count] = 0
    for i in range(world.bodies):
        world.island[i] = world.island[root_of(i, world)]
        if world.island[i] >= 0:
            world.number[i] = world.body_first[world.island[i]]
            world.body_first[world.island[i]] += 1
    for c in range(world.contacts):
        world.contact_first[world.island[world.contact[c].body[1]]] += 1
    bodies = 0
    contacts = 0
    for k in range(count + 1):
        size = world.body_first[k]
        world.body_first[k] = bodies
        bodies += size
        size = world.contact_first[k]
        world.contact_first[k] = contacts
        contacts += size
    for i in range(world.bodies):
        if world.island[i] >= 0:
            world.member[world.body_first[world.island[i]] + world.number[i]] = i
    for c in range(world.contacts):
        k = world.island[world.contact[c].body[1]]
        world.of_island[world.contact_first[k]] = c
        world.contact_first[k] += 1
    # each first was moved to the next one
    for back in range(count):
        world.contact_first[count - back] = world.contact_first[count - back - 1]
    world.contact_first[0] = 0


@loop
def solve_island(k: i64, kind: i64, island: Island, world: World) -> None:
    """One island in its block, and back."""
    take_bodies(k, island, world)
    take_contacts(k, island, world)
    if kind == STEP:
        impulses(island)
        residual_of(1.0, island)
        world.missed_by[k] = island.missed
        world.pressed_by[k] = island.pressed
        world.turning_missed[k] = island.turning_residual
        island.limited = max(island.limited, island.is_limited)
        island.whys = max(island.whys, island.why)
    else:
        island.tries = TRIES
        solve_scene(0.0, ENOUGH, island.sweeps_allowed, island)
    for j in range(island.contacts):
        contact = world.contact[world.of_island[world.contact_first[k] + j]]
        copy_impulses(island.contact[j], contact)
    for j in range(island.bodies):
        after = world.next[world.member[world.body_first[k] + j]].floats
        for i in range(6):
            after[i] = island.next[j].floats[i]


@loop
def take_bodies(k: i64, island: Island, world: World) -> None:
    """What the bodies of an island weigh, and their velocities."""
    first = world.body_first[k]
    island.bodies = world.body_first[k + 1] - first
    System(island.system).bodies = island.bodies
    for j in range(island.bodies):
        i = world.member[first + j]
        island.body[j].mass = world.body[i].mass
        for a in range(3):
            for b in range(3):
                island.body[j].turned_inverse[a, b] = world.body[i].turned_inverse[a, b]
        for a in range(6):
            island.speed[j].floats[a] = world.speed[i].floats[a]
            island.free[j].floats[a] = world.free[i].floats[a]
            island.next[j].floats[a] = world.next[i].floats[a]


@loop
def take_contacts(k: i64, island: Island, world: World) -> None:
    """The contacts of an island, with the numbers of its bodies."""
    first = world.contact_first[k]
    island.contacts = world.contact_first[k + 1] - first
    island.turning_residual = 0.0
    for j in range(island.contacts):
        one = world.contact[world.of_island[first + j]]
        other = island.contact[j]
        for i in range(Contact.header):
            other.ints[i] = one.ints[i]
        other.body[1] = world.number[one.body[1]]
        if one.body[0] >= 0:
            other.body[0] = world.number[one.body[0]]


@loop
def copy_impulses(one: Contact, other: Contact) -> None:
    """Impulses and moments, and what they were found for."""
    for r in range(3):
        other.force[r] = one.force[r]
        other.moment[r] = one.moment[r]
        other.right[r] = one.right[r]
    other.apart = one.apart
    other.bounce = one.bounce


@loop
def impulses(island: Island) -> None:
    """Impulses of all contacts and the velocities with them."""
    set_rates(island)
    island.is_limited = 0
    left = solve_with(1.0, island)
    if island.has_bounce == 1:
        limit_bounce(left, island)


@loop
def set_rates(island: Island) -> None:
    """What every contact adds to its rate: by its gap, and by its restitution."""
    island.has_bounce = 0
    for c in range(island.contacts):
        contact = island.contact[c]
        u = rate_at(contact, 0, 0.0, island.speed)
        free = rate_at(contact, 0, 0.0, island.free)
        # as in moreau.py: at rest where forces of one step could make it so; what is at rest a
        # little apart may come nearer, and so may what is too slow to arrive within the step
        apart = max(contact.gap - island.slack, 0.0) / island.h
        contact.bounce = 0.0
        contact.apart = apart
        if u >= 0.0:
            contact.apart = max(u, apart)
        elif free >= 2.0 * u and -u >= apart:
            contact.apart = 0.0
            contact.bounce = contact.restitution * u
            if contact.bounce < 0.0:
                island.has_bounce = 1


@loop
def solve_with(part: f64, island: Island) -> f64:
    """Impulses with a part of the restitution; their residual."""
    copy_twists(island.bodies, island.free, island.next)
    for c in range(island.contacts):
        contact = island.contact[c]
        contact.right[0] = contact.apart + part * contact.bounce
        contact.right[1] = 0.0
        contact.right[2] = 0.0
    if island.has_turning == 1:
        solve_turning(island)
        turning = island.turning_residual * island.limit / island.tolerance
        return max(residual_of(1.0, island), turning)
    # impulses without restitution exist always, with it they may not: that is tried less
    island.tries = island.most_tries if part == 0.0 or island.has_bounce == 0 else FEWER
    return float(solve_scene(1.0, island.tolerance, island.sweeps_allowed, island))


@loop
def limit_bounce(left: f64, island: Island) -> None:
    """Less restitution, the same part of all, where impulses with all of it would give energy.

    The gain of a mixture of impulses with the part s and with none is convex: the chord between
    both is above it, so that its root is a part with which the mixture gives none. Where impulses
    with restitution are not found there is none: in a wedge with friction they need not exist.
    """
    gain = gained(island)
    if gain <= 0.0 and left <= island.limit:
        return
    island.is_limited = 1
    missed = left > island.limit
    island.unfound = 1 if missed else island.unfound
    solve_with(0.0, island)
    least = gained(island)
    s = 1.0
    for _ in range(0 if missed or least >= 0.0 else LESS):
        s = s * least / (least - gain)
        left = solve_with(s, island)
        gain = gained(island)
        if left > island.limit:
            break
        if gain <= 0.0:
            return
    if s < 1.0:
        solve_with(0.0, island)


@loop
def gained(island: Island) -> f64:
    """The work of the impulses of the step, P·(u + u₁)/2; 0 where it is rounding."""
    total = 0.0
    size = 0.0
    for c in range(island.contacts):
        contact = island.contact[c]
        for r in range(3):
            u = rate_at(contact, r, 0.0, island.speed)
            after = rate_at(contact, r, 0.0, island.next)
            total += 0.5 * contact.force[r] * (u + after)
            size += abs(contact.force[r]) * (abs(u) + abs(after))
    return total if total > GAINED * size else min(total, 0.0)
