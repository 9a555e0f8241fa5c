"""Unilateral constraints in analyses of one smooth motion: inactive, or an error that names them.

Public names: check_inactive_here, check_inactive_along, check_inactive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liaison.errors import SimulationError
from liaison.model.contacts import ONE_MODE
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.simulation import Trajectory
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.plan import Plan

from .local import Local

TOUCHING = 1e-7
"""Gaps [m, rad] and rates up to which something counts as closed."""


def check_inactive_here(here: Local, verb: str) -> None:
    """Raises an error at a state with an active unilateral constraint; see `check_inactive`."""
    state = here.state
    row = np.concatenate([[state.t], state.q, state.v, here.u])
    check_inactive(here.kernel, row[None], here.p, verb)


def check_inactive_along(
    plan: Plan,
    run: Trajectory,
    rows: Array,
    verb: str,
    hint: str = ONE_MODE,
    p: Array | None = None,
) -> None:
    """Raises an error for a run in which a unilateral constraint or dry friction changed its mode.

    Args:
        plan: of the mechanism.
        run: as it was recorded.
        rows: its states (t, q, v, u).
        verb: in whose name.
        hint: how to fix it.
        p: parameters of the run, where they are not those of the plan.
    """
    for event in run.events if plan.program.facts.get("sides") else ():
        if event.what:
            raise SimulationError(
                f"{event.name!r} is unilateral ({event.what} at t = {event.t:.6g} s); "
                f"{verb} does not account for unilateral constraints.",
                status="one-sided",
                t=event.t,
                hint=hint,
            )
    check_inactive(plan.kernel, rows, plan.parameters if p is None else p, verb, hint)


def check_inactive(kernel: Kernel, rows: Array, p: Array, verb: str, hint: str = ONE_MODE) -> None:
    """Raises an error at states with an active unilateral constraint.

    Args:
        kernel: of the mechanism.
        rows: states (t, q, v, u).
        p: parameters.
        verb: in whose name.
        hint: how to fix it.

    Raises:
        SimulationError: something is closed, penetrated or has friction.
    """
    sides = kernel.program.facts.get("sides", ())
    if not sides:
        return
    out = map_entry(kernel, "one_sided", rows, p)
    for block in sides:
        active = _active(block, sides, out)
        if np.any(active):
            raise _active_error(block, float(rows[int(np.argmax(active)), 0]), verb, hint)


def _active(block: tuple[Any, ...], sides: tuple[Any, ...], out: Array) -> Any:
    """Where a block may push: a gap or a rate that is used up, or friction with its own bound."""
    _, _, kind, first, _, load, *_ = block
    if kind == "gap":
        return out[:, sides.index(block)] <= TOUCHING
    if kind == "rate":
        return out[:, len(sides) + first] <= TOUCHING
    return np.full(len(out), load < 0)


def _active_error(block: tuple[Any, ...], t: float, verb: str, hint: str) -> SimulationError:
    what = "has friction" if block[2] == "friction" else "is closed"
    return SimulationError(
        f"{block[1]!r} is unilateral and {what} at t = {t:.6g} s; {verb} does not account for "
        "unilateral constraints.",
        status="one-sided",
        t=t,
        hint=hint,
    )
