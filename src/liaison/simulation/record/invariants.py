"""First integrals along a run, as measures of its error.

Public names: Invariant, invariants_of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.errors import SimulationError

from .series import Array, Series


@final
@dataclass(frozen=True, slots=True, eq=False)
class Invariant:
    """What should stay as it was at the beginning.

    Attributes:
        values: at every instant.
        unit: of the values.
    """

    values: Array
    unit: str

    @property
    def drift(self) -> float:
        """The largest change since the beginning, in its unit."""
        return float(np.max(np.abs(self.values - self.values[0])))


def invariants_of(series: Mapping[str, Series]) -> dict[str, Invariant]:
    """The series of invariants by name.

    Raises:
        SimulationError: the run was not asked for them.
    """
    if "invariants" not in series:
        raise SimulationError(
            "this run has no invariants.",
            status="inconsistent",
            hint="Ask for them: simulate(mechanism, until=…, invariants=True).",
        )
    found = series["invariants"]
    (names,) = found.axes.values()
    units = found.unit if isinstance(found.unit, tuple) else (found.unit,) * len(names)
    return {n: Invariant(found.values[:, k], units[k]) for k, n in enumerate(names)}
