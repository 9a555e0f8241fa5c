"""Edges of what is touched: where a closed gap widens at once, as that of a ball off a table.

Accelerations keep a closed gap at zero, up to the error of a step. Where it is far from zero all
the same, its formula has jumped. Downwards the contact opens; upwards there is a wall, of which the
formula of a height says nothing, and the run ends.

Public names: EDGE, is_past_edge, find_edges.
"""

from __future__ import annotations

from liaison.program.loops.language import at, entry_at, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import DETAIL, GOOD, O_P, O_Q, O_U, O_V, STEP_UP, WORST, T
from liaison.simulation.steps.sides_layout import (
    B_KIND,
    BEYOND,
    CLOSED,
    F_RETRACT,
    F_SIDES,
    FIELDS,
    GAP,
    M_BLOCKS,
    M_ENDED,
    M_MODES,
    NB,
    NV,
    O_GAP,
    O_TV,
    O_X,
)

EDGE = 1e-3
"""A closed gap that is farther from zero than this [m] has jumped."""

AHEAD = 1e-9
"""Time [s] after which an edge that was found is passed."""


@loop
def is_past_edge(c: iptr, s: ptr, b: i64) -> i64:
    """1 if a block is a gap that would have jumped if it were closed."""
    is_gap = 1 if c[c[M_BLOCKS] + FIELDS * b + B_KIND] == GAP else 0
    return 1 if is_gap == 1 and abs(s[c[O_GAP] + b]) > EDGE else 0


@loop
def find_edges(c: iptr, s: ptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """Marks closed gaps that end at an edge; STEP_UP where one meets a wall. Overwrites gaps."""
    retract = entry_at(c, F_RETRACT)
    sides = entry_at(c, F_SIDES)
    v = at(w, n[O_V])
    u = at(w, n[O_U])
    p = at(w, n[O_P])
    move = at(s, c[O_TV])
    there = at(s, c[O_X])
    for i in range(c[NV]):
        move[i] = AHEAD * v[i]
    retract(w[T], at(w, n[O_Q]), v, u, p, move, there, scratch)
    sides(w[T], there, v, u, p, there, at(s, c[O_GAP]), scratch)
    for b in range(c[NB]):
        has_ended = 1 if c[c[M_ENDED] + b] == 1 and c[c[M_MODES] + b] == CLOSED else 0
        if has_ended == 1 and is_past_edge(c, s, b) == 1:
            c[c[M_ENDED] + b] = BEYOND
            if s[c[O_GAP] + b] < 0.0:
                w[WORST] = -s[c[O_GAP] + b]
                n[DETAIL] = b
                return STEP_UP
    return GOOD
