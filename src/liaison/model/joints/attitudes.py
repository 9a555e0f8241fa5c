"""Attitudes of a ball or a free body: unit quaternion, Euler and Bryant angles, rotation matrix.

Each is a small object that says how its coordinates turn M with respect to F and how they change
with its speeds: the angular velocity in M for quaternion and matrix, the angle rates for angles.

Public names: Attitude, ATTITUDES, attitude, Quaternion, EulerZXZ, BryantXYZ, RotationMatrix.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar, final

from liaison.errors import ModelError
from liaison.expr import (
    PI,
    arc_ratio,
    atan2,
    cos,
    cos_sqrt,
    dexpinv_coefficient,
    select,
    sin,
    sinc_sqrt,
    sqrt,
)
from liaison.lazy import Fitted
from liaison.spatial import (
    Array,
    Entries,
    array,
    cross3,
    dot,
    identity,
    number,
    product,
    quaternion_product,
    rotation_bryant_xyz,
    rotation_euler_zxz,
    rotation_quaternion,
    tilde,
    unit,
    zeros,
)

from .joint_type import nearest_angle

_OMEGA = ("wx", "wy", "wz")
_HALF = Fraction(1, 2)
_QUARTER = Fraction(1, 4)


class Attitude(Fitted, ABC):
    """How coordinates describe the turn of M with respect to F."""

    __slots__ = ()

    NAMES: ClassVar[tuple[str, ...]]
    UNITS: ClassVar[tuple[str, ...]]
    SPEEDS: ClassVar[tuple[str, ...]]
    IS_CONSTANT: ClassVar[bool]
    CHART: ClassVar[str] = "plain"  # see `JointType.charts`
    WORD: ClassVar[str]  # of LSD and of the Python interface
    SYNONYMS: ClassVar[tuple[str, ...]] = ()  # at the Python interface

    @abstractmethod
    def rotation(self, e: Entries) -> Array:
        """R_FM."""

    @abstractmethod
    def angular(self, e: Entries) -> Array:
        """W with ω_FM_M = W v, shape (3, 3)."""

    def kinematic_map(self, e: Entries) -> Array:
        """N with ė = N v."""
        return identity(3)

    def retract(self, e: Entries, xi: Entries) -> Array:
        """e ⊞ ξ."""
        return array([a + b for a, b in zip(e, xi, strict=True)])

    def local_rate(self, xi: Entries, v: Entries) -> Array:
        """ξ̇ of the motion with speeds v."""
        return array(list(v))

    def difference(self, e0: Entries, e1: Entries) -> Array:
        """ξ with e0 ⊞ ξ = e1."""
        return array([b - a for a, b in zip(e0, e1, strict=True)])

    def neutral(self) -> Array:
        """M along F."""
        return zeros(len(self.NAMES))

    def normalized(self, e: Entries) -> Array:
        """The nearest coordinates that are an attitude."""
        return array(list(e))

    @abstractmethod
    def of(self, R: Array, near: Entries) -> Array:
        """Coordinates of a rotation, those nearest `near`."""

    def regularity(self, e: Entries) -> Any:
        """Zero where the speeds do not determine the rates of the coordinates; 1 if never."""
        return 1

    def at_singularity(self, R: Array, e: Entries) -> Array:
        """Coordinates of a rotation at which they are singular, from those by `of`."""
        return array(list(e))

    def principal(self, e: Entries) -> Array:
        """The usual ones of several coordinates of one attitude."""
        return array(list(e))

    def speeds_of(self, e: Entries, omega: Entries) -> Array:
        """v of the motion with angular velocity ω in M: W v = ω."""
        W = self.angular(e)
        a, b, c = (list(W[:, k]) for k in range(3))
        across = (cross3(b, c), cross3(c, a), cross3(a, b))
        determinant = dot(a, across[0])
        return array([dot(list(omega), x) / determinant for x in across])


Kind = TypeVar("Kind", bound=type[Attitude])

ATTITUDES: dict[str, type[Attitude]] = {}
"""Every attitude by its word, in the order of definition."""


def attitude(kind: Kind) -> Kind:
    """Decorator of a class: it becomes one of `ATTITUDES`.

    Raises:
        ModelError: its word is taken.
    """
    if kind.WORD in ATTITUDES:
        raise ModelError(
            f"the attitude {kind.__name__} has the keyword {kind.WORD!r}, which is taken."
        )
    ATTITUDES[kind.WORD] = kind
    return kind


@attitude
@final
@dataclass(frozen=True, slots=True)
class Quaternion(Attitude):
    """Unit quaternion (w, x, y, z); speeds are ω in M; local coordinates a rotation vector.

    e ⊞ ξ = e ⊗ exp(ξ/2). Without singularity.

    Source: LL 4.4.5.
    Differs: LL prints v̇ with a sign error; it is ½ (w ω + v × ω).

    Example:
        >>> import liaison
        >>> b, free = liaison.body("b", mass=1), liaison.Free(liaison.Quaternion())
        >>> liaison.join(liaison.ground, b, free, name="J").coordinates
        ('J.x', 'J.y', 'J.z', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("qw", "qx", "qy", "qz")
    UNITS: ClassVar[tuple[str, ...]] = ("", "", "", "")
    SPEEDS: ClassVar[tuple[str, ...]] = _OMEGA
    WORD: ClassVar[str] = "quaternion"
    IS_CONSTANT: ClassVar[bool] = True
    CHART: ClassVar[str] = "quaternion"

    def rotation(self, e: Entries) -> Array:
        return rotation_quaternion(e)

    def angular(self, e: Entries) -> Array:
        return identity(3)

    def kinematic_map(self, e: Entries) -> Array:
        w, x, y, z = (a * _HALF for a in e)
        return array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])

    def retract(self, e: Entries, xi: Entries) -> Array:
        return quaternion_product(e, exponential(xi))

    def local_rate(self, xi: Entries, v: Entries) -> Array:
        return rotation_vector_rate(xi, v)

    def difference(self, e0: Entries, e1: Entries) -> Array:
        back = [e0[0], -e0[1], -e0[2], -e0[3]]
        return logarithm(quaternion_product(back, e1))

    def neutral(self) -> Array:
        return array([1, 0, 0, 0])

    def normalized(self, e: Entries) -> Array:
        return unit(e)

    def of(self, R: Array, near: Entries) -> Array:
        return _quaternion_near(R, near)


