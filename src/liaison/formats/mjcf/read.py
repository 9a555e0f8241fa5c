"""MJCF, MuJoCo's model files, in a documented subset. `reading_of_mjcf` makes a `Mechanism`.

Read are bodies, their joints (hinge, slide, ball, free; several on a body one after another), their
mass from <inertial> or from geoms, damping, friction and springs of joints, equalities connect,
weld and joint, gravity, classes of defaults and the settings of the compiler that bear on these.
Flags of <option> that switch gravity, springs, dampers, friction or equalities off are followed.
What would change the bodies there are, or their motion, is rejected; everything else is noted.

Mass geometry of MJCF bodies: <inertial>, or the geoms evenly filled; and shapes to look at.

Public names: read_mjcf, reading_of_mjcf, Geoms.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import PurePath
from typing import Any

import numpy as np

import liaison.model as model
from liaison.errors import ModelError, NamingError, Place, TextError
from liaison.expr import PI, collector_paused, symbol
from liaison.formats.guard import Reading, check_bodies, computable
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.poses import is_upright, rows_of
from liaison.formats.urdf.links import Limits, color_text, possible_inertia, symmetric
from liaison.formats.urdf.xml import Element, elements_of, number_in, numbers_in
from liaison.model import Body, Box, Cylinder, Sphere
from liaison.model.values import floats
from liaison.spatial import (
    WORLD,
    Array,
    Inertia,
    Pose,
    array,
    compose,
    identity,
    is_zero,
    product,
    quaternion_of,
    rotation_onto_z,
    zeros,
)
from liaison.spatial.plucker import inverse

from .fields import TENDON, Fields
from .values import Settings, is_true, number, settings_of

SOLID = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
MASSLESS = ("plane",)
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
DENSITY = "1000"


class Geoms:
    """Reads the geoms of one body."""

    def __init__(self, settings: Settings, fields: Fields, notes: list[str]) -> None:
        self.settings, self.fields, self.notes = settings, fields, notes
        self.strict = fields.strict

    def body(self, name: str, element: Element, default: str) -> Body:
        """The body of an element: its mass from <inertial>, or from its geoms."""
        geoms = [self.settings.filled(x, default) for x in element.all("geom")]
        inertial, how = element.one("inertial"), self.settings.inertia_from_geoms
        if inertial is not None and how != "true":
            total = self.inertial(self.fields.check(inertial), name)
        elif how == "false":
            total = Inertia.massless(WORLD)
        else:
            first, last = self.settings.groups
            heavy = [x for x in geoms if first <= number_in(x, "group", "0") <= last]
            total = self.filled([self.fields.check(x) for x in heavy if self.is_solid(x, name)])
        shapes = tuple(s for x in geoms for s in self.shapes(x))
        rows, com = rows_of(symmetric(total.rotational)), tuple(total.com)
        return Body(name, total.mass, com, rows, shapes, place=element.place)

    def inertial(self, element: Element, name: str) -> Inertia:
        """<inertial>: mass, centre, and moments along its axes."""
        mass = number_in(element, "mass")
        if mass < 0:
            message = f"the mass of body {name!r} is {float(mass):g} kg; it must not be negative."
            raise ModelError(message, place=element.place)
        R, p = self.settings.pose(element)
        if "fullinertia" in element.attributes:
            xx, yy, zz, xy, xz, yz = numbers_in(element, "fullinertia", 6, "")
        else:
            xx, yy, zz = numbers_in(element, "diaginertia", 3, "0 0 0")
            xy = xz = yz = Fraction(0)
        tensor = array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        tensor = possible_inertia(tensor, mass, f"body {name!r}", element, self.strict, self.notes)
        return Inertia(WORLD, mass, p, product(product(R, tensor), array(R.T)))

    def filled(self, geoms: list[Element]) -> Inertia:
        """The sum of the geoms."""
        total = Inertia.massless(WORLD)
        for geom in geoms:
            mass, tensor = self.tensor(geom)
            part = Inertia(WORLD, mass, array([0, 0, 0]), array(tensor))
            placed = part.moved(Pose(WORLD, WORLD, *self.placed(geom)))
            if not is_zero(mass):
                total = placed if is_zero(total.mass) else total + placed
        return total

    def is_solid(self, geom: Element, body: str) -> bool:
        """Whether a geom has a mass that is known; others are noted."""
        kind = geom.attributes.get("type", "sphere")
        if kind in SOLID:
            return True
        if kind not in MASSLESS:
            message = f"the mass of the {kind} geom of body {body!r} is not known"
            if self.strict:
                hint = "Give the body an <inertial>, or read with strict=False to leave it out."
                raise ModelError(f"{message}.", place=geom.place, hint=hint)
            self.notes.append(f"{message} (line {geom.place.line})")
        return False

    def sizes(self, geom: Element) -> list[Any]:
        """The sizes of a geom, half lengths as MJCF says them."""
        kind = geom.attributes.get("type", "sphere")
        words = geom.attributes.get("size", "").split()
        sizes = numbers_in(geom, "size", len(words), "")
        is_long = "fromto" in geom.attributes and kind != "sphere"
        count = 1 if is_long else SIZES[kind]
        if len(sizes) < count:
            message = f"{geom} has {len(sizes)} sizes; a {kind} takes {count}."
            raise ModelError(message, place=geom.place)
        if not is_long:
            return list(sizes[:count])
        half = self.fromto(geom)[1] / 2
        return [sizes[0], half] if kind in ("capsule", "cylinder") else [sizes[0], sizes[0], half]

    def fromto(self, geom: Element) -> tuple[Any, Any, Any]:
        """Direction, length and middle of a geom given by its ends."""
        ends = numbers_in(geom, "fromto", 6, "")
        along = [b - a for a, b in zip(ends[:3], ends[3:], strict=True)]
        length = float(np.sqrt(float(sum(x * x for x in along))))
        if length == 0:
            raise ModelError(f"{geom} goes from a point to itself.", place=geom.place)
        return along, length, [(a + b) / 2 for a, b in zip(ends[:3], ends[3:], strict=True)]

    def placed(self, geom: Element) -> tuple[Any, Any]:
        """The pose of a geom on its body; z along fromto."""
        if "fromto" not in geom.attributes:
            return self.settings.pose(geom)
        along, _, middle = self.fromto(geom)
        return rotation_onto_z(along), array(middle)

    def tensor(self, geom: Element) -> tuple[Any, Any]:
        """Mass and moments of inertia in the geom's own axes."""
        kind, sizes = geom.attributes.get("type", "sphere"), self.sizes(geom)
        volume, shares = _FORMS[kind](sizes)
        if "mass" in geom.attributes:
            mass: Any = number_in(geom, "mass")
        else:
            mass = volume * number_in(geom, "density", DENSITY)
        xx, yy, zz = (mass * share for share in shares)
        return mass, [[xx, 0, 0], [0, yy, 0], [0, 0, zz]]

    def shapes(self, geom: Element) -> list[Any]:
        """What can be drawn of a geom: a capsule as a cylinder between two balls."""
        kind = geom.attributes.get("type", "sphere")
        if kind not in SOLID:
            return []
        s, (R, p) = self.sizes(geom), self.placed(geom)
        at: dict[str, Any] = {"R": rows_of(R), "p": tuple(p), "color": _color(geom)}
        if kind == "sphere":
            return [Sphere(s[0], **at)]
        if kind == "box":
            return [Box(2 * s[0], 2 * s[1], 2 * s[2], **at)]
        if kind == "ellipsoid":
            return [Sphere(max(s), **at)]
        body = Cylinder(s[0], 2 * s[1], **at)
        if kind == "cylinder":
            return [body]
        ends = [array(p) + sign * s[1] * array([row[2] for row in R]) for sign in (-1, 1)]
        return [body, *(Sphere(s[0], **(at | {"p": tuple(end)})) for end in ends)]


