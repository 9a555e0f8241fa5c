"""Entries of a kernel of a tree with cut joints, as loops over nodes and paths.

Two passes over the tree work side by side: one keeps the gains of its joints, the other the states
of its nodes in the ground's axes.

Public names: ENTRIES, accelerate_under, look_at_cuts, bear_all, put_rows, put_reactions,
closed_terms_beside_mass.
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, i64, loop, ptr

from .cut_layout import CutSystem, CutWork
from .cut_loops import (
    PHI,
    RATE,
    SECOND,
    bear_rows,
    carry_rows,
    closed_pass,
    factor,
    measure_cuts,
    multipliers,
    no_pushes,
    push_nodes,
    put_matrix,
    put_ties,
    relate_ties,
    right_of,
)
from .sparse_entries import placed, seen
from .tree_loops import (
    FORWARD,
    INVERSE,
    MOTION,
    TreeSystem,
    TreeWork,
    load_tree,
    pass_over,
    still_pass,
    take_out,
    tree_retract,
    tree_work,
)

REFINEMENTS = 3
"""At most, of accelerations; each solves for what the rows miss with the accelerations found."""

ENOUGH = 1e-13
"""Part of Φ̈ without cut joints below which a miss is rounding."""


@loop
def accelerate_closed(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr,
    lam: ptr, area: ptr,
) -> f64:  # fmt: skip
    """v̇ and λ under gravity and loads; returns what the rows miss."""
    load_tree(system, t, q, v, u, p, TreeWork(area, system))
    return accelerate_under(system, cuts, t, q, v, u, p, vdot, lam, area)


@loop
def accelerate_under(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr,
    lam: ptr, area: ptr,
) -> f64:  # fmt: skip
    """The same under loads that are known already."""
    gains = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    for k in range(cuts.nc):
        lam[k] = 0.0
    no_pushes(cuts, work)
    if cuts.n_ties > 0:
        look_at_cuts(system, cuts, t, q, v, u, p, states, work)
        tie_efforts(cuts, gains.tau, lam)
        push_nodes(system, cuts, cuts.nc, lam, states, work)
    closed_pass(system, FORWARD, 1.0, q, v, gains.tau, gains, cuts, work)
    take_out(system, system.vdot_slot, gains, vdot)
    if cuts.nc == 0:
        return 0.0
    look_at_motion(system, cuts, t, q, v, u, p, vdot, states, work)
    carry_rows(system, cuts, gains, states, work)
    put_matrix(cuts, 0, cuts.nc, work)
    factor(cuts, work)
    missed = right_of(cuts, SECOND, 0, work)
    enough = ENOUGH * missed
    for turn in range(REFINEMENTS):
        before = missed
        multipliers(cuts, lam, work)
        tie_efforts(cuts, gains.tau, lam)
        relate_ties(cuts, lam, work)
        push_nodes(system, cuts, cuts.nc, lam, states, work)
        closed_pass(system, FORWARD, 1.0, q, v, gains.tau, gains, cuts, work)
        take_out(system, system.vdot_slot, gains, vdot)
        look_at_motion(system, cuts, t, q, v, u, p, vdot, states, work)
        missed = right_of(cuts, SECOND, 0, work)
        if not (missed > enough) or (turn > 0 and missed > before / 2.0):
            break
    clear_kept(system, vdot)
    put_ties(cuts, SECOND, 1.0, vdot, work)
    return missed


@loop
def clear_kept(system: TreeSystem, values: ptr) -> None:
    """0 for velocities that cut joints keep."""
    for i in range(system.n_nodes, system.n_nodes + system.n_kept):
        node = system.nodes[i]
        for j in range(node.nv):
            values[node.v + j] = 0.0


@loop
def tie_efforts(cuts: CutSystem, tau: ptr, lam: ptr) -> None:
    """Multipliers of ties: the efforts along the velocities that they define."""
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held, cut.rows):
            lam[cuts.place[cut.row + r]] = tau[cut.v + r - cut.held]


@loop
def closed_forward(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """v̇, λ and what the rows miss."""
    lam = out[system.nv :]
    missed = accelerate_closed(system, cuts, t, q, v, u, p, out, lam, area)
    out[system.nv + cuts.nc] = missed


@loop
def closed_rate(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """ξ̇, v̇ and what the rows miss, at q ⊞ ξ."""
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    scratch = TreeWork(area, system).scratch
    tree_retract(system, t, q, v, u, p, x, work.moved, area)
    for i in range(system.n_nodes + system.n_kept):
        node = system.nodes[i]
        if node.nv > 0:
            f = entry_at(system.rate_entries, node.kind)
            f(t, q[node.q :], v[node.v :], u, p, x[node.v :], out[node.v :], scratch)
    vdot = out[system.nv :]
    missed = accelerate_closed(system, cuts, t, work.moved, v, u, p, vdot, work.lam, area)
    out[2 * system.nv] = missed


@loop
def look_at_cuts(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, states: TreeWork,
    work: CutWork,
) -> None:  # fmt: skip
    """Rows of all cut joints and relations, with no acceleration."""
    for k in range(system.nv):
        states.tau[k] = 0.0
    look_at_motion(system, cuts, t, q, v, u, p, states.tau, states, work)


@loop
def look_at_motion(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr,
    states: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """The same with accelerations; relations alone need no states of nodes."""
    if cuts.n_joints > 0:
        pass_over(system, MOTION, q, v, vdot, states)
    measure_cuts(system, cuts, t, q, v, u, p, vdot, states, work)


@loop
def closed_closure(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """Φ, then Φ̇."""
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    put_left(cuts, PHI, out, work)
    put_left(cuts, RATE, out[cuts.nphi :], work)


@loop
def put_left(cuts: CutSystem, level: i64, out: ptr, work: CutWork) -> None:
    """What is left over at a level, in the order of the multipliers; Φ of the first nphi."""
    count = cuts.nphi if level == PHI else cuts.nc
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < count:
                out[k] = work.results[cut.result + (18 + level) * cut.rows + r]


@loop
def correct(
    system: TreeSystem, cuts: CutSystem, level: i64, t: f64, q: ptr, v: ptr, u: ptr, p: ptr,
    out: ptr, area: ptr,
) -> None:  # fmt: skip
    """δ of least kinetic energy that takes away what is left over at a level, and its size."""
    gains = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    for k in range(cuts.nv):
        work.zeros[k] = 0.0
    for k in range(cuts.nc):
        work.lam[k] = 0.0
    no_pushes(cuts, work)
    closed_pass(system, FORWARD, 0.0, q, work.zeros, work.zeros, gains, cuts, work)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    carry_rows(system, cuts, gains, states, work)
    put_matrix(cuts, 0, cuts.nphi if level == PHI else cuts.nc, work)
    factor(cuts, work)
    out[system.nv] = right_of(cuts, level, 0, work)
    multipliers(cuts, work.lam, work)
    relate_ties(cuts, work.lam, work)
    push_nodes(system, cuts, cuts.nc, work.lam, states, work)
    clear_kept(system, out)
    put_ties(cuts, level, 1.0, out, work)
    closed_pass(system, FORWARD, 0.0, q, work.zeros, work.zeros, gains, cuts, work)
    take_out(system, system.vdot_slot, gains, out)
    if cuts.n_ties > 0:
        for j in range(cuts.nv):
            work.vdot[j] = out[j]
        clear_kept(system, work.vdot)
        look_at_cuts(system, cuts, t, q, work.vdot, u, p, states, work)
        put_ties(cuts, RATE, 1.0, out, work)


@loop
def closed_correct_q(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """δ with G δ = −Φ, and the largest |Φ|."""
    correct(system, cuts, PHI, t, q, v, u, p, out, area)


@loop
def closed_correct_v(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """δ with G (v + δ) = ν, and the largest |G v − ν|."""
    correct(system, cuts, RATE, t, q, v, u, p, out, area)


@loop
def bear_all(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, free: ptr,
    bears: TreeWork, states: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """Rows of G along all paths; those of velocities that are free as z."""
    for k in range(cuts.nv):
        work.zeros[k] = 0.0
    no_pushes(cuts, work)
    closed_pass(system, INVERSE, 0.0, q, work.zeros, work.zeros, bears, cuts, work)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    bear_rows(system, cuts, INVERSE, q, free, bears, states, work)


@loop
def close(
    system: TreeSystem, cuts: CutSystem, level: i64, t: f64, q: ptr, v: ptr, u: ptr, p: ptr,
    free: ptr, out: ptr, area: ptr,
) -> None:  # fmt: skip
    """The shortest δ on what is free that takes away what is left over; its size; least pivot."""
    bears = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    bear_all(system, cuts, t, q, v, u, p, free, bears, states, work)
    count = cuts.nphi if level == PHI else cuts.nc
    put_matrix(cuts, 1, count, work)
    put_kept(cuts, count, free, work)
    factor(cuts, work)
    out[system.nv] = right_of(cuts, level, 1, work)
    out[system.nv + 1] = 1.0
    for k in range(cuts.nc):
        i = cuts.order[k]
        size = work.matrix[cuts.start[i] + i]
        part = work.pivots[i] / size if size > 0.0 else 0.0
        out[system.nv + 1] = min(out[system.nv + 1], part)
        work.lam[k] = 0.0
    multipliers(cuts, work.lam, work)
    for j in range(system.nv):
        out[j] = 0.0
    for s in range(cuts.n_steps):
        step = cuts.steps[s]
        cut = cuts.cuts[step.cut]
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < cuts.nc:
                z = work.efforts[step.place + 2 * step.nv * r + step.nv :]
                for j in range(step.nv):
                    out[system.nodes[step.node].v + j] += z[j] * work.lam[k]
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held, cut.rows):
            place = cut.v + r - cut.held
            out[place] -= free[place] * work.lam[cuts.place[cut.row + r]]
    for e in range(cuts.n_kept_terms):
        kept = cuts.kept_terms[e]
        k = cuts.place[cuts.cuts[cuts.n_joints + kept.relation].row]
        weight = work.coefficients[kept.term]
        out[kept.v] += weight * free[kept.v] * work.lam[k]


@loop
def add_entry(cuts: CutSystem, k: i64, l: i64, value: f64, work: CutWork) -> None:
    """Adds to the matrix at two multipliers."""
    high = max(cuts.order[k], cuts.order[l])
    low = min(cuts.order[k], cuts.order[l])
    work.matrix[cuts.start[high] + low] += value


@loop
def put_kept(cuts: CutSystem, count: i64, free: ptr, work: CutWork) -> None:
    """What velocities that are kept, and free, add to the matrix: 1 for each tie alone."""
    for a in range(cuts.n_kept_terms):
        one = cuts.kept_terms[a]
        k = cuts.place[cuts.cuts[cuts.n_joints + one.relation].row]
        weight = free[one.v] * work.coefficients[one.term]
        if k < count:
            add_entry(cuts, k, cuts.place[cuts.cuts[one.cut].row + one.row], -weight, work)
            for b in range(a + 1):
                other = cuts.kept_terms[b]
                l = cuts.place[cuts.cuts[cuts.n_joints + other.relation].row]
                if other.v == one.v and l < count:
                    part = work.coefficients[other.term]
                    add_entry(cuts, k, l, weight * part, work)
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held, cut.rows):
            i = cuts.order[cuts.place[cut.row + r]]
            work.matrix[cuts.start[i] + i] += free[cut.v + r - cut.held]


@loop
def closed_close_q(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """The shortest δ with G δ = −Φ, 0 where x is 0; the largest |Φ|; the least pivot."""
    close(system, cuts, PHI, t, q, v, u, p, x, out, area)


@loop
def closed_close_v(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """The same of velocities: G (v + δ) = ν, and the largest |G v − ν|."""
    close(system, cuts, RATE, t, q, v, u, p, x, out, area)


@loop
def closed_markers(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """R row by row and p of the marker in which each joint's reaction is expressed."""
    work = TreeWork(area, system)
    still_pass(system, q, v, work)
    for k in range(system.n_joints):
        placed(work.numbers[system.marked[k] + 1], system.markers[k], out[12 * k :])
    behind = out[12 * system.n_joints :]
    for c in range(cuts.n_joints - cuts.n_frames):
        state = work.numbers[cuts.cuts[c].second + 1]
        placed(state, cuts.markers[c], behind[12 * cuts.shown[c] :])
    for c in range(cuts.n_joints - cuts.n_frames, cuts.n_joints):
        cut = cuts.cuts[c]
        f = entry_at(cuts.touch_entries, cut.kind)
        first = work.numbers[cut.first + 1]
        second = work.numbers[cut.second + 1]
        f(0.0, first, second, cuts.constants[cut.constants :], p, x, behind[12 * c :], work.scratch)


