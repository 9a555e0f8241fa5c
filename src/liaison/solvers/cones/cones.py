"""Contact forces with Coulomb's friction: all closed contacts at once, to rounding.

    u = A f + b,   0 ≤ f_n ⟂ u_n ≥ 0,   ‖f_t‖ ≤ c f_n + k,   f_t against u_t        (cones-0)

A is the mobility D M⁻¹Dᵀ of the rows, symmetric and at least semidefinite; rows may repeat. Sweeps
over contacts find the modes, Newton's method the forces; hard problems are solved from inside of
their bounds, or by way of softer ones.

Public names: ONE_WAY, DISC, HELD, GIVEN, Cone, Limit, solve_cones, cone_area.

Source: ACA ch. 13; docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Rows

from .interior import interior
from .newton import newton, rounding
from .proximal import approach
from .sweep import sweep
from .table import (
    DISC,
    GIVEN,
    HELD,
    ONE_WAY,
    Area,
    Cone,
    Limit,
    cone_area,
    copy,
    natural_residual,
    prepare,
    project,
    refresh,
)

__all__ = ["DISC", "GIVEN", "HELD", "ONE_WAY", "Cone", "Limit", "cone_area", "solve_cones"]

CAUTION = (0.1, 1.0, 0.01, 0.1)
"""Proximal mobility inside Newton's method, beside its residual, on softer problems: by tries."""

SIZE, SHRINKS = (1.0, 30.0, 1.0, 300.0), (1e-4, 1e-6, 1e-2, 1e-6)
"""Loads from which forces go to their bounds from inside, and what pulls them to zero: by tries."""

TRIES, AFRESH, MANY = 4, 4, 150
"""How often the search goes on from where it was, each time with four times as many sweeps; how
often it begins elsewhere, where rows are at most so many."""

SPREAD = (10.0, 1.0, 100.0, 1000.0)
"""Forces of these beginnings, in turn."""

GOLDEN = 0.6180339887498949

FEW, FIRST, ROWS_A_SWEEP = 4, 8, 8
"""Sweeps of the first try: one where blocks are fewer than FEW, else FIRST or more where a Newton
step costs more than sweeps: one for every so many rows."""

NEAR = 1e-2
"""Residual at which the sweeps of the first try end."""

BOLD = 0.01
"""Proximal mobility inside Newton's method, beside its residual, while nothing shows it is hard."""


@loop
def keep_best(m: i64, area: Area, residual: f64, best: f64) -> f64:
    """Remembers y if its residual is the least so far; returns that."""
    if residual < best:
        copy(m, area.force, area.best)
        return residual
    return best


@loop
def is_found(m: i64, area: Area, best: f64) -> i64:
    """1 if nothing but rounding is left."""
    return 1 if best <= rounding(m, area.best) else 0


@loop
def settle(
    m: i64, nb: i64, blocks: Rows[Cone], area: Area, sweeps: i64, near: f64, best: f64
) -> f64:
    """Sweeps from y on, then Newton's method, with caution and without; the least residual so far.

    y is left where sweeps led.
    """
    for _ in range(sweeps):
        sweep(m, nb, blocks, area)
        if near > 0.0 and natural_residual(m, nb, blocks, area) < near:
            break
    copy(m, area.force, area.swept)
    for turn in range(2):
        if is_found(m, area, best) == 0:
            refresh(m, area)
            # what is light between heavy things moves far: caution would never get there
            caution = BOLD if turn == 0 else 0.0
            residual = natural_residual(m, nb, blocks, area)
            best = keep_best(m, area, newton(m, nb, blocks, area, residual, caution), best)
            copy(m, area.swept, area.force)
    refresh(m, area)
    return best


@loop
def scatter(m: i64, nb: i64, turn: i64, blocks: Rows[Cone], area: Area) -> None:
    """Another beginning: loads and friction spread over their bounds, the same at every call."""
    for k in range(nb):
        for i in range(blocks[k].first, blocks[k].first + blocks[k].rows):
            x = GOLDEN * float((i + 1) * (2 * turn + 1))
            x -= float(int(x))
            if blocks[k].kind == ONE_WAY:
                area.force[i] = x * SPREAD[turn % 4]
            elif blocks[k].kind != GIVEN:
                area.force[i] = (2.0 * x - 1.0) * SPREAD[turn % 4]
    project(m, nb, blocks, area)
    refresh(m, area)


