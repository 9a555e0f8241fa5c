"""Hard contact problems from inside their bounds: forces pushed off the bounds by less and less.

Loads keep a product ε with their rates; a disc is opposed to its slip with a factor λ of its own:

    z_n (y_n − least) = ε,   z_t = −λ y_t,   λ (r² − |y_t|²) = ε r,   r = c y_load + k   (cones-4)

For ε > 0 these equations are smooth and have no modes. Newton's method follows their solution as ε
falls, never leaving the inside; loads that are not determined stay in the middle of what they may
be. Friction is Coulomb's throughout: the radius depends on the load, the load's rate not on slip.

Public names: interior.

Source: NW06 ch. 14, 19 (primal-dual steps, fraction to the boundary, centering by a predictor).
Differs: not the conditions of a minimum, for Coulomb's friction has none; of its cone one disc.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .newton import newton, rounding
from .table import (
    DISC,
    GIVEN,
    ONE_WAY,
    Area,
    Bound,
    Cone,
    copy,
    natural_residual,
    project,
    radius,
    refresh,
)

TURNS = 60
"""Steps at most."""

INSIDE = 0.99
"""Part of the way to the nearest bound that a step may go."""

LEAST_SLACK = 1e-13
"""Part of r² that r² − |y|² is not less than: below it is rounding."""

STALLED, SLOW, PATIENCE = 1e-7, 0.1, 5
"""Steps shorter than this part lead nowhere; nor do many in a row below SLOW."""

STAGES = (1e-3, 1e-6, 1e-9)
"""Residuals at which Newton's method on the modes is tried."""


@loop
def slack(blocks: Rows[Cone], table: Rows[Bound], y: ptr, k: i64) -> f64:
    """r² − |y|² of disc k; 0 where its radius is none."""
    r = radius(blocks, table, y, k)
    first = blocks[k].first
    size = y[first] * y[first]
    if blocks[k].rows > 1:
        size += y[first + 1] * y[first + 1]
    size = sqrt(size)
    return max((r - size) * (r + size), LEAST_SLACK * r * r)


@loop
def enter(m: i64, nb: i64, size: f64, blocks: Rows[Cone], area: Area) -> None:
    """The beginning: loads of one size, nothing on discs."""
    y = area.force
    table = area.table
    for k in range(nb):
        first = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            y[first] = table[k].constant + size
        elif blocks[k].kind != GIVEN:
            for i in range(first, first + blocks[k].rows):
                y[i] = 0.0
    for k in range(nb):
        table[k].dual = 1.0
        if blocks[k].kind == DISC:
            table[k].dual = 1.0 / max(radius(blocks, table, y, k), 1e-3)
    refresh(m, area)


@loop
def mean_product(nb: i64, blocks: Rows[Cone], table: Rows[Bound], y: ptr) -> f64:
    """The mean of what (cones-4) calls ε."""
    total = 0.0
    count = 0.0
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            room = y[blocks[k].first] - table[k].constant
            total += table[k].dual * room
            count += 1.0
        elif blocks[k].kind == DISC:
            r = radius(blocks, table, y, k)
            if r > 0.0:
                total += table[k].dual * slack(blocks, table, y, k) / r
                count += 1.0
    return total / max(count, 1.0)


@loop
def still_row(m: i64, i: i64, J: ptr) -> None:
    """Row i of the system says that y_i is given."""
    for j in range(m):
        J[i * m + j] = 0.0
    J[i * m + i] = 1.0


@loop
def disc_block(m: i64, k: i64, blocks: Rows[Cone], area: Area, J: ptr) -> None:
    """What the rows of a disc add to Ã."""
    y = area.force
    table = area.table
    first = blocks[k].first
    rows = blocks[k].rows
    r = radius(blocks, table, y, k)
    if not (r > 0.0):
        for i in range(first, first + rows):
            still_row(m, i, J)
        return
    lam = table[k].dual
    steep = 2.0 * lam / slack(blocks, table, y, k)
    load = blocks[k].load
    pull = steep * r * table[k].coefficient
    for i in range(first, first + rows):
        J[i * m + i] += lam
        for j in range(first, first + rows):
            J[i * m + j] += steep * y[i] * y[j]
        if load >= 0 and y[blocks[max(load, 0)].first] > 0.0:
            J[i * m + blocks[load].first] -= pull * y[i]


