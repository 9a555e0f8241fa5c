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

from liaison.contacts.scene.layout import (
    BLOCKS,
    BODIES,
    COUNT,
    K_CONTACT,
    K_SPARSE,
    LAW,
    ROWS,
    TURNS,
    Z_FORCE,
    Z_INSIDE,
    Z_INVERSE,
    Z_LAW,
    Z_MASS,
    Z_NEW,
    Z_ROWS,
    Z_SCALE,
)
from liaison.contacts.scene.rates import rate, residual_of, start_from
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .block_factors import BLOCK, factorize_bodies, solve_bodies
from .cone_pairs import (
    CONSTANT,
    DF,
    DW,
    DZ,
    LAMBDA,
    MU,
    PAIR,
    RATE,
    G,
    W,
    aim,
    cones_of,
    products,
    respond,
    room_of,
    scale_pair,
)
from .elimination import BETWEEN, PLACE, START, eliminate
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
def from_inside(mu: f64, tolerance: f64, begin: f64, turns: i64, free: ptr, z: ptr, k: iptr) -> f64:
    """Impulses with a residual up to the tolerance, from those in Z_FORCE on; the residual.

    Args:
        mu: 1, or 0 where nothing rubs.
        tolerance: residual that is enough.
        begin: how far inside their cones impulses and rates begin, beside the strongest impulse.
        turns: at most.
        free: velocities without impulses.
        z: floats; impulses and velocities are the best found.
        k: integers.
    """
    n = k[BODIES]
    best = float(residual_of(mu, z, k))
    kept = at(z, k[Z_INSIDE] + PAIR * k[COUNT])
    for i in range(3 * k[COUNT]):
        kept[i] = z[k[Z_FORCE] + i]
    table = at(k, k[K_SPARSE])
    if eliminate(n, k[COUNT], at(k, k[K_CONTACT]), k[BLOCKS], table) < 0:
        return best
    enter(mu, begin, free, z, k)
    damping = 0.0
    before = mean_product(0.0, z, k)
    for turn in range(turns):
        if turn % LOOK == LOOK - 1:
            product = mean_product(0.0, z, k)
            if product > SLOW * before:
                break
            before = product
        damping = turn_inside(damping, free, z, k)
        k[TURNS] += 1
        if damping < 0.0:
            break
        with_impulses(free, z, k)
        now = float(residual_of(mu, z, k))
        if now < best:
            best = now
            for i in range(3 * k[COUNT]):
                kept[i] = z[k[Z_FORCE] + i]
        if best > tolerance and now <= best and best <= NEAR * tolerance:
            best = finished(mu, tolerance, best, z, k)
        if best <= tolerance:
            break
    for i in range(3 * k[COUNT]):
        z[k[Z_FORCE] + i] = kept[i]
    with_impulses(free, z, k)
    return best


@loop
def finished(mu: f64, tolerance: f64, best: f64, z: ptr, k: iptr) -> f64:
    """Sweeps from impulses that are nearly right; kept if they get there. The best residual."""
    kept = at(z, k[Z_INSIDE] + PAIR * k[COUNT])
    now = swept(mu, tolerance, LAST, z, k)
    if now <= tolerance:
        for i in range(3 * k[COUNT]):
            kept[i] = z[k[Z_FORCE] + i]
        return now
    for i in range(3 * k[COUNT]):
        z[k[Z_FORCE] + i] = kept[i]
    return best


@loop
def with_impulses(free: ptr, z: ptr, k: iptr) -> None:
    """Velocities with the impulses as they are."""
    for i in range(6 * k[BODIES]):
        z[k[Z_NEW] + i] = free[i]
    start_from(z, k)


@loop
def enter(mu: f64, begin: f64, free: ptr, z: ptr, k: iptr) -> None:
    """Impulses, rates and λ a little inside their cones."""
    strongest = 1e-300
    for c in range(k[COUNT]):
        strongest = max(strongest, z[k[Z_FORCE] + 3 * c] * z[k[Z_SCALE] + 2 * c])
    little = begin * strongest
    for c in range(k[COUNT]):
        q = at(z, k[Z_INSIDE] + PAIR * c)
        f = at(z, k[Z_FORCE] + 3 * c)
        q[MU] = mu * z[k[Z_LAW] + LAW * c]
        f[0] = max(f[0], little / z[k[Z_SCALE] + 2 * c])
        length = sqrt(f[1] * f[1] + f[2] * f[2])
        bound = PART * q[MU] * f[0]
        part = bound / length if length > bound else 1.0
        f[1] = part * f[1]
        f[2] = part * f[2]
    with_impulses(free, z, k)
    v = at(z, k[Z_INSIDE] + (PAIR + 3) * k[COUNT] + 6 * k[BODIES])
    for i in range(6 * k[BODIES]):
        v[i] = z[k[Z_NEW] + i]
    for c in range(k[COUNT]):
        q = at(z, k[Z_INSIDE] + PAIR * c)
        for r in range(3):
            q[RATE + r] = rate(c, r, z, k)
        q[W] = max(q[RATE], little)
        if q[MU] > 0.0:
            slip = sqrt(q[RATE + 1] * q[RATE + 1] + q[RATE + 2] * q[RATE + 2])
            q[LAMBDA] = 1.1 * slip + 0.5 * little / q[MU]