@loop
def harder(m: i64, nb: i64, turn: i64, blocks: Rows[Cone], area: Area, best: f64) -> f64:
    """What sweeps and modes do not find: from inside of the bounds, then by softer problems."""
    if is_found(m, area, best) == 0:
        found = interior(m, nb, blocks, area, SIZE[turn], SHRINKS[turn], BOLD)
        best = keep_best(m, area, found, best)
        copy(m, area.swept, area.force)
    if is_found(m, area, best) == 0 and turn > 0:
        if turn > 1:
            copy(m, area.best, area.force)
        best = keep_best(m, area, approach(m, nb, blocks, area, CAUTION[turn]), best)
        copy(m, area.swept, area.force)
    refresh(m, area)
    return best


@loop
def search_from(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """From y of the area to the best found; its residual.

    Sweeps, then Newton's method from where they led; the next time four times as many sweeps go on
    from where the last ended. What is hard for both is approached from inside of the bounds and by
    way of softer problems.
    """
    project(m, nb, blocks, area)
    refresh(m, area)
    best = keep_best(m, area, natural_residual(m, nb, blocks, area), 1e300)
    sweeps = 1 if nb < FEW else max(FIRST, m // ROWS_A_SWEEP)
    for turn in range(TRIES):
        if is_found(m, area, best) == 0:
            best = settle(m, nb, blocks, area, sweeps, NEAR if turn == 0 else 0.0, best)
            best = harder(m, nb, turn, blocks, area, best)
            sweeps = 4 * sweeps
    return best


@loop
def search(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """From y of the area, and where that leads nowhere from elsewhere, to the best found."""
    least = search_from(m, nb, blocks, area)
    copy(m, area.best, area.found)
    for turn in range(AFRESH if m <= MANY else 0):
        if least > rounding(m, area.found):
            scatter(m, nb, turn, blocks, area)
            best = search_from(m, nb, blocks, area)
            if best < least:
                least = best
                copy(m, area.best, area.found)
    copy(m, area.found, area.force)
    refresh(m, area)
    return least


@loop
def depends_on_load(nb: i64, blocks: Rows[Cone], limits: Rows[Limit]) -> i64:
    """1 if the shape of an ellipse changes with its load: by a constant part beside it."""
    for k in range(nb):
        is_loaded = blocks[k].kind == DISC and blocks[k].rows == 2 and blocks[k].load >= 0
        if (
            is_loaded
            and limits[k].constant > 0.0
            and limits[k].coefficient[0] != limits[k].coefficient[1]
        ):
            return 1
    return 0


@loop
def solve_cones(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr
) -> f64:
    """Forces f of (cones-0), from the f given on.

    Args:
        m: rows.
        nb: blocks; their rows cover 0 … m − 1 once.
        A: mobility, m × m, row-major; kept. Need not be symmetric for the method to be tried.
        b: rates without forces; kept.
        blocks: what kind of rows they are, where they begin, how many (1; a DISC 1 or 2), and the
            load that bounds them.
        limits: of every block. DISC: semi-axes = coefficient × max(f_load, 0) + constant.
            ONE_WAY: the constant is the least force, 0 for a contact.
        f: begins the search (0 will do); result, inside its bounds. Of GIVEN blocks it is kept.
        area: `cone_area(m, nb)` doubles.

    Returns:
        The largest entry of the natural map f − P(f − u) in scaled rows, beside the largest b:
        below 1e-12 where solved, far above where there is no solution. Infinity where A, b or f are
        not finite; then f = 0.
    """
    residual = 0.0
    work = Area(area, m, nb)
    # an ellipse whose shape depends on its load is scaled again with the load found
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
        residual = search(m, nb, blocks, work)
        for i in range(m):
            f[i] = beta * work.scale[i] * work.force[i]
        if depends_on_load(nb, blocks, limits) == 0:
            return residual
    return residual
