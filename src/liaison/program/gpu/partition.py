"""Partition: things that share values, in groups of equal weight that share few.

A net is a value with all that make or use it. Things joined by many small nets are merged, two by
two, until few are left; those are put into groups by growth from random ones; then the merged are
taken apart again, and single things change groups where that divides fewer nets.

Source: KAKS99.
Differs: single moves that gain, in random order, in place of buckets of moves.

Public names: Nets, partition, divided.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias, final

Nets: TypeAlias = Sequence[tuple[int, ...]]

FEW = 30  # things a group, from which on no more are merged
LARGEST = 24  # of a net that counts in merging: larger ones tell little
SHARE = 0.25  # of a group that merged things weigh at most
STARTS = 4  # random groupings of the merged, of which the best is kept
PASSES = 6


def partition(
    weights: Sequence[float], nets: Nets, count: int, *, seed: int = 0, slack: float = 0.1
) -> list[int]:
    """The group of each thing.

    Args:
        weights: of the things.
        nets: things that share a value.
        count: of groups.
        seed: of the random choices.
        slack: by how much of its share a group may be too heavy.
    """
    rng = random.Random(seed)
    levels = [_Level(list(weights), Counter(net for net in nets if len(net) > 1))]
    homes: list[list[int]] = []
    heaviest = SHARE * sum(weights) / count
    while len(levels[-1].weights) > FEW * count:
        home = levels[-1].merged(heaviest, rng)
        if max(home) + 1 > 0.95 * len(home):
            break
        homes.append(home)
        levels.append(levels[-1].coarse(home))
    starts = [levels[-1].started(count, rng) for _ in range(STARTS)]
    starts = [levels[-1].improved(groups, count, slack + 0.15, rng) for groups in starts]
    groups = min(starts, key=lambda each: divided(each, levels[-1].nets))
    for level, home in zip(reversed(levels[:-1]), reversed(homes), strict=True):
        groups = level.improved([groups[k] for k in home], count, slack, rng)
    return groups


def divided(groups: Sequence[int], nets: Counter[tuple[int, ...]]) -> int:
    """Of each net, the groups it is in beyond the first, summed."""
    return sum(times * (len({groups[k] for k in net}) - 1) for net, times in nets.items())


@final
class _Level:
    """Things, merged to some degree, and their nets with how often each is there."""

    def __init__(self, weights: list[float], nets: Counter[tuple[int, ...]]) -> None:
        self.weights, self.nets = weights, nets

    def near(self) -> list[dict[int, float]]:
        """Of each thing, the others by how much they share with it."""
        near: list[dict[int, float]] = [{} for _ in self.weights]
        for net, times in self.nets.items():
            if len(net) <= LARGEST:
                share = times / (len(net) - 1)
                for a in net:
                    for b in net:
                        if a != b:
                            near[a][b] = near[a].get(b, 0.0) + share
        return near

    def merged(self, heaviest: float, rng: random.Random) -> list[int]:
        """The number each thing has after pairs that share most are merged."""
        near, weights = self.near(), self.weights
        mate = [-1] * len(weights)
        for a in rng.sample(range(len(weights)), len(weights)):
            if mate[a] >= 0:
                continue
            free = [b for b in near[a] if mate[b] < 0 and weights[a] + weights[b] <= heaviest]
            mate[a] = a
            if free:
                scale = [(weights[a] * weights[b]) ** 0.5 + 0.5 for b in free]
                best = max(range(len(free)), key=lambda k: near[a][free[k]] / scale[k])
                mate[a], mate[free[best]] = free[best], a
        first = {a: k for k, a in enumerate(a for a, b in enumerate(mate) if a <= b)}
        return [first[min(a, b)] for a, b in enumerate(mate)]

    def coarse(self, home: list[int]) -> _Level:
        """The merged things."""
        weights = [0.0] * (max(home) + 1)
        for a, k in enumerate(home):
            weights[k] += self.weights[a]
        nets: Counter[tuple[int, ...]] = Counter()
        for net, times in self.nets.items():
            joined = tuple(sorted({home[a] for a in net}))
            if len(joined) > 1:
                nets[joined] += times
        return _Level(weights, nets)

    def started(self, count: int, rng: random.Random) -> list[int]:
        """Groups grown one after the other, each from a random thing to its share of the weight."""
        near, share = self.near(), sum(self.weights) / count
        groups = [count - 1] * len(self.weights)
        free = dict.fromkeys(range(len(groups)))
        for group in range(count - 1):
            load, gain = 0.0, dict[int, float]()
            while load < share and free:
                reached = [a for a in gain if a in free]
                a = max(reached, key=gain.__getitem__) if reached else rng.choice([*free])
                groups[a] = group
                load += self.weights[a]
                del free[a]
                for b, shared in near[a].items():
                    gain[b] = gain.get(b, -0.5 * sum(near[b].values())) + shared
        return groups

    def improved(
        self, groups: Sequence[int], count: int, slack: float, rng: random.Random
    ) -> list[int]:
        """Single things in other groups where that divides fewer nets, or evens the weights."""
        moves = _Moves(self, list(groups), count, slack)
        for _ in range(PASSES):
            order = rng.sample(range(len(groups)), len(groups))
            if not sum(moves.move(a, rng) for a in order):
                break
        return moves.groups


@final
class _Moves:
    """A grouping that changes thing by thing."""

    def __init__(self, level: _Level, groups: list[int], count: int, slack: float) -> None:
        self.groups, self.weights = groups, level.weights
        self.times = list(level.nets.values())
        self.pins: list[list[int]] = [[] for _ in groups]
        self.inside = [[0] * count for _ in self.times]
        self.loads = [0.0] * count
        for e, net in enumerate(level.nets):
            for a in net:
                self.pins[a].append(e)
                self.inside[e][groups[a]] += 1
        for a, group in enumerate(groups):
            self.loads[group] += self.weights[a]
        self.limit = (1 + slack) * sum(self.weights) / count
        self.spread = [sum(number > 0 for number in inside) for inside in self.inside]

    def move(self, a: int, rng: random.Random) -> bool:
        """Moves a thing to the group where most is gained, if there is one."""
        old, weight, loads = self.groups[a], self.weights[a], self.loads
        if all(self.spread[e] == 1 for e in self.pins[a]):
            return False
        is_over = loads[old] > self.limit
        best, most = -1, 0
        for group, gain in self.gains(a).items():
            lighter = loads[group] + weight < loads[old]
            if loads[group] + weight > self.limit and not (is_over and lighter):
                continue
            evens = gain == most and lighter and (gain > 0 or rng.random() < 0.5)
            if gain > most or evens or (is_over and best < 0):
                best, most = group, gain
        if best < 0:
            return False
        for e in self.pins[a]:
            inside = self.inside[e]
            inside[old] -= 1
            inside[best] += 1
            self.spread[e] += (inside[best] == 1) - (inside[old] == 0)
        loads[old] -= weight
        loads[best] += weight
        self.groups[a] = best
        return True

    def gains(self, a: int) -> dict[int, int]:
        """Nets that are divided less, by the group that a thing would go to."""
        old, leaving, touched = self.groups[a], 0, dict[int, int]()
        for e in self.pins[a]:
            times, inside = self.times[e], self.inside[e]
            leaving += times if inside[old] == 1 else 0
            if self.spread[e] > (inside[old] > 0):
                for group, number in enumerate(inside):
                    if number and group != old:
                        touched[group] = touched.get(group, 0) + times
        every = sum(self.times[e] for e in self.pins[a])
        return {group: leaving - every + there for group, there in touched.items()}
