"""Shapes of bodies, for pictures and for masses from densities; opaque to the mechanics.

A shape stands on its body at (R, p). Cylinders, capsules and cones run along z, a cylinder, a
capsule and a box about their middle, a cone from its base.

Public names: Shape, Box, Cylinder, Sphere, Capsule, Cone, Mesh, Hull, HeightField, Line,
filled, check_solid, terrain_of.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from liaison.errors import ModelError, Place
from liaison.expr import PI
from liaison.lazy import Brief
from liaison.spatial import (
    WORLD,
    Array,
    Inertia,
    Pose,
    array,
    box_tensor,
    capsule_tensor,
    cone_tensor,
    cylinder_tensor,
    is_zero,
    number,
    sphere_tensor,
    zeros,
)

from .scalars import UPRIGHT, Matrix, Triple, matrix, scalar, triple


class Shape:
    """A geometric form on a body."""

    __slots__ = ()

    SIZES: ClassVar[tuple[str, ...]] = ()

    R: Matrix
    p: Triple
    color: str

    def __post_init__(self) -> None:
        word = type(self).__name__.lower()
        object.__setattr__(self, "R", matrix(self.R, f"the rotation of a {word}"))
        object.__setattr__(self, "p", triple(self.p, f"the position of a {word}", unit="m"))
        for part in self.SIZES:
            exact = scalar(getattr(self, part), f"the {part} of a {word}", unit="m")
            value = number(exact)
            if value is not None and not value > 0:
                raise ModelError(f"the {part} of a {word} is {value:g} m; it must be positive.")
            object.__setattr__(self, part, exact)

    def volume(self) -> Any:
        """Volume [m³]; zero for meshes and lines."""
        return 0

    def center(self) -> Array:
        """Center of volume in the shape's own axes [m]."""
        return zeros(3)

    def tensor(self, mass: Any) -> Array:
        """Inertia of a full body of that mass about the center of volume, in the shape's axes."""
        return zeros(3, 3)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Box(Shape, Brief):
    """Edges x, y, z about its middle [m].

    Example:
        >>> import liaison
        >>> box = liaison.Box("20 cm", "10 cm", "5 cm")
        >>> float(liaison.body("brick", shapes=box, density=2000).mass)
        2.0
    """

    x: Any
    y: Any
    z: Any
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""

    SIZES: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    def volume(self) -> Any:
        return self.x * self.y * self.z

    def tensor(self, mass: Any) -> Array:
        return box_tensor(mass, (self.x, self.y, self.z))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Cylinder(Shape, Brief):
    """Along z, about its middle [m]; a tube where it has a bore of radius `inner`.

    Example:
        >>> import liaison
        >>> bar = liaison.body("bar", shapes=liaison.Cylinder(0.01, 1), density=7800)
        >>> round(float(bar.mass), 4)
        2.4504
    """

    radius: Any
    length: Any
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""
    inner: Any = 0

    SIZES: ClassVar[tuple[str, ...]] = ("radius", "length")

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        object.__setattr__(
            self, "inner", scalar(self.inner, "the inner radius of a tube", unit="m")
        )
        inner, outer = number(self.inner), number(self.radius)
        if inner is not None and outer is not None and not 0 <= inner < outer:
            raise ModelError(
                f"the inner radius of a tube is {inner:g} m; it must be less than the outer, "
                f"{outer:g} m, and not negative."
            )

    def volume(self) -> Any:
        full = PI * self.radius * self.radius * self.length
        return full if is_zero(self.inner) else full - PI * self.inner * self.inner * self.length

    def tensor(self, mass: Any) -> Array:
        full = cylinder_tensor(mass, self.radius, self.length)
        if is_zero(self.inner):
            return full
        # the bore adds m r²/4 across and m r²/2 along, as of a disc
        return array(full + cylinder_tensor(mass, self.inner, 0))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Sphere(Shape, Brief):
    """A ball about its center [m].

    Example:
        >>> import liaison
        >>> liaison.body("ball", mass=1, shapes=liaison.Sphere("5 cm")).shapes[0].radius
        Fraction(1, 20)
    """

    radius: Any
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""

    SIZES: ClassVar[tuple[str, ...]] = ("radius",)

    def volume(self) -> Any:
        return Fraction(4, 3) * PI * self.radius * self.radius * self.radius

    def tensor(self, mass: Any) -> Array:
        return sphere_tensor(mass, self.radius)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Capsule(Shape, Brief):
    """Along z, about its middle: a cylinder with half a ball at each end [m].

    `length` is that of the cylinder, between the centers of the ends; the whole is 2 `radius`
    longer.

    Example:
        >>> import liaison
        >>> pill = liaison.body("pill", shapes=liaison.Capsule(0.01, 0.04), density=1000)
        >>> round(float(pill.mass), 6)
        0.016755
    """

    radius: Any
    length: Any
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""

    SIZES: ClassVar[tuple[str, ...]] = ("radius", "length")

    def volume(self) -> Any:
        return PI * self.radius * self.radius * (self.length + Fraction(4, 3) * self.radius)

    def tensor(self, mass: Any) -> Array:
        return capsule_tensor(mass, self.radius, self.length)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Cone(Shape, Brief):
    """Base on z = 0, tip at z = height [m].

    Example:
        >>> import liaison
        >>> liaison.Cone("5 cm", "20 cm").height
        Fraction(1, 5)
    """

    radius: Any
    height: Any
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""

    SIZES: ClassVar[tuple[str, ...]] = ("radius", "height")

    def volume(self) -> Any:
        return PI * self.radius * self.radius * self.height * Fraction(1, 3)

    def center(self) -> Array:
        return array([0, 0, self.height * Fraction(1, 4)])

    def tensor(self, mass: Any) -> Array:
        return cone_tensor(mass, self.radius, self.height)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Mesh(Shape, Brief):
    """A surface from a file, scaled; it is drawn, and opened only then.

    The file of a mesh that was read from a model lies in the folder of that model or below, and is
    looked for nowhere else.

    Example:
        >>> import liaison
        >>> liaison.Mesh("gripper.stl", scale=(0.001, 0.001, 0.001), color="gray").file
        'gripper.stl'
    """

    file: str
    scale: Triple = (1, 1, 1)
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""
    folder: str = field(default="", compare=False)

    def path(self) -> str:
        """The file to open.

        Raises:
            ModelError: it is outside the folder of the model.
        """
        if not self.folder:
            return self.file.removeprefix("file://")
        folder = Path(self.folder).resolve()
        file = (folder / self.file.replace("\\", "/")).resolve()
        if not file.is_relative_to(folder):
            raise ModelError(
                f"the surface {self.file!r} is outside the folder of its model, {self.folder!r}."
            )
        return str(file)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Hull(Shape, Brief):
    """The convex hull of points [m], or of the points of a mesh file (.stl, .obj), scaled.

    Points that are no corners are left out, and so is what a hull of more corners than contacts can
    use leaves out; `notes` say so.

    Example:
        >>> import liaison
        >>> points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)]
        >>> tetrahedron = liaison.Hull(points)
        >>> round(float(tetrahedron.volume()), 6), tetrahedron.notes
        (0.166667, ('1 of 5 points of a hull are no corners of its hull',))
    """

    points: tuple[Triple, ...] = ()
    file: str = ""
    scale: Triple = (1, 1, 1)
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        object.__setattr__(self, "scale", triple(self.scale, "the scale of a hull"))
        if self.file and not self.points:
            self._read()
            return
        points = tuple(triple(x, "a point of a hull", unit="m") for x in self.points)
        numbers = [[number(x) for x in point] for point in points]
        if any(x is None for row in numbers for x in row):
            raise ModelError(
                "a point of a hull depends on a parameter; the corners of a hull are numbers."
            )
        hull = _hull_of(tuple(map(tuple, numbers)), "a hull")
        if len(hull.vertices) < len(points):
            points = tuple(map(tuple, hull.vertices.tolist()))
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "notes", (*self.notes, *hull.notes))

    def _read(self) -> None:
        """Corners from the file."""
        from liaison.numeric.hulls import convex_hull
        from liaison.numeric.meshes import read_mesh

        scale = [number(x) for x in self.scale]
        if any(x is None or x == 0 for x in scale):
            raise ModelError(
                f"the scale of the hull of {self.file!r} is {scale}; it must not be 0."
            )
        owner = f"the mesh {self.file!r}"
        hull = convex_hull(read_mesh(self.file).vertices * np.array(scale, dtype=float), owner)
        object.__setattr__(self, "points", tuple(map(tuple, hull.vertices.tolist())))
        object.__setattr__(self, "notes", hull.notes)

    @classmethod
    def parts(
        cls,
        file: str,
        scale: Triple = (1, 1, 1),
        *,
        most: int = 16,
        threshold: float = 0.05,
        seconds: float = 60.0,
    ) -> tuple[Hull, ...]:
        """Hulls of the convex parts that a mesh nearly consists of; needs the extra `meshes`.

        The first has a note on how many there are, and by how much their volume is off.

        Args:
            file: a mesh (.stl, .obj) that encloses a volume.
            scale: of its points.
            most: parts at most.
            threshold: by which a part may be concave, beside the size, 0.01 to 1.
            seconds: that it may take.

        Raises:
            MissingModule: the package coacd is not installed.
            ModelError: no mesh, numbers out of their range, or no parts within that time.
        """
        from liaison.numeric.decompose import convex_parts
        from liaison.numeric.meshes import MeshFile, read_mesh

        if not (isinstance(most, int) and most >= 1 and 0.01 <= threshold <= 1):
            message = f"a mesh is taken apart into {most} parts, by a threshold of {threshold:g}"
            raise ModelError(f"{message}; it takes a whole number from 1, and 0.01 to 1.")
        if not seconds > 0:
            raise ModelError(f"a mesh is taken apart within {seconds} s; that takes some time.")
        factors = np.array([float(x) for x in scale])
        owner, mesh = f"the mesh {file!r}", read_mesh(file)
        scaled = MeshFile(mesh.vertices * factors, mesh.triangles)
        parts = convex_parts(scaled, most, threshold, seconds=seconds, owner=owner)
        first, *others = (cls(tuple(map(tuple, x.tolist()))) for x in parts.points)
        if not others:
            return (first,)
        return (replace(first, notes=(parts.note(owner), *first.notes)), *others)

    def polytope(self) -> Any:
        """Corners, faces, volume: a `Polytope`."""
        return _hull_of(tuple(tuple(float(x) for x in point) for point in self.points), "a hull")

    def volume(self) -> Any:
        return self.polytope().volume

    def center(self) -> Array:
        return array(self.polytope().center.tolist())

    def tensor(self, mass: Any) -> Array:
        hull = self.polytope()
        second = hull.second / hull.volume
        full = np.trace(second) * np.eye(3) - second
        return array([[mass * x for x in row] for row in full.tolist()])


