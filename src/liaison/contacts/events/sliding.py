"""Contacts that slip, where friction may leave no motion or several: every choice is tried.

Public names: slide, force_left, sliding_margin.

Source: docs/theory/contact_solvers.md (painleve-1).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.sides_layout import (
    ACTIVE,
    B_FIRST,
    B_KIND,
    B_LOAD,
    CLOSED,
    CONES,
    FIELDS,
    FRICTION,
    M_BLOCKS,
    M_CONE,
    M_MODES,
    M_NUMBER,
    NB,
    NV,
    O_AREA,
    O_COLUMNS,
    O_MATRIX,
    O_ROWS,
    O_TOUCHING,
    O_VDOT,
    SLIP,
    STICK,
)
from liaison.solvers.cones.cones import ONE_WAY
from liaison.solvers.impacts.painleve import MOST, count_solutions
from liaison.solvers.linear.dense import dot

from .modal import add_slips, compliant

JUST, TIGHT = 1e-6, 0.02
"""Shares: beyond zero by the first, several motions are seen; from the second on none is near."""


@loop
def slips_alone(c: iptr) -> i64:
    """1 if something slips under a load that is unknown, and nothing sticks beside it."""
    for k in range(c[CONES]):
        if c[c[M_CONE] + 4 * k] != ONE_WAY:
            return 0
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        slips = 1 if block[B_KIND] == FRICTION and c[c[M_MODES] + b] == SLIP else 0
        if slips == 1 and block[B_LOAD] >= 0 and c[c[M_NUMBER] + max(block[B_LOAD], 0)] >= 0:
            return 1
    return 0


@loop
def slide(c: iptr, s: ptr) -> i64:
    """Loads of contacts that slip into the second part of U, accelerations into the first.

    Called with the matrix of `mobility_matrix`, in which friction follows the loads.

    Returns:
        How many motions there are, of which the first is taken: contacts open where they may. −1
        where something sticks too, nothing slips, or there are too many to try; U is as it was.
    """
    m = c[ACTIVE]
    if m > MOST or slips_alone(c) == 0:
        return -1
    u = at(s, c[O_TOUCHING])
    force = at(u, m)
    A = at(s, c[O_MATRIX])
    found = count_solutions(m, A, u, force, at(s, c[O_AREA]))
    for a in range(m):
        for d in range(m):
            u[a] += A[a * m + d] * force[d]
    return found


@loop
def force_left(c: iptr, s: ptr) -> f64:
    """The least share of what a contact's force does that friction leaves, in the mode just solved.

    A contact jams where it falls to zero: the force that closes it has no bound.
    """
    least = 1.0
    for b in range(c[NB]):
        is_closed = 1 if c[c[M_MODES] + b] == CLOSED else 0
        if c[c[M_BLOCKS] + FIELDS * b + B_KIND] != FRICTION and is_closed == 1:
            least = min(least, share_left(c, s, b))
    return least


@loop
def share_left(c: iptr, s: ptr, b: i64) -> f64:
    """What friction leaves of the acceleration that the force of one closed contact gives it."""
    nv = c[NV]
    x = at(s, c[O_ROWS])
    y = at(s, c[O_COLUMNS])
    compliant(c, s, c[c[M_BLOCKS] + FIELDS * b + B_FIRST], x)
    for i in range(nv):
        y[i] = x[i]
    add_slips(c, s, b, y, at(s, c[O_VDOT]))
    whole = dot(nv, x, x)
    return float(dot(nv, x, y) / whole) if whole > 0.0 else 1.0


@loop
def sliding_margin(c: iptr, s: ptr, b: i64) -> f64:
    """Falls through zero where a contact that slips alone may as well open; 1 far from there.

    Its force stays finite there if what presses it vanishes at the same instant (GB99).
    """
    slips = 0
    for k in range(c[NB]):
        is_friction = 1 if c[c[M_BLOCKS] + FIELDS * k + B_KIND] == FRICTION else 0
        mode = c[c[M_MODES] + k]
        if (is_friction == 1 and mode == STICK) or (is_friction == 0 and mode == CLOSED and k != b):
            return 1.0
        if is_friction == 1 and mode == SLIP and c[c[M_BLOCKS] + FIELDS * k + B_LOAD] == b:
            slips = 1
    return min(1.0, (share_left(c, s, b) + JUST) / TIGHT) if slips == 1 else 1.0
