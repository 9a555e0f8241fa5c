"""Base of forces, relations and contacts: a name, formulas, and the things they refer to.

Public names: Act.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

from liaison.errors import ModelError, Place
from liaison.spatial import number

from .markers import Marker
from .scalars import check_name, scalar


class Act(ABC):
    """Something that acts on bodies and is no joint."""

    __slots__ = ()

    WORD: ClassVar[str] = ""  # for it in messages; the name of its class if empty
    SCALARS: ClassVar[tuple[str, ...]] = ()  # fields that hold formulas
    TRIPLES: ClassVar[tuple[str, ...]] = ()  # fields of three scalars each
    OPTIONAL: ClassVar[tuple[str, ...]] = ()  # those that may be None
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ()  # those that must not be negative

    name: str
    place: Place | None

    def __post_init__(self) -> None:
        word = self.WORD or type(self).__name__.lower()
        check_name(word, self.name, self.place)
        for part in self.SCALARS:
            if part in self.OPTIONAL and getattr(self, part) is None:
                continue
            what = f"the {part} of {word} '{self.name}'"
            exact = scalar(getattr(self, part), what, self.place)
            object.__setattr__(self, part, exact)
            value = number(exact) if part in self.NOT_NEGATIVE else None
            if value is not None and value < 0:
                raise ModelError(f"{what} is {value:g}; it must not be negative.", place=self.place)

    def markers(self) -> tuple[Marker, ...]:
        """Markers it refers to."""
        return ()

    def labels(self) -> tuple[str, ...]:
        """Coordinates it names."""
        return ()

    def formulas(self) -> tuple[Any, ...]:
        """Its scalars, in which symbols may occur."""
        fields = (getattr(self, part) for part in self.SCALARS)
        return tuple(x for x in fields if x is not None)
