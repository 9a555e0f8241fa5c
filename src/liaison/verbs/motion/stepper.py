"""Step a mechanism under inputs that are set at every step.

Public names: stepper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.errors import interruptible
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.simulation.plan.options import OF_STEPS, RunOptions, StepKeywords, run_options
from liaison.simulation.stepper import Stepper
from liaison.simulation.stepper import stepper as stepper_of
from liaison.verbs.given import Given, Value, check_no_controller, under_control
from liaison.verbs.ready import STILL, evaluations_of, is_stepped, ready_for, start_for


@lasting("simulation")
@checked
def stepper(
    given: Given | Kernel,
    state: State | None = None,
    *,
    start: Mapping[str, Value] | None = None,
    guess: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    controller: Any = None,
    options: RunOptions | None = None,
    **keywords: Unpack[StepKeywords],
) -> Stepper:
    """A mechanism that waits for the next input: `its.step({"motor": 1.5}, 0.01)`.

    Args:
        given: a mechanism, the path of its text, or a kernel: with a state, or made by `compile`.
        state: where it starts; assembled from the mechanism's own start if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        guess: positions and rates near which to assemble, which may move.
        parameters: values by name, in SI.
        controller: what gives inputs as formulas, compiled with the mechanism, as of `simulate`;
            the other inputs are set at every step.
        options: how steps are taken, as a record; what it says of a record of the run is left
            aside.
        **keywords: the same one by one: step, method, rtol, atol and others, each explained at
            `RunOptions`.

    A step in which energy grows by more than steps explain is an error, as a run is suspect then;
    with `watch=False` it is not looked at.

    Example:
        >>> import liaison
        >>> stepper = liaison.stepper("examples/pendulum.lsd")
        >>> round(stepper.step(None, "10 ms")["A"], 6)
        0.523231
    """
    chosen = run_options("stepper", options, keywords, OF_STEPS)
    if isinstance(given, Kernel):
        check_no_controller("stepper", controller)
        state = start_for("stepper", given, state, start=start, guess=guess, parameters=parameters)
        return stepper_of(given, state, parameters=parameters, **chosen)
    given = under_control(given, controller)
    with interruptible("the preparation of a stepper"):
        evaluations = evaluations_of(chosen, STILL, None)  # of steps that are taken one by one
        kernel, state = ready_for(
            given,
            state,
            start,
            parameters,
            guess=guess,
            evaluations=evaluations,
            is_stepped=is_stepped(chosen),
        )
    return stepper_of(kernel, state, **chosen)
