"""Four basic constraints between two bodies: value, rows of J, Γ, and the effort each one is.

Bodies C_i and C_j move with velocities v of their mass centers G and angular velocities Ω; P is a
point of each at p from its G, and d = P_i P_j. With J a = Γ the second derivative of a constraint,

    3t  d                Γ = Ω_i × (Ω_i × p_i) − Ω_j × (Ω_j × p_j)
    1t  ½ (d · d − l²)   Γ = −ḋ · ḋ + d · (Ω_i × (Ω_i × p_i) − Ω_j × (Ω_j × p_j))
    1r  u_i · u_j        Γ = Ω_ij · (u_i (u_j · Ω_i) − u_j (u_i · Ω_j)) + (u_i · u_j) Ω_ij · Ω_ij
    1n  u_i · d          Γ = (u_i × Ω_i) · (Ω_i × (p_i − d) + 2 ḋ) − u_i · Ω_j × (Ω_j × p_j)
                                                                        (basic-1)

with Ω_ij = Ω_j − Ω_i. All vectors are in the ground's axes, numbers or formulas alike.

Public names: Side, BasicRow, coincident, distance, orthogonal, in_plane.

Source: LL 4.5.1, 4.5.3.
Differs: Γ of 1r and 1n corrected; 1r holds off the constraint as well (docs/errata.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
        """J where Ω and its rate are told in the axes S of each body, as in LL 4.5.3."""
        at_i, at_j, turn_i, turn_j = self.J
        return at_i, at_j, _told(S_i, turn_i), _told(S_j, turn_j)


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


def _told(S: Array, a: Array) -> Array:
    return array([dot(S[:, k], a) for k in range(3)])


def _plus(a: Array, b: Array) -> Array:
    return array([plus(x, y) for x, y in zip(a, b, strict=True)])


def _minus(a: Array, b: Array) -> Array:
    return array([minus(x, y) for x, y in zip(a, b, strict=True)])


def _scaled(factor: Any, a: Array) -> Array:
    return array([times(factor, x) for x in a])
