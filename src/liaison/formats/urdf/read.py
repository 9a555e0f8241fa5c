"""URDF, the robot description: trees of links and joints. `read_urdf` makes a `Mechanism`.

What a file says and a mechanism has no place for (limits, safety, transmissions, sensors) is
listed in the notes of a `Reading`, never dropped silently. Mesh files are named, not opened.

Public names: read_urdf, reading_of_urdf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import liaison.model as model
from liaison.errors import ModelError, NamingError, Place, TextError
from liaison.expr import collector_paused
from liaison.formats.guard import Reading, check_bodies, computable
from liaison.formats.merge import merged
from liaison.formats.poses import rows_of
from liaison.spatial import identity, is_zero, product, rotation_onto_z

from .links import body_of, colors_in, direction_of, limits_in, loop_of, pose_in, snapped_in
from .xml import Element, elements_of, number_in

JOINT_TYPES: dict[str, type[model.JointType]] = {
    "fixed": model.Fixed,
    "revolute": model.Revolute,
    "continuous": model.Revolute,
    "prismatic": model.Prismatic,
    "floating": model.Free,
    "planar": model.Planar,
}
EARTHS = (0, 0, Fraction(-981, 100))
KNOWN = {
    "robot": {"link", "joint", "material", "loop"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "dynamics", "mimic", "limit"},
    "loop": {"predecessor", "successor", "axis"},
    "inertial": {"origin", "mass", "inertia"},
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry", "material"},
    "material": {"color"},
}


ATTRIBUTES = {
    "robot": "name version",
    "link": "name type",
    "joint": "name type",
    "loop": "name type",
    "origin": "xyz rpy",
    "parent": "link",
    "child": "link",
    "predecessor": "link",
    "successor": "link",
    "axis": "xyz",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
    "limit": "lower upper effort velocity",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "visual": "name",
    "collision": "name",
    "material": "name",
    "color": "rgba",
    "inertial": "",
    "geometry": "",
    "box": "size",
    "sphere": "radius",
    "cylinder": "radius length",
    "mesh": "filename scale",
    "capsule": "radius length",
}
"""Element -> its attributes that are known."""
MOVING = ("origin", "inertia", "mass", "axis", "mimic")
"""Elements of which another attribute would change the motion; <dynamics> of many robots has
attributes of their authors' own, which are noted."""


def read_urdf(text: str | bytes, **options: Any) -> model.Mechanism:
    """The mechanism of a URDF text; see `reading_of_urdf`."""
    return reading_of_urdf(text, **options).mechanism


def reading_of_urdf(
    text: str | bytes,
    *,
    file: str = "text.urdf",
    floating: bool = False,
    gravity: Sequence[Any] = EARTHS,
    strict: bool = True,
    merge_fixed: bool = False,
) -> Reading:
    """The mechanism of a URDF text, with notes.

    Links become bodies and joints joints of the same names. The root link is welded to the ground
    by a joint named "root", or left free with six degrees of freedom.

    Args:
        text: the description.
        file: its name, for messages.
        floating: leaves the root link free.
        gravity: [m/s²], in the ground's axes; a URDF file does not say it.
        strict: rejects inertias that no body has (a principal moment larger than the sum of
            the other two by more than a thousandth, or negative) and moving parts without any
            inertia. Otherwise such an inertia is moved to the nearest possible one, and both
            are noted. What rounding of printed numbers explains is moved and noted in both
            cases. Negative masses and numbers that are not finite are always rejected.
        merge_fixed: makes one body of links that fixed joints hold together.

    Raises:
        TextError: not XML, not URDF, or a number that is none, with file and line.
        NamingError: links or joints that are not there, or there twice.
        ModelError: a description that no mechanism can have.

    Example:
        >>> import liaison
        >>> text = liaison.examples()["arm7.urdf"].text
        >>> liaison.reading_of_urdf(text).mechanism
        <Mechanism arm7: 9 bodies, 9 joints>
    """
    data = text.encode() if isinstance(text, str) else text
    with collector_paused(), computable(Place(file, 1)):
        root = elements_of(data, file)
        if root.tag != "robot":
            message = f"the root is {root}; a URDF file begins with <robot>."
            raise TextError(message, place=root.place)
        return _Robot(root, floating, strict, merge_fixed).reading(tuple(gravity))


