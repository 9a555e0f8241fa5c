"""Unilateral rows for reading: without guards, with names for nearest points and force directions.

A gap in the code has guards where a length may vanish, and Newton's steps where a nearest point has
no formula. On a page the guards are left out and said once; the parameters of a nearest point are
called σ, with the conditions they fulfil; in long equations the directions of forces are called e.

Public names: Legible, legible, in_words.

Source: docs/theory/contacts.md (foot-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, final

from liaison.equations.equations import Equations, Side, Sides
from liaison.equations.letters import free_letter, names_in_use
from liaison.expr import Expr, as_expr, substitute, symbol
from liaison.tree import SideReading, unguarded

Change: TypeAlias = Callable[[list[Expr]], list[Expr]]

GUARDS = (
    "Lengths that may vanish are written where they do not; below 1e-12 (a disc that lies flat, a "
    "point in the middle of a ball) the code takes 0 for them and for their directions."
)
FEET = "σ are parameters of the nearest point; the code finds them by Newton's steps."
AXES = (
    "e₁, e₂, … are the directions of f₁, f₂, … in the axes of what is touched; V_rel is the "
    "velocity of the point that touches, seen from there, and Ω_rel the angular velocity."
)


@final
@dataclass(frozen=True, slots=True)
class Legible:
    """Equations whose unilateral rows can be read.

    Attributes:
        equations: without guards, with the names of feet.
        feet: of every block, what vanishes at its foot.
        axes: names of the components of directions, with their formulas.
        notes: what was left out, and what names stand for.
    """

    equations: Equations
    feet: Mapping[str, tuple[Expr, ...]]
    axes: tuple[tuple[Expr, Expr], ...] = ()
    notes: tuple[str, ...] = ()

    def by_axes(self) -> Legible:
        """The same with names for directions, for equations that are long."""
        if not self.axes:
            return self
        names = {f.args[0]: as_expr(-name) for name, f in self.axes if f.op == "neg"}
        names |= {f: name for name, f in self.axes}
        equations = _mapped(self.equations, lambda fs: substitute(fs, names))
        return replace(self, equations=equations, notes=(*self.notes, AXES))


def in_words(equations: Equations) -> dict[Expr, Expr]:
    """Rates of contacts between frames, for pages on which they are too long: e2 V_rel, …"""
    blocks, rate = equations.sides.blocks, equations.sides.rate
    slide, turn = symbol("V_rel"), symbol("Omega_rel")
    names: dict[Expr, Expr] = {}
    for side in blocks:
        gap = side if side.load < 0 else blocks[side.load]
        if gap.reading is None:
            continue
        group = side.name.rpartition(": ")[2]
        first = gap.first + (2 if group in ("sliding", "rolling") else 1)
        moved = turn if group in ("rolling", "pivoting") else slide
        for k in range(side.rows):
            names[rate[side.first + k]] = symbol(f"e{first + k}") * moved
    return names


def legible(equations: Equations) -> Legible:
    """The equations with their unilateral rows simplified for reading."""
    readings = list(_readings(equations))
    if not readings:
        return Legible(equations, MappingProxyType({}))
    values: dict[Expr, Expr] = {}
    feet, gaps = {}, {}
    for side, reading in readings:
        names = _names(equations, side, reading)
        values |= {x: name for (x, _, _), name in zip(reading.feet, names, strict=True)}
        own = {a: name for (_, a, _), name in zip(reading.feet, names, strict=True)}
        gap, *slopes = substitute([reading.gap, *(f for _, _, f in reading.feet)], own)
        gaps[side.name], feet[side.name] = gap, tuple(as_expr(-f) for f in slopes)
    blocks = tuple(replace(x, gap=gaps.get(x.name, x.gap)) for x in equations.sides.blocks)
    named = replace(equations, sides=replace(equations.sides, blocks=blocks))
    change = _Bared(values)
    simplified_equations = _mapped(named, change)
    axes = _axes(equations, readings, change)
    notes = (GUARDS,) * change.is_guarded + (FEET,) * bool(values)
    return Legible(simplified_equations, MappingProxyType(feet), axes, notes)


def _readings(equations: Equations) -> Iterator[tuple[Side, SideReading]]:
    for side in equations.sides.blocks:
        if side.reading is not None:
            yield side, side.reading


def _names(equations: Equations, side: Side, reading: SideReading) -> list[Expr]:
    """σ1, or σ1.x and σ1.y where a foot has two parameters."""
    word = f"{free_letter(names_in_use(equations.symbols), 'sigma s')}{side.first + 1}"
    if len(reading.feet) == 1:
        return [symbol(word)]
    return [symbol(f"{word}.{x}") for x, _ in zip("xy", reading.feet, strict=False)]


def _axes(
    equations: Equations, readings: list[tuple[Side, SideReading]], change: Change
) -> tuple[tuple[Expr, Expr], ...]:
    """e1.x, …: components of directions that are formulas; of two that are alike the first name."""
    blocks = equations.sides.blocks
    rough = {blocks[x.load].name for x in blocks if x.load >= 0 and x.rows == 2}
    listed = [
        (symbol(f"e{side.first + k + 1}.{x}"), f)
        for side, reading in readings
        for k, axis in enumerate(reading.axes if side.name in rough else reading.axes[:1])
        for x, f in zip("xyz", axis, strict=True)
    ]
    formulas = change([f for _, f in listed])
    seen: dict[Expr, Expr] = {}
    for (name, _), f in zip(listed, formulas, strict=True):
        if f.args:
            seen.setdefault(f, name)
    return tuple((name, f) for f, name in seen.items())


class _Bared:
    """Formulas with feet by their names and without guards; remembers whether there were any."""

    def __init__(self, values: Mapping[Expr, Expr]) -> None:
        self.values, self.is_guarded = values, False

    def __call__(self, formulas: list[Expr]) -> list[Expr]:
        plain, is_guarded = unguarded(substitute(formulas, self.values))
        self.is_guarded |= is_guarded
        return plain


def _mapped(equations: Equations, change: Change) -> Equations:
    """The equations with all formulas of unilateral rows changed together."""
    sides = equations.sides
    parts = [[x.gap for x in sides.blocks], list(sides.rate), list(sides.bias), [*sides.D.values()]]
    flat = iter(change([f for part in parts for f in part]))
    gaps, rate, bias, D = ([next(flat) for _ in part] for part in parts)
    sides_changed = Sides(
        blocks=tuple(replace(x, gap=f) for x, f in zip(sides.blocks, gaps, strict=True)),
        D=MappingProxyType(dict(zip(sides.D, D, strict=True))),
        rate=tuple(rate),
        bias=tuple(bias),
        labels=sides.labels,
    )
    return replace(equations, sides=sides_changed)
