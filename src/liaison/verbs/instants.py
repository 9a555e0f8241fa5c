"""Instants of a run: every period, or a list.

Public names: instants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from liaison.errors import SimulationError

CLOSE = 1e-9
"""Part of a period within which the last instant is a whole number of them away."""


def instants(first: float, last: float, every: float | Sequence[float]) -> Sequence[float]:
    """Every period from first on, and the last one [s]; or the listed instants.

    Raises:
        SimulationError: the period is not positive, or the last instant is before the first.
    """
    if not isinstance(every, int | float):
        return every
    if not (every > 0 and math.isfinite(last) and last >= first):
        raise SimulationError(
            f"instants every {every:g} s from {first:g} to {last:g} s: the period must be "
            "positive, and the last instant not before the first."
        )
    count = math.ceil((last - first) / every - CLOSE)
    return [*(first + k * every for k in range(count)), last]
