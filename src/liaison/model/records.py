"""The records a mechanism is made of, each checked alone when it is made.

Vectors are kept as tuples, so that records are equal by value.

Public names: Body, GROUND, Joint, Parameter, Input, Start, Event, Output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from liaison.errors import ModelError, NamingError, Place
from liaison.expr import Expr
from liaison.lazy import Brief
from liaison.spatial import Array, Frame, Inertia, array, inertia_violation, number
from liaison.units import quantity

from .joints import JointType
from .markers import Marker
from .scalars import (
    UPRIGHT,
    Matrix,
    Symbolic,
    Triple,
    check_name,
    matrix,
    scalar,
    symmetric,
    triple,
)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Body(Brief):
    """A rigid body (solide): mass [kg], center [m] and inertia about it [kg·m²], in its axes.

    Example:
        >>> import liaison
        >>> liaison.read("examples/pendulum.lsd").body("bar").name
        'bar'
        >>> liaison.Body("b", mass=2).com
        (0, 0, 0)
    """

    name: str
    mass: Any = 0
    com: Triple = (0, 0, 0)
    inertia: Matrix = ((0, 0, 0), (0, 0, 0), (0, 0, 0))
    shapes: tuple[Any, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_name("body", self.name, self.place)
        whose, place = f"of body '{self.name}'", self.place
        object.__setattr__(self, "mass", scalar(self.mass, f"the mass {whose}", place, "kg"))
        object.__setattr__(self, "com", triple(self.com, f"the center of mass {whose}", place, "m"))
        inertia = symmetric(matrix(self.inertia, f"the inertia {whose}", place, "kg*m^2"))
        if inertia is None:
            raise ModelError(f"the inertia {whose} is not symmetric.", place=place)
        object.__setattr__(self, "inertia", inertia)
        object.__setattr__(self, "shapes", tuple(self.shapes))
        mass = number(self.mass)
        if mass is not None and mass < 0:
            raise ModelError(
                f"the mass {whose} is {mass:g} kg; it must not be negative.", place=place
            )
        if not _has_possible_moments(inertia):
            entries = [number(x) for row in inertia for x in row]
            if None not in entries:
                check_inertia(self.name, mass or 0.0, array(entries).reshape(3, 3), place)

    @property
    def frame(self) -> Frame:
        """The body's own axes."""
        return Frame(self.name)

    @property
    def spatial_inertia(self) -> Inertia:
        """Mass, center and inertia as one quantity in the body's frame."""
        return Inertia(self.frame, self.mass, array(self.com), array(self.inertia))

    def at(self, position: Any = (0, 0, 0), rotation: Any = None, name: str = "") -> Marker:
        """A marker on this body: its place, and its rotation unless it has the body's axes.

        Example:
            >>> import liaison
            >>> liaison.body("rod", mass=1).at((0, 0, -1), name="tip").p
            (0, 0, -1)
        """
        R = UPRIGHT if rotation is None else rotation
        return Marker(self.name, R, position, name, owner=self)


def _has_possible_moments(inertia: Matrix) -> bool:
    """Whether a tensor is surely possible: principal axes, and each moment at most the others."""
    if any(type(x) is Expr for row in inertia for x in row):
        return False
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = inertia
    if xy or xz or yx or yz or zx or zy:
        return False
    return bool(0 <= xx <= yy + zz and 0 <= yy <= xx + zz and 0 <= zz <= xx + yy)


def check_inertia(name: str, mass: float, inertia: Array, place: Place | None) -> None:
    """Rejects an inertia that no distribution of mass has."""
    violation = inertia_violation(mass, inertia)
    if violation:
        raise ModelError(f"the inertia of body '{name}' is impossible: {violation}", place=place)


