"""Gravity with a name: g in the place of its number, for reading.

Public names: with_named_gravity.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from liaison.expr.graph.node import Expr, symbol
from liaison.model.loads.gravity import Gravity
from liaison.model.mechanism import Mechanism
from liaison.model.records import Parameter


def with_named_gravity(mechanism: Mechanism) -> Mechanism:
    """The mechanism with g for its free fall, where that is a number along one axis."""
    falls = [force for force in mechanism.forces if isinstance(force, Gravity)]
    in_use = {x.name for x in (*mechanism.parameters, *mechanism.inputs)} | set(
        mechanism.coordinates
    )
    if len(falls) != 1 or "g" in in_use:
        return mechanism
    vector = falls[0].vector
    along = [k for k in range(3) if isinstance(vector[k], Expr) or vector[k] != 0]
    if len(along) != 1 or isinstance(vector[along[0]], Expr):
        return mechanism
    (k,) = along
    g = symbol("g")
    named: list[Any] = [0, 0, 0]
    named[k] = g if vector[k] > 0 else -g
    fall = replace(falls[0], vector=tuple(named))
    forces = tuple(fall if force is falls[0] else force for force in mechanism.forces)
    size = Parameter("g", abs(vector[k]), "m/s²")
    return replace(mechanism, forces=forces, parameters=(*mechanism.parameters, size))
