"""Friction in bearings: bounded by what a joint transmits, which the friction itself changes.

Public names: solve_motion.

Source: docs/theory/one_sided.md (bearing-1).
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.sides_layout import (
    BEARINGS,
    F_BEARINGS,
    M_BEARINGS,
    NC,
    NR,
    NV,
    O_AREA,
    O_BORNE,
    O_D,
    O_FORCE,
    O_FULL,
    O_LOAD,
    O_TERMS,
    SPARE,
    UNBORNE,
)
from liaison.solvers.linear.dense import saddle

from .modal import solve_mode

BORNE, ENOUGH, UNSETTLED = 30, 1e-13, 1e-9
"""Rounds in which what bearings transmit is found, the change of it that ends them, and that after
which none was found: friction that takes all it is given locks, and no load fits."""


@loop
def borne(c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> f64:
    """What bearings transmit in the motion just found; the largest change beside it."""
    bearings = entry_at(c, F_BEARINGS)
    nv = c[NV]
    nc = c[NC]
    terms = at(s, c[O_TERMS])
    f = at(terms, nv * nv + nc * nv)
    x = at(s, c[O_FULL])
    total = at(x, nv + nc + c[NR])
    for i in range(nv):
        total[i] = f[i]
        for row in range(c[NR]):
            total[i] += s[c[O_D] + row * nv + i] * s[c[O_FORCE] + row]
    G = at(terms, nv * nv)
    spare = at(c, SPARE)
    saddle(nv, nc, terms, G, total, at(f, nv), x, at(x, nv), spare, at(s, c[O_AREA]))
    for row in range(c[NR]):
        x[nv + nc + row] = s[c[O_FORCE] + row]
    found = at(s, c[O_BORNE])
    bearings(t, q, v, u, p, x, found, work)
    change = 0.0
    for k in range(c[BEARINGS]):
        load = s[c[O_LOAD] + c[c[M_BEARINGS] + k]]
        change = max(change, abs(found[k] - load) / (abs(found[k]) + 1e-300))
    return change


@loop
def next_loads(c: iptr, s: ptr, is_first: i64) -> None:
    """Loads to try next: along the last two rounds to where they would stand still.

    Of one bearing these are secants, which also find loads that rounds by themselves run away from.
    """
    count = c[BEARINGS]
    found = at(s, c[O_BORNE])
    last = at(found, count)
    tried = at(last, count)
    along = 0.0
    length = 0.0
    for k in range(count):
        rest = found[k] - s[c[O_LOAD] + c[c[M_BEARINGS] + k]]
        turn = rest - (last[k] - tried[k])
        along += rest * turn
        length += turn * turn
    share = along / length if is_first == 0 and length > 0.0 else 0.0
    for k in range(count):
        b = c[c[M_BEARINGS] + k]
        load = found[k] - share * (found[k] - last[k])
        last[k] = found[k]
        tried[k] = s[c[O_LOAD] + b]
        s[c[O_LOAD] + b] = load if load >= 0.0 else found[k]


@loop
def solve_motion(c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> i64:
    """As `solve_mode` at a state already measured, with friction that fits the load of bearings."""
    failed = solve_mode(c, s)
    s[UNBORNE] = 0.0
    if c[BEARINGS] > 0:
        for turn in range(BORNE):
            if failed != 0:
                return failed
            s[UNBORNE] = borne(c, s, t, q, v, u, p, work)
            if s[UNBORNE] <= ENOUGH:
                return 0
            next_loads(c, s, 1 if turn == 0 else 0)
            failed = solve_mode(c, s)
        if not (s[UNBORNE] <= UNSETTLED):
            return 1
    return failed
