"""Each joint as elementary motions about axes fixed in its home position, in ground's axes.

A joint displaced from home by τ_1, …, τ_k is the product of the displacements of its motions, in
the order given here; that is what makes a loop a product of screws.

Public names: Motion, motions_of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError
from liaison.expr import as_expr, evaluate
from liaison.model import (
    Composition,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    JointType,
    LineOnPlane,
    ParallelAxes,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Rotation,
    Screw,
    Spherical,
    SphericalPin,
    Universal,
)
from liaison.spatial import Array, compose, identity, product, unit, zeros

Transform: TypeAlias = tuple[Array, Array]


@final
@dataclass(frozen=True, slots=True)
class Motion:
    """A turn about an axis, a slide along it, or both tied by a pitch."""

    joint: str
    word: str  # how it is called in reports
    coordinate: str | None  # the label of the coordinate it changes, if one
    direction: Array  # unit vector, ground's axes
    point: Array | None  # on the axis [m]; None for a slide
    pitch: Any = None  # of a screw joint [m/rad]

    @property
    def is_angle(self) -> bool:
        """It turns."""
        return self.point is not None


def motions_of(joint: Joint, F: Transform, M: Transform, q: Any) -> list[Motion]:
    """The motions of a joint whose markers are at F and M in ground's axes.

    Args:
        joint: of any type.
        F: pose of the marker on the predecessor.
        M: pose of the marker on the successor.
        q: its coordinates at home; used by compositions only.

    Raises:
        DerivationError: a type of joint this room does not know.
    """
    kind = joint.type
    if isinstance(kind, Composition):
        return _composed(joint, kind, F, q)
    for known, steps in _STEPS.items():
        if isinstance(kind, known):
            return _listed(joint, steps(kind, F, M), F, M)
    raise DerivationError(f"mobility does not know the joint type {kind.name}.")


Steps: TypeAlias = str
_Rule: TypeAlias = Callable[[JointType, Transform, Transform], Steps]


def _always(steps: str) -> _Rule:
    return lambda kind, F, M: steps


def _rod(kind: JointType, F: Transform, M: Transform) -> str:
    """Turns of the rod about the two axes of F farthest from it, then those of the ball."""
    along = product(F[0].T, M[1] - F[1])
    sizes = [abs(float(evaluate(as_expr(x)))) for x in along]
    kept = [axis for k, axis in enumerate("xyz") if k != sizes.index(max(sizes))]
    return " ".join(f"turn:{axis}F@F" for axis in kept) + " " + _BALL


_BALL = "turn:xF@M turn:yF@M turn:zF@M"
_STEPS: dict[type[JointType], _Rule] = {
    Fixed: _always(""),
    Revolute: _always("turn:zF@F"),
    Prismatic: _always("slide:zF"),
    Helical: _always("screw:zF@F"),
    Cylindrical: _always("turn:zF@F slide:zF"),
    Universal: _always("turn:xF@F turn:yM@F"),
    SphericalPin: _always("turn:yF@F turn:zM@F"),
    Spherical: _always(_BALL),
    Planar: _always("slide:xF slide:yF turn:zF@M"),
    PointOnLine: _always(f"slide:zF {_BALL}"),
    PointOnPlane: _always(f"slide:xF slide:yF {_BALL}"),
    LineOnPlane: _always("slide:xF slide:yF turn:zF@M turn:xM@M"),
    Perpendicular: _always("slide:xF slide:yF slide:zF turn:xF@M turn:yM@M"),
    ParallelAxes: _always("slide:xF slide:yF slide:zF turn:zF@M"),
    Rod: _rod,
    Free: _always(f"slide:xF slide:yF slide:zF {_BALL}"),
}


def _listed(joint: Joint, steps: str, F: Transform, M: Transform) -> list[Motion]:
    frames = {"F": F, "M": M}
    words = steps.split()
    named = joint.type.nq == len(words) and not isinstance(joint.type, Rod)
    found = []
    for k, step in enumerate(words):
        what, _, where = step.partition(":")
        axis, _, at = where.partition("@")
        direction = frames[axis[1]][0][:, "xyz".index(axis[0])]
        point = frames[at][1] if at else None
        slides = joint.type.coordinate_names[k] if k < joint.type.nq else ""
        is_own = named or (what == "slide" and slides in ("x", "y", "z", "slide"))
        label = joint.coordinates[k] if is_own else None
        pitch = getattr(joint.type, "pitch", None)
        word = f"{what if what != 'screw' else 'turn'} {axis[0]}"
        found.append(Motion(joint.name, word, label, direction, point, pitch))
    return found


def _composed(joint: Joint, kind: Composition, F: Transform, q: Any) -> list[Motion]:
    R, p = identity(3), zeros(3)
    found = []
    for motion, x, label in zip(kind.motions, q, joint.coordinates, strict=True):
        here = compose(*F, R, p)
        axis = product(here[0], unit(motion.axis))  # type: ignore[attr-defined]
        point = here[1] if isinstance(motion, Rotation | Screw) else None
        pitch = motion.pitch if isinstance(motion, Screw) else None
        found.append(Motion(joint.name, label, label, axis, point, pitch))
        R, p = compose(R, p, *motion.pose(x))
    return found
