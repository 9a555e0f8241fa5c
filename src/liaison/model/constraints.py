"""Relations that are no joint: imposed motion, couplings, and formulas that must vanish.

Public names: Constraint, PrescribedMotion, Coupling, Holonomic, Nonholonomic.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place

from .scalars import check_name, scalar


class Constraint(ABC):
    """A bilateral relation between coordinates, speeds and time."""

    __slots__ = ()

    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)

    name: str
    place: Place | None

    def __post_init__(self) -> None:
        check_name("constraint", self.name, self.place)
        for part in self.SCALARS:
            what = f"the {part} of constraint '{self.name}'"
            object.__setattr__(self, part, scalar(getattr(self, part), what, self.place))

    def labels(self) -> tuple[str, ...]:
        """Coordinates it names."""
        return ()

    def formulas(self) -> tuple[Any, ...]:
        """Its scalars, in which symbols may occur."""
        return tuple(getattr(self, part) for part in self.SCALARS)


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
