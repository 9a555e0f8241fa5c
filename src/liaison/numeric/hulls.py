"""Convex hulls of points: corners, faces with their outlines, volume, center and inertia.

Triangles of one plane are merged to a face. Points inside and points on straight edges are no
corners. A hull of more corners than contacts can use is replaced by that of its extreme points in
many directions; `notes` name what was left out or replaced.

Public names: Polytope, Solid, convex_hull, MOST_CORNERS.

Source: docs/theory/convex.md (hull-1); BDH96 (quickhull).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import ModelError

from .state import Array

MOST_CORNERS = 256
"""Corners of a hull at most."""
MOST_POINTS = 20000
"""Points from which those that are extreme in many directions are chosen first."""
DIRECTIONS = 512
SAME_PLANE = 1e-9
"""Distance of a corner from a plane, beside the size, up to which it lies in the plane."""
FLAT = 1e-7
"""Thickness beside the size below which points have no volume."""
CHUNK = 2048  # points that are treated at once
ROUNDS = 2
"""Times that corners are added to a hull that has too many of them."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """A convex body with corners.

    Attributes:
        vertices: corners, shape (n, 3) [m].
        faces: corners of each face, about its outward normal.
        normals: outward, shape (k, 3).
        offsets: n · x of each face, shape (k,) [m].
        volume: [m³].
        center: of the volume, shape (3,) [m].
        second: ∫ x xᵀ dV about the center, shape (3, 3) [m⁵].
        notes: what was left out or replaced.
    """

    vertices: Array
    faces: tuple[tuple[int, ...], ...]
    normals: Array
    offsets: Array
    volume: float
    center: Array
    second: Array
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> float:
        """The largest distance of a corner from the center [m]."""
        return float(np.max(np.linalg.norm(self.vertices - self.center, axis=1)))

    def triangles(self) -> Array:
        """Every face as triangles, shape (m, 3)."""
        rows = [(f[0], f[k], f[k + 1]) for f in self.faces for k in range(1, len(f) - 1)]
        return np.array(rows, dtype=np.int64)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A convex body as it is described.

    Attributes:
        polytope: its core; None of a cylinder.
        core: corners of a core that has no faces, shape (n, 3): of a ball one, of a capsule two.
        radius: by which the core is widened [m].
        disc: radius of a cylinder along z [m].
        half: half its length [m].
    """

    polytope: Polytope | None = None
    core: Array | None = None
    radius: float = 0.0
    disc: float = 0.0
    half: float = 0.0

    @property
    def vertices(self) -> Array:
        """Corners of the core."""
        if self.polytope is not None:
            return self.polytope.vertices
        return np.zeros((0, 3)) if self.core is None else np.array(self.core, dtype=float)

    @property
    def middle(self) -> Array:
        """A point inside."""
        corners = self.vertices
        middle: Array = np.mean(corners, axis=0) if len(corners) else np.zeros(3)
        return middle


def convex_hull(points: Any, owner: str = "a hull") -> Polytope:
    """The convex hull of points.

    Args:
        points: shape (n, 3) [m].
        owner: whose they are, for messages.

    Raises:
        ModelError: fewer than four points, one that is not finite, or all in a plane.
    """
    cloud = _checked(points, owner)
    notes: list[str] = []
    chosen = cloud
    if len(cloud) > MOST_POINTS:
        chosen = cloud[_extreme_places(cloud, _directions(DIRECTIONS))]
    middle, size = _frame(chosen)
    hull = _faces((chosen - middle) / size, owner)
    if len(hull[0]) > MOST_CORNERS:
        corners = chosen[hull[0]]
        picked, hull = _coarser((corners - middle) / size, owner)
        chosen = corners[picked]
    kept, faces, normals = hull
    vertices = chosen[kept]
    offsets = np.max(vertices @ normals.T, axis=0)
    if len(chosen) < len(cloud):
        off = _outside(cloud, normals, offsets)
        if off > SAME_PLANE * size:
            notes.append(
                f"{owner} is replaced by the hull of {len(vertices)} of its {len(cloud)} points, "
                f"which leaves out up to {off:.3g} m"
            )
    elif len(vertices) < len(cloud):
        left = len(cloud) - len(vertices)
        notes.append(f"{left} of {len(cloud)} points of {owner} are no corners of its hull")
    volume, center, second = _moments(vertices, faces)
    return Polytope(vertices, faces, normals, offsets, volume, center, second, tuple(notes))


