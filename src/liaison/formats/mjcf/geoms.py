"""Mass geometry of MJCF bodies: <inertial>, or the geoms evenly filled; and shapes to look at.

Public names: Geoms, kind_of, check_dimension, SOLID, SIZES.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from liaison.errors import ModelError, NamingError, TextError
from liaison.expr import PI
from liaison.formats.poses import rows_of
from liaison.formats.urdf.links import color_text, possible_inertia, symmetric
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model import Body, Box, Capsule, Cylinder, Hull, Sphere
from liaison.model import Mesh as DrawnMesh
from liaison.model.values import floats
from liaison.spatial import (
    WORLD,
    Inertia,
    Pose,
    array,
    is_zero,
    product,
)

from .fields import Fields
from .hfields import HeightFields
from .meshes import Meshes, principal_axes
from .values import TURNS, Settings, check_long, whole

SOLID = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
MASSLESS = ("plane",)
ROWS, COLUMNS = 10, 16
"""Of the corners of an ellipsoid, from pole to pole and around."""
ROUNDED = (
    "ellipsoids are drawn, and touch in scenes, as polytopes with "
    f"{(ROWS - 1) * COLUMNS + 2} corners, up to 3 % too small"
)

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
KINDS = (*SOLID, *MASSLESS, "hfield", "mesh", "sdf")
DIMENSIONS = (1, 3, 4, 6)
"""Values of `condim`."""
DENSITY = "1000"


class Geoms:
    """Reads the geoms of one body."""

    def __init__(
        self, settings: Settings, fields: Fields, meshes: Meshes, terrains: HeightFields
    ) -> None:
        self.settings, self.fields, self.meshes = settings, fields, meshes
        self.terrains = terrains
        self.strict, self.notes = fields.strict, fields.notes
        self.axes: dict[str, Any] = {}  # body -> principal axes, in MuJoCo's order
        self.centers: dict[str, Any] = {}  # of bodies without mass, where MuJoCo has them

    def body(self, name: str, element: Element) -> Body:
        """The body of an element: its mass from <inertial>, or from its geoms."""
        geoms = element.all("geom")
        for geom in geoms:
            self.check(geom)
        inertial, how = element.one("inertial"), self.settings.inertia_from_geoms
        is_counted = how == "true" or (how == "auto" and inertial is None)
        solid = self.solid(geoms, name) if is_counted else []
        if solid:
            total = self.filled(solid)
            if len(solid) == 1:
                self.axes[name] = self.own_axes(solid[0])
        elif inertial is not None:
            total = self.inertial(self.fields.check(inertial), name)
            if "fullinertia" not in inertial.attributes:
                self.axes[name] = self.settings.turn(inertial)
        else:
            total = Inertia.massless(WORLD)  # MuJoCo puts it where the parent has the body
            self.axes[name], self.centers[name] = self.settings.pose(element)
            if self.settings.least_mass:
                total = Inertia(WORLD, 0, self.centers[name], total.rotational)
        if name not in self.axes:
            self.axes[name] = principal_axes(floats(total.rotational, {}))
        total = self.bounded(total)
        shapes = tuple(s for x in geoms for s in self.shapes(x))
        rows, com = rows_of(symmetric(total.rotational)), tuple(total.com)
        return Body(name, total.mass, com, rows, shapes, place=element.place)

    def check(self, geom: Element) -> Element:
        """A geom whose attributes are of the right kind, and whose sizes can be."""
        self.fields.check(geom)
        for key in ("contype", "conaffinity", "priority", "group"):
            whole(geom, key, "0")
        check_dimension(geom)
        kind = kind_of(geom)
        if "fromto" in geom.attributes:
            check_long(geom)
        if kind in SOLID and "mesh" not in geom.attributes:
            self.sizes(geom)
        return geom

    def bounded(self, total: Inertia) -> Inertia:
        """At least `boundmass` and, along the principal axes, `boundinertia`; `balanceinertia`."""
        least, moment = self.settings.least_mass, self.settings.least_inertia
        if not (least or moment or self.settings.is_balanced):
            return total
        mass = least if float(floats(total.mass, {})) < least else total.mass
        moments, axes = np.linalg.eigh(floats(total.rotational, {}))
        moments = np.maximum(moments, float(moment))
        if self.settings.is_balanced and moments[2] > moments[0] + moments[1]:
            moments[:] = moments.mean()
        return Inertia(WORLD, mass, total.com, array((axes * moments) @ axes.T))

    def inertial(self, element: Element, name: str) -> Inertia:
        """<inertial>: mass, centre, and moments along its axes."""
        mass = number_in(element, "mass")
        element.get("pos")  # which MuJoCo does not leave out
        if mass < 0:
            message = f"the mass of body {name!r} is {float(mass):g} kg; it must not be negative."
            raise ModelError(message, place=element.place)
        R, p = self.settings.pose(element)
        if "fullinertia" in element.attributes:
            turns = [key for key in (*TURNS, "diaginertia") if key in element.attributes]
            if turns:
                message = f"{element} has both 'fullinertia' and {turns[0]!r}; it takes one."
                raise TextError(message, place=element.place)
            xx, yy, zz, xy, xz, yz = numbers_in(element, "fullinertia", 6, "")
        else:
            xx, yy, zz = numbers_in(element, "diaginertia", 3, "0 0 0")
            xy = xz = yz = Fraction(0)
        tensor = array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not self.settings.is_balanced:
            whose = f"body {name!r}"
            tensor = possible_inertia(tensor, mass, whose, element, self.strict, self.notes)
        return Inertia(WORLD, mass, p, product(product(R, tensor), array(R.T)))

    def filled(self, geoms: list[Element]) -> Inertia:
        """The sum of the geoms."""
        total = Inertia.massless(WORLD)
        for geom in geoms:
            mass, center, tensor = self.tensor(geom)
            part = Inertia(WORLD, mass, array(center), array(tensor))
            placed = part.moved(Pose(WORLD, WORLD, *self.placed(geom)))
            if not is_zero(mass):
                total = placed if is_zero(total.mass) else total + placed
        return total

    def solid(self, geoms: list[Element], body: str) -> list[Element]:
        """Those of `inertiagrouprange` that have mass."""
        first, last = self.settings.groups
        heavy = [x for x in geoms if first <= number_in(x, "group", "0") <= last]
        return [x for x in heavy if self.is_solid(x, body) and not self.is_massless(x)]

    def is_solid(self, geom: Element, body: str) -> bool:
        """Whether a geom has a mass that is known; others are noted."""
        kind = kind_of(geom)
        if "mesh" in geom.attributes and kind in SOLID and not self.is_massless(geom):
            self.fields.drop(f"the {kind} of {geom} is fitted to a mesh, which is not read", geom)
            return False
        if kind in (*SOLID, "mesh", "sdf", "hfield"):
            return True
        if kind not in MASSLESS:
            self.fields.drop(f"the {kind} geom of body {body!r} is not read", geom)
        return False

    def is_massless(self, geom: Element) -> bool:
        """Whether it has no mass, whatever its size."""
        key, default = ("mass", "0") if "mass" in geom.attributes else ("density", DENSITY)
        return number_in(geom, key, default) == 0

    def sizes(self, geom: Element) -> list[Any]:
        """The sizes of a geom, half lengths as MJCF says them."""
        kind = kind_of(geom)
        words = geom.attributes.get("size", "").split()
        sizes = numbers_in(geom, "size", len(words), "")
        if len(words) > 3:
            message = f"'size' of {geom} has {len(words)} numbers; it takes at most 3."
            raise TextError(message, place=geom.place)
        is_long = "fromto" in geom.attributes and kind != "sphere"
        count = 1 if is_long else SIZES[kind]
        if len(sizes) < count:
            message = f"{geom} has {len(sizes)} sizes; a {kind} takes {count}."
            raise ModelError(message, place=geom.place)
        for size in sizes[:count]:
            if size <= 0:
                message = f"a size of {geom} is {float(size):g}; the sizes of a {kind} are positive"
                raise ModelError(f"{message}.", place=geom.place)
        if not is_long:
            return list(sizes[:count])
        half = self.fromto(geom)[1] / 2
        return [sizes[0], half] if kind in ("capsule", "cylinder") else [sizes[0], sizes[0], half]

    def fromto(self, geom: Element) -> tuple[Any, Any, Any]:
        """Direction, length and middle of a geom given by its ends."""
        ends = numbers_in(geom, "fromto", 6, "")
        along = [b - a for a, b in zip(ends[:3], ends[3:], strict=True)]
        length = float(np.sqrt(float(sum(x * x for x in along))))
        if length == 0:
            raise ModelError(f"{geom} goes from a point to itself.", place=geom.place)
        return along, length, [(a + b) / 2 for a, b in zip(ends[:3], ends[3:], strict=True)]

    def placed(self, geom: Element) -> tuple[Any, Any]:
        """The pose of a geom or site on its body; z by the least turn from `fromto` back."""
        if "fromto" not in geom.attributes:
            return self.settings.pose(geom)
        along, _, middle = self.fromto(geom)
        return self.settings.by_z([-x for x in along]), array(middle)

    def tensor(self, geom: Element) -> tuple[Any, Any, Any]:
        """Mass, centre and moments of inertia about it in the geom's own axes."""
        if self.is_massless(geom):
            return 0, (0, 0, 0), np.zeros(3, 3)
        if kind_of(geom) in ("mesh", "sdf"):
            volume, center, moments = self.meshes.solid(geom.get("mesh"), geom)
            mass = self.mass(geom, volume)
            return mass, center, moments * float(mass) / volume
        if kind_of(geom) == "hfield":
            space, shares = _box(self.terrains.filled(geom))
        else:
            space, shares = _FORMS[kind_of(geom)](self.sizes(geom))
        mass = self.mass(geom, space)
        xx, yy, zz = (mass * share for share in shares)
        return mass, (0, 0, 0), [[xx, 0, 0], [0, yy, 0], [0, 0, zz]]

    def own_axes(self, geom: Element) -> Any:
        """The axes of a geom's moments: its own, or those of its mesh."""
        R = self.placed(geom)[0]
        if kind_of(geom) in (*SOLID, "hfield"):
            return R
        return product(R, principal_axes(self.meshes.solid(geom.get("mesh"), geom)[2]))

    def mass(self, geom: Element, volume: Any) -> Any:
        """Of the geom itself, or by its density."""
        mass: Any
        if "mass" in geom.attributes:
            mass = number_in(geom, "mass")
        else:
            mass = volume * number_in(geom, "density", DENSITY)
        if float(floats(mass, {})) < 0:
            message = f"the mass of {geom} is negative."
            raise ModelError(message, place=geom.place)
        return mass

    def shapes(self, geom: Element) -> list[Any]:
        """What can be drawn of a geom."""
        kind = kind_of(geom)
        if kind not in (*SOLID, "mesh", "hfield") or ("mesh" in geom.attributes and kind != "mesh"):
            return []
        R, p = self.placed(geom)
        at: dict[str, Any] = {"R": rows_of(R), "p": tuple(p), "color": _color(geom)}
        if kind == "mesh":
            return self.drawn(geom, at)
        if kind == "hfield":
            return [replace(self.terrains.field(geom), **at)]
        s = self.sizes(geom)
        if kind == "sphere":
            return [Sphere(s[0], **at)]
        if kind == "box":
            return [Box(2 * s[0], 2 * s[1], 2 * s[2], **at)]
        if kind == "ellipsoid":
            return [self.ellipsoid(s, at)]
        return [(Cylinder if kind == "cylinder" else Capsule)(s[0], 2 * s[1], **at)]

    def ellipsoid(self, s: list[Any], at: dict[str, Any]) -> Any:
        """One by its half axes: a ball, or a polytope, which the notes say."""
        if min(s) == max(s):
            return Sphere(s[0], **at)
        if ROUNDED not in self.notes:
            self.notes.append(ROUNDED)
        points = corners_of_ball() * floats(s, {})
        return Hull(tuple(map(tuple, points.tolist())), **at)

    def drawn(self, geom: Element, at: dict[str, Any]) -> list[Any]:
        """The surface of a mesh in a file, if it is one that can be shown."""
        mesh = self.meshes.element(geom.get("mesh"), geom)
        file = mesh.attributes.get("file", "").replace("\\", "/")
        if not file.lower().endswith((".obj", ".stl")):
            return []
        scale: Any = tuple(numbers_in(mesh, "scale", 3, "1 1 1"))
        under = self.settings.meshes_in.replace("\\", "/").rstrip("/")
        name = f"{under}/{file}" if under else file
        file, folder = self.meshes.folder.later(name)
        return [DrawnMesh(file, scale, folder=folder, **at)]


