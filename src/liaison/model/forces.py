"""What acts on the mechanism. Efforts are positive where they increase their measure.

Each record says what it touches: markers, labels of coordinates, formulas. What work it does is
worked out in `equations`.

Public names: Force, Gravity, Spring, Damper, Actuator, Law, PointWrench, Potential, Dissipation,
JointFriction; and of markers.py: Measure, Distance, Angle, Coordinate.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.spatial import Array, array, number

from .acts import Act
from .markers import Angle, Coordinate, Distance, Marker, Measure
from .scalars import Triple, check_name, triple

__all__ = [
    "Actuator",
    "Angle",
    "Coordinate",
    "Damper",
    "Dissipation",
    "Distance",
    "Force",
    "Gravity",
    "JointFriction",
    "Law",
    "Measure",
    "PointWrench",
    "Potential",
    "Spring",
]


class Force(Act):
    """Something that acts on the mechanism and is no constraint."""

    __slots__ = ()

    def markers(self) -> tuple[Marker, ...]:
        return self._measure().markers() if self._measure() else ()

    def labels(self) -> tuple[str, ...]:
        return self._measure().labels() if self._measure() else ()

    def _measure(self) -> Any:
        return getattr(self, "measure", None)


@final
@dataclass(frozen=True, slots=True)
class Gravity(Force):
    """Uniform gravity [m/s²], in ground's axes."""

    vector: Triple = (0, 0, Fraction(-981, 100))
    name: str = "gravity"
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "vector", triple(self.vector, "gravity", self.place))

    def formulas(self) -> tuple[Any, ...]:
        return self.vector

    @property
    def acceleration(self) -> Array:
        """The vector as an array."""
        return array(self.vector)


@final
@dataclass(frozen=True, slots=True)
class Spring(Force):
    """Linear spring (ressort): effort = −stiffness (measure − rest)."""

    name: str
    measure: Measure
    stiffness: Any  # [N/m] or [N·m/rad]
    rest: Any = 0  # [m] or [rad]
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("stiffness", "rest")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("stiffness",)


@final
@dataclass(frozen=True, slots=True)
class Damper(Force):
    """Linear damper (amortisseur): effort = −coefficient · rate of the measure."""

    name: str
    measure: Measure
    coefficient: Any  # [N·s/m] or [N·m·s/rad]
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("coefficient",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("coefficient",)


@final
@dataclass(frozen=True, slots=True)
class Actuator(Force):
    """Motor or jack (moteur, vérin): an effort along a measure [N or N·m], often an input."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)


@final
@dataclass(frozen=True, slots=True)
class Law(Force):
    """An effort along a measure given by any formula [N or N·m]."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)


@final
@dataclass(frozen=True, slots=True)
class PointWrench(Force):
    """A force and a moment on a body at a marker's origin, in the axes of another marker.

    `axes` None means ground's axes; the body's own marker makes a follower force.
    """

    name: str
    marker: Marker
    force: Triple = (0, 0, 0)  # [N]
    moment: Triple = (0, 0, 0)  # [N·m]
    axes: Marker | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_name("wrench", self.name, self.place)
        for part in ("force", "moment"):
            what = f"the {part} of wrench '{self.name}'"
            object.__setattr__(self, part, triple(getattr(self, part), what, self.place))

    def markers(self) -> tuple[Marker, ...]:
        return (self.marker,) if self.axes is None else (self.marker, self.axes)

    def formulas(self) -> tuple[Any, ...]:
        return self.force + self.moment


@final
@dataclass(frozen=True, slots=True)
class Potential(Force):
    """Forces from a potential V(q, q̇, t) [J], given as a formula."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)


@final
@dataclass(frozen=True, slots=True)
class Dissipation(Force):
    """Rayleigh's function D(q, q̇, t) [W]: the effort on a speed is −∂D/∂v."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)


@final
@dataclass(frozen=True, slots=True)
class JointFriction(Force):
    """Friction against the rate of a coordinate: viscous, and dry (frottement sec) smoothed.

    effort = −viscous v − dry v/√(v² + smoothing²): below the smoothing speed the joint creeps.
    """

    name: str
    coordinate: str
    viscous: Any = 0  # [N·s/m] or [N·m·s/rad]
    dry: Any = 0  # [N] or [N·m]
    smoothing: Any = Fraction(1, 1000)  # [m/s] or [rad/s]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "friction"
    SCALARS: ClassVar[tuple[str, ...]] = ("viscous", "dry", "smoothing")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("viscous", "dry", "smoothing")

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        if number(self.smoothing) == 0:
            raise ModelError(
                f"the smoothing of friction '{self.name}' is 0; it must be a positive speed.",
                place=self.place,
            )

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)
