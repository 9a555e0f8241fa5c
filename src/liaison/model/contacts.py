"""What holds on one side only: unilateral relations, and contacts of bodies.

They are part of the description; deriving refuses them until a method for them is there.

Public names: OneSided, Unilateral, Contact.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.spatial import number

from .markers import Marker
from .scalars import check_name, scalar

CONTACT_KINDS = ("point", "ball", "disc")


class OneSided(ABC):
    """A relation that may be left on one side (liaison unilatérale)."""

    __slots__ = ()

    SCALARS: ClassVar[tuple[str, ...]] = ()

    name: str
    place: Place | None

    def __post_init__(self) -> None:
        word = type(self).__name__.lower()
        check_name(word, self.name, self.place)
        for part in self.SCALARS:
            what = f"the {part} of {word} '{self.name}'"
            object.__setattr__(self, part, scalar(getattr(self, part), what, self.place))

    def markers(self) -> tuple[Marker, ...]:
        """Markers it speaks of."""
        return ()

    def formulas(self) -> tuple[Any, ...]:
        """Its scalars, in which symbols may occur."""
        return tuple(getattr(self, part) for part in self.SCALARS)


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

    def __post_init__(self) -> None:
        OneSided.__post_init__(self)
        if self.kind not in CONTACT_KINDS:
            raise ModelError(
                f"contact '{self.name}' is of a {self.kind!r}; it must be of a "
                f"{', '.join(CONTACT_KINDS[:-1])} or {CONTACT_KINDS[-1]}.",
                place=self.place,
            )
        for part in self.SCALARS:
            value = number(getattr(self, part))
            if value is not None and value < 0:
                raise ModelError(
                    f"the {part} of contact '{self.name}' is {value:g}; it must not be negative.",
                    place=self.place,
                )

    def markers(self) -> tuple[Marker, ...]:
        return (self.first, self.second)
