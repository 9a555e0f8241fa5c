"""Joints led by a plane or by directions only.

Public names: Planar, LineOnPlane, Perpendicular, ParallelAxes.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from liaison.expr import cos, sin
from liaison.spatial import Array, Entries, array, product, rotation_x, rotation_y, rotation_z

from .joint_type import (
    Ball,
    BasicConstraint,
    Block,
    JointType,
    Primitive,
    Step,
    basic_constraints,
    joint_type,
    nearest_angle,
    steps,
)


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Planar(JointType):
    """Plane on plane (appui plan): M slides in the plane x-y of F and turns about z.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Planar, name="J").coordinates
        ('J.x', 'J.y', 'J.angle')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y", "angle")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "rad")
    ROWS: ClassVar[tuple[str, ...]] = ("force along z", "moment about x", "moment about y")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("appui_plan",)
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Block((8.0, 8.0, 0.4), 0.6),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("slide_xF slide_yF turn_zF@M")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints(
        "plane_z yF.zM xF.zM"
    )
    TURN: ClassVar[str] = "angle"

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return rotation_z(q[2]), array([q[0], q[1], 0])

    def subspace(self, q: Entries) -> Array:
        c, s = cos(q[2]), sin(q[2])
        return array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [c, s, 0], [-s, c, 0], [0, 0, 0]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[2], -R[1, 2], R[0, 2]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([p[0], p[1], nearest_angle(R[1, 0], R[0, 0], near[2])])


@joint_type
@final
@dataclass(frozen=True, slots=True)
class LineOnPlane(JointType):
    """Cylinder on plane (linéaire rectiligne): the line x of M stays in the plane x-y of F.

    Slides along x and y of F, turns about z of F, then rolls about x of M.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.LineOnPlane, name="J").coordinates
        ('J.x', 'J.y', 'J.angle', 'J.roll')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y", "angle", "roll")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = ("force along z", "moment across the line")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("lineaire_rectiligne",)
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Block((8.0, 8.0, 0.4), 0.6),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("slide_xF slide_yF turn_zF@M turn_xM@M")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("plane_z zF.xM")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return product(rotation_z(q[2]), rotation_x(q[3])), array([q[0], q[1], 0])

    def subspace(self, q: Entries) -> Array:
        R, _ = self.pose(q)
        angular = [[0, 0, R[2, k], int(k == 0)] for k in range(3)]
        return array(angular + [[R[0, k], R[1, k], 0, 0] for k in range(3)])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[2], -R[2, 0]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        angle = nearest_angle(R[1, 0], R[0, 0], near[2])
        return array([p[0], p[1], angle, nearest_angle(R[2, 1], R[2, 2], near[3])])


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Perpendicular(JointType):
    """Two directions stay perpendicular: x of F and y of M, as in a Universal without a center.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Perpendicular, name="J").coordinates
        ('J.x', 'J.y', 'J.z', 'J.angle_x', 'J.angle_y')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y", "z", "angle_x", "angle_y")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "m", "rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = ("moment across the two directions",)

    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps(
        "slide_xF slide_yF slide_zF turn_xF@M turn_yM@M"
    )
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("xF.yM")

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return product(rotation_x(q[3]), rotation_y(q[4])), array([q[0], q[1], q[2]])

    def subspace(self, q: Entries) -> Array:
        R, _ = self.pose(q)
        c, s = cos(q[4]), sin(q[4])
        angular = [[0, 0, 0, c, 0], [0, 0, 0, 0, 1], [0, 0, 0, s, 0]]
        return array(angular + [[R[0, k], R[1, k], R[2, k], 0, 0] for k in range(3)])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [-R[0, 1]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        first = nearest_angle(R[2, 1], R[1, 1], near[3])
        return array([*p, first, nearest_angle(R[0, 2], R[0, 0], near[4])])


@joint_type
@final
@dataclass(frozen=True, slots=True)
class ParallelAxes(JointType):
    """Two axes stay parallel: z of F and z of M; M moves anywhere and turns about z.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.ParallelAxes, name="J").coordinates
        ('J.x', 'J.y', 'J.z', 'J.angle')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y", "z", "angle")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "m", "rad")
    ROWS: ClassVar[tuple[str, ...]] = ("moment about x", "moment about y")

    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = steps("slide_xF slide_yF slide_zF turn_zF@M")
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("yF.zM xF.zM")
    TURN: ClassVar[str] = "angle"

    def pose(self, q: Entries) -> tuple[Array, Array]:
        return rotation_z(q[3]), array([q[0], q[1], q[2]])

    def subspace(self, q: Entries) -> Array:
        c, s = cos(q[3]), sin(q[3])
        angular = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
        return array([*angular, [c, s, 0, 0], [-s, c, 0, 0], [0, 0, 1, 0]])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [-R[1, 2], R[0, 2]]

    def positive(self, R: Array, p: Array) -> list[Any]:
        return [R[2, 2]]

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        return array([*p, nearest_angle(R[1, 0], R[0, 0], near[3])])
