"""Convex parts that a mesh nearly consists of, by the package coacd, in a process of its own.

What takes too long or ends that process is an error here, not the end of the program. A mesh that
is convex already is its own only part. Parts are kept in the cache on disk, under the mesh, what is
asked for and the package: numbers, of which nothing is executed.

Public names: ConvexParts, convex_parts, need_coacd, volume_of, SECONDS.

Source: WEI22 (approximate convex decomposition with collision-aware concavity).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, needed

from .hulls import convex_hull
from .meshes import MeshFile
from .progress import fetch, key_of, store
from .state import Array

SECONDS = 60.0
"""Time for a mesh, unless another is given [s]."""
CONVEX = 0.01
"""Part of its volume by which the hull of a mesh may be larger for it to count as convex."""
SEARCH = {"resolution": 1000, "mcts_nodes": 15, "mcts_iterations": 60}
"""How far it searches for cuts: in half the time of its own defaults, parts about as good."""
KEPT = ".parts"
"""Ending of files of the cache."""
WORK = "import sys; from liaison.numeric.decompose import work; work(sys.argv[1])"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConvexParts:
    """Parts of a mesh.

    Attributes:
        points: of each part, shape (n, 3).
        error: their volume beside that of the mesh, less 1; None where the mesh is open.
        before: the same of the hull of the whole mesh.
    """

    points: tuple[Array, ...]
    error: float | None
    before: float | None

    def note(self, owner: str) -> str:
        """What was done with the mesh, in words."""
        text = f"{owner} is taken apart into {len(self.points)} convex parts"
        if self.error is None or self.before is None:
            return f"{text}; it is open, so that their volume is compared with nothing"
        off = f"{_percent(self.error)} {'more' if self.error >= 0 else 'less'}"
        return f"{text}, whose volume is {off} than its own; of its hull {_percent(self.before)}"


def _percent(part: float) -> str:
    x = abs(100 * part)
    return f"{x:.0f} %" if x >= 10 else f"{x:.2g} %"


def need_coacd() -> None:
    """Checks that the package is there.

    Raises:
        MissingModule: it is not installed.
    """
    with needed("meshes"):
        import coacd  # noqa: F401


def volume_of(mesh: MeshFile) -> float | None:
    """The volume that triangles enclose; None where they do not close."""
    _, same = np.unique(mesh.vertices, axis=0, return_inverse=True)
    faces = np.ravel(same)[mesh.triangles]
    faces = faces[np.all(faces != np.roll(faces, 1, axis=1), axis=1)]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = len(mesh.vertices)
    there = np.sort(edges[:, 0] * count + edges[:, 1])
    back = np.sort(edges[:, 1] * count + edges[:, 0])
    if not np.array_equal(there, back):
        return None
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6


def convex_parts(
    mesh: MeshFile,
    most: int,
    threshold: float,
    *,
    seconds: float = SECONDS,
    owner: str = "a mesh",
) -> ConvexParts:
    """Convex parts that make up a mesh nearly.

    Args:
        mesh: triangles that enclose a volume.
        most: parts at most.
        threshold: by which parts may be concave, beside the size, 0.01 to 1.
        seconds: that it may take.
        owner: of the mesh, for messages.

    Raises:
        MissingModule: coacd is not installed.
        ModelError: it took longer, or failed.
    """
    need_coacd()
    hull, volume = convex_hull(mesh.vertices, owner), volume_of(mesh)
    before = hull.volume / volume - 1 if volume else None
    if before is not None and before <= CONVEX:
        return ConvexParts((hull.vertices,), before, before)
    key = _key(mesh, most, threshold)
    points = _kept(key)
    if points is None:
        points = _taken_apart(mesh, most, threshold, seconds, owner)
        counts = np.array([len(points), *map(len, points)], dtype="<i8").tobytes()
        store(key, counts + np.concatenate(points).astype("<f8").tobytes(), KEPT)
    total = sum(convex_hull(x, owner).volume for x in points)
    return ConvexParts(points, total / volume - 1 if volume else None, before)


def _key(mesh: MeshFile, most: int, threshold: float) -> str:
    """The name of the parts of a mesh in the cache: what they depend on."""
    import coacd

    home = getattr(coacd, "__file__", None) or ""
    changed = os.stat(home).st_mtime_ns if home else 0
    digest = hashlib.sha256()
    for array in (mesh.vertices.astype("<f8"), mesh.triangles.astype("<i8")):
        digest.update(f"{array.shape}".encode() + array.tobytes())
    asked = f"{most} {threshold!r} {sorted(SEARCH.items())}"
    return key_of("convex parts", f"{home} {changed}", asked, digest.hexdigest())


def _kept(key: str) -> tuple[Array, ...] | None:
    """Parts from the cache; None where there are none that are sound."""
    content = fetch(key, KEPT)
    if content is None or len(content) % 8 or len(content) < 16:
        return None
    words = np.frombuffer(content, dtype="<i8")
    parts = int(words[0])
    if not 0 < parts < len(words):
        return None
    counts, points = words[1 : 1 + parts], words[1 + parts :].view("<f8").astype(float)
    if np.any(counts < 1) or 3 * int(np.sum(counts)) != len(points):
        return None
    if not np.all(np.isfinite(points)):
        return None
    return tuple(np.split(points.reshape(-1, 3), np.cumsum(counts)[:-1]))


def _taken_apart(
    mesh: MeshFile, most: int, threshold: float, seconds: float, owner: str
) -> tuple[Array, ...]:
    """The work in another process."""
    vertices, same = np.unique(mesh.vertices, axis=0, return_inverse=True)
    triangles = np.ravel(same)[mesh.triangles]
    paths = os.pathsep.join(x for x in sys.path if x)
    with TemporaryDirectory() as folder:
        np.savez(Path(folder) / "mesh.npz", vertices=vertices, triangles=triangles,
                 most=most, threshold=threshold)  # fmt: skip
        try:
            done = subprocess.run(
                [sys.executable, "-c", WORK, folder],
                env={**os.environ, "PYTHONPATH": paths},
                capture_output=True,
                timeout=max(seconds, 0.1),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ModelError(
                f"{owner} could not be taken apart within {seconds:.3g} s.",
                hint="Simplify it, or take it apart once and give its parts.",
            ) from None
        result = Path(folder) / "parts.npz"
        if done.returncode or not result.is_file():
            words = done.stderr.decode(errors="replace").strip().splitlines()
            why = f": {words[-1]}" if words else f", with status {done.returncode}"
            raise ModelError(f"{owner} could not be taken apart{why.rstrip('.')}.")
        with np.load(result) as parts:
            listed = [parts[name] for name in parts.files]
    if not listed:
        raise ModelError(f"{owner} could not be taken apart: nothing of it is left.")
    return tuple(listed)


def work(folder: str) -> None:
    """Reads mesh.npz of a folder and writes parts.npz there: what the other process does."""
    import coacd

    with np.load(Path(folder) / "mesh.npz") as task:
        mesh = coacd.Mesh(task["vertices"], task["triangles"])
        most, threshold = int(task["most"]), float(task["threshold"])
    coacd.set_log_level("error")
    parts = coacd.run_coacd(mesh, threshold=threshold, max_convex_hull=most, **SEARCH)
    points: dict[str, Any] = {
        f"part{k:04d}": np.asarray(x, dtype=float) for k, (x, _) in enumerate(parts)
    }
    np.savez(Path(folder) / "parts.npz", **points)
