"""Multipliers of cut joints by loops over their paths: G M⁻¹ Gᵀ, its factors, and what they push.

With y and z of (carry-1) at every joint on the way to the ground,

    (G M⁻¹ Gᵀ)_kl = Σ y_kᵀ z_l,      (G M⁻¹ Gᵀ + ρ) λ = −Φ̈,                       (cuts-1)

Φ̈ with the accelerations that the tree would have without its cut joints. ρ is that of (solve-1):
rows that others determine already ask nothing.

Public names: multipliers, right_of, measure_cuts, carry_rows, carry_row, put_row, bear_rows,
factor, push_nodes, no_pushes, put_matrix, put_ties, relate_ties, closed_pass, SECOND, PHI, RATE.

A relation has efforts along the joints whose velocities it names instead of wrenches on bodies.

Source: RBDA §8.5 (loop-closure by G M⁻¹ Gᵀ); GVL13 §4.1.2, §4.3 (L D Lᵀ, envelopes).
Differs: RBDA writes K for G; ρ is ours (docs/theory/closures.md).
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, flat, i64, iptr, loop, ptr
from liaison.program.pieces import write_pieces
from liaison.program.solve import EPSILON, FLOOR, NOISE

from .cut_layout import CutSystem, CutWork
from .tree_loops import (
    FORWARD,
    TreeSystem,
    TreeWork,
    begin_pass,
    sweep_tree,
    take_loads,
)

SECOND, PHI, RATE = range(3)
"""Levels of what is left over of a row: Φ̈, Φ, Φ̇."""


@loop
def closed_pass(
    system: TreeSystem, k: i64, ground: f64, q: ptr, v: ptr, values: ptr, tree: TreeWork,
    cuts: CutSystem, work: CutWork,
) -> None:  # fmt: skip
    """A recursion with what cut joints and relations do; gravity and loads where `ground` is 1."""
    these = system.passes[k]
    begin_pass(system, k, ground, values, tree)
    if k == FORWARD:
        for i in range(system.n_nodes):
            node = system.nodes[i]
            for j in range(node.nv):
                tree.numbers[i + 1, these.input_slot + j] += work.pulls[node.v + j]
    for s in range(these.first, these.end):
        sweep_tree(system, s, q, v, tree)
        if s == these.first and these.needed_slot >= 0:
            if ground > 0.0:
                take_loads(system, these.needed_slot, tree)
            for i in range(system.n_nodes):
                need = tree.numbers[i + 1, these.needed_slot :]
                for j in range(6):
                    need[j] -= work.pushes[i + 1, j]


@loop
def no_pushes(cuts: CutSystem, work: CutWork) -> None:
    """Cut joints and relations that do nothing."""
    for k in range(cuts.nv):
        work.pulls[k] = 0.0
    pushes = flat(work.pushes)
    for k in range(6 * (cuts.n_nodes + 1)):
        pushes[k] = 0.0


@loop
def measure_cuts(
    system: TreeSystem, cuts: CutSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr,
    states: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """J, Φ̈, Φ and Φ̇ of every cut joint, from the states of its nodes and what it keeps."""
    kept = work.kept
    for c in range(cuts.n_joints):
        cut = cuts.cuts[c]
        for j in range(cut.nq):
            kept[j] = q[cut.q + j]
        for j in range(cut.rows - cut.held):
            kept[12 + j] = v[cut.v + j]
        f = entry_at(cuts.entries, cut.kind)
        first = states.numbers[cut.first + 1]
        second = states.numbers[cut.second + 1]
        root = states.numbers[cut.root + 1]
        constants = cuts.constants[cut.constants :]
        f(0.0, first, second, constants, root, kept, work.results[cut.result :], states.scratch)
    if cuts.n_relations > 0:
        entries = cuts.relation_entries
        write_pieces(cuts.n_pieces, entries, t, q, v, u, p, u, work.second, states.scratch)
        measure_relations(cuts, vdot, work)


@loop
def left_of_ties(cuts: CutSystem, e: i64, level: i64, work: CutWork) -> f64:
    """What is left over at a level of the ties of velocities in a relation, times their terms."""
    total = 0.0
    for k in range(cuts.kept_begin[e], cuts.kept_begin[e + 1]):
        kept = cuts.kept_terms[k]
        cut = cuts.cuts[kept.cut]
        left = work.results[cut.result + (18 + level) * cut.rows + kept.row]
        total += work.coefficients[kept.term] * left
    return total


@loop
def measure_relations(cuts: CutSystem, vdot: ptr, work: CutWork) -> None:
    """Φ̈, Φ and Φ̇ of every relation; velocities that are kept accelerate as their ties say."""
    for e in range(cuts.n_relations):
        second = work.second[e]
        for k in range(cuts.term_begin[e], cuts.term_begin[e + 1]):
            if cuts.terms[k].step >= 0:
                second += work.coefficients[k] * vdot[cuts.terms[k].v]
        second += left_of_ties(cuts, e, SECOND, work)
        place = cuts.cuts[cuts.n_joints + e].result
        put_level(place, SECOND, second, work.results)
        put_level(place, PHI, work.phi[e], work.results)
        put_level(place, RATE, work.rate[e], work.results)


@loop
def put_level(place: i64, level: i64, left: f64, results: ptr) -> None:
    """What is left over at a level of a relation, where a cut joint of one row has it."""
    results[place + 18 + level] = left


@loop
def turn_back(state: ptr, weight: f64, J: ptr, out: ptr) -> None:
    """Adds a wrench in the ground's axes at a node's origin, seen in the node's axes."""
    for i in range(3):
        for j in range(3):
            out[i] += weight * state[3 * j + i] * J[j]
            out[3 + i] += weight * state[3 * j + i] * J[3 + j]


