"""Find first integrals of the motion.

Public names: first_integrals.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from liaison.analyse.proofs.first_integrals import FirstIntegral
from liaison.analyse.proofs.first_integrals import first_integrals as integrals_of
from liaison.arguments import checked
from liaison.equations.equations import Equations
from liaison.equations.formalisms.lagrange import lagrange
from liaison.equations.reading_order import order_of, squares_of
from liaison.errors import DerivationError
from liaison.expr.graph.node import collector_paused
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import lasting
from liaison.tree.tree import Tree, span
from liaison.verbs.given import mechanism_or_tree


@lasting("equations")
@checked
def first_integrals(
    given: Mechanism | Tree | str | Path, *, seed: int = 0
) -> tuple[FirstIntegral, ...]:
    """What stays constant whatever the motion: energies, momenta, each proved exactly.

    Args:
        given: a mechanism, the path of its text, the text, or a tree.
        seed: of the states and primes at which each is proved.

    Raises:
        DerivationError: the mechanism has a unilateral constraint.

    Example:
        >>> import liaison
        >>> [x.name for x in liaison.first_integrals("examples/elliptic_pendulum.lsd")]
        ['energy', 'momentum of y']
    """
    with collector_paused():
        mechanism = mechanism_or_tree(given)
        if mechanism.contacts:
            raise DerivationError(
                f"{mechanism.contacts[0].name!r} is unilateral: what stays constant "
                "between two events need not do so through them.",
                hint="Leave it out, or require its limit with '=', to ask about one mode.",
                place=mechanism.contacts[0].place,
            )
        equations = lagrange(span(mechanism, exact=True))
        return tuple(_short(x, equations) for x in integrals_of(equations, seed=seed))


def _short(integral: FirstIntegral, equations: Equations) -> FirstIntegral:
    """The same with a short formula, where there is one."""
    try:
        reading = simplified(integral.formula, order_of(equations), squares_of(equations))
    except TooLarge:
        return integral
    return replace(integral, formula=to_expr(reading))
