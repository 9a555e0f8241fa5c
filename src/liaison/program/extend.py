"""What a run adds to a program: inputs given by formulas or tables, stop conditions.

Breaks: instants at which time alone makes formulas jump or bend, as 1 + sign(t − 0.1) does.

A step that ends there needs not be cut down until its error is small. Found are switches that are
affine in time and read nothing else.

Formulas as plain data, so that a recorded run can say what its inputs were.

Public names: resolve, places_of, interwoven, time_of, over_time, extended, identity, breaks,
breaks_of, formula_to_plain, formula_from_plain.
"""

from __future__ import annotations

import math
from array import array as numbers
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from liaison.errors import NamingError, ProgramError
from liaison.expr import (
    Expr,
    Packed,
    Table,
    evaluate,
    fingerprint,
    gradient,
    pack,
    substitute,
    switches,
    symbol,
    symbols_of,
    topological,
    unpack,
)
from liaison.expr.graph.walk import depends_on
from liaison.units import Label

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


def places_of(labels: Mapping[str, Sequence[Label]]) -> dict[Expr, tuple[str, int]]:
    """A symbol for the time and for every label, with its place in the arguments of an entry."""
    places = {symbol("t"): ("t", 0)}
    for array, listed in labels.items():
        places |= {symbol(x.name): (array, k) for k, x in enumerate(listed)}
    return places


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


def breaks_of(program: Program, formulas: Sequence[Expr]) -> tuple[float, ...]:
    """Instants at which formulas over the symbols or labels of a program jump or bend."""
    times = [x for x, place in resolve(program, formulas).items() if place == ("t", 0)]
    return breaks(times[0], switches(formulas)) if times else ()


def breaks(t: Expr, switching: Sequence[Expr]) -> tuple[float, ...]:
    """Instants, in order, at which one of these formulas passes zero because of the time alone."""
    order = topological(switching)
    others = depends_on(order, [x for x in order if x.op == "symbol" and x is not t])
    instants = {_zero(t, f) for f in switching if f not in others}
    return tuple(sorted(filter(math.isfinite, instants)))


def _zero(t: Expr, f: Expr) -> float:
    """Where a formula of time is zero; infinite if it is not affine."""
    (slope,) = gradient(f, [t])
    if slope.op != "const":
        return math.inf
    value, rate = (float(x) for x in evaluate([f, slope], {t: 0.0}))
    return -value / rate if rate else math.inf


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
    return table.__reduce__()[1]


def _data_of(kind: str, *values: Any) -> Any:
    """The data that `_plain_data` described."""
    if kind == "table":
        return Table(*values[1]), int(values[0])
    makers = {"float": float.fromhex, "int": int, "fraction": Fraction, "name": str}
    return makers[kind](values[0])
