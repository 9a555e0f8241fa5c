"""One mechanism in every formalism, or in several parametrizations: the verbs that compare.

Public names: compare, parametrizations.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from liaison.analyse.compare.compare import Comparison
from liaison.analyse.compare.compare import compare as compare_mechanism
from liaison.analyse.compare.parametrizations import Parametrizations
from liaison.analyse.compare.parametrizations import parametrizations as measured

from .corridor import Given, mechanism_of


def compare(given: Given, formalisms: Iterable[str] | None = None, **options: Any) -> Comparison:
    """Derives a mechanism in every formalism, and proves that all of them say the same.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalisms: names; all if not given.
        **options: seed (of what is drawn), points (primes that must agree), timed (measure an
            evaluation in machine code, too).

    Returns:
        A table that prints; `rows` are its lines, `all_proved` the answer.
    """
    return compare_mechanism(mechanism_of(given), formalisms, **options)


def parametrizations(given: Given, **options: Any) -> Parametrizations:
    """A mechanism in minimal, joint, full joint and Cartesian coordinates, compared by measuring.

    Args:
        given: the mechanism, the path of its text, or the text.
        **options: names (of parametrizations), formalism; until and step, for the drift [s].

    Returns:
        A table that prints; `table["cartesian"].constraints` and the like are its entries.
    """
    return measured(mechanism_of(given), **options)
