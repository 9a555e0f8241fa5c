"""Columns: one linear system with many right-hand sides, kept as one formula for several of them.

Derivatives of forward dynamics solve K x = b for a column b of each coordinate, velocity and force.
Written out, everything is there once for each column. Kept as columns, right-hand sides are there
once for four of them, as what a direction does: a seed of each column is 1 in its own lane and 0
in the others; and the elimination is there once, over symbols b.

What columns cost is counted on the graph before they are derived. A direction that moves both
factors of a product costs three operations there, one that moves one factor costs one; whether a
block of columns moves a node is a bit of a number, so that one pass over the graph counts all.

Public names: Block, Columns, Group, Later, LANES, directional_cost, elimination_cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final, overload

from liaison.expr import Expr, topological
from liaison.expr.graph.walk import depends_on

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]

LANES = 4
"""Columns at once: half a register of AVX-512, which computes these as quickly, and sorts columns
that change little together from those that change much."""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """Right-hand sides of up to LANES columns: formulas of the seeds, one for each row."""

    seeds: tuple[Expr, ...]
    rows: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Columns that go together: all derivatives by q, say."""

    name: str
    width: int
    blocks: tuple[Block, ...]


@final
@dataclass(frozen=True)
class Columns:
    """x(b) for the columns of some groups.

    Attributes:
        right: symbols b, one for each row.
        parts: (name, x(b)) for what is wanted of the solution: v̇, then λ.
        groups: the right-hand sides.
        written_out: the same as blocks of formulas, for back ends that know no columns.
    """

    right: tuple[Expr, ...]
    parts: tuple[tuple[str, tuple[Expr, ...]], ...]
    groups: tuple[Group, ...]
    written_out: Callable[[], Blocks]

    @property
    def layout(self) -> tuple[tuple[str, int], ...]:
        """Blocks of the entry: part by part, group by group, each a matrix row by row."""
        return tuple(
            (f"{part}_{group.name}", len(rows) * group.width)
            for part, rows in self.parts
            for group in self.groups
        )

    @property
    def blocks(self) -> list[Block]:
        """All right-hand sides."""
        return [block for group in self.groups for block in group.blocks]

    @property
    def solution(self) -> list[Expr]:
        """x(b), all parts."""
        return [x for _, rows in self.parts for x in rows]

    @cached_property
    def steps(self) -> list[Expr]:
        """What the elimination does for each vector of columns, arguments first."""
        return steps_of(self.solution, self.right)

    @cached_property
    def shared(self) -> list[Expr]:
        """What is computed once for all columns."""
        outer = outside(self.solution, self.steps, self.right)
        for block in self.blocks:
            outer |= outside(block.rows, steps_of(block.rows, block.seeds), block.seeds)
        return [node for node in outer if node.op != "const"]

    @property
    def formulas(self) -> list[Expr]:
        """What is computed once for all columns, from the inputs."""
        return self.shared

    def operations(self) -> list[Expr]:
        """Every operation, on a number or a vector, as often as it is done."""
        once = [x for x in topological(self.shared) if x.op not in ("symbol", "const")]
        operations = once + [x for block in self.blocks for x in steps_of(block.rows, block.seeds)]
        return operations + self.steps * len(self.blocks)


def steps_of(formulas: Sequence[Expr], symbols: Sequence[Expr]) -> list[Expr]:
    """The nodes that depend on the symbols, arguments first."""
    order = topological(formulas)
    active = depends_on(order, symbols)
    return [node for node in order if node in active and node.op != "symbol"]


def outside(
    formulas: Sequence[Expr], steps: Sequence[Expr], symbols: Sequence[Expr]
) -> dict[Expr, None]:
    """What the steps read that is neither one of them nor a symbol, in order."""
    here = {*steps, *symbols}
    read = [*(arg for node in steps for arg in node.args), *formulas]
    return dict.fromkeys(node for node in read if node not in here)


@final
class Later(Sequence[Expr]):
    """Formulas of a known number, made when one of them is looked at."""

    def __init__(self, size: int, make: Callable[[], Sequence[Expr]]) -> None:
        self._size, self._make = size, make

    @cached_property
    def _formulas(self) -> tuple[Expr, ...]:
        formulas = tuple(self._make())
        assert len(formulas) == self._size
        return formulas

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, k: int) -> Expr: ...

    @overload
    def __getitem__(self, k: slice) -> Sequence[Expr]: ...

    def __getitem__(self, k: Any) -> Any:
        return self._formulas[k]

    def __iter__(self) -> Iterator[Expr]:
        return iter(self._formulas)


def substituted(blocks: Sequence[Block], change: Callable[[list[Expr]], list[Expr]]) -> list[Block]:
    """Blocks whose formulas are changed all at once."""
    changed = iter(change([x for block in blocks for x in block.rows]))
    return [Block(block.seeds, tuple(next(changed) for _ in block.rows)) for block in blocks]


def unit(seed: int, lanes: int = LANES) -> tuple[float, ...]:
    """The values of a seed: 1 in its own lane."""
    return tuple(float(k == seed) for k in range(lanes))


ONE_MOVES = {"add": 0, "sub": 0, "mul": 1, "div": 1, "neg": 1}
"""Operations of a derivative where one argument moves; of any other operation, 2."""

BOTH_MOVE = {"add": 1, "sub": 1, "mul": 3, "div": 4}


def directional_cost(formulas: Sequence[Expr], blocks: Mapping[Expr, int]) -> int:
    """Operations of the derivatives of formulas along all blocks.

    Args:
        formulas: of which.
        blocks: symbol -> the blocks whose columns move it, a bit for each.
    """
    moved: dict[Expr, int] = {}
    total = 0
    for node in topological(formulas):
        if not node.args:
            moved[node] = blocks.get(node, 0)
            continue
        bits = [moved[arg] for arg in node.args]
        some, all_of_them = bits[0], bits[0] if len(bits) > 1 else 0
        for other in bits[1:]:
            some, all_of_them = some | other, all_of_them & other
        moved[node] = some
        if some:
            both = all_of_them.bit_count()
            total += both * BOTH_MOVE.get(node.op, 4)
            total += (some.bit_count() - both) * ONE_MOVES.get(node.op, 2)
    return total


def elimination_cost(pattern: Collection[tuple[int, int]], size: int) -> int:
    """Operations of one use of L D Lᵀ of a tree, by the nonzeros of its lower triangle."""
    return 4 * (len(pattern) - size) + size
