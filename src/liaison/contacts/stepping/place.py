"""Positions brought onto closures and out of penetration, by the shortest way in the metric of M.

    δᵀM δ least,   G δ = −Φ,   g + D δ = 0 where a contact stays closed, ≥ 0 elsewhere    (place-1)

repeated. Closed contacts are met together with the closures first, as far as they are independent;
what still penetrates is pushed out by a problem of complementarity.

Public names: place.

Source: docs/theory/time_stepping.md; HW2 §VII.2 (projection methods).
"""

from __future__ import annotations

from liaison.contacts.events.edges import EDGE
from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr
from liaison.simulation.steps.layout import (
    E_RETRACT,
    E_TERMS,
    GAP_TOLERANCE,
    GOOD,
    M_ACTIVE,
    M_MODE,
    M_SIDES,
    NB,
    NC,
    NOT_FINITE,
    NPHI,
    NQ,
    NR,
    NV,
    O_CONES,
    O_END,
    O_FREE,
    O_IMPULSE,
    O_P,
    O_ROWS,
    O_TERMS,
    O_U,
    PENETRATION,
)
from liaison.simulation.steps.sides_layout import CLOSED, FIELDS, GAP
from liaison.solvers.cones.cones import ONE_WAY, solve_cones
from liaison.solvers.linear.dense import dot

from .rows import delassus, free_motion, metric_of, one_sided, pushed, rows_in_metric

ROUNDS = 12
"""Corrections at most: they are Newton's, and two or three are enough as a rule."""

NEAR = 4.0
"""Gaps up to this many penetrations wide are guarded while others are pushed out."""


@loop
def place(e: iptr, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """q out of penetration, in place; notes the largest that is left."""
    end = at(w, n[O_END])
    deepest = 0.0
    for turn in range(ROUNDS):
        one_sided(e, t, q, v, end, w, n, scratch)
        deepest = penetration(w, n)
        off = 0.0 if turn > 1 else hovering(w, n)
        if not (max(deepest, off) > w[GAP_TOLERANCE]):
            break
        status = push_out(e, 1 if off > w[GAP_TOLERANCE] else 0, deepest, t, q, v, w, n, scratch)
        if status != GOOD:
            return status
    w[PENETRATION] = max(w[PENETRATION], deepest)
    return GOOD


@loop
def penetration(w: ptr, n: iptr) -> f64:
    """The deepest penetration of all gaps at the end."""
    found = 0.0
    for k in range(n[NB]):
        if n[n[M_SIDES] + FIELDS * k] == GAP:
            found = max(found, -w[n[O_END] + k])
    return found


@loop
def is_held(k: i64, w: ptr, n: iptr) -> i64:
    """1 if the block is a gap that stays closed under a force."""
    block = at(n, n[M_SIDES] + FIELDS * k)
    if block[0] != GAP or n[n[M_MODE] + k] != CLOSED or w[n[O_END] + k] > EDGE:
        return 0
    return 1 if w[n[O_IMPULSE] + block[1]] > 0.0 else 0


@loop
def hovering(w: ptr, n: iptr) -> f64:
    """The largest gap of the contacts that stay closed."""
    found = 0.0
    for k in range(n[NB]):
        if is_held(k, w, n) == 1:
            found = max(found, abs(w[n[O_END] + k]))
    return found


@loop
def push_out(
    e: iptr, holds: i64, deepest: f64, t: f64, q: ptr, v: ptr, w: ptr, n: iptr, scratch: ptr
) -> i64:
    """One correction of q: closed gaps to zero where `holds`, the others to what is allowed."""
    retract = entry_at(e, E_RETRACT)
    terms = entry_at(e, E_TERMS)
    nv = n[NV]
    delta = at(w, n[O_FREE])
    rest = at(delta, nv)
    moved = at(delta, 4 * nv)
    M = at(w, n[O_TERMS])
    held = at(w, n[O_ROWS] + n[NR] * nv)
    terms(t, q, v, at(w, n[O_U]), at(w, n[O_P]), q, M, scratch)
    rows = held_rows(holds, held, w, n)
    rank = metric_of(rows, M, held, w, n)
    if rank < 0:
        return NOT_FINITE
    for i in range(nv):
        rest[i] = 0.0
    free_motion(rows, rank, held, rest, at(held, (n[NPHI] + n[NB]) * nv), delta, w, n)
    rows_in_metric(rank, at(w, n[O_END] + n[NB] + 2 * n[NR]), w, n)
    add_guarded(holds, deepest, delta, rest, w, n)
    retract(t, q, v, at(w, n[O_U]), at(w, n[O_P]), delta, moved, scratch)
    for i in range(n[NQ]):
        q[i] = moved[i]
    return GOOD


@loop
def held_rows(holds: i64, held: ptr, w: ptr, n: iptr) -> i64:
    """Rows of closures and, where `holds`, of closed gaps, with what they ask; how many."""
    nv = n[NV]
    nphi = n[NPHI]
    G = at(w, n[O_TERMS] + nv * nv)
    phi = at(G, n[NC] * nv + nv + n[NC])
    right = at(held, (nphi + n[NB]) * nv)
    for i in range(nphi * nv):
        held[i] = G[i]
    for k in range(nphi):
        right[k] = -phi[k]
    rows = int(nphi)
    for k in range(n[NB]):
        block = at(n, n[M_SIDES] + FIELDS * k)
        if holds == 1 and is_held(k, w, n) == 1:
            D = at(w, n[O_END] + n[NB] + 2 * n[NR] + block[1] * nv)
            for i in range(nv):
                held[rows * nv + i] = D[i]
            right[rows] = -w[n[O_END] + k]
            rows += 1
    return rows


@loop
def add_guarded(holds: i64, deepest: f64, delta: ptr, rest: ptr, w: ptr, n: iptr) -> None:
    """Adds to δ what the gaps that are not held need in order not to be negative after it."""
    nv = n[NV]
    nb = n[NB]
    nr = n[NR]
    table = at(n, n[M_ACTIVE] + nb)
    chosen = at(n, n[M_ACTIVE] + 7 * nb)
    A = at(w, n[O_CONES])
    b = at(A, nr * nr)
    f = at(b, nr)
    limits = at(f, nr)
    m = 0
    for k in range(nb):
        block = at(n, n[M_SIDES] + FIELDS * k)
        gap = w[n[O_END] + k]
        if block[0] == GAP and (holds == 0 or is_held(k, w, n) == 0) and gap <= NEAR * deepest:
            chosen[m] = block[1]
            b[m] = gap + dot(nv, at(w, n[O_END] + nb + 2 * nr + block[1] * nv), delta)
            f[m] = 0.0
            table[4 * m] = ONE_WAY
            table[4 * m + 1] = m
            table[4 * m + 2] = 1
            table[4 * m + 3] = -1
            for j in range(3):
                limits[3 * m + j] = 0.0
            m += 1
    delassus(m, chosen, A, w, n)
    solve_cones(m, m, A, b, table, limits, f, at(limits, 3 * nb + nr))
    pushed(m, chosen, f, rest, w, n)
    for i in range(nv):
        delta[i] += rest[i]
