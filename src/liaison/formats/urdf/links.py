"""Links of a URDF file: inertia checked and, on request, repaired; shapes; limits; loops.

A loop is closed by an element in the style of URDF+, which other readers pass over:

    <loop name="C" type="revolute">
      <predecessor link="coupler"><origin xyz="0.3 0 0" rpy="0 0 0"/></predecessor>
      <successor link="rocker"><origin xyz="0.35 0 0" rpy="0 0 0"/></successor>
      <axis xyz="0 1 0"/>
    </loop>

The type is a URDF type or a word of LSD's catalogue; both origins are in their links, and the axis
is in the axes of both. The element <constraint> that is proposed for URDF says the same by
<parent>, <parent_origin>, <parent_axis>, <child>, <child_origin>, <child_axis>.

Public names: body_of, possible_inertia, symmetric, colors_in, color_text, pose_in, exact_angle,
snapped_in, mesh_file, local_path, Limits, limits_in, loop_of, direction_of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from liaison.errors import ModelError, NamingError, TextError
from liaison.expr import PI
from liaison.formats.guard import computable
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.poses import is_upright, rows_of
from liaison.model import (
    JOINT_TYPES,
    Body,
    Box,
    Capsule,
    Cylinder,
    Joint,
    JointType,
    Marker,
    Mesh,
    Sphere,
)
from liaison.spatial import (
    Array,
    array,
    identity,
    inertia_violation,
    product,
    rotation_onto_z,
    rotation_x,
    rotation_y,
    rotation_z,
    zeros,
)

from .equipment import Limits as Limits
from .equipment import form_of
from .equipment import limits_in as limits_in
from .xml import Element, number_in, numbers_in

ROUNDED = 1e-3
"""A principal moment may exceed the sum of the others by this part of itself: printed digits."""

NOTHING = 1e-12
"""A moment [kg·m²] below which a violation is a zero that was computed, not a mistake."""

EXACT = 1e-10
"""An angle this near a multiple of π/12 is taken as that multiple."""


def exact_angle(angle: Fraction) -> Any:
    """An angle [rad], exact where it is a multiple of π/12 to within 1e-10."""
    steps = round(float(angle) / (math.pi / 12)) if abs(angle) < 1000 else 0
    if steps and abs(float(angle) - steps * math.pi / 12) < EXACT:
        return PI * Fraction(steps, 12)
    return angle


def pose_in(element: Element, tag: str = "origin") -> tuple[Array, Array]:
    """(R, p) of the <origin> of an element: R = R_z(yaw) R_y(pitch) R_x(roll)."""
    origin = element.one(tag)
    p = array([plain(x) for x in numbers_in(origin, "xyz", 3, "0 0 0")])
    roll, pitch, yaw = (exact_angle(x) for x in numbers_in(origin, "rpy", 3, "0 0 0"))
    R = identity()
    for angle, turn in ((yaw, rotation_z), (pitch, rotation_y), (roll, rotation_x)):
        if not (isinstance(angle, Fraction) and angle == 0):
            R = product(R, turn(angle))
    return R, p


def snapped_in(root: Element) -> list[str]:
    """The angles of a file that are taken as exact multiples of π/12, a line each."""
    notes, front = [], [root]
    while front:
        element = front.pop()
        front += element.children
        if element.tag == "origin" and "rpy" in element.attributes:
            for angle in numbers_in(element, "rpy", 3, "0 0 0"):
                if exact_angle(angle) is not angle:
                    degrees = round(math.degrees(float(angle)) / 15) * 15
                    line = element.place.line
                    notes.append(
                        (line, f"angle {float(angle)!r} (line {line}): exactly {degrees} deg")
                    )
    return [text for _, text in sorted(notes)]


def colors_in(root: Element) -> dict[str, str]:
    """The colours of the materials that a robot names for all its links."""
    return {
        material.attributes.get("name", ""): _color(material) for material in root.all("material")
    }


def body_of(
    link: Element,
    colors: dict[str, str],
    strict: bool,
    notes: list[str],
    package_root: str | Path = "",
) -> Body:
    """The body of a link: its mass geometry in the link's frame, its shapes."""
    with computable(link.place):
        for shape in (*link.all("visual"), *link.all("collision")):
            form_of(shape)  # an error for two in one
        mass, com, inertia = _inertial(link, strict, notes)
        shapes = _shapes(link, colors, notes, package_root)
        rows, center = rows_of(inertia), tuple(com)
        return Body(link.get("name"), mass, center, rows, shapes, place=link.place)


