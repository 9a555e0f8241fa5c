"""Starts that follow from starts: through couplings, and from laws of time.

Assembling moves coordinates a little at a time; a rotor behind a gear may be many turns away.

Public names: followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.expr import Expr, as_expr, evaluate
from liaison.model import Mechanism, OfCoordinates


def followed(
    mechanism: Mechanism, given: Mapping[str, float], fixed: Mapping[Expr, float]
) -> dict[str, float]:
    """Positions that are given, with what laws and couplings make of them.

    Args:
        mechanism: whose relations they are.
        given: positions by label; they stay as they are.
        fixed: the time and the parameters.
    """

    def value(x: Any) -> float:
        return float(evaluate([as_expr(x)], dict(fixed))[0])

    relations = [x for x in mechanism.constraints if isinstance(x, OfCoordinates)]
    alone = [x.implied({}, value) for x in relations]
    known, size = dict(given), -1
    for found in alone:
        for label, number in found.items():
            known.setdefault(label, number)
    linked = [x for x, found in zip(relations, alone, strict=True) if not found]
    while size < len(known):
        size = len(known)
        for x in linked:
            for label, number in x.implied(known, value).items():
                known.setdefault(label, number)
    return known
