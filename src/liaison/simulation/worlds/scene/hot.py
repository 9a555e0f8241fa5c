"""A copy of contacts that count and of velocities, for sweeps: in memory that threads share.

Public names: gather, take, give_forces, give_velocities.
"""

from __future__ import annotations

from liaison.program.loops.language import flat, i64, loop

from .layout import Block, Held, Hot, barrier


@loop
def gather(me: i64, w: Block) -> i64:
    """Contacts that count, color by color, into `where`; how many there are."""
    c = me
    while c < w.colors:
        count = 0
        for k in range(w.color_first[c], w.color_first[c + 1]):
            count += w.active[k]
        w.tally[c] = count
        c += w.lanes
    if me == 0:
        w.begin[0] = 0
    barrier()
    c = me
    while c < w.colors:
        list_color(c, w)
        c += w.lanes
    barrier()
    return int(w.begin[w.colors])


@loop
def list_color(c: i64, w: Block) -> None:
    """Contacts of one color that count."""
    h = 0
    for b in range(c):
        h += w.tally[b]
    for k in range(w.color_first[c], w.color_first[c + 1]):
        if w.active[k] == 1:
            w.where[h] = k
            h += 1
    w.begin[c + 1] = h


@loop
def take(me: i64, count: i64, w: Block, hot: Hot) -> None:
    """The copy, without a way yet."""
    h = me
    while h < count:
        hold(w.where[h], hot.contact[h], w)
        h += w.lanes
    k = me
    while k < 6 * w.bodies:
        flat(hot.next)[k] = flat(w.next)[k]
        k += w.lanes
    c = me
    while c <= w.colors:
        hot.begin[c] = w.begin[c]
        c += w.lanes
    barrier()


@loop
def hold(k: i64, q: Held, w: Block) -> None:
    """One contact."""
    q.other = w.other[k]
    q.one = w.one[k]
    for j in range(3):
        q.normal[j] = w.normal[j, k]
    for r in range(4):
        q.force[r] = w.force[r, k]
        q.way[r] = 0.0
    q.right = w.right[k]
    q.friction = w.friction[k]
    q.along = 1.0 / w.mobility[0, k]
    q.across = 1.0 / w.mobility[1, k]


@loop
def give_forces(me: i64, count: i64, w: Block, hot: Hot) -> None:
    """The impulses that sweeps led to."""
    h = me
    while h < count:
        k = w.where[h]
        q = hot.contact[h]
        for r in range(4):
            w.force[r, k] = q.force[r]
        h += w.lanes


@loop
def give_velocities(me: i64, w: Block, hot: Hot) -> None:
    """And the velocities."""
    barrier()
    k = me
    while k < 6 * w.bodies:
        flat(w.next)[k] = flat(hot.next)[k]
        k += w.lanes
    barrier()
