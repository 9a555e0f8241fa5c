"""Print every proved statement of a mechanism, with evidence.

Public names: evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from liaison.errors import AssemblyError, DerivationError, checked
from liaison.exact.evidence import Evidence, Proofs
from liaison.verbs.derive.compare import compare
from liaison.verbs.derive.first_integrals import first_integrals
from liaison.verbs.derive.integrability import integrability
from liaison.verbs.freedoms.mobility import mobility
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.registry import command


@command
@checked
def evidence(given: Given, *, seed: int = 0) -> Proofs:
    """Every statement that is proved of a mechanism, or likely, with its evidence.

    Mobility, redundant closures and reactions; first integrals; integrability of velocity
    constraints; equivalence of the formalisms.

    Args:
        given: the mechanism, the path of its text, or the text.
        seed: of everything that is drawn.
    """
    mechanism = mechanism_of(given)
    parts: dict[str, Callable[[], Sequence[Evidence]]] = {
        "mobility": lambda: mobility(mechanism, seed=seed).evidence,
        "first integrals": lambda: [
            x.evidence for x in first_integrals(mechanism, seed=seed) if x.evidence
        ],
        "integrability": lambda: integrability(mechanism, seed=seed).evidence,
        "formalisms": lambda: compare(mechanism, seed=seed, timed=False).evidence,
    }
    missing: list[str] = []

    def examined() -> Iterator[Evidence]:
        for name, statements in parts.items():
            try:
                yield from statements()
            except (DerivationError, AssemblyError) as error:
                missing.append(f"{name}: {error.message.rstrip('.')}")

    statements = tuple(examined())
    return Proofs(mechanism.name, statements, tuple(missing))
