"""States of a run between its recorded instants, by the equations of motion themselves.

From the recorded instant before, the run is taken up again with its own kernel, parameters, inputs
and tolerances. Interpolation would leave the closures, and be as good as the instants are near.

Public names: can_go_on, rows_between, inputs_of_plan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from liaison.numeric import Array, State
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.settings import Settings

Simulate: TypeAlias = Callable[..., Any]
"""`simulation.run.simulate`, handed in: runs make trajectories, which go on by runs."""

FIXED = {"rtol": 1e-10, "atol": 1e-12}
"""Tolerances between the instants of a run with fixed steps that are a few steps apart."""

SEVERAL = 5
"""Fixed steps from one instant to the next from which on a run is taken up by the same steps: they
cost no more than the run did, and stiff runs no other method."""


def can_go_on(plan: Plan) -> bool:
    """Whether the run can be taken up at a recorded instant: no contacts, no Python controllers."""
    is_moreau = plan.settings.tableau.scheme == "moreau"
    return not (is_moreau or sides_in(plan.program) or plan.inputs.controllers)


def rows_between(
    plan: Plan, simulate: Simulate, t: Array, q: Array, v: Array, times: Array
) -> Array:
    """Rows (t, q, v, u) of a run at instants within it.

    Args:
        plan: of the run, which `can_go_on`.
        simulate: what runs a kernel.
        t: recorded instants.
        q: positions there.
        v: velocities there.
        times: instants, in any order.
    """
    order = np.argsort(times, kind="stable")
    place = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 1)
    rows = np.zeros((len(times), 1 + q.shape[1] + v.shape[1] + plan.inputs.held.size))
    for k in np.unique(place):
        here = order[place[order] == k]
        state = State(t[k], q[k], v[k])
        rows[here] = _from(plan, simulate, state, times[here], t[min(k + 1, len(t) - 1)])
    return rows


def _from(plan: Plan, simulate: Simulate, state: State, times: Array, until: float) -> Array:
    """Rows at increasing instants from a state on, before the next; the state itself at its own."""
    instants, back = np.unique(np.maximum(times, state.t), return_inverse=True)
    names = [x.name for x in plan.program.labels.get("p", ())]
    run = simulate(
        plan.kernel, state, float(instants[-1]), every=instants, series=(), watch=False,
        inputs=inputs_of_plan(plan),
        parameters=dict(zip(names, plan.parameters.tolist(), strict=False)),
        **_steps(plan.settings, until - state.t),
    )  # fmt: skip
    u = run.series["inputs"].values if "inputs" in run.series else np.zeros((len(run.t), 0))
    rows = np.column_stack([run.t, run.q, run.v, u])
    # what was recorded stays as it is, bit for bit
    at_start = instants == state.t
    rows[at_start, 1 : 1 + state.q.size + state.v.size] = np.concatenate([state.q, state.v])
    return np.asarray(rows[back])


def _steps(settings: Settings, length: float) -> dict[str, Any]:
    """Method, step and tolerances from a recorded instant to the next, so far away [s]."""
    step = settings.step
    if settings.is_adaptive:
        return {
            "method": settings.tableau.name, "max_step": settings.max_step,
            "rtol": settings.rtol, "atol": settings.atol,
        }  # fmt: skip
    if step is None or length < SEVERAL * step:
        return {"method": None, "max_step": settings.max_step, **FIXED}
    radius = settings.spectral_radius
    own = {} if radius is None else {"spectral_radius": radius}
    return {"method": settings.tableau.name, "step": step, **own}


def inputs_of_plan(plan: Plan) -> dict[str, Any]:
    """Inputs by name, as numbers and formulas."""
    names = [x.name for x in plan.program.labels.get("u", ())]
    inputs: dict[str, Any] = dict(zip(names, plan.inputs.held.tolist(), strict=False))
    return inputs | {names[slot]: formula for slot, formula in plan.inputs.formulas}
