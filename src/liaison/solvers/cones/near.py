"""Contact problems that differ little from the last: Newton's method in the modes forces are in.

Steps leave what rows of a small mobility of their own ask for; the factors of such a step take it
away, and serve once more where only rates of the problem change. Elsewhere the search begins.

Public names: solve_cones_near, solve_cones_again.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.pivoting import solve_factorized

from .cones import MANY, depends_on_load, search
from .newton import newton_step, rounding
from .softened import LEFT
from .table import (
    DISC,
    ONE_WAY,
    PRESCRIBED,
    Area,
    Cone,
    Limit,
    copy,
    natural_residual,
    prepare,
    project,
    radius,
    refresh,
    scale_rates,
)

OWN_IN_MODES = 1e-10
"""Mobility of their own of rows: what is less lets forces of rows that depend on each other
wander by rounding, and out of their modes."""

FEW_STEPS, HELPS = 5, 0.1
"""Steps at most that go on in the modes in which forces are, and what each leaves of residuals."""

NEARLY = 1e-8
"""Residual up to which a step goes by the factors of the one before."""

LEAST = 0.1
"""Of the residual at which nothing but rounding is left: that of the sums of rates themselves."""

CLOSE = 0.5
"""Residual up to which forces of the last problem may be in the modes of this one."""

NO_RATE = 1e-16
"""Rate beside the largest that mobility of their own may give rows in the last of these steps."""


@loop
def has_factors(m: i64, nb: i64, is_far: i64, blocks: Rows[Cone], area: Area) -> i64:
    """1 if the factors at hand serve; what a step is asked for in their modes is in the area then.

    That is the right-hand side of `linearize` for ε = 0. Far from a solution forces must be in
    these modes; next to it a slip of rounding may look like none.
    """
    y = area.force
    z = area.rate
    for k in range(nb):
        kind = blocks[k].kind
        first = blocks[k].first
        last = first + blocks[k].rows - 1
        part = 1.0
        bound = 0.0
        if kind == DISC:
            t = y[last] - z[last] if last > first else 0.0
            x = y[first] - z[first]
            r = radius(blocks, area.table, y, k)
            length = sqrt(x * x + t * t)
            bound = 1.0 if length > r else 0.0
            part = r / length if length > 0.0 else 1.0
        elif kind == ONE_WAY:
            bound = 0.0 if y[first] - z[first] > area.table[k].constant else 1.0
        if is_far == 1 and bound != area.bound[k]:
            return 0
        for i in range(first, last + 1):
            area.step[i] = -z[i]
            if kind == PRESCRIBED:
                area.step[i] = 0.0
            elif area.bound[k] > 0.0:
                limit = part * (y[i] - z[i]) if kind == DISC else area.table[k].constant
                area.step[i] = limit - y[i]
    return 1


@loop
def newton_in_modes(m: i64, nb: i64, blocks: Rows[Cone], area: Area, residual: f64) -> f64:
    """Steps with ε = 0 from y on, whose residual is known, as long as each helps much; the last.

    Where modes are those of the solution two or three end at rounding, elsewhere this soon ends.
    Once what is left is due to mobilities of their own, steps go by the factors at hand.
    """
    y = area.force
    own = area.kept[0]
    for turn in range(FEW_STEPS):
        is_far = 1 if residual > NEARLY else 0
        is_again = 1 if own > 0.0 and (turn == 0 or is_far == 0) else 0
        if is_again == 1:
            is_again = has_factors(m, nb, is_far, blocks, area)
        if is_again == 1:
            solve_factorized(m, flat(area.J), area.order, area.step)
        else:
            own = OWN_IN_MODES
            area.kept[0] = own
            if newton_step(m, nb, 0.0, own, blocks, area) != 0:
                break
        added = 0.0
        for i in range(m):
            y[i] += area.step[i]
            added = max(added, own * abs(area.step[i]))
        project(m, nb, blocks, area)
        refresh(m, area)
        now = natural_residual(m, nb, blocks, area)
        # what mobility of their own moved rows by is less than rounding of the largest rate; of
        # rows that depend on each other it is that rounding, however often a step is repeated
        enough = rounding(m, y)
        if now <= enough and (added <= NO_RATE or now <= LEAST * enough):
            return now
        if not (now < HELPS * residual or now <= enough):
            if is_again == 0 or not (now < CLOSE):
                break
            own = 0.0
        residual = now
    area.kept[0] = 0.0
    return 1e300


@loop
def search_in_modes(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """From y of the area on in the modes in which forces are; large where that does not end."""
    project(m, nb, blocks, area)
    refresh(m, area)
    residual = natural_residual(m, nb, blocks, area)
    if residual <= LEAST * rounding(m, area.force):
        return residual
    if residual < CLOSE and m <= MANY:
        return newton_in_modes(m, nb, blocks, area, residual)
    return 1e300


@loop
def search_near(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """As `search`, where forces of the last problem are near: first in the modes they are in."""
    copy(m, area.force, area.swept)
    residual = search_in_modes(m, nb, blocks, area)
    if residual <= rounding(m, area.force):
        return residual
    area.kept[0] = 0.0
    copy(m, area.swept, area.force)
    return search(m, nb, LEFT, blocks, area)


@loop
def solve_cones_near(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr
) -> f64:
    """As `solve_cones`, where f solves a problem that is nearly this one: in a third of the time.

    A solution that is not unique stays as near to f as it can.
    """
    residual = 0.0
    if m == 0:
        return residual
    work = Area(area, m, nb)
    # an ellipse whose shape depends on its load is scaled again with the new load
    for turn in range(30):
        beta = prepare(m, nb, A, b, blocks, limits, f, work)
        if not (beta < 1e300):
            for i in range(m):
                f[i] = 0.0
            return 1e300 * 1e300
        if turn > 0:
            refresh(m, work)
            residual = natural_residual(m, nb, blocks, work)
            if residual <= 1e-13:
                return residual
        residual = search_near(m, nb, blocks, work)
        for i in range(m):
            f[i] = beta * work.scale[i] * work.force[i]
        if depends_on_load(nb, blocks, limits) == 0:
            return residual
    return residual


@loop
def solve_cones_again(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr
) -> f64:
    """As `solve_cones_near`, where A, blocks and area are those of the last call, f its result.

    Only b, and limits a little, are others: in the modes at hand its factors serve once more.
    """
    work = Area(area, m, nb)
    if work.kept[0] > 0.0:
        beta = scale_rates(m, nb, b, blocks, limits, f, work)
        if beta < 1e300:
            residual = search_in_modes(m, nb, blocks, work)
            if residual <= rounding(m, work.force):
                for i in range(m):
                    f[i] = beta * work.scale[i] * work.force[i]
                return residual
    return float(solve_cones_near(m, nb, A, b, blocks, limits, f, area))
