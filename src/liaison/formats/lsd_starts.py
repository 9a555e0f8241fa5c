"""`start A = 30 deg`: where the motion begins, for one coordinate or a whole ball or free joint.

Public names: starts_of.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import Place, TextError
from liaison.model import Joint, Quaternion, Start
from liaison.spatial import array, quaternion_about, quaternion_product

from .lsd_formulas import Where, in_unit, path_of, value_of
from .lsd_names import Book, no_such
from .lsd_nodes import Node
from .lsd_poses import as_pose, matrices_of
from .lsd_units import si_unit
from .lsd_values import Pose, Quantity, Turn, Turned, Value, Vector, kind_of, plain


def starts_of(left: Node, right: Node, place: Place, book: Book) -> list[Start]:
    """The starts of `start LEFT = RIGHT`.

    LEFT is a coordinate `A` or `A.x`, a speed `A'` or `A.wx`, or a joint with several: then RIGHT
    is a vector of as many numbers, or for a ball or free joint a rotation or a pose.
    """
    is_rate = left.kind == "prime"
    path = path_of(left.parts[0] if is_rate else left)
    where = book.source.at(left)
    name = f"{path}'" if is_rate else str(path)
    value = value_of(right, book, Where(f"start.{name}"))
    label = book.label(name)
    if label:
        return [_start(label, value, right, place, book)]
    if path not in book.joints:
        raise no_such("coordinate or speed", name, book.labels, where)
    return _whole_joint(book.joints[path], is_rate, value, right, place, book)


def _start(label: str, value: Value, node: Node, place: Place, book: Book) -> Start:
    unit = si_unit(book.symbols[label].dimension)
    number = in_unit(value, node, book, Where(label, unit), f"the start of {label!r}")
    return Start(label, number.value, place=place)


def _whole_joint(
    joint: Joint, is_rate: bool, value: Value, node: Node, place: Place, book: Book
) -> list[Start]:
    labels = joint.speeds if is_rate else joint.coordinates
    if isinstance(value, Vector) and len(value.items) == len(labels):
        pairs = zip(labels, value.items, strict=True)
        return [_start(label, item, node, place, book) for label, item in pairs]
    attitude = getattr(joint.type, "attitude", None)
    if isinstance(value, Turn | Pose) and isinstance(attitude, Quaternion) and not is_rate:
        entries = _pose_entries(as_pose(value), joint, node, book)
        return [Start(x, y, place=place) for x, y in zip(labels, entries, strict=True)]
    found = f"{len(value.items)} numbers" if isinstance(value, Vector) else kind_of(value)
    raise TextError(
        f"the start of {joint.name!r} is {found}; it takes {len(labels)} numbers: "
        f"{', '.join(labels)}.",
        place=book.source.at(node),
        hint="" if attitude is None or is_rate else "Or a rotation: 30 deg || [1,0,0].",
    )


def _pose_entries(pose: Pose, joint: Joint, node: Node, book: Book) -> list[Any]:
    """Position (of a free joint) and quaternion of a pose."""
    quaternion = array([1, 0, 0, 0])
    for motion in pose.motions:
        if isinstance(motion, Turned):
            said = "a start is turned by angle || axis, not by a matrix."
            raise TextError(said, place=book.source.at(node))
        if isinstance(motion, Turn):
            axis = [plain(q.value) for q in motion.axis.items if isinstance(q, Quantity)]
            turn = quaternion_about(axis, motion.angle.value)
            quaternion = quaternion_product(quaternion, turn)
    _, p = matrices_of(pose, book, node)
    position = list(p) if joint.type.nq == 7 else []
    if not position and any(isinstance(motion, Vector) for motion in pose.motions):
        raise TextError(f"joint {joint.name!r} only turns.", place=book.source.at(node))
    return [*position, *quaternion]
