"""Base class of loads: keywords, measure, effort and energy.

A load acts in one of four ways, and the class of that way is its base:

    AlongMeasure   an effort along a distance, an angle or a coordinate x:
                   effort = −∂E/∂x − ∂D/∂ẋ where it has an energy E(x) or a dissipation D(ẋ);
    AtMarker       a force and a moment at a marker;
    OfMechanism    a potential V(q, q̇, t) or a dissipation D(q, q̇, t) of the whole mechanism;
    Field          an acceleration that every mass feels.

Efforts are positive where they increase their measure. A load may have states of its own, as the
integral of a controller: ż = f(q, v, z, t), one formula each.

Public names: Force, AlongMeasure, AtMarker, OfMechanism, Field, LOAD_KINDS, load_kind,
states_of, Read.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, TypeVar

from liaison.model.acts import NO_UNITS, Act
from liaison.model.kinds import Kinds
from liaison.model.markers import Marker, Measure
from liaison.model.scalars import Triple
from liaison.units import Label

Read: TypeAlias = Callable[[Any], Any]
"""How a field of a description enters formulas: as it is, as a float, in other symbols."""


class Force(Act):
    """Something that acts on the mechanism and is no constraint."""

    __slots__ = ()

    LSD: ClassVar[str] = ""  # the word behind `apply` with which it is written
    PYTHON: ClassVar[str] = ""  # the function of its module that describes it in Python
    SYMBOL: ClassVar[str] = ""  # of SYMBOLS: how it is drawn
    SCOPE: ClassVar[str] = "anything"  # what its formulas may depend on
    KEEPS_ENERGY: ClassVar[bool] = False  # all that it does is stored in its energy
    STATES: ClassVar[tuple[str, ...]] = ()  # ends of the names of states that it may have
    ON: ClassVar[str] = ""  # the field of what it acts on: "measure", or "coordinate" of a label

    def along(self) -> Measure | None:
        """What it acts along; None where it acts otherwise."""
        return None

    def markers(self) -> tuple[Marker, ...]:
        measure = self.along()
        return () if measure is None else measure.markers()

    def labels(self) -> tuple[str, ...]:
        measure = self.along()
        return () if measure is None else measure.labels()

    def states(self, units: Mapping[str, str] = NO_UNITS) -> tuple[Label, ...]:
        """States of its own, by name and SI unit; formulas of all loads may use these names.

        Args:
            units: SI units of coordinates, by label.
        """
        return ()

    def check_among(self, moving: Collection[str]) -> None:
        """Raises an error for formulas that may not depend on these names, which move."""

    def state_rates(self, x: Any, rate: Any, read: Read) -> tuple[Any, ...]:
        """ż of each of them, as formulas of the measure and its rate; 0 where it has none."""
        return ()


class AlongMeasure(Force):
    """A load that acts along a measure, by its field `measure`, or `coordinate` alone."""

    __slots__ = ()

    ON: ClassVar[str] = "measure"

    measure: Measure

    def along(self) -> Measure:
        return self.measure

    @abstractmethod
    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        """Its effort [N, N·m] at a value and a rate of its measure, as a formula of both."""

    def energy_at(self, x: Any, read: Read) -> Any:
        """What it has stored [J] at a value of its measure; None if nothing."""
        return None

    def dissipation_at(self, rate: Any, read: Read) -> Any:
        """Rayleigh's function [W] at a rate of its measure; None if there is none."""
        return None


class AtMarker(Force):
    """A load that acts at a marker: a force and a moment."""

    __slots__ = ()

    @abstractmethod
    def at(self) -> Marker:
        """Where it acts."""

    @abstractmethod
    def turned_with(self) -> Marker | None:
        """In whose axes its components are; None: in ground's."""

    @abstractmethod
    def wrench(self) -> tuple[Triple, Triple]:
        """Moment [N·m] and force [N] at the marker's origin."""


class OfMechanism(Force):
    """A load given by a function of the state of the whole mechanism."""

    __slots__ = ()

    def potential(self) -> Any:
        """V(q, q̇, t) [J]; None if it has none.

        Its effort on a velocity is d/dt ∂V/∂v − ∂V/∂q, with the commutators of v in between.
        """
        return None

    def rayleigh(self) -> Any:
        """D(q, q̇, t) [W], of which the effort on a speed is −∂D/∂v; None if it has none."""
        return None


class Field(Force):
    """An acceleration [m/s²] that every mass feels, in ground's axes: its field `vector`."""

    __slots__ = ()

    vector: Triple


def states_of(forces: Iterable[Force], units: Mapping[str, str] = NO_UNITS) -> tuple[Label, ...]:
    """The states of all loads, in order.

    Args:
        forces: of a mechanism.
        units: SI units of its coordinates, by label.
    """
    return tuple(label for force in forces for label in force.states(units))


LOAD_KINDS: Kinds[type[Force]] = Kinds("load", ("LSD", "PYTHON"))
"""Every kind of load."""

T = TypeVar("T", bound=type[Force])


def load_kind(kind: T) -> T:
    """Registers a class as a kind of load."""
    LOAD_KINDS.register(kind)
    return kind