@cache
def corners_of_ball() -> Any:
    """Corners on the unit ball, shape (n, 3), poles first."""
    down = np.arange(1, ROWS)[:, None] * (np.pi / ROWS)
    turn = np.arange(COLUMNS) * (2 * np.pi / COLUMNS)
    ring = [np.sin(down) * np.cos(turn), np.sin(down) * np.sin(turn), np.cos(down) + 0 * turn]
    poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    return np.concatenate([poles, np.stack(ring, axis=-1).reshape(-1, 3)])


def kind_of(geom: Element) -> str:
    """The type of a geom.

    Raises:
        NamingError: none that MJCF has.
    """
    kind = geom.attributes.get("type", "sphere")
    if kind not in KINDS:
        raise NamingError.unknown("type of geom", kind, KINDS, place=geom.place)
    return kind


def check_dimension(element: Element) -> None:
    """Rejects a `condim` that MuJoCo does not have."""
    if whole(element, "condim", "3") not in DIMENSIONS:
        message = f"'condim' of {element} is {element.attributes['condim']}; it is 1, 3, 4 or 6"
        raise TextError(f"{message}.", place=element.place)


def _sphere(s: list[Any]) -> tuple[Any, Any]:
    share = Fraction(2, 5) * s[0] * s[0]
    return Fraction(4, 3) * PI * (s[0] * s[0] * s[0]), (share, share, share)


