"""The author's shapes as solids, colors by word, and surfaces from STL and OBJ files.

Public names: shape_piece, shape_pieces, color_named, check_colors, read_surface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError
from liaison.model import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    HeightField,
    Hull,
    Line,
    Mechanism,
    Mesh,
    Shape,
    Sphere,
)
from liaison.model.values import floats
from liaison.numeric.meshes import read_mesh

from .solids import Color, Piece, Surface, capsule, cone, pipe, polyline

Array = NDArray[np.float64]

NAMES: dict[str, Color] = {
    "black": (30, 30, 30), "white": (245, 245, 245), "gray": (128, 128, 128),
    "grey": (128, 128, 128), "silver": (192, 192, 192), "red": (214, 48, 49),
    "green": (46, 160, 90), "blue": (45, 110, 200), "yellow": (240, 200, 50),
    "orange": (230, 126, 34), "purple": (142, 68, 173), "brown": (140, 90, 60),
    "pink": (232, 120, 160), "cyan": (60, 180, 200), "magenta": (200, 60, 160),
    "gold": (212, 165, 50), "firebrick": (178, 34, 34), "darkorange": (255, 140, 0),
    "steelblue": (70, 130, 180), "slategray": (112, 128, 144), "dimgray": (105, 105, 105),
    "lightgray": (211, 211, 211), "cadetblue": (95, 158, 160), "goldenrod": (218, 165, 32),
    "saddlebrown": (139, 69, 19), "seagreen": (46, 139, 87), "tan": (210, 180, 140),
    "whitesmoke": (245, 245, 245), "peru": (205, 133, 63), "navy": (0, 0, 128),
    "darkblue": (0, 0, 139), "royalblue": (65, 105, 225), "skyblue": (135, 206, 235),
    "lightblue": (173, 216, 230), "teal": (0, 128, 128), "turquoise": (64, 224, 208),
    "darkgreen": (0, 100, 0), "forestgreen": (34, 139, 34), "lightgreen": (144, 238, 144),
    "lime": (50, 205, 50), "olive": (128, 128, 0), "khaki": (240, 230, 140),
    "beige": (245, 245, 220), "ivory": (255, 255, 240), "wheat": (245, 222, 179),
    "maroon": (128, 0, 0), "darkred": (139, 0, 0), "crimson": (220, 20, 60),
    "tomato": (255, 99, 71), "coral": (255, 127, 80), "salmon": (250, 128, 114),
    "chocolate": (210, 105, 30), "sienna": (160, 82, 45), "indigo": (75, 0, 130),
    "violet": (238, 130, 238), "orchid": (218, 112, 214), "plum": (221, 160, 221),
    "darkgray": (169, 169, 169), "darkgrey": (169, 169, 169), "lightgrey": (211, 211, 211),
    "slategrey": (112, 128, 144), "dimgrey": (105, 105, 105),
}  # fmt: skip
LINE_RADIUS = 0.006  # of a drawn line, by the extent of it


def shape_pieces(shape: Shape, color: Color, values: Mapping[str, float]) -> list[Piece]:
    """A shape as solids: one, or of a capsule a cylinder and a ball at each end; `shape_piece`."""
    if not isinstance(shape, Capsule):
        return [shape_piece(shape, color, values)]
    R, p = floats(shape.R, values), floats(shape.p, values)
    end = R[:, 2] * floats(shape.length, values) / 2
    tube = Cylinder(shape.radius, shape.length, shape.R, shape.p, shape.color)
    balls = [Sphere(shape.radius, p=tuple(p + x), color=shape.color) for x in (-end, end)]
    return [shape_piece(x, color, values) for x in (tube, *balls)]


def shape_piece(shape: Shape, color: Color, values: Mapping[str, float]) -> Piece:
    """A shape as a solid on its body, in the body's color unless it has its own.

    Args:
        shape: what the author said.
        color: of the body.
        values: of the parameters.
    """
    color, opacity = color_named(shape.color) if shape.color else (color, 1.0)
    R, p = floats(shape.R, values), floats(shape.p, values)
    sizes = tuple(float(x) for x in floats([getattr(shape, x) for x in shape.SIZES], values))
    if isinstance(shape, Box):
        return Piece("box", sizes, R, p, color, opacity)
    if isinstance(shape, Cylinder) and floats(shape.inner, values) == 0:
        return Piece("cylinder", sizes, R, p, color, opacity)
    if isinstance(shape, Sphere):
        return Piece("sphere", sizes, R, p, color, opacity)
    surface = _surface(shape, sizes, values)
    return Piece("mesh", (), R, p, color, opacity, surface)


def _surface(shape: Shape, sizes: tuple[float, ...], values: Mapping[str, float]) -> Surface:
    if isinstance(shape, Cone):
        return cone(*sizes)
    if isinstance(shape, Capsule):
        return capsule(*sizes)
    if isinstance(shape, Cylinder):
        return pipe(sizes[0], float(floats(shape.inner, values)), sizes[1])
    if isinstance(shape, Line):
        points = floats(shape.points, values)
        return polyline(points, LINE_RADIUS * float(np.linalg.norm(np.ptp(points, axis=0))))
    if isinstance(shape, HeightField):
        return Surface(shape.grid.vertices(), shape.grid.triangles(), is_smooth=False)
    if isinstance(shape, Hull):
        hull = shape.polytope()
        return Surface(hull.vertices, hull.triangles())
    if isinstance(shape, Mesh):
        surface, scale = read_surface(shape.path()), floats(shape.scale, values)
        faces = surface.faces if scale.prod() > 0 else surface.faces[:, ::-1]  # mirrored: turned
        return replace(surface, vertices=surface.vertices * scale, faces=faces)
    raise LiaisonError(f"a {type(shape).__name__} cannot be drawn.")


def color_named(word: str) -> tuple[Color, float]:
    """A color and its opacity, from a name, "#rrggbb", or "r g b" and "r g b a" from 0 to 1."""
    text = word.strip().lower()
    if text in NAMES:
        return NAMES[text], 1.0
    if re.fullmatch(r"#[0-9a-f]{6}", text):
        red, green, blue = (int(text[k : k + 2], 16) for k in (1, 3, 5))
        return (red, green, blue), 1.0
    parts = text.replace(",", " ").split()
    if len(parts) in (3, 4) and all(re.fullmatch(r"\d*\.?\d+(e-?\d+)?|\d+\.", x) for x in parts):
        numbers = [min(float(x), 1.0) for x in parts]
        red, green, blue = (round(255 * x) for x in numbers[:3])
        return (red, green, blue), numbers[3] if len(numbers) == 4 else 1.0
    near = get_close_matches(text, NAMES, n=1)
    ask = f" Did you mean {near[0]!r}?" if near else ""
    few = "red, steelblue, tan and others as CSS has them"
    raise LiaisonError(
        f"no color is named {word!r}.{ask}",
        hint=f"Known: {few}; or #rrggbb, or three numbers from 0 to 1.",
    )


def check_colors(mechanism: Mechanism) -> None:
    """Raises an error for unknown colors, before a run is made for a picture."""
    for body in mechanism.bodies:
        for shape in body.shapes:
            if shape.color:
                color_named(shape.color)


def read_surface(file: str) -> Surface:
    """The triangles of an STL or OBJ file.

    Raises:
        LiaisonError: the file is not there, not of these kinds, or damaged.
    """
    mesh = read_mesh(file, f"the surface {file}")
    return Surface(mesh.vertices, mesh.triangles)