@loop
def put_row(
    system: TreeSystem, cuts: CutSystem, c: i64, r: i64, states: TreeWork, work: CutWork
) -> None:
    """Wrenches of a row on its nodes, or its efforts, at their steps of the path."""
    cut = cuts.cuts[c]
    forces = flat(work.forces)
    for k in range(12 * (cut.end - cut.begin)):
        forces[k] = 0.0
    e = c - cuts.n_joints
    if e >= 0:
        for k in range(cuts.term_begin[e], cuts.term_begin[e + 1]):
            term = cuts.terms[k]
            if term.step >= 0:
                effort = work.coefficients[k]
                work.forces[term.step - cut.begin, 6 + term.at] = effort
    J = work.results[cut.result + 6 * r :]
    if cut.at_first >= 0:
        turn_back(states.numbers[cut.first + 1], 1.0, J, work.forces[cut.at_first - cut.begin])
    if cut.at_second >= 0:
        target = work.forces[cut.at_second - cut.begin]
        turn_back(states.numbers[cut.second + 1], 1.0, J[6 * cut.rows :], target)
    if cut.at_root >= 0:
        target = work.forces[cut.at_root - cut.begin]
        turn_back(states.numbers[cut.root + 1], 1.0, J[12 * cut.rows :], target)


@loop
def put_ties_of(
    system: TreeSystem, cuts: CutSystem, c: i64, states: TreeWork, work: CutWork
) -> None:
    """Adds the wrenches of a relation on nodes of cut joints whose velocities it names."""
    begin = cuts.cuts[c].begin
    e = c - cuts.n_joints
    for k in range(cuts.kept_begin[e], cuts.kept_begin[e + 1]):
        kept = cuts.kept_terms[k]
        cut = cuts.cuts[kept.cut]
        weight = work.coefficients[kept.term]
        J = work.results[cut.result + 6 * kept.row :]
        if kept.at_first >= 0:
            turn_back(states.numbers[cut.first + 1], weight, J, work.forces[kept.at_first - begin])
        if kept.at_second >= 0:
            target = work.forces[kept.at_second - begin]
            turn_back(states.numbers[cut.second + 1], weight, J[6 * cut.rows :], target)
        if kept.at_root >= 0:
            target = work.forces[kept.at_root - begin]
            turn_back(states.numbers[cut.root + 1], weight, J[12 * cut.rows :], target)


