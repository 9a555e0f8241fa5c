"""Efforts along a measure by a formula or an input: laws, motors and jacks, servos.

A force and a moment at a place of a body.

Public names: Law, law, Actuator, motor, Servo, servo, PointWrench, wrench.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import as_expr, maximum, minimum
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.markers import Marker, Measure
from liaison.model.places import between, line_here, marker_of
from liaison.model.records import Body
from liaison.model.scalars import Triple, check_name, triple
from liaison.spatial import number

from .load import AlongMeasure, AtMarker, Force, Read, load_kind


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
    """A motor with its controller (asservissement): it follows a position, a speed, an effort.

        u = effort + stiffness (target − x) + damping (speed − ẋ),                    (servo-1)
        effort on x: u, but at most `limit` and at least `least` (−limit).

    With `no_load`, the speed ω₀ at which back EMF leaves nothing of its effort, the bounds fall:
    limit (1 − ẋ/ω₀) above and −limit (1 + ẋ/ω₀) below, where they are the nearer ones.
    """

    name: str
    measure: Measure
    target: Any = 0  # [m] or [rad]
    speed: Any = 0  # [m/s] or [rad/s]
    effort: Any = 0  # [N] or [N·m]
    stiffness: Any = 0  # [N/m] or [N·m/rad]
    damping: Any = 0  # [N·s/m] or [N·m·s/rad]
    least: Any = None  # least effort; None: −limit
    limit: Any = None  # greatest effort; None: no bound [N] or [N·m]
    no_load: Any = None  # speed without load [m/s] or [rad/s]; None: bounds do not fall
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "servo"
    LSD: ClassVar[str] = "servo"
    PYTHON: ClassVar[str] = "servo"
    SYMBOL: ClassVar[str] = "motor"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("target", "m", "rad", optional=True),
        Property("speed", "m/s", "rad/s", optional=True),
        Property("effort", "N", "N*m", optional=True),
        Property("stiffness", "N/m", "N*m/rad", optional=True),
        Property("damping", "N*s/m", "N*m*s/rad", optional=True),
        Property("least", "N", "N*m", optional=True),
        Property("limit", "N", "N*m", optional=True),
        Property("no_load", "m/s", "rad/s", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = (
        "target", "speed", "effort", "stiffness", "damping", "least", "limit", "no_load",
    )  # fmt: skip
    OPTIONAL: ClassVar[tuple[str, ...]] = ("limit", "least", "no_load")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "limit", "no_load")

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        if self.has_texts():
            return
        upper, lower = (None if x is None else number(x) for x in (self.limit, self.least))
        if upper is not None and lower is not None and lower > upper:
            message = f"the least effort of servo '{self.name}' is {lower:g}, above its limit "
            raise ModelError(f"{message}{upper:g}.", place=self.place)
        if self.no_load is not None and (self.limit is None or number(self.no_load) == 0):
            message = f"servo '{self.name}' has a speed without load; "
            needs = "it needs a limit of its effort at rest, too."
            positive = "it must be positive."
            raise ModelError(
                message + (needs if self.limit is None else positive), place=self.place
            )

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        u = as_expr(read(self.effort))
        u = u + read(self.stiffness) * (read(self.target) - x)
        u = u + read(self.damping) * (read(self.speed) - rate)
        limit: Any = None if self.limit is None else read(self.limit)
        upper, lower = ([], []) if limit is None else ([limit], [-limit])
        if self.least is not None:
            lower = [read(self.least)]
        if self.no_load is not None:
            slowed = rate / read(self.no_load)
            upper.append(limit * (1 - slowed))
            lower.append(-limit * (1 + slowed))
        for bound in lower:
            u = maximum(u, bound)
        for bound in upper:
            u = minimum(u, bound)
        return u


def _is_nothing(x: Any) -> bool:
    return type(x) in (int, float) and not x


@checked
def servo(
    *where: Any,
    target: Any = 0,
    speed: Any = 0,
    effort: Any = 0,
    stiffness: Any = 0,
    damping: Any = 0,
    limit: Any = None,
    least: Any = None,
    no_load: Any = None,
    name: str = "",
) -> Servo:
    """A motor that follows a position, a speed or an effort, within its limits.

    Args:
        *where: two markers, a joint, or a measure.
        target: position to follow, by its `stiffness`.
        speed: to follow, by its `damping`.
        effort: what is added to both.
        stiffness: effort by length or angle off the target.
        damping: effort by speed off the one to follow.
        limit: greatest effort.
        least: least effort; −limit if not given.
        no_load: speed at which back EMF leaves nothing of the limit.
        name: by default "servo" and what it is on.

    Raises:
        ModelError: neither a gain nor an effort is given, or a target or a speed without its gain.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> arm = liaison.servo(A, target="90 deg", stiffness=10, damping=1, limit="5 N*m")
        >>> liaison.forward_dynamics(liaison.mechanism(A, arm), {"A": 0.0}).round(6)
        array([20.])
    """
    measure, word = between(where)
    values = (target, speed, effort, stiffness, damping, least, limit, no_load)
    for followed, gain in (("target", "stiffness"), ("speed", "damping")):
        x, y = (target, stiffness) if followed == "target" else (speed, damping)
        if _is_nothing(y) and (not _is_nothing(x) or all(map(_is_nothing, values[2:5]))):
            raise ModelError(
                f"a servo on {word!r} has a {followed} and no {gain}, so it never follows it.",
                place=line_here(),
                hint=f"Give its {gain}.",
            )
    return Servo(name or f"servo {word}", measure, *values, place=line_here())
