"""Scenes from a description: free bodies whose shapes touch each other, and planes.

Runs of mechanisms whose bodies collide in many pairs: as a scene, in their own coordinates.

Public names: placed_scene, placed_on, Placed, run_scene, ScenePlace, scene_places.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.scene import ROD, ROUND, Bodies, Laws, SceneModel, Terrain
from liaison.contacts.scene.points import scene_points
from liaison.errors import Interrupted, ModelError, NamingError, SimulationError
from liaison.expr import Expr, as_expr, collector_paused, evaluate, symbol, symbols_of
from liaison.model import (
    Body,
    Box,
    Capsule,
    Collision,
    Cylinder,
    HeightField,
    Hull,
    Marker,
    Mechanism,
    Sphere,
)
from liaison.model.contacts.collisions import (
    Surfaces,
    collisions,
    plane_names,
    surfaces_of,
    touching,
)
from liaison.model.loads.load import Field
from liaison.model.pairing import obstacle
from liaison.numeric import Array
from liaison.numeric.attitude import quaternion_product
from liaison.simulation import Series, Trajectory
from liaison.simulation.plan.options import DEFAULT_SERIES
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.scene import Scene
from liaison.spatial.rotations import quaternion_of, rotation_quaternion
from liaison.tree import Node, Tree, assemble, span

from .given import with_starts, with_values


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
    surfaces = surfaces_of(mechanism)
    values = _Values(mechanism)
    fields = surfaces.terrains
    table = [values.plane(x) for x in surfaces.on_ground() if x not in fields]
    terrains = [values.terrain(x, fields[x]) for x in surfaces.on_ground() if x in fields]
    laws = _laws(mechanism, surfaces, values)
    return placed_on(mechanism, start, table, lambda *_: laws, terrains)


def _laws(mechanism: Mechanism, surfaces: Surfaces, values: _Values) -> Laws:
    """Classes of surfaces with their laws; what is named nowhere has a class that touches none."""
    listed = collisions(mechanism)
    count = len(surfaces.members)
    table = np.full((count + 1, count + 1), -1)
    for (a, b), law in surfaces.laws.items():
        table[a, b] = table[b, a] = next(k for k, x in enumerate(listed) if x is law)
    kinds = {x.body: k for k, group in enumerate(surfaces.members) for x in group}
    planes = plane_names(surfaces)
    place = {x: k for k, group in enumerate(surfaces.members) for x in group}
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
        numbers = [self.number(y) for y in entries.ravel()]
        return np.array(numbers, dtype=float).reshape(entries.shape)

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

    def terrain(self, at: Marker, field: HeightField) -> Terrain:
        """A height field at a frame on the ground."""
        R, p = self.floats(at.R), self.floats(at.p)
        own_R, own_p = self.floats(field.R), self.floats(field.p)
        return Terrain(field.grid, R @ own_R, p + R @ own_p)

    def law(self, x: Collision) -> list[float]:
        """Friction, restitution, and friction of rolling and pivoting."""
        friction = x.friction
        return [
            self.number(y)
            for y in (friction.sliding, x.restitution, friction.rolling, friction.pivoting)
        ]


def placed_on(
    mechanism: Mechanism,
    start: Mapping[str, float],
    planes: Any,
    laws: Any,
    terrains: Sequence[Terrain] = (),
) -> Placed:
    """The scene of a mechanism on planes and height fields.

    Args:
        mechanism: free bodies with shapes.
        start: positions and rates to begin with, by label.
        planes: (nx, ny, nz, d) of each.
        laws: (number of bodies, number of planes) -> `Laws`.
        terrains: height fields.

    Raises:
        ModelError: something in it that a scene has no place for, by its name.
    """
    why = obstacle(mechanism)
    if why is not None:
        raise _no_place(*why)
    values = _Values(mechanism)
    with collector_paused():
        tree = span(replace(mechanism, contacts=()))
        state = assemble(tree, None, guess=None, **start)
    parts = [_Part(node, mechanism.body(node.body), values) for node in tree.nodes]
    rows = [part.placed(state.q[part.node.q], state.v[part.node.v]) for part in parts]
    pair_laws: Laws = laws(len(parts), len(planes))
    named = [bool(np.any(pair_laws.table[k] >= 0)) for k in pair_laws.bodies]
    balls = [part.balls(needed) for part, needed in zip(parts, named, strict=True)]
    solids = [part.boxes() for part in parts]
    corners = [x for part in parts for x in part.corners()]
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
        corners=np.array([count for count, _ in corners], dtype=np.int64),
        corner=np.concatenate([np.zeros((0, 3)), *(x for _, x in corners)]),
    )
    gravity = _gravity(mechanism, values)
    scene = Scene(
        bodies, planes, gravity=gravity, laws=pair_laws, terrains=terrains, name=mechanism.name
    )
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


SOLID = (Box, Capsule, Cylinder, Hull)
"""Shapes that stand in a box of their own."""


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
            message = f"body '{self.body.name}' has no mass, or no inertia about an axis"
            raise _no_place(message, self.body.place)
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
        """Centers and radii of what touches: spheres, and corners with radius 0."""
        places = []
        for shape in self.body.shapes:
            turn, place = self.values.floats(shape.R), self.values.floats(shape.p)
            if isinstance(shape, Sphere):
                places.append((place, self.values.number(shape.radius)))
            elif isinstance(shape, Box):
                half = self.values.floats([shape.x, shape.y, shape.z]) / 2
                signs = itertools.product((-1, 1), repeat=3)
                places += [(place + turn @ (half * np.array(s)), 0.0) for s in signs]
            elif isinstance(shape, Hull):
                places += [(place + turn @ x, 0.0) for x in self.values.floats(shape.points)]
        if needed and not touching(self.body):
            message = f"body '{self.body.name}' has no sphere, capsule, box, cylinder or hull"
            raise _no_place(message, self.body.place)
        rows = [[*(self.p + self.R @ at - self.center), radius] for at, radius in places]
        return np.array(rows).reshape(-1, 4)

    def boxes(self) -> Array:
        """Centers, half sizes and quaternions of boxes, and of those about hulls, cylinders and
        capsules, in the axes of the joint."""
        rows = []
        for shape in self.body.shapes:
            if not isinstance(shape, SOLID):
                continue
            turn, place = self.values.floats(shape.R), self.values.floats(shape.p)
            if isinstance(shape, Box):
                half = self.values.floats([shape.x, shape.y, shape.z]) / 2
            elif isinstance(shape, Cylinder | Capsule):
                radius, long = self.values.number(shape.radius), self.values.number(shape.length)
                ends = radius if isinstance(shape, Capsule) else 0.0
                half = np.array([radius, radius, long / 2 + ends])
            else:
                points = self.values.floats(shape.points)
                half = np.ptp(points, axis=0) / 2
                place = place + turn @ (np.min(points, axis=0) + half)
            middle = self.p + self.R @ place - self.center
            rows.append([*middle, *half, *_floats(quaternion_of(self.R @ turn))])
        return np.array(rows).reshape(-1, 10)

    def corners(self) -> list[tuple[int, Array]]:
        """How many corners each box has as a hull, and where, from the center of the box about it:
        none of a box, ROUND of a cylinder, ROD of a capsule."""
        listed = []
        for shape in (x for x in self.body.shapes if isinstance(x, SOLID)):
            points = self.values.floats(getattr(shape, "points", ())).reshape(-1, 3)
            middle = (np.min(points, axis=0) + np.max(points, axis=0)) / 2 if len(points) else 0.0
            is_round, is_rod = isinstance(shape, Cylinder), isinstance(shape, Capsule)
            count = ROUND if is_round else ROD if is_rod else len(points)
            listed.append((count, points - middle))
        return listed


def _floats(x: Any) -> Array:
    entries = np.asarray(x)
    return np.array([float(y) for y in entries.ravel()]).reshape(entries.shape)


STEP = 1e-3
"""Default fixed step [s]."""

WHOLE = 1e-9
"""Part of a period by which it may differ from a whole number of steps."""

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
"""Signs that turn a quaternion w x y z back."""

OPTIONS = (
    "tolerance", "depth", "sweeps", "events", "time_limit", "progress", "on_failure", "watch",
)  # fmt: skip
"""Options that a scene takes unchanged."""


def run_scene(
    mechanism: Mechanism,
    until: float,
    *,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    step: float | None = None,
    every: Any = None,
    method: str | None = None,
    series: Sequence[str] = (),
    **options: Any,
) -> Trajectory:
    """Lets free bodies that collide move, in fixed steps after Moreau and Jean.

    Args:
        mechanism: free bodies with `collide`.
        until: the last instant [s].
        start: positions and rates to begin with, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        step: fixed step [s]; 1 ms if not given.
        every: what to record: a period [s], instants [s], or None for every step.
        method: "moreau" or None.
        series: those of every run; energy, outputs and poses are always recorded.
        **options: of `Scene.simulate`.

    Raises:
        SimulationError: an option that scenes do not have.
    """
    if method not in (None, "moreau"):
        raise _error(f"method {method!r}", "they are simulated by 'moreau'")
    for name in (x for x in series if x not in DEFAULT_SERIES):
        raise _error(f"series {name!r}", "their forces are recorded by plane, as 'planes'")
    for name, value in options.items():
        if name not in OPTIONS and value is not None and not _is_empty(name, value):
            raise _error(f"option {name!r}", f"they take {', '.join(OPTIONS)}")
    step_size = STEP if step is None else step
    chosen = {x: options[x] for x in OPTIONS if x in options}
    placed = placed_scene(
        with_starts(with_values(mechanism, parameters or {}), start or {}), start or {}
    )
    instants = _instants(every, step_size, until)
    try:
        run = placed.scene.simulate(until, step=step_size, every=instants, **chosen)
    except (SimulationError, Interrupted) as early:
        if early.trajectory is not None:
            early.trajectory = _as_mechanism_run(placed, early.trajectory)
        raise
    return _as_mechanism_run(placed, run)


def _is_empty(name: str, value: Any) -> bool:
    """Whether an option asks for nothing that a scene does not do."""
    return name == "inputs" and not value


def _error(what: str, instead: str) -> SimulationError:
    return SimulationError(
        f"{what} is not for scenes of bodies that collide: {instead}.",
        status="inconsistent",
        hint="With up to 50 pairs, each is a contact of its own, and all methods run.",
    )


def _instants(every: Any, step: float, until: float) -> int | Sequence[float] | Array:
    """What a scene is to record: every so many steps, or at instants that are no ends of steps."""
    if every is None:
        return 1
    if isinstance(every, Sequence | np.ndarray):
        return every
    _, period, number = settings_of(every=every).instants(0.0, until)
    count = round(min(period / step, 1e15)) if step > 0 else 0
    if count >= 1 and abs(period - count * step) <= WHOLE * period:
        return count
    times = np.asarray(period * np.arange(number), dtype=float)
    return times if times[-1] >= until else np.append(times, until)


def _as_mechanism_run(placed: Placed, run: Trajectory) -> Trajectory:
    """The run in the coordinates of the mechanism's joints, with its outputs."""
    tree, mechanism = placed.tree, placed.mechanism
    q, v = _coordinates(placed, run)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    values: dict[Expr, Any] = {symbol("t"): run.t, **placed.values}
    for names, columns in ((labels["q"], q), (labels["v"], v)):
        values |= {symbol(x.name): columns[:, k] for k, x in enumerate(names)}
    pairs = surfaces_of(mechanism).pairs
    series = dict(run.series) | _outputs(mechanism, values, len(run.t))
    summary = f"{pairs} pairs marched as a scene, in steps of {run.meta['step']:g} s"
    whole = replace(
        run,
        name=mechanism.name,
        q=q,
        v=v,
        labels=labels,
        series=series,
        message=f"{run.message.rstrip('.')}; {summary}.",
        counts={**run.counts, "pairs": pairs},
        meta={**run.meta, "mechanism": mechanism.name, "scene": True, "parameters": placed.known},
    )
    return whole.with_mechanism(mechanism)


