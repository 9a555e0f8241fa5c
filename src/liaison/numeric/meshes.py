"""Mesh files as points and triangles: STL (binary and text) and OBJ.

Public names: read_mesh, mesh_of, READERS, MeshFile, MOST_BYTES.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from liaison.errors import ModelError

from .state import Array

MOST_BYTES = 512 * 1024 * 1024
"""Size of a file at most."""
STL_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
VERTEX = re.compile(rb"vertex[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)")


@final
@dataclass(frozen=True, slots=True, eq=False)
class MeshFile:
    """Triangles of a file: points, shape (n, 3), and corners of each, shape (m, 3)."""

    vertices: Array
    triangles: Any


def read_mesh(file: str | os.PathLike[str], owner: str = "") -> MeshFile:
    """The triangles of an STL or OBJ file.

    Args:
        file: its path.
        owner: what it is called in messages; by default its name.

    Raises:
        ModelError: there is no such file, it is too large, of another kind, or damaged.
    """
    path = Path(file)
    what = owner or f"the mesh {str(file)!r}"
    if path.suffix.lower() not in READERS:
        raise ModelError(f"{what} is neither .stl nor .obj; other meshes are not read.")
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise ModelError(f"{what} cannot be read: it is no file.")
        if about.st_size > MOST_BYTES:
            size = about.st_size / 2**20
            raise ModelError(
                f"{what} has {size:.0f} MB; {MOST_BYTES >> 20} MB are the limit.",
                hint="Simplify it: of a hull only the corners count.",
            )
        mesh = mesh_of(path.read_bytes(), path.suffix)
    except OSError as error:
        why = error.strerror or str(error)
        raise ModelError(f"{what} cannot be read: {why}.", hint="Check its path.") from None
    except (ValueError, IndexError) as error:
        raise ModelError(f"{what} is damaged: {error}.") from None
    return mesh


def mesh_of(data: bytes, suffix: str) -> MeshFile:
    """The triangles in the bytes of a file.

    Args:
        data: its content.
        suffix: ".stl" or ".obj".

    Raises:
        ValueError: the data are damaged.
    """
    mesh = READERS[suffix.lower()](data)
    bad = np.flatnonzero(~np.all(np.isfinite(mesh.vertices), axis=1))
    if len(bad):
        raise ValueError(f"its point {bad[0] + 1} is {mesh.vertices[bad[0]].tolist()}")
    return mesh


def _stl(data: bytes) -> MeshFile:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else 0
    if len(data) == 84 + 50 * count:
        corners = np.frombuffer(data, STL_FACET, count, 84)["corners"].astype(float)
    else:
        is_text = data[:5].lower() == b"solid"
        rows = VERTEX.findall(data) if is_text else []
        if not is_text:
            raise ValueError(f"its header counts {count} triangles, but it has {len(data)} bytes")
        if len(rows) % 3:
            raise ValueError(f"it ends within a triangle, after {len(rows)} corners")
        corners = np.array(rows, dtype=float).reshape(-1, 3, 3)
    if not len(corners):
        raise ValueError("there is no triangle in it")
    return MeshFile(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _obj(data: bytes) -> MeshFile:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            if len(words) < 4:
                raise ValueError(f"{line.strip()!r} is no point")
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(x.split("/")[0]) for x in words[1:]]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in corners]
            faces += [[corners[0], b, c] for b, c in itertools.pairwise(corners[1:])]
    if not faces:
        raise ValueError("there is no face in it")
    triangles = np.array(faces)
    if triangles.max() >= len(vertices) or triangles.min() < 0:
        raise ValueError("a face names a corner that is not there")
    return MeshFile(np.array(vertices), triangles)


READERS = {".stl": _stl, ".obj": _obj}
"""Suffix -> reader."""
