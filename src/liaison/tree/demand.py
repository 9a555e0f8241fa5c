"""Which joint coordinates somebody uses: they must exist even where the joint is cut.

Public names: coordinates_in_use.
"""

from __future__ import annotations

from collections.abc import Iterator

from liaison.expr import Expr, symbols_of
from liaison.model import Mechanism


def coordinates_in_use(mechanism: Mechanism) -> frozenset[str]:
    """Names of the joints whose coordinates or rates a load, relation, output or start names."""
    used = {name.rstrip("'") for name in _names(mechanism)}
    return frozenset(
        joint.name
        for joint in mechanism.joints
        if used & {label.rstrip("'") for label in (*joint.coordinates, *joint.speeds)}
    )


def _names(mechanism: Mechanism) -> Iterator[str]:
    """Every name by which the mechanism's records may speak of a coordinate."""
    formulas = [output.formula for output in mechanism.outputs]
    formulas += [event.formula for event in mechanism.events]
    for force in mechanism.forces:
        yield from force.labels()
        formulas += force.formulas()
    for constraint in mechanism.constraints:
        yield from constraint.labels()
        formulas += constraint.formulas()
    for start in mechanism.starts:
        yield start.label
    for symbol in symbols_of([f for f in formulas if isinstance(f, Expr)]):
        yield symbol.name
