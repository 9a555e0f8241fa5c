"""What time stepping with contacts needs before a run: the table of blocks, tolerances, refusals.

Public names: sides_in, fill_moreau.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import SimulationError
from liaison.program import Program

from . import layout as at
from .layout import Arrays

KINDS = {"gap": 0, "rate": 1, "friction": 2}
LAWS = {"coulomb": 0, "stribeck": 1}
GAP = 1e-13
"""Penetration that is left alone [m]."""


def sides_in(program: Program) -> tuple[tuple[Any, ...], ...]:
    """Blocks that hold on one side only: (name, owner, kind, first row, rows, load, law)."""
    return tuple(program.facts.get("sides", ()))


def fill_moreau(arrays: Arrays, program: Program) -> None:
    """The table of blocks, and the numbers of the scheme.

    Raises:
        SimulationError: a law of friction that steps of fixed size cannot take.
    """
    w, n = arrays.w, arrays.n
    w[at.THETA], w[at.GAP_TOLERANCE] = 0.5, GAP
    for k, (name, _, kind, first, rows, load, law) in enumerate(sides_in(program)):
        if law not in LAWS:
            raise SimulationError(
                f"method 'moreau' does not take the {law} friction of {name!r}.",
                hint="It takes Coulomb's and Stribeck's; the default method takes all.",
            )
        start = n[at.M_SIDES] + 5 * k
        n[start : start + 5] = KINDS[kind], first, rows, load, LAWS[law]
