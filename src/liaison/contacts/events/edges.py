"""Edges of what is touched: where a closed gap widens at once, as that of a ball off a table.

Accelerations keep a closed gap at zero, up to the error of a step. Where it is far from zero all
the same, its formula has jumped. Downwards the contact opens; upwards there is a wall, of which the
formula of a height says nothing, and the run ends.

Public names: EDGE, is_past_edge, find_edges.
"""

from __future__ import annotations

from liaison.program.loops.language import i64, loop, ptr
from liaison.simulation.plan.scales import NO_FACE
from liaison.simulation.steps.layout import GOOD, STEP_UP, Run
from liaison.simulation.steps.sides_layout import BEYOND, CLOSED, GAP, Sides

EDGE = 1e-3
"""A closed gap that is farther from zero than this, in its unit, has jumped."""

AHEAD = 1e-9
"""Time, in that of the mechanism, after which an edge that was found is passed."""


@loop
def is_past_edge(sides: Sides, b: i64) -> i64:
    """1 if a block is a gap that would have jumped if it were closed."""
    is_gap = 1 if sides.blocks[b].kind == GAP else 0
    gap = sides.seen.gap[b]
    is_far = 1 if abs(gap) > EDGE * sides.scales.gap[b] or gap == NO_FACE else 0
    return is_gap * is_far


@loop
def find_edges(sides: Sides, run: Run, scratch: ptr) -> i64:
    """Marks closed gaps that end at an edge; STEP_UP where one meets a wall. Overwrites gaps."""
    v = run.v
    u = run.u
    p = run.p
    move = sides.tv
    there = sides.there
    for i in range(sides.nv):
        move[i] = AHEAD * sides.scales.time[0] * v[i]
    sides.free.retract(run.t, run.q, v, u, p, move, there, scratch)
    sides.free.one_sided(run.t, there, v, u, p, there, sides.seen.floats, scratch)
    for b in range(sides.nb):
        has_ended = 1 if sides.ended[b] == 1 and sides.mode[b] == CLOSED else 0
        if has_ended == 1 and is_past_edge(sides, b) == 1:
            sides.ended[b] = BEYOND
            if sides.seen.gap[b] < 0.0:
                run.worst = -sides.seen.gap[b]
                run.detail[0] = b
                return STEP_UP
    return GOOD
