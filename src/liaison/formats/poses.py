"""Poses one after another, with no arithmetic where nothing moves: exact numbers stay exact.

Public names: HERE, as_pose, is_upright, matrices_of, joined, exactly, rows_of.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from liaison.formats.lsd.formulas.values import (
    PURE,
    Pose,
    Quantity,
    Turn,
    Turned,
    Unfit,
    Value,
    Vector,
    kind_of,
    plain,
    same,
    spelled,
)
from liaison.formats.lsd.syntax.nodes import Node, Source
from liaison.model.scalars import UPRIGHT
from liaison.spatial import Array, identity, is_zero, product, rotation_about, vector, zeros
from liaison.spatial.arrays import plus
from liaison.units import LENGTH


class Sourced(Protocol):
    """Something that knows its text."""

    source: Source


def exactly(rows: Any) -> Array:
    """An array of the entries, each left as it is."""
    return np.array(rows, dtype=object)


def rows_of(R: Array) -> Any:
    """The rows of a matrix as the records keep them."""
    return UPRIGHT if R is HERE[0] else tuple(map(tuple, R.tolist()))


def joined(R: Array, p: Array, S: Array, s: Array) -> tuple[Array, Array]:
    """The pose (R, p) and behind it the pose (S, s)."""
    upright = is_upright(R)
    if upright and p is HERE[1]:
        return S, s
    turn = S if upright else R if is_upright(S) else product(R, S)
    if all(is_zero(x) for x in s):
        return turn, p
    step = s if upright else product(R, s)
    if all(is_zero(x) for x in p):
        return turn, vector(step)
    return turn, vector(plus(a, b) for a, b in zip(p, step, strict=True))


HERE = identity(), zeros(3)
"""The pose of a frame in itself; many frames are their bodies'."""
for _part in HERE:
    _part.setflags(write=False)
_UPRIGHT = (1, 0, 0, 0, 1, 0, 0, 0, 1)


def is_upright(R: Array) -> bool:
    """Whether a rotation is the exact identity."""
    if R is HERE[0]:
        return True
    entries = R.ravel().tolist()
    return all(a is b or is_zero(a - b) for a, b in zip(entries, _UPRIGHT, strict=True))


def as_pose(value: Value) -> Pose:
    """A pose of a vector, a turn, a pose, or of 0 (null frame) and 1 (identity)."""
    if isinstance(value, Quantity) and value.bare and value.value in (0, 1):
        return Pose(())
    if isinstance(value, Vector) and isinstance(value.items[0], Vector):
        return Pose((Turned(_matrix(value)),))
    if isinstance(value, Vector):
        if len(value.items) != 3:
            raise Unfit(f"a translation has three components, not {len(value.items)}.")
        return Pose((value,))
    if isinstance(value, Turn):
        return Pose((value,))
    if isinstance(value, Pose):
        return value
    raise Unfit(f"a frame is made of translations and rotations, not of {kind_of(value)}.")


def _matrix(value: Vector) -> Array:
    """Nine pure numbers in three rows."""
    rows = [row.items for row in value.items if isinstance(row, Vector)]
    entries = [q for row in rows for q in row if isinstance(q, Quantity)]
    if [len(row) for row in rows] != [3, 3, 3] or not all(same(q.dimension, PURE) for q in entries):
        raise Unfit("a rotation matrix has three rows of three numbers.")
    return exactly([plain(q.value) for q in entries]).reshape(3, 3)


def matrices_of(pose: Pose, names: Sourced, node: Node) -> tuple[Array, Array]:
    """R and p of a pose: its motions one after another, each in the frame reached so far."""
    R, p = HERE
    for motion in pose.motions:
        if isinstance(motion, Turn):
            axis = [plain(q.value) for q in motion.axis.items if isinstance(q, Quantity)]
            step = rotation_about(axis, motion.angle.value), HERE[1]
        elif isinstance(motion, Turned):
            step = motion.R, HERE[1]
        else:
            step = HERE[0], vector(_lengths(motion, names, node))
        R, p = joined(R, p, *step)
    return R, p


def _lengths(motion: Vector, names: Sourced, node: Node) -> list[Any]:
    for item in motion.items:
        if not isinstance(item, Quantity) or not (item.bare or same(item.dimension, LENGTH)):
            actual = spelled(item.dimension) if isinstance(item, Quantity) else kind_of(item)
            raise names.source.error(
                f"a translation is made of lengths (m), not of {actual}.", node
            )
    return [plain(item.value) for item in motion.items if isinstance(item, Quantity)]
