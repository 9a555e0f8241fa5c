"""Blocks put together by loops over index tables: inertias, rows, what rows lend to bodies.

Every loop takes the arrays `n` and `c` of block_layout.py and the work space.

Public names: measure, assemble, take_residual, lend_right.
"""

from __future__ import annotations

from liaison.equations.sweeps.blocks import FOUND, STATE
from liaison.program.loops.language import at, entry_at, f64, i64, iptr, loop, ptr

from .block_layout import (
    BODIES,
    C_ENDS,
    C_GROUND,
    C_NODES,
    CLOSED,
    CLOSED_TABLE,
    E_ENDS,
    E_NODES,
    E_REST,
    LENT,
    LENT_TABLE,
    O_CLOSED,
    O_LENT,
    O_NODES,
    O_RELATIONS,
    O_ROWS,
    O_SIZES,
    O_TERMS,
    PHI,
    RECORD,
    RELATION,
    RELATIONS,
    REST_ROWS,
    ROW,
    ROW_TABLE,
    SLOTS,
    TERM,
    TERMS,
    UNKNOWNS,
    W_BLOCKS,
    W_DIAGONAL,
    W_KERNEL,
    W_RECORDS,
    W_RELATIONS,
    W_SCALE,
)

NODE = 6  # columns of the table of nodes: class, parent, q, v, constants, nv


@loop
def measure(n: iptr, c: ptr, t: f64, q: ptr, v: ptr, u: ptr, work: ptr) -> None:
    """States, inertias and rows of all bodies and closures; relations where there are any."""
    records = at(work, n[W_RECORDS])
    size = n[RECORD]
    scratch = at(work, n[W_KERNEL])
    for k in range(STATE):
        records[k] = c[n[C_GROUND] + k]
    for i in range(n[BODIES]):
        node = at(n, n[O_NODES] + NODE * i)
        f = entry_at(at(n, n[E_NODES]), node[0])
        record = at(records, (i + 1) * size)
        parent = at(records, (node[1] + 1) * size)
        f(0.0, at(q, node[2]), at(v, node[3]), record, at(c, n[C_NODES] + node[4]), parent, record,
          scratch)  # fmt: skip
    for k in range(n[CLOSED_TABLE]):
        row = at(n, n[O_CLOSED] + CLOSED * k)
        if row[7] + row[8] > 0:  # a joint that holds nothing computes nothing
            g = entry_at(at(n, n[E_ENDS]), row[0])
            first = at(records, (row[1] + 1) * size)
            second = at(records, (row[2] + 1) * size)
            given = at(c, n[C_ENDS] + row[3])
            result = at(records, row[4])
            g(0.0, first, second, given, at(q, row[5]), at(v, row[6]), result, scratch)
    if n[RELATIONS] > 0:
        f = entry_at(at(n, n[E_REST]), REST_ROWS)
        f(t, q, v, u, u, u, at(work, n[W_RELATIONS]), scratch)


@loop
def assemble(n: iptr, level: i64, work: ptr) -> None:
    """The blocks of (blocks-1) at a level; relations of speeds ask nothing of positions."""
    records = at(work, n[W_RECORDS])
    diagonal = at(work, n[W_DIAGONAL])
    blocks = at(work, n[W_BLOCKS])
    scale = at(work, n[W_SCALE])
    for k in range(36 * n[UNKNOWNS]):
        diagonal[k] = 0.0
    for k in range(36 * n[SLOTS]):
        blocks[k] = 0.0
    for k in range(6 * n[UNKNOWNS]):
        scale[k] = 0.0
    for i in range(n[BODIES]):
        inertia = at(records, (i + 1) * n[RECORD] + STATE)
        for k in range(36):
            diagonal[36 * i + k] = inertia[k]
    put_relations(n, level, work)
    put_rows(n, records, blocks, scale)
    lend(n, records, scale, diagonal, blocks)


@loop
def put_relations(n: iptr, level: i64, work: ptr) -> None:
    """J of relations on bodies, from their rows on velocities."""
    records = at(work, n[W_RECORDS])
    found = at(work, n[W_RELATIONS])
    for pass_ in range(2):
        for k in range(n[TERMS]):
            term = at(n, n[O_TERMS] + TERM * k)
            for half in range(2):
                if term[3 + half] >= 0:
                    source = at(records, term[1 + half])
                    target = at(records, term[3 + half])
                    for j in range(6):
                        if pass_ == 0:
                            target[j] = 0.0
                        else:
                            target[j] += found[term[0]] * source[j]
    if level == PHI:
        for k in range(n[ROW_TABLE]):
            row = at(n, n[O_ROWS] + ROW * k)
            e = relation_at(n, row[0])
            if e >= 0:
                relation = at(n, n[O_RELATIONS] + RELATION * e)
                if relation[3] == 0:
                    for j in range(6):
                        records[row[3] + j] = 0.0


