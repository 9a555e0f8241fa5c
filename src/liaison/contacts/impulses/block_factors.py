"""Sparse systems of bodies in blocks of six: L U without exchange of bodies, and solutions.

The order in which bodies that touch are eliminated, and where what fills in goes.

Velocities of bodies hang together by contacts. The body with the fewest neighbors goes first; its
neighbors are neighbors of each other from then on. The table made here serves all factorizations of
one problem.

Public names: factorize_bodies, solve_bodies. Source: GVL13 §3.2.10 (block LU);
docs/theory/contact_solvers.md, eliminate. Source: GVL13 §11.1.9 (least degree).
"""

from __future__ import annotations

from liaison.contacts.scene.layout import PAIRS_A_BLOCK, Contact, System, Twist
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Rows


@loop
def eliminate(count: i64, contact: Rows[Contact], s: System) -> i64:
    """The order of an elimination, and where what fills in goes, into the system.

    Args:
        count: contacts.
        contact: whose bodies touch; the first is −1 where it is a plane.
        s: result; its matrix is left as it is.

    Returns:
        Blocks beside the diagonal; −1 if they are too many.
    """
    total = least_degree(count, contact, s)
    if total < 0:
        return -1
    for turn in range(s.bodies):
        sort_column(turn, s)
    if pairs(PAIRS_A_BLOCK * s.blocks, s) != 0:
        return -1
    between(count, contact, s)
    return total


@loop
def least_degree(count: i64, contact: Rows[Contact], s: System) -> i64:
    """The order of an elimination and what each column reaches; as `eliminate` returns."""
    blocks = s.blocks
    end = neighbors(count, contact, s)
    total = 0
    for i in range(s.bodies):
        s.place[i] = -1
    for turn in range(s.bodies):
        i = fewest(s)
        s.order[turn] = i
        s.place[i] = turn
        s.first[turn] = total
        size = s.degree[i]
        if total + size > blocks:
            return -1
        for j in range(size):
            s.below[total + j] = s.pool[s.head[i] + j]
        for j in range(size):
            end = join(i, s.below[total + j], end, PAIRS_A_BLOCK * blocks + 4 * count, s)
            if end < 0:
                return -1
        total += size
    s.first[s.bodies] = total
    return total


@loop
def neighbors(count: i64, contact: Rows[Contact], s: System) -> i64:
    """Lists of the bodies that each body touches, once each; where the lists end."""
    size = s.degree
    head = s.head
    pool = s.pool
    for i in range(s.bodies):
        size[i] = 0
        s.visit[i] = -1
    for c in range(count):
        if contact[c].body[0] >= 0:
            size[contact[c].body[0]] += 1
            size[contact[c].body[1]] += 1
    end = 0
    for i in range(s.bodies):
        head[i] = end
        end += size[i]
        size[i] = 0
    for c in range(count):
        one = contact[c].body[0]
        other = contact[c].body[1]
        if one >= 0 and listed(one, other, s) == 0:
            pool[head[one] + size[one]] = other
            pool[head[other] + size[other]] = one
            size[one] += 1
            size[other] += 1
    return end


@loop
def listed(one: i64, other: i64, s: System) -> i64:
    """1 if a body is already among the neighbors of another."""
    for j in range(s.degree[one]):
        if s.pool[s.head[one] + j] == other:
            return 1
    return 0


@loop
def fewest(s: System) -> i64:
    """The body with the fewest neighbors of those that are left."""
    best = -1
    for i in range(s.bodies):
        if s.place[i] < 0 and (best < 0 or s.degree[i] < s.degree[best]):
            best = i
    return best


@loop
def join(i: i64, j: i64, end: i64, room: i64, s: System) -> i64:
    """Neighbors of i become neighbors of j, and i leaves; the new end of the lists, −1: no room."""
    mark = s.visit
    pool = s.pool
    first = s.head[j]
    size = s.degree[j]
    # a mark is the number of the pair that set it, so that none need be taken away
    own = i * 1048576 + j
    mark[j] = own
    kept = 0
    for p in range(size):
        if pool[first + p] != i:
            mark[pool[first + p]] = own
            pool[first + kept] = pool[first + p]
            kept += 1
    missing = 0
    for p in range(s.degree[i]):
        missing += 1 if mark[pool[s.head[i] + p]] != own else 0
    s.degree[j] = kept + missing
    if missing == 0:
        return end
    if end + kept + missing > room:
        return -1
    for p in range(kept):
        pool[end + p] = pool[first + p]
    s.head[j] = end
    end += kept
    for p in range(s.degree[i]):
        other = pool[s.head[i] + p]
        if mark[other] != own:
            pool[end] = other
            end += 1
    return end


