"""What a mechanism looks like: pieces fixed on bodies, and how the motion lies in space.

Knows no viewer. A body with shapes is drawn with them, one without from its joints and its
inertia. All sizes follow from the space the motion takes.

Public names: Drawing, drawing, body_poses, point_path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError
from liaison.model import Body, Cylindrical, Gravity, Joint, Mechanism, Mesh, Prismatic
from liaison.model.values import floats
from liaison.simulation.record.trajectory import Trajectory

from .bodies import inertia_box, is_point, joint_pieces, skeleton
from .contacts import touched_pieces, touching_solids
from .shapes import shape_piece
from .solids import Color, Piece, corners, rod

Array = NDArray[np.float64]
Values = Mapping[str, float]

COLORS: tuple[Color, ...] = (
    (45, 125, 190), (226, 120, 40), (60, 160, 105), (190, 85, 150), (225, 170, 40), (90, 175, 220),
    (165, 95, 65), (125, 110, 200),
)  # fmt: skip
GROUND_COLOR: Color = (128, 134, 142)
MOST_INSTANTS = 200  # looked at to find the space a motion takes


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """All pieces by body, and the space the motion takes."""

    poses: Mapping[str, Array]  # body -> [R | p] in the world, shape (n, 3, 4)
    pieces: Mapping[str, tuple[Piece, ...]]
    middles: Mapping[str, Array]  # body -> where its name stands on it; of those that show one
    markers: Mapping[str, tuple[str, Array, Array]]  # joint -> body, R, p of its marker there
    reached: Array  # points of the world the motion reaches [m], shape (k, 3)
    up: Array
    size: float  # half the diagonal of the box around them [m]
    parameters: Values
    missing: tuple[str, ...]  # files of surfaces that cannot be drawn


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Outline:
    """What is known of a body before the size of the scene is."""

    body: Body
    color: Color
    mass: float
    com: Array
    inertia: Array
    places: Array  # of its joints on it, shape (k, 3)
    shapes: tuple[Piece, ...]

    def points(self) -> Array:
        """Points on the body that the picture must hold."""
        known = [self.places, *(corners(piece) for piece in self.shapes)]
        if self.body.name != "ground":
            known.append(self.com[None])
            if not self.shapes and is_point(np.vstack([self.places, self.com])):
                known.append(corners(self.box(0.0)))
        return np.concatenate(known)

    def box(self, size: float) -> Piece:
        """The box of the same inertia."""
        return inertia_box(self.mass, self.com, self.inertia, size, self.color)

    def pieces(self, size: float) -> tuple[Piece, ...]:
        """How it is drawn in a scene of that size."""
        if self.shapes:
            return self.shapes
        if self.body.name == "ground":
            return tuple(skeleton(self.places, None, 0.6 * size, self.color))
        com = self.com if self.mass > 0 else None
        whole = (self.box(size),) if self.mass > 0 else ()
        return tuple(skeleton(self.places, com, size, self.color)) or whole

    def is_named(self) -> bool:
        """True if its name is shown: not of the ground, nor of what joints need between them."""
        return self.body.name != "ground" and bool(self.mass > 0 or self.shapes)

    def middle(self) -> Array:
        """Where its name stands."""
        if self.shapes:
            return np.asarray(np.mean([corners(x).mean(axis=0) for x in self.shapes], axis=0))
        return np.asarray(np.mean([*self.places, self.com], axis=0))


def drawing(trajectory: Trajectory, mechanism: Mechanism) -> Drawing:
    """The pieces of each body of the mechanism, sized to the motion."""
    values = parameter_values(trajectory, mechanism)
    poses = body_poses(trajectory)
    poses.setdefault("ground", np.tile(np.eye(3, 4), (len(trajectory), 1, 1)))
    missing: list[str] = []
    outlines = _outlines(mechanism, values, missing)
    reached = np.concatenate([_swept(poses, x.body.name, x.points()) for x in outlines])
    held = [marker for force in mechanism.forces for marker in force.markers()]
    ends = [_swept(poses, x.body, floats(x.p, values)[None]) for x in held]
    reached = np.concatenate([reached, *ends])
    size = float(np.linalg.norm(np.ptp(reached, axis=0))) / 2 or 1.0
    pieces = {outline.body.name: outline.pieces(size) for outline in outlines}
    for joint in mechanism.joints:
        pieces[joint.predecessor.body] += _joint_pieces(joint, poses, size, values)
    for name, touched in touched_pieces(mechanism, reached, size, values).items():
        pieces[name] += tuple(touched)
    return Drawing(
        poses=poses,
        pieces=pieces,
        middles={x.body.name: x.middle() for x in outlines if x.is_named()},
        markers={x.name: _successor_marker(x, values) for x in mechanism.joints},
        reached=reached,
        up=_up(mechanism, values),
        size=size,
        parameters=values,
        missing=tuple(missing),
    )


def parameter_values(trajectory: Trajectory, mechanism: Mechanism) -> dict[str, float]:
    """Values of the parameters: those of the run, else those of the description."""
    known = [x for x in mechanism.parameters if x.value is not None]
    said = {x.name: float(floats(x.value, {})) for x in known}
    return said | dict(trajectory.meta.get("parameters", {}))


def body_poses(trajectory: Trajectory) -> dict[str, Array]:
    """Poses [R | p] of each body over time, shape (n, 3, 4)."""
    series = trajectory.series.get("poses")
    if series is None:
        raise LiaisonError(
            f"the run {trajectory.name!r} has no poses to draw.",
            hint='Simulate again with "poses" among its series.',
        )
    names = next(iter(series.axes.values()))
    return {name: series.values[:, k] for k, name in enumerate(names)}


def point_path(poses: Mapping[str, Array], body: str, p: Array) -> Array:
    """Where a point p of a body [m] is in the world over time, shape (n, 3)."""
    if body not in poses:
        raise NamingError.unknown("body", body, poses)
    return np.asarray(poses[body][..., :3] @ p + poses[body][..., 3])


def _outlines(mechanism: Mechanism, values: Values, missing: list[str]) -> list[_Outline]:
    places: dict[str, list[Array]] = {body.name: [] for body in mechanism.bodies}
    for joint in mechanism.joints:
        for marker in (joint.predecessor, joint.successor):
            places[marker.body].append(floats(marker.p, values))
    moving = [body.name for body in mechanism.bodies if body.name != "ground"]
    colors = {name: COLORS[k % len(COLORS)] for k, name in enumerate(moving)}
    outlines = []
    for body in mechanism.bodies:
        color = colors.get(body.name, GROUND_COLOR)
        outlines.append(
            _Outline(
                body=body,
                color=color,
                mass=float(floats(body.mass, values)),
                com=floats(body.com, values),
                inertia=floats(body.inertia, values),
                places=np.array(places[body.name]).reshape(-1, 3),
                shapes=tuple(_shapes(body, color, values, missing))
                or tuple(touching_solids(body, mechanism, color, values)),
            )
        )
    return outlines


def _shapes(body: Body, color: Color, values: Values, missing: list[str]) -> list[Piece]:
    """The author's shapes; a surface whose file cannot be read is left out and told."""
    pieces = []
    for shape in body.shapes:
        try:
            pieces.append(shape_piece(shape, color, values))
        except LiaisonError:
            if not isinstance(shape, Mesh):
                raise
            missing.append(shape.file)
    return pieces


