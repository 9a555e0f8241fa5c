"""Planning: the order in which an entry computes its formulas, cut into pieces of bounded size.

Compilers take more than linear time for one long function, so an entry becomes several functions
of about 1000 operations; a value that crosses a cut lives in the workspace. Formulas without
symbols become numbers here. Sines and cosines of one angle are computed together, and those of
several angles that are ready early together too, as vectors.

Public names: Plan, Piece, plan, plan_of, expanded, numbers_of, runs_of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias, final

from liaison.expr import OPS, Expr, rewritten, topological

from .program import Program

PIECE = 1000  # operations in a function: compile time stays linear, speed is nearly the same
WHOLE = 2  # up to so many times that, one function: an arm is some percent faster uncut
ANGLE_WEIGHT = 40  # a group of sines and cosines counts as this many operations
NEAR = 6  # an angle joins a vector when so few operations make it ready
LARGEST_POWER = 64  # whole powers up to here are products
WINDOW = 16  # how many of the next angles are looked at

Item: TypeAlias = tuple[Expr, ...]
Functions: TypeAlias = Mapping[str, Callable[..., float]]
TURNING = frozenset({"sin", "cos"})


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """One function: items in order (several nodes where sines are grouped), and what it passes on.

    Attributes:
        items: nodes computed here; the nodes of one item are computed together.
        loads: node -> place in the workspace, for values of earlier pieces.
        saves: node -> place in the workspace, for values later pieces want.
        outputs: (index in out, node).
        puts: (place in the workspace, node), besides `saves`.
    """

    items: tuple[Item, ...]
    loads: Mapping[Expr, int]
    saves: Mapping[Expr, int]
    outputs: tuple[tuple[int, Expr], ...]
    puts: tuple[tuple[int, Expr], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The pieces of an entry, the workspace they need, and the formulas that are numbers."""

    pieces: tuple[Piece, ...]
    work_size: int
    numbers: Mapping[Expr, float]

    def numbers_written(self) -> list[tuple[int, float]]:
        """Outputs that are numbers: (index in out, value)."""
        written = [pair for piece in self.pieces for pair in piece.outputs]
        return [(k, self.numbers[node]) for k, node in written if node in self.numbers]


def plan(
    program: Program,
    entry: str,
    *,
    lanes: int = 1,
    size: int = PIECE,
    functions: Functions = MappingProxyType({}),
    by_level: bool = True,
) -> Plan:
    """How to compute an entry.

    Args:
        program: with the entry.
        entry: its name.
        lanes: how many angles may be turned into sines and cosines at once.
        size: operations in a piece, about.
        functions: name of an operation -> what computes it in formulas without symbols; those of
            Python by default.
        by_level: in an entry that is not cut, what waits for fewest others comes first; otherwise
            down from the outputs, so that fewer values are kept at a time.
    """
    outputs, order = tuple(program.entry(entry).outputs), program.schedule(entry)
    return _arranged(outputs, order, lanes, size, functions, by_level=by_level)


def plan_of(
    formulas: Sequence[Expr],
    *,
    lanes: int = 1,
    size: int = PIECE,
    functions: Functions = MappingProxyType({}),
) -> Plan:
    """How to compute formulas, whatever they belong to."""
    return _arranged(tuple(formulas), topological(formulas), lanes, size, functions)


def _arranged(
    outputs: tuple[Expr, ...],
    order: list[Expr],
    lanes: int,
    size: int,
    functions: Functions,
    *,
    by_level: bool = True,
) -> Plan:
    """Plain rows, numbers, order and cuts."""
    outputs, order = expanded(outputs, order)
    numbers = numbers_of(order, functions)
    steps = [node for node in order if node.op != "symbol" and node not in numbers]
    return _joined(runs_of(steps, lanes, size, by_level=by_level), outputs, numbers)


def expanded(outputs: tuple[Expr, ...], order: list[Expr]) -> tuple[tuple[Expr, ...], list[Expr]]:
    """Formulas, and all of their nodes in order, by rows that back ends know."""
    if any(_plain(node) is not None for node in order):
        outputs = tuple(rewritten(outputs, _plain))
        order = topological(outputs)
    return outputs, order


def runs_of(steps: list[Expr], lanes: int, size: int, *, by_level: bool = True) -> list[list[Item]]:
    """Operations in an order in which they are computed, cut into runs of about `size`."""
    weight = len(steps) + ANGLE_WEIGHT * sum(node.op in TURNING for node in steps)
    if by_level and weight <= WHOLE * size:
        steps = _by_level(steps)
    return _cut(_Arrangement(steps, lanes).items(), size)


def _by_level(steps: list[Expr]) -> list[Expr]:
    """What waits for fewest others first.

    In one function some percent faster than going down from the outputs, since neighbours do not
    wait for each other; across cuts it would keep too many values alive.
    """
    level: dict[Expr, int] = {}
    for node in steps:
        level[node] = 1 + max((level.get(arg, 0) for arg in node.args), default=0)
    return sorted(steps, key=level.__getitem__)


