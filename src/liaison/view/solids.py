"""Solids of a picture: boxes, cylinders, balls, cones, plates, rods between points.

Public names: Color, Piece, Surface, rod, ball, box, tube, cone, globe, cube, pillar, pipe,
capsule, polyline, plate, around, corners, frame_along.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Color = tuple[int, int, int]

SIDES = 32


@final
@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Triangles: corners [m], shape (k, 3), and their numbers by three, shape (m, 3)."""

    vertices: Array
    faces: NDArray[np.int64]
    is_smooth: bool = True


@final
@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A solid at a pose on a body [m].

    Args:
        kind: "box" (x, y, z), "cylinder" along z (radius, height), "sphere" (radius) or "mesh".
        size: as the kind says; nothing for a mesh.
        R: axes of the solid on the body, shape (3, 3).
        p: its center on the body, shape (3,).
        color: red, green, blue, 0 to 255.
        opacity: below 1 for glass.
        surface: of a mesh.
        joint: whose symbol it is a part of; "" of a part of the body.
    """

    kind: str
    size: tuple[float, ...]
    R: Array
    p: Array
    color: Color
    opacity: float = 1.0
    surface: Surface | None = None
    joint: str = ""


def frame_along(z: Array) -> Array:
    """A rotation whose z axis lies along a vector."""
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def rod(a: Array, b: Array, radius: float, color: Color) -> Piece:
    """A round bar from a to b."""
    return Piece(
        "cylinder", (radius, float(np.linalg.norm(b - a))), frame_along(b - a), (a + b) / 2, color
    )


def ball(center: Array, radius: float, color: Color) -> Piece:
    """A sphere."""
    return Piece("sphere", (radius,), np.eye(3), center, color)


def tube(R: Array, p: Array, radius: float, height: float, color: Color) -> Piece:
    """A cylinder about the z axis of (R, p), centered there."""
    return Piece("cylinder", (radius, height), R, p, color)


def box(R: Array, p: Array, sides: Array, color: Color, opacity: float = 1.0) -> Piece:
    """A box centered at (R, p)."""
    return Piece("box", tuple(float(x) for x in sides), R, p, color, opacity)


def cone(radius: float, height: float) -> Surface:
    """A cone about z, its base on z = 0, its tip at z = height."""
    angle = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=1)
    tips = np.tile([0.0, 0.0, height], (SIDES, 1))
    vertices = np.concatenate([rim, rim, tips, [[0, 0, 0]]])
    i = np.arange(SIDES)
    j = (i + 1) % SIDES
    # corners are there more than once, so that base and flank are shaded apart
    flank = np.stack([i, j, i + 2 * SIDES], axis=1)
    base = np.stack([j + SIDES, i + SIDES, np.full(SIDES, 3 * SIDES)], axis=1)
    return Surface(vertices, np.concatenate([flank, base]))


def globe(rows: int = 16, columns: int = 24) -> Surface:
    """The unit sphere."""
    down, turn = np.meshgrid(
        np.linspace(0, np.pi, rows + 1),
        np.linspace(0, 2 * np.pi, columns, endpoint=False),
        indexing="ij",
    )
    points = np.stack(
        [np.sin(down) * np.cos(turn), np.sin(down) * np.sin(turn), np.cos(down)], axis=-1
    )
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    a, b = (i * columns + j).ravel(), (i * columns + (j + 1) % columns).ravel()
    faces = [np.stack([a, a + columns, b], axis=1), np.stack([b, a + columns, b + columns], axis=1)]
    return Surface(points.reshape(-1, 3), np.concatenate(faces))


def cube() -> Surface:
    """The unit cube about the origin."""
    corner = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [x for a, b, c, d in sides for x in ((a, b, c), (a, c, d))]
    return Surface(corner, np.array(faces), is_smooth=False)


def pillar() -> Surface:
    """The cylinder of radius 1 and height 1 about z and the origin."""
    angle = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    half = np.array([0.0, 0.0, 0.5])
    low, high = rim - half, rim + half
    vertices = np.concatenate([low, high, low, high, [-half, half]])
    i, n = np.arange(SIDES), SIDES
    j = (i + 1) % n
    flank = [np.stack([i, j, i + n], axis=1), np.stack([j, j + n, i + n], axis=1)]
    ends = [
        np.stack([j + 2 * n, i + 2 * n, np.full(n, 4 * n)], axis=1),
        np.stack([i + 3 * n, j + 3 * n, np.full(n, 4 * n + 1)], axis=1),
    ]
    return Surface(vertices, np.concatenate([*flank, *ends]))


def pipe(radius: float, inner: float, length: float) -> Surface:
    """A cylinder about z and the origin with a bore of radius `inner`."""
    angle = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    half = np.array([0.0, 0.0, length / 2])
    # around the section: outside low and high, inside high and low
    rings = [radius * rim - half, radius * rim + half, inner * rim + half, inner * rim - half]
    i, n = np.arange(SIDES), SIDES
    j = (i + 1) % n
    vertices: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    # corners are there more than once, so that ends and flanks are shaded apart
    for a, b in zip(rings, [*rings[1:], rings[0]], strict=True):
        first = n * len(vertices)
        faces += [first + np.stack([i, j, i + n], 1), first + np.stack([j, j + n, i + n], 1)]
        vertices += [a, b]
    return Surface(np.concatenate(vertices), np.concatenate(faces))


def capsule(radius: float, length: float) -> Surface:
    """A cylinder about z and the origin with half balls beyond its ends."""
    surface = globe(33, SIDES)  # an odd number of rows: none on the equator
    away = np.sign(surface.vertices[:, 2:]) * [[0.0, 0.0, length / 2]]
    return Surface(radius * surface.vertices + away, surface.faces)


def polyline(points: Array, radius: float) -> Surface:
    """Round bars from point to point, shape (k, 3)."""
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    i = np.arange(12)
    j = (i + 1) % 12
    tube = np.concatenate([np.stack([i, j, i + 12], axis=1), np.stack([j, j + 12, i + 12], axis=1)])
    vertices: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    for a, b in itertools.pairwise(points):
        if np.any(a != b):
            turned = ring @ frame_along(b - a).T
            faces.append(tube + 24 * len(vertices))
            vertices.append(np.concatenate([a + turned, b + turned]))
    if not vertices:
        return Surface(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    return Surface(np.concatenate(vertices), np.concatenate(faces))


def plate(outline: Array, thickness: float, color: Color, opacity: float = 1.0) -> Piece:
    """A flat plate with this outline (k, 3), corners in order around it."""
    center = outline.mean(axis=0)
    _, _, axes = np.linalg.svd(outline - center)
    normal = axes[2] * thickness / 2
    k = len(outline)
    vertices = np.concatenate(
        [outline + normal, outline - normal, [center + normal, center - normal]]
    )
    i = np.arange(k)
    j = (i + 1) % k
    top = np.stack([i, j, np.full(k, 2 * k)], axis=1)
    bottom = np.stack([j + k, i + k, np.full(k, 2 * k + 1)], axis=1)
    sides = np.concatenate([np.stack([i, i + k, j], axis=1), np.stack([j, i + k, j + k], axis=1)])
    surface = Surface(vertices, np.concatenate([top, bottom, sides]), is_smooth=False)
    return Piece("mesh", (), np.eye(3), np.zeros(3), color, opacity, surface)


def around(points: Array) -> Array:
    """The same points in the order one meets them going around their middle."""
    center = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - center)
    flat = (points - center) @ axes[:2].T
    return points[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]), kind="stable")]


def corners(piece: Piece) -> Array:
    """Corners of a box around a piece, in the body's axes, shape (8, 3)."""
    if piece.surface is not None:
        low, high = piece.surface.vertices.min(axis=0), piece.surface.vertices.max(axis=0)
    else:
        half = {"box": piece.size, "sphere": piece.size * 3}.get(
            piece.kind, (2 * piece.size[0], 2 * piece.size[0], piece.size[-1])
        )
        high = np.array(half) * (1.0 if piece.kind == "sphere" else 0.5)
        low = -high
    signs = np.array(list(itertools.product((0, 1), repeat=3)))
    return np.asarray((low + signs * (high - low)) @ piece.R.T + piece.p)
