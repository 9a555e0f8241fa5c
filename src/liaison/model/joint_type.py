"""What a joint type says of itself: pose, motion subspace, kinematic map, rows that close a loop.

F is the marker on the predecessor, M the marker on the successor; z is the axis where there is
one. All functions take numbers or formulas.

Public names: JointType, nearest_angle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from liaison.expr import atan2, cos, sin
from liaison.spatial import Array, Entries, array, identity, zeros


class JointType(ABC):
    """A kind of joint: how M moves in F.

    A class says what is special about it: names and units of its coordinates, `pose` and
    `subspace`, the residual that vanishes where the joint holds. The rest follows.
    """

    __slots__ = ()

    NAMES: ClassVar[tuple[str, ...]] = ()
    UNITS: ClassVar[tuple[str, ...]] = ()
    ROWS: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """The word for this type in messages."""
        return type(self).__name__

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return self.NAMES

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the entries of q ("" for a pure number)."""
        return self.UNITS

    @property
    def speed_names(self) -> tuple[str, ...]:
        """Names of the entries of v; those of q where v = q̇."""
        return self.coordinate_names

    @property
    def speed_units(self) -> tuple[str, ...]:
        """Units of the entries of v."""
        return tuple(f"{unit}/s" for unit in self.coordinate_units)

    @property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.coordinate_names)

    @property
    def nv(self) -> int:
        """Number of velocities: the degrees of freedom the joint leaves."""
        return len(self.speed_names)

    @property
    def has_rates(self) -> bool:
        """v = q̇: velocities are the rates of the coordinates (N = 1)."""
        return self.speed_names == self.coordinate_names

    @property
    def charts(self) -> tuple[tuple[str, int, int], ...]:
        """Kinds of coordinates in order, each with how many entries of q and of v it takes.

        plain: q̇ = v. quaternion, matrix: an attitude turned by ω in M. free, free matrix: a
        position and such an attitude, moved by the twist of M in its own axes.
        """
        return (("plain", self.nq, self.nv),)

    @abstractmethod
    def pose(self, q: Entries) -> tuple[Array, Array]:
        """(R, p) of X_FM."""

    @abstractmethod
    def subspace(self, q: Entries) -> Array:
        """S with V_FM_M = S v: velocity of M in F, in M's axes at M's origin; shape (6, nv)."""

    def kinematic_map(self, q: Entries) -> Array:
        """N with q̇ = N v, shape (nq, nv)."""
        return identity(self.nv)

    def retract(self, q: Entries, xi: Entries) -> Array:
        """q ⊞ ξ: the position reached from q by local coordinates ξ, shape (nq,)."""
        return array([a + b for a, b in zip(q, xi, strict=True)])

    def local_rate(self, q: Entries, xi: Entries, v: Entries) -> Array:
        """ξ̇ with d/dt (q ⊞ ξ) = N(q ⊞ ξ) v, shape (nv,)."""
        return array(list(v))

    def difference(self, q0: Entries, q1: Entries) -> Array:
        """ξ with q0 ⊞ ξ = q1, shape (nv,)."""
        return array([b - a for a, b in zip(q0, q1, strict=True)])

    def neutral(self) -> Array:
        """The zero position."""
        return zeros(self.nq)

    def residual(self, R: Array, p: Array) -> list[Any] | None:
        """6 − nv formulas of X_FM that vanish where the joint holds; None if there is no such form.

        Row k is scaled and signed so that its multiplier is the force [N] or moment [N·m] on the
        successor named by `residual_names[k]`, in F's axes at M's origin. The tree writes rows that
        pin the origin, (p_x, p_y, p_z), in the axes of the common ancestor, and labels them so.
        """
        return None

    @property
    def residual_names(self) -> tuple[str, ...]:
        """What the multiplier of each row of the residual is."""
        return self.ROWS

    def positive(self, R: Array, p: Array) -> list[Any]:
        """Positive where the joint holds; negative where the residual vanishes with M flipped."""
        return []

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array | None:
        """q from X_FM, angles within half a turn of `near`; None if there is no closed form."""
        return None

    def normalized(self, q: Entries) -> Array:
        """The position nearest q that is one: its quaternion made unit, its matrix a rotation."""
        return array(list(q))

    def parameters(self) -> tuple[Any, ...]:
        """Scalars of the type itself (a pitch, a length), in which parameters may occur."""
        return ()

    def mapped(self, change: Callable[[Any], Any]) -> JointType:
        """The same type with each of its own scalars changed, as from exact numbers to floats."""
        return self


def nearest_angle(sine: Any, cosine: Any, near: Any) -> Any:
    """The angle of (cosine, sine) within half a turn of `near`: turns are counted."""
    c, s = cos(near), sin(near)
    return near + atan2(sine * c - cosine * s, cosine * c + sine * s)