def _outputs(mechanism: Mechanism, values: Mapping[Expr, Any], size: int) -> dict[str, Series]:
    """The outputs of the mechanism, evaluated along the run."""
    if not mechanism.outputs:
        return {}
    formulas = [as_expr(x.formula) for x in mechanism.outputs]
    for x in symbols_of(formulas):
        if x not in values:
            raise NamingError.unknown("quantity of a scene", x.name, [s.name for s in values])
    columns = [np.broadcast_to(x, size) for x in evaluate(formulas, values)]
    names, units = zip(*((x.name, x.unit) for x in mechanism.outputs), strict=True)
    return {"outputs": Series(np.stack(columns, axis=1), units, {"output": names})}


@final
@dataclass(frozen=True, slots=True)
class ScenePlace:
    """One of the points at which bodies of a scene touch, at the instants of a run.

    Attributes:
        name: 'contact[k]', the k-th of those that are there.
        is_closed: where there are k or more.
        point: [m]; elsewhere the center of the first body.
        slip: speed [m/s].
        force: zeros; forces are recorded by plane.
        moment: zeros.
    """

    name: str
    is_closed: NDArray[np.bool_]
    point: Array
    slip: Array
    force: Array
    moment: Array


def scene_places(mechanism: Mechanism, run: Trajectory) -> tuple[ScenePlace, ...]:
    """Where bodies touch at the instants of a run of a scene, for its picture."""
    known = dict(run.meta.get("parameters", {}))
    start = {
        label.name: float(x)
        for part in ("q", "v")
        for label, x in zip(run.labels[part], getattr(run, part)[0], strict=True)
    }
    placed = placed_scene(with_values(mechanism, known), start)
    scene = placed.scene
    model = SceneModel(
        scene.bodies, scene.planes, scene.laws, scene.gravity, terrains=scene.terrains
    )
    poses, twists = _centers(placed, run)
    touching_points = scene_points(model, poses, twists, MOST_POINTS)
    nothing = np.zeros((len(run.t), 3))
    return tuple(
        ScenePlace(
            f"contact[{k + 1}]",
            is_closed := touching_points.counts > k,
            np.where(is_closed[:, None], touching_points.points[:, k], poses[:, :3]),
            touching_points.slips[:, k],
            nothing,
            nothing,
        )
        for k in range(int(np.max(touching_points.counts, initial=0)))
    )


