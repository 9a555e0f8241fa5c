"""What the names of vector equations mean, a sentence each.

Public names: meaning.
"""

from __future__ import annotations

import re

from liaison.algebra import Formal

from .intrinsic import Intrinsic

_POINTS = {"O": "the joint's origin on {}", "G": "the center of mass of {}"}

# pattern of a name -> what it means; {0}, {1}, … are its groups, numbers told as bodies
_MEANINGS = (
    (r"g", "acceleration of free fall [m/s²]"),
    (r"m(\d+)", "mass of {0} [kg]"),
    (r"J(\d+)", "inertia tensor of {0} at its center of mass [kg·m²]"),
    (r"I(\d+)", "inertia tensor of {0} at its center of mass, in its own axes [kg·m²]"),
    (r"omega(\d+)", "angular velocity of {0} [rad/s]"),
    (r"omega(\d+)'", "angular acceleration of {0} [rad/s²]"),
    (r"gamma\(([OG]\d+)\)", "acceleration of {0} [m/s²]"),
    (r"([OG]\d+)([OG]\d+)", "from {0} to {1} [m]"),
    (r"r(\d+)\(([OG]\d+)\)", "place of {1} in the axes of {0} [m]"),
    (r"R(\d)(\d)", "axes of {1} in those of {0}"),
    (r"R\((\d+),(\d+)\)", "axes of {1} in those of {0}"),
    (r"F\((.*),(\d+)\)", "force of {0!r} on {1} [N]"),
    (r"M\((.*),(\d+)\)", "moment of {0!r} on {1} at its center of mass [N·m]"),
    (r"F\((.*)\)", "force of joint {0!r}, and of what acts in it, on the body it carries [N]"),
    (r"C\((.*)\)", "couple of joint {0!r}, and of what acts in it, on the body it carries [N·m]"),
    (r"Omega\((.*)\)", "angular velocity across joint {0!r} [rad/s]"),
    (r"alpha\((.*)\)", "angular acceleration across joint {0!r} [rad/s²]"),
    (r"V\((.*)\)", "sliding velocity across joint {0!r} [m/s]"),
    (r"Gamma\((.*)\)", "sliding acceleration across joint {0!r} [m/s²]"),
    (r"b\((.*)\)", "part of the angular acceleration across joint {0!r} without v̇ [rad/s²]"),
    (r"c\((.*)\)", "part of the sliding acceleration across joint {0!r} without v̇ [m/s²]"),
    (r"e\((.*)\)", "how the body turns for a unit velocity of {0!r}"),
    (r"u\((.*)\)", "how the body slides for a unit velocity of {0!r}"),
    (r"e(\d+)\((.*)\)", "how {0} turns for a unit velocity of {1!r}, in its own axes"),
    (r"u(\d+)\((.*)\)", "how {0} slides for a unit velocity of {1!r}, in its own axes"),
    (r"tau\((.*)\)", "effort along {0!r} itself: motors, springs, relations of coordinates"),
)


def meaning(book: Intrinsic, name: Formal) -> str:
    """What a name of the equations of a mechanism means."""
    text = name.data.name + "'" * name.data.order
    for pattern, sentence in _MEANINGS:
        if found := re.fullmatch(pattern, text):
            return sentence.format(*(_told(book, part) for part in found.groups()))
    return "a scalar of the description"


def _told(book: Intrinsic, part: str) -> str:
    """A number as its body, a point in words, a name of the author as it is."""
    if found := re.fullmatch(r"([OG])(\d+)", part):
        return _POINTS[found[1]].format(_body(book, int(found[2])))
    return _body(book, int(part)) if part.isdigit() else part


def _body(book: Intrinsic, i: int) -> str:
    return book.node(i).body if i else "ground"
