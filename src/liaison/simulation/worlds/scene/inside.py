"""All contacts of a world at once, by the interior method, where sweeps are slow.

Contacts get the rows that those of a scene have; the threads of the block then take its turns
together: each contact by the loops of `contacts/impulses/interior.py`, sums over bodies color by
color, factors column by column.

Contacts of a world as those of a scene have them: with rows, for all of them at once.

Few contacts are solved together to rounding where sweeps and turns are not enough: their problem is
that of cones of mechanisms, with a dense matrix; one thread solves it.

Public names: begin_island, impulses_of, solving, give_back, rate_of, together.

Source: docs/theory/contact_solvers.md.

Source: docs/theory/contact_solvers.md; DUFF17 (tangents of a normal without singular direction).
"""

from __future__ import annotations

from liaison.contacts.impulses.interior import (
    BETTER,
    CLOSE,
    DAMPED,
    DAMPING,
    GOLDEN,
    LAST,
    LONGER,
    LOOK,
    NEAR,
    PART,
    SHRUNK,
    SLOW,
    STUCK,
    aim,
    cones_of,
    enter_pair,
    go_inside,
    products,
    respond,
    room_of,
    scale_pair,
)
from liaison.contacts.impulses.solve import MOST, settle
from liaison.contacts.scene.islands import ROUNDING
from liaison.contacts.scene.layout import FEW, ConePair, Contact, Island, System
from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.solvers.cones.table import shrink

from .cones import (
    clear_scaled,
    get_changes,
    get_constant,
    get_entered,
    get_force,
    get_scaled,
    own_contact,
    own_pair,
    put_changes,
    put_constant,
    put_entered,
    put_force,
    put_scaled,
    take_force,
    take_rows,
)
from .factors import add_contacts, elimination, factorized, solve_system
from .hot import gather
from .layout import COLORS, Block, barrier, most_of, total_of
from .sweeps import across_of, free_velocities, loaded, solved


@loop
def rate_of(k: i64, r: i64, contact: Contact, w: Block) -> f64:
    """A rate of a contact, by its number, with what its gap adds."""
    other = w.next[w.other[k]]
    one = w.next[max(w.one[k], 0)]
    u = contact.right[r]
    for j in range(3):
        u += contact.rows[3 + r, 3 + j] * across_of(k, j, other, one, w)
    return float(u)


@loop
def give_back(k: i64, contact: Contact, w: Block) -> None:
    """The impulse of a contact."""
    w.force[0, k] = contact.force[0]
    for j in range(3):
        across = contact.force[1] * contact.rows[4, 3 + j]
        w.force[1 + j, k] = across + contact.force[2] * contact.rows[5, 3 + j]


@loop
def together(me: i64, before: f64, scale: f64, w: Block, island: Island) -> f64:
    """Impulses of all contacts at once, unless those at hand are better; their residual."""
    k = me
    while k < w.pairs:
        for r in range(4):
            w.last_force[r, k] = w.force[r, k]
            w.force[r, k] = 0.0
        k += w.lanes
    free_velocities(me, w)
    if me == 0:
        settle_few(w, island)
    barrier()
    left = loaded(me, scale, w)
    if left <= before:
        return left
    k = me
    while k < w.pairs:
        for r in range(4):
            w.force[r, k] = w.last_force[r, k]
        k += w.lanes
    loaded(me, scale, w)
    return before


@loop
def settle_few(w: Block, island: Island) -> None:
    """The problem of all contacts: rates without impulses, their answers; impulses into w."""
    count = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            contact = island.contact[count]
            for r in range(Contact.header):
                contact.floats[r] = island.contact[k].floats[r]
            take_rows(k, contact, w, island)
            for r in range(3):
                island.few_rates[3 * count + r] = rate_of(k, r, contact, w)
                contact.force[r] = 0.0
            for side in range(2):
                push_rows(side, contact, w)
            count += 1
    island.contacts = count
    settle(1.0, island)
    count = 0
    for k in range(w.pairs):
        if w.active[k] == 1:
            give_back(k, island.contact[count], w)
            count += 1


