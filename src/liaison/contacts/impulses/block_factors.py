"""The order in which bodies that touch are eliminated, and where what fills in goes.

Velocities of bodies hang together by contacts. The body with the fewest neighbors goes first; its
neighbors are neighbors of each other from then on. The table made here serves all factorizations of
one problem.

Groups of bodies that touch the same others: the order of least degree is kept but for bodies that
do not know of each other, so that those whose columns reach the same bodies come to lie side by
side, also where a few blocks are then 0. Products of a group's blocks are long, and run on vectors.

Public names: order_panels, least_degree, BLOCK.

Source: GVL13 §3.2.10 (block LU), §11.1.9 (least degree); DAV06 §4.1, §4.8 (elimination
tree, supernodes); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import PAIRS_A_BLOCK, Contact, Panels, System
from liaison.program.loops.language import i64, loop
from liaison.program.loops.records import Rows


@loop
def least_degree(count: i64, contact: Rows[Contact], s: System) -> i64:
    """The order of an elimination and what each column reaches.

    Args:
        count: contacts.
        contact: whose bodies touch; the first is −1 where it is a plane.
        s: result; its matrix is left as it is.

    Returns:
        Blocks beside the diagonal; −1 if they are too many.
    """
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


EMPTY, SMALL = 0.15, 4
"""Part of a group's blocks that may be 0, and how many bodies it may have whatever that part is."""

BLOCK = 48
"""Numbers of six rows of a panel."""


@loop
def order_panels(count: i64, contact: Rows[Contact], s: System, p: Panels) -> i64:
    """Groups and places of all blocks; how many blocks there are, −1 if they are too many.

    Args:
        count: contacts.
        contact: whose bodies touch; the first is −1 where it is a plane.
        s: workspace; its order of elimination is the one that is kept.
        p: result; its matrix is left as it is.
    """
    if least_degree(count, contact, s) < 0:
        return -1
    p.bodies = s.bodies
    number_bodies(s, p)
    if find_groups(s, p) < 0 or find_targets(s, p) < 0:
        return -1
    for c in range(count):
        one = contact[c].body[0]
        p.between[c] = -1
        if one >= 0:
            a = p.place[one]
            b = p.place[contact[c].body[1]]
            p.between[c] = block_at(min(a, b), max(a, b), p)
    return p.used // BLOCK


@loop
def number_bodies(s: System, p: Panels) -> None:
    """Numbers of bodies: parents behind their children, the last of these just before them."""
    n = s.bodies
    child = s.head
    sibling = s.degree
    stack = s.visit
    for t in range(n):
        child[t] = -1
    top = 0
    for back in range(n):
        t = n - 1 - back
        parent = n
        for j in range(s.first[t], s.first[t + 1]):
            parent = min(parent, s.place[s.below[j]])
        if parent < n:
            sibling[t] = child[parent]
            child[parent] = t
    for t in range(n):
        if s.first[t] == s.first[t + 1]:
            stack[top] = t
            top += 1
    number = n
    while top > 0:
        top -= 1
        t = stack[top]
        number -= 1
        p.turn[number] = t
        p.order[number] = s.order[t]
        p.place[s.order[t]] = number
        t = child[t]
        while t >= 0:
            stack[top] = t
            top += 1
            t = sibling[t]


@loop
def reached(number: i64, s: System, p: Panels) -> i64:
    """How many bodies a column reaches."""
    t = p.turn[number]
    return int(s.first[t + 1] - s.first[t])


@loop
def parent_of(number: i64, s: System, p: Panels) -> i64:
    """The first number that a column reaches, or how many there are."""
    t = p.turn[number]
    parent = p.bodies
    for j in range(s.first[t], s.first[t + 1]):
        parent = min(parent, p.place[s.below[j]])
    return parent


@loop
def find_groups(s: System, p: Panels) -> i64:
    """Groups, the numbers they reach, and where their panels begin; −1 where there is no room."""
    groups = 0
    full = 0
    p.begin[0] = 0
    p.panel[0] = 0
    p.row_first[0] = 0
    for number in range(p.bodies):
        p.group[number] = groups
        wide = number + 1 - p.begin[groups]
        full += reached(number, s, p)
        after = number + 1
        is_over = 1
        if after < p.bodies and parent_of(number, s, p) == after:
            # with the next one as well
            more = wide + 1
            blocks = more * (more - 1) // 2 + more * reached(after, s, p)
            empty = blocks - full - reached(after, s, p)
            if more <= SMALL or float(empty) <= EMPTY * float(blocks):
                is_over = 0
        if is_over == 1:
            if end_group(number, wide, groups, s, p) < 0:
                return -1
            groups += 1
            full = 0
            p.begin[groups] = after
    p.groups = groups
    p.used = p.panel[groups]
    return 0


@loop
def end_group(last: i64, wide: i64, k: i64, s: System, p: Panels) -> i64:
    """A group that ends with this number: what it reaches, and where the next begins; −1: no room.

    All that its columns reach beside itself, the last one reaches.
    """
    first = p.row_first[k]
    count = reached(last, s, p)
    if p.panel[k] + BLOCK * wide * (wide + count) > BLOCK * p.blocks or first + count > p.blocks:
        return -1
    t = p.turn[last]
    for j in range(count):
        number = p.place[s.below[s.first[t] + j]]
        i = first + j - 1
        while i >= first and p.row[i] > number:
            p.row[i + 1] = p.row[i]
            i -= 1
        p.row[i + 1] = number
    p.row_first[k + 1] = first + count
    p.panel[k + 1] = p.panel[k] + BLOCK * wide * (wide + count)
    for i in range(wide):
        p.pivot[last - i] = p.panel[k] + BLOCK * (wide - 1 - i) * (wide + 1)
    return 0


@loop
def find_targets(s: System, p: Panels) -> i64:
    """Which block each pair of panels of a group changes; −1 where there is no room."""
    pair = 0
    slot = s.slot
    for k in range(p.groups):
        first = p.row_first[k]
        last = p.row_first[k + 1]
        known = -1
        if pair + (last - first) * (last - first + 1) // 2 > PAIRS_A_BLOCK * p.blocks:
            return -1
        for a in range(first, last):
            number = p.row[a]
            own = p.group[number]
            begin = p.begin[own]
            wide = p.begin[own + 1] - begin
            if own != known:
                known = own
                for i in range(p.row_first[own], p.row_first[own + 1]):
                    slot[p.row[i]] = wide + i - p.row_first[own]
                for i in range(begin, begin + wide):
                    slot[i] = i - begin
            at = p.panel[own] + BLOCK * (number - begin)
            for b in range(a, last):
                p.target[pair] = at + BLOCK * wide * slot[p.row[b]]
                pair += 1
    return 0


@loop
def block_at(sooner: i64, later: i64, p: Panels) -> i64:
    """Where the block of two numbers is."""
    k = p.group[sooner]
    begin = p.begin[k]
    wide = p.begin[k + 1] - begin
    panel = later - begin
    if later >= p.begin[k + 1]:
        i = p.row_first[k]
        while p.row[i] != later:
            i += 1
        panel = wide + i - p.row_first[k]
    return int(p.panel[k] + BLOCK * wide * panel + BLOCK * (sooner - begin))
