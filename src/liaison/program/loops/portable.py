"""Portable loops: calls of the mathematical library become calls of loops.

The integer of a number that has none (NaN, or beyond 64 bits) differs from processor to processor:
here it is 0, or the nearest there is.

What is left, sums, products, quotients, roots and comparisons, is the same in IEEE 754 wherever it
runs; so are then the bits of every result.

Public names: portable_routine, SATURATING.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from liaison.program.functions.table import FUNCTIONS

from .language import Loop
from .read import routine
from .tree import Routine, Step, Value

OWN = frozenset(FUNCTIONS.values())
SATURATING = "saturating"


@cache
def portable_routine(loop: Loop[..., Any]) -> Routine:
    """A loop read, with functions of the system replaced by those of `program/functions`."""
    read = routine(loop)
    if loop in OWN:
        return read
    calls = dict.fromkeys(read.calls)
    body = tuple(_step(step, calls) for step in read.body)
    return replace(read, body=body, calls=tuple(calls))


def _step(step: Step, calls: dict[Loop[..., Any], None]) -> Step:
    return replace(
        step,
        values=tuple(_value(x, calls) for x in step.values),
        body=tuple(_step(x, calls) for x in step.body),
        orelse=tuple(_step(x, calls) for x in step.orelse),
    )


def _value(value: Value, calls: dict[Loop[..., Any], None]) -> Value:
    args = tuple(_value(x, calls) for x in value.args)
    callee = FUNCTIONS.get(value.data) if value.kind == "math" else None
    if value.kind == "convert" and (args[0].type, value.type) == ("f64", "i64"):
        return Value("convert", "i64", args, SATURATING)
    if callee is None:
        return value if args == value.args else replace(value, args=args)
    calls[callee] = None
    return Value("call", value.type, args, callee)
