"""`apply friction … end on JOINT` that holds at rest: by its own bound, or by the joint's load.

Public names: holds, held_friction, FRICTION_KEYS.
"""

from __future__ import annotations

from typing import Any

from liaison.formats.lsd.formulas.formulas import path_of
from liaison.model import BearingFriction, Coordinate, DryFriction, OneSided
from liaison.spatial import is_zero

from .applied import Applied
from .contacts import SMOOTHING, law_told

FRICTION_KEYS = ("viscous", "dry", "smoothing", "static", "coefficient", "radius", *SMOOTHING)
_BEARING = ("coefficient", "static", "radius", *SMOOTHING)


def holds(a: Applied) -> bool:
    """Whether it sticks exactly: where what holds at rest is said, or the smoothing is 0."""
    if any(a.keys.get(key) is not None for key in (*_BEARING, *SMOOTHING)):
        return True
    return a.keys.get("smoothing") is not None and is_zero(_smoothing(a))


def _smoothing(a: Applied) -> Any:
    return a.scalar("smoothing", "rad/s" if a.measure()[1] else "m/s")


def held_friction(a: Applied) -> OneSided:
    """Friction that sticks and slips."""
    if a.keys.get("coefficient") is not None:
        return _bearing(a)
    measure, is_angle = a.measure()
    if not isinstance(measure, Coordinate):
        raise a.refused(f"friction {a.name!r} acts on a coordinate.")
    if a.keys.get("radius") is not None:
        said = f"friction {a.name!r} has a radius, which belongs to a 'coefficient' of the load."
        raise a.refused(said, a.keys.get("radius"))
    if a.keys.get("smoothing") is not None and not is_zero(_smoothing(a)):
        said = f"friction {a.name!r} is smooth, or it holds at rest; leave 'smoothing' out."
        raise a.refused(said, a.keys.get("smoothing"))
    effort, rate = ("N*m", "rad/s") if is_angle else ("N", "m/s")
    units = {"dry": effort, "static": effort, "viscous": "N*m*s/rad" if is_angle else "N*s/m"}
    given = {key: a.scalar(key, unit) for key, unit in units.items() if a.keys.get(key)}
    return DryFriction(a.name, measure.label, **given, **law_told(a, rate), place=a.place)


def _bearing(a: Applied) -> BearingFriction:
    """Friction that grows with the force that a joint transmits."""
    for key in a.keys.nodes:
        if key not in _BEARING:
            said = f"friction {a.name!r} grows with the load; it has no {key!r}."
            raise a.refused(said, a.keys.get(key), hint=f"It takes: {', '.join(_BEARING)}.")
    joint = _joint(a)
    turns = a.keys.get("radius") is not None
    units = {"coefficient": "", "static": "", "radius": "m"}
    given = {key: a.scalar(key, unit) for key, unit in units.items() if a.keys.get(key)}
    law = law_told(a, "rad/s" if turns else "m/s")
    return BearingFriction(a.name, joint, **given, **law, place=a.place)


def _joint(a: Applied) -> str:
    """The joint it is in, by its name or by its coordinate."""
    path = path_of(a.targets[0]) if len(a.targets) == 1 else None
    if path in a.book.joints:
        return str(path)
    measure, _ = a.measure()
    owners = [x.name for x in a.book.joints.values() if set(measure.labels()) & {*x.coordinates}]
    if not owners:
        raise a.refused(f"friction {a.name!r} is in a joint.")
    return owners[0]
