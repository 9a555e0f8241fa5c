"""Markers, and the measures taken between them.

Public names: Marker, Measure, Distance, Angle, Coordinate, Cable.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.lazy import Brief
from liaison.spatial import Array, Frame, Pose, array, number, rotation_defect

from .scalars import UPRIGHT, Matrix, Triple, matrix, scalar, triple

ROTATION_TOLERANCE = 1e-9
"""Largest entry of RᵀR − 1 that double precision and honest rounding of inputs explain."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Marker(Brief):
    """A frame fixed on a body (repère lié): X_BM = (R, p) in the body's axes.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1)
        >>> tip = rod.at((0, 0, -1), name="tip")
        >>> tip.body, tip.p
        ('rod', (0, 0, -1))
    """

    body: str
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    name: str = ""
    place: Place | None = field(default=None, compare=False, repr=False)
    owner: Any = field(default=None, compare=False, repr=False)  # the body, while describing

    def __post_init__(self) -> None:
        whose = (
            f"of marker '{self.name}' on body '{self.body}'"
            if self.name
            else (f"of a marker on body '{self.body}'")
        )
        object.__setattr__(self, "R", matrix(self.R, f"the rotation {whose}", self.place))
        object.__setattr__(self, "p", triple(self.p, f"the position {whose}", self.place, "m"))
        defect = 0.0 if self.R is UPRIGHT else _defect(self.R)
        if defect > ROTATION_TOLERANCE:
            raise ModelError(
                f"the rotation {whose} is no rotation: RᵀR differs from 1 by {defect:.1e}, or it "
                "mirrors; give an axis and an angle, or a matrix to full precision.",
                place=self.place,
            )

    @property
    def rotation(self) -> Array:
        """R as an array."""
        return array(self.R)

    @property
    def position(self) -> Array:
        """p as an array [m]."""
        return array(self.p)

    @property
    def frame(self) -> Frame:
        """The marker's frame, named after body and marker."""
        return Frame(f"{self.body}.{self.name}" if self.name else f"{self.body} marker")

    @property
    def pose(self) -> Pose:
        """X_BM with its frames."""
        return Pose(self.frame, Frame(self.body), self.rotation, self.position)

    def scalars(self) -> tuple[Any, ...]:
        """All entries, in which parameters may occur."""
        return (*(x for row in self.R for x in row), *self.p)


class Measure:
    """A scalar of the mechanism's position along which an effort can act."""

    __slots__ = ()

    UNIT: ClassVar[str] = ""  # its unit; "" where the mechanism decides

    def markers(self) -> tuple[Marker, ...]:
        """Markers it is taken between."""
        return ()

    def labels(self) -> tuple[str, ...]:
        """Coordinates it names."""
        return ()


@final
@dataclass(frozen=True, slots=True)
class Distance(Measure):
    """Distance between the origins of two markers [m]; a positive effort pushes them apart."""

    a: Marker
    b: Marker

    UNIT: ClassVar[str] = "m"

    def markers(self) -> tuple[Marker, ...]:
        return (self.a, self.b)


@final
@dataclass(frozen=True, slots=True)
class Angle(Measure):
    """Angle by which b is turned against a about z of a [rad].

    Turns are counted where a joint between the two bodies turns about that z; elsewhere the angle
    is that of x of b, seen along z of a, in (−π, π].
    """

    a: Marker
    b: Marker

    UNIT: ClassVar[str] = "rad"

    def markers(self) -> tuple[Marker, ...]:
        return (self.a, self.b)


@final
@dataclass(frozen=True, slots=True)
class Coordinate(Measure):
    """A coordinate of a joint, by its label."""

    label: str

    def labels(self) -> tuple[str, ...]:
        return (self.label,)


@final
@dataclass(frozen=True, slots=True)
class Cable(Measure):
    """A length along a cable (câble) [m]: a weighted sum of distances and coordinates.

    A cable through markers is the sum of their distances; on the far side of a pulley a part counts
    with its share; on a drum of radius r an angle counts r times.

    Example:
        >>> import liaison
        >>> from liaison.model import Cable, Coordinate, Distance
        >>> hook = liaison.body("hook", mass=1)
        >>> rope = Distance(liaison.ground.at((0, 0, 1)), hook.at())
        >>> Cable(((2, rope), (0.1, Coordinate("drum")))).labels()
        ('drum',)
    """

    terms: tuple[tuple[Any, Distance | Coordinate], ...]
    offset: Any = 0  # [m]

    UNIT: ClassVar[str] = "m"

    def __post_init__(self) -> None:
        terms = tuple(
            (scalar(factor, "a factor of a cable"), measure) for factor, measure in self.terms
        )
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "offset", scalar(self.offset, "the offset of a cable", None, "m"))
        if not terms:
            raise ModelError("a cable has no part; it needs a distance or a coordinate.")

    def markers(self) -> tuple[Marker, ...]:
        return tuple(x for _, measure in self.terms for x in measure.markers())

    def labels(self) -> tuple[str, ...]:
        return tuple(x for _, measure in self.terms for x in measure.labels())


@lru_cache(maxsize=1000)
def _defect(R: Matrix) -> float:
    """How far nine numbers are from a rotation, none where they are not all numbers."""
    entries = [number(x) for row in R for x in row]
    return 0.0 if None in entries else rotation_defect(array(entries).reshape(3, 3))
