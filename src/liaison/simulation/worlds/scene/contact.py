"""Contacts of a world: gaps, normals and arms, which of them count, what gaps add to rates.

Whether bodies go farther past each other in a step than they are thick, as of a scene: what is slow
costs a look at the way of every unit, pairs are looked at where one is fast.

Public names: activate, counted, set_rates, set_gaps, deepest, gap_of, is_passing.

Source: docs/theory/time_stepping.md; docs/theory/convex.md (fast bodies).
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import Contact, Island, World
from liaison.contacts.scene.terrain import goes_through
from liaison.program.loops.language import at, f64, flat, i64, loop, ptr

from .layout import Block, barrier, most_of, total_of
from .narrow import CORNERS, gap_at, rows_at
from .pairs import body_of, height, unit_of
from .sweeps import rate_along
from .turning import set_resistance

TINY = 1e-24  # square of a distance [m²], as of pairs


@loop
def gap_of(k: i64, me: i64, poses: ptr, w: Block) -> f64:
    """The gap of a contact, bodies being at `poses`."""
    if w.general == 1:
        return float(gap_at(k, me, poses, w))
    one = w.one[k]
    other = w.other[k]
    if one < 0:
        return float(height(poses, other, -1 - one, w))
    x = poses[7 * one :]
    y = poses[7 * other :]
    a = y[0] - x[0]
    b = y[1] - x[1]
    c = y[2] - x[2]
    return float(sqrt(a * a + b * b + c * c + TINY) - w.scale[one] - w.scale[other])


@loop
def contact_at(k: i64, me: i64, poses: ptr, w: Block, island: Island) -> f64:
    """The normal of a contact, arms and mobilities, bodies being at `poses`; its gap."""
    if w.general == 1:
        contact = island.contact[k]
        rows_at(k, poses, contact.floats, w)
        set_arms(k, contact, w)
        set_mobility(k, contact, World(at(w.lane_area, me * w.lane_words)).local, w)
        return contact.gap
    set_normal(k, poses, w)
    return float(gap_of(k, me, poses, w))


@loop
def set_arms(k: i64, contact: Contact, w: Block) -> None:
    """The normal, and ρ = ½ Σ s × (ρ × s) of both bodies, from the rows."""
    for j in range(3):
        w.normal[j, k] = contact.rows[3, 3 + j]
        n = (j + 1) % 3
        m = (j + 2) % 3
        near = 0.0
        far = 0.0
        for r in range(3):
            s = contact.rows[3 + r, 3:]
            row = contact.rows[3 + r]
            near += 0.5 * (s[n] * row[m] - s[m] * row[n])
            row = contact.rows[r]
            far -= 0.5 * (s[n] * row[m] - s[m] * row[n])
        w.arm[j, k] = near
        w.arm[3 + j, k] = far


@loop
def set_mobility(k: i64, contact: Contact, work: ptr, w: Block) -> None:
    """How far unit impulses along n and across it move the rates of a contact."""
    answer_to(k, contact.rows[4, 3:], work, w)
    one = contact.rows[4, 3:]
    other = contact.rows[5, 3:]
    a11 = one[0] * work[0] + one[1] * work[1] + one[2] * work[2]
    a12 = other[0] * work[0] + other[1] * work[1] + other[2] * work[2]
    answer_to(k, contact.rows[5, 3:], work, w)
    a22 = other[0] * work[0] + other[1] * work[1] + other[2] * work[2]
    half = 0.5 * (a11 - a22)
    w.mobility[1, k] = 0.5 * (a11 + a22) + sqrt(half * half + a12 * a12)
    answer_to(k, contact.rows[3, 3:], work, w)
    along = 0.0
    for j in range(3):
        w.answer[j, k] = work[j]
        along += contact.rows[3, 3 + j] * work[j]
    w.mobility[0, k] = along


@loop
def answer_to(k: i64, p: ptr, out: ptr, w: Block) -> None:
    """The change of u of a contact with a unit impulse along p at it."""
    for j in range(3):
        out[j] = 0.0
    for side in range(2):
        body = w.other[k] if side == 0 else w.one[k]
        if body >= 0:
            first = 3 * side
            a = w.arm[first, k]
            b = w.arm[first + 1, k]
            c = w.arm[first + 2, k]
            x = b * p[2] - c * p[1]
            y = c * p[0] - a * p[2]
            t = a * p[1] - b * p[0]
            J = w.turned[body]
            wx = J[0] * x + J[1] * y + J[2] * t
            wy = J[3] * x + J[4] * y + J[5] * t
            wt = J[6] * x + J[7] * y + J[8] * t
            out[0] += w.light[body] * p[0] + wy * c - wt * b
            out[1] += w.light[body] * p[1] + wt * a - wx * c
            out[2] += w.light[body] * p[2] + wx * b - wy * a


@loop
def set_normal(k: i64, poses: ptr, w: Block) -> None:
    """The normal of a contact, bodies being at `poses`."""
    one = w.one[k]
    y = poses[7 * w.other[k] :]
    if one < 0:
        for j in range(3):
            w.normal[j, k] = w.plane[-1 - one, j]
    else:
        x = poses[7 * one :]
        a = y[0] - x[0]
        b = y[1] - x[1]
        c = y[2] - x[2]
        length = sqrt(a * a + b * b + c * c + TINY)
        w.normal[0, k] = a / length
        w.normal[1, k] = b / length
        w.normal[2, k] = c / length


@loop
def activate(me: i64, limit: f64, again: i64, poses: ptr, w: Block) -> f64:
    """Pairs whose gap at `poses` is at most the limit become contacts; how many became so."""
    count = 0.0
    k = me
    while k < w.pairs:
        was = w.active[k] if again == 1 else 0
        if was == 0 and gap_of(k, me, poses, w) <= limit:
            w.active[k] = 1
            count += 1.0
        else:
            w.active[k] = was
        k += w.lanes
    return float(total_of(count, me, w))


@loop
def counted(me: i64, w: Block) -> f64:
    """How many contacts there are."""
    count = 0.0
    k = me
    while k < w.pairs:
        count += float(w.active[k])
        k += w.lanes
    return float(total_of(count, me, w))


@loop
def set_rates(me: i64, slack: f64, w: Block, island: Island) -> f64:
    """Normals midway and what gaps and restitution add to rates; the fastest approach."""
    approach = 0.0
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            gap = contact_at(k, me, flat(w.mid), w, island)
            approach = max(approach, set_rate(k, gap, slack, w))
            if w.has_turning == 1:
                set_resistance(k, island.contact[k], w)
        k += w.lanes
    return float(most_of(approach, me, w))


@loop
def set_rate(k: i64, gap: f64, slack: f64, w: Block) -> f64:
    """What the gap of a contact adds to its rate, as of a scene; how fast it approaches."""
    one = w.one[k]
    u = 0.0
    free = 0.0
    if w.general == 1:
        u = rate_along(k, flat(w.speed), w)
        free = rate_along(k, flat(w.free), w)
    else:
        for j in range(3):
            n = w.normal[j, k]
            u += n * w.speed[w.other[k], 3 + j]
            if one >= 0:
                u -= n * w.speed[one, 3 + j]
            else:
                free += w.h * n * w.gravity[j]
        free += u
    apart = max(gap - slack, 0.0) / w.h
    right = apart
    bounce = 0.0
    if u >= 0.0:
        right = max(u, apart)
    elif free >= 2.0 * u and -u >= apart:
        right = 0.0
        bounce = w.friction_of[w.law[k], 1] * u
    w.right[k] = right
    if w.has_bounce == 1:
        w.apart[k] = right
        w.bounce[k] = bounce
    return max(max(-u, -free), abs(right + bounce))


@loop
def deepest(me: i64, w: Block) -> f64:
    """The deepest penetration of all pairs at the end of the step."""
    depth = 0.0
    k = me
    while k < w.pairs:
        depth = max(depth, -gap_of(k, me, flat(w.end), w))
        k += w.lanes
    return float(most_of(depth, me, w))


@loop
def set_gaps(me: i64, w: Block, island: Island) -> None:
    """Gaps and normals at the end of the step, no impulses, no moments and no velocities."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            w.right[k] = contact_at(k, me, flat(w.end), w, island)
            for r in range(4):
                w.force[r, k] = 0.0
            for r in range(3 * w.has_turning):
                w.moment[r, k] = 0.0
        k += w.lanes
    i = me
    while i < w.bodies:
        for j in range(6):
            w.next[i, j] = 0.0
        i += w.lanes
    barrier()


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
        if w.terrains > 0 and own_way(i, w) > w.thin[i]:
            passed = max(passed, through_field(i, me, w))
        if 2.0 * thrown_way(i, w) > w.thin[i]:
            passed = max(passed, hit_by(i, w))
        i += w.lanes
    return 1 if most_of(passed, me, w) > 0.0 else 0


