"""Meshes of robots that touch by their convex parts, within a time for all of a file.

Public names: Decomposition, decomposition.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, final

from liaison.errors import ModelError, OptionError
from liaison.model.shapes import Hull
from liaison.numeric.decompose import convex_parts, need_coacd
from liaison.numeric.meshes import MeshFile

PARTS = 16
"""Parts of a mesh at most, unless another number is given."""
THRESHOLD = 0.05
"""By which a part may be concave, beside the size of the mesh."""
SECONDS = 120.0
"""Time for all meshes of a file [s]."""


@final
class Decomposition:
    """Takes meshes apart, each once; those for which there is no time touch by their hulls.

    Args:
        most: parts of a mesh at most.
        seconds: for all of them.
    """

    def __init__(self, most: int, seconds: float = SECONDS) -> None:
        need_coacd()
        self.most, self.left = most, seconds
        self.known: dict[Any, tuple[Hull, ...]] = {}

    def hulls(
        self, key: Any, mesh: MeshFile, whole: Hull, owner: str, notes: list[str]
    ) -> tuple[Hull, ...]:
        """Hulls of the parts of a mesh, or of all of it.

        Args:
            key: the same for the same mesh.
            mesh: its triangles, scaled.
            whole: its hull.
            owner: its name, for notes.
            notes: takes what was done.
        """
        if key not in self.known:
            self.known[key] = self._parts(mesh, whole, owner, notes)
        return self.known[key]

    def _parts(self, mesh: MeshFile, whole: Hull, owner: str, notes: list[str]) -> tuple[Hull, ...]:
        begin = time.monotonic()
        try:
            if self.left <= 0:
                raise ModelError(f"{owner} is not taken apart: the time for all meshes is over.")
            parts = convex_parts(mesh, self.most, THRESHOLD, seconds=self.left, owner=owner)
            hulls = tuple(Hull(tuple(map(tuple, x.tolist()))) for x in parts.points)
        except ModelError as error:
            notes.append(f"{error.message.rstrip('.')}; it touches by its hull")
            return (whole,)
        finally:
            self.left -= time.monotonic() - begin
        if len(hulls) == 1:
            return (whole,)
        notes.append(parts.note(owner))
        return tuple(replace(x, notes=()) for x in hulls)


def decomposition(asked: bool | int) -> Decomposition | None:
    """What takes meshes apart; None where that is not asked for.

    Args:
        asked: whether, or the number of parts of a mesh at most.

    Raises:
        OptionError: a number below 1.
        MissingModule: coacd is not installed.
    """
    if asked is False:
        return None
    most = PARTS if asked is True else asked
    if not (isinstance(most, int) and most >= 1):
        raise OptionError(f"decompose = {asked!r}: it is True, or a number of parts from 1.")
    return Decomposition(most)
