"""Markers, and the measures taken between them.

Public names: Marker, Measure, Distance, Angle, Coordinate.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.lazy import Brief
from liaison.spatial import Array, Frame, Pose, array, number, rotation_defect

from .scalars import UPRIGHT, Matrix, Triple, matrix, triple

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


@lru_cache(maxsize=1000)
def _defect(R: Matrix) -> float:
    """How far nine numbers are from a rotation, none where they are not all numbers."""
    entries = [number(x) for row in R for x in row]
    return 0.0 if None in entries else rotation_defect(array(entries).reshape(3, 3))
