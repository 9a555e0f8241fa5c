"""`couple … and … with TYPE … end`, `contact … and … with TYPE … end`: relations that are no joint.

Gears, belts, racks and cams tie coordinates; wheels and balls roll on planes; contacts hold on one
side only.

Public names: related, COUPLES, CONTACTS.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

from liaison.errors import Place
from liaison.expr import as_expr, symbol
from liaison.model import Constraint, Contact, Coupling, Holonomic, Marker, Rolling
from liaison.spatial import is_zero, rotation_onto_z

from .lsd_formulas import ANY, Where, scalar_of
from .lsd_names import Book, no_such
from .lsd_nodes import Node
from .lsd_told import Told, coordinate_of
from .lsd_units import si_unit
from .lsd_values import Quantity, plain


class _Related(Told):
    """One `couple` or `contact` statement: its two sides, its type, its properties."""

    ON_FRAMES: ClassVar[str] = "is between frames of bodies, not"

    def __init__(self, name: str | None, node: Node, place: Place, book: Book) -> None:
        self.sides, kind = node.parts[1:3], str(node.parts[3])
        super().__init__(name or book.free_name(kind), kind, node.parts[-1], place, book)

    def sizes(self, *keys: str) -> tuple[Any, Any]:
        """The two numbers of the one key that is given: radii, or numbers of teeth."""
        given = [key for key in keys if self.keys.get(key) is not None]
        if len(given) > 1:
            said = f"{self.kind} {self.name!r} gives both {given[0]!r} and {given[1]!r}"
            raise self.refused(f"{said}; one will do.", self.keys.get(given[1]))
        key = given[0] if given else keys[0]
        items = self.pair(key, "m" if key == "radii" else "", "are two numbers")
        if len(items) != 2 or any(is_zero(x) for x in items):
            said = "are two numbers, not a number." if len(items) != 2 else "are not zero."
            raise self.refused(f"{self.what(key)} {said}", self.keys.get(key))
        return items[0], items[1]

    def labels(self) -> tuple[str, str]:
        """The coordinates it ties."""
        first, second = (coordinate_of(side, self.book) for side in self.sides)
        return first, second

    def unit(self, label: str) -> str:
        """The SI unit of a coordinate."""
        return si_unit(self.book.symbols[label].dimension)

    def frames(self, *, turned: bool) -> tuple[Marker, Marker]:
        """Both frames, the first with its z along the property `axis` where that is said."""
        turn = rotation_onto_z(self.axis()) if turned and self.keys.get("axis") else None
        return self.frame(self.sides[0], turn), self.frame(self.sides[1])


def related(name: str | None, node: Node, place: Place, book: Book) -> Any:
    """The relation of a `couple` statement, or the contact of a `contact` statement."""
    kinds: dict[str, Any] = COUPLES if node.kind == "couple" else CONTACTS
    word = node.parts[3]
    if str(word) not in kinds:
        what = "kind of coupling" if node.kind == "couple" else "kind of contact"
        raise no_such(what, str(word), kinds, book.source.of(word), listed=[*kinds])
    told = _Related(name, node, place, book)
    make, takes = kinds[str(word)]
    told.keys.check(takes)
    return make(told)


def _gear(x: _Related) -> Coupling:
    """r1 A + r2 B = 0: wheels that mesh turn against each other; a ring has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.sizes("teeth", "radii")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(-r1) / r2), a, offset, place=x.place)


def _belt(x: _Related) -> Coupling:
    """r1 A = r2 B: pulleys of one belt turn alike; a crossed belt has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.sizes("radii", "teeth")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(r1) / r2), a, offset, place=x.place)


def _rack(x: _Related) -> Coupling:
    """B = r A + offset: a pinion drives a rack."""
    a, b = x.labels()
    return Coupling(
        x.name, b, x.scalar("radius", "m"), a, x.scalar("offset", "m", 0), place=x.place
    )


def _proportion(x: _Related) -> Coupling:
    """B = ratio A + offset."""
    a, b = x.labels()
    ratio, offset = x.scalar("ratio", ANY), x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, ratio, a, offset, place=x.place)


def _cam(x: _Related) -> Holonomic:
    """B = lift(A)."""
    a, b = x.labels()
    node = x.keys.need("lift", x.place)
    local = {"angle": Quantity(symbol(a), x.book.symbols[a].dimension)}
    where = Where(f"{x.name}.lift", x.unit(b), local=local)
    lift = scalar_of(node, x.book, where, x.what("lift"))
    return Holonomic(x.name, symbol(b) - as_expr(lift), place=x.place)


def _rolling(kind: str) -> Callable[[_Related], Rolling]:
    def made(x: _Related) -> Rolling:
        wheel, plane = x.frames(turned=kind == "disc")
        return Rolling(x.name, wheel, x.scalar("radius", "m"), plane, kind, place=x.place)

    return made


def _contact(kind: str) -> Callable[[_Related], Contact]:
    def made(x: _Related) -> Contact:
        radius = x.scalar("radius", "m") if kind != "point" else 0
        friction, restitution = x.scalar("friction", "", 0), x.scalar("restitution", "", 0)
        first, second = x.frames(turned=kind == "disc")
        return Contact(x.name, first, second, kind, radius, friction, restitution, place=x.place)

    return made


def _exact(x: Any) -> Any:
    """A whole number as one that divides exactly."""
    return Fraction(x) if isinstance(x, int) else x


COUPLES: dict[str, tuple[Callable[[_Related], Constraint], tuple[str, ...]]] = {
    "gear": (_gear, ("teeth", "radii", "offset")),
    "belt": (_belt, ("radii", "teeth", "offset")),
    "rack": (_rack, ("radius", "offset")),
    "proportion": (_proportion, ("ratio", "offset")),
    "cam": (_cam, ("lift",)),
    "rolling_disc": (_rolling("disc"), ("radius", "axis")),
    "rolling_ball": (_rolling("ball"), ("radius",)),
}
CONTACTS: dict[str, tuple[Callable[[_Related], Contact], tuple[str, ...]]] = {
    "point": (_contact("point"), ("friction", "restitution")),
    "ball": (_contact("ball"), ("radius", "friction", "restitution")),
    "disc": (_contact("disc"), ("radius", "axis", "friction", "restitution")),
}
