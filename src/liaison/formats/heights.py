"""How high the shapes of a robot are over a plane, and starts lifted out of it.

Files made for soft contacts start a little inside what they stand on, since it is by that depth
that springs carry them. Contacts here are hard: a free base that starts so is lifted, and a note
says by how much.

Public names: lowest, extent, lifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

import liaison.model as model
from liaison.formats.urdf.inertias import Placing, moved, placing_of
from liaison.model.values import floats

SHALLOW = 0.05
"""Depth beside the size of a robot up to which it is lifted; deeper is no matter of springs."""

ROUNDING = 1e-9
"""Depth beside that size up to which a shape touches; a run takes it out of the start itself."""

UPRIGHT = 0.5
"""Least rise of a plane's normal; a free base is lifted along z."""


def lowest(feet: Iterable[model.Contact], placing: Placing) -> float:
    """How high the lowest point of all feet is over the base [m]."""
    return min(_bottom(x, moved(*placing.poses[x.first.body], x.first)) for x in feet)


def extent(contact: model.Contact) -> float:
    """The largest size of a shape."""
    if contact.kind == "hull":
        return float(np.ptp(floats(contact.value_of("points").points, {}), axis=0).max())
    sides = floats([*contact.size, 2 * contact.radius + contact.length], {})
    return float(np.max(sides))


def _bottom(contact: model.Contact, pose: tuple[Any, Any]) -> float:
    """The height of a shape's lowest point."""
    (R, p), r, length = pose, float(contact.radius), float(contact.length)
    along = abs(R[2, 2]) * length / 2
    if contact.kind == "hull":
        points = np.array(contact.value_of("points").points, dtype=float)
        return float(p[2] + (points @ R[2]).min())
    if contact.kind == "box":
        return float(p[2] - np.abs(R[2]) @ floats(contact.size, {}) / 2)
    across = r * np.sqrt(max(0.0, 1 - R[2, 2] ** 2)) if contact.kind == "cylinder" else r
    return float(p[2] - along - across)


KINDS = ("ball", "cylinder", "capsule", "box", "hull")


def lifted(
    joints: Iterable[model.Joint],
    contacts: Iterable[Any],
    starts: Iterable[model.Start],
    loops: Iterable[model.Joint] = (),
) -> tuple[list[model.Start], list[str]]:
    """Starts of free bases that are a little inside a plane, out of it; and a note on each.

    Bases that loops hold together are lifted together, and none that they hold to the ground.

    Args:
        joints: of the tree.
        contacts: those with planes on the ground count.
        starts: of coordinates, by label.
        loops: joints that close loops.
    """
    joints, known = list(joints), {x.label: x for x in starts}
    values = _values(joints, known)
    placing = placing_of(joints, values, "ground")
    feet = [x for x in contacts if _is_foot(x) and x.first.body in placing.poses]
    notes = []
    for bases in _held_together(joints, loops, placing):
        own = [x for x in feet if _base_of(x.first.body, placing) in bases]
        rise = max([_rise(x, placing) for x in own], default=0.0)
        size = _size(own, placing) if rise else 0.0
        if not ROUNDING * size < rise <= SHALLOW * size:
            continue
        rise = ceil(rise * 10**9) / 10**9
        for name, base in bases.items():
            label = base.coordinates[2]
            place = known[label].place if label in known else None
            height = Fraction(str(float(values[name][2]))) + Fraction(str(rise))
            known[label] = model.Start(label, height, place)
            notes.append(
                f"{label} starts at {float(height):.9g} m, {1e3 * rise:.3g} mm higher than in the "
                "file, where shapes are inside what they stand on: contacts are hard here"
            )
    return list(known.values()), notes


def _held_together(
    joints: Iterable[model.Joint], loops: Iterable[model.Joint], placing: Placing
) -> list[dict[str, model.Joint]]:
    """Free bases by name, those that loops hold together in one; none that they hold elsewhere."""
    bases = {x.name: x for x in joints if _is_base(x)}
    groups = [{name} for name in bases]
    for loop in loops:
        ends = {_base_of(x.body, placing) for x in (loop.predecessor, loop.successor)}
        met = [x for x in groups if x & ends]
        groups = [x for x in groups if not x & ends] + [ends.union(*met)]
    return [{x: bases[x] for x in bases if x in group} for group in groups if group <= bases.keys()]


def _values(joints: list[model.Joint], known: Mapping[str, model.Start]) -> dict[str, Any]:
    """Coordinates of joints by their names, those of some with several in a list."""
    values: dict[str, Any] = {}
    for joint in joints:
        places = list(floats(joint.type.neutral(), {}))
        for k, label in enumerate(joint.coordinates):
            if label in known:
                places[k] = float(floats(known[label].value, {}))
        values[joint.name] = places[0] if joint.type.nq == 1 else places
    return values


def _is_base(joint: model.Joint) -> bool:
    """Whether a joint is that of a free body, in the axes of the ground."""
    turn = floats(joint.predecessor.R, {})
    is_straight = np.array_equal(np.array(turn, dtype=float), np.eye(3))
    return isinstance(joint.type, model.Free) and joint.predecessor.body == "ground" and is_straight


def _base_of(body: str, placing: Placing) -> str:
    """The joint that carries a body's tree on the ground; "" of the ground itself."""
    name = ""
    while body in placing.before:
        body, joint = placing.before[body]
        name = joint.name
    return name


def _is_foot(contact: Any) -> bool:
    """Whether a shape touches a plane of the ground."""
    if not isinstance(contact, model.Contact) or contact.kind not in KINDS:
        return False
    others = [getattr(contact, x) for x in (*contact.OPTIONAL, "block", "curve")]
    shapes = [word for word, _ in contact.more if word != "points"]
    return contact.second.body == "ground" and not shapes and all(x is None for x in others)


def _rise(contact: model.Contact, placing: Placing) -> float:
    """How far a shape has to be lifted out of its plane [m]; 0 where it is above it."""
    R, p = moved(*placing.poses[contact.first.body], contact.first)
    S, s = moved(np.eye(3), np.zeros(3), contact.second)
    depth = -_bottom(contact, (S.T @ R, S.T @ (p - s)))
    return max(depth, 0.0) / S[2, 2] if S[2, 2] > UPRIGHT else 0.0


def _size(contacts: Iterable[model.Contact], placing: Placing) -> float:
    """The size of a robot, by its shapes and how far they are from each other [m]."""
    listed = list(contacts)
    places = np.array([placing.poses[x.first.body][1] for x in listed], dtype=float)
    return max([extent(x) for x in listed], default=0.0) + float(np.ptp(places, axis=0).max())
