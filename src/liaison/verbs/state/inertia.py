"""Evaluate mass, center, inertia and principal axes.

Public names: inertia, MassGeometry, inertias_at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.arguments import checked
from liaison.errors import ArgumentError, ModelError, NamingError
from liaison.expr import as_expr, evaluate, symbol
from liaison.lazy import Shown
from liaison.numeric import Array
from liaison.spatial import WORLD, Frame, Inertia, Pose
from liaison.verbs.at_state import AtState, Positions, at_state, point_of
from liaison.verbs.given import Given, Value, mechanism_of
from liaison.verbs.short import row


@final
@dataclass(frozen=True, slots=True, repr=False)
class MassGeometry(Shown):
    """Masses of bodies together, in the axes of the ground or of a body.

    Attributes:
        bodies: names.
        axes: whose frame the numbers are in.
        point: about which tensors are taken, in that frame [m].
        inertia: mass, center, and I about the center; it has moments about axes and planes.
    """

    bodies: tuple[str, ...]
    axes: str
    point: Array
    inertia: Inertia

    @property
    def about_point(self) -> Array:
        """I about the point, by Huygens [kg·m²]."""
        return np.asarray(self.inertia.about(self.point), dtype=float)

    @property
    def product_tensor(self) -> Array:
        """P = ½ tr(I) 1 − I about the point [kg·m²]."""
        return np.asarray(self.inertia.product_tensor(self.point), dtype=float)

    @property
    def principal(self) -> tuple[Array, Array]:
        """Principal moments about the point, rising, and their axes as columns."""
        pose, moments = self.inertia.principal(self.point)
        return np.asarray(moments, dtype=float), np.asarray(pose.R, dtype=float)

    @property
    def half_axes(self) -> Array:
        """1/√I of the ellipsoid of inertia about the point; infinite where I = 0."""
        return np.asarray(self.inertia.ellipsoid(self.point)[1], dtype=float)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        moments, axes = self.principal
        return {
            "bodies": list(self.bodies),
            "axes": self.axes,
            "point": self.point.tolist(),
            "mass": float(self.inertia.mass),
            "center": np.asarray(self.inertia.com, dtype=float).tolist(),
            "I_center": np.asarray(self.inertia.rotational, dtype=float).tolist(),
            "I_point": self.about_point.tolist(),
            "P_point": self.product_tensor.tolist(),
            "moment_about_point": float(self.inertia.moment_about_point(self.point)),
            "principal_moments": moments.tolist(),
            "principal_axes": axes.tolist(),
            "ellipsoid_half_axes": [x if np.isfinite(x) else None for x in self.half_axes.tolist()],
        }

    @property
    def text(self) -> str:
        """A page."""
        moments, axes = self.principal
        rows = {
            "mass": f"{float(self.inertia.mass):.9g} kg",
            "center": row(self.inertia.com) + " m",
            "I about it": _rows(self.inertia.rotational),
            "I at point": _rows(self.about_point),
            "P at point": _rows(self.product_tensor),
            "principal": row(moments) + " kg·m²",
            "axes": ", ".join(row(x) for x in axes.T),
            "ellipsoid": row(self.half_axes) + " 1/√(kg·m²)",
        }
        at = f"point {row(self.point)} m"
        head = f"{', '.join(self.bodies)}, in the axes of {self.axes}, {at}"
        return "\n".join([head, *(f"  {name:<11} {text}" for name, text in rows.items())])

    def __str__(self) -> str:
        return self.text


def _rows(x: Any) -> str:
    return "[" + ", ".join(map(row, x)) + "] kg·m²"


def inertias_at(given: Given, state: AtState) -> dict[str, Inertia]:
    """The inertia of every body but the ground, in the ground's axes.

    Raises:
        ModelError: a mass or a length without a value.
    """
    labels = state.kernel.program.labels.get("p", ())
    values = {symbol(x.name): float(y) for x, y in zip(labels, state.p, strict=True)}
    poses = state("poses")
    inertias = {}
    for body in mechanism_of(given).bodies[1:]:
        entries = [body.mass, *body.com, *(x for row in body.inertia for x in row)]
        numbers = np.array([float(x) for x in evaluate([as_expr(y) for y in entries], values)])
        if not np.isfinite(numbers).all():
            raise ModelError(f"the mass geometry of {body.name!r} depends on an unknown.")
        own = Inertia(Frame(body.name), numbers[0], numbers[1:4], numbers[4:].reshape(3, 3))
        block = poses[body.name]
        inertias[body.name] = own.moved(
            Pose(Frame(body.name), WORLD, block[:9].reshape(3, 3), block[9:])
        )
    return inertias


@checked
def inertia(
    given: Given,
    bodies: Sequence[str] = (),
    q: Positions = None,
    *,
    point: Sequence[float | str] | None = None,
    axes: str = "ground",
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> MassGeometry:
    """Mass, center, tensors I and P, principal axes and ellipsoid of bodies taken together.

    Args:
        given: the mechanism, the path of its text, or the text.
        bodies: names; all of them if none is named.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        point: of the tensors, in the frame of `axes` [m]; the center of mass if not given.
        axes: "ground", or the body whose frame is used.
        t: time [s].
        parameters: other values of parameters, by name.

    Raises:
        NamingError: no body has that name.
        ModelError: a mass or a length without a value.

    Example:
        >>> import liaison
        >>> round(float(liaison.inertia("examples/pendulum.lsd").inertia.mass), 6)
        1.0
    """
    bodies = (bodies,) if isinstance(bodies, str) else bodies
    state = at_state(given, q, t=t, parameters=parameters)
    every = inertias_at(given, state)
    for name in (*bodies, *(() if axes == "ground" else (axes,))):
        if name not in every:
            raise NamingError.unknown("body", name, every)
    if len({*bodies}) < len(bodies):
        twice = next(x for x in bodies if [*bodies].count(x) > 1)
        raise ArgumentError(f"inertia: bodies names {twice!r} twice; its mass counts once.")
    first, *rest = (every[name] for name in (bodies or every))
    whole = sum(rest, first)
    if axes != "ground":
        block = state("poses")[axes]
        R, p = block[:9].reshape(3, 3), block[9:]
        whole = whole.moved(Pose(WORLD, Frame(axes), R.T, -R.T @ p))
    center = np.asarray(whole.com, dtype=float)
    at = center if point is None else point_of("inertia", point)
    return MassGeometry(tuple(bodies or every), axes, at, whole)
