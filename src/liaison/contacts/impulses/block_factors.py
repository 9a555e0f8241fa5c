"""Sparse systems of bodies in blocks of six: L U without exchange of bodies, and solutions.

Public names: factorize_bodies, solve_bodies.

Source: GVL13 §3.2.10 (block LU); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import System, Twist
from liaison.program.loops.language import i64, loop, ptr
from liaison.program.loops.records import Rows

SIDE = 6


@loop
def factorize_bodies(s: System) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors.

    Pivots are numbers, within blocks too: inverses of blocks would lose what inertia says, beside
    stiff contacts.

    Args:
        s: what `eliminate` made of it, and its matrix.
    """
    found = 0
    for turn in range(s.bodies):
        pivot = s.diagonal[s.order[turn]]
        if factorize_block(pivot) != 0:
            return 1
        first = s.first[turn]
        last = s.first[turn + 1]
        for p in range(first, last):
            divide_right(pivot, s.lower[p])
            divide_left(pivot, s.upper[p])
        for p in range(first, last):
            minus_product(s.lower[p], s.upper[p], s.diagonal[s.below[p]])
            for q in range(p + 1, last):
                there = s.target[found]
                found += 1
                minus_product(s.lower[q], s.upper[p], s.lower[there])
                minus_product(s.lower[p], s.upper[q], s.upper[there])
    return 0


@loop
def minus_product(x: ptr, y: ptr, out: ptr) -> None:
    """out −= x y."""
    for i in range(SIDE):
        row = out[6 * i :]
        a = row[0]
        b = row[1]
        c = row[2]
        d = row[3]
        e = row[4]
        f = row[5]
        for p in range(SIDE):
            t = x[6 * i + p]
            line = y[6 * p :]
            a -= t * line[0]
            b -= t * line[1]
            c -= t * line[2]
            d -= t * line[3]
            e -= t * line[4]
            f -= t * line[5]
        row[0] = a
        row[1] = b
        row[2] = c
        row[3] = d
        row[4] = e
        row[5] = f


@loop
def factorize_block(a: ptr) -> i64:
    """A block := its factors L U, L with ones on its diagonal; 1 where a pivot vanishes."""
    for p in range(SIDE):
        pivot = a[7 * p]
        if not (abs(pivot) > 1e-300):
            return 1
        for i in range(p + 1, SIDE):
            t = a[6 * i + p] / pivot
            a[6 * i + p] = t
            for j in range(p + 1, SIDE):
                a[6 * i + j] -= t * a[6 * p + j]
    return 0


@loop
def divide_right(pivot: ptr, x: ptr) -> None:
    """x := x U⁻¹."""
    for p in range(SIDE):
        size = 1.0 / pivot[7 * p]
        for i in range(SIDE):
            total = x[6 * i + p]
            for q in range(p):
                total -= x[6 * i + q] * pivot[6 * q + p]
            x[6 * i + p] = total * size


@loop
def divide_left(pivot: ptr, x: ptr) -> None:
    """x := L⁻¹ x."""
    for i in range(1, SIDE):
        for p in range(i):
            t = pivot[6 * i + p]
            for j in range(SIDE):
                x[6 * i + j] -= t * x[6 * p + j]


@loop
def solve_bodies(s: System, x: Rows[Twist]) -> None:
    """x := A⁻¹ x with the factors of `factorize_bodies`."""
    for turn in range(s.bodies):
        body = s.order[turn]
        own = x[body].floats
        forward(s.diagonal[body], own)
        for p in range(s.first[turn], s.first[turn + 1]):
            minus_applied(s.lower[p], own, x[s.below[p]].floats)
    for back in range(s.bodies):
        turn = s.bodies - 1 - back
        body = s.order[turn]
        own = x[body].floats
        for p in range(s.first[turn], s.first[turn + 1]):
            minus_applied(s.upper[p], x[s.below[p]].floats, own)
        backward(s.diagonal[body], own)


@loop
def minus_applied(block: ptr, x: ptr, out: ptr) -> None:
    """out −= block x."""
    for i in range(SIDE):
        row = block[6 * i :]
        total = out[i]
        for j in range(SIDE):
            total -= row[j] * x[j]
        out[i] = total


@loop
def forward(pivot: ptr, x: ptr) -> None:
    """x := L⁻¹ x of one body."""
    for i in range(1, SIDE):
        for p in range(i):
            x[i] -= pivot[6 * i + p] * x[p]


@loop
def backward(pivot: ptr, x: ptr) -> None:
    """x := U⁻¹ x of one body."""
    for back in range(SIDE):
        i = SIDE - 1 - back
        for p in range(i + 1, SIDE):
            x[i] -= pivot[6 * i + p] * x[p]
        x[i] = x[i] / pivot[7 * i]