@attitude
@final
@dataclass(frozen=True, slots=True)
class EulerZXZ(Attitude):
    """Euler's angles R = R_z(ψ) R_x(θ) R_z(φ); speeds are their rates. Singular at sin θ = 0.

    Example:
        >>> import liaison
        >>> b, ball = liaison.body("b", mass=1), liaison.Spherical(liaison.EulerZXZ())
        >>> liaison.join(liaison.ground, b, ball, name="J").coordinates
        ('J.precession', 'J.nutation', 'J.spin')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("precession", "nutation", "spin")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad", "rad")
    SPEEDS: ClassVar[tuple[str, ...]] = NAMES
    WORD: ClassVar[str] = "euler"
    SYNONYMS: ClassVar[tuple[str, ...]] = ("euler_zxz",)
    IS_CONSTANT: ClassVar[bool] = False

    def rotation(self, e: Entries) -> Array:
        return rotation_euler_zxz(*e)

    def angular(self, e: Entries) -> Array:
        c2, s2, c3, s3 = cos(e[1]), sin(e[1]), cos(e[2]), sin(e[2])
        return array([[s2 * s3, c3, 0], [s2 * c3, -s3, 0], [c2, 0, 1]])

    def of(self, R: Array, near: Entries) -> Array:
        """Of the two triples the one whose nutation has the sign of the sine of near's."""
        side = select(sin(near[1]), 1, -1)
        first = nearest_angle(side * R[0, 2], -(side * R[1, 2]), near[0])
        third = nearest_angle(side * R[2, 0], side * R[2, 1], near[2])
        sine = side * sqrt(R[0, 2] * R[0, 2] + R[1, 2] * R[1, 2])
        return array([first, nearest_angle(sine, R[2, 2], near[1]), third])

    def regularity(self, e: Entries) -> Any:
        return sin(e[1])

    def at_singularity(self, R: Array, e: Entries) -> Array:
        """Both outer angles turn about one axis: the last one is zero."""
        return array([atan2(R[1, 0], R[0, 0]), e[1], 0])

    def principal(self, e: Entries) -> Array:
        """The triple with a nutation from 0 to π, as `euler_zxz_of` gives it."""
        nutation = number(e[1])
        if nutation is None or nutation >= 0:
            return array(list(e))
        return array([_half_turn(e[0]), -e[1], _half_turn(e[2])])


