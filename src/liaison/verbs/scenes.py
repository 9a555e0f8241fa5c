"""Scenes from a description: free bodies whose spheres and boxes touch each other and planes.

Public names: placed_scene, placed_on, Placed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.contacts.scene import Bodies, Laws, Scene
from liaison.errors import ModelError
from liaison.expr import Expr, as_expr, collector_paused, evaluate, symbol, symbols_of
from liaison.model import Body, Box, Collision, Marker, Mechanism, Sphere
from liaison.model.contacts.collisions import Surfaces, collisions, plane_names, surfaces_of
from liaison.model.loads.load import Field
from liaison.model.pairing import obstacle
from liaison.numeric import Array
from liaison.spatial.rotations import quaternion_of, rotation_quaternion
from liaison.tree import Node, Tree, assemble, span


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """A scene, and what leads back from its centers of mass to the mechanism's coordinates.

    Attributes:
        mechanism: that it was made of.
        tree: of it.
        scene: ready to move.
        values: of the parameters, by symbol.
        known: the same by name.
        base: (R, p) of the frame on the ground that each free joint starts from.
        turn: quaternion of that R.
        center: of mass of each body, in the axes of its joint.
    """

    mechanism: Mechanism
    tree: Tree
    scene: Scene
    values: dict[Expr, float]
    known: dict[str, float]
    base: list[tuple[Array, Array]]
    turn: list[Array]
    center: list[Array]


def placed_scene(mechanism: Mechanism, start: Mapping[str, float]) -> Placed:
    """The scene of a mechanism with `collide`.

    Raises:
        ModelError: something in it that a scene has no place for, by its name.
    """
    found = surfaces_of(mechanism)
    values = _Values(mechanism)
    planes = plane_names(found)
    table = [values.plane(x) for x in planes]
    return placed_on(mechanism, start, table, lambda *_: _laws(mechanism, found, values))


def _laws(mechanism: Mechanism, found: Surfaces, values: _Values) -> Laws:
    """Classes of surfaces with their laws; what is named nowhere has a class that touches none."""
    listed = collisions(mechanism)
    count = len(found.members)
    table = np.full((count + 1, count + 1), -1)
    for (a, b), law in found.laws.items():
        table[a, b] = table[b, a] = next(k for k, x in enumerate(listed) if x is law)
    kinds = {x.body: k for k, group in enumerate(found.members) for x in group}
    planes = plane_names(found)
    place = {x: k for k, group in enumerate(found.members) for x in group}
    bodies = [node.body for node in span(replace(mechanism, contacts=())).nodes]
    return Laws(
        bodies=np.array([kinds.get(x, count) for x in bodies], dtype=np.int64),
        planes=np.array([place[x] for x in planes], dtype=np.int64),
        table=table.astype(np.int64),
        values=np.array([values.law(x) for x in listed]),
        names=tuple(planes.values()),
    )


class _Values:
    """Numbers of a description whose parameters have values."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.known: dict[Expr, float] = {}
        for x in mechanism.parameters:
            if x.value is not None:
                self.known[symbol(x.name)] = float(evaluate([as_expr(x.value)], {})[0])

    def floats(self, x: Any) -> Array:
        """An array of numbers."""
        entries = np.asarray(x, dtype=object)
        found = [self.number(y) for y in entries.ravel()]
        return np.array(found, dtype=float).reshape(entries.shape)

    def number(self, x: Any) -> float:
        """One number; raises an error for a parameter without a value."""
        if not isinstance(x, Expr):
            return float(x)
        for name in symbols_of([x]):
            if name not in self.known:
                raise ModelError(
                    f"parameter '{name.name}' has no value; a scene needs one.",
                    hint=f"Give it: parameters={{'{name.name}': …}}.",
                )
        return float(evaluate([x], self.known)[0])

    def plane(self, marker: Marker) -> list[float]:
        """(n, d) of the plane z = 0 of a frame on the ground."""
        n = self.floats(marker.R)[:, 2]
        return [*n.tolist(), float(n @ self.floats(marker.p))]

    def law(self, x: Collision) -> list[float]:
        """Friction, restitution, and friction of rolling and pivoting."""
        rubs = x.friction
        return [self.number(y) for y in (rubs.sliding, x.restitution, rubs.rolling, rubs.pivoting)]


