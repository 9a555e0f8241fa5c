"""What a step did to each block: impacts, gaps that close or open, friction that sticks or slips.

Public names: has_room, note_modes.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import (
    EVENT_CAPACITY,
    FULL,
    GOOD,
    HAPPENED,
    M_ACTIVE,
    M_MODE,
    M_SIDES,
    NB,
    NE,
    NQ,
    NR,
    NV,
    O_CONES,
    O_IMPULSE,
    O_MID,
    O_Q,
    O_SIDES,
    O_V,
    O_Y,
    H,
    T,
)
from liaison.simulation.steps.sides_layout import (
    CLOSED,
    CLOSES,
    CODES,
    ENTERS,
    FIELDS,
    GAP,
    IMPACTS,
    LEAVES,
    OPEN,
    OPENS,
    RATE,
    RESTS,
    SLIP,
    SLIPS,
    STICK,
    STICKS,
)
from liaison.solvers.linear.dense import dot, largest

STILL = 1e-10
"""A slip slower than this, beside 1 + |v|, is none."""


@loop
def has_room(n: iptr) -> i64:
    """GOOD, or FULL where the events of one more step may not fit."""
    return GOOD if n[HAPPENED] + 4 * n[NB] <= n[EVENT_CAPACITY] else FULL


@loop
def note_modes(w: ptr, n: iptr, happened: ptr) -> None:
    """The mode of every block after the step, and an event for each that changed."""
    nb = n[NB]
    modes = at(n, n[M_MODE])
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        was = modes[k]
        if block[0] == GAP:
            modes[k] = gap_mode(k, was, w, n, happened)
        elif block[0] == RATE:
            modes[k] = CLOSED if w[n[O_IMPULSE] + block[1]] > 0.0 else OPEN
            if modes[k] != was:
                note(ENTERS if modes[k] == CLOSED else LEAVES, k, w[T], w, n, happened)
        else:
            modes[k] = friction_mode(k, w, n)
            if modes[k] != was and modes[k] != OPEN:
                t = w[T] if was != OPEN or block[3] < 0 else w[T] + wait_for(block[3], w, n)
                note(STICKS if modes[k] == STICK else SLIPS, k, t, w, n, happened)


@loop
def wait_for(k: i64, w: ptr, n: iptr) -> f64:
    """Time from the beginning of the step until a gap that closes is closed."""
    u = w[n[O_SIDES] + n[NB] + n[n[M_SIDES] + FIELDS * k + 1]]
    return float(min(max(w[n[O_SIDES] + k], 0.0) / -u, w[H]) if u < 0.0 else 0.0)


@loop
def gap_mode(k: i64, was: i64, w: ptr, n: iptr, happened: ptr) -> i64:
    """OPEN or CLOSED, and what led there."""
    block = at(n, n[M_SIDES] + FIELDS * k)
    nb = n[NB]
    impulse = w[n[O_IMPULSE] + block[1]]
    u = w[n[O_SIDES] + nb + block[1]]
    e = w[n[O_MID] + nb + 2 * n[NR] + n[NR] * n[NV] + 8 * k]
    hits = n[n[M_MODE] + nb + k] if impulse > 0.0 and n[n[M_ACTIVE] + k] == 1 else 0
    wait = wait_for(k, w, n)
    if hits == 1:
        note(IMPACTS, k, w[T] + wait, w, n, happened)
    now = OPEN
    if n[n[M_ACTIVE] + k] == 1 and (hits == 0 or e <= 0.0):
        now = CLOSED if was == CLOSED or impulse > 0.0 else OPEN
    if now == CLOSED and was == OPEN:
        if hits == 0 and e > 0.0 and u < 0.0:
            note(RESTS, k, w[T] + wait, w, n, happened)
        note(CLOSES, k, w[T] + wait, w, n, happened)
    if now == OPEN and was == CLOSED:
        note(OPENS, k, w[T], w, n, happened)
    return now


@loop
def friction_mode(k: i64, w: ptr, n: iptr) -> i64:
    """OPEN without load, STICK inside the bound or without slip, else SLIP."""
    nb = n[NB]
    nr = n[NR]
    block = at(n, n[M_SIDES] + FIELDS * k)
    if n[n[M_ACTIVE] + k] == 0 or (block[3] >= 0 and n[n[M_MODE] + block[3]] == OPEN):
        return OPEN
    chosen = at(n, n[M_ACTIVE] + 7 * nb)
    first = n[n[M_ACTIVE] + nb + 4 * n[n[M_ACTIVE] + 5 * nb + k] + 1]
    m = chosen[nr]
    A = at(w, n[O_CONES])
    b = at(A, nr * nr)
    P = at(b, nr)
    slip = 0.0
    for i in range(first, first + block[2]):
        u = b[i] + dot(m, at(A, i * m), P)
        slip += u * u
    return STICK if sqrt(slip) <= STILL * (1.0 + largest(n[NV], at(w, n[O_V]))) else SLIP


@loop
def note(what: i64, k: i64, t: f64, w: ptr, n: iptr, happened: ptr) -> None:
    """One event: number, time, positions before, velocities after."""
    nq = n[NQ]
    nv = n[NV]
    row = at(happened, n[HAPPENED] * (2 + nq + nv))
    row[0] = float(n[NE] + CODES * k + what)
    row[1] = t
    for i in range(nq):
        row[2 + i] = w[n[O_Q] + i]
    for i in range(nv):
        row[2 + nq + i] = w[n[O_Y] + nv + i]
    n[HAPPENED] += 1
