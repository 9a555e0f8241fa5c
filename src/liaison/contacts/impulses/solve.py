"""Impulses of all contacts of a scene: sweeps where they get there, then all contacts at once.

A pile at rest is solved by a few sweeps from the impulses of the step before. While it falls
together contacts open and slip in ever new sets and sweeps take thousands; the interior method
takes tens of turns whatever the set. Few contacts are solved to rounding.

Few contacts of a scene, solved together to rounding where sweeps alone are not enough.

Public names: solve_scene.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.layout import FEW, Island
from liaison.contacts.scene.rates import note_scale, rate, residual_of, start_from
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.solvers.cones.cones import DISC, ONE_WAY, Limit, solve_cones

from .interior import from_inside, keep_best, take_best, with_impulses
from .path import follow_path
from .path_layout import FEW_LEFT, NO_SWEEPS, SWEPT
from .sweeps import swept


@loop
def settle(mu: f64, island: Island) -> None:
    """Impulses of all contacts from their rates without any, by the problem of cones."""
    count = island.contacts
    m = 3 * count
    f = island.few_forces
    blocks = 0
    for c in range(count):
        contact = island.contact[c]
        load = island.cone_block[blocks]
        load.kind = ONE_WAY
        load.first = 3 * c
        load.rows = 1
        load.load = -1
        disc = island.cone_block[blocks + 1]
        disc.kind = DISC
        disc.first = 3 * c + 1
        disc.rows = 2
        disc.load = blocks
        bound(0.0, island.cone_limit[blocks])
        bound(mu * contact.friction, island.cone_limit[blocks + 1])
        blocks += 2
        for d in range(count):
            mobility(c, d, island.mobility, island)
        for r in range(3):
            f[3 * c + r] = contact.force[r]
    solve_cones(
        m,
        blocks,
        island.mobility,
        island.few_rates,
        island.cone_block,
        island.cone_limit,
        f,
        island.cones,
    )
    for c in range(count):
        for r in range(3):
            island.contact[c].force[r] = f[3 * c + r]


@loop
def bound(coefficient: f64, limit: Limit) -> None:
    """A bound in proportion to the load, the same along both rows."""
    limit.coefficient[0] = coefficient
    limit.coefficient[1] = coefficient
    limit.constant = 0.0


@loop
def mobility(c: i64, d: i64, A: ptr, island: Island) -> None:
    """What unit impulses of one contact do to the rates of another: nine entries of A."""
    m = 3 * island.contacts
    one = island.contact[c]
    other = island.contact[d]
    for i in range(3):
        for j in range(3):
            total = 0.0
            for s in range(2):
                for t in range(2):
                    body = one.body[s]
                    if body >= 0 and body == other.body[t]:
                        row = one.rows[3 * s + i]
                        push = other.push[3 * t + j]
                        for x in range(6):
                            total += row[x] * push[x]
            A[(3 * c + i) * m + 3 * d + j] = total


BRIEFLY = 100
"""Sweeps before few contacts are solved at once."""

COLD, SOON, FIRST, MORE = 30, 60, 250, 60
"""Sweeps before contacts are solved at once: where no impulse of a large pile is known, where they
come from far, where they are near, and before that is tried again."""

LARGE = 200
"""Contacts from which a pile is large: as many begin to press at once where a run begins."""

FAR = 1e-3
"""Residual after the first sweeps that is far."""

BEGIN, MOST = (0.1, 1.0), 60
"""How far inside their cones impulses begin, beside the strongest, at first and later; turns of
each try."""

FALLING, PATHS, LONGEST = 2, 4, (1500, 1500, 3000, 3000)
"""Tries in which τ only falls, before paths are followed around their turns; how many paths there
are, and factorizations of each at most."""


@loop
def solve_scene(mu: f64, tolerance: f64, allowed: i64, island: Island) -> f64:
    """Impulses and velocities, from those guessed; their residual.

    Args:
        mu: 1, or 0 where nothing has friction.
        tolerance: residual that is enough for more than `FEW` contacts.
        allowed: sweeps at most.
        island: velocities without impulses come in `next`.
    """
    copy_twists(island.bodies, island.next, island.unloaded)
    note_scale(island)
    if island.contacts > FEW:
        return solve_many(mu, tolerance, allowed, island)
    if island.slack > 0.0:  # beside others: the dense method would take most of a step
        return solve_many(mu, min(island.aim, tolerance), allowed, island)
    return solve_few(mu, min(island.aim, tolerance), min(allowed, BRIEFLY), island)


@loop
def solve_many(mu: f64, tolerance: f64, allowed: i64, island: Island) -> f64:
    """Many contacts: sweeps, and the interior method in several ways; the residual."""
    soon = COLD if island.contacts >= LARGE and is_guessed(island) == 0 else SOON
    island.why = SWEPT
    start_from(island)
    residual = swept(mu, tolerance, min(allowed, soon), island)
    left = allowed - FIRST
    best = 1e300
    if residual > tolerance and residual < FAR:
        residual = swept(mu, tolerance, min(allowed, FIRST) - soon, island)
    for turn in range(island.tries):
        if residual <= tolerance:
            break
        if turn > 0:
            forget(island)
        path = turn - FALLING
        if path >= 0 and path < PATHS:
            residual = follow_path(mu, tolerance, path, LONGEST[path], island)
        else:
            residual = from_inside(mu, tolerance, BEGIN[min(turn, 1)], turn, MOST, island)
        if residual <= tolerance or left <= 0:
            best = hold_best(turn, residual, best, island)
            island.why = NO_SWEEPS
            break
        residual = swept(mu, tolerance, min(left, MORE), island)
        left -= MORE
        best = hold_best(turn, residual, best, island)
    if residual > tolerance and island.tries > 1:
        take_held(island)
        residual = swept(mu, tolerance, max(left, 1), island)
    island.why = 0 if residual <= tolerance else island.why
    return float(residual)


@loop
def is_guessed(island: Island) -> i64:
    """1 if an impulse is known from the step before."""
    for c in range(island.contacts):
        if island.contact[c].force[0] > 0.0:
            return 1
    return 0


@loop
def hold_best(turn: i64, residual: f64, best: f64, island: Island) -> f64:
    """Holds the impulses of the best try so far; the least residual."""
    if turn > 0 and residual >= best:
        return best
    for c in range(island.contacts):
        for r in range(3):
            island.held_force[c, r] = island.contact[c].force[r]
    return residual


@loop
def take_held(island: Island) -> None:
    """The impulses of the best try, and velocities with them."""
    for c in range(island.contacts):
        for r in range(3):
            island.contact[c].force[r] = island.held_force[c, r]
    with_impulses(island)


@loop
def forget(island: Island) -> None:
    """No impulses: where the way from those at hand ended, another one begins without."""
    copy_twists(island.bodies, island.unloaded, island.next)
    for c in range(island.contacts):
        for r in range(3):
            island.contact[c].force[r] = 0.0


@loop
def solve_few(mu: f64, limit: f64, allowed: i64, island: Island) -> f64:
    """Few contacts: sweeps to rounding, or all at once; the residual."""
    for c in range(island.contacts):
        for r in range(3):
            island.few_rates[3 * c + r] = rate(island.contact[c], r, island)
    start_from(island)
    residual = swept(mu, limit, allowed, island)
    if residual > limit:
        residual = together(mu, residual, island)
    if residual > max(limit, 0.1 * island.limit):
        # from elsewhere: impulses that the interior method comes to
        from_inside(mu, limit, BEGIN[0], 0, MOST, island)
        residual = together(mu, 1e300, island)
    island.why = 0 if residual <= max(limit, island.limit) else FEW_LEFT
    return float(residual)


@loop
def together(mu: f64, residual: f64, island: Island) -> f64:
    """All contacts at once, unless what was there is better; the residual."""
    keep_best(island)
    settle(mu, island)
    restarted = restart(mu, island)
    if restarted > residual:
        take_best(island)
        restarted = restart(mu, island)
    return restarted


@loop
def restart(mu: f64, island: Island) -> f64:
    """Velocities with the impulses as they are; the residual."""
    with_impulses(island)
    return float(residual_of(mu, island))