@loop
def relation_at(n: iptr, unknown: i64) -> i64:
    """Which relation an unknown is of; −1 of none. They are the last unknowns."""
    e = unknown - (n[UNKNOWNS] - n[RELATIONS])
    return e if e >= 0 else -1


@loop
def put_rows(n: iptr, records: ptr, blocks: ptr, scale: ptr) -> None:
    """Rows on bodies, the way their blocks lie, and how far they move them."""
    sizes = at(n, n[O_SIZES])
    for c in range(n[ROW_TABLE]):
        row = at(n, n[O_ROWS] + ROW * c)
        block = at(blocks, 36 * row[2])
        J = at(records, row[3])
        own = at(records, (row[1] + 1) * n[RECORD] + FOUND - 2)
        turned = own[0] if own[0] > 0.0 else own[1]
        for i in range(sizes[row[0]]):
            for j in range(6):
                weight = turned if j < 3 else own[1]
                scale[6 * row[0] + i] += J[i * row[4] + j] * J[i * row[4] + j] / weight
                if row[5] > 0:
                    block[6 * j + i] = J[i * row[4] + j]
                else:
                    block[6 * i + j] = J[i * row[4] + j]
    for k in range(6 * (n[UNKNOWNS] - n[RELATIONS]), 6 * n[UNKNOWNS], 6):
        if scale[k] == 0.0:
            scale[k] = 1.0


@loop
def lend(n: iptr, records: ptr, scale: ptr, diagonal: ptr, blocks: ptr) -> None:
    """J Λ Jᵀ to the bodies of rows that lend inertia, Λ = 1/s."""
    for c in range(n[LENT_TABLE]):
        row = at(n, n[O_LENT] + LENT * c)
        for k in range(row[6]):
            J = at(records, row[3] + row[5] * k)
            K = at(records, row[4] + row[5] * k)
            weight = 1.0 / scale[6 * row[7] + k]
            if row[0] >= 0:
                add_outer(weight, J, J, at(diagonal, 36 * row[0]))
            if row[1] >= 0:
                add_outer(weight, K, K, at(diagonal, 36 * row[1]))
            if row[0] >= 0 and row[1] >= 0:
                if row[2] >= 0:
                    add_outer(weight, J, K, at(blocks, 36 * row[2]))
                else:
                    add_outer(weight, K, J, at(blocks, 36 * (-1 - row[2])))


@loop
def add_outer(weight: f64, left: ptr, right: ptr, target: ptr) -> None:
    """target += w a bᵀ."""
    for i in range(6):
        for j in range(6):
            target[6 * i + j] += weight * left[i] * right[j]


@loop
def lend_right(n: iptr, work: ptr, x: ptr) -> None:
    """Jᵀ Λ r of rows that lend: what (I + J Λ Jᵀ) ΔA has more on its right than I ΔA."""
    records = at(work, n[W_RECORDS])
    scale = at(work, n[W_SCALE])
    for c in range(n[LENT_TABLE]):
        row = at(n, n[O_LENT] + LENT * c)
        for k in range(row[6]):
            push = x[6 * row[7] + k] / scale[6 * row[7] + k]
            for half in range(2):
                if row[half] >= 0:
                    J = at(records, row[3 + half] + row[5] * k)
                    for j in range(6):
                        x[6 * row[half] + j] += push * J[j]


@loop
def take_residual(n: iptr, work: ptr, x: ptr, residual: ptr) -> None:
    """Takes I ΔA + Jᵀ y and J ΔA off the right-hand sides."""
    records = at(work, n[W_RECORDS])
    sizes = at(n, n[O_SIZES])
    for i in range(n[BODIES]):
        block = at(records, (i + 1) * n[RECORD] + STATE)
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += block[6 * j + k] * x[6 * i + k]
            residual[6 * i + j] -= total
    for c in range(n[ROW_TABLE]):
        row = at(n, n[O_ROWS] + ROW * c)
        J = at(records, row[3])
        for i in range(sizes[row[0]]):
            total = 0.0
            for j in range(6):
                total += J[i * row[4] + j] * x[6 * row[1] + j]
                residual[6 * row[1] + j] -= J[i * row[4] + j] * x[6 * row[0] + i]
            residual[6 * row[0] + i] -= total