@loop
def inner_system(m: i64, nb: i64, rho: f64, blocks: Rows[Cone], area: Area) -> i64:
    """Factors of the linearized (cones-4), rates and factors λ eliminated; 1 if there are none."""
    y = area.force
    columns = flat(area.columns)
    J = flat(area.J)
    table = area.table
    for i in range(m):
        for j in range(m):
            J[i * m + j] = columns[j * m + i]
        J[i * m + i] += rho
    for k in range(nb):
        first = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            room = y[first] - table[k].constant
            J[first * m + first] += table[k].dual / room
        elif blocks[k].kind == DISC:
            disc_block(m, k, blocks, area, J)
        elif blocks[k].kind == GIVEN:
            for i in range(first, first + blocks[k].rows):
                still_row(m, i, J)
    return factorize(m, J, area.order)


@loop
def aim(m: i64, nb: i64, eps: f64, rho: f64, blocks: Rows[Cone], area: Area) -> None:
    """The step of forces and factors towards a solution of (cones-4), by the factors at hand."""
    y = area.force
    z = area.rate
    step = area.step
    table = area.table
    for i in range(m):
        step[i] = -z[i] - rho * y[i]
    for k in range(nb):
        first = blocks[k].first
        last = first + blocks[k].rows
        if blocks[k].kind == ONE_WAY:
            step[first] += eps / (y[first] - table[k].constant)
        elif blocks[k].kind == DISC:
            r = radius(blocks, table, y, k)
            for i in range(first, last):
                step[i] -= eps * r / slack(blocks, table, y, k) * y[i] if r > 0.0 else 0.0
                if not (r > 0.0):
                    step[i] = -y[i]
        elif blocks[k].kind == GIVEN:
            for i in range(first, last):
                step[i] = 0.0
    solve_factorized(m, flat(area.J), area.order, step)
    for k in range(nb):
        table[k].change = factor_change(m, k, eps, blocks, area)


@loop
def factor_change(m: i64, k: i64, eps: f64, blocks: Rows[Cone], area: Area) -> f64:
    """How the rate of a load, or the factor of a disc, changes with the step of forces."""
    y = area.force
    step = area.step
    table = area.table
    first = blocks[k].first
    dual = table[k].dual
    if blocks[k].kind == ONE_WAY:
        room = y[first] - table[k].constant
        return float((eps - dual * step[first]) / room - dual)
    r = radius(blocks, table, y, k) if blocks[k].kind == DISC else 0.0
    if not (r > 0.0):
        return 0.0
    widens = 0.0
    load = blocks[k].load
    if load >= 0 and y[blocks[max(load, 0)].first] > 0.0:
        widens = 2.0 * r * table[k].coefficient * step[blocks[load].first]
    for i in range(first, first + blocks[k].rows):
        widens -= 2.0 * y[i] * step[i]
    return float((eps * r - dual * widens) / slack(blocks, table, y, k) - dual)


@loop
def way_to_zero(x: f64, change: f64) -> f64:
    """The largest part of a change, up to 1, that leaves x positive."""
    return min(1.0, -INSIDE * x / change) if change < 0.0 else 1.0


