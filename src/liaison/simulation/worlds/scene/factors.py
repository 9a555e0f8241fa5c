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
    forward,
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
        bad = max(bad, factorize_pivot(me, pivot, s.inverse, w))
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
        while k < 2 * size * size:
            subtract(k // 2 // size, k // 2 % size, 3 * (k % 2), first, size, pair, s)
            k += w.lanes
        pair += size * (size - 1) // 2
        barrier()
    return 1 if most_of(bad, me, w) > 0.0 else 0


@loop
def factorize_pivot(me: i64, a: ptr, inverse: ptr, w: Block) -> f64:
    """A block := its factors L U, row by row, and one over its pivots; 1 where one vanishes."""
    bad = 0.0
    for p in range(SIDE):
        pivot = a[7 * p]
        if not (abs(pivot) > 1e-300):
            bad = 1.0
            pivot = 1.0
        i = p + 1 + me
        while i < SIDE:
            t = a[6 * i + p] / pivot
            a[6 * i + p] = t
            for j in range(p + 1, SIDE):
                a[6 * i + j] -= t * a[6 * p + j]
            i += w.lanes
        if me == w.lanes - 1:
            inverse[p] = 1.0 / pivot
        barrier()
    return bad


@loop
def subtract(a: i64, b: i64, row: i64, first: i64, size: i64, pair: i64, s: System) -> None:
    """Three rows of what two blocks of a column change: out −= L_b U_a."""
    x = s.lower[first + b]
    y = s.upper[first + a]
    if a == b:
        rows_product(x[6 * row :], y, s.diagonal[s.below[first + a], 6 * row :])
    elif a < b:
        there = s.target[pair + a * size - a * (a + 1) // 2 + b - a - 1]
        rows_product(x[6 * row :], y, s.lower[there, 6 * row :])
    else:
        there = s.target[pair + b * size - b * (b + 1) // 2 + a - b - 1]
        rows_product(x[6 * row :], y, s.upper[there, 6 * row :])


@loop
def rows_product(x: ptr, y: ptr, out: ptr) -> None:
    """out −= x y of three rows x and a block y, three columns at a time."""
    for half in range(2):
        o = out[3 * half :]
        a = o[0]
        b = o[1]
        c = o[2]
        d = o[6]
        e = o[7]
        f = o[8]
        g = o[12]
        h = o[13]
        k = o[14]
        for p in range(SIDE):
            line = y[6 * p + 3 * half :]
            q = line[0]
            r = line[1]
            s = line[2]
            t = x[p]
            a -= t * q
            b -= t * r
            c -= t * s
            t = x[6 + p]
            d -= t * q
            e -= t * r
            f -= t * s
            t = x[12 + p]
            g -= t * q
            h -= t * r
            k -= t * s
        o[0] = a
        o[1] = b
        o[2] = c
        o[6] = d
        o[7] = e
        o[8] = f
        o[12] = g
        o[13] = h
        o[14] = k


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