@loop
def turn_inside(damping: f64, free: ptr, z: ptr, k: iptr) -> f64:
    """One turn; the damping of the next, −1 where the matrix has no factors."""
    for c in range(k[COUNT]):
        scale_pair(at(z, k[Z_FORCE] + 3 * c), at(z, k[Z_INSIDE] + PAIR * c))
    used = damping
    for tried in range(DAMPED + 1):
        if assemble(used, z, k) != 0:
            return -1.0
        far = direction(free, z, k)
        if far >= STUCK or tried == DAMPED:
            break
        used = max(DAMPING * used, 1.0)
    for c in range(k[COUNT]):
        q = at(z, k[Z_INSIDE] + PAIR * c)
        for r in range(3):
            z[k[Z_FORCE] + 3 * c + r] += far * q[DF + r]
        # rates by what they change: of what sticks they are far below the rounding of v
        q[RATE] += far * (q[DW] + q[W] - q[RATE])
        q[RATE + 1] += far * q[DZ + 1]
        q[RATE + 2] += far * q[DZ + 2]
        q[W] += far * q[DW]
        q[LAMBDA] += far * q[DZ]
    x = at(z, k[Z_INSIDE] + (PAIR + 3) * k[COUNT])
    for i in range(6 * k[BODIES]):
        x[6 * k[BODIES] + i] += far * x[i]
    return used / DAMPING if used > 1.0 else 0.0


@loop
def direction(free: ptr, z: ptr, k: iptr) -> f64:
    """Changes of everything, aimed as Mehrotra does; how far they may go."""
    now = mean_product(0.0, z, k)
    solve_for(0.0, 0.0, free, z, k)
    far = min(1.0, least_room(z, k))
    part = max(mean_product(far, z, k) / now, 0.0)
    part = min(1.0, max(CENTERING, part * part * part))
    solve_for(part * now, 1.0, free, z, k)
    return float(min(1.0, PART * least_room(z, k)))


@loop
def mean_product(s: f64, z: ptr, k: iptr) -> f64:
    """The mean of the products after the part s of the changes."""
    total = 0.0
    cones = 0
    for c in range(k[COUNT]):
        q = at(z, k[Z_INSIDE] + PAIR * c)
        if s == 0.0:
            for i in range(DF, DZ + 3):
                q[i] = 0.0
        total += products(s, at(z, k[Z_FORCE] + 3 * c), q)
        cones += cones_of(q)
    return float(total / float(cones))


@loop
def least_room(z: ptr, k: iptr) -> f64:
    """How far all contacts may go along their changes."""
    far = 1e30
    for c in range(k[COUNT]):
        far = min(far, room_of(at(z, k[Z_FORCE] + 3 * c), at(z, k[Z_INSIDE] + PAIR * c)))
    return far


@loop
def solve_for(tau: f64, second: f64, free: ptr, z: ptr, k: iptr) -> None:
    """Changes of all contacts on the way to τ, by (interior-2)."""
    n = k[BODIES]
    x = at(z, k[Z_INSIDE] + (PAIR + 3) * k[COUNT])
    for i in range(n):
        missing_momentum(i, free, x, z, k)
    for c in range(k[COUNT]):
        q = at(z, k[Z_INSIDE] + PAIR * c)
        f = at(z, k[Z_FORCE] + 3 * c)
        aim(f, q, tau, second)
        for side in range(2):
            body = k[k[K_CONTACT] + 2 * c + side]
            if body >= 0:
                rows = at(z, k[Z_ROWS] + ROWS * c + 1 + 18 * side)
                own = at(x, 6 * body)
                for i in range(6):
                    own[i] += (
                        rows[i] * (q[CONSTANT] + f[0])
                        + rows[6 + i] * (q[CONSTANT + 1] + f[1])
                        + rows[12 + i] * (q[CONSTANT + 2] + f[2])
                    )
    solve_bodies(n, k[BLOCKS], at(k, k[K_SPARSE]), at(x, 18 * n + BLOCK), x)
    for c in range(k[COUNT]):
        du = at(x, 18 * n)
        for r in range(3):
            du[r] = 0.0
            for side in range(2):
                body = k[k[K_CONTACT] + 2 * c + side]
                if body >= 0:
                    row = at(z, k[Z_ROWS] + ROWS * c + 1 + 18 * side + 6 * r)
                    own = at(x, 6 * body)
                    for i in range(6):
                        du[r] += row[i] * own[i]
        respond(du[0], du[1], du[2], at(z, k[Z_INSIDE] + PAIR * c))


