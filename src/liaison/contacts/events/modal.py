"""Motion in one mode: which rows are closed, which stick, which slip, is given and stays.

Closed gaps and rates and sticking friction hold their rows; slipping friction is a force along the
slip, in proportion to what presses:

    M v̇ = f + Gᵀλ + Σ_closed (D_n + Σ_slip w D_t)ᵀ f_n + Σ_stick D_tᵀ f_t,            (modal-1)
    G v̇ = γ,   D v̇ + bias = 0 of every closed or sticking row,

with w = −μ² u/|μ u| on the ellipse of the coefficients μ (isotropic: −μ u/|u|). In the metric of M
the rows G are made orthonormal once; what is left of the rows D gives a small system for their
forces. It need not be symmetric, and where contacts repeat each other it has many solutions (see
`sharing`).

How contacts that repeat each other share what they carry: forces nearest zero, none that pulls.

A box on four corners has many forces that keep it at rest. The ones nearest zero are taken; where a
load among them is negative, its row is left out with the friction under it, the lowest first, as
long as the others keep what it keeps. Where they do not, the load is what ends the mode.

Public names: SLOW, slip_weights, coefficient, resting_part, is_pressed, resists, loosened, prepare,
beside_closures, meet_closures, compliant, add_slips, solve_mode, write_forces. Source:
docs/theory/one_sided.md (modal-1), share. Source: LH74 ch. 23 (least squares with nonnegative
unknowns); docs/theory/one_sided.md.
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.layout import Law
from liaison.simulation.steps.sides_layout import (
    FRICTION,
    OPEN,
    REGULARIZED,
    SLIP,
    STICK,
    STRIBECK,
    Sides,
)
from liaison.solvers.linear.dense import (
    RANK_TOLERANCE,
    dot,
    largest,
    largest_in,
    pivoted_qr,
    solve_rows,
)
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .metric import (
    factor_metric,
    hold_closures,
    into_metric,
    is_along_paths,
    leave_closures,
    out_of_metric,
    scaled_in_metric,
)

PROXIMAL, ROUNDS = 1e-9, 4
"""What is added to the diagonal of a system scaled to 1, and how often it is taken out again."""

PULLS, KEPT = 1e-9, 1e-9
"""Part of the largest force that a load may pull, and of the accelerations that a row may miss."""


@loop
def share(sides: Sides) -> i64:
    """Forces of the active rows, behind the right-hand side; 0, or 1 where there are none."""
    m = sides.active
    x = sides.right[m:]
    takes = at(x, 3 * m)
    first = at(takes, m)
    for a in range(m):
        takes[a] = 1.0
    if nearest_zero(sides) != 0:
        return 1
    for a in range(m):
        first[a] = x[a]
    for _ in range(m):
        a = lowest_load(sides, m, x)
        if a < 0:
            break
        leave_out(sides, m, a, takes)
        nearest_zero(sides)
        if misses(m, sides.matrix, sides.right, x) > KEPT:
            # a mode ends there, and is seen to end by forces that go smoothly through zero
            for d in range(m):
                x[d] = first[d]
            break
    return 0


@loop
def lowest_load(sides: Sides, m: i64, x: ptr) -> i64:
    """The active row of a gap or a rate that pulls most; −1 if none does."""
    lowest = -1
    low = -PULLS * largest(m, x)
    for a in range(m):
        b = sides.block_of[sides.listed[a]]
        if sides.blocks[b].kind != FRICTION and x[a] < low:
            low = x[a]
            lowest = a
    return lowest


@loop
def leave_out(sides: Sides, m: i64, a: i64, takes: ptr) -> None:
    """A row without force, and the friction under it, which has no load."""
    load = sides.block_of[sides.listed[a]]
    for d in range(m):
        block = sides.blocks[sides.block_of[sides.listed[d]]]
        is_under = 1 if block.kind == FRICTION and block.load == load else 0
        if d == a or is_under == 1:
            takes[d] = 0.0


@loop
def misses(m: i64, A: ptr, right: ptr, x: ptr) -> f64:
    """The largest part of a right-hand side that forces leave, beside what they do."""
    worst = 0.0
    size = 1e-300
    for i in range(m):
        rest = right[i]
        size = max(size, abs(right[i]))
        for j in range(m):
            rest -= A[i * m + j] * x[j]
            size = max(size, abs(A[i * m + j] * x[j]))
        worst = max(worst, abs(rest))
    return worst / size


@loop
def own_mobility(sides: Sides, a: i64) -> f64:
    """Of an active row alone, without what slips under it: loads are measured by it.

    So are those of Moreau's steps, which share loads alike then.
    """
    row = at(sides.in_metric, a * sides.nv)
    return float(dot(sides.nv, row, row))


@loop
def nearest_zero(sides: Sides) -> i64:
    """x with A x = right, nearest zero where there are many; 0 of rows that take no force."""
    m = sides.active
    A = sides.matrix
    factor = at(A, m * m)
    right = sides.right
    x = at(right, m)
    scale = at(x, m)
    rest = at(scale, m)
    takes = at(rest, m)
    order = sides.pivots
    most = 0.0
    for i in range(m):
        most = max(most, own_mobility(sides, i) * takes[i])
    for i in range(m):
        size = own_mobility(sides, i) * takes[i]
        scale[i] = 1.0 / sqrt(size) if size > UNMOVED * most else 0.0
        x[i] = 0.0
    for i in range(m):
        for j in range(m):
            factor[i * m + j] = A[i * m + j] * scale[i] * scale[j]
        factor[i * m + i] += PROXIMAL if scale[i] > 0.0 else 1.0
    if factorize(m, factor, order) != 0:
        return 1
    for _ in range(ROUNDS):
        for i in range(m):
            rest[i] = right[i]
            for j in range(m):
                rest[i] -= A[i * m + j] * x[j]
            rest[i] = rest[i] * scale[i]
        solve_factorized(m, factor, order, rest)
        for i in range(m):
            x[i] += rest[i] * scale[i]
    return 0


UNMOVED = 1e-20
"""A row of this part of the largest mobility is one that nothing moves: what it has is rounding."""

SLOW = 1e-6
"""Slip of two components below this, in its unit, has the direction it had when it began."""

NOTHING = 1e-9
"""A row of which less than this part is left beside the closures cannot be held by a force."""

CURVED, FAR = 10.0, 1e-3
"""Times what closures are missed by, in their units, by which rows may seem independent of others
that they depend on where closures are met; and the most of that."""


@loop
def coefficient(law: Law, k: i64, part: f64) -> f64:
    """Of friction along row k: between the dynamic one and, with part = 1, the static one."""
    moving = max(law.dynamic if k == 0 else law.across, 0.0)
    resting = law.static
    if k > 0 and law.dynamic > 0.0:
        resting = resting * law.across / law.dynamic
    return float(moving + part * (max(resting, 0.0) - moving))


@loop
def resting_part(sides: Sides, b: i64, size: f64) -> f64:
    """How much of the static coefficient is left at this speed of slip."""
    if sides.blocks[b].law != STRIBECK:
        return 0.0
    ratio = size / sides.seen.laws[b].speed
    return exp(-ratio * ratio)


@loop
def slip_weights(sides: Sides, b: i64) -> None:
    """w of every row of a slipping block into the block WEIGHT: the force for a unit of load.

    Past its end, against the way it had where the step began, slip has the force that it had
    before: the motion goes on smoothly, and the end is found on it.
    """
    block = sides.blocks[b]
    first = block.first
    law = sides.seen.laws[b]
    u = sides.seen.rate[first:]
    size = 0.0
    for k in range(block.rows):
        size += u[k] * u[k]
    size = sqrt(size)
    part = resting_part(sides, b, size)
    is_slow = 1 if block.rows == 1 or size < SLOW * sides.scales.rate[b] else 0
    way = u
    if is_slow == 1 and block.law != REGULARIZED:
        way = sides.slip[first:]
    side = 1.0
    if block.law != REGULARIZED and dot(block.rows, way, sides.slip[first:]) < 0.0:
        side = -1.0
    total = law.speed * law.speed if block.law == REGULARIZED else 0.0
    total = total * law.dynamic * law.dynamic
    for k in range(block.rows):
        mu = coefficient(law, k, part)
        total += mu * mu * way[k] * way[k]
    for k in range(block.rows):
        mu = coefficient(law, k, part)
        sides.weight[first + k] = -side * mu * mu * way[k] / sqrt(total) if total > 0.0 else 0.0


@loop
def is_pressed(sides: Sides, b: i64) -> i64:
    """1 if the load of a friction block is there: its contact closed, or its bound its own."""
    load = sides.blocks[b].load
    if load < 0:
        return 1
    return 1 if sides.mode[load] != OPEN else 0


@loop
def resists(sides: Sides, b: i64) -> i64:
    """1 if the dry part of a friction block is there now; its coefficient may be 0 for a while."""
    return 1 if sides.seen.laws[b].static > 0.0 else 0


@loop
def loosened(sides: Sides) -> None:
    """Applied forces with viscous friction, and with dry friction whose bound is its own."""
    nv = sides.nv
    f = sides.f
    applied = sides.terms.f
    for i in range(nv):
        f[i] = applied[i]
    for b in range(sides.nb):
        block = sides.blocks[b]
        if block.kind == FRICTION and is_pressed(sides, b) == 1:
            viscous = sides.seen.laws[b].viscous
            if sides.mode[b] == SLIP:
                slip_weights(sides, b)
            for k in range(block.rows):
                row = block.first + k
                force = -viscous * sides.seen.rate[row]
                if block.load < 0 and sides.mode[b] == SLIP:
                    force += sides.weight[row] * sides.load[b]
                if force != 0.0:
                    for i in range(nv):
                        f[i] += force * sides.seen.D[row, i]


UNMET = 1e-9
"""What closures may miss along their paths, beside the largest acceleration and 1, in units."""


@loop
def beside_closures(sides: Sides) -> f64:
    """Part of a row that means nothing, since stages of a step lie beside the closures.

    Rows that repeat each other on the closures, and only there, differ beside them: met all the
    same, they contradict each other.
    """
    off = largest_in(sides.nphi, sides.terms.phi, sides.scales.closure)
    return min(CURVED * off, FAR)


@loop
def prepare_along_paths(sides: Sides) -> None:
    """The motion z = Lᵀv̇ without unilateral forces, its closures met along their paths."""
    sides.rank = 0
    for i in range(sides.nv):
        sides.z[i] = sides.f[i]
    into_metric(sides, sides.z)
    hold_closures(sides, sides.terms.gamma, sides.z)


@loop
def are_met(sides: Sides) -> i64:
    """1 if z has what closures ask along their paths; 0 where they contradict each other."""
    nv = sides.nv
    time = sides.scales.time[0]
    vdot = sides.vdot
    if beside_closures(sides) <= RANK_TOLERANCE:
        return 1
    for i in range(nv):
        vdot[i] = sides.z[i]
    out_of_metric(sides, vdot)
    limit = UNMET * (1.0 + largest_in(nv, vdot, sides.scales.velocity) * time)
    for k in range(sides.nc):
        missed = sides.terms.gamma[k] - dot(nv, sides.terms.G[k], vdot)
        if not (abs(missed) * time <= limit * sides.scales.closure_rate[k]):
            return 0
    return 1


@loop
def prepare(sides: Sides) -> f64:
    """L, an orthonormal basis Q of the closures, and the motion z = Lᵀv̇ without unilateral forces.

    Returns:
        What the closures miss, scaled; −1 where the mass matrix is singular.
    """
    nv = sides.nv
    nc = sides.nc
    known = nc + sides.helds
    terms = sides.terms
    G = sides.G
    gamma = at(G, known * nv)
    Q = flat(sides.Q)
    z = sides.z
    b = sides.order[known:]
    y = at(b, known)
    scale = at(y, known + 1)
    if is_along_paths(sides) == 1:
        prepare_along_paths(sides)
        if are_met(sides) == 1:
            return 0.0
    for i in range(nc * nv):
        G[i] = flat(terms.G)[i]
    for i in range(sides.helds * nv):
        G[nc * nv + i] = flat(sides.held)[i]
    for k in range(known):
        gamma[k] = terms.gamma[k] if k < nc else 0.0
    alpha = factor_metric(sides, known, G)
    sides.rank = 0
    if alpha < 0.0:
        return -1.0
    scaled_in_metric(sides, known, G, Q, scale)
    for i in range(nv):
        z[i] = sides.f[i]
        for k in range(known):
            z[i] += alpha * G[k * nv + i] * gamma[k]
    into_metric(sides, z)
    for k in range(known):
        b[k] = gamma[k] * scale[k] - dot(nv, at(Q, k * nv), z)
    tolerance = max(RANK_TOLERANCE, beside_closures(sides))
    sides.rank = pivoted_qr(known, nv, Q, sides.R, sides.order, tolerance)
    miss = solve_rows(known, sides.rank, sides.R, sides.order, b, y)
    for k in range(sides.rank):
        for i in range(nv):
            z[i] += y[k] * Q[k * nv + i]
    return miss


@loop
def meet_closures(sides: Sides, v: ptr) -> None:
    """v with G v = ν, by the least change in the metric of M; numbers are measured already."""
    nv = sides.nv
    nc = sides.nc
    loosened(sides)
    if prepare(sides) < 0.0:
        return
    known = nc + sides.helds
    b = sides.order[known:]
    y = at(b, known)
    scale = at(y, known + 1)
    jump = sides.z
    if is_along_paths(sides) == 1 and sides.rank == 0:
        for k in range(nc):
            b[k] = sides.terms.nu[k] - dot(nv, sides.terms.G[k], v)
        for i in range(nv):
            jump[i] = 0.0
        hold_closures(sides, b, jump)
    else:
        for k in range(known):
            rest = sides.terms.nu[k] if k < nc else 0.0
            b[k] = (rest - dot(nv, sides.G[k * nv :], v)) * scale[k]
        solve_rows(known, sides.rank, sides.R, sides.order, b, y)
        for i in range(nv):
            jump[i] = 0.0
            for k in range(sides.rank):
                jump[i] += y[k] * sides.Q[k, i]
    out_of_metric(sides, jump)
    for i in range(nv):
        v[i] += jump[i]


@loop
def compliant(sides: Sides, row: i64, x: ptr) -> f64:
    """x = L⁻¹Dᵀ of a row without its part along the closures; returns D v̇ of the motion z."""
    nv = sides.nv
    for i in range(nv):
        x[i] = sides.seen.D[row, i]
    into_metric(sides, x)
    rate = dot(nv, x, sides.z)
    whole = dot(nv, x, x)
    leave_closures(sides, x)
    nothing = max(NOTHING, beside_closures(sides))
    if dot(nv, x, x) <= nothing * nothing * whole:
        for i in range(nv):
            x[i] = 0.0
    return rate


@loop
def list_active(sides: Sides) -> None:
    """Rows that are held in the mode: closed gaps and rates, sticking friction."""
    sides.active = 0
    for row in range(sides.nr):
        b = sides.block_of[row]
        # CLOSED and STICK are one number
        if sides.mode[b] == STICK:
            sides.listed[sides.active] = row
            sides.active += 1


@loop
def add_slips(sides: Sides, load: i64, x: ptr, area: ptr) -> None:
    """x plus the columns of all that slips under a load, by their weights."""
    nv = sides.nv
    for b in range(sides.nb):
        block = sides.blocks[b]
        if block.kind == FRICTION and block.load == load and sides.mode[b] == SLIP:
            for k in range(block.rows):
                weight = sides.weight[block.first + k]
                compliant(sides, block.first + k, area)
                for i in range(nv):
                    x[i] += weight * area[i]


@loop
def mode_system(sides: Sides) -> None:
    """Rows, columns, matrix and right-hand side of the forces of active rows."""
    nv = sides.nv
    m = sides.active
    rows = sides.in_metric
    columns = sides.columns
    right = sides.right
    area = sides.vdot
    for a in range(m):
        row = sides.listed[a]
        right[a] = -sides.seen.bias[row] - compliant(sides, row, at(rows, a * nv))
        for i in range(nv):
            columns[a * nv + i] = rows[a * nv + i]
        b = sides.block_of[row]
        if sides.blocks[b].kind != FRICTION:
            add_slips(sides, b, at(columns, a * nv), area)
    for a in range(m):
        for d in range(m):
            sides.matrix[a * m + d] = dot(nv, at(rows, a * nv), at(columns, d * nv))


@loop
def solve_mode(sides: Sides) -> i64:
    """v̇ and the force of every row in the present mode; 0, or 1 where there is no such motion."""
    nv = sides.nv
    loosened(sides)
    if prepare(sides) < 0.0:
        return 1
    list_active(sides)
    m = sides.active
    mode_system(sides)
    if share(sides) != 0:
        return 1
    forces = sides.right[m:]
    vdot = sides.vdot
    for i in range(nv):
        vdot[i] = sides.z[i]
        for a in range(m):
            vdot[i] += forces[a] * sides.columns[a * nv + i]
    out_of_metric(sides, vdot)
    write_forces(sides, forces)
    return 0


@loop
def write_forces(sides: Sides, forces: ptr) -> None:
    """The force of every row: held rows as found, slips by what presses them, viscous parts."""
    force = sides.force
    for row in range(sides.nr):
        force[row] = 0.0
    for a in range(sides.active):
        force[sides.listed[a]] = forces[a]
    for b in range(sides.nb):
        block = sides.blocks[b]
        if block.kind == FRICTION and is_pressed(sides, b) == 1:
            load = sides.load[b]
            if block.load >= 0:
                load = force[sides.blocks[block.load].first]
            for k in range(block.rows):
                row = block.first + k
                if sides.mode[b] == SLIP:
                    force[row] = sides.weight[row] * load
                force[row] -= sides.seen.laws[b].viscous * sides.seen.rate[row]
