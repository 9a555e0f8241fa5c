"""What a run adds to a program: inputs given by formulas or tables, stop conditions.

Formulas as plain data, so that a recorded run can say what its inputs were.

Public names: resolve, places_of, time_alone, interwoven, time_of, over_time, extended, identity,
formula_to_plain, formula_from_plain.
"""

from __future__ import annotations

from array import array as numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from liaison.errors import NamingError, ProgramError
from liaison.expr import (
    Expr,
    Packed,
    Table,
    fingerprint,
    pack,
    substitute,
    symbol,
    symbols_of,
    unpack,
)

from .program import Entry, Program


def resolve(program: Program, formulas: Iterable[Expr]) -> dict[Expr, tuple[str, int]]:
    """The place of every symbol the formulas use: the program's own symbols, or labels by name."""
    named = {"t": ("t", 0)}
    for array in ("p", "u", "v", "q"):
        for index, label in enumerate(program.labels.get(array, ())):
            named[label.name] = (array, index)
    places: dict[Expr, tuple[str, int]] = {}
    for x in symbols_of(list(formulas)):
        if x in program.inputs:
            places[x] = program.inputs[x]
        elif x.name in named:
            places[x] = named[x.name]
        else:
            raise NamingError.unknown("coordinate, rate, parameter or input", x.name, named)
    return places


def places_of(program: Program) -> Mapping[Expr, tuple[str, int]]:
    """The place of every symbol of a program; one for each label where it has the time only.

    A scene of ten thousand bodies has as many labels as others have symbols, and hardly ever a
    formula of them.
    """
    if len(program.inputs) > 1:
        return program.inputs
    listed = [
        (array, k, x.name) for array, own in program.labels.items() for k, x in enumerate(own)
    ]
    return {**program.inputs, **{symbol(name): (array, k) for array, k, name in listed}}


def time_alone() -> dict[Expr, tuple[str, int]]:
    """Inputs of a program whose formulas find all but the time by labels."""
    return {symbol("t"): ("t", 0)}


def interwoven(program: Program, replaced: Mapping[int, Expr]) -> tuple[Expr, ...]:
    """Formulas of inputs, by their number in u, with those that read another one filled in.

    Evaluated together, they are then all of one instant, whatever their order.

    Raises:
        ProgramError: inputs that are formulas of each other, or of themselves.
    """
    places = resolve(program, replaced.values())
    reads = {
        slot: {x: places[x][1] for x in symbols_of([f]) if places[x][0] == "u"}
        for slot, f in replaced.items()
    }
    waiting, done = dict(replaced), dict[int, Expr]()
    while waiting:
        ready = [slot for slot in waiting if not waiting.keys() & set(reads[slot].values())]
        if not ready:
            raise _circle(program, waiting)
        for slot in ready:
            known = {x: done[other] for x, other in reads[slot].items() if other in done}
            done[slot] = substitute([waiting.pop(slot)], known)[0]
    return tuple(done[slot] for slot in replaced)


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
    return next(x for x, place in program.inputs.items() if place[0] == "t")


def over_time(program: Program, times: Any, values: Any, kind: str) -> Expr:
    """A table as a formula of the program's time, its end values held outside."""
    formula: Expr = Table(times, values, kind, outside="hold")(time_of(program))
    return formula


def extended(program: Program, **entries: tuple[Expr, ...]) -> Program:
    """A small program of further entries over the symbols and labels of this one."""
    places = dict(program.inputs) | resolve(program, [f for fs in entries.values() for f in fs])
    by_name = {name: Entry(name, formulas) for name, formulas in entries.items()}
    return Program(f"{program.name}, extras", by_name, places, program.sizes)


def identity(program: Program, *entries: str) -> str:
    """A word that is the same for the same formulas, in every process; loops have their own."""
    stored = program.facts.get("identity")
    if stored is not None:
        return str(stored)
    return fingerprint([f for name in entries for f in program.entry(name).outputs])


def formula_to_plain(formula: Expr) -> list[Any] | None:
    """A formula as nested lists of words and numbers; None if something in it has no such form."""
    packed = pack([formula])
    rows: list[Any] = []
    start = 0
    for i, op in enumerate(packed.ops):
        args = list(packed.args[start : start + packed.sizes[i]])
        start += packed.sizes[i]
        data = _plain_data(packed.data[i]) if packed.data.get(i) is not None else []
        if data is None:
            return None
        rows.append([op, args, data])
    return rows


def formula_from_plain(rows: Sequence[Any]) -> Expr:
    """The formula that `formula_to_plain` described."""
    data = {i: _data_of(*row[2]) for i, row in enumerate(rows) if len(row[2])}
    args = numbers("q", [k for row in rows for k in row[1]])
    sizes = bytes(len(row[1]) for row in rows)
    packed = Packed([row[0] for row in rows], sizes, args, data, numbers("q", [len(rows) - 1]))
    return unpack(packed)[0]


def _plain_data(data: Any) -> list[Any] | None:
    """A number, a name or a table, with the word for its kind."""
    if isinstance(data, tuple) and isinstance(data[0], Table):
        table, order = data
        return ["table", order, [y if isinstance(y, str) else y.tolist() for y in _parts(table)]]
    if isinstance(data, float):
        return ["float", data.hex()]
    for kind, word in ((int, "int"), (Fraction, "fraction"), (str, "name")):
        if isinstance(data, kind):
            return [word, str(data)]
    return None


def _parts(table: Table) -> tuple[Any, ...]:
    """What a table is made from, in the order of its arguments."""
    parts: tuple[Any, ...] = table.__reduce__()[1]
    return parts


def _data_of(kind: str, *values: Any) -> Any:
    """The data that `_plain_data` described."""
    if kind == "table":
        return Table(*values[1]), int(values[0])
    makers: dict[str, Callable[[str], Any]] = {"float": float.fromhex, "int": int, "name": str}
    makers["fraction"] = Fraction
    return makers[kind](values[0])
