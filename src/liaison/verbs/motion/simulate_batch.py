"""Simulate a mechanism many times on all cores.

Public names: simulate_batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from liaison.arguments import checked
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import (
    ArgumentError,
    AssemblyError,
    ModelError,
    SimulationError,
    interruptible,
)
from liaison.expr.graph.node import collector_paused
from liaison.model.checks import check_with, doubtful_rows
from liaison.model.mechanism import Mechanism
from liaison.numeric import State
from liaison.numeric.progress import is_shown, working
from liaison.program.kernel import Kernel
from liaison.simulation.batch.plan import common_length, length_of
from liaison.simulation.batch.result import Runs
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.batch.run import simulate_batch as run
from liaison.simulation.outcome import NOT_ASSEMBLED, Outcome
from liaison.simulation.plan.options import (
    OF_BATCHES,
    OF_SCENES,
    BatchKeywords,
    RunOptions,
    run_options,
)
from liaison.simulation.record.trajectory import FAILED
from liaison.tree.starts import check_attitudes
from liaison.tree.tree import Tree, span
from liaison.units import Label, si_values
from liaison.verbs.assembling import Assembling, Wanted, attempt, closed_start, of_run, tree_keeping
from liaison.verbs.given import (
    Value,
    check_no_controller,
    check_parameters,
    in_seconds,
    in_si,
    under_control,
    with_values,
)
from liaison.verbs.ready import (
    compiled,
    equations_at,
    evaluations_of,
    is_stepped,
    looped_kernel,
    runs_by_loops,
    start_of,
)

OPTIONS_TAKEN = tuple(x for x in OF_BATCHES if x not in OF_SCENES)
"""Options of a batch."""


@checked
def simulate_batch(
    given: Mechanism | str | Path | Kernel,
    states: State | Sequence[State] | None = None,
    *,
    until: Value,
    start: Mapping[str, Any] | None = None,
    guess: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    controller: Any = None,
    options: RunOptions | None = None,
    **keywords: Unpack[BatchKeywords],
) -> Runs:
    """Lets a mechanism move many times, on all cores: from many starts, or with many values.

    Args:
        given: a mechanism, the path of its text, or a kernel (then with states).
        states: where each run starts; assembled from `start` if not given.
        until: the last instant [s].
        start: positions and rates to assemble from, by label: numbers, or one for each run.
        guess: positions and rates near which to assemble, which may move; likewise.
        parameters: values by name: numbers in SI or texts with a unit, or one for each run.
        controller: what gives inputs as formulas, compiled with the mechanism, as of `simulate`.
        options: how to run, as a record.
        **keywords: the same one by one, each explained at `RunOptions`, and threads: how many; all
            cores if not given. lanes=False marches runs one by one also where vector lanes could
            take several at a time, to the same bits. Recorded are the instants of `every`, or the
            first and the last; inputs may be arrays with a number for each run. A run that fails
            raises, unless on_failure="return". progress is called with the fraction of runs that
            are over.
            Evaluated are energy, outputs and closure, and what `series` adds: poses, momentum,
            contacts.

    Returns:
        All runs, stacked.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
        Interrupted: Ctrl-C, a KeyboardInterrupt; carries all runs likewise, once they have begun.

    Example:
        >>> import liaison
        >>> starts = {"A": [0.1, 0.2, 0.3]}
        >>> runs = liaison.simulate_batch("examples/pendulum.lsd", until=0.2, start=starts)
        >>> len(runs), runs.statuses
        (3, ('done', 'done', 'done'))
    """
    chosen = run_options("simulate_batch", options, keywords, OPTIONS_TAKEN, BATCH_SERIES)
    until = in_seconds(until, "simulate_batch: until")
    if isinstance(given, Kernel):
        check_no_controller("simulate_batch", controller)
        if states is None or start or guess:
            raise ArgumentError(
                "simulate_batch(kernel, states, until=…): a kernel needs its states."
            )
        values = _in_units(given.program.labels.get("p", ()), parameters, "parameter")
        if "inputs" in chosen:
            labels = given.program.labels.get("u", ())
            chosen["inputs"] = _in_units(labels, chosen["inputs"], "input")
        return run(given, states, until, parameters=values, **chosen)
    mechanism = under_control(given, controller)
    parameters = in_si(mechanism, parameters, "parameters")
    if "inputs" in chosen:
        chosen["inputs"] = in_si(mechanism, chosen["inputs"], "inputs")
    wanted = Wanted(in_si(mechanism, start, "start"), in_si(mechanism, guess, "guess"), parameters)
    evaluations = evaluations_of(chosen, until, None)
    if chosen.get("lanes") or is_stepped(chosen):
        evaluations = None  # loops over nodes compute one state at a time
    begin: State | Sequence[State]
    rejected: dict[int, AssemblyError] = {}
    preparing = working("tree", f"assembling runs of {mechanism.name}")
    with interruptible("the assembly of a batch"), collector_paused(), preparing:
        if states is None:
            goes_on = chosen.get("on_failure") == "return"
            kernel, begin, rejected = _assembled(mechanism, wanted, goes_on, evaluations)
        else:
            kernel, begin = _from_states(mechanism, wanted, states, evaluations), states
    with working("simulation", f"running {mechanism.name} many times") as fraction:
        more: dict[str, Any] = {"progress": fraction} if is_shown() else {}
        if rejected:
            more["rejected"] = [_outcome(rejected.get(k)) for k in range(max(rejected) + 1)]
        how = more | chosen
        return run(kernel, begin, until, parameters=parameters, **how)


def _outcome(error: AssemblyError | None) -> Outcome | None:
    return None if error is None else Outcome(FAILED, error.message, error.hint, NOT_ASSEMBLED)


def _in_units(
    labels: Sequence[Label], values: Mapping[str, Any] | None, what: str
) -> dict[str, Any]:
    """Values by name, texts as numbers in SI."""
    units = {x.name: x.unit for x in labels}
    return {
        name: si_values(x, units[name], f"{what} {name!r}") if name in units else x
        for name, x in (values or {}).items()
    }


def _from_states(
    mechanism: Mechanism,
    wanted: Wanted,
    states: State | Sequence[State],
    evaluations: float | None,
) -> Kernel:
    """The kernel for runs that begin at states."""
    listed = [states] if isinstance(states, State) else list(states)
    tree = span(mechanism)
    for state in listed:
        check_attitudes(tree, state)
    if listed and evaluations is not None and not _varies(wanted):
        own = span(with_values(mechanism, wanted.parameters))
        looped = looped_kernel(own, evaluations * len(listed))
        if looped is not None and runs_by_loops(own, looped, listed[0]):
            return looped
    tree, equations = equations_at(tree, listed[0]) if listed else (tree, newton_euler(tree))
    return compiled(tree, equations)


def _varies(wanted: Wanted) -> bool:
    """Whether parameters differ between runs: loops over nodes have them as numbers."""
    return any(np.ndim(x) for x in wanted.parameters.values())


def _by_loops(
    mechanism: Mechanism, wanted: Wanted, goes_on: bool, evaluations: float
) -> tuple[Kernel, list[State | AssemblyError]] | None:
    """Loops over the nodes of a mechanism of many bodies, and where its runs start.

    None where unrolled code is for them.
    """
    count = _count(wanted)
    tree = tree_keeping(with_values(mechanism, wanted.parameters), wanted.row(0))
    looped = looped_kernel(tree, evaluations * (count or 1))
    if looped is None:
        return None
    tried = _tried(tree, looped, wanted, count, goes_on)
    return (looped, tried) if runs_by_loops(tree, looped, _first(tried)) else None


def _assembled(
    mechanism: Mechanism, wanted: Wanted, goes_on: bool, evaluations: float | None
) -> tuple[Kernel, State | list[State], dict[int, AssemblyError]]:
    """The kernel, a state for each value of the arrays, and why some runs have none.

    There is one state if there are no arrays. A run that cannot be assembled raises, unless the
    others go on: then it has the state of another one, in its place.
    """
    check_parameters(mechanism, wanted.parameters)
    count = _count(wanted)
    _check_finite(wanted)
    _check_values(mechanism, wanted, count)
    looped = None
    if evaluations is not None and not _varies(wanted):
        looped = _by_loops(mechanism, wanted, goes_on, evaluations)
    kernel, tried = looped if looped is not None else _unrolled(mechanism, wanted, goes_on)
    first = _first(tried)
    held = [*(x.label for x in mechanism.starts if not x.is_guess), *wanted.start]
    firm = [x for x in held if x not in wanted.guess]
    if count is None:
        return kernel, start_of(kernel, first, firm), {}
    rejected = {k: x for k, x in enumerate(tried) if isinstance(x, AssemblyError)}
    states = [x if isinstance(x, State) else first for x in tried]
    return kernel, [start_of(kernel, state, firm) for state in states], rejected


def _unrolled(
    mechanism: Mechanism, wanted: Wanted, goes_on: bool
) -> tuple[Kernel, list[State | AssemblyError]]:
    """The code of a mechanism, its closures completed, and where its runs start."""
    tree = tree_keeping(mechanism, wanted.row(0))
    equations = newton_euler(tree)
    kernel = compiled(tree, equations)
    tried = _tried(tree, kernel, wanted, _count(wanted), goes_on)
    whole, completed = equations_at(tree, _first(tried), equations)
    return (kernel if whole is tree else compiled(whole, completed)), tried


def _tried(
    tree: Tree, kernel: Kernel, wanted: Wanted, count: int | None, goes_on: bool
) -> list[State | AssemblyError]:
    """The state of each run, or why it has none, which is raised unless the others go on."""
    rows = count or 1
    if rows == 1 and not kernel.program.sizes["nc"]:
        solved: Iterable[State | AssemblyError] = [attempt(tree, wanted.row(0))]
    elif "identity" in kernel.program.facts:
        solved = (_by_kernel(tree, kernel, wanted.row(k)) for k in range(rows))
    else:
        solved = Assembling(tree, kernel).attempts(wanted, rows)
    tried: list[State | AssemblyError] = []
    for k, x in enumerate(solved):
        rejected = x if isinstance(x, AssemblyError) else _at_attitude(tree, x)
        if rejected is not None and (not goes_on or rows == 1):
            raise rejected if count is None else of_run(rejected, k)
        tried.append(x if rejected is None else rejected)
    return tried


def _by_kernel(tree: Tree, kernel: Kernel, one: Wanted) -> State | AssemblyError:
    """The state of a run of many bodies, or why it has none."""
    if not kernel.program.sizes["nc"]:
        return attempt(tree, one)
    try:
        return closed_start(tree, kernel, one.start, t=one.t, guess=one.guess)
    except AssemblyError as error:
        return error


def _check_values(mechanism: Mechanism, wanted: Wanted, count: int | None) -> None:
    """Raises an error for a run whose parameters make a body, a load or a joint impossible."""
    if not count or not wanted.parameters:
        return
    for k in np.flatnonzero(doubtful_rows(mechanism, wanted.parameters, count)).tolist():
        try:
            check_with(mechanism, wanted.row(k).parameters)
        except ModelError as error:
            raise ModelError(f"run {k}: {error.message}", place=error.place) from None


def _at_attitude(tree: Tree, state: State) -> AssemblyError | None:
    """The error of a state at which angles are singular; None at others."""
    try:
        check_attitudes(tree, state)
    except AssemblyError as error:
        return error
    return None


def _first(tried: Sequence[State | AssemblyError]) -> State:
    """The state of the first run that can be assembled: equations are looked at there.

    Raises:
        AssemblyError: there is none.
    """
    for x in tried:
        if isinstance(x, State):
            return x
    rejected = tried[0]
    assert isinstance(rejected, AssemblyError)
    raise AssemblyError(
        f"none of the {len(tried)} runs of the batch can be assembled; run 0: {rejected.message}",
        place=rejected.place, hint=rejected.hint,
    )  # fmt: skip


def _check_finite(wanted: Wanted) -> None:
    """Raises an error for NaN and infinite numbers in the lists, by name and run."""
    groups = {"start": wanted.start, "guess": wanted.guess, "parameter": wanted.parameters}
    for kind, values in groups.items():
        for name, x in values.items():
            numbers = np.ravel(np.asarray(x, dtype=float))
            for k in np.flatnonzero(~np.isfinite(numbers)):
                where = f" in run {k}" if np.ndim(x) else ""
                raise SimulationError(f"{kind} {name!r} is {numbers[k]}{where}; it must be finite.")


def _count(wanted: Wanted) -> int | None:
    """How many rows the arrays have; None where all are numbers."""
    groups = {"start": wanted.start, "guess": wanted.guess, "parameter": wanted.parameters}
    named = {f"{kind} {k!r}": x for kind, values in groups.items() for k, x in values.items()}
    return common_length({what: length_of(what, x) for what, x in named.items()})
