"""What stretches and turns between bodies: springs, rods, arrows of force; points to trace.

Public names: Link, Arrow, IS_COIL, LONGEST, links, joint_forces, arrows, trace_points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, NamingError
from liaison.model import Cable, Distance, Marker, Mechanism
from liaison.model.joints import Strut
from liaison.model.values import floats
from liaison.simulation.record.trajectory import Trajectory

from .contacts import greatest
from .drawing import Drawing, point_path
from .solids import Color

Array = NDArray[np.float64]

SPRING_COLOR: Color = (110, 118, 128)
STRUT_COLOR: Color = (150, 110, 60)
FORCE_COLOR: Color = (214, 48, 49)
IS_COIL = {"coil": True, "strut": False, "dashpot": False, "motor": False}
"""Symbols of loads along a distance: whether they are drawn as a coil, or as a rod."""
LONGEST = 0.5  # the greatest force's arrow, in sizes of the scene


@final
@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Something drawn between two points that move [m], each of shape (n, 3)."""

    name: str
    is_coil: bool
    a: Array
    b: Array
    color: Color


@final
@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """A force: where it acts over time [m], shape (n, 3), and the arrow's length there [m]."""

    name: str
    start: Array
    vector: Array
    color: Color = FORCE_COLOR


def links(drawn: Drawing, mechanism: Mechanism) -> list[Link]:
    """Springs, dampers, actuators along a distance, and rods that are joints."""
    listed = []
    for force in mechanism.forces:
        measure = force.along()
        parts = [x for _, x in measure.terms] if isinstance(measure, Cable) else [measure]
        for part in parts:
            if isinstance(part, Distance):
                ends = (part.a, part.b)
                listed.append(_link(drawn, force.name, ends, IS_COIL[force.SYMBOL]))
    for joint in mechanism.joints:
        if any(isinstance(part, Strut) for part in joint.type.SYMBOL):
            listed.append(_link(drawn, joint.name, (joint.predecessor, joint.successor), False))
    return listed


def _link(drawn: Drawing, name: str, ends: tuple[Marker, Marker], is_coil: bool) -> Link:
    a, b = (point_path(drawn.poses, end.body, floats(end.p, drawn.parameters)) for end in ends)
    return Link(name, is_coil, a, b, SPRING_COLOR if is_coil else STRUT_COLOR)


def joint_forces(run: Trajectory, drawn: Drawing, wanted: bool | Iterable[str]) -> dict[str, Array]:
    """The force each joint puts on its successor, in the world's axes [N], shape (n, 3).

    Args:
        run: with the series "reactions": joint by (moment, force) in the marker's axes [N·m, N].
        drawn: its drawing.
        wanted: all joints that transmit some, none, or these.
    """
    if wanted is False:
        return {}
    series = run.series.get("reactions")
    if series is None and "planes" in run.series:
        raise LiaisonError(
            f"{run.name!r} is a scene of free bodies, which has no joints with forces to draw.",
            hint='Leave forces out. run["planes"] has the force of each plane on the bodies.',
        )
    if series is None:
        raise LiaisonError(
            f"the run {run.name!r} has no reactions to draw.",
            hint='Simulate again with series=("reactions",), or leave out the forces.',
        )
    joints = next(iter(series.axes.values()))
    names = [x for x in joints if x not in drawn.free] if wanted is True else list(wanted)
    for name in names:
        if name not in joints:
            raise NamingError.unknown("joint", name, joints)
    return {x: _in_world(drawn, x, series.values[:, joints.index(x), 3:]) for x in names}


def arrows(
    run: Trajectory, drawn: Drawing, wanted: bool | Iterable[str], scale: float | None = None
) -> list[Arrow]:
    """The same as arrows at the successor's marker; scale [m/N], of the greatest if not given."""
    forces = joint_forces(run, drawn, wanted)
    if scale is None:
        scale = LONGEST * drawn.size / greatest(list(forces.values()))
    return [
        Arrow(
            name,
            point_path(drawn.poses, drawn.markers[name][0], drawn.markers[name][2]),
            scale * force,
        )
        for name, force in forces.items()
    ]


def _in_world(drawn: Drawing, joint: str, force: Array) -> Array:
    body, R, _ = drawn.markers[joint]
    return np.asarray(np.einsum("nij,nj->ni", drawn.poses[body][..., :3] @ R, force))


def trace_points(drawn: Drawing, wanted: Sequence[Any]) -> list[tuple[str, str, Array]]:
    """Name, body and place on it of each point to trace.

    A point is a body's name (its origin), a joint's name (the successor's marker), a
    marker, or a body's name with a place on it [m].
    """
    return [_trace_point(drawn, one) for one in wanted]


def _trace_point(drawn: Drawing, wanted: Any) -> tuple[str, str, Array]:
    if isinstance(wanted, str):
        if wanted in drawn.poses:
            return wanted, wanted, np.zeros(3)
        if wanted in drawn.markers:
            body, _, p = drawn.markers[wanted]
            return wanted, body, p
        raise NamingError.unknown("body or joint", wanted, [*drawn.poses, *drawn.markers])
    if isinstance(wanted, Marker):
        name = wanted.name or wanted.body
        return name, wanted.body, floats(wanted.p, drawn.parameters)
    body, place = wanted
    if body not in drawn.poses:
        raise NamingError.unknown("body", body, drawn.poses)
    return body, body, np.asarray(place, dtype=float)
