"""Stages: an entry as functions called one after the other, of single numbers and of vectors.

Values live in places of the workspace. A function of single numbers computes formulas of the inputs
and of earlier places; a function of vectors computes formulas of lanes, which are runs of places,
and of single places, the same in every lane. The latter runs over a row of lanes several times,
moved along, so that code is there once for all bodies of a tree.

Public names: Stages, Numbers, Vectors, Result, Call, Component, Draft, WIDEST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

from liaison.expr import ZERO, Expr, symbol, symbols_of, topological

from .columns import Blocks

WIDEST = 8
"""Lanes of a vector: a register of AVX-512; where registers are shorter, LLVM takes several."""

LEAVES = frozenset({"symbol", "const"})


@final
@dataclass(frozen=True, slots=True)
class Numbers:
    """A function of single numbers: (place, formula) for all it writes."""

    writes: tuple[tuple[int, Expr], ...]


@final
@dataclass(frozen=True, slots=True)
class Result:
    """Some lanes of a formula, from `first` on, side by side in `out` from an index on."""

    index: int
    formula: Expr
    first: int
    count: int


@final
@dataclass(frozen=True, slots=True)
class Vectors:
    """A function of vectors.

    Attributes:
        lanes: of each.
        reads: symbol -> where its first lane lies.
        constants: the same for symbols whose lanes lie among the constants.
        writes: (place of the first lane, formula).
        results: what goes into `out`.
    """

    lanes: int
    reads: Mapping[Expr, int]
    constants: Mapping[Expr, int]
    writes: tuple[tuple[int, Expr], ...]
    results: tuple[Result, ...] = ()

    @property
    def formulas(self) -> list[Expr]:
        """All that it computes."""
        return [x for _, x in self.writes] + [result.formula for result in self.results]


Function: TypeAlias = Numbers | Vectors


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A function, and how far its lanes and its results are moved."""

    function: int
    shift: int = 0
    out: int = 0


@final
@dataclass(frozen=True)
class Stages:
    """An entry as calls of functions.

    Attributes:
        layout: name and size of each block of results.
        functions: what is called.
        calls: in order.
        places: symbol of a single number -> its place.
        constants: what vectors read besides places.
        size: of the workspace.
        written_out: the same as blocks of formulas, for back ends that know no stages.
    """

    layout: tuple[tuple[str, int], ...]
    functions: tuple[Function, ...]
    calls: tuple[Call, ...]
    places: Mapping[Expr, int]
    constants: tuple[float, ...]
    size: int
    written_out: Callable[[], Blocks]

    @cached_property
    def formulas(self) -> list[Expr]:
        """The inputs that are read."""
        numbers = [f for f in self.functions if isinstance(f, Numbers)]
        read = symbols_of([x for f in numbers for _, x in f.writes])
        return [x for x in read if x not in self.places]

    def operations(self) -> list[Expr]:
        """Every operation, on a number or a vector, as often as it is done."""
        own = [steps_of_function(f) for f in self.functions]
        return [node for call in self.calls for node in own[call.function]]


def steps_of_function(function: Function) -> list[Expr]:
    """The operations of one call."""
    if isinstance(function, Numbers):
        formulas = [x for _, x in function.writes]
    else:
        formulas = function.formulas
    return [node for node in topological(formulas) if node.op not in LEAVES]


@final
@dataclass(frozen=True, slots=True)
class Component:
    """One quantity of every body or column: each entry for itself, and all of them as lanes."""

    entries: tuple[Expr, ...]
    lanes: Expr


