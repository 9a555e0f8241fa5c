"""Settings of a run, checked once.

Public names: Settings, settings_of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, final

import numpy as np

from liaison.arguments import check_fields
from liaison.errors import SimulationError
from liaison.lazy import Brief
from liaison.numeric import Array
from liaison.simulation.steps.projection import Projection
from liaison.simulation.steps.rungekutta import RK4, TSITOURAS, Tableau, tableau_named

INSTANTS = 10_000_000
"""Recorded instants at most: with ten coordinates they fill about 2 GB."""

NO_INSTANTS: Array = np.empty(0)

PROJECTION = Projection()


IMPACTS = "energetic"
"""The law of impacts by default."""

ATOL = 1e-10
"""Absolute error allowed by default: of a mechanism with contacts, in the units of its scales."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Settings(Brief):
    """How a run is integrated and recorded.

    Attributes:
        step: fixed step [s]; None lets the error choose it.
        method: name of a tableau; None takes "rk4" with a fixed step, "tsitouras" without.
        rtol: error allowed a step, relative to each coordinate.
        atol: the same, absolute, in the coordinate's SI unit.
        every: None records every step, a number every so many seconds, a sequence those instants.
        max_step: longest step of an adaptive method [s].
        max_steps: steps after which the run fails.
        projection: when and how the state is brought back to its closures.
        spectral_radius: ρ∞ of "generalized-alpha", 0 to 1: part of a vibration too fast for the
            step that is left after one step; 0.8 if not given.
        impacts: law of impacts of contacts, see `impacts.py`.
        theta: θ of "moreau", ½ to 1: where in a step its forces are taken; ½ if not given.
        facets: of "moreau", 3 or more: sides of the polygons that take the place of round cones of
            friction, found by Lemke's pivots; None keeps cones round.
        residual: largest |γ − G v̇| of the generated solution, relative to 1 + max |v̇|.
        watch: the balance of energy is kept.

    Example:
        >>> import liaison
        >>> liaison.Settings(method="rk4", step=0.001).rtol
        1e-08
    """

    step: float | None = None
    method: str | None = None
    rtol: float = 1e-8
    atol: float = ATOL
    every: float | Sequence[float] | Array | None = None
    max_step: float = math.inf
    max_steps: int = 10_000_000
    projection: Projection = field(default_factory=Projection)
    residual: float = 1e-8
    spectral_radius: float | None = None
    impacts: str = IMPACTS
    theta: float | None = None
    facets: int | None = None
    watch: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        positive = {"step": self.step, "max_step": self.max_step, "residual": self.residual}
        if not isinstance(self.every, Sequence | np.ndarray):
            positive["every"] = self.every
        for name, value in positive.items():
            if value is not None and not value > 0:
                raise SimulationError(f"{name} is {value}; it must be positive.")
        if self.max_steps < 1:
            raise SimulationError(f"max_steps is {self.max_steps}; it must be positive.")
        if self.step is not None and not math.isfinite(self.step):
            raise SimulationError(f"step is {self.step}; it must be finite.")
        if not (self.rtol >= 0 and self.atol > 0 and math.isfinite(self.rtol + self.atol)):
            raise SimulationError(
                f"rtol is {self.rtol} and atol {self.atol}; rtol is not negative, atol positive."
            )
        if not (self.tableau.is_adaptive or self.step is not None):
            raise SimulationError(
                f"method {self.tableau.name!r} has no error estimate and needs a fixed step.",
                hint="Give step=, or take method='tsitouras'.",
            )
        self._check_fixed()
        self._check_own_options()

    def _check_fixed(self) -> None:
        """Rejects what adaptive steps alone take beside a fixed step."""
        other = {"rtol": (self.rtol, 1e-8), "atol": (self.atol, ATOL)}
        other["max_step"] = (self.max_step, math.inf)
        for name, (value, default) in other.items():
            if self.step is not None and value != default:
                raise SimulationError(
                    f"{name} is {value:g} beside step={self.step:g}: a fixed step is as long as "
                    "it is, whatever its error.",
                    hint=f"Leave out step for steps that follow from their error, or {name}.",
                )

    def _check_own_options(self) -> None:
        """Rejects options of one method where another is taken, or outside their range."""
        if self.spectral_radius is not None and self.tableau.scheme != "alpha":
            raise SimulationError(
                f"spectral_radius is of 'generalized-alpha'; {self.tableau.name!r} has none.",
                hint="Leave it out, or take method='generalized-alpha' with a fixed step.",
            )
        if self.theta is not None and not (
            self.tableau.scheme == "moreau" and 0.5 <= self.theta <= 1
        ):
            raise SimulationError(
                f"theta is {self.theta} with {self.tableau.name!r}; it is of 'moreau', ½ to 1.",
                hint="½ keeps energy in flight, 1 damps what is fast.",
            )
        if self.facets is not None and not (
            self.tableau.scheme == "moreau" and self.facets == int(self.facets) >= 3
        ):
            raise SimulationError(
                f"facets is {self.facets} with {self.tableau.name!r}; of 'moreau', 3 or more.",
                hint="Leave it out for round cones; in a plane both are the same.",
            )
        if self.tableau.scheme == "moreau" and self.impacts not in ("energetic", "moreau"):
            raise SimulationError(
                f"method 'moreau' has a law of impacts of its own, not {self.impacts!r}.",
                hint="Leave impacts out, or take a method that goes from event to event.",
            )
        if not 0 <= self.radius <= 1:
            raise SimulationError(
                f"spectral_radius is {self.spectral_radius}; it lies between 0 and 1.",
                hint="0 removes fast vibrations at once, 1 keeps them.",
            )

    @property
    def tableau(self) -> Tableau:
        """The method's coefficients."""
        if self.method is not None:
            return tableau_named(self.method)
        return RK4 if self.step is not None else TSITOURAS

    @property
    def radius(self) -> float:
        """ρ∞ of generalized α."""
        return 0.8 if self.spectral_radius is None else self.spectral_radius

    @property
    def is_adaptive(self) -> bool:
        """The error chooses the step."""
        return self.step is None

    @property
    def lasting(self) -> tuple[Any, ...]:
        """All but the instants to record."""
        return (
            self.step, self.method, self.rtol, self.atol, self.max_step, self.max_steps,
            self.projection, self.residual, self.spectral_radius, self.impacts, self.theta,
            self.facets, self.watch,
        )  # fmt: skip

    @property
    def grid(self) -> int:
        """How many instants to record are given one by one."""
        is_listed = self.every is not None and isinstance(self.every, Sequence | np.ndarray)
        return int(np.size(self.every)) if is_listed else 0  # type: ignore[arg-type]

    def instants(self, start: float, end: float) -> tuple[Array, float, int]:
        """Instants to record: (given times, period, how many); all zero to record every step."""
        if self.every is None:
            return NO_INSTANTS, 0.0, 0
        if isinstance(self.every, Sequence | np.ndarray):
            times = np.asarray(self.every, dtype=float)
            if times.ndim != 1 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
                raise SimulationError("the instants in every= must be finite and increase.")
            slack = 1e-12 * max(1.0, abs(start), abs(end))
            if times.size and (times[0] < start - slack or times[-1] > end + slack):
                raise SimulationError(
                    f"every= asks for instants from {times[0]:g} to {times[-1]:g} s, outside the "
                    f"run from {start:g} to {end:g} s."
                )
            return times, 0.0, times.size
        period = float(self.every)
        count = (end - start) / period * (1 + 1e-12)
        if not count < INSTANTS:
            raise SimulationError(
                f"every={period:g} s asks for {count:.3g} instants from {start:g} to {end:g} s; "
                f"a run records {INSTANTS:,} at most.",
                hint=f"Take every={(end - start) / 1000:g} or so.",
            )
        return NO_INSTANTS, period, math.floor(count) + 1


@lru_cache(maxsize=256, typed=True)
def _checked(**options: Any) -> Settings:
    return Settings(**options)


def settings_of(**options: Any) -> Settings:
    """Settings, checked once for all runs with the same options."""
    try:
        return _checked(**options)
    except TypeError:  # instants in a list or an array cannot be looked up
        return Settings(**options)
