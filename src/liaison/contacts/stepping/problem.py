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

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.layout import Run
from liaison.simulation.steps.sides_layout import FRICTION, GAP, OPEN, STICK, STRIBECK
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
def impulses(part: f64, run: Run) -> f64:
    """P of the active blocks, with a part of their restitution; the residual of the problem."""
    problem = run.problem
    cones = flat(run.cone.ints)
    chosen = run.chosen
    count = choose(run)
    m = run.rows_chosen
    A = problem.A
    b = problem.b
    P = problem.P
    limits = problem.limits
    kept = run.impulse
    delassus(m, chosen, A, run)
    rates(m, part, run)
    for i in range(m):
        P[i] = kept[chosen[i]]
    if run.facets > 0:
        residual = UNSOLVABLE
        if solve_polyhedral(m, count, A, b, cones, limits, run.facets, P, run.area) == SOLVED:
            residual = polyhedral_missed(m, count, cones, run.facets, run.area)
    else:
        residual = solve_cones(m, count, A, b, cones, limits, P, run.area)
    for r in range(run.nr):
        kept[r] = 0.0
    for i in range(m):
        kept[chosen[i]] = P[i]
    run.contacts = max(run.contacts, count)
    return float(residual)


@loop
def choose(run: Run) -> i64:
    """The table of active blocks and the rows they have, with the bounds of friction."""
    count = 0
    m = 0
    for k in range(run.nb):
        block = run.blocks[k]
        if run.active[k] == 1:
            cone = run.cone[count]
            run.cone_of[k] = count
            cone.kind = DISC if block.kind == FRICTION else ONE_WAY
            cone.first = m
            cone.rows = block.rows
            cone.load = run.cone_of[block.load] if block.load >= 0 else -1
            bounds(k, run.problem.limits[3 * count :], run)
            for r in range(block.rows):
                run.chosen[m] = block.first + r
                m += 1
            count += 1
    run.rows_chosen = m
    return count


@loop
def bounds(k: i64, limit: ptr, run: Run) -> None:
    """Coefficients along both rows, and the bound of a block without load, as an impulse."""
    block = run.blocks[k]
    law = run.mid.laws[k]
    limit[0] = 0.0
    limit[1] = 0.0
    limit[2] = 0.0
    if block.kind == FRICTION:
        along = law.dynamic
        u = run.sides.rate[block.first :]
        speed = dot(block.rows, u, u)
        is_still = 1 if sqrt(speed) <= STILL * (1.0 + largest(run.nv, run.v)) else 0
        if block.law == STRIBECK and law.speed > 0.0:
            along += exp(-speed / (law.speed * law.speed)) * (law.static - law.dynamic)
        elif run.mode[k] == STICK or (run.mode[k] == OPEN and is_still == 1):
            # at rest; what lands in motion slips
            along = law.static
        if block.load >= 0:
            limit[0] = along
            limit[1] = along * law.across / law.dynamic if law.dynamic > 0.0 else along
        else:
            limit[2] = along * run.h


@loop
def rates(m: i64, part: f64, run: Run) -> None:
    """b of the problem: rates of the free motion at the end of the step, with restitution."""
    nv = run.nv
    b = run.problem.b
    mid = run.mid
    before = run.sides.rate
    free = run.free.v
    v = run.v
    still = STILL * (1.0 + largest(nv, v))
    for i in range(m):
        r = run.chosen[i]
        u = mid.rate[r]
        b[i] = u + (1.0 - run.theta) / run.theta * (u - before[r])
        for j in range(nv):
            b[i] += mid.D[r, j] * (free[j] - v[j])
    for k in range(run.nb):
        block = run.blocks[k]
        if run.active[k] == 1 and block.kind == GAP:
            i = run.cone[run.cone_of[k]].first
            u = before[block.first]
            run.hits[k] = 0
            if u >= 0.0:
                b[i] += u
            elif u < -still and b[i] - u >= u:
                b[i] += part * mid.laws[k].restitution * u
                run.hits[k] = 1


@loop
def finish_step(run: Run) -> None:
    """v₁ and ξ into `run.y`."""
    nv = run.nv
    y = run.y
    v = run.v
    free = run.free.v
    pushed(run.rows_chosen, run.chosen, run.problem.P, at(y, nv), run)
    for i in range(nv):
        y[nv + i] += free[i]
        y[i] = run.h * ((1.0 - run.theta) * v[i] + run.theta * y[nv + i])


@loop
def work(run: Run) -> f64:
    """Pᵀ(u + u₁)/2 of the step that is finished; 0 where it is rounding."""
    nv = run.nv
    mid = run.mid
    P = run.problem.P
    v = run.v
    after = run.y[nv:]
    total = 0.0
    size = 0.0
    for i in range(run.rows_chosen):
        r = run.chosen[i]
        D = mid.D[r]
        u = mid.rate[r] + 0.5 * (dot(nv, D, after) - dot(nv, D, v))
        total += P[i] * u
        size += abs(P[i]) * (abs(u) + abs(mid.rate[r]))
    return float(total) if abs(total) > ROUNDING * size else 0.0


@loop
def without_gain(run: Run) -> f64:
    """Impulses of (stepping-5) in the place of those that gain; the residual of those without e."""
    m = run.rows_chosen
    P = run.problem.P
    way = run.problem.way
    gain = work(run)
    for i in range(m):
        way[i] = P[i]
    residual = impulses(0.0, run)
    finish_step(run)
    least = work(run)
    for i in range(m):
        way[i] -= P[i]
        P[i] += 0.5 * way[i]
    finish_step(run)
    square = 2.0 * (gain + least - 2.0 * work(run))
    slope = gain - least - square
    root = sqrt(max(slope * slope - 4.0 * square * min(least, 0.0), 0.0)) + slope
    part = min(max(-2.0 * min(least, 0.0) / root, 0.0), 1.0) if root > 0.0 else 0.0
    for i in range(m):
        P[i] += (part - 0.5) * way[i]
        run.impulse[run.chosen[i]] = P[i]
    finish_step(run)
    return residual
