"""Unilateral relations of rates replaced by viscous friction, and the distance between both.

Each relation W v + w ≤ 0 is replaced by the load

    Q_α = −α ξ(W v + w) (W v + w) Wᵀ,     ξ(x) = 1 where x > 0, else 0,              (viscous-1)

which is −∂D/∂v of D = ½ α max(0, W v + w)². As α grows, motions approach those that keep the
relation, in position and in velocity, like 1/α.

Public names: viscous, Convergence, Distance, convergence.

Source: SK 3.2 (theorem 2).
Differs: SK has u·q̇ for W v + w in the second factor; where w > 0 that ends at u·q̇ = 0 instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, NamingError
from liaison.expr import Expr, as_expr, maximum, symbol, symbols_of
from liaison.lazy import Shown
from liaison.model import Dissipation, Mechanism, OneSided, Parameter, Unilateral
from liaison.numeric import Array
from liaison.simulation import Trajectory

FINEST = 1e-9
"""Distances below this, or this share of the largest value, are the error of the runs."""


def viscous(mechanism: Mechanism, alpha: Any, only: Iterable[str] | None = None) -> Mechanism:
    """The mechanism with friction on one side instead of unilateral relations of rates.

    Args:
        mechanism: with relations W v + w ≤ 0.
        alpha: the coefficient, a positive number or a formula of parameters; of W v + w as a speed
            [m/s] it is in N·s/m.
        only: names of the relations to replace; all of rates if not given.

    Raises:
        ModelError: alpha is not positive, or there is no relation of rates to replace.
        NamingError: no relation of rates has that name.
    """
    is_number = isinstance(alpha, int | float | Fraction)
    is_positive = is_number and math.isfinite(alpha) and alpha > 0
    if not isinstance(alpha, Expr) and not is_positive:
        raise ModelError(f"the friction has alpha = {alpha}; it must be positive and finite.")
    known = [x.name for x in mechanism.contacts if is_of_rates(mechanism, x)]
    chosen = known if only is None else list(only)
    for name in chosen:
        if name not in known:
            raise NamingError.unknown("unilateral relation of rates", name, known)
    if not chosen:
        raise ModelError(
            f"'{mechanism.name}' has no unilateral relation of rates that friction could replace.",
            hint="Write one as 'require sin(S.angle)*S.x' - cos(S.angle)*S.y' <= 0'.",
        )
    others = tuple(x for x in mechanism.contacts if x.name not in chosen)
    frictions = tuple(drag(x, alpha) for x in mechanism.contacts if x.name in chosen)
    return replace(mechanism, contacts=others, forces=mechanism.forces + frictions)


def is_of_rates(mechanism: Mechanism, one: OneSided) -> bool:
    """Whether it is a relation W v + w ≤ 0."""
    if not isinstance(one, Unilateral):
        return False
    rates = {f"{x}'" for x in mechanism.coordinates} | set(mechanism.speeds)
    return any(x.name in rates for x in symbols_of([as_expr(one.formula)]))


def drag(one: OneSided, alpha: Any) -> Dissipation:
    """The load (viscous-1) of one relation."""
    assert isinstance(one, Unilateral)
    excess = maximum(0, as_expr(one.formula))
    return Dissipation(one.name, alpha * excess * excess / 2, place=one.place)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Distance(Shown):
    """How far a motion with friction stays from the one that keeps the relations."""

    alpha: float
    position: float  # largest difference of a coordinate at any recorded instant [m, rad]
    velocity: float  # the same of a velocity [m/s, rad/s]
    steps: int
    cpu: float  # [s]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Convergence(Shown):
    """Distances for growing α, and the power of 1/α they fall with.

    Attributes:
        name: of the mechanism.
        until: the last instant [s].
        distances: one for each α, in order.

    Example:
        >>> import liaison
        >>> result = liaison.convergence("examples/chaplygin_unilateral.lsd", [10, 100], 1)
        >>> len(result.distances)
        2
    """

    name: str
    until: float
    distances: tuple[Distance, ...]

    @property
    def position_rate(self) -> float | None:
        """p in distance ≈ c α⁻ᵖ, of positions; None where the relations do not act."""
        return rate([x.alpha for x in self.distances], [x.position for x in self.distances])

    @property
    def velocity_rate(self) -> float | None:
        """p of velocities."""
        return rate([x.alpha for x in self.distances], [x.velocity for x in self.distances])

    @property
    def conclusion(self) -> str:
        """The rates in words."""
        if self.position_rate is None or self.velocity_rate is None:
            return "no distance to compute a rate from: the relations do not act, or one α is given"
        return (
            f"the distance falls like alpha^-{self.position_rate:.3f} in position and "
            f"alpha^-{self.velocity_rate:.3f} in velocity"
        )

    @property
    def text(self) -> str:
        """A table as text."""
        lines = [f"{self.name}: unilateral friction against the relation, to {self.until:g} s"]
        lines.append("     alpha      position      velocity    steps   CPU [s]")
        lines += [
            f"{x.alpha:10.4g}  {x.position:12.5e}  {x.velocity:12.5e}  {x.steps:7d}  {x.cpu:8.3f}"
            for x in self.distances
        ]
        return "\n".join([*lines, self.conclusion])

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "until": self.until,
            "distances": [
                {
                    "alpha": x.alpha,
                    "position": x.position,
                    "velocity": x.velocity,
                    "steps": x.steps,
                    "cpu_s": x.cpu,
                }
                for x in self.distances
            ],
            "position_rate": self.position_rate,
            "velocity_rate": self.velocity_rate,
        }


def rate(alphas: Sequence[float], distances: Sequence[float]) -> float | None:
    """The slope of log distance over log 1/α, by least squares over the larger half of the α."""
    least = FINEST * max(1.0, *distances)
    pairs = [(a, d) for a, d in sorted(zip(alphas, distances)) if d > least]
    used = np.log(pairs[len(pairs) // 2 :] if len(pairs) > 3 else pairs)
    if len(used) < 2:
        return None
    return float(-np.polyfit(used[:, 0], used[:, 1], 1)[0])


ALPHA = "alpha of the friction"
"""The parameter by which one compiled mechanism serves every α."""

Run = Callable[[float], Trajectory]


def with_alpha(mechanism: Mechanism, only: Iterable[str] | None = None) -> Mechanism:
    """The mechanism with friction whose coefficient is the parameter ALPHA."""
    parameters = (*mechanism.parameters, Parameter(ALPHA, 1))
    return viscous(replace(mechanism, parameters=parameters), symbol(ALPHA), only)


def convergence(
    name: str,
    alphas: Sequence[float],
    run: Run,
    constrained: Trajectory,
    difference: Callable[[Array, Array], Array],
) -> Convergence:
    """Distances of motions with friction to the one that keeps the relations.

    Args:
        name: of the mechanism.
        alphas: coefficients, positive.
        run: the motion for an α, at the instants of the other.
        constrained: the motion that keeps the relations.
        difference: of two positions, in local coordinates.
    """
    if not alphas or not all(math.isfinite(x) and x > 0 for x in alphas):
        raise ModelError("alphas must be positive and finite numbers, one at least.")
    distances = []
    for alpha in alphas:
        begin = time.process_time()
        motion = run(alpha)
        cpu = time.process_time() - begin
        apart = [difference(a, b) for a, b in zip(constrained.q, motion.q, strict=True)]
        position = float(np.max(np.abs(apart), initial=0.0))
        velocity = float(np.max(np.abs(motion.v - constrained.v), initial=0.0))
        steps = int(motion.counts.get("steps", 0))
        distances.append(Distance(float(alpha), position, velocity, steps, cpu))
    return Convergence(name, float(constrained.t[-1]), tuple(distances))
