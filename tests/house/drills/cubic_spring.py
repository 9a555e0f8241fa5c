"""A load in one file: a spring whose effort grows with the cube of its stretch."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import Place
from liaison.model.kinds import Property
from liaison.model.loads import AlongMeasure, load_kind
from liaison.model.markers import Measure
from liaison.model.places import between, line_here


@load_kind
@final
@dataclass(frozen=True, slots=True)
class CubicSpring(AlongMeasure):
    """effort = −stiffness (measure − rest)³."""

    name: str
    measure: Measure
    stiffness: Any  # [N/m³] or [N·m/rad³]
    rest: Any = 0  # [m] or [rad]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "cubic spring"
    LSD: ClassVar[str] = "cubic_spring"
    PYTHON: ClassVar[str] = "cubic_spring"
    SYMBOL: ClassVar[str] = "coil"
    KEEPS_ENERGY: ClassVar[bool] = True
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("stiffness", "N/m^3", "N*m/rad^3"),
        Property("rest", "m", "rad", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = ("stiffness", "rest")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("stiffness",)

    def effort_at(self, x, rate, read):
        stretch = x - read(self.rest)
        return -(read(self.stiffness) * stretch * stretch * stretch)

    def energy_at(self, x, read):
        square = (x - read(self.rest)) * (x - read(self.rest))
        return read(self.stiffness) * square * square / 4


def cubic_spring(*where, stiffness, rest=0, name=""):
    """A cubic spring between two markers, on a joint, or along a measure."""
    measure, word = between(where)
    return CubicSpring(name or f"cubic spring {word}", measure, stiffness, rest, line_here())
