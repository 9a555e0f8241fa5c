"""A recorded run as a table of states, with what it was made with: parameters, inputs, starts.

Every analysis of a run takes its values from here, so that none of them falls back to those of the
description. What a run was given for its inputs is kept in `run.meta["inputs"]`: a number, a
formula as plain data, or the period of a Python controller.

Public names: plan_along, check_of, run_parameters, run_inputs, run_input_values, state_of,
state_between, poses_at, CONTROLLED.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liaison.errors import SimulationError
from liaison.expr import Expr, evaluate
from liaison.numeric import Array, State
from liaison.program import Kernel, Program
from liaison.program.extend import formula_from_plain, resolve
from liaison.simulation import Settings, Trajectory, simulate
from liaison.simulation.between import can_go_on, rows_between
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.record.resampling import check_within
from liaison.simulation.record.series import Series
from liaison.simulation.report import equations_identity

CONTROLLED = "was set by a Python controller, whose values between its calls follow from no formula"
"""Why an analysis cannot go on between the recorded instants of a run."""


def plan_along(kernel: Kernel, run: Trajectory) -> tuple[Plan, Array]:
    """The plan of a run (kernel, parameters) and its rows (t, q, v, u).

    Raises:
        SimulationError: the run is of another mechanism.
    """
    check_of(kernel.program, run)
    values = run_parameters(kernel.program, run)
    plan = plan_of(kernel, state_of(run, 0), run.t[0], Settings(), parameters=values)
    return plan, np.column_stack([run.t, run.q, run.v, run_input_values(kernel.program, run)])


def check_of(program: Program, run: Trajectory) -> None:
    """Raises an error for a run of another mechanism: other coordinates, or other parameters."""
    for name in ("q", "v"):
        mine, theirs = ([x.name for x in of[name]] for of in (program.labels, run.labels))
        if mine != theirs:
            raise SimulationError(
                f"the run {run.name!r} is of another mechanism than {program.name!r}: it "
                f"has {', '.join(theirs)}, not {', '.join(mine)}.",
                status="inconsistent",
            )
    known = {x.name for x in program.labels["p"]}
    strange = [x for x in run.meta.get("parameters", {}) if x not in known]
    if strange:
        raise SimulationError(
            f"the run {run.name!r} is of another mechanism than {program.name!r}: it was made with "
            f"the parameter {strange[0]!r}, which this one does not have.",
            status="inconsistent",
        )


def poses_at(kernel: Kernel, q: Array, t: float | Array = 0.0) -> Series:
    """Poses of all bodies at positions q, shape (n, nq), and times t [s], one or shape (n,)."""
    bodies = tuple(name for name, _ in kernel.program.entry("poses").layout)
    still = np.zeros(int(kernel.program.sizes["nv"]))
    rows = kernel("poses", t, q=q, v=still).reshape(len(q), len(bodies), 12)
    R, p = rows[..., :9].reshape(len(q), -1, 3, 3), rows[..., 9:, None]
    return Series.of_poses(np.concatenate([R, p], axis=-1), bodies)


def state_of(run: Trajectory, k: int) -> State:
    """The state of a run at its k-th recorded instant."""
    return State(run.t[k], run.q[k], run.v[k], {x: run.labels[x] for x in "qv"})


def state_between(kernel: Kernel, run: Trajectory, t: float) -> tuple[State, dict[str, float]]:
    """The state of a run at an instant within it [s], and its inputs there by name.

    Between recorded instants it is integrated from the one before, where the run was made with the
    equations of this kernel; else it is interpolated.
    """
    program, labels = kernel.program, {x: run.labels[x] for x in "qv"}
    names = [x.name for x in program.labels["u"]]
    rows = None if t in run.t else _integrated(kernel, run, t)
    if rows is not None:
        q, v, u = np.split(rows[0, 1:], np.cumsum([run.q.shape[1], run.v.shape[1]]))
        return State(t, q, v, labels), dict(zip(names, u.tolist(), strict=True))
    there = run.resample([t])
    u = run_input_values(program, there)[0]
    return State(t, there.q[0], there.v[0], labels), dict(zip(names, u.tolist(), strict=True))


def _integrated(kernel: Kernel, run: Trajectory, t: float) -> Array | None:
    """The row (t, q, v, u) at an instant by the equations of the run; None where these differ."""
    own = run.meta.get("equations")
    check_within(run.t, np.array([t]))
    if not own or own != equations_identity(kernel.program):
        return None
    try:
        inputs = run_inputs(kernel.program, run, "a state between instants")
    except SimulationError:  # of a Python controller
        return None
    values = run_parameters(kernel.program, run)
    settings = Settings(rtol=run.meta["rtol"], atol=run.meta["atol"])
    plan = plan_of(kernel, state_of(run, 0), run.t[-1], settings, inputs=inputs, parameters=values)
    if not can_go_on(plan):
        return None
    return rows_between(plan, simulate, run.t, run.q, run.v, np.array([t]))


def run_parameters(program: Program, run: Trajectory) -> dict[str, float]:
    """Parameters as the run had them, by name; those that it does not name keep their defaults."""
    known = {x.name for x in program.labels["p"]}
    return {k: float(x) for k, x in run.meta.get("parameters", {}).items() if k in known}


def run_input_values(program: Program, run: Trajectory) -> Array:
    """Inputs at every instant: as recorded, else as given; their defaults where it says neither.

    Raises:
        SimulationError: an input came from a Python controller, and is not recorded.
    """
    names = [x.name for x in program.labels["u"]]
    table = np.broadcast_to(program.defaults["u"], (len(run.t), len(names))).copy()
    kept: Mapping[str, Any] = run.meta.get("inputs", {})
    recorded = run.series.get("inputs")
    columns = () if recorded is None else recorded.axes["input"]
    formulas: dict[int, Expr] = {}
    for k, name in enumerate(names):
        what = kept.get(name)
        if recorded is not None and name in columns:
            table[:, k] = recorded.values[:, columns.index(name)]
        elif isinstance(what, int | float):
            table[:, k] = what
        elif isinstance(what, Mapping) and what.get("formula"):
            formulas[k] = formula_from_plain(what["formula"])
        elif what is not None:
            raise SimulationError(
                f"the input {name!r} of the run {run.name!r} {CONTROLLED}, and it is not recorded.",
                status="inconsistent",
                hint='Run with the series "inputs" among those recorded.',
            )
    for k, formula in formulas.items():  # which read inputs that are held, and no others
        table[:, k] = _along_states(program, run, table, formula)
    return table


def _along_states(program: Program, run: Trajectory, u: Array, formula: Expr) -> Array:
    """A formula of time, states, inputs and parameters at every recorded instant."""
    own = {x.name: run.meta.get("parameters", {}).get(x.name) for x in program.labels["p"]}
    defaults = dict(zip(own, program.defaults["p"].tolist(), strict=True))
    columns: dict[str, Any] = {"t": run.t[:, None], "q": run.q, "v": run.v, "u": u}
    columns["p"] = np.array([[defaults[k] if x is None else x for k, x in own.items()]])
    places = resolve(program, [formula])
    values = {x: columns[array][:, k] for x, (array, k) in places.items() if array in columns}
    return np.asarray(np.broadcast_to(evaluate([formula], values)[0], (len(run.t),)), dtype=float)


def run_inputs(program: Program, run: Trajectory, verb: str) -> dict[str, Any]:
    """Inputs as the run had them between its instants: numbers and formulas, by name.

    Args:
        program: of the mechanism.
        run: of it.
        verb: who asks, for the message.

    Raises:
        SimulationError: an input came from a Python controller, or the run does not say from what.
    """
    kept: Mapping[str, Any] = run.meta.get("inputs", {})
    recorded = run_input_values(program, run)
    inputs: dict[str, Any] = {}
    for k, label in enumerate(program.labels["u"]):
        what = kept.get(label.name)
        if isinstance(what, int | float):
            inputs[label.name] = float(what)
        elif isinstance(what, Mapping) and what.get("formula"):
            inputs[label.name] = formula_from_plain(what["formula"])
        elif what is None and np.ptp(recorded[:, k]) == 0.0:
            inputs[label.name] = float(recorded[0, k])
        else:
            is_controlled = isinstance(what, Mapping) and "controller" in what
            raise SimulationError(
                f"{verb} needs the input {label.name!r} between the recorded instants; it "
                + (f"{CONTROLLED}." if is_controlled else "is recorded at these instants alone."),
                status="inconsistent",
                hint="Give the input as a formula of coordinates, rates and time, or as a table, "
                "and run again.",
            )
    return inputs
