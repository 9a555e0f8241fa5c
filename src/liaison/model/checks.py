"""Checks of a mechanism, one function a rule; each error names the element that breaks it.

Public names: CHECKS, Described.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from liaison.errors import ModelError, NamingError, Place
from liaison.model.contacts.collisions import collisions, surfaces_of
from liaison.model.contacts.joint_friction import BearingFriction
from liaison.model.contacts.one_sided import OneSided
from liaison.model.loads.gravity import Gravity
from liaison.model.loads.load import Force
from liaison.model.relations.relation import Constraint
from liaison.spatial import is_zero

from .joints import JOINT_TYPES
from .markers import Marker
from .records import Body, Event, Input, Joint, Output, Parameter, Start


class Described(Protocol):
    """The parts of a mechanism that the checks read."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Ground first."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """What connects the bodies."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Relations that are no joint."""

    @property
    def forces(self) -> tuple[Force, ...]:
        """What acts."""

    @property
    def contacts(self) -> tuple[OneSided, ...]:
        """Relations of one side."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Named numbers."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What the outside gives."""

    @property
    def starts(self) -> tuple[Start, ...]:
        """Where it begins."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What is looked for."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is to be seen."""

    @property
    def place(self) -> Place | None:
        """Where the author said it."""


def check_names_differ(m: Described) -> None:
    """Bodies, joints, constraints, forces, events: each kind has its names once."""
    kinds: dict[str, tuple[Any, ...]] = {
        "bodies": m.bodies,
        "joints": m.joints,
        "constraints": (*m.constraints, *m.contacts),
        "forces": m.forces,
        "events": m.events,
    }
    for kind, records in kinds.items():
        _check_once(kind, ((record.name, record.place) for record in records))


def check_labels_differ(m: Described) -> None:
    """Joints with their coordinates and speeds, parameters, inputs and outputs: labels once."""
    labels: list[tuple[str, Place | None]] = []
    for joint in m.joints:
        own = [s for s in joint.speeds if not s.endswith("'")]
        told = (
            joint.coordinates
            if joint.name in joint.coordinates
            else (joint.name, *joint.coordinates)
        )
        labels += [(label, joint.place) for label in (*told, *own)]
    named: tuple[Any, ...] = (*m.parameters, *m.inputs, *m.outputs)
    labels += [(record.name, record.place) for record in named]
    for label, place in labels:
        if label in MEANINGS:
            said = f"the name {label!r} means {MEANINGS[label]}; nothing else can have it."
            raise NamingError(said, place=place)
    _check_once("of joints, coordinates, parameters, inputs and outputs", labels)


MEANINGS = {"t": "the time", "pi": "the number", "earth": "the ground", "ground": "the ground"}


def _check_once(kind: str, named: Iterable[tuple[str, Place | None]]) -> None:
    seen: set[str] = set()
    for name, place in named:
        if name in seen:
            raise NamingError.double(kind, name, place=place)
        seen.add(name)


def check_markers_are_on_known_bodies(m: Described) -> None:
    """Every marker of a joint or a force stands on a body of the mechanism."""
    known = {body.name for body in m.bodies}
    for marker, place in _markers(m):
        if marker.body not in known:
            raise NamingError.unknown("body", marker.body, known, place=marker.place or place)


def _markers(m: Described) -> Iterable[tuple[Marker, Place | None]]:
    for joint in m.joints:
        yield joint.predecessor, joint.place
        yield joint.successor, joint.place
    acting: tuple[Force | Constraint | OneSided, ...] = (*m.forces, *m.constraints, *m.contacts)
    for record in acting:
        for marker in record.markers():
            yield marker, record.place


