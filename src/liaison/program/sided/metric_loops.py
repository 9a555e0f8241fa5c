"""The metric of M by loops over nodes: a factor L of M = L Lᵀ that is never written down.

The gains of articulated bodies at a position are the factor; L⁻¹ τ is a sweep inwards, L⁻ᵀ x one
outwards, by (half-1). What keeps them is the work of a tree, a wrench for each node behind it, and
the rows of closures in this metric along their paths, with factors of X Xᵀ in an envelope.

Public names: ENTRIES, Wrenches.

Source: RBDA §7.3 (articulated bodies), §6.5 (factors of M along branches); docs/theory/closures.md.
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, i64, loop, ptr
from liaison.program.loops.records import Part, sized, words_of
from liaison.program.many.closed_entries import closed_terms_beside_mass, look_at_cuts
from liaison.program.many.cut_layout import CutSystem, CutWork
from liaison.program.many.cut_loops import (
    carry_row,
    carry_rows,
    factor,
    multipliers,
    put_matrix,
    put_row,
)
from liaison.program.many.tree_loops import (
    FORWARD,
    TreeSystem,
    TreeWork,
    begin_pass,
    sweep_tree,
)

from .side_layout import SideSystem


class Wrenches(Part):
    """Behind the gains: wrench and effort, or motion and rates, for each node."""

    nodes: ptr = sized("n_nodes + 1", "12")
    handed: ptr = sized("12")


@loop
def gather(system: TreeSystem, k: i64, q: ptr, tree: TreeWork) -> None:
    """Articulated inertias and gains: all sweeps of a recursion but the last, at rest."""
    these = system.passes[k]
    for i in range(system.nv):
        tree.tau[i] = 0.0
    begin_pass(system, k, 0.0, tree.tau, tree)
    for s in range(these.first, these.end - 1):
        sweep_tree(system, s, q, tree.tau, tree)


@loop
def side_factor(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """The gains at a position, at rest and without loads."""
    tree = TreeWork(out, system)
    gather(system, FORWARD, q, tree)
    if cuts.nc > 0:
        states = TreeWork(area[cuts.tree_words :], system)
        work = CutWork(out[behind_gains(system) :], cuts)
        look_at_cuts(system, cuts, t, q, v, u, p, states, work)
        carry_rows(system, cuts, tree, states, work)
        put_matrix(cuts, 0, cuts.nc, work)
        factor(cuts, work)
        halve_rows(system, cuts, sides, tree, states, work)


@loop
def behind_gains(system: TreeSystem) -> i64:
    """Where the rows of closures are kept."""
    return int(words_of(TreeWork, system) + words_of(Wrenches, system))


@loop
def halve_rows(
    system: TreeSystem, cuts: CutSystem, sides: SideSystem, tree: TreeWork, states: TreeWork,
    work: CutWork,
) -> None:  # fmt: skip
    """L⁻¹ of every row of closures along its path, in the place of its efforts."""
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held):
            if cuts.place[cut.row + r] < cuts.nc:
                put_row(system, cuts, c, r, states, work)
                carry_row(system, cuts, sides.half_entries, 1, c, r, tree, work)


TURNS, MET = 3, 1e-14
"""Times at most that what closures ask is met, and the part of it that is rounding.

