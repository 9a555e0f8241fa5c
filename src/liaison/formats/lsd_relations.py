"""`couple … and … with TYPE … end`, `contact … and … with TYPE … end`: relations that are no joint.

Gears, belts, racks and cams tie coordinates; wheels and balls roll on planes; contacts hold on one
side only.

Public names: couple_of, contact_of, COUPLES, CONTACTS.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from liaison.errors import Place, TextError
from liaison.expr import as_expr, symbol
from liaison.model import Constraint, Contact, Coupling, Holonomic, Marker, Rolling
from liaison.spatial import is_zero, rotation_onto_z

from .lsd_forces import coordinate_of
from .lsd_formulas import ANY, Where, in_unit, scalar_of, value_of, vector_of
from .lsd_joints import marker_of
from .lsd_names import Book, Keys, no_such
from .lsd_nodes import Node
from .lsd_units import si_unit
from .lsd_values import BodyFrame, Quantity, Vector, kind_of, plain


class _Told:
    """One `couple` or `contact` statement: its two sides, its type, its properties."""

    def __init__(self, name: str | None, node: Node, place: Place, book: Book) -> None:
        self.book, self.place = book, place
        self.sides, self.word = node.parts[1:3], node.parts[3]
        self.kind = str(self.word)
        self.name = name or book.free_name(self.kind)
        book.places.setdefault(self.name, place)
        self.keys = Keys(node.parts[-1], f"{self.kind} {self.name!r}", book.source)

    def what(self, key: str) -> str:
        """A property, in words."""
        return f"the {key} of {self.kind} {self.name!r}"

    def scalar(self, key: str, unit: str, default: Any = None) -> Any:
        """The number of a key; the default if it is not given, or a refusal."""
        node = self.keys.get(key)
        if node is None and default is not None:
            return default
        node = self.keys.need(key, self.place)
        return plain(scalar_of(node, self.book, Where(f"{self.name}.{key}", unit), self.what(key)))

    def pair(self, *keys: str) -> tuple[Any, Any]:
        """The two numbers of the first key that is given: radii, or numbers of teeth."""
        given = [key for key in keys if self.keys.get(key) is not None]
        if len(given) > 1:
            said = (
                f"{self.kind} {self.name!r} gives both {given[0]!r} and {given[1]!r}; one will do."
            )
            raise TextError(said, place=self.book.source.at(self.keys.need(given[1], self.place)))
        key = given[0] if given else keys[0]
        node = self.keys.need(key, self.place)
        value = value_of(node, self.book, Where(f"{self.name}.{key}"))
        if not isinstance(value, Vector) or len(value.items) != 2:
            said = f"{self.what(key)} are two numbers, not {kind_of(value)}."
            raise TextError(said, place=self.book.source.at(node))
        where = Where(self.name, "m" if key == "radii" else "")
        items = [in_unit(x, node, self.book, where, self.what(key)).value for x in value.items]
        if any(is_zero(x) for x in items):
            raise TextError(f"{self.what(key)} are not zero.", place=self.book.source.at(node))
        return plain(items[0]), plain(items[1])

    def labels(self) -> tuple[str, str]:
        """The coordinates it ties."""
        first, second = (coordinate_of(side, self.book) for side in self.sides)
        return first, second

    def unit(self, label: str) -> str:
        """The SI unit of a coordinate."""
        return si_unit(self.book.symbols[label].dimension)

    def frame(self, side: int, *, turned: bool = False) -> Marker:
        """A frame on a body; with its z along the property `axis` where that is said."""
        node = self.sides[side]
        value = value_of(node, self.book, Where(self.name, kind="body"))
        if not isinstance(value, BodyFrame):
            said = f"{self.kind} {self.name!r} is between frames of bodies, not {kind_of(value)}."
            raise TextError(said, place=self.book.source.at(node))
        at = self.book.source.at(node)
        axis = self.keys.get("axis")
        if axis is None or not turned:
            return marker_of(value, at)
        direction = vector_of(axis, self.book, Where(self.name, ANY), self.what("axis"))
        if all(is_zero(x) for x in direction):
            said = f"{self.what('axis')} is zero; it has no direction."
            raise TextError(said, place=self.book.source.at(axis))
        return marker_of(value, at, rotation_onto_z(direction))


def couple_of(name: str | None, node: Node, place: Place, book: Book) -> Constraint:
    """The relation of a `couple` statement."""
    told, make = _told(name, node, place, book, COUPLES, "kind of coupling")
    made: Constraint = make(told)
    return made


def contact_of(name: str | None, node: Node, place: Place, book: Book) -> Contact:
    """The contact of a `contact` statement."""
    told, make = _told(name, node, place, book, CONTACTS, "kind of contact")
    made: Contact = make(told)
    return made


def _told(
    name: str | None, node: Node, place: Place, book: Book, kinds: dict[str, Any], what: str
) -> tuple[_Told, Any]:
    word = node.parts[3]
    if str(word) not in kinds:
        raise no_such(what, str(word), kinds, book.source.of(word), listed=[*kinds])
    told = _Told(name, node, place, book)
    make, takes = kinds[str(word)]
    told.keys.check(takes)
    return told, make


def _gear(x: _Told) -> Coupling:
    """r1 A + r2 B = 0: wheels that mesh turn against each other; a ring has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.pair("teeth", "radii")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(-r1) / r2), a, offset, place=x.place)


