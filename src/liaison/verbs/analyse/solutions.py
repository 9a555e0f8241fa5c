"""Solve the constrained system by every method, and compare.

Public names: solutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.analyse.rest.solutions import Solutions, compare_solutions
from liaison.arguments import checked
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.verbs.given import (
    Given,
    Value,
    check_moving,
    in_si,
    mechanism_of,
    with_starts,
    with_values,
)
from liaison.verbs.ready import check_one_start, ready_for


@lasting("analyse")
@checked
def solutions(
    given: Given,
    state: State | None = None,
    *,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Value] | None = None,
    maximal: bool = False,
) -> Solutions:
    """The constrained system at a state by every way of solving it, compared.

    Args:
        given: the mechanism, or the path of its text.
        state: where it is; assembled from the start if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        inputs: values by name instead of the defaults.
        maximal: six velocities for every body and all rows of every joint, instead of the
            coordinates of a tree; the state is in these all the same.

    Example:
        >>> import liaison
        >>> print(str(liaison.solutions("examples/four_bar.lsd")).splitlines()[0])
        four bar: 3 velocities, 2 closure rows of rank 2
    """
    mechanism = mechanism_of(given)
    check_moving("solutions", mechanism)
    inputs = in_si(mechanism, inputs, "inputs")
    if maximal:
        from liaison.analyse.along.maximal_run import maximal_ready

        check_one_start(state, start)
        mechanism = with_starts(with_values(mechanism, parameters or {}), start or {})
        kernel, state = maximal_ready(mechanism, state)
    else:
        kernel, state = ready_for(mechanism, state, start, parameters)
    return compare_solutions(kernel, state, inputs=inputs)