@loop
def put_reactions(
    system: TreeSystem, cuts: CutSystem, count: i64, lam: ptr, tree: TreeWork, states: TreeWork,
    work: CutWork, out: ptr,
) -> None:  # fmt: skip
    """What an inverse pass says of the joints of the tree; of cut joints what λ says."""
    for i in range(system.n_joints):
        for j in range(6):
            out[6 * i + j] = tree.numbers[i + 1, system.reaction_slot + j]
    put_forces(system, cuts, count, lam, out)
    for c in range(cuts.n_joints - cuts.n_frames):
        cut = cuts.cuts[c]
        state = states.numbers[cut.second + 1]
        wrench = work.wrench
        for j in range(6):
            wrench[j] = 0.0
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < count:
                J = work.results[cut.result + 6 * (cut.rows + r) :]
                for j in range(6):
                    wrench[j] += lam[k] * J[j]
        placed(state, cuts.markers[c], work.pose)
        seen(work.pose, state[9:], wrench, out[6 * (system.n_joints + cuts.shown[c]) :])


@loop
def put_forces(system: TreeSystem, cuts: CutSystem, count: i64, lam: ptr, out: ptr) -> None:
    """Forces of relations between frames, in the axes of the first: what λ says."""
    first = cuts.n_joints - cuts.n_frames
    for e in range(cuts.n_frames):
        force = out[6 * (system.n_joints + first + e) :]
        for j in range(6):
            force[j] = 0.0
        for j in range(3):
            r = cuts.components[e, j]
            if r >= 0:
                k = cuts.place[cuts.cuts[first + e].row + r]
                if k < count:
                    force[3 + j] = lam[k]


