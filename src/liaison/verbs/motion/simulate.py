"""Simulate a mechanism from its start until a time.

Public names: simulate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from liaison.arguments import checked, unchecked
from liaison.errors import ArgumentError, OptionError, SimulationError, interruptible
from liaison.model.pairing import is_scene
from liaison.numeric import State
from liaison.numeric.progress import log, working
from liaison.program.kernel import Kernel
from liaison.simulation.plan.options import (
    DEFAULT_SERIES,
    OF_RUNS,
    OF_SCENES,
    RunKeywords,
    RunOptions,
    run_options,
)
from liaison.simulation.record.trajectory import Trajectory
from liaison.simulation.run import simulate as simulate_kernel
from liaison.verbs.given import (
    Given,
    Value,
    check_no_controller,
    in_seconds,
    in_si,
    under_control,
    with_starts,
)
from liaison.verbs.ready import evaluations_of, is_stepped, ready_for, start_for

run = unchecked(simulate_kernel)  # the verb has checked them

OF_MECHANISMS = tuple(x for x in OF_RUNS if x not in OF_SCENES)
"""Options of runs of what is no scene."""


@checked
def simulate(
    given: Given | Kernel,
    state: State | None = None,
    *,
    until: Value,
    start: Mapping[str, Value] | None = None,
    guess: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    controller: Any = None,
    invariants: bool = False,
    back_end: str = "llvm",
    options: RunOptions | None = None,
    **keywords: Unpack[RunKeywords],
) -> Trajectory:
    """Lets a mechanism move.

    Args:
        given: a mechanism, the path of its text, or a kernel: with a state, or made by `compile`.
        state: where it starts; assembled from the mechanism's own start if not given.
        until: the last instant [s].
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        guess: positions and rates near which to assemble, which may move as the closures need.
        parameters: values by name.
        controller: what gives its inputs as formulas, compiled with it: `computed_torque(…)`,
            `gravity_compensation(…)`, what `lqr` returns, a load such as `pid(…)`, or a list.
        invariants: find the first integrals and follow them: `trajectory.invariants`.
        back_end: what computes, as for `compile`; "portable": the same bits on every machine.
        options: how to run, as a record; all of it is optional.
        **keywords: the same one by one, before those of the record: step, method, rtol, atol,
            every, inputs, stop, series and others, each explained at `RunOptions`.

    Numbers are in SI; texts have their unit: until="2 s", parameters={"m": "250 g"}.
    Bodies that collide in more than fifty pairs are marched as a scene, in fixed steps of 1 ms
    unless `step` is given (docs/theory/time_stepping.md); `trajectory.message` says so.

    Returns:
        The trajectory.

    Raises:
        OptionError: a keyword that a run does not take; proposes the nearest one.
        SimulationError: the run could not go on; carries status, time and partial trajectory.
        Interrupted: Ctrl-C, a KeyboardInterrupt; carries time and partial trajectory.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until="1 s", every=0.1)
        >>> run.status, len(run)
        ('done', 11)
        >>> energy = run["energy"].sum(axis=1)
        >>> bool(abs(energy - energy[0]).max() < 1e-8)
        True
    """
    chosen = run_options("simulate", options, keywords)
    until = in_seconds(until, "simulate: until")
    if isinstance(given, Kernel):
        check_no_controller("simulate", controller)
        _check_is_none("invariants", invariants, "finds first integrals of a mechanism")
        _check_is_none("back_end", back_end != "llvm", "compiles a mechanism")
        state = start_for("simulate", given, state, start=start, guess=guess, parameters=parameters)
        return run(given, state, until, parameters=parameters, **_single(chosen, keywords))
    mechanism = under_control(given, controller)
    if state is None and is_scene(mechanism):
        from liaison.verbs.scenes import run_scene

        _check_machine_code(mechanism.name, back_end)
        first = in_si(mechanism, start, "start")
        mechanism = with_starts(mechanism, {}, guess)
        log(
            "contacts",
            "%s runs as a scene: its pairs are found on the way",
            mechanism.name,
        )
        return run_scene(mechanism, until, start=first, parameters=parameters, **chosen)
    chosen = _single(chosen, keywords)
    preparing = f"preparing {mechanism.name}"
    with interruptible("the preparation of a run"), working("equations", preparing):
        kernel, state = ready_for(
            mechanism, state, start, parameters, guess=guess, invariants=invariants,
            back_end=back_end, evaluations=evaluations_of(chosen, until, state),
            is_stepped=is_stepped(chosen),
        )  # fmt: skip
    if invariants:
        chosen["series"] = (*chosen.get("series", DEFAULT_SERIES), "invariants")
    try:
        return run(kernel, state, until, **chosen)
    finally:
        kernel.prepared.clear()  # it refers to the kernel: both go now, not some time later


def _check_is_none(name: str, is_there: bool, does: str) -> None:
    """Raises an error for what only a mechanism takes, of a kernel."""
    if is_there:
        raise ArgumentError(
            f"simulate: {name} {does}; this is a kernel.",
            hint="Pass the mechanism, or the path of its text.",
        )


def _check_machine_code(name: str, back_end: str) -> None:
    """Raises an error for a scene that anything but machine code of here is to compute."""
    if back_end != "llvm":
        raise SimulationError(
            f"{name!r} runs as a scene, whose loops are machine code of this computer: it has no "
            f"back end {back_end!r}.",
            status="no back end",
            hint="Leave back_end out; contacts of fewer than fifty pairs run with each.",
        )


def _single(chosen: dict[str, Any], keywords: RunKeywords) -> dict[str, Any]:
    """The options without those of scenes, which keywords may not ask for here."""
    if chosen.keys().isdisjoint(OF_SCENES):
        return chosen
    OptionError.check("simulate, of what is no scene,", keywords, OF_MECHANISMS)
    return {name: value for name, value in chosen.items() if name not in OF_SCENES}