@attitude
@final
@dataclass(frozen=True, slots=True)
class BryantXYZ(Attitude):
    """Bryant's angles R = R_x(α) R_y(β) R_z(γ); speeds are their rates. Singular at cos β = 0.

    (angles de Cardan)

    Example:
        >>> import liaison
        >>> b, ball = liaison.body("b", mass=1), liaison.Spherical(liaison.BryantXYZ())
        >>> liaison.join(liaison.ground, b, ball, name="J").coordinates
        ('J.angle_x', 'J.angle_y', 'J.angle_z')
    """

    NAMES: ClassVar[tuple[str, ...]] = ("angle_x", "angle_y", "angle_z")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad", "rad")
    SPEEDS: ClassVar[tuple[str, ...]] = NAMES
    WORD: ClassVar[str] = "bryant"
    SYNONYMS: ClassVar[tuple[str, ...]] = ("bryant_xyz",)
    IS_CONSTANT: ClassVar[bool] = False

    def rotation(self, e: Entries) -> Array:
        return rotation_bryant_xyz(*e)

    def angular(self, e: Entries) -> Array:
        c2, s2, c3, s3 = cos(e[1]), sin(e[1]), cos(e[2]), sin(e[2])
        return array([[c2 * c3, s3, 0], [-(c2 * s3), c3, 0], [s2, 0, 1]])

    def of(self, R: Array, near: Entries) -> Array:
        """Of the two triples the one whose β has a cosine of the sign of near's."""
        side = select(cos(near[1]), 1, -1)
        first = nearest_angle(-(side * R[1, 2]), side * R[2, 2], near[0])
        third = nearest_angle(-(side * R[0, 1]), side * R[0, 0], near[2])
        cosine = side * sqrt(R[1, 2] * R[1, 2] + R[2, 2] * R[2, 2])
        return array([first, nearest_angle(R[0, 2], cosine, near[1]), third])

    def regularity(self, e: Entries) -> Any:
        return cos(e[1])

    def at_singularity(self, R: Array, e: Entries) -> Array:
        """Both outer angles turn about one axis: the last one is zero."""
        return array([atan2(R[2, 1], R[1, 1]), e[1], 0])


