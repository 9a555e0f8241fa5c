"""`position(FRAME)`, `velocity(FRAME)`: where a frame is and how fast, as formulas of coordinates.

The frame is reached from the ground by the fewest joints; where loops give a choice, by joints of
few freedoms and by their names, so that nothing depends on the order of a text.

Public names: PLACES, place_of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from liaison.expr import as_expr, directional, symbol
from liaison.model import Joint, Marker
from liaison.spatial import Array, array, compose, identity, product, zeros

from .values import BodyFrame, Quantity, Unfit, Value, Vector, kind_of

PLACES = ("position", "velocity")
GROUND = "ground"


def place_of(name: str, values: list[Value], joints: Mapping[str, Joint]) -> Vector:
    """The position [m] of a frame's origin in the ground, or in a second frame; or its velocity.

    Raises:
        Unfit: no frame, or one whose body the joints so far do not reach.
    """
    if not values or len(values) > (2 if name == "position" else 1):
        raise Unfit(f"{name} takes a frame: {name}([1, 0, 0] @ crank).")
    for value in values:
        if not isinstance(value, BodyFrame):
            raise Unfit(f"{name} takes a frame on a body, not {kind_of(value)}.")
    path = _joints_to(joints)
    R, p = _pose(values[-1], path)
    if name == "velocity":
        rates = _rates(path.get(values[0].body, []))
        return _vector(directional([as_expr(x) for x in p], rates), (1, 0, -1, 0))
    if len(values) == 2:
        _, q = _pose(values[0], path)
        p = product(array(R.T), q - p)
    return _vector(list(p), (1, 0, 0, 0))


def _vector(entries: list[Any], dimension: tuple[int, int, int, int]) -> Vector:
    return Vector(tuple(Quantity(as_expr(x), dimension) for x in entries))


def _joints_to(joints: Mapping[str, Joint]) -> dict[str, list[Joint]]:
    """Body -> the joints that lead to it from the ground."""
    touching: dict[str, list[tuple[Joint, str]]] = {}
    for joint in sorted(joints.values(), key=lambda joint: (joint.type.nv, joint.name)):
        a, b = joint.predecessor.body, joint.successor.body
        touching.setdefault(a, []).append((joint, b))
        touching.setdefault(b, []).append((joint, a))
    found: dict[str, list[Joint]] = {GROUND: []}
    front = deque([GROUND])
    while front:
        body = front.popleft()
        for joint, far in touching.get(body, ()):
            if far not in found:
                found[far] = [*found[body], joint]
                front.append(far)
    return found


def _pose(frame: BodyFrame, path: Mapping[str, list[Joint]]) -> tuple[Array, Array]:
    """The frame in the ground: joint by joint, then on its body."""
    if frame.body not in path:
        raise Unfit(f"no joints lead from the ground to body {frame.body!r} here.")
    R, p = identity(), zeros(3)
    at = GROUND
    for joint in path[frame.body]:
        forward = joint.predecessor.body == at
        near, far = joint.predecessor, joint.successor
        if not forward:
            near, far = far, near
        across = joint.type.pose(array([symbol(x) for x in joint.coordinates]))
        step = across if forward else _inverse(*across)
        for motion in (_of(near), step, _inverse(*_of(far))):
            R, p = compose(R, p, *motion)
        at = far.body
    return compose(R, p, frame.R, frame.p)


def _of(marker: Marker) -> tuple[Array, Array]:
    return marker.rotation, marker.position


def _inverse(R: Array, p: Array) -> tuple[Array, Array]:
    back = array(R.T)
    return back, product(back, array([-x for x in p]))


def _rates(joints: list[Joint]) -> dict[Any, Any]:
    """Rate of every coordinate of some joints, q̇ = N v."""
    found: dict[Any, Any] = {}
    for joint in joints:
        q = array([symbol(x) for x in joint.coordinates])
        v = array([symbol(x) for x in joint.speeds])
        if len(q):
            rates = product(joint.type.kinematic_map(q), v)
            found.update(zip(q, (as_expr(x) for x in rates), strict=True))
    return found
