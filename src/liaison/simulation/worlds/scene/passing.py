"""Bodies of a world that go farther past each other in a step than they are thick: as of a scene.

What is slow costs a look at the way of every unit; pairs are looked at where one is fast.

Public names: is_passing.

Source: docs/theory/time_stepping.md; docs/theory/convex.md (fast bodies).
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .layout import Block, most_of
from .narrow import CORNERS
from .pairs import body_of, unit_of


@loop
def is_passing(me: i64, w: Block) -> i64:
    """1 if two bodies may have passed each other in the step whose impulses are known."""
    fast = 0.0
    i = me
    while i < w.wide:
        if own_way(i, w) > w.thin[i] or 2.0 * thrown_way(i, w) > w.thin[i]:
            fast = 1.0
        i += w.lanes
    if most_of(fast, me, w) == 0.0:
        return 0
    passed = near_passed(me, w)
    i = me
    while i < w.wide:
        if 2.0 * thrown_way(i, w) > w.thin[i]:
            passed = max(passed, hit_by(i, w))
        i += w.lanes
    return 1 if most_of(passed, me, w) > 0.0 else 0


@loop
def own_way(i: i64, w: Block) -> f64:
    """How far a point of a unit goes in the step, at most; of balls the center."""
    b = w.body[i]
    way = 0.0
    for j in range(3):
        step = w.end[b, j] - w.pose[b, j]
        way += step * step
    return sqrt(way) + turned_way(i, w)


@loop
def turned_way(i: i64, w: Block) -> f64:
    """The part of it that is from its turn."""
    mean = w.mean[w.body[i]]
    turn = mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]
    return float(w.h * w.lever[i] * sqrt(turn))


@loop
def thrown_way(i: i64, w: Block) -> f64:
    """How far impulses of this step throw a unit beside its way without them."""
    b = w.body[i]
    way = 0.0
    turn = 0.0
    for j in range(3):
        v = w.next[b, 3 + j] - w.speed[b, 3 + j] - w.h * w.gravity[j]
        way += v * v
        if w.general == 1:
            spin = w.next[b, j] - w.free[b, j]
            turn += spin * spin
    return float(0.5 * w.h * (sqrt(way) + w.lever[i] * sqrt(turn)))


@loop
def near_passed(me: i64, w: Block) -> f64:
    """1 if units that are near each other pass each other."""
    passed = 0.0
    k = me
    while k < (w.nears if w.general == 1 else w.slots_used):
        p = w.near_at[k] if w.general == 1 else k
        other = partner_of(p, w)
        if other >= 0:
            i = w.near_unit[k] if w.general == 1 else w.color[p]
            way = way_past(w.body[i], w.body[other], w)
            way += turned_way(i, w) + turned_way(other, w)
            if way > w.thin[i] + w.thin[other] and is_kept_apart(i, other, w) == 0:
                passed = 1.0
        k += w.lanes
    return passed


@loop
def partner_of(p: i64, w: Block) -> i64:
    """The unit that the place in a slot is on besides its own; −1: a plane."""
    if w.general == 0:
        return max(body_of(w.color[p], w.key[p], w), -1)
    partner = w.key[p] // CORNERS
    return int(unit_of(w.color[p], partner, w)) if partner < w.wide else -1


@loop
def way_past(one: i64, other: i64, w: Block) -> f64:
    """How far a body goes in the step, seen from another."""
    apart = 0.0
    for j in range(3):
        step = w.end[one, j] - w.pose[one, j] - (w.end[other, j] - w.pose[other, j])
        apart += step * step
    return sqrt(apart)


@loop
def hit_by(i: i64, w: Block) -> f64:
    """1 if a unit that is thrown may come to the middle of another, which nobody looked at."""
    for j in range(w.wide):
        if w.body[j] != w.body[i] and w.law_between[w.surface[i], w.surface[j]] >= 0:
            way = thrown_way(i, w) + thrown_way(j, w)
            is_far = 1 if 2.0 * way > w.thin[i] + w.thin[j] else 0
            if is_far == 1 and comes_by(i, j, w) == 1 and is_kept_apart(i, j, w) == 0:
                return 1.0
    return 0.0


@loop
def comes_by(i: i64, j: i64, w: Block) -> i64:
    """1 if the balls about two units, about the centers of mass of their bodies, meet."""
    one = w.body[i]
    other = w.body[j]
    long = 0.0
    along = 0.0
    for a in range(3):
        begin = w.pose[other, a] - w.pose[one, a]
        step = w.end[other, a] - w.end[one, a] - begin
        long += step * step
        along -= begin * step
    part = min(max(along / long, 0.0), 1.0) if long > 0.0 else 0.0
    apart = 0.0
    for a in range(3):
        begin = w.pose[other, a] - w.pose[one, a]
        x = begin + part * (w.end[other, a] - w.end[one, a] - begin)
        apart += x * x
    reach = w.lever[i] + w.lever[j] + w.radius[i] + w.radius[j]
    return 1 if apart <= reach * reach else 0


@loop
def is_kept_apart(i: i64, j: i64, w: Block) -> i64:
    """1 if impulses act between two units, neither of which comes to the other side of them."""
    acts = 0
    for k in range(w.pairs):
        if w.active[k] == 1 and w.force[0, k] > 0.0:
            p = w.pair[k]
            own = w.color[p]
            other = partner_of(p, w)
            if (own == i and other == j) or (own == j and other == i):
                acts = 1
                before = height_over(i, j, k, flat(w.pose), w)
                if before * height_over(i, j, k, flat(w.end), w) < 0.0:
                    return 0
    return acts


@loop
def height_over(i: i64, j: i64, k: i64, poses: ptr, w: Block) -> f64:
    """How far the center of a unit is from that of another along the normal of a contact."""
    return height_along(j, k, poses, w) - height_along(i, k, poses, w)


@loop
def height_along(i: i64, k: i64, poses: ptr, w: Block) -> f64:
    """How far the center of a unit is along the normal of a contact."""
    x = poses[7 * w.body[i] :]
    total = 0.0
    for a in range(3):
        n = w.normal[a, k]
        total += n * x[a]
        if w.general == 1:
            # c + 2 e × (e × c + w c), e and w being the quaternion
            b = (a + 1) % 3
            d = (a + 2) % 3
            total += n * w.middle[i, a]
            total += 2.0 * n * (x[4 + b] * swung(i, d, x, w) - x[4 + d] * swung(i, b, x, w))
    return float(total)


@loop
def swung(i: i64, a: i64, x: ptr, w: Block) -> f64:
    """A component of e × c + w c."""
    c = w.middle[i]
    b = (a + 1) % 3
    d = (a + 2) % 3
    return float(x[4 + b] * c[d] - x[4 + d] * c[b] + x[3] * c[a])
