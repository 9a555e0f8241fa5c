"""The joint types: pose(q), S(q), residual of each. F on the predecessor, M on the successor.

Joints with a ball in them stand in ball_joints.py, those led by a plane or by directions in
plane_joints.py, compositions of elementary motions in composition.py; all are public here.

Public names: JointType, Fixed, Revolute, Prismatic, Helical, Cylindrical, Universal, SphericalPin,
Spherical, Planar, PointOnLine, LineOnPlane, PointOnPlane, Perpendicular, ParallelAxes, Rod, Free,
Composition, Translation, Rotation, Screw, Quaternion, EulerZXZ, BryantXYZ, RotationMatrix,
JOINT_TYPES.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.expr import cos, sin
from liaison.spatial import (
    Array,
    Entries,
    array,
    identity,
    is_zero,
    product,
    rotation_x,
    rotation_y,
    rotation_z,
    zeros,
)

from .attitudes import Attitude, BryantXYZ, EulerZXZ, Quaternion, RotationMatrix
from .ball_joints import Free, PointOnLine, PointOnPlane, Rod, Spherical
from .composition import Composition, Rotation, Screw, Translation
from .joint_type import JointType, nearest_angle
from .plane_joints import LineOnPlane, ParallelAxes, Perpendicular, Planar
from .scalars import scalar

__all__ = [
    "JOINT_TYPES",
    "Attitude",
    "BryantXYZ",
    "Composition",
    "Cylindrical",
    "EulerZXZ",
    "Fixed",
    "Free",
    "Helical",
    "JointType",
    "LineOnPlane",
    "ParallelAxes",
    "Perpendicular",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Quaternion",
    "Revolute",
    "Rod",
    "Rotation",
    "RotationMatrix",
    "Screw",
    "Spherical",
    "SphericalPin",
    "Translation",
    "Universal",
]

FORCES = ("force along x", "force along y", "force along z")


@final
@dataclass(frozen=True, slots=True)
class Fixed(JointType):
    """Rigid connection (liaison encastrement): M is F."""

    ROWS: ClassVar[tuple[str, ...]] = (
        *FORCES,
        "moment about x",
        "moment about y",
        "moment about z",
    )

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return identity(3), zeros(3)

    def subspace(self, q: Entries) -> Array:
        return zeros(6, 0)

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], p[2], -R[1, 2], R[0, 2], R[1, 0]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[0, 0], R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return zeros(0)


@final
@dataclass(frozen=True, slots=True)
class Revolute(JointType):
    """Hinge (liaison pivot): turns about z."""

    NAMES: ClassVar[tuple[str, ...]] = ("angle",)
    UNITS: ClassVar[tuple[str, ...]] = ("rad",)
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment about x", "moment about y")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return rotation_z(q[0]), zeros(3)

    def subspace(self, q: Entries) -> Array:
        return array([[0], [0], [1], [0], [0], [0]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], p[2], -R[1, 2], R[0, 2]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([nearest_angle(R[1, 0], R[0, 0], near[0])])


@final
@dataclass(frozen=True, slots=True)
class Prismatic(JointType):
    """Slider (liaison glissière): slides along z."""

    NAMES: ClassVar[tuple[str, ...]] = ("slide",)
    UNITS: ClassVar[tuple[str, ...]] = ("m",)
    ROWS: ClassVar[tuple[str, ...]] = (
        *FORCES[:2],
        "moment about x",
        "moment about y",
        "moment about z",
    )

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return identity(3), array([0, 0, q[0]])

    def subspace(self, q: Entries) -> Array:
        return array([[0], [0], [0], [0], [0], [1]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], -R[1, 2], R[0, 2], R[1, 0]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[0, 0], R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([p[2]])


@final
@dataclass(frozen=True, slots=True)
class Helical(JointType):
    """Screw joint (liaison hélicoïdale): turns about z and advances along it.

    A positive pitch is right-handed. The slide tells the turns: the row that ties them is
    pitch · sin(p_z/pitch − angle), exact over any number of turns.
    """

    pitch: Any  # [m/rad], not zero

    NAMES: ClassVar[tuple[str, ...]] = ("angle",)
    UNITS: ClassVar[tuple[str, ...]] = ("rad",)
    ROWS: ClassVar[tuple[str, ...]] = (
        *FORCES[:2],
        "moment about x",
        "moment about y",
        "force along z",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", scalar(self.pitch, "the pitch of a helical joint"))
        if is_zero(self.pitch):
            raise ModelError(
                "the pitch of a helical joint is 0 m/rad; it must not be zero (0 is a Revolute)."
            )

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return rotation_z(q[0]), array([0, 0, self.pitch * q[0]])

    def subspace(self, q: Entries) -> Array:
        return array([[0], [0], [1], [0], [0], [self.pitch]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        angle = p[2] / self.pitch
        advance = self.pitch * (sin(angle) * R[0, 0] - cos(angle) * R[1, 0])
        return [p[0], p[1], -R[1, 2], R[0, 2], advance]

    def positive(self, R: Array, p: Array) -> list[Any]:
        angle = p[2] / self.pitch
        return [R[2, 2], cos(angle) * R[0, 0] + sin(angle) * R[1, 0]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([p[2] / self.pitch])

    def parameters(self) -> tuple[Any, ...]:
        return (self.pitch,)

    def mapped(self, change: Callable[[Any], Any]) -> Helical:
        return Helical(change(self.pitch))


@final
@dataclass(frozen=True, slots=True)
class Cylindrical(JointType):
    """Shaft in a long bushing (liaison pivot glissant): turns about z and slides along it."""

    NAMES: ClassVar[tuple[str, ...]] = ("angle", "slide")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "m")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES[:2], "moment about x", "moment about y")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return rotation_z(q[0]), array([0, 0, q[1]])

    def subspace(self, q: Entries) -> Array:
        return array([[0, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 1]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], -R[1, 2], R[0, 2]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([nearest_angle(R[1, 0], R[0, 0], near[0]), p[2]])


@final
@dataclass(frozen=True, slots=True)
class Universal(JointType):
    """Cross joint (cardan): turns about x of F, then about y of M; these stay perpendicular."""

    NAMES: ClassVar[tuple[str, ...]] = ("angle_x", "angle_y")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment across the cross")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return product(rotation_x(q[0]), rotation_y(q[1])), zeros(3)

    def subspace(self, q: Entries) -> Array:
        c, s = cos(q[1]), sin(q[1])
        return array([[c, 0], [0, 1], [s, 0], [0, 0], [0, 0], [0, 0]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], p[2], -R[0, 1]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        first = nearest_angle(R[2, 1], R[1, 1], near[0])
        return array([first, nearest_angle(R[0, 2], R[0, 0], near[1])])


@final
@dataclass(frozen=True, slots=True)
class SphericalPin(JointType):
    """Ball with a pin in a slot (rotule à doigt): the pin z of M stays in the plane x-z of F.

    Turns about y of F, then about z of M.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle_y", "angle_z")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment across pin and slot")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return product(rotation_y(q[0]), rotation_z(q[1])), zeros(3)

    def subspace(self, q: Entries) -> Array:
        c, s = cos(q[1]), sin(q[1])
        return array([[s, 0], [c, 0], [0, 1], [0, 0], [0, 0], [0, 0]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], p[2], -R[1, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        first = nearest_angle(R[0, 2], R[2, 2], near[0])
        return array([first, nearest_angle(R[1, 0], R[1, 1], near[1])])


JOINT_TYPES: tuple[type[JointType], ...] = (
    Fixed,
    Revolute,
    Prismatic,
    Helical,
    Cylindrical,
    Universal,
    SphericalPin,
    Spherical,
    Planar,
    PointOnLine,
    LineOnPlane,
    PointOnPlane,
    Perpendicular,
    ParallelAxes,
    Rod,
    Free,
    Composition,
)