def _inertial(link: Element, strict: bool, notes: list[str]) -> tuple[Any, Array, Array]:
    inertial = link.one("inertial")
    if inertial is None:
        return 0, zeros(3), zeros(3, 3)
    name = link.get("name")
    mass_element, tensor = inertial.one("mass"), inertial.one("inertia")
    mass: Any = Fraction(0) if mass_element is None else number_in(mass_element, "value")
    if mass < 0:
        raise ModelError(
            f"the mass of link {name!r} is {float(mass):g} kg; it must not be negative.",
            place=mass_element.place if mass_element else None,
        )
    R, p = pose_in(inertial)
    if tensor is None:
        return mass, p, zeros(3, 3)
    xx, yy, zz = (number_in(tensor, key) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number_in(tensor, key, "0") for key in ("ixy", "ixz", "iyz"))
    matrix = array([[plain(x) for x in row] for row in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))])
    matrix = possible_inertia(matrix, mass, f"link {name!r}", tensor, strict, notes)
    if is_upright(R):
        return mass, p, matrix
    return mass, p, symmetric(product(product(R, matrix), array(R.T)))


def symmetric(matrix: Array) -> Array:
    """The matrix without the rounding by which its halves differ."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        matrix[j, i] = matrix[i, j]
    return matrix


def possible_inertia(
    matrix: Array, mass: Any, whose: str, element: Element, strict: bool, notes: list[str]
) -> Array:
    """The tensor, if it is possible; the nearest possible one where that may be taken."""
    violation = inertia_violation(mass, matrix)
    if not violation:
        return matrix
    moments, axes = np.linalg.eigh(matrix.astype(float))
    excess = max(moments[2] - moments[0] - moments[1], -moments[0])
    message = f"the inertia of {whose} is impossible: {violation}"
    if strict and excess > max(NOTHING, ROUNDED * float(np.max(np.abs(moments)))):
        raise ModelError(
            message,
            place=element.place,
            hint="Correct it, or read with strict=False to take the nearest possible inertia.",
        )
    notes.append(f"{message} The nearest possible one is taken (line {element.place.line}).")
    return _nearest(moments, axes)


def _nearest(moments: Any, axes: Any) -> Array:
    """The nearest tensor whose density moments P = ½ tr I − I are not negative."""
    density = np.clip(moments.sum() / 2 - moments, 0.0, None)
    repaired = density.sum() - density
    tensor = (axes * repaired) @ axes.T
    return np.asarray((tensor + tensor.T) / 2)


# ---- shapes

SEEN = (".stl", ".obj")
"""Suffixes of meshes that pictures know."""
COARSE = "links whose visual meshes are neither .stl nor .obj are drawn by their collision shapes"


def _shapes(
    link: Element, colors: dict[str, str], notes: list[str], root: str | Path
) -> tuple[Any, ...]:
    """The visual shapes, or the collision shapes where no visual can be drawn."""
    visual, collision = link.all("visual"), link.all("collision")
    shapes = _drawn(visual or collision, colors, link, notes, root)
    if visual and shapes and not any(map(_is_seen, shapes)):
        instead = tuple(filter(_is_seen, _drawn(collision, colors, link, [], root)))
        if instead:
            notes += [] if COARSE in notes else [COARSE]
            return instead
    return shapes


def _drawn(
    elements: list[Element],
    colors: dict[str, str],
    link: Element,
    notes: list[str],
    root: str | Path,
) -> tuple[Any, ...]:
    shapes = ((one, _shape(one, colors, link, notes)) for one in elements)
    return tuple(_placed(x, one, root, notes) for one, x in shapes if x is not None)


def _is_seen(shape: Any) -> bool:
    """Whether a shape is of a kind that pictures know."""
    return not isinstance(shape, Mesh) or shape.file.lower().endswith(SEEN)


def _shape(visual: Element, colors: dict[str, str], link: Element, notes: list[str]) -> Any:
    form = form_of(visual)
    if form is None or form.tag not in FORMS:
        what = "no geometry" if form is None else f"the geometry {form}"
        notes.append(f"{link} has {what}, which is not drawn (line {visual.place.line})")
        return None
    R, p = pose_in(visual)
    placed = {"R": rows_of(R), "p": tuple(p), "color": _color_of(visual, colors)}
    try:
        return FORMS[form.tag](form, placed, notes)
    except ModelError as error:
        notes.append(f"{link}: {error.message} It is not drawn (line {form.place.line}).")
        return None


def _box(form: Element, placed: dict[str, Any], notes: list[str]) -> Box:
    x, y, z = numbers_in(form, "size", 3, "")
    return Box(x, y, z, **placed)


def _cylinder(form: Element, placed: dict[str, Any], notes: list[str]) -> Cylinder:
    return Cylinder(number_in(form, "radius"), number_in(form, "length"), **placed)


def _sphere(form: Element, placed: dict[str, Any], notes: list[str]) -> Sphere:
    return Sphere(number_in(form, "radius"), **placed)


def _mesh(form: Element, placed: dict[str, Any], notes: list[str]) -> Mesh:
    file = form.get("filename")
    scale: Any = tuple(numbers_in(form, "scale", 3, "1 1 1"))
    return Mesh(file, scale, folder=str(Path(form.place.file).parent.resolve()), **placed)


def _placed(shape: Any, visual: Element, root: str | Path, notes: list[str]) -> Any:
    """A mesh that has a URI, or lies in the root of packages, as its file; one elsewhere is noted.

    What lies in the model's folder by a name that says so keeps that name.
    """
    if not isinstance(shape, Mesh) or (shape.file.startswith(PACKAGE) and not root):
        return shape
    file, name = mesh_file(shape.file, visual, root), shape.file.replace("\\", "/")
    if file is None:
        form = form_of(visual) or visual
        notes.append(f"the mesh {shape.file!r} leaves {_folders(root)} (line {form.place.line})")
        return shape
    folder = Path(visual.place.file).parent.resolve()
    if file.is_relative_to(folder) and ":" not in name:
        return shape
    return replace(
        shape, file=str(file), folder=str(folder if file.is_relative_to(folder) else root)
    )


def _folders(root: str | Path) -> str:
    """Where meshes may lie, in words."""
    return "the model's folder and package_root" if root else "the model's folder"


def local_path(name: str) -> str | None:
    """The path of a name: itself, or that of a `file:` URI of this machine; None of other URIs."""
    if not name.startswith("file:"):
        return None if "://" in name else name
    path = name.removeprefix("file:")
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            return None
        path = f"/{path}"
    path = unquote(path)
    return None if "\0" in path else path


def mesh_file(name: str, element: Element, root: str | Path) -> Path | None:
    """The file of a mesh: below the root of packages, or in the model's folder; None elsewhere.

    Args:
        name: as the model has it: `package://`, `file://`, absolute or relative.
        element: that names it.
        root: of packages; "" where there is none.

    Raises:
        TextError: a mesh of a package that leaves their root.
    """
    if name.startswith(PACKAGE):
        if not root:
            return None
        folder = Path(root).resolve()
        # package:///name is written, too, and means the same
        file = (folder / name.removeprefix(PACKAGE).lstrip("/")).resolve()
        if not file.is_relative_to(folder):
            raise TextError(
                f"the mesh {name!r} leaves the root of its packages, {str(root)!r}.",
                place=element.place,
            )
        return file
    folder, path = Path(element.place.file).parent.resolve(), local_path(name)
    if path is None:
        return None
    file = (folder / path).resolve()
    known = (folder, Path(root).resolve()) if root else (folder,)
    return file if any(map(file.is_relative_to, known)) else None


PACKAGE = "package://"


def _capsule(form: Element, placed: dict[str, Any], notes: list[str]) -> Capsule:
    return Capsule(number_in(form, "radius"), number_in(form, "length"), **placed)


FORMS: dict[str, Any] = {
    "box": _box,
    "cylinder": _cylinder,
    "sphere": _sphere,
    "mesh": _mesh,
    "capsule": _capsule,
}


def _color_of(visual: Element, colors: dict[str, str]) -> str:
    material = visual.one("material")
    if material is None:
        return ""
    return _color(material) or colors.get(material.attributes.get("name", ""), "")


def _color(material: Element) -> str:
    """#rrggbb of an rgba in 0 … 1; "" if it has none."""
    color = material.one("color")
    if color is None:
        return ""
    return color_text(numbers_in(color, "rgba", 4, "1 1 1 1"))


