"""Where bodies are and how they move: as formulas of coordinates, or at a configuration.

    M = Σ m Jᵀ J + Jωᵀ I Jω + armature                                                  (poses-1)

over all bodies at the described configuration, with the armature of joints and tendons, is what
MuJoCo scales its automatic springs and dampers with. A fluid acts on boxes that have the bodies'
inertia, by Rayleigh's function

    D = Σ ½ c v² + ½ k ω² + Σ ⅓ (ρ/2) bⱼ bₖ |vᵢ|³ + ⅓ (ρ/64) bᵢ (bⱼ⁴ + bₖ⁴) |ωᵢ|³     (poses-2)

with c = 3 π d β and k = π d³ β, d the mean side of the box b, v the velocity of the centre of mass
against the wind and ω, both in the principal axes.

Public names: Poses, described, weights, slopes, carried, fluid_drag.

Source: MUJOCO Computation, kinematics and passive forces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import liaison.model as model
from liaison.expr import ZERO, Expr, absolute, as_expr, cos, directional, sin, symbol
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats
from liaison.spatial import (
    Array,
    array,
    compose,
    dot,
    identity,
    product,
    quaternion_of,
    quaternion_product,
    zeros,
)
from liaison.spatial.plucker import inverse

from .parts import Parts, Pose
from .values import is_true

Floats = NDArray[np.float64]


@final
class Poses:
    """Poses of bodies in the ground, joint by joint; each is made once.

    Args:
        parts: bodies and joints.
        values: coordinates by label; their symbols where there are none.
    """

    def __init__(self, parts: Parts, values: Mapping[str, Any] | None = None) -> None:
        self.values = values
        self.joints = {x.successor.body: x for x in parts.joints.values()}
        self.known: dict[str, Pose] = {"ground": (identity(), zeros(3))}

    def of(self, body: str) -> Pose:
        """The pose of a body's frame."""
        path = self.path(body)
        for name in path:
            if name not in self.known:
                joint = self.joints[name]
                F, M = joint.predecessor, joint.successor
                near = compose(*self.known[F.body], F.rotation, F.position)
                self.known[name] = compose(*compose(*near, *self.step(joint)), *_back(M))
        return self.known[body]

    def step(self, joint: model.Joint) -> tuple[Any, Any]:
        """The pose of a joint's second marker in its first."""
        q = [symbol(x) if self.values is None else self.values[x] for x in joint.coordinates]
        pose: tuple[Any, Any] = joint.type.pose(array(q))
        return pose

    def path(self, body: str) -> list[str]:
        """The bodies from the ground to this one, without the ground."""
        names = []
        while body != "ground":
            names.append(body)
            body = self.joints[body].predecessor.body
        return names[::-1]

    def at(self, marker: model.Marker) -> Pose:
        """The pose of a marker."""
        return compose(*self.of(marker.body), marker.rotation, marker.position)

    def quaternion(self, marker: model.Marker) -> Array:
        """The unit quaternion of a marker's axes, a smooth function of the coordinates."""
        e: Array = array([1, 0, 0, 0])
        for name in self.path(marker.body):
            joint = self.joints[name]
            for part in (_fixed(joint.predecessor), self.half(joint)):
                e = quaternion_product(e, part)
            w, x, y, z = _fixed(joint.successor)
            e = quaternion_product(e, array([w, -x, -y, -z]))
        return quaternion_product(e, _fixed(marker))

    def half(self, joint: model.Joint) -> Array:
        """The quaternion of a joint: of its turn about z, or its own."""
        q = [symbol(x) if self.values is None else self.values[x] for x in joint.coordinates]
        if isinstance(joint.type, model.Revolute):
            return array([cos(q[0] / 2), 0, 0, sin(q[0] / 2)])
        return array(q[-4:] if len(q) > 1 else [1, 0, 0, 0])

    # ---- of symbols alone

    def rates(self, formulas: list[Any], *bodies: str) -> list[Any]:
        """Time derivatives of formulas of the coordinates that carry some bodies."""
        flow: dict[Any, Any] = {}
        for name in dict.fromkeys(x for body in bodies for x in self.path(body)):
            joint = self.joints[name]
            q = array([symbol(x) for x in joint.coordinates])
            v = array([symbol(x) for x in joint.speeds])
            if len(q):
                change = product(joint.type.kinematic_map(q), v)
                flow |= {x: as_expr(dx) for x, dx in zip(q, change, strict=True)}
        return directional([as_expr(x) for x in formulas], flow)

    def turning(self, body: str) -> Array:
        """The angular velocity of a body, in the ground's axes."""
        total = zeros(3)
        for name in self.path(body):
            joint = self.joints[name]
            q = array([symbol(x) for x in joint.coordinates])
            v = array([symbol(x) for x in joint.speeds])
            if len(v):
                R = product(self.of(name)[0], joint.successor.rotation)
                total = total + product(R, product(joint.type.subspace(q)[:3], v))
        return total


