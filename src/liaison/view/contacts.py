"""Shapes of contact in a picture, for bodies without shapes of their own.

Public names: touching_solids, touched_pieces, hollow, terrains, walls, sizes, greatest, SOLID,
PIECES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.model import Body, Contact, HeightField, Marker, Mechanism
from liaison.model.contacts import Sizes, Solid
from liaison.model.contacts.points import rod
from liaison.model.values import curve_points, floats, heights, radii

from .solids import Color, Piece, Surface, ball, box, capsule, globe, tube

Array = NDArray[np.float64]
Values = Mapping[str, float]
Drawn: TypeAlias = Callable[[Contact, Color, Values], Iterable[Piece]]

TOUCHED_COLOR: Color = (205, 198, 184)
THIN = 0.006  # of a plane, in sizes of the scene
GRID = 41  # points of a surface along each side
ROUND, THICK = 120, 0.3  # points of a profile, and its thickness in mean radii


def touching_solids(
    body: Body, mechanism: Mechanism, color: Color, values: Values
) -> Iterable[Piece]:
    """Balls, discs, cylinders, boxes, cams and blocks of the contacts of a body without shapes."""
    for contact in _contacts(mechanism):
        if contact.first.body == body.name and not body.shapes:
            yield from _pieces(contact.first, contact.shape.solids(sizes(contact, values)),
                               color, values)  # fmt: skip
        if contact.second.body == body.name and not body.shapes:
            yield from SOLID[contact.target.SYMBOL](contact, color, values)


def terrains(mechanism: Mechanism, values: Values) -> dict[str, list[Piece]]:
    """Height fields that are touched, each once, on bodies that do not show one, by body."""
    bare = {
        body.name
        for body in mechanism.bodies
        if not any(isinstance(x, HeightField) for x in body.shapes)
    }
    seen: dict[tuple[int, Marker], Contact] = {}
    for contact in _contacts(mechanism):
        if contact.target.SYMBOL == "terrain" and contact.second.body in bare:
            seen.setdefault((id(contact.value_of("terrain").grid), contact.second), contact)
    pieces: dict[str, list[Piece]] = {}
    for contact in seen.values():
        pieces.setdefault(contact.second.body, []).append(_terrain(contact, values))
    return pieces


def walls(planes: Sequence[Sequence[float]], reached: Array, size: float) -> list[Piece]:
    """Planes n·x ≥ d of a scene, as thin plates beside what moves.

    Args:
        planes: (nx, ny, nz, d) of each [m].
        reached: points of the world that the motion reaches [m].
        size: of the scene [m].
    """
    middle = (reached.min(axis=0) + reached.max(axis=0)) / 2
    pieces = []
    for *n, d in planes:
        normal = np.array(n)
        across = np.eye(3)[np.argmin(np.abs(normal))]
        x = np.cross(across, normal)
        R = np.column_stack(
            [x / np.linalg.norm(x), np.cross(normal, x / np.linalg.norm(x)), normal]
        )
        flat = (reached - middle) @ R[:, :2]
        sides = np.maximum(1.1 * np.ptp(flat, axis=0), 0.3 * size)
        center = middle + R[:, :2] @ ((flat.min(axis=0) + flat.max(axis=0)) / 2)
        center = center - (normal @ center - d + THIN * size / 2) * normal
        pieces.append(box(R, center, np.array([*sides, THIN * size]), TOUCHED_COLOR, 0.25))
    return pieces


def sizes(contact: Contact, values: Values) -> Sizes:
    """The sizes of a contact as floats."""
    return Sizes(contact, lambda x: float(floats(x, values)))


def _contacts(mechanism: Mechanism) -> list[Contact]:
    return [x for x in mechanism.contacts if isinstance(x, Contact)]


def _pieces(at: Marker, solids: Iterable[Solid], color: Color, values: Values) -> Iterable[Piece]:
    """Solids of a shape, at its frame."""
    R, p = floats(at.R, values), floats(at.p, values)
    for solid in solids:
        yield PIECES[solid.symbol](R, p + R @ np.array(solid.offset), solid, color)


def _mesh(R: Array, p: Array, solid: Solid, color: Color) -> Piece:
    surface = Surface(np.asarray(solid.vertices, dtype=float), np.asarray(solid.faces))
    return Piece("mesh", (), R, p, color, 1.0, surface)


def _ellipsoid(R: Array, p: Array, solid: Solid, color: Color) -> Piece:
    """The unit sphere, stretched."""
    globular = globe(GRID // 2, GRID)
    halves = np.array(solid.size) / 2
    return Piece("mesh", (), R, p, color, 1.0, Surface(globular.vertices * halves, globular.faces))


PIECES: dict[str, Callable[[Array, Array, Solid, Color], Piece]] = {
    "sphere": lambda R, p, solid, color: ball(p, solid.size[0], color),
    "cylinder": lambda R, p, solid, color: tube(R, p, solid.size[0], solid.size[1], color),
    "box": lambda R, p, solid, color: box(R, p, np.array(solid.size), color),
    "ellipsoid": _ellipsoid,
    "mesh": _mesh,
}
"""Symbol of a solid -> the piece of it."""


def _rod(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
    """A ball, or where there is a length a rod with round ends."""
    radius = sizes(contact, values)("outside")
    solids = [Solid("sphere", (radius,))]
    if contact.along is not None:
        solids = list(rod(radius, sizes(contact, values)("along")))
    return _pieces(contact.second, solids, color, values)


def _block(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
    sides = floats(contact.block, values)
    solid = Solid("box", tuple(np.maximum(sides, THIN * sides.max())))
    return _pieces(contact.second, [solid], color, values)


def _drum(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
    read = sizes(contact, values)
    solid = Solid("cylinder", (read("drum"), read("height")))
    return _pieces(contact.second, [solid], color, values)


def _hull(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
    """The hull that is touched."""
    hull = contact.value_of("hull").polytope()
    solid = Solid("mesh", vertices=hull.vertices, faces=hull.triangles())
    return _pieces(contact.second, [solid], color, values)


def _terrain(contact: Contact, values: Values) -> Piece:
    """The height field that is touched."""
    grid = contact.value_of("terrain").grid
    R, p = floats(contact.second.R, values), floats(contact.second.p, values)
    surface = Surface(grid.vertices(), grid.triangles(), is_smooth=False)
    return Piece("mesh", (), R, p, TOUCHED_COLOR, 1.0, surface)


def _swept(of: Callable[[Contact, Values], Surface]) -> Drawn:
    def drawn(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
        R, p = floats(contact.second.R, values), floats(contact.second.p, values)
        yield Piece("mesh", (), R, p, color, 1.0, of(contact, values))

    return drawn


def _nothing(contact: Contact, color: Color, values: Values) -> Iterable[Piece]:
    return ()


def hollow(mechanism: Mechanism) -> set[str]:
    """Bodies without shapes in which others stay."""
    return {x.second.body for x in _contacts(mechanism) if x.inside is not None}


def touched_pieces(
    mechanism: Mechanism, reached: Array, size: float, values: Values
) -> dict[str, list[Piece]]:
    """Planes, hollow balls and surfaces on bodies without shapes, by body, each once."""
    bare = {body.name for body in mechanism.bodies if not body.shapes}
    pieces: dict[str, list[Piece]] = {}
    seen = set()
    for contact in _contacts(mechanism):
        is_wide = contact.target.SYMBOL in WIDE
        key = contact.second, repr((contact.inside, contact.along, contact.surface))
        if contact.second.body in bare and is_wide and key not in seen:
            seen.add(key)
            pieces.setdefault(contact.second.body, []).append(
                _touched(contact, reached, size, values)
            )
    return pieces


def _touched(contact: Contact, reached: Array, size: float, values: Values) -> Piece:
    R, p = floats(contact.second.R, values), floats(contact.second.p, values)
    if contact.inside is not None:
        radius = float(floats(contact.inside, values))
        if contact.along is not None:
            length = float(floats(contact.along, values))
            return Piece("mesh", (), R, p, TOUCHED_COLOR, 0.25, capsule(radius, length))
        return Piece("sphere", (radius,), R, p, TOUCHED_COLOR, 0.25)
    middle = np.zeros(2)
    if contact.second.body == "ground":  # below the motion, wherever its frame is
        middle = (((reached.min(axis=0) + reached.max(axis=0)) / 2 - p) @ R)[:2]
    if contact.surface is not None:
        return Piece("mesh", (), R, p, TOUCHED_COLOR, 0.6, _surface(contact, middle, size, values))
    sides = np.array([2.4 * size, 2.4 * size, THIN * size])
    center = p + R @ np.array([*middle, -THIN * size / 2])
    return box(R, center, sides, TOUCHED_COLOR, 0.4)


def _surface(contact: Contact, middle: Array, size: float, values: Values) -> Surface:
    """Triangles of z = h(x, y) about a place."""
    side = np.linspace(-1.2 * size, 1.2 * size, GRID)
    x, y = np.meshgrid(middle[0] + side, middle[1] + side, indexing="ij")
    z = heights(contact.surface, x.ravel(), y.ravel(), values)
    i = np.arange(GRID * (GRID - 1)).reshape(GRID - 1, GRID)[:, :-1].ravel()
    faces = np.concatenate(
        [np.stack([i, i + GRID, i + 1], axis=1), np.stack([i + 1, i + GRID, i + GRID + 1], axis=1)]
    )
    return Surface(np.stack([x.ravel(), y.ravel(), z], axis=1), faces)


def _ribbon(contact: Contact, values: Values) -> Surface:
    """A curve with some width, seen from both sides."""
    low, high = floats(contact.span, values)
    xy = curve_points(contact.curve, np.linspace(low, high, ROUND), values)
    half = THICK * np.ptp(xy, axis=0).max() / 4
    sides = [np.column_stack([xy, np.full(ROUND, z)]) for z in (-half, half)]
    i = np.arange(ROUND - 1)
    front = np.concatenate([np.stack([i, i + 1, i + 1 + ROUND], axis=1),
                            np.stack([i, i + 1 + ROUND, i + ROUND], axis=1)])  # fmt: skip
    return Surface(np.concatenate(sides), np.concatenate([front, front[:, ::-1]]), is_smooth=False)


def _cam(contact: Contact, values: Values) -> Surface:
    """A profile with some thickness."""
    angle = np.linspace(0, 2 * np.pi, ROUND, endpoint=False)
    rho = radii(contact.profile, angle, values)
    rim = np.stack([rho * np.cos(angle), rho * np.sin(angle), 0 * angle], axis=1)
    up = np.array([0.0, 0.0, THICK * rho.mean() / 2])
    vertices = np.concatenate([rim - up, rim + up, [-up, up]])
    i = np.arange(ROUND)
    j = (i + 1) % ROUND
    low, high = np.full(ROUND, 2 * ROUND), np.full(ROUND, 2 * ROUND + 1)
    faces = [
        (i, j, j + ROUND),
        (i, j + ROUND, i + ROUND),
        (low, j, i),
        (high, i + ROUND, j + ROUND),
    ]
    triangles = np.concatenate([np.stack(x, axis=1) for x in faces])
    return Surface(vertices, triangles, is_smooth=False)


def greatest(forces: Sequence[Array]) -> float:
    """The largest finite norm among vectors over time; 1 of none."""
    lengths = [np.linalg.norm(x, axis=1) for x in forces]
    known = [float(x[np.isfinite(x)].max(initial=0.0)) for x in lengths]
    return max(known, default=0.0) or 1.0


SOLID: dict[str, Drawn] = {
    "sphere": _rod,
    "capsule": _rod,
    "box": _block,
    "mesh": _hull,
    "cylinder": _drum,
    "cam": _swept(_cam),
    "ribbon": _swept(_ribbon),
    "plane": _nothing,
    "hollow": _nothing,
    "surface": _nothing,
    "edge": _nothing,
    "terrain": _nothing,
}
"""Symbol of what is touched -> its solid; what is wide is drawn by `touched_pieces`, and height
fields by `terrains`."""
WIDE = ("plane", "hollow", "surface")
"""Symbols of what has no end, or is around what touches."""
