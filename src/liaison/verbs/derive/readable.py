"""Derive equations of motion for reading.

Public names: readable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from liaison.analyse.proofs.first_integrals import first_integrals
from liaison.analyse.proofs.integrability import integrability
from liaison.arguments import checked
from liaison.equations.equations import curved_rows
from liaison.equations.formalisms.lagrange import lagrange
from liaison.equations.readable.readable import Readable
from liaison.equations.readable.readable import readable as read_equations
from liaison.equations.readable.treated import readable_treated
from liaison.equations.reading_order import order_of, squares_of
from liaison.expr.graph.node import collector_paused
from liaison.expr.reading.reading import Name, Reading
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import lasting
from liaison.tree.tree import as_float, span
from liaison.verbs.given import mechanism_of
from liaison.verbs.gravity import with_named_gravity

from .derive import derive


@lasting("equations")
@checked
def readable(
    given: Mechanism | str | Path,
    formalism: str = "lagrange",
    *,
    integrals: bool = True,
    modes: Mapping[str, str] | None = None,
    parametrization: str = "joint",
    treatment: Mapping[str, str] | None = None,
) -> Readable:
    """The equations of motion of a mechanism, short, for reading.

    A free fall along one axis is called g.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalism: by name.
        integrals: find what stays constant, too; not with unilateral constraints, whose
            forces come and go.
        modes: of unilateral constraints: "open" or "closed" by the name of a contact or a
            relation, "sticks" or "slips" by that of its friction, as {"floor": "closed", "floor:
            sliding": "slips"}; what is not named is open, or sticks. All modes if not given.
        parametrization: coordinates: minimal, joint, full_joint or cartesian; integrals are
            written in those of joints only.
        treatment: name of a joint or relation -> eliminate, multiplier or reaction.

    Example:
        >>> import liaison
        >>> print(liaison.readable("examples/pendulum.lsd").text().splitlines()[5])
          A: 2 l A'' + 3 g sin(A) = 0      (multiplied by 6/(m l))
    """
    mechanism = with_named_gravity(mechanism_of(given))
    if parametrization == "joint" and not treatment:
        equations = derive(mechanism, formalism, exact=True)
        equations_read = read_equations(equations, span(mechanism, exact=True), modes=modes)
    else:
        equations = derive(
            mechanism, formalism, exact=True, parametrization=parametrization, treatment=treatment
        )
        is_treated = "treatment" in equations.native
        equations_read = readable_treated(equations) if is_treated else read_equations(equations)
    coordinates = {label.name for label in equations.labels["q"]}
    tree_labels = {label.name for label in span(mechanism).position_labels()}
    is_by_joints = integrals and tree_labels <= coordinates
    first = tuple(_integrals(mechanism)) if is_by_joints and not mechanism.contacts else ()
    notes = (*equations_read.notes, *_rows(mechanism)) if is_by_joints else equations_read.notes
    return replace(equations_read, values=tuple(_values(mechanism)), integrals=first, notes=notes)


def _rows(mechanism: Mechanism) -> Iterator[str]:
    """Notes on velocity constraints: nonholonomic, or integrable to positions."""
    equations = lagrange(span(mechanism, exact=True))
    if len(equations.closures.phi) == len(equations.closures.gamma):
        return
    if curved_rows(equations):
        return
    order = order_of(equations)
    for row in integrability(equations).rows:
        if row.integral is not None:
            text = to_unicode(simplified(row.integral, order))
            yield f"{row.name} is a holonomic constraint in integrated form: {text} = const."
        elif row.is_integrable:
            yield f"{row.name} is integrable (Frobenius): a holonomic constraint."
        else:
            word = "is not" if row.is_proved else "is likely not"
            yield f"{row.name} {word} integrable (Frobenius): a true condition on velocities."


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
