"""Springs and dampers: what gives way along a measure, and what resists its rate.

Public names: Spring, spring, Damper, damper.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import Place, checked
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Measure
from liaison.model.places import between, line_here

from .load import AlongMeasure, Read, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Spring(AlongMeasure, Brief):
    """Linear spring (ressort): effort = −stiffness (measure − rest)."""

    name: str
    measure: Measure
    stiffness: Any  # [N/m] or [N·m/rad]
    rest: Any = 0  # [m] or [rad]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "spring"
    LSD: ClassVar[str] = "spring"
    PYTHON: ClassVar[str] = "spring"
    SYMBOL: ClassVar[str] = "coil"
    KEEPS_ENERGY: ClassVar[bool] = True
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("stiffness", "N/m", "N*m/rad"),
        Property("rest", "m", "rad", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = ("stiffness", "rest")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("stiffness",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return -(read(self.stiffness) * (x - read(self.rest)))

    def energy_at(self, x: Any, read: Read) -> Any:
        k, stretch = read(self.stiffness), x - read(self.rest)
        return k * stretch * stretch / 2


@checked
def spring(*where: Any, stiffness: Any, rest: Any = 0, name: str = "") -> Spring:
    """A spring between two markers, on a joint, or along a measure.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.spring(A, stiffness="2 N*m/rad", rest="10 deg"))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-2.603737])
    """
    measure, word = between(where)
    return Spring(name or f"spring {word}", measure, stiffness, rest, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Damper(AlongMeasure, Brief):
    """Linear damper (amortisseur): effort = −coefficient · rate of the measure."""

    name: str
    measure: Measure
    coefficient: Any  # [N·s/m] or [N·m·s/rad]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "damper"
    LSD: ClassVar[str] = "damper"
    PYTHON: ClassVar[str] = "damper"
    SYMBOL: ClassVar[str] = "dashpot"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("coefficient", "N*s/m", "N*m*s/rad"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("coefficient",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("coefficient",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return -(read(self.coefficient) * rate)

    def dissipation_at(self, rate: Any, read: Read) -> Any:
        return read(self.coefficient) * rate * rate / 2


@checked
def damper(*where: Any, coefficient: Any, name: str = "") -> Damper:
    """A damper between two markers, on a joint, or along a measure.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.damper(A, coefficient=0.1))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-0.8])
    """
    measure, word = between(where)
    return Damper(name or f"damper {word}", measure, coefficient, line_here())
