"""Print the kinetic energy by degrees in the velocities.

Public names: energy_parts.
"""

from __future__ import annotations

from liaison.analyse.proofs.energy_parts import EnergyParts
from liaison.analyse.proofs.energy_parts import energy_parts as parts_of
from liaison.equations.formalisms.lagrange import lagrange
from liaison.errors import checked
from liaison.expr.graph.node import collector_paused
from liaison.tree.tree import span
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.gravity import with_named_gravity
from liaison.verbs.registry import command


@command
@checked
def energy_parts(given: Given) -> EnergyParts:
    """T₂, T₁ and T₀: the kinetic energy by degrees in the velocities, imposed motions put in.

    Args:
        given: the mechanism, the path of its text, or the text.
    """
    with collector_paused():
        tree = span(with_named_gravity(mechanism_of(given)), exact=True)
        return parts_of(lagrange(tree))
