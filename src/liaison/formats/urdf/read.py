"""URDF, the robot description: trees of links and joints. `read_urdf` makes a `Mechanism`.

What a file says and a mechanism has no place for (safety, calibration, sensors, plugins) is
listed in the notes of a `Reading`, never dropped silently. Mesh files are named, not opened.

Public names: read_urdf, reading_of_urdf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from pathlib import Path, PurePath
from typing import Any, Unpack, final

import liaison.model as model
from liaison.arguments import checked
from liaison.errors import ModelError, NamingError, OptionError, Place, TextError
from liaison.expr import collector_paused
from liaison.formats.decompose import decomposition
from liaison.formats.guard import Reading, check_bodies, computable, data_of
from liaison.formats.heights import lowest
from liaison.formats.merge import merged
from liaison.formats.poses import rows_of
from liaison.formats.quantities import plain_numbers
from liaison.spatial import identity, is_zero, product, rotation_onto_z, rotation_quaternion

from .collisions import self_contacts, solids_of
from .equipment import (
    Equipment,
    EquipmentKeywords,
    Limits,
    feet_of,
    frictions_in,
    gains_note,
    gears_in,
    hulls_note,
    inside,
    large_note,
    limits_in,
    motors_of,
    rotors_of,
    stops_of,
)
from .inertias import couplings_in, joint_inertias, led, placing_of, posed, with_followers
from .links import (
    PACKAGE,
    body_of,
    colors_in,
    direction_of,
    loop_of,
    mesh_file,
    pose_in,
    snapped_in,
)
from .srdf import Pose, Srdf, pose_of, srdf_of
from .xml import Element, elements_of, kept_limits, number_in, strangers, unused

JOINT_TYPES: dict[str, type[model.JointType]] = {
    "fixed": model.Fixed,
    "revolute": model.Revolute,
    "continuous": model.Revolute,
    "prismatic": model.Prismatic,
    "floating": model.Free,
    "planar": model.Planar,
}
EARTHS = (0, 0, Fraction(-981, 100))
RANGED = ("revolute", "prismatic")
"""Types whose limits of positions hold."""


def read_urdf(text: str | bytes, **options: Any) -> model.Mechanism:
    """The mechanism of a URDF text; see `reading_of_urdf`."""
    return reading_of_urdf(text, **options).mechanism


@final
@dataclass(frozen=True, slots=True)
class Options:
    """How a file is read: what `reading_of_urdf` says of its arguments."""

    floating: bool = False
    strict: bool = True
    merge_fixed: bool = False
    base: str = ""
    srdf: str | Path = ""
    pose: str | Mapping[str, Any] = ""
    package_root: str | Path = ""
    equipment: Equipment = field(default_factory=Equipment)


@checked
def reading_of_urdf(
    text: str | bytes,
    *,
    file: str = "text.urdf",
    floating: bool = False,
    gravity: Sequence[Any] = EARTHS,
    strict: bool = True,
    merge_fixed: bool = False,
    base: str = "",
    srdf: str | Path = "",
    pose: str | Mapping[str, Any] = "",
    package_root: str | Path = "",
    **equipment: Unpack[EquipmentKeywords],
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
        base: the link that is held by the ground, or free; the root of the file if not given.
        srdf: path or text of an SRDF file: loops, passive joints, rotors, poses.
        pose: a group state of it to start in; or positions by joint, "*_knee" for all such: numbers
            [rad, m], or texts such as "20 deg".
        package_root: folder with the packages that `package://` names; meshes stay inside it.
        **equipment: `limits` (stops at the ends of ranges; True with motors or a ground),
            `motors` ("torque", "velocity" or "position") with `stiffness` and `damping`, `ground`
            (True, or the height of a plane [m]) with `friction`, `restitution` of stops and
            ground, `sticking` (dry friction of joints holds at rest), `self_collision` (links
            touch each other, but for those that a joint connects) with `decompose` (meshes do
            so by their convex parts, up to 16 or so many).

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
    if package_root and not Path(package_root).is_dir():
        raise OptionError(f"package_root is {str(package_root)!r}, which is no folder.")
    with collector_paused(), computable(Place(file, 1)):
        root = elements_of(data, file)
        if root.tag != "robot":
            message = f"the root is {root}; a URDF file begins with <robot>."
            raise TextError(message, place=root.place)
        options = Options(
            floating,
            strict,
            merge_fixed,
            base,
            srdf,
            pose,
            package_root,
            _equipment(dict(equipment)),
        )
        return _Robot(root, options).reading(tuple(gravity))


def _equipment(words: dict[str, Any]) -> Equipment:
    """What is asked for, each word known."""
    OptionError.check("reading URDF", words, tuple(Equipment.__dataclass_fields__))
    return Equipment(**plain_numbers(words))


class _Robot:
    """The links and joints of a file, checked for forming a tree."""

    def __init__(self, root: Element, options: Options) -> None:
        self.root, self.options, self.strict = root, options, options.strict
        self.floating, self.equipment = options.floating, options.equipment
        self.notes: list[str] = []
        self.lines: list[str] = []  # what is deduced
        self.links = _by_name(root, "link")
        self.joints = _by_name(root, "joint")
        self.parent: dict[str, str] = {}  # link -> joint that carries it
        self.srdf = self._srdf()

    def _srdf(self) -> Srdf:
        """The SRDF file, or one without anything."""
        source, pose = self.options.srdf, self.options.pose
        if not source:
            if isinstance(pose, str) and pose:
                raise OptionError(f"pose {pose!r} is given without an SRDF file.")
            return Srdf()
        is_text = isinstance(source, str) and source.lstrip().startswith("<")
        data = str(source).encode() if is_text else data_of(Path(source))
        file = "text.srdf" if is_text else str(source)
        content = srdf_of(
            data, file, self.root.attributes.get("name", ""), self.joints, self.links, self.strict
        )
        used = "<disable_collisions>" if self.equipment.self_collision else "<>"
        self.notes += (x for x in content.notes if used not in x)
        if isinstance(pose, str) and pose and pose not in content.states:
            raise NamingError.unknown("group state", pose, content.states)
        return content

    def reading(self, gravity: Any) -> Reading:
        """Bodies, joints, couplings, gravity and friction; stops, motors and feet."""
        self.note_strangers(self.root)
        robot = self.root.get("name")
        if not self.links:
            raise TextError(f"{self.root} has no <link>.", place=self.root.place)
        check_bodies(len(self.links), self.root.place)
        bodies = self.bodies()
        joints = [self.joint(element) for element in self.joints.values()]
        first = self.base()
        self.check_tree(first)
        self.check_moving(bodies, joints)
        base = self.held(first)
        closing = [*self.root.all("loop"), *self.root.all("constraint"), *self.srdf.loops]
        loops = [loop_of(x, self.links, self.body) for x in closing]
        held = self.root_joint(base)
        dry, smooth = self.frictions(joints)
        mechanism = model.Mechanism(
            name=robot or PurePath(self.root.place.file).stem,
            bodies=tuple(bodies),
            joints=(held, *joints, *loops),
            constraints=tuple(
                couplings_in(self.joints, joints, strict=self.strict, notes=self.notes)
            ),
            forces=(model.Gravity(gravity), *smooth),
            contacts=tuple(dry),
            place=self.root.place,
        )
        limits = {name: limit for name, x in self.joints.items() if (limit := self.limits(x))}
        mechanism = self.equipped(mechanism, joints, limits)
        if self.options.merge_fixed:
            mechanism = merged(mechanism)
        return Reading(mechanism, tuple(self.notes), tuple(self.deduced(base)), limits)

    def bodies(self) -> list[model.Body]:
        """The body of every link."""
        colors, root = colors_in(self.root), self.options.package_root
        bodies = []
        for name, link in self.links.items():
            body = body_of(link, colors, self.strict, self.notes, root)
            bodies.append(replace(body, name=self.body(name)))
        return bodies

    def held(self, root: str) -> str:
        """The link that the ground holds."""
        base = self.options.base or root
        if base not in self.links:
            raise NamingError.unknown("link", base, self.links)
        return base

    def root_joint(self, base: str) -> model.Joint:
        """What holds the base, or leaves it free."""
        kind: model.JointType = model.Free() if self.floating else model.Fixed()
        foot, place = model.Marker(self.body(base)), self.links[base].place
        return model.Joint(self.free_name("root"), kind, model.Marker("ground"), foot, place=place)

    def equipped(
        self,
        mechanism: model.Mechanism,
        joints: list[model.Joint],
        limits: dict[str, Limits],
    ) -> model.Mechanism:
        """The mechanism with rotors, stops, motors and feet, as far as they are asked for."""
        equipment, known = self.equipment, len(mechanism.joints) - 1 - len(joints)
        firm = self.strict and bool(equipment.motors)
        own = gears_in(self.root, self.joints, self.notes, firm)
        ranges = {x: y for x, y in limits.items() if self.joints[x].get("type") in RANGED}
        followers = [x for x in mechanism.constraints if isinstance(x, model.Coupling)]
        pose = self.pose(mechanism.joints, joints, followers)
        starts = self.starts(joints, ranges, pose.angles)
        rotors = rotors_of(joints, own | dict(self.srdf.gears))
        forces: list[Any] = list(rotors)
        contacts: list[Any] = []
        if equipment.has_stops:
            contacts += stops_of(joints, ranges, equipment, self.notes)
        elif ranges:
            self.notes.append(f"{kept_limits(len(ranges))}; limits=True (--limits) makes stops")
        inputs: list[model.Input] = []
        if equipment.motors:
            driven = self.driven(joints, own)
            inertias = self.inertias(mechanism, joints, starts, rotors)
            motors, inputs = motors_of(driven, limits, starts, equipment, inertias, self.lines)
            forces += motors
            self.notes += gains_note(motors, equipment)
        begun = [model.Start(name, x, is_guess=known > 0) for name, x in starts.items() if x]
        begun += self.places(mechanism.joints, pose)
        if equipment.has_ground:
            feet = self.feet(mechanism)
            contacts += feet
            begun += self.standing(mechanism, joints, feet, {**starts, **pose.places})
        contacts += self.touching_links(mechanism) if equipment.self_collision else []
        return replace(
            mechanism,
            forces=(*mechanism.forces, *forces),
            contacts=(*mechanism.contacts, *contacts),
            inputs=tuple(inputs),
            starts=tuple(begun),
        )

    def inertias(
        self, mechanism: model.Mechanism, joints: list[model.Joint], starts: Any, rotors: Any
    ) -> dict[str, float]:
        """What each joint alone moves at the start, loops open [kg·m², kg]."""
        followers = [x for x in mechanism.constraints if isinstance(x, model.Coupling)]
        values = with_followers(starts, followers)
        placing = placing_of(joints, values, mechanism.joints[0].successor.body)
        return joint_inertias(
            placing,
            mechanism.bodies,
            values,
            is_free=self.floating,
            rotors={x.coordinate: x.inertia for x in rotors},
            mimics={x.coordinate: (x.other, x.ratio) for x in followers},
        )

    def driven(self, joints: list[model.Joint], own: Any) -> list[model.Joint]:
        """Joints with a motor: those of transmissions, else all that move by themselves."""
        free = [
            x for x in joints
            if x.type.nq == 1 and not self.joints[x.name].one("mimic")
            and x.name not in self.srdf.passive
        ]  # fmt: skip
        return [x for x in free if x.name in own] if own else free

    def pose(
        self, every: Sequence[model.Joint], joints: list[model.Joint],
        followers: list[model.Coupling],
    ) -> Pose:  # fmt: skip
        """The pose that is asked for: a group state of the SRDF file, or positions by joint."""
        word = self.options.pose
        if not isinstance(word, str):
            return Pose(led(posed(word, joints, followers), followers))
        if not word:
            return Pose()
        kinds = {x.name: x.type for x in every}
        pose = pose_of(self.srdf, word, kinds, every[0].name, self.notes)
        return replace(pose, angles=led(pose.angles, followers))

    def places(self, joints: Sequence[model.Joint], pose: Pose) -> list[model.Start]:
        """Starts of free joints; over a ground feet say how high the base is."""
        hidden = f"{joints[0].name}.z" if self.equipment.has_ground else ""
        return [
            model.Start(label, value)
            for x in joints if x.name in pose.places
            for label, value in zip(x.coordinates, pose.places[x.name], strict=True)
            if label != hidden
        ]  # fmt: skip

    def starts(
        self, joints: list[model.Joint], ranges: dict[str, Limits], pose: Mapping[str, Fraction]
    ) -> dict[str, Fraction]:
        """Where joints start: in a pose, else at 0 or in their range."""
        starts: dict[str, Fraction] = {}
        for joint in joints:
            name = joint.name
            if joint.type.nq != 1 or self.joints[name].one("mimic"):
                continue
            within = inside(ranges.get(name)) if self.equipment.has_stops else Fraction(0)
            starts[name] = pose.get(name, within)
            if name not in pose and within:
                line = f"joint {name!r} starts at {float(within):g}, because 0 is out of its range"
                self.lines.append(line)
        return starts

    def feet(self, mechanism: model.Mechanism) -> list[model.Contact]:
        """Contacts of what moves with the ground."""
        still = {"ground"}
        for _ in mechanism.joints:
            welds = [x for x in mechanism.joints if isinstance(x.type, model.Fixed)]
            ends = [{x.predecessor.body, x.successor.body} for x in welds]
            grown = still.union(*(x for x in ends if x & still))
            if grown == still:
                break
            still = grown
        before = len(self.notes)
        moving = {x: link for x, link in self.links.items() if self.body(x) not in still}
        frictions = frictions_in(self.root, self.links)
        feet = feet_of(
            moving, frictions, self.equipment, place=pose_in, body=self.body, file=self.mesh,
            notes=self.notes,
        )  # fmt: skip
        if not feet:
            why = "; ".join(self.notes[before:])
            raise ModelError(
                "there is a ground, but no link that moves has a collision shape to touch it"
                f"{': ' if why else ''}{why}.",
                place=self.root.place,
                hint="" if why else "Give <collision> to its feet.",
            )
        self.notes += [*hulls_note(feet), *large_note(feet, mechanism.joints)]
        rule = "the smaller one of the link's and the ground's"
        shapes = "1 shape" if len(feet) == 1 else f"{len(feet)} shapes"
        self.lines.append(f"friction of {shapes} with the ground: {rule}")
        return feet

    def touching_links(self, mechanism: model.Mechanism) -> list[model.Contact]:
        """Contacts of links with each other, but for neighbours."""
        apart = decomposition(self.equipment.decompose)
        solids = solids_of(self.links, place=pose_in, body=self.body, file=self.mesh,
                           notes=self.notes, apart=apart)  # fmt: skip
        frictions = frictions_in(self.root, self.links)
        listed = self_contacts(solids, mechanism.joints, self.srdf.apart, body=self.body,
                               frictions=frictions, equipment=self.equipment)  # fmt: skip
        pairs = "1 pair" if len(listed) == 1 else f"{len(listed)} pairs"
        self.lines.append(f"{pairs} of shapes of links may touch, without neighbours")
        return listed

    def mesh(self, form: Element) -> Path | str:
        """The file of a mesh, or why there is none that may be opened."""
        name, root = form.get("filename"), self.options.package_root
        path = mesh_file(name, form, root)
        if path is not None and path.is_file():
            return path
        why = f"there is no mesh {name!r} that may be opened: "
        if path is not None:
            return f"{why}{str(path)!r} is no file"
        if name.startswith(PACKAGE):
            return f"{why}package_root= (--package-root) says where packages lie"
        known = " and of package_root" if root else ""
        return f"{why}it is outside the folder of the model{known}"

    def standing(
        self, mechanism: model.Mechanism, joints: list[model.Joint], feet: Any, starts: Any
    ) -> list[model.Start]:
        """A free base starts so high that its lowest foot touches the ground."""
        if not self.floating:
            return []
        held = mechanism.joints[0]
        followers = [x for x in mechanism.constraints if isinstance(x, model.Coupling)]
        values = with_followers(starts, followers)
        turn = rotation_quaternion(values[held.name][3:]) if held.name in values else None
        bottom = lowest(feet, placing_of(joints, values, held.successor.body, turn))
        height = Fraction(ceil((float(self.equipment.height) - bottom) * 10**9), 10**9)
        self.lines.append(
            f"the base starts at height {float(height):g} m: its lowest shape touches"
        )
        return [model.Start(f"{held.name}.z", height)]

    def deduced(self, base: str) -> list[str]:
        """What the file leaves out, and the angles that are taken exact."""
        how = "left free" if self.floating else "welded to the ground"
        lines = [f"link {base!r} is the root: {how} by a joint of its own", *self.lines]
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
        asked = self.equipment
        counts = strangers(root, asked.used, self.drop, touches=asked.touches)
        self.notes += unused(counts)

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

    def limits(self, element: Element) -> Limits | None:
        """The <limit> of a joint."""
        limits, limit = limits_in(element), element.one("limit")
        if limits is None or limit is None:
            return limits
        name = element.get("name")
        return replace(
            limits,
            effort=self.positive(limits.effort, "effort", limit, name),
            velocity=self.positive(limits.velocity, "velocity", limit, name),
        )

    def positive(
        self, value: Fraction | None, key: str, element: Element, joint: str
    ) -> Fraction | None:
        """A number that must not be negative; None where that is left out."""
        if value is None or value >= 0:
            return value
        message = (
            f"{key!r} of <{element.tag}> of joint {joint!r} is {float(value):g}; it must not be "
            "negative"
        )
        if self.strict:
            raise ModelError(
                f"{message}.",
                place=element.place,
                hint="Correct it, or read with strict=False (--lenient) to leave it out.",
            )
        self.notes.append(f"{message}: it is left out (line {element.place.line})")
        return None

    def frictions(
        self, joints: list[model.Joint]
    ) -> tuple[list[model.DryFriction], list[model.JointFriction]]:
        """<dynamics damping friction>, where it is not zero: such that holds, and smooth."""
        dry: list[model.DryFriction] = []
        smooth: list[model.JointFriction] = []
        for joint in joints:
            dynamics = self.joints[joint.name].one("dynamics")
            if dynamics is None:
                continue
            viscous, coulomb = (
                self.positive(number_in(dynamics, key, "0"), key, dynamics, joint.name) or 0
                for key in ("damping", "friction")
            )
            if (viscous or coulomb) and joint.type.nq > 1:
                kind = self.joints[joint.name].get("type")
                self.drop(f"<dynamics> of the {kind} joint {joint.name!r} is not read", dynamics)
            elif (viscous or coulomb) and joint.type.nq == 1:
                name, on, place = f"friction of {joint.name}", joint.name, dynamics.place
                if self.equipment.sticking and coulomb:
                    dry.append(model.DryFriction(name, on, coulomb, None, viscous, place=place))
                else:
                    smooth.append(model.JointFriction(name, on, viscous, coulomb, place=place))
        return dry, smooth


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
