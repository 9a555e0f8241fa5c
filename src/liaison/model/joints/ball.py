"""Joints in which M turns freely: a ball whose center is held, or led along a line or a plane.

All take an attitude (quaternion unless another is chosen).

Public names: Spherical, PointOnLine, PointOnPlane, RodByAngles, PlacedJoint, Free, Rod.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.expr import as_expr, cos, evaluate, sin, sqrt
from liaison.model.scalars import scalar
from liaison.spatial import (
    Array,
    Entries,
    array,
    dot,
    identity,
    number,
    product,
    rotation_quaternion,
    zeros,
)

from .attitudes import Attitude, Quaternion, exponential
from .joint_type import (
    ATTITUDE,
    Ball,
    BasicConstraint,
    Block,
    JointType,
    Primitive,
    Step,
    Strut,
    basic_constraints,
    joint_type,
    nearest_angle,
    steps,
)

TURNS = steps("turn_xF@M turn_yF@M turn_zF@M")
"""Elementary motions of a ball."""


class BallJoint(JointType):
    """A ball whose center moves by some coordinates of its own, first in q and in v."""

    __slots__ = ()

    attitude: Attitude

    OPTIONS: ClassVar[Mapping[str, str]] = MappingProxyType({ATTITUDE: ATTITUDE})

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.NAMES + self.attitude.NAMES

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        return self.UNITS + self.attitude.UNITS

    @property
    def speed_names(self) -> tuple[str, ...]:
        return self.NAMES + self.attitude.SPEEDS

    @property
    def speed_units(self) -> tuple[str, ...]:
        return tuple(f"{unit}/s" for unit in self.UNITS) + ("rad/s",) * 3

    @property
    def charts(self) -> tuple[tuple[str, int, int], ...]:
        n = len(self.NAMES)
        attitude = (self.attitude.CHART, len(self.attitude.NAMES), 3)
        return (("plain", n, n), attitude) if n else (attitude,)

    @abstractmethod
    def center(self, s: Entries) -> Array:
        """Where the center is in F."""

    @abstractmethod
    def center_directions(self, s: Entries) -> Array:
        """Its partial derivatives, in F, shape (3, n)."""

    @abstractmethod
    def center_of(self, p: Array, near: Entries) -> list[Any]:
        """The center's coordinates from its place in F."""

    def _split(self, q: Entries) -> tuple[Entries, Entries]:
        n = len(self.NAMES)
        return q[:n], q[n:]

    def pose(self, q: Entries) -> tuple[Array, Array]:
        s, e = self._split(q)
        return self.attitude.rotation(e), self.center(s)

    def subspace(self, q: Entries) -> Array:
        s, e = self._split(q)
        n = len(self.NAMES)
        S = zeros(6, n + 3)
        S[:3, n:] = self.attitude.angular(e)
        if n:
            S[3:, :n] = product(self.attitude.rotation(e).T, self.center_directions(s))
        return array(S)

    def kinematic_map(self, q: Entries) -> Array:
        n = len(self.NAMES)
        N = zeros(self.nq, self.nv)
        N[:n, :n] = identity(n)
        N[n:, n:] = self.attitude.kinematic_map(q[n:])
        return array(N)

    def retract(self, q: Entries, xi: Entries) -> Array:
        (s, e), (d, turn) = self._split(q), self._split(xi)
        moved = [a + b for a, b in zip(s, d, strict=True)]
        return array([*moved, *self.attitude.retract(e, turn)])

    def local_rate(self, q: Entries, xi: Entries, v: Entries) -> Array:
        (_, turn), (rates, omega) = self._split(xi), self._split(v)
        return array([*rates, *self.attitude.local_rate(turn, omega)])

    def difference(self, q0: Entries, q1: Entries) -> Array:
        (s0, e0), (s1, e1) = self._split(q0), self._split(q1)
        moved = [b - a for a, b in zip(s0, s1, strict=True)]
        return array([*moved, *self.attitude.difference(e0, e1)])

    def neutral(self) -> Array:
        return array([*([0] * len(self.NAMES)), *self.attitude.neutral()])

    def normalized(self, q: Entries) -> Array:
        s, e = self._split(q)
        return array([*s, *self.attitude.normalized(e)])

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array:
        s, e = self._split(near)
        return array([*self.center_of(p, s), *self.attitude.of(R, e)])


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Spherical(BallJoint):
    """Ball joint (liaison rotule): M turns freely about the common origin.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Spherical, name="J").coordinates
        ('J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    attitude: Attitude = field(default_factory=Quaternion)

    ROWS: ClassVar[tuple[str, ...]] = ("force along x", "force along y", "force along z")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("ball", "rotule")
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = TURNS
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("point")
    BEARING: ClassVar[str] = "ball"

    def center(self, s: Entries) -> Array:
        return zeros(3)

    def center_directions(self, s: Entries) -> Array:
        return zeros(3, 0)

    def center_of(self, p: Array, near: Entries) -> list[Any]:
        return []

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1], p[2]]


@joint_type
@final
@dataclass(frozen=True, slots=True)
class PointOnLine(BallJoint):
    """Ball in a tube (linéaire annulaire): the origin of M stays on the axis z of F.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.PointOnLine, name="J").coordinates
        ('J.slide', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    attitude: Attitude = field(default_factory=Quaternion)

    NAMES: ClassVar[tuple[str, ...]] = ("slide",)
    UNITS: ClassVar[tuple[str, ...]] = ("m",)
    ROWS: ClassVar[tuple[str, ...]] = ("force along x", "force along y")

    SYNONYMS: ClassVar[tuple[str, ...]] = ("lineaire_annulaire",)
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = (*steps("slide_zF"), *TURNS)
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("plane_x plane_y")

    def center(self, s: Entries) -> Array:
        return array([0, 0, s[0]])

    def center_directions(self, s: Entries) -> Array:
        return array([[0], [0], [1]])

    def center_of(self, p: Array, near: Entries) -> list[Any]:
        return [p[2]]

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[0], p[1]]


