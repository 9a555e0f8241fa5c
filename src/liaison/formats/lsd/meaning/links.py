"""Elementary motions of a link: `[x,0,0]` slides, `x || [1,0,0]` turns, both with one x screw.

Or motions said one by one, turn(axis), slide(axis), screw(axis, pitch): each `dof` so said belongs
to the coordinate of the same rank, and the joint stays a composition.

Public names: motions_of, type_of_motions, MOTIONS, is_motion, motion_of.
"""

from __future__ import annotations

from typing import Any

from liaison.expr import ONE, ZERO, Expr, as_expr, gradient, substitute, symbols_of
from liaison.formats.lsd.formulas.formulas import ANY, Where, scalar_of, value_of, vector_of
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.values import Quantity, Turn, Turned, Unfit, Vector, plain
from liaison.formats.lsd.syntax.nodes import Node
from liaison.formats.poses import as_pose
from liaison.model import (
    Composition,
    Helical,
    JointType,
    Prismatic,
    Revolute,
    Rotation,
    Screw,
    Translation,
)
from liaison.spatial import cross3, dot, is_zero, norm


def motions_of(
    node: Node, where: Where, names: tuple[str, ...], book: Book
) -> list[tuple[str, Any]]:
    """(coordinate, motion) of one `dof = …`, in order."""
    value = value_of(node, book, where)
    coordinates = {name: as_expr(where.local[name].value) for name in names}
    try:
        pieces: list[tuple[str, Any]] = []
        for motion in as_pose(value).motions:
            if isinstance(motion, Turned):
                raise Unfit("a matrix does not move.")
            if isinstance(motion, Turn):
                pieces.append(_turn(motion, coordinates))
            else:
                pieces += _slides(motion, coordinates)
        return _screws(pieces)
    except Unfit as error:
        raise book.source.refused(
            str(error),
            node,
            hint="A dof is [x,0,0] or x || [1,0,0]; what does not move belongs in the frames.",
        ) from None


def _turn(motion: Turn, coordinates: dict[str, Expr]) -> tuple[str, Any]:
    axis = _numbers(motion.axis, coordinates)
    angle = as_expr(motion.angle.value)
    for name, x in coordinates.items():
        if angle is x:
            return name, Rotation(tuple(axis))
        if angle is -x:
            return name, Rotation(tuple(-a for a in axis))
    raise Unfit("a turn is by one coordinate of the link.")


def _numbers(axis: Vector, coordinates: dict[str, Expr]) -> list[Any]:
    entries = [plain(q.value) for q in axis.items if isinstance(q, Quantity)]
    if any(x in coordinates.values() for x in symbols_of([as_expr(a) for a in entries])):
        raise Unfit("the axis of a motion does not move.")
    return entries


def _slides(motion: Vector, coordinates: dict[str, Expr]) -> list[tuple[str, Any]]:
    entries = [as_expr(q.value) for q in motion.items if isinstance(q, Quantity)]
    used = set(symbols_of(entries))
    slides = []
    for name, x in coordinates.items():
        if x not in used:
            continue
        axis = [gradient(entry, [x])[0] for entry in entries]
        if any(y in coordinates.values() for y in symbols_of(axis)):
            raise Unfit("a slide is proportional to its coordinate.")
        slides.append((name, Translation(tuple(_value(a) for a in axis))))
    at_zero = substitute(entries, dict.fromkeys(coordinates.values(), ZERO))
    if not slides or not all(is_zero(_value(x)) for x in at_zero):
        raise Unfit("a slide is zero where its coordinate is zero, and moves with it.")
    return slides


def _value(x: Expr) -> Any:
    return x.value if x.op == "const" else x


def _screws(pieces: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """A slide and a turn by the same coordinate, one behind the other, are one screw."""
    result: list[tuple[str, Any]] = []
    for name, motion in pieces:
        if result and result[-1][0] == name:
            before = result.pop()[1]
            pair = (before, motion) if isinstance(before, Translation) else (motion, before)
            result.append((name, _screw(*pair)))
        else:
            result.append((name, motion))
    return result


def _screw(slide: Any, turn: Any) -> Screw:
    if not isinstance(slide, Translation) or not isinstance(turn, Rotation):
        raise Unfit("a coordinate is one motion only.")
    if not all(is_zero(a) for a in cross3(list(slide.axis), list(turn.axis))):
        raise Unfit("a screw slides along the axis it turns about.")
    return Screw(turn.axis, dot(slide.axis, turn.axis) / norm(turn.axis))


def type_of_motions(
    motions: list[Any], names: list[str], *, as_said: bool = False
) -> tuple[JointType, list[Any]]:
    """The joint type of a sequence of motions, and the axis for a joint of one motion.

    One turn is a revolute joint, one slide a prismatic, one screw a helical joint, unless the
    motions are to stay `as_said`.
    """
    if len(motions) == 1 and not as_said:
        (motion,) = motions
        axis = list(motion.axis)
        if isinstance(motion, Rotation):
            return Revolute(), axis
        if isinstance(motion, Translation) and as_expr(norm(axis)) is ONE:
            return Prismatic(), axis
        if isinstance(motion, Screw):
            return Helical(motion.pitch), axis
    return Composition(tuple(motions), tuple(names)), [0, 0, 1]


MOTIONS: dict[str, Any] = {"turn": Rotation, "slide": Translation, "screw": Screw}


def is_motion(node: Node) -> bool:
    """Whether a formula is one of these calls."""
    return node.kind == "call" and str(node.parts[0]) in MOTIONS


def motion_of(node: Node, where: Where, book: Book) -> Any:
    """The motion of a call.

    Raises:
        TextError: an axis or a pitch is missing.
    """
    word, arguments = str(node.parts[0]), node.parts[1:]
    takes = ("axis", "pitch") if word == "screw" else ("axis",)
    if len(arguments) != len(takes):
        said = f"{word} takes {' and '.join(takes)}."
        raise book.source.refused(said, node)
    axis = vector_of(arguments[0], book, Where(where.path, ANY), f"the axis of this {word}")
    if word != "screw":
        return MOTIONS[word](tuple(axis))
    pitch = scalar_of(arguments[1], book, Where(where.path, "m/rad"), "the pitch of this screw")
    return Screw(tuple(axis), plain(pitch))