def _cylinder(s: list[Any]) -> tuple[Any, Any]:
    r, h = s[0], 2 * s[1]
    across = h * h / 12 + r * r / 4
    return PI * (r * r * h), (across, across, r * r / 2)


def _capsule(s: list[Any]) -> tuple[Any, Any]:
    """A cylinder and two half balls; the common factor π falls out of the shares."""
    r, h = s[0], 2 * s[1]
    tube, ball = r * r * h, Fraction(4, 3) * r * r * r
    a, b = tube / (tube + ball), ball / (tube + ball)
    along = a * r * r / 2 + b * Fraction(2, 5) * r * r
    across = a * (h * h / 12 + r * r / 4) + b * (
        Fraction(2, 5) * r * r + h * h / 4 + Fraction(3, 8) * h * r
    )
    return PI * (tube + ball), (across, across, along)


def _box(s: list[Any]) -> tuple[Any, Any]:
    x, y, z = (a * a for a in s)
    return 8 * s[0] * s[1] * s[2], ((y + z) / 3, (x + z) / 3, (x + y) / 3)


def _ellipsoid(s: list[Any]) -> tuple[Any, Any]:
    x, y, z = (a * a for a in s)
    volume = Fraction(4, 3) * PI * (s[0] * s[1] * s[2])
    return volume, ((y + z) / 5, (x + z) / 5, (x + y) / 5)


_FORMS: dict[str, Any] = {
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "box": _box,
    "ellipsoid": _ellipsoid,
}


def _color(geom: Element) -> str:
    return color_text(numbers_in(geom, "rgba", 4, "")) if "rgba" in geom.attributes else ""
