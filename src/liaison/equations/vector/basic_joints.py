"""Joints composed of the four basic constraints, and the wrench that their multipliers are.

The axis u of a joint is z of its markers, and (u, b, c) = (z, x, y) is direct:

    2r  1r(c_i, u_j), 1r(b_i, u_j)      moments about u × c = −b and u × b = c
    2n  1n(b_i), 1n(c_i)                forces along b_i and c_i
    screw  1n(u_i) + k θ                force along u_i and k times it as moment         (basic-2)

Four basic constraints between two bodies: value, rows of J, Γ, and the effort each one is.

Bodies C_i and C_j move with velocities v of their mass centers G and angular velocities Ω; P is a
point of each at p from its G, and d = P_i P_j. With J a = Γ the second derivative of a constraint,

    3t  d                Γ = Ω_i × (Ω_i × p_i) − Ω_j × (Ω_j × p_j)
    1t  ½ (d · d − l²)   Γ = −ḋ · ḋ + d · (Ω_i × (Ω_i × p_i) − Ω_j × (Ω_j × p_j))
    1r  u_i · u_j        Γ = Ω_ij · (u_i (u_j · Ω_i) − u_j (u_i · Ω_j)) + (u_i · u_j) Ω_ij · Ω_ij
    1n  u_i · d          Γ = (u_i × Ω_i) · (Ω_i × (p_i − d) + 2 ḋ) − u_i · Ω_j × (Ω_j × p_j)
                                                                        (basic-1)

with Ω_ij = Ω_j − Ω_i. All vectors are in the ground's axes, numbers or formulas alike.

Public names: basic_rows, wrench_of, screw, hinge_motion, Side, BasicRow, coincident, distance,
orthogonal, in_plane.

Source: LL 4.5.2; LL 4.5.1, 4.5.3.
Differs: LL gives the first moment of 2r about +b (docs/errata.md); k is minus the pitch; Γ of 1r
and 1n corrected; 1r holds off the constraint as well (docs/errata.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from liaison.errors import DerivationError
from liaison.expr import atan2
from liaison.model import JOINT_TYPES, JointType
from liaison.model.joints import BasicConstraint
from liaison.spatial.arrays import Array, array, cross, dot, identity, minus, plus, times, zeros
from liaison.units import FORCE, MOMENT


class Side(NamedTuple):
    """One of the two bodies, with a marker: its point P and its axes. In the ground's axes."""

    place: Array  # of the mass center G
    velocity: Array  # of G
    omega: Array
    arm: Array  # p, from G to P
    axes: Array  # the marker's x, y, z as columns


class BasicRow(NamedTuple):
    """One scalar constraint: J a = Γ, and the wrench on C_j at P_j per unit of its multiplier.

    The columns of J go with v_i, v_j, Ω_i, Ω_j.
    """

    name: str
    value: Any
    J: tuple[Array, Array, Array, Array]
    gamma: Any
    force: Array
    moment: Array
    unit: str  # of multiplier × wrench: "N" or "Nm"

    def rate(self, i: Side, j: Side) -> Any:
        """J v."""
        moving = (i.velocity, j.velocity, i.omega, j.omega)
        return dot([x for column in self.J for x in column], [x for speed in moving for x in speed])

    def columns(self, S_i: Array, S_j: Array) -> tuple[Array, Array, Array, Array]:
        """J where Ω and its rate are expressed in the axes S of each body, as in LL 4.5.3."""
        at_i, at_j, turn_i, turn_j = self.J
        return at_i, at_j, _components(S_i, turn_i), _components(S_j, turn_j)


def coincident(i: Side, j: Side) -> list[BasicRow]:
    """P_i = P_j, three rows along the ground's axes: λ is the force of C_i on C_j."""
    d, bend = between(i, j), _minus(_whirl(i.omega, i.arm), _whirl(j.omega, j.arm))
    rows = []
    for k, letter in enumerate("xyz"):
        e = identity()[k]
        J = (-e, e, cross(e, i.arm), -cross(e, j.arm))
        name = f"3t: force along {letter} of ground"
        rows.append(BasicRow(name, d[k], J, bend[k], e, zeros(3), FORCE))
    return rows


