"""Joints composed of the four basic constraints, and the wrench that their multipliers are.

The axis u of a joint is z of its markers, and (u, b, c) = (z, x, y) is direct:

    2r  1r(c_i, u_j), 1r(b_i, u_j)      moments about u × c = −b and u × b = c
    2n  1n(b_i), 1n(c_i)                forces along b_i and c_i
    screw  1n(u_i) + k θ                force along u_i and k times it as moment         (basic-2)

Public names: basic_rows, wrench_of, screw, hinge_motion.

Source: LL 4.5.2.
Differs: LL gives the first moment of 2r about +b (docs/errata.md); k is minus the pitch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from liaison.errors import DerivationError
from liaison.expr import atan2
from liaison.model import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    JointType,
    LineOnPlane,
    ParallelAxes,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
    SphericalPin,
    Universal,
)
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, times, zeros

from .basic_constraints import BasicRow, Side, coincident, distance, in_plane, orthogonal

X, Y, Z = 0, 1, 2


def basic_rows(kind: JointType, i: Side, j: Side, *, turns: Any = 0) -> list[BasicRow]:
    """The rows of a joint from C_i (its predecessor) to C_j, by the basic constraints.

    Args:
        kind: the joint's type.
        i: the predecessor with marker F.
        j: the successor with marker M.
        turns: whole turns that a screw has made besides its angle in (−π, π].
    """
    if isinstance(kind, Rod):
        return [distance(i, j, kind.length)]
    if isinstance(kind, Helical):
        return [screw(i, j, -kind.pitch, turns), *_axis(i, j), *_parallel(i, j)]
    if type(kind) not in COMPOSED:
        raise DerivationError(
            f"a {kind.name} joint is not composed of the basic constraints.",
            hint="Known are " + ", ".join(x.__name__ for x in COMPOSED) + ", Helical and Rod.",
        )
    return COMPOSED[type(kind)](i, j)


def wrench_of(rows: Sequence[BasicRow], multipliers: Sequence[Any]) -> tuple[Array, Array]:
    """Moment at P_j and force of C_i on C_j, in the ground's axes."""
    moment, force = zeros(3), zeros(3)
    for row, factor in zip(rows, multipliers, strict=True):
        moment = array([plus(a, times(factor, b)) for a, b in zip(moment, row.moment, strict=True)])
        force = array([plus(a, times(factor, b)) for a, b in zip(force, row.force, strict=True)])
    return moment, force


def screw(i: Side, j: Side, k: Any, turns: Any = 0) -> BasicRow:
    """u_i · d + k (θ + 2 n π) = 0: λ is the force along u_i, k λ the moment about it."""
    along, u = in_plane(i, i.axes[:, Z], j), i.axes[:, Z]
    angle, _, bend = hinge_motion(i, j)
    at_i, at_j, turn_i, turn_j = along.J
    moment = array([times(k, x) for x in u])
    J = (at_i, at_j, turn_i - moment, turn_j + moment)
    value = plus(along.value, times(k, plus(angle, times(turns, 6.283185307179586))))
    gamma = minus(along.gamma, times(k, bend))
    return BasicRow("screw: force along the axis", value, J, gamma, u, moment, along.unit)


def hinge_motion(i: Side, j: Side) -> tuple[Any, Any, Any]:
    """Angle θ in (−π, π] about u_i, its rate, and what θ̈ is where Ω does not change."""
    u, b_i, c_i, b_j = i.axes[:, Z], i.axes[:, X], i.axes[:, Y], j.axes[:, X]
    angle = atan2(dot(c_i, b_j), dot(b_i, b_j))
    rate = minus(dot(u, j.omega), dot(u, i.omega))
    return angle, rate, dot(cross(i.omega, u), j.omega)


def _square(i: Side, first: int, j: Side, second: int) -> BasicRow:
    return orthogonal(i, i.axes[:, first], j, j.axes[:, second])


def _parallel(i: Side, j: Side) -> list[BasicRow]:
    return [_square(i, Y, j, Z), _square(i, X, j, Z)]


def _axis(i: Side, j: Side) -> list[BasicRow]:
    return [in_plane(i, i.axes[:, X], j), in_plane(i, i.axes[:, Y], j)]


def _plane(i: Side, j: Side) -> list[BasicRow]:
    return [in_plane(i, i.axes[:, Z], j)]


def _upright(i: Side, j: Side) -> list[BasicRow]:
    return [_square(i, Y, j, X), *_parallel(i, j)]


COMPOSED: Mapping[type[JointType], Callable[[Side, Side], list[BasicRow]]] = MappingProxyType(
    {
        Free: lambda i, j: [],
        Spherical: coincident,
        Universal: lambda i, j: [*coincident(i, j), _square(i, X, j, Y)],
        SphericalPin: lambda i, j: [*coincident(i, j), _square(i, Y, j, Z)],
        Revolute: lambda i, j: [*coincident(i, j), *_parallel(i, j)],
        Fixed: lambda i, j: [*coincident(i, j), *_upright(i, j)],
        Cylindrical: lambda i, j: [*_axis(i, j), *_parallel(i, j)],
        Prismatic: lambda i, j: [*_axis(i, j), *_upright(i, j)],
        PointOnLine: _axis,
        PointOnPlane: _plane,
        Planar: lambda i, j: [*_plane(i, j), *_parallel(i, j)],
        LineOnPlane: lambda i, j: [*_plane(i, j), _square(i, Z, j, X)],
        Perpendicular: lambda i, j: [_square(i, X, j, Y)],
        ParallelAxes: _parallel,
    }
)
"""How each type is composed; the screw and the rod have a number of their own."""