def _sphere(s: list[Any]) -> tuple[Any, Any]:
    share = Fraction(2, 5) * s[0] * s[0]
    return Fraction(4, 3) * PI * (s[0] * s[0] * s[0]), (share, share, share)


def _cylinder(s: list[Any]) -> tuple[Any, Any]:
    r, h = s[0], 2 * s[1]
    across = h * h / 12 + r * r / 4
    return PI * (r * r * h), (across, across, r * r / 2)


def _capsule(s: list[Any]) -> tuple[Any, Any]:
    """A cylinder and two half balls; the common factor π falls out of the shares."""
    r, h = s[0], 2 * s[1]
    tube, ball = r * r * h, Fraction(4, 3) * r * r * r
    a, b = tube / (tube + ball), ball / (tube + ball)
    along = a * r * r / 2 + b * Fraction(2, 5) * r * r
    across = a * (h * h / 12 + r * r / 4) + b * (
        Fraction(2, 5) * r * r + h * h / 4 + Fraction(3, 8) * h * r
    )
    return PI * (tube + ball), (across, across, along)


def _box(s: list[Any]) -> tuple[Any, Any]:
    x, y, z = (a * a for a in s)
    return 8 * s[0] * s[1] * s[2], ((y + z) / 3, (x + z) / 3, (x + y) / 3)


