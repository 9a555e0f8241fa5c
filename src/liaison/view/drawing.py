"""What a mechanism looks like: pieces fixed on bodies, and how the motion lies in space.

Knows no viewer. A body with shapes is drawn with them, one without from its joints and its
inertia. All sizes follow from the space the motion takes.

A body drawn from its joints and its inertia, and the symbols of joints.

Public names: Drawing, drawing, body_poses, point_path, skeleton, inertia_box, is_point,
joint_pieces.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError, ReadingWarning
from liaison.model import Body, Field, Joint, Mechanism, Mesh
from liaison.model.joints import Ball, Block, Primitive, Rail, Strut, Tube
from liaison.model.values import floats
from liaison.simulation.record.trajectory import Trajectory

from .contacts import hollow, terrains, touched_pieces, touching_solids, walls
from .shapes import shape_pieces
from .solids import Color, Piece, around, ball, box, corners, frame_along, plate, rod, tube

JOINT_COLOR: Color = (62, 68, 76)
ROD = 0.016  # radius of a rod, in sizes of the scene
PIN = 0.026  # radius of a joint's pin
NEAR = 1e-6  # points closer than this, in sizes of the scene, are one
FLAT = 1e-3  # markers closer than this to a line, in lengths of it, lie on it


def skeleton(markers: Array, com: Array | None, size: float, color: Color) -> list[Piece]:
    """A body drawn from the places of its joints and its center of mass; nothing if they are one.

    Args:
        markers: places of its joints on the body [m], shape (k, 3).
        com: center of mass, None if the body has no mass.
        size: of the scene [m].
        color: of the body.
    """
    points = _distinct(markers, NEAR * size)
    pieces: list[Piece] = []
    far = com is not None and len(points) == 1 and _far(com, points[0], NEAR * size)
    if com is not None and far:
        reach = float(np.linalg.norm(com - points[0]))
        pieces.append(rod(points[0], com, min(ROD * size, reach / 8), color))
        pieces.append(ball(com, min(3.5 * ROD * size, reach / 3), color))
    elif len(points) >= 2:
        pieces += _frame_of(points, size, color)
    return pieces


def _frame_of(points: Array, size: float, color: Color) -> list[Piece]:
    spread = points - points.mean(axis=0)
    lengths = np.linalg.svd(spread, compute_uv=False)
    radius = min(ROD * size, float(lengths[0]) / 8)
    if len(points) == 2 or lengths[1] < FLAT * lengths[0]:
        along = spread @ (spread[np.argmax(np.linalg.norm(spread, axis=1))])
        return [rod(points[np.argmin(along)], points[np.argmax(along)], radius, color)]
    ring = around(points)
    bars = [rod(a, b, radius, color) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]
    return [*bars, plate(ring, radius / 2, color, 0.35)]


def inertia_box(mass: float, com: Array, inertia: Array, size: float, color: Color) -> Piece:
    """The uniform box of the same mass and principal moments; a small cube if it has none.

    Its sides follow from I_x = m (b² + c²) / 12 and the two others.
    """
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    squares = 6 * (moments.sum() - 2 * moments) / mass if mass > 0 else np.zeros(3)
    sides = np.sqrt(np.maximum(squares, 0))
    if sides.max() <= NEAR * size:
        sides = np.full(3, 0.12 * size)
    return box(axes, com, np.maximum(sides, max(ROD * size, 0.02 * sides.max())), color)


def is_point(points: Array) -> bool:
    """True if all points are one."""
    return bool(np.ptp(points, axis=0).max() <= NEAR)


def _distinct(points: Array, tolerance: float) -> Array:
    distinct: list[Array] = []
    for point in points:
        if all(_far(point, other, tolerance) for other in distinct):
            distinct.append(point)
    return np.array(distinct).reshape(-1, 3)


def _far(a: Array, b: Array, tolerance: float) -> bool:
    return bool(np.linalg.norm(a - b) > tolerance)


def joint_pieces(symbol: Sequence[Primitive], R: Array, p: Array, size: float) -> list[Piece]:
    """The solids of a joint's symbol at its marker (R, p); rails and struts are drawn elsewhere.

    Args:
        symbol: of the joint type.
        R: axes of the marker as columns.
        p: its place [m].
        size: of the scene [m].

    Raises:
        LiaisonError: a primitive of the symbol is none of those of `model.joints.symbols`.
    """
    return [piece for part in symbol for piece in _drawn(part, R, p, size)]


def _drawn(part: Primitive, R: Array, p: Array, size: float) -> list[Piece]:
    match part:
        case Tube(radius, length, axis):
            axes = R if axis == "z" else frame_along(R[:, "xyz".index(axis)])
            return [tube(axes, p, radius * PIN * size, length * PIN * size, JOINT_COLOR)]
        case Ball(radius):
            return [ball(p, radius * PIN * size, JOINT_COLOR)]
        case Block(sides, opacity):
            return [box(R, p, np.array(sides) * PIN * size, JOINT_COLOR, opacity)]
        case Rail() | Strut():
            return []
        case _:
            raise LiaisonError(
                f"a joint's symbol has a {type(part).__name__}, which cannot be drawn.",
                hint="It is made of Tube, Ball, Block, Rail and Strut.",
            )


Array = NDArray[np.float64]
Values = Mapping[str, float]

COLORS: tuple[Color, ...] = (
    (45, 125, 190), (226, 120, 40), (60, 160, 105), (190, 85, 150), (225, 170, 40), (90, 175, 220),
    (165, 95, 65), (125, 110, 200),
)  # fmt: skip
GROUND_COLOR: Color = (128, 134, 142)
MOST_INSTANTS = 200  # looked at to find the space a motion takes
LARGEST = 2.0  # size of symbols, in sizes of the mechanism
FAR, ONWARDS = 4.0, 0.6  # a way to go with, in sizes of the mechanism; how much of it leads away


@final
@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """All pieces by body, and the space the motion takes."""

    poses: Mapping[str, Array]  # body -> [R | p] in the world, shape (n, 3, 4)
    pieces: Mapping[str, tuple[Piece, ...]]
    middles: Mapping[str, Array]  # body -> where its name stands on it; of those that show one
    markers: Mapping[str, tuple[str, Array, Array]]  # joint -> body, R, p of its marker there
    reached: Array  # points of the world the motion reaches [m], shape (k, 3)
    travel: Travel | None  # of a mechanism that goes far away: what to look at in place of these
    up: Array
    size: float  # of symbols [m]: half the diagonal of the box around them, or by the mechanism
    parameters: Values
    missing: tuple[str, ...]  # files of surfaces that cannot be drawn
    free: frozenset[str] = frozenset()  # joints that hold nothing, so that they transmit no force


@final
@dataclass(frozen=True, slots=True, eq=False)
class Travel:
    """A mechanism on its way: the body that the camera goes with, and where all of them begin."""

    body: str
    begin: Array  # points of the world [m], shape (k, 3)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Outline:
    """The outline of a body, before the size of the scene is known."""

    body: Body
    color: Color
    mass: float
    com: Array
    inertia: Array
    places: Array  # of its joints on it, shape (k, 3)
    shapes: tuple[Piece, ...]

    def points(self) -> Array:
        """Points on the body that the picture must hold."""
        points = [self.places, *(corners(piece) for piece in self.shapes)]
        if self.body.name != "ground":
            points.append(self.com[None])
            if not self.shapes and is_point(np.vstack([self.places, self.com])):
                points.append(corners(self.box(0.0)))
        return np.concatenate(points)

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


def drawing(trajectory: Trajectory, mechanism: Mechanism, size: float | None = None) -> Drawing:
    """The pieces of each body of the mechanism, sized to the motion.

    Args:
        trajectory: with poses.
        mechanism: what moves.
        size: of the scene [m], in the place of that of the motion.

    Warns:
        ReadingWarning: surfaces whose files cannot be read; the rest is drawn.
    """
    values = parameter_values(trajectory, mechanism)
    poses = body_poses(trajectory)
    poses.setdefault("ground", np.tile(np.eye(3, 4), (len(trajectory), 1, 1)))
    missing: list[str] = []
    outlines = _outlines(mechanism, values, missing)
    _warn(mechanism, missing)
    swept = {x.body.name: _swept(poses, x.body.name, x.points()) for x in outlines}
    markers = [marker for force in mechanism.forces for marker in force.markers()]
    ends = [_swept(poses, x.body, floats(x.p, values)[None]) for x in markers]
    reached = np.concatenate([x.reshape(-1, 3) for x in (*swept.values(), *ends)])
    own, travel = _own_size(outlines, swept)
    size = size or min(_half(reached), LARGEST * own) or 1.0
    open_ones = hollow(mechanism)  # what stays in them would be hidden in the box of their inertia
    pieces = {
        x.body.name: () if x.body.name in open_ones and not x.shapes else x.pieces(size)
        for x in outlines
    }
    small = _joint_size(mechanism, poses, size, values)
    for joint in mechanism.joints:
        pieces[joint.predecessor.body] += _joint_pieces(joint, poses, small, values)
    wide = touched_pieces(mechanism, reached, size, values)
    for name, touched in (*wide.items(), *terrains(mechanism, values).items()):
        pieces[name] += tuple(touched)
    if not any(body.name == "ground" and body.shapes for body in mechanism.bodies):
        planes = trajectory.meta.get("planes", ())
        pieces["ground"] = (*pieces.get("ground", ()), *walls(planes, reached, size))
    return Drawing(
        poses=poses,
        pieces=pieces,
        middles={x.body.name: x.middle() for x in outlines if x.is_named()},
        markers={x.name: _successor_marker(x, values) for x in mechanism.joints},
        reached=reached,
        travel=travel,
        up=_up(mechanism, values),
        size=size,
        parameters=values,
        missing=tuple(missing),
        free=frozenset(x.name for x in mechanism.joints if x.type.nv == FREE),
    )


FEW_FILES = 5
"""Files that are not drawn, up to which they are named."""


def _warn(mechanism: Mechanism, missing: Sequence[str]) -> None:
    """Warns once of the surfaces that are not drawn."""
    names = list(dict.fromkeys(missing))
    if not names:
        return
    more = f" and {len(names) - FEW_FILES} more" if len(names) > FEW_FILES else ""
    surfaces = "surface is" if len(names) == 1 else "surfaces are"
    listed = ", ".join(map(repr, names[:FEW_FILES]))
    where = mechanism.place.file if mechanism.place else ""
    note = (
        f"{len(names)} {surfaces} not drawn, as there is no file that can be read: {listed}{more}"
    )
    warnings.warn(ReadingWarning(note, where), stacklevel=3)


def parameter_values(trajectory: Trajectory, mechanism: Mechanism) -> dict[str, float]:
    """Values of the parameters: those of the run, else those of the description."""
    known = [x for x in mechanism.parameters if x.value is not None]
    values = {x.name: float(floats(x.value, {})) for x in known}
    return values | dict(trajectory.meta.get("parameters", {}))


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
    """The author's shapes; a surface whose file cannot be read is left out with a warning."""
    pieces = []
    for shape in body.shapes:
        try:
            pieces += shape_pieces(shape, color, values)
        except LiaisonError:
            if not isinstance(shape, Mesh):
                raise
            missing.append(shape.file)
    return pieces