@attitude
@final
@dataclass(frozen=True, slots=True)
class RotationMatrix(Attitude):
    """The nine entries of R, row by row; speeds are ω in M: Ṙ = R ω̃. Without singularity.

    Example:
        >>> import liaison
        >>> b, ball = liaison.body("b", mass=1), liaison.Spherical(liaison.RotationMatrix())
        >>> len(liaison.join(liaison.ground, b, ball, name="J").coordinates)
        9
    """

    NAMES: ClassVar[tuple[str, ...]] = tuple(f"r{i}{j}" for i in "xyz" for j in "xyz")
    UNITS: ClassVar[tuple[str, ...]] = ("",) * 9
    SPEEDS: ClassVar[tuple[str, ...]] = _OMEGA
    WORD: ClassVar[str] = "matrix"
    IS_CONSTANT: ClassVar[bool] = True
    CHART: ClassVar[str] = "matrix"

    def rotation(self, e: Entries) -> Array:
        return array([[e[3 * i + j] for j in range(3)] for i in range(3)])

    def angular(self, e: Entries) -> Array:
        return identity(3)

    def kinematic_map(self, e: Entries) -> Array:
        R = self.rotation(e)
        columns = [product(R, tilde([int(k == axis) for k in range(3)])) for axis in range(3)]
        return array([[column[i, j] for column in columns] for i in range(3) for j in range(3)])

    def retract(self, e: Entries, xi: Entries) -> Array:
        turned = product(self.rotation(e), rotation_quaternion(exponential(xi)))
        return array(turned.ravel().tolist())

    def local_rate(self, xi: Entries, v: Entries) -> Array:
        return rotation_vector_rate(xi, v)

    def difference(self, e0: Entries, e1: Entries) -> Array:
        """The rotation vector, shorter than half a turn, from the skew part of R₀ᵀ R₁."""
        R = product(self.rotation(e0).T, self.rotation(e1))
        skew = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
        axis = [a * _HALF for a in skew]
        cosine = (R[0, 0] + R[1, 1] + R[2, 2] - 1) * _HALF
        ratio = arc_ratio(dot(axis, axis), cosine)
        return array([ratio * a for a in axis])

    def neutral(self) -> Array:
        return array(identity(3).ravel().tolist())

    def normalized(self, e: Entries) -> Array:
        """The first row kept in direction, the second in its plane with the first."""
        first = unit(e[:3])
        third = unit(cross3(first, e[3:6]))
        return array([*first, *cross3(third, first), *third])

    def of(self, R: Array, near: Entries) -> Array:
        return array(R.ravel().tolist())


def _half_turn(angle: Any) -> Any:
    """The angle half a turn further, from −π to π."""
    value = number(angle)
    return angle - PI if value is not None and value > 0 else angle + PI


def exponential(xi: Entries) -> Array:
    """exp(ξ/2): the unit quaternion of the rotation vector ξ."""
    quarter = dot(xi, xi) * _QUARTER
    ratio = sinc_sqrt(quarter) * _HALF
    return array([cos_sqrt(quarter), *(ratio * x for x in xi)])


def logarithm(e: Entries) -> Array:
    """The rotation vector ξ, shorter than a turn, with exp(ξ/2) = e."""
    ratio = 2 * arc_ratio(dot(e[1:], e[1:]), e[0])
    return array([ratio * x for x in e[1:]])


def rotation_vector_rate(xi: Entries, omega: Entries) -> Array:
    """ξ̇ = ω + ½ ξ × ω + (1 − (θ/2) cot(θ/2))/θ² ξ × (ξ × ω), θ = |ξ|, ω in the moving frame.

    The inverse of the right derivative of the exponential, for θ below a turn.
    """
    coefficient = dexpinv_coefficient(dot(xi, xi))
    once = cross3(list(xi), list(omega))
    twice = cross3(list(xi), once)
    return array(
        [w + a * _HALF + coefficient * b for w, a, b in zip(omega, once, twice, strict=True)]
    )


def _quaternion_near(R: Array, near: Entries) -> Array:
    """Unit quaternion of R on the side of `near`, for turns by less than half from it.

    With near = n, the quaternion of the rest Rᵣ = R(n)ᵀ R has w = ½ √(1 + tr Rᵣ) > 0.
    """
    rest = product(rotation_quaternion(near).T, R)
    w = sqrt(1 + rest[0, 0] + rest[1, 1] + rest[2, 2]) * _HALF
    part = 1 / (4 * w)
    x = (rest[2, 1] - rest[1, 2]) * part
    y = (rest[0, 2] - rest[2, 0]) * part
    z = (rest[1, 0] - rest[0, 1]) * part
    return quaternion_product(near, [w, x, y, z])
