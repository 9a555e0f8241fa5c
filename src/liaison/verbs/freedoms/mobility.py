"""Compute degrees of freedom exactly, with what is proved.

Public names: mobility.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.errors import NamingError, OptionError, interruptible
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.degrees import Mobility
from liaison.freedoms.keywords import ProofKeywords
from liaison.freedoms.mobility import mobility as examine
from liaison.numeric.progress import working
from liaison.tree.tree import Tree
from liaison.verbs.given import Given, check_positive, exact_in_si, mechanism_or_tree


@checked
def mobility(
    given: Given | Tree,
    *,
    at: Mapping[str, Any] | None = None,
    **options: Unpack[ProofKeywords],
) -> Mobility:
    """Degrees of freedom of a mechanism in its assembled position, and what of it is proved.

    Args:
        given: a mechanism, the path of its text, or a tree.
        at: positions by label instead of its own starts [m, rad], exact where they can be.
        **options: order (of series, for a proof), primes (how many must agree), seed,
            time_limit [s], memory_limit [bytes].

    Example:
        >>> import liaison
        >>> result = liaison.mobility("examples/four_bar.lsd")
        >>> result.finite, result.is_proved
        ((1, 1), True)
    """
    OptionError.check("mobility", options, ProofKeywords.__annotations__)
    check_positive("mobility", order=options.get("order"), primes=options.get("primes"))
    mechanism = mechanism_or_tree(given)
    known = set(mechanism.coordinates)
    for name in at or {}:
        if name not in known:
            raise NamingError.unknown("coordinate", name, known)
    work = working("freedoms", f"mobility of {mechanism.name}")
    with interruptible("the computation of mobility"), collector_paused(), work:
        return examine(mechanism, at=exact_in_si(mechanism, at, "at"), **options)
