"""Outputs named in events and in other outputs, spelled out.

Public names: spelled_out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from liaison.errors import ModelError
from liaison.expr import Expr, as_expr, substitute, symbols_of

from .records import Event, Output

Wish = TypeVar("Wish", Event, Output)


def spelled_out(
    outputs: Iterable[Output], events: Iterable[Event]
) -> tuple[tuple[Output, ...], tuple[Event, ...]]:
    """The same outputs and events, with its formula wherever the name of an output stands.

    Raises:
        ModelError: outputs that are made of each other.
    """
    said = {output.symbol: output for output in outputs}
    formulas: dict[Expr, Expr] = {}
    while len(formulas) < len(said):
        left = {x: output for x, output in said.items() if x not in formulas}
        ready = [x for x, output in left.items() if not left.keys() & _symbols(output)]
        if not ready:
            raise _circle(left.values())
        formulas |= {x: as_expr(_without(said[x], formulas).formula) for x in ready}
    return (
        tuple(_without(output, formulas) for output in said.values()),
        tuple(_without(event, formulas) for event in events),
    )


def _symbols(wish: Event | Output) -> set[Expr]:
    return set(symbols_of([wish.formula])) if isinstance(wish.formula, Expr) else set()


def _without(wish: Wish, formulas: Mapping[Expr, Expr]) -> Wish:
    if not formulas.keys() & _symbols(wish):
        return wish
    return replace(wish, formula=substitute([wish.formula], formulas)[0])


def _circle(outputs: Iterable[Output]) -> ModelError:
    first, *others = outputs
    among = f" by way of {', '.join(repr(output.name) for output in others)}" if others else ""
    return ModelError(
        f"output '{first.name}' is made of itself{among}; write it in terms of coordinates, "
        "speeds, inputs and parameters.",
        place=first.place,
    )
