"""Variables of an FMU: what a mechanism has by name, and where the values lie.

Public names: Variables, Row, variables_of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from liaison.expr import symbols_of
from liaison.numeric import Array
from liaison.program.program import Program
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan
from liaison.units import Label

from .layout import (
    ENERGY,
    INDICATOR,
    INITIALIZING,
    INSTANTIATED,
    MODE,
    OUT,
    POSE,
    QDOT,
    RESIDUAL,
    RUNNING,
    TIME,
    VDOT,
    P,
    Q,
    U,
    V,
)

BEFORE = INSTANTIATED | INITIALIZING

STRUCTURE = ("closure", "assembly", "one_sided")
"""Entries whose parameters are sizes of the mechanism, which do not change while it moves."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A variable; its value reference is its place in the table.

    Attributes:
        name: of it.
        unit: in SI; "" of a pure number.
        array: TIME, Q, … of `layout`.
        first: the place of its first number there.
        count: how many numbers it has.
        causality: as FMI has it.
        variability: likewise.
        start: values that it starts with; none: it is calculated.
        settable: mask of the states in which it may be set.
        low: least value.
        high: largest value.
        nominal: its size.
        derivative: value reference of the state whose derivative it is; −1: of none.
        text: what it is.
    """

    name: str
    unit: str
    array: int
    first: int
    count: int = 1
    causality: str = "local"
    variability: str = "continuous"
    start: tuple[float, ...] = ()
    settable: int = 0
    low: float = -np.inf
    high: float = np.inf
    nominal: float = 1.0
    derivative: int = -1
    text: str = ""

    @property
    def is_integer(self) -> bool:
        """A mode."""
        return self.array == MODE


@final
@dataclass(frozen=True, slots=True)
class Variables:
    """The table of variables.

    Attributes:
        rows: by value reference.
        nominals: of states, q then v.
        events: names of event indicators.
    """

    rows: tuple[Row, ...]
    nominals: Array
    events: tuple[str, ...] = field(default=())

    def of(self, *arrays: int) -> list[tuple[int, Row]]:
        """Value references and rows of these arrays."""
        return [(k, x) for k, x in enumerate(self.rows) if x.array in arrays]


@final
class _Table:
    """A table under construction."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.names: dict[str, int] = {}

    def add(self, row: Row) -> int:
        """The value reference of a new row; a name that is taken is numbered."""
        name, count = row.name, 2
        while name in self.names:
            name, count = f"{row.name} ({count})", count + 1
        self.names[name] = len(self.rows)
        kept = {x: getattr(row, x) for x in Row.__slots__} | {"name": name}
        self.rows.append(Row(**kept))
        return len(self.rows) - 1


def variables_of(plan: Plan, *, arrays: bool, poses: bool = False) -> Variables:
    """The variables of a plan.

    Args:
        plan: of a run.
        arrays: numbers of one thing (the axes of a point, a quaternion) are one variable.
        poses: positions and rotations of bodies are variables, too.
    """
    program, table = plan.program, _Table()
    labels = program.labels
    table.add(Row("time", "s", TIME, 0, causality="independent", text="simulation time"))
    states: dict[tuple[int, int], int] = {}
    for array, values, letter in ((Q, plan.state.q, "q"), (V, plan.state.v, "v")):
        text = "coordinate" if array == Q else "velocity"
        for name, unit, first, count in groups(labels[letter], arrays):
            start = tuple(map(float, values[first : first + count]))
            states[array, first] = table.add(
                Row(name, unit, array, first, count, "output", start=start, settable=BEFORE,
                    text=text)
            )  # fmt: skip
    for array, letter, of in ((QDOT, "q", Q), (VDOT, "v", V)):
        for name, unit, first, count in groups(labels[letter], arrays):
            table.add(
                Row(f"der({name})", per_second(unit), array, first, count,
                    derivative=states[of, first], text=f"derivative of {name}")
            )  # fmt: skip
    _add_inputs(table, plan)
    _add_parameters(table, plan)
    _add_results(table, plan)
    if poses:
        _add_poses(table, plan, arrays)
    blocks = [x[0] for x in sides_in(program)]
    events = [x.name for x in plan.events] + [f"end of mode of {x}" for x in blocks]
    for k, name in enumerate(events if arrays else ()):
        table.add(Row(f"event indicator {name}", "", INDICATOR, k, text="zero at an event"))
    nominals = _nominals(table, plan)
    return Variables(tuple(table.rows), nominals, tuple(events))


def _size(values: Iterable[float]) -> float:
    """The largest size of some numbers, with one digit."""
    largest = max((abs(x) for x in values), default=0.0)
    return float(f"{largest:.0e}")


def _nominals(table: _Table, plan: Plan) -> Array:
    """Sizes of states, q then v: of lengths that of the start, of other coordinates 1.

    Rates are as large as what changes, in a second, and as those of the start.
    """
    rows = [x for x in table.rows if x.array in (Q, V)]
    length = _size(y for x in rows if x.unit == "m" for y in x.start) or 1.0
    sizes = np.ones(plan.size("nq") + plan.size("nv"))
    for k, row in enumerate(table.rows):
        if row.array not in (Q, V):
            continue
        alike = (y for x in rows if x.unit == row.unit and x.array == V for y in x.start)
        nominal = length if row.unit in ("m", "m/s") else 1.0
        nominal = nominal if row.array == Q else max(nominal, _size(alike))
        table.rows[k] = replace(row, nominal=nominal)
        first = row.first + (plan.size("nq") if row.array == V else 0)
        sizes[first : first + row.count] = nominal
    return sizes


