"""Cartesian coordinates: every body on the ground by its own joint, every joint a closure.

    q = (x₁, y₁, θ₁, x₂, y₂, θ₂, …) in a plane,  (x, y, z, quaternion) of each body in space

The coordinates of a body are those of its mass center, so that M is constant and diagonal by
bodies. Joint coordinates that loads, relations and outputs name are written as formulas of the new
ones where that can be done (hinges and sliders in a plane); other joints keep theirs, tied by a row
each.

Public names: PARAMETRIZATIONS, parametrized, cartesian, CartesianBody.

Source: JB94 §2.2 (kinds of coordinates); docs/theory/parametrizations.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.errors import NamingError
from liaison.model import Body, Free, Joint, Marker, Mechanism, Planar, Start
from liaison.spatial import quaternion_of
from liaison.tree.tree import Tree, coordinates_in_use, span

from .cartesian_uses import rewritten
from .plane_of_motion import Floats, Standing, axes_along, plane_normal, standing, tidy

PARAMETRIZATIONS = ("minimal", "joint", "full_joint", "cartesian")
"""From the fewest coordinates to the most."""

OTHER_NAMES = {"strict": "minimal"}


def known_parametrization(name: str) -> str:
    """The name, or the one it stands for.

    Raises:
        NamingError: there is no such parametrization.
    """
    known = OTHER_NAMES.get(name, name)
    if known not in PARAMETRIZATIONS:
        raise NamingError.unknown("parametrization", name, PARAMETRIZATIONS)
    return known


def parametrized(mechanism: Mechanism, name: str = "joint", *, exact: bool = False) -> Tree:
    """The mechanism on a tree with the coordinates of a parametrization.

    Args:
        mechanism: any.
        name: "joint": of the joints of a spanning tree. "full_joint": of all joints. "cartesian":
            of every body by itself. "minimal" has the tree of "joint"; its equations are reduced.
        exact: keep exact numbers.

    Raises:
        NamingError: there is no such parametrization.
    """
    joints = [joint.name for joint in mechanism.joints]
    match known_parametrization(name):
        case "full_joint":
            return span(mechanism, keep=joints, exact=exact)
        case "cartesian":
            return span(cartesian(mechanism), cuts=joints, exact=exact)
    return span(mechanism, exact=exact)


@final
@dataclass(frozen=True, slots=True)
class CartesianBody:
    """A body's own joint to the ground, and where it is assembled."""

    joint: Joint
    q: tuple[float, ...]
    v: tuple[float, ...]


def cartesian(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a joint to the ground for every body, beside its own joints.

    All of its own joints must be cut where it is spanned (`parametrized` does that). It starts
    where the mechanism is assembled.

    Raises:
        AssemblyError: the mechanism cannot be assembled.
    """
    tree = span(mechanism)
    stands = standing(tree)
    n = plane_normal(tree, stands)
    bodies = {
        body.name: _in_space(mechanism, body, stands)
        if n is None
        else _in_plane(mechanism, body, stands, n)
        for body in mechanism.bodies[1:]
    }
    own = {name: body_pose.joint for name, body_pose in bodies.items()}
    begin = {start.label: start.value for start in _starts(bodies)}
    if n is None:
        loose = replace(mechanism, joints=(*mechanism.joints, *own.values()), starts=())
    else:
        loose = rewritten(mechanism, own, stands, begin, n)
    kept = coordinates_in_use(loose)
    return replace(loose, starts=(*_kept_starts(mechanism, stands, kept), *_starts(bodies)))


def _in_plane(mechanism: Mechanism, body: Body, stands: Standing, n: Floats) -> CartesianBody:
    """x, y and θ of the mass center, in the plane of motion."""
    R, _, omega, _ = stands.bodies[body.name]
    place, speed = stands.center(body)
    ground, own = axes_along(n), axes_along(R.T @ n)
    F = np.array(ground, float)
    turned = F.T @ R @ np.array(own, float)
    above = tuple(tidy(float(x)) for x in n * (n @ place))
    name = _free_name(mechanism, body)
    joint = Joint(
        name, Planar(), Marker("ground", _rows(ground), above),
        Marker(body.name, _rows(own), body.com), tuple(f"{name}.{x}" for x in ("x", "y", "theta")),
    )  # fmt: skip
    x, y, _ = F.T @ place
    vx, vy, _ = F.T @ speed
    angle = np.arctan2(turned[1, 0], turned[0, 0])
    return CartesianBody(joint, _numbers((x, y, angle)), _numbers((vx, vy, omega @ n)))


def _in_space(mechanism: Mechanism, body: Body, stands: Standing) -> CartesianBody:
    """Place of the mass center, and the quaternion of the body's axes."""
    R, _, omega, _ = stands.bodies[body.name]
    place, speed = stands.center(body)
    joint = Joint(
        _free_name(mechanism, body), Free(), Marker("ground"), Marker(body.name, p=body.com)
    )
    q = (*place, *quaternion_of(R.tolist()))
    return CartesianBody(joint, _numbers(q), _numbers((*R.T @ omega, *R.T @ speed)))


def _numbers(entries: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in entries)


def _rows(R: Any) -> Any:
    return tuple(tuple(row) for row in R)


def _free_name(mechanism: Mechanism, body: Body) -> str:
    """The body's own name, unless a joint has it."""
    in_use = {joint.name for joint in mechanism.joints}
    name = body.name
    while name in in_use:
        name += " on ground"
    return name


def _starts(bodies: dict[str, CartesianBody]) -> Iterator[Start]:
    """Where the bodies are and how they move when the mechanism starts."""
    for body in bodies.values():
        joint = body.joint
        yield from map(Start, joint.coordinates, body.q)
        yield from map(Start, joint.speeds, body.v)


def _kept_starts(mechanism: Mechanism, stands: Standing, kept: frozenset[str]) -> Iterator[Start]:
    """Joints that keep their coordinates start where they were, turns and all."""
    state = stands.state
    labels = (*state.labels["q"], *state.labels["v"])
    known = {label.name: float(x) for label, x in zip(labels, (*state.q, *state.v), strict=True)}
    for joint in mechanism.joints:
        if joint.name in kept:
            for label in (*joint.coordinates, *joint.speeds):
                if label in known:
                    yield Start(label, known[label])
