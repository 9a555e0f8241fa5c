"""Find the efforts of drives that bring about a motion.

Public names: inverse_dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from liaison.analyse.along.inverse_motion import Efforts
from liaison.analyse.along.inverse_motion import inverse_dynamics as efforts_along
from liaison.analyse.control.feedback import unbounded
from liaison.arguments import checked
from liaison.errors import ArgumentError, SimulationError
from liaison.numeric import Array
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.along import ready_along
from liaison.verbs.at_state import Positions, Velocities, at_state
from liaison.verbs.given import Given, Value, mechanism_of


@overload
def inverse_dynamics(
    given: Given, run: Trajectory, drives: Sequence[str], accelerations: Array | None = None
) -> Efforts: ...


@overload
def inverse_dynamics(
    given: Given,
    run: Positions,
    drives: Velocities,
    accelerations: ArrayLike,
    *,
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Array: ...


@lasting("analyse")
@checked
def inverse_dynamics(
    given: Given,
    run: Trajectory | Positions,
    drives: Sequence[str] | Velocities = None,
    accelerations: ArrayLike | None = None,
    *,
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Efforts | Array:
    """The efforts that bring about a motion: of drives along a run, or all of them at one state.

        efforts = inverse_dynamics(mechanism, run, ["A"])             along a run
        tau = inverse_dynamics(mechanism, q, v, a)                    at one state

    At a state it is M v̇ + h − τ, shape (nv,): the generalized force that must act beside the loads
    of the mechanism, by motors or, in a closed loop, by its closures. Along a run
    `is_solvable` says whether the drives can do it, by their number, their places and their bounds.

    Args:
        given: the mechanism, or the path of its text.
        run: the motion; or positions, as `mass_matrix` takes them.
        drives: coordinates that are driven; or velocities, as `bias` takes them.
        accelerations: along the run, one row an instant, those of the run itself if not given; or
            v̇ at the state, shape (nv,).
        t: time of the state [s].
        parameters: other values of parameters at the state, by name.

    Example:
        >>> import liaison
        >>> liaison.inverse_dynamics("examples/pendulum.lsd", {"A": 0.5}, accelerations=[0.0])
        array([2.35158227])
        >>> run = liaison.kinematic_run(
        ...     "examples/pendulum.lsd", {"A": liaison.sin(liaison.t)}, until=1
        ... )
        >>> liaison.inverse_dynamics("examples/pendulum.lsd", run, ["A"]).is_solvable
        True
    """
    if isinstance(run, Trajectory):
        if parameters is not None or t:
            word = "t" if parameters is None else "parameters"
            raise ArgumentError(
                f"inverse_dynamics: {word} is of one state; a run has its own instants and values.",
                hint=f"Leave {word} out, or simulate with the values that are meant.",
            )
        mechanism, names = mechanism_of(given), _drives(drives)
        kernel, free = ready_along(mechanism, run), unbounded(mechanism)
        along = None if accelerations is None else _floats(accelerations)
        linear = None if free is mechanism else ready_along(free, run)
        return efforts_along(kernel, run, names, accelerations=along, linear=linear)
    state = at_state(given, run, drives, t=t, parameters=parameters)
    if accelerations is None:
        raise ArgumentError(
            "inverse_dynamics: no accelerations are given; at one state they are needed.",
            hint=f"For a position that is held: accelerations=[0] * {state.nv}; along a run: "
            "inverse_dynamics(mechanism, run, drives).",
        )
    vdot = _floats(accelerations)
    if vdot.shape != (state.nv,):
        raise SimulationError(
            f"accelerations have shape {vdot.shape}; the mechanism has {state.nv} velocities: give "
            f"an array of shape ({state.nv},)."
        )
    rest = np.zeros(int(state.kernel.program.sizes.get("nc", 0)))
    return state("inverse", np.concatenate([vdot, rest]))["tau"]


def _floats(accelerations: Any) -> Array:
    try:
        return np.asarray(accelerations, dtype=float)
    except (TypeError, ValueError):
        what = "an array of numbers"
        raise ArgumentError(
            f"inverse_dynamics: accelerations is {accelerations!r}; it must be {what}."
        ) from None


def _drives(drives: object) -> Sequence[str]:
    """Coordinates that are driven along a run; raises an error for anything but a list of them."""
    if not isinstance(drives, list | tuple) or not all(isinstance(x, str) for x in drives):
        raise ArgumentError(
            f"inverse_dynamics: drives is {drives!r}; along a run it must be a list of "
            "coordinates.",
            hint="Name those that are driven: inverse_dynamics(mechanism, run, ['A']).",
        )
    return drives
