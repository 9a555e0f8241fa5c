"""One `couple` or `contact` statement as its readers see it: two sides, a type, properties.

Public names: Related.
"""

from __future__ import annotations

from typing import Any, ClassVar

from liaison.errors import Place
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.units import si_unit
from liaison.formats.lsd.syntax.nodes import Node
from liaison.model import Marker
from liaison.spatial import is_zero, rotation_onto_z

from .properties import Told, coordinate_of


class Related(Told):
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
