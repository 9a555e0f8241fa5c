"""Scenes from a description: free bodies whose spheres and boxes touch each other and planes.

Public names: collide.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.corridor import Given, mechanism_of, with_values
from liaison.errors import ModelError
from liaison.expr import collector_paused
from liaison.model import Body, Box, Free, Mechanism, Quaternion, Sphere
from liaison.model.forces import Gravity
from liaison.scenes import Bodies, Scene
from liaison.spatial.rotations import quaternion_of, rotation_quaternion
from liaison.tree import Node, assemble, span

Array = NDArray[np.float64]
GROUND = ((0.0, 0.0, 1.0, 0.0),)


def collide(
    given: Given,
    *,
    planes: Sequence[Sequence[float]] = GROUND,
    friction: float = 0.0,
    restitution: float = 0.0,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Scene:
    """A scene of free bodies: their spheres touch each other, spheres and corners of boxes planes.

    Contacts are found while it runs, so that there may be thousands of pairs; a few of them between
    bodies with joints are better written in the mechanism, with `contact`.

    Args:
        given: a mechanism, or the path of its text, each of whose bodies joins the ground by a
            `free` joint and has a sphere or a box for its shape; gravity is all that acts.
        planes: (nx, ny, nz, d) of each, with n·x ≥ d allowed [m]; the ground z ≥ 0 if not given.
        friction: Coulomb's coefficient of all contacts.
        restitution: e of all impacts, 0 to 1.
        start: positions and rates to begin with, by label, instead of the mechanism's own.
        parameters: values by name, in SI.

    Returns:
        The scene; `scene.simulate(until, step=…)` lets it move.

    Raises:
        ModelError: something in the mechanism that a scene has no place for, by its name.
    """
    mechanism = with_values(mechanism_of(given), parameters or {})
    gravity = _gravity(mechanism)
    with collector_paused():
        tree = span(mechanism)
        state = assemble(tree, None, **(start or {}))
    for closure in tree.closures:
        raise _no_place(f"joint '{closure.joint.name}' closes a loop", closure.joint.place)
    parts = [(node, mechanism.body(node.body)) for node in tree.nodes]
    rows = [_placed(node, body, state.q[node.q], state.v[node.v]) for node, body in parts]
    balls = [_balls(node, body) for node, body in parts]
    bodies = Bodies(
        names=tuple(node.body for node in tree.nodes),
        mass=np.array([float(body.mass) for _, body in parts]),
        inertia=np.array([_inertia(node, body) for node, body in parts]).reshape(-1, 3, 3),
        pose=np.array([pose for pose, _ in rows]).reshape(-1, 7),
        speed=np.array([speed for _, speed in rows]).reshape(-1, 6),
        owner=np.repeat(np.arange(len(balls)), [len(x) for x in balls]),
        ball=np.concatenate([*balls, np.zeros((0, 4))]),
        frame=np.array([_frame(node, body) for node, body in parts]).reshape(-1, 3, 4),
    )
    return Scene(bodies, planes, friction=friction, restitution=restitution, gravity=gravity)


def _gravity(mechanism: Mechanism) -> Array:
    """The acceleration of gravity; refuses what a scene has no place for."""
    for kind in ("constraints", "contacts", "inputs", "events"):
        for part in getattr(mechanism, kind):
            raise _no_place(f"'{part.name}' is one of its {kind}", part.place)
    found = np.zeros(3)
    for force in mechanism.forces:
        if not isinstance(force, Gravity):
            raise _no_place(f"force '{force.name}' acts on it", force.place)
        found += _floats(force.acceleration)
    return found


def _no_place(why: str, place: Any) -> ModelError:
    return ModelError(
        f"this mechanism is no scene of free bodies: {why}.",
        place=place,
        hint="Write its contacts in the mechanism, with 'contact', and take method='moreau'.",
    )


def _placed(node: Node, body: Body, q: Array, v: Array) -> tuple[Array, Array]:
    """Pose of the center of mass and velocities in the axes of the ground."""
    kind = node.joint.type
    if not isinstance(kind, Free) or not isinstance(kind.attitude, Quaternion) or node.parent >= 0:
        said = f"joint '{node.joint.name}' is not free, with a quaternion, on the ground"
        raise _no_place(said, node.joint.place)
    if not (float(body.mass) > 0 and np.linalg.det(_floats(body.inertia)) > 0):
        raise _no_place(f"body '{body.name}' has no mass, or no inertia about an axis", body.place)
    R0, p0 = (_floats(x) for x in node.X_PJ)
    R = R0 @ _floats(rotation_quaternion(q[3:]))
    center = R @ _center(node, body)
    omega, velocity = R @ v[:3], R @ v[3:]
    place = p0 + R0 @ q[:3] + center
    pose = np.concatenate([place, _floats(quaternion_of(R))])
    return pose, np.concatenate([omega, velocity + np.cross(omega, center)])


def _center(node: Node, body: Body) -> Array:
    """The center of mass in the axes of the joint."""
    R, p = (_floats(x) for x in node.X_NB)
    return p + R @ _floats(body.com)


def _inertia(node: Node, body: Body) -> Array:
    """The inertia about the center of mass, in the axes of the joint."""
    R = _floats(node.X_NB[0])
    return R @ _floats(body.inertia) @ R.T


def _frame(node: Node, body: Body) -> Array:
    """[R | p] of the body's own frame, from its center of mass."""
    R, p = (_floats(x) for x in node.X_NB)
    return np.column_stack([R, p - _center(node, body)])


def _balls(node: Node, body: Body) -> Array:
    """Centers and radii of what touches: spheres, and corners of boxes with radius 0."""
    R, p = (_floats(x) for x in node.X_NB)
    found = []
    for shape in body.shapes:
        turn, place = _floats(shape.R), _floats(shape.p)
        if isinstance(shape, Sphere):
            found.append((place, float(shape.radius)))
        elif isinstance(shape, Box):
            half = np.array([float(shape.x), float(shape.y), float(shape.z)]) / 2
            signs = itertools.product((-1, 1), repeat=3)
            found += [(place + turn @ (half * np.array(s)), 0.0) for s in signs]
    if not found:
        raise _no_place(f"body '{body.name}' has neither a sphere nor a box", body.place)
    com = _center(node, body)
    return np.array([[*(p + R @ center - com), radius] for center, radius in found])


def _floats(x: Any) -> Array:
    entries = np.asarray(x)
    return np.array([float(y) for y in entries.ravel()]).reshape(entries.shape)
