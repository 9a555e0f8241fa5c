"""Base of forces, relations and contacts: a name, formulas, and the things they refer to.

Public names: Act.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from liaison.errors import ModelError, NamingError, Place
from liaison.spatial import number
from liaison.units import quantity

from .kinds import Property
from .markers import Marker
from .scalars import check_name, scalar

NO_UNITS: Mapping[str, str] = MappingProxyType({})
UNKNOWN = "?"
"""For a unit that depends on whether a coordinate is a length or an angle: a mechanism knows."""


class Act(ABC):
    """Something that acts on bodies and is no joint."""

    __slots__ = ()

    WORD: ClassVar[str] = ""  # for it in messages; the name of its class if empty
    SCALARS: ClassVar[tuple[str, ...]] = ()  # fields that hold formulas
    TRIPLES: ClassVar[tuple[str, ...]] = ()  # fields of three scalars each
    OPTIONAL: ClassVar[tuple[str, ...]] = ()  # those that may be None
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ()  # those that must not be negative
    PROPERTIES: ClassVar[tuple[Property, ...]] = ()  # in the order in which they are written
    QUANTITIES: ClassVar[tuple[Property, ...]] = ()  # units of further fields, for texts

    name: str
    place: Place | None

    def __post_init__(self) -> None:
        check_name(self.word(), self.name, self.place)
        for part in self.SCALARS:
            value = getattr(self, part)
            if part in self.OPTIONAL and value is None:
                continue
            what = f"the {part} of {self.word()} '{self.name}'"
            unit = self.unit_of(part) if isinstance(value, str) else None
            if unit == UNKNOWN:
                quantity(value, what, error=ModelError, place=self.place)
                continue
            exact = scalar(value, what, self.place, unit)
            object.__setattr__(self, part, exact)
            size = number(exact) if part in self.NOT_NEGATIVE else None
            if size is not None and size < 0:
                raise ModelError(f"{what} is {size:g}; it must not be negative.", place=self.place)

    def word(self) -> str:
        """What it is called in messages."""
        return self.WORD or type(self).__name__.lower()

    def has_texts(self) -> bool:
        """Whether fields are texts still, whose units depend on coordinates of a mechanism."""
        return any(type(getattr(self, part)) is str for part in self.SCALARS)

    def with_units(self, units: Mapping[str, str]) -> Self:
        """The same with its texts as numbers in SI.

        Args:
            units: SI units of all coordinates, by label.
        """
        for label in self.labels():
            if label not in units:
                known = [x for x in units if not x.endswith("'")]
                raise NamingError.unknown("coordinate", label, known, place=self.place)
        exact = {}
        for part in self.SCALARS:
            if isinstance(text := getattr(self, part), str):
                what = f"the {part} of {self.word()} '{self.name}'"
                exact[part] = scalar(text, what, self.place, self.unit_of(part, units))
        changed: Self = replace(self, **exact)  # type: ignore[type-var]
        return changed

    def unit_of(self, part: str, units: Mapping[str, str] = NO_UNITS) -> str | None:
        """The SI unit of a field; None if it takes no texts, `UNKNOWN` until units are known.

        Args:
            part: the field.
            units: SI units of coordinates, by label.
        """
        known = (x for x in (*self.PROPERTIES, *self.QUANTITIES) if x.name == part)
        one = next(known, None)
        if one is None or one.unit == "any":
            return None
        if "@" in one.unit:
            labels = [getattr(self, name) for name in re.findall(r"@(\w+)", one.unit)]
            if any(label not in units for label in labels):
                return UNKNOWN
            return re.sub(r"@(\w+)", lambda x: units[getattr(self, x[1])] or "rad", one.unit)
        if one.turning is None:
            return one.unit
        along = self._unit_along(units)
        return UNKNOWN if along == UNKNOWN else one.unit_along(along == "rad")

    def _unit_along(self, units: Mapping[str, str]) -> str:
        """The unit of what it acts along: "m", "rad", or `UNKNOWN`."""
        own: str = getattr(getattr(self, "measure", None), "UNIT", "")
        labels = self.labels()
        return own or (units.get(labels[0], UNKNOWN) if labels else UNKNOWN)

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
