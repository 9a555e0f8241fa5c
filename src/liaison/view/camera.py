"""Where to look from, so that the whole motion is seen.

Public names: Camera, camera, ASPECT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FIELD_OF_VIEW = 0.65  # [rad], from top to bottom
ASPECT = 1.3  # width over height of the pane the camera is placed for
MARGIN = 1.12
FLAT, SLENDER = 0.45, 0.02  # thickness of a flat motion by its width, width by its length


@final
@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Where to look from [m], at what, and how wide [rad]."""

    position: Array
    target: Array
    up: Array
    angle: float


def camera(reached: Array, up: Array) -> Camera:
    """A place from where all points are seen, across their plane if they have one.

    Args:
        reached: points the motion reaches in the world [m], shape (k, 3).
        up: unit vector.
    """
    target = (reached.min(axis=0) + reached.max(axis=0)) / 2
    direction = _direction(reached, up)
    side = np.cross(up, direction)
    side /= np.linalg.norm(side)
    top = np.cross(direction, side)
    seen = reached - target
    # each point must lie within the pyramid of sight
    needed = np.maximum(np.abs(seen @ top), np.abs(seen @ side) / ASPECT)
    distance = needed / np.tan(FIELD_OF_VIEW / 2) + seen @ direction
    nearest = float(np.linalg.norm(seen, axis=1).max()) or 1.0
    eye = target + MARGIN * max(float(distance.max()), 1.5 * nearest) * direction
    return Camera(eye, target, up, FIELD_OF_VIEW)


def _direction(reached: Array, up: Array) -> Array:
    """From the target to the eye: oblique to the plane of the motion, from somewhat above."""
    spread, axes = _spread(reached)
    is_flat = spread[2] < FLAT * spread[1] and spread[1] > SLENDER * spread[0]
    level = axes[2] - (axes[2] @ up) * up
    if is_flat and np.linalg.norm(level) > 0.5:
        # an upright plane is seen from the side on which coordinates grow to the right
        right = np.cross(up, level)
        front = level / np.linalg.norm(level) * np.sign(right[np.argmax(np.abs(right))])
        turn, lift = -0.4, 0.28
    else:
        front = np.eye(3)[np.argmin(np.abs(up))]
        front = front - (front @ up) * up
        front /= np.linalg.norm(front)
        turn, lift = 0.6, 0.85 if is_flat else 0.42
    across = np.cos(turn) * front + np.sin(turn) * np.cross(up, front)
    return np.asarray(np.cos(lift) * across + np.sin(lift) * up)


def _spread(points: Array) -> tuple[Array, Array]:
    """Lengths of the cloud of points along its principal axes, longest first, and the axes."""
    centered = points - points.mean(axis=0)
    lengths, axes = np.linalg.eigh(centered.T @ centered)
    return np.sqrt(np.maximum(lengths[::-1], 0)), axes.T[::-1]
