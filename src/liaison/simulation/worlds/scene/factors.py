"""Sparse systems of the bodies of a world in blocks of six, by the threads of a block together.

The body with the fewest neighbors goes first, as in `contacts/impulses/block_factors.py`; its
neighbors are neighbors of each other from then on. Bodies that a body touches are bits of words, so
that threads join them by a few operations each. Blocks of a column, and what they change, go by
rows.

Public names: elimination, add_contacts, factorized, solve_system.

Source: GVL13 §3.2.10 (block LU), §11.1.9 (least degree); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.impulses.panels import SIDE, add_row, put_six
from liaison.contacts.scene.layout import (
    PAIRS_A_BLOCK,
    ConePair,
    Contact,
    Island,
    System,
    Twist,
)
from liaison.program.loops.language import f64, flat, i64, iptr, loop, ptr
from liaison.program.loops.records import Rows

from .cones import get_scaled, own_contact, own_pair, take_rows
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
        s.visit[i] = 0
        s.degree[i] = bits_of(w.link[i], w.ways)
        i += w.lanes
    barrier()
    for turn in range(w.bodies):
        i = next_body(me, s, w)
        if me == 0:
            s.place[i] = turn
        barrier()
        j = me
        while j < w.bodies:
            if has_bit(w.link[i], j) == 1:
                join(i, j, s, w)
            j += w.lanes
        barrier()
    order_levels(me, s, w)
    blocks = s.first[w.bodies]
    pairs = begin_columns(me, s, w)
    barrier()
    if blocks > s.blocks or pairs > PAIRS_A_BLOCK * s.blocks:
        return -1
    list_blocks(me, s, w)
    return int(blocks)


@loop
def order_levels(me: i64, s: System, w: Block) -> None:
    """Columns level by level: those of one level wait for none of each other."""
    i = me
    while i < w.bodies:
        rank = 0
        own = FAR * s.visit[i] + s.place[i]
        for j in range(w.bodies):
            rank += 1 if FAR * s.visit[j] + s.place[j] < own else 0
        s.slot[i] = rank
        i += w.lanes
    barrier()
    i = me
    while i < w.bodies:
        s.place[i] = s.slot[i]
        s.order[s.slot[i]] = i
        i += w.lanes
    barrier()
    turn = me
    while turn < w.bodies:
        level = s.visit[s.order[turn]]
        if turn == 0 or s.visit[s.order[max(turn, 1) - 1]] < level:
            w.level_first[level] = turn
        turn += w.lanes
    w.levels = s.visit[s.order[w.bodies - 1]] + 1
    if me == 0:
        w.level_first[w.levels] = w.bodies
        s.first[0] = 0
        total = 0
        for turn in range(w.bodies):
            total += s.degree[s.order[turn]]
            s.first[turn + 1] = total
    barrier()


@loop
def list_blocks(me: i64, s: System, w: Block) -> None:
    """Columns, what pairs of their blocks change, rows, and blocks of bodies that touch."""
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
    if me == 0:
        list_rows(s)
    barrier()


@loop
def list_rows(s: System) -> None:
    """Blocks of L by rows, behind the owners of blocks: where a body's begin, and how many."""
    for i in range(s.bodies):
        s.degree[i] = 0
    for b in range(s.first[s.bodies]):
        s.degree[s.below[b]] += 1
    total = 0
    for i in range(s.bodies):
        s.slot[i] = total
        total += s.degree[i]
        s.degree[i] = 0
    for b in range(s.first[s.bodies]):
        i = s.below[b]
        s.pool[s.blocks + s.slot[i] + s.degree[i]] = b
        s.degree[i] += 1


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
    s.visit[j] = max(s.visit[j], s.visit[i] + 1)


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
    """The bodies of a column by their places, and whose column it is, into the pool."""
    words = w.link[s.order[turn]]
    count = 0
    first = s.first[turn]
    for p in range(first, s.first[turn + 1]):
        s.pool[p] = s.order[turn]
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
    contact = Contact(own_contact())
    q = ConePair(own_pair())
    for c in range(w.colors):
        h = w.begin[c] + me
        end = w.begin[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while h < end:
            take_rows(w.where[h], contact, w, island)
            get_scaled(h, q, w)
            add_pair(s.between[w.where[h]], contact, q, s)
            h += w.lanes if c < COLORS else 1
        barrier()


@loop
def add_pair(between: i64, contact: Contact, q: ConePair, s: System) -> None:
    """Dᵀ G D of one contact: two blocks of the diagonal, and two between its bodies."""
    one = contact.body[0]
    other = contact.body[1]
    add_product(contact, 3, 3, q, s.diagonal[other])
    if one >= 0:
        add_product(contact, 0, 0, q, s.diagonal[one])
        lower = s.lower[between]
        upper = s.upper[between]
        if s.place[one] < s.place[other]:
            add_product(contact, 3, 0, q, lower)
            add_product(contact, 0, 3, q, upper)
        else:
            add_product(contact, 0, 3, q, lower)
            add_product(contact, 3, 0, q, upper)


@loop
def add_product(contact: Contact, left: i64, right: i64, q: ConePair, out: ptr) -> None:
    """out += Lᵀ G R of three rows each of the contact, which begin at `left` and at `right`."""
    g = q.g
    rows = contact.rows
    x = rows[right]
    y = rows[right + 1]
    t = rows[right + 2]
    GR = q.product
    a = GR[0]
    b = GR[1]
    c = GR[2]
    for j in range(6):
        a[j] = g[0, 0] * x[j]
        b[j] = g[1, 0] * x[j] + g[1, 1] * y[j] + g[1, 2] * t[j]
        c[j] = g[2, 0] * x[j] + g[2, 1] * y[j] + g[2, 2] * t[j]
    for i in range(6):
        add_row(rows[left, i], a, rows[left + 1, i], b, rows[left + 2, i], c, out[6 * i :])


@loop
def factorized(me: i64, s: System, w: Block) -> i64:
    """A = L U in place, with one over the pivots on the diagonal; 0 if done, 1 where one vanishes.

    Level by level: pivots and columns of a level at the same time, then what they change, column
    after column. Numbers are read together and written together: threads wait for memory once in a
    row, not once in a number.
    """
    bad = 0.0
    for level in range(w.levels):
        begin = w.level_first[level]
        end = w.level_first[level + 1]
        bad = max(bad, factorize_pivots(me, begin, end, s, w))
        k = 6 * s.first[begin] + me
        last = 6 * s.first[end]
        while k < last:
            pivot = s.diagonal[s.pool[k // 6]]
            divide_row(pivot, s.lower[k // 6, 6 * (k % 6) :])
            divide_column(pivot, s.upper[k // 6, k % 6 :])
            k += w.lanes
        barrier()
        for turn in range(begin, end):
            first = s.first[turn]
            size = s.first[turn + 1] - first
            pair = s.head[turn]
            k = me
            while k < 2 * size * size:
                subtract(k // 2 // size, k // 2 % size, 3 * (k % 2), first, size, pair, s)
                k += w.lanes
            barrier()
    return 1 if most_of(bad, me, w) > 0.0 else 0


TEAM = 8
"""Threads that work on a pivot."""


@loop
def factorize_pivots(me: i64, begin: i64, end: i64, s: System, w: Block) -> f64:
    """Blocks of the diagonal := their factors L U, a few at a time; 1 where a pivot vanishes."""
    wide = min(TEAM, w.lanes)
    bad = 0.0
    first = begin
    while first < end:
        turn = first + me // wide
        a = s.diagonal[s.order[min(turn, end - 1)]]
        for p in range(SIDE):
            pivot = a[7 * p]
            if not (abs(pivot) > 1e-300):
                bad = 1.0
                pivot = 1.0
            inverse = 1.0 / pivot
            i = p + 1 + me % wide
            while i < SIDE and turn < end:
                reduce_row(p, inverse, a[6 * i :], a[6 * p :])
                i += wide
            barrier()
            # nobody reads the pivot itself again
            if me % wide == 0 and turn < end:
                a[7 * p] = inverse
        barrier()
        first += w.lanes // wide
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
    put_six(a, b, c, d, e, f, row)


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
    """x := A⁻¹ x with the factors of `factorized`, level by level; L⁻¹ x lies in `work` midway.

    What other bodies take away is summed in parts, by as many threads as there are.
    """
    for level in range(w.levels):
        begin = w.level_first[level]
        count = w.level_first[level + 1] - begin
        parts = max(1, w.lanes // (SIDE * count))
        k = me
        while k < SIDE * count * parts:
            flat(w.mean)[k] = sum_of_row(begin, k // parts, k % parts, parts, s, work)
            k += w.lanes
        barrier()
        k = me
        while k < count:
            body = s.order[begin + k]
            forward(k, parts, s.diagonal[body], x[body].floats, work[body].floats, w)
            k += w.lanes
        barrier()
    for back in range(w.levels):
        level = w.levels - 1 - back
        begin = w.level_first[level]
        count = w.level_first[level + 1] - begin
        parts = max(1, w.lanes // (SIDE * count))
        k = me
        while k < SIDE * count * parts:
            flat(w.mean)[k] = sum_of_column(begin, k // parts, k % parts, parts, s, x)
            k += w.lanes
        barrier()
        k = me
        while k < count:
            body = s.order[begin + k]
            backward(k, parts, s.diagonal[body], work[body].floats, x[body].floats, w)
            k += w.lanes
        barrier()


@loop
def sum_of_row(begin: i64, k: i64, piece: i64, parts: i64, s: System, work: Rows[Twist]) -> f64:
    """A part of what bodies before one take away from a component of it, by L."""
    turn = begin + k // SIDE
    row = k % SIDE
    body = s.order[turn]
    total = 0.0
    n = s.blocks + s.slot[body] + piece
    while n < s.blocks + s.slot[body] + s.degree[body]:
        b = s.pool[n]
        total += product(s.lower[b, 6 * row :], work[s.pool[b]].floats)
        n += parts
    return total


@loop
def sum_of_column(begin: i64, k: i64, piece: i64, parts: i64, s: System, x: Rows[Twist]) -> f64:
    """A part of what bodies behind one take away from a component of it, by U."""
    turn = begin + k // SIDE
    row = k % SIDE
    total = 0.0
    b = s.first[turn] + piece
    while b < s.first[turn + 1]:
        total += product(s.upper[b, 6 * row :], x[s.below[b]].floats)
        b += parts
    return total


@loop
def product(row: ptr, x: ptr) -> f64:
    """row · x, six numbers each."""
    total = row[0] * x[0] + row[1] * x[1] + row[2] * x[2]
    return float(total + row[3] * x[3] + row[4] * x[4] + row[5] * x[5])


@loop
def less(k: i64, r: i64, parts: i64, x: ptr, w: Block) -> f64:
    """A component without what is taken away, in all its parts."""
    total = x[r]
    first = (SIDE * k + r) * parts
    for piece in range(parts):
        total -= flat(w.mean)[first + piece]
    return float(total)


@loop
def forward(k: i64, parts: i64, m: ptr, x: ptr, out: ptr, w: Block) -> None:
    """out := L⁻¹ x of one body."""
    a = less(k, 0, parts, x, w)
    b = less(k, 1, parts, x, w) - m[6] * a
    c = less(k, 2, parts, x, w) - m[12] * a - m[13] * b
    d = less(k, 3, parts, x, w) - m[18] * a - m[19] * b - m[20] * c
    e = less(k, 4, parts, x, w) - m[24] * a - m[25] * b - m[26] * c - m[27] * d
    f = less(k, 5, parts, x, w) - m[30] * a - m[31] * b - m[32] * c - m[33] * d - m[34] * e
    put_six(a, b, c, d, e, f, out)


@loop
def backward(k: i64, parts: i64, u: ptr, x: ptr, out: ptr, w: Block) -> None:
    """out := U⁻¹ x of one body, likewise."""
    f = less(k, 5, parts, x, w) * u[35]
    e = (less(k, 4, parts, x, w) - u[29] * f) * u[28]
    d = (less(k, 3, parts, x, w) - u[23] * f - u[22] * e) * u[21]
    c = (less(k, 2, parts, x, w) - u[17] * f - u[16] * e - u[15] * d) * u[14]
    b = (less(k, 1, parts, x, w) - u[11] * f - u[10] * e - u[9] * d - u[8] * c) * u[7]
    a = (less(k, 0, parts, x, w) - u[5] * f - u[4] * e - u[3] * d - u[2] * c - u[1] * b) * u[0]
    put_six(a, b, c, d, e, f, out)
