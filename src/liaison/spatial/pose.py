"""Frames, and the pose of one frame in another.

X_AB = (R_AB, p_AB) takes coordinates in B to coordinates in A. Frames are checked at every
composition; a compiled program no longer knows them.

Public names: Frame, WORLD, Pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, final

from liaison.errors import FrameError

from . import plucker
from .arrays import Array, array, identity, zeros

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
