"""Contacts of a world: gaps, normals and arms, which of them count, what gaps add to rates.

Public names: activate, counted, set_rates, set_gaps, deepest, gap_of.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import Contact, Island, World
from liaison.program.loops.language import at, f64, flat, i64, loop, ptr

from .layout import Block, barrier, most_of, total_of
from .narrow import gap_at, rows_at
from .pairs import height
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
    """Gaps and normals at the end of the step, no impulses and no velocities."""
    k = me
    while k < w.pairs:
        if w.active[k] == 1:
            w.right[k] = contact_at(k, me, flat(w.end), w, island)
            for r in range(4):
                w.force[r, k] = 0.0
        k += w.lanes
    i = me
    while i < w.bodies:
        for j in range(6):
            w.next[i, j] = 0.0
        i += w.lanes
    barrier()
