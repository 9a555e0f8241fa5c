"""Arguments of a batch of runs, checked: one row of numbers for each start, and common instants.

What is written once (a number, a list of one, one state) holds for all runs; all else has the same
length.

Public names: Starts, starts_of, instants_of, common_length, length_of, value_of, is_column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Program
from liaison.simulation.plan.plan import check_state, parameters_of
from liaison.simulation.plan.settings import Settings


@final
@dataclass(frozen=True, slots=True)
class Starts:
    """Where the runs begin: positions, velocities, inputs and parameters, a row for each run."""

    t: float
    q: Array
    v: Array
    u: Array
    p: Array

    def __len__(self) -> int:
        return len(self.q)

    @property
    def table(self) -> Array:
        """All of them side by side, as the compiled loop takes them."""
        return np.ascontiguousarray(np.hstack([self.q, self.v, self.u, self.p]))


def starts_of(
    program: Program,
    states: State | Sequence[State],
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
    held: Array,
) -> Starts:
    """One row for each run; what is given once holds for all of them.

    Args:
        program: has names and sizes.
        states: one for all runs, or one for each.
        parameters: name -> number, or one for each run.
        inputs: name -> one number for each run; other kinds of inputs are not looked at.
        held: the inputs of every run where none are given here.

    Raises:
        SimulationError: lengths that do not agree, starts at different times, values not finite.
    """
    listed = [states] if isinstance(states, State) else list(states)
    lengths = {"states": None if isinstance(states, State) else len(listed)}
    lengths |= {f"parameter {k!r}": length_of(f"parameter {k!r}", x) for k, x in parameters.items()}
    lengths |= {f"input {k!r}": length_of(f"input {k!r}", x) for k, x in inputs.items()}
    count = common_length(lengths)
    if count is None:
        raise SimulationError(
            "one state and no list of values: that is one run, not a batch.",
            hint="Give several states, or an array of values for a parameter or an input.",
        )
    for k, state in enumerate(listed):
        _checked(program, state, listed[0].t, k)
    one = (count // len(listed), 1)
    return Starts(
        listed[0].t,
        np.tile([state.q for state in listed], one),
        np.tile([state.v for state in listed], one),
        _columns(program, "u", "input", np.tile(held, (count, 1)), inputs),
        _parameters(program, count, parameters),
    )


def is_column(value: Any) -> bool:
    """Whether an input is a list with a number for each run: an array, or a list of numbers."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, list) and all(isinstance(x, Real) for x in value)


def length_of(what: str, value: Any) -> int | None:
    """How many values there are; None for a number.

    Raises:
        SimulationError: no numbers, or a table of them.
    """
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise SimulationError(
            f"{what} is {value!r}; a batch takes a number, or one for each run."
        ) from None
    if array.ndim > 1:
        raise SimulationError(
            f"{what} has shape {array.shape}; a batch takes a number, or one for each run."
        )
    return None if array.ndim == 0 else len(array)


def value_of(values: Any, k: int) -> float:
    """The value of the k-th run: a number and a list of one serve all runs."""
    row = np.ravel(np.asarray(values, dtype=float))
    return float(row[k if row.size > 1 else 0])


def common_length(lengths: Mapping[str, int | None]) -> int | None:
    """How many runs there are: lists of one serve all runs, other lengths are equal.

    Args:
        lengths: of each list, by what it is a list of; None for a number.

    Returns:
        None where there are numbers alone.

    Raises:
        SimulationError: two lists of different lengths, both named; or an empty one.
    """
    known = {what: n for what, n in lengths.items() if n is not None}
    for what, n in known.items():
        if n == 0:
            raise SimulationError(f"a batch of no runs was requested: the list of {what} is empty.")
    many = {what: n for what, n in known.items() if n != 1}
    if len(set(many.values())) > 1:
        each = ", ".join(f"{n} of {what}" for what, n in many.items())
        raise SimulationError(
            f"the lists of a batch differ in length: {each}.",
            hint="Give as many values of each as there are runs, or one value for all runs.",
        )
    return max(known.values(), default=None)


def _checked(program: Program, state: State, t: float, k: int) -> None:
    if not isinstance(state, State):
        raise SimulationError(f"state {k} of the batch is {state!r}; it must be a State.")
    try:
        check_state(program, state)
    except SimulationError as refusal:
        raise SimulationError(f"state {k} of the batch: {refusal.message}") from None
    if state.t != t:
        raise SimulationError(
            f"state {k} of the batch begins at {state.t:g} s, the first one at {t:g} s; "
            "runs of a batch share their instants."
        )


def _parameters(program: Program, count: int, values: Mapping[str, Any]) -> Array:
    """Rows of parameters: finite, and the least and the largest of each within its bounds."""
    base = np.tile(program.defaults.get("p", np.zeros(0)), (count, 1))
    table = _columns(program, "p", "parameter", base, values)
    names = [label.name for label in program.labels.get("p", ())]
    for extreme in (table.min(axis=0), table.max(axis=0)):
        parameters_of(program, dict(zip(names, extreme, strict=False)))
    return table


def _columns(
    program: Program, array: str, kind: str, table: Array, columns: Mapping[str, Any]
) -> Array:
    """A table with some columns given by name."""
    names = [label.name for label in program.labels.get(array, ())]
    for name, values in columns.items():
        if name not in names:
            raise NamingError.unknown(kind, name, names)
        column = np.broadcast_to(np.asarray(values, dtype=float), len(table))
        if not np.all(np.isfinite(column)):
            k = int(np.argmax(~np.isfinite(column)))
            raise SimulationError(f"{kind} {name!r} is {column[k]} in run {k}; it must be finite.")
        table[:, names.index(name)] = column
    return table


def instants_of(settings: Settings, start: float, until: float) -> Array:
    """The instants all runs are recorded at: those requested, or the first and the last one."""
    end = float(until)
    if not math.isfinite(end) or end < start:
        raise SimulationError(
            f"until is {end:g} s: a batch from {start:g} s cannot end at {end:g} s.", t=start
        )
    times, period, samples = settings.instants(start, end)
    if times.size:
        return times
    if samples:
        instants = start + np.arange(samples) * period
        close = abs(instants[-1] - end) <= 1e-9 * period
        return np.append(instants[:-1] if close else instants, end)
    return np.unique([start, end])