@joint_type
@final
@dataclass(frozen=True, slots=True)
class PointOnPlane(BallJoint):
    """Ball on a plane (ponctuelle): the origin of M stays in the plane x-y of F.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.PointOnPlane, name="J").coordinates
        ('J.x', 'J.y', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    attitude: Attitude = field(default_factory=Quaternion)

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m")
    ROWS: ClassVar[tuple[str, ...]] = ("force along z",)

    SYNONYMS: ClassVar[tuple[str, ...]] = ("ponctuelle",)
    HAS_AXIS: ClassVar[bool] = True
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Block((8.0, 8.0, 0.4), 0.6),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = (*steps("slide_xF slide_yF"), *TURNS)
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("plane_z")

    def center(self, s: Entries) -> Array:
        return array([s[0], s[1], 0])

    def center_directions(self, s: Entries) -> Array:
        return array([[1, 0], [0, 1], [0, 0]])

    def center_of(self, p: Array, near: Entries) -> list[Any]:
        return [p[0], p[1]]

    def residual(self, R: Array, p: Array) -> list[Any]:
        return [p[2]]


def _rod_length(length: Any) -> Any:
    """The length of a rod, checked."""
    checked = scalar(length, "the length of a rod", unit="m")
    value = number(checked)
    if value is not None and not value > 0:
        raise ModelError(f"the length of a rod is {value:g} m; it must be positive.")
    return checked


def _distance_left(p: Array, length: Any) -> list[Any]:
    """(p² − l²) / 2l: its multiplier is the force along the rod."""
    return [(dot(p, p) - length * length) / (2 * length)]


def _rod_motions(place: Callable[[], Array]) -> tuple[Step, ...]:
    """Turns of the rod about the two axes of F farthest from it, then those of the ball."""
    sizes = [abs(float(evaluate(as_expr(x)))) for x in place()]
    axes = [axis for k, axis in enumerate("xyz") if k != sizes.index(max(sizes))]
    return (*(Step("turn", axis, "F", "F") for axis in axes), *TURNS)


@joint_type
@final
@dataclass(frozen=True, slots=True)
class RodByAngles(BallJoint):
    """The same as `Rod`, its direction by two angles.

    The rod's direction in F is R_z(azimuth) R_y(−elevation) x: along x at the zero position,
    towards z for a positive elevation. Singular where it points along ±z of F.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.RodByAngles(0.5), name="J").coordinates
        ('J.azimuth', 'J.elevation', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    length: Any  # [m], positive
    attitude: Attitude = field(default_factory=Quaternion)

    NAMES: ClassVar[tuple[str, ...]] = ("azimuth", "elevation")
    UNITS: ClassVar[tuple[str, ...]] = ("rad", "rad")
    ROWS: ClassVar[tuple[str, ...]] = ("force along the rod",)

    OPTIONS: ClassVar[Mapping[str, str]] = MappingProxyType({"length": "m", ATTITUDE: ATTITUDE})
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(), Strut())
    MOTIONS_ARE_COORDINATES: ClassVar[bool] = False
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("distance")

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _rod_length(self.length))

    def center(self, s: Entries) -> Array:
        flat = self.length * cos(s[1])
        return array([flat * cos(s[0]), flat * sin(s[0]), self.length * sin(s[1])])

    def center_directions(self, s: Entries) -> Array:
        x, y, z = self.center(s)
        flat = self.length * cos(s[1])
        return array([[-y, -(z * cos(s[0]))], [x, -(z * sin(s[0]))], [0, flat]])

    def center_of(self, p: Array, near: Entries) -> list[Any]:
        azimuth = nearest_angle(p[1], p[0], near[0])
        across = sqrt(p[0] * p[0] + p[1] * p[1])
        return [azimuth, nearest_angle(p[2], across, near[1])]

    def residual(self, R: Array, p: Array) -> list[Any]:
        return _distance_left(p, self.length)

    def regularity(self, q: Entries) -> Any:
        return cos(q[1])

    def elementary_motions(self, place: Callable[[], Array]) -> tuple[Step, ...]:
        return _rod_motions(place)


