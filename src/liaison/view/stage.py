"""Nodes of a viser scene, and their poses in every picture.

Handed a viser server; imports no viewer itself.

Many copies of one solid as one node of a viser scene: bodies of a crowd, dots and arrows.

A node for each would cost a message a picture each, and a drawing by itself.

What stretches and turns between bodies: springs, struts, arrows of force.

Public names: Look, Stage, Batch, Copies, Crowd, MarkBatches, is_plain, linear, Link, Arrow,
LONGEST, links, joint_forces, arrows, along, coil, trace_points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError
from liaison.model import Distance, Marker, Mechanism
from liaison.model.joints import Strut
from liaison.model.values import floats
from liaison.simulation.record.resampling import hermite, quaternion_of, slopes, spots
from liaison.simulation.record.trajectory import Trajectory

from .camera import camera
from .contacts import greatest
from .drawing import Drawing, point_path
from .marks import (
    IMPACT,
    MOMENT_COLOR,
    STATE_COLORS,
    Mark,
    beside,
    dot_sizes,
    marks,
    rolling_ones,
    struck,
)
from .solids import Color, Piece, Surface, cone, cube, frame_along, globe, pillar

SPRING_COLOR: Color = (110, 118, 128)
STRUT_COLOR: Color = (150, 110, 60)
FORCE_COLOR: Color = (214, 48, 49)
TURNS, POINTS_A_TURN, PLAIN_END = 8, 16, 0.12
IS_COIL = {"coil": True, "strut": False}
"""Symbols of loads along a distance: whether they are drawn as a coil, or as a rod."""
LONGEST = 0.5  # the greatest force's arrow, in sizes of the scene


@final
@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Something drawn between two points that move [m], each of shape (n, 3)."""

    name: str
    is_coil: bool
    a: Array
    b: Array
    color: Color


@final
@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """A force: where it acts over time [m], shape (n, 3), and the arrow's length there [m]."""

    name: str
    start: Array
    vector: Array
    color: Color = FORCE_COLOR


def links(drawn: Drawing, mechanism: Mechanism) -> list[Link]:
    """Springs, dampers, actuators along a distance, and rods that are joints."""
    listed = []
    for force in mechanism.forces:
        measure = force.along()
        if isinstance(measure, Distance):
            ends = (measure.a, measure.b)
            listed.append(_link(drawn, force.name, ends, IS_COIL[force.SYMBOL]))
    for joint in mechanism.joints:
        if any(isinstance(part, Strut) for part in joint.type.SYMBOL):
            listed.append(_link(drawn, joint.name, (joint.predecessor, joint.successor), False))
    return listed


def _link(drawn: Drawing, name: str, ends: tuple[Marker, Marker], is_coil: bool) -> Link:
    a, b = (point_path(drawn.poses, end.body, floats(end.p, drawn.parameters)) for end in ends)
    return Link(name, is_coil, a, b, SPRING_COLOR if is_coil else STRUT_COLOR)


def joint_forces(run: Trajectory, drawn: Drawing, wanted: bool | Iterable[str]) -> dict[str, Array]:
    """The force each joint puts on its successor, in the world's axes [N], shape (n, 3).

    Args:
        run: with the series "reactions": joint by (moment, force) in the marker's axes [N·m, N].
        drawn: its drawing.
        wanted: all joints, none, or these.
    """
    if wanted is False:
        return {}
    series = run.series.get("reactions")
    if series is None:
        raise LiaisonError(
            f"the run {run.name!r} has no reactions to draw.",
            hint="Simulate again with reactions recorded, or leave out the forces.",
        )
    joints = next(iter(series.axes.values()))
    names = joints if wanted is True else tuple(wanted)
    for name in names:
        if name not in joints:
            raise NamingError.unknown("joint", name, joints)
    return {x: _in_world(drawn, x, series.values[:, joints.index(x), 3:]) for x in names}


def arrows(
    run: Trajectory, drawn: Drawing, wanted: bool | Iterable[str], scale: float | None = None
) -> list[Arrow]:
    """The same as arrows at the successor's marker; scale [m/N], of the greatest if not given."""
    forces = joint_forces(run, drawn, wanted)
    if scale is None:
        scale = LONGEST * drawn.size / greatest(list(forces.values()))
    return [
        Arrow(
            name,
            point_path(drawn.poses, drawn.markers[name][0], drawn.markers[name][2]),
            scale * force,
        )
        for name, force in forces.items()
    ]


