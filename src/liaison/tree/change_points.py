"""Starts beside a change point, where two branches of a motion cross and the closures lose rank.

With σ the singular value of G that vanishes there, positions are known to rounding over σ, and so
is the direction of the branch to rounding over σ². A start is refused where its speeds belong to
no branch to KEPT, where the change point is nearer than LEAST, or ahead of the motion and nearer
than AHEAD: what the motion does then depends on rounding. On the change point itself the speeds
say by which branch it leaves.

Public names: check_speeds, is_weak, uncertainty, check_distance, AHEAD.

Source: docs/theory/closures.md (closure-5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import AssemblyError, Place

Floats = NDArray[np.float64]

KEPT = 1e-7
"""Part of the speeds that meeting the closures in full may change."""

EXACT = 1e-13
"""Part of the largest singular value up to which another is 0 by rounding."""

SMALL = 3e-3
"""Part of the largest up to which one is looked at closer."""

LOOSE = 1e-6
"""Part of the largest up to which one is 0 away from a change point."""

AHEAD = 1e-3
"""Way of the fastest coordinate within which a change point is looked for [rad, m]."""

UNCORRECTED = 1e-16
"""|Φ| beside 1 + |q| that a run leaves as it is."""

LEAST = 3e-7
"""The nearest a motion may begin that leaves a change point, likewise."""

HINT = (
    "Start on the change point itself with the speeds of one branch, or {far:.0e} or more off it."
)


def check_speeds(
    G: Floats, residual: Floats, v: Floats, given: Mapping[str, float], place: Place | None
) -> None:
    """Raises an error for speeds that are of no branch, though they leave little in the closures.

    Args:
        G: rows of the closures.
        residual: G v − ν.
        v: speeds.
        given: those that are held, by label.
        place: where they are written.
    """
    missing = np.linalg.lstsq(G, residual, rcond=EXACT)[0]
    size = float(np.max(np.abs(missing), initial=0.0))
    if size <= KEPT * max(1.0, float(np.max(np.abs(v), initial=0.0))):
        return
    speeds = ", ".join(f"{name} = {x:.6g}" for name, x in given.items())
    raise AssemblyError(
        f"the speeds {speeds or 'at rest'} are of no branch of the motion: the start lies beside a "
        f"change point, where branches cross, and meeting the closures changes speeds by "
        f"{size:.2g}.",
        hint=HINT.format(far=AHEAD),
        place=place,
    )


def is_weak(G: Floats, lengths: Sequence[bool], slides: Sequence[bool]) -> bool:
    """Whether some singular value is small, and more than rounding, in a unit of length of G's own.

    Args:
        G: rows of the closures.
        lengths: which rows hold lengths.
        slides: which velocities are in m/s.
    """
    rows, columns = np.asarray(lengths, dtype=bool), np.asarray(slides, dtype=bool)
    unit = float(np.max(np.abs(G[np.ix_(rows, ~columns)]), initial=0.0)) or 1.0
    scaled = np.where(rows[:, None], G / unit, G) * np.where(columns, unit, 1.0)
    s = np.linalg.svd(scaled, compute_uv=False) if G.size else np.zeros(0)
    most = float(np.max(s, initial=0.0))
    return bool(np.any((s > EXACT * most) & (s < SMALL * most)))


def uncertainty(G: Floats, phi: Floats, q: Floats) -> float:
    """How far positions are off the closures, where a run would correct them [rad, m].

    Args:
        G: rows of the closures of positions.
        phi: Φ.
        q: positions.
    """
    if np.max(np.abs(phi), initial=0.0) <= UNCORRECTED * (1.0 + np.max(np.abs(q), initial=0.0)):
        return 0.0
    return float(np.max(np.abs(np.linalg.lstsq(G, phi, rcond=EXACT)[0]), initial=0.0))


def check_distance(
    here: Floats, ahead: Floats, behind: Floats, drift: float, place: Place | None
) -> None:
    """Raises an error for a motion that begins too near a change point, or runs into one.

    Near it σ = k |s − s*| along the motion, so that |s*| = 2 h σ(0) / (σ(h) + σ(−h)).

    Args:
        here: G at the start.
        ahead: G a way h = AHEAD on, on the closures.
        behind: G as much before.
        drift: how far positions are off the closures.
        place: of the start.
    """
    now, after, before = (np.linalg.svd(x, compute_uv=False) for x in (here, ahead, behind))
    rank = min(int(np.sum(s > LOOSE * np.max(s))) for s in (after, before))
    if rank == 0 or now[rank - 1] <= EXACT * now[0]:
        return
    weakest: Any = [s[rank - 1] / s[0] for s in (now, after, before)]
    distance = 2 * AHEAD * float(weakest[0] / (weakest[1] + weakest[2]))
    is_approached = weakest[1] < weakest[2]
    least = 0.99 * AHEAD if is_approached else max(LEAST, drift / KEPT)
    if distance >= least:
        return
    where = "before" if is_approached else "behind"
    raise AssemblyError(
        f"the start lies {distance:.2g} rad or m {where} a change point, where two "
        "branches of the motion cross: which one it takes depends on rounding.",
        hint=HINT.format(far=AHEAD),
        place=place,
    )
