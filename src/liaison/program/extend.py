"""What a run adds to a program: inputs given by formulas or tables, stop conditions.

Public names: resolve, interwoven, time_of, over_time, extended, identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from liaison.errors import NamingError, ProgramError
from liaison.expr import (
    Expr,
    Table,
    fingerprint,
    substitute,
    symbols_of,
)

from .program import Entry, Program


def resolve(program: Program, formulas: Iterable[Expr]) -> dict[Expr, tuple[str, int]]:
    """The place of every symbol the formulas use: the program's own symbols, or labels by name."""
    named = {"t": ("t", 0)}
    for array in ("p", "u", "v", "q"):
        for index, label in enumerate(program.labels.get(array, ())):
            named[label.name] = (array, index)
    places: dict[Expr, tuple[str, int]] = {}
    for symbol in symbols_of(list(formulas)):
        if symbol in program.inputs:
            places[symbol] = program.inputs[symbol]
        elif symbol.name in named:
            places[symbol] = named[symbol.name]
        else:
            raise NamingError.unknown("coordinate, rate, parameter or input", symbol.name, named)
    return places


def interwoven(program: Program, given: Mapping[int, Expr]) -> tuple[Expr, ...]:
    """Formulas of inputs, by their number in u, with those that read another one filled in.

    Evaluated together, they are then all of one instant, whatever their order.

    Raises:
        ProgramError: inputs that are formulas of each other, or of themselves.
    """
    places = resolve(program, given.values())
    reads = {
        slot: {x: places[x][1] for x in symbols_of([f]) if places[x][0] == "u"}
        for slot, f in given.items()
    }
    waiting, done = dict(given), dict[int, Expr]()
    while waiting:
        ready = [slot for slot in waiting if not waiting.keys() & set(reads[slot].values())]
        if not ready:
            raise _circle(program, waiting)
        for slot in ready:
            known = {x: done[other] for x, other in reads[slot].items() if other in done}
            done[slot] = substitute([waiting.pop(slot)], known)[0]
    return tuple(done[slot] for slot in given)


def _circle(program: Program, slots: Iterable[int]) -> ProgramError:
    labels = program.labels.get("u", ())
    names = sorted(repr(labels[k].name if k < len(labels) else f"u[{k}]") for k in slots)
    one = len(names) == 1
    return ProgramError(
        f"the formula of input {names[0]} reads the input itself."
        if one
        else f"the formulas of inputs {', '.join(names)} read each other in a circle.",
        hint="Give one of them by a number, a table, or a formula of time and state alone.",
    )


def time_of(program: Program) -> Expr:
    """The symbol of time."""
    return next(symbol for symbol, place in program.inputs.items() if place[0] == "t")


def over_time(program: Program, times: Any, values: Any, kind: str) -> Expr:
    """A table as a formula of the program's time, its end values held outside."""
    formula: Expr = Table(times, values, kind, outside="hold")(time_of(program))
    return formula


def extended(program: Program, **entries: tuple[Expr, ...]) -> Program:
    """A small program of further entries over the symbols and labels of this one."""
    places = dict(program.inputs) | resolve(program, [f for fs in entries.values() for f in fs])
    made = {name: Entry(name, formulas) for name, formulas in entries.items()}
    return Program(f"{program.name}, extras", made, places, program.sizes)


def identity(program: Program, *entries: str) -> str:
    """A word that is the same for the same formulas, in every process; loops tell their own."""
    told = program.facts.get("identity")
    if told is not None:
        return str(told)
    return fingerprint([f for name in entries for f in program.entry(name).outputs])
