"""Check a run with the general theorems of mechanics.

Public names: verify.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from liaison.analyse.along.verify import Verification
from liaison.analyse.along.verify import verify as verified
from liaison.arguments import checked
from liaison.errors import ArgumentError
from liaison.numeric.progress import lasting
from liaison.simulation.plan.options import OF_RUNS, OF_SCENES, RunKeywords, RunOptions, run_options
from liaison.simulation.record.trajectory import Trajectory
from liaison.simulation.run import simulate
from liaison.verbs.along import ready_along
from liaison.verbs.given import Given, Value, in_seconds
from liaison.verbs.ready import ready_for

SINGLE = tuple(x for x in OF_RUNS if x not in OF_SCENES)
"""Options of a run that is no scene."""


@lasting("analyse")
@checked
def verify(
    given: Given,
    run: Trajectory | None = None,
    *,
    about: str | tuple[float, float, float] = "ground",
    until: Value | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Verification:
    """Checks a run with the general theorems of mechanics.

    Args:
        given: the mechanism that moved, or the path of its text.
        run: what it did; simulated now if not given.
        about: the point of the moment: a body, whose origin moves, or a place in the ground [m].
        until: the last instant of a run made now [s]; 1 if not given.
        options: of that run, as a record.
        **keywords: the same one by one, as for `simulate`; rtol is 1e-10 and atol 1e-12
            by default, without a fixed step.

    Raises:
        ArgumentError: a run, and `until` or an option of another.

    Example:
        >>> import liaison
        >>> liaison.verify("examples/pendulum.lsd", until=0.5)
        <Verification every theorem holds>
    """
    chosen = run_options("verify", options, keywords, SINGLE)
    if run is not None:
        _check_unused(until, keywords)
        return verified(ready_along(given, run), run, about=about)
    kernel, state = ready_for(given, None, None, None)
    end = 1.0 if until is None else in_seconds(until, "verify: until")
    tight = {} if "step" in chosen else {"rtol": 1e-10, "atol": 1e-12}
    settings = tight | {"every": (end - state.t) / 1000} | chosen
    run = simulate(kernel, state, until=end, **settings)
    return verified(kernel, run, about=about)


def _check_unused(until: float | str | None, keywords: Mapping[str, Any]) -> None:
    """Raises an error for what is of a run made now, where there is one already."""
    unused = [name for name, x in {"until": until, **keywords}.items() if x is not None]
    if unused:
        raise ArgumentError(
            f"verify: {unused[0]} is of a run that verify makes itself, and a run is passed.",
            hint=f"Leave out {', '.join(unused)}, or the run.",
        )