@loop
def push_rows(side: i64, contact: Contact, w: Block) -> None:
    """M⁻¹Dᵀ of one body of a contact."""
    i = contact.body[side]
    if i >= 0:
        for r in range(3 * side, 3 * side + 3):
            row = contact.rows[r]
            for j in range(3):
                contact.push[r, j] = entry_along(i, j, row, w)
                contact.push[r, 3 + j] = w.light[i] * row[3 + j]


@loop
def entry_along(i: i64, j: i64, x: ptr, w: Block) -> f64:
    """A component of J x."""
    if w.general == 1:
        J = w.turned[i, 3 * j :]
        return float(J[0] * x[0] + J[1] * x[1] + J[2] * x[2])
    return float(w.quick[i] / (w.scale[i] * w.scale[i]) * x[j])


SOON = 3000
"""Sweeps before all contacts are solved at once: a turn takes the time of about 300."""

CENTERING, BEGIN = 0.01, (0.01, 1.0)
"""The least part of the mean product that a turn aims at, and how far inside their cones the first
way and others begin: nearer than those of the processor, since more sweeps came before."""


@loop
def begin_island(w: Block, island: Island) -> None:
    """An empty island, whose head says where what lies."""
    for k in range(w.heads):
        island.ints[w.head_at[k]] = w.head[k]


