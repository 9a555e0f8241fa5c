"""Steps towards rest: down from maxima and saddles of the energy, or by Newton; back on closures.

Public names: unbalanced, moved, downhill, curvatures, stepped, retracted, MOST_STEPS,
MOST_PUSHES, PUSH, LONGEST.

Source: DPG14 (Newton steps with the absolute values of the curvatures).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liaison.numeric import Array

from .local import Local

MOST_STEPS, MOST_PUSHES = 200, 3
"""Steps at most, and how often it is pushed off an equilibrium that is not stable."""

CLOSED = 1e-10
"""Largest |Φ| after a step [m, rad]; a step that leaves more is halved."""

PUSH = 0.1
"""How far it is pushed off an equilibrium that is not stable [rad, m]."""

LONGEST = 0.5
"""The longest step [rad, or m for slides: a mechanism's size is not known here]."""


def unbalanced(here: Local) -> float:
    """The largest force along what the closures allow, over the largest that acts; and |Φ|.

    What acts may be balanced everywhere: the force that a unit of displacement wakes counts too.
    """
    Z = here.velocities.basis
    woken = Z.T @ here.stiffness @ here.positions.basis
    sizes = [float(np.max(np.abs(x), initial=0.0)) for x in (here.weights, woken)]
    return max(left_over(here) / max(*sizes, 1e-30), _gap(here))


def left_over(here: Local) -> float:
    """The largest generalised force along what the closures allow."""
    return float(np.max(np.abs(here.velocities.basis.T @ here.forces), initial=0.0))


def descent(here: Local, kind: str) -> Array:
    """A change of position towards equilibrium, within what the closures allow."""
    Z = here.positions.basis
    force = here.velocities.basis.T @ here.forces
    stiffness = here.velocities.basis.T @ here.stiffness @ Z
    if kind == "stable" and stiffness.shape == here.reduced_mass.shape:
        ways = _bent(stiffness, here.reduced_mass, force)
    else:
        ways = np.asarray(np.linalg.lstsq(stiffness, force, rcond=1e-12)[0], dtype=float)
    step = Z @ ways
    longest = float(np.max(np.abs(step), initial=0.0))
    return np.asarray(step * min(1.0, LONGEST / longest) if longest else step)


def _bent(stiffness: Array, mass: Array, force: Array) -> Array:
    """Newton's step with negative curvatures turned round, in the metric of the mass."""
    if not mass.size:
        return np.zeros(0)
    values, ways = curvatures(stiffness, mass)
    pull = ways.T @ force
    floor = max(1e-6 * np.max(np.abs(values)), 1e-9 * np.max(np.abs(pull)), 1e-300)
    if np.all(values > floor):
        return np.asarray(np.linalg.solve(stiffness, force), dtype=float)
    return np.asarray(ways @ (pull / np.maximum(np.abs(values), floor)), dtype=float)


def curvatures(stiffness: Array, mass: Array) -> tuple[Array, Array]:
    """Eigenvalues of the symmetric part, in the metric of the mass, and their directions."""
    root = np.linalg.cholesky(mass + 1e-14 * np.trace(mass) * np.eye(len(mass)))
    half = np.linalg.solve(root, np.linalg.solve(root, (stiffness + stiffness.T) / 2).T)
    values, ways = np.linalg.eigh((half + half.T) / 2)
    return values, np.asarray(np.linalg.solve(root.T, ways))


def downhill(here: Local) -> Array | None:
    """A small step off an equilibrium along its most negative curvature; None if there is none."""
    Z = here.positions.basis
    stiffness = here.velocities.basis.T @ here.stiffness @ Z
    if stiffness.shape != here.reduced_mass.shape or not stiffness.size:
        return None
    values, ways = curvatures(stiffness, here.reduced_mass)
    if values[0] >= -1e-9 * np.max(np.abs(values)):
        return None
    step = Z @ ways[:, 0]
    return np.asarray(PUSH * step / np.max(np.abs(step)))


def moved(here: Local, kind: str) -> Local:
    """One step on; by Newton's method, cut while it leaves more unbalanced than before."""
    step = descent(here, kind)
    ahead = stepped(here, step)
    if kind == "stable":
        return ahead
    for _ in range(8):
        if left_over(ahead) < left_over(here):
            return ahead
        step = step / 2
        ahead = stepped(here, step)
    return ahead


def stepped(here: Local, step: Array) -> Local:
    """The mechanism moved by a change of position and put back on its closures."""
    for _ in range(12):
        ahead = closed(retracted(here, step))
        if _gap(ahead) <= CLOSED:
            return ahead
        step = step / 2
    return here


def closed(here: Local) -> Local:
    """Put back on its closures by Newton's method, as far as it gets."""
    for _ in range(20):
        gap = _gap(here)
        if gap <= 1e-14:
            break
        again = retracted(here, here.back)
        if not _gap(again) < gap:
            break
        here = again
    return here


def _gap(here: Local) -> float:
    return float(np.max(np.abs(here.phi), initial=0.0))


def retracted(here: Local, step: Array) -> Local:
    """q ⊞ ξ."""
    q = here.kernel("retract", here.state.t, q=here.state.q, u=here.u, p=here.p, x=step)
    return replace(here, state=replace(here.state, q=q))
