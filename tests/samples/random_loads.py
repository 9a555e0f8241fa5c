"""Loads and relations at random, on the coordinates and markers of a mechanism being drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liaison.expr import cos, sin, symbol
from liaison.model import (
    Actuator,
    Angle,
    Coordinate,
    Coupling,
    Damper,
    Dissipation,
    Distance,
    Holonomic,
    Input,
    Joint,
    JointFriction,
    Law,
    Marker,
    Nonholonomic,
    Parameter,
    PointWrench,
    Potential,
    PrescribedMotion,
    Spring,
)

from .random_parts import Random, marker

STIFFNESS = Parameter("k", 7.5, "N/m")
MOTOR = Input("motor", "N", 1.25)
T0 = 0.4
"""The instant of every drawn state [s]."""


def rated(joints: list[Joint]) -> list[str]:
    """Coordinates whose velocity is their rate."""
    return [x for joint in joints for x in joint.coordinates if f"{x}'" in joint.speeds]


def measure(rng: Random, bodies: list[str], labels: list[str]) -> Any:
    """A distance, an angle or a coordinate."""
    kind = rng.integers(3 if labels else 2)
    if kind == 2:
        return Coordinate(str(rng.choice(labels)))
    a, b = (str(x) for x in rng.choice(bodies, 2, replace=False))
    return (Distance, Angle)[kind](marker(rng, a), marker(rng, b))


def forces(rng: Random, bodies: list[str], labels: list[str]) -> list[Any]:
    """A handful of loads of every kind, on any coordinate: also of joints that will be cut."""
    found: list[Any] = []
    for k in range(rng.integers(2, 6)):
        along = measure(rng, bodies, labels)
        kinds = (
            lambda n, m: Spring(n, m, symbol("k") * 2 if rng.random() < 0.5 else 11.0, 0.3),
            lambda n, m: Damper(n, m, 1.5),
            lambda n, m: Actuator(n, m, symbol("motor") if rng.random() < 0.5 else -2.0),
            lambda n, m: Law(n, m, effort(rng, labels)),
        )
        kind = rng.integers(4)
        # a spring on an angle needs joints that count its turns: markers anyhow have none
        kind = 1 if kind == 0 and isinstance(along, Angle) else kind
        found.append(kinds[kind](f"load {k}", along))
    pushed = marker(rng, bodies[-1])
    axes = (None, pushed, marker(rng, bodies[int(rng.integers(len(bodies)))]))
    push, turn = rng.normal(size=(2, 3))
    found.append(
        PointWrench("wrench", pushed, tuple(push), tuple(turn), axes=axes[rng.integers(3)])
    )
    if labels:
        found += coordinate_forces(rng, labels)
    return found


def coordinate_forces(rng: Random, labels: list[str]) -> list[Any]:
    """Friction, a potential and a dissipation on coordinates."""
    x, y = (symbol(str(label)) for label in rng.choice(labels, 2))
    slow = symbol(f"{rng.choice(labels)}'")
    kinds = [
        JointFriction("friction", x.name, 0.4, 0.7, 0.3),
        Potential("potential", 3 * cos(x) * y + x * x),
        Dissipation("dissipation", slow * slow * (1 + 0.5 * sin(y))),
    ]
    return [force for force in kinds if rng.random() < 0.5]


def effort(rng: Random, labels: list[str]) -> Any:
    """An effort that depends on time and, where there are any, on a coordinate and a rate."""
    t = symbol("t")
    if not labels:
        return 2 * sin(t)
    x, y = (str(label) for label in rng.choice(labels, 2))
    return 2 * sin(t) - 3 * symbol(x) - 0.5 * symbol(f"{y}'")


def relation(rng: Random, name: str, labels: list[str], q: Mapping[str, float]) -> Any:
    """A relation that holds where the mechanism is, at the instant T0."""
    x, y = (str(label) for label in rng.choice(labels, 2, replace=len(labels) < 2))
    t = symbol("t")
    kind = rng.integers(4)
    if kind == 0 or x == y:
        law = q[x] + 0.8 * (t - T0) + 0.3 * (sin(2 * t) - float(np.sin(2 * T0)))
        return PrescribedMotion(name, x, law)
    if kind == 1:
        return Coupling(name, x, 1.5, y, offset=q[x] - 1.5 * q[y])
    if kind == 2:
        rest = float(np.sin(q[x]) + q[y] * q[y] + 0.2 * T0)
        return Holonomic(name, sin(symbol(x)) + symbol(y) * symbol(y) + 0.2 * t - rest)
    rates = symbol(f"{x}'") + cos(symbol(x)) * symbol(f"{y}'")
    return Nonholonomic(name, rates - 0.3 * t)


__all__ = ["MOTOR", "STIFFNESS", "T0", "Marker", "forces", "rated", "relation"]
