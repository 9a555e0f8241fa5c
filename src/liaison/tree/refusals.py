"""What a refusal to assemble says: gaps with units, short numbers, laws that contradict each other.

Public names: imposed_twice, unit_along, short, start_place.
"""

from __future__ import annotations

from collections.abc import Collection

from liaison.errors import AssemblyError, Place
from liaison.model import Mechanism, PrescribedMotion
from liaison.units import FORCE, MOMENT, Label

ROUNDING = 1e-12
"""A position below this is told as 0 [m, rad]."""


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
