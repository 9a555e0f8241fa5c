"""Two coordinates in proportion: gears, belts, racks.

Public names: Coupling, gear.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import Expr, as_expr, symbol
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.places import label_of, line_here
from liaison.model.records import Joint
from liaison.spatial import number

from .relation import Constraint, OfCoordinates, Read, relation_kind


@relation_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Coupling(OfCoordinates, Brief):
    """Two coordinates tied (engrenage, courroie): coordinate = ratio · other + offset."""

    name: str
    coordinate: str
    ratio: Any
    other: str
    offset: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "proportion"
    PYTHON: ClassVar[str] = "gear"
    SYMBOL: ClassVar[str] = "gear"
    SIDES: ClassVar[tuple[str, ...]] = ("other", "coordinate")
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("ratio", "@coordinate/@other"),
        Property("offset", "@coordinate", optional=True),
    )
    KEEPS_ENERGY: ClassVar[bool] = True
    SCALARS: ClassVar[tuple[str, ...]] = ("ratio", "offset")

    def __post_init__(self) -> None:
        Constraint.__post_init__(self)
        if self.coordinate == self.other:
            raise ModelError(
                f"coupling '{self.name}' ties '{self.coordinate}' to itself; it must tie two.",
                place=self.place,
            )

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate, self.other)

    def vanishing(self) -> Expr:
        return as_expr(symbol(self.coordinate) - (self.ratio * symbol(self.other) + self.offset))

    def tangent(self) -> Expr:
        return as_expr(symbol(self.coordinate) - self.ratio * symbol(self.other))

    def holds(self) -> str:
        return self.coordinate

    def implied(self, known: Mapping[str, Any], value: Read) -> dict[str, Any]:
        ratio, offset = value(self.ratio), value(self.offset)
        if self.other in known:
            return {self.coordinate: ratio * known[self.other] + offset}
        if self.coordinate in known and number(ratio) != 0:
            return {self.other: (known[self.coordinate] - offset) / ratio}
        return {}


@checked
def gear(
    on: str | Joint, ratio: Any, other: str | Joint, *, offset: Any = 0, name: str = ""
) -> Coupling:
    """on = ratio · other + offset.

    Example:
        >>> import liaison
        >>> a, b = (liaison.body(x, mass=1, inertia=(0.1, 0.1, 0.1)) for x in "ab")
        >>> A = liaison.join(liaison.ground, a, "revolute", name="A")
        >>> B = liaison.join(liaison.ground.at((1, 0, 0)), b, "revolute", name="B")
        >>> liaison.check(liaison.mechanism(A, B, liaison.gear(A, -2, B))).freedoms
        1
    """
    first, second = label_of(on), label_of(other)
    return Coupling(name or f"gear {first}-{second}", first, ratio, second, offset, line_here())
