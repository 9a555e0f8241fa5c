"""Contact forces with Coulomb's friction: all closed contacts at once, to rounding.

    u = A f + b,   0 ≤ f_n ⟂ u_n ≥ 0,   ‖f_t‖ ≤ c f_n + k,   f_t against u_t        (cones-0)

A is the mobility D M⁻¹Dᵀ of the rows, symmetric and at least semidefinite; rows may repeat. Two
methods, in turn: sweeps over contacts (`sweep`, fast) lead near a solution and Newton's method
(`newton`, safe) ends there, from inside the bounds where it does not get there at once.

Sweeps over contacts (projected Gauss–Seidel): the fast method, which gets near a solution.

Every row and every disc in turn takes the force that its own rate asks for, the others waiting:

    y_n := max(y_n − z_n/a_n, least),   y_t := y_t − z_t/a_t, cut to the radius c y_n + k  (cones-2)

with a the mobility of the row, of a disc the larger one. A sweep costs 2 m operations for each
force that changes and needs no factors, no modes and no luck: it always goes on. The reason why it
is there: it finds nearly all modes, from which Newton's method takes a few steps, where Newton's
method alone cycles between modes. Alone it converges linearly, and slowly under heavy bodies.

Rates of many contacts of one rigid body, taken on over a step, differ by the square of the step
from those of any rigid motion. No forces meet all of them, and a solver would look for slips of
1e-10 among rows that depend on each other. Of such rates x only

    x − δ c,   (A + δ) c = x,   δ = 1e-10 of the diagonal                              (cones-5)

is asked for, which is x itself where rows do not depend on each other: then nothing is done.

Newton's method on all contacts at once, with rounded projections where need be: the safe one.

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

Public names: ONE_WAY, DISC, BILATERAL, PRESCRIBED, Cone, Limit, solve_cones, solve_cones_near,
cone_area, sweep, reachable_part, reachable_area, newton, newton_in_modes, newton_from_inside,
rounding.

Source: ACA ch. 13; JAL98; docs/theory/contact_solvers.md.

Source: AC91; ACA ch. 13 (ε = 0); CHE93 (smoothing), NW06 ch. 19 (fraction to the boundary).
Differs: ρ of AC91 is 1, after scaling; discs of any kind bounded by one load.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.dense import backward_solve, cholesky, forward_solve
from liaison.solvers.linear.pivoting import factorize, solve_factorized

from .table import (
    BILATERAL,
    DISC,
    ONE_WAY,
    PRESCRIBED,
    Area,
    Cone,
    Limit,
    cone_area,
    copy,
    natural_residual,
    prepare,
    project,
    radius,
    refresh,
    shrink,
)

OWN, LARGEST_OWN = 1e-8, 1e-2
"""Least and largest mobility of their own of rows, for ε = 0; between, caution × residual."""

LEAST_OWN, BOLD = 1e-13, 1e-4
"""Without caution it is BOLD × residual, down to LEAST_OWN: contacts may differ by little."""

STEPS, PATIENCE = 20, 5
"""Steps at most for ε = 0, and those without a better residual after which modes cycle."""

ENOUGH = 4e-15
"""Residual at which nothing but rounding is left, beside 1 + Σ |y|."""

FEW_STEPS, HELPS = 4, 0.1
"""Steps at most that go on in the modes in which forces are, and what each leaves of residuals."""

NO_RATE = 1e-16
"""Rate beside the largest that mobility of their own may give rows in the last of these steps."""

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


@loop
def linearize(m: i64, nb: i64, eps: f64, own: f64, blocks: Rows[Cone], area: Area) -> None:
    """The linear system of one step, in the area."""
    for k in range(nb):
        kind = blocks[k].kind
        first = blocks[k].first
        if kind == DISC:
            disc_rows(m, k, eps, own, blocks, area)
        else:
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
def newton_in_modes(m: i64, nb: i64, blocks: Rows[Cone], area: Area, residual: f64) -> f64:
    """Steps with ε = 0 from y on, whose residual is known, as long as each helps much; the last.

    Where modes are those of the solution two or three end at rounding, elsewhere this soon ends.
    """
    y = area.force
    for _ in range(FEW_STEPS):
        own = min(OWN, max(LEAST_OWN, BOLD * residual))
        if newton_step(m, nb, 0.0, own, blocks, area) != 0:
            return 1e300
        added = 0.0
        for i in range(m):
            y[i] += area.step[i]
            added = max(added, own * abs(area.step[i]))
        project(m, nb, blocks, area)
        refresh(m, area)
        now = natural_residual(m, nb, blocks, area)
        # what mobility of their own moved rows by is less than rounding of the largest rate
        if now <= rounding(m, y) and added <= NO_RATE:
            return now
        if not (now < HELPS * residual or now <= rounding(m, y)):
            return 1e300
        residual = now
    return 1e300


@loop
def step_inside(m: i64, nb: i64, eps: f64, blocks: Rows[Cone], area: Area) -> f64:
    """One step with ε > 0, loads kept inside their bounds; the part of it that was taken."""
    y = area.force
    if newton_step(m, nb, eps, max(OWN_INSIDE * min(eps, 1.0), LEAST_OWN), blocks, area) != 0:
        return 0.0
    part = 1.0
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            i = blocks[k].first
            room = INSIDE * (y[i] - area.table[k].constant)
            if area.step[i] < -room:
                part = min(part, -room / area.step[i])
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


SOFT = 1e-9
"""Proximal mobility, beside 1: rows that depend on others move only as far as they must."""


@loop
def push(m: i64, area: Area, row: i64, y: f64) -> None:
    """Sets one force and what it does to all rates."""
    change = y - area.force[row]
    area.force[row] = y
    if change != 0.0:
        z = area.rate
        column = area.columns[row]
        for i in range(m):
            z[i] += change * column[i]


@loop
def relaxed(m: i64, area: Area, row: i64, mobility: f64) -> f64:
    """The force that makes the rate of a row 0, the others waiting."""
    return float(area.force[row] - area.rate[row] / (max(mobility, 0.0) + SOFT))


@loop
def relax_disc(m: i64, first: i64, rows: i64, r: f64, area: Area) -> None:
    """The forces of a disc of this radius."""
    second = first + rows - 1
    mobility = max(area.columns[first, first], area.columns[second, second])
    x = relaxed(m, area, first, mobility)
    y = relaxed(m, area, second, mobility) if second > first else 0.0
    part = shrink(x, y, r)
    push(m, area, first, part * x)
    if second > first:
        push(m, area, second, part * y)


@loop
def sweep(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> None:
    """Every block once; z goes along."""
    table = area.table
    for k in range(nb):
        first = blocks[k].first
        kind = blocks[k].kind
        if kind == ONE_WAY:
            y = relaxed(m, area, first, area.columns[first, first])
            push(m, area, first, max(y, table[k].constant))
        elif kind == BILATERAL:
            for i in range(first, first + blocks[k].rows):
                push(m, area, i, relaxed(m, area, i, area.columns[i, i]))
        elif kind == DISC:
            relax_disc(m, first, blocks[k].rows, radius(blocks, table, area.force, k), area)


__all__ = [
    "BILATERAL", "DISC", "ONE_WAY", "PRESCRIBED", "Cone", "Limit", "cone_area", "reachable_area",
    "reachable_part", "solve_cones", "solve_cones_near",
]  # fmt: skip

FEW, FIRST, ROWS_A_SWEEP = 4, 8, 8
"""Sweeps of the first turn: one where blocks are fewer than FEW, else FIRST or more where a Newton
step costs more than sweeps: one for every so many rows."""

NEAR = 1e-2
"""Residual at which the sweeps of the first turn end."""

TURNS, MORE = 4, 8
"""Turns that begin at the forces at hand, each with so many times the sweeps of the last."""

ALL_TURNS, ELSEWHERE, MANY = 24, 1000, 150
"""Turns in all, and sweeps of those that begin elsewhere, where rows are at most MANY."""

CAUTION = (0.1, 0.01, 1.0, 0.0)
"""Mobility of their own that rows have inside Newton's method, beside its residual."""

