"""Print every proved statement of a mechanism, with evidence.

Public names: evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liaison.analyse.compare.compare import compare
from liaison.analyse.proofs.first_integrals import first_integrals
from liaison.analyse.proofs.integrability import integrability
from liaison.arguments import checked
from liaison.equations.equations import Equations
from liaison.equations.formalisms.lagrange import lagrange
from liaison.errors import AssemblyError, DerivationError
from liaison.exact.evidence import Evidence, Proofs
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.mobility import mobility
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import lasting
from liaison.tree.tree import span
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.registry import command


@command
@lasting("analyse")
@checked
def evidence(given: Given, *, seed: int = 0) -> Proofs:
    """Every statement that is proved of a mechanism, or likely, with its evidence.

    Mobility, redundant closures and reactions; first integrals; integrability of velocity
    constraints; equivalence of the formalisms.

    Args:
        given: the mechanism, the path of its text, or the text.
        seed: of everything that is drawn.

    Example:
        >>> import liaison
        >>> proofs = liaison.evidence("examples/elliptic_pendulum.lsd")
        >>> type(proofs).__name__
        'Proofs'
    """
    mechanism = mechanism_of(given)
    statements: list[Evidence] = []
    missing: list[str] = []
    for name, examine in _parts(mechanism, seed).items():
        try:
            with collector_paused():
                statements += examine()
        except (DerivationError, AssemblyError) as error:
            missing.append(f"{name}: {error.message.rstrip('.')}")
    if mechanism.contacts:
        missing.append("first integrals: what is constant between two impacts may change in them")
    return Proofs(mechanism.name, tuple(statements), tuple(missing))


def _parts(mechanism: Mechanism, seed: int) -> dict[str, Callable[[], Sequence[Evidence]]]:
    """What is examined, by name."""

    def equations() -> Equations:
        return lagrange(span(mechanism, exact=True))

    def integrals() -> list[Evidence]:
        constant = () if mechanism.contacts else first_integrals(equations(), seed=seed)
        return [x.evidence for x in constant if x.evidence is not None]

    return {
        "mobility": lambda: mobility(mechanism, seed=seed).evidence,
        "first integrals": integrals,
        "integrability": lambda: integrability(equations(), seed=seed).evidence,
        "formalisms": lambda: compare(mechanism, seed=seed, timed=False).evidence,
    }
