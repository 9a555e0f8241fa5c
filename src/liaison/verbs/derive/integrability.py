"""Find velocity constraints that are integrable (holonomic).

Public names: integrability.
"""

from __future__ import annotations

from pathlib import Path

from liaison.analyse.proofs.integrability import Integrability
from liaison.analyse.proofs.integrability import integrability as integrability_of
from liaison.arguments import checked
from liaison.equations.equations import Equations
from liaison.equations.formalisms.lagrange import lagrange
from liaison.expr.graph.node import collector_paused
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import lasting
from liaison.tree.tree import Tree, span
from liaison.verbs.given import mechanism_or_tree


@lasting("equations")
@checked
def integrability(
    given: Equations | Mechanism | Tree | str | Path, *, seed: int = 0
) -> Integrability:
    """Which velocity constraints are nonholonomic, and which are integrable (holonomic).

    Args:
        given: a mechanism, the path of its text, the text, a tree, or equations with exact
            numbers: `derive(…, exact=True)`.
        seed: of the positions and primes at which they are examined.

    Example:
        >>> import liaison
        >>> liaison.integrability("examples/chaplygin.lsd").is_holonomic
        False
    """
    if isinstance(given, Equations):
        return integrability_of(given, seed=seed)
    with collector_paused():
        return integrability_of(lagrange(span(mechanism_or_tree(given), exact=True)), seed=seed)