@loop
def closed_reactions(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """The wrench of each joint on its successor, in M's axes at M, of v̇ and λ in x."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    lam = x[system.nv :]
    load_tree(system, t, q, v, u, p, tree)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    push_nodes(system, cuts, cuts.nc, lam, states, work)
    closed_pass(system, INVERSE, 1.0, q, v, x, tree, cuts, work)
    put_reactions(system, cuts, cuts.nc, lam, tree, states, work, out)


@loop
def closed_self_stress(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """What multipliers alone cause in the joints: rows kept, then rows that vanish, in x."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    for k in range(cuts.nv):
        work.zeros[k] = 0.0
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    push_nodes(system, cuts, cuts.n_rows, x, states, work)
    closed_pass(system, INVERSE, 0.0, q, work.zeros, work.zeros, tree, cuts, work)
    put_reactions(system, cuts, cuts.n_rows, x, tree, states, work, out)


@loop
def closed_terms(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """M, G, f, γ, Φ and ν, dense: for algebra of a state that the loops cannot solve."""
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    put_mass(system, cuts, q, TreeWork(area, system), work, out)
    closed_terms_beside_mass(system, cuts, t, q, v, u, p, x, out, area)


@loop
def closed_terms_beside_mass(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """The same, with nothing in the place of M."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    nv = system.nv
    nc = cuts.nc
    G = out[nv * nv :]
    f = G[nc * nv :]
    put_rows(system, cuts, t, q, v, u, p, G, tree, states, work)
    put_gamma(cuts, f[nv:], work)
    nu = f[nv + nc + cuts.nphi :]
    for k in range(nc):
        nu[k] = 0.0
    for e in range(cuts.n_relations):
        nu[cuts.place[cuts.cuts[cuts.n_joints + e].row]] = work.nu[e]
    put_left(cuts, PHI, f[nv + nc :], work)
    load_tree(system, t, q, v, u, p, tree)
    for k in range(nv):
        f[k] = tree.tau[k]
        work.zeros[k] = 0.0
    no_pushes(cuts, work)
    closed_pass(system, INVERSE, 1.0, q, v, work.zeros, tree, cuts, work)
    for k in range(nv):
        work.vdot[k] = 0.0
    take_out(system, system.effort_slot, tree, work.vdot)
    for k in range(nv):
        f[k] -= work.vdot[k]


@loop
def put_mass(
    system: TreeSystem, cuts: CutSystem, q: ptr, tree: TreeWork, work: CutWork, out: ptr
) -> None:
    """M, column by column: what a unit acceleration needs at rest without gravity."""
    for k in range(system.nv):
        work.zeros[k] = 0.0
        work.vdot[k] = 0.0
    for k in range(system.nv * system.nv):
        out[k] = 0.0
    no_pushes(cuts, work)
    for k in range(system.nv):
        work.vdot[k] = 1.0
        closed_pass(system, INVERSE, 0.0, q, work.zeros, work.vdot, tree, cuts, work)
        take_out(system, system.effort_slot, tree, out[k * system.nv :])
        work.vdot[k] = 0.0


@loop
def put_rows(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, G: ptr,
    tree: TreeWork, states: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """G, dense."""
    for k in range(cuts.nc * system.nv):
        G[k] = 0.0
    bear_all(system, cuts, t, q, v, u, p, work.zeros, tree, states, work)
    for s in range(cuts.n_steps):
        step = cuts.steps[s]
        cut = cuts.cuts[step.cut]
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < cuts.nc:
                y = work.efforts[step.place + 2 * step.nv * r :]
                for j in range(step.nv):
                    G[k * system.nv + system.nodes[step.node].v + j] = y[j]
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held, cut.rows):
            G[cuts.place[cut.row + r] * system.nv + cut.v + r - cut.held] = -1.0
    for e in range(cuts.n_kept_terms):
        kept = cuts.kept_terms[e]
        k = cuts.place[cuts.cuts[cuts.n_joints + kept.relation].row]
        G[k * system.nv + kept.v] = work.coefficients[kept.term]


@loop
def closed_rows(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """Numbers of G along all paths, one after another, then γ."""
    tree = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    bear_all(system, cuts, t, q, v, u, p, work.zeros, tree, states, work)
    place = 0
    for s in range(cuts.n_steps):
        step = cuts.steps[s]
        cut = cuts.cuts[step.cut]
        for r in range(cut.rows):
            if cuts.place[cut.row + r] < cuts.nc:
                y = work.efforts[step.place + 2 * step.nv * r :]
                for j in range(step.nv):
                    out[place + j] = y[j]
                place += step.nv
    for k in range(cuts.n_ties):
        out[place + k] = -1.0
    behind = out[place + cuts.n_ties :]
    for e in range(cuts.n_kept_terms):
        behind[e] = work.coefficients[cuts.kept_terms[e].term]
    put_gamma(cuts, behind[cuts.n_kept_terms :], work)


@loop
def put_gamma(cuts: CutSystem, gamma: ptr, work: CutWork) -> None:
    """−Φ̈ of rows that were looked at with no acceleration, not even of velocities that are kept."""
    put_left(cuts, SECOND, gamma, work)
    for k in range(cuts.nc):
        gamma[k] = -gamma[k]
    for e in range(cuts.n_relations):
        gamma[cuts.place[cuts.cuts[cuts.n_joints + e].row]] = -work.second[e]


@loop
def closed_lightness(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """The diagonal of G M⁻¹ Gᵀ: the inverse inertia that each row moves; of ties 1."""
    gains = TreeWork(area, system)
    states = TreeWork(area[cuts.tree_words :], system)
    work = CutWork(area[2 * cuts.tree_words :], cuts)
    for k in range(cuts.nv):
        work.zeros[k] = 0.0
    no_pushes(cuts, work)
    closed_pass(system, FORWARD, 0.0, q, work.zeros, work.zeros, gains, cuts, work)
    look_at_cuts(system, cuts, t, q, v, u, p, states, work)
    carry_rows(system, cuts, gains, states, work)
    put_matrix(cuts, 0, cuts.nc, work)
    for k in range(cuts.nc):
        out[k] = work.matrix[cuts.start[cuts.order[k]] + cuts.order[k]]


@loop
def closed_work(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr,
    area: ptr,
) -> None:  # fmt: skip
    """T, U, and the power of what is not stored: loads, and relations that move, λ·ν."""
    tree_work(system, t, q, v, u, p, x, out, area)
    if cuts.is_driven > 0:
        work = CutWork(area[2 * cuts.tree_words :], cuts)
        accelerate_closed(system, cuts, t, q, v, u, p, work.vdot, work.lam, area)
        for e in range(cuts.n_relations):
            k = cuts.place[cuts.cuts[cuts.n_joints + e].row]
            out[2] += work.lam[k] * work.nu[e]


ENTRIES = {
    "forward": closed_forward, "rate": closed_rate, "closure": closed_closure,
    "correct_q": closed_correct_q, "correct_v": closed_correct_v, "markers": closed_markers,
    "reactions": closed_reactions, "self_stress": closed_self_stress, "terms": closed_terms,
    "close_q": closed_close_q, "close_v": closed_close_v, "work": closed_work,
    "rows": closed_rows, "lightness": closed_lightness,
}  # fmt: skip
"""Name -> loop."""
