"""Friction in bearings: bounded by what a joint transmits, which the friction itself changes.

Public names: solve_motion.

Source: docs/theory/one_sided.md (bearing-1).
"""

from __future__ import annotations

from liaison.program.loops import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.solvers.dense import saddle

from .modal import solve_mode
from .sides_layout import (
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
)

BORNE, ENOUGH = 30, 1e-13
"""Rounds in which what bearings transmit is found, and the change of it that ends them."""


@loop
def borne(c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> f64:
    """What bearings transmit in the motion just found, as loads; the largest relative change."""
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
        b = c[c[M_BEARINGS] + k]
        change = max(change, abs(found[k] - s[c[O_LOAD] + b]) / (abs(found[k]) + 1e-300))
        s[c[O_LOAD] + b] = found[k]
    return change


@loop
def solve_motion(c: iptr, s: ptr, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: ptr) -> i64:
    """As `solve_mode` at a state already measured, with friction that fits the load of bearings."""
    failed = solve_mode(c, s)
    if c[BEARINGS] > 0:
        for _ in range(BORNE):
            if failed != 0:
                return failed
            if borne(c, s, t, q, v, u, p, work) <= ENOUGH:
                return 0
            failed = solve_mode(c, s)
    return failed