def _ellipsoid(s: list[Any]) -> tuple[Any, Any]:
    x, y, z = (a * a for a in s)
    volume = Fraction(4, 3) * PI * (s[0] * s[1] * s[2])
    return volume, ((y + z) / 5, (x + z) / 5, (x + y) / 5)


_FORMS: dict[str, Any] = {
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "box": _box,
    "ellipsoid": _ellipsoid,
}


def _color(geom: Element) -> str:
    return color_text(numbers_in(geom, "rgba", 4, "")) if "rgba" in geom.attributes else ""


JOINTS: dict[str, type[model.JointType]] = {
    "hinge": model.Revolute,
    "slide": model.Prismatic,
    "ball": model.Spherical,
    "free": model.Free,
}
MAKING = ("include", "frame", "replicate", "composite", "flexcomp", "attach", "deformable")
USED: dict[str, set[str]] = {
    "mujoco": {"compiler", "option", "default", "worldbody", "equality"},
    "worldbody": {"body", "geom"},
    "body": {"body", "geom", "joint", "freejoint", "inertial"},
    "equality": {"connect", "weld", "joint"},
    "option": {"flag"},
}


def read_mjcf(text: str | bytes, **options: Any) -> model.Mechanism:
    """The mechanism of an MJCF text; see `reading_of_mjcf`."""
    return reading_of_mjcf(text, **options).mechanism


def reading_of_mjcf(text: str | bytes, *, file: str = "text.xml", strict: bool = True) -> Reading:
    """The mechanism of an MJCF text, with notes.

    Args:
        text: the description.
        file: its name, for messages.
        strict: rejects impossible inertias and geoms whose mass is not known; otherwise they are
            repaired or left out, and noted.

    Raises:
        TextError: not XML, not MJCF, or a number that is none, with file and line.
        NamingError: bodies, joints or classes that are not there, or there twice.
        ModelError: a description that no mechanism can have.
    """
    data = text.encode() if isinstance(text, str) else text
    with collector_paused(), computable(Place(file, 1)):
        root = elements_of(data, file)
        if root.tag != "mujoco":
            raise TextError(f"the root is {root}; MJCF begins with <mujoco>.", place=root.place)
        return _Model(root, strict).reading()


