"""Motion in one mode: which rows are closed, which stick, which slip, is given and stays.

Closed gaps and rates and sticking friction hold their rows; slipping friction is a force along the
slip, in proportion to what presses:

    M v̇ = f + Gᵀλ + Σ_closed (D_n + Σ_slip w D_t)ᵀ f_n + Σ_stick D_tᵀ f_t,            (modal-1)
    G v̇ = γ,   D v̇ + bias = 0 of every closed or sticking row,

with w = −μ² u/|μ u| on the ellipse of the coefficients μ (isotropic: −μ u/|u|). In the metric of M
the rows G are made orthonormal once; what is left of the rows D gives a small system for their
forces. It need not be symmetric, and where contacts repeat each other it has many solutions (see
`sharing`).

Public names: SLOW, measure, slip_weights, is_pressed, resists, loosened, prepare, compliant,
add_slips, solve_mode, tell_forces.

Source: docs/theory/one_sided.md (modal-1).
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.sides_layout import (
    ACROSS,
    ACTIVE,
    B_FIRST,
    B_KIND,
    B_LAW,
    B_LOAD,
    B_ROWS,
    DYNAMIC,
    EACH,
    F_SIDES,
    F_TERMS,
    FIELDS,
    FRICTION,
    HELDS,
    M_BLOCKS,
    M_LIST,
    M_MODES,
    M_OWNER,
    NB,
    NC,
    NR,
    NV,
    O_BIAS,
    O_COEFFICIENTS,
    O_COLUMNS,
    O_D,
    O_F,
    O_FORCE,
    O_G,
    O_GAP,
    O_HELD,
    O_L,
    O_LOAD,
    O_MATRIX,
    O_ORDER,
    O_Q,
    O_R,
    O_RATE,
    O_RIGHT,
    O_ROWS,
    O_SLIP,
    O_TERMS,
    O_VDOT,
    O_WEIGHT,
    O_Z,
    OPEN,
    RANK,
    REGULARIZED,
    SLIP,
    SPEED,
    STATIC,
    STICK,
    STRIBECK,
    VISCOUS,
)
from liaison.solvers.linear.dense import (
    RANK_TOLERANCE,
    backward_solve,
    dot,
    forward_solve,
    metric,
    pivoted_qr,
    remove,
    scaled_rows,
    solve_rows,
)

from .sharing import share

SLOW = 1e-6
"""Slip of two components below this [m/s, rad/s] has the direction it had when it began."""

NOTHING = 1e-9
"""A row of which less than this part is left beside the closures cannot be held by a force."""


@loop
def measure(c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> None:
    """The numbers of the free mechanism and of all one-sided rows at a state."""
    terms = entry_at(c, F_TERMS)
    sides = entry_at(c, F_SIDES)
    terms(t, q, v, u, p, q, at(s, c[O_TERMS]), work)
    # gap, rate, bias, D and coefficients follow each other
    sides(t, q, v, u, p, q, at(s, c[O_GAP]), work)


@loop
def coefficient(told: ptr, k: i64, part: f64) -> f64:
    """Of friction along row k: between the dynamic one and, with part = 1, the static one."""
    moving = max(told[DYNAMIC] if k == 0 else told[ACROSS], 0.0)
    resting = told[STATIC]
    if k > 0 and told[DYNAMIC] > 0.0:
        resting = resting * told[ACROSS] / told[DYNAMIC]
    return float(moving + part * (max(resting, 0.0) - moving))


@loop
def slip_weights(c: iptr, s: ptr, b: i64) -> None:
    """w of every row of a slipping block into the block WEIGHT: the force for a unit of load."""
    block = at(c, c[M_BLOCKS] + FIELDS * b)
    first = block[B_FIRST]
    told = at(s, c[O_COEFFICIENTS] + EACH * b)
    u = at(s, c[O_RATE] + first)
    size = 0.0
    for k in range(block[B_ROWS]):
        size += u[k] * u[k]
    size = sqrt(size)
    part = 0.0
    if block[B_LAW] == STRIBECK:
        ratio = size / told[SPEED]
        part = exp(-ratio * ratio)
    is_slow = 1 if block[B_ROWS] == 1 or size < SLOW else 0
    source = c[O_SLIP] if is_slow == 1 and block[B_LAW] != REGULARIZED else c[O_RATE]
    way = at(s, source + first)
    total = told[SPEED] * told[SPEED] if block[B_LAW] == REGULARIZED else 0.0
    total = total * told[DYNAMIC] * told[DYNAMIC]
    for k in range(block[B_ROWS]):
        mu = coefficient(told, k, part)
        total += mu * mu * way[k] * way[k]
    for k in range(block[B_ROWS]):
        mu = coefficient(told, k, part)
        s[c[O_WEIGHT] + first + k] = -mu * mu * way[k] / sqrt(total) if total > 0.0 else 0.0


@loop
def is_pressed(c: iptr, b: i64) -> i64:
    """1 if the load of a friction block is there: its contact closed, or its bound its own."""
    load = c[c[M_BLOCKS] + FIELDS * b + B_LOAD]
    if load < 0:
        return 1
    return 1 if c[c[M_MODES] + load] != OPEN else 0


@loop
def resists(c: iptr, s: ptr, b: i64) -> i64:
    """1 if the dry part of a friction block is there now; its coefficient may be 0 for a while."""
    return 1 if s[c[O_COEFFICIENTS] + EACH * b + STATIC] > 0.0 else 0


@loop
def loosened(c: iptr, s: ptr) -> None:
    """Applied forces with viscous friction, and with dry friction whose bound is its own."""
    nv = c[NV]
    nc = c[NC]
    f = at(s, c[O_F])
    applied = at(s, c[O_TERMS] + nv * nv + nc * nv)
    for i in range(nv):
        f[i] = applied[i]
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        if block[B_KIND] == FRICTION and is_pressed(c, b) == 1:
            viscous = s[c[O_COEFFICIENTS] + EACH * b + VISCOUS]
            if c[c[M_MODES] + b] == SLIP:
                slip_weights(c, s, b)
            for k in range(block[B_ROWS]):
                row = block[B_FIRST] + k
                force = -viscous * s[c[O_RATE] + row]
                if block[B_LOAD] < 0 and c[c[M_MODES] + b] == SLIP:
                    force += s[c[O_WEIGHT] + row] * s[c[O_LOAD] + b]
                if force != 0.0:
                    for i in range(nv):
                        f[i] += force * s[c[O_D] + row * nv + i]


@loop
def prepare(c: iptr, s: ptr) -> f64:
    """L, an orthonormal basis Q of the closures, and the motion z = Lᵀv̇ without one-sided forces.

    Returns:
        What the closures miss, scaled; −1 where the mass matrix is singular.
    """
    nv = c[NV]
    nc = c[NC]
    known = nc + c[HELDS]
    terms = at(s, c[O_TERMS])
    G = at(s, c[O_G])
    gamma = at(G, known * nv)
    L = at(s, c[O_L])
    Q = at(s, c[O_Q])
    z = at(s, c[O_Z])
    b = at(s, c[O_ORDER] + known)
    y = at(b, known)
    scale = at(y, known + 1)
    for i in range(nc * nv):
        G[i] = terms[nv * nv + i]
    for i in range(c[HELDS] * nv):
        G[nc * nv + i] = s[c[O_HELD] + i]
    for k in range(known):
        gamma[k] = terms[nv * nv + nc * nv + nv + k] if k < nc else 0.0
    alpha = metric(nv, known, terms, G, L)
    c[RANK] = 0
    if alpha < 0.0:
        return -1.0
    scaled_rows(nv, known, G, L, Q, scale)
    for i in range(nv):
        z[i] = s[c[O_F] + i]
        for k in range(known):
            z[i] += alpha * G[k * nv + i] * gamma[k]
    forward_solve(nv, L, z)
    for k in range(known):
        b[k] = gamma[k] * scale[k] - dot(nv, at(Q, k * nv), z)
    c[RANK] = pivoted_qr(known, nv, Q, at(s, c[O_R]), at(s, c[O_ORDER]), RANK_TOLERANCE)
    miss = solve_rows(known, c[RANK], at(s, c[O_R]), at(s, c[O_ORDER]), b, y)
    for k in range(c[RANK]):
        for i in range(nv):
            z[i] += y[k] * Q[k * nv + i]
    return miss


@loop
def compliant(c: iptr, s: ptr, row: i64, x: ptr) -> f64:
    """x = L⁻¹Dᵀ of a row without its part along the closures; returns D v̇ of the motion z."""
    nv = c[NV]
    for i in range(nv):
        x[i] = s[c[O_D] + row * nv + i]
    forward_solve(nv, at(s, c[O_L]), x)
    rate = dot(nv, x, at(s, c[O_Z]))
    whole = dot(nv, x, x)
    for k in range(c[RANK]):
        remove(nv, at(s, c[O_Q] + k * nv), x)
    if dot(nv, x, x) <= NOTHING * NOTHING * whole:
        for i in range(nv):
            x[i] = 0.0
    return rate


@loop
def list_active(c: iptr) -> None:
    """Rows that are held in the mode: closed gaps and rates, sticking friction."""
    c[ACTIVE] = 0
    for row in range(c[NR]):
        b = c[c[M_OWNER] + row]
        # CLOSED and STICK are one number
        if c[c[M_MODES] + b] == STICK:
            c[c[M_LIST] + c[ACTIVE]] = row
            c[ACTIVE] += 1


@loop
def add_slips(c: iptr, s: ptr, load: i64, x: ptr, area: ptr) -> None:
    """x plus the columns of all that slips under a load, by their weights."""
    nv = c[NV]
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        if block[B_KIND] == FRICTION and block[B_LOAD] == load and c[c[M_MODES] + b] == SLIP:
            for k in range(block[B_ROWS]):
                weight = s[c[O_WEIGHT] + block[B_FIRST] + k]
                compliant(c, s, block[B_FIRST] + k, area)
                for i in range(nv):
                    x[i] += weight * area[i]


@loop
def mode_system(c: iptr, s: ptr) -> None:
    """Rows, columns, matrix and right-hand side of the forces of active rows."""
    nv = c[NV]
    m = c[ACTIVE]
    rows = at(s, c[O_ROWS])
    columns = at(s, c[O_COLUMNS])
    right = at(s, c[O_RIGHT])
    area = at(s, c[O_VDOT])
    for a in range(m):
        row = c[c[M_LIST] + a]
        right[a] = -s[c[O_BIAS] + row] - compliant(c, s, row, at(rows, a * nv))
        for i in range(nv):
            columns[a * nv + i] = rows[a * nv + i]
        b = c[c[M_OWNER] + row]
        if c[c[M_BLOCKS] + FIELDS * b + B_KIND] != FRICTION:
            add_slips(c, s, b, at(columns, a * nv), area)
    for a in range(m):
        for d in range(m):
            s[c[O_MATRIX] + a * m + d] = dot(nv, at(rows, a * nv), at(columns, d * nv))


@loop
def solve_mode(c: iptr, s: ptr) -> i64:
    """v̇ and the force of every row in the present mode; 0, or 1 where there is no such motion."""
    nv = c[NV]
    loosened(c, s)
    if prepare(c, s) < 0.0:
        return 1
    list_active(c)
    m = c[ACTIVE]
    mode_system(c, s)
    if share(c, s) != 0:
        return 1
    found = at(s, c[O_RIGHT] + m)
    vdot = at(s, c[O_VDOT])
    for i in range(nv):
        vdot[i] = s[c[O_Z] + i]
        for a in range(m):
            vdot[i] += found[a] * s[c[O_COLUMNS] + a * nv + i]
    backward_solve(nv, at(s, c[O_L]), vdot)
    tell_forces(c, s, found)
    return 0


@loop
def tell_forces(c: iptr, s: ptr, found: ptr) -> None:
    """The force of every row: held rows as found, slips by what presses them, viscous parts."""
    force = at(s, c[O_FORCE])
    for row in range(c[NR]):
        force[row] = 0.0
    for a in range(c[ACTIVE]):
        force[c[c[M_LIST] + a]] = found[a]
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        if block[B_KIND] == FRICTION and is_pressed(c, b) == 1:
            load = s[c[O_LOAD] + b]
            if block[B_LOAD] >= 0:
                load = force[c[c[M_BLOCKS] + FIELDS * block[B_LOAD] + B_FIRST]]
            for k in range(block[B_ROWS]):
                row = block[B_FIRST] + k
                if c[c[M_MODES] + b] == SLIP:
                    force[row] = s[c[O_WEIGHT] + row] * load
                force[row] -= s[c[O_COEFFICIENTS] + EACH * b + VISCOUS] * s[c[O_RATE] + row]