def _centers(placed: Placed, run: Trajectory) -> tuple[Array, Array]:
    """Poses and twists of the centers of mass at every instant, as a scene has them."""
    poses, twists = [], []
    for k, node in enumerate(placed.tree.nodes):
        R0, p0 = placed.base[k]
        q, v = run.q[:, node.q], run.v[:, node.v]
        turn = quaternion_product(placed.turn[k], q[:, 3:].T).T
        R = rotation_of(turn)
        arm = R @ placed.center[k]
        spin, velocity = (np.einsum("tij,tj->ti", R, x) for x in (v[:, :3], v[:, 3:]))
        poses.append(np.hstack([p0 + q[:, :3] @ R0.T + arm, turn]))
        twists.append(np.hstack([spin, velocity + np.cross(spin, arm)]))
    return np.hstack(poses), np.hstack(twists)


MOST_POINTS = 200
"""Points of contact of a scene that are drawn at most."""


def _coordinates(placed: Placed, run: Trajectory) -> tuple[Array, Array]:
    """q and v of the free joints, from centers of mass."""
    n = len(placed.tree.nodes)
    pose, speed = run.q.reshape(-1, n, 7), run.v.reshape(-1, n, 6)
    q, v = np.zeros((len(run), 7 * n)), np.zeros((len(run), 6 * n))
    for k, node in enumerate(placed.tree.nodes):
        R0, p0 = placed.base[k]
        center, turn = placed.center[k], pose[:, k, 3:]
        R, back = rotation_of(turn), placed.turn[k] * CONJUGATE
        arm = R @ center
        velocity = speed[:, k, 3:] - np.cross(speed[:, k, :3], arm)
        q[:, node.q] = np.column_stack(
            [(pose[:, k, :3] - arm - p0) @ R0, quaternion_product(back, turn.T).T]
        )
        local = [np.einsum("tji,tj->ti", R, x) for x in (speed[:, k, :3], velocity)]
        v[:, node.v] = np.column_stack(local)
    return q, v
