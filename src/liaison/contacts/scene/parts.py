"""What a scene consists of: bodies with balls, rods, boxes, hulls, points; planes, fields, laws.

Public names: Bodies, Laws, Terrain, SceneModel, check_start, begins_inside,
begins_below, DEEP, TURNED, ROUND, ROD.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.numeric.height_fields import HeightGrid
from liaison.numeric.hulls import Solid as ConvexSolid
from liaison.numeric.hulls import convex_hull
from liaison.simulation.plan.scales import power_near

ROUND = -1
"""Corners of a cylinder, in the place of how many."""
ROD = -2
"""Of a capsule, likewise."""
DEEP = 1e-6
"""Penetration at the start, beside 1 + the largest coordinate, in units, that is pushed out."""
TURNED = 1e-3
"""The same where places of contact lie on bodies that turn: steps fix them midway, and leave bodies
deeper inside each other than these places by size · angle²/8 of a step."""


@final
@dataclass(frozen=True, slots=True)
class Bodies:
    """Free rigid bodies: what they weigh, where they are, and the balls and points on them.

    Attributes:
        names: of the bodies.
        mass: shape (n,) [kg].
        inertia: about the center of mass, in the body's axes, shape (n, 3, 3) [kg m²].
        pose: place of the center of mass and quaternion (w, x, y, z), shape (n, 7).
        speed: ω and velocity of the center of mass, in the axes of the ground, shape (n, 6).
        owner: body of each ball or point, shape (m,).
        ball: center on its body, from the center of mass, and radius (0: a point), shape (m, 4).
        solid: center of each box on its body, half sizes, quaternion of its axes there, shape
            (b, 10); None: no boxes.
        solid_owner: body of each box, shape (b,).
        corners: how many corners the hull in each box has, shape (b,), 0 of a box itself, ROUND of
            a cylinder along z of its box, ROD of a capsule; None: boxes alone.
        corner: corners of all hulls, in the axes of their boxes, from their centers, shape (c, 3).
        frame: [R | p] of the frame that poses are given for, from the center of mass, shape
            (n, 3, 4); None: axes of the inertia, at the center of mass.
    """

    names: tuple[str, ...]
    mass: Array
    inertia: Array
    pose: Array
    speed: Array
    owner: NDArray[np.int64]
    ball: Array
    frame: Array | None = None
    solid: Array | None = None
    solid_owner: NDArray[np.int64] | None = None
    corners: NDArray[np.int64] | None = None
    corner: Array | None = None

    def boxes(self) -> tuple[Array, NDArray[np.int64]]:
        """The boxes and the bodies they are on; none where there are none."""
        if self.solid is None or self.solid_owner is None:
            return np.zeros((0, 10)), np.zeros(0, dtype=np.int64)
        return self.solid, self.solid_owner

    def forms(self, *, on_fields: bool = False) -> list[ConvexSolid]:
        """Every box, hull, cylinder and capsule in the axes of its box, then a point, and one that
        may be widened to a ball; nothing where all are boxes on planes."""
        solid, _ = self.boxes()
        corners = np.zeros(len(solid), dtype=np.int64) if self.corners is None else self.corners
        if not (on_fields or np.any(corners)):
            return []
        signs = np.array(list(itertools.product((-1, 1), repeat=3)))
        corner = np.zeros((0, 3)) if self.corner is None else self.corner
        parts = np.split(corner, np.cumsum(np.maximum(corners, 0))[:-1]) if len(solid) else []
        listed = [
            _rounded(count, half)
            if count < 0
            else ConvexSolid(convex_hull(part if count else signs * half))
            for part, count, half in zip(parts, corners, solid[:, 3:6], strict=True)
        ]
        return [*listed, *[ConvexSolid(core=np.zeros((1, 3)))] * 2]

    def rounds(self) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """Of cylinders and capsules on the ground: middles, axes, sizes (radius of the discs at
        their ends, half the distance of these, radius by which all is widened), and bodies."""
        solid, owner = self.boxes()
        corners = np.zeros(len(solid), dtype=np.int64) if self.corners is None else self.corners
        solid, owner, corners = solid[corners < 0], owner[corners < 0], corners[corners < 0]
        forms = [_rounded(count, half) for count, half in zip(corners, solid[:, 3:6], strict=True)]
        sizes = np.array([[x.disc, x.half, x.radius] for x in forms]).reshape(-1, 3)
        pose = self.pose[owner]
        along = _turned(solid[:, 6:10], np.tile([0.0, 0.0, 1.0], (len(solid), 1)))
        middle = pose[:, :3] + _turned(pose[:, 3:7], solid[:, :3])
        return middle, _turned(pose[:, 3:7], along), sizes, owner


def _rounded(count: int, half: Array) -> ConvexSolid:
    """The cylinder or capsule in a box of these half sizes."""
    radius, long = float(half[0]), float(half[2])
    if count == ROUND:
        return ConvexSolid(disc=radius, half=long)
    end = np.array([0.0, 0.0, long - radius])
    return ConvexSolid(core=np.array([-end, end]), radius=radius, half=long - radius)


@final
@dataclass(frozen=True, slots=True)
class Laws:
    """Which bodies and planes touch each other, and the law of each pair, by classes of surfaces.

    Attributes:
        bodies: class of each body, shape (n,).
        planes: class of each plane, then of each height field, shape (p + f,).
        table: law of a pair of classes, symmetric, shape (c, c); -1: they pass through each other.
        values: friction, restitution, rolling and pivoting friction [m] of each law, shape (l, 4).
        names: of the planes and height fields.
    """

    bodies: NDArray[np.int64]
    planes: NDArray[np.int64]
    table: NDArray[np.int64]
    values: Array
    names: tuple[str, ...]

    @classmethod
    def same(
        cls, bodies: int, planes: int, friction: float, restitution: float, *, fields: int = 0
    ) -> Laws:
        """One law for all bodies, planes and height fields."""
        names = [f"plane {j + 1}" for j in range(planes)]
        return cls(
            np.zeros(bodies, dtype=np.int64),
            np.zeros(planes + fields, dtype=np.int64),
            np.zeros((1, 1), dtype=np.int64),
            np.array([[friction, restitution, 0.0, 0.0]]),
            (*names, *(f"height field {j + 1}" for j in range(fields))),
        )

    def check(self) -> None:
        """Rejects coefficients that cannot be.

        Raises:
            SimulationError: which.
        """
        for friction, restitution, *turning in self.values.tolist():
            for x in (friction, *turning):
                if not (x >= 0 and math.isfinite(x)):
                    raise SimulationError(f"the friction of a scene is {x}; it is not negative.")
            if not 0 <= restitution <= 1:
                raise SimulationError(
                    f"the restitution of a scene is {restitution}; it lies between 0 and 1."
                )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """A height field that does not move.

    Attributes:
        grid: its heights.
        R: its axes on the ground, as columns, shape (3, 3).
        p: its origin there [m], shape (3,).
    """

    grid: HeightGrid
    R: Array
    p: Array


@final
@dataclass(frozen=True, slots=True)
class SceneModel:
    """What a scene consists of, and how its contacts are solved.

    Attributes:
        bodies: what moves.
        planes: (n, d) of each, n of length 1, with n·x ≥ d allowed, shape (p, 4).
        laws: which surfaces touch, and the law of each pair.
        gravity: [m/s²], shape (3,).
        tolerance: residual beside the strongest impulse, of more than twenty contacts.
        depth: penetration that is left alone, beside the smallest radius.
        sweeps: over all contacts, at most, in one problem.
        events: contacts are followed for their events.
        terrains: height fields.
        name: of its runs.
    """

    bodies: Bodies
    planes: Array
    laws: Laws
    gravity: Array
    tolerance: float = 1e-6
    depth: float = 1e-9
    sweeps: int = 1000
    events: bool = True
    terrains: tuple[Terrain, ...] = ()
    name: str = "scene"

    @property
    def size(self) -> float:
        """The smallest radius or half side of what touches [m]; 1 where there are points only."""
        solids, _ = self.bodies.boxes()
        radii = self.bodies.ball[:, 3]
        size = float(np.min([*radii[radii > 0], *solids[:, 3:6].ravel()], initial=math.inf))
        return size if math.isfinite(size) else 1.0

    @property
    def deep(self) -> float:
        """Penetration at the start that is pushed out, beside 1 + the largest coordinate."""
        is_flat = not (len(self.bodies.boxes()[0]) or self.terrains)
        return DEEP if is_flat else TURNED

    @property
    def capacity(self) -> int:
        """Contacts that there is room for in the beginning."""
        count, boxes = len(self.bodies.owner), len(self.bodies.boxes()[0])
        wide = 8 * (count + boxes) * len(self.terrains)
        return 64 + 8 * count + 24 * boxes + count * len(self.planes) // 2 + wide


def check_start(bodies: Bodies, planes: Array, laws: Laws) -> None:
    """Rejects bodies that begin inside each other or below a plane, by name and depth.

    Raises:
        SimulationError: which, and how deep.
    """
    for k in np.flatnonzero(~np.all(np.isfinite([*bodies.pose.T, *bodies.speed.T]), axis=0)):
        message = f"body {bodies.names[k]!r} begins at a place or a rate that is not finite."
        raise SimulationError(message, status="inconsistent start")
    if not np.all(np.isfinite(bodies.ball)):
        raise SimulationError("a ball of the scene has a place or a radius that is not finite.")
    centers, radii = _centers(bodies), bodies.ball[:, 3]
    names = [bodies.names[k] for k in bodies.owner]
    unit = power_near(float(np.min(radii[radii > 0], initial=math.inf)))
    limit = DEEP * (unit + np.max(np.abs(centers), initial=0.0))
    kinds = laws.bodies[bodies.owner]
    depth = radii[:, None] - centers @ planes[:, :3].T + planes[:, 3]
    depth = np.where(laws.table[kinds][:, laws.planes[: len(planes)]] >= 0, depth, -np.inf)
    if depth.size and np.max(depth) > limit:
        i, j = np.unravel_index(int(np.argmax(depth)), depth.shape)
        raise begins_below(names[i], laws.names[j], float(depth[i, j]))
    _check_rounds(bodies, planes, laws, limit * TURNED / DEEP)
    big = np.flatnonzero(radii > 0)
    for n, i in enumerate(big):
        rest = big[n + 1 :][bodies.owner[big[n + 1 :]] != bodies.owner[i]]
        rest = rest[laws.table[kinds[i], kinds[rest]] >= 0]
        apart = np.linalg.norm(centers[rest] - centers[i], axis=1) - radii[rest] - radii[i]
        if apart.size and np.min(apart) < -limit:
            j = rest[int(np.argmin(apart))]
            raise begins_inside(names[i], names[j], float(-np.min(apart)))


def _check_rounds(bodies: Bodies, planes: Array, laws: Laws, limit: float) -> None:
    """Rejects cylinders and capsules that begin below a plane."""
    middle, axis, size, owner = bodies.rounds()
    if not len(owner) or not len(planes):
        return
    along = np.abs(axis @ planes[:, :3].T)
    across = np.sqrt(np.maximum(1 - along**2, 0.0))
    reach = size[:, 1:2] * along + size[:, :1] * across + size[:, 2:]
    depth = reach - middle @ planes[:, :3].T + planes[:, 3]
    touched = laws.planes[: len(planes)]
    depth = np.where(laws.table[laws.bodies[owner]][:, touched] >= 0, depth, -np.inf)
    if np.max(depth) > limit:
        i, j = np.unravel_index(int(np.argmax(depth)), depth.shape)
        raise begins_below(bodies.names[owner[i]], laws.names[j], float(depth[i, j]))


def _centers(bodies: Bodies) -> Array:
    """Where the balls are."""
    pose = bodies.pose[bodies.owner]
    centers: Array = pose[:, :3] + _turned(pose[:, 3:7], bodies.ball[:, :3])
    return centers


def _turned(turn: Array, c: Array) -> Array:
    """Vectors turned by quaternions (w, x, y, z)."""
    w, e = turn[:, :1], turn[:, 1:4]
    once = np.cross(e, c)
    turned: Array = c + 2 * (w * once + np.cross(e, once))
    return turned


def begins_inside(one: str, other: str, depth: float) -> SimulationError:
    """The error of two bodies that begin so deep [m] inside each other."""
    return _start_error(f"bodies {one!r} and {other!r} begin {depth:.3g} m inside each other")


def begins_below(body: str, surface: str, depth: float) -> SimulationError:
    """The error of a body that begins so deep [m] below a plane or height field."""
    return _start_error(f"body {body!r} begins {depth:.3g} m below {surface}")


def _start_error(why: str) -> SimulationError:
    return SimulationError(
        f"the start does not hold: {why}.", status="inconsistent start",
        hint="Start where nothing penetrates.",
    )  # fmt: skip
