"""Impulses of many contacts at once, from inside their cones, where sweeps do not get there.

Each turn solves (interior-1) of all contacts, linearized, for the velocities of bodies,

    ((1 + δ) M + Dᵀ G D) δv = Dᵀ c                                                  (interior-2)

and goes most of the way to the first bound. τ follows what is left of the products, after
Mehrotra; δ damps turns that hardly move. The matrix is not symmetric, since Coulomb's law is not.

Public names: from_inside.

Source: MEH92; ACA ch. 13; docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.layout import ConePair, Contact, System, World
from liaison.contacts.scene.rates import rate, residual_of, start_from
from liaison.program.loops.language import f64, i64, loop, ptr

from .block_factors import eliminate, factorize_bodies, solve_bodies
from .cone_pairs import aim, cones_of, products, respond, room_of, scale_pair
from .sweeps import swept

PART = 0.95
"""Of the way to the first bound that a turn goes."""

CENTERING = 0.1
"""The least part of the mean product that a turn aims at."""

LOOK, SLOW = 12, 0.1
"""Turns after which the mean product must have shrunk, and to what part."""

NEAR, LAST = 30.0, 20
"""Residual, beside the tolerance, from which sweeps may end the search, and how many."""

STUCK, DAMPING, DAMPED = 0.05, 4.0, 3
"""Way below which a turn is damped, by what factor more each time, and how often."""


@loop
def from_inside(mu: f64, tolerance: f64, begin: f64, turns: i64, world: World) -> f64:
    """Impulses with a residual up to the tolerance, from those there are on; the residual.

    Args:
        mu: 1, or 0 where nothing rubs.
        tolerance: residual that is enough.
        begin: how far inside their cones impulses and rates begin, beside the strongest impulse.
        turns: at most.
        world: velocities without impulses are `unloaded`; impulses and velocities become the best.
    """
    best = float(residual_of(mu, world))
    keep_best(world)
    if eliminate(world.contacts, world.contact, System(world.system)) < 0:
        return best
    enter(mu, begin, world)
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
def enter(mu: f64, begin: f64, world: World) -> None:
    """Impulses, rates and λ a little inside their cones."""
    strongest = 1e-300
    for c in range(world.contacts):
        strongest = max(strongest, world.contact[c].force[0] * world.contact[c].normal)
    little = begin * strongest
    for c in range(world.contacts):
        contact = world.contact[c]
        q = world.cone[c]
        f = contact.force
        q.mu = mu * contact.friction
        f[0] = max(f[0], little / contact.normal)
        length = sqrt(f[1] * f[1] + f[2] * f[2])
        bound = PART * q.mu * f[0]
        part = bound / length if length > bound else 1.0
        f[1] = part * f[1]
        f[2] = part * f[2]
    with_impulses(world)
    copy_twists(world.bodies, world.next, world.inner)
    for c in range(world.contacts):
        q = world.cone[c]
        for r in range(3):
            q.rate[r] = rate(world.contact[c], r, world)
        q.w = max(q.rate[0], little)
        if q.mu > 0.0:
            slip = sqrt(q.rate[1] * q.rate[1] + q.rate[2] * q.rate[2])
            q.slack = 1.1 * slip + 0.5 * little / q.mu


@loop
def turn_inside(damping: f64, world: World) -> f64:
    """One turn; the damping of the next, −1 where the matrix has no factors."""
    for c in range(world.contacts):
        scale_pair(world.contact[c].force, world.cone[c])
    used = damping
    for tried in range(DAMPED + 1):
        if assemble(used, world) != 0:
            return -1.0
        far = direction(world)
        if far >= STUCK or tried == DAMPED:
            break
        used = max(DAMPING * used, 1.0)
    for c in range(world.contacts):
        q = world.cone[c]
        for r in range(3):
            world.contact[c].force[r] += far * q.df[r]
        # rates by what they change: of what sticks they are far below the rounding of v
        q.rate[0] += far * (q.dw + q.w - q.rate[0])
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
def direction(world: World) -> f64:
    """Changes of everything, aimed as Mehrotra does; how far they may go."""
    now = mean_product(0.0, world)
    solve_for(0.0, 0.0, world)
    far = min(1.0, least_room(world))
    part = max(mean_product(far, world) / now, 0.0)
    part = min(1.0, max(CENTERING, part * part * part))
    solve_for(part * now, 1.0, world)
    return float(min(1.0, PART * least_room(world)))


@loop
def mean_product(s: f64, world: World) -> f64:
    """The mean of the products after the part s of the changes."""
    total = 0.0
    cones = 0
    for c in range(world.contacts):
        q = world.cone[c]
        if s == 0.0:
            q.dw = 0.0
            for i in range(3):
                q.df[i] = 0.0
                q.dz[i] = 0.0
        total += products(s, world.contact[c].force, q)
        cones += cones_of(q)
    return float(total / float(cones))


@loop
def least_room(world: World) -> f64:
    """How far all contacts may go along their changes."""
    far = 1e30
    for c in range(world.contacts):
        far = min(far, room_of(world.contact[c].force, world.cone[c]))
    return far


@loop
def solve_for(tau: f64, second: f64, world: World) -> None:
    """Changes of all contacts on the way to τ, by (interior-2)."""
    for i in range(world.bodies):
        missing_momentum(i, world)
    for c in range(world.contacts):
        contact = world.contact[c]
        q = world.cone[c]
        f = contact.force
        aim(f, q, tau, second)
        for side in range(2):
            if contact.body[side] >= 0:
                rows = contact.rows
                first = 3 * side
                own = world.change[contact.body[side]].floats
                for i in range(6):
                    own[i] += (
                        rows[first, i] * (q.constant[0] + f[0])
                        + rows[first + 1, i] * (q.constant[1] + f[1])
                        + rows[first + 2, i] * (q.constant[2] + f[2])
                    )
    solve_bodies(System(world.system), world.change)
    for c in range(world.contacts):
        changed_rates(world.contact[c], world)
        respond(world.rates[0], world.rates[1], world.rates[2], world.cone[c])


@loop
def changed_rates(contact: Contact, world: World) -> None:
    """The change of the rates of a contact with those of velocities, into `rates`."""
    du = world.rates
    for r in range(3):
        du[r] = 0.0
        for side in range(2):
            if contact.body[side] >= 0:
                row = contact.rows[3 * side + r]
                own = world.change[contact.body[side]].floats
                for i in range(6):
                    du[r] += row[i] * own[i]


@loop
def missing_momentum(i: i64, world: World) -> None:
    """−M (v − v_free) of a body, to which its impulses are added."""
    block = world.block
    v = world.inner[i].floats
    free = world.unloaded[i].floats
    for j in range(36):
        block[j] = 0.0
    inertia(i, -1.0, block, world)
    for a in range(6):
        total = 0.0
        for b in range(6):
            total += block[6 * a + b] * (v[b] - free[b])
        world.change[i].floats[a] = total


@loop
def assemble(damping: f64, world: World) -> i64:
    """The factors of the matrix of (interior-2); 1 where it has none."""
    system = System(world.system)
    for i in range(world.bodies):
        for j in range(36):
            system.diagonal[i, j] = 0.0
    for p in range(system.first[world.bodies]):
        for j in range(36):
            system.lower[p, j] = 0.0
            system.upper[p, j] = 0.0
    for i in range(world.bodies):
        inertia(i, 1.0 + damping, system.diagonal[i], world)
    for c in range(world.contacts):
        add_contact(c, system, world)
    return factorize_bodies(system)


@loop
def inertia(i: i64, times: f64, block: ptr, world: World) -> None:
    """M of a body into its block: from the inverse of its inertia, which is at hand."""
    a = world.body[i].turned_inverse
    x = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    y = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    t = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    size = times / (a[0, 0] * x + a[0, 1] * y + a[0, 2] * t)
    block[0] = size * x
    block[6] = size * y
    block[12] = size * t
    block[1] = size * (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2])
    block[7] = size * (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0])
    block[13] = size * (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1])
    block[2] = size * (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1])
    block[8] = size * (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2])
    block[14] = size * (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0])
    for j in range(3, 6):
        block[7 * j] = times * world.body[i].mass


@loop
def add_contact(c: i64, system: System, world: World) -> None:
    """Dᵀ G D of one contact: two blocks of the diagonal, and two between its bodies."""
    contact = world.contact[c]
    q = world.cone[c]
    one = contact.body[0]
    other = contact.body[1]
    add_product(contact, 3, 3, q, system.diagonal[other])
    if one >= 0:
        add_product(contact, 0, 0, q, system.diagonal[one])
        lower = system.lower[system.between[c]]
        upper = system.upper[system.between[c]]
        if system.place[one] < system.place[other]:
            add_product(contact, 3, 0, q, lower)
            add_product(contact, 0, 3, q, upper)
        else:
            add_product(contact, 0, 3, q, lower)
            add_product(contact, 3, 0, q, upper)


@loop
def add_product(contact: Contact, left: i64, right: i64, q: ConePair, out: ptr) -> None:
    """out += Lᵀ G R of three rows each of the contact, which begin at `left` and at `right`."""
    g = q.g
    rows = contact.rows
    for j in range(6):
        x = rows[right, j]
        y = rows[right + 1, j]
        t = rows[right + 2, j]
        a = g[0, 0] * x
        b = g[1, 0] * x + g[1, 1] * y + g[1, 2] * t
        c = g[2, 0] * x + g[2, 1] * y + g[2, 2] * t
        for i in range(6):
            out[6 * i + j] += rows[left, i] * a + rows[left + 1, i] * b + rows[left + 2, i] * c
