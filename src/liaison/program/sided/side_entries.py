"""Entries of a kernel about unilateral rows, as loops over nodes and paths.

The path of a contact is that of the two nodes it lies between, as of a joint that closes a loop.

Public names: ENTRIES, OF_LOADS.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import entry_at, f64, i64, loop, ptr
from liaison.program.many.closed_entries import (
    accelerate_under,
    look_at_cuts,
    put_reactions,
    put_rows,
)
from liaison.program.many.cut_layout import CutSystem, CutWork
from liaison.program.many.cut_loops import PHI, RATE, SECOND, closed_pass, push_nodes
from liaison.program.many.tree_loops import INVERSE, TreeSystem, TreeWork, load_tree
from liaison.program.pieces import write_pieces

from .side_layout import LAW_SIZE, SideSystem


@loop
def put_level(rows: CutSystem, level: i64, out: ptr, work: CutWork) -> None:
    """What rows have at a level, in their order."""
    for c in range(rows.n_cuts):
        cut = rows.cuts[c]
        for r in range(cut.rows):
            k = rows.place[cut.row + r]
            out[k] = work.results[cut.result + (18 + level) * cut.rows + r]


@loop
def put_gaps(rows: CutSystem, sides: SideSystem, out: ptr, work: CutWork) -> None:
    """Gaps of blocks; `vdot` of the work is as long as all rows."""
    for b in range(sides.nb):
        out[b] = 0.0
    put_level(rows, PHI, work.lam, work)
    for b in range(sides.nb):
        if sides.gaps[b] >= 0:
            out[b] = work.lam[sides.gaps[b]]


@loop
def side_one_sided(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """Gaps, u, u̇ at v̇ = 0, D, and the laws of blocks."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[sides.work_at :], rows)
    nv = system.nv
    rate = out[sides.nb :]
    bias = rate[sides.nr :]
    D = bias[sides.nr :]
    put_rows(system, rows, t, q, v, u, p, D, tree, states, work)
    put_gaps(rows, sides, out, work)
    put_level(rows, RATE, rate, work)
    put_level(rows, SECOND, bias, work)
    for k in range(sides.nr):
        if sides.is_still[k] > 0:
            rate[k] = 0.0
            bias[k] = 0.0
            for j in range(nv):
                D[k * nv + j] = 0.0
    laws = D[sides.nr * nv :]
    write_pieces(sides.n_laws, sides.laws, t, q, v, u, p, x, laws, tree.scratch)


@loop
def side_local_rate(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """ξ̇ at q ⊞ ξ."""
    scratch = TreeWork(area, system).scratch
    for i in range(system.n_nodes + system.n_kept):
        node = system.nodes[i]
        if node.nv > 0:
            f = entry_at(system.rate_entries, node.kind)
            f(t, q[node.q :], v[node.v :], u, p, x[node.v :], out[node.v :], scratch)


@loop
def side_reactions(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """The wrench of each joint on its successor, in M's axes at M, of v̇, λ and f in x."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    beside = CutWork(area[sides.work_at :], rows)
    lam = x[system.nv :]
    load_tree(system, t, q, v, u, p, tree)
    look_at_cuts(system, rows, t, q, v, u, p, states, beside)
    push_nodes(system, rows, rows.nc, lam[cuts.nc :], states, beside)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    push_nodes(system, cuts, cuts.nc, lam, states, work)
    for i in range(system.n_nodes + 1):
        for j in range(6):
            work.pushes[i, j] += beside.pushes[i, j]
    closed_pass(system, INVERSE, 1.0, q, v, x, tree, cuts, work)
    put_reactions(system, cuts, cuts.nc, lam, tree, states, work, out)


@loop
def side_bearings(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """What every bearing with friction transmits, across its axis if it slides; of v̇, λ and f."""
    reactions = area[sides.reactions_at :]
    side_reactions(system, cuts, rows, sides, t, q, v, u, p, x, reactions, area)
    for b in range(sides.n_bearings):
        bearing = sides.bearings[b]
        wrench = reactions[6 * bearing.joint :]
        force = wrench[3:]
        square = 0.0
        for j in range(bearing.parts):
            square += force[j] * force[j]
        out[b] = sqrt(square)


@loop
def side_forward_under(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """v̇, λ and what the rows miss, with efforts on all velocities in x besides the loads."""
    tree = TreeWork(area, system)
    load_tree(system, t, q, v, u, p, tree)
    for k in range(system.nv):
        tree.tau[k] += x[k]
    lam = out[system.nv :]
    out[system.nv + cuts.nc] = accelerate_under(system, cuts, t, q, v, u, p, out, lam, area)


@loop
def side_load_rows(
    system: TreeSystem, cuts: CutSystem, loads: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """x, ẋ, whether U lacks its work, and J of every load that follows what it acts along."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[sides.work_at :], loads)
    count = loads.n_rows
    put_rows(system, loads, t, q, v, u, p, out[3 * count :], tree, states, work)
    put_level(loads, PHI, out, work)
    put_level(loads, RATE, out[count:], work)
    for k in range(count):
        out[2 * count + k] = sides.counted[k]


@loop
def side_load_laws(
    system: TreeSystem, cuts: CutSystem, loads: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """Their efforts, −∂e/∂ẋ and −∂e/∂x, at measures and rates given in x."""
    scratch = TreeWork(area, system).scratch
    write_pieces(sides.n_load_laws, sides.load_laws, t, q, v, u, p, x, out, scratch)


OF_LOADS = {"load_rows": side_load_rows, "load_laws": side_load_laws}
"""Name -> loop, whose rows are those of loads that follow what they act along."""

ENTRIES = {
    "one_sided": side_one_sided, "local_rate": side_local_rate, "reactions": side_reactions,
    "forward_under": side_forward_under, "bearings": side_bearings,
}  # fmt: skip
"""Name -> loop."""

assert LAW_SIZE == 8, "as many as `Law` of the time loop has"
