"""Find the accelerations that loads and inputs cause.

Public names: forward_dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping

from liaison.arguments import checked
from liaison.numeric import Array
from liaison.verbs.at_state import Positions, Velocities, accelerations, at_state
from liaison.verbs.given import Given, Value


@checked
def forward_dynamics(
    given: Given,
    q: Positions = None,
    v: Velocities = None,
    *,
    t: Value = 0.0,
    inputs: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Value] | None = None,
) -> Array:
    """The accelerations v̇, shape (nv,), with every load of the mechanism and closed loops.

    Args:
        given: the mechanism, the path of its text, or the text.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        v: an array (nv,); velocities by label; those of the state, or zero beside an array q.
        t: time [s].
        inputs: values of inputs, by name; their defaults if not named.
        parameters: other values of parameters, by name.

    Raises:
        DerivationError: contacts or other unilateral constraints decide: simulate it instead.
        SimulationError: the closures contradict each other, or the state is not on them.

    Example:
        >>> import liaison
        >>> liaison.forward_dynamics("examples/pendulum.lsd", {"A": 0.5, "A'": 2.0}).round(6)
        array([-7.054747])
    """
    state = at_state(given, q, v, t=t, inputs=inputs, parameters=parameters, loops=True)
    return accelerations(state)
