"""inverse_kinematics: all joint coordinates that put a body of an arm at a pose.

The body is welded to the ground there; what results is a mechanism with a loop, and its assembly
modes are the answer.

Public names: inverse_kinematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from liaison.errors import ModelError, NamingError
from liaison.exact.rigid import rotation_of
from liaison.expr import as_expr, evaluate
from liaison.freedoms.clock import MEMORY_LIMIT, TIME_LIMIT, bounded
from liaison.model import Fixed, Joint, Marker, Mechanism
from liaison.tree import Tree

from .assembly import AssemblyModes, modes_of

UPRIGHT = 1e-6
"""Largest departure of a given rotation from an orthogonal matrix."""


def inverse_kinematics(
    model: Mechanism | Tree,
    body: str,
    *,
    position: Sequence[Any],
    rotation: Sequence[Sequence[Any]] | None = None,
    at: Mapping[str, Any] | None = None,
    seed: int = 0,
    time_limit: float | str = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
) -> AssemblyModes:
    """Every set of joint coordinates that puts a body at a pose in ground's axes.

    Args:
        model: an arm, or a tree of one.
        body: its name, as of the hand.
        position: of the body's origin [m].
        rotation: R, the body's axes as columns; those of the ground where not given. Rounded
            matrices are replaced by the rotation nearest them.
        at: coordinates that are held besides, by label [m, rad]: all but six of the arm's.
        seed: of everything drawn.
        time_limit: wall clock [s].
        memory_limit: bytes.

    Raises:
        NamingError: no body has that name.
        ModelError: the rotation is none.
    """
    arm = model.mechanism if isinstance(model, Tree) else model
    names = [x.name for x in arm.bodies if x.name != "ground"]
    if body not in names:
        raise NamingError.unknown("body", body, names)
    here = Marker("ground", R=_exact_rotation(rotation), p=tuple(_written(x) for x in position))
    weld = Joint(f"{body} held", Fixed(), here, Marker(body), ())
    closed = replace(arm, joints=(*arm.joints, weld))
    with bounded(time_limit, memory_limit):
        return modes_of(closed, arm, at or {}, seed)


def _written(x: Any) -> Any:
    """A float as the decimal that it is written as."""
    if isinstance(x, float | np.floating):
        if not np.isfinite(x):
            raise ModelError(f"a position of {x} is given; it must be finite.")
        return Fraction(repr(float(x)))
    return x


def _exact_rotation(rotation: Sequence[Sequence[Any]] | None) -> Any:
    """A rotation matrix of exact numbers: the input if it is exact, else the nearest."""
    if rotation is None:
        return ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    rows = [list(row) for row in rotation]
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise ModelError("a rotation is three rows of three numbers.")
    R = np.array([[float(evaluate(as_expr(_plain(x)))) for x in row] for row in rows])
    if not np.all(np.abs(R @ R.T - np.eye(3)) < UPRIGHT) or np.linalg.det(R) < 0:
        raise ModelError(
            "the rotation given is none: its columns are not perpendicular unit vectors, "
            "right-handed."
        )
    if not any(isinstance(x, float | np.floating) for row in rows for x in row):
        return tuple(tuple(row) for row in rows)
    return rotation_of(_quaternion(R))


def _plain(x: Any) -> Any:
    return float(x) if isinstance(x, np.floating) else x


def _quaternion(R: Any) -> list[Fraction]:
    """The unit quaternion nearest to R, in floats, each taken as the fraction that it is."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[2, 0] + R[0, 2], R[2, 1] - R[1, 2]],
            [R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], R[2, 1] + R[1, 2], R[0, 2] - R[2, 0]],
            [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    x, y, z, w = np.linalg.eigh(K)[1][:, -1]
    return [Fraction(float(v)) for v in (w, x, y, z)]