def color_text(parts: list[Fraction]) -> str:
    """#rrggbb of parts from 0 to 1."""
    return "#" + "".join(f"{min(255, max(0, round(255 * float(x)))):02x}" for x in parts[:3])


def loop_types() -> dict[str, type[JointType]]:
    """Joint types of a <loop> by their words: those that need no option."""
    types = {word: kind for word, kind in JOINT_TYPES.in_lsd.items() if not kind.required()}
    return types | {"continuous": types["revolute"]}


def loop_of(element: Element, links: Container[str], body: Callable[[str], str]) -> Joint:
    """The joint of a <loop>.

    Args:
        element: the loop.
        links: names of links.
        body: the name of a link's body.
    """
    name, word, place = element.get("name"), element.get("type"), element.place
    known = loop_types()
    if word not in known:
        raise NamingError.unknown("type of loop", word, known, place=place)
    kind = known[word]
    tags = ("predecessor", "successor") if element.tag == "loop" else ("parent", "child")
    ends = [_end(element, tag, links, body, kind.HAS_AXIS) for tag in tags]
    return Joint(name, kind(), ends[0], ends[1], place=place)


def _end(
    element: Element, tag: str, links: Any, body: Callable[[str], str], has_axis: bool
) -> Marker:
    """One side of a loop: <predecessor> with its <origin>, or <parent> and <parent_origin>."""
    end = element.one(tag)
    if end is None:
        raise TextError(f"{element} has no <{tag}>.", place=element.place)
    link = end.get("link")
    if link not in links:
        raise NamingError.unknown("link", link, links, place=end.place)
    is_own = element.tag == "loop"
    R, p = pose_in(end) if is_own else pose_in(element, f"{tag}_origin")
    axis = "axis" if is_own else f"{tag}_axis"
    turn = rotation_onto_z(direction_of(element, "0 0 1", axis)) if has_axis else identity()
    return Marker(body(link), rows_of(product(R, turn)), tuple(p), place=end.place)


def direction_of(element: Element, default: str, tag: str = "axis") -> list[Any]:
    """The <axis> of a joint or loop; rejects zero."""
    axis = element.one(tag)
    direction = numbers_in(axis, "xyz", 3, default)
    if all(a == 0 for a in direction):
        raise ModelError(
            f"the axis of joint {element.get('name')!r} is zero; it has no direction.",
            place=(axis or element).place,
            hint='Give a vector along the axis, such as xyz="0 0 1".',
        )
    return [plain(x) for x in direction]
