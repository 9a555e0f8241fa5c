"""Which events a run watches: those of the mechanism, and the stop conditions of the caller.

Public names: Watched, watched, sides_in, quantities, extra_program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

from liaison.errors import NamingError, SimulationError
from liaison.program import Program
from liaison.program.extend import extended, places_of
from liaison.simulation.plan.inputs import Inputs, is_formula
from liaison.units import si_value

DIRECTIONS = {"rising": 1, "falling": -1, "any": 0, "both": 0, 1: 1, -1: -1, 0: 0, None: 0}


@final
@dataclass(frozen=True, slots=True)
class Watched:
    """An event: its name, the direction that counts (+1, -1, 0: any), and whether it stops."""

    name: str
    direction: int
    stops: bool


def sides_in(program: Program) -> tuple[tuple[Any, ...], ...]:
    """Blocks that hold unilaterally: (name, owner, kind, first row, rows, load, law)."""
    return tuple(program.facts.get("sides", ()))


def watched(program: Program, stop: Any) -> tuple[tuple[Watched, ...], tuple[Any, ...]]:
    """The events in the order of their values, and the formulas that stop= adds at the end.

    `stop` is one or several of: the name of an event; a formula, which ends the run when it
    changes sign; a mapping of names to such formulas, or of labels (coordinate, rate, output,
    "t") to the value that ends the run.
    """
    own = [Watched(name, DIRECTIONS[way], action == "stop") for name, way, action in _own(program)]
    names, formulas = _stops(program, stop)
    for name in names:
        if name not in [event.name for event in own]:
            raise NamingError.unknown("event", name, [event.name for event in own])
    own = [Watched(e.name, e.direction, e.stops or e.name in names) for e in own]
    added = [Watched(name, 0, True) for name, _ in formulas]
    return (*own, *added), tuple(formula for _, formula in formulas)


def _own(program: Program) -> list[tuple[str, Any, str]]:
    declared = program.facts.get("events")
    if declared is not None:
        return [(name, way, action) for name, way, action in declared]
    if "events" not in program.entries:
        return []
    return [(name, 0, "record") for name, _ in program.entries["events"].layout]


def _stops(program: Program, stop: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    if stop is None:
        return [], []
    listed = list(stop) if isinstance(stop, list | tuple) else [stop]
    names: list[str] = []
    formulas: list[tuple[str, Any]] = []
    for condition in listed:
        if isinstance(condition, str):
            names.append(condition)
        elif isinstance(condition, Mapping):
            formulas += [(name, _reaches(program, name, x)) for name, x in condition.items()]
        elif is_formula(condition):
            formulas.append((f"stop {len(formulas) + 1}" if formulas else "stop", condition))
        else:
            raise SimulationError(
                f"stop= takes names of events, formulas, and values by label, not {condition!r}."
            )
    return names, formulas


def _reaches(program: Program, name: str, target: Any) -> Any:
    """A formula that is zero where the quantity of that label reaches the target."""
    if is_formula(target):
        return target
    if isinstance(target, str):
        target = si_value(target, _unit(program, name), f"stop={{{name!r}: …}}")
    if not isinstance(target, Real):
        raise SimulationError(f"stop= cannot wait for {name!r} to become {target!r}: no number.")
    value = float(target)
    if not math.isfinite(value):
        raise SimulationError(f"stop= cannot wait for {name!r} to become {value}.")
    known = quantities(program)
    if name not in known:
        raise NamingError.unknown("coordinate, rate or output", name, known)
    return known[name] - value


def _unit(program: Program, name: str) -> str:
    """The unit of a coordinate, rate, input or time; "" of anything else."""
    labels = (x for kind in ("q", "v", "u") for x in program.labels.get(kind, ()))
    return next((x.unit for x in labels if x.name == name), "s" if name == "t" else "")


def quantities(program: Program) -> dict[str, Any]:
    """Label -> formula, for time, coordinates, rates, inputs and outputs."""
    symbols = {place: symbol for symbol, place in places_of(program).items()}
    named = {"t": ("t", 0)}
    for array in ("u", "v", "q"):
        named |= {x.name: (array, k) for k, x in enumerate(program.labels.get(array, ()))}
    formulas = {name: symbols[place] for name, place in named.items() if place in symbols}
    if "outputs" in program.entries:
        entry = program.entries["outputs"]
        formulas |= zip((name for name, _ in entry.layout), entry.outputs, strict=False)
    return formulas


def extra_program(
    program: Program, inputs: Inputs, stops: tuple[Any, ...], knots: tuple[Any, ...] = ()
) -> Program | None:
    """A small program with what the run adds: inputs, stop conditions, knots of laws."""
    entries: dict[str, tuple[Any, ...]] = {}
    if inputs.formulas:
        entries["inputs"] = tuple(formula for _, formula in inputs.formulas)
    if stops:
        own = program.entries["events"].outputs if _own(program) else ()
        entries["events"] = (*own, *stops)
    if knots:
        entries["knots"] = knots
    return extended(program, **entries) if entries else None
