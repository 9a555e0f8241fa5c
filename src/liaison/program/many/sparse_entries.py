"""Entries of a kernel as loops over bodies and joints: the contract of kernel.py for many bodies.

Each takes the arrays `n` and `c` of block_layout.py, then what an entry takes, parameters aside.

Public names: ENTRIES, accelerations.
"""

from __future__ import annotations

from liaison.equations.sweeps.blocks import STATE
from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr

from .block_assembly import NODE, assemble, measure
from .block_layout import (
    BODIES,
    C_GROUND,
    C_MARKERS,
    C_POSES,
    CLOSED,
    CLOSED_TABLE,
    E_RATE,
    E_REST,
    E_RETRACT,
    KEPT,
    NC,
    NPHI,
    NQ,
    NV,
    O_CLOSED,
    O_NODES,
    O_POSES,
    PHI,
    POSES,
    RATE,
    RECORD,
    REST_POTENTIAL,
    SECOND,
    TAUS,
    UNKNOWNS,
    W_KERNEL,
    W_Q,
    W_RECORDS,
    W_TAU,
    W_X,
)
from .block_loops import ROUNDING, largest_of, solved
from .block_sides import found_motions, found_multipliers, left_over, right_hand

STEPPED = 1e-14
"""Accelerations of a step are told to so many digits: no method asks for more."""

CORRECTED = 1e-6
"""A correction of positions is told to so many digits: the next one sees what it missed."""


@loop
def accelerations(
    n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, tau: ptr, enough: f64, vdot: ptr, lam: ptr,
    work: ptr,
) -> f64:  # fmt: skip
    """v̇ and λ under all loads and τ, to so many digits; returns what the rows miss."""
    own = at(work, n[W_TAU])
    for k in range(n[NV]):
        own[k] = tau[k]
    measure(n, c, t, q, v, u, work)
    assemble(n, SECOND, work)
    right_hand(n, t, q, v, u, SECOND, work)
    missed = solved(n, 6 * n[UNKNOWNS], enough, work)
    found_motions(n, SECOND, work, at(work, n[W_X]), vdot)
    found_multipliers(n, work, at(work, n[W_X]), lam)
    return missed


@loop
def forward(
    n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr
) -> None:  # fmt: skip
    """v̇, λ and what the rows miss."""
    nothing = at(work, n[W_TAU])
    for k in range(n[NV]):
        nothing[k] = 0.0
    lam = at(out, n[NV])
    out[n[NV] + n[NC]] = accelerations(n, c, t, q, v, u, nothing, ROUNDING, out, lam, work)


