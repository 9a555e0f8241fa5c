"""A relation in one file: gears that turn by a ratio which changes as they turn."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.expr import Expr, as_expr, sin, symbol
from liaison.model.kinds import Property
from liaison.model.places import label_of, line_here
from liaison.model.relations import Constraint, OfCoordinates, relation_kind


@relation_kind
@final
@dataclass(frozen=True, slots=True)
class EllipticGear(OfCoordinates):
    """coordinate = −other − eccentricity sin(other)."""

    name: str
    coordinate: str
    other: str
    eccentricity: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "elliptic_gear"
    PYTHON: ClassVar[str] = "elliptic_gear"
    SYMBOL: ClassVar[str] = "gear"
    SIDES: ClassVar[tuple[str, ...]] = ("other", "coordinate")
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("eccentricity"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("eccentricity",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("eccentricity",)
    KEEPS_ENERGY: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Constraint.__post_init__(self)
        if self.coordinate == self.other:
            said = f"elliptic gear '{self.name}' ties '{self.other}' to itself; it must tie two."
            raise ModelError(said, place=self.place)

    def labels(self):
        return (self.coordinate, self.other)

    def vanishing(self) -> Expr:
        turned = symbol(self.other)
        return as_expr(symbol(self.coordinate) + turned + self.eccentricity * sin(turned))

    def holds(self) -> str:
        return self.coordinate


def elliptic_gear(on, other, eccentricity, *, name=""):
    """Two wheels, the second turned against the first by a ratio that changes."""
    first, second = label_of(on), label_of(other)
    return EllipticGear(name or f"gear {first}-{second}", first, second, eccentricity, line_here())
