"""What a fluid does to bodies: MuJoCo's model of boxes that have the bodies' inertia.

    D = Σ ½ c v² + ½ k ω² + Σ ⅓ (ρ/2) bⱼ bₖ |vᵢ|³ + ⅓ (ρ/64) bᵢ (bⱼ⁴ + bₖ⁴) |ωᵢ|³        (fluid-1)

with c = 3 π d β and k = π d³ β, d the mean side of the box b, v the velocity of the centre of mass
against the wind and ω, both in the principal axes: forces are −∂D/∂v.

Public names: fluid_drag.

Source: MuJoCo's Computation, passive forces, inertia-based fluid model.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import liaison.model as model
from liaison.expr import absolute, as_expr
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats
from liaison.spatial import array, product

from .geoms import Geoms
from .parts import Parts
from .poses import Poses

SMALLEST = 1e-15
"""Mass or moment below which MuJoCo takes none."""


def fluid_drag(root: Element, parts: Parts, geoms: Geoms) -> None:
    """Adds the drag of every body that moves, where the file has a medium."""
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
        axes, moments = principal(body, geoms.single.get(name))
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
    """(fluid-1)."""
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
