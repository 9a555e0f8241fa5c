"""The reaction of a joint in any axes and at any point, from the series of a run.

Public names: Point, reaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from liaison.errors import NamingError, SimulationError

from .series import Array, Series

Point: TypeAlias = str | Sequence[float] | tuple[str, Sequence[float]]
"""A body's origin by its name, a place in the ground [m], or a place on a body."""

LOOSE = 1e-6
"""A component that self-stress changes by more than this is not determined."""


def reaction(
    series: Mapping[str, Series],
    joint: str,
    *,
    frame: str | None = None,
    at: Point | None = None,
    on: str = "successor",
) -> Series:
    """Moment and force of a joint over time; `undetermined` marks the least-norm rest.

    A component is marked where self-stress, a wrench that may be added at will, has a part in it.

    Args:
        series: of a run: reactions, markers, and poses where a body is named.
        joint: its name.
        frame: whose axes: a body's or the "ground"'s; of the joint's marker if None.
        at: where the moment is taken; at the joint's marker if None.
        on: "successor" or "predecessor", the one the wrench acts on.

    Source: docs/theory/analysis.md (analysis-1).
    """
    reactions = _series(series, "reactions")
    k = _place(reactions, "joint", joint)
    marker = _series(series, "markers").values[:, k]
    R, p = marker[:, :, :3], marker[:, :, 3]
    axes = R if frame is None else _pose(series, frame)[:, :, :3]
    turn = np.swapaxes(axes, 1, 2) @ R
    arm = np.einsum("nji,nj->ni", R, p - (p if at is None else _point(series, at)))
    change = np.zeros((len(p), 6, 6))
    change[:, :3, :3] = change[:, 3:, 3:] = turn
    change[:, :3, 3:] = turn @ _crossing(arm)
    sign = _sign(on)
    values = sign * np.einsum("nij,nj->ni", change, reactions.values[:, k])
    mask = None
    if reactions.undetermined is not None:
        stress = _series(series, "self_stress").values[:, k]
        square = np.einsum("nij,njl,nil->ni", change, stress, change)
        mask = square > LOOSE**2
    return Series(values, reactions.unit, {"component": reactions.axes["component"]}, mask)


def _sign(on: str) -> float:
    if on not in ("successor", "predecessor"):
        raise NamingError.unknown("side of a joint", on, ("successor", "predecessor"))
    return 1.0 if on == "successor" else -1.0


def _crossing(arm: Array) -> Array:
    """The matrix of arm ×, at every instant."""
    x, y, z = arm.T
    o = np.zeros_like(x)
    return np.stack([[o, -z, y], [z, o, -x], [-y, x, o]]).transpose(2, 0, 1)


def _pose(series: Mapping[str, Series], body: str) -> Array:
    """[R | p] of a body or the ground, at every instant."""
    instants = len(_series(series, "reactions").values)
    if body in ("ground", "earth"):
        return np.broadcast_to(np.eye(3, 4), (instants, 3, 4))
    poses = _series(series, "poses")
    return poses.values[:, _place(poses, "body", body)]


def _point(series: Mapping[str, Series], at: Point) -> Array:
    """A place in the ground, at every instant."""
    if isinstance(at, str):
        return _pose(series, at)[:, :, 3]
    if len(at) == 2:
        body, place = str(at[0]), np.asarray(at[1], dtype=float)
        pose = _pose(series, body)
        return np.asarray(pose[:, :, 3] + pose[:, :, :3] @ place)
    return np.broadcast_to(np.asarray(at, dtype=float), (1, 3))


def _series(series: Mapping[str, Series], name: str) -> Series:
    if name not in series:
        raise SimulationError(
            f"the run has no series {name!r}, which a reaction is computed from.",
            status="inconsistent",
            hint='Run with series=("reactions", "poses").',
        )
    return series[name]


def _place(series: Series, axis: str, name: str) -> int:
    entries = series.axes[axis]
    if name not in entries:
        raise NamingError.unknown(axis, name, entries)
    return entries.index(name)
