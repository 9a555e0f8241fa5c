"""Meshes of MJCF: corners and triangles of OBJ, STL and MSH files, and the mass they enclose.

    volume = Σ |d|/6,  d = (a − c) · ((b − c) × (e − c))                              (meshes-1)

over triangles a, b, e: so MuJoCo takes meshes by default (`legacy`), with c the middle of the
surface where it looks for the centre of mass, and that centre where it counts volume and inertia.
With `exact`, d keeps its sign, which is right for closed surfaces of any form.

Public names: Mesh, Meshes, principal_axes.

Source: MUJOCO XML reference, asset/mesh.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ModelError, NamingError, TextError
from liaison.formats.decompose import Decomposition
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.model.shapes import Hull
from liaison.numeric.hulls import convex_hull
from liaison.numeric.meshes import MOST_BYTES, READERS, MeshFile, mesh_of
from liaison.spatial import rotation_quaternion

from .expand import Folder
from .values import Settings

Floats = NDArray[np.float64]
MOST_CHECKS = 10**8
"""Corners times triangles up to which it is looked whether a mesh is convex."""
PLANES = ((0, 1), (0, 2), (1, 2))
MOST_TURNS, ROUNDED = 500, 4e-15
"""Turns of the method of Jacobi, and the part of the largest entry that MuJoCo takes as none."""
SMALLEST = 1e-15
"""Volume [m³] below which MuJoCo takes a mesh as none."""


@final
class Mesh(NamedTuple):
    """Corners [m] and triangles."""

    corners: Floats
    triangles: NDArray[np.int64]

    def solid(self, is_signed: bool) -> tuple[float, Floats, Floats]:
        """Volume, centre, and inertia about it at density 1, by (meshes-1)."""
        a, b, e = (self.corners[self.triangles[:, k]] for k in range(3))
        area = np.linalg.norm(np.cross(b - a, e - a), axis=1)
        middle = (area @ (a + b + e)) / (3 * area.sum())
        _, center = _first(_pyramids(a, b, e, middle, is_signed), a + b + e - 3 * middle)
        center = center + middle
        d = _pyramids(a, b, e, center, is_signed)
        volume = float(d.sum())
        a, b, e = a - center, b - center, e - center
        second = sum(np.einsum("i,ij,ik->jk", d, x, x) for x in (a, b, e, a + b + e)) / 20
        return volume, center, np.trace(second) * np.eye(3) - second

    @property
    def is_convex(self) -> bool:
        """Whether no corner is outside a triangle."""
        a, b, e = (self.corners[self.triangles[:, k]] for k in range(3))
        normals = np.cross(b - a, e - a)
        heights = normals @ self.corners.T - np.einsum("ij,ij->i", normals, a)[:, None]
        size = float(np.ptp(self.corners, axis=0).max())
        return bool(np.all(heights <= 1e-9 * size**3))


def principal_axes(tensor: Any) -> Floats:
    """Principal axes as MuJoCo orders and turns them, also where moments are equal: its columns.

    The largest entry beside the diagonal is turned away (Jacobi) until all are small as rounding;
    then the moments are put in falling order.
    """
    A, R = np.array(tensor, dtype=float), np.eye(3)
    least = ROUNDED * float(np.abs(A).max())
    for _ in range(MOST_TURNS):
        D = R.T @ A @ R
        i, j = max(PLANES, key=lambda plane: (abs(D[plane]), plane))
        if abs(D[i, j]) <= least:
            break
        ratio = float(D[j, j] - D[i, i]) / (2 * float(D[i, j]))
        tangent = (1 if ratio >= 0 else -1) / (abs(ratio) + math.hypot(1, ratio))
        c, turn = 1 / math.hypot(1, tangent), np.eye(3)
        turn[i, i] = turn[j, j] = c
        turn[i, j], turn[j, i] = c * tangent, -c * tangent
        R = R @ turn
    moments = np.diag(R.T @ A @ R).copy()
    for k in (0, 1, 0):
        if moments[k] + least < moments[k + 1]:
            moments[[k, k + 1]] = moments[[k + 1, k]]
            R[:, [k, k + 1]] = np.stack((R[:, k + 1], -R[:, k]), axis=1)
    return R


def _pyramids(a: Floats, b: Floats, e: Floats, tip: Floats, is_signed: bool) -> Floats:
    """Volumes of the pyramids from a point to triangles."""
    d: Floats = np.einsum("ij,ij->i", a - tip, np.cross(b - tip, e - tip)) / 6
    return d if is_signed else np.abs(d)


def _first(d: Floats, corners: Floats) -> tuple[float, Floats]:
    """Volume and centre of pyramids, by the sums of their three corners."""
    volume = float(d.sum())
    if volume < SMALLEST:
        raise ValueError(f"its volume is {volume:g} m³")
    return volume, (d @ corners) / (4 * volume)


@final
class Meshes:
    """The <mesh> of a file, each opened when its mass is needed."""

    def __init__(
        self, root: Element, settings: Settings, folder: Folder, apart: Decomposition | None,
        notes: list[str],
    ) -> None:  # fmt: skip
        self.settings, self.folder = settings, folder
        self.apart, self.notes = apart, notes
        self.solids: dict[tuple[str, bool], tuple[float, Floats, Floats]] = {}
        self.hulls: dict[str, Hull] = {}
        self.elements: dict[str, Element] = {}
        for asset in root.all("asset"):
            for mesh in asset.all("mesh"):
                filled = settings.filled(mesh, "main")
                self.elements[mesh.attributes.get("name") or _stem(mesh)] = filled

    def element(self, name: str, geom: Element) -> Element:
        """The <mesh> of a name."""
        if name not in self.elements:
            raise NamingError.unknown("mesh", name, self.elements, place=geom.place)
        return self.elements[name]

    def solid(self, name: str, geom: Element) -> tuple[float, Floats, Floats]:
        """Volume [m³], centre [m] and inertia at density 1 of a mesh, in its own axes.

        Raises:
            ModelError: no volume, or a way to count it that is not known.
        """
        element = self.element(name, geom)
        how = element.attributes.get("inertia", "legacy")
        if how not in ("legacy", "exact", "convex"):
            message = f"'inertia' of {element} is {how!r}, which is not read."
            raise ModelError(message, place=element.place, hint="Give the body an <inertial>.")
        key = (name, how == "exact")
        if key not in self.solids:
            mesh = self.mesh(element)
            if how == "convex" and len(mesh.triangles) * len(mesh.corners) > MOST_CHECKS:
                message = f"{element} has {len(mesh.triangles)} triangles, too many for its hull."
                raise ModelError(message, place=element.place, hint="Give the body an <inertial>.")
            if how == "convex" and not mesh.is_convex:
                self.solids[key] = self.hull(mesh, element)
                return self.solids[key]
            try:
                self.solids[key] = mesh.solid(how == "exact")
            except (ValueError, FloatingPointError) as error:
                message = f"{element} encloses no mass: {error}."
                raise ModelError(message, place=element.place) from None
        return self.solids[key]

    def hull(self, mesh: Mesh, element: Element) -> tuple[float, Floats, Floats]:
        """The same of the convex hull of a mesh.

        Raises:
            ModelError: a hull of more corners than are taken.
        """
        hull = Hull(tuple(map(tuple, mesh.corners.tolist())))
        if any("replaced" in note for note in hull.notes):
            message = f"the hull of {element} has too many corners to count its mass."
            raise ModelError(message, place=element.place, hint="Give the body an <inertial>.")
        volume = float(hull.volume())
        center, tensor = (np.array(x, dtype=float) for x in (hull.center(), hull.tensor(volume)))
        return volume, center, tensor

    def contact_hull(self, name: str, geom: Element) -> Hull:
        """The convex hull with which a mesh touches, in the axes of its file.

        Raises:
            ModelError: its points have no volume.
        """
        if name not in self.hulls:
            element = self.element(name, geom)
            points = self.mesh(element).corners
            try:
                hull = Hull(tuple(map(tuple, np.unique(points, axis=0).tolist())))
            except ModelError as error:
                message = error.message.replace("a hull", str(element))
                raise ModelError(message, place=element.place) from None
            notes = tuple(x.replace("a hull", str(element)) for x in hull.notes)
            self.hulls[name] = replace(hull, notes=notes)
        return self.hulls[name]

    def parts(self, name: str, geom: Element) -> tuple[Hull, ...]:
        """Hulls of the convex parts of a mesh, if it is to be taken apart; else none."""
        if self.apart is None:
            return ()
        element = self.element(name, geom)
        try:
            whole, mesh = self.contact_hull(name, geom), self.mesh(element)
        except ModelError:
            return ()  # where it is to touch, its note says why it does not
        surface = MeshFile(mesh.corners, mesh.triangles)
        return self.apart.hulls(name, surface, whole, str(element), self.notes)

    def mesh(self, element: Element) -> Mesh:
        """Corners and triangles, moved and scaled as <mesh> says."""
        if element.children or "builtin" in element.attributes:
            message = f"{element} is made by a plugin or a builtin, which is not read"
            raise ModelError(f"{message}.", place=element.place, hint="Name a file of triangles.")
        name = element.attributes.get("file")
        if name is None:
            corners, triangles = _written(element)
        else:
            suffix = PurePosixPath(name).suffix.lower()
            if suffix not in (".msh", *READERS):
                message = f"the file {name!r} of {element} is no .obj, .stl or .msh"
                raise TextError(f"{message}.", place=element.place)
            data = self.folder.data(name, element, self.settings.meshes_in, MOST_BYTES)
            try:
                corners, triangles = _msh(data) if suffix == ".msh" else _triangles(data, suffix)
            except (ValueError, IndexError, OverflowError) as error:
                message = f"the file {name!r} of {element} is damaged: {error}."
                raise TextError(message, place=element.place) from None
        (corners,) = _moved(element, corners)
        if len(triangles) == 0 and np.isfinite(corners).all():
            corners, triangles = _hulled(element, corners)
        return _checked(element, corners, triangles)


def _hulled(element: Element, corners: Floats) -> tuple[Floats, Any]:
    """Corners and triangles of the convex hull of points without triangles.

    Raises:
        ModelError: points without volume, or a hull of more corners than are taken.
    """
    try:
        hull = convex_hull(corners, str(element))
    except ModelError as error:
        raise ModelError(error.message, place=element.place, hint=error.hint) from None
    if any("replaced" in note for note in hull.notes):
        message = f"the hull of {element} has too many corners to count its mass."
        raise ModelError(message, place=element.place, hint="Give it faces.")
    return hull.vertices, hull.triangles()


def _checked(element: Element, corners: Floats, triangles: Any) -> Mesh:
    if not np.isfinite(corners).all():
        message = f"{element} has a corner that is not finite."
        raise TextError(message, place=element.place)
    if len(triangles) == 0:
        message = f"{element} has no triangles, so it encloses nothing"
        raise ModelError(f"{message}.", place=element.place, hint="Give faces, or an <inertial>.")
    if triangles.min() < 0 or triangles.max() >= len(corners):
        message = f"a triangle of {element} names a corner that is not there."
        raise TextError(message, place=element.place)
    return Mesh(corners, triangles)


def _moved(element: Element, corners: Floats) -> tuple[Floats]:
    """Corners less `refpos`, turned back by `refquat`, scaled."""
    at, scale = (
        np.array([float(x) for x in numbers_in(element, key, 3, default)])
        for key, default in (("refpos", "0 0 0"), ("scale", "1 1 1"))
    )
    e = np.array([float(x) for x in numbers_in(element, "refquat", 4, "1 0 0 0")])
    R = np.array(rotation_quaternion((e / np.linalg.norm(e)).tolist()), dtype=float)
    return (((corners - at) @ R) * scale,)


def _stem(mesh: Element) -> str:
    return PurePosixPath(mesh.attributes.get("file", "").replace("\\", "/")).stem


def _written(element: Element) -> tuple[Floats, Any]:
    """The corners and triangles in the attributes."""
    words = {key: element.attributes.get(key, "").split() for key in ("vertex", "face")}
    numbers = {key: numbers_in(element, key, len(x), "") for key, x in words.items()}
    for key, values in numbers.items():
        if len(values) % 3:
            message = f"{key!r} of {element} has {len(values)} numbers, not three each."
            raise TextError(message, place=element.place)
    corners = np.array([float(x) for x in numbers["vertex"]]).reshape(-1, 3)
    return corners, np.array([int(x) for x in numbers["face"]], dtype=np.int64).reshape(-1, 3)


def _triangles(data: bytes, suffix: str) -> tuple[Floats, Any]:
    """Of STL and OBJ files."""
    mesh = mesh_of(data, suffix)
    return mesh.vertices, mesh.triangles


def _msh(data: bytes) -> tuple[Floats, Any]:
    """MuJoCo's own: four counts, corners, normals, places on textures, triangles."""
    corners, normals, places, faces = (int(x) for x in np.frombuffer(data, "<i4", 4))
    if min(corners, normals, places, faces) < 0:
        raise ValueError("a count is negative")
    at = 16 + 4 * (3 * corners + 3 * normals + 2 * places)
    points = np.frombuffer(data, "<f4", 3 * corners, 16).reshape(-1, 3).astype(float)
    return points, np.frombuffer(data, "<i4", 3 * faces, at).reshape(-1, 3).astype(np.int64)
