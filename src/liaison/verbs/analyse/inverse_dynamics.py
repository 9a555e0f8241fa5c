"""Find the efforts of drives that bring about a motion.

Public names: inverse_dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.analyse.along.inverse_motion import Efforts
from liaison.analyse.along.inverse_motion import inverse_dynamics as efforts_along
from liaison.numeric import Array
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given
from liaison.verbs.ready import ready_along


def inverse_dynamics(
    given: Given, run: Trajectory, drives: Sequence[str], *, accelerations: Array | None = None
) -> Efforts:
    """The efforts of drives that bring about a motion: see `analyse.inverse_dynamics`.

    Args:
        given: the mechanism, or the path of its text.
        run: the motion.
        drives: coordinates that are driven.
        accelerations: along the run, one row an instant; of the run itself if not given.
    """
    kernel = ready_along(given, run)
    return efforts_along(kernel, run, drives, accelerations=accelerations)
