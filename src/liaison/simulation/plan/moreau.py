"""What time stepping with contacts needs before a run: the table of blocks, tolerances, refusals.

Public names: fill_moreau.
"""

from __future__ import annotations

from liaison.errors import SimulationError
from liaison.program import Program
from liaison.simulation.events.happenings import sides_in
from liaison.simulation.steps.layout import Arrays
from liaison.simulation.steps.sides_layout import KINDS, LAWS

GAP = 1e-13
"""Penetration that is left alone [m]."""


def fill_moreau(arrays: Arrays, program: Program, theta: float | None = None) -> None:
    """The table of blocks, and the numbers of the scheme.

    Raises:
        SimulationError: a law of friction that steps of fixed size cannot take.
    """
    run = arrays.run
    run.theta, run.gap_tolerance = 0.5 if theta is None else theta, GAP
    for k, (name, _, kind, first, rows, load, law) in enumerate(sides_in(program)):
        if law == "regularized" or k in program.facts.get("bearings", ()):
            why = "is regularized" if law == "regularized" else "depends on what a joint transmits"
            raise SimulationError(
                f"method 'moreau' does not take {name!r}: its friction {why}.",
                hint="It takes Coulomb's and Stribeck's, bounded by a contact or by a formula; "
                "the default method takes all.",
            )
        run.blocks.ints[k] = KINDS[kind], first, rows, load, LAWS[law]
