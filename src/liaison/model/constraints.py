"""Relations that are no joint: imposed motion, couplings, rolling, formulas that must vanish.

Public names: Constraint, PrescribedMotion, Coupling, Holonomic, Nonholonomic, Rolling.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.spatial import number

from .acts import Act
from .markers import Marker


class Constraint(Act):
    """A bilateral relation between coordinates, speeds and time."""

    __slots__ = ()

    WORD: ClassVar[str] = "constraint"
    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)
    ROWS: ClassVar[int] = 1  # scalar relations it is made of


@final
@dataclass(frozen=True, slots=True)
class PrescribedMotion(Constraint):
    """A coordinate that follows a law of time (liaison rhéonome): coordinate = law(t)."""

    name: str
    coordinate: str
    law: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("law",)

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)


@final
@dataclass(frozen=True, slots=True)
class Coupling(Constraint):
    """Two coordinates tied (engrenage, courroie): coordinate = ratio · other + offset."""

    name: str
    coordinate: str
    ratio: Any
    other: str
    offset: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("ratio", "offset")

    def __post_init__(self) -> None:
        Constraint.__post_init__(self)
        if self.coordinate == self.other:
            raise ModelError(
                f"coupling '{self.name}' ties '{self.coordinate}' to itself; it must tie two.",
                place=self.place,
            )

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate, self.other)


@final
@dataclass(frozen=True, slots=True)
class Holonomic(Constraint):
    """A formula Φ(q, t) that stays zero."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Nonholonomic(Constraint):
    """A formula A(q, t) q̇ + b(q, t), linear in the rates, that stays zero."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Rolling(Constraint):
    """A wheel or a ball that rolls on a plane and does not slip (roulement sans glissement).

    The origin of `wheel` is its center, z of a disc its axis; z of `plane` is the plane's normal,
    on the side where the wheel is. It touches, and the point of it that touches does not slip: one
    relation of positions, two of velocities.
    """

    name: str
    wheel: Marker
    radius: Any  # [m]
    plane: Marker
    kind: str = "disc"  # with a sharp edge, or "ball"
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("radius",)
    ROWS: ClassVar[int] = 3

    def __post_init__(self) -> None:
        Constraint.__post_init__(self)
        radius = number(self.radius)
        if radius is not None and not radius > 0:
            raise ModelError(
                f"the radius of rolling '{self.name}' is {radius:g} m; it must be positive.",
                place=self.place,
            )
        if self.kind not in ("disc", "ball"):
            raise ModelError(
                f"rolling '{self.name}' is of a {self.kind!r}; it must be of a disc or a ball.",
                place=self.place,
            )
        if self.wheel.body == self.plane.body:
            raise ModelError(
                f"rolling '{self.name}' is of body '{self.wheel.body}' on itself.", place=self.place
            )

    def markers(self) -> tuple[Marker, ...]:
        return (self.wheel, self.plane)
