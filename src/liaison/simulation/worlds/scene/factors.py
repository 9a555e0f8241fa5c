"""Sparse systems of the bodies of a world in blocks of six, by the threads of a block together.

The body with the fewest neighbors goes first, as in `contacts/impulses/block_factors.py`; its
neighbors are neighbors of each other from then on. Bodies that a body touches are bits of words, so
that threads join them by a few operations each. Blocks of a column, and what they change, go by
rows.

Public names: elimination, add_contacts, factorized, solve_system.

Source: GVL13 §3.2.10 (block LU), §11.1.9 (least degree); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.block_factors import SIDE
from liaison.contacts.impulses.interior import add_contact
from liaison.contacts.scene.layout import PAIRS_A_BLOCK, Island, System, Twist
from liaison.program.loops.language import f64, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Rows

from .layout import BITS, COLORS, Block, barrier, most_of

FAR = 4096
"""More than there are bodies."""


@loop
def elimination(me: i64, w: Block, island: Island) -> i64:
    """The order and the blocks of the system of an island; −1 where there is no room for them."""
    s = System(island.system)
    s.bodies = w.bodies
    find_links(me, w)
    i = me
    while i < w.bodies:
        s.place[i] = -1
        s.degree[i] = bits_of(w.link[i], w.ways)
        i += w.lanes
    if me == 0:
        s.first[0] = 0
    barrier()
    for turn in range(w.bodies):
        i = next_body(me, s, w)
        if me == 0:
            s.order[turn] = i
            s.first[turn + 1] = s.first[turn] + s.degree[i]
            s.place[i] = turn
        barrier()
        j = me
        while j < w.bodies:
            if has_bit(w.link[i], j) == 1:
                join(i, j, s, w)
            j += w.lanes
        barrier()
    blocks = s.first[w.bodies]
    pairs = begin_columns(me, s, w)
    if blocks > s.blocks or pairs > PAIRS_A_BLOCK * s.blocks:
        return -1
    list_blocks(me, s, w)
    return int(blocks)


@loop
def list_blocks(me: i64, s: System, w: Block) -> None:
    """Columns, what pairs of their blocks change, and blocks of bodies that touch."""
    turn = me
    while turn < w.bodies:
        list_column(turn, s, w)
        turn += w.lanes
    barrier()
    turn = me
    while turn < w.bodies:
        list_targets(turn, s)
        turn += w.lanes
    k = me
    while k < w.pairs:
        s.between[k] = -1
        if w.active[k] == 1 and w.one[k] >= 0:
            s.between[k] = block_between(w.one[k], w.other[k], s)
        k += w.lanes
    barrier()


@loop
def find_links(me: i64, w: Block) -> None:
    """Bits of the bodies that each body touches."""
    k = me
    while k < w.bodies * w.ways:
        flat(w.link)[k] = 0
        k += w.lanes
    barrier()
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            if w.active[k] == 1 and w.one[k] >= 0:
                set_bit(w.link[w.one[k]], w.other[k])
                set_bit(w.link[w.other[k]], w.one[k])
            k += w.lanes if c < COLORS else 1
        barrier()


@loop
def has_bit(words: iptr, j: i64) -> i64:
    """1 if a number is in a set."""
    word = j // BITS
    return int((words[word] >> (j - BITS * word)) & 1)


@loop
def set_bit(words: iptr, j: i64) -> None:
    """A number that is in a set from now on."""
    word = j // BITS
    words[word] = words[word] | (1 << (j - BITS * word))


@loop
def turn_bit(words: iptr, j: i64) -> None:
    """A number that leaves a set."""
    word = j // BITS
    words[word] = words[word] ^ (1 << (j - BITS * word))


@loop
def bits_of(words: iptr, ways: i64) -> i64:
    """How many bits of a set there are."""
    total = 0
    for k in range(ways):
        x = words[k]
        x = x - ((x >> 1) & 0x15555555)
        x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
        x = (x + (x >> 4)) & 0x0F0F0F0F
        x = x + (x >> 8)
        total += (x + (x >> 16)) & 63
    return total


@loop
def next_body(me: i64, s: System, w: Block) -> i64:
    """The body with the fewest neighbors of those that are left, the first of them."""
    best = -float(FAR) * float(FAR)
    i = me
    while i < w.bodies:
        if s.place[i] < 0:
            best = max(best, -float(FAR * s.degree[i] + i))
        i += w.lanes
    return int(-most_of(best, me, w)) % FAR


@loop
def join(i: i64, j: i64, s: System, w: Block) -> None:
    """Neighbors of i become neighbors of j, and i leaves."""
    own = w.link[j]
    for k in range(w.ways):
        own[k] = own[k] | w.link[i, k]
    # both bits are there: i was a neighbor, and j is one of its own now
    turn_bit(own, i)
    turn_bit(own, j)
    s.degree[j] = bits_of(own, w.ways)


@loop
def begin_columns(me: i64, s: System, w: Block) -> i64:
    """Where the pairs of blocks of every column begin, into `head`; how many there are."""
    if me == 0:
        total = 0
        for turn in range(w.bodies):
            size = s.first[turn + 1] - s.first[turn]
            s.head[turn] = total
            total += size * (size - 1) // 2
        s.pool[0] = total
    barrier()
    return int(s.pool[0])


@loop
def list_column(turn: i64, s: System, w: Block) -> None:
    """The bodies of a column by their places."""
    words = w.link[s.order[turn]]
    count = 0
    first = s.first[turn]
    for k in range(w.ways):
        left = words[k]
        j = BITS * k
        while left > 0:
            if left & 1 == 1:
                p = first + count
                while p > first and s.place[s.below[p - 1]] > s.place[j]:
                    s.below[p] = s.below[p - 1]
                    p -= 1
                s.below[p] = j
                count += 1
            left = left >> 1
            j += 1


@loop
def list_targets(turn: i64, s: System) -> None:
    """Which block each pair of blocks of a column changes."""
    pair = s.head[turn]
    last = s.first[turn + 1]
    for b in range(s.first[turn], last):
        j = s.first[s.place[s.below[b]]]
        for a in range(b + 1, last):
            while s.below[j] != s.below[a]:
                j += 1
            s.target[pair] = j
            pair += 1


@loop
def block_between(one: i64, other: i64, s: System) -> i64:
    """The block of two bodies that touch."""
    sooner = one if s.place[one] < s.place[other] else other
    later = other if sooner == one else one
    j = s.first[s.place[sooner]]
    while s.below[j] != later:
        j += 1
    return int(j)


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
    """A = L U in place, with one over the pivots on the diagonal; 0 if done, 1 where one vanishes.

    Numbers are read together and written together: threads wait for memory once in a row, not
    once in a number.
    """
    pair = 0
    bad = 0.0
    for turn in range(w.bodies):
        pivot = s.diagonal[s.order[turn]]
        bad = max(bad, factorize_pivot(me, pivot, w))
        first = s.first[turn]
        size = s.first[turn + 1] - first
        k = me
        while k < 6 * size:
            divide_row(pivot, s.lower[first + k // 6, 6 * (k % 6) :])
            divide_column(pivot, s.upper[first + k // 6, k % 6 :])
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
def factorize_pivot(me: i64, a: ptr, w: Block) -> f64:
    """A block := its factors L U, row by row; 1 where a pivot vanishes."""
    bad = 0.0
    for p in range(SIDE):
        pivot = a[7 * p]
        if not (abs(pivot) > 1e-300):
            bad = 1.0
            pivot = 1.0
        inverse = 1.0 / pivot
        i = p + 1 + me
        while i < SIDE:
            reduce_row(p, inverse, a[6 * i :], a[6 * p :])
            i += w.lanes
        barrier()
        # nobody reads the pivot itself again
        if me == 0:
            a[7 * p] = inverse
    barrier()
    return bad


@loop
def reduce_row(p: i64, inverse: f64, row: ptr, top: ptr) -> None:
    """row := row − t top behind the entry p, which becomes t."""
    b = row[1]
    c = row[2]
    d = row[3]
    e = row[4]
    f = row[5]
    t = row[p] * inverse
    b -= t * top[1]
    c -= t * top[2]
    d -= t * top[3]
    e -= t * top[4]
    f -= t * top[5]
    row[p] = t
    if p < 1:
        row[1] = b
    if p < 2:
        row[2] = c
    if p < 3:
        row[3] = d
    if p < 4:
        row[4] = e
    if p < 5:
        row[5] = f


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
def divide_row(u: ptr, row: ptr) -> None:
    """row := row U⁻¹, one over the pivots being on the diagonal."""
    a = row[0] * u[0]
    b = (row[1] - a * u[1]) * u[7]
    c = (row[2] - a * u[2] - b * u[8]) * u[14]
    d = (row[3] - a * u[3] - b * u[9] - c * u[15]) * u[21]
    e = (row[4] - a * u[4] - b * u[10] - c * u[16] - d * u[22]) * u[28]
    f = (row[5] - a * u[5] - b * u[11] - c * u[17] - d * u[23] - e * u[29]) * u[35]
    row[0] = a
    row[1] = b
    row[2] = c
    row[3] = d
    row[4] = e
    row[5] = f


@loop
def divide_column(m: ptr, x: ptr) -> None:
    """A column of a block := L⁻¹ of it."""
    a = x[0]
    b = x[6] - m[6] * a
    c = x[12] - m[12] * a - m[13] * b
    d = x[18] - m[18] * a - m[19] * b - m[20] * c
    e = x[24] - m[24] * a - m[25] * b - m[26] * c - m[27] * d
    x[30] = x[30] - m[30] * a - m[31] * b - m[32] * c - m[33] * d - m[34] * e
    x[6] = b
    x[12] = c
    x[18] = d
    x[24] = e


@loop
def solve_system(me: i64, s: System, x: Rows[Twist], work: Rows[Twist], w: Block) -> None:
    """x := A⁻¹ x with the factors of `factorized`; L⁻¹ x lies in `work` midway."""
    for turn in range(w.bodies):
        body = s.order[turn]
        first = s.first[turn]
        forward(me, s.diagonal[body], x[body].floats, work[body].floats)
        barrier()
        k = me
        while k < 6 * (s.first[turn + 1] - first):
            p = first + k // 6
            take_away(s.lower[p, 6 * (k % 6) :], work[body].floats, x[s.below[p]].floats[k % 6 :])
            k += w.lanes
        barrier()
    for back in range(w.bodies):
        turn = w.bodies - 1 - back
        body = s.order[turn]
        own = work[body].floats
        r = me
        while r < SIDE:
            for p in range(s.first[turn], s.first[turn + 1]):
                take_away(s.upper[p, 6 * r :], x[s.below[p]].floats, own[r:])
            r += w.lanes
        barrier()
        backward(me, s.diagonal[body], own, x[body].floats)
        barrier()


@loop
def take_away(row: ptr, x: ptr, out: ptr) -> None:
    """out −= row · x, six numbers each."""
    total = out[0] - row[0] * x[0] - row[1] * x[1] - row[2] * x[2]
    out[0] = total - row[3] * x[3] - row[4] * x[4] - row[5] * x[5]


@loop
def forward(me: i64, m: ptr, x: ptr, out: ptr) -> None:
    """out := L⁻¹ x of one body, written by the first thread."""
    a = x[0]
    b = x[1] - m[6] * a
    c = x[2] - m[12] * a - m[13] * b
    d = x[3] - m[18] * a - m[19] * b - m[20] * c
    e = x[4] - m[24] * a - m[25] * b - m[26] * c - m[27] * d
    f = x[5] - m[30] * a - m[31] * b - m[32] * c - m[33] * d - m[34] * e
    if me == 0:
        out[0] = a
        out[1] = b
        out[2] = c
        out[3] = d
        out[4] = e
        out[5] = f


@loop
def backward(me: i64, u: ptr, x: ptr, out: ptr) -> None:
    """out := U⁻¹ x of one body, likewise."""
    f = x[5] * u[35]
    e = (x[4] - u[29] * f) * u[28]
    d = (x[3] - u[23] * f - u[22] * e) * u[21]
    c = (x[2] - u[17] * f - u[16] * e - u[15] * d) * u[14]
    b = (x[1] - u[11] * f - u[10] * e - u[9] * d - u[8] * c) * u[7]
    a = (x[0] - u[5] * f - u[4] * e - u[3] * d - u[2] * c - u[1] * b) * u[0]
    if me == 0:
        out[0] = a
        out[1] = b
        out[2] = c
        out[3] = d
        out[4] = e
        out[5] = f