GROUND = Body("ground")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Joint(Brief):
    """What connects two bodies (liaison): the successor moves with respect to the predecessor.

    `coordinates` names the entries of q: the joint's own name for one, "name.part" for several,
    unless the author chose others.

    Example:
        >>> import liaison
        >>> joint = liaison.read("examples/four_bar.lsd").joint("A")
        >>> joint.predecessor.body, joint.successor.body, joint.coordinates
        ('ground', 'crank', ('A',))
    """

    name: str
    type: JointType
    predecessor: Marker
    successor: Marker
    coordinates: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_name("joint", self.name, self.place)
        parts = self.type.coordinate_names
        named = (self.name,) if len(parts) == 1 else tuple(f"{self.name}.{part}" for part in parts)
        object.__setattr__(self, "coordinates", tuple(self.coordinates) or named)
        for label in self.coordinates if self.coordinates != named else ():
            check_name("coordinate", label, self.place)
        if len(self.coordinates) != self.type.nq:
            raise ModelError(
                f"joint '{self.name}' names {len(self.coordinates)} coordinates, "
                f"{', '.join(self.coordinates)}; a {self.type.name} joint has {self.type.nq}: "
                f"{', '.join(parts) or 'none'}.",
                place=self.place,
            )
        if self.predecessor.body == self.successor.body:
            raise ModelError(
                f"joint '{self.name}' connects body '{self.predecessor.body}' with itself; "
                "it must connect two bodies.",
                place=self.place,
            )

    @property
    def speeds(self) -> tuple[str, ...]:
        """Labels of the entries of v: the rate "A'" of a coordinate, or "A.wx" and the like."""
        if self.type.has_rates:
            return tuple([f"{label}'" for label in self.coordinates])
        rate = dict(zip(self.type.coordinate_names, self.coordinates, strict=True))
        return tuple(
            f"{rate[part]}'" if part in rate else f"{self.name}.{part}" if part else self.name
            for part in self.type.speed_names
        )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Parameter(Symbolic, Brief):
    """A named number that may change without deriving again; `value` None means unknown.

    `written_in` is the unit of the text that it comes from, where that is not SI.
    """

    name: str
    value: Any = None
    unit: str = ""
    low: Any = None
    high: Any = None
    place: Place | None = field(default=None, compare=False, repr=False)
    written_in: str = field(default="", compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        check_name("parameter", self.name, self.place)
        for part in ("value", "low", "high"):
            value = getattr(self, part)
            if value is not None:
                what = f"the {part} of parameter '{self.name}'"
                exact = _constant(value, what, self.place, self.unit)
                object.__setattr__(self, part, exact)
        _check_bounds(self)


def _constant(x: Any, what: str, place: Place | None, unit: str) -> Any:
    """A number, a formula of numbers alone, or a text in a unit that converts to `unit`."""
    exact = scalar(x, what, place, unit)
    if number(exact) is None:
        raise ModelError(
            f"{what} is the formula {exact}; it must be a number. Use the formula itself where "
            "the value is meant: it follows what it is made of.",
            place=place,
        )
    return exact


def _check_bounds(parameter: Parameter) -> None:
    """low ≤ value ≤ high, where they are given and are numbers."""
    low, value, high = (
        None if x is None else number(x) for x in (parameter.low, parameter.value, parameter.high)
    )
    whose = f"parameter '{parameter.name}'"
    if low is not None and high is not None and low > high:
        raise ModelError(
            f"{whose} has bounds {low:g} … {high:g}; the lower must not exceed the upper.",
            place=parameter.place,
        )
    if value is None:
        return
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = f"{'-∞' if low is None else f'{low:g}'} … {'∞' if high is None else f'{high:g}'}"
        raise ModelError(
            f"{whose} is {value:g}; it must be within its bounds {bounds}.", place=parameter.place
        )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Input(Symbolic, Brief):
    """A named quantity that the outside gives at run time; `default` where it gives none."""

    name: str
    unit: str = ""
    default: Any = 0
    place: Place | None = field(default=None, compare=False, repr=False)
    written_in: str = field(default="", compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        check_name("input", self.name, self.place)
        what = f"the default of input '{self.name}'"
        exact = _constant(self.default, what, self.place, self.unit)
        object.__setattr__(self, "default", exact)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Start(Brief):
    """The value that a coordinate "A" or a speed "A'" begins with; others follow by assembling.

    A guess is where assembling begins: it moves as the closures need. A text ("40 deg") becomes a
    number in the mechanism, which knows the unit of the label. `written_in` is the unit of the text
    that it comes from, where that is not SI.
    """

    label: str
    value: Any
    place: Place | None = field(default=None, compare=False, repr=False)
    is_guess: bool = field(default=False, kw_only=True)
    written_in: str = field(default="", compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        what = f"the start of '{self.label}'"
        if isinstance(self.value, str):
            quantity(self.value, what, "40 deg", error=ModelError, place=self.place)
        else:
            object.__setattr__(self, "value", scalar(self.value, what, self.place))

    def with_units(self, units: Mapping[str, str]) -> Start:
        """The same, its value a number in SI.

        Args:
            units: SI units of all coordinates and speeds, by label.
        """
        if self.label not in units:
            raise NamingError.unknown("coordinate or speed", self.label, units, place=self.place)
        what = f"the start of '{self.label}'"
        return replace(self, value=scalar(self.value, what, self.place, units[self.label]))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Event(Brief):
    """A formula whose zeros are looked for: rising (+1), falling (−1) or both (0)."""

    name: str
    formula: Any
    direction: int = 0
    action: str = "record"  # or "stop"
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_name("event", self.name, self.place)
        object.__setattr__(
            self, "formula", scalar(self.formula, f"event '{self.name}'", self.place)
        )
        if type(self.direction) is not int or self.direction not in (-1, 0, 1):
            raise ModelError(
                f"event '{self.name}' has direction {self.direction!r}; it must be 1 (rising), "
                "-1 (falling) or 0 (both); `event` also takes these words.",
                place=self.place,
            )
        if self.action not in ("record", "stop"):
            raise ModelError(
                f"event '{self.name}' has action {self.action!r}; it must be record or stop.",
                place=self.place,
            )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Output(Symbolic, Brief):
    """A formula the author wants to see over time, with its unit; events may name it."""

    name: str
    formula: Any
    unit: str = ""
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_name("output", self.name, self.place)
        object.__setattr__(
            self, "formula", scalar(self.formula, f"output '{self.name}'", self.place)
        )
