"""Impulses of many contacts by projected Gauss–Seidel sweeps with over-relaxation (SOR).

Each contact in turn gets the impulse that its own rates ask for, the others waiting:

    f_n := max(f_n − ω u_n/a_n, 0),   f_t := f_t − ω u_t/a_t, cut to the length μ f_n    (scene-1)

μ being that of the pair (times the argument `mu` below, 1, or 0 where nothing has friction), with
velocities of the two bodies changed at once, so that a sweep costs a few hundred operations a
contact. Overrelaxed by ω, sweeps carry weight through piles several times faster.

Public names: swept.

Source: JEAN99 §6 (nonsmooth Gauss–Seidel); GVL13 §11.2.7 (successive overrelaxation).
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import Contact, Island
from liaison.contacts.scene.rates import change_velocities, rate, residual_of
from liaison.program.loops.language import f64, i64, loop
from liaison.solvers.cones.table import shrink

LEAP = 10
"""Sweeps after which it is looked at whether they go on straight."""

STRAIGHT = 0.9
"""Cosine of the angle between the ways of two tens of sweeps that counts as straight."""

FARTHEST = 1000.0
"""Ways that one leap may be long."""

OVER = 1.6
"""ω: below 2, at which sweeps would never settle; a contact alone is swept with 1."""


@loop
def swept(mu: f64, limit: f64, allowed: i64, island: Island) -> f64:
    """Sweeps until the residual is at most the limit; the residual."""
    kept = 0
    for turn in range(allowed):
        change = sweep(mu, island)
        island.sweeps += 1
        if not (change > limit * island.strongest):
            residual = float(residual_of(mu, island))
            if not (residual > limit):
                return residual
        if turn % LEAP == LEAP - 1 and turn + LEAP < allowed:
            kept = leap(kept, mu, island)
    return float(residual_of(mu, island))


@loop
def leap(kept: i64, mu: f64, island: Island) -> i64:
    """Goes on along the way of the last sweeps where it is straight, as far as no mode changes.

    Impulses of a pile are not unique, and sweeps carry them along what does not move bodies, at a
    steady pace, until one reaches its bound.

    Args:
        kept: how many states are kept, the last one first, `LEAP` sweeps apart.
        mu: friction.
        island: everything else.

    Returns:
        How many are kept now: two, or none after a leap.
    """
    last = island.last_force
    way = island.way_force
    along = 0.0
    before = 1e-300
    now = 1e-300
    for c in range(island.contacts):
        f = island.contact[c].force
        for r in range(3):
            step = f[r] - last[c, r]
            along += step * way[c, r]
            before += way[c, r] * way[c, r]
            now += step * step
            way[c, r] = step
            last[c, r] = f[r]
    keep_velocities(island)
    if kept < 2 or along < STRAIGHT * sqrt(before * now):
        return min(kept + 1, 2)
    part = along / before
    far = FARTHEST if part >= 1.0 - 1.0 / FARTHEST else part / (1.0 - part)
    go_on(min(far, room(mu, island)), island)
    return 0


@loop
def keep_velocities(island: Island) -> None:
    """The way of velocities since they were kept last, and where they are now."""
    for i in range(island.bodies):
        v = island.next[i].floats
        last = island.last_speed[i].floats
        way = island.way_speed[i].floats
        for j in range(6):
            way[j] = v[j] - last[j]
            last[j] = v[j]


@loop
def go_on(far: f64, island: Island) -> None:
    """Impulses and velocities some times their way further on."""
    for c in range(island.contacts):
        f = island.contact[c].force
        for r in range(3):
            f[r] += far * island.way_force[c, r]
    for i in range(island.bodies):
        v = island.next[i].floats
        way = island.way_speed[i].floats
        for j in range(6):
            v[j] += far * way[j]


@loop
def room(mu: f64, island: Island) -> f64:
    """How far impulses may go along a way: none negative, those inside their bound stay there."""
    far = FARTHEST
    for c in range(island.contacts):
        f = island.contact[c].force
        d = island.way_force[c]
        if d[0] < 0.0:
            far = min(far, -f[0] / d[0])
        # |f_t + s d_t|² = μ² (f_n + s d_n)²
        own = mu * island.contact[c].friction
        rest = own * own * f[0] * f[0] - f[1] * f[1] - f[2] * f[2]
        if rest > 1e-9 * f[0] * f[0]:
            half = f[1] * d[1] + f[2] * d[2] - own * own * f[0] * d[0]
            square = d[1] * d[1] + d[2] * d[2] - own * own * d[0] * d[0]
            root = half * half + square * rest
            if root >= 0.0:
                below = half + sqrt(root)
                if below > 0.0:
                    far = min(far, rest / below)
    return max(far, 0.0)


@loop
def sweep(mu: f64, island: Island) -> f64:
    """All contacts once; the largest change, as a velocity."""
    worst = 0.0
    island.strongest = 0.0
    over = OVER if island.contacts > 1 else 1.0
    for c in range(island.contacts):
        contact = island.contact[c]
        f = contact.force
        a = contact.normal
        new = max(f[0] - over * rate(contact, 0, island) / a, 0.0)
        change = new - f[0]
        f[0] = new
        change_velocities(contact, 0, change, island)
        worst = max(worst, abs(change) * a)
        island.strongest = max(island.strongest, new * a)
        if mu > 0.0:
            worst = max(worst, slide(contact, mu * contact.friction * new, over, island))
    return worst


@loop
def slide(contact: Contact, bound: f64, over: f64, island: Island) -> f64:
    """The friction of one contact; its change, as a velocity."""
    f = contact.force
    a = contact.across
    x = f[1]
    y = f[2]
    if bound > 0.0:
        x -= over * rate(contact, 1, island) / a
        y -= over * rate(contact, 2, island) / a
    part = shrink(x, y, bound)
    dx = part * x - f[1]
    dy = part * y - f[2]
    f[1] += dx
    f[2] += dy
    change_velocities(contact, 1, dx, island)
    change_velocities(contact, 2, dy, island)
    return float(a * max(abs(dx), abs(dy)))