SIZE, FALL = (1.0, 30.0, 0.1, 300.0), (0.3, 0.5, 0.7, 0.7)
"""Loads and ε from which Newton's method begins inside the bounds, and how much ε falls at most in
a step, by turns."""

NEARBY = (0.1, 0.01, 0.001)
"""ε, and least loads, of those of them that go on inside the bounds where sweeps ended, in turn."""

CLOSE = 0.5
"""Residual up to which forces of the last problem may be in the modes of this one."""

GOLDEN = 0.6180339887498949

SETTLED = 1e-12
"""Residual that the second turn may leave: contacts of one rigid body may ask for rates that no
forces give all of them to rounding."""


@loop
def keep_best(m: i64, area: Area, residual: f64, best: f64) -> f64:
    """Remembers y if its residual is the least so far; returns that."""
    if residual < best:
        copy(m, area.force, area.best)
        return residual
    return best


@loop
def is_solved(m: i64, area: Area, best: f64) -> i64:
    """1 if nothing but rounding is left."""
    return 1 if best <= rounding(m, area.best) else 0


@loop
def sweeps_from(m: i64, nb: i64, blocks: Rows[Cone], area: Area, count: i64, near: f64) -> None:
    """Sweeps from y on, until its residual is below `near`."""
    for _ in range(count):
        sweep(m, nb, blocks, area)
        if near > 0.0 and natural_residual(m, nb, blocks, area) < near:
            break
    copy(m, area.force, area.swept)


