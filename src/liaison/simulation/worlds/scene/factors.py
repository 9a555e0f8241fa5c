"""Sparse systems of the bodies of a world in blocks of six, by the threads of a block together.

The order of elimination and what fills in are those of `contacts/impulses/block_factors.py`; blocks
of a column, and what they change, go by rows.

Public names: add_contacts, factorized, solve_system.

Source: GVL13 §3.2.10 (block LU); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.block_factors import (
    SIDE,
    backward,
    factorize_block,
    forward,
    invert_pivots,
)
from liaison.contacts.impulses.interior import add_contact
from liaison.contacts.scene.layout import Island, System, Twist
from liaison.program.loops.language import f64, flat, i64, loop, ptr
from liaison.program.loops.records import Rows

from .layout import COLORS, Block, barrier, most_of


@loop
def add_contacts(me: i64, damping: f64, w: Block, island: Island) -> None:
    """The matrix of (interior-3)."""
    s = System(island.system)
    k = me
    while k < 36 * w.bodies:
        flat(s.diagonal)[k] = 0.0
        k += w.lanes
    k = me
    while k < 36 * s.first[w.bodies]:
        flat(s.lower)[k] = 0.0
        flat(s.upper)[k] = 0.0
        k += w.lanes
    barrier()
    i = me
    while i < w.bodies:
        for j in range(3):
            if w.general == 1:
                for a in range(3):
                    s.diagonal[i, 6 * j + a] = (1.0 + damping) * island.body[i].inertia[j, a]
            else:
                inertia = w.scale[i] * w.scale[i] / w.quick[i]
                s.diagonal[i, 7 * j] = (1.0 + damping) * inertia
            s.diagonal[i, 7 * (3 + j)] = (1.0 + damping) * w.mass[i]
        i += w.lanes
    barrier()
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1:
                add_contact(k, s, island)
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def factorized(me: i64, s: System, w: Block) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors."""
    pair = 0
    bad = 0.0
    for turn in range(w.bodies):
        pivot = s.diagonal[s.order[turn]]
        if me == 0:
            if factorize_block(pivot) != 0:
                bad = 1.0
            invert_pivots(pivot, s.inverse)
        barrier()
        first = s.first[turn]
        size = s.first[turn + 1] - first
        k = me
        while k < 12 * size:
            if k < 6 * size:
                divide_row(pivot, s.inverse, s.lower[first + k // 6, 6 * (k % 6) :])
            else:
                divide_column(pivot, s.upper[first + k // 6 - size], k % 6)
            k += w.lanes
        barrier()
        k = me
        while k < 6 * size * size:
            subtract(k // 6 // size, k // 6 % size, k % 6, first, size, pair, s)
            k += w.lanes
        pair += size * (size - 1) // 2
        barrier()
    return 1 if most_of(bad, me, w) > 0.0 else 0


@loop
def subtract(a: i64, b: i64, row: i64, first: i64, size: i64, pair: i64, s: System) -> None:
    """A row of what two blocks of a column change: out −= L_b U_a."""
    x = s.lower[first + b]
    y = s.upper[first + a]
    if a == b:
        row_product(x[6 * row :], y, s.diagonal[s.below[first + a], 6 * row :])
    elif a < b:
        there = s.target[pair + a * size - a * (a + 1) // 2 + b - a - 1]
        row_product(x[6 * row :], y, s.lower[there, 6 * row :])
    else:
        there = s.target[pair + b * size - b * (b + 1) // 2 + a - b - 1]
        row_product(x[6 * row :], y, s.upper[there, 6 * row :])


@loop
def row_product(x: ptr, y: ptr, out: ptr) -> None:
    """out −= x y of a row x and a block y."""
    a = out[0]
    b = out[1]
    c = out[2]
    d = out[3]
    e = out[4]
    f = out[5]
    for p in range(SIDE):
        t = x[p]
        line = y[6 * p :]
        a -= t * line[0]
        b -= t * line[1]
        c -= t * line[2]
        d -= t * line[3]
        e -= t * line[4]
        f -= t * line[5]
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = e
    out[5] = f


@loop
def divide_row(pivot: ptr, inverse: ptr, row: ptr) -> None:
    """row := row U⁻¹."""
    for p in range(SIDE):
        t = row[p] * inverse[p]
        row[p] = t
        for j in range(p + 1, SIDE):
            row[j] -= t * pivot[6 * p + j]


@loop
def divide_column(pivot: ptr, x: ptr, j: i64) -> None:
    """A column of a block := L⁻¹ of it."""
    for i in range(1, SIDE):
        for p in range(i):
            x[6 * i + j] -= pivot[6 * i + p] * x[6 * p + j]


@loop
def solve_system(me: i64, s: System, x: Rows[Twist], w: Block) -> None:
    """x := A⁻¹ x with the factors of `factorized`."""
    for turn in range(w.bodies):
        body = s.order[turn]
        own = x[body].floats
        if me == 0:
            forward(s.diagonal[body], own)
        barrier()
        first = s.first[turn]
        k = me
        while k < 6 * (s.first[turn + 1] - first):
            p = first + k // 6
            x[s.below[p]].floats[k % 6] -= applied(s.lower[p], k % 6, own)
            k += w.lanes
        barrier()
    for back in range(w.bodies):
        turn = w.bodies - 1 - back
        body = s.order[turn]
        own = x[body].floats
        r = me
        while r < SIDE:
            total = own[r]
            for p in range(s.first[turn], s.first[turn + 1]):
                total -= applied(s.upper[p], r, x[s.below[p]].floats)
            own[r] = total
            r += w.lanes
        barrier()
        if me == 0:
            backward(s.diagonal[body], own)
        barrier()


@loop
def applied(block: ptr, row: i64, x: ptr) -> f64:
    """A row of a block times x."""
    total = 0.0
    for j in range(SIDE):
        total += block[6 * row + j] * x[j]
    return total
