"""Right-hand sides of the blocks, and what their solution says of velocities and multipliers.

Every loop takes the arrays `n` and `c` of block_layout.py and the work space.

Public names: right_hand, found_motions, found_multipliers, left_over.
"""

from __future__ import annotations

from liaison.equations.sweeps.blocks import STATE
from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr

from .block_layout import (
    BODIES,
    CLOSED,
    CLOSED_TABLE,
    E_REST,
    JOINT,
    O_CLOSED,
    O_JOINTS,
    O_RELATIONS,
    O_TAUS,
    O_TERMS,
    PHI,
    RECORD,
    RELATION,
    RELATIONS,
    REST_TAU,
    SECOND,
    TAUS,
    TERM,
    UNKNOWNS,
    W_GIVEN,
    W_KERNEL,
    W_RECORDS,
    W_RELATIONS,
    W_TAU,
    W_TAUS,
)


@loop
def right_hand(n: iptr, t: f64, q: ptr, v: ptr, u: ptr, level: i64, work: ptr) -> None:
    """Right-hand sides at a level: forces and γ, or only what is left over of Φ or Φ̇."""
    records = at(work, n[W_RECORDS])
    given = at(work, n[W_GIVEN])
    for k in range(6 * n[UNKNOWNS]):
        given[k] = 0.0
    if level == SECOND:
        for i in range(n[BODIES]):
            force = at(records, (i + 1) * n[RECORD] + STATE + 36)
            for k in range(6):
                given[6 * i + k] = -force[k]
        efforts(n, t, q, v, u, work)
        push(n, records, at(work, n[W_TAU]), given)
    unknown = n[UNKNOWNS] - n[RELATIONS] - n[CLOSED_TABLE]
    for c in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * c)
        size = row[7] + row[8]
        left = at(records, row[4] + 12 * size + level * size)
        for i in range(row[7]):
            given[6 * (unknown + c) + i] = -left[i]
    left_over_of_relations(n, level, work, given)


@loop
def left_over_of_relations(n: iptr, level: i64, work: ptr, given: ptr) -> None:
    """−Φ of relations, at a level, less what the ties of their velocities leave over."""
    found = at(work, n[W_RELATIONS])
    records = at(work, n[W_RECORDS])
    first = n[UNKNOWNS] - n[RELATIONS]
    k = 0
    for e in range(n[RELATIONS]):
        relation = at(n, n[O_RELATIONS] + RELATION * e)
        total = -found[level * n[RELATIONS] + e]
        for _ in range(relation[1]):
            term = at(n, n[O_TERMS] + TERM * k)
            if term[5] >= 0:
                total -= found[term[0]] * records[term[5] + level * term[6]]
            k += 1
        asks = 0.0 if level == PHI and relation[3] == 0 else 1.0
        given[6 * (first + e)] = asks * total


@loop
def efforts(n: iptr, t: f64, q: ptr, v: ptr, u: ptr, work: ptr) -> None:
    """τ of all loads on every velocity, added to what lies there."""
    tau = at(work, n[W_TAU])
    if n[TAUS] > 0:
        found = at(work, n[W_TAUS])
        f = entry_at(at(n, n[E_REST]), REST_TAU)
        f(t, q, v, u, u, u, found, at(work, n[W_KERNEL]))
        for k in range(n[TAUS]):
            tau[n[n[O_TAUS] + k]] += found[k]


@loop
def push(n: iptr, records: ptr, tau: ptr, x: ptr) -> None:
    """Zᵀ τ to both bodies of each joint of the tree, Jᵀ τ of ties to those of joints cut."""
    for c in range(n[BODIES]):
        row = at(n, n[O_JOINTS] + JOINT * c)
        for k in range(row[4]):
            Z = at(records, row[2] + 12 * k)
            effort = tau[row[3] + k]
            if effort != 0.0:
                for j in range(6):
                    x[6 * row[0] + j] += Z[j] * effort
                    if row[1] >= 0:
                        x[6 * row[1] + j] += Z[6 + j] * effort
    for c in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * c)
        size = row[7] + row[8]
        for k in range(row[8]):
            effort = tau[row[6] + k]
            for half in range(2):
                J = at(records, row[4] + 6 * (half * size + row[7] + k))
                if row[1 + half] >= 0:
                    for j in range(6):
                        x[6 * row[1 + half] + j] += J[j] * effort


@loop
def found_motions(n: iptr, level: i64, work: ptr, x: ptr, vdot: ptr) -> None:
    """v̇ (or δ) of each joint from the accelerations of its bodies, of ties likewise."""
    records = at(work, n[W_RECORDS])
    for c in range(n[BODIES]):
        row = at(n, n[O_JOINTS] + JOINT * c)
        for k in range(row[4]):
            Z = at(records, row[2] + 12 * k)
            total = 0.0
            for j in range(6):
                total += Z[j] * x[6 * row[0] + j]
                if row[1] >= 0:
                    total += Z[6 + j] * x[6 * row[1] + j]
            vdot[row[3] + k] = total
    for c in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * c)
        size = row[7] + row[8]
        for k in range(row[8]):
            total = records[row[4] + (12 + level) * size + row[7] + k]
            for half in range(2):
                J = at(records, row[4] + 6 * (half * size + row[7] + k))
                if row[1 + half] >= 0:
                    for j in range(6):
                        total += J[j] * x[6 * row[1 + half] + j]
            vdot[row[6] + k] = total


@loop
def found_multipliers(n: iptr, work: ptr, x: ptr, lam: ptr) -> None:
    """λ of every row: −y of those in the blocks; of ties what acts along their velocity."""
    unknown = n[UNKNOWNS] - n[RELATIONS] - n[CLOSED_TABLE]
    tau = at(work, n[W_TAU])
    for c in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * c)
        for i in range(row[7]):
            lam[row[9] + i] = -x[6 * (unknown + c) + i]
        for k in range(row[8]):
            lam[row[9] + row[7] + k] = tau[row[6] + k]
    found = at(work, n[W_RELATIONS])
    k = 0
    for e in range(n[RELATIONS]):
        relation = at(n, n[O_RELATIONS] + RELATION * e)
        lam[relation[2]] = -x[6 * relation[0]]
        for _ in range(relation[1]):
            term = at(n, n[O_TERMS] + TERM * k)
            if term[7] >= 0:
                lam[term[7]] += found[term[0]] * lam[relation[2]]
            k += 1


@loop
def left_over(n: iptr, level: i64, work: ptr, out: ptr) -> None:
    """What is left over of every row at a level, in the order of the multipliers."""
    records = at(work, n[W_RECORDS])
    for c in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * c)
        size = row[7] + row[8]
        for i in range(size):
            out[row[9] + i] = records[row[4] + (12 + level) * size + i]
    found = at(work, n[W_RELATIONS])
    for e in range(n[RELATIONS]):
        relation = at(n, n[O_RELATIONS] + RELATION * e)
        if level != PHI or relation[3] == 1:
            out[relation[2]] = found[level * n[RELATIONS] + e]
