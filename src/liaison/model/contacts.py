"""What holds on one side only: unilateral relations, and contacts of bodies.

They are part of the description; deriving refuses them until a method for them is there.

Public names: OneSided, Unilateral, Contact.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place

from .acts import Act
from .markers import Marker

CONTACT_KINDS = ("point", "ball", "disc")


class OneSided(Act):
    """A relation that may be left on one side (liaison unilatérale)."""

    __slots__ = ()


@final
@dataclass(frozen=True, slots=True)
class Unilateral(OneSided):
    """A formula that never becomes positive: Φ(q, t) ≤ 0, or W(q, t) q̇ + h(q, t) ≤ 0."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)


@final
@dataclass(frozen=True, slots=True)
class Contact(OneSided):
    """A point, a ball or a disc that stays above a plane, with friction and restitution.

    The origin of `first` is the point or the center, its z the axis of a disc; z of `second` is
    the normal of the plane.
    """

    name: str
    first: Marker
    second: Marker
    kind: str = "point"
    radius: Any = 0  # [m]
    friction: Any = 0  # Coulomb's coefficient
    restitution: Any = 0  # Newton's coefficient
    place: Place | None = field(default=None, compare=False, repr=False)

    SCALARS: ClassVar[tuple[str, ...]] = ("radius", "friction", "restitution")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = SCALARS

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        if self.kind not in CONTACT_KINDS:
            raise ModelError(
                f"contact '{self.name}' is of a {self.kind!r}; it must be of a "
                f"{', '.join(CONTACT_KINDS[:-1])} or {CONTACT_KINDS[-1]}.",
                place=self.place,
            )
        if self.first.body == self.second.body:
            said = f"contact '{self.name}' is of body '{self.first.body}' with itself."
            raise ModelError(said, place=self.place)
        if self.kind == "point" and self.radius != 0:
            said = f"contact '{self.name}' is of a point, which has no radius; make it a ball."
            raise ModelError(said, place=self.place)
        if isinstance(self.restitution, int | float | Fraction) and self.restitution > 1:
            raise ModelError(
                f"the restitution of contact '{self.name}' is {float(self.restitution):g}; above 1 "
                "an impact would give energy.",
                place=self.place,
            )

    def markers(self) -> tuple[Marker, ...]:
        return (self.first, self.second)
