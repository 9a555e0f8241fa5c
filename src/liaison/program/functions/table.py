"""The functions of the mathematical library by name, each as a loop, and loops that call them.

Smaller and larger numbers are here, too: processors choose differently where one is NaN, or where
zeros of two signs are equal. So they do of the integer of a number that has none, NaN or beyond 64
bits: in portable loops it is 0, or the nearest there is. What is left, sums, products, quotients,
roots and comparisons, is the same in IEEE 754 wherever it runs.

Public names: FUNCTIONS, fmin, fmax, portable_routine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from liaison.program.loops.language import Loop, f64, loop
from liaison.program.loops.read import routine
from liaison.program.loops.tree import SATURATING, Routine, Step, Value

from .arcs import acos, asin, atan, atan2
from .circular import cos, sin, tan
from .exponential import exp, log, pow


@loop
def fmin(x: f64, y: f64) -> f64:
    """The smaller number, the first of equal ones; the other one where one is NaN."""
    return y if y < x or x != x else x


@loop
def fmax(x: f64, y: f64) -> f64:
    """The larger number, the first of equal ones; the other one where one is NaN."""
    return y if y > x or x != x else x


FUNCTIONS: Mapping[str, Loop[..., Any]] = MappingProxyType(
    {x.name: x for x in (sin, cos, tan, asin, acos, atan, atan2, exp, log, pow, fmin, fmax)}
)
"""What loops and entries call in portable code instead of functions of the system."""


@cache
def portable_routine(loop: Loop[..., Any]) -> Routine:
    """A loop read, with functions of the system replaced by those of `program/functions`."""
    read = routine(loop)
    if loop in FUNCTIONS.values():
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
