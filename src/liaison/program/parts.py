"""Entries that share code: what several of them compute is one function, which all of them call.

Formulas are interned, so that what two entries have in common is seen at once. Nodes are grouped by
the entries that need them; a group of many is a part, whose results lie in the workspace. A block
has places of its own for what it reads and writes there, so that one solution of the linear system
serves the accelerations, both corrections, and their changes:

    rate = retract, f and γ there, solve;    correct_v = ν − G v, solve;
    variation = f and γ, solve, what these change by, solve                           (parts-1)

What is in one place need not be written, compiled and stored for each entry.

Public names: Shared, Call, shared_plans.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import final

from liaison.expr import ZERO, Expr, evaluate, substitute, symbol, topological

from .lower import worst
from .plan import (
    ANGLE_WEIGHT,
    TURNING,
    Functions,
    Item,
    Piece,
    expanded,
    numbers_of,
    plan,
    runs_of,
)
from .program import Program

SHORT = 200
"""Operations in a piece: smaller, sooner compiled and as quick as longer ones, since values lie in
the workspace anyway."""

LEAST = 40
"""Operations of a part, at least: fewer are computed again by each entry that needs them."""

STEPPED = ("rate", "correct_q", "correct_v", "retract", "closure")
FUSED = 1000
"""What steps call; operations of the first up to which each of them is code of its own: passing
on what is computed takes a fifth more time then, and none in longer ones."""

QUATERNIONS = ("quaternion", "free")
"""Kinds of charts whose last four coordinates have unit length."""

EQUAL = 1e-11
"""Relative difference of two formulas that rounding explains."""

Pairs = tuple[tuple[int, Expr], ...]


@final
@dataclass(frozen=True, slots=True)
class Call:
    """One call in the code of an entry.

    Attributes:
        piece: the function.
        q: the place of positions in the workspace; −1: those of the entry.
        out: by how much its results are shifted.
    """

    piece: Piece
    q: int = -1
    out: int = 0


@final
@dataclass(frozen=True, slots=True)
class Shared:
    """The plan of an entry: calls in order, the workspace, and formulas that are numbers."""

    calls: tuple[Call, ...]
    work_size: int
    numbers: Mapping[Expr, float]


def shared_plans(
    program: Program, names: Sequence[str], *, lanes: int, functions: Functions, size: int = SHORT
) -> dict[str, Shared]:
    """How to compute entries that share what they have in common.

    Args:
        program: with the entries.
        names: of the entries.
        lanes: how many angles may be turned into sines and cosines at once.
        functions: as `plan` takes them.
        size: operations in a piece, about.
    """
    apart = [x for x in STEPPED if x in names] if _is_short(program, names) else []
    plans = {}
    for name in apart:
        alone = plan(program, name, lanes=lanes, functions=functions)
        calls = tuple(Call(piece) for piece in alone.pieces)
        plans[name] = Shared(calls, alone.work_size, alone.numbers)
    others = [x for x in names if x not in apart]
    return plans | _Sharing(_layout(program, others), lanes, size, functions).plans()


def _is_short(program: Program, names: Sequence[str]) -> bool:
    if "rate" not in names:
        return True
    nodes = topological(list(program.entry("rate").outputs))
    return sum(1 for x in nodes if x.args) <= FUSED


@final
@dataclass(frozen=True, slots=True)
class _Block:
    """Formulas that are computed together: (index in out, formula), (place, formula)."""

    outputs: Pairs = ()
    puts: Pairs = ()


@final
@dataclass(frozen=True, slots=True)
class _Use:
    """A block in an entry: at which positions, and where its results begin."""

    block: str
    q: int = -1
    out: int = 0


@final
@dataclass(slots=True)
class _Layout:
    """Blocks, their uses by entry, symbols that lie in the workspace, and the first free place."""

    blocks: dict[str, _Block] = field(default_factory=dict)
    uses: dict[str, tuple[_Use, ...]] = field(default_factory=dict)
    live: dict[Expr, int] = field(default_factory=dict)
    end: int = 0


def _layout(program: Program, names: Sequence[str]) -> _Layout:
    """Every entry as blocks: (parts-1), or itself."""
    layout = _Layout()
    if "solve" in program.entries and "variation" in names:
        _Solving(program, layout).add(names)
    for name in names:
        if name not in layout.uses:
            layout.blocks[name] = _Block(_numbered(program.entry(name).outputs))
            layout.uses[name] = (_Use(name),)
    return layout


def _numbered(formulas: Sequence[Expr], start: int = 0) -> Pairs:
    return tuple(enumerate(formulas, start))


class _Solving:
    """Entries that solve the linear system, as blocks."""

    def __init__(self, program: Program, layout: _Layout) -> None:
        self.program, self.layout = program, layout
        self.nq, self.nv, self.nc, self.nphi = (
            program.sizes[x] for x in ("nq", "nv", "nc", "nphi")
        )
        self.n = self.nv + self.nc
        self.moved = 2 * self.n + 1
        layout.end = self.moved + self.nq
        listed = [x for x in program.inputs if x.name.startswith(("right side ", "solved "))]
        self.right = [x for x in listed if x.name.startswith("right")][: self.n]
        self.known = [x for x in listed if x.name.startswith("solved")][: self.n]
        self.residual = symbol("solved residual")

    def blocks_of(self, name: str) -> dict[str, tuple[Expr, ...]]:
        """The formulas of an entry by the names of its blocks."""
        entry, start = self.program.entry(name), 0
        blocks = {}
        for label, size in entry.layout:
            blocks[label] = tuple(entry.outputs[start : start + size])
            start += size
        return blocks

    def add(self, names: Sequence[str]) -> None:
        """The blocks of all entries that are made of them."""
        solve, terms = self.blocks_of("solve"), self.blocks_of("terms")
        right = (*terms["f"], *terms["gamma"])
        if not self.nc and not self.is_solved(solve, right):
            return
        layout, n = self.layout, self.n
        layout.live |= {x: k for k, x in enumerate(self.right)}
        layout.live |= {x: n + k for k, x in enumerate((*self.known, self.residual))}
        results = (*solve["vdot"], *solve["lam"], *solve["residual"])
        layout.blocks["solve"] = _Block(_numbered(solve["vdot"]), _numbered(results, n))
        layout.blocks["right"] = _Block((), _numbered(right))
        self.add_variation()
        if "rate" in names:
            self.add_rate()
        if "energy" in names:
            self.add_energy(terms["M"])
        if self.nc:
            closure = self.blocks_of("closure")
            rows = {"correct_q": closure["phi"], "correct_v": closure["rate"]}
            for name in rows.keys() & {*names}:
                if len(rows[name]) == self.nc:
                    self.add_correction(name, rows[name])

    def is_solved(self, solve: Mapping[str, Sequence[Expr]], right: Sequence[Expr]) -> bool:
        """Whether accelerations of a tree are those of the linear system."""
        values = dict(zip(self.right, right, strict=True))
        return substitute(list(solve["vdot"]), values) == [*self.blocks_of("forward")["vdot"]]

    def add_rate(self) -> None:
        moving = _numbered(self.program.entry("local_rate").outputs)
        moved = _numbered(self.program.entry("retract").outputs, self.moved)
        self.layout.blocks["moving"] = _Block(moving, moved)
        self.layout.blocks["missed"] = _Block(((2 * self.nv, self.residual),))
        self.layout.uses["rate"] = (
            _Use("moving"), _Use("right", self.moved), _Use("solve", self.moved, self.nv),
            _Use("missed"),
        )  # fmt: skip

    def add_energy(self, M: Sequence[Expr]) -> None:
        """T = ½ v · M v, where nothing but velocities moves bodies: M is computed anyway."""
        T, U = self.program.entry("energy").outputs
        if len(topological([T])) < SHORT:
            return
        speeds = [x for x, place in self.program.inputs.items() if place[0] == "v"]
        total: Expr = ZERO
        for i, v in enumerate(speeds):
            row: Expr = M[i * self.nv + i] * v / 2
            for j in range(i):
                row = row + M[i * self.nv + j] * speeds[j]
            total = total + row * v
        if self.are_equal(T, total):
            self.layout.blocks["energy"] = _Block(_numbered((total, U)))
            self.layout.uses["energy"] = (_Use("energy"),)

    def are_equal(self, x: Expr, y: Expr) -> bool:
        """Whether two formulas have the same values, which random arguments show."""
        chance = random.Random(1)
        for _ in range(2):
            values = {z: 0.2 + chance.random() for z in self.program.inputs}
            for chart in self.program.facts.get("charts", ()):
                if chart.kind in QUATERNIONS:
                    group = [z for z, (a, k) in self.program.inputs.items() if a == "q"][chart.q][
                        -4:
                    ]
                    length = hypot(*(values[z] for z in group))
                    values |= {z: values[z] / length for z in group}
            a, b = evaluate([x, y], values)
            if not abs(a - b) <= EQUAL * abs(a):
                return False
        return True

    def add_correction(self, name: str, rows: Sequence[Expr]) -> None:
        right = (*[ZERO] * self.nv, *(-x for x in rows))
        self.layout.blocks[name] = _Block(((self.nv, worst(rows)),), _numbered(right))
        self.layout.uses[name] = (_Use(name), _Use("solve"))

    def add_variation(self) -> None:
        varied, nq, nv = self.blocks_of("varied"), self.nq, self.nv
        right = _numbered((*varied["f"], *varied["gamma"]))
        outputs = _numbered(varied["outputs"], nq + self.n)
        self.layout.blocks["varied"] = _Block((*_numbered(varied["qdot"]), *outputs), right)
        self.layout.blocks["forces"] = _Block(_numbered(self.known[nv:], nq + nv))
        self.layout.uses["variation"] = (
            _Use("right"), _Use("solve", out=nq), _Use("varied"), _Use("solve", out=nq),
            _Use("forces"),
        )  # fmt: skip


@final
class _Sharing:
    """Parts found, and every part and block cut into pieces."""

    def __init__(self, layout: _Layout, lanes: int, size: int, functions: Functions) -> None:
        self.layout, self.lanes, self.size = layout, lanes, size
        pairs = [pair for x in layout.blocks.values() for pair in (*x.outputs, *x.puts)]
        flat = tuple(node for _, node in pairs)
        flat, order = expanded(flat, topological(flat))
        self.blocks = self.rewritten(iter(flat))
        self.order = {node: k for k, node in enumerate(order)}
        self.numbers = numbers_of(order, functions)
        self.contexts: dict[tuple[str, int], int] = {}
        for name, uses in layout.uses.items():
            for use in uses:
                self.contexts.setdefault((name, use.q), 1 << len(self.contexts))
        self.masks = self.masks_of(order)
        self.parts = self.parts_of(order)
        self.members: dict[str | int, list[Expr]] = {}
        self.place: dict[Expr, int] = {}
        self.targets: dict[int, dict[Expr, None]] = {part: {} for part in self.parts}
        self.find_members()

    def rewritten(self, flat: Iterator[Expr]) -> dict[str, _Block]:
        """Blocks of formulas that back ends know."""
        blocks = {}
        for name, block in self.layout.blocks.items():
            outputs = tuple((k, next(flat)) for k, _ in block.outputs)
            blocks[name] = _Block(outputs, tuple((k, next(flat)) for k, _ in block.puts))
        return blocks

    def mask_of(self, block: str) -> int:
        """Contexts that use a block, as bits."""
        mask = 0
        for name, uses in self.layout.uses.items():
            for use in uses:
                mask |= self.contexts[name, use.q] if use.block == block else 0
        return mask

    def masks_of(self, order: Sequence[Expr]) -> dict[Expr, int]:
        """Contexts that need a node, as bits; none of what depends on the workspace."""
        masks = dict.fromkeys(order, 0)
        for name, block in self.blocks.items():
            own = self.mask_of(name)
            for _, node in (*block.outputs, *block.puts):
                masks[node] |= own
        for node in reversed(order):
            for arg in node.args:
                masks[arg] |= masks[node]
        changing = {*self.layout.live}
        for node in order:
            if not changing.isdisjoint(node.args):
                changing.add(node)
        return masks | dict.fromkeys(changing & masks.keys(), 0)

    def parts_of(self, order: Sequence[Expr]) -> list[int]:
        """Masks of parts, those of most contexts first."""
        counts: Counter[int] = Counter()
        for x in order:
            if x.args and x not in self.numbers:
                counts[self.masks[x]] += ANGLE_WEIGHT // 2 if x.op in TURNING else 1
        masks = [m for m, count in counts.items() if count >= LEAST and m.bit_count() > 1]
        return sorted(masks, key=lambda m: (-m.bit_count(), m))

    def part_of(self, node: Expr, own: int, is_block: bool) -> int:
        """The part from which code for some contexts takes a node; 0: it computes it."""
        mask = self.masks[node]
        for part in self.parts:
            if part & own == own and part & mask == part and (is_block or part != own):
                return part
        return 0

    def find_members(self) -> None:
        """What every block and part computes, and the places of what they take from parts."""
        for name, block in self.blocks.items():
            nodes = [node for _, node in (*block.outputs, *block.puts)]
            self.members[name] = self.computed(nodes, self.mask_of(name), is_block=True)
        for part in reversed(self.parts):
            self.members[part] = self.computed([*self.targets[part]], part, is_block=False)
        for part in self.parts:
            for node in self.targets[part]:
                self.place.setdefault(node, self.layout.end + len(self.place))

    def computed(self, nodes: list[Expr], own: int, *, is_block: bool) -> list[Expr]:
        """Nodes that a block or a part computes; what it takes from other parts is noted."""
        seen: set[Expr] = set()
        members = []
        while nodes:
            node = nodes.pop()
            if node in seen or node.op == "symbol" or node in self.numbers:
                continue
            seen.add(node)
            part = self.part_of(node, own, is_block)
            if part:
                self.targets[part][node] = None
            else:
                members.append(node)
                nodes += node.args
        return sorted(members, key=self.order.__getitem__)

    def plans(self) -> dict[str, Shared]:
        """The plan of each entry."""
        start = self.layout.end + len(self.place)
        pieces: dict[str | int, list[Piece]] = {}
        size = start
        for key, members in self.members.items():
            block = self.blocks[key] if isinstance(key, str) else _Block()
            shown = {} if isinstance(key, str) else {x: self.place[x] for x in self.targets[key]}
            runs = runs_of(members, self.lanes, self.size, by_level=False)
            cut = _Cut(runs, self, shown, start)
            pieces[key] = cut.pieces(block)
            size = max(size, cut.size)
        plans = {}
        for name, uses in self.layout.uses.items():
            calls: list[Call] = []
            ready: set[int] = set()
            for use in uses:
                context = self.contexts[name, use.q]
                keys = [] if context in ready else [x for x in self.parts if x & context]
                ready.add(context)
                calls += [Call(x, use.q) for key in keys for x in pieces[key] if x.items]
                calls += [Call(x, use.q, use.out) for x in pieces[use.block]]
            plans[name] = Shared(tuple(calls), size, self.numbers)
        return plans


@final
class _Cut:
    """Runs of a block or a part as pieces; places between them are used again."""

    def __init__(
        self, runs: list[list[Item]], sharing: _Sharing, shown: Mapping[Expr, int], start: int
    ) -> None:
        self.runs, self.shared, self.live = runs, sharing.place, sharing.layout.live
        self.shown = shown
        self.home = {node: k for k, run in enumerate(runs) for item in run for node in item}
        self.last: dict[Expr, int] = {}
        for node, k in self.home.items():
            self.last.update((arg, k) for arg in node.args if self.last.get(arg, 0) <= k)
        self.place: dict[Expr, int] = {}
        self.free: list[int] = []
        self.size = start

    def pieces(self, block: _Block) -> list[Piece]:
        """All of them; results that are not computed here are those of the first."""
        listed = []
        for k, run in enumerate(self.runs):
            here = {node: None for item in run for node in item}
            outputs, puts = (
                tuple(pair for pair in pairs if self.home.get(pair[1], 0) == k)
                for pairs in (block.outputs, block.puts)
            )
            read = dict.fromkeys(arg for node in here for arg in node.args)
            read |= dict.fromkeys(node for _, node in (*outputs, *puts))
            loads = {node: self.place_of(node) for node in read if node not in here}
            saves = {node: self.kept(node) for node in here if self.is_kept(node, k)}
            self.free += [
                self.place[x] for x in loads if x in self.place and self.last.get(x, k) == k
            ]
            known = {node: place for node, place in loads.items() if place >= 0}
            listed.append(Piece(tuple(run), known, saves, outputs, puts))
        return listed

    def place_of(self, node: Expr) -> int:
        """The place of what is computed elsewhere; −1 of arguments and numbers."""
        for places in (self.place, self.live, self.shared):
            if node in places:
                return places[node]
        return -1

    def is_kept(self, node: Expr, k: int) -> bool:
        return node in self.shown or self.last.get(node, k) > k

    def kept(self, node: Expr) -> int:
        """A place for a node that others read."""
        if node in self.shown:
            return self.shown[node]
        self.size += not self.free
        self.place[node] = self.free.pop() if self.free else self.size - 1
        return self.place[node]
