"""Joints with fixed axes: fixed, revolute (hinge), prismatic (slider), screw, shaft, cross, pin.

F on the predecessor, M on the successor.

Public names: Fixed, Revolute, Prismatic, Helical, Cylindrical, Universal, SphericalPin.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.expr import cos, sin
from liaison.model.scalars import scalar
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

from .joint_type import (
    Ball,
    BasicConstraint,
    Block,
    JointType,
    Primitive,
    Rail,
    Step,
    Tube,
    basic_constraints,
    joint_type,
    nearest_angle,
    steps,
)

FORCES = ("force along x", "force along y", "force along z")


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Fixed(JointType):
    """Rigid connection (liaison encastrement): M is F.

    Example:
        >>> import liaison
        >>> liaison.Fixed().freedom
        0
    """

    ROWS: ClassVar[tuple[str, ...]] = (
        *FORCES,
        "moment about x",
        "moment about y",
        "moment about z",
    )

    SYNONYMS: ClassVar[tuple[str, ...]] = ("rigid", "weld", "encastrement")
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Block((1.6, 1.6, 1.6)),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "point yF.xM yF.zM xF.zM"
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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Revolute(JointType):
    """Hinge (liaison pivot): turns about z.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Revolute, name="J").coordinates
        ('J',)
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle",)
    UNITS: ClassVar[tuple[str, ...]] = ("rad",)
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment about x", "moment about y")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("hinge", "pivot")
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Tube(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("turn_zF@F")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "point yF.zM xF.zM"
    )
    TURN: ClassVar[str] = "angle"
    BEARING: ClassVar[str] = "turn"
    FREER: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Spherical", "tx ty"),
        ("Cylindrical", "sz"),
        ("PointOnLine", "sz tx ty"),
        ("Universal (about z and x)", "tx"),
        ("Universal (about z and y)", "ty"),
    )
    LOCKED: ClassVar[str] = "tx ty sx sy sz"

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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Prismatic(JointType):
    """Slider (liaison glissière): slides along z.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Prismatic, name="J").coordinates
        ('J',)
    """

    NAMES: ClassVar[tuple[str, ...]] = ("slide",)
    UNITS: ClassVar[tuple[str, ...]] = ("m",)
    ROWS: ClassVar[tuple[str, ...]] = (
        *FORCES[:2],
        "moment about x",
        "moment about y",
        "moment about z",
    )

    SYNONYMS: ClassVar[tuple[str, ...]] = ("slider", "glissiere")
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Block((2.4, 2.4, 5.0)), Rail())
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("slide_zF")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "plane_x plane_y yF.xM yF.zM xF.zM"
    )
    BEARING: ClassVar[str] = "slide"
    FREER: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Cylindrical", "tz"),
        ("Planar", "tx sy"),
        ("PointOnLine", "tx ty tz"),
    )
    LOCKED: ClassVar[str] = "tx ty tz sx sy"

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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Helical(JointType):
    """Screw joint (liaison hélicoïdale): turns about z and advances along it.

    A positive pitch is right-handed. The slide determines the turns: the row that ties them is
    pitch · sin(p_z/pitch − angle), exact over any number of turns.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Helical("2 mm/rad"), name="J").coordinates
        ('J',)
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

    SYNONYMS: ClassVar[tuple[str, ...]] = ("screw", "helicoidale")
    HAS_AXIS: ClassVar[bool] = True
    OPTIONS: ClassVar[Mapping[str, str]] = MappingProxyType({"pitch": "m/rad"})
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Tube(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("screw_zF@F")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "screw plane_x plane_y yF.zM xF.zM"
    )
    TURN: ClassVar[str] = "angle"

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "pitch",
            scalar(self.pitch, "the pitch of a helical joint", unit=self.OPTIONS["pitch"]),
        )
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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Cylindrical(JointType):
    """Shaft in a long bushing (liaison pivot glissant): turns about z and slides along it.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Cylindrical, name="J").coordinates
        ('J.angle', 'J.slide')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle", "slide")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "m")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES[:2], "moment about x", "moment about y")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("pivot_glissant",)
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Tube(), Rail())
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("turn_zF@F slide_zF")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "plane_x plane_y yF.zM xF.zM"
    )
    TURN: ClassVar[str] = "angle"
    FREER: ClassVar[tuple[tuple[str, str], ...]] = (("PointOnLine", "tx ty"),)

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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Universal(JointType):
    """Cross joint (cardan): turns about x of F, then about y of M; these stay perpendicular.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Universal, name="J").coordinates
        ('J.angle_x', 'J.angle_y')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle_x", "angle_y")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment across the cross")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("cardan",)
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Tube(0.8, 5.0, "x"), Tube(0.8, 5.0, "y"))
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("turn_xF@F turn_yM@F")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("point xF.yM")

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


@joint_type
@final
@dataclass(frozen=True, slots=True)
class SphericalPin(JointType):
    """Ball with a pin in a slot (rotule à doigt): the pin z of M stays in the plane x-z of F.

    Turns about y of F, then about z of M.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.SphericalPin, name="J").coordinates
        ('J.angle_y', 'J.angle_z')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle_y", "angle_z")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = (*FORCES, "moment across pin and slot")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("rotule_a_doigt",)
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("turn_yF@F turn_zM@F")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("point yF.zM")

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