@lru_cache(maxsize=256)
def _hull_of(points: tuple[tuple[float, ...], ...], owner: str) -> Any:
    """The polytope of points."""
    from liaison.numeric.hulls import convex_hull

    return convex_hull(points, owner)


@final
@dataclass(frozen=True, slots=True, repr=False)
class HeightField(Shape, Brief):
    """A surface z = h over a rectangle about the origin, by heights of a grid; solid below.

    Rows of heights go along y, from the least to the greatest, columns along x. Each cell is two
    triangles, parted by the diagonal from its corner of least x and y. A file has the heights
    instead: a .txt or .csv of rows of numbers, or a grey .png (0 to 1) as seen from above; they are
    multiplied by the scale.

    Example:
        >>> import liaison
        >>> ramp = liaison.HeightField(x=2, y=1, heights=[[0, 0.1, 0.2], [0, 0.1, 0.2]])
        >>> ramp.grid.heights.shape
        (2, 3)
    """

    SIZES: ClassVar[tuple[str, ...]] = ("x", "y")

    x: Any
    y: Any
    heights: tuple[tuple[Any, ...], ...] = ()
    file: str = ""
    scale: Any = 1
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""
    grid: Any = field(default=None, compare=False, repr=False)  # a HeightGrid

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        object.__setattr__(self, "scale", scalar(self.scale, "the scale of a height field"))
        from liaison.numeric.height_fields import HeightGrid, checked_heights, read_heights

        x, y = (_fixed(side, "side") for side in (self.x, self.y))
        scale = _fixed(self.scale, "scale")
        if self.file and self.grid is not None and self.grid.is_of(x, y, scale):
            return  # read before, by whoever knows the folder
        rows: Any = self.heights
        if self.file:
            rows = read_heights(self.file)
        elif isinstance(rows, np.ndarray):
            object.__setattr__(self, "heights", tuple(map(tuple, rows.tolist())))
        else:
            exact = tuple(tuple(scalar(x, "a height", unit="m") for x in row) for row in rows)
            object.__setattr__(self, "heights", exact)
            rows = [[_fixed(x, "height") for x in row] for row in exact]
        object.__setattr__(self, "grid", HeightGrid.of(x, y, checked_heights(rows), scale))