def _coarser(corners: Array, owner: str) -> tuple[Any, Any]:
    """Some corners of size 1, by number, and their hull: extreme ones, and those farthest off."""
    picked = _extreme_places(corners, _directions(MOST_CORNERS))
    hull = _faces(corners[picked], owner)
    for _ in range(ROUNDS):
        kept, _, normals = hull
        vertices = corners[picked[kept]]
        heights = corners @ normals.T - np.max(vertices @ normals.T, axis=0)
        # of the corners farthest off a face those that are farthest, as long as there is room
        far = np.unique(np.argmax(heights, axis=0))
        off = np.max(heights[far], axis=1)
        far = far[np.argsort(-off, kind="stable")][: MOST_CORNERS - len(vertices)]
        far = far[np.max(heights[far], axis=1) > SAME_PLANE]
        if not len(far):
            break
        picked = np.union1d(picked[kept], far)
        hull = _faces(corners[picked], owner)
    return picked, hull


def _checked(points: Any, owner: str) -> Array:
    """Points as an array; rejects what has no hull."""
    try:
        array = np.array(points, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"the points of {owner} are no rows of three numbers.") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ModelError(f"the points of {owner} are no rows of three numbers.")
    bad = np.flatnonzero(~np.all(np.isfinite(array), axis=1))
    if len(bad):
        raise ModelError(
            f"point {bad[0] + 1} of {owner} is {array[bad[0]].tolist()}, which is not finite."
        )
    if len(array) < 4:
        raise ModelError(f"{owner} has {len(array)} points; a body with a volume has four or more.")
    middle, size = _frame(array)
    if not 1e-9 < size < 1e9:
        raise ModelError(
            f"the points of {owner} lie within {size:.3g} m, which is no size of a body.",
            hint="Check the unit of the points, or their scale.",
        )
    flat = _thickness((array - middle) / size)
    if flat < FLAT:
        raise ModelError(
            f"the points of {owner} lie in a plane (within {flat * size:.3g} m): no volume.",
            hint="Give it a thickness, or take a box.",
        )
    return array


def _frame(points: Array) -> tuple[Array, float]:
    """The middle of the extent of points, and its half diagonal."""
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return (low + high) / 2, float(np.linalg.norm(high - low)) / 2


