"""Wrenches on each body in plain numbers: loads from poses and twists, without the package's rows.

A wrench here is (moment about the ground's origin, force), in ground's axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liaison.expr import as_expr, evaluate, symbol
from liaison.model import (
    Actuator,
    Angle,
    Coordinate,
    Damper,
    Distance,
    Gravity,
    Law,
    PointWrench,
    Spring,
)

from .drawing import Pose, Sample, compose, pose_of
from .numbers import axial, floats, tilde

Wrench = np.ndarray


def value(x: Any, sample: Sample) -> float:
    """A scalar of the description at the sample's state."""
    mechanism = sample.mechanism
    known = sample.q | sample.v | {"t": sample.t}
    known |= {p.name: p.value for p in mechanism.parameters}
    known |= {u.name: u.default for u in mechanism.inputs}
    return float(evaluate([as_expr(x)], {symbol(k): float(v) for k, v in known.items()})[0])


def at_origin(force: np.ndarray, moment: np.ndarray, point: np.ndarray) -> Wrench:
    """The wrench about the ground's origin of a force and a moment at a point."""
    return np.concatenate([moment + np.cross(point, force), force])


def measured(sample: Sample, measure: Any) -> tuple[float, float, dict[str, Wrench]]:
    """Value and rate of a measure, and the wrench of a unit effort along it on each body."""
    A, B = (compose(sample.poses[m.body], pose_of(m)) for m in (measure.a, measure.b))
    pulls = _apart(A, B) if isinstance(measure, Distance) else _turning(A, B)
    length, wrench_a, wrench_b = pulls
    rate = 0.0
    for marker, wrench in ((measure.a, wrench_a), (measure.b, wrench_b)):
        rate += power(sample.twists[marker.body], sample.poses[marker.body], wrench)
    found = {measure.a.body: wrench_a}
    found[measure.b.body] = found.get(measure.b.body, 0) + wrench_b
    return length, rate, found


def _apart(A: Pose, B: Pose) -> tuple[float, Wrench, Wrench]:
    d = B[1] - A[1]
    length = float(np.linalg.norm(d))
    u = d / length
    return length, at_origin(-u, np.zeros(3), A[1]), at_origin(u, np.zeros(3), B[1])


def _turning(A: Pose, B: Pose) -> tuple[float, Wrench, Wrench]:
    """The angle is that of b's x axis about z of a; only turning b changes it."""
    x, y, z = A[0].T @ B[0][:, 0]
    n = A[0] @ np.array([-z * x, -z * y, x * x + y * y]) / (x * x + y * y)
    wrench = np.concatenate([n, np.zeros(3)])
    return float(np.arctan2(y, x)), -wrench, wrench


def power(twist: Pose, pose: Pose, wrench: Wrench) -> float:
    """Of a wrench about the ground's origin on a body."""
    omega, velocity = twist
    return float(omega @ wrench[:3] + (velocity - np.cross(omega, pose[1])) @ wrench[3:])


def effort(sample: Sample, force: Any, length: float, rate: float) -> float:
    """What a force along a measure gives."""
    match force:
        case Spring():
            return -value(force.stiffness, sample) * (length - value(force.rest, sample))
        case Damper():
            return -value(force.coefficient, sample) * rate
        case Actuator() | Law():
            return value(force.effort, sample)
    raise AssertionError(force)


def loads(sample: Sample) -> dict[str, Wrench]:
    """Gravity and every load that is no effort along a coordinate, on each body."""
    total = {body.name: np.zeros(6) for body in sample.mechanism.bodies}
    for force in sample.mechanism.forces:
        for body, wrench in _of(sample, force).items():
            total[body] = total[body] + wrench
    return total


def _of(sample: Sample, force: Any) -> Mapping[str, Wrench]:
    match force:
        case Gravity(vector=g):
            return {
                body.name: at_origin(value(body.mass, sample) * floats(g), np.zeros(3), center)
                for body in sample.mechanism.bodies[1:]
                for center in [mass_center(sample, body)]
            }
        case PointWrench(marker=marker):
            _, point = compose(sample.poses[marker.body], pose_of(marker))
            axes = np.eye(3)
            if force.axes is not None:
                axes = sample.poses[force.axes.body][0] @ floats(force.axes.R)
            push, turn = (axes @ floats(x) for x in (force.force, force.moment))
            return {marker.body: at_origin(push, turn, point)}
    measure = getattr(force, "measure", None)
    if measure is None or isinstance(measure, Coordinate):
        return {}
    assert isinstance(measure, Distance | Angle)
    length, rate, unit = measured(sample, measure)
    scale = effort(sample, force, length, rate)
    return {body: scale * wrench for body, wrench in unit.items()}


def mass_center(sample: Sample, body: Any) -> np.ndarray:
    R, p = sample.poses[body.name]
    return R @ floats(body.com) + p


def momentum_rate(sample: Sample, body: Any, second_rates: np.ndarray) -> Wrench:
    """Of one body, about the ground's origin, from R̈ and p̈."""
    R, _ = sample.poses[body.name]
    R2, p2 = second_rates[:9].reshape(3, 3), second_rates[9:]
    omega = sample.twists[body.name][0]
    U = R2 @ R.T  # α̃ + ω̃ ω̃
    alpha = axial(U - tilde(omega) @ tilde(omega))
    I = R @ floats(body.inertia) @ R.T
    spin = I @ alpha + np.cross(omega, I @ omega)
    push = float(body.mass) * (p2 + R2 @ floats(body.com))
    return at_origin(push, spin, mass_center(sample, body))


def through_joints(sample: Sample, reactions: Mapping[str, np.ndarray]) -> dict[str, Wrench]:
    """What the joints do to each body, from wrenches in M's axes at M on the successor."""
    total = {body.name: np.zeros(6) for body in sample.mechanism.bodies}
    for joint in sample.mechanism.joints:
        R, p = compose(sample.poses[joint.successor.body], pose_of(joint.successor))
        moment, push = (R @ part for part in np.split(np.asarray(reactions[joint.name]), 2))
        wrench = at_origin(push, moment, p)
        total[joint.successor.body] = total[joint.successor.body] + wrench
        total[joint.predecessor.body] = total[joint.predecessor.body] - wrench
    return total
