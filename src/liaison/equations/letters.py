"""Letters for what a page names itself: λ₁ for a multiplier, M₁₁ for an entry of the mass matrix.

Where the mechanism has such names, another letter is taken, so that nothing is printed alike that
differs.

Public names: free_letter, names_in_use, multiplier_letter, multipliers_of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from liaison.expr.reading.names import unicode_name

from .equations import Equations, Symbols

NUMBERED, INDEXED = re.compile(r"[₀-₉]+(\.\w+)*"), re.compile(r"[₀-₉]*(\.\w+)*")


def names_in_use(symbols: Symbols) -> list[str]:
    """Names of coordinates, velocities, parameters and inputs."""
    return [str(x.a) for x in (*symbols.q, *symbols.v, *symbols.p, *symbols.u)]


def free_letter(in_use: Iterable[str], letters: str, *, alone: bool = False) -> str:
    """The first of the letters that no name is printed as, with a number behind it.

    Args:
        in_use: names of the mechanism.
        letters: separated by spaces, in the order of preference: "lambda mu".
        alone: none is printed as the letter alone, either: M is free only where M₁ and M are.
    """
    printed = [unicode_name(x.rstrip("'")) for x in in_use]
    index = INDEXED if alone else NUMBERED

    def is_free(letter: str) -> bool:
        head = unicode_name(letter)
        return not any(x.startswith(head) and index.fullmatch(x[len(head) :]) for x in printed)

    first = letters.split()[0]
    free = [x for x in letters.split() if is_free(x)]
    while not free:
        first += "_row"
        free = [first] if is_free(first) else []
    return free[0]


MULTIPLIERS = "lambda kappa Lambda"


def multiplier_letter(equations: Equations) -> str:
    """The letter of multipliers on a page."""
    return free_letter(names_in_use(equations.symbols), MULTIPLIERS, alone=True)


def multipliers_of(equations: Equations) -> list[str]:
    """lambda1, lambda2, …: names of multipliers on a page."""
    letter = multiplier_letter(equations)
    return [f"{letter}{k + 1}" for k in range(len(equations.symbols.lam))]
