"""A recorded run integrated again from its own instants, for checks that need none nearby.

Public names: retaken, ends_of, refined_rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.simulation import Settings, Trajectory, simulate
from liaison.simulation.between import can_go_on, rows_between
from liaison.simulation.plan.plan import Plan, plan_of

from .along import run_inputs, run_parameters

EXACT = Settings(rtol=1e-10, atol=1e-12)
"""Tolerances of what is integrated again."""


def retaken(plan: Plan, run: Trajectory, verb: str) -> tuple[Plan | None, str]:
    """The plan by which a run is taken up at its instants; or None, and why it cannot be.

    Args:
        plan: of the mechanism along the run.
        run: of it.
        verb: who asks, for the reason.
    """
    if run.t[-1] == run.t[0]:
        return None, "it has one instant"
    try:
        inputs = run_inputs(plan.program, run, verb)
    except SimulationError as error:
        return None, error.message.rstrip(".")
    values = run_parameters(plan.program, run)
    end = float(run.t[-1])
    again = plan_of(plan.kernel, plan.state, end, EXACT, inputs=inputs, parameters=values)
    if not can_go_on(again):
        return None, "contacts or friction act in it"
    return again, ""


def ends_of(plan: Plan, run: Trajectory, most: int) -> tuple[NDArray[np.intp], Array]:
    """Instants after intervals, `most` of them, and the rows there integrated from those before.

    Raises:
        SimulationError: some interval cannot be integrated.
    """
    gaps = np.flatnonzero(np.diff(run.t) > 0)
    chosen = gaps[np.unique(np.linspace(0, len(gaps) - 1, min(most, len(gaps))).astype(int))]
    rows = []
    for k in chosen.tolist():
        here = slice(k, k + 1)
        after = run.t[k + 1 : k + 2]
        rows.append(rows_between(plan, simulate, run.t[here], run.q[here], run.v[here], after))
    return chosen + 1, np.vstack(rows)


def refined_rows(plan: Plan, run: Trajectory, count: int) -> Array:
    """Rows at the instants of a run and at `count` more, each integrated from the one before.

    Raises:
        SimulationError: some interval cannot be integrated.
    """
    more = np.linspace(run.t[0], run.t[-1], count)
    return rows_between(plan, simulate, run.t, run.q, run.v, np.union1d(run.t, more))
