"""`join FRAME and FRAME with TYPE … end`: joints by name, or by the motions they leave.

Public names: Joined, joint_of, JOINT_TYPES.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import liaison.model as model
from liaison.errors import LiaisonError, Place, TextError
from liaison.expr import symbol
from liaison.formats.lsd.formulas.formulas import Where, path_of, value_of
from liaison.formats.lsd.formulas.names import EARTH, GROUND, Book, bases, no_such
from liaison.formats.lsd.formulas.values import BodyFrame, Quantity, Value, Word, kind_of
from liaison.formats.lsd.syntax.nodes import Node
from liaison.spatial import rotation_onto_z

from .links import is_motion, motion_of, motions_of, type_of_motions
from .properties import Keys, Told, marker_of

_BALL = ("attitude",)
_AXIS = ("axis",)

# word -> type and the properties it takes
JOINT_TYPES: dict[str, tuple[type[model.JointType], tuple[str, ...]]] = {
    "fixed": (model.Fixed, ()),
    "revolute": (model.Revolute, _AXIS),
    "prismatic": (model.Prismatic, _AXIS),
    "helical": (model.Helical, ("axis", "pitch")),
    "cylindrical": (model.Cylindrical, _AXIS),
    "universal": (model.Universal, ()),
    "spherical_pin": (model.SphericalPin, ()),
    "spherical": (model.Spherical, _BALL),
    "planar": (model.Planar, _AXIS),
    "point_on_line": (model.PointOnLine, ("axis", "attitude")),
    "line_on_plane": (model.LineOnPlane, ()),
    "point_on_plane": (model.PointOnPlane, ("axis", "attitude")),
    "perpendicular": (model.Perpendicular, ()),
    "parallel_axes": (model.ParallelAxes, _AXIS),
    "rod": (model.Rod, ("length", "attitude")),
    "free": (model.Free, _BALL),
}
SYNONYMS = {
    "rigid": "fixed", "weld": "fixed", "encastrement": "fixed",
    "hinge": "revolute", "pivot": "revolute",
    "slider": "prismatic", "glissiere": "prismatic",
    "screw": "helical", "helicoidale": "helical",
    "pivot_glissant": "cylindrical", "cardan": "universal",
    "rotule_a_doigt": "spherical_pin",
    "ball": "spherical", "rotule": "spherical",
    "appui_plan": "planar", "lineaire_annulaire": "point_on_line",
    "lineaire_rectiligne": "line_on_plane", "ponctuelle": "point_on_plane",
    "libre": "free",
}  # fmt: skip
ATTITUDES: dict[str, Callable[[], model.Attitude]] = {
    "quaternion": model.Quaternion,
    "euler": model.EulerZXZ,
    "bryant": model.BryantXYZ,
    "matrix": model.RotationMatrix,
}
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
    made = _Made(name, node, names, book)
    sides = [_side(side, name, book) for side in (first, second)]
    # the ground is the predecessor, whichever side it is written on
    if sides[1][0].body == GROUND and not _is_successor(made.keys, book):
        sides.reverse()
    type_, axis, labels = made.link() if made.word == "link" else made.named()
    turn = None if axis == [0, 0, 1] or type(type_) not in _TURNED else _onto_z(tuple(axis))
    try:
        F, M = (marker_of(frame, at, turn) for frame, at in sides)
        joint = model.Joint(name, type_, F, M, labels, place=place)
    except LiaisonError as error:
        error.place = error.place or place
        raise
    book.add_joint(joint, names)
    return Joined(joint, made.keys, axis, made.local, node)


def _is_successor(keys: Keys, book: Book) -> bool:
    """Whether `successor = earth` keeps the ground behind."""
    node = keys.get("successor")
    return node is not None and _body_name(node, book) == GROUND


def _body_name(node: Node, book: Book) -> str:
    """The body a frame is on, told from the text alone."""
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
        raise book.source.refused(
            f"a joint connects frames on bodies, not {kind_of(value)}.",
            node,
            hint="Write a body, or a pose on it: [1,0,0] @ crank.",
        )
    return value, book.source.at(node)


@lru_cache(maxsize=1000)
def _onto_z(axis: tuple[Any, ...]) -> Any:
    return rotation_onto_z(list(axis))


_TURNED = tuple(cls for cls, takes in JOINT_TYPES.values() if "axis" in takes)


class _Made(Told):
    """Makes the type of a joint and the labels of its coordinates."""

    def __init__(self, name: str, node: Node, names: tuple[str, ...], book: Book) -> None:
        word = node.parts[3]
        super().__init__(name, "joint", node.parts[-1], book.source.of(word), book)
        self.word, self.names = str(word), names
        self.local: dict[str, Value] = {}

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

    def remember(self, names: tuple[str, ...]) -> None:
        """Lets the joint's own formulas say x and x' for its coordinates."""
        for part in names:
            label = self.name if len(names) == 1 else f"{self.name}.{part}"
            self.local[part] = Quantity(symbol(label), None)
            self.local[f"{part}'"] = Quantity(symbol(f"{label}'"), None)

    def named(self) -> tuple[model.JointType, list[Any], tuple[str, ...]]:
        """A type by its word in the catalogue."""
        known = SYNONYMS.get(self.word, self.word)
        if known not in JOINT_TYPES:
            words, listed = [*JOINT_TYPES, *SYNONYMS, "link"], [*JOINT_TYPES, "link"]
            raise no_such("joint type", self.word, words, self.place, listed=listed)
        cls, takes = JOINT_TYPES[known]
        self.keys.check((*takes, *EVERY))
        type_ = cls(**self.properties(takes))
        if self.names and len(self.names) != type_.nq:
            said = f"a {known} joint has {type_.nq} coordinates, not {len(self.names)}."
            raise self.refused(said)
        self.remember(self.names or type_.coordinate_names)
        return type_, self.axis(), self.labels(type_.nq)

    def properties(self, takes: tuple[str, ...]) -> dict[str, Any]:
        """Pitch, length and attitude, for the types that take them."""
        given: dict[str, Any] = {}
        if "pitch" in takes:
            given["pitch"] = self.pitch(self.keys.need("pitch", self.place))
        if "length" in takes:
            given["length"] = self.scalar("length", "m")
        attitude = self.keys.get("attitude")
        if attitude is not None:
            given["attitude"] = self.attitude(attitude)
        return given

    def pitch(self, node: Node) -> Any:
        """Advance by angle [m/rad]; a bare length is refused, because it may mean a turn."""
        value = value_of(node, self.book, Where(f"{self.name}.pitch", "m/rad"))
        known = value.dimension if isinstance(value, Quantity) else None
        if known is not None and not value.bare and known != (1, 0, 0, -1):
            hint = "Write for example 5 mm/rev, or 0.8 mm/rad."
            raise self.refused(f"{self.what('pitch')} is a length by an angle.", node, hint)
        return self.scalar("pitch", "m/rad")

    def attitude(self, node: Node) -> Any:
        """How a ball or free joint counts its turn."""
        word = path_of(node)
        if word is None:
            value = value_of(node, self.book, Where(self.name))
            word = value.text if isinstance(value, Word) else kind_of(value)
        if word not in ATTITUDES:
            raise no_such(
                "attitude", word, ATTITUDES, self.book.source.at(node), listed=[*ATTITUDES]
            )
        return ATTITUDES[word]()

    def link(self) -> tuple[model.JointType, list[Any], tuple[str, ...]]:
        """link(x, y, …) with dof, dof1, dof2 …: elementary motions one after another."""
        if not self.names:
            raise self.refused("a link names its coordinates: link(x, y).")
        self.remember(self.names)
        dofs = [key for key in self.keys.nodes if key.startswith("dof")]
        self.keys.check((*sorted(dofs, key=_order), *EVERY) if dofs else ("dof", *EVERY))
        motions: list[Any] = []
        names: list[str] = []
        for key in sorted(dofs, key=_order):
            node = self.keys.nodes[key][0]
            where = Where(f"{self.name}.{key}", local=self.local)
            found = (
                [(self.names[len(names)], motion_of(node, where, self.book))]
                if is_motion(node) and len(names) < len(self.names)
                else motions_of(node, where, self.names, self.book)
            )
            for part, motion in found:
                motions.append(motion)
                names.append(part)
        _check_each_once(self.names, names, self.place)
        is_said = any(is_motion(self.keys.nodes[key][0]) for key in dofs)
        type_, axis = type_of_motions(motions, names, as_said=is_said)
        self.names = tuple(names)
        return type_, axis, self.labels(len(names))


def _order(key: str) -> tuple[int, str]:
    number = key.removeprefix("dof")
    return (int(number) if number.isdigit() and len(number) < 4 else 0, key)


def _check_each_once(declared: tuple[str, ...], used: list[str], place: Place) -> None:
    for part in declared:
        count = used.count(part)
        if count != 1 or declared.count(part) != 1:
            said = "moves nothing" if count == 0 else "is used more than once"
            raise TextError(
                f"the coordinate {part!r} of the link {said}.",
                place=place,
                hint="Each coordinate is one elementary motion: [x,0,0], or x || [1,0,0].",
            )