Rows that repeat each other on the closures, and only there, cannot all be met beside them: what is
missed is no longer halved then, and to meet it further is to follow what they contradict.
"""


@loop
def side_hold(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """x + X S⁻¹ (b − Xᵀx), X = L⁻¹Gᵀ and S = XᵀX: the nearest that closures allow.

    What `factor` wrote is in the place of q, b in that of v.
    """
    work = CutWork(q[behind_gains(system) :], cuts)
    for i in range(system.nv):
        out[i] = x[i]
    enough = 0.0
    before = 0.0
    for turn in range(TURNS):
        for k in range(cuts.nc):
            work.right_side[cuts.order[k]] = v[k]
            work.lam[k] = 0.0
        for s in range(cuts.n_steps):
            along_step(system, cuts, s, 0, out, work)
        missed = 0.0
        for k in range(cuts.nc):
            missed = max(missed, abs(work.right_side[k]))
        if not (missed > enough) or (turn > 1 and missed > before / 2.0):
            break
        before = missed
        enough = MET * missed if turn == 0 else enough
        multipliers(cuts, work.lam, work)
        for s in range(cuts.n_steps):
            along_step(system, cuts, s, 1, out, work)


@loop
def along_step(
    system: TreeSystem, cuts: CutSystem, s: i64, is_pushed: i64, x: ptr, work: CutWork
) -> None:
    """Takes Xᵀx at a step off the right-hand side; or adds X λ there to x."""
    step = cuts.steps[s]
    cut = cuts.cuts[step.cut]
    own = x[system.nodes[step.node].v :]
    for r in range(cut.held):
        k = cuts.place[cut.row + r]
        if k < cuts.nc:
            row = work.efforts[step.place + 2 * step.nv * r :]
            if is_pushed > 0:
                for j in range(step.nv):
                    own[j] += row[j] * work.lam[k]
            else:
                total = 0.0
                for j in range(step.nv):
                    total += row[j] * own[j]
                work.right_side[cuts.order[k]] -= total


@loop
def side_half(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """L⁻¹ x; what `factor` wrote is in the place of q."""
    tree = TreeWork(q, system)
    wrenches = Wrenches(q[words_of(TreeWork, system) :], system)
    handed = wrenches.handed
    n = system.n_nodes
    for i in range(n + 1):
        for j in range(6):
            wrenches.nodes[i, j] = 0.0
    for k in range(n):
        i = n - 1 - k
        node = system.nodes[i]
        force = wrenches.nodes[i + 1]
        for j in range(node.nv):
            force[6 + j] = x[node.v + j]
        f = entry_at(sides.half_entries, node.kind)
        own = tree.numbers[i + 1]
        constants = system.constants[node.constants :]
        f(0.0, handed, handed, own, constants, force, handed, tree.scratch)
        above = wrenches.nodes[node.parent + 1]
        for j in range(6):
            above[j] += handed[j]
        for j in range(node.nv):
            out[node.v + j] = handed[6 + j]


@loop
def side_back(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """L⁻ᵀ x; what `factor` wrote is in the place of q."""
    tree = TreeWork(q, system)
    moves = Wrenches(q[words_of(TreeWork, system) :], system)
    handed = moves.handed
    for j in range(6):
        moves.nodes[0, j] = 0.0
    for i in range(system.n_nodes):
        node = system.nodes[i]
        for j in range(6):
            handed[j] = moves.nodes[node.parent + 1, j]
        for j in range(node.nv):
            handed[6 + j] = x[node.v + j]
        f = entry_at(sides.back_entries, node.kind)
        own = tree.numbers[i + 1]
        constants = system.constants[node.constants :]
        motion = moves.nodes[i + 1]
        f(0.0, handed, handed, own, constants, handed, motion, tree.scratch)
        for j in range(node.nv):
            out[node.v + j] = motion[6 + j]


@loop
def side_terms_beside_mass(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """G, f, γ, Φ and ν where `terms` has them; nothing in the place of M."""
    closed_terms_beside_mass(system, cuts, t, q, v, u, p, x, out, area)


@loop
def side_yields(
    system: TreeSystem, cuts: CutSystem, rows: CutSystem, sides: SideSystem, t: f64, q: ptr,
    v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """M⁻¹ f without closures, and how rows yield: D M⁻¹ Dᵀ of each; of D in x, then f behind it."""
    nv = system.nv
    yields = out[nv:]
    own = area[sides.work_at :]
    factor = own[nv:]
    side_factor(system, cuts, rows, sides, t, q, v, u, p, x, factor, area)
    for k in range(sides.nr):
        side_half(system, cuts, rows, sides, t, factor, v, u, p, x[k * nv :], own, area)
        yields[k] = 0.0
        for j in range(nv):
            yields[k] += own[j] * own[j]
    f = x[sides.nr * nv :]
    side_half(system, cuts, rows, sides, t, factor, v, u, p, f, own, area)
    side_back(system, cuts, rows, sides, t, factor, v, u, p, own, out, area)


ENTRIES = {
    "factor": side_factor, "half": side_half, "back": side_back,
    "hold": side_hold, "terms_beside_mass": side_terms_beside_mass, "yields": side_yields,
}  # fmt: skip
"""Name -> loop."""
