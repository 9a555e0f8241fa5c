"""Any sequence of elementary motions as one joint: v = q̇, one column of S for each.

Public names: Motion, Translation, Rotation, Screw, Composition.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.errors import ModelError
from liaison.lazy import Fitted
from liaison.model.scalars import check_name, scalar
from liaison.spatial import (
    Array,
    Entries,
    act_motion_inverse,
    array,
    compose,
    identity,
    is_zero,
    rotation_about,
    unit,
    zeros,
)
from liaison.spatial.arrays import times

from .joint_type import Ball, JointType, Primitive, joint_type

AXES: dict[str, tuple[int, int, int]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def axis_vector(axis: Any) -> tuple[Any, Any, Any]:
    """Three scalars of an axis given by a letter or by its components; rejects zero.

    Raises:
        ModelError: the axis is zero, or no axis at all.
    """
    if isinstance(axis, str):
        if axis.lstrip("-") not in AXES:
            raise ModelError(
                f"the axis {axis!r} is not known; give x, y, z, -x, … or three numbers."
            )
        sign = -1 if axis.startswith("-") else 1
        x, y, z = (sign * a for a in AXES[axis.lstrip("-")])
        return x, y, z
    if not isinstance(axis, Iterable):
        raise ModelError(f"the axis {axis!r} is no axis; give x, y, z, -x, … or three numbers.")
    entries = tuple(axis)
    if len(entries) != 3:
        raise ModelError(f"the axis {entries} has {len(entries)} components; it must have three.")
    if all(is_zero(a) for a in entries):
        raise ModelError(
            "the axis (0, 0, 0) has no direction; give one component that is not zero."
        )
    a, b, c = (scalar(entry, "a component of an axis") for entry in entries)
    sizes = [abs(float(x)) for x in (a, b, c) if isinstance(x, int | float | Fraction)]
    if len(sizes) == 3 and not 1e-150 < max(sizes) < 1e150:
        raise ModelError(
            f"the axis ({a}, {b}, {c}) has no direction that numbers can hold; its squares must "
            "neither vanish nor overflow: give components of about 1."
        )
    return a, b, c


class Motion(Fitted, ABC):
    """A motion with one coordinate."""

    __slots__ = ()

    UNIT: ClassVar[str]
    WORD: ClassVar[str]  # of LSD

    axis: Any

    @abstractmethod
    def pose(self, q: Any) -> tuple[Array, Array]:
        """(R, p) after the motion by q."""

    @abstractmethod
    def screw(self) -> Array:
        """The constant six-vector of its velocity for q̇ = 1."""

    def parameters(self) -> tuple[Any, ...]:
        """Scalars in which parameters may occur."""
        return ()

    @abstractmethod
    def mapped(self, change: Callable[[Any], Any]) -> Motion:
        """The same motion about its unit axis, with each scalar changed."""


@final
@dataclass(frozen=True, slots=True)
class Translation(Motion):
    """Slides along an axis (translation).

    Example:
        >>> import liaison
        >>> slide = liaison.Translation((1, 0, 0))
        >>> liaison.Composition((slide,)).freedom
        1
    """

    axis: Any = (0, 0, 1)

    UNIT: ClassVar[str] = "m"
    WORD: ClassVar[str] = "slide"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_vector(self.axis))

    def pose(self, q: Any) -> tuple[Array, Array]:
        return identity(3), array([times(a, q) for a in unit(self.axis)])

    def screw(self) -> Array:
        return array([0, 0, 0, *unit(self.axis)])

    def mapped(self, change: Callable[[Any], Any]) -> Translation:
        return Translation(tuple(change(a) for a in unit(self.axis)))

    def parameters(self) -> tuple[Any, ...]:
        return tuple(self.axis)


@final
@dataclass(frozen=True, slots=True)
class Rotation(Motion):
    """Turns about an axis (rotation).

    Example:
        >>> import liaison
        >>> turn = liaison.Rotation((0, 1, 0))
        >>> liaison.Composition((turn, liaison.Rotation())).freedom
        2
    """

    axis: Any = (0, 0, 1)

    UNIT: ClassVar[str] = "rad"
    WORD: ClassVar[str] = "turn"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_vector(self.axis))

    def pose(self, q: Any) -> tuple[Array, Array]:
        return rotation_about(self.axis, q), zeros(3)

    def screw(self) -> Array:
        return array([*unit(self.axis), 0, 0, 0])

    def mapped(self, change: Callable[[Any], Any]) -> Rotation:
        return Rotation(tuple(change(a) for a in unit(self.axis)))

    def parameters(self) -> tuple[Any, ...]:
        return tuple(self.axis)


@final
@dataclass(frozen=True, slots=True)
class Screw(Motion):
    """Turns about an axis and advances along it (vissage) by the pitch [m/rad], right-handed.

    Example:
        >>> import liaison
        >>> screw = liaison.Screw((0, 0, 1), pitch="5 mm/rad")
        >>> liaison.Composition((screw,)).freedom
        1
    """

    axis: Any = (0, 0, 1)
    pitch: Any = 0

    UNIT: ClassVar[str] = "rad"
    WORD: ClassVar[str] = "screw"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", axis_vector(self.axis))
        object.__setattr__(self, "pitch", scalar(self.pitch, "the pitch of a screw", unit="m/rad"))

    def pose(self, q: Any) -> tuple[Array, Array]:
        advance = times(self.pitch, q)
        return rotation_about(self.axis, q), array([times(a, advance) for a in unit(self.axis)])

    def screw(self) -> Array:
        u = unit(self.axis)
        return array([*u, *(times(self.pitch, a) for a in u)])

    def mapped(self, change: Callable[[Any], Any]) -> Screw:
        return Screw(tuple(change(a) for a in unit(self.axis)), change(self.pitch))

    def parameters(self) -> tuple[Any, ...]:
        return (*self.axis, self.pitch)


@joint_type
@final
@dataclass(frozen=True, slots=True)
class Composition(JointType):
    """Elementary motions one after the other, each in the axes the former ones left.

    Column k of S is the screw of motion k carried through the motions after it; hence

        Ṡ v = Σ_k Σ_{j>k} v_k v_j  s_k × s_j.

    It has no closed residual: a loop is cut elsewhere.

    Example:
        >>> import liaison
        >>> slot = liaison.Translation((1, 0, 0)), liaison.Rotation((0, 0, 1))
        >>> b = liaison.body("b", mass=1)
        >>> liaison.join(liaison.ground, b, liaison.Composition(slot), name="J").coordinates
        ('J.dof1', 'J.dof2')
    """

    motions: tuple[Motion, ...]
    names: tuple[str, ...] = ()

    IN_LSD: ClassVar[bool] = False  # written as link(…)
    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    KEEPS_RANK: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "motions", tuple(self.motions))
        names = tuple(self.names) or tuple(f"dof{k + 1}" for k in range(len(self.motions)))
        object.__setattr__(self, "names", names)
        for name in names:
            check_name("coordinate", name)
        if not 1 <= len(self.motions) <= 6:
            count = len(self.motions)
            raise ModelError(f"a composition has {count} motions; it must have one to six.")
        if len(names) != len(self.motions) or len(set(names)) != len(names):
            raise ModelError(
                f"a composition of {len(self.motions)} motions has the names {names}; "
                "each motion needs one name of its own."
            )

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        return tuple(motion.UNIT for motion in self.motions)

    def pose(self, q: Entries) -> tuple[Array, Array]:
        R, p = self.motions[0].pose(q[0])
        for motion, x in zip(self.motions[1:], q[1:], strict=True):
            R, p = compose(R, p, *motion.pose(x))
        return R, p

    def subspace(self, q: Entries) -> Array:
        S = zeros(6, self.nv)
        after = identity(3), zeros(3)
        for k in reversed(range(self.nv)):
            S[:, k] = act_motion_inverse(*after, self.motions[k].screw())
            after = compose(*self.motions[k].pose(q[k]), *after)
        return array(S)

    def chained_motions(self) -> tuple[Motion, ...]:
        return self.motions

    def parameters(self) -> tuple[Any, ...]:
        return tuple(x for motion in self.motions for x in motion.parameters())

    def mapped(self, change: Callable[[Any], Any]) -> Composition:
        return Composition(tuple(motion.mapped(change) for motion in self.motions), self.names)