@loop
def newton_from(m: i64, nb: i64, blocks: Rows[Cone], area: Area, best: f64) -> f64:
    """Newton's method from y on, with caution and without; the least residual so far."""
    for turn in range(2):
        if is_solved(m, area, best) == 0:
            copy(m, area.swept, area.force)
            # what is light between heavy things moves far: caution would never get there
            caution = CAUTION[0] if turn == 0 else 0.0
            best = keep_best(m, area, newton(m, nb, blocks, area, caution), best)
    return best


@loop
def spread(m: i64, nb: i64, turn: i64, blocks: Rows[Cone], area: Area) -> None:
    """Forces from which a search inside the bounds begins: loads of one size, nothing on discs.

    From the turn TURNS on both are spread over their bounds, the same at every call.
    """
    which = turn % TURNS
    size = SIZE[which]
    for k in range(nb):
        for i in range(blocks[k].first, blocks[k].first + blocks[k].rows):
            x = GOLDEN * float((i + 1) * (2 * turn + 1))
            x -= float(int(x))
            if blocks[k].kind == ONE_WAY:
                area.force[i] = area.table[k].constant + (size if turn < TURNS else x * size)
            elif blocks[k].kind != PRESCRIBED:
                area.force[i] = 0.0 if turn < TURNS else (2.0 * x - 1.0) * size


@loop
def nudge(m: i64, nb: i64, size: f64, blocks: Rows[Cone], area: Area) -> None:
    """Forces after sweeps, moved inside the bounds."""
    copy(m, area.swept, area.force)
    for k in range(nb):
        i = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            area.force[i] = max(area.force[i], area.table[k].constant + size)


