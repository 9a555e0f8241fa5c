"""Impulses of many contacts: sweeps of Gauss and Seidel over them, each going somewhat too far.

Each contact in turn gets the impulse that its own rates ask for, the others waiting:

    f_n := max(f_n − ω u_n/a_n, 0),   f_t := f_t − ω u_t/a_t, cut to the length μ f_n    (scene-1)

μ being that of the pair (times the argument `mu` below, 1, or 0 where nothing rubs), with
velocities of the two bodies changed at once, so that a sweep costs a few hundred operations a
contact. Overrelaxed by ω, sweeps carry weight through piles several times faster.

Public names: swept.

Source: JEAN99 §6 (nonsmooth Gauss–Seidel); GVL13 §11.2.7 (successive overrelaxation).
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.layout import (
    BODIES,
    COUNT,
    LAW,
    STRONGEST,
    SWEEPS,
    Z_FORCE,
    Z_LAST,
    Z_LAW,
    Z_NEW,
    Z_SCALE,
)
from liaison.contacts.scene.rates import change_velocities, rate, residual_of
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

LEAP = 10
"""Sweeps after which it is looked at whether they go on straight."""

STRAIGHT = 0.9
"""Cosine of the angle between the ways of two tens of sweeps that counts as straight."""

FARTHEST = 1000.0
"""Ways that one leap may be long."""

OVER = 1.6
"""ω: below 2, at which sweeps would never settle."""


@loop
def swept(mu: f64, limit: f64, allowed: i64, z: ptr, k: iptr) -> f64:
    """Sweeps until the residual is at most the limit; the residual."""
    kept = 0
    for turn in range(allowed):
        change = sweep(mu, z, k)
        k[SWEEPS] += 1
        if not (change > limit * z[STRONGEST]):
            residual = float(residual_of(mu, z, k))
            if not (residual > limit):
                return residual
        if turn % LEAP == LEAP - 1 and turn + LEAP < allowed:
            kept = leap(kept, mu, z, k)
    return float(residual_of(mu, z, k))


@loop
def leap(kept: i64, mu: f64, z: ptr, k: iptr) -> i64:
    """Goes on along the way of the last sweeps where it is straight, as far as no mode changes.

    Impulses of a pile are not unique, and sweeps carry them along what does not move bodies, at a
    steady pace, until one reaches its bound.

    Args:
        kept: how many states are kept, the last one first, `LEAP` sweeps apart.
        mu: friction.
        z: floats.
        k: integers.

    Returns:
        How many are kept now: two, or none after a leap.
    """
    m = 3 * k[COUNT]
    size = m + 6 * k[BODIES]
    last = at(z, k[Z_LAST])
    way = at(last, size)
    along = 0.0
    before = 1e-300
    now = 1e-300
    for i in range(m):
        step = z[k[Z_FORCE] + i] - last[i]
        along += step * way[i]
        before += way[i] * way[i]
        now += step * step
    for i in range(m):
        way[i] = z[k[Z_FORCE] + i] - last[i]
        last[i] = z[k[Z_FORCE] + i]
    for i in range(6 * k[BODIES]):
        way[m + i] = z[k[Z_NEW] + i] - last[m + i]
        last[m + i] = z[k[Z_NEW] + i]
    if kept < 2 or along < STRAIGHT * sqrt(before * now):
        return min(kept + 1, 2)
    part = along / before
    far = FARTHEST if part >= 1.0 - 1.0 / FARTHEST else part / (1.0 - part)
    far = min(far, room(mu, way, z, k))
    for i in range(m):
        z[k[Z_FORCE] + i] += far * way[i]
    for i in range(6 * k[BODIES]):
        z[k[Z_NEW] + i] += far * way[m + i]
    return 0


@loop
def room(mu: f64, way: ptr, z: ptr, k: iptr) -> f64:
    """How far impulses may go along a way: none negative, those inside their bound stay there."""
    far = FARTHEST
    for c in range(k[COUNT]):
        f = at(z, k[Z_FORCE] + 3 * c)
        d = at(way, 3 * c)
        if d[0] < 0.0:
            far = min(far, -f[0] / d[0])
        # |f_t + s d_t|² = μ² (f_n + s d_n)²
        own = mu * z[k[Z_LAW] + LAW * c]
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
def sweep(mu: f64, z: ptr, k: iptr) -> f64:
    """All contacts once; the largest change, as a velocity."""
    worst = 0.0
    z[STRONGEST] = 0.0
    for c in range(k[COUNT]):
        f = at(z, k[Z_FORCE] + 3 * c)
        a = at(z, k[Z_SCALE] + 2 * c)
        new = max(f[0] - OVER * rate(c, 0, z, k) / a[0], 0.0)
        change = new - f[0]
        f[0] = new
        change_velocities(c, 0, change, z, k)
        worst = max(worst, abs(change) * a[0])
        z[STRONGEST] = max(z[STRONGEST], new * a[0])
        if mu > 0.0:
            worst = max(worst, slide(c, mu * z[k[Z_LAW] + LAW * c] * new, z, k))
    return worst


@loop
def slide(c: i64, bound: f64, z: ptr, k: iptr) -> f64:
    """The friction of one contact; its change, as a velocity."""
    f = at(z, k[Z_FORCE] + 3 * c)
    a = z[k[Z_SCALE] + 2 * c + 1]
    x = f[1]
    y = f[2]
    if bound > 0.0:
        x -= OVER * rate(c, 1, z, k) / a
        y -= OVER * rate(c, 2, z, k) / a
    length = sqrt(x * x + y * y)
    part = bound / length if length > bound else 1.0
    dx = part * x - f[1]
    dy = part * y - f[2]
    f[1] += dx
    f[2] += dy
    change_velocities(c, 1, dx, z, k)
    change_velocities(c, 2, dy, z, k)
    return float(a * max(abs(dx), abs(dy)))
