"""Differentiate a run with respect to parameters.

Public names: sensitivities.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from liaison.analyse.along.sensitivities import Sensitivities
from liaison.analyse.along.sensitivities import sensitivities as sensitivities_of
from liaison.arguments import checked
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.along import ready_along
from liaison.verbs.given import Given


@lasting("analyse")
@checked
def sensitivities(
    given: Given,
    run: Trajectory,
    parameters: Sequence[str] = (),
    *,
    held: Collection[str] | None = None,
) -> Sensitivities:
    """How a run changes with parameters of its mechanism: see `analyse.sensitivities`.

    Args:
        given: the mechanism, or the path of its text.
        run: of it, recorded at any instants.
        parameters: by name; all, if none is given.
        held: labels of the start that stay as they are; those that were given, if not named.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=0.5, every=0.1)
        >>> slopes = liaison.sensitivities("examples/pendulum.lsd", run, ["l"])
        >>> slopes.values[-1].round(6)
        array([[0.471293],
               [0.346441]])
    """
    kernel = ready_along(given, run)
    return sensitivities_of(kernel, run, parameters, held=held)
