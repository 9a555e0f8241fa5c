"""A joint type with an option, without any closed form: a pin in a slot on an arc of a circle."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from liaison.expr import cos, sin
from liaison.model.joints import JointType
from liaison.spatial import array, rotation_z


@dataclass(frozen=True, slots=True)
class CurvedSlot(JointType):
    """A pin on an arc about the origin of F, without a turn of its own."""

    radius: Any

    NAMES = ("arc",)
    UNITS = ("rad",)
    OPTIONS = MappingProxyType({"radius": "m"})

    def pose(self, q):
        return rotation_z(q[0]), array([self.radius * cos(q[0]), self.radius * sin(q[0]), 0])

    def subspace(self, q):
        return array([[0], [0], [1], [0], [self.radius], [0]])
