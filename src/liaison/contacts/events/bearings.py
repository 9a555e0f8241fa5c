"""Friction in bearings: bounded by what a joint transmits, which the friction itself changes.

Public names: solve_motion.

Source: docs/theory/one_sided.md (bearing-1).
"""

from __future__ import annotations

from liaison.program.loops.language import at, f64, flat, i64, loop, ptr
from liaison.simulation.steps.sides_layout import Sides
from liaison.solvers.linear.dense import RANK_TOLERANCE, saddle_of_rank

from .modal import beside_closures, solve_mode

BORNE, ENOUGH, UNSETTLED = 30, 1e-13, 1e-9
"""Rounds in which what bearings transmit is found, the change of it that ends them, and that after
which none was found: friction that takes all it is given locks, and no load fits."""


@loop
def borne(sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> f64:
    """What bearings transmit in the motion just found; the largest change beside it."""
    nv = sides.nv
    nc = sides.nc
    terms = sides.terms
    x = sides.full
    total = at(x, nv + nc + sides.nr)
    for i in range(nv):
        total[i] = terms.f[i]
        for row in range(sides.nr):
            total[i] += sides.seen.D[row, i] * sides.force[row]
    M = flat(terms.M)
    G = flat(terms.G)
    rank = max(RANK_TOLERANCE, beside_closures(sides))
    lam = at(x, nv)
    saddle_of_rank(nv, nc, M, G, total, terms.gamma, x, lam, sides.spare, rank, sides.area)
    for row in range(sides.nr):
        x[nv + nc + row] = sides.force[row]
    loads = sides.borne
    sides.free.bearings(t, q, v, u, p, x, loads, work)
    change = 0.0
    for k in range(sides.nbearings):
        load = sides.load[sides.bearings[k]]
        change = max(change, abs(loads[k] - load) / (abs(loads[k]) + 1e-300))
    return change


@loop
def next_loads(sides: Sides, is_first: i64) -> None:
    """Loads to try next: along the last two rounds to where they would stand still.

    Of one bearing these are secants, which also find loads that rounds by themselves run away from.
    """
    count = sides.nbearings
    loads = sides.borne
    last = at(loads, count)
    tried = at(last, count)
    along = 0.0
    length = 0.0
    for k in range(count):
        rest = loads[k] - sides.load[sides.bearings[k]]
        turn = rest - (last[k] - tried[k])
        along += rest * turn
        length += turn * turn
    share = along / length if is_first == 0 and length > 0.0 else 0.0
    for k in range(count):
        b = sides.bearings[k]
        load = loads[k] - share * (loads[k] - last[k])
        last[k] = loads[k]
        tried[k] = sides.load[b]
        sides.load[b] = load if load >= 0.0 else loads[k]


@loop
def solve_motion(sides: Sides, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> i64:
    """As `solve_mode` at a state already measured, with friction that fits the load of bearings."""
    failed = solve_mode(sides)
    sides.unborne = 0.0
    if sides.nbearings > 0:
        for turn in range(BORNE):
            if failed != 0:
                return failed
            sides.unborne = borne(sides, t, q, v, u, p, work)
            if sides.unborne <= ENOUGH:
                return 0
            next_loads(sides, 1 if turn == 0 else 0)
            failed = solve_mode(sides)
        if not (sides.unborne <= UNSETTLED):
            return 1
    return failed
