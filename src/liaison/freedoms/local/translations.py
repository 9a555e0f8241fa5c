"""A lower bound of the mobility from sides that fold without turning.

Parallel hinges that follow each other form a side. Ask of each side that its angles sum to zero:
one equation a side, and the side moves its far end by a pure translation t, across its axis. A loop
of such sides closes where Σ ± t = 0, which is linear in the t. So the variety holds a set cut out
by as many equations as there are sides, plus the rank of these sums, and Krull's theorem bounds
its dimension from below. This proves antenna meshes, whose closures are non-reduced, and holds for
screw joints as well.

Public names: translating_dimension.

Source: docs/theory/mobility.md (mobility-8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from liaison.exact.linear import rank
from liaison.freedoms.screws import Factor, LoopSystem

Side: TypeAlias = tuple[tuple[int, int], ...]
"""(column, sign) of hinges that follow each other."""


def translating_dimension(system: LoopSystem) -> int:
    """The variety through the known point has at least this dimension; 0 if this shows nothing."""
    if system.relations or system.curved:
        return 0
    # a screw joint's advance goes with its turn
    pitches = {f.column: f.pitch for loop in system.loops for f in loop if f.pitch is not None}
    loops = [[f for f in loop if f.pitch is None] for loop in system.loops]
    sides = _common([_runs(loop, system.p) for loop in loops])
    screws = {f.column: f.screw for loop in loops for f in loop}
    hinges = sum(any(screw[:3]) for screw in screws.values())
    held = hinges - sum(len(side) - 1 for side in sides)
    sums = [_sums(loop, sides, screws, pitches) for loop in loops]
    return max(0, system.n - held - rank([row for block in sums for row in block], system.p))


def _runs(loop: Sequence[Factor], p: int) -> list[Side]:
    """Hinges of a loop with parallel axes, as long as they follow each other around it."""
    turned = [any(f.screw[:3]) for f in loop]
    joined = [
        turned[k - 1] and turned[k] and _is_parallel(loop[k - 1], loop[k], p)
        for k in range(len(loop))
    ]
    first = joined.index(False) if False in joined else 0
    found: list[list[tuple[int, int]]] = []
    for k in range(len(loop)):
        i = (first + k) % len(loop)
        if turned[i]:
            entry = (loop[i].column, loop[i].sign)
            if k and joined[i]:
                found[-1].append(entry)
            else:
                found.append([entry])
    return [tuple(run) for run in found]


def _is_parallel(a: Factor, b: Factor, p: int) -> bool:
    (x, y, z), (u, v, w) = a.screw[:3], b.screw[:3]
    return not any(c % p for c in (y * w - z * v, z * u - x * w, x * v - y * u))


def _common(runs: Sequence[Sequence[Side]]) -> list[Side]:
    """Sides of two hinges and more that each loop passes whole, forth or back, or not at all."""
    sides = {_upright(run) for loop in runs for run in loop if len(run) > 1}
    kept = []
    for side in sorted(sides):
        columns = {column for column, _ in side}
        touching = [run for loop in runs for run in loop if columns & {c for c, _ in run}]
        if all(_upright(run) == side for run in touching):
            kept.append(side)
    return kept


def _upright(side: Side) -> Side:
    """The side in that one of its two directions which comes first."""
    return min(side, tuple((column, -sign) for column, sign in reversed(side)))


def _sums(
    loop: Sequence[Factor],
    sides: Sequence[Side],
    screws: dict[int, tuple[int, ...]],
    pitches: dict[int, int],
) -> list[list[int]]:
    """Rows of Σ ± t of a loop: t across the axis of each side, along each slider.

    A side of screws moves along its axis too, unless all have one pitch.
    """
    passed = {f.column: f.sign for f in loop}
    rows: list[list[int]] = [[], [], []]
    for side in sides:
        column, sign = side[0]
        x, y, z = screws[column][:3]
        way = passed.get(column, 0) * sign
        blocks: list[tuple[int, ...]] = [(0, -z, y), (z, 0, -x), (-y, x, 0)]
        if len({pitches.get(c, 0) for c, _ in side}) > 1:
            blocks = [(*block, c) for block, c in zip(blocks, (x, y, z), strict=True)]
        for row, entries in zip(rows, blocks, strict=True):
            row.extend(way * c for c in entries)
    for column, screw in screws.items():
        if not any(screw[:3]):
            for row, c in zip(rows, screw[3:], strict=True):
                row.append(passed.get(column, 0) * c)
    return rows
