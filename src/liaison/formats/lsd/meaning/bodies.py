"""`let NAME = body … end`: mass, centre and inertia as said, the rest named as unknown.

Public names: body_of, shapes_of, BODY_KEYS.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from liaison.errors import Cure, LiaisonError, Place
from liaison.formats.lsd.formulas.formulas import Where, in_unit, value_of, vector_of
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.values import (
    BodyFrame,
    Quantity,
    Unfit,
    Vector,
    Word,
    kind_of,
    plain,
)
from liaison.formats.lsd.syntax.nodes import Node
from liaison.formats.poses import HERE, as_pose, exactly, is_upright, matrices_of, rows_of
from liaison.model import Body
from liaison.model.shapes import check_solid, filled
from liaison.spatial import Array, Inertia, array, is_zero, product, vector

from .properties import PropertyReader
from .shapes import colored, is_shape

BODY_KEYS = ("mass", "density", "center", "iframe", "inertia", "color")


def body_of(name: str, node: Node, place: Place, book: Book) -> Body:
    """The body of a `body … end`; its frame `NAME.iframe` enters the book.

    Centre and inertia, where neither is said, are those of the shapes filled evenly with the mass
    or the density. What is still not said is an unknown parameter: `NAME.mass`, and the moments
    `NAME.inertia.x` … about the axes of its iframe; a centre that is left out is the origin of its
    frame.
    """
    statement = _BodyReader(name, "body", node.parts[1], place, book)
    statement.keys.check(BODY_KEYS, many=("shape",))
    shapes = statement.shapes()
    solid = statement.filled(shapes)
    if solid is None:
        R, p = statement.iframe()
        mass, inertia = statement.mass(), statement.inertia()
        if not is_upright(R):
            inertia = product(product(R, inertia), array(R.T))
    else:
        R, p, mass, inertia = HERE[0], solid.com, solid.mass, solid.rotational
    book.frames[f"{name}.iframe"] = BodyFrame(name, R, p)
    try:
        return Body(name, mass, tuple(p), rows_of(inertia), shapes, place=place)
    except LiaisonError as error:
        raise statement.sharper(error) from None


class _BodyReader(PropertyReader):
    """What a body says of itself."""

    def filled(self, shapes: tuple[Any, ...]) -> Inertia | None:
        """Mass geometry of the shapes, if the body says what fills them and nothing else."""
        density = self.keys.get("density")
        others = [key for key in ("mass", "center", "iframe", "inertia") if self.keys.get(key)]
        is_solid = any(not is_zero(shape.volume()) for shape in shapes)
        if density is not None:
            if others:
                raise self.error(f"{self.keys.owner} gives 'density' and '{others[0]}'.", density)
            if not is_solid:
                message = f"{self.keys.owner} has a density, but no shape to fill."
                raise self.error(message, density)
            check_solid(shapes, self.keys.owner, self.book.source.at(density))
            return filled(shapes, None, self.scalar("density", "kg/m^3"))
        if others != ["mass"] or not is_solid:
            return None
        check_solid(shapes, self.keys.owner, self.place)
        return filled(shapes, self.mass(), None)

    def sharper(self, error: LiaisonError) -> LiaisonError:
        """The same error with the place of the property it refers to."""
        for key in ("mass", "inertia"):
            node = self.keys.get(key)
            if f"{key} of body" in error.message and node is not None:
                error.place = self.book.source.at(node)
                if "principal moment" in error.message:
                    self.add_cure(error, node)
        return error

    def add_cure(self, error: LiaisonError, node: Node) -> None:
        """Of [0, 0, I], which is meant for motions in a plane: one number for all moments."""
        value = value_of(node, self.book, Where(self.name))
        items: Any = value.items if isinstance(value, Vector) else ()
        moments = [q for q in items if isinstance(q, Quantity) and not is_zero(q.value)]
        if len(items) != 3 or len(moments) != 1:
            return
        parts = [part for part in node.parts if isinstance(part, Node)]
        kept = parts[items.index(moments[0])]
        line, word = self.book.source.lines[node.line - 1], self.book.source.at(kept).words()
        word = word if kept.kind == "number" else f"({word})"
        start, end = line.rfind("[", 0, node.column), line.find("]", kept.column)
        error.hint = (
            f"In a plane one number does, for all axes: inertia = {word}; the moments about axes "
            "in the plane do not matter."
        )
        if node.line == kept.line and 0 <= start < end:
            place = self.book.source.at(node)
            error.cure = Cure(place.file, place.line, start + 1, end + 1 - start, word)

    def iframe(self) -> tuple[Array, Array]:
        """The pose of the central frame on the body."""
        center, iframe = self.keys.get("center"), self.keys.get("iframe")
        if center is not None and iframe is not None:
            message = f"{self.keys.owner} says its centre twice: 'iframe' and 'center'."
            raise self.error(message, center)
        if center is not None:
            where, what = Where(f"{self.name}.center", "m"), f"the centre of {self.keys.owner}"
            return HERE[0], vector(vector_of(center, self.book, where, what))
        if iframe is None:
            return HERE
        value = value_of(iframe, self.book, Where(f"{self.name}.iframe", "m"))
        try:
            return matrices_of(as_pose(value), self.book, iframe)
        except Unfit as error:
            raise self.error(str(error), iframe) from None

    def mass(self) -> Any:
        """As said, or a new unknown."""
        if self.keys.get("mass") is None:
            return self.book.unknown_parameter(f"{self.name}.mass", "kg", self.place).value
        return self.scalar("mass", "kg")

    def inertia(self) -> Array:
        """3×3 about the centre, along the axes of the iframe."""
        node, where = self.keys.get("inertia"), Where(f"{self.name}.inertia", "kg*m^2")
        if node is None:
            moments = (
                self.book.unknown_parameter(f"{where.path}.{x}", where.unit, self.place)
                for x in "xyz"
            )
            return _matrix([*(moment.value for moment in moments), 0, 0, 0])

        def number(q: Any) -> Any:
            return plain(in_unit(q, node, self.book, where, self.what("inertia")).value)

        value = value_of(node, self.book, where)
        items: Any = value.items if isinstance(value, Vector) else ()
        if isinstance(value, Quantity):
            return _matrix([*[number(value)] * 3, 0, 0, 0])
        if [len(row.items) for row in items if isinstance(row, Vector)] == [3, 3, 3]:
            return exactly([[number(q) for q in row.items] for row in items])
        if len(items) in (3, 6) and not any(isinstance(q, Vector) for q in items):
            return _matrix([*map(number, items), 0, 0, 0][:6])
        kind = "rows" if items and isinstance(items[0], Vector) else "numbers"
        actual = f"{len(items)} {kind}" if items else kind_of(value)
        hint = "Give [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], or a matrix [[…],[…],[…]]."
        raise self.error(f"{self.what('inertia')} is {actual}.", node, hint)

    def shapes(self) -> tuple[Any, ...]:
        """Its shapes, also those that are given elsewhere, in its colour."""
        color, paint = self.keys.get("color"), None
        if color is not None:
            word = value_of(color, self.book, Where(self.name))
            if not isinstance(word, Word):
                message = f"a colour is a text in quotes, not {kind_of(word)}."
                raise self.error(message, color)
            paint = word.text
        nodes = [*self.keys.all("shape"), *self.book.shapes.get(self.name, ())]
        return shapes_of(self.name, nodes, paint, self.book)


def _matrix(six: list[Any]) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return exactly([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def shapes_of(name: str, nodes: list[Node], paint: str | None, book: Book) -> tuple[Any, ...]:
    """The shapes of a body, in its colour where they have none."""
    shapes = []
    for node in nodes:
        shape = value_of(node, book, replace(Where(f"{name}.shape"), kind="body"))
        if not is_shape(shape):
            raise book.source.error(
                f"a shape is box(…), cylinder(…), sphere(…) and the like, not {kind_of(shape)}.",
                node,
            )
        shapes.append(colored(shape, paint))
    return tuple(shapes)