class Draft:
    """Stages while they are put together; what is to be computed first is said first."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.calls: list[Call] = []
        self.places: dict[Expr, int] = {}
        self.constants: list[float] = []
        self.size = 0
        self._known: dict[Expr, Component] = {}  # by lanes
        self._pending: list[tuple[int, Expr]] = []
        self._lanes: dict[Expr, tuple[bool, int, bool]] = {}  # (constant, start, moves)

    def room(self, width: int) -> int:
        """The first of so many new places, at a multiple of WIDEST."""
        start = padded(self.size)
        self.size = start + padded(width)
        return start

    def single(self, value: Expr) -> Expr:
        """A number kept for later."""
        if value.op == "const" or value in self.places:
            return value
        self.size += 1
        return self._placed(self.size - 1, value)

    def _placed(self, place: int, value: Expr) -> Expr:
        self._pending.append((place, value))
        kept = symbol(f"'stage {place}")
        self.places[kept] = place
        return kept

    def kept(self, values: Sequence[Expr | None], width: int, *, moves: bool = True) -> Component:
        """One value for each lane, as single numbers and as lanes.

        Args:
            values: of the first lanes; the others, and those that are None, stay undetermined.
            width: how many lanes there are.
            moves: whether functions that are moved along read other lanes.
        """
        known = [ZERO if x is None else x for x in values]
        if all(x is ZERO for x in known):
            return Component(tuple(known), ZERO)
        if all(x.op == "const" for x in known):
            start = len(self.constants)
            self.constants += [float(x.value) for x in known]
            self.constants += [0.0] * (padded(width) - len(known))
            return self._component(known, self._named(True, start, moves))
        start = self.room(width)
        for k, x in enumerate(values):
            if x is not None:
                kept = self._placed(start + k, x)
                known[k] = x if x.op == "const" else kept
        return self._component(known, self._named(False, start, moves))

    def _component(self, entries: Sequence[Expr], lanes: Expr) -> Component:
        self._known[lanes] = Component(tuple(entries), lanes)
        return self._known[lanes]

    def _named(self, is_constant: bool, start: int, moves: bool) -> Expr:
        lanes = symbol(f"'lanes {start} {'of constants' if is_constant else ''}")
        self._lanes[lanes] = is_constant, start, moves
        return lanes

    def at(self, place: int) -> Expr:
        """Lanes at a place, wherever a function is moved."""
        return self._named(False, place, False)

    def along(self, formulas: Sequence[Expr], width: int, count: int) -> list[Component]:
        """Formulas of lanes, computed for the first `count` of a row of them."""
        written, components = self._targets(formulas, width, moves=True)
        index = self.function(written)
        self.calls += [Call(index, shift) for shift in range(0, count, WIDEST)]
        return components

    def once(self, formulas: Sequence[Expr], count: int) -> list[Component]:
        """Formulas of so many lanes, computed once."""
        written, components = self._targets(formulas, count, moves=False)
        self.calls.append(Call(self.function(written, lanes=count)))
        return components

    def _targets(
        self, formulas: Sequence[Expr], width: int, *, moves: bool
    ) -> tuple[list[tuple[int, Expr]], list[Component]]:
        """Where formulas of lanes are written; what is known already is not written again."""
        written, components = [], []
        for formula in formulas:
            if formula.op == "const" or formula in self._known:
                components.append(
                    self._known.get(formula) or Component((formula,) * width, formula)
                )
                continue
            start = self.room(width)
            written.append((start, formula))
            entries = [symbol(f"'stage {start + k}") for k in range(width)]
            self.places.update((x, start + k) for k, x in enumerate(entries))
            components.append(self._component(entries, self._named(False, start, moves)))
        return written, components

    def function(
        self,
        writes: Sequence[tuple[int, Expr]],
        results: Sequence[Result] = (),
        *,
        first: int = 0,
        lanes: int = WIDEST,
    ) -> int:
        """A function of vectors, to be called: its number.

        Args:
            writes: (place, formula).
            results: what goes into `out`.
            first: the lane that is the first one here.
            lanes: how many there are at least.
        """
        self.flush()
        lanes = next(n for n in (1, 2, 4, 8) if n >= lanes)
        read: tuple[dict[Expr, int], dict[Expr, int]] = ({}, {})
        for x in symbols_of([*(x for _, x in writes), *(x.formula for x in results)]):
            if x in self._lanes:
                is_constant, start, moves = self._lanes[x]
                read[is_constant][x] = start + first * moves
        self.functions.append(Vectors(lanes, *read, tuple(writes), tuple(results)))
        return len(self.functions) - 1

    def flush(self) -> None:
        """What is pending, as a function of single numbers."""
        if self._pending:
            read = symbols_of([x for _, x in self._pending])
            written = {place for place, _ in self._pending}
            assert not any(self.places.get(x) in written for x in read)
            self.calls.append(Call(len(self.functions)))
            self.functions.append(Numbers(tuple(self._pending)))
            self._pending = []

    def stages(
        self, layout: Iterable[tuple[str, int]], written_out: Callable[[], Blocks]
    ) -> Stages:
        """All of it."""
        self.flush()
        return Stages(
            tuple(layout),
            tuple(self.functions),
            tuple(self.calls),
            self.places,
            tuple(self.constants),
            padded(self.size) + WIDEST,
            written_out,
        )


def padded(width: int) -> int:
    """The next multiple of WIDEST."""
    return -(-width // WIDEST) * WIDEST
