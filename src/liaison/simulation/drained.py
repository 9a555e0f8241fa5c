"""Drained: rows that were taken out of the buffers of a run, in their order.

Public names: Drained.
"""

from __future__ import annotations

from typing import final

import numpy as np

from liaison.numeric import Array
from liaison.simulation.steps.layout import Arrays, Run

COUNTED = Run.slots("recorded", "happened", "recorded_before", "happened_before")
"""They change together, all or none, should Ctrl-C come then."""


@final
class Drained:
    """Recorded rows (t, q, v, u) and rows of events (number, t, q, v), each by those before it."""

    def __init__(self) -> None:
        self._rows: dict[int, Array] = {}
        self._happened: dict[int, Array] = {}

    def take(self, arrays: Arrays) -> None:
        """Empties the buffers; repeated after an interruption, it takes each row once."""
        run = arrays.run
        recorded, happened = int(run.recorded), int(run.happened)
        if not (recorded or happened) and self._rows and self._happened:
            return
        numbers = int(run.nq) + int(run.nv)
        before, happened_before = int(run.recorded_before), int(run.happened_before)
        _copy(arrays.records, recorded, 1 + numbers + int(run.nu), before, self._rows)
        _copy(arrays.happened, happened, 2 + numbers, happened_before, self._happened)
        run.ints[COUNTED] = 0, 0, before + recorded, happened_before + happened

    @property
    def rows(self) -> Array:
        """Recorded rows so far."""
        return _joined(self._rows)

    @property
    def happened(self) -> Array:
        """Rows of events so far."""
        return _joined(self._happened)

    def forget_happened(self, arrays: Arrays) -> None:
        """Rows of events are counted from here on."""
        self._happened = {0: self.happened[:0]}
        arrays.run.happened_before = 0

    def restore(self, rows: Array, happened: Array) -> None:
        """Takes up from rows of a checkpoint."""
        self._rows, self._happened = {0: rows}, {0: happened}


def _copy(buffer: Array, count: int, size: int, before: int, taken: dict[int, Array]) -> None:
    if count or not taken:
        taken[before] = buffer[: count * size].reshape(count, size).copy()


def _joined(taken: dict[int, Array]) -> Array:
    return np.concatenate([taken[k] for k in sorted(taken)]) if len(taken) > 1 else taken[0]
