"""Parts of mechanisms at random: rotations, inertias, joint types and positions of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from liaison.model import (
    Body,
    BryantXYZ,
    Composition,
    Cylindrical,
    EulerZXZ,
    Fixed,
    Free,
    Helical,
    JointType,
    LineOnPlane,
    Marker,
    ParallelAxes,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Quaternion,
    Revolute,
    RodByAngles,
    Rotation,
    RotationMatrix,
    Screw,
    Spherical,
    SphericalPin,
    Translation,
    Universal,
)

from .numbers import quaternion

Random = np.random.Generator


def rotation(rng: Random) -> Any:
    """A rotation: half of them turn axes into axes, in exact numbers."""
    if rng.random() < 0.5:
        return AXES[rng.integers(len(AXES))]
    return turned(rng)


def turned(rng: Random) -> np.ndarray:
    """A uniformly random rotation."""
    w, x, y, z = e = rng.normal(size=4)
    w, x, y, z = e / np.linalg.norm(e)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


AXES = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    ((-1, 0, 0), (0, 1, 0), (0, 0, -1)),
)


def position(rng: Random) -> tuple[Any, Any, Any]:
    """A place within half a meter: often along one axis only, in exact numbers."""
    if rng.random() < 0.4:
        place: list[Any] = [0, 0, 0]
        place[rng.integers(3)] = Fraction(int(rng.integers(-5, 6)), 10)
        return tuple(place)
    return tuple(rng.uniform(-0.5, 0.5, 3).tolist())


def marker(rng: Random, body: str) -> Marker:
    """A marker somewhere on a body."""
    return Marker(body, rotation(rng), position(rng))


def body(rng: Random, name: str) -> Body:
    """A body that can be: any mass distribution has I = tr(P) 1 − P with P ≥ 0.

    Some are plates (one moment of P is zero), turned any way.
    """
    mass = float(rng.uniform(0.3, 3.0))
    P = np.diag(mass * rng.uniform(0.01, 0.1, 3))
    if rng.random() < 0.2:
        P[2, 2] = 0.0
    R = np.array(rotation(rng), dtype=float)
    P = R @ P @ R.T
    inertia = np.trace(P) * np.eye(3) - P
    inertia = (inertia + inertia.T) / 2
    return Body(name, mass, position(rng), inertia.tolist())


def helical(rng: Random) -> JointType:
    return Helical(float(rng.uniform(0.1, 0.5)))


def composition(rng: Random) -> JointType:
    """One to four elementary motions along axes or skew directions."""
    motions = []
    for _ in range(rng.integers(1, 5)):
        axis = "xyz"[rng.integers(3)] if rng.random() < 0.6 else tuple(rng.normal(size=3).tolist())
        kind = rng.integers(3)
        motions.append(
            Screw(axis, float(rng.uniform(-0.3, 0.3)))
            if kind == 2
            else (Translation, Rotation)[kind](axis)
        )
    return Composition(tuple(motions))


def attitude(rng: Random) -> Any:
    """Mostly quaternions."""
    kinds = (Quaternion, Quaternion, Quaternion, EulerZXZ, BryantXYZ, RotationMatrix)
    return kinds[rng.integers(len(kinds))]()


KINDS: dict[str, Callable[[Random], JointType]] = {
    "Fixed": lambda rng: Fixed(),
    "Revolute": lambda rng: Revolute(),
    "Prismatic": lambda rng: Prismatic(),
    "Helical": helical,
    "Cylindrical": lambda rng: Cylindrical(),
    "Universal": lambda rng: Universal(),
    "SphericalPin": lambda rng: SphericalPin(),
    "Spherical": lambda rng: Spherical(attitude(rng)),
    "Planar": lambda rng: Planar(),
    "PointOnLine": lambda rng: PointOnLine(attitude(rng)),
    "LineOnPlane": lambda rng: LineOnPlane(),
    "PointOnPlane": lambda rng: PointOnPlane(attitude(rng)),
    "Perpendicular": lambda rng: Perpendicular(),
    "ParallelAxes": lambda rng: ParallelAxes(),
    "RodByAngles": lambda rng: RodByAngles(float(rng.uniform(0.3, 1.0)), attitude(rng)),
    "Free": lambda rng: Free(attitude(rng)),
    "Composition": composition,
}
"""Every joint type, by name."""


def joint_type(rng: Random, name: str) -> JointType:
    """A joint of that type with random parameters."""
    return KINDS[name](rng)


def joint_position(rng: Random, kind: JointType) -> list[float]:
    """A position away from the singular ones of angles and rods."""
    q = []
    for name, unit in zip(kind.coordinate_names, kind.coordinate_units, strict=True):
        low, high = RANGES.get(name, (-0.6, 0.6) if unit == "m" else (-2.5, 2.5))
        q.append(float(rng.uniform(low, high)))
    R = turned(rng)
    names = kind.coordinate_names
    if "qw" in names:
        q[names.index("qw") : names.index("qz") + 1] = quaternion(R).tolist()
    if "rxx" in names:
        q[names.index("rxx") : names.index("rzz") + 1] = R.ravel().tolist()
    return q


RANGES = {"nutation": (0.5, 2.5), "angle_y": (-1.0, 1.0), "elevation": (-1.0, 1.0)}
"""Where angles are drawn whose joint is singular elsewhere [rad]."""
