"""Equations of motion for people: short, with the values of their names and what stays constant.

Public names: readable, with_named_gravity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from liaison.analyse.proofs.integrability import integrability
from liaison.equations.readable.readable import Readable, order_of, squares_of
from liaison.equations.readable.readable import readable as read_equations
from liaison.expr.reading.reading import Name, Reading
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.formats.read import read
from liaison.model.records import Parameter

from .analyse import first_integrals
from .corridor import derive
from .equations import lagrange
from .expr import Expr, collector_paused, symbol
from .model import Gravity, Mechanism
from .tree import as_float, span


def readable(
    given: Mechanism | str | Path,
    formalism: str = "lagrange",
    *,
    integrals: bool = True,
    modes: Mapping[str, str] | None = None,
) -> Readable:
    """The equations of motion of a mechanism, short, for reading.

    A free fall along one axis is called g.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalism: by name.
        integrals: find what stays constant, too; not where something holds on one side only, which
            pushes now and then.
        modes: of what holds on one side only: "open" or "closed" by the name of a contact or a
            relation, "sticks" or "slips" by that of its friction, as {"floor": "closed", "floor:
            sliding": "slips"}; what is not named is open, or sticks. All modes if not given.
    """
    mechanism = with_named_gravity(given if isinstance(given, Mechanism) else read(given))
    equations = derive(mechanism, formalism, exact=True)
    found = read_equations(equations, span(mechanism, exact=True), modes=modes)
    kept = tuple(_integrals(mechanism)) if integrals and not mechanism.contacts else ()
    notes = (*found.notes, *_rows(mechanism)) if integrals else found.notes
    return replace(found, values=tuple(_values(mechanism)), integrals=kept, notes=notes)


def _rows(mechanism: Mechanism) -> Iterator[str]:
    """What rows of velocities are: true ones, or positions in disguise."""
    equations = lagrange(span(mechanism, exact=True))
    if len(equations.closures.phi) == len(equations.closures.gamma):
        return
    order = order_of(equations)
    for row in integrability(equations).rows:
        if row.integral is not None:
            told = to_unicode(simplified(row.integral, order))
            yield f"{row.name} is a condition on positions in disguise: {told} = const."
        elif row.is_integrable:
            yield f"{row.name} is integrable (Frobenius), a condition on positions in disguise."
        else:
            yield f"{row.name} is not integrable (Frobenius): a true condition on velocities."


def _integrals(mechanism: Mechanism) -> Iterator[tuple[str, Reading, str]]:
    """First integrals that can be read, short."""
    with collector_paused():
        equations = lagrange(span(mechanism, exact=True))
        order, squares = order_of(equations), squares_of(equations)
        for x in first_integrals(equations):
            try:
                yield x.name, simplified(x.formula, order, squares), x.reason
            except TooLarge:
                yield x.name, Name("…"), f"{x.reason}; its formula is too long to be read"


def _values(mechanism: Mechanism) -> list[tuple[str, str]]:
    return [
        (x.name, f"{float(as_float(x.value)):.10g} {x.unit}".rstrip())
        for x in mechanism.parameters
        if x.value is not None
    ]


def with_named_gravity(mechanism: Mechanism) -> Mechanism:
    """The mechanism with g for its free fall, where that is a number along one axis."""
    falls = [force for force in mechanism.forces if isinstance(force, Gravity)]
    taken = {x.name for x in (*mechanism.parameters, *mechanism.inputs)} | set(
        mechanism.coordinates
    )
    if len(falls) != 1 or "g" in taken:
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