@loop
def search(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """From y of the area to the best forces; their residual.

    Sweeps, Newton's method from where they led, then from inside the bounds. Sweeps of the next
    turn go on from where the last ended, and those of later turns begin where forces are spread.
    """
    project(m, nb, blocks, area)
    refresh(m, area)
    best = keep_best(m, area, natural_residual(m, nb, blocks, area), 1e300)
    sweeps = 1 if nb < FEW else max(FIRST, m // ROWS_A_SWEEP)
    for turn in range(ALL_TURNS if m <= MANY else TURNS):
        if is_solved(m, area, best) == 1:
            break
        if turn >= TURNS:
            spread(m, nb, turn, blocks, area)
            project(m, nb, blocks, area)
            refresh(m, area)
        sweeps_from(m, nb, blocks, area, sweeps, NEAR if turn == 0 else 0.0)
        best = newton_from(m, nb, blocks, area, best)
        if best <= SETTLED and turn > 0:
            break
        sweeps = MORE * sweeps if turn < TURNS - 1 else ELSEWHERE
        if is_solved(m, area, best) == 0:
            which = turn % TURNS
            size = SIZE[which]
            if turn >= TURNS and turn % 2 == 1:
                size = NEARBY[turn // 2 % 3]
                nudge(m, nb, size, blocks, area)
            else:
                spread(m, nb, turn, blocks, area)
            fall = FALL[which]
            residual = newton_from_inside(m, nb, blocks, area, size, fall, CAUTION[which])
            best = keep_best(m, area, residual, best)
            copy(m, area.swept, area.force)
            refresh(m, area)
    copy(m, area.best, area.force)
    refresh(m, area)
    return best


@loop
def search_near(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> f64:
    """As `search`, where forces of the last problem are near: first in the modes they are in."""
    copy(m, area.force, area.swept)
    project(m, nb, blocks, area)
    refresh(m, area)
    residual = natural_residual(m, nb, blocks, area)
    if residual < CLOSE and m <= MANY:
        residual = newton_in_modes(m, nb, blocks, area, residual)
        if residual <= rounding(m, area.force):
            return residual
    copy(m, area.swept, area.force)
    return search(m, nb, blocks, area)


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
    """Forces f of (cones-0), from the values of f on.

    Args:
        m: rows.
        nb: blocks; their rows cover 0 … m − 1 once.
        A: mobility, m × m, row-major; kept. Need not be symmetric for the method to be tried.
        b: rates without forces; kept.
        blocks: what kind of rows they are, where they begin, how many (1; a DISC 1 or 2), and the
            load that bounds them.
        limits: of every block. DISC: semi-axes = coefficient × max(f_load, 0) + constant.
            ONE_WAY: the constant is the least force, 0 for a contact.
        f: begins the search (0 will do); result, inside its bounds. That of PRESCRIBED
            blocks does not change.
        area: `cone_area(m, nb)` doubles.

    Returns:
        The largest entry of the natural map f − P(f − u) in scaled rows, beside the largest b:
        below 1e-12 where solved, far above where there is no solution. Infinity where A, b or f are
        not finite; then f = 0.
    """
    return solved(m, nb, A, b, blocks, limits, f, area, 0)


@loop
def solve_cones_near(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr
) -> f64:
    """As `solve_cones`, where f solves a problem that is nearly this one: in a third of the time.

    A solution that is not unique stays as near to f as it can.
    """
    return solved(m, nb, A, b, blocks, limits, f, area, 1)


@loop
def solved(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr,
    is_near: i64,
) -> f64:  # fmt: skip
    """What both do."""
    residual = 0.0
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
        if is_near == 1:
            residual = search_near(m, nb, blocks, work)
        else:
            residual = search(m, nb, blocks, work)
        for i in range(m):
            f[i] = beta * work.scale[i] * work.force[i]
        if depends_on_load(nb, blocks, limits) == 0:
            return residual
    return residual


RIDGE = 1e-10
"""δ beside the diagonal."""

DEPENDENT = 1e-7
"""A row of which those before it leave less than this part depends on them."""


def reachable_area(m: int) -> int:
    """Numbers that `reachable_part` works in."""
    return m * m + m


@loop
def reachable_part(m: i64, A: ptr, x: ptr, area: ptr) -> None:
    """x := its part that forces change, for a mobility A of m rows; x where all are independent."""
    if m < 2 or is_nothing(m, x) == 1:
        return
    L = area
    c = at(area, m * m)
    for i in range(m * m):
        L[i] = A[i]
    for i in range(m):
        # a row that nothing moves has a diagonal of 0
        L[i * m + i] += RIDGE * A[i * m + i] + 1e-280
    if cholesky(m, L) != 0 or has_dependent_row(m, A, L) == 0:
        return
    for _ in range(2):  # the second time with what rounding left
        for i in range(m):
            c[i] = x[i]
        forward_solve(m, L, c)
        backward_solve(m, L, c)
        for i in range(m):
            x[i] -= RIDGE * A[i * m + i] * c[i]


@loop
def is_nothing(m: i64, x: ptr) -> i64:
    """1 if all numbers are 0."""
    for i in range(m):
        if x[i] != 0.0:
            return 0
    return 1


@loop
def has_dependent_row(m: i64, A: ptr, L: ptr) -> i64:
    """1 if a row depends on those before it."""
    for i in range(m):
        left = L[i * m + i] * L[i * m + i]
        if left < DEPENDENT * A[i * m + i]:
            return 1
    return 0
