"""Groups of bodies that touch the same others, and where the blocks of their matrix lie in panels.

The order of least degree is kept but for bodies that do not know of each other: those whose columns
reach the same bodies come to lie side by side and form a group, also where a few blocks of it are
then 0. Products of a group's blocks are long, and run on vectors.

Public names: order_panels.

Source: GVL13 §11.1.9 (least degree); DAV06 §4.1, §6.4 (elimination tree, supernodes).
"""

from __future__ import annotations

from liaison.contacts.scene.layout import PAIRS_A_BLOCK, Contact, Panels, System
from liaison.program.loops.language import i64, loop
from liaison.program.loops.records import Rows

from .block_factors import least_degree

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
    return s.first[t + 1] - s.first[t]


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
