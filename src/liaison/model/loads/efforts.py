"""Efforts along a measure by a formula or an input: laws, motors and jacks.

A force and a moment at a place of a body.

Public names: Law, law, Actuator, motor, Servo, servo, PointWrench, wrench.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place, checked
from liaison.expr import as_expr, maximum, minimum
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Marker, Measure
from liaison.model.places import between, line_here, marker_of
from liaison.model.records import Body
from liaison.model.scalars import Triple, check_name, triple
from liaison.spatial import number

from .load import AlongMeasure, AtMarker, Read, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class PointWrench(AtMarker, Brief):
    """A force and a moment on a body at a marker's origin, in the axes of another marker.

    `axes` None means ground's axes; the body's own marker makes a follower force.
    """

    name: str
    marker: Marker
    force: Triple = (0, 0, 0)  # [N]
    moment: Triple = (0, 0, 0)  # [N·m]
    axes: Marker | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "wrench"
    LSD: ClassVar[str] = "wrench"
    PYTHON: ClassVar[str] = "wrench"
    SYMBOL: ClassVar[str] = "arrow"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("force", "N", optional=True, vector=True),
        Property("torque", "N*m", field="moment", optional=True, vector=True),
    )
    TRIPLES: ClassVar[tuple[str, ...]] = ("force", "moment")

    def __post_init__(self) -> None:
        check_name("wrench", self.name, self.place)
        for part in self.TRIPLES:
            what = f"the {part} of wrench '{self.name}'"
            object.__setattr__(
                self, part, triple(getattr(self, part), what, self.place, self.unit_of(part))
            )

    def markers(self) -> tuple[Marker, ...]:
        return (self.marker,) if self.axes is None else (self.marker, self.axes)

    def formulas(self) -> tuple[Any, ...]:
        return self.force + self.moment

    def at(self) -> Marker:
        return self.marker

    def turned_with(self) -> Marker | None:
        return self.axes

    def wrench(self) -> tuple[Triple, Triple]:
        return self.moment, self.force


@checked
def wrench(
    at: Body | Marker,
    *,
    force: Any = (0, 0, 0),
    moment: Any = (0, 0, 0),
    axes: Body | Marker | None = None,
    name: str = "",
) -> PointWrench:
    """A force and a moment on a body at a marker, in ground's axes or in those of `axes`.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.wrench(rod.at((0, 0, -1)), force=(1, 0, 0)))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-3.51033])
    """
    marker = marker_of(at)
    turned_by = None if axes is None else marker_of(axes)
    return PointWrench(
        name or f"wrench {marker.body}", marker, force, moment, turned_by, line_here()
    )


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Law(AlongMeasure, Brief):
    """An effort along a measure given by any formula [N or N·m]."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "law"
    LSD: ClassVar[str] = "effort"
    PYTHON: ClassVar[str] = "law"
    SYMBOL: ClassVar[str] = "strut"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("value", "N", "N*m", field="effort"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return as_expr(read(self.effort))


@checked
def law(*where: Any, effort: Any, name: str = "") -> Law:
    """An effort given by a formula, between two markers, on a joint, or along a measure.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.law(A, effort=-0.1 * liaison.rate(A) ** 3))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-3.2])
    """
    measure, word = between(where)
    return Law(name or f"law {word}", measure, effort, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Actuator(AlongMeasure, Brief):
    """Motor or jack (moteur, vérin): an effort along a measure [N or N·m], often an input."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "actuator"
    LSD: ClassVar[str] = "motor"
    PYTHON: ClassVar[str] = "motor"
    SYMBOL: ClassVar[str] = "motor"
    QUANTITIES: ClassVar[tuple[Property, ...]] = Law.PROPERTIES
    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return as_expr(read(self.effort))


@checked
def motor(*where: Any, effort: Any, name: str = "") -> Actuator:
    """A motor or a jack: an effort between two markers, on a joint, or along a measure.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive))
        >>> liaison.forward_dynamics(m, {"A": 0.5}, inputs={"drive": 2.0}).round(6)
        array([8.])
    """
    measure, word = between(where)
    return Actuator(name or f"motor {word}", measure, effort, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Servo(AlongMeasure, Brief):
    """Servomotor (asservissement): a drive with feedback of its measure, within limits.

    effort = drive − stiffness · x − damping · ẋ, not less than `low` and not more than `high`.
    """

    name: str
    measure: Measure
    drive: Any = 0  # [N] or [N·m], often a gain times an input
    stiffness: Any = 0  # [N/m] or [N·m/rad]
    damping: Any = 0  # [N·s/m] or [N·m·s/rad]
    low: Any = None  # [N] or [N·m]; None: no limit
    high: Any = None
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "servo"
    LSD: ClassVar[str] = "servo"
    PYTHON: ClassVar[str] = "servo"
    SYMBOL: ClassVar[str] = "motor"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("drive", "N", "N*m", optional=True),
        Property("stiffness", "N/m", "N*m/rad", optional=True),
        Property("damping", "N*s/m", "N*m*s/rad", optional=True),
        Property("low", "N", "N*m", optional=True),
        Property("high", "N", "N*m", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = ("drive", "stiffness", "damping", "low", "high")
    OPTIONAL: ClassVar[tuple[str, ...]] = ("low", "high")

    def __post_init__(self) -> None:
        AlongMeasure.__post_init__(self)
        if self.has_texts() or self.low is None or self.high is None:
            return
        low, high = number(self.low), number(self.high)
        if low is not None and high is not None and low > high:
            message = f"the limits of servo '{self.name}' are {low:g} … {high:g}; low exceeds high."
            raise ModelError(message, place=self.place)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        effort = as_expr(read(self.drive)) - read(self.stiffness) * x - read(self.damping) * rate
        effort = effort if self.low is None else maximum(effort, read(self.low))
        return effort if self.high is None else minimum(effort, read(self.high))


@checked
def servo(
    *where: Any,
    drive: Any = 0,
    stiffness: Any = 0,
    damping: Any = 0,
    low: Any = None,
    high: Any = None,
    name: str = "",
) -> Servo:
    """A drive with feedback within limits, between two markers, on a joint, or along a measure.

    A position servo of gains kp and kd to an angle u is drive=kp*u, stiffness=kp, damping=kd.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> hold = liaison.servo(A, drive=3, stiffness=10, damping=1, low=-4, high=4)
        >>> liaison.forward_dynamics(liaison.mechanism(A, hold), {"A": 0.5, "A'": 1.0}).round(6)
        array([-12.])
    """
    measure, word = between(where)
    limits = (drive, stiffness, damping, low, high)
    return Servo(name or f"servo {word}", measure, *limits, line_here())