@loop
def sort_column(turn: i64, s: System) -> None:
    """The bodies of a column by their places."""
    place = s.place
    rows = s.below
    for j in range(s.first[turn] + 1, s.first[turn + 1]):
        body = rows[j]
        p = j - 1
        while p >= s.first[turn] and place[rows[p]] > place[body]:
            rows[p + 1] = rows[p]
            p -= 1
        rows[p + 1] = body


@loop
def pairs(room: i64, s: System) -> i64:
    """Which block each pair of blocks of a column changes; 1 if there is no room."""
    rows = s.below
    start = s.first
    slot = s.slot
    pair = 0
    for turn in range(s.bodies):
        for b in range(start[turn], start[turn + 1]):
            own = s.place[rows[b]]
            for j in range(start[own], start[own + 1]):
                slot[rows[j]] = j
            if pair + start[turn + 1] - b > room:
                return 1
            for a in range(b + 1, start[turn + 1]):
                s.target[pair] = slot[rows[a]]
                pair += 1
    return 0


@loop
def between(count: i64, contact: Rows[Contact], s: System) -> None:
    """The block of every two bodies that touch; −1 of a body and a plane."""
    rows = s.below
    for c in range(count):
        one = contact[c].body[0]
        other = contact[c].body[1]
        s.between[c] = -1
        if one >= 0:
            if s.place[one] > s.place[other]:
                one = contact[c].body[1]
                other = contact[c].body[0]
            turn = s.place[one]
            for j in range(s.first[turn], s.first[turn + 1]):
                if rows[j] == other:
                    s.between[c] = j


SIDE = 6


@loop
def factorize_bodies(s: System) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors.

    Pivots are numbers, within blocks too: inverses of blocks would lose what inertia says, beside
    stiff contacts.

    Args:
        s: what `eliminate` made of it, and its matrix.
    """
    pair = 0
    for turn in range(s.bodies):
        pivot = s.diagonal[s.order[turn]]
        if factorize_block(pivot) != 0:
            return 1
        first = s.first[turn]
        last = s.first[turn + 1]
        invert_pivots(pivot, s.inverse)
        for p in range(first, last):
            divide_right(pivot, s.inverse, s.lower[p])
            divide_left(pivot, s.upper[p])
        for p in range(first, last):
            minus_product(s.lower[p], s.upper[p], s.diagonal[s.below[p]])
            for q in range(p + 1, last):
                there = s.target[pair]
                pair += 1
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
def invert_pivots(pivot: ptr, inverse: ptr) -> None:
    """One over each pivot of a block."""
    for p in range(SIDE):
        inverse[p] = 1.0 / pivot[7 * p]


@loop
def divide_right(pivot: ptr, inverse: ptr, x: ptr) -> None:
    """x := x U⁻¹."""
    for i in range(SIDE):
        row = x[6 * i :]
        for p in range(SIDE):
            t = row[p] * inverse[p]
            row[p] = t
            for j in range(p + 1, SIDE):
                row[j] -= t * pivot[6 * p + j]


@loop
def divide_left(pivot: ptr, x: ptr) -> None:
    """x := L⁻¹ x."""
    for i in range(1, SIDE):
        for p in range(i):
            minus_row(pivot[6 * i + p], x[6 * p :], x[6 * i :])


@loop
def minus_row(t: f64, a: ptr, out: ptr) -> None:
    """out −= t a, six numbers each."""
    k = out[0] - t * a[0]
    m = out[1] - t * a[1]
    n = out[2] - t * a[2]
    p = out[3] - t * a[3]
    q = out[4] - t * a[4]
    r = out[5] - t * a[5]
    out[0] = k
    out[1] = m
    out[2] = n
    out[3] = p
    out[4] = q
    out[5] = r


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
