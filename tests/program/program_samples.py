"""Small programs for the tests of this room."""

from __future__ import annotations

import os
import random

import pytest

from liaison.expr import cos, sin, symbol
from liaison.program import Entry, Program, compile_c
from liaison.program.c.compile_c import c_compiler


def program_of(outputs, arrays=("q",), size=8, name="sample"):
    """One entry `f` with these outputs; symbols are named q[0], v[1], …"""
    inputs = {symbol("t"): ("t", 0)}
    inputs |= {symbol(f"{a}[{i}]"): (a, i) for a in arrays for i in range(size)}
    return Program(name, {"f": Entry("f", tuple(outputs))}, inputs, {})


def synthetic(operations, seed=0, live=40):
    """About so many operations on seven angles and seven speeds, values staying moderate."""
    draw = random.Random(seed)
    q = [symbol(f"q[{i}]") for i in range(7)]
    turns = [f(x) for x in q for f in (sin, cos)]
    pool = turns + [symbol(f"v[{i}]") for i in range(7)]
    for _ in range(operations // 3):
        a, b = draw.sample(pool[-live:], 2)
        s, c = draw.sample(turns, 2)
        pool.append(s * a - c * b)
    return program_of(pool[-14:], arrays=("q", "v"))


def require_c():
    """Skips the test where there is no C compiler; with CI=true that is a failure."""
    if c_compiler() is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no C compiler")


def through_c(program, **options):
    """A kernel of the program's C text."""
    require_c()
    return compile_c(program, **options)
