"""Starts that follow from starts: through couplings, and from laws of time.

Assembling moves coordinates a little at a time; a rotor behind a gear may be many turns away.

Public names: followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.expr import Expr, as_expr, evaluate
from liaison.model import Coupling, Mechanism, PrescribedMotion


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

    known, size = dict(given), -1
    for x in mechanism.constraints:
        if isinstance(x, PrescribedMotion):
            known.setdefault(x.coordinate, value(x.law))
    couplings = [
        (x, value(x.ratio), value(x.offset))
        for x in mechanism.constraints
        if isinstance(x, Coupling)
    ]
    while size < len(known):
        size = len(known)
        for x, ratio, offset in couplings:
            if x.other in known:
                known.setdefault(x.coordinate, ratio * known[x.other] + offset)
            elif x.coordinate in known and ratio:
                known[x.other] = (known[x.coordinate] - offset) / ratio
    return known
