"""Shapes as LSD writes them: `box([1,2,3] cm)`, `cylinder(radius = 1 cm, length = 5 cm)`, …

Public names: SHAPES, shape_of, moved_shape, colored, is_shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from liaison.errors import LiaisonError
from liaison.formats.lsd.formulas.values import (
    Quantity,
    Unfit,
    Value,
    Vector,
    Word,
    kind_of,
    plain,
    same,
    spelled,
)
from liaison.formats.poses import exactly, joined, rows_of
from liaison.model import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    HeightField,
    Hull,
    Line,
    Mesh,
    Shape,
    Sphere,
)
from liaison.spatial import Array, is_zero, norm, rotation_onto_z
from liaison.units import LENGTH


def is_shape(value: Value) -> bool:
    """Whether a value is a shape."""
    return isinstance(value, Shape)


def shape_of(
    name: str, values: list[Value], named: dict[str, Value], folder: Path | None = None
) -> Shape:
    """A shape by its word; sizes in the order of its properties, or by their names.

    Args:
        name: the word.
        values: sizes in their order.
        named: sizes by name.
        folder: below which mesh files may be opened; None where there is none.

    Raises:
        Unfit: sizes that are missing, too many, or no lengths.
    """
    make, takes = SHAPES[name]
    sizes = dict(zip(takes, values, strict=False))
    if len(values) > len(takes) and name not in ("line", "hull"):
        raise Unfit(f"{name} takes {', '.join(takes)}; {len(values)} values are too many.")
    for key, value in named.items():
        if key not in (*takes, *EXTRA.get(name, ()), "color"):
            raise Unfit(f"{name} has no property {key!r}; it takes {', '.join(takes)} and color.")
        if key in sizes:
            raise Unfit(f"{name} is given {key!r} twice.")
        sizes[key] = value
    color = sizes.pop("color", Word(""))
    if not isinstance(color, Word):
        raise Unfit(f"a colour is a text in quotes, not {kind_of(color)}.")
    try:
        if name == "hull":
            plain_shape: Any = _hull(values, sizes, folder)
        elif name == "height_field":
            plain_shape = _height_field(sizes, folder)
        else:
            plain_shape = _line(values) if name == "line" else make(sizes)
            if name == "mesh":
                plain_shape = replace(plain_shape, folder=str(folder or "."))
        shape: Shape = replace(plain_shape, color=color.text)
        return shape
    except KeyError as missing:
        raise Unfit(f"{name} needs {missing}; it takes {', '.join(takes)}.") from None
    except LiaisonError as error:
        raise Unfit(error.message) from None


def _length(value: Value) -> Any:
    if not isinstance(value, Quantity):
        raise Unfit(f"a size is a length (m), not {kind_of(value)}.")
    if not value.bare and not same(value.dimension, LENGTH):
        raise Unfit(f"a size is a length (m), not {spelled(value.dimension)}.")
    return plain(value.value)


def _point(value: Value) -> list[Any]:
    if isinstance(value, Quantity) and is_zero(value.value):
        return [0, 0, 0]
    if not isinstance(value, Vector) or len(value.items) != 3:
        raise Unfit(f"a point has three components, not {kind_of(value)}.")
    return [_length(item) for item in value.items]


def _box(sizes: dict[str, Value]) -> Box:
    return Box(*_point(sizes["size"]))


def _sphere(sizes: dict[str, Value]) -> Sphere:
    return Sphere(_length(sizes["radius"]))


def _cone(sizes: dict[str, Value]) -> Cone:
    return Cone(_length(sizes["radius"]), _length(sizes["height"]))


def _cylinder(sizes: dict[str, Value]) -> Any:
    return _along(Cylinder, sizes)


def _capsule(sizes: dict[str, Value]) -> Any:
    """Between the centers of its round ends."""
    return _along(Capsule, sizes)


def _along(kind: Any, sizes: dict[str, Value]) -> Any:
    """Along z about its middle, or from a point to another."""
    word = kind.__name__.lower()
    if "from" in sizes and "to" not in sizes:
        raise Unfit(f"a {word} 'from' a point needs the point 'to' which it goes, too.")
    if "to" in sizes and "length" in sizes:
        raise Unfit(f"a {word} 'to' a point has its length from there; leave 'length' out.")
    if "to" not in sizes:
        return kind(_length(sizes["radius"]), _length(sizes["length"]))
    start = _point(sizes["from"]) if "from" in sizes else [0, 0, 0]
    end = _point(sizes["to"])
    along = [b - a for a, b in zip(start, end, strict=True)]
    if all(is_zero(a) for a in along):
        raise Unfit(f"a {word} from a point to itself has no length.")
    middle = [plain((a + b) * Fraction(1, 2)) for a, b in zip(start, end, strict=True)]
    R = rotation_onto_z(along)
    return kind(_length(sizes["radius"]), norm(along), rows_of(R), tuple(middle))


def _tube(sizes: dict[str, Value]) -> Any:
    """A cylinder with a bore."""
    inner = _length(sizes.pop("inner"))
    return replace(_cylinder(sizes), inner=inner)


def _plate(sizes: dict[str, Value]) -> Box:
    """A box by two edges and a thickness along z."""
    size, thickness = sizes["size"], _length(sizes["thickness"])
    if not isinstance(size, Vector) or len(size.items) != 2:
        raise Unfit(f"a plate has two edges, not {kind_of(size)}.")
    x, y = (_length(item) for item in size.items)
    return Box(x, y, thickness)


def _mesh(sizes: dict[str, Value]) -> Mesh:
    file = sizes["file"]
    if not isinstance(file, Word):
        raise Unfit(f"a file is a text in quotes, not {kind_of(file)}.")
    return Mesh(file.text, tuple(_scale(sizes["scale"]))) if "scale" in sizes else Mesh(file.text)


def _scale(value: Value) -> list[Any]:
    if not isinstance(value, Vector) or len(value.items) != 3:
        raise Unfit(f"a scale has three components, not {kind_of(value)}.")
    return [plain(item.value) for item in value.items if isinstance(item, Quantity)]


def _hull(values: list[Value], sizes: dict[str, Value], folder: Path | None) -> Hull:
    """Through points, or of a mesh file."""
    if isinstance(sizes.get("points"), Word):
        sizes["file"] = sizes.pop("points")
    if "file" not in sizes:
        if sizes.keys() - {"points"}:
            raise Unfit("a hull of points has no scale; a hull of a mesh has its file first.")
        return Hull(tuple(tuple(_point(value)) for value in values))
    if len(values) > 1 or (values and not isinstance(values[0], Word)):
        raise Unfit("a hull is of points or of a file, not of both.")
    mesh = _mesh(sizes)
    hull = Hull(file=str(_file_below(folder, mesh.file)), scale=mesh.scale)
    return replace(hull, file=mesh.file)


def _height_field(sizes: dict[str, Value], folder: Path | None) -> HeightField:
    """Over a rectangle, by rows of heights, or those of a file."""
    size = sizes["size"]
    if not isinstance(size, Vector) or len(size.items) != 2:
        raise Unfit(f"the size of a height field has two sides, not {kind_of(size)}.")
    x, y = (_length(item) for item in size.items)
    if "file" in sizes:
        if "heights" in sizes:
            raise Unfit("a height field is of heights or of a file, not of both.")
        scale = _length(sizes["scale"]) if "scale" in sizes else 1
        file = _mesh({"file": sizes["file"]}).file
        read = HeightField(x, y, file=str(_file_below(folder, file, "heights")), scale=scale)
        return replace(read, file=file)
    heights = sizes["heights"]
    if "scale" in sizes:
        raise Unfit("a height field of heights has no scale; one of a file has.")
    rows = heights.items if isinstance(heights, Vector) else ()
    if not rows or not all(isinstance(row, Vector) for row in rows):
        raise Unfit(f"heights are rows of lengths, [[…], […]] m, not {kind_of(heights)}.")
    listed = tuple(tuple(map(_length, row.items)) for row in rows if isinstance(row, Vector))
    return HeightField(x, y, listed)


def _file_below(folder: Path | None, name: str, instead: str = "points") -> Path:
    """A file in the model's folder or below it, all links followed."""
    if folder is None:
        message = f"the file {name!r} cannot be opened: this text has no folder; give {instead}."
        raise Unfit(message)
    try:
        path = (folder / name).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise Unfit(f"there is no file {name!r} in the model's folder.") from None
    if not path.is_relative_to(folder):
        raise Unfit(f"the file {name!r} is not opened: it is not in the model's folder.")
    return path


