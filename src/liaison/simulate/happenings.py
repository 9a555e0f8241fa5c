"""Which events a run watches: those of the mechanism, and the stop conditions of the caller.

Public names: Watched, watched, extra_program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import NamingError, SimulationError
from liaison.program import Entry, Program

from .inputs import Inputs, is_formula, resolve

DIRECTIONS = {"rising": 1, "falling": -1, "any": 0, "both": 0, 1: 1, -1: -1, 0: 0, None: 0}


@final
@dataclass(frozen=True, slots=True)
class Watched:
    """An event: its name, the direction that counts (+1, -1, 0: any), and whether it stops."""

    name: str
    direction: int
    stops: bool


def watched(program: Program, stop: Any) -> tuple[tuple[Watched, ...], tuple[Any, ...]]:
    """The events in the order of their values, and the formulas that stop= adds at the end.

    `stop` is the name of an event, a formula that ends the run when it changes sign, a mapping
    of names to such formulas, or a sequence of names and formulas.
    """
    own = [Watched(name, DIRECTIONS[way], action == "stop") for name, way, action in _own(program)]
    names, formulas = _stops(stop)
    for name in names:
        if name not in [event.name for event in own]:
            raise NamingError.unknown("event", name, [event.name for event in own])
    own = [Watched(e.name, e.direction, e.stops or e.name in names) for e in own]
    added = [Watched(name, 0, True) for name, _ in formulas]
    return (*own, *added), tuple(formula for _, formula in formulas)


def _own(program: Program) -> list[tuple[str, Any, str]]:
    told = program.facts.get("events")
    if told is not None:
        return [(name, way, action) for name, way, action in told]
    if "events" not in program.entries:
        return []
    return [(name, 0, "record") for name, _ in program.entries["events"].layout]


def _stops(stop: Any) -> tuple[list[str], list[tuple[str, Any]]]:
    if stop is None:
        return [], []
    if isinstance(stop, Mapping):
        return [], list(stop.items())
    listed = list(stop) if isinstance(stop, Sequence) and not isinstance(stop, str) else [stop]
    names = [x for x in listed if isinstance(x, str)]
    given = [x for x in listed if is_formula(x)]
    if len(names) + len(given) != len(listed):
        raise SimulationError(
            "stop= takes names of events and formulas that stop the run when they change sign."
        )
    return names, [("stop" if k == 0 else f"stop {k + 1}", x) for k, x in enumerate(given)]


def extra_program(program: Program, inputs: Inputs, stops: tuple[Any, ...]) -> Program | None:
    """A small program with what the run adds: formulas of inputs, stop conditions."""
    entries: dict[str, Entry] = {}
    places = dict(program.inputs)
    if inputs.formulas:
        formulas = tuple(formula for _, formula in inputs.formulas)
        places |= resolve(program, formulas)
        entries["inputs"] = Entry("inputs", formulas)
    if stops:
        own = program.entries["events"].outputs if _own(program) else ()
        places |= resolve(program, stops)
        entries["events"] = Entry("events", (*own, *stops))
    if not entries:
        return None
    return Program(f"{program.name}, extras", entries, places, program.sizes)
