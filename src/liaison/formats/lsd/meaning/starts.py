"""`start A = 30 deg`: where the motion begins, for one coordinate or a whole ball or free joint.

Public names: starts_of.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import Place
from liaison.expr import atan2
from liaison.formats.lsd.formulas.formulas import Where, in_unit, path_of, value_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.units import si_unit
from liaison.formats.lsd.formulas.values import (
    Quantity,
    Turn,
    Turned,
    Unfit,
    Value,
    Vector,
    kind_of,
    plain,
)
from liaison.formats.lsd.syntax.nodes import Node
from liaison.formats.poses import as_pose, matrices_of
from liaison.model import BryantXYZ, EulerZXZ, Joint, Quaternion, Start
from liaison.spatial import (
    Array,
    array,
    identity,
    number,
    quaternion_about,
    quaternion_product,
    zeros,
)

POSE_TOLERANCE = 1e-9  # by which a start may miss what its joint holds, in SI


def starts_of(left: Node, right: Node, place: Place, book: Book) -> list[Start]:
    """The starts of `start LEFT = RIGHT`.

    LEFT is a coordinate `A` or `A.x`, a speed `A'` or `A.wx`, or a joint with several: then RIGHT
    is a vector of as many numbers, or a pose of the second frame in the first.
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
    entries = None if is_rate else _of_pose(value, joint, node, book)
    if entries is not None:
        return [Start(x, y, place=place) for x, y in zip(labels, entries, strict=True)]
    has_pose = joint.type.coordinates_of(identity(), zeros(3), joint.type.neutral()) is not None
    found = f"{len(value.items)} numbers" if isinstance(value, Vector) else kind_of(value)
    raise book.source.refused(
        f"the start of {joint.name!r} is {found}; it takes {len(labels)} numbers: "
        f"{', '.join(labels)}.",
        node,
        hint="Or a pose: [0, 0, 1] m ++ 30 deg || [1, 0, 0]." if has_pose and not is_rate else "",
    )


def _of_pose(value: Value, joint: Joint, node: Node, book: Book) -> list[Any] | None:
    """Coordinates of a pose of the joint's second frame in its first; None where it is none."""
    try:
        pose = as_pose(value)
    except Unfit:
        return None
    R, p = matrices_of(pose, book, node)
    found = joint.type.coordinates_of(R, p, joint.type.neutral())
    if found is None:
        return None
    gaps = [number(x) for x in joint.type.residual(R, p) or ()]
    if any(gap is not None and abs(gap) > POSE_TOLERANCE for gap in gaps):
        leaves = ", ".join(joint.coordinates)
        said = f"joint {joint.name!r} does not let its frames be so; it leaves {leaves}."
        raise book.source.refused(said, node)
    attitude = getattr(joint.type, "attitude", None)
    turns = [motion for motion in pose.motions if isinstance(motion, Turn)]
    if isinstance(attitude, Quaternion) and not any(isinstance(x, Turned) for x in pose.motions):
        return [*found[:-4], *_quaternion(turns)]
    if isinstance(attitude, EulerZXZ | BryantXYZ) and _misses(attitude.rotation(found[-3:]), R):
        x, y = (0, 1) if isinstance(attitude, EulerZXZ) else (1, 2)
        return [*found[:-3], atan2(R[y, x], R[x, x]), found[-2], 0]  # both ends turn alike
    return list(found)


def _misses(A: Array, B: Array) -> bool:
    """Whether two rotations of numbers differ."""
    gaps = [number(a - b) for a, b in zip(A.flat, B.flat, strict=True)]
    return any(gap is not None and abs(gap) > POSE_TOLERANCE for gap in gaps)


def _quaternion(turns: list[Turn]) -> Array:
    """The unit quaternion of turns one after another, exact where sines of half angles are."""
    total = array([1, 0, 0, 0])
    for turn in turns:
        axis = [plain(q.value) for q in turn.axis.items if isinstance(q, Quantity)]
        total = quaternion_product(total, quaternion_about(axis, turn.angle.value))
    return total
