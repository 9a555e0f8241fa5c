"""Find the optimal linear feedback about an equilibrium.

Public names: lqr.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from liaison.analyse.control.lqr import Regulator, regulator
from liaison.errors import checked
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, Value, mechanism_of
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
        The regulator, for `controller=`: gains K, eigenvalues, cost matrix P.

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
    return regulator(
        kernel, begin, inputs=(inputs,) if isinstance(inputs, str) else tuple(inputs),
        state_cost=state_cost, input_cost=input_cost,
        independent=independent or [x.label for x in mechanism.starts],
        limits=MappingProxyType(dict(limits or {})),
    )  # fmt: skip