@loop
def through_field(i: i64, me: i64, w: Block) -> f64:
    """1 if a unit goes through what a height field has on its way."""
    world = World(at(w.lane_area, me * w.lane_words))
    flat_planes = w.planes - w.terrains
    for k in range(w.terrains):
        law = w.law_between[w.surface[i], w.plane_surface[flat_planes + k]]
        if law >= 0 and goes_through(i, k, world) == 1:
            return 1.0
    return 0.0


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
            is_far = 1 if way > w.thin[i] + w.thin[other] else 0
            if is_far == 1 and ways_meet(i, other, w) == 1 and is_kept_apart(i, other, w) == 0:
                passed = 1.0
        k += w.lanes
    return passed


@loop
def ways_meet(i: i64, j: i64, w: Block) -> i64:
    """1 if boxes around the ways of two balls overlap, as a scene looks for them; 1 of others."""
    if w.general == 1:
        return 1
    far = w.scale[i] + w.scale[j] + 2.0 * w.margin
    for a in range(3):
        if way_end(i, a, 1.0, w) + far < -way_end(j, a, -1.0, w):
            return 0
        if way_end(j, a, 1.0, w) + far < -way_end(i, a, -1.0, w):
            return 0
    return 1


@loop
def way_end(i: i64, a: i64, side: f64, w: Block) -> f64:
    """How far the center of a ball goes along an axis or, with a side of −1, against it."""
    begin = w.pose[i, a]
    free = begin + w.h * (w.speed[i, 3 + a] + 0.5 * w.h * w.gravity[a])
    return float(max(side * begin, max(side * free, side * w.end[i, a])))


@loop
def partner_of(p: i64, w: Block) -> i64:
    """The unit that the place in a slot is on besides its own; −1: a plane."""
    if w.general == 0:
        return max(body_of(w.color[p], w.key[p], w), -1)
    partner = w.key[p] // CORNERS
    return int(unit_of(w.color[p], partner, w)) if partner < w.wide else -1


@loop
def way_past(one: i64, other: i64, w: Block) -> f64:
    """How far a body goes in the step, seen from another; twice as far as midway, as of a scene."""
    apart = 0.0
    midway = 0.0
    for j in range(3):
        begin = w.pose[one, j] - w.pose[other, j]
        step = w.end[one, j] - w.end[other, j] - begin
        apart += step * step
        step = w.mid[one, j] - w.mid[other, j] - begin
        midway += 4.0 * step * step
    return sqrt(max(apart, midway))


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
                midway = height_over(i, j, k, flat(w.mid), w)
                after = height_over(i, j, k, flat(w.end), w)
                if min(before * midway, before * after) < 0.0:
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
