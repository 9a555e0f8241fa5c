"""First integrals of a mechanism, carried into a run.

Public names: with_invariants.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from liaison.analyse.proofs.first_integrals import FirstIntegral, first_integrals
from liaison.equations.equations import Equations
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import DerivationError
from liaison.expr.bind import to_floats
from liaison.tree.tree import Tree, span
from liaison.units import Label

LARGEST = 40
"""Velocities of a mechanism whose first integrals are looked for before a run."""


def with_invariants(equations: Equations, tree: Tree) -> Equations:
    """The equations with the first integrals of their mechanism, for a run to follow them.

    Of a mechanism with more than LARGEST velocities none is looked for, nor where something holds
    unilaterally: what is constant between two events need not be so through them.
    """
    integrals: Sequence[FirstIntegral] = ()
    if tree.nv <= LARGEST and not tree.mechanism.contacts:
        with suppress(DerivationError):
            exact = newton_euler(span(tree.mechanism, exact=True))
            integrals = first_integrals(exact, evidence=False)
    formulas = to_floats([x.formula for x in integrals]) if integrals else []
    named = {x.name: f for x, f in zip(integrals, formulas, strict=True)}
    labels = dict(equations.labels) | {
        "invariants": tuple(Label(x.name, x.unit) for x in integrals)
    }
    return replace(equations, invariants=MappingProxyType(named), labels=MappingProxyType(labels))
