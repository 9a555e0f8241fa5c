"""The next mode: what stays closed, what sticks, what slips and which way, from accelerations.

Public names: find_mode.

Source: docs/theory/one_sided.md (mode-1).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.sides_layout import (
    ACTIVE,
    B_FIRST,
    B_KIND,
    B_ROWS,
    CLOSED,
    CONES,
    DYNAMIC,
    EACH,
    EASE,
    FIELDS,
    FRICTION,
    M_BEFORE,
    M_BLOCKS,
    M_CONE,
    M_ENDED,
    M_MODES,
    M_NUMBER,
    MOTIONS,
    NB,
    NV,
    O_COEFFICIENTS,
    O_COLUMNS,
    O_LIMITS,
    O_MATRIX,
    O_RIGHT,
    O_ROWS,
    O_SLIP,
    O_TOUCHING,
    OPEN,
    RESIDUAL,
    SHARED,
    SLIP,
    STATIC,
    STICK,
    WATCHED,
)
from liaison.solvers.linear.dense import dot, largest, pivoted_qr

from .modal import is_pressed, loosened, prepare
from .sliding import slide
from .touching import NO_MOTION, accelerate, find_touching, list_cones, mobility_matrix

REPEATED = 1e-8
"""A row of which less than this part is left beside others repeats them."""

NEARLY = 1e-7
"""Part of the largest force that is none where an end was found."""

UNSOLVED = 1e-7
"""A residual of forces above this is no solution."""


@loop
def soften(c: iptr, s: ptr, least: f64) -> i64:
    """Dynamic bounds for sticking friction that slips at its static one; how many there are."""
    found = 0
    for b in range(c[NB]):
        k = c[c[M_NUMBER] + b]
        if k >= 0 and c[c[M_BLOCKS] + FIELDS * b + B_KIND] == FRICTION:
            told = at(s, c[O_COEFFICIENTS] + EACH * b)
            u = at(s, c[O_TOUCHING] + c[c[M_CONE] + 4 * k + 1])
            rows = c[c[M_CONE] + 4 * k + 2]
            limits = at(s, c[O_LIMITS] + 3 * k)
            if sqrt(dot(rows, u, u)) > least and told[STATIC] > told[DYNAMIC]:
                share = told[DYNAMIC] / told[STATIC]
                for i in range(3):
                    limits[i] = limits[i] * share
                found += 1
    return found


@loop
def find_mode(c: iptr, s: ptr, limit: f64) -> i64:
    """Modes after this instant, from all that touches; 0, 1 if there are none, 2 if M is singular.

    Args:
        c: tables.
        s: numbers, measured at the state.
        limit: rates below it are none.
    """
    find_touching(c, s, limit)
    list_cones(c, s, 1)
    loosened(c, s)
    if prepare(c, s) < 0.0:
        return 2
    mobility_matrix(c, s, 1)
    m = c[ACTIVE]
    least = s[EASE] * NO_MOTION * (1.0 + largest(m, at(s, c[O_TOUCHING])))
    c[MOTIONS] = slide(c, s)
    if c[MOTIONS] == 0:
        return 1
    s[RESIDUAL] = 0.0 if c[MOTIONS] > 0 else accelerate(c, s)
    if soften(c, s, least) > 0:
        mobility_matrix(c, s, 1)
        s[RESIDUAL] = accelerate(c, s)
    if not (s[RESIDUAL] <= UNSOLVED):
        return 1
    # an end that was watched for was found where accelerations reach `least`
    take_modes(c, s, 0.5 * least if c[WATCHED] > 0 else least)
    return 0


@loop
def take_modes(c: iptr, s: ptr, least: f64) -> None:
    """Modes from the accelerations of what touches: loads first, so that friction sees them."""
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        k = c[c[M_NUMBER] + b]
        if k >= 0:
            u = at(s, c[O_TOUCHING] + c[c[M_CONE] + 4 * k + 1])
            size = sqrt(dot(block[B_ROWS], u, u))
            if block[B_KIND] != FRICTION:
                c[c[M_MODES] + b] = OPEN if u[0] > least else CLOSED
            elif block[B_ROWS] > 2:
                hold_ball(c, s, b, k)
            elif size > least:
                c[c[M_MODES] + b] = SLIP
                for i in range(block[B_ROWS]):
                    s[c[O_SLIP] + block[B_FIRST] + i] = u[i] / size
            else:
                c[c[M_MODES] + b] = STICK
    end_ended(c, s, least)
    for b in range(c[NB]):
        if c[c[M_BLOCKS] + FIELDS * b + B_KIND] == FRICTION and is_pressed(c, b) == 0:
            c[c[M_MODES] + b] = OPEN


@loop
def hold_ball(c: iptr, s: ptr, b: i64, k: i64) -> None:
    """Sticks, if the moment that holds a ball is inside its bound; else slips against it."""
    first = c[c[M_BLOCKS] + FIELDS * b + B_FIRST]
    cone = at(c, c[M_CONE] + 4 * k)
    moment = at(s, c[O_TOUCHING] + c[ACTIVE] + cone[1])
    size = sqrt(dot(cone[2], moment, moment))
    c[c[M_MODES] + b] = STICK
    if size > s[c[O_LIMITS] + 3 * k + 2]:
        c[c[M_MODES] + b] = SLIP
        for i in range(cone[2]):
            s[c[O_SLIP] + first + i] = -moment[i] / size


@loop
def rank_without(c: iptr, s: ptr, first: i64, second: i64) -> i64:
    """Rank of the rows that touch, those of two cones left out; −1 leaves out none."""
    nv = c[NV]
    rows = at(s, c[O_COLUMNS])
    longest = 0.0
    count = 0
    for k in range(c[CONES]):
        cone = at(c, c[M_CONE] + 4 * k)
        for a in range(cone[1], cone[1] + cone[2]):
            row = at(s, c[O_ROWS] + a * nv)
            longest = max(longest, dot(nv, row, row))
            if k != first and k != second:
                for i in range(nv):
                    rows[count * nv + i] = row[i]
                count += 1
    R = at(s, c[O_MATRIX] + c[ACTIVE] * c[ACTIVE])
    return pivoted_qr(count, nv, rows, R, at(s, c[O_RIGHT]), REPEATED * sqrt(longest))


@loop
def is_determined(c: iptr, s: ptr, k: i64) -> i64:
    """1 if no other rows repeat those of a cone and of its load: their forces have one value."""
    nv = c[NV]
    load = c[c[M_CONE] + 4 * k + 3]
    count = 0
    for j in range(c[CONES]):
        cone = at(c, c[M_CONE] + 4 * j)
        for a in range(cone[1], cone[1] + cone[2]):
            row = at(s, c[O_ROWS] + a * nv)
            # a slip that nothing can have, across a mechanism in a plane, is none
            moves = 1 if dot(nv, row, row) > 0.0 else 0
            count += moves if (j - k) * (j - load) == 0 else 0
    return 1 if rank_without(c, s, -1, -1) - rank_without(c, s, k, load) == count else 0


@loop
def end_ended(c: iptr, s: ptr, least: f64) -> None:
    """Ends modes whose end was found though no acceleration tells it yet."""
    m = c[ACTIVE]
    nearly = NEARLY * largest(m, at(s, c[O_TOUCHING] + m))
    for b in range(c[NB]):
        k = c[c[M_NUMBER] + b]
        mode = c[c[M_MODES] + b]
        # CLOSED and STICK are one number
        has_ended = 1 if c[c[M_ENDED] + b] == 1 and c[c[M_BEFORE] + b] == STICK else 0
        if k >= 0 and mode == STICK and has_ended == 1:
            has_ended = is_determined(c, s, k)
            if has_ended == 0:
                c[c[M_ENDED] + b] = SHARED
        else:
            has_ended = 0
        if has_ended == 1:
            row = c[c[M_CONE] + 4 * k + 1]
            force = at(s, c[O_TOUCHING] + m + row)
            yields = s[c[O_MATRIX] + row * m + row]
            if c[c[M_BLOCKS] + FIELDS * b + B_KIND] != FRICTION:
                if force[0] <= nearly + least / yields:
                    c[c[M_MODES] + b] = OPEN
            elif margin(c, s, k) <= nearly + least / yields:
                slip_away(c, s, b, k)


@loop
def margin(c: iptr, s: ptr, k: i64) -> f64:
    """How much larger the force of a cone of friction may become."""
    cone = at(c, c[M_CONE] + 4 * k)
    limits = at(s, c[O_LIMITS] + 3 * k)
    force = at(s, c[O_TOUCHING] + c[ACTIVE])
    load = force[c[c[M_CONE] + 4 * cone[3] + 1]] if cone[3] >= 0 else 0.0
    size = 0.0
    along = limits[0] * load + limits[2]
    for i in range(cone[2]):
        bound = max(limits[min(i, 1)] * load + limits[2], 1e-300)
        size += (force[cone[1] + i] / bound) * (force[cone[1] + i] / bound)
    return float(along * (1.0 - sqrt(size)))


@loop
def slip_away(c: iptr, s: ptr, b: i64, k: i64) -> None:
    """Slip that begins, the way that a force at its bound opposes."""
    first = c[c[M_BLOCKS] + FIELDS * b + B_FIRST]
    cone = at(c, c[M_CONE] + 4 * k)
    limits = at(s, c[O_LIMITS] + 3 * k)
    force = at(s, c[O_TOUCHING] + c[ACTIVE] + cone[1])
    way = at(s, c[O_SLIP] + first)
    for i in range(cone[2]):
        bound = limits[min(i, 1)] if cone[3] >= 0 else limits[2]
        way[i] = -force[i] / max(bound * bound, 1e-300)
    size = sqrt(dot(cone[2], way, way))
    if size > 0.0:
        c[c[M_MODES] + b] = SLIP
        for i in range(cone[2]):
            way[i] = way[i] / size