def _swept(poses: Mapping[str, Array], body: str, points: Array) -> Array:
    """Places in the world that points of a body come to, shape (n, k, 3); n is 1 of the ground."""
    if body not in poses:
        raise NamingError.unknown("body (among the poses of the run)", body, poses)
    few = (
        poses[body][:: 1 + len(poses[body]) // MOST_INSTANTS]
        if body != "ground"
        else np.eye(3, 4)[None]
    )
    return np.asarray(np.einsum("nij,kj->nki", few[..., :3], points) + few[:, None, :, 3])


def _half(points: Array) -> float:
    """Half the diagonal of the box around points of shape (k, 3)."""
    return float(np.linalg.norm(np.ptp(points, axis=0))) / 2


def _own_size(
    outlines: Sequence[_Outline], swept: Mapping[str, Array]
) -> tuple[float, Travel | None]:
    """The size of what moves at one instant, the largest [m], and where it goes if that is far."""
    moving = [x for x in outlines if x.body.name != "ground"]
    if not moving:
        return np.inf, None
    clouds = np.concatenate([swept[x.body.name] for x in moving], axis=1)
    own = float(np.linalg.norm(np.ptp(clouds, axis=1), axis=1).max()) / 2
    way = clouds.mean(axis=1)
    is_far = float(np.linalg.norm(way[-1] - way[0])) > max(2 * FAR * own, 2 * ONWARDS * _half(way))
    if not is_far or own == 0:
        return own or np.inf, None
    return own, Travel(max(moving, key=lambda x: x.mass).body.name, clouds[0])


def _successor_marker(joint: Joint, values: Values) -> tuple[str, Array, Array]:
    M = joint.successor
    return M.body, floats(M.R, values), floats(M.p, values)


FREE = 6
"""Velocities of a joint that holds nothing."""

MANY, APART = 20, 4.0
"""Joints that are many; the size of their symbols, in distances from each to the next."""


def _joint_size(
    mechanism: Mechanism, poses: Mapping[str, Array], size: float, values: Values
) -> float:
    """The size of symbols of joints: that of the scene, less where many joints are close."""
    ends = [(joint.predecessor.body, joint.predecessor.p) for joint in mechanism.joints]
    if len(ends) <= MANY:
        return size
    first = [poses[body][0] for body, _ in ends]
    places = np.array([X[:, :3] @ floats(p, values) + X[:, 3] for X, (_, p) in zip(first, ends)])
    nearest = [np.linalg.norm(places - x, axis=1) for x in places]
    apart = [x[x > NEAR * size].min(initial=np.inf) for x in nearest]
    return min(size, APART * float(np.median(apart)))


def _joint_pieces(
    joint: Joint, poses: Mapping[str, Array], size: float, values: Values
) -> tuple[Piece, ...]:
    """The symbol of a joint on its predecessor, and the rail a sliding one runs on."""
    F = joint.predecessor
    R, p = floats(F.R, values), floats(F.p, values)
    pieces = joint_pieces(joint.type.SYMBOL, R, p, size)
    for rail in (x for x in joint.type.SYMBOL if isinstance(x, Rail)):
        direction = R[:, "xyz".index(rail.axis)]
        body, _, place = _successor_marker(joint, values)
        X = poses[F.body]
        moved = point_path(poses, body, place) - X[..., 3]
        along = (np.einsum("nji,nj->ni", X[..., :3], moved) - p) @ direction
        low, high = min(float(along.min()), 0.0), max(float(along.max()), 0.0)
        if high - low > 1e-3 * size:
            ends = p + np.outer([low, high], direction)
            pieces.append(rod(ends[0], ends[1], 0.008 * size, GROUND_COLOR))
    return tuple(replace(piece, joint=joint.name) for piece in pieces)


def _up(mechanism: Mechanism, values: Values) -> Array:
    """Against gravity, or z where there is none."""
    for force in mechanism.forces:
        if isinstance(force, Field):
            g = floats(force.vector, values)
            if np.linalg.norm(g) > 0:
                return np.asarray(-g / np.linalg.norm(g))
    return np.array([0.0, 0.0, 1.0])
