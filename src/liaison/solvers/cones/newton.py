"""Newton's method on all contacts at once, with rounded projections where need be: the safe one.

Forces are the projections of what they would be without bounds, d = y − z, on their bounds,

    y_n = least + max(d_n − least, 0),   y_t = min(|d_t|, r) e,  e along d_t               (cones-3)
    max(x, 0) ≈ (x + h(x))/2,   min(l, r) ≈ (h(l + r) − h(l − r))/2,   h(x) = √(x² + 4 ε)  (cones-4)

and z = 0 on bilateral rows. With ε = 0 a step takes every block in the mode in which it looks,
open, closed, stuck or slipping, and the last steps end at rounding; from far away modes may cycle.
With ε > 0 there are no modes: from inside the bounds ε falls as long as steps are long, and the
forces follow to where ε = 0 ends. The reason why it is there: sweeps creep under heavy bodies and
in wedges, and do not reach rounding; this does, whatever the beginning.

Rows that depend on others get a small mobility of their own, which costs accuracy of a step and
none of the result.

Public names: newton, newton_step, newton_from_inside, rounding, linearize, substitute,
room_for_loads.

Source: AC91; ACA ch. 13 (ε = 0); CHE93 (smoothing), NW06 ch. 19 (fraction to the boundary).
Differs: ρ of AC91 is 1, after scaling; discs of any kind bounded by one load.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .table import (
    BILATERAL,
    DISC,
    ONE_WAY,
    Area,
    Cone,
    copy,
    natural_residual,
    project,
    radius,
    refresh,
)

OWN, LARGEST_OWN = 1e-8, 1e-2
"""Least and largest mobility of their own of rows, for ε = 0; between, caution × residual."""

LEAST_OWN, BOLD = 1e-13, 1e-4
"""Without caution it is BOLD × residual, down to LEAST_OWN: contacts may differ by little."""

STEPS, PATIENCE = 20, 5
"""Steps at most for ε = 0, and those without a better residual after which modes cycle."""

ENOUGH = 4e-15
"""Residual at which nothing but rounding is left, beside 1 + Σ |y|."""

STEPS_INSIDE, LAST = 60, 1e-13
"""Steps at most for ε > 0, and the least ε."""

OWN_INSIDE = 1e-3
"""Mobility of their own of rows for ε > 0, beside ε up to 1."""

INSIDE, SHORT = 0.9, 0.1
"""Part of the way to the nearest bound of a load that a step may go; steps shorter than SHORT leave
ε as it is."""

STAGES = (1e-3, 1e-6, 1e-9)
"""Residuals at which ε = 0 is tried."""


@loop
def rounding(m: i64, y: ptr) -> f64:
    """Residual at which nothing but rounding is left."""
    total = 1.0
    for i in range(m):
        total += abs(y[i])
    return ENOUGH * total


@loop
def rounded(x: f64, eps: f64) -> f64:
    """h of (cones-4), |x| rounded off; not 0."""
    return max(sqrt(x * x + 4.0 * eps), 1e-300) if eps > 0.0 else max(abs(x), 1e-300)


@loop
def free_row(m: i64, i: i64, slope: f64, own: f64, area: Area) -> None:
    """(1 − s) δy_i + s δz_i outside of discs: s = 1 where z_i = 0, 0 where y_i is known."""
    row = area.J[i]
    for j in range(m):
        row[j] = slope * area.columns[j, i]
    row[i] += 1.0 - slope + slope * own


@loop
def disc_row(
    m: i64, i: i64, first: i64, other: i64, along: f64, across: f64, own: f64, area: Area
) -> None:
    """δy_i − Σ_j T_ij (δy_j − δz_j), T_ij `along` and `across` for the two rows of the disc."""
    row = area.J[i]
    for j in range(m):
        row[j] = along * area.columns[j, first]
        if other > first:
            row[j] += across * area.columns[j, other]
    row[i] += 1.0
    row[first] += along * (own - 1.0)
    if other > first:
        row[other] += across * (own - 1.0)


@loop
def disc_rows(m: i64, k: i64, eps: f64, own: f64, blocks: Rows[Cone], area: Area) -> None:
    """y_t = s(|d|, r) e of one disc, linearized."""
    y = area.force
    first = blocks[k].first
    other = first + blocks[k].rows - 1
    load = blocks[k].load
    r = radius(blocks, area.table, y, k)
    x = y[first] - area.rate[first]
    t = y[other] - area.rate[other] if other > first else 0.0
    length = sqrt(x * x + t * t)
    above = (length + r) / rounded(length + r, eps)
    below = (length - r) / rounded(length - r, eps)
    # h(l + r)² − h(l − r)² = 4 l r: no digits are lost where one of them is tiny
    size = 2.0 * length * r / (rounded(length + r, eps) + rounded(length - r, eps))
    slope = 0.5 * (above - below)
    turn = size / length if length > 1e-12 * r and length > 0.0 else slope
    x = x / length if length > 0.0 else 1.0
    t = t / length if length > 0.0 else 0.0
    for i in range(first, other + 1):
        e = x if i == first else t
        along = (slope - turn) * e * x + (turn if i == first else 0.0)
        across = (slope - turn) * e * t + (turn if i != first else 0.0)
        area.fixed[i] = 0.0
        disc_row(m, i, first, other, along, across, own, area)
        if load >= 0:
            area.J[i, blocks[load].first] -= 0.5 * (above + below) * area.table[k].coefficient * e
        area.step[i] = -area.rate[i] if eps == 0.0 and length <= r else size * e - y[i]
    area.bound[k] = 0.0 if length <= r else 1.0


@loop
def linearize(m: i64, nb: i64, eps: f64, own: f64, blocks: Rows[Cone], area: Area) -> None:
    """The linear system of one step, in the area."""
    for k in range(nb):
        kind = blocks[k].kind
        first = blocks[k].first
        if kind == DISC:
            disc_rows(m, k, eps, own, blocks, area)
        else:
            area.bound[k] = 0.0
            for i in range(first, first + blocks[k].rows):
                slope = 0.0
                area.step[i] = 0.0
                if kind == BILATERAL:
                    slope = 1.0
                    area.step[i] = -area.rate[i]
                elif kind == ONE_WAY:
                    force = area.force[i] - area.table[k].constant
                    d = force - area.rate[i]
                    slope = 0.5 + 0.5 * d / rounded(d, eps)
                    # for ε = 0 exactly −z or −force
                    area.step[i] = 0.5 * (d + rounded(d, eps)) - force
                    area.bound[k] = 0.0 if d > 0.0 else 1.0
                    if eps == 0.0:
                        area.step[i] = -area.rate[i] if d > 0.0 else -force
                area.fixed[i] = 1.0 if slope == 0.0 else 0.0
                free_row(m, i, slope, own, area)


@loop
def substitute(m: i64, area: Area) -> None:
    """Changes that are known, rows of the unit matrix, leave the equations of the others."""
    for i in range(m):
        if area.fixed[i] > 0.0:
            for j in range(m):
                if j != i:
                    area.step[j] -= area.J[j, i] * area.step[i]
                    area.J[j, i] = 0.0


@loop
def newton_step(m: i64, nb: i64, eps: f64, own: f64, blocks: Rows[Cone], area: Area) -> i64:
    """The change of forces in one step, into the area; 1 if there is none."""
    linearize(m, nb, eps, own, blocks, area)
    substitute(m, area)
    J = flat(area.J)
    if factorize(m, J, area.order) != 0:
        return 1
    solve_factorized(m, J, area.order, area.step)
    for i in range(m):
        if not (abs(area.step[i]) < 1e100):
            return 1
    return 0


@loop
def newton(m: i64, nb: i64, blocks: Rows[Cone], area: Area, caution: f64) -> f64:
    """Steps with ε = 0 while they help; y and z of the best of them, whose residual is returned."""
    y = area.force
    project(m, nb, blocks, area)
    refresh(m, area)
    residual = natural_residual(m, nb, blocks, area)
    copy(m, y, area.least)
    waited = 0
    is_last = 0
    for _ in range(STEPS):
        least = OWN if caution > 0.0 else min(OWN, max(LEAST_OWN, BOLD * residual))
        own = max(least, min(LARGEST_OWN, caution * residual))
        # the last step is for forces that are tiny beside the largest rate
        own = LEAST_OWN if is_last == 1 else own
        if newton_step(m, nb, 0.0, own, blocks, area) != 0:
            break
        for i in range(m):
            y[i] += area.step[i]
        project(m, nb, blocks, area)
        refresh(m, area)
        now = natural_residual(m, nb, blocks, area)
        waited += 1
        if now < residual:
            residual = now
            waited = 0
            copy(m, y, area.least)
        if is_last == 1 or waited > PATIENCE:
            break
        is_last = 1 if residual <= rounding(m, y) else 0
    copy(m, area.least, y)
    refresh(m, area)
    return residual


@loop
def room_for_loads(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """The part of a step that keeps loads inside their bounds."""
    part = 1.0
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            i = blocks[k].first
            room = INSIDE * (area.force[i] - area.table[k].constant)
            if area.step[i] < -room:
                part = min(part, -room / area.step[i])
    return part


@loop
def step_inside(m: i64, nb: i64, eps: f64, blocks: Rows[Cone], area: Area) -> f64:
    """One step with ε > 0, loads kept inside their bounds; the part of it that was taken."""
    y = area.force
    if newton_step(m, nb, eps, max(OWN_INSIDE * min(eps, 1.0), LEAST_OWN), blocks, area) != 0:
        return 0.0
    part = room_for_loads(m, nb, blocks, area)
    for i in range(m):
        y[i] += part * area.step[i]
    refresh(m, area)
    return part


@loop
def newton_from_inside(
    m: i64, nb: i64, blocks: Rows[Cone], area: Area, eps: f64, fall: f64, caution: f64
) -> f64:
    """Steps with ever smaller ε from y on, whose loads are inside; y and its residual."""
    refresh(m, area)
    stage = 0
    for _ in range(STEPS_INSIDE):
        part = step_inside(m, nb, eps, blocks, area)
        residual = natural_residual(m, nb, blocks, area)
        is_over = part < 1e-9 or eps < LAST or not (residual < 1e100)
        if residual < STAGES[min(stage, 2)] or (is_over and residual < STAGES[0]):
            copy(m, area.force, area.center)
            ended = newton(m, nb, blocks, area, caution)
            if ended <= rounding(m, area.force):
                return ended
            copy(m, area.center, area.force)
            refresh(m, area)
            while stage < 2 and residual < STAGES[stage]:
                stage += 1
        if is_over:
            break
        if part > SHORT:
            eps = eps * max(fall, 1.0 - 0.9 * part)
    project(m, nb, blocks, area)
    refresh(m, area)
    return natural_residual(m, nb, blocks, area)