def _fixed(value: Any, what: str) -> float:
    """A size of a height field as a number."""
    known = number(value)
    if known is None:
        message = f"a {what} of a height field depends on a parameter; it must be a number."
        raise ModelError(message)
    return known


def terrain_of(value: Any, what: str, place: Place | None) -> HeightField:
    """A height field, upright at its frame.

    Raises:
        ModelError: something else, or one that is turned or moved.
    """
    if not isinstance(value, HeightField):
        message = f"{what} must be a height field, not a {type(value).__name__}."
        hint = "In LSD: height_field(size = [4, 4] m, heights = [[0, 0], [0, 1]] m), or a file."
        raise ModelError(message, place=place, hint=hint)
    if (value.R, value.p) != (UPRIGHT, (0, 0, 0)):
        message = f"{what} stands at the frame that is touched; it has no place of its own."
        raise ModelError(message, place=place, hint="Move the frame instead.")
    return value


@final
@dataclass(frozen=True, slots=True, repr=False)
class Line(Shape, Brief):
    """A line through points [m].

    Example:
        >>> import liaison
        >>> len(liaison.Line(((0, 0, 0), (0, 0, 1), (0, 1, 1))).points)
        3
    """

    points: tuple[Triple, ...]
    R: Matrix = UPRIGHT
    p: Triple = (0, 0, 0)
    color: str = ""

    def __post_init__(self) -> None:
        Shape.__post_init__(self)
        points = tuple(triple(point, "a point of a line", unit="m") for point in self.points)
        object.__setattr__(self, "points", points)


