"""Hard contact problems by way of easier ones: rows made soft about the forces found so far.

    z = Ã y + b̃ + ρ (y − c)                                                      (cones-3)

has better conditioned modes than ρ = 0 and the same solution where y = c. Newton's method solves it
from c on; its solution is the next c, and ρ shrinks. Where it is not found, ρ grows and c waits.

Public names: approach.

Source: ROC76.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop
from liaison.program.loops.records import Rows

from .newton import newton, rounding
from .table import Area, Cone, copy, natural_residual, refresh

SOFTEST, HARDEST, FIRST = 1.0, 1e-9, 0.01
"""Largest, smallest and first ρ, beside the mobility 1 of rows."""

HARDER, SOFTER = 0.5, 3.0
"""What ρ is multiplied by where Newton's method found the forces, and where it did not."""

MOST, LEAST, WORK = 200, 3, 1e8
"""Soft problems at most: WORK/m³ within these bounds, so that large problems end as well."""

NEAR = 1e-3
"""Residual of the hard problem from which Newton's method is tried on it."""


@loop
def soften(m: i64, area: Area, rho: f64) -> None:
    """Makes the problem of the area the one of (cones-3), and z its rates."""
    for i in range(m):
        area.columns[i, i] = area.diagonal[i] + rho
        area.free[i] = area.whole[i] - rho * area.center[i]
    refresh(m, area)


@loop
def soft_step(m: i64, nb: i64, blocks: Rows[Cone], area: Area, rho: f64, caution: f64) -> f64:
    """Solves (cones-3) and moves c there if it can; the next ρ. The area is left with ρ = 0."""
    soften(m, area, rho)
    before = natural_residual(m, nb, blocks, area)
    after = newton(m, nb, blocks, area, before, caution)
    if after <= max(1e-3 * before, 1e-13):
        copy(m, area.force, area.center)
        rho = max(HARDEST, HARDER * rho)
    else:
        copy(m, area.center, area.force)
        rho = min(SOFTEST, SOFTER * rho)
    soften(m, area, 0.0)
    return rho


@loop
def approach(m: i64, nb: i64, blocks: Rows[Cone], area: Area, caution: f64) -> f64:
    """Soft problems from y of the area on, until the hard one is solved; its residual."""
    y = area.force
    copy(m, area.free, area.whole)
    copy(m, y, area.center)
    for i in range(m):
        area.diagonal[i] = area.columns[i, i]
    rho = FIRST
    tries = int(max(float(LEAST), min(float(MOST), WORK / float(m * m * m))))
    for _ in range(tries):
        rho = soft_step(m, nb, blocks, area, rho, caution)
        residual = natural_residual(m, nb, blocks, area)
        if residual < NEAR:
            residual = newton(m, nb, blocks, area, residual, caution)
        if residual <= rounding(m, y):
            return residual
        copy(m, area.center, y)
    refresh(m, area)
    return natural_residual(m, nb, blocks, area)
