"""Blocks put together by loops over index tables: inertias, rows, what rows lend, right-hand sides.

Public names: over_closures, put_rows, put_bodies, lend, push, take_residual, found_motions.
"""

from __future__ import annotations

from .loops import at, entry_at, f64, i64, iptr, loop, ptr

ROW = 6  # columns of the table of rows: unknown, body, slot, offset, stride, turned
LENT = 6  # columns of the table of lenders: node, parent, slot, offset, rows, weights


@loop
def over_closures(
    count: i64, table: iptr, entries: iptr, size: i64, constants: ptr, records: ptr, work: ptr
) -> None:
    """Every closure's kernel on the states of its two nodes."""
    for c in range(count):
        row = at(table, 5 * c)
        f = entry_at(entries, row[0])
        first = at(records, (row[1] + 1) * size)
        second = at(records, (row[2] + 1) * size)
        given = at(constants, row[3])
        f(0.0, first, second, given, given, given, at(records, row[4]), work)


@loop
def put_bodies(n: i64, size: i64, inertia: i64, records: ptr, diagonal: ptr, x: ptr) -> None:
    """Inertias on the diagonal, −f on the right-hand side."""
    for i in range(n):
        record = at(records, (i + 1) * size + inertia)
        for k in range(36):
            diagonal[36 * i + k] = record[k]
        for k in range(6):
            x[6 * i + k] = -record[36 + k]


@loop
def put_rows(
    count: i64, table: iptr, sizes: iptr, records: ptr, weights: i64, size: i64, blocks: ptr,
    scale: ptr,
) -> None:  # fmt: skip
    """Rows on bodies, the way their blocks lie, and how far they move them."""
    for c in range(count):
        row = at(table, ROW * c)
        block = at(blocks, 36 * row[2])
        J = at(records, row[3])
        own = at(records, (row[1] + 1) * size + weights)
        turned = own[0] if own[0] > 0.0 else own[1]
        for i in range(sizes[row[0]]):
            for j in range(6):
                weight = turned if j < 3 else own[1]
                scale[6 * row[0] + i] += J[i * row[4] + j] * J[i * row[4] + j] / weight
                if row[5] > 0:
                    block[6 * j + i] = J[i * row[4] + j]
                else:
                    block[6 * i + j] = J[i * row[4] + j]


@loop
def lend(count: i64, table: iptr, records: ptr, diagonal: ptr, blocks: ptr) -> None:
    """J Λ Jᵀ to the bodies of rows that lend inertia; their γ is zero."""
    for c in range(count):
        row = at(table, LENT * c)
        weights = at(records, row[5])
        for k in range(row[4]):
            J = at(records, row[3] + 12 * k)
            size = J[3] * J[3] + J[4] * J[4] + J[5] * J[5]
            weight = weights[0] if size == 0.0 and weights[0] > 0.0 else weights[1]
            add_outer(weight, J, J, at(diagonal, 36 * row[0]))
            if row[1] >= 0:
                K = at(J, 6)
                add_outer(weight, K, K, at(diagonal, 36 * row[1]))
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
def take_residual(
    n: i64, size: i64, inertia: i64, count: i64, table: iptr, sizes: iptr, records: ptr, x: ptr,
    residual: ptr,
) -> None:  # fmt: skip
    """Takes I ΔA + Jᵀ y and J ΔA off the right-hand sides."""
    for i in range(n):
        block = at(records, (i + 1) * size + inertia)
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += block[6 * j + k] * x[6 * i + k]
            residual[6 * i + j] -= total
    for c in range(count):
        row = at(table, ROW * c)
        J = at(records, row[3])
        for i in range(sizes[row[0]]):
            total = 0.0
            for j in range(6):
                total += J[i * row[4] + j] * x[6 * row[1] + j]
                residual[6 * row[1] + j] -= J[i * row[4] + j] * x[6 * row[0] + i]
            residual[6 * row[0] + i] -= total


@loop
def push(n: i64, table: iptr, records: ptr, tau: ptr, x: ptr) -> None:
    """Zᵀ τ to both bodies of each joint; rows of the table: node, parent, offset, first v, nv."""
    for c in range(n):
        row = at(table, 5 * c)
        for k in range(row[4]):
            Z = at(records, row[2] + 12 * k)
            for j in range(6):
                x[6 * row[0] + j] += Z[j] * tau[row[3] + k]
                if row[1] >= 0:
                    x[6 * row[1] + j] += Z[6 + j] * tau[row[3] + k]


@loop
def found_motions(n: i64, table: iptr, records: ptr, x: ptr, vdot: ptr) -> None:
    """v̇ of each joint from the accelerations of its bodies."""
    for c in range(n):
        row = at(table, 5 * c)
        for k in range(row[4]):
            Z = at(records, row[2] + 12 * k)
            total = 0.0
            for j in range(6):
                total += Z[j] * x[6 * row[0] + j]
                if row[1] >= 0:
                    total += Z[6 + j] * x[6 * row[1] + j]
            vdot[row[3] + k] = total
