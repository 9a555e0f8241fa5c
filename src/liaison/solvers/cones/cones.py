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

Public names: ONE_WAY, DISC, BILATERAL, PRESCRIBED, Cone, Limit, solve_cones, cone_area, sweep,
reachable_part, reachable_factor, take_reachable, reachable_area,
reachable_numbers.

Source: ACA ch. 13; JAL98; docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.linear.dense import backward_solve, forward_solve, largest
from liaison.solvers.linear.eights import cholesky_of_columns

from .newton import newton, newton_from_inside, rounding
from .sharing import UNSHARED, repeats, share_loads
from .softened import WAYS, is_what_is_left, newton_softened, unreachable
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
    "reachable_part", "solve_cones",
]  # fmt: skip

FEW, FIRST, ROWS_A_SWEEP = 4, 8, 8
"""Sweeps of the first turn: one where blocks are fewer than FEW, else FIRST or more where a Newton
step costs more than sweeps: one for every so many rows."""

NEAR = 1e-2
"""Residual at which the sweeps of the first turn end."""

TURNS, MORE = 4, 8
"""Turns that begin at the forces at hand, each with so many times the sweeps of the last."""

ALL_TURNS, HARDEN, ELSEWHERE, MANY = 24, 8, 1000, 150
"""Turns in all, those before contacts are softened, and sweeps of those that begin elsewhere, where
rows are at most MANY."""

CAUTION = (0.1, 0.01, 1.0, 0.0)
"""Mobility of their own that rows have inside Newton's method, beside its residual."""

SIZE, FALL = (1.0, 30.0, 0.1, 300.0), (0.3, 0.5, 0.7, 0.7)
"""Loads and ε from which Newton's method begins inside the bounds, and how much ε falls at most in
a step, by turns."""

NEARBY = (0.1, 0.01, 0.001)
"""ε, and least loads, of those of them that go on inside the bounds where sweeps ended, in turn."""

GOLDEN = 0.6180339887498949

CLOSE = 1e-8
"""Residual at which a search goes on from the forces at hand, however loads are shared."""

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
def harden(m: i64, nb: i64, blocks: Rows[Cone], area: Area, best: f64) -> f64:
    """The best residual after contacts were softened, where it is more than what has to be left."""
    part = unreachable(m, area)
    for turn in range(WAYS):
        if is_what_is_left(best, part) == 1 or best <= SETTLED:
            break
        spread(m, nb, 0, blocks, area)
        best = keep_best(m, area, newton_softened(m, nb, turn, blocks, area), best)
    return best


@loop
def search(m: i64, nb: i64, left: f64, blocks: Rows[Cone], area: Area) -> f64:
    """From y of the area to the best forces; their residual.

    Where rows repeat each other, first as equal springs would share loads. Sweeps, Newton's method
    from where they led, then from inside the bounds. Sweeps of the next turn go on from where the
    last ended, and those of later turns begin where forces are spread. Of rates that no forces
    change shared loads may leave up to `left`.
    """
    project(m, nb, blocks, area)
    refresh(m, area)
    best = keep_best(m, area, natural_residual(m, nb, blocks, area), 1e300)
    is_shared = 0
    is_near = 1 if left == 0.0 and best <= CLOSE else is_solved(m, area, best)
    if m <= MANY and is_near == 0:
        is_shared = repeats(m, area)
    if is_shared == 1:
        residual = share_loads(m, nb, left, blocks, area, 0.0)
        if residual < UNSHARED:
            return residual
    best = search_on(m, nb, blocks, area, best)
    copy(m, area.best, area.force)
    refresh(m, area)
    if is_shared == 1 and best <= SETTLED:
        residual = share_loads(m, nb, 0.0, blocks, area, best)
        best = residual if residual < UNSHARED else best
    return best


@loop
def search_on(m: i64, nb: i64, blocks: Rows[Cone], area: Area, best: f64) -> f64:
    """By sweeps and Newton's method in turns, from y of the area on; the residual of the best."""
    sweeps = 1 if nb < FEW else max(FIRST, m // ROWS_A_SWEEP)
    for turn in range(ALL_TURNS if m <= MANY else TURNS):
        if is_solved(m, area, best) == 1:
            break
        if turn == HARDEN:
            best = harden(m, nb, blocks, area, best)
            if best <= SETTLED or is_what_is_left(best, unreachable(m, area)) == 1:
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
    return best


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
        residual = search(m, nb, 0.0, blocks, work)
        for i in range(m):
            f[i] = beta * work.scale[i] * work.force[i]
        if depends_on_load(nb, blocks, limits) == 0:
            return residual
    return residual


RIDGE = 1e-10
"""δ beside the diagonal."""

NO_PART = 1e-12
"""A rate beside the largest that is 0: friction in a joint, and a stop of a coordinate, have rows
that do not change with the place. To ask that their rates stay as they are would be another law."""

DEPENDENT = 1e-7
"""A row of which those before it leave less than this part depends on them."""


def reachable_area(m: int) -> int:
    """Numbers that `reachable_part` works in."""
    return int(reachable_numbers(m))


@loop
def reachable_numbers(m: i64) -> i64:
    """The same, for loops."""
    return m * m + 2 * m


@loop
def reachable_part(m: i64, A: ptr, x: ptr, area: ptr) -> None:
    """x := its part that forces change, for a mobility A of m rows; x where all are independent.

    Rows whose x is 0 take no part: they move in any way beside the others.
    """
    if reachable_factor(m, A, x, area) == 1:
        take_reachable(m, A, x, x, area)


@loop
def reachable_factor(m: i64, A: ptr, x: ptr, area: ptr) -> i64:
    """The factor of (cones-5) for rows that take part; 0 where all of x is reachable."""
    least = NO_PART * largest(m, x)
    if m < 2 or least == 0.0:
        return 0
    L = area
    for i in range(m):
        takes_part = 1.0 if abs(x[i]) > least else 0.0
        for j in range(m):
            is_there = takes_part if abs(x[j]) > least else 0.0
            L[i * m + j] = is_there * A[i * m + j]
        # a row that nothing moves has a diagonal of 0
        L[i * m + i] = A[i * m + i] + (RIDGE * A[i * m + i] + 1e-280)
    if cholesky_of_columns(m, L) != 0:
        return 0
    return has_dependent_row(m, A, L)


@loop
def take_reachable(m: i64, A: ptr, x: ptr, change: ptr, area: ptr) -> None:
    """The part of `change` that forces change, in its place, where rows with x take part."""
    L = area
    c = at(area, m * m)
    takes = at(area, m * m + m)
    least = NO_PART * largest(m, x)
    for i in range(m):
        takes[i] = 1.0 if abs(x[i]) > least else 0.0
    for _ in range(2):  # the second time with what rounding left
        for i in range(m):
            c[i] = takes[i] * change[i]
        forward_solve(m, L, c)
        backward_solve(m, L, c)
        for i in range(m):
            change[i] -= RIDGE * A[i * m + i] * c[i]


@loop
def has_dependent_row(m: i64, A: ptr, L: ptr) -> i64:
    """1 if a row depends on those before it."""
    for i in range(m):
        left = L[i * m + i] * L[i * m + i]
        if left < DEPENDENT * A[i * m + i]:
            return 1
    return 0
