"""Computed torque and gravity compensation: inverse dynamics as feedback.

Public names: ComputedTorque, computed_torque, GravityCompensation, gravity_compensation.

Source: SS09 §8.5.2 (inverse dynamics control), §8.5.1 (gravity compensation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from liaison.errors import ArgumentError, checked
from liaison.expr import ZERO, Expr, as_expr, gradient, symbol, symbols_of
from liaison.lazy import Brief
from liaison.model import Mechanism
from liaison.units import si_value

from .controlled import clipped
from .inverse import Actuation, actuation

T = symbol("t")


@final
@dataclass(frozen=True, slots=True, repr=False)
class ComputedTorque(Brief):
    """Motors that make coordinates follow targets, with errors that decay linearly.

    The inputs are those with which ë + damping ė + stiffness e = 0 for every e = target − x.

    Args:
        targets: by coordinate; numbers, formulas of time, or tables.
        stiffness: [1/s²], one for all or by coordinate.
        damping: [1/s], likewise.
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.
    """

    targets: Mapping[str, Any]
    stiffness: Any
    damping: Any
    inputs: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    def formulas(self, mechanism: Mechanism) -> dict[str, Expr]:
        """Input -> formula; see `Controller`."""
        targets = {label: _target(label, x, mechanism) for label, x in self.targets.items()}
        _check_gains("stiffness", self.stiffness, targets)
        _check_gains("damping", self.damping, targets)
        motors = actuation(mechanism, self.inputs, tuple(targets))
        asked = [self._asked(speed.removesuffix("'"), targets) for speed in motors.labels]
        return clipped(motors.efforts(asked), self.limits, mechanism)

    def _asked(self, label: str, targets: Mapping[str, Expr]) -> Expr:
        """The acceleration by which the error of a coordinate decays."""
        target = targets[label]
        rate = gradient(target, [T])[0]
        e, e_rate = target - symbol(label), rate - symbol(f"{label}'")
        kp, kd = (x[label] if isinstance(x, Mapping) else x for x in (self.stiffness, self.damping))
        return as_expr(gradient(rate, [T])[0] + kd * e_rate + kp * e)


def _target(label: str, value: Any, mechanism: Mechanism) -> Expr:
    """A number, a text with a unit, a table or a formula of time."""
    if isinstance(value, str):
        units = dict(_units(mechanism))
        return as_expr(float(si_value(value, units.get(label, ""), f"the target of {label!r}")))
    formula = value(T) if callable(value) and hasattr(value, "breaks") else as_expr(value)
    moving = {*mechanism.coordinates, *mechanism.speeds} | {x.name for x in mechanism.inputs}
    names = [x.name for x in symbols_of([formula]) if x.name in moving]
    if names:
        raise ArgumentError(
            f"the target of {label!r} depends on {names[0]!r}; it must be a formula of time and "
            "parameters, whose rates are known.",
        )
    return as_expr(formula)


def _units(mechanism: Mechanism) -> list[tuple[str, str]]:
    return [
        pair
        for joint in mechanism.joints
        for pair in zip(joint.coordinates, joint.type.coordinate_units, strict=True)
    ]


def _check_gains(what: str, gains: Any, targets: Mapping[str, Any]) -> None:
    """Raises an error where coordinates have no gain."""
    for label in targets if isinstance(gains, Mapping) else ():
        if label not in gains:
            raise ArgumentError(
                f"computed_torque: no {what} is given for {label!r}.",
                hint="Give one number for all, or one for each coordinate with a target.",
            )


@final
@dataclass(frozen=True, slots=True, repr=False)
class GravityCompensation(Brief):
    """Motors that hold every position: what gravity, springs and other loads need at rest.

    Args:
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.
    """

    inputs: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)

    def formulas(self, mechanism: Mechanism) -> dict[str, Expr]:
        """Input -> formula; see `Controller`."""
        motors: Actuation = actuation(mechanism, self.inputs, ())
        efforts = motors.efforts([ZERO] * len(motors.chosen), at_rest=True)
        return clipped(efforts, self.limits, mechanism)


def named(inputs: Sequence[str] | str) -> tuple[str, ...]:
    """Names of inputs, one or several."""
    return (inputs,) if isinstance(inputs, str) else tuple(inputs)


@checked
def computed_torque(
    targets: Mapping[str, Any],
    *,
    stiffness: Any,
    damping: Any,
    inputs: Sequence[str] | str = (),
    limits: Mapping[str, Any] | None = None,
) -> ComputedTorque:
    """A controller that makes coordinates follow targets by the mechanism's own inverse dynamics.

    Errors obey ë + damping ė + stiffness e = 0, also in closed loops, where targets are given to as
    many independent coordinates as there are degrees of freedom.

    Args:
        targets: by coordinate; numbers, texts with a unit, formulas of time, or tables.
        stiffness: [1/s²], one for all or by coordinate.
        damping: [1/s], likewise; 2 √stiffness damps critically.
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> follow = liaison.computed_torque({"A": "90 deg"}, stiffness=25, damping=10)
        >>> run = liaison.simulate(m, until=4, controller=follow)
        >>> round(run["A"][-1], 5), round(run["drive"][-1], 3)
        (1.5708, 4.905)
    """
    return ComputedTorque(
        MappingProxyType(dict(targets)), stiffness, damping, named(inputs),
        MappingProxyType(dict(limits or {})),
    )  # fmt: skip


@checked
def gravity_compensation(
    inputs: Sequence[str] | str = (), *, limits: Mapping[str, Any] | None = None
) -> GravityCompensation:
    """A controller that holds every position: motors balance gravity and all other loads at rest.

    Args:
        inputs: the motors; all that act if not given.
        limits: greatest magnitude by input.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> hold = liaison.gravity_compensation()
        >>> run = liaison.simulate(m, until=2, start={"A": 1.0}, controller=hold)
        >>> run["A"][-1]
        1.0
    """
    return GravityCompensation(named(inputs), MappingProxyType(dict(limits or {})))