def _in_world(drawn: Drawing, joint: str, force: Array) -> Array:
    body, R, _ = drawn.markers[joint]
    return np.asarray(np.einsum("nij,nj->ni", drawn.poses[body][..., :3] @ R, force))


def along(direction: Array) -> Array:
    """Quaternions w x y z that turn z into each direction, shape (n, 3) to (n, 4)."""
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    x, y, z = np.moveaxis(direction / np.where(length > 0, length, 1.0), -1, 0)
    opposite = z < -1 + 1e-9
    quat = np.stack([1 + z, -y, x, 0 * z], axis=-1)
    quat[opposite] = [0.0, 1.0, 0.0, 0.0]
    return np.asarray(quat / np.linalg.norm(quat, axis=-1, keepdims=True))


def coil() -> Array:
    """Segments of a spring of unit radius along z from 0 to 1, shape (k, 2, 3)."""
    s = np.linspace(0, 1, TURNS * POINTS_A_TURN + 1)
    angle = 2 * np.pi * TURNS * s
    middle = np.stack([np.cos(angle), np.sin(angle), PLAIN_END + (1 - 2 * PLAIN_END) * s], axis=1)
    ends = (
        np.array([[0.0, 0, 0], [0, 0, PLAIN_END]]),
        np.array([[0.0, 0, 1 - PLAIN_END], [0, 0, 1]]),
    )
    points = np.concatenate([ends[0], middle, ends[1]])
    return np.stack([points[:-1], points[1:]], axis=1)


def trace_points(drawn: Drawing, wanted: Sequence[Any]) -> list[tuple[str, str, Array]]:
    """Name, body and place on it of each point to trace.

    A point is a body's name (its origin), a joint's name (the successor's marker), a
    marker, or a body's name with a place on it [m].
    """
    return [_trace_point(drawn, one) for one in wanted]


def _trace_point(drawn: Drawing, wanted: Any) -> tuple[str, str, Array]:
    if isinstance(wanted, str):
        if wanted in drawn.poses:
            return wanted, wanted, np.zeros(3)
        if wanted in drawn.markers:
            body, _, p = drawn.markers[wanted]
            return wanted, body, p
        raise NamingError.unknown("body or joint", wanted, [*drawn.poses, *drawn.markers])
    if isinstance(wanted, Marker):
        name = wanted.name or wanted.body
        return name, wanted.body, floats(wanted.p, drawn.parameters)
    body, place = wanted
    if body not in drawn.poses:
        raise NamingError.unknown("body", body, drawn.poses)
    return body, body, np.asarray(place, dtype=float)


