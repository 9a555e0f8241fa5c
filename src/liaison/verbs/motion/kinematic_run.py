"""Move a mechanism by drives that leave it no freedom.

Public names: kinematic_run, driven, law_of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from liaison.analyse.along.inverse_motion import SERIES
from liaison.analyse.along.inverse_motion import kinematic_run as moved_by_drives
from liaison.arguments import checked
from liaison.errors import ModelError
from liaison.expr.graph.node import symbol
from liaison.expr.table import Table
from liaison.model.mechanism import Mechanism
from liaison.model.relations.imposed import PrescribedMotion
from liaison.numeric.progress import lasting
from liaison.simulation.plan.options import RunOptions, run_options
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import si_values
from liaison.verbs.given import Given, Value, in_seconds, in_si, mechanism_of
from liaison.verbs.instants import instants
from liaison.verbs.ready import ready_for


@lasting("analyse")
@checked
def kinematic_run(
    given: Given,
    motion: Mapping[str, Any] | None = None,
    *,
    until: Value,
    every: Value | Sequence[Value] = 0.01,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Value] | None = None,
    series: Sequence[str] | None = None,
    only_series: Sequence[str] | None = None,
    stop: Any = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Trajectory:
    """Moves a mechanism by drives that leave it no freedom: kinematics alone, forces after.

    Args:
        given: the mechanism, or the path of its text.
        motion: coordinate -> formula of `time`, or a `Table` over time; besides what the mechanism
            imposes itself. Starts of these coordinates and of all rates are set aside.
        until: the last instant [s].
        every: a period [s], after whose multiples the last instant comes; or instants.
        start: positions to assemble from, by label.
        parameters: values by name, in SI.
        inputs: values by name instead of the defaults.
        series: what to evaluate along the run besides what drives need.
        only_series: what to evaluate, and nothing else.
        stop: what ends it, as for `simulate`: names of events, formulas, values by label.
        rtol: error allowed a step where relations of rates are integrated, or events located.
        atol: the same, absolute.

    Example:
        >>> import liaison
        >>> turning = {"A": 2 * liaison.t}
        >>> run = liaison.kinematic_run("examples/four_bar.lsd", turning, until=1, every=0.25)
        >>> run["D"].round(3)
        array([4.027, 3.874, 3.737, 3.642, 3.59 ])
    """
    mechanism = driven(mechanism_of(given), motion or {})
    kernel, state = ready_for(mechanism, None, start, parameters)
    named = RunOptions(series=series, only_series=only_series)
    chosen = run_options("kinematic_run", named, {}, ("series", "only_series"), SERIES)
    end = in_seconds(until, "kinematic_run: until")
    times = instants(state.t, end, si_values(every, "s", "kinematic_run: every"))
    run = moved_by_drives(
        kernel,
        state,
        times,
        inputs=in_si(mechanism, inputs, "inputs"),
        series=chosen.get("series", SERIES),
        stop=stop,
        rtol=rtol,
        atol=atol,
    )
    return run.with_mechanism(mechanism)


def driven(mechanism: Mechanism, motion: Mapping[str, Any]) -> Mechanism:
    """The mechanism with coordinates that follow laws of time, and no start against them."""
    laws = tuple(PrescribedMotion(f"drive {x}", x, law_of(law)) for x, law in motion.items())
    own = [x.coordinate for x in mechanism.constraints if isinstance(x, PrescribedMotion)]
    imposed = {*motion, *own}
    starts = tuple(
        x for x in mechanism.starts if x.label not in imposed and not x.label.endswith("'")
    )
    return replace(mechanism, constraints=mechanism.constraints + laws, starts=starts)


def law_of(law: Any) -> Any:
    """A formula of time; a table becomes one."""
    if isinstance(law, Table):
        return law(symbol("t"))
    if callable(law):
        raise ModelError(
            "a motion is a formula of `time` or a Table, not a Python function: its rates are "
            "derived.",
            hint="Sample the function: Table(times, [f(t) for t in times]).",
        )
    return law
