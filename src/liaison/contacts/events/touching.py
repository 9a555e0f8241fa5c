"""What touches, as a problem of cones: impulses of an impact, or forces of the motion after it.

Touching are gaps that are closed and do not open, rates on their boundary, and the friction under
them. Of velocities the problem is that of an impact; of accelerations its solution determines the
mode: what stays closed, what sticks, what slips and which way.

Public names: STILL, TOUCH, still, find_touching, strike, list_cones, mobility_matrix,
accelerate, can_stay, largest_listed, NO_MOTION.

Source: docs/theory/one_sided.md (mode-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.simulation.steps.sides_layout import (
    BEYOND,
    CLOSED,
    FRICTION,
    GAP,
    LOCKED,
    OPEN,
    REGULARIZED,
    SLIP,
    STICK,
    Sides,
)
from liaison.solvers.cones.cones import BILATERAL, DISC, ONE_WAY, solve_cones
from liaison.solvers.impacts.impacts import impact
from liaison.solvers.linear.dense import dot, largest_in

from .metric import out_of_metric
from .modal import SLOW, add_slips, compliant, is_pressed, loosened, prepare, resists

TOUCH = 1e-9
"""A gap up to this, in its unit, is closed."""

STILL = 1e-10
"""Part of the largest velocity, or of 1, in their units, below which a rate is none."""

NOISE = 1e-12
"""Part of the work of all impulses that a change of energy is known to."""

UNSURE = 1e-9
"""A residual of forces above this is looked at again, from other forces."""

NO_MOTION = 1e-9
"""Part of the largest acceleration, or of 1, in their units, below which one is none."""


@loop
def still(sides: Sides, v: ptr) -> f64:
    """Rates below this, in their units, are none."""
    return STILL * (1.0 + largest_in(sides.nv, v, sides.scales.velocity))


@loop
def largest_listed(sides: Sides, x: ptr) -> f64:
    """The largest acceleration of the rows listed, each in its unit."""
    size = 0.0
    bad = 0.0
    for a in range(sides.active):
        unit = sides.scales.acceleration[sides.block_of[sides.listed[a]]]
        bad += x[a] - x[a]
        size = max(size, abs(x[a]) / unit)
    return size + bad


@loop
def slip_size(sides: Sides, b: i64) -> f64:
    """|u| of a friction block."""
    first = sides.blocks[b].first
    rows = sides.blocks[b].rows
    u = sides.seen.rate[first:]
    return sqrt(dot(rows, u, u))


@loop
def goes_on(sides: Sides, b: i64, size: f64) -> i64:
    """1 if slip, however slow, keeps a way that rest would not give it: a sign, or what it had.

    Where one slip ends, all that are slow may: a body comes to rest at once.
    """
    block = sides.blocks[b]
    if block.rows == 1:
        return 1
    if sides.before[b] != SLIP:
        return 0
    for other in range(sides.nb):
        if sides.blocks[other].kind == FRICTION and sides.ended[other] != 0:
            return 0
    along = dot(block.rows, sides.seen.rate[block.first :], sides.slip[block.first :])
    return 1 if along > 0.5 * size else 0


@loop
def find_touching(sides: Sides, limit: f64) -> None:
    """Provisional modes: all that touches is closed; friction under it slips, or sticks if slow."""
    for b in range(sides.nb):
        block = sides.blocks[b]
        first = block.first
        mode = OPEN
        if block.kind == FRICTION:
            if is_pressed(sides, b) == 1:
                size = slip_size(sides, b)
                slow = max(limit, 2.0 * SLOW) if goes_on(sides, b, size) == 0 else limit
                slow = slow * sides.scales.rate[b]
                never = 1 if block.law == REGULARIZED or resists(sides, b) == 0 else 0
                mode = SLIP if size > slow or never == 1 else STICK
                for k in range(block.rows):
                    if size > slow and (size >= SLOW * sides.scales.rate[b] or block.rows == 1):
                        sides.slip[first + k] = sides.seen.rate[first + k] / size
        elif sides.mode[b] == LOCKED:
            mode = LOCKED
        elif block.kind == GAP:
            slow = max(limit, sides.unseen) * sides.scales.rate[b]
            is_slow = 1 if sides.seen.rate[first] <= slow else 0
            near = TOUCH * sides.scales.gap[b]
            is_near = 1 if sides.seen.gap[b] <= near and sides.ended[b] != BEYOND else 0
            mode = CLOSED if is_slow == 1 and is_near == 1 else OPEN
        elif sides.seen.rate[first] <= limit * sides.scales.rate[b]:
            mode = CLOSED
        sides.mode[b] = mode


@loop
def list_cones(sides: Sides, level: i64) -> None:
    """Cones of what touches: of an impact (level 0), or of accelerations (level 1)."""
    sides.cones = 0
    sides.active = 0
    for b in range(sides.nb):
        block = sides.blocks[b]
        mode = sides.mode[b]
        takes = 1 if mode == CLOSED else 0
        if block.kind == FRICTION and level == 0:
            # what is bounded by itself gives no impulse
            takes = 1 if mode != OPEN and block.load >= 0 else 0
        sides.cone_of[b] = -1
        if takes == 1:
            sides.cone_of[b] = sides.cones
            add_cone(sides, b, level)


@loop
def add_cone(sides: Sides, b: i64, level: i64) -> None:
    """The cone of one block, its rows listed."""
    block = sides.blocks[b]
    cone = sides.cone[sides.cones]
    limit = sides.limits[sides.cones]
    law = sides.seen.laws[b]
    cone.kind = ONE_WAY if block.kind != FRICTION else DISC
    if block.rows > 2:
        cone.kind = BILATERAL  # its bound is looked at afterwards
    cone.first = sides.active
    cone.rows = block.rows
    cone.load = -1
    limit.coefficient[0] = 0.0
    limit.coefficient[1] = 0.0
    limit.constant = 0.0
    sides.restitution[sides.cones] = law.restitution
    if block.kind == FRICTION:
        along = law.dynamic if level == 0 else law.static
        ratio = law.across / law.dynamic if law.dynamic > 0.0 else 1.0
        if block.load >= 0:
            cone.load = sides.cone_of[block.load]
            limit.coefficient[0] = along
            limit.coefficient[1] = along * ratio
        else:
            limit.constant = along * sides.load[b]
    for k in range(block.rows):
        sides.listed[sides.active + k] = block.first + k
    sides.active += block.rows
    sides.cones += 1


@loop
def mobility_matrix(sides: Sides, level: i64) -> None:
    """A of the listed rows, and u: rates (level 0), or accelerations without their forces."""
    nv = sides.nv
    m = sides.active
    rows = sides.in_metric
    columns = sides.columns
    u = sides.touching
    for a in range(m):
        row = sides.listed[a]
        rate = compliant(sides, row, at(rows, a * nv))
        u[a] = rate + sides.seen.bias[row] if level == 1 else sides.seen.rate[row]
        for i in range(nv):
            columns[a * nv + i] = rows[a * nv + i]
    if level == 1:
        for b in range(sides.nb):
            k = sides.cone_of[b]
            if k >= 0 and sides.blocks[b].kind != FRICTION:
                place = sides.cone[k].first
                add_slips(sides, b, at(columns, place * nv), sides.vdot)
    for a in range(m):
        for d in range(m):
            sides.matrix[a * m + d] = dot(nv, at(rows, a * nv), at(columns, d * nv))


@loop
def strike(sides: Sides, v: ptr) -> f64:
    """Velocities after the impact of all that touches; returns the change of kinetic energy.

    Afterwards the block U holds the impulses, row by row as listed.
    """
    nv = sides.nv
    list_cones(sides, 0)
    m = sides.active
    loosened(sides)
    prepare(sides)
    mobility_matrix(sides, 0)
    u = sides.touching
    impulse = at(u, m)
    limits = sides.limits
    restitution = sides.restitution
    cones = sides.cone
    A = sides.matrix
    area = sides.area
    change = impact(sides.law, m, sides.cones, A, u, cones, limits, restitution, impulse, area)
    sides.residual = area[0]
    sides.unended = area[2]
    whole = 0.0
    for a in range(m):
        whole += abs(impulse[a] * sides.seen.rate[sides.listed[a]])
    if abs(change) <= NOISE * whole:
        change = 0.0
    jump = sides.vdot
    for i in range(nv):
        jump[i] = 0.0
        for a in range(m):
            jump[i] += impulse[a] * sides.in_metric[a * nv + i]
    out_of_metric(sides, jump)
    for i in range(nv):
        v[i] += jump[i]
    return change


@loop
def accelerate(sides: Sides) -> f64:
    """Forces of what touches into the second part of U, accelerations into the first; residual.

    The search begins at the forces that rows had last, and from zero where that leads nowhere.
    """
    m = sides.active
    u = sides.touching
    force = at(u, m)
    A = sides.matrix
    cones = sides.cone
    limits = sides.limits
    last = sides.last
    for a in range(m):
        force[a] = last[sides.listed[a]]
    residual = solve_cones(m, sides.cones, A, u, cones, limits, force, sides.area)
    if not (residual <= UNSURE):
        for a in range(m):
            force[a] = 0.0
        residual = solve_cones(m, sides.cones, A, u, cones, limits, force, sides.area)
    for a in range(m):
        last[sides.listed[a]] = force[a] if residual <= UNSURE else 0.0
        for d in range(m):
            u[a] += A[a * m + d] * force[d]
    return residual


@loop
def can_stay(sides: Sides) -> f64:
    """Negative where no forces inside their bounds keep all that is closed or sticks as it is.

    Where contacts repeat each other the forces of a mode are not determined; some may lie outside
    of their bounds though others would hold. Called after the motion in the present mode was found.
    """
    list_cones(sides, 1)
    mobility_matrix(sides, 1)
    least = sides.ease * NO_MOTION * (1.0 + largest_listed(sides, sides.touching))
    accelerate(sides)
    return float(least - largest_listed(sides, sides.touching))
