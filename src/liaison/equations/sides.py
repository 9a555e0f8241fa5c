"""One-sided rows of a mechanism as formulas: gaps, rates, slips, and what bounds their forces.

Public names: sides_of.

Source: docs/theory/one_sided.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from liaison.expr import ZERO, Expr, as_expr, vanishes
from liaison.units import FORCE, MOMENT, Label, effort_along

from .equations import COEFFICIENTS, Side, Sides

if TYPE_CHECKING:
    from liaison.tree import SideBlock

DIRECTIONS = ("x", "y", "z")


def sides_of(blocks: Sequence[SideBlock], speeds: Sequence[Label]) -> Sides:
    """The blocks of a mechanism as one contract: every row by its number.

    Args:
        blocks: a load before the friction that it bounds.
        speeds: a name and a unit for every velocity.
    """
    rows = [row for block in blocks for row in block.rows]
    D = {
        (k, j): as_expr(entry)
        for k, row in enumerate(rows)
        for j, entry in sorted(row.G.items())
        if not vanishes(entry)
    }
    return Sides(
        blocks=_numbered(blocks),
        D=MappingProxyType(D),
        rate=tuple(as_expr(row.rate) for row in rows),
        bias=tuple(-as_expr(row.gamma) for row in rows),
        labels=tuple(label for block in blocks for label in _labels(block, speeds)),
    )


def _numbered(blocks: Sequence[SideBlock]) -> tuple[Side, ...]:
    found: list[Side] = []
    first = 0
    for block in blocks:
        side = Side(
            name=block.name,
            owner=block.owner,
            kind=block.kind,
            first=first,
            rows=len(block.rows),
            load=-1 if block.load is None else block.load,
            joint=block.joint,
            law=block.law,
            gap=ZERO if block.kind != "gap" else as_expr(block.rows[0].value),
            coefficients=_coefficients(block),
            reading=block.reading,
        )
        found.append(side)
        first += len(block.rows)
    return tuple(found)


def _coefficients(block: SideBlock) -> tuple[Expr, ...]:
    """In the order of COEFFICIENTS; what is not said is as the dynamic coefficient."""
    told: dict[str, Any] = {name: getattr(block, name) for name in COEFFICIENTS}
    for name in ("static", "across"):
        told[name] = block.friction if told[name] is None else told[name]
    for name in ("friction", "static", "across") if block.joint else ():
        told[name] = told[name] * block.arm
    return tuple(as_expr(told[name]) for name in COEFFICIENTS)


def _labels(block: SideBlock, speeds: Sequence[Label]) -> list[Label]:
    """A name and a unit for the force of every row."""
    unit = MOMENT if block.name.endswith((": rolling", ": pivoting")) or block.joint else FORCE
    if block.kind == "friction" and block.load is None and len(block.rows[0].G) == 1:
        (place,) = block.rows[0].G
        unit = effort_along(speeds[place].unit)
    if len(block.rows) == 1:
        return [Label(block.name, unit)]
    return [Label(f"{block.name} {x}", unit) for x in DIRECTIONS[: len(block.rows)]]
