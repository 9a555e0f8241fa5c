"""Poses, twists, accelerations, wrenches and momenta, with the frames that make them comparable.

X_AB = (R_AB, p_AB), the pose of B in A, takes coordinates in B to coordinates in A. All others are
six-vectors at the origin of the frame they are expressed in: motions (angular, linear), forces
(moment, force). Sums, products and changes of frame check the tags and reject what does not
compose; a compiled program no longer knows them.

Torsors: a resultant and a moment field, expressed at a point.

Twists, wrenches, momenta and rates of momenta are torsors; this is the form in which the general
theorems are written: change of point, comoment, central axis.

Public names: Frame, WORLD, Pose, Twist, Acceleration, Wrench, Momentum, cross, cross_force, power,
Torsor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, final, overload

import numpy as np

from liaison.errors import FrameError

from . import plucker
from .arrays import Array, array, dot, identity, zeros
from .arrays import cross as cross_product

_Q = TypeVar("_Q", bound="Movable")


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """A set of axes with an origin, known by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


WORLD = Frame("world")


class Movable(Protocol):
    """A quantity that can be expressed in another frame."""

    def moved(self: _Q, X: Pose) -> _Q:
        """The same quantity, transformed from X.of to X.relative_to."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """X_AB: where B (`of`) is in A (`relative_to`): x_A = R x_B + p."""

    of: Frame  # B
    relative_to: Frame  # A
    R: Array  # rotation, shape (3, 3)
    p: Array  # origin of B in A [m], shape (3,)

    @classmethod
    def identity(cls, of: Frame, relative_to: Frame) -> Pose:
        """Two frames that coincide."""
        return cls(of, relative_to, identity(3), zeros(3))

    @classmethod
    def translation(cls, of: Frame, relative_to: Frame, p: Any) -> Pose:
        """Axes parallel, origin of B at p."""
        return cls(of, relative_to, identity(3), array(list(p)))

    @classmethod
    def rotation(cls, of: Frame, relative_to: Frame, R: Any) -> Pose:
        """Origins together, axes turned by R."""
        return cls(of, relative_to, array(R), zeros(3))

    def __str__(self) -> str:
        return f"X_{self.relative_to}_{self.of}"

    def __matmul__(self, other: Pose) -> Pose:
        """X_AB @ X_BC = X_AC."""
        if other.relative_to != self.of:
            raise FrameError(
                f"cannot compose {self} with {other}: the second must be relative to '{self.of}'."
            )
        R, p = plucker.compose(self.R, self.p, other.R, other.p)
        return Pose(other.of, self.relative_to, R, p)

    @property
    def inverse(self) -> Pose:
        """X_BA."""
        R, p = plucker.inverse(self.R, self.p)
        return Pose(self.relative_to, self.of, R, p)

    def point(self, x: Any) -> Array:
        """A point of B expressed in A: R x + p."""
        return plucker.act_point(self.R, self.p, array(list(x)))

    def act(self, quantity: _Q) -> _Q:
        """A twist, acceleration, wrench, momentum or inertia transformed from B to A."""
        return quantity.moved(self)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Torsor:
    """Resultant s and moment m(x) at one point x, all in the axes of `expressed_in`.

    At another point y:  m(y) = m(x) + s × (y − x).

    Source: LL 1.2.
    """

    expressed_in: Frame
    point: Array  # x [m], shape (3,)
    resultant: Array  # ω, force or linear momentum, shape (3,)
    moment: Array  # velocity, moment or angular momentum at x, shape (3,)

    def at(self, point: Any) -> Torsor:
        """The same torsor at another point: m + s × (y − x)."""
        target = array(list(point))
        moment = array(list(self.moment + cross_product(self.resultant, target - self.point)))
        return Torsor(self.expressed_in, target, self.resultant, moment)

    def __add__(self, other: Torsor) -> Torsor:
        """Sum, expressed at the point of the first."""
        there = self._comparable(other, "add")
        return Torsor(
            self.expressed_in,
            self.point,
            self.resultant + there.resultant,
            self.moment + there.moment,
        )

    def comoment(self, other: Torsor) -> Any:
        """s₁ · m₂ + s₂ · m₁, the same at every point: power if a twist meets a wrench."""
        there = self._comparable(other, "pair")
        return dot(self.resultant, there.moment) + dot(there.resultant, self.moment)

    @property
    def automoment(self) -> Any:
        """s · m, the same at every point; zero for a glider or a couple."""
        return dot(self.resultant, self.moment)

    def central_axis(self) -> tuple[Array, Array]:
        """Point and direction of the axis on which s and m are parallel (numbers only).

        Raises:
            FrameError: the resultant is zero (a couple has no axis).
        """
        s = np.asarray(self.resultant, dtype=float)
        square = float(s @ s)
        if square == 0.0:
            raise FrameError(
                "a torsor with resultant (0, 0, 0) is a couple and has no central axis."
            )
        offset = np.cross(s, np.asarray(self.moment, dtype=float)) / square
        return np.asarray(self.point, dtype=float) + offset, s / np.sqrt(square)

    def _comparable(self, other: Torsor, verb: str) -> Torsor:
        if other.expressed_in != self.expressed_in:
            raise FrameError(
                f"cannot {verb} torsors in '{self.expressed_in}' and '{other.expressed_in}': "
                f"the second must be expressed in '{self.expressed_in}'."
            )
        return other.at(self.point)


_M = TypeVar("_M", "Twist", "Acceleration")
_F = TypeVar("_F", "Wrench", "Momentum")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Twist:
    """V_AB_E: velocity of B measured in A, expressed in E about E's origin; angular first.

    (torseur cinématique)
    """

    of: Frame  # B
    relative_to: Frame  # A
    expressed_in: Frame  # E
    vector: Array  # [rad/s, m/s], shape (6,)

    def __str__(self) -> str:
        return f"V_{self.relative_to}_{self.of} in {self.expressed_in}"

    @classmethod
    def zero(cls, of: Frame, relative_to: Frame, expressed_in: Frame) -> Twist:
        """No motion."""
        return cls(of, relative_to, expressed_in, zeros(6))

    def __add__(self, other: Twist) -> Twist:
        """V_AB + V_BC = V_AC."""
        return _chained(self, other)

    def __neg__(self) -> Twist:
        """−V_AB = V_BA."""
        return Twist(self.relative_to, self.of, self.expressed_in, -self.vector)

    def moved(self, X: Pose) -> Twist:
        """The same velocity, expressed in X.relative_to."""
        return _moved_motion(self, X)

    def torsor(self, point: Any) -> Torsor:
        """Resultant ω, moment the velocity of the body's point at `point` (in E)."""
        return Torsor(self.expressed_in, zeros(3), self.vector[:3], self.vector[3:]).at(point)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Acceleration:
    """A_AB_E: spatial acceleration of B measured in A, the rate of V_AB seen from A.

    Its linear part is not the acceleration of a point of the body; `of_point` gives that.
    """

    of: Frame
    relative_to: Frame
    expressed_in: Frame
    vector: Array  # [rad/s², m/s²], shape (6,)

    def __str__(self) -> str:
        return f"A_{self.relative_to}_{self.of} in {self.expressed_in}"

    def __add__(self, other: Acceleration) -> Acceleration:
        """A_AB + A_BC = A_AC, where the rate of V_BC was taken as seen from A."""
        return _chained(self, other)

    def moved(self, X: Pose) -> Acceleration:
        """The same acceleration, expressed in X.relative_to."""
        return _moved_motion(self, X)

    def of_point(self, V: Twist, point: Any) -> Array:
        """Classical acceleration of the body's point at `point`: a + ω̇ × x + ω × (v + ω × x)."""
        _same_frame(self, V, "combine")
        rate = Torsor(self.expressed_in, zeros(3), self.vector[:3], self.vector[3:]).at(point)
        velocity = V.torsor(point).moment
        return array(list(rate.moment + _cross(V.vector[:3], velocity)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Wrench:
    """F_B_E: forces on B, expressed in E about E's origin; moment first.

    (torseur d'actions mécaniques)
    """

    on: Frame  # B
    expressed_in: Frame  # E
    vector: Array  # [N·m, N], shape (6,)

    def __str__(self) -> str:
        return f"F_{self.on} in {self.expressed_in}"

    def __add__(self, other: Wrench) -> Wrench:
        """All the forces on one body."""
        _same_frame(self, other, "add")
        if other.on != self.on:
            raise FrameError(f"cannot add {other} to {self}: the second must act on '{self.on}'.")
        return replace(self, vector=self.vector + other.vector)

    def __neg__(self) -> Wrench:
        return replace(self, vector=-self.vector)

    def moved(self, X: Pose) -> Wrench:
        """The same forces, expressed in X.relative_to."""
        return _moved_force(self, X)

    def torsor(self, point: Any) -> Torsor:
        """Resultant force and its moment about `point` (in E)."""
        return Torsor(self.expressed_in, zeros(3), self.vector[3:], self.vector[:3]).at(point)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Momentum:
    """H_B_E: momentum of B, expressed in E about E's origin; angular first (torseur cinétique)."""

    of: Frame
    expressed_in: Frame
    vector: Array  # [kg·m²/s, kg·m/s], shape (6,)

    def __str__(self) -> str:
        return f"H_{self.of} in {self.expressed_in}"

    def __add__(self, other: Momentum) -> Momentum:
        """Momenta of several bodies; the sum keeps the name of the first."""
        _same_frame(self, other, "add")
        return replace(self, vector=self.vector + other.vector)

    def moved(self, X: Pose) -> Momentum:
        """The same momentum, expressed in X.relative_to."""
        return _moved_force(self, X)

    def torsor(self, point: Any) -> Torsor:
        """Linear momentum and the angular momentum about `point` (in E)."""
        return Torsor(self.expressed_in, zeros(3), self.vector[3:], self.vector[:3]).at(point)


def cross(V: Twist, other: _M) -> _M:
    """V × other: the rate of a motion vector that is fixed in the moving body."""
    _same_frame(V, other, "cross")
    return replace(other, vector=plucker.cross_motion(V.vector, other.vector))


@overload
def cross_force(V: Twist, other: _F) -> _F: ...


@overload
def cross_force(V: Array, other: Array) -> Array: ...


def cross_force(V: Any, other: Any) -> Any:
    """V ×* other: the rate of a force vector that is fixed in the moving body.

    On bare arrays it is `plucker.cross_force`.
    """
    if not isinstance(V, Twist):
        return plucker.cross_force(V, other)
    _same_frame(V, other, "cross")
    return replace(other, vector=plucker.cross_force(V.vector, other.vector))


def power(V: Twist, F: Wrench | Momentum) -> Any:
    """V · F: power of a wrench on a twist; with a momentum twice the kinetic energy (comoment)."""
    _same_frame(V, F, "pair")
    if isinstance(F, Wrench) and F.on != V.of:
        raise FrameError(f"cannot pair {V} with {F}: the wrench must act on '{V.of}'.")
    return dot(V.vector, F.vector)


def _cross(a: Array, b: Array) -> Array:
    return plucker.cross_motion(array([*a, 0, 0, 0]), array([*b, 0, 0, 0]))[:3]


def _chained(first: _M, second: _M) -> _M:
    """first + second where the second is measured in what the first is of."""
    _same_frame(first, second, "add")
    if second.relative_to != first.of:
        raise FrameError(
            f"cannot add {second} to {first}: the second must be measured in '{first.of}'."
        )
    return replace(first, of=second.of, vector=first.vector + second.vector)


def _moved_motion(motion: _M, X: Pose) -> _M:
    _check_frame(motion, X)
    moved = plucker.act_motion(X.R, X.p, motion.vector)
    return replace(motion, expressed_in=X.relative_to, vector=moved)


def _moved_force(force: _F, X: Pose) -> _F:
    _check_frame(force, X)
    moved = plucker.act_force(X.R, X.p, force.vector)
    return replace(force, expressed_in=X.relative_to, vector=moved)


def _check_frame(quantity: Any, X: Pose) -> None:
    if quantity.expressed_in != X.of:
        raise FrameError(f"{X} cannot act on {quantity}: it must be expressed in '{X.of}'.")


def _same_frame(first: Any, second: Any, verb: str) -> None:
    if first.expressed_in != second.expressed_in:
        link = {"add": "to"}.get(verb, "with")
        one, other = (second, first) if verb == "add" else (first, second)
        raise FrameError(
            f"cannot {verb} {one} {link} {other}: the second must be expressed "
            f"in '{first.expressed_in}'."
        )
