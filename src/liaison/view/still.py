"""A mechanism as a still picture: a drawing in SVG, with further positions of its motion behind it.

Faces are projected by the camera of the 3D pages and painted from far to near. Names and lines take
the color of the text around them, so that the picture suits light and dark pages.

Public names: still, positions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import final

import numpy as np

from liaison.model import Mechanism
from liaison.simulation.record.trajectory import Trajectory

from .camera import camera
from .drawing import Array, Drawing, drawing, point_path
from .links import links
from .solids import SIDES, Color, Piece

WIDTH, HIGHEST = 760.0, 520.0
MARGIN = 34.0
GHOST = 0.28
"""Opacity of positions other than the first."""

MOST_POSITIONS = 5
MOST_NAMES = 14
MOST_PATHS = 16
FINE = 0.12
"""Length of parts of faces, in sizes of the picture."""

MOST_PARTS = 24
MOST_FACES = 1500
"""Triangles of one surface; of a finer one every few are drawn."""

STILL = 1e-6
"""Motions smaller than this, in sizes of the picture, are none."""

LIGHT = np.array([0.35, 0.45, 0.82])
"""Direction of the light, in axes of the picture: right, up, towards the eye."""

SPRING_TURNS = 7


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Eye:
    """A projection: world points to the picture, y downwards, and how near they are."""

    place: Array
    axes: Array  # right, up, towards the eye

    def __call__(self, points: Array) -> Array:
        """Shape (k, 3): x, y in units of the picture plane, and depth, larger when nearer."""
        seen = (points - self.place) @ self.axes.T
        return np.column_stack([seen[:, 0] / -seen[:, 2], seen[:, 1] / seen[:, 2], seen[:, 2]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Face:
    """A polygon of the picture."""

    points: Array  # (k, 2)
    depth: float
    color: str
    opacity: float = 1.0


def positions(run: Trajectory, most: int = MOST_POSITIONS) -> list[int]:
    """Instants, by number, at which bodies are far from where they are at the others.

    The first is that of the start; of a mechanism that does not move it is the only one.
    """
    poses = run.series["poses"].values
    spread = float(np.ptp(poses[..., 3], axis=0).max(initial=0.0))
    turned = float(np.ptp(poses[..., :3], axis=0).max(initial=0.0))
    size = float(np.ptp(poses[..., 3].reshape(-1, 3), axis=0).max(initial=0.0)) or 1.0
    if spread < STILL * size and turned < STILL:
        return [0]
    scaled = np.concatenate([poses[..., 3] / size, poses[..., 0], poses[..., 2]], axis=-1)
    whole = scaled.reshape(len(poses), -1)
    chosen = [0]
    nearest = np.linalg.norm(whole - whole[0], axis=1)
    while len(chosen) < min(most, len(poses)) and nearest.max() > STILL:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(whole - whole[chosen[-1]], axis=1))
    return chosen


def still(run: Trajectory, mechanism: Mechanism, instants: Sequence[int] = (0,)) -> str:
    """The mechanism at some instants, as an SVG element: the first one full, the others pale.

    Args:
        run: with poses.
        mechanism: that moved.
        instants: their numbers.
    """
    drawn = drawing(run, mechanism)
    eye = _eye(drawn)
    levels: list[list[_Face]] = []
    for k in reversed(instants):
        once = [x for x in drawn.pieces if x != "ground" or k == instants[0]]
        level = [face for body in once for face in _faces(drawn, body, k, eye)]
        levels.append(sorted(level, key=lambda face: face.depth))
    lines = _Lines(
        _paths(drawn, eye) if len(instants) > 1 else [],
        _links(drawn, mechanism, instants[0], eye),
        _names(drawn, instants[0], eye),
    )
    return _svg(levels, lines, mechanism.name)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """What is drawn over the faces."""

    paths: list[Array]
    links: list[tuple[Array, bool]]  # and whether it is a spring
    names: list[tuple[str, Array]]


def _eye(drawn: Drawing) -> _Eye:
    look = camera(drawn.reached, drawn.up)
    back = (look.position - look.target) / np.linalg.norm(look.position - look.target)
    right = np.cross(look.up, back)
    right /= np.linalg.norm(right)
    return _Eye(look.position, np.stack([right, np.cross(back, right), back]))


def _faces(drawn: Drawing, body: str, k: int, eye: _Eye) -> Iterator[_Face]:
    X = drawn.poses[body][k]
    for piece in drawn.pieces[body]:
        R, p = X[:, :3] @ piece.R, X[:, :3] @ piece.p + X[:, 3]
        for corners, normal in _polygons(piece, FINE * drawn.size):
            placed = corners @ R.T + p
            seen, depth = eye(placed), -float(np.linalg.norm(placed.mean(axis=0) - eye.place))
            if normal is None:
                hull = _hull(seen[:, :2])
                yield _Face(hull, depth, _shade(piece.color, 0.8), piece.opacity)
                continue
            out = R @ normal
            if out @ (eye.place - placed.mean(axis=0)) > 0:
                light = 0.62 + 0.38 * max(0.0, float(eye.axes @ out @ LIGHT))
                yield _Face(seen[:, :2], depth, _shade(piece.color, light), piece.opacity)


def _polygons(piece: Piece, fine: float) -> Iterator[tuple[Array, Array | None]]:
    """Corners in the axes of the piece, and the normal; None: the hull of all of them.

    Long ones are cut into parts of the length `fine` [m], whose order from far to near is right.
    """
    if piece.kind == "sphere":
        yield _ball(piece.size[0]), None
    elif piece.kind == "cylinder":
        radius, height = piece.size
        yield from _cylinder(radius, height, fine)
    elif piece.kind == "box":
        yield from _box(np.array(piece.size), fine)
    elif piece.surface is not None:
        vertices = piece.surface.vertices
        for triangle in piece.surface.faces[:: 1 + len(piece.surface.faces) // MOST_FACES]:
            corners = vertices[triangle]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            if (length := float(np.linalg.norm(normal))) > 0:
                yield corners, _outwards(normal / length, corners, vertices)


def _ring() -> Array:
    turn = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    return np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])


def _ball(radius: float) -> Array:
    """Points whose hull has nearly the outline of a ball, from wherever it is seen."""
    ring = _ring()
    slant = np.array(list(itertools.product((-1, 1), repeat=3))) / np.sqrt(3)
    return radius * np.concatenate([ring, ring[:, [2, 0, 1]], ring[:, [1, 2, 0]], slant])


def _cylinder(radius: float, height: float, fine: float) -> Iterator[tuple[Array, Array | None]]:
    ring, along = radius * _ring(), np.array([0.0, 0.0, 1.0])
    cuts = np.linspace(-height / 2, height / 2, _parts(height, fine) + 1)
    for low, high in itertools.pairwise(cuts):
        yield np.concatenate([ring + low * along, ring + high * along]), None
    for side in (1.0, -1.0):
        yield ring + side * (height / 2) * along, side * along


def _box(sides: Array, fine: float) -> Iterator[tuple[Array, Array]]:
    for k, sign in itertools.product(range(3), (-1.0, 1.0)):
        i, j = (k + 1) % 3, (k + 2) % 3
        normal = sign * np.eye(3)[k]
        cuts = [np.linspace(-0.5, 0.5, _parts(sides[x], fine) + 1) for x in (i, j)]
        for (a, b), (c, d) in itertools.product(*(itertools.pairwise(x) for x in cuts)):
            corners = np.tile(0.5 * normal, (4, 1))
            corners[:, i], corners[:, j] = (a, b, b, a), (c, c, d, d)
            yield corners * sides, normal


def _parts(length: float, fine: float) -> int:
    return int(min(MOST_PARTS, max(1, np.ceil(length / fine))))


def _outwards(normal: Array, corners: Array, vertices: Array) -> Array:
    """The normal that leads away from the middle of a solid."""
    return normal if normal @ (corners.mean(axis=0) - vertices.mean(axis=0)) >= 0 else -normal


def _hull(points: Array) -> Array:
    """The convex hull of points of a plane, by Andrew's monotone chain."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]
    half: list[list[Array]] = []
    for sequence in (order, order[::-1]):
        chain: list[Array] = []
        for p in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        half.append(chain[:-1])
    return np.array(half[0] + half[1])


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _shade(color: Color, light: float) -> str:
    return "#" + "".join(f"{min(255, round(light * x)):02x}" for x in color)


