"""deflate: relations that closures of second order leave unsaid, said.

Where y with yᵀ G = 0 and a velocity v with G v = ν give

    yᵀ γ(v) ≠ 0,                                                              (analysis-7)

G v̇ = γ has no solution: v leads nowhere, although the first order allows it. If that is so at every
position near (a non-reduced closure, as δ² = 0), multipliers give a wrong acceleration; what
elimination leaves of G vanishes on the whole variety, and taken for relations of its own it gives G
the rank it lacks. If no velocity is left at all, the mechanism is shaky and cannot move.

Public names: deflate, held, is_obstructed, moving.

Source: docs/theory/mobility.md (mobility-7).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from liaison.analyse.rest.local import local
from liaison.equations import newton_euler
from liaison.equations.transform.dependent import missing
from liaison.errors import DerivationError, LiaisonError
from liaison.expr import Expr, substitute, symbol
from liaison.freedoms import Mobility, mobility
from liaison.model import Holonomic, Mechanism
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.tree import assemble, span

RANK = 1e-6
"""Singular values of G, rows scaled to length 1, below this count as zero: where closures are of
second order, assembly to rounding leaves the square root of it."""

OBSTRUCTED = 1e-5
"""Part of γ, relative to all of it, that is more than the square root of rounding."""

TRIES = 3

ADDED = "second order"
"""What the relations that are added are called, each with a number."""

PATIENCE = 20.0
"""Seconds for asking why a mechanism is obstructed before it is run as it is."""


def is_obstructed(kernel: Kernel, state: State) -> bool:
    """True if some velocity that the closures allow at a state leads nowhere, by (analysis-7)."""
    here = local(kernel, state)
    if not here.nc:
        return False
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
    gamma = local(kernel, moving).gamma
    size = np.abs(loose).T @ np.abs(gamma)
    return bool(np.any(np.abs(loose.T @ gamma) > OBSTRUCTED * (size + speed**2 * RANK)))


def deflate(mechanism: Mechanism, **options: Any) -> Mechanism:
    """The mechanism with relations added that its closures leave unsaid; itself if there are none.

    Args:
        mechanism: whose closures may be of second order all along its motion.
        **options: of `mobility`: order, primes, seed, time_limit.

    Raises:
        DerivationError: it is shaky where it is assembled, and cannot move; or branches meet.
    """
    found = mobility(mechanism, **options)
    if found.status == "regular":
        return mechanism
    if found.status != "non-reduced":
        raise refusal(found)
    return deflated(mechanism, found)


def deflated(mechanism: Mechanism, found: Mobility) -> Mechanism:
    """The mechanism with what is missing at a non-reduced position; itself if it is not decided."""
    if found.finite[0] != found.finite[1]:
        return mechanism
    tree = span(mechanism)
    equations, state = newton_euler(tree), assemble(tree)
    symbols, labels = equations.symbols, equations.labels
    values = {symbols.t: state.t, **dict(zip(symbols.q, state.q.tolist(), strict=True))}
    values |= dict(zip(symbols.p, equations.defaults["p"], strict=True))
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    named: dict[Expr, Any] = {symbols.t: symbol("t")}
    for array in ("q", "p", "u"):
        own = getattr(symbols, array)
        named |= {x: symbol(label.name) for x, label in zip(own, labels[array], strict=True)}
    zeros = substitute(missing(equations, values, found.finite[0]), named)
    more = (Holonomic(f"{ADDED} {k + 1}", x) for k, x in enumerate(zeros))
    return replace(mechanism, constraints=(*mechanism.constraints, *more))


def held(mechanism: Mechanism) -> Mechanism:
    """The same for a mechanism that is obstructed; itself where it cannot be told what holds it.

    Raises:
        DerivationError: it is shaky, and cannot move.
    """
    try:
        found = mobility(mechanism, time_limit=PATIENCE)
    except LiaisonError:
        return mechanism
    if found.status == "shaky":
        raise refusal(found)
    return deflated(mechanism, found) if found.status == "non-reduced" else mechanism


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
    here = local(kernel, state)
    free = np.array([x.name not in firm for x in labels["v"]], dtype=bool)
    v = np.array(state.v, dtype=float)
    missed = here.scaled_nu - here.scaled_G @ v
    v[free] += np.linalg.lstsq(here.scaled_G[:, free], missed, rcond=RANK)[0]
    left = here.scaled_nu - here.scaled_G @ v
    good = np.max(np.abs(left)) <= RANK * (1 + np.max(np.abs(v)))
    return State(state.t, state.q, v, state.labels) if good else state


def refusal(found: Mobility) -> DerivationError:
    """Why a mechanism has no motion, or no single one, where it is assembled."""
    low, high = found.finite
    if high == 0:
        return DerivationError(
            f"'{found.name}' cannot move: its mobility is 0 although its closures leave "
            f"{found.first_order} to first order (it is {found.status}). Forces along that way are "
            "held by no finite reaction.",
            hint="Give joints some play, or a body some elasticity (a spring); "
            "`liaison mobility` tells more.",
        )
    count = f"{low}" if low == high else f"{low} to {high}"
    return DerivationError(
        f"'{found.name}' has no single motion where it is assembled (mobility {count}, "
        f"{found.status}).",
        hint="Start at another position, on the branch that is meant.",
    )