def _swept(poses: Mapping[str, Array], body: str, points: Array) -> Array:
    """Places in the world that points of a body come to, shape (k, 3)."""
    if body not in poses:
        raise NamingError.unknown("body (among the poses of the run)", body, poses)
    few = poses[body][:: 1 + len(poses[body]) // MOST_INSTANTS]
    swept = np.einsum("nij,kj->nki", few[..., :3], points) + few[:, None, :, 3]
    return swept.reshape(-1, 3) if body != "ground" else np.asarray(swept[0])


def _successor_marker(joint: Joint, values: Values) -> tuple[str, Array, Array]:
    M = joint.successor
    return M.body, floats(M.R, values), floats(M.p, values)


def _joint_pieces(
    joint: Joint, poses: Mapping[str, Array], size: float, values: Values
) -> tuple[Piece, ...]:
    """The symbol of a joint on its predecessor, and the rail a sliding one runs on."""
    F = joint.predecessor
    R, p = floats(F.R, values), floats(F.p, values)
    pieces = joint_pieces(type(joint.type).__name__, R, p, size)
    if isinstance(joint.type, Prismatic | Cylindrical):
        body, _, place = _successor_marker(joint, values)
        X = poses[F.body]
        moved = point_path(poses, body, place) - X[..., 3]
        along = (np.einsum("nji,nj->ni", X[..., :3], moved) - p) @ R[:, 2]
        low, high = min(float(along.min()), 0.0), max(float(along.max()), 0.0)
        if high - low > 1e-3 * size:
            ends = p + np.outer([low, high], R[:, 2])
            pieces.append(rod(ends[0], ends[1], 0.008 * size, GROUND_COLOR))
    return tuple(pieces)


def _up(mechanism: Mechanism, values: Values) -> Array:
    """Against gravity, or z where there is none."""
    for force in mechanism.forces:
        if isinstance(force, Gravity):
            g = floats(force.vector, values)
            if np.linalg.norm(g) > 0:
                return np.asarray(-g / np.linalg.norm(g))
    return np.array([0.0, 0.0, 1.0])
