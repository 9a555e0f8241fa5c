"""Where bodies are and how they move: as formulas of coordinates, or at a configuration.

    M = Σ m Jᵀ J + Jωᵀ I Jω + armature                                                  (poses-1)

over all bodies at the described configuration is what MuJoCo scales its automatic springs and
dampers with. A fluid acts on boxes that have the bodies' inertia, by Rayleigh's function

    D = Σ ½ c v² + ½ k ω² + Σ ⅓ (ρ/2) bⱼ bₖ |vᵢ|³ + ⅓ (ρ/64) bᵢ (bⱼ⁴ + bₖ⁴) |ωᵢ|³     (poses-2)

with c = 3 π d β and k = π d³ β, d the mean side of the box b, v the velocity of the centre of mass
against the wind and ω, both in the principal axes.

Public names: Poses, described, weights, fluid_drag.

Source: MUJOCO Computation, kinematics and passive forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import liaison.model as model
from liaison.expr import absolute, as_expr, directional, symbol
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats
from liaison.spatial import Array, array, compose, identity, product, zeros
from liaison.spatial.plucker import inverse

from .parts import Parts, Pose

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


def _back(marker: model.Marker) -> tuple[Any, Any]:
    pose: tuple[Any, Any] = inverse(marker.rotation, marker.position)
    return pose


def described(parts: Parts, *, of_springs: bool = False) -> dict[str, float]:
    """Every coordinate as the file describes it, or where its spring is at rest."""
    values = {label: 0.0 for joint in parts.joints.values() for label in joint.coordinates}
    values |= {
        x.coordinates[-4]: 1.0 for x in parts.joints.values() if len(x.coordinates) in (4, 7)
    }
    values |= {x.label: float(x.value) for x in parts.starts if x.label in values}
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


def weights(parts: Parts) -> dict[str, float]:
    """The mean inverse inertia of each joint's speeds where the file describes it, by (poses-1)."""
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
    inverse_inertia = np.linalg.inv(M) if count else M
    means, at = {}, 0
    for name, joint in parts.joints.items():
        n = joint.type.nv
        means[name] = float(np.diag(inverse_inertia)[at : at + n].mean()) if n else 0.0
        at += n
    return means


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


# ---- a fluid


SMALLEST = 1e-15
"""Mass or moment below which MuJoCo takes none."""


def fluid_drag(root: Element, parts: Parts, single: Mapping[str, Any]) -> None:
    """Adds the drag of every body that moves, where the file has a medium, by (poses-2).

    Args:
        root: of the file.
        parts: with all bodies and joints.
        single: axes of a body's only geom, by body.
    """
    options = {key: x.attributes[key] for x in root.all("option") for key in x.attributes}
    option = Element("option", options, root.place)
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
        axes, moments = principal(body, single.get(name))
        b = np.sqrt(np.maximum(SMALLEST, moments.sum() - 2 * moments) / mass * 6)
        drag = _drag(poses, body, axes, b, (float(density), float(viscosity)), wind)
        parts.forces.append(model.Dissipation(f"fluid on {name}", drag, place=body.place))


def principal(body: model.Body, single: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Principal axes and moments: those of a body's only geom, in its order, or sorted."""
    tensor = floats(body.inertia, {})
    if single is not None:
        R = floats(single, {})
        return R, np.diag(R.T @ tensor @ R)
    moments, axes = np.linalg.eigh(tensor)
    return axes, moments


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
