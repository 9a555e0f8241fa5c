"""Find the optimal linear feedback about an equilibrium.

Public names: lqr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from liaison.analyse.control.lqr import Regulator, regulator
from liaison.arguments import checked
from liaison.model.loads.friction import JointFriction
from liaison.model.mechanism import Mechanism
from liaison.model.values import floats
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, Value, in_si, mechanism_of
from liaison.verbs.ready import ready_for


@lasting("analyse")
@checked
def lqr(
    given: Given,
    state: State | None = None,
    *,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Sequence[str] | str = (),
    state_cost: Any = None,
    input_cost: Any = None,
    independent: Sequence[str] = (),
    limits: Mapping[str, Any] | None = None,
) -> Regulator:
    """The linear-quadratic regulator about an equilibrium, from exact linearization.

    Args:
        given: the mechanism, or the path of its text.
        state: the equilibrium, stable or not; the assembled start if not given. Inputs that hold
            it are found.
        start: positions to assemble from, by label, instead of the mechanism's own.
        parameters: values by name.
        inputs: those that are controlled; all if not given.
        state_cost: cost of coordinates and speeds, by label ({"A": 10, "A'": 1}), one number for
            all, or a matrix; 1 for each if not given.
        input_cost: likewise of inputs.
        independent: coordinates to express the others by, in closed loops.
        limits: greatest magnitude by input.

    Returns:
        The regulator, for `controller=`: gains K, eigenvalues, cost matrix P; `notes` name friction
        that counts as damping by its slope at rest.

    Raises:
        ModelError: no input reaches a mode that does not decay.
        SimulationError: the inputs cannot hold the state.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, 0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> balance = liaison.lqr(m)
        >>> run = liaison.simulate(m, until=8, start={"A": 0.3}, controller=balance)
        >>> bool(abs(run["A"][-1]) < 1e-4)
        True
    """
    mechanism = mechanism_of(given)
    kernel, begin = ready_for(mechanism, state, start, parameters)
    feedback = regulator(
        kernel, begin, inputs=(inputs,) if isinstance(inputs, str) else tuple(inputs),
        state_cost=state_cost, input_cost=input_cost,
        independent=independent or [x.label for x in mechanism.starts],
        limits=MappingProxyType(dict(limits or {})),
    )  # fmt: skip
    return replace(feedback, notes=tuple(_friction_notes(mechanism, parameters or {})))


def _friction_notes(mechanism: Mechanism, parameters: Mapping[str, Any]) -> Iterator[str]:
    """A line on smooth dry friction, whose slope at rest is far more than it damps in motion."""
    values = {x.name: x.value for x in mechanism.parameters if x.value is not None}
    values |= in_si(mechanism, parameters, "parameters")
    slopes = {
        x.coordinate: float(floats([x.dry], values)[0] / floats([x.smoothing], values)[0])
        for x in mechanism.forces
        if isinstance(x, JointFriction)
    }
    steep = [f"{name} {slope:.3g}" for name, slope in slopes.items() if slope]
    if steep:
        yield (
            "smooth dry friction counts as damping by its slope at rest, dry/smoothing "
            f"({', '.join(steep)}): motion faster than the smoothing speed is damped far less than "
            "these gains assume. Leave dry friction out of the mechanism that gains are found for."
        )
