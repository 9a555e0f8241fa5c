"""Differentiate a run with respect to parameters.

Public names: sensitivities.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.analyse.along.sensitivities import Sensitivities
from liaison.analyse.along.sensitivities import sensitivities as sensitivities_of
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given
from liaison.verbs.ready import ready_along


def sensitivities(given: Given, run: Trajectory, parameters: Sequence[str] = ()) -> Sensitivities:
    """How a run changes with parameters of its mechanism: see `analyse.sensitivities`."""
    kernel = ready_along(given, run)
    return sensitivities_of(kernel, run, parameters)
