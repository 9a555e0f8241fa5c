"""Let a mechanism move in one of its modes.

Public names: mode_shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.analyse.rest.linearize import linearize
from liaison.analyse.rest.mode_motion import mode_motion
from liaison.arguments import checked
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import si_value
from liaison.verbs.given import Given, Value, in_si, mechanism_of
from liaison.verbs.ready import ready_for


@lasting("analyse")
@checked
def mode_shape(
    given: Given,
    state: State | None = None,
    *,
    mode: int = 0,
    amplitude: Value | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Value] | None = None,
) -> Trajectory:
    """One period of a mode of small motions, as a run that can be shown, plotted and saved.

    `mode_shape(m, equilibrium(m).state, mode=2).show()` moves in a cell of a notebook, in slow
    motion: a period takes two seconds. Growth and decay are left out; closed loops stay closed.

    Args:
        given: the mechanism, or the path of its text.
        state: about which it moves: an equilibrium, a steady motion; the start if not given.
        mode: its number, from 0 on, the slowest first; a conjugate pair is one mode, and modes that
            do not oscillate come before those that do.
        amplitude: of the coordinate that moves most, in rad or m, or a text such as "5 deg"; about
            what can be seen well if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name.
        inputs: values by name instead of the defaults.

    Raises:
        ArgumentError: no such mode, or an amplitude that is not positive.
        SimulationError: nothing moves in the mode, or closed loops cannot follow so far.

    Example:
        >>> import liaison
        >>> rest = liaison.equilibrium("examples/pendulum.lsd")
        >>> shape = liaison.mode_shape("examples/pendulum.lsd", rest.state)
        >>> shape.status
        'done'
    """
    mechanism = mechanism_of(given)
    kernel, begin = ready_for(mechanism, state, start, parameters)
    wishes = [x.label for x in mechanism.starts]
    held = in_si(mechanism, inputs, "inputs")
    linear = linearize(kernel, begin, independent=wishes, inputs=held)
    run = mode_motion(kernel, begin, linear, mode, _number(amplitude))
    return run.with_mechanism(kernel.program.facts["mechanism"])


def _number(amplitude: Value | None) -> float | None:
    """An amplitude in SI: a text is an angle or a length."""
    if not isinstance(amplitude, str):
        return amplitude
    unit = "rad" if amplitude.rstrip().endswith(("deg", "rad", "rev")) else "m"
    return float(si_value(amplitude, unit, "the amplitude"))
