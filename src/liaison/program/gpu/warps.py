"""Warps: an entry divided among several warps of a block, for entries that registers do not hold.

A lane of all warps is one state. Each warp computes its share of the formulas, those of a limb,
say, in phases; a value that another warp wants passes through a slot of shared memory, written in
one phase and read in a later one, with a barrier between. At a barrier those that read wait, and
those that only wrote go on.

Partition: things that share values, in groups of equal weight that share few.

A net is a value with all that make or use it. Things joined by many small nets are merged, two by
two, until few are left; those are put into groups by growth from random ones; then the merged are
taken apart again, and single things change groups where that divides fewer nets.

Public names: Division, Barrier, division, operations, Nets, partition, divided.

Source: KAKS99.
Differs: single moves that gain, in random order, in place of buckets of moves.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias, final

from liaison.expr import Expr, topological
from liaison.program.plan import TURNING, Item, Piece, expanded, numbers_of, runs_of

from .order import Inputs, arrivals, chained, compact

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


COSTS = {"div": 8.0, "sqrt": 10.0, "select": 2.0, "max": 3.0, "min": 3.0, "pow": 60.0}
ANGLE = 12.0  # instructions of a sine or cosine, which are computed together
CALL = 40.0  # of another function
BARRIER = 40.0  # instructions that a barrier takes the time of
PASSED = 2.0  # and a value written or read
HELD = 4.0  # and a value that registers do not hold from one phase to the next
SLACK = 0.1  # of its share that a warp may have more
SEEDS, THINGS = 8, 60_000  # divisions tried, and things in all of them together, at most
IDS = 15  # barriers of a block, besides the one that all wait at
WHOLE = 10**9

Place: TypeAlias = tuple[int, int]
"""A warp and a phase."""


@final
@dataclass(frozen=True, slots=True)
class Barrier:
    """Before a phase: warps that wait until all of `writers` have come."""

    readers: frozenset[int]
    writers: frozenset[int]

    @property
    def warps(self) -> frozenset[int]:
        """All that take part."""
        return self.readers | self.writers


@final
@dataclass(frozen=True, slots=True)
class Division:
    """An entry divided among warps.

    Attributes:
        pieces: of each warp, one for each phase; their loads and saves are slots.
        barriers: before each phase; nobody takes part in the first.
        slots: numbers of shared memory for each state.
        numbers: formulas that are numbers.
        time: instructions until the last warp is done, estimated.
    """

    pieces: tuple[tuple[Piece, ...], ...]
    barriers: tuple[Barrier, ...]
    slots: int
    numbers: Mapping[Expr, float]
    time: float


def operations(formulas: Sequence[Expr]) -> float:
    """Instructions that formulas take, about."""
    graph = _Graph(tuple(formulas))
    return sum(graph.weights)


def division(
    formulas: Sequence[Expr],
    count: int,
    *,
    room: int = WHOLE,
    inputs: Inputs | None = None,
    laid: Mapping[Expr, int] | None = None,
    slack: float = SLACK,
) -> Division:
    """Formulas divided among so many warps: the shortest of several divisions.

    Args:
        formulas: the outputs.
        count: of warps.
        room: values that the registers of a thread hold.
        inputs: places of symbols, by which operations are ordered.
        laid: slots of symbols, and of sines and cosines of symbols, that all find there at the
            beginning; a slot is used again when all have read it.
        slack: of its share that a warp may have more.
    """
    graph = _Graph(chained(tuple(formulas), inputs), inputs, laid)
    tries = 1 if count == 1 else max(1, min(SEEDS, THINGS // (1 + len(graph.weights))))
    attempts = [_Attempt(graph, count, room, slack, seed) for seed in range(tries)]
    return min(attempts, key=lambda each: each.cost).division()


class _Graph:
    """Formulas as things to be divided: a product goes with the sum that alone uses it."""

    def __init__(
        self,
        formulas: tuple[Expr, ...],
        inputs: Inputs | None = None,
        laid: Mapping[Expr, int] | None = None,
    ) -> None:
        self.outputs, order = expanded(formulas, topological(formulas))
        self.comes, self.laid = arrivals(order, inputs) if inputs else None, laid or {}
        self.numbers = numbers_of(order, {})
        known = self.numbers.keys() | self.laid.keys()
        self.steps = [x for x in order if x.op != "symbol" and x not in known]
        self.index = {node: k for k, node in enumerate(self.steps)}
        self.users: dict[Expr, list[int]] = {}
        for k, node in enumerate(self.steps):
            for arg in dict.fromkeys(node.args):
                if arg not in self.numbers:
                    self.users.setdefault(arg, []).append(k)
        self.home = self._homes()
        self.weights = [0.0] * (max(self.home, default=-1) + 1)
        for node, home in zip(self.steps, self.home, strict=True):
            self.weights[home] += self._cost(node)

    def _fuses(self, node: Expr) -> bool:
        return node.op == "mul" and len(self.users.get(node, ())) == 1 and node not in self.kept

    def _homes(self) -> list[int]:
        """The thing that each step belongs to; things are in order, after what they need."""
        self.kept = set(self.outputs)
        first: dict[Expr, int] = {}
        joined = list(range(len(self.steps)))
        for k in reversed(joined):
            node = self.steps[k]
            if self._fuses(node) and self.steps[self.users[node][0]].op in ("add", "sub"):
                joined[k] = joined[self.users[node][0]]
        for k, node in enumerate(self.steps):
            if node.op in TURNING:
                joined[k] = first.setdefault(node.args[0], k)
        number = {k: n for n, k in enumerate(sorted(set(joined)))}
        return [number[k] for k in joined]

    def _cost(self, node: Expr) -> float:
        if node.op in ("add", "sub", "mul", "neg"):
            return 0.0 if self._fuses(node) else 1.0
        return ANGLE if node.op in TURNING else COSTS.get(node.op, CALL)

    def arguments(self) -> list[list[int]]:
        """Of each thing, the others that it takes values from."""
        args: list[dict[int, None]] = [{} for _ in self.weights]
        for home, node in zip(self.home, self.steps, strict=True):
            there = (self.home[self.index[arg]] for arg in node.args if arg in self.index)
            args[home].update((other, None) for other in there if other != home)
        return [list(each) for each in args]

    def nets(self) -> list[tuple[int, ...]]:
        """Of each value, the things that make and use it."""
        nets = []
        for node, users in self.users.items():
            things = {self.home[k] for k in users}
            if node in self.index:
                things.add(self.home[self.index[node]])
            if len(things) > 1:
                nets.append(tuple(sorted(things)))
        return nets


class _Attempt:
    """One division: warps and phases of all steps, barriers, slots."""

    def __init__(self, graph: _Graph, count: int, room: int, slack: float, seed: int) -> None:
        self.graph, self.count = graph, count
        shares = (graph.weights, graph.nets(), count)
        groups = partition(*shares, seed=seed, slack=slack) if graph.steps else []
        self.place = self._places(groups)
        self.phases = 1 + max((phase for _, phase in self.place), default=0)
        self.readers = self._readers()
        self.barriers, self.known = self._barriers()
        self.cost = self.time() + BARRIER * self.phases
        self.cost += PASSED * sum(1 + len(each) for each in self.readers.values()) / count
        self.cost += HELD * sum(max(0, held - room) for held in self.held())

    def _places(self, groups: list[int]) -> list[Place]:
        """Warp and phase of each step."""
        phase = _Phases(self.graph, groups, self.count).assigned()
        return [(groups[home], phase[home]) for home in self.graph.home]

    def _readers(self) -> dict[Expr, dict[int, list[int]]]:
        """Of each value that passes, the phases in which other warps read it."""
        passed: dict[Expr, dict[int, list[int]]] = {}
        for node, users in self.graph.users.items():
            if node in self.graph.index:
                own = self.place[self.graph.index[node]][0]
                for warp, phase in sorted({self.place[k] for k in users}):
                    if warp != own:
                        passed.setdefault(node, {}).setdefault(warp, []).append(phase)
        return passed

    def _barriers(self) -> tuple[list[Barrier], dict[Place, list[int]]]:
        """Barriers, and for each warp and phase the last phase of others that it knows is over."""
        wanted: dict[Place, dict[int, int]] = {}
        for node, warps in self.readers.items():
            own, phase = self.place[self.graph.index[node]]
            for warp, phases in warps.items():
                for when in phases:
                    needs = wanted.setdefault((warp, when), {})
                    needs[own] = max(needs.get(own, -1), phase)
        barriers = []
        known = {(warp, 0): [-1] * self.count for warp in range(self.count)}
        for phase in range(self.phases):
            readers, writers = set[int](), set[int]()
            for warp in range(self.count):
                known[warp, phase] = list(known[warp, max(0, phase - 1)])
                known[warp, phase][warp] = phase - 1
                for other, when in wanted.get((warp, phase), {}).items():
                    if known[warp, phase][other] < when:
                        readers.add(warp)
                        writers.add(other)
            met = [known[warp, phase] for warp in readers | writers]
            for warp in readers:
                known[warp, phase] = [max(column) for column in zip(*met, strict=True)]
            barriers.append(Barrier(frozenset(readers), frozenset(writers)))
        return barriers, known

    def time(self) -> float:
        """Instructions until the last warp is done."""
        loads: defaultdict[Place, float] = defaultdict(float)
        weights = self.graph.weights
        seen: set[int] = set()
        for home, place in zip(self.graph.home, self.place, strict=True):
            if home not in seen:
                seen.add(home)
                loads[place] += weights[home]
        clock = [0.0] * self.count
        for phase, barrier in enumerate(self.barriers):
            latest = max((clock[warp] for warp in barrier.warps), default=0.0)
            for warp in range(self.count):
                clock[warp] = latest if warp in barrier.readers else clock[warp]
                clock[warp] += loads[warp, phase]
        return max(clock)

    def held(self) -> list[int]:
        """Of each warp, the most values of its own that it keeps from one phase to the next."""
        changes = [[0] * (self.phases + 1) for _ in range(self.count)]
        for node, users in self.graph.users.items():
            if node in self.graph.index:
                warp, phase = self.place[self.graph.index[node]]
                last = max((self.place[k][1] for k in users if self.place[k][0] == warp), default=0)
                if last > phase:
                    changes[warp][phase] += 1
                    changes[warp][last] -= 1
        return [max(accumulate(each)) for each in changes]

    def division(self) -> Division:
        """All of it as pieces."""
        graph = self.graph
        steps: dict[Place, list[Expr]] = {}
        for node, place in zip(graph.steps, self.place, strict=True):
            steps.setdefault(place, []).append(node)
        items = {place: self.items(here) for place, here in steps.items()}
        outputs: dict[Place, list[tuple[int, Expr]]] = {}
        for index, node in enumerate(graph.outputs):
            where = (index % self.count, 0)
            where = self.place[graph.index[node]] if node in graph.index else where
            outputs.setdefault(where, []).append((index, node))
        slots = _Slots(self, items, outputs)
        pieces = [
            tuple(slots.piece((warp, phase)) for phase in range(self.phases))
            for warp in range(self.count)
        ]
        barriers = tuple(self.barriers)
        return Division(tuple(pieces), barriers, slots.count, graph.numbers, self.cost)

    def items(self, steps: list[Expr]) -> tuple[Item, ...]:
        """Steps of a warp in a phase, in order."""
        items = tuple(runs_of(steps, 4, WHOLE, by_level=False)[0])
        return compact(Piece(items, {}, {}, ()), self.graph.comes)


@final
class _Slots:
    """Gives out slots: one is used again where all who read it are known to be done."""

    def __init__(
        self,
        attempt: _Attempt,
        items: Mapping[Place, tuple[Item, ...]],
        outputs: Mapping[Place, list[tuple[int, Expr]]],
    ) -> None:
        self.attempt, self.items, self.outputs = attempt, items, outputs
        self.laid = attempt.graph.laid
        self.read = self._reads()
        self.slot = dict(self.laid)
        self.count = 1 + max(self.laid.values(), default=-1)
        self._give()

    def _reads(self) -> dict[Expr, dict[Place, int]]:
        """Of each value in a slot: warps and phases that read it, and after how many items."""
        reads: dict[Expr, dict[Place, int]]
        reads = {node: {} for node in (*self.laid, *self.attempt.readers)}
        for place, items in self.items.items():
            for k, item in enumerate(items):
                for arg in {arg for node in item for arg in node.args} & reads.keys():
                    if arg in self.laid or self._maker(arg)[0] != place[0]:
                        reads[arg].setdefault(place, k)
        for place, listed in self.outputs.items():
            for _, node in listed:
                if node in self.laid:
                    reads[node].setdefault(place, WHOLE)
        return reads

    def _maker(self, node: Expr) -> Place:
        return self.attempt.place[self.attempt.graph.index[node]]

    def _give(self) -> None:
        """A slot for each value that passes, in the order in which they are made."""
        held: list[Expr | None] = [None] * self.count
        for node, place in self.laid.items():
            held[place] = node
        order = {
            node: (place[1], place[0], k)
            for place, items in self.items.items()
            for k, item in enumerate(items)
            for node in item
            if node in self.attempt.readers
        }
        for node in sorted(order, key=order.__getitem__):
            phase, warp, k = order[node]
            free = (n for n, old in enumerate(held) if self._is_free(old, (warp, phase), k))
            self.slot[node] = place = next(free, len(held))
            held[place:] = [node] if place == len(held) else [node, *held[place + 1 :]]
        self.count = len(held)

    def _is_free(self, held: Expr | None, place: Place, k: int) -> bool:
        """Whether a warp knows in its k-th item of a phase that all have read a value."""
        reads, known = self.read[held] if held is not None else {}, self.attempt.known[place]
        return all(
            known[reader] >= when or ((reader, when) == place and first < k)
            for (reader, when), first in reads.items()
        )

    def piece(self, place: Place) -> Piece:
        """What a warp does in a phase."""
        items, outputs = self.items.get(place, ()), self.outputs.get(place, [])
        here = [node for item in items for node in item]
        loads = {node: self.slot[node] for node, reads in self.read.items() if place in reads}
        saves = {node: self.slot[node] for node in here if node in self.attempt.readers}
        return Piece(items, loads, saves, tuple(outputs))


class _Phases:
    """Gives out phases: what another warp waits for early, the rest while a warp would wait."""

    def __init__(self, graph: _Graph, groups: list[int], count: int) -> None:
        self.graph, self.groups, self.count = graph, groups, count
        self.args = graph.arguments()
        self.order = range(len(groups))
        self.first = self._earliest()
        self.last = self._latest()
        self.phase = [-1] * len(groups)

    def _earliest(self) -> list[int]:
        """One phase later than what comes from another warp."""
        first = [0] * len(self.groups)
        for a in self.order:
            steps = (first[b] + (self.groups[a] != self.groups[b]) for b in self.args[a])
            first[a] = max(steps, default=0)
        return first

    def _latest(self) -> list[int]:
        """One phase before another warp wants it."""
        last = [max(self.first, default=0)] * len(self.groups)
        for a in reversed(self.order):
            for b in self.args[a]:
                last[b] = min(last[b], last[a] - (self.groups[a] != self.groups[b]))
        return last

    def assigned(self) -> list[int]:
        """Of each thing."""
        clock = [0.0] * self.count
        weights, groups = self.graph.weights, self.groups
        for phase in range(max(self.last, default=0) + 1):
            for a in self.order:
                if self.phase[a] < 0 and self.last[a] == phase:
                    self.phase[a] = phase
                    clock[groups[a]] += weights[a]
            readers, writers = self._meeting(phase + 1)
            latest = max((clock[warp] for warp in readers | writers), default=0.0)
            spare = {warp: latest - clock[warp] for warp in readers}
            self._fill(phase, spare)
            for warp in readers:
                clock[warp] = latest
        return self.phase

    def _meeting(self, phase: int) -> tuple[set[int], set[int]]:
        """Warps that must read at the beginning of a phase, and those that wrote in the last."""
        readers, writers = set[int](), set[int]()
        for a in self.order:
            if self.phase[a] < 0 and self.last[a] == phase:
                for b in self.args[a]:
                    if self.groups[b] != self.groups[a] and self.phase[b] == phase - 1:
                        readers.add(self.groups[a])
                        writers.add(self.groups[b])
        return readers, writers

    def _fill(self, phase: int, spare: dict[int, float]) -> None:
        """Work that could wait, in the time that readers have."""
        weights, groups = self.graph.weights, self.groups
        for a in self.order:
            warp = groups[a]
            if self.phase[a] >= 0 or warp not in spare or spare[warp] < weights[a]:
                continue
            if all(0 <= self.phase[b] <= phase - (groups[b] != warp) for b in self.args[a]):
                self.phase[a] = phase
                spare[warp] -= weights[a]