SHAFT, HEAD, HEAD_LENGTH = 0.011, 0.028, 0.075  # of arrows, in sizes of the scene
AGAIN = 0.8  # how far behind its first head the second of a moment stands, in heads
SWOLLEN = 1.7  # a dot at an impact
KINDS = {"sphere": globe(12, 18), "box": cube(), "cylinder": pillar()}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Where copies of a unit solid stand at one picture, each with a row."""

    position: Array
    wxyz: Array
    scale: Array
    color: Array  # red, green, blue as people see them, 0 to 255


@final
class Batch:
    """A node of copies; what does not change from picture to picture is not sent again."""

    def __init__(self, scene: Any, name: str, solid: Surface, first: Copies, **look: Any) -> None:
        self._now = self._properties(first)
        self._handle = scene.add_batched_meshes_simple(
            name, solid.vertices, solid.faces, **self._now, lod="off",
            flat_shading=not solid.is_smooth, **look,
        )  # fmt: skip

    def show(self, copies: Copies) -> None:
        """The copies where they are at another picture."""
        for key, value in self._properties(copies).items():
            if not np.array_equal(value, self._now[key]):
                setattr(self._handle, key, value)
                self._now[key] = value

    def _properties(self, copies: Copies) -> dict[str, Any]:
        return {
            "batched_wxyzs": np.asarray(copies.wxyz, dtype=np.float32),
            "batched_positions": np.asarray(copies.position, dtype=np.float32),
            "batched_scales": np.asarray(copies.scale, dtype=np.float32),
            "batched_colors": linear(copies.color),
        }


def linear(color: Array | Sequence[Color] | Color) -> NDArray[np.uint8]:
    """Colors as viser's batches and arrows take them: intensities of light.

    The inverse of the transfer function of sRGB, as IEC 61966-2-1 defines it.
    """
    c = np.asarray(color, dtype=float) / 255
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.round(255 * light), dtype=np.uint8)


# Bodies of a crowd ------------------------------------------------------------------------------


@final
class Crowd:
    """All bodies of plain solids, one node for each kind of solid."""

    def __init__(
        self,
        scene: Any,
        pieces: Mapping[str, Sequence[Piece]],
        poses: Mapping[str, Array],
        hits: Mapping[str, NDArray[np.bool_]],
    ) -> None:
        self._parts: list[tuple[Batch, list[tuple[str, Piece]]]] = []
        self._poses, self._hits = poses, hits
        for kind, solid in KINDS.items():
            mine = [(b, x) for b, solids in pieces.items() for x in solids if x.kind == kind]
            if mine:
                batch = Batch(scene, f"/bodies/{kind}", solid, self._copies(mine, 0))
                self._parts.append((batch, mine))

    def show(self, k: int) -> None:
        """All of them at picture k."""
        for batch, mine in self._parts:
            batch.show(self._copies(mine, k))

    def _copies(self, mine: list[tuple[str, Piece]], k: int) -> Copies:
        X = np.stack([self._poses[body][k] for body, _ in mine])
        R = np.stack([piece.R for _, piece in mine])
        p = np.stack([piece.p for _, piece in mine])
        return Copies(
            np.einsum("nij,nj->ni", X[..., :3], p) + X[..., 3],
            quaternion_of(np.ascontiguousarray(X[..., :3] @ R)),
            np.array([_sides(piece) for _, piece in mine]),
            np.array([self._color(body, piece, k) for body, piece in mine], dtype=float),
        )

    def _color(self, body: str, piece: Piece, k: int) -> Color:
        """Its own, tinged by that of an impact for a while after one."""
        if not self._hits[body][k]:
            return piece.color
        red, green, blue = (
            (a + 2 * b) // 3 for a, b in zip(piece.color, STATE_COLORS[IMPACT], strict=True)
        )
        return red, green, blue

    @property
    def is_struck(self) -> bool:
        """True if a body flashes at all."""
        return any(bool(np.any(x)) for x in self._hits.values())


def _sides(piece: Piece) -> tuple[float, ...]:
    """How a unit solid becomes a piece, along its three axes."""
    if piece.kind == "sphere":
        return piece.size * 3
    return piece.size if piece.kind == "box" else (piece.size[0], piece.size[0], piece.size[1])


def is_plain(pieces: Sequence[Piece]) -> bool:
    """True if a body can stand in a crowd."""
    return all(x.kind in KINDS and x.opacity == 1 for x in pieces)


# Dots and arrows --------------------------------------------------------------------------------


@final
class MarkBatches:
    """Places of contact as three nodes: dots, shafts of arrows and heads of arrows."""

    def __init__(self, scene: Any, path: str, contact_marks: Sequence[Mark], size: float) -> None:
        self.marks, self._size = tuple(contact_marks), size
        self._colors = [m.colors() for m in contact_marks]
        self._turning = [m for m in contact_marks if np.any(m.moment)]
        solids = {"points": globe(8, 12), "shafts": pillar(), "heads": cone(1.0, 1.0)}
        self._batches = [
            Batch(scene, f"{path}/{name}", solid, copies, cast_shadow=False, receive_shadow=False)
            for (name, solid), copies in zip(solids.items(), self.at(0), strict=True)
        ]

    def show(self, k: int) -> None:
        """All of them at picture k."""
        for batch, copies in zip(self._batches, self.at(k), strict=True):
            batch.show(copies)

    def at(self, k: int) -> tuple[Copies, Copies, Copies]:
        """Dots, shafts and heads at picture k."""
        color = np.stack([colors[k] for colors in self._colors]).astype(float)
        radius = [m.radius * (SWOLLEN if m.is_hit[k] else 1.0) for m in self.marks]
        point = np.stack([m.point[k] for m in self.marks])
        dots = Copies(point, _upright(len(point)), np.array(radius)[:, None] * np.ones(3), color)
        shafts, heads = _arrows(point, np.stack([m.force[k] for m in self.marks]), self._size)
        bars, tips = [(shafts, color)], [(heads, color)]
        if self._turning:
            start = np.stack([m.point[k] for m in self._turning])
            vector = np.stack([m.moment[k] for m in self._turning])
            shafts, heads = _arrows(start, vector, self._size)
            violet = np.tile(np.array(MOMENT_COLOR, dtype=float), (len(start), 1))
            bars, tips = [*bars, (shafts, violet)], [*tips, (heads, violet)]
            tips.append((_behind(heads, vector), violet))
        return dots, _joined(bars), _joined(tips)


Array = NDArray[np.float64]
Placed = tuple[Array, Array, Array]
"""Positions, attitudes and scales of copies."""


def _arrows(start: Array, vector: Array, size: float) -> tuple[Placed, Placed]:
    """Shafts and heads of arrows; those that are short have small heads, those of 0 nothing."""
    length = np.linalg.norm(vector, axis=1)
    way = vector / np.where(length > 0, length, 1.0)[:, None]
    head = np.minimum(HEAD_LENGTH * size, 0.5 * length)
    wide = head / HEAD_LENGTH
    bar = length - head
    shaft = np.stack([SHAFT * wide, SHAFT * wide, bar], axis=1)
    tip = np.stack([HEAD * wide, HEAD * wide, head], axis=1)
    turn = along(vector)
    return (start + way * bar[:, None] / 2, turn, shaft), (start + way * bar[:, None], turn, tip)


def _behind(heads: Placed, vector: Array) -> Placed:
    """Second heads."""
    position, turn, scale = heads
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    way = vector / np.where(length > 0, length, 1.0)
    return position - AGAIN * scale[:, 2:] * way, turn, scale


def _joined(parts: Sequence[tuple[Placed, Array]]) -> Copies:
    position, wxyz, scale = (
        np.concatenate(x) for x in zip(*(placed for placed, _ in parts), strict=True)
    )
    return Copies(position, wxyz, scale, np.concatenate([color for _, color in parts]))


def _upright(count: int) -> Array:
    return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))


TRACE_COLOR = (200, 50, 60)
MOST_LABELS = 8
MOST_NODES = 24  # bodies that have a node each
NOTHING = 1e-9  # a moment below this part of the forces, times the size of the scene, is none


@final
@dataclass(frozen=True, slots=True)
class Look:
    """What to see besides the bodies."""

    trace: tuple[Any, ...] = ()
    forces: bool | Iterable[str] = False
    frames: bool = False
    labels: bool | None = None  # None: if the bodies are few
    places: tuple[Any, ...] = ()  # of contact, over the pictures
    speed: float = 1.0

    def shows_labels(self, bodies: int) -> bool:
        """True if names stand on the bodies."""
        return bodies <= MOST_LABELS if self.labels is None else self.labels


@final
class Stage:
    """A scene in a viser server; `show(k)` moves everything to picture k."""

    def __init__(
        self, server: Any, run: Trajectory, mechanism: Mechanism, drawn: Drawing, look: Look
    ) -> None:
        self.scene = server.scene
        self.drawn, self.t = drawn, run.t
        names = ("frames", "names", "traces", "forces", "contacts")
        self.groups: dict[str, list[Any]] = {name: [] for name in names}
        self._set_camera(server)
        self._set_ground()
        crowd = _crowd(drawn, look)
        self._crowd = Crowd(self.scene, crowd, drawn.poses, struck(run, crowd, look.speed))
        self.is_struck = self._crowd.is_struck
        self._bodies = {x: self._add_body(x, look) for x in drawn.pieces if x not in crowd}
        turned = {x: np.ascontiguousarray(drawn.poses[x][..., :3]) for x in self._bodies}
        self._wxyz = {x: quaternion_of(R) for x, R in turned.items()}
        self._links = [(link, self._add_link(link)) for link in links(drawn, mechanism)]
        forces = joint_forces(run, drawn, look.forces)
        known = [*forces.values(), *(place.force for place in look.places)]
        scale = LONGEST * drawn.size / greatest(known)
        self._arrows = [(a, self._add_arrow(a)) for a in arrows(run, drawn, look.forces, scale)]
        self.marks: list[Mark] = []
        self._names: list[tuple[Mark, Any]] = []
        if look.places:
            turning = LONGEST * drawn.size / greatest([place.moment for place in look.places])
            if turning * NOTHING > scale / drawn.size:
                turning = 0.0
            radii = dot_sizes(mechanism, look.places, drawn.size, drawn.parameters)
            scales, can_roll = (scale, 0.6 * turning), rolling_ones(mechanism)
            contact_marks = marks(run, look.places, scales, radii, look.speed, can_roll)
            self.marks = beside(contact_marks, -0.14 * drawn.size * self._side, drawn.up)
        self._marks = self._add_marks()
        for name, body, p in trace_points(drawn, look.trace):
            self._add_trace(name, body, p)
        self.show(0)

    def show(self, k: int) -> None:
        """Everything where it is at picture k."""
        for name, handle in self._bodies.items():
            handle.wxyz = self._wxyz[name][k]
            handle.position = self.drawn.poses[name][k, :, 3]
        for link, handle in self._links:
            span = link.b[k] - link.a[k]
            width = 0.035 * self.drawn.size if link.is_coil else 1.0
            handle.wxyz = along(span[None])[0]
            handle.position = link.a[k] if link.is_coil else (link.a[k] + link.b[k]) / 2
            handle.scale = (width, width, float(np.linalg.norm(span)))
        for arrow, handle in self._arrows:
            handle.points = np.stack([arrow.start[k], arrow.start[k] + arrow.vector[k]])[None]
        self._crowd.show(k)
        for batch in self._marks:
            batch.show(k)
        for mark, label in self._names:
            label.position = mark.point[k] - 1.5 * mark.radius * self._side

    def _set_camera(self, server: Any) -> None:
        eye = camera(self.drawn.reached, self.drawn.up)
        side = np.cross(eye.target - eye.position, self.drawn.up)
        self._side = side / np.linalg.norm(side)
        self.scene.set_up_direction(tuple(self.drawn.up))
        first = server.initial_camera
        first.position, first.look_at, first.up = eye.position, eye.target, eye.up
        first.fov, first.near, first.far = eye.angle, self.drawn.size / 100, self.drawn.size * 100

    def _set_ground(self) -> None:
        """Light, a grid below the motion that takes its shadow, the world's axes."""
        drawn, size = self.drawn, self.drawn.size
        middle = (drawn.reached.min(axis=0) + drawn.reached.max(axis=0)) / 2
        low = float((drawn.reached @ drawn.up).min()) - 0.12 * size
        cell = _round_number(size / 2.5)
        self.scene.add_grid(
            "/grid", width=10 * size, height=10 * size, cell_size=cell, section_size=5 * cell,
            cell_color=(218, 223, 229), section_color=(190, 198, 207), fade_distance=14 * size,
            shadow_opacity=0.2, wxyz=quaternion_of(frame_along(drawn.up)),
            position=middle + (low - middle @ drawn.up) * drawn.up,
        )  # fmt: skip
        self._add_axes("/world", 0.25, visible=True)

    def _add_axes(self, name: str, length: float, *, visible: bool) -> Any:
        size = self.drawn.size
        return self.scene.add_frame(
            name, axes_length=length * size, axes_radius=0.007 * size, visible=visible
        )

    def _add_body(self, name: str, look: Look) -> Any:
        path = f"/bodies/{_safe(name)}"
        node = self.scene.add_frame(path, show_axes=False)
        for k, piece in enumerate(self.drawn.pieces[name]):
            self._add_piece(f"{path}/{k}", piece)
        if name in self.drawn.middles:
            frame = self._add_axes(f"{path}/frame", 0.18, visible=look.frames)
            seen, place = look.shows_labels(len(self.drawn.pieces) - 1), self.drawn.middles[name]
            label = self.scene.add_label(
                f"{path}/name", name, position=place, visible=seen, anchor="bottom-left"
            )
            self.groups["frames"].append(frame)
            self.groups["names"].append(label)
        return node

    def _add_piece(self, name: str, piece: Piece) -> None:
        at = {"wxyz": quaternion_of(piece.R), "position": piece.p}
        glass = {"opacity": piece.opacity if piece.opacity < 1 else None}
        if piece.kind == "box":
            self.scene.add_box(name, piece.color, piece.size, **at, **glass)
        elif piece.kind == "cylinder":
            self.scene.add_cylinder(name, *piece.size, piece.color, **at, **glass)
        elif piece.kind == "sphere":
            self.scene.add_icosphere(name, *piece.size, piece.color, **at, **glass)
        elif piece.surface is not None:
            self.scene.add_mesh_simple(
                name,
                piece.surface.vertices,
                piece.surface.faces,
                color=piece.color,
                side="double",
                flat_shading=not piece.surface.is_smooth,
                **at,
                **glass,
            )

    def _add_link(self, link: Any) -> Any:
        name = f"/links/{_safe(link.name)}"
        if link.is_coil:
            return self.scene.add_line_segments(
                name, coil(), link.color, thickness=2.5, thickness_units="screen"
            )
        return self.scene.add_cylinder(name, 0.012 * self.drawn.size, 1.0, link.color)

    def _add_arrow(self, arrow: Any) -> Any:
        size = self.drawn.size
        handle = self.scene.add_arrows(
            f"/forces/{_safe(arrow.name)}", np.zeros((1, 2, 3)), linear(arrow.color),
            shaft_radius=0.011 * size, head_radius=0.028 * size, head_length=0.075 * size,
        )  # fmt: skip
        self.groups["forces"].append(handle)
        return handle

    def _add_marks(self) -> list[MarkBatches]:
        """Dots and arrows of all places of contact, below one node that hides them."""
        if not self.marks:
            return []
        self.groups["contacts"].append(self.scene.add_frame("/contacts", show_axes=False))
        without = [mark for mark in self.marks if not mark.is_placed]
        for mark in without if len(without) <= MOST_LABELS else ():
            path = f"/contacts/{_safe(mark.name)}"
            label = self.scene.add_label(path, mark.name, anchor="center-right")
            self._names.append((mark, label))
        return [MarkBatches(self.scene, "/contacts", self.marks, self.drawn.size)]

    def _smooth(self, path: Array) -> Array:
        """The way of a point between pictures too."""
        if len(path) < 2:
            return path
        fine = np.linspace(self.t[0], self.t[-1], 4 * len(path) - 3)
        return hermite(spots(self.t, fine), path, slopes(self.t, path))[0]

    def _add_trace(self, name: str, body: str, p: Array) -> None:
        path = self._smooth(point_path(self.drawn.poses, body, p))
        size, key = self.drawn.size, f"{_safe(name)}-{len(self.groups['traces'])}"
        if len(path) > 1:
            way = self.scene.add_line_segments(
                f"/traces/{key}", np.stack([path[:-1], path[1:]], axis=1), TRACE_COLOR,
                thickness=2.0, thickness_units="screen",
            )  # fmt: skip
            self.groups["traces"].append(way)
        dot = self.scene.add_icosphere(
            f"/bodies/{_safe(body)}/{key}", 0.022 * size, TRACE_COLOR, position=p
        )
        self.groups["traces"].append(dot)


def _crowd(drawn: Drawing, look: Look) -> dict[str, tuple[Piece, ...]]:
    """Bodies drawn together: where they are many and need no nodes of their own."""
    asks = bool(look.frames or look.labels or look.trace)
    if asks or len(drawn.pieces) <= MOST_NODES:
        return {}
    return {x: p for x, p in drawn.pieces.items() if x != "ground" and is_plain(p)}


def _round_number(x: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(k for k in (1, 2, 5) if k * power <= x * (1 + 1e-9)))


def _safe(name: str) -> str:
    """A name that is one step of a path."""
    return name.replace("/", "∕")
