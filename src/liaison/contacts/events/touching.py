"""What touches, as a problem of cones: impulses of an impact, or forces of the motion after it.

Touching are gaps that are closed and do not open, rates on their boundary, and the friction under
them. Of velocities the problem is that of an impact; of accelerations its solution tells the
mode: what stays closed, what sticks, what slips and which way.

Public names: STILL, TOUCH, still, find_touching, strike, list_cones, mobility_matrix,
accelerate, can_stay, NO_MOTION.

Source: docs/theory/one_sided.md (mode-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.sides_layout import (
    ACROSS,
    ACTIVE,
    B_FIRST,
    B_KIND,
    B_LAW,
    B_LOAD,
    B_ROWS,
    BEYOND,
    CLOSED,
    CONES,
    DYNAMIC,
    EACH,
    EASE,
    FIELDS,
    FRICTION,
    GAP,
    LAW,
    LOCKED,
    M_BEFORE,
    M_BLOCKS,
    M_CONE,
    M_ENDED,
    M_LIST,
    M_MODES,
    M_NUMBER,
    NB,
    NV,
    O_AREA,
    O_BIAS,
    O_COEFFICIENTS,
    O_COLUMNS,
    O_E,
    O_GAP,
    O_L,
    O_LAST,
    O_LIMITS,
    O_LOAD,
    O_MATRIX,
    O_RATE,
    O_ROWS,
    O_SLIP,
    O_TOUCHING,
    O_VDOT,
    OPEN,
    REGULARIZED,
    RESIDUAL,
    RESTITUTION,
    SLIP,
    STATIC,
    STICK,
    UNSEEN,
)
from liaison.solvers.cones.cones import DISC, HELD, ONE_WAY, solve_cones
from liaison.solvers.impacts.impacts import impact
from liaison.solvers.linear.dense import backward_solve, dot, largest

from .modal import SLOW, add_slips, compliant, is_pressed, loosened, prepare, resists

TOUCH = 1e-9
"""A gap up to this [m] is closed."""

STILL = 1e-10
"""Part of the largest velocity, or of 1, below which a rate is none."""

NOISE = 1e-12
"""Part of the work of all impulses that a change of energy is known to."""

UNSURE = 1e-9
"""A residual of forces above this is looked at again, from other forces."""

NO_MOTION = 1e-9
"""Part of the largest acceleration, or of 1, below which one is none."""


@loop
def still(c: iptr, v: ptr) -> f64:
    """Rates below this are none."""
    return STILL * (1.0 + largest(c[NV], v))


@loop
def slip_size(c: iptr, s: ptr, b: i64) -> f64:
    """|u| of a friction block."""
    first = c[c[M_BLOCKS] + FIELDS * b + B_FIRST]
    rows = c[c[M_BLOCKS] + FIELDS * b + B_ROWS]
    u = at(s, c[O_RATE] + first)
    return sqrt(dot(rows, u, u))


@loop
def goes_on(c: iptr, s: ptr, b: i64, size: f64) -> i64:
    """1 if slip, however slow, keeps a way that rest would not give it: a sign, or what it had.

    Where one slip ends, all that are slow may: a body comes to rest at once.
    """
    block = at(c, c[M_BLOCKS] + FIELDS * b)
    if block[B_ROWS] == 1:
        return 1
    if c[c[M_BEFORE] + b] != SLIP:
        return 0
    for other in range(c[NB]):
        if c[c[M_BLOCKS] + FIELDS * other + B_KIND] == FRICTION and c[c[M_ENDED] + other] != 0:
            return 0
    along = dot(block[B_ROWS], at(s, c[O_RATE] + block[B_FIRST]), at(s, c[O_SLIP] + block[B_FIRST]))
    return 1 if along > 0.5 * size else 0


@loop
def find_touching(c: iptr, s: ptr, limit: f64) -> None:
    """Provisional modes: all that touches is closed; friction under it slips, or sticks if slow."""
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        first = block[B_FIRST]
        mode = OPEN
        if block[B_KIND] == FRICTION:
            if is_pressed(c, b) == 1:
                size = slip_size(c, s, b)
                slow = max(limit, 2.0 * SLOW) if goes_on(c, s, b, size) == 0 else limit
                never = 1 if block[B_LAW] == REGULARIZED or resists(c, s, b) == 0 else 0
                mode = SLIP if size > slow or never == 1 else STICK
                for k in range(block[B_ROWS]):
                    if size > slow and (size >= SLOW or block[B_ROWS] == 1):
                        s[c[O_SLIP] + first + k] = s[c[O_RATE] + first + k] / size
        elif c[c[M_MODES] + b] == LOCKED:
            mode = LOCKED
        elif block[B_KIND] == GAP:
            is_slow = 1 if s[c[O_RATE] + first] <= max(limit, s[UNSEEN]) else 0
            is_near = 1 if s[c[O_GAP] + b] <= TOUCH and c[c[M_ENDED] + b] != BEYOND else 0
            mode = CLOSED if is_slow == 1 and is_near == 1 else OPEN
        elif s[c[O_RATE] + first] <= limit:
            mode = CLOSED
        c[c[M_MODES] + b] = mode


@loop
def list_cones(c: iptr, s: ptr, level: i64) -> None:
    """Cones of what touches: of an impact (level 0), or of accelerations (level 1)."""
    c[CONES] = 0
    c[ACTIVE] = 0
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        mode = c[c[M_MODES] + b]
        takes = 1 if mode == CLOSED else 0
        if block[B_KIND] == FRICTION and level == 0:
            # what is bounded by itself gives no impulse
            takes = 1 if mode != OPEN and block[B_LOAD] >= 0 else 0
        c[c[M_NUMBER] + b] = -1
        if takes == 1:
            c[c[M_NUMBER] + b] = c[CONES]
            add_cone(c, s, b, level)


@loop
def add_cone(c: iptr, s: ptr, b: i64, level: i64) -> None:
    """The cone of one block, its rows listed."""
    block = at(c, c[M_BLOCKS] + FIELDS * b)
    cone = at(c, c[M_CONE] + 4 * c[CONES])
    limits = at(s, c[O_LIMITS] + 3 * c[CONES])
    told = at(s, c[O_COEFFICIENTS] + EACH * b)
    cone[0] = ONE_WAY if block[B_KIND] != FRICTION else DISC
    if block[B_ROWS] > 2:
        cone[0] = HELD  # its bound is looked at afterwards
    cone[1] = c[ACTIVE]
    cone[2] = block[B_ROWS]
    cone[3] = -1
    limits[0] = 0.0
    limits[1] = 0.0
    limits[2] = 0.0
    s[c[O_E] + c[CONES]] = told[RESTITUTION]
    if block[B_KIND] == FRICTION:
        along = told[DYNAMIC] if level == 0 else told[STATIC]
        ratio = told[ACROSS] / told[DYNAMIC] if told[DYNAMIC] > 0.0 else 1.0
        if block[B_LOAD] >= 0:
            cone[3] = c[c[M_NUMBER] + block[B_LOAD]]
            limits[0] = along
            limits[1] = along * ratio
        else:
            limits[2] = along * s[c[O_LOAD] + b]
    for k in range(block[B_ROWS]):
        c[c[M_LIST] + c[ACTIVE] + k] = block[B_FIRST] + k
    c[ACTIVE] += block[B_ROWS]
    c[CONES] += 1


@loop
def mobility_matrix(c: iptr, s: ptr, level: i64) -> None:
    """A of the listed rows, and u: rates (level 0), or accelerations without their forces."""
    nv = c[NV]
    m = c[ACTIVE]
    rows = at(s, c[O_ROWS])
    columns = at(s, c[O_COLUMNS])
    u = at(s, c[O_TOUCHING])
    for a in range(m):
        row = c[c[M_LIST] + a]
        rate = compliant(c, s, row, at(rows, a * nv))
        u[a] = rate + s[c[O_BIAS] + row] if level == 1 else s[c[O_RATE] + row]
        for i in range(nv):
            columns[a * nv + i] = rows[a * nv + i]
    if level == 1:
        for b in range(c[NB]):
            k = c[c[M_NUMBER] + b]
            if k >= 0 and c[c[M_BLOCKS] + FIELDS * b + B_KIND] != FRICTION:
                place = c[c[M_CONE] + 4 * k + 1]
                add_slips(c, s, b, at(columns, place * nv), at(s, c[O_VDOT]))
    for a in range(m):
        for d in range(m):
            s[c[O_MATRIX] + a * m + d] = dot(nv, at(rows, a * nv), at(columns, d * nv))


@loop
def strike(c: iptr, s: ptr, v: ptr) -> f64:
    """Velocities after the impact of all that touches; returns the change of kinetic energy.

    Afterwards the block U holds the impulses, row by row as listed.
    """
    nv = c[NV]
    list_cones(c, s, 0)
    m = c[ACTIVE]
    loosened(c, s)
    prepare(c, s)
    mobility_matrix(c, s, 0)
    u = at(s, c[O_TOUCHING])
    impulse = at(u, m)
    limits = at(s, c[O_LIMITS])
    restitution = at(s, c[O_E])
    cones = at(c, c[M_CONE])
    A = at(s, c[O_MATRIX])
    area = at(s, c[O_AREA])
    change = impact(c[LAW], m, c[CONES], A, u, cones, limits, restitution, impulse, area)
    s[RESIDUAL] = area[0]
    whole = 0.0
    for a in range(m):
        whole += abs(impulse[a] * s[c[O_RATE] + c[c[M_LIST] + a]])
    if abs(change) <= NOISE * whole:
        change = 0.0
    jump = at(s, c[O_VDOT])
    for i in range(nv):
        jump[i] = 0.0
        for a in range(m):
            jump[i] += impulse[a] * s[c[O_ROWS] + a * nv + i]
    backward_solve(nv, at(s, c[O_L]), jump)
    for i in range(nv):
        v[i] += jump[i]
    return change


@loop
def accelerate(c: iptr, s: ptr) -> f64:
    """Forces of what touches into the second part of U, accelerations into the first; residual.

    The search begins at the forces that rows had last, and from zero where that leads nowhere.
    """
    m = c[ACTIVE]
    u = at(s, c[O_TOUCHING])
    force = at(u, m)
    A = at(s, c[O_MATRIX])
    cones = at(c, c[M_CONE])
    limits = at(s, c[O_LIMITS])
    last = at(s, c[O_LAST])
    for a in range(m):
        force[a] = last[c[c[M_LIST] + a]]
    residual = solve_cones(m, c[CONES], A, u, cones, limits, force, at(s, c[O_AREA]))
    if not (residual <= UNSURE):
        for a in range(m):
            force[a] = 0.0
        residual = solve_cones(m, c[CONES], A, u, cones, limits, force, at(s, c[O_AREA]))
    for a in range(m):
        last[c[c[M_LIST] + a]] = force[a] if residual <= UNSURE else 0.0
        for d in range(m):
            u[a] += A[a * m + d] * force[d]
    return residual


@loop
def can_stay(c: iptr, s: ptr) -> f64:
    """Negative where no forces inside their bounds keep all that is closed or sticks as it is.

    Where contacts repeat each other the forces of a mode are not determined; some may lie outside
    of their bounds though others would hold. Called after the motion in the present mode was found.
    """
    list_cones(c, s, 1)
    mobility_matrix(c, s, 1)
    m = c[ACTIVE]
    least = s[EASE] * NO_MOTION * (1.0 + largest(m, at(s, c[O_TOUCHING])))
    accelerate(c, s)
    return float(least - largest(m, at(s, c[O_TOUCHING])))
