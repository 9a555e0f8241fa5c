"""The order in which bodies of a world are eliminated, and what fills in, by bits of neighbors.

The body with the fewest neighbors goes first, as in `contacts/impulses/block_factors.py`; its
neighbors are neighbors of each other from then on. Bodies that a body touches are bits of words, so
that the threads of a block join them by a few operations each.

Public names: elimination.

Source: GVL13 §11.1.9 (least degree).
"""

from __future__ import annotations

from liaison.contacts.scene.layout import PAIRS_A_BLOCK, Island, System
from liaison.program.loops.language import flat, i64, iptr, loop

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
            if (w.link[i, j // BITS] >> (j % BITS)) & 1 == 1:
                join(i, j, s, w)
            j += w.lanes
        barrier()
    blocks = s.first[w.bodies]
    pairs = begin_columns(me, s, w)
    if blocks > s.blocks or pairs > PAIRS_A_BLOCK * s.blocks:
        return -1
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
    return int(blocks)


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
def set_bit(words: iptr, j: i64) -> None:
    """A bit of a set."""
    words[j // BITS] = words[j // BITS] | (1 << (j % BITS))


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
    own[i // BITS] = own[i // BITS] ^ (1 << (i % BITS))
    own[j // BITS] = own[j // BITS] ^ (1 << (j % BITS))
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
