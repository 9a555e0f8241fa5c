"""The description of a mechanism: bodies, joints, and everything that acts on them.

Whole or not at all: a `Mechanism` checks itself when it is made. Change one with
`dataclasses.replace`.

Public names: Mechanism; and of records.py and markers.py: Body, GROUND, Marker, Joint, Parameter,
Input, Start, Event, Output.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import final

from liaison.errors import NamingError, Place
from liaison.model.contacts.one_sided import OneSided
from liaison.model.loads.load import Force
from liaison.model.relations.relation import Constraint

from .checks import CHECKS
from .checks_formulas import FORMULA_CHECKS
from .markers import Marker
from .records import GROUND, Body, Event, Input, Joint, Output, Parameter, Start
from .wishes import spelled_out

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
@dataclass(frozen=True, slots=True)
class Mechanism:
    """Bodies and what holds them together (mécanisme): the description, never a result.

    Ground comes first; it is added where it was left out. Outputs that events and other outputs
    name are spelled out there.
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
        for check in (*CHECKS, *FORMULA_CHECKS):
            check(self)
        for kind, found in zip(
            ("outputs", "events"), spelled_out(self.outputs, self.events), strict=True
        ):
            object.__setattr__(self, kind, found)

    def body(self, name: str) -> Body:
        """The body of that name."""
        found = {body.name: body for body in self.bodies}
        if name not in found:
            raise NamingError.unknown("body", name, found)
        return found[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        found = {joint.name: joint for joint in self.joints}
        if name not in found:
            raise NamingError.unknown("joint", name, found)
        return found[name]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Labels of all positions, in the order of declaration."""
        return tuple(label for joint in self.joints for label in joint.coordinates)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Labels of all velocities, in the order of declaration."""
        return tuple(label for joint in self.joints for label in joint.speeds)
