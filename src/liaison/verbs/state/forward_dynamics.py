"""Find the accelerations that loads and inputs cause.

Public names: forward_dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping

from liaison.errors import DerivationError, SimulationError
from liaison.numeric import Array
from liaison.verbs.at_state import AtState, Positions, Velocities, at_state
from liaison.verbs.given import Given, Value

LIMIT = 1e-6
"""Residual of the closures, relative to 1 + |γ|, above which no acceleration meets them."""


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
        >>> liaison.forward_dynamics("examples/pendulum.lsd", {"A": 0.0, "A'": 2.0}).round(6)
        array([0.])
    """
    state = at_state(given, q, v, t=t, inputs=inputs, parameters=parameters)
    sides = state.kernel.program.facts.get("sides", ())
    if sides:
        raise DerivationError(
            f"the accelerations of a mechanism with {sides[0][0]!r} depend on which unilateral "
            "constraints are closed: run it with `simulate` and series=('accelerations',)."
        )
    blocks = state("forward")
    _check(state, float(blocks["residual"][0]))
    return blocks["vdot"]


def _check(state: AtState, residual: float) -> None:
    if not state.kernel.program.sizes.get("nc", 0):
        return
    closure = state("closure")
    for name, what, size in (("phi", "positions", state.q), ("rate", "velocities", state.v)):
        off = float(abs(closure[name]).max(initial=0.0))
        if not off <= LIMIT * (1.0 + float(abs(size).max(initial=0.0))):
            raise SimulationError(
                f"the {what} are off the closures by {off:.3g}: accelerations there belong to no "
                "motion. Give them by label, so that loops are closed, or take the state of a run."
            )
    scale = 1.0 + float(abs(state("terms")["gamma"]).max(initial=0.0))
    if not residual <= LIMIT * scale:
        raise SimulationError(
            f"no acceleration meets the closures at this state: they are missed by {residual:.3g}. "
            "Give positions by label, so that loops are closed, or take the state of a run."
        )