def _plain(node: Expr) -> Expr | None:
    """Rows that back ends need not know, as formulas of others; tables they know."""
    row = OPS.get(node.op)
    if row is None or row.expand is None or node.op == "table":
        return None
    return row.expand(node.data, *node.args)


def numbers_of(order: Iterable[Expr], functions: Functions) -> dict[Expr, float]:
    """Values of all nodes below which there is no symbol."""
    numbers: dict[Expr, float] = {}
    for node in order:
        if node.op == "const":
            numbers[node] = float(node.value)
        elif node.op != "symbol" and all(arg in numbers for arg in node.args):
            data = () if node.data is None else (node.data,)
            function = functions.get(node.op) or OPS[node.op].value
            value = function(*data, *(numbers[arg] for arg in node.args))
            numbers[node] = float(value)
    return numbers


class _Arrangement:
    """Puts sines and cosines of one angle together, and joins angles that are nearly ready."""

    def __init__(self, steps: list[Expr], lanes: int) -> None:
        self.steps, self.lanes = steps, lanes
        self.done: set[Expr] = set()
        self.wanted = set(steps)
        self.turns: dict[Expr, list[Expr]] = {}
        for node in steps:
            if node.op in TURNING:
                self.turns.setdefault(node.args[0], []).append(node)
        self.angles = list(self.turns)
        self.next = 0

    def items(self) -> list[Item]:
        items: list[Item] = []
        for node in self.steps:
            if node in self.done:
                continue
            group = self.group(node) if node.op in TURNING else []
            for angle in group:
                ready = self.unready(angle, len(self.steps))
                items += [(step,) for step in ready or ()]
                self.done.update(ready or ())
            item = tuple(turn for angle in group for turn in self.turns[angle]) or (node,)
            self.done.update(item)
            items.append(item)
        return items

    def group(self, node: Expr) -> list[Expr]:
        """The angle of this sine, and as many others as fit beside it."""
        group = [node.args[0]]
        while self.next < len(self.angles) and self.turns[self.angles[self.next]][0] in self.done:
            self.next += 1
        for angle in self.angles[self.next : self.next + WINDOW]:
            if len(group) == self.lanes:
                break
            if self.turns[angle][0] in self.done or angle is group[0]:
                continue
            if self.unready(angle, NEAR) is not None:
                group.append(angle)
        return group

    def waits(self, node: Expr) -> bool:
        """Whether the node is an operation not yet placed."""
        return node in self.wanted and node not in self.done

    def unready(self, angle: Expr, limit: int) -> list[Expr] | None:
        """What must be computed before the angle, arguments first; None beyond the limit."""
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack = [angle]
        while stack:
            node = stack[-1]
            if node in seen or not self.waits(node):
                stack.pop()
                continue
            missing = [a for a in node.args if self.waits(a) and a not in seen]
            if node.op in TURNING or len(order) + len(stack) > limit:
                return None
            elif missing:
                stack += missing
            else:
                seen.add(stack.pop())
                order.append(node)
        return order


def _cut(items: list[Item], size: int) -> list[list[Item]]:
    """Runs of items of nearly equal weight: one up to WHOLE sizes, else of about `size`."""
    weights = [ANGLE_WEIGHT if item[0].op in TURNING else 1 for item in items]
    total = sum(weights)
    count = 1 if total <= WHOLE * size else round(total / size)
    runs: list[list[Item]] = [[]]
    passed = 0
    for item, weight in zip(items, weights, strict=True):
        if passed >= total * len(runs) / count:
            runs.append([])
        runs[-1].append(item)
        passed += weight
    return runs


def _joined(
    runs: list[list[Item]], outputs: tuple[Expr, ...], numbers: Mapping[Expr, float]
) -> Plan:
    """Pieces with their loads, saves and outputs; places in the workspace are used again."""
    home = {node: k for k, run in enumerate(runs) for item in run for node in item}
    last = _last_use(runs, home)
    results: list[list[tuple[int, Expr]]] = [[] for _ in runs]
    for index, node in enumerate(outputs):
        results[home.get(node, 0)].append((index, node))
    place: dict[Expr, int] = {}
    free: list[int] = []
    size = 0
    pieces = []
    for k, run in enumerate(runs):
        here = [node for item in run for node in item]
        used = dict.fromkeys(a for node in here for a in node.args if home.get(a, k) < k)
        loads = {node: place[node] for node in used}
        saves = {}
        for node in here:
            if last.get(node, k) > k:
                size += not free
                saves[node] = place[node] = free.pop() if free else size - 1
        free += [place[node] for node in used if last[node] == k]
        pieces.append(Piece(tuple(run), loads, saves, tuple(results[k])))
    return Plan(tuple(pieces), size, numbers)


def _last_use(runs: list[list[Item]], home: Mapping[Expr, int]) -> dict[Expr, int]:
    last: dict[Expr, int] = {}
    for k, run in enumerate(runs):
        for item in run:
            for node in item:
                last.update((arg, k) for arg in node.args if arg in home)
    return last
