"""Impulses of many contacts at once, from inside their cones, where sweeps do not get there.

Turns of the interior method go most of the way to the first bound. τ follows what is left of the
products, after Mehrotra; δ damps turns that hardly move,

    ((1 + δ) M + Dᵀ G D) δv = Dᵀ c                                                  (interior-3)

With friction the path of solutions over τ may turn back, since Coulomb's law is not that of a
potential; then another path is taken, whose products have other weights.

The interior method for many contacts: pairs of cones, linearized, and bodies that answer them.

One contact of the interior method: its two pairs of cones, scaled, linearized and stepped.

Coulomb's law with τ in place of 0 is smooth,

    f_n w = τ,   (μ f_n, f_t) ∘ (λ, u_t) = (τ, 0),   w = u_n + ε a f_n             (interior-1)

f_n and w positive, the others inside the cone |t| < n, ∘ the product of that cone's algebra. λ is
free and becomes |u_t|. ε, far below the tolerance, bounds impulses that only press against each
other, as in a wedge with friction, where they would grow without end.

After scaling by the point of Nesterov and Todd a change of the rates gives one of the impulses,
δf = c − G δu, G three by three. All contacts, linearized, are solved for the
velocities of bodies,

    (M + Dᵀ G D) δv = Dᵀ c                                                          (interior-2)

The matrix is not symmetric, since Coulomb's law is not. `from_inside` takes the turns.

Source: NT98 §2 (scaling); ACA ch. 13; docs/theory/contact_solvers.md.

Public names: from_inside, keep_best, take_best, with_impulses, scale_pair, mean_product,
least_room, solve_for, assemble.

Source: MEH92 (second order); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.layout import MANY_BODIES, ConePair, Contact, Island, Panels, System
from liaison.contacts.scene.rates import rate, residual_of, start_from
from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Record, inline
from liaison.solvers.cones.table import shrink

from .block_factors import order_panels
from .panels import add_weighted, factorize_panels, solve_panels, weighted
from .sweeps import swept

TINY = 1e-300


@loop
def scale_pair(f: ptr, q: ConePair) -> None:
    """The scaling of a contact and its G."""
    for i in range(3):
        for j in range(3):
            q.g[i, j] = 0.0
    q.part = 1.0 / (1.0 + f[0] / q.w * q.soft)
    q.lag = q.w - q.rate[0] - q.soft * f[0]
    q.g[0, 0] = f[0] / q.w * q.part
    if q.mu > 0.0:
        scaling_point(f, q)
        along = 2.0 * q.point[0] * q.point[0] - 1.0
        size = 1.0 / (q.eta * q.eta)
        q.h = along * size
        length = sqrt(q.point[1] * q.point[1] + q.point[2] * q.point[2])
        x = q.point[1] / length if length > 0.0 else 1.0
        y = q.point[2] / length if length > 0.0 else 0.0
        for i in range(2):
            q.kappa[i] = -2.0 * q.point[0] * q.point[1 + i] / along
            q.g[1 + i, 0] = q.mu * q.kappa[i] * q.g[0, 0]
        q.g[1, 1] = size * (y * y + x * x / along)
        q.g[2, 2] = size * (x * x + y * y / along)
        q.g[1, 2] = size * x * y * (1.0 / along - 1.0)
        q.g[2, 1] = q.g[1, 2]


@loop
def scaling_point(f: ptr, q: ConePair) -> None:
    """η and w̄ with W f̂ = W⁻¹ẑ, and that vector."""
    n = q.mu * f[0]
    ds = sqrt(inside(q.slack, q.rate[1], q.rate[2]))
    dy = sqrt(inside(n, f[1], f[2]))
    dot = q.slack * n + q.rate[1] * f[1] + q.rate[2] * f[2]
    half = 2.0 * sqrt(0.5 * (1.0 + dot / (ds * dy)))
    q.point[0] = (q.slack / ds + n / dy) / half
    q.point[1] = (q.rate[1] / ds - f[1] / dy) / half
    q.point[2] = (q.rate[2] / ds - f[2] / dy) / half
    q.eta = sqrt(ds / dy)
    forth(n, f[1], f[2], 1.0, q, q.scaled)


@loop
def inside(n: f64, x: f64, y: f64) -> f64:
    """n² − x² − y², not below what is tiny."""
    t = sqrt(x * x + y * y)
    return max((n - t) * (n + t), TINY)


@loop
def forth(n: f64, x: f64, y: f64, sign: f64, q: ConePair, out: ptr) -> None:
    """W (n, x, y), or W⁻¹ of it where the sign is −1."""
    a = q.point[0]
    b = sign * q.point[1]
    c = sign * q.point[2]
    size = q.eta if sign > 0.0 else 1.0 / q.eta
    t = b * x + c * y
    out[0] = size * (a * n + t)
    part = n + t / (1.0 + a)
    out[1] = size * (x + b * part)
    out[2] = size * (y + c * part)


@loop
def aim(f: ptr, q: ConePair, tau: f64, second: f64) -> None:
    """What complementarity asks of a contact on the way to τ; with the product of its changes."""
    q.dn = (q.weight[0] * tau - second * q.df[0] * q.dw) / q.w - f[0]
    if q.mu > 0.0:
        a = q.d
        s = q.scaled
        own = q.weight[1] * tau
        if second == 0.0:
            divide(s, own, 0.0, 0.0, a)
        else:
            # a holds one factor of the product, c the other
            b = q.constant
            forth(q.dz[0], q.dz[1], q.dz[2], -1.0, q, a)
            forth(q.mu * q.df[0], q.df[1], q.df[2], 1.0, q, b)
            n = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
            x = a[0] * b[1] + b[0] * a[1]
            y = a[0] * b[2] + b[0] * a[2]
            divide(s, own - second * n, -second * x, -second * y, a)
        for i in range(3):
            a[i] -= s[i]
    constant_part(q)


@loop
def divide(s: ptr, n: f64, x: f64, y: f64, out: ptr) -> None:
    """The vector whose product with s is (n, x, y)."""
    first = (s[0] * n - s[1] * x - s[2] * y) / inside(s[0], s[1], s[2])
    out[0] = first
    out[1] = (x - first * s[1]) / s[0]
    out[2] = (y - first * s[2]) / s[0]


@loop
def constant_part(q: ConePair) -> None:
    """c of δf = c − G δu."""
    q.constant[0] = q.dn * q.part + q.g[0, 0] * q.lag
    q.constant[1] = 0.0
    q.constant[2] = 0.0
    if q.mu > 0.0:
        normal = q.constant[0]
        forth(q.d[0], q.d[1], q.d[2], -1.0, q, q.constant)
        q.first = q.constant[0]
        q.constant[0] = normal
        for i in range(2):
            q.constant[1 + i] += q.kappa[i] * (q.mu * normal - q.first)


@loop
def respond(n: f64, x: f64, y: f64, q: ConePair) -> None:
    """The changes of a contact with the change (n, x, y) of its rates."""
    for i in range(3):
        row = q.g[i]
        q.df[i] = q.constant[i] - row[0] * n - row[1] * x - row[2] * y
    q.dw = n + q.soft * q.df[0] - q.lag
    if q.mu > 0.0:
        q.dz[0] = (q.first - q.mu * q.df[0]) / q.h - q.kappa[0] * x - q.kappa[1] * y
        q.dz[1] = x
        q.dz[2] = y


@loop
def room_of(f: ptr, q: ConePair) -> f64:
    """How far a contact may go along its changes."""
    far = 1e30
    if q.dw < 0.0:
        far = -q.w / q.dw
    if q.df[0] < 0.0:
        far = min(far, -f[0] / q.df[0])
    if q.mu > 0.0:
        m = q.mu
        far = min(far, cone_room(m * f[0], f[1], f[2], m * q.df[0], q.df[1], q.df[2]))
        if q.is_strict == 1:
            u = q.rate
            far = min(far, cone_room(q.slack, u[1], u[2], q.dz[0], q.dz[1], q.dz[2]))
    return far


@loop
def cone_room(n: f64, x: f64, y: f64, dn: f64, dx: f64, dy: f64) -> f64:
    """The least s > 0 at which (n, x, y) + s (dn, dx, dy) leaves the cone."""
    t = sqrt(dx * dx + dy * dy)
    a = (dn - t) * (dn + t)
    b = n * dn - x * dx - y * dy
    c = inside(n, x, y)
    root = b * b - a * c
    if root < 0.0:
        return 1e30
    root = sqrt(root)
    if b < 0.0:
        return c / (root - b)
    return -(b + root) / a if a < 0.0 else 1e30


@loop
def products(s: f64, f: ptr, q: ConePair) -> f64:
    """f_n w + f̂·ẑ after the part s of the changes."""
    total = (f[0] + s * q.df[0]) * (q.w + s * q.dw)
    if q.mu > 0.0:
        total += q.mu * (f[0] + s * q.df[0]) * (q.slack + s * q.dz[0])
        for i in range(1, 3):
            total += (f[i] + s * q.df[i]) * (q.rate[i] + s * q.dz[i])
    return float(total)


@loop
def cones_of(q: ConePair) -> i64:
    """Pairs of cones of a contact."""
    return 2 if q.mu > 0.0 else 1


@loop
def mean_product(s: f64, island: Island) -> f64:
    """The mean of the products after the part s of the changes."""
    total = 0.0
    cones = 0
    for c in range(island.contacts):
        q = island.cone[c]
        if s == 0.0:
            q.dw = 0.0
            for i in range(3):
                q.df[i] = 0.0
                q.dz[i] = 0.0
        total += products(s, island.contact[c].force, q)
        cones += cones_of(q)
    return float(total / float(cones))


@loop
def least_room(island: Island) -> f64:
    """How far all contacts may go along their changes."""
    far = 1e30
    for c in range(island.contacts):
        far = min(far, room_of(island.contact[c].force, island.cone[c]))
    return far


@loop
def solve_for(tau: f64, second: f64, island: Island) -> None:
    """Changes of all contacts on the way to τ, by (interior-2)."""
    for i in range(island.bodies):
        missing_momentum(i, island)
    for c in range(island.contacts):
        contact = island.contact[c]
        q = island.cone[c]
        f = contact.force
        aim(f, q, tau, second)
        for side in range(2):
            if contact.body[side] >= 0:
                rows = contact.rows
                first = 3 * side
                own = island.change[contact.body[side]].floats
                for i in range(6):
                    own[i] += (
                        rows[first, i] * (q.constant[0] + f[0])
                        + rows[first + 1, i] * (q.constant[1] + f[1])
                        + rows[first + 2, i] * (q.constant[2] + f[2])
                    )
    solve_panels(Panels(island.panels), island.change)
    for c in range(island.contacts):
        changed_rates(island.contact[c], island)
        respond(island.rates[0], island.rates[1], island.rates[2], island.cone[c])


@loop
def changed_rates(contact: Contact, island: Island) -> None:
    """The change of the rates of a contact with those of velocities, into `rates`."""
    du = island.rates
    for r in range(3):
        du[r] = 0.0
        for side in range(2):
            if contact.body[side] >= 0:
                row = contact.rows[3 * side + r]
                own = island.change[contact.body[side]].floats
                for i in range(6):
                    du[r] += row[i] * own[i]


@loop
def missing_momentum(i: i64, island: Island) -> None:
    """−M (v − v_free) of a body, to which its impulses are added."""
    block = island.block
    v = island.inner[i].floats
    free = island.unloaded[i].floats
    for j in range(36):
        block[j] = 0.0
    inertia(i, -1.0, block, island)
    for a in range(6):
        total = 0.0
        for b in range(6):
            total += block[6 * a + b] * (v[b] - free[b])
        island.change[i].floats[a] = total


@loop
def assemble(damping: f64, island: Island) -> i64:
    """The factors of the matrix of (interior-2); 1 where it has none."""
    p = Panels(island.panels)
    for j in range(p.shift, p.shift + p.used):
        p.upper[j] = 0.0
        p.lower[j] = 0.0
    for number in range(p.bodies):
        add_inertia(p.order[number], 1.0 + damping, p.upper[p.shift + p.pivot[number] :], island)
    for c in range(island.contacts):
        add_to_panels(c, p, island)
    return factorize_panels(p)


@loop
def add_inertia(i: i64, times: f64, out: ptr, island: Island) -> None:
    """M of a body added to its block, rows of eight numbers."""
    block = island.block
    for j in range(36):
        block[j] = 0.0
    inertia(i, times, block, island)
    for a in range(6):
        for b in range(6):
            out[8 * a + b] += block[6 * a + b]


@loop
def add_to_panels(c: i64, p: Panels, island: Island) -> None:
    """Dᵀ G D of one contact: two blocks of the diagonal, and one each of U and of Lᵀ."""
    contact = island.contact[c]
    g = flat(island.cone[c].g)
    left = flat(contact.rows)
    right = left[18:]
    GL = flat(p.product)
    GR = GL[18:]
    one = contact.body[0]
    later = p.place[contact.body[1]]
    weighted(right, g, 0, GR)
    add_weighted(right, GR, p.upper[p.shift + p.pivot[later] :])
    if one >= 0:
        sooner = p.place[one]
        weighted(left, g, 0, GL)
        add_weighted(left, GL, p.upper[p.shift + p.pivot[sooner] :])
        u = p.upper[p.shift + p.between[c] :]
        v = p.lower[p.shift + p.between[c] :]
        if sooner < later:
            add_weighted(left, GR, u)
            weighted(right, g, 1, GR)
            add_weighted(left, GR, v)
        else:
            add_weighted(right, GL, u)
            weighted(left, g, 1, GL)
            add_weighted(right, GL, v)


@final
class Six(Record):
    """A block of the matrix: of one body, turning before moving."""

    M: ptr = inline(6, 6)


@loop
def inertia(i: i64, times: f64, block: ptr, island: Island) -> None:
    """M of a body into its block: from the inverse of its inertia, which is at hand."""
    a = island.body[i].turned_inverse
    x = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    y = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    t = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    size = times / (a[0, 0] * x + a[0, 1] * y + a[0, 2] * t)
    six = Six(block)
    six.M[0, 0] = size * x
    six.M[1, 0] = size * y
    six.M[2, 0] = size * t
    six.M[0, 1] = size * (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2])
    six.M[1, 1] = size * (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0])
    six.M[2, 1] = size * (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1])
    six.M[0, 2] = size * (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1])
    six.M[1, 2] = size * (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2])
    six.M[2, 2] = size * (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0])
    for j in range(3, 6):
        six.M[j, j] = times * island.body[i].mass


PART = 0.95
"""Of the way to the first bound that a turn goes."""

CENTERING = 0.1
"""The least part of the mean product that a turn aims at."""

NEAR, LAST = 30.0, 20
"""Residual, beside the tolerance, from which sweeps may end the search, and how many."""

CLOSE, LONGER, SHRUNK, BETTER = 2.0, 60, 0.4, 0.7
"""Residual after these from which more of them follow, how many, and to what part the mean product
or the residual must have shrunk before sweeps are tried again."""

LOOK, SLOW = 20, 0.5
"""Turns after which the mean product must have shrunk, and to what part."""

STUCK, DAMPING, DAMPED = 0.05, 4.0, 3
"""Way below which a turn is damped, by what factor more each time, and how often."""

SOFT, WEDGE = 0.05, 0.55
"""ε beside the tolerance; friction from which three balls hold each other by it, tan 30° or so, so
that ε is there from the first try on."""

STRICT, LEAST = 0.4, 0.01
"""Friction from which turns never leave the cones of λ, and part of the mean product that is left
of a product whose λ is set anew."""

GOLDEN = 0.6180339887498949


@loop
def from_inside(mu: f64, tolerance: f64, begin: f64, way: i64, turns: i64, island: Island) -> f64:
    """Impulses with a residual up to the tolerance, from those there are on; the residual.

    Args:
        mu: 1, or 0 where nothing has friction.
        tolerance: residual that is enough.
        begin: how far inside their cones impulses and rates begin, beside the strongest impulse.
        way: number of the way to take: from 1 on with ε everywhere, from 2 on with products that
            differ.
        turns: at most.
        island: velocities without impulses are `unloaded`; impulses and velocities become the best.
    """
    best = float(residual_of(mu, island))
    keep_best(island)
    if island.bodies > MANY_BODIES:
        return best
    panels = Panels(island.panels)
    if order_panels(island.contacts, island.contact, System(island.system), panels) < 0:
        return best
    enter(mu, tolerance, begin, way, island)
    weigh(way, island)
    damping = 0.0
    before = mean_product(0.0, island)
    tried = before / SHRUNK
    looked = NEAR * tolerance
    for turn in range(turns):
        if turn % LOOK == LOOK - 1:
            product = mean_product(0.0, island)
            if product > SLOW * before:
                break
            before = product
        damping = turn_inside(damping, island)
        island.turns += 1
        if damping < 0.0:
            break
        with_impulses(island)
        now = float(residual_of(mu, island))
        is_due = 1 if now < BETTER * looked else 0
        if now < best:
            best = now
            keep_best(island)
        product = mean_product(0.0, island)
        is_due = 1 if product <= SHRUNK * tried else is_due
        if best > tolerance and now <= NEAR * tolerance and is_due == 1:
            tried = product
            looked = now
            best = min(best, finished(mu, tolerance, island))
        if best <= tolerance:
            break
    take_best(island)
    with_impulses(island)
    return best


@loop
def keep_best(island: Island) -> None:
    """Keeps the impulses as the best so far."""
    for c in range(island.contacts):
        for r in range(3):
            island.best_force[c, r] = island.contact[c].force[r]


@loop
def take_best(island: Island) -> None:
    """The best impulses so far become those of the contacts."""
    for c in range(island.contacts):
        for r in range(3):
            island.contact[c].force[r] = island.best_force[c, r]


@loop
def finished(mu: f64, tolerance: f64, island: Island) -> f64:
    """Sweeps from impulses that are nearly right: the residual, kept as the best; or taken back."""
    for c in range(island.contacts):
        for r in range(3):
            island.inner_force[c, r] = island.contact[c].force[r]
    now = swept(mu, tolerance, LAST, island)
    if now > tolerance and now <= CLOSE * tolerance:
        now = swept(mu, tolerance, LONGER, island)
    if now <= tolerance:
        keep_best(island)
        return now
    for c in range(island.contacts):
        for r in range(3):
            island.contact[c].force[r] = island.inner_force[c, r]
    return 1e300


@loop
def with_impulses(island: Island) -> None:
    """Velocities with the impulses as they are."""
    copy_twists(island.bodies, island.unloaded, island.next)
    start_from(island)


@loop
def enter(mu: f64, tolerance: f64, begin: f64, way: i64, island: Island) -> None:
    """Impulses, rates and λ a little inside their cones."""
    strongest = 0.0
    for c in range(island.contacts):
        strongest = max(strongest, island.contact[c].force[0] * island.contact[c].normal)
    if strongest == 0.0:
        # no impulse shows how strong they will be: as strong as what approaches
        strongest = 1e-300
        for c in range(island.contacts):
            strongest = max(strongest, -rate(island.contact[c], 0, island))
    little = begin * strongest
    for c in range(island.contacts):
        contact = island.contact[c]
        q = island.cone[c]
        f = contact.force
        q.mu = mu * contact.friction
        f[0] = max(f[0], little / contact.normal)
        part = shrink(f[1], f[2], PART * q.mu * f[0])
        f[1] = part * f[1]
        f[2] = part * f[2]
    with_impulses(island)
    copy_twists(island.bodies, island.next, island.inner)
    for c in range(island.contacts):
        q = island.cone[c]
        for r in range(3):
            q.rate[r] = rate(island.contact[c], r, island)
        enter_pair(tolerance, little, way, island.contact[c], q)


@loop
def enter_pair(tolerance: f64, little: f64, way: i64, contact: Contact, q: ConePair) -> None:
    """ε, w and λ of a contact whose impulse and rates are known."""
    q.is_strict = 1 if way > 0 or q.mu > STRICT else 0
    is_soft = 1.0 if way > 0 or q.mu > WEDGE else 0.0
    q.soft = is_soft * SOFT * tolerance * contact.normal
    q.w = max(q.rate[0] + q.soft * contact.force[0], little)
    q.slack = 0.0
    if q.mu > 0.0:
        slip = sqrt(q.rate[1] * q.rate[1] + q.rate[2] * q.rate[2])
        q.slack = 1.1 * slip + 0.5 * little / q.mu


@loop
def weigh(way: i64, island: Island) -> None:
    """Weights of the products along a way, the same at every call: 1, or from ¼ to 4."""
    for c in range(island.contacts):
        for r in range(2):
            x = GOLDEN * float((2 * c + r + 1) * (2 * way + 1))
            x -= float(int(x))
            island.cone[c].weight[r] = 1.0 if way < 2 else 0.25 + 3.75 * x * x


@loop
def turn_inside(damping: f64, island: Island) -> f64:
    """One turn; the damping of the next, −1 where the matrix has no factors."""
    for c in range(island.contacts):
        scale_pair(island.contact[c].force, island.cone[c])
    used = damping
    far = 0.0
    now = mean_product(0.0, island)
    for tried in range(DAMPED + 1):
        if assemble(used, island) != 0:
            return -1.0
        far = direction(used, island)
        if far >= STUCK or tried == DAMPED:
            break
        used = max(DAMPING * used, 1.0)
    for c in range(island.contacts):
        go_inside(far, now, island.contact[c], island.cone[c])
    for i in range(island.bodies):
        v = island.inner[i].floats
        for j in range(6):
            v[j] += far * island.change[i].floats[j]
    return used / DAMPING if used > 1.0 else 0.0


@loop
def go_inside(far: f64, now: f64, contact: Contact, q: ConePair) -> None:
    """One contact so far along its changes."""
    for r in range(3):
        contact.force[r] += far * q.df[r]
    # rates by what they change: of what sticks they are far below the rounding of v
    q.rate[0] += far * (q.dw + q.lag - q.soft * q.df[0])
    q.rate[1] += far * q.dz[1]
    q.rate[2] += far * q.dz[2]
    q.w += far * q.dw
    q.slack += far * q.dz[0]
    if q.mu > 0.0 and q.is_strict == 0:
        # nothing else hangs on λ: where it would leave its cone it is set anew
        slip = sqrt(q.rate[1] * q.rate[1] + q.rate[2] * q.rate[2])
        least = LEAST * now / (q.mu * contact.force[0])
        q.slack = max(q.slack, slip + least)


@loop
def direction(damping: f64, island: Island) -> f64:
    """Changes of everything, aimed as Mehrotra does; how far they may go.

    A damped turn leaves momentum behind. It keeps the mean product: products would vanish before
    the impulses carry the bodies otherwise.
    """
    now = mean_product(0.0, island)
    solve_for(0.0, 0.0, island)
    far = min(1.0, least_room(island))
    part = max(mean_product(far, island) / now, 0.0)
    part = min(1.0, max(CENTERING, part * part * part)) if damping == 0.0 else 1.0
    solve_for(part * now, 1.0, island)
    return float(min(1.0, PART * least_room(island)))
