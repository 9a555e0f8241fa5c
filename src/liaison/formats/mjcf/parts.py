"""What a mechanism is made of while a file is read, and how one part finds another by name.

Public names: Parts, marker_at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import liaison.model as model
from liaison.errors import ModelError, NamingError
from liaison.expr import ZERO, Expr
from liaison.formats.poses import rows_of
from liaison.formats.urdf.links import Limits
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.spatial import Array, identity, zeros

from .fields import Fields
from .values import Settings

Pose = tuple[Array, Array]


@final
class Parts:
    """Bodies, joints and all that acts on them, in the order of the file."""

    def __init__(self, settings: Settings, fields: Fields, limits: bool = True) -> None:
        self.has_limits = limits and "limit" not in settings.disabled
        self.settings, self.fields, self.notes = settings, fields, fields.notes
        self.bodies: dict[str, model.Body] = {}
        self.joints: dict[str, model.Joint] = {}
        self.loops: list[model.Joint] = []
        self.constraints: list[model.Constraint] = []
        self.forces: list[model.Force] = []
        self.contacts: list[model.OneSided] = []
        self.inputs: list[model.Input] = []
        self.outputs: list[model.Output] = []
        self.starts: list[model.Start] = []
        self.limits: dict[str, Limits] = {}
        self.armature: Expr = ZERO  # ½ Σ armature · speed²
        self.home: dict[str, Pose] = {"ground": (identity(), zeros(3))}  # as described
        self.sites: dict[str, model.Marker] = {}
        self.elements: dict[str, Element] = {}  # of joints, by name
        self.references: dict[str, Any] = {}  # `ref` of joints: MuJoCo's coordinate less ours
        self.carried: dict[str, str] = {}  # body -> its parent body

    # ---- names

    def add_joint(self, joint: model.Joint) -> None:
        """One more joint of the tree."""
        if joint.name in self.joints:
            raise NamingError.double("joints", joint.name, place=joint.place)
        self.joints[joint.name] = joint

    def free(self, wish: str, taken: Iterable[str] | None = None) -> str:
        """A name like the requested one that no joint has, or none of `taken`."""
        known = {*(self.joints if taken is None else taken)}
        while wish in known:
            wish += "_"
        return wish

    def body(self, element: Element, key: str) -> str:
        """The name of the body that an attribute names."""
        name = element.get(key)
        if name == "world":
            return "ground"
        name = "ground_body" if name == "ground" else name
        if name not in self.bodies:
            raise NamingError.unknown("body", name, self.bodies, place=element.place)
        return name

    def site(self, element: Element, key: str) -> model.Marker:
        """The frame of the site that an attribute names."""
        name = element.get(key)
        if name not in self.sites:
            raise NamingError.unknown("site", name, self.sites, place=element.place)
        return self.sites[name]

    def joint(self, element: Element, key: str) -> model.Joint:
        """The joint that an attribute names."""
        name = element.get(key)
        if name not in self.joints:
            raise NamingError.unknown("joint", name, self.joints, place=element.place)
        return self.joints[name]

    def coordinate(self, element: Element, key: str) -> str:
        """The coordinate of the hinge or slide that an attribute names."""
        joint = self.joint(element, key)
        if joint.type.nq != 1:
            message = f"joint {joint.name!r} has {joint.type.nq} coordinates, not one."
            raise ModelError(message, place=element.place)
        return joint.coordinates[0]

    # ---- values

    def linear(self, element: Element, key: str) -> Any:
        """A coefficient that may be a polynomial in MuJoCo, of which the first is read."""
        words = element.attributes.get(key, "0").split()
        first, *rest = numbers_in(element, key, len(words) or 1, "0")
        if any(rest):
            self.fields.drop(f"the polynomial {key!r} of {element} is not read", element)
        return int(first) if first.denominator == 1 else first

    def check_not_negative(self, element: Element, *keys: str) -> None:
        """Rejects coefficients below zero, which would make energy."""
        for key in keys:
            words = element.attributes.get(key, "").split()
            if words and numbers_in(element, key, len(words), "")[0] < 0:
                message = f"{key!r} of {element} is {element.attributes[key]}; it is not negative."
                raise ModelError(message, place=element.place)


def marker_at(body: str, R: Array, p: Array, name: str = "") -> model.Marker:
    """A frame on a body."""
    return model.Marker(body, rows_of(R), tuple(p), name)
