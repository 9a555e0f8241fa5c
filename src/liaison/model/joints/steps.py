"""A joint in words that other rooms compute with: its elementary motions, its basic constraints.

Elementary motions are what mobility multiplies to close loops; basic constraints are those of
which the rows of a joint can be composed (LL 4.5.2).

Public names: Step, steps, Held, held.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from liaison.errors import ModelError

_STEP = re.compile(r"(slide)_([xyz])([FM])|(turn|screw)_([xyz])([FM])@([FM])")
_HELD = re.compile(r"point|distance|screw|plane_[xyz]|[xyz]F\.[xyz]M")


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion: a slide along an axis, a turn about it, or a screw with the pitch.

    Attributes:
        kind: "slide", "turn" or "screw".
        axis: "x", "y" or "z".
        frame: "F" or "M": the marker whose axis it is.
        at: "F" or "M": the marker whose origin lies on the axis; "" for a slide.
    """

    kind: str
    axis: str
    frame: str
    at: str = ""


def steps(text: str) -> tuple[Step, ...]:
    """Elementary motions in order, such as "slide_xF turn_zF@M".

    Raises:
        ModelError: a word is none.
    """
    found = []
    for word in text.split():
        match = _STEP.fullmatch(word)
        if match is None:
            raise ModelError(
                f"{word!r} is no elementary motion; write slide_AF, turn_AF@F or screw_AF@F with "
                "an axis A = x, y or z, and F or M for the marker."
            )
        found.append(Step(*(part for part in match.groups() if part)))
    return tuple(found)


@final
@dataclass(frozen=True, slots=True)
class Held:
    """One basic constraint of a joint.

    Attributes:
        kind: "point" (M's origin at F's), "plane" (M's origin in the plane across an axis of F),
            "square" (an axis of F and one of M perpendicular), "distance" (the joint's `length`
            between the origins) or "screw" (the joint's `pitch` ties slide and turn).
        axis: of F, for "plane" and "square".
        other: of M, for "square".
    """

    kind: str
    axis: str = ""
    other: str = ""


def held(text: str) -> tuple[Held, ...]:
    """Basic constraints in order, such as "point yF.zM xF.zM" or "plane_z".

    Raises:
        ModelError: a word is none.
    """
    found = []
    for word in text.split():
        if not _HELD.fullmatch(word):
            raise ModelError(
                f"{word!r} is no basic constraint; write point, distance, screw, plane_A, or "
                "AF.BM for axes A of F and B of M that stay perpendicular."
            )
        if word.startswith("plane_"):
            found.append(Held("plane", word[-1]))
        else:
            found.append(Held("square", word[0], word[3]) if "." in word else Held(word))
    return tuple(found)
