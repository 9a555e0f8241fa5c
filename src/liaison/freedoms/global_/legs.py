"""Platforms on legs: links that only keep two points at a distance, seen as such.

A link between two ball joints, or between a ball and a universal joint whose axis on the link is
across the line of centers, asks nothing of its neighbours but the distance of two points; a rod
says so itself. What is left of a Stewart platform is then a plate and six distances.

Public names: Leg, legs_of, leg_pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import as_expr, evaluate
from liaison.model import Rod, RodByAngles, Spherical, Universal
from liaison.spatial import Array

from .links import Links, Passive

ACROSS = 1e-12
"""Cosine below which an axis counts as across the line of centers."""

Floats: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class End:
    """Where a leg is joined to a larger link."""

    joint: Passive
    point: Array  # in the larger link
    own: Array  # in the leg
    axis: Array | None  # of a universal joint, in the larger link
    own_axis: Array | None  # and in the leg


@final
@dataclass(frozen=True, slots=True)
class Leg:
    """A distance between a point of the ground and one of the plate."""

    link: int | None  # None for a rod
    foot: Array
    head: Array
    square: Any  # of the distance [m²]
    ends: tuple[End, ...] = ()  # at the ground, at the plate


def legs_of(links: Links) -> tuple[int, list[Leg]] | None:
    """The plate's link and its legs; None where the mechanism is not of this kind."""
    touching: dict[int, list[Passive]] = {}
    for j in links.joints:
        touching.setdefault(j.a, []).append(j)
        touching.setdefault(j.b, []).append(j)
    slender = {k for k, joints in touching.items() if k and _is_leg(k, joints)}
    large = [k for k in touching if k not in slender]
    if len(large) != 2 or 0 not in large:
        return None
    plate = max(large)
    legs = []
    for k in sorted(slender):
        ends = [_end(j, k) for j in touching[k]]
        ends.sort(key=lambda end: (end.joint.b if end.joint.a == k else end.joint.a) == plate)
        across = ends[1].own - ends[0].own
        legs.append(Leg(k, ends[0].point, ends[1].point, _square(across), tuple(ends)))
    rest = [j for j in links.joints if not {j.a, j.b} & slender]
    for j in rest:
        if not isinstance(j.joint.type, Rod | RodByAngles) or {j.a, j.b} != {0, plate}:
            return None
        foot, head = (j.F[1], j.M[1]) if j.a == 0 else (j.M[1], j.F[1])
        legs.append(Leg(None, foot, head, j.joint.type.length * j.joint.type.length))
    return plate, legs


def _square(v: Array) -> Any:
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]


def _is_leg(link: int, joints: Sequence[Passive]) -> bool:
    if len(joints) != 2 or any(j.a == j.b for j in joints):
        return False
    kinds = [type(j.joint.type) for j in joints]
    if not all(kind in (Spherical, Universal) for kind in kinds) or Spherical not in kinds:
        return False
    first, second = (_end(j, link) for j in joints)
    line = _numbers(second.own - first.own)
    axes = [_numbers(end.own_axis) for end in (first, second) if end.own_axis is not None]
    length = float(np.linalg.norm(line))
    return length > ACROSS and all(abs(float(axis @ line)) < ACROSS * length for axis in axes)


def _end(j: Passive, leg: int) -> End:
    """A joint seen from the leg: M is on it where it is the successor."""
    behind = j.b == leg
    far, near = (j.F, j.M) if behind else (j.M, j.F)
    axis = own = None
    if isinstance(j.joint.type, Universal):  # x of F, y of M
        axis, own = (far[0][:, 0], near[0][:, 1]) if behind else (far[0][:, 1], near[0][:, 0])
    return End(j, far[1], near[1], axis, own)


def _numbers(v: Array) -> Floats:
    return np.array([float(evaluate(as_expr(x))) for x in v])


def leg_pose(
    leg: Leg, poses: Mapping[int, tuple[Floats, Floats]], plate: int, turned: bool
) -> tuple[Floats, Floats]:
    """The pose of a leg between ground and plate; `turned` by half a turn about its line."""
    (R, p) = poses[plate]
    foot, head = _numbers(leg.foot), R @ _numbers(leg.head) + p
    own = [_numbers(end.own) for end in leg.ends]
    along = _unit(own[1] - own[0])
    goal = _unit(head - foot)
    across, target = _own_axis(leg, along), _axis(leg, R, goal)
    target = -target if turned else target
    mine = np.column_stack([along, across, np.cross(along, across)])
    there = np.column_stack([goal, target, np.cross(goal, target)])
    Q = there @ mine.T
    return Q, foot - Q @ own[0]


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v), dtype=float)


def _own_axis(leg: Leg, along: Floats) -> Floats:
    """The leg's axis of its universal joint, or any across the leg."""
    for end in leg.ends:
        if end.own_axis is not None:
            return _numbers(end.own_axis)
    return _unit(np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))]))


def _axis(leg: Leg, R: Floats, goal: Floats) -> Floats:
    """Where that axis points: across the leg, and across the joint's other axis."""
    for end, turn in zip(leg.ends, (np.eye(3), R), strict=True):
        if end.axis is not None:
            return _unit(np.cross(turn @ _numbers(end.axis), goal))
    return _unit(np.cross(goal, np.eye(3)[int(np.argmin(np.abs(goal)))]))
