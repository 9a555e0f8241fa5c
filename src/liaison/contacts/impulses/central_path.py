"""Impulses of many contacts at once, from inside their cones, where sweeps do not get there.

Turns of the interior method go most of the way to the first bound. τ follows what is left of the
products, after Mehrotra; δ damps turns that hardly move,

    ((1 + δ) M + Dᵀ G D) δv = Dᵀ c                                                  (interior-3)

With friction the path of solutions over τ may turn back, since Coulomb's law is not that of a
potential; then another path is taken, whose products have other weights.

Public names: from_inside, keep_best, take_best, with_impulses.

Source: MEH92 (second order); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.layout import MANY_BODIES, System, World
from liaison.contacts.scene.rates import rate, residual_of, start_from
from liaison.program.loops.language import f64, i64, loop
from liaison.solvers.cones.table import shrink

from .block_factors import eliminate
from .interior import assemble, least_room, mean_product, scale_pair, solve_for
from .sweeps import swept

PART = 0.95
"""Of the way to the first bound that a turn goes."""

CENTERING = 0.1
"""The least part of the mean product that a turn aims at."""

NEAR, LAST = 30.0, 20
"""Residual, beside the tolerance, from which sweeps may end the search, and how many."""

LOOK, SLOW = 20, 0.5
"""Turns after which the mean product must have shrunk, and to what part."""

STUCK, DAMPING, DAMPED = 0.05, 4.0, 3
"""Way below which a turn is damped, by what factor more each time, and how often."""

SOFT, WEDGE = 0.05, 0.55
"""ε beside the tolerance; friction from which three balls hold each other by it, tan 30° or so, so
that ε is there from the first try on."""

GOLDEN = 0.6180339887498949


@loop
def from_inside(mu: f64, tolerance: f64, begin: f64, way: i64, turns: i64, world: World) -> f64:
    """Impulses with a residual up to the tolerance, from those there are on; the residual.

    Args:
        mu: 1, or 0 where nothing has friction.
        tolerance: residual that is enough.
        begin: how far inside their cones impulses and rates begin, beside the strongest impulse.
        way: number of the way to take: from 1 on with ε everywhere, from 2 on with products that
            differ.
        turns: at most.
        world: velocities without impulses are `unloaded`; impulses and velocities become the best.
    """
    best = float(residual_of(mu, world))
    keep_best(world)
    if world.bodies > MANY_BODIES:
        return best
    if eliminate(world.contacts, world.contact, System(world.system)) < 0:
        return best
    enter(mu, tolerance, begin, way, world)
    weigh(way, world)
    damping = 0.0
    before = mean_product(0.0, world)
    for turn in range(turns):
        if turn % LOOK == LOOK - 1:
            product = mean_product(0.0, world)
            if product > SLOW * before:
                break
            before = product
        damping = turn_inside(damping, world)
        world.turns += 1
        if damping < 0.0:
            break
        with_impulses(world)
        now = float(residual_of(mu, world))
        if now < best:
            best = now
            keep_best(world)
        if best > tolerance and now <= best and best <= NEAR * tolerance:
            best = finished(mu, tolerance, best, world)
        if best <= tolerance:
            break
    take_best(world)
    with_impulses(world)
    return best


@loop
def keep_best(world: World) -> None:
    """Keeps the impulses as the best so far."""
    for c in range(world.contacts):
        for r in range(3):
            world.best_force[c, r] = world.contact[c].force[r]


@loop
def take_best(world: World) -> None:
    """The best impulses so far become those of the contacts."""
    for c in range(world.contacts):
        for r in range(3):
            world.contact[c].force[r] = world.best_force[c, r]


@loop
def finished(mu: f64, tolerance: f64, best: f64, world: World) -> f64:
    """Sweeps from impulses that are nearly right; kept if they get there. The best residual."""
    now = swept(mu, tolerance, LAST, world)
    if now <= tolerance:
        keep_best(world)
        return now
    take_best(world)
    return best


@loop
def with_impulses(world: World) -> None:
    """Velocities with the impulses as they are."""
    copy_twists(world.bodies, world.unloaded, world.next)
    start_from(world)


@loop
def enter(mu: f64, tolerance: f64, begin: f64, way: i64, world: World) -> None:
    """Impulses, rates and λ a little inside their cones."""
    strongest = 0.0
    for c in range(world.contacts):
        strongest = max(strongest, world.contact[c].force[0] * world.contact[c].normal)
    if strongest == 0.0:
        # no impulse shows how strong they will be: as strong as what approaches
        strongest = 1e-300
        for c in range(world.contacts):
            strongest = max(strongest, -rate(world.contact[c], 0, world))
    little = begin * strongest
    for c in range(world.contacts):
        contact = world.contact[c]
        q = world.cone[c]
        f = contact.force
        q.mu = mu * contact.friction
        f[0] = max(f[0], little / contact.normal)
        part = shrink(f[1], f[2], PART * q.mu * f[0])
        f[1] = part * f[1]
        f[2] = part * f[2]
    with_impulses(world)
    copy_twists(world.bodies, world.next, world.inner)
    for c in range(world.contacts):
        q = world.cone[c]
        for r in range(3):
            q.rate[r] = rate(world.contact[c], r, world)
        is_soft = 1.0 if way > 0 or q.mu > WEDGE else 0.0
        q.soft = is_soft * SOFT * tolerance * world.contact[c].normal
        q.w = max(q.rate[0] + q.soft * world.contact[c].force[0], little)
        if q.mu > 0.0:
            slip = sqrt(q.rate[1] * q.rate[1] + q.rate[2] * q.rate[2])
            q.slack = 1.1 * slip + 0.5 * little / q.mu


@loop
def weigh(way: i64, world: World) -> None:
    """Weights of the products along a way, the same at every call: 1, or from ¼ to 4."""
    for c in range(world.contacts):
        for r in range(2):
            x = GOLDEN * float((2 * c + r + 1) * (2 * way + 1))
            x -= float(int(x))
            world.cone[c].weight[r] = 1.0 if way < 2 else 0.25 + 3.75 * x * x


@loop
def turn_inside(damping: f64, world: World) -> f64:
    """One turn; the damping of the next, −1 where the matrix has no factors."""
    for c in range(world.contacts):
        scale_pair(world.contact[c].force, world.cone[c])
    used = damping
    far = 0.0
    for tried in range(DAMPED + 1):
        if assemble(used, world) != 0:
            return -1.0
        far = direction(used, world)
        if far >= STUCK or tried == DAMPED:
            break
        used = max(DAMPING * used, 1.0)
    for c in range(world.contacts):
        q = world.cone[c]
        for r in range(3):
            world.contact[c].force[r] += far * q.df[r]
        # rates by what they change: of what sticks they are far below the rounding of v
        q.rate[0] += far * (q.dw + q.lag - q.soft * q.df[0])
        q.rate[1] += far * q.dz[1]
        q.rate[2] += far * q.dz[2]
        q.w += far * q.dw
        q.slack += far * q.dz[0]
    for i in range(world.bodies):
        v = world.inner[i].floats
        for j in range(6):
            v[j] += far * world.change[i].floats[j]
    return used / DAMPING if used > 1.0 else 0.0


@loop
def direction(damping: f64, world: World) -> f64:
    """Changes of everything, aimed as Mehrotra does; how far they may go.

    A damped turn leaves momentum behind. It keeps the mean product: products would vanish before
    the impulses carry the bodies otherwise.
    """
    now = mean_product(0.0, world)
    solve_for(0.0, 0.0, world)
    far = min(1.0, least_room(world))
    part = max(mean_product(far, world) / now, 0.0)
    part = min(1.0, max(CENTERING, part * part * part)) if damping == 0.0 else 1.0
    solve_for(part * now, 1.0, world)
    return float(min(1.0, PART * least_room(world)))
