"""Each joint as elementary motions about axes fixed in its home position, in ground's axes.

A joint displaced from home by τ_1, …, τ_k is the product of the displacements of its motions, in
the order given here; that is what makes a loop a product of screws.

Public names: Motion, motions_of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError
from liaison.model import Joint
from liaison.model.joints import Step
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
    chain = joint.type.chained_motions()
    if chain is not None:
        return _composed(joint, chain, F, q)
    steps = joint.type.elementary_motions(lambda: product(F[0].T, M[1] - F[1]))
    if steps is None:
        raise DerivationError(
            f"joint {joint.name!r} is {joint.type.name}, whose elementary motions are not known.",
            hint="Give the joint type its MOTIONS, or describe the joint as a Composition.",
            place=joint.place,
        )
    return _listed(joint, steps, F, M)


def _listed(joint: Joint, steps: Sequence[Step], F: Transform, M: Transform) -> list[Motion]:
    frames = {"F": F, "M": M}
    kind = joint.type
    named = kind.nq == len(steps) and kind.MOTIONS_ARE_COORDINATES
    motions = []
    for k, step in enumerate(steps):
        direction = frames[step.frame][0][:, "xyz".index(step.axis)]
        point = frames[step.at][1] if step.at else None
        unit_here = kind.coordinate_units[k] if k < kind.nq else ""
        is_own = named or (step.kind == "slide" and unit_here == "m")
        label = joint.coordinates[k] if is_own else None
        pitch = getattr(kind, "pitch", None) if step.kind == "screw" else None
        word = f"{step.kind if step.kind != 'screw' else 'turn'} {step.axis}"
        motions.append(Motion(joint.name, word, label, direction, point, pitch))
    return motions


def _composed(joint: Joint, chain: Sequence[Any], F: Transform, q: Any) -> list[Motion]:
    R, p = identity(3), zeros(3)
    motions = []
    for motion, x, label in zip(chain, q, joint.coordinates, strict=True):
        here = compose(*F, R, p)
        axis = product(here[0], unit(motion.axis))
        point = here[1] if motion.WORD != "slide" else None
        pitch = getattr(motion, "pitch", None)
        motions.append(Motion(joint.name, label, label, axis, point, pitch))
        R, p = compose(R, p, *motion.pose(x))
    return motions
