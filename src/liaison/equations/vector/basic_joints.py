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

from collections.abc import Sequence
from typing import Any

from liaison.errors import DerivationError
from liaison.expr import atan2
from liaison.model import JOINT_TYPES, JointType
from liaison.model.joints import Held
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, times, zeros

from .basic_constraints import BasicRow, Side, coincident, distance, in_plane, orthogonal

X, Y, Z = 0, 1, 2
AXES = {"x": X, "y": Y, "z": Z}


def basic_rows(kind: JointType, i: Side, j: Side, *, turns: Any = 0) -> list[BasicRow]:
    """The rows of a joint from C_i (its predecessor) to C_j, by the basic constraints.

    Args:
        kind: the joint's type.
        i: the predecessor with marker F.
        j: the successor with marker M.
        turns: whole turns that a screw has made besides its angle in (−π, π].
    """
    if kind.CONSTRAINTS is None:
        known = ", ".join(x.__name__ for x in JOINT_TYPES if x.CONSTRAINTS is not None)
        raise DerivationError(
            f"a {kind.name} joint is not composed of the basic constraints.",
            hint=f"Known are {known}.",
        )
    return [row for held in kind.CONSTRAINTS for row in _rows(kind, held, i, j, turns)]


def _rows(kind: JointType, held: Held, i: Side, j: Side, turns: Any) -> list[BasicRow]:
    """The rows of one basic constraint of a joint."""
    own: Any = kind
    match held.kind:
        case "point":
            return coincident(i, j)
        case "plane":
            return [in_plane(i, i.axes[:, AXES[held.axis]], j)]
        case "square":
            first, second = AXES[held.axis], AXES[held.other]
            return [orthogonal(i, i.axes[:, first], j, j.axes[:, second])]
        case "distance":
            return [distance(i, j, own.length)]
        case "screw":
            return [screw(i, j, -own.pitch, turns)]
        case _:
            raise DerivationError(f"no basic constraint is known by the word {held.kind!r}.")


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
