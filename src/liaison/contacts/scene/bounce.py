"""Impulses of one island of a scene: what gaps and restitution ask for, and no more than is there.

Public names: impulses, TRIES.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.solve import solve_scene
from liaison.program.loops.language import f64, loop

from .bodies import copy_twists
from .layout import Island
from .rates import rate_at, residual_of
from .turning import solve_turning

LESS, GAINED = 6, 1e-9
"""Times that restitution is made less, and work of impulses beside its terms that is rounding."""

TRIES, FEWER = 4, 1
"""Ways of the interior method that are tried, and those where restitution may have none."""


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
        return max(residual_of(1.0, island), island.turning_residual)
    # impulses without restitution exist always, with it they may not: that is tried less
    island.tries = TRIES if part == 0.0 or island.has_bounce == 0 else FEWER
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
