"""Evaluate the Jacobian of a point fixed on a body.

Public names: jacobian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from liaison.arguments import checked
from liaison.numeric import Array
from liaison.verbs.at_state import Positions, at_state, body_block, point_of
from liaison.verbs.given import Given, Value


@checked
def jacobian(
    given: Given,
    body: str,
    q: Positions = None,
    *,
    point: Sequence[float | str] = (0.0, 0.0, 0.0),
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Array:
    """J with (ω, velocity of a point) = J v + (motion imposed by time), shape (6, nv).

    Both are expressed in the ground's axes: three rows of ω [rad/s], three of the velocity of the
    point [m/s]. Columns of a closed loop are those of all velocities: choose a motion on the
    closures by the null space of G.

    Args:
        given: the mechanism, the path of its text, or the text.
        body: its name.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        point: fixed on the body, in the body's axes [m].
        t: time [s].
        parameters: other values of parameters, by name.

    Example:
        >>> import liaison
        >>> liaison.jacobian("examples/pendulum.lsd", "bar", {"A": 0.0}).shape
        (6, 1)
    """
    place = point_of("jacobian", point)
    state = at_state(given, q, t=t, parameters=parameters)
    R = body_block(state, "poses", body)[:9].reshape(3, 3)
    r = R @ place
    rest = np.zeros(state.nv + int(state.kernel.program.sizes.get("nc", 0)))
    twists = [
        body_block(replace(state, v=v), "motions", body, rest)[:6]
        for v in (np.zeros(state.nv), *np.eye(state.nv))
    ]
    columns = np.array(twists[1:]).reshape(state.nv, 6).T - twists[0][:, None]
    columns[3:] += np.cross(columns[:3].T, r).T
    return columns
