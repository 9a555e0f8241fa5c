"""Mechanisms with their markers elsewhere: bodies held together made one, parts renamed.

Public names: merged, renamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from liaison.formats.lsd.meaning.shapes import moved_shape
from liaison.model import Body, Collision, Fixed, Marker, Measure, Mechanism
from liaison.spatial import WORLD, Array, Inertia, Pose, array, compose
from liaison.spatial.plucker import inverse

from .poses import rows_of

Placed = tuple[str, Array, Array]  # a body, and the pose of another on it


def merged(mechanism: Mechanism) -> Mechanism:
    """The mechanism without its fixed joints, as far as they hold a body to one before it.

    Fixed joints to the ground stay; each body takes up the bodies fixed to it, their masses,
    shapes and markers; those cease to exist by name.
    """
    carried = _carriers(mechanism)
    placed: dict[str, Placed] = {}
    for name in carried:
        placed[name] = _placement(name, carried)
    bodies = {body.name: body for body in mechanism.bodies}
    for name, (owner, R, p) in placed.items():
        bodies[owner] = _with(bodies[owner], bodies[name], R, p)
    gone = {carried[name][3] for name in carried}
    return replace(
        mechanism,
        bodies=tuple(body for name, body in bodies.items() if name not in placed),
        joints=tuple(_moved(x, placed) for x in mechanism.joints if x.name not in gone),
        forces=tuple(_moved(x, placed) for x in mechanism.forces),
        constraints=tuple(_moved(x, placed) for x in mechanism.constraints),
        contacts=tuple(_moved(x, placed) for x in mechanism.contacts),
    )


def _carriers(mechanism: Mechanism) -> dict[str, tuple[str, Array, Array, str]]:
    """Bodies on fixed joints: the body before, the pose on it, the joint; each carried once."""
    carriers: dict[str, tuple[str, Array, Array, str]] = {}
    for joint in mechanism.joints:
        F, M = joint.predecessor, joint.successor
        if isinstance(joint.type, Fixed) and F.body != "ground" and M.body not in carriers:
            R, p = compose(F.rotation, F.position, *inverse(M.rotation, M.position))
            if not _leads_to(F.body, M.body, carriers):
                carriers[M.body] = (F.body, R, p, joint.name)
    return carriers


def _leads_to(name: str, end: str, carried: dict[str, Any]) -> bool:
    while name in carried and name != end:
        name = carried[name][0]
    return name == end


def _placement(name: str, carried: dict[str, tuple[str, Array, Array, str]]) -> Placed:
    """The body that holds another in the end, and the pose of that on it."""
    owner, R, p, _ = carried[name]
    while owner in carried:
        owner, S, s, _ = carried[owner]
        R, p = compose(S, s, R, p)
    return owner, R, p


def _with(owner: Body, body: Body, R: Array, p: Array) -> Body:
    """A body that has taken up another at a pose."""
    shapes = owner.shapes + tuple(moved_shape(shape, R, p) for shape in body.shapes)
    total = _inertia(owner) + _inertia(body).moved(Pose(WORLD, WORLD, R, p))
    inertia, com = rows_of(total.rotational), tuple(total.com)
    return replace(owner, mass=total.mass, com=com, inertia=inertia, shapes=shapes)


def _inertia(body: Body) -> Inertia:
    """Mass geometry, a whole number as one that divides exactly."""
    mass = Fraction(body.mass) if isinstance(body.mass, int) else body.mass
    return Inertia(WORLD, mass, array(body.com), array(body.inertia))


def _moved(record: Any, placed: dict[str, Placed]) -> Any:
    """A joint or a load with its markers on the bodies that are left."""
    if isinstance(record, Collision):
        return record.on({name: owner for name, (owner, _, _) in placed.items()})
    return with_markers(record, lambda x: _on(x, placed[x.body]) if x.body in placed else x)


def _on(marker: Marker, placed: Placed) -> Marker:
    owner, R, p = placed
    S, s = compose(R, p, marker.rotation, marker.position)
    return replace(marker, body=owner, R=rows_of(S), p=tuple(s))


def with_markers(record: Any, change: Callable[[Marker], Marker]) -> Any:
    """A record with each of its markers changed, also those of what it measures."""
    changed: dict[str, Any] = {}
    for field in fields(record):
        part = getattr(record, field.name) if field.init and field.name != "place" else None
        if isinstance(part, Marker):
            changed[field.name] = change(part)
        elif isinstance(part, Measure):
            changed[field.name] = with_markers(part, change)
    return replace(record, **changed) if changed else record


RENAMED = ("bodies", "constraints", "forces", "contacts", "events")


def renamed(names: Mapping[str, str], mechanism: Mechanism) -> Mechanism:
    """The mechanism with other names for some of its parts, those of `RENAMED`.

    Coordinates and parameters are labels, which are unique, and go by the name they have.
    """
    if not names:
        return mechanism
    bodies = {b.name: names[b.name] for b in mechanism.bodies if b.name in names}

    def moved(record: Any) -> Any:
        named = replace(record, name=names.get(record.name, record.name))
        if isinstance(named, Collision):
            return named.on(bodies)
        return with_markers(named, lambda x: replace(x, body=bodies.get(x.body, x.body)))

    parts: dict[str, Any] = {kind: tuple(map(moved, getattr(mechanism, kind))) for kind in RENAMED}
    joints = (replace(moved(x), name=x.name) for x in mechanism.joints)
    return replace(mechanism, joints=tuple(joints), **parts)