def distance(i: Side, j: Side, length: Any) -> BasicRow:
    """|P_i P_j| = l: λ l is the force of C_i on C_j along the line from P_i to P_j."""
    d, ddot = between(i, j), _velocity(i, j)
    bend = _minus(_whirl(i.omega, i.arm), _whirl(j.omega, j.arm))
    value = minus(dot(d, d), times(length, length)) / 2
    J = (-d, d, cross(d, i.arm), -cross(d, j.arm))
    gamma = minus(dot(d, bend), dot(ddot, ddot))
    return BasicRow("1t: force along the line", value, J, gamma, d, zeros(3), FORCE)


def orthogonal(i: Side, u_i: Array, j: Side, u_j: Array) -> BasicRow:
    """u_i · u_j = 0: λ is the moment of C_i on C_j about the hinge u_j × u_i."""
    hinge, turning = cross(u_j, u_i), _minus(j.omega, i.omega)
    bend = _minus(_scaled(dot(u_j, i.omega), u_i), _scaled(dot(u_i, j.omega), u_j))
    value = dot(u_i, u_j)
    gamma = plus(dot(turning, bend), times(value, dot(turning, turning)))
    J = (zeros(3), zeros(3), -hinge, hinge)
    return BasicRow("1r: moment about the hinge", value, J, gamma, zeros(3), hinge, MOMENT)


def in_plane(i: Side, u_i: Array, j: Side) -> BasicRow:
    """P_j in the plane of C_i through P_i, normal to u_i: λ is the force on C_j along u_i."""
    d, ddot = between(i, j), _velocity(i, j)
    J = (-u_i, u_i, cross(u_i, _plus(i.arm, d)), -cross(u_i, j.arm))
    drift = _plus(cross(i.omega, _minus(i.arm, d)), _scaled(2, ddot))
    gamma = minus(dot(cross(u_i, i.omega), drift), dot(u_i, _whirl(j.omega, j.arm)))
    return BasicRow("1n: force along the normal", dot(u_i, d), J, gamma, u_i, zeros(3), FORCE)


def between(i: Side, j: Side) -> Array:
    """The vector d from P_i to P_j."""
    return _minus(_plus(j.place, j.arm), _plus(i.place, i.arm))


def _velocity(i: Side, j: Side) -> Array:
    """How d changes, seen from the ground."""
    there = _plus(j.velocity, cross(j.omega, j.arm))
    return _minus(there, _plus(i.velocity, cross(i.omega, i.arm)))


def _whirl(omega: Array, arm: Array) -> Array:
    return cross(omega, cross(omega, arm))


def _components(S: Array, a: Array) -> Array:
    return array([dot(S[:, k], a) for k in range(3)])


def _plus(a: Array, b: Array) -> Array:
    return array([plus(x, y) for x, y in zip(a, b, strict=True)])


def _minus(a: Array, b: Array) -> Array:
    return array([minus(x, y) for x, y in zip(a, b, strict=True)])


def _scaled(factor: Any, a: Array) -> Array:
    return array([times(factor, x) for x in a])


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
    return [row for constraint in kind.CONSTRAINTS for row in _rows(kind, constraint, i, j, turns)]


def _rows(
    kind: JointType, constraint: BasicConstraint, i: Side, j: Side, turns: Any
) -> list[BasicRow]:
    """The rows of one basic constraint of a joint."""
    own: Any = kind
    match constraint.kind:
        case "point":
            return coincident(i, j)
        case "plane":
            return [in_plane(i, i.axes[:, AXES[constraint.axis]], j)]
        case "square":
            first, second = AXES[constraint.axis], AXES[constraint.other]
            return [orthogonal(i, i.axes[:, first], j, j.axes[:, second])]
        case "distance":
            return [distance(i, j, own.length)]
        case "screw":
            return [screw(i, j, -own.pitch, turns)]
        case _:
            raise DerivationError(f"no basic constraint is named {constraint.kind!r}.")


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
