"""Unilateral rows of a tree of many bodies: contacts by kinds of pairs, the rest written out.

A contact sees the states of its two nodes, as a relation between frames does: its gap, slips and
turning are derived once for each kind of pair, and read sizes and markers from a table. Stops, dry
friction and gaps that are formulas are rows over the few joints that they name.

Public names: LoopedSides, looped_sides, SideKind.

Source: docs/theory/contacts.md (contact-2); docs/theory/closures.md (side-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.completion import length_of, sides_of
from liaison.equations.equations import Sides
from liaison.equations.setting import Setting
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, directional, jacobian, substitute, symbols_of
from liaison.model import Contact, Joint
from liaison.model.pairing import paired
from liaison.spatial.arrays import dot
from liaison.tree import GROUND, Row
from liaison.tree.closure import OMEGA, P, R, V
from liaison.tree.contact.sides import (
    PlaceRows,
    SideRows,
    check_not_tilted,
    collected_blocks,
    place_templates,
)
from liaison.tree.contact.touches import touches
from liaison.units import FORCE, Label

from .blocks import Ends
from .cuts import (
    CutClass,
    Cuts,
    OneCut,
    frame_numbers,
    known_reads,
    read_symbol,
    seen_rates,
    tabled,
)
from .rest import RestRow, check_carried, nodes_by_name, rest_row, short_relation


@final
@dataclass(frozen=True, slots=True)
class LoopedSides:
    """Unilateral rows as loops compute them.

    Attributes:
        cuts: contacts as relations between frames, then rows that are written out; in the order of
            its multipliers are the rows of all blocks.
        sides: blocks, their coefficients and labels; D, rate and bias of contacts are not in it.
        gaps: for each block the row of its gap; −1 of others.
        owners: for each row the contact or relation that it belongs to, by number.
        length: of what moves [m].
    """

    cuts: Cuts
    sides: Sides
    gaps: tuple[int, ...]
    owners: tuple[int, ...]
    length: float

    @property
    def laws(self) -> list[Expr]:
        """Coefficients of all blocks, as the entry `one_sided` has them."""
        return [x for b in self.sides.blocks for x in (*b.coefficients, ZERO, ZERO)]

    @property
    def bearings(self) -> tuple[tuple[int, str, int], ...]:
        """Blocks that the force in a joint bounds: number, joint, how many of x, y, z count."""
        listed = [(k, x) for k, x in enumerate(self.sides.blocks) if x.joint]
        slides = [self.sides.labels[x.first].unit == FORCE and x.rows == 1 for _, x in listed]
        pairs = zip(listed, slides, strict=True)
        return tuple((k, x.joint, 2 if is_slide else 3) for (k, x), is_slide in pairs)

    @property
    def words(self) -> list[Any]:
        """Blocks in words: what they are called, which rows they have."""
        return [
            (x.name, x.owner, x.kind, x.first, x.rows, x.load, x.law) for x in self.sides.blocks
        ]

    @property
    def formulas(self) -> list[Expr]:
        """What steps depend on, of what is written out."""
        rows = [(x.second, ZERO if x.phi is None else x.phi, x.rate) for x in self.cuts.relations]
        return [*(x for row in rows for x in row), *self.laws]


def looped_sides(setting: Setting, values: Mapping[Expr, Any]) -> LoopedSides:
    """The unilateral rows of a mechanism, perhaps none.

    Args:
        setting: of its tree.
        values: of parameters.

    Raises:
        DerivationError: loops do not know one of them.
    """
    rows = _ShortRows(setting, values)
    blocks = collected_blocks(paired(setting.mechanism), rows, setting.tree.numbers)
    sides = sides_of(blocks, setting.tree.velocity_labels())
    order = [rows.place(row) for block in blocks for row in block.rows]
    owners = {name: k for k, name in enumerate(dict.fromkeys(x.owner for x in blocks))}
    return LoopedSides(
        cuts=tabled(
            rows.frames,
            joints=(),
            frames=tuple(x.name for x in rows.frames),
            components=[(-1, -1, -1) for _ in rows.frames],
            relations=tuple(rows.relations),
            order=tuple(order),
        ),
        sides=sides,
        gaps=tuple(x.first if x.kind == "gap" else -1 for x in sides.blocks),
        owners=tuple(owners[x.owner] for x in sides.blocks for _ in range(x.rows)),
        length=length_of(setting.mechanism),
    )


@final
@dataclass(frozen=True, slots=True)
class SideKind:
    """What contacts of a kind have in common: templates (value or None, n, g, Q) of their rows."""

    templates: tuple[tuple[Any, ...], ...]

    def derived(self, entries: Sequence[Any]) -> CutClass:
        """J on two nodes and nothing on a third, then u̇, the gap (0 of others) and u of all rows.

        u = n · ω + g · ṗ and u̇ = n · ω̇ + g · p̈ + Q, with ω and ṗ as seen from the second frame.
        """
        ends = Ends(entries)
        pose, (omega, slip) = ends.pose(), seen_rates(ends)
        moving = [as_expr(x) for x in (*omega, *slip)]
        there = dict(zip([*R.flat, *P], map(as_expr, (*pose[0].flat, *pose[1])), strict=True))
        there |= dict(zip([*OMEGA, *V], moving, strict=True))
        there |= known_reads(entries)
        faster = directional(moving, {**ends.flow, **ends.second})
        second, held, rate = [], [], []
        for value, turn, slide, quadratic in self.templates:
            gap = ZERO if value is None else as_expr(value)
            formulas = substitute([gap, *map(as_expr, (*turn, *slide)), as_expr(quadratic)], there)
            along = formulas[1:7]
            held.append(formulas[0])
            rate.append(as_expr(dot(along, moving)))
            second.append(as_expr(dot(along, faster)) + formulas[7])
        J = jacobian(second, ends.accelerations)
        count = range(len(rate))
        columns = (range(6), range(6, 12))
        parts = [J.get((i, c), ZERO) for end in columns for i in count for c in end]
        return CutClass((*parts, *[ZERO] * (6 * len(rate)), *second, *held, *rate), len(rate), 0)


@final
class _ShortRows(SideRows):
    """Rows over the joints that a formula names; those of contacts are known by kind alone.

    Attributes:
        frames: contacts so far.
        relations: rows that are written out so far.
    """

    def __init__(self, setting: Setting, values: Mapping[Expr, Any]) -> None:
        self.frames: list[OneCut] = []
        self.relations: list[RestRow] = []
        self._setting, self._values = setting, values
        self._named = nodes_by_name(setting)
        self._speeds = {x.name for x in setting.v}
        self._of_frames: dict[int, int] = {}  # identity of a row -> its number
        self._of_relations: dict[int, int] = {}
        self._rows: list[Row] = []

    def place(self, row: Row) -> int:
        """The number of a row: rows of contacts come first."""
        if id(row) in self._of_frames:
            return self._of_frames[id(row)]
        return len(self._of_frames) + self._of_relations[id(row)]

    def in_rates(self, formula: Any) -> Expr:
        qdot = dict(zip(self._setting.q, self._setting.qdot, strict=True))
        named = {f"{x.name}'": y for x, y in qdot.items() if f"{x.name}'" not in self._speeds}
        used = {
            x: as_expr(named[x.name]) for x in symbols_of([as_expr(formula)]) if x.name in named
        }
        return substitute([as_expr(formula)], used)[0] if used else as_expr(formula)

    def is_speed(self, name: str) -> bool:
        return name in self._speeds

    def relation(self, formula: Any, *, of_speeds: bool | None = False) -> Row:
        row = short_relation(self._setting, self._named, formula, of_speeds=of_speeds)
        if row is None:
            raise DerivationError(
                f"{as_expr(formula)} is not linear in the rates, which loops over nodes do not "
                "know.",
                hint="Derive the equations by newton_euler.",
            )
        check_carried(self._setting.tree, row.G, str(as_expr(formula)))
        self._of_relations[id(row)] = len(self.relations)
        self._rows.append(row)
        self.relations.append(rest_row(Label("", ""), row))
        return row

    def places(self, one: Contact) -> list[PlaceRows]:
        if one.cores is not None:
            raise DerivationError(
                f"the places of contact {one.name!r} are found by loops, which loops over nodes "
                "do not call.",
                hint="Derive the equations by newton_euler.",
            )
        if one.pairing.is_parallel:
            check_not_tilted(self._setting.kinematics, one)
        reader = _Reader(self._values)
        groups = [place_templates(x, one.friction) for x in touches(one, reader)]
        listed = tuple(x for place in groups for group in place.values() for x in group)
        rows = iter([self._placed(value) for value, *_ in listed])
        tree = self._setting.tree
        ends = [tree.located(one.second), tree.located(one.first)]
        self._add(one.name, ends, listed, reader.numbers)
        return [
            PlaceRows({word: tuple(next(rows) for _ in x) for word, x in place.items()}, None, None)
            for place in groups
        ]

    def _add(
        self, name: str, ends: Sequence[Any], templates: tuple[Any, ...], reads: Sequence[Any]
    ) -> None:
        """One more contact: its frames, the rows between them, and the sizes that these read."""
        self.frames.append(
            OneCut(
                kind=SideKind(templates),
                numbers=frame_numbers(ends, reads, self._values),
                nodes=(ends[0][0], ends[1][0], GROUND),
                kept=(0, 0, 0),
                labels=[Label(name, "")] * len(templates),
                are_rates=tuple(value is None for value, *_ in templates),
                arm=1.0,
                name=name,
            )
        )

    def _placed(self, value: Any) -> Row:
        """A row of a contact, of which the kind knows more."""
        row = Row(None if value is None else ZERO, {}, ZERO, ZERO, ZERO)
        self._of_frames[id(row)] = len(self._of_frames)
        self._rows.append(row)
        return row

    def between(self, joint: Joint, templates: Sequence[Any]) -> tuple[Row, ...]:
        tree = self._setting.tree
        ends = [tree.located(joint.predecessor), tree.located(joint.successor)]
        self._add(joint.name, ends, tuple(templates), ())
        return tuple(self._placed(value) for value, *_ in templates)


class _Reader:
    """Symbols in the place of sizes; zeros, and formulas of where one touches, stay as they are.

    Attributes:
        numbers: that the symbols stand for, in their order.
    """

    def __init__(self, values: Mapping[Expr, Any]) -> None:
        self.numbers: list[Any] = []
        self._values = values

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Expr):
            known = {s: as_expr(self._values[s]) for s in symbols_of([x]) if s in self._values}
            x = substitute([x], known)[0]
            if symbols_of([x]):
                return x
        if x is None or x == 0:
            return x
        self.numbers.append(x)
        return read_symbol(len(self.numbers) - 1)
