"""States of a run as a table, for entries of its own kernel or of another.

Public names: plan_along.
"""

from __future__ import annotations

import numpy as np

from liaison.errors import SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation import Settings, Trajectory
from liaison.simulation.plan.plan import Plan, plan_of


def plan_along(kernel: Kernel, run: Trajectory) -> tuple[Plan, Array]:
    """The plan of a run (kernel, parameters) and its rows (t, q, v, u).

    Raises:
        SimulationError: the run is of another mechanism.
    """
    labels = kernel.program.labels
    for name in ("q", "v"):
        mine, theirs = ([x.name for x in label_set[name]] for label_set in (labels, run.labels))
        if mine != theirs:
            raise SimulationError(
                f"the run {run.name!r} is of another mechanism than {kernel.program.name!r}: it "
                f"has {', '.join(theirs)}, not {', '.join(mine)}.",
                status="inconsistent",
            )
    state = State(run.t[0], run.q[0], run.v[0], {x: labels[x] for x in "qv"})
    known = {x.name for x in labels["p"]}
    values = {k: x for k, x in run.meta.get("parameters", {}).items() if k in known}
    plan = plan_of(kernel, state, run.t[0], Settings(), parameters=values)
    return plan, np.column_stack([run.t, run.q, run.v, _inputs(kernel, run)])


def _inputs(kernel: Kernel, run: Trajectory) -> Array:
    """Recorded inputs; their defaults where the run has none."""
    names = [x.name for x in kernel.program.labels["u"]]
    table = np.broadcast_to(kernel.program.defaults["u"], (len(run.t), len(names))).copy()
    if "inputs" in run.series:
        inputs = run.series["inputs"]
        for k, name in enumerate(inputs.axes["input"]):
            if name in names:
                table[:, names.index(name)] = inputs.values[:, k]
    return table
