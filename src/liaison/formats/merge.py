"""Bodies that fixed joints hold together, made one.

Public names: merged.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from liaison.model import Body, Fixed, Marker, Measure, Mechanism
from liaison.model.shapes import Shape
from liaison.spatial import WORLD, Array, Inertia, Pose, array, compose
from liaison.spatial.plucker import inverse

Placed = tuple[str, Array, Array]  # a body, and the pose of another on it


def merged(mechanism: Mechanism) -> Mechanism:
    """The mechanism without its fixed joints, as far as they hold a body to one before it.

    Fixed joints to the ground stay; each body takes up the bodies fixed to it, their masses,
    shapes and markers; those cease to exist by name.
    """
    carried = _carriers(mechanism)
    held: dict[str, Placed] = {}
    for name in carried:
        held[name] = _held(name, carried)
    bodies = {body.name: body for body in mechanism.bodies}
    for name, (owner, R, p) in held.items():
        bodies[owner] = _with(bodies[owner], bodies[name], R, p)
    gone = {carried[name][3] for name in carried}
    return replace(
        mechanism,
        bodies=tuple(body for name, body in bodies.items() if name not in held),
        joints=tuple(_moved(x, held) for x in mechanism.joints if x.name not in gone),
        forces=tuple(_moved(x, held) for x in mechanism.forces),
        constraints=tuple(_moved(x, held) for x in mechanism.constraints),
        contacts=tuple(_moved(x, held) for x in mechanism.contacts),
    )


def _carriers(mechanism: Mechanism) -> dict[str, tuple[str, Array, Array, str]]:
    """Bodies on fixed joints: the body before, the pose on it, the joint; each carried once."""
    found: dict[str, tuple[str, Array, Array, str]] = {}
    for joint in mechanism.joints:
        F, M = joint.predecessor, joint.successor
        if isinstance(joint.type, Fixed) and F.body != "ground" and M.body not in found:
            R, p = compose(F.rotation, F.position, *inverse(M.rotation, M.position))
            if not _leads_to(F.body, M.body, found):
                found[M.body] = (F.body, R, p, joint.name)
    return found


def _leads_to(name: str, end: str, carried: dict[str, Any]) -> bool:
    while name in carried and name != end:
        name = carried[name][0]
    return name == end


def _held(name: str, carried: dict[str, tuple[str, Array, Array, str]]) -> Placed:
    """The body that holds another in the end, and the pose of that on it."""
    owner, R, p, _ = carried[name]
    while owner in carried:
        owner, S, s, _ = carried[owner]
        R, p = compose(S, s, R, p)
    return owner, R, p


def _with(owner: Body, body: Body, R: Array, p: Array) -> Body:
    """A body that has taken up another at a pose."""
    shapes = owner.shapes + tuple(_moved_shape(shape, R, p) for shape in body.shapes)
    total = _inertia(owner) + _inertia(body).moved(Pose(WORLD, WORLD, R, p))
    rows: Any = tuple(tuple(row) for row in total.rotational)
    return replace(owner, mass=total.mass, com=tuple(total.com), inertia=rows, shapes=shapes)


def _inertia(body: Body) -> Inertia:
    """Mass geometry, a whole number as one that divides exactly."""
    mass = Fraction(body.mass) if isinstance(body.mass, int) else body.mass
    return Inertia(WORLD, mass, array(body.com), array(body.inertia))


def _moved_shape(shape: Any, R: Array, p: Array) -> Shape:
    S, s = compose(R, p, array(shape.R), array(shape.p))
    rows = tuple(tuple(row) for row in S)
    return replace(shape, R=rows, p=tuple(s))  # type: ignore[no-any-return]


def _moved(record: Any, held: dict[str, Placed]) -> Any:
    """A joint or a load with its markers on the bodies that are left."""
    changed = {}
    for key in (field.name for field in fields(record) if field.name != "place"):
        part = getattr(record, key)
        if isinstance(part, Marker) and part.body in held:
            changed[key] = _on_owner(part, held)
        elif isinstance(part, Measure):
            changed[key] = _moved(part, held)
    return replace(record, **changed) if changed else record


def _on_owner(marker: Marker, held: dict[str, Placed]) -> Marker:
    owner, R, p = held[marker.body]
    S, s = compose(R, p, marker.rotation, marker.position)
    rows: Any = tuple(tuple(row) for row in S)
    return replace(marker, body=owner, R=rows, p=tuple(s))
