"""First integrals of a mechanism, and equations that carry them into a run.

Public names: first_integrals, integrability, with_invariants.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from liaison.analyse.proofs.integrability import Integrability
from liaison.analyse.proofs.integrability import integrability as integrability_of
from liaison.equations.readable.readable import order_of, squares_of
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.formats.read import read

from .analyse import FirstIntegral
from .analyse import first_integrals as integrals_of
from .equations import Equations, lagrange
from .errors import DerivationError
from .expr import collector_paused, to_floats
from .model import Mechanism
from .tree import Tree, span
from .units import Label

LARGEST = 40
"""Velocities of a mechanism whose first integrals are looked for before a run."""


def first_integrals(given: Mechanism | Tree | str | Path) -> tuple[FirstIntegral, ...]:
    """What stays constant whatever the motion: energies, momenta, each proved exactly.

    Args:
        given: a mechanism, the path of its text, the text, or a tree.

    Raises:
        DerivationError: something holds on one side only, and pushes now and then.
    """
    with collector_paused():
        mechanism = _mechanism(given)
        if mechanism.contacts:
            raise DerivationError(
                f"{mechanism.contacts[0].name!r} holds on one side only: what stays constant "
                "between two events need not do so through them.",
                hint="Leave it out, or require its limit with '=', to ask about one mode.",
                place=mechanism.contacts[0].place,
            )
        equations = _exactly(mechanism)
        return tuple(_short(x, equations) for x in integrals_of(equations))


def integrability(given: Equations | Mechanism | Tree | str | Path) -> Integrability:
    """Which rows of velocities are true ones, and which are positions in disguise.

    Args:
        given: a mechanism, the path of its text, the text, a tree, or equations with exact
            numbers: `derive(…, exact=True)`.
    """
    if isinstance(given, Equations):
        return integrability_of(given)
    with collector_paused():
        return integrability_of(_exactly(given))


def _mechanism(given: Mechanism | Tree | str | Path) -> Mechanism:
    found = given.mechanism if isinstance(given, Tree) else given
    return found if isinstance(found, Mechanism) else read(found)


def _exactly(given: Mechanism | Tree | str | Path) -> Equations:
    """Lagrange's equations with exact numbers."""
    return lagrange(span(_mechanism(given), exact=True))


def _short(found: FirstIntegral, equations: Equations) -> FirstIntegral:
    """The same with a short formula, where there is one."""
    try:
        reading = simplified(found.formula, order_of(equations), squares_of(equations))
    except TooLarge:
        return found
    return replace(found, formula=to_expr(reading))


def with_invariants(equations: Equations, tree: Tree) -> Equations:
    """The equations with the first integrals of their mechanism, for a run to follow them.

    Of a mechanism with more than LARGEST velocities none is looked for.
    """
    found: Sequence[FirstIntegral] = ()
    if tree.nv <= LARGEST:
        with suppress(DerivationError):
            found = first_integrals(tree)
    formulas = to_floats([x.formula for x in found]) if found else []
    named = {x.name: f for x, f in zip(found, formulas, strict=True)}
    labels = dict(equations.labels) | {"invariants": tuple(Label(x.name, x.unit) for x in found)}
    return replace(equations, invariants=MappingProxyType(named), labels=MappingProxyType(labels))
