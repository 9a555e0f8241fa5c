"""Inputs of a run: numbers, formulas, tables over time, and Python controllers.

    inputs={"motor": 3.0, "brake": -2 * A_rate, "wind": (times, values), "servo": (0.01, control)}

A formula may use the labels of the mechanism. A table is (times, values), joined by a natural
cubic spline, or (times, values, "linear"); outside its times the end values hold. A `Table` of
formulas is taken as a function of time. A controller is (period, f): f(t, state) is called every
period [s] from the start on, its value held in between; what it raises ends the run.

Public names: Table, Controller, Inputs, inputs_of, cubic_pieces, linear_pieces, resolve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Program

Control: TypeAlias = Callable[[float, State], float]


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A piecewise cubic over time for one input: knots, and four coefficients a piece."""

    slot: int
    knots: Array
    pieces: Array

    @property
    def data(self) -> Array:
        """Knots, then coefficients, as the loop reads them."""
        return np.concatenate([self.knots, self.pieces.ravel()])


@final
@dataclass(frozen=True, slots=True)
class Controller:
    """A Python function that gives one input, called every `period` [s]."""

    name: str
    slot: int
    period: float
    function: Control

    def value(self, t: float, state: State) -> float:
        """What the function says now; refuses what is no finite number."""
        found = float(self.function(t, state))
        if not math.isfinite(found):
            raise SimulationError(
                f"the controller of input {self.name!r} gave {found} at t = {t:g} s.",
                status="controller failed",
                t=t,
            )
        return found


@final
@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of a run: values held, and what changes them."""

    held: Array
    formulas: tuple[tuple[int, Any], ...] = ()
    tables: tuple[Table, ...] = ()
    controllers: tuple[Controller, ...] = ()


def inputs_of(program: Program, given: Mapping[str, Any] | None) -> Inputs:
    """Sorts what the caller gave by kind; what is not given keeps its default."""
    labels = [label.name for label in program.labels.get("u", ())]
    nu = program.sizes.get("nu", len(labels))
    held = np.zeros(nu)
    default = np.asarray(program.defaults.get("u", ()), dtype=float)
    held[: default.size] = default
    formulas: list[tuple[int, Any]] = []
    tables: list[Table] = []
    controllers: list[Controller] = []
    for name, value in (given or {}).items():
        if name not in labels:
            raise NamingError.unknown("input", name, labels)
        slot = labels.index(name)
        if is_formula(value):
            formulas.append((slot, value))
        elif callable(value) and hasattr(value, "breaks"):
            formulas.append((slot, value(_time(program))))
        elif isinstance(value, tuple | list) and len(value) == 2 and callable(value[1]):
            controllers.append(Controller(name, slot, _period(name, value[0]), value[1]))
        elif isinstance(value, tuple | list) and len(value) in (2, 3):
            tables.append(_table(name, slot, *value))
        else:
            held[slot] = _number(name, value)
    return Inputs(held, tuple(formulas), tuple(tables), tuple(controllers))


def _time(program: Program) -> Any:
    """The symbol of time."""
    return next(symbol for symbol, place in program.inputs.items() if place[0] == "t")


def is_formula(value: Any) -> bool:
    """True for an expression (anything with an operation and its arguments)."""
    return hasattr(value, "op") and hasattr(value, "args")


def resolve(program: Program, formulas: Iterable[Any]) -> dict[Any, tuple[str, int]]:
    """The place of every symbol the formulas use: the program's own symbols, or labels by name."""
    named = {"t": ("t", 0)}
    for array in ("p", "u", "v", "q"):
        for index, label in enumerate(program.labels.get(array, ())):
            named[label.name] = (array, index)
    places: dict[Any, tuple[str, int]] = {}
    for symbol in _symbols(formulas):
        if symbol in program.inputs:
            places[symbol] = program.inputs[symbol]
        elif symbol.name in named:
            places[symbol] = named[symbol.name]
        else:
            raise NamingError.unknown("coordinate, rate, parameter or input", symbol.name, named)
    return places


def _symbols(formulas: Iterable[Any]) -> list[Any]:
    seen: dict[Any, None] = {}
    stack = list(formulas)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack.extend(node.args)
    return sorted((x for x in seen if x.op == "symbol"), key=lambda x: str(x.name))


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SimulationError(
            f"input {name!r} is given by {value!r}: no number, formula, table or controller.",
            hint="A table is (times, values), a controller (period, function).",
        ) from None
    if not math.isfinite(number):
        raise SimulationError(f"input {name!r} is {number}; it must be finite.")
    return number


def _period(name: str, value: Any) -> float:
    period = _number(name, value)
    if period <= 0:
        raise SimulationError(
            f"the controller of input {name!r} has period {period:g} s, not positive."
        )
    return period


def _table(name: str, slot: int, times: Any, values: Any, kind: str = "cubic") -> Table:
    x, y = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise SimulationError(
            f"the table of input {name!r} has {x.size} times for {y.size} values."
        )
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise SimulationError(f"the table of input {name!r} holds a number that is not finite.")
    if np.any(np.diff(x) <= 0):
        raise SimulationError(f"the times of the table of input {name!r} do not increase.")
    kinds = {"linear": linear_pieces, "cubic": cubic_pieces}
    if kind not in kinds:
        raise NamingError.unknown("kind of table", kind, kinds)
    return Table(slot, x, kinds[kind](x, y))


def linear_pieces(x: Array, y: Array) -> Array:
    """Coefficients of straight pieces through the points, shape (n, 4)."""
    slope = np.append(np.diff(y) / np.diff(x), 0.0)
    return np.column_stack([y, slope, np.zeros_like(y), np.zeros_like(y)])


def cubic_pieces(x: Array, y: Array) -> Array:
    """Coefficients of the natural cubic spline through the points, shape (n, 4).

    The same spline as a table in a formula (`liaison.expr.Table`).
    """
    if x.size < 3:
        return linear_pieces(x, y)
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    second = _second_derivatives(h, slope)
    pieces = np.zeros((x.size, 4))
    pieces[:, 0] = y
    pieces[:-1, 1] = slope - h * (2 * second[:-1] + second[1:]) / 6
    pieces[:-1, 2] = second[:-1] / 2
    pieces[:-1, 3] = np.diff(second) / (6 * h)
    return pieces


def _second_derivatives(h: Array, slope: Array) -> Array:
    """Second derivatives at the knots: zero at the ends, the slope continuous inside."""
    middle, right = 2 * (h[:-1] + h[1:]), 6 * np.diff(slope)
    # a tridiagonal system with h beside the diagonal, eliminated downwards
    for i in range(1, middle.size):
        factor = h[i] / middle[i - 1]
        middle[i] -= factor * h[i]
        right[i] -= factor * right[i - 1]
    m = np.zeros(h.size + 1)
    for i in range(middle.size - 1, -1, -1):
        m[i + 1] = (right[i] - h[i + 1] * m[i + 2]) / middle[i]
    return m
