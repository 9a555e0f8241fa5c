"""attitude_along: attitude of a body along a run: quaternion, Euler z-x-z, Bryant x-y-z or matrix.

Angles go on from instant to instant with their turns; of the two triples that mean the same
attitude, (ψ, θ, φ) and (ψ + π, −θ, φ + π) or (α + π, π − β, γ + π), the one nearest to the instant
before is taken. Where the middle angle makes the outer axes one, only a sum or difference of the
outer angles is determined: these instants are marked, the first angle is kept there.

Public names: AttitudeAlong, attitude_along.

Source: LL 4.2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.lazy import Shown
from liaison.model import ATTITUDES, Attitude, BryantXYZ, EulerZXZ, Quaternion, RotationMatrix
from liaison.numeric import Array
from liaison.simulation import Trajectory
from liaison.simulation.record.series import Series
from liaison.spatial import bryant_xyz_of, euler_zxz_of, quaternion_of

TURN = 2 * np.pi


def attitudes() -> dict[str, Attitude]:
    """Every attitude by its word and by its other words."""
    by_word = {word: kind() for word, kind in ATTITUDES.items()}
    return by_word | {other: kind() for kind in ATTITUDES.values() for other in kind.SYNONYMS}


@final
@dataclass(frozen=True, slots=True, repr=False)
class AttitudeAlong(Shown):
    """The attitude of one body over time.

    Attributes:
        series: its coordinates, by name; outer angles are undetermined at singular instants.
        singular: these instants [s]; empty for quaternion and matrix.
        message: what is singular there, in a sentence; "" if nothing is.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/spinning_top.lsd", until=0.1, every=0.05)
        >>> liaison.attitude_along(run, "top").singular
        ()
    """

    series: Series
    singular: tuple[float, ...]
    message: str


def attitude_along(
    run: Trajectory, body: str, attitude: str | Attitude = "quaternion"
) -> AttitudeAlong:
    """The attitude of a body in the ground at every recorded instant.

    Args:
        run: with the series "poses".
        body: its name.
        attitude: "quaternion", "euler" (z-x-z), "bryant" (x-y-z), "matrix", or such an object.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/spinning_top.lsd", until=0.1, every=0.05)
        >>> liaison.attitude_along(run, "top", "quaternion").series.values.shape
        (3, 4)
    """
    if isinstance(attitude, str):
        known = attitudes()
        if attitude not in known:
            raise NamingError.unknown("attitude", attitude, known)
        attitude = known[attitude]
    R = _turned(run, body)
    mask = np.zeros(len(R), dtype=bool)
    if isinstance(attitude, RotationMatrix):
        values = R.reshape(-1, 9)
    elif isinstance(attitude, Quaternion):
        values = _signed([quaternion_of(x) for x in R])
    elif isinstance(attitude, EulerZXZ | BryantXYZ):
        values, mask = _angles(R, isinstance(attitude, EulerZXZ))
    else:
        values = _followed(R, attitude)
    loose = None
    if np.any(mask):
        loose = np.zeros(values.shape, dtype=bool)
        loose[:, 0] = loose[:, 2] = mask
    series = Series(values, attitude.UNITS, {"coordinate": attitude.NAMES}, loose)
    instants = tuple(float(t) for t in run.t[mask])
    return AttitudeAlong(series, instants, _message(body, attitude, instants))


def _turned(run: Trajectory, body: str) -> Array:
    if "poses" not in run.series:
        raise SimulationError(
            "the run has no series 'poses', which an attitude is computed from.",
            status="inconsistent",
            hint='Run with series=("poses",).',
        )
    poses = run.series["poses"]
    if body not in poses.axes["body"]:
        raise NamingError.unknown("body", body, poses.axes["body"])
    return poses.values[:, poses.axes["body"].index(body), :, :3]


def _signed(quaternions: Sequence[Array]) -> Array:
    """Quaternions, each on the side of the one before."""
    continuous = np.array(quaternions, dtype=float)
    dots = np.sum(continuous[1:] * continuous[:-1], axis=1)
    signs = np.cumprod(np.concatenate([[1.0], np.where(dots < 0, -1.0, 1.0)]))
    return np.asarray(continuous * signs[:, None])


def _followed(R: Array, attitude: Attitude) -> Array:
    """Coordinates of any attitude, each nearest to those of the instant before."""
    coordinates, near = [], [float(x) for x in attitude.neutral()]
    for one in R:
        near = [float(x) for x in attitude.of(one, near)]
        coordinates.append(near)
    return np.array(coordinates)


def _angles(R: Array, is_euler: bool) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Angles that go on from instant to instant, and where they are singular."""
    values, mask = np.zeros((len(R), 3)), np.zeros(len(R), dtype=bool)
    before = np.zeros(3)
    for k, one in enumerate(R):
        angles_here = euler_zxz_of(one) if is_euler else bryant_xyz_of(one)
        mask[k] = angles_here.is_singular
        angles = np.array(angles_here[:3], dtype=float)
        if angles_here.is_singular and k:
            angles = _split(angles, before[0], is_euler)
        before = values[k] = _nearest(angles, before, is_euler, first=k == 0)
    return values, mask


def _split(angles: Array, first: float, is_euler: bool) -> Array:
    """The sum or difference of the outer angles, split with the first one prescribed."""
    total, middle, _ = angles
    is_sum = np.cos(middle) > 0 if is_euler else middle > 0
    third = total - first if is_sum else first - total
    return np.array([first, middle, third])


def _nearest(angles: Array, before: Array, is_euler: bool, *, first: bool) -> Array:
    """Of the two triples and their whole turns the nearest to the one before."""
    if first:
        return angles
    middle = -angles[1] if is_euler else np.pi - angles[1]
    other = np.array([angles[0] + np.pi, middle, angles[2] + np.pi])
    near = [x + TURN * np.round((before - x) / TURN) for x in (angles, other)]
    return min(near, key=lambda x: float(np.sum((x - before) ** 2)))


def _message(body: str, attitude: Attitude, instants: tuple[float, ...]) -> str:
    if not instants:
        return ""
    first, middle, third = attitude.NAMES
    many = "" if len(instants) == 1 else f" and {len(instants) - 1} further instants"
    return (
        f"the angles {first}, {middle}, {third} of {body!r} are singular at {instants[0]:g} s"
        f"{many}: only the sum or difference of {first} and {third} is determined there. "
        "A quaternion or a matrix has no such positions."
    )