@loop
def impulses_of(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses by sweeps, by the interior method where these are slow, and by sweeps; residual.

    Args:
        me: number of this thread.
        limit: residual that is enough.
        scale: the strongest impulse that counts, as a velocity.
        tries: ways of the interior method at most.
        w: velocities without impulses in `next`; with them afterwards.
        island: workspace.
    """
    left = solved(me, 1.0, limit, SOON, scale, w)
    if left <= limit:
        return left
    enough = max(limit, min(ROUNDING, w.tolerance))
    count = gather(me, w)
    begin_contacts(me, count, w, island)
    for turn in range(tries):
        left = inside(me, enough, BEGIN[min(turn, 1)], turn, scale, w, island)
        if left <= enough or (w.contacts <= float(FEW) and left <= solving(w)):
            return left
        if turn < tries - 1:
            forget_impulses(me, count, w)
    free_velocities(me, w)
    left = solved(me, 1.0, limit, w.sweeps_allowed, scale, w)
    if left > max(enough, solving(w)) and w.contacts <= float(FEW):
        return float(together(me, left, scale, w, island))
    return left


@loop
def solving(w: Block) -> f64:
    """The residual of a step with few contacts that solves it."""
    # moments and impulses wait for each other so far
    return w.tolerance if w.has_turning == 1 else w.few_tolerance


@loop
def begin_contacts(me: i64, count: i64, w: Block, island: Island) -> None:
    """Impulses along rows, and the order in which bodies are eliminated."""
    contact = Contact(own_contact())
    h = me
    while h < count:
        take_rows(w.where[h], contact, w, island)
        take_force(w.where[h], contact, w)
        put_force(h, contact, w)
        h += w.lanes
    i = me
    while i < w.bodies:
        if w.general == 1:
            take_inertia(w.turned[i], flat(island.body[i].inertia))
        i += w.lanes
    barrier()
    # −1: no room, and no factors
    island.is_limited = elimination(me, w, island)
    barrier()


@loop
def take_inertia(a: ptr, out: ptr) -> None:
    """The inertia of a body on the ground, from its inverse."""
    x = a[4] * a[8] - a[5] * a[7]
    y = a[5] * a[6] - a[3] * a[8]
    t = a[3] * a[7] - a[4] * a[6]
    size = 1.0 / (a[0] * x + a[1] * y + a[2] * t)
    out[0] = size * x
    out[3] = size * y
    out[6] = size * t
    out[1] = size * (a[2] * a[7] - a[1] * a[8])
    out[4] = size * (a[0] * a[8] - a[2] * a[6])
    out[7] = size * (a[1] * a[6] - a[0] * a[7])
    out[2] = size * (a[1] * a[5] - a[2] * a[4])
    out[5] = size * (a[2] * a[3] - a[0] * a[5])
    out[8] = size * (a[0] * a[4] - a[1] * a[3])


@loop
def forget_impulses(me: i64, count: i64, w: Block) -> None:
    """No impulses: where a way ended, another one begins without."""
    h = me
    while h < count:
        for r in range(3):
            w.inner[r, h] = 0.0
        h += w.lanes
    barrier()


@loop
def inside(me: i64, limit: f64, begin: f64, way: i64, scale: f64, w: Block, island: Island) -> f64:
    """Turns of the interior method; the residual of the best impulses, which become those of w.

    As `from_inside` of scenes, whose numbers these are.
    """
    count = w.begin[w.colors]
    best = with_forces(me, scale, count, w, island)
    keep_best(me, count, w)
    if island.is_limited < 0:
        return best
    product = enter(me, limit, begin, way, count, w, island)
    damping = 0.0
    before = product
    tried = before / SHRUNK
    looked = NEAR * limit
    for turn in range(MOST):
        if turn % LOOK == LOOK - 1:
            if product > SLOW * before:
                break
            before = product
        damping = turned(me, damping, product, count, w, island)
        if damping < 0.0:
            break
        now = with_forces(me, scale, count, w, island)
        is_due = 1 if now < BETTER * looked else 0
        if now < best:
            best = now
            keep_best(me, count, w)
        if best <= limit:
            break
        product = mean_product(me, 0.0, count, w)
        is_due = 1 if product <= SHRUNK * tried else is_due
        if now <= NEAR * limit and is_due == 1:
            tried = product
            looked = now
            now = finished(me, limit, scale, w)
            if now <= limit:
                return now
    take_best(me, count, w)
    return float(with_forces(me, scale, count, w, island))


@loop
def finished(me: i64, limit: f64, scale: f64, w: Block) -> f64:
    """Sweeps from impulses that are nearly right; those of the island stay. The residual."""
    free_velocities(me, w)
    now = solved(me, 1.0, limit, LAST, scale, w)
    if now > limit and now <= CLOSE * limit:
        free_velocities(me, w)
        now = solved(me, 1.0, limit, LONGER, scale, w)
    return float(now)


@loop
def with_forces(me: i64, scale: f64, count: i64, w: Block, island: Island) -> f64:
    """The impulses along rows become those of w, with velocities; their residual."""
    contact = Contact(own_contact())
    h = me
    while h < count:
        take_rows(w.where[h], contact, w, island)
        get_force(h, contact, w)
        give_back(w.where[h], contact, w)
        h += w.lanes
    barrier()
    return float(loaded(me, scale, w))


@loop
def keep_best(me: i64, count: i64, w: Block) -> None:
    """Keeps the impulses as the best so far."""
    h = me
    while h < count:
        for r in range(3):
            w.last_force[r, h] = w.inner[r, h]
        h += w.lanes
    barrier()


@loop
def take_best(me: i64, count: i64, w: Block) -> None:
    """The best impulses so far become those of the contacts."""
    h = me
    while h < count:
        for r in range(3):
            w.inner[r, h] = w.last_force[r, h]
        h += w.lanes
    barrier()


@loop
def enter(me: i64, limit: f64, begin: f64, way: i64, count: i64, w: Block, island: Island) -> f64:
    """Impulses, rates and λ a little inside their cones; the mean of the products."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    little = begin * strength(me, count, w, island)
    h = me
    while h < count:
        get_force(h, contact, w)
        f = contact.force
        k = w.where[h]
        f[0] = max(f[0], little / w.mobility[0, k])
        part = shrink(f[1], f[2], PART * w.friction[k] * f[0])
        f[1] = part * f[1]
        f[2] = part * f[2]
        put_force(h, contact, w)
        h += w.lanes
    barrier()
    with_forces(me, 1.0, count, w, island)
    h = me
    while h < count:
        take_rows(w.where[h], contact, w, island)
        get_force(h, contact, w)
        q.mu = contact.friction
        enter_contact(w.where[h], limit, little, way, contact, q, w)
        put_entered(h, q, w)
        h += w.lanes
    i = me
    while i < w.bodies:
        for j in range(3):
            island.inner[i].spin[j] = w.next[i, j] / w.scale[i]
            island.inner[i].velocity[j] = w.next[i, 3 + j]
        i += w.lanes
    barrier()
    return float(mean_product(me, 0.0, count, w))


@loop
def strength(me: i64, count: i64, w: Block, island: Island) -> f64:
    """The strongest impulse; without one to show how strong they will be, what approaches."""
    contact = Contact(own_contact())
    strongest = 0.0
    approach = 1e-300
    h = me
    while h < count:
        k = w.where[h]
        take_rows(k, contact, w, island)
        strongest = max(strongest, w.inner[0, h] * w.mobility[0, k])
        approach = max(approach, -rate_of(k, 0, contact, w))
        h += w.lanes
    strongest = most_of(strongest, me, w)
    approach = most_of(approach, me, w)
    return float(strongest if strongest > 0.0 else approach)


@loop
def enter_contact(
    k: i64, limit: f64, little: f64, way: i64, contact: Contact, q: ConePair, w: Block
) -> None:
    """Rates and λ of one contact."""
    for r in range(3):
        q.rate[r] = rate_of(k, r, contact, w)
    enter_pair(limit, little, way, contact, q)
    for r in range(2):
        x = GOLDEN * float((2 * k + r + 1) * (2 * way + 1))
        x -= float(int(x))
        q.weight[r] = 1.0 if way < 2 else 0.25 + 3.75 * x * x


@loop
def mean_product(me: i64, s: f64, count: i64, w: Block) -> f64:
    """The mean of the products after the part s of the changes."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    total = 0.0
    cones = 0.0
    h = me
    while h < count:
        get_force(h, contact, w)
        get_entered(h, q, w)
        get_changes(h, s, q, w)
        total += products(s, contact.force, q)
        cones += float(cones_of(q))
        h += w.lanes
    total = total_of(total, me, w)
    cones = total_of(cones, me, w)
    return float(total / cones)


@loop
def scale_pairs(me: i64, count: i64, w: Block) -> None:
    """The scaling of all contacts."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    h = me
    while h < count:
        get_force(h, contact, w)
        get_entered(h, q, w)
        clear_scaled(q)
        scale_pair(contact.force, q)
        put_scaled(h, q, w)
        h += w.lanes
    barrier()


@loop
def turned(me: i64, damping: f64, now: f64, count: i64, w: Block, island: Island) -> f64:
    """One turn; the damping of the next, −1 where the matrix has no factors."""
    scale_pairs(me, count, w)
    used = damping
    far = 0.0
    for tried in range(DAMPED + 1):
        add_contacts(me, used, w, island)
        if factorized(me, System(island.system), w) != 0:
            return -1.0
        far = direction(me, used, now, count, w, island)
        if far >= STUCK or tried == DAMPED:
            break
        used = max(DAMPING * used, 1.0)
    go_all(me, far, now, count, w)
    i = me
    while i < w.bodies:
        for j in range(6):
            island.inner[i].floats[j] += far * island.change[i].floats[j]
        i += w.lanes
    barrier()
    return used / DAMPING if used > 1.0 else 0.0


@loop
def go_all(me: i64, far: f64, now: f64, count: i64, w: Block) -> None:
    """All contacts so far along their changes."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    h = me
    while h < count:
        get_force(h, contact, w)
        get_entered(h, q, w)
        get_changes(h, 1.0, q, w)
        q.lag = w.eased[1, h]
        go_inside(far, now, contact, q)
        put_force(h, contact, w)
        put_entered(h, q, w)
        h += w.lanes


@loop
def direction(me: i64, damping: f64, now: f64, count: i64, w: Block, island: Island) -> f64:
    """Changes of everything, aimed as Mehrotra does; how far they may go."""
    far = min(1.0, solve_for(me, 0.0, 0.0, count, w, island))
    part = max(mean_product(me, far, count, w) / now, 0.0)
    part = min(1.0, max(CENTERING, part * part * part)) if damping == 0.0 else 1.0
    return float(min(1.0, PART * solve_for(me, part * now, 1.0, count, w, island)))


@loop
def solve_for(me: i64, tau: f64, second: f64, count: i64, w: Block, island: Island) -> f64:
    """Changes of all contacts on the way to τ; how far all of them may go along these."""
    i = me
    while i < w.bodies:
        missing_momentum(i, island.inner[i].floats, island.change[i].floats, w, island)
        i += w.lanes
    barrier()
    aim_all(me, tau, second, w, island)
    solve_system(me, System(island.system), island.change, island.way_speed, w)
    return float(respond_all(me, count, w, island))


@loop
def aim_all(me: i64, tau: f64, second: f64, w: Block, island: Island) -> None:
    """What all contacts aim at, and their part of the momentum of bodies."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    for c in range(w.colors):
        h = w.begin[c] + me
        end = w.begin[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while h < end:
            get_force(h, contact, w)
            get_entered(h, q, w)
            get_scaled(h, q, w)
            get_changes(h, second, q, w)
            aim(contact.force, q, tau, second)
            put_constant(h, q, w)
            take_rows(w.where[h], contact, w, island)
            add_impulse(contact, q, island)
            h += w.lanes if c < COLORS else 1
        barrier()


@loop
def respond_all(me: i64, count: i64, w: Block, island: Island) -> f64:
    """Changes of all contacts with those of velocities; how far all of them may go."""
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    far = 1e30
    h = me
    while h < count:
        take_rows(w.where[h], contact, w, island)
        get_force(h, contact, w)
        get_entered(h, q, w)
        get_scaled(h, q, w)
        get_constant(h, q, w)
        for r in range(3):
            q.dz[r] = 0.0
        x = changed_rate(contact, 0, island)
        y = changed_rate(contact, 1, island)
        respond(x, y, changed_rate(contact, 2, island), q)
        put_changes(h, q, w)
        far = min(far, room_of(contact.force, q))
        h += w.lanes
    return -float(most_of(-far, me, w))


@loop
def missing_momentum(i: i64, v: ptr, out: ptr, w: Block, island: Island) -> None:
    """−M (v − v_free) of a body, to which its impulses are added."""
    for j in range(3):
        out[3 + j] = -w.mass[i] * (v[3 + j] - (w.speed[i, 3 + j] + w.h * w.gravity[j]))
        if w.general == 1:
            # the inertia on the ground lies in the place of that in the body's own axes
            row = island.body[i].inertia[j]
            out[j] = 0.0
            for a in range(3):
                out[j] -= row[a] * (v[a] - w.free[i, a])
        else:
            out[j] = -w.scale[i] * w.scale[i] / w.quick[i] * (v[j] - w.speed[i, j])


@loop
def add_impulse(contact: Contact, q: ConePair, island: Island) -> None:
    """Dᵀ (c + f) of one contact."""
    f = contact.force
    rows = contact.rows
    for side in range(2):
        if contact.body[side] >= 0:
            first = 3 * side
            own = island.change[contact.body[side]].floats
            for i in range(6):
                own[i] += (
                    rows[first, i] * (q.constant[0] + f[0])
                    + rows[first + 1, i] * (q.constant[1] + f[1])
                    + rows[first + 2, i] * (q.constant[2] + f[2])
                )


@loop
def changed_rate(contact: Contact, r: i64, island: Island) -> f64:
    """The change of a rate of a contact with those of velocities."""
    total = 0.0
    for side in range(2):
        if contact.body[side] >= 0:
            row = contact.rows[3 * side + r]
            own = island.change[contact.body[side]].floats
            for i in range(6):
                total += row[i] * own[i]
    return total
