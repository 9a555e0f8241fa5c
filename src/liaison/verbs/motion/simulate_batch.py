"""Simulate a mechanism many times on all cores.

Public names: simulate_batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import ArgumentError, NamingError, interruptible
from liaison.expr.graph.node import collector_paused
from liaison.model.mechanism import Mechanism
from liaison.numeric import State
from liaison.program.kernel import Kernel
from liaison.simulation.batch.plan import common_length, length_of, value_of
from liaison.simulation.batch.result import Runs
from liaison.simulation.batch.run import simulate_batch as run
from liaison.simulation.plan.options import (
    OF_BATCHES,
    OF_SCENES,
    BatchKeywords,
    RunOptions,
    run_options,
)
from liaison.tree.assemble import assemble
from liaison.tree.starts import check_attitudes
from liaison.tree.tree import Tree, span
from liaison.verbs.given import mechanism_of
from liaison.verbs.ready import compiled, equations_at, start_of

OPTIONS_TAKEN = tuple(x for x in OF_BATCHES if x not in OF_SCENES)
"""Options of a batch."""


@checked
def simulate_batch(
    given: Mechanism | str | Path | Kernel,
    states: State | Sequence[State] | None = None,
    *,
    until: float,
    start: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    options: RunOptions | None = None,
    **keywords: Unpack[BatchKeywords],
) -> Runs:
    """Lets a mechanism move many times, on all cores: from many starts, or with many values.

    Args:
        given: a mechanism, the path of its text, or a kernel (then with states).
        states: where each run starts; assembled from `start` if not given.
        until: the last instant [s].
        start: positions and rates to assemble from, by label: numbers, or one for each run.
        parameters: values by name, in SI: numbers, or one for each run.
        options: how to run, as a record.
        **keywords: the same one by one, each explained at `RunOptions`, and threads: how many; all
            cores if not given. Recorded are the instants of `every`, or the first and the last;
            inputs may be arrays with a number for each run. A run that fails raises, unless
            on_failure="return". progress is called with the fraction of runs that are over. The
            series "contacts" is evaluated where asked for.

    Returns:
        All runs, stacked.

    Raises:
        SimulationError: some runs could not go on; carries all of them as `trajectory`.
        Interrupted: Ctrl-C, a KeyboardInterrupt; carries all runs likewise, once they have begun.
    """
    chosen = run_options("simulate_batch", options, keywords, OPTIONS_TAKEN)
    if isinstance(given, Kernel):
        if states is None or start:
            raise ArgumentError(
                "simulate_batch(kernel, states, until=…): a kernel needs its states."
            )
        return run(given, states, until, parameters=parameters, **chosen)
    mechanism = mechanism_of(given)
    with interruptible("the assembly of a batch"), collector_paused():
        tree = span(mechanism)
        begin = _assembled(tree, start or {}, parameters or {}) if states is None else states
        listed = [begin] if isinstance(begin, State) else list(begin)
        for state in listed:
            check_attitudes(tree, state)
        tree, equations = equations_at(tree, listed[0]) if listed else (tree, newton_euler(tree))
        kernel = compiled(tree, equations)
        if states is None:
            firm = [*(x.label for x in mechanism.starts), *(start or {})]
            listed = [start_of(kernel, state, firm) for state in listed]
    many = listed[0] if isinstance(begin, State) else listed
    return run(kernel, many, until, parameters=parameters, **chosen)


def _assembled(
    tree: Tree, start: Mapping[str, Any], parameters: Mapping[str, Any]
) -> State | list[State]:
    """One state for each value of the arrays among starts and parameters; one if there are none."""
    known = [x.name for x in tree.mechanism.parameters]
    for name in parameters:
        if name not in known:
            raise NamingError.unknown("parameter", name, known)
    named = {f"start {k!r}": x for k, x in start.items()}
    named |= {f"parameter {k!r}": x for k, x in parameters.items()}
    count = common_length({what: length_of(what, x) for what, x in named.items()})
    if count is None:
        return assemble(tree, parameters, **start)

    def at(values: Mapping[str, Any], k: int) -> dict[str, float]:
        return {name: value_of(x, k) for name, x in values.items()}

    return [assemble(tree, at(parameters, k), **at(start, k)) for k in range(count)]
