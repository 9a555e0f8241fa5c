"""Linearize the motion about a state: eigenvalues and modes.

Public names: linearize.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liaison.analyse.along.along import state_between
from liaison.analyse.rest.linearize import Linearization
from liaison.analyse.rest.linearize import linearize as small_motions
from liaison.arguments import checked
from liaison.errors import NamingError, SimulationError
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.along import ready_along, values_of
from liaison.verbs.given import Given, Value, check_moving, in_seconds, in_si, mechanism_of
from liaison.verbs.ready import ready_for


@lasting("analyse")
@checked
def linearize(
    given: Given,
    state: State | Trajectory | None = None,
    *,
    at: Value | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    independent: Sequence[str] = (),
    inputs: Mapping[str, Value] | None = None,
) -> Linearization:
    """Small motions of a mechanism about a state: A, B, eigenvalues, modes, labels.

    Args:
        given: the mechanism, or the path of its text.
        state: an equilibrium (`equilibrium(…).state`), a steady motion, any state, or a run, whose
            parameters and inputs then hold; the assembled start if not given.
        at: the instant of a run [s], its last one if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        independent: coordinates to express the others by, as far as they can; those with a start in
            the description, if not given.
        inputs: values by name instead of the defaults.

    Raises:
        NamingError: the tree has no such coordinate.
        SimulationError: the state is off its closures, or of another mechanism.

    Example:
        >>> import liaison
        >>> rest = liaison.equilibrium("examples/pendulum.lsd")
        >>> linear = liaison.linearize("examples/pendulum.lsd", rest.state)
        >>> linear.frequencies.round(4)
        array([0.6105, 0.6105])
    """
    mechanism = mechanism_of(given)
    check_moving("linearize", mechanism)
    at = None if at is None else in_seconds(at, "at")
    held = in_si(mechanism, inputs, "inputs")
    if isinstance(state, Trajectory):
        own = ready_along(mechanism, state)
        parameters = {**values_of(mechanism, state), **(parameters or {})}
        state, recorded = state_between(own, state, float(state.t[-1]) if at is None else at)
        held = {**recorded, **held}
    elif at is not None:
        raise SimulationError(
            f"at = {at:g} s is an instant of a run, and there is no run.",
            hint="Give the run: linearize(mechanism, run, at=…).",
        )
    kernel, begin = ready_for(mechanism, state, start, parameters)
    _check_independent(kernel, independent)
    wishes = independent or [x.label for x in mechanism.starts]
    return small_motions(kernel, begin, independent=wishes, inputs=held)


def _check_independent(kernel: Kernel, independent: Sequence[str]) -> None:
    """Raises an error for independent coordinates that the tree does not have."""
    known = [label.name.removesuffix("'") for label in kernel.program.labels["v"]]
    for name in independent:
        if name.removesuffix("'") not in known:
            raise NamingError.unknown("coordinate of the tree", name, known)
