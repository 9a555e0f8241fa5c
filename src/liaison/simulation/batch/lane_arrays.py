"""Arithmetic on arrays with a state a lane: the loops in which runs on lanes spend their time.

They are few and short, so that LLVM's long list of passes, which puts them on vectors, takes little
time; the others call them by address. Each number has the bits of the same loop of one run.

Public names: LaneArrays, combined, copied, added, replaced, largest_of, infinite_of,
with_lane_arrays.
"""

from __future__ import annotations

from functools import cache
from typing import final

from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, hook, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, like, set_hook


@loop
def combined(
    n: i64, between: i64, count: i64, h: f64, weights: ptr, v: ptr, k: ptr, y: ptr
) -> None:
    """y = (0, v) + h Σ weights_j k_j; n numbers each, and rows of k that lie `between` apart."""
    for i in range(n):
        y[i] = 0.0
    rates = at(y, n)
    for i in range(n):
        rates[i] = v[i]
    for j in range(count):
        c = h * weights[j]
        if c != 0.0:
            row = at(k, j * between)
            for i in range(2 * n):
                y[i] += c * row[i]


@loop
def copied(n: i64, x: ptr, y: ptr) -> None:
    """y = x."""
    for i in range(n):
        y[i] = x[i]


@loop
def added(n: i64, x: ptr, y: ptr, z: ptr) -> None:
    """z = x + y."""
    for i in range(n):
        z[i] = x[i] + y[i]


@loop
def replaced(n: i64, lanes: i64, where: iptr, x: ptr, y: ptr) -> None:
    """y = x in some lanes."""
    for i in range(n):
        new = at(x, i * lanes)
        row = at(y, i * lanes)
        for k in range(lanes):
            row[k] = new[k] if where[k] > 0 else row[k]


@loop
def largest_of(n: i64, lanes: i64, x: ptr, unit: ptr, most: ptr, bad: ptr) -> None:
    """max |x_i|/unit_i of every lane; NaN of a lane in which an entry is not finite."""
    for k in range(lanes):
        most[k] = 0.0
        bad[k] = 0.0
    for i in range(n):
        row = at(x, i * lanes)
        scale = unit[i]
        for k in range(lanes):
            size = abs(row[k]) / scale
            bad[k] += size - size
            most[k] = size if size > most[k] else most[k]
    for k in range(lanes):
        most[k] += bad[k]


@loop
def infinite_of(n: i64, lanes: i64, x: ptr, bad: ptr) -> None:
    """0 for every lane whose numbers are all finite, NaN for others."""
    for k in range(lanes):
        bad[k] = 0.0
    for i in range(n):
        row = at(x, i * lanes)
        for k in range(lanes):
            bad[k] += row[k] - row[k]


@final
class LaneArrays(Record):
    """The addresses of these loops."""

    combined: hook = like(combined)
    copied: hook = like(copied)
    added: hook = like(added)
    replaced: hook = like(replaced)
    largest_of: hook = like(largest_of)
    infinite_of: hook = like(infinite_of)


LOOPS = {x.name: x for x in (combined, copied, added, replaced, largest_of, infinite_of)}


@cache
def _compiled() -> CompiledLoops:
    """The loops as machine code, once a process; they call no functions."""
    return compile_loops([*LOOPS.values()], optimize=3)


def with_lane_arrays(record: LaneArrays, *, is_compiled: bool = True) -> None:
    """Stores the loops in a record: their machine code, or as plain Python."""
    for name, one in LOOPS.items():
        set_hook(record, name, one, _compiled().address(one) if is_compiled else None)
