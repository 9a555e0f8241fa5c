"""Rings of hinges cut by fixed joint values, modulo a prime, through msolve: a point, or none.

Each hinge is read off from a drawn direction, so that half turns are nothing special; points with
some 1 + τ² = 0, which are no rotations, are taken away by z Π (1 + τ²) = 1.

Public names: Slice, slice_of.

Source: docs/theory/mobility.md (mobility-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias, final

from liaison.exact.rings import is_prime

from .modular import dimension_of, points_of
from .msolve import basis_modulo

Terms: TypeAlias = dict[tuple[int, ...], int]
Dual: TypeAlias = list[int]


@final
@dataclass(frozen=True, slots=True)
class Slice:
    """What is left of a ring where some joint values are fixed, modulo p."""

    p: int
    dimension: int  # −1: nothing; 0: points; 1: more
    points: tuple[tuple[int, ...], ...]  # all joint values τ, over F_p


def small_prime(draw: Random) -> int:
    """A prime of 31 bits, 3 modulo 4."""
    while True:
        p = 4 * draw.randrange(2**28, 2**29 - 1) + 3
        if is_prime(p):
            return p


def slice_of(behind: Sequence[Any], fixed: int, seed: int) -> Slice:
    """The ring with its first joint values drawn, modulo a drawn prime.

    Args:
        behind: for a prime, the dual quaternion from each hinge to the next.
        fixed: how many joint values are drawn.
        seed: of prime, values and directions.

    Raises:
        NotThere: msolve is not there.
        Exhausted: out of time or memory.
    """
    draw = Random(seed)
    p = small_prime(draw)
    links = [link(p) for link in behind]
    starts = [draw.randrange(1, p) for _ in links]
    values = [draw.randrange(1, p) for _ in range(fixed)]
    count = len(links) - fixed
    equations = _closure(links, starts, values, p)
    basis = basis_modulo([f for f in equations if f], count + 1, p)
    dimension = dimension_of(basis, count + 1)
    found = points_of(basis, count + 1, p, seed) if dimension == 0 else []
    points = []
    for point in found:
        taus = [_turned(x, s, p) for x, s in zip([*values, *point[:count]], starts, strict=True)]
        if all(tau is not None for tau in taus):
            points.append(tuple(int(tau) for tau in taus if tau is not None))
    return Slice(p, dimension, tuple(points))


def _turned(x: int, start: int, p: int) -> int | None:
    """tan of the sum of two half angles; None for half a turn."""
    below = (1 - x * start) % p
    return (x + start) * pow(below, -1, p) % p if below else None


def _closure(
    links: Sequence[Dual], starts: Sequence[int], values: Sequence[int], p: int
) -> list[Terms]:
    """Six equations, and that every hinge turns by a rotation."""
    count = len(links) - len(values)
    one = (0,) * (count + 1)
    total: list[Terms] = [{one: 1}, *({} for _ in range(7))]
    for k, (link, start) in enumerate(zip(links, starts, strict=True)):
        total = _times(total, [1, 0, 0, start, 0, 0, 0, 0], p)
        if k < len(values):
            total = _times(total, [1, 0, 0, values[k], 0, 0, 0, 0], p)
        else:
            turned = _times(total, [0, 0, 0, 1, 0, 0, 0, 0], p)
            place = k - len(values)
            total = [_sum(a, _raised(b, place), p) for a, b in zip(total, turned, strict=True)]
        total = _times(total, link, p)
    rotations: Terms = {one: 1}
    for place in range(count):
        rotations = _sum(rotations, _raised(_raised(rotations, place), place), p)
    whole = _sum(_raised(rotations, count), {one: p - 1}, p)
    return [*(total[k] for k in (1, 2, 3, 5, 6, 7)), whole]


def _sum(a: Terms, b: Terms, p: int) -> Terms:
    found = dict(a)
    for m, c in b.items():
        found[m] = (found.get(m, 0) + c) % p
    return {m: c for m, c in found.items() if c}


def _raised(a: Terms, place: int) -> Terms:
    return {tuple(e + (k == place) for k, e in enumerate(m)): c for m, c in a.items()}


_QUATERNION = (
    ((0, 0, 1), (1, 1, -1), (2, 2, -1), (3, 3, -1)),
    ((0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, -1)),
    ((0, 2, 1), (1, 3, -1), (2, 0, 1), (3, 1, 1)),
    ((0, 3, 1), (1, 2, 1), (2, 1, -1), (3, 0, 1)),
)


def _times(P: Sequence[Terms], Q: Dual, p: int) -> list[Terms]:
    """A dual quaternion of polynomials times one of residues."""
    found: list[Terms] = []
    for part in (0, 4):
        for row in _QUATERNION:
            total: Terms = {}
            for i, j, sign in row:
                total = _sum(total, _scaled(P[i], sign * Q[j + part], p), p)
                if part:
                    total = _sum(total, _scaled(P[i + 4], sign * Q[j], p), p)
            found.append(total)
    return found


def _scaled(a: Terms, c: int, p: int) -> Terms:
    return {m: c * x % p for m, x in a.items()} if c % p else {}
