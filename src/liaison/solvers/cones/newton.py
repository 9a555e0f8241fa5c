"""Newton's method on the contact problem: what sweeps come near to, found to rounding.

Every block is taken as it looks now: open, closed, stuck, slipping. The equations of that mode,

    closed, stuck, held: z = 0;   open: y = least;   slipping: y = r(N) e,  e along y − z  (cones-2)

are linearized and solved together. Rows that depend on others get a proximal mobility, which costs
accuracy of a step and none of the result. Steps that lead away are not kept.

Public names: newton, rounding.

Source: AC91; ACA ch. 13.
Differs: ρ = 1, after scaling; discs of any kind bounded by one load.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .table import (
    DISC,
    HELD,
    ONE_WAY,
    Area,
    Bound,
    Cone,
    natural_residual,
    project,
    radius,
    refresh,
)

SOFT, SOFTEST = 1e-8, 1e-2
"""Least and largest proximal mobility of linearized equations; between, caution × residual."""

HARD, FIRM = 1e-13, 1e-4
"""Without caution the least is FIRM × residual, down to HARD: contacts may differ by little."""

TURNS = 20
"""Newton steps at most from one beginning."""

ENOUGH = 4e-15
"""Residual at which nothing but rounding is left, beside 1 + Σ |y|."""

PATIENCE = 8
"""Steps without a better residual after which the mode must be wrong."""


@loop
def choose_closed(m: i64, nb: i64, blocks: Rows[Cone], area: Area, table: Rows[Bound]) -> i64:
    """Rows that are unknown because their load is closed or held; the others get their least force.

    Discs come after, once it is known how far they reach. Returns how many there are.
    """
    y = area.force
    rows = area.chosen
    count = 0
    for k in range(nb):
        first = blocks[k].first
        if blocks[k].kind == HELD:
            for i in range(first, first + blocks[k].rows):
                rows[count] = float(i)
                count += 1
        elif blocks[k].kind == ONE_WAY:
            least = table[k].constant
            if y[first] - area.rate[first] > least:
                rows[count] = float(first)
                count += 1
            else:
                y[first] = least
    return count


@loop
def choose_discs(
    m: i64, nb: i64, blocks: Rows[Cone], area: Area, table: Rows[Bound], count: i64
) -> i64:
    """Rows of discs that can bear anything join the unknowns; the others bear nothing."""
    y = area.force
    rows = area.chosen
    for k in range(nb):
        if blocks[k].kind == DISC:
            first = blocks[k].first
            is_loaded = radius(blocks, table, y, k) > 0.0
            for i in range(first, first + blocks[k].rows):
                if is_loaded:
                    rows[count] = float(i)
                    count += 1
                else:
                    y[i] = 0.0
    return count


@loop
def stuck_row(m: i64, n: i64, i: i64, soft: f64, area: Area, row: ptr) -> f64:
    """z_i = 0, linearized: coefficients of the unknowns in `row`, right-hand side returned."""
    rows = area.chosen
    columns = flat(area.columns)
    for c in range(n):
        j = int(rows[c])
        row[c] = columns[j * m + i] + (soft if i == j else 0.0)
    return float(-area.rate[i])


@loop
def slipping_row(
    m: i64, n: i64, i: i64, other: i64, load_row: i64, steep: f64, r: f64, area: Area, row: ptr
) -> f64:
    """y_i = r e_i, linearized; `other` is the other row of the disc (i itself where there is none).

    δy_i − c e_i δN − (r/‖d‖) Σ_j (δ_ij − e_i e_j)(δy_j − δz_j) = r e_i − y_i
    """
    y = area.force
    z = area.rate
    rows = area.chosen
    columns = flat(area.columns)
    di = y[i] - z[i]
    dj = y[other] - z[other] if other != i else 0.0
    length = sqrt(di * di + dj * dj)
    ei = di / length
    ej = dj / length
    turn = r / length
    for c in range(n):
        j = int(rows[c])
        along = (1.0 if j == i else 0.0) - columns[j * m + i]
        across = (1.0 if j == other else 0.0) - columns[j * m + other]
        row[c] = -turn * ((1.0 - ei * ei) * along - ei * ej * across) if other != i else 0.0
        row[c] += (1.0 if j == i else 0.0) - (steep * ei if j == load_row else 0.0)
    return float(r * ei - y[i])


@loop
def disc_rows(
    m: i64,
    n: i64,
    k: i64,
    at_row: i64,
    soft: f64,
    blocks: Rows[Cone],
    area: Area,
    table: Rows[Bound],
) -> None:
    """The equations of one disc, from row `at_row` of the linear system on."""
    y = area.force
    z = area.rate
    J = flat(area.J)
    first = blocks[k].first
    last = first + blocks[k].rows - 1
    r = radius(blocks, table, y, k)
    size = 0.0
    for i in range(first, last + 1):
        size += (y[i] - z[i]) * (y[i] - z[i])
    load = blocks[k].load
    load_row = blocks[load].first if load >= 0 else -1
    steep = table[k].coefficient
    for i in range(first, last + 1):
        row = at(J, (at_row + i - first) * n)
        if sqrt(size) <= r:
            area.step[at_row + i - first] = stuck_row(m, n, i, soft, area, row)
        else:
            area.step[at_row + i - first] = slipping_row(
                m, n, i, first + last - i, load_row, steep, r, area, row
            )


@loop
def linearize(m: i64, nb: i64, soft: f64, blocks: Rows[Cone], area: Area) -> i64:
    """The linear system of one Newton step, in the area; returns how many unknowns it has."""
    table = area.table
    closed = choose_closed(m, nb, blocks, area, table)
    n = choose_discs(m, nb, blocks, area, table, closed)
    refresh(m, area)
    for c in range(closed):
        i = int(area.chosen[c])
        row = flat(area.J)[c * n :]
        area.step[c] = stuck_row(m, n, i, soft, area, row)
    c = closed
    for k in range(nb):
        if blocks[k].kind == DISC and radius(blocks, table, area.force, k) > 0.0:
            disc_rows(m, n, k, c, soft, blocks, area, table)
            c += blocks[k].rows
    return n


@loop
def newton_step(m: i64, nb: i64, soft: f64, blocks: Rows[Cone], area: Area) -> i64:
    """One step of Newton's method, then back inside the bounds; 1 if it has no solution."""
    n = linearize(m, nb, soft, blocks, area)
    step = area.step
    J = flat(area.J)
    if factorize(n, J, area.order) != 0:
        return 1
    solve_factorized(n, J, area.order, step)
    for c in range(n):
        if not (abs(step[c]) < 1e100):
            return 1
    for c in range(n):
        area.force[int(area.chosen[c])] += step[c]
    project(m, nb, blocks, area)
    refresh(m, area)
    return 0


@loop
def rounding(m: i64, y: ptr) -> f64:
    """Residual at which nothing but rounding is left."""
    total = 1.0
    for i in range(m):
        total += abs(y[i])
    return ENOUGH * total


@loop
def newton(m: i64, nb: i64, blocks: Rows[Cone], area: Area, residual: f64, caution: f64) -> f64:
    """Steps while they help; y and z of the best of them, whose residual is returned."""
    kept = area.kept
    y = area.force
    for i in range(m):
        kept[i] = y[i]
    waited = 0
    for _ in range(TURNS):
        least = SOFT if caution > 0.0 else min(SOFT, max(HARD, FIRM * residual))
        soft = max(least, min(SOFTEST, caution * residual))
        if newton_step(m, nb, soft, blocks, area) != 0:
            break
        now = natural_residual(m, nb, blocks, area)
        waited += 1
        if now < residual:
            residual = now
            waited = 0
            for i in range(m):
                kept[i] = y[i]
        if residual <= rounding(m, y) or waited > PATIENCE:
            break
    for i in range(m):
        y[i] = kept[i]
    refresh(m, area)
    return residual
