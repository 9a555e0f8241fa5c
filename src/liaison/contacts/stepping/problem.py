"""Impulses of a step: the problem of cones of all active rows, and the energy it may not gain.

Newton's law at several contacts with friction at once may give more energy than there was. Then
impulses without restitution, which cannot, are mixed with those that have it,

    P = P₀ + κ (P₁ − P₀),   κ ≤ 1 as large as Pᵀ(u + u₁)/2 ≤ 0 allows                (stepping-5)

which lie within the cones and leave gaps open as both do.

Public names: impulses, finish_step, work, without_gain.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import exp, sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import (
    CONTACTS,
    FACETS,
    M_ACTIVE,
    M_MODE,
    M_SIDES,
    NB,
    NR,
    NV,
    O_CONES,
    O_FREE,
    O_IMPULSE,
    O_MID,
    O_SIDES,
    O_V,
    O_Y,
    THETA,
    H,
)
from liaison.simulation.steps.sides_layout import FIELDS, FRICTION, GAP, OPEN, STICK, STRIBECK
from liaison.solvers.cones.cones import DISC, ONE_WAY, solve_cones
from liaison.solvers.linear.dense import dot, largest
from liaison.solvers.linear.lemke import SOLVED, polyhedral_missed, solve_polyhedral

from .modes import STILL
from .rows import delassus, pushed

UNSOLVABLE = 1e300
"""The residual of a problem whose pivots end on a ray."""

ROUNDING = 1e-12
"""Work beside the sum of all its parts that counts as none."""


@loop
def impulses(part: f64, w: ptr, n: iptr) -> f64:
    """P of the active blocks, with a part of their restitution; the residual of the problem."""
    nb = n[NB]
    nr = n[NR]
    active = at(n, n[M_ACTIVE])
    table = at(active, nb)
    chosen = at(active, 7 * nb)
    count = choose(w, n)
    m = chosen[nr]
    A = at(w, n[O_CONES])
    b = at(A, nr * nr)
    P = at(b, nr)
    limits = at(P, nr)
    kept = at(w, n[O_IMPULSE])
    delassus(m, chosen, A, w, n)
    rates(m, part, w, n)
    for i in range(m):
        P[i] = kept[chosen[i]]
    area = at(limits, 3 * nb + nr)
    if n[FACETS] > 0:
        residual = UNSOLVABLE
        if solve_polyhedral(m, count, A, b, table, limits, n[FACETS], P, area) == SOLVED:
            residual = polyhedral_missed(m, count, table, n[FACETS], area)
    else:
        residual = solve_cones(m, count, A, b, table, limits, P, area)
    for r in range(nr):
        kept[r] = 0.0
    for i in range(m):
        kept[chosen[i]] = P[i]
    n[CONTACTS] = max(n[CONTACTS], count)
    return float(residual)


@loop
def choose(w: ptr, n: iptr) -> i64:
    """The table of active blocks and the rows they have, with the bounds of friction."""
    nb = n[NB]
    active = at(n, n[M_ACTIVE])
    table = at(active, nb)
    number = at(active, 5 * nb)
    chosen = at(active, 7 * nb)
    limits = at(w, n[O_CONES] + n[NR] * n[NR] + 2 * n[NR])
    count = 0
    m = 0
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if active[k] == 1:
            row = at(table, 4 * count)
            number[k] = count
            row[0] = DISC if block[0] == FRICTION else ONE_WAY
            row[1] = m
            row[2] = block[2]
            row[3] = number[block[3]] if block[3] >= 0 else -1
            bounds(k, at(limits, 3 * count), w, n)
            for r in range(block[2]):
                chosen[m] = block[1] + r
                m += 1
            count += 1
    chosen[n[NR]] = m
    return count


@loop
def bounds(k: i64, limit: ptr, w: ptr, n: iptr) -> None:
    """Coefficients along both rows, and the bound of a block without load, as an impulse."""
    nr = n[NR]
    block = at(n, n[M_SIDES] + FIELDS * k)
    given = at(w, n[O_MID] + n[NB] + 2 * nr + nr * n[NV] + 8 * k)
    limit[0] = 0.0
    limit[1] = 0.0
    limit[2] = 0.0
    if block[0] == FRICTION:
        along = given[1]
        u = at(w, n[O_SIDES] + n[NB] + block[1])
        speed = dot(block[2], u, u)
        is_still = 1 if sqrt(speed) <= STILL * (1.0 + largest(n[NV], at(w, n[O_V]))) else 0
        if block[4] == STRIBECK and given[5] > 0.0:
            along += exp(-speed / (given[5] * given[5])) * (given[2] - given[1])
        elif n[n[M_MODE] + k] == STICK or (n[n[M_MODE] + k] == OPEN and is_still == 1):
            # at rest; what lands in motion slips
            along = given[2]
        if block[3] >= 0:
            limit[0] = along
            limit[1] = along * given[3] / given[1] if given[1] > 0.0 else along
        else:
            limit[2] = along * w[H]


@loop
def rates(m: i64, part: f64, w: ptr, n: iptr) -> None:
    """b of the problem: rates of the free motion at the end of the step, with restitution."""
    nb = n[NB]
    nr = n[NR]
    nv = n[NV]
    b = at(w, n[O_CONES] + nr * nr)
    chosen = at(n, n[M_ACTIVE] + 7 * nb)
    free = at(w, n[O_FREE])
    v = at(w, n[O_V])
    still = STILL * (1.0 + largest(nv, v))
    for i in range(m):
        r = chosen[i]
        D = at(w, n[O_MID] + nb + 2 * nr + r * nv)
        u = w[n[O_MID] + nb + r]
        b[i] = u + (1.0 - w[THETA]) / w[THETA] * (u - w[n[O_SIDES] + nb + r])
        for j in range(nv):
            b[i] += D[j] * (free[j] - v[j])
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if n[n[M_ACTIVE] + k] == 1 and block[0] == GAP:
            i = n[n[M_ACTIVE] + nb + 4 * n[n[M_ACTIVE] + 5 * nb + k] + 1]
            u = w[n[O_SIDES] + nb + block[1]]
            n[n[M_MODE] + nb + k] = 0
            if u >= 0.0:
                b[i] += u
            elif u < -still and b[i] - u >= u:
                b[i] += part * w[n[O_MID] + nb + 2 * nr + nr * nv + 8 * k] * u
                n[n[M_MODE] + nb + k] = 1


@loop
def finish_step(w: ptr, n: iptr) -> None:
    """v₁ and ξ into the block Y."""
    nv = n[NV]
    y = at(w, n[O_Y])
    v = at(w, n[O_V])
    free = at(w, n[O_FREE])
    chosen = at(n, n[M_ACTIVE] + 7 * n[NB])
    P = at(w, n[O_CONES] + n[NR] * n[NR] + n[NR])
    pushed(chosen[n[NR]], chosen, P, at(y, nv), w, n)
    for i in range(nv):
        y[nv + i] += free[i]
        y[i] = w[H] * ((1.0 - w[THETA]) * v[i] + w[THETA] * y[nv + i])


@loop
def work(w: ptr, n: iptr) -> f64:
    """Pᵀ(u + u₁)/2 of the step that is finished; 0 where it is rounding."""
    nb = n[NB]
    nr = n[NR]
    nv = n[NV]
    chosen = at(n, n[M_ACTIVE] + 7 * nb)
    P = at(w, n[O_CONES] + nr * nr + nr)
    v = at(w, n[O_V])
    after = at(w, n[O_Y] + nv)
    total = 0.0
    size = 0.0
    for i in range(chosen[nr]):
        D = at(w, n[O_MID] + nb + 2 * nr + chosen[i] * nv)
        u = w[n[O_MID] + nb + chosen[i]] + 0.5 * (dot(nv, D, after) - dot(nv, D, v))
        total += P[i] * u
        size += abs(P[i]) * (abs(u) + abs(w[n[O_MID] + nb + chosen[i]]))
    return float(total) if abs(total) > ROUNDING * size else 0.0


@loop
def without_gain(w: ptr, n: iptr) -> f64:
    """Impulses of (stepping-5) in the place of those that gain; the residual of those without e."""
    nb = n[NB]
    nr = n[NR]
    m = n[n[M_ACTIVE] + 7 * nb + nr]
    P = at(w, n[O_CONES] + nr * nr + nr)
    way = at(P, nr + 3 * nb)
    gain = work(w, n)
    for i in range(m):
        way[i] = P[i]
    residual = impulses(0.0, w, n)
    finish_step(w, n)
    least = work(w, n)
    for i in range(m):
        way[i] -= P[i]
        P[i] += 0.5 * way[i]
    finish_step(w, n)
    square = 2.0 * (gain + least - 2.0 * work(w, n))
    slope = gain - least - square
    root = sqrt(max(slope * slope - 4.0 * square * min(least, 0.0), 0.0)) + slope
    part = min(max(-2.0 * min(least, 0.0) / root, 0.0), 1.0) if root > 0.0 else 0.0
    for i in range(m):
        P[i] += (part - 0.5) * way[i]
        w[n[O_IMPULSE] + n[n[M_ACTIVE] + 7 * nb + i]] = P[i]
    finish_step(w, n)
    return residual