@loop
def missing_momentum(i: i64, free: ptr, x: ptr, z: ptr, k: iptr) -> None:
    """−M (v − v_free) of a body, to which its impulses are added."""
    n = k[BODIES]
    block = at(x, 18 * n)
    for j in range(BLOCK):
        block[j] = 0.0
    inertia(i, -1.0, block, z, k)
    for a in range(6):
        total = 0.0
        for b in range(6):
            total += block[6 * a + b] * (x[6 * n + 6 * i + b] - free[6 * i + b])
        x[6 * i + a] = total


@loop
def assemble(damping: f64, z: ptr, k: iptr) -> i64:
    """The factors of the matrix of (interior-2); 1 where it has none."""
    n = k[BODIES]
    a = at(z, k[Z_INSIDE] + (PAIR + 3) * k[COUNT] + 18 * n + BLOCK)
    used = at(k, k[K_SPARSE])
    for i in range(BLOCK * n):
        a[i] = 0.0
    filled = used[used[START] + n]
    for i in range(BLOCK * filled):
        a[BLOCK * n + i] = 0.0
        a[BLOCK * (n + k[BLOCKS]) + i] = 0.0
    for i in range(n):
        inertia(i, 1.0 + damping, at(a, BLOCK * i), z, k)
    for c in range(k[COUNT]):
        add_contact(c, a, z, k)
    return factorize_bodies(n, k[BLOCKS], used, a)


@loop
def inertia(i: i64, times: f64, block: ptr, z: ptr, k: iptr) -> None:
    """M of a body into its block: from the inverse of its inertia, which is at hand."""
    a = at(z, k[Z_INVERSE] + 9 * i)
    x = a[4] * a[8] - a[5] * a[7]
    y = a[5] * a[6] - a[3] * a[8]
    t = a[3] * a[7] - a[4] * a[6]
    size = times / (a[0] * x + a[1] * y + a[2] * t)
    block[0] = size * x
    block[6] = size * y
    block[12] = size * t
    block[1] = size * (a[2] * a[7] - a[1] * a[8])
    block[7] = size * (a[0] * a[8] - a[2] * a[6])
    block[13] = size * (a[1] * a[6] - a[0] * a[7])
    block[2] = size * (a[1] * a[5] - a[2] * a[4])
    block[8] = size * (a[2] * a[3] - a[0] * a[5])
    block[14] = size * (a[0] * a[4] - a[1] * a[3])
    for j in range(3, 6):
        block[7 * j] = times * z[k[Z_MASS] + i]


@loop
def add_contact(c: i64, a: ptr, z: ptr, k: iptr) -> None:
    """Dᵀ G D of one contact: two blocks of the diagonal, and two between its bodies."""
    n = k[BODIES]
    s = at(k, k[K_SPARSE])
    q = at(z, k[Z_INSIDE] + PAIR * c)
    rows = at(z, k[Z_ROWS] + ROWS * c + 1)
    one = k[k[K_CONTACT] + 2 * c]
    other = k[k[K_CONTACT] + 2 * c + 1]
    add_product(at(rows, 18), at(rows, 18), q, at(a, BLOCK * other))
    if one >= 0:
        add_product(rows, rows, q, at(a, BLOCK * one))
        lower = at(a, BLOCK * (n + s[s[BETWEEN] + c]))
        upper = at(lower, BLOCK * k[BLOCKS])
        if s[s[PLACE] + one] < s[s[PLACE] + other]:
            add_product(at(rows, 18), rows, q, lower)
            add_product(rows, at(rows, 18), q, upper)
        else:
            add_product(rows, at(rows, 18), q, lower)
            add_product(at(rows, 18), rows, q, upper)


@loop
def add_product(left: ptr, right: ptr, q: ptr, out: ptr) -> None:
    """out += leftᵀ G right, three rows each."""
    g = at(q, G)
    for j in range(6):
        x = right[j]
        y = right[6 + j]
        t = right[12 + j]
        a = g[0] * x
        b = g[3] * x + g[4] * y + g[5] * t
        c = g[6] * x + g[7] * y + g[8] * t
        for i in range(6):
            out[6 * i + j] += left[i] * a + left[6 + i] * b + left[12 + i] * c
