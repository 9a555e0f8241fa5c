"""A mechanism made ready for the analysis of a run: with the run's own parameters and first state.

Public names: ready_along, values_of.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from liaison.analyse.along.along import check_of, state_of
from liaison.model.mechanism import Mechanism
from liaison.program.kernel import Kernel
from liaison.simulation.record.trajectory import Trajectory

from .given import Given, mechanism_of, with_values
from .ready import STILL, looped_identity, ready_for


def ready_along(given: Given, run: Trajectory, *, loops: bool = False) -> Kernel:
    """The machine code of a mechanism at the parameters and the first state of a run of it.

    Args:
        given: the mechanism, or the path of its text.
        run: of it.
        loops: entries of explicit runs are all that is needed: loops over nodes may do.

    Raises:
        SimulationError: the run is of another mechanism.
    """
    mechanism, values = mechanism_of(given), values_of(mechanism_of(given), run)
    evaluations = STILL if loops else None
    kernel, _ = ready_for(mechanism, state_of(run, 0), None, values, evaluations=evaluations)
    check_of(kernel.program, run)
    own = run.meta.get("equations")
    if own and own == looped_identity(with_values(mechanism, values)):
        # the run went by loops over the same equations
        facts = MappingProxyType({**kernel.program.facts, "identity": own})
        kernel.program = replace(kernel.program, facts=facts)
    return kernel


def values_of(mechanism: Mechanism, run: Trajectory) -> dict[str, float]:
    """Parameters of a mechanism as a run had them, by name."""
    known = {x.name for x in mechanism.parameters}
    return {k: x for k, x in run.meta.get("parameters", {}).items() if k in known}