def placed_on(mechanism: Mechanism, start: Mapping[str, float], planes: Any, laws: Any) -> Placed:
    """The scene of a mechanism on planes.

    Args:
        mechanism: free bodies with shapes.
        start: positions and rates to begin with, by label.
        planes: (nx, ny, nz, d) of each.
        laws: (number of bodies, number of planes) -> `Laws`.

    Raises:
        ModelError: something in it that a scene has no place for, by its name.
    """
    why = obstacle(mechanism)
    if why is not None:
        raise _no_place(*why)
    values = _Values(mechanism)
    with collector_paused():
        tree = span(replace(mechanism, contacts=()))
        state = assemble(tree, None, **start)
    parts = [_Part(node, mechanism.body(node.body), values) for node in tree.nodes]
    rows = [part.placed(state.q[part.node.q], state.v[part.node.v]) for part in parts]
    found: Laws = laws(len(parts), len(planes))
    named = [bool(np.any(found.table[k] >= 0)) for k in found.bodies]
    balls = [part.balls(needed) for part, needed in zip(parts, named, strict=True)]
    solids = [part.boxes() for part in parts]
    bodies = Bodies(
        names=tuple(part.body.name for part in parts),
        mass=np.array([values.number(part.body.mass) for part in parts]),
        inertia=np.array([part.inertia() for part in parts]).reshape(-1, 3, 3),
        pose=np.array([pose for pose, _ in rows]).reshape(-1, 7),
        speed=np.array([speed for _, speed in rows]).reshape(-1, 6),
        owner=np.repeat(np.arange(len(balls)), [len(x) for x in balls]),
        ball=np.concatenate([*balls, np.zeros((0, 4))]),
        frame=np.array([part.frame() for part in parts]).reshape(-1, 3, 4),
        solid=np.concatenate([*solids, np.zeros((0, 10))]),
        solid_owner=np.repeat(np.arange(len(solids)), [len(x) for x in solids]),
    )
    scene = Scene(bodies, planes, gravity=_gravity(mechanism, values), laws=found)
    return Placed(
        mechanism, tree, scene, values.known, {x.name: y for x, y in values.known.items()},
        [part.base for part in parts], [_floats(quaternion_of(part.base[0])) for part in parts],
        [part.center for part in parts],
    )  # fmt: skip


def _gravity(mechanism: Mechanism, values: _Values) -> Array:
    """The acceleration of gravity."""
    vectors = [values.floats(x.vector) for x in mechanism.forces if isinstance(x, Field)]
    total: Array = np.sum([np.zeros(3), *vectors], axis=0)
    return total


def _no_place(why: str, place: Any) -> ModelError:
    return ModelError(
        f"this mechanism is no scene of free bodies: {why}.",
        place=place,
        hint="Write its contacts in the mechanism, with 'contact', and take method='moreau'.",
    )


class _Part:
    """One free body: where it is, and the balls and points on it."""

    def __init__(self, node: Node, body: Body, values: _Values) -> None:
        self.node, self.body, self.values = node, body, values
        R0, p0 = (values.floats(x) for x in node.X_PJ)
        self.base = R0, p0
        self.R, self.p = (values.floats(x) for x in node.X_NB)
        self.center: Array = self.p + self.R @ values.floats(body.com)

    def placed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Pose of the center of mass and velocities in the axes of the ground."""
        inertia, mass = self.values.floats(self.body.inertia), self.values.number(self.body.mass)
        if not (mass > 0 and np.linalg.det(inertia) > 0):
            said = f"body '{self.body.name}' has no mass, or no inertia about an axis"
            raise _no_place(said, self.body.place)
        R0, p0 = self.base
        R = R0 @ _floats(rotation_quaternion(q[3:]))
        center = R @ self.center
        omega, velocity = R @ v[:3], R @ v[3:]
        pose = np.concatenate([p0 + R0 @ q[:3] + center, _floats(quaternion_of(R))])
        return pose, np.concatenate([omega, velocity + np.cross(omega, center)])

    def inertia(self) -> Array:
        """About the center of mass, in the axes of the joint."""
        turned: Array = self.R @ self.values.floats(self.body.inertia) @ self.R.T
        return turned

    def frame(self) -> Array:
        """[R | p] of the body's own frame, from its center of mass."""
        return np.column_stack([self.R, self.p - self.center])

    def balls(self, needed: bool) -> Array:
        """Centers and radii of what touches: spheres, and corners of boxes with radius 0."""
        found = []
        for shape in self.body.shapes:
            turn, place = self.values.floats(shape.R), self.values.floats(shape.p)
            if isinstance(shape, Sphere):
                found.append((place, self.values.number(shape.radius)))
            elif isinstance(shape, Box):
                half = self.values.floats([shape.x, shape.y, shape.z]) / 2
                signs = itertools.product((-1, 1), repeat=3)
                found += [(place + turn @ (half * np.array(s)), 0.0) for s in signs]
        if not found and needed:
            said = f"body '{self.body.name}' has neither a sphere nor a box"
            raise _no_place(said, self.body.place)
        rows = [[*(self.p + self.R @ at - self.center), radius] for at, radius in found]
        return np.array(rows).reshape(-1, 4)

    def boxes(self) -> Array:
        """Centers, half sizes and quaternions of boxes, in the axes of the joint."""
        rows = []
        for shape in self.body.shapes:
            if isinstance(shape, Box):
                turn, place = self.values.floats(shape.R), self.values.floats(shape.p)
                middle = self.p + self.R @ place - self.center
                half = self.values.floats([shape.x, shape.y, shape.z]) / 2
                rows.append([*middle, *half, *_floats(quaternion_of(self.R @ turn))])
        return np.array(rows).reshape(-1, 10)


def _floats(x: Any) -> Array:
    entries = np.asarray(x)
    return np.array([float(y) for y in entries.ravel()]).reshape(entries.shape)