def check_solid(shapes: tuple[Shape, ...], owner: str, place: Place | None = None) -> None:
    """Rejects a mesh among shapes that are to be filled: its volume is not known."""
    mesh = next((shape for shape in shapes if isinstance(shape, Mesh)), None)
    if mesh is not None:
        raise ModelError(
            f"the volume of the mesh {mesh.file!r} of {owner} is not known, so that it cannot be "
            "filled; give mass, center and inertia, or leave the mesh out.",
            place=place,
        )


def filled(shapes: tuple[Shape, ...], mass: Any, density: Any) -> Inertia:
    """Mass geometry of shapes filled evenly with a mass [kg] or a density [kg/m³].

    A point mass at the origin where they have no volume, nothing where neither is given.
    """
    solid = [shape for shape in shapes if not is_zero(shape.volume())]
    if not solid:
        return Inertia.point_mass(WORLD, 0 if mass is None else mass, (0, 0, 0))
    if mass is None and density is None:
        return Inertia.massless(WORLD)
    total = Inertia.massless(WORLD)
    for shape, share in zip(solid, _shares(solid, mass, density), strict=True):
        part = Inertia(WORLD, share, shape.center(), shape.tensor(share))
        placed = part.moved(Pose(WORLD, WORLD, array(shape.R), array(shape.p)))
        total = placed if is_zero(total.mass) else total + placed
    return total


def _shares(shapes: list[Shape], mass: Any, density: Any) -> list[Any]:
    """The mass of each shape."""
    if density is not None:
        return [shape.volume() * scalar(density, "a density") for shape in shapes]
    total = scalar(mass, "a mass")
    if len(shapes) == 1:
        return [total]
    whole = sum(shape.volume() for shape in shapes)
    return [total * shape.volume() / whole for shape in shapes]
