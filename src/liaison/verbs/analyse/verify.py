"""Check a run with the general theorems of mechanics.

Public names: verify.
"""

from __future__ import annotations

from typing import Unpack

from liaison.analyse.along.verify import Verification
from liaison.analyse.along.verify import verify as verified
from liaison.errors import OptionError, checked
from liaison.simulation.plan.options import OF_RUNS, OF_SCENES, RunKeywords, RunOptions, run_options
from liaison.simulation.record.trajectory import Trajectory
from liaison.simulation.run import simulate
from liaison.verbs.along import ready_along
from liaison.verbs.given import Given
from liaison.verbs.ready import ready_for

SINGLE = tuple(x for x in OF_RUNS if x not in OF_SCENES)
"""Options of a run that is no scene."""


@checked
def verify(
    given: Given,
    run: Trajectory | None = None,
    *,
    about: str | tuple[float, float, float] = "ground",
    until: float | None = None,
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
        **keywords: the same one by one, as for `simulate`; rtol is 1e-10 and atol 1e-12 by default.
    """
    chosen = run_options("verify", options, keywords, SINGLE)
    if run is not None:
        without_run = [*chosen, *(() if until is None else ("until",))]
        OptionError.check("verify of a run that is there", without_run, ("about",))
        return verified(ready_along(given, run), run, about=about)
    kernel, state = ready_for(given, None, None, None)
    end = 1.0 if until is None else until
    settings = {"rtol": 1e-10, "atol": 1e-12, "every": (end - state.t) / 1000} | chosen
    run = simulate(kernel, state, until=end, **settings)
    return verified(kernel, run, about=about)
