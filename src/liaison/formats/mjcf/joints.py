"""Joints of MJCF: where they are, and their springs, dampers, friction, armature and limits.

MuJoCo counts a coordinate from `ref` at the described configuration, we count it from 0.

Public names: Joints, rotation_spring, rotation_vector, is_slide, is_ball.

Source: MUJOCO XML reference, body/joint, and Computation, passive forces.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

import liaison.model as model
from liaison.errors import ModelError, NamingError, TextError
from liaison.expr import Expr, absolute, as_expr, atan2, cos, select, sqrt, symbol
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.poses import is_upright
from liaison.formats.urdf.links import Limits
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.model.values import floats
from liaison.spatial import array, compose, identity, quaternion_of, rotation_onto_z

from .parts import Parts, Pose, marker_at
from .values import is_true, number, stated_limit

JOINTS: dict[str, type[model.JointType]] = {
    "hinge": model.Revolute,
    "slide": model.Prismatic,
    "ball": model.Spherical,
    "free": model.Free,
}
WITHIN = 1e-3
"""How far from the end of its range a joint starts that is described outside, as a part of it."""
CREEP = Fraction(1, 1000)
"""Speed [rad/s, m/s] below which the dry friction of a ball or free body creeps."""


def rotation_spring(stiffness: Any, q: list[Expr]) -> Expr:
    """½ k θ² of the angle θ of a unit quaternion, the smaller of θ and 2π − θ.

    θ = 2 atan2(s, |w|) with s the length of the vector part; near 0, where s has no derivative,
    θ² is 4 s².
    """
    w, x, y, z = q
    squared = x * x + y * y + z * z
    beyond = squared - Fraction(1, 10**14)
    angle = 2 * atan2(sqrt(select(beyond, squared, 1)), absolute(w))
    return as_expr(stiffness * select(beyond, angle * angle / 2, 2 * squared))


def rotation_vector(q: list[Expr]) -> list[Expr]:
    """Axis times angle of a unit quaternion, the angle at most π."""
    w, *vector = q
    squared = sum((x * x for x in vector), as_expr(0))
    beyond = squared - Fraction(1, 10**14)
    size = sqrt(select(beyond, squared, 1))
    factor = select(beyond, 2 * atan2(size, absolute(w)) / size, 2) * select(w, 1, -1)
    return [as_expr(factor * x) for x in vector]


def is_slide(joint: model.Joint) -> bool:
    """Whether the coordinate of a joint is a length."""
    return isinstance(joint.type, model.Prismatic)


def is_ball(joint: model.Joint) -> bool:
    """Whether a joint is a ball."""
    return isinstance(joint.type, model.Spherical)


@final
class Joints:
    """Reads the joints of one file into its parts."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.settings, self.fields = parts, parts.settings, parts.fields
        self.off = parts.settings.disabled

    def joint(self, name: str, element: Element, parent: str, X: Pose, end: str) -> None:
        """One joint: about or along its axis through its place, both in the frame of the body."""
        kind = "free" if element.tag == "freejoint" else element.attributes.get("type", "hinge")
        if kind not in JOINTS:
            raise NamingError.unknown("joint type", kind, JOINTS, place=element.place)
        self.parts.elements[name] = element
        self.parts.check_not_negative(element, "armature", "frictionloss")
        is_true(element, "actuatorgravcomp")
        if kind == "free":
            self.free_joint(name, element, parent, X, end)
            return
        p = array(numbers_in(element, "pos", 3, "0 0 0"))
        turn = identity() if kind == "ball" else rotation_onto_z(self.axis(name, element))
        F, M = marker_at(parent, *compose(*X, turn, p)), marker_at(end, turn, p)
        joint = model.Joint(name, JOINTS[kind](), F, M, place=element.place)
        self.parts.add_joint(joint)
        if kind == "ball":
            self.drag(joint, element)
            self.ball_spring(joint, element, joint.coordinates)
            self.ball_limit(joint, element)
        else:
            self.properties(joint, element, kind)
            self.bounds(joint, element, kind)
        self.rotor(joint, element)

    def axis(self, name: str, element: Element) -> list[Any]:
        """The direction of a hinge or slide."""
        direction = numbers_in(element, "axis", 3, "0 0 1")
        if not any(direction):
            message = f"the axis of joint {name!r} is zero; it has no direction."
            raise ModelError(message, place=element.place)
        return [plain(x) for x in direction]

    def free_joint(self, name: str, element: Element, parent: str, X: Pose, end: str) -> None:
        """A free body counts from the world, and starts where it is described."""
        if parent != "ground":
            message = f"joint {name!r} is free, but its body is inside another or has other joints."
            raise ModelError(
                message,
                place=element.place,
                hint="A free joint is the only one of a body of the world.",
            )
        ends = model.Marker("ground"), model.Marker(end)
        joint = model.Joint(name, model.Free(), *ends, place=element.place)
        self.parts.add_joint(joint)
        R, p = X
        entries: list[Any] = [1, 0, 0, 0]
        if not is_upright(R):
            entries = [float(x) for x in quaternion_of(floats(R, {}))]
        values = dict(zip(joint.coordinates, [*p, *entries], strict=True))
        self.parts.starts += [model.Start(x, y) for x, y in values.items()]
        self.drag(joint, element)
        self.rotor(joint, element)
        if not self.stiffness(element):
            return
        place, turn = joint.coordinates[:3], joint.coordinates[3:]
        stretch: Any = sum((symbol(x) - values[x]) * (symbol(x) - values[x]) for x in place)
        along = model.Potential(f"spring of {name} along", self.stiffness(element) * stretch / 2)
        self.parts.forces.append(along)
        self.ball_spring(joint, element, turn, [values[x] for x in turn])

    def settle(self, name: str, words: dict[str, str]) -> None:
        """Another spring and damper in a joint, in place of those that it has."""
        joint, old = self.parts.joints[name], self.parts.elements[name]
        owned = {f"friction of {name}", f"spring of {name}", f"spring of {name} along"}
        self.parts.forces[:] = [x for x in self.parts.forces if x.name not in owned]
        element = Element(old.tag, old.attributes | words, old.place)
        kind = {1: element.attributes.get("type", "hinge"), 4: "ball", 7: "free"}[joint.type.nq]
        if kind in ("hinge", "slide"):
            self.properties(joint, element, kind)
        elif kind == "ball":
            self.drag(joint, element)
            self.ball_spring(joint, element, joint.coordinates)
        else:
            self.fields.drop(f"'springdamper' of the free joint {name!r} is not read", old)

    # ---- what acts in a joint

    def stiffness(self, element: Element) -> Any:
        """Of the spring in a joint; 0 where springs are off."""
        self.parts.check_not_negative(element, "stiffness")
        return 0 if "spring" in self.off else self.parts.linear(element, "stiffness")

    def damping(self, element: Element) -> Any:
        """Of the damper in a joint; 0 where dampers are off."""
        return 0 if "damper" in self.off else self.parts.linear(element, "damping")

    def dry(self, element: Element) -> Any:
        """The dry friction in a joint."""
        return 0 if "frictionloss" in self.off else number(element, "frictionloss", "0")

    def drag(self, joint: model.Joint, element: Element) -> None:
        """Damping and dry friction of a ball or a free body, the same for all its speeds."""
        viscous, dry = self.damping(element), self.dry(element)
        speeds = [symbol(x) for x in joint.speeds]
        lost: Any = viscous * Fraction(1, 2) * sum(v * v for v in speeds)
        if dry:
            lost = lost + dry * sum(sqrt(v * v + CREEP * CREEP) for v in speeds)
        if viscous or dry:
            name = f"friction of {joint.name}"
            self.parts.forces.append(model.Dissipation(name, lost, place=element.place))

    def ball_spring(
        self, joint: model.Joint, element: Element, labels: Any, rest: list[Any] | None = None
    ) -> None:
        """A spring that turns a ball or a free body back to how it is described."""
        stiffness = self.stiffness(element)
        if not stiffness:
            return
        w, x, y, z = (symbol(label) for label in labels)
        a, b, c, d = rest or [1, 0, 0, 0]
        turned = [
            as_expr(a * w + b * x + c * y + d * z),
            as_expr(a * x - b * w - c * z + d * y),
            as_expr(a * y + b * z - c * w - d * x),
            as_expr(a * z - b * y + c * x - d * w),
        ]
        energy = rotation_spring(stiffness, turned)
        name = f"spring of {joint.name}"
        self.parts.forces.append(model.Potential(name, energy, place=element.place))

    def properties(self, joint: model.Joint, element: Element, kind: str) -> None:
        """Spring and friction of a hinge or a slide."""
        viscous, dry = self.damping(element), self.dry(element)
        label = joint.coordinates[0]
        if viscous or dry:
            name = f"friction of {joint.name}"
            friction = model.JointFriction(name, label, viscous, dry, place=element.place)
            self.parts.forces.append(friction)
        turned, ref = self.counted(element, kind)
        stiffness = self.stiffness(element)
        if stiffness:
            rest = turned(numbers_in(element, "springref", 1, "0")[0] - ref)
            along, name = model.Coordinate(label), f"spring of {joint.name}"
            self.parts.forces.append(
                model.Spring(name, along, stiffness, rest, place=element.place)
            )

    def counted(self, element: Element, kind: str) -> tuple[Any, Fraction]:
        """How numbers of a file become values of a coordinate, and the first of them."""
        turned = self.settings.angle if kind == "hinge" else plain
        return turned, numbers_in(element, "ref", 1, "0")[0]

    def bounds(self, joint: model.Joint, element: Element, kind: str) -> None:
        """Where a hinge or slide counts from, and its limits."""
        turned, ref = self.counted(element, kind)
        if ref:
            self.parts.references[joint.name] = turned(ref)
            note = f"joint {joint.name!r} counts from 0 where MuJoCo counts from 'ref'"
            self.parts.notes.append(note)
        if self.is_limited(element):
            lower, upper = (turned(x - ref) for x in numbers_in(element, "range", 2, ""))
            self.parts.limits[joint.name] = Limits(lower, upper)
            self.stops(joint, lower, upper)

    def stops(self, joint: model.Joint, lower: Any, upper: Any) -> None:
        """Stops at the ends of a range; a joint that is described outside starts within."""
        if not self.parts.has_limits:
            return
        low, high = (float(floats(x, {})) for x in (lower, upper))
        self.parts.contacts += model.stops(joint, lower, upper, place=joint.place)
        if not low <= 0 <= high:
            margin = WITHIN * (high - low)
            start = low + margin if low > 0 else high - margin
            self.parts.starts.append(model.Start(joint.coordinates[0], start))
            where = f"is described outside its range, and starts at {start:.4g}"
            self.parts.notes.append(f"joint {joint.name!r} {where}")

    def ball_limit(self, joint: model.Joint, element: Element) -> None:
        """The greatest angle of a ball: |w| of its quaternion is at least cos of half of it."""
        if not self.is_limited(element):
            return
        least, greatest = numbers_in(element, "range", 2, "")
        if least:
            message = f"'range' of {element} begins at {float(least):g}; that of a ball begins at 0"
            raise TextError(f"{message}.", place=element.place)
        if not self.parts.has_limits:
            return
        greatest = self.settings.angle(greatest)
        formula = cos(greatest / 2) - absolute(symbol(joint.coordinates[0]))
        stop = model.Unilateral(f"{joint.name} stop", formula, place=element.place)
        self.parts.contacts.append(stop)

    def is_limited(self, element: Element) -> bool:
        """Whether `range` counts: by `limited`, or because it is there.

        Raises:
            TextError: a range whose end is below its begin.
        """
        stated = stated_limit(element)
        has_range = "range" in element.attributes
        if stated == "auto" and has_range and not self.settings.has_auto_limits:
            message = f"{element} has a 'range', but does not say whether it is limited."
            raise TextError(message, place=element.place, hint="Set limited='true' or 'false'.")
        if stated == "false" or not has_range:
            return False
        low, high = numbers_in(element, "range", 2, "")
        if low >= high and (low or high):
            message = f"'range' of {element} ends at {float(high):g}, below its begin."
            raise TextError(message, place=element.place)
        return stated == "true" or low < high

    def rotor(self, joint: model.Joint, element: Element) -> None:
        """`armature`: M of each speed of the joint grows by it, and nothing else changes."""
        inertia = number(element, "armature", "0")
        if inertia:
            speeds = [symbol(x) for x in joint.speeds]
            more: Any = sum(v * v for v in speeds)
            self.parts.armature = self.parts.armature + inertia * Fraction(1, 2) * more