@loop
def relate_ties(cuts: CutSystem, lam: ptr, work: CutWork) -> None:
    """Adds to multipliers of ties the efforts of relations along the velocities they define."""
    for k in range(cuts.n_kept_terms):
        kept = cuts.kept_terms[k]
        pull = lam[cuts.place[cuts.cuts[cuts.n_joints + kept.relation].row]]
        weight = work.coefficients[kept.term]
        lam[cuts.place[cuts.cuts[kept.cut].row + kept.row]] += weight * pull


@loop
def carry_rows(
    system: TreeSystem, cuts: CutSystem, gains: TreeWork, states: TreeWork, work: CutWork
) -> None:
    """y and z of (carry-1) of every row along its path, after a pass of accelerations."""
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held):
            if cuts.place[cut.row + r] < cuts.nc:
                put_row(system, cuts, c, r, states, work)
                if c >= cuts.n_joints:
                    put_ties_of(system, cuts, c, states, work)
                carry_row(system, cuts, cuts.carry_entries, 2, c, r, gains, work)


@loop
def carry_row(
    system: TreeSystem, cuts: CutSystem, entries: iptr, times: i64, c: i64, r: i64,
    gains: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """Row r of a cut joint or relation inwards; `times` efforts for each velocity are kept."""
    handed = work.handed
    cut = cuts.cuts[c]
    for s in range(cut.begin, cut.end):
        step = cuts.steps[s]
        node = system.nodes[step.node]
        f = entry_at(entries, node.kind)
        own = gains.numbers[step.node + 1]
        constants = system.constants[node.constants :]
        force = work.forces[s - cut.begin]
        f(0.0, handed, handed, own, constants, force, handed, gains.scratch)
        y = work.efforts[step.place + 2 * step.nv * r :]
        for j in range(times * step.nv):
            y[j] = handed[6 + j]
        pass_up(cuts, cut.begin, step.above, handed, work)


@loop
def pass_up(cuts: CutSystem, begin: i64, above: i64, handed: ptr, work: CutWork) -> None:
    """What a step hands to the one above it."""
    if above >= 0:
        for j in range(6):
            work.forces[above - begin, j] += handed[j]


@loop
def bear_rows(
    system: TreeSystem, cuts: CutSystem, k: i64, q: ptr, free: ptr, bears: TreeWork,
    states: TreeWork, work: CutWork,
) -> None:  # fmt: skip
    """The same with y a row of G, z = y where velocities are free; after a pass k, the inverse."""
    handed = work.handed
    these = system.passes[k]
    entries = system.entries[these.first + 1]
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.rows):
            if cuts.place[cut.row + r] < cuts.nc:
                put_row(system, cuts, c, r, states, work)
                for s in range(cut.begin, cut.end):
                    step = cuts.steps[s]
                    node = system.nodes[step.node]
                    own = bears.numbers[step.node + 1]
                    for j in range(6):
                        own[these.needed_slot + j] = work.forces[s - cut.begin, j]
                    f = entry_at(entries, node.kind)
                    constants = system.constants[node.constants :]
                    f(0.0, q[node.q :], free, own, constants, own, handed, bears.scratch)
                    y = work.efforts[step.place + 2 * step.nv * r :]
                    for j in range(step.nv):
                        y[j] = handed[12 + j] + work.forces[s - cut.begin, 6 + j]
                        y[step.nv + j] = y[j] * free[node.v + j]
                    pass_up(cuts, cut.begin, step.above, handed, work)


@loop
def put_matrix(cuts: CutSystem, is_tied: i64, count: i64, work: CutWork) -> None:
    """Σ yᵀ z of every two of the first so many rows whose paths meet, 1 of others.

    Of ties where they are asked for, else 1.
    """
    for k in range(cuts.n_matrix):
        work.matrix[k] = 0.0
    for i in range(cuts.n_nodes):
        for a in range(cuts.passing_begin[i], cuts.passing_begin[i + 1]):
            for b in range(cuts.passing_begin[i], a + 1):
                put_block(cuts, is_tied, count, cuts.passing[a], cuts.passing[b], work)
    for k in range(cuts.nc):
        if k >= count or (is_tied == 0 and cuts.is_tie[k] > 0):
            work.matrix[cuts.start[cuts.order[k]] + cuts.order[k]] = 1.0


