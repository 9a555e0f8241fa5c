"""A body drawn from its joints and its inertia, and the symbols of joints.

Public names: skeleton, inertia_box, is_point, joint_pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError
from liaison.model.joints import Ball, Block, Primitive, Rail, Strut, Tube

from .solids import Color, Piece, around, ball, box, frame_along, plate, rod, tube

Array = NDArray[np.float64]

JOINT_COLOR: Color = (62, 68, 76)
ROD = 0.016  # radius of a rod, in sizes of the scene
PIN = 0.026  # radius of a joint's pin
NEAR = 1e-6  # points closer than this, in sizes of the scene, are one
FLAT = 1e-3  # markers closer than this to a line, in lengths of it, lie on it


def skeleton(markers: Array, com: Array | None, size: float, color: Color) -> list[Piece]:
    """A body drawn from the places of its joints and its center of mass; nothing if they are one.

    Args:
        markers: places of its joints on the body [m], shape (k, 3).
        com: center of mass, None if the body has no mass.
        size: of the scene [m].
        color: of the body.
    """
    points = _distinct(markers, NEAR * size)
    pieces: list[Piece] = []
    far = com is not None and len(points) == 1 and _far(com, points[0], NEAR * size)
    if com is not None and far:
        reach = float(np.linalg.norm(com - points[0]))
        pieces.append(rod(points[0], com, min(ROD * size, reach / 8), color))
        pieces.append(ball(com, min(3.5 * ROD * size, reach / 3), color))
    elif len(points) >= 2:
        pieces += _frame_of(points, size, color)
    return pieces


def _frame_of(points: Array, size: float, color: Color) -> list[Piece]:
    spread = points - points.mean(axis=0)
    lengths = np.linalg.svd(spread, compute_uv=False)
    radius = min(ROD * size, float(lengths[0]) / 8)
    if len(points) == 2 or lengths[1] < FLAT * lengths[0]:
        along = spread @ (spread[np.argmax(np.linalg.norm(spread, axis=1))])
        return [rod(points[np.argmin(along)], points[np.argmax(along)], radius, color)]
    ring = around(points)
    bars = [rod(a, b, radius, color) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]
    return [*bars, plate(ring, radius / 2, color, 0.35)]


def inertia_box(mass: float, com: Array, inertia: Array, size: float, color: Color) -> Piece:
    """The uniform box of the same mass and principal moments; a small cube if it has none.

    Its sides follow from I_x = m (b² + c²) / 12 and the two others.
    """
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    squares = 6 * (moments.sum() - 2 * moments) / mass if mass > 0 else np.zeros(3)
    sides = np.sqrt(np.maximum(squares, 0))
    if sides.max() <= NEAR * size:
        sides = np.full(3, 0.12 * size)
    return box(axes, com, np.maximum(sides, max(ROD * size, 0.02 * sides.max())), color)


def is_point(points: Array) -> bool:
    """True if all points are one."""
    return bool(np.ptp(points, axis=0).max() <= NEAR)


def _distinct(points: Array, tolerance: float) -> Array:
    kept: list[Array] = []
    for point in points:
        if all(_far(point, other, tolerance) for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def _far(a: Array, b: Array, tolerance: float) -> bool:
    return bool(np.linalg.norm(a - b) > tolerance)


def joint_pieces(symbol: Sequence[Primitive], R: Array, p: Array, size: float) -> list[Piece]:
    """The solids of a joint's symbol at its marker (R, p); rails and struts are drawn elsewhere.

    Args:
        symbol: of the joint type.
        R: axes of the marker as columns.
        p: its place [m].
        size: of the scene [m].

    Raises:
        LiaisonError: a primitive of the symbol is none of those of `model.joints.symbols`.
    """
    return [piece for part in symbol for piece in _drawn(part, R, p, size)]


def _drawn(part: Primitive, R: Array, p: Array, size: float) -> list[Piece]:
    match part:
        case Tube(radius, length, axis):
            axes = R if axis == "z" else frame_along(R[:, "xyz".index(axis)])
            return [tube(axes, p, radius * PIN * size, length * PIN * size, JOINT_COLOR)]
        case Ball(radius):
            return [ball(p, radius * PIN * size, JOINT_COLOR)]
        case Block(sides, opacity):
            return [box(R, p, np.array(sides) * PIN * size, JOINT_COLOR, opacity)]
        case Rail() | Strut():
            return []
        case _:
            raise LiaisonError(
                f"a joint's symbol has a {type(part).__name__}, which cannot be drawn.",
                hint="It is made of Tube, Ball, Block, Rail and Strut.",
            )
