"""The description of a mechanism: bodies, joints, and everything that acts on them.

Whole or not at all: a `Mechanism` checks itself when it is made. Change one with
`dataclasses.replace`.

Outputs named in events and in other outputs, spelled out.

Public names: Mechanism; and of records.py and markers.py: Body, GROUND, Marker, Joint, Parameter,
Input, Start, Event, Output, spelled_out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, final

from liaison.errors import ModelError, NamingError, Place
from liaison.expr import Expr, as_expr, substitute, symbols_of
from liaison.lazy import Shown
from liaison.model.contacts.one_sided import OneSided
from liaison.model.loads.load import Force, states_of
from liaison.model.relations.relation import Constraint
from liaison.units import Label

from .checks import CHECKS, FORMULA_CHECKS, names_used
from .markers import Marker
from .records import GROUND, Body, Event, Input, Joint, Output, Parameter, Start

Wish = TypeVar("Wish", Event, Output)


def spelled_out(
    outputs: Iterable[Output], events: Iterable[Event]
) -> tuple[tuple[Output, ...], tuple[Event, ...]]:
    """The same outputs and events, with its formula wherever the name of an output stands.

    Raises:
        ModelError: outputs that are made of each other.
    """
    by_symbol = {output.symbol: output for output in outputs}
    formulas: dict[Expr, Expr] = {}
    while len(formulas) < len(by_symbol):
        left = {x: output for x, output in by_symbol.items() if x not in formulas}
        ready = [x for x, output in left.items() if not left.keys() & _symbols(output)]
        if not ready:
            raise _circle(left.values())
        formulas |= {x: as_expr(_without(by_symbol[x], formulas).formula) for x in ready}
    return (
        tuple(_without(output, formulas) for output in by_symbol.values()),
        tuple(_without(event, formulas) for event in events),
    )


def in_named_coordinates(m: Mechanism) -> tuple[Joint, ...]:
    """The joints, those in other coordinates of which some are named."""
    if not any(joint.type.OTHER_NAMES for joint in m.joints):
        return m.joints
    used = names_used(m)
    return tuple(_named(joint, used) for joint in m.joints)


def _named(joint: Joint, used: Collection[str]) -> Joint:
    parts = [x for x in joint.type.OTHER_NAMES if f"{joint.name}.{x}" in used]
    if not parts:
        return joint
    return replace(joint, type=joint.type.in_coordinates(parts), coordinates=())


def _symbols(wish: Event | Output) -> set[Expr]:
    return set(symbols_of([wish.formula])) if isinstance(wish.formula, Expr) else set()


def _without(wish: Wish, formulas: Mapping[Expr, Expr]) -> Wish:
    if not formulas.keys() & _symbols(wish):
        return wish
    return replace(wish, formula=substitute([wish.formula], formulas)[0])


def _circle(outputs: Iterable[Output]) -> ModelError:
    first, *others = outputs
    among = f" by way of {', '.join(repr(output.name) for output in others)}" if others else ""
    return ModelError(
        f"output '{first.name}' is made of itself{among}; write it in terms of coordinates, "
        "speeds, inputs and parameters.",
        place=first.place,
    )


def _has_texts(x: Any) -> bool:
    return type(x.value) is str if isinstance(x, Start) else x.has_texts()


__all__ = [
    "GROUND",
    "Body",
    "Event",
    "Input",
    "Joint",
    "Marker",
    "Mechanism",
    "Output",
    "Parameter",
    "Start",
]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Mechanism(Shown):
    """Bodies and what holds them together (mécanisme): the description, never a result.

    Ground comes first; it is added where it was left out. Outputs that events and other outputs
    name are spelled out there.

    Example:
        >>> import liaison
        >>> m = liaison.read("examples/four_bar.lsd")
        >>> m
        <Mechanism four bar: 3 bodies, 4 joints, 1 loop>
        >>> m.coordinates
        ('A', 'B', 'C', 'D')
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    constraints: tuple[Constraint, ...] = ()
    forces: tuple[Force, ...] = ()
    contacts: tuple[OneSided, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    inputs: tuple[Input, ...] = ()
    starts: tuple[Start, ...] = ()
    events: tuple[Event, ...] = ()
    outputs: tuple[Output, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for kind in (part.name for part in fields(self)):
            if kind not in ("name", "place"):
                object.__setattr__(self, kind, tuple(getattr(self, kind)))
        grounds = tuple(body for body in self.bodies if body.name == "ground") or (GROUND,)
        others = tuple(body for body in self.bodies if body.name != "ground")
        object.__setattr__(self, "bodies", grounds + others)
        object.__setattr__(self, "joints", in_named_coordinates(self))
        self._convert_texts()
        for check in (*CHECKS, *FORMULA_CHECKS):
            check(self)
        for kind, records in zip(
            ("outputs", "events"), spelled_out(self.outputs, self.events), strict=True
        ):
            object.__setattr__(self, kind, records)

    def _convert_texts(self) -> None:
        """Texts with units that coordinates decide become numbers: starts, loads, relations."""
        units: dict[str, str] = {}
        for kind in ("forces", "constraints", "contacts", "starts"):
            records: tuple[Any, ...] = getattr(self, kind)
            if not any(map(_has_texts, records)):
                continue
            units = units or self._units()
            converted = (x.with_units(units) if _has_texts(x) else x for x in records)
            object.__setattr__(self, kind, tuple(converted))

    def _units(self) -> dict[str, str]:
        """SI units of coordinates, speeds and states, by label."""
        units: dict[str, str] = {}
        for joint in self.joints:
            units |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
            units |= zip(joint.speeds, joint.type.speed_units, strict=True)
        return units | {x.name: x.unit for x in states_of(self.forces, units)}

    def body(self, name: str) -> Body:
        """The body of that name.

        Example:
            >>> import liaison
            >>> liaison.read("examples/pendulum.lsd").body("bar").name
            'bar'
        """
        by_name = {body.name: body for body in self.bodies}
        if name not in by_name:
            raise NamingError.unknown("body", name, by_name)
        return by_name[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name.

        Example:
            >>> import liaison
            >>> liaison.read("examples/pendulum.lsd").joint("A").type.name
            'Revolute'
        """
        by_name = {joint.name: joint for joint in self.joints}
        if name not in by_name:
            raise NamingError.unknown("joint", name, by_name)
        return by_name[name]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Labels of all positions, in the order of declaration."""
        return tuple(label for joint in self.joints for label in joint.coordinates)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Labels of all velocities, in the order of declaration."""
        speeds = [label for joint in self.joints for label in joint.speeds]
        return (*speeds, *(x.name for x in states_of(self.forces)))

    @property
    def states(self) -> tuple[Label, ...]:
        """States of loads, with their units: they stand behind the velocities of joints in v.

        Example:
            >>> import liaison
            >>> liaison.read("examples/pendulum.lsd").states
            ()
        """
        return states_of(self.forces, self._units()) if states_of(self.forces) else ()