class _Model:
    """The bodies and joints of a file."""

    def __init__(self, root: Element, strict: bool) -> None:
        self.root, self.strict = root, strict
        self.notes: list[str] = []
        self.settings: Settings = settings_of(root)
        self.fields = Fields(strict, self.notes)
        self.geoms = Geoms(self.settings, self.fields, self.notes)
        self.ties: list[model.Constraint] = []
        self.bodies: dict[str, model.Body] = {}
        self.joints: dict[str, model.Joint] = {}
        self.forces: list[model.Force] = []
        self.starts: list[model.Start] = []
        self.limits: dict[str, Limits] = {}
        self.home: dict[str, tuple[Array, Array]] = {"ground": (identity(), zeros(3))}

    def reading(self) -> Reading:
        """Everything, parents first."""
        self.note_strangers()
        for world in self.root.all("worldbody"):
            self.children(world, "ground", "main")
        ties, loops = self.equalities()
        name = self.root.attributes.get("model", "")
        mechanism = model.Mechanism(
            name=name or PurePath(self.root.place.file).stem,
            bodies=tuple(self.bodies.values()),
            joints=(*self.joints.values(), *loops),
            constraints=(*self.ties, *ties),
            forces=(model.Gravity(self.gravity()), *self.forces),
            starts=tuple(self.starts),
            place=self.root.place,
        )
        return Reading(mechanism, self.all_notes(), limits=self.limits)

    def note_strangers(self) -> None:
        """Names what is not used, each kind once; rejects what would make bodies or move them."""
        front = [self.root]
        while front:
            element = front.pop()
            for child in element.children:
                if child.tag in MAKING:
                    message = f"<{child.tag}> in <{element.tag}> is not read."
                    raise TextError(message, place=child.place, hint="Write out what it makes.")
                if child.tag not in USED.get(element.tag, {child.tag}):
                    self.stranger(element, child)
                elif child.tag in USED:
                    front.append(child)
        for element in (*self.root.all("compiler"), *self.root.all("option")):
            self.fields.check(element)

    def stranger(self, parent: Element, element: Element) -> None:
        """An element that is not read."""
        if element.tag == "tendon":
            for tendon in element.children:
                filled = self.settings.filled(tendon, "main", "tendon")
                acts = [x for x in TENDON if float(number(filled, x, "0")) != 0]
                if acts:
                    self.fields.drop(f"{acts[0]!r} of the tendon {tendon} is not read", tendon)
        if parent.tag == "equality":
            self.fields.drop(f"the equality {element} is not read", element)
        elif element.tag == "plugin":
            self.fields.drop(f"{element} is not read", element)
        else:
            self.fields.count(f"<{element.tag}> in <{parent.tag}>")

    def all_notes(self) -> tuple[str, ...]:
        """Everything that is not used, or was repaired."""
        notes = [*self.fields.counted(), *self.notes]
        if any(world.all("geom") for world in self.root.all("worldbody")):
            notes.append("the geoms of the world are not drawn")
        notes.append("contacts between geoms are not read")
        if self.limits:
            notes.append(f"limits of {len(self.limits)} joints are kept, but not enforced")
        return tuple(notes)

    def gravity(self) -> tuple[Any, ...]:
        """Of <option>; MuJoCo's own where it says nothing, none where its flag is off."""
        if "gravity" in self.settings.disabled:
            return (0, 0, 0)
        options = [x for x in self.root.all("option") if "gravity" in x.attributes]
        return tuple(numbers_in(options[-1] if options else None, "gravity", 3, "0 0 -9.81"))

    # ---- bodies and their joints

    def children(self, element: Element, parent: str, default: str) -> None:
        """The bodies inside an element, without recursion."""
        check_bodies(element.count("body"), element.place)
        front = [(child, parent, default) for child in reversed(element.all("body"))]
        while front:
            child, on, inherited = front.pop()
            name, own = self.body(child, on, inherited)
            front += [(x, name, own) for x in reversed(child.all("body"))]

    def body(self, element: Element, parent: str, default: str) -> tuple[str, str]:
        """A body with the joints that carry it; its name and its children's class."""
        default = element.attributes.get("childclass", default)
        name = element.attributes.get("name") or f"body {len(self.bodies) + 1}"
        name = "ground_body" if name == "ground" else name
        if name in self.bodies:
            raise NamingError.double("bodies", name, place=element.place)
        with computable(element.place):
            body = self.geoms.body(name, element, default)
            X = self.settings.pose(element)
        self.home[name] = compose(*self.home[parent], *X)
        self.fields.check(element)
        joints = [self.settings.filled(x, default) for x in element.all("joint")]
        joints = [self.fields.check(x) for x in (*joints, *element.all("freejoint"))]
        self.carry(body, parent, X, joints, element)
        self.bodies[name] = body
        return name, default

    def carry(
        self,
        body: model.Body,
        parent: str,
        X: tuple[Array, Array],
        joints: list[Element],
        at: Element,
    ) -> None:
        """The joints of a body; between two of them moves a body without mass."""
        if not joints:
            name, ends = (
                self.free(f"{body.name} fixed"),
                (_marker(parent, *X), model.Marker(body.name)),
            )
            self.add(model.Joint(name, model.Fixed(), *ends, place=at.place))
        for k, element in enumerate(joints):
            is_last = k == len(joints) - 1
            end = body.name if is_last else f"{body.name} after {k + 1}"
            if not is_last:
                self.bodies[end] = model.Body(end, place=element.place)
            name = element.attributes.get("name") or self.free(f"{body.name} joint {k + 1}")
            self.joint(name, element, parent, X, end)
            parent, X = end, (identity(), zeros(3))

    def joint(
        self, name: str, element: Element, parent: str, X: tuple[Array, Array], end: str
    ) -> None:
        """One joint: about or along its axis through its place, both in the frame of the body."""
        kind = "free" if element.tag == "freejoint" else element.attributes.get("type", "hinge")
        if kind not in JOINTS:
            raise NamingError.unknown("joint type", kind, JOINTS, place=element.place)
        if kind in ("free", "ball"):
            for word in ("stiffness", "frictionloss", "armature"):
                if number(element, word, "0"):
                    self.fields.drop(f"{word!r} of the {kind} joint {name!r} is not read", element)
        if kind == "free":
            self.free_joint(name, element, parent, X, end)
            return
        p = array(numbers_in(element, "pos", 3, "0 0 0"))
        turn = identity() if kind == "ball" else rotation_onto_z(self.axis(name, element))
        F = compose(*X, turn, p)
        joint = model.Joint(name, JOINTS[kind](), _marker(parent, *F), _marker(end, turn, p),
                     place=element.place)  # fmt: skip
        self.add(joint)
        if kind == "ball":
            self.drag(joint, element)
        else:
            self.properties(joint, element, kind)

    def drag(self, joint: model.Joint, element: Element) -> None:
        """The damping of a ball or a free body, the same for all its speeds."""
        viscous = 0 if "damper" in self.settings.disabled else number(element, "damping", "0")
        if viscous:
            lost = viscous * Fraction(1, 2) * sum(symbol(x) * symbol(x) for x in joint.speeds)
            name = f"friction of {joint.name}"
            self.forces.append(model.Dissipation(name, lost, place=element.place))

    def axis(self, name: str, element: Element) -> list[Any]:
        direction = numbers_in(element, "axis", 3, "0 0 1")
        if not any(direction):
            message = f"the axis of joint {name!r} is zero; it has no direction."
            raise ModelError(message, place=element.place)
        return [plain(x) for x in direction]

    def free_joint(
        self, name: str, element: Element, parent: str, X: tuple[Array, Array], end: str
    ) -> None:
        """A free body counts from the world, and starts where it is described."""
        if parent != "ground":
            message = f"joint {name!r} is free, but its body is inside another."
            raise ModelError(message, place=element.place)
        joint = model.Joint(
            name, model.Free(), model.Marker("ground"), model.Marker(end), place=element.place
        )
        self.add(joint)
        self.drag(joint, element)
        R, p = X
        if is_upright(R):
            entries: list[Any] = [1, 0, 0, 0]
        else:
            entries = [float(x) for x in quaternion_of(floats(R, {}))]
        values = [*p, *entries]
        self.starts += [model.Start(x, y) for x, y in zip(joint.coordinates, values, strict=True)]

    def properties(self, joint: model.Joint, element: Element, kind: str) -> None:
        """Spring, friction, rotor and limits of a hinge or a slide.

        MuJoCo counts a coordinate from `ref` at the described configuration, we from 0.
        """
        off = self.settings.disabled
        viscous = 0 if "damper" in off else number(element, "damping", "0")
        dry = 0 if "frictionloss" in off else number(element, "frictionloss", "0")
        if viscous or dry:
            name = f"friction of {joint.name}"
            self.forces.append(
                model.JointFriction(name, joint.name, viscous, dry, place=element.place)
            )
        turned = self.settings.angle if kind == "hinge" else (lambda x: x)
        ref = numbers_in(element, "ref", 1, "0")[0]
        stiffness = 0 if "spring" in off else number(element, "stiffness", "0")
        if stiffness:
            rest = turned(numbers_in(element, "springref", 1, "0")[0] - ref)
            along = model.Coordinate(joint.coordinates[0])
            name = f"spring of {joint.name}"
            self.forces.append(model.Spring(name, along, stiffness, rest, place=element.place))
        if ref:
            self.notes.append(f"joint {joint.name!r} counts from 0 where MuJoCo counts from 'ref'")
        if number(element, "armature", "0"):
            self.rotor(joint, number(element, "armature", "0"), element.place)
        if "range" in element.attributes and element.attributes.get("limited") != "false":
            lower, upper = (turned(x - ref) for x in numbers_in(element, "range", 2, ""))
            self.limits[joint.name] = Limits(lower, upper)

    def rotor(self, joint: model.Joint, inertia: Any, place: Place) -> None:
        """`armature`: M of the joint's coordinate grows by it, as by a rotor that turns alike.

        The rotor turns on the ground, so that it adds ½ armature q̇² and nothing else.
        """
        body = f"armature of {joint.name}"
        half = inertia * Fraction(1, 2)
        moments = ((half, 0, 0), (0, half, 0), (0, 0, inertia))
        self.bodies[body] = model.Body(body, 0, (0, 0, 0), moments, place=place)
        ends = model.Marker("ground"), model.Marker(body)
        bearing = model.Joint(self.free(f"{body} angle"), model.Revolute(), *ends, place=place)
        self.add(bearing)
        label = joint.coordinates[0]
        name = f"{body} gear"
        self.ties.append(model.Coupling(name, bearing.coordinates[0], 1, label, place=place))

    def add(self, joint: model.Joint) -> None:
        if joint.name in self.joints:
            raise NamingError.double("joints", joint.name, place=joint.place)
        self.joints[joint.name] = joint

    def free(self, wish: str) -> str:
        """A name like the requested one that no joint has."""
        while wish in self.joints:
            wish += "_"
        return wish

    # ---- equalities

    def equalities(self) -> tuple[list[model.Constraint], list[model.Joint]]:
        """Relations of coordinates, and joints that close loops."""
        ties: list[model.Constraint] = []
        loops: list[model.Joint] = []
        for element in (x for group in self.root.all("equality") for x in group.children):
            if element.tag not in USED["equality"] or "equality" in self.settings.disabled:
                continue
            filled = self.settings.filled(element, "main", "equality")
            self.fields.check(filled, "equality joint" if element.tag == "joint" else "")
            if not is_true(filled, "active", "true"):
                self.notes.append(f"{element} is not active (line {element.place.line})")
            elif element.tag == "joint":
                ties.append(self.tie(filled, len(ties)))
            else:
                loops.append(self.loop(filled, len(loops)))
        return ties, loops

    def loop(self, element: Element, count: int) -> model.Joint:
        """connect: a ball at a point of the first body; weld: as they are described, or relpose."""
        if "site1" in element.attributes:
            raise TextError(f"{element} is between sites; name bodies.", place=element.place)
        first = self.named(element, "body1")
        second = self.named(element, "body2") if "body2" in element.attributes else "ground"
        name = self.free(element.attributes.get("name") or f"{element.tag} {count + 1}")
        between = compose(*inverse(*self.home[second]), *self.home[first])
        if element.tag == "connect":
            p = array(numbers_in(element, "anchor", 3, ""))
            q = compose(*between, identity(), p)[1]
            ends = _marker(first, identity(), p), _marker(second, identity(), q)
            return model.Joint(name, model.Spherical(), *ends, place=element.place)
        pose = numbers_in(element, "relpose", 7, "0 1 0 0 0 0 0")
        if any(pose[3:]):  # of the second body, expressed in the first
            X = self.settings.by_quaternion(pose[3:]), array(pose[:3])
            ends = _marker(first, *X), model.Marker(second)
        else:
            ends = model.Marker(first), _marker(second, *between)
        return model.Joint(name, model.Fixed(), *ends, place=element.place)

    def named(self, element: Element, key: str) -> str:
        name = element.get(key)
        if name == "world":
            return "ground"
        if name not in self.bodies:
            raise NamingError.unknown("body", name, self.bodies, place=element.place)
        return name

    def tie(self, element: Element, count: int) -> model.Constraint:
        """joint1 as a polynomial of joint2."""
        first = self.coordinate(element, "joint1")
        name = element.attributes.get("name") or f"joint equality {count + 1}"
        words = element.attributes.get("polycoef", "0 1 0 0 0").split()
        c = numbers_in(element, "polycoef", len(words), "0 1 0 0 0")
        if "joint2" not in element.attributes:
            return model.PrescribedMotion(name, first, c[0], place=element.place)
        second = self.coordinate(element, "joint2")
        if not any(c[2:]) and len(c) > 1 and c[1]:
            return model.Coupling(name, first, c[1], second, c[0], place=element.place)
        x = symbol(second)
        total: Any = 0
        for coefficient in reversed(c):
            total = total * x + coefficient
        return model.Holonomic(name, symbol(first) - total, place=element.place)

    def coordinate(self, element: Element, key: str) -> str:
        name = element.get(key)
        if name not in self.joints:
            raise NamingError.unknown("joint", name, self.joints, place=element.place)
        if self.joints[name].type.nq != 1:
            message = f"joint {name!r} has {self.joints[name].type.nq} coordinates, not one."
            raise ModelError(message, place=element.place)
        return self.joints[name].coordinates[0]


def _marker(body: str, R: Array, p: Array) -> model.Marker:
    return model.Marker(body, rows_of(R), tuple(p))
