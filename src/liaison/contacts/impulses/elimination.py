"""The order in which bodies that touch are eliminated, and where what fills in goes.

Velocities of bodies hang together by contacts. The body with the fewest neighbors goes first; its
neighbors are neighbors of each other from then on. The table made here serves all factorizations of
one problem.

Public names: eliminate, block_room, table_size, and where the parts of the table begin: ORDER,
START, ROWS, TARGET, BETWEEN.

Source: GVL13 §11.1.9 (least degree).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, i64, iptr, loop

PAIRS_A_BLOCK = 24
"""Room for pairs of blocks that meet, for each block beside the diagonal."""

ORDER, PLACE, START, HEAD, SIZE, MARK, SLOT, ROWS, TARGET, POOL, BETWEEN = range(11)
PARTS = 16
"""Parts of the table, and integers before them: bodies in order; the place of each; the first
block of each column; neighbors (where, how many); a mark and a slot for each body; the body of each
block; what pairs of blocks of a column change; neighbors, in lists; the block between bodies that
touch."""


def block_room(n: int) -> int:
    """Blocks beside the diagonal that there is room for: a pile of n bodies fills in far fewer."""
    return min(n * (n - 1) // 2, int(n * (8 + 3 * sqrt(n)))) + 1


def table_size(n: int, contacts: int) -> int:
    """Integers of the table."""
    blocks = block_room(n)
    return PARTS + 7 * n + 1 + blocks + 2 * PAIRS_A_BLOCK * blocks + 5 * contacts


@loop
def eliminate(n: i64, count: i64, contact: iptr, blocks: i64, s: iptr) -> i64:
    """The table of an elimination.

    Args:
        n: bodies.
        count: contacts.
        contact: two bodies of each; the first is −1 where it is a plane.
        blocks: room for blocks, `block_room(n)`.
        s: result, `table_size(n, count)` integers.

    Returns:
        Blocks beside the diagonal; −1 if they are too many.
    """
    lay_out(n, count, blocks, s)
    end = neighbors(n, count, contact, s)
    found = 0
    for i in range(n):
        s[s[PLACE] + i] = -1
    for turn in range(n):
        i = fewest(n, s)
        s[s[ORDER] + turn] = i
        s[s[PLACE] + i] = turn
        s[s[START] + turn] = found
        size = s[s[SIZE] + i]
        if found + size > blocks:
            return -1
        for j in range(size):
            s[s[ROWS] + found + j] = s[s[POOL] + s[s[HEAD] + i] + j]
        for j in range(size):
            end = join(i, s[s[ROWS] + found + j], end, PAIRS_A_BLOCK * blocks + 4 * count, s)
            if end < 0:
                return -1
        found += size
    s[s[START] + n] = found
    for turn in range(n):
        sort_column(turn, s)
    if pairs(n, PAIRS_A_BLOCK * blocks, s) != 0:
        return -1
    between(count, contact, s)
    return found


@loop
def lay_out(n: i64, count: i64, blocks: i64, s: iptr) -> None:
    """Where the parts of the table begin."""
    for part in range(7):
        s[part] = PARTS + part * n + (1 if part > START else 0)
    s[ROWS] = PARTS + 7 * n + 1
    s[TARGET] = s[ROWS] + blocks
    s[POOL] = s[TARGET] + PAIRS_A_BLOCK * blocks
    s[BETWEEN] = s[POOL] + PAIRS_A_BLOCK * blocks + 4 * count
    for i in range(n):
        s[s[SIZE] + i] = 0
        s[s[MARK] + i] = -1


@loop
def neighbors(n: i64, count: i64, contact: iptr, s: iptr) -> i64:
    """Lists of the bodies that each body touches, once each; where the lists end."""
    size = at(s, s[SIZE])
    head = at(s, s[HEAD])
    pool = at(s, s[POOL])
    for c in range(count):
        if contact[2 * c] >= 0:
            size[contact[2 * c]] += 1
            size[contact[2 * c + 1]] += 1
    end = 0
    for i in range(n):
        head[i] = end
        end += size[i]
        size[i] = 0
    for c in range(count):
        one = contact[2 * c]
        other = contact[2 * c + 1]
        if one >= 0 and listed(one, other, s) == 0:
            pool[head[one] + size[one]] = other
            pool[head[other] + size[other]] = one
            size[one] += 1
            size[other] += 1
    return end


@loop
def listed(one: i64, other: i64, s: iptr) -> i64:
    """1 if a body is already among the neighbors of another."""
    for j in range(s[s[SIZE] + one]):
        if s[s[POOL] + s[s[HEAD] + one] + j] == other:
            return 1
    return 0


@loop
def fewest(n: i64, s: iptr) -> i64:
    """The body with the fewest neighbors of those that are left."""
    best = -1
    for i in range(n):
        if s[s[PLACE] + i] < 0 and (best < 0 or s[s[SIZE] + i] < s[s[SIZE] + best]):
            best = i
    return best


@loop
def join(i: i64, j: i64, end: i64, room: i64, s: iptr) -> i64:
    """Neighbors of i become neighbors of j, and i leaves; the new end of the lists, −1: no room."""
    mark = at(s, s[MARK])
    pool = at(s, s[POOL])
    first = s[s[HEAD] + j]
    size = s[s[SIZE] + j]
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
    for p in range(s[s[SIZE] + i]):
        missing += 1 if mark[pool[s[s[HEAD] + i] + p]] != own else 0
    s[s[SIZE] + j] = kept + missing
    if missing == 0:
        return end
    if end + kept + missing > room:
        return -1
    for p in range(kept):
        pool[end + p] = pool[first + p]
    s[s[HEAD] + j] = end
    end += kept
    for p in range(s[s[SIZE] + i]):
        other = pool[s[s[HEAD] + i] + p]
        if mark[other] != own:
            pool[end] = other
            end += 1
    return end


@loop
def sort_column(turn: i64, s: iptr) -> None:
    """The bodies of a column by their places."""
    place = at(s, s[PLACE])
    rows = at(s, s[ROWS])
    for j in range(s[s[START] + turn] + 1, s[s[START] + turn + 1]):
        body = rows[j]
        p = j - 1
        while p >= s[s[START] + turn] and place[rows[p]] > place[body]:
            rows[p + 1] = rows[p]
            p -= 1
        rows[p + 1] = body


@loop
def pairs(n: i64, room: i64, s: iptr) -> i64:
    """Which block each pair of blocks of a column changes; 1 if there is no room."""
    rows = at(s, s[ROWS])
    start = at(s, s[START])
    slot = at(s, s[SLOT])
    found = 0
    for turn in range(n):
        for b in range(start[turn], start[turn + 1]):
            own = s[s[PLACE] + rows[b]]
            for j in range(start[own], start[own + 1]):
                slot[rows[j]] = j
            if found + start[turn + 1] - b > room:
                return 1
            for a in range(b + 1, start[turn + 1]):
                s[s[TARGET] + found] = slot[rows[a]]
                found += 1
    return 0


@loop
def between(count: i64, contact: iptr, s: iptr) -> None:
    """The block of every two bodies that touch; −1 of a body and a plane."""
    rows = at(s, s[ROWS])
    for c in range(count):
        one = contact[2 * c]
        other = contact[2 * c + 1]
        s[s[BETWEEN] + c] = -1
        if one >= 0:
            if s[s[PLACE] + one] > s[s[PLACE] + other]:
                one = contact[2 * c + 1]
                other = contact[2 * c]
            turn = s[s[PLACE] + one]
            for j in range(s[s[START] + turn], s[s[START] + turn + 1]):
                if rows[j] == other:
                    s[s[BETWEEN] + c] = j
