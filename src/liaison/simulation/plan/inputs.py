"""Inputs of a run: numbers, formulas, tables over time, and Python controllers.

    inputs={"motor": "3 N*m", "brake": -2 * A_rate, "wind": (times, values), "servo": ("10 ms", f)}

A formula may use the labels of the mechanism, other inputs among them. A table is (times, values),
joined by a cubic that keeps their shape, or (times, values, "cubic") by a natural spline, which is
closer to a smooth function, or (times, values, "linear"); outside its times the end values hold.
A `Table` of formulas is taken as a function of time. A controller is (period, f): f(t, state) is
called every period [s, or a text with a unit] from the start on, its value held in between; what it
raises ends the run. Its value may be an array or a list of one number, as policies return it.

Public names: Controller, Inputs, inputs_of, is_formula, one_number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import ArgumentError, NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Program
from liaison.program.extend import interwoven, over_time, time_of
from liaison.units import si_value

Control: TypeAlias = Callable[[float, State], float]

KINDS = ("monotone", "cubic", "linear")
"""How the points of a table are joined."""


@final
@dataclass(frozen=True, slots=True)
class Controller:
    """A Python function that gives one input, called every `period` [s]."""

    name: str
    slot: int
    period: float
    function: Control

    def value(self, t: float, state: State) -> float:
        """The value now; raises an error for what is no finite number, or fails itself."""
        try:
            value = self.function(t, state)
        except Exception as fault:
            raise self._failure(f"raised {type(fault).__name__}: {fault}", t) from fault
        try:
            number = one_number(value, "it")
        except ArgumentError:
            raise self._failure(f"gave {value!r}, which is not one number,", t) from None
        if not math.isfinite(number):
            raise self._failure(f"gave {number}", t)
        return number

    def _failure(self, what: str, t: float) -> SimulationError:
        message = f"the controller of input {self.name!r} {what} at t = {t:g} s."
        return SimulationError(message, status="controller failed", t=t)


@final
@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of a run: values held, and what changes them."""

    held: Array
    formulas: tuple[tuple[int, Any], ...] = ()
    controllers: tuple[Controller, ...] = ()


def inputs_of(program: Program, values: Mapping[str, Any] | None) -> Inputs:
    """Sorts what the caller gave by kind; what is not given keeps its default."""
    units = {label.name: label.unit for label in program.labels.get("u", ())}
    labels = list(units)
    nu = program.sizes.get("nu", len(labels))
    held = np.zeros(nu)
    default = np.asarray(program.defaults.get("u", ()), dtype=float)
    held[: default.size] = default
    formulas: dict[int, Any] = {}
    controllers: list[Controller] = []
    for name, value in (values or {}).items():
        if name not in labels:
            raise NamingError.unknown("input", name, labels)
        slot = labels.index(name)
        if is_formula(value):
            formulas[slot] = value
        elif callable(value) and hasattr(value, "breaks"):
            formulas[slot] = value(time_of(program))
        elif isinstance(value, tuple | list) and len(value) == 2 and callable(value[1]):
            controllers.append(Controller(name, slot, _period(name, value[0]), value[1]))
        elif isinstance(value, tuple | list) and len(value) in (2, 3):
            formulas[slot] = _table(program, name, *value)
        else:
            held[slot] = _number(name, si_value(value, units[name], f"input {name!r}"))
    held.setflags(write=False)
    pairs = zip(formulas, interwoven(program, formulas), strict=True)
    return Inputs(held, tuple(pairs), tuple(controllers))


def is_formula(value: Any) -> bool:
    """True for an expression (anything with an operation and its arguments)."""
    return hasattr(value, "op") and hasattr(value, "args")


def one_number(x: Any, what: str, unit: str = "") -> float:
    """A float of a number, a text with a unit, or an array or a list of one number.

    Args:
        x: that is given.
        what: whose it is, for messages: "input 'motor'".
        unit: the SI unit that a text converts to.

    Raises:
        ArgumentError: it is no number, or several.
    """
    if type(x) is float:
        return x
    entry = x
    while isinstance(entry, list | tuple) and len(entry) == 1:
        entry = entry[0]
    if isinstance(entry, str):
        return float(si_value(entry, unit, what))
    try:
        array = np.asarray(entry)
        if array.size == 1 and array.dtype.kind in "biufO" and array.item() is not None:
            return float(array.item())
        shape = array.shape
    except (TypeError, ValueError):
        shape = ()
    of_shape = f", of shape {shape}" if shape else ""
    raise ArgumentError(f"{what} is {x!r}{of_shape}; it must be one number.")


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SimulationError(
            f"input {name!r} is given by {value!r}: no number, formula, table or controller.",
            hint="A formula of time is of liaison.t, a table (times, values), a controller "
            "(period, function).",
        ) from None
    if not math.isfinite(number):
        raise SimulationError(f"input {name!r} is {number}; it must be finite.")
    return number


def _period(name: str, value: Any) -> float:
    period = _number(name, si_value(value, "s", f"the period of input {name!r}"))
    if period <= 0:
        raise SimulationError(
            f"the controller of input {name!r} has period {period:g} s, not positive."
        )
    return period


def _table(program: Program, name: str, times: Any, values: Any, kind: str = "monotone") -> Any:
    x, y = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise SimulationError(
            f"the table of input {name!r} has {x.size} times for {y.size} values."
        )
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise SimulationError(f"the table of input {name!r} holds a number that is not finite.")
    if np.any(np.diff(x) <= 0):
        raise SimulationError(f"the times of the table of input {name!r} do not increase.")
    if kind not in KINDS:
        raise NamingError.unknown("kind of table", kind, KINDS)
    if x.size == 1:  # one value, held on both sides
        x, y = np.array([x[0], x[0] + 1.0]), np.repeat(y, 2)
    return over_time(program, x, y, kind)