def check_connected_to_ground(m: Described) -> None:
    """Every body is reached from ground through joints (a Free joint counts)."""
    neighbors: dict[str, set[str]] = {body.name: set() for body in m.bodies}
    for joint in m.joints:
        neighbors[joint.predecessor.body].add(joint.successor.body)
        neighbors[joint.successor.body].add(joint.predecessor.body)
    reached, front = {"ground"}, ["ground"]
    while front:
        for name in neighbors[front.pop()] - reached:
            reached.add(name)
            front.append(name)
    alone = [body for body in m.bodies if body.name not in reached]
    if alone:
        names = ", ".join(f"'{body.name}'" for body in alone[:12]) + (", …" if alone[12:] else "")
        raise ModelError(
            f"{'body' if len(alone) == 1 else 'bodies'} {names} not connected to ground by joints; "
            "join each to another body, or to ground with a Free joint.",
            place=alone[0].place,
        )


def check_coordinates_exist(m: Described) -> None:
    """Forces and constraints name coordinates of joints, and such as have a rate of their own."""
    known = {label for joint in m.joints for label in joint.coordinates}
    rated = {label[:-1] for joint in m.joints for label in joint.speeds if label.endswith("'")}
    records: tuple[Force | Constraint | OneSided, ...] = (*m.forces, *m.constraints, *m.contacts)
    for record in records:
        for label in record.labels():
            if label not in known:
                raise NamingError.unknown("coordinate", label, known, place=record.place)
            if label not in rated:
                raise ModelError(
                    f"'{record.name}' acts on '{label}', which is one of several components of an "
                    "attitude; it must act on a coordinate that moves alone.",
                    place=record.place,
                )


def check_starts(m: Described) -> None:
    """Starts name coordinates or speeds, each once, with values of parameters and numbers."""
    known = {x for joint in m.joints for x in (*joint.coordinates, *joint.speeds)}
    for start in m.starts:
        if start.label not in known:
            raise NamingError.unknown("coordinate or speed", start.label, known, place=start.place)
    _check_once("starts", ((start.label, start.place) for start in m.starts))


def check_bearings(m: Described) -> None:
    """Friction that grows with the load is of a pivot or a ball with a radius, or of a slider."""
    joints = {joint.name: joint for joint in m.joints}
    for one in m.contacts:
        if not isinstance(one, BearingFriction):
            continue
        if one.joint not in joints:
            raise NamingError.unknown("joint", one.joint, joints, place=one.place)
        kind = joints[one.joint].type
        if not kind.BEARING:
            *others, last = (word for word, x in JOINT_TYPES.words.items() if x.BEARING)
            raise ModelError(
                f"friction '{one.name}' grows with the load of joint '{one.joint}', which is "
                f"{kind.name}; it must be {', '.join(others)} or {last}.",
                place=one.place,
            )
        slides = kind.BEARING == "slide"
        if slides != (one.radius is None):
            said = "slides; it has no radius" if slides else "turns; give the radius of its bearing"
            said = f"friction '{one.name}' is in joint '{one.joint}', which {said}."
            raise ModelError(said, place=one.place)


def check_collisions(m: Described) -> None:
    """What collides has shapes that touch, and each pair one law."""
    if collisions(m):
        surfaces_of(m)


def check_ground_is_bare(m: Described) -> None:
    """The ground has shapes at most: it is fixed, so that a mass of it would mean nothing."""
    ground = m.bodies[0]
    if not all(
        is_zero(x) for x in (ground.mass, *ground.com, *(a for r in ground.inertia for a in r))
    ):
        said = "the ground is given a mass or an inertia; it is fixed and has none."
        raise ModelError(said, place=ground.place, hint="Join a body to it by a Fixed joint.")


def check_gravity_is_one(m: Described) -> None:
    """One gravity at most."""
    found = [force for force in m.forces if isinstance(force, Gravity)]
    if len(found) > 1:
        raise ModelError(
            f"gravity is given {len(found)} times; it must be given once.", place=found[1].place
        )


CHECKS: tuple[Callable[[Described], None], ...] = (
    check_names_differ,
    check_labels_differ,
    check_markers_are_on_known_bodies,
    check_connected_to_ground,
    check_coordinates_exist,
    check_bearings,
    check_collisions,
    check_starts,
    check_ground_is_bare,
    check_gravity_is_one,
)
