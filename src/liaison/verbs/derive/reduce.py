"""Derive the equations of motion in independent velocities.

Public names: reduce.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from liaison.analyse.proofs.reduce import Reduction
from liaison.analyse.proofs.reduce import reduce as reduced
from liaison.arguments import checked
from liaison.errors import OptionError
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.keywords import ProofKeywords
from liaison.numeric.progress import working
from liaison.tree.tree import Tree
from liaison.verbs.given import Given, check_positive, exact_in_si, mechanism_or_tree


@checked
def reduce(
    given: Given | Tree,
    independent: Sequence[str] = (),
    *,
    at: Mapping[str, Any] | None = None,
    **options: Unpack[ProofKeywords],
) -> Reduction:
    """The equations of motion in independent velocities, without multipliers.

    Args:
        given: a mechanism, the path of its text, or a tree.
        independent: coordinates whose velocities are the unknowns; chosen if not given.
        at: positions and rates by label instead of its own starts [m, rad].
        **options: of `mobility`: order, primes, seed, time_limit [s], memory_limit [bytes].

    Example:
        >>> import liaison
        >>> reduction = liaison.reduction("examples/four_bar.lsd")
        >>> reduction.simulate(until=0.1).status
        'done'
    """
    OptionError.check("reduce", options, ProofKeywords.__annotations__)
    check_positive("reduce", order=options.get("order"), primes=options.get("primes"))
    mechanism = mechanism_or_tree(given)
    with collector_paused(), working("analyse", f"reducing {mechanism.name}"):
        return reduced(mechanism, independent, at=exact_in_si(mechanism, at, "at"), **options)