def _fixed(marker: model.Marker) -> Array:
    """The quaternion of a marker on its body."""
    R = floats(marker.rotation, {})
    return array([1, 0, 0, 0] if np.array_equal(R, np.eye(3)) else list(quaternion_of(R)))


def _back(marker: model.Marker) -> tuple[Any, Any]:
    pose: tuple[Any, Any] = inverse(marker.rotation, marker.position)
    return pose


def described(parts: Parts, *, of_springs: bool = False) -> dict[str, float]:
    """Every coordinate as the file describes it, or where its spring is at rest.

    Hinges and slides are at 0 even if that is out of their range, where they do not start.
    """
    values = {label: 0.0 for joint in parts.joints.values() for label in joint.coordinates}
    turning = [x for x in parts.joints.values() if len(x.coordinates) in (4, 7)]
    values |= {x.coordinates[-4]: 1.0 for x in turning}
    free = {label for joint in turning for label in joint.coordinates}
    values |= {x.label: float(x.value) for x in parts.starts if x.label in free}
    for name, element in parts.elements.items() if of_springs else ():
        joint = parts.joints[name]
        if len(joint.coordinates) == 1 and "springref" in element.attributes:
            rest = numbers_in(element, "springref", 1, "0")[0]
            is_hinge = isinstance(joint.type, model.Revolute)
            turned = parts.settings.angle(rest) if is_hinge else rest
            values[joint.coordinates[0]] = float(floats(turned - parts.references.get(name, 0), {}))
        elif len(joint.coordinates) == 1:
            values[joint.coordinates[0]] = -float(floats(parts.references.get(name, 0), {}))
    return values


def weights(parts: Parts, tendons: Iterable[Any]) -> dict[str, float]:
    """The mean inverse inertia of each joint's speeds where the file describes it, by (poses-1).

    Args:
        parts: bodies and joints.
        tendons: with their elements and rates; their armature counts.
    """
    values = described(parts)
    poses = Poses(parts, values)
    columns: dict[str, tuple[int, Floats, Floats, Floats]] = {}
    count = 0
    for joint in parts.joints.values():
        if joint.type.nv:
            q = array([values[x] for x in joint.coordinates])
            R, p = (np.array(floats(x, {})) for x in poses.at(joint.successor))
            S = np.array(floats(joint.type.subspace(q), {}), dtype=float)
            columns[joint.successor.body] = (count, p, R @ S[:3], R @ S[3:])
            count += joint.type.nv
    M = _inertia(parts, poses, columns, count)
    speeds = [x for joint in parts.joints.values() for x in joint.speeds]
    for tendon in tendons:
        inertia = float(tendon.element.attributes.get("armature", "0"))
        if inertia:
            J = slopes(tendon.rate, speeds, values)
            M += inertia * np.outer(J, J)
    inverse_inertia = np.linalg.inv(M) if count else M
    means, at = {}, 0
    for name, joint in parts.joints.items():
        n = joint.type.nv
        means[name] = float(np.diag(inverse_inertia)[at : at + n].mean()) if n else 0.0
        at += n
    return means


def slopes(rate: Expr, speeds: list[str], values: Mapping[str, float]) -> Floats:
    """∂(rate)/∂(speeds) of a rate that is linear in them, where the coordinates have values."""
    parts = [directional([rate], {symbol(x): as_expr(1)})[0] for x in speeds]
    return floats(parts, values)


def _inertia(
    parts: Parts, poses: Poses, columns: dict[str, tuple[int, Floats, Floats, Floats]], n: int
) -> Floats:
    M = np.zeros((n, n))
    for name, body in parts.bodies.items():
        R, p = (np.array(floats(x, {})) for x in poses.of(name))
        center = p + R @ floats(body.com, {})
        J, turn = np.zeros((3, n)), np.zeros((3, n))
        for carrier in poses.path(name):
            if carrier in columns:
                at, point, w, v = columns[carrier]
                part = slice(at, at + w.shape[1])
                turn[:, part] = w
                J[:, part] = v + np.cross(w.T, center - point).T
        I = R @ floats(body.inertia, {}) @ R.T
        M += float(floats(body.mass, {})) * J.T @ J + turn.T @ I @ turn
    at = 0
    for name, joint in parts.joints.items():
        k = joint.type.nv
        if k:
            armature = parts.elements[name].attributes.get("armature", "0")
            M[range(at, at + k), range(at, at + k)] += float(armature)
        at += k
    return M


