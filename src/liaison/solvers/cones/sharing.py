"""Loads that are not unique, shared as by equal springs.

Contacts that repeat each other carry a body in many ways, and a search ends with any of them: with
all of the weight on one foot of four, or with next to none on a wheel that is driven, which then
slips. With a mobility ρ of their own,

    z = (Ã + ρ) y + b̃                                                                  (cones-8)

loads are unique, and as ρ falls they go to those that springs of the same stiffness would carry (of
the least Σ y² where nothing slips): two wheels of a pair carry the same. From there the problem
itself is solved, by steps that move loads as little as they can.

Public names: share_loads, repeats.

Source: docs/theory/contact_solvers.md; TA77 (regularisation).
"""

from __future__ import annotations

from liaison.program.loops.language import f64, flat, i64, loop
from liaison.program.loops.records import Rows
from liaison.solvers.linear.dense import cholesky

from .newton import newton_step, rounding
from .softened import is_what_is_left, unreachable
from .table import Area, Cone, copy, natural_residual, project, refresh

OWN_SHARED = (1.0, 0.1, 1e-2, 1e-4, 1e-6)
"""ρ, one after the other."""

LEVELS, FIRM = 5, 2
"""How many, and the first of those that are tried before the softer ones: under these loads are so
much less that wheels may slip."""

TRIES, MET = 20, 1e-12
"""Newton's steps for each of them, and the residual that ends them."""

REPEATED, RIDGE = 1e-7, 1e-11
"""A row of which those before it leave less than this part repeats them; what is added to it."""


LEAST, MOST = 1e-6, 1e-2
"""Mobility of their own of rows once loads are shared."""

SOLVED = 1e-12
"""The largest residual of forces that solve the problem, however large they are."""

UNSHARED = 1e300
"""A residual that says that loads are not shared."""


@loop
def share_loads(
    m: i64, nb: i64, left: f64, blocks: Rows[Cone], area: Area, best: f64
) -> f64:  # fmt: skip
    """Forces of shared loads, from y of the area on, into its place, and their residual.

    Where they are not found, or leave more than `best` and rounding, y stays: `UNSHARED`. What no
    forces change may be left, up to `left`.
    """
    y = area.force
    copy(m, y, area.swept)
    level = shared_softly(m, nb, FIRM, blocks, area)
    if level == FIRM:
        copy(m, area.swept, y)
        level = shared_softly(m, nb, 0, blocks, area)
    residual = firmly_met(m, nb, blocks, area) if level > 0 else UNSHARED
    if residual <= max(best, min(rounding(m, y), SOLVED)):
        return residual
    if residual <= left and is_what_is_left(residual, unreachable(m, area)) == 1:
        return residual
    copy(m, area.swept, y)
    refresh(m, area)
    return UNSHARED


@loop
def shared_softly(m: i64, nb: i64, first: i64, blocks: Rows[Cone], area: Area) -> i64:
    """y of (cones-8) for the least ρ for which it is found; the number of the next one."""
    level = first
    is_met = 1
    while is_met == 1 and level < LEVELS:
        copy(m, area.force, area.center)
        is_met = softly_met(m, nb, OWN_SHARED[level], blocks, area)
        level += is_met
    if is_met == 0:
        copy(m, area.center, area.force)
    return level


@loop
def firmly_met(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """The least residual of the problem itself, by steps from y on; y of it.

    Rows have a mobility of their own of the size of the residual, at least `LEAST`: what changes no
    rate moves by what rates contradict each other, beside that.
    """
    y = area.force
    project(m, nb, blocks, area)
    refresh(m, area)
    residual = natural_residual(m, nb, blocks, area)
    copy(m, y, area.least)
    for _ in range(TRIES):
        own = max(LEAST, min(MOST, residual))
        if residual <= rounding(m, y) or newton_step(m, nb, 0.0, own, blocks, area) != 0:
            break
        for i in range(m):
            y[i] += area.step[i]
        project(m, nb, blocks, area)
        refresh(m, area)
        now = natural_residual(m, nb, blocks, area)
        if not (now < residual):
            break
        residual = now
        copy(m, y, area.least)
    copy(m, area.least, y)
    refresh(m, area)
    return residual


@loop
def repeats(m: i64, area: Area) -> i64:
    """1 if a row depends on those before it."""
    L = flat(area.J)
    for i in range(m):
        for j in range(m):
            L[i * m + j] = area.columns[j, i]
        L[i * m + i] += RIDGE
    if cholesky(m, L) != 0:
        return 1
    for i in range(m):
        if L[i * m + i] * L[i * m + i] < REPEATED * area.columns[i, i]:
            return 1
    return 0


@loop
def softly_met(m: i64, nb: i64, own: f64, blocks: Rows[Cone], area: Area) -> i64:
    """1 if y solves (cones-8) for ρ = `own`, from y on."""
    y = area.force
    for _ in range(TRIES):
        project(m, nb, blocks, area)
        refresh(m, area)
        size = 1.0
        for i in range(m):
            area.rate[i] += own * y[i]
            size += abs(y[i])
        residual = natural_residual(m, nb, blocks, area)
        if residual <= MET * size:
            return 1
        if newton_step(m, nb, 0.0, own, blocks, area) != 0:
            return 0
        for i in range(m):
            y[i] += area.step[i]
    return 0