@loop
def way_in_disc(m: i64, k: i64, blocks: Rows[Cone], area: Area) -> f64:
    """The largest part of the step, up to 1, that stays inside of disc k.

    r² − |y|² along the step is a parabola; it may fall to a hundredth.
    """
    y = area.force
    step = area.step
    table = area.table
    r = radius(blocks, table, y, k)
    if not (r > 0.0):
        return 1.0
    load = blocks[k].load
    grows = 0.0
    if load >= 0:
        grows = table[k].coefficient * step[blocks[max(load, 0)].first]
    a = grows * grows
    half = r * grows
    for i in range(blocks[k].first, blocks[k].first + blocks[k].rows):
        a -= step[i] * step[i]
        half -= y[i] * step[i]
    c = INSIDE * slack(blocks, table, y, k)
    way = way_to_zero(r, grows)
    root = half * half - a * c
    if root >= 0.0:
        # the root that is reached first has this form whichever way the parabola opens
        below = -half + sqrt(root)
        if below > 0.0:
            way = min(way, c / below)
    return way


@loop
def way_inside(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """The largest part of the step, up to 1, that stays inside of all bounds."""
    table = area.table
    way = 1.0
    for k in range(nb):
        field = table[k]
        if blocks[k].kind == ONE_WAY:
            i = blocks[k].first
            way = min(way, way_to_zero(area.force[i] - field.constant, area.step[i]))
            way = min(way, way_to_zero(field.dual, field.change))
        elif blocks[k].kind == DISC:
            way = min(way, way_in_disc(m, k, blocks, area))
            way = min(way, way_to_zero(field.dual, field.change))
    return way


@loop
def inner_step(m: i64, nb: i64, shrinks: f64, blocks: Rows[Cone], area: Area) -> f64:
    """One step: as far as a look at ε = 0 promises, towards a smaller ε; its part, 0 if none."""
    y = area.force
    table = area.table
    mean = mean_product(nb, blocks, table, y)
    rho = max(shrinks * min(mean, 1.0), 1e-14)
    if inner_system(m, nb, rho, blocks, area) != 0:
        return 0.0
    aim(m, nb, 0.0, rho, blocks, area)
    way = way_inside(m, nb, blocks, area)
    keep = min(max((1.0 - way) * (1.0 - way), 1e-3), 0.8) if way > 0.1 else 0.5
    aim(m, nb, keep * mean, rho, blocks, area)
    way = way_inside(m, nb, blocks, area)
    if not (way > STALLED):
        return 0.0
    for i in range(m):
        y[i] += way * area.step[i]
    for k in range(nb):
        table[k].dual += way * table[k].change
    refresh(m, area)
    return way


@loop
def try_modes(m: i64, nb: i64, blocks: Rows[Cone], area: Area, caution: f64) -> f64:
    """Newton's method on the modes from y on; its residual. y stays where it finds nothing."""
    copy(m, area.force, area.center)
    project(m, nb, blocks, area)
    refresh(m, area)
    found = newton(m, nb, blocks, area, natural_residual(m, nb, blocks, area), caution)
    if found > rounding(m, area.force):
        copy(m, area.center, area.force)
        refresh(m, area)
    return found


@loop
def interior(
    m: i64, nb: i64, blocks: Rows[Cone], area: Area, size: f64, shrinks: f64, caution: f64
) -> f64:
    """(cones-4) with ever smaller ε, from loads of one size on; y and its residual."""
    enter(m, nb, size, blocks, area)
    stage = 0
    residual = natural_residual(m, nb, blocks, area)
    slow = 0
    for _ in range(TURNS):
        way = inner_step(m, nb, shrinks, blocks, area)
        residual = natural_residual(m, nb, blocks, area)
        is_near = 1 if stage < 3 and residual < STAGES[stage] else 0
        if is_near == 1 or (way == 0.0 and residual < STAGES[0]):
            found = try_modes(m, nb, blocks, area, caution)
            if found <= rounding(m, area.force):
                return found
            while stage < 3 and residual < STAGES[stage]:
                stage += 1
        slow = slow + 1 if way < SLOW else 0
        if way == 0.0 or slow > PATIENCE or not (residual < 1e100) or residual < STAGES[2]:
            break
    project(m, nb, blocks, area)
    refresh(m, area)
    return natural_residual(m, nb, blocks, area)
