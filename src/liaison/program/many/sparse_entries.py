"""Entries of a kernel as loops over bodies and joints: the contract of kernel.py for many bodies.

Each takes the system of block_layout.py, then what an entry takes, parameters aside.

Right-hand sides of the blocks, and what their solution says of velocities and multipliers.

Public names: ENTRIES, accelerations, right_hand, joint_motions, multipliers, left_over.
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, flat, i64, loop, ptr

from .block_assembly import assemble, measure
from .block_layout import PHI, RATE, SECOND, State, System, Work
from .block_loops import ROUNDING, largest_of, solved


@loop
def right_hand(system: System, t: f64, q: ptr, v: ptr, u: ptr, level: i64, work: Work) -> None:
    """Right-hand sides at a level: forces and γ, or only what is left over of Φ or Φ̇."""
    numbers = work.floats
    right_side = flat(work.right_side)
    for k in range(6 * system.unknowns):
        right_side[k] = 0.0
    if level == SECOND:
        for i in range(system.bodies):
            force = work.states[i + 1].force
            for k in range(6):
                right_side[6 * i + k] = -force[k]
        efforts(system, t, q, v, u, work)
        push(system, work, work.tau, right_side)
    unknown = system.unknowns - system.n_relations - system.n_closed
    for c in range(system.n_closed):
        row = system.closed[c]
        size = row.count + row.ties
        left = numbers[row.place + 12 * size + level * size :]
        for i in range(row.count):
            right_side[6 * (unknown + c) + i] = -left[i]
    left_over_of_relations(system, level, work, right_side)


@loop
def left_over_of_relations(system: System, level: i64, work: Work, right_side: ptr) -> None:
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
        right_side[6 * (first + e)] = asks * total


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
def joint_motions(system: System, level: i64, work: Work, x: ptr, vdot: ptr) -> None:
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
def multipliers(system: System, work: Work, x: ptr, lam: ptr) -> None:
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


STEPPED = 1e-14
"""Accelerations of a step are solved to so many digits: no method asks for more."""

CORRECTED = 1e-6
"""A correction of positions is solved to so many digits: the next one sees what it missed."""


@loop
def accelerations(
    system: System, t: f64, q: ptr, v: ptr, u: ptr, tau: ptr, enough: f64, vdot: ptr, lam: ptr,
    work: Work,
) -> f64:  # fmt: skip
    """v̇ and λ under all loads and τ, to so many digits; returns what the rows miss."""
    for k in range(system.nv):
        work.tau[k] = tau[k]
    measure(system, t, q, v, u, work)
    assemble(system, SECOND, work)
    right_hand(system, t, q, v, u, SECOND, work)
    missed = solved(system, 6 * system.unknowns, enough, work)
    joint_motions(system, SECOND, work, flat(work.x), vdot)
    multipliers(system, work, flat(work.x), lam)
    return missed


@loop
def unloaded(
    system: System, t: f64, q: ptr, v: ptr, u: ptr, enough: f64, vdot: ptr, lam: ptr, work: Work
) -> f64:
    """v̇ and λ under the loads of the mechanism alone."""
    for k in range(system.nv):
        work.tau[k] = 0.0
    return accelerations(system, t, q, v, u, work.tau, enough, vdot, lam, work)


@loop
def forward(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """v̇, λ and what the rows miss."""
    work = Work(area, system)
    lam = out[system.nv :]
    out[system.nv + system.nc] = unloaded(system, t, q, v, u, ROUNDING, out, lam, work)


@loop
def rate(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """ξ̇, v̇ and what the rows miss, at q ⊞ ξ."""
    work = Work(area, system)
    moved = work.moved
    retract(system, t, q, v, u, x, moved, area)
    for i in range(system.bodies + system.kept):
        node = system.nodes[i]
        f = entry_at(system.rate_entries, node.kind)
        f(t, q[node.q :], v[node.v :], u, u, x[node.v :], out[node.v :], work.scratch)
    vdot = out[system.nv :]
    out[2 * system.nv] = unloaded(system, t, moved, v, u, STEPPED, vdot, work.rows_left, work)


@loop
def retract(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """q ⊞ ξ."""
    work = Work(area, system)
    for i in range(system.bodies + system.kept):
        node = system.nodes[i]
        f = entry_at(system.retract_entries, node.kind)
        f(t, q[node.q :], v, u, u, x[node.v :], out[node.q :], work.scratch)


@loop
def closure(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """Φ, then Φ̇."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    left_over(system, PHI, work, out)
    left_over(system, RATE, work, out[system.nphi :])


