"""Test whether a mechanism is obstructed where it starts: closures that imply further relations.

Where y with yᵀ G = 0 and a velocity v with G v = ν give yᵀ γ(v) ≠ 0 (analysis-7), G v̇ = γ has no
solution; `deflate.py` says what is done about it.

Public names: is_obstructed, moving, ADDED.

Source: docs/theory/mobility.md (mobility-7).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from liaison.numeric import Array, State
from liaison.program import Kernel

RANK = 1e-6
"""Singular values of G, rows scaled to length 1, below this count as zero: where closures are of
second order, assembly to rounding leaves the square root of it."""

OBSTRUCTED = 1e-5
"""Part of γ, relative to all of it, that is more than the square root of rounding."""

TRIES = 3

ADDED = "second order"
"""What the relations that are added are called, each with a number."""


def is_obstructed(kernel: Kernel, state: State) -> bool:
    """True if some velocity that the closures allow at a state leads nowhere, by (analysis-7)."""
    if not kernel.program.sizes["nc"]:
        return False
    from liaison.analyse.rest.local import local

    here = local(kernel, state)
    length = np.linalg.norm(here.G, axis=1)
    rows = np.where(length > RANK * np.max(length), length, max(1.0, float(np.max(length))))
    U, s, Vt = np.linalg.svd(here.G / rows[:, None])
    rank = int(np.count_nonzero(s > RANK * np.max(s, initial=0.0)))
    if rank == here.nc or rank == here.nv:
        return False
    loose, allowed = U[:, rank:] / rows[:, None], Vt[rank:]
    draws = np.random.default_rng(0).normal(size=(TRIES, here.nv - rank))
    return any(_misses(kernel, state, loose, draw @ allowed) for draw in draws)


def _misses(kernel: Kernel, state: State, loose: Array, way: Array) -> bool:
    """Whether γ along a velocity has a part that no acceleration meets."""
    speed = max(1.0, float(np.linalg.norm(state.v)))
    moving = State(state.t, state.q, state.v + speed * way, state.labels)
    from liaison.analyse.rest.local import local

    gamma = local(kernel, moving).gamma
    size = np.abs(loose).T @ np.abs(gamma)
    return bool(np.any(np.abs(loose.T @ gamma) > OBSTRUCTED * (size + speed**2 * RANK)))


def moving(kernel: Kernel, state: State, firm: Collection[str]) -> State:
    """The state with velocities that keep added relations, too, as near as the firm ones let them.

    Args:
        kernel: of a mechanism that was perhaps completed.
        state: of the mechanism as it was.
        firm: labels of velocities that are given.
    """
    labels = kernel.program.labels
    if not any(x.name.startswith(ADDED) for x in labels["lam"]):
        return state
    from liaison.analyse.rest.local import local

    here = local(kernel, state)
    free = np.array([x.name not in firm for x in labels["v"]], dtype=bool)
    v = np.array(state.v, dtype=float)
    missed = here.scaled_nu - here.scaled_G @ v
    v[free] += np.linalg.lstsq(here.scaled_G[:, free], missed, rcond=RANK)[0]
    left = here.scaled_nu - here.scaled_G @ v
    good = np.max(np.abs(left)) <= RANK * (1 + np.max(np.abs(v)))
    return State(state.t, state.q, v, state.labels) if good else state