class _Robot:
    """The links and joints of a file, checked for forming a tree."""

    def __init__(self, root: Element, floating: bool, strict: bool, merged: bool) -> None:
        self.root, self.floating, self.strict, self.merged = root, floating, strict, merged
        self.notes: list[str] = []
        self.links = _by_name(root, "link")
        self.joints = _by_name(root, "joint")
        self.parent: dict[str, str] = {}  # link -> joint that carries it

    def reading(self, gravity: Any) -> Reading:
        """Bodies, joints, couplings, gravity and friction."""
        self.note_strangers(self.root)
        robot = self.root.get("name")
        if not self.links:
            raise TextError(f"{self.root} has no <link>.", place=self.root.place)
        check_bodies(len(self.links), self.root.place)
        colors = colors_in(self.root)
        bodies = [
            replace(body_of(link, colors, self.strict, self.notes), name=self.body(name))
            for name, link in self.links.items()
        ]
        joints = [self.joint(element) for element in self.joints.values()]
        base = self.base()
        self.check_tree(base)
        self.check_moving(bodies, joints)
        kind: model.JointType = model.Free() if self.floating else model.Fixed()
        place = self.links[base].place
        foot = model.Marker(self.body(base))
        root = model.Joint(self.free_name("root"), kind, model.Marker("ground"), foot, place=place)
        loops = [loop_of(x, self.links, self.body) for x in self.root.all("loop")]
        mechanism = model.Mechanism(
            name=robot or PurePath(self.root.place.file).stem,
            bodies=tuple(bodies),
            joints=(root, *joints, *loops),
            constraints=tuple(self.couplings(joints)),
            forces=(model.Gravity(gravity), *self.frictions(joints)),
            place=self.root.place,
        )
        if self.merged:
            mechanism = merged(mechanism)
        limits = {name: limit for name, x in self.joints.items() if (limit := limits_in(x))}
        if limits:
            self.notes.append(f"limits of {len(limits)} joints are kept, but not enforced")
        return Reading(mechanism, tuple(self.notes), tuple(self.deduced(base)), limits)

    def deduced(self, base: str) -> list[str]:
        """What the file leaves out, and the angles that are taken exact."""
        how = "left free" if self.floating else "welded to the ground"
        lines = [f"link {base!r} is the root: {how} by a joint of its own"]
        massless = [x for x, link in self.links.items() if link.one("inertial") is None]
        lines += [f"link {name!r}: no <inertial>, so mass = 0 and inertia = 0" for name in massless]
        return lines + snapped_in(self.root)

    def body(self, link: str) -> str:
        """The name of a link's body: its own, unless that means the fixed ground."""
        if link != "ground":
            return link
        name = "ground_link"
        while name in self.links:
            name += "_"
        note = f"link 'ground' is called {name!r}, because 'ground' is the fixed body"
        if note not in self.notes:
            self.notes.append(note)
        return name

    def free_name(self, wish: str) -> str:
        """A name like the requested one that no joint has."""
        while wish in self.joints:
            wish += "_"
        return wish

    def note_strangers(self, root: Element) -> None:
        """Names each kind of element that is not understood, once."""
        counts: dict[str, int] = {}
        front = [root]
        while front:
            element = front.pop()
            drawn = "visual" if element.all("visual") else ""
            for child in element.children:
                is_known = child.tag in KNOWN.get(element.tag, {child.tag})
                if not is_known or (child.tag == "collision" and drawn):
                    key = f"<{child.tag}> in <{element.tag}>"
                    counts[key] = counts.get(key, 0) + 1
                elif child.tag in KNOWN or child.tag in ATTRIBUTES:
                    front.append(child)
            for word in element.attributes.keys() - ATTRIBUTES.get(element.tag, "").split():
                if element.tag in MOVING:
                    self.drop(f"{word!r} of <{element.tag}> is not read", element)
                key = f"{word!r} of <{element.tag}>"
                counts[key] = counts.get(key, 0) + 1
        self.notes += [f"{key} is not used ({n} times)" for key, n in sorted(counts.items())]

    def drop(self, message: str, element: Element) -> None:
        """Rejects what changes the motion and is not read, unless the reading is lenient."""
        if self.strict:
            raise TextError(
                f"{message}, and it changes the motion.",
                place=element.place,
                hint="Take it out, or read with strict=False (--lenient) to leave it out.",
            )
        self.notes.append(f"{message} (line {element.place.line})")

    def joint(self, element: Element) -> model.Joint:
        """One joint, its markers turned so that z is its axis."""
        name, kind = element.get("name"), element.get("type")
        if kind not in JOINT_TYPES:
            raise NamingError.unknown("joint type", kind, JOINT_TYPES, place=element.place)
        ends = []
        for tag in ("parent", "child"):
            end = element.one(tag)
            if end is None:
                raise TextError(f"{element} has no <{tag}>.", place=element.place)
            if end.get("link") not in self.links:
                raise NamingError.unknown("link", end.get("link"), self.links, place=end.place)
            ends.append(end.get("link"))
        self.carry(ends[0], ends[1], name, element)
        place = element.place
        with computable(place):
            R, p = pose_in(element)
            turn = self.turn(element, kind)
        with computable(place):
            F = model.Marker(self.body(ends[0]), rows_of(product(R, turn)), tuple(p), place=place)
            M = model.Marker(self.body(ends[1]), rows_of(turn), place=place)
            return model.Joint(name, JOINT_TYPES[kind](), F, M, place=place)

    def carry(self, parent: str, child: str, joint: str, element: Element) -> None:
        """Notes who carries whom; a link is carried once, and never by itself."""
        if parent == child:
            raise ModelError(
                f"joint {joint!r} connects link {child!r} with itself.", place=element.place
            )
        if child in self.parent:
            raise ModelError(
                f"link {child!r} is carried by joint {self.parent[child]!r} and again by joint "
                f"{joint!r}; URDF describes trees.",
                place=element.place,
                hint="Close a loop by an element <loop>, or in LSD by a joint.",
            )
        self.parent[child] = joint

    def turn(self, element: Element, kind: str) -> Any:
        """The rotation that brings z onto the axis, for joints that have one."""
        if kind in ("fixed", "floating"):
            return identity()
        return rotation_onto_z(direction_of(element, "1 0 0"))

    def base(self) -> str:
        """The link that no joint carries."""
        roots = [name for name in self.links if name not in self.parent]
        if len(roots) == 1:
            return roots[0]
        if not roots:
            raise ModelError(
                "every link is carried by another: the links form a loop and hang on nothing.",
                place=self.root.place,
            )
        raise ModelError(
            f"links {', '.join(map(repr, roots[:6]))} are carried by no joint; a robot has one "
            "root link.",
            place=self.links[roots[1]].place,
        )

    def check_tree(self, base: str) -> None:
        """Every link hangs on the base."""
        children: dict[str, list[str]] = {}
        for child, joint in self.parent.items():
            parent = self.joints[joint].one("parent")
            assert parent is not None
            children.setdefault(parent.get("link"), []).append(child)
        reached, front = {base}, [base]
        while front:
            for child in children.get(front.pop(), []):
                reached.add(child)
                front.append(child)
        lost = [name for name in self.links if name not in reached]
        if lost:
            raise ModelError(
                f"links {', '.join(map(repr, lost[:6]))} form a loop and hang on nothing.",
                place=self.links[lost[0]].place,
            )

    def check_moving(self, bodies: list[model.Body], joints: list[model.Joint]) -> None:
        """What moves has inertia somewhere beyond its joint; otherwise M is singular."""
        heavy = {body.name for body in bodies if not _is_massless(body)}
        carrier = {joint.successor.body: joint for joint in joints}
        for body in list(heavy):
            while body in carrier and carrier[body].predecessor.body not in heavy:
                body = carrier[body].predecessor.body
                heavy.add(body)
        for joint in joints:
            if joint.type.nv and joint.successor.body not in heavy:
                message = (
                    f"joint {joint.name!r} moves link {joint.successor.body!r}, which has no mass "
                    "or inertia, nor has anything beyond it"
                )
                if self.strict:
                    raise ModelError(
                        f"{message}.",
                        place=joint.place,
                        hint="Give the link an <inertial>, or make the joint fixed.",
                    )
                self.notes.append(f"{message} (line {joint.place.line if joint.place else '?'})")

    def couplings(self, joints: list[model.Joint]) -> list[model.Coupling]:
        """<mimic>: coordinate = multiplier · other + offset."""
        known = {joint.name: joint for joint in joints}
        couplings = []
        for name, element in self.joints.items():
            mimic = element.one("mimic")
            if mimic is None or not self.can_mimic(known[name], mimic, known):
                continue
            other, place = mimic.get("joint"), mimic.place
            ratio, offset = number_in(mimic, "multiplier", "1"), number_in(mimic, "offset", "0")
            couplings.append(
                model.Coupling(f"{name} mimics {other}", name, ratio, other, offset, place=place)
            )
        return couplings

    def can_mimic(self, joint: model.Joint, mimic: Element, known: dict[str, model.Joint]) -> bool:
        """Whether a joint moves with another; a fixed joint that mimics is only noted."""
        other = mimic.get("joint")
        if joint.type.nq == 0:
            self.notes.append(
                f"joint {joint.name!r} is fixed; that it mimics {other!r} is not used"
            )
            return False
        if other not in known:
            if self.strict:
                raise NamingError.unknown("joint", other, known, place=mimic.place)
            self.notes.append(f"joint {joint.name!r} mimics {other!r}, which is not there")
            return False
        for end in (joint, known[other]):
            if end.type.nq != 1:
                raise ModelError(
                    f"joint {joint.name!r} mimics {other!r}, but {end.name!r} has "
                    f"{end.type.nq} coordinates; mimicking takes one.",
                    place=mimic.place,
                )
        return True

    def frictions(self, joints: list[model.Joint]) -> list[model.JointFriction]:
        """<dynamics damping friction>, where it is not zero."""
        frictions = []
        for joint in joints:
            dynamics = self.joints[joint.name].one("dynamics")
            if dynamics is None:
                continue
            viscous = number_in(dynamics, "damping", "0")
            dry = number_in(dynamics, "friction", "0")
            if (viscous or dry) and joint.type.nq > 1:
                kind = self.joints[joint.name].get("type")
                self.drop(f"<dynamics> of the {kind} joint {joint.name!r} is not read", dynamics)
            elif (viscous or dry) and joint.type.nq == 1:
                name, place = f"friction of {joint.name}", dynamics.place
                frictions.append(model.JointFriction(name, joint.name, viscous, dry, place=place))
        return frictions


def _by_name(root: Element, tag: str) -> dict[str, Element]:
    """The elements of a tag by their names, each name once."""
    by_name: dict[str, Element] = {}
    for element in root.all(tag):
        name = element.get("name")
        if name in by_name:
            raise NamingError(
                f"the name {name!r} is given to two {tag}s; each name is used once.",
                place=element.place,
                hint=f"It is given first in line {by_name[name].place.line}.",
            )
        by_name[name] = element
    return by_name


def _is_massless(body: model.Body) -> bool:
    return is_zero(body.mass) and all(is_zero(x) for row in body.inertia for x in row)