def _belt(x: _Told) -> Coupling:
    """r1 A = r2 B: pulleys of one belt turn alike; a crossed belt has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.pair("radii", "teeth")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(r1) / r2), a, offset, place=x.place)


def _rack(x: _Told) -> Coupling:
    """B = r A + offset: a pinion drives a rack."""
    a, b = x.labels()
    return Coupling(
        x.name, b, x.scalar("radius", "m"), a, x.scalar("offset", "m", 0), place=x.place
    )


def _proportion(x: _Told) -> Coupling:
    """B = ratio A + offset."""
    a, b = x.labels()
    ratio, offset = x.scalar("ratio", ANY), x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, ratio, a, offset, place=x.place)


def _cam(x: _Told) -> Holonomic:
    """B = lift(A)."""
    a, b = x.labels()
    node = x.keys.need("lift", x.place)
    local = {"angle": Quantity(symbol(a), x.book.symbols[a].dimension)}
    where = Where(f"{x.name}.lift", x.unit(b), local=local)
    lift = scalar_of(node, x.book, where, x.what("lift"))
    return Holonomic(x.name, symbol(b) - as_expr(lift), place=x.place)


def _rolling(kind: str) -> Callable[[_Told], Rolling]:
    def made(x: _Told) -> Rolling:
        wheel, plane = x.frame(0, turned=kind == "disc"), x.frame(1)
        return Rolling(x.name, wheel, x.scalar("radius", "m"), plane, kind, place=x.place)

    return made


def _contact(kind: str) -> Callable[[_Told], Contact]:
    def made(x: _Told) -> Contact:
        radius = x.scalar("radius", "m") if kind != "point" else 0
        friction, restitution = x.scalar("friction", "", 0), x.scalar("restitution", "", 0)
        first, second = x.frame(0, turned=kind == "disc"), x.frame(1)
        return Contact(x.name, first, second, kind, radius, friction, restitution, place=x.place)

    return made


def _exact(x: Any) -> Any:
    """A whole number as one that divides exactly."""
    return Fraction(x) if isinstance(x, int) else x


COUPLES: dict[str, tuple[Callable[[_Told], Constraint], tuple[str, ...]]] = {
    "gear": (_gear, ("teeth", "radii", "offset")),
    "belt": (_belt, ("radii", "teeth", "offset")),
    "rack": (_rack, ("radius", "offset")),
    "proportion": (_proportion, ("ratio", "offset")),
    "cam": (_cam, ("lift",)),
    "rolling_disc": (_rolling("disc"), ("radius", "axis")),
    "rolling_ball": (_rolling("ball"), ("radius",)),
}
CONTACTS: dict[str, tuple[Callable[[_Told], Contact], tuple[str, ...]]] = {
    "point": (_contact("point"), ("friction", "restitution")),
    "ball": (_contact("ball"), ("radius", "friction", "restitution")),
    "disc": (_contact("disc"), ("radius", "axis", "friction", "restitution")),
}
