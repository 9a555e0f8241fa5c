"""Evaluate where a body is, as a homogeneous matrix.

Public names: pose.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liaison.arguments import checked
from liaison.numeric import Array
from liaison.verbs.at_state import Positions, at_state, body_block
from liaison.verbs.given import Given, Value


@checked
def pose(
    given: Given,
    body: str,
    q: Positions = None,
    *,
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Array:
    """The pose X_WB of a body in the ground, shape (4, 4): rotation, and position [m].

    A point with coordinates r in the body's axes lies at X[:3, :3] @ r + X[:3, 3].

    Args:
        given: the mechanism, the path of its text, or the text.
        body: its name.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        t: time [s].
        parameters: other values of parameters, by name.

    Example:
        >>> import liaison
        >>> liaison.pose("examples/pendulum.lsd", "bar", {"A": 0.0})[:3, 3]
        array([0., 0., 0.])
    """
    block = body_block(at_state(given, q, t=t, parameters=parameters), "poses", body)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = block[:9].reshape(3, 3), block[9:]
    return matrix
