"""Sweeps over contacts (projected Gauss–Seidel): the fast method, which gets near a solution.

Every row and every disc in turn takes the force that its own rate asks for, the others waiting:

    y_n := max(y_n − z_n/a_n, least),   y_t := y_t − z_t/a_t, cut to the radius c y_n + k  (cones-2)

with a the mobility of the row, of a disc the larger one. A sweep costs 2 m operations for each
force that changes and needs no factors, no modes and no luck: it always goes on. The reason why it
is there: it finds nearly all modes, from which Newton's method takes a few steps, where Newton's
method alone cycles between modes. Alone it converges linearly, and slowly under heavy bodies.

Public names: sweep.

Source: JAL98; ACA ch. 13.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop
from liaison.program.loops.records import Rows

from .table import BILATERAL, DISC, ONE_WAY, Area, Cone, radius, shrink

SOFT = 1e-9
"""Proximal mobility, beside 1: rows that depend on others move only as far as they must."""


@loop
def push(m: i64, area: Area, row: i64, y: f64) -> None:
    """Sets one force and what it does to all rates."""
    change = y - area.force[row]
    area.force[row] = y
    if change != 0.0:
        z = area.rate
        column = area.columns[row]
        for i in range(m):
            z[i] += change * column[i]


@loop
def relaxed(m: i64, area: Area, row: i64, mobility: f64) -> f64:
    """The force that makes the rate of a row 0, the others waiting."""
    return float(area.force[row] - area.rate[row] / (max(mobility, 0.0) + SOFT))


@loop
def relax_disc(m: i64, first: i64, rows: i64, r: f64, area: Area) -> None:
    """The forces of a disc of this radius."""
    second = first + rows - 1
    mobility = max(area.columns[first, first], area.columns[second, second])
    x = relaxed(m, area, first, mobility)
    y = relaxed(m, area, second, mobility) if second > first else 0.0
    part = shrink(x, y, r)
    push(m, area, first, part * x)
    if second > first:
        push(m, area, second, part * y)


@loop
def sweep(m: i64, nb: i64, blocks: Rows[Cone], area: Area) -> None:
    """Every block once; z goes along."""
    table = area.table
    for k in range(nb):
        first = blocks[k].first
        kind = blocks[k].kind
        if kind == ONE_WAY:
            y = relaxed(m, area, first, area.columns[first, first])
            push(m, area, first, max(y, table[k].constant))
        elif kind == BILATERAL:
            for i in range(first, first + blocks[k].rows):
                push(m, area, i, relaxed(m, area, i, area.columns[i, i]))
        elif kind == DISC:
            relax_disc(m, first, blocks[k].rows, radius(blocks, table, area.force, k), area)