def _paths(drawn: Drawing, eye: _Eye) -> list[Array]:
    """Ways of the joints' places that move, in the picture."""
    paths = []
    for body, _, p in list(drawn.markers.values())[:MOST_PATHS]:
        way = point_path(drawn.poses, body, p)
        if np.ptp(way, axis=0).max() > 1e-3 * drawn.size:
            paths.append(eye(way)[:, :2])
    return paths


def _links(drawn: Drawing, mechanism: Mechanism, k: int, eye: _Eye) -> list[tuple[Array, bool]]:
    """Springs as zigzags, jacks and rods as lines."""
    listed = []
    for link in links(drawn, mechanism):
        ends = eye(np.stack([link.a[k], link.b[k]]))[:, :2]
        if not link.is_coil:
            listed.append((ends, False))
            continue
        along = np.linspace(0, 1, 2 * SPRING_TURNS + 3)[:, None]
        span = ends[1] - ends[0]
        across = np.array([-span[1], span[0]]) / (float(np.linalg.norm(span)) or 1.0)
        swing = np.zeros((len(along), 1))
        swing[2:-2, 0] = [(-1) ** j for j in range(len(along) - 4)]
        wide = 0.03 * drawn.size / float(np.linalg.norm(eye.place - link.a[k]))
        listed.append((ends[0] + along * span + wide * swing * across, True))
    return listed


