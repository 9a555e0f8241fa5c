"""`join FRAME and FRAME with TYPE … end`: joints by name, or by the motions they leave.

Elementary motions of a link: `[x,0,0]` slides, `x || [1,0,0]` turns, both with one x screw.

Or motions said one by one, turn(axis), slide(axis), screw(axis, pitch): each `dof` so said belongs
to the coordinate of the same rank, and the joint stays a composition.

Public names: Joined, joint_of, motions_of, type_of_motions, MOTIONS, is_motion, motion_of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import liaison.model as model
from liaison.errors import LiaisonError, Place, TextError
from liaison.expr import ONE, ZERO, Expr, as_expr, gradient, substitute, symbol, symbols_of
from liaison.formats.lsd.formulas.formulas import (
    ANY,
    Where,
    path_of,
    scalar_of,
    value_of,
    vector_of,
)
from liaison.formats.lsd.formulas.names import EARTH, GROUND, Book, bases, no_such
from liaison.formats.lsd.formulas.values import (
    BodyFrame,
    Quantity,
    Turn,
    Turned,
    Unfit,
    Value,
    Vector,
    Word,
    kind_of,
    plain,
)
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
from liaison.spatial import cross3, dot, is_zero, norm, rotation_onto_z
from liaison.units import PITCH

from .driven import TIME, Driven, carried, driven_slides, driven_turn, impose, is_timed
from .properties import Keys, PropertyReader, marker_of


def motions_of(
    node: Node, where: Where, names: tuple[str, ...], book: Book
) -> list[tuple[str, Any]]:
    """(coordinate, motion) of one `dof = …`, in order; ("", Driven) of one that follows time."""
    value = value_of(node, book, where)
    coordinates = {name: as_expr(where.local[name].value) for name in names}
    try:
        pieces: list[tuple[str, Any]] = []
        for motion in as_pose(value).motions:
            if isinstance(motion, Turned):
                raise Unfit("a matrix does not move.")
            if isinstance(motion, Turn):
                pieces += _turns(motion, coordinates)
            else:
                pieces += _slides(motion, coordinates)
        return _screws(pieces)
    except Unfit as error:
        raise book.source.error(
            str(error),
            node,
            hint="A dof is [x,0,0] or x || [1,0,0], or follows time: (2 rad/s*t) || [1,0,0]; what "
            "does not move belongs in the frames.",
        ) from None


def _turns(motion: Turn, coordinates: dict[str, Expr]) -> list[tuple[str, Any]]:
    """A turn by a coordinate, by a law of time, or by their sum: two turns about one axis."""
    axis = _numbers(motion.axis, coordinates)
    angle = as_expr(motion.angle.value)
    rest = substitute([angle], dict.fromkeys(coordinates.values(), ZERO))[0]
    driven = [("", driven_turn(axis, rest))] if is_timed(rest) else []
    own = as_expr(angle - rest) if driven else angle
    if driven and is_zero(_value(own)):
        return driven
    for name, x in coordinates.items():
        if own is x:
            return [(name, Rotation(tuple(axis))), *driven]
        if own is -x:
            return [(name, Rotation(tuple(-a for a in axis))), *driven]
    raise Unfit("a turn is by one coordinate of the link, or by a law of time.")


def _numbers(axis: Vector, coordinates: dict[str, Expr]) -> list[Any]:
    entries = [plain(q.value) for q in axis.items if isinstance(q, Quantity)]
    moving = {*coordinates.values(), TIME}
    if any(x in moving for x in symbols_of([as_expr(a) for a in entries])):
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
        if is_timed(*axis):
            raise Unfit("the direction of a slide does not move.")
        slides.append((name, Translation(tuple(_value(a) for a in axis))))
    at_zero = substitute(entries, dict.fromkeys(coordinates.values(), ZERO))
    driven = driven_slides(at_zero)
    still = [x for x in at_zero if not is_timed(x)]
    if not (slides or driven) or not all(is_zero(_value(x)) for x in still):
        raise Unfit("a slide is zero where its coordinate is zero, and moves with it.")
    return [*slides, *(("", x) for x in driven)]


def _value(x: Expr) -> Any:
    return x.value if x.op == "const" else x


def _screws(pieces: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """A slide and a turn by the same coordinate, one behind the other, are one screw."""
    result: list[tuple[str, Any]] = []
    for name, motion in pieces:
        if name and result and result[-1][0] == name:
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
    motions: list[Any], names: list[str], *, as_written: bool = False
) -> tuple[JointType, list[Any]]:
    """The joint type of a sequence of motions, and the axis for a joint of one motion.

    One turn is a revolute joint, one slide a prismatic, one screw a helical joint, unless the
    motions are to stay `as_written`.
    """
    if len(motions) == 1 and not as_written:
        (motion,) = motions
        axis = list(motion.axis)
        if isinstance(motion, Rotation):
            return Revolute(), axis
        if isinstance(motion, Translation) and as_expr(norm(axis)) is ONE:
            return Prismatic(), axis
        if isinstance(motion, Screw):
            return Helical(motion.pitch), axis
    return Composition(tuple(motions), tuple(names)), [0, 0, 1]


MOTIONS: dict[str, Any] = {x.WORD: x for x in (Rotation, Translation, Screw)}


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
        message = f"{word} takes {' and '.join(takes)}."
        raise book.source.error(message, node)
    axis = vector_of(arguments[0], book, Where(where.path, ANY), f"the axis of this {word}")
    if word != "screw":
        return MOTIONS[word](tuple(axis))
    pitch = scalar_of(arguments[1], book, Where(where.path, "m/rad"), "the pitch of this screw")
    return Screw(tuple(axis), plain(pitch))


EFFORTS = ("torque", "force")
EVERY = (*EFFORTS, "successor", "labels")


@final
@dataclass(frozen=True, slots=True)
class Joined:
    """A joint as read, with what is needed to read its effort once all coordinates are known."""

    joint: model.Joint
    keys: Keys
    axis: list[Any]
    local: Mapping[str, Value]
    node: Node
    driven: frozenset[int] = frozenset()  # which of its coordinates follow time


def joint_of(name: str | None, node: Node, place: Place, book: Book) -> Joined:
    """The joint of a `join … end`; without a name it is named after its two bodies."""
    first, second = node.parts[1:3]
    if name is None:
        pair = [_body_name(first, book), _body_name(second, book)]
        if pair[1] == GROUND:
            pair.reverse()
        name = book.free_name("_".join(pair))
        book.places[name] = place
    coordinates = [part for part in node.parts if isinstance(part, Node)][2:-1]
    names = tuple(str(token) for part in coordinates for token in part.parts)
    reader = _JointReader(name, node, names, book)
    sides = [_side(side, name, book) for side in (first, second)]
    # the ground is the predecessor, whichever side it is written on
    if sides[1][0].body == GROUND and not _is_successor(reader.keys, book):
        sides.reverse()
    type_, axis, labels = reader.link() if reader.word == "link" else reader.named()
    sides = [(carried(frame, name, place, book), at) for frame, at in sides]
    turn = None if axis == [0, 0, 1] or not type_.HAS_AXIS else _onto_z(tuple(axis))
    try:
        F, M = (marker_of(frame, at, turn) for frame, at in sides)
        joint = model.Joint(name, type_, F, M, labels, place=place)
    except LiaisonError as error:
        error.place = error.place or place
        raise
    book.add_joint(joint, names)
    if turn is not None:
        book.turns[name] = turn
    labels = tuple(joint.coordinates[k] for k in reader.laws)
    impose(labels, list(reader.laws.values()), place, book)
    return Joined(joint, reader.keys, axis, reader.local, node, frozenset(reader.laws))


def _is_successor(keys: Keys, book: Book) -> bool:
    """Whether `successor = earth` keeps the ground behind."""
    node = keys.get("successor")
    return node is not None and _body_name(node, book) == GROUND


def _body_name(node: Node, book: Book) -> str:
    """The body a frame is on, from the text alone."""
    while node.kind == "on_body":
        node = node.parts[1]
    base, path = node, path_of(node) or "frame"
    known = [name for name in bases(path) if name in book.bodies or name in book.lets]
    word = known[-1] if known else path.partition(".")[0]
    if word in book.lets:
        value = book.find(word, base, Where(word, kind="body"))
        return value.body if isinstance(value, BodyFrame) else word
    return GROUND if word in EARTH else word


def _side(node: Node, joint: str, book: Book) -> tuple[BodyFrame, Place]:
    body = _body_name(node, book)
    value = value_of(node, book, Where(f"{joint}.{body}", kind="body"))
    if not isinstance(value, BodyFrame):
        raise book.source.error(
            f"a joint connects frames on bodies, not {kind_of(value)}.",
            node,
            hint="Write a body, or a pose on it: [1,0,0] @ crank.",
        )
    return value, book.source.at(node)


@lru_cache(maxsize=1000)
def _onto_z(axis: tuple[Any, ...]) -> Any:
    return rotation_onto_z(list(axis))


class _JointReader(PropertyReader):
    """Makes the type of a joint and the labels of its coordinates."""

    def __init__(self, name: str, node: Node, names: tuple[str, ...], book: Book) -> None:
        word = node.parts[3]
        super().__init__(name, "joint", node.parts[-1], book.source.of(word), book)
        self.word, self.names = str(word), names
        self.local: dict[str, Value] = {}
        self.laws: dict[int, Expr] = {}  # place of a coordinate that follows time -> its law

    def labels(self, count: int) -> tuple[str, ...]:
        """Labels of the coordinates the author named; none means the usual ones."""
        node = self.keys.get("labels")
        if node is not None:
            value = value_of(node, self.book, Where(self.name))
            text = value.text if isinstance(value, Word) else ""
            labels = re.findall(r"(?:^|,)\s*(`[^`]*`|[^,`]*)", text)
            return tuple(label.strip().strip("`") for label in labels)
        if not self.names or count == 1:
            return ()
        return tuple(f"{self.name}.{part}" for part in self.names)

    def remember(self, names: tuple[str, ...], count: int = 0) -> None:
        """Lets the joint's own formulas say x and x' for its coordinates, of so many in all."""
        for part in names:
            label = self.name if (count or len(names)) == 1 else f"{self.name}.{part}"
            self.local[part] = Quantity(symbol(label), None)
            self.local[f"{part}'"] = Quantity(symbol(f"{label}'"), None)

    def named(self) -> tuple[model.JointType, list[Any], tuple[str, ...]]:
        """A type by its word in the catalogue."""
        types, others = model.JOINT_TYPES.in_lsd, model.JOINT_TYPES.synonyms
        known = others.get(self.word, self.word)
        if known not in types:
            words, listed = [*types, *others, "link"], [*types, "link"]
            raise no_such("joint type", self.word, words, self.place, listed=listed)
        cls = types[known]
        self.keys.check((*cls.properties(), *EVERY))
        type_ = cls(**self.options(cls))
        if cls.OTHER_NAMES:
            type_ = type_.in_coordinates(self.book.parts_of(self.name))
        if self.names and len(self.names) != type_.nq:
            message = f"a {known} joint has {type_.nq} coordinates, not {len(self.names)}."
            raise self.error(message)
        self.remember(self.names or type_.coordinate_names)
        return type_, self.axis(), self.labels(type_.nq)

    def options(self, cls: type[model.JointType]) -> dict[str, Any]:
        """Fields of the type: each with a unit, or an attitude; those with a default may lack."""
        options: dict[str, Any] = {}
        needed = cls.required()
        for key, unit in cls.OPTIONS.items():
            node = self.keys.need(key, self.place) if key in needed else self.keys.get(key)
            if node is None:
                continue
            if unit == model.joints.ATTITUDE:
                options[key] = self.attitude(node)
            else:
                self.check_option(key, unit, node)
                options[key] = self.scalar(key, unit)
        return options

    def check_option(self, key: str, unit: str, node: Node) -> None:
        """Rejects a bare length for an advance by angle [m/rad]: it may mean one turn."""
        if unit != "m/rad":
            return
        value = value_of(node, self.book, Where(f"{self.name}.{key}", unit))
        known = value.dimension if isinstance(value, Quantity) else None
        if known is not None and not value.bare and known != PITCH:
            hint = "Write for example 5 mm/rev, or 0.8 mm/rad."
            raise self.error(f"{self.what(key)} is a length by an angle.", node, hint)

    def attitude(self, node: Node) -> Any:
        """How a ball or free joint counts its turn."""
        word = path_of(node)
        if word is None:
            value = value_of(node, self.book, Where(self.name))
            word = value.text if isinstance(value, Word) else kind_of(value)
        known = model.ATTITUDES
        if word not in known:
            raise no_such("attitude", word, known, self.book.source.at(node), listed=[*known])
        return known[word]()

    def link(self) -> tuple[model.JointType, list[Any], tuple[str, ...]]:
        """link(x, y, …) with dof, dof1, dof2 …: elementary motions one after another."""
        self.remember(self.names)
        dofs = [key for key in self.keys.nodes if key.startswith("dof")]
        self.keys.check((*sorted(dofs, key=_order), *EVERY) if dofs else ("dof", *EVERY))
        motions: list[Any] = []
        names: list[str] = []
        for key in sorted(dofs, key=_order):
            node = self.keys.nodes[key][0]
            where = Where(f"{self.name}.{key}", local=self.local)
            pairs = (
                [(self.names[len(names)], motion_of(node, where, self.book))]
                if is_motion(node) and len(names) < len(self.names)
                else motions_of(node, where, self.names, self.book)
            )
            for part, motion in pairs:
                if isinstance(motion, Driven):
                    part = _free_part(key, {*self.names, *names})
                    self.laws[len(names)] = motion.law
                motions.append(motion.motion if isinstance(motion, Driven) else motion)
                names.append(part)
        if not self.names and not self.laws:
            raise self.error("a link names its coordinates: link(x, y).")
        _check_each_once(self.names, names, self.place)
        self.remember(self.names, len(names))
        is_written = any(is_motion(self.keys.nodes[key][0]) for key in dofs)
        type_, axis = type_of_motions(motions, names, as_written=is_written)
        self.names = tuple(names)
        return type_, axis, self.labels(len(names))


def _free_part(key: str, taken: set[str]) -> str:
    """dof1, or dof1_2, dof1_3, … where there are several."""
    part, count = key, 1
    while part in taken:
        count += 1
        part = f"{key}_{count}"
    return part


def _order(key: str) -> tuple[int, str]:
    number = key.removeprefix("dof")
    return (int(number) if number.isdigit() and len(number) < 4 else 0, key)


def _check_each_once(declared: tuple[str, ...], used: list[str], place: Place) -> None:
    for part in declared:
        count = used.count(part)
        if count != 1 or declared.count(part) != 1:
            problem = "moves nothing" if count == 0 else "is used more than once"
            raise TextError(
                f"the coordinate {part!r} of the link {problem}.",
                place=place,
                hint="Each coordinate is one elementary motion: [x,0,0], or x || [1,0,0].",
            )
