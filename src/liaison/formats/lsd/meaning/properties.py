"""A statement with properties as its readers see it: `key = value` by name, frames, coordinates.

One `couple` or `contact` statement as its readers see it: two sides, a type, properties.

Public names: Keys, PropertyReader, coordinate_of, marker_of, Related, SMOOTHING, friction_law_of,
check_moving.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar

from liaison.errors import Cure, NamingError, Place, TextError
from liaison.formats.lsd.formulas.formulas import (
    ANY,
    Where,
    check_one_unit,
    in_unit,
    path_of,
    scalar_of,
    value_of,
    vector_of,
)
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.values import (
    BodyFrame,
    Vector,
    kind_of,
    plain,
    product_of,
    si_unit,
    spelled,
)
from liaison.formats.lsd.syntax.nodes import Node, Source
from liaison.formats.poses import is_upright, rows_of
from liaison.model import Marker
from liaison.model.kinds import Property
from liaison.spatial import Array, array, is_zero, product, rotation_onto_z
from liaison.units import PURE, Dimension, same

from .driven import carried


class Keys:
    """The `key = value` pairs of one construct, each asked for by its name."""

    def __init__(self, pairs: Node, owner: str, source: Source) -> None:
        self.owner, self.source = owner, source
        self.nodes: dict[str, list[Node]] = {}
        self.names: dict[str, Any] = {}
        for pair in pairs.parts:
            token, node = pair.parts
            self.nodes.setdefault(str(token), []).append(node)
            self.names[str(token)] = token

    def check(self, allowed: Iterable[str], *, many: Iterable[str] = ()) -> None:
        """Rejects keys that do not belong here, and keys given twice unless they may be `many`."""
        known = [*allowed, *many]
        for key, token in self.names.items():
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                guess = f"; did you mean {near[0]!r}?" if near else "."
                place = self.source.of(token)
                raise NamingError(
                    f"{self.owner} has no property {key!r}{guess}",
                    place=place,
                    hint=f"It takes: {', '.join(known) or 'none'}.",
                    cure=place.replaced(key, near[0]) if near else None,
                )
            if len(self.nodes[key]) > 1 and key not in many:
                message = f"{self.owner} gives {key!r} twice."
                raise NamingError(message, place=self.source.of(token))

    def get(self, key: str) -> Node | None:
        """The value of a key, if it is given."""
        return self.nodes[key][0] if key in self.nodes else None

    def need(self, key: str, place: Place) -> Node:
        """The value of a key that must be given."""
        node = self.get(key)
        if node is None:
            raise TextError(f"{self.owner} needs '{key} = …'.", place=place)
        return node

    def all(self, key: str) -> list[Node]:
        """All values of a key that may be given several times."""
        return self.nodes.get(key, [])


class PropertyReader:
    """One statement: its kind, the name it gets, its properties."""

    ON_FRAMES: ClassVar[str] = "acts on a frame of a body, not on"

    def __init__(self, name: str, kind: str, pairs: Node, place: Place, book: Book) -> None:
        self.name, self.kind, self.place, self.book = name, kind, place, book
        book.places.setdefault(name, place)
        self.keys = Keys(pairs, f"{kind} {name!r}", book.source)

    def error(self, message: str, node: Node | None = None, hint: str = "") -> TextError:
        """An error at a node of the statement, or at its beginning."""
        place = self.place if node is None else self.book.source.at(node)
        return TextError(message, place=place, hint=hint)

    def what(self, key: str) -> str:
        """A property, in words."""
        return f"the {key} of {self.kind} {self.name!r}"

    def scalar(self, key: str, unit: str, default: Any = None) -> Any:
        """The number of a key; the default if it is not given, or an error."""
        if self.keys.get(key) is None and default is not None:
            return default
        node, where = self.keys.need(key, self.place), Where(f"{self.name}.{key}", unit)
        return plain(scalar_of(node, self.book, where, self.what(key)))

    def vector(self, key: str, unit: str) -> list[Any]:
        """The three components of a key."""
        node, where = self.keys.need(key, self.place), Where(f"{self.name}.{key}", unit)
        return vector_of(node, self.book, where, self.what(key))

    def property(self, one: Property, unit: str) -> Any:
        """The value of a property that a kind has."""
        if one.shape:
            node = self.keys.need(one.key, self.place)
            return value_of(node, self.book, Where(f"{self.name}.{one.key}", unit))
        return tuple(self.vector(one.key, unit)) if one.vector else self.scalar(one.key, unit)

    def pair(self, key: str, units: tuple[str, str], expected: str) -> list[Any]:
        """The two numbers of a key; one, in the second unit, where a single number is given."""
        node = self.keys.need(key, self.place)
        places = [Where(f"{self.name}.{key}", unit) for unit in units]
        value = value_of(node, self.book, places[1])
        items = value.items if isinstance(value, Vector) else (value,)
        if isinstance(value, Vector) and len(items) != 2:
            raise self.error(f"{self.what(key)} {expected}, not {kind_of(value)}.", node)
        quantities = zip(items, places[-len(items) :], strict=True)
        what = self.what(key)
        return [plain(in_unit(x, node, self.book, at, what).value) for x, at in quantities]

    def axis(self) -> list[Any]:
        """The direction of the key `axis`; z if it is not said."""
        node = self.keys.get("axis")
        if node is None:
            return [0, 0, 1]
        direction = self.vector("axis", ANY)
        value = value_of(node, self.book, Where(f"{self.name}.axis", ANY))
        check_one_unit(value, self.book.source.at(node))
        if all(is_zero(x) for x in direction):
            hint = "Give a vector along the axis, such as [0,0,1]."
            raise self.error(f"{self.what('axis')} is zero; it has no direction.", node, hint)
        return direction

    def frame(self, node: Node, turn: Array | None = None) -> Marker:
        """A frame on a body, turned behind its own rotation where that is said."""
        value = value_of(node, self.book, Where(f"{self.name}.on", kind="body"))
        if not isinstance(value, BodyFrame):
            message = f"{self.kind} {self.name!r} {self.ON_FRAMES} {kind_of(value)}."
            raise self.error(message, node)
        frame = carried(value, self.name, self.place, self.book)
        return marker_of(frame, self.book.source.at(node), turn)


def marker_of(frame: BodyFrame, place: Place, turn: Array | None = None) -> Marker:
    """The record of a frame on a body, turned behind its own rotation where that is said."""
    R = frame.R
    if turn is not None:
        R = turn if is_upright(R) else product(array(R), turn)
    return Marker(frame.body, rows_of(R), tuple(frame.p), frame.name, place=place)


def coordinate_of(node: Node, book: Book) -> str:
    """The label of a coordinate; a joint of one coordinate may be named instead."""
    path = path_of(node)
    label = book.label(path) if path is not None else ""
    if label:
        return label
    known = [name for name in book.labels if not name.endswith("'")]
    if path in book.joints:
        known = list(book.joints[path].coordinates)
    if node.kind == "prime":
        raise book.source.error(
            "a coordinate is expected here, not its rate.",
            node,
            hint="A motion is imposed by positions, impose A = 3 rad/s * t; a relation of rates is "
            "written require A' = 3 rad/s.",
        )
    if not path:
        raise book.source.error(
            "a coordinate is expected here, not a formula.",
            node,
            hint="Write a relation of several coordinates with 'require'.",
        )
    raise no_such("coordinate", path, known, book.source.at(node))


def check_moving(x: PropertyReader, key: str, moving: str) -> None:
    """Rejects friction at rest without friction in motion: none would act once it slips."""
    node = x.keys.get(key)
    if node is None or x.keys.get(moving) is not None:
        return
    place, source = x.book.source.of(x.keys.names[key]), x.book.source
    value = source.at(node).words() if node.kind == "number" else "…"
    cure = Cure(place.file, place.line, place.column, 0, f"{moving} = {value}, ")
    raise TextError(
        f"{x.kind} {x.name!r} has {key!r} friction at rest, but no {moving!r} in motion.",
        place=place,
        hint=f"Give both: {moving} = {value}, {key} = {value}; {moving} = 0 where there is none.",
        cure=cure if node.kind == "number" else None,
    )


SMOOTHING = ("stribeck", "regularized")
"""Laws of friction other than Coulomb's; the property's value is their speed."""


def friction_law_of(x: PropertyReader, unit: str) -> dict[str, Any]:
    """The law and its speed, of a statement that says so."""
    laws = [word for word in SMOOTHING if x.keys.get(word) is not None]
    if len(laws) > 1:
        message = f"{x.kind} {x.name!r} has one law of friction, {laws[0]!r} or {laws[1]!r}."
        raise x.error(message, x.keys.get(laws[1]))
    return {"law": laws[0], "speed": x.scalar(laws[0], unit)} if laws else {}


class Related(PropertyReader):
    """One `couple` or `contact` statement: its two sides, its type, its properties."""

    ON_FRAMES: ClassVar[str] = "is between frames of bodies, not"

    def __init__(self, name: str | None, node: Node, place: Place, book: Book) -> None:
        self.sides, kind = node.parts[1:3], str(node.parts[3])
        super().__init__(name or book.free_name(kind), kind, node.parts[-1], place, book)

    def sizes(self, *keys: str) -> tuple[Any, Any]:
        """The two numbers of the one key that is given: radii, or numbers of teeth."""
        present = [key for key in keys if self.keys.get(key) is not None]
        if len(present) > 1:
            message = f"{self.kind} {self.name!r} gives both {present[0]!r} and {present[1]!r}"
            raise self.error(f"{message}; give one of them.", self.keys.get(present[1]))
        key = present[0] if present else keys[0]
        unit = "m" if key == "radii" else ""
        items = self.pair(key, (unit, unit), "are two numbers")
        if len(items) != 2 or any(is_zero(x) for x in items):
            message = "are two numbers, not a number." if len(items) != 2 else "are not zero."
            raise self.error(f"{self.what(key)} {message}", self.keys.get(key))
        return items[0], items[1]

    def labels(self) -> tuple[str, str]:
        """The coordinates it ties."""
        first, second = (coordinate_of(side, self.book) for side in self.sides)
        return first, second

    def checked_labels(self, *expected: Dimension) -> tuple[str, str]:
        """The coordinates it ties, if their dimensions are these.

        Raises:
            TextError: another dimension; where the two are only swapped, the cure swaps them.
        """
        labels = self.labels()
        actual = [self.book.symbols[label].dimension for label in labels]
        if all(same(a, b) for a, b in zip(actual, expected, strict=True)):
            return labels
        ties = " and then ".join(spelled(x) for x in expected)
        message = f"{self.kind} {self.name!r} ties {ties}"
        places = [self.book.source.at(side) for side in self.sides]
        cure, hint = None, "'couple … with proportion ratio = …' ties any two coordinates."
        if all(same(a, b) for a, b in zip(actual, expected[::-1], strict=True)):
            hint = f"Write {places[1].words()} and {places[0].words()}."
            cure = self.book.source.swapped(*self.sides)
        k = next(k for k, (a, b) in enumerate(zip(actual, expected, strict=True)) if not same(a, b))
        message += f"; {labels[k]!r} is {spelled(actual[k])}."
        raise TextError(message, place=places[k], hint=hint, cure=cure)

    def unit(self, label: str) -> str:
        """The SI unit of a coordinate."""
        return si_unit(self.book.symbols[label].dimension)

    def unit_of_ratio(self, label: str, other: str) -> str:
        """The SI unit of one coordinate by another."""
        a, b = (self.book.symbols[x].dimension or PURE for x in (label, other))
        return si_unit(product_of(a, b, -1))

    def frames(self, *, turned: bool) -> tuple[Marker, Marker]:
        """Both frames, the first with its z along the property `axis` where that is said."""
        turn = rotation_onto_z(self.axis()) if turned and self.keys.get("axis") else None
        return self.frame(self.sides[0], turn), self.frame(self.sides[1])
