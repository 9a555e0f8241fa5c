"""Impulses of all contacts of a scene: sweeps where they get there, then all contacts at once.

A pile at rest is solved by a few sweeps from the impulses of the step before. While it falls
together contacts open and slip in ever new sets and sweeps take thousands; the interior method
takes tens of turns whatever the set. Few contacts are solved to rounding.

Public names: solve_scene.

Source: docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import BODIES, COUNT, Z_FORCE, Z_INSIDE, Z_LAST, Z_NEW
from liaison.contacts.scene.rates import rate, residual_of, start_from
from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr

from .cone_pairs import PAIR
from .few import FEW, settle
from .interior import from_inside
from .sweeps import swept

TOGETHER, BRIEFLY = 1e-11, 100
"""Residual that few contacts are solved to, and sweeps before they are solved at once."""

SOON, FIRST, MORE = 60, 250, 60
"""Sweeps before contacts are solved at once: where they come from far, where they are near, and
before that is tried again."""

FAR = 1e-3
"""Residual after the first sweeps that is far."""

BEGIN, TRIES, MOST = (0.1, 1.0), 2, 60
"""How far inside their cones impulses begin, beside the strongest, by tries; turns of each."""


@loop
def solve_scene(mu: f64, tolerance: f64, allowed: i64, z: ptr, k: iptr) -> f64:
    """Impulses and velocities, from those guessed; their residual.

    Args:
        mu: 1, or 0 where nothing rubs.
        tolerance: residual that is enough for more than `FEW` contacts.
        allowed: sweeps at most.
        z: floats; velocities without impulses come in Z_NEW.
        k: integers.
    """
    if k[COUNT] <= FEW:
        return solve_few(mu, min(TOGETHER, tolerance), min(allowed, BRIEFLY), z, k)
    free = at(z, k[Z_INSIDE] + (PAIR + 3) * k[COUNT] + 12 * k[BODIES])
    for i in range(6 * k[BODIES]):
        free[i] = z[k[Z_NEW] + i]
    start_from(z, k)
    residual = swept(mu, tolerance, min(allowed, SOON), z, k)
    left = allowed - FIRST
    if residual > tolerance and residual < FAR:
        residual = swept(mu, tolerance, min(allowed, FIRST) - SOON, z, k)
    for turn in range(TRIES):
        if residual <= tolerance:
            break
        residual = from_inside(mu, tolerance, BEGIN[turn], MOST, free, z, k)
        if residual <= tolerance or left <= 0:
            break
        residual = swept(mu, tolerance, min(left, MORE), z, k)
        left -= MORE
    if residual > tolerance and left > 0:
        residual = swept(mu, tolerance, left, z, k)
    return float(residual)


@loop
def solve_few(mu: f64, limit: f64, allowed: i64, z: ptr, k: iptr) -> f64:
    """Few contacts: sweeps to rounding, or all at once; the residual."""
    kept = at(z, k[Z_LAST] + 2 * (3 * k[COUNT] + 6 * k[BODIES]))
    for c in range(k[COUNT]):
        for r in range(3):
            kept[3 * c + r] = rate(c, r, z, k)
    free = at(kept, 3 * k[COUNT])
    for i in range(6 * k[BODIES]):
        free[i] = z[k[Z_NEW] + i]
    start_from(z, k)
    residual = swept(mu, limit, allowed, z, k)
    if residual > limit:
        residual = together(mu, residual, kept, z, k)
    if residual > limit:
        # from elsewhere: impulses that the interior method comes to
        from_inside(mu, limit, BEGIN[0], MOST, free, z, k)
        residual = together(mu, 1e300, kept, z, k)
    return float(residual)


@loop
def together(mu: f64, residual: f64, kept: ptr, z: ptr, k: iptr) -> f64:
    """All contacts at once, unless what was there is better; the residual."""
    m = 3 * k[COUNT]
    before = at(z, k[Z_LAST])
    for i in range(m):
        before[i] = z[k[Z_FORCE] + i]
    settle(mu, kept, z, k)
    found = restart(mu, kept, z, k)
    if found > residual:
        for i in range(m):
            z[k[Z_FORCE] + i] = before[i]
        found = restart(mu, kept, z, k)
    return found


@loop
def restart(mu: f64, kept: ptr, z: ptr, k: iptr) -> f64:
    """Velocities with the impulses as they are; the residual."""
    for i in range(6 * k[BODIES]):
        z[k[Z_NEW] + i] = kept[3 * k[COUNT] + i]
    start_from(z, k)
    return float(residual_of(mu, z, k))