@loop
def rate(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """ξ̇, v̇ and what the rows miss, at q ⊞ ξ."""
    moved = at(work, n[W_Q])
    retract(n, c, t, q, v, u, x, moved, work)
    for i in range(n[BODIES] + n[KEPT]):
        node = at(n, n[O_NODES] + NODE * i)
        f = entry_at(at(n, n[E_RATE]), node[0])
        xi = at(x, node[3])
        f(t, at(q, node[2]), at(v, node[3]), u, u, xi, at(out, node[3]), at(work, n[W_KERNEL]))
    nothing = at(work, n[W_TAU])
    for k in range(n[NV]):
        nothing[k] = 0.0
    vdot = at(out, n[NV])
    lam = at(moved, n[NQ])
    out[2 * n[NV]] = accelerations(n, c, t, moved, v, u, nothing, STEPPED, vdot, lam, work)


@loop
def retract(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """q ⊞ ξ."""
    for i in range(n[BODIES] + n[KEPT]):
        node = at(n, n[O_NODES] + NODE * i)
        f = entry_at(at(n, n[E_RETRACT]), node[0])
        xi = at(x, node[3])
        f(t, at(q, node[2]), v, u, u, xi, at(out, node[2]), at(work, n[W_KERNEL]))


@loop
def closure(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """Φ, then Φ̇."""
    measure(n, c, t, q, v, u, work)
    left_over(n, PHI, work, out)
    left_over(n, RATE, work, at(out, n[NPHI]))


@loop
def correct(
    n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, level: i64, out: ptr, work: ptr
) -> None:
    """δ of least kinetic energy that takes away what is left over at a level, and its size."""
    measure(n, c, t, q, v, u, work)
    assemble(n, level, work)
    right_hand(n, t, q, v, u, level, work)
    solved(n, 6 * n[BODIES], CORRECTED, work)
    count = n[NPHI] if level == PHI else n[NC]
    rows = at(work, n[W_Q])
    left_over(n, level, work, rows)
    out[n[NV]] = largest_of(0, count, rows)
    found_motions(n, level, work, at(work, n[W_X]), out)


@loop
def correct_q(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """δ with G δ = −Φ, and the largest |Φ|."""
    correct(n, c, t, q, v, u, PHI, out, work)


@loop
def correct_v(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """δ with G (v + δ) = ν, and the largest |G v − ν|."""
    correct(n, c, t, q, v, u, RATE, out, work)


@loop
def energy(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """T = Σ ½ V · I V; U of gravity and loads."""
    measure(n, c, t, q, v, u, work)
    records = at(work, n[W_RECORDS])
    rise = at(c, n[C_GROUND] + 21)  # the ground accelerates upwards in place of gravity
    out[0] = 0.0
    out[1] = 0.0
    if n[TAUS] > 0:
        f = entry_at(at(n, n[E_REST]), REST_POTENTIAL)
        f(t, q, v, u, u, u, at(out, 1), at(work, n[W_KERNEL]))
    for i in range(n[BODIES]):
        state = at(records, (i + 1) * n[RECORD])
        V = at(state, 12)
        I = at(state, STATE)
        for a in range(6):
            for b in range(6):
                out[0] += 0.5 * V[a] * I[6 * a + b] * V[b]
        m = I[21]
        p = at(state, 9)
        # the block beside J is m c as a cross product: its entries 16, 5 and 9 are m c
        out[1] += rise[0] * (m * p[0] + I[16]) + rise[1] * (m * p[1] + I[5])
        out[1] += rise[2] * (m * p[2] + I[9])


@loop
def poses(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """R row by row and p of every body's frame."""
    measure(n, c, t, q, v, u, work)
    records = at(work, n[W_RECORDS])
    for b in range(n[POSES]):
        state = at(records, (n[n[O_POSES] + b] + 1) * n[RECORD])
        placed(state, at(c, n[C_POSES] + 12 * b), at(out, 12 * b))


@loop
def markers(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """R row by row and p of the marker in which each joint's reaction is told."""
    measure(n, c, t, q, v, u, work)
    marks(n, c, work, out)


@loop
def marks(n: iptr, c: ptr, work: ptr, out: ptr) -> None:
    """Poses of the successors' markers of closures, from the states of nodes."""
    records = at(work, n[W_RECORDS])
    for k in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * k)
        state = at(records, (row[2] + 1) * n[RECORD])
        placed(state, at(c, n[C_MARKERS] + 12 * k), at(out, 12 * k))


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
def reactions(
    n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr
) -> None:  # fmt: skip
    """The wrench of each joint on its successor, in M's axes at M, of v̇ and λ in x."""
    measure(n, c, t, q, v, u, work)
    records = at(work, n[W_RECORDS])
    frames = at(work, n[W_Q])
    for k in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * k)
        state = at(records, (row[2] + 1) * n[RECORD])
        placed(state, at(c, n[C_MARKERS] + 12 * k), frames)
        size = row[7] + row[8]
        wrench = at(frames, 12)
        for j in range(6):
            wrench[j] = 0.0
            for i in range(size):
                wrench[j] += x[n[NV] + row[9] + i] * records[row[4] + 6 * (size + i) + j]
        seen(frames, at(state, 9), wrench, at(out, 6 * k))


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
def motions(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr) -> None:
    """ω, v, ω̇, v̇ of free bodies in the ground's axes, of v̇ in x."""
    measure(n, c, t, q, v, u, work)
    records = at(work, n[W_RECORDS])
    rise = at(c, n[C_GROUND] + 21)
    for b in range(n[POSES]):
        i = n[n[O_POSES] + b]
        state = at(records, (i + 1) * n[RECORD])
        rates = at(x, n[n[O_NODES] + NODE * i + 3])
        row = at(out, 12 * b)
        for j in range(6):
            row[j] = state[12 + j]
            row[6 + j] = state[18 + j]
        for j in range(3):
            row[9 + j] -= rise[j]
            for k in range(3):
                row[6 + j] += state[3 * j + k] * rates[k]
                row[9 + j] += state[3 * j + k] * rates[3 + k]


ENTRIES = {
    "forward": forward, "rate": rate, "retract": retract, "closure": closure,
    "correct_q": correct_q, "correct_v": correct_v, "energy": energy, "poses": poses,
    "markers": markers, "reactions": reactions, "motions": motions,
}  # fmt: skip
"""Name -> loop."""
