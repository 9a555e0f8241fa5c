"""Base class of relations: keywords, what they constrain, and the residual.

A relation is one of two:

    OfCoordinates   a formula of coordinates and time that stays zero, or one of rates;
    BetweenFrames   rows of the relative pose (R, p) and velocity of two markers.

Public names: Constraint, OfCoordinates, BetweenFrames, PoseRow, RELATION_KINDS,
relation_kind, Read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from liaison.expr import Expr
from liaison.model.acts import Act
from liaison.model.kinds import Kinds
from liaison.model.markers import Marker
from liaison.spatial import Array
from liaison.units import FORCE

Read: TypeAlias = Callable[[Any], Any]
"""How a field of a description enters formulas: as it is, as a float, as a value."""


class Constraint(Act):
    """A bilateral relation between coordinates, speeds and time."""

    __slots__ = ()

    WORD: ClassVar[str] = "constraint"
    LSD: ClassVar[str] = ""  # the statement, or the word behind `couple … and … with`
    PYTHON: ClassVar[str] = ""  # the function of its module that describes it in Python
    SYMBOL: ClassVar[str] = ""  # of SYMBOLS: how it is drawn
    SIDES: ClassVar[tuple[str, ...]] = ()  # fields of the two sides of `couple`; () of no `couple`
    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)
    SCOPE: ClassVar[str] = "parameters"  # what its formulas may depend on
    ROWS: ClassVar[int] = 1  # scalar relations it is made of
    KEEPS_ENERGY: ClassVar[bool] = False  # does no work where its formulas do not depend on time


class OfCoordinates(Constraint):
    """A relation that is one formula of coordinates, time and, if it holds them, rates."""

    __slots__ = ()

    OF_SPEEDS: ClassVar[bool] = False  # holds rates and no position

    @abstractmethod
    def vanishing(self) -> Expr:
        """What has to vanish, as a formula of coordinates, rates and time."""

    def tangent(self) -> Expr:
        """The same up to what depends on time alone: what mobility depends on."""
        return self.vanishing()

    def holds(self) -> str:
        """The coordinate along which its multiplier is an effort; "" if it is of none alone."""
        return ""

    def implied(self, known: Mapping[str, Any], value: Read) -> dict[str, Any]:
        """Coordinates that follow from known ones, by label.

        Args:
            known: values of coordinates by label.
            value: the value of a formula of time and parameters.
        """
        return {}


class PoseRow(NamedTuple):
    """One scalar row between two frames, in the axes of the first.

    Either `value`, a formula of (R, p) that stays zero, or the rate turn · ω + slide · ṗ.
    """

    name: str
    value: Expr | None = None
    turn: tuple[Expr, ...] = ()
    slide: tuple[Expr, ...] = ()
    unit: str = FORCE  # of its multiplier


class BetweenFrames(Constraint):
    """A relation between the poses of two markers: M seen from F, in F's axes."""

    __slots__ = ()

    COMPONENTS: ClassVar[tuple[str, str, str]]  # rows whose multipliers are the force along x, y, z

    @abstractmethod
    def frames(self) -> tuple[Marker, Marker]:
        """F and M."""

    @abstractmethod
    def rows(self, R: Array, p: Array, read: Read) -> Sequence[PoseRow]:
        """Its rows, as formulas of the pose of M in F."""

    @abstractmethod
    def arm(self, R: Array, read: Read) -> Array:
        """From the origin of M to the point at which its force acts, in F's axes [m]."""


RELATION_KINDS: Kinds[type[Constraint]] = Kinds("relation", ("LSD", "PYTHON"), unique="PYTHON")
"""Every kind of relation."""

T = TypeVar("T", bound=type[Constraint])


def relation_kind(kind: T) -> T:
    """Registers a class as a kind of relation."""
    RELATION_KINDS.register(kind)
    return kind