# ---- against the weight


def carried(
    parts: Parts, at: model.Marker, lift: tuple[Any, ...], place: Any, *, is_on: bool
) -> Expr:
    """Adds a force against the weight of a body, and returns its power.

    Joints with `actuatorgravcomp` feel it only where actuation is on; what they would feel is
    taken back otherwise, as (power of the lift along their speeds) in Rayleigh's function.
    """
    poses, off = Poses(parts), []
    moving = [poses.joints[x] for x in poses.path(at.body) if poses.joints[x].type.nv]
    if not moving:
        return ZERO
    power = as_expr(dot(lift, poses.rates(list(poses.at(at)[1]), at.body)))
    if not is_on:
        off = [x for x in moving if is_true(parts.elements[x.name], "actuatorgravcomp")]
    if len(off) < len(moving):
        force = model.PointWrench(f"gravcomp of {at.body}", at, lift, place=place)
        parts.forces.append(force)
    if 0 < len(off) < len(moving):
        speeds = [symbol(x) for joint in off for x in joint.speeds]
        back = sum(directional([power], {v: as_expr(1)})[0] * v for v in speeds)
        name = f"gravcomp of {at.body} without actuators"
        parts.forces.append(model.Dissipation(name, as_expr(back), place=place))
    return power


# ---- a fluid


SMALLEST = 1e-15
"""Mass or moment below which MuJoCo takes none."""


def fluid_drag(root: Element, parts: Parts, axes: Mapping[str, Any]) -> None:
    """Adds the drag of every body that moves, where the file has a medium, by (poses-2).

    Args:
        root: of the file.
        parts: with all bodies and joints.
        axes: principal axes of the bodies' inertia.
    """
    if "passive" in parts.settings.disabled:
        return
    options = {key: x.attributes[key] for x in root.all("option") for key in x.attributes}
    option = Element("option", options, root.place)
    parts.check_not_negative(option, "density", "viscosity")
    density, viscosity = number_in(option, "density", "0"), number_in(option, "viscosity", "0")
    if not (density or viscosity):
        return
    wind = [float(x) for x in numbers_in(option, "wind", 3, "0 0 0")]
    poses = Poses(parts)
    for name, body in parts.bodies.items():
        mass = float(floats(body.mass, {}))
        path = [poses.joints[x] for x in poses.path(name)]
        if mass < SMALLEST or not any(x.type.nv for x in path):
            continue
        R = floats(axes[name], {})
        moments = np.diag(R.T @ floats(body.inertia, {}) @ R)
        b = np.sqrt(np.maximum(SMALLEST, moments.sum() - 2 * moments) / mass * 6)
        drag = _drag(poses, body, R, b, (float(density), float(viscosity)), wind)
        parts.forces.append(model.Dissipation(f"fluid on {name}", drag, place=body.place))


def _drag(
    poses: Poses, body: model.Body, axes: Any, b: Any, medium: tuple[float, float], wind: Any
) -> Any:
    """(poses-2)."""
    density, viscosity = medium
    R, center = poses.at(model.Marker(body.name, p=body.com))
    back = array(product(R, array(axes)).T)
    slip = array(poses.rates(list(center), body.name)) - array(wind)
    v, w = product(back, slip), product(back, poses.turning(body.name))
    d = float(b.mean())
    total: Any = as_expr(0)
    if viscosity:
        total = total + 3 * np.pi * d * viscosity / 2 * sum(x * x for x in v)
        total = total + np.pi * d**3 * viscosity / 2 * sum(x * x for x in w)
    third = Fraction(1, 3)
    for i, (x, y) in enumerate(zip(v, w, strict=True)) if density else ():
        j, k = (i + 1) % 3, (i + 2) % 3
        push = density / 2 * float(b[j] * b[k])
        turn = density / 64 * float(b[i] * (b[j] ** 4 + b[k] ** 4))
        total = total + third * push * absolute(x) * x * x + third * turn * absolute(y) * y * y
    return as_expr(total)