@loop
def put_block(cuts: CutSystem, is_tied: i64, count: i64, a: i64, b: i64, work: CutWork) -> None:
    """Σ yᵀ z of the rows of two cut joints at one node."""
    one = cuts.steps[a]
    other = cuts.steps[b]
    mine = cuts.cuts[one.cut]
    theirs = cuts.cuts[other.cut]
    n = one.nv
    for r in range(mine.rows if is_tied > 0 else mine.held):
        k = cuts.place[mine.row + r]
        for s in range(theirs.rows if is_tied > 0 else theirs.held):
            l = cuts.place[theirs.row + s]
            if k < count and l < count and (a != b or s <= r):
                y = work.efforts[one.place + 2 * n * r :]
                z = work.efforts[other.place + 2 * n * s + n :]
                total = 0.0
                for j in range(n):
                    total += y[j] * z[j]
                high = max(cuts.order[k], cuts.order[l])
                low = min(cuts.order[k], cuts.order[l])
                work.matrix[cuts.start[high] + low] += total


@loop
def put_noise(cuts: CutSystem, work: CutWork) -> None:
    """For each cut joint and relation the largest inverse inertia that one of its rows moves."""
    for c in range(cuts.n_cuts):
        work.noise[c] = 0.0
    for k in range(cuts.nc):
        i = cuts.order[k]
        size = work.matrix[cuts.start[i] + i] / (cuts.reach[k] * cuts.reach[k])
        if cuts.is_tie[k] == 0 and cuts.owner[k] < cuts.n_joints:
            work.noise[cuts.owner[k]] = max(work.noise[cuts.owner[k]], size)
    for c in range(cuts.n_joints, cuts.n_cuts):
        for s in range(cuts.cuts[c].begin, cuts.cuts[c].end):
            work.noise[c] = max(work.noise[c], lightness(cuts, s, work))


@loop
def lightness(cuts: CutSystem, s: i64, work: CutWork) -> f64:
    """yᵀ z over yᵀ y at a step of a relation: the inverse inertia that it finds there."""
    step = cuts.steps[s]
    y = work.efforts[step.place :]
    moved = 0.0
    square = 0.0
    for j in range(step.nv):
        moved += y[j] * y[step.nv + j]
        square += y[j] * y[j]
    return moved / square if square > 0.0 else 0.0


@loop
def factor(cuts: CutSystem, work: CutWork) -> None:
    """L D Lᵀ of the matrix with ρ on its diagonal."""
    put_noise(cuts, work)
    for k in range(cuts.nc):
        i = cuts.order[k]
        size = cuts.reach[k] * cuts.reach[k] * work.noise[cuts.owner[k]]
        proximal = work.matrix[cuts.start[i] + i] * EPSILON + NOISE * size + FLOOR
        work.pivots[i] = work.matrix[cuts.start[i] + i] + proximal
    for i in range(cuts.nc):
        own = cuts.start[i]
        begin = cuts.first[i]
        row = work.factors[own + begin :]
        for j in range(begin, i):
            total = work.matrix[own + j]
            first = max(begin, cuts.first[j])
            other = work.factors[cuts.start[j] + first :]
            mine = row[first - begin :]
            for k in range(j - first):
                total -= mine[k] * other[k]
            row[j - begin] = total
        pivot = work.pivots[i]
        for j in range(begin, i):
            scaled = row[j - begin] / work.pivots[j]
            pivot -= scaled * row[j - begin]
            row[j - begin] = scaled
        work.pivots[i] = pivot


