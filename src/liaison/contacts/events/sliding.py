"""Contacts that slip, where friction may leave no motion or several: every choice is tried.

Public names: slide, force_left, sliding_margin.

Source: docs/theory/contact_solvers.md (painleve-1).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, i64, loop
from liaison.simulation.steps.sides_layout import CLOSED, FRICTION, SLIP, STICK, Sides
from liaison.solvers.cones.cones import ONE_WAY
from liaison.solvers.impacts.painleve import MOST, count_solutions
from liaison.solvers.linear.dense import dot

from .modal import add_slips, compliant

JUST, TIGHT = 1e-6, 0.02
"""Shares: beyond zero by the first, several motions are seen; from the second on none is near."""


@loop
def slips_alone(sides: Sides) -> i64:
    """1 if something slips under a load that is unknown, and nothing sticks beside it."""
    for k in range(sides.cones):
        if sides.cone[k].kind != ONE_WAY:
            return 0
    for b in range(sides.nb):
        block = sides.blocks[b]
        slips = 1 if block.kind == FRICTION and sides.mode[b] == SLIP else 0
        if slips == 1 and block.load >= 0 and sides.cone_of[max(block.load, 0)] >= 0:
            return 1
    return 0


@loop
def slide(sides: Sides) -> i64:
    """Loads of contacts that slip into the second part of U, accelerations into the first.

    Called with the matrix of `mobility_matrix`, in which friction follows the loads.

    Returns:
        How many motions there are, of which the first is taken: contacts open where they may. −1
        where something sticks too, nothing slips, or there are too many to try; U is as it was.
    """
    m = sides.active
    if m > MOST or slips_alone(sides) == 0:
        return -1
    u = sides.touching
    force = at(u, m)
    A = sides.matrix
    count = count_solutions(m, A, u, force, sides.area)
    for a in range(m):
        for d in range(m):
            u[a] += A[a * m + d] * force[d]
    return count


@loop
def force_left(sides: Sides) -> f64:
    """The least share of what a contact's force does that friction leaves, in the mode just solved.

    A contact jams where it falls to zero: the force that closes it has no bound.
    """
    least = 1.0
    for b in range(sides.nb):
        is_closed = 1 if sides.mode[b] == CLOSED else 0
        if sides.blocks[b].kind != FRICTION and is_closed == 1:
            least = min(least, share_left(sides, b))
    return least


@loop
def share_left(sides: Sides, b: i64) -> f64:
    """What friction leaves of the acceleration that the force of one closed contact gives it."""
    nv = sides.nv
    x = sides.in_metric
    y = sides.columns
    compliant(sides, sides.blocks[b].first, x)
    for i in range(nv):
        y[i] = x[i]
    add_slips(sides, b, y, sides.vdot)
    whole = dot(nv, x, x)
    return float(dot(nv, x, y) / whole) if whole > 0.0 else 1.0


@loop
def sliding_margin(sides: Sides, b: i64) -> f64:
    """Falls through zero where a contact that slips alone may as well open; 1 far from there.

    Its force stays finite there if what presses it vanishes at the same instant (GB99).
    """
    slips = 0
    for k in range(sides.nb):
        is_friction = 1 if sides.blocks[k].kind == FRICTION else 0
        mode = sides.mode[k]
        if (is_friction == 1 and mode == STICK) or (is_friction == 0 and mode == CLOSED and k != b):
            return 1.0
        if is_friction == 1 and mode == SLIP and sides.blocks[k].load == b:
            slips = 1
    return min(1.0, (share_left(sides, b) + JUST) / TIGHT) if slips == 1 else 1.0
