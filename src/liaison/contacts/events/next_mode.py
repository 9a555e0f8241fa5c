"""The next mode: what stays closed, what sticks, what slips and which way, from accelerations.

Public names: find_mode.

Source: docs/theory/one_sided.md (mode-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, OPEN, SHARED, SLIP, STICK, Sides
from liaison.solvers.linear.dense import dot, largest, pivoted_qr

from .modal import is_pressed, loosened, prepare
from .sliding import slide
from .touching import (
    NO_MOTION,
    accelerate,
    find_touching,
    largest_listed,
    list_cones,
    mobility_matrix,
)

REPEATED = 1e-8
"""A row of which less than this part is left beside others repeats them."""

NEARLY = 1e-7
"""Part of the largest force that is none where an end was found."""

UNSOLVED = 1e-7
"""A residual of forces above this is no solution."""


@loop
def soften(sides: Sides, least: f64) -> i64:
    """Dynamic bounds for sticking friction that slips at its static one; how many there are."""
    count = 0
    for b in range(sides.nb):
        k = sides.cone_of[b]
        if k >= 0 and sides.blocks[b].kind == FRICTION:
            law = sides.seen.laws[b]
            u = sides.touching[sides.cone[k].first :]
            rows = sides.cone[k].rows
            limit = sides.limits[k]
            if (
                sqrt(dot(rows, u, u)) > least * sides.scales.acceleration[b]
                and law.static > law.dynamic
            ):
                share = law.dynamic / law.static
                for i in range(2):
                    limit.coefficient[i] = limit.coefficient[i] * share
                limit.constant = limit.constant * share
                count += 1
    return count


@loop
def find_mode(sides: Sides, limit: f64) -> i64:
    """Modes after this instant, from all that touches; 0, 1 if there are none, 2 if M is singular.

    Args:
        c: tables.
        s: numbers, measured at the state.
        limit: rates below it are none.
    """
    find_touching(sides, limit)
    list_cones(sides, 1)
    loosened(sides)
    if prepare(sides) < 0.0:
        return 2
    mobility_matrix(sides, 1)
    least = sides.ease * NO_MOTION * (1.0 + largest_listed(sides, sides.touching))
    sides.motions = slide(sides)
    if sides.motions == 0:
        return 1
    sides.residual = 0.0 if sides.motions > 0 else accelerate(sides)
    if soften(sides, least) > 0:
        mobility_matrix(sides, 1)
        sides.residual = accelerate(sides)
    if not (sides.residual <= UNSOLVED):
        return 1
    # an end that was watched for was found where accelerations reach `least`
    take_modes(sides, 0.5 * least if sides.watches > 0 else least)
    return 0


@loop
def take_modes(sides: Sides, least: f64) -> None:
    """Modes from the accelerations of what touches: loads first, so that friction sees them."""
    for b in range(sides.nb):
        block = sides.blocks[b]
        k = sides.cone_of[b]
        if k >= 0:
            u = sides.touching[sides.cone[k].first :]
            size = sqrt(dot(block.rows, u, u))
            unit = sides.scales.acceleration[b]
            if block.kind != FRICTION:
                sides.mode[b] = OPEN if u[0] > least * unit else CLOSED
            elif block.rows > 2:
                hold_ball(sides, b, k)
            elif size > least * unit:
                sides.mode[b] = SLIP
                for i in range(block.rows):
                    sides.slip[block.first + i] = u[i] / size
            else:
                sides.mode[b] = STICK
    end_ended(sides, least)
    for b in range(sides.nb):
        if sides.blocks[b].kind == FRICTION and is_pressed(sides, b) == 0:
            sides.mode[b] = OPEN


@loop
def hold_ball(sides: Sides, b: i64, k: i64) -> None:
    """Sticks, if the moment that holds a ball is inside its bound; else slips against it."""
    first = sides.blocks[b].first
    cone = sides.cone[k]
    moment = sides.touching[sides.active + cone.first :]
    size = sqrt(dot(cone.rows, moment, moment))
    sides.mode[b] = STICK
    if size > sides.limits[k].constant:
        sides.mode[b] = SLIP
        for i in range(cone.rows):
            sides.slip[first + i] = -moment[i] / size


@loop
def rank_without(sides: Sides, first: i64, second: i64) -> i64:
    """Rank of the rows that touch, those of two cones left out; −1 leaves out none."""
    nv = sides.nv
    rows = sides.columns
    longest = 0.0
    count = 0
    for k in range(sides.cones):
        cone = sides.cone[k]
        for a in range(cone.first, cone.first + cone.rows):
            row = sides.in_metric[a * nv :]
            longest = max(longest, dot(nv, row, row))
            if k != first and k != second:
                for i in range(nv):
                    rows[count * nv + i] = row[i]
                count += 1
    R = sides.matrix[sides.active * sides.active :]
    return pivoted_qr(count, nv, rows, R, sides.right, REPEATED * sqrt(longest))


@loop
def is_determined(sides: Sides, k: i64) -> i64:
    """1 if no other rows repeat those of a cone and of its load: their forces have one value."""
    nv = sides.nv
    load = sides.cone[k].load
    count = 0
    for j in range(sides.cones):
        cone = sides.cone[j]
        for a in range(cone.first, cone.first + cone.rows):
            row = sides.in_metric[a * nv :]
            # a slip that nothing can have, across a mechanism in a plane, is none
            moves = 1 if dot(nv, row, row) > 0.0 else 0
            count += moves if (j - k) * (j - load) == 0 else 0
    return 1 if rank_without(sides, -1, -1) - rank_without(sides, k, load) == count else 0


@loop
def end_ended(sides: Sides, least: f64) -> None:
    """Ends modes whose end was found though no acceleration shows it yet."""
    m = sides.active
    nearly = NEARLY * largest(m, sides.touching[m:])
    for b in range(sides.nb):
        k = sides.cone_of[b]
        mode = sides.mode[b]
        # CLOSED and STICK are one number
        has_ended = 1 if sides.ended[b] == 1 and sides.before[b] == STICK else 0
        if k >= 0 and mode == STICK and has_ended == 1:
            has_ended = is_determined(sides, k)
            if has_ended == 0:
                sides.ended[b] = SHARED
        else:
            has_ended = 0
        if has_ended == 1:
            row = sides.cone[k].first
            force = sides.touching[m + row :]
            yields = sides.matrix[row * m + row]
            least_force = least * sides.scales.acceleration[b] / yields
            if sides.blocks[b].kind != FRICTION:
                if force[0] <= nearly + least_force:
                    sides.mode[b] = OPEN
            elif margin(sides, k) <= nearly + least_force:
                slip_away(sides, b, k)


@loop
def margin(sides: Sides, k: i64) -> f64:
    """How much larger the force of a cone of friction may become."""
    cone = sides.cone[k]
    limit = sides.limits[k]
    force = sides.touching[sides.active :]
    load = force[sides.cone[cone.load].first] if cone.load >= 0 else 0.0
    size = 0.0
    along = limit.coefficient[0] * load + limit.constant
    for i in range(cone.rows):
        bound = max(limit.coefficient[min(i, 1)] * load + limit.constant, 1e-300)
        size += (force[cone.first + i] / bound) * (force[cone.first + i] / bound)
    return float(along * (1.0 - sqrt(size)))


@loop
def slip_away(sides: Sides, b: i64, k: i64) -> None:
    """Slip that begins, the way that a force at its bound opposes."""
    first = sides.blocks[b].first
    cone = sides.cone[k]
    limit = sides.limits[k]
    force = sides.touching[sides.active + cone.first :]
    way = sides.slip[first:]
    for i in range(cone.rows):
        bound = limit.coefficient[min(i, 1)] if cone.load >= 0 else limit.constant
        way[i] = -force[i] / max(bound * bound, 1e-300)
    size = sqrt(dot(cone.rows, way, way))
    if size > 0.0:
        sides.mode[b] = SLIP
        for i in range(cone.rows):
            way[i] = way[i] / size
