"""Find an equilibrium near the start.

Public names: equilibrium.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liaison.analyse.rest.equilibrium import Equilibrium
from liaison.analyse.rest.equilibrium import equilibrium as rest_of
from liaison.arguments import checked
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, Value, check_moving, in_si, mechanism_of
from liaison.verbs.ready import ready_for


@lasting("analyse")
@checked
def equilibrium(
    given: Given,
    state: State | None = None,
    *,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    kind: str = "stable",
    inputs: Mapping[str, Value] | None = None,
    independent: Sequence[str] = (),
    tolerance: float = 1e-12,
) -> Equilibrium:
    """A position in which a mechanism can stay at rest, near its start.

    Args:
        given: the mechanism, or the path of its text.
        state: where to look from; assembled from the start if not given.
        start: positions to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        kind: "stable", or "nearest" whether stable or not.
        inputs: values by name instead of the defaults.
        independent: coordinates to express the others by.
        tolerance: of the forces that are not balanced, relative to all of them.

    Example:
        >>> import liaison
        >>> rest = liaison.equilibrium("examples/pendulum.lsd", start={"A": 0.5})
        >>> rest.is_stable, abs(rest["A"]) < 1e-9
        (True, True)
    """
    mechanism = mechanism_of(given)
    check_moving("equilibrium", mechanism)
    kernel, state = ready_for(mechanism, state, start, parameters)
    inputs = in_si(mechanism, inputs, "inputs")
    return rest_of(
        kernel, state, kind=kind, inputs=inputs, independent=independent, tolerance=tolerance
    )
