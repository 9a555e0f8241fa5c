"""Springs and dampers: what gives way along a measure, and what resists its rate.

Public names: Spring, spring, Damper, damper, DeadZoneSpring, dead_zone_spring.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import as_expr, maximum
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Measure
from liaison.model.places import between, line_here
from liaison.spatial import number

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


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class DeadZoneSpring(AlongMeasure, Brief):
    """Spring with a dead zone (ressort à jeu): slack between two values, linear beyond them.

    effort = stiffness (max(low − x, 0) − max(x − high, 0)); a rope is slack from 0 to its length.
    """

    name: str
    measure: Measure
    stiffness: Any  # [N/m] or [N·m/rad]
    low: Any = 0  # [m] or [rad]
    high: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "dead zone spring"
    LSD: ClassVar[str] = "dead_zone_spring"
    PYTHON: ClassVar[str] = "dead_zone_spring"
    SYMBOL: ClassVar[str] = "coil"
    KEEPS_ENERGY: ClassVar[bool] = True
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("stiffness", "N/m", "N*m/rad"),
        Property("low", "m", "rad", optional=True),
        Property("high", "m", "rad", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = ("stiffness", "low", "high")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("stiffness",)

    def __post_init__(self) -> None:
        AlongMeasure.__post_init__(self)
        if self.has_texts():
            return
        low, high = number(self.low), number(self.high)
        if low is not None and high is not None and low > high:
            message = f"the dead zone of spring '{self.name}' ends at {high:g}, below its begin."
            raise ModelError(message, place=self.place)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        below, above = self._beyond(x, read)
        return read(self.stiffness) * (below - above)

    def energy_at(self, x: Any, read: Read) -> Any:
        below, above = self._beyond(x, read)
        return read(self.stiffness) * (below * below + above * above) / 2

    def _beyond(self, x: Any, read: Read) -> tuple[Any, Any]:
        """How far it is below the zone, and above."""
        below, above = as_expr(read(self.low)) - x, x - as_expr(read(self.high))
        return maximum(below, 0), maximum(above, 0)


@checked
def dead_zone_spring(
    *where: Any, stiffness: Any, low: Any = 0, high: Any = 0, name: str = ""
) -> DeadZoneSpring:
    """A spring that is slack between two values, on a joint, between markers, or along a measure.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.dead_zone_spring(A, stiffness=2, high="10 deg"))
        >>> liaison.forward_dynamics(m, {"A": 0.5}).round(6)
        array([-2.603737])
        >>> liaison.forward_dynamics(m, {"A": 0.1})
        array([0.])
    """
    measure, word = between(where)
    return DeadZoneSpring(
        name or f"dead zone spring {word}", measure, stiffness, low, high, line_here()
    )
