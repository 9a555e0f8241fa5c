"""Efforts along a measure by a formula or an input: laws, motors and jacks.

A force and a moment at a place of a body.

Public names: Law, law, Actuator, motor, PointWrench, wrench.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import Place, checked
from liaison.expr import as_expr
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Marker, Measure
from liaison.model.places import between, line_here, marker_of
from liaison.model.records import Body
from liaison.model.scalars import Triple, check_name, triple

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
