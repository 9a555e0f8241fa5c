"""Loops of a mechanism's graph: a basis of shortest cycles, each with few joints.

Public names: Step, loops_of.

Source: HOR87 (a shortest cycle basis from breadth-first paths, by greedy choice).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from liaison.model import Mechanism

Step: TypeAlias = tuple[int, int]
"""A joint on the way around a loop, and +1 from predecessor to successor, −1 back."""

Ends: TypeAlias = tuple[str, str]

LARGE = 80
"""Joints beyond which cycles of one tree from the ground do."""


def loops_of(mechanism: Mechanism) -> tuple[tuple[Step, ...], ...]:
    """Independent loops of a mechanism, each as joints with the direction they are passed in."""
    ends = [(joint.predecessor.body, joint.successor.body) for joint in mechanism.joints]
    count = len(ends) - (len(mechanism.bodies) - 1)
    roots = [body.name for body in mechanism.bodies] if len(ends) <= LARGE else ["ground"]
    candidates = [cycle for root in roots for cycle in _cycles(ends, root)]
    found: list[tuple[Step, ...]] = []
    reduced: dict[int, int] = {}
    for cycle in sorted(candidates, key=lambda cycle: (len(cycle), sorted(k for k, _ in cycle))):
        if len(found) < count and _is_new(sum(1 << k for k, _ in cycle), reduced):
            found.append(cycle)
    return tuple(found)


def _is_new(bits: int, reduced: dict[int, int]) -> bool:
    """Whether a set of joints is no sum of those before; remembers it if so."""
    while bits:
        top = bits.bit_length()
        if top not in reduced:
            reduced[top] = bits
            return True
        bits ^= reduced[top]
    return False


def _cycles(ends: Sequence[Ends], root: str) -> list[tuple[Step, ...]]:
    """For each joint off a breadth-first tree: down to it, across, and back."""
    way, used = _paths(ends, root)
    found = []
    for k, (a, b) in enumerate(ends):
        if k not in used:
            down, back = way[a], way[b]
            while down and back and down[0] == back[0]:
                down, back = down[1:], back[1:]
            found.append((*down, (k, 1), *((j, -sign) for j, sign in reversed(back))))
    return found


def _paths(ends: Sequence[Ends], root: str) -> tuple[dict[str, tuple[Step, ...]], set[int]]:
    """The way from the root to each body, and the joints used for it."""
    touching: dict[str, list[tuple[int, int, str]]] = {}
    for k, (a, b) in enumerate(ends):
        touching.setdefault(a, []).append((k, 1, b))
        touching.setdefault(b, []).append((k, -1, a))
    way: dict[str, tuple[Step, ...]] = {root: ()}
    level, used = [root], set()
    while level:
        found = []
        for body in level:
            for k, sign, far in touching.get(body, []):
                if far not in way:
                    way[far] = (*way[body], (k, sign))
                    used.add(k)
                    found.append(far)
        level = found
    return way, used