@loop
def correct(
    system: System, t: f64, q: ptr, v: ptr, u: ptr, level: i64, out: ptr, work: Work
) -> None:
    """δ of least kinetic energy that takes away what is left over at a level, and its size."""
    measure(system, t, q, v, u, work)
    assemble(system, level, work)
    right_hand(system, t, q, v, u, level, work)
    solved(system, 6 * system.bodies, CORRECTED, work)
    count = system.nphi if level == PHI else system.nc
    left_over(system, level, work, work.rows_left)
    out[system.nv] = largest_of(0, count, work.rows_left)
    joint_motions(system, level, work, flat(work.x), out)


@loop
def correct_q(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """δ with G δ = −Φ, and the largest |Φ|."""
    correct(system, t, q, v, u, PHI, out, Work(area, system))


@loop
def correct_v(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """δ with G (v + δ) = ν, and the largest |G v − ν|."""
    correct(system, t, q, v, u, RATE, out, Work(area, system))


@loop
def energy(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """T = Σ ½ V · I V; U of gravity and loads."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    rise = State(system.ground).drift[3:]  # the ground accelerates upwards in place of gravity
    out[0] = 0.0
    out[1] = 0.0
    if system.n_taus > 0:
        system.potential_entry(t, q, v, u, u, u, out[1:], work.scratch)
    for i in range(system.bodies):
        body = work.states[i + 1]
        V = body.twist
        I = body.inertia
        for a in range(6):
            for b in range(6):
                out[0] += 0.5 * V[a] * I[a, b] * V[b]
        m = I[3, 3]
        p = body.p
        # the block beside J is m c as a cross product
        out[1] += rise[0] * (m * p[0] + I[2, 4]) + rise[1] * (m * p[1] + I[0, 5])
        out[1] += rise[2] * (m * p[2] + I[1, 3])


@loop
def poses(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """R row by row and p of every body's frame."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    for b in range(system.n_frames):
        state = work.states[system.framed[b] + 1].floats
        placed(state, system.frames[b], out[12 * b :])


@loop
def markers(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """R row by row and p of the marker in which each joint's reaction is expressed."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    for k in range(system.n_closed):
        state = work.states[system.closed[k].nodes[1] + 1].floats
        placed(state, system.markers[k], out[12 * k :])


@loop
def placed(state: ptr, fixed: ptr, out: ptr) -> None:
    """A frame fixed on a node: (R, p) of the node composed with (R, p) in it."""
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += state[3 * i + k] * fixed[3 * k + j]
            out[3 * i + j] = total
        total = state[9 + i]
        for k in range(3):
            total += state[3 * i + k] * fixed[9 + k]
        out[9 + i] = total


@loop
def reactions(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """The wrench of each joint on its successor, in M's axes at M, of v̇ and λ in x."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    numbers = work.floats
    wrench = work.wrench
    for k in range(system.n_closed):
        row = system.closed[k]
        body = work.states[row.nodes[1] + 1]
        placed(body.floats, system.markers[k], work.pose)
        size = row.count + row.ties
        for j in range(6):
            wrench[j] = 0.0
            for i in range(size):
                J = numbers[row.place + 6 * (size + i) + j]
                wrench[j] += x[system.nv + row.multiplier + i] * J
        seen(work.pose, body.p, wrench, out[6 * k :])


@loop
def seen(frame: ptr, origin: ptr, wrench: ptr, out: ptr) -> None:
    """A wrench at a node's origin, in the ground's axes, expressed in a frame at another point."""
    for j in range(3):
        a = (j + 1) % 3
        b = (j + 2) % 3
        arm_a = frame[9 + a] - origin[a]
        arm_b = frame[9 + b] - origin[b]
        wrench[6 + j] = wrench[j] - (arm_a * wrench[3 + b] - arm_b * wrench[3 + a])
    for j in range(3):
        out[j] = 0.0
        out[3 + j] = 0.0
        for i in range(3):
            out[j] += frame[3 * i + j] * wrench[6 + i]
            out[3 + j] += frame[3 * i + j] * wrench[3 + i]


@loop
def motions(system: System, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, area: ptr) -> None:
    """ω, v, ω̇, v̇ of free bodies in the ground's axes, of v̇ in x."""
    work = Work(area, system)
    measure(system, t, q, v, u, work)
    rise = State(system.ground).drift[3:]
    for b in range(system.n_frames):
        i = system.framed[b]
        body = work.states[i + 1]
        rates = x[system.nodes[i].v :]
        row = out[12 * b :]
        for j in range(6):
            row[j] = body.twist[j]
            row[6 + j] = body.drift[j]
        for j in range(3):
            row[9 + j] -= rise[j]
            for k in range(3):
                row[6 + j] += body.R[3 * j + k] * rates[k]
                row[9 + j] += body.R[3 * j + k] * rates[3 + k]


ENTRIES = {
    "forward": forward, "rate": rate, "retract": retract, "closure": closure,
    "correct_q": correct_q, "correct_v": correct_v, "energy": energy, "poses": poses,
    "markers": markers, "reactions": reactions, "motions": motions,
}  # fmt: skip
"""Name -> loop."""
