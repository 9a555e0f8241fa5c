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
from liaison.contacts.scene.layout import FEW, World
from liaison.contacts.scene.rates import note_scale, rate, residual_of, start_from
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.solvers.cones.cones import DISC, ONE_WAY, Limit, solve_cones

from .interior import from_inside, keep_best, take_best, with_impulses
from .sweeps import swept


@loop
def settle(mu: f64, world: World) -> None:
    """Impulses of all contacts from their rates without any, by the problem of cones."""
    count = world.contacts
    m = 3 * count
    f = world.few_forces
    blocks = 0
    for c in range(count):
        contact = world.contact[c]
        load = world.cone_block[blocks]
        load.kind = ONE_WAY
        load.first = 3 * c
        load.rows = 1
        load.load = -1
        disc = world.cone_block[blocks + 1]
        disc.kind = DISC
        disc.first = 3 * c + 1
        disc.rows = 2
        disc.load = blocks
        bound(0.0, world.cone_limit[blocks])
        bound(mu * contact.friction, world.cone_limit[blocks + 1])
        blocks += 2
        for d in range(count):
            mobility(c, d, world.mobility, world)
        for r in range(3):
            f[3 * c + r] = contact.force[r]
    solve_cones(
        m,
        blocks,
        world.mobility,
        world.few_rates,
        world.cone_block,
        world.cone_limit,
        f,
        world.cones,
    )
    for c in range(count):
        for r in range(3):
            world.contact[c].force[r] = f[3 * c + r]


@loop
def bound(coefficient: f64, limit: Limit) -> None:
    """A bound in proportion to the load, the same along both rows."""
    limit.coefficient[0] = coefficient
    limit.coefficient[1] = coefficient
    limit.constant = 0.0


@loop
def mobility(c: i64, d: i64, A: ptr, world: World) -> None:
    """What unit impulses of one contact do to the rates of another: nine entries of A."""
    m = 3 * world.contacts
    one = world.contact[c]
    other = world.contact[d]
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


TOGETHER, BRIEFLY = 1e-11, 100
"""Residual that few contacts are solved to, and sweeps before they are solved at once."""

SOON, FIRST, MORE = 60, 250, 60
"""Sweeps before contacts are solved at once: where they come from far, where they are near, and
before that is tried again."""

FAR = 1e-3
"""Residual after the first sweeps that is far."""

BEGIN, MOST = (0.1, 1.0), 60
"""How far inside their cones impulses begin, beside the strongest, at first and later; turns of
each try."""


@loop
def solve_scene(mu: f64, tolerance: f64, allowed: i64, world: World) -> f64:
    """Impulses and velocities, from those guessed; their residual.

    Args:
        mu: 1, or 0 where nothing has friction.
        tolerance: residual that is enough for more than `FEW` contacts.
        allowed: sweeps at most.
        world: velocities without impulses come in `next`.
    """
    copy_twists(world.bodies, world.next, world.unloaded)
    note_scale(world)
    if world.contacts <= FEW:
        return solve_few(mu, min(TOGETHER, tolerance), min(allowed, BRIEFLY), world)
    start_from(world)
    residual = swept(mu, tolerance, min(allowed, SOON), world)
    left = allowed - FIRST
    best = 1e300
    if residual > tolerance and residual < FAR:
        residual = swept(mu, tolerance, min(allowed, FIRST) - SOON, world)
    for turn in range(world.tries):
        if residual <= tolerance:
            break
        if turn > 0:
            forget(world)
        residual = from_inside(mu, tolerance, BEGIN[min(turn, 1)], turn, MOST, world)
        if residual <= tolerance or left <= 0:
            best = hold_best(turn, residual, best, world)
            break
        residual = swept(mu, tolerance, min(left, MORE), world)
        left -= MORE
        best = hold_best(turn, residual, best, world)
    if residual > tolerance and world.tries > 1:
        take_held(world)
        residual = swept(mu, tolerance, max(left, 1), world)
    return float(residual)


@loop
def hold_best(turn: i64, residual: f64, best: f64, world: World) -> f64:
    """Holds the impulses of the best try so far; the least residual."""
    if turn > 0 and residual >= best:
        return best
    for c in range(world.contacts):
        for r in range(3):
            world.held_force[c, r] = world.contact[c].force[r]
    return residual


@loop
def take_held(world: World) -> None:
    """The impulses of the best try, and velocities with them."""
    for c in range(world.contacts):
        for r in range(3):
            world.contact[c].force[r] = world.held_force[c, r]
    with_impulses(world)


@loop
def forget(world: World) -> None:
    """No impulses: where the way from those at hand ended, another one begins without."""
    copy_twists(world.bodies, world.unloaded, world.next)
    for c in range(world.contacts):
        for r in range(3):
            world.contact[c].force[r] = 0.0


@loop
def solve_few(mu: f64, limit: f64, allowed: i64, world: World) -> f64:
    """Few contacts: sweeps to rounding, or all at once; the residual."""
    for c in range(world.contacts):
        for r in range(3):
            world.few_rates[3 * c + r] = rate(world.contact[c], r, world)
    start_from(world)
    residual = swept(mu, limit, allowed, world)
    if residual > limit:
        residual = together(mu, residual, world)
    if residual > limit:
        # from elsewhere: impulses that the interior method comes to
        from_inside(mu, limit, BEGIN[0], 0, MOST, world)
        residual = together(mu, 1e300, world)
    return float(residual)


@loop
def together(mu: f64, residual: f64, world: World) -> f64:
    """All contacts at once, unless what was there is better; the residual."""
    keep_best(world)
    settle(mu, world)
    restarted = restart(mu, world)
    if restarted > residual:
        take_best(world)
        restarted = restart(mu, world)
    return restarted


@loop
def restart(mu: f64, world: World) -> f64:
    """Velocities with the impulses as they are; the residual."""
    with_impulses(world)
    return float(residual_of(mu, world))