def _line(values: list[Value]) -> Line:
    if len(values) < 2:
        raise Unfit("a line goes through two points or more.")
    return Line(tuple(tuple(_point(value)) for value in values))


SHAPES: dict[str, tuple[Callable[[dict[str, Value]], Any], tuple[str, ...]]] = {
    "box": (_box, ("size",)),
    "cylinder": (_cylinder, ("radius", "length")),
    "capsule": (_capsule, ("radius", "length")),
    "tube": (_tube, ("radius", "inner", "length")),
    "plate": (_plate, ("size", "thickness")),
    "sphere": (_sphere, ("radius",)),
    "cone": (_cone, ("radius", "height")),
    "mesh": (_mesh, ("file",)),
    "line": (_mesh, ("points",)),
    "hull": (_mesh, ("points",)),
    "height_field": (_mesh, ("size", "heights")),
}
EXTRA = {
    **dict.fromkeys(("cylinder", "tube", "capsule"), ("from", "to")),
    "mesh": ("scale",),
    **dict.fromkeys(("hull", "height_field"), ("file", "scale")),
}


def moved_shape(shape: Any, R: Array, p: Array) -> Shape:
    """The shape after a motion of its frame."""
    R, p = joined(R, p, exactly(shape.R), exactly(shape.p))
    return replace(shape, R=rows_of(R), p=tuple(p))  # type: ignore[no-any-return]


def colored(shape: Any, color: str | None) -> Shape:
    """The shape in the body's colour, unless it has one."""
    return replace(shape, color=color) if color and not shape.color else shape  # type: ignore[no-any-return]
