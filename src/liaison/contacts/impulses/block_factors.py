"""Sparse systems of bodies in blocks of six: L U without exchange of bodies, and solutions.

Public names: BLOCK, factorize_bodies, solve_bodies, factor_room.

Source: GVL13 §3.2.10 (block LU); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops.language import at, i64, iptr, loop, ptr

from .elimination import ORDER, ROWS, START, TARGET, block_room

BLOCK = 36
SIDE = 6


def factor_room(n: int) -> int:
    """Doubles of a matrix: blocks of the diagonal, those below it, those to the right of it."""
    return BLOCK * (n + 2 * block_room(n))


@loop
def factorize_bodies(n: i64, blocks: i64, s: iptr, a: ptr) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors.

    Pivots are numbers, within blocks too: inverses of blocks would lose what inertia says, beside
    stiff contacts.

    Args:
        n: bodies.
        blocks: room for blocks, as in the table.
        s: the table of `eliminate`.
        a: n diagonal blocks by body, `blocks` blocks (later, sooner), as many (sooner, later).
    """
    lower = at(a, BLOCK * n)
    upper = at(lower, BLOCK * blocks)
    target = at(s, s[TARGET])
    rows = at(s, s[ROWS])
    found = 0
    for turn in range(n):
        pivot = at(a, BLOCK * s[s[ORDER] + turn])
        if factorize_block(pivot) != 0:
            return 1
        first = s[s[START] + turn]
        last = s[s[START] + turn + 1]
        for p in range(first, last):
            divide_right(pivot, at(lower, BLOCK * p))
            divide_left(pivot, at(upper, BLOCK * p))
        for p in range(first, last):
            minus_product(at(lower, BLOCK * p), at(upper, BLOCK * p), at(a, BLOCK * rows[p]))
            for q in range(p + 1, last):
                there = target[found]
                found += 1
                minus_product(at(lower, BLOCK * q), at(upper, BLOCK * p), at(lower, BLOCK * there))
                minus_product(at(lower, BLOCK * p), at(upper, BLOCK * q), at(upper, BLOCK * there))
    return 0


@loop
def minus_product(x: ptr, y: ptr, out: ptr) -> None:
    """out −= x y."""
    for i in range(SIDE):
        row = at(out, SIDE * i)
        a = row[0]
        b = row[1]
        c = row[2]
        d = row[3]
        e = row[4]
        f = row[5]
        for p in range(SIDE):
            t = x[SIDE * i + p]
            line = at(y, SIDE * p)
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
            t = a[SIDE * i + p] / pivot
            a[SIDE * i + p] = t
            for j in range(p + 1, SIDE):
                a[SIDE * i + j] -= t * a[SIDE * p + j]
    return 0


@loop
def divide_right(pivot: ptr, x: ptr) -> None:
    """x := x U⁻¹."""
    for p in range(SIDE):
        size = 1.0 / pivot[7 * p]
        for i in range(SIDE):
            total = x[SIDE * i + p]
            for q in range(p):
                total -= x[SIDE * i + q] * pivot[SIDE * q + p]
            x[SIDE * i + p] = total * size


@loop
def divide_left(pivot: ptr, x: ptr) -> None:
    """x := L⁻¹ x."""
    for i in range(1, SIDE):
        for p in range(i):
            t = pivot[SIDE * i + p]
            for j in range(SIDE):
                x[SIDE * i + j] -= t * x[SIDE * p + j]


@loop
def solve_bodies(n: i64, blocks: i64, s: iptr, a: ptr, x: ptr) -> None:
    """x := A⁻¹ x with the factors of `factorize_bodies`."""
    lower = at(a, BLOCK * n)
    upper = at(lower, BLOCK * blocks)
    rows = at(s, s[ROWS])
    for turn in range(n):
        body = s[s[ORDER] + turn]
        own = at(x, SIDE * body)
        forward(at(a, BLOCK * body), own)
        for p in range(s[s[START] + turn], s[s[START] + turn + 1]):
            minus_applied(at(lower, BLOCK * p), own, at(x, SIDE * rows[p]))
    for back in range(n):
        turn = n - 1 - back
        body = s[s[ORDER] + turn]
        own = at(x, SIDE * body)
        for p in range(s[s[START] + turn], s[s[START] + turn + 1]):
            minus_applied(at(upper, BLOCK * p), at(x, SIDE * rows[p]), own)
        backward(at(a, BLOCK * body), own)


@loop
def minus_applied(block: ptr, x: ptr, out: ptr) -> None:
    """out −= block x."""
    for i in range(SIDE):
        row = at(block, SIDE * i)
        total = out[i]
        for j in range(SIDE):
            total -= row[j] * x[j]
        out[i] = total


@loop
def forward(pivot: ptr, x: ptr) -> None:
    """x := L⁻¹ x of one body."""
    for i in range(1, SIDE):
        for p in range(i):
            x[i] -= pivot[SIDE * i + p] * x[p]


@loop
def backward(pivot: ptr, x: ptr) -> None:
    """x := U⁻¹ x of one body."""
    for back in range(SIDE):
        i = SIDE - 1 - back
        for p in range(i + 1, SIDE):
            x[i] -= pivot[SIDE * i + p] * x[p]
        x[i] = x[i] / pivot[7 * i]