def _thickness(points: Array) -> float:
    """Extent along the direction in which points extend least."""
    centered = points - np.mean(points, axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return float(np.ptp(points @ axes[:, 0]))


def _directions(count: int) -> Array:
    """Directions spread evenly over the sphere, by the golden angle."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, math.pi * (1 + math.sqrt(5)) * k
    wide = np.sqrt(1 - z * z)
    return np.column_stack([wide * np.cos(turn), wide * np.sin(turn), z])


def _extreme_places(points: Array, directions: Array) -> Any:
    """Numbers of the points that are extreme in one of the directions, in their order."""
    best, place = np.full(len(directions), -np.inf), np.zeros(len(directions), dtype=np.int64)
    for start in range(0, len(points), CHUNK):
        heights = directions @ points[start : start + CHUNK].T
        top = np.argmax(heights, axis=1)
        value = heights[np.arange(len(directions)), top]
        better = value > best
        best[better], place[better] = value[better], start + top[better]
    return np.unique(place)


def _outside(points: Array, normals: Array, offsets: Array) -> float:
    """How far a point lies outside of all faces, at most."""
    worst = 0.0
    for start in range(0, len(points), CHUNK):
        worst = max(worst, float(np.max(points[start : start + CHUNK] @ normals.T - offsets)))
    return worst


def _faces(points: Array, owner: str) -> tuple[list[int], tuple[tuple[int, ...], ...], Array]:
    """Which points of size 1 are corners, the faces, and their normals."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError as error:
        why = str(error).split("\n")[0]
        raise ModelError(f"{owner} has no convex hull: {why}.") from error
    turned: list[tuple[int, ...]] = list(map(tuple, _turned(points, hull).tolist()))
    faces = [
        outline
        for members in _planes(points, hull)
        for outline in _outlines(points, [turned[k] for k in members])
    ]
    normals = np.zeros((len(faces), 3))
    plain = [k for k, face in enumerate(faces) if len(face) == 3]
    normals[plain] = _normals(points[np.array([faces[k] for k in plain], dtype=int).reshape(-1, 3)])
    for k, face in enumerate(faces):
        if len(face) > 3:
            normals[k] = _normal(points[list(face)])
    used = sorted({k for face in faces for k in face})
    number = {k: i for i, k in enumerate(used)}
    listed = tuple(tuple(number[k] for k in face) for face in faces)
    return used, listed, normals


def _planes(points: Array, hull: Any) -> list[list[int]]:
    """Triangles by the plane they lie in, by way of their neighbors."""
    normals, offsets = hull.equations[:, :3], hull.equations[:, 3]
    group = np.full(len(normals), -1)
    groups: list[list[int]] = []
    # large triangles first: their planes are known best
    corners = points[hull.simplices]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    around = points[hull.simplices[hull.neighbors]]
    heights = np.einsum("nabi,ni->nab", around, normals) + offsets[:, None, None]
    is_flat = np.any(np.max(np.abs(heights), axis=2) <= SAME_PLANE, axis=1)
    for seed in np.argsort(-area, kind="stable"):
        if group[seed] >= 0:
            continue
        if not is_flat[seed]:
            group[seed] = len(groups)
            groups.append([int(seed)])
            continue
        members, stack = [], [int(seed)]
        group[seed] = len(groups)
        while stack:
            one = stack.pop()
            members.append(one)
            for other in hull.neighbors[one]:
                if group[other] >= 0:
                    continue
                high = points[hull.simplices[other]] @ normals[seed] + offsets[seed]
                if np.max(np.abs(high)) <= SAME_PLANE:
                    group[other] = len(groups)
                    stack.append(int(other))
        groups.append(members)
    return groups


def _outlines(points: Array, triangles: list[tuple[int, ...]]) -> Iterable[tuple[int, ...]]:
    """The outline of triangles of one plane; each by itself where they have no single one."""
    edges = {(t[i], t[(i + 1) % 3]) for t in triangles for i in range(3)}
    border = {a: b for a, b in edges if (b, a) not in edges}
    start = next(iter(border), -1)
    loop, at = [start], border.get(start, start)
    while at != start and len(loop) <= len(border):
        loop.append(at)
        at = border.get(at, start)
    if len(loop) != len(border) or len(loop) < 3:
        return [t for t in triangles if np.linalg.norm(_cross(points[list(t)])) > SAME_PLANE**2]
    kept = _straightened(points, loop)
    return [tuple(kept)] if len(kept) >= 3 else []


def _turned(points: Array, hull: Any) -> Any:
    """Corners of all triangles about their outward normals."""
    corners = points[hull.simplices]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ni,ni->n", cross, hull.equations[:, :3]) < 0
    return np.where(inwards[:, None], hull.simplices[:, [0, 2, 1]], hull.simplices)


def _cross(corners: Array) -> Array:
    cross: Array = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return cross


def _straightened(points: Array, loop: list[int]) -> list[int]:
    """An outline without corners on straight lines between their neighbors."""
    kept = list(loop)
    while len(kept) > 3:
        corners = points[kept]
        before, along = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
        x, y = (along - before).T, (corners - before).T
        across = [x[i - 2] * y[i - 1] - x[i - 1] * y[i - 2] for i in range(3)]
        off = np.sqrt(sum(z * z for z in across))
        straight = off <= SAME_PLANE * np.maximum(np.sqrt(np.sum(x * x, axis=0)), 1e-300)
        if not np.any(straight):
            break
        del kept[int(np.argmax(straight))]
    return kept


def _normal(corners: Array) -> Array:
    """The normal of a polygon: the sum of the products of its edges."""
    normal: Array = _normals(corners[None])[0]
    return normal


def _normals(corners: Array) -> Array:
    """The same of many of equally many corners."""
    arms = corners - np.mean(corners, axis=1)[:, None]
    total = np.sum(np.cross(arms, np.roll(arms, -1, axis=1)), axis=1)
    long = np.array([np.linalg.norm(x) for x in total])
    normals: Array = total / np.where(long > 0, long, 1.0)[:, None]
    return normals


def _moments(vertices: Array, faces: tuple[tuple[int, ...], ...]) -> tuple[float, Array, Array]:
    """Volume, its center and ∫ x xᵀ dV about that, by tetrahedra from a point inside."""
    origin = np.mean(vertices, axis=0)
    rows = np.array([(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)])
    a, b, c = ((vertices - origin)[rows[:, i]] for i in range(3))
    parts = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6
    volume = float(np.sum(parts))
    total = a + b + c
    center = np.einsum("n,ni->i", parts, total) / (4 * volume)
    second = np.einsum("n,ni,nj->ij", parts, total, total)
    for x in (a, b, c):
        second = second + np.einsum("n,ni,nj->ij", parts, x, x)
    second = second / 20 - volume * np.outer(center, center)
    return volume, center + origin, (second + second.T) / 2
