"""Rolling and pivoting friction of a world: moments within their bounds, in turns with contacts.

As those of a scene (`contacts/scene/turning.py`, scene-2), moments in the axes of the ground.

Public names: solve_turning, set_resistance.

Source: LL 1.5.1; docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import Contact, Island
from liaison.contacts.scene.turning import OVER, ROUNDS
from liaison.program.loops.language import f64, flat, i64, loop, ptr

from .inside import impulses_of
from .layout import COLORS, Block, barrier, most_of
from .sweeps import free_velocities, inside, turn


@loop
def set_resistance(k: i64, contact: Contact, w: Block) -> None:
    """The largest answers of a contact to moments across n, and about it."""
    if w.general == 1:
        one = contact.rows[4, 3:]
        other = contact.rows[5, 3:]
        a = between(k, one, one, w)
        b = between(k, other, other, w)
        d = between(k, one, other, w)
        half = 0.5 * (a - b)
        w.resist[0, k] = 0.5 * (a + b) + sqrt(half * half + d * d)
        w.resist[1, k] = between(k, contact.rows[3, 3:], contact.rows[3, 3:], w)
    else:
        total = 0.0
        for side in range(2):
            i = w.other[k] if side == 0 else w.one[k]
            if i >= 0:
                total += w.quick[i] / (w.scale[i] * w.scale[i])
        w.resist[0, k] = total
        w.resist[1, k] = total


@loop
def between(k: i64, one: ptr, other: ptr, w: Block) -> f64:
    """What a unit moment about one axis does to the turning about another."""
    total = 0.0
    for side in range(2):
        i = w.other[k] if side == 0 else w.one[k]
        if i >= 0:
            J = w.turned[i]
            for a in range(3):
                for b in range(3):
                    total += one[a] * J[3 * a + b] * other[b]
    return total


@loop
def solve_turning(me: i64, limit: f64, scale: f64, tries: i64, w: Block, island: Island) -> f64:
    """Impulses and moments in turns; the larger of their residuals."""
    left = 0.0
    for _ in range(ROUNDS):
        free_velocities(me, w)
        left = impulses_of(me, limit, scale, tries, w, island)
        missed = moments(me, 0.0, w)
        left = max(left, missed)
        if missed <= w.tolerance:
            break
        moments(me, OVER, w)
    return left


@loop
def moments(me: i64, over: f64, w: Block) -> f64:
    """All moments once; what they missed before, beside the strongest, as angular velocities."""
    worst = 0.0
    strongest = 0.0
    for c in range(w.colors):
        k = w.color_first[c] + me
        end = w.color_first[c + 1]
        if c == COLORS:
            end = end if me == 0 else 0
        while k < end:
            law = w.friction_of[w.law[k]]
            if w.active[k] == 1 and law[2] + law[3] > 0.0:
                press = w.force[0, k]
                strongest = max(strongest, w.resist[0, k] * law[2] * press)
                strongest = max(strongest, w.resist[1, k] * law[3] * press)
                worst = max(worst, roll(k, law[2] * press, over, w))
                worst = max(worst, pivot(k, law[3] * press, over, w))
            k += w.lanes if c < COLORS else 1
        barrier()
    worst = most_of(worst, me, w)
    strongest = most_of(strongest, me, w)
    if strongest > 0.0:
        return float(worst / strongest)
    return 1.0 if worst > 0.0 else 0.0


@loop
def spin_of(k: i64, axis: i64, w: Block) -> f64:
    """A component of the angular velocity of the second body seen from the first."""
    i = w.other[k]
    total = w.next[i, axis] / w.scale[i]
    if w.one[k] >= 0:
        total -= w.next[w.one[k], axis] / w.scale[w.one[k]]
    return float(total)


@loop
def along(k: i64, x: f64, y: f64, t: f64, w: Block) -> f64:
    """The component of a vector along n."""
    return float(w.normal[0, k] * x + w.normal[1, k] * y + w.normal[2, k] * t)


@loop
def roll(k: i64, bound: f64, over: f64, w: Block) -> f64:
    """The moment against rolling; its change, as an angular velocity. Without `over`, only that."""
    a = w.resist[0, k]
    part = (over if over > 0.0 else 1.0) / a
    x = w.moment[0, k] - part * spin_of(k, 0, w)
    y = w.moment[1, k] - part * spin_of(k, 1, w)
    t = w.moment[2, k] - part * spin_of(k, 2, w)
    n = along(k, x, y, t, w)
    own = along(k, w.moment[0, k], w.moment[1, k], w.moment[2, k], w)
    x -= n * w.normal[0, k]
    y -= n * w.normal[1, k]
    t -= n * w.normal[2, k]
    cut = inside(x, y, t, bound)
    # the part along n stays
    x = cut * x + own * w.normal[0, k] - w.moment[0, k]
    y = cut * y + own * w.normal[1, k] - w.moment[1, k]
    t = cut * t + own * w.normal[2, k] - w.moment[2, k]
    if over > 0.0:
        add_moment(k, x, y, t, w)
    return float(a * sqrt(x * x + y * y + t * t))


@loop
def pivot(k: i64, bound: f64, over: f64, w: Block) -> f64:
    """The moment about the normal, likewise."""
    b = w.resist[1, k]
    part = (over if over > 0.0 else 1.0) / b
    own = along(k, w.moment[0, k], w.moment[1, k], w.moment[2, k], w)
    rate = along(k, spin_of(k, 0, w), spin_of(k, 1, w), spin_of(k, 2, w), w)
    change = min(max(own - part * rate, -bound), bound) - own
    if over > 0.0:
        add_moment(k, change * w.normal[0, k], change * w.normal[1, k], change * w.normal[2, k], w)
    return float(b * abs(change))


@loop
def add_moment(k: i64, x: f64, y: f64, t: f64, w: Block) -> None:
    """More of a moment, and velocities with it."""
    w.moment[0, k] += x
    w.moment[1, k] += y
    w.moment[2, k] += t
    turn(k, x, y, t, flat(w.next), w)
