"""Rolling and pivoting friction of a scene: moments within their bounds, in turns with contacts.

A contact that presses with f_n resists rolling and pivoting about its normal by moments,

    ‖m_t‖ ≤ r f_n against Ω_t = (t₁, t₂)·(ω₂ − ω₁),   |m_n| ≤ p f_n against n·(ω₂ − ω₁),  (scene-2)

as (contact-2). Moments and impulses wait for each other in turns: contacts are solved with the
moments as they are, then moments are swept with the impulses as they are.

Public names: solve_turning, turning, guess_moments, keep_moments.

Source: LL 1.5.1; docs/theory/time_stepping.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.impulses.solve import solve_scene
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .layout import (
    BODIES,
    COUNT,
    K_CONTACT,
    LAW,
    ROWS,
    SWEEPS_ALLOWED,
    TOLERANCE,
    TURNING_RESIDUAL,
    Z_FORCE,
    Z_FREE,
    Z_INVERSE,
    Z_LAW,
    Z_MOMENT,
    Z_MOMENT_KEPT,
    Z_NEW,
    Z_ROWS,
)

ROUNDS = 100
"""Turns of contacts and moments at most."""

OVER = 1.6
"""How far moments go beyond what their own rates ask for."""


@loop
def solve_turning(z: ptr, k: iptr) -> None:
    """Impulses, moments and velocities; what moments still miss is kept in a slot."""
    for _ in range(ROUNDS):
        for i in range(6 * k[BODIES]):
            z[k[Z_NEW] + i] = z[k[Z_FREE] + i]
        for c in range(k[COUNT]):
            push_moment(c, at(z, k[Z_MOMENT] + 3 * c), 1.0, z, k)
        solve_scene(1.0, z[TOLERANCE], k[SWEEPS_ALLOWED], z, k)
        missed = moments(0.0, z, k)
        z[TURNING_RESIDUAL] = missed
        if missed <= z[TOLERANCE]:
            break
        moments(OVER, z, k)


@loop
def moments(over: f64, z: ptr, k: iptr) -> f64:
    """All moments once; what they missed before, beside the strongest, as angular velocities."""
    worst = 0.0
    strongest = 1e-300
    for c in range(k[COUNT]):
        law = at(z, k[Z_LAW] + LAW * c)
        if law[2] > 0.0 or law[3] > 0.0:
            n = at(z, k[Z_ROWS] + ROWS * c + 22)
            press = z[k[Z_FORCE] + 3 * c]
            m = at(z, k[Z_MOMENT] + 3 * c)
            a = stiffest(c, at(n, 6), at(n, 12), z, k)
            b = between(c, n, n, z, k)
            strongest = max(strongest, max(a * law[2], b * law[3]) * press)
            worst = max(worst, roll(c, a, law[2] * press, over, n, m, z, k))
            worst = max(worst, pivot(c, b, law[3] * press, over, n, m, z, k))
    return float(worst / strongest)


@loop
def roll(c: i64, a: f64, bound: f64, over: f64, n: ptr, m: ptr, z: ptr, k: iptr) -> f64:
    """The moment against rolling; its change, as an angular velocity. Without `over`, only that."""
    part = over if over > 0.0 else 1.0
    x = m[1] - part * turning(c, at(n, 6), z, k) / a
    y = m[2] - part * turning(c, at(n, 12), z, k) / a
    length = sqrt(x * x + y * y)
    cut = bound / length if length > bound else 1.0
    dx = cut * x - m[1]
    dy = cut * y - m[2]
    if over > 0.0:
        m[1] += dx
        m[2] += dy
        turn_bodies(c, at(n, 6), dx, z, k)
        turn_bodies(c, at(n, 12), dy, z, k)
    return float(a * max(abs(dx), abs(dy)))


@loop
def pivot(c: i64, b: f64, bound: f64, over: f64, n: ptr, m: ptr, z: ptr, k: iptr) -> f64:
    """The moment about the normal, likewise."""
    part = over if over > 0.0 else 1.0
    wanted = m[0] - part * turning(c, n, z, k) / b
    change = min(max(wanted, -bound), bound) - m[0]
    if over > 0.0:
        m[0] += change
        turn_bodies(c, n, change, z, k)
    return float(b * abs(change))


@loop
def push_moment(c: i64, m: ptr, way: f64, z: ptr, k: iptr) -> None:
    """Angular velocities with the moments of a contact."""
    n = at(z, k[Z_ROWS] + ROWS * c + 22)
    for r in range(3):
        turn_bodies(c, at(n, 6 * r), way * m[r], z, k)


@loop
def turning(c: i64, axis: ptr, z: ptr, k: iptr) -> f64:
    """The angular velocity of the second body seen from the first, about an axis."""
    first = k[k[K_CONTACT] + 2 * c]
    w = at(z, k[Z_NEW] + 6 * k[k[K_CONTACT] + 2 * c + 1])
    total = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2]
    if first >= 0:
        v = at(z, k[Z_NEW] + 6 * first)
        total -= axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]
    return float(total)


@loop
def turn_bodies(c: i64, axis: ptr, moment: f64, z: ptr, k: iptr) -> None:
    """ω += I⁻¹ m of the second body, and against it of the first."""
    if moment != 0.0:
        for side in range(2):
            body = k[k[K_CONTACT] + 2 * c + side]
            if body >= 0:
                inverse = at(z, k[Z_INVERSE] + 9 * body)
                w = at(z, k[Z_NEW] + 6 * body)
                signed = moment if side == 1 else -moment
                for i in range(3):
                    row = at(inverse, 3 * i)
                    w[i] += signed * (row[0] * axis[0] + row[1] * axis[1] + row[2] * axis[2])


@loop
def between(c: i64, one: ptr, other: ptr, z: ptr, k: iptr) -> f64:
    """What a unit moment about one axis does to the turning about another."""
    total = 0.0
    for side in range(2):
        body = k[k[K_CONTACT] + 2 * c + side]
        if body >= 0:
            inverse = at(z, k[Z_INVERSE] + 9 * body)
            for i in range(3):
                for j in range(3):
                    total += one[i] * inverse[3 * i + j] * other[j]
    return total


@loop
def stiffest(c: i64, one: ptr, other: ptr, z: ptr, k: iptr) -> f64:
    """The largest of that over all directions of rolling."""
    a = between(c, one, one, z, k)
    b = between(c, other, other, z, k)
    d = between(c, one, other, z, k)
    half = 0.5 * (a - b)
    return 0.5 * (a + b) + sqrt(half * half + d * d)


@loop
def guess_moments(c: i64, kept: i64, z: ptr, k: iptr) -> None:
    """The moments of the step before, of a pair that touched then."""
    for r in range(3):
        z[k[Z_MOMENT] + 3 * c + r] = z[k[Z_MOMENT_KEPT] + 3 * kept + r] if kept >= 0 else 0.0


@loop
def keep_moments(c: i64, z: ptr, k: iptr) -> None:
    """Keeps the moments of a contact for the guess of the next step."""
    for r in range(3):
        z[k[Z_MOMENT_KEPT] + 3 * c + r] = z[k[Z_MOMENT] + 3 * c + r]
