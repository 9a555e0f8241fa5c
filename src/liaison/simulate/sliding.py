"""Contacts that slip, where friction may leave no motion or several: every choice is tried.

Public names: slide, force_left.

Source: docs/theory/contact_solvers.md (painleve-1).
"""

from __future__ import annotations

from liaison.program.loops import at, f64, i64, iptr, loop, ptr
from liaison.solvers.cones import ONE_WAY
from liaison.solvers.dense import dot
from liaison.solvers.painleve import MOST, count_solutions

from .modal import add_slips, compliant
from .sides_layout import (
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
)


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
    nv = c[NV]
    x = at(s, c[O_ROWS])
    y = at(s, c[O_COLUMNS])
    least = 1.0
    for b in range(c[NB]):
        block = at(c, c[M_BLOCKS] + FIELDS * b)
        if block[B_KIND] != FRICTION and c[c[M_MODES] + b] == CLOSED:
            compliant(c, s, block[B_FIRST], x)
            for i in range(nv):
                y[i] = x[i]
            add_slips(c, s, b, y, at(s, c[O_VDOT]))
            whole = dot(nv, x, x)
            if whole > 0.0:
                least = min(least, dot(nv, x, y) / whole)
    return least
