"""What a refusal to assemble says: gaps with units, short numbers, laws that contradict each other.

Public names: against, not_closed, check_defined, check_known, imposed_twice, unit_along, short,
start_place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from liaison.errors import AssemblyError, Place
from liaison.expr import ZERO, Expr, symbols_of
from liaison.model import Mechanism, PrescribedMotion
from liaison.units import FORCE, MOMENT, Label

from .closure import row_place

PART, LISTED = 1e-3, 4
"""Rows with this part of the worst residual share in it; so many are named."""

ROUNDING = 1e-12
"""A position below this is told as 0 [m, rad]."""


def against(residual: Any, names: Sequence[str]) -> str:
    """The other joints and relations that share in what cannot be met, ", against 'A', 'B'".

    Where the sum of squares is least, Gᵀ r = 0: rows with a part in r contradict each other.
    """
    size = np.abs(residual)
    owners = [name.rpartition(": ")[0] or name for name in names]
    worst = owners[int(np.argmax(size))]
    shared = [x for x, s in zip(owners, size, strict=True) if s > PART * np.max(size)]
    others = [repr(x) for x in dict.fromkeys(shared) if x != worst]
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return f", against {', '.join(others[:LISTED])}{more}" if others else ""


def not_closed(mechanism: Mechanism, row: str, off: str) -> AssemblyError:
    """The refusal of a loop or a relation that no configuration satisfies.

    Args:
        mechanism: that is assembled.
        row: the worst of its rows.
        off: what it is left with, in words.
    """
    owner = row.rpartition(": ")[0] or row
    is_relation = any(x.name == owner for x in mechanism.constraints)
    what = "relation" if is_relation else "loop through"
    part = "formula of that relation" if is_relation else "lengths and the markers of that joint"
    return AssemblyError(
        f"the {what} {owner!r} cannot be assembled: {off} (row {row!r}).",
        hint=f"Check the {part}, or give a better start.",
        place=row_place(mechanism, row),
    )


def check_defined(G: Any, names: Sequence[str], mechanism: Mechanism) -> None:
    """Refuses a start at which a row of the closures has no value.

    Args:
        G: rows of the closures at the start.
        names: of the rows.
        mechanism: that is assembled.
    """
    undefined = ~np.all(np.isfinite(G), axis=1)
    if not np.any(undefined):
        return
    name = names[int(np.argmax(undefined))]
    raise AssemblyError(
        f"the relation {name!r} has no value at the start: a formula of it divides by zero there, "
        "or has no derivative.",
        hint="Give another start. A disc that lies flat on its plane has no lowest point; two "
        "points that coincide have no direction from one to the other.",
        place=row_place(mechanism, name),
    )


def check_known(formulas: list[Expr], known: set[Expr]) -> None:
    """Refuses formulas of the closures whose symbols have no value."""
    unknown = [x.name for x in symbols_of([f for f in formulas if f is not ZERO]) if x not in known]
    if unknown:
        raise AssemblyError(
            f"the loops depend on {', '.join(unknown)}, which have no value.",
            hint="Give each a value (--set name=value) before assembling.",
        )


def imposed_twice(mechanism: Mechanism, row: str) -> AssemblyError | None:
    """The refusal of two laws for one coordinate, where the row is of one of them."""
    laws = [x for x in mechanism.constraints if isinstance(x, PrescribedMotion)]
    label = next((x.coordinate for x in laws if x.name == row), "")
    both = [x for x in laws if x.coordinate == label]
    if len(both) < 2:
        return None
    return AssemblyError(
        f"the coordinate {label!r} is imposed {len(both)} times, and the laws differ: "
        f"{', '.join(repr(x.name) for x in both)}.",
        hint="Leave one law for each coordinate; write their sum if both are meant.",
        place=both[-1].place,
    )


def unit_along(multiplier: Label) -> str:
    """The unit of what a closure holds, from that of its multiplier."""
    return {FORCE: "m", MOMENT: "rad"}.get(multiplier.unit, "")


def short(x: float) -> str:
    """A position for people: what is rounding beside 1 m or 1 rad is 0."""
    return f"{x:.6g}" if abs(x) > ROUNDING else "0"


def start_place(mechanism: Mechanism, labels: Collection[str]) -> Place | None:
    """Where the author gave the last of these starts."""
    places = [start.place for start in mechanism.starts if start.label in labels]
    return places[-1] if places else None
