"""Right-hand sides of the blocks, and what their solution says of velocities and multipliers.

Public names: right_hand, found_motions, found_multipliers, left_over.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .block_layout import PHI, SECOND, System, Work


@loop
def right_hand(system: System, t: f64, q: ptr, v: ptr, u: ptr, level: i64, work: Work) -> None:
    """Right-hand sides at a level: forces and γ, or only what is left over of Φ or Φ̇."""
    numbers = work.floats
    given = flat(work.given)
    for k in range(6 * system.unknowns):
        given[k] = 0.0
    if level == SECOND:
        for i in range(system.bodies):
            force = work.states[i + 1].force
            for k in range(6):
                given[6 * i + k] = -force[k]
        efforts(system, t, q, v, u, work)
        push(system, work, work.tau, given)
    unknown = system.unknowns - system.n_relations - system.n_closed
    for c in range(system.n_closed):
        row = system.closed[c]
        size = row.count + row.ties
        left = numbers[row.place + 12 * size + level * size :]
        for i in range(row.count):
            given[6 * (unknown + c) + i] = -left[i]
    left_over_of_relations(system, level, work, given)


@loop
def left_over_of_relations(system: System, level: i64, work: Work, given: ptr) -> None:
    """−Φ of relations, at a level, less what the ties of their velocities leave over."""
    numbers = work.floats
    first = system.unknowns - system.n_relations
    k = 0
    for e in range(system.n_relations):
        relation = system.relations[e]
        total = -work.residuals[level, e]
        for _ in range(relation.count):
            term = system.terms[k]
            if term.residual >= 0:
                total -= work.coefficients[k] * numbers[term.residual + level * term.stride]
            k += 1
        asks = 0.0 if level == PHI and relation.is_of_positions == 0 else 1.0
        given[6 * (first + e)] = asks * total


@loop
def efforts(system: System, t: f64, q: ptr, v: ptr, u: ptr, work: Work) -> None:
    """τ of all loads on every velocity, added to what lies there."""
    if system.n_taus > 0:
        system.tau_entry(t, q, v, u, u, u, work.loads, work.scratch)
        for k in range(system.n_taus):
            work.tau[system.taus[k]] += work.loads[k]


@loop
def push(system: System, work: Work, tau: ptr, x: ptr) -> None:
    """Zᵀ τ to both bodies of each joint of the tree, Jᵀ τ of ties to those of joints cut."""
    numbers = work.floats
    for c in range(system.bodies):
        joint = system.joints[c]
        for k in range(joint.nv):
            Z = numbers[joint.place + 12 * k :]
            effort = tau[joint.v + k]
            if effort != 0.0:
                for j in range(6):
                    x[6 * joint.node + j] += Z[j] * effort
                    if joint.parent >= 0:
                        x[6 * joint.parent + j] += Z[6 + j] * effort
    for c in range(system.n_closed):
        row = system.closed[c]
        size = row.count + row.ties
        for k in range(row.ties):
            effort = tau[row.v + k]
            for half in range(2):
                J = numbers[row.place + 6 * (half * size + row.count + k) :]
                if row.nodes[half] >= 0:
                    for j in range(6):
                        x[6 * row.nodes[half] + j] += J[j] * effort


@loop
def found_motions(system: System, level: i64, work: Work, x: ptr, vdot: ptr) -> None:
    """v̇ (or δ) of each joint from the accelerations of its bodies, of ties likewise."""
    numbers = work.floats
    for c in range(system.bodies):
        joint = system.joints[c]
        for k in range(joint.nv):
            Z = numbers[joint.place + 12 * k :]
            total = 0.0
            for j in range(6):
                total += Z[j] * x[6 * joint.node + j]
                if joint.parent >= 0:
                    total += Z[6 + j] * x[6 * joint.parent + j]
            vdot[joint.v + k] = total
    for c in range(system.n_closed):
        row = system.closed[c]
        size = row.count + row.ties
        for k in range(row.ties):
            total = numbers[row.place + (12 + level) * size + row.count + k]
            for half in range(2):
                J = numbers[row.place + 6 * (half * size + row.count + k) :]
                if row.nodes[half] >= 0:
                    for j in range(6):
                        total += J[j] * x[6 * row.nodes[half] + j]
            vdot[row.v + k] = total


@loop
def found_multipliers(system: System, work: Work, x: ptr, lam: ptr) -> None:
    """λ of every row: −y of those in the blocks; of ties what acts along their velocity."""
    unknown = system.unknowns - system.n_relations - system.n_closed
    for c in range(system.n_closed):
        row = system.closed[c]
        for i in range(row.count):
            lam[row.multiplier + i] = -x[6 * (unknown + c) + i]
        for k in range(row.ties):
            lam[row.multiplier + row.count + k] = work.tau[row.v + k]
    k = 0
    for e in range(system.n_relations):
        relation = system.relations[e]
        lam[relation.multiplier] = -x[6 * relation.unknown]
        for _ in range(relation.count):
            term = system.terms[k]
            if term.tie >= 0:
                lam[term.tie] += work.coefficients[k] * lam[relation.multiplier]
            k += 1


@loop
def left_over(system: System, level: i64, work: Work, out: ptr) -> None:
    """What is left over of every row at a level, in the order of the multipliers."""
    numbers = work.floats
    for c in range(system.n_closed):
        row = system.closed[c]
        size = row.count + row.ties
        for i in range(size):
            out[row.multiplier + i] = numbers[row.place + (12 + level) * size + i]
    for e in range(system.n_relations):
        relation = system.relations[e]
        if level != PHI or relation.is_of_positions == 1:
            out[relation.multiplier] = work.residuals[level, e]
