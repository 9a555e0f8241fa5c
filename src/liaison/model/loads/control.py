"""Loads with a memory: states of their own, and a motor under a PID controller.

A state z is a number that has a rate and no place: ż = f(q, v, z, t). Formulas of all loads, of
outputs and of events may use its name, and `start` says where it begins (0 otherwise).

Motors that balance gravity, wherever the mechanism is.

Public names: Memory, memory, Pid, pid, GravityCompensation, balanced.

Source: AH06 §3.5 (integrator windup: back-calculation), §3.3 (filtered derivative).
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import LiaisonError, ModelError, Place
from liaison.expr import Expr, as_expr, gradient, maximum, minimum, symbol, symbols_of
from liaison.lazy import Brief
from liaison.model.acts import NO_UNITS
from liaison.model.kinds import Property
from liaison.model.markers import Measure
from liaison.model.places import between, label_of, line_here
from liaison.model.records import Joint
from liaison.spatial import is_zero, number
from liaison.units import Label, si_unit, unit_of

from .load import AlongMeasure, Force, OfMechanism, Read, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Memory(OfMechanism, Brief):
    """A state of its own (variable d'état): ż = rate, a formula of anything, z itself among it.

    A low-pass filter, the current in the winding of a motor, the integral of an error.
    """

    name: str
    rate: Any
    unit: str = ""  # SI unit of z
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "state"
    LSD: ClassVar[str] = "state"
    PYTHON: ClassVar[str] = "memory"
    SYMBOL: ClassVar[str] = "none"
    STATES: ClassVar[tuple[str, ...]] = ("",)
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("rate", "any"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("rate",)

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        try:
            parsed = unit_of(self.unit, self.place)
        except LiaisonError:
            return  # one that is not known, as of a current, is kept as it is written
        if parsed.factor != 1 or parsed.pi:
            raise ModelError(
                f"state '{self.name}' has the unit {self.unit!r}; states are in SI: "
                f"{si_unit(parsed.dimension)!r}.",
                place=self.place,
            )

    @property
    def symbol(self) -> Expr:
        """z in formulas."""
        return symbol(self.name)

    def states(self, units: Mapping[str, str] = NO_UNITS) -> tuple[Label, ...]:
        return (Label(self.name, self.unit),)

    def state_rates(self, x: Any, rate: Any, read: Read) -> tuple[Any, ...]:
        return (read(self.rate),)


@checked
def memory(name: str, *, rate: Any, unit: str = "") -> Memory:
    """A state z with ż = rate: of a filter, a winding, an integral.

    Args:
        name: of the state, by which formulas, starts and results know it.
        rate: a formula of time, coordinates, speeds, inputs, parameters and states.
        unit: SI unit of the state.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> z = liaison.expr.symbol("current")
        >>> winding = liaison.memory("current", rate=(12 - 2 * z) / 0.5, unit="A")
        >>> m = liaison.mechanism(A, winding, liaison.motor(A, effort=0.1 * z))
        >>> run = liaison.simulate(m, until=5, rtol=1e-10)
        >>> print(run["current"][-1].round(6))
        6.0
    """
    return Memory(name, rate, unit, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Pid(AlongMeasure, Brief):
    """A motor under a PID controller (régulateur PID), within its limits.

        e = target − x,   ė = speed − ẋ,
        u = effort + stiffness e + integral z₁ + damping d,   d = ė, or z₂ with a filter,    (pid-1)
        ż₁ = e + (U − u) / (integral · tracking),   ż₂ = (ė − z₂) / filter,

    with the effort U = u, but at most `limit` and at least `least` (−limit). While it is at a
    bound, z₁ follows what the bound leaves, so that it does not wind up. The states z₁ and z₂ are
    called NAME.integral and NAME.rate.
    """

    name: str
    measure: Measure
    target: Any = 0  # [m] or [rad]
    stiffness: Any = 0  # [N/m] or [N·m/rad]
    integral: Any = 0  # [N/(m·s)] or [N·m/(rad·s)]
    damping: Any = 0  # [N·s/m] or [N·m·s/rad]
    speed: Any = None  # [m/s] or [rad/s]; None: the rate of the target
    effort: Any = 0  # added to it [N] or [N·m]
    filter: Any = None  # time constant of the filter of ė [s]; None: no filter
    least: Any = None  # least effort; None: −limit
    limit: Any = None  # greatest effort; None: no bound [N] or [N·m]
    tracking: Any = None  # [s]; None: stiffness / integral
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "pid"
    LSD: ClassVar[str] = "pid"
    PYTHON: ClassVar[str] = "pid"
    SYMBOL: ClassVar[str] = "motor"
    STATES: ClassVar[tuple[str, ...]] = (".integral", ".rate")
    PROPERTIES: ClassVar[tuple[Property, ...]] = (
        Property("target", "m", "rad", optional=True),
        Property("stiffness", "N/m", "N*m/rad", optional=True),
        Property("integral", "N/m/s", "N*m/rad/s", optional=True),
        Property("damping", "N*s/m", "N*m*s/rad", optional=True),
        Property("speed", "m/s", "rad/s", optional=True),
        Property("effort", "N", "N*m", optional=True),
        Property("filter", "s", optional=True),
        Property("least", "N", "N*m", optional=True),
        Property("limit", "N", "N*m", optional=True),
        Property("tracking", "s", optional=True),
    )
    SCALARS: ClassVar[tuple[str, ...]] = (
        "target", "stiffness", "integral", "damping", "speed", "effort", "filter", "least",
        "limit", "tracking",
    )  # fmt: skip
    OPTIONAL: ClassVar[tuple[str, ...]] = ("speed", "filter", "least", "limit", "tracking")
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = (
        "stiffness", "integral", "damping", "limit", "filter", "tracking",
    )  # fmt: skip

    def __post_init__(self) -> None:
        Force.__post_init__(self)
        if self.has_texts():
            return
        for part in ("filter", "tracking"):
            if getattr(self, part) is not None and number(getattr(self, part)) == 0:
                raise self._error(f"has a {part} of 0 s; it must be positive, or left out.")
        if all(map(is_zero, (self.stiffness, self.integral, self.damping, self.effort))):
            raise self._error(
                "has no gain and no effort, so it never acts: give its `stiffness`, `integral` or "
                "`damping`."
            )
        upper, lower = (None if x is None else number(x) for x in (self.limit, self.least))
        if upper is not None and lower is not None and lower > upper:
            raise self._error(f"has a least effort of {lower:g}, above its limit {upper:g}.")
        bounded = self.limit is not None or self.least is not None
        if bounded and self.tracking is None and is_zero(self.stiffness) and self._integrates():
            raise self._error(
                "has bounds and no stiffness: say by its `tracking` time how fast the integral "
                "follows a bound."
            )

    def check_among(self, moving: Collection[str]) -> None:
        if self.speed is not None or (is_zero(self.damping) and self.filter is None):
            return
        names = [x.name for x in symbols_of([as_expr(self.target)]) if x.name in moving]
        if names:
            raise self._error(
                f"follows '{names[0]}', whose rate is not that of time alone: give the `speed` "
                "to follow, too."
            )

    def _error(self, what: str) -> ModelError:
        return ModelError(f"pid '{self.name}' {what}", place=self.place)

    def _integrates(self) -> bool:
        return not is_zero(self.integral)

    def states(self, units: Mapping[str, str] = NO_UNITS) -> tuple[Label, ...]:
        unit = self._unit_along(units)
        listed = [(f"{self.name}.integral", "*s")] if self._integrates() else []
        listed += [(f"{self.name}.rate", "/s")] if self.filter is not None else []
        return tuple(Label(name, unit + by if unit in ("m", "rad") else "") for name, by in listed)

    def _rate_of_error(self, rate: Any, read: Read) -> Any:
        if self.speed is not None:
            return read(self.speed) - rate
        target = as_expr(read(self.target))
        return gradient(target, [symbol("t")])[0] - rate

    def _asked(self, x: Any, rate: Any, read: Read) -> Any:
        """U before it meets its bounds."""
        e = as_expr(read(self.target)) - x
        u = as_expr(read(self.effort)) + read(self.stiffness) * e
        if self._integrates():
            u = u + read(self.integral) * symbol(f"{self.name}.integral")
        if is_zero(self.damping):
            return u
        d = self._rate_of_error(rate, read)
        return u + read(self.damping) * (d if self.filter is None else symbol(f"{self.name}.rate"))

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        u = self._asked(x, rate, read)
        if self.limit is None and self.least is None:
            return u
        if self.limit is not None:
            u = minimum(u, read(self.limit))
        return maximum(u, -read(self.limit) if self.least is None else read(self.least))

    def state_rates(self, x: Any, rate: Any, read: Read) -> tuple[Any, ...]:
        rates: list[Any] = []
        if self._integrates():
            left = self.effort_at(x, rate, read) - self._asked(x, rate, read)
            held = (
                read(self.stiffness)
                if self.tracking is None
                else read(self.integral) * read(self.tracking)
            )
            e = as_expr(read(self.target)) - x
            rates.append(e if left is as_expr(0) else e + left / held)
        if self.filter is not None:
            d = self._rate_of_error(rate, read)
            rates.append((d - symbol(f"{self.name}.rate")) / read(self.filter))
        return tuple(rates)


@checked
def pid(
    *where: Any,
    target: Any = 0,
    stiffness: Any = 0,
    integral: Any = 0,
    damping: Any = 0,
    speed: Any = None,
    effort: Any = 0,
    filter: Any = None,
    limit: Any = None,
    least: Any = None,
    tracking: Any = None,
    name: str = "",
) -> Pid:
    """A motor under a PID controller.

    Args:
        *where: two markers, a joint, or a measure.
        target: position to follow: a number, or a formula of time such as a table.
        stiffness: proportional gain, effort by length or angle off the target.
        integral: integral gain, effort by the integral of that.
        damping: derivative gain, effort by speed off the target's.
        speed: to follow; the rate of the target by time if not given.
        effort: what is added.
        filter: time constant of the filter of the derivative [s]; no filter if not given.
        limit: greatest effort.
        least: least effort; −limit if not given.
        tracking: how fast the integral follows a bound [s]; stiffness / integral if not given.
        name: by default "pid_" and what it is on.

    Raises:
        ModelError: no gain and no effort is given.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> arm = liaison.pid(A, target="90 deg", stiffness=20, integral=20, damping=5)
        >>> run = liaison.simulate(liaison.mechanism(A, arm, liaison.gravity()), until=15)
        >>> print(run["A"][-1].round(4))  # without an error, though gravity pulls
        1.5708
    """
    measure, word = between(where)
    values = (
        target, stiffness, integral, damping, speed, effort, filter, least, limit, tracking
    )  # fmt: skip
    return Pid(name or f"pid_{word}", measure, *values, place=line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class GravityCompensation(OfMechanism, Brief):
    """A motor that balances gravity on a coordinate (compensation de la gravité).

    In closed loops there is one for each degree of freedom, and they balance it together.
    """

    name: str
    coordinate: str
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "gravity compensation"
    LSD: ClassVar[str] = "gravity_compensation"
    PYTHON: ClassVar[str] = "balanced"
    SYMBOL: ClassVar[str] = "none"
    ON: ClassVar[str] = "coordinate"

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)


@checked
def balanced(on: str | Joint, *, name: str = "") -> GravityCompensation:
    """A motor on a joint that balances gravity in every position.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.balanced(A), liaison.gravity())
        >>> liaison.forward_dynamics(m, {"A": 0.5}).round(12)
        array([0.])
    """
    label = label_of(on)
    return GravityCompensation(name or f"balanced_{label}", label, line_here())
