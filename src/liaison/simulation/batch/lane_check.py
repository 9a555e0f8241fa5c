"""Whether entries over lanes have the bits of the entries of one state: compared, once a kernel.

Both are compiled from the same formulas in the same order, and LLVM fuses the same products and
sums in both, but for a few that it sees only among numbers or only among vectors (a factor whose
negative is also there). Such an entry is not used: its runs would differ from others in rounding,
by whether they march alone. It differs at some states in a thousand or more; so many random ones
are compared that none is overlooked. Portable kernels fuse nothing.

Public names: different_entries.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from liaison.program import Kernel
from liaison.program.llvm.lanes import LaneCode
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.language import at, bits, i64, kernel, loop, ptr
from liaison.program.loops.records import address

from .lane_layout import take_lane

ROUNDS = 512
"""Vectors of states that are compared."""


@loop
def count_different(
    one: kernel, wide: kernel, rounds: i64, lanes: i64, width: i64, outputs: i64, states: ptr,
    alone: ptr, space: ptr, work: ptr,
) -> i64:  # fmt: skip
    """States at which two entries differ in a bit.

    Every array of a state has `width` numbers; `space` has room for what both write.
    """
    count = 0
    n = width * lanes
    other = at(space, outputs * lanes)
    for r in range(rounds):
        q = at(states, r * 5 * n)
        v = at(q, n)
        u = at(v, n)
        p = at(u, n)
        x = at(p, n)
        wide(0.25, q, v, u, p, x, space, work)
        for k in range(lanes):
            take_lane(5 * width, lanes, k, q, alone)
            v1 = at(alone, width)
            u1 = at(v1, width)
            p1 = at(u1, width)
            one(0.25, alone, v1, u1, p1, at(p1, width), other, work)
            differs = 0
            for i in range(outputs):
                a = other[i]
                b = space[i * lanes + k]
                if bits(a) != bits(b) and (a == a or b == b):
                    differs = 1
            count += differs
    return count


@cache
def _count() -> Any:
    """The loop above as machine code."""
    return compile_loops([count_different]).function(count_different)


def different_entries(kernel: Kernel, code: LaneCode) -> tuple[str, ...]:
    """Entries of which a lane and the entry of one state differ in some bits."""
    key = ("entries that differ on lanes", *code.addresses)
    if key not in kernel.prepared:
        kernel.prepared[key] = tuple(x for x in code.addresses if _differs(kernel, code, x))
    known: tuple[str, ...] = kernel.prepared[key]
    return known


def _differs(kernel: Kernel, code: LaneCode, entry: str) -> bool:
    """Whether it does at one of many states, drawn from numbers of several sizes."""
    reads, rng = kernel.program.reads(entry), np.random.default_rng(1)
    width, outputs, lanes = max(1, *reads.values()), kernel.out_size(entry), code.lanes
    states = rng.uniform(-2.0, 2.0, (ROUNDS, 5, width, lanes))
    states *= 10.0 ** rng.uniform(-2.0, 0.5, (ROUNDS, 1, 1, 1))
    defaults = np.resize(np.append(kernel.program.defaults.get("p", ()), 1.0), width)
    near = rng.uniform(0.9, 1.1, (ROUNDS, width, lanes))
    states[:, 3] = defaults[:, None] * near
    work = np.zeros(1 + max(code.work_size, kernel.work_size(entry)))
    alone, space = np.zeros(5 * width), np.zeros(outputs * (lanes + 1))
    listed = map(address, (np.ascontiguousarray(states), alone, space, work))
    places = kernel.address(entry), code.addresses[entry]
    return bool(_count()(*places, ROUNDS, lanes, width, outputs, *listed))
