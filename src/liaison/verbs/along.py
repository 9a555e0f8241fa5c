"""A mechanism made ready for the analysis of a run: with the run's own parameters and first state.

Public names: ready_along, values_of.
"""

from __future__ import annotations

from liaison.analyse.along.along import check_of, state_of
from liaison.model.mechanism import Mechanism
from liaison.program.kernel import Kernel
from liaison.simulation.record.trajectory import Trajectory

from .given import Given, mechanism_of
from .ready import ready_for


def ready_along(given: Given, run: Trajectory) -> Kernel:
    """The machine code of a mechanism at the parameters and the first state of a run of it.

    Raises:
        SimulationError: the run is of another mechanism.
    """
    mechanism = mechanism_of(given)
    kernel, _ = ready_for(mechanism, state_of(run, 0), None, values_of(mechanism, run))
    check_of(kernel.program, run)
    return kernel


def values_of(mechanism: Mechanism, run: Trajectory) -> dict[str, float]:
    """Parameters of a mechanism as a run had them, by name."""
    known = {x.name for x in mechanism.parameters}
    return {k: x for k, x in run.meta.get("parameters", {}).items() if k in known}