@loop
def solve(cuts: CutSystem, x: ptr, work: CutWork) -> None:
    """x of a right-hand side, in its place."""
    for i in range(cuts.nc):
        row = work.factors[cuts.start[i] + cuts.first[i] :]
        total = x[i]
        for j in range(i - cuts.first[i]):
            total -= row[j] * x[cuts.first[i] + j]
        x[i] = total
    for i in range(cuts.nc):
        x[i] = x[i] / work.pivots[i]
    for r in range(cuts.nc):
        i = cuts.nc - 1 - r
        row = work.factors[cuts.start[i] + cuts.first[i] :]
        for j in range(i - cuts.first[i]):
            x[cuts.first[i] + j] -= row[j] * x[i]


@loop
def take_product(cuts: CutSystem, x: ptr, out: ptr, work: CutWork) -> None:
    """Takes the matrix times x off a vector."""
    for i in range(cuts.nc):
        row = work.matrix[cuts.start[i] + cuts.first[i] :]
        first = cuts.first[i]
        total = row[i - first] * x[i]
        for j in range(i - first):
            total += row[j] * x[first + j]
            out[first + j] -= row[j] * x[i]
        out[i] -= total


@loop
def right_of(cuts: CutSystem, level: i64, is_tied: i64, work: CutWork) -> f64:
    """What is left over at a level into the right-hand side, turned round; the largest of it.

    Of ties 0, unless they are asked for; they count where level is not Φ̈. Rows of rates hold no Φ.
    """
    count = cuts.nphi if level == PHI else cuts.nc
    largest = 0.0
    bad = 0.0
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < cuts.nc:
                left = work.results[cut.result + (18 + level) * cut.rows + r] if k < count else 0.0
                is_held = r < cut.held or is_tied > 0
                work.right_side[cuts.order[k]] = -left if is_held else 0.0
                if r < cut.held or level != SECOND:
                    largest = max(largest, abs(left))
                    bad += left - left
    if is_tied == 0 and level != SECOND:
        for e in range(cuts.n_relations):
            k = cuts.place[cuts.cuts[cuts.n_joints + e].row]
            if k < count:
                work.right_side[cuts.order[k]] -= left_of_ties(cuts, e, level, work)
    return largest + bad


@loop
def put_ties(cuts: CutSystem, level: i64, sign: f64, out: ptr, work: CutWork) -> None:
    """Adds what is left over of ties at a level to the velocities that they define."""
    for c in range(cuts.n_cuts):
        cut = cuts.cuts[c]
        for r in range(cut.held, cut.rows):
            left = work.results[cut.result + (18 + level) * cut.rows + r]
            out[cut.v + r - cut.held] += sign * left


@loop
def multipliers(cuts: CutSystem, lam: ptr, work: CutWork) -> None:
    """Adds to λ what the right-hand side asks for; what ρ took away is given back once."""
    for i in range(cuts.nc):
        work.x[i] = work.right_side[i]
        work.left[i] = work.right_side[i]
    solve(cuts, work.x, work)
    take_product(cuts, work.x, work.left, work)
    solve(cuts, work.left, work)
    for k in range(cuts.nc):
        i = cuts.order[k]
        lam[k] += work.x[i] + work.left[i]


@loop
def push_nodes(
    system: TreeSystem, cuts: CutSystem, count: i64, lam: ptr, states: TreeWork, work: CutWork
) -> None:
    """Wrenches of the first so many multipliers on all nodes, in their axes; efforts."""
    no_pushes(cuts, work)
    for e in range(cuts.n_relations):
        pull = lam[cuts.place[cuts.cuts[cuts.n_joints + e].row]]
        for k in range(cuts.term_begin[e], cuts.term_begin[e + 1]):
            work.pulls[cuts.terms[k].v] += pull * work.coefficients[k]
    for c in range(cuts.n_joints):
        cut = cuts.cuts[c]
        for r in range(cut.rows):
            k = cuts.place[cut.row + r]
            if k < count:
                J = work.results[cut.result + 6 * r :]
                first = states.numbers[cut.first + 1]
                second = states.numbers[cut.second + 1]
                root = states.numbers[cut.root + 1]
                turn_back(first, lam[k], J, work.pushes[cut.first + 1])
                turn_back(second, lam[k], J[6 * cut.rows :], work.pushes[cut.second + 1])
                turn_back(root, lam[k], J[12 * cut.rows :], work.pushes[cut.root + 1])
