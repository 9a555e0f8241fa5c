"""Rates of contacts with impulses, and what impulses still miss.

Public names: start_from, change_velocities, rate, residual_of.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .layout import (
    COUNT,
    K_CONTACT,
    LAW,
    ROWS,
    Z_FORCE,
    Z_LAW,
    Z_NEW,
    Z_PUSH,
    Z_RIGHT,
    Z_ROWS,
    Z_SCALE,
)


@loop
def start_from(z: ptr, k: iptr) -> None:
    """Velocities with the impulses that are guessed."""
    for c in range(k[COUNT]):
        for r in range(3):
            change_velocities(c, r, z[k[Z_FORCE] + 3 * c + r], z, k)


@loop
def change_velocities(c: i64, r: i64, impulse: f64, z: ptr, k: iptr) -> None:
    """v += M⁻¹Dᵀ f of one row."""
    if impulse != 0.0:
        push = at(z, k[Z_PUSH] + 36 * c + 6 * r)
        first = k[k[K_CONTACT] + 2 * c]
        v = at(z, k[Z_NEW] + 6 * k[k[K_CONTACT] + 2 * c + 1])
        for i in range(6):
            v[i] += push[18 + i] * impulse
        if first >= 0:
            other = at(z, k[Z_NEW] + 6 * first)
            for i in range(6):
                other[i] += push[i] * impulse


@loop
def rate(c: i64, r: i64, z: ptr, k: iptr) -> f64:
    """D v of one row, with what restitution adds."""
    row = at(z, k[Z_ROWS] + ROWS * c + 1 + 6 * r)
    first = k[k[K_CONTACT] + 2 * c]
    v = at(z, k[Z_NEW] + 6 * k[k[K_CONTACT] + 2 * c + 1])
    u = z[k[Z_RIGHT] + 3 * c + r]
    for i in range(6):
        u += row[18 + i] * v[i]
    if first >= 0:
        other = at(z, k[Z_NEW] + 6 * first)
        for i in range(6):
            u += row[i] * other[i]
    return float(u)


@loop
def residual_of(mu: f64, z: ptr, k: iptr) -> f64:
    """What the impulses miss of (scene-1), all at once, beside the strongest, as velocities."""
    worst = 0.0
    strongest = 1e-300
    for c in range(k[COUNT]):
        f = at(z, k[Z_FORCE] + 3 * c)
        a = at(z, k[Z_SCALE] + 2 * c)
        # a maximum would pass over what is not a number
        if not abs(f[0]) + abs(f[1]) + abs(f[2]) < 1e300:
            return 1e300
        strongest = max(strongest, f[0] * a[0])
        worst = max(worst, abs(f[0] * a[0] - max(f[0] * a[0] - rate(c, 0, z, k), 0.0)))
        if mu > 0.0:
            x = f[1] - rate(c, 1, z, k) / a[1]
            y = f[2] - rate(c, 2, z, k) / a[1]
            length = sqrt(x * x + y * y)
            bound = mu * z[k[Z_LAW] + LAW * c] * f[0]
            part = bound / length if length > bound else 1.0
            worst = max(worst, a[1] * max(abs(part * x - f[1]), abs(part * y - f[2])))
    return float(worst / strongest)
