"""Bodies: free rigid bodies of a scene, with the balls and points on them.

Public names: Bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array


@final
@dataclass(frozen=True, slots=True)
class Bodies:
    """Free rigid bodies: what they weigh, where they are, and the balls and points on them.

    Attributes:
        names: of the bodies.
        mass: shape (n,) [kg].
        inertia: about the center of mass, in the body's axes, shape (n, 3, 3) [kg m²].
        pose: place of the center of mass and quaternion (w, x, y, z), shape (n, 7).
        speed: ω and velocity of the center of mass, in the axes of the ground, shape (n, 6).
        owner: body of each ball or point, shape (m,).
        ball: center on its body, from the center of mass, and radius (0: a point), shape (m, 4).
        frame: [R | p] of the frame that poses are told of, from the center of mass, shape
            (n, 3, 4); None: axes of the inertia, at the center of mass.
    """

    names: tuple[str, ...]
    mass: Array
    inertia: Array
    pose: Array
    speed: Array
    owner: NDArray[np.int64]
    ball: Array
    frame: Array | None = None
