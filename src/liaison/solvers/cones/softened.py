"""Contacts softened until their forces are easily found, then hardened step by step: the last way.

Feet that stand straight below a body, say, may slide against each other at rates that forces of
friction change by 10⁻¹¹ of what they change others by. Such a rate is slow, but never 0: friction
is at its bounds in some of the points, each against another, and modes cycle. Softened by s,

    z = (Ã + κ s) y + b̃,   h(x) = √(x² + 4 s²) in (cones-4)                              (cones-6)

there is one solution for s = 1; from there s falls as far as Newton's method finds the next one in
a few steps, by less where it does not, and y goes along.

Rates that no forces change, or next to none, are what is left in the end, and no better forces
need be looked for:

    δ (Ã + δ)⁻¹ b̃ twice over,   δ = 1e-10                                                 (cones-7)

Public names: WAYS, newton_softened, unreachable, is_what_is_left.

Source: docs/theory/contact_solvers.md; CHE93 (smoothing), ROC76 (proximal points).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop
from liaison.program.loops.records import Rows
from liaison.solvers.linear.dense import backward_solve, cholesky, forward_solve
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .newton import linearize, newton, room_for_loads, substitute
from .table import Area, Cone, copy, natural_residual, project, refresh

WAYS, OWN_SOFT = 3, (0.3, 0.1, 1.0)
"""How many there are, and κ of each."""

MEETS, CORRECTIONS, BEGIN = 1e-2, 8, 60
"""What a solution for one s may miss beside s, and Newton's steps to it; those to the first."""

FALLS, LEAST_FALL, MOST_FALL = 200, 0.1, 0.999
"""How often s falls, the least part that is left of it, and that at which a way ends."""

ENOUGH = 1e-9
"""Residual at which a way ends."""

RIDGE = 1e-10
"""δ of (cones-7)."""

LEFT, MORE = 1e-6, 3.0
"""The largest residual that counts as what is left, and how much more than (cones-7) it may be."""


@loop
def newton_softened(m: i64, nb: i64, turn: i64, blocks: Rows[Cone], area: Area) -> f64:
    """The least residual along the way; y of it. Loads begin in the area, with nothing on discs."""
    soft = 1.0
    fall = 0.5
    own = OWN_SOFT[turn]
    best = 1e300
    copy(m, area.force, area.swept)
    if settled(m, nb, soft, own, BEGIN, blocks, area) == 0:
        return best
    for _ in range(FALLS):
        copy(m, area.force, area.center)
        next_soft = fall * soft
        if settled(m, nb, next_soft, own, CORRECTIONS, blocks, area) == 1:
            soft = next_soft
            fall = max(fall * sqrt(fall), LEAST_FALL)
            residual = hard_residual(m, nb, blocks, area)
            if residual < best:
                best = residual
                copy(m, area.force, area.swept)
        else:
            copy(m, area.center, area.force)
            fall = sqrt(fall)
        if best <= ENOUGH or fall > MOST_FALL:
            break
    copy(m, area.swept, area.force)
    return min(best, newton(m, nb, blocks, area, 0.0))


@loop
def settled(
    m: i64, nb: i64, soft: f64, own: f64, steps: i64, blocks: Rows[Cone], area: Area
) -> i64:  # fmt: skip
    """1 if y solves (cones-6) for s = `soft`, from y on."""
    y = area.force
    own_soft = own * soft
    for turn in range(steps + 1):
        refresh(m, area)
        for i in range(m):
            area.rate[i] += own_soft * y[i]
        linearize(m, nb, soft * soft, own_soft, blocks, area)
        missed = 0.0
        for i in range(m):
            missed = max(missed, abs(area.step[i]))
        if missed <= MEETS * soft:
            return 1
        if turn == steps or not (missed < 1e100):
            return 0
        substitute(m, area)
        J = flat(area.J)
        if factorize(m, J, area.order) != 0:
            return 0
        solve_factorized(m, J, area.order, area.step)
        part = room_for_loads(m, nb, blocks, area)
        for i in range(m):
            y[i] += part * area.step[i]
    return 0


@loop
def hard_residual(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """What y misses of the problem itself, once it is inside all bounds."""
    project(m, nb, blocks, area)
    refresh(m, area)
    return float(natural_residual(m, nb, blocks, area))


@loop
def unreachable(m: i64, area: Area) -> f64:
    """The largest part (cones-7) of a rate."""
    L = flat(area.J)
    x = area.step
    for i in range(m):
        x[i] = area.free[i]
        for j in range(m):
            L[i * m + j] = area.columns[j, i]
        L[i * m + i] += RIDGE
    if cholesky(m, L) != 0:
        return 0.0
    for _ in range(2):
        forward_solve(m, L, x)
        backward_solve(m, L, x)
        for i in range(m):
            x[i] = RIDGE * x[i]
    most = 0.0
    for i in range(m):
        most = max(most, abs(x[i]))
    return most


@loop
def is_what_is_left(residual: f64, part: f64) -> i64:
    """1 if a residual is due to rates that no forces change, whose part is known."""
    return 1 if residual <= min(MORE * part, LEFT) else 0