class PlacedJoint(BallJoint):
    """Joints whose center has the coordinates x, y, z in F.

    With quaternion or matrix, v is the twist of M in its own axes, (ω, velocity of the origin), and
    S is the identity; with angles, v = q̇.
    """

    __slots__ = ()

    NAMES: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "m")
    TWIST: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz", "vx", "vy", "vz")

    @property
    def speed_names(self) -> tuple[str, ...]:
        return self.TWIST if self.attitude.IS_CONSTANT else self.coordinate_names

    @property
    def speed_units(self) -> tuple[str, ...]:
        if self.attitude.IS_CONSTANT:
            return ("rad/s",) * 3 + ("m/s",) * 3
        return ("m/s",) * 3 + ("rad/s",) * 3

    @property
    def charts(self) -> tuple[tuple[str, int, int], ...]:
        kinds = {"quaternion": "free", "matrix": "free matrix"}
        return ((kinds.get(self.attitude.CHART, "plain"), self.nq, 6),)

    def center(self, s: Entries) -> Array:
        return array([s[0], s[1], s[2]])

    def center_directions(self, s: Entries) -> Array:
        return identity(3)

    def center_of(self, p: Array, near: Entries) -> list[Any]:
        return [p[0], p[1], p[2]]

    def subspace(self, q: Entries) -> Array:
        return identity(6) if self.attitude.IS_CONSTANT else BallJoint.subspace(self, q)

    def kinematic_map(self, q: Entries) -> Array:
        if not self.attitude.IS_CONSTANT:
            return identity(6)
        N = zeros(self.nq, 6)
        N[:3, 3:] = self.attitude.rotation(q[3:])
        N[3:, :3] = self.attitude.kinematic_map(q[3:])
        return array(N)

    def retract(self, q: Entries, xi: Entries) -> Array:
        """Turn by the vector ξ₁₋₃ and shift by ξ₄₋₆, both in the axes of M at q."""
        if not self.attitude.IS_CONSTANT:
            return JointType.retract(self, q, xi)
        shift = product(self.attitude.rotation(q[3:]), array(list(xi[3:])))
        place = [a + b for a, b in zip(q[:3], shift, strict=True)]
        return array([*place, *self.attitude.retract(q[3:], xi[:3])])

    def local_rate(self, q: Entries, xi: Entries, v: Entries) -> Array:
        if not self.attitude.IS_CONSTANT:
            return array(list(v))
        turned = product(rotation_quaternion(exponential(xi[:3])), array(list(v[3:])))
        return array([*self.attitude.local_rate(xi[:3], v[:3]), *turned])

    def difference(self, q0: Entries, q1: Entries) -> Array:
        if not self.attitude.IS_CONSTANT:
            return JointType.difference(self, q0, q1)
        shift = array([b - a for a, b in zip(q0[:3], q1[:3], strict=True)])
        back = product(self.attitude.rotation(q0[3:]).T, shift)
        return array([*self.attitude.difference(q0[3:], q1[3:]), *back])


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Free(PlacedJoint):
    """No connection (liaison libre): six degrees of freedom.

    q is the place of M's origin in F, then the attitude. With quaternion or matrix, v is the twist
    of M in its own axes, (ω, velocity of the origin), and S is the identity; with angles, v = q̇.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Free, name="J").coordinates
        ('J.x', 'J.y', 'J.z', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    attitude: Attitude = field(default_factory=Quaternion)

    SYNONYMS: ClassVar[tuple[str, ...]] = ("libre",)
    SYMBOL: ClassVar[tuple[Primitive, ...]] = ()
    MOTIONS: ClassVar[tuple[Step, ...] | None] = (*steps("slide_xF slide_yF slide_zF"), *TURNS)
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("")

    def residual(self, R: Array, p: Array) -> list[Any]:
        return []


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Rod(PlacedJoint):
    """Massless rod with ball ends: the origin of M stays at a distance from the origin of F.

    Its coordinates are those of a free body, the place of M's origin in F and the attitude, and its
    own row |p| = length holds them: a sphere has no two coordinates without a pole. A mechanism
    that names its azimuth or elevation gets `RodByAngles` instead.

    Example:
        >>> import liaison
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Rod(0.5), name="J").coordinates
        ('J.x', 'J.y', 'J.z', 'J.qw', 'J.qx', 'J.qy', 'J.qz')
    """

    length: Any  # [m], positive
    attitude: Attitude = field(default_factory=Quaternion)

    ROWS: ClassVar[tuple[str, ...]] = ("force along the rod",)
    OTHER_NAMES: ClassVar[tuple[str, ...]] = RodByAngles.NAMES
    OWN_ROWS: ClassVar[int] = 1

    OPTIONS: ClassVar[Mapping[str, str]] = MappingProxyType({"length": "m", ATTITUDE: ATTITUDE})
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(), Strut())
    MOTIONS_ARE_COORDINATES: ClassVar[bool] = False
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = basic_constraints("distance")

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", _rod_length(self.length))

    def neutral(self) -> Array:
        """Along x of F; a length that is a parameter counts as 1 m, from where assembling goes."""
        along = 1 if number(self.length) is None else self.length
        return array([along, 0, 0, *self.attitude.neutral()])

    def residual(self, R: Array, p: Array) -> list[Any]:
        return _distance_left(p, self.length)

    def elementary_motions(self, place: Callable[[], Array]) -> tuple[Step, ...]:
        return _rod_motions(place)

    def in_coordinates(self, names: Collection[str]) -> JointType:
        is_named = any(name in self.OTHER_NAMES for name in names)
        return RodByAngles(self.length, self.attitude) if is_named else self
