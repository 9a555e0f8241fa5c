"""`let NAME = body … end`: mass, centre and inertia as said, the rest named as unknown.

Public names: body_of, shapes_of, BODY_KEYS.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from liaison.errors import LiaisonError, Place, TextError
from liaison.model import Body
from liaison.model.shapes import filled
from liaison.spatial import Array, Inertia, array, is_zero, product, vector

from .lsd_formulas import (
    Where,
    in_unit,
    scalar_of,
    value_of,
    vector_of,
)
from .lsd_names import Book
from .lsd_nodes import Node
from .lsd_poses import HERE, as_pose, exactly, is_upright, matrices_of, rows_of
from .lsd_shapes import colored, is_shape
from .lsd_told import Keys
from .lsd_values import BodyFrame, Quantity, Unfit, Vector, Word, kind_of, plain

BODY_KEYS = ("mass", "density", "center", "iframe", "inertia", "color")


def body_of(name: str, node: Node, place: Place, book: Book) -> Body:
    """The body of a `body … end`; its frame `NAME.iframe` enters the book.

    Centre and inertia, where neither is said, are those of the shapes filled evenly with the mass
    or the density. What is still not said is an unknown parameter: `NAME.mass`, and the moments
    `NAME.inertia.x` … about the axes of its iframe; an unsaid centre is the origin of its frame.
    """
    keys = Keys(node.parts[1], f"body {name!r}", book.source)
    keys.check(BODY_KEYS, many=("shape",))
    shapes = _shapes(name, keys, book)
    solid = _filled(name, keys, shapes, book)
    if solid is None:
        R, p = _iframe(name, keys, book)
        mass, inertia = _mass(name, keys, place, book), _inertia(name, keys, place, book)
        if not is_upright(R):
            inertia = product(product(R, inertia), array(R.T))
    else:
        R, p, mass, inertia = HERE[0], solid.com, solid.mass, solid.rotational
    book.frames[f"{name}.iframe"] = BodyFrame(name, R, p)
    try:
        return Body(name, mass, tuple(p), rows_of(inertia), shapes, place=place)
    except LiaisonError as error:
        raise _sharper(error, keys, book) from None


def _filled(name: str, keys: Keys, shapes: tuple[Any, ...], book: Book) -> Inertia | None:
    """Mass geometry of the shapes, if the body says what fills them and nothing else."""
    mass, density = keys.get("mass"), keys.get("density")
    others = [key for key in ("mass", "center", "iframe", "inertia") if keys.get(key) is not None]
    is_solid = any(not is_zero(shape.volume()) for shape in shapes)
    if density is not None:
        at = book.source.at(density)
        if others:
            raise TextError(f"body {name!r} gives 'density' and '{others[0]}'.", place=at)
        if not is_solid:
            raise TextError(f"body {name!r} has a density, but no shape to fill.", place=at)
        where, what = Where(f"{name}.density", "kg/m^3"), f"the density of body {name!r}"
        return filled(shapes, None, scalar_of(density, book, where, what))
    if mass is None or others != ["mass"] or not is_solid:
        return None
    return filled(shapes, _mass(name, keys, book.source.at(mass), book), None)


def _sharper(error: LiaisonError, keys: Keys, book: Book) -> LiaisonError:
    """The same refusal with the place of the property it speaks of."""
    for word, key in (("mass of body", "mass"), ("inertia of body", "inertia")):
        node = keys.get(key)
        if word in error.message and node is not None:
            error.place = book.source.at(node)
    return error


def _iframe(name: str, keys: Keys, book: Book) -> tuple[Array, Array]:
    center, iframe = keys.get("center"), keys.get("iframe")
    if center is not None and iframe is not None:
        raise book.source.refused(
            f"body {name!r} says its centre twice: 'iframe' and 'center'.", center
        )
    if center is not None:
        where = Where(f"{name}.center", "m")
        p = vector_of(center, book, where, f"the centre of body {name!r}")
        return HERE[0], vector(p)
    if iframe is None:
        return HERE
    value = value_of(iframe, book, Where(f"{name}.iframe", "m"))
    try:
        return matrices_of(as_pose(value), book, iframe)
    except Unfit as error:
        raise book.source.refused(str(error), iframe) from None


def _mass(name: str, keys: Keys, place: Place, book: Book) -> Any:
    node = keys.get("mass")
    if node is None:
        return book.unknown_parameter(f"{name}.mass", "kg", place).value
    return scalar_of(node, book, Where(f"{name}.mass", "kg"), f"the mass of body {name!r}")


def _inertia(name: str, keys: Keys, place: Place, book: Book) -> Array:
    """3×3 about the centre, along the axes of the iframe."""
    node = keys.get("inertia")
    if node is None:
        diagonal = [
            book.unknown_parameter(f"{name}.inertia.{x}", "kg*m^2", place).value for x in "xyz"
        ]
        return _matrix([*diagonal, 0, 0, 0])
    what, where = f"the inertia of body {name!r}", Where(f"{name}.inertia", "kg*m^2")
    value = value_of(node, book, where)
    if isinstance(value, Quantity):
        moment = plain(in_unit(value, node, book, where, what).value)
        return _matrix([moment, moment, moment, 0, 0, 0])
    if isinstance(value, Vector) and all(isinstance(row, Vector) for row in value.items):
        return _full(value, node, book, where, what)
    if isinstance(value, Vector) and len(value.items) in (3, 6):
        entries = [plain(in_unit(q, node, book, where, what).value) for q in value.items]
        return _matrix([*entries, 0, 0, 0][:6])
    found = f"{len(value.items)} numbers" if isinstance(value, Vector) else kind_of(value)
    raise book.source.refused(
        f"{what} is {found}.",
        node,
        hint="Give [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], or a matrix [[…],[…],[…]].",
    )


def _matrix(six: list[Any]) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return exactly([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _alike(a: Any, b: Any) -> bool:
    """Whether two entries are the same, floats up to their rounding."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)
    return a is b or bool(a == b)


def _full(value: Vector, node: Node, book: Book, where: Where, what: str) -> Array:
    rows = [row.items for row in value.items if isinstance(row, Vector)]
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise book.source.refused(f"{what} is a matrix of 3 rows of 3.", node)
    entries = [[plain(in_unit(q, node, book, where, what).value) for q in row] for row in rows]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if not _alike(entries[i][j], entries[j][i]):
            raise book.source.refused(
                f"{what} is not symmetric: entries {i + 1},{j + 1} and {j + 1},{i + 1} differ.",
                node,
            )
    return exactly(entries)


def _shapes(name: str, keys: Keys, book: Book) -> tuple[Any, ...]:
    color = keys.get("color")
    paint = None
    if color is not None:
        word = value_of(color, book, Where(name))
        if not isinstance(word, Word):
            raise book.source.refused(f"a colour is a text in quotes, not {kind_of(word)}.", color)
        paint = word.text
    return shapes_of(name, [*keys.all("shape"), *book.shapes.get(name, ())], paint, book)


def shapes_of(name: str, nodes: list[Node], paint: str | None, book: Book) -> tuple[Any, ...]:
    """The shapes of a body, in its colour where they have none."""
    shapes = []
    for node in nodes:
        shape = value_of(node, book, replace(Where(f"{name}.shape"), kind="body"))
        if not is_shape(shape):
            raise book.source.refused(
                f"a shape is box(…), cylinder(…), sphere(…) and the like, not {kind_of(shape)}.",
                node,
            )
        shapes.append(colored(shape, paint))
    return tuple(shapes)
