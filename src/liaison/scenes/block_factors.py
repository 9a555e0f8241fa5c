"""Sparse systems of bodies in blocks of six: L U without exchange of bodies, and solutions.

Public names: BLOCK, factorize_bodies, solve_bodies, factor_room.

Source: GVL13 §3.2.10 (block LU); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.program.loops import at, i64, iptr, loop, ptr

from .elimination import ORDER, ROWS, START, TARGET, block_room

BLOCK = 36
SIDE = 6


def factor_room(n: int) -> int:
    """Doubles of a matrix: blocks of the diagonal, those below it, those to the right of it."""
    return BLOCK * (n + 2 * block_room(n))


@loop
def factorize_bodies(n: i64, blocks: i64, s: iptr, a: ptr) -> i64:
    """A = L U in place, diagonal blocks inverted; 0 if done, 1 where a block has no inverse.

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
        if invert_block(pivot) != 0:
            return 1
        first = s[s[START] + turn]
        last = s[s[START] + turn + 1]
        for p in range(first, last):
            times_inverse(pivot, at(lower, BLOCK * p))
        for p in range(first, last):
            minus_product(at(lower, BLOCK * p), at(upper, BLOCK * p), at(a, BLOCK * rows[p]))
            for q in range(p + 1, last):
                there = target[found]
                found += 1
                minus_product(
                    at(lower, BLOCK * q), at(upper, BLOCK * p), at(lower, BLOCK * there)
                )
                minus_product(
                    at(lower, BLOCK * p), at(upper, BLOCK * q), at(upper, BLOCK * there)
                )
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
def times_inverse(inverse: ptr, x: ptr) -> None:
    """x := x inverse."""
    for i in range(SIDE):
        row = at(x, SIDE * i)
        a = 0.0
        b = 0.0
        c = 0.0
        d = 0.0
        e = 0.0
        f = 0.0
        for p in range(SIDE):
            t = row[p]
            line = at(inverse, SIDE * p)
            a += t * line[0]
            b += t * line[1]
            c += t * line[2]
            d += t * line[3]
            e += t * line[4]
            f += t * line[5]
        row[0] = a
        row[1] = b
        row[2] = c
        row[3] = d
        row[4] = e
        row[5] = f


@loop
def invert_block(a: ptr) -> i64:
    """A block := its inverse, by elimination without exchange; 1 where a pivot vanishes."""
    for p in range(SIDE):
        pivot = a[7 * p]
        if not (abs(pivot) > 1e-300):
            return 1
        pivot = 1.0 / pivot
        a[7 * p] = 1.0
        for j in range(SIDE):
            a[SIDE * p + j] = a[SIDE * p + j] * pivot
        for i in range(SIDE):
            if i != p:
                t = a[SIDE * i + p]
                a[SIDE * i + p] = 0.0
                for j in range(SIDE):
                    a[SIDE * i + j] -= t * a[SIDE * p + j]
    return 0


@loop
def solve_bodies(n: i64, blocks: i64, s: iptr, a: ptr, x: ptr) -> None:
    """x := A⁻¹ x with the factors of `factorize_bodies`."""
    lower = at(a, BLOCK * n)
    upper = at(lower, BLOCK * blocks)
    rows = at(s, s[ROWS])
    for turn in range(n):
        own = at(x, SIDE * s[s[ORDER] + turn])
        for p in range(s[s[START] + turn], s[s[START] + turn + 1]):
            minus_applied(at(lower, BLOCK * p), own, at(x, SIDE * rows[p]))
    for back in range(n):
        turn = n - 1 - back
        body = s[s[ORDER] + turn]
        own = at(x, SIDE * body)
        for p in range(s[s[START] + turn], s[s[START] + turn + 1]):
            minus_applied(at(upper, BLOCK * p), at(x, SIDE * rows[p]), own)
        applied(at(a, BLOCK * body), own)


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
def applied(block: ptr, x: ptr) -> None:
    """x := block x."""
    a = x[0]
    b = x[1]
    c = x[2]
    d = x[3]
    e = x[4]
    f = x[5]
    for i in range(SIDE):
        row = at(block, SIDE * i)
        x[i] = row[0] * a + row[1] * b + row[2] * c + row[3] * d + row[4] * e + row[5] * f