def groups(labels: Sequence[Label], arrays: bool) -> Iterable[tuple[str, str, int, int]]:
    """Name, unit, first place and count of variables: neighbours `A.x`, `A.y` may be one."""
    k = 0
    while k < len(labels):
        stem, dot, _ = labels[k].name.rpartition(".")
        end = k + 1
        while (
            arrays and dot and end < len(labels)
            and labels[end].name.rpartition(".")[0] == stem and labels[end].unit == labels[k].unit
        ):  # fmt: skip
            end += 1
        if end - k > 1:
            letters = [x.name.rpartition(".")[2] for x in labels[k:end]]
            yield f"{stem}.{_joined(letters)}", labels[k].unit, k, end - k
        else:
            yield labels[k].name, labels[k].unit, k, 1
            end = k + 1
        k = end


def _joined(letters: Sequence[str]) -> str:
    """x, y, z as xyz; primes of rates once, at the end."""
    is_rate = all(x.endswith("'") for x in letters)
    return "".join(x.rstrip("'") for x in letters) + ("'" if is_rate else "")


def per_second(unit: str) -> str:
    """The unit of a derivative by time."""
    if not unit:
        return "1/s"
    if unit.endswith("/s"):
        return f"{unit}^2"
    return f"{unit}/s"


def _add_inputs(table: _Table, plan: Plan) -> None:
    """Inputs that the importer sets; those that are formulas are not among them."""
    driven = {slot for slot, _ in plan.inputs.formulas}
    for k, label in enumerate(plan.program.labels.get("u", ())):
        if k in driven:
            table.add(Row(label.name, label.unit, U, k, text="input that is a formula"))
            continue
        start = (float(plan.inputs.held[k]),)
        table.add(
            Row(label.name, label.unit, U, k, 1, "input", start=start, settable=BEFORE | RUNNING,
                text="input")
        )  # fmt: skip


def _add_parameters(table: _Table, plan: Plan) -> None:
    """Parameters: those of sizes are fixed, others may be tuned while the mechanism moves."""
    program = plan.program
    sizes = {place for name in STRUCTURE for place in _read(program, name)}
    instants = () if plan.timed is None else plan.timed.constants
    constant = {program.inputs[x] for x in instants if x in program.inputs}
    bounds: dict[str, Any] = dict(program.facts.get("bounds", {}))
    for k, label in enumerate(program.labels.get("p", ())):
        low, high = bounds.get(label.name, (-np.inf, np.inf))
        value = float(plan.parameters[k])
        row = Row(label.name, label.unit, P, k, 1, "parameter", "tunable", (value,),
                  BEFORE | RUNNING, min(float(low), value), max(float(high), value),
                  text="parameter")  # fmt: skip
        kept = {x: getattr(row, x) for x in Row.__slots__}
        if ("p", k) in constant:
            kept |= {"causality": "local", "variability": "constant", "settable": 0}
        elif ("p", k) in sizes:
            kept |= {"variability": "fixed", "settable": BEFORE}
        table.add(Row(**kept))


def _read(program: Program, name: str) -> set[tuple[str, int]]:
    """Places that the formulas of an entry read."""
    if name not in program.entries:
        return set()
    return {program.inputs[x] for x in symbols_of(list(program.entry(name).outputs))}


def _add_results(table: _Table, plan: Plan) -> None:
    """Outputs of the description, energies, residuals, modes."""
    units = {x.name: x.unit for x in plan.program.labels.get("outputs", ())}
    # a mechanism without outputs has one block of none
    named = [name for name, count in plan.program.entry("outputs").layout if count]
    for k, name in enumerate(named):
        table.add(Row(name, units.get(name, ""), OUT, k, 1, "output", text="output"))
    for k, name in enumerate(("kinetic energy", "potential energy")):
        table.add(Row(name, "J", ENERGY, k, text=f"{name} of all bodies"))
    if plan.size("nc"):
        for k, of in enumerate(("positions", "rates")):
            table.add(
                Row(f"closure residual of {of}", "", RESIDUAL, k, 1, "output",
                    text=f"largest residual of closures of {of}, in units of the mechanism")
            )  # fmt: skip
    for k, block in enumerate(sides_in(plan.program)):
        table.add(
            Row(f"mode of {block[0]}", "", MODE, k, 1, "output", "discrete",
                text="0 open, 1 closed or sticking, 2 slipping, 3 held")
        )  # fmt: skip


def _add_poses(table: _Table, plan: Plan, arrays: bool) -> None:
    """Of each body the position of its origin, and the rotation matrix row by row."""
    for k, (body, _) in enumerate(plan.program.entry("poses").layout):
        parts = {
            "position": ("m", 12 * k + 9, "xyz"),
            "rotation": ("", 12 * k, [f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]),
        }
        for word, (unit, first, places) in parts.items():
            text = f"{word} of {body} in the ground's frame"
            if arrays:
                table.add(Row(f"{body}.{word}", unit, POSE, first, len(places), text=text))
                continue
            for j, place in enumerate(places):
                table.add(Row(f"{body}.{word}.{place}", unit, POSE, first + j, text=text))
