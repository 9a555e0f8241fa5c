"""Layout of convex bodies: their corners and faces, and the workspace of one question.

A body is the convex hull of corners, or a cylinder along z, widened by a radius: a ball is one
corner, a capsule two, each with a radius.

Public names: Convex, Face, Bodies, Question, bodies_of, CYLINDER, is_single.

Source: docs/theory/convex.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from liaison.numeric.hulls import Solid
from liaison.program.loops.language import f64, i64, iptr, loop, ptr
from liaison.program.loops.records import Record, Rows, inline, rows, size, sized

CYLINDER = 1
"""The kind of a cylinder; 0 is that of a polytope."""

CORNERS = 64
"""Corners of the outline of a face at most; of others, some are left out in clipping."""

RIM = 8
"""Points that stand for the rim of a cylinder where it lies on a face."""


ROUNDED = 1e-9
"""A number that is larger in single precision: those of loops below 1e-8 stand there for larger
ones (`program/loops/special.py`)."""


@loop
def is_single() -> i64:
    """1 in single precision."""
    return 1 if ROUNDED > 1e-6 else 0


@final
class Convex(Record):
    """A convex body in its own axes."""

    kind: i64
    first: i64  # corner
    corners: i64
    first_face: i64
    faces: i64
    radius: f64  # by which all of it is widened
    disc: f64  # radius of a cylinder
    half: f64  # half its length
    size: f64  # the farthest point from the center
    center: ptr = inline(3)  # a point inside


@final
class Face(Record):
    """n · x ≤ offset, and where its outline begins in the list of corners."""

    normal: ptr = inline(3)
    offset: f64
    first: i64
    corners: i64


@final
class Bodies(Record):
    """All convex bodies of a run."""

    bodies: i64 = size()
    vertices: i64 = size()
    faces: i64 = size()
    outlines: i64 = size()
    body: Rows[Convex] = rows("bodies")
    vertex: ptr = sized("vertices", "3")
    face: Rows[Face] = rows("faces")
    outline: iptr = sized("outlines")


@final
class Question(Record):
    """Two bodies, the first seen from the second, and the answer; the rest is workspace."""

    # the question
    R: ptr = inline(3, 3)
    p: ptr = inline(3)
    # the answer, in the axes of the second
    distance: f64  # negative: penetration
    slack: f64  # by which the distance may be too large in value
    normal: ptr = inline(3)  # from the second to the first
    on_first: ptr = inline(3)  # points that are nearest, or deepest
    on_second: ptr = inline(3)
    steps: i64
    points: i64  # that touch
    first_points: ptr = inline(8, 3)  # of the core of the first, in its own axes
    second_points: ptr = inline(8, 3)  # of the core of the second, in its own
    owner: i64  # whose axes the normal keeps to: 0 of the first, 1 of the second
    keys: iptr = inline(8)  # which corners or crossings they are
    reach: f64  # radius of the first about its points,
    reach_second: f64  # and of the second
    face: i64  # that is touched, of all; −1: none
    # of the simplex: difference w = a − b and the point a
    size: f64
    count: i64
    w: ptr = inline(4, 3)
    a: ptr = inline(4, 3)
    weight: ptr = inline(4)
    tried: ptr = inline(4)
    best: ptr = inline(4)
    v: ptr = inline(3)
    near: ptr = inline(3)
    direction: ptr = inline(3)
    local: ptr = inline(3)
    side: ptr = inline(3)
    support: ptr = inline(3)
    support_first: ptr = inline(3)
    # of the growing polytope
    grown: i64
    shells: i64
    edges: i64
    corner: ptr = inline(160, 3)
    corner_first: ptr = inline(160, 3)
    triangle: iptr = inline(480, 4)  # three corners, and whether it is alive
    plane: ptr = inline(480, 4)  # normal and offset of each
    edge: iptr = inline(480, 2)
    # of clipping
    polygon: ptr = inline(160, 3)
    clipped: ptr = inline(160, 3)
    key: iptr = inline(160)
    clipped_key: iptr = inline(160)
    chosen: iptr = inline(160)


def bodies_of(solids: Sequence[Solid]) -> Bodies:
    """The block of these bodies."""
    polytopes = [x.polytope for x in solids if x.polytope is not None]
    outlines = [[_outline(f) for f in x.faces] for x in polytopes]
    block = Bodies.new(
        bodies=len(solids), vertices=sum(len(x.vertices) for x in solids),
        faces=sum(len(x.faces) for x in polytopes),
        outlines=sum(len(f) for faces in outlines for f in faces),
    )  # fmt: skip
    vertex = face = outline = 0
    for solid, body in zip(solids, block.body, strict=True):
        corners = solid.vertices
        is_round = solid.polytope is None and solid.core is None
        body.kind, body.first, body.corners = int(is_round), vertex, len(corners)
        body.radius, body.disc, body.half = solid.radius, solid.disc, solid.half
        body.center[:] = np.mean(corners, axis=0) if len(corners) else 0.0
        block.vertex[vertex : vertex + len(corners)] = corners
        far = np.linalg.norm(corners - body.center, axis=1)
        body.size = float(np.max(far, initial=np.hypot(solid.disc, solid.half)))
        body.first_face, body.faces = face, 0
        if solid.polytope is not None:
            body.faces = len(solid.polytope.faces)
            for k, listed in enumerate(map(_outline, solid.polytope.faces)):
                one = block.face[face]
                one.normal[:], one.offset = solid.polytope.normals[k], solid.polytope.offsets[k]
                one.first, one.corners = outline, len(listed)
                block.outline[outline : outline + len(listed)] = [vertex + i for i in listed]
                outline, face = outline + len(listed), face + 1
        vertex += len(corners)
    return block


def _outline(face: tuple[int, ...]) -> list[int]:
    """Corners of a face, so many as clipping has room for."""
    if len(face) <= CORNERS:
        return list(face)
    return [face[len(face) * k // CORNERS] for k in range(CORNERS)]
