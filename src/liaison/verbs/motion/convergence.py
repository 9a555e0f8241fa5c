"""Compare viscous friction with the constraints it replaces.

Public names: convergence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from liaison.analyse.rest.viscous import ALPHA, Convergence, with_alpha
from liaison.analyse.rest.viscous import convergence as distances
from liaison.arguments import checked
from liaison.numeric import Array
from liaison.numeric.progress import lasting
from liaison.simulation.plan.options import OF_RUNS, OF_SCENES, RunKeywords, RunOptions, run_options
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of, with_starts, with_values
from liaison.verbs.instants import instants
from liaison.verbs.ready import ready_for

from .simulate import simulate

OPTIONS_TAKEN = tuple(x for x in OF_RUNS if x not in OF_SCENES)
"""Options of its runs."""


@lasting("simulation")
@checked
def convergence(
    given: Given,
    alphas: Sequence[float],
    until: Value,
    *,
    only: Iterable[str] | None = None,
    constrained: Trajectory | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Convergence:
    """Convergence of unilateral viscous friction to the relations it replaces, as α grows.

    Args:
        given: the mechanism, or the path of its text.
        alphas: coefficients of the friction, such as (10, 100, 1000).
        until: the last instant [s].
        only: names of the relations that become friction; all of rates if not given.
        constrained: the motion that keeps the relations, at these instants; run if not given.
        start: positions and rates to assemble from, by label.
        parameters: values by name, in SI.
        options: of the runs, as a record.
        **keywords: the same one by one, as for `simulate`; by default Radau with rtol 1e-10 and
            atol 1e-12. Motions are compared at `every` instants or a period [s]; 400 if not
            given.

    Example:
        >>> import liaison
        >>> result = liaison.convergence("examples/chaplygin_unilateral.lsd", [10, 100], 3)
        >>> result.distances[1].position < result.distances[0].position
        True
    """
    until = in_seconds(until, "convergence: until")
    chosen = run_options("convergence", options, keywords, OPTIONS_TAKEN)
    mechanism = with_starts(with_values(mechanism_of(given), parameters or {}), start or {})
    kernel, state = ready_for(with_alpha(mechanism, only), None, None, None)
    every = chosen.pop("every", None)
    times = instants(state.t, until, (until - state.t) / 400 if every is None else every)
    fine: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12, "every": times} | chosen
    fine["only_series"] = fine.pop("series", ())
    if constrained is None:
        constrained = simulate(mechanism, until=until, **fine)
    stiff: dict[str, Any] = {"method": "radau"} | fine

    def run(alpha: float) -> Trajectory:
        return simulate(kernel, state, until=until, parameters={ALPHA: alpha}, **stiff)

    def apart(q: Array, other: Array) -> Array:
        return kernel("difference", state.t, q=q, v=state.v, x=other)

    return distances(mechanism.name, alphas, run, constrained, apart)
