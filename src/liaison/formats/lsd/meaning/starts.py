"""`start LEFT = RIGHT` and `guess LEFT = RIGHT`: coordinates, speeds, poses and twists of joints.

A pose is that of the second frame in the first, as they are written; where a joint has an `axis`,
its own axes are turned so that z is along it. Rates of a joint with an attitude are those of its
center, then the angular velocity in the axes of the second frame, whatever the attitude is.

Public names: starts_of, needs_attitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from liaison.errors import Place
from liaison.expr import as_expr, symbols_of
from liaison.formats.lsd.formulas.formulas import Where, in_unit, path_of, value_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.values import (
    Quantity,
    Turn,
    Turned,
    Unfit,
    Value,
    Vector,
    kind_of,
    known_dimension,
    plain,
    same,
    si_unit,
    unit_of,
    units_in,
)
from liaison.formats.lsd.syntax.nodes import Node
from liaison.formats.poses import as_pose, matrices_of
from liaison.model import Attitude, Joint, PlacedJoint, Quaternion, Start
from liaison.spatial import (
    Array,
    array,
    identity,
    number,
    product,
    quaternion_about,
    quaternion_product,
    rotation_quaternion,
    vector,
    zeros,
)

POSE_TOLERANCE = 1e-9  # by which a start may miss what its joint holds, in SI

REGULAR = 1e-6
"""Sine of the angle between the outer axes of angles, below which they have no rates."""

HALF_TURNS = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
"""Quaternions of which one is less than a third of a turn from any rotation."""


def starts_of(
    left: Node, right: Node, place: Place, book: Book, known: Sequence[Start] = ()
) -> list[Start]:
    """The starts of a statement.

    Args:
        left: a coordinate `A` or `A.x`, a speed `A'` or `A.wx`, or a joint with several.
        right: a number; of a joint a vector of as many, or a pose of the second frame.
        place: of the statement.
        book: what has a name in the text.
        known: starts of positions, from which angular velocities become rates of angles.
    """
    joint, name = _joint_of(left, book)
    is_rate = left.kind == "prime"
    value = value_of(right, book, Where(f"start.{name}"))
    label = book.label(name)
    if label:
        return [_start(label, value, right, place, book)]
    if joint is None:
        raise no_such("coordinate or speed", name, book.labels, book.source.at(left))
    if is_rate and isinstance(getattr(joint.type, "attitude", None), Attitude):
        items = _items(joint, is_rate, value, right, book)
        return _twist(joint, items, right, place, book, known)
    return _whole_joint(joint, is_rate, value, right, place, book)


def needs_attitude(left: Node, book: Book) -> bool:
    """Whether these are rates of a whole joint with angles: they depend on where it starts."""
    joint, name = _joint_of(left, book)
    if left.kind != "prime" or joint is None or book.label(name):
        return False
    attitude = getattr(joint.type, "attitude", None)
    return isinstance(attitude, Attitude) and not attitude.IS_CONSTANT


def _joint_of(left: Node, book: Book) -> tuple[Joint | None, str]:
    """The joint that the left side names, and its text."""
    is_rate = left.kind == "prime"
    path = path_of(left.parts[0] if is_rate else left)
    joint = book.joints.get(path) if path is not None else None
    return joint, f"{path}'" if is_rate else str(path)


def _start(label: str, value: Value, node: Node, place: Place, book: Book) -> Start:
    unit = si_unit(book.symbols[label].dimension)
    number = in_unit(value, node, book, Where(label, unit), f"the start of {label!r}")
    return Start(label, number.value, place=place, written_in=_written_in(node, unit))


def _written_in(node: Node, unit: str) -> str:
    """The first unit of the formula that is of the kind of `unit` and not SI; "" without one."""
    dimension = known_dimension(unit)
    own = (x for x in units_in(node) if not x.startswith('"'))
    return next((x for x in own if unit_of(x)[0] != 1 and same(unit_of(x)[1], dimension)), "")


def _whole_joint(
    joint: Joint, is_rate: bool, value: Value, node: Node, place: Place, book: Book
) -> list[Start]:
    labels = joint.speeds if is_rate else joint.coordinates
    if not is_rate and not (isinstance(value, Vector) and len(value.items) == len(labels)):
        entries = _of_pose(value, joint, node, book)
        if entries is not None:
            return [Start(x, y, place=place) for x, y in zip(labels, entries, strict=True)]
    items = _items(joint, is_rate, value, node, book)
    return [_start(label, x, node, place, book) for label, x in zip(labels, items, strict=True)]


def _items(joint: Joint, is_rate: bool, value: Value, node: Node, book: Book) -> list[Value]:
    """As many numbers as the joint has coordinates or speeds."""
    labels = joint.speeds if is_rate else joint.coordinates
    if isinstance(value, Vector) and len(value.items) == len(labels):
        return list(value.items)
    has_pose = joint.type.coordinates_of(identity(), zeros(3), joint.type.neutral()) is not None
    actual = f"{len(value.items)} numbers" if isinstance(value, Vector) else kind_of(value)
    raise book.source.error(
        f"the start of {joint.name!r} is {actual}; it takes {len(labels)} numbers: "
        f"{', '.join(labels)}.",
        node,
        hint="Or a pose: [0, 0, 1] m ++ 30 deg || [1, 0, 0]." if has_pose and not is_rate else "",
    )


# ---- poses


def _of_pose(value: Value, joint: Joint, node: Node, book: Book) -> list[Any] | None:
    """Coordinates of a pose of the joint's second frame in its first; None where it is none."""
    try:
        pose = as_pose(value)
    except Unfit:
        return None
    R, p = matrices_of(pose, book, node)
    turn = book.turns.get(joint.name)
    if turn is not None:
        R, p = product(product(turn.T, R), turn), vector(product(turn.T, p))
    coordinates = joint.type.coordinates_of(R, p, _near(joint, R))
    if coordinates is None:
        return None
    gaps = [number(x) for x in joint.type.residual(R, p) or ()]
    if any(gap is not None and abs(gap) > POSE_TOLERANCE for gap in gaps):
        leaves = ", ".join(joint.coordinates)
        message = f"joint {joint.name!r} does not let its frames be so; it leaves {leaves}."
        raise book.source.error(message, node)
    attitude = getattr(joint.type, "attitude", None)
    if isinstance(attitude, Quaternion) and not any(isinstance(x, Turned) for x in pose.motions):
        turns = [motion for motion in pose.motions if isinstance(motion, Turn)]
        return [*coordinates[:-4], *_quaternion(turns, turn)]
    if isinstance(attitude, Attitude):
        return _principal(attitude, coordinates, R)
    return list(coordinates)


