"""Steps towards rest: down from maxima and saddles of the energy, or by Newton; back on closures.

Public names: unbalanced, moved, downhill, Ways, ways_of, left_along, bent, pushed_down, stepped,
retracted, MOST_STEPS, MOST_PUSHES, PUSH, LONGEST.

Source: DPG14 (Newton steps with the absolute values of the curvatures).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from liaison.numeric import Array

from .local import Local

MOST_STEPS, MOST_PUSHES = 200, 3
"""Steps at most, and how often it is pushed off an equilibrium that is not stable."""

CLOSED = 1e-10
"""Largest |Φ| after a step [m, rad]; a step that leaves more is halved."""

PUSH = 0.1
"""How far it is pushed off an equilibrium that is not stable [rad, m]."""

SURE = 1e-12
"""Relative error of stiffnesses: what is left of a curvature below it is rounding."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""Part of all that acts along a way which is rounding where it balances."""

FREE = 1e-8
"""Part of the largest acceleration that an acceleration counts by where nothing else acts."""

LONGEST = 0.5
"""The longest step [rad, or m for slides: a mechanism's size is not known here]."""


@final
@dataclass(frozen=True)
class Ways:
    """Ways in which a mechanism can move from a position, each apart from the others.

    Args:
        values: curvature along each, in the metric of the mass [1/s²], the smallest first.
        columns: changes of the independent coordinates along each, of kinetic energy ½.
        noise: of the values: what rounding in the stiffness is worth along each.
    """

    values: Array
    columns: Array
    noise: Array

    @property
    def reach(self) -> Array:
        """The largest change of a coordinate along each."""
        return np.asarray(np.max(np.abs(self.columns), axis=0, initial=0.0))


def ways_of(stiffness: Array, mass: Array) -> Ways:
    """Eigenvalues of the symmetric part of the stiffness in the metric of the mass.

    Coordinates are measured by their own inertia first: a stiff spring on one of them takes no
    digits from the others.
    """
    own = np.maximum(np.diagonal(mass), 1e-14 * np.trace(mass) + 1e-300)
    unit = 1.0 / np.sqrt(own)
    root = np.linalg.cholesky(mass * np.outer(unit, unit) + 1e-14 * np.eye(len(mass)))
    K = (stiffness + stiffness.T) / 2 * np.outer(unit, unit)
    half = np.linalg.solve(root, np.linalg.solve(root, K).T)
    values, columns = np.linalg.eigh((half + half.T) / 2)
    noise = SURE * np.einsum("ik,ij,jk->k", np.abs(columns), np.abs(half), np.abs(columns))
    return Ways(values, unit[:, None] * np.linalg.solve(root.T, columns), noise)


def left_along(ways: Ways, force: Array, acting: Array, free: float = FREE) -> float:
    """The largest force along a way, over what acts along it or a unit of displacement wakes.

    Args:
        ways: of the mechanism.
        force: along the independent coordinates, that nothing balances.
        acting: parts that act along them, one a row; their sizes together bound the rounding.
        free: part of the largest acceleration that one counts by at least.
    """
    if not ways.values.size:
        return 0.0
    pull, reach = np.abs(ways.columns.T @ force), np.maximum(ways.reach, 1e-300)
    parts = np.abs(ways.columns.T) @ np.sum(np.abs(acting), axis=0)
    # along a way on which nothing acts, rounding is that of the largest acceleration of all
    beside = np.max(parts * reach) / reach
    woken = np.abs(ways.values) / reach
    sizes = np.maximum(np.max(np.abs(ways.columns.T @ acting.T), axis=1), woken)
    sizes = np.maximum(np.maximum(sizes, free * beside), 1e-300)
    return float(np.max(np.maximum(pull - ROUNDING * (parts + beside), 0.0) / sizes))


def unbalanced(here: Local) -> float:
    """The largest force along what the closures allow, each way by its own size; and |Φ|.

    What acts may be balanced everywhere: the force that a unit of displacement wakes counts too.
    """
    force, acting, ways = _pulled(here)
    return max(left_along(ways, force, acting), _gap(here))


def _pulled(here: Local) -> tuple[Array, Array, Ways]:
    """Forces, their parts τ and h, and the ways, in independent velocities."""
    Z = here.velocities.basis
    acting = here.weights.reshape(2, -1) @ Z
    return Z.T @ here.forces, acting, ways_of(Z.T @ here.stiffness @ Z, here.reduced_mass)


def descent(here: Local, kind: str) -> Array:
    """A change of position towards equilibrium, within what the closures allow."""
    force, _, ways = _pulled(here)
    Z = here.velocities.basis
    if kind == "stable":
        step = Z @ bent(Z.T @ here.stiffness @ Z, ways, force)
    else:
        Z = here.positions.basis
        stiffness = here.velocities.basis.T @ here.stiffness @ Z
        step = Z @ _newton(stiffness, force, here.reduced_mass)
    longest = float(np.max(np.abs(step), initial=0.0))
    return np.asarray(step * min(1.0, LONGEST / longest) if longest else step)


def _newton(stiffness: Array, force: Array, mass: Array) -> Array:
    """The least x with K x = f, rows and columns measured by their own sizes.

    A row that is rounding beside the largest is none: measured by itself, it would be as large.
    """
    unit = 1.0 / np.sqrt(np.maximum(np.diagonal(mass), 1e-300))
    rows = stiffness * unit[:, None]
    own = np.max(np.abs(rows), axis=1, initial=0.0)
    rows[own <= np.finfo(float).eps * np.max(own, initial=0.0)] = 0.0
    size = np.maximum(own, 1e-300)[:, None]
    wide = np.maximum(np.max(np.abs(rows / size), axis=0, initial=0.0), 1e-300)
    x = np.linalg.lstsq(rows / size / wide, force * unit / size[:, 0], rcond=1e-12)[0]
    return np.asarray(x / wide, dtype=float)


def bent(stiffness: Array, ways: Ways, force: Array) -> Array:
    """Newton's step with negative curvatures turned round, in the metric of the mass.

    Along each way the curvature counts as at least what makes the longest step there.
    """
    if not ways.values.size:
        return np.zeros(0)
    pull = ways.columns.T @ force
    floor = np.maximum(np.abs(pull) * ways.reach / LONGEST, ways.noise)
    if np.all(ways.values > np.maximum(floor, 1e-300)):
        return np.asarray(np.linalg.solve(stiffness, force), dtype=float)
    size = np.maximum(np.maximum(np.abs(ways.values), floor), 1e-300)
    return np.asarray(ways.columns @ (pull / size), dtype=float)


def downhill(here: Local) -> Array | None:
    """A small step off an equilibrium along its most negative curvature; None if there is none."""
    _, _, ways = _pulled(here)
    return pushed_down(ways, here.velocities.basis)


def pushed_down(ways: Ways, basis: Array) -> Array | None:
    """A small step along the most negative curvature that is more than rounding."""
    falls = np.flatnonzero(ways.values < -ways.noise)
    if not falls.size:
        return None
    step = basis @ ways.columns[:, falls[0]]
    return np.asarray(PUSH * step / np.max(np.abs(step)))


def moved(here: Local, kind: str) -> Local:
    """One step on; by Newton's method, cut while it leaves more unbalanced than before."""
    step = descent(here, kind)
    ahead = stepped(here, step)
    if kind == "stable":
        return ahead
    for _ in range(8):
        if unbalanced(ahead) < unbalanced(here):
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
