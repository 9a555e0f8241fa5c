"""A joint type in one file: a pin that slides in a slot along x of F and turns about z."""

from __future__ import annotations

from dataclasses import dataclass

from liaison.expr import cos, sin
from liaison.model.joints import (
    Block,
    JointType,
    Rail,
    Tube,
    basic_constraints,
    nearest_angle,
    steps,
)
from liaison.spatial import array, rotation_z


@dataclass(frozen=True, slots=True)
class PinInSlot(JointType):
    """Pin in a slot: slides along x of F and turns about z."""

    NAMES = ("slide", "angle")
    UNITS = ("m", "rad")
    ROWS = ("force along y", "force along z", "moment about x", "moment about y")

    SYNONYMS = ("slotted_pin",)
    HAS_AXIS = True
    SYMBOL = (Tube(), Block((6.0, 2.4, 0.8), 0.6), Rail("x"))
    MOTIONS = steps("slide_xF turn_zF@M")
    CONSTRAINTS = basic_constraints("plane_y plane_z yF.zM xF.zM")
    TURN = "angle"

    def pose(self, q):
        return rotation_z(q[1]), array([q[0], 0, 0])

    def subspace(self, q):
        c, s = cos(q[1]), sin(q[1])
        return array([[0, 0], [0, 0], [0, 1], [c, 0], [-s, 0], [0, 0]])

    def residual(self, R, p):
        return [p[1], p[2], -R[1, 2], R[0, 2]]

    def positive(self, R, p):
        return [R[2, 2]]

    def coordinates_of(self, R, p, near):
        return array([p[0], nearest_angle(R[1, 0], R[0, 0], near[1])])
