"""Instants of a run: every period, or a list.

Public names: instants.
"""

from __future__ import annotations

from collections.abc import Sequence


def instants(first: float, last: float, every: float | Sequence[float]) -> Sequence[float]:
    """Every period from first to last [s], or the listed instants."""
    if isinstance(every, int | float):
        count = max(1, round((last - first) / every))
        return [first + (last - first) * k / count for k in range(count + 1)]
    return every
