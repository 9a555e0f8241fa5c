"""What a URDF file says beyond its tree: limits, and loops through an extension.

A loop is closed by an element in the style of URDF+, which other readers pass over:

    <loop name="C" type="revolute">
      <predecessor link="coupler"><origin xyz="0.3 0 0" rpy="0 0 0"/></predecessor>
      <successor link="rocker"><origin xyz="0.35 0 0" rpy="0 0 0"/></successor>
      <axis xyz="0 1 0"/>
    </loop>

The type is a URDF type or a word of LSD's catalogue; both origins are in their links, and the axis
is in the axes of both.

Public names: Limits, limits_in, loop_of, direction_of.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from liaison.errors import ModelError, NamingError, TextError
from liaison.model import Helical, Joint, JointType, Marker, Rod
from liaison.spatial import identity, product, rotation_onto_z

from .lsd_joints import JOINT_TYPES
from .urdf_links import pose_in
from .urdf_xml import Element, number_in, numbers_in

LOOP_TYPES: dict[str, type[JointType]] = {
    word: kind for word, (kind, _) in JOINT_TYPES.items() if kind not in (Helical, Rod)
}
LOOP_TYPES["continuous"] = LOOP_TYPES["revolute"]
TURNED = tuple(kind for kind, takes in JOINT_TYPES.values() if "axis" in takes)


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a joint as its file says them; None where it says nothing."""

    lower: Fraction | None = None  # [rad] or [m]
    upper: Fraction | None = None
    effort: Fraction | None = None  # [N·m] or [N]
    velocity: Fraction | None = None  # [rad/s] or [m/s]


def limits_in(element: Element) -> Limits | None:
    """The <limit> of a joint."""
    limit = element.one("limit")
    if limit is None:
        return None
    keys = ("lower", "upper", "effort", "velocity")
    return Limits(*(number_in(limit, k) if k in limit.attributes else None for k in keys))


def loop_of(element: Element, links: Container[str], body: Callable[[str], str]) -> Joint:
    """The joint of a <loop>.

    Args:
        element: the loop.
        links: names of links.
        body: the name of a link's body.
    """
    name, word, place = element.get("name"), element.get("type"), element.place
    if word not in LOOP_TYPES:
        raise NamingError.unknown("type of loop", word, LOOP_TYPES, place=place)
    kind = LOOP_TYPES[word]
    turn = rotation_onto_z(direction_of(element, "0 0 1")) if kind in TURNED else identity()
    ends = [_end(element, tag, links, body, turn) for tag in ("predecessor", "successor")]
    return Joint(name, kind(), ends[0], ends[1], place=place)


def _end(element: Element, tag: str, links: Any, body: Callable[[str], str], turn: Any) -> Marker:
    end = element.one(tag)
    if end is None:
        raise TextError(f"{element} has no <{tag}>.", place=element.place)
    link = end.get("link")
    if link not in links:
        raise NamingError.unknown("link", link, links, place=end.place)
    R, p = pose_in(end)
    rows: Any = tuple(tuple(row) for row in product(R, turn))
    return Marker(body(link), rows, tuple(p), place=end.place)


def direction_of(element: Element, default: str) -> list[Any]:
    """The <axis> of a joint or loop; refuses zero."""
    axis = element.one("axis")
    direction = numbers_in(axis, "xyz", 3, default)
    if all(a == 0 for a in direction):
        raise ModelError(
            f"the axis of joint {element.get('name')!r} is zero; it has no direction.",
            place=(axis or element).place,
            hint='Give a vector along the axis, such as xyz="0 0 1".',
        )
    return [x.numerator if x.denominator == 1 else x for x in direction]