def _names(drawn: Drawing, k: int, eye: _Eye) -> list[tuple[str, Array]]:
    if len(drawn.middles) > MOST_NAMES:
        return []
    return [
        (name, eye(point_path(drawn.poses, name, p)[k : k + 1])[0, :2])
        for name, p in drawn.middles.items()
    ]


def _svg(levels: Sequence[Sequence[_Face]], lines: _Lines, title: str) -> str:
    faces = [face for level in levels for face in level]
    corners = np.concatenate(
        [*(f.points for f in faces), *lines.paths, *(x for x, _ in lines.links)]
    )
    low, high = corners.min(axis=0), corners.max(axis=0)
    wide, tall = np.maximum(high - low, 1e-12)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HIGHEST - 2 * MARGIN) / tall)
    height = scale * tall + 2 * MARGIN
    shift = np.array([WIDTH / 2, height / 2]) - scale * (low + high) / 2

    def text(points: Array) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in scale * points + shift)

    parts = []
    for k, level in enumerate(levels):
        inside = "".join(_polygon(x, text(x.points)) for x in level)
        pale = f' opacity="{GHOST}"' if k < len(levels) - 1 else ""
        parts.append(f"<g{pale}>{inside}</g>")
    way = 'fill="none" stroke="currentColor" stroke-width=".8" opacity=".6"'
    parts += [f'<polyline points="{text(x)}" {way}/>' for x in lines.paths]
    parts += [
        f'<polyline points="{text(x)}" fill="none" stroke="{"#3c966b" if coil else "#8a929b"}" '
        f'stroke-width="{2 if coil else 3}" stroke-linejoin="round"/>'
        for x, coil in lines.links
    ]
    parts += [_name(name, *(scale * p + shift)) for name, p in lines.names]
    return (
        f'<svg class="picture" role="img" aria-label="{escape(title)}" width="{WIDTH:.0f}" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" font-size="13">{"".join(parts)}</svg>'
    )


def _polygon(face: _Face, points: str) -> str:
    """Opaque ones have an edge of their color, which hides the seams between them."""
    if face.opacity < 1:
        return f'<polygon points="{points}" fill="{face.color}" opacity="{face.opacity:.2g}"/>'
    edge = f'stroke="{face.color}" stroke-width=".7" stroke-linejoin="round"'
    return f'<polygon points="{points}" fill="{face.color}" {edge}/>'


def _name(name: str, x: float, y: float) -> str:
    return (
        f'<text x="{x + 6:.1f}" y="{y - 6:.1f}" fill="currentColor" class="halo">'
        f"{escape(name)}</text>"
    )