def _near(joint: Joint, R: Array) -> Array:
    """Coordinates near which the others are looked for: a quaternion not opposite to R's."""
    neutral = joint.type.neutral()
    if not isinstance(getattr(joint.type, "attitude", None), Quaternion):
        return neutral
    rests = [product(rotation_quaternion(list(e)).T, R) for e in HALF_TURNS]
    sizes = [number(x[0, 0] + x[1, 1] + x[2, 2]) for x in rests]
    known = [-1.0 if size is None else size for size in sizes]
    best = 0 if known[0] > -0.5 else known.index(max(known))
    return array([*neutral[:-4], *HALF_TURNS[best]])


def _principal(attitude: Attitude, coordinates: Array, R: Array) -> list[Any]:
    """The usual coordinates of an attitude, where they are singular, too."""
    n = len(attitude.NAMES)
    center, e = coordinates[:-n], coordinates[-n:]
    if _misses(attitude.rotation(e), R):
        return [*center, *attitude.at_singularity(R, e)]
    return [*center, *attitude.principal(e)]


def _misses(A: Array, B: Array) -> bool:
    """Whether two rotations of numbers differ."""
    gaps = [number(a - b) for a, b in zip(A.flat, B.flat, strict=True)]
    return any(gap is not None and abs(gap) > POSE_TOLERANCE for gap in gaps)


def _quaternion(turns: list[Turn], frame: Array | None) -> Array:
    """The unit quaternion of turns one after another, exact where sines of half angles are."""
    total = array([1, 0, 0, 0])
    for turn in turns:
        axis = [plain(q.value) for q in turn.axis.items if isinstance(q, Quantity)]
        axis = axis if frame is None else list(product(frame.T, array(axis)))
        total = quaternion_product(total, quaternion_about(axis, turn.angle.value))
    return total


# ---- twists


def _twist(
    joint: Joint,
    items: list[Value],
    node: Node,
    place: Place,
    book: Book,
    known: Sequence[Start],
) -> list[Start]:
    """Speeds of a joint with an attitude: of its center, then ω in the second frame's axes."""
    attitude: Attitude = getattr(joint.type, "attitude")  # noqa: B009
    n = joint.type.nv - 3
    is_free = isinstance(joint.type, PlacedJoint)
    turns_first = is_free and attitude.IS_CONSTANT
    center, turning = joint.speeds[:n], joint.speeds[n:]
    if turns_first:
        center, turning = joint.speeds[3:], joint.speeds[:3]
    omega = [_number(x, "rad/s", joint, node, book) for x in items[n:]]
    turn = book.turns.get(joint.name)
    omega = omega if turn is None else list(product(turn.T, array(omega)))
    starts = [_start(label, x, node, place, book) for label, x in zip(center, items, strict=False)]
    if not attitude.IS_CONSTANT:
        e = _attitude_of(joint, known)
        _check_regular(attitude, e, joint, node, book)
        omega = list(attitude.speeds_of(e, omega))
        if is_free:
            values = product(attitude.rotation(e), array([x.value for x in starts]))
            starts = [Start(x, y, place=place) for x, y in zip(center, values, strict=True)]
    return [*starts, *(Start(x, y, place=place) for x, y in zip(turning, omega, strict=True))]


def _number(value: Value, unit: str, joint: Joint, node: Node, book: Book) -> Any:
    where = Where(joint.name, unit)
    return in_unit(value, node, book, where, f"the angular velocity of {joint.name!r}").value


def _attitude_of(joint: Joint, known: Sequence[Start]) -> list[Any]:
    """Where the angles of a joint start; 0 where nothing says."""
    values = {x.label: x.value for x in known}
    return [values.get(label, 0) for label in joint.coordinates[-3:]]


def _check_regular(attitude: Attitude, e: list[Any], joint: Joint, node: Node, book: Book) -> None:
    """Raises an error where angles have no rates for every angular velocity."""
    size = as_expr(attitude.regularity(e))
    if symbols_of([size]):
        return
    value = number(size)
    if value is not None and abs(value) < REGULAR:
        first, second, third = joint.coordinates[-3:]
        raise book.source.error(
            f"the angles of joint {joint.name!r} have no rates for this angular velocity where it "
            f"starts: {first} and {third} turn about one axis there.",
            node,
            hint=f"Start at another {second}, give the rates {first}', {second}', {third}', or "
            "take its attitude as a quaternion or a matrix.",
        )
