"""Entries of a kernel as loops over bodies and joints: the contract of kernel.py for many bodies.

Each takes the system of block_layout.py, then what an entry takes, parameters aside.

Public names: ENTRIES, accelerations.
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, flat, i64, loop, ptr

from .block_assembly import assemble, measure
from .block_layout import PHI, RATE, SECOND, State, System, Work
from .block_loops import ROUNDING, largest_of, solved
from .block_sides import found_motions, found_multipliers, left_over, right_hand

STEPPED = 1e-14
"""Accelerations of a step are told to so many digits: no method asks for more."""

CORRECTED = 1e-6
"""A correction of positions is told to so many digits: the next one sees what it missed."""


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
    found_motions(system, SECOND, work, flat(work.x), vdot)
    found_multipliers(system, work, flat(work.x), lam)
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
    found_motions(system, level, work, flat(work.x), out)


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
                out[0] += 0.5 * V[a] * I[6 * a + b] * V[b]
        m = I[21]
        p = body.p
        # the block beside J is m c as a cross product: its entries 16, 5 and 9 are m c
        out[1] += rise[0] * (m * p[0] + I[16]) + rise[1] * (m * p[1] + I[5])
        out[1] += rise[2] * (m * p[2] + I[9])


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
    """A wrench at a node's origin, in the ground's axes, as a frame at another point tells it."""
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
